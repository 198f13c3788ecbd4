"""Scenes in files: one .npz with a description (JSON) and every number of the state. No pickle is written or read."""

from __future__ import annotations

import json
import lzma
import math
import os
import tempfile
import zipfile
import zlib
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import numpy as np

from sennit import validation
from sennit.bodies.body import AbstractBody
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.rod import Rod
from sennit.bodies.rod.tables import RodTables
from sennit.bodies.slider.slider import Slider
from sennit.bodies.zone.conditions import vertex_ids
from sennit.bodies.zone.zone import Zone
from sennit.constraints import join, joint, place, slide
from sennit.constraints.cable.cable import Cable
from sennit.constraints.cable.sheave import Sheave
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.kernels.rows import SPARE
from sennit.constraints.load import Load
from sennit.constraints.slide import Keyhole, Pearl
from sennit.elastostatics.surface import checked_surface
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.material import Material, Section
from sennit.point.point import Point, RigidPoint, RodPoint, WorldPoint, ZonePoint
from sennit.solve.report import Event
from sennit.storage import checks as stored
from sennit.validation import quoted

if TYPE_CHECKING:
    from sennit.scene.scene import Scene

__all__ = ["load_scene", "save_scene"]

FORMAT = 1
_CONSTRAINTS = {
    name: getattr(module, name)
    for module in (place, join, joint, slide)
    for name in module.__all__
    if isinstance(getattr(module, name), type) and issubclass(getattr(module, name), AbstractConstraint)
}
_DAMAGE = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, OSError, EOFError, MemoryError, RecursionError,
    NotImplementedError, RuntimeError, AssertionError, zipfile.BadZipFile, zlib.error, lzma.LZMAError,
)  # fmt: skip
"""What a file can make its readers raise."""
# What a constraint keeps besides its points and rows, by the name of its attribute.
_EXTRAS = ("_motor_row", "_coordinate", "_axis", "_start", "_angle_axis", "_angle_side")


def save_scene(scene: Scene, path: str | Path) -> None:
    """Write `scene` to `path`: the file appears whole or not at all."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be a file name that ends in .npz, got {quoted(path)}")
    target = _as_path(path)
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {quoted(str(target.parent))}")
    if target.suffix != ".npz":
        raise InputError(f"path must end in .npz, got {quoted(str(path))}")
    snapshot = scene.snapshot()
    arrays: dict[str, Any] = {}
    description = _describe(scene, arrays)
    for i, numbers in enumerate(snapshot._numbers):
        for key, array in numbers.items():
            arrays[f"state/{i}/{key}"] = array
    arrays["description"] = np.frombuffer(json.dumps(description).encode(), np.uint8)
    handle, name = tempfile.mkstemp(dir=target.parent or Path("."), suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, **arrays)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load_scene(cls: type[Scene], path: str | Path) -> Scene:
    """The scene in the file at `path`."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be a file name, got {quoted(path)}")
    path = _as_path(path)
    shown = quoted(str(path))
    try:
        if not Path(path).is_file():
            raise InputError(f"there is no file {shown}")
        arrays = stored.read_arrays(Path(path))
        description = json.loads(bytes(arrays["description"]).decode())
        if not isinstance(description, dict):
            raise ValueError("it has no description")
        if description.get("format") != FORMAT:
            raise InputError(f"{shown} has format {quoted(description.get('format'))}; this version reads {FORMAT}")
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            return _rebuild(cls, description, arrays)
    except InputError as problem:
        if shown in str(problem):
            raise
        raise InputError(f"{shown} does not hold a scene: {problem}") from None
    except _DAMAGE as problem:
        text = f"{type(problem).__name__}: {problem}" if isinstance(problem, LookupError) else str(problem)
        raise InputError(f"{shown} is not a scene that sennit saved: {' '.join(text.split())[:300]}") from None


def _as_path(path: str | os.PathLike[str]) -> Path:
    try:
        return Path(path)
    except Exception:  # whatever the value's own methods raise
        raise InputError(f"path must be a file name, got {quoted(path)}") from None


