"""The tables of rigid shapes: what the kernels of signed distances read."""

from __future__ import annotations

from collections.abc import Sequence

from sennit.geometry.kernels.distances import HEIGHTS, MESH, TUBES
from sennit.tables import PARAMETER, PLAN, STATE, Table, number, table, whole

__all__ = ["NO_HEIGHTS", "NO_TREE", "NO_TUBES", "Heights", "MeshTree", "ShapeTable", "TubeParts", "stacked"]


class MeshTree(Table):
    """Closed meshes: their triangles in the leaves of trees of boxes, which stand in preorder, in the shapes' frames.

    The trees of several meshes stand one after the other; boxes and triangles are numbered through.
    """

    low = number(PLAN, "lowest corner of each box, m", 3, of="boxes")
    high = number(PLAN, "highest corner, m", 3, of="boxes")
    skip = whole(PLAN, "box that follows when all that is in this one is left out", of="boxes")
    first = whole(PLAN, "first triangle of a leaf", of="boxes")
    count = whole(PLAN, "triangles of a leaf; 0: two boxes stand in this one", of="boxes")
    corners = number(PLAN, "corners of the triangles, m", 3, 3, of="triangles")
    normals = number(PLAN, "unit normals of the face, of its edges 01, 12, 20 and of its corners", 7, 3, of="triangles")


class Heights(Table):
    """Heights of the nodes of height fields, one field after the other, y running fastest."""

    z = number(PLAN, "m, in the shape's frame", of="nodes")


class TubeParts(Table):
    """Straight parts of tubes, one shape after the other, in the shapes' frames: see `kernels.tubes`."""

    begin = number(PLAN, "where its axis begins, m", 3, of="parts")
    axis = number(PLAN, "unit vector along it", 3, of="parts")
    length = number(PLAN, "of its axis, m", of="parts")
    radius = number(PLAN, "inner radius where it begins, m", of="parts")
    widening = number(PLAN, "dR/ds of the inner radius", of="parts")
    cosine = number(PLAN, "of the slope of its bore, 1/√(1 + (dR/ds)²)", of="parts")
    wall = number(PLAN, "half the thickness of its wall, m", of="parts")
    opens = whole(PLAN, "sum of OPEN_ and JOINED_, BEHIND and AHEAD: its ends", of="parts")


class ShapeTable(Table):
    """Rigid shapes somewhere in space, one in each row."""

    kind = whole(PLAN, "SPHERE, PLANE, BOX, MESH, CYLINDER, CAPSULE, HEIGHTS or TUBES")
    first = whole(PLAN, "of a mesh its first box in `tree`, of a height field its first node in `heights`, of tubes "
                  "their first part in `tubes`")  # fmt: skip
    end = whole(PLAN, "where they end")
    cells = whole(PLAN, "cells of a height field along x and y", 2)
    size = number(
        PARAMETER,
        "radius of a sphere; half the edges of a box; radius and half the length of a cylinder or a capsule, of its "
        "straight part; half the edges of a height field, its lowest and highest height; m",
        4,
    )
    ball = number(PARAMETER, "radius of a ball about the origin that holds the shape, m; ∞ for one without an end")
    place = number(STATE, "where its origin is, m", 3)
    turn = number(STATE, "rotation from its own frame to the world", 3, 3)
    tree = table(MeshTree, "of the meshes among them")
    heights = table(Heights, "of the height fields among them")
    tubes = table(TubeParts, "of the tubes among them")


NO_TREE = MeshTree(boxes=0, triangles=0)
"""For shapes that are no meshes."""
NO_HEIGHTS = Heights(nodes=0)
"""For shapes that are no height fields."""
NO_TUBES = TubeParts(parts=0)
"""For shapes that are no tubes."""


def stacked(tables: Sequence[ShapeTable]) -> ShapeTable:
    """All shapes of some tables in one, in order."""
    boxes, triangles = sum(len(t.tree.skip) for t in tables), sum(len(t.tree.corners) for t in tables)
    tree, heights = MeshTree(boxes=boxes, triangles=triangles), Heights(nodes=sum(len(t.heights.z) for t in tables))
    tubes = TubeParts(parts=sum(len(t.tubes.length) for t in tables))
    made = ShapeTable(rows=sum(len(t) for t in tables), tree=tree, heights=heights, tubes=tubes)
    row = box = triangle = node = tube = 0
    for part in tables:
        rows, inner = slice(row, row + len(part)), part.tree
        for name, array in part.fields().items():
            getattr(made, name)[rows] = array
        shift = (part.kind == MESH) * box + (part.kind == HEIGHTS) * node + (part.kind == TUBES) * tube
        made.first[rows] += shift
        made.end[rows] += shift
        here, faces = slice(box, box + len(inner.skip)), slice(triangle, triangle + len(inner.corners))
        tree.low[here], tree.high[here], tree.count[here] = inner.low, inner.high, inner.count
        tree.skip[here], tree.first[here] = inner.skip + box, inner.first + triangle
        tree.corners[faces], tree.normals[faces] = inner.corners, inner.normals
        heights.z[node : node + len(part.heights.z)] = part.heights.z
        parts = slice(tube, tube + len(part.tubes.length))
        for name, array in part.tubes.fields().items():
            getattr(tubes, name)[parts] = array
        row, box, triangle, node, tube = rows.stop, here.stop, faces.stop, node + len(part.heights.z), parts.stop
    return made
