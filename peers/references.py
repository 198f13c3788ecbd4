"""Reference values of the six tasks, by methods that none of the compared programs uses.

Boundary value problems of the geometrically exact rod by collocation (SciPy's ``solve_bvp``), a transfer matrix for
frequencies and Lagrange's equations of a few modes for what the amplitude changes of these, the elastic pendulum by an
adaptive Runge–Kutta method of order 8. Nothing of sennit is used here.

A rod's stiffness comes as `Stiffness`; infinite axial or shear stiffness gives the inextensible or unshearable model,
so that each program is held against the model that it claims to solve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.integrate import solve_bvp, solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

from peers.scripts.measures import frequency_error

__all__ = [
    "Stiffness",
    "bridge",
    "cable_swing",
    "cantilever_frequency",
    "elongation",
    "heavy_cantilever",
    "pose_to_pose",
    "swing_frequency",
    "swing_of_tip",
]

Array = np.ndarray[Any, np.dtype[np.float64]]

_BETAS = (1.875104068711961, 4.694091132974174, 7.854757438237613, 10.995540734875467)
"""Roots of cos β cosh β = −1, which a cantilever's modes have."""


@dataclass(frozen=True, slots=True)
class Stiffness:
    """Compliances of a round rod: bending EI (N·m²) and twist GJ (N·m²), and 1/EA, 1/kGA (1/N), 0 for rigid."""

    EI: float
    GJ: float
    stretch: float = 0.0
    shear: float = 0.0

    @classmethod
    def of_circle(
        cls, radius: float, youngs: float, shear_modulus: float, *, extensible: bool = False, k: float | None = None
    ) -> Stiffness:
        """Of a disc: `radius` (m), moduli (Pa); `extensible` or not; `k` is the shear factor, None for no shear."""
        area, inertia = math.pi * radius**2, 0.25 * math.pi * radius**4
        return cls(
            EI=youngs * inertia,
            GJ=shear_modulus * 2.0 * inertia,
            stretch=1.0 / (youngs * area) if extensible else 0.0,
            shear=0.0 if k is None else 1.0 / (k * shear_modulus * area),
        )


def _solved(rhs: Any, ends: Any, mesh: Array, guess: Array, parameters: Array | None, tolerance: float) -> Any:
    solution = solve_bvp(rhs, ends, mesh, guess, p=parameters, tol=tolerance, max_nodes=200_000)
    if not solution.success:
        raise RuntimeError(f"reference: {solution.message}")
    return solution


def _strained(angle: Array, horizontal: Array | float, vertical: Array | float, rod: Stiffness) -> tuple[Array, Array]:
    """x′ and z′ of a planar rod whose section is turned by `angle` (rad) under the internal force (N)."""
    c, s = np.cos(angle), np.sin(angle)
    along = 1.0 + rod.stretch * (horizontal * c + vertical * s)
    across = rod.shear * (vertical * c - horizontal * s)
    return along * c - across * s, along * s + across * c


def heavy_cantilever(length: float, weight: float, rod: Stiffness, *, tolerance: float = 1e-10) -> Array:
    """Tip (x, z), m, of a rod clamped horizontally at the origin under `weight` (N/m of rest length)."""

    def rhs(scale: float) -> Any:
        def inner(s: Array, y: Array) -> Array:
            vertical = -scale * weight * (length - s)
            dx, dz = _strained(y[0], 0.0, vertical, rod)
            return np.vstack((y[1] / rod.EI, -dx * vertical, dx, dz))

        return inner

    def ends(a: Array, b: Array) -> Array:
        return np.array((a[0], b[1], a[2], a[3]))

    mesh, state = np.linspace(0.0, length, 201), np.zeros((4, 201))
    state[2] = mesh
    load = weight * length**3 / rod.EI
    steps = np.geomspace(min(1.0, load), load, 10) / load
    for scale in steps:
        solution = _solved(rhs(scale), ends, mesh, state, None, tolerance if scale == steps[-1] else 1e-4)
        mesh, state = solution.x, solution.y
    return np.array(state[2:, -1])


