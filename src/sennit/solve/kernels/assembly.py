"""The saddle-point system of one solve, written where the factorisation reads it.

    [ A   Jᵀ ] [ Δq ]   [ r ]        A = wM M + wD M + K,   wM = 1/c² of the scheme (or a shift in statics)
    [ J  −Σ  ] [ −λ ] = [ e ]        r = forces − M (wM (q − q̂) + drag · velocity)

q̂ is where free flight would take the bodies in this step, M the mass (a rigid body's at q̂).
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel, merged
from sennit.constraints.kernels.rows import (
    COMPLIANCE, DAMPING, DISTANCE, ENABLED, FIRST, KIND as ROW_KIND, LAMBDA, OWNER, RATE, RESTITUTION, SECOND, SIGN,
    SLIDING, SPARE, SPEED as ROW_SPEED, F,
)  # fmt: skip
from sennit.geometry.kernels.algebra import add3, dot3, mat_vec, quat_matrix, row9, scale3, sub3
from sennit.point.kernels.points import (
    ARM, BEND, BLOCK, C0, CARRIER_AT, CARRIER_DOF, D0, FELT, FIRST as POINT_FIRST, KIND, N0, RIGID, ROW_LENGTH, SCALE,
    SLIDER, SLOPE, SLOTS, WORLD, ZONE, add_point_stiffness, add_wrench, place_of, turn_out,
)  # fmt: skip
from sennit.bodies.rigid.kernels.rotation import world_inertia
from sennit.bodies.rod.discrete.kernels.forces import assemble_discrete, carry_frames_discrete
from sennit.bodies.rod.spline.kernels.forces import assemble_spline, carry_frames_spline, span_basis

# Rods: integer table, one row each; TUMBLES is 1 for a rod whose directions no row holds
MODEL, DOF0, COUNT, CLOSED, B0, B1, S0, S1, BAND0, M0, SPANS, TUMBLES = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
ROD_INTS = 12
RELAXATION, ROD_LENGTH = 4, 6  # columns of a rod's constants
# Rigid bodies: integers (first degree of freedom, first number of the 6×6 block), numbers (mass, inertia, its inverse)
RIGID_DOF, RIGID_BLOCK = 0, 1
RIGID_INTS = 2
MASS, INERTIA, INVERSE = 0, 1, 10
RIGID_FLOATS = 19
# Sliders: integers (rod, degree of freedom, point, first number of its row, span of the last analysis), numbers, state
SL_ROD, SL_DOF, SL_POINT, SL_SLOTS, SL_SPAN = 0, 1, 2, 3, 4
SLIDER_INTS = 5
SL_MASS, SL_DRAG, SL_FRICTION, SL_SCALE = 0, 1, 2, 3
SLIDER_FLOATS = 4
BEAD_X, BEAD_V, ON = 0, 3, 6  # place, velocity, and 1 while it is on its rod
BEAD = 7
# Zones: integers (first degree of freedom, how many, first number of the block and of the stiffness), relaxation time
ZONE_DOF, ZONE_COUNT, ZONE_BLOCK, ZONE_K = 0, 1, 2, 3
ZONE_INTS = 4
ZONE_FLOATS = 1
# Loads: integers (point, whether it turns with the point, switch), numbers (force, torque)
LOAD_POINT, FOLLOWS, LOAD_ON = 0, 1, 2
LOAD_INTS = 3
LOAD_FLOATS = 6
SLOW = 0.7  # ratio of stiffness to inertia below which a step takes a tie's force as it is
# Numbers of one solve: step, weights of the mass (inertia; drag), drag, 1/time of strain rates, gravity, speed below
# which shocks do not bounce, largest rotation of a static solve's iterate (0: any), smallest stiffness of its anchors,
# time that passes when it is accepted, weight of the value before the last in a two-step formula's rate
STEP, WM, WD, DRAG, DAMP, GX, GY, GZ, THRESHOLD, REACH_LIMIT, ANCHOR, ADVANCE, MEMORY = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
)  # fmt: skip
PARAMETERS = 13
# Settings: largest number of turns; quadrature points of the path (1: its end, 3: Gauss); exact bending; negative
# tensions; statics; where rows' Jacobians and diagonals begin in `values`; degrees of freedom;
# 1: only factorise, to look at the inertia; 1: sliders feel their rods' curvature fully;
# 1: pivots must have the right signs; how the rows of cables are treated
TURNS, PATH, EXACT, PUSH, STATIC, SLOT0, DIAGONAL0, DOFS, LOOK, CURVED, STRICT, CABLES = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
)  # fmt: skip
SETTINGS = 12
# What a solve reports
ITERATIONS, NEGATIVE, DEPENDENT_ROWS, BAD, ACTIVE_SOLVES, FRICTION_TURNS, LEFT = 0, 1, 2, 3, 4, 5, 6
REPORT = 9  # with STRUCK and HAPPENINGS
# How a solve ended
SOLVED, NOT_FINITE, WRONG_INERTIA, UNCONVERGED, TOO_FAR, UNBOUNDED, CROSSED, LOOK_AT_ROWS = 0, 1, 2, 3, 4, 5, 6, 7


@kernel
def interpolate_state(fraction, q, q_trial, q_eval):
    """Degrees of freedom on the straight way from `q` to `q_trial`; its end exactly at fraction 1."""
    for i in range(q.size):
        q_eval[i] = q_trial[i] + (fraction - 1.0) * (q_trial[i] - q[i])


@merged
def add_rods(fraction, weight_f, weight_k, exact, push, par, rods, q_eval, bend_in, bend_eval, stretch, force, values):
    """Elastic and damping forces and stiffness of every rod at `q_eval`; its frames come from `bend_in`."""
    RODI, RODF, bend_table, bend_span, stretch_table, stretch_span, _ = rods
    for rod in range(RODI.shape[0]):
        dof0, n, closed = RODI[rod, DOF0], RODI[rod, COUNT], RODI[rod, CLOSED]
        b0, b1, s0, s1 = RODI[rod, B0], RODI[rod, B1], RODI[rod, S0], RODI[rod, S1]
        # Kelvin and Voigt: a strain rate by the difference over the part of the step that lies behind.
        rate = RODF[rod, RELAXATION] * par[DAMP] / fraction
        if RODI[rod, MODEL] == 0:
            carry_frames_spline(q_eval, dof0, n, closed, bend_table, bend_span, bend_in, bend_eval, b0, b1)
            assemble_spline(
                q_eval, dof0, n, closed, RODF, rod, bend_table, bend_span, bend_eval, b0, b1,
                stretch_table, stretch_span, stretch, s0, s1,
                rate, exact, weight_f, weight_k, push, force, values, RODI[rod, BAND0],
            )  # fmt: skip
        else:
            carry_frames_discrete(q_eval, dof0, n, closed, bend_table, bend_span, bend_in, bend_eval, b0, b1)
            assemble_discrete(
                q_eval, dof0, n, closed, RODF, rod, bend_table, bend_span, bend_eval, b0, b1,
                stretch_table, stretch_span, stretch, s0, s1,
                rate, exact, weight_f, weight_k, push, force, values, RODI[rod, BAND0],
            )  # fmt: skip


@merged
def add_rod_inertia(moved, par, rods, q_trial, q_base, v_base, force, values):
    """Mass, drag and gravity of the rods; `moved` 0 says that q is still q̂ and the inertial force zero."""
    RODI, mass_table = rods[0], rods[6]
    weight = par[WM] + par[WD]
    drag = par[DRAG]
    for rod in range(RODI.shape[0]):
        dof0, n, band0, m0 = RODI[rod, DOF0], RODI[rod, COUNT], RODI[rod, BAND0], RODI[rod, M0]
        for i in range(n):
            mass = mass_table[m0 + i, 8]
            o = dof0 + 4 * i
            force[o] += mass * par[GX]
            force[o + 1] += mass * par[GY]
            force[o + 2] += mass * par[GZ]
            at = band0 + 64 * i
            for k in range(4):
                m, s = weight * mass_table[m0 + i, k], weight * mass_table[m0 + i, 4 + k]
                values[at + 4 * k] += m
                values[at + 4 * k + 17] += m
                values[at + 4 * k + 34] += m
                values[at + 4 * k + 51] += s
        if moved == 0 and drag == 0.0:
            continue
        for i in range(n):
            o = dof0 + 4 * i
            for k in range(4):
                c = i + k
                if c >= n:
                    if RODI[rod, CLOSED] == 0:
                        break
                    c -= n
                p = dof0 + 4 * c
                for a in range(4):
                    m = mass_table[m0 + i, k] if a < 3 else mass_table[m0 + i, 4 + k]
                    x, y = weight * (q_trial[o + a] - q_base[o + a]), weight * (q_trial[p + a] - q_base[p + a])
                    force[o + a] -= m * (y + drag * v_base[p + a])
                    if k > 0:
                        force[p + a] -= m * (x + drag * v_base[o + a])


@merged
def add_rigid_bodies(par, RIGIDI, RIGIDF, q_trial, q_base, v_base, quat_base, turned, force, values):
    """Mass, inertia (at q̂), drag and gravity of the rigid bodies; `turned` is the rotation since q̂."""
    weight, drag = par[WM] + par[WD], par[DRAG]
    for body in range(RIGIDI.shape[0]):
        o, at, mass = RIGIDI[body, RIGID_DOF], RIGIDI[body, RIGID_BLOCK], RIGIDF[body, MASS]
        m = quat_matrix((quat_base[body, 0], quat_base[body, 1], quat_base[body, 2], quat_base[body, 3]))
        inertia = world_inertia(m, row9(RIGIDF, body, INERTIA))
        spin = (
            weight * turned[body, 0] + drag * v_base[o + 3],
            weight * turned[body, 1] + drag * v_base[o + 4],
            weight * turned[body, 2] + drag * v_base[o + 5],
        )
        torque = mat_vec(inertia, spin)
        for a in range(3):
            values[at + 7 * a] += weight * mass
            force[o + a] += mass * (par[GX + a] - weight * (q_trial[o + a] - q_base[o + a]) - drag * v_base[o + a])
            force[o + 3 + a] -= torque[a]
            for b in range(3):
                values[at + 6 * (3 + a) + 3 + b] += weight * inertia[3 * a + b]


@merged
def add_zones(par, ZONEI, ZONEF, ZONEK, q_trial, q_base, v_base, force, values):
    """Elastic and viscous force −K (u + τ u̇) of every zone on the places that are held, at the iterate.

    A zone has no inertia. Its force is that of the step's end in every scheme: the mean over the step, which "midpoint"
    takes of rods, would leave a zone under a load ringing for ever.
    """
    for z in range(ZONEI.shape[0]):
        o, n, at, k0 = ZONEI[z, ZONE_DOF], ZONEI[z, ZONE_COUNT], ZONEI[z, ZONE_BLOCK], ZONEI[z, ZONE_K]
        relaxation = ZONEF[z, 0]
        stiff = 1.0 + relaxation * par[DAMP]
        for j in range(n):
            rate = v_base[o + j] + par[DAMP] * (q_trial[o + j] - q_base[o + j])
            u = q_trial[o + j] + relaxation * rate
            for i in range(n):
                force[o + i] -= ZONEK[k0 + n * j + i] * u
            for i in range(j, n):
                values[at + n * j + i] += stiff * ZONEK[k0 + n * j + i]


@inlined
def set_slider_basis(p, sigma, scale, spans, closed, PI, PF):
    """Basis of a slider's point on the span that PI names, also a little beyond it."""
    u = sigma * scale
    e = PI[p, POINT_FIRST]
    if closed == 1:
        # the turn of the loop that lies nearest to the span
        u -= spans * math.floor((u - e - 0.5) / spans + 0.5)
    basis = span_basis(e, u, spans, closed == 1)
    for k in range(4):
        PF[p, N0 + k] = basis[k]
        PF[p, D0 + k] = basis[4 + k]
        PF[p, C0 + k] = basis[8 + k]


