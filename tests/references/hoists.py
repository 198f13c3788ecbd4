"""Closed forms and accurate solutions of hoisting problems: numpy and scipy alone, nothing of the library.

Loads hang along -z, gravity is 9.81 m/s² unless given. Masses in kg, lengths in m, stiffness k in N/m of a whole cable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipk

G = 9.81
STEEL = 200e9  # N/m²


# --- one oscillator under the cable's own scheme: x'' = -w² x


def default_relaxation(omega: float, h: float) -> float:
    """tau = 2 h x⁴/(1 + x⁴), x = w h/2: next to nothing for what the step resolves, 2 h for what it cannot."""
    x4 = (omega * h / 2) ** 4
    return 2 * h * x4 / (1 + x4)


def spook_exponent(omega: float, h: float, tau: float) -> complex:
    """s of x = exp(s t) under x₊ - 2x + x₋ = -(w h)² ((x₊ + 2x + x₋)/4 + tau (x₊ - x)/h)."""
    w = (omega * h) ** 2
    return _exponent((1 + w / 4 + w * tau / h, -2 + w / 2 - w * tau / h, 1 + w / 4), h)


def backward_exponent(omega: float, h: float) -> complex:
    """s under x₊ - 2x + x₋ = -(w h)² x₊."""
    return _exponent((1 + (omega * h) ** 2, -2.0, 1.0), h)


def _exponent(polynomial: tuple[float, ...], h: float) -> complex:
    roots = np.roots(polynomial)
    return complex(np.log(roots[np.argmax(roots.imag)])) / h


def spook_period(omega: float, h: float) -> float:
    """2 pi over (2/h) atan(w h/2): the period without damping."""
    return np.pi * h / np.arctan(omega * h / 2)


def spook_motion(omega: float, h: float, tau: float, x0: float, v0: float, steps: int) -> np.ndarray:
    """Places after each of `steps` steps from x0 at velocity v0."""
    w, out = (omega * h) ** 2, np.empty(steps)
    x, before = x0, x0 - h * v0
    for k in range(steps):
        ahead = (2 * x - before - w * ((2 * x + before) / 4 - tau * x / h)) / (1 + w / 4 + w * tau / h)
        before, x = x, ahead
        out[k] = x
    return out


def fitted_exponent(values: np.ndarray, h: float) -> complex:
    """s of samples, `h` apart, of one decaying oscillation about zero: the recursion x₊ = a x - b x₋ that fits best."""
    y = np.asarray(values, dtype=float)
    a, b = np.linalg.lstsq(np.column_stack((y[1:-1], -y[:-2])), y[2:], rcond=None)[0]
    return _exponent((1.0, -a, b), h)


def upward_crossings(values: np.ndarray, h: float) -> np.ndarray:
    """Times at which samples at h, 2h, ... pass zero upwards, on the line between them."""
    y = np.asarray(values, dtype=float)
    k = np.flatnonzero((y[:-1] < 0) & (y[1:] >= 0))
    return h * (k + 1 + y[k] / (y[k] - y[k + 1]))


# --- pulleys


def atwood_acceleration(m1: float, m2: float, pulley: float = 0.0, g: float = G) -> float:
    """Downwards of m2; `pulley` is I/r²."""
    return (m2 - m1) * g / (m1 + m2 + pulley)


def atwood_tension(m1: float, m2: float, g: float = G) -> float:
    """Over a pulley without mass."""
    return 2 * m1 * m2 * g / (m1 + m2)


def capstan_acceleration(m1: float, m2: float, ratio: float, g: float = G) -> float:
    """Of m2 downwards, sliding over a fixed drum that makes its tension `ratio` times m1's; 0 if it holds."""
    if m2 > ratio * m1:
        return (m2 - ratio * m1) * g / (m2 + ratio * m1)
    if m1 > ratio * m2:
        return -(m1 - ratio * m2) * g / (m1 + ratio * m2)
    return 0.0


def tackle_sum(falls: int, ratio: float) -> float:
    """Sum of ratio^-k, k = 1 ... falls: what a pull of 1 lifts, each fall lower than the last by one sheave."""
    return float(sum(ratio**-k for k in range(1, falls + 1)))


def tackle_acceleration(pull: float, load: float, falls: int, ratio: float = 1.0, g: float = G) -> float:
    """Downwards of the mass `pull` on the free end; the load rises at 1/falls of it.

    pull (g - a) = T and load (g + a/falls) = T S with S = tackle_sum.
    """
    s = tackle_sum(falls, ratio)
    return (pull - load / s) * g / (pull + load / (s * falls))


