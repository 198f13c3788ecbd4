"""A cable on a rod's tip: the rod bends as under the weight itself, the cable carries it."""

from __future__ import annotations

import numpy as np
import pytest
from verification.cables.rig import G, ball, rope

import sennit as sn

SECTION, MATERIAL = sn.Section.circle(9e-3), sn.Material(2e10, 0.3, 1600)


def fishing_rod(scene):
    rod = scene.add(
        sn.Rod.straight((0, 0, 0), (2, 0, 1), section=SECTION, material=MATERIAL, control_points=16, up=(0, 0, 1))
    )
    scene.add(sn.Clamp(rod.at(0.0)))
    return rod


def by_weight(mass: float) -> np.ndarray:
    """The settled rod with a force on its tip in place of the cable."""
    scene = sn.Scene()
    rod = fishing_rod(scene)
    scene.add(sn.Load(rod.at(rod.length), force=(0, 0, -mass * G)))
    scene.settle()
    return rod.centerline(50)


def test_settled(validated):
    expected = by_weight(1.5)
    scene = sn.Scene()
    rod = fishing_rod(scene)
    load = ball(scene, 1.5, (2, 0, 0))
    cable = scene.add(rope([rod.at(rod.length), load.at()], 1e4))
    report = scene.settle()
    assert report.stable
    validated(
        "Fishing rod that bends under a hung weight",
        area="cables",
        quantity="shape (m)",
        reference="the weight as a force",
        error=np.abs(rod.centerline(50) - expected).max(),
        bound=1e-5,
    )
    assert expected[-1, 2] < 0.9  # it does bend
    assert cable.tension == pytest.approx(1.5 * G, rel=1e-6)
    tip = rod.centerline(2)[-1]
    assert load.position == pytest.approx(tip - np.array([0, 0, 1.0 + 1.5 * G / 1e4]), abs=1e-5)


def test_comes_to_rest():
    expected = by_weight(1.5)
    scene = sn.Scene(drag=3.0)
    rod = fishing_rod(scene)
    load = ball(scene, 1.5, (2, 0, 0))
    cable = scene.add(rope([rod.at(rod.length), load.at()], 1e4))
    scene.run(15.0, dt=0.01)
    assert rod.centerline(50) == pytest.approx(expected, abs=1e-3)
    assert cable.tension == pytest.approx(1.5 * G, rel=1e-3)
    assert np.abs(load.velocity).max() < 1e-3


def test_through_rings_on_the_rod():
    # a line through two rings and over the tip, made fast at the grip: frictionless, it pulls with one tension
    scene = sn.Scene(drag=3.0)
    rod = fishing_rod(scene)
    load = ball(scene, 1.0, (2, 0, 0))
    reel = sn.World.at((0.1, 0, -0.05))
    rings = [rod.at(f * rod.length) for f in (0.4, 0.7, 1.0)]
    cable = scene.add(rope([reel, *rings, load.at()], 1e4))
    scene.run(15.0, dt=0.01)
    assert cable.tensions == pytest.approx(np.full(4, 1.0 * G), rel=1e-3)
    tip = rod.centerline(2)[-1]
    assert load.position[0] == pytest.approx(tip[0], abs=1e-3)
    places = [reel.position, *(ring.position for ring in rings), load.position]
    assert cable.path_length == pytest.approx(np.linalg.norm(np.diff(places, axis=0), axis=1).sum(), rel=1e-9)
    # reeled in: the load comes up, the rod hardly moves
    z = load.position[2]
    cable.drive(speed=-0.2)
    scene.run(2.0, dt=0.01)
    cable.brake()
    scene.run(8.0, dt=0.01)
    assert load.position[2] - z == pytest.approx(0.4, abs=2e-3)
