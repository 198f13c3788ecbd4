"""What steps and static solves report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Event", "SceneEnergy", "SettleReport", "StepReport"]


@dataclass(frozen=True)
class Event:
    """Something that happened in a step: `kind` is ``"released"`` (a rod ran out of a hole), ``"redundant"`` (rows that
    others make superfluous), ``"fallback"`` (a step was redone by a more damped method), ``"broke"`` (a cable was
    pulled by more than its breaking load), ``"paid_out"`` (nothing is left on its drum) or ``"wound_in"`` (it cannot be
    made shorter).
    """

    time: float
    """When it happened, s."""
    kind: Literal["released", "redundant", "fallback", "broke", "paid_out", "wound_in"]
    subjects: tuple[Any, ...] = ()
    """The bodies or constraints that it is about."""
    message: str = ""


@dataclass(frozen=True)
class StepReport:
    """How the last step was solved."""

    iterations: int
    """Factorisations: 1 for "euler" and "bdf2"."""
    bounded_solves: int
    """Solves of the small problem of one-sided rows."""
    method: str
    redundant: tuple[Any, ...] = ()
    """Constraints with rows that others make superfluous."""


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

    @property
    def converged(self) -> bool:
        """Whether forces balance."""
        return self.status == "converged"


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
