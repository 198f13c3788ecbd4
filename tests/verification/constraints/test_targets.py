"""Targets moved by hand: straight rows are met at the end of the step, curved ones to second order, then corrected."""

from __future__ import annotations

import numpy as np
import pytest
from references.rotation import exp, log
from unit.scene.kit import ROPE, SOFT

import sennit as sn

DT = 0.01


def rope_in(scene, model="spline"):
    return scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=ROPE, material=SOFT, control_points=8, model=model))


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
@pytest.mark.parametrize("model", ["spline", "discrete"])
def test_a_moved_grip_is_where_it_was_sent(model: str, integrator: str, validated) -> None:
    scene = sn.Scene(integrator=integrator)
    rope = rope_in(scene, model)
    scene.add(sn.Clamp(rope.at(0.0)))
    grip = scene.add(sn.Fix(rope.at(0.83)))
    for k in range(6):
        grip.target = (0.83 - 0.01 * k, 0.005 * k, 0.004 * k**2)
        scene.step(DT)
        validated(
            "Grip moved by hand, every scheme",
            area="constraints",
            quantity="position (m)",
            reference="where it was sent",
            error=np.abs(rope.at(0.83).position - grip.target).max(),
            bound=1e-9,
        )
        assert np.abs(grip.violation).max() < 1e-9


def test_a_moved_world_point_takes_what_is_tied_to_it() -> None:
    scene = sn.Scene()
    rope = rope_in(scene)
    anchors = [sn.World.at((x, 0, 0)) for x in (0, 1)]
    scene.add(sn.Ball(rope.at(0.0), anchors[0]))
    scene.add(sn.Fuse(anchors[1], rope.at(1.0), align=False))
    for k in range(6):
        anchors[1].position = (1 - 0.01 * k, 0.01 * k, 0)
        scene.step(DT)
        assert np.abs(rope.at(1.0).position - anchors[1].position).max() < 1e-9
        assert np.abs(rope.at(0.0).position).max() < 1e-9


def test_the_centre_of_a_body_is_where_it_was_sent() -> None:
    scene = sn.Scene()
    box = scene.add(sn.RigidBody.box(size=(0.1, 0.2, 0.3), mass=1, position=(0, 0, 0)))
    box.angular_velocity = (3, 2, 1)
    grip = scene.add(sn.Fix(box.at((0, 0, 0))))
    for k in range(6):
        grip.target = (0.03 * k, 0, -0.02 * k)
        scene.step(DT)
        assert np.abs(box.pose.position - grip.target).max() < 1e-9


@pytest.mark.parametrize("model", ["spline", "discrete"])
def test_planes_and_axes(model: str) -> None:
    scene = sn.Scene()
    rope = rope_in(scene, model)
    n, d = np.array((0.6, 0, 0.8)), np.array((0, 0.6, 0.8))
    carrier = sn.World.at(sn.Pose((0.5, 0, 0)))
    scene.add(sn.OnPlane(rope.at(0.2), n))
    scene.add(sn.OnAxis(rope.at(0.7), d))
    scene.add(sn.OnPlane(rope.at(1.0), (0, 0, 1), through=(0, 0, 0), of=carrier))
    start = rope.at(0.7).position.copy()
    for k in range(8):
        carrier.position = (0.5 + 0.02 * k, 0.1 * k, 0.003 * k)
        scene.step(DT)
        assert abs(n @ (rope.at(0.2).position - (0.2, 0, 0))) < 1e-9
        off = rope.at(0.7).position - start
        assert np.abs(off - (off @ d) * d).max() < 1e-9
        assert abs(rope.at(1.0).position[2] - 0.003 * k) < 1e-9
    assert abs(off @ d) > 1e-3, "it should have slid along the axis"


def test_follow_is_on_its_path_at_every_step() -> None:
    scene = sn.Scene()
    rope = rope_in(scene)
    box = scene.add(sn.RigidBody.sphere(radius=0.1, mass=1, position=(0, 0, 1)))

    def path(t: float) -> np.ndarray:
        return np.array((1 - 0.2 * t, 0.1 * np.sin(5 * t), 0.05 * t * t))

    tip = scene.add(sn.Follow(rope.at(1.0), path))
    scene.add(sn.Follow(box.at((0, 0, 0)), lambda t: np.add(path(t), (-1, 0, 1))))
    for _ in range(10):
        scene.step(DT)
        assert np.abs(rope.at(1.0).position - path(scene.time)).max() < 1e-9
        assert np.abs(box.pose.position - path(scene.time) - (-1, 0, 1)).max() < 1e-9
    assert np.abs(tip.force).max() > 1e-3