@kernel
def place_sliders(SLI, SLF, RODI, PI, PF, q_eval):
    """Bases of all sliders' points for their coordinates in `q_eval`."""
    for s in range(SLI.shape[0]):
        rod, sigma = SLI[s, SL_ROD], q_eval[SLI[s, SL_DOF]]
        set_slider_basis(SLI[s, SL_POINT], sigma, SLF[s, SL_SCALE], RODI[rod, SPANS], RODI[rod, CLOSED], PI, PF)


@merged
def add_sliders(moved, par, SLI, SLF, bead_base, PI, PF, PX, q, q_eval, work, force, values):
    """Mass, weight and viscous drag of what slides, at the points in PX. A bead off its rod holds nothing."""
    h = par[STEP]
    for s in range(SLI.shape[0]):
        p, dof, at = SLI[s, SL_POINT], SLI[s, SL_DOF], SLI[s, SL_SLOTS]
        if bead_base[s, ON] == 0.0:
            values[at + 16] = 1.0
            continue
        mass = SLF[s, SL_MASS]
        if mass > 0.0:
            w = mass * (par[WM] + par[WD])
            add_point_stiffness(p, (w, 0.0, 0.0, 0.0, w, 0.0, 0.0, 0.0, w), PI, PF, PX, values)
            f = (mass * par[GX], mass * par[GY], mass * par[GZ])
            if moved >= 0:
                gap = sub3(place_of(PX, p), (bead_base[s, BEAD_X], bead_base[s, BEAD_X + 1], bead_base[s, BEAD_X + 2]))
                f = sub3(f, scale3(w, gap))
                pull = (bead_base[s, BEAD_V], bead_base[s, BEAD_V + 1], bead_base[s, BEAD_V + 2])
                f = sub3(f, scale3(mass * par[DRAG], pull))
            add_wrench(p, f, (0.0, 0.0, 0.0), 1.0, PI, PF, PX, work, force)
            if moved < 0:
                # how the weight's pull along the rod changes as it slides and as the rod turns
                scale = PF[p, SCALE]
                values[at + 16] -= scale * dot3(f, (PX[p, BEND], PX[p, BEND + 1], PX[p, BEND + 2]))
                for k in range(4):
                    for a in range(3):
                        values[at + 4 * k + a] -= scale * PF[p, D0 + k] * f[a]
        if SLF[s, SL_DRAG] > 0.0 and moved >= 0:
            slope = (PX[p, SLOPE], PX[p, SLOPE + 1], PX[p, SLOPE + 2])
            c = SLF[s, SL_DRAG] * dot3(slope, slope) / h
            values[at + 16] += c
            force[dof] -= c * (q_eval[dof] - q[dof])


