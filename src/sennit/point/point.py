"""What a point of any body offers: where it is, how it is turned, how fast it moves, and its Jacobian."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit import validation
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.point.kernels.points import (
    BASE,
    BLOCK,
    BODY,
    CARRIER,
    CARRIER_AT,
    CARRIER_DOF,
    COUNT,
    FIRST,
    FRAME,
    KIND,
    LOCAL,
    PLACE,
    POINT_FLOATS,
    POINT_INTS,
    POINT_PLACE,
    POINT_STATE,
    RIGID,
    ROD,
    ROW_LENGTH,
    SLIDE,
    SLIDER,
    SLOTS,
    WIDTH,
    WORLD,
    ZONE,
    R,
    X,
    accept_point,
    add_wrench,
    dof_of,
    evaluate_point,
    point_rates,
)  # fmt: skip
from sennit.validation import FloatArray

__all__ = ["Point", "RigidPoint", "RodPoint", "SliderPoint", "WorldPoint", "ZonePoint"]


class Point:
    """A place on a body: made by ``body.at(...)``. It moves with the body.

    A constraint or a load that uses it keeps its frame exact over any motion; a point that is only read takes its roll
    from the integration point nearest to it.
    """

    def __init__(self, body: Any, kind: int) -> None:
        self._body = body
        self._ints = np.zeros((1, POINT_INTS), np.int64)
        self._floats = np.zeros((1, POINT_FLOATS))
        self._state = np.zeros((1, POINT_STATE))
        self._ints[0, KIND] = kind
        self._ints[0, SLIDE] = -1
        self._index = -1
        """Number in the scene's table of points; -1 while no constraint uses it."""

    @property
    def body(self) -> Any:
        """The body that it belongs to; None for a point of the world."""
        return self._body

    @property
    def has_frame(self) -> bool:
        """Whether a constraint can hold its full rotation.

        A slider's point has a tangent, but no roll of its own; a zone's has a rotation if it was given a radius.
        """
        return bool(self._ints[0, KIND] != SLIDER)

    @property
    def has_direction(self) -> bool:
        """Whether a constraint can hold its direction d3."""
        return True

    @property
    def position(self) -> FloatArray:
        """Where it is: (3,), m, world frame."""
        return self._placed()[0, X : X + 3].copy()

    @property
    def frame(self) -> FloatArray:
        """(3, 3): columns d1, d2, d3; on a rod d3 is the tangent, on a rigid body they are its axes."""
        return self._placed()[0, R : R + 9].reshape(3, 3).copy()

    @property
    def pose(self) -> Pose:
        """Position and frame."""
        return Pose.from_rotation(self.position, self.frame)

    def placed(self) -> FloatArray:
        """Position and frame in one row, (POINT_PLACE,): the columns X and R of `point.kernels.points`."""
        return np.asarray(self._placed()[0])

    @property
    def velocity(self) -> FloatArray:
        """(3,), m/s, world frame."""
        return self._rates()[:3]

    @property
    def angular_velocity(self) -> FloatArray:
        """(3,), rad/s, world frame: of the section of a rod, of a rigid body, of a slider's tangent."""
        return self._rates()[3:]

    def jacobian(self) -> tuple[NDArray[np.int64], FloatArray]:
        """Degrees of freedom (k,) that move the point, and J (6, k): (velocity, angular velocity) = J · their rates.

        Degrees of freedom are numbered in the scene, or in the body while it is in none.
        """
        placed = self._placed()
        dofs = np.array([dof_of(0, entry, self._ints) for entry in range(WIDTH)])
        used = dofs >= 0
        matrix = np.zeros((6, WIDTH))
        size = int(dofs.max(initial=-1)) + 1
        for row in range(6):
            wrench = np.zeros(6)
            wrench[row] = 1.0
            force = np.zeros(size)
            add_wrench(
                0, tuple(wrench[:3]), tuple(wrench[3:]), 1.0, self._ints, self._floats, placed, np.zeros(WIDTH), force
            )
            matrix[row, used] = force[dofs[used]]
        return dofs[used], matrix[:, used]

    def _number(self) -> None:
        """Take over where the body's degrees of freedom and its part of the matrix begin."""
        body, ints = self._body, self._ints
        if body is not None:
            ints[0, BODY], ints[0, BASE], ints[0, BLOCK] = body._index, body._dof0, body._block0

    def _leave_tables(self) -> None:
        """No constraint uses it any more: it keeps its own numbers."""
        self._index = -1
        self._ints, self._floats, self._state = self._ints.copy(), self._floats.copy(), self._state.copy()

    def _refresh(self) -> None:
        """Bring what a point that no scene keeps must look up for itself up to date."""
        self._number()

    def _placed(self) -> FloatArray:
        if self._index < 0:
            self._refresh()
        placed = np.zeros((1, POINT_PLACE))
        home = self._arrays()
        evaluate_point(0, self._ints, self._floats, self._state, home["q"], home["quat"], placed)
        return placed

    def _rates(self) -> FloatArray:
        rates = np.zeros(6)
        placed = self._placed()
        point_rates(0, self._ints, self._floats, placed, self._arrays()["v"], rates)
        return rates

    def _arrays(self) -> dict[str, FloatArray]:
        """The arrays that the point's degrees of freedom are numbered in."""
        return _NOWHERE if self._body is None else self._body._home


