"""Forces and stiffness of the spline rod against differences of its energy, and how its frames are carried."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sennit as sn
from sennit.bodies.rod.spline import shape
from sennit.bodies.rod.spline.model import SPLINE

SECTION = sn.Section.rectangle(0.02, 0.01)  # 4 to 1 in bending
MATERIAL = sn.Material(1e7, 0.4, 1000.0, relaxation_time=0.02)


def curve_points(closed, n=9):
    if closed:
        angle = np.linspace(0.0, 2.0 * np.pi, n, endpoint=False)
        return np.column_stack((np.cos(angle), np.sin(angle), 0.3 * np.sin(2.0 * angle)))
    x = shape.greville(n, False) / (n - 3.0)
    return np.column_stack((x, 0.3 * np.sin(3.0 * x), 0.2 * np.cos(4.0 * x)))


def random_shape(tables, seed, size=0.04):
    noise = np.random.default_rng(seed).standard_normal(tables.rest.shape) * (size, size, size, 5.0 * size)
    return tables.rest + noise


@pytest.fixture(params=[False, True], ids=["open", "closed"])
def bent(request, posed):
    """A bent, rolled, stretched rod that was in another shape a step before."""
    tables = SPLINE.tables(
        curve_points(request.param), SECTION, MATERIAL, closed=request.param, rest_curvature=(0.3, -0.7, 0.2)
    )
    rod = posed(tables, random_shape(tables, 1, 0.02))
    rod.accept()
    rod.move(random_shape(tables, 2))
    return rod


def differences(function, q, dof0, step):
    """Gradient by differences of order 4."""
    gradient = np.empty(len(q) - dof0)
    for i in range(len(gradient)):
        d = np.zeros_like(q)
        d[dof0 + i] = step
        near, far = function(q + d) - function(q - d), function(q + 2.0 * d) - function(q - 2.0 * d)
        gradient[i] = (8.0 * near - far) / (12.0 * step)
    return gradient


@pytest.mark.parametrize("rate", [0.0, 0.4])
def test_force_is_minus_the_slope_of_the_energy(bent, rate):
    force, _ = bent.assembled(rate=rate)
    slope = differences(lambda q: bent.potential(q, rate), bent.q, bent.dof0, 3e-5)
    assert np.max(np.abs(force + slope)) < 1e-9 * np.max(np.abs(force))
    # The roll's part is smaller: it is judged on its own.
    assert np.max(np.abs(force + slope)[3::4]) < 1e-7 * np.max(np.abs(force[3::4]))


@pytest.mark.parametrize("rate", [0.0, 0.4])
def test_stiffness_is_the_second_derivative_of_the_energy(bent, rate):
    bent.store_tensions(rate)
    _, K = bent.assembled(rate=rate)
    rng = np.random.default_rng(3)
    size = np.tile((1.0, 1.0, 1.0, 10.0), bent.n)
    for only in (np.ones(4 * bent.n), np.tile((0.0, 0.0, 0.0, 1.0), bent.n)):
        for _ in range(12):
            way = rng.standard_normal(4 * bent.n) * size * only
            h, d = 2e-4, np.zeros_like(bent.q)
            d[bent.dof0 :] = way
            E = [bent.potential(bent.q + k * h * d, rate) for k in range(-2, 3)]
            second = (-E[0] + 16.0 * E[1] - 30.0 * E[2] + 16.0 * E[3] - E[4]) / (12.0 * h * h)
            assert way @ K @ way == pytest.approx(second, rel=2e-6)


def test_stiffness_is_the_symmetric_part_of_the_forces_slope(bent):
    """Carried frames depend on the way, so the force's slope has a skew part; what is symmetric is the Hessian."""
    bent.store_tensions()
    _, K = bent.assembled()
    slope = np.array([differences(lambda q, i=i: -bent.assembled(q)[0][i], bent.q, bent.dof0, 2e-5) for i in range(36)])
    symmetric = 0.5 * (slope + slope.T)
    roll = np.arange(36) % 4 == 3
    for rows in (roll, ~roll):
        for columns in (roll, ~roll):
            block = np.ix_(rows, columns)
            assert np.max(np.abs(K - symmetric)[block]) < 1e-7 * np.max(np.abs(K[block]))


