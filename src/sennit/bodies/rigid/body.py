"""The rigid body: what ropes hold, hang from and carry."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.body import AbstractBody
from sennit.bodies.rigid import inertia
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.point.point import RigidPoint
from sennit.validation import FloatArray, quoted

__all__ = ["RigidBody"]


class RigidBody(AbstractBody):
    """A body that does not deform. Its frame has its origin at the centre of mass.

    Made by `box`, `sphere`, `cylinder`, `from_inertia` or `from_mesh`. Free rotation keeps energy and momentum to
    rounding (midpoint rule), however it tumbles.
    """

    def __init__(self, mass: float, moments: FloatArray, pose: Pose, name: str | None, form: dict[str, Any]) -> None:
        super().__init__(name)
        self._mass = mass
        self._inertia = moments
        with validation.in_range("mass and size of a rigid body"):
            self._inverse = np.linalg.inv(moments)
            if not np.isfinite(self._inverse).all() or not math.isfinite(1.0 / mass):
                raise OverflowError
        self._form = form
        self._own(q=np.zeros(6), v=np.zeros(6), quat=np.zeros((1, 4)), spin=np.zeros((1, 3)))
        self._arrays["q"][:3] = pose.position
        self._arrays["quat"][0] = pose.quaternion

    # ---------------------------------------------------------------------------------------------------- makers

    @classmethod
    def box(
        cls, size: ArrayLike, *, mass: float | None = None, density: float | None = None,
        position: ArrayLike | None = None, pose: Pose | None = None, name: str | None = None,
    ) -> RigidBody:  # fmt: skip
        """A box with edges `size` (3,), m, along its axes, of `mass` (kg) or `density` (kg/m³)."""
        edges = validation.array("size", size, (3,))
        return cls._of(inertia.box(edges, mass=mass, density=density), position, pose, name,
                       {"kind": "box", "size": edges.tolist()})  # fmt: skip

    @classmethod
    def sphere(
        cls, radius: float, *, mass: float | None = None, density: float | None = None,
        position: ArrayLike | None = None, pose: Pose | None = None, name: str | None = None,
    ) -> RigidBody:  # fmt: skip
        """A ball of `radius` (m), of `mass` (kg) or `density` (kg/m³), at `position` or `pose`."""
        return cls._of(inertia.sphere(radius, mass=mass, density=density), position, pose, name,
                       {"kind": "sphere", "radius": float(radius)})  # fmt: skip

    @classmethod
    def cylinder(
        cls, radius: float, length: float, *, mass: float | None = None, density: float | None = None,
        position: ArrayLike | None = None, pose: Pose | None = None, name: str | None = None,
    ) -> RigidBody:  # fmt: skip
        """A solid cylinder about its z axis, of `radius` and `length` (m)."""
        return cls._of(inertia.cylinder(radius, length, mass=mass, density=density), position, pose, name,
                       {"kind": "cylinder", "radius": float(radius), "length": float(length)})  # fmt: skip

    @classmethod
    def from_inertia(
        cls, mass: float, moments: ArrayLike, *,
        position: ArrayLike | None = None, pose: Pose | None = None, name: str | None = None,
    ) -> RigidBody:  # fmt: skip
        """A body of `mass` (kg) and inertia `moments` (3,) or (3, 3), kg·m², about its centre of mass, in its axes."""
        given = validation.array("moments", moments, (3,), (3, 3))
        tensor = inertia.check_inertia("moments", np.diag(given) if given.ndim == 1 else given)
        number = validation.number("mass", mass, positive=True)
        return cls(number, tensor, _pose(position, pose), name, {"kind": "inertia"})

    @classmethod
    def from_mesh(
        cls, vertices: ArrayLike, faces: ArrayLike, *, mass: float | None = None, density: float | None = None,
        position: ArrayLike | None = None, pose: Pose | None = None, name: str | None = None,
    ) -> RigidBody:  # fmt: skip
        """The solid inside a closed triangle mesh: `vertices` (n, 3), m, and `faces` (k, 3), wound outwards.

        Its origin moves to the centre of mass: `at` measures from there. Without `position` and `pose` it stays where
        the vertices are.
        """
        properties = inertia.mesh(vertices, faces, mass=mass, density=density)
        points = validation.array("vertices", vertices, (None, 3)) - properties.centre
        if position is None and pose is None:
            position = properties.centre
        form = {"kind": "mesh", "vertices": points.tolist(), "faces": np.asarray(faces).tolist()}
        return cls._of(properties, position, pose, name, form)

    @classmethod
    def _of(
        cls, properties: inertia.MassProperties, position: ArrayLike | None, pose: Pose | None, name: str | None,
        form: dict[str, Any],
    ) -> RigidBody:  # fmt: skip
        return cls(properties.mass, np.array(properties.inertia), _pose(position, pose), name, form)

    # --------------------------------------------------------------------------------------------------- reading

    def at(self, place: ArrayLike = (0.0, 0.0, 0.0)) -> RigidPoint:
        """The point at `place` (3,), m, in the body's frame, from its centre of mass."""
        return RigidPoint(self, validation.vector("place", place))

    @property
    def mass(self) -> float:
        """Kg."""
        return self._mass

    @property
    def inertia(self) -> FloatArray:
        """(3, 3), kg·m², about the centre of mass in the body's frame."""
        return np.array(self._inertia, dtype=np.float64)

    @property
    def form(self) -> dict[str, Any]:
        """What it looks like, for pictures: kind and dimensions."""
        return dict(self._form)

    @property
    def position(self) -> FloatArray:
        """Centre of mass (3,), m, in the world. Can be set."""
        return self._arrays["q"][:3].copy()

    @position.setter
    def position(self, value: ArrayLike) -> None:
        self._arrays["q"][:3] = validation.vector("position", value)
        self._touched(moved=True)

    @property
    def pose(self) -> Pose:
        """Where it is and how it is turned. Can be set; the angular velocity is kept."""
        return Pose(self.position, self._arrays["quat"][0].copy())

    @pose.setter
    def pose(self, value: Pose) -> None:
        if not isinstance(value, Pose):
            raise InputError(f"pose must be a sennit.Pose, got {quoted(value)}")
        spin = self.angular_velocity
        self._arrays["q"][:3] = value.position
        self._arrays["quat"][0] = value.quaternion
        self.angular_velocity = spin
        self._touched(moved=True)

    @property
    def velocity(self) -> FloatArray:
        """Of the centre of mass: (3,), m/s, world frame. Can be set."""
        return self._arrays["v"][:3].copy()

    @velocity.setter
    def velocity(self, value: ArrayLike) -> None:
        self._arrays["v"][:3] = validation.vector("velocity", value)
        self._touched()

    @property
    def angular_velocity(self) -> FloatArray:
        """(3,), rad/s, world frame. Can be set."""
        return self._arrays["v"][3:].copy()

    @angular_velocity.setter
    def angular_velocity(self, value: ArrayLike) -> None:
        spin = validation.vector("angular_velocity", value)
        turn = Pose((0.0, 0.0, 0.0), self._arrays["quat"][0].copy()).rotation
        self._arrays["v"][3:] = spin
        self._arrays["spin"][0] = turn @ (self._inertia @ (turn.T @ spin))
        self._touched()

    @property
    def angular_momentum(self) -> FloatArray:
        """About the centre of mass: (3,), N·m·s, world frame."""
        return np.array(self._arrays["spin"][0])


def _pose(position: ArrayLike | None, pose: Pose | None) -> Pose:
    if position is not None and pose is not None:
        raise InputError("give position or pose, not both")
    if pose is None:
        return Pose((0.0, 0.0, 0.0) if position is None else position)
    if not isinstance(pose, Pose):
        raise InputError(f"pose must be a sennit.Pose, got {quoted(pose)}")
    return pose
