"""A wound that is sewn with a needle: the scripted hand closes it, with even tensions and nothing torn."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn
from sennit.demos import sew, stage


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
    assert made.angle == pytest.approx(np.radians(80.0), abs=1e-6)
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
