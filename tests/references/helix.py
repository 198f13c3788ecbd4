"""Rods of uniform strain (helices, circles, twisted lines) and helical springs: closed forms, exact to round-off.

A uniform u, v is an equilibrium without distributed load when, in the body frame,

    u x n = 0,    u x m + v x n = 0.

So n = nu u, and m = mu u with nu = 0 when there is no force.  All stated for length L and stiffness K (3, 3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq

from .rotation import skew


def uniform(u: np.ndarray, v: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions (k, 3) and rotations (k, 3, 3) of a rod with constant u, v, base at the identity pose.

    The exponential of the 4x4 twist, by scipy's ``expm``.
    """
    twist = np.zeros((4, 4))
    twist[:3, :3], twist[:3, 3] = skew(u), v
    poses = np.stack([expm(float(x) * twist) for x in s])
    return poses[:, :3, 3], poses[:, :3, :3]


def under_end_moment(stiffness: np.ndarray, rest: np.ndarray, mu: float) -> tuple[np.ndarray, np.ndarray]:
    """Curvature u and body-frame moment m of a uniformly curved and twisted rod under an end moment along its axis.

    m = K (u - u^) parallel to u, m = mu u, hence u = (K - mu I)^-1 K u^, for any K.  The moment is the same vector
    mu R(0) u everywhere in the world: a dead end torque and a follower one give the same helix.
    """
    u = np.linalg.solve(stiffness - mu * np.eye(3), stiffness @ rest)
    return u, mu * u


@dataclass(frozen=True)
class Spring:
    """A helical spring loaded along its axis: strains, and what is applied at the tip (world frame, base at identity).

    ``force`` and ``torque`` act at the tip's centroid.  ``extension`` is how far the tip moved along the axis,
    ``turn`` the angle that it turned about it.
    """

    curvature: np.ndarray
    force: np.ndarray
    torque: np.ndarray
    axial_force: float
    axial_torque: float
    extension: float
    turn: float


def _spring(bend: float, twist: float, rest: np.ndarray, u: np.ndarray, length: float) -> Spring:
    """u = (0, kappa, tau), u^ = (0, kappa0, tau0), K = diag(bend, bend, twist), inextensible.

    u x m + nu (0, 0, 1) x u = 0 gives nu = (kappa m3 - tau m2)/kappa; the wrench's axial parts are nu |u| and m.u/|u|.
    """
    m = np.array([0.0, bend * (u[1] - rest[1]), twist * (u[2] - rest[2])])
    nu = (u[1] * m[2] - u[2] * m[1]) / u[1]
    size, rest_size = np.linalg.norm(u), np.linalg.norm(rest)
    tip = uniform(u, np.array([0.0, 0.0, 1.0]), np.array([length]))[1][0]
    return Spring(
        u,
        tip @ (nu * u),
        tip @ m,
        float(nu * size),
        float(m @ u / size),
        float(length * (u[2] / size - rest[2] / rest_size)),
        float(length * (size - rest_size)),
    )


def spring_by_strain(bend: float, twist: float, rest: np.ndarray, u: np.ndarray, length: float) -> Spring:
    """The non-linear spring that has been pulled and turned to curvature u = (0, kappa, tau)."""
    return _spring(bend, twist, np.asarray(rest, dtype=float), np.asarray(u, dtype=float), length)


def pulled_spring(bend: float, twist: float, rest: np.ndarray, length: float, axial_force: float) -> Spring:
    """The non-linear spring under a force along its axis and no torque about it (its end may turn).  1e-13.

    Bend kappa (kappa - kappa0) + twist tau (tau - tau0) = 0 gives kappa(tau); then one root in tau.
    """
    rest = np.asarray(rest, dtype=float)

    def at(tau: float) -> Spring:
        inside = rest[1] ** 2 - 4.0 * (twist / bend) * tau * (tau - rest[2])
        kappa = (rest[1] + np.sqrt(inside)) / 2.0
        return _spring(bend, twist, rest, np.array([0.0, kappa, tau]), length)

    # kappa is real below this tau
    limit = (rest[2] + np.sqrt(rest[2] ** 2 + bend / twist * rest[1] ** 2)) / 2.0
    root = brentq(lambda tau: at(tau).axial_force - axial_force, 0.0, limit, xtol=1e-16, rtol=1e-15)
    return at(root)


def spring_compliance(bend: float, twist: float, radius: float, pitch_angle: float, length: float) -> float:
    """Extension per axial force of a helical spring, to first order; its end may turn about the axis.

    The moment rho F e_phi has the twisting part rho F cos(alpha) and the bending part rho F sin(alpha), so

        delta/F = L rho^2 (cos^2(alpha)/GJ + sin^2(alpha)/EI).

    With L = 2 pi rho N/cos(alpha), alpha -> 0 and GJ = pi G d^4/32 this is delta = 8 F D^3 N/(G d^4).
    """
    return length * radius**2 * (np.cos(pitch_angle) ** 2 / twist + np.sin(pitch_angle) ** 2 / bend)


def helix_curvature(radius: float, pitch_angle: float) -> np.ndarray:
    """u^ = (0, kappa, tau) of a helix: kappa = cos^2(alpha)/rho, tau = sin(alpha) cos(alpha)/rho."""
    return np.array(
        [0.0, np.cos(pitch_angle) ** 2 / radius, np.sin(pitch_angle) * np.cos(pitch_angle) / radius], dtype=float
    )
