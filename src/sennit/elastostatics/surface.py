"""The surface of a solid: a closed triangle mesh, its areas and normals, and the check of what users pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.elastostatics.crossings import meetings
from sennit.errors import InputError
from sennit.validation import FloatArray, array, quoted

__all__ = ["IntArray", "Surface", "along_curve", "checked_surface", "groups", "thin_walls", "winding_number"]

IntArray = NDArray[np.int64]

# Lengths below are relative to the longest side of the body's bounding box, except where said.
_SAME_PLACE = 1e-9
"""Vertices that are nearer than this are one vertex given twice."""
_NEEDLE = 1e-3
"""Smallest height of a face over its longest edge; its smallest angle is then about 0.06° or more."""
_FOLD = 1e-6
"""Faces that meet at an edge under an angle φ with 1 − cos φ below this lie on each other: φ < 0.08°."""
_TOUCH = 1e-10
"""An edge that comes nearer than this to a face that it does not belong to touches it."""
_SMALLEST, _LARGEST = 1e-12, 1e12
"""Sizes of bodies, m: products of six lengths stay within the range of floats."""
_NAMED = 5
_SOME_CROSSINGS = 1000


@dataclass(frozen=True, eq=False)
class Surface:
    """A closed triangle mesh wound outwards, already checked."""

    vertices: FloatArray
    """Places of the corners, (n, 3), m."""
    faces: IntArray
    """Vertices of each triangle, (m, 3), counter-clockwise seen from outside."""

    @cached_property
    def _crosses(self) -> FloatArray:
        a, b, c = (self.vertices[self.faces[:, k]] for k in range(3))
        return np.asarray(np.cross(b - a, c - a))

    @cached_property
    def areas(self) -> FloatArray:
        """Areas of the faces, (m,), m²."""
        return 0.5 * np.asarray(np.linalg.norm(self._crosses, axis=1))

    @cached_property
    def normals(self) -> FloatArray:
        """Outward unit normals of the faces, (m, 3)."""
        return self._crosses / (2.0 * self.areas[:, None])

    @cached_property
    def vertex_areas(self) -> FloatArray:
        """Areas of the vertices, (n,), m²: a third of the faces round each, which is ∫N."""
        thirds = np.repeat(self.areas / 3.0, 3)
        return np.asarray(np.bincount(self.faces.ravel(), thirds, len(self.vertices)), dtype=np.float64)

    @cached_property
    def vertex_normals(self) -> FloatArray:
        """Unit normals of the vertices, (n, 3): the faces' normals, weighted by area."""
        total = np.zeros_like(self.vertices)
        for corner in range(3):
            np.add.at(total, self.faces[:, corner], self._crosses)
        return np.asarray(total / np.linalg.norm(total, axis=1, keepdims=True))


def checked_surface(vertices: object, faces: object = None) -> Surface:
    """The surface of one solid, or an error that names what is wrong with the mesh.

    The mesh must bound one connected solid: a single outer shell wound counter-clockwise seen from outside, with any
    number of cavities in it, whose shells are wound the other way (their normals point out of the material, into the
    cavity). Several separate solids are refused: each is a zone of its own, since each must be held by itself.

    Args:
        vertices: (n, 3), m; or an object with ``vertices`` and ``faces``, such as a trimesh.
        faces: (m, 3) whole numbers, corners of each triangle counter-clockwise seen from outside; left out for a mesh
            object.

    Raises:
        InputError: for wrong shapes and types; vertices that are used by no face or given twice; faces that are
            degenerate (a height below 1/1000 of the longest edge), given twice, folded onto each other; edges that are
            open or belong to more than two faces; vertices at which two fans of faces touch; neighbours wound
            against each other; a body inside out; several solids; cavities outside the body or in each other; a
            surface that crosses or touches itself. Indices are those of the arrays that were passed.
    """
    if faces is None:
        if not (hasattr(vertices, "vertices") and hasattr(vertices, "faces")):
            raise InputError(
                "vertices must be an (n, 3) array with faces, an (m, 3) array of whole numbers, or a trimesh.Trimesh "
                f"alone (trimesh.load_mesh reads files), got {quoted(vertices)} without faces"
            )
        mesh: Any = vertices
        vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    points = array("vertices", vertices, (None, 3))
    triangles = _face_array(faces, len(points))
    extent = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    if not _SMALLEST <= extent <= _LARGEST:
        raise InputError(f"vertices must span {_SMALLEST:g} to {_LARGEST:g} m, these span {extent:g} m")
    unit = (points - 0.5 * (points.min(axis=0) + points.max(axis=0))) / extent
    _check_vertices(unit, triangles)
    _check_shapes(unit, triangles)
    pairs = _check_edges(unit, triangles)
    _check_fans(triangles, pairs, len(points))
    _check_crossings(unit, triangles, pairs)
    _check_shells(unit, triangles, pairs)
    return Surface(points, triangles)


