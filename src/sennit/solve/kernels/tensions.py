"""The rows of cables in a step, the tensions that solve them, and what a step changes of the cables.

A part of a cable with the path's length ℓ and the unstretched length L has the elongation φ = ℓ − L and pulls with
T ≥ 0. Its row is one of the bounded ones, with the tension as its multiplier::

    y = −(J Δq + free flight) + e + Σ T ≥ 0,   0 ≤ T ≤ pull of the winch,   y T = 0,   J = ∂φ/∂q

The compliance Σ and the right side e make the scheme. In "euler" it is Lacoursière's (A regularized time stepper for
multibody simulations, 2006), ε T = (φ₊ + 2φ + φ₋)/4 + τ φ̇ with J where the step begins::

    Σ = 4Υε + hξ,   e = −Υ(φ + 2φ⁺ + φ₋⁺) − 4Υτ(φ − φ⁺)/h + ΔL,   Υ = 1/(1 + 4τ/h),   φ⁺ = max(φ, 0)

It keeps the amplitude of slow vibration (frequency (2/h) atan(ωh/2)) and does not damp the swing of a load. Past gaps
are clipped: with a slack cable's negative φ it would catch with more energy than there is. τ = 2h x⁴/(1 + x⁴),
x = ωh/2, ω² = J M⁻¹ Jᵀ/ε, damps only what is too fast for the step. ΔL is what the winch lets out, ξ its slip. The
backward form is Σ = ε, e = −φ. "bdf2" and static solves take ε T = φ₊ + τ φ̇₊, "midpoint" ε T = (φ₊ + φ)/2 + τ φ̇, both
with J on the way. A twist's row is the same with the angle for φ, and torque of either sign.
"""

from __future__ import annotations

import math

from sennit.constraints.cable.kernels.chain import CHAIN_WORK_ROWS, solve_chain
from sennit.constraints.cable.kernels.tables import (
    ACTS, ADRIFT, ANGLE, ASKED, AT_END, BACKWARD, BETA_IN, BETA_OUT, BREAKING, BROKE, BROKEN, CARRIER, COUNT,
    DIVIDER_ELEMENT, DIVIDES, EA, FEED, FIRST, FOUND, FREE, GJ, GRIP, HAPPENED, INERTIA, LEFT_OVER, LIMIT, LONGEST,
    MAX_PULL, MU, ON, PAID_OUT, PARTS, PAST, PEAK, RADIUS, REST, REST_RATE, ROTOR, ROW0, ROW_AFTER, ROW_BEFORE,
    ROW_CABLE, ROW_FIRST, ROW_LAST, ROW_PART, SENSE, SHORTEST, SIDE, SIGMA, SLIP, SPIN, SPOOK, TAU, TENSION, TRIAL,
    TWIST_TAU, VALUE, VALUE_LAST, WANTED, WINCH_SPEED, WORLD_MOVE, WORLD_RATE, WOUND_IN, W_IN, W_OUT,
)  # fmt: skip
from sennit.constraints.cable.kernels.tables import MEAN as MEAN_ROWS
from sennit.compilation import inlined, kernel, merged
from sennit.linalg.kernels.panel import panel_row
from sennit.point.kernels.points import BODY, RIGID, WIDTH
from sennit.point.kernels.points import KIND as POINT_KIND
from sennit.solve.kernels.assembly import ADVANCE, DAMP, MEMORY, STEP, WM
from sennit.solve.kernels.cables import carried_turn, entries_of, row_uses

STRUCK, HAPPENINGS = 7, 8  # where a solve reports that something struck or came free, and what happened to cables
ROUNDING = 1e-12  # of a length
FIRM = 1e-9  # compliance of an inextensible part over what its cable gives in a step
TAUT = 0.3  # ωh above which the peak of a catch is told by the closed form, as a step cannot see it


@inlined
def cable_length(c, CI, KS):
    """Unstretched length of a cable, m."""
    total = 0.0
    for d in range(CI[c, PARTS]):
        total += KS[CI[c, ROW0] + d, REST]
    return total


