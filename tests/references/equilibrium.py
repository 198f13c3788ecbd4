"""Is a returned state a true equilibrium?  Checks that know nothing of the solver.

``defects`` restarts the equations of ``rods`` at every node of the state and marches them to the next one with Runge
and Kutta's method in fine substeps (its own error is below 1e-12): what the next node differs by is the solver's local
error.  A solution of order p on a mesh h leaves defects of order h^(p+1), so their sum is of order h^p, whatever the
load, the law or the boundary conditions; a state that is no equilibrium leaves defects of order one.

``balance`` adds up everything that is applied to the strand: grips, tips, line loads, point loads, supports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import make_interp_spline

from .rods import Point, Rod, _jump, _turn
from .rotation import log, quaternion_from_rotation


@dataclass(frozen=True)
class Defects:
    """Local errors, dimensionless: lengths over L, forces over B/L^2, moments over B/L.

    ``position``, ``rotation``, ``force`` and ``moment`` are summed over the elements (from every second node to the
    next), or the largest error of a middle node if that is more: of order h^p both.  ``curvature`` and ``stretch`` are
    the largest errors of the reported strains in the constitutive law, times L and 1.
    """

    position: float
    rotation: float
    force: float
    moment: float
    curvature: float
    stretch: float

    @property
    def worst(self) -> float:
        return max(self.position, self.rotation, self.force, self.moment, self.curvature, self.stretch)


def bending(rod: Rod) -> float:
    """A typical bending stiffness: the mean of the two."""
    return float(rod.stiffness[0, 0] + rod.stiffness[1, 1]) / 2


def _columns(state) -> np.ndarray:
    """(13, nodes) from a state of the library."""
    q = quaternion_from_rotation(state.rotations)
    return np.vstack([state.positions.T, q.T, state.forces.T, state.moments.T])


def _advance(rod: Rod, start: np.ndarray, end: np.ndarray, y: np.ndarray, substeps: int) -> np.ndarray:
    """Runge-Kutta from ``start`` to ``end``, (k,) each, in one vectorised go; y (13, k)."""
    h = (end - start) / substeps
    for i in range(substeps):
        s = start + i * h
        k1 = rod.derivative(s, y)
        k2 = rod.derivative(s + h / 2, y + h / 2 * k1)
        k3 = rod.derivative(s + h / 2, y + h / 2 * k2)
        k4 = rod.derivative(s + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def _local_errors(
    rod: Rod, s: np.ndarray, y: np.ndarray, supports: Sequence[tuple[float, bool]], substeps: int
) -> np.ndarray:
    """Errors of position, angle, force and moment, (4, intervals), at the far end of each interval between the s."""
    close = 1e-9 * rod.length
    start, end, here, there = s[:-1], s[1:], y[:, :-1].copy(), y[:, 1:].copy()

    inner: list[tuple[int, Point]] = []
    for p in sorted(rod.points, key=lambda p: p.s):
        at = int(np.argmin(np.abs(s - p.s)))
        if abs(s[at] - p.s) > close:
            inner.append((int(np.searchsorted(s, p.s)) - 1, p))
        elif at < here.shape[1]:
            here[7:, at] -= _jump(p, here[3:7, at])
    arrived = _advance(rod, start, end, here, substeps)
    for i in {i for i, _ in inner}:
        x, place = here[:, i : i + 1], start[i : i + 1]
        for p in (p for j, p in inner if j == i):
            x = _advance(rod, place, np.array([p.s]), x, substeps)
            x[7:, 0] -= _jump(p, x[3:7, 0])
            place = np.array([p.s])
        arrived[:, i : i + 1] = _advance(rod, place, end[i : i + 1], x, substeps)

    free_force, free_moment = np.zeros(start.size, dtype=bool), np.zeros(start.size, dtype=bool)
    for place, torque in supports:
        i = int(np.argmin(np.abs(s - place)))
        if i < start.size:
            back = _advance(rod, end[i : i + 1], start[i : i + 1], there[:, i : i + 1], substeps)
            arrived[:, i], there[:, i] = back[:, 0], here[:, i]
            free_force[i], free_moment[i] = True, torque

    difference = arrived - there
    q, p = arrived[3:7] / np.linalg.norm(arrived[3:7], axis=0), there[3:7]
    turn = np.linalg.norm(p[0] * q[1:] - q[0] * p[1:] - np.cross(p[1:], q[1:], axis=0), axis=0)
    return np.vstack(
        [
            np.linalg.norm(difference[:3], axis=0),
            2.0 * turn,
            np.where(free_force, 0.0, np.linalg.norm(difference[7:10], axis=0)),
            np.where(free_moment, 0.0, np.linalg.norm(difference[10:13], axis=0)),
        ]
    )


def defects(rod: Rod, state, supports: Sequence[tuple[float, bool]] = (), substeps: int = 5) -> Defects:
    """Local errors of a state.  ``supports``: places held by an outer force, (s, whether a torque acts there too).

    At a support the force beyond it is unknown (the state reports the base side), so the interval that starts there is
    marched backward from its far end, and the force (and the moment if a torque acts) is not compared.

    An order-4 element of two intervals has superconvergent ends and a middle node that is off by another h^4, so the
    errors are summed from end to end of the elements, and the middle nodes are judged one by one.
    """
    s, y = np.asarray(state.s, dtype=float), _columns(state)
    ends = np.zeros(s.size, dtype=bool)
    ends[::2] = ends[-1] = True
    for place, _ in supports:
        i = int(np.argmin(np.abs(s - place)))
        if abs(s[i] - place) > 1e-9 * rod.length:
            raise ValueError(f"no node at the support s = {place}; nearest {s[i]}")
        ends[i] = True
    summed = _local_errors(rod, s[ends], y[:, ends], supports, 2 * substeps).sum(axis=1)
    single = _local_errors(rod, s, y, supports, substeps).max(axis=1)
    worst = np.maximum(summed, single)
    length, stiffness = rod.length, bending(rod)
    q = _conjugate(y[3:7])
    u, v = rod.strains(s, _turn(q, y[10:13]), _turn(q, y[7:10]))
    return Defects(
        float(worst[0]) / length,
        float(worst[1]),
        float(worst[2]) * length**2 / stiffness,
        float(worst[3]) * length / stiffness,
        float(np.abs(u.T - state.curvatures).max()) * length,
        float(np.abs(v.T - state.stretches).max()),
    )


def _conjugate(q: np.ndarray) -> np.ndarray:
    return np.concatenate([q[:1], -q[1:]])


@dataclass(frozen=True)
class Balance:
    """What is left when everything applied to the strand is added up, over the largest single contribution."""

    force: float
    moment: float


def _integral(s: np.ndarray, values: np.ndarray, breaks: Sequence[float]) -> np.ndarray:
    """Integral of a field known at the nodes, by quintic splines between the ``breaks``."""
    total = np.zeros(values.shape[1])
    stops = np.unique(np.searchsorted(s, np.asarray([s[0], *breaks, s[-1]]) - 1e-9 * s[-1]))
    for a, b in zip(stops[:-1], stops[1:], strict=True):
        piece = slice(int(a), int(b) + 1)
        degree = min(5, int(b - a) - (int(b - a) + 1) % 2)
        total += np.asarray(make_interp_spline(s[piece], values[piece], k=degree).integrate(s[a], s[b]))
    return total


def balance(rod: Rod, state, supports: Sequence[tuple[float, np.ndarray, np.ndarray]] = ()) -> Balance:
    """Sum of base and tip wrenches, line loads, point loads and supports (s, force, torque), moments about the base."""
    s = np.asarray(state.s, dtype=float)
    arms = np.asarray(state.positions) - np.asarray(state.positions)[0]
    line_force, line_torque = rod.force(s), rod.torque(s)
    q = quaternion_from_rotation(state.rotations).T
    if rod.line_follower:
        line_force, line_torque = _turn(q, line_force), _turn(q, line_torque)
    line_force = (line_force + rod.dead_force(s)).T
    breaks = [*(p.s for p in rod.points), *(x[0] for x in supports)]
    wrenches = [
        (state.base_force, state.base_torque, arms[0]),
        (state.tip_force, state.tip_torque, arms[-1]),
        (_integral(s, line_force, breaks), np.zeros(3), arms[0]),
        (np.zeros(3), _integral(s, np.cross(arms, line_force) + line_torque.T, breaks), arms[0]),
    ]
    for place, force, torque in [
        *((p.s, *_jump(p, q[:, int(np.argmin(np.abs(s - p.s)))]).reshape(2, 3)) for p in rod.points),
        *supports,
    ]:
        i = int(np.argmin(np.abs(s - place)))
        if abs(s[i] - place) > 1e-9 * rod.length:
            raise ValueError(f"no node at s = {place}")
        wrenches.append((force, torque, arms[i]))
    forces = np.array([np.asarray(f, dtype=float) for f, _, _ in wrenches])
    moments = np.array([np.asarray(t, dtype=float) + np.cross(x, f) for f, t, x in wrenches])
    floor_force, floor_moment = bending(rod) / rod.length**2, bending(rod) / rod.length
    return Balance(
        float(np.linalg.norm(forces.sum(axis=0)) / max(floor_force, np.linalg.norm(forces, axis=1).max())),
        float(np.linalg.norm(moments.sum(axis=0)) / max(floor_moment, np.linalg.norm(moments, axis=1).max())),
    )


def angle_between(rotation: np.ndarray, other: np.ndarray) -> float:
    """Angle of the rotation that takes one to the other."""
    return float(np.linalg.norm(log(np.asarray(rotation).T @ np.asarray(other))))
