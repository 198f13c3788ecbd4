"""A rigid sphere on a half-space, frictionless (K. L. Johnson, Contact Mechanics, 1985, ch. 4, eqs. 4.22–4.24).

    E* = E/(1 − ν²),   P = 4/3 E* √R δ^{3/2},   a³ = 3PR/(4E*),   p₀³ = 6PE*²/(π³R²)

The body is finite: its support lies H away and stiffens it by a term c a/H of the approach. It is taken out by
extrapolation over two depths H, in which it is halved; radius and pressure follow from the force alone. The sphere is
close to a paraboloid: (a/R)² = 4e-4.
"""

from __future__ import annotations

import numpy as np
import pytest

from sennit.geometry.shapes import Sphere
from tests.verification.zones.half_space import PATCH, E, body

RADIUS = 50.0 * PATCH


def pressed(poisson_ratio: float, depth: float, per_patch: int = 4, imprint: float = PATCH):
    """A sphere whose imprint should have the radius `imprint`."""
    approach = imprint**2 / RADIUS
    ball = Sphere((0.0, 0.0, RADIUS - approach), RADIUS)
    return body(poisson_ratio, depth, per_patch).press(ball), approach


def hertz_force(poisson_ratio: float, approach: float) -> float:
    return 4.0 / 3.0 * E / (1.0 - poisson_ratio**2) * np.sqrt(RADIUS) * approach**1.5


@pytest.mark.parametrize("poisson_ratio", [0.3, 0.48])
def test_force(poisson_ratio: float, validated) -> None:
    ratios = []
    for depth in (100.0, 200.0):
        state, approach = pressed(poisson_ratio, depth)
        assert state.approach == pytest.approx(approach, rel=1e-12)
        ratios.append(-state.force[2] / hertz_force(poisson_ratio, approach))
        assert abs(state.force[:2]).max() < 1e-3 * abs(state.force[2])
    validated(
        "Sphere pressed into a half-space",
        area="contact",
        quantity="force",
        reference="Hertz",
        error=abs(ratios[1] - 1),
        bound=0.01,
    )
    validated(
        "Sphere pressed into a half-space, depth extrapolated",
        area="contact",
        quantity="force",
        reference="Hertz",
        error=abs(2.0 * ratios[1] - ratios[0] - 1),
        bound=0.005,
    )


@pytest.mark.parametrize("poisson_ratio", [0.3, 0.48])
def test_radius_and_pressure(poisson_ratio: float, validated) -> None:
    state, _ = pressed(poisson_ratio, 200.0)
    modulus = E / (1.0 - poisson_ratio**2)
    force = -state.force[2]
    radius = (0.75 * force * RADIUS / modulus) ** (1.0 / 3.0)
    peak = (6.0 * force * modulus**2 / (np.pi**3 * RADIUS**2)) ** (1.0 / 3.0)
    validated(
        "Sphere pressed into a half-space",
        area="contact",
        quantity="radius of the imprint",
        reference="Hertz",
        error=abs(state.contact_radius / radius - 1),
        bound=0.01,
    )
    validated(
        "Sphere pressed into a half-space",
        area="contact",
        quantity="peak pressure",
        reference="Hertz",
        error=abs(state.peak_pressure / peak - 1),
        bound=0.01,
    )
    larger, smaller = state.contact_radii
    assert larger == pytest.approx(smaller, rel=5e-3)
    # The pressures themselves, two triangles away from the rim.
    r = np.linalg.norm(state.zone.vertices, axis=1)
    inner = r < 0.5 * radius
    expected = peak * np.sqrt(1.0 - (r[inner] / radius) ** 2)
    np.testing.assert_allclose(state.pressures[inner], expected, atol=0.02 * peak)
    assert (state.pressures >= 0.0).all()
    assert np.array_equal(np.flatnonzero(state.pressures), state.patch)
    assert 1.0 < state.area / (np.pi * radius**2) < 1.3


@pytest.mark.slow
def test_finer_mesh() -> None:
    """Six triangles to the radius of the imprint: the fits err by less than 0.5 %, the force grows as δ^{3/2}."""
    state, approach = pressed(0.48, 200.0, per_patch=6)
    modulus = E / (1.0 - 0.48**2)
    force = -state.force[2]
    assert state.contact_radius == pytest.approx((0.75 * force * RADIUS / modulus) ** (1.0 / 3.0), rel=5e-3)
    peak = (6.0 * force * modulus**2 / (np.pi**3 * RADIUS**2)) ** (1.0 / 3.0)
    assert state.peak_pressure == pytest.approx(peak, rel=5e-3)
    less, lower = pressed(0.48, 200.0, 6, 0.7 * PATCH)
    assert np.log(force / -less.force[2]) / np.log(approach / lower) == pytest.approx(1.5, abs=0.01)
