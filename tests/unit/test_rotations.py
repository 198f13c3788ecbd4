"""Rotations: against scipy everywhere, and digit by digit against mpmath where an angle nears 0 or half a turn.

Tolerances: a few roundings of numbers of order one, 1e-15; scipy's own, 1e-14.
"""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from sennit.geometry import (
    matrix_to_quaternion,
    quaternion_conjugate,
    quaternion_product,
    quaternion_rotate,
    quaternion_to_matrix,
    rotation_between,
    rotation_exp,
    rotation_log,
    slerp,
)
from sennit.geometry.kernels.algebra import angle_of, wider

mpmath.mp.dps = 50

SPECIAL_ANGLES = (0.0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-4, math.pi / 2, math.pi - 1e-4, math.pi - 1e-9, math.pi - 1e-12)
angles = st.sampled_from(SPECIAL_ANGLES) | st.floats(1e-290, math.pi - 1e-13)
SUBNORMAL = 1e-320  # below it floats have few digits
components = st.floats(-1.0, 1.0) | st.sampled_from((0.0, 1.0, 1e-9))


def unit_vectors(size: int) -> st.SearchStrategy[np.ndarray]:
    lists = st.lists(components, min_size=size, max_size=size)
    return lists.map(np.array).filter(lambda v: np.linalg.norm(v) > 1e-3).map(lambda v: v / np.linalg.norm(v))


axes = unit_vectors(3)
quaternions = unit_vectors(4)
vectors = st.builds(lambda angle, axis: angle * axis, angles, axes)


def scipy_rotation(q: np.ndarray) -> Rotation:
    return Rotation.from_quat(q, scalar_first=True)


def exact_quaternion(angle: mpmath.mpf, axis: np.ndarray) -> np.ndarray:
    """The quaternion of a rotation by `angle`, each entry rounded once; (4,)."""
    exact_axis = [mpmath.mpf(float(entry)) for entry in axis]
    length = mpmath.sqrt(sum(entry**2 for entry in exact_axis))
    sine = mpmath.sin(angle / 2) / length
    return np.array([float(mpmath.cos(angle / 2)), *(float(sine * entry) for entry in exact_axis)])


def exact_log(q: np.ndarray) -> np.ndarray:
    """The rotation vector of the quaternion as it is stored, computed with 50 digits and rounded at the end; (3,)."""
    w, *u = [mpmath.mpf(float(entry)) for entry in q]
    sine = mpmath.sqrt(sum(entry**2 for entry in u))
    if sine == 0:
        return np.zeros(3)
    angle = 2 * mpmath.atan2(sine, abs(w))
    sign = -1 if w < 0 else 1
    return np.array([float(sign * angle * entry / sine) for entry in u])


@given(quaternions, quaternions)
def test_product_is_composition(p: np.ndarray, q: np.ndarray) -> None:
    expected = (scipy_rotation(p) * scipy_rotation(q)).as_matrix()
    np.testing.assert_allclose(quaternion_to_matrix(quaternion_product(p, q)), expected, atol=1e-14)


@given(quaternions)
def test_conjugate_is_the_inverse(q: np.ndarray) -> None:
    np.testing.assert_allclose(quaternion_product(q, quaternion_conjugate(q)), (1, 0, 0, 0), atol=1e-15)


@given(quaternions, axes)
def test_rotate_agrees_with_the_matrix_and_scipy(q: np.ndarray, v: np.ndarray) -> None:
    np.testing.assert_allclose(quaternion_rotate(q, v), quaternion_to_matrix(q) @ v, atol=2e-15)
    np.testing.assert_allclose(quaternion_rotate(q, v), scipy_rotation(q).apply(v), atol=1e-14)


@given(vectors)
def test_matrix_to_quaternion_at_all_angles(vector: np.ndarray) -> None:
    q = rotation_exp(vector)
    back = matrix_to_quaternion(quaternion_to_matrix(q))
    assert back[0] >= 0.0
    np.testing.assert_allclose(back * np.sign(back @ q), q, atol=1e-15)


