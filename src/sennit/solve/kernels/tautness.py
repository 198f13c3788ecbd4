"""How the pull of taut cables changes as what they hold moves.

A span of length ℓ under tension T holds its ends across it with K = (T/ℓ)(1 − k kᵀ); a rigid body pulled by F at the
arm ρ turns against ρ·F. A step that takes the pull where it begins is symplectic and needs none of it as long as
(ωh)² = h² (T/ℓ)(1/m_a + 1/m_b) is below 4: the swing of a load stays undamped. Beyond (light hooks and rings under
heavy loads) it would blow up. With K beside the inertia, v₊ = v + h (M + h²K)⁻¹ F, it stays symplectic and is stable at
any ratio, with fast modes slowed down and slow ones hardly touched: K couples the two ends, so that only what bends
the cable sees it, and momentum is kept. A small part of the pull is taken at the end of free flight,

    A += w K,   r −= c w K (free flight),   w = (ωh)² − 1 within 0 … 1,   c = CALM

which calms the fast modes by √(1 − c) a step. Schemes that take the pull on the way, and static solves, take K itself.
"""

from __future__ import annotations


from sennit.constraints.cable.kernels.tables import (
    ALONG, CARRIER, COUNT, DIVIDES, EDGE, FIRST, NEXT, ON, POINT_NOW, ROW0, SPAN, SPOOK, TENSION, W_IN, W_OUT, X_IN,
    X_OUT,
)  # fmt: skip
from sennit.constraints.cable.kernels.tables import KIND as ELEMENT_KIND
from sennit.compilation import inlined, kernel, merged
from sennit.geometry.kernels.algebra import cross3, dot3, scale3, sub3
from sennit.point.kernels.points import (
    ARM, BASE, BLOCK, BODY, KIND, RIGID, WIDTH, WORLD, add_point_stiffness, dof_of, pull_back,
)  # fmt: skip
from sennit.solve.kernels.assembly import WM, inertia_at, needed
from sennit.solve.kernels.cables import world_shift

CALM = 0.05


@inlined
def taken(ratio, mode, static):
    """Parts of a stiffness that go to the matrix and, with the free flight, to the right side."""
    if static:
        return 1.0, 0.0
    if mode != SPOOK:
        return needed(ratio), 0.0
    part = min(max(ratio - 1.0, 0.0), 1.0)
    return part, CALM * part


@kernel
def pull_ends(e, column, points, EI, EX, ends, at):
    """Pull-backs of unit forces where the cable arrives or leaves (`column`) at `e`, into ends[at : at + 3 WIDTH]."""
    PI, PF, PX = points[0], points[1], points[3]
    for i in range(3 * WIDTH):
        ends[at + i] = 0.0
    p = EI[e, CARRIER]
    # from the carrier's point, both where the path was evaluated
    arm = (
        EX[e, column] - EX[e, POINT_NOW],
        EX[e, column + 1] - EX[e, POINT_NOW + 1],
        EX[e, column + 2] - EX[e, POINT_NOW + 2],
    )
    for k in range(3):
        f = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        pull_back(p, f, cross3(arm, f), 1.0, PI, PF, PX, ends, at + WIDTH * k)


@kernel
def glide_of(p, ends, at, glide, PI, PF, PS):
    """Displacement in free flight of the place that `ends` was made for."""
    if PI[p, KIND] == WORLD:
        shift, _ = world_shift(p, PF, PS)
        return shift
    x = y = z = 0.0
    for i in range(WIDTH):
        dof = dof_of(p, i, PI)
        if dof >= 0:
            x += ends[at + i] * glide[dof]
            y += ends[at + WIDTH + i] * glide[dof]
            z += ends[at + 2 * WIDTH + i] * glide[dof]
    return x, y, z


@kernel
def push_end(p, weight, f, ends, at, PI, force):
    """Add the generalised forces of weight·f at the place that `ends` was made for."""
    for i in range(WIDTH):
        dof = dof_of(p, i, PI)
        if dof >= 0:
            force[dof] += weight * (ends[at + i] * f[0] + ends[at + WIDTH + i] * f[1] + ends[at + 2 * WIDTH + i] * f[2])


@inlined
def block_width(p, PI):
    """Entries of a point's pull-back that its kind uses."""
    return 6 if PI[p, KIND] == RIGID else WIDTH


