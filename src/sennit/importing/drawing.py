"""Curves of drawings (.dxf), by ezdxf: joined where their ends meet, in metres."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from sennit.errors import InputError
from sennit.importing.files import needed
from sennit.importing.units import METRES
from sennit.validation import FloatArray, quoted, quoted_path

__all__ = ["drawn_curve"]

CURVES = ("LINE", "ARC", "CIRCLE", "ELLIPSE", "LWPOLYLINE", "POLYLINE", "SPLINE", "HELIX")
LARGEST = 32 << 20
"""Bytes of a drawing."""
MOST = 10_000
"""Curves, and sides of polylines."""
_FLAT = 1e-4
"""How far a chord may be from its arc, over the size of the arc; its ends are on it."""
_MEET = 1e-6
"""Ends that are as close as this, over the size of the drawing, are joined."""
_FEWEST = 100
"""Places that a curve has at least: nothing is further apart than its length over this."""


def drawn_curve(file: Path, unit: str | None, layer: str | None) -> tuple[FloatArray, Callable[[int], str]]:
    """Places (k, 3), m, of the one curve of a drawing, or of a layer, and what says which place number i is."""
    shown = quoted_path(file)
    drawing = _opened(file, shown)
    scale = _metres(drawing, unit, shown)
    found = _entities(drawing, shown)
    layers = sorted({str(entity.dxf.layer) for entity in found})
    if layer is not None:
        if layer not in layers:
            near = get_close_matches(layer, layers, 1)
            hint = f": did you mean {near[0]!r}?" if near else f". Curves are on {quoted(', '.join(layers))}"
            raise InputError(f"{shown}: there are no curves on the layer {quoted(layer)}{hint}")
        found = [entity for entity in found if entity.dxf.layer == layer]
    if not found:
        raise InputError(f"{shown} has no curves (lines, arcs, circles, ellipses, polylines, splines) in its model")
    lines = _flattened(found, shown)
    chains = _joined(lines, shown)
    if len(chains) > 1:
        hint = f": layer= chooses one of {quoted(', '.join(layers))}" if layer is None and len(layers) > 1 else ""
        raise InputError(f"{shown} has {len(chains)} curves whose ends do not meet, and not one{hint}")
    places = scale * _refined(chains[0])
    return places, lambda i: f"place {i} of {len(places)}"


def _opened(file: Path, shown: str) -> Any:
    ezdxf = needed("ezdxf", "cad", ".dxf files")
    try:
        size = file.stat().st_size
        with file.open("rb") as opened:
            begin = opened.read(4)
    except OSError as problem:
        raise InputError(f"{shown} can't be read: {problem.strerror or problem}") from None
    if size > LARGEST:
        raise InputError(f"{shown} has more than {LARGEST >> 20} MiB")
    if begin.startswith((b"PK\x03\x04", b"\x1f\x8b", b"AC10")):
        kind = "an archive" if begin[:1] != b"A" else "a drawing in the format DWG"
        raise InputError(f"{shown} is {kind}: save it as DXF")
    try:
        return ezdxf.readfile(file)
    except Exception as problem:  # whatever it raises for damaged files
        raise InputError(f"{shown} is no drawing that can be read: {' '.join(str(problem).split())[:200]}") from None


def _metres(drawing: Any, unit: str | None, shown: str) -> float:
    """Metres in the drawing's unit."""
    codes = {1: "in", 2: "ft", 4: "mm", 5: "cm", 6: "m", 7: "km", 13: "um", 14: "dm"}  # of $INSUNITS
    code = drawing.header.get("$INSUNITS", 0)
    own = codes.get(code)
    if own is None and code != 0:
        raise InputError(f"{shown} is in a unit that is not known here, number {code} of $INSUNITS: save it in mm")
    if own is None and unit is None:
        raise InputError(f"{shown} does not say its unit: give unit='mm', or what it is drawn in")
    if own is not None and unit is not None and own != unit:
        raise InputError(f"{shown} is drawn in {own}, and unit is {unit!r}: leave unit out")
    return METRES[own or str(unit)]


def _entities(drawing: Any, shown: str) -> list[Any]:
    """The curves of the model, those in blocks, too."""
    from ezdxf.disassemble import recursive_decompose

    found = []
    try:
        for entity in recursive_decompose(drawing.modelspace()):
            if entity.dxftype() in CURVES:
                found.append(entity)
            if len(found) > MOST:
                raise InputError(f"{shown} has more than {MOST} curves")
    except InputError:
        raise
    except Exception as problem:
        raise InputError(f"{shown} is no drawing that can be read: {' '.join(str(problem).split())[:200]}") from None
    return found


