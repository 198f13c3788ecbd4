"""Hinges, rails, balls and locks between rigid bodies: motors, limits and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from references.rotation import exp, log
from unit.scene.kit import G

import sennit as sn

DT = 0.01
SIZE, M = (0.2, 0.4, 0.6), 3.0
INERTIA = M / 12 * np.array((0.4**2 + 0.6**2, 0.2**2 + 0.6**2, 0.2**2 + 0.4**2))
ORIGIN = sn.Pose()


def box_in(scene, position=(0, 0, 0), mass=M):
    return scene.add(sn.RigidBody.box(size=SIZE, mass=mass, position=position))


def angle(box) -> float:
    return log(box.pose.rotation)[2]


def hinged(gravity=(0, 0, 0), **options):
    scene = sn.Scene(gravity=gravity)
    box = box_in(scene)
    hinge = scene.add(sn.Hinge(box.at((0, 0, 0)), sn.World.at(ORIGIN), axis=(0, 0, 1), **options))
    return scene, box, hinge


def test_a_hinge_turns_about_its_axis_only() -> None:
    scene, box, hinge = hinged(gravity=(0, 0, -G))
    box.angular_velocity = (0.0, 0.0, 2.0)
    scene.add(sn.Load(box.at((0, 0, 0)), torque=(0.5, -0.3, 0)))
    for _ in range(50):
        scene.step(DT)
    assert angle(box) == pytest.approx(1.0, rel=1e-4)
    assert np.abs(box.pose.rotation[2] - (0, 0, 1)).max() < 1e-9
    assert np.abs(box.pose.position).max() < 1e-9
    assert hinge.force == pytest.approx((0, 0, M * G), abs=1e-6)
    assert hinge.torque[:2] == pytest.approx((-0.5, 0.3), abs=1e-6)
    assert abs(hinge.torque[2]) < 1e-9


def test_a_motor_reaches_its_speed_at_once_if_it_may() -> None:
    scene, box, _ = hinged(motor=sn.Motor(speed=1.5))
    for _ in range(10):
        scene.step(DT)
        assert box.angular_velocity == pytest.approx((0, 0, 1.5), rel=1e-4)
    assert angle(box) == pytest.approx(1.5 * 10 * DT, rel=1e-4)


def test_a_weak_motor_spins_up_at_torque_over_inertia(validated) -> None:
    torque = 0.05
    scene, box, hinge = hinged(motor=sn.Motor(speed=1.0, max_torque=torque))
    alpha = torque / INERTIA[2]
    for k in range(1, 300):
        scene.step(DT)
        wanted = min(alpha * k * DT, 1.0)
        validated(
            "Hinge with a weak motor",
            area="constraints",
            quantity="angular velocity (rad/s)",
            reference="torque over inertia",
            error=abs(box.angular_velocity[2] - wanted),
            bound=max(1e-4 * wanted, 1e-9),
        )
        assert abs(hinge.torque[2]) < torque * (1 + 1e-9)
    assert box.angular_velocity[2] == pytest.approx(1.0, rel=1e-4)


def test_a_motor_that_cannot_hold_its_load() -> None:
    """A torque of 0.3 against a motor of at most 0.1 at speed 0: alpha = 0.2 / I."""
    scene, box, _ = hinged(motor=sn.Motor(speed=0.0, max_torque=0.1))
    load = scene.add(sn.Load(box.at((0, 0, 0)), torque=(0, 0, 0.3)))
    for _ in range(20):
        scene.step(DT)
    assert box.angular_velocity[2] == pytest.approx(0.2 / INERTIA[2] * 20 * DT, rel=1e-6)
    scene.remove(load)
    for _ in range(100):
        scene.step(DT)
    assert abs(box.angular_velocity[2]) < 1e-9, "then it brakes to a stop and stays"


@pytest.mark.parametrize("speed", [2.0, -2.0])
def test_limits_of_a_hinge(speed: float) -> None:
    scene, box, hinge = hinged(limits=(-0.3, 0.4))
    box.angular_velocity = (0, 0, speed)
    limit = 0.4 if speed > 0 else -0.3
    met = False
    for k in range(40):
        scene.step(DT)
        assert -0.3 - 1e-6 < angle(box) < 0.4 + 1e-6
        if abs(speed) * (k + 2) * DT < abs(limit):
            assert angle(box) == pytest.approx(speed * (k + 1) * DT, rel=1e-3)
            assert abs(hinge.torque[2]) < 1e-12
        # a stop pushes back and never holds on
        assert hinge.torque[2] * np.sign(speed) <= 1e-12
        met = met or abs(hinge.torque[2]) > 1e-6
    assert met
    scene.add(sn.Load(box.at((0, 0, 0)), torque=(0, 0, -np.sign(speed) * 0.1)))
    scene.run(10 * DT, dt=DT)
    assert abs(angle(box)) < abs(limit) - 1e-3, "it comes off the stop freely"


def test_limits_carry_a_load() -> None:
    scene, box, hinge = hinged(limits=(-0.3, 0.4))
    scene.add(sn.Load(box.at((0, 0, 0)), torque=(0, 0, 0.2)))
    scene.run(3.0, dt=DT)
    assert angle(box) == pytest.approx(0.4, abs=1e-6)
    assert hinge.torque[2] == pytest.approx(-0.2, abs=1e-6)


def test_a_hinge_counts_turns() -> None:
    scene, box, _ = hinged(limits=(-10.0, 10.0), motor=sn.Motor(speed=20.0, max_torque=50.0))
    turned = 0.0
    for _ in range(80):
        before = box.pose.rotation.copy()
        scene.step(DT)
        turned += log(box.pose.rotation @ before.T)[2]
    assert turned == pytest.approx(10.0, abs=1e-3)


def test_a_motor_between_two_free_bodies_keeps_angular_momentum() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    a, b = box_in(scene), box_in(scene, (0, 0, 0.7), mass=2 * M)
    scene.add(sn.Hinge(a.at((0, 0, 0.35)), b.at((0, 0, -0.35)), axis=(0, 0, 1), motor=sn.Motor(speed=3.0)))
    scene.run(10 * DT, dt=DT)
    wa, wb = a.angular_velocity[2], b.angular_velocity[2]
    # the first turns relative to the second; the angle is exact, its rate to (h w)^2 / 12
    assert wa - wb == pytest.approx(3.0, rel=1e-4)
    assert INERTIA[2] * wa + 2 * INERTIA[2] * wb == pytest.approx(0.0, abs=1e-10)


def railed(gravity=(0, 0, 0), axis=(1, 0, 0), **options):
    scene = sn.Scene(gravity=gravity)
    box = box_in(scene)
    rail = scene.add(sn.Prismatic(box.at((0, 0, 0)), sn.World.at(ORIGIN), axis=axis, **options))
    return scene, box, rail


def test_a_rail(validated) -> None:
    slope = 0.4
    axis = np.array((np.cos(slope), 0, -np.sin(slope)))
    scene, box, rail = railed(gravity=(0, 0, -G), axis=axis)
    scene.add(sn.Load(box.at((0, 0.1, 0)), force=(0, 1.0, 0), torque=(0.1, 0.2, 0.3)))
    n = 40
    for _ in range(n):
        scene.step(DT)
    travel = G * np.sin(slope) * DT * DT * n * (n + 1) / 2
    validated(
        "Box on a sloping rail",
        area="constraints",
        quantity="travel (m)",
        reference="g sin α t²/2, stepwise",
        error=np.abs(box.pose.position - travel * axis).max(),
        bound=1e-8,
    )
    assert np.abs(box.pose.rotation - np.eye(3)).max() < 1e-9
    normal = np.array((np.sin(slope), 0, np.cos(slope))) * M * G * np.cos(slope)
    assert rail.force == pytest.approx(np.add(normal, (0, -1.0, 0)), abs=1e-6)
    assert rail.torque == pytest.approx((-0.1, -0.2, -0.3), abs=1e-6)


def test_a_motor_on_a_rail() -> None:
    scene, box, rail = railed(motor=sn.Motor(speed=0.5, max_force=1.2))
    for k in range(1, 200):
        scene.step(DT)
        assert box.velocity[0] == pytest.approx(min(0.5, 1.2 / M * k * DT), abs=1e-9)
        assert abs(rail.force[0]) < 1.2 * (1 + 1e-9)


def test_limits_of_a_rail() -> None:
    scene, box, rail = railed(gravity=(G, 0, 0), limits=(-0.1, 0.2))
    for _ in range(60):
        scene.step(DT)
        assert box.pose.position[0] < 0.2 + 1e-9
        assert rail.force[0] <= 1e-12
    assert box.pose.position[0] == pytest.approx(0.2, abs=1e-9)
    assert rail.force[0] == pytest.approx(-M * G, abs=1e-6)


def test_a_lock_makes_one_body_of_two(validated) -> None:
    """Two locked boxes turn like the one that they form: alpha = torque / (sum of I + m d^2)."""
    scene = sn.Scene(gravity=(0, 0, 0))
    a, b = box_in(scene, (-0.3, 0, 0)), box_in(scene, (0.3, 0, 0))
    lock = scene.add(sn.Lock(a.at((0.3, 0, 0)), b.at((-0.3, 0, 0))))
    torque = 0.1
    scene.add(sn.Load(a.at((0, 0, 0)), torque=(0, 0, torque)))
    scene.run(20 * DT, dt=DT)
    total = 2 * (INERTIA[2] + M * 0.3**2)
    for box in (a, b):
        validated(
            "Two boxes locked to one",
            area="constraints",
            quantity="angular velocity (rad/s)",
            reference="Steiner's theorem",
            error=np.abs(box.angular_velocity - (0, 0, torque * 20 * DT / total)).max(),
            bound=1e-6,
        )
    # half of the load's angular momentum crosses the lock
    assert lock.torque[2] == pytest.approx(-torque / 2, rel=1e-3)
    assert np.abs(a.pose.rotation - b.pose.rotation).max() < 1e-7


def test_a_lock_keeps_the_rotation_that_it_found() -> None:
    scene = sn.Scene()
    a, b = box_in(scene), box_in(scene)
    b.pose = sn.Pose.from_rotation((0, 0, 0), exp(np.array((0.4, 0.3, -0.6))))
    scene.add(sn.Lock(a.at((0, 0, 0)), b.at((0, 0, 0))))
    scene.add(sn.Fix(a.at((0.1, 0, 0))))
    relative = a.pose.rotation.T @ b.pose.rotation
    scene.run(30 * DT, dt=DT)
    assert np.abs(a.pose.rotation - np.eye(3)).max() > 0.01
    assert np.linalg.norm(log(relative.T @ a.pose.rotation.T @ b.pose.rotation)) < 1e-5


def test_a_ball_lets_turn() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    box = box_in(scene)
    scene.add(sn.Ball(box.at((0, 0, 0)), sn.World.at((0, 0, 0))))
    box.angular_velocity = (0, 0, 2.0)
    scene.run(50 * DT, dt=DT)
    assert angle(box) == pytest.approx(1.0, rel=1e-4)


def test_a_chain_of_hinges_carries_what_hangs_below(validated) -> None:
    scene = sn.Scene()
    links = [box_in(scene, (0, 0, -0.6 * k)) for k in range(5)]
    top = scene.add(sn.Hinge(links[0].at((0, 0, 0.3)), sn.World.at(sn.Pose((0, 0, 0.3))), axis=(0, 1, 0)))
    joints = [
        scene.add(sn.Hinge(b.at((0, 0, 0.3)), a.at((0, 0, -0.3)), axis=(0, 1, 0)))
        for a, b in zip(links, links[1:], strict=False)
    ]
    scene.run(10 * DT, dt=DT)
    for k, joint in enumerate([top, *joints]):
        validated(
            "Five boxes that hang from each other",
            area="constraints",
            quantity="force of a joint (N)",
            reference="weight below",
            error=np.abs(joint.force - (0, 0, (5 - k) * M * G)).max(),
            bound=1e-5,
        )
