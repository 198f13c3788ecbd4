"""The list of the matrix's entries: (row, column, slot in `values`), and its unknowns in blocks.

Blocks: each control point (4), rigid body (6), slider (1), place of a zone (3 or 6), and the equality rows of each
constraint together. Rows are eliminated after what they tie, sliders without mass after the rows that hold them.
"""

from __future__ import annotations

from sennit.constraints.cable.kernels.tables import CARRIER, NEXT
from sennit.compilation import kernel
from sennit.constraints.kernels.rows import DUAL, FIRST, KIND, OWNER, ROW_WIDTH, SECOND, SLIDING
from sennit.point.kernels.points import KIND as POINT_KIND
from sennit.point.kernels.points import RIGID, WIDTH, dof_of
from sennit.solve.kernels.assembly import (
    BAND0, CLOSED, COUNT, DOF0, LOAD_POINT, RIGID_BLOCK, RIGID_DOF, SL_DOF, SL_POINT, SL_SLOTS, ZONE_BLOCK, ZONE_COUNT,
    ZONE_DOF,
)  # fmt: skip

PRIMAL, ROWS, FLOATING = 0, 1, 2


@kernel
def put(count, i, j, s, row, col, slot):
    """Entry number `count`, if there is room: the first pass counts with empty arrays."""
    if count < row.size:
        row[count] = i
        col[count] = j
        slot[count] = s
    return count + 1


@kernel
def list_bodies(RODI, RIGIDI, SLI, ZONEI, PI, row, col, slot):
    """Entries of the bodies' own blocks; returns how many."""
    n = 0
    for rod in range(RODI.shape[0]):
        dof0, count, band0 = RODI[rod, DOF0], RODI[rod, COUNT], RODI[rod, BAND0]
        for i in range(count):
            for k in range(4):
                c = i + k
                if c >= count:
                    if RODI[rod, CLOSED] == 0:
                        break
                    c -= count
                for a in range(4):
                    for b in range(a if k == 0 else 0, 4):
                        at = band0 + 64 * i + 16 * a + 4 * k + b
                        n = put(n, dof0 + 4 * i + a, dof0 + 4 * c + b, at, row, col, slot)
    for body in range(RIGIDI.shape[0]):
        o, at = RIGIDI[body, RIGID_DOF], RIGIDI[body, RIGID_BLOCK]
        for a in range(6):
            for b in range(a, 6):
                n = put(n, o + a, o + b, at + 6 * a + b, row, col, slot)
    for s in range(SLI.shape[0]):
        p, at = SLI[s, SL_POINT], SLI[s, SL_SLOTS]
        for entry in range(WIDTH):
            dof = dof_of(p, entry, PI)
            if dof >= 0:
                n = put(n, SLI[s, SL_DOF], dof, at + entry, row, col, slot)
    for z in range(ZONEI.shape[0]):
        o, count, at = ZONEI[z, ZONE_DOF], ZONEI[z, ZONE_COUNT], ZONEI[z, ZONE_BLOCK]
        for a in range(count):
            for b in range(a, count):
                n = put(n, o + a, o + b, at + count * a + b, row, col, slot)
    return n


@kernel
def list_spans(SLOTS, EI, EX, PI, n, row, col, slot):
    """Entries of the spans of cables between two bodies, from number `n` on; returns how many there are then."""
    for e in range(SLOTS.size):
        if SLOTS[e] < 0:
            continue
        p, q = EI[e, CARRIER], EI[int(EX[e, NEXT]), CARRIER]
        size_p, size_q = 6 if PI[p, POINT_KIND] == RIGID else WIDTH, 6 if PI[q, POINT_KIND] == RIGID else WIDTH
        for a in range(size_p):
            for b in range(size_q):
                i, j = dof_of(p, a, PI), dof_of(q, b, PI)
                if i >= 0 and j >= 0:
                    s = SLOTS[e] + size_q * a + b
                    n = put(n, i, j, s, row, col, slot)
                    if i == j:
                        # a cable between two places of one rod: the diagonal takes both halves
                        n = put(n, i, j, s, row, col, slot)
    return n


