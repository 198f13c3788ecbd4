"""The finger on a page: joints that bend, a ball that is pushed into it, skin that is pulled.

A chain of zones is in equilibrium at all times; a step is a solve. The ball presses with friction; where the mouse has
the skin, joints follow it and the skin gives way, and the ball is felt only in so far as the finger reaches it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import sennit as sn
from sennit import validation
from sennit.controls import Control, Dashboard
from sennit.demos.finger import BALL, BALL_RADIUS, FRICTION, Model, hand_pose, path, probed_place
from sennit.demos.finger_skin import FLESH, NAIL, Cover, bone, knuckle, probe, stand
from sennit.demos.props import solid
from sennit.errors import InputError
from sennit.export.facets import circle, loft
from sennit.live.play import Handle, Place, Tie
from sennit.portrait.cast import Portrait
from sennit.portrait.parts import SolidView, Surface, SurfaceView
from sennit.validation import FloatArray

__all__ = ["FingerPlay"]

PERIOD = 14.0  # s: of the script
LIMITS = ((-35.0, 20.0), (0.0, 80.0), (0.0, 60.0))
"""Of the three joints, degrees."""
JOINTS = ("knuckle", "middle joint", "last joint")
TURNING, MOVING = math.radians(150.0), 0.10  # rad/s and m/s: as fast as joints and ball go
STRETCH = 4e-3  # m: how far skin is pulled off its place; joints follow beyond
STRONGEST = 6.0  # N: no harder is the ball pressed
NEAR = 2.5e-3  # m: farther away than that the ball is not asked for
ARROW = 0.014  # m/N
STEADY = 8e-3  # m: how stiffly joints resist being led by the skin
_SLOWER, _FASTER, _SLOWEST = 0.4, 1.5, 0.02  # how the part of a motion changes that is tried
_RED = (196, 40, 44)
_SKIN, _BONES, _BALL = 0, (2, 3, 4), 6  # numbers of the parts that can be taken


@dataclass(slots=True)
class _Taken:
    """What the mouse has: the ball, or a place of a bone's frame."""

    bone: int | None
    """Its number; None for the ball."""
    place: FloatArray
    """(3,), m, when it was taken: in the bone's frame, or from the ball's centre."""
    vertex: int | None
    """Of the pad, where the skin was taken."""
    hand: FloatArray
    """Where the mouse is, (3,), m."""


