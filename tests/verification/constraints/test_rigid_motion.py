"""Rigid bodies in a scene: tumbling, pendulums, tops."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from references.rotation import exp, log, skew
from scipy.integrate import solve_ivp
from unit.scene.kit import G, total_momentum

import sennit as sn

SIZE, M = np.array((0.2, 0.5, 1.0)), 3.0
INERTIA = M / 12 * (SIZE @ SIZE - SIZE**2)


def test_inertia() -> None:
    box = sn.RigidBody.box(size=SIZE, mass=M, position=(0, 0, 0))
    assert np.diag(INERTIA) == pytest.approx(box.inertia, abs=1e-14)
    ball = sn.RigidBody.sphere(radius=0.3, mass=2.0, position=(0, 0, 0))
    assert np.eye(3) * 0.4 * 2.0 * 0.09 == pytest.approx(ball.inertia, abs=1e-14)


def test_a_mesh_of_a_box_is_a_box() -> None:
    mesh = trimesh.creation.box(extents=SIZE)
    shift = np.array((3.0, -1.0, 2.0))
    made = sn.RigidBody.from_mesh(mesh.vertices + shift, mesh.faces, mass=M)
    box = sn.RigidBody.box(size=SIZE, mass=M, position=shift)
    # its origin is the centre of mass
    assert made.pose.position == pytest.approx(shift, abs=1e-12)
    world = made.pose.rotation @ made.inertia @ made.pose.rotation.T
    assert world == pytest.approx(box.inertia, abs=1e-12)
    ends = []
    for body in (made, box):
        scene = sn.Scene(gravity=(0, 0, 0))
        scene.add(body)
        body.velocity, body.angular_velocity = (0.1, 0, 0), (0.1, 5.0, 0.2)
        start = body.pose.rotation.copy()
        scene.run(0.5, dt=0.01)
        ends.append((body.pose.position.copy(), body.pose.rotation @ start.T, body.angular_velocity.copy()))
    for a, b in zip(*ends, strict=True):
        assert a == pytest.approx(b, abs=1e-9)


@pytest.mark.parametrize("integrator", ["euler", "midpoint", "fourth"])
def test_tumbling_about_the_middle_axis(integrator: str, validated) -> None:
    h = 1 / 60
    scene = sn.Scene(gravity=(0, 0, 0), integrator=integrator)
    box = scene.add(sn.RigidBody.box(size=SIZE, mass=M, position=(0, 0, 0)))
    start = np.array((0.02, 5.0, 0.03))
    box.angular_velocity, box.velocity = start, (1, 2, 3)
    energy, (_, momentum) = scene.energy.total, total_momentum(box)
    for k in range(1200):
        scene.step(h)
        if k % 100 == 99:
            validated(
                "Box that tumbles about its middle axis, 20 s",
                area="rigid bodies",
                quantity="energy",
                reference="conservation",
                error=abs(scene.energy.total / energy - 1),
                bound=1e-9,
            )
            p, l = total_momentum(box)
            assert p == pytest.approx(M * np.array((1, 2, 3)), abs=1e-10)
            # the angular momentum about the origin of a body that flies straight from it
            assert l == pytest.approx(momentum, abs=1e-9 * np.linalg.norm(momentum) + 1e-8)
    assert box.pose.position == pytest.approx(np.array((1, 2, 3)) * 20.0, abs=1e-8)


def test_attitude_of_a_tumbling_body(validated) -> None:
    """Against Euler's equations, integrated to 1e-11; second order in the step."""
    start = np.array((0.5, 5.0, 0.3))
    t_end = 1.0

    def rates(t, y):
        rotation, omega = y[:9].reshape(3, 3), y[9:]
        return np.concatenate(((rotation @ skew(omega)).ravel(), -np.cross(omega, INERTIA * omega) / INERTIA))

    exact = solve_ivp(rates, (0, t_end), np.concatenate((np.eye(3).ravel(), start)), rtol=1e-11, atol=1e-12)
    wanted = exact.y[:9, -1].reshape(3, 3)
    errors = []
    for steps in (60, 120):
        scene = sn.Scene(gravity=(0, 0, 0))
        box = scene.add(sn.RigidBody.box(size=SIZE, mass=M, position=(0, 0, 0)))
        box.angular_velocity = start
        for _ in range(steps):
            scene.step(t_end / steps)
        errors.append(np.linalg.norm(log(box.pose.rotation @ wanted.T)))
    validated(
        "Box that tumbles, 120 steps",
        area="rigid bodies",
        quantity="attitude (rad)",
        reference="Euler's equations by scipy",
        error=errors[1],
        bound=0.01,
        order=np.log2(errors[0] / errors[1]),
    )
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)


