"""A loop's scene and its twin that a page shows: states are taken over, and what is done to one is done to both."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sennit as sn
from sennit import InputError
from sennit.haptics import HapticLoop, MouseDevice, ScriptedDevice, mirror
from sennit.haptics.board import FAILED, Board
from sennit.haptics.handover import Loan, hand_back, take_back
from sennit.haptics.mirror import CUT, StateReader, StateWriter
from sennit.haptics.shown import LoopHost, LoopPlay
from sennit.haptics.stage import Stage
from sennit.haptics.subjects import SceneSubject
from sennit.live.arrows import MOST_CONTACTS, arrows_of
from sennit.live.spells import KINDS, Spell

DT = 1e-3


def hung() -> tuple[sn.Scene, sn.Rod]:
    """A rope between a clamp and a box that hangs on a cable."""
    scene = sn.Scene(drag=0.5, name="hung")
    material = sn.Material(5e6, 0.4, 1100.0, relaxation_time=2e-3)
    rope = scene.add(
        sn.Rod.straight((0, 0, 1), (1, 0, 1), section=sn.Section.circle(0.01), material=material, control_points=19)
    )
    scene.add(sn.Clamp(rope.at(0.0), name="wall"))
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=0.3, position=(1.0, 0.0, 0.4)))
    scene.add(sn.Cable([rope.at(1.0), box.at((0.0, 0.0, 0.05))], stretch_stiffness=500.0, name="cord"))
    scene.add(sn.Load(box.at(), force=(0.1, 0.0, 0.0)))
    return scene, rope


class Both:
    """The scene of a loop and its twin, in one process: messages are done at once."""

    def __init__(self, path: Path, *, mouse: MouseDevice | None = None, grip: bool = True) -> None:
        self.scene, self.rope = hung()
        there, rope = hung()
        self.subject = SceneSubject(there, rope.at(0.5) if grip else None, sn.VirtualCoupling(500.0, 5.0), DT)
        self.stage = Stage(self.subject)
        self.board = Board(path / "board", make=True)
        self.mouse = mouse
        self.play = LoopPlay(self.scene, self.board, self.tell, mouse=mouse, free=not grip, dt=DT)
        self.play.watch(self.stage.memory)
        self.told: list[dict[str, Any]] = []

    def tell(self, message: dict[str, Any]) -> None:
        self.told.append(message)
        if message["say"] != "pause":
            self.stage.handle(message["say"], message)

    def run(self, steps: int, hand: sn.Pose | None = None) -> None:
        for _ in range(steps):
            if self.mouse is not None:
                state = self.mouse.state()
                hand = state.pose if state.engaged else None
            self.subject.step(hand)
        row = np.zeros(sum(part.stop - part.start for part in self.board.now.parts.values()))
        row[self.board.now.parts["grip"]] = self.subject.place()
        spell = self.subject.spell
        if spell is not None:
            row[self.board.now.parts["spell"]] = 1 + KINDS.index(spell.kind), spell.steps
        self.board.now.write(row)
        self.stage.show(1e-4)
        self.play.look()

    def same(self) -> None:
        """Everything that is seen is the same on both sides, bit for bit."""
        there = self.subject.scene
        ties = [c for c in there.constraints if c not in self.stage._twin._unseen()]
        assert [c.name for c in self.scene.constraints if c._name] == [c.name for c in ties if c._name]
        assert self.scene.time == there.time
        for here, other in zip((*self.scene.bodies, *self.scene.constraints), (*there.bodies, *ties), strict=True):
            for key, array in here._state_arrays().items():
                if "_last" not in key:
                    np.testing.assert_array_equal(array, other._state_arrays()[key], err_msg=f"{here} {key}")

    def tube(self) -> int:
        """Number of the rope's part in the picture."""
        cast = self.play.portrait.cast
        return next(k for k in range(len(cast.parts)) if self.play.portrait.subject(k) is self.rope)


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Both]:
    made = Both(tmp_path)
    yield made
    made.stage.close()


