"""The paper clip: its whole run, that defects are named, and that hands on the page bend it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sennit.demos import load, stage, wire


@pytest.fixture(scope="module")
def bent() -> Any:
    """The show after its whole run."""
    show = wire.Clip()
    show.begin()
    stage.simulate(show, 4.0)
    return show


def test_a_clip_is_bent_and_stays_bent(bent: Any, validated: Any) -> None:
    assert bent.check() == []
    back, expected = bent.seen[0] - bent.angle, bent.seen[1]
    validated(
        "Paper clip that is bent and let go", area="demonstrations", quantity="angle by which it springs back",
        reference="unit-load theorem under the hand's last force", error=abs(back / expected - 1.0), bound=0.15,
    )  # fmt: skip
    assert not [event for event in bent.scene.events if event.kind in ("held", "calmed", "yielded")]


def test_defects_are_named(bent: Any) -> None:
    kept = bent.seen, bent.largest, bent.work, bent.first
    bent.seen, bent.largest, bent.work = (bent.angle + 1.0, 0.1), 1.5, 2.0 * bent.work
    bent.first = bent._direction()
    wrong = " ".join(bent.check())
    bent.seen, bent.largest, bent.work, bent.first = kept
    for message in ("does not stay bent", "springs back by", "a moment is", "were spent"):
        assert message in wrong


def test_on_the_page_it_is_bent_annealed_and_made_of_other_steel() -> None:
    play = load("wire").play()
    scene = play.scene
    rod, controls = scene.bodies[0], {control.name: control for control in scene.controls}
    controls["yields at"].use(400.0)
    assert rod.material.yield_stress == 400e6
    controls["bend it"].use()
    for _ in range(600):
        play.step()
    assert np.abs(rod.plastic_curvature).max() > 20.0 and scene.dissipated > 0.0
    controls["anneal it"].use()
    assert not rod.plastic_curvature.any()
    play.reset()
    assert scene.dissipated == 0.0 and math.isfinite(scene.energy.total)