def cantilever_frequency(
    length: float, rod: Stiffness, mass_per_length: float, *, rotary: float = 0.0, mode: int = 1
) -> float:
    """Frequency (Hz) of a straight cantilever; `rotary`: ρI (kg·m), 0 for Euler–Bernoulli's beam; small motion.

    w′ = ψ + V/kGA, ψ′ = M/EI, V′ = −ρA ω² w, M′ = −V − ρI ω² ψ: the determinant of the free end's two rows is zero.
    """

    def determinant(omega: float) -> float:
        matrix = np.zeros((4, 4))
        matrix[0, 1], matrix[0, 2], matrix[1, 3] = 1.0, rod.shear, 1.0 / rod.EI
        matrix[2, 0], matrix[3, 2], matrix[3, 1] = -mass_per_length * omega**2, -1.0, -rotary * omega**2
        return float(np.linalg.det(expm(length * matrix)[2:, 2:]))

    thin = _BETAS[mode - 1] ** 2 * math.sqrt(rod.EI / (mass_per_length * length**4))
    return float(brentq(determinant, 0.9 * thin, 1.02 * thin, xtol=1e-13 * thin)) / (2.0 * math.pi)


def swing_frequency(gravity: float, times: Array) -> float:
    """First frequency of a cantilever that swings by more than nothing, over that of one that swings by nothing.

    A rod that can't stretch, of unit length, mass per length and bending stiffness: `gravity` is in units of EI/(m L³),
    `times` in units of L² √(m/EI). It is let go straight. What is fitted to the tip's height is the same as for the
    programs that are compared (`measures`), and both runs are fitted: what the fit itself misses is the same in both.
    """
    frequency = _BETAS[0] ** 2 / (2.0 * math.pi)
    scale = 1e-3
    large, small = swing_of_tip(gravity, times), swing_of_tip(scale * gravity, times) / scale
    found, limit = (1.0 + frequency_error(times, heights, frequency)[0] for heights in (large, small))
    return found / limit


def swing_of_tip(gravity: float, times: Array, *, first: float = 0.0, points: int = 40) -> Array:
    """Heights of the tip of the rod of `swing_frequency`, let go straight or (`first`) in its first mode, half as high.

    The angle of its tangent is a sum of the modes' slopes, θ = Σ q φ′, with x′ = cos θ and z′ = sin θ; q follows from
    Lagrange's equations. Integrals along the rod by Gauss's rule, in time by a Runge–Kutta method.
    """
    legendre = np.polynomial.legendre
    nodes, weights = legendre.leggauss(points)
    s, weights = 0.5 * (nodes + 1.0), 0.5 * weights
    # Integral from 0 to each node of the polynomial through values at all nodes.
    primitives = np.stack([legendre.legval(nodes, legendre.legint(row, lbnd=-1)) for row in np.eye(points)], axis=1)
    until = 0.5 * primitives @ np.linalg.inv(legendre.legvander(nodes, points - 1))
    slope, bend = np.empty((2, points, len(_BETAS)))
    for i, b in enumerate(_BETAS):
        k = (math.cosh(b) + math.cos(b)) / (math.sinh(b) + math.sin(b))
        slope[:, i] = b * (np.sinh(b * s) + np.sin(b * s) - k * (np.cosh(b * s) - np.cos(b * s)))
        bend[:, i] = b * b * (np.cosh(b * s) + np.cos(b * s) - k * (np.sinh(b * s) + np.sin(b * s)))
    stiffness = bend.T @ (weights[:, None] * bend)
    count = len(_BETAS)

    def rhs(t: float, y: Array) -> Array:
        angle, rate = slope @ y[:count], slope @ y[count:]
        c, d = np.cos(angle), np.sin(angle)
        # ẋ = X q̇, ż = Z q̇, and what is left of the accelerations where q̈ = 0
        X, Z = -until @ (d[:, None] * slope), until @ (c[:, None] * slope)
        ax, az = -until @ (c * rate**2), -until @ (d * rate**2)
        mass = X.T @ (weights[:, None] * X) + Z.T @ (weights[:, None] * Z)
        force = -stiffness @ y[:count] - X.T @ (weights * ax) - Z.T @ (weights * (az + gravity))
        return np.concatenate((y[count:], np.linalg.solve(mass, force)))

    start = np.zeros(2 * count)
    start[0] = first
    solution = solve_ivp(rhs, (0.0, times[-1]), start, method="DOP853", rtol=1e-12, atol=1e-15, t_eval=times)
    if not solution.success:
        raise RuntimeError(f"reference: {solution.message}")
    return np.asarray(weights @ np.sin(slope @ solution.y[:count]))