@merged
def add_loads(weight, LOADI, LOADF, bead_base, PI, PF, PX, work, force):
    """What users apply to points: forces and torques, in the world or turning with the point."""
    for i in range(LOADI.shape[0]):
        p = LOADI[i, LOAD_POINT]
        if LOADI[i, LOAD_ON] == 0 or (PI[p, KIND] == SLIDER and bead_base[PI[p, 1], ON] == 0.0):
            continue
        f = (LOADF[i, 0], LOADF[i, 1], LOADF[i, 2])
        m = (LOADF[i, 3], LOADF[i, 4], LOADF[i, 5])
        if LOADI[i, FOLLOWS] == 1:
            f, m = turn_out(PX, p, f), turn_out(PX, p, m)
        add_wrench(p, f, m, weight, PI, PF, PX, work, force)


@inlined
def row_softness(par, RF, r):
    """Σ of a row and the factor of its last value in e: a spring 1/ε beside a damper c over the scheme's time."""
    compliance, rate = RF[r, COMPLIANCE], RF[r, DAMPING] * par[DAMP]
    if rate == 0.0 or compliance == 0.0:
        return compliance, 0.0
    stiffness = 0.0 if compliance == math.inf else 1.0 / compliance
    softness = 1.0 / (stiffness + rate)
    return softness, softness * rate


