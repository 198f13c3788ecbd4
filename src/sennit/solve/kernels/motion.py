"""Where free flight takes every body in a step, and the new state when the solve is done.

From the state (x, v) and the one before it (x₋, v₋), with five numbers that make the scheme (`schemes.py`)::

    X̂ = A x + B x₋ + C v,  V̂ = D v + E v₋,  free flight x̂ = X̂ + c V̂,  after the solve v₊ = V̂ + β (x₊ − x̂)

The frames of a rod that no row holds by its direction are turned by the rigid part of its motion before they are
carried on: the roll that must follow ω·t is no spline, and a tumbling rod would wind up. A rod that is held so does not
turn as a whole; there the turn would do the harm that it cures. Roll rates are those of the material, so that the turn
ρ·t is taken off the predicted roll.
"""

from __future__ import annotations

import math

from sennit.constraints.cable.kernels.tables import IMPLICIT, SPOOK
from sennit.compilation import kernel, merged
from sennit.constraints.kernels.rows import RATE, RESTITUTION, VALUE, VALUE_LAST
from sennit.geometry.kernels.algebra import (
    add3, cross3, dot3, inverse3, mat_vec, quat_exp, quat_log, quat_matrix, quat_mul, quat_normalised, row9,
    scale3,
)  # fmt: skip
from sennit.point.kernels.points import BODY, FIRST, KIND, ROD
from sennit.bodies.rigid.kernels.rotation import free_rotation, free_rotation_bdf2, omega_from_momentum
from sennit.bodies.rod.discrete.kernels.forces import (
    accept_strains_discrete, carry_frames_discrete, largest_turn_discrete, update_tensions_discrete,
)  # fmt: skip
from sennit.bodies.rod.spline.kernels.forces import (
    accept_strains_spline, carry_frames_spline, largest_turn_spline, rotate_frames, spline_span, update_tensions_spline,
)  # fmt: skip
from sennit.solve.kernels.assembly import (
    B0, B1, BEAD_V, BEAD_X, CLOSED, COUNT, DOF0, INERTIA, INVERSE, MODEL, ON, RELAXATION, RIGID_DOF, ROD_LENGTH, S0, S1,
    SL_DOF, SL_POINT, SL_ROD, SL_SCALE, SL_SPAN, SPANS, TUMBLES, ZONE_COUNT, ZONE_DOF,
)  # fmt: skip
from sennit.solve.kernels.cables import begin_cables, glide_cables

# The numbers of a scheme: the five of the docstring, the time c, β = dv₊/dx₊, the step ratio of BDF2's rotations,
# and 1 for the mean force over the way, whose start is seen by the same frames as its end
A, B, C, D, E, REACH, BETA, RATIO, MEAN = 0, 1, 2, 3, 4, 5, 6, 7, 8
SCHEME = 9


@kernel
def rigid_turn(dof0, n, q, q_new):
    """Rotation vector of the rigid part of a rod's motion from q to q_new, from its control points.

    ω solves Σ(|ρ|² − ρρᵀ) ω = Σ ρ × Δx; a straight rod's spin about itself is not seen and left out.
    """
    cx = cy = cz = ux = uy = uz = 0.0
    for i in range(n):
        o = dof0 + 4 * i
        cx += q[o]
        cy += q[o + 1]
        cz += q[o + 2]
        ux += q_new[o] - q[o]
        uy += q_new[o + 1] - q[o + 1]
        uz += q_new[o + 2] - q[o + 2]
    k = 1.0 / n
    center, drift = (k * cx, k * cy, k * cz), (k * ux, k * uy, k * uz)
    xx = yy = zz = xy = xz = yz = 0.0
    spin = (0.0, 0.0, 0.0)
    for i in range(n):
        o = dof0 + 4 * i
        x, y, z = q[o] - center[0], q[o + 1] - center[1], q[o + 2] - center[2]
        shift = (q_new[o] - q[o] - drift[0], q_new[o + 1] - q[o + 1] - drift[1], q_new[o + 2] - q[o + 2] - drift[2])
        spin = add3(spin, cross3((x, y, z), shift))
        xx += x * x
        yy += y * y
        zz += z * z
        xy += x * y
        xz += x * z
        yz += y * z
    floor = 1e-6 * (xx + yy + zz)
    tensor = (yy + zz + floor, -xy, -xz, -xy, xx + zz + floor, -yz, -xz, -yz, xx + yy + floor)
    inverse, _ = inverse3(tensor)
    turn = mat_vec(inverse, spin)
    y = math.sqrt(dot3(turn, turn))
    # Free flight along straight lines turns a chord by atan of what the angular velocity would.
    return scale3(math.atan(y) / y, turn) if y > 0.0 else turn


