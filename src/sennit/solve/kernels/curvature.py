"""What a static solve adds to the matrix: second derivatives of constraints and loads, and anchors.

How the forces of rows and loads change as their points move, −∂(Jᵀλ)/∂q, comes by differences of the exact Jacobians.

It takes that to converge quadratically and to tell a stable equilibrium from an unstable one (a pendulum
that stands). Differencing J itself serves every kind of row and of point alike, with nothing to derive for a new one;
the symmetric part is kept (at equilibrium the rest cancels over the scene: rotations do not commute). A time step does
without.

Anchors: the stiffness A of a body alone is singular, held only by rows. With γ JᵀJ added to A, γ Jᵀe to its right side
and Σ/(1 − γΣ) for Σ, the solution stays as it is (λ is 1/(1 − γΣ) of what the system then yields), but A is definite
wherever the constrained system is, and can be eliminated in any order.
"""

from __future__ import annotations

from sennit.compilation import kernel, merged
from sennit.constraints.kernels.rows import (
    ANGLE, DUAL, FIRST, KIND as ROW_KIND, LAMBDA, ROTATE, ROW_WIDTH, SECOND, SQUARE, evaluate_rows,
    pull_rows,
)  # fmt: skip
from sennit.geometry.kernels.algebra import quat_exp, quat_mul
from sennit.point.kernels.points import (
    BLOCK, BODY, CARRIER, CARRIER_AT, COUNT, FIRST as POINT_FIRST, KIND, RIGID, ROW_LENGTH, SLOTS, WIDTH, WORLD, ZONE,
    dof_of, evaluate_point, pull_back,
    turn_out,
)  # fmt: skip
from sennit.solve.kernels.assembly import (
    CLOSED, FOLLOWS, LOAD_ON, LOAD_POINT, SL_ROD, SL_SCALE, SPANS, set_slider_basis,
)  # fmt: skip

# A block of second derivatives: the lower triangle over the WIDTH entries of both points
BLOCK_SIZE = ROW_WIDTH * (ROW_WIDTH + 1) // 2
STEP_LENGTH = 1e-6  # of a scene's size, in a position; radians in a rotation


@kernel
def shift_point(p, entry, amount, rods, others, points, q, quat):
    """Evaluate point `p` with the degree of freedom behind one of its entries moved by `amount`, and move it back."""
    PI, PF, PT, PX = points
    dof = dof_of(p, entry, PI)
    kind = PI[p, KIND]
    if (kind == RIGID or kind == ZONE) and 3 <= entry < 6:
        body = PI[p, BODY] if kind == RIGID else PI[p, CARRIER]
        w, x, y, z = quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3]
        a = amount
        turn = (a if entry == 3 else 0.0, a if entry == 4 else 0.0, a if entry == 5 else 0.0)
        quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3] = quat_mul(quat_exp(turn), (w, x, y, z))
        evaluate_point(p, PI, PF, PT, q, quat, PX)
        quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3] = w, x, y, z
        return
    kept = q[dof]
    q[dof] = kept + amount
    if entry == WIDTH - 1:
        s = PI[p, BODY]
        rod, scale = others[2][s, SL_ROD], others[3][s, SL_SCALE]
        set_slider_basis(p, q[dof], scale, rods[0][rod, SPANS], rods[0][rod, CLOSED], PI, PF)
        evaluate_point(p, PI, PF, PT, q, quat, PX)
        set_slider_basis(p, kept, scale, rods[0][rod, SPANS], rods[0][rod, CLOSED], PI, PF)
    else:
        evaluate_point(p, PI, PF, PT, q, quat, PX)
    q[dof] = kept


@merged
def pulled_rows(r0, r1, rows, points, q, small, at):
    """Σ λ_r J_r over the rows r0 … r1 of one constraint, into small[at : at + ROW_WIDTH]."""
    RI, RF, RS, RW = rows[0], rows[1], rows[2], rows[7]
    PI, PF, _, PX = points
    for i in range(ROW_WIDTH):
        small[at + i] = 0.0
    evaluate_rows(r0, r1, RI, RF, RS, PX, q, PI, RW)
    for r in range(r0, r1):
        if RS[r, LAMBDA] != 0.0:
            pull_rows(r, r + 1, RS[r, LAMBDA], RI, RF, PI, PF, PX, RW, small, at)


@merged
def pulled_load(i, others, points, small, at):
    """Generalised forces of load `i`, into small[at : at + ROW_WIDTH]."""
    LOADI, LOADF = others[4], others[5]
    PI, PF, _, PX = points
    for k in range(ROW_WIDTH):
        small[at + k] = 0.0
    if LOADI[i, LOAD_ON] == 1:
        p = LOADI[i, LOAD_POINT]
        f = (LOADF[i, 0], LOADF[i, 1], LOADF[i, 2])
        m = (LOADF[i, 3], LOADF[i, 4], LOADF[i, 5])
        if LOADI[i, FOLLOWS] == 1:
            f, m = turn_out(PX, p, f), turn_out(PX, p, m)
        pull_back(p, f, m, 1.0, PI, PF, PX, small, at)