@inlined
def has_more(c, CI, CF, KS):
    """Whether there is cable left on the drum."""
    return cable_length(c, CI, KS) < (1.0 - ROUNDING) * CF[c, LONGEST]


@inlined
def let_out(c, h, CI, CF, CS, KS):
    """What the winch lets out in a step before it slips, m, within what there is on its drum."""
    length = cable_length(c, CI, KS)
    wanted = CS[c, ASKED] + h * CF[c, WINCH_SPEED]
    if CS[c, LIMIT] == 1.0:
        wanted = max(wanted, 0.0)
    return min(max(wanted, CF[c, SHORTEST] - length), CF[c, LONGEST] - length)


@inlined
def slip_of(c, CI, CF, KS):
    """Slip of the winch, m/s per N: none where there is nothing left to run out."""
    return CF[c, SLIP] if has_more(c, CI, CF, KS) else 0.0


@inlined
def compliance_of(row, c, CI, CF, KI, KS):
    """ε of a row: m/N or rad/(N·m). A part that has nearly run through its sheave stays as stiff as a thousandth."""
    length = cable_length(c, CI, KS)
    if KI[row, ROW_PART] < 0:
        return length / CF[c, GJ]
    return max(KS[row, REST], 1e-3 * length) / CF[c, EA]


@inlined
def set_cable_row(row, give, mode, par, cables):
    """Compliance Σ and right side of a cable's row, whose diagonal entry of J A⁻¹ Jᵀ is `give`."""
    CI, CF, CS, KI, KS = cables[0], cables[1], cables[3], cables[10], cables[11]
    c, h, passing = KI[row, ROW_CABLE], par[STEP], par[ADVANCE]
    twist = KI[row, ROW_PART] < 0
    soft = compliance_of(row, c, CI, CF, KI, KS)
    tau = CF[c, TWIST_TAU] if twist else CF[c, TAU]
    out = slip = 0.0
    if KI[row, ROW_PART] == 0:
        out, slip = let_out(c, passing, CI, CF, CS, KS), passing * slip_of(c, CI, CF, KS)
    value = KS[row, VALUE]
    pull = value if twist else max(value, 0.0)
    if mode == SPOOK:
        free = KS[row, FREE]
        if CF[c, BACKWARD] == 1.0:
            sigma, e = soft, -value
        else:
            square = give / (4.0 * soft) if soft > 0.0 else math.inf
            x4 = square * square
            tau += 2.0 * h * (x4 / (1.0 + x4) if x4 < 1e30 else 1.0)
            ups = 1.0 / (1.0 + 4.0 * tau / h)
            past = KS[row, PAST] if twist else max(KS[row, PAST], 0.0)
            sigma = 4.0 * ups * soft
            e = -ups * (value + 2.0 * pull + past) - 4.0 * ups * tau / h * (value - pull)
    else:
        free = KS[row, TRIAL]
        if mode == MEAN_ROWS:
            half, more = 0.5 + tau / h, 0.5 - tau / h
            sigma, e = soft / half, -pull * more / half
        else:
            rate = tau * par[DAMP]
            start = value + par[MEMORY] * (KS[row, VALUE_LAST] - value)
            sigma, e = soft / (1.0 + rate), start * rate / (1.0 + rate)
    KS[row, SIGMA] = sigma + slip
    KS[row, WANTED] = free - e - out


@kernel
def moves_nothing(row, cables, PI):
    """Whether all of a row's elements are carried by one rigid body: its pull does nothing."""
    EI, KI = cables[4], cables[10]
    p = EI[KI[row, ROW_FIRST], CARRIER]
    for e in range(KI[row, ROW_FIRST], KI[row, ROW_LAST] + 1):
        q = EI[e, CARRIER]
        if PI[q, POINT_KIND] != RIGID or PI[q, BODY] != PI[p, BODY]:
            return False
    return True


