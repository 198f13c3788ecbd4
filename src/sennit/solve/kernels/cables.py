"""Where the cables of a scene run when a step begins, and how the lengths of their parts and their twists change.

Every element of a path pulls on its carrier with a wrench; `pull_cables` turns these into Jacobians of the rows (CJ,
with the degrees of freedom in CD): for each element the arriving part's, the leaving part's, and the twist's.

Kernels take all tables of cables as one tuple, `cables` (`cables.tables.kernels` has their columns)::

     0 CI  1 CF  2 TF  3 CS     cables: integers, numbers, ends, state
     4 EI  5 EF  6 ES  7 EX     elements: integers, numbers, state, places
     8 OI  9 OF                 obstacles
    10 KI 11 KS                 rows: integers, state
    12 CJ 13 CD                 pull-backs of the elements' wrenches, and the degrees of freedom behind them
    14 SLOTS                    where a span's stiffness begins in the matrix's numbers (−1: nowhere)
    15 glide                    displacements in free flight
    16 DI                       dividers
    17 … 21                     scratch of `tautness` and of `solve_chain`
"""

from __future__ import annotations

import math

from sennit.constraints.cable.kernels.path import part_length, place_path
from sennit.constraints.cable.kernels.tables import (
    ADRIFT, AXIS, CARRIER, COUNT, DIVIDER_ELEMENT, DIVIDES, FIRST, FREE, JOINED, KEPT, LIMIT, MARK, MEASURED_ALONG,
    NEXT, OBSTACLE, OBSTACLE0, OBSTACLES, OB_POINT, ON, PARTS, PAST, POINT_NOW, RADIUS, RAW, REST, REST_RATE, ROTOR,
    ROW0, ROW_AFTER, ROW_BEFORE, ROW_FIRST, ROW_LAST, ROW_PART, SENSE, SPAN, SPOOK, START_MARK, TENSION, TRIAL, TWIST,
    TWIST_ROW, VALUE, WAY, WORLD_MOVE, WORLD_RATE, W_IN,
)  # fmt: skip
from sennit.constraints.cable.kernels.twist import spans_of_twist, twist_of
from sennit.constraints.cable.kernels.wrap import update_wraps
from sennit.compilation import inlined, kernel, merged
from sennit.geometry.kernels.algebra import cross3, dot3, quat_log, quat_mul, sub3
from sennit.point.kernels.points import (
    BASE, BODY, FRAME, KIND, RIGID, SLIDER, WIDTH, WORLD, X, dof_of, evaluate_point, pull_back, turn_out,
)  # fmt: skip

NEAR = 0.02  # span over the cable's length at which a winch without sheaves stops


@inlined
def reduced(angle):
    """An angle's remainder in (−π, π]."""
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


@inlined
def carried_turn(e, EI, EF, ES, PX):
    """Angle about a sheave's axis by which its carrier has turned since the step began, rad."""
    p = EI[e, CARRIER]
    n = turn_out(PX, p, (EF[e, AXIS], EF[e, AXIS + 1], EF[e, AXIS + 2]))
    mark = turn_out(PX, p, (EF[e, MARK], EF[e, MARK + 1], EF[e, MARK + 2]))
    start = (ES[e, START_MARK], ES[e, START_MARK + 1], ES[e, START_MARK + 2])
    return math.atan2(dot3(n, cross3(start, mark)), dot3(start, mark))


