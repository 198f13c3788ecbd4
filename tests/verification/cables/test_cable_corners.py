"""Corners of hoisting cables: firm parts, rotors on carriers that turn, what is read and set, cables that went out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from verification.cables.rig import G, H, ball, rope

import sennit as sn


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
def test_a_firm_cable_over_a_bollard(integrator: str) -> None:
    # the part between the world and the bollard cannot give way at all
    scene = sn.Scene(integrator=integrator)
    load = ball(scene, 10.0, (0.2, 0, -3))
    bollard = sn.Sheave(sn.World.at((0, 0, 0)), axis=(0, 1, 0), radius=0.2, friction=0.2, fixed=True)
    cable = scene.add(rope([sn.World.at((-3, 0, 0.2)), bollard, load.at()], math.inf))
    scene.run(1.0, dt=0.01)
    assert load.position == pytest.approx((0.2, 0, -3), abs=1e-6)
    assert cable.tensions[1] == pytest.approx(10 * G, rel=1e-6)


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
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


def kinds(scene: sn.Scene) -> list[str]:
    return [event.kind for event in scene.events]


@pytest.mark.parametrize("wheel", [{"inertia": 0.5}, {"friction": 0.1, "fixed": True}])
def test_a_sheave_that_is_passed_clear_makes_no_energy(wheel) -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    load = ball(scene, 100.0, (7, 0, 2.5))
    sheave = sn.Sheave(sn.World.at((6, 0, 0)), (0, 1, 0), 0.2, **wheel)
    cable = scene.add(rope([sn.World.at((0, 0, 0)), sheave, load.at()], 1e6))
    cable.drive(-1)
    scene.gravity = (7, 0, 7)
    while cable.length > 3 and scene.time < 10:
        scene.step(H)
    cable.brake()
    assert sheave.wrap == 0.0
    scene.step(H)
    start, highest = scene.energy.total, -np.inf
    for _ in range(600):
        scene.step(H)
        highest = max(highest, scene.energy.total - scene.energy.constraints)
    # m g L is 3 kJ
    assert highest < start + 60.0
    assert cable.path_length < cable.length + 0.05


@pytest.mark.parametrize("wheel", [{}, {"inertia": 0.5}, {"friction": 0.1, "fixed": True}])
def test_the_winch_stops_where_the_load_comes_to_its_sheave(wheel) -> None:
    scene = sn.Scene(drag=0.2)
    load = ball(scene, 100.0, (0.2, 0, -1))
    sheave = sn.Sheave(sn.World.at((0, 0, 0)), (0, 1, 0), 0.2, **wheel)
    cable = scene.add(rope([sn.World.at((-3, 0, 0)), sheave, load.at()], 1e6))
    cable.drive(-0.1, max_pull=2000.0)
    scene.run(20, dt=H)
    assert kinds(scene) == ["wound_in"]
    assert -0.2 < load.position[2] < -0.05
    assert sheave.wrap > 1.0
    cable.drive(0.1)
    scene.run(5, dt=H)
    assert load.position[2] < -0.5


def test_a_hook_block_is_not_hoisted_over_its_sheaves() -> None:
    scene = sn.Scene(drag=0.2)
    block = scene.add(sn.RigidBody.box((0.3, 0.3, 0.3), mass=500, position=(0.1, 0, -4)))
    above, below = sn.Sheave(sn.World.at((0.4, 0, 0)), (0, -1, 0), 0.2), sn.Sheave(block.at(), (0, 1, 0), 0.1)
    cable = scene.add(rope([sn.World.at((3, 0, -0.5)), above, below, sn.World.at((0, 0, 0))], 1e6))
    cable.drive(-0.5, max_pull=4000.0)
    scene.run(40, dt=H)
    assert kinds(scene) == ["wound_in"]
    assert -0.6 < block.position[2] < 0.0
    assert cable.tension == pytest.approx(500 * G / 2, rel=0.1)


def test_a_firm_cable_on_one_body_does_nothing() -> None:
    scene = sn.Scene()
    box = scene.add(sn.RigidBody.box((1, 1, 1), mass=10))
    box.angular_velocity = (1, 2, 3)
    cable = scene.add(rope([box.at((0.5, 0, 0)), box.at((-0.5, 0, 0))], math.inf, length=0.9))
    scene.run(1, dt=H)
    assert cable.tension == 0.0
    assert np.linalg.norm(box.angular_velocity) == pytest.approx(math.sqrt(14), rel=1e-9)


@pytest.mark.parametrize(("speed", "dt"), [(0.5, 1 / 50), (0.25, 1 / 64), (1.0, 0.01), (0.1, 0.05)])
def test_the_end_of_the_cable_is_told_once(speed: float, dt: float) -> None:
    scene = sn.Scene()
    load = ball(scene, 100, (0, 0, -4))
    cable = scene.add(rope([sn.World.at((0, 0, 0)), load.at()], 1e6, longest=5.0))
    cable.drive(speed)
    scene.run(1.0 / speed + 2, dt=dt)
    assert kinds(scene) == ["paid_out"]
    cable.drive(-speed, slip=1e-6)
    scene.run(5.0 / speed + 2, dt=dt)
    assert kinds(scene) == ["paid_out", "wound_in"]


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
@pytest.mark.parametrize(("share", "breaks"), [(0.9, True), (1.08, False)])
def test_catches_are_judged_alike(integrator: str, share: float, breaks: bool) -> None:
    scene = sn.Scene(integrator=integrator)
    load = ball(scene, 1000.0, (0, 0, -3.8))
    weight = 1000 * G
    peak = weight + math.sqrt(weight**2 + 1e6 * 1000 * 2 * G * 0.2)
    cable = scene.add(rope([sn.World.at((0, 0, 0)), load.at()], 1e6, length=4.0, breaking_load=share * peak))
    scene.run(1.0, dt=H)
    assert cable.broken == breaks


def test_a_slider_that_leaves_its_rod_lets_go_of_the_cable() -> None:
    scene = sn.Scene()
    rod = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, -0.5), section=sn.Section.circle(9e-3),
                                    material=sn.Material(2e10, 0.3, 1600), control_points=16))  # fmt: skip
    scene.add(sn.Clamp(rod.at(0.0)))
    scene.add(sn.Clamp(rod.at(rod.length)))
    slider = scene.add(sn.Slider(rod, 0.5, mass=0.3))
    load = ball(scene, 2.0, (0.5, 0, -1.5))
    cable = scene.add(rope([slider.at(), load.at()], 1e5))
    scene.run(3, dt=H)
    assert not slider.attached
    v = load.velocity[2]
    scene.run(1, dt=H)
    assert cable.tension == 0.0
    assert load.velocity[2] - v == pytest.approx(-G, rel=1e-6)
