"""What sennit raises and reports when something is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["InputError", "SettingError", "SolveError", "SolveReport"]


class InputError(ValueError):
    """The caller's mistake: the message names the argument, quotes the value and says what is allowed.

    A call that raises it has changed nothing. The page "Errors" of the handbook (docs/errors.md) has common messages
    with cause and cure.
    """


class SettingError(InputError, AttributeError):
    """An attribute was set that there is not, or that can't be changed: the message names the nearest one, and what can
    be set.
    """


@dataclass(frozen=True, slots=True)
class SolveReport:
    """How a solve ended.

    ``status`` is ``"converged"``, ``"moving"`` (the iteration cap was reached while the residual or the
    energy still fell: call again with ``guess=state``) or ``"failed"``; ``message`` says why, and what to try. A
    converged solve has a message where something is to be known of it: a mesh too coarse for the bend at a hold, or a
    state that is unstable.
    """

    status: Literal["converged", "moving", "failed"]
    iterations: int
    """Newton iterations (0 for an explicit sweep)."""
    residual: float
    """Largest unbalanced moment over bending stiffness / length, or position error over length: dimensionless.

    Under forces above 10⁵ bending stiffnesses / length² moments count over 10⁻⁵ of force times length."""
    method: str
    """Which algorithm gave the answer: ``"sweep"``, ``"energy"``, ``"follower"`` or ``"shooting"``."""
    nodes: int
    """Nodes of the mesh that was used."""
    message: str = ""
    error_estimate: float | None = None
    """Estimated position error over length; only ``nodes="auto"`` computes it."""

    @property
    def converged(self) -> bool:
        """Whether the residual is below the tolerance."""
        return self.status == "converged"


class SolveError(RuntimeError):
    """A solve that did not converge. ``report`` says how it ended, ``state`` is the best state found.

    The page "Errors" of the handbook (docs/errors.md) says what to try.
    """

    def __init__(self, report: SolveReport, state: Any = None) -> None:
        super().__init__(report.message)
        self.report = report
        self.state = state