@merged
def predict_rods(scheme, rods, state, last, turns, q_base, v_base, bend, stretch, PI, PS, PT):
    """Free flight of the rods; frames of integration points and of points, turned with them, into `bend` and `PT`."""
    RODI = rods[0]
    q, v, bend_state, stretch_state = state[0], state[1], state[4], state[5]
    q_last, v_last, bend_last, stretch_last = last[0], last[1], last[4], last[5]
    memory = -scheme[B] if scheme[RATIO] > 0.0 else 0.0  # of the strains, for their rate
    for rod in range(RODI.shape[0]):
        dof0, n, closed = RODI[rod, DOF0], RODI[rod, COUNT], RODI[rod, CLOSED]
        for i in range(dof0, dof0 + 4 * n):
            v_base[i] = scheme[D] * v[i] + scheme[E] * v_last[i]
            q_base[i] = scheme[A] * q[i] + scheme[B] * q_last[i] + scheme[C] * v[i] + scheme[REACH] * v_base[i]
        turn = (0.0, 0.0, 0.0)
        if RODI[rod, TUMBLES] == 1 and scheme[MEAN] == 0.0:
            turn = rigid_turn(dof0, n, q, q_base)
        turns[rod, 0], turns[rod, 1], turns[rod, 2] = turn
        for i in range(n):
            lo, hi = i - 1, i + 1
            if closed == 1:
                lo, hi = (i + n - 1) % n, (i + 1) % n
            elif RODI[rod, MODEL] == 1:
                lo, hi = min(i, n - 2), min(i + 1, n - 1)
            else:
                lo, hi = max(lo, 0), min(hi, n - 1)
            o, p = dof0 + 4 * lo, dof0 + 4 * hi
            chord = (q[p] - q[o], q[p + 1] - q[o + 1], q[p + 2] - q[o + 2])
            q_base[dof0 + 4 * i + 3] -= dot3(chord, turn) / math.sqrt(dot3(chord, chord))
        if RODI[rod, MODEL] == 1:
            q_base[dof0 + 4 * n - 1] = 0.0
        for row in range(RODI[rod, B0], RODI[rod, B1]):
            for k in range(10):
                bend[row, k] = bend_state[row, k]
            for k in range(3):
                bend[row, 10 + k] = (1.0 + memory) * bend_state[row, 10 + k] - memory * bend_last[row, k]
        for row in range(RODI[rod, S0], RODI[rod, S1]):
            stretch[row, 0] = stretch_state[row, 0]
            stretch[row, 1] = (1.0 + memory) * stretch_state[row, 1] - memory * stretch_last[row]
        m = quat_matrix(quat_exp(turn))
        rotate_frames(bend, RODI[rod, B0], RODI[rod, B1], m)
    for p in range(PI.shape[0]):
        kind = PI[p, KIND]
        if kind == ROD:
            rod = PI[p, BODY]
            m = quat_matrix(quat_exp((turns[rod, 0], turns[rod, 1], turns[rod, 2])))
            t = mat_vec(m, (PS[p, 0], PS[p, 1], PS[p, 2]))
            u = mat_vec(m, (PS[p, 3], PS[p, 4], PS[p, 5]))
            PT[p, 0], PT[p, 1], PT[p, 2] = t
            PT[p, 3], PT[p, 4], PT[p, 5] = u
        else:
            for k in range(6):
                PT[p, k] = PS[p, k]