# ------------------------------------------------------------------------------------------------------------ writing


def _describe(scene: Scene, arrays: dict[str, Any]) -> dict[str, Any]:
    numbers = {id(body): i for i, body in enumerate(scene.bodies)}
    ties = {id(constraint): i for i, constraint in enumerate(scene.constraints)}
    world: dict[int, int] = {}
    return {
        "format": FORMAT,
        "gravity": scene.gravity.tolist(),
        "drag": scene.drag,
        "integrator": scene.integrator,
        "name": scene.name,
        "clock": [scene._time, scene._last_step],
        "bodies": [_body(body, i, numbers, world, arrays) for i, body in enumerate(scene.bodies)],
        "constraints": [_constraint(c, i, numbers, world, arrays) for i, c in enumerate(scene.constraints)],
        "loads": [
            {"point": _point(load.point, numbers, world), "follower": load.follower, "name": load._name}
            for load in scene.loads
        ],
        "released": [numbers[id(body)] for body in scene._released],
        "events": [_event(event, numbers, ties) for event in scene.events],
    }


def _event(event: Event, bodies: dict[int, int], constraints: dict[int, int]) -> dict[str, Any]:
    # What is no longer in the scene is left out of the subjects.
    subjects = [("bodies", bodies[id(x)]) for x in event.subjects if id(x) in bodies]
    subjects += [("constraints", constraints[id(x)]) for x in event.subjects if id(x) in constraints]
    return {"time": event.time, "kind": event.kind, "subjects": subjects, "message": event.message}


def _body(
    body: AbstractBody, i: int, numbers: dict[int, int], world: dict[int, int], arrays: dict[str, Any]
) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": body._name, "kind": type(body).__name__}
    if isinstance(body, Rod):
        t = body._tables
        for field in fields(RodTables):
            value = getattr(t, field.name)
            if isinstance(value, np.ndarray):
                arrays[f"body/{i}/{field.name}"] = value
        entry |= {"model": t.model, "n": t.n, "spans": t.spans, "closed": t.closed}
        entry |= {"section": _section(body.section), "material": _material(body.material)}
    elif isinstance(body, RigidBody):
        entry |= {"mass": body.mass, "form": body.form}
        arrays[f"body/{i}/inertia"] = body._inertia
    elif isinstance(body, Slider):
        entry |= {"rod": numbers[id(body.rod)], "mass": body._mass, "friction": body._friction, "drag": body._drag}
        entry |= {"speed": body._speed}
        if isinstance(body, Pearl):
            entry |= {"radius": body.radius, "restitution": body.restitution}
    elif isinstance(body, Zone):
        entry |= {"material": _material(body.material), "on": _point(body.on, numbers, world), "method": body.method}
        for part in ("vertices", "faces", "fixed"):
            arrays[f"body/{i}/{part}"] = getattr(body, part)
        if body._tetrahedra is not None:
            arrays[f"body/{i}/points"], arrays[f"body/{i}/cells"] = body._tetrahedra
    else:
        raise InputError(f"{body.name} cannot be saved")
    return entry


def _section(section: Section) -> dict[str, Any]:
    names = ("area", "I1", "I2", "J", "shear1", "shear2")
    return {"kind": section.kind, "dimensions": section.dimensions, **{name: getattr(section, name) for name in names}}


def _material(material: Material) -> dict[str, float]:
    names = ("youngs_modulus", "poisson_ratio", "density", "relaxation_time", "shear_modulus")
    return {name: getattr(material, name) for name in names}


def _point(point: Point, numbers: dict[int, int], world: dict[int, int]) -> dict[str, Any]:
    # A point may be shared by several constraints and loads.
    entry: dict[str, Any] = {"id": world.setdefault(id(point), len(world))}
    if isinstance(point, WorldPoint):
        return entry
    entry["body"] = numbers[id(point.body)]
    if isinstance(point, RodPoint):
        entry["s"] = point.s
    elif isinstance(point, RigidPoint):
        entry["place"] = point._floats[0, :3].tolist()
    elif isinstance(point, ZonePoint):
        entry |= {"zone": point._given["place"], "radius": point._given["radius"]}
    return entry


