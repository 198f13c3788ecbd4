"""Knots and plies: what touches itself never passes through, however long the steps."""

from __future__ import annotations

import math

import numpy as np
import pytest
import records
from references.buckling import twisted_in_tension
from references.knots import closed_up, determinant

import sennit as sn
from sennit.bench.knots import pull, tie
from sennit.demos.tangles import casson, figure_eight, joined, overhand, reef, with_tails
from sennit.demos.winding import ply_of_tension, wind

TREFOIL, FIGURE_EIGHT, REEF = 3, 5, 9


@pytest.mark.parametrize(
    ("curve", "invariant", "number"),
    [
        (with_tails(overhand(count=90), 0.1, 0.1, 12), 1, TREFOIL),
        (with_tails(overhand(count=90), 0.1, 0.1, 12) * (1.0, 1.0, -1.0), 1, TREFOIL),
        (with_tails(overhand(count=90)[:50], 0.1, 0.1, 12), 0, 1),
        (with_tails(figure_eight(count=120), 0.1, 0.1, 12), -1, FIGURE_EIGHT),
        (joined(reef()[0][::-8], reef()[1][::8]), 2, REEF),
    ],
)
def test_two_invariants_tell_the_same_knots(curve, invariant, number):
    """Vassiliev's, which demonstrations use, and colourings, which were written for these tests alone."""
    views = np.random.default_rng(5).standard_normal((3, 3))
    for view in views:
        assert casson(curve, view) == invariant
        assert determinant(closed_up(curve), view) == number


def distances(rod):
    """Smallest distance of a rod's centre line from itself, five radii along it or more, over its diameter."""
    line = rod.centerline(900)
    s = np.linspace(0.0, rod.length, len(line))
    d = np.linalg.norm(line[:, None] - line, axis=2)
    d[np.abs(s[:, None] - s) < 5.0 * rod.section.radius] = np.inf
    return float(d.min()) / (2.0 * rod.section.radius)


@pytest.mark.parametrize("rate", [60.0, 240.0])
def test_overhand_knot_is_drawn_tight(rate, validated):
    """Pulled to a slack of 37 radii at 0.4 m/s, which is up to 1.7 radii a step: it stays a knot, and holds."""
    knot = tie(points=76, tail=0.02)
    held = pull(knot, 37.0, rate, hold=0.3)
    assert determinant(closed_up(knot.rope.centerline(160))) == TREFOIL
    assert 3.0 < held.tension < 20.0  # N: between what bending and what friction make of it
    assert held.held_time == 0.0
    validated(
        "Overhand knot drawn tight at 60 and 240 Hz", area="contact", quantity="distance over diameter",
        reference="1: it does not pass into itself", error=max(1.0 - distances(knot.rope), 0.0), bound=0.05,
    )  # fmt: skip


def test_a_knot_that_is_held_comes_to_rest():
    """In the second half of 4 s (with --thorough of 20 s), its ends held against turning, too; radii a second."""
    held = pull(tie(points=76, tail=0.02), 37.0, 60.0, hold=4.0 if records.thorough() == 1 else 20.0, roll_held=True)
    assert held.creep < 1e-3
    assert held.creep <= max(held.creep_before, 1e-9)  # it falls, to rounding


def test_twisted_rod_in_tension_buckles():
    """Greenhill's moment with tension, 2 sqrt(EI T) for long rods, by the verdict of stability on either side."""
    bend, length, tension = 1e7 * math.pi / 4.0 * 3e-3**4, 1.0, 100.0
    critical = twisted_in_tension(tension)
    assert critical == pytest.approx(2.0 * math.sqrt(tension), rel=0.06)
    scene = sn.Scene(gravity=(0, 0, 0))
    soft = sn.Material(youngs_modulus=1e7, poisson_ratio=0.5, density=1000)
    section = sn.Section.circle(3e-3)
    rod = scene.add(sn.Rod.straight((0, 0, 0), (length, 0, 0), section=section, material=soft, control_points=40))
    scene.add(sn.Clamp(rod.at(0.0)))
    clamp = scene.add(sn.Clamp(rod.at(length)))
    stretch = tension * bend / (1e7 * math.pi * 3e-3**2)
    pose, turned = rod.at(length).pose, 0.0
    found = []
    for share in (0.97, 1.03):
        goal = share * critical * 1.5  # the twist of a rod with GJ = EI/1.5
        while turned < goal:
            turned = min(turned + 2.5, goal)
            c, s = math.cos(turned), math.sin(turned)
            about = np.array(((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)))
            clamp.target = sn.Pose.from_rotation((length * (1.0 + stretch), 0.0, 0.0), about @ pose.rotation)
            report = scene.settle()
        found.append(report.stable)
        moment = abs(clamp.torque[0]) / bend
        assert moment == pytest.approx(share * critical, rel=2e-3)
        assert abs(clamp.force[0]) / bend == pytest.approx(tension, rel=2e-3)
    assert found == [True, False]


def wound_up(points, turns=7.5, rate=120.0):
    """A rod of 1 m, twisted between its clamps by so many turns in three seconds, and a second later."""
    wound = wind(points)
    steps = round(3.0 * rate)
    nearest = math.inf
    for i in range(steps + round(rate)):
        wound.turn(turns * min((i + 1) / steps, 1.0))
        wound.scene.step(1.0 / rate)
        if i % 60 == 0 and i > steps // 2:
            nearest = min(nearest, distances(wound.rod))
    return wound, nearest


def test_plectoneme_is_the_ply_of_least_energy(validated):
    """Tension and torque of a rod that has wound up on itself belong to one ply, whatever its length."""
    wound, nearest = wound_up(118)
    assert len(wound.scene.contacts) >= 4
    tension, torque = wound.load
    ply = ply_of_tension(tension, wound.bend, wound.radius)
    assert "coarse" not in [event.kind for event in wound.scene.events]
    validated(
        "Plectoneme: torque of the ply", area="contact", quantity="torque at the same tension",
        reference="2B cos α sin³α/(r cos 2α)", error=abs(torque / ply.torque - 1.0), bound=0.05,
    )  # fmt: skip
    validated(
        "Plectoneme: does not pass into itself", area="contact", quantity="distance over diameter",
        reference="1", error=max(1.0 - nearest, 0.0), bound=0.05,
    )  # fmt: skip


def test_spans_too_long_for_a_winding_are_told_once():
    wound, _ = wound_up(66)
    told = [event for event in wound.scene.events if event.kind == "coarse"]
    assert len(told) == 1 and told[0].subjects == (wound.rod,)
    needed = math.ceil(wound.rod.length / (3.0 * wound.radius)) + 3
    assert f"{needed} control points" in told[0].message


def test_ply_of_tension_is_a_minimum():
    """The closed form, by differences of the energy that it minimises."""
    bend, radius = 6e-4, 3e-3
    ply = ply_of_tension(2.0, bend, radius)

    def energy(angle, length):
        curved = bend * math.sin(angle) ** 4 / (2.0 * radius**2)
        return length * (curved + ply.tension - ply.torque * math.sin(2.0 * angle) / (2.0 * radius))

    step = 1e-4
    assert abs(energy(ply.angle + step, 1.0) - energy(ply.angle - step, 1.0)) / (2.0 * step) < 1e-4
    assert abs(energy(ply.angle, 1.0)) < 1e-9
    assert energy(ply.angle + step, 1.0) + energy(ply.angle - step, 1.0) > 2.0 * energy(ply.angle, 1.0)
