"""A wound that is sewn with a needle: the scripted hand closes it, with even tensions and nothing torn."""

from __future__ import annotations

import argparse

import numpy as np
import pytest

import sennit as sn
from sennit.demos import sew, stage
from sennit.demos.sewing_device import scripted_bite, sewn_by


@pytest.fixture(scope="module")
def show() -> sew.Surgery:
    """The show after its whole run, not drawn."""
    made = sew.Surgery(control_points=80)
    made.begin()
    stage.simulate(made, sew.SECONDS)
    return made


def test_the_wound_is_closed_evenly_and_nothing_tears(show: sew.Surgery) -> None:
    assert show.check() == []
    assert show.told.count("pierced") == show.told.count("through") == 2 * sew.BITES
    assert show.opened.mean() > 2e-3 and abs(show.theatre.gaps().mean()) < 0.6e-3
    assert show.most < 0.25 * sew.TEARING
    drawn = show.closing
    assert len(drawn) == sew.BITES and drawn.min() > 0.4 * drawn.max()
    assert show.score.points > 80.0 and show.score.seconds < sew.SECONDS
    # the bites are where the needle's circle meets the skin: at half a chord from the middle, less half of the gap
    half = np.sqrt(sew.RADIUS**2 - sew.ABOVE**2)
    assert show.score.bites == pytest.approx(half - 1.5e-3, abs=0.6e-3)
    assert show.score.spacing == pytest.approx(sew.SPACING, abs=0.2e-3)


def test_it_is_held_by_its_two_knots_alone(show: sew.Surgery) -> None:
    """The hand has let the thread go slack, and what is left of forces is inside."""
    assert show.pull < 0.01
    theatre = show.theatre
    assert isinstance(show.second, sn.Fuse)
    # the thread pulls at both ends
    assert np.linalg.norm(show.second.force) > 0.05 and np.linalg.norm(theatre.knot.force) > 0.05
    assert show.loose < 2e-3


def test_what_goes_wrong_is_told(show: sew.Surgery, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sew, "TEARING", 0.5 * show.most)
    assert any("tear skin" in line for line in show.check())
    assert show.score.points < 75.0
    monkeypatch.setattr(sew, "IDEAL", 20e-3)
    assert any("score" in line for line in show.check())


def test_a_hand_on_the_page_leads_the_needle() -> None:
    made = sew.Surgery(control_points=60)
    play = made.play()
    made.turn_to(80.0)
    made.pilot.value = False
    for _ in range(220):
        play.step()
    assert made.told[:2] == ["pierced", "through"]
    assert made.paged is not None and made.paged.angle == pytest.approx(np.radians(80.0), abs=1e-6)
    told = {watch.name: watch.read() for watch in made.scene.watches}
    assert told["time"] == pytest.approx(made.clock) and made.clock > 0.5
    assert told["largest pull, of what tears"] == pytest.approx(100.0 * made.most / sew.TEARING)
    # holes of the thread count: the needle is still in these
    shown = {readout.name: readout.text() for readout in made.scene.readouts}
    assert shown["score"] == f"{told['score']:.0f} of 100" and shown["largest pull"].endswith("of 3.3 N")
    assert told["bites, off the ideal"] == 0.0 and len(made.score.bites) == 0
    assert told["from bite to bite, off even"] == 0.0 and 0.0 < told["score"] < 100.0
    play.reset()
    assert made.angle == 0.0 and made.told == [] and made.theatre.needle.holes == ()


