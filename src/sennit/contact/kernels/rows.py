"""The three rows of a contact: their Jacobian, what they measure before the solve, and how soft they are.

A unit force d on a rod's surface at r(u) + o pulls back, with m = o × d, to (see `bodies.rod.kernels.point`)::

    on P_i: N_i d + (N′_i/j) (m × t)        on φ_i: NR_i (m·t)

so that friction rolls a rope and twists it; along the normal m is 0. On a rigid body it is d and (x − c) × d. Rows that
resist turning have no d, and m = lever · axis.

A pearl is a ball on its rod: it moves as the rod's section there, with o to any place of the ball, and has one entry
more, for its coordinate σ with du/dσ = s::

    on σ: s (d·r′ + (m × t)·r″/j)

It turns with its rod: friction that would spin it twists that. So forces on it and on its rod are one wrench.

A vertex of a zone, x = c + R (X + u), pulls back to Rᵀd on u, and on the rigid body that carries the zone as above; a
place of a face, the mean of its corners with shares w_c, to w_c Rᵀd on each of them.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.frames import get3
from sennit.bodies.kernels.points import DISCRETE, RIGID, SLIDER, SPLINE, WIDTH, WORLD, ZONE
from sennit.bodies.rod.discrete.kernels.basis import discrete_basis
from sennit.bodies.rod.kernels.point import SLIDE
from sennit.bodies.rod.spline.kernels.basis import span_basis, spline_span
from sennit.compilation import inlined, kernel, merged
from sennit.contact.kernels.curves import spline_at
from sennit.contact.kernels.skins import frame_of
from sennit.geometry.kernels.algebra import cross3, dot3, mat_t_vec, scale3, sub3

SIDE = WIDTH
"""Degrees of freedom of a side at most: four control points, and a pearl's own."""
SOFTNESS = 1e-5
"""Compliance of a row over what its own degrees of freedom would give way, each by itself."""
AT_ONCE = 1e-3
"""Overlap that a step takes back at once, over the size of what overlaps."""
GENTLY, SHARE = 0.05, 0.5
"""s in which an overlap by that size is taken back where things rest, and the largest share of the rest in one step."""


@inlined
def put_basis(basis, k, u, rods, rod, spline):
    """N, N′ and NR at u into basis[k, 0:12], and returns the first of the four control points."""
    n = rods.count[rod]
    if spline:
        spans, closed = rods.spans[rod], rods.closed[rod] == 1
        e, u = spline_span(u, spans, closed)
        b = span_basis(e, u, spans, closed)
        for i in range(4):
            basis[k, i], basis[k, 4 + i], basis[k, 8 + i] = b[i], b[4 + i], b[i]
        return e
    first = discrete_basis(u, n, basis[k])
    for i in range(4):
        basis[k, 8 + i] = basis[k, 12 + i]
    return first


@inlined
def control_dof(first, i, rods, rod):
    """First degree of freedom of the control point number i of four."""
    c = first + i
    if c >= rods.count[rod]:
        c -= rods.count[rod]
    return rods.dof[rod] + 4 * c


@inlined
def screw_of(k, row, arm, rows):
    """Force and moment of a unit multiplier of a row, which acts at `arm` from the centre."""
    axis = (rows.axes[k, row, 0], rows.axes[k, row, 1], rows.axes[k, row, 2])
    if rows.lever[k] > 0.0:
        return (0.0, 0.0, 0.0), scale3(rows.lever[k], axis)
    return axis, cross3(arm, axis)


