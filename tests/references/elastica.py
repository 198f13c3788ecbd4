"""Planar inextensible elastica: end loads by elliptic integrals, weight by multi-domain Chebyshev collocation.

The plane is (x, y); theta is the angle of the tangent from x.  Length 1, bending stiffness 1: lengths are in L, forces
in EI/L^2, moments in EI/L, energies in EI/L.
"""

from __future__ import annotations

from dataclasses import dataclass

import mpmath as mp
import numpy as np
from scipy.sparse import csc_matrix, lil_matrix
from scipy.sparse.linalg import spsolve

DIGITS = 40


@dataclass(frozen=True)
class Tip:
    """Where a planar rod ends, and the curvature theta' at its clamp."""

    x: float
    y: float
    theta: float
    base_curvature: float


def _in_plane(along: mp.mpf, sideways: mp.mpf, load_angle: mp.mpf) -> tuple[float, float]:
    c, s = mp.cos(load_angle), mp.sin(load_angle)
    return float(along * c - sideways * s), float(along * s + sideways * c)


def end_loaded(load: float, clamp_angle: float = 0.0, load_angle: float = -np.pi / 2) -> Tip:
    """Cantilever with a dead end force of size ``load`` = P L^2/EI along ``load_angle``.  Exact to 1e-14.

    With psi the angle between the tangent and the *reversed* load, psi'' = -P sin(psi): a pendulum.  The free end has
    psi' = 0, so with k = sin(psi_L/2) and sin(psi/2) = k sin(phi)

        sqrt(P) = K(k) - F(phi_0, k),        sin(phi_0) = sin(psi_0/2)/k,

    solved for k by bisection in 40 digits; then the tip lies, along the load and across it, at

        1 - 2 (E(k) - E(phi_0, k))/sqrt(P)    and    psi'(0)/P.

    The branch without inflection (the natural one).  The load may not be parallel to the clamp.
    """
    with mp.workdps(DIGITS):
        force, root = mp.mpf(load), mp.sqrt(mp.mpf(load))
        across = mp.mpf(clamp_angle) - mp.mpf(load_angle)
        across = mp.atan2(mp.sin(across), mp.cos(across))  # angle of the clamp from the load
        side = mp.sign(across)
        psi_base = mp.pi - abs(across)
        smallest = mp.sin(psi_base / 2)

        def excess(log_gap: mp.mpf) -> mp.mpf:
            k = 1 - mp.exp(log_gap)
            return mp.ellipk(k**2) - mp.ellipf(mp.asin(min(smallest / k, 1)), k**2) - root

        low, high = mp.log(10) * (-DIGITS + 5), mp.log(1 - smallest)
        for _ in range(DIGITS * 4):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        k = 1 - mp.exp((low + high) / 2)
        phi_base = mp.asin(smallest / k)
        psi_tip = 2 * mp.asin(k)
        slope = mp.sqrt(2 * force * (mp.cos(psi_base) - mp.cos(psi_tip)))
        along = 1 - 2 * (mp.ellipe(k**2) - mp.ellipe(phi_base, k**2)) / root
        x, y = _in_plane(along, side * slope / force, mp.mpf(load_angle))
        return Tip(x, y, float(mp.mpf(clamp_angle) - side * (psi_tip - psi_base)), float(-side * slope))


def follower_end_loaded(load: float, angle: float, clamp_angle: float = 0.0) -> Tip:
    """Cantilever with an end force that keeps ``angle`` (in (0, pi)) from the tip's tangent.  Exact to 1e-14.

    The pendulum of ``end_loaded`` with its end known instead of its start: k = cos(angle/2) and
    phi_0 = am(K(k) - sqrt(P), k).  The force is turned by +``angle`` from the tangent.
    """
    with mp.workdps(DIGITS):
        force, root = mp.mpf(load), mp.sqrt(mp.mpf(load))
        k = mp.cos(mp.mpf(angle) / 2)
        start = mp.ellipk(k**2) - root
        sn, cn = mp.ellipfun("sn", start, m=k**2), mp.ellipfun("cn", start, m=k**2)
        psi_base, psi_tip = 2 * mp.asin(k * sn), 2 * mp.asin(k)
        slope = 2 * root * k * cn

        # E(am(u), k) as the integral of dn^2: continuous for any load
        swept = mp.quad(lambda t: mp.ellipfun("dn", t, m=k**2) ** 2, mp.linspace(start, start + root, 9))
        along = 1 - 2 * swept / root
        # the load is ahead (anticlockwise) of the tangent: the tangent is at -theta from it
        load_angle = mp.mpf(clamp_angle) + (mp.pi - psi_base)
        x, y = _in_plane(along, -slope / force, load_angle)
        return Tip(x, y, float(mp.mpf(clamp_angle) + (psi_tip - psi_base)), float(slope))


