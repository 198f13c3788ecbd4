"""Rods that are folded, and targets that are led to where they are wanted so that none folds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from sennit.bodies.rod.rod import Rod
from sennit.bodies.rod.spline.kernels.folds import FOLDED
from sennit.constraints.kernels.rows import ANGLE, APART, DISTANCE, ROTATE, TILT, TRANSLATE
from sennit.geometry.rotations import (
    matrix_to_quaternion,
    quaternion_conjugate,
    quaternion_product,
    rotation_exp,
    rotation_log,
)
from sennit.solve.kernels.accept import evaluate_all, measure_rows
from sennit.solve.system import System
from sennit.tables import STATE
from sennit.validation import FloatArray

__all__ = ["Led", "folded_rods"]

REACH, TURN = 0.1, 0.3
"""How far a held point is moved at once: part of the shortest rod's length, and rad."""
NEAR = 1e-2
"""Part of that which needs no leading."""
MOST_PARTS = 20
"""Into which a move is divided at first."""


def folded_rods(system: System) -> list[Rod]:
    """The rods whose curve stands still, or races, between the places where its stretch is measured."""
    # a NaN is no sound shape either
    return [rod for rod in system.layout.of_kind(Rod) if not rod._speed_ratio() >= FOLDED]


class Led:
    """Targets of rows that hold places and rotations, moved from where these are to where they are wanted, in parts.

    A rod whose ends are moved at once by a good part of its length folds. Each row starts with the violation that it
    has, and loses it evenly: that is a shift of its target c, or a turn of the rotation C that it keeps, whatever the
    constraint: ``c(x) = c + (1 − x) g``, ``C(x) = C exp((1 − x) log((R_q C)ᵀ R_p))``.
    """

    def __init__(self, system: System) -> None:
        rows = self._rows = system.model.rows
        self._target, self._relative = rows.target.copy(), rows.relative.copy()
        self._apart, self._turned = _apart(system)
        shortest = min((rod.length for rod in system.layout.of_kind(Rod)), default=system.size)
        lengths = ~np.isin(rows.kind, (TILT, ANGLE))
        way = float(np.max(np.abs(self._apart[lengths]), initial=0.0)) / (REACH * shortest)
        turn = float(np.max(np.linalg.norm(self._turned, axis=1), initial=0.0))
        turn = max(turn, float(np.max(np.abs(self._apart[~lengths]), initial=0.0))) / TURN
        furthest = max(way, turn)
        self.parts = min(math.ceil(furthest), MOST_PARTS) if furthest > NEAR else 0
        """Into how many the way is divided so that none is longer than `REACH` or `TURN`; 0: it is short."""

    @contextmanager
    def at(self, part: float) -> Iterator[None]:
        """Targets at a fraction of the way, for a while."""
        rows, left = self._rows, 1.0 - part
        rows.target[:] = self._target + left * rows.sign * self._apart
        rows.relative[:] = quaternion_product(self._relative, rotation_exp(left * self._turned))
        try:
            yield
        finally:
            rows.target[:], rows.relative[:] = self._target, self._relative


def _apart(system: System) -> tuple[FloatArray, FloatArray]:
    """How far each row is from where it holds its points: g + Σλ (rows,), and a rotation vector (rows, 3).

    They are 0 of rows that are met, and that hold neither a place nor (without a compliance) a rotation.
    """
    rows, places = system.model.rows, system.model.places
    kept = rows.words(STATE).copy()
    evaluate_all(system.model)
    measure_rows(system.model)
    value = rows.value.copy()
    np.copyto(rows.words(STATE), kept)
    # a spring that carries its load is met
    value += np.where(np.isfinite(rows.compliance), rows.compliance, 0.0) * rows.multiplier
    # a row with bounds is at rest on one side
    value[(rows.dual < 0) & (value > 0.0)] = 0.0
    held = (rows.enabled == 1) & (rows.rate == 0) & (rows.slider < 0) & np.isfinite(rows.compliance)
    apart = np.where(held & np.isin(rows.kind, (TRANSLATE, APART, DISTANCE, TILT, ANGLE)), value, 0.0)
    turned = np.zeros((len(rows), 3))
    turning = np.flatnonzero(held & (rows.compliance == 0.0) & (rows.kind == ROTATE))
    if len(turning):
        p, q = (matrix_to_quaternion(places.frame[at[turning]].reshape(-1, 3, 3)) for at in (rows.first, rows.second))
        wanted = quaternion_product(q, rows.relative[turning])
        turned[turning] = rotation_log(quaternion_product(quaternion_conjugate(wanted), p))
    return apart, turned