def test_states_are_taken_over(both: Both) -> None:
    both.run(50, sn.Pose((0.5, 0.1, 1.0)))
    both.same()
    assert both.rope.at(0.5).position[1] > 1e-4
    both.run(50)
    both.same()
    assert len(both.scene.constraints) == 2  # the loop's own tie is not seen
    assert both.play.look() == 1e-4  # nothing new: what was known


def test_a_state_of_other_things_is_not_taken_over(both: Both) -> None:
    both.run(5)
    before = both.scene.time
    both.stage._writer.changed()
    both.run(5)
    assert both.scene.time == before


def test_a_scene_with_other_numbers_is_told(tmp_path: Path) -> None:
    one, other = hung()[0], hung()[0]
    other.add(sn.Fix(other.bodies[1].at()))
    writer = StateWriter(one, tuple)
    reader = StateReader(other, writer.name)
    writer.write(0.0)
    assert not reader.read() and not reader.agrees
    writer.close()
    reader.close()


def test_a_second_hand_pulls(both: Both) -> None:
    both.run(5)
    both.play.grab(both.tube(), 0.7)
    both.run(1)
    assert both.play.holding
    start = both.rope.at(0.7).position
    both.play.drag(start + np.array((0.0, 0.2, 0.0)))
    both.run(200)
    both.same()
    hand, held = both.play.grip
    assert held[1] > 0.02 and hand[1] == pytest.approx(start[1] + 0.2)
    both.play.release()
    both.run(5)
    both.same()
    assert not both.play.holding


def test_pins_switches_and_removal_are_done_to_both(both: Both) -> None:
    both.run(5)
    both.play.pin(both.tube(), 0.4)
    assert [tie.name for tie in both.play.ties][:3] == ["wall", "cord", "pin 1"]
    both.run(20)
    both.same()
    both.play.switch(2, False)
    both.run(20)
    both.same()
    assert not both.scene.constraints[2].enabled
    both.play.remove(1)
    both.run(20)
    both.same()
    assert [tie.name for tie in both.play.ties] == ["wall", "pin 1"]
    both.play.set_gravity(np.zeros(3))
    np.testing.assert_array_equal(both.subject.scene.gravity, 0.0)
    both.play.reset()
    both.run(3)
    both.same()
    assert [tie.name for tie in both.play.ties] == ["wall", "cord"]
    assert both.subject.scene.gravity[2] == -9.81 and both.scene.time == pytest.approx(3 * DT)
    both.run(3, sn.Pose((0.5, 0.1, 1.0)))  # the hand still holds
    assert both.subject.wrench[1] > 1.0


def test_what_was_done_is_undone_in_both(both: Both) -> None:
    """The last thing first, whether it was a pin, a removal or a drag; the hand goes on holding."""
    hand = sn.Pose((0.5, 0.05, 1.0))
    both.run(20, hand)
    tip = both.rope.at(1.0).position
    both.play.remember()
    both.play.pin(both.tube(), 0.4)
    both.run(5, hand)
    both.play.remember()
    both.play.remove(0)
    both.run(20, hand)
    both.play.remember()
    both.play.grab(both.tube(), 1.0)
    both.play.drag(np.array((0.8, 0.0, 1.3)))
    both.run(200, hand)
    assert np.linalg.norm(both.rope.at(1.0).position - tip) > 0.05
    for names in (["pin 1", "cord"], ["cord", "pin 1", "wall"], ["cord", "wall"]):
        both.play.undo()
        both.run(1, hand)
        both.same()
        assert sorted(c.name for c in both.scene.constraints) == sorted(names)
    assert not both.play.holding and both.scene.time == pytest.approx(21 * DT)
    assert np.linalg.norm(both.rope.at(1.0).position - tip) < 1e-3
    both.run(20, hand)
    assert np.linalg.norm(both.subject.wrench) > 0.1  # the hand holds on
    with pytest.raises(InputError, match="nothing to undo"):
        both.play.undo()
    both.play._loan.check()


def test_what_could_not_be_done_is_forgotten_in_both(both: Both) -> None:
    both.run(5)
    forget = both.play.remember()
    with pytest.raises(InputError):
        both.play.remove(9)
    forget()
    assert not both.play.undoable and not both.stage._twin.undoable
    both.play.remember()
    both.play.pin(both.tube(), 0.4)
    both.play.undo()
    both.run(3)
    both.same()