@kernel
def add_curvature(rods, others, points, rows, q, quat, values, small, blocks, size):
    """Add the block of every constraint (rows blocks[c, 0] to blocks[c, 1]) and load (number blocks[c, 0], end −1).

    blocks[c, 2] is where it begins in `values`; `size` is the scene's, m.
    """
    RI, LOADI = rows[0], others[4]
    PI, PF, PT, PX = points
    for c in range(blocks.shape[0]):
        r0, r1, at = blocks[c, 0], blocks[c, 1], blocks[c, 2]
        first, second = (RI[r0, FIRST], RI[r0, SECOND]) if r1 >= 0 else (LOADI[r0, LOAD_POINT], -1)
        width = ROW_WIDTH if r1 >= 0 else WIDTH
        for column in range(width):
            point, entry = (first, column) if column < WIDTH else (second, column - WIDTH)
            if PI[point, KIND] == WORLD or dof_of(point, entry, PI) < 0:
                continue
            zone = PI[point, KIND] == ZONE
            rigid = PI[point, KIND] == RIGID or zone
            turning = not rigid and entry & 3 == 3 and entry < 16
            turning = turning or (rigid and 3 <= entry < 6) or (zone and entry >= 9)
            step = STEP_LENGTH if turning else STEP_LENGTH * size
            # Only this point sees the move: a tie of a rod to itself lists a degree of freedom for either end.
            for way in range(2):
                shift_point(point, entry, step if way == 0 else -step, rods, others, points, q, quat)
                if r1 >= 0:
                    pulled_rows(r0, r1, rows, points, q, small, way * ROW_WIDTH)
                else:
                    pulled_load(r0, others, points, small, way * ROW_WIDTH)
            evaluate_point(point, PI, PF, PT, q, quat, PX)
            k = -0.25 / step
            for i in range(width):
                d = k * (small[i] - small[ROW_WIDTH + i])
                if i == column:
                    values[at + i * (i + 1) // 2 + i] += 2.0 * d
                elif i > column:
                    values[at + i * (i + 1) // 2 + column] += d
                else:
                    values[at + column * (column + 1) // 2 + i] += d


@kernel
def diagonal_slot(p, entry, PI):
    """Where the diagonal entry of the degree of freedom behind `entry` of point `p` stands in `values`."""
    kind = PI[p, KIND]
    if kind == RIGID:
        return PI[p, BLOCK] + 7 * entry
    if kind == ZONE:
        if entry < 6:
            return PI[p, CARRIER_AT] + 7 * entry
        return PI[p, BLOCK] + (PI[p, ROW_LENGTH] + 1) * (entry - 6)
    if entry == WIDTH - 1:
        return PI[p, SLOTS] + WIDTH - 1
    c = PI[p, POINT_FIRST] + (entry >> 2)
    if c >= PI[p, COUNT]:
        c -= PI[p, COUNT]
    return PI[p, BLOCK] + 64 * c + 17 * (entry & 3)


@kernel
def add_anchors(slot0, diagonal0, points, rows, blocks, floor, size, values, force, gain):
    """Add the anchors of every equality row; `gain` becomes 1/(1 − γΣ). `floor` is the smallest useful γ, N/m."""
    RI, wanted, softness = rows[0], rows[5], rows[6]
    PI = points[0]
    for c in range(blocks.shape[0]):
        r0, r1, at = blocks[c, 0], blocks[c, 1], blocks[c, 2]
        if r1 < 0:
            continue
        p, q = RI[r0, FIRST], RI[r0, SECOND]
        for r in range(r0, r1):
            gain[r] = 1.0
            if RI[r, DUAL] < 0:
                continue
            row = slot0 + ROW_WIDTH * r
            square = 0.0
            stiff = 0.0
            for i in range(ROW_WIDTH):
                point, entry = (p, i) if i < WIDTH else (q, i - WIDTH)
                if values[row + i] != 0.0 and dof_of(point, entry, PI) >= 0:
                    x = values[row + i] * values[row + i]
                    square += x
                    stiff += x * max(values[diagonal_slot(point, entry, PI)], 0.0)
            if square == 0.0:
                continue
            angular = RI[r, ROW_KIND] == ROTATE or RI[r, ROW_KIND] == SQUARE or RI[r, ROW_KIND] == ANGLE
            gamma = max(stiff / (square * square), floor * size * size if angular else floor)
            if softness[r] > 0.0:
                gamma = min(gamma, 0.5 / softness[r])
            gain[r] = 1.0 / (1.0 - gamma * softness[r])
            values[diagonal0 + r] = -softness[r] * gain[r]
            for i in range(ROW_WIDTH):
                if values[row + i] == 0.0:
                    continue
                k = gamma * values[row + i]
                dof = dof_of(p, i, PI) if i < WIDTH else dof_of(q, i - WIDTH, PI)
                if dof >= 0:
                    force[dof] += k * wanted[r]
                for j in range(i + 1):
                    values[at + i * (i + 1) // 2 + j] += k * values[row + j]
