"""The host: real time, what the page asks, and steps that fail."""

from __future__ import annotations

import dataclasses
import math
import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sennit.controls import Dashboard
from sennit.errors import InputError, SolveError, SolveReport
from sennit.geometry.pose import Pose
from sennit.live.channel import STATUS, FrameReader, Layout
from sennit.live.host import Host
from sennit.live.pace import FRAMES
from sennit.live.play import Handle, Place, Tie
from sennit.live.spells import Spell
from sennit.live.wire import Wire
from sennit.portrait.cast import Cast, Portrait
from sennit.portrait.parts import Tube


class Clock:
    """Real time that passes only where it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Toy(Dashboard):
    """A play of one tube; a step takes `cost` seconds of the clock."""

    title, dt, camera, ground, time_scale, trouble = "toy", 0.01, None, None, 1.0, ""
    spell: Spell | None = None

    def __init__(self, clock: Clock, cost: float = 0.001) -> None:
        super().__init__()
        self.clock, self.cost = clock, cost
        self.steps = self.resets = 0
        self.fails = False
        self.visible = True
        self.holding = False
        self.held: Any = None
        self.hand = np.zeros(3)
        self.pose = Pose()
        self.on = True
        self.gravity: Any = np.array((0.0, 0.0, -9.81))
        self.portrait = self.drawn()

    def drawn(self) -> Portrait:
        portrait = Portrait()
        tube = Tube(name="rope", colour=(1, 2, 3), count=3, half=(0.1, 0.1))

        def read(view: Any) -> None:
            view.centres[:] = self.time if self.visible else math.nan

        portrait.add(tube, read)
        return portrait

    @property
    def time(self) -> float:
        return self.steps * self.dt

    @property
    def handles(self) -> list[Handle]:
        return [Handle("grip", True, lambda: self.pose, lambda pose: setattr(self, "pose", pose))]

    @property
    def ties(self) -> list[Tie]:
        return [Tie("clamp", "Clamp", self.on, (0,))]

    @property
    def grip(self) -> Any:
        return self.hand, np.ones(3)

    def step(self) -> None:
        if self.fails:
            raise SolveError(SolveReport("failed", 1, 1.0, "step", 3, "no solution"))
        self.clock.now += self.cost
        self.steps += 1

    def reset(self) -> None:
        self.resets += 1
        self.steps = 0

    def set_gravity(self, value: Any) -> None:
        self.gravity = value

    def grab(self, part: int, place: Place) -> None:
        if part != 0:
            raise InputError("this can't be held")
        self.holding, self.held = True, place

    def drag(self, hand: Any) -> None:
        self.hand = hand

    def release(self) -> None:
        self.holding = False

    def pin(self, part: int, place: Place) -> None:
        self.held = ("pin", part, place)

    def switch(self, tie: int, on: bool) -> None:
        self.on = on

    def remove(self, tie: int) -> None:
        self.held = ("removed", tie)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def toy(clock: Clock) -> Toy:
    return Toy(clock)


@pytest.fixture
def host(toy: Toy, clock: Clock) -> Host:
    return Host(toy, clock)


@pytest.fixture
def page(host: Host) -> Iterator[Wire]:
    """The page's end of the wire."""
    (a_in, b_out), (b_in, a_out) = os.pipe(), os.pipe()
    ours = Wire(os.fdopen(a_in, "rb"), os.fdopen(a_out, "wb"))
    theirs = Wire(os.fdopen(b_in, "rb"), os.fdopen(b_out, "wb"))
    host.attach(ours)
    yield theirs
    host.close()
    theirs.close()
    ours.close()


def test_simulated_time_follows_real_time(host: Host, toy: Toy, clock: Clock) -> None:
    for _ in range(120):
        clock.now += 1.0 / 60.0
        host.advance(1.0 / 60.0)
    assert toy.time == pytest.approx(2.0, abs=1.5 * toy.dt)
    host.handle({"do": "speed", "value": 0.25})
    before = toy.time
    for _ in range(120):
        clock.now += 1.0 / 60.0
        host.advance(1.0 / 60.0)
    assert toy.time - before == pytest.approx(0.5, abs=1.5 * toy.dt)


