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
from sennit.elastostatics.chain.kernels.blocks import (
    AT, BEGIN, COLUMN, COLUMN_NODES, CONSTANT, FIRST, GUEST, HEIGHT, LEFT, MATRIX, NODES, OF, OF_LD, OTHER, OWN, OWNER,
    PANEL, REAL, RIGHT, ROW, ROW_NODES, SIZE, TO, TO_LD, VECTOR,
    backward, factor_diagonals, factor_whole, forward, solve_diagonals, solve_whole, take_down, take_up,
)  # fmt: skip
from sennit.elastostatics.chain.kernels.vector import axpy4, dot4, turn_column, turn_onto


@kernel
def meet(seams, rotations, places, own_rest, other_rest, turns, offsets):
    """Turns Q_s (k, 9) and displacements g_s of the zones' poses, in vectors of zones; the owners' sides are zero.

    With R, p the poses of owner (o) and other (w), Q = R_wᵀ R_o and g = Q X_o + R_wᵀ (p_o − p_w) − X_w. Padding
    stays where it is.
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
            for i in range(seams[s, REAL], m):
                offsets[other + a * m + i] = 0.0


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
def assemble(seams, zones, parts, empty, matrices, turns, whole, panels):
    """Put A into the panels; of diagonal blocks only the lower triangles are meant.

    `empty` lists blocks that only elimination fills: place, height of the panel, rows, columns. Without `whole` they
    are left alone, and so are blocks that no pose changes: they are still there from the last time with it.
    """
    for s in range(len(seams)):
        at, ld, m = seams[s, PANEL], seams[s, HEIGHT], seams[s, NODES]
        n, nb = zones[seams[s, GUEST], SIZE], zones[seams[s, OWNER], SIZE]
        k0 = zones[seams[s, GUEST], MATRIX] + (n + 1) * (seams[s, OTHER] - zones[seams[s, GUEST], VECTOR])
        b0 = zones[seams[s, OWNER], MATRIX] + (nb + 1) * (seams[s, OWN] - zones[seams[s, OWNER], VECTOR])
        for j in range(m):
            turn_onto(
                matrices, k0 + j * n, m * n, m, b0 + j * nb, m * nb, m, panels, at + j * ld, m * ld, m, turns, 9 * s, m
            )
    if whole:
        for e in range(len(empty)):
            clear(panels, empty[e, 0], empty[e, 1], empty[e, 2], empty[e, 3])
    for part in range(len(parts)):
        if parts[part, CONSTANT] == 1 and not whole:
            continue
        at, ld, of, of_ld = parts[part, TO], parts[part, TO_LD], parts[part, OF], parts[part, OF_LD]
        rows, columns = parts[part, ROW_NODES], parts[part, COLUMN_NODES]
        left, right = parts[part, LEFT], parts[part, RIGHT]
        if parts[part, FIRST] == 1:
            clear(panels, at, ld, 3 * rows, 3 * columns)
        if left < 0 and right < 0:
            for j in range(3 * columns):
                for i in range(3 * rows):
                    panels[at + j * ld + i] += matrices[of + j * of_ld + i]
        else:
            # The last row of `turns` is the identity.
            l0 = 9 * (left if left >= 0 else len(turns) - 1)
            r0 = 9 * (right if right >= 0 else len(turns) - 1)
            for j in range(columns):
                turn_column(
                    matrices, of + j * of_ld, columns * of_ld, rows, panels, at + j * ld, columns * ld, rows,
                    turns, l0, turns, r0, rows,
                )  # fmt: skip


@kernel
def clear(panels, at, ld, rows, columns):
    for j in range(columns):
        for i in range(at + j * ld, at + j * ld + rows):
            panels[i] = 0.0


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
    """b − A v after a sweep that changed v by `change`: each seam lacks what later seams changed after it; its |…|²."""
    total = 0.0
    for s in range(len(seams)):
        at, ld, n, v0 = seams[s, PANEL], seams[s, HEIGHT], 3 * seams[s, NODES], seams[s, AT]
        for i in range(v0, v0 + n):
            residual[i] = 0.0
        for e in range(starts[s], starts[s + 1]):
            q = below[e, ROW]
            take_up(panels, at + below[e, BEGIN], ld, n, 3 * seams[q, NODES], change, seams[q, AT], residual, v0)
        for i in range(v0, v0 + n):
            total += residual[i] * residual[i]
    return total


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
    sweep(seams, below, starts, across, across_starts, panels, b, True, v, change)
    before = left_over(seams, below, starts, panels, change, residual)
    for count in range(2, most + 1):
        moved = sweep(seams, below, starts, across, across_starts, panels, b, False, v, change)
        now = left_over(seams, below, starts, panels, change, residual)
        square = 0.0
        for i in range(len(v)):
            square += v[i] * v[i]
        rate = np.sqrt(now / before) if before > 0.0 else 0.0
        gained = np.sqrt(moved / square) if square > 0.0 else 0.0
        out[0], out[1] = count, np.sqrt(now / size)
        # What a sweep gained is the error before it; the residuals tell by how much it shrank since.
        out[2] = gained * rate if rate < 0.5 else np.inf
        if out[1] <= tolerance and out[2] <= tolerance:
            return True
        # The remaining sweeps must promise what is missing.
        if not out[2] * rate ** (most - count) <= tolerance:
            return False
        before = now
    return False


@kernel
def surface(P, rows, v, moved, columns, on_seam, u):
    """``u[rows] += P v`` and ``u[on_seam] = moved[columns]``; `u` (n, 3) is read as one row.

    `P` (rows padded to 4, columns) of either type of float, `v` of the same.
    """
    flat = u.reshape(u.size)
    count, length = len(rows), P.shape[1]
    for J in range(0, len(P), 4):
        s0, s1, s2, s3 = dot4(P, J * length, length, v, 0, length)
        flat[rows[J]] += s0
        if J + 1 < count:
            flat[rows[J + 1]] += s1
        if J + 2 < count:
            flat[rows[J + 2]] += s2
        if J + 3 < count:
            flat[rows[J + 3]] += s3
    for i in range(len(columns)):
        flat[on_seam[i]] = moved[columns[i]]


@kernel
def carry(vertices, u, rotation, position, out):
    """out = R (X + u) + p, all (n, 3)."""
    for i in range(len(vertices)):
        x, y, z = vertices[i, 0] + u[i, 0], vertices[i, 1] + u[i, 1], vertices[i, 2] + u[i, 2]
        for a in range(3):
            out[i, a] = rotation[a, 0] * x + rotation[a, 1] * y + rotation[a, 2] * z + position[a]


@kernel
def pose_system(tables, matrices, rotations, places, rest, turns, offsets, held, b):
    """Turns, offsets and right side for the present poses; `held` is overwritten."""
    seams, zones = tables[0], tables[1]
    meet(seams, rotations, places, rest[0], rest[1], turns, offsets)
    right_side(seams, zones, matrices, turns, offsets, held, b)


@kernel
def solve_by_sweeps(tables, matrices, rotations, places, rest, held, whole, tolerance, most, panels, work, v, u, out):
    """Sweeps for the present poses, in one call: 1; 0 if they miss the tolerance; −1 − s if seam s is not positive.

    `work`: turns (seams + 1, 9), offsets, a copy of `held`, b, change, residual. `u`: what the zones see of `v`.
    """
    turns, offsets, bracket, b, change, residual = work
    for i in range(len(held)):
        bracket[i] = held[i]
    pose_system(tables, matrices, rotations, places, rest, turns, offsets, bracket, b)
    assemble(tables[0], tables[1], tables[2], tables[3], matrices, turns, whole, panels)
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
    assemble(tables[0], tables[1], tables[2], tables[3], matrices, turns, True, panels)
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
        assemble(tables[0], tables[1], tables[2], tables[3], matrices, turns, False, panels)
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
