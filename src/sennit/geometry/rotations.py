"""Rotations as unit quaternions, vectors and matrices, over any number of leading axes.

Quaternions are scalar first, (w, x, y, z), of unit norm; q and −q are the same rotation. A rotation vector is the unit
axis times the angle in radians. Leading axes broadcast as in NumPy. Nothing here checks its input: public functions
of the library do that before (`sennit.validation`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sennit.validation import FloatArray

__all__ = [
    "matrix_to_quaternion",
    "quaternion_conjugate",
    "quaternion_product",
    "quaternion_rotate",
    "quaternion_to_matrix",
    "rotation_between",
    "rotation_exp",
    "rotation_log",
    "slerp",
]


_CONJUGATE = np.array((1.0, -1.0, -1.0, -1.0))
# i q, j q and k q: which component of q comes where, and with which sign
_UNITS_TIMES = np.array(((1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0)))
_SIGNS = np.array(((-1.0, 1.0, -1.0, 1.0), (-1.0, 1.0, 1.0, -1.0), (-1.0, -1.0, 1.0, 1.0)))


def _floats(values: ArrayLike) -> FloatArray:
    return np.asarray(values, dtype=np.float64)


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Cross product over the last axis; `np.cross` costs three times as much on small arrays."""
    a1, a2, a3 = a[..., 0], a[..., 1], a[..., 2]
    b1, b2, b3 = b[..., 0], b[..., 1], b[..., 2]
    return np.stack((a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1), axis=-1)


def _norm(a: FloatArray) -> FloatArray:
    """|a| over the last axis, which is kept with length 1."""
    return np.asarray(np.sqrt(np.sum(a * a, axis=-1, keepdims=True)))


def quaternion_product(p: ArrayLike, q: ArrayLike) -> FloatArray:
    """The rotation q followed by p: (..., 4) and (..., 4) to (..., 4)."""
    p, q = _floats(p), _floats(q)
    # One array operation for all of i q, j q, k q: on short arrays the number of operations is what costs.
    turned = p[..., 1:, None] * (q[..., _UNITS_TIMES] * _SIGNS)
    return np.asarray(p[..., :1] * q + turned[..., 0, :] + turned[..., 1, :] + turned[..., 2, :])


def quaternion_conjugate(q: ArrayLike) -> FloatArray:
    """The inverse rotation: (..., 4) to (..., 4)."""
    return np.asarray(_floats(q) * _CONJUGATE)


def quaternion_rotate(q: ArrayLike, v: ArrayLike) -> FloatArray:
    """Vectors v, (..., 3), turned by q, (..., 4)."""
    q, v = _floats(q), _floats(v)
    u = q[..., 1:]
    twice = 2.0 * _cross(u, v)
    return v + q[..., :1] * twice + _cross(u, twice)


def quaternion_to_matrix(q: ArrayLike) -> FloatArray:
    """Rotation matrices (..., 3, 3) of q, (..., 4); the columns are the turned axes."""
    q = _floats(q)
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    entries = (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )
    return np.stack(entries, axis=-1).reshape((*q.shape[:-1], 3, 3))


def matrix_to_quaternion(matrix: ArrayLike) -> FloatArray:
    """Unit quaternions (..., 4), scalar part ≥ 0, of rotation matrices (..., 3, 3).

    Of the four rows of 4qqᵀ, all linear in the matrix, the one with the largest diagonal entry is taken and
    normalised: no angle and no axis loses digits.

    Reference: S. W. Shepperd, Quaternion from rotation matrix, J. Guidance and Control 1 (1978) 223–224.
    """
    m = _floats(matrix)
    m11, m12, m13 = m[..., 0, 0], m[..., 0, 1], m[..., 0, 2]
    m21, m22, m23 = m[..., 1, 0], m[..., 1, 1], m[..., 1, 2]
    m31, m32, m33 = m[..., 2, 0], m[..., 2, 1], m[..., 2, 2]
    wx, wy, wz = m32 - m23, m13 - m31, m21 - m12
    xy, xz, yz = m12 + m21, m13 + m31, m23 + m32
    rows = (
        (1.0 + m11 + m22 + m33, wx, wy, wz),
        (wx, 1.0 + m11 - m22 - m33, xy, xz),
        (wy, xy, 1.0 - m11 + m22 - m33, yz),
        (wz, xz, yz, 1.0 - m11 - m22 + m33),
    )
    outer = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    largest = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)[..., None, None]
    q = np.take_along_axis(outer, largest, axis=-2)[..., 0, :]
    q = q / _norm(q)
    return np.where(q[..., :1] < 0.0, -q, q)


def rotation_exp(vector: ArrayLike) -> FloatArray:
    """Unit quaternions (..., 4) of rotation vectors (..., 3), in radians."""
    vector = _floats(vector)
    angle = _norm(vector)
    # sin(θ/2)/θ needs no series: it is right to rounding down to the θ whose square underflows.
    ratio = np.divide(np.sin(0.5 * angle), angle, out=np.full_like(angle, 0.5), where=angle > 0.0)
    return np.concatenate((np.cos(0.5 * angle), ratio * vector), axis=-1)


def rotation_log(q: ArrayLike) -> FloatArray:
    """Rotation vectors (..., 3), in radians and no longer than π, of quaternions (..., 4).

    q and −q give the same vector. For half a turn (w = 0) the vector points along (x, y, z).
    """
    q = _floats(q)
    w, u = q[..., :1], q[..., 1:]
    sine = _norm(u)
    cosine = np.abs(w)
    half_angle = np.arctan2(sine, cosine)
    # u ≠ 0 may have a norm that underflows to 0: the limit θ/sin(θ/2) = 2 still holds, over |w| = 1.
    ratio = np.divide(2.0 * half_angle, sine, out=np.full_like(sine, 2.0), where=sine > 0.0)
    return np.where(w < 0.0, -ratio, ratio) * u


def rotation_between(a: ArrayLike, b: ArrayLike) -> FloatArray:
    """Quaternions (..., 4) of the smallest rotations that take the unit vectors a, (..., 3), to b, (..., 3).

    Where a and b are opposite the smallest rotation is not unique: one half turn is chosen, always the same.
    """
    a, b = np.broadcast_arrays(_floats(a), _floats(b))
    cross = _cross(a, b)
    sine = _norm(cross)
    cosine = np.sum(a * b, axis=-1, keepdims=True)
    half_angle = 0.5 * np.arctan2(sine, cosine)
    # Near half a turn a × b is small and rounding tilts it towards a: take that part out. It never matters elsewhere.
    arbitrary = np.eye(3)[np.argmin(np.abs(a), axis=-1)]
    axis = np.where((sine < 1e-15) & (cosine < 0.0), arbitrary, cross)
    for _ in range(2):
        axis = axis - np.sum(axis * a, axis=-1, keepdims=True) * a
        length = _norm(axis)
        axis = np.divide(axis, length, out=np.zeros_like(axis), where=length > 0.0)
    return np.concatenate((np.cos(half_angle), np.sin(half_angle) * axis), axis=-1)


def slerp(q0: ArrayLike, q1: ArrayLike, t: ArrayLike) -> FloatArray:
    """Quaternions (..., 4) at the fraction t, (...), of the shortest rotation from q0 (t = 0) to q1 (t = 1)."""
    q0, t = _floats(q0), _floats(t)
    step = rotation_log(quaternion_product(quaternion_conjugate(q0), q1))
    return quaternion_product(q0, rotation_exp(t[..., None] * step))
