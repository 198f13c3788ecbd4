"""Scenes from text (TOML). No code is run by a file, and every key is one that there is."""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from sennit import validation
from sennit.bodies.world import World
from sennit.errors import InputError
from sennit.text import schema
from sennit.text.beside import Beside
from sennit.text.lines import Lines
from sennit.text.schema import GROUPS, NAMED, Maker
from sennit.text.tables import read_text
from sennit.validation import quoted

if TYPE_CHECKING:
    from sennit.scene.scene import Scene

__all__ = ["Run", "SceneFile", "read_scene", "scene_of_text"]

At = tuple[Any, ...]
MOST_ENTRIES = 20_000
MOST_COUNTED = 100_000
"""Largest whole number that a file may ask for: of control points, holes, turns."""
_UNIT = re.compile(r"\s*[-+]?[\d.]+(?:e[-+]?\d+)?\s*([A-Za-zµ°Ω%][\w·/²³^*%]*)\s*$")
_UNIT_SUFFIX = re.compile(r"_(mm|cm|m|um|kg|g|n|kn|pa|kpa|mpa|gpa|s|ms|deg|rad|si)$", re.I)
_CHAIN = re.compile(r"(?:\.[ \t]*[\w\"'-]{1,200}[ \t]*){10}")
_BODIES = {"Rod", "RigidBody", "Zone", "ZonePlaces", "Slider", "Pearl"}
_DAMAGE = (
    TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError, RecursionError, OSError,
    NotImplementedError,
)  # fmt: skip
"""What values in wrong places can make constructors raise besides InputError."""


@dataclass(frozen=True)
class Run:
    """The table ``[run]``: how `sennit run` runs the scene unless its options say otherwise."""

    settle: bool = False
    """Find the equilibrium first."""
    seconds: float | None = None
    dt: float | None = None
    record: str | None = None
    """Name of the file that is written, beside the scene's."""


@dataclass(frozen=True)
class SceneFile:
    """What a scene file holds."""

    scene: Scene
    run: Run
    things: dict[tuple[str, Any], Any]
    """What its entries became, by group and key or number."""


