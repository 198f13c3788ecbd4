"""Loads on a strand: what users give, sampled on a mesh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import unchanging
from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["PointLoad", "checked_point_loads", "kept_profile", "profile_key", "sampled"]

Profile = ArrayLike | Callable[[float], ArrayLike]
"""A vector along the strand: constant (3,), one per node (nodes, 3), or a function of the arclength s in metres."""


@unchanging
class PointLoad:
    """A force (N) and a torque (N·m) applied at arclength `s` (m): in the world frame, or with `follower` in the
    frame of the cross-section, with which they turn.

    Raises `InputError` for numbers that are not finite or a negative `s`.
    """

    __slots__ = ("follower", "force", "s", "torque")
    s: float
    force: FloatArray
    torque: FloatArray
    follower: bool

    def __init__(
        self, s: float, force: ArrayLike = (0.0, 0.0, 0.0), torque: ArrayLike = (0.0, 0.0, 0.0), follower: bool = False
    ) -> None:
        put = object.__setattr__
        put(self, "s", validation.number("s", s, minimum=0.0))
        for name, value in (("force", force), ("torque", torque)):
            checked = validation.vector(name, value)
            checked.flags.writeable = False
            put(self, name, checked)
        put(self, "follower", validation.flag("follower", follower))

    def _key(self) -> tuple[float, bytes, bytes, bool]:
        return self.s, self.force.tobytes(), self.torque.tobytes(), self.follower

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PointLoad) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

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
            try:
                values[i] = validation.vector("value", profile(float(at)))
            except InputError as error:
                raise InputError(f"{name}(s) must return three finite numbers; at s = {at:g} its {error}") from None
        return values
    given = validation.array(name, profile, (3,), (len(uniform), 3))
    if given.ndim == 1:
        return np.tile(given, (len(s), 1))
    if len(s) == len(uniform) and np.array_equal(s, uniform):
        return given
    from scipy.interpolate import CubicSpline  # here, because it takes long to import and is seldom needed

    return np.asarray(CubicSpline(uniform, given)(s))


def checked_point_loads(point_loads: Sequence[PointLoad], length: float) -> tuple[PointLoad, ...]:
    """The point loads, each on the strand."""
    loads = tuple(validation.listed("point_loads", point_loads, (PointLoad,), "sennit.PointLoad"))
    for load in loads:
        if load.s > length:
            raise InputError(f"point_loads: s must be from 0 to the strand's length {length:g} m, got {load.s:g}")
    return loads


def kept_profile(name: str, profile: Any, nodes: int) -> Any:
    """A profile that the caller cannot change any more: a function, or a copy of the array."""
    return profile if callable(profile) else validation.array(name, profile, (3,), (nodes, 3))


def profile_key(profile: Any) -> Any:
    """Equal for equal profiles: the same function, or the same numbers."""
    return profile.tobytes() if isinstance(profile, np.ndarray) else profile