@dataclass(frozen=True)
class Buckled:
    """A buckled column: its load, how far its ends have come together, its largest deflection and bending energy."""

    load: float
    shortening: float
    deflection: float
    energy: float
    tip_angle: float


def buckled(modulus: float, quarter_waves: int) -> Buckled:
    """Post-buckled column of ``quarter_waves`` quarter waves, modulus k = sin(psi_max/2).  Exact to 1e-14.

    One quarter wave: clamped-free (P_c = pi^2/4), deflection that of the tip.  Two: pinned-pinned (P_c = pi^2).  Four:
    clamped-clamped (P_c = 4 pi^2), deflection that of the middle.  With N quarter waves sqrt(P) = N K(k) and

        shortening = 2 (1 - E/K),   half amplitude = 2 k/sqrt(P),   energy = 2 P (E/K - 1 + k^2).

    The energy is the integral of (psi')^2/2 = 2 P k^2 cn^2.
    """
    with mp.workdps(DIGITS):
        k = mp.mpf(modulus)
        big_k, big_e = mp.ellipk(k**2), mp.ellipe(k**2)
        root = quarter_waves * big_k
        amplitude = 2 * k / root
        deflection = 2 * amplitude if quarter_waves == 4 else amplitude
        energy = 2 * root**2 * (big_e / big_k - 1 + k**2)
        return Buckled(
            float(root**2), float(2 * (1 - big_e / big_k)), float(deflection), float(energy), float(2 * mp.asin(k))
        )


def buckled_at_load(load: float, quarter_waves: int) -> Buckled:
    """The buckled column of ``buckled`` whose load is P L^2/EI = ``load`` (above the critical one)."""
    with mp.workdps(DIGITS):
        target = mp.sqrt(mp.mpf(load)) / quarter_waves
        low, high = mp.mpf(0), 1 - mp.mpf(10) ** (-DIGITS + 10)
        for _ in range(DIGITS * 4):
            middle = (low + high) / 2
            low, high = (middle, high) if mp.ellipk(middle**2) < target else (low, middle)
        return buckled((low + high) / 2, quarter_waves)


def buckled_at_shortening(shortening: float, quarter_waves: int) -> Buckled:
    """The buckled column of ``buckled`` whose ends have come together by ``shortening`` (in L)."""
    with mp.workdps(DIGITS):
        low, high = mp.mpf(0), 1 - mp.mpf(10) ** (-DIGITS + 10)
        for _ in range(DIGITS * 4):
            middle = (low + high) / 2
            value = 2 * (1 - mp.ellipe(middle**2) / mp.ellipk(middle**2))
            low, high = (middle, high) if value < shortening else (low, middle)
        return buckled((low + high) / 2, quarter_waves)