@kernel
def place_cables(cables, PX):
    """Paths, and values of the rows (TRIAL), for the points in PX."""
    CI, TF, CS, EI, EF, ES, EX = cables[0], cables[2], cables[3], cables[4], cables[5], cables[6], cables[7]
    KS = cables[11]
    for c in range(CI.shape[0]):
        place_path(c, CI, EI, EF, ES, EX, PX)
        for e in range(CI[c, FIRST], CI[c, FIRST] + CI[c, COUNT]):
            for k in range(3):
                EX[e, POINT_NOW + k] = PX[EI[e, CARRIER], X + k]
        row0, t = CI[c, ROW0], CI[c, TWIST_ROW]
        for d in range(CI[c, PARTS]):
            KS[row0 + d, TRIAL] = part_length(c, d, CI, EI, EF, ES, EX) - KS[row0 + d, REST]
        row = row0
        for e in range(CI[c, FIRST], CI[c, FIRST] + CI[c, COUNT]):
            if EI[e, DIVIDES] == 1:
                row += 1
                if EI[e, ROTOR] == 1 and ES[e, ON] == 1.0:
                    # A rotor's axle does not drag the cable along: the mark's turn is no change of the parts.
                    run = EF[e, SENSE] * EF[e, RADIUS] * carried_turn(e, EI, EF, ES, PX)
                    KS[row - 1, TRIAL] -= run
                    KS[row, TRIAL] += run
        if t >= 0:
            raw = twist_of(c, CI, EI, EF, ES, EX, PX, TF)
            KS[t, TRIAL] = CS[c, TWIST] + reduced(raw - CS[c, RAW])


@inlined
def count_turns(c, counted, cables):
    """Take the measured twist over into the state, unless it was measured along other spans than before."""
    CI, CS, EI, ES, EX, KS = cables[0], cables[3], cables[4], cables[6], cables[7], cables[11]
    t = CI[c, TWIST_ROW]
    if t >= 0:
        moved = KS[t, TRIAL] - CS[c, TWIST]
        CS[c, RAW] = reduced(CS[c, RAW] + moved)
        along = float(spans_of_twist(c, CI, EI, ES, EX))
        if counted and along == CS[c, MEASURED_ALONG]:
            CS[c, TWIST] = KS[t, TRIAL]
        else:
            KS[t, TRIAL] = CS[c, TWIST]
        CS[c, MEASURED_ALONG] = along


@kernel
def wrap_cable(c, cables, PX):
    """Let a cable come to lie on its obstacles and leave them; 1 if elements changed."""
    CI, EI, EF, ES, EX, OI, OF = cables[0], cables[4], cables[5], cables[6], cables[7], cables[8], cables[9]
    first, base = CI[c, FIRST], CI[c, OBSTACLE0]
    for e in range(first, first + CI[c, COUNT]):
        if EI[e, OBSTACLE] >= 0:
            EI[e, OBSTACLE] += base
    changed = update_wraps(c, CI, EI, EF, ES, EX, OI, OF, PX)
    for e in range(first, first + CI[c, COUNT]):
        if EI[e, OBSTACLE] >= 0:
            EI[e, OBSTACLE] -= base
    return changed


@kernel
def find_ranges(CI, EI, KI, DI):
    """First and last element of every row, and the dividers with the rows that they part."""
    d = 0
    for c in range(CI.shape[0]):
        row, last = CI[c, ROW0], CI[c, FIRST] + CI[c, COUNT] - 1
        KI[row, ROW_FIRST] = CI[c, FIRST]
        for e in range(CI[c, FIRST], last):
            if EI[e, DIVIDES] == 1:
                KI[row, ROW_LAST] = e
                DI[d, DIVIDER_ELEMENT], DI[d, ROW_BEFORE], DI[d, ROW_AFTER] = e, row, row + 1
                d += 1
                row += 1
                KI[row, ROW_FIRST] = e
        KI[row, ROW_LAST] = last
        if CI[c, TWIST_ROW] >= 0:
            KI[CI[c, TWIST_ROW], ROW_FIRST], KI[CI[c, TWIST_ROW], ROW_LAST] = CI[c, FIRST], last


@kernel
def place_carrier(p, points, PS, q, quat):
    """Evaluate point `p` at a state."""
    PI, PF, PX = points[0], points[1], points[3]
    if PI[p, KIND] == WORLD:
        for k in range(12):
            PX[p, X + k] = PS[p, k]
    else:
        evaluate_point(p, PI, PF, PS, q, quat, PX)