def thin_walls(surface: Surface, ratio: float = 0.5) -> IntArray:
    """Sorted vertices of faces behind which the wall is thinner than `ratio` times the face's mean edge.

    The thickness is measured from the middle of each face along its inward normal to the first face that has no vertex
    in common with it, so that sharp edges do not count. Boundary elements fail on such walls: the two sides' columns
    are nearly the same.
    """
    points, faces = surface.vertices, surface.faces
    extent = float(np.ptp(points, axis=0).max())
    corners = points[faces]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean(axis=1)
    middles = corners.mean(axis=1)
    rays = np.stack((middles, middles - ratio * edges[:, None] * surface.normals), axis=1)
    _, hits = meetings(
        rays, faces, points, faces, surface.normals, tolerance=_TOUCH * extent, limit=8 * len(faces) + 64
    )
    return np.unique(faces[hits.ravel()]) if len(hits) else np.empty(0, np.int64)


def along_curve(cells: IntArray) -> IntArray:
    """Numbers (k,) of `cells` (k, 3), each coordinate 0 … 1023, along Morton's curve: the bits of the three in turn."""
    code = np.zeros(len(cells), dtype=np.int64)
    for bit in range(10):
        for axis in range(3):
            code |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return code


# ---------------------------------------------------------------------------------------------------------- the checks


def _face_array(faces: object, vertices: int) -> IntArray:
    try:
        given = np.asarray(faces)
    except Exception:  # whatever the value's own methods raise
        raise InputError(f"faces must be an array of shape (m, 3), got {quoted(faces)}") from None
    if given.ndim != 2 or given.shape[1] != 3:
        raise InputError(f"faces must be an array of shape (m, 3): triangles, got {quoted(faces)} of {given.shape}")
    if given.dtype.kind not in "iu":
        raise InputError(f"faces must hold whole numbers (indices of vertices), got {quoted(faces)}")
    wrong = np.flatnonzero(((given < 0) | (given >= vertices)).any(axis=1))
    if len(wrong):
        raise InputError(
            f"faces must hold indices from 0 to {vertices - 1} (there are {vertices} vertices), got "
            f"faces[{wrong[0]}] = {quoted(given[wrong[0]])}{_more(len(wrong) - 1)}"
        )
    if len(given) < 4:
        raise InputError(f"faces must be at least four triangles, which bound a solid, got {len(given)}")
    return np.array(given, dtype=np.int64, order="C")


def _check_vertices(points: FloatArray, faces: IntArray) -> None:
    """Every vertex is used, and no two are at the same place."""
    from scipy.spatial import cKDTree  # here, because it takes long to import and only zones need it

    unused = np.flatnonzero(np.bincount(faces.ravel(), minlength=len(points)) == 0)
    if len(unused):
        raise InputError(f"vertices must all belong to a face, got {_named('vertex', 'vertices', unused)} without one")
    twins = cKDTree(points).query_pairs(_SAME_PLACE, output_type="ndarray")
    if len(twins):
        text = _listed(twins[np.lexsort(twins.T[::-1])])
        hint = ""
        if 2 * len(twins) > len(points):
            hint = " This looks like a triangle soup, in which each face has vertices of its own."
        raise InputError(
            f"vertices must be given once each, got {len(twins)} pairs at the same place: {text}.{hint} "
            "Merge them: trimesh.Trimesh(vertices, faces) does it and has both arrays"
        )


