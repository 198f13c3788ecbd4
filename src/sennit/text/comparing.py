"""Whether what a text makes is what it was written for."""

from __future__ import annotations

from typing import Any

import numpy as np

from sennit.bodies.body import AbstractBody
from sennit.bodies.world import WorldPoint
from sennit.constraints.cable.cable import Cable
from sennit.constraints.route import Route
from sennit.contact.obstacle import Obstacle
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.material import Material, Section
from sennit.storage.describe import Writer, described

__all__ = ["compare", "same"]

_NEAR = 1e-9
"""Relative difference of numbers that say the same."""


def same(a: Any, b: Any) -> bool:
    """Whether two values say the same, numbers to nine digits."""
    if type(a) is not type(b):
        a, b = _bare(a), _bare(b)
    if isinstance(a, Pose):
        return same(a.position, b.position) and bool(abs(abs(a.quaternion @ b.quaternion) - 1.0) < _NEAR)
    if isinstance(a, np.ndarray | float | int | list | tuple) and not isinstance(a, bool):
        one, other = np.asarray(a), np.asarray(b)
        if one.shape != other.shape or one.dtype.kind not in "iufb" or other.dtype.kind not in "iufb":
            return False
        scale = float(np.abs(one[np.isfinite(one)]).max(initial=0.0))
        return bool(np.allclose(one, other, rtol=_NEAR, atol=_NEAR * scale, equal_nan=True))
    if isinstance(a, Material | Section):
        return all(same(getattr(a, name), getattr(b, name)) for name in a.__dict__)
    if isinstance(a, Route):
        return same(a._times, b._times) and same(a._knots, b._knots) and (a.kind, a.repeat) == (b.kind, b.repeat)
    if hasattr(a, "__dict__") and type(a) is type(b) and type(a).__module__.startswith("sennit."):
        names = [name for name in a.__dict__ if not name.startswith("_")]
        return all(same(getattr(a, name), getattr(b, name)) for name in names)
    return bool(a == b)


def _bare(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def compare(things: dict[Any, Any], made: dict[Any, Any], scene: Any, there: Any) -> None:
    """Raise `InputError` for a thing of `scene` that its entry did not make again, there: it depends on more."""
    for at, thing in things.items():
        if isinstance(thing, AbstractBody | Obstacle) or thing in scene.constraints:
            mine, its = _made_of(thing, scene), _made_of(made[at], there)
            if mine.keys() != its.keys() or not all(same(mine[name], its[name]) for name in mine):
                wrong = [name for name in mine if name not in its or not same(mine[name], its[name])]
                what = ", ".join(wrong[:3]).replace("x/", "")
                raise InputError(
                    f"{thing.name} can't be written as text, since it was made when the scene was elsewhere, or was "
                    f"changed in a way that has no words ({what}): give it all its arguments, or keep the scene with "
                    "Scene.save"
                )


def _made_of(thing: Any, scene: Any) -> dict[str, Any]:
    """The numbers that a thing is made of, without those of its motion."""
    arrays: dict[str, Any] = {}
    described(thing, Writer(scene.bodies, arrays), "x")
    if isinstance(thing, Cable):
        return {}  # all its numbers move
    if not isinstance(thing, AbstractBody | Obstacle) and thing._route() is None:
        for k, point in enumerate(thing.points):
            if isinstance(point, WorldPoint):
                arrays[f"x/place of point {k + 1}"] = point.position
    skipped = ("rows.spare", "rows.dual")  # which the scene gives
    return {name: value for name, value in arrays.items() if not name.endswith(skipped)}
