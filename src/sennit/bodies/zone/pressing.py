"""A rigid shape that is pressed into a zone or into a chain of zones: what is asked, checked once for both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sennit import validation
from sennit.errors import InputError, SolveError, SolveReport
from sennit.geometry.shapes import AbstractShape
from sennit.validation import FloatArray, quoted

__all__ = ["Pressing"]

_STICKING = 1e-6
"""A node sticks if its tangential force is below the limit by more than this part of it."""


@dataclass(slots=True, eq=False)
class Pressing:
    """Which shape presses, and how."""

    shape: AbstractShape
    """The shape, where it is now."""
    friction: float
    """Coulomb's coefficient μ."""
    throw: bool
    """Whether a press that fails raises."""

    @classmethod
    def checked(cls, shape: object, friction: object, throw: object) -> Self:
        """From what users pass. Raises `InputError` for what is no shape, and for a coefficient below 0."""
        if not isinstance(shape, AbstractShape):
            raise InputError(f"shape must be one shape, as Sphere, Plane, Box or Mesh, got {quoted(shape)}")
        mu = validation.number("friction", friction, minimum=0.0, maximum=1e9)
        return cls(shape, mu, validation.flag("throw", throw))

    def follows(self, shape: AbstractShape, report: SolveReport) -> bool:
        """Whether friction goes on from a press of `shape` with that `report`: one of the same form that converged."""
        return self.shape._same_form(shape) and report.converged

    def finish(self, state: object, report: SolveReport) -> None:
        """Raise `SolveError` for a press that failed, if that was asked for."""
        if self.throw and not report.converged:
            raise SolveError(report, state)

    def sticks(self, forces: FloatArray, normals: FloatArray) -> NDArray[np.bool_]:
        """Which of the contact `forces` (k, 3) are off the limit that friction sets; `normals` (k, 3) into the body."""
        normal = np.einsum("ij,ij->i", forces, normals)
        tangential = np.linalg.norm(forces - normal[:, None] * normals, axis=1)
        return np.asarray(tangential < (1.0 - _STICKING) * self.friction * normal)
