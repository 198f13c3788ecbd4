"""One-sided rows: floors that never pull, leashes that never push."""

from __future__ import annotations

import numpy as np
import pytest
from unit.scene.kit import ROPE, SOFT, G, drop

import sennit as sn

DT, M = 0.01, 2.0


def ball_in(scene, position=(0, 0, 0)):
    return scene.add(sn.RigidBody.sphere(radius=0.1, mass=M, position=position))


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
def test_a_floor(integrator: str) -> None:
    scene = sn.Scene(integrator=integrator)
    ball = ball_in(scene, (0, 0, 0.05))
    floor = scene.add(sn.OnPlane(ball.at((0, 0, 0)), (0, 0, 1), through=(0, 0, 0), bound="at_least"))
    for _ in range(40):
        scene.step(DT)
        assert ball.pose.position[2] > -1e-9
        assert floor.force[2] >= 0
    assert floor.force == pytest.approx((0, 0, M * G), abs=1e-8)
    assert abs(ball.pose.position[2]) < 1e-9
    # thrown up it leaves at once and is not held back
    ball.velocity = (0.3, 0, 1.0)
    z, v = ball.pose.position[2], 1.0
    for _ in range(5):
        scene.step(DT)
        v -= DT * G
        z += DT * v
        assert np.array_equal(floor.force, (0, 0, 0))
        if integrator == "euler":
            assert ball.pose.position[2] == pytest.approx(z, abs=1e-10)


def test_in_the_air_a_floor_does_nothing() -> None:
    scene = sn.Scene()
    ball = ball_in(scene, (0, 0, 1))
    floor = scene.add(sn.OnPlane(ball.at((0, 0, 0)), (0, 0, 1), through=(0, 0, 0), bound="at_least"))
    for _ in range(20):
        scene.step(DT)
    assert ball.pose.position[2] == pytest.approx(drop(1, 20, DT), abs=1e-12)
    assert np.array_equal(floor.force, (0, 0, 0))


def test_a_leash() -> None:
    scene = sn.Scene()
    ball = ball_in(scene)
    anchor = sn.World.at((0, 0, 0.4))
    leash = scene.add(sn.Distance(ball.at((0, 0, 0)), anchor, length=0.5, bound="at_most"))
    slack = True
    for k in range(60):
        scene.step(DT)
        pull = leash.force @ (anchor.position - ball.pose.position)
        assert pull >= 0
        if slack and drop(0, k + 1, DT) > -0.1:
            assert ball.pose.position[2] == pytest.approx(drop(0, k + 1, DT), abs=1e-10)
            assert pull == 0
        else:
            slack = False
        assert np.linalg.norm(ball.pose.position - anchor.position) < 0.5 + 1e-6
    assert leash.force == pytest.approx((0, 0, M * G), abs=1e-6)
    assert ball.pose.position[2] == pytest.approx(-0.1, abs=1e-6)


def test_a_prop_only_pushes() -> None:
    scene = sn.Scene()
    ball = ball_in(scene, (0, 0, 1.0))
    prop = scene.add(sn.Distance(ball.at((0, 0, 0)), sn.World.at((0, 0, 0)), length=0.9, bound="at_least"))
    for _ in range(60):
        scene.step(DT)
        assert prop.force[2] >= 0
        assert ball.pose.position[2] > 0.9 - 1e-6
    assert prop.force == pytest.approx((0, 0, M * G), abs=1e-6)
    ball.velocity = (0, 0, 1.0)
    scene.step(DT)
    assert np.array_equal(prop.force, (0, 0, 0))


def test_inside_a_sphere() -> None:
    scene = sn.Scene(drag=4.0)
    ball = ball_in(scene, (0.2, 0, 0))
    bowl = scene.add(sn.OnSphere(ball.at((0, 0, 0)), (0, 0, 0), 0.5, bound="at_most"))
    for _ in range(500):
        scene.step(DT)
        x = ball.pose.position
        assert np.linalg.norm(x) < 0.5 + 2e-3
        assert bowl.force @ x <= 0
    assert x == pytest.approx((0, 0, -0.5), abs=2e-3)
    assert bowl.force == pytest.approx((0, 0, M * G), rel=0.02, abs=0.1)


def test_outside_a_sphere() -> None:
    scene = sn.Scene(drag=1.0)
    ball = ball_in(scene, (0.01, 0, 0.6))
    dome = scene.add(sn.OnSphere(ball.at((0, 0, 0)), (0, 0, 0), 0.5, bound="at_least"))
    touched = False
    for _ in range(150):
        scene.step(DT)
        assert np.linalg.norm(ball.pose.position) > 0.5 - 2e-3
        assert dome.force @ ball.pose.position >= 0
        touched = touched or bool(dome.force.any())
    assert touched
    assert ball.pose.position[2] < -0.5, "it rolled off and fell"


def test_a_rope_falls_on_stops(validated) -> None:
    scene = sn.Scene()
    rope = scene.add(sn.Rod.straight((0, 0, 0.02), (1, 0, 0.02), section=ROPE, material=SOFT, control_points=12))
    places = np.linspace(0, rope.length, 9)
    stops = [scene.add(sn.OnPlane(rope.at(s), (0, 0, 1), through=(0, 0, 0), bound="at_least")) for s in places]
    weight = SOFT.density * ROPE.area * rope.length * G
    for _ in range(60):
        scene.step(DT)
        for s, stop in zip(places, stops, strict=True):
            assert rope.at(s).position[2] > -1e-8
            assert stop.force[2] >= 0
    validated(
        "Rope that fell on nine stops",
        area="constraints",
        quantity="sum of their forces",
        reference="its weight",
        error=abs(sum(stop.force[2] for stop in stops) / weight - 1),
        bound=1e-3,
    )


def test_settling_on_one_sided_rows(validated) -> None:
    scene = sn.Scene()
    ball = ball_in(scene, (0, 0, 0.3))
    floor = scene.add(sn.OnPlane(ball.at((0, 0, 0)), (0, 0, 1), through=(0, 0, 0), bound="at_least"))
    spring = scene.add(sn.Fix(ball.at((0, 0, 0)), compliance=0.05))
    report = scene.settle()
    assert report.converged
    # the spring alone would let it down to 0.3 - m g c = -0.68: floor and spring share
    assert ball.pose.position[2] == pytest.approx(0.0, abs=1e-8)
    assert spring.force[2] == pytest.approx(0.3 / 0.05, rel=1e-6)
    validated(
        "Ball on a floor and a spring",
        area="constraints",
        quantity="force of the floor",
        reference="statics",
        error=abs(floor.force[2] / (M * G - 0.3 / 0.05) - 1),
        bound=1e-6,
    )


def test_switching_a_floor() -> None:
    scene = sn.Scene()
    ball = ball_in(scene)
    floor = scene.add(sn.OnPlane(ball.at((0, 0, 0)), (0, 0, 1), bound="at_least"))
    scene.run(5 * DT, dt=DT)
    floor.enabled = False
    for _ in range(5):
        scene.step(DT)
    assert ball.pose.position[2] == pytest.approx(drop(0, 5, DT), abs=1e-9)
