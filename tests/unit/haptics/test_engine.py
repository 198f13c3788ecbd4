"""The tick engine by a clock of the test's own: no time passes, and nothing depends on the machine."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from sennit import Pose, SolveError, SolveReport, VirtualCoupling
from sennit.demos import suture
from sennit.haptics import DeviceLost, DeviceState
from sennit.haptics.board import Board
from sennit.haptics.engine import Engine, Limits, Mounting, eased
from sennit.haptics.subjects import StrandSubject
from sennit.live.spells import KINDS, Spell

PERIOD = 1e-3
WIDE = Limits(math.inf, math.inf, math.inf, math.inf)


class Clock:
    """A clock that moves only when something takes time."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        self.now += 1e-8  # so that spinning ends
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Spring:
    """A hand on a spring that is fixed at the origin: 100 N/m; the grip stays there. Steps take the times given."""

    def __init__(self, clock: Clock, takes: dict[int, float] | None = None, fails: range = range(0)) -> None:
        self.clock, self.takes, self.fails = clock, takes or {}, fails
        self.wrench = np.zeros(6)
        self.ticks = 0
        self.hands: list[Pose | None] = []
        self.periods: list[int] = []
        self.fresh: list[int] = []  # ticks before which the hand took hold anew
        self.spell: Spell | None = None
        self.depths: list[int] = []

    @property
    def time(self) -> float:
        return self.ticks * PERIOD

    def rehearse(self) -> None:
        pass

    def afresh(self) -> None:
        self.fresh.append(self.ticks)

    def allow(self, depth: int) -> None:
        self.depths.append(depth)

    def step(self, hand: Pose | None, periods: int = 1) -> None:
        self.clock.now += self.takes.get(self.ticks, 2e-4)
        self.ticks += 1
        self.hands.append(hand)
        self.periods.append(periods)
        if self.ticks - 1 in self.fails:
            raise SolveError(SolveReport("failed", 1, 1.0, "test", 1, "no such equilibrium"))
        self.wrench = np.zeros(6)
        if hand is not None:
            self.wrench[:3] = 100.0 * hand.position

    def place(self) -> np.ndarray:
        return np.array((0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0))


class Hand:
    """Along x at `speed` (m/s); it can be lost in reading or in writing at a tick."""

    def __init__(self, speed: float = 0.1, *, lost_reading: int = -1, lost_writing: int = -1, away: range = range(0)):
        self.speed, self.lost_reading, self.lost_writing, self.away = speed, lost_reading, lost_writing, away
        self.reads = 0
        self.felt: list[np.ndarray] = []

    def state(self) -> DeviceState:
        self.reads += 1
        if self.reads - 1 == self.lost_reading:
            raise DeviceLost("the plug is out")
        x = self.speed * (self.reads - 1) * PERIOD
        return DeviceState(Pose((x, 0.0, 0.0)), buttons=(False, True), engaged=self.reads - 1 not in self.away)

    def set_wrench(self, force: np.ndarray, torque: np.ndarray) -> None:
        if len(self.felt) == self.lost_writing:
            self.lost_writing = -1  # the next attempt works
            raise OSError(5, "input/output error")
        self.felt.append(np.concatenate((force, torque)))

    def close(self) -> None:
        pass


class Setting:
    def __init__(
        self, path: Path, hand: Hand, limits: Limits = WIDE, mounting: Mounting | None = None, **subject: object
    ):
        self.clock = Clock()
        self.subject = Spring(self.clock, **subject)  # type: ignore[arg-type]
        self.hand = hand
        self.board = Board(path / "board", make=True)
        self.said: list[tuple[str, str]] = []
        self.engine = Engine(
            self.subject,
            hand,
            self.board,
            period=PERIOD,
            limits=limits,
            mounting=mounting,
            say=lambda kind, text: self.said.append((kind, text)),
            clock=self.clock,
            sleep=self.clock.sleep,
        )

    def run(self, ticks: int) -> np.ndarray:
        self.engine.run(lambda: False, ticks)
        return np.array(self.hand.felt)


