"""What remains of a step when its solve is done: velocities, frames, strains, and what has left its rod."""

from __future__ import annotations

import math

from sennit.compilation import kernel
from sennit.constraints.kernels.rows import ANGLE, SIGN, TARGET, TURNS, VALUE, VALUE_LAST, G, evaluate_rows
from sennit.constraints.kernels.rows import KIND as ROW_KIND
from sennit.geometry.kernels.algebra import dot3, mat_vec, quat_matrix, row9
from sennit.point.kernels.points import KIND, WORLD, accept_point, evaluate_point
from sennit.bodies.rigid.kernels.rotation import omega_from_momentum, world_inertia
from sennit.bodies.rod.discrete.kernels.forces import energy_discrete
from sennit.bodies.rod.spline.kernels.forces import energy_spline
from sennit.solve.kernels.assembly import (
    B0, B1, BEAD_V, BEAD_X, CLOSED, COUNT, DAMP, DOF0, INERTIA, INVERSE, M0, MASS, MODEL, ON, RIGID_DOF, S0, S1, SL_DOF,
    SL_MASS, SL_POINT, SL_ROD, SL_SCALE, SPANS, ZONE_COUNT, ZONE_DOF, place_sliders,
)  # fmt: skip
from sennit.solve.kernels.motion import A, B, BETA, C, D, E, MEAN, REACH, accept_strains, carry_rods, find_spans
from sennit.solve.kernels.tensions import accept_cables


@kernel
def evaluate_all(rods, others, points, q, quat):
    """Places and frames of all points in PX; sliders' bases on their own spans."""
    RODI, SLI, SLF = rods[0], others[2], others[3]
    PI, PF, PS, PX = points
    place_sliders(SLI, SLF, RODI, PI, PF, q)
    for p in range(PI.shape[0]):
        evaluate_point(p, PI, PF, PS, q, quat, PX)


@kernel
def measure_rows(rows, points, q):
    """Value of every row at the points in PX, and the angle that counts its turns."""
    RI, RF, RS, RW = rows[0], rows[1], rows[2], rows[7]
    evaluate_rows(0, RI.shape[0], RI, RF, RS, points[3], q, points[0], RW)
    for r in range(RI.shape[0]):
        RS[r, VALUE] = RW[r, G]
        if RI[r, ROW_KIND] == ANGLE:
            RS[r, TURNS] = RW[r, G] * RF[r, SIGN] + RF[r, TARGET]


