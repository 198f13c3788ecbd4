"""What a harness is to be: cables, their routes, and what holds them, read from tables (CSV)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from sennit.errors import InputError
from sennit.text.tables import Line, read_table
from sennit.validation import FloatArray, quoted

__all__ = ["FIXED", "KINDS", "Cable", "Holder", "Plan", "read_plan"]

KINDS = {
    "connector": "holds the cable's place and direction",
    "tie": "bites: holds place and direction, too",
    "clip": "the cable slides through it in its direction",
    "eye": "the cable slides and turns in it",
}
"""What can hold a cable."""
FIXED = ("connector", "tie", "junction")
"""Kinds through which no cable slides."""
_ONE = "cable"
"""Name of the cable where there is one alone."""
_NUMBERS = {
    "EI": (1e-9, 1e6), "kg_per_m": (1e-8, 1e4), "diameter_mm": (0.01, 1e3), "bend_radius_mm": (0.1, 1e6),
    "slack_mm": (0.0, 1e6),
}  # fmt: skip
"""Numbers of a cable, and between what they lie: in metres, grams or newtons by mistake they would not."""
_STIFFEST = 1.2e12
"""Young's modulus of diamond, Pa: no cable bends less than a rod of it."""
_FARTHEST = 1e4
"""Largest coordinate, m."""


@dataclass(frozen=True)
class Cable:
    """A cable and its route."""

    name: str
    route: FloatArray
    """Places along it, (k, 3), m."""
    lines: tuple[Line, ...]
    """Those of the table that they stand on."""
    EI: float
    """Bending stiffness, N·m²."""
    kg_per_m: float
    diameter: float
    """Of its jacket, m."""
    bend_radius: float
    """Smallest that is allowed, m."""
    slack: float
    """By how much it is cut longer than its route, m."""
    trunk: str | None = None
    """The cable that it branches off, at its start."""


@dataclass(frozen=True)
class Holder:
    """A connector, tie, clip or eye."""

    name: str
    kind: str
    cable: str
    place: FloatArray
    """Where it is, (3,), m."""
    direction: FloatArray | None
    """Of the cable in it, (3,); None: as the route runs there, or free in an eye."""
    line: Line


@dataclass(frozen=True)
class Plan:
    """All of a harness."""

    cables: tuple[Cable, ...]
    holders: tuple[Holder, ...]

    def of(self, cable: str) -> list[Holder]:
        """The holders of a cable."""
        return [holder for holder in self.holders if holder.cable == cable]

    def with_slack(self, slack: float) -> Plan:
        """The same with another slack of all cables, m."""
        return replace(self, cables=tuple(replace(cable, slack=slack) for cable in self.cables))


def read_plan(route: Path, clips: Path, cables: Path | None, numbers: dict[str, float | None]) -> Plan:
    """The harness that tables tell; `numbers` are those of cables without their own: "EI", "kg_per_m", ...

    Raises `InputError` with file and line.
    """
    rows = read_table(route, ("x_m", "y_m", "z_m"), ("cable",))
    runs: dict[str, list[Line]] = {}
    for row in rows:
        runs.setdefault(row.cells.get("cable") or _ONE, []).append(row)
    told = _told(cables, runs) if cables is not None else {}
    made = tuple(_cable(name, lines, told.get(name), numbers) for name, lines in runs.items())
    _check_trunks(made, told)
    holders = _holders(clips, made)
    return Plan(made, holders)


def _told(path: Path, runs: Iterable[str]) -> dict[str, Line]:
    """The lines of a table of cables, by name."""
    found: dict[str, Line] = {}
    for row in read_table(path, ("cable",), (*_NUMBERS, "branch_of")):
        name = row.text("cable")
        if name in found:
            raise row.refused(f"the cable {quoted(name)} stands on line {found[name].number} already")
        if name not in runs:
            raise row.refused(f"there is no cable {quoted(name)} in the table of routes{_near(name, runs)}")
        found[name] = row
    return found


