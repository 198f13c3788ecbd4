"""Cables do not push: free fall while slack, no energy out of nothing when they catch.

A step adds h g to the velocity and then moves by h v, so that n steps from rest fall g h² n (n + 1)/2 and
m v²/2 + m g z - m g h v/2 is kept in free flight to rounding.
"""

from __future__ import annotations

import numpy as np
import pytest
from references import hoists
from references.rotation import exp
from references.scene_cases import free_scene
from unit.scene.kit import drop
from verification.cables.rig import EA, ROPE, STEEL, G, H, ball, energy, hung, path_of, rope

import sennit as sn


def test_free_fall_while_slack(validated):
    scene, body, cable = hung(slack=0.5)
    for k in range(18):  # 0.5 m take 0.31 s
        scene.step(H)
        validated(
            "Load on a slack cable",
            area="cables",
            quantity="position (m)",
            reference="free fall, stepwise",
            error=abs(body.position[2] - drop(-4.0, k + 1, H)),
            bound=1e-10,
        )
        assert cable.tension == 0.0
        assert cable.slack
        assert cable.elongation == 0.0
        assert cable.path_length == pytest.approx(-body.position[2], rel=1e-12)
    scene.run(10.0, dt=H)
    assert not cable.slack
    assert cable.tension == pytest.approx(1000 * G, rel=1e-6)
    assert body.position[2] == pytest.approx(-4.5 * (1 + 1000 * G / EA), abs=1e-8)


@pytest.mark.parametrize("stepping", ["spook", "backward"])
def test_never_pushes(stepping):
    # a load thrown up flies as if there were no cable until it is back
    scene, body, cable = hung(settled=True, stepping=stepping)
    body.velocity = (0, 0, 2.0)
    scene.step(H)
    start, v = body.position[2], body.velocity[2]
    for k in range(1, 15):
        scene.step(H)
        assert cable.tension == 0.0
        assert body.position[2] == pytest.approx(drop(start + k * H * v, k, H), abs=1e-9)


def test_slack_cable_is_drawn_with_its_length():
    scene = sn.Scene(gravity=(0, 0, 0))
    end = ball(scene, 10.0, (2, 0.5, -1))
    cable = scene.add(rope([sn.World.at((0, 0, 0)), end.at()], 1e5, length=3.5))
    scene.step(H)
    path = np.asarray(cable.path())
    assert path[0] == pytest.approx((0, 0, 0), abs=1e-9)
    assert path[-1] == pytest.approx((2, 0.5, -1), abs=1e-9)
    assert path_of(cable) == pytest.approx(3.5, rel=0.01)
    assert path[:, 2].min() < -1.2
    # in the plane of its ends
    assert np.abs(path @ np.array([0.5, -2.0, 0.0])).max() < 1e-9


@pytest.mark.parametrize(("stiffness", "peak"), [(1e4, 0.04), (3.93e6, None), (1e9, None)])
def test_drops_gain_nothing(stiffness, peak, validated):
    # 41 loads of 1,000 kg at once, each falls 5 to 15 cm and is caught, again and again, for 5 s
    scene, mass = sn.Scene(), 1000.0
    falls = np.linspace(0.05, 0.15, 41)
    loads, cables = [], []
    for k, fall in enumerate(falls):
        load = ball(scene, mass, (float(k), 0, -1.0))
        loads.append(load)
        cables.append(scene.add(rope([sn.World.at((float(k), 0, 0)), load.at()], stiffness, length=1.0 + fall)))
    worst, highest, caught = np.zeros(41), np.zeros(41), np.zeros(41, dtype=bool)
    for _ in range(300):
        scene.step(H)
        for k, (load, cable) in enumerate(zip(loads, cables, strict=True)):
            tension, v = cable.tension, load.velocity[2]
            highest[k] = max(highest[k], tension)
            if tension > 0.0:
                caught[k] = True
            else:
                z = load.position[2] + 1.0 + falls[k]
                worst[k] = max(worst[k], mass * v * v / 2 + mass * G * z - mass * G * H * v / 2)
    assert caught.all()
    validated(
        "Dropped loads caught again and again",
        area="cables",
        quantity="energy gained, of the fall's",
        reference="conservation",
        error=max(0.0, float((worst / (mass * G * falls)).max()) - 1.0),
        bound=1e-4,
    )
    # no more than the exact peak, or than a rigid stop within one step and the weight
    assert highest.min() > mass * G
    exact = np.array([hoists.catch_peak(mass, stiffness, np.sqrt(2 * G * fall)) for fall in falls])
    if peak is None:
        assert (highest < 1.02 * np.minimum(exact, mass * np.sqrt(2 * G * falls) / H + 2 * mass * G)).all()
    else:
        validated(
            "Dropped loads caught by a soft cable",
            area="cables",
            quantity="peak tension",
            reference="mg + √(m²g² + kmv²)",
            error=np.abs(highest / exact - 1).max(),
            bound=peak,
        )


