"""Strands between nearly coaxial clamps, drawn at random, and their equilibria by shooting, many at once.

Length 1, bending stiffness 1, no shear, no stretch. Runge and Kutta's method marches

    r' = R e3,  R' = R [u],  u = K^-1 R^T m + rest,  n' = -weight,  m' = -r' x n

from the clamp at the origin for all strands and for six changed base wrenches of each: what comes out at the other end,
and how it changes, gives Newton's method the wrench; the determinant of the changes along the strand counts conjugate
points, none for a stable equilibrium (``buckling.conjugate_points`` does it for one rod). Nothing is the library's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

from .rotation import exp, quaternion_from_rotation

STEPS = 400
PLACES = 200  # where the shape is kept, evenly
CHANGE = 1e-5  # of the wrench, for central differences


@dataclass(frozen=True)
class Case:
    """A strand clamped at the origin along z, and a second clamp nearly on that axis."""

    stiffness: np.ndarray  # of bending about d1, d2, and of twist
    rest: np.ndarray  # rest curvature
    weight: np.ndarray  # per length
    position: np.ndarray
    rotation: np.ndarray
    offset: float
    tilt: float
    twist: float
    nodes: int


def random_case(seed: int) -> Case:
    """Ends 0.3 to 0.995 of the length apart, off the axis by 1e-6 to 0.05, tilted by 1e-6 to 0.2 rad.

    A quarter of each: round; round to a hundredth or better; with a rest curvature to 1; heavy to w L³/EI = 30, along
    the axis or not. Half of them are twisted by up to 1.5 rad.
    """
    g = np.random.default_rng([16, seed])
    ratio, offset, tilt = g.uniform(0.3, 0.995), 10 ** g.uniform(-6, -1.3), 10 ** g.uniform(-6, -0.7)
    twist = g.uniform(-1.5, 1.5) * (g.uniform() < 0.5)
    towards, about = g.uniform(0, 2 * np.pi, 2)
    kind, stiffness, rest, weight = seed % 4, np.array([1.0, 1.0, 0.77]), np.zeros(3), np.zeros(3)
    if kind == 1 or (kind > 1 and g.uniform() < 0.3):
        stiffness[1] += g.choice([-1, 1]) * 10 ** g.uniform(-4, -2)
    if kind == 2:
        rest = 10 ** g.uniform(-4, 0) * _direction(g)
    if kind == 3 or (kind == 2 and g.uniform() < 0.5):
        along = np.array([0.0, 0.0, g.choice([-1.0, 1.0])])
        weight = 10 ** g.uniform(-3, 1.5) * (along if g.uniform() < 0.5 else _direction(g))
    rotation = exp(np.array([0, 0, twist])) @ exp(tilt * np.array([np.cos(about), np.sin(about), 0]))
    position = np.array([offset * np.cos(towards), offset * np.sin(towards), ratio])
    return Case(stiffness, rest, weight, position, rotation, offset, tilt, twist, int(g.choice([41, 101, 201])))


def _direction(g: np.random.Generator) -> np.ndarray:
    v = g.normal(size=3)
    return v / np.linalg.norm(v)


def elastica(ratio: float) -> tuple[float, float, float]:
    """Force, end moment and energy of the buckled elastica between coaxial clamps this far apart: elliptic integrals.

    Each quarter is a cantilever: P = 16 K², distance 2 E/K − 1, M = 2 k √P, energy 32 K (E − (1 − k²) K).
    """
    m = brentq(lambda m: 2 * ellipe(m) / ellipk(m) - 1 - ratio, 1e-12, 0.99)
    K, E = ellipk(m), ellipe(m)
    return 16 * K**2, 8 * K * np.sqrt(m), 32 * K * (E - (1 - m) * K)


@dataclass(frozen=True)
class Equilibria:
    """What shooting found, one row for each case."""

    miss: np.ndarray  # largest error of position and rotation at the second clamp
    positions: np.ndarray  # (cases, PLACES + 1, 3), evenly spaced
    energy: np.ndarray  # elastic, and of the weight
    conjugate: np.ndarray  # number of conjugate points


def _rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    t = 2 * np.cross(q[..., 1:], v)
    return v + q[..., :1] * t + np.cross(q[..., 1:], t)


def _march(cases: list[Case], wrench: np.ndarray) -> np.ndarray:
    """States (PLACES + 1, cases, m, 14) of wrenches (cases, m, 6): r, q, n, m and the energy so far."""
    stiffness = np.array([case.stiffness for case in cases])[:, None]
    rest = np.array([case.rest for case in cases])[:, None]
    weight = np.array([case.weight for case in cases])[:, None]
    axial = np.array([0.0, 0.0, 1.0])

    def rate(y: np.ndarray) -> np.ndarray:
        q, n, m = y[..., 3:7], y[..., 7:10], y[..., 10:13]
        back = q * np.array([1.0, -1.0, -1.0, -1.0])
        bend = _rotate(back, m) / stiffness
        u = bend + rest
        tangent = _rotate(q, np.broadcast_to(axial, n.shape))
        spin = np.concatenate(
            [-np.sum(q[..., 1:] * u, -1, keepdims=True), q[..., :1] * u + np.cross(q[..., 1:], u)], axis=-1
        )
        energy = 0.5 * np.sum(stiffness * bend**2, -1, keepdims=True) - np.sum(weight * y[..., :3], -1, keepdims=True)
        return np.concatenate(
            [tangent, 0.5 * spin, np.broadcast_to(-weight, n.shape), -np.cross(tangent, n), energy], axis=-1
        )

    y = np.zeros((*wrench.shape[:2], 14))
    y[..., 3], y[..., 7:13] = 1.0, wrench
    h, kept = 1.0 / STEPS, [y]
    for step in range(STEPS):
        a = rate(y)
        b = rate(y + h / 2 * a)
        c = rate(y + h / 2 * b)
        d = rate(y + h * c)
        y = y + h / 6 * (a + 2 * b + 2 * c + d)
        y[..., 3:7] /= np.linalg.norm(y[..., 3:7], axis=-1, keepdims=True)
        if (step + 1) % (STEPS // PLACES) == 0:
            kept.append(y)
    return np.array(kept)


def _turn(q: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Rotation vectors (world frame) that take q to p."""
    w = np.sum(q * p, -1, keepdims=True)
    v = q[..., :1] * p[..., 1:] - p[..., :1] * q[..., 1:] - np.cross(p[..., 1:], q[..., 1:])
    size = np.linalg.norm(v, axis=-1, keepdims=True)
    sign = np.where(w < 0, -1.0, 1.0)
    return 2 * np.arctan2(size, np.abs(w)) * sign * v / np.maximum(size, 1e-300)


