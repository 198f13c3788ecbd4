"""A strand on a page: where it goes when it is taken, pinned and turned, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sennit as sn
from sennit.errors import InputError
from sennit.live.strand_play import StrandPlay, rolled

NYLON = sn.Material(youngs_modulus=2.7e9, poisson_ratio=0.39, density=1150)
LENGTH = 0.25


def thread() -> sn.Strand:
    return sn.Strand(LENGTH, sn.Section.circle(radius=2e-4), NYLON, nodes=101)


@pytest.fixture
def play() -> StrandPlay:
    return StrandPlay(
        thread(),
        base=sn.Pose.along((0.0, 0.0, 0.0), (0.2, 0.0, 1.0)),
        hand=sn.Pose.along((0.11, 0.0, 0.06), (1.0, 0.0, -0.1)),
        coupling=sn.VirtualCoupling(stiffness=5.0, rotational_stiffness=1e-3),
    )


def steps(play: StrandPlay, count: int) -> None:
    for _ in range(count):
        play.step()


def test_what_is_taken_goes_to_the_hand_and_springs_back(play: StrandPlay) -> None:
    steps(play, 1)
    rest = play.state.positions.copy()
    play.grab(0, 0.5)
    assert play.holding
    place = play.grip[1]
    assert place == pytest.approx(rest[50], abs=1e-12)
    steps(play, 3)  # the hand is where the thread is: nothing moves
    assert play.state.positions == pytest.approx(rest, abs=1e-8)
    play.drag(place + np.array((0.0, 0.02, 0.0)))
    steps(play, 30)
    assert play.grip[1] == pytest.approx(place + np.array((0.0, 0.02, 0.0)), abs=1e-9)
    pull = play.state.via_forces[0]
    assert pull[1] > 0.0
    # all that acts on the thread is in balance
    weight = play.strand.mass_per_length * LENGTH * np.array((0.0, 0.0, -9.81))
    total = play.state.base_force + play.state.tip_force + pull + weight
    assert np.linalg.norm(total) < 1e-8 * np.linalg.norm(pull)
    play.release()
    steps(play, 1)
    assert play.state.positions == pytest.approx(rest, abs=1e-6)


def test_what_is_taken_goes_no_further_than_the_strand_reaches(play: StrandPlay) -> None:
    play.grab(0, 0.5)
    play.drag(np.array((0.0, 2.0, 0.0)))
    steps(play, 200)
    s = 0.5 * LENGTH
    assert np.linalg.norm(play.grip[1] - play.base.position) <= 0.971 * s
    assert np.isfinite(play.portrait.capture()).all()
    play.release()
    steps(play, 5)
    assert play.trouble == ""


def test_the_instrument_is_taken_at_the_tip(play: StrandPlay) -> None:
    play.grab(0, 1.0)
    start = play.grip[1]
    play.drag(start + np.array((0.0, 0.03, 0.02)))
    steps(play, 30)
    assert play.hand.position == pytest.approx((0.11, 0.03, 0.08), abs=1e-12)
    assert play.state.tip_pose.position == pytest.approx(play.hand.position, abs=2e-3)


def test_no_turn_is_skipped(play: StrandPlay) -> None:
    """The instrument turns no faster than it may, so that two turns at once twist the strand by two turns."""
    straight = StrandPlay(
        thread(),
        base=sn.Pose.along((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
        hand=sn.Pose.along((1.02 * LENGTH, 0.0, 0.0), (1.0, 0.0, 0.0)),  # taut: it does not buckle
        coupling=sn.VirtualCoupling(stiffness=50.0, rotational_stiffness=1.0),
        gravity=(0.0, 0.0, 0.0),
    )
    straight.turn_to(2.0)
    steps(straight, 250)
    assert straight.turns == 2.0
    twist = np.trapezoid(straight.state.curvatures[:, 2], straight.state.s) / (2.0 * math.pi)
    assert twist == pytest.approx(2.0, abs=1e-3)
    stiffness = straight.strand.stiffness[2, 2]
    assert straight.state.tip_torque[0] == pytest.approx(stiffness * 4.0 * math.pi / LENGTH, rel=1e-3)


def test_pins_hold_are_switched_and_removed(play: StrandPlay) -> None:
    steps(play, 1)
    before = play.portrait
    play.pin(0, 0.6)
    assert play.portrait is not before
    (tie,) = play.ties
    assert tie.kind == "pin" and tie.enabled and play.portrait.cast.parts[tie.parts[0]].name == tie.name
    place = play.state.positions[60].copy()
    play.grab(0, 1.0)
    play.drag(play.grip[1] + np.array((0.0, 0.03, 0.0)))
    steps(play, 30)
    assert play.state.positions[60] == pytest.approx(place, abs=1e-9)
    with pytest.raises(InputError, match="pin 1 holds the strand there"):
        play.grab(0, 0.6)
    play.switch(0, False)
    steps(play, 1)
    assert not play.ties[0].enabled
    assert np.linalg.norm(play.state.positions[60] - place) > 1e-3
    now = play.state.positions[60].copy()
    play.switch(0, True)  # where it is now
    steps(play, 1)
    assert play.state.positions[60] == pytest.approx(now, abs=1e-9)
    play.remove(0)
    assert play.ties == []


def test_another_strand_and_gravity(play: StrandPlay) -> None:
    steps(play, 1)
    height = play.state.positions[:, 2].max()
    play.set_gravity(np.array((0.0, 0.0, -40.0)))
    steps(play, 2)
    assert play.state.positions[:, 2].max() < height - 1e-3
    play.replace(sn.Strand(LENGTH, sn.Section.circle(radius=4e-4), NYLON, nodes=101))
    steps(play, 2)  # 16 times as stiff, 4 times as heavy
    assert play.state.positions[:, 2].max() > height - 1e-2
    with pytest.raises(InputError, match="as before, got 0.5"):
        play.replace(sn.Strand(0.5, sn.Section.circle(radius=4e-4), NYLON, nodes=101))


def test_what_is_seen(play: StrandPlay) -> None:
    steps(play, 1)
    (tube,) = play.portrait.cast.parts
    (view,) = play.portrait.cast.views(play.portrait.capture())
    assert tube.count == 101 and tube.half == pytest.approx((2e-4, 2e-4))
    assert np.array_equal(view.centres, play.state.positions)
    assert np.array_equal(view.directors, play.state.rotations[:, :, 0])
    bent = np.linalg.norm(play.state.curvatures[:, :2], axis=1)
    assert view.fields["curvature"] == pytest.approx(bent)
    assert view.fields["twist"] == pytest.approx(play.state.curvatures[:, 2])
    along = np.einsum("ij,ij->i", play.state.forces, play.state.rotations[:, :, 2])
    assert view.fields["tension"] == pytest.approx(along)


def test_a_fine_strand_is_seen_at_fewer_stations() -> None:
    fine = StrandPlay(
        sn.Strand(LENGTH, sn.Section.circle(radius=2e-4), NYLON, nodes=401),
        base=sn.Pose.along((0.0, 0.0, 0.0), (0.2, 0.0, 1.0)),
        hand=sn.Pose.along((0.11, 0.0, 0.06), (1.0, 0.0, -0.1)),
        coupling=sn.VirtualCoupling(stiffness=5.0, rotational_stiffness=1e-3),
        radius=1e-3,
    )
    (view,) = fine.portrait.cast.views(fine.portrait.capture())
    assert len(view.centres) == 121
    places = np.array([np.interp(np.linspace(0, LENGTH, 121), fine.state.s, x) for x in fine.state.positions.T]).T
    assert view.centres == pytest.approx(places, abs=1e-12)
    assert np.linalg.norm(view.directors, axis=1) == pytest.approx(np.ones(121))


def test_what_is_refused_changes_nothing(play: StrandPlay) -> None:
    before = play.portrait.capture().copy()
    for call in (
        lambda: play.grab(0, 0.02),
        lambda: play.grab(0, 1.5),
        lambda: play.grab(7, 0.5),
        lambda: play.grab(0, math.nan),
        lambda: play.pin(0, 0.99),
        lambda: play.drag(np.zeros(3)),
        lambda: play.switch(0, True),
        lambda: play.remove(3),
        lambda: play.set_gravity(np.array((0.0, math.inf, 0.0))),
    ):
        with pytest.raises(InputError):
            call()
    assert not play.holding and play.ties == []
    steps(play, 1)
    assert play.portrait.capture() == pytest.approx(before, abs=1e-9)
    with pytest.raises(InputError, match="no dampers"):
        StrandPlay(
            thread(), base=sn.Pose(), hand=sn.Pose((0.1, 0.0, 0.1)), coupling=sn.VirtualCoupling(1.0, damping=1.0)
        )


def test_rolled_turns_about_the_third_director() -> None:
    assert rolled(0.25).rotation == pytest.approx(np.array(((0, -1, 0), (1, 0, 0), (0, 0, 1))), abs=1e-15)
    assert rolled(1.0).rotation == pytest.approx(np.eye(3), abs=1e-15)
