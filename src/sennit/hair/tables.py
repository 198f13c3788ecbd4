"""The tables of hair: what all rods have in common, and the numbers of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from sennit.bodies.rod.table import RodTables
from sennit.hair.kernels.front import KEPT
from sennit.hair.kernels.steps import PARTS
from sennit.hair.kernels.strand import FRAME, OWN, PULL
from sennit.tables import PARAMETER, PLAN, STATE, WORK, Field, Table, number, whole

__all__ = ["NUMBERS", "FourHair", "HairTable", "OneHair", "fill_common", "size_of"]

NUMBERS = 22
"""How many `HairTable.numbers` there are: step h (s); how deep a sample may be led in a whole step, and the
farthest that one is put out at once (m); drag (1/s); gravity (3), wind (3); radius,
stiffness of contact × h² (kg), friction, least slip (m/s); relaxation time (s); E A, E I1, E I2, G J; how deep a sample
may stay (m), length (m), energy that does not matter (J)."""


class HairTable(Table):
    """What all rods of hair have in common; `FourHair` and `OneHair` add the numbers of each."""

    counts = whole(PLAN, "control points, spans, bending points, stretching points, numbers of a rod, rods, steps to "
                   "make", of="counts")  # fmt: skip
    stretch_first = whole(PLAN, "first stretching point of each span, and the number of all", of="knots")
    cells = whole(PLAN, "number of values of the grid along x, y and z", of="axes")
    numbers = number(PARAMETER, "see NUMBERS", of="constants")
    bend_weight = number(PARAMETER, "weight of a bending point", of="bends")
    bend_speed = number(PARAMETER, "|r0′| there, m", of="bends")
    bend_basis = number(PARAMETER, "N", 4, of="bends")
    bend_slope = number(PARAMETER, "N′", 4, of="bends")
    bend_curve = number(PARAMETER, "N″", 4, of="bends")
    stretch_weight = number(PARAMETER, "weight of a stretching point", of="stretches")
    stretch_speed = number(PARAMETER, "|r0′| there, m", of="stretches")
    stretch_slope = number(PARAMETER, "N′", 4, of="stretches")
    mass = number(PARAMETER, "mass between a control point and the k-th one after it, kg", 4, of="points")
    roll = number(PARAMETER, "the same for rolls, kg·m²", 4, of="points")
    total = number(PARAMETER, "mass of a control point, kg", of="points")
    shapes = number(PARAMETER, "capsules: start, way to the end, 1/(its square), radius", 8, of="shapes")
    grid = number(PARAMETER, "the grid's origin (m), 1/spacing, largest x, y, z in cells", of="corners")
    values = number(PARAMETER, "distances at the grid's corners, m", of="values")
    poses = number(PARAMETER, "poses of the head, PARTS to a step, and at the end of the last", of="poses")


class FourHair(HairTable):
    """Hair whose rods lie in fours: number k of four rods is a row."""

    state = Field(STATE, "numbers of the rods, see `kernels.strand`", float, ("state", 4))
    factors = Field(WORK, "factors of a step, see `kernels.front`: of as many fours as there are threads", float,
                    ("factors", 4))  # fmt: skip


class OneHair(HairTable):
    """Hair whose rods lie beside each other: number k of all rods, then number k + 1."""

    state = Field(STATE, "numbers of the rods, see `kernels.strand`", float, ("state",))
    factors = Field(WORK, "factors of a step, see `kernels.front`", float, ("factors",))


def size_of(n: int) -> tuple[int, int]:
    """How many numbers a rod of `n` control points has, and its factors."""
    spans = n - 3
    return 8 * n + FRAME * 2 * spans + PULL * (spans + 2) + 2 * spans + 1 + OWN, KEPT * n


def common_sizes(n: int, shapes: int, values: int, steps: int) -> dict[str, int]:
    """Sizes of the fields that all rods have in common."""
    spans = n - 3
    return {
        "counts": 7, "knots": spans + 1, "axes": 3, "constants": NUMBERS, "bends": 2 * spans, "stretches": spans + 2,
        "points": n, "shapes": shapes, "corners": 7, "values": values, "poses": 12 * (PARTS * steps + 1),
    }  # fmt: skip


def fill_common(table: Any, rod: RodTables) -> None:
    """Take over what all rods have in common from one that is like them."""
    bends, stretches, masses = rod.bends, rod.stretches, rod.masses
    table.counts[:5] = rod.n, rod.spans, len(bends), len(stretches), size_of(rod.n)[0]
    table.stretch_first[:] = np.searchsorted(stretches.span, np.arange(rod.spans + 1))
    table.bend_weight[:], table.bend_speed[:] = bends.weight, bends.speed
    table.bend_basis[:], table.bend_slope[:], table.bend_curve[:] = bends.basis, bends.slope_basis, bends.bend_basis
    table.stretch_weight[:], table.stretch_speed[:] = stretches.weight, stretches.speed
    table.stretch_slope[:] = stretches.slope_basis
    table.mass[:], table.roll[:], table.total[:] = masses.mass, masses.roll, masses.total