_NOWHERE = {"q": np.zeros(0), "v": np.zeros(0), "quat": np.zeros((0, 4))}


class WorldPoint(Point):
    """A place that a person or a script moves: set `position` (m), or `pose` where a constraint holds a rotation."""

    def __init__(self, place: ArrayLike | Pose) -> None:
        super().__init__(None, WORLD)
        self._set(place)

    def _set(self, place: ArrayLike | Pose) -> None:
        if isinstance(place, Pose):
            self._floats[0, PLACE : PLACE + 3] = place.position
            self._floats[0, FRAME : FRAME + 9] = place.rotation.ravel()
        else:
            position = validation.vector("position", place)
            self._floats[0, PLACE : PLACE + 3] = position
            if not self._floats[0, FRAME : FRAME + 9].any():
                self._floats[0, FRAME : FRAME + 9] = np.eye(3).ravel()
        if self._index < 0:
            self._state[0] = self._floats[0, :12]  # no scene has seen it elsewhere

    @property
    def position(self) -> FloatArray:
        """Where it is: (3,), m. Set it to move it; what it holds is there at the end of the next step."""
        return self._floats[0, PLACE : PLACE + 3].copy()

    @position.setter
    def position(self, value: ArrayLike | Pose) -> None:
        self._set(value)

    @property
    def pose(self) -> Pose:
        """Position and frame; set it to move and turn it."""
        return Pose.from_rotation(self.position, self._floats[0, FRAME : FRAME + 9].reshape(3, 3))

    @pose.setter
    def pose(self, value: Pose) -> None:
        if not isinstance(value, Pose):
            raise InputError(f"pose must be a sennit.Pose, got {validation.quoted(value)}")
        self._set(value)

    def __repr__(self) -> str:
        x, y, z = self.position.tolist()
        return f"<World.at(({x:g}, {y:g}, {z:g}))>"


class RodPoint(Point):
    """A place at the rest length `s` (m) of a rod."""

    def __init__(self, rod: Any, s: float) -> None:
        super().__init__(rod, ROD)
        self.s = s
        first, values = rod._basis_at(s)
        self._ints[0, FIRST], self._ints[0, COUNT] = first, rod._tables.n
        self._floats[0, :16] = values

    def _refresh(self) -> None:
        self._number()
        self._state[0, :6] = self._body._reference_at(self.s)

    def _carry(self) -> None:
        """The rod was laid elsewhere: carry the frame along, or begin afresh where it was turned right round."""
        placed = self._placed()
        if self._state[0, :3] @ placed[0, [R + 2, R + 5, R + 8]] < -0.99:
            self._state[0, :6] = self._body._reference_at(self.s)
        else:
            accept_point(0, self._ints, self._floats, self._state, self._arrays()["q"], placed)

    def __repr__(self) -> str:
        return f"<{self._body.name}.at({self.s:g})>"


class RigidPoint(Point):
    """A place of a rigid body, in its frame (m)."""

    def __init__(self, body: Any, place: FloatArray) -> None:
        super().__init__(body, RIGID)
        self._floats[0, LOCAL : LOCAL + 3] = place

    @property
    def local(self) -> FloatArray:
        """Where it is in the body's frame: (3,), m."""
        return self._floats[0, LOCAL : LOCAL + 3].copy()

    def __repr__(self) -> str:
        x, y, z = self._floats[0, LOCAL : LOCAL + 3].tolist()
        return f"<{self._body.name}.at(({x:g}, {y:g}, {z:g}))>"


