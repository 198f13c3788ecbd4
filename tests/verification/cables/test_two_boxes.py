"""Two cubes of 1,000 kg, 2 m wide, on a 4 m cable, without gravity: stretch against m/2, twist against I/2, I = m a²/6.

A cable cannot push: constant forces hold it taut, and the boxes swing about the length at which they balance. Places
follow the recursion x₊ - 2x + x₋ = -(w h)² ((x₊ + 2x + x₋)/4 + tau (x₊ - x)/h), whose frequency is (2/h) atan(w h/2)
without damping; tau is 2 h x⁴/(1 + x⁴), x = w h/2, unless the user adds to it.
"""

from __future__ import annotations

import numpy as np
import pytest
from references import hoists
from references.scene_cases import free_scene

import sennit as sn

H = 0.01
MASS, EDGE = 1000.0, 2.0
INERTIA = MASS * EDGE**2 / 6
PULL = {10.0: 0.2, 1e3: 0.2, 1e6: 0.01}  # m: how far the constant forces stretch it


def boxes(scene):
    low = scene.add(sn.RigidBody.box(size=(EDGE,) * 3, mass=MASS, position=(0, 0, -3)))
    high = scene.add(sn.RigidBody.box(size=(EDGE,) * 3, mass=MASS, position=(0, 0, 3)))
    return low, high


def held(stiffness: float, pull: float, **options):
    """The boxes and their cable, in balance with two forces: scene, boxes, cable."""
    scene = free_scene()
    low, high = boxes(scene)
    force = stiffness * pull
    scene.add(sn.Load(low.at((0, 0, -1)), force=(0, 0, -force)))
    scene.add(sn.Load(high.at((0, 0, 1)), force=(0, 0, force)))
    cable = sn.Cable(
        [low.at((0, 0, 1)), high.at((0, 0, -1))], stretch_stiffness=stiffness, length=4.0 - pull, **options
    )
    return scene, low, high, scene.add(cable)


def stretching(stiffness: float, steps: int, **options) -> tuple[np.ndarray, float]:
    """Distance from balance after each step, and the relative speed at the start."""
    pull = PULL[stiffness]
    scene, low, high, _ = held(stiffness, pull, torsion=False, **options)
    speed = 0.5 * pull * np.sqrt(2 * stiffness / MASS)  # half of the stretch is swung through
    high.velocity, low.velocity = (0, 0, speed / 2), (0, 0, -speed / 2)
    out = np.empty(steps)
    for k in range(steps):
        scene.step(H)
        out[k] = high.position[2] - low.position[2] - 6.0
    return out, speed


def twisting(stiffness: float, amplitude: float, steps: int, **options):
    """Twist after each step, relative rate at the start, the cable."""
    scene, low, high, cable = held(1e3, 0.05, torsion=True, twist_stiffness=stiffness, **options)
    rate = amplitude * np.sqrt(2 * stiffness / INERTIA)
    high.angular_velocity, low.angular_velocity = (0, 0, rate / 2), (0, 0, -rate / 2)
    out = np.empty(steps)
    for k in range(steps):
        scene.step(H)
        out[k] = cable.twist
    return out, rate, cable, low, high


def exponent(values: np.ndarray, omega: float) -> complex:
    """Fitted to samples some 0.3 rad apart, so that slow motion is as well determined as fast."""
    every = max(1, round(0.3 / (omega * H)))
    return hoists.fitted_exponent(values[::every], every * H)


@pytest.mark.parametrize(("stiffness", "seconds"), [(10.0, 44.43), (1e3, 4.443), (1e6, 0.1428)])
def test_stretch(stiffness, seconds, validated):
    omega = np.sqrt(2 * stiffness / MASS)
    steps = int(5.2 * seconds / H)
    x, speed = stretching(stiffness, steps)
    tau = hoists.default_relaxation(omega, H)
    exact = hoists.spook_motion(omega, H, tau, 0.0, speed, steps)
    assert np.abs(x - exact).max() < 1e-5 * np.abs(exact).max()

    s = exponent(x, omega)
    period = 2 * np.pi / s.imag
    validated(
        "Two boxes on a spring, 10 to 1e6 N/m",
        area="cables",
        quantity="period of stretch",
        reference="2π√(m/2k), with (2/h) atan(ωh/2)",
        error=abs(period / seconds - 1),
        bound=5e-4,
    )
    # the default damping lengthens the stiffest by 2.4e-4
    assert period == pytest.approx(hoists.spook_period(omega, H), rel=3e-4 if stiffness == 1e6 else 1e-5)
    # the recursion's own root leaves 0.967 of the stiffest
    assert np.exp(5 * period * s.real) == pytest.approx(1.0, abs=0.035 if stiffness == 1e6 else 1e-4)