def _chebyshev(degree: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chebyshev-Lobatto points on [-1, 1] (ascending), differentiation matrix, Clenshaw-Curtis weights."""
    angles = np.pi * np.arange(degree + 1) / degree
    x = -np.cos(angles)
    c = np.ones(degree + 1)
    c[[0, -1]] = 2.0
    c *= (-1.0) ** np.arange(degree + 1)
    gaps = x[:, None] - x[None, :]
    d = (c[:, None] / c[None, :]) / (gaps + np.eye(degree + 1))
    d -= np.diag(d.sum(axis=1))
    orders = np.arange(degree + 1)
    moments = np.where(orders % 2 == 0, 2.0 / (1.0 - orders.astype(float) ** 2 + (orders == 1)), 0.0)
    weights = np.linalg.solve(np.cos(np.outer(orders, np.pi - angles)), moments)
    return x, d, weights


@dataclass(frozen=True)
class HeavyElastica:
    """Solution of the heavy elastica: tip, and theta, x, y at the collocation points ``s``."""

    tip: Tip
    s: np.ndarray
    theta: np.ndarray
    x: np.ndarray
    y: np.ndarray
    residual: float


def heavy(weight: float, clamp_angle: float = 0.0, degree: int = 24) -> HeavyElastica:
    """Cantilever under its own weight, w L^3/EI = ``weight``, gravity along -y, reached by loading from zero.

        theta'' = w (1 - s) cos(theta),    theta(0) = clamp_angle,    theta'(1) = 0.

    Chebyshev collocation of theta on domains that grow in length away from the clamp (whose layer is 1/sqrt(w) thick);
    theta and theta' continuous; Newton, with the weight raised by 1.1 to 1.5 times a step, so that the natural branch
    is followed, on which theta goes from the clamp to -pi/2 and nowhere past either (checked).  Tip position to 1e-11
    up to w = 1e5: degrees 24 and 32 agree so, and scipy's ``solve_bvp`` (tol 1e-9) agrees to 1e-8.  clamp_angle in
    (-3 pi/2, pi/2).
    """
    layer = min(1.0, 1.0 / np.sqrt(max(weight, 1.0)))
    edges = [0.0, 1.0]
    if layer < 0.5:
        edges = [0.0]
        width = layer
        while edges[-1] + 1.7 * width < 1.0:
            edges.append(edges[-1] + width)
            width = min(1.5 * width, 0.12)
        edges.append(1.0)
    x, d, quadrature = _chebyshev(degree)
    domains = len(edges) - 1
    size = degree + 1
    halves = np.diff(edges) / 2.0
    s = np.concatenate([edges[k] + halves[k] * (x + 1.0) for k in range(domains)])

    # linear part: second derivative inside, the two ends, and continuity across domains
    linear = lil_matrix((domains * size, domains * size))
    inside = np.zeros(domains * size, dtype=bool)
    second = d @ d
    for k in range(domains):
        at = slice(k * size, (k + 1) * size)
        linear[k * size + 1 : (k + 1) * size - 1, at] = second[1:-1] / halves[k] ** 2
        inside[k * size + 1 : (k + 1) * size - 1] = True
        if k + 1 < domains:
            last, first = (k + 1) * size - 1, (k + 1) * size
            linear[last, last], linear[last, first] = 1.0, -1.0
            linear[first, at] = d[-1] / halves[k]
            linear[first, (k + 1) * size : (k + 2) * size] = -d[0] / halves[k + 1]
    linear[0, 0] = 1.0
    linear[-1, (domains - 1) * size :] = d[-1] / halves[-1]
    linear = csc_matrix(linear)
    right = np.zeros(domains * size)
    right[0] = clamp_angle

    theta = np.full(domains * size, float(clamp_angle))
    present = 0.0
    while present < weight:
        present = min(weight, max((1.1 if present < 60.0 else 1.5) * present, 0.5))
        for _ in range(40):
            load = np.where(inside, present * (1.0 - s), 0.0)
            defect = linear @ theta - right - load * np.cos(theta)
            jacobian = linear + csc_matrix((load * np.sin(theta), (range(s.size), range(s.size))), shape=linear.shape)
            step = spsolve(jacobian, -defect)
            theta = theta + step
            if np.abs(step).max() < 1e-10:  # quadratic: the next would be below round-off
                break
        else:
            raise ArithmeticError(f"heavy elastica: Newton stalled at weight {present}")

    low, high = sorted((float(clamp_angle), -np.pi / 2))
    if theta.min() < low - 1e-9 or theta.max() > high + 1e-9:
        raise ArithmeticError(f"heavy elastica: left the natural branch, theta {theta.min()} to {theta.max()}")

    # positions: integrate cos and sin on each domain by solving d(position) = value, exact for the interpolant
    integrate = np.zeros((size, size))
    integrate[1:, :] = np.linalg.solve(d[1:, 1:], np.eye(size)[1:, :])
    px, py = np.empty_like(s), np.empty_like(s)
    ax = ay = 0.0
    for k in range(domains):
        at = slice(k * size, (k + 1) * size)
        px[at] = ax + halves[k] * (integrate @ np.cos(theta[at]))
        py[at] = ay + halves[k] * (integrate @ np.sin(theta[at]))
        ax += halves[k] * (quadrature @ np.cos(theta[at]))
        ay += halves[k] * (quadrature @ np.sin(theta[at]))
    curvature = float(d[0] @ theta[:size] / halves[0])
    return HeavyElastica(
        Tip(float(ax), float(ay), float(theta[-1]), curvature), s, theta, px, py, float(np.abs(step).max())
    )
