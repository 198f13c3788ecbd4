"""Knot and plectoneme as demonstrations: their physics over the whole run, and that defects are named."""

from __future__ import annotations

import argparse
from types import ModuleType
from typing import Any

import pytest

from sennit.demos import knot, plectoneme, stage


def run(module: ModuleType, show: Any) -> Any:
    """The show after its whole run, not drawn."""
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    show.begin()
    stage.simulate(show, parser.parse_args([]).seconds)
    return show


@pytest.mark.slow
def test_three_knots_are_tied_and_hold() -> None:
    """Each rope has the knot that hands tied, by its invariant; ropes do not overlap, hold the pull, and rest."""
    show = run(knot, knot.Tying())
    assert show.check() == []
    assert show.found == knot.EXPECTED
    assert min(show.nearest.values()) > 0.95
    assert show.pulls["overhand"] > 5.0 and show.pulls["figure eight"] > 2.0 and show.pulls["reef"] > 5.0
    assert not [event for event in show.scene.events if event.kind in ("held", "calmed", "yielded")]
    # let go, friction alone holds them
    show.free_ends()
    for _ in range(120):
        show.scene.step(1 / 240)
    assert {name: knot.invariant(strands) for name, strands in show.knots.items()} == knot.EXPECTED


@pytest.mark.slow
def test_a_plectoneme_is_the_ply_of_least_energy(validated) -> None:
    show = run(plectoneme, plectoneme.Winding())
    assert show.check() == []
    assert len(show.scene.contacts) >= 4
    for found, expected in ((show.load[1], show.ply.torque), (show.angle, show.ply.angle)):
        validated(
            "Plectoneme of a rod of 1 m, nine turns", area="demonstrations", quantity="torque and angle of the ply",
            reference="ply of least energy under the same tension", error=abs(found / expected - 1.0), bound=0.06,
        )  # fmt: skip


def test_defects_of_knots_are_named() -> None:
    show = knot.Tying()
    show.scene._set_time(knot.TIGHT + 2.0)
    wrong = " ".join(show.check())
    assert "the overhand knot has come undone" in wrong and "the reef knot has come undone" in wrong
    assert "the figure eight knot holds only" in wrong and "the reef knot creeps" in wrong
    show.nearest["overhand"], show.stood = 0.5, 0.1
    wrong = " ".join(show.check())
    assert "ropes of the overhand knot overlap" in wrong and "stood still" in wrong


def test_defects_of_a_plectoneme_are_named() -> None:
    show = plectoneme.Winding()
    show.scene._set_time(show.seconds)
    show.nearest, show.load = 0.5, (1.0, 1.0)
    wrong = " ".join(show.check())
    for message in ("passes into itself", "has not wound up", "its torque is", "its angle is"):
        assert message in wrong
