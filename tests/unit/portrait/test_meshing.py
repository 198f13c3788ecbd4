"""Meshes of tubes: where their vertices are, which way their faces look, and what the stripes follow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sennit.portrait import meshing
from sennit.portrait.facets import mesh_of_facets
from sennit.portrait.meshing import stripe_faces, stripe_vertices, tube_faces, tube_normals, tube_vertices
from sennit.portrait.parts import Tube, TubeView
from sennit.portrait.solids import ball, bollard, box, cone, cylinder, ellipsoid, equal_inertia, joined, ring, wheel


def helix(n: int, *, closed: bool = False, **options: Any) -> tuple[Tube, TubeView]:
    """A tube along a helix (a circle if closed) with directors that point to its axis."""
    tube = Tube(name="t", colour=(1, 2, 3), count=n, closed=closed, **({"half": (0.1, 0.1)} | options))
    angle = np.linspace(0.0, 2.0 * math.pi, n)
    rise = 0.0 if closed else 0.4
    view = tube.view(np.zeros(tube.size))
    view.centres[:] = np.column_stack((2.0 * np.cos(angle), 2.0 * np.sin(angle), rise * angle))
    view.directors[:] = np.column_stack((-np.cos(angle), -np.sin(angle), np.zeros(n)))
    return tube, view


def volume(vertices: Any, faces: Any) -> float:
    """Volume that a closed mesh wound outwards encloses."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def edges_close(vertices: Any, faces: Any) -> bool:
    """Whether each edge of a mesh, by the places of its ends, is run through once each way."""
    _, names = np.unique(np.round(vertices, 9), axis=0, return_inverse=True)
    named = names[faces]
    named = named[(named[:, 0] != named[:, 1]) & (named[:, 1] != named[:, 2]) & (named[:, 2] != named[:, 0])]
    pairs = np.concatenate((named[:, [0, 1]], named[:, [1, 2]], named[:, [2, 0]]))
    forth, back = {tuple(p) for p in pairs.tolist()}, {tuple(p) for p in pairs[:, ::-1].tolist()}
    return forth == back and len(forth) == len(pairs)


@pytest.mark.parametrize("closed", [False, True])
def test_round_tube_keeps_its_radius(closed: bool) -> None:
    tube, view = helix(41, closed=closed)
    vertices = tube_vertices(tube, view, 16)
    rings = vertices[: 41 * 16].reshape(41, 16, 3)
    assert np.allclose(np.linalg.norm(rings - view.centres[:, None], axis=2), 0.1, rtol=1e-12)
    assert np.allclose(rings.mean(axis=1), view.centres)
    # the corner along d1 comes first
    assert np.allclose(rings[:, 0], view.centres + 0.1 * view.directors)


def test_elliptic_tube_has_its_half_widths_along_its_directors() -> None:
    tube, view = helix(31, half=(0.3, 0.1))
    rings = tube_vertices(tube, view, 20)[: 31 * 20].reshape(31, 20, 3) - view.centres[:, None]
    first = np.einsum("nkc,nc->nk", rings, view.directors)
    rest = np.linalg.norm(rings - first[:, :, None] * view.directors[:, None], axis=2)
    assert np.allclose((first / 0.3) ** 2 + (rest / 0.1) ** 2, 1.0)


@pytest.mark.parametrize("options", [{}, {"half": (0.3, 0.1)}, {"half": (0.2, 0.05), "rectangular": True}])
@pytest.mark.parametrize("closed", [False, True])
def test_tube_is_closed_and_faces_outwards(closed: bool, options: dict[str, Any]) -> None:
    tube, view = helix(201, closed=closed, **options)
    vertices, faces, normals = (f(*args) for f, args in (
        (tube_vertices, (tube, view, 24)), (tube_faces, (tube, 24)), (tube_normals, (tube, view, 24)),
    ))  # fmt: skip
    assert faces.min() >= 0
    assert faces.max() < len(vertices) == len(normals) == len(meshing.tube_stations(tube, 24))
    if not closed:  # the seam of a closed one is welded by place only to rounding
        assert edges_close(vertices, faces)
    a, b = tube.half
    area = 4.0 * a * b if tube.rectangular else math.pi * a * b
    length = np.linalg.norm(np.diff(view.centres, axis=0), axis=1).sum()
    # chords in the ring (24 corners: 1.1 %) and along the helix
    assert volume(vertices, faces) == pytest.approx(area * length, rel=0.02)
    crossed = np.cross(vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]])
    assert np.all(np.einsum("fc,fkc->fk", crossed, normals[faces]) > 0.0)
    assert np.allclose(np.linalg.norm(normals, axis=1), 1.0)


def test_stations_name_the_ring_of_each_vertex() -> None:
    tube, view = helix(9)
    stations = meshing.tube_stations(tube, 6)
    near = np.linalg.norm(tube_vertices(tube, view, 6)[:, None] - view.centres, axis=2).argmin(axis=1)
    assert np.array_equal(stations, near)
    near = np.linalg.norm(stripe_vertices(tube, view)[:, None] - view.centres, axis=2).argmin(axis=1)
    assert np.array_equal(meshing.stripe_stations(tube), near)


def test_stripes_lie_on_the_tube_along_its_directors_and_face_outwards() -> None:
    tube, view = helix(61)
    vertices, faces = stripe_vertices(tube, view), stripe_faces(tube)
    away = vertices - np.repeat(view.centres, 6, axis=0)
    distances = np.linalg.norm(away, axis=1)
    assert np.all(distances > 0.1)
    assert np.all(distances < 0.12)
    stripes = away.reshape(61, 6, 3)
    for middle, sign in ((stripes[:, 1], 1.0), (stripes[:, 4], -1.0)):
        assert np.allclose(middle / np.linalg.norm(middle, axis=1)[:, None], sign * view.directors)
    crossed = np.cross(vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]])
    assert np.all(np.einsum("fc,fc->f", crossed, away[faces[:, 0]]) > 0.0)


