"""The boundary stiffness of a solid by collocation with Kelvin's solution on linear triangles.

    H u = G t,   Y = G⁻¹ H,   S₀ = M Y,   S = Pᵀ ½(S₀ + S₀ᵀ) P + F (XᵀF)⁻¹ Fᵀ

u stands at vertices, t at traction nodes (more than one at a vertex on an edge of the solid), M = ∫N_i N_k. S₀ is
nearly symmetric. The last step makes it exactly so, and exact where exactness can be had: X are the six fields of
constant strain and F = ∫N σn their nodal forces, both known; P takes the affine part out of a displacement. So S is
exact for affine fields, its forces balance, and it is positive unless a wall is too thin for its triangles.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from sennit.compile_once import compile_once
from sennit.elastostatics.boundary.walls import direction_downhill, explain_indefinite
from sennit.elastostatics.kernels.boundary import assemble, forces, symmetrise
from sennit.elastostatics.kernels.kelvin import LANES, POINTS, TENSORS, describe_all
from sennit.elastostatics.stiffness import BoundaryStiffness, traction_mass
from sennit.elastostatics.surface import IntArray, Surface, along_curve, thin_walls
from sennit.elastostatics.tables import Elements, LaneWork, Points
from sennit.errors import InputError
from sennit.validation import FloatArray, number, quoted

__all__ = ["affine_fields", "boundary_stiffness", "explain_indefinite", "make_affine_exact", "traction_nodes"]

Progress = Callable[[str, float], None]

_EDGE_COSINE = 0.5 + 1e-6  # faces that turn by 60° and more do not share a traction (a hexagonal bar's do not)
# A corner's collocation point lies this far towards the opposite edge. The further in, the more accurate; but along
# sharp edges of nearly incompressible bodies the stiffness may turn indefinite then, and the second place is taken.
_INWARD = (0.25, 0.1)
_SAFE_RATIO = 0.4  # up to this Poisson's ratio only thin walls make a stiffness that is not positive
_THICK = 2.0  # edges; walls thinner than that count as thin


def traction_nodes(surface: Surface) -> IntArray:
    """Traction node of each corner of each face, (m, 3).

    A node is a vertex with a fan of its faces, joined by edges that turn by less than 60°: tractions jump at sharper
    edges. Nodes are numbered by vertex.
    """
    faces = surface.faces
    count = len(faces)
    # Each side of a face from its corner k to its corner k + 1; two faces share it in opposite directions.
    tail, head = faces.T.ravel(), np.roll(faces, -1, axis=1).T.ravel()
    face, corner = np.tile(np.arange(count), 3), np.repeat(np.arange(3), count)
    key = np.minimum(tail, head) * len(surface.vertices) + np.maximum(tail, head)
    order = np.lexsort((tail > head, key))
    one, two = order[::2], order[1::2]
    smooth = np.einsum("ij,ij->i", surface.normals[face[one]], surface.normals[face[two]]) > _EDGE_COSINE
    one, two = one[smooth], two[smooth]
    at_tail, at_head = 3 * face + corner, 3 * face + (corner + 1) % 3
    left, right = np.concatenate((at_tail[one], at_head[one])), np.concatenate((at_head[two], at_tail[two]))
    graph = scipy.sparse.coo_array((np.ones(len(left)), (left, right)), shape=(3 * count, 3 * count))
    _, label = connected_components(graph, directed=False)
    _, node = np.unique(faces.ravel() * (3 * count) + label, return_inverse=True)
    return np.asarray(node.reshape(count, 3), dtype=np.int64)


def _collocation_points(surface: Surface, nodes: IntArray, inward: float) -> Points:
    """The vertex itself where all its faces share a traction, else a point inside the group's largest face."""
    corners = surface.faces.ravel()
    label = nodes.ravel()
    # The last corner of each node when sorted by area is that of its largest face. Areas that differ by rounding are
    # the same and leave it to the first face, so that a body turned in space keeps its points.
    rank = np.round(np.log(surface.areas / surface.areas.max()) * 1e6)
    order = np.lexsort((-np.arange(len(label)), np.repeat(rank, 3), label))
    last = order[np.append(np.flatnonzero(np.diff(label[order])), len(order) - 1)]
    owner = corners[last]
    face, corner = last // 3, last % 3
    alone = np.bincount(owner, minlength=len(surface.vertices))[owner] == 1
    share = np.full((len(last), 3), inward / 2.0)
    share[np.arange(len(last)), corner] = 1.0 - inward
    inside = np.einsum("ij,ijk->ik", share, surface.vertices[surface.faces[face]])
    places = np.where(alone[:, None], surface.vertices[owner], inside)
    order = _neighbours_together(places)
    points = Points(rows=len(places))
    points.x[:], points.y[:], points.z[:] = places[order].T
    points.vertex[:] = np.where(alone, owner, -1)[order]
    points.face[:] = np.where(alone, -1, face)[order]
    points.share[:] = share[order]
    return points