def test_gauss_newton_is_exact_without_stress_and_never_negative(bent, posed):
    tables = SPLINE.tables(curve_points(bool(bent.closed)), SECTION, MATERIAL, closed=bool(bent.closed))
    rest = posed(tables)
    force, K = rest.assembled()
    assert np.max(np.abs(force)) < 1e-12 * np.max(np.abs(K))
    assert np.allclose(K, rest.assembled(exact=0)[1], rtol=0.0, atol=1e-13 * np.max(np.abs(K)))
    _, K = bent.assembled(exact=0, push=0)
    lowest, highest = np.linalg.eigvalsh(K)[[0, -1]]
    assert lowest > -1e-14 * highest
    assert np.linalg.eigvalsh(bent.assembled()[1])[0] < -1e-5 * np.max(np.abs(K))


def test_weights_scale_and_nothing_is_cleared(bent):
    force, K = bent.assembled(rate=0.1)
    other, none = bent.assembled(rate=0.1, weight_f=0.25, weight_k=0.0)
    assert np.allclose(other, 0.25 * force, rtol=1e-14) and not np.any(none)
    assert np.allclose(bent.assembled(rate=0.1, weight_k=-2.0)[1], -2.0 * K, rtol=1e-12, atol=1e-12 * np.max(np.abs(K)))


def test_stored_tension_stiffens_across_and_push_decides_below_zero(bent):
    base = bent.assembled(push=0)[1]  # stored tension is 0
    bent.tensions.tension[:] = -3.0
    assert np.array_equal(bent.assembled(push=0)[1], base)
    pushed = bent.assembled(push=1)[1]
    bent.tensions.tension[:] = 3.0
    pulled = bent.assembled(push=0)[1]
    scale = 1e-12 * np.max(np.abs(base))
    assert np.allclose(pulled - base, base - pushed, rtol=0.0, atol=scale)
    assert np.max(np.abs(pulled - base)) > 1.0


def test_tension_update_is_linear_in_the_step(bent):
    rng = np.random.default_rng(5)
    dq = np.zeros_like(bent.q)
    dq[bent.dof0 :] = 0.3 * rng.standard_normal(4 * bent.n)  # far beyond where the strain is linear
    rate, EA = 0.4, bent.tables.stretches.stiffness
    last = bent.tensions.strain.copy()
    points = bent.q[bent.dof0 :].reshape(-1, 4)[:, :3]
    J = bent.tables.stretches.speed

    def strain(k):
        moved = points + k * dq[bent.dof0 :].reshape(-1, 4)[:, :3]
        slopes = shape.curve(moved, bool(bent.closed), bent.tables.stretch_u)[:, 1]
        return np.linalg.norm(slopes, axis=1) / J - 1.0

    step = 1e-5
    change = (strain(step) - strain(-step)) / (2.0 * step)
    bent.store_tensions(rate, dq)
    wanted = EA * (1.0 + rate) * (strain(0.0) + change) - EA * rate * last
    assert np.allclose(bent.tensions.tension, wanted, rtol=0.0, atol=1e-7 * np.max(np.abs(wanted)))


# ------------------------------------------------------------------------------------------------------------ frames


def beside(tables, shift):
    """The tables with bending points at u + shift, frames of the first shape there."""
    u = tables.bend_u + shift
    points = tables.rest[:, :3]
    moved = copy.copy(tables)
    moved.leave()
    bends, bend = moved.bends, moved.bend
    bends.span[:], rows = shape.basis(u, tables.spans, tables.closed)
    bends.basis[:], bends.slope_basis[:], bends.bend_basis[:] = rows[:, 0], rows[:, 1], rows[:, 2]
    t, u1, m = shape.start_frames(points, tables.closed, u)
    slope, curving = np.moveaxis(shape.curve(points, tables.closed, u)[:, 1:], 1, 0)
    dt = (curving - np.sum(curving * t, axis=1)[:, None] * t) / np.linalg.norm(slope, axis=1)[:, None]
    bend.tangent[:], bend.reference[:], bend.bending[:], bend.twist[:] = t, u1, dt, m
    moved.made = {"bend": bend.copy(), "stretch": moved.stretch.copy()}
    return moved


