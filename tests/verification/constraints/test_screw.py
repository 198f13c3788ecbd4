"""Screws: force and torque, what drives them and what they drive; their rows are in `unit.scene.test_rows`."""

from __future__ import annotations

import numpy as np
import pytest
from unit.scene.kit import G, bits

import sennit as sn

M, I = 2.0, 0.004  # kg, and kg·m² about any axis
LEAD = 0.2
R = 0.1  # m from the axis
HANDS = pytest.mark.parametrize("lead", [LEAD, -LEAD])


def nut_on_a_bolt(lead: float, axis=(0, 0, 1), gravity=(0, 0, -G), integrator="euler", **options):
    scene = sn.Scene(gravity=gravity, integrator=integrator)
    nut = scene.add(sn.RigidBody.from_inertia(M, (I, I, I)))
    screw = scene.add(sn.Screw(nut.at(), sn.World.at((0, 0, 0)), axis, lead=lead, **options))
    return scene, nut, screw


@HANDS
def test_a_nut_that_carries_a_weight_and_is_held_against_turning(lead: float, validated) -> None:
    """A wire along the rim takes the torque: 2π T R = lead m g."""
    scene, nut, screw = nut_on_a_bolt(lead)
    # seen from above, the weight would turn a right-handed nut clockwise: the wire pulls the other way
    wire = scene.add(sn.Distance(nut.at((R, 0, 0)), sn.World.at((R, np.sign(lead) * 0.5, 0))))
    assert scene.settle().converged
    assert screw.force[2] == pytest.approx(M * G, rel=1e-9)
    assert screw.torque[2] == pytest.approx(-lead * M * G / (2 * np.pi), rel=1e-9)
    scene.run(0.2, dt=1e-2)
    validated(
        "Nut with a weight, held by a wire along its rim",
        area="constraints",
        quantity="torque of the screw (N·m)",
        reference="work in a turn, lead × force = 2π × torque",
        error=abs(screw.torque[2] + lead * M * G / (2 * np.pi)),
        bound=1e-9,
    )
    assert 2 * np.pi * wire.tension * R == pytest.approx(abs(lead) * M * G, rel=1e-9)
    assert abs(screw.displacement) < 1e-12 and abs(screw.angle) < 1e-12


@HANDS
@pytest.mark.parametrize(("integrator", "order"), [("euler", 1), ("bdf2", 2), ("midpoint", 2)])
def test_a_nut_runs_down_by_its_weight(lead: float, integrator: str, order: int, validated) -> None:
    """a = g / (1 + I/(m k²)), k = lead/2π."""
    k, seconds = lead / (2 * np.pi), 0.25
    a = G / (1 + I / (M * k * k))
    exact = -a * seconds**2 / 2
    errors = []
    for steps in (16, 32):
        scene, nut, screw = nut_on_a_bolt(lead, integrator=integrator)
        for _ in range(steps):
            scene.step(seconds / steps)
        assert screw.displacement == pytest.approx(k * screw.angle, abs=1e-12)
        assert nut.position == pytest.approx((0, 0, screw.displacement), abs=1e-12)
        errors.append(abs(screw.displacement / exact - 1))
    found = np.log2(errors[0] / errors[1])
    validated(
        "Nut that runs down by its weight, 32 steps",
        area="constraints",
        quantity="way, first order" if order == 1 else "way, second order",
        reference="g/(1 + I/mk²)",
        error=errors[1],
        bound=0.05 if order == 1 else 0.02,
        order=found,
    )
    assert found == pytest.approx(order, abs=0.3)


