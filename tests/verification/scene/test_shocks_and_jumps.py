"""Shocks, springs and forces that jump are right in every scheme: closed forms, and the order where there is one."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sennit as sn

SCHEMES = ("euler", "bdf2", "midpoint", "fourth")


def troubles(scene: sn.Scene) -> list[str]:
    return [e.kind for e in scene.events if e.kind != "fallback"]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("dt", [1e-3, 1 / 60])
def test_a_string_that_becomes_taut_without_rebound_shares_the_momentum(validated, scheme: str, dt: float) -> None:
    """Two equal masses, one at 4 m/s: plastic, both go on at 2."""
    scene = sn.Scene(gravity=(0, 0, 0), integrator=scheme)
    a = scene.add(sn.RigidBody.sphere(0.1, mass=1))
    b = scene.add(sn.RigidBody.sphere(0.1, mass=1, position=(1, 0, 0)))
    scene.add(sn.Distance(a.at(), b.at(), 2.0, bound="at_most", restitution=0.0))
    b.velocity = (4, 0, 0)
    scene.run(0.5, dt=dt)
    error = max(abs(a.velocity[0] - 2.0), abs(b.velocity[0] - 2.0)) / 4.0
    validated(
        "Two masses on a string that becomes taut, no rebound", area="constraints", quantity="velocities",
        reference="momentum", error=error, bound=1e-9,
    )  # fmt: skip
    assert not troubles(scene)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_ball_that_is_dropped_rises_by_the_square_of_its_restitution(validated, scheme: str) -> None:
    dt, restitution = 1e-4, 0.5
    scene = sn.Scene(integrator=scheme)
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1, position=(0, 0, 1)))
    scene.add(sn.OnPlane(ball.at(), (0, 0, 1), through=(0, 0, 0), bound="at_least", restitution=restitution))
    heights = []
    fall = math.sqrt(2 / 9.81)
    scene.run(1.5 * fall * 1.2, dt=dt, each=lambda s: heights.append(float(ball.position[2])))
    after = np.array(heights)[int(1.02 * fall / dt) :]
    validated(
        "Ball dropped by a metre, restitution 0.5", area="constraints", quantity="height of its rebound",
        reference="e²", error=abs(after.max() - 0.25) / 0.25, bound=1e-2,
    )  # fmt: skip
    assert not troubles(scene)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("dt", [1e-3, 1 / 60])
def test_what_runs_into_a_stop_stays(scheme: str, dt: float) -> None:
    scene = sn.Scene(gravity=(0, 0, 0), integrator=scheme)
    cart = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=2))
    joint = sn.Prismatic(cart.at(), sn.World.at((0, 0, 0)), (1, 0, 0), limits=(-1, 0.5))
    scene.add(joint)
    cart.velocity = (3, 0, 0)
    scene.run(0.5, dt=dt)
    assert abs(cart.velocity[0]) < 1e-9
    assert cart.position[0] == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize(("scheme", "order"), [("bdf2", 2.0), ("midpoint", 2.0), ("fourth", 4.0)])
def test_a_mass_on_a_spring_swings_at_the_scheme_s_order_and_is_never_calmed(validated, scheme: str, order) -> None:
    """x = a cos ωt, ω = 1/√(mε)."""
    errors, period = [], 2 * math.pi / 10
    counts = (25, 50, 100) if scheme == "fourth" else (100, 200, 400)
    for n in counts:
        scene = sn.Scene(gravity=(0, 0, 0), integrator=scheme)
        ball = scene.add(sn.RigidBody.sphere(0.1, mass=1, position=(0.1, 0, 0)))
        scene.add(sn.Fix(ball.at(), target=(0, 0, 0), compliance=0.01))
        scene.run(2.25 * period, dt=period / n)
        errors.append(abs(ball.position[0]) / 0.1)
        assert not scene.events
    fitted = math.log2(errors[-2] / errors[-1])
    assert fitted == pytest.approx(order, abs=0.2)
    validated(
        "Mass on a soft Fix, 2¼ periods", area="time schemes", quantity="place, of the amplitude",
        reference="cosine", error=errors[-1], bound=2e-2, order=fitted,
    )  # fmt: skip


def test_a_spring_keeps_its_energy_in_midpoint() -> None:
    scene = sn.Scene(gravity=(0, 0, 0), integrator="midpoint")
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1, position=(0.1, 0, 0)))
    scene.add(sn.Fix(ball.at(), target=(0, 0, 0), compliance=0.01))
    scene.run(10.0, dt=0.02)
    energy = 0.5 * ball.velocity @ ball.velocity + 50 * ball.position @ ball.position
    assert energy == pytest.approx(0.5, rel=1e-9)


def test_a_damped_spring_in_midpoint() -> None:
    """ẍ + 2 δ ẋ + ω² x = 0, δ = c/2m."""
    errors = []
    for n in (100, 200):
        scene = sn.Scene(gravity=(0, 0, 0), integrator="midpoint")
        ball = scene.add(sn.RigidBody.sphere(0.1, mass=1, position=(0.1, 0, 0)))
        scene.add(sn.Fix(ball.at(), target=(0, 0, 0), compliance=0.01, damping=4.0))
        scene.run(1.0, dt=1.0 / n)
        swing = math.sqrt(100 - 4)
        exact = 0.1 * math.exp(-2.0) * (math.cos(swing) + 2.0 / swing * math.sin(swing))
        errors.append(abs(ball.position[0] - exact))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("how", ["gravity", "load switched", "force set", "load removed"])
def test_a_force_that_ends_leaves_no_more_momentum_than_it_gave(how: str) -> None:
    """The two-step formula starts afresh."""
    scene = sn.Scene(gravity=(100, 0, 0) if how == "gravity" else (0, 0, 0), integrator="bdf2")
    ball = scene.add(sn.RigidBody.sphere(0.05, mass=1))
    load = scene.add(sn.Load(ball.at(), force=(0, 0, 0) if how == "gravity" else (100, 0, 0)))
    scene.run(0.5, dt=1 / 60)
    if how == "gravity":
        scene.gravity = (0, 0, 0)
    elif how == "load switched":
        load.enabled = False
    elif how == "force set":
        load.force = (0, 0, 0)
    else:
        scene.remove(load)
    scene.run(0.5, dt=1 / 60)
    assert ball.velocity[0] == pytest.approx(50.0, abs=1e-9)


def test_sliding_drag_in_bdf2_is_of_second_order() -> None:
    """A pearl falls along an upright bar: v = (mg/c)(1 − exp(−ct/m))."""
    errors = []
    for dt in (8e-3, 4e-3):
        scene = sn.Scene(integrator="bdf2")
        section, steel = sn.Section.circle(5e-3), sn.Material(2e11, 0.3, 7850)
        bar = scene.add(sn.Rod.straight((0, 0, 0), (0, 0, -3), section=section, material=steel, control_points=8))
        scene.add(sn.Clamp(bar.at(0)))
        scene.add(sn.Clamp(bar.at(bar.length)))
        pearl = scene.add(sn.Pearl(bar, at=0.3, mass=0.1, radius=0.02, sliding_drag=0.5))
        scene.run(0.48, dt=dt)
        errors.append(abs(pearl.sliding_velocity - 1.962 * (1 - math.exp(-5 * scene.time))))
    assert errors[0] < 1e-4
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.4)


def test_violation_is_the_gap_to_the_target_itself() -> None:
    """Also while it is closed, step by step, at the closing speed."""
    scene = sn.Scene(gravity=(0, 0, 0))
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1))
    hold = scene.add(sn.Fix(ball.at()))
    scene.step(0.01)
    hold.target = (1, 0, 0)
    scene.step(0.01)
    assert not hold.reached
    assert np.allclose(hold.violation, ball.position - (1, 0, 0), atol=1e-12)
