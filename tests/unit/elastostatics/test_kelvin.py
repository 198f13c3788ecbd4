"""Integrals of Kelvin's solution over a triangle, against quadrature of high order written here.

The kernels are written here a second time from their tensors, and integrated over a triangle that is cut into pieces
round the point of it that is nearest, with Gauss points in both directions. Tolerances are what that reaches.
"""

from __future__ import annotations

import numpy as np
import pytest

from sennit.elastostatics.kernels.kelvin import (
    LANES,
    POINTS,
    TENSORS,
    describe,
    far_integrals,
    far_tensors,
    near_integrals,
)
from sennit.elastostatics.tables import Elements, Points

CORNERS = np.array([[0.1, -0.2, 0.3], [1.2, 0.1, 0.1], [0.4, 0.9, 0.5]])
RATIOS = [-0.5, 0.0, 0.3, 0.499]


def kernels(x, y, n, nu):
    """U and T (k, 3, 3) from x to points y (k, 3); E = 1. Row: direction of the force."""
    r = y - x
    d = np.linalg.norm(r, axis=1)[:, None, None]
    e = r[:, :, None] / d
    ee = e * np.swapaxes(e, 1, 2)
    eye = np.eye(3)
    shear = 0.5 / (1 + nu)
    U = ((3 - 4 * nu) * eye + ee) / (16 * np.pi * shear * (1 - nu) * d)
    dn = np.einsum("kij,i->kj", e, n)[:, :, None]
    ne = n[None, :, None] * np.swapaxes(e, 1, 2)
    T = -(dn * ((1 - 2 * nu) * eye + 3 * ee) + (1 - 2 * nu) * (ne - np.swapaxes(ne, 1, 2))) / (
        8 * np.pi * (1 - nu) * d**2
    )
    return U, T


def reference(x, corners, nu, order=32, rounds=6, regular=False):
    """∫U N_j and ∫T N_j, (3, 3, 3) each; `regular`: N_j(y) − N_j(x) in place of N_j with T."""
    a, b, c = corners
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n)
    shape = np.linalg.inv(np.column_stack((a, b, c)) + 10 * np.outer(n, np.ones(3)))

    def values(y):
        return (shape @ (y + 10 * n).T).T

    foot = x - n * ((x - a) @ n)
    N = values(foot[None])[0]
    if N.min() < 0:  # the nearest point lies on an edge
        best = None
        for p, q in ((a, b), (b, c), (c, a)):
            t = np.clip((x - p) @ (q - p) / ((q - p) @ (q - p)), 0, 1)
            y = p + t * (q - p)
            if best is None or np.linalg.norm(y - x) < np.linalg.norm(best - x):
                best = y
        foot = best
    U, T = np.zeros((3, 3, 3)), np.zeros((3, 3, 3))
    t, w = np.polynomial.legendre.leggauss(order)
    t, w = 0.5 * (t + 1), 0.5 * w
    for p, q in ((a, b), (b, c), (c, a)):
        # Rings of triangles round the foot, each four times as narrow: the innermost holds the singularity, which
        # the factor s of Duffy's map takes out.
        for ring in range(rounds):
            outer, inner = 0.25**ring, 0.25 ** (ring + 1) if ring < rounds - 1 else 0.0
            s, v = (g.ravel() for g in np.meshgrid(inner + (outer - inner) * t, t, indexing="ij"))
            weight = (outer - inner) * np.outer(w, w).ravel() * s * np.linalg.norm(np.cross(p - foot, q - foot))
            y = foot + s[:, None] * ((p - foot) + v[:, None] * (q - p))
            u, stress = kernels(x, y, n, nu)
            shapes = values(y)
            U += np.einsum("k,kj,kab->jab", weight, shapes, u, optimize=True)
            T += np.einsum("k,kj,kab->jab", weight, shapes - (N if regular else 0.0), stress, optimize=True)
    return U, T


def element(corners):
    """A table of one triangle."""
    elements = Elements(rows=1)
    describe(elements, 0, *corners)
    return elements


def near(x, corners, nu, inside=False):
    U, T = np.empty((3, 3, 3)), np.empty((3, 3, 3))
    near_integrals(*x, element(corners), 0, nu, inside, U, T)
    return U, T


