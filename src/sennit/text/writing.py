"""Scenes as text: what was given to constructors, and what was set since. What can't be said is refused by name."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sennit.bodies.body import AbstractBody
from sennit.bodies.point.point import Point
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.pearl import Pearl
from sennit.bodies.slider.slider import Slider
from sennit.bodies.world import WorldPoint
from sennit.bodies.zone.places import ZonePlaces
from sennit.constraints.cable.sheave import Sheave
from sennit.constraints.route import Route
from sennit.contact.inside import Inside
from sennit.contact.obstacle import Obstacle
from sennit.errors import InputError
from sennit.export.files import replacing
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import AbstractShape, Plane
from sennit.given import Unsayable
from sennit.material import Material, Section
from sennit.text import schema
from sennit.text.comparing import compare, same
from sennit.text.reading import scene_of_text
from sennit.text.toml import key_of, table_of
from sennit.validation import quoted

if TYPE_CHECKING:
    from sennit.scene.scene import Scene

__all__ = ["scene_text", "write_scene"]

STATE = frozenset(
    {"position", "pose", "velocity", "angular_velocity", "control_points", "control_velocities", "rolls", "roll_rates",
     "sliding_velocity"}
)  # fmt: skip
"""What of bodies changes by itself: a text has it as it was when the scene first moved."""
_DERIVED = frozenset({"position", "inertia"})
"""What follows from something else that can be set: pose, mass."""
_LAWS = ("friction", "static_friction", "restitution", "margin", "rolling_friction", "twisting_friction")
_HINTS = {
    "path": "give it a sennit.Route, places at times",
    "rest_curvature": "give an array of it, at equal steps from end to end",
}


def write_scene(scene: Scene, path: str | os.PathLike[str]) -> Path:
    """Write `scene` as TOML: the file appears whole or not at all."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be a file name that ends in .toml, got {quoted(path)}")
    try:
        target = Path(path)
        there = target.parent.is_dir() and not target.is_dir()
    except Exception:  # whatever the value's own methods raise
        raise InputError(f"path must be a file name that ends in .toml, got {quoted(path)}") from None
    if target.suffix.lower() != ".toml":
        raise InputError(
            f"path must end in .toml, got {quoted(str(path))}; Scene.save writes .npz, with the whole state"
        )
    if not there:
        raise InputError(f"there is no folder {quoted(str(target.parent))}, or {quoted(target.name)} is one")
    text = scene_text(scene)
    with replacing(target) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")
    return target


def scene_text(scene: Scene) -> str:
    """The TOML of `scene`, read back and compared before it is returned."""
    scene._check_free()
    now = {id(thing): _settings(thing, STATE, False) for thing in _things(scene)}
    begins = _beginnings(scene)
    first = _Text(scene)
    there = scene_of_text(first.text())
    for at, thing in first.things.items():
        made = there.things[at]
        fresh = _settings(made, frozenset(), False)
        changed = {
            name: value
            for name, value in (now[id(thing)] | begins.get(id(thing), {})).items()
            if name in fresh and not same(value, fresh[name])
        }
        first.change(at, thing, changed)
    text = first.text()
    again = scene_of_text(text)
    compare(first.things, again.things, scene, again.scene)
    return text


def _things(scene: Scene) -> list[Any]:
    return [*scene.bodies, *scene.obstacles, *scene.constraints, *scene.loads]


def _settings(thing: Any, names: frozenset[str], only: bool) -> dict[str, Any]:
    """What can be set of a thing, as it is now: those called `names` alone, or all others."""
    found = {}
    for name in schema.settings_of(thing):
        if (name in names) == only and (name not in _DERIVED or (name == "inertia" and not only)):
            try:
                found[name] = getattr(thing, name)
            except InputError:  # a joint without a motor has no speed of one
                continue
    return found


def _beginnings(scene: Scene) -> dict[int, dict[str, Any]]:
    """The state of the bodies when the scene first moved."""
    if not scene._beginnings:
        return {id(body): _settings(body, STATE, True) for body in scene.bodies}
    before = scene.snapshot()
    try:
        scene.reset()
        return {id(body): _settings(body, STATE, True) for body in scene.bodies}
    finally:
        scene.restore(before)


