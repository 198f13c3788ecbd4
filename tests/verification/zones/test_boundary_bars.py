"""Bars: shear against three-dimensional finite elements, torsion against Saint-Venant's closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from references import clamped_bar
from references.boundary import extruded_ellipse, solve, uniform_load
from references.meshes import block

from sennit.elastostatics.boundary.elements import boundary_stiffness
from sennit.elastostatics.surface import Surface


def end_deflection(cells, order=None):
    """Mean end deflection of the bar of `references.clamped_bar` with `cells` across its side; faces in any `order`."""
    vertices, faces = block((2.0, 1.0, 1.0), (2 * cells, cells, cells))
    if order is not None:
        faces = faces[order.permutation(len(faces))]
    surface = Surface(vertices, faces)
    S = boundary_stiffness(surface, clamped_bar.NU).stiffness
    x = surface.vertices[:, 0]
    end = np.flatnonzero(surface.normals[:, 0] > 0.99)
    end = end[np.isclose(surface.vertices[surface.faces[end]][:, :, 0], 2.0).all(axis=1)]
    load = uniform_load(surface, end, np.array([0.0, 0.0, 1.0])).ravel()
    u = solve(S, load, np.flatnonzero(x < 1e-9))
    reaction = (S @ u - load).reshape(-1, 3)
    # The clamp carries the load and its moment, 2 about y.
    np.testing.assert_allclose(reaction.sum(axis=0), [0, 0, -1], atol=1e-10)
    np.testing.assert_allclose(np.cross(surface.vertices, reaction).sum(axis=0), [0.5 * -1, 2, 0], atol=1e-10)
    return len(x), load @ u


def test_clamped_bar_in_shear(validated):
    """Within 0.5 % of the reference at 642 vertices; where faces are equal their order decides on 0.04 % of it."""
    vertices, coarse = end_deflection(4)
    assert vertices == 162
    vertices, fine = end_deflection(8)
    assert vertices == 642
    errors = np.array([coarse, fine]) / clamped_bar.DEFLECTION - 1.0
    validated(
        "Clamped bar in shear, 642 vertices",
        area="zones",
        quantity="deflection",
        reference="finite elements, extrapolated",
        error=abs(errors[1]),
        bound=5e-3,
    )
    other = end_deflection(8, np.random.default_rng(1))[1] / clamped_bar.DEFLECTION - 1.0
    assert abs(other - errors[1]) < 6e-4, other
    assert abs(errors[1]) < 0.4 * abs(errors[0]), errors


def torsional_stiffness(surface, nu, length):
    """Torque for a twist of 1 radian over the length, ends free to warp.

    Saint-Venant's solution is then the exact one: u_y and u_z turn rigidly on the ends, nothing pulls along the bar.
    """
    S = boundary_stiffness(surface, nu).stiffness
    v = surface.vertices
    ends = np.flatnonzero((v[:, 0] < 1e-9) | (v[:, 0] > length - 1e-9))
    given = np.zeros((len(v), 3))
    given[ends, 1:] = np.stack((-v[ends, 2], v[ends, 1]), 1) * (v[ends, 0] / length)[:, None]
    middle = ends[np.argmin(np.linalg.norm(v[ends], axis=1))]
    held = np.sort(np.concatenate((3 * ends + 1, 3 * ends + 2, [3 * middle])))
    free = np.setdiff1d(np.arange(len(S)), held)
    u = given.ravel()
    u[free] = -np.linalg.solve(S[np.ix_(free, free)], S[np.ix_(free, held)] @ u[held])
    force = (S @ u).reshape(-1, 3)
    far = v[:, 0] > length - 1e-9
    return (v[far, 1] * force[far, 2] - v[far, 2] * force[far, 1]).sum()


def test_torsion_of_a_square_bar(validated):
    """G J / L with J = 0.140577 a⁴ (Timoshenko and Goodier, Theory of Elasticity, art. 109)."""
    nu = 0.3
    exact = 0.1405770 / (2 * (1 + nu)) / 2.0
    errors = []
    for cells in (4, 8):
        vertices, faces = block((2.0, 1.0, 1.0), (2 * cells, cells, cells), origin=(0.0, -0.5, -0.5))
        errors.append(torsional_stiffness(Surface(vertices, faces), nu, 2.0) / exact - 1.0)
    validated(
        "Square bar in torsion",
        area="zones",
        quantity="stiffness",
        reference="Saint-Venant: 0.1406 a⁴G",
        error=abs(errors[1]),
        bound=0.01,
        order=np.log2(errors[0] / errors[1]),
    )
    assert abs(errors[1]) < 0.4 * abs(errors[0]), errors


@pytest.mark.parametrize("half_axes", [(0.5, 0.5), (0.6, 0.3)])
def test_torsion_of_an_elliptical_bar(half_axes, validated):
    """G J / L with J = π a³ b³ / (a² + b²). The polygon inside the ellipse is itself softer, by its size squared."""
    nu, (a, b) = 0.3, half_axes
    exact = np.pi * a**3 * b**3 / (a**2 + b**2) / (2 * (1 + nu)) / 2.0
    errors = []
    for rings in (3, 5):
        errors.append(torsional_stiffness(extruded_ellipse(a, b, 2.0, rings), nu, 2.0) / exact - 1.0)
    validated(
        "Elliptical bar in torsion",
        area="zones",
        quantity="stiffness",
        reference="πa³b³G/(a² + b²)",
        error=abs(errors[1]),
        bound=0.02,
        order=np.log(errors[0] / errors[1]) / np.log(5 / 3),
    )
    assert abs(errors[1]) < 0.5 * abs(errors[0]), errors  # second order: 0.36
