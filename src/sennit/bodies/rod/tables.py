"""The numbers of one rod that its kernels read and write, the same for both rod models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sennit.material import Material, Section
from sennit.validation import FloatArray

__all__ = ["IntArray", "RodTables", "rod_constants"]

IntArray: TypeAlias = NDArray[np.int64]
"""An array of int64; functions say its shape."""


@dataclass(frozen=True, eq=False)
class RodTables:
    """The tables of one rod: C-contiguous, one row for each integration point, ready to be stacked over rods.

    Derivatives are by the parameter u, which runs from 0 to `spans`. Spline rows below; the discrete model gives the
    columns of its bending and stretching tables its own meaning within the same widths. The arrays are those of the
    rod as it was made (`bend_state` and `stretch_state` included): a scene copies them and changes its copies.
    """

    model: Literal["spline", "discrete"]
    n: int
    """Number of control points; the rod has 4 n degrees of freedom: x, y, z (m) and roll (rad) of each."""
    spans: int
    """Number of spans: n − 3 of an open spline, n of a closed one, n − 1 edges of an open discrete rod."""
    closed: bool
    rest: FloatArray
    """(n, 4): control points (m) and roll (rad) of the rod as it was made; its length measures s."""
    knot_lengths: FloatArray
    """(spans + 1,), m: rest length s at u = 0, 1, …, spans."""
    constants: FloatArray
    """(8,): EA (N), E I1, E I2, G J (N·m²), relaxation time (s), radius (m), length (m), mass per length (kg/m)."""
    bend_u: FloatArray
    """(nb,): parameter u of the bending points, ascending."""
    bend_table: FloatArray
    """(nb, 17): 0 weight w, 1 J = |r0′| (m), 2:6 N, 6:10 N′, 10:14 N″, 14:17 rest strains κ̂1, κ̂2, τ̂ (1/m)."""
    bend_span: IntArray
    """(nb,): first control point of each point's span."""
    bend_state: FloatArray
    """(nb, 13): 0:3 t, 3:6 u1, 6:9 t′, 9 reference twist m (rad), 10:13 κ1, κ2, τ of the last accepted shape (1/m)."""
    stretch_u: FloatArray
    """(ns,): parameter u of the stretching points, ascending."""
    stretch_table: FloatArray
    """(ns, 6): 0 weight w, 1 J (m), 2:6 N′."""
    stretch_span: IntArray
    """(ns,): first control point of each point's span."""
    stretch_state: FloatArray
    """(ns, 2): 0 stored tension (N), 1 strain ε of the last accepted shape."""
    mass_table: FloatArray
    """(n, 9): 0:4 mass between control points i and i + k (kg), 4:8 the same for roll (kg·m²), 8 row sum (kg)."""

    @property
    def length(self) -> float:
        """Length at rest, m."""
        return float(self.constants[6])


def rod_constants(section: Section, material: Material, length: float) -> FloatArray:
    """The eight numbers of `RodTables.constants` for a rod of `length` (m) at rest."""
    E, G = material.youngs_modulus, material.shear_modulus
    return np.array(
        (
            E * section.area,
            E * section.I1,
            E * section.I2,
            G * section.J,
            material.relaxation_time,
            section.radius,
            length,
            section.mass_per_length(material),
        )
    )
