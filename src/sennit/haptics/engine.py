"""The ticks: read the hand, step, set the wrench, wait for the next; what happens when one of these goes wrong."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sennit.errors import InputError, SolveError
from sennit.geometry.pose import Pose
from sennit.haptics.board import FAILED, LIMITED, LONGEST, LOST, MAX, NOW, OVERRUNS, RUNNING, SKIPPED, TICKS, Board
from sennit.haptics.devices import HapticDevice
from sennit.haptics.subjects import Subject
from sennit.live.spells import KINDS
from sennit.solve.stepper import DEPTH
from sennit.validation import FloatArray

__all__ = ["Engine", "Limits", "Mounting"]

SPIN = 2e-4
"""How long before a tick is due the loop stops sleeping, s: systems wake sleepers that much too late."""
QUIET = 1.0
"""Time in which the same thing is said at most once, s."""
ZERO = np.zeros(3)
ZERO.flags.writeable = False


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of what the device is told: greatest force (N) and torque (N·m), and how fast they may change (per s).

    All of them are as the hand feels them, after `Mounting.force_scale`.
    """

    force: float
    torque: float
    force_rate: float
    torque_rate: float


@dataclass(frozen=True, slots=True)
class Mounting:
    """How a device stands in the world: its frame; how much larger motions are there, and forces here."""

    frame: Pose = field(default_factory=Pose)
    scale: float = 1.0
    force_scale: float = 1.0
    at_grip: bool = False
    """Whether the frame is moved and the hand turned so that the first pose read is the grip's."""


