"""Cables in scenes of every integrator, and static equilibria of what hangs on them."""

from __future__ import annotations

import numpy as np
import pytest
from references import hoists
from references.scene_cases import INTEGRATORS
from verification.cables.rig import EA, ROPE, STEEL, G, ball, hung, rope

import sennit as sn

H = 1 / 120


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_hanging_load(integrator):
    scene, body, cable = hung(scene=sn.Scene(integrator=integrator, drag=1.0))
    stretch = 4.0 * 1000 * G / EA
    for _ in range(1200):
        scene.step(H)
        assert abs(body.position[2] + 4.0 + stretch) < 1.1 * stretch
    assert body.position[2] == pytest.approx(-4.0 - stretch, abs=0.02 * stretch)
    assert cable.tension == pytest.approx(1000 * G, rel=0.02)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_pendulum(integrator, validated):
    scene = sn.Scene(integrator=integrator)
    reach = 4.0 * (1 + 1000 * G * np.cos(0.3) / EA)
    bob = ball(scene, 1000.0, (reach * np.sin(0.3), 0, -reach * np.cos(0.3)))
    scene.add(sn.Cable([sn.World.at((0, 0, 0)), bob.at()], ROPE, STEEL, length=4.0))
    x = []
    for _ in range(2400):
        scene.step(H)
        x.append(bob.position[0])
    period = np.diff(hoists.upward_crossings(np.array(x), H)).mean()
    validated(
        "Pendulum on a cable, every scheme",
        area="cables",
        quantity="period",
        reference="elliptic integral",
        error=abs(period / hoists.pendulum_period(4.0 * (1 + 1000 * G / EA), 0.3) - 1),
        bound=0.01,
    )
    last = np.array(x[-600:])
    assert last.max() == pytest.approx(4 * np.sin(0.3), rel=0.05)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_slack_and_catch(integrator):
    scene, body, cable = hung(slack=0.1, scene=sn.Scene(integrator=integrator, drag=1.0))
    scene.run(0.1, dt=H)
    assert cable.slack
    assert cable.tension == 0.0
    highest = -np.inf
    for k in range(1200):
        scene.step(H)
        if k > 60:
            highest = max(highest, body.position[2])
    assert highest < -4.0  # no higher than it was let go
    assert body.position[2] == pytest.approx(-4.1 * (1 + 1000 * G / EA), abs=1e-3)


def test_settled_load(validated):
    scene = sn.Scene()
    box = scene.add(sn.RigidBody.box(size=(2, 2, 2), mass=1000, position=(0.5, 0.2, -5)))
    cable = scene.add(sn.Cable([sn.World.at((0, 0, 0)), box.at((0, 0, 1))], ROPE, STEEL, length=4.0))
    report = scene.settle()
    assert report.converged
    assert report.stable
    stretch = 4.0 * 1000 * G / EA
    assert box.at((0, 0, 1)).position == pytest.approx((0, 0, -4.0 - stretch), abs=1e-6)
    assert box.position == pytest.approx((0, 0, -5.0 - stretch), abs=1e-6)
    assert cable.tension == pytest.approx(1000 * G, rel=1e-6)
    validated(
        "Load on a cable, settled",
        area="cables",
        quantity="elongation",
        reference="mgL/EA",
        error=abs(cable.elongation / stretch - 1),
        bound=1e-5,
    )
    # and it is an equilibrium of the steps
    before = box.position
    scene.run(1.0, dt=H)
    assert box.position == pytest.approx(before, abs=1e-7)


def test_settled_ring():
    # 10 m between anchors 6 m apart: the lowest place of the ellipse
    scene = sn.Scene()
    ring = ball(scene, 100.0, (1.0, 0, -3.95))
    cable = scene.add(rope([sn.World.at((-3, 0, 0)), ring.at(), sn.World.at((3, 0, 0))], 1e6, length=10.0))
    report = scene.settle()
    assert report.stable
    half = cable.path_length / 2
    low = np.sqrt(half**2 - 9)
    assert ring.position == pytest.approx((0, 0, -low), abs=1e-6)
    assert cable.tensions[0] == pytest.approx(cable.tensions[1], rel=1e-9)
    assert 2 * cable.tension * low / half == pytest.approx(100 * G, rel=1e-6)
    assert cable.path_length - 10.0 == pytest.approx(cable.tension / 1e6, rel=1e-5)


def test_settled_ring_between_uneven_anchors(validated):
    # the lowest place: both spans lean by the same angle, sin = span/length
    scene = sn.Scene()
    ring = ball(scene, 100.0, (0.5, 0, -3.2))
    ends = np.array([-3.0, 0, 0]), np.array([3.0, 0, 1.5])
    cable = scene.add(rope([sn.World.at(ends[0]), ring.at(), sn.World.at(ends[1])], 1e6, length=10.0))
    scene.settle()
    total = cable.path_length
    drop = np.sqrt(total**2 - 36.0)  # of both spans together
    x = (drop - 1.5) / 2 * 6.0 / drop  # along from the lower anchor
    validated(
        "Ring that slides to rest between uneven anchors",
        area="cables",
        quantity="place (m)",
        reference="lowest point of the ellipse",
        error=np.abs(ring.position - (-3 + x, 0, -(drop - 1.5) / 2)).max(),
        bound=1e-6,
    )
    lean = [(e - ring.position) / np.linalg.norm(e - ring.position) for e in ends]
    assert lean[0][2] == pytest.approx(lean[1][2], abs=1e-6)
    assert 2 * cable.tension * lean[0][2] == pytest.approx(100 * G, rel=1e-6)