def _neighbours_together(places: FloatArray) -> IntArray:
    """Order of points (k, 3) along Morton's curve."""
    low = places.min(axis=0)
    cells = ((places - low) * (1023.0 / np.ptp(places, axis=0).max())).astype(np.int64)
    return np.argsort(along_curve(cells), kind="stable")


def boundary_stiffness(surface: Surface, poisson_ratio: float, progress: Progress | None = None) -> BoundaryStiffness:
    """S and Y of the solid inside `surface`, at Young's modulus 1 Pa, by boundary elements.

    `poisson_ratio` lies between −1 and 0.5, both excluded. `progress` is called with what is being done and the
    fraction done so far.

    Raises `InputError` for another ratio, and where S is not positive: where walls are too thin for their triangles
    (about half as thick as these are long), and on some meshes with sharp edges of nearly incompressible bodies.
    """
    nu = _checked_ratio(poisson_ratio)
    tell = progress if progress is not None else _nothing
    compile_once("boundary element", [_compile])
    # Lengths are measured in this unit inside, so that millimetres and metres are all the same.
    unit = float(np.sqrt(surface.areas.sum()))
    middle = surface.areas @ surface.vertices[surface.faces].mean(axis=1) / surface.areas.sum()
    scaled = Surface((surface.vertices - middle) / unit, surface.faces)
    nodes = traction_nodes(scaled)
    sharp = int(nodes.max()) + 1 > len(scaled.vertices)
    doubtful = (sharp and nu > _SAFE_RATIO) or len(thin_walls(scaled, _THICK)) > 0
    for inward in _INWARD:
        tell("Integrating Kelvin's solution", 0.0)
        G, H = _matrices(scaled, nodes, nu, inward)
        tell("Solving for tractions", 0.1)
        tractions = _solved(G, H, tell)
        del G, H
        tell("Making the stiffness symmetric", 0.95)
        stiffness = _stiffness(scaled, nodes, nu, tractions)
        if not doubtful:
            break  # Green's functions look at it again, for the vertices that are free
        tell("Checking that it is positive", 0.96)
        downhill = direction_downhill(stiffness, affine_fields(scaled, nu)[0][:, 6:])
        if downhill is None:
            break
        if not sharp or inward == _INWARD[-1]:
            raise InputError(explain_indefinite(scaled, downhill, nu))
    stiffness *= unit
    tractions /= unit
    tell("Done", 1.0)
    return BoundaryStiffness(stiffness, tractions, nodes, "bem")


def _nothing(text: str, fraction: float) -> None:
    pass


def _checked_ratio(poisson_ratio: object) -> float:
    nu = number("poisson_ratio", poisson_ratio)
    if not -1.0 < nu < 0.5:
        raise InputError(
            f"poisson_ratio must lie between -1 and 0.5, both excluded, got {quoted(poisson_ratio)}; for a "
            "material that keeps its volume use 0.499"
        )
    return nu


