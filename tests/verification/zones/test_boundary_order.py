"""A thick sphere: order of convergence of displacements to Lamé's solution.

Inner radius a, outer radius b, pressure p inside: with E = 1

    u_r = p a³ / (b³ − a³) [(1 − 2ν) r + (1 + ν) b³ / (2 r²)]

(Timoshenko and Goodier, Theory of Elasticity, art. 136). Vertices lie on the spheres, so flat faces alone make an error
of second order; linear elements have the same order. Sizes are edges of the icosahedron cut into k.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from references.boundary import geodesic, solve, solve_floating, uniform_load

from sennit.elastostatics.boundary.elements import boundary_stiffness
from sennit.elastostatics.surface import Surface

NU = 0.3
A, B = 0.5, 1.0
FREQUENCIES = np.array([3, 4, 6])


def lame(r):
    return A**3 / (B**3 - A**3) * ((1 - 2 * NU) * r + (1 + NU) * B**3 / (2 * r**2))


@functools.cache
def thick_sphere(frequency):
    """Surface, stiffness, exact displacement; the outer sphere comes first."""
    v, f = geodesic(frequency)
    surface = Surface(np.concatenate((B * v, A * v)), np.concatenate((f, f[:, ::-1] + len(v))))
    r = np.linalg.norm(surface.vertices, axis=1)[:, None]
    return surface, boundary_stiffness(surface, NU).stiffness, surface.vertices / r * lame(r)


def error(u, exact):
    return np.sqrt(((u.reshape(-1, 3) - exact) ** 2).sum() / (exact**2).sum())


def order(errors):
    """Slope of a line through the errors, against size, both in logarithms."""
    return -np.polyfit(np.log(FREQUENCIES), np.log(errors), 1)[0]


def test_pressure_inside(validated):
    errors = []
    for k in FREQUENCIES:
        surface, S, exact = thick_sphere(k)
        inner = surface.faces[:, 0] >= len(surface.vertices) // 2
        load = uniform_load(surface, inner, -surface.normals[inner])
        errors.append(error(solve_floating(S, load.ravel(), surface.vertices), exact))
    assert order(errors) >= 1.7, errors
    validated(
        "Thick sphere under pressure",
        area="zones",
        quantity="displacement",
        reference="Lamé",
        error=errors[-1],
        bound=0.025,
        order=order(errors),
    )


def test_displacement_given_inside(validated):
    errors = []
    for k in FREQUENCIES:
        surface, S, exact = thick_sphere(k)
        n = len(surface.vertices) // 2
        u = solve(S, np.zeros(len(S)), np.arange(n, 2 * n), exact.ravel())
        errors.append(error(u[: 3 * n], exact[:n]))
    assert order(errors) >= 1.7, errors
    validated(
        "Thick sphere, inside displaced",
        area="zones",
        quantity="displacement",
        reference="Lamé",
        error=errors[-1],
        bound=0.01,
        order=order(errors),
    )


@pytest.mark.parametrize("frequency", [4])
def test_a_full_sphere_under_pressure_shrinks_alike(frequency):
    """u = −p (1 − 2ν) x, an affine field: exact on the polyhedron too."""
    surface = Surface(*geodesic(frequency))
    S = boundary_stiffness(surface, NU).stiffness
    load = uniform_load(surface, slice(None), -surface.normals)
    u = solve_floating(S, load.ravel(), surface.vertices).reshape(-1, 3)
    np.testing.assert_allclose(u, -(1 - 2 * NU) * surface.vertices, atol=1e-11)