class Engine:
    """Runs `subject` with `device` in its hand, a tick each `period` (s), and keeps `board` up to date.

    `say` is called with a kind and a text when something is to be told; `clock` and `sleep` are the system's, or a
    test's; `spare` is called after each tick with its number and the time (of `clock`) at which the next is due.
    """

    def __init__(
        self,
        subject: Subject,
        device: HapticDevice,
        board: Board,
        *,
        period: float,
        limits: Limits,
        mounting: Mounting | None = None,
        say: Callable[[str, str], None] | None = None,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
        spare: Callable[[int, float], None] | None = None,
    ) -> None:
        self.subject, self.device, self.board = subject, device, board
        self.period, self.limits = period, limits
        mounting = mounting or Mounting()
        self._frame, self._scale, self._force_scale = mounting.frame, mounting.scale, mounting.force_scale
        self._plain = mounting.frame == Pose() and mounting.scale == 1.0 and not mounting.at_grip
        self._place_at_grip = mounting.at_grip
        self._align: Pose | None = None
        self._say, self._clock, self._sleep, self._spare = say, clock, sleep, spare
        self._said: dict[str, float] = {}
        self._force, self._torque = ZERO, ZERO  # as large as the device applies them, along the world's axes
        self._by_ticks = bool(getattr(device, "paced_by_ticks", False))
        self._periods = 1  # over which the hand has moved since the last step
        self._rested = False
        self.took = 0.0
        """Time of the last step, s."""
        self._calm = 0.0
        """Time of an undivided step, s: the shortest of late."""
        self._row = np.zeros(sum(NOW.values()))
        self._parts = board.now.parts
        self.lost = False
        self._spell: str | None = None
        self.paused = False
        """Whether ticks only keep their times: nothing is stepped, and the force goes to zero."""

    # ----------------------------------------------------------------------------------------------------- pacing

    def run(self, stop: Callable[[], bool], ticks: int | None = None) -> None:
        """Tick until `stop` says so, or `ticks` are done; the wrench is zero at the end, whatever ends it."""
        counts, times, lateness = self.board.counts, self.board.times, self.board.lateness
        period, clock = self.period, self._clock
        done, k = 0, 0
        counts[RUNNING] = 1
        start = clock()
        try:
            while (ticks is None or done < ticks) and not stop():
                due = start + k * period
                late = self._wait(due) - due
                lateness.add(late)
                times[MAX] = max(float(times[MAX]), late)
                if late >= period:
                    missed = int(late / period)
                    counts[SKIPPED] += missed
                    k += missed
                    if not self._by_ticks:
                        self._periods += missed
                    due = start + k * period
                self.tick()
                done += 1
                k += 1
                counts[TICKS] = done
                over = clock() - (due + period)
                if over > 0.0:
                    counts[OVERRUNS] += 1
                    self._tell("overrun", f"a tick took {1e3 * (over + period):.3g} ms: the last wrench was held")
                if self._spare is not None:
                    self._spare(done, due + period)
        finally:
            self._let_go()
            counts[RUNNING] = 0

    def _wait(self, due: float) -> float:
        """Sleep, then spin until `due`; returns the time."""
        clock = self._clock
        rest = due - clock() - SPIN
        if rest > 0.0:
            self._sleep(rest)
        while (now := clock()) < due:
            pass
        return now

    # ---------------------------------------------------------------------------------------------------- one tick

    def tick(self) -> None:
        """Read the hand, step, set the wrench."""
        board, subject = self.board, self.subject
        hand, engaged, buttons = self._read()
        if self.paused:
            self._rested = True
            self._apply(ZERO, ZERO)
            self._publish(hand, engaged, buttons)
            return
        if self._rested:
            # The hand went anywhere meanwhile: no damper may take that for a velocity.
            self._rested, self._periods = False, 1
            subject.afresh()
        if not self._by_ticks:
            # As deep as there is time for: a step that is halved n times takes 2ⁿ⁺¹ solves at the worst.
            subject.allow(min(int(math.log2(max(self.period / max(self._calm, 1e-9), 1.0))), DEPTH))
        begin = self._clock()
        failed = False
        try:
            subject.step(hand if engaged else None, self._periods)
            self._periods = 1
        except (SolveError, InputError) as problem:
            failed = True
            self._periods += 1
            board.counts[FAILED] += 1
            self._tell("failed", f"a step has no solution, the force goes to zero while that lasts: {problem}")
        took = self._clock() - begin
        self.took = took
        self._calm = min(1.01 * self._calm, took) if self._calm > 0.0 else took
        board.steps.add(took)
        board.times[LONGEST] = max(float(board.times[LONGEST]), took)
        felt = -self._force_scale * subject.wrench
        if not failed and not math.isfinite(float(felt.sum())):
            failed = True
            board.counts[FAILED] += 1
            self._tell("failed", "a step gave forces that are not finite; the force goes to zero while that lasts")
        if failed or not engaged or hand is None:
            self._apply(ZERO, ZERO)
        else:
            self._apply(felt[:3], felt[3:])
        self._publish(hand, engaged, buttons)

    def _read(self) -> tuple[Pose | None, bool, int]:
        """The hand in the world, whether it holds on, and the buttons as a number."""
        if self.lost:
            return None, False, 0
        try:
            state = self.device.state()
            pose = state.pose
            if not math.isfinite(float(pose.position.sum()) + float(pose.quaternion.sum())):
                raise InputError(f"its pose {pose!r} is not finite")
            engaged, buttons = bool(state.engaged), 0
            for k, pressed in enumerate(state.buttons):
                buttons |= bool(pressed) << k
        except Exception as problem:  # a device that raises anything cannot be trusted with a hand
            self._lose(problem)
            return None, False, 0
        return pose if self._plain else self._in_world(pose), engaged, buttons

    def _in_world(self, pose: Pose) -> Pose:
        moved = pose if self._scale == 1.0 else Pose._trusted(self._scale * pose.position, pose.quaternion.copy())
        hand = self._frame @ moved
        if self._place_at_grip:
            self._place_at_grip = False
            place = self.subject.place()
            offset = place[:3] - hand.position
            self._frame = Pose(self._frame.position + offset, self._frame.quaternion)
            hand = Pose(place[:3], hand.quaternion)
            self._align = Pose((0.0, 0.0, 0.0), hand.quaternion).inverse() @ Pose((0.0, 0.0, 0.0), place[3:])
        return hand if self._align is None else hand @ self._align

    def _apply(self, force: FloatArray, torque: FloatArray) -> None:
        """Set the wrench that the hand feels (scaled for it, world frame), as near as it may come in one tick."""
        limits, period = self.limits, self.period
        self._force, cut = eased(self._force, force, limits.force_rate * period, limits.force)
        self._torque, bent = eased(self._torque, torque, limits.torque_rate * period, limits.torque)
        if cut or bent:
            self.board.counts[LIMITED] += 1
        if self.lost:
            self._force, self._torque = ZERO, ZERO
            return
        try:
            self._set()
        except Exception as problem:
            self._lose(problem)

    def _set(self) -> None:
        force, torque = self._force, self._torque
        if not self._plain:
            back = self._frame.rotation.T
            force, torque = back @ force, back @ torque
        self.device.set_wrench(force, torque)

    # ----------------------------------------------------------------------------------------------- what goes wrong

    def _lose(self, problem: Exception) -> None:
        """The device is gone: no force at once, and the simulation goes on without a hand."""
        self.lost = True
        self.board.counts[LOST] = 1
        self._let_go()
        text = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
        self._tell("lost", f"the device was lost, its force is zero and the hand holds nothing: {text}")

    def _let_go(self) -> None:
        """Set no force, if the device still listens; it may have been lost because it does not."""
        self._force, self._torque = ZERO, ZERO
        try:
            self.device.set_wrench(np.zeros(3), np.zeros(3))
        except Exception as problem:
            if not self.lost:
                self._tell("lost", f"the device did not take the last wrench, zero: {problem}")

    def _tell(self, kind: str, text: str) -> None:
        if self._say is None:
            return
        now = self._clock()
        if now - self._said.get(kind, -math.inf) >= QUIET:
            self._said[kind] = now
            self._say(kind, text)

    def _publish(self, hand: Pose | None, engaged: bool, buttons: int) -> None:
        row, parts = self._row, self._parts
        row[parts["time"]] = self.subject.time
        if hand is not None:
            row[parts["hand"]][:3] = hand.position
            row[parts["hand"]][3:] = hand.quaternion
        row[parts["grip"]] = self.subject.place()
        row[parts["force"]], row[parts["torque"]] = self._force, self._torque
        row[parts["buttons"]], row[parts["engaged"]] = buttons, engaged
        spell = self.subject.spell
        row[parts["spell"]] = (0, 0) if spell is None else (1 + KINDS.index(spell.kind), spell.steps)
        if spell is not None and spell.kind != self._spell:
            self._tell(spell.kind, spell.message or f"steps are {spell.kind}")
        self._spell = None if spell is None else spell.kind
        self.board.now.write(row)


def eased(now: FloatArray, wanted: FloatArray, change: float, most: float) -> tuple[FloatArray, bool]:
    """`wanted`, at most `most` long and at most `change` from `now`; and whether that is something else."""
    bound = False
    x, y, z = wanted.tolist()
    length = math.hypot(x, y, z)
    if length > most:
        wanted = wanted * (most / length)
        x, y, z = wanted.tolist()
        bound = True
    a, b, c = now.tolist()
    step = math.hypot(x - a, y - b, z - c)
    if step > change:
        return now + (wanted - now) * (change / step), True
    return wanted, bound