def swing(scene, box, seconds: float, dt: float) -> list[float]:
    """Times at which the pendulum passes its lowest place."""
    crossings, last = [], box.pose.position[0]
    for _ in range(round(seconds / dt)):
        scene.step(dt)
        x = box.pose.position[0]
        if last * x < 0:
            crossings.append(scene.time - dt * x / (x - last))
        last = x
    return crossings


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
def test_period_of_a_physical_pendulum(integrator: str, validated) -> None:
    """T = 2 pi sqrt(I / m g d) (1 + a^2 / 16)."""
    d, tilt, dt = 0.5, 0.1, 2e-3
    scene = sn.Scene(integrator=integrator)
    box = scene.add(sn.RigidBody.box(size=SIZE, mass=M, position=(0, 0, 0)))
    turn = exp(np.array((0, -tilt, 0)))
    box.pose = sn.Pose.from_rotation(turn @ (0, 0, -d), turn)
    scene.add(sn.Hinge(box.at((0, 0, d)), sn.World.at(sn.Pose()), axis=(0, 1, 0)))
    inertia = INERTIA[1] + M * d * d
    period = 2 * np.pi * np.sqrt(inertia / (M * G * d)) * (1 + tilt**2 / 16)
    times = swing(scene, box, 2.2 * period, dt)
    assert len(times) >= 4
    validated(
        "Physical pendulum, every scheme",
        area="rigid bodies",
        quantity="period",
        reference="2π√(I/mgd)(1 + a²/16)",
        error=abs((times[2] - times[0]) / period - 1),
        bound=2e-3,
    )
    assert times[0] == pytest.approx(period / 4, rel=1e-2)


def test_hinge_force_of_a_pendulum(validated) -> None:
    """Let go level, at the bottom: the hinge holds m g (1 + 2 m d^2 / I)."""
    d = 0.5
    scene = sn.Scene(integrator="bdf2")
    box = scene.add(sn.RigidBody.box(size=SIZE, mass=M, position=(0, 0, 0)))
    turn = exp(np.array((0, -np.pi / 2, 0)))
    box.pose = sn.Pose.from_rotation(turn @ (0, 0, -d), turn)
    hinge = scene.add(sn.Hinge(box.at((0, 0, d)), sn.World.at(sn.Pose()), axis=(0, 1, 0)))
    inertia = INERTIA[1] + M * d * d
    largest = 0.0
    for _ in range(600):
        scene.step(1e-3)
        largest = max(largest, hinge.force[2])
        assert abs(hinge.force[1]) < 1e-6
    validated(
        "Pendulum let go level",
        area="rigid bodies",
        quantity="force of the hinge",
        reference="mg(1 + 2md²/I)",
        error=abs(largest / (M * G * (1 + 2 * M * d * d / inertia)) - 1),
        bound=1e-2,
    )


