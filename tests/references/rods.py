"""Spatial Cosserat rods, base clamped, by scipy: boundary value problems and initial value problems.

Written in the world frame with a quaternion q for R(s) (13 unknowns r, q, n, m):

    r' = R v,    q' = q (0, u)/2,    n' = -f,    m' = -r' x n - t,        (u - u^, v - v^) = S^-1 (R^T m, R^T n)

with S the (6, 6) stiffness, bending and twist first; an inextensible rod has v = v^ and u - u^ = K^-1 R^T m.  Three
ways to solve it, which check one another:

``solve_bvp``   scipy's adaptive collocation, with load continuation where asked; 1e-11 at its tolerance of 1e-10.
``shoot``       Newton on the base wrench over DOP853 at rtol 1e-13: the independent check of the first, 1e-11 for loads
                that do not amplify (forces below some 30 EI/L^2).
``sweep_back``  follower loads only: an initial value problem from the tip, DOP853, 1e-12.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import integrate

from .rotation import log, quaternion_from_rotation, rotation_from_quaternion

Field = Callable[[np.ndarray], np.ndarray]  # (k,) places -> (3, k)


def constant(value: Sequence[float]) -> Field:
    """A field that does not depend on s."""
    column = np.asarray(value, dtype=float).reshape(3, 1)
    return lambda s: np.broadcast_to(column, (3, np.size(s)))


@dataclass(frozen=True)
class Point:
    """A load at one place; ``follower`` means that it is given in the local frame."""

    s: float
    force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    torque: tuple[float, float, float] = (0.0, 0.0, 0.0)
    follower: bool = False


@dataclass(frozen=True)
class Rod:
    """What is solved: a rod, its clamp at the base, its loads."""

    length: float
    stiffness: np.ndarray  # (6, 6), or (3, 3) for a rod that neither shears nor stretches; at its base, if it varies
    rest_curvature: Field = field(default_factory=lambda: constant((0, 0, 0)))
    rest_stretch: Field = field(default_factory=lambda: constant((0, 0, 1)))
    base_position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    base_rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    tip_force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    tip_torque: tuple[float, float, float] = (0.0, 0.0, 0.0)
    follower: bool = False
    force: Field = field(default_factory=lambda: constant((0, 0, 0)))
    torque: Field = field(default_factory=lambda: constant((0, 0, 0)))
    line_follower: bool = False
    dead_force: Field = field(default_factory=lambda: constant((0, 0, 0)))  # a weight beside follower line loads
    points: tuple[Point, ...] = ()
    along: Callable[[np.ndarray], np.ndarray] | None = None  # (k,) places -> (k, n, n), of a stiffness that varies

    def scaled(self, factor: float) -> Rod:
        """The same rod with all loads multiplied."""
        force, torque, dead = self.force, self.torque, self.dead_force
        return replace(
            self,
            tip_force=tuple(factor * np.asarray(self.tip_force)),
            tip_torque=tuple(factor * np.asarray(self.tip_torque)),
            force=lambda s: factor * force(s),
            torque=lambda s: factor * torque(s),
            dead_force=lambda s: factor * dead(s),
            points=tuple(
                replace(p, force=tuple(factor * np.asarray(p.force)), torque=tuple(factor * np.asarray(p.torque)))
                for p in self.points
            ),
        )

    def strains(self, s: np.ndarray, body_moment: np.ndarray, body_force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """u and v, (3, k) each, from the stresses in the body frame."""
        stress = body_moment
        if self.stiffness.shape == (6, 6):
            stress = np.concatenate([body_moment, body_force])
        if self.along is None:
            strain = np.linalg.inv(self.stiffness) @ stress
        else:
            columns = np.linalg.solve(self.along(np.atleast_1d(s)), stress.reshape(len(stress), -1).T[..., None])
            strain = columns[..., 0].T.reshape(stress.shape)
        if self.stiffness.shape == (3, 3):
            return self.rest_curvature(s) + strain, self.rest_stretch(s) + 0.0 * body_force
        return self.rest_curvature(s) + strain[:3], self.rest_stretch(s) + strain[3:]

    def derivative(self, s: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Right-hand side of the equations above, for y (13, k)."""
        q, n, m = y[3:7], y[7:10], y[10:13]
        u, v = self.strains(s, _unturn(q, m), _unturn(q, n))
        slope = _turn(q, v)
        force, torque = self.force(s), self.torque(s)
        if self.line_follower:
            force, torque = _turn(q, force), _turn(q, torque)
        w, p = q[0], q[1:]
        spin = np.concatenate([-(p * u).sum(axis=0)[None], w * u + np.cross(p, u, axis=0)]) / 2
        return np.concatenate([slope, spin, -force - self.dead_force(s), -np.cross(slope, n, axis=0) - torque])


def _turn(q: np.ndarray, a: np.ndarray) -> np.ndarray:
    """R(q) a for (4, k), (3, k), with q normalised."""
    q = q / np.sqrt((q * q).sum(axis=0))
    t = 2.0 * np.cross(q[1:], a, axis=0)
    return a + q[0] * t + np.cross(q[1:], t, axis=0)