def heavy_atwood(
    masses: tuple[float, float], inertia: float, radius: float, ways: tuple[float, float], stiffness: float,
    strain: float, end: float, g: float = G,
) -> np.ndarray:  # fmt: skip
    """Sinking of m1 and of m2 and turn of the wheel after the time `end`, then their rates, to 1e-11.

    A cable of EA = `stiffness` without mass over a wheel that it sticks to, let go with the same strain all over;
    `ways` are the lengths from the masses to one spoke of the wheel, which carries unstretched length r θ to m2's side.
    """
    m1, m2 = masses
    rest = np.array(ways) / (1 + strain)

    def rates(_t: float, y: np.ndarray) -> np.ndarray:
        run = np.array([-1.0, 1.0]) * radius * y[2]
        length = rest + run
        t1, t2 = stiffness * (np.array(ways) + y[:2] - length) / length
        return np.array([*y[3:], g - t1 / m1, g - t2 / m2, (t2 - t1) * radius / inertia])

    done = solve_ivp(rates, (0.0, end), np.zeros(6), method="DOP853", rtol=1e-11, atol=1e-12)
    return done.y[:, -1]


# --- swings


def pendulum_period(length: float, amplitude: float, g: float = G) -> float:
    """4 sqrt(l/g) K(sin²(amplitude/2))."""
    return 4 * np.sqrt(length / g) * float(ellipk(np.sin(amplitude / 2) ** 2))


def elastic_pendulum(
    mass: float, stiffness: float, length: float, place: tuple[float, float], times: np.ndarray, g: float = G
) -> np.ndarray:
    """Places (n, 2), x and z, of a point let go at `place` on a spring from the origin, to 1e-12."""
    start = np.array([*place, 0.0, 0.0])
    end = float(np.max(times))
    done = solve_ivp(
        lambda _t, y: np.concatenate([y[2:], elastic_acceleration(mass, stiffness, length, y[:2], g)]),
        (0.0, end), start, method="DOP853", rtol=1e-12, atol=1e-13, t_eval=np.atleast_1d(times),
    )  # fmt: skip
    return done.y[:2].T


def elastic_acceleration(mass: float, stiffness: float, length: float, place, g: float = G) -> np.ndarray:
    x = np.asarray(place, dtype=float)
    reach = np.hypot(*x)
    return np.array([0.0, -g]) - stiffness / mass * (reach - length) * x / reach


def ropeway_period(half_length: float, half_span: float, g: float = G) -> float:
    """Small swing of a ring on a cable between two anchors at one height: an ellipse, w² = g b/a²."""
    low = np.sqrt(half_length**2 - half_span**2)
    return 2 * np.pi * half_length / np.sqrt(g * low)


@dataclass(frozen=True)
class Peg:
    """A pendulum about the origin that comes to lie on a peg at (x, z), of `radius`, right of and below the origin."""

    length: float
    x: float
    z: float
    radius: float

    @property
    def reach(self) -> float:
        """From the origin to where the cable touches the peg."""
        return float(np.sqrt(self.x**2 + self.z**2 - self.radius**2))

    @property
    def touch(self) -> float:
        """Angle from hanging at which the straight cable touches."""
        return float(np.arctan2(self.x, -self.z) - np.arcsin(self.radius / np.hypot(self.x, self.z)))

    def free(self, angle: float) -> float:
        """Length of the span that ends at the bob."""
        if angle <= self.touch:
            return self.length
        return self.length - self.reach - self.radius * (angle - self.touch)

    def place(self, angle: float) -> np.ndarray:
        """The bob, x and z; `angle` is that of its span from hanging."""
        along, across = np.array([np.sin(angle), -np.cos(angle)]), np.array([-np.cos(angle), -np.sin(angle)])
        if angle <= self.touch:
            return self.length * along
        return np.array([self.x, self.z]) + self.radius * across + self.free(angle) * along

    def swing(self, angle: float, times: np.ndarray, g: float = G) -> np.ndarray:
        """Places (n, 2) at `times` after it was let go at `angle` < touch.

        With the span's angle a and length l:  l a'' + l' a'² + g sin a = 0,  l' = dl/da = -radius on the peg; as it
        touches and leaves, the bob's speed l a' goes on, and l jumps by `reach`.
        """
        out, now, state, on = np.empty((len(times), 2)), 0.0, np.array([angle, 0.0]), False
        end = float(times[-1])
        while True:

            def rate(_t, y, on=on):
                slope = -self.radius if on else 0.0
                span = self.length - self.reach - self.radius * (y[0] - self.touch) if on else self.length
                return [y[1], -(slope * y[1] ** 2 + g * np.sin(y[0])) / span]

            def switch(_t, y):
                return y[0] - self.touch

            switch.terminal, switch.direction = True, -1.0 if on else 1.0
            part = solve_ivp(rate, (now, end), state, method="DOP853", rtol=1e-11, atol=1e-12, events=switch,
                             dense_output=True)  # fmt: skip
            inside = np.flatnonzero((times >= now) & (times <= part.t[-1]))
            for k in inside:
                a = part.sol(times[k])[0]
                out[k] = self.place(max(a, self.touch + 1e-13) if on else min(a, self.touch))
            if part.status != 1:
                return out
            now, short = float(part.t[-1]), self.length - self.reach
            speed = part.y[1, -1] * (short if on else self.length)
            on = not on
            state = np.array([self.touch, speed / (short if on else self.length)])


