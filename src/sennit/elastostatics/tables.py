"""The tables of zones: their surfaces and places on them, triangles and points of boundary elements, sparse factors."""

from __future__ import annotations

from sennit.tables import PARAMETER, PLAN, WORK, Table, number, whole

__all__ = [
    "Answers", "Elements", "FaceGrid", "LaneWork", "Pairs", "PlaceWork", "Points", "Segments", "Skin", "SparseFactors",
    "Touched",
]  # fmt: skip


class Skin(Table):
    """A surface, and what finds places on it: a tree of boxes round its triangles, and neighbours."""

    low = number(PLAN, "lowest corner of each box, m; node k stands above 2k+1 and 2k+2", 3, of="boxes")
    high = number(PLAN, "highest corner, m", 3, of="boxes")
    corners = number(PLAN, "corners of the triangles in the leaves, m; 0 where there is none", 3, 3, of="leaf_places")
    order = whole(PLAN, "faces in the leaves along a space-filling curve; −1: none", of="leaf_places")
    vertices = number(PLAN, "places, m", 3, of="vertices")
    faces = whole(PLAN, "corners, counter-clockwise seen from outside", 3, of="faces")
    areas = number(PLAN, "areas of the faces, m²", of="faces")
    beside = whole(PLAN, "the face across the edge from each corner to the next", 3, of="faces")
    spacing = number(PLAN, "usual radius of a patch at each vertex, m", of="vertices")


class Answers(Table):
    """What the free nodes of a body answer to forces on them."""

    compliance = number(PLAN, "C at E = 1, m/N times Pa; row 3 slot + axis", "axes", of="axes")
    slot = whole(PLAN, "place of each vertex among the free ones, −1 for fixed ones", of="vertices")


class PlaceWork(Table):
    """Scratch of looking for places and patches; for one thread."""

    stack = whole(WORK, "boxes that are still to be looked at", of="levels")
    queue = whole(WORK, "faces that are still to be looked at", of="faces")
    mark = whole(WORK, "1 for faces that were queued, while it is in use: 0 before and after", of="faces")
    used = whole(WORK, "1 + place in the patch of each vertex, while it is in use: 0 before and after", of="vertices")
    ids = whole(WORK, "vertices of the patch", of="vertices")
    weights = number(WORK, "their weights, which sum to 1", of="vertices")


class Touched(Table):
    """What a probe asks, and what it feels, in one row."""

    place = number(PARAMETER, "where it touches, m", 3)
    given = number(PARAMETER, "its displacement, m (NaN: none is given along that axis), or its force, N", 3)
    face = whole(WORK, "face that is touched")
    barycentric = number(WORK, "place in that face", 3)
    foot = number(WORK, "point of the undeformed surface nearest to the place asked for, m", 3)
    distance = number(WORK, "between the two, m")
    radius = number(WORK, "of the patch, m; 0 for the bare point")
    farthest = number(WORK, "distance of a corner that the radius does not reach, m")
    force = number(WORK, "what the probe applies, N", 3)
    moved = number(WORK, "displacement of the patch, m", 3)
    compliance = number(WORK, "of the patch at E = 1, m/N times Pa", 3, 3)


class Elements(Table):
    """The triangles of boundary elements."""

    corners = number(PLAN, "places of the corners a, b, c, m", 3, 3)
    along = number(PLAN, "e₁, unit, along ab", 3)
    across = number(PLAN, "e₂ = n × e₁", 3)
    normal = number(PLAN, "n, unit, outward", 3)
    length = number(PLAN, "of ab, m")
    apex_along = number(PLAN, "c − a along e₁, m")
    apex_across = number(PLAN, "c − a along e₂, m")
    centre = number(PLAN, "centroid, m", 3)
    reach = number(PLAN, "longest edge, m")
    vertices = whole(PLAN, "vertices at the corners", 3)
    nodes = whole(PLAN, "traction nodes at the corners", 3)


class Points(Table):
    """Collocation points, one for each traction node, in an order that keeps neighbours together."""

    x = number(PLAN, "coordinate, m")
    y = number(PLAN, "coordinate, m")
    z = number(PLAN, "coordinate, m")
    vertex = whole(PLAN, "the vertex on which the point lies, or −1")
    face = whole(PLAN, "else the triangle inside which it lies, or −1")
    share = number(PLAN, "shape functions of its triangle there", 3)


class LaneWork(Table):
    """Scratch of the integrals from a block of points over one triangle; a row for each block."""

    tensors = number(WORK, "U (6) and T (9) at each Gauss point for all points", "tensors")
    integrals = number(WORK, "integrals of one component times the three shape functions, for all points", "corners")
    totals = number(WORK, "∫T (9) over all triangles that do not hold the point", "stresses")
    unused = number(WORK, "what nobody asks for", "lanes")
    weight = number(WORK, "0 for points near the triangle, else 1", "lanes")
    near_u = number(WORK, "∫U N_j from one near point: corner, direction of the force, of the answer", 3, 3, 3)
    near_t = number(WORK, "∫T N_j from one near point", 3, 3, 3)


class SparseFactors(Table):
    """Factors L and U of a sparse matrix by columns, what stands on the diagonal left out."""

    lower_start = whole(PLAN, "where each column of L begins", of="starts")
    lower_row = whole(PLAN, "rows of the entries of L", of="lower_entries")
    lower = number(PLAN, "entries of L, whose diagonal is 1", of="lower_entries")
    upper_start = whole(PLAN, "where each column of U begins", of="starts")
    upper_row = whole(PLAN, "rows of the entries of U", of="upper_entries")
    upper = number(PLAN, "entries of U", of="upper_entries")
    pivot = number(PLAN, "diagonal of U", of="rows")


class FaceGrid(Table):
    """Triangles in the cells of a uniform grid."""

    vertices = number(PLAN, "places, m", 3, of="vertices")
    faces = whole(PLAN, "corners of the triangles", 3, of="faces")
    normals = number(PLAN, "unit normals of the triangles", 3, of="faces")
    first = whole(PLAN, "lowest cell of each triangle's box", 3, of="faces")
    low = number(PLAN, "lowest corner of each triangle's box, widened by the tolerance, m", 3, of="faces")
    high = number(PLAN, "highest corner of each triangle's box, widened by the tolerance, m", 3, of="faces")
    shape = whole(PLAN, "number of cells along each axis", of="axes")
    starts = whole(PLAN, "where each cell's triangles begin in `entries`", of="ends")
    entries = whole(PLAN, "triangles of the cells, one cell after the other", of="entries")


class Segments(Table):
    """Segments that may meet triangles."""

    ends = number(PLAN, "both ends, m", 2, 3)
    owners = whole(PLAN, "vertices whose triangles are left out", "owners")
    first = whole(PLAN, "lowest cell of the segment's box", 3)
    last = whole(PLAN, "highest cell of the segment's box", 3)


class Pairs(Table):
    """Segments that meet triangles: as many as there is room for."""

    segment = whole(WORK, "number of the segment")
    face = whole(WORK, "number of the triangle")
