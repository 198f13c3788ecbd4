"""Every defect of a mesh is refused with its vertices or faces named; hard but sound meshes pass."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from references.meshes import block, hollow_sphere, sphere, volume

from sennit.elastostatics.surface import Surface, checked_surface, thin_walls
from sennit.errors import InputError

V, F = sphere(subdivisions=2)


def refused(vertices, faces, *words):
    kept = [np.copy(x) if isinstance(x, np.ndarray) else x for x in (vertices, faces)]
    with pytest.raises(InputError) as caught:
        checked_surface(vertices, faces)
    message = str(caught.value)
    for word in words:
        assert word in message, message
    assert len(message) < 700
    for before, now in zip(kept, (vertices, faces), strict=True):
        if isinstance(now, np.ndarray):
            np.testing.assert_array_equal(before, now)
    return message


def joined(*parts):
    """Several meshes in one pair of arrays."""
    vertices, faces, count = [], [], 0
    for v, f in parts:
        vertices.append(v)
        faces.append(f + count)
        count += len(v)
    return np.concatenate(vertices), np.concatenate(faces)


def turned(mesh):
    return mesh[0], mesh[1][:, ::-1]


# Sound meshes


def test_a_sound_mesh_is_copied():
    vertices, faces = V.copy(), F.astype(np.int32)
    surface = checked_surface(vertices, faces)
    assert isinstance(surface, Surface)
    assert surface.vertices.dtype == np.float64
    assert surface.faces.dtype == np.int64
    vertices[:] = 0.0
    faces[:] = 0
    np.testing.assert_array_equal(surface.vertices, V)
    np.testing.assert_array_equal(surface.faces, F)
    assert surface.vertex_areas.sum() == pytest.approx(surface.areas.sum(), rel=1e-14)


def test_lists_and_mesh_objects_are_taken():
    listed = checked_surface(V.tolist(), F.tolist())
    mesh = checked_surface(trimesh.Trimesh(V, F, process=False))
    np.testing.assert_array_equal(listed.vertices, mesh.vertices)
    np.testing.assert_array_equal(listed.faces, mesh.faces)


@pytest.mark.parametrize(
    "mesh",
    [
        block(),
        block((1.0, 1.0, 0.01), (8, 8, 1)),
        hollow_sphere(),
        hollow_sphere(0.9999, 1.0, (2, 2)),
        joined(sphere(1.0, 3), turned(sphere(0.2, 1, (0.5, 0, 0))), turned(sphere(0.2, 1, (-0.5, 0, 0)))),
        (lambda m: (np.array(m.vertices), np.array(m.faces)))(trimesh.creation.torus(1.0, 0.3)),
        (lambda m: (np.array(m.vertices), np.array(m.faces)))(trimesh.creation.annulus(0.5, 1.0, 0.3)),
        (np.eye(4, 3), np.array([(3, 1, 0), (3, 0, 2), (0, 1, 2), (3, 2, 1)])),
        # graded: from 1 to 1/300 of the side
        block(lines=[np.concatenate(([0.0], np.geomspace(1 / 300, 1.0, 10)))] * 3),
        # a wedge of 1.5 degrees
        (lambda v, f: (v * [1, 1, 0.026] * np.where(v[:, :1] > 0.5, [1, 1, 0.1], 1), f))(*block(cells=(1, 1, 1))),
        sphere(1.0, 4),
    ],
    ids=["block", "plate", "cavity", "thin shell", "two cavities", "torus", "ring", "tetrahedron", "graded", "wedge",
         "fine"],
)  # fmt: skip
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e5])
def test_sound_meshes_pass_at_any_scale_and_place(mesh, scale):
    vertices, faces = mesh
    surface = checked_surface(scale * (vertices + np.array((3.0, -20.0, 7.0))), faces)
    assert volume(surface.vertices - surface.vertices.mean(0), surface.faces) > 0.0
    numbering = np.random.default_rng(3).permutation(len(vertices))
    shuffled = np.empty_like(vertices)
    shuffled[numbering] = vertices
    checked_surface(scale * shuffled, numbering[np.random.default_rng(4).permutation(faces)])


@pytest.mark.parametrize("seed", range(5))
def test_rotated_noisy_meshes_pass(seed):
    """Coplanar faces in general position: rounding must not look like touching."""
    generator = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(generator.normal(size=(3, 3)))
    axes *= np.sign(np.linalg.det(axes))
    vertices, faces = block(cells=(6, 5, 4))
    checked_surface(vertices @ axes.T, faces)
    vertices, faces = sphere(subdivisions=3)
    checked_surface(vertices * (1.0 + 0.02 * generator.normal(size=(len(vertices), 1))), faces)


# Arrays


@pytest.mark.parametrize(
    ("vertices", "faces", "word"),
    [
        (V[:, :2], F, "(n, 3)"),
        (V.ravel(), F, "(n, 3)"),
        ("mesh", F, "vertices"),
        (V + 1j, F, "real"),
        (V, F[:, :2], "(m, 3)"),
        (V, F.ravel(), "(m, 3)"),
        (V, F.astype(float), "whole numbers"),
        (V, F > 3, "whole numbers"),
        (V, "faces", "(m, 3)"),
        (V, [[0, 1, 2], [0, 1]], "(m, 3)"),
        (V, np.empty((0, 3), int), "at least four"),
        (np.empty((0, 3)), F, "indices"),
        (V * 1e-14, F, "span"),
        (V * 1e14, F, "span"),
        (V * 0.0, F, "span"),
        (V, None, "without faces"),
    ],
)
def test_wrong_arrays(vertices, faces, word):
    refused(vertices, faces, word)


def test_nan_and_indices_out_of_range_are_placed():
    vertices = V.copy()
    vertices[17, 1] = np.nan
    refused(vertices, F, "vertices[17, 1]")
    for wrong in (-1, len(V), 10**12):
        faces = F.copy()
        faces[5, 2] = wrong
        refused(V, faces, "faces[5]", str(wrong), f"{len(V)} vertices")


# Vertices


def test_unused_vertices_are_named():
    refused(np.concatenate((V, [[9.0, 9.0, 9.0]])), F, "vertex 162")
    refused(np.concatenate((np.ones((9, 3)) * np.arange(9)[:, None], V)), F + 9, "vertices 0, 1, 2, 3, 4 and 4 more")


def test_a_soup_is_to_be_merged():
    message = refused(V[F].reshape(-1, 3), np.arange(F.size).reshape(-1, 3), "soup", "Merge")
    assert "at the same place" in message
    vertices = np.concatenate((V, V[7:8] + 1e-12))
    faces = F.copy()
    faces[np.flatnonzero((F == 7).any(1))[0]] = np.where(F == 7, 162, F)[np.flatnonzero((F == 7).any(1))[0]]
    assert "soup" not in refused(vertices, faces, "(7, 162)")


# Faces


def test_degenerate_faces_are_named():
    faces = F.copy()
    faces[12, 1] = faces[12, 0]
    refused(V, faces, "face 12", "three different")
    # a corner on the middle of the opposite edge: three points on a line
    corners = V[F[30]]
    vertices = V.copy()
    vertices[F[30, 0]] = 0.5 * (corners[1] + corners[2])
    refused(vertices, F, "face 30", "1/1000")


def test_a_needle_beyond_the_bound_is_refused():
    for height, fine in ((2e-3, True), (5e-4, False)):
        vertices = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 0, -height)])
        # face (0, 1, 3) is split at a vertex near its edge (0, 1): a sliver closes it
        faces = np.array([(0, 2, 1), (0, 1, 4), (0, 4, 3), (4, 1, 3), (1, 2, 3), (0, 3, 2)])
        vertices[4] = (0.5, -0.2 * height, height)
        if fine:
            checked_surface(vertices, faces)
        else:
            refused(vertices, faces, "face 1", "1/1000")


def test_duplicate_faces_are_named():
    refused(V, np.concatenate((F, F[40:41, (1, 2, 0)])), "(40, 320)")
    refused(V, np.concatenate((F, F[40:41, ::-1])), "(40, 320)")


# Edges and vertices where faces meet


def test_open_edges_are_named():
    message = refused(V, np.delete(F, 3, axis=0), "3 open edges")
    a, b, c = F[3]
    assert any(f"({x}, {y})" in message for x, y in ((b, a), (c, b), (a, c)))
    open_box = trimesh.creation.box().faces[:-2]
    refused(trimesh.creation.box().vertices, np.array(open_box), "open edges")


def test_crowded_edges_are_named():
    """Two tetrahedra that share an edge only."""
    vertices = np.array([(0.0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 1, 0), (-1, 0, 0), (-1, -1, 0)])
    one = [(0, 2, 3), (0, 1, 2), (1, 3, 2), (0, 3, 1)]
    two = [(0, 4, 5), (0, 1, 4), (1, 5, 4), (0, 5, 1)]
    refused(vertices, np.array(one + two), "1 edge between", "(0, 1)")


def test_vertices_where_fans_touch_are_named():
    vertices, faces = joined((V, F), sphere(1.0, 2, (0, 0, 4)))
    top = int(np.argmax(V[:, 2]))
    twin = 162 + int(np.argmin(vertices[162:, 2]))
    vertices[twin] = vertices[top]  # they touch there
    faces = np.where(faces == twin, top, faces)
    faces = np.where(faces > twin, faces - 1, faces)
    refused(np.delete(vertices, twin, axis=0), faces, f"vertex {top}", "touch in a point")


def test_winding():
    faces = F.copy()
    faces[8] = faces[8, ::-1]
    refused(V, faces, "wound", "8")
    refused(V, F[:, ::-1], "inside out", "[:, ::-1]")
    refused(*turned(hollow_sphere()), "inside out")


def test_faces_folded_onto_each_other():
    """A pillow without thickness: two copies of a square on each other, wound against each other."""
    vertices = np.array([(0.0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 0)])
    top = [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]
    vertices = np.concatenate((vertices, [(0.4, 0.5, 0)]))
    bottom = [(b, a, 5) for a, b, _ in top]
    refused(vertices, np.array(top + bottom), "folded")


# Shells


def test_separate_solids_are_refused():
    refused(*joined((V, F), sphere(0.5, 2, (5, 0, 0))), "2 shells", "solid of its own")
    refused(*joined((V, F), sphere(0.5, 2)), "lies in the material", "cavity")
    refused(*joined(hollow_sphere(), sphere(0.2, 1)), "solid of its own")


def test_cavities_must_be_in_the_material():
    refused(*joined((V, F), turned(sphere(0.5, 2, (5, 0, 0)))), "outside the body")
    refused(*joined(hollow_sphere(), turned(sphere(0.2, 1))), "another cavity")


# Crossings


def test_overlapping_parts_are_found():
    message = refused(*joined(sphere(1.0, 2), sphere(1.0, 2, (1.5, 0.1, 0.05))), "crossing", "edge", "face")
    assert "more" in message
    # a cavity that breaks through, and one that only touches
    refused(*joined(sphere(1.0, 2), turned(sphere(0.5, 2, (0.7, 0, 0)))), "cross")
    refused(*joined(block(), turned(block((0.5, 0.5, 0.5), (2, 2, 2), (0.26, 0.24, 0.0)))), "cross")


def test_blocks_that_stand_on_each_other_touch():
    refused(*joined(block(), block((0.3, 0.3, 0.3), (1, 1, 1), (0.31, 0.31, 1.0))), "cross or touch")


@pytest.mark.parametrize("seed", range(10))
def test_one_vertex_pushed_through_the_opposite_side_is_found(seed):
    """The truth is another method: all pairs of edges and faces, by signed volumes."""
    generator = np.random.default_rng(seed)
    vertices = V.copy()
    i = int(generator.integers(len(V)))
    vertices[i] *= -generator.uniform(1.05, 1.5)
    vertices[i] += 0.02 * generator.normal(size=3)  # not through an edge
    count = brute_crossings(vertices, F)
    assert count > 0
    refused(vertices, F, f" {count} crossing")
    vertices = V * (1.0 + 0.25 * generator.normal(size=(len(V), 1)))
    if count := brute_crossings(vertices, F):
        refused(vertices, F, f" {count} crossing")
    else:
        checked_surface(vertices, F)


def brute_crossings(vertices, faces):
    """Edges that pass through faces without a common vertex, in general position."""
    edges = np.unique(np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)

    def signed(a, b, c, d):
        return np.sign(np.einsum("...i,...i->...", b - a, np.cross(c - a, d - a)))

    p, q = (vertices[edges[:, None, k]] for k in range(2))
    a, b, c = (vertices[faces[None, :, k]] for k in range(3))
    sides = signed(p, a, b, c) != signed(q, a, b, c)
    one, two, three = signed(p, q, a, b), signed(p, q, b, c), signed(p, q, c, a)
    apart = (edges[:, None, :, None] != faces[None, :, None, :]).all(axis=(2, 3))
    return int(np.count_nonzero(sides & (one == two) & (two == three) & apart))


# Walls


@pytest.mark.parametrize(("thickness", "thin"), [(0.02, True), (0.1, True), (0.2, False), (1.0, False)])
def test_thin_walls(thickness, thin):
    """A plate with edges 1/4 and diagonals √2/4 long, 0.285 in the mean: half of it is 0.142."""
    surface = checked_surface(*block((1.0, 1.0, thickness), (4, 4, 1)))
    found = thin_walls(surface)
    assert len(found) == (len(surface.vertices) if thin else 0)


def test_a_cavity_near_the_surface_is_a_thin_wall():
    vertices, faces = joined(sphere(1.0, 3), turned(sphere(0.45, 2, (0.5, 0, 0))))
    found = thin_walls(checked_surface(vertices, faces))
    assert len(found) > 5
    assert (vertices[found, 0] > 0.7).all()
    assert (found < 642).any()
    assert (found >= 642).any()
    assert len(thin_walls(checked_surface(*hollow_sphere()))) == 0