class _Text:
    """Collects the entries of a scene file."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._groups: dict[str, dict[Any, dict[str, Any]]] = {name: {} for name in schema.GROUPS}
        self.things: dict[tuple[str, Any], Any] = {}
        """The scene's things by the groups and keys of their entries."""
        self._names: dict[int, str] = {}
        self._keys: dict[int, str] = {}
        """Names of points and sheaves, by identity."""
        self._pools: dict[str, list[tuple[Any, str]]] = {"material": [], "section": []}
        self._shared = self._used_often()
        self._name_all()
        for body in scene.bodies:
            if id(body) in self._names:
                self._add(_group(body), self._names[id(body)], body, self._entry_of(body))
        for obstacle in scene.obstacles:
            self._add("obstacle", self._names[id(obstacle)], obstacle, self._entry_of(obstacle))
        for number, tie in enumerate(scene.constraints):
            if type(tie).__name__.lower() not in schema.holds():
                raise InputError(f"{tie.name} can't be written as text: no constructor makes it. Scene.save keeps it")
            self._add("hold", number, tie, {"kind": type(tie).__name__.lower()} | self._entry_of(tie))
        for number, load in enumerate(scene.loads):
            self._add("load", number, load, self._entry_of(load))
        for rule in scene._rules.rules:
            self._add_rule(rule)

    def _add(self, group: str, key: Any, thing: Any, entry: dict[str, Any]) -> None:
        self._groups[group][key] = entry
        self.things[group, key] = thing

    # ---------------------------------------------------------------------------------------------------------- names

    def _name_all(self) -> None:
        taken = {"world"}
        things: list[Any] = [*self._scene.bodies, *self._scene.obstacles]
        for thing in things:
            if any(tie._holds(thing) for tie in self._scene.constraints):
                continue  # it comes with its constraint
            base = thing._name or f"{_group(thing)} {1 + sum(_group(thing) == g for g in map(_group, self._named()))}"
            name, count = base, 2
            while name in taken:
                name, count = f"{base} ({count})", count + 1
            taken.add(name)
            self._names[id(thing)] = name
        self._taken = taken

    def _named(self) -> list[Any]:
        return [thing for thing in [*self._scene.bodies, *self._scene.obstacles] if id(thing) in self._names]

    def _used_often(self) -> set[int]:
        """Points and sheaves that several things were given: they share them when they are read again."""
        counts: dict[int, set[int]] = {}
        for thing in _things(self._scene):
            for value in _parts((thing._given.arguments(type(thing)) if thing._given else {}).values()):
                if isinstance(value, Point | Sheave):
                    counts.setdefault(id(value), set()).add(id(thing))
        return {key for key, users in counts.items() if len(users) > 1}

    # -------------------------------------------------------------------------------------------------------- entries

    def _entry_of(self, thing: Any) -> dict[str, Any]:
        """What a thing was given, as an entry."""
        if isinstance(thing, ZonePlaces):
            return self._zone(thing)
        kind: type = type(thing)
        if thing._given is None or not kind.__module__.startswith("sennit."):
            raise InputError(
                f"{thing.name} can't be written as text, since it was not made by a public constructor of sennit (it "
                "was cut, or came from a saved file): Scene.save keeps it"
            )
        given = thing._given.arguments(kind)
        if isinstance(thing, Rod):
            _check_masses(thing)
            given |= {"pieces": _lengths(thing, given["pieces"])} if given.get("pieces") is not None else {}
        maker = thing._given.maker
        if isinstance(thing, AbstractBody | Obstacle):
            name = given.pop("name", None)
            if name is not None and name != self._names[id(thing)]:
                given["name"] = name  # its key is another
        entry = {name: self._value(value, thing, name) for name, value in given.items() if value is not None}
        if isinstance(thing, Inside):
            return {"inside": {k: v for k, v in entry.items() if k != "name"}} | _only(entry, "name")
        if isinstance(thing, Obstacle):
            shape = entry.pop("shape")
            return (shape if isinstance(shape, dict) else {"shapes": shape}) | entry
        return entry if maker is None else _led(schema.makers_of(kind)[maker.removeprefix("from_")], entry)

    def _zone(self, zone: Any) -> dict[str, Any]:
        if type(zone).__name__ != "Zone":
            raise InputError(
                f"{zone.name} can't be written as text, since it is a zone of a chain: Scene.save keeps it"
            )
        if zone._tetrahedra is not None:
            raise InputError(
                f"{zone.name} can't be written as text, since it is made of tetrahedra: Scene.save keeps it"
            )
        surface, on = zone._surface, zone._on
        entry = {
            "mesh": {"vertices": surface.vertices, "faces": surface.faces},
            "material": self._value(zone.material, zone, "material"),
            "fixed": np.asarray(zone._fixed), "method": zone._method,
            "weight": zone._heft is not None,
        }  # fmt: skip
        return entry | ({} if isinstance(on, WorldPoint) and same(on.pose, Pose()) else {"on": self._point(on)})

    def change(self, at: tuple[str, Any], thing: Any, changed: dict[str, Any]) -> None:
        """Write what was set since a thing was made."""
        group, key = at
        entry = self._groups[group][key]
        for name, value in changed.items():
            if name == "inertia" and "mass" in changed and same(value / thing.mass, _inertia_given(thing)):
                continue
            if name == "pose":
                entry.pop("position", None)
            entry[name] = self._value(value, thing, name)

    def _add_rule(self, rule: Any) -> None:
        sides = {"first": rule.first, "second": rule.second}
        entry: dict[str, Any] = {}
        for name, side in sides.items():
            if side is not None:
                names = [self._names[id(thing)] for thing in side]
                entry[name] = names[0] if len(names) == 1 else names
        if any(isinstance(thing, Inside) for thing in rule.second or ()) and rule.law is not None:
            tube = next(thing for thing in rule.second if isinstance(thing, Inside))
            given = tube._given.arguments(Inside)
            if all(getattr(rule.law, name) == given.get(name) for name in _LAWS):
                return  # it comes with the tube
        if rule.law is None:
            # `ignore` of one thing made two rules, of which the first is the one that speaks of the thing alone.
            if rule.second is None and rule.itself:
                return
            entry["ignore"] = True
        else:
            entry |= {name: value for name in _LAWS if (value := getattr(rule.law, name)) is not None}
            if rule.itself != (rule.first is None):
                entry["itself"] = rule.itself
        group = self._groups["contact"]
        group[len(group)] = entry

    # --------------------------------------------------------------------------------------------------------- values

    def _value(self, value: Any, thing: Any, name: str) -> Any:
        """An argument as a file says it."""
        if isinstance(value, Unsayable) or (callable(value) and not isinstance(value, Route)):
            what = value.what if isinstance(value, Unsayable) else "a function"
            hint = _HINTS.get(name, "give numbers" if what == "a function" else "give a list")
            raise InputError(f"{thing.name} can't be written as text, since its {name} is {what}: {hint}")
        if value is None or isinstance(value, str | bool | int | float | np.generic):
            return value
        if isinstance(value, Material | Section):
            return self._pooled("material" if isinstance(value, Material) else "section", value)
        if isinstance(value, AbstractBody | Obstacle):
            return self._names[id(value)]
        if isinstance(value, Point):
            return self._point(value)
        if isinstance(value, Sheave):
            return self._sheave(value)
        if isinstance(value, AbstractShape):
            return _shape(value)
        if isinstance(value, Pose):
            turned = not np.array_equal(value.quaternion, (1.0, 0.0, 0.0, 0.0))
            return {"position": value.position} | ({"quaternion": value.quaternion} if turned else {})
        if isinstance(value, np.ndarray):
            return value
        if isinstance(value, list | tuple):
            return [self._value(one, thing, name) for one in value]
        if isinstance(value, dict):
            return {key: self._value(one, thing, name) for key, one in value.items()}
        known = schema.value_class(type(value).__name__)
        if known is not None and isinstance(value, known):
            maker = schema.makers_of(known)[known.__name__.lower()]
            given = {one: getattr(value, one) for one in maker.parameters}
            return {one: self._value(x, thing, name) for one, x in given.items() if x is not None}
        raise InputError(
            f"{thing.name} can't be written as text, since its {name} is {quoted(value)}: Scene.save keeps it"
        )

    def _pooled(self, pool: str, value: Any) -> str:
        known = self._pools[pool]
        for other, name in known:
            if other is value or other == value:
                return name
        name = f"{pool}{len(known) + 1}"
        known.append((value, name))
        if pool == "section":
            lengths = list(value.dimensions)
            fields = ("area", "I1", "I2", "J", "shear1", "shear2")
            dimensions: Any = lengths[0] if len(lengths) == 1 else lengths or {f: getattr(value, f) for f in fields}
            entry = {value.kind: dimensions}
        else:
            entry = {key: x for key in schema.Maker("material", Material, Material).parameters
                     if (x := getattr(value, key)) not in (None, ()) and (key, x) != ("hardening", 0.0)}  # fmt: skip
            if (
                value.isotropic
                and "shear_modulus" in entry
                and Material(value.youngs_modulus, value.poisson_ratio, value.density).shear_modulus
                == value.shear_modulus
            ):
                del entry["shear_modulus"]
        self._groups[pool][name] = entry
        return name

    def _point(self, point: Point) -> Any:
        if id(point) in self._shared:
            return self._pool_named("point", point, "point", self._place(point))
        return self._place(point)

    def _pool_named(self, group: str, thing: Any, word: str, entry: Any) -> str:
        key = id(thing)
        if key not in self._keys:
            count = len(self._groups[group]) + 1
            while f"{word}{count}" in self._taken:
                count += 1
            name = f"{word}{count}"
            self._taken.add(name)
            self._keys[key] = name
            self._groups[group][name] = entry
        return self._keys[key]

    def _place(self, point: Point) -> list[Any]:
        body = point.body
        if isinstance(point, WorldPoint):
            pose = point.pose
            turned = not np.array_equal(pose.rotation, np.eye(3))
            return ["world", {"position": pose.position, "quaternion": _exact(point)} if turned else point.position]
        if id(body) not in self._names:
            raise InputError(
                f"{point!r} can't be written as text: {body.name} belongs to a constraint. Scene.save keeps it"
            )
        name = self._names[id(body)]
        if isinstance(body, Rod):
            place = "end" if point.s == body.length else point.s  # type: ignore[attr-defined]
            return [name, place, *([point.offset] if point.offset.any() else [])]  # type: ignore[attr-defined]
        if isinstance(body, RigidBody):
            return [name, point.local]  # type: ignore[attr-defined]
        if isinstance(body, ZonePlaces):
            given = point._given
            if isinstance(given["place"], dict):
                raise InputError(f"{point!r} can't be written as text: Scene.save keeps it")
            return [name, given["place"], *([] if given["radius"] is None else [given["radius"]])]
        return [name]

    def _sheave(self, sheave: Sheave) -> Any:
        given = sheave._given.arguments(Sheave)
        entry = {name: self._value(value, sheave, name) for name, value in given.items() if value is not None}
        if sheave.friction is not None and not same(sheave.friction, given.get("friction", np.inf)):
            entry["friction"] = sheave.friction
        return self._pool_named("sheave", sheave, "sheave", entry)

    # ----------------------------------------------------------------------------------------------------------- text

    def text(self) -> str:
        """All of it."""
        scene = self._scene
        head: dict[str, Any] = {"gravity": scene.gravity, "drag": scene.drag, "integrator": scene.integrator}
        parts = [table_of("[scene]", head | ({"name": scene.name} if scene.name else {}))]
        law = {name: getattr(scene.contacts, name) for name in _LAWS}
        fresh = {"friction": 0.3, "static_friction": None}
        if told := {name: x for name, x in law.items() if x != fresh.get(name, 0.0) and x is not None}:
            parts.append(table_of("[contacts]", told))
        for name, group in schema.GROUPS.items():
            entries = self._groups[name]
            if name == "point" and entries:
                parts.append(table_of("[point]", entries))
            elif group.listed:
                parts += [table_of(f"[[{name}]]", entry) for entry in entries.values()]
            else:
                parts += [table_of(f"[{name}.{key_of(key)}]", entry) for key, entry in entries.items()]
        return "\n\n".join(parts) + "\n"


