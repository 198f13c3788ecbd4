"""Places on a surface, patches round them, and how little the stiffness of a touch depends on the mesh."""

from __future__ import annotations

import numpy as np
import pytest
from references.meshes import block, hollow_sphere, sphere

import sennit as sn
from sennit.elastostatics.patch import locate, patch_weights, places_of
from sennit.elastostatics.surface import Surface
from sennit.errors import InputError

GEL = sn.Material(5e4, 0.45, 1000)


def brute_force(surface, place, steps=60):
    """Distance to the nearest of many points on every triangle: an upper bound that is near."""
    s, t = np.meshgrid(np.linspace(0, 1, steps), np.linspace(0, 1, steps))
    inside = s + t <= 1.0 + 1e-12
    shares = np.column_stack((1.0 - s[inside] - t[inside], s[inside], t[inside]))
    points = np.einsum("qk,fkc->fqc", shares, surface.vertices[surface.faces])
    return float(np.linalg.norm(points - place, axis=2).min())


@pytest.mark.parametrize("mesh", [block((1.0, 0.7, 0.4), (3, 2, 2)), sphere(1.0, 1), hollow_sphere(0.5, 1.0, (1, 1))])
def test_the_nearest_place(mesh) -> None:
    surface = Surface(*mesh)
    rng = np.random.default_rng(3)
    size = np.ptp(surface.vertices)
    for place in rng.uniform(-0.7, 0.7, (40, 3)) * size + surface.vertices.mean(axis=0):
        face, shares, foot, distance = locate(surface, place)
        assert shares.min() >= 0.0 and abs(shares.sum() - 1.0) < 1e-14
        assert np.abs(shares @ surface.vertices[surface.faces[face]] - foot).max() < 1e-14 * size
        assert abs(np.linalg.norm(foot - place) - distance) < 1e-14 * size
        found = brute_force(surface, place)
        assert distance <= found + 1e-12 and found - distance < 0.03 * size


def test_every_vertex_and_middle_is_found_where_it_is() -> None:
    surface = Surface(*sphere(1.0, 3))
    for places in (surface.vertices, surface.vertices[surface.faces].mean(axis=1)):
        assert max(locate(surface, place)[3] for place in places) < 1e-15
    middles = surface.vertices[surface.faces].mean(axis=1)
    assert [locate(surface, place)[0] for place in middles] == list(range(len(middles)))


def test_neighbours_across_edges() -> None:
    surface = Surface(*block(cells=(3, 2, 2)))
    beside = places_of(surface).skin.beside
    for face, corners in enumerate(surface.faces.tolist()):
        for k in range(3):
            other = surface.faces[beside[face, k]].tolist()
            assert beside[face, k] != face
            assert corners[k] in other and corners[(k + 1) % 3] in other


def test_weights_are_integrals_of_the_bump() -> None:
    """Against a fine rule; the rule in the kernel is exact where the ball covers a face, and near on its rim."""
    surface = Surface(*block((1.0, 1.0, 0.5), (10, 10, 5)))
    place, radius = np.array([0.43, 0.52, 0.5]), 0.27
    ids, weights = patch_weights(surface, place, radius)
    assert abs(weights.sum() - 1.0) < 1e-14 and weights.min() > 0.0
    steps = 40
    i, j = (a.ravel() for a in np.meshgrid(np.arange(steps), np.arange(steps)))
    s, t = (i[i + j < steps] + 1 / 3) / steps, (j[i + j < steps] + 1 / 3) / steps
    s, t = (np.append(s, (i[i + j < steps - 1] + 2 / 3) / steps), np.append(t, (j[i + j < steps - 1] + 2 / 3) / steps))
    shares = np.column_stack((1 - s - t, s, t))
    points = np.einsum("qk,fkc->fqc", shares, surface.vertices[surface.faces])
    bump = np.maximum(1.0 - ((points - place) ** 2).sum(axis=2) / radius**2, 0.0) ** 2
    parts = np.einsum("fq,qk,f->fk", bump, shares, surface.areas)
    wanted = np.bincount(surface.faces.ravel(), parts.ravel(), minlength=len(surface.vertices))
    wanted /= wanted.sum()
    found = np.zeros_like(wanted)
    found[ids] = weights
    assert np.abs(found - wanted).max() < 1e-3 * wanted.max()


