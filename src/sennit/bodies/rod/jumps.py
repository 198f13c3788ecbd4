"""Stiffness that jumps inside a rod, for curves that are too smooth to kink where it does.

The bending of a cubic spline is continuous, that of a rod whose stiffness jumps is not. With the stiffness sampled at
the bending points, a span with a jump is too stiff or too soft by a part of itself, and the error of all that the rod
carries falls with the first power of the span's length alone. What is wanted of these spans is right at any length:
under moments that are constant or linear in them they turn by what the rod turns by, to third order. So the numbers of
the points next to a jump (of its span and of two on both sides) are moved, by as little as will do, until the bending
that the spline finds under such moments, over a patch of spans round them, has the exact compliances::

    C(a, b) = bᵀ A⁻¹ a = ∫ m_a m_b/B du      A = Σ w B φ φᵀ    a = ∫ m_a φ du    m: 1, x and, if jumps are near each
                                                                                  other, hats between them

φ are the splines of bending (piecewise linear, continuous) or of twist (quadratic, once differentiable). C falls with
each of the numbers, so that Newton's method for their logarithms, each time by the shortest way, finds them. Where
strains are as many as points, in stretching, and in discrete rods, the mean of the compliance over the cell of a point
does the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sennit.bodies.rod.made import Numbers
from sennit.bodies.rod.places import Places
from sennit.bodies.rod.spline import shape
from sennit.bodies.rod.table import IntArray, RodTables
from sennit.validation import FloatArray

__all__ = ["stiffness_of_points"]

_REACH = 2
"""Spans on both sides of one with a jump whose points are moved, too."""
_PATCH = 8
"""Spans on both sides of these that a patch has: what happens at its ends is not felt in its middle."""
_TURNS, _CLOSE, _FARTHEST = 60, 1e-11, 7.0
"""Newton's steps at most; how exact compliances must be; how far the logarithm of a number may be moved."""


def stiffness_of_points(t: RodTables, numbers: Numbers) -> tuple[FloatArray, FloatArray]:
    """E I1, E I2 and G J (N·m²) of the bending points, (nb, 3), and E A (N) of the stretching points, (ns,)."""
    values = numbers.values
    if numbers.uniform:
        return np.tile(values[:, 1:4], (len(t.bend_u), 1)), np.full(len(t.stretch_u), values[0, 0])
    places = t.places
    bend, stretch = values[places.bend, 1:4].copy(), values[places.stretch, 0].copy()
    if not len(t.jumps):
        return bend, stretch
    jumps = np.atleast_1d(t.model.parameter_at(t, t.jumps))
    bend_cells, stretch_cells = t.model.cells(t)
    _soften(stretch[:, None], stretch_cells, jumps, places, values[places.fine, :1])
    if bend_cells is not None:
        _soften(bend, bend_cells, jumps, places, values[places.fine, 1:4])
        return bend, stretch
    for patch in _patches(t, jumps):
        _fit(t, patch, bend, places, values[places.fine, 1:4])
    return bend, stretch


def _soften(
    stiffness: FloatArray, cells: FloatArray, jumps: FloatArray, places: Places, fine: FloatArray
) -> None:  # fmt: skip
    """The mean compliance of those cells, from u to u, that a jump lies in."""
    first = np.searchsorted(cells, jumps, side="right") - 1
    for k in np.unique(np.clip(first, 0, len(cells) - 2)).tolist():
        own = (places.fine_u > cells[k]) & (places.fine_u < cells[k + 1])
        weights = places.fine_w[own]
        stiffness[k] = weights.sum() / (weights @ (1.0 / fine[own]))


class _Patch:
    """Spans of a rod, from `begin` on, which may go round a closed one; `marked`: those with jumps, counted in it."""

    def __init__(self, begin: int, spans: int, marked: IntArray) -> None:
        self.begin, self.spans, self.marked = begin, spans, marked

    def rows(self, u: FloatArray, whole: int) -> tuple[IntArray, FloatArray]:
        """Which of the parameters `u` of a rod of `whole` spans lie in it, and their places in it."""
        here = np.mod(u - self.begin, whole)
        rows = np.flatnonzero(here < self.spans)
        return rows, here[rows]


