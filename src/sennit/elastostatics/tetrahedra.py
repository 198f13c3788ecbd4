"""The boundary stiffness of a solid by quadratic tetrahedra: the check of boundary elements, and for thin walls.

Let v be the nodal displacements of the tetrahedra, K their stiffness, N_i the hat function of surface vertex i. The
surface displacement Σ u_i N_i is joined to that of the tetrahedra in the mean against every hat, with tractions
Σ t_i N_i as multipliers (a mortar):

    K v = B t,   Bᵀv = M u,   f = M t        B = ∫φ N,  M = ∫N N
    S = M (Bᵀ K⁻¹ B)⁻¹ M                     (rigid motions set aside)

so that S u are the forces of the smallest energy among all quadratic fields with u as their projection. Two other ways
lock in thin walls, since they make the sides of the tetrahedra as stiff as linear ones: midside nodes tied to the mean
of their ends (a strip with edges 2.5 times its thickness bent 0.23 times as much as it should, here 0.99), and
separate multipliers on both sides of sharp edges (0.81).

K is singular. A few springs make it regular and are taken out again exactly, because they act on the moments Bᵀv that
u decides: K + κ B E Eᵀ Bᵀ gives S + κ M E Eᵀ M. Like that of boundary elements, S is then made exact for affine fields.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.spatial import cKDTree

from sennit.elastostatics.boundary.elements import affine_fields, make_affine_exact, traction_nodes
from sennit.elastostatics.columns import ColumnSolver, prepare
from sennit.elastostatics.stiffness import BoundaryStiffness, traction_mass
from sennit.elastostatics.surface import IntArray, Surface, groups, winding_number
from sennit.errors import InputError
from sennit.validation import FloatArray, array, number, quoted

__all__ = ["Tetrahedra", "checked_tetrahedra", "fem_stiffness", "outer_faces"]

Tetrahedra: TypeAlias = tuple[FloatArray, IntArray]
"""Points (p, 3), m, and cells (c, 4)."""
Progress: TypeAlias = Callable[[str, float], None]

_SPRINGS = 12
_QUALITY = 1.4
"""Largest circumradius over shortest edge that the mesher aims at."""
_FLAT = 1e-9
"""Smallest volume of a cell over the cube of its longest edge."""
_STRIPE = 256
_SIDES = np.array([(1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)])


def fem_stiffness(
    surface: Surface, poisson_ratio: float, tetrahedra: object = None, progress: Progress | None = None
) -> BoundaryStiffness:
    """The boundary stiffness at E = 1 Pa by quadratic tetrahedra.

    Needs scikit-fem, and tetgen where no tetrahedra are given (``pip install 'sennit[fem]'``). The package tetgen
    contains TetGen, which is under the GNU Affero General Public License: that is why it is an extra.

    Args:
        surface: the solid's surface, checked.
        poisson_ratio: ν, above −1 and below 0.5; quadratic tetrahedra become too stiff near 0.5.
        tetrahedra: points (p, 3) and cells (c, 4) that fill the surface, in any order; their outer faces must be the
            surface's. Left out, TetGen makes them and leaves the surface as it is.
        progress: called with what is being done and the part of the work that is done, 0 to 1.

    Returns:
        S exact for affine displacements and balanced; Y with the tractions of affine displacements exact on both sides
        of sharp edges and the rest continuous there, and M Y = S.

    Raises:
        InputError: a package is missing, TetGen fails, or the tetrahedra do not fill the surface.
    """
    nu = number("poisson_ratio", poisson_ratio, above=-1.0, below=0.5)
    tell = progress if progress is not None else _say_nothing
    skfem = _package("skfem", "scikit-fem")
    prepare()
    # Lengths of the order 1: K and the moments B are then of similar size at any scale of the body.
    unit = float(np.sqrt(surface.areas.sum()))
    tell("meshing", 0.0)
    if tetrahedra is None:
        points, cells = checked_tetrahedra(surface, _meshed(surface))
    else:
        points, cells = checked_tetrahedra(surface, tetrahedra)
    origin = surface.vertices.mean(axis=0)
    scaled = Surface((surface.vertices - origin) / unit, surface.faces)
    tell("assembly", 0.03)
    mesh = skfem.MeshTet(np.ascontiguousarray(((points - origin) / unit).T), np.ascontiguousarray(cells.T))
    K, basis = _stiffness_matrix(skfem, mesh, nu)
    B = _moments(scaled, mesh, basis)
    mass = traction_mass(scaled, scaled.faces)
    M = scipy.sparse.csr_array(scipy.sparse.kron(mass, np.eye(3)))
    springs = _spread(scaled)
    weights = np.repeat(scaled.vertex_areas[springs] ** -0.75, 3)  # √κ: about as stiff as the solid there
    held = (3 * springs[:, None] + np.arange(3)).ravel()
    pins = scipy.sparse.csc_array(B[:, held] * weights)
    tell("factorisation", 0.1)
    solver = ColumnSolver(K + pins @ pins.T)
    side = B.shape[1]
    A = np.empty((side, side), order="F")
    Bt = scipy.sparse.csr_array(B.T)
    for part, solution in solver.blocks(side, lambda part: B[:, part].toarray()):
        A[:, part] = Bt @ solution
        tell("solving for the surface", 0.2 + 0.65 * part.stop / side)
    del solver
    S = _inverse(A)
    tell("tractions", 0.9)
    S = np.asfortranarray((M @ (M @ S).T).T)
    pinned = (M[:, held] * weights).toarray()
    S -= pinned @ pinned.T
    S += S.T.copy()
    S *= 0.5
    make_affine_exact(scaled, nu, S)
    nodes = traction_nodes(scaled)
    Y = _tractions(scaled, nu, mass, nodes, S)
    S *= unit
    Y /= unit
    tell("done", 1.0)
    return BoundaryStiffness(S, Y, nodes, "fem")


def checked_tetrahedra(surface: Surface, tetrahedra: object) -> Tetrahedra:
    """Points and cells that fill `surface`, with the surface's vertices first and in its order, cells right-handed.

    Raises:
        InputError: wrong shapes; points of no cell; flat cells; outer faces that are not the surface's.
    """
    if not isinstance(tetrahedra, tuple | list) or len(tetrahedra) != 2:
        raise InputError(f"tetrahedra must be a pair (points, cells), got {quoted(tetrahedra)}")
    points = array("tetrahedra[0]", tetrahedra[0], (None, 3))
    cells = _cell_array(tetrahedra[1], len(points))
    unused = np.flatnonzero(np.bincount(cells.ravel(), minlength=len(points)) == 0)
    if len(unused):
        raise InputError(f"tetrahedra[0] must hold points of cells only, got {len(unused)} others, first {unused[0]}")
    n = len(surface.vertices)
    extent = float(np.ptp(surface.vertices, axis=0).max())
    distance, nearest = cKDTree(points).query(surface.vertices)
    lost = np.flatnonzero(distance > 1e-9 * extent)
    if len(lost) or len(np.unique(nearest)) < n:
        first = int(lost[0]) if len(lost) else 0
        raise InputError(
            f"tetrahedra must have a point at each of the surface's vertices, got none at {len(lost)} of them, "
            f"first {first} at {quoted(surface.vertices[first])}"
        )
    rest = np.setdiff1d(np.arange(len(points)), nearest)
    rank = np.empty(len(points), np.int64)
    rank[np.concatenate((nearest, rest))] = np.arange(len(points))
    points, cells = np.concatenate((surface.vertices, points[rest])), rank[cells]
    corners = points[cells]
    a, b, c = (corners[:, k] - corners[:, 0] for k in (1, 2, 3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    longest = np.maximum.reduce([np.linalg.norm(x, axis=1) for x in (a, b, c, b - a, c - b, a - c)])
    flat = np.flatnonzero(np.abs(volume) < _FLAT * longest**3)
    if len(flat):
        raise InputError(f"tetrahedra[1] must have cells with a volume, got {len(flat)} flat ones, first {flat[0]}")
    cells[volume < 0.0] = cells[volume < 0.0][:, (0, 2, 1, 3)]
    faces, counts = np.unique(np.sort(cells[:, _SIDES].reshape(-1, 3), axis=1), axis=0, return_counts=True)
    if counts.max() > 2:
        raise InputError(f"tetrahedra[1] must meet two at a face, got {np.count_nonzero(counts > 2)} faces with more")
    outer, wanted = faces[counts == 1], np.unique(np.sort(surface.faces, axis=1), axis=0)
    if outer.shape != wanted.shape or (outer != wanted).any():
        missing = len(wanted) - len({*map(tuple, outer.tolist())} & {*map(tuple, wanted.tolist())})
        raise InputError(
            f"tetrahedra must fill the surface, got {len(outer)} outer faces where the surface has {len(wanted)}, "
            f"{missing} of which are missing"
        )
    return points, cells


def outer_faces(points: FloatArray, cells: object) -> tuple[IntArray, IntArray, IntArray]:
    """Points on the surface of tetrahedra, sorted (n,); its faces (m, 3) among them, wound outwards; cells (c, 4)."""
    try:
        given = np.asarray(cells)
    except Exception:  # whatever the value's own methods raise
        given = np.zeros(0)
    if given.ndim != 2 or given.shape[1] != 4 or given.dtype.kind not in "iu" or not len(given):
        raise InputError(f"cells must be an array of whole numbers of shape (c, 4), got {quoted(cells)}")
    if given.min() < 0 or given.max() >= len(points):
        raise InputError(
            f"cells must hold indices of points, 0 to {len(points) - 1}, got {given.min()} to {given.max()}"
        )
    turned = given.astype(np.int64)
    a, b, c, d = np.moveaxis(points[turned], 1, 0)
    inverted = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) < 0.0
    turned[inverted] = turned[inverted][:, (0, 2, 1, 3)]
    faces = np.concatenate([turned[:, k] for k in ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))])
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    outer = faces[np.sort(first[count == 1])]
    ids = np.unique(outer)
    return ids, np.searchsorted(ids, outer), turned


def _cell_array(cells: object, count: int) -> IntArray:
    try:
        given = np.asarray(cells)
    except (ValueError, TypeError):
        raise InputError(f"tetrahedra[1] must be an array of shape (c, 4), got {quoted(cells)}") from None
    if given.ndim != 2 or given.shape[1] != 4 or len(given) == 0 or given.dtype.kind not in "iu":
        raise InputError(
            f"tetrahedra[1] must be an array of whole numbers of shape (c, 4), got {quoted(cells)} of {given.shape}"
        )
    wrong = np.flatnonzero(((given < 0) | (given >= count)).any(axis=1))
    if len(wrong):
        raise InputError(
            f"tetrahedra[1] must hold indices from 0 to {count - 1}, got row {wrong[0]}: {quoted(given[wrong[0]])}"
        )
    return np.array(given, dtype=np.int64)


# ------------------------------------------------------------------------------------------------------------- meshing


def _package(name: str, title: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise InputError(f"method='fem' needs the package {title}: pip install 'sennit[fem]'") from None


def _meshed(surface: Surface) -> Tetrahedra:
    """Tetrahedra inside `surface` whose outer faces are its faces."""
    tetgen = _package("tetgen", "tetgen (or give tetrahedra=(points, cells))")
    extent = float(np.ptp(surface.vertices, axis=0).max())
    origin = surface.vertices.mean(axis=0)
    try:
        mesher = tetgen.TetGen((surface.vertices - origin) / extent, surface.faces.astype(np.int32))
        points, cells = mesher.tetrahedralize(nobisect=True, quality=True, minratio=_QUALITY, quiet=True)[:2]
    except RuntimeError as problem:
        raise InputError(
            f"faces: TetGen can't fill this surface ({' '.join(str(problem).split())}); refine it, or give "
            "tetrahedra=(points, cells)"
        ) from None
    points, cells = np.asarray(points) * extent + origin, np.asarray(cells, dtype=np.int64)
    points[: len(surface.vertices)] = surface.vertices
    return _without_cavities(surface, points, cells)


def _without_cavities(surface: Surface, points: FloatArray, cells: IntArray) -> Tetrahedra:
    """TetGen fills cavities too: drop each region, bounded by faces of the surface, that is not in the material."""
    sides = np.sort(cells[:, _SIDES].reshape(-1, 3), axis=1)
    _, label, counts = np.unique(
        np.concatenate((sides, np.sort(surface.faces, axis=1))), axis=0, return_inverse=True, return_counts=True
    )
    label = label.ravel()
    walls = np.zeros(len(counts), dtype=bool)
    walls[label[len(sides) :]] = True
    order = np.argsort(label[: len(sides)], kind="stable")
    same = np.flatnonzero(label[order[1:]] == label[order[:-1]])
    same = same[~walls[label[order[same]]]]
    count, region = groups(order[same] // 4, order[same + 1] // 4, len(cells))
    if count == 1:
        return points, cells
    corners = surface.vertices[surface.faces]
    inside = [winding_number(points[cells[np.argmax(region == k)]].mean(axis=0), corners) > 0.5 for k in range(count)]
    cells = cells[np.array(inside)[region]]
    used, numbers = np.unique(cells, return_inverse=True)
    return points[used], numbers.reshape(cells.shape)


# ------------------------------------------------------------------------------------------------------------ matrices


def _stiffness_matrix(skfem: Any, mesh: Any, nu: float) -> tuple[scipy.sparse.csc_array, Any]:
    """K of an isotropic solid with E = 1, and the basis that numbers its degrees of freedom."""
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTetP2()), intorder=2)
    K = linear_elasticity(*lame_parameters(1.0, nu)).assemble(basis)
    return scipy.sparse.csc_array(K), basis


def _moments(surface: Surface, mesh: Any, basis: Any) -> scipy.sparse.csc_array:
    """B = ∫φ N: quadratic functions of the surface's nodes against hats, for each component.

    On a triangle of area A, for the hat of a corner: A/30 with the corner's own φ, −A/60 with the other corners', 2A/15
    with the two midsides beside it, A/15 with the opposite one.
    """
    faces, areas = surface.faces, surface.areas
    ends = np.sort(mesh.edges, axis=0)
    count = mesh.p.shape[1]
    key = ends[0] * count + ends[1]
    order = np.argsort(key)
    rows, columns, values = [], [], []
    for j in range(3):
        k, l = (j + 1) % 3, (j + 2) % 3
        low, high = np.minimum(faces[:, k], faces[:, l]), np.maximum(faces[:, k], faces[:, l])
        corner = basis.dofs.nodal_dofs[:, faces[:, j]]
        opposite = basis.dofs.edge_dofs[:, order[np.searchsorted(key[order], low * count + high)]]
        for i in range(3):
            for degrees, weight in ((corner, 1 / 30 if i == j else -1 / 60), (opposite, 1 / 15 if i == j else 2 / 15)):
                rows.append(degrees.ravel())
                columns.append((3 * faces[:, i] + np.arange(3)[:, None]).ravel())
                values.append(np.tile(weight * areas, 3))
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return scipy.sparse.csc_array(scipy.sparse.coo_array(entries, shape=(basis.N, 3 * len(surface.vertices))))


def _spread(surface: Surface) -> IntArray:
    """A few vertices far from each other."""
    chosen = [0]
    distance = np.linalg.norm(surface.vertices - surface.vertices[0], axis=1)
    while len(chosen) < min(_SPRINGS, len(surface.vertices)):
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(surface.vertices - surface.vertices[chosen[-1]], axis=1))
    return np.sort(np.array(chosen, dtype=np.int64))


def _inverse(A: FloatArray) -> FloatArray:
    """A⁻¹ of a symmetric positive matrix, in its place."""
    A += A.T.copy()
    A *= 0.5
    factor, info = scipy.linalg.lapack.dpotrf(A, lower=True, overwrite_a=True, clean=False)
    if info == 0:
        factor, info = scipy.linalg.lapack.dpotri(factor, lower=True, overwrite_c=True)
    if info != 0:
        raise InputError("tetrahedra: their stiffness is not positive to rounding; some are nearly flat: mesh anew")
    for start in range(0, len(factor), _STRIPE):  # the lower triangle to the upper one, without a copy of it all
        stop = min(start + _STRIPE, len(factor))
        block = np.tril(factor[start:stop, start:stop])
        factor[start:stop, start:stop] = block + np.tril(block, -1).T
        factor[start:stop, stop:] = factor[stop:, start:stop].T
    return np.asarray(factor)


def _tractions(surface: Surface, nu: float, mass: scipy.sparse.csr_array, nodes: IntArray, S: FloatArray) -> FloatArray:
    """Y: the mean strain's σn at each traction node, and what of the forces is left spread as continuous hats."""
    lame, shear = nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), 0.5 / (1.0 + nu)
    stress = np.zeros((6, 3, 3))
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        stress[k] = lame * np.eye(3)
        stress[k, k, k] += 2.0 * shear
        stress[3 + k, i, j] = stress[3 + k, j, i] = shear
    count, n = int(nodes.max()) + 1, len(surface.vertices)
    normals, areas, vertex = np.zeros((count, 3)), np.zeros(count), np.empty(count, np.int64)
    for corner in range(3):
        np.add.at(normals, nodes[:, corner], surface.areas[:, None] * surface.normals)
        np.add.at(areas, nodes[:, corner], surface.areas)
        vertex[nodes[:, corner]] = surface.faces[:, corner]
    pulls = np.einsum("sij,gj->gis", stress, normals / areas[:, None]).reshape(3 * count, 6)
    strains = affine_fields(surface, nu)[1][:, :6].T  # the mean strain of a displacement
    group_mass = scipy.sparse.kron(traction_mass(surface, nodes), np.eye(3))
    rest = S - (group_mass @ pulls) @ strains
    rest = rest.reshape(n, 9 * n)
    spread = np.empty_like(rest)
    solver = ColumnSolver(scipy.sparse.csc_array(mass))
    for part, solution in solver.blocks(9 * n, lambda part: rest[:, part]):
        spread[:, part] = solution
    Y = np.asfortranarray(spread.reshape(n, 3, 3 * n)[vertex].reshape(3 * count, 3 * n))
    Y += pulls @ strains
    return Y


def _say_nothing(what: str, done: float) -> None:
    return
