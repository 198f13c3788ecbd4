"""What the loop simulates: a scene whose grip the hand holds, or a strand whose tip it holds.

Both couple the hand and the grip as `VirtualCoupling` says, implicitly: the force belongs to the end of the step. The
hand's velocity is the backward difference of its poses, which is what makes the coupling passive.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from sennit.bodies.point.point import Point
from sennit.bodies.strand.state import StrandState
from sennit.bodies.strand.strand import Strand
from sennit.constraints.place import Clamp, Fix
from sennit.coupling import VirtualCoupling, _turn_between
from sennit.errors import SolveError
from sennit.geometry.pose import Pose
from sennit.live.spells import Spell, Spells
from sennit.scene.scene import Scene
from sennit.validation import FloatArray

__all__ = ["SceneSubject", "StrandSubject", "Subject"]

NOTHING = np.zeros(6)
NOTHING.flags.writeable = False
REHEARSED = 20
"""Steps before the first tick, so that it takes no longer than the others."""
CAP = 3
"""Newton iterations of a strand in a tick; a tick that does not get there goes on in the next."""


class Subject(Protocol):
    """A simulation that a hand holds."""

    wrench: FloatArray
    """What the coupling applied to the grip in the last step: (6,), N and N·m, world frame; the hand feels minus it."""

    @property
    def time(self) -> float:
        """Simulated time, s."""

    @property
    def spell(self) -> Spell | None:
        """What had to be done to the last steps so that they stay sound; None: nothing."""

    def rehearse(self) -> None:
        """Compile and load everything that a step needs, and leave the state as it is."""

    def step(self, hand: Pose | None, periods: int = 1) -> None:
        """Advance with the hand there (None: it holds nothing). Raises `SolveError` or `InputError`, state kept.

        `periods`: steps' times in which the hand came there from where it was in the last step; the damper takes that
        for its velocity.
        """

    def afresh(self) -> None:
        """Forget where the hand was: it takes hold anew in the next step, at rest."""

    def allow(self, depth: int) -> None:
        """A step may be halved so often from now on."""

    def place(self) -> FloatArray:
        """Where the grip is: (7,), position (m) and quaternion."""


class SceneSubject:
    """A scene, held at the point `grip`; it takes steps of `dt` (s)."""

    def __init__(self, scene: Scene, grip: Point | None, coupling: VirtualCoupling, dt: float) -> None:
        self.scene, self.coupling, self.dt = scene, coupling, dt
        self.grip: Point | None = None
        self.tie: Fix | Clamp | None = None
        self.wrench = NOTHING
        self.before: Callable[[], object] | None = None
        """Called before each step."""
        self._held = False
        self._spells = Spells(scene)
        if grip is not None:
            self.hold(grip)

    @property
    def time(self) -> float:
        """The scene's clock, s."""
        return self.scene.time

    @property
    def spell(self) -> Spell | None:
        """What had to be done to the scene's last steps so that they stay sound."""
        return self._spells.newest

    def hold(self, grip: Point) -> None:
        """Hold another point from now on."""
        tie = self._tie(grip)
        tie.enabled = False
        self.scene.add(tie)
        self.let_go()
        self.tie, self.grip = tie, grip

    def let_go(self) -> None:
        """Take the coupling out of the scene."""
        if self.tie is not None:
            self.scene.remove(self.tie)
        self.tie = self.grip = None
        self._held, self.wrench = False, NOTHING

    def afresh(self) -> None:
        """The scene was put back, or stood still: the hand takes hold anew in the next step, at rest."""
        if self.tie is not None:
            self.tie.enabled = False
        self._held, self.wrench = False, NOTHING

    def allow(self, depth: int) -> None:
        """A step may be halved so often from now on."""
        self.scene._compiled().depth = depth

    def _tie(self, grip: Point) -> Fix | Clamp:
        c = self.coupling
        if c.rotational_stiffness == 0.0 and c.rotational_damping == 0.0:
            return Fix(grip, compliance=1.0 / c.stiffness, damping=c.damping, name="hand")
        soft = 1.0 / c.rotational_stiffness if c.rotational_stiffness > 0.0 else math.inf
        return Clamp(
            grip,
            compliance=1.0 / c.stiffness,
            damping=c.damping,
            angular_compliance=soft,
            angular_damping=c.rotational_damping,
            name="hand",
        )

    def rehearse(self) -> None:
        """Take some steps and go back."""
        here = self.scene.snapshot()
        hand = None if self.grip is None else self.grip.pose if self.grip.has_frame else Pose(self.grip.position)
        with contextlib.suppress(SolveError):
            for _ in range(REHEARSED):
                self.step(hand)
                self.place()
        self._switch(False)
        self.scene.restore(here)
        self.afresh()

    def _switch(self, on: bool) -> None:
        if self.tie is not None and on != self._held:
            self.tie.enabled = on
            self._held = on

    def step(self, hand: Pose | None, periods: int = 1) -> None:
        """One step with the hand there, to where it came in `periods` times the step."""
        if self.before is not None:
            self.before()
        tie = self.tie
        if tie is None or hand is None:
            self._switch(False)
            self.wrench = NOTHING
            self.scene.step(self.dt)
            return
        tie.target = hand if tie.turns else hand.position
        if not self._held:
            self._switch(True)
            # The hand was elsewhere when it held nothing: no damper may take that for a velocity.
            tie._rest_here()
        elif periods > 1:
            # All but one step's part of the hand's way is taken for what was there before.
            tie._skip_way(1.0 - 1.0 / periods)
        self.scene.step(self.dt)
        wrench = np.zeros(6)
        if tie.turns:
            wrench[:] = tie.wrench
        else:
            wrench[:3] = tie.multipliers  # its rows push along the world's axes
        self.wrench = wrench

    def place(self) -> FloatArray:
        """Of the grip."""
        out = np.zeros(7)
        if self.grip is None:
            out[3] = 1.0
            return out
        placed = self.grip._placed()
        out[:3] = placed.position[0]
        out[3:] = _quaternion(placed.frame[0].tolist())
        return out