def test_forces_of_the_loops_constraints_are_shown(both: Both) -> None:
    both.run(50)
    assert both.play.forces == ("constraints", "contacts")
    room = both.play.arrow_room((True, False))
    rows = both.play.arrows((True, False), room)
    ties = [c for c in both.subject.scene.constraints if c not in both.stage._twin._unseen()]
    np.testing.assert_allclose(rows, np.concatenate([arrows_of(tie) for tie in ties]), rtol=1e-9, atol=1e-12)
    assert np.abs(rows[:, 3:]).max() > 0.01


def test_forces_of_the_loops_contacts_are_shown_while_they_are_wanted(tmp_path: Path) -> None:
    """Those of the loop's scene: the one here takes no steps, and knows of none."""
    made = []
    for _ in range(2):
        scene = sn.Scene()
        box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=2.0, position=(0, 0, 0.05), name="box"))
        scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
        scene.collide()
        made.append((scene, box))
    (here, _), (there, box) = made
    subject = SceneSubject(there, box.at((0, 0, 0.05)), sn.VirtualCoupling(500.0, 5.0), DT)
    stage, board, told = Stage(subject), Board(tmp_path / "board", make=True), []

    def tell(message: dict[str, Any]) -> None:
        told.append(message)
        stage.handle(message["say"], message)

    play = LoopPlay(here, board, tell, mouse=None, free=False, dt=DT)
    play.watch(stage.memory)

    def run() -> None:
        for _ in range(20):
            subject.step(None)
        stage.show(0.0)
        play.look()

    run()
    assert not play._reader.contacts.any()  # type: ignore[union-attr]
    room = play.arrow_room((True, True))
    assert room == MOST_CONTACTS and told[-1] == {"say": "arrows", "contacts": True}
    run()
    rows = play.arrows((True, True), room)
    pressed = np.array([[*contact.position, *contact.force] for contact in there.contacts])
    assert len(pressed) == 4 and rows[:, 5].sum() == pytest.approx(2.0 * 9.81, rel=1e-6)
    order = np.argsort(-np.linalg.norm(pressed[:, 3:], axis=1), kind="stable")
    np.testing.assert_array_equal(rows[:4], pressed[order])
    assert not rows[4:].any()
    assert play.arrow_room((False, False)) == 0 and told[-1] == {"say": "arrows", "contacts": False}
    run()
    assert not play._reader.contacts.any()  # type: ignore[union-attr]
    stage.close()


def test_a_rod_is_cut_in_both_and_made_whole_again(tmp_path: Path) -> None:
    """Between the hand and the box, in the state of the loop; the hand goes on holding its piece. Then undone."""
    both = Both(tmp_path)
    hand = sn.Pose((0.5, 0.05, 1.0))
    both.run(20, hand)
    for _ in range(7):  # what the page sees is of a moment before
        both.subject.step(hand)
    both.play.remember()
    assert list(both.play.cuttable) == [both.tube()]
    assert both.play.cut([(both.tube(), 0.75)]) == []
    assert len(both.scene.bodies) == len(both.subject.scene.bodies) == 3
    both.run(1, hand)
    both.same()
    for scene in (both.scene, both.subject.scene):
        assert [event.kind for event in scene.events] == ["cut"]
    piece = both.scene.bodies[-1]
    height = piece.at(piece.length).position[2]
    both.run(200, hand)
    both.same()
    assert piece.at(piece.length).position[2] < height - 0.05  # it falls, with the box
    assert both.rope.at(0.5).position[1] > 0.01 and both.subject.wrench[1] > 0.1
    both.play.remember()
    both.play.cut([(both.tube(), 0.5)])  # once more
    both.run(5, hand)
    both.same()
    both.play.undo()
    both.run(5, hand)
    both.same()
    both.play.undo()
    both.run(20, hand)
    both.same()
    assert len(both.scene.bodies) == 2 and both.rope.length == pytest.approx(1.0)
    both.play.cut([(both.tube(), 0.3)])
    both.run(5, hand)
    both.play.reset()
    both.run(5, hand)
    both.same()
    assert len(both.scene.bodies) == 2
    both.play._loan.check()
    both.stage.close()