@HANDS
def test_three_turns_both_ways_are_counted(lead: float) -> None:
    """Nothing pushes: it goes on at its speed, and whole turns make whole leads."""
    axis = np.array((2.0, -1.0, 2.0)) / 3
    scene, nut, screw = nut_on_a_bolt(lead, axis, gravity=(0, 0, 0))
    n, dt = 40, 1e-2
    for way in (1, -1, -1, 1):
        rate = way * 6 * np.pi / (n * dt)
        nut.angular_velocity, nut.velocity = rate * axis, lead / (2 * np.pi) * rate * axis
        before = screw.angle
        for _ in range(n):
            scene.step(dt)
        # free rotation is that of the midpoint rule: short by (h ω)²/12
        assert screw.angle - before == pytest.approx(way * 6 * np.pi, rel=1.1 * (rate * dt) ** 2 / 12)
        assert screw.displacement == pytest.approx(lead * screw.angle / (2 * np.pi), abs=1e-12)
        assert nut.position == pytest.approx(screw.displacement * axis, abs=1e-12)
        assert np.abs(screw.violation).max() < 1e-12
    assert abs(screw.angle) < 1e-6


@HANDS
def test_a_jack(lead: float, validated) -> None:
    """A motor turns the spindle, a guide keeps the nut from turning: it moves at lead × turns a second."""
    speed, dt, n = 6.0, 5e-3, 60
    scene = sn.Scene()
    spindle = scene.add(sn.RigidBody.cylinder(0.02, 1.0, mass=1.0))
    nut = scene.add(sn.RigidBody.from_inertia(M, (I, I, I), position=(0, 0, 0.1)))
    hinge = scene.add(sn.Hinge(spindle.at(), sn.World.at((0, 0, 0)), (0, 0, 1), motor=sn.Motor(speed)))
    screw = scene.add(sn.Screw(nut.at(), spindle.at(), (0, 0, 1), lead=lead))
    scene.add(sn.OnPlane(nut.at((R, 0, 0)), (0, 1, 0)))
    for _ in range(n):
        scene.step(dt)
    turns = hinge.angle / (2 * np.pi)
    assert turns == pytest.approx(speed * n * dt / (2 * np.pi), rel=1e-9)
    validated(
        "Screw jack",
        area="constraints",
        quantity="way (m)",
        reference="lead × turns of the motor",
        error=abs(nut.position[2] - 0.1 + lead * turns),  # the nut turns the other way, seen from the spindle
        bound=1e-9,
    )
    assert screw.angle == pytest.approx(-2 * np.pi * turns, rel=1e-9)
    validated(
        "Screw jack",
        area="constraints",
        quantity="power of the motor (W)",
        reference="weight × speed",
        error=abs(hinge.motor_effort * speed + M * G * lead * speed / (2 * np.pi)),
        bound=1e-6,
    )


def test_a_soft_screw_gives_way_by_force_times_compliance(validated) -> None:
    """Along the axis by ε m g, and across it by ε times the force k m g / R of the guide, which lets it turn."""
    epsilon, k = 1e-6, LEAD / (2 * np.pi)
    scene, nut, screw = nut_on_a_bolt(LEAD, compliance=epsilon)
    scene.add(sn.OnPlane(nut.at((R, 0, 0)), (0, 1, 0)))
    assert scene.settle().converged
    validated(
        "Weight on a soft screw with a guide at its rim",
        area="constraints",
        quantity="way",
        reference="Hooke's law along the axis and across it",
        error=abs(-nut.position[2] / (epsilon * M * G * (1 + (k / R) ** 2)) - 1),
        bound=1e-6,
    )
    assert screw.compliance == epsilon


def test_saved_loaded_and_continued_to_the_bit(tmp_path) -> None:
    scene, _, screw = nut_on_a_bolt(-LEAD, damping=3.0, compliance=1e-5, name="thread")
    for _ in range(45):
        scene.step(1e-2)
    assert screw.angle > 2 * np.pi, "it has turned right round"
    scene.save(tmp_path / "screw.npz")
    again = sn.Scene.load(tmp_path / "screw.npz")
    copy = again.constraints[0]
    assert isinstance(copy, sn.Screw)
    assert (copy.lead, copy.angle, copy.displacement) == (screw.lead, screw.angle, screw.displacement)
    assert copy.lead == pytest.approx(-LEAD, rel=1e-15)
    for each in (scene, again):
        for _ in range(10):
            each.step(1e-2)
    assert bits(again) == bits(scene)
    assert copy.force.tobytes() == screw.force.tobytes()
