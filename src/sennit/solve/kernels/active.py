"""The multipliers of rows with bounds: one-sided ones, motors, friction, and the tensions of cables.

They are found after the factorisation, from the Schur complement of the few rows that matter (`linalg.panel`).
"""

from __future__ import annotations

import math

from sennit.constraints.cable.kernels.tables import FOUND, LEFT_OVER, SIGMA, WANTED
from sennit.constraints.cable.kernels.tables import SIDE as CABLE_SIDE
from sennit.compilation import kernel, merged
from sennit.constraints.kernels.rows import (
    DUAL, FIRST, FRICTION, KIND as ROW_KIND, LAMBDA, LOWER, MU, ROW_WIDTH, SECOND, SIDE, SLIDING, UPPER, F,
)  # fmt: skip
from sennit.geometry.kernels.algebra import dot3, sub3
from sennit.linalg.kernels.bounded import SOLVED as BOUNDS_SOLVED, solve_bounded
from sennit.linalg.kernels.ldlt import backward, forward, unpermute
from sennit.linalg.kernels.panel import add_row, clear_row, panel_row, row_dot
from sennit.point.kernels.points import (
    BASE, COUNT as POINT_COUNT, FIRST as POINT_FIRST, N0, SLOPE, WIDTH, dof_of, place_of, tangent_of,
)  # fmt: skip
from sennit.solve.kernels.assembly import (
    ACTIVE_SOLVES, BEAD_X, CABLES, DOFS, FRICTION_TURNS, GX, SL_DOF, SL_MASS, SL_POINT, SLOT0, SOLVED, STATIC,
    UNBOUNDED, WM, row_is_on,
)  # fmt: skip
from sennit.solve.kernels.tensions import (
    STRUCK, add_cable_candidate, add_rotors, bounds_of, moves_nothing, note_cables, pull_at, set_cable_row, soften_firm,
    solve_divided,
)  # fmt: skip

HELD = 1e-10  # part of its terms that is left of the compliance of a row that equality rows hold
NEARLY = 1e-7  # gap of such a row that counts as none


@kernel
def normal_force(s, settings, par, others, points, rows, cables, trial, lam_rows):
    """The force with which slider `s` presses on its rod, N: all else that acts on it, less its inertia, across t."""
    SLI, SLF = others[2], others[3]
    PI, PF, _, PX = points
    RI, RW = rows[0], rows[7]
    bead_base, dq = trial[8], trial[9]
    p = SLI[s, SL_POINT]
    f0 = f1 = f2 = 0.0
    for r in range(RI.shape[0]):
        if RI[r, ROW_KIND] != SLIDING and (RI[r, FIRST] == p or RI[r, SECOND] == p):
            k = lam_rows[r] if RI[r, FIRST] == p else -lam_rows[r]
            f0 += k * RW[r, F]
            f1 += k * RW[r, F + 1]
            f2 += k * RW[r, F + 2]
    pull = pull_at(p, cables)
    f0 += pull[0]
    f1 += pull[1]
    f2 += pull[2]
    mass = SLF[s, SL_MASS]
    if mass > 0.0:
        f0 += mass * par[GX]
        f1 += mass * par[GX + 1]
        f2 += mass * par[GX + 2]
        if settings[STATIC] == 0:
            x = sub3(place_of(PX, p), (bead_base[s, BEAD_X], bead_base[s, BEAD_X + 1], bead_base[s, BEAD_X + 2]))
            x0, x1, x2 = x
            slide = dq[SLI[s, SL_DOF]]
            for k in range(4):
                c = PI[p, POINT_FIRST] + k
                if c >= PI[p, POINT_COUNT]:
                    c -= PI[p, POINT_COUNT]
                o = PI[p, BASE] + 4 * c
                x0 += PF[p, N0 + k] * dq[o]
                x1 += PF[p, N0 + k] * dq[o + 1]
                x2 += PF[p, N0 + k] * dq[o + 2]
            k = mass * par[WM]
            f0 -= k * (x0 + slide * PX[p, SLOPE])
            f1 -= k * (x1 + slide * PX[p, SLOPE + 1])
            f2 -= k * (x2 + slide * PX[p, SLOPE + 2])
    t = tangent_of(PX, p)
    along = f0 * t[0] + f1 * t[1] + f2 * t[2]
    return math.sqrt(max(f0 * f0 + f1 * f1 + f2 * f2 - along * along, 0.0))