def test_a_simulation_that_is_too_slow_goes_slowly_and_says_so(clock: Clock) -> None:
    toy = Toy(clock, cost=0.04)  # four times as long as it simulates
    host = Host(toy, clock)
    begin = clock.now
    elapsed = 1.0 / FRAMES
    for _ in range(200):
        before = clock.now
        host.advance(elapsed)
        clock.now = max(clock.now, before + 1.0 / FRAMES)
        elapsed = clock.now - before
        assert elapsed < 0.05  # each step is shown
    assert toy.time / (clock.now - begin) == pytest.approx(0.25, rel=0.05)
    assert host.pace == pytest.approx(0.25, rel=0.1)
    assert host.busy > 0.9


def test_what_is_slow_to_show_is_shown_less_often(clock: Clock) -> None:
    """Steps of a simulation that is too slow get three quarters of the time, and no more."""
    toy = Toy(clock, cost=0.012)
    host = Host(toy, clock)
    begin, elapsed = clock.now, 0.02
    for _ in range(100):
        before = clock.now
        host.advance(elapsed)
        clock.now += 0.02  # to show it
        elapsed = clock.now - before
        assert elapsed <= 0.02 + 3.0 * 0.02 + toy.cost + 1e-9
    assert toy.steps * toy.cost > 0.7 * (clock.now - begin)


def test_pause_step_run_and_reset(host: Host, toy: Toy, clock: Clock) -> None:
    host.handle({"do": "pause"})
    host.advance(1.0)
    assert toy.steps == 0
    host.handle({"do": "step"})
    assert (toy.steps, host.paused) == (1, True)
    host.handle({"do": "run"})
    host.advance(0.011)
    assert toy.steps == 2
    host.handle({"do": "reset"})
    assert (toy.steps, toy.resets) == (0, 1)


def test_a_step_that_fails_pauses_and_is_told(host: Host, toy: Toy, page: Wire, clock: Clock) -> None:
    assert page.receive(5.0) is not None
    host.advance(0.031)
    toy.fails = True
    assert host.advance(0.03) == 0
    assert host.paused and toy.steps == 3
    header, _ = page.receive(5.0) or ({}, b"")
    assert header["say"] == "note" and header["level"] == "error" and "no solution" in header["text"]