@pytest.mark.parametrize("closed", [False, True])
def test_m_is_the_twist_of_the_carried_vectors_after_large_steps(posed, closed):
    """u1′·u2 = m holds for frames carried at neighbouring points on their own, over two steps of half a radian."""
    h = 1e-4
    tables = SPLINE.tables(curve_points(closed), SECTION, MATERIAL, closed=closed)
    q = random_shape(tables, 7, 0.25 if closed else 0.04)
    rods = [posed(beside(tables, shift)) for shift in (-2.0 * h, -h, 0.0, h, 2.0 * h)]
    turn = 0.0
    for target in (tables.rest + 0.6 * (q - tables.rest), q):
        turn = max(turn, rods[2].largest_turn(_step(rods[2], target)))
        for rod in rods:
            rod.move(target)
    assert turn > 0.3
    far0, near0, here, near1, far1 = (rod.frames for rod in rods)
    near, far = near1.reference - near0.reference, far1.reference - far0.reference
    slope = (8.0 * near - far) / (12.0 * h)
    u2 = np.cross(here.tangent, here.reference)
    assert np.max(np.abs(here.twist)) > 0.05
    # Differences: rounding 1e-16/h, and the start frames' own 1e-10/h at most.
    assert np.allclose(np.sum(slope * u2, axis=1), here.twist, rtol=0.0, atol=1e-7)
    assert np.allclose(np.sum(here.reference * here.tangent, axis=1), 0.0, atol=1e-15)
    assert np.allclose(np.linalg.norm(here.reference, axis=1), 1.0, atol=1e-15)


def _step(rod, target):
    dq = np.zeros_like(rod.q)
    dq[rod.dof0 :] = np.ravel(target) - rod.q[rod.dof0 :]
    return dq


def test_frames_are_carried_in_place_and_strains_stay(bent):
    q = bent.q.copy()
    q[bent.dof0 :] += 0.05 * np.random.default_rng(8).standard_normal(4 * bent.n)
    wanted, frames = bent.carried(q), bent.kind.bend.copy()
    bent.kernels.carry_frames(bent.rod, bent.kind, q, frames, frames)
    for name, array in frames.fields().items():
        assert np.array_equal(array, getattr(wanted, name))
    assert np.array_equal(frames.strain, bent.kind.bend.strain)


def test_rigid_motion_with_rotated_frames_changes_nothing(bent):
    R = Rotation.from_rotvec((2.1, -0.7, 1.3)).as_matrix()
    before, force = bent.energy(), bent.assembled()[0].reshape(-1, 4)
    shape_now = bent.q[bent.dof0 :].reshape(-1, 4)
    bent.rotate(R)
    assert all(np.all(array[: bent.strangers] == 9.0) for array in bent.kind.bend.fields().values())
    bent.move(np.column_stack((shape_now[:, :3] @ R.T + (1.0, -2.0, 3.0), shape_now[:, 3])))
    assert bent.energy() == pytest.approx(before, rel=1e-12)
    turned = bent.assembled()[0].reshape(-1, 4)
    assert np.allclose(turned[:, :3], force[:, :3] @ R.T, rtol=0.0, atol=1e-10 * np.max(np.abs(force)))
    assert np.allclose(turned[:, 3], force[:, 3], rtol=0.0, atol=1e-10 * np.max(np.abs(force[:, 3])))
    assert np.allclose(np.sum(turned[:, :3], axis=0), 0.0, atol=1e-11 * np.max(np.abs(force)))


def test_largest_turn_is_the_angle_between_tangents(bent):
    target = bent.q[bent.dof0 :].reshape(-1, 4) + 0.05 * np.random.default_rng(9).standard_normal((bent.n, 4))
    found = bent.largest_turn(_step(bent, target))
    old = bent.frames.tangent.copy()
    bent.move(target)
    cosines = np.sum(old * bent.frames.tangent, axis=1)
    assert found == pytest.approx(math.acos(np.min(cosines)), rel=1e-12)
    target[4] = np.nan
    assert math.isnan(bent.largest_turn(_step(bent, target)))