@kernel
def add_pair(p, q, K, sign, ends, at, size, points, values):
    """Add sign · P_pᵀ K P_q to values[at + size i + j …], for the pull-backs in `ends`: p's first."""
    PI = points[0]
    for i in range(block_width(p, PI)):
        a = (ends[i], ends[WIDTH + i], ends[2 * WIDTH + i])
        ka = (
            sign * (K[0] * a[0] + K[1] * a[1] + K[2] * a[2]),
            sign * (K[3] * a[0] + K[4] * a[1] + K[5] * a[2]),
            sign * (K[6] * a[0] + K[7] * a[1] + K[8] * a[2]),
        )
        o = 3 * WIDTH
        for j in range(size):
            values[at + size * i + j] += (
                ka[0] * ends[o + j] + ka[1] * ends[o + WIDTH + j] + ka[2] * ends[o + 2 * WIDTH + j]
            )


@kernel
def add_own(p, K, side, ends, points, values):
    """Add P_pᵀ K P_p to the body's own block; `side` 0 or 1 says which half of `ends` is p's."""
    PI, PF, PX = points[0], points[1], points[3]
    if PI[p, KIND] != RIGID:
        add_point_stiffness(p, K, PI, PF, PX, values)
        return
    at, o = PI[p, BLOCK], 3 * WIDTH * side
    for i in range(6):
        a = (ends[o + i], ends[o + WIDTH + i], ends[o + 2 * WIDTH + i])
        ka = (
            K[0] * a[0] + K[1] * a[1] + K[2] * a[2],
            K[3] * a[0] + K[4] * a[1] + K[5] * a[2],
            K[6] * a[0] + K[7] * a[1] + K[8] * a[2],
        )
        for j in range(6):
            values[at + 6 * i + j] += (
                ka[0] * ends[o + j] + ka[1] * ends[o + WIDTH + j] + ka[2] * ends[o + 2 * WIDTH + j]
            )


@kernel
def add_span(e, tension, mode, static, par, cables, points, PS, values, force):
    """Stiffness of the span that leaves element `e`. Returns its ratio to the inertia."""
    EI, EX, SLOTS, glide, ends = cables[4], cables[7], cables[14], cables[15], cables[17]
    PI, PF = points[0], points[1]
    n = int(EX[e, NEXT])
    p, q = EI[e, CARRIER], EI[n, CARRIER]
    length = EX[e, SPAN]
    if length <= 0.0:
        return 0.0
    k = tension / length
    ratio = 0.0
    if not static:
        ratio = k / inertia_at(p, par[WM], PI, PF, values) + k / inertia_at(q, par[WM], PI, PF, values)
    weight, late = taken(ratio, mode, static)
    if weight == 0.0:
        return ratio
    pull_ends(e, X_OUT, points, EI, EX, ends, 0)
    pull_ends(n, X_IN, points, EI, EX, ends, 3 * WIDTH)
    x, y, z = EX[e, ALONG], EX[e, ALONG + 1], EX[e, ALONG + 2]
    K = (
        k * (1.0 - x * x), -k * x * y, -k * x * z, -k * x * y, k * (1.0 - y * y), -k * y * z,
        -k * x * z, -k * y * z, k * (1.0 - z * z),
    )  # fmt: skip
    w = weight
    W = (w * K[0], w * K[1], w * K[2], w * K[3], w * K[4], w * K[5], w * K[6], w * K[7], w * K[8])
    if PI[p, KIND] != WORLD:
        add_own(p, W, 0, ends, points, values)
    if PI[q, KIND] != WORLD:
        add_own(q, W, 1, ends, points, values)
    if SLOTS[e] >= 0:
        add_pair(p, q, W, -1.0, ends, SLOTS[e], block_width(q, PI), points, values)
    if late > 0.0:
        move = sub3(glide_of(p, ends, 0, glide, PI, PF, PS), glide_of(q, ends, 3 * WIDTH, glide, PI, PF, PS))
        f = (
            K[0] * move[0] + K[1] * move[1] + K[2] * move[2],
            K[3] * move[0] + K[4] * move[1] + K[5] * move[2],
            K[6] * move[0] + K[7] * move[1] + K[8] * move[2],
        )
        push_end(p, -late, f, ends, 0, PI, force)
        push_end(q, late, f, ends, 3 * WIDTH, PI, force)
    return ratio