@pytest.mark.parametrize("stiffness", [3.93e6, 1e9])
def test_stiff_catches_come_to_rest(stiffness):
    scene, body, cable = hung(stiffness=stiffness, slack=0.1)
    scene.run(20.0, dt=H)
    assert cable.tension == pytest.approx(1000 * G, rel=1e-5)
    assert body.position[2] == pytest.approx(-4.1 - 1000 * G / stiffness, abs=1e-7)
    assert np.abs(body.velocity).max() < 1e-5


# --- with damping on, the most energy in each second is no more than in the second before


def tumbling_box():
    scene = sn.Scene()
    box = sn.RigidBody.box(size=(0.6, 1.0, 1.6), mass=100.0)
    box.pose = sn.Pose.from_rotation((0.4, 0.2, -2.5), exp(np.array([0.4, -0.3, 0.2])))
    scene.add(box)
    box.angular_velocity = (1.0, 2.0, 0.5)
    k = 1e6
    scene.add(rope([sn.World.at((0, 0, 0)), box.at((0.3, 0.5, 0.8))], k, damping=2 * H * k))
    return scene, 100.0 * G


def bouncing_boxes():
    # no gravity: they fly apart, are caught, come back slack, fly through
    scene = free_scene()
    one = scene.add(sn.RigidBody.box(size=(0.5, 0.7, 0.9), mass=50.0, position=(-1.5, 0, 0)))
    two = scene.add(sn.RigidBody.box(size=(0.9, 0.5, 0.7), mass=80.0, position=(1.5, 0, 0)))
    one.velocity, two.angular_velocity = (-2.0, 0.5, 0.2), (0.5, 1.0, -2.0)
    k = 1e6
    cable = sn.Cable(
        [one.at((0.25, 0.2, 0.1)), two.at((-0.4, 0.1, 0.2))],
        stretch_stiffness=k, twist_stiffness=100.0, damping=2 * H * k, twist_damping=5.0, length=3.0,
    )  # fmt: skip
    scene.add(cable)
    return scene, 50.0 * 4.0


def thrown_ring():
    scene = sn.Scene()
    ring = ball(scene, 100.0, (0, 0, -4.0), velocity=(3.0, 1.0, 0))
    k = 1e6
    points = [sn.World.at((-3, 0, 0)), ring.at(), sn.World.at((3, 0, 0))]
    scene.add(rope(points, k, length=10.0, damping=2 * H * k))
    return scene, 100.0 * G


def swinging_machine():
    # Atwood's machine with a massive wheel, one load thrown sideways
    scene = sn.Scene()
    one, two = ball(scene, 100.0, (-0.2, 0, -9), velocity=(0.0, 1.5, 0)), ball(scene, 100.0, (0.2, 0, -9))
    k = 1e6
    wheel = sn.Sheave(sn.World.at((0, 0, 0)), axis=(0, 1, 0), radius=0.2, inertia=1.0)
    scene.add(rope([one.at(), wheel, two.at()], k, damping=2 * H * k))
    return scene, 100.0 * G


def swing_on_a_peg():
    scene = sn.Scene()
    peg = sn.RigidBody.cylinder(0.1, 1.0, mass=1.0)
    peg.pose = sn.Pose.from_rotation((0.15, 0, -1.0), exp(np.array([np.pi / 2, 0, 0])))
    scene.add(peg)
    scene.add(sn.Clamp(peg.at()))
    bob = ball(scene, 1.0, (-2 * np.sin(0.8), 0, -2 * np.cos(0.8)), radius=0.02)
    k = 1e5
    scene.add(rope([sn.World.at((0, 0, 0)), bob.at()], k, around=[peg], damping=2 * H * k))
    return scene, G


def falling_pair():
    # two loads let go beside the anchor, chained by steel cables that are slack at first
    scene = sn.Scene()
    before = sn.World.at((0, 0, 0))
    for k in range(2):
        load = ball(scene, 100.0, (0.9 * (k + 1), 0, 0))
        scene.add(sn.Cable([before, load.at()], ROPE, STEEL, length=1.0, damping=1e6))
        before = load.at()
    return scene, 200.0 * G


@pytest.mark.parametrize(
    "make", [tumbling_box, bouncing_boxes, thrown_ring, swinging_machine, swing_on_a_peg, falling_pair]
)
def test_energy_never_grows(make):
    """Kinetic and potential energy are what is left of the whole less what is stored in the cable: they may never
    exceed the start either. What is stored is left out: a jolt's tension is a mean over the step."""
    scene, unit = make()
    start = energy(scene, H)
    highest = []
    for _ in range(12):
        second = []
        for _ in range(60):
            scene.step(H)
            second.append(energy(scene, H) - scene.energy.constraints)
        highest.append(max(second))
    assert np.isfinite(highest).all()
    assert max(highest) < start + 2e-3 * unit
    assert (np.diff(highest) < 2e-3 * unit).all()
