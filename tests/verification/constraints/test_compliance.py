"""Compliance in m/N and rad/(N m), damping in N s/m and N m s: springs and dampers with closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from references.rotation import log
from unit.scene.kit import G

import sennit as sn

M = 2.0


def hung(compliance: float, damping: float = 0.0, integrator: str = "euler", make=None):
    scene = sn.Scene(integrator=integrator)
    ball = scene.add(sn.RigidBody.sphere(radius=0.1, mass=M, position=(0, 0, 0)))
    spring = scene.add(sn.Fix(ball.at((0, 0, 0)), compliance=compliance, damping=damping))
    return scene, ball, spring


@pytest.mark.parametrize("compliance", [0.0, 1e-6, 1e-3, 0.1])
def test_sag(compliance: float, validated) -> None:
    scene, ball, spring = hung(compliance)
    report = scene.settle()
    assert report.stable
    validated(
        "Ball on a compliant grip, 0 to 0.1 m/N",
        area="constraints",
        quantity="sag (m)",
        reference="Hooke's law",
        error=abs(ball.pose.position[2] + M * G * compliance),
        bound=max(1e-9 * M * G * compliance, 1e-12),
    )
    # on the first point, in newtons, upwards
    assert spring.force == pytest.approx((0, 0, M * G), abs=1e-8)


@pytest.mark.parametrize("damping", [0.0, 4.0, 400.0])
def test_backward_euler_of_a_spring_and_a_damper(damping: float, validated) -> None:
    """m (v+ - v) / h = -m g - x+ / c - d v+ : the scheme's own recursion."""
    c, h = 1e-3, 0.01
    scene, ball, spring = hung(c, damping)
    z = v = 0.0
    for _ in range(30):
        scene.step(h)
        v = (v - h * G - h * z / (c * M)) / (1 + h * damping / M + h * h / (c * M))
        z += h * v
        validated(
            "Ball on a spring and a damper, 30 euler steps",
            area="constraints",
            quantity="position (m)",
            reference="recursion of the scheme",
            error=abs(ball.pose.position[2] - z),
            bound=1e-10,
        )
        assert spring.force[2] == pytest.approx(-z / c - damping * v, abs=1e-6)


def test_a_damped_oscillation(validated) -> None:
    """z = z0 (1 - e^(-a t) (cos w t + a / w sin w t)), a = d / 2 m, w^2 = k / m - a^2."""
    c, d = 1e-3, 8.0
    a = d / (2 * M)
    w = np.sqrt(1 / (c * M) - a * a)
    errors = []
    for h in (2e-3, 1e-3):
        scene, ball, _ = hung(c, d, integrator="bdf2")
        worst = 0.0
        for _ in range(round(0.3 / h)):
            scene.step(h)
            t = scene.time
            z = -M * G * c * (1 - np.exp(-a * t) * (np.cos(w * t) + a / w * np.sin(w * t)))
            worst = max(worst, abs(ball.pose.position[2] - z))
        errors.append(worst / (M * G * c))
    # phase error of BDF2: (w h)^2 / 3 of w t = 6.7
    validated(
        "Damped oscillation, bdf2",
        area="constraints",
        quantity="position, of the sag",
        reference="closed form",
        error=errors[1],
        bound=0.01,
        order=np.log2(errors[0] / errors[1]),
    )
    assert errors[0] / errors[1] > 2.5


def test_damping_without_a_spring_would_need_infinite_compliance() -> None:
    scene, ball, _ = hung(1e6, 5.0)
    for _ in range(400):
        scene.step(0.01)
    # a falling body in a damper: m g / d
    assert ball.velocity[2] == pytest.approx(-M * G / 5.0, rel=1e-3)


