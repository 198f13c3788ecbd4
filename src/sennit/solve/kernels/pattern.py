"""The list of the matrix's entries: (row, column, slot in its numbers), and its unknowns in blocks.

Blocks: each control point (4), rigid body (6), slider (1), place of a zone (3 or 6), and the equality rows of each
constraint together. Rows are eliminated after what they tie, sliders without mass after the rows that hold them.
"""

from __future__ import annotations

from sennit.bodies.kernels import kinds
from sennit.bodies.kernels.entries import put, put_block
from sennit.bodies.kernels.points import RIGID, WIDTH, dof_of
from sennit.compilation import kernel, merged
from sennit.constraints.kernels.rows import ROW_WIDTH, SLIDING, row_dof
from sennit.solve.kernels.cables import row_uses

PRIMAL, ROWS, FLOATING = 0, 1, 2
"""Kinds of blocks: with a definite diagonal, rows, with a diagonal that may be zero."""


@kernel
def list_spans(rigging, points, n, row, col, slot):
    """Entries of the spans of cables between two bodies, from number `n` on; returns how many there are then."""
    elements, slots = rigging.elements, rigging.pulls.slot
    for e in range(slots.size):
        if slots[e] < 0:
            continue
        p, q = elements.carrier[e], elements.carrier[elements.following[e]]
        size_p, size_q = 6 if points.kind[p] == RIGID else WIDTH, 6 if points.kind[q] == RIGID else WIDTH
        for a in range(size_p):
            for b in range(size_q):
                i, j = dof_of(p, a, points), dof_of(q, b, points)
                if i >= 0 and j >= 0:
                    s = slots[e] + size_q * a + b
                    n = put(n, i, j, s, row, col, slot)
                    if i == j:
                        # a cable between two places of one rod: the diagonal takes both halves
                        n = put(n, i, j, s, row, col, slot)
    return n


@merged
def list_rows(scene, n, row, col, slot):
    """Entries of the equality rows and of their compliances."""
    rows, points = scene.rows, scene.points
    for r in range(rows.kind.size):
        if rows.dual[r] < 0:
            continue
        i = scene.layout.dofs[0] + rows.dual[r]
        for entry in range(ROW_WIDTH):
            dof = row_dof(r, entry, rows, points)
            # A row along a rod touches its slider alone, and must wait for it.
            if dof >= 0 and (rows.kind[r] != SLIDING or entry == WIDTH - 1):
                n = put(n, i, dof, scene.layout.row_slots[0] + ROW_WIDTH * r + entry, row, col, slot)
        n = put(n, i, i, scene.layout.diagonals[0] + r, row, col, slot)
    return n


@merged
def list_curvature(scene, n, row, col, slot):
    """Entries of the blocks that a static solve adds."""
    rows, points, blocks = scene.rows, scene.points, scene.blocks
    for c in range(blocks.slot.size):
        first, tied, at = blocks.first[c], blocks.end[c] >= 0, blocks.slot[c]
        p, q = (rows.first[first], rows.second[first]) if tied else (scene.loads.point[first], -1)
        for a in range(ROW_WIDTH if tied else WIDTH):
            i = dof_of(p, a, points) if a < WIDTH else dof_of(q, a - WIDTH, points)
            if i < 0:
                continue
            for b in range(a + 1):
                j = dof_of(p, b, points) if b < WIDTH else dof_of(q, b - WIDTH, points)
                if j < 0:
                    continue
                s = at + a * (a + 1) // 2 + b
                n = put(n, i, j, s, row, col, slot)
                if i == j and a != b:
                    # the same degree of freedom seen from both ends: a diagonal entry takes both halves
                    n = put(n, i, j, s, row, col, slot)
    return n


@kernel
def list_entries(curved, scene, row, col, slot, start, kind):
    """Fill the lists of entries and of blocks as far as they have room. Returns how many of each there are."""
    rows = scene.rows
    n = kinds.list_entries(scene, row, col, slot)
    n = list_spans(scene.rigging, scene.points, n, row, col, slot)
    n = list_rows(scene, n, row, col, slot)
    if curved:
        n = list_curvature(scene, n, row, col, slot)
    b, at = kinds.list_blocks(scene, PRIMAL, FLOATING, start, kind)
    owner = -1
    for r in range(rows.kind.size):
        if rows.dual[r] >= 0:
            if rows.owner[r] != owner:
                owner = rows.owner[r]
                b = put_block(b, at, ROWS, start, kind)
            at += 1
    if b < start.size:
        start[b] = at
    return n, b


@kernel
def list_bounded(scene, unknown, at, row, col, slot):
    """Entries that the rows with bounds and those of cables have in the second matrix of a scene where things touch.

    The first of them is unknown number `unknown`; numbers of cables begin at `at`. Returns how many entries there are,
    and the first number after those of cables.
    """
    rows, points, layout = scene.rows, scene.points, scene.layout
    elements, cable_rows = scene.rigging.elements, scene.rigging.rows
    n = 0
    for r in range(rows.kind.size):
        if rows.dual[r] >= 0:
            continue
        for entry in range(ROW_WIDTH):
            dof = row_dof(r, entry, rows, points)
            if dof >= 0 and (rows.kind[r] != SLIDING or entry == WIDTH - 1):
                n = put(n, unknown, dof, layout.row_slots[0] + ROW_WIDTH * r + entry, row, col, slot)
        n = put(n, unknown, unknown, layout.diagonals[0] + r, row, col, slot)
        unknown += 1
    for k in range(cable_rows.found.size):
        for e in range(cable_rows.first[k], cable_rows.last[k] + 1):
            for part in range(3):
                if row_uses(k, e, part, cable_rows):
                    for i in range(WIDTH):
                        dof = dof_of(elements.carrier[e], i, points)
                        if dof >= 0:
                            n = put(n, unknown, dof, at, row, col, slot)
                        at += 1
        n = put(n, unknown, unknown, at, row, col, slot)
        at += 1
        unknown += 1
    return n, at