@kernel
def accept(scheme, mode, static, par, rods, others, points, rows, cables, state, last, trial, PS, report):
    """Make the iterate the state. Returns the number of sliders that left their rods (their ON is 0 now).

    `points` holds the iterate's frames (PT); PS receives them. In statics velocities become zero.
    """
    RODI = rods[0]
    RIGIDI, RIGIDF, SLI, SLF = others[0], others[1], others[2], others[3]
    PI, PF, PT, PX = points
    q, v, quat, spin, bend_state, stretch_state, bead = state
    q_last, v_last, quat_last, spin_last, bend_last, stretch_last, bead_last = last
    q_base, v_base, q_trial, quat_base, quat_trial, turned, bend, stretch, bead_base, _ = trial
    beta = scheme[BETA]
    carry_rods(rods, q_trial, bend)
    for rod in range(RODI.shape[0]):
        # The roll before the step, as the turned frames see it: see `predict_rods`.
        for i in range(RODI[rod, COUNT]):
            o = RODI[rod, DOF0] + 4 * i + 3
            free = scheme[A] * q[o] + scheme[B] * q_last[o] + scheme[C] * v[o] + scheme[REACH] * v_base[o]
            q[o] += q_base[o] - free if static == 0 else 0.0
    for i in range(q.size):
        q_last[i] = q[i]
        v_last[i] = v[i]
        q[i] = q_trial[i]
        v[i] = v_base[i] + beta * (q_trial[i] - q_base[i]) if static == 0 else 0.0
    if scheme[MEAN] == 1.0 and static == 0:
        # 2Δ/h − v, which keeps the energy of a mass, would swing for ever where there is none.
        ZONEI = others[6]
        for z in range(ZONEI.shape[0]):
            for i in range(ZONEI[z, ZONE_DOF], ZONEI[z, ZONE_DOF] + ZONEI[z, ZONE_COUNT]):
                v[i] = (q[i] - q_last[i]) * par[DAMP]
    for row in range(bend.shape[0]):
        for k in range(3):
            bend_last[row, k] = bend_state[row, 10 + k]
        for k in range(10):
            bend_state[row, k] = bend[row, k]
    for row in range(stretch.shape[0]):
        stretch_last[row] = stretch_state[row, 1]
        stretch_state[row, 0] = stretch[row, 0]
    accept_strains(rods, q, bend_state, stretch_state)
    for body in range(RIGIDI.shape[0]):
        o = RIGIDI[body, RIGID_DOF]
        base = quat_matrix((quat_base[body, 0], quat_base[body, 1], quat_base[body, 2], quat_base[body, 3]))
        inertia = world_inertia(base, row9(RIGIDF, body, INERTIA))
        gain = mat_vec(inertia, (turned[body, 0], turned[body, 1], turned[body, 2]))
        for k in range(3):
            before = spin[body, k]
            spin[body, k] = scheme[D] * before + scheme[E] * spin_last[body, k] + beta * gain[k] if static == 0 else 0.0
            spin_last[body, k] = before
        for k in range(4):
            quat_last[body, k] = quat[body, k]
            quat[body, k] = quat_trial[body, k]
        m = quat_matrix((quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3]))
        L = (spin[body, 0], spin[body, 1], spin[body, 2])
        omega = omega_from_momentum(m, row9(RIGIDF, body, INVERSE), L)
        v[o + 3], v[o + 4], v[o + 5] = omega
    left = 0
    for s in range(SLI.shape[0]):
        p, rod, dof = SLI[s, SL_POINT], SLI[s, SL_ROD], SLI[s, SL_DOF]
        for k in range(7):
            bead_last[s, k] = bead[s, k]
        spans, closed = RODI[rod, SPANS], RODI[rod, CLOSED]
        u = q[dof] * SLF[s, SL_SCALE]
        if bead[s, ON] == 1.0 and closed == 0 and (u < -1e-9 * spans or u > (1.0 + 1e-9) * spans):
            bead[s, ON] = 0.0
            left += 1
        if bead[s, ON] == 0.0:
            v[dof] = 0.0
            q[dof] = min(max(u, 0.0), float(spans)) / SLF[s, SL_SCALE] if closed == 0 else q[dof]
        elif closed == 1:
            turn = spans * math.floor(u / spans) / SLF[s, SL_SCALE]
            q[dof] -= turn
            q_last[dof] -= turn
    find_spans(SLI, SLF, RODI, PI, bead, q)
    place_sliders(SLI, SLF, RODI, PI, PF, q)
    for p in range(PI.shape[0]):
        evaluate_point(p, PI, PF, PT, q, quat, PX)
        accept_point(p, PI, PF, PT, q, PX)
        for k in range(6):
            PS[p, k] = PT[p, k]
        if PI[p, KIND] == WORLD:
            for k in range(12):
                PS[p, k] = PF[p, k]
    for s in range(SLI.shape[0]):
        p = SLI[s, SL_POINT]
        for k in range(3):
            x = PX[p, k]
            w = bead_base[s, BEAD_V + k] + beta * (x - bead_base[s, BEAD_X + k])
            bead[s, BEAD_X + k] = x
            bead[s, BEAD_V + k] = w if static == 0 and bead[s, ON] == 1.0 else 0.0
    RS = rows[2]
    for r in range(RS.shape[0]):
        RS[r, VALUE_LAST] = RS[r, VALUE]
    measure_rows(rows, points, q)
    accept_cables(mode, static == 1, par, cables, points, report)
    return left


@kernel
def energies(rods, others, points, state, gravity, out):
    """Kinetic, stretching, bending, twisting, gravitational energy of each rod, rigid body, slider: (bodies, 5), J."""
    RODI, RODF, bend_table, bend_span, stretch_table, stretch_span, mass_table = rods
    RIGIDI, RIGIDF, SLI, SLF = others[0], others[1], others[2], others[3]
    q, v, quat, spin, bend_state, stretch_state, bead = state
    for i in range(out.shape[0]):
        for k in range(5):
            out[i, k] = 0.0
    rods_n = RODI.shape[0]
    for rod in range(rods_n):
        dof0, n, closed, m0 = RODI[rod, DOF0], RODI[rod, COUNT], RODI[rod, CLOSED], RODI[rod, M0]
        b0, b1, s0, s1 = RODI[rod, B0], RODI[rod, B1], RODI[rod, S0], RODI[rod, S1]
        if RODI[rod, MODEL] == 0:
            parts = energy_spline(
                q, dof0, n, closed, RODF, rod, bend_table, bend_span, bend_state, b0, b1, stretch_table, stretch_span,
                stretch_state, s0, s1,
            )  # fmt: skip
        else:
            parts = energy_discrete(
                q, dof0, n, closed, RODF, rod, bend_table, bend_span, bend_state, b0, b1, stretch_table, stretch_span,
                stretch_state, s0, s1,
            )  # fmt: skip
        out[rod, 1], out[rod, 2], out[rod, 3] = parts
        for i in range(n):
            o = dof0 + 4 * i
            mass = mass_table[m0 + i, 8]
            out[rod, 4] -= mass * (gravity[0] * q[o] + gravity[1] * q[o + 1] + gravity[2] * q[o + 2])
            for k in range(4):
                c = i + k
                if c >= n:
                    if closed == 0:
                        break
                    c -= n
                p = dof0 + 4 * c
                double = 0.5 if k == 0 else 1.0
                for a in range(4):
                    m = mass_table[m0 + i, k] if a < 3 else mass_table[m0 + i, 4 + k]
                    out[rod, 0] += double * m * v[o + a] * v[p + a]
    for body in range(RIGIDI.shape[0]):
        o, i = RIGIDI[body, RIGID_DOF], rods_n + body
        mass = RIGIDF[body, MASS]
        for a in range(3):
            out[i, 0] += 0.5 * mass * v[o + a] * v[o + a] + 0.5 * spin[body, a] * v[o + 3 + a]
            out[i, 4] -= mass * gravity[a] * q[o + a]
    for s in range(SLI.shape[0]):
        i = rods_n + RIGIDI.shape[0] + s
        mass = SLF[s, SL_MASS]
        if bead[s, ON] == 1.0:
            for a in range(3):
                out[i, 0] += 0.5 * mass * bead[s, BEAD_V + a] * bead[s, BEAD_V + a]
                out[i, 4] -= mass * gravity[a] * bead[s, BEAD_X + a]