def far(places, corners, nu, weight=None):
    """The same by the library's Gauss points, for up to LANES points: (k, 3, 3, 3)."""
    tensors = np.empty(POINTS * TENSORS * LANES)
    k = len(places)
    points = Points(rows=k)
    points.x[:], points.y[:], points.z[:] = places.T
    on = np.ones(LANES) if weight is None else weight
    far_tensors(points, 0, k, on, element(corners), 0, nu, tensors)
    values, totals = np.empty((15, 3, LANES)), np.zeros((15, LANES))
    for c in range(15):
        far_integrals(tensors, c, k, values[c].reshape(-1), totals[c])
    values, totals = values[:, :, :k], totals[:, :k]
    np.testing.assert_allclose(values.sum(axis=1), totals, atol=1e-15)
    U = values[[0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(3, 3, 3, k)
    return np.transpose(U, (3, 2, 0, 1)), np.transpose(values[6:].reshape(3, 3, 3, k), (3, 2, 0, 1))


def local(along, across, height):
    """A place by coordinates in the triangle's plane and above it."""
    a, b, c = CORNERS
    n = np.cross(b - a, c - a)
    return a + along * (b - a) + across * (c - a) + height * n / np.linalg.norm(n)


PLACES = {
    "above the middle": local(0.3, 0.3, 0.5),
    "below the middle": local(0.3, 0.3, -0.4),
    "close above": local(0.3, 0.4, 0.02),
    "beside": local(1.4, 0.3, 0.1),
    "beside a corner": local(-0.1, -0.1, 0.05),
    "over an edge": local(0.5, 0.0, 0.1),
    "close to an edge": local(0.5, -1e-3, 1e-3),
    "close to a corner": local(1.002, -1e-3, 2e-3),
    "over a corner": local(1.0, 0.0, 0.2),
    "in the plane, outside": local(0.8, 0.9, 0.0),
    "on an edge's line": local(1.7, 0.0, 0.0),
}


@pytest.mark.parametrize("nu", RATIOS)
@pytest.mark.parametrize("place", PLACES)
def test_closed_forms_off_the_triangle(place, nu):
    x = PLACES[place]
    for got, wanted in zip(near(x, CORNERS, nu), reference(x, CORNERS, nu), strict=True):
        np.testing.assert_allclose(got, wanted, atol=2e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("nu", RATIOS)
@pytest.mark.parametrize(
    "shares", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.75, 0.125, 0.125), (0.125, 0.125, 0.75), (0.5, 0.5, 0)]
)
def test_closed_forms_on_the_triangle(shares, nu):
    x = np.array(shares) @ CORNERS
    wanted = reference(x, CORNERS, nu, order=100, rounds=1, regular=True)
    for got, want in zip(near(x, CORNERS, nu, inside=True), wanted, strict=True):
        np.testing.assert_allclose(got, want, atol=1e-11 * np.abs(wanted[0]).max())


def test_far_rule_and_its_error():
    """Six Gauss points of degree 4: the error falls as (h/r)^5 or faster, and is small where they take over."""
    rng = np.random.default_rng(1)
    direction = rng.normal(size=(40, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    longest = max(np.linalg.norm(CORNERS[i] - CORNERS[i - 1]) for i in range(3))
    errors = []
    for distance in (3.0, 6.0, 12.0):
        points = CORNERS.mean(axis=0) + distance * longest * direction
        U, T = far(points, CORNERS, 0.3)
        pair = [near(x, CORNERS, 0.3) for x in points]
        exact_U, exact_T = np.array([p[0] for p in pair]), np.array([p[1] for p in pair])
        errors.append([np.abs(a - b).max() / np.abs(b).max() for a, b in ((U, exact_U), (T, exact_T))])
    assert errors[0][0] < 1e-4 and errors[0][1] < 1e-3
    rate = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert rate.min() > 3.5, (errors, rate)


def test_far_rule_leaves_near_points_out():
    points = np.array([[9.0, 0, 0], [0.3, 0.3, 0.3], [0, 9.0, 1]])
    weight = np.ones(LANES)
    weight[1] = 0.0
    U, T = far(points, CORNERS, 0.3, weight)
    assert not U[1].any() and not T[1].any()
    U_alone, T_alone = far(points[[0, 2]], CORNERS, 0.3)
    np.testing.assert_array_equal(U[[0, 2]], U_alone)
    np.testing.assert_array_equal(T[[0, 2]], T_alone)


def test_integrals_turn_with_the_frame():
    rng = np.random.default_rng(2)
    R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    R *= np.linalg.det(R)
    for x in PLACES.values():
        for one, two in zip(near(x, CORNERS, 0.3), near(R @ x, CORNERS @ R.T, 0.3), strict=True):
            np.testing.assert_allclose(R @ one @ R.T, two, atol=1e-13)


def test_integrals_do_not_depend_on_where_the_triangle_begins():
    for x in PLACES.values():
        for one, two in zip(near(x, CORNERS, 0.3), near(x, np.roll(CORNERS, -1, axis=0), 0.3), strict=True):
            np.testing.assert_allclose(np.roll(one, -1, axis=0), two, atol=1e-13)


@pytest.mark.parametrize("nu", RATIOS)
def test_rigid_motion_of_a_closed_surface(nu, validated):
    """∮T u = −u(x) inside and 0 outside for u = a + ω × y: only with T's indices in their order."""
    v = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    rng = np.random.default_rng(3)
    a, omega = rng.normal(size=(2, 3))
    for x, factor in (((0.2, 0.2, 0.3), -1.0), ((0.5, 0.6, 0.7), 0.0), ((0.3, 0.3, -1e-3), 0.0)):
        x = np.array(x)
        total = sum(np.einsum("jab,jb->a", near(x, v[list(f)], nu)[1], a + np.cross(omega, v[list(f)])) for f in faces)
        validated(
            "Kelvin's tractions over a closed surface",
            area="zones",
            quantity="integral",
            reference="Somigliana: −1, −½, 0",
            error=np.abs(total - factor * (a + np.cross(omega, x))).max(),
            bound=1e-12,
        )
