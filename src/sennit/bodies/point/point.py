"""What a point of any body offers: where it is, how it is turned, how fast it moves, and its Jacobian."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sennit.attributes import guarded
from sennit.bodies.kernels.points import WIDTH, add_wrench, dof_of, evaluate_point, point_rates
from sennit.bodies.point.table import Frames, Places, Points
from sennit.geometry.pose import Pose
from sennit.sending import Placed
from sennit.tables import PARAMETER, STATE
from sennit.validation import FloatArray

__all__ = ["Point"]


@guarded()
class Point(Placed):
    """A place on a body: made by ``body.at(...)``. It moves with the body.

    A constraint or a load that uses it keeps its frame exact over any motion; a point that is only read takes its roll
    from the integration point nearest to it.
    """

    _kind: ClassVar[int]
    """Kind of the point, see `bodies.kernels.points`."""

    def __init__(self, body: Any) -> None:
        self._body = body
        self._row = Points(rows=1)
        """Its row of the scene's table of points, or its own."""
        self._frames = Frames(rows=1)
        self._row.kind[0] = self._kind
        self._row.slide[0] = -1
        self._index = -1
        """Number in the scene's table of points; -1 while no constraint uses it."""
        self._room: Places | None = None
        """Where its position is written when it is asked for; made then, and kept."""

    @property
    def body(self) -> Any:
        """The body that it belongs to; None for a point of the world."""
        return self._body

    @property
    def has_frame(self) -> bool:
        """Whether a constraint can hold its full rotation.

        A slider's point has a tangent, but no roll of its own; a zone's has a rotation if it was given a radius.
        """
        return True

    @property
    def has_direction(self) -> bool:
        """Whether a constraint can hold its direction d3."""
        return True

    @property
    def position(self) -> FloatArray:
        """Where it is: (3,), m, world frame."""
        return np.array(self._placed(framed=False).position[0])

    @property
    def frame(self) -> FloatArray:
        """(3, 3): columns d1, d2, d3; on a rod d3 is the tangent, on a rigid body they are its axes."""
        return np.array(self._placed().frame[0].reshape(3, 3))

    @property
    def pose(self) -> Pose:
        """Position and frame."""
        return Pose.from_rotation(self.position, self.frame)

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
        dofs = np.array([dof_of(0, entry, self._row) for entry in range(WIDTH)])
        used = dofs >= 0
        matrix = np.zeros((6, WIDTH))
        size = int(dofs.max(initial=-1)) + 1
        for row in range(6):
            wrench = np.zeros(6)
            wrench[row] = 1.0
            force = np.zeros(size)
            add_wrench(0, tuple(wrench[:3]), tuple(wrench[3:]), 1.0, self._row, placed, np.zeros(WIDTH), force)
            matrix[row, used] = force[dofs[used]]
        return dofs[used], matrix[:, used]

    # ------------------------------------------------------------------------------------------------- for scenes

    def _number(self) -> None:
        """Take over where the body's degrees of freedom and its part of the matrix begin."""
        body, row = self._body, self._row
        row.body[0], row.base[0], row.block[0] = body._index, body._dof0, body._block0

    def _enter(self, index: int, points: Points, frames: Frames) -> None:
        """Be number `index` of a scene's points: its tables take the point's numbers over."""
        points.part(index, index + 1).fill(self._row)
        frames.part(index, index + 1).fill(self._frames)
        self._index, self._row, self._frames = index, points.part(index, index + 1), frames.part(index, index + 1)

    def _scene_place(self) -> Any:
        """Its place in the scene of its body, if it has one there (see `sending`)."""
        scene = None if self._body is None or self._index < 0 else self._body._scene
        return None if scene is None else scene._place_of(self)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_index": -1}  # its part of a table goes as a table of its own

    def _leave_tables(self) -> None:
        """No constraint uses it any more: it keeps its own numbers."""
        self._index = -1
        self._row, self._frames = self._row.copy(), self._frames.copy()

    def _refresh(self) -> None:
        """Bring what a point that no scene keeps must look up for itself up to date."""
        self._number()

    def _placed(self, framed: bool = True) -> Places:
        """Where it is now; `framed`: with its frame, which a point that no scene keeps must look up."""
        if self._index < 0:
            if framed:
                self._refresh()
            else:
                self._number()
        if framed:
            placed = Places(rows=1)
        else:
            placed = self._room = self._room or Places(rows=1)
        home = self._where()
        evaluate_point(0, self._row, self._frames, home.q, home.quat, placed)
        return placed

    def _rates(self) -> FloatArray:
        rates = np.zeros(6)
        point_rates(0, self._row, self._placed(), self._where().v, rates)
        return rates

    def _seat(self) -> Any:
        """What it lies on and where, as far as that can change when something is cut; None: it can't."""
        return None

    def _sit(self, seat: Any) -> None:
        """Lie where `_seat` told."""

    def _where(self) -> Any:
        """The arrays that the point's degrees of freedom are numbered in."""
        return self._body._home

    def _state_arrays(self) -> dict[str, Any]:
        """The arrays that hold its part of a scene's state, by name.

        A world point is where it was put; the places of others follow from their bodies.
        """
        return {**self._row.fields(PARAMETER, STATE), **self._frames.fields(STATE)}

    def _describe(self) -> dict[str, Any]:
        """What a file has of it besides its body."""
        return {}

    def _may_be_infinite(self, name: str) -> bool:
        """Whether infinity has a meaning in an array of its state."""
        return False

    def _check_state(self) -> None:
        """Any finite numbers are a state of it."""

    def _beginning(self) -> dict[str, Any]:
        """What `reset` takes instead of the numbers of its first state: nothing."""
        return {}

    def _carry(self) -> None:
        """The body was put elsewhere: carry what the point remembers of its frame along."""

    def _can_carry(self) -> bool:
        """Whether a zone can ride on it."""
        return False

    def _rod(self) -> Any:
        """The rod that it lies on, or None."""
        return None

    def _is_rigid(self) -> bool:
        """Whether all points of its body move as one."""
        return False

    def _crowding(self) -> Any:
        """What tells ties nearby on its body: equal for points that share the mass there."""
        return 0

    def _extent(self) -> float:
        """What a step's miss of it is small against, m; 0 for one of the world."""
        return 0.0 if self.body is None else float(self._body._extent())

    def _mass_felt(self, near: int, whole: int) -> float:
        """Mass (kg) that one of the ties at it may reckon with, of `near` nearby and `whole` on the body."""
        return 0.0