def test_the_gizmo_of_the_needle_holder_leads_a_bite_and_stays_where_it_is_put() -> None:
    made = sew.Surgery(control_points=60)
    play = made.play()
    theatre, way = made.theatre, made.theatre.way
    (handle,) = (each for each in play.handles if each.name == "needle holder")
    for _ in range(5):
        play.step()  # the script has begun
    hurried = sew.SPEED * play.dt / sew.RADIUS  # rad a step
    for k in range(round(1.3 / hurried)):
        handle.move(way.pose(way.centre(0), k * hurried, theatre.begin))
        play.step()
    assert not made.automatic and made.pilot is not None and made.pilot.value is False
    assert made.told == ["pierced", "through"]
    led = handle.read()
    for _ in range(20):  # neither script nor sliders move what the gizmo has put there
        play.step()
    assert handle.read() == led
    assert np.linalg.norm(theatre.hand.points[0].position - led.position) < 1e-6
    # A slider goes on from there, and the others show where the needle is.
    turn, place, height = (next(c for c in made.scene.controls if c.name == name) for name in
                           ("round", "along the wound", "away"))  # fmt: skip
    turn.use(90.0)
    assert place.value == pytest.approx(-5.0, abs=1e-3) and height.value == pytest.approx(0.0, abs=1e-3)
    before, arm = theatre.hand.points[0].position.copy(), np.linalg.norm(theatre.begin.position - way.centre(0))
    play.step()
    most = float(arm) * sew.SPEED / sew.RADIUS * play.dt
    assert np.linalg.norm(theatre.hand.points[0].position - before) <= 1.01 * most
    for _ in range(200):
        play.step()
    turned = theatre.hand.target.rotation @ theatre.begin.rotation.T
    assert np.degrees(np.arctan2(turned[0, 2], turned[0, 0])) == pytest.approx(90.0, abs=1e-3)


def test_a_gizmo_that_jumps_is_followed_slowly_and_the_script_goes_on_where_it_was_left() -> None:
    made = sew.Surgery(control_points=60)
    play = made.play()
    way = made.theatre.way
    (handle,) = (each for each in play.handles if each.name == "needle holder")
    for _ in range(5):
        play.step()
    left, gone = handle.read(), made.gone
    tilt = sn.Pose((0.01, 0.002, 0.03), (np.cos(0.2), 0.0, 0.0, np.sin(0.2))) @ left
    place = made.theatre.hand.points[0]
    handle.move(tilt)
    before = place.position.copy()
    play.step()
    assert np.linalg.norm(place.position - before) <= 1.01 * sew.CLOSING * play.dt
    for _ in range(60):
        play.step()
    np.testing.assert_allclose(place.position, tilt.position, atol=1e-6)
    centre, angle, rest = way.found(tilt, made.theatre.begin)
    back = way.pose(centre, angle, made.theatre.begin, rest)
    np.testing.assert_allclose(back.position, tilt.position, atol=1e-12)
    np.testing.assert_allclose(back.rotation, tilt.rotation, atol=1e-12)
    assert made.pilot is not None and made.gone == gone
    made.pilot.use(True)
    for _ in range(60):
        play.step()
    assert made.gone > gone and made.paged is not None and made.paged.leader == "script"
    expected = way.pose(made.centre, made.angle, made.theatre.begin)
    np.testing.assert_allclose(place.position, expected.position, atol=1e-6)


def test_a_device_holds_the_needle_and_makes_a_bite() -> None:
    """In a loop at 1 kHz, the needle in a scripted hand; the score is that of the final state."""
    made = sew.Surgery(control_points=60)
    hand = scripted_bite(made.theatre, 2.0 * sew.SPEED)
    told = sewn_by(made, hand, realtime=False)
    assert told.failed == 0 and told.ticks == len(hand.samples)
    assert made.told == ["pierced", "through"] * 2
    assert made.clock == pytest.approx(told.ticks * 1e-3, abs=1e-9)
    # Piercing is felt, with what the thread and the couplings' turning add to it; and turning itself is.
    assert sew.PIERCING < np.linalg.norm(hand.forces, axis=1).max() < 4.0 * sew.PIERCING
    assert np.linalg.norm(hand.torques, axis=1).max() > 1e-4
    # Both holes in the skin are where the circle meets it, as far as the coupling lets the needle be led.
    half = np.sqrt(sew.RADIUS**2 - sew.ABOVE**2)
    assert len(made.score.bites) == 2 and made.score.bites == pytest.approx(half - 1.5e-3, abs=1e-3)
    made.scene.step(1e-3)  # and it goes on here
    assert made.theatre.hand.scene is made.scene


def test_a_device_is_for_a_person(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    sew.add_arguments(parser)
    args = parser.parse_args(["--headless", "--device", "mouse"])
    with pytest.raises(sn.InputError, match="--device mouse is for a person"):
        sew.main(args)
    with pytest.raises(SystemExit):
        parser.parse_args(["--device", "rake"])
    assert "invalid choice: 'rake'" in capsys.readouterr().err