@merged
def predict_rigid(scheme, h, RIGIDI, RIGIDF, state, last, q_base, v_base, quat_base):
    """Free flight and free rotation of the rigid bodies."""
    q, v, quat, spin = state[0], state[1], state[2], state[3]
    q_last, v_last, quat_last, spin_last = last[0], last[1], last[2], last[3]
    for body in range(RIGIDI.shape[0]):
        o = RIGIDI[body, RIGID_DOF]
        for i in range(o, o + 6):
            v_base[i] = scheme[D] * v[i] + scheme[E] * v_last[i]
        for i in range(o, o + 3):
            q_base[i] = scheme[A] * q[i] + scheme[B] * q_last[i] + scheme[C] * v[i] + scheme[REACH] * v_base[i]
            q_base[i + 3] = 0.0
        now = (quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3])
        before = (quat_last[body, 0], quat_last[body, 1], quat_last[body, 2], quat_last[body, 3])
        L = (spin[body, 0], spin[body, 1], spin[body, 2])
        L_last = (spin_last[body, 0], spin_last[body, 1], spin_last[body, 2])
        inertia, inverse = row9(RIGIDF, body, INERTIA), row9(RIGIDF, body, INVERSE)
        if scheme[A] == 0.0:
            # Second stage of SDIRK2: from the step's start with the first stage's rate, then on by backward Euler.
            now = quat_mul(quat_exp(scale3(scheme[C], (v[o + 3], v[o + 4], v[o + 5]))), before)
            rate = omega_from_momentum(quat_matrix(now), inverse, add3(scale3(scheme[D], L), scale3(scheme[E], L_last)))
            turn = free_rotation(quat_matrix(now), inertia, rate, scheme[REACH])
        elif scheme[RATIO] > 0.0:
            back = quat_mul(before, (now[0], -now[1], -now[2], -now[3]))
            turn = free_rotation_bdf2(quat_matrix(now), inverse, quat_log(back), L, L_last, h, scheme[RATIO])
        else:
            turn = free_rotation(quat_matrix(now), inertia, (v[o + 3], v[o + 4], v[o + 5]), h)
        new = quat_normalised(quat_mul(quat_exp(turn), now))
        quat_base[body, 0], quat_base[body, 1], quat_base[body, 2], quat_base[body, 3] = new


@merged
def predict_sliders(scheme, SLI, SLF, RODI, PI, state, last, q_base, v_base, bead_base):
    """Free flight of what slides; returns 1 if a slider enters another span, which changes the pattern of its rows."""
    q, v, bead = state[0], state[1], state[6]
    q_last, v_last, bead_last = last[0], last[1], last[6]
    crossed = 0
    for s in range(SLI.shape[0]):
        dof, p, rod = SLI[s, SL_DOF], SLI[s, SL_POINT], SLI[s, SL_ROD]
        v_base[dof] = scheme[D] * v[dof] + scheme[E] * v_last[dof]
        q_base[dof] = scheme[A] * q[dof] + scheme[B] * q_last[dof] + scheme[C] * v[dof] + scheme[REACH] * v_base[dof]
        for k in range(3):
            x, w = BEAD_X + k, BEAD_V + k
            bead_base[s, w] = scheme[D] * bead[s, w] + scheme[E] * bead_last[s, w]
            bead_base[s, x] = (
                scheme[A] * bead[s, x] + scheme[B] * bead_last[s, x] + scheme[C] * bead[s, w]
                + scheme[REACH] * bead_base[s, w]
            )  # fmt: skip
        bead_base[s, ON] = bead[s, ON]
        if bead[s, ON] == 0.0:
            v_base[dof] = 0.0
            q_base[dof] = q[dof]
            continue
        span, _ = spline_span(q_base[dof] * SLF[s, SL_SCALE], RODI[rod, SPANS], RODI[rod, CLOSED] == 1)
        PI[p, FIRST] = span
        if span != SLI[s, SL_SPAN]:
            crossed = 1
    return crossed


@merged
def predict_zones(scheme, ZONEI, state, last, q_base, v_base):
    """Where the places of zones would be if they went on as they do: they have no inertia, it is where to begin."""
    q, v, q_last, v_last = state[0], state[1], last[0], last[1]
    for z in range(ZONEI.shape[0]):
        for i in range(ZONEI[z, ZONE_DOF], ZONEI[z, ZONE_DOF] + ZONEI[z, ZONE_COUNT]):
            v_base[i] = scheme[D] * v[i] + scheme[E] * v_last[i]
            q_base[i] = scheme[A] * q[i] + scheme[B] * q_last[i] + scheme[C] * v[i] + scheme[REACH] * v_base[i]