def test_what_is_done_to_steps_is_told(tmp_path: Path) -> None:
    setting = Setting(tmp_path, Hand())
    sheet = setting.board.now
    setting.run(3)
    assert sheet.read()[sheet.parts["spell"]].tolist() == [0, 0]
    for steps in range(1, 200):
        setting.subject.spell = Spell("calmed", steps, "two bodies were calmed")
        setting.engine.tick()
    assert sheet.read()[sheet.parts["spell"]].tolist() == [1 + KINDS.index("calmed"), 199]
    setting.subject.spell = Spell("held", 1)
    setting.engine.tick()
    setting.subject.spell = None
    setting.engine.tick()
    assert sheet.read()[sheet.parts["spell"]].tolist() == [0, 0]
    assert setting.said == [("calmed", "two bodies were calmed"), ("held", "steps are held")]


def test_a_step_is_divided_as_deep_as_there_is_time_for(tmp_path: Path) -> None:
    """A calm step takes a fifth of the period; one that follows a script takes no heed of time."""
    setting = Setting(tmp_path, Hand())
    setting.engine.run(lambda: False, ticks=20)
    assert setting.subject.depths[1:] == [2] * 19
    hand = Hand()
    hand.paced_by_ticks = True  # type: ignore[attr-defined]
    (tmp_path / "other").mkdir()
    other = Setting(tmp_path / "other", hand)
    other.engine.run(lambda: False, ticks=20)
    assert other.subject.depths == []


def test_ticks_keep_their_times(tmp_path: Path) -> None:
    setting = Setting(tmp_path, Hand())
    begin = setting.clock.now
    felt = setting.run(500)
    stats = setting.board.statistics
    assert stats.ticks == 500 and stats.late == 0 and stats.late_part == 0.0
    # the last tick begins 499 periods after the first; waiting for each costs a few readings of the clock
    assert setting.clock.now - begin == pytest.approx(499 * PERIOD + 2e-4, abs=1e-6)
    assert stats.max < 1e-6 and stats.longest_step == pytest.approx(2e-4, rel=1e-3)
    assert stats.step_p50 == pytest.approx(2e-4, rel=0.045)  # a bin is 4.4 % wide
    # force on the hand is minus that on the grip, tick for tick; at the end it is zero
    expected = -100.0 * 0.1 * PERIOD * np.arange(500)
    np.testing.assert_allclose(felt[:-1, 0], expected, rtol=1e-12)
    assert not felt[:, 1:].any() and not felt[-1].any()


def test_an_overrun_holds_the_wrench_and_is_said(tmp_path: Path) -> None:
    """A step of 2.5 periods: its own tick is late, the next is skipped, the one after begins half a period late."""
    setting = Setting(tmp_path, Hand(), takes={10: 2.5e-3})
    felt = setting.run(20)
    stats = setting.board.statistics
    assert (stats.ticks, stats.overruns, stats.skipped, stats.late) == (20, 1, 1, 2)
    assert stats.late_part == pytest.approx(2 / 21)
    assert stats.max == pytest.approx(1.5e-3, rel=1e-3)  # from when the tick that was skipped was due
    assert stats.longest_step == pytest.approx(2.5e-3, rel=1e-3)
    assert len(felt) == 21  # one for each tick and the zero at the end: nothing is sent in between
    assert [kind for kind, _ in setting.said] == ["overrun"] and "2.5" in setting.said[0][1]


def test_a_second_overrun_within_a_second_is_counted_but_not_said(tmp_path: Path) -> None:
    setting = Setting(tmp_path, Hand(), takes={10: 1.5e-3, 20: 1.5e-3, 1500: 1.5e-3})
    setting.run(1600)
    assert setting.board.statistics.overruns == 3
    assert len(setting.said) == 2


def test_a_loop_that_is_always_too_slow_goes_on(tmp_path: Path) -> None:
    setting = Setting(tmp_path, Hand(), takes=dict.fromkeys(range(100), 1.6e-3))
    setting.run(100)
    stats = setting.board.statistics
    assert stats.overruns == 100
    # 100 ticks of 1.6 periods take up 160, but for the last one's end
    assert stats.skipped == pytest.approx(59, abs=1)


