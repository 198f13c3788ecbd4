"""Centrelines as STEP files (ISO 10303-21): each rod is written as the exact cubic B-spline that it is.

A file is one wireframe shape of AP 214, in metres: a `GEOMETRIC_CURVE_SET` of `B_SPLINE_CURVE_WITH_KNOTS`, one for each
rod and cable, by its name. Numbers are written so that reading them gives the same bits. A closed rod, whose knots are
uniform all round, is written with knots that are clamped where it begins, for readers that know no other ones: its
control points are the old ones but for two at either end, found by knot insertion.
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from pathlib import Path

import numpy as np

from sennit.errors import InputError
from sennit.export.measured import Curve
from sennit.export.recording import Recording
from sennit.validation import FloatArray

__all__ = ["clamped", "write_step"]


def write_step(recording: Recording, path: Path, each: Callable[[int, int], object] | None = None) -> None:
    """Write the centrelines at the end of a recording to `path`. Raises `InputError` if it has none."""
    if not recording.curves:
        raise InputError("there are no rods and no cables at the end, whose centrelines .step files are of")
    path.write_text(step_text(recording.curves, recording.title), encoding="ascii")
    if each is not None:
        each(1, 1)


def step_text(curves: Sequence[Curve], title: str) -> str:
    """The file of some curves."""
    lines: list[str] = []

    def add(entity: str) -> str:
        lines.append(f"#{len(lines) + 1}={entity};")
        return f"#{len(lines)}"

    # What a part is, as every AP 214 file says it, and in which units.
    name = _text(title)
    application = add("APPLICATION_CONTEXT('core data for automotive mechanical design processes')")
    add(f"APPLICATION_PROTOCOL_DEFINITION('international standard','automotive_design',2000,{application})")
    product_context = add(f"PRODUCT_CONTEXT('',{application},'mechanical')")
    product = add(f"PRODUCT({name},{name},'',({product_context}))")
    add(f"PRODUCT_RELATED_PRODUCT_CATEGORY('part',$,({product}))")
    formation = add(f"PRODUCT_DEFINITION_FORMATION('','',{product})")
    definition_context = add(f"PRODUCT_DEFINITION_CONTEXT('part definition',{application},'design')")
    definition = add(f"PRODUCT_DEFINITION('design','',{formation},{definition_context})")
    shape = add(f"PRODUCT_DEFINITION_SHAPE('','',{definition})")
    metre = add("(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT($,.METRE.))")
    radian = add("(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.))")
    steradian = add("(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT())")
    sure = add(f"UNCERTAINTY_MEASURE_WITH_UNIT(LENGTH_MEASURE(1.E-9),{metre},'distance_accuracy_value','')")
    context = add(
        f"(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNCERTAINTY_ASSIGNED_CONTEXT(({sure}))"
        f"GLOBAL_UNIT_ASSIGNED_CONTEXT(({metre},{radian},{steradian}))REPRESENTATION_CONTEXT('',''))"
    )
    origin = add("CARTESIAN_POINT('',(0.,0.,0.))")
    up, along = add("DIRECTION('',(0.,0.,1.))"), add("DIRECTION('',(1.,0.,0.))")
    axes = add(f"AXIS2_PLACEMENT_3D('',{origin},{up},{along})")
    written = [_spline(curve, add) for curve in curves]
    curve_set = add(f"GEOMETRIC_CURVE_SET({name},({','.join(written)}))")
    wires = add(f"GEOMETRICALLY_BOUNDED_WIREFRAME_SHAPE_REPRESENTATION({name},({axes},{curve_set}),{context})")
    add(f"SHAPE_DEFINITION_REPRESENTATION({shape},{wires})")

    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S")
    head = (
        "ISO-10303-21;",
        "HEADER;",
        "FILE_DESCRIPTION(('centrelines of rods and cables'),'2;1');",
        f"FILE_NAME({name},'{now}',(''),(''),'sennit {metadata.version('sennit')}','sennit','');",
        "FILE_SCHEMA(('AUTOMOTIVE_DESIGN { 1 0 10303 214 1 1 1 1 }'));",
        "ENDSEC;",
        "DATA;",
    )
    return "\n".join((*head, *lines, "ENDSEC;", "END-ISO-10303-21;", ""))


def _spline(curve: Curve, add: Callable[[str], str]) -> str:
    degree = curve.degree
    points = clamped(curve.points) if curve.closed else curve.points
    spans = len(points) - degree
    placed = ",".join(add(f"CARTESIAN_POINT('',({_numbers(point)}))") for point in points.tolist())
    counts = itertools.chain((degree + 1,), itertools.repeat(1, spans - 1), (degree + 1,))
    closed = ".T." if curve.closed else ".F."
    return add(
        f"B_SPLINE_CURVE_WITH_KNOTS({_text(curve.name)},{degree},({placed}),.UNSPECIFIED.,{closed},.F.,"
        f"({','.join(map(str, counts))}),({_numbers(map(float, range(spans + 1)))}),.UNSPECIFIED.)"
    )


def clamped(points: FloatArray) -> FloatArray:
    """Control points (n + 3, 3) with clamped knots of the closed cubic curve with `points` (n, 3) and uniform ones.

    Control point i is the blossom of the curve at knots (i − 2, i − 1, i). Knots inserted at 0 until there are three,
    by Boehm's rule: f(0, 0, 1) = ⅔ f(−1, 0, 1) + ⅓ f(0, 1, 2) and f(0, 0, 0) = ½ (f(−1, 0, 0) + f(0, 0, 1)).
    """
    z, a, b = points[:3]  # f(−2, −1, 0), f(−1, 0, 1), f(0, 1, 2)
    before, after = (z + 2.0 * a) / 3.0, (2.0 * a + b) / 3.0
    start = 0.5 * (before + after)
    return np.concatenate(([start, after], points[2:], [z, before, start]))


def _numbers(values: Iterable[float]) -> str:
    """Real numbers as the standard has them, with a point; the shortest ones that give the same bits."""
    written = []
    for value in values:
        whole, e, power = repr(float(value)).partition("e")
        written.append((whole if "." in whole else f"{whole}.") + (f"E{power}" if e else ""))
    return ",".join(written)


def _text(value: str) -> str:
    """A text in quotes: what is not printable ASCII by its number, X2 below 65536, else X4."""
    parts = []
    for letter in value:
        if letter in "'\\":
            parts.append(2 * letter)
        elif " " <= letter <= "~":
            parts.append(letter)
        else:
            number = ord(letter)
            parts.append(f"\\X2\\{number:04X}\\X0\\" if number < 0x10000 else f"\\X4\\{number:08X}\\X0\\")
    return f"'{''.join(parts)}'"
