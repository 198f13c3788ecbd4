"""What steps and static solves report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from sennit.attributes import unchanging

__all__ = ["SPELLS", "Event", "SceneEnergy", "SettleReport", "StepReport"]


SPELLS = ("redundant", "fallback", "divided", "held", "calmed", "yielded")
"""Kinds of events that come once for as long as what they tell of lasts, the harmless ones first."""


@unchanging
@dataclass(frozen=True)
class Event:
    """Something that happened in a step.

    `kind` is ``"released"`` (a rod ran out of a hole), ``"redundant"`` (rows that others make superfluous), ``"broke"``
    (a cable was pulled by more than its breaking load), ``"paid_out"`` (nothing is left on its drum), ``"wound_in"``
    (it cannot be made shorter). Or it says what a step could not do as it was asked to: ``"divided"`` (it was too long
    for what happened in it, and made in parts), ``"held"`` (the scene stood still: no part of it could be accepted),
    ``"calmed"`` (it had more energy than was there and was put in, and was slowed down), ``"yielded"`` (constraints
    contradict each other, or a drive met what stopped it, and gave way). These come once for each spell and cause, with
    the number of its steps. ``"fallback"``: a step of ``"fourth"`` order was made by ``"bdf2"``. ``"touch"`` and
    ``"part"``: two things begin or cease to press on each other. ``"overlap"``: two things overlap where the scene
    begins, and are pushed apart gently. ``"grown"``: there were more contacts than tables had room for. ``"coarse"``: a
    rod winds more tightly than its spans can follow, or a zone is too coarse for what touches it. ``"pierced"``,
    ``"through"``, ``"pulled_out"``, ``"slipped"`` and ``"no_hole"`` tell of a `Needle`. ``"cut"`` and ``"broken"``: a
    rod is in pieces now, which are the subjects; ``"unbroken"``: one would break and can't.
    """

    time: float
    """When it happened, s."""
    kind: Literal[
        "released", "redundant", "fallback", "broke", "paid_out", "wound_in", "divided", "held", "calmed", "yielded",
        "touch", "part", "overlap", "coarse", "grown", "pierced", "through", "pulled_out", "slipped", "no_hole",
        "cut", "broken", "unbroken",
    ]  # fmt: skip
    subjects: tuple[Any, ...] = ()
    """The bodies or constraints that it is about."""
    message: str = ""
    steps: int = 1
    """Steps of the spell so far, of which the first was at `time`."""


@unchanging
@dataclass(frozen=True)
class StepReport:
    """How the last step was solved."""

    iterations: int
    """Factorisations: 1 for "euler" and "bdf2", if the step was not divided."""
    bounded_solves: int
    """Solves of the small problem of one-sided rows."""
    method: str
    redundant: tuple[Any, ...] = ()
    """Constraints with rows that others make superfluous."""
    parts: int = 1
    """In how many steps it was made: 1, unless it had to be divided."""
    depth: int = 0
    """How often the shortest of them was halved."""
    held: float = 0.0
    """Time for which the scene stood still, since no step could be accepted, s."""


@unchanging
@dataclass(frozen=True)
class SettleReport:
    """How a static solve ended."""

    status: Literal["converged", "failed"]
    stable: bool
    """Whether the energy has a minimum there: no direction in which the scene would move off."""
    iterations: int
    residual: float
    """Largest unbalanced force over the scene's typical force, dimensionless."""
    unstable_directions: int = 0
    message: str = ""
    history: tuple[float, ...] = field(default=(), repr=False)
    """Size of each iteration's displacement over the scene's size."""
    touching: tuple[tuple[Any, Any], ...] = ()
    """What presses on what: see `Contact.first` and `Contact.second`."""

    @property
    def converged(self) -> bool:
        """Whether forces balance."""
        return self.status == "converged"


@unchanging
@dataclass(frozen=True)
class SceneEnergy:
    """Energy of a scene, J."""

    kinetic: float
    stretch: float
    bend: float
    twist: float
    gravity: float
    """Potential energy against z = 0 of the gravity vector."""
    constraints: float
    """Stored in compliant constraints."""
    zones: float = 0.0
    """Stored in elastic zones."""

    @property
    def elastic(self) -> float:
        """Of the rods, J."""
        return self.stretch + self.bend + self.twist

    @property
    def total(self) -> float:
        """All of it, J."""
        return self.kinetic + self.elastic + self.gravity + self.constraints + self.zones
