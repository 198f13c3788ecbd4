"""Loads that hang still: stretch T L/EA, tension m g, for as long as one likes; shared loads; what is in the path."""

from __future__ import annotations

import numpy as np
import pytest
from verification.cables.rig import EA, ROPE, STEEL, G, H, ball, hung, path_of, rope

import sennit as sn


def test_a_ton_on_ten_millimetres_of_steel_for_ten_minutes(validated):
    scene, body, cable = hung()
    scene.run(60.0, dt=H)
    stretch = 4.0 * 1000 * G / EA
    z = body.position[2]
    assert z == pytest.approx(-4.0 - stretch, abs=1e-9)
    worst = 0.0
    for _ in range(540 * 60):
        scene.step(H)
        worst = max(worst, abs(body.position[2] - z))
    validated(
        "1,000 kg on 10 mm of steel",
        area="cables",
        quantity="drift in nine minutes (m)",
        reference="statics",
        error=worst,
        bound=1e-10,
    )
    validated(
        "1,000 kg on 10 mm of steel",
        area="cables",
        quantity="elongation",
        reference="mgL/EA",
        error=abs(cable.elongation / stretch - 1),
        bound=1e-7,
    )
    assert cable.tension == pytest.approx(1000 * G, rel=1e-9)
    assert cable.path_length == pytest.approx(4.0 + stretch, rel=1e-10)
    assert not cable.slack
    assert cable.length == 4.0
    assert cable.twist == pytest.approx(0.0, abs=1e-9)


def test_stretch_from_section_and_from_stiffness_are_the_same():
    # k = EA/L
    ends = []
    for stiffness in (None, EA / 4.0):
        scene, body, cable = hung(stiffness=stiffness)
        scene.run(2.0, dt=H)
        ends.append((body.position[2], cable.tension))
    assert ends[0] == pytest.approx(ends[1], rel=1e-10)


def test_twist_from_a_section(validated):
    # G J/L = 18.88 N·m/rad for 10 mm of steel, 4 m long: 10 N·m turn the box by 0.53 rad
    scene = sn.Scene(drag=0.33)  # about critical: s² + 0.33 s + 0.028
    box = scene.add(sn.RigidBody.box(size=(2, 2, 2), mass=1000, position=(0, 0, -5)))
    cable = scene.add(sn.Cable([sn.World.at(sn.Pose()), box.at((0, 0, 1))], ROPE, STEEL))
    scene.add(sn.Load(box.at(), torque=(0, 0, 10.0)))
    scene.run(60.0, dt=H)
    stiffness = STEEL.shear_modulus * ROPE.J / 4.0
    assert stiffness == pytest.approx(18.88, abs=0.01)
    validated(
        "Torque on a hanging box",
        area="cables",
        quantity="twist",
        reference="TL/GJ",
        error=abs(abs(cable.twist) / (10.0 / stiffness) - 1),
        bound=1e-3,
    )
    assert abs(cable.torque) == pytest.approx(10.0, rel=1e-3)
    assert scene.energy.constraints == pytest.approx(0.5 * 10.0**2 / stiffness + 0.5 * 9810**2 * 4 / EA, rel=1e-3)


def test_stiffness_scales_with_the_length():
    # half the length, half the stretch
    scene, body, cable = hung(stiffness=1e5)
    scene.drag = 2.0
    scene.run(14.0, dt=H)
    assert cable.elongation == pytest.approx(1000 * G / 1e5, rel=1e-4)
    cable.drive(speed=-0.5)
    scene.run(4.0, dt=H)
    cable.brake()
    scene.run(14.0, dt=H)
    assert cable.length == pytest.approx(2.0, abs=1e-9)
    assert cable.elongation == pytest.approx(1000 * G / 2e5, rel=1e-4)
    assert body.position[2] == pytest.approx(-2.0 - 1000 * G / 2e5, abs=1e-5)


def test_three_cables_share_a_load(validated):
    # a tripod: each carries m g l/(3 height)
    scene = sn.Scene(drag=2.0)
    load = ball(scene, 300.0, (0, 0, -2.0))
    angle = 2 * np.pi * np.arange(3) / 3
    cables = [
        scene.add(rope([sn.World.at((1.5 * np.cos(a), 1.5 * np.sin(a), 0)), load.at()], 1e6, length=2.5)) for a in angle
    ]
    scene.run(10.0, dt=H)
    height = -load.position[2]
    for cable in cables:
        validated(
            "Load on three cables",
            area="cables",
            quantity="tension",
            reference="statics",
            error=abs(cable.tension / (300 * G * cable.path_length / (3 * height)) - 1),
            bound=1e-6,
        )
        assert cable.elongation == pytest.approx(cable.tension / 1e6, rel=1e-6)
    assert load.position[:2] == pytest.approx((0, 0), abs=1e-9)


def test_many_cables_through_one_body():
    # eight cables between eight pairs of anchors slide through one ring; it hangs in the middle
    scene = sn.Scene(drag=3.0)
    ring = ball(scene, 200.0, (0.1, -0.05, -1.5))
    cables = []
    for a in np.pi * np.arange(8) / 8:
        out = np.array([2 * np.cos(a), 2 * np.sin(a), 0])
        cables.append(scene.add(rope([sn.World.at(out), ring.at(), sn.World.at(-out)], 1e5, length=5.0)))
    scene.run(15.0, dt=H)
    assert ring.position[:2] == pytest.approx((0, 0), abs=1e-4)
    lift = sum(2 * c.tension * -ring.position[2] / (c.path_length / 2) for c in cables)
    assert lift == pytest.approx(200 * G, rel=1e-4)
    for cable in cables:
        assert cable.tension == pytest.approx(cables[0].tension, rel=1e-3)


def test_path_of_a_taut_cable():
    scene = sn.Scene()
    low, high = ball(scene, 100.0, (1, 0, -3)), ball(scene, 100.0, (-1, 0, -3))
    wheel = sn.Sheave(sn.World.at((0, 0, 0)), axis=(0, 1, 0), radius=1.0)
    cable = scene.add(rope([high.at(), wheel, low.at()], 1e6))
    scene.step(H)
    path = np.asarray(cable.path())
    assert path.ndim == 2
    assert path.shape[1] == 3
    assert path[0] == pytest.approx(high.position, abs=1e-9)
    assert path[-1] == pytest.approx(low.position, abs=1e-9)
    assert path_of(cable) == pytest.approx(cable.path_length, rel=0.02)
    assert path[:, 2].max() == pytest.approx(1.0, abs=0.02)
    assert np.linalg.norm(path, axis=1).min() > 0.98