def _check_shapes(points: FloatArray, faces: IntArray) -> None:
    """Three different corners, enough area, and no face twice."""
    a, b, c = faces.T
    wrong = np.flatnonzero((a == b) | (b == c) | (c == a))
    if len(wrong):
        raise InputError(
            f"faces must have three different vertices, got {_named('face', 'faces', wrong)}; the first is "
            f"{quoted(faces[wrong[0]])}"
        )
    corners = points[faces]
    longest = np.maximum.reduce([np.linalg.norm(corners[:, k] - corners[:, k - 1], axis=1) for k in range(3)])
    doubled = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    ratio = doubled / longest**2
    wrong = np.flatnonzero(ratio < _NEEDLE)
    if len(wrong):
        worst = wrong[np.argmin(ratio[wrong])]
        raise InputError(
            f"faces must have an area: their height may be 1/1000 of their longest edge or more, got "
            f"{_named('face', 'faces', wrong)} (the thinnest, {worst}, has {ratio[worst]:.2g}). Merge the short edges "
            "or flip the long ones"
        )
    ordered = np.sort(faces, axis=1)
    order = np.lexsort(ordered.T[::-1])
    same = np.flatnonzero((ordered[order[1:]] == ordered[order[:-1]]).all(axis=1))
    if len(same):
        pairs = np.sort(np.stack((order[same], order[same + 1]), axis=1), axis=1)
        raise InputError(f"faces must be given once each, got the same three vertices in the faces {_listed(pairs)}")