def test_the_wrench_never_jumps(tmp_path: Path) -> None:
    """A hand that is 0.5 m away at once: 50 N, of which a tick may bring 0.1 N."""

    class Jump(Hand):
        def state(self) -> DeviceState:
            self.reads += 1
            return DeviceState(Pose((0.5 if self.reads > 5 else 0.0, 0.0, 0.0)))

    setting = Setting(tmp_path, Jump(), limits=Limits(20.0, math.inf, 100.0, math.inf), takes={5: 50e-3})
    felt = setting.run(400)[:-1]
    steps = np.linalg.norm(np.diff(felt[:, :3], axis=0), axis=1)
    assert steps.max() == pytest.approx(0.1, rel=1e-9)
    assert np.linalg.norm(felt[:, :3], axis=1).max() == pytest.approx(20.0)  # the greatest force allowed
    assert felt[-1, 0] == pytest.approx(-20.0)
    assert setting.board.statistics.limited == 395  # every tick since the jump: eased, then cut


@pytest.mark.parametrize(("wanted", "expected", "limited"), [(0.05, 0.05, False), (1.0, 0.1, True), (-3.0, -0.1, True)])
def test_eased(wanted: float, expected: float, limited: bool) -> None:
    force, bound = eased(np.zeros(3), np.array((0.0, wanted, 0.0)), 0.1, 2.0)
    np.testing.assert_allclose(force, (0.0, expected, 0.0))
    assert bound is limited


def test_a_failed_step_eases_the_force_to_zero_and_back(tmp_path: Path) -> None:
    limits = Limits(math.inf, math.inf, 50.0, math.inf)  # 0.05 N a tick
    setting = Setting(tmp_path, Hand(speed=0.1), limits=limits, fails=range(100, 140))
    felt = setting.run(200)[:-1, 0]
    # 1 N after 100 ticks; it goes to zero by 0.05 N a tick, and comes back so
    assert felt[99] == pytest.approx(-0.99)
    np.testing.assert_allclose(felt[100:120], -0.99 + 0.05 * np.arange(1, 21), atol=0.05)
    assert not felt[120:140].any()
    assert np.abs(np.diff(felt)).max() <= 0.05 + 1e-12
    assert felt[-1] == pytest.approx(-1.99)
    assert setting.board.statistics.failed == 40
    assert setting.said[0][0] == "failed" and "no such equilibrium" in setting.said[0][1]


def test_forces_that_are_not_finite_are_not_sent(tmp_path: Path) -> None:
    setting = Setting(tmp_path, Hand())
    step = setting.subject.step

    def broken(hand: Pose | None, periods: int = 1) -> None:
        step(hand, periods)
        if setting.subject.ticks == 50:
            setting.subject.wrench = np.full(6, math.nan)

    setting.subject.step = broken  # type: ignore[method-assign]
    felt = setting.run(60)
    assert np.isfinite(felt).all() and not felt[49].any()
    assert setting.board.statistics.failed == 1


def test_a_device_lost_in_reading_has_no_force_within_the_tick(tmp_path: Path) -> None:
    setting = Setting(tmp_path, Hand(lost_reading=30))
    felt = setting.run(100)
    assert felt[29, 0] < 0.0 and len(felt) == 32  # zero when it is lost, zero at the end, nothing in between
    assert not felt[30:].any()
    stats = setting.board.statistics
    assert stats.lost and stats.ticks == 100 and setting.subject.ticks == 100  # the simulation goes on
    assert setting.hand.reads == 31 and setting.subject.hands[30:] == [None] * 70
    assert setting.said[0][0] == "lost" and "the plug is out" in setting.said[0][1]


def test_a_device_lost_in_writing_has_no_force_within_the_tick(tmp_path: Path) -> None:
    setting = Setting(tmp_path, Hand(lost_writing=30))
    felt = setting.run(60)
    assert not felt[30:].any() and len(felt) == 32
    assert setting.board.statistics.lost and setting.subject.hands[31:] == [None] * 29


def test_a_pose_that_is_not_finite_loses_the_device(tmp_path: Path) -> None:
    class Broken(Hand):
        def state(self) -> DeviceState:
            state = super().state()
            if self.reads < 10:
                return state
            return DeviceState(Pose._trusted(np.array((math.nan, 0.0, 0.0)), np.array((1.0, 0.0, 0.0, 0.0))))

    setting = Setting(tmp_path, Broken())
    felt = setting.run(20)
    assert setting.board.statistics.lost and np.isfinite(felt).all()