@pytest.mark.parametrize(("half", "axis"), [((0.2, 0.05), 1), ((0.05, 0.2), 0)])
def test_stripes_of_a_flat_tube_are_on_its_wide_sides(half: tuple[float, float], axis: int) -> None:
    tube = Tube(name="t", colour=(1, 2, 3), count=2, half=half, rectangular=True)
    view = tube.view(np.zeros(tube.size))
    view.centres[1, 2] = 1.0
    view.directors[:] = (1.0, 0.0, 0.0)
    reach = np.abs(stripe_vertices(tube, view)).max(axis=0)
    assert reach[axis] > half[axis]
    assert reach[1 - axis] < half[1 - axis]


def test_a_line_that_turns_right_back_or_stands_still_has_a_finite_mesh() -> None:
    tube = Tube(name="t", colour=(1, 2, 3), count=5, half=(0.1, 0.1))
    view = tube.view(np.zeros(tube.size))
    view.centres[:, 0] = (0.0, 1.0, 0.0, 0.0, 0.5)
    view.directors[:] = (0.0, 1.0, 0.0)
    assert np.isfinite(tube_vertices(tube, view)).all()
    view.centres[:] = 0.0
    view.directors[:] = (1.0, 0.0, 0.0)  # along what counts as the line's direction then
    vertices = tube_vertices(tube, view)
    assert np.allclose(np.linalg.norm(vertices[: 5 * meshing.SIDES], axis=1), 0.1)


def test_solids_enclose_their_volumes() -> None:
    cases = (
        (box((1.0, 2.0, 3.0)), 6.0),
        (ball(0.5, 64), math.pi / 6.0),
        (ellipsoid((1.0, 2.0, 0.5), 64), 4.0 / 3.0 * math.pi),
        (cylinder(0.5, 2.0, 96), 0.5 * math.pi),
        (cone(0.5, 3.0, 96), 0.25 * math.pi),
        (ring(1.0, 0.2, 96, 48), 2.0 * math.pi**2 * 0.04),
    )
    for mesh, wanted in cases:
        assert edges_close(mesh.vertices, mesh.faces)
        assert volume(mesh.vertices, mesh.faces) == pytest.approx(wanted, rel=0.01)


@pytest.mark.parametrize("make", [wheel, bollard])
def test_wheels_have_a_groove_as_deep_as_the_rope(make: Any) -> None:
    mesh = make(0.2, 0.01, (100, 110, 120))
    assert mesh.colours is not None
    assert len(mesh.colours) == len(mesh.faces)
    assert edges_close(mesh.vertices, mesh.faces)
    assert volume(mesh.vertices, mesh.faces) > 0.0
    far = np.linalg.norm(mesh.vertices[:, :2], axis=1)
    assert far.max() == pytest.approx(0.2 + 1.1 * 0.01)
    assert np.isclose(far, 0.19).any()  # the rope's centreline lies 0.2 from the axle


def test_ellipsoid_of_equal_inertia() -> None:
    half = np.array((0.3, 0.2, 0.1))
    a, b, c = half**2
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    inertia = turn @ np.diag(2.0 / 5.0 * np.array((b + c, a + c, a + b))) @ turn.T
    found, axes = equal_inertia(2.0, inertia)
    assert np.allclose(found, half)  # eigenvalues ascend: the longest axis comes first
    assert np.linalg.det(axes) == pytest.approx(1.0)
    assert np.allclose(np.abs(np.einsum("ij,ij->j", axes, turn)), 1.0)


def test_joined_meshes_keep_their_faces_and_colours() -> None:
    a, b = box((1, 1, 1)).painted((9, 8, 7)), ball(0.1).moved((3.0, 0.0, 0.0)).painted((1, 2, 3))
    mesh = joined((a, b))
    assert mesh.colours is not None
    assert np.array_equal(mesh.vertices[mesh.faces[-1]], b.vertices[b.faces[-1]])
    assert mesh.colours[0].tolist() == [9, 8, 7]
    assert mesh.colours[-1].tolist() == [1, 2, 3]


def test_rounded_corners_stop_at_creases() -> None:
    flat = meshing.corner_normals(box((1, 1, 1)).vertices, box((1, 1, 1)).faces)
    assert np.allclose(np.abs(flat).max(axis=2), 1.0)
    unit = ball(1.0, 48)
    smooth = meshing.corner_normals(unit.vertices, unit.faces)
    assert np.allclose(smooth, unit.vertices[unit.faces], atol=0.05)


def test_facets_become_a_welded_mesh() -> None:
    square = np.array(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (0.0, 1.0, 0.0)))
    beside = square + np.array((1.0, 0.0, 0.0))
    triangle = square[[0, 1, 2, 2]] + np.array((0.0, 0.0, 1.0))
    corners = np.stack((square, beside[::-1], triangle))
    normals = np.tile((0.0, 0.0, 1.0), (3, 1))
    vertices, faces, colours = mesh_of_facets(corners, ((10, 0, 0), (20, 0, 0), (30, 0, 300)), normals)
    assert len(vertices) == 6 + 3
    assert len(faces) == len(colours) == 5
    assert np.all(
        np.cross(vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]])[:, 2] > 0
    )
    assert sorted(colours[:, 0].tolist()) == [10, 10, 20, 20, 30]
    assert colours.max() == 255
