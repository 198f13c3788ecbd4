"""What a step could not do as it was asked to, told as events: one for each spell and cause."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from sennit.constraints.slide import SliderRows
from sennit.solve.fourth import DAMPED_TOO_MUCH, SHOCK, UNSOLVED
from sennit.solve.kernels.codes import (
    BEAD_MISSED,
    CONTACT_MISSED,
    CONTACT_UNSOLVED,
    ENERGY_MISSED,
    FOLDED_UP,
    MISSED,
    MOTION_MISSED,
    NOT_FINITE,
    ROW_MISSED,
    UNCONVERGED,
    WAY_MISSED,
)
from sennit.solve.report import Event
from sennit.solve.stepper import YIELDED, StepTale
from sennit.solve.system import System
from sennit.touching.kernels.ends import RODS_MISSED
from sennit.touching.kernels.speed import CONTACT_FAST
from sennit.touching.kernels.windings import CONTACT_STIFF

__all__ = ["Troubles"]

STALLED = 1
"""Cause of an event "yielded": a drive met a stop, or another drive."""
PAUSE = 20
"""Steps without trouble after which a spell is over."""
_STATUS = {
    NOT_FINITE: "its numbers ran out of range",
    UNCONVERGED: "Newton's method did not converge",
}

_INSTEAD = {
    DAMPED_TOO_MUCH: "friction and damping can't be followed back in time",
    SHOCK: "something struck or came free",
    UNSOLVED: "Newton's method did not converge, or a row was missed",
}


_OF_TWO = {
    CONTACT_MISSED: "would have overlapped by {:.3g} m more than a step may leave",
    CONTACT_FAST: "would have passed through each other, by {:.3g} m",
    RODS_MISSED: "would have overlapped, or passed through each other, by {:.3g} m",
    CONTACT_STIFF: "are wound, and press on each other by {:.0f} times what inertia holds in a step",
}
"""What two things would have done."""


class Troubles:
    """Spells of trouble in a scene's events."""

    def __init__(self, events: list[Event]) -> None:
        self._events = events
        self._open: dict[tuple[str, int], tuple[int, int]] = {}
        """By kind and cause: number of the event, and the last step of the spell."""
        self._step = 0

    def spells(self) -> list[list[Any]]:
        """The spells that may go on, as kind, cause, number of the event and steps since its last."""
        return [[*key, event, self._step - last] for key, (event, last) in self._open.items()]

    def go_on(self, spells: Iterable[Iterable[Any]]) -> None:
        """Go on with what `spells` told."""
        self._open = {(kind, cause): (event, self._step - ago) for kind, cause, event, ago in spells}

    def tell(self, tale: StepTale, system: System, time: float) -> None:
        """Enter a step that was not quiet."""
        self._step += 1
        for kind, cause, subjects, text in _troubles(tale, system):
            known = self._open.get((kind, cause))
            if known is not None and self._step - known[1] <= PAUSE and known[0] < len(self._events):
                event = self._events[known[0]]
                self._events[known[0]] = replace(event, steps=event.steps + 1)
                self._open[kind, cause] = (known[0], self._step)
            else:
                self._open[kind, cause] = (len(self._events), self._step)
                self._events.append(Event(time, kind, subjects, text))

    def superfluous(self, subjects: tuple[Any, ...], numbers: list[int], time: float) -> None:
        """Tell of constraints with rows that others make superfluous: once, as long as the same ones come again.

        `numbers`: theirs in the scene.

        Rows that are hardly independent (light bodies between heavy ones) may be found so in some steps and not in
        others.
        """
        if not subjects:
            return
        names = ", ".join(subject.name for subject in subjects)
        key = ("redundant", zlib.crc32(repr(numbers).encode()))
        known = self._open.get(key)
        goes_on = known is not None and self._step - known[1] <= PAUSE and known[0] < len(self._events)
        self._open[key] = (known[0] if known is not None and goes_on else len(self._events), self._step)
        if not goes_on:
            text = f"rows that others make superfluous: {names}; their forces are shared arbitrarily"
            self._events.append(Event(time, "redundant", subjects, text))

    def quiet(self, steps: int = 1) -> None:
        """Count steps without trouble."""
        self._step += steps


def _troubles(tale: StepTale, system: System) -> Iterator[tuple[Any, int, tuple[Any, ...], str]]:
    """Kind, cause, subjects and text of what a step could not do."""
    if tale.cause is not None:
        status, missed, culprit, amount = tale.cause
        cause = 10 * status + missed
        subject, why = (
            _blamed(system, tale, missed, culprit, amount) if status == MISSED else (None, _STATUS.get(status))
        )
        subjects = () if subject is None else (subject,)
        why = why or "it could not be solved"
        if tale.held:
            text = f"no step could be made, and the scene stood still for {tale.held_time:.3g} s: {why}"
            yield "held", cause, subjects, text
        else:
            yield "divided", cause, subjects, f"the step was made in {tale.parts} parts: {why}"
    if tale.instead:
        yield "fallback", tale.instead, (), f'the step was made by "bdf2" instead of "fourth": {_INSTEAD[tale.instead]}'
    if tale.calmed > 0.0:
        yield "calmed", 0, (), f"{tale.calmed:.3g} J that nobody put in were taken out of the motion"
    if tale.yielded > YIELDED * max(system.size, 1e-3):
        names = ", ".join(dict.fromkeys(tale.contradicting)) or "one-sided ties"
        yield "yielded", 0, (), f"constraints contradict each other by {tale.yielded:.3g} m (or rad): {names}"
    if tale.stalled > YIELDED * max(system.size, 1e-3):
        numbers = dict.fromkeys(system.model.rows.owner[tale.stalling].tolist())
        owners = [system.layout.constraints[number] for number in numbers]
        stopped = tuple(owner.slider if isinstance(owner, SliderRows) else owner for owner in owners)
        names = ", ".join(owner.name for owner in owners)
        text = f"a {'hand' if tale.gave else 'drive'} gave way to what stopped it, by {tale.stalled:.3g} m: {names}"
        yield "yielded", STALLED, stopped, text


def _blamed(system: System, tale: StepTale, missed: int, culprit: int, amount: float) -> tuple[Any, str]:
    """What missed its aim, and how."""
    layout = system.layout
    if missed == ROW_MISSED:
        constraint = layout.constraints[int(system.model.rows.owner[culprit])]
        return constraint, f"{constraint.name} would have been missed by {amount:.3g} m (or rad)"
    if missed == BEAD_MISSED:
        slider = next(b for b in layout.bodies if b._home_table() == "sliders" and b._index == culprit)
        return slider, f"{slider.name} would have left its rod by {amount:.3g} m"
    if missed in _OF_TWO:
        assert tale.between is not None
        first, second = tale.between
        names = f"{first.name} and {'itself' if second is first else second.name}"
        return first, f"{names} {_OF_TWO[missed].format(amount)}"
    if missed == CONTACT_UNSOLVED:
        return None, "the forces of its contacts were not found"
    if missed == WAY_MISSED:
        cable = layout.cables.cables[culprit]
        return cable, f"{cable.name} would have been longer or shorter than its winch reckons with, by {amount:.3g} m"
    if missed == FOLDED_UP:
        return None, "a rod would have been folded between its control points"
    if missed == MOTION_MISSED:
        return None, f"it would have gained {amount:.3g} J of motion from nothing"
    assert missed == ENERGY_MISSED
    rod = [b for b in layout.bodies if b._home_table() in ("splines", "discretes")][culprit]
    return rod, f"{rod.name} would have gained {amount:.3g} J from nothing"