def _constraint(
    constraint: AbstractConstraint, i: int, numbers: dict[int, int], world: dict[int, int], arrays: dict[str, Any]
) -> dict[str, Any]:
    if isinstance(constraint, Cable):
        return _cable(constraint, i, numbers, world, arrays)
    kind = type(constraint).__name__
    if kind not in _CONSTRAINTS or kind == "Follow":
        why = "its path is a function" if kind == "Follow" else "its class is not one of sennit's"
        raise InputError(f"{constraint.name} cannot be saved, since {why}: remove it first")
    arrays[f"constraint/{i}/ints"], arrays[f"constraint/{i}/floats"] = constraint._ints, constraint._floats
    entry: dict[str, Any] = {"kind": kind, "name": constraint._name}
    entry["points"] = [_point(point, numbers, world) for point in constraint.points]
    for name in _EXTRAS:
        if hasattr(constraint, name):
            value = getattr(constraint, name)
            if isinstance(value, np.ndarray | tuple):
                arrays[f"constraint/{i}/{name}"] = np.asarray(value)
            else:
                entry[name] = value
    if isinstance(constraint, Keyhole):
        entry["slider"] = numbers[id(constraint.slider)]
    return entry


def _cable(
    cable: Cable, i: int, numbers: dict[int, int], world: dict[int, int], arrays: dict[str, Any]
) -> dict[str, Any]:
    tables = dict(cable._tables)
    for name, table in tables.items():
        arrays[f"constraint/{i}/{name}"] = table
    entry: dict[str, Any] = {"kind": "Cable", "name": cable._name, "tables": list(tables)}
    entry["entries"] = []
    for item in cable.entries:
        if isinstance(item, Sheave):
            wheel = {"axis": item._axis.tolist(), "mark": item._mark.tolist(), "turns": item._turns}
            wheel |= {"radius": item.radius, "inertia": item.inertia, "fixed": item.fixed}
            wheel["friction"] = item.friction if item.friction < math.inf else None
            entry["entries"].append({"point": _point(item.point, numbers, world), "sheave": wheel})
        else:
            entry["entries"].append({"point": _point(item, numbers, world)})
    entry["around"] = [numbers[id(body)] for body in cable.around]
    entry["around_points"] = [_point(point, numbers, world) for point in cable._around]
    entry["section"] = None if cable._section is None else _section(cable._section)
    entry["material"] = None if cable._material is None else _material(cable._material)
    return entry


# ------------------------------------------------------------------------------------------------------------ reading