def elongation(length: float, stretch_stiffness: float, load: float, gravity: float, mass: float = 0.0) -> float:
    """Static elongation (m) of a hanging cable of `mass` (kg) with `load` (kg) at its end; EA in N."""
    return (load + 0.5 * mass) * gravity * length / stretch_stiffness


def cable_swing(
    length: float,
    stretch_stiffness: float,
    load: float,
    gravity: float,
    amplitude: float,
    mass: float = 0.0,
    duration: float = 10.0,
) -> tuple[float, float]:
    """Period (s) of a point load on a cable, and its mean elongation (m) over `duration` (s).

    It is let go at rest at `amplitude` (rad) with its static elongation. Without mass: the elastic pendulum,
    integrated. With mass: times the ratio of the first small swing of a hanging string with a load to that of the load
    alone, both from the linear equation of the string.
    """
    start = length + elongation(length, stretch_stiffness, load, gravity)
    spring = stretch_stiffness / length

    def rhs(t: float, y: Array) -> Array:
        long = math.hypot(y[0], y[1])
        pull = spring * (long - length) / (load * long)
        return np.array((y[2], y[3], -pull * y[0], -pull * y[1] - gravity, long - length))

    def crossing(t: float, y: Array) -> float:
        return float(y[0])

    state = np.array((start * math.sin(amplitude), -start * math.cos(amplitude), 0.0, 0.0, 0.0))
    guess = 2.0 * math.pi * math.sqrt(start / gravity)
    end = max(duration, 2.4 * guess)
    motion = solve_ivp(
        rhs, (0.0, end), state, method="DOP853", rtol=1e-12, atol=1e-13, events=crossing, t_eval=(duration,)
    )
    times = motion.t_events[0]
    period = float(times[4] - times[0]) / 2.0
    mean = float(motion.y[4, 0]) / duration
    if mass == 0.0:
        return period, mean
    # The massive cable is longer by its own elongation, and its mass swings along: ratio of linear frequencies.
    more = elongation(length, stretch_stiffness, 0.0, gravity, mass)
    ratio = _string_frequency(start, load, 0.0, gravity) / _string_frequency(start + more, load, mass, gravity)
    return period * ratio, mean + more


