"""Corners of hoisting cables: firm parts, rotors on carriers that turn, what is read and set, cables that went out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from verification.cables.rig import G, H, ball, rope

import sennit as sn


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint"])
def test_a_firm_cable_over_a_bollard(integrator: str) -> None:
    # the part between the world and the bollard cannot give way at all
    scene = sn.Scene(integrator=integrator)
    load = ball(scene, 10.0, (0.2, 0, -3))
    bollard = sn.Sheave(sn.World.at((0, 0, 0)), axis=(0, 1, 0), radius=0.2, friction=0.2, fixed=True)
    cable = scene.add(rope([sn.World.at((-3, 0, 0.2)), bollard, load.at()], math.inf))
    scene.run(1.0, dt=0.01)
    assert load.position == pytest.approx((0.2, 0, -3), abs=1e-6)
    assert cable.tensions[1] == pytest.approx(10 * G, rel=1e-6)


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint"])
def test_a_carrier_that_turns_about_the_axle_does_not_pull(integrator: str) -> None:
    # a boom luffs about the axle of a heavy sheave at its foot: its bearing has no friction
    scene = sn.Scene(integrator=integrator)
    boom = scene.add(sn.RigidBody.box((0.5, 0.5, 0.5), mass=50.0))
    hinge = scene.add(sn.Hinge(boom.at(), sn.World.at(sn.Pose()), axis=(0, 1, 0), motor=sn.Motor(speed=0.0)))
    load = ball(scene, 500.0, (0.2, 0, -4 - 500 * G * 9 / 2e7))
    wheel = sn.Sheave(boom.at(), axis=(0, 1, 0), radius=0.2, inertia=0.5)
    cable = scene.add(rope([sn.World.at((-5, 0, 0.2)), wheel, load.at()], 2e6, damping=2e4))
    scene.run(2.0, dt=0.01)
    pulls, angles = [], []
    for k in range(300):
        hinge.motor_speed = math.sin(math.pi * k / 150)
        scene.step(0.01)
        pulls.append(cable.tension)
        angles.append(wheel.angle)
    assert np.abs(np.array(pulls) - 500 * G).max() < 1e-3 * 500 * G
    # on its carrier, which turns by 2·1.5/π rad and back
    assert min(angles) == pytest.approx(-3.0 / math.pi, abs=0.02)
    assert abs(angles[-1]) < 0.02


def test_a_settled_sheave_is_at_rest() -> None:
    scene = sn.Scene()
    one, two = ball(scene, 10.0, (-0.2, 0, -3)), ball(scene, 10.5, (0.2, 0, -3))
    wheel = sn.Sheave(sn.World.at((0, 0, 0)), axis=(0, 1, 0), radius=0.2, inertia=1.0)
    scene.add(rope([one.at(), wheel, two.at()], 1e5))
    stop = scene.add(sn.Fix(one.at()))
    stop.enabled = False
    scene.run(0.2, dt=H)
    assert wheel.rate > 0.01
    scene.remove(stop)
    scene.add(sn.Fix(one.at()))
    scene.settle()
    assert wheel.rate == 0.0
    assert scene.energy.kinetic == 0.0


def test_forces_hold_the_twist_too() -> None:
    """What the cable applies to a ring where it bends is what accelerates the ring."""
    scene = sn.Scene(gravity=(0, 0, 0))
    ring = ball(scene, 1.0, (1.0, 0.4, 0.1))
    box = scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=5.0, position=(2.0, 0, 0)))
    cable = scene.add(
        sn.Cable([sn.World.at(sn.Pose()), ring.at(), box.at()], stretch_stiffness=200.0, twist_stiffness=5.0)
    )
    box.pose = sn.Pose.from_rotation((2.0, 0, 0), np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]))
    scene.step(1e-6)
    before = ring.velocity
    scene.step(1e-6)
    assert abs(cable.torque) > 1.0
    assert (ring.velocity - before) / 1e-6 == pytest.approx(cable.forces[1], rel=1e-4)


def test_rotors_count_in_the_angular_momentum() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    mast = scene.add(sn.RigidBody.box((1, 1, 1), mass=100.0))
    one, two = ball(scene, 5.0, (-0.2, 0, -3), velocity=(0, 0, -1.0)), ball(scene, 5.0, (0.2, 0, -3))
    wheel = sn.Sheave(mast.at((0, 0, 0)), axis=(0, 1, 0), radius=0.2, inertia=2.0)
    scene.add(rope([one.at(), wheel, two.at()], 1e4))
    start = scene.angular_momentum
    scene.run(1.0, dt=0.002)
    assert abs(wheel.rate) > 0.1
    assert scene.angular_momentum == pytest.approx(start, abs=2e-3 * np.linalg.norm(start))


def test_softness_is_read_and_set() -> None:
    scene = sn.Scene()
    load = ball(scene, 10.0, (0, 0, -4))
    cable = scene.add(sn.Cable([sn.World.at((0, 0, 0)), load.at()], stretch_stiffness=1e4, twist_stiffness=20.0,
                               damping=500.0, twist_damping=2.0))  # fmt: skip
    assert (cable.damping, cable.compliance) == pytest.approx((500.0, 1e-4))
    assert (cable.angular_damping, cable.angular_compliance) == pytest.approx((2.0, 0.05))
    cable.compliance, cable.damping = 1e-3, 300.0
    scene.run(10.0, dt=H)
    assert cable.damping == pytest.approx(300.0)
    assert cable.elongation == pytest.approx(10 * G * 1e-3, rel=1e-6)
    for name in ("damping", "compliance", "angular_damping", "angular_compliance"):
        with pytest.raises(sn.InputError, match="-1"):
            setattr(cable, name, -1.0)


def test_a_cable_that_restoring_leaves_out() -> None:
    scene = sn.Scene()
    box = scene.add(sn.RigidBody.box((1, 1, 1), mass=10))
    scene.add(rope([sn.World.at((0, 0, 5)), box.at((0, 0, 0.5))], 1e4))
    scene.step(H)
    kept = scene.snapshot()
    other = scene.add(rope([sn.World.at((2, 0, 5)), box.at((0.5, 0, 0.5))], 1e4))
    scene.step(H)
    scene.restore(kept)
    assert other.scene is None
    assert other.path_length == pytest.approx(np.linalg.norm(np.array((2, 0, 5)) - box.at((0.5, 0, 0.5)).position))
    scene.add(other)
    scene.step(H)
    assert other.path().shape[1] == 3


def test_light_hook_held_off_its_centre() -> None:
    """A hook of 0.5 kg with an eye above and one below, a swinging load of 100 kg, steps of 1/15 s."""
    scene = sn.Scene()
    hook = scene.add(sn.RigidBody.sphere(0.05, mass=0.5, position=(0, 0, -3)))
    load = scene.add(sn.RigidBody.box((0.5, 0.5, 0.5), mass=100.0, position=(0, 0, -5)))
    scene.add(rope([sn.World.at((0, 0, 0)), hook.at((0, 0, 0.05))], 1e6))
    for x in (-0.2, 0.2):
        scene.add(rope([hook.at((0, 0, -0.05)), load.at((x, 0, 0.25))], 1e6))
    load.velocity = (0.3, 0.2, 0)
    start = scene.energy.kinetic
    highest = 0.0
    for _ in range(900):
        scene.step(1 / 15)
        highest = max(highest, scene.energy.kinetic)
    assert highest < 3.0 * start
    assert np.linalg.norm(load.position - (0, 0, -5)) < 0.5


def test_sheaves_that_overlap_are_refused() -> None:
    one = sn.Sheave(sn.World.at((0, 0, 0)), axis=(0, 1, 0), radius=0.2)
    two = sn.Sheave(sn.World.at((0.3, 0, 0)), axis=(0, -1, 0), radius=0.2)
    with pytest.raises(sn.InputError, match=r"0\.3 m"):
        rope([sn.World.at((-2, 0, 0)), one, two, sn.World.at((2, 0, 0))], 1e4)


@pytest.mark.parametrize(
    "wrong", [{"stretch_stiffness": np.array([1.0, 2.0])}, {"stepping": np.array(["a", "b"])}, {"name": 3}]
)
def test_odd_arguments(wrong) -> None:
    options = {"stretch_stiffness": 1e4} | wrong
    with pytest.raises(sn.InputError):
        sn.Cable([sn.World.at((0, 0, 0)), sn.World.at((0, 0, 1))], **options)