def _check_masses(rod: Rod) -> None:
    """Raise `InputError` for a rod with masses that no argument tells."""
    if rod.added_masses:
        raise InputError(f"{rod.name} can't be written as text, since masses were added to it: Scene.save keeps them")


def _lengths(rod: Rod, pieces: list[Any]) -> list[Any]:
    """The pieces of a rod, with a number for what one of them has of the length that is left."""
    left = rod.length - sum(piece[0] for piece in pieces if piece[0] is not None)
    return [[left if piece[0] is None else piece[0], *piece[1:]] for piece in pieces]


def _group(thing: Any) -> str:
    pairs = ((Rod, "rod"), (RigidBody, "rigid"), (Pearl, "pearl"), (Slider, "slider"), (Obstacle, "obstacle"))
    return next((group for kind, group in pairs if isinstance(thing, kind)), "zone")


def _parts(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _parts(value)
        elif isinstance(value, Sheave):
            yield value
            yield from _parts(value._given.arguments(Sheave).values())
        else:
            yield value


def _only(entry: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: entry[name] for name in names if name in entry}


def _led(maker: schema.Maker, entry: dict[str, Any]) -> dict[str, Any]:
    """An entry that begins with its maker's key, which stands for the maker's first arguments."""
    first = maker.first
    if not all(name in entry for name in first) or not first:
        return {maker.key: entry}
    optional = [name for name in ("faces",) if name in entry and maker.key == "mesh"]
    if optional:
        lead: Any = {name: entry[name] for name in (*first, *optional)}
    else:
        lead = entry[first[0]] if len(first) == 1 else [entry[name] for name in first]
    return {maker.key: lead} | {name: value for name, value in entry.items() if name not in (*first, *optional)}


def _shape(shape: AbstractShape) -> dict[str, Any]:
    """A shape by its numbers; where these would lose bits, a simpler one that is moved."""
    key = type(shape).__name__.lower()
    if key not in schema.shapes():
        raise InputError(f"a {type(shape).__name__} can't be written as text: Scene.save keeps it")
    maker = schema.shapes()[key]
    given = {name: getattr(shape, name) for name in maker.parameters}
    again = maker.make(**given)
    if not (np.array_equal(again.pose.position, shape.pose.position)
            and np.array_equal(again.pose.quaternion, shape.pose.quaternion)):  # fmt: skip
        origin = np.zeros(3)
        plain = {"point": origin, "normal": np.eye(3)[2]} if isinstance(shape, Plane) else {"centre": origin}
        given = plain if isinstance(shape, Plane) else plain | {"radius": given["radius"]}
        return {key: given, "moved": {"position": shape.pose.position, "quaternion": shape.pose.quaternion}}
    if "pose" in given:
        pose = given.pop("pose")
        if not np.array_equal(pose.position, np.zeros(3)) or not np.array_equal(pose.quaternion, (1.0, 0.0, 0.0, 0.0)):
            given["pose"] = {"position": pose.position, "quaternion": pose.quaternion}
    return {key: given}


def _exact(point: WorldPoint) -> Any:
    """The quaternion of a world point's frame: the very one that it was given, if it has turned by nothing else."""
    given, now = point._quaternion, point.pose
    if given is not None and np.array_equal(Pose((0.0, 0.0, 0.0), given).rotation.ravel(), point._row.anchor_frame[0]):
        return given
    return now.quaternion


def _inertia_given(body: RigidBody) -> Any:
    """The inertia over the mass that a body was made with."""
    made = getattr(RigidBody, body._given.maker)(**body._given.arguments(RigidBody))
    return made.inertia / made.mass