@kernel
def put_rod_side(k, side, u, place, rods, rod, spline, ball, q, rows):
    """Degrees of freedom and Jacobian of a contact's side on a rod, whose surface is touched at `place`.

    `ball`: what is touched is a ball about u.
    """
    sign, at = (1.0, 0) if side == 0 else (-1.0, SIDE)
    first = put_basis(rows.basis, k, u, rods, rod, spline)
    x0 = x1 = x2 = a0 = a1 = a2 = 0.0
    for i in range(4):
        o = control_dof(first, i, rods, rod)
        value, slope = rows.basis[k, i], rows.basis[k, 4 + i]
        x0 += value * q[o]
        x1 += value * q[o + 1]
        x2 += value * q[o + 2]
        a0 += slope * q[o]
        a1 += slope * q[o + 1]
        a2 += slope * q[o + 2]
        for c in range(4):
            rows.index[k, at + 4 * i + c] = o + c
    per_j = 1.0 / math.sqrt(a0 * a0 + a1 * a1 + a2 * a2)
    t = (per_j * a0, per_j * a1, per_j * a2)
    arm = sub3(place, (x0, x1, x2))
    if not ball:
        arm = sub3(arm, scale3(dot3(arm, t), t))  # the surface is across the curve
    for row in range(3):
        # The gap is the distance of the curve less the radius: it does not change as the round section turns.
        d, m = screw_of(k, row, arm if row > 0 else (0.0, 0.0, 0.0), rows)
        bend, spin = scale3(per_j, cross3(m, t)), dot3(m, t)
        for i in range(4):
            value, slope, roll = sign * rows.basis[k, i], sign * rows.basis[k, 4 + i], sign * rows.basis[k, 8 + i]
            rows.jacobian[k, row, at + 4 * i] = value * d[0] + slope * bend[0]
            rows.jacobian[k, row, at + 4 * i + 1] = value * d[1] + slope * bend[1]
            rows.jacobian[k, row, at + 4 * i + 2] = value * d[2] + slope * bend[2]
            rows.jacobian[k, row, at + 4 * i + 3] = roll * spin
    return first


@kernel
def put_pearl_side(k, side, u, place, sliders, slider, rods, q, rows):
    """The same of a side on a pearl."""
    rod, scale = sliders.rod[slider], sliders.scale[slider]
    first = put_rod_side(k, side, u, place, rods, rod, True, True, q, rows)
    sign, at = (scale, SLIDE) if side == 0 else (-scale, SIDE + SLIDE)
    x, slope, bend = spline_at(rods, rod, q, u)
    per_j = 1.0 / math.sqrt(dot3(slope, slope))
    t, arm = scale3(per_j, slope), sub3(place, x)
    rows.index[k, at] = sliders.dof[slider]
    for row in range(3):
        d, m = screw_of(k, row, arm if row > 0 else (0.0, 0.0, 0.0), rows)
        rows.jacobian[k, row, at] = sign * (dot3(d, slope) + per_j * dot3(cross3(m, t), bend))
    return first


@kernel
def put_rigid_side(k, side, place, dof, q, rows):
    """The same of a side on a rigid body."""
    sign, at = (1.0, 0) if side == 0 else (-1.0, SIDE)
    arm = sub3(place, (q[dof], q[dof + 1], q[dof + 2]))
    for i in range(6):
        rows.index[k, at + i] = dof + i
    for row in range(3):
        d, m = screw_of(k, row, arm, rows)
        for a in range(3):
            rows.jacobian[k, row, at + a] = sign * d[a]
            rows.jacobian[k, row, at + 3 + a] = sign * m[a]


@kernel
def put_skin_side(k, side, i, place, q, scene, rows):
    """The same of a side on a zone, at vertex i: its displacement, then what carries the zone."""
    skins, (sign, at) = scene.touch.skins, (1.0, 0) if side == 0 else (-1.0, SIDE)
    origin, m = frame_of(i, scene, q, scene.rigids.quat_base, False)
    body, arm = skins.carrier[i], sub3(place, origin)
    for a in range(3):
        rows.index[k, at + a] = skins.dof[i] + a
        if body >= 0:
            rows.index[k, at + 3 + a] = scene.rigids.dof[body] + a
            rows.index[k, at + 6 + a] = scene.rigids.dof[body] + 3 + a
    for row in range(3):
        d, moment = screw_of(k, row, arm, rows)
        own = mat_t_vec(m, d)
        for a in range(3):
            rows.jacobian[k, row, at + a] = sign * own[a]
            if body >= 0:
                rows.jacobian[k, row, at + 3 + a] = sign * d[a]
                rows.jacobian[k, row, at + 6 + a] = sign * moment[a]


