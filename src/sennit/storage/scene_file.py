"""Scenes in files: one .npz with a description (JSON) and every number of the state. No pickle is written or read."""

from __future__ import annotations

import json
import lzma
import os
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import numpy as np

from sennit import validation
from sennit.bodies.body import AbstractBody
from sennit.bodies.zone.places import ZonePlaces
from sennit.constraints.cable.table import BODIES_FRICTION
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.load import Load
from sennit.contact.obstacle import Obstacle
from sennit.errors import InputError
from sennit.scene.skins import checked_skin
from sennit.solve.report import SPELLS, Event
from sennit.storage import format1, format2, format3, format4
from sennit.storage.contact_file import described_contact, read_kept, read_met, read_rules
from sennit.storage.describe import Reader, Writer, described, fill_state, rebuilt
from sennit.storage.file import checked, read_arrays, write_arrays
from sennit.validation import quoted, quoted_path

if TYPE_CHECKING:
    from sennit.scene.scene import Scene

__all__ = ["load_scene", "save_scene"]

FORMAT = 5
_DAMAGE = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, OSError, EOFError, MemoryError, RecursionError,
    NotImplementedError, RuntimeError, AssertionError, zipfile.BadZipFile, zlib.error, lzma.LZMAError,
)  # fmt: skip
"""What a file can make its readers raise."""


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
    description = _describe(scene, arrays) | described_contact(scene, snapshot._contact, arrays)
    for i, numbers in enumerate(snapshot._numbers):
        for key, array in numbers.items():
            arrays[f"state/{i}/{key}"] = array
    arrays |= {f"account/{name}": array for name, array in snapshot._account.items()}
    arrays["description"] = np.frombuffer(json.dumps(description).encode(), np.uint8)
    write_arrays(target, arrays)


