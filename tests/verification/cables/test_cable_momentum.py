"""Cables act and react: free bodies on a cable keep linear and angular momentum to rounding, however it bends."""

from __future__ import annotations

import numpy as np
import pytest
from references.rotation import exp
from unit.scene.kit import total_momentum

import sennit as sn

TURN = exp(np.array([0.4, -0.7, 0.3]))


def bodies(scene, calm: bool = False):
    """Three boxes that fly and tumble; `calm`: the middle one, which is to carry a sheave, hardly turns."""
    out = []
    for k, (place, size) in enumerate([((0, 0, 0), (1, 2, 3)), ((2, 0.5, 3), (2, 1, 1)), ((4, -0.4, 0.2), (1, 1, 2))]):
        box = sn.RigidBody.box(size=0.2 * np.array(size), mass=10.0 + 5 * k)
        box.pose = sn.Pose.from_rotation(np.array(place, dtype=float), np.linalg.matrix_power(TURN, k + 1))
        if calm and k == 1:
            box = sn.RigidBody.from_inertia(15.0, (20.0, 25.0, 30.0), pose=box.pose)
        scene.add(box)
        box.velocity = np.array([(-1.0, 0.3, 0.2), (0.1, 0.5, 1.0), (1.5, -0.2, 0.1)][k])
        box.angular_velocity = np.array([(1.0, 2.0, -1.0), (-0.5, 0.2, 3.0), (0.3, 1.0, 0.4)][k])
        if calm and k == 1:
            box.angular_velocity = (0.05, 0.1, -0.05)
        out.append(box)
    return out


def plain(a, b, c):
    return [a.at((0.1, 0.2, 0.3)), c.at((-0.1, 0.1, 0.2))], {"twist_stiffness": 30.0, "twist_damping": 1.0}


def ring(a, b, c):
    points = [a.at((0.1, 0.2, 0.3)), b.at((0.2, -0.1, 0.1)), c.at((-0.1, 0.1, 0.2))]
    return points, {"twist_stiffness": 30.0}


def carried_sheave(a, b, c):
    wheel = sn.Sheave(b.at((0, 0, 0)), axis=(0.1, 1.0, 0.05), radius=0.15)
    return [a.at((0.1, 0.2, 0.3)), wheel, c.at((-0.1, 0.1, 0.2))], {"twist_stiffness": 30.0}


def carried_bollard(a, b, c):
    wheel = sn.Sheave(b.at((0, 0, 0)), axis=(0.1, 1.0, 0.05), radius=0.15, friction=0.2, fixed=True, turns=1)
    return [a.at((0.1, 0.2, 0.3)), wheel, c.at((-0.1, 0.1, 0.2))], {"torsion": False}


def around_a_body(a, b, c):
    # it lies on the middle body once the others fly down
    return [a.at((0.1, 0.2, 0.3)), c.at((-0.1, 0.1, 0.2))], {"torsion": False, "around": [b]}


@pytest.mark.parametrize("make", [plain, ring, carried_sheave, carried_bollard, around_a_body])
@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (0.3, -1.0, -9.81)])
def test_momentum(make, gravity, validated):
    scene = sn.Scene(gravity=gravity)
    a, b, c = bodies(scene, calm=make in (carried_sheave, carried_bollard))
    if make is around_a_body:
        b.position, b.velocity = (2, 0.0, -0.6), (0, 0, 2.0)
    points, options = make(a, b, c)
    cable = scene.add(sn.Cable(points, stretch_stiffness=2e3, damping=20.0, **options))
    p0, l0 = total_momentum(a, b, c)
    mass = a.mass + b.mass + c.mass
    pulled = 0.0
    for _ in range(400):
        scene.step(0.005)
        pulled = max(pulled, cable.tension)
    assert pulled > 50.0  # it did something
    p, l = total_momentum(a, b, c)
    expected = p0 + mass * np.array(gravity) * scene.time
    assert np.abs(p - expected).max() < 1e-10 * 50.0 * max(1.0, np.linalg.norm(gravity))
    if not any(gravity):
        validated(
            "Three tumbling boxes on one cable, over sheaves and bodies",
            area="cables",
            quantity="angular momentum",
            reference="conservation",
            error=np.abs(l - l0).max() / max(1.0, np.linalg.norm(l0)),
            bound=1e-9,
        )
    # each of them was moved
    for body in (a, c) if make is plain else (a, b, c):
        assert np.isfinite(body.position).all()
        assert np.linalg.norm(body.velocity) > 0


def test_two_ends_of_one_body():
    # both ends on one box: whatever its tension, nothing moves
    scene = sn.Scene(gravity=(0, 0, 0))
    box = scene.add(sn.RigidBody.box(size=(1, 1, 1), mass=10.0))
    other = scene.add(sn.RigidBody.box(size=(1, 1, 1), mass=10.0, position=(5, 0, 0)))
    scene.add(sn.Cable([box.at((-0.5, 0.2, 0.5)), box.at((0.5, 0.1, 0.5))], stretch_stiffness=1e4, twist_stiffness=10.0,
                       length=0.95))  # fmt: skip
    scene.run(2.0, dt=0.01)
    assert box.position == pytest.approx((0, 0, 0), abs=1e-10)
    assert box.angular_velocity == pytest.approx((0, 0, 0), abs=1e-10)
    assert other.position == pytest.approx((5, 0, 0), abs=1e-12)


def test_pull_on_both_ends_is_the_same():
    # a cable between a light and a heavy free body: accelerations T/m
    scene = sn.Scene(gravity=(0, 0, 0))
    one = scene.add(sn.RigidBody.sphere(0.1, mass=2.0))
    two = scene.add(sn.RigidBody.sphere(0.1, mass=500.0, position=(1, 2, 2)))
    cable = scene.add(sn.Cable([one.at(), two.at()], stretch_stiffness=1e3, torsion=False, length=2.9))
    scene.step(1e-3)
    along = np.array([1, 2, 2]) / 3
    assert cable.tension == pytest.approx(100.0, rel=0.01)
    assert one.velocity == pytest.approx(cable.tension * 1e-3 / 2.0 * along, rel=1e-9)
    assert two.velocity == pytest.approx(-cable.tension * 1e-3 / 500.0 * along, rel=1e-9)