def _string_frequency(length: float, load: float, mass: float, gravity: float) -> float:
    """First small swing (rad/s) of a string of `mass` with `load` at its end, pinned at its top."""
    if mass == 0.0:
        return math.sqrt(gravity / length)

    def miss(omega: float) -> float:
        def rhs(s: float, y: Array) -> Array:  # y = (w, T w′), T the weight of what hangs below s
            tension = gravity * (load + mass * (1.0 - s / length))
            return np.array((y[1] / tension, -mass / length * omega**2 * y[0]))

        end = solve_ivp(rhs, (0.0, length), (0.0, load * gravity), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
        return float(end[1] - load * omega**2 * end[0])

    near = math.sqrt(gravity / length)
    return float(brentq(miss, 0.9 * near, 1.2 * near, xtol=1e-14))


def bridge(
    length: float, span: float, weight: float, places: Array, forces: Array, rod: Stiffness | None, stretch: float = 0.0
) -> float:
    """Sag (m) at the middle of a rope pinned at two ends of equal height, loaded symmetrically.

    `length` (m) at rest, `span` (m), `weight` (N/m), point `forces` (N, downwards) at the rest lengths `places`, one of
    them the middle. `rod` is its stiffness; None for a string that does not bend, with 1/EA = `stretch`.
    """
    half = 0.5 * length
    before = places < half - 1e-9
    middle = float(forces[~before][0])
    knots = np.concatenate(((0.0,), places[before], (half,)))
    jumps = np.concatenate((forces[before], (0.0,)))
    pieces = len(knots) - 1
    # V at the left end of each piece: what hangs between it and the middle, and half of the middle's load.
    below = np.array([weight * (half - knots[i]) + jumps[i:].sum() + 0.5 * middle for i in range(pieces)])

    def shape(pull: float) -> tuple[Array, Array, Array]:
        """Angles, x and z of the string under the horizontal tension `pull`, at 41 places of each piece."""
        angles, xs, zs = [], [], []
        x = z = 0.0
        for i in range(pieces):
            s = np.linspace(0.0, knots[i + 1] - knots[i], 41)
            force = np.hypot(pull, below[i] - weight * s)
            grow = (1.0 + stretch * force) / force
            dx, dz = grow * pull, -grow * (below[i] - weight * s)
            step = s[1] - s[0]
            cum = [np.concatenate(((0.0,), np.cumsum(0.5 * step * (d[1:] + d[:-1])))) for d in (dx, dz)]
            angles.append(np.arctan2(dz, dx))
            xs.append(x + cum[0])
            zs.append(z + cum[1])
            # Ends by Gauss's rule: exact to rounding on these smooth pieces.
            nodes, weights = np.polynomial.legendre.leggauss(20)
            g = 0.5 * s[-1] * (nodes + 1.0)
            force = np.hypot(pull, below[i] - weight * g)
            grow = (1.0 + stretch * force) / force
            x += 0.5 * s[-1] * float(weights @ (grow * pull))
            z -= 0.5 * s[-1] * float(weights @ (grow * (below[i] - weight * g)))
            xs[-1][-1], zs[-1][-1] = x, z
        return np.array(angles), np.array(xs), np.array(zs)

    if rod is not None:
        stretch = rod.stretch
    pull = float(brentq(lambda h: shape(h)[1][-1, -1] - 0.5 * span, 1e-3 * below[0], 50.0 * below[0], xtol=1e-12))
    angles, xs, zs = shape(pull)
    if rod is None:
        return -float(zs[-1, -1])

    sizes = np.diff(knots)
    law = rod

    def rhs(t: Array, y: Array, p: Array) -> Array:  # all pieces side by side, each over t in [0, 1]
        out = np.empty_like(y)
        for i in range(pieces):
            angle, moment = y[4 * i], y[4 * i + 1]
            vertical = -(below[i] - weight * sizes[i] * t)
            dx, dz = _strained(angle, p[0], vertical, law)
            out[4 * i] = sizes[i] * moment / law.EI
            out[4 * i + 1] = -sizes[i] * (dx * vertical - dz * p[0])
            out[4 * i + 2], out[4 * i + 3] = sizes[i] * dx, sizes[i] * dz
        return out

    def ends(a: Array, b: Array, p: Array) -> Array:
        rows = [a[1], a[2], a[3], b[4 * pieces - 4], b[4 * pieces - 2] - 0.5 * span]
        for i in range(1, pieces):
            rows += [a[4 * i + j] - b[4 * i - 4 + j] for j in range(4)]
        return np.array(rows)

    t = np.linspace(0.0, 1.0, 41)
    guess = np.zeros((4 * pieces, 41))
    for i in range(pieces):
        guess[4 * i], guess[4 * i + 2], guess[4 * i + 3] = angles[i], xs[i], zs[i]
    solution = _solved(rhs, ends, t, guess, np.array([pull]), 1e-9)
    return -float(solution.y[-1, -1])


def pose_to_pose(
    length: float, base: Array, tips: list[tuple[Array, Array]], rod: Stiffness, *, steps: int = 6
) -> list[tuple[Array, Array, Array]]:
    """Middle (3,), m, tip force (N) and tip torque (N·m) of a weightless rod clamped at both ends, for each tip.

    `base`: directors d1, d2, d3 as columns at the origin, d3 the tangent. `tips`: position and directors of each; the
    first is reached from the straight rod along a straight path with an even turn, the next ones from the one before.
    A straight rod that can't stretch leaves its tension open: on the way the rod is soft in stretching, at the end not.
    """

    def rhs(s: Array, y: Array, stretch: float) -> Array:
        q, n, m = y[3:7], y[7:10], y[10:13]
        R = _matrices(q)
        local_n, local_m = np.einsum("jik,jk->ik", R, n), np.einsum("jik,jk->ik", R, m)
        strain = np.vstack((rod.shear * local_n[:2], 1.0 + stretch * local_n[2]))
        turn = np.vstack((local_m[:2] / rod.EI, local_m[2] / rod.GJ))
        dr = np.einsum("ijk,jk->ik", R, strain)
        dq = 0.5 * np.vstack((-np.sum(q[1:] * turn, axis=0), q[0] * turn + np.cross(q[1:], turn, axis=0)))
        return np.vstack((dr, dq, np.zeros_like(n), -np.cross(dr, n, axis=0)))

    start = _quaternion(base)
    mesh = np.linspace(0.0, length, 101)
    state = np.zeros((13, 101))
    state[:3] = np.outer(base[:, 2], mesh)
    state[3:7] = start[:, None]
    position, turned = length * base[:, 2], base
    soft = 0.01 * length**2 / rod.EI
    answers = []
    for place, frame in tips:
        relative = _rotation_vector(turned.T @ frame)
        for step in range(1, steps + 2):
            part = min(step / steps, 1.0)
            goal_r = position + part * (place - position)
            goal_R = turned @ _from_vector(part * relative)

            def ends(a: Array, b: Array, goal_r: Array = goal_r, goal_R: Array = goal_R) -> Array:
                miss = goal_R.T @ _matrices(b[3:7, None])[:, :, 0]
                axial = np.array((miss[2, 1] - miss[1, 2], miss[0, 2] - miss[2, 0], miss[1, 0] - miss[0, 1]))
                return np.concatenate((a[:3], a[3:7] - start, b[:3] - goal_r, axial))

            last = step > steps
            law = partial(rhs, stretch=rod.stretch if last else max(soft, rod.stretch))
            solution = _solved(law, ends, mesh, state, None, 1e-9 if last else 1e-4)
            mesh, state = solution.x, solution.y
        position, turned = place, frame
        answers.append((np.array(solution.sol(0.5 * length)[:3]), state[7:10, -1].copy(), state[10:13, -1].copy()))
        mesh, state = np.linspace(0.0, length, 101), solution.sol(np.linspace(0.0, length, 101))
    return answers


def _matrices(q: Array) -> Array:
    """Rotation matrices (3, 3, k) of quaternions (4, k), scalar first."""
    w, x, y, z = q / np.linalg.norm(q, axis=0)
    return np.array(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        )
    )


def _quaternion(matrix: Array) -> Array:
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(matrix).as_quat()
    return np.array((w, x, y, z))


def _rotation_vector(matrix: Array) -> Array:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(matrix).as_rotvec())


def _from_vector(vector: Array) -> Array:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_rotvec(vector).as_matrix())