def test_the_middle_of_a_patch_is_the_place() -> None:
    """On a plane: hats reproduce linear functions, and the bump is symmetric."""
    surface = Surface(*block((1.0, 1.0, 0.5), (12, 12, 5)))
    for place in np.array([[0.5, 0.5, 0.5], [0.46, 0.53, 0.5], [0.55, 0.4, 0.5]]):
        ids, weights = patch_weights(surface, place, 0.25)
        assert np.abs(weights @ surface.vertices[ids] - place).max() < 2e-4


def test_radius_zero_is_the_bare_point() -> None:
    surface = Surface(*sphere(1.0, 2))
    place = np.array([0.1, 0.2, 2.0])
    ids, weights = patch_weights(surface, place, 0.0)
    face, shares, _, _ = locate(surface, place)
    assert np.array_equal(ids, surface.faces[face]) and np.array_equal(weights, shares)


def test_the_far_side_of_a_wall_stays_out() -> None:
    surface = Surface(*block((1.0, 1.0, 0.05), (20, 20, 1)))
    ids, _ = patch_weights(surface, np.array([0.5, 0.5, 0.05]), 0.2)
    assert (surface.vertices[ids, 2] > 0.04).all()


def test_a_radius_that_the_mesh_cannot_show_is_refused() -> None:
    surface = Surface(*sphere(1.0, 2))
    with pytest.raises(InputError, match=r"radius must reach.*face.*0\.01"):
        patch_weights(surface, np.array([0.0, 0.0, 1.0]), 0.01)
    with pytest.raises(InputError, match="radius"):
        patch_weights(surface, np.array([0.0, 0.0, 1.0]), -1.0)


def jittered():
    """A block whose upper side has uneven triangles."""
    vertices, faces = block((0.06, 0.06, 0.03), (12, 12, 6))
    step = 0.06 / 12
    inner = (vertices[:, 2] > 0.03 - 1e-9) & (np.abs(vertices[:, :2] - 0.03).max(axis=1) < 0.03 - 1e-9)
    moved = vertices.copy()
    moved[inner, :2] += np.random.default_rng(8).uniform(-0.2 * step, 0.2 * step, (int(inner.sum()), 2))
    return moved, faces


@pytest.mark.slow
@pytest.mark.parametrize("mesh", [block((0.06, 0.06, 0.03), (12, 12, 6)), jittered()], ids=["even", "uneven"])
def test_the_ripple_of_the_stiffness_is_below_one_percent(mesh) -> None:
    """Over vertices, edges and middles of faces alike, about the smooth trend of a body that is softer at its rim."""
    vertices, faces = mesh
    zone = sn.Zone.from_mesh(vertices, faces, material=GEL, fixed=vertices[:, 2] < 1e-9)
    corners = vertices[faces]
    near = (corners[:, :, 2] > 0.03 - 1e-9).all(axis=1) & (
        np.abs(corners.mean(axis=1)[:, :2] - 0.03).max(axis=1) < 0.01
    )
    some = corners[near]
    places = np.concatenate((some.reshape(-1, 3), some.mean(axis=1), 0.5 * (some[:, 0] + some[:, 1])))
    x, y = (places[:, :2] - 0.03).T / 0.01
    trend = np.column_stack((np.ones_like(x), x, y, x * x, x * y, y * y))
    for direction in range(3):
        push = np.zeros(3)
        push[direction] = 1e-3
        stiffness = np.array([zone.touch(place, displacement=push).force[direction] for place in places]) / 1e-3
        smooth = trend @ np.linalg.lstsq(trend, stiffness, rcond=None)[0]
        assert np.abs(stiffness / smooth - 1.0).max() < 0.01
    bare = np.array([zone.touch(place, displacement=push, radius=0.0).force[2] for place in places])
    assert bare.max() > 1.5 * bare.min()  # what the patch is for
