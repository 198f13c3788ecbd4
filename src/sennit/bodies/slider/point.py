"""The place of a slider on its rod."""

from __future__ import annotations

from typing import Any

import numpy as np

from sennit.bodies.body import Home
from sennit.bodies.kernels.points import SLIDER
from sennit.bodies.point.point import Point

__all__ = ["SliderPoint"]


class SliderPoint(Point):
    """The place of a slider on its rod; it moves with the rod and along it."""

    _kind = SLIDER

    def __init__(self, slider: Any) -> None:
        super().__init__(slider)
        self._row.count[0] = slider.rod._tables.n

    @property
    def has_frame(self) -> bool:
        """False: it has a tangent, but no roll of its own."""
        return False

    def _number(self) -> None:
        slider, row = self._body, self._row
        rod = slider.rod
        row.body[0], row.base[0], row.block[0] = slider._index, rod._dof0, rod._block0
        row.slide[0], row.slots[0] = slider._dof0, slider._block0
        if slider._home is not rod._home:
            row.slide[0] = len(rod._home.q)

    def _where(self) -> Any:
        slider, home = self._body, self._body.rod._home
        if slider._home is home:
            return home
        # Not yet in the same tables: the rod's numbers, and the slider's own behind them.
        motion = slider._motion
        return Home(np.concatenate((home.q, motion.q)), np.concatenate((home.v, motion.v)), home.quat)

    def _refresh(self) -> None:
        self._body._settle_point()

    def __repr__(self) -> str:
        return f"<{self._body.name}.at()>"

    def _rod(self) -> Any:
        return self._body.rod

    def _mass_felt(self, near: int, whole: int) -> float:
        # where a slider is changes: a fifth of a control point's share, which is what the end of a rod feels
        return float(0.2 * self._body.rod.mass / self._body.rod._tables.n)
