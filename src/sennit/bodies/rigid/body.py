"""The rigid body: what ropes hold, hang from and carry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit import validation
from sennit.bodies.body import AbstractBody, Home
from sennit.bodies.rigid import inertia
from sennit.bodies.rigid.form import checked_form, checked_solids, shapes_of_form
from sennit.bodies.rigid.point import RigidPoint
from sennit.bodies.rigid.table import Rigids
from sennit.bodies.table import Motion
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.geometry.shape_files import described_shapes, rebuilt_shapes
from sennit.geometry.shapes import AbstractShape, checked_shapes
from sennit.given import remembers_maker
from sennit.tables import Table
from sennit.validation import FloatArray, quoted

__all__ = ["RigidBody", "RigidMatter", "checked_moments"]


@dataclass(frozen=True, eq=False)
class RigidMatter:
    """What of a rigid body can change while its scene runs."""

    mass: float
    """Its mass, kg."""
    inertia: FloatArray
    """About the centre of mass in its own axes: (3, 3), kg·m²."""


class RigidBody(AbstractBody):
    """A body that does not deform. Its frame has its origin at the centre of mass.

    Made by `box`, `sphere`, `cylinder`, `capsule`, `from_inertia` or `from_mesh`. Free rotation keeps energy and
    momentum to rounding (midpoint rule), however it tumbles.

    What it touches others with is its form; of `from_inertia`, nothing. Every maker takes `shape` instead: a `Sphere`,
    `Box`, `Cylinder`, `Capsule` or `Mesh`, or several of them, in the body's frame: their poses are measured from the
    centre of mass, along its axes. They change how it touches and what it looks like, not its mass or inertia.
    """

    _rank = 1

    def __init__(
        self, mass: float, moments: FloatArray, pose: Pose, name: str | None, form: dict[str, Any],
        shapes: tuple[AbstractShape, ...] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(name)
        inverse = _inverse(mass, moments)
        self._form = form
        self._given_shapes = shapes
        """Those that replace its form; None: none do."""
        self._own_shapes: tuple[AbstractShape, ...] | None = shapes
        """What it touches with; None: not made of its form yet."""
        self._row = Rigids(rows=1)
        """Its row of the scene's table of rigid bodies, or its own."""
        self._row.mass[0], self._row.inertia[0], self._row.inverse[0] = mass, moments.ravel(), inverse.ravel()
        self._row.quat[0] = pose.quaternion
        self._motion = Motion(dofs=6)
        self._motion.q[:3] = pose.position
        self._home = Home.of(self._motion, self._row)

    # ---------------------------------------------------------------------------------------------------- makers

    @classmethod
    @remembers_maker
    def box(
        cls, size: ArrayLike, *, mass: float | None = None, density: float | None = None,
        position: ArrayLike | None = None, pose: Pose | None = None, name: str | None = None,
        shape: AbstractShape | Sequence[AbstractShape] | None = None,
    ) -> RigidBody:  # fmt: skip
        """A box with edges `size` (3,), m, along its axes, of `mass` (kg) or `density` (kg/m³)."""
        edges = validation.array("size", size, (3,))
        return cls._of(inertia.box(edges, mass=mass, density=density), position, pose, name,
                       {"kind": "box", "size": edges.tolist()}, shape)  # fmt: skip

    @classmethod
    @remembers_maker
    def sphere(
        cls, radius: float, *, mass: float | None = None, density: float | None = None,
        position: ArrayLike | None = None, pose: Pose | None = None, name: str | None = None,
        shape: AbstractShape | Sequence[AbstractShape] | None = None,
    ) -> RigidBody:  # fmt: skip
        """A ball of `radius` (m), of `mass` (kg) or `density` (kg/m³), at `position` or `pose`."""
        return cls._of(inertia.sphere(radius, mass=mass, density=density), position, pose, name,
                       {"kind": "sphere", "radius": float(radius)}, shape)  # fmt: skip

    @classmethod
    @remembers_maker
    def cylinder(
        cls, radius: float, length: float, *, mass: float | None = None, density: float | None = None,
        position: ArrayLike | None = None, pose: Pose | None = None, name: str | None = None,
        shape: AbstractShape | Sequence[AbstractShape] | None = None,
    ) -> RigidBody:  # fmt: skip
        """A solid cylinder about its z axis, of `radius` and `length` (m)."""
        return cls._of(inertia.cylinder(radius, length, mass=mass, density=density), position, pose, name,
                       {"kind": "cylinder", "radius": float(radius), "length": float(length)}, shape)  # fmt: skip

    @classmethod
    @remembers_maker
    def capsule(
        cls, radius: float, length: float, *, mass: float | None = None, density: float | None = None,
        position: ArrayLike | None = None, pose: Pose | None = None, name: str | None = None,
        shape: AbstractShape | Sequence[AbstractShape] | None = None,
    ) -> RigidBody:  # fmt: skip
        """A solid cylinder about its z axis with round ends, of `radius` and `length` of the straight part (m)."""
        return cls._of(inertia.capsule(radius, length, mass=mass, density=density), position, pose, name,
                       {"kind": "capsule", "radius": float(radius), "length": float(length)}, shape)  # fmt: skip

    @classmethod
    @remembers_maker
    def from_inertia(
        cls, mass: float, moments: ArrayLike, *,
        position: ArrayLike | None = None, pose: Pose | None = None, name: str | None = None,
        shape: AbstractShape | Sequence[AbstractShape] | None = None,
    ) -> RigidBody:  # fmt: skip
        """A body of `mass` (kg) and inertia `moments` (3,) or (3, 3), kg·m², about its centre of mass, in its axes.

        Without `shape` it touches nothing.
        """
        tensor = checked_moments("moments", moments)
        number = validation.number("mass", mass, positive=True)
        return cls(number, tensor, _pose(position, pose), name, {"kind": "inertia"}, _checked_shape(shape))

    @classmethod
    @remembers_maker
    def from_mesh(
        cls, vertices: ArrayLike, faces: ArrayLike, *, mass: float | None = None, density: float | None = None,
        position: ArrayLike | None = None, pose: Pose | None = None, name: str | None = None,
        shape: AbstractShape | Sequence[AbstractShape] | None = None,
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
        return cls._of(properties, position, pose, name, form, shape)

    @classmethod
    def _of(
        cls, properties: inertia.MassProperties, position: ArrayLike | None, pose: Pose | None, name: str | None,
        form: dict[str, Any], shape: object,
    ) -> RigidBody:  # fmt: skip
        moments = np.array(properties.inertia)
        return cls(properties.mass, moments, _pose(position, pose), name, form, _checked_shape(shape))

    # --------------------------------------------------------------------------------------------------- reading

    def at(self, place: ArrayLike = (0.0, 0.0, 0.0)) -> RigidPoint:
        """The point at `place` (3,), m, in the body's frame, from its centre of mass."""
        return RigidPoint(self, validation.vector("place", place))

    @property
    def mass(self) -> float:
        """Its mass, kg. Can be set at any time: its inertia goes with it, velocities stay."""
        return float(self._row.mass[0])

    @mass.setter
    def mass(self, value: float) -> None:
        new = validation.number("mass", value, positive=True)
        self._become(RigidMatter(new, self.inertia * (new / self.mass)))

    @property
    def inertia(self) -> FloatArray:
        """(3, 3), kg·m², about the centre of mass in the body's frame. Can be set at any time, to (3,) moments about
        its axes or (3, 3): velocities stay.
        """
        return np.array(self._row.inertia[0].reshape(3, 3))

    @inertia.setter
    def inertia(self, value: ArrayLike) -> None:
        self._become(RigidMatter(self.mass, checked_moments("inertia", value)))

    @property
    def form(self) -> dict[str, Any]:
        """What it looks like, for pictures: kind and dimensions."""
        return dict(self._form)

    @property
    def shapes(self) -> tuple[AbstractShape, ...]:
        """What it touches others with, in its own frame (from its centre of mass): its form, or the shapes that were
        given instead. None of a body that has only an inertia.
        """
        if self._own_shapes is None:
            self._own_shapes = shapes_of_form(self._form)
        return self._own_shapes

    @property
    def position(self) -> FloatArray:
        """Centre of mass (3,), m, in the world. Can be set."""
        return np.array(self._motion.q[:3])

    @position.setter
    def position(self, value: ArrayLike) -> None:
        self._motion.q[:3] = validation.vector("position", value)
        self._touched(moved=True)

    @property
    def pose(self) -> Pose:
        """Where it is and how it is turned. Can be set; the angular velocity is kept."""
        return Pose(self.position, self._row.quat[0].copy())

    @pose.setter
    def pose(self, value: Pose) -> None:
        if not isinstance(value, Pose):
            raise InputError(f"pose must be a sennit.Pose, got {quoted(value)}")
        spin = self.angular_velocity
        self._motion.q[:3] = value.position
        self._row.quat[0] = value.quaternion
        self.angular_velocity = spin
        self._touched(moved=True)

    @property
    def velocity(self) -> FloatArray:
        """Of the centre of mass: (3,), m/s, world frame. Can be set."""
        return np.array(self._motion.v[:3])

    @velocity.setter
    def velocity(self, value: ArrayLike) -> None:
        self._motion.v[:3] = validation.vector("velocity", value)
        self._touched()

    @property
    def angular_velocity(self) -> FloatArray:
        """(3,), rad/s, world frame. Can be set."""
        return np.array(self._motion.v[3:])

    @angular_velocity.setter
    def angular_velocity(self, value: ArrayLike) -> None:
        spin = validation.vector("angular_velocity", value)
        turn = Pose((0.0, 0.0, 0.0), self._row.quat[0].copy()).rotation
        self._motion.v[3:] = spin
        self._row.spin[0] = turn @ (self.inertia @ (turn.T @ spin))
        self._touched()

    @property
    def angular_momentum(self) -> FloatArray:
        """About the centre of mass: (3,), N·m·s, world frame."""
        return np.array(self._row.spin[0])

    # ------------------------------------------------------------------------------------------------- for scenes

    @classmethod
    def _join(cls, bodies: Sequence[RigidBody]) -> dict[str, Table]:
        rigids = Rigids.joined(body._row for body in bodies)
        for i, body in enumerate(bodies):
            body._index, body._row = i, rigids.part(i, i + 1)
        return {"rigids": rigids}

    def _take_place(self, motion: Motion, home: Home, dof: int, block: int) -> int:
        super()._take_place(motion, home, dof, block)
        self._row.dof[0], self._row.block[0] = dof, block
        return block + 36

    def _leave_tables(self) -> None:
        super()._leave_tables()
        self._row = self._row.copy()
        self._home = Home.of(self._motion, self._row)

    def _own_tables(self) -> dict[str, Table]:
        return {"rigids": self._row}

    def _matter(self) -> RigidMatter:
        return RigidMatter(self.mass, self.inertia)

    def _is_of(self, matter: RigidMatter) -> bool:
        return self.mass == matter.mass and np.array_equal(self.inertia, matter.inertia)

    def _check_matter(self, matter: RigidMatter) -> None:
        with validation.in_range(f"mass and inertia of {self.name}"):
            spin = matter.inertia @ self.angular_velocity
            if not np.isfinite(_inverse(matter.mass, matter.inertia) @ spin).all():
                raise OverflowError

    def _be_of(self, matter: RigidMatter) -> None:
        row, velocity = self._row, self.angular_velocity
        row.mass[0], row.inertia[0] = matter.mass, matter.inertia.ravel()
        row.inverse[0] = _inverse(matter.mass, matter.inertia).ravel()
        turn = self.pose.rotation
        row.spin[0] = turn @ (matter.inertia @ (turn.T @ velocity))

    def _describe(self, out: Any) -> dict[str, Any]:
        out.array("inertia", self.inertia)
        given = {} if self._given_shapes is None else {"shapes": described_shapes(self._given_shapes, out)}
        return {"mass": self.mass, "form": self.form, **given}

    @classmethod
    def _rebuilt(cls, entry: dict[str, Any], read: Any) -> RigidBody:
        moments = validation.array("inertia", read.raw("inertia"), (3, 3))
        np.linalg.cholesky(moments)  # raises unless it is positive definite
        mass = validation.number("mass", entry["mass"], positive=True)
        shapes = checked_solids(rebuilt_shapes(entry["shapes"], read)) if "shapes" in entry else None
        return cls(mass, moments, Pose(), entry["name"], checked_form(entry["form"]), shapes)

    def _point_from(self, entry: dict[str, Any]) -> RigidPoint:
        return RigidPoint(self, validation.vector("place", entry["place"]))

    def _check_state(self) -> None:
        row = self._row
        with np.errstate(over="ignore"):
            norms = np.linalg.norm((row.quat[0], row.quat_last[0]), axis=1)
        if not abs(norms[0] - 1.0) < 1e-6 or not (abs(norms[1] - 1.0) < 1e-6 or norms[1] == 0.0):
            raise ValueError("the attitude of a rigid body is no rotation")
        # A spin that its inertia turns into no finite rate would enter the velocities in the first step.
        if not np.isfinite(row.inverse[0].reshape(3, 3) @ row.spin[0]).all():
            raise ValueError("a rigid body turns infinitely fast")

    def _home_table(self) -> str:
        return "rigids"

    def _extent(self) -> float:
        return 2.0 * math.sqrt(float(np.trace(self.inertia)) / (2.0 * self.mass))  # twice a mean radius of gyration

    def _weight_mass(self) -> float:
        return self.mass

    def _angles(self) -> NDArray[np.int64]:
        return np.arange(3, 6, dtype=np.int64)


def checked_moments(name: str, given: ArrayLike) -> FloatArray:
    """The inertia (3, 3) that was given as such, or as moments (3,)."""
    moments = validation.array(name, given, (3,), (3, 3))
    return inertia.check_inertia(name, np.diag(moments) if moments.ndim == 1 else moments)


def _inverse(mass: float, moments: FloatArray) -> FloatArray:
    """Of the inertia; raises `InputError` if it, or 1/mass, leaves the range of numbers."""
    with validation.in_range("mass and size of a rigid body"):
        inverse: FloatArray = np.asarray(np.linalg.inv(moments), np.float64)
        if not np.isfinite(inverse).all() or not math.isfinite(1.0 / mass):
            raise OverflowError
    return inverse


def _pose(position: ArrayLike | None, pose: Pose | None) -> Pose:
    if position is not None and pose is not None:
        raise InputError("give position or pose, not both")
    if pose is None:
        return Pose((0.0, 0.0, 0.0) if position is None else position)
    if not isinstance(pose, Pose):
        raise InputError(f"pose must be a sennit.Pose, got {quoted(pose)}")
    return pose


def _checked_shape(shape: object) -> tuple[AbstractShape, ...] | None:
    """The shapes that replace a form, if some were given."""
    return None if shape is None else checked_solids(checked_shapes("shape", shape))