def _unturn(q: np.ndarray, a: np.ndarray) -> np.ndarray:
    return _turn(np.concatenate([q[:1], -q[1:]]), a)


@dataclass(frozen=True)
class Solution:
    """The rod at the places ``s``: positions and so on as the library gives them, world frame."""

    s: np.ndarray
    positions: np.ndarray
    rotations: np.ndarray
    forces: np.ndarray
    moments: np.ndarray
    defect: float  # what the tip conditions are missed by, or the largest relative residual

    @classmethod
    def from_columns(cls, s: np.ndarray, y: np.ndarray, defect: float) -> Solution:
        return cls(s, y[:3].T, rotation_from_quaternion(y[3:7].T), y[7:10].T, y[10:13].T, defect)


def _base(rod: Rod) -> np.ndarray:
    return np.concatenate([rod.base_position, quaternion_from_rotation(rod.base_rotation)])


def _tip_defect(rod: Rod, tip: np.ndarray) -> np.ndarray:
    """n and m at the tip less the applied wrench."""
    force, torque = np.asarray(rod.tip_force, dtype=float), np.asarray(rod.tip_torque, dtype=float)
    if rod.follower:
        q = tip[3:7, None]
        force, torque = _turn(q, force[:, None])[:, 0], _turn(q, torque[:, None])[:, 0]
    return np.concatenate([tip[7:10] - force, tip[10:13] - torque])


def _snapped(places: np.ndarray | None, rod: Rod) -> np.ndarray:
    """Places, those a rounding away from a point load put on it: its base side."""
    out = np.linspace(0.0, rod.length, 201) if places is None else np.array(places, dtype=float)
    for p in rod.points:
        out[np.abs(out - p.s) < 1e-9 * rod.length] = p.s
    return out


def _jump(p: Point, q: np.ndarray) -> np.ndarray:
    """The wrench (6,) that a point load applies, world frame."""
    jump = np.array([p.force, p.torque], dtype=float).T
    return (_turn(q[:, None], jump) if p.follower else jump).T.ravel()


def solve_bvp(
    rod: Rod, places: np.ndarray | None = None, tol: float = 1e-10, loads: Sequence[float] = (1.0,)
) -> Solution:
    """scipy.integrate.solve_bvp, from the rest shape, through the fractions ``loads`` of the load.

    Point loads cut the rod into pieces; their unknowns are stacked, each on its own [0, 1].
    """
    start = _base(rod)
    stops = np.array(sorted({0.0, rod.length, *(p.s for p in rod.points)}))
    pieces = stops.size - 1
    t = np.linspace(0.0, 1.0, 41 if pieces == 1 else 21)
    rest = replace(rod, stiffness=np.eye(3), points=(), along=None).scaled(0.0)
    path = integrate.solve_ivp(
        lambda s, x: rest.derivative(np.array([s]), x[:, None])[:, 0],
        (0.0, rod.length),
        np.concatenate([start, np.zeros(6)]),
        rtol=1e-8,
        atol=1e-10,
        dense_output=True,
    )
    y = np.concatenate([path.sol(stops[j] + t * (stops[j + 1] - stops[j])) for j in range(pieces)])

    for k, fraction in enumerate(loads):
        part = rod.scaled(fraction)

        def derivative(t: np.ndarray, y: np.ndarray, part: Rod = part) -> np.ndarray:
            spans = np.diff(stops)
            return np.concatenate(
                [spans[j] * part.derivative(stops[j] + t * spans[j], y[13 * j : 13 * j + 13]) for j in range(pieces)]
            )

        def conditions(a: np.ndarray, b: np.ndarray, part: Rod = part) -> np.ndarray:
            rows = [a[:7] - start]
            for j in range(1, pieces):
                left, right = b[13 * j - 13 : 13 * j], a[13 * j : 13 * j + 13].copy()
                for p in part.points:
                    if p.s == stops[j]:
                        right[7:] += _jump(p, left[3:7])
                rows.append(right - left)
            return np.concatenate([*rows, _tip_defect(part, b[-13:])])

        result = integrate.solve_bvp(
            derivative, conditions, t, y, tol=tol if k == len(loads) - 1 else 1e-4, max_nodes=40000
        )
        if not result.success:
            raise ArithmeticError(f"solve_bvp: {result.message} at {fraction} of the load")
        t, y = result.x, result.y

    places = _snapped(places, rod)
    columns = np.empty((13, places.size))
    piece = np.clip(np.searchsorted(stops, places, side="left") - 1, 0, pieces - 1)  # a stop: its base side
    for j in range(pieces):
        at = piece == j
        inner = (places[at] - stops[j]) / (stops[j + 1] - stops[j])
        columns[:, at] = result.sol(inner)[13 * j : 13 * j + 13]
    return Solution.from_columns(places, columns, float(result.rms_residuals.max()))