@kernel
def list_all(
    dofs, curved, slot0, diagonal0, LOADI, RODI, RIGIDI, SLI, SLF, ZONEI, PI, RI, curvature, SLOTS, EI, EX, row, col,
    slot,
):  # fmt: skip
    n = list_bodies(RODI, RIGIDI, SLI, ZONEI, PI, row, col, slot)
    n = list_spans(SLOTS, EI, EX, PI, n, row, col, slot)
    for r in range(RI.shape[0]):
        if RI[r, DUAL] < 0:
            continue
        i = dofs + RI[r, DUAL]
        for entry in range(ROW_WIDTH):
            dof = dof_of(RI[r, FIRST], entry, PI) if entry < WIDTH else dof_of(RI[r, SECOND], entry - WIDTH, PI)
            # A row along a rod touches its slider alone, and must wait for it.
            if dof >= 0 and (RI[r, KIND] != SLIDING or entry == WIDTH - 1):
                n = put(n, i, dof, slot0 + ROW_WIDTH * r + entry, row, col, slot)
        n = put(n, i, i, diagonal0 + r, row, col, slot)
    if curved:
        for c in range(curvature.shape[0]):
            r0, r1, at = curvature[c, 0], curvature[c, 1], curvature[c, 2]
            p, q = (RI[r0, FIRST], RI[r0, SECOND]) if r1 >= 0 else (LOADI[r0, LOAD_POINT], -1)
            for a in range(ROW_WIDTH if r1 >= 0 else WIDTH):
                i = dof_of(p, a, PI) if a < WIDTH else dof_of(q, a - WIDTH, PI)
                if i < 0:
                    continue
                for b in range(a + 1):
                    j = dof_of(p, b, PI) if b < WIDTH else dof_of(q, b - WIDTH, PI)
                    if j < 0:
                        continue
                    s = at + a * (a + 1) // 2 + b
                    n = put(n, i, j, s, row, col, slot)
                    if i == j and a != b:
                        # the same degree of freedom seen from both ends: a diagonal entry takes both halves
                        n = put(n, i, j, s, row, col, slot)
    return n


@kernel
def list_entries(
    dofs, curved, slot0, diagonal0, LOADI, RODI, RIGIDI, SLI, SLF, ZONEI, PI, RI, curvature, SLOTS, EI, EX, row, col,
    slot, start, kind, PLACES,
):  # fmt: skip
    """Fill the lists of entries and of blocks as far as they have room. Returns how many of each there are.

    `PLACES`: numbers of each place of the zones, 3 or 6.
    """
    n = list_all(
        dofs, curved, slot0, diagonal0, LOADI, RODI, RIGIDI, SLI, SLF, ZONEI, PI, RI, curvature, SLOTS, EI, EX, row,
        col, slot,
    )  # fmt: skip
    b = 0
    at = 0
    for rod in range(RODI.shape[0]):
        for _ in range(RODI[rod, COUNT]):
            b = put_block(b, at, PRIMAL, start, kind)
            at += 4
    for _ in range(RIGIDI.shape[0]):
        b = put_block(b, at, PRIMAL, start, kind)
        at += 6
    for _ in range(SLI.shape[0]):
        b = put_block(b, at, FLOATING, start, kind)
        at += 1
    for place in range(PLACES.size):
        b = put_block(b, at, PRIMAL, start, kind)
        at += PLACES[place]
    owner = -1
    for r in range(RI.shape[0]):
        if RI[r, DUAL] >= 0:
            if RI[r, OWNER] != owner:
                owner = RI[r, OWNER]
                b = put_block(b, at, ROWS, start, kind)
            at += 1
    if b < start.size:
        start[b] = at
    return n, b


@kernel
def put_block(b, at, what, start, kind):
    if b < kind.size:
        start[b] = at
        kind[b] = what
    return b + 1
