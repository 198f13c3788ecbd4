"""The block system of seams: put together for the zones' present poses, factored, swept and solved.

Unknown are the displacements v_s of each seam's nodes in the frame of one of its two zones, its owner; the other zone
sees them as Q_s v_s + g_s (Q_s from the owner's frame to its own, g_s what its pose displaces). With K_z the condensed
stiffness of zone z on its seams, T_z the turns of those it does not own, and h_z its forces at seams held still,

    A v = b,    A = Σ_z T_zᵀ K_z T_z,    b = Σ_z T_zᵀ (h_z − K_z g_z).

A vector of a seam has all x, then all y, then all z, each padded with nodes that do nothing to a multiple of 4: turns
then combine whole rows. Seams are numbered in their order of elimination. Panel p holds column block p of A (or of its
Cholesky factor) from the diagonal down: entry (row i, column j) of it stands at ``panel + j height + i``.

`plan`, `poses` and `work` are the tables `Plan`, `Poses` and `SeamWork`; `seams` and `zones` stand in the first.
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import kernel
from sennit.elastostatics.chain.kernels.blocks import (
    backward, factor_diagonals, factor_whole, forward, solve_diagonals, solve_whole, take_down, take_up,
)  # fmt: skip
from sennit.elastostatics.chain.kernels.vector import axpy4, dot4, turn_column, turn_onto


@kernel
def meet(plan, poses, turns, offsets):
    """Turns Q_s and displacements g_s of the zones' poses, in vectors of zones; the owners' sides are zero.

    With R, p the poses of owner (o) and other (w), Q = R_wᵀ R_o and g = Q X_o + R_wᵀ (p_o − p_w) − X_w. Padding
    stays where it is.
    """
    seams, R, p, own_rest = plan.seams, poses.rotation, poses.position, plan.own_rest
    for s in range(len(seams.nodes)):
        o, w = seams.owner[s], seams.guest[s]
        for a in range(3):
            for b in range(3):
                turns[s, a, b] = R[w, 0, a] * R[o, 0, b] + R[w, 1, a] * R[o, 1, b] + R[w, 2, a] * R[o, 2, b]
        m, at, own, other = seams.nodes[s], seams.at[s], seams.own[s], seams.other[s]
        dx, dy, dz = p[o, 0] - p[w, 0], p[o, 1] - p[w, 1], p[o, 2] - p[w, 2]
        for a in range(3):
            shift = R[w, 0, a] * dx + R[w, 1, a] * dy + R[w, 2, a] * dz
            qx, qy, qz = turns[s, a, 0], turns[s, a, 1], turns[s, a, 2]
            for i in range(m):
                x, y, z = own_rest[at + i], own_rest[at + m + i], own_rest[at + 2 * m + i]
                offsets[other + a * m + i] = qx * x + qy * y + qz * z + shift - plan.other_rest[at + a * m + i]
                offsets[own + a * m + i] = 0.0
            for i in range(seams.real[s], m):
                offsets[other + a * m + i] = 0.0


@kernel
def pose_system(plan, poses, work, held):
    """Turns, offsets and right side b = Σ T_zᵀ (h_z − K_z g_z) for the present poses; `held` are the h_z."""
    zones, matrices, offsets, bracket = plan.zones, work.matrices, work.offsets, work.bracket
    for i in range(len(held)):
        bracket[i] = held[i]
    meet(plan, poses, work.turns, offsets)
    for z in range(len(zones.size)):
        at, n, k0 = zones.vector[z], zones.size[z], zones.matrix[z]
        for J in range(0, n, 4):
            x, y, u, v = offsets[at + J], offsets[at + J + 1], offsets[at + J + 2], offsets[at + J + 3]
            if x != 0.0 or y != 0.0 or u != 0.0 or v != 0.0:
                axpy4(matrices, k0 + J * n, n, -x, -y, -u, -v, bracket, at, n)
    gather(plan.seams, work.turns, bracket, work.b)


@kernel
def gather(seams, turns, forces, b):
    """b_s = the owner's forces + Q_sᵀ the other zone's."""
    for s in range(len(seams.nodes)):
        m, at, own, other = seams.nodes[s], seams.at[s], seams.own[s], seams.other[s]
        for a in range(3):
            qx, qy, qz = turns[s, 0, a], turns[s, 1, a], turns[s, 2, a]
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
    for s in range(len(seams.nodes)):
        m, at, own, other = seams.nodes[s], seams.at[s], seams.own[s], seams.other[s]
        for a in range(3):
            qx, qy, qz = turns[s, a, 0], turns[s, a, 1], turns[s, a, 2]
            for i in range(m):
                u[own + a * m + i] = v[at + a * m + i]
                u[other + a * m + i] = (
                    qx * v[at + i] + qy * v[at + m + i] + qz * v[at + 2 * m + i] + offsets[other + a * m + i]
                )


@kernel
def reactions(zones, matrices, u, held, forces):
    """What the seams must apply to the zones at displacements `u`: K_z u − h_z."""
    for z in range(len(zones.size)):
        at, n, k0 = zones.vector[z], zones.size[z], zones.matrix[z]
        for i in range(at, at + n):
            forces[i] = -held[i]
        for J in range(0, n, 4):
            axpy4(matrices, k0 + J * n, n, u[at + J], u[at + J + 1], u[at + J + 2], u[at + J + 3], forces, at, n)


@kernel
def assemble(plan, work, whole, panels):
    """Put A into the panels; of diagonal blocks only the lower triangles are meant.

    Without `whole` the blocks that only elimination fills are left alone, and so are blocks that no pose changes: they
    are still there from the last time with it.
    """
    seams, zones, parts, gaps = plan.seams, plan.zones, plan.parts, plan.gaps
    matrices, turns = work.matrices, work.turns
    for s in range(len(seams.nodes)):
        at, ld, m, guest, owner = seams.panel[s], seams.height[s], seams.nodes[s], seams.guest[s], seams.owner[s]
        n, nb = zones.size[guest], zones.size[owner]
        k0 = zones.matrix[guest] + (n + 1) * (seams.other[s] - zones.vector[guest])
        b0 = zones.matrix[owner] + (nb + 1) * (seams.own[s] - zones.vector[owner])
        for j in range(m):
            turn_onto(
                matrices, k0 + j * n, m * n, m, b0 + j * nb, m * nb, m, panels, at + j * ld, m * ld, m, turns, 9 * s, m
            )
    if whole:
        for e in range(len(gaps.at)):
            clear(panels, gaps.at[e], gaps.height[e], gaps.block_rows[e], gaps.block_columns[e])
    for part in range(len(parts.to)):
        if parts.constant[part] == 1 and not whole:
            continue
        at, ld, of, of_ld = parts.to[part], parts.to_height[part], parts.source[part], parts.source_size[part]
        rows, columns = parts.row_nodes[part], parts.column_nodes[part]
        left, right = parts.left[part], parts.right[part]
        if parts.first[part] == 1:
            clear(panels, at, ld, 3 * rows, 3 * columns)
        if left < 0 and right < 0:
            for j in range(3 * columns):
                for i in range(3 * rows):
                    panels[at + j * ld + i] += matrices[of + j * of_ld + i]
        else:
            # The last of the turns is the identity.
            l0 = 9 * (left if left >= 0 else len(turns) - 1)
            r0 = 9 * (right if right >= 0 else len(turns) - 1)
            for j in range(columns):
                turn_column(
                    matrices, of + j * of_ld, columns * of_ld, rows, panels, at + j * ld, columns * ld, rows,
                    turns, l0, turns, r0, rows,
                )  # fmt: skip


@kernel
def clear(panels, at, ld, rows, columns):
    """Zeros in a block of a panel."""
    for j in range(columns):
        for i in range(at + j * ld, at + j * ld + rows):
            panels[i] = 0.0


@kernel
def sweep(plan, panels, b, first, v, change):
    """One block Gauss–Seidel sweep with the factored diagonal blocks: v is brought forward, `change` is what it gained.

    Returns |change|².
    """
    seams, links, across = plan.seams, plan.filled, plan.across
    total = 0.0
    for s in range(len(seams.nodes)):
        at, ld, n, v0 = seams.panel[s], seams.height[s], 3 * seams.nodes[s], seams.at[s]
        for i in range(v0, v0 + n):
            change[i] = b[i]
        if not first:  # later seams are still zero in the first sweep
            for e in range(links.starts[s], links.starts[s + 1]):
                q = links.row[e]
                take_up(panels, at + links.begin[e], ld, n, 3 * seams.nodes[q], v, seams.at[q], change, v0)
        for e in range(across.starts[s], across.starts[s + 1]):
            p = across.column[e]
            block = seams.panel[p] + across.begin[e]
            take_down(panels, block, seams.height[p], 3 * seams.nodes[p], n, v, seams.at[p], change, v0)
        forward(panels, at, ld, n, change, v0)
        backward(panels, at, ld, n, change, v0)
        for i in range(v0, v0 + n):
            new = change[i]
            change[i] = new - v[i]
            v[i] = new
            total += change[i] * change[i]
    return total


@kernel
def left_over(plan, panels, change, residual):
    """b − A v after a sweep that changed v by `change`: each seam lacks what later seams changed after it; its |…|²."""
    seams, links = plan.seams, plan.filled
    total = 0.0
    for s in range(len(seams.nodes)):
        at, ld, n, v0 = seams.panel[s], seams.height[s], 3 * seams.nodes[s], seams.at[s]
        for i in range(v0, v0 + n):
            residual[i] = 0.0
        for e in range(links.starts[s], links.starts[s + 1]):
            q = links.row[e]
            take_up(panels, at + links.begin[e], ld, n, 3 * seams.nodes[q], change, seams.at[q], residual, v0)
        for i in range(v0, v0 + n):
            total += residual[i] * residual[i]
    return total


@kernel
def sweeps(plan, panels, work, b, tolerance, most, v):
    """At least two sweeps, and up to `most` while they promise to reach `tolerance`: whether they did.

    What `work.found` has of the error of v is estimated from how fast the sweeps converge.
    """
    change, residual, found = work.change, work.residual, work.found
    size = 0.0
    for i in range(len(b)):
        v[i] = 0.0
        size += b[i] * b[i]
    found.sweeps[0], found.residual[0], found.error[0] = 0, 0.0, 0.0
    if size == 0.0:
        return True
    sweep(plan, panels, b, True, v, change)
    before = left_over(plan, panels, change, residual)
    for count in range(2, most + 1):
        moved = sweep(plan, panels, b, False, v, change)
        now = left_over(plan, panels, change, residual)
        square = 0.0
        for i in range(len(v)):
            square += v[i] * v[i]
        rate = np.sqrt(now / before) if before > 0.0 else 0.0
        gained = np.sqrt(moved / square) if square > 0.0 else 0.0
        found.sweeps[0], found.residual[0] = count, np.sqrt(now / size)
        # What a sweep gained is the error before it; the residuals tell by how much it shrank since.
        found.error[0] = gained * rate if rate < 0.5 else np.inf
        if found.residual[0] <= tolerance and found.error[0] <= tolerance:
            return True
        # The remaining sweeps must promise what is missing.
        if not found.error[0] * rate ** (most - count) <= tolerance:
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
def solve_by_sweeps(plan, poses, work, panels, held, whole, tolerance, most, v, u):
    """Sweeps for the present poses, in one call: 1; 0 if they miss the tolerance; −1 − s if seam s is not positive.

    `u`: what the zones see of `v`.
    """
    pose_system(plan, poses, work, held)
    assemble(plan, work, whole, panels)
    bad = factor_diagonals(plan.seams, panels)
    if bad != 0:
        return -bad
    done = sweeps(plan, panels, work, work.b, tolerance, most, v)
    spread_out(plan.seams, work.turns, work.offsets, v, u)
    return 1 if done else 0


@kernel
def solve_directly(plan, poses, work, panels, held, v, u):
    """The whole factor for the present poses and its solution: 1, or −1 − s if seam s is not positive.

    The residual comes from the zones' own reactions, and counts as the error.
    """
    b, found = work.b, work.found
    pose_system(plan, poses, work, held)
    assemble(plan, work, True, panels)
    bad = factor_whole(plan, panels)
    if bad != 0:
        return -bad
    for i in range(len(b)):
        v[i] = b[i]
    solve_whole(plan, panels, v)
    spread_out(plan.seams, work.turns, work.offsets, v, u)
    found.residual[0] = imbalance(plan, work, u, held)
    found.error[0] = found.residual[0]
    return 1


@kernel
def imbalance(plan, work, u, held):
    """|b − A v| / |b| from what the seams would have to apply to the zones, which is left in `work.bracket`."""
    b, residual = work.b, work.residual
    reactions(plan.zones, work.matrices, u, held, work.bracket)
    gather(plan.seams, work.turns, work.bracket, residual)
    size, left = 0.0, 0.0
    for i in range(len(b)):
        residual[i] = -residual[i]
        size += b[i] * b[i]
        left += residual[i] * residual[i]
    return np.sqrt(left / size) if size > 0.0 else 0.0


@kernel
def solve_apart(plan, poses, work, panels, held, kinematic, v, u):
    """Seams each for themselves, the others held still (or all placed half way between the zones, if `kinematic`).

    Returns 1 or −1 − s as above. The error is estimated by solving each seam once for what is left, with the diagonal
    blocks in `panels`: for `kinematic` those that the caller left there.
    """
    seams, turns, offsets, found = plan.seams, work.turns, work.offsets, work.found
    b, change, residual = work.b, work.change, work.residual
    pose_system(plan, poses, work, held)
    if kinematic:
        for s in range(len(seams.nodes)):
            m, at, other = seams.nodes[s], seams.at[s], seams.other[s]
            for a in range(3):
                qx, qy, qz = turns[s, 0, a], turns[s, 1, a], turns[s, 2, a]
                for i in range(m):
                    # The other zone's rigid place of the node lies Qᵀ g behind the owner's.
                    x, y, z = offsets[other + i], offsets[other + m + i], offsets[other + 2 * m + i]
                    v[at + a * m + i] = -0.5 * (qx * x + qy * y + qz * z)
    else:
        assemble(plan, work, False, panels)
        bad = factor_diagonals(seams, panels)
        if bad != 0:
            return -bad
        for i in range(len(b)):
            v[i] = b[i]
        solve_diagonals(seams, panels, v)
    spread_out(seams, turns, offsets, v, u)
    found.sweeps[0] = 0
    found.residual[0] = imbalance(plan, work, u, held)
    for i in range(len(b)):
        change[i] = residual[i]
    solve_diagonals(seams, panels, change)
    wrong, size = 0.0, 0.0
    for i in range(len(b)):
        wrong += change[i] * change[i]
        size += (v[i] + change[i]) ** 2
    found.error[0] = np.sqrt(wrong / size) if size > 0.0 else 0.0
    return 1


@kernel
def coupling(plan, panels, v, change, rounds):
    """How strongly seams act on each other: spectral radius of D⁻¹(A − D), by `rounds` of the power method.

    The diagonal blocks in `panels` are factored. `v` holds a start that is not zero.
    """
    seams, links, across = plan.seams, plan.filled, plan.across
    radius = 0.0
    for _ in range(rounds):
        before, after = 0.0, 0.0
        for s in range(len(seams.nodes)):
            at, ld, n, v0 = seams.panel[s], seams.height[s], 3 * seams.nodes[s], seams.at[s]
            for i in range(v0, v0 + n):
                change[i] = 0.0
            for e in range(links.starts[s], links.starts[s + 1]):
                q = links.row[e]
                take_up(panels, at + links.begin[e], ld, n, 3 * seams.nodes[q], v, seams.at[q], change, v0)
            for e in range(across.starts[s], across.starts[s + 1]):
                p = across.column[e]
                block = seams.panel[p] + across.begin[e]
                take_down(panels, block, seams.height[p], 3 * seams.nodes[p], n, v, seams.at[p], change, v0)
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