@pytest.mark.parametrize(("stiffness", "seconds"), [(10.0, 36.276), (1e3, 3.6277), (1e6, 0.11762)])
def test_twist(stiffness, seconds, validated):
    omega = np.sqrt(2 * stiffness / INERTIA)
    steps = int(5.2 * seconds / H)
    # small: a box turns by 2 atan(w h/2) a step, which is w h to 1e-6
    twist, rate, _, _, _ = twisting(stiffness, 0.01, steps)
    exact = hoists.spook_motion(omega, H, hoists.default_relaxation(omega, H), 0.0, rate, steps)
    assert np.abs(twist - exact).max() < 1e-4 * np.abs(exact).max()
    s = exponent(twist, omega)
    validated(
        "Two boxes on a spring, 10 to 1e6 N/m",
        area="cables",
        quantity="period of twist",
        reference="2π√(I/2k), with (2/h) atan(ωh/2)",
        error=abs(2 * np.pi / s.imag / seconds - 1),
        bound=1e-4,
    )
    assert 2 * np.pi / s.imag == pytest.approx(hoists.spook_period(omega, H), rel=1e-3 if stiffness == 1e6 else 1e-4)


@pytest.mark.parametrize("what", ["stretch", "twist"])
def test_backward_form_loses_fast_motion(what, validated):
    inertia = MASS if what == "stretch" else INERTIA
    omega = np.sqrt(2e6 / inertia)
    if what == "stretch":
        x, _ = stretching(1e6, 40, stepping="backward")
    else:
        x, *_ = twisting(1e6, 0.01, 40, stepping="backward")
    s, exact = hoists.fitted_exponent(x, H), hoists.backward_exponent(omega, H)
    assert s.imag == pytest.approx(exact.imag, rel=1e-3)
    validated(
        "Two boxes, the backward form",
        area="time schemes",
        quantity="decay",
        reference="−ln(1 + ω²h²)/2h",
        error=abs(s.real / exact.real - 1),
        bound=1e-3,
    )
    if what == "stretch":
        assert 2 * np.pi / s.imag == pytest.approx(0.1494, rel=1e-3)
        assert np.exp(5 * 0.1494 * s.real) < 0.01


def test_damping_is_viscous(validated):
    # c N·s/m between two bodies of m: decay c/m
    stiffness, c = 1e3, 60.0
    omega = np.sqrt(2 * stiffness / MASS)
    x, _ = stretching(stiffness, 1500, damping=c)
    s = exponent(x, omega)
    tau = c / stiffness + hoists.default_relaxation(omega, H)
    assert s == pytest.approx(hoists.spook_exponent(omega, H, tau), rel=1e-5)
    validated(
        "Two boxes, damping of the cable",
        area="cables",
        quantity="decay",
        reference="c/m",
        error=abs(s.real / (-c / MASS) - 1),
        bound=0.01,
    )


def test_twist_damping_is_viscous():
    stiffness, c = 1e3, 40.0
    omega = np.sqrt(2 * stiffness / INERTIA)
    twist, *_ = twisting(stiffness, 0.01, 1500, twist_damping=c)
    assert exponent(twist, omega).real == pytest.approx(-c / INERTIA, rel=0.01)


def test_turns_are_counted():
    # 17.3 rad are 2.75 turns; a quarter of the period to the peak, and back through zero
    stiffness = 10.0
    omega = np.sqrt(2 * stiffness / INERTIA)
    steps = round(0.5 * 2 * np.pi / omega / H) + 5
    twist, _, _, low, high = twisting(stiffness, 17.3, steps)
    assert twist.max() == pytest.approx(17.3, rel=1e-3)
    assert np.abs(np.diff(twist)).max() < 1.01 * 17.3 * omega * H
    peak = np.argmax(twist)
    assert peak * H == pytest.approx(0.25 * 2 * np.pi / omega, abs=0.05)
    assert -0.5 < twist[-1] < 0.2
    # the boxes have turned back as much as they had turned
    assert high.pose.rotation == pytest.approx(np.eye(3), abs=0.15)
    assert low.pose.rotation == pytest.approx(np.eye(3), abs=0.15)


