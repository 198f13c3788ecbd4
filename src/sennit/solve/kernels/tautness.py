"""How the pull of taut cables changes as what they hold moves.

A span of length ℓ under tension T holds its ends across it with K = (T/ℓ)(1 − k kᵀ); a rigid body pulled by F at the
arm ρ turns against ρ·F. A step that takes the pull where it begins is symplectic and needs none of it as long as
(ωh)² = h² (T/ℓ)(1/m_a + 1/m_b) is below 4: the swing of a load stays undamped. Beyond (light hooks and rings under
heavy loads) it would blow up. With K beside the inertia, v₊ = v + h (M + h²K)⁻¹ F, it stays symplectic and is stable at
any ratio, with fast modes slowed down and slow ones hardly touched: K couples the two ends, so that only what bends
the cable sees it, and momentum is kept. A small part of the pull is taken at the end of free flight,

    A += w K,   r −= c w K (h v),   w = (ωh)² − 1 within 0 … 1,   c = ((ωh)² − 1)/3 within CALM … 1

which calms modes that the step can just follow by √(1 − c) a step. What is too fast for the step is taken by backward
Euler (c = 1): with c < 1 what K holds back in one step is given back in the next, also where the tension has changed by
then, and bodies that knock gain energy by that. h v is that of the end of free flight, of which the solve reckons.
Schemes that take the pull on the way, and static solves, take K itself.
"""

from __future__ import annotations

import math

from sennit.constraints.cable.kernels.kinds import ARRIVES, EDGE, LEAVES, SPOOK
from sennit.bodies.kernels.frames import get3
from sennit.compilation import inlined, kernel, merged
from sennit.geometry.kernels.algebra import add3, cross3, dot3, scale3, sub3
from sennit.bodies.kernels.points import (
    RIGID, WIDTH, WORLD, add_point_stiffness, dof_of, evaluate_point, is_angle, pull_back,
)  # fmt: skip
from sennit.bodies.rod.kernels.point import add_entries, turn_ratio
from sennit.solve.kernels.cables import world_shift
from sennit.solve.kernels.curvature import STEP_LENGTH, shift_point
from sennit.solve.kernels.stiffness import across_arm, inertia_at, needed, turns_section

CALM = 0.05


@inlined
def taken(ratio, mode, static):
    """Parts of a stiffness that go to the matrix and, with the free flight, to the right side."""
    if static:
        return 1.0, 0.0
    if mode != SPOOK:
        return needed(ratio), 0.0
    part = min(max(ratio - 1.0, 0.0), 1.0)
    return part, part * min(max((ratio - 1.0) / 3.0, CALM), 1.0)


@kernel
def pull_ends(e, x, points, places, elements, ends):
    """Pull-backs of unit forces at `x`, where the cable arrives at or leaves `e`, into `ends`."""
    for i in range(3 * WIDTH):
        ends[i] = 0.0
    p = elements.carrier[e]
    # from the carrier's point, both where the path was evaluated
    arm = sub3(x, get3(elements.point_now, e))
    for k in range(3):
        f = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        pull_back(p, f, cross3(arm, f), 1.0, points, places, ends, WIDTH * k)


@kernel
def sweep_of(p, ends, sweep, points):
    """Displacement at the velocities that free flight ends with, of the place that `ends` was made for."""
    if points.kind[p] == WORLD:
        shift, _ = world_shift(p, points)
        return shift
    x = y = z = 0.0
    for i in range(WIDTH):
        dof = dof_of(p, i, points)
        if dof >= 0:
            x += ends[i] * sweep[dof]
            y += ends[WIDTH + i] * sweep[dof]
            z += ends[2 * WIDTH + i] * sweep[dof]
    return x, y, z


@kernel
def push_end(p, weight, f, ends, points, force):
    """Add the generalised forces of weight·f at the place that `ends` was made for."""
    for i in range(WIDTH):
        dof = dof_of(p, i, points)
        if dof >= 0:
            force[dof] += weight * (ends[i] * f[0] + ends[WIDTH + i] * f[1] + ends[2 * WIDTH + i] * f[2])


@inlined
def times(K, a):
    """K a, for the nine numbers of a matrix."""
    return (
        K[0] * a[0] + K[1] * a[1] + K[2] * a[2],
        K[3] * a[0] + K[4] * a[1] + K[5] * a[2],
        K[6] * a[0] + K[7] * a[1] + K[8] * a[2],
    )


@inlined
def block_width(p, points):
    """Entries of a point's pull-back that its kind uses."""
    return 6 if points.kind[p] == RIGID else WIDTH


@kernel
def add_pair(p, K, sign, near, far, at, size, points, values):
    """Add sign · Pᵀ K Q to values[at + size i + j …], for the pull-backs P of point p and Q of another one."""
    for i in range(block_width(p, points)):
        a = (near[i], near[WIDTH + i], near[2 * WIDTH + i])
        ka = scale3(sign, times(K, a))
        for j in range(size):
            values[at + size * i + j] += ka[0] * far[j] + ka[1] * far[WIDTH + j] + ka[2] * far[2 * WIDTH + j]