@kernel
def place_at_state(cables, points, PS, q, quat):
    """Evaluate what carries cables, and them, at a state; the world's points where they were when it was reached."""
    CI, EI, EF, ES, OI = cables[0], cables[4], cables[5], cables[6], cables[8]
    for c in range(CI.shape[0]):
        for e in range(CI[c, FIRST], CI[c, FIRST] + CI[c, COUNT]):
            place_carrier(EI[e, CARRIER], points, PS, q, quat)
            if EI[e, ROTOR] == 1:
                mark = turn_out(points[3], EI[e, CARRIER], (EF[e, MARK], EF[e, MARK + 1], EF[e, MARK + 2]))
                ES[e, START_MARK], ES[e, START_MARK + 1], ES[e, START_MARK + 2] = mark
    for o in range(OI.shape[0]):
        place_carrier(OI[o, OB_POINT], points, PS, q, quat)
    place_cables(cables, points[3])


@kernel
def forget_pulls(CJ):
    """Make room for new Jacobians."""
    for i in range(CJ.size):
        CJ[i] = 0.0


@kernel
def pull_cables(weight, cables, PI, PF, PX):
    """Add weight·(pull-backs of every element's wrenches) to CJ, and write the degrees of freedom behind them to CD."""
    CI, EI, ES, EX, CJ, CD = cables[0], cables[4], cables[6], cables[7], cables[12], cables[13]
    for c in range(CI.shape[0]):
        for e in range(CI[c, FIRST], CI[c, FIRST] + CI[c, COUNT]):
            p = EI[e, CARRIER]
            still = PI[p, KIND] == WORLD or ES[e, ON] == 0.0
            for i in range(WIDTH):
                CD[e, i] = -1 if still else dof_of(p, i, PI)
            if still:
                continue
            for part in range(3 if CI[c, TWIST_ROW] >= 0 else 2):
                at = W_IN + 6 * part
                f = (EX[e, at], EX[e, at + 1], EX[e, at + 2])
                m = (EX[e, at + 3], EX[e, at + 4], EX[e, at + 5])
                pull_back(p, f, m, weight, PI, PF, PX, CJ, WIDTH * (3 * e + part))


@inlined
def entries_of(e, CD):
    """Entries of the pull-backs of element `e` that can be other than zero: none, a rigid body's 6, or all.

    A zone that rides on the world has none of the first six.
    """
    if CD[e, 6] >= 0:
        return WIDTH
    return 0 if CD[e, 0] < 0 else 6


@inlined
def row_uses(row, e, part, KI):
    """Whether the pull of kind `part` (0 arriving, 1 leaving, 2 twist) of element `e` belongs to a row."""
    if KI[row, ROW_PART] < 0:
        return part == 2
    return (part == 0 and e > KI[row, ROW_FIRST]) or (part == 1 and e < KI[row, ROW_LAST])


@kernel
def along_row(row, vector, cables):
    """J · vector of a cable's row."""
    KI, CJ, CD = cables[10], cables[12], cables[13]
    total = 0.0
    for e in range(KI[row, ROW_FIRST], KI[row, ROW_LAST] + 1):
        for part in range(3):
            if row_uses(row, e, part, KI):
                at = WIDTH * (3 * e + part)
                for i in range(entries_of(e, CD)):
                    if CD[e, i] >= 0:
                        total += CJ[at + i] * vector[CD[e, i]]
    return total


