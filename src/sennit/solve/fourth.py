"""Steps of fourth order: which scenes they are for, and how they are made where one compiled call can't.

A step is composed of five of "midpoint", the third of which goes back in time (`kernels.stages`). What can't be
undone in time spoils that: friction, damping (which would grow on the way back) and shocks. Steps with these are made
by "bdf2" instead, and an event says so.
"""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from sennit.solve.kernels.codes import QUIET
from sennit.solve.kernels.stages import SUZUKI
from sennit.solve.solver import Part, Solver
from sennit.solve.system import System

__all__ = ["DAMPED_TOO_MUCH", "SHOCK", "UNSOLVED", "State", "keeps_time", "make_stages", "unfit"]

DAMPED_TOO_MUCH, SHOCK, UNSOLVED = 1, 2, 3
"""Why a step is made by "bdf2": what can't go back in time, something struck or came free, Newton did not converge."""
MOST_DRAG = 0.3
"""Drag times the step up to which going back in time is harmless."""


class State:
    """Copies of all that a step changes, to begin it again."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._numbers = system.kept()
        self._account: dict[str, NDArray[Any]] = {name: array.copy() for name, array in system.account().items()}

    def put_back(self) -> None:
        """Make the state what it was."""
        self._system.put_back(self._numbers)
        self._system.set_account(self._account)


def unfit(system: System, h: float, drag: float) -> int:
    """DAMPED_TOO_MUCH if something in a scene takes energy that the way back would have to give; else 0."""
    model = system.model
    rows, rigging = model.rows, model.rigging
    elements = rigging.elements
    takes = (
        drag * h > MOST_DRAG
        or len(model.zones) > 0
        or any(
            bool(kind.bends.relaxation.any()) or bool(kind.stretches.relaxation.any())
            for kind in (model.splines, model.discretes)
        )
        or len(model.splines.branches) + len(model.discretes.branches) > 0
        or bool((rows.enabled * (rows.damping + rows.friction) != 0.0).any())
        or bool(model.sliders.drag.any())
        or bool(rigging.cables.stretch_time.any() or rigging.cables.twist_time.any())
        or bool((rigging.obstacles.friction > 0.0).any())
        or bool(((elements.divides == 1) & (elements.friction > 0.0) & (elements.friction < math.inf)).any())
    )
    return DAMPED_TOO_MUCH if takes else 0


def keeps_time(system: System) -> bool:
    """Whether nothing that leads cables (places in the world, lengths that are asked for) changes in the next step."""
    model = system.model
    if not len(model.rigging.cables):
        return True
    points = model.points
    moved = (points.anchor != points.anchor_last).any() or (points.anchor_frame != points.anchor_frame_last).any()
    return not (moved or model.rigging.cables.asked.any())


def make_stages(solver: Solver, whole: Part, lead: Any) -> int:
    """The five steps one by one, with what each needs of Python. `lead` (of two shares) moves the world's points along.

    Returns QUIET, or why one was not accepted as it was: the state is then anything on the way.
    """
    for start, end in zip(SUZUKI, SUZUKI[1:], strict=False):
        lead(start, end)
        solver.prepare(whole._replace(h=(end - start) * whole.h, start=start, end=end))
        if (status := solver.advance()) != QUIET:
            return status
    return QUIET