def _rebuild(cls: type[Scene], description: dict[str, Any], arrays: dict[str, Any]) -> Scene:
    from sennit.scene.contents import state_of

    scene = cls(description["gravity"], description["drag"], description["integrator"], description["name"])
    bodies: list[Any] = []
    for i, entry in enumerate(description["bodies"]):
        bodies.append(_made_body(entry, i, bodies, arrays))
    seen: dict[int, Point] = {}
    constraints = [
        _made_constraint(entry, i, bodies, seen, arrays) for i, entry in enumerate(description["constraints"])
    ]
    holes = {c.slider for c in constraints if isinstance(c, Keyhole)}
    # Sliders of keyholes come with them, but in their old place among the bodies.
    for body, entry in zip(bodies, description["bodies"], strict=True):
        if isinstance(body, Zone):
            scene.add(body, on=_made_point(entry["on"], bodies, seen))
        elif body not in holes:
            scene.add(body)
        else:
            scene._bodies.append(body)
            body._scene = scene
            scene._slider_rows[body] = slide.SliderRows(body)
    for constraint in constraints:
        scene._constraints.append(constraint)
        constraint._scene = scene
    for entry in description["loads"]:
        scene.add(Load(_made_point(entry["point"], bodies, seen), follower=entry["follower"], name=entry["name"]))
    # Bodies go to their places first: who is whose neighbour on a thread depends on it.
    for i, body in enumerate(bodies):
        if isinstance(body, Zone):
            continue  # its numbers follow from what holds it, which is not known yet
        stored.take(arrays, state_of(body), i)
    scene._changed()
    scene._compiled()
    for i, thing in enumerate(scene._numbered()):
        if isinstance(thing, Cable):
            stored.take_cable(arrays, thing, i)
        else:
            stored.take(arrays, state_of(thing), i)
    for body in bodies:
        # A spin that its inertia turns into no finite rate would enter the velocities in the first step.
        if isinstance(body, RigidBody) and not np.isfinite(body._inverse @ body._arrays["spin"][0]).all():
            raise ValueError("a rigid body turns infinitely fast")
    scene._beginnings.clear()
    for body in bodies:
        if isinstance(body, Zone):
            body._begun.clear()
    scene._remember_beginnings()
    assert scene._system is not None and scene._stepper is not None
    scene._system.find_spans()
    scene._stepper.softened = bool(scene._system.row_floats[:, SPARE].any())
    scene._time, scene._last_step = (validation.number("clock", t, minimum=0.0) for t in description["clock"])
    released = description["released"]
    if not all(type(i) is int and 0 <= i < len(bodies) and isinstance(bodies[i], Slider) for i in released):
        raise ValueError("what is released is no slider")
    scene._released = {bodies[i] for i in released}
    things: dict[str, list[Any]] = {"bodies": bodies, "constraints": constraints}
    for entry in description.get("events", ()):
        subjects = tuple(things[what][i] for what, i in entry["subjects"])
        if entry["kind"] not in get_args(get_type_hints(Event)["kind"]) or not isinstance(entry["message"], str):
            raise ValueError("it holds an event of an unknown kind")
        scene._events.append(Event(validation.number("time", entry["time"]), entry["kind"], subjects, entry["message"]))
    return scene


def _made_body(entry: dict[str, Any], i: int, bodies: list[Any], arrays: dict[str, Any]) -> AbstractBody:
    kind, name = entry["kind"], entry["name"]
    if kind == "Rod":
        given = {
            field.name: arrays[f"body/{i}/{field.name}"] if f"body/{i}/{field.name}" in arrays else entry[field.name]
            for field in fields(RodTables)
        }
        return Rod(stored.rod_tables(given), _made_section(entry["section"]), Material(**entry["material"]), name)
    if kind == "RigidBody":
        inertia = validation.array("inertia", arrays[f"body/{i}/inertia"], (3, 3))
        np.linalg.cholesky(inertia)  # raises unless it is positive definite
        mass = validation.number("mass", entry["mass"], positive=True)
        return RigidBody(mass, inertia, Pose(), name, stored.rigid_form(entry["form"]))
    if kind == "Zone":
        return _made_zone(entry, i, arrays)
    rod = bodies[entry["rod"]]
    common = {key: entry[key] for key in ("mass", "friction", "speed")} | {"sliding_drag": entry["drag"]}
    if kind == "Pearl":
        return Pearl(rod, 0.0, radius=entry["radius"], restitution=entry["restitution"], name=name, **common)
    return Slider(rod, 0.0, name=name, **common)


def _made_zone(entry: dict[str, Any], i: int, arrays: dict[str, Any]) -> AbstractBody:
    vertices, faces, fixed = (arrays[f"body/{i}/{part}"] for part in ("vertices", "faces", "fixed"))
    surface = checked_surface(vertices, faces)
    tetrahedra = None
    if f"body/{i}/points" in arrays:
        tetrahedra = arrays[f"body/{i}/points"], arrays[f"body/{i}/cells"]
    ids = vertex_ids("fixed", fixed, len(surface.vertices))
    return Zone(surface, ids, Material(**entry["material"]), entry["method"], entry["name"], tetrahedra=tetrahedra)