def load_scene(cls: type[Scene], path: str | Path) -> Scene:
    """The scene in the file at `path`."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be a file name, got {quoted(path)}")
    path = _as_path(path)
    shown = quoted_path(path)
    try:
        if not Path(path).is_file():
            raise InputError(f"there is no file {shown}")
        arrays = read_arrays(Path(path))
        description = json.loads(bytes(arrays["description"]).decode())
        if not isinstance(description, dict):
            raise ValueError("it has no description")
        given = description.get("format")
        if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= FORMAT:
            raise InputError(f"{shown} has format {quoted(given)}; this version reads 1 to {FORMAT}")
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            if given == 1:
                description, arrays = format1.upgraded(description, arrays)
            if given <= 2:
                description, arrays = format2.upgraded(description, arrays)
            if given <= 3:
                description, arrays = format3.upgraded(description, arrays)
            if given <= 4:
                description, arrays = format4.upgraded(description, arrays)
            arrays = format4.with_winches(format4.with_stiffness_along(arrays))
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
    out = Writer(scene.bodies, arrays)
    numbers = {id(body): i for i, body in enumerate(scene.bodies)}
    numbers_of = {
        "bodies": numbers,
        "constraints": {id(constraint): i for i, constraint in enumerate(scene.constraints)},
        "obstacles": {id(obstacle): i for i, obstacle in enumerate(scene.obstacles)},
    }
    return {
        "format": FORMAT,
        "gravity": scene.gravity.tolist(),
        "drag": scene.drag,
        "integrator": scene.integrator,
        "name": scene.name,
        "clock": [scene._clock.time, scene._clock.last_step],
        "bodies": [described(body, out, f"body/{i}") for i, body in enumerate(scene.bodies)],
        "constraints": [described(tie, out, f"constraint/{i}") for i, tie in enumerate(scene.constraints)],
        "loads": [
            {"point": out.point(load.point), "follower": load.follower, "name": load._name} for load in scene.loads
        ],
        "obstacles": [described(thing, out, f"obstacle/{i}") for i, thing in enumerate(scene.obstacles)],
        "released": [numbers[id(body)] for body in scene._released],
        "events": [_event(event, numbers_of) for event in scene.events],
        "spells": scene._troubles.spells(),
        "put_in": scene.energy_put_in,
    }


def _event(event: Event, numbers: dict[str, dict[int, int]]) -> dict[str, Any]:
    # What is no longer in the scene is left out of the subjects.
    subjects = [(what, of[id(x)]) for what, of in numbers.items() for x in event.subjects if id(x) in of]
    told = {"time": event.time, "kind": event.kind, "subjects": subjects, "message": event.message}
    return told | ({"steps": event.steps} if event.steps > 1 else {})


# ------------------------------------------------------------------------------------------------------------ reading


def _rebuild(cls: type[Scene], description: dict[str, Any], arrays: dict[str, Any]) -> Scene:
    scene = cls(description["gravity"], description["drag"], description["integrator"], description["name"])
    read = Reader(arrays)
    for i, entry in enumerate(description["bodies"]):
        read.bodies.append(rebuilt(AbstractBody, entry, read, f"body/{i}"))
    bodies = read.bodies
    ties = [
        rebuilt(AbstractConstraint, entry, read, f"constraint/{i}")
        for i, entry in enumerate(description["constraints"])
    ]
    for body, entry in zip(bodies, description["bodies"], strict=True):
        on = {"on": read.point(entry["on"])} if "on" in entry else {}
        if any(tie._holds(body) for tie in ties):
            scene._take_in(body)  # it comes with its constraint, but in its old place among the bodies
        else:
            scene.add(body, **on, weight=bool(entry.get("weight", False)))
        if "skin" in entry and isinstance(body, ZonePlaces):
            body._skin.want(checked_skin(body, entry["skin"]))
    for tie in ties:
        scene._constraints.append(tie)
        tie._scene = scene
    for entry in description["loads"]:
        scene.add(Load(read.point(entry["point"]), follower=entry["follower"], name=entry["name"]))
    obstacles = [
        scene.add(rebuilt(Obstacle, entry, read, f"obstacle/{i}")) for i, entry in enumerate(description["obstacles"])
    ]
    read_rules(scene, description)
    # Bodies go to their places first: who is whose neighbour on a thread depends on it.
    for i, body in enumerate(bodies):
        if body._state_is_known():
            fill_state(body, _state(arrays, i, body))
    scene._changed()
    scene._compiled()
    for i, thing in enumerate(scene._numbered()):
        fill_state(thing, _state(arrays, i, thing))
    scene._state_was_put()
    assert scene._system is not None
    scene._contact_goes_on(read_met(scene, description), read_kept(scene, scene._system.touching, arrays))
    scene._begin_here()
    scene._clock.time, scene._clock.last_step = (
        validation.number("clock", t, minimum=0.0) for t in description["clock"]
    )
    assert scene._stepper is not None
    scene._stepper.solver.note_softened()
    if scene._clock.time > 0.0:  # what has come to contradict, or to overlap, in motion is not refused
        scene._stepper.solver.moved = scene._stepper.looked = True
    if description["format"] >= 3:  # older ones have no accounts
        known = scene._system.account().items()
        scene._system.set_account(
            {name: checked(name, arrays[f"account/{name}"], a.shape, a.dtype.kind) for name, a in known}
        )
    scene._released = {read.body(number, AbstractBody._kinds["Slider"]) for number in description["released"]}
    things: dict[str, list[Any]] = {"bodies": bodies, "constraints": ties, "obstacles": obstacles}
    for entry in description.get("events", ()):
        subjects = tuple(things[what][i] for what, i in entry["subjects"])
        if entry["kind"] not in get_args(get_type_hints(Event)["kind"]) or not isinstance(entry["message"], str):
            raise ValueError("it holds an event of an unknown kind")
        time, steps = validation.number("time", entry["time"]), validation.count("steps", entry.get("steps", 1), 1)
        scene._events.append(Event(time, entry["kind"], subjects, entry["message"], steps))
    scene._put_in = validation.number("put_in", description.get("put_in", 0.0))  # older files have none
    scene._troubles.go_on(_spells(description.get("spells", ())))
    return scene


def _spells(given: Any) -> list[list[Any]]:
    """Spells of trouble as a file has them, checked."""
    spells = [list(spell) for spell in given]
    for kind, *numbers in spells:
        if kind not in SPELLS or len(numbers) != 3 or not all(type(x) is int and x >= 0 for x in numbers):
            raise ValueError("it holds a spell of an unknown kind")
    return spells


def _state(arrays: dict[str, Any], i: int, thing: Any) -> dict[str, Any]:
    given = {}
    for name, array in thing._state_arrays().items():
        place = f"state/{i}/{name}"
        if name == BODIES_FRICTION and place not in arrays:
            given[name] = array.copy()  # of older files the description has told it
        else:
            given[name] = arrays[place]
    return given