class StrandSubject:
    """A strand that `base` holds at one end and the hand at the other; always in equilibrium."""

    def __init__(
        self, strand: Strand, base: Pose, coupling: VirtualCoupling, dt: float, gravity: FloatArray | None = None
    ) -> None:
        self.strand, self.base, self.coupling, self.dt, self.gravity = strand, base, coupling, dt, gravity
        self.state: StrandState | None = None
        self.wrench = NOTHING
        self._hand: Pose | None = None
        self._tip: Pose | None = None
        """Of the free strand, before the first step."""
        self._ticks = 0

    @property
    def spell(self) -> Spell | None:
        """None: it has no steps in time."""
        return None

    @property
    def time(self) -> float:
        """What all ticks so far have taken, s."""
        return self._ticks * self.dt

    def allow(self, depth: int) -> None:
        """A static solve is not divided."""

    def rehearse(self) -> None:
        """Solve with a free tip, and twice with a hand where the tip is."""
        self._free()
        assert self.state is not None
        tip = self._tip = self.state.tip_pose
        for _ in range(REHEARSED):
            self.step(tip)
            self.place()
        self.state, self._hand, self._ticks, self.wrench = None, None, 0, NOTHING

    def step(self, hand: Pose | None, periods: int = 1) -> None:
        """One equilibrium with the hand there, to where it came in `periods` ticks."""
        if hand is None:
            self._free()
        else:
            self._coupled(hand, periods)
        self._ticks += 1

    def afresh(self) -> None:
        """The strand stood still: the hand takes hold anew in the next step, at rest."""
        self._hand, self.wrench = None, NOTHING

    def _solved(self, **conditions: Any) -> StrandState:
        old = self.state
        cap = None if old is None else CAP
        state = self.strand.solve(
            base=self.base, gravity=self.gravity, guess=old, max_iterations=cap, throw=False, **conditions
        )
        if state.report.status == "failed":
            raise SolveError(state.report, state)
        return state

    def _free(self) -> None:
        self._hand = None  # also if there is no solution: the hand has let go
        self.state = self._solved()
        self.wrench = NOTHING

    def _coupled(self, hand: Pose, periods: int) -> None:
        c, dt, before = self.coupling, self.dt, self._hand
        twist = np.zeros(6)
        if before is not None:
            twist[:3] = (hand.position - before.position) / (periods * dt)
            twist[3:] = _turn_between(hand.quaternion, before.quaternion) / (periods * dt)
        old = self.state
        # The first tick with a hand has no step before it, and so no damping.
        damped = old is not None and before is not None
        state = self._solved(
            coupling=c if damped or not c.damped else _undamped(c), hand=hand, hand_velocity=twist, dt=dt
        )
        solution = state.solution
        # What `tip_force` gives where no point load is at the tip, without its checks.
        force = (solution.conditions.problem.load_n[-1, 2] + solution.lam[-1]) * self.strand.model.force_unit
        # The spring's force tells where the tip is; integrating the whole strand for it takes longer than the solve.
        k, pull = c.stiffness, c.stiffness * hand.position
        previous = None
        if damped:
            assert old is not None
            previous = old.tip_pose
            if c.damping > 0.0:
                k += c.damping / dt
                pull = pull + (c.damping / dt) * (previous.position + twist[:3] * dt)
        tip = Pose._trusted((pull - force) / k, solution.q[-1].copy())
        state.__dict__["tip_pose"] = tip
        wrench = np.empty(6)
        wrench[:3] = force
        used = c if damped or not c.damped else _undamped(c)
        wrench[3:] = used.wrench(hand, tip, hand_velocity=twist, previous_tip=previous, dt=dt)[1]
        self.state, self._hand, self.wrench = state, hand, wrench

    def place(self) -> FloatArray:
        """Of the tip."""
        out = np.zeros(7)
        out[3] = 1.0
        pose = self._tip if self.state is None else self.state.tip_pose
        if pose is not None:
            out[:3], out[3:] = pose.position, pose.quaternion
        return out


def _undamped(coupling: VirtualCoupling) -> VirtualCoupling:
    return VirtualCoupling(coupling.stiffness, rotational_stiffness=coupling.rotational_stiffness)


def _quaternion(m: list[float]) -> tuple[float, float, float, float]:
    """Unit quaternion of a rotation matrix, row after row; plain floats, since it is wanted in every tick."""
    a, b, c = m[0], m[4], m[8]
    w, x, y, z = 1.0 + a + b + c, 1.0 + a - b - c, 1.0 - a + b - c, 1.0 - a - b + c
    largest = max(w, x, y, z)
    if largest == w:
        q = (w, m[7] - m[5], m[2] - m[6], m[3] - m[1])
    elif largest == x:
        q = (m[7] - m[5], x, m[1] + m[3], m[2] + m[6])
    elif largest == y:
        q = (m[2] - m[6], m[1] + m[3], y, m[5] + m[7])
    else:
        q = (m[3] - m[1], m[2] + m[6], m[5] + m[7], z)
    scale = 1.0 / math.hypot(*q)
    return scale * q[0], scale * q[1], scale * q[2], scale * q[3]