def test_torque_and_energy():
    stiffness = 10.0
    omega = np.sqrt(2 * stiffness / INERTIA)
    scene, low, high, cable = held(1e3, 0.05, torsion=True, twist_stiffness=stiffness)
    rate = 3.0 * omega
    high.angular_velocity, low.angular_velocity = (0, 0, rate / 2), (0, 0, -rate / 2)
    for _ in range(round(0.25 * 2 * np.pi / omega / H)):
        scene.step(H)
    # all kinetic energy has gone into twist and, as before, k d²/2 is in the stretch
    assert abs(cable.torque) == pytest.approx(stiffness * 3.0, rel=1e-3)
    assert abs(cable.torque) == pytest.approx(stiffness * abs(cable.twist), rel=1e-3)
    assert cable.tension == pytest.approx(1e3 * 0.05, rel=1e-9)
    assert scene.energy.constraints == pytest.approx(0.5 * stiffness * 9.0 + 0.5 * 1e3 * 0.05**2, rel=2e-3)
    assert scene.energy.kinetic < 1e-3 * 0.5 * stiffness * 9.0


def test_twist_couples_two_boxes_over_a_pulley(validated):
    """Both falls hang: what turns one box clockwise turns the other the same way about the cable, so that rates of
    +1 and -1 about the vertical do not twist it. From +2 and 0 the mean rates are +1 and -1, and with stiffness I the
    twist swings as sqrt(2) sin(sqrt(2) t).
    """
    scene = sn.Scene()
    h, r = 1 / 60, 1.5
    left = scene.add(sn.RigidBody.box(size=(EDGE,) * 3, mass=MASS, position=(-r, 0, -6)))
    right = scene.add(sn.RigidBody.box(size=(EDGE,) * 3, mass=MASS, position=(r, 0, -6)))
    stiffness, weight = 1e6, MASS * 9.81
    cable = scene.add(
        sn.Cable(
            [left.at((0, 0, 1)), sn.Sheave(sn.World.at((0, 0, 0)), axis=(0, 1, 0), radius=r), right.at((0, 0, 1))],
            stretch_stiffness=stiffness,
            twist_stiffness=INERTIA,
            length=10.0 + np.pi * r - weight / stiffness,
        )
    )
    left.angular_velocity = (0, 0, 2.0)
    steps = round(13 * 2 * np.pi / np.sqrt(2) / h)
    rates, twist = np.empty((steps, 2)), np.empty(steps)
    for k in range(steps):
        scene.step(h)
        rates[k] = left.angular_velocity[2], right.angular_velocity[2]
        twist[k] = cable.twist
    assert rates.mean(axis=0) == pytest.approx([1.0, -1.0], abs=5e-3)
    validated(
        "Two boxes over a pulley exchange spin",
        area="cables",
        quantity="largest twist",
        reference="√2 sin(√2 t)",
        error=abs(np.abs(twist).max() / np.sqrt(2) - 1),
        bound=2e-3,
    )
    assert rates.sum(axis=1).max() == pytest.approx(2.0, rel=2e-3)
    # neither rises, sinks nor swings
    assert left.position == pytest.approx((-r, 0, -6), abs=1e-6)
    assert right.position == pytest.approx((r, 0, -6), abs=1e-6)


def test_rates_that_do_not_twist_it_stay():
    scene = sn.Scene()
    h, r = 1 / 60, 1.5
    left = scene.add(sn.RigidBody.box(size=(EDGE,) * 3, mass=MASS, position=(-r, 0, -6)))
    right = scene.add(sn.RigidBody.box(size=(EDGE,) * 3, mass=MASS, position=(r, 0, -6)))
    cable = scene.add(
        sn.Cable(
            [left.at((0, 0, 1)), sn.Sheave(sn.World.at((0, 0, 0)), axis=(0, 1, 0), radius=r), right.at((0, 0, 1))],
            stretch_stiffness=1e6,
            twist_stiffness=INERTIA,
            length=10.0 + np.pi * r - MASS * 9.81 / 1e6,
        )
    )
    left.angular_velocity, right.angular_velocity = (0, 0, 1.0), (0, 0, -1.0)
    for _ in range(1200):
        scene.step(h)
    assert abs(cable.twist) < 1e-6
    assert left.angular_velocity == pytest.approx((0, 0, 1.0), abs=1e-6)
    assert right.angular_velocity == pytest.approx((0, 0, -1.0), abs=1e-6)