@inlined
def same_rigid(e, n, EI, PI):
    """Whether two elements are carried by one rigid body: the span between them does nothing."""
    p, q = EI[e, CARRIER], EI[n, CARRIER]
    return PI[p, KIND] == RIGID and PI[q, KIND] == RIGID and PI[p, BODY] == PI[q, BODY]


@kernel
def add_lever(e, column, wrench, tension, mode, static, cables, points, values, force):
    """Stiffness of a rigid body's turn under the pull of one span at element `e`. Returns its ratio to the inertia.

    The energy T ℓ changes by δθ·((ρ·F) 1 − ½(ρFᵀ + Fρᵀ)) δθ/2 as the arm ρ turns. A static solve takes it as it is; a
    step takes the part of it that is sure to be stiff, ρ·F across the arm where that is positive.
    """
    EI, EX, glide = cables[4], cables[7], cables[15]
    PI, PX = points[0], points[3]
    p = EI[e, CARRIER]
    x, y, z = PX[p, ARM], PX[p, ARM + 1], PX[p, ARM + 2]
    if EI[e, ELEMENT_KIND] == EDGE:
        x += EX[e, column] - EX[e, POINT_NOW]
        y += EX[e, column + 1] - EX[e, POINT_NOW + 1]
        z += EX[e, column + 2] - EX[e, POINT_NOW + 2]
    arm = (x, y, z)
    pull = (-tension * EX[e, wrench], -tension * EX[e, wrench + 1], -tension * EX[e, wrench + 2])
    k = dot3(arm, pull)
    at = PI[p, BLOCK]
    if static:
        for a in range(3):
            values[at + 6 * (3 + a) + 3 + a] += k
            for b in range(3):
                values[at + 6 * (3 + a) + 3 + b] -= 0.5 * (arm[a] * pull[b] + pull[a] * arm[b])
        return 0.0
    if k <= 0.0:
        return 0.0
    ratio = 2.0 * k / min(values[at + 21], values[at + 28], values[at + 35])  # twice, for the ties of others
    weight, late = taken(ratio, mode, static)
    if weight == 0.0:
        return ratio
    if mode == SPOOK:
        # A light body that jerks about its ties turns too far in a step for that: by backward Euler then
        late = weight * min(max((ratio - 4.0) / 40.0, CALM), 1.0)
    c = 1.0 / dot3(arm, arm)
    if late > 0.0:
        o = PI[p, BASE] + 3
        turn = (glide[o], glide[o + 1], glide[o + 2])
        turn = sub3(turn, scale3(c * dot3(arm, turn), arm))
        for a in range(3):
            force[o + a] -= late * k * turn[a]
    for a in range(3):
        values[at + 6 * (3 + a) + 3 + a] += weight * k
        for b in range(3):
            values[at + 6 * (3 + a) + 3 + b] -= weight * k * c * arm[a] * arm[b]
    return ratio


@merged
def add_cable_stiffness(mode, static, par, cables, points, PS, values, force):
    """Add what the present tensions need. Returns the largest ratio of a stiffness to its inertia."""
    CI, EI, ES, EX, KS = cables[0], cables[4], cables[6], cables[7], cables[11]
    PI = points[0]
    largest = 0.0
    for c in range(CI.shape[0]):
        # levers first: their ratios are to the inertia alone
        for turn in range(2):
            row = CI[c, ROW0]
            for e in range(CI[c, FIRST], CI[c, FIRST] + CI[c, COUNT]):
                if EI[e, DIVIDES] == 1:
                    row += 1
                n = int(EX[e, NEXT])
                tension = KS[row, TENSION]
                if ES[e, ON] == 0.0 or n < 0 or tension <= 0.0 or same_rigid(e, n, EI, PI):
                    continue
                ratio = 0.0
                if turn == 1:
                    ratio = add_span(e, tension, mode, static, par, cables, points, PS, values, force)
                else:
                    if PI[EI[e, CARRIER], KIND] == RIGID:
                        ratio = add_lever(e, X_OUT, W_OUT, tension, mode, static, cables, points, values, force)
                    if PI[EI[n, CARRIER], KIND] == RIGID:
                        other = add_lever(n, X_IN, W_IN, tension, mode, static, cables, points, values, force)
                        ratio = max(ratio, other)
                largest = max(largest, ratio)
    return largest
