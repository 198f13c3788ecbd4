"""A probe that touches a zone or a chain of zones: what is asked, checked once for both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from sennit import validation
from sennit.bodies.zone.conditions import checked_displacement
from sennit.elastostatics.surface import Surface
from sennit.errors import InputError
from sennit.validation import FloatArray, quoted

__all__ = ["Touching", "nowhere_to_go"]

_LARGEST = 1e100


@dataclass(slots=True, eq=False)
class Touching:
    """Where a probe touches, and how it moves or pushes."""

    place: FloatArray
    """Where it touches, (3,), m."""
    given: FloatArray
    """Its displacement, m (NaN where it slides), or its force, N, (3,)."""
    moves: bool
    """Whether it is the displacement that is given."""

    @classmethod
    def checked(cls, surface: Surface, place: object, displacement: object, force: object) -> Self:
        """From what users pass; `place` is a vertex of `surface` or a position."""
        if (displacement is None) == (force is None):
            raise InputError("give displacement (m) or force (N), one of them")
        if isinstance(place, int | np.integer):
            where = surface.vertices[validation.count("place", place, 0, len(surface.vertices) - 1)]
        else:
            where = validation.vector("place", place)
        if force is None:
            given = checked_displacement("displacement", displacement, nan=False)
        else:
            given = validation.vector("force", force)
        # The answer is linear in it, and its energy quadratic: neither may overflow.
        if any(abs(component) > _LARGEST for component in given.tolist()):
            name = "displacement" if force is None else "force"
            raise InputError(f"{name} must be at most {_LARGEST:g} in each component, got {quoted(given)}")
        return cls(where, given, force is None)

    def force(self, compliance: FloatArray) -> FloatArray:
        """What the probe applies, (3,), N, to a patch of the given `compliance` (3, 3), m/N."""
        if not self.moves:
            return self.given
        on = np.isfinite(self.given)
        result = np.zeros(3)
        result[on] = np.linalg.solve(compliance[np.ix_(on, on)], self.given[on])
        return result


def nowhere_to_go(place: object) -> InputError:
    """The error for a place that the support holds."""
    return InputError(f"place must be where the body can move, got {quoted(place)}: the support holds it there")