@inlined
def row_is_on(r, RI, PI, bead_base):
    """Whether a row acts: switched on, and what slides still on its rod."""
    on = RI[r, ENABLED] == 1
    for side in range(2):
        p = RI[r, FIRST + side]
        if PI[p, KIND] == SLIDER and bead_base[PI[p, 1], ON] == 0.0:
            on = False
    return on


@merged
def set_row(r, g, par, RI, RF, start, predicted, wanted, softness, values, diagonal0, on):
    """Right side e and compliance Σ of row `r` whose value at the iterate is g.

    A row on the value: g + JΔq + Σλ = Σ(c/h)·g_start. A row on the step's displacement: g + JΔq = g_start + speed·h.
    A one-sided row that is struck faster than the threshold leaves with −restitution times its speed (Moreau).
    """
    s, memory = row_softness(par, RF, r)
    if not on or s == math.inf:
        values[diagonal0 + r] = -1.0
        wanted[r] = 0.0
        softness[r] = 1.0
        return
    if RI[r, RATE] == 1:
        wanted[r] = start[r] + RF[r, ROW_SPEED] * par[STEP] - g
    else:
        wanted[r] = memory * start[r] - g
        approach = start[r] - predicted[r]
        if RF[r, RESTITUTION] > 0.0 and predicted[r] < 0.0 and approach > par[THRESHOLD] * par[STEP]:
            wanted[r] = start[r] + RF[r, RESTITUTION] * approach - g
    s += RF[r, SPARE]
    softness[r] = s
    values[diagonal0 + r] = -s


@inlined
def needed(ratio):
    """How much of a row's transverse stiffness a step must take, by its ratio to the inertia: 0 if slow, 1 if fast.

    Left out, a mode of ratio ρ is stable below 4/3.
    """
    return min(max((ratio - SLOW) / 0.8, 0.0), 1.0)