class SliderPoint(Point):
    """The place of a slider on its rod; it moves with the rod and along it."""

    def __init__(self, slider: Any) -> None:
        super().__init__(slider, SLIDER)
        self._ints[0, COUNT] = slider.rod._tables.n

    def _number(self) -> None:
        slider, ints = self._body, self._ints
        rod = slider.rod
        ints[0, BODY], ints[0, BASE], ints[0, BLOCK] = slider._index, rod._dof0, rod._block0
        ints[0, SLIDE], ints[0, SLOTS] = slider._dof0, slider._block0
        if slider._home is not rod._home:
            ints[0, SLIDE] = len(rod._home["q"])

    def _arrays(self) -> dict[str, FloatArray]:
        slider = self._body
        if slider._home is slider.rod._home:
            return dict(slider._home)
        # Not yet in the same tables: the rod's numbers, and the slider's own behind them.
        home = dict(slider.rod._home)
        for group in ("q", "v"):
            home[group] = np.concatenate((home[group], slider._arrays[group]))
        return home

    def _refresh(self) -> None:
        self._body._settle_point()

    def __repr__(self) -> str:
        return f"<{self._body.name}.at()>"


class ZonePoint(Point):
    """A place of a zone's surface, made by ``zone.at(...)``: the mean of some vertices.

    d3 of its frame is the outward normal. Without a radius it turns with the zone's frame only, and no constraint can
    hold its direction; with one it is a patch, which turns with the surface too.
    """

    def __init__(
        self, zone: Any, place: FloatArray, frame: FloatArray, vertices: NDArray[np.int64], weights: FloatArray,
        given: dict[str, Any],
    ) -> None:  # fmt: skip
        super().__init__(zone, ZONE)
        self._place, self._vertices, self._weights = place, vertices, weights
        """Where it is at rest in the zone's frame; its numbers are Σ weights (k, 3 or 6, 3) · displacements (k, 3)."""
        self._given = given
        """What `at` was called with."""
        self._ints[0, COUNT] = weights.shape[1]
        self._floats[0, FRAME : FRAME + 9] = frame.ravel()

    @property
    def has_frame(self) -> bool:
        """Whether it has a radius."""
        return bool(self._ints[0, COUNT] == 6)

    @property
    def has_direction(self) -> bool:
        """Whether it has a radius."""
        return self.has_frame

    @property
    def radius(self) -> float | None:
        """Of the patch, m; None for a bare place."""
        radius: float | None = self._given["radius"]
        return radius

    def _key(self) -> tuple[Any, ...]:
        """Equal for points that are the same place: they share their numbers."""
        return self._place.tobytes(), self._vertices.tobytes(), self._weights.tobytes()

    def _number(self) -> None:
        zone, ints = self._body, self._ints
        on = zone._on
        offset, size = zone._slot_of(self)
        ints[0, BODY], ints[0, BASE], ints[0, ROW_LENGTH] = zone._index, zone._dof0 + offset, size
        ints[0, BLOCK] = zone._block0 + offset * (size + 1)
        place = self._place
        if on.body is None:
            ints[0, CARRIER], ints[0, CARRIER_DOF], ints[0, CARRIER_AT] = -1, -1, on._index
        else:
            body = on.body
            ints[0, CARRIER], ints[0, CARRIER_DOF], ints[0, CARRIER_AT] = body._index, body._dof0, body._block0
            place = place + on._floats[0, LOCAL : LOCAL + 3]
        self._floats[0, PLACE : PLACE + 3] = place

    def _refresh(self) -> None:
        """A point that no scene keeps has its numbers behind those of its carrier."""
        self._number()
        if self._index < 0:
            self._ints[0, BASE] = len(self._carrier_arrays()["q"])

    def _carrier_arrays(self) -> dict[str, FloatArray]:
        on = self._body._on
        return _NOWHERE if on.body is None else on.body._home

    def _arrays(self) -> dict[str, FloatArray]:
        if self._index >= 0:
            home: dict[str, FloatArray] = self._body._home
            return home
        home = dict(self._carrier_arrays())
        for group, numbers in zip(("q", "v"), self._body._numbers_of(self), strict=True):
            home[group] = np.concatenate((home[group], numbers))
        return home

    def _placed(self) -> FloatArray:
        if self._index < 0:
            self._refresh()
        # The kernel looks a carrier of the world up in the same table: it stands behind the point here.
        ints, floats, placed = (
            np.repeat(self._ints, 2, axis=0),
            np.repeat(self._floats, 2, axis=0),
            np.zeros((2, POINT_PLACE)),
        )
        ints[0, CARRIER_AT] = 1
        floats[1] = self._body._on._floats[0]
        home = self._arrays()
        evaluate_point(0, ints, floats, np.repeat(self._state, 2, axis=0), home["q"], home["quat"], placed)
        return placed[:1]

    def __repr__(self) -> str:
        place = self._given["place"]
        text = str(place) if isinstance(place, int) else f"({', '.join(f'{x:g}' for x in self._place)})"
        return f"<{self._body.name}.at({text})>"
