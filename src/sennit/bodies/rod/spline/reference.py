"""Reference frames of spline rods made anew, so that they depend on the present shape alone.

Carried from shape to shape, each bending point's u1 has a twist m(u) along the rod that depends on the way that led
there. The energy wants θ′ = J τ̂ − m, but θ is a spline, and m, after large moves in space, is none: what is left over
is twist that nobody wants. A frame that is parallel along the present curve has m = 0 (constant on a closed rod), and
what remains for the roll is as smooth as the rod.
"""

from __future__ import annotations

import numpy as np

from sennit.bodies.rod.spline import shape
from sennit.bodies.rod.spline.tables import BendStates
from sennit.bodies.rod.table import IntArray, RodTables
from sennit.validation import FloatArray

__all__ = ["fresh_frames"]


def fresh_frames(t: RodTables, q: FloatArray, bend: BendStates, places: FloatArray) -> tuple[FloatArray, float]:
    """Replace u1 of `bend` by vectors that are parallel along the curve of `q` (n, 4); sections stay as they are.

    With α(u) the angle of the old vectors from the new ones, the roll takes over the spline that is closest to α at the
    bending points; whole turns of a closed rod stay in m. `q` and `bend` are changed in place. Returns t and u1 (k, 6)
    at the parameters `places`, and the largest |α| that no roll could take over, rad: how much was spurious.
    """
    points, u = np.ascontiguousarray(q[:, :3]), t.bend_u
    everywhere = np.concatenate((u, places))
    order = np.argsort(everywhere, kind="stable")
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    tangents, vectors, m = shape.start_frames(points, t.closed, everywhere[order], _across(points, t.closed))
    tangents, vectors = tangents[back], vectors[back]

    # Unwrapped: α changes along the rod by what the old m has beyond the new one.
    excess = bend.twist - m
    angle = _unwrapped(u, _angle(bend.reference, vectors[: len(u)], tangents[: len(u)]), excess)
    turns = 0.0
    if t.closed:
        gap = u[0] + t.spans - u[-1]
        jump = angle[-1] + 0.5 * (excess[-1] + excess[0]) * gap - angle[0]
        turns = 2.0 * np.pi * round(jump / (2.0 * np.pi)) / t.spans
        angle = angle - turns * u
    start = float(angle[0])
    rolls = _fitted(t, angle - start)
    q[:, 3] += rolls
    left = angle - start - np.einsum("ki,ki->k", t.bends.basis, rolls[_columns(t)])

    spin = (start + turns * everywhere)[:, None]
    vectors = np.cos(spin) * vectors + np.sin(spin) * np.cross(tangents, vectors)
    bend.tangent[:], bend.reference[:], bend.twist[:] = tangents[: len(u)], vectors[: len(u)], m + turns
    return np.hstack((tangents[len(u) :], vectors[len(u) :])), float(np.max(np.abs(left)))


def _across(points: FloatArray, closed: bool) -> FloatArray:
    """A direction that the first tangent is not along."""
    slope = shape.curve(points, closed, 0.0)[0, 1]
    return np.asarray(np.eye(3)[np.argmin(np.abs(slope))])


def _angle(vectors: FloatArray, zero: FloatArray, t: FloatArray) -> FloatArray:
    """Angle (k,) of `vectors` from `zero` about t, rad."""
    return np.asarray(np.arctan2(np.sum(np.cross(t, zero) * vectors, axis=1), np.sum(zero * vectors, axis=1)))


def _unwrapped(u: FloatArray, angle: FloatArray, slope: FloatArray) -> FloatArray:
    """`angle` with the whole turns that bring each step next to what `slope` (rad per u) makes of it."""
    steps = np.diff(angle)
    expected = 0.5 * (slope[1:] + slope[:-1]) * np.diff(u)
    turns = np.cumsum(np.round((expected - steps) / (2.0 * np.pi)))
    return np.asarray(angle + 2.0 * np.pi * np.concatenate(((0.0,), turns)))


def _columns(t: RodTables) -> IntArray:
    """The four control points (k, 4) of each bending point."""
    return np.asarray((t.bends.span[:, None] + np.arange(4)) % t.n)


def _fitted(t: RodTables, values: FloatArray) -> FloatArray:
    """Control values (n,) of the spline closest to `values` at the bending points."""
    from scipy.sparse import csr_matrix  # here, because it takes long to import and is seldom needed
    from scipy.sparse.linalg import splu

    rows = np.repeat(np.arange(len(values)), 4)
    basis = csr_matrix((t.bends.basis.ravel(), (rows, _columns(t).ravel())), (len(values), t.n))
    return np.asarray(splu((basis.T @ basis).tocsc()).solve(basis.T @ values))
