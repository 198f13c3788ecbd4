"""A stiffening law, fitted to published data: a cord of vulcanised rubber."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.cosserat.law.laws import Law
from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["TRELOAR_1944", "fitted_carroll_coefficients", "rubber_cord"]

_KILOGRAM_FORCE_PER_CM2 = 98066.5
TRELOAR_1944 = np.array(
    [
        (1.020, 0.26), (1.125, 1.37), (1.240, 2.30), (1.390, 3.23), (1.585, 4.16), (1.900, 5.10), (2.180, 6.00),
        (2.420, 6.90), (3.020, 8.80), (3.570, 10.7), (4.030, 12.5), (4.760, 16.2), (5.360, 19.9), (5.750, 23.6),
        (6.150, 27.4), (6.400, 31.0), (6.600, 34.8), (6.850, 38.5), (7.050, 42.1), (7.150, 45.8), (7.250, 49.6),
        (7.400, 53.3), (7.500, 57.0), (7.600, 64.4),
    ]
)  # fmt: skip
"""Simple tension of vulcanised rubber: stretch, and force over unstrained area in kgf/cm² (98 066.5 Pa).

L. R. G. Treloar, "Stress-strain data for vulcanised rubber under various types of deformation", Trans. Faraday Soc. 40
(1944) 59–70.
"""


def _carroll_columns(stretch: FloatArray) -> FloatArray:
    """Nominal stress per coefficient of W = A I₁ + B I₁⁴ + C √I₂ in simple tension at constant volume."""
    first, second = stretch**2 + 2.0 / stretch, 2.0 * stretch + stretch**-2
    d_first, d_second = 2.0 * stretch - 2.0 * stretch**-2, 2.0 - 2.0 * stretch**-3
    return np.column_stack((d_first, 4.0 * first**3 * d_first, 0.5 / np.sqrt(second) * d_second))


def fitted_carroll_coefficients(stretch: ArrayLike, stress: ArrayLike) -> FloatArray:
    """A, B, C (Pa) of Carroll's energy A I₁ + B I₁⁴ + C √I₂ that fit stretches (n,) and nominal stresses (n,), Pa.

    Relative errors are weighted alike. M. M. Carroll, "A strain energy function for vulcanized rubbers", J. Elasticity
    103 (2011) 173–187.
    """
    at = validation.array("stretch", stretch, (None,))
    values = validation.array("stress", stress, at.shape)
    if len(at) < 3 or (at <= 0.0).any() or (values == 0.0).any():
        raise InputError("a fit needs at least three points with stretch above 0 and stress other than 0")
    relative = _carroll_columns(at) / values[:, None]
    return np.asarray(np.linalg.lstsq(relative, np.ones(len(at)), rcond=None)[0], dtype=np.float64)


def rubber_cord(radius: float, *, coefficients: ArrayLike | None = None) -> Law:
    """Law of a round rubber cord of `radius` (m): Carroll's energy in stretch, linear in bending, twist and shear.

    The stretch softens at first and stiffens beyond four times the rest length, as rubber does: good up to 7.6 times
    the rest length (and a few per cent of compression), for curvatures well below 1/radius. `coefficients` (3,), Pa,
    are A, B, C of `fitted_carroll_coefficients`; by default those of Treloar's rubber. Use it with
    ``Strand(length, law=rubber_cord(radius), extensible=True)`` and the rest stretch (0, 0, 1).

    Raises `InputError` if the coefficients make the cord unstable (its tension must grow with its stretch).
    """
    r = validation.number("radius", radius, positive=True)
    if coefficients is None:
        fitted = fitted_carroll_coefficients(TRELOAR_1944[:, 0], TRELOAR_1944[:, 1] * _KILOGRAM_FORCE_PER_CM2)
    else:
        fitted = validation.array("coefficients", coefficients, (3,))
    stress = _carroll_columns(np.linspace(1.0, 7.6, 500)) @ fitted
    if (np.diff(stress) <= 0.0).any():
        raise InputError(f"coefficients must make tension grow with stretch, got {validation.quoted(fitted)}")
    A, B, C = (float(c) for c in fitted)
    function = _carroll_law(A, B, C, math.pi * r**2, math.pi * r**4 / 4.0)
    return Law(function, typical_strain=(0.1 / r, 0.1 / r, 0.1 / r, 0.1, 0.1, 0.5))


def _carroll_law(A: float, B: float, C: float, area: float, second_moment: float) -> Callable[..., Any]:
    # at rest I₁ = I₂ = 3; W″ = 6 (A + 108 B) + √3 C is Young's modulus, and the volume is constant
    youngs_modulus = 6.0 * (A + 108.0 * B) + math.sqrt(3.0) * C
    shear_modulus = youngs_modulus / 3.0
    bend, twist, shear = youngs_modulus * second_moment, 2.0 * shear_modulus * second_moment, 0.9 * shear_modulus * area
    stretch = youngs_modulus * area
    at_rest = 3.0 * A + 81.0 * B + math.sqrt(3.0) * C

    @numba.njit
    def carroll(strain: Any, stress: Any, tangent: Any) -> Any:
        tangent[:, :] = 0.0
        energy = 0.0
        for i in range(5):
            k = twist if i == 2 else bend if i < 2 else shear
            stress[i] = k * strain[i]
            tangent[i, i] = k
            energy += 0.5 * k * strain[i] * strain[i]
        stress[5] = 0.0
        if strain[5] <= 0.0:  # in compression linear, and convex however the cross-section stands
            stress[5] = stretch * strain[5]
            tangent[5, 5] = stretch
            energy += 0.5 * stretch * strain[5] * strain[5]
        # in tension the length of v counts: with v3 alone a strong pull would turn the cross-sections over
        v = (strain[3], strain[4], 1.0 + strain[5])
        length = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
        if length <= 1.0:
            return energy
        x = min(length, 9.0)
        beyond = length - x  # beyond all use the energy goes on as a parabola, so that it stays finite
        p, dp, ddp = x * x + 2.0 / x, 2.0 * x - 2.0 / x**2, 2.0 + 4.0 / x**3
        s, ds, dds = 2.0 * x + 1.0 / x**2, 2.0 - 2.0 / x**3, 6.0 / x**4
        root = math.sqrt(s)
        w = A * p + B * p**4 + C * root - at_rest
        dw = (A + 4.0 * B * p**3) * dp + 0.5 * C / root * ds
        ddw = 12.0 * B * p**2 * dp * dp + (A + 4.0 * B * p**3) * ddp + 0.5 * C / root * (dds - 0.5 * ds * ds / s)
        tension, slope = area * (dw + ddw * beyond), area * ddw
        across = tension / length
        for i in range(3):
            stress[3 + i] += across * v[i]
            tangent[3 + i, 3 + i] += across
            for j in range(3):
                tangent[3 + i, 3 + j] += (slope - across) * v[i] * v[j] / (length * length)
        return energy + area * (w + dw * beyond + 0.5 * ddw * beyond * beyond)

    return carroll  # type: ignore[no-any-return]
