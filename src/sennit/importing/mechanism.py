"""Mechanisms: the rigid bodies and joints of robots that other programs describe, in URDF and MJCF files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import guarded
from sennit.bodies.point.point import Point
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.world import WorldPoint
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.join import Ball, Lock
from sennit.constraints.joint import Hinge, Motor, Prismatic
from sennit.constraints.place import Clamp
from sennit.contact.obstacle import Obstacle
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.importing.mujoco_model import compiled
from sennit.importing.mujoco_shapes import Geoms
from sennit.scene.scene import Scene
from sennit.validation import FloatArray, quoted

__all__ = ["Mechanism", "read_mechanism"]

_FREE, _BALL, _SLIDE, _HINGE = range(4)
"""MuJoCo's numbers for kinds of joints."""


@guarded()
class Mechanism:
    """Rigid bodies, joints between them and obstacles, made by `read_mechanism`; `add_to` puts them into a scene."""

    def __init__(
        self, name: str, bodies: dict[str, RigidBody], joints: dict[str, AbstractConstraint],
        obstacles: list[Obstacle], left_out: list[str], frames: dict[str, tuple[str | None, Pose]],
    ) -> None:  # fmt: skip
        self._name, self._bodies, self._joints, self._frames = name, bodies, joints, frames
        self._obstacles, self._left_out = tuple(obstacles), tuple(left_out)

    def __repr__(self) -> str:
        return f"<Mechanism {self._name!r}: {len(self._bodies)} bodies, {len(self._joints)} joints>"

    @property
    def name(self) -> str:
        """The model's, as the file has it."""
        return self._name

    @property
    def bodies(self) -> dict[str, RigidBody]:
        """Those that have a mass, by their names in the file."""
        return dict(self._bodies)

    @property
    def joints(self) -> dict[str, AbstractConstraint]:
        """`Hinge`, `Prismatic` and `Ball` by their names in the file; what holds a body rigidly, a `Lock` to another or
        a `Clamp` in the world, by the name of that body.
        """
        return dict(self._joints)

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What stands in the world."""
        return self._obstacles

    @property
    def left_out(self) -> tuple[str, ...]:
        """What the file has besides and nothing was made of: a line for each."""
        return self._left_out

    def at(self, link: str, place: ArrayLike = (0.0, 0.0, 0.0)) -> Point:
        """The point at `place` (3,), m, in the frame of a link as the file has it; links without a mass, such as the
        flange of a tool, are carried by the body that they are fixed to, or by the world.
        """
        if not isinstance(link, str) or link not in self._frames:
            raise InputError(f"link must be a body of {self._name!r}{_near(link, self._frames)}, got {quoted(link)}")
        carrier, frame = self._frames[link]
        there = frame @ validation.vector("place", place)
        return WorldPoint(Pose(there, frame.quaternion)) if carrier is None else self._bodies[carrier].at(there)

    def add_to(self, scene: Scene) -> Mechanism:
        """Put everything into `scene`, bodies first, and return this mechanism. All of it comes in, or nothing."""
        validation.instance("scene", scene, Scene, "a sennit.Scene")
        added: list[Any] = []
        try:
            things: list[Any] = [*self._bodies.values(), *self._joints.values(), *self._obstacles]
            for thing in things:
                scene.add(thing)
                added.append(thing)
        except BaseException:
            for thing in reversed(added):
                scene.remove(thing)
            raise
        return self


def read_mechanism(
    path: str | os.PathLike[str],
    *,
    pose: Pose | None = None,
    start: Mapping[str, float] | None = None,
    motors: Mapping[str, Motor | float] | None = None,
) -> Mechanism:
    """The mechanism in a URDF (.urdf) or MJCF (.xml) file, read by MuJoCo's compiler (``pip install
    'sennit[mechanisms]'``)::

        arm = sn.read_mechanism("arm.urdf", start={"elbow": 0.5}).add_to(scene)
        scene.add(sn.Fuse(rope.at(0), arm.at("tool0")))

    Arguments: `path`, the file's name; `pose`, where the file's world is put; `start`, where joints stand in the
    beginning, rad or m, in place of where the file has them; `motors`, what drives joints: a `Motor` or a speed, rad/s
    or m/s, by the joint's name.

    Bodies have the mass, inertia and shapes of the file, joints their axes and limits; a base that is fixed to the
    world keeps its mass, and is held by a `Clamp`. What there is nothing for in a scene (springs, friction and damping
    of joints, tendons, actuators, sensors) is listed in `Mechanism.left_out`. Gravity is the scene's own.

    Raises `InputError` with file and line for what MuJoCo refuses, for bodies with several joints, negative masses and
    names that there are not.
    """
    if pose is not None and not isinstance(pose, Pose):
        raise InputError(f"pose must be a sennit.Pose, got {quoted(pose)}")
    model, data, name = compiled(path)
    return _Reader(str(path), model, data, pose or Pose()).read(
        name, _mapping("start", start), _mapping("motors", motors)
    )


def _mapping(what: str, value: object) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return dict(value)
    raise InputError(f"{what} must map names of joints to numbers, got {quoted(value)}")


def _near(name: object, known: Mapping[str, Any]) -> str:
    near = get_close_matches(str(name), known, 1)
    return f" (did you mean {near[0]!r}?)" if near else ""


class _Reader:
    """Makes a mechanism of a compiled model."""

    def __init__(self, file: str, model: Any, data: Any, pose: Pose) -> None:
        self._file, self._model, self._data, self._pose = quoted(file), model, data, pose
        self._names = self._body_names()
        self._bodies: dict[str, RigidBody] = {}
        self._joints: dict[str, AbstractConstraint] = {}
        self._carriers: dict[int, int] = {0: 0}
        """Of each body of the model, the one with a mass that carries it; 0: the world."""
        self._left_out: list[str] = []

    def _body_names(self) -> list[str]:
        names = [self._model.body(i).name or f"body {i}" for i in range(self._model.nbody)]
        for name in names[1:]:
            if validation.label("name", name) is None or names.count(name) > 1:
                raise InputError(f"{self._file}: the body's name {quoted(name)} is no name, or there twice")
        return names

    def _joint_name(self, joint: int) -> str:
        kind = ("free", "ball", "slide", "hinge")[self._model.jnt_type[joint]]
        return self._model.joint(joint).name or f"{self._names[self._model.jnt_bodyid[joint]]} {kind}"

    def read(self, name: str, start: dict[str, Any], motors: dict[str, Any]) -> Mechanism:
        """All of it."""
        import mujoco

        model = self._model
        joints = {self._joint_name(joint): joint for joint in range(model.njnt)}
        for what, given in (("start", start), ("motors", motors)):
            for key in given:
                if key not in joints or model.jnt_type[joints[key]] not in (_SLIDE, _HINGE):
                    raise InputError(
                        f"{what} must name hinges and slides of {self._file}, got {quoted(key)}{_near(key, joints)}"
                    )
        for key, value in start.items():
            self._start(joints[key], key, value)
        mujoco.mj_kinematics(model, self._data)
        geoms = Geoms(model, self._left_out, self._names)
        for body in range(1, model.nbody):
            self._body(body, geoms)
        for body in range(1, model.nbody):
            self._hold(body, motors)
        obstacles = [Obstacle(shape.moved(self._pose), name=label) for label, shape in geoms.of_world()]
        self._look_for_the_rest()
        frames = {self._names[body]: self._frame(body) for body in range(1, model.nbody)}
        return Mechanism(name, self._bodies, self._joints, obstacles, self._left_out, frames)

    def _start(self, joint: int, name: str, value: Any) -> None:
        number = validation.number(f"start of {name!r}", value)
        low, high = self._model.jnt_range[joint]
        if self._model.jnt_limited[joint] and not low <= number <= high:
            raise InputError(f"start of {name!r} must be within its limits, {low:g} to {high:g}, got {quoted(value)}")
        self._data.qpos[self._model.jnt_qposadr[joint]] = number

    def _world(self, places: FloatArray, quaternion: FloatArray) -> Pose:
        return self._pose @ Pose(places, quaternion)

    def _body(self, body: int, geoms: Geoms) -> None:
        """Make one body; one without a mass goes with the one that it is fixed to."""
        model, name = self._model, self._names[body]
        mass = float(model.body_mass[body])
        if mass < 0.0 or model.body_inertia[body].min() < 0.0:
            raise InputError(f"{self._file}: the mass and inertia of {name!r} must not be negative, got {mass:g} kg")
        if mass == 0.0:
            if model.body_jntnum[body]:
                raise InputError(f"{self._file}: {name!r} moves, so it must have a mass")
            self._carriers[body] = self._carriers[int(model.body_parentid[body])]
            if geoms.count(body):
                self._left_out.append(f"the shapes of {name!r}, which has no mass")
            return
        self._carriers[body] = body
        turn = Pose((0.0, 0.0, 0.0), model.body_iquat[body]).rotation
        shapes = geoms.of_body(body)
        try:
            self._bodies[name] = RigidBody.from_inertia(
                mass, _symmetric(turn @ np.diag(model.body_inertia[body]) @ turn.T),
                pose=self._world(self._data.xipos[body], self._data.xquat[body]), name=name, shape=shapes or None,
            )  # fmt: skip
        except InputError as problem:
            raise InputError(f"{self._file}: {name!r}: {problem}") from None

    def _frame(self, body: int) -> tuple[str | None, Pose]:
        """The body that carries a link, None for the world, and the link's frame in that body's."""
        here, carrier = self._world(self._data.xpos[body], self._data.xquat[body]), self._carriers[body]
        if carrier == 0:
            return None, here
        return self._names[carrier], self._bodies[self._names[carrier]].pose.inverse() @ here

    def _hold(self, body: int, motors: dict[str, Any]) -> None:
        """Make what holds a body to its parent."""
        model, name = self._model, self._names[body]
        if self._carriers[body] != body:
            return
        count, joint = int(model.body_jntnum[body]), int(model.body_jntadr[body])
        if count > 1:
            raise InputError(
                f"{self._file}: {name!r} has {count} joints: give each one a body of its own, with a small mass"
            )
        parent = self._carriers[int(model.body_parentid[body])]
        own = self._bodies[name]
        if count == 0:
            key = name if name not in {self._joint_name(k) for k in range(model.njnt)} else f"{name} fixed"
            self._joints[key] = (
                Clamp(own.at(), name=key) if parent == 0 else Lock(own.at(), self._at(parent, own.position), name=key)
            )
            return
        kind, key = int(model.jnt_type[joint]), self._joint_name(joint)
        if kind == _FREE:
            return
        anchor = self._pose @ np.array(self._data.xanchor[joint])
        axis = self._pose.rotation @ self._data.xaxis[joint]
        ends = self._at(body, anchor), self._at(parent, anchor)
        try:
            if kind == _BALL:
                self._joints[key] = Ball(*ends, name=key)
                if model.jnt_limited[joint]:
                    self._left_out.append(f"the limit of the ball joint {key!r}")
            else:
                make = Hinge if kind == _HINGE else Prismatic
                self._joints[key] = make(*ends, axis, limits=self._limits(joint), motor=motors.get(key), name=key)
        except InputError as problem:
            raise InputError(f"{self._file}: {key!r}: {problem}") from None

    def _limits(self, joint: int) -> tuple[float, float] | None:
        if not self._model.jnt_limited[joint]:
            return None
        here = self._data.qpos[self._model.jnt_qposadr[joint]]
        low, high = self._model.jnt_range[joint] - here
        return float(low), float(high)

    def _at(self, body: int, place: FloatArray) -> Point:
        """A place of the world, now, on a body of the model."""
        if body == 0:
            return WorldPoint(place)
        own = self._bodies[self._names[body]]
        return own.at(own.pose.inverse() @ place)

    def _look_for_the_rest(self) -> None:
        """Say what nothing was made of."""
        model = self._model
        for joint in range(model.njnt):
            first = int(model.jnt_dofadr[joint])
            dofs = {_FREE: 6, _BALL: 3}.get(int(model.jnt_type[joint]), 1)
            for what, numbers in (("damping", model.dof_damping), ("friction", model.dof_frictionloss),
                                  ("armature", model.dof_armature)):  # fmt: skip
                if np.any(numbers[first : first + dofs]):
                    self._left_out.append(f"the {what} of the joint {self._joint_name(joint)!r}")
            if np.any(model.jnt_stiffness[joint]):
                self._left_out.append(f"the spring of the joint {self._joint_name(joint)!r}")
        for what, count in (("equality constraints (mimic joints are such)", model.neq), ("tendons", model.ntendon),
                            ("actuators", model.nu), ("sensors", model.nsensor), ("flexible bodies", model.nflex),
                            ("skins", model.nskin)):  # fmt: skip
            if count:
                self._left_out.append(f"{count} {what}")


def _symmetric(matrix: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (matrix + matrix.T))