def read_scene(path: str | os.PathLike[str]) -> SceneFile:
    """The scene in a TOML file. Raises `InputError` with its name, a line and what is wrong there."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be a file name that ends in .toml, got {quoted(path)}")
    try:
        file = Path(path)
    except Exception:  # whatever the value's own methods raise
        raise InputError(f"path must be a file name that ends in .toml, got {quoted(path)}") from None
    return scene_of_text(read_text(file, "a scene file (.toml)", (".toml",)), str(file), file.parent)


def scene_of_text(text: str, name: str = "text", folder: Path | None = None) -> SceneFile:
    """The scene that a TOML text tells; files that it names lie in `folder`."""
    text = text.replace("\r\n", "\n")
    if chain := _CHAIN.search(text):  # tomllib's time and memory grow with the square of their length
        raise InputError(f"{name}, line {text.count(chr(10), 0, chain.start()) + 1}: a key of more than ten parts")
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as problem:
        words = "it is nested too deeply" if isinstance(problem, RecursionError) else str(problem)
        line = re.search(r"\(at line (\d+), column (\d+)\)", words)
        where = f", line {line[1]}" if line else ""
        rest = re.sub(r"\s*\(at [^)]*\)", "", words)[:200]
        raise InputError(f"{name}{where}: this is no TOML: {rest}") from None
    return _Reader(document, Lines(text), name, Beside(folder)).read()


class _Reader:
    """Makes a scene of a document; everything in it is checked."""

    def __init__(self, document: dict[str, Any], lines: Lines, name: str, beside: Beside) -> None:
        self._document, self._lines, self._file, self._beside = document, lines, name, beside
        self._values: dict[str, dict[str, Any]] = {
            "material": {},
            "section": {},
            "route": {},
            "point": {},
            "sheave": {},
        }
        self._things: dict[str, Any] = {}
        """Bodies and obstacles by name."""
        self._made: dict[tuple[str, Any], Any] = {}

    def read(self) -> SceneFile:
        from sennit.scene.scene import Scene

        self._check_groups()
        maker = Maker("scene", Scene, Scene)
        self.scene: Scene = self._call(maker, self._table("scene"), ("scene",))
        for group in GROUPS.values():
            entries = self._document.get(group.name, [] if group.listed else {})
            pairs = enumerate(entries) if group.listed else entries.items()
            for key, entry in pairs:
                at = (group.name, key)
                self._made[at] = getattr(self, f"_make_{group.name}")(entry, key, at)
        self._set(self.scene.contacts, self._table("contacts"), ("contacts",), "the numbers of all contacts")
        return SceneFile(self.scene, self._run(), self._made)

    # ------------------------------------------------------------------------------------------------- what is wrong

    def refuse(self, at: At, message: str) -> NoReturn:
        """Raise the error of a place in the file."""
        raise InputError(f"{self._file}, line {self._lines.of(at)}: {self._place(at)}{message}") from None

    @staticmethod
    def _place(at: At) -> str:
        """The entry that a place is in, as a header names it."""
        if len(at) < 2 or at[0] not in GROUPS:
            return f"[{at[0]}]: " if at and at[0] in ("scene", "run", "contacts") else ""
        return f"[[{at[0]}]] number {at[1] + 1}: " if GROUPS[at[0]].listed else f"[{at[0]}.{str(at[1])[:80]}]: "

    def _unknown(self, at: At, what: str, name: object, known: Iterable[str]) -> NoReturn:
        """Raise the error of a name that there is not, with the nearest that there are."""
        names = sorted(set(known))
        text = str(name)
        near = get_close_matches(text.lower(), [n.lower() for n in names], 1, 0.5)
        bare = _UNIT_SUFFIX.sub("", text)
        if bare != text and bare in names:
            self.refuse(at, f"there is no {what} {quoted(name)}: did you mean {bare!r}? All numbers are in SI units")
        hint = [n for n in names if near and n.lower() == near[0]]
        told = ", ".join(names) if names else "none"
        self.refuse(at, f"there is no {what} {quoted(name)}{f': did you mean {hint[0]!r}?' if hint else '.'} "
                        f"There {'is' if len(names) < 2 else 'are'} {told[:600]}")  # fmt: skip

    def _check_groups(self) -> None:
        known = {*GROUPS, "scene", "run", "contacts"}
        count = 0
        for name, content in self._document.items():
            if name not in known:
                self._unknown((name,), "table", name, known)
            group = GROUPS.get(name)
            if group is None or not group.listed:
                if not isinstance(content, dict):
                    self.refuse((name,), f"{name} must be a table, [{name}{'.NAME' if group else ''}]")
                if group is None:
                    continue
            if group.listed and not (isinstance(content, list) and all(isinstance(one, dict) for one in content)):
                self.refuse((name,), f"{name} must be a list of tables, each begins with [[{name}]]")
            for key, entry in enumerate(content) if group.listed else content.items():
                count += 1
                if not isinstance(entry, dict) and name != "point":
                    self.refuse((name, key), f"it must be a table, [{name}.NAME] with keys below, got {quoted(entry)}")
                if name in NAMED or name in ("point", "sheave"):
                    if key == "world":
                        self.refuse((name, key), "nothing else can be called world")
                    others = [g for g in (*NAMED, "point", "sheave") if g != name and key in self._document.get(g, ())]
                    if others and self._lines.of((name, key)) > self._lines.of((others[0], key)):
                        self.refuse((name, key), f"a {others[0]} has this name already: names are for one thing")
        if count > MOST_ENTRIES:
            raise InputError(f"{self._file}, line 1: more than {MOST_ENTRIES} entries")

    def _table(self, name: str) -> dict[str, Any]:
        content: dict[str, Any] = self._document.get(name, {})
        return content

    # --------------------------------------------------------------------------------------------------------- makers

    def _call(
        self, maker: Maker, entry: dict[str, Any], at: At, extra: Iterable[str] = (), stand: dict[str, At] | None = None
    ) -> Any:
        """What a maker makes of the keys of an entry; what else can be set of it is set then.

        `stand`: where keys stand that have no line of their own.
        """
        stand = stand or {}
        settings = schema.settings_of(maker.kind)
        given, later = {}, {}
        for key, value in entry.items():
            if key in maker.parameters:
                given[key] = self._value(value, maker.parameters[key], stand.get(key, (*at, key)))
            elif key in settings:
                later[key] = value
            elif key not in extra:
                known = [*maker.parameters, *settings, *extra]
                self._unknown((*at, key), f"{self._title(maker)} key", key, known)
        for name in maker.required:
            if name not in given:
                self.refuse(at, f"{name} is missing: {self._title(maker)} needs {', '.join(maker.required)}")
        made = self._try(at, entry, lambda: maker.make(**given), stand)
        if later:
            self._set(made, later, at, self._title(maker))
        return made

    @staticmethod
    def _title(maker: Maker) -> str:
        return (
            maker.kind.__name__ if maker.key == maker.kind.__name__.lower() else f"{maker.kind.__name__} ({maker.key})"
        )

    def _set(self, thing: Any, entry: dict[str, Any], at: At, title: str) -> None:
        settings = schema.settings_of(thing)
        for key, value in entry.items():
            if key not in settings:
                self._unknown((*at, key), f"key of {title}:", key, settings)
            new = self._value(value, settings[key], (*at, key))
            self._try((*at, key), entry, lambda key=key, new=new: setattr(thing, key, new))

    def _try(self, at: At, entry: dict[str, Any], act: Any, stand: dict[str, At] | None = None) -> Any:
        """What `act` returns; its errors get the line of the key that they speak of."""
        try:
            return act()
        except InputError as problem:
            text = str(problem)
            if text.startswith(f"{self._file}, line"):
                raise
            word = re.match(r"\w+", text)
            key = word[0] if word and word[0] in entry else None
            place = at if key is None or at[-1] == key else (*at, key)
            self.refuse((stand or {}).get(key or "", place), text)
        except _DAMAGE as problem:
            self.refuse(at, f"it can't be made: {' '.join(str(problem).split())[:200] or type(problem).__name__}")

    def _chosen(self, makers: dict[str, Maker], entry: dict[str, Any], at: At, what: str, extra: Iterable[str] = (),
                also: Iterable[str] = ()) -> Any:  # fmt: skip
        """What the one maker makes whose key an entry has: its value is the maker's first arguments, or a table."""
        found = [key for key in entry if key in makers]
        keys = [key for key in found if not any(key in makers[other].parameters for other in found)] or found
        if len(keys) != 1:
            for key in entry:  # a misspelt maker?
                near = get_close_matches(key.lower(), list(makers), 1, 0.7)
                if not keys and near and key not in also:
                    self._unknown((*at, key), f"{what} maker", key, makers)
            given = f", got {' and '.join(keys)}" if keys else ""
            self.refuse(at, f"it must have one of {', '.join(makers)}{given}")
        key = keys[0]
        maker, value = makers[key], entry[key]
        rest = {name: other for name, other in entry.items() if name != key and name not in extra}
        first = self._first(maker, value, (*at, key), rest)
        return self._call(maker, rest | first, at, stand=dict.fromkeys(first, (*at, key)))

    def _first(self, maker: Maker, value: Any, at: At, rest: dict[str, Any]) -> dict[str, Any]:
        """The arguments that the value of a maker's key stands for."""
        first = maker.first
        if isinstance(value, dict):
            for key in value:
                if key not in maker.parameters:
                    self._unknown((*at, key), f"{self._title(maker)} key", key, maker.parameters)
                if key in rest:
                    self.refuse((*at, key), f"{key} is given twice")
            return value
        if not first:
            self.refuse(
                at, f"{maker.key} must be a table, {{ {' = …, '.join(maker.required)} = … }}, got {quoted(value)}"
            )
        if isinstance(value, str) and first[1:] == ["faces"] and self._beside.knows(value):
            mesh = self._named(value, frozenset({"Any"}), at)
            return {"vertices": np.array(mesh.vertices), "faces": np.array(mesh.faces)}
        if len(first) == 1:
            return {first[0]: value}
        if not isinstance(value, list) or len(value) != len(first):
            self.refuse(at, f"{maker.key} must be [{', '.join(first)}] or a table of them, got {quoted(value)}")
        return dict(zip(first, value, strict=True))

    # --------------------------------------------------------------------------------------------------------- values

    def _value(self, value: Any, kinds: frozenset[str], at: At) -> Any:
        """A value as the argument that its annotation's words ask for."""
        if isinstance(value, str):
            return self._named(value, kinds, at)
        if isinstance(value, dict):
            return self._inline(value, kinds, at)
        if isinstance(value, list):
            return self._list(value, kinds, at)
        if isinstance(value, bool | float | np.ndarray):
            return value
        if isinstance(value, int):
            if "int" in kinds and abs(value) > MOST_COUNTED:
                self.refuse(at, f"{at[-1]} must be at most {MOST_COUNTED} in a file, got {value}")
            return value
        self.refuse(at, f"{at[-1]} can't be a date or a time, got {quoted(str(value))}")

    def _named(self, value: str, kinds: frozenset[str], at: At) -> Any:
        """A text: the name of something, a file, or a word."""
        pools: list[str] = []
        for word, pool in (("Section", "section"), ("Material", "material"), ("Callable", "route"), ("Path", "route")):
            if word in kinds:
                pools.append(pool)
                if value in self._values[pool]:
                    return self._values[pool][value]
        if kinds & {"Point", "Sheave"}:
            if value in self._values["sheave"] and "Sheave" in kinds:
                return self._values["sheave"][value]
            return self._point([value], at)
        if kinds & _BODIES or "Any" in kinds:
            if value in self._things:
                return self._things[value]
            if not self._beside.knows(value):
                self._unknown(at, "thing", value, self._things)
        if kinds & {"ArrayLike", "Any"} and self._beside.knows(value):
            return self._try(at, {}, lambda: self._beside.content(value, str(at[-1])))
        if unit := _UNIT.match(value):
            if not kinds & {"str", "Literal"}:
                self.refuse(at, f"{at[-1]} must be a number without a unit, in SI units (m, kg, s, N, Pa, rad), got "
                                f"{quoted(value)}: leave {unit[1]!r} away")  # fmt: skip
        if pools:
            known = [name for pool in pools for name in self._values[pool]]
            self._unknown(at, " or ".join(pools), value, known)
        return value

    def _list(self, value: list[Any], kinds: frozenset[str], at: At) -> Any:
        if value and isinstance(value[0], str):
            pair = "tuple" in kinds and len(value) > 1 and not isinstance(value[1], str)
            if kinds & {"Iterable", "Sequence", "Any"} and kinds & ({"Point", "Sheave", "Any"} | _BODIES) and not pair:
                return [self._entry_of_list(one, kinds, (*at, k)) for k, one in enumerate(value)]
            if "Point" in kinds:
                return self._point(value, at)
            if "RigidBody" in kinds or "Rod" in kinds:
                return (self._named(value[0], kinds, at), *value[1:])
        if kinds & {"Iterable", "Sequence", "Any"} and value and isinstance(value[0], dict | list):
            if isinstance(value[0], dict) or (
                isinstance(value[0][:1], list) and value[0] and isinstance(value[0][0], str)
            ):
                return [self._entry_of_list(one, kinds, (*at, k)) for k, one in enumerate(value)]
        if "Pose" in kinds and not kinds & {"ArrayLike", "Any"}:
            from sennit.geometry.pose import Pose

            return self._try(at, {}, lambda: Pose(value))
        return value

    def _entry_of_list(self, one: Any, kinds: frozenset[str], at: At) -> Any:
        return self._value(one, kinds - {"Iterable", "Sequence"} if "Point" in kinds else kinds, at)

    def _inline(self, value: dict[str, Any], kinds: frozenset[str], at: At) -> Any:
        """A table where a value stands: a Pose, a Motor, a Route, a shape, a section, ..."""
        shapes = schema.shapes()
        if kinds & {"AbstractShape", "Any"} and any(key in shapes for key in value):
            return self._shape(value, at)
        for word in ("Route",) if kinds & {"Callable", "Path"} else sorted(kinds):
            kind = schema.value_class(word)
            if kind is not None:
                makers = schema.makers_of(kind)
                if kind.__name__.lower() in makers:
                    return self._call(self._best(makers, value), value, at)
                return self._chosen(makers, value, at, word)
        if kinds & {"AbstractShape", "Any"}:
            return self._shape(value, at)
        self.refuse(at, f"{at[-1]} can't be a table, got {quoted(value)}")

    @staticmethod
    def _best(makers: dict[str, Maker], value: dict[str, Any]) -> Maker:
        """The maker whose parameters the keys of a table are; the constructor where none fits."""
        fitting = [maker for maker in makers.values() if set(value) <= set(maker.parameters)
                   and set(maker.required) <= set(value)]  # fmt: skip
        return fitting[0] if fitting else next(iter(makers.values()))

    def _shape(self, value: dict[str, Any], at: At) -> Any:
        from sennit.geometry.pose import Pose

        made = self._chosen(schema.shapes(), value, at, "shape", extra=("moved",))
        if "moved" in value:
            pose = self._value(value["moved"], frozenset({"Pose"}), (*at, "moved"))
            return made._at(validation.instance("moved", pose, Pose, "a pose"))
        return made

    def _point(self, value: list[Any], at: At) -> Any:
        """A point: [name of a body, its place on it], ["world", place], or [name of a point]."""
        from sennit.bodies.rod.rod import Rod

        name, *rest = value
        if name in self._values["point"] and not rest:
            return self._values["point"][name]
        body = World if name == "world" else self._things.get(name)
        if body is None or not hasattr(body, "at"):
            self._unknown(at, "body", name, [*(n for n, one in self._things.items() if hasattr(one, "at")), "world",
                                             *self._values["point"]])  # fmt: skip
        if isinstance(body, Rod) and rest[:1] in (["start"], ["end"]):
            rest = [0.0 if rest[0] == "start" else body.length, *rest[1:]]
        maker = Maker("at", body.at, type(body))
        if len(rest) > len(maker.parameters):
            self.refuse(at, f"a point is [name, {', '.join(maker.parameters)}], got {quoted(value)}")
        given = [self._value(one, kinds, at) for one, kinds in zip(rest, maker.parameters.values(), strict=False)]
        if len(given) < len(maker.required):
            wanted = ", ".join([quoted(name), *maker.parameters])
            self.refuse(at, f"a point of {quoted(name)} is [{wanted}], got {quoted(value)}")
        return self._try(at, {}, lambda: body.at(*given))

    # --------------------------------------------------------------------------------------------------------- groups

    def _make_material(self, entry: dict[str, Any], key: str, at: At) -> Any:
        return self._keep("material", key, self._class("Material", entry, at))

    def _make_section(self, entry: dict[str, Any], key: str, at: At) -> Any:
        from sennit.material import Section

        return self._keep("section", key, self._chosen(schema.makers_of(Section), entry, at, "section"))

    def _make_route(self, entry: dict[str, Any], key: str, at: At) -> Any:
        return self._keep("route", key, self._class("Route", entry, at))

    def _make_point(self, entry: Any, key: str, at: At) -> Any:
        if not isinstance(entry, list) or not entry or not isinstance(entry[0], str):
            self.refuse(at, f'it must be ["world", [x, y, z]] or a place on a body, got {quoted(entry)}')
        return self._keep("point", key, self._point(entry, at))

    def _make_sheave(self, entry: dict[str, Any], key: str, at: At) -> Any:
        return self._keep("sheave", key, self._class("Sheave", entry, at))

    def _keep(self, pool: str, key: str, value: Any) -> Any:
        self._values[pool][key] = value
        return value

    def _class(self, name: str, entry: dict[str, Any], at: At) -> Any:
        import sennit

        kind = getattr(sennit, name)
        return self._call(Maker(name.lower(), kind, kind), entry, at)

    def _thing(self, made: Any, key: str, at: At, **options: Any) -> Any:
        self._things[key] = self._try(at, {}, lambda: self.scene.add(made, **options))
        return made

    def _make_rod(self, entry: dict[str, Any], key: str, at: At) -> Any:
        from sennit.bodies.rod.rod import Rod

        return self._thing(self._chosen(schema.makers_of(Rod), {"name": key, **entry}, at, "rod"), key, at)

    def _make_rigid(self, entry: dict[str, Any], key: str, at: At) -> Any:
        from sennit.bodies.rigid.body import RigidBody

        return self._thing(self._chosen(schema.makers_of(RigidBody), {"name": key, **entry}, at, "rigid"), key, at)

    def _make_zone(self, entry: dict[str, Any], key: str, at: At) -> Any:
        from sennit.bodies.zone.zone import Zone

        made = self._chosen(schema.makers_of(Zone), {"name": key, **entry}, at, "zone", extra=("on", "weight"))
        on = self._value(entry["on"], frozenset({"Point"}), (*at, "on")) if "on" in entry else None
        return self._thing(made, key, at, on=on, weight=entry.get("weight", False))

    def _make_slider(self, entry: dict[str, Any], key: str, at: At) -> Any:
        return self._thing(self._class("Slider", {"name": key, **entry}, at), key, at)

    def _make_pearl(self, entry: dict[str, Any], key: str, at: At) -> Any:
        return self._thing(self._class("Pearl", {"name": key, **entry}, at), key, at)

    def _make_obstacle(self, entry: dict[str, Any], key: str, at: At) -> Any:
        from sennit.contact.inside import Inside
        from sennit.contact.obstacle import Obstacle

        rest = {"name": key, **entry}
        if "inside" in entry:
            inside = rest.pop("inside")
            if not isinstance(inside, dict):
                self.refuse((*at, "inside"), f"inside must be a table of the arguments of Inside, got {quoted(inside)}")
            return self._thing(self._call(Maker("inside", Inside, Inside), rest | inside, at), key, at)
        maker, shapes = Maker("obstacle", Obstacle, Obstacle), schema.shapes()
        if "shapes" in entry:
            given = rest.pop("shapes")
            if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
                message = "shapes must be a list of tables, [{ box = … }, …], got "
                self.refuse((*at, "shapes"), message + quoted(given))
            return self._thing(self._call(maker, rest | {"shape": given}, at), key, at)
        own = {name: value for name, value in rest.items() if name in shapes or name == "moved"}
        if not any(name in shapes for name in own):
            self._chosen(shapes, own or entry, at, "shape")
        others = {name: value for name, value in rest.items() if name not in own}
        if "shape" in others:
            self.refuse((*at, "shape"), f"a shape stands by its own name, one of {', '.join(shapes)}")
        return self._thing(self._call(maker, others | {"shape": own}, at), key, at)

    def _make_hold(self, entry: dict[str, Any], key: int, at: At) -> Any:
        makers = schema.holds()
        kind = entry.get("kind")
        if not isinstance(kind, str):
            self.refuse(at, f"kind is missing: {', '.join(makers)}")
        name = kind.lower().replace("_", "").replace(" ", "")
        if name not in makers:
            self._unknown((*at, "kind"), "constraint", kind, makers)
        made = self._call(makers[name], {k: v for k, v in entry.items() if k != "kind"}, at)
        return self._try(at, {}, lambda: self.scene.add(made))

    def _make_load(self, entry: dict[str, Any], key: int, at: At) -> Any:
        made = self._class("Load", entry, at)
        return self._try(at, {}, lambda: self.scene.add(made))

    def _make_contact(self, entry: dict[str, Any], key: int, at: At) -> Any:
        from sennit.scene.colliding import Contact

        rest = dict(entry)
        ignored = rest.pop("ignore", False)
        if not isinstance(ignored, bool):
            self.refuse((*at, "ignore"), f"ignore must be true or false, got {quoted(ignored)}")
        act = self.scene.ignore if ignored else self.scene.collide
        return self._call(Maker("ignore" if ignored else "collide", act, Contact), rest, at, extra=("ignore",))

    # ------------------------------------------------------------------------------------------------------- [run]

    def _run(self) -> Run:
        entry, at = self._table("run"), ("run",)
        known = Run.__dataclass_fields__
        for key in entry:
            if key not in known:
                self._unknown((*at, key), "key of run:", key, known)
        settle = self._try((*at, "settle"), entry, lambda: validation.flag("settle", entry.get("settle", False)))
        numbers = {
            key: self._try((*at, key), entry, lambda key=key: validation.number(key, entry[key], positive=True))
            for key in ("seconds", "dt")
            if key in entry
        }
        record = entry.get("record")
        if record is not None:
            from sennit.export.record import SUFFIXES

            plain = isinstance(record, str) and record == os.path.basename(record) and not record.startswith(".")
            if not plain or "\\" in record or Path(record).suffix.lower() not in SUFFIXES or "\0" in record:
                kinds = ", ".join(SUFFIXES)
                self.refuse(
                    (*at, "record"),
                    f"record must be a file name without a folder, of one of {kinds}, got {quoted(record)}",
                )
        if not math.isfinite(numbers.get("seconds", 0.0)):
            self.refuse((*at, "seconds"), "seconds must be finite")
        return Run(settle, numbers.get("seconds"), numbers.get("dt"), record)
