"""Ways through given places at given times, which compiled runs, files and haptic loops can follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import guarded
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.tables import PARAMETER, PLAN, Table, number, whole
from sennit.validation import FloatArray, quoted

__all__ = ["Route", "Routes"]


class Routes(Table):
    """The routes of a scene: between two knots a place is a cubic in the time since the first of them."""

    point = whole(PLAN, "the point of the world that is led")
    first = whole(PLAN, "its first knot")
    count = whole(PLAN, "number of its knots")
    turns = whole(PLAN, "1: rotations are led too")
    repeats = whole(PLAN, "1: it begins again at its end")
    time = number(PARAMETER, "of a knot, s", of="knots")
    cubic = number(PARAMETER, "of x, y, z and a quaternion, from the highest power down", 4, 7, of="knots")


@guarded()
class Route:
    """A way through `places` at `times`: what `Follow` leads a point along, and a function of time like any other.

    Arguments: `times` (n,), s, growing; `places`: n positions (3,), m, or poses; `kind`: ``"straight"`` from place to
    place, or ``"spline"``, a cubic spline that begins and ends at rest; ``repeat=True`` begins again at the end, where
    the first place must be reached. Before the first and after the last time the ends are held.

    Unlike a function it is data: it is saved, runs inside `Scene.run`'s compiled call, and in haptic loops.

    >>> route = Route([0, 1, 3], [(0, 0, 0), (0, 0, 1), (1, 0, 1)])
    >>> route(2.0).tolist()
    [0.5, 0.0, 1.0]
    """

    def __init__(
        self, times: ArrayLike, places: Sequence[Any], kind: Literal["straight", "spline"] = "straight",
        *, repeat: bool = False,
    ) -> None:  # fmt: skip
        self._times = validation.array("times", times, (None,))
        self._kind = validation.choice("kind", kind, ("straight", "spline"))
        self._repeat = validation.flag("repeat", repeat)
        if len(self._times) < 2 or not (np.diff(self._times) > 0.0).all():
            raise InputError(f"times must be two or more, each later than the one before, got {quoted(times)}")
        self._turns, self._knots = _numbers(places, len(self._times))
        if self._repeat and not np.allclose(self._knots[0], self._knots[-1], rtol=0.0, atol=1e-9):
            raise InputError("a route that repeats must end where it begins: give the first place again at the end")
        self._cubic = self._coefficients()

    def _coefficients(self) -> FloatArray:
        """Of each knot's way to the next, (n, 4, 7), from the highest power down; zeros behind the last."""
        cubic = np.zeros((len(self._times), 4, 7))
        if self._kind == "spline":
            from scipy.interpolate import CubicSpline

            ends = "periodic" if self._repeat else "clamped"
            knots = self._knots.copy()
            if self._repeat:
                knots[-1] = knots[0]
            cubic[:-1] = CubicSpline(self._times, knots, bc_type=ends).c.transpose(1, 0, 2)
        else:
            cubic[:-1, 2] = np.diff(self._knots, axis=0) / np.diff(self._times)[:, None]
            cubic[:-1, 3] = self._knots[:-1]
        cubic[-1, 3] = self._knots[-1]
        return cubic

    @property
    def times(self) -> FloatArray:
        """Times of its places: (n,), s."""
        return self._times.copy()

    @property
    def places(self) -> list[FloatArray] | list[Pose]:
        """Its places: positions (3,), m, or poses."""
        if self._turns:
            return [Pose(row[:3], row[3:]) for row in self._knots]
        return list(self._knots[:, :3].copy())

    @property
    def kind(self) -> str:
        """``"straight"`` or ``"spline"``."""
        return self._kind

    @property
    def repeat(self) -> bool:
        """Whether it begins again at its end."""
        return self._repeat

    def __call__(self, time: float) -> FloatArray | Pose:
        """Where it is at `time` (s): a position (3,), m, or a `Pose`."""
        t, first, last = validation.number("time", time), float(self._times[0]), float(self._times[-1])
        if self._repeat and t > last:
            t = first + (t - first) % (last - first)
        t = min(max(t, first), last)
        k = int(np.searchsorted(self._times[1:-1], t, side="right"))
        a, b, c, d = self._cubic[k]
        s = t - self._times[k]
        row = ((a * s + b) * s + c) * s + d
        return Pose(row[:3], row[3:] / np.linalg.norm(row[3:])) if self._turns else row[:3].copy()

    def __repr__(self) -> str:
        return f"Route({len(self._times)} places, {self._times[0]:g} to {self._times[-1]:g} s, {self._kind!r})"

    # ------------------------------------------------------------------------------------------------- for scenes

    def _enter(self, table: Routes, index: int, first: int, point: int) -> None:
        """Be number `index` of a scene's routes, with knots from `first` on, and lead a point of the world."""
        count = len(self._times)
        table.point[index], table.first[index], table.count[index] = point, first, count
        table.turns[index], table.repeats[index] = int(self._turns), int(self._repeat)
        table.time[first : first + count], table.cubic[first : first + count] = self._times, self._cubic

    def _describe(self, out: Any) -> dict[str, Any]:
        """What a file has of it."""
        out.array("route.times", self._times)
        out.array("route.knots", self._knots)
        return {"kind": self._kind, "repeat": self._repeat, "turns": self._turns}

    @classmethod
    def _rebuilt(cls, entry: dict[str, Any], read: Any) -> Route:
        times = read.array("route.times", (None,))
        knots = read.array("route.knots", (len(times), 7))
        places: list[Any] = [Pose(row[:3], row[3:]) for row in knots] if entry["turns"] is True else list(knots[:, :3])
        return cls(times, places, entry["kind"], repeat=entry["repeat"])


def _numbers(places: object, count: int) -> tuple[bool, FloatArray]:
    """Whether places are poses, and their positions and quaternions (n, 7), the latter on one side of the sphere."""
    listed = isinstance(places, Sequence) or (isinstance(places, np.ndarray) and places.ndim > 0)
    if not listed or len(places) != count:  # type: ignore[arg-type]
        raise InputError(f"places must be as many as there are times, {count}, got {quoted(places)}")
    given: Sequence[Any] = places  # type: ignore[assignment]
    poses = [isinstance(place, Pose) for place in given]
    if any(poses) and not all(poses):
        raise InputError("places must be all positions or all poses")
    knots = np.zeros((count, 7))
    knots[:, 3] = 1.0
    for i, place in enumerate(given):
        if isinstance(place, Pose):
            knots[i] = [*place.position, *place.quaternion]
            if i and knots[i, 3:] @ knots[i - 1, 3:] < 0.0:
                knots[i, 3:] *= -1.0
        else:
            knots[i, :3] = validation.vector(f"places[{i}]", place)
    return any(poses), knots