@kernel
def momenta(rods, others, points, state, out):
    """Linear momentum and angular momentum about the origin of everything that moves: out (6,)."""
    RODI, mass_table = rods[0], rods[6]
    RIGIDI, RIGIDF, SLI, SLF = others[0], others[1], others[2], others[3]
    q, v, spin, bead = state[0], state[1], state[3], state[6]
    for k in range(6):
        out[k] = 0.0
    for rod in range(RODI.shape[0]):
        dof0, n, closed, m0 = RODI[rod, DOF0], RODI[rod, COUNT], RODI[rod, CLOSED], RODI[rod, M0]
        for i in range(n):
            for k in range(4):
                c = i + k
                if c >= n:
                    if closed == 0:
                        break
                    c -= n
                for way in range(1 if k == 0 else 2):
                    o, p = (dof0 + 4 * i, dof0 + 4 * c) if way == 0 else (dof0 + 4 * c, dof0 + 4 * i)
                    m = mass_table[m0 + i, k]
                    add_momentum(m, (q[o], q[o + 1], q[o + 2]), (v[p], v[p + 1], v[p + 2]), out)
        # Spin of the section about the tangent, control point by control point.
        for i in range(n if RODI[rod, MODEL] == 0 else n - 1):
            lo, hi = max(i - 1, 0), min(i + 1, n - 1)
            if closed == 1:
                lo, hi = (i + n - 1) % n, (i + 1) % n
            a, b = dof0 + 4 * lo, dof0 + 4 * hi
            chord = (q[b] - q[a], q[b + 1] - q[a + 1], q[b + 2] - q[a + 2])
            total = 0.0
            for k in range(4):
                if closed == 1 or i + k < n:
                    total += mass_table[m0 + i, 4 + k] * v[dof0 + 4 * ((i + k) % n) + 3]
                if k > 0 and (closed == 1 or i - k >= 0):
                    total += mass_table[m0 + (i - k + n) % n, 4 + k] * v[dof0 + 4 * ((i - k + n) % n) + 3]
            scale = total / math.sqrt(dot3(chord, chord))
            for k in range(3):
                out[3 + k] += scale * chord[k]
    for body in range(RIGIDI.shape[0]):
        o = RIGIDI[body, RIGID_DOF]
        add_momentum(RIGIDF[body, MASS], (q[o], q[o + 1], q[o + 2]), (v[o], v[o + 1], v[o + 2]), out)
        for k in range(3):
            out[3 + k] += spin[body, k]
    for s in range(SLI.shape[0]):
        if bead[s, ON] == 1.0:
            x = (bead[s, BEAD_X], bead[s, BEAD_X + 1], bead[s, BEAD_X + 2])
            w = (bead[s, BEAD_V], bead[s, BEAD_V + 1], bead[s, BEAD_V + 2])
            add_momentum(SLF[s, SL_MASS], x, w, out)


@kernel
def add_momentum(mass, x, v, out):
    """m v and x × m v."""
    out[0] += mass * v[0]
    out[1] += mass * v[1]
    out[2] += mass * v[2]
    out[3] += mass * (x[1] * v[2] - x[2] * v[1])
    out[4] += mass * (x[2] * v[0] - x[0] * v[2])
    out[5] += mass * (x[0] * v[1] - x[1] * v[0])
