"""Small vectors, matrices and rotations as tuples of scalars, for use inside compiled loops.

Vectors are 3-tuples, matrices 9-tuples (row by row), quaternions 4-tuples (scalar first, unit). Nothing is allocated
and nothing loops, so that a loop over lanes that calls these functions can become vector instructions.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined
from sennit.lanes import where

# ---------------------------------------------------------------------------------------------- vectors and matrices


@inlined
def add3(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inlined
def sub3(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def scale3(k, a):
    return k * a[0], k * a[1], k * a[2]


@inlined
def dot3(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def cross3(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def wider(measure, a, b):
    """The larger of `measure` and that of the angle between a and b, which grows with it from 0 to 2: see `angle_of`.

    sin² up to a right angle, beyond it 2 − sin²: neither root nor arc tangent. NaN stays, so that no test against a
    limit passes.
    """
    across = cross3(a, b)
    share = dot3(across, across) / (dot3(a, a) * dot3(b, b))
    found = where(dot3(a, b) > 0.0, share, 2.0 - share)
    return where((found > measure) | (found != found), found, measure)


@inlined
def angle_of(measure):
    """The angle (rad, 0 to π) with a measure of `wider`."""
    if measure > 1.0:
        return math.pi - math.asin(math.sqrt(max(2.0 - measure, 0.0)))
    return math.asin(math.sqrt(measure))


@inlined
def add9(a, b):
    return (
        a[0] + b[0], a[1] + b[1], a[2] + b[2],
        a[3] + b[3], a[4] + b[4], a[5] + b[5],
        a[6] + b[6], a[7] + b[7], a[8] + b[8],
    )  # fmt: skip


@inlined
def sub9(a, b):
    return (
        a[0] - b[0], a[1] - b[1], a[2] - b[2],
        a[3] - b[3], a[4] - b[4], a[5] - b[5],
        a[6] - b[6], a[7] - b[7], a[8] - b[8],
    )  # fmt: skip


@inlined
def scale9(k, a):
    return k * a[0], k * a[1], k * a[2], k * a[3], k * a[4], k * a[5], k * a[6], k * a[7], k * a[8]


@inlined
def transpose(a):
    return a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]


@inlined
def skew(a):
    """[a], so that [a] b = a × b."""
    return 0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0


@inlined
def skew_mul(a, m):
    """[a] M."""
    return (
        a[1] * m[6] - a[2] * m[3], a[1] * m[7] - a[2] * m[4], a[1] * m[8] - a[2] * m[5],
        a[2] * m[0] - a[0] * m[6], a[2] * m[1] - a[0] * m[7], a[2] * m[2] - a[0] * m[8],
        a[0] * m[3] - a[1] * m[0], a[0] * m[4] - a[1] * m[1], a[0] * m[5] - a[1] * m[2],
    )  # fmt: skip


@inlined
def mul_skew(m, a):
    """M [a]."""
    return (
        m[1] * a[2] - m[2] * a[1], m[2] * a[0] - m[0] * a[2], m[0] * a[1] - m[1] * a[0],
        m[4] * a[2] - m[5] * a[1], m[5] * a[0] - m[3] * a[2], m[3] * a[1] - m[4] * a[0],
        m[7] * a[2] - m[8] * a[1], m[8] * a[0] - m[6] * a[2], m[6] * a[1] - m[7] * a[0],
    )  # fmt: skip


@inlined
def outer(a, b):
    """a bᵀ."""
    return (
        a[0] * b[0], a[0] * b[1], a[0] * b[2],
        a[1] * b[0], a[1] * b[1], a[1] * b[2],
        a[2] * b[0], a[2] * b[1], a[2] * b[2],
    )  # fmt: skip


@inlined
def mat_vec(m, a):
    return (
        m[0] * a[0] + m[1] * a[1] + m[2] * a[2],
        m[3] * a[0] + m[4] * a[1] + m[5] * a[2],
        m[6] * a[0] + m[7] * a[1] + m[8] * a[2],
    )


@inlined
def mat_t_vec(m, a):
    """Mᵀ a."""
    return (
        m[0] * a[0] + m[3] * a[1] + m[6] * a[2],
        m[1] * a[0] + m[4] * a[1] + m[7] * a[2],
        m[2] * a[0] + m[5] * a[1] + m[8] * a[2],
    )


@inlined
def mat_mul(a, b):
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )


@inlined
def mat_mul_t(a, b):
    """A Bᵀ."""
    return mat_mul(a, transpose(b))


@inlined
def mat_t_mul(a, b):
    """Aᵀ B."""
    return mat_mul(transpose(a), b)


@inlined
def row3(A, row):
    """Row of an array (n, 3) as a vector."""
    return A[row, 0], A[row, 1], A[row, 2]


@inlined
def row9(A, row, column):
    """Nine numbers of a row from `column` on: a matrix, row by row."""
    return (
        A[row, column], A[row, column + 1], A[row, column + 2],
        A[row, column + 3], A[row, column + 4], A[row, column + 5],
        A[row, column + 6], A[row, column + 7], A[row, column + 8],
    )  # fmt: skip


@inlined
def put3(A, row, a):
    A[row, 0] = a[0]
    A[row, 1] = a[1]
    A[row, 2] = a[2]


# ------------------------------------------------------------------------------------------------------- quaternions


@inlined
def quat_mul(p, q):
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@inlined
def quat_between(p, q):
    """p⁻¹ q: the rotation from frame p to frame q, seen in p."""
    return (
        p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3],
        p[0] * q[1] - p[1] * q[0] - p[2] * q[3] + p[3] * q[2],
        p[0] * q[2] + p[1] * q[3] - p[2] * q[0] - p[3] * q[1],
        p[0] * q[3] - p[1] * q[2] + p[2] * q[1] - p[3] * q[0],
    )


@inlined
def quat_matrix(q):
    w, x, y, z = q
    return (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


@inlined
def quat_rotate(q, a):
    """R(q) a."""
    v = (q[1], q[2], q[3])
    t = scale3(2.0, cross3(v, a))
    return add3(add3(a, scale3(q[0], t)), cross3(v, t))


@inlined
def quat_rotate_back(q, a):
    """R(q)ᵀ a."""
    return quat_rotate((q[0], -q[1], -q[2], -q[3]), a)


@inlined
def quat_exp(a):
    """Quaternion of the rotation vector a, normalised to rounding."""
    x = 0.25 * dot3(a, a)
    if x < 0.0625:
        # cos and sin(t)/t of t = √x ≤ ¼ by their series: no square root, no call
        w = 1.0 + x * (-1 / 2 + x * (1 / 24 + x * (-1 / 720 + x * (1 / 40320 + x * (-1 / 3628800)))))
        k = 0.5 * (1.0 + x * (-1 / 6 + x * (1 / 120 + x * (-1 / 5040 + x * (1 / 362880 + x * (-1 / 39916800))))))
    else:
        t = math.sqrt(x)
        w = math.cos(t)
        k = 0.5 * math.sin(t) / t
    return w, k * a[0], k * a[1], k * a[2]


@inlined
def quat_corrected(q):
    """q, of norm one but for rounding, with its norm put right: one Newton step for 1/|q|."""
    k = 1.5 - 0.5 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return k * q[0], k * q[1], k * q[2], k * q[3]


@inlined
def quat_normalised(q):
    k = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return k * q[0], k * q[1], k * q[2], k * q[3]


SMALL_SIN2 = 0.0612
"""Below this value of sin²(angle/2) (angle < 0.5 rad) `log_factor_small` and the other series hold 16 digits."""


@inlined
def log_factor_small(x):
    """2 asin(√x)/√x for x = sin²(angle/2) ≤ SMALL_SIN2, by its series: log = factor · vector part (scalar part > 0)."""
    return 2.0 + x * (1 / 3 + x * (3 / 20 + x * (5 / 56 + x * (35 / 576 + x * (63 / 1408 + x * (231 / 6656
        + x * (143 / 5120 + x * (6435 / 278528 + x * (12155 / 622592 + x * (46189 / 2752512
        + x * (88179 / 6029312 + x * (676039 / 52428800))))))))))))  # fmt: skip


@inlined
def quat_log(q):
    """Rotation vector of q, length ≤ π; exact near the identity and near half a turn."""
    w, v = q[0], (q[1], q[2], q[3])
    if w < 0.0:
        w, v = -w, scale3(-1.0, v)
    x = dot3(v, v)
    if x < SMALL_SIN2:
        return scale3(log_factor_small(x), v)
    sin = math.sqrt(x)
    return scale3(2.0 * math.atan2(sin, w) / sin, v)


# ------------------------------------------------------- derivative of the logarithm: A(ρ) = I + ½[ρ] + β(|ρ|²) [ρ]²


@inlined
def beta_small(x):
    """β(x) = (1 − ½√x cot ½√x)/x for x = |ρ|² ≤ ¼, and its derivative."""
    value = 1 / 12 + x * (1 / 720 + x * (1 / 30240 + x * (1 / 1209600 + x * (1 / 47900160 + x * (691 / 1307674368000
        + x * (1 / 74724249600 + x * (3617 / 10670622842880000)))))))  # fmt: skip
    slope = 1 / 720 + x * (2 / 30240 + x * (3 / 1209600 + x * (4 / 47900160 + x * (5 * 691 / 1307674368000
        + x * (6 / 74724249600 + x * (7 * 3617 / 10670622842880000))))))  # fmt: skip
    return value, slope


@inlined
def beta(x):
    """β and dβ/dx for any |ρ|² = x < 4π²."""
    if x < 0.25:
        return beta_small(x)
    t = 0.5 * math.sqrt(x)
    sin = math.sin(t)
    cot = math.cos(t) / sin
    value = (1.0 - t * cot) / x
    slope = ((t / (sin * sin) - cot) * 0.125 / t - value) / x
    return value, slope


@inlined
def log_jacobian(rho, b):
    """A(ρ) with β = b: log(R exp[φ]) changes by A φ, log(exp[−φ] R) by −Aᵀφ (ρ = log R)."""
    x, y, z = rho
    return (
        1.0 - b * (y * y + z * z), b * x * y - 0.5 * z, b * x * z + 0.5 * y,
        b * x * y + 0.5 * z, 1.0 - b * (x * x + z * z), b * y * z - 0.5 * x,
        b * x * z - 0.5 * y, b * y * z + 0.5 * x, 1.0 - b * (x * x + y * y),
    )  # fmt: skip


@inlined
def exp_jacobian(rho):
    """J of d(exp[ρ]) exp[−ρ] = [J dρ]: sin θ/θ 1 + (1 − cos θ)/θ² [ρ] + (1 − sin θ/θ)/θ² ρρᵀ, as a 9-tuple."""
    x = dot3(rho, rho)
    if x < 1e-4:
        a = 1.0 - x / 6.0 * (1.0 - x / 20.0)
        b = 0.5 - x / 24.0 * (1.0 - x / 30.0)
        c = 1.0 / 6.0 - x / 120.0 * (1.0 - x / 42.0)
    else:
        t = math.sqrt(x)
        a = math.sin(t) / t
        b = (1.0 - math.cos(t)) / x
        c = (1.0 - a) / x
    u, v, w = rho
    return (
        a + c * u * u, c * u * v - b * w, c * u * w + b * v,
        c * u * v + b * w, a + c * v * v, c * v * w - b * u,
        c * u * w - b * v, c * v * w + b * u, a + c * w * w,
    )  # fmt: skip


@inlined
def log_curvature(rho, g, b, slope):
    """Q = ∂(A g)/∂ρ + ½[g] = ∂(Aᵀ g)/∂ρ − ½[g], with b = β, slope = dβ/dx."""
    rg = cross3(rho, g)
    rrg = cross3(rho, rg)
    # −[ρ×g] − [ρ][g], with [ρ][g] = g ρᵀ − (ρ·g) I
    d = dot3(rho, g)
    s = 2.0 * slope
    return (
        b * (d - g[0] * rho[0]) + s * rrg[0] * rho[0],
        b * (rg[2] - g[0] * rho[1]) + s * rrg[0] * rho[1],
        b * (-rg[1] - g[0] * rho[2]) + s * rrg[0] * rho[2],
        b * (-rg[2] - g[1] * rho[0]) + s * rrg[1] * rho[0],
        b * (d - g[1] * rho[1]) + s * rrg[1] * rho[1],
        b * (rg[0] - g[1] * rho[2]) + s * rrg[1] * rho[2],
        b * (rg[1] - g[2] * rho[0]) + s * rrg[2] * rho[0],
        b * (-rg[0] - g[2] * rho[1]) + s * rrg[2] * rho[1],
        b * (d - g[2] * rho[2]) + s * rrg[2] * rho[2],
    )


# --------------------------------------------------------------------------------------------------- a small inverse


@inlined
def inverse3(a):
    """Inverse by cofactors and the determinant (for a well-scaled general matrix)."""
    c00 = a[4] * a[8] - a[5] * a[7]
    c01 = a[5] * a[6] - a[3] * a[8]
    c02 = a[3] * a[7] - a[4] * a[6]
    det = a[0] * c00 + a[1] * c01 + a[2] * c02
    k = 1.0 / det if det != 0.0 else 1e300
    return (
        k * c00, k * (a[2] * a[7] - a[1] * a[8]), k * (a[1] * a[5] - a[2] * a[4]),
        k * c01, k * (a[0] * a[8] - a[2] * a[6]), k * (a[2] * a[3] - a[0] * a[5]),
        k * c02, k * (a[1] * a[6] - a[0] * a[7]), k * (a[0] * a[4] - a[1] * a[3]),
    ), det  # fmt: skip