def _march(rod: Rod, y: np.ndarray, places: np.ndarray, backward: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """DOP853 through the point loads, for a stack of starts y (13, k) that share their steps.

    Returns the values at ``places`` (at a point load: on its base side), (13, k, places), and at the end, (13, k).
    """
    stops = sorted({0.0, rod.length, *(p.s for p in rod.points)}, reverse=backward)
    width = y.shape[1]
    columns = np.empty((13, width, places.size))
    for i, (a, b) in enumerate(zip(stops[:-1], stops[1:], strict=True)):
        low, high = min(a, b), max(a, b)
        inside = (places > low) & (places <= high) if low > 0.0 else (places >= low) & (places <= high)
        result = integrate.solve_ivp(
            lambda s, x: rod.derivative(np.full(width, s), x.reshape(13, width)).ravel(),
            (a, b),
            y.ravel(),
            method="DOP853",
            rtol=1e-13,
            atol=1e-14,
            t_eval=np.unique(np.concatenate([places[inside], [a, b]]))[:: -1 if backward else 1],
        )
        if not result.success:
            raise ArithmeticError(result.message)
        order = np.argsort(result.t)
        found = result.y[:, order][:, np.searchsorted(result.t[order], places[inside])]
        columns[:, :, inside] = found.reshape(13, width, -1)
        y = result.y[:, -1].reshape(13, width).copy()
        if i + 1 < len(stops) - 1:
            for p in rod.points:
                if p.s == b:
                    jump = np.column_stack([_jump(p, q) for q in y[3:7].T])
                    y[7:13] += jump if backward else -jump
    return columns, y


def shoot(
    rod: Rod, places: np.ndarray | None = None, loads: Sequence[float] = (1.0,), wrench: Sequence[float] = (0.0,) * 6
) -> Solution:
    """Single shooting: Newton on the six components of the base wrench, its Jacobian by central differences."""
    places = _snapped(places, rod)
    start = _base(rod)
    unknown = np.array(wrench, dtype=float)

    def miss(part: Rod, wrenches: np.ndarray) -> np.ndarray:
        stacked = np.concatenate([np.repeat(start[:, None], wrenches.shape[1], axis=1), wrenches])
        ends = _march(part, stacked, np.empty(0))[1]
        return np.column_stack([_tip_defect(part, end) for end in ends.T])

    for fraction in loads:
        part = rod.scaled(fraction)
        for _ in range(40):
            size = 1e-5 * max(1.0, np.abs(unknown).max())
            around = np.hstack([np.zeros((6, 1)), size * np.eye(6), -size * np.eye(6)])
            values = miss(part, unknown[:, None] + around)
            value, jacobian = values[:, 0], (values[:, 1:7] - values[:, 7:]) / (2 * size)
            step = np.linalg.solve(jacobian, -value)
            scales = 0.5 ** np.arange(8)
            trials = np.linalg.norm(miss(part, unknown[:, None] + np.outer(step, scales)), axis=0)
            unknown = unknown + scales[np.argmin(trials)] * step
            if np.abs(step).max() < 1e-9 * max(1.0, np.abs(unknown).max()):
                break
        else:
            raise ArithmeticError(f"shooting stalled at {np.abs(value).max()} with {fraction} of the load")
    columns, end = _march(rod, np.concatenate([start, unknown])[:, None], places)
    return Solution.from_columns(places, columns[:, 0], float(np.abs(_tip_defect(rod, end[:, 0])).max()))


def sweep_back(rod: Rod, places: np.ndarray | None = None) -> Solution:
    """Follower loads only: integrate from the tip, where the body-frame wrench is known, then move to the base.

    With every load in the body frame the tip's pose does not matter: take it as the identity, go back to s = 0, and
    carry the whole rod to the base by a rigid motion.
    """
    if not rod.follower or not (rod.line_follower or not np.any(rod.force(np.linspace(0, rod.length, 7)))):
        raise ValueError("sweep_back takes follower loads only")
    places = _snapped(places, rod)
    tip = np.concatenate([np.zeros(3), [1.0, 0.0, 0.0, 0.0], rod.tip_force, rod.tip_torque])
    columns, ends = _march(rod, tip[:, None], places, backward=True)
    base = ends[:, 0]
    raw = Solution.from_columns(places, columns[:, 0], 0.0)
    turn = np.asarray(rod.base_rotation) @ rotation_from_quaternion(base[3:7]).T
    return Solution(
        places,
        np.asarray(rod.base_position) + (raw.positions - base[:3]) @ turn.T,
        turn @ raw.rotations,
        raw.forces @ turn.T,
        raw.moments @ turn.T,
        abs(float(np.linalg.norm(base[3:7]) - 1.0)),
    )


def pose_error(position: np.ndarray, rotation: np.ndarray, other_position: np.ndarray, other: np.ndarray) -> float:
    """The larger of the distance and the angle between two poses."""
    angle = np.linalg.norm(log(np.asarray(rotation).T @ np.asarray(other)))
    return max(float(np.linalg.norm(np.asarray(position) - np.asarray(other_position))), float(angle))