class FingerPlay(Dashboard):
    """The finger with its ball, as a page runs it."""

    title = "Finger"
    dt, time_scale = 0.02, 1.0
    ground: float | None = 0.0

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model
        self.camera: tuple[FloatArray, FloatArray] | None = (
            np.array((0.075, -0.155, 0.085)), np.array((0.046, 0.0, 0.040))
        )  # fmt: skip
        self.friction = FRICTION
        self.cover = Cover(model.finger)
        self._sliders: list[Control] = []
        self._furnish()
        self._portrait = self._made()
        self._first: Any = None
        self._begin()
        self._first = self._kept()

    def _begin(self) -> None:
        self._time = self._clock = 0.0
        self.scripted = True
        self.trouble = ""
        """Why the finger does not follow; empty while it does."""
        self.angles, self._depth, self._slid = path(0.0)
        """Of the three joints, rad, (3,)."""
        self._asked = self.angles.copy()
        self.ball = BALL.copy()
        """Centre of the ball, (3,), m."""
        self._asked_ball = BALL.copy()
        self._taken: _Taken | None = None
        self._share = 1.0
        self.state: Any = None
        """The equilibrium that is seen: a `ChainState`, or one of a press or of a touch."""
        if self._first is None:
            self._solved(self.angles, self.ball)
        else:
            self.state, self.positions, self.pressures, self.moved, self.poses = self._first
        self._follow()

    def _kept(self) -> tuple[Any, ...]:
        return self.state, self.positions, self.pressures, self.moved, self.poses

    # ----------------------------------------------------------------------------------------------- what is declared

    def _furnish(self) -> None:
        for k, (name, (low, high)) in enumerate(zip(JOINTS, LIMITS, strict=True)):
            start = float(np.degrees(path(0.0)[0][k]))
            self._sliders.append(self.control(name, self._bender(k), start, range=(low, high), unit="deg"))
        self.control("friction", self._rub, FRICTION, range=(0.0, 1.5))
        self._pilot = self.control("by itself", self._let, True)
        self.watch("force on the ball", lambda: float(np.linalg.norm(self.ball_force)), "N")
        self.watch("largest pressure", lambda: 1e-3 * max(float(p.max()) for p in self.pressures), "kPa")
        self.watch("force of probe or hand", lambda: float(np.linalg.norm(self.probe_force)), "N")
        self.watch("largest displacement", lambda: 1e3 * max(float(m.max()) for m in self.moved), "mm")

    def _bender(self, joint: int) -> Callable[[float], None]:
        def bend(degrees: float) -> None:
            self.take_over()
            self._asked[joint] = math.radians(degrees)

        return bend

    def _rub(self, coefficient: float) -> None:
        self.friction = coefficient

    def _let(self, on: bool) -> None:
        if on:
            self.release()
            self.scripted, self._asked_ball = True, BALL.copy()
        else:
            self.take_over()

    def take_over(self) -> None:
        """Stop the script where it is."""
        if self.scripted:
            self.scripted, self._depth = False, 0.0
            self._asked, self._asked_ball = self.angles.copy(), self.ball.copy()
            self._pilot.value = False

    def move_ball(self, pose: sn.Pose) -> None:
        """Ask for a place of the ball's centre."""
        self.take_over()
        self._asked_ball = pose.position.copy()

    def _follow(self) -> None:
        """Sliders show what is."""
        self._pilot.value = self.scripted
        if self.scripted or self._taken is not None:
            for slider, angle, (low, high) in zip(self._sliders, self.angles, LIMITS, strict=True):
                slider.value = min(max(math.degrees(float(angle)), low), high)

    # --------------------------------------------------------------------------------------------------- what is read

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._time

    @property
    def spell(self) -> None:
        """None: it has no steps in time."""

    @property
    def portrait(self) -> Portrait:
        """Skin, nail, bones, clamp, ball, probe and the force on the ball."""
        return self._portrait

    @property
    def handles(self) -> Sequence[Handle]:
        """The ball."""
        return (Handle("ball", False, lambda: sn.Pose(self._asked_ball), self.move_ball),)

    @property
    def ties(self) -> Sequence[Tie]:
        """None."""
        return ()

    @property
    def gravity(self) -> FloatArray | None:
        """None: the weight of flesh is in its shape at rest."""
        return None

    @property
    def holding(self) -> bool:
        """Whether something is grabbed."""
        return self._taken is not None

    @property
    def grip(self) -> tuple[FloatArray, FloatArray]:
        """Where the hand is, and where the place that it holds is: (3,) each, m."""
        assert self._taken is not None
        return self._taken.hand.copy(), self._place(self._taken)

    def _place(self, taken: _Taken) -> FloatArray:
        if taken.bone is None:
            return self.ball + taken.place
        if taken.vertex is not None:
            return np.array(self.positions[taken.bone][taken.vertex])
        return np.asarray(self.poses[taken.bone] @ taken.place)

    @property
    def ball_force(self) -> FloatArray:
        """What the ball does to the finger, (3,), N."""
        return np.asarray(self.state.force) if hasattr(self.state, "contact_forces") else np.zeros(3)

    @property
    def probe_force(self) -> FloatArray:
        """What the probe, or the hand that has the skin, does to the finger, (3,), N, in the world."""
        if not hasattr(self.state, "probe"):
            return np.zeros(3)
        return np.asarray(self.state.poses[self.state.zone].rotation @ self.state.force)

    # --------------------------------------------------------------------------------------------------------- in time

    def step(self) -> None:
        """Move joints and ball by what `dt` allows; solve."""
        self._time += self.dt
        if self.scripted:
            self._clock += self._share * self.dt
            self._asked, self._depth, self._slid = path((self._clock / PERIOD) % 1.0)
        elif self._taken is not None and self._taken.bone is not None:
            self._lead(self._taken, self._taken.bone)
        most, far = self._share * TURNING * self.dt, self._share * MOVING * self.dt
        angles = self.angles + np.clip(self._asked - self.angles, -most, most)
        way = self._asked_ball - self.ball
        distance = float(np.linalg.norm(way))
        ball = self._asked_ball.copy() if distance <= far else self.ball + way * (far / distance)
        if self._solved(angles, ball):
            self._share = min(1.0, _FASTER * self._share)
            self.trouble = ""
        else:
            self._share = max(_SLOWEST, _SLOWER * self._share)
            self.trouble = "the ball is as deep in the finger as it can be: go back a little"
        self._follow()

    def _lead(self, taken: _Taken, number: int) -> None:
        """Ask for joints that bring what the mouse has nearer to it: damped least squares."""
        where = self.poses[number] @ taken.place
        away = taken.hand - where
        axis = np.array((0.0, 1.0, 0.0))
        arms = np.zeros((3, 3))
        for k in range(number + 1):
            arms[:, k] = np.cross(axis, where - self.poses[k].position)
        change = np.linalg.solve(arms.T @ arms + STEADY**2 * np.eye(3), arms.T @ away)
        low, high = np.radians(LIMITS).T
        self._asked = np.clip(self.angles + change, low, high)

    def _solved(self, angles: FloatArray, ball: FloatArray) -> bool:
        """Whether there is an equilibrium there; it is taken if so."""
        poses = self.model.finger.poses(angles[1:], hand_pose(float(angles[0])))
        state = self._pressed(poses, ball) or self._touched(poses) or self.model.chain.solve(poses)
        if state is _NOTHING:
            return False
        self.state, self.poses, self.angles, self.ball = state, poses, angles, ball
        self.positions = state.positions(single=True)
        self.moved = []
        for pad, pose, places in zip(self.model.finger.pads, poses, self.positions, strict=True):
            self.moved.append(np.linalg.norm((places - pose.position) @ pose.rotation - pad.vertices, axis=1))
        self.pressures = [np.zeros(len(places)) for places in self.positions]
        for z, touched in getattr(state, "patch", {}).items():
            ways = self.positions[z][touched] - ball
            ways /= np.linalg.norm(ways, axis=1, keepdims=True)
            pushed = np.einsum("ij,ij->i", state.contact_forces[z], ways)
            self.pressures[z][touched] = np.maximum(pushed, 0.0) / self.model.areas[z][touched]
        return True

    def _pressed(self, poses: list[sn.Pose], ball: FloatArray) -> Any:
        """The finger with the ball in it; None where the ball is away from it, `_NOTHING` where it is too deep."""
        from sennit.bodies.zone.chain_state import ChainPressState
        from sennit.geometry.shapes import Sphere

        if self.scripted and self._depth > 0.0:
            return None
        if self.state is not None:
            nearest = [float(np.linalg.norm(places - ball, axis=1).min()) for places in self.positions]
            close = [z for z, distance in enumerate(nearest) if distance < BALL_RADIUS + NEAR]
            if not close:
                return None
        else:
            close = [0, 1, 2]
        before = self.state if isinstance(self.state, ChainPressState) else None
        state = self.model.chain.press(
            Sphere(ball, BALL_RADIUS), poses=poses, zone=close, friction=self.friction, after=before, throw=False
        )
        if not state.contact_report.converged or float(np.linalg.norm(state.force)) > STRONGEST:
            return _NOTHING
        return state if state.force.any() else None

    def _touched(self, poses: list[sn.Pose]) -> Any:
        """The finger with the probe, or the hand, on its skin; None where there is neither."""
        chain = self.model.chain
        if self.scripted and self._depth > 0.0:
            place, normal = probed_place(self.model, self._slid)
            return chain.touch(
                1, place, poses=poses, displacement=-self._depth * normal, radius=self.model.probe_radius
            )  # fmt: skip
        taken = self._taken
        if taken is None or taken.bone is None or taken.vertex is None:
            return None
        pull = poses[taken.bone].rotation.T @ (taken.hand - poses[taken.bone] @ taken.place)
        length = float(np.linalg.norm(pull))
        if length > STRETCH:
            pull *= STRETCH / length
        return chain.touch(
            taken.bone, taken.vertex, poses=poses, displacement=pull, radius=self.model.probe_radius
        )  # fmt: skip

    def reset(self) -> None:
        """Begin again."""
        self._reset_controls()
        self._begin()
        self._begin_again()

    def set_gravity(self, value: FloatArray) -> None:
        """There is none."""
        raise InputError("the finger has no gravity to change: its flesh at rest has its weight in its shape")

    # ----------------------------------------------------------------------------------------------- what is taken

    def grab(self, part: int, place: Place) -> None:
        """Take the ball, the skin or a bone."""
        number = validation.count("part", part, 0, len(self.portrait.cast.parts) - 1)
        if number == _SKIN:
            vertex = validation.count("place", place, 0, len(self.cover.source) - 1)
            pad, own = self.cover.pad_of(vertex)
            if own in self.model.finger.pads[pad].fixed:
                raise InputError("the clamp holds the skin there: take it further along")
            where = np.array(self.positions[pad][own])
            taken = _Taken(pad, np.asarray(self.poses[pad].inverse() @ where), own, where)
        elif number in _BONES:
            index = _BONES.index(number)
            at = validation.vector("place", place)
            taken = _Taken(index, at, None, self.poses[index] @ at)
        elif number == _BALL:
            at = validation.vector("place", place)
            taken = _Taken(None, at, None, self.ball + at)
        else:
            raise InputError("this cannot be dragged: take the ball, the skin or a bone")
        self.take_over()
        self._taken = taken

    def drag(self, hand: FloatArray) -> None:
        """Move the hand to (3,), m."""
        where = validation.vector("hand", hand)
        if self._taken is None:
            raise InputError("nothing is held: grab first")
        self._taken.hand = where
        if self._taken.bone is None:
            self._asked_ball = where - self._taken.place

    def release(self) -> None:
        """Let go: joints and ball stay, the skin springs back."""
        if self._taken is not None:
            self._taken = None
            self._asked = self.angles.copy()

    def pin(self, part: int, place: Place) -> None:
        """Nothing can be pinned."""
        raise InputError("nothing can be pinned here: the joints stay where they are")

    def switch(self, tie: int, on: bool) -> None:
        """There are no ties."""
        raise InputError("there is nothing to switch")

    def remove(self, tie: int) -> None:
        """There are no ties."""
        raise InputError("there is nothing to remove")

    # -------------------------------------------------------------------------------------------------- what is seen

    def _made(self) -> Portrait:
        portrait = Portrait()
        skin = Surface(
            name="skin", colour=FLESH, opacity=0.85, count=len(self.cover.source), faces=self.cover.faces,
            fields=("pressure", "displacement"),
        )  # fmt: skip
        portrait.add(skin, self._read_skin, self)
        _, _, (rows, columns) = self.cover.nail
        ids = np.arange(rows * columns).reshape(rows, columns)
        a, b, c, d = ids[:-1, :-1], ids[1:, :-1], ids[1:, 1:], ids[:-1, 1:]
        faces = np.concatenate((np.stack((a, c, b), -1).reshape(-1, 3), np.stack((a, d, c), -1).reshape(-1, 3)))
        portrait.add(Surface(name="nail", colour=NAIL, role="decor", count=ids.size, faces=faces), self._read_nail)
        for k in range(3):
            portrait.add(solid(f"bone {k + 1}", bone(k), role="body", smooth=True), self._bone_reader(k), self)
        portrait.add(solid("clamp", knuckle()), self._bone_reader(0))
        on_ball = stand(np.array((0.0, 0.0, float(BALL[2]))), BALL_RADIUS)
        down = solid("ball", on_ball, role="body", smooth=True)
        centred = type(down)(
            name="ball", colour=down.colour, role="body", vertices=down.vertices - (0.0, 0.0, BALL[2]),
            faces=down.faces, face_colours=down.face_colours, smooth=True,
        )  # fmt: skip
        portrait.add(centred, self._read_ball, self)
        portrait.add(solid("probe", probe()), self._read_probe)
        vertices, faces = _arrow()
        self._arrow = vertices
        portrait.add(
            Surface(name="force on the ball", colour=_RED, role="tie", count=len(vertices), faces=faces),
            self._read_arrow,
        )
        return portrait

    def _read_skin(self, view: SurfaceView) -> None:
        view.vertices[:] = self.cover.joined(self.positions)
        view.fields["pressure"][:] = self.cover.joined(self.pressures)
        view.fields["displacement"][:] = self.cover.joined(self.moved)

    def _read_nail(self, view: SurfaceView) -> None:
        points = self.cover.joined(self.positions)
        ids, weights, (rows, columns) = self.cover.nail
        view.vertices[:] = np.einsum("kc,kci->ki", weights, points[ids])
        grid = view.vertices.reshape(rows, columns, 3)
        up = np.cross(grid[6, 12] - grid[6, 0], grid[0, 6] - grid[12, 6])
        up *= math.copysign(1.0, float(up @ self.poses[2].rotation[:, 2]))
        view.vertices[:] += 4e-4 * up / np.linalg.norm(up)

    def _bone_reader(self, k: int) -> Callable[[SolidView], None]:
        def read(view: SolidView) -> None:
            view.position[:], view.quaternion[:] = self.poses[k].position, self.poses[k].quaternion

        return read

    def _read_ball(self, view: SolidView) -> None:
        view.position[:], view.quaternion[:] = self.ball, (1.0, 0.0, 0.0, 0.0)

    def _read_probe(self, view: SolidView) -> None:
        place, normal = probed_place(self.model, self._slid)
        pose, state = self.poses[1], self.state
        if self.scripted and self._depth > 0.0 and hasattr(state, "probe"):
            tip = state.probe.weights @ self.positions[1][state.probe.vertices]
        else:
            tip = pose @ (place + 0.03 * normal)
            view.shown[0] = 0.0
        held = sn.Pose.along(tip, pose.rotation @ normal + np.array((0.95, -0.1, 0.15)))
        view.position[:], view.quaternion[:] = held.position, held.quaternion

    def _read_arrow(self, view: SurfaceView) -> None:
        force = -self.ball_force
        size = float(np.linalg.norm(force))
        view.shown[0] = float(size > 0.02)
        if size <= 0.02:
            view.vertices[:] = self.ball
            return
        pose = sn.Pose.along(self.ball + force * (BALL_RADIUS / size), force)
        view.vertices[:] = pose @ (self._arrow * (1.0, 1.0, ARROW * size))


def _arrow() -> tuple[FloatArray, Any]:
    """An arrow along z, 1 long."""
    along = np.outer((0.0, 0.3, 0.7, 0.701, 0.999), (0.0, 0.0, 1.0))
    wide = np.array((0.0008, 0.0008, 0.0008, 0.0022, 0.0001))[:, None]
    made = loft(along, wide * (1.0, 0.0, 0.0), wide * (0.0, 1.0, 0.0), circle(14), _RED, capped=True)
    part = solid("arrow", made)
    return part.vertices, part.faces


class _Nothing:
    """That there is no equilibrium."""


_NOTHING = _Nothing()
