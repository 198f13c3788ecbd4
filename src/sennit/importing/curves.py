"""Centrelines from tables (.csv) and drawings (.dxf)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from sennit import validation
from sennit.errors import InputError
from sennit.importing.crossing import first_crossing
from sennit.importing.drawing import drawn_curve
from sennit.importing.files import checked_path
from sennit.importing.places import listed_places
from sennit.importing.units import checked_unit
from sennit.validation import FloatArray, quoted, quoted_path

__all__ = ["read_curve"]


def read_curve(
    path: str | os.PathLike[str],
    *,
    unit: str | None = None,
    columns: Sequence[str] | None = None,
    layer: str | None = None,
) -> FloatArray:
    """The places (k, 3), m, of a centreline in a table (.csv) or a drawing (.dxf, ``pip install 'sennit[cad]'``), in
    order::

        cable = sn.Rod.through(sn.read_curve("route.csv"), section=section, material=copper, control_points=60)

    A rod takes as many control points as there are places, unless it is told how many. `path` is the file's name.

    **CSV**: the first line names the columns, and their unit with them: ``x_m,y_m,z_m`` or ``x_mm,y_mm,z_mm``. With
    `unit` ("m", "mm", "cm", "in", "ft") they may be ``x,y,z``; `columns` names three others, and what else there is is
    passed over then. Empty lines, and such that begin with #, too.

    **DXF**: lines, arcs, circles, ellipses, polylines and splines of the model, of one `layer` if it is given, joined
    where their ends meet; they must make one curve. Lengths are in the drawing's unit; `unit` is for drawings without.
    Arcs and splines become places on them, with chords as near as 10⁻⁴ of the arc's size; nothing is further apart
    than a 100th of the length. A closed curve ends where it begins: make its rod with ``closed=True``.

    Raises `InputError` with file and line, or layer, for wrong or missing columns, decimal commas, places that repeat,
    curves that cross themselves, drawings without curves, and files that are links or archives.
    """
    file = checked_path(path, (".csv", ".dxf"), "a .csv or .dxf file")
    table = file.suffix.lower() == ".csv"
    for what, value, other in (("columns", columns, ".csv"), ("layer", layer, ".dxf")):
        if value is not None and table != (other == ".csv"):
            raise InputError(f"{what} is for {other} files, got {quoted(value)} for {quoted(str(path))}")
    wanted = None if unit is None else checked_unit(unit)
    if table:
        places, where = listed_places(file, wanted, columns)
    else:
        places, where = drawn_curve(file, wanted, None if layer is None else validation.label("layer", layer))
    shown = quoted_path(path)
    if len(places) < 2:
        raise InputError(f"{shown}: a curve needs two places or more, got {len(places)}")
    with validation.in_range(f"places in {shown}"):
        crossing = first_crossing(places)
    if crossing is not None:
        first, second, place = crossing
        told, sides = ", ".join(f"{x:.6g}" for x in place), f"{where(first)} and {where(second)}"
        raise InputError(f"{shown}: the curve crosses itself, or comes back, at ({told}) m: after {sides}")
    return places