@kernel
def put_face_side(k, side, contacts, place, q, scene, rows):
    """The same of a side on a zone, on a face: displacements of its corners, then what carries the zone."""
    skins, faces, f = scene.touch.skins, scene.touch.faces, contacts.second_shape[k]
    sign, at = (1.0, 0) if side == 0 else (-1.0, SIDE)
    i = faces.corner[f, 0]
    origin, m = frame_of(i, scene, q, scene.rigids.quat_base, False)
    body, arm = skins.carrier[i], sub3(place, origin)
    for a in range(3):
        for c in range(3):
            if faces.corner[f, c] >= 0:
                rows.index[k, at + 3 * c + a] = skins.dof[faces.corner[f, c]] + a
        if body >= 0:
            rows.index[k, at + 9 + a] = scene.rigids.dof[body] + a
            rows.index[k, at + 12 + a] = scene.rigids.dof[body] + 3 + a
    for row in range(3):
        d, moment = screw_of(k, row, arm, rows)
        own = mat_t_vec(m, d)
        for a in range(3):
            for c in range(3):
                if faces.corner[f, c] >= 0:
                    rows.jacobian[k, row, at + 3 * c + a] = sign * contacts.shares[k, c] * own[a]
            if body >= 0:
                rows.jacobian[k, row, at + 9 + a] = sign * d[a]
                rows.jacobian[k, row, at + 12 + a] = sign * moment[a]


@merged
def put_axes(k, normal, rows):
    """Normal and tangents: the first tangent is across the coordinate axis that lies most across the normal."""
    x, y, z = normal
    if abs(x) <= abs(y) and abs(x) <= abs(z):
        a = (1.0, 0.0, 0.0)
    elif abs(y) <= abs(z):
        a = (0.0, 1.0, 0.0)
    else:
        a = (0.0, 0.0, 1.0)
    s = sub3(a, scale3(dot3(a, normal), normal))
    s = scale3(1.0 / math.sqrt(dot3(s, s)), s)
    t = cross3(normal, s)
    for c in range(3):
        rows.axes[k, 0, c], rows.axes[k, 1, c], rows.axes[k, 2, c] = normal[c], s[c], t[c]


@merged
def put_rows(k, contacts, rows, scene, q):
    """Jacobian of contact k, at `q`."""
    for i in range(2 * SIDE):
        rows.index[k, i] = -1
        rows.jacobian[k, 0, i] = rows.jacobian[k, 1, i] = rows.jacobian[k, 2, i] = 0.0
    put_axes(k, get3(contacts.normal, k), rows)
    # Both forces act at one place, so that no moment comes from the gap between them.
    place = get3(contacts.second_place, k)
    if contacts.second_kind[k] == SPLINE or contacts.second_kind[k] == DISCRETE:
        place = scale3(0.5, (
            place[0] + contacts.first_place[k, 0], place[1] + contacts.first_place[k, 1],
            place[2] + contacts.first_place[k, 2],
        ))  # fmt: skip
    for side in range(2):
        kind = contacts.first_kind[k] if side == 0 else contacts.second_kind[k]
        body = contacts.first[k] if side == 0 else contacts.second[k]
        u = contacts.first_at[k] if side == 0 else contacts.second_at[k]
        if kind == SPLINE:
            first = put_rod_side(k, side, u, place, scene.splines.rods, body, True, False, q, rows)
            rows.key[k, 3 * side + 2] = first
        elif kind == DISCRETE:
            first = put_rod_side(k, side, u, place, scene.discretes.rods, body, False, False, q, rows)
            rows.key[k, 3 * side + 2] = first
        elif kind == SLIDER:
            first = put_pearl_side(k, side, u, place, scene.sliders, body, scene.splines.rods, q, rows)
            rows.key[k, 3 * side + 2] = first
        elif kind == RIGID:
            put_rigid_side(k, side, place, scene.rigids.dof[body], q, rows)
            rows.key[k, 3 * side + 2] = 0
        elif kind == ZONE and side == 0:
            put_skin_side(k, side, contacts.first_shape[k], place, q, scene, rows)
            rows.key[k, 3 * side + 2] = scene.touch.skins.vertex[contacts.first_shape[k]]
        elif kind == ZONE:
            put_face_side(k, side, contacts, place, q, scene, rows)
            rows.key[k, 3 * side + 2] = scene.touch.faces.face[contacts.second_shape[k]]
        else:
            rows.key[k, 3 * side + 2] = 0
        rows.key[k, 3 * side], rows.key[k, 3 * side + 1] = kind, body if kind != WORLD else -1