@inlined
def soften_firm(own, cables, C):
    """Give rows without compliance a billionth of what their cable gives: nothing may move a part between two places of
    one body, or of the world.
    """
    KI, KS = cables[10], cables[11]
    for i in range(own):
        largest = 0.0
        for j in range(own):
            if KI[j, ROW_CABLE] == KI[i, ROW_CABLE] and (KI[j, ROW_PART] < 0) == (KI[i, ROW_PART] < 0):
                largest = max(largest, C[j, j])
        KS[i, SIGMA] = max(KS[i, SIGMA], FIRM * largest)


@inlined
def bounds_of(row, cables):
    """Smallest and largest multiplier of a cable's row."""
    CI, CF, CS, KI, KS = cables[0], cables[1], cables[3], cables[10], cables[11]
    c = KI[row, ROW_CABLE]
    lower, upper = 0.0, math.inf
    if CF[c, ACTS] == 0.0 or CS[c, BROKEN] == 1.0 or CS[c, ADRIFT] == 1.0:
        upper = 0.0
    elif KI[row, ROW_PART] < 0:
        lower = -math.inf
    elif KI[row, ROW_PART] == 0 and has_more(c, CI, CF, KS):
        upper = CF[c, MAX_PULL]
    return lower, upper


@merged
def add_cable_candidate(row, cables, plan, L, bounded):
    """Panel row of a cable's row, with the sign of the gap: −J."""
    KI, CJ, CD = cables[10], cables[12], cables[13]
    Y, reach, reached, index, coefficient, mark = bounded[0], bounded[1], bounded[2], bounded[3], bounded[4], bounded[5]
    m = 0
    for e in range(KI[row, ROW_FIRST], KI[row, ROW_LAST] + 1):
        for part in range(3):
            if row_uses(row, e, part, KI):
                at = WIDTH * (3 * e + part)
                for i in range(entries_of(e, CD)):
                    if CD[e, i] >= 0 and CJ[at + i] != 0.0:
                        index[m] = CD[e, i]
                        coefficient[m] = -CJ[at + i]
                        m += 1
    panel_row(plan, L, index, coefficient, 0, m, Y, reach, reached, row, mark)


@inlined
def rotor_give(e, mode, par, EF):
    """r²/(I wM) of a rotor: how far its rim gives way to a pull in a step."""
    h = par[ADVANCE]
    share = 0.5 if mode == MEAN_ROWS else 1.0
    return share * h * h * EF[e, RADIUS] * EF[e, RADIUS] / EF[e, INERTIA]


@inlined
def add_rotors(mode, par, cables, C, b):
    """What the rotors that the cables turn add to the small problem: their inertia and their motion so far."""
    EI, EF, ES, DI = cables[4], cables[5], cables[6], cables[16]
    for d in range(DI.shape[0]):
        e, i, j = DI[d, DIVIDER_ELEMENT], DI[d, ROW_BEFORE], DI[d, ROW_AFTER]
        if EI[e, ROTOR] == 1 and ES[e, ON] == 1.0 and par[ADVANCE] > 0.0:
            k = rotor_give(e, mode, par, EF)
            C[i, i] += k
            C[j, j] += k
            C[i, j] -= k
            C[j, i] -= k
            run = EF[e, SENSE] * EF[e, RADIUS] * par[ADVANCE] * ES[e, SPIN]
            b[i] -= run
            b[j] += run


@inlined
def hold_ratio(e, static, EI, EF, ES):
    """Largest ratio of the tensions on both sides of a divider, e^{μθ}. A rotor at rest holds nothing back."""
    if ES[e, ON] == 0.0 or (static and EI[e, ROTOR] == 1):
        return 1.0
    angle = ES[e, BETA_IN] + ES[e, BETA_OUT]
    return math.exp(EF[e, MU] * max(angle, 0.0)) if EF[e, MU] < math.inf else math.inf