def shoot(cases: list[Case], wrench: np.ndarray, iterations: int = 12) -> Equilibria:
    """Equilibria next to those with these base wrenches (cases, 6): internal force and moment just beyond the base."""
    wrench = wrench.copy()
    target = np.array([case.position for case in cases])
    frame = quaternion_from_rotation(np.array([case.rotation for case in cases]))
    changes = CHANGE * np.concatenate([np.zeros((1, 6)), np.eye(6), -np.eye(6)])
    paths = np.empty((PLACES + 1, len(cases), len(changes), 14))
    sizes = np.full(len(cases), np.inf)
    for _ in range(iterations):
        todo = np.flatnonzero(sizes > 1e-13)
        if not todo.size:
            break
        path = _march([cases[k] for k in todo], wrench[todo, None] + changes)
        end = path[-1]
        miss = np.concatenate([end[:, 0, :3] - target[todo], -_turn(end[:, 0, 3:7], frame[todo])], axis=1)
        place = (end[:, 1:7, :3] - end[:, 7:, :3]) / (2 * CHANGE)
        turn = _turn(end[:, 7:, 3:7], end[:, 1:7, 3:7]) / (2 * CHANGE)
        jacobian = np.concatenate([place, turn], axis=2).transpose(0, 2, 1)
        size = np.abs(miss).max(axis=1)
        for i, k in enumerate(todo):
            if size[i] < sizes[k]:
                sizes[k], paths[:, k] = size[i], path[:, i]
            step = np.linalg.lstsq(jacobian[i], -miss[i], rcond=1e-13)[0]
            largest = 0.2 * np.linalg.norm(wrench[k])
            wrench[k] += step * min(1.0, largest / max(np.linalg.norm(step), 1e-300))
    place = (paths[:, :, 1:7, :3] - paths[:, :, 7:, :3]) / (2 * CHANGE)
    turn = _turn(paths[:, :, 7:, 3:7], paths[:, :, 1:7, 3:7]) / (2 * CHANGE)
    # the determinant begins with a high power of s, which differences do not see
    late = slice(PLACES // 10, None)
    signs = np.sign(np.linalg.det(np.concatenate([place, turn], axis=3)[late]))
    conjugate = np.count_nonzero(signs[1:] != signs[:-1], axis=0)
    return Equilibria(sizes, paths[:, :, 0, :3].transpose(1, 0, 2), paths[-1, :, 0, 13], conjugate)