def _matrices(surface: Surface, nodes: IntArray, nu: float, inward: float) -> tuple[FloatArray, FloatArray]:
    """G (3g, 3g) and H (3g, 3n), column after column in memory."""
    points = _collocation_points(surface, nodes, inward)
    elements = Elements(rows=len(surface.faces))
    # Triangles in the same kind of order: the columns that one writes to are still near when the next one does.
    order = _neighbours_together(surface.vertices[surface.faces].mean(axis=1))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    elements.vertices[:] = surface.faces[order]
    elements.nodes[:] = nodes[order]
    describe_all(elements, surface.vertices)
    points.face[:] = np.where(points.face >= 0, rank[points.face], -1)
    count = len(points)
    G = np.zeros((3 * count, 3 * count), order="F")
    H = np.zeros((3 * count, 3 * len(surface.vertices)), order="F")
    work = LaneWork(
        rows=-(-count // LANES), tensors=POINTS * TENSORS * LANES, corners=3 * LANES, stresses=9 * LANES, lanes=LANES
    )
    assemble(points, elements, nu, G.ravel(order="K"), H.ravel(order="K"), work)
    return G, H


def _solved(G: FloatArray, H: FloatArray, tell: Progress) -> FloatArray:
    """G⁻¹ H in the place of H; G is overwritten."""
    factor, pivots = scipy.linalg.lu_factor(G, overwrite_a=True, check_finite=False)
    tell("Solving for tractions", 0.3)
    (solve,) = scipy.linalg.get_lapack_funcs(("getrs",), (G,))
    pieces = 4
    bounds = np.linspace(0, H.shape[1], pieces + 1).astype(int)
    for piece in range(pieces):
        some = H[:, bounds[piece] : bounds[piece + 1]]
        solution, _ = solve(factor, pivots, some, overwrite_b=True)
        if not np.shares_memory(solution, some):
            some[:] = solution
        tell("Solving for tractions", 0.3 + 0.65 * (piece + 1) / pieces)
    return H


def _stiffness(surface: Surface, nodes: IntArray, nu: float, tractions: FloatArray) -> FloatArray:
    """S from Y."""
    mass = traction_mass(surface, nodes)
    side = 3 * len(surface.vertices)
    S = np.empty((side, side), order="F")
    forces(
        mass.indptr.astype(np.uint64),
        3 * mass.indices.astype(np.uint64),
        mass.data,
        tractions.ravel(order="K"),
        len(tractions),
        S.ravel(order="K"),
    )
    make_affine_exact(surface, nu, S)
    return S


def affine_fields(surface: Surface, nu: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """X (3n, 12), W (3n, 12) and F (3n, 6): affine fields, how they are read off a displacement, forces of the strains.

    X has the six constant strains (xx, yy, zz, yz, zx, xy, orthogonal to rigid motions) and then the six rigid
    motions; Wᵀ X = 1, and P = 1 − X Wᵀ. Strains are measured by the work of their own forces, W = F (XᵀF)⁻¹, so that P
    splits the energy too; rigid motions by area, W = A X (XᵀA X)⁻¹.
    """
    vertices = surface.vertices
    count = len(vertices)
    weights = surface.vertex_areas
    x = vertices - weights @ vertices / weights.sum()
    rigid = np.zeros((count, 3, 6))
    strain = np.zeros((count, 3, 6))
    stress = np.zeros((6, 3, 3))
    lame, shear = nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), 0.5 / (1.0 + nu)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        rigid[:, k, k] = 1.0
        rigid[:, i, 3 + k], rigid[:, j, 3 + k] = -x[:, j], x[:, i]
        strain[:, k, k] = x[:, k]
        strain[:, i, 3 + k], strain[:, j, 3 + k] = 0.5 * x[:, j], 0.5 * x[:, i]
        stress[k] = lame * np.eye(3)
        stress[k, k, k] += 2.0 * shear
        stress[3 + k, i, j] = stress[3 + k, j, i] = shear
    moves, strains = rigid.reshape(3 * count, 6), strain.reshape(3 * count, 6)
    weighted = np.repeat(weights, 3)[:, None] * moves
    read_moves = np.linalg.solve(moves.T @ weighted, weighted.T).T
    strains -= moves @ (read_moves.T @ strains)
    # ∫N n over the faces round a vertex: a third of each.
    pull = np.zeros((count, 3))
    for corner in range(3):
        np.add.at(pull, surface.faces[:, corner], surface.areas[:, None] / 3.0 * surface.normals)
    force = np.einsum("sij,nj->nis", stress, pull).reshape(3 * count, 6)
    energy = strains.T @ force
    read_strains = np.linalg.solve(0.5 * (energy + energy.T), force.T).T
    return np.hstack((strains, moves)), np.hstack((read_strains, read_moves)), force


def make_affine_exact(surface: Surface, nu: float, S: FloatArray) -> None:
    """``S`` <- Pᵀ A P + F (XᵀF)⁻¹ Fᵀ with A = ½ (S + Sᵀ), in place.

    With P = 1 − X Wᵀ and B = A X − ½ W (Xᵀ A X): Pᵀ A P = A − B Wᵀ − W Bᵀ, an update of low rank. It is symmetric, so
    S may be made so after it.
    """
    X, W, F = affine_fields(surface, nu)
    multiply = scipy.linalg.blas.dgemm
    columns = np.asfortranarray(X)
    B = 0.5 * (multiply(1.0, S, columns) + multiply(1.0, S, columns, trans_a=True))
    B -= 0.5 * W @ (X.T @ B)
    left = np.asfortranarray(np.hstack((-B, -W, W[:, :6])))
    right = np.asfortranarray(np.hstack((W, B, F)))
    multiply(1.0, left, right, beta=1.0, c=S, trans_b=True, overwrite_c=True)
    symmetrise(S)


def _compile() -> None:
    """Run every kernel once on a tetrahedron."""
    vertices = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    surface = Surface(vertices, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    nodes = traction_nodes(surface)
    _, H = _matrices(surface, nodes, 0.3, _INWARD[0])
    _stiffness(surface, nodes, 0.3, H)