def _patches(t: RodTables, jumps: FloatArray) -> list[_Patch]:
    """Patches round the jumps: those that are nearer than spans are moved are in one."""
    spans, closed = t.spans, t.closed
    marked = np.unique(np.clip(np.floor(jumps).astype(np.int64), 0, spans - 1))
    begin = 0
    if closed:  # the widest gap is where counting begins
        gaps = np.diff(np.append(marked, marked[0] + spans))
        k = int(gaps.argmax())
        begin = int(marked[k] + 1 + (gaps[k] - 1) // 2) % spans
        marked = np.sort(np.mod(marked - begin, spans))
    groups = np.split(marked, np.flatnonzero(np.diff(marked) > 2 * _REACH) + 1)
    found = []
    for k, group in enumerate(groups):
        low, high = int(group[0]) - _REACH - _PATCH, int(group[-1]) + 1 + _REACH + _PATCH
        low = max(low, int(groups[k - 1][-1]) + 1 if k > 0 else 0)
        high = min(high, int(groups[k + 1][0]) if k + 1 < len(groups) else spans)
        found.append(_Patch((begin + low) % spans, high - low, group - low))
    return found


def _fit(t: RodTables, patch: _Patch, bend: FloatArray, places: Places, fine: FloatArray) -> None:
    """Move the numbers of a patch's points until its compliances are right, for each of E I1, E I2 and G J."""
    rows, u = patch.rows(t.bend_u, t.spans)
    of_fine, fine_u = patch.rows(places.fine_u, t.spans)
    weights, fine_w = t.bends.weight[rows], places.fine_w[of_fine]
    away = np.abs(np.floor(u)[:, None] - patch.marked).min(axis=1)
    moved, marked = np.flatnonzero(away <= _REACH), away == 0
    loads = _loads(patch, fine_u)
    known: dict[bytes, FloatArray] = {}
    for k in range(3):
        exact, start = fine[of_fine, k], bend[rows, k]
        key = bytes([k == 2]) + exact.tobytes()
        if key not in known:
            splines = _quadratics if k == 2 else _hats
            inside, outside = splines(u, patch.spans), splines(fine_u, patch.spans)
            for span in patch.marked:
                own = np.floor(fine_u) == span
                start[marked & (np.floor(u) == span)] = fine_w[own].sum() / (fine_w[own] @ (1.0 / exact[own]))
            known[key] = _moved(inside, weights, start, moved, outside, fine_w, exact, loads)
        bend[rows, k] = known[key]


def _loads(patch: _Patch, u: FloatArray) -> tuple[FloatArray, list[list[tuple[int, int]]]]:
    """Moments at the parameters `u`, (count, k), and which pairs must have their compliance: all, or fewer at last."""
    centres = patch.marked + 0.5
    x = u - centres.mean()
    moments = [np.ones_like(u), x / max(1.0, np.ptp(centres))]
    few = [(0, 0), (0, 1)]
    pairs = [*few, (1, 1)]
    if len(centres) > 1:
        moments += [np.interp(u, centres, hat) for hat in np.eye(len(centres))]
        pairs += [(i, j) for j in range(2, len(moments)) for i in (0, 1)]
    return np.array(moments), [pairs, few]


def _moved(
    inside: FloatArray, weights: FloatArray, start: FloatArray, moved: IntArray, outside: FloatArray,
    fine_w: FloatArray, exact: FloatArray, loads: tuple[FloatArray, list[list[tuple[int, int]]]],
) -> FloatArray:  # fmt: skip
    """`start` with the numbers `moved` such that compliances are exact; as it is if there are none such."""
    moments, choices = loads
    pushes = (moments * fine_w) @ outside
    wanted = (moments * (fine_w / exact)) @ moments.T
    for pairs in choices:
        left, right = np.array(pairs).T
        scale = np.sqrt(wanted[left, left] * wanted[right, right])
        logs = np.log(start)
        for _ in range(_TURNS):
            stiff = np.exp(logs)
            matrix = (inside.T * (weights * stiff)) @ inside
            strains = np.linalg.solve(matrix, pushes.T)
            missing = (np.sum(pushes[left] * strains.T[right], axis=1) - wanted[left, right]) / scale
            if np.abs(missing).max() <= _CLOSE:
                return stiff
            at = inside[moved] @ strains
            slopes = -(weights[moved] * stiff[moved]) * at[:, left].T * at[:, right].T / scale[:, None]
            step = -np.linalg.lstsq(slopes, missing, rcond=1e-12)[0]
            logs[moved] += step * min(1.0, 0.7 / max(np.abs(step).max(), 1e-300))
            if not np.abs(logs - np.log(start)).max() < _FARTHEST:
                break
    return start


def _hats(u: FloatArray, spans: int) -> FloatArray:
    """The splines of bending in a patch of so many spans: (k, spans + 1)."""
    return np.asarray(np.maximum(1.0 - np.abs(u[:, None] - np.arange(spans + 1.0)), 0.0))


def _quadratics(u: FloatArray, spans: int) -> FloatArray:
    """Those of twist, which are slopes of cubic ones: (k, spans + 2)."""
    first, rows = shape.basis(u, spans, False)
    matrix: Any = np.zeros((len(u), spans + 3))
    np.put_along_axis(matrix, first[:, None] + np.arange(4), rows[:, 1], axis=1)
    return np.asarray(matrix[:, 1:])  # all of them sum to 0