# --- shocks and paths


def catch_peak(mass: float, stiffness: float, speed: float, g: float = G) -> float:
    """Greatest tension as a cable without slack left stops a load that falls at `speed`."""
    return mass * g + np.sqrt((mass * g) ** 2 + stiffness * mass * speed**2)


def sheave_path(p, q, centre, axis, radius: float, turns: int = 0) -> tuple[float, float]:
    """Length from p over the groove of a sheave to q, and angle of wrap, running about `axis` by the right-hand rule.

    Points beside the groove's plane: each span is the slant over its own shadow in that plane.
    """
    n = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    rel = [np.asarray(x, dtype=float) - np.asarray(centre, dtype=float) for x in (p, q)]
    aside = [float(x @ n) for x in rel]
    flat = [x - z * n for x, z in zip(rel, aside, strict=True)]
    reach = [float(np.linalg.norm(x)) for x in flat]
    between = np.arctan2(n @ np.cross(flat[0], flat[1]), flat[0] @ flat[1]) % (2 * np.pi)
    wrap = (between - sum(np.arccos(radius / d) for d in reach)) % (2 * np.pi) + 2 * np.pi * turns
    spans = [np.sqrt(d * d - radius**2 + z * z) for d, z in zip(reach, aside, strict=True)]
    return float(sum(spans) + radius * wrap), float(wrap)


def belt_span(distance: float, r1: float, r2: float, crossed: bool = False) -> float:
    """Straight part between two sheaves in one plane: both bent the same way, or (crossed) opposite ways."""
    return float(np.sqrt(distance**2 - (r1 + r2 if crossed else r1 - r2) ** 2))


def edges_path(d_first: float, d_last: float, along: float, between: float = 0.0) -> float:
    """Over one edge of a box, or two parallel ones `between` apart: the faces laid flat."""
    return float(np.hypot(d_first + between + d_last, along))


def cylinder_path(p, q, centre, axis, radius: float) -> float:
    """Shortest way round an endless smooth cylinder: the helix, laid flat."""
    n = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    rel = [np.asarray(x, dtype=float) - np.asarray(centre, dtype=float) for x in (p, q)]
    flat = [x - (x @ n) * n for x in rel]
    return float(np.hypot(_round(flat[0], flat[1], radius), (rel[1] - rel[0]) @ n))


def sphere_path(p, q, centre, radius: float) -> float:
    """Shortest way round a smooth ball: a great circle and two tangents."""
    return _round(*(np.asarray(x, dtype=float) - np.asarray(centre, dtype=float) for x in (p, q)), radius)


def _round(a: np.ndarray, b: np.ndarray, radius: float) -> float:
    """From a to b round a circle about the origin, in the plane of both, the shorter way; straight if it is clear."""
    d = np.array([np.linalg.norm(a), np.linalg.norm(b)])
    angle = np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)
    wrap = angle - np.arccos(radius / d).sum()
    if wrap <= 0.0:
        return float(np.linalg.norm(b - a))
    return float(np.sqrt(d**2 - radius**2).sum() + radius * wrap)


def transported_twist(first_director, last_director, directions) -> float:
    """Angle (-pi, pi] about the last of `directions` from `first_director`, carried along them, to `last_director`.

    Directions (n, 3) need not be unit; from each to the next the director takes the least rotation.
    """
    u = np.asarray(directions, dtype=float)
    u = u / np.linalg.norm(u, axis=1)[:, None]
    d = np.asarray(first_director, dtype=float)
    for a, b in zip(u[:-1], u[1:], strict=True):
        c = np.cross(a, b)
        d = d * (a @ b) + np.cross(c, d) + c * (c @ d) / (1 + a @ b)
    return float(np.arctan2(u[-1] @ np.cross(d, last_director), d @ last_director))