@inlined
def along(k, row, x, rows):
    """J x of one row."""
    total = 0.0
    for side in range(0, 2 * SIDE, SIDE):
        if rows.index[k, side] < 0:
            continue  # the world, which has none
        for i in range(side, side + SIDE):
            dof = rows.index[k, i]
            if dof >= 0:
                total += rows.jacobian[k, row, i] * x[dof]
    return total


@merged
def put_softness(k, rows, diagonal):
    """R of each row: SOFTNESS of Σ J²/A over its degrees of freedom; one for both tangents.

    `diagonal` holds the matrix's own diagonal by degrees of freedom. 1/A is what one of them gives way by itself.
    """
    for row in range(3):
        total = 0.0
        for i in range(2 * SIDE):
            dof = rows.index[k, i]
            if dof >= 0:
                total += rows.jacobian[k, row, i] * rows.jacobian[k, row, i] / diagonal[dof]
        rows.softness[k, row] = SOFTNESS * total
    both = max(rows.softness[k, 1], rows.softness[k, 2])
    rows.softness[k, 1] = rows.softness[k, 2] = both


@merged
def put_offsets(k, contacts, rows, shift, flight, h):
    """What the rows measure when free flight is all that happens in a step of `h` (s).

    `shift` is how far the second side's surface moves in the step if it is the world's, `flight` how far free flight
    takes the degrees of freedom. An overlap that is there is taken back in part, so that nothing is thrown apart.
    """
    way = along(k, 0, flight, rows) - dot3(get3(contacts.normal, k), shift)
    if contacts.at_start[k] == 1:
        rows.start[k], rows.flight[k] = contacts.gap[k], contacts.gap[k] + way
    else:
        rows.start[k], rows.flight[k] = contacts.gap[k] - way, contacts.gap[k]
    rows.overlap[k] = max(-contacts.begun[k], 0.0)
    if contacts.begun[k] == math.inf and abs(way) < -rows.start[k]:
        # What flies far is measured where it has flown, round a corner perhaps: that says nothing of where it was.
        rows.overlap[k] = -rows.start[k]
    depth = max(rows.overlap[k] - AT_ONCE * rows.size[k], 0.0)
    for row in range(1, 3):
        d = (rows.axes[k, row, 0], rows.axes[k, row, 1], rows.axes[k, row, 2])
        rows.offset[k, row] = along(k, row, flight, rows) - dot3(d, shift)
    # What motion leaves is taken back as fast as things move past each other anyhow, or it would grow.
    nearer = min(way, 0.0)
    passed = math.sqrt(nearer * nearer + rows.offset[k, 1] * rows.offset[k, 1] + rows.offset[k, 2] * rows.offset[k, 2])
    taken = min(SHARE * depth, abs(h) / GENTLY * rows.size[k] + passed)
    rows.offset[k, 0] = rows.flight[k] + depth - taken