@inlined
def inertia_at(p, weight, PI, PF, values):
    """Mass that one of the ties at point `p` may reckon with, times `weight`; infinite for a point of the world.

    A zone has no mass: there it is the least of its own stiffness.
    """
    if PI[p, KIND] == WORLD:
        return math.inf
    if PI[p, KIND] == ZONE:
        at, n = PI[p, BLOCK], PI[p, ROW_LENGTH] + 1
        return min(values[at], values[at + n], values[at + 2 * n])
    return weight * PF[p, FELT]


@kernel
def add_row_stiffness(par, curved, RI, RF, RS, RW, PI, PF, PX, values):
    """What the rows' forces change as their points move, where a step would be unstable without it.

    A taut distance row of tension T and length ℓ holds its ends across it with T/ℓ (twice that, which bounds the pair's
    coupling); a rigid body pulled by F at the arm ρ turns against (ρ·F). They go to each body's own block, and only as
    far as they are `needed`: light bodies on taut ties blow up without them, but momentum is kept to rounding only
    where they are not. A slider pressed by F on its rod feels −F·r″ along it and −F N′ with the rod's control points
    (`curved` 1; else the positive part of the first).

    Returns the largest ratio of such a stiffness to its inertia: where it is not SLOW the forces must be known well.
    """
    largest = 0.0
    r = 0
    while r < RI.shape[0]:
        end = r + 1
        while end < RI.shape[0] and RI[end, OWNER] == RI[r, OWNER]:
            end += 1
        for side in range(2):
            p = RI[r, FIRST + side]
            kind = PI[p, KIND]
            carried = kind == ZONE and PI[p, CARRIER_DOF] >= 0
            if kind != RIGID and kind != SLIDER and not carried:
                continue
            pull = (0.0, 0.0, 0.0)
            for i in range(r, end):
                if RI[i, ENABLED] == 1:
                    k = RS[i, LAMBDA] if side == 0 else -RS[i, LAMBDA]
                    pull = add3(pull, (k * RW[i, F], k * RW[i, F + 1], k * RW[i, F + 2]))
            if kind == RIGID or carried:
                arm = (PX[p, ARM], PX[p, ARM + 1], PX[p, ARM + 2])
                k = dot3(arm, pull)
                if k > 0.0:
                    at = PI[p, BLOCK] if kind == RIGID else PI[p, CARRIER_AT]
                    # twice, for the ties of others
                    ratio = 2.0 * k / min(values[at + 21], values[at + 28], values[at + 35])
                    largest = max(largest, ratio)
                    k *= needed(ratio)
                    c = k / dot3(arm, arm)
                    for a in range(3):
                        values[at + 6 * (3 + a) + 3 + a] += k
                        for b in range(3):
                            values[at + 6 * (3 + a) + 3 + b] -= c * arm[a] * arm[b]
            elif RI[r, ROW_KIND] != SLIDING:
                at, scale = PI[p, SLOTS], PF[p, SCALE]
                k = -scale * dot3(pull, (PX[p, BEND], PX[p, BEND + 1], PX[p, BEND + 2]))
                values[at + 16] += k if curved == 1 else max(k, 0.0)
                if curved == 1:
                    for i in range(4):
                        d = scale * PF[p, D0 + i]
                        for a in range(3):
                            values[at + 4 * i + a] -= d * pull[a]
        p, q = RI[r, FIRST], RI[r, SECOND]
        tension = -RS[r, LAMBDA] * RF[r, SIGN]
        if RI[r, ROW_KIND] == DISTANCE and RI[r, ENABLED] == 1 and tension > 0.0:
            gap = sub3(place_of(PX, p), place_of(PX, q))
            square = dot3(gap, gap)
            for side in range(2):
                point = p if side == 0 else q
                inertia = inertia_at(point, par[WM], PI, PF, values)
                if square > 0.0 and inertia < math.inf:
                    k = 2.0 * tension / math.sqrt(square)
                    largest = max(largest, k / inertia)
                    k *= needed(k / inertia)
                    if k > 0.0:
                        x, y, z = gap
                        c = k / square
                        K = (
                            k - c * x * x, -c * x * y, -c * x * z, -c * x * y, k - c * y * y, -c * y * z,
                            -c * x * z, -c * y * z, k - c * z * z,
                        )  # fmt: skip
                        add_point_stiffness(point, K, PI, PF, PX, values)
        r = end
    return largest