def test_a_hand_that_lets_go_feels_nothing(tmp_path: Path) -> None:
    setting = Setting(tmp_path, Hand(away=range(20, 40)))
    felt = setting.run(60)[:-1]
    assert not felt[20:40].any() and felt[19, 0] < 0.0 and felt[40, 0] < 0.0
    assert setting.subject.hands[20:40] == [None] * 20


def test_an_error_in_the_simulation_leaves_no_force(tmp_path: Path) -> None:
    setting = Setting(tmp_path, Hand())

    def broken(hand: Pose | None, periods: int = 1) -> None:
        setting.subject.ticks += 1
        if setting.subject.ticks == 20:
            raise ZeroDivisionError

    setting.subject.step = broken  # type: ignore[method-assign]
    with pytest.raises(ZeroDivisionError):
        setting.run(60)
    assert not setting.hand.felt[-1].any()


def test_the_device_stands_anywhere(tmp_path: Path) -> None:
    """A device turned by a quarter about z, moved, and ten times too small: its x is the world's y."""
    quarter = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))
    mounting = Mounting(Pose((1.0, 2.0, 3.0), quarter), scale=10.0, force_scale=0.1)
    setting = Setting(tmp_path, Hand(speed=1.0), mounting=mounting)
    felt = setting.run(11)[:-1]
    hand = setting.subject.hands[10]
    assert hand is not None
    np.testing.assert_allclose(hand.position, (1.0, 2.0 + 10.0 * 0.01, 3.0), atol=1e-12)
    np.testing.assert_allclose(hand.quaternion, quarter)
    # −100 N/m of (1, 2.1, 3) m in the world; along the device's axes, a tenth of it
    np.testing.assert_allclose(felt[10, :3], (-21.0, 10.0, -30.0), atol=1e-9)


def test_limits_hold_at_the_device_where_forces_are_larger(tmp_path: Path) -> None:
    """Forces ten times as large at a device that is turned: at most 2 N and 0.1 N a tick is what it is told."""
    quarter = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))
    mounting = Mounting(Pose((0.0, 0.0, 0.0), quarter), force_scale=10.0)
    limits = Limits(2.0, math.inf, 100.0, math.inf)
    setting = Setting(tmp_path, Hand(speed=1.0), limits=limits, mounting=mounting)
    felt = setting.run(100)[:-1, :3]
    # 1000 N/m at 1 m/s is 1 N a tick: it is eased all the way to 2 N, and stays there
    np.testing.assert_allclose(felt[:21, 0], -0.1 * np.arange(21), atol=1e-12)
    np.testing.assert_allclose(felt[21:, 0], -2.0, atol=1e-12)
    assert not felt[:, 1:].round(12).any()

    row, parts = setting.board.now.read(), setting.board.now.parts
    np.testing.assert_allclose(row[parts["force"]], (0.0, -2.0, 0.0), atol=1e-12)  # felt, along the world's axes


def test_a_scaled_force_that_is_not_finite_is_not_sent(tmp_path: Path) -> None:
    setting = Setting(tmp_path, Hand(speed=1e306), Limits(1.0, 1.0, math.inf, math.inf), Mounting(force_scale=1e6))
    with np.errstate(over="ignore", invalid="ignore"):
        felt = setting.run(5)
    assert not felt.any() and setting.board.statistics.failed == 4


def test_after_a_pause_the_hand_takes_hold_anew(tmp_path: Path) -> None:
    setting = Setting(tmp_path, Hand())
    for _ in range(3):
        setting.engine.tick()
    setting.engine.paused = True
    for _ in range(50):
        setting.engine.tick()
    assert setting.subject.ticks == 3 and not setting.subject.fresh and not setting.hand.felt[-1].any()
    setting.engine.paused = False
    for _ in range(3):
        setting.engine.tick()
    assert setting.subject.fresh == [3] and setting.subject.periods == [1] * 6