@kernel
def add_own(p, K, ends, points, places, values):
    """Add Pᵀ K P to the body's own block, for the pull-backs P of point p."""
    if points.kind[p] != RIGID:
        add_point_stiffness(p, K, points, places, values)
        return
    at = points.block[p]
    for i in range(6):
        ka = times(K, (ends[i], ends[WIDTH + i], ends[2 * WIDTH + i]))
        for j in range(6):
            values[at + 6 * i + j] += ka[0] * ends[j] + ka[1] * ends[WIDTH + j] + ka[2] * ends[2 * WIDTH + j]


@kernel
def add_span(e, tension, mode, static, scene):
    """Stiffness of the span that leaves element `e`. Returns its ratio to the inertia."""
    elements, pulls, points, places = scene.rigging.elements, scene.rigging.pulls, scene.points, scene.places
    values, force, mass_weight = scene.matrix.values, scene.trial.force, scene.step.mass_weight[0]
    n = elements.following[e]
    p, q = elements.carrier[e], elements.carrier[n]
    length = elements.span[e]
    if length <= 0.0:
        return 0.0
    k = tension / length
    ratio = 0.0
    if not static:
        ratio = k / inertia_at(p, mass_weight, points, values) + k / inertia_at(q, mass_weight, points, values)
    weight, late = taken(ratio, mode, static)
    if weight == 0.0:
        return ratio
    near, far = pulls.near, pulls.far
    pull_ends(e, get3(elements.leave, e), points, places, elements, near)
    pull_ends(n, get3(elements.arrive, n), points, places, elements, far)
    x, y, z = get3(elements.along, e)
    K = (
        k * (1.0 - x * x), -k * x * y, -k * x * z, -k * x * y, k * (1.0 - y * y), -k * y * z,
        -k * x * z, -k * y * z, k * (1.0 - z * z),
    )  # fmt: skip
    w = weight
    W = (w * K[0], w * K[1], w * K[2], w * K[3], w * K[4], w * K[5], w * K[6], w * K[7], w * K[8])
    if points.kind[p] != WORLD:
        add_own(p, W, near, points, places, values)
    if points.kind[q] != WORLD:
        add_own(q, W, far, points, places, values)
    if pulls.slot[e] >= 0:
        add_pair(p, W, -1.0, near, far, pulls.slot[e], block_width(q, points), points, values)
    if late > 0.0:
        move = sub3(sweep_of(p, near, pulls.sweep, points), sweep_of(q, far, pulls.sweep, points))
        f = times(K, move)
        push_end(p, -late, f, near, points, force)
        push_end(q, late, f, far, points, force)
    return ratio


@inlined
def same_rigid(e, n, elements, points):
    """Whether two elements are carried by one rigid body: the span between them does nothing."""
    p, q = elements.carrier[e], elements.carrier[n]
    return points.kind[p] == RIGID and points.kind[q] == RIGID and points.body[p] == points.body[q]


@kernel
def add_lever(e, x, part, tension, mode, static, scene):
    """Stiffness of a rigid body's turn under the pull of one span at `x` on element `e`; its ratio to the inertia.

    The energy T ℓ changes by δθ·((ρ·F) 1 − ½(ρFᵀ + Fρᵀ)) δθ/2 as the arm ρ turns. A static solve takes it as it is. A
    step takes |ρ||F| sin α/α across the arm, α the angle between arm and pull: the parabola that is −|ρ||F| cos at α,
    with its slope, and lies above it everywhere, with its lowest place where arm and pull are in line. So a light body
    turns until it hangs straight and no further, however far that is.
    """
    elements, sweep, points = scene.rigging.elements, scene.rigging.pulls.sweep, scene.points
    values, force = scene.matrix.values, scene.trial.force
    p = elements.carrier[e]
    arm = get3(scene.places.arm, p)
    if elements.kind[e] == EDGE:
        arm = add3(arm, sub3(x, get3(elements.point_now, e)))
    w = elements.wrench
    pull = (-tension * w[e, part, 0], -tension * w[e, part, 1], -tension * w[e, part, 2])
    k = dot3(arm, pull)
    at = points.block[p]
    if static:
        for a in range(3):
            values[at + 6 * (3 + a) + 3 + a] += k
            for b in range(3):
                values[at + 6 * (3 + a) + 3 + b] -= 0.5 * (arm[a] * pull[b] + pull[a] * arm[b])
        return 0.0
    size = math.sqrt(dot3(arm, arm) * dot3(pull, pull))
    if size <= 0.0:
        return 0.0
    angle = math.acos(min(max(k / size, -1.0), 1.0))
    k = size * (math.sin(angle) / angle if angle > 1e-4 else 1.0)
    ratio = 2.0 * k / min(values[at + 21], values[at + 28], values[at + 35])  # twice, for the ties of others
    weight, late = taken(ratio, mode, static)
    if weight == 0.0:
        return ratio
    c = 1.0 / dot3(arm, arm)
    if late > 0.0:
        o = points.base[p] + 3
        turn = (sweep[o], sweep[o + 1], sweep[o + 2])
        turn = sub3(turn, scale3(c * dot3(arm, turn), arm))
        for a in range(3):
            force[o + a] -= late * k * turn[a]
    for a in range(3):
        values[at + 6 * (3 + a) + 3 + a] += weight * k
        for b in range(3):
            values[at + 6 * (3 + a) + 3 + b] -= weight * k * c * arm[a] * arm[b]
    return ratio