def test_matrix_to_quaternion_at_half_turns() -> None:
    rng = np.random.default_rng(3)
    axis = rng.normal(size=(1000, 3))
    axis[:3] = np.eye(3)
    axis[3:6] = np.eye(3)[[1, 2, 0]] + 1e-9
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    matrices = 2.0 * axis[:, :, None] * axis[:, None, :] - np.eye(3)
    q = matrix_to_quaternion(matrices)
    np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1.0, atol=1e-15)
    np.testing.assert_allclose(np.abs(np.sum(q[:, 1:] * axis, axis=-1)), 1.0, atol=1e-15)
    np.testing.assert_allclose(quaternion_to_matrix(q), matrices, atol=2e-15)


@given(vectors)
def test_exp_agrees_with_scipy(vector: np.ndarray) -> None:
    np.testing.assert_allclose(
        quaternion_to_matrix(rotation_exp(vector)), Rotation.from_rotvec(vector).as_matrix(), atol=1e-14
    )


@given(angles, axes)
def test_exp_to_the_last_digits(angle: float, axis: np.ndarray) -> None:
    vector = angle * axis
    exact = [mpmath.mpf(float(entry)) for entry in vector]
    expected = exact_quaternion(mpmath.sqrt(sum(entry**2 for entry in exact)), vector) if vector.any() else [1, 0, 0, 0]
    np.testing.assert_allclose(rotation_exp(vector), expected, rtol=2e-15, atol=1e-15 * min(angle, 1.0))


@given(quaternions)
def test_log_agrees_with_scipy(q: np.ndarray) -> None:
    vector = rotation_log(q)
    assert np.linalg.norm(vector) <= math.pi * (1 + 1e-15)
    np.testing.assert_allclose(quaternion_to_matrix(rotation_exp(vector)), scipy_rotation(q).as_matrix(), atol=1e-14)


@given(angles, axes, st.sampled_from((1.0, -1.0)))
def test_log_to_the_last_digits(angle: float, axis: np.ndarray, sign: float) -> None:
    q = sign * exact_quaternion(mpmath.mpf(angle), axis)
    np.testing.assert_allclose(rotation_log(q), exact_log(q), rtol=2e-15, atol=SUBNORMAL)


@given(vectors)
def test_log_of_exp_is_the_vector(vector: np.ndarray) -> None:
    np.testing.assert_allclose(
        rotation_log(rotation_exp(vector)), vector, rtol=4e-15, atol=1e-15 * math.hypot(*vector) + SUBNORMAL
    )


@pytest.mark.parametrize("angle", SPECIAL_ANGLES)
def test_the_angle_survives(angle: float) -> None:
    axis = np.array((2.0, -3.0, 6.0)) / 7.0
    assert math.hypot(*rotation_log(rotation_exp(angle * axis))) == pytest.approx(angle, rel=1e-15, abs=0.0)


def test_log_beyond_half_a_turn_comes_back() -> None:
    np.testing.assert_allclose(rotation_log(rotation_exp((0.0, 0.0, 4.0))), (0.0, 0.0, 4.0 - 2 * math.pi), rtol=1e-15)


def test_log_of_half_a_turn_and_of_nothing() -> None:
    np.testing.assert_array_equal(rotation_log((0.0, 0.0, 0.6, -0.8)), math.pi * np.array((0.0, 0.6, -0.8)))
    for sign in (1.0, -1.0):
        np.testing.assert_array_equal(rotation_log((sign, 0.0, 0.0, 0.0)), np.zeros(3))


@given(axes, axes)
def test_between_takes_a_to_b_by_the_smallest_rotation(a: np.ndarray, b: np.ndarray) -> None:
    q = rotation_between(a, b)
    np.testing.assert_allclose(np.linalg.norm(q), 1.0, atol=1e-15)
    np.testing.assert_allclose(quaternion_rotate(q, a), b, atol=2e-15)
    smallest = math.atan2(np.linalg.norm(np.cross(a, b)), a @ b)
    assert np.linalg.norm(rotation_log(q)) == pytest.approx(smallest, abs=2e-15)


