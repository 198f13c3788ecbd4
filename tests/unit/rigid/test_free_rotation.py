"""A free body's rotation: momentum, energy and attitude against an independent integration of Euler's equations.

The reference integrates quaternion and body angular velocity with DOP853 at 1e-13; its error is below 1e-10 rad.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from sennit.bodies.rigid.kernels.rotation import (
    free_rotation,
    free_rotation_bdf2,
    momentum,
    omega_from_momentum,
    spin_energy,
    world_inertia,
)
from sennit.geometry.kernels.algebra import quat_exp, quat_matrix, quat_mul, quat_normalised

Vector = tuple[float, ...]

TURN = Rotation.from_rotvec([0.3, -0.5, 0.2])  # so that the inertia is a full matrix
INERTIA = TURN.as_matrix() @ np.diag([1.0, 2.0, 3.0]) @ TURN.as_matrix().T
SPIN = TURN.apply([0.05, 5.0, 0.1])  # about the middle axis, which is unstable


def flat(matrix: np.ndarray) -> Vector:
    return tuple(matrix.ravel().tolist())


I, I_INVERSE, OMEGA = flat(INERTIA), flat(np.linalg.inv(INERTIA)), tuple(SPIN.tolist())


def exact_attitude(time: float) -> Rotation:
    def derivative(_t: float, state: np.ndarray) -> np.ndarray:
        w, v, spin = state[0], state[1:4], state[4:]
        acceleration = np.linalg.solve(INERTIA, -np.cross(spin, INERTIA @ spin))
        return np.concatenate([[-0.5 * v @ spin], 0.5 * (w * spin + np.cross(v, spin)), acceleration])

    start = np.concatenate([[1.0, 0.0, 0.0, 0.0], SPIN])
    end = solve_ivp(derivative, (0.0, time), start, method="DOP853", rtol=1e-13, atol=1e-14).y[:4, -1]
    return Rotation.from_quat(end, scalar_first=True)


def angle_between(q: Vector, other: Rotation) -> float:
    return float((Rotation.from_quat(q, scalar_first=True) * other.inv()).magnitude())


def midpoint_run(h: float, steps: int) -> tuple[Vector, float, float]:
    """Attitude, largest relative change of energy and of momentum."""
    q, omega = (1.0, 0.0, 0.0, 0.0), OMEGA
    R = quat_matrix(q)
    first_L = np.array(momentum(R, I, omega))
    first_energy = spin_energy(R, I, omega)
    energy_change = momentum_change = 0.0
    for _ in range(steps):
        L = momentum(R, I, omega)
        q = quat_normalised(quat_mul(quat_exp(free_rotation(R, I, omega, h)), q))
        R = quat_matrix(q)
        omega = omega_from_momentum(R, I_INVERSE, L)
        energy_change = max(energy_change, abs(spin_energy(R, I, omega) / first_energy - 1.0))
        change = np.array(momentum(R, I, omega)) - first_L
        momentum_change = max(momentum_change, float(np.linalg.norm(change) / np.linalg.norm(first_L)))
    return q, energy_change, momentum_change


def bdf2_run(h: float, time: float, pattern: tuple[float, ...]) -> tuple[Vector, float]:
    """Steps of h times `pattern`, over and over; attitude and time at the end."""
    q = (1.0, 0.0, 0.0, 0.0)
    L = momentum(quat_matrix(q), I, OMEGA)
    previous = h * pattern[0]
    theta = free_rotation(quat_matrix(q), I, OMEGA, previous)
    q, now, n = quat_mul(quat_exp(theta), q), previous, 1
    while now < time - 1e-9:
        step = h * pattern[n % len(pattern)]
        back = (-theta[0], -theta[1], -theta[2])
        theta = free_rotation_bdf2(quat_matrix(q), I_INVERSE, back, L, L, step, step / previous)
        q = quat_normalised(quat_mul(quat_exp(theta), q))
        now, previous, n = now + step, step, n + 1
    return q, now


def test_tumbling_for_a_minute_keeps_momentum_and_energy(validated) -> None:
    """60 s at 5 rad/s, h = 1/60: rounding alone, 3600 steps of it."""
    _, energy, moment = midpoint_run(1 / 60, 3600)
    assert moment < 1e-10
    validated(
        "Free rotation, 3,600 steps",
        area="rigid bodies",
        quantity="energy and momentum",
        reference="conservation",
        error=max(energy, moment),
        bound=1e-10,
    )


def test_tumbling_attitude_is_of_order_two(validated) -> None:
    """0.0173 rad after 5 s at h = 1/60, a quarter of that with half the step."""
    exact = exact_attitude(5.0)
    errors = [angle_between(midpoint_run(5.0 / n, n)[0], exact) for n in (300, 600, 1200)]
    validated(
        "Free rotation, 5 s, 300 steps",
        area="rigid bodies",
        quantity="attitude (rad)",
        reference="Euler's equations by DOP853",
        error=errors[0],
        bound=0.02,
        order=np.log2(errors[0] / errors[2]) / 2,
    )
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2.0, atol=0.05)


@pytest.mark.parametrize("pattern", [(1.0,), (1.0, 0.6, 1.4)])
def test_bdf2_is_of_order_two(pattern: tuple[float, ...]) -> None:
    errors = []
    sizes = [1 / 120, 1 / 240, 1 / 480, 1 / 960]
    for h in sizes:
        q, time = bdf2_run(h, 1.0, pattern)
        errors.append(angle_between(q, exact_attitude(time)))
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope == pytest.approx(2.0, abs=0.05)
    assert errors[0] < 5e-4


def test_bdf2_solves_its_equation_with_momentum_that_changes() -> None:
    """The formula as it stands, with scipy's rotations and dexp⁻¹ as a truncated Bernoulli series (θ < 0.2: 1e-11)."""
    h, w = 1 / 60, 1.7
    L, L_before = np.array([1.0, 9.0, -3.0]), np.array([1.4, 8.0, -2.5])
    previous = np.array([-0.02, -0.05, 0.03])
    got = np.array(free_rotation_bdf2(quat_matrix(quat_exp((0.1, 0.2, 0.3))), I_INVERSE, tuple(previous), tuple(L),
                                      tuple(L_before), h, w))  # fmt: skip
    R = (Rotation.from_rotvec(got) * Rotation.from_rotvec([0.1, 0.2, 0.3])).as_matrix()
    L_hat = ((1 + w) ** 2 * L - w**2 * L_before) / (1 + 2 * w)
    omega = R @ np.linalg.solve(INERTIA, R.T @ L_hat)
    rate = omega
    power = omega
    for factor in (-1 / 2, 1 / 12, 0.0, -1 / 720, 0.0, 1 / 30240):
        power = np.cross(got, power)
        rate = rate + factor * power
    expected = (-(w**2) * previous + h * (1 + w) * rate) / (1 + 2 * w)
    np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("axis", range(3))
