"""Loads on a strand: what users give, sampled on a mesh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["PointLoad", "sampled"]

Profile = ArrayLike | Callable[[float], ArrayLike]
"""A vector along the strand: constant (3,), one per node (nodes, 3), or a function of the arclength s in metres."""


class PointLoad:
    """A force (N) and a torque (N·m) applied at arclength `s` (m): in the world frame, or with `follower` in the
    frame of the cross-section, with which they turn.

    Raises `InputError` for numbers that are not finite or a negative `s`.
    """

    __slots__ = ("follower", "force", "s", "torque")

    def __init__(
        self, s: float, force: ArrayLike = (0.0, 0.0, 0.0), torque: ArrayLike = (0.0, 0.0, 0.0), follower: bool = False
    ) -> None:
        self.s = validation.number("s", s, minimum=0.0)
        self.force = validation.vector("force", force)
        self.torque = validation.vector("torque", torque)
        self.follower = bool(follower)

    def __repr__(self) -> str:
        return f"PointLoad({self.s:g}, {self.force.tolist()}, {self.torque.tolist()}, follower={self.follower})"


def sampled(name: str, profile: Any, s: FloatArray, uniform: FloatArray) -> FloatArray:
    """`profile` at the arclengths `s` (n,), as (n, 3).

    An array is given at the strand's evenly spaced nodes `uniform`; where the mesh has other nodes (points that hold or
    load it moved some) it is interpolated by cubics.
    """
    if callable(profile):
        values = np.empty((len(s), 3))
        for i, at in enumerate(s):
            value = profile(float(at))
            try:
                values[i] = value
            except (TypeError, ValueError):
                raise InputError(
                    f"{name}(s) must return three numbers, got {validation.quoted(value)} at s = {at:g}"
                ) from None
        if not np.isfinite(values).all():
            at = s[np.argmax(~np.isfinite(values).all(axis=1))]
            raise InputError(f"{name}(s) must be finite along the strand, but is not at s = {at:g}")
        return values
    given = validation.array(name, profile, (3,), (len(uniform), 3))
    if given.ndim == 1:
        return np.tile(given, (len(s), 1))
    if len(s) == len(uniform) and np.array_equal(s, uniform):
        return given
    from scipy.interpolate import CubicSpline  # here, because it takes long to import and is seldom needed

    return np.asarray(CubicSpline(uniform, given)(s))


def checked_point_loads(point_loads: Sequence[PointLoad], length: float) -> list[PointLoad]:
    """The point loads, each on the strand."""
    loads = list(point_loads)
    for load in loads:
        if not isinstance(load, PointLoad):
            raise InputError(f"point_loads must hold sennit.PointLoad, got {validation.quoted(load)}")
        if load.s > length:
            raise InputError(f"point_loads: s must be from 0 to the strand's length {length:g} m, got {load.s:g}")
    return loads
