"""Rotations for the references: quaternions (scalar first) and rotation vectors, on stacks of any shape."""

from __future__ import annotations

import numpy as np


def skew(a: np.ndarray) -> np.ndarray:
    """[a] with [a] b = a x b, for (..., 3)."""
    a = np.asarray(a, dtype=float)
    out = np.zeros((*a.shape[:-1], 3, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -a[..., 2], a[..., 1], -a[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = a[..., 2], -a[..., 1], a[..., 0]
    return out


def rotation_from_quaternion(q: np.ndarray) -> np.ndarray:
    """(..., 4) quaternions, normalised here, to (..., 3, 3)."""
    q = np.asarray(q, dtype=float)
    w, x, y, z = np.moveaxis(q / np.linalg.norm(q, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def quaternion_from_rotation(rotation: np.ndarray) -> np.ndarray:
    """(..., 3, 3) to (..., 4): the eigenvector of Bar-Itzhack's matrix, sign such that the scalar is not negative."""
    r = np.asarray(rotation, dtype=float)
    k = np.empty((*r.shape[:-2], 4, 4))
    k[..., 0, 0] = r[..., 0, 0] + r[..., 1, 1] + r[..., 2, 2]
    k[..., 0, 1] = k[..., 1, 0] = r[..., 2, 1] - r[..., 1, 2]
    k[..., 0, 2] = k[..., 2, 0] = r[..., 0, 2] - r[..., 2, 0]
    k[..., 0, 3] = k[..., 3, 0] = r[..., 1, 0] - r[..., 0, 1]
    k[..., 1, 1] = r[..., 0, 0] - r[..., 1, 1] - r[..., 2, 2]
    k[..., 2, 2] = r[..., 1, 1] - r[..., 0, 0] - r[..., 2, 2]
    k[..., 3, 3] = r[..., 2, 2] - r[..., 0, 0] - r[..., 1, 1]
    k[..., 1, 2] = k[..., 2, 1] = r[..., 0, 1] + r[..., 1, 0]
    k[..., 1, 3] = k[..., 3, 1] = r[..., 0, 2] + r[..., 2, 0]
    k[..., 2, 3] = k[..., 3, 2] = r[..., 1, 2] + r[..., 2, 1]
    q = np.linalg.eigh(k)[1][..., -1]
    return np.where(q[..., :1] < 0, -q, q)


def exp(vector: np.ndarray) -> np.ndarray:
    """Rotation by |vector| about vector, through the half-angle quaternion."""
    vector = np.asarray(vector, dtype=float)
    half = np.linalg.norm(vector, axis=-1, keepdims=True) / 2
    return rotation_from_quaternion(np.concatenate([np.cos(half), vector / 2 * np.sinc(half / np.pi)], axis=-1))


def log(rotation: np.ndarray) -> np.ndarray:
    """Rotation vector of length at most pi, through the quaternion: good to round-off up to pi."""
    q = quaternion_from_rotation(rotation)
    size = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(size, q[..., :1])
    return np.where(size > 1e-8, angle / np.where(size > 0, size, 1.0), 2.0) * q[..., 1:]


def random_rotation(generator: np.random.Generator) -> np.ndarray:
    """Uniform on the rotations."""
    return rotation_from_quaternion(generator.normal(size=4))
