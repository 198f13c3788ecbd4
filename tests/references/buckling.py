"""Critical loads of straight rods: the classical constants, and a numerical conjugate-point test that confirms them.

Length 1 and bending stiffness 1 unless said otherwise.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize_scalar

from .rods import Rod
from .rotation import quaternion_from_rotation, rotation_from_quaternion, skew

CLAMPED_FREE = np.pi**2 / 4
PINNED_PINNED = np.pi**2
CLAMPED_PINNED = brentq(lambda x: np.tan(x) - x, 4.4, 4.6, xtol=1e-15) ** 2  # 20.1907
CLAMPED_CLAMPED = 4 * np.pi**2


def greenhill(bend: float = 1.0, length: float = 1.0, shear: float = np.inf) -> float:
    """Critical twisting moment of a straight isotropic rod, both ends clamped and held a length apart, no tension.

    With the tilt theta and the deflection w as complex numbers, the cross force N uniform and no axial force,

        B theta' - i M theta = c - N s,    w' = theta + N/GA,    theta = w = 0 at s = -L/2, L/2.

    theta = d exp(i M s/B) + alpha + beta s with N = i M beta; the odd part of w then requires, with x = M L/(2 B),

        tan(x) (1 + x^2 B/(GA (L/2)^2)) = x,      x = 4.4934 (M = 8.9868 B/L) when the rod does not shear.

    The mode is double (it may lean either way).  Shear stiffness GA alike in both directions.
    """
    epsilon = 0.0 if np.isinf(shear) else 4.0 * bend / (shear * length**2)
    x = brentq(lambda t: np.sin(t) * (1 + epsilon * t * t) - t * np.cos(t), np.pi + 1e-9, 1.5 * np.pi, xtol=1e-15)
    return 2.0 * bend * x / length


def twisted_in_tension(tension: float) -> float:
    """Critical twisting moment of a straight clamped rod that is pulled: 2 sqrt(tension) for long ones (length 1, B 1).

    With the deflection w as a complex number and D = d/ds, D^4 w - i M D^3 w - T D^2 w = 0: w is made of 1, s and
    exp(i k s) with k = (M -+ sqrt(M^2 - 4 T))/2, and w = D w = 0 at both ends where the determinant vanishes.
    """

    def miss(moment: float) -> float:
        root = np.sqrt(moment**2 - 4.0 * tension)
        k = 0.5 * (moment + root), 0.5 * (moment - root)
        rows = [(1.0, s, *(np.exp(1j * x * s) for x in k)) for s in (-0.5, 0.5)]
        rows += [(0.0, 1.0, *(1j * x * np.exp(1j * x * s) for x in k)) for s in (-0.5, 0.5)]
        return float(abs(np.linalg.det(np.array(rows)))) / root

    moments = 2.0 * np.sqrt(tension) + np.linspace(1e-3, 9.0, 2000)
    values = np.array([miss(m) for m in moments])
    first = next(i for i in range(1, len(values)) if values[i] < values[i - 1] and values[i] < values[i + 1])
    found = minimize_scalar(miss, bounds=(moments[first - 1], moments[first + 1]), method="bounded")
    return float(found.x)


def heavy_column() -> float:
    """w L^3/EI at which a clamped-free column falls under its own weight (Greenhill 1881): 7.83735.

    theta'' = -w (1 - s) theta; with theta(0) = 0, theta'(1) = 0: the first zero of J_(-1/3)(2/3 sqrt(w)).
    """

    def clamp_angle(weight: float) -> float:
        path = solve_ivp(lambda t, y: [y[1], -weight * t * y[0]], (0, 1), [1.0, 0.0], rtol=1e-12, atol=1e-14)
        return float(path.y[0, -1])

    return brentq(clamp_angle, 5.0, 10.0, xtol=1e-10)


def clamped_column(bend: float, shear: float, stretch: float) -> float:
    """Critical axial force of a clamped-clamped column of length 1 that shears and shortens (Reissner's rod).

    With the axial stretch 1 - P/EA the tilt obeys B theta'' = -P (1 - P/EA + P/GA) theta, and the symmetric mode is
    sin(2 pi s):  P (1 - P/EA + P/GA) = 4 pi^2 B.  The smaller root.
    """
    slope = 1.0 / shear - 1.0 / stretch
    euler = CLAMPED_CLAMPED * bend
    return 2.0 * euler / (1.0 + np.sqrt(1.0 + 4.0 * slope * euler))


def jacobi_fields(rod: Rod, wrench: np.ndarray, places: np.ndarray) -> np.ndarray:
    """d(position, rotation at s)/d(base wrench), (places, 6, 6), about the state with this wrench in its base.

    The variations (dead loads, dR = [phi] R in the world) obey, with (du, dv) = S^-1 of the varied body stresses,

        phi' = R du,  dr' = phi x r' + R dv,  dm' = -dr' x n - r' x dn,  dn' = 0,
        varied stresses: R^T (dm + m x phi), R^T (dn + n x phi),

    integrated beside the state by DOP853 at rtol 1e-10.
    """
    compliance = np.linalg.inv(rod.stiffness)
    if compliance.shape == (3, 3):
        padded = np.zeros((6, 6))
        padded[:3, :3] = compliance
        compliance = padded
    dn = np.hstack([np.eye(3), np.zeros((3, 3))])

    def derivative(s: float, packed: np.ndarray) -> np.ndarray:
        y, fields = packed[:13, None], packed[13:].reshape(9, 6)
        phi, dm = fields[3:6], fields[6:]
        rate = rod.derivative(np.array([s]), y)
        slope, n, m = rate[:3, 0], y[7:10, 0], y[10:13, 0]
        rotation = rotation_from_quaternion(y[3:7, 0])
        stress = np.vstack([rotation.T @ (dm + skew(m) @ phi), rotation.T @ (dn + skew(n) @ phi)])
        strain = compliance @ stress
        dr_rate = -skew(slope) @ phi + rotation @ strain[3:]
        dm_rate = skew(n) @ dr_rate - skew(slope) @ dn
        return np.concatenate([rate[:, 0], dr_rate.ravel(), (rotation @ strain[:3]).ravel(), dm_rate.ravel()])

    start = np.concatenate([rod.base_position, quaternion_from_rotation(rod.base_rotation), wrench, np.zeros(54)])
    start[13 + 36 :] = np.hstack([np.zeros((3, 3)), np.eye(3)]).ravel()
    path = solve_ivp(derivative, (0.0, rod.length), start, "DOP853", t_eval=places, rtol=1e-10, atol=1e-13)
    return path.y[13:49].reshape(6, 6, -1).transpose(2, 0, 1)


def conjugate_points(rod: Rod, wrench: np.ndarray) -> int:
    """How often det(jacobi_fields) changes sign along the rod: the index of a pose-to-pose equilibrium.

    Zero means stable.  Smooth dead loads; not for straight inextensible rods, whose determinant vanishes everywhere.
    """
    places = rod.length * np.linspace(0.03, 1.0, 400)
    signs = np.sign(np.linalg.det(jacobi_fields(rod, wrench, places)))
    return int(np.count_nonzero(signs[1:] != signs[:-1]))