@pytest.mark.parametrize("compliance", [0.01, 0.1])
def test_a_torsion_spring(compliance: float, validated) -> None:
    scene = sn.Scene()
    box = scene.add(sn.RigidBody.box(size=(0.1, 0.2, 0.3), mass=M, position=(0, 0, 0)))
    clamp = scene.add(sn.Clamp(box.at((0, 0, 0)), angular_compliance=compliance))
    torque = np.array((0.1, -0.2, 0.4))
    scene.add(sn.Load(box.at((0, 0, 0)), torque=torque))
    scene.settle()
    validated(
        "Box on a compliant clamp",
        area="constraints",
        quantity="rotation",
        reference="Hooke's law",
        error=np.abs(log(box.pose.rotation) / (compliance * torque) - 1).max(),
        bound=1e-6,
    )
    assert clamp.torque == pytest.approx(-torque, abs=1e-8)
    assert clamp.force == pytest.approx((0, 0, M * G), abs=1e-8)
    assert np.abs(box.pose.position).max() < 1e-9


def test_a_damped_torsion_pendulum() -> None:
    c, d, h = 0.02, 0.05, 0.002
    scene = sn.Scene(gravity=(0, 0, 0))
    box = scene.add(sn.RigidBody.box(size=(0.1, 0.2, 0.3), mass=M, position=(0, 0, 0)))
    inertia = M * (0.1**2 + 0.2**2) / 12
    scene.add(sn.Clamp(box.at((0, 0, 0)), angular_compliance=c, angular_damping=d))
    w0 = 0.5
    box.angular_velocity = (0, 0, w0)
    theta, omega = 0.0, w0
    for _ in range(100):
        scene.step(h)
        omega = (omega - h * theta / (c * inertia)) / (1 + h * d / inertia + h * h / (c * inertia))
        theta += h * omega
        assert log(box.pose.rotation)[2] == pytest.approx(theta, abs=2e-6)


def test_a_spring_between_two_bodies(validated) -> None:
    """Two masses and a spring: they swing about their common centre, at w^2 = k (1 / m1 + 1 / m2)."""
    k, m1, m2, h = 50.0, 1.0, 3.0, 1e-3
    scene = sn.Scene(gravity=(0, 0, 0), integrator="bdf2")
    a = scene.add(sn.RigidBody.sphere(radius=0.1, mass=m1, position=(0, 0, 0)))
    b = scene.add(sn.RigidBody.sphere(radius=0.1, mass=m2, position=(1.1, 0, 0)))
    spring = scene.add(sn.Distance(a.at((0, 0, 0)), b.at((0, 0, 0)), length=1.0, compliance=1 / k))
    w = np.sqrt(k * (1 / m1 + 1 / m2))
    for _ in range(500):
        scene.step(h)
    stretch = b.pose.position[0] - a.pose.position[0] - 1.0
    validated(
        "Two balls and a spring",
        area="constraints",
        quantity="stretch (m)",
        reference="closed form",
        error=abs(stretch - 0.1 * np.cos(w * scene.time)),
        bound=2e-3,
    )
    # pulled together while stretched: the force on the first points at the second
    assert spring.force[0] == pytest.approx(k * stretch, rel=1e-3, abs=1e-3)
    centre = (m1 * a.pose.position + m2 * b.pose.position) / (m1 + m2)
    assert centre == pytest.approx((0.825, 0, 0), abs=1e-10)


def test_a_compliant_plane_and_a_compliant_ball() -> None:
    for make in (
        lambda p: sn.OnPlane(p, (0, 0, 1), compliance=1e-3),
        lambda p: sn.Ball(p, sn.World.at((0, 0, 0)), compliance=1e-3),
        lambda p: sn.Distance(p, sn.World.at((0, 0, 5)), compliance=1e-3),
        lambda p: sn.OnSphere(p, (0, 0, 5), 5.0, compliance=1e-3),
    ):
        scene = sn.Scene(drag=20.0)
        ball = scene.add(sn.RigidBody.sphere(radius=0.1, mass=M, position=(0, 0, 0)))
        held = scene.add(make(ball.at((0, 0, 0))))
        for _ in range(200):
            scene.step(0.02)
        assert ball.pose.position[2] == pytest.approx(-M * G * 1e-3, rel=1e-6)
        assert held.force == pytest.approx((0, 0, M * G), abs=1e-5)