@inlined
def judge_peak(row, give, fallen, mode, par, cables):
    """Greatest tension of a step in which a part became taut: the closed form of a mass caught by a spring.

    T = F + √(F² + k m v²), F = m a the pull that it is caught under; m = 1/(wM give). A step that is long against the
    vibration sees only the mean. `fallen` is the change of φ that forces other than the cable's make in the step.
    """
    CI, CF, KI, KS = cables[0], cables[1], cables[10], cables[11]
    c, h = KI[row, ROW_CABLE], par[STEP]
    found = KS[row, FOUND]
    soft = compliance_of(row, c, CI, CF, KI, KS)
    if h == 0.0 or KS[row, VALUE] >= 0.0 or found <= 0.0 or not (soft > 0.0 and give > TAUT * TAUT * soft):
        return found
    mass = 1.0 / (give * par[WM])
    rate = fallen * par[WM]
    speed = (KS[row, FREE] if mode == SPOOK else KS[row, VALUE] - KS[row, VALUE_LAST]) / h
    square = max(speed * speed + 2.0 * rate * max(-KS[row, VALUE], 0.0), 0.0)
    force = mass * rate
    return max(found, force + math.sqrt(force * force + mass * square / soft))


@kernel
def accept_cables(mode, static, par, cables, points, report):
    """Let out what the winches let out and what ran past sheaves; turn rotors; break what is overloaded."""
    CI, CF, CS, EI, EF, ES = cables[0], cables[1], cables[3], cables[4], cables[5], cables[6]
    KS, DI = cables[11], cables[16]
    PX = points[3]
    h = par[ADVANCE]
    for row in range(KS.shape[0]):
        KS[row, VALUE_LAST] = KS[row, VALUE]
        KS[row, REST_RATE] = KS[row, REST]
        KS[row, WORLD_RATE] = KS[row, WORLD_MOVE] / h if h > 0.0 and mode == SPOOK else 0.0
    for c in range(CI.shape[0]):
        row = CI[c, ROW0]
        length = cable_length(c, CI, KS)
        out = let_out(c, h, CI, CF, CS, KS) + h * slip_of(c, CI, CF, KS) * KS[row, TENSION]
        more = has_more(c, CI, CF, KS)
        if KS[row, TENSION] >= CF[c, MAX_PULL] and more:
            # It gives way as far as its pull does not hold: the elongation that is left is that of the pull.
            before = KS[row, VALUE] + KS[row, FREE] if mode == SPOOK else KS[row, TRIAL]
            after = before - KS[row, WANTED] + KS[row, SIGMA] * KS[row, TENSION] - KS[row, LEFT_OVER]
            strain = KS[row, TENSION] / CF[c, EA]
            out = max(out, (after - strain * KS[row, REST]) / (1.0 + strain))
        asked = CS[c, ASKED] + h * CF[c, WINCH_SPEED]
        # Told once, until the winch runs the other way
        if asked * CS[c, AT_END] < 0.0:
            CS[c, AT_END] = 0.0
        if more and length + max(out, asked) >= (1.0 - ROUNDING) * CF[c, LONGEST] and CS[c, AT_END] != 1.0:
            CS[c, HAPPENED] += PAID_OUT
            CS[c, AT_END] = 1.0
        ended = CS[c, LIMIT] == 1.0 or length + min(out, asked) <= (1.0 + ROUNDING) * CF[c, SHORTEST]
        if asked < 0.0 and ended and CS[c, AT_END] != -1.0:
            CS[c, HAPPENED] += WOUND_IN
            CS[c, AT_END] = -1.0
        KS[row, REST] += min(max(out, CF[c, SHORTEST] - length), CF[c, LONGEST] - length)
        CS[c, ASKED] = 0.0
        if CS[c, BROKEN] == 0.0 and CS[c, PEAK] > CF[c, BREAKING]:
            CS[c, BROKEN] = 1.0
            CS[c, HAPPENED] += BROKE
        if CS[c, HAPPENED] > 0.0:
            report[HAPPENINGS] = 1
    for d in range(DI.shape[0]):
        e, i, j = DI[d, DIVIDER_ELEMENT], DI[d, ROW_BEFORE], DI[d, ROW_AFTER]
        run = ES[e, FEED]
        carried = 0.0
        if EI[e, ROTOR] == 1 and ES[e, ON] == 1.0:
            rim = EF[e, SENSE] * EF[e, RADIUS]
            pull = rim * (KS[j, TENSION] - KS[i, TENSION])
            share = 0.5 if mode == MEAN_ROWS else 1.0
            turn = 0.0 if static else h * ES[e, SPIN] + share * h * h * pull / EF[e, INERTIA]
            ES[e, SPIN] = 0.0 if static else ES[e, SPIN] + h * pull / EF[e, INERTIA]
            turned = carried_turn(e, EI, EF, ES, PX)
            ES[e, ANGLE] += turn - turned
            # What passes the mark, which turns with the carrier
            run += rim * (turn - turned)
            carried = rim * turned
        KS[i, REST] -= run
        KS[j, REST] += run
        # No rate of the cable's, but of where it is measured from
        KS[i, REST_RATE] += carried
        KS[j, REST_RATE] -= carried
    for row in range(KS.shape[0]):
        KS[row, REST_RATE] = (KS[row, REST] - KS[row, REST_RATE]) / h if h > 0.0 and not static else 0.0