@kernel
def bend_section(p, f, scene):
    """Add −∂(Jᵀf)/∂q of the force f at a point beside a rod's axis, by differences, as `curvature` does for rows."""
    points, places, small, values = scene.points, scene.places, scene.trial.small, scene.matrix.values
    none = (0.0, 0.0, 0.0)
    for column in range(16):
        step = STEP_LENGTH if is_angle(p, column, points) else STEP_LENGTH * scene.trial.size[0]
        for i in range(2 * WIDTH):
            small[i] = 0.0
        for way in range(2):
            shift_point(p, column, step if way == 0 else -step, scene)
            pull_back(p, f, none, 1.0, points, places, small, WIDTH * way)
        for i in range(16):
            # half of it here, half where rows and columns change places: the symmetric part
            d = -0.25 * (small[i] - small[WIDTH + i]) / step
            add_to_band(p, i, column, d, points, values)
            add_to_band(p, column, i, d, points, values)
    evaluate_point(p, points, scene.trial_frames, scene.trial.q, scene.rigids.quat_trial, places)


@inlined
def add_to_band(p, i, j, d, points, values):
    """Add to what the band of a rod keeps of the entry (i, j) of a point's pull-back: from the diagonal block on."""
    k, m = i >> 2, j >> 2
    if m >= k:
        c = points.first[p] + k
        if c >= points.count[p]:
            c -= points.count[p]
        values[points.block[p] + 64 * c + 16 * (i & 3) + 4 * (m - k) + (j & 3)] += d


@kernel
def add_section_lever(e, tension_in, tension_out, static, scene):
    """Stiffness of a section's turn under the pull of a cable beside the rod's axis; its ratio to the inertia."""
    elements, points, places, values = scene.rigging.elements, scene.points, scene.places, scene.matrix.values
    p, w = elements.carrier[e], elements.wrench
    pull = (
        -tension_in * w[e, ARRIVES, 0] - tension_out * w[e, LEAVES, 0],
        -tension_in * w[e, ARRIVES, 1] - tension_out * w[e, LEAVES, 1],
        -tension_in * w[e, ARRIVES, 2] - tension_out * w[e, LEAVES, 2],
    )
    if static:
        bend_section(p, pull, scene)
        return 0.0
    arm = get3(places.arm, p)
    k = dot3(arm, pull)
    if k <= 0.0:
        return 0.0
    ratio = 2.0 * k * turn_ratio(p, points, places, values)
    add_entries(p, across_arm(k * needed(ratio), arm), True, points, places, values)
    return ratio


@merged
def add_cable_stiffness(scene):
    """Add what the present tensions need. Returns the largest ratio of a stiffness to its inertia."""
    cables, elements, rows, points = scene.rigging.cables, scene.rigging.elements, scene.rigging.rows, scene.points
    mode, static = scene.settings.cables[0], scene.settings.static[0] == 1
    largest = 0.0
    for c in range(cables.first.size):
        # levers first: their ratios are to the inertia alone
        for turn in range(2):
            row = cables.row[c]
            for e in range(cables.first[c], cables.first[c] + cables.count[c]):
                before = rows.tension[row]
                if elements.divides[e] == 1:
                    row += 1
                n = elements.following[e]
                tension = rows.tension[row]
                if turn == 0 and elements.on[e] == 1 and turns_section(elements.carrier[e], points):
                    largest = max(largest, add_section_lever(e, before, tension, static, scene))
                if elements.on[e] == 0 or n < 0 or tension <= 0.0 or same_rigid(e, n, elements, points):
                    continue
                ratio = 0.0
                if turn == 1:
                    ratio = add_span(e, tension, mode, static, scene)
                else:
                    if points.kind[elements.carrier[e]] == RIGID:
                        x = get3(elements.leave, e)
                        ratio = add_lever(e, x, LEAVES, tension, mode, static, scene)
                    if points.kind[elements.carrier[n]] == RIGID:
                        x = get3(elements.arrive, n)
                        other = add_lever(n, x, ARRIVES, tension, mode, static, scene)
                        ratio = max(ratio, other)
                largest = max(largest, ratio)
    return largest
