"""A stiffening law, fitted to published data: a cord of vulcanised rubber."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.cosserat.kernels.law import carroll_density
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
    with validation.in_range("coefficients"):
        stress = _carroll_columns(np.linspace(1.0, 7.6, 500)) @ fitted
    if (np.diff(stress) <= 0.0).any():
        raise InputError(f"coefficients must make tension grow with stretch, got {validation.quoted(fitted)}")
    if not np.abs(fitted).max() < 1e100:
        raise InputError(f"coefficients must be below 1e100 Pa, got {validation.quoted(fitted)}")
    A, B, C = (float(c) for c in fitted)
    function = _carroll_law(A, B, C, math.pi * r**2, math.pi * r**4 / 4.0)
    return Law(function, typical_strain=(0.1 / r, 0.1 / r, 0.1 / r, 0.1, 0.1, 0.5))


def _carroll_law(A: float, B: float, C: float, area: float, second_moment: float) -> Callable[..., Any]:
    # at rest I₁ = I₂ = 3; W″ = 6 (A + 108 B) + √3 C is Young's modulus, and the volume is constant
    youngs_modulus = 6.0 * (A + 108.0 * B) + math.sqrt(3.0) * C
    shear_modulus = youngs_modulus / 3.0
    linear = (
        youngs_modulus * second_moment,
        2.0 * shear_modulus * second_moment,
        0.9 * shear_modulus * area,
        youngs_modulus * area,
    )
    coefficients = (A, B, C, area)

    def carroll(strain: Any, stress: Any, tangent: Any) -> Any:
        return carroll_density(strain, stress, tangent, linear, coefficients)

    import numba  # here, because it takes long to import

    compiled: Callable[..., Any] = numba.njit(carroll)
    return compiled
