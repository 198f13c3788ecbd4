"""Rods that are folded, and targets that are led to where they are wanted so that none folds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from sennit.bodies.rod.rod import Rod
from sennit.bodies.rod.spline.kernels.folds import FOLDED
from sennit.constraints.kernels.rows import APART, DISTANCE, TRANSLATE
from sennit.solve.kernels.accept import evaluate_all, measure_rows
from sennit.solve.system import System
from sennit.tables import STATE
from sennit.validation import FloatArray

__all__ = ["Led", "folded_rods"]

REACH = 0.1
"""Part of the shortest rod's length by which a held point is moved at once."""
NEAR = 1e-3
"""Part of it that needs no leading."""
MOST_PARTS = 20
"""Into which a move is divided at first."""


def folded_rods(system: System) -> list[Rod]:
    """The rods whose curve stands still, or races, between the places where its stretch is measured."""
    rods = [body for body in system.layout.bodies if isinstance(body, Rod)]
    # a NaN is no sound shape either
    return [rod for rod in rods if not rod._speed_ratio() >= FOLDED]


class Led:
    """Targets of rows that hold places, moved from where these places are to where they are wanted, part by part.

    A rod whose ends are moved at once by a good part of its length folds. Each row starts with the violation that it
    has, and loses it evenly: that is a shift of its target, whatever the constraint.
    """

    def __init__(self, system: System) -> None:
        self._rows = system.model.rows
        self._given = self._rows.target.copy()
        self._apart = _apart(system)
        shortest = min((body.length for body in system.layout.bodies if isinstance(body, Rod)), default=math.inf)
        way = float(np.max(np.abs(self._apart), initial=0.0)) / shortest
        self.parts = min(math.ceil(way / REACH), MOST_PARTS) if way > NEAR else 0
        """Into how many the way is divided so that none is longer than a tenth of the shortest rod; 0: it is short."""

    @contextmanager
    def at(self, part: float) -> Iterator[None]:
        """Targets at a fraction of the way, for a while."""
        self._rows.target[:] = self._given + (1.0 - part) * self._rows.sign * self._apart
        try:
            yield
        finally:
            self._rows.target[:] = self._given


def _apart(system: System) -> FloatArray:
    """How far each row that holds places is from doing so, m (rows,): 0 where it is met, or holds something else."""
    rows = system.model.rows
    kept = rows.words(STATE).copy()
    evaluate_all(system.model)
    measure_rows(system.model)
    value = rows.value.copy()
    np.copyto(rows.words(STATE), kept)
    places = np.isin(rows.kind, (TRANSLATE, APART, DISTANCE)) & (rows.enabled == 1) & (rows.rate == 0)
    # a row with bounds is at rest on one side
    value[(rows.dual < 0) & (value > 0.0)] = 0.0
    return np.where(places & (rows.slider < 0) & (rows.compliance == 0.0), value, 0.0)