@merged
def unpack(settings, rows, plan, w, natural, dq, lam_rows, gain, candidates, own, count, lam):
    """Displacements and multipliers of every row from the solved vector; `gain` is 1 but for anchored rows."""
    RI = rows[0]
    unpermute(plan, w, natural)
    n = settings[DOFS]
    for i in range(n):
        dq[i] = natural[i]
    for r in range(RI.shape[0]):
        dual = RI[r, DUAL]
        lam_rows[r] = -gain[r] * natural[n + dual] if dual >= 0 else 0.0
    for k in range(own, count):
        lam_rows[candidates[k]] = lam[k]


@merged
def add_candidate(k, r, slot0, rows, points, plan, L, bounded, values):
    """Panel row of bounded row `r` as number k of the small problem."""
    RI = rows[0]
    PI = points[0]
    Y, reach, reached, index, coefficient, mark = bounded[0], bounded[1], bounded[2], bounded[3], bounded[4], bounded[5]
    at = slot0 + ROW_WIDTH * r
    m = 0
    for i in range(ROW_WIDTH):
        dof = dof_of(RI[r, FIRST], i, PI) if i < WIDTH else dof_of(RI[r, SECOND], i - WIDTH, PI)
        if dof >= 0 and values[at + i] != 0.0:
            index[m] = dof
            coefficient[m] = values[at + i]
            m += 1
    panel_row(plan, L, index, coefficient, 0, m, Y, reach, reached, k, mark)


@kernel
def row_size(diagonal, Y, reach, reached, r):
    """The sum of the magnitudes of the terms of y_rᵀ D⁻¹ y_r."""
    total = 0.0
    for k in range(int(reached[r])):
        c = 4 * int(reach[r, k])
        for lane in range(4):
            total += abs(Y[r, c + lane] * Y[r, c + lane] / diagonal[c + lane])
    return total