@given(
    axes,
    axes,
    st.sampled_from((0.0, 1e-17, 1e-16, 1e-15, 1e-14, 1e-12, 1e-9, 1e-6, 1e-3)),
    st.sampled_from((1.0, -1.0)),
)
def test_between_near_parallel_and_antiparallel(a: np.ndarray, other: np.ndarray, tilt: float, sign: float) -> None:
    b = sign * a + tilt * other
    b /= np.linalg.norm(b)
    q = rotation_between(a, b)
    np.testing.assert_allclose(np.linalg.norm(q), 1.0, atol=1e-15)
    np.testing.assert_allclose(quaternion_rotate(q, a), b, atol=4e-15)


@given(quaternions, quaternions, st.floats(0.0, 1.0))
def test_slerp_is_the_shortest_uniform_rotation(q0: np.ndarray, q1: np.ndarray, t: float) -> None:
    whole = rotation_log(quaternion_product(quaternion_conjugate(q0), q1))
    assume(np.linalg.norm(whole) < math.pi - 1e-9)  # at half a turn both ways round are the shortest
    part = rotation_log(quaternion_product(quaternion_conjugate(q0), slerp(q0, q1, t)))
    np.testing.assert_allclose(part, t * whole, atol=1e-14)
    np.testing.assert_allclose(slerp(q0, q1, 0.0), q0, atol=1e-15)
    assert abs(slerp(q0, q1, 1.0) @ q1) == pytest.approx(1.0, abs=4e-15)


def test_slerp_agrees_with_scipy() -> None:
    from scipy.spatial.transform import Slerp

    ends = Rotation.from_rotvec([(0.1, -0.2, 0.3), (1.0, 2.0, -0.5)])
    times = np.linspace(0.0, 1.0, 11)
    q0, q1 = ends.as_quat(scalar_first=True)
    np.testing.assert_allclose(
        quaternion_to_matrix(slerp(q0, q1, times)), Slerp([0, 1], ends)(times).as_matrix(), atol=1e-14
    )


def test_leading_axes_broadcast() -> None:
    rng = np.random.default_rng(4)
    q = rotation_exp(rng.normal(size=(5, 1, 3)))
    p = rotation_exp(rng.normal(size=(4, 3)))
    v = rng.normal(size=(5, 4, 3))
    assert quaternion_product(q, p).shape == (5, 4, 4)
    assert quaternion_rotate(q, v).shape == (5, 4, 3)
    assert quaternion_rotate(p[0], v).shape == (5, 4, 3)
    assert quaternion_to_matrix(q).shape == (5, 1, 3, 3)
    assert matrix_to_quaternion(quaternion_to_matrix(q)).shape == (5, 1, 4)
    assert rotation_log(q).shape == (5, 1, 3)
    assert rotation_between((0.0, 0.0, 1.0), v / np.linalg.norm(v, axis=-1, keepdims=True)).shape == (5, 4, 4)
    assert slerp(q, p, 0.5).shape == (5, 4, 4)
    assert slerp(q[0, 0], p[0], np.linspace(0, 1, 7)).shape == (7, 4)
    for i in range(5):
        for j in range(4):
            np.testing.assert_array_equal(quaternion_product(q, p)[i, j], quaternion_product(q[i, 0], p[j]))
            np.testing.assert_array_equal(quaternion_rotate(q, v)[i, j], quaternion_rotate(q[i, 0], v[i, j]))


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 1.5, math.pi / 2, 1.6, 3.0, math.pi])
def test_widest_of_two_angles(angle: float) -> None:
    a, b = (2.0, 0.0, 0.0), (3.0 * math.cos(angle), 3.0 * math.sin(angle), 0.0)
    assert angle_of(wider(wider(0.0, a, b), a, a)) == pytest.approx(angle, rel=1e-7)


def test_an_angle_that_is_no_number_stays() -> None:
    assert math.isnan(angle_of(wider(math.nan, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))))
    assert math.isnan(angle_of(wider(0.5, (1.0, 0.0, 0.0), (math.nan, 1.0, 0.0))))
