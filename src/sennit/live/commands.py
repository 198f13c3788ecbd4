"""What a page may ask for. Everything that comes from a browser is checked here before it reaches a simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sennit.controls import LONGEST_TEXT
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.validation import quoted

__all__ = ["ARGUMENTS", "FASTEST", "SLOWEST", "Counts", "checked_command"]

_FAR = 1e6  # m: nothing that is dragged is further away
_STRONGEST = 1e3  # m/s²
SLOWEST, FASTEST = 0.01, 10.0  # simulated seconds in a real one
MOST_CUTS = 64
"""Places at which one stroke of the scissors cuts."""
FILMS = ("html", "mp4", "glb")
"""Files that what is seen can be kept as."""


@dataclass(frozen=True)
class Counts:
    """How many things there are that a command can name, and the generation of their numbers."""

    generation: int
    parts: int
    ties: int
    handles: int
    controls: int
    watches: int


def checked_command(message: dict[str, Any], counts: Counts) -> tuple[str, tuple[Any, ...]]:
    """Name and arguments of the command in `message`. Raises `InputError`, which says what is wrong with it."""
    name = message.get("do")
    reader = _READERS.get(name) if isinstance(name, str) else None
    if reader is None or not isinstance(name, str):
        raise InputError(f"there is no command {quoted(name)}")
    generation = message.get("generation")
    if name in _NAMING and (type(generation) is not int or generation != counts.generation):
        raise InputError(f"{name}: what it names may be gone, try again")
    return name, reader(message, counts)


def _none(message: dict[str, Any], counts: Counts) -> tuple[()]:
    return ()


def _speed(message: dict[str, Any], counts: Counts) -> tuple[float]:
    return (_number("value", message.get("value"), SLOWEST, FASTEST),)


def _gravity(message: dict[str, Any], counts: Counts) -> tuple[Any]:
    return (_vector("value", message.get("value"), 3, _STRONGEST),)


def _place(message: dict[str, Any], counts: Counts) -> tuple[int, Any]:
    part = _index("part", message.get("part"), counts.parts)
    place = message.get("place")
    if isinstance(place, list):
        return part, _vector("place", place, 3, _FAR)
    if isinstance(place, int) and not isinstance(place, bool):
        return part, _index("place", place, 1 << 31)
    return part, _number("place", place, 0.0, 1.0)


def _cut(message: dict[str, Any], counts: Counts) -> tuple[list[tuple[int, Any]]]:
    cuts = message.get("cuts")
    if not isinstance(cuts, list) or not 0 < len(cuts) <= MOST_CUTS or not all(isinstance(cut, dict) for cut in cuts):
        raise InputError(f"cuts must be 1 to {MOST_CUTS} parts with their places, got {quoted(cuts)}")
    return ([_place(cut, counts) for cut in cuts],)


def _drag(message: dict[str, Any], counts: Counts) -> tuple[Any]:
    return (_vector("hand", message.get("hand"), 3, _FAR),)


def _switch(message: dict[str, Any], counts: Counts) -> tuple[int, bool]:
    return _index("tie", message.get("tie"), counts.ties), _flag("on", message.get("on"))


def _remove(message: dict[str, Any], counts: Counts) -> tuple[int]:
    return (_index("tie", message.get("tie"), counts.ties),)


def _handle(message: dict[str, Any], counts: Counts) -> tuple[int, Pose]:
    handle = _index("handle", message.get("handle"), counts.handles)
    position = _vector("position", message.get("position"), 3, _FAR)
    quaternion = _vector("quaternion", message.get("quaternion"), 4, 2.0)
    return handle, Pose(position, quaternion)


def _watch(message: dict[str, Any], counts: Counts) -> tuple[int, bool]:
    return _index("watch", message.get("watch"), counts.watches), _flag("on", message.get("on"))


def _arrows(message: dict[str, Any], counts: Counts) -> tuple[bool, bool]:
    return _flag("constraints", message.get("constraints")), _flag("contacts", message.get("contacts"))


def _record(message: dict[str, Any], counts: Counts) -> tuple[bool, str]:
    kind = message.get("kind")
    if not isinstance(kind, str) or kind not in FILMS:
        raise InputError(f"kind must be one of {', '.join(FILMS)}, got {quoted(kind)}")
    return _flag("on", message.get("on")), kind


def _control(message: dict[str, Any], counts: Counts) -> tuple[int, Any]:
    value = message.get("value")
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            raise InputError(f"value must be a text of at most {LONGEST_TEXT} characters, got {quoted(value)}")
    elif value is not None and not isinstance(value, bool):
        value = _number("value", value, -math.inf, math.inf)
    return _index("control", message.get("control"), counts.controls), value


_READERS: dict[str, Callable[[dict[str, Any], Counts], tuple[Any, ...]]] = {
    "pause": _none, "run": _none, "step": _none, "reset": _none, "speed": _speed, "gravity": _gravity,
    "grab": _place, "drag": _drag, "release": _none, "pin": _place, "switch": _switch, "remove": _remove,
    "handle": _handle, "control": _control, "watch": _watch, "undo": _none, "arrows": _arrows, "record": _record,
    "cut": _cut,
}  # fmt: skip
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "pause": (), "run": (), "step": (), "reset": (), "release": (), "undo": (), "speed": ("value",),
    "gravity": ("value",), "grab": ("part", "place"), "pin": ("part", "place"), "drag": ("hand",),
    "switch": ("tie", "on"), "remove": ("tie",), "handle": ("handle", "position", "quaternion"),
    "control": ("control", "value"), "watch": ("watch", "on"), "arrows": ("constraints", "contacts"),
    "record": ("on", "kind"), "cut": ("cuts",),
}  # fmt: skip
"""What each command says besides its name and its generation."""
_NAMING = ("grab", "pin", "cut", "switch", "remove", "handle", "control", "watch")
"""Commands whose numbers mean something in one generation only."""


def _number(name: str, value: object, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name} must be a finite number, got {quoted(value)}")
    try:
        number = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        raise InputError(f"{name} must be a finite number, got {quoted(value)}")
    if not low <= number <= high:
        raise InputError(f"{name} must be from {low:g} to {high:g}, got {number:g}")
    return number


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false, got {quoted(value)}")
    return value


def _index(name: str, value: object, count: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
        raise InputError(f"there is no {name} {quoted(value)}")
    return value


def _vector(name: str, value: object, length: int, largest: float) -> Any:
    if not isinstance(value, list) or len(value) != length:
        raise InputError(f"{name} must be {length} numbers, got {quoted(value)}")
    return np.array([_number(name, x, -largest, largest) for x in value])