@kernel
def solve_rows(settings, par, others, points, rows, cables, trial, linear, bounded, values, lam_rows, gain, report):
    """Solve the factorised system with the one-sided, motor and friction rows; displacements go to `trial`'s dq.

    Rows that stay clear of their bound are left out until a solution touches them. The bound of a friction row is μ
    times the normal force that the same solution gives: found by repetition, from the last step's.
    """
    RI, RF, RS, start, predicted, wanted, softness, RW = rows
    PI, PX, SLI = points[0], points[3], others[2]
    plan, L, diagonal, _, w0, w, natural = linear
    Y, reach, reached, _, _, _, C, b, lo, hi, lam, y, side, dense, dense_rows, order, chosen, limit = bounded
    bead_base, dq = trial[8], trial[9]
    slot0, mode = settings[SLOT0], settings[CABLES]
    status = SOLVED
    # Rows of cables come first, and are always in.
    KS = cables[11]
    own = KS.shape[0]
    count = own
    rubs = False
    for r in range(RI.shape[0]):
        lam_rows[r] = RS[r, LAMBDA]
        if RI[r, DUAL] >= 0 or not row_is_on(r, RI, PI, bead_base):
            continue
        # A row that can push and pull is always in; a one-sided one if it pressed before or is touched.
        if RF[r, LOWER] < 0.0 or RS[r, SIDE] == 0.0 or wanted[r] > 0.0:
            chosen[count] = r
            count += 1
            rubs = rubs or RI[r, FRICTION] >= 0
    forward(plan, L, w0)
    done = 0
    for _attempt in range(60):
        for k in range(done, count):
            if k < own:
                add_cable_candidate(k, cables, plan, L, bounded)
                side[k] = int(KS[k, CABLE_SIDE])
                continue
            r = chosen[k]
            add_candidate(k, r, slot0, rows, points, plan, L, bounded, values)
            side[k] = int(RS[r, SIDE])
        for i in range(done, count):
            for j in range(i + 1):
                # y_i is nonzero on its reach alone
                C[i, j] = row_dot(diagonal, Y, reach, reached, i, Y[j])
                C[j, i] = C[i, j]
        if done == 0 and own > 0:
            for i in range(own):
                if moves_nothing(i, cables, PI):
                    for j in range(own):
                        C[i, j] = C[j, i] = 0.0  # what is there is rounding
                b[i] = row_dot(diagonal, Y, reach, reached, i, w0)
                KS[i, LEFT_OVER] = b[i]
                limit[i] = 0.0
                lo[i], hi[i] = bounds_of(i, cables)
            add_rotors(mode, par, cables, C, b)
            for i in range(own):
                set_cable_row(i, C[i, i], mode, par, cables)
                b[i] -= KS[i, WANTED]
            soften_firm(own, cables, C)
            for i in range(own):
                C[i, i] += KS[i, SIGMA]
                if C[i, i] == 0.0:
                    lo[i] = hi[i] = 0.0  # all of a firm cable between places that cannot move
        for i in range(max(done, own), count):
            r = chosen[i]
            b[i] = row_dot(diagonal, Y, reach, reached, i, w0) - wanted[r]
            limit[i] = 0.0
            if softness[r] == 0.0 and C[i, i] < HELD * row_size(diagonal, Y, reach, reached, i):
                # Equality rows hold what it could move: it carries nothing, unless they break it.
                limit[i] = -1.0
                b[i] = 0.0 if b[i] > -NEARLY else b[i]
            C[i, i] += softness[r]
            for j in range(i + 1):
                if limit[i] < 0.0 or limit[j] < 0.0:
                    C[i, j] = C[j, i] = 0.0
        done = count
        for turn in range(20 if rubs else 1):
            change = 0.0
            for k in range(own, count):
                r = chosen[k]
                lo[k], hi[k] = RF[r, LOWER], RF[r, UPPER]
                if RI[r, FRICTION] >= 0 and limit[k] >= 0.0:
                    p = SLI[RI[r, FRICTION], SL_POINT]
                    slope = (PX[p, SLOPE], PX[p, SLOPE + 1], PX[p, SLOPE + 2])
                    # a force along the rod, seen by the coordinate σ
                    bound = (
                        RF[r, MU]
                        * math.sqrt(dot3(slope, slope))
                        * normal_force(RI[r, FRICTION], settings, par, others, points, rows, cables, trial, lam_rows)
                    )
                    if turn > 0:
                        change = max(change, abs(bound - limit[k]) - 1e-9 * bound)
                    limit[k] = bound
                    lo[k], hi[k] = -bound, bound
            if turn > 0 and change <= 0.0:
                break
            if count > 0:
                cap = 50 + 20 * count
                if cables[16].shape[0] > 0:
                    static = settings[STATIC] == 1
                    code, solves = solve_divided(static, C, b, lo, hi, count, lam, y, side, cables, bounded, cap)
                else:
                    code, solves = solve_bounded(C, b, lo, hi, count, lam, y, side, dense, dense_rows, order, cap)
                report[ACTIVE_SOLVES] += solves
                if code != BOUNDS_SOLVED:
                    status = UNBOUNDED
            for i in range(w.size):
                w[i] = w0[i]
            for k in range(count):
                if lam[k] != 0.0:
                    add_row(Y, reach, reached, k, lam[k], w)
            backward(plan, L, diagonal, w)
            unpack(settings, rows, plan, w, natural, dq, lam_rows, gain, chosen, own, count, lam)
            for k in range(own):
                KS[k, FOUND] = lam[k]
            report[FRICTION_TURNS] += 1
        # Rows left out, which this solution would break
        before = count
        for r in range(RI.shape[0]):
            if RI[r, DUAL] >= 0 or not row_is_on(r, RI, PI, bead_base):
                continue
            known = False
            for k in range(own, before):
                known = known or chosen[k] == r
            if known:
                continue
            gap = -wanted[r]
            at = slot0 + ROW_WIDTH * r
            for i in range(ROW_WIDTH):
                dof = dof_of(RI[r, FIRST], i, PI) if i < WIDTH else dof_of(RI[r, SECOND], i - WIDTH, PI)
                if dof >= 0:
                    gap += values[at + i] * dq[dof]
            if gap < 0.0:
                chosen[count] = r
                count += 1
        if count == before:
            break
    for r in range(RI.shape[0]):
        if RI[r, DUAL] < 0:
            limit_side = -1.0
            for k in range(own, count):
                if chosen[k] == r:
                    limit_side = float(side[k])
            if RF[r, LOWER] == 0.0 and RS[r, SIDE] != limit_side:
                report[STRUCK] = 1
            RS[r, SIDE] = limit_side
    note_cables(mode, par, cables, C, y, side, report)
    for k in range(count):
        clear_row(Y, reach, reached, k)
    return status
