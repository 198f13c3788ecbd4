"""Rotation of a free rigid body over one step.

Vectors are 3-tuples, matrices 9-tuples. R = R_WB turns body vectors into world vectors; the inertia I (kg·m²) is
constant in the body's frame; ω (rad/s) and the angular momentum L (N·m·s) are in the world's, about the centre of mass.
A step answers with a rotation vector θ in the world's frame: R₊ = exp[θ] R. With torques the step's linear system
moves θ from there; L₊ is then the momentum that the torques leave, and ω₊ = `omega_from_momentum`(R₊, I⁻¹, L₊), so
that momentum is kept whatever θ is.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel, tolerance
from sennit.geometry.kernels.algebra import (
    add3, add9, beta, cross3, dot3, inverse3, log_curvature, log_jacobian, mat_mul, mat_mul_t, mat_t_vec, mat_vec,
    mul_skew, quat_exp, quat_matrix, scale3, scale9, skew, skew_mul, sub3, sub9, transpose,
)  # fmt: skip

ITERATIONS = 8
SETTLED = tolerance(1e-18, 1e-10)  # squared change over squared velocity that ends the iteration of the mean one
STILL = tolerance(1e-28, 1e-13)  # the same of a turn
PI2 = math.pi * math.pi
IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@inlined
def world_inertia(R, inertia):
    """R I Rᵀ."""
    return mat_mul_t(mat_mul(R, inertia), R)


@inlined
def omega_from_momentum(R, inertia_inverse, L):
    """ω = R I⁻¹ Rᵀ L."""
    return mat_vec(R, mat_vec(inertia_inverse, mat_t_vec(R, L)))


@inlined
def momentum(R, inertia, omega):
    """L = R I Rᵀ ω."""
    return mat_vec(R, mat_vec(inertia, mat_t_vec(R, omega)))


@inlined
def spin_energy(R, inertia, omega):
    """½ ω · R I Rᵀ ω, J."""
    return 0.5 * dot3(omega, momentum(R, inertia, omega))


@kernel
def free_rotation(R, inertia, omega, h):
    """Rotation vector of a step h without torque, by the midpoint rule for Euler's equations in the body's frame.

    Ω_m, the mean of both ends' angular velocities, solves 2 I (Ω_m − Ω)/h + Ω_m × I Ω_m = 0; then
    Δθ = R h Ω_m · 2 atan(y/2)/y, y = |h Ω_m|: the rotation whose Cayley vector is h Ω_m. Energy and momentum are kept
    to the accuracy of the Newton iteration; attitude is of order 2. It converges up to h|ω| = 2 at least; where it does
    not, ω is taken as constant.
    """
    start = mat_t_vec(R, omega)
    mean = start
    converged = False
    for _ in range(ITERATIONS):
        momentum_mean = mat_vec(inertia, mean)
        # F = I (Ω_m − Ω) + ½h Ω_m × I Ω_m,  F' = I + ½h ([Ω_m] I − [I Ω_m])
        F = add3(mat_vec(inertia, sub3(mean, start)), scale3(0.5 * h, cross3(mean, momentum_mean)))
        J = add9(inertia, scale9(0.5 * h, sub9(skew_mul(mean, inertia), skew(momentum_mean))))
        inverse, _det = inverse3(J)
        change = mat_vec(inverse, F)
        mean = sub3(mean, change)
        # Quadratic convergence: after a change of that size rounding is all that is left.
        if dot3(change, change) <= SETTLED() * dot3(mean, mean):
            converged = True
            break
    if not converged:
        return scale3(h, omega)
    x = 0.25 * h * h * dot3(mean, mean)
    if x < 1e-3:
        factor = 1.0 + x * (-1 / 3 + x * (1 / 5 + x * (-1 / 7 + x * (1 / 9 + x * (-1 / 11)))))
    else:
        factor = math.atan(math.sqrt(x)) / math.sqrt(x)
    return mat_vec(R, scale3(h * factor, mean))


@kernel
def free_rotation_bdf2(R, inertia_inverse, theta_previous, L, L_previous, h, ratio):
    """Rotation vector of a step h without torque, by the two-step backward formula (BDF2), step ratio h/h_previous.

    With w the ratio, a = (1+w)²/(1+2w), b = w²/(1+2w), γ = h (1+w)/(1+2w), and Θ(t) = log(R(t) R_nᵀ), which is 0 now
    and θ_previous = log(R_{n−1} R_nᵀ) before, Θ' = dexp⁻¹_Θ ω turns the formula for Θ into

        θ = −b θ_previous + γ dexp⁻¹_θ ω(exp[θ] R_n, L̂),   dexp⁻¹_θ = 1 − ½[θ] + β[θ]²,   L̂ = a L_n − b L_{n−1}

    Order 2; it damps: for use beside rods that take the same formula. L, L_previous: momentum now and before. Where
    Newton finds nothing within half a turn, h ω(R_n, L̂) is returned.
    """
    w = ratio
    a = (1.0 + w) * (1.0 + w) / (1.0 + 2.0 * w)
    b = w * w / (1.0 + 2.0 * w)
    gamma = h * (1.0 + w) / (1.0 + 2.0 * w)
    L_hat = sub3(scale3(a, L), scale3(b, L_previous))
    past = scale3(b, theta_previous)
    theta = scale3(-w, theta_previous)  # the same angular velocity again
    for _ in range(ITERATIONS):
        R_new = mat_mul(quat_matrix(quat_exp(theta)), R)
        W = world_inertia(R_new, inertia_inverse)
        omega = mat_vec(W, L_hat)
        value, derivative = beta(dot3(theta, theta))
        dexp_inverse = transpose(log_jacobian(theta, value))
        F = sub3(add3(theta, past), scale3(gamma, mat_vec(dexp_inverse, omega)))
        # A turn δφ of R changes ω by (W[L̂] − [ω]) δφ, and δφ = dexp_θ δθ; ∂(dexp⁻¹_θ g)/∂θ = Q + ½[g].
        dexp, _det = inverse3(dexp_inverse)
        slope = mat_mul(dexp_inverse, mat_mul(sub9(mul_skew(W, L_hat), skew(omega)), dexp))
        curvature = add9(log_curvature(theta, omega, value, derivative), scale9(0.5, skew(omega)))
        inverse, _det = inverse3(sub9(IDENTITY, scale9(gamma, add9(slope, curvature))))
        change = mat_vec(inverse, F)
        theta = sub3(theta, change)
        size = dot3(theta, theta)
        if not size < PI2:
            break
        if not dot3(change, change) > STILL() * size:
            return theta
    return scale3(h, omega_from_momentum(R, inertia_inverse, L_hat))
