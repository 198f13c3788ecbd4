"""The tables of rigid shapes: what the kernels of signed distances read."""

from __future__ import annotations

from sennit.tables import PARAMETER, PLAN, STATE, Table, number, table, whole

__all__ = ["NO_TREE", "MeshTree", "ShapeTable"]


class MeshTree(Table):
    """A closed mesh: its triangles in the leaves of a tree of boxes, which stand in preorder, in the shape's frame."""

    low = number(PLAN, "lowest corner of each box, m", 3, of="boxes")
    high = number(PLAN, "highest corner, m", 3, of="boxes")
    skip = whole(PLAN, "box that follows when all that is in this one is left out", of="boxes")
    first = whole(PLAN, "first triangle of a leaf", of="boxes")
    count = whole(PLAN, "triangles of a leaf; 0: two boxes stand in this one", of="boxes")
    corners = number(PLAN, "corners of the triangles, m", 3, 3, of="triangles")
    normals = number(PLAN, "unit normals of the face, of its edges 01, 12, 20 and of its corners", 7, 3, of="triangles")


class ShapeTable(Table):
    """One rigid shape somewhere in space, in one row."""

    kind = whole(PLAN, "SPHERE, PLANE, BOX or MESH")
    size = number(PARAMETER, "radius of a sphere, or half the edges of a box, m", 3)
    ball = number(PARAMETER, "radius of a ball about the origin that holds the shape, m; ∞ for a plane")
    place = number(STATE, "where its origin is, m", 3)
    turn = number(STATE, "rotation from its own frame to the world", 3, 3)
    tree = table(MeshTree, "of a mesh; empty for other shapes")


NO_TREE = MeshTree(boxes=0, triangles=0)
"""For shapes that are no meshes."""