@inlined
def world_shift(p, PF, PS):
    """How far a point of the world was moved and turned since the last state."""
    shift = sub3((PF[p, 0], PF[p, 1], PF[p, 2]), (PS[p, 0], PS[p, 1], PS[p, 2]))
    # new·oldᵀ − 1, whose antisymmetric half is the turn (sine of the angle)
    x = y = z = 0.0
    for k in range(3):
        a0, a1, a2 = PF[p, FRAME + k], PF[p, FRAME + 3 + k], PF[p, FRAME + 6 + k]
        b0, b1, b2 = PS[p, FRAME + k], PS[p, FRAME + 3 + k], PS[p, FRAME + 6 + k]
        x += 0.5 * (a2 * b1 - a1 * b2)
        y += 0.5 * (a0 * b2 - a2 * b0)
        z += 0.5 * (a1 * b0 - a0 * b1)
    return shift, (x, y, z)


@kernel
def world_motion(row, cables, PI, PF, PS):
    """Change of a row's value as the world's points go to where they were put."""
    EI, EX, KI = cables[4], cables[7], cables[10]
    total = 0.0
    for e in range(KI[row, ROW_FIRST], KI[row, ROW_LAST] + 1):
        p = EI[e, CARRIER]
        if PI[p, KIND] != WORLD:
            continue
        shift, turn = world_shift(p, PF, PS)
        for part in range(3):
            if row_uses(row, e, part, KI):
                at = W_IN + 6 * part
                for k in range(3):
                    total += EX[e, at + k] * shift[k] + EX[e, at + 3 + k] * turn[k]
    return total


@inlined
def share_out(first, last, column, cables):
    """Share the sum of a column over the rows first … last in proportion to the lengths of their ways."""
    KS = cables[11]
    total = way = 0.0
    for row in range(first, last + 1):
        total += KS[row, column]
        way += KS[row, WAY]
    for row in range(first, last + 1):
        KS[row, column] = total * KS[row, WAY] / way


@kernel
def join_loose_parts(c, cables):
    """Parts that no sheave holds apart, since the cable passes it clear, are one: equally stretched.

    Where exactly they meet on the passing span is of no meaning, and turns with it: left apart, one would be taut with
    what the other has too much.
    """
    CI, EI, ES, KS = cables[0], cables[4], cables[6], cables[11]
    row = first = CI[c, ROW0]
    for d in range(CI[c, PARTS]):
        KS[row + d, WAY] = KS[row + d, TRIAL] + KS[row + d, REST]
        KS[row + d, JOINED] = 0.0
    end = CI[c, FIRST] + CI[c, COUNT] - 1
    for e in range(CI[c, FIRST], end + 1):
        parts = EI[e, DIVIDES] == 1 and ES[e, ON] == 1.0
        if (parts or e == end) and row > first:
            share_out(first, row, REST, cables)
            for r in range(first, row + 1):
                KS[r, TRIAL] = KS[r, WAY] - KS[r, REST]
                KS[r, JOINED] = float(row - first)
        if EI[e, DIVIDES] == 1:
            row += 1
        if parts:
            first = row


@kernel
def look_ahead(c, cables, PI, bead):
    """Whether the winch may haul in further, and whether what carries the cable still does.

    It stops, as the limit switch of a crane does, where a moving body comes close to the next entry, and where the way
    is twice the cable's length already.
    """
    CI, CS, EI, EF, ES, EX, KS = cables[0], cables[3], cables[4], cables[5], cables[6], cables[7], cables[11]
    length = stretch = 0.0
    for d in range(CI[c, PARTS]):
        length += KS[CI[c, ROW0] + d, REST]
        stretch += KS[CI[c, ROW0] + d, TRIAL]
    CS[c, LIMIT] = 1.0 if stretch > length else 0.0
    CS[c, ADRIFT] = 0.0
    several = CI[c, COUNT] > 2
    for e in range(CI[c, FIRST], CI[c, FIRST] + CI[c, COUNT]):
        p, n = EI[e, CARRIER], int(EX[e, NEXT])
        if PI[p, KIND] == SLIDER and bead[PI[p, BODY], 6] == 0.0:
            CS[c, ADRIFT] = 1.0
        if n < 0 or ES[e, ON] == 0.0 or not several or EI[e, OBSTACLE] >= 0 or EI[n, OBSTACLE] >= 0:
            continue
        q = EI[n, CARRIER]
        still = PI[p, KIND] == WORLD and PI[q, KIND] == WORLD
        if still or (PI[p, KIND] == PI[q, KIND] and PI[p, KIND] != WORLD and PI[p, BODY] == PI[q, BODY]):
            continue
        radii = EF[e, RADIUS] + EF[n, RADIUS]
        if EX[e, SPAN] < (0.5 * radii if radii > 0.0 else NEAR * length):
            CS[c, LIMIT] = 1.0