def _cable(name: str, lines: Sequence[Line], told: Line | None, numbers: dict[str, float | None]) -> Cable:
    places = np.array([_place(line) for line in lines])
    if len(places) < 2:
        raise lines[0].refused(f"the route of {quoted(name)} has one place: it must have two or more")
    for line, gap in zip(lines[1:], np.linalg.norm(np.diff(places, axis=0), axis=1), strict=True):
        if not gap > 1e-6:
            raise line.refused(f"this place of {quoted(name)} is the one before it again")
    values = {}
    for key in _NUMBERS:
        value = told.number_of(key, math.nan) if told is not None else math.nan
        if math.isnan(value):
            given = numbers.get(key)
            if given is None:
                option = "--" + key.replace("_", "-")
                where = f"{told.file}, line {told.number}: " if told is not None else ""
                raise InputError(
                    f"{where}{key} of the cable {quoted(name)} is missing: give {option}, or a column {key}"
                )
            value = given
        low, high = _NUMBERS[key]
        if not low <= value <= high:
            where = f"{told.file}, line {told.number}: " if told is not None else ""
            raise InputError(
                f"{where}{key} of the cable {quoted(name)} must be from {low:g} to {high:g}, got {value:g}"
            )
        values[key] = value
    most = _STIFFEST * math.pi * (1e-3 * values["diameter_mm"]) ** 4 / 64.0
    if values["EI"] > most:
        where = f"{told.file}, line {told.number}: " if told is not None else ""
        raise InputError(
            f"{where}EI of the cable {quoted(name)} must be at most {most:.3g} N·m² at a diameter of "
            f"{values['diameter_mm']:g} mm, as of a rod of diamond, got {values['EI']:g}"
        )
    trunk = (told.cells.get("branch_of") or None) if told is not None else None
    return Cable(
        name, places, tuple(lines), values["EI"], values["kg_per_m"], 1e-3 * values["diameter_mm"],
        1e-3 * values["bend_radius_mm"], 1e-3 * values["slack_mm"], trunk,
    )  # fmt: skip


def _check_trunks(cables: Sequence[Cable], told: dict[str, Line]) -> None:
    names = {cable.name: cable for cable in cables}
    for cable in cables:
        seen = {cable.name}
        trunk = cable.trunk
        while trunk is not None:
            if trunk not in names:
                raise told[cable.name].refused(f"there is no cable {quoted(trunk)} to branch off{_near(trunk, names)}")
            if trunk in seen:
                raise told[cable.name].refused(f"{quoted(cable.name)} branches off itself")
            seen.add(trunk)
            trunk = names[trunk].trunk


def _holders(path: Path, cables: Sequence[Cable]) -> tuple[Holder, ...]:
    rows = read_table(path, ("name", "kind", "x_m", "y_m", "z_m"), ("dx", "dy", "dz", "cable"))
    names = [cable.name for cable in cables]
    found: dict[str, Holder] = {}
    for row in rows:
        name, kind = row.text("name"), row.text("kind").lower()
        if len(name) > 80 or not name.isprintable():
            raise row.refused(f"name must be a short text, got {quoted(name)}")
        if name in found:
            raise row.refused(f"the name {quoted(name)} stands on line {found[name].line.number} already")
        if kind not in KINDS:
            raise row.refused(f"there is no kind {quoted(kind)}{_near(kind, KINDS)}. There are {', '.join(KINDS)}")
        place, way = _place(row), np.array([row.number_of(column, 0.0) for column in ("dx", "dy", "dz")])
        if np.abs(way).max() > _FARTHEST:
            raise row.refused(f"dx, dy, dz must be a direction, at most {_FARTHEST:g}, got {way.tolist()}")
        size = float(np.linalg.norm(way))
        if size == 0.0 and any(row.cells.get(column) for column in ("dx", "dy", "dz")):
            raise row.refused("dx, dy, dz of 0, 0, 0 are no direction: leave them empty for that of the route")
        cable = row.cells.get("cable") or min(cables, key=lambda one: _distance(one.route, place)).name
        if cable not in names:
            raise row.refused(f"there is no cable {quoted(cable)}{_near(cable, names)}. There are {', '.join(names)}")
        found[name] = Holder(name, kind, cable, place, way / size if size > 0.0 else None, row)
    for one in cables:
        if one.trunk is None and not any(holder.cable == one.name for holder in found.values()):
            raise InputError(f"{rows[0].file}: nothing holds the cable {quoted(one.name)}: give it a holder")
    return tuple(found.values())


def _place(line: Line) -> FloatArray:
    place = np.array([line.number_of(column) for column in ("x_m", "y_m", "z_m")])
    if np.abs(place).max() > _FARTHEST:
        raise line.refused(f"places are in metres, at most {_FARTHEST:g}, got {place.tolist()}")
    return place


def _distance(route: FloatArray, place: FloatArray) -> float:
    """From a place to the straight parts of a route, m."""
    a, b = route[:-1], route[1:]
    along = b - a
    share = np.clip(np.einsum("ij,ij->i", place - a, along) / np.einsum("ij,ij->i", along, along), 0.0, 1.0)
    return float(np.linalg.norm(a + share[:, None] * along - place, axis=1).min())


def _near(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), 1, 0.5)
    return f": did you mean {near[0]!r}?" if near else ""