@merged
def carry_rods(rods, q_new, bend):
    """Frames of every rod carried on, in place, to the shape `q_new`."""
    RODI, _, bend_table, bend_span = rods[0], rods[1], rods[2], rods[3]
    for rod in range(RODI.shape[0]):
        dof0, n, closed = RODI[rod, DOF0], RODI[rod, COUNT], RODI[rod, CLOSED]
        b0, b1 = RODI[rod, B0], RODI[rod, B1]
        if RODI[rod, MODEL] == 0:
            carry_frames_spline(q_new, dof0, n, closed, bend_table, bend_span, bend, bend, b0, b1)
        else:
            carry_frames_discrete(q_new, dof0, n, closed, bend_table, bend_span, bend, bend, b0, b1)


@merged
def update_tensions(damp, rods, q_iterate, dq, stretch):
    """Tensions that the linearised solve expects, stored for the next geometric stiffness."""
    RODI, RODF, _, _, stretch_table, stretch_span, _ = rods
    for rod in range(RODI.shape[0]):
        dof0, n, closed = RODI[rod, DOF0], RODI[rod, COUNT], RODI[rod, CLOSED]
        rate = RODF[rod, RELAXATION] * damp
        s0, s1 = RODI[rod, S0], RODI[rod, S1]
        if RODI[rod, MODEL] == 0:
            update_tensions_spline(
                q_iterate, dq, dof0, n, closed, RODF, rod, stretch_table, stretch_span, stretch, s0, s1, rate
            )
        else:
            update_tensions_discrete(
                q_iterate, dq, dof0, n, closed, RODF, rod, stretch_table, stretch_span, stretch, s0, s1, rate
            )


@merged
def largest_turn(rods, RIGIDI, SLI, q_iterate, dq):
    """Largest rotation of a rod's tangent or a rigid body by `dq`, rad; a slider's move counts in mean span lengths."""
    RODI, RODF, bend_table, bend_span = rods[0], rods[1], rods[2], rods[3]
    largest = 0.0
    for rod in range(RODI.shape[0]):
        dof0, n, closed = RODI[rod, DOF0], RODI[rod, COUNT], RODI[rod, CLOSED]
        b0, b1 = RODI[rod, B0], RODI[rod, B1]
        if RODI[rod, MODEL] == 0:
            turn = largest_turn_spline(q_iterate, dq, dof0, n, closed, bend_table, bend_span, b0, b1)
        else:
            turn = largest_turn_discrete(q_iterate, dq, dof0, n, closed, bend_table, bend_span, b0, b1)
        largest = max(largest, turn)
    for body in range(RIGIDI.shape[0]):
        o = RIGIDI[body, RIGID_DOF] + 3
        largest = max(largest, math.sqrt(dq[o] * dq[o] + dq[o + 1] * dq[o + 1] + dq[o + 2] * dq[o + 2]))
    for s in range(SLI.shape[0]):
        rod = SLI[s, SL_ROD]
        largest = max(largest, abs(dq[SLI[s, SL_DOF]]) * RODI[rod, SPANS] / RODF[rod, ROD_LENGTH])
    return largest


@merged
def accept_strains(rods, q_new, bend, stretch):
    """Strains of the shape `q_new`, to which `bend`'s frames are carried, for the damping of the next step."""
    RODI, _, bend_table, bend_span, stretch_table, stretch_span, _ = rods
    for rod in range(RODI.shape[0]):
        dof0, n, closed = RODI[rod, DOF0], RODI[rod, COUNT], RODI[rod, CLOSED]
        b0, b1, s0, s1 = RODI[rod, B0], RODI[rod, B1], RODI[rod, S0], RODI[rod, S1]
        if RODI[rod, MODEL] == 0:
            accept_strains_spline(
                q_new, dof0, n, closed, bend_table, bend_span, bend, b0, b1, stretch_table, stretch_span, stretch, s0,
                s1,
            )  # fmt: skip
        else:
            accept_strains_discrete(
                q_new, dof0, n, closed, bend_table, bend_span, bend, b0, b1, stretch_table, stretch_span, stretch, s0,
                s1,
            )  # fmt: skip


@kernel
def move(RIGIDI, dq, q_trial, quat_trial, turned):
    """Move the iterate by `dq`: a rigid body's last three are a rotation vector in the world."""
    for i in range(dq.size):
        q_trial[i] += dq[i]
    for body in range(RIGIDI.shape[0]):
        o = RIGIDI[body, RIGID_DOF] + 3
        turn = (dq[o], dq[o + 1], dq[o + 2])
        old = (quat_trial[body, 0], quat_trial[body, 1], quat_trial[body, 2], quat_trial[body, 3])
        new = quat_normalised(quat_mul(quat_exp(turn), old))
        quat_trial[body, 0], quat_trial[body, 1], quat_trial[body, 2], quat_trial[body, 3] = new
        for k in range(3):
            turned[body, k] += turn[k]
            q_trial[o + k] = 0.0