def _check_edges(points: FloatArray, faces: IntArray) -> IntArray:
    """Each edge belongs to two faces that run along it in opposite senses and do not lie on each other.

    Returns pairs of half-edges (e, 2): half-edge 3f + k runs from corner k of face f to the next corner.
    """
    start, end = faces.ravel(), faces[:, (1, 2, 0)].ravel()
    key = np.minimum(start, end) * len(points) + np.maximum(start, end)
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.concatenate(([True], np.diff(key[order]) != 0)))
    counts = np.diff(np.concatenate((first, [len(key)])))

    def ends(which: IntArray) -> str:
        half = order[first[which]]
        return _listed(np.stack((start[half], end[half]), axis=1))

    crowded = np.flatnonzero(counts > 2)
    if len(crowded):
        raise InputError(
            f"faces must meet two at each edge, got more at {_plural(len(crowded), 'edge')} "
            f"between the vertices {ends(crowded)}: sheets that meet in an edge bound no solid"
        )
    open_ = np.flatnonzero(counts == 1)
    if len(open_):
        raise InputError(
            f"faces must bound a solid, got {_plural(len(open_), 'open edge')} between the vertices {ends(open_)}: "
            "close the holes"
        )
    pairs = order.reshape(-1, 2)
    along = np.flatnonzero(start[pairs[:, 0]] == start[pairs[:, 1]])
    if len(along):
        raise InputError(
            "faces must all be wound counter-clockwise seen from outside, got neighbours wound against each other: "
            f"the faces {_listed(pairs[along] // 3)}. trimesh.repair.fix_normals turns them"
        )
    corners = points[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    left, right = pairs.T // 3
    folded = np.flatnonzero(1.0 + np.einsum("ij,ij->i", normals[left], normals[right]) < _FOLD)
    if len(folded):
        raise InputError(f"faces must not lie on each other, got the folded pairs {_listed(pairs[folded] // 3)}")
    return pairs


def _check_fans(faces: IntArray, pairs: IntArray, vertices: int) -> None:
    """The faces round each vertex form one fan: the corners, joined across edges, are as many groups as vertices."""
    one, two = pairs.T
    after = np.arange(faces.size) + np.tile((1, 1, -2), len(faces))  # the corner at the end of each half-edge
    rows, columns = np.concatenate((one, after[one])), np.concatenate((after[two], two))
    _, fan = groups(rows, columns, faces.size)
    fan_vertex = np.empty(fan.max() + 1, np.int64)
    fan_vertex[fan] = faces.ravel()
    torn = np.flatnonzero(np.bincount(fan_vertex, minlength=vertices) > 1)
    if len(torn):
        raise InputError(
            f"vertices must have one fan of faces each, got {_named('vertex', 'vertices', torn)} at which parts of the "
            "surface touch in a point: split the vertex and move its copies apart"
        )


def _check_shells(points: FloatArray, faces: IntArray, pairs: IntArray) -> None:
    """One outer shell wound outwards, cavities in it wound the other way."""
    count, shell = groups(pairs[:, 0] // 3, pairs[:, 1] // 3, len(faces))
    corners = points[faces]
    sixths = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    volumes = np.bincount(shell, sixths, minlength=count)
    turn = "faces[:, ::-1] turns them"
    if volumes.sum() <= 0.0 and np.argmax(np.abs(volumes)) == np.argmin(volumes):
        raise InputError(f"faces must be wound counter-clockwise seen from outside, got a body inside out: {turn}")
    first = np.array([np.argmax(shell == k) for k in range(count)])  # a face of each shell
    outer = int(np.argmax(volumes))
    if count == 1:
        return
    # Winding number of all other shells round a vertex of each shell: 1 in the material, 0 outside and in cavities.
    around = np.array([winding_number(points[faces[first[k], 0]], corners[shell != k]) for k in range(count)])
    for k in range(count):
        if k == outer:
            continue
        name = f"the shell of face {first[k]} ({np.count_nonzero(shell == k)} faces)"
        inside = around[k] > 0.5
        if volumes[k] > 0.0:
            what = f"lies in the material: if it is a cavity, {turn}" if inside else "is a solid of its own"
            raise InputError(
                f"faces must bound one connected solid, got {count} shells of which {name} {what}. "
                "Make a zone of each solid"
            )
        if not inside or around[k] > 1.5:
            raise InputError(
                f"faces must bound one connected solid, got {name}, wound as a cavity, outside the body or in another "
                "cavity"
            )


def winding_number(place: FloatArray, corners: FloatArray) -> float:
    """How often a closed surface goes round `place`: its solid angle over 4π (Van Oosterom & Strackee, 1983)."""
    a, b, c = np.moveaxis(corners - place, 1, 0)
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    dots = [np.einsum("ij,ij->i", x, y) for x, y in ((a, b), (b, c), (c, a))]
    angles = np.arctan2(volume, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb)
    return float(angles.sum() / (2.0 * np.pi))


def _check_crossings(points: FloatArray, faces: IntArray, pairs: IntArray) -> None:
    """No edge meets a face with which it has no vertex in common; with the folds, that is every self-intersection."""
    edges = np.stack((faces.ravel()[pairs[:, 0]], faces[:, (1, 2, 0)].ravel()[pairs[:, 0]]), axis=1)
    normals = Surface(points, faces).normals
    found, where = meetings(points[edges], edges, points, faces, normals, tolerance=_TOUCH, limit=_SOME_CROSSINGS)
    if found:
        through = ", ".join(f"edge {quoted(edges[e])} and face {f}" for e, f in where[:_NAMED])
        named = np.unique(np.concatenate((pairs[where[:, 0]].ravel() // 3, where[:, 1])))
        raise InputError(
            f"faces must not cross or touch each other, got {_plural(found, 'crossing')}: {through}"
            f"{_more(found - _NAMED)}; {_named('face', 'faces', named)} take part. Unite the parts in a mesh editor, "
            "or move them apart"
        )


# ------------------------------------------------------------------------------------------------------------- helpers


def groups(rows: IntArray, columns: IntArray, size: int) -> tuple[int, IntArray]:
    """Number of connected groups among `size` things, and the group of each."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(size, size))
    count, label = connected_components(graph, directed=False)
    return int(count), np.asarray(label, dtype=np.int64)


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _named(one: str, many: str, ids: IntArray) -> str:
    """The first few of some indices, and how many others there are: ``faces 3, 5 and 12 more``."""
    return f"{one if len(ids) == 1 else many} {', '.join(map(str, ids[:_NAMED].tolist()))}{_more(len(ids) - _NAMED)}"


def _listed(pairs: IntArray) -> str:
    shown = ", ".join(f"({a}, {b})" for a, b in pairs[:_NAMED].tolist())
    return shown + _more(len(pairs) - _NAMED)