def test_a_cut_that_is_refused_changes_neither(both: Both) -> None:
    both.run(20)
    with pytest.raises(InputError, match="was not cut"):
        both.play.cut([(both.tube(), 0.0)])
    with pytest.raises(InputError, match="scissors cut rods"):
        both.play.cut([(both.tube() + 1, 0.5)])
    both.run(20)
    both.same()
    assert len(both.scene.bodies) == len(both.subject.scene.bodies) == 2
    both.play._loan.check()


def test_cuts_come_back_with_the_scene(tmp_path: Path) -> None:
    both = Both(tmp_path)
    both.run(5)
    both.subject.scene._events.append(sn.Event(both.subject.time, "divided", (), "halved"))  # type: ignore[arg-type]
    both.play.cut([(both.tube(), 0.6)])
    both.run(50)
    both.subject.let_go()
    hand_back(both.subject.scene, tmp_path / "back.npz")
    take_back(both.play._loan, tmp_path / "back.npz")
    both.same()
    events = both.scene.events
    assert [event.kind for event in events] == ["divided", "cut"]
    assert events[1].subjects[0] is both.rope
    both.scene.step(DT)
    both.stage.close()


def test_how_often_can_be_cut_is_told(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    both.run(5)
    before = both.play._reader._arrays.size  # type: ignore[union-attr]
    both.play.cut([(both.tube(), 0.5)])
    both.run(5)
    assert both.play._reader._arrays.size - before < CUT  # type: ignore[union-attr]
    monkeypatch.setattr(mirror, "CUT", 10**6)
    with pytest.raises(InputError, match="no more can be cut"):
        both.play.cut([(both.tube(), 0.5)])


def test_what_the_page_changes_belongs_to_the_loan(both: Both, tmp_path: Path) -> None:
    loan = both.play._loan
    both.run(5)
    both.play.pin(both.tube(), 0.4)
    both.play.remove(0)
    loan.check()
    both.run(20)
    both.subject.let_go()
    hand_back(both.subject.scene, tmp_path / "back.npz")
    take_back(loan, tmp_path / "back.npz")
    both.same()
    both.play.reset()
    loan.check()
    assert [c.name for c in both.scene.constraints] == ["wall", "cord"]


def test_a_scene_that_somebody_else_changes_is_not_taken_for_the_loops(both: Both) -> None:
    both.run(5)
    before = both.scene.time
    extra = both.scene.add(sn.Fix(both.rope.at(0.2), name="extra"))
    both.run(5)
    assert both.scene.time == before
    for ask in (lambda: both.play.pin(both.tube(), 0.4), lambda: both.play.switch(0, False)):
        with pytest.raises(InputError, match="'extra' was added"):
            ask()
    with pytest.raises(InputError, match="'extra' was added"):
        both.play.remove(0)
    assert not both.told and len(both.scene.constraints) == 3
    both.scene.remove(extra)
    both.run(5)
    both.same()


def test_what_a_loop_that_has_ended_was_not_told_is_undone(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    both.run(5)

    def nobody(message: dict[str, Any]) -> None:
        raise EOFError

    monkeypatch.setattr(both.play, "_tell", nobody)
    for ask in (lambda: both.play.pin(both.tube(), 0.4), lambda: both.play.remove(0)):
        with pytest.raises(EOFError):
            ask()
    assert [c.name for c in both.scene.constraints] == ["wall", "cord"]
    both.play._loan.check()


@pytest.mark.parametrize("missing", ["state/0/", "state/2/", "shape", "kind"])
def test_a_state_that_does_not_fit_changes_nothing(tmp_path: Path, missing: str) -> None:
    scene, other = hung()[0], hung()[0]
    other.gravity = (0.0, 0.0, 1.0)
    other.run(0.02, DT)
    if missing == "kind":
        other.remove(other.constraints[0])
    path = tmp_path / "back.npz"
    hand_back(other, path)
    with np.load(path) as data:
        arrays = dict(data)
    for key in [key for key in arrays if key.startswith(missing)]:
        del arrays[key]
    if missing == "shape":
        key = next(key for key in arrays if key.startswith("state/1/"))
        arrays[key] = np.zeros((1, 99))
    np.savez(path, **arrays)
    loan = Loan(scene)
    scene._compiled()
    before = [{key: array.copy() for key, array in thing._state_arrays().items()} for thing in scene._numbered()]
    with pytest.raises(InputError, match="the scene here is unchanged"):
        take_back(loan, path)
    assert scene.time == 0.0 and scene.gravity[2] == -9.81
    for thing, numbers in zip(scene._numbered(), before, strict=True):
        for key, array in thing._state_arrays().items():
            np.testing.assert_array_equal(array, numbers[key], err_msg=f"{thing} {key}")


def test_handles_move_both(both: Both) -> None:
    handle = both.play.handles[0]
    assert handle.name == "wall"
    handle.move(sn.Pose((0.0, 0.0, 1.1), handle.read().quaternion))
    both.run(50)
    both.same()
    np.testing.assert_allclose(both.rope.at(0.0).position, (0.0, 0.0, 1.1), atol=1e-6)


@pytest.mark.parametrize("grip", [False, True])
def test_the_mouse_is_the_hand_of_the_loop(tmp_path: Path, grip: bool) -> None:
    """With a grip it moves that, as far as the place that was grabbed is dragged; else it takes what was grabbed."""
    mouse = MouseDevice(smoothing=0.005)
    both = Both(tmp_path, mouse=mouse, grip=grip)
    both.run(5)
    held = both.rope.at(0.5 if grip else 0.8)
    start = held.position
    both.play.grab(both.tube(), 0.8)
    both.play.drag(both.rope.at(0.8).position + np.array((0.0, 0.1, 0.0)))
    both.run(400)
    both.same()
    assert held.position[1] - start[1] == pytest.approx(0.1, rel=0.2)
    both.play.release()
    both.run(2)
    assert not both.subject.wrench.any()
    assert (both.subject.tie is None) is not grip
    both.stage.close()


def test_the_page_is_told_what_is_done_to_the_loops_steps(both: Both) -> None:
    both.run(5)
    assert both.play.spell is None
    both.subject.scene._events.append(sn.Event(both.subject.time, "divided", (), "halved"))  # type: ignore[arg-type]
    both.run(5)
    assert both.play.spell == Spell("divided", 1)
    both.run(2100)
    assert both.play.spell is None


def test_the_page_is_told_that_the_loops_steps_fail(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    host = LoopHost(both.play, both.tell)
    now = [0.0]
    monkeypatch.setattr(host, "_clock", lambda: now[0])
    host.advance(0.0)
    assert host._failure == ""
    both.board.counts[FAILED] += 1
    host.advance(0.0)
    assert "no solution" in host._failure
    now[0] = 1.0
    host.advance(0.0)
    assert host._failure
    now[0] = 3.0
    host.advance(0.0)
    assert host._failure == ""


def test_the_host_counts_the_loops_time(both: Both) -> None:
    host = LoopHost(both.play, both.tell)
    both.run(16)
    assert host.advance(0.0) == 16
    host.paused = True
    host.advance(0.0)
    assert both.told[-1] == {"say": "pause", "on": True}
    with pytest.raises(InputError, match="real time"):
        host._do_speed(0.5)


def test_a_loop_is_seen_on_a_page_and_the_scene_comes_back() -> None:
    scene, rope = hung()
    hand = ScriptedDevice(np.tile((0.5, 0.1, 1.0), (10, 1)), repeat=True)
    with HapticLoop(scene, hand, grip=rope.at(0.5), coupling=sn.VirtualCoupling(500.0, 5.0)) as loop:
        url = loop.view(port=0, browser=False)
        assert url == loop.view()  # one page
        assert urllib.request.urlopen(url, timeout=60).status == 200
        before, deadline = scene.time, time.monotonic() + 60.0
        while scene.time <= before + 0.05:  # the scene here shows what the loop does
            assert time.monotonic() < deadline
            time.sleep(0.02)
    assert scene.time == pytest.approx(loop.statistics.ticks * DT) and len(scene.constraints) == 2
    scene.step(DT)
    with pytest.raises(InputError, match="does not run"):
        loop.view()