def test_a_conical_pendulum_on_a_ball(validated) -> None:
    """A ball on a stick goes round at w^2 = g / (l cos a), turning with its stick."""
    length, tilt, dt = 0.5, 0.6, 2e-3
    scene = sn.Scene()
    ball = scene.add(sn.RigidBody.sphere(radius=0.1, mass=M, position=(0, 0, 0)))
    start = length * np.array((np.sin(tilt), 0, -np.cos(tilt)))
    ball.pose = sn.Pose(start)
    w = np.sqrt(G / (length * np.cos(tilt)))
    ball.velocity, ball.angular_velocity = np.cross((0, 0, w), start), (0, 0, w)
    joint = scene.add(sn.Ball(ball.at(-start), sn.World.at((0, 0, 0))))
    steps = round(2 * np.pi / w / dt)
    turned = 0.0
    for _ in range(steps):
        before = ball.pose.position.copy()
        scene.step(dt)
        x = ball.pose.position
        turned += np.arctan2(before[0] * x[1] - before[1] * x[0], before[0] * x[0] + before[1] * x[1])
        assert x[2] == pytest.approx(start[2], abs=0.02 * length)
    validated(
        "Conical pendulum",
        area="rigid bodies",
        quantity="rate",
        reference="√(g/l cos a)",
        error=abs(turned / (w * steps * dt) - 1),
        bound=0.01,
    )
    assert joint.force[2] == pytest.approx(M * G, rel=0.05)


def test_precession_of_a_top(validated) -> None:
    """Steady precession: A W^2 cos a - C n W + m g l = 0, with A about the tip, n the spin about the axis."""
    length, tilt, spin, dt = 0.3, 0.5, 150.0, 5e-4
    inertia = np.diag((0.01, 0.01, 0.015))
    mass = 1.0
    a_tip, c = inertia[0, 0] + mass * length**2, inertia[2, 2]
    w = min(np.roots((a_tip * np.cos(tilt), -c * spin, mass * G * length)).real)
    assert w == pytest.approx(mass * G * length / (c * spin), rel=0.1)
    axis = np.array((np.sin(tilt), 0, np.cos(tilt)))
    scene = sn.Scene()
    top = scene.add(sn.RigidBody.from_inertia(mass, inertia))
    turn = exp(np.array((0, tilt, 0)))
    top.pose = sn.Pose.from_rotation(length * axis, turn)
    # omega = n about the axis, plus what precession adds across it
    omega = spin * axis + w * (np.array((0, 0, 1.0)) - np.cos(tilt) * axis)
    top.angular_velocity = omega
    top.velocity = np.cross(omega, length * axis)
    scene.add(sn.Ball(top.at((0, 0, -length)), sn.World.at((0, 0, 0))))
    seconds = 0.4
    for _ in range(round(seconds / dt)):
        scene.step(dt)
    x = top.pose.position
    validated(
        "Heavy top, steady precession",
        area="rigid bodies",
        quantity="rate",
        reference="AΩ² cos a − CnΩ + mgl = 0",
        error=abs(np.arctan2(x[1], x[0]) / (w * seconds) - 1),
        bound=0.03,
    )
    assert x[2] == pytest.approx(length * np.cos(tilt), abs=0.01 * length)


def test_a_heavy_body_on_a_light_one() -> None:
    """A mass ratio of a million: the light hook carries the heavy load."""
    scene = sn.Scene()
    hook = scene.add(sn.RigidBody.sphere(radius=0.05, mass=1e-3, position=(0, 0, -0.5)))
    load = scene.add(sn.RigidBody.sphere(radius=0.3, mass=1e3, position=(0.02, 0, -1.5)))
    top = scene.add(sn.Distance(hook.at((0, 0, 0)), sn.World.at((0, 0, 0))))
    scene.add(sn.Distance(load.at((0, 0, 0)), hook.at((0, 0, 0))))
    for k in range(240):
        scene.step(1 / 60)
        # the first steps find the tension that keeps the hook in line
        bound = 0.5 if k < 30 else 0.05
        assert np.abs(load.pose.position - (0, 0, -1.5)).max() < bound
        assert np.abs(hook.pose.position - (0, 0, -0.5)).max() < bound
    assert np.linalg.norm(top.force) == pytest.approx(1e3 * G, rel=0.02)