@kernel
def pull_at(p, cables):
    """Force of all cables on point `p`, N."""
    CI, EI, ES, EX, KS = cables[0], cables[4], cables[6], cables[7], cables[11]
    x = y = z = 0.0
    for c in range(CI.shape[0]):
        row = CI[c, ROW0]
        for e in range(CI[c, FIRST], CI[c, FIRST] + CI[c, COUNT]):
            t_in = KS[row, FOUND]
            if EI[e, DIVIDES] == 1:
                row += 1
            t_out = KS[row, FOUND]
            if EI[e, CARRIER] == p and ES[e, ON] == 1.0:
                x -= t_in * EX[e, W_IN] + t_out * EX[e, W_OUT]
                y -= t_in * EX[e, W_IN + 1] + t_out * EX[e, W_OUT + 1]
                z -= t_in * EX[e, W_IN + 2] + t_out * EX[e, W_OUT + 2]
    return x, y, z


@kernel
def take_tensions(cables):
    """Make the tensions that a solve found those of the next matrix."""
    KS = cables[11]
    for k in range(KS.shape[0]):
        KS[k, TENSION] = KS[k, FOUND]


@merged
def note_cables(mode, par, cables, C, y, side, report):
    """Keep what the small problem says of the cables: sides, what is left of rows, and the greatest tension."""
    CS, KI, KS = cables[3], cables[10], cables[11]
    for c in range(CS.shape[0]):
        CS[c, PEAK] = 0.0
    for k in range(KS.shape[0]):
        fallen = -KS[k, LEFT_OVER]
        if KI[k, ROW_PART] >= 0:
            c = KI[k, ROW_CABLE]
            CS[c, PEAK] = max(CS[c, PEAK], judge_peak(k, C[k, k] - KS[k, SIGMA], fallen, mode, par, cables))
            if (KS[k, FOUND] > 0.0) != (KS[k, TENSION] > 0.0):
                report[STRUCK] = 1
        KS[k, LEFT_OVER] = y[k]
        KS[k, SIDE] = float(side[k])


@merged
def solve_divided(static, C, b, lo, hi, count, lam, y, side, cables, bounded, cap):
    """The small problem with cables that rub on dividers or turn them."""
    EI, EF, ES, DI = cables[4], cables[5], cables[6], cables[16]
    before, after, grip, ratio, feed, scratch = (
        cables[18][0], cables[18][1], cables[18][2], cables[19][0], cables[19][1], cables[20],
    )  # fmt: skip
    for d in range(DI.shape[0]):
        e = DI[d, DIVIDER_ELEMENT]
        before[d], after[d] = DI[d, ROW_BEFORE], DI[d, ROW_AFTER]
        ratio[d] = hold_ratio(e, static, EI, EF, ES)
        grip[d] = int(ES[e, GRIP])
    code, solves = solve_chain(
        C, b, lo, hi, count, before, after, ratio, DI.shape[0], lam, y, side, grip, feed, bounded[13],
        scratch[CHAIN_WORK_ROWS], scratch, cables[21], max(cap, 400),
    )  # fmt: skip
    for d in range(DI.shape[0]):
        e = DI[d, DIVIDER_ELEMENT]
        ES[e, GRIP], ES[e, FEED] = float(grip[d]), feed[d]
    return code, solves