def test_a_script_that_fails_pauses_and_is_told(
    host: Host, toy: Toy, page: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    assert page.receive(5.0) is not None
    toy.step = lambda: 1 / 0  # type: ignore[assignment, return-value]
    assert host.advance(0.03) == 0
    assert host.paused
    header, _ = page.receive(5.0) or ({}, b"")
    assert header["level"] == "error" and "ZeroDivisionError" in header["text"]
    assert "Traceback" in capsys.readouterr().err


def seen(header: dict[str, Any]) -> dict[str, Any]:
    """The newest frame in the memory that a message names, by kind."""
    reader = FrameReader(header["memory"])
    got = reader.read()
    reader.close()
    assert got is not None
    return Layout(**header["layout"]).split(got[1])


def words(page: Wire) -> list[dict[str, Any]]:
    """What was said about the state."""
    said = []
    while (message := page.receive(0.2)) is not None:
        if message[0]["say"] == "state":
            said.append(message[0])
    return said


def test_what_failed_stays_in_sight_with_the_last_good_picture(host: Host, toy: Toy, page: Wire) -> None:
    header, _ = page.receive(5.0) or ({}, b"")
    host.advance(0.031)
    host.publish()
    toy.fails = True
    host.advance(0.03)
    host.publish()
    (word,) = words(page)
    assert "no solution" in word["failed"]
    pieces = seen(header)
    assert pieces["status"][STATUS.index("paused")] == 1.0
    assert np.all(pieces["parts"][1:10] == 3 * toy.dt)
    host.publish()
    assert words(page) == []  # nothing new
    toy.fails = False
    host.handle({"do": "step"})
    host.publish()
    assert [word["failed"] for word in words(page)] == [""]


@pytest.mark.parametrize("how", ["nowhere", "raises"])
def test_a_state_that_cannot_be_seen_leaves_the_last_picture(
    how: str, host: Host, toy: Toy, page: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page is never empty: neither where places are not finite, nor where drawing raises."""
    header, _ = page.receive(5.0) or ({}, b"")
    host.advance(0.031)
    host._show()
    host.advance(0.01)
    if how == "nowhere":
        toy.visible = False
    else:
        toy.portrait.capture = lambda: 1 / 0  # type: ignore[assignment, method-assign, return-value]
    for _ in range(3):
        host._show()
    assert host.paused
    pieces = seen(header)
    assert pieces["status"][STATUS.index("paused")] == 1.0
    assert np.all(pieces["parts"][1:10] == 3 * toy.dt)
    said = [message[0] for message in iter(lambda: page.receive(0.2), None)]
    assert [entry["say"] for entry in said] == ["note", "state"]  # once
    assert said[0]["level"] == "error"
    assert ("not finite" if how == "nowhere" else "ZeroDivisionError") in said[1]["failed"]
    assert ("Traceback" in capsys.readouterr().err) == (how == "raises")


def test_a_badge_is_told_a_few_times_a_second(host: Host, toy: Toy, page: Wire, clock: Clock) -> None:
    host.publish()
    assert words(page) == []
    for steps in range(1, 61):  # a second
        toy.spell = Spell("divided", steps, "halved")
        host.publish()
        clock.now += 1.0 / 60.0
    said = words(page)
    assert said[0] == {"say": "state", "failed": "", "spell": ["divided", 1, "halved"], "undo": False, "tape": ""}
    assert 4 <= len(said) <= 6
    toy.spell = None
    clock.now += 1.0
    host.publish()
    assert [word["spell"] for word in words(page)] == [None]


def test_what_a_person_should_know_is_told_once(host: Host, toy: Toy, page: Wire) -> None:
    assert page.receive(5.0) is not None
    toy.trouble = "the rope has left the hole"
    host.advance(0.05)
    header, _ = page.receive(5.0) or ({}, b"")
    assert header == {"say": "note", "level": "info", "text": "the rope has left the hole"}
    host.advance(0.05)
    assert page.receive(0.1) is None


def test_the_page_is_told_what_there_is(host: Host, toy: Toy, page: Wire) -> None:
    header, payload = page.receive(5.0) or ({}, b"")
    assert header["say"] == "cast" and header["generation"] == 1
    assert [part.name for part in Cast.from_bytes(payload).parts] == ["rope"]
    assert header["ties"] == [
        {"name": "clamp", "kind": "Clamp", "enabled": True, "parts": [0], "removable": True},
    ]
    assert header["handles"] == [{"name": "grip", "turns": True}]
    assert header["gravity"] == [0.0, 0.0, -9.81]
    toy.control("winch", lambda value: None, 1.0, range=(0.0, 2.0), unit="m/s")
    toy.watch("sag", lambda: 0.5, "m")
    host.publish()
    header, _ = page.receive(5.0) or ({}, b"")
    assert header["generation"] == 2
    slider = {
        "name": "winch", "kind": "slider", "value": 1.0, "range": [0.0, 2.0], "unit": "m/s", "choices": None,
        "key": None,
    }  # fmt: skip
    assert header["controls"] == [slider]
    assert header["watches"] == [{"name": "sag", "unit": "m", "shown": True}]
    host.publish()
    assert page.receive() is None  # nothing new


def test_frames_hold_the_present_state(host: Host, toy: Toy, page: Wire, clock: Clock) -> None:
    toy.watch("sag", lambda: 0.5, "m")
    host.advance(0.05)
    host.handle({"do": "grab", "part": 0, "place": 0.5, "generation": 1})
    host.handle({"do": "drag", "hand": [1, 2, 3]})
    host.publish()
    header: dict[str, Any] = {}
    while (message := page.receive(0.2)) is not None:
        header = message[0]
    reader = FrameReader(header["memory"])
    got = reader.read()
    assert got is not None
    pieces = Layout(**header["layout"]).split(got[1])
    status = dict(zip(STATUS, pieces["status"].tolist(), strict=True))
    assert status["time"] == toy.time > 0.0
    assert status["holding"] == 1.0
    assert [status[f"hand_{axis}"] for axis in "xyz"] == [1.0, 2.0, 3.0]
    assert status["step_us"] == pytest.approx(1e3)
    assert pieces["watches"].tolist() == [0.5]
    assert np.all(pieces["parts"][1:10] == toy.time)
    assert pieces["handles"][0].tolist() == [0, 0, 0, 1, 0, 0, 0]
    reader.close()


def test_only_what_somebody_wants_to_see_is_read(host: Host, toy: Toy, page: Wire) -> None:
    reads: list[int] = []
    watch = toy.watch("force", lambda: float(len(reads)) if reads.append(1) is None else 0.0, "N")
    toy._watches[0] = dataclasses.replace(watch, chosen=False)
    host.publish()
    assert reads == [] and np.isnan(host._layout.split(host._frame)["watches"][0])
    host.handle({"do": "watch", "watch": 0, "on": True, "generation": 2})
    host.publish()
    assert len(reads) == 1 and host._layout.split(host._frame)["watches"][0] == 1.0
    host.handle({"do": "watch", "watch": 0, "on": False, "generation": 2})
    host.publish()
    assert len(reads) == 1


def test_a_watch_that_fails_leaves_a_gap_and_one_note(host: Host, toy: Toy, page: Wire) -> None:
    def broken() -> float:
        raise ZeroDivisionError("no length")

    toy.watch("ratio", broken)
    for _ in range(3):
        host.publish()
    notes = []
    while (message := page.receive(0.2)) is not None:
        if message[0]["say"] == "note":
            notes.append(message[0]["text"])
    assert notes == ["ratio can't be read: ZeroDivisionError: no length"]


def test_commands_reach_the_play(host: Host, toy: Toy, page: Wire) -> None:
    moved: list[Any] = []
    toy.control("winch", moved.append, 1.0, range=(0.0, 2.0))
    toy.control("jump", lambda: moved.append("jump"))
    host.publish()
    g = {"generation": 2}
    host.handle({"do": "control", "control": 0, "value": 0.5, **g})
    host.handle({"do": "control", "control": 1, **g})
    host.handle({"do": "gravity", "value": [0, 0, -1.6]})
    host.handle({"do": "switch", "tie": 0, "on": False, **g})
    host.handle({"do": "handle", "handle": 0, "position": [1, 0, 0], "quaternion": [0, 1, 0, 0], **g})
    assert moved == [0.5, "jump"]
    assert toy.gravity.tolist() == [0.0, 0.0, -1.6]
    assert not toy.on
    assert toy.pose.position.tolist() == [1.0, 0.0, 0.0]
    host.handle({"do": "pin", "part": 0, "place": 0.5, **g})
    assert toy.held == ("pin", 0, 0.5)
    host.handle({"do": "remove", "tie": 0, **g})
    assert toy.held == ("removed", 0)


@pytest.mark.parametrize(
    "header",
    [
        {"say": "do", "do": "control", "control": 0, "value": 9.0, "generation": 2},
        {"say": "do", "do": "control", "control": 0, "value": True, "generation": 2},
        {"say": "do", "do": "control", "control": 0, "generation": 2},
        {"say": "do", "do": "grab", "part": 0, "place": 2.0, "generation": 2},
        {"say": "do", "do": "grab", "part": 0, "place": 0.5, "generation": 1},
        {"say": "do", "do": "_step"},
        {"say": "do"},
    ],
)
def test_a_malformed_message_changes_nothing_and_is_answered(
    host: Host, toy: Toy, page: Wire, header: dict[str, Any]
) -> None:
    moved: list[Any] = []
    toy.control("winch", moved.append, 1.0, range=(0.0, 2.0))
    host.publish()
    while page.receive(0.2) is not None:
        pass
    host.answer(header)
    assert moved == [] and not toy.holding and toy.steps == 0
    note, _ = page.receive(5.0) or ({}, b"")
    assert note["say"] == "note" and note["level"] == "warning"


def test_a_control_that_fails_is_told_and_ends_nothing(host: Host, toy: Toy, page: Wire) -> None:
    def broken() -> None:
        raise KeyError("winch")

    toy.control("jump", broken)
    host.publish()
    while page.receive(0.2) is not None:
        pass
    host.answer({"say": "do", "do": "control", "control": 0, "generation": 2})
    note, _ = page.receive(5.0) or ({}, b"")
    assert note["level"] == "error" and "KeyError" in note["text"]
    assert host.advance(0.05) > 0


def test_unknown_messages_are_left_alone(host: Host) -> None:
    for header in ({}, {"say": "what"}, {"say": "viewers", "count": -3}, {"say": "viewers", "count": "many"}):
        host.answer(header)
    assert host.viewers == 0


def test_a_page_that_is_gone_lets_go(host: Host, toy: Toy, page: Wire) -> None:
    host.handle({"do": "grab", "part": 0, "place": 0.5, "generation": 1})
    page.close()
    for _ in range(1500):
        if host.closed:
            break
        host.poll()
        time.sleep(0.02)
    assert host.closed and not toy.holding
    host.publish()  # nobody looks: nothing happens


def test_the_frames_are_deleted_when_it_closes(host: Host, page: Wire) -> None:
    header, _ = page.receive(5.0) or ({}, b"")
    assert os.path.exists(header["memory"])
    host.close()
    assert not os.path.exists(header["memory"])
    assert (page.receive(5.0) or ({}, b""))[0] == {"say": "bye"}
