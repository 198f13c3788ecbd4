"""Knot and plectoneme as demonstrations: defects are named. That they hold is run by `sennit demo NAME --headless`."""

from __future__ import annotations

from sennit.demos import knot, plectoneme


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