def test_a_principal_axis_turns_evenly(axis: int) -> None:
    """About a principal axis Ω_m = Ω: the angle is 2 atan(hω/2), and the BDF2 step repeats the last angle."""
    direction = TURN.as_matrix()[:, axis]
    for rate, h in [(0.0, 0.01), (1e-3, 1e-3), (5.0, 1 / 60), (60.0, 1 / 60), (400.0, 1 / 60)]:
        theta = free_rotation(quat_matrix((1.0, 0.0, 0.0, 0.0)), I, tuple(rate * direction), h)
        np.testing.assert_allclose(theta, 2.0 * math.atan(0.5 * h * rate) * direction, atol=1e-14)
        if h * rate < 2.0:
            L = tuple(INERTIA @ (rate * direction))
            back = tuple(-h * rate * direction)
            again = free_rotation_bdf2(quat_matrix((1.0, 0.0, 0.0, 0.0)), I_INVERSE, back, L, L, h, 1.0)
            np.testing.assert_allclose(again, h * rate * direction, atol=1e-13)


def test_fast_spins_stay_finite() -> None:
    """Far beyond what a step resolves the answer is a rotation still; momentum is the caller's and is kept."""
    rng = np.random.default_rng(0)
    R = quat_matrix((1.0, 0.0, 0.0, 0.0))
    for _ in range(200):
        omega = rng.normal(size=3) * 10.0 ** rng.uniform(0.0, 4.0)
        L = tuple(INERTIA @ omega)
        theta = free_rotation(R, I, tuple(omega), 1 / 60)
        back = tuple(-omega / 60)
        assert np.isfinite(theta).all()
        assert np.isfinite(free_rotation_bdf2(R, I_INVERSE, back, L, L, 1 / 60, 1.0)).all()
        if np.linalg.norm(omega) < 2.0 * 60.0:  # Ω_m solves its equation
            half = np.array(theta) / np.linalg.norm(theta) * math.tan(0.5 * np.linalg.norm(theta))
            mean = 120.0 * half
            defect = INERTIA @ (mean - omega) + np.cross(mean, INERTIA @ mean) / 120.0
            assert np.linalg.norm(defect) < 1e-12 * np.linalg.norm(L)


def test_world_inertia() -> None:
    q = quat_exp((0.4, -1.0, 0.7))
    R = np.array(quat_matrix(q)).reshape(3, 3)
    np.testing.assert_allclose(np.reshape(world_inertia(quat_matrix(q), I), (3, 3)), R @ INERTIA @ R.T, atol=1e-15)