@kernel
def begin_cables(mode, cables, points, PS, state):
    """Look at the cables where the step begins: what they lie on, values, Jacobians and rates of their rows.

    Returns 1 if a cable has come to lie on a body or left one: the matrix has another pattern then.
    """
    CI, EI, KI, KS, CJ, DI = cables[0], cables[4], cables[10], cables[11], cables[12], cables[16]
    PI, PF, PX = points[0], points[1], points[3]
    q, v, quat = state[0], state[1], state[2]
    if CI.shape[0] == 0:
        return 0
    place_at_state(cables, points, PS, q, quat)
    changed = 0
    for c in range(CI.shape[0]):
        count_turns(c, True, cables)
        if CI[c, OBSTACLES] > 0 and wrap_cable(c, cables, PX) == 1:
            changed = 1
    find_ranges(CI, EI, KI, DI)
    if changed == 1:
        # The way along new elements is another one, but the cable has not turned: its angle starts from here.
        place_cables(cables, PX)
        for c in range(CI.shape[0]):
            count_turns(c, False, cables)
    for c in range(CI.shape[0]):
        join_loose_parts(c, cables)
        look_ahead(c, cables, PI, state[6])
    for row in range(KS.shape[0]):
        KS[row, VALUE] = KS[row, TRIAL]
        KS[row, KEPT] = KS[row, TENSION]
    if mode == SPOOK:
        forget_pulls(CJ)
        pull_cables(1.0, cables, PI, PF, PX)
        for row in range(KS.shape[0]):
            KS[row, PAST] = along_row(row, v, cables)  # a rate, until the step is known
    return changed


@merged
def glide_cables(h, cables, points, PS, state, trial):
    """Change of the rows' values in free flight, and their values a step ago by the present rates."""
    CI, EI, KS, glide = cables[0], cables[4], cables[11], cables[15]
    PI, PF = points[0], points[1]
    v, quat, quat_base = state[1], state[2], trial[3]
    if CI.shape[0] == 0:
        return
    for i in range(v.size):
        glide[i] = h * v[i]
    for c in range(CI.shape[0]):
        for e in range(CI[c, FIRST], CI[c, FIRST] + CI[c, COUNT]):
            p = EI[e, CARRIER]
            if PI[p, KIND] == RIGID:
                # free rotation is not h ω: the angular velocity of a tumbling body changes on the way
                body, o = PI[p, BODY], PI[p, BASE]
                old = (quat[body, 0], -quat[body, 1], -quat[body, 2], -quat[body, 3])
                new = (quat_base[body, 0], quat_base[body, 1], quat_base[body, 2], quat_base[body, 3])
                glide[o + 3], glide[o + 4], glide[o + 5] = quat_log(quat_mul(new, old))
    for row in range(KS.shape[0]):
        KS[row, WORLD_MOVE] = world_motion(row, cables, PI, PF, PS)
        KS[row, FREE] = along_row(row, glide, cables) + KS[row, WORLD_MOVE]
        KS[row, PAST] = KS[row, VALUE] - h * (KS[row, PAST] + KS[row, WORLD_RATE] - KS[row, REST_RATE])
    row = 0
    while row < KS.shape[0]:
        last = row + int(KS[row, JOINED])
        if last > row:
            share_out(row, last, PAST, cables)
            share_out(row, last, FREE, cables)
        row = last + 1