def _flattened(entities: list[Any], shown: str) -> list[FloatArray]:
    """Curves, and the sides and arcs of polylines, as places (k, 3) each in the drawing's unit, none twice in a row."""
    lines = []
    with np.errstate(all="ignore"):
        for entity in entities:
            where = f"{shown}, layer {quoted(str(entity.dxf.layer))}: a {entity.dxftype()}"
            try:
                for piece in entity.virtual_entities() if "POLYLINE" in entity.dxftype() else (entity,):
                    line = _places(piece)
                    if not np.abs(line).max(initial=0.0) < 1e100:
                        raise ValueError("its numbers are not finite, or too large")
                    kept = np.append(True, (np.diff(line, axis=0) != 0.0).any(axis=1))
                    if kept.sum() > 1:
                        lines.append(line[kept])
            except Exception as problem:  # of damaged entities
                raise InputError(f"{where} can't be read: {' '.join(str(problem).split())[:200]}") from None
            if len(lines) > MOST:
                raise InputError(f"{shown} has curves of more than {MOST} sides")
    if not lines:
        raise InputError(f"{shown} has curves without a length only")
    return lines


def _places(entity: Any) -> FloatArray:
    """Places (k, 3) on a curve, the more the rounder it is."""
    from ezdxf.path import make_path

    kind = entity.dxftype()
    if kind == "LINE":
        found = [entity.dxf.start, entity.dxf.end]
    else:
        corners = np.array([tuple(v) for v in make_path(entity).control_vertices()], dtype=np.float64).reshape(-1, 3)
        size = float(np.ptp(corners, axis=0).max(initial=0.0))
        if not 0.0 < size < math.inf:
            return corners[:1]
        sag = _FLAT * size
        curve = entity.flattening(sag) if kind in ("ARC", "CIRCLE") else entity.flattening(sag, 8)
        found = list(itertools.islice(curve, 10 * MOST + 1))
        if len(found) > 10 * MOST:
            raise ValueError(f"it has more than {10 * MOST} places")
    return np.array([tuple(v) for v in found], dtype=np.float64).reshape(-1, 3)


def _joined(lines: list[FloatArray], shown: str) -> list[FloatArray]:
    """Curves whose ends meet as one. Raises `InputError` where three ends meet."""
    from scipy.spatial import cKDTree

    everything = np.concatenate(lines)
    size = float(np.ptp(everything, axis=0).max())
    ends = np.array([line[k] for line in lines for k in (0, -1)])  # end 2i begins line i, end 2i + 1 ends it
    partner: dict[int, int] = {}
    for a, b in cKDTree(ends).query_pairs(_MEET * size):
        for end in (a, b):
            if end in partner:
                place = ", ".join(f"{x:.6g}" for x in ends[end])
                raise InputError(f"{shown}: three ends of curves or more meet at ({place}): choose one way by layer=")
        partner[a], partner[b] = b, a
    chains: list[FloatArray] = []
    used: set[int] = set()
    loose = [end for end in range(len(ends)) if end not in partner]
    for begin in (*loose, *range(len(ends))):  # what has ends first, then what goes round
        if begin // 2 in used:
            continue
        pieces: list[FloatArray] = []
        end = begin
        while end // 2 not in used:
            used.add(end // 2)
            line = lines[end // 2] if end % 2 == 0 else lines[end // 2][::-1]
            pieces.append(line if not pieces else line[1:])
            after = partner.get(end ^ 1)
            if after is None:
                break
            end = after
        chain = np.concatenate(pieces)
        if np.linalg.norm(chain[-1] - chain[0]) <= _MEET * size:
            chain[-1] = chain[0]
        chains.append(chain)
    return chains


def _refined(line: FloatArray) -> FloatArray:
    """The same with more places, so that a smooth curve through them does not swing beside long straight sides."""
    sides = np.diff(line, axis=0)
    lengths = np.linalg.norm(sides, axis=1)
    counts = [max(1, math.ceil(x)) for x in (lengths * (_FEWEST / lengths.sum())).tolist()]
    parts = [line[k] + np.arange(n)[:, None] / n * sides[k] for k, n in enumerate(counts)]
    return np.concatenate((*parts, line[-1:]))
