"""The vessel as a demonstration: the branch that is entered depends on how the tip is turned."""

from __future__ import annotations

import argparse

import numpy as np
import pytest

from sennit.demos import stage, vessel


@pytest.fixture(scope="module")
def shows() -> dict[str, vessel.Journey]:
    """Journeys to two branches, not drawn."""
    made = {}
    for branch in ("left up", "right down"):
        show = vessel.Journey(branch)
        show.begin()
        stage.simulate(show, show.duration)
        made[branch] = show
    return made


@pytest.mark.parametrize("branch", ["left up", "right down"])
def test_the_tip_goes_where_it_is_turned(branch: str, shows: dict[str, vessel.Journey]) -> None:
    show = shows[branch]
    assert show.check() == []
    assert show.reached() == branch
    assert branch in show.findings() and show.findings().endswith(".")
    assert not [event for event in show.scene.events if event.kind in ("held", "yielded")]


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("branch", "left down", "led to the branch left down, and is in left up"),
        ("deepest", 1e-3, "deep into a wall"),
        ("out", -1e-3, "deep into a wall"),
        ("work", -1.0, "energy from nothing"),
        ("unbalanced", 1.0, "not balanced"),
    ],
)
def test_a_defect_is_named(attribute: str, value, message: str, shows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shows["left up"], attribute, value)
    assert any(message in line for line in shows["left up"].check())


def test_all_branches_have_a_way() -> None:
    ways = {vessel.way_into(branch) for branch in vessel.BRANCHES}
    assert len(ways) == 4
    axes, radii = vessel.vessels()
    assert len(axes) == len(radii) == 7
    for way, fork in zip(axes[3:], np.repeat(axes[1:3], 2, axis=0), strict=True):
        np.testing.assert_allclose(way[0], fork[-1], atol=1e-12)


def test_the_branch_can_be_chosen() -> None:
    parser = argparse.ArgumentParser()
    vessel.add_arguments(parser)
    assert parser.parse_args([]).branch == "left up"
    assert parser.parse_args(["--branch", "right up"]).branch == "right up"


def test_the_wire_follows_the_sliders_on_a_page() -> None:
    show = vessel.Journey()
    play = show.play()
    by_itself, push, turn = play.controls[:3]
    push.use(0.02)
    turn.use(90.0)
    assert by_itself.value is False
    tip = show.vessel.wire.centerline(2)[-1]
    for _ in range(60):
        play.step()
    assert show.vessel.wire.centerline(2)[-1][0] == pytest.approx(tip[0] + 0.02, abs=2e-3)
    assert show.turned == pytest.approx(0.5 * np.pi)