def _made_section(entry: dict[str, Any]) -> Section:
    names = ("area", "I1", "I2", "J", "shear1", "shear2")
    count = {"circle": 1, "rectangle": 2, "tube": 2, "custom": 0}[entry["kind"]]
    dimensions = validation.array("dimensions", entry["dimensions"], (count,)).tolist()
    return Section._make(entry["kind"], tuple(dimensions), **{name: entry[name] for name in names})


def _made_point(entry: dict[str, Any], bodies: list[Any], seen: dict[int, Point]) -> Point:
    if entry["id"] not in seen:
        body = bodies[entry["body"]] if "body" in entry else None
        if body is None:
            seen[entry["id"]] = WorldPoint((0.0, 0.0, 0.0))
        elif "s" in entry:
            if not isinstance(body, Rod):
                raise ValueError("a point of a rod is on something else")
            seen[entry["id"]] = RodPoint(body, validation.number("s", entry["s"], minimum=0.0, maximum=body.length))
        elif "zone" in entry:
            seen[entry["id"]] = body.at(entry["zone"], radius=entry["radius"])
        elif "place" in entry:
            if not isinstance(body, RigidBody):
                raise ValueError("a point of a rigid body is on something else")
            seen[entry["id"]] = RigidPoint(body, validation.vector("place", entry["place"]))
        else:
            seen[entry["id"]] = body.at()
    return seen[entry["id"]]


def _made_constraint(
    entry: dict[str, Any], i: int, bodies: list[Any], seen: dict[int, Point], arrays: dict[str, Any]
) -> AbstractConstraint:
    if entry["kind"] == "Cable":
        return _made_cable(entry, i, bodies, seen, arrays)
    cls = _CONSTRAINTS.get(entry["kind"])
    if cls is None:
        raise InputError(f"the file holds a constraint of an unknown kind, {quoted(entry['kind'])}")
    constraint: Any = cls.__new__(cls)
    first, second = (_made_point(point, bodies, seen) for point in entry["points"])
    AbstractConstraint.__init__(constraint, first, second, [], None, entry["name"])  # type: ignore[arg-type]
    rows = stored.constraint_rows(arrays[f"constraint/{i}/ints"], arrays[f"constraint/{i}/floats"])
    constraint._ints, constraint._floats = rows
    constraint._state = np.zeros((len(constraint._ints), constraint._state.shape[1]))
    constraint._anchor = second
    for name in stored.extras(entry["kind"]):
        value = entry[name] if name in entry else arrays[f"constraint/{i}/{name}"]
        setattr(constraint, name, stored.checked_extra(name, value, len(constraint._ints)))
    if "slider" in entry:
        constraint._slider = bodies[entry["slider"]]
        if not isinstance(constraint._slider, Slider):
            raise ValueError("a keyhole has no slider")
    made: AbstractConstraint = constraint
    return made


def _made_cable(
    entry: dict[str, Any], i: int, bodies: list[Any], seen: dict[int, Point], arrays: dict[str, Any]
) -> Cable:
    entries: list[Point | Sheave] = []
    for given in entry["entries"]:
        point = _made_point(given["point"], bodies, seen)
        wheel = given.get("sheave")
        if wheel is None:
            entries.append(point)
            continue
        names = ("radius", "inertia", "friction", "fixed", "turns")
        sheave = Sheave(point, (0.0, 0.0, 1.0), **{name: wheel[name] for name in names})
        sheave._axis, sheave._mark = (validation.vector(key, wheel[key]) for key in ("axis", "mark"))
        entries.append(sheave)
    around = [_made_point(given, bodies, seen) for given in entry["around_points"]]
    tables = {name: arrays[f"constraint/{i}/{name}"] for name in entry["tables"]}
    section = None if entry["section"] is None else _made_section(entry["section"])
    material = None if entry["material"] is None else Material(**entry["material"])
    obstacles = [bodies[number] for number in entry["around"]]
    if [point.body for point in around] != obstacles:
        raise ValueError("a cable runs around other bodies")
    stored.cable_tables(tables, entries, obstacles)
    return Cable._rebuilt(entries, obstacles, around, tables, section, material, entry["name"])
