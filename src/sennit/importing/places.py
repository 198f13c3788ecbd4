"""Tables of places (.csv), read strictly: what is wrong is told with its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from sennit import validation
from sennit.errors import InputError
from sennit.importing.units import METRES
from sennit.validation import FloatArray, quoted, quoted_path

__all__ = ["listed_places"]

_NAMED = re.compile(r"([xyz])(?:[ _]*[\[(]?(\w+)[\])]?)?")


def listed_places(
    file: Path, unit: str | None, columns: Sequence[str] | None
) -> tuple[FloatArray, Callable[[int], str]]:
    """Places (k, 3), m, of a table, and what says in which line number i of them stands."""
    from sennit.text.tables import Line, read_text, rows_of

    shown = quoted_path(file)
    rows = rows_of(read_text(file, "a table as text (CSV)"), shown)
    if not rows:
        raise InputError(f"{shown}, line 1: it is empty: the first line names the columns, x_m, y_m, z_m")
    number, header = rows[0]
    where, scale = _columns(header, f"{shown}, line {number}", unit, columns)
    places = np.empty((len(rows) - 1, 3))
    lines = [number for number, _ in rows[1:]]
    for i, (number, cells) in enumerate(rows[1:]):
        if len(cells) != len(header):
            hint = ": are there decimal commas?" if len(cells) > len(header) else ""
            raise InputError(f"{shown}, line {number}: {len(cells)} cells under {len(header)} columns{hint}")
        line = Line(shown, number, dict(zip(header, cells, strict=True)))
        places[i] = [line.number_of(header[column]) for column in where]
    if np.abs(places).max(initial=0.0) > 1e100:
        at = int(np.argmax(np.abs(places).max(axis=1)))
        raise InputError(f"{shown}, line {lines[at]}: a place beyond all sense, {quoted(places[at])}")
    places *= scale
    same = np.flatnonzero((np.diff(places, axis=0) == 0.0).all(axis=1))
    if len(same):
        at = int(same[0])
        raise InputError(f"{shown}, lines {lines[at]} and {lines[at + 1]}: the same place twice: leave out one of them")
    return places, lambda i: f"line {lines[i]}"


def _columns(header: list[str], where: str, unit: str | None, columns: Sequence[str] | None) -> tuple[list[int], float]:
    """Which columns hold x, y and z, and metres in their unit."""
    if len(header) == 1 and any(mark in header[0] for mark in ";\t"):
        mark = "semicolons" if ";" in header[0] else "tabs"
        raise InputError(f"{where}: cells are parted by {mark}: part them by commas, with decimal points in numbers")
    if all(_is_number(cell) for cell in header):
        raise InputError(f"{where}: numbers, where the names of the columns belong: x_m, y_m, z_m, or x_mm, y_mm, z_mm")
    chosen = _given(header, where, columns) if columns is not None else _found(header, where)
    units = set()
    for column in chosen:
        match = _NAMED.fullmatch(header[column].lower())
        said = match.group(2) if match else None
        if said in METRES:
            units.add(said)
    if len(units) > 1 or (units and unit is not None and units != {unit}):
        raise InputError(f"{where}: the columns are in {' and '.join(sorted(units))}"
                         f"{'' if unit is None else f', and unit is {unit!r}'}: there must be one unit")  # fmt: skip
    if not units and unit is None:
        raise InputError(
            f"{where}: the columns have no unit: call them x_m, y_m, z_m or x_mm, y_mm, z_mm, or give unit="
        )
    return chosen, METRES[unit or units.pop()]


def _given(header: list[str], where: str, columns: Sequence[str]) -> list[int]:
    names = validation.listed("columns", columns, (str,), "three names of columns")
    if len(names) != 3 or len(set(names)) != 3:
        raise InputError(f"columns must be three names of columns, got {quoted(columns)}")
    for name in names:
        if header.count(name) != 1:
            near = get_close_matches(name, header, 1, 0.4)
            hint = f": did you mean {near[0]!r}?" if near else f". There are {quoted(', '.join(header))}"
            raise InputError(f"{where}: there is no column {quoted(name)}, or two{hint}")
    return [header.index(name) for name in names]


def _found(header: list[str], where: str) -> list[int]:
    found: dict[str, int] = {}
    for column, name in enumerate(header):
        match = _NAMED.fullmatch(name.lower())
        if match is None or (match.group(2) is not None and match.group(2) not in METRES):
            near = get_close_matches(name.lower(), [f"{axis}_{unit}" for axis in "xyz" for unit in METRES], 1)
            hint = f": did you mean {near[0]!r}?" if near else ""
            raise InputError(
                f"{where}: the column {quoted(name)} is none of x, y, z with a unit{hint} (columns= chooses)"
            )
        if match.group(1) in found:
            raise InputError(f"{where}: the column {match.group(1)} is there twice")
        found[match.group(1)] = column
    for axis in "xyz":
        if axis not in found:
            raise InputError(f"{where}: the column {axis} is missing: there must be x_m, y_m, z_m, or in another unit")
    return [found[axis] for axis in "xyz"]


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
