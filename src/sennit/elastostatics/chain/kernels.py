"""The block system of seams: put together for the zones' present poses, factored, swept and solved.

Unknown are the displacements v_s of each seam's nodes in the frame of one of its two zones, its owner; the other zone
sees them as Q_s v_s + g_s (Q_s from the owner's frame to its own, g_s what its pose displaces). With K_z the condensed
stiffness of zone z on its seams, T_z the turns of those it does not own, and h_z its forces at seams held still,

    A v = b,    A = Σ_z T_zᵀ K_z T_z,    b = Σ_z T_zᵀ (h_z − K_z g_z).

A vector of a seam has all x, then all y, then all z, each padded with nodes that do nothing to a multiple of 4: turns
then combine whole rows. Seams are numbered in their order of elimination. Panel p holds column block p of A (or of its
Cholesky factor) from the diagonal down: entry (row i, column j) of it stands at ``PANEL + j HEIGHT + i``.
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import kernel
from sennit.elastostatics.chain.vector.kernels import axpy4, dot4, tile4, tile8, turn_column

# Columns of `seams`: padded nodes; place in vectors of seams; place of the panel and its height; places of the owner's
# and the other zone's side in vectors of zones; the two zones.
NODES, AT, PANEL, HEIGHT, OWN, OTHER, OWNER, GUEST = range(8)
SEAM_COLUMNS = 8
# Columns of `zones`: place in vectors of zones, size, place of the matrix.
VECTOR, SIZE, MATRIX = range(3)
# Columns of `parts`, what zones add to panels: place in the panels, height of the panel, place in the matrices, its
# size, nodes of row and column seams, turns from the left and the right (−1: none), whether it is the first there.
TO, TO_LD, OF, OF_LD, ROW_NODES, COLUMN_NODES, LEFT, RIGHT, FIRST = range(9)
PART_COLUMNS = 9
# Columns of `below`, blocks under a panel's diagonal: column seam, row seam, row in the panel.
COLUMN, ROW, BEGIN = range(3)
# Columns of `updates`, products X_q X_rᵀ of a panel that are taken from another: panel, rows of q and r in it, place
# of the target and height of its panel, sizes of q and r, whether only the lower triangle is wanted.
FROM, Q_BEGIN, R_BEGIN, TARGET, TARGET_LD, Q_SIZE, R_SIZE, LOWER = range(8)


@kernel
def meet(seams, rotations, places, own_rest, other_rest, turns, offsets):
    """Turns Q_s (k, 9) and displacements g_s of the zones' poses, in vectors of zones; the owners' sides are zero.

    With R, p the poses of owner (o) and other (w), Q = R_wᵀ R_o and g = Q X_o + R_wᵀ (p_o − p_w) − X_w. Padding is
    displaced too, but no stiffness feels it.
    """
    for s in range(len(seams)):
        o, w = seams[s, OWNER], seams[s, GUEST]
        for a in range(3):
            for b in range(3):
                turns[s, 3 * a + b] = (
                    rotations[w, a] * rotations[o, b]
                    + rotations[w, 3 + a] * rotations[o, 3 + b]
                    + rotations[w, 6 + a] * rotations[o, 6 + b]
                )
        m, at, own, other = seams[s, NODES], seams[s, AT], seams[s, OWN], seams[s, OTHER]
        dx, dy, dz = places[o, 0] - places[w, 0], places[o, 1] - places[w, 1], places[o, 2] - places[w, 2]
        for a in range(3):
            shift = rotations[w, a] * dx + rotations[w, 3 + a] * dy + rotations[w, 6 + a] * dz
            qx, qy, qz = turns[s, 3 * a], turns[s, 3 * a + 1], turns[s, 3 * a + 2]
            for i in range(m):
                x, y, z = own_rest[at + i], own_rest[at + m + i], own_rest[at + 2 * m + i]
                offsets[other + a * m + i] = qx * x + qy * y + qz * z + shift - other_rest[at + a * m + i]
                offsets[own + a * m + i] = 0.0


@kernel
def right_side(seams, zones, matrices, turns, offsets, held, b):
    """b = Σ T_zᵀ (h_z − K_z g_z); `held` h_z is overwritten with what stands in brackets."""
    for z in range(len(zones)):
        at, n, k0 = zones[z, VECTOR], zones[z, SIZE], zones[z, MATRIX]
        for J in range(0, n, 4):
            x, y, u, v = offsets[at + J], offsets[at + J + 1], offsets[at + J + 2], offsets[at + J + 3]
            if x != 0.0 or y != 0.0 or u != 0.0 or v != 0.0:
                axpy4(matrices, k0 + J * n, n, -x, -y, -u, -v, held, at, n)
    gather(seams, turns, held, b)


@kernel
def gather(seams, turns, forces, b):
    """b_s = the owner's forces + Q_sᵀ the other zone's."""
    for s in range(len(seams)):
        m, at, own, other = seams[s, NODES], seams[s, AT], seams[s, OWN], seams[s, OTHER]
        for a in range(3):
            qx, qy, qz = turns[s, a], turns[s, 3 + a], turns[s, 6 + a]
            for i in range(m):
                b[at + a * m + i] = (
                    forces[own + a * m + i]
                    + qx * forces[other + i]
                    + qy * forces[other + m + i]
                    + qz * forces[other + 2 * m + i]
                )


@kernel
def spread_out(seams, turns, offsets, v, u):
    """What the zones see of seam displacements `v`: v itself for owners, Q v + g for the others."""
    for s in range(len(seams)):
        m, at, own, other = seams[s, NODES], seams[s, AT], seams[s, OWN], seams[s, OTHER]
        for a in range(3):
            qx, qy, qz = turns[s, 3 * a], turns[s, 3 * a + 1], turns[s, 3 * a + 2]
            for i in range(m):
                u[own + a * m + i] = v[at + a * m + i]
                u[other + a * m + i] = (
                    qx * v[at + i] + qy * v[at + m + i] + qz * v[at + 2 * m + i] + offsets[other + a * m + i]
                )


@kernel
def reactions(zones, matrices, u, held, forces):
    """What the seams must apply to the zones at displacements `u`: K_z u − h_z."""
    for z in range(len(zones)):
        at, n, k0 = zones[z, VECTOR], zones[z, SIZE], zones[z, MATRIX]
        for i in range(at, at + n):
            forces[i] = -held[i]
        for J in range(0, n, 4):
            axpy4(matrices, k0 + J * n, n, u[at + J], u[at + J + 1], u[at + J + 2], u[at + J + 3], forces, at, n)


@kernel
def assemble(parts, empty, matrices, turns, whole, panels):
    """Put A into the panels; only the diagonal blocks' lower triangles are meant, and what has no zone is zero.

    `empty` lists blocks that only elimination fills: place, height of the panel, rows, columns. Without `whole` they
    are left alone.
    """
    if whole:
        for e in range(len(empty)):
            at, ld = empty[e, 0], empty[e, 1]
            for j in range(empty[e, 3]):
                for i in range(empty[e, 2]):
                    panels[at + j * ld + i] = 0.0
    for part in range(len(parts)):
        at, ld, of, of_ld = parts[part, TO], parts[part, TO_LD], parts[part, OF], parts[part, OF_LD]
        rows, columns = parts[part, ROW_NODES], parts[part, COLUMN_NODES]
        left, right, first = parts[part, LEFT], parts[part, RIGHT], parts[part, FIRST] == 1
        if left < 0 and right < 0:
            if first:
                for j in range(3 * columns):
                    for i in range(3 * rows):
                        panels[at + j * ld + i] = matrices[of + j * of_ld + i]
            else:
                for j in range(3 * columns):
                    for i in range(3 * rows):
                        panels[at + j * ld + i] += matrices[of + j * of_ld + i]
        else:
            if first:
                for j in range(3 * columns):
                    for i in range(3 * rows):
                        panels[at + j * ld + i] = 0.0
            # The last row of `turns` is the identity.
            l0 = 9 * (left if left >= 0 else len(turns) - 1)
            r0 = 9 * (right if right >= 0 else len(turns) - 1)
            for j in range(columns):
                turn_column(
                    matrices, of + j * of_ld, columns * of_ld, rows, panels, at + j * ld, columns * ld, rows,
                    turns, l0, turns, r0, rows,
                )  # fmt: skip


@kernel
def factor_panel(panels, at, ld, size, height):
    """Cholesky factor of a panel's first `size` columns, from the diagonal down to `height`; 0, or a bad pivot + 1.

    Four columns at a time: what is left of them is taken off in tiles, then they are divided by their triangle.
    """
    for J in range(0, size, 4):
        c0 = at + J * ld
        if J > 0:
            i = J
            while i + 8 <= height:
                tile8(panels, panels, panels, c0 + i, ld, at + i, ld, at + J, ld, J)
                i += 8
            while i < height:
                tile4(panels, panels, panels, c0 + i, ld, at + i, ld, at + J, ld, J)
                i += 4
        c1, c2, c3 = c0 + ld, c0 + 2 * ld, c0 + 3 * ld
        d0 = panels[c0 + J]
        if not d0 > 0.0:
            return J + 1
        r0 = 1.0 / np.sqrt(d0)
        l10, l20, l30 = panels[c0 + J + 1] * r0, panels[c0 + J + 2] * r0, panels[c0 + J + 3] * r0
        d1 = panels[c1 + J + 1] - l10 * l10
        if not d1 > 0.0:
            return J + 2
        r1 = 1.0 / np.sqrt(d1)
        l21 = (panels[c1 + J + 2] - l20 * l10) * r1
        l31 = (panels[c1 + J + 3] - l30 * l10) * r1
        d2 = panels[c2 + J + 2] - l20 * l20 - l21 * l21
        if not d2 > 0.0:
            return J + 3
        r2 = 1.0 / np.sqrt(d2)
        l32 = (panels[c2 + J + 3] - l30 * l20 - l31 * l21) * r2
        d3 = panels[c3 + J + 3] - l30 * l30 - l31 * l31 - l32 * l32
        if not d3 > 0.0:
            return J + 4
        r3 = 1.0 / np.sqrt(d3)
        for i in range(J, height):
            x0 = panels[c0 + i] * r0
            x1 = (panels[c1 + i] - l10 * x0) * r1
            x2 = (panels[c2 + i] - l20 * x0 - l21 * x1) * r2
            x3 = (panels[c3 + i] - l30 * x0 - l31 * x1 - l32 * x2) * r3
            panels[c0 + i] = x0
            panels[c1 + i] = x1
            panels[c2 + i] = x2
            panels[c3 + i] = x3
    return 0


@kernel
def factor_diagonals(seams, panels):
    """Factor the diagonal blocks alone; 0, or the seam + 1 whose block is not positive."""
    for s in range(len(seams)):
        n = 3 * seams[s, NODES]
        if factor_panel(panels, seams[s, PANEL], seams[s, HEIGHT], n, n) != 0:
            return s + 1
    return 0


@kernel
def factor_whole(seams, updates, starts, panels):
    """Block Cholesky factor of A, panel after panel; 0, or the seam + 1 at which it stopped."""
    for s in range(len(seams)):
        at, ld = seams[s, PANEL], seams[s, HEIGHT]
        n = 3 * seams[s, NODES]
        if factor_panel(panels, at, ld, n, ld) != 0:
            return s + 1
        for e in range(starts[s], starts[s + 1]):
            q, r = at + updates[e, Q_BEGIN], at + updates[e, R_BEGIN]
            to, to_ld = updates[e, TARGET], updates[e, TARGET_LD]
            rows, lower = updates[e, Q_SIZE], updates[e, LOWER] == 1
            for J in range(0, updates[e, R_SIZE], 4):
                i = J if lower else 0
                c0 = to + J * to_ld
                while i + 8 <= rows:
                    tile8(panels, panels, panels, c0 + i, to_ld, q + i, ld, r + J, ld, n)
                    i += 8
                while i < rows:
                    tile4(panels, panels, panels, c0 + i, to_ld, q + i, ld, r + J, ld, n)
                    i += 4
    return 0


@kernel
def forward(panels, at, ld, size, y, y0):
    """y <- L⁻¹ y for one diagonal block."""
    for J in range(0, size, 4):
        c0 = at + J * ld + J
        c1, c2, c3 = c0 + ld, c0 + 2 * ld, c0 + 3 * ld
        i = y0 + J
        x0 = y[i] / panels[c0]
        x1 = (y[i + 1] - panels[c0 + 1] * x0) / panels[c1 + 1]
        x2 = (y[i + 2] - panels[c0 + 2] * x0 - panels[c1 + 2] * x1) / panels[c2 + 2]
        x3 = (y[i + 3] - panels[c0 + 3] * x0 - panels[c1 + 3] * x1 - panels[c2 + 3] * x2) / panels[c3 + 3]
        y[i], y[i + 1], y[i + 2], y[i + 3] = x0, x1, x2, x3
        axpy4(panels, c0 + 4, ld, -x0, -x1, -x2, -x3, y, i + 4, size - J - 4)


@kernel
def backward(panels, at, ld, size, y, y0):
    """y <- L⁻ᵀ y for one diagonal block."""
    for J in range(size - 4, -1, -4):
        c0 = at + J * ld + J
        c1, c2, c3 = c0 + ld, c0 + 2 * ld, c0 + 3 * ld
        i = y0 + J
        s0, s1, s2, s3 = dot4(panels, c0 + 4, ld, y, i + 4, size - J - 4)
        x3 = (y[i + 3] - s3) / panels[c3 + 3]
        x2 = (y[i + 2] - s2 - panels[c2 + 3] * x3) / panels[c2 + 2]
        x1 = (y[i + 1] - s1 - panels[c1 + 2] * x2 - panels[c1 + 3] * x3) / panels[c1 + 1]
        x0 = (y[i] - s0 - panels[c0 + 1] * x1 - panels[c0 + 2] * x2 - panels[c0 + 3] * x3) / panels[c0]
        y[i], y[i + 1], y[i + 2], y[i + 3] = x0, x1, x2, x3


@kernel
def take_down(panels, at, ld, columns, rows, x, x0, y, y0):
    """y −= B x for a block B of a panel."""
    for J in range(0, columns, 4):
        i = x0 + J
        axpy4(panels, at + J * ld, ld, -x[i], -x[i + 1], -x[i + 2], -x[i + 3], y, y0, rows)


@kernel
def take_up(panels, at, ld, columns, rows, x, x0, y, y0):
    """y −= Bᵀ x for a block B of a panel."""
    for J in range(0, columns, 4):
        s0, s1, s2, s3 = dot4(panels, at + J * ld, ld, x, x0, rows)
        i = y0 + J
        y[i] -= s0
        y[i + 1] -= s1
        y[i + 2] -= s2
        y[i + 3] -= s3


@kernel
def solve_whole(seams, below, starts, panels, y):
    """y <- A⁻¹ y with the whole factor."""
    for s in range(len(seams)):
        at, ld, n, y0 = seams[s, PANEL], seams[s, HEIGHT], 3 * seams[s, NODES], seams[s, AT]
        forward(panels, at, ld, n, y, y0)
        for e in range(starts[s], starts[s + 1]):
            q = below[e, ROW]
            take_down(panels, at + below[e, BEGIN], ld, n, 3 * seams[q, NODES], y, y0, y, seams[q, AT])
    for s in range(len(seams) - 1, -1, -1):
        at, ld, n, y0 = seams[s, PANEL], seams[s, HEIGHT], 3 * seams[s, NODES], seams[s, AT]
        for e in range(starts[s], starts[s + 1]):
            q = below[e, ROW]
            take_up(panels, at + below[e, BEGIN], ld, n, 3 * seams[q, NODES], y, seams[q, AT], y, y0)
        backward(panels, at, ld, n, y, y0)


@kernel
def sweep(seams, below, starts, across, across_starts, panels, b, first, v, change):
    """One block Gauss–Seidel sweep with the factored diagonal blocks: v is brought forward, `change` is what it gained.

    `below` has only blocks that zones fill; `across` are the same by row seam. Returns |change|².
    """
    total = 0.0
    for s in range(len(seams)):
        at, ld, n, v0 = seams[s, PANEL], seams[s, HEIGHT], 3 * seams[s, NODES], seams[s, AT]
        for i in range(v0, v0 + n):
            change[i] = b[i]
        if not first:  # later seams are still zero in the first sweep
            for e in range(starts[s], starts[s + 1]):
                q = below[e, ROW]
                take_up(panels, at + below[e, BEGIN], ld, n, 3 * seams[q, NODES], v, seams[q, AT], change, v0)
        for e in range(across_starts[s], across_starts[s + 1]):
            p = across[e, COLUMN]
            block = seams[p, PANEL] + across[e, BEGIN]
            take_down(panels, block, seams[p, HEIGHT], 3 * seams[p, NODES], n, v, seams[p, AT], change, v0)
        forward(panels, at, ld, n, change, v0)
        backward(panels, at, ld, n, change, v0)
        for i in range(v0, v0 + n):
            new = change[i]
            change[i] = new - v[i]
            v[i] = new
            total += change[i] * change[i]
    return total


@kernel
def left_over(seams, below, starts, panels, change, residual):
    """b − A v after a sweep that changed v by `change`: each seam lacks what later seams changed after it."""
    for s in range(len(seams)):
        at, ld, n, v0 = seams[s, PANEL], seams[s, HEIGHT], 3 * seams[s, NODES], seams[s, AT]
        for i in range(v0, v0 + n):
            residual[i] = 0.0
        for e in range(starts[s], starts[s + 1]):
            q = below[e, ROW]
            take_up(panels, at + below[e, BEGIN], ld, n, 3 * seams[q, NODES], change, seams[q, AT], residual, v0)


@kernel
def solve_diagonals(seams, panels, y):
    """y <- D⁻¹ y, each seam by its own factored diagonal block."""
    for s in range(len(seams)):
        at, ld, n, y0 = seams[s, PANEL], seams[s, HEIGHT], 3 * seams[s, NODES], seams[s, AT]
        forward(panels, at, ld, n, y, y0)
        backward(panels, at, ld, n, y, y0)


@kernel
def sweeps(seams, below, starts, across, across_starts, panels, b, tolerance, most, v, change, residual, out):
    """At least two sweeps, and up to `most` while they promise to reach `tolerance`: whether they did.

    `out`: sweeps, relative residual |b − A v| / |b|, estimated relative error of v from how fast the sweeps converge.
    """
    size = 0.0
    for i in range(len(b)):
        v[i] = 0.0
        size += b[i] * b[i]
    out[0], out[1], out[2] = 0.0, 0.0, 0.0
    if size == 0.0:
        return True
    before = sweep(seams, below, starts, across, across_starts, panels, b, True, v, change)
    for count in range(2, most + 1):
        now = sweep(seams, below, starts, across, across_starts, panels, b, False, v, change)
        left_over(seams, below, starts, panels, change, residual)
        left = 0.0
        square = 0.0
        for i in range(len(b)):
            left += residual[i] * residual[i]
            square += v[i] * v[i]
        rate = np.sqrt(now / before) if before > 0.0 else 0.0
        gained = np.sqrt(now / square) if square > 0.0 else 0.0
        out[0], out[1] = count, np.sqrt(left / size)
        out[2] = gained * rate / (1.0 - rate) if rate < 0.9 else np.inf
        if out[1] <= tolerance and out[2] <= tolerance:
            return True
        # The remaining sweeps must promise what is missing.
        if not out[2] * rate ** (most - count) <= tolerance:
            return False
        before = now
    return False


@kernel
def forward_many(seams, below, starts, panels, Y, width):
    """Y <- L⁻¹ Y with the whole factor; `Y` (dofs, width) has one right side a column, `width` a multiple of 4."""
    ld_y = Y.shape[1]
    for s in range(len(seams)):
        at, ld, n, y0 = seams[s, PANEL], seams[s, HEIGHT], 3 * seams[s, NODES], seams[s, AT]
        for J in range(0, n, 4):
            i = 0
            while i + 8 <= width and J > 0:
                tile8(Y, Y, panels, (y0 + J) * ld_y + i, ld_y, y0 * ld_y + i, ld_y, at + J, ld, J)
                i += 8
            while i < width and J > 0:
                tile4(Y, Y, panels, (y0 + J) * ld_y + i, ld_y, y0 * ld_y + i, ld_y, at + J, ld, J)
                i += 4
            for c in range(J, J + 4):
                row = Y[y0 + c]
                for k in range(J, c):
                    factor = panels[at + k * ld + c]
                    above = Y[y0 + k]
                    for i in range(width):
                        row[i] -= factor * above[i]
                scale = 1.0 / panels[at + c * ld + c]
                for i in range(width):
                    row[i] *= scale
        for e in range(starts[s], starts[s + 1]):
            q = below[e, ROW]
            q0, begin = seams[q, AT], at + below[e, BEGIN]
            for J in range(0, 3 * seams[q, NODES], 4):
                i = 0
                while i + 8 <= width:
                    tile8(Y, Y, panels, (q0 + J) * ld_y + i, ld_y, y0 * ld_y + i, ld_y, begin + J, ld, n)
                    i += 8
                while i < width:
                    tile4(Y, Y, panels, (q0 + J) * ld_y + i, ld_y, y0 * ld_y + i, ld_y, begin + J, ld, n)
                    i += 4


@kernel
def surface(P, rows, v, v0, length, u):
    """``u[rows] += P v``; `P` (rows padded to 4, length) of either type of float, `v` of the same."""
    count = len(rows)
    for J in range(0, len(P), 4):
        s0, s1, s2, s3 = dot4(P, J * length, length, v, v0, length)
        u[rows[J]] += s0
        if J + 1 < count:
            u[rows[J + 1]] += s1
        if J + 2 < count:
            u[rows[J + 2]] += s2
        if J + 3 < count:
            u[rows[J + 3]] += s3


@kernel
def pose_system(tables, matrices, rotations, places, rest, turns, offsets, held, b):
    """Turns, offsets and right side for the present poses; `held` is overwritten."""
    seams, zones = tables[0], tables[1]
    meet(seams, rotations, places, rest[0], rest[1], turns, offsets)
    right_side(seams, zones, matrices, turns, offsets, held, b)


@kernel
def solve_by_sweeps(tables, matrices, rotations, places, rest, held, tolerance, most, panels, work, v, u, out):
    """Sweeps for the present poses, in one call: 1, or 0 if they miss the tolerance, or −1 − s if seam s is not positive.

    `work`: turns (seams + 1, 9), offsets, a copy of `held`, b, change, residual. `u`: what the zones see of `v`.
    """
    turns, offsets, bracket, b, change, residual = work
    for i in range(len(held)):
        bracket[i] = held[i]
    pose_system(tables, matrices, rotations, places, rest, turns, offsets, bracket, b)
    assemble(tables[2], tables[3], matrices, turns, False, panels)
    bad = factor_diagonals(tables[0], panels)
    if bad != 0:
        return -bad
    done = sweeps(
        tables[0], tables[4], tables[5], tables[6], tables[7], panels, b, tolerance, most, v, change, residual, out
    )
    spread_out(tables[0], turns, offsets, v, u)
    return 1 if done else 0


@kernel
def solve_directly(tables, matrices, rotations, places, rest, held, panels, work, v, u, out):
    """The whole factor for the present poses and its solution: 1, or −1 − s if seam s is not positive.

    ``out[1]`` is the relative residual, from the zones' own reactions.
    """
    turns, offsets, bracket, b, change, residual = work
    for i in range(len(held)):
        bracket[i] = held[i]
    pose_system(tables, matrices, rotations, places, rest, turns, offsets, bracket, b)
    assemble(tables[2], tables[3], matrices, turns, True, panels)
    bad = factor_whole(tables[0], tables[10], tables[11], panels)
    if bad != 0:
        return -bad
    for i in range(len(b)):
        v[i] = b[i]
    solve_whole(tables[0], tables[8], tables[9], panels, v)
    spread_out(tables[0], turns, offsets, v, u)
    out[1] = imbalance(tables, matrices, turns, u, held, b, bracket, residual)
    return 1


@kernel
def imbalance(tables, matrices, turns, u, held, b, forces, residual):
    """|b − A v| / |b| from what the seams would have to apply to the zones, which is left in `forces`."""
    reactions(tables[1], matrices, u, held, forces)
    gather(tables[0], turns, forces, residual)
    size, left = 0.0, 0.0
    for i in range(len(b)):
        residual[i] = -residual[i]
        size += b[i] * b[i]
        left += residual[i] * residual[i]
    return np.sqrt(left / size) if size > 0.0 else 0.0


@kernel
def solve_apart(tables, matrices, rotations, places, rest, held, kinematic, panels, work, v, u, out):
    """Seams each for themselves, the others held still (or all placed half way between the zones, if `kinematic`).

    Returns 1 or −1 − s as above. ``out[1]`` is the relative residual, ``out[2]`` the error estimated by solving each
    seam once for what is left, with the diagonal blocks in `panels`: for `kinematic` those that the caller left there.
    """
    seams = tables[0]
    turns, offsets, bracket, b, change, residual = work
    for i in range(len(held)):
        bracket[i] = held[i]
    pose_system(tables, matrices, rotations, places, rest, turns, offsets, bracket, b)
    if kinematic:
        for s in range(len(seams)):
            m, at, other = seams[s, NODES], seams[s, AT], seams[s, OTHER]
            for a in range(3):
                qx, qy, qz = turns[s, a], turns[s, 3 + a], turns[s, 6 + a]
                for i in range(m):
                    # The other zone's rigid place of the node lies Qᵀ g behind the owner's.
                    x, y, z = offsets[other + i], offsets[other + m + i], offsets[other + 2 * m + i]
                    v[at + a * m + i] = -0.5 * (qx * x + qy * y + qz * z)
    else:
        assemble(tables[2], tables[3], matrices, turns, False, panels)
        bad = factor_diagonals(seams, panels)
        if bad != 0:
            return -bad
        for i in range(len(b)):
            v[i] = b[i]
        solve_diagonals(seams, panels, v)
    spread_out(seams, turns, offsets, v, u)
    out[0] = 0.0
    out[1] = imbalance(tables, matrices, turns, u, held, b, bracket, residual)
    for i in range(len(b)):
        change[i] = residual[i]
    solve_diagonals(seams, panels, change)
    wrong, size = 0.0, 0.0
    for i in range(len(b)):
        wrong += change[i] * change[i]
        size += (v[i] + change[i]) ** 2
    out[2] = np.sqrt(wrong / size) if size > 0.0 else 0.0
    return 1


@kernel
def coupling(tables, panels, v, change, rounds):
    """How strongly seams act on each other: spectral radius of D⁻¹(A − D), by `rounds` of the power method.

    The diagonal blocks in `panels` are factored. `v` holds a start that is not zero.
    """
    seams, below, starts, across, across_starts = tables[0], tables[4], tables[5], tables[6], tables[7]
    radius = 0.0
    for _ in range(rounds):
        before, after = 0.0, 0.0
        for s in range(len(seams)):
            at, ld, n, v0 = seams[s, PANEL], seams[s, HEIGHT], 3 * seams[s, NODES], seams[s, AT]
            for i in range(v0, v0 + n):
                change[i] = 0.0
            for e in range(starts[s], starts[s + 1]):
                q = below[e, ROW]
                take_up(panels, at + below[e, BEGIN], ld, n, 3 * seams[q, NODES], v, seams[q, AT], change, v0)
            for e in range(across_starts[s], across_starts[s + 1]):
                p = across[e, COLUMN]
                block = seams[p, PANEL] + across[e, BEGIN]
                take_down(panels, block, seams[p, HEIGHT], 3 * seams[p, NODES], n, v, seams[p, AT], change, v0)
        solve_diagonals(seams, panels, change)
        for i in range(len(v)):
            before += v[i] * v[i]
            after += change[i] * change[i]
        if after == 0.0:
            return 0.0
        radius = np.sqrt(after / before)
        scale = 1.0 / np.sqrt(after)
        for i in range(len(v)):
            v[i] = change[i] * scale
    return radius