@pytest.mark.parametrize("what", ["distance", "sphere", "circle", "hinge"])
def test_curved_rows_to_second_order_and_then_corrected(what: str) -> None:
    """A tangential step h v leaves the circle of radius l by (h v)^2 / 2 l. It is corrected, so it does not add up."""
    speed, length = 1.0, 0.5
    first = {}
    for dt in (0.02, 0.01):
        scene = sn.Scene(gravity=(0, 0, 0))
        ball = scene.add(sn.RigidBody.sphere(radius=0.05, mass=1, position=(length, 0, 0)))
        ball.velocity = (0, 0, speed)
        p, anchor = ball.at((0, 0, 0)), sn.World.at(sn.Pose())
        if what == "distance":
            scene.add(sn.Distance(p, anchor))
        elif what == "sphere":
            scene.add(sn.OnSphere(p, (0, 0, 0), length))
        elif what == "circle":
            scene.add(sn.OnCircle(p, (0, 0, 0), (0, 1, 0), length))
        else:
            ball.angular_velocity = (0, -speed / length, 0)
            scene.add(sn.Hinge(ball.at((-length, 0, 0)), anchor, axis=(0, 1, 0)))
        off = []
        for _ in range(25):
            scene.step(dt)
            off.append(abs(np.linalg.norm(ball.pose.position) - length))
        first[dt] = off[0]
        bound = (speed * dt) ** 2 / (2 * length)
        assert off[0] < 1.2 * bound
        assert max(off) < 2 * bound
        assert np.linalg.norm(ball.velocity) == pytest.approx(speed, rel=0.15)
    if first[0.01] > 1e-9:
        assert first[0.02] / first[0.01] == pytest.approx(4.0, rel=0.2)


def test_an_off_centre_grip_is_corrected_in_the_next_step() -> None:
    scene = sn.Scene()
    box = scene.add(sn.RigidBody.box(size=(0.1, 0.2, 0.3), mass=1, position=(0, 0, 0)))
    corner = box.at((0.05, 0.1, 0.15))
    grip = scene.add(sn.Fix(corner))
    errors = []
    grip.target = np.add(grip.target, (0.02, 0, 0.01))
    for _ in range(6):
        scene.step(1e-3)
        errors.append(np.abs(corner.position - grip.target).max())
    # it turned by a tenth of a radian in the first step
    assert errors[0] < 0.02
    assert errors[-1] < 1e-4


def test_a_clamp_holds_direction_and_roll_and_goes_where_it_is_sent() -> None:
    scene = sn.Scene(gravity=(0, 0, -9.81))
    rope = rope_in(scene)
    end = rope.at(0.0)
    clamp = scene.add(sn.Clamp(end))
    start = end.frame.copy()
    scene.add(sn.Load(rope.at(1.0), torque=(0.002, 0, 0)))
    for _ in range(20):
        scene.step(DT)
    assert np.abs(rope.at(0.0).position).max() < 1e-9
    assert np.abs(end.frame - start).max() < 1e-6
    turned = exp(np.array((0.3, 0.4, 0.5)))
    for k in range(1, 21):
        part = exp(k / 20 * np.array((0.3, 0.4, 0.5)))
        clamp.target = sn.Pose.from_rotation((0.01 * k, 0, 0), part @ start)
        scene.step(DT)
        assert np.abs(rope.at(0.0).position - (0.01 * k, 0, 0)).max() < 1e-9
    for _ in range(5):
        scene.step(DT)
    assert np.linalg.norm(log(end.frame @ (turned @ start).T)) < 1e-6


def test_align_turns_the_tangent() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    rope = rope_in(scene)
    scene.add(sn.Fix(rope.at(0.0)))
    wanted = np.array((0.98, 0, np.sqrt(1 - 0.98**2)))
    scene.add(sn.Align(rope.at(0.0), wanted))
    report = scene.settle()
    assert report.converged
    assert np.abs(rope.at(0.0).frame[:, 2] - wanted).max() < 1e-9
    # nothing else holds it: it is straight, and points there
    assert np.abs(rope.at(1.0).position - wanted).max() < 1e-6