@kernel
def predict(scheme, mode, h, rods, others, points, rows, cables, state, last, trial, turns, PS):
    """Free flight of everything, which is where the solve begins. Returns 1 if the pattern of a row has changed."""
    lies_elsewhere = begin_cables(mode, cables, points, PS, state)
    RI, RF, RS, start = rows[0], rows[1], rows[2], rows[3]
    for r in range(RS.shape[0]):
        start[r] = RS[r, VALUE]
        if scheme[RATIO] > 0.0 and RI[r, RATE] == 0 and RF[r, RESTITUTION] == 0.0:
            # a damper's rate is taken by the same two-step formula
            start[r] = scheme[A] * RS[r, VALUE] + scheme[B] * RS[r, VALUE_LAST]
    RODI = rods[0]
    RIGIDI, RIGIDF, SLI, SLF = others[0], others[1], others[2], others[3]
    PI, PT = points[0], points[2]
    q_base, v_base, q_trial, quat_base, quat_trial, turned, bend, stretch, bead_base, dq = trial
    predict_rods(scheme, rods, state, last, turns, q_base, v_base, bend, stretch, PI, PS, PT)
    predict_rigid(scheme, h, RIGIDI, RIGIDF, state, last, q_base, v_base, quat_base)
    crossed = predict_sliders(scheme, SLI, SLF, RODI, PI, state, last, q_base, v_base, bead_base)
    predict_zones(scheme, others[6], state, last, q_base, v_base)
    for i in range(q_base.size):
        q_trial[i] = q_base[i]
    for body in range(quat_base.shape[0]):
        for k in range(4):
            quat_trial[body, k] = quat_base[body, k]
        for k in range(3):
            turned[body, k] = 0.0
    if mode == SPOOK:
        glide_cables(h, cables, points, PS, state, trial)
    return max(crossed, lies_elsewhere)


@kernel
def hold(rods, others, points, rows, cables, state, trial, PS):
    """The iterate of a static solve begins at the state itself, at rest."""
    RS, start = rows[2], rows[3]
    for r in range(RS.shape[0]):
        start[r] = RS[r, VALUE]
    begin_cables(IMPLICIT, cables, points, PS, state)
    RODI, SLI, SLF = rods[0], others[2], others[3]
    PI, PT = points[0], points[2]
    q, v, quat, spin, bend_state, stretch_state, bead = state
    q_base, v_base, q_trial, quat_base, quat_trial, turned, bend, stretch, bead_base, dq = trial
    for i in range(q.size):
        q_base[i] = q_trial[i] = q[i]
        v_base[i] = 0.0
    for body in range(quat.shape[0]):
        for k in range(4):
            quat_base[body, k] = quat_trial[body, k] = quat[body, k]
        for k in range(3):
            turned[body, k] = 0.0
    for row in range(bend.shape[0]):
        for k in range(13):
            bend[row, k] = bend_state[row, k]
    for row in range(stretch.shape[0]):
        stretch[row, 0], stretch[row, 1] = stretch_state[row, 0], stretch_state[row, 1]
    for s in range(bead.shape[0]):
        for k in range(7):
            bead_base[s, k] = bead[s, k]
    for p in range(PS.shape[0]):
        for k in range(6):
            PT[p, k] = PS[p, k]
    return find_spans(SLI, SLF, RODI, PI, bead, q)


@kernel
def find_spans(SLI, SLF, RODI, PI, bead, q):
    """Put every slider's point on the span where its coordinate lies; returns 1 if one is not the analysed one."""
    crossed = 0
    for s in range(SLI.shape[0]):
        if bead[s, ON] == 1.0:
            rod, p = SLI[s, SL_ROD], SLI[s, SL_POINT]
            span, _ = spline_span(q[SLI[s, SL_DOF]] * SLF[s, SL_SCALE], RODI[rod, SPANS], RODI[rod, CLOSED] == 1)
            PI[p, FIRST] = span
            if span != SLI[s, SL_SPAN]:
                crossed = 1
    return crossed