def test_the_hands_way_in_skipped_periods_is_that_of_a_longer_time(tmp_path: Path) -> None:
    setting = Setting(tmp_path, Hand(), takes={10: 2.5e-3, 15: 7.2e-3})
    setting.run(20)
    expected = [1] * 20
    expected[11], expected[16] = 2, 7
    assert setting.subject.periods == expected and not setting.subject.fresh

    class Script(Hand):
        paced_by_ticks = True  # a late reading is the next sample all the same

    (tmp_path / "other").mkdir()
    scripted = Setting(tmp_path / "other", Script(), takes={10: 2.5e-3, 15: 7.2e-3})
    scripted.run(20)
    assert scripted.subject.periods == [1] * 20 and scripted.board.statistics.skipped == 7


def test_the_hands_way_in_failed_steps_is_that_of_a_longer_time(tmp_path: Path) -> None:
    setting = Setting(tmp_path, Hand(), fails=range(5, 8))
    setting.run(10)
    assert setting.subject.periods == [1, 1, 1, 1, 1, 1, 2, 3, 4, 1]


def test_buttons_that_cannot_be_read_lose_the_device(tmp_path: Path) -> None:
    class Odd(Hand):
        def state(self) -> DeviceState:
            state = super().state()
            return state if self.reads < 10 else DeviceState(state.pose, buttons=None)  # type: ignore[arg-type]

    setting = Setting(tmp_path, Odd(speed=1.0))
    felt = setting.run(20)
    assert setting.board.statistics.lost and setting.subject.ticks == 20
    assert felt[8, 0] < 0.0 and not felt[9:].any() and len(felt) == 11


@pytest.mark.parametrize("lost", ["lost_reading", "lost_writing"])
def test_a_strand_whose_device_is_lost_pulls_at_nothing_within_the_tick(tmp_path: Path, lost: str) -> None:
    strand = StrandSubject(suture.thread(), suture.base(), VirtualCoupling(50.0, 0.1), PERIOD)
    clock, hand = Clock(), Hand(speed=1.0, **{lost: 5})  # type: ignore[arg-type]
    engine = Engine(
        strand, hand, Board(tmp_path / "board", make=True), period=PERIOD, limits=Limits(1.0, 1.0, 1e3, 1e3),
        mounting=Mounting(at_grip=True), clock=clock, sleep=clock.sleep,
    )  # fmt: skip
    strand.rehearse()
    tip = strand.place()
    assert tip[:3].any()  # the free strand's, though nothing was stepped
    for _ in range(5):
        engine.tick()
    assert hand.felt[4].any() and not engine.lost
    np.testing.assert_allclose(strand.place()[:3], tip[:3], atol=0.01)
    engine.tick()
    assert engine.lost and len(hand.felt) == 6 and not hand.felt[5].any()
    engine.tick()
    assert len(hand.felt) == 6 and strand.time == pytest.approx(7 * PERIOD) and not strand.wrench.any()


def test_a_hand_that_begins_at_the_grip(tmp_path: Path) -> None:
    class Far(Hand):
        def state(self) -> DeviceState:
            self.reads += 1
            return DeviceState(Pose((5.0 + 0.01 * (self.reads - 1), 4.0, 3.0), (0.0, 1.0, 0.0, 0.0)))

    setting = Setting(tmp_path, Far(), mounting=Mounting(at_grip=True))
    setting.run(3)
    first, second = setting.subject.hands[:2]
    assert first is not None and second is not None
    np.testing.assert_allclose(first.position, 0.0, atol=1e-12)
    np.testing.assert_allclose(np.abs(first.quaternion), (1.0, 0.0, 0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(second.position, (0.01, 0.0, 0.0), atol=1e-12)


def test_what_is_told_about_the_present(tmp_path: Path) -> None:
    setting = Setting(tmp_path, Hand())
    for _ in range(8):
        setting.engine.tick()
    other = Board(tmp_path / "board")  # as another process opens it
    row, parts = other.now.read(), other.now.parts
    assert row[parts["time"]] == 8 * PERIOD
    np.testing.assert_allclose(row[parts["hand"]][:3], (7e-4, 0.0, 0.0))
    np.testing.assert_allclose(row[parts["force"]], (-0.07, 0.0, 0.0))
    assert row[parts["buttons"]] == 2 and row[parts["engaged"]] == 1
