"""Pressing a rigid shape into a body: which nodes touch, planes that support the shape there, and the whole surface.

The gap of a node is linearised at its displaced place and again there until it stays (the shape's curvature may be as
large as that of its imprint). Compliances are those of Young's modulus 1 Pa; forces are divided by it.

`body`, `past`, `nodes`, `search`, `outcome` and `work` are tables of `touching.tables`; `base` (n, 3), m, are the
displacements of the body's nodes without contact; `shape` is a `ShapeTable` with one row.
Nothing is allocated.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.elastostatics.contact.kernels.coulomb import (
    displace, mix, normal_forces, remember, set_frame, set_own_block, sweep, unsolved,
)  # fmt: skip
from sennit.geometry.kernels.distances import (
    PLANE, closest, crossing, has_edges, is_round, may_be_hollow, out_of_reach,
)  # fmt: skip

DONE = 0
NO_ROOM = 1
UNSOLVED = 2
"""The sweeps of Gauss–Seidel or the linearisations came to their cap."""
IN_FIXED = 3
"""The shape reaches into nodes that are fixed."""

TOLERANCE = 2e-9
_ROUNDING = 1e-14  # depth over the largest coordinate that is none
_PASSES = 60
_SWEEPS = 500
_ROUNDS = 12
_CHUNK = 2048
_SHALLOW = 0.35
"""Nodes less deep than this part of the deepest one are left out at first: under a sphere half of them open again."""
_BETWEEN = 4
"""Sweeps between linearisations for shapes with edges, whose planes cost more and change less."""
_STALE = 1e-3
_AVERAGED, _FROZEN = 20, 40
"""Linearisations after which normals are averaged with the last ones, or stay, for shapes with edges."""
_AVERAGED_ROUND, _FROZEN_ROUND = 200, 300
"""The same for spheres, which are linearised after every sweep."""


@inlined
def carried(past, x, y, z):
    """A place that is moved with the shape since the state before."""
    shift, turn = past.shift, past.turn
    return (
        shift[0, 0] + turn[0, 0, 0] * x + turn[0, 0, 1] * y + turn[0, 0, 2] * z,
        shift[0, 1] + turn[0, 1, 0] * x + turn[0, 1, 1] * y + turn[0, 1, 2] * z,
        shift[0, 2] + turn[0, 2, 0] * x + turn[0, 2, 1] * y + turn[0, 2, 2] * z,
    )


@inlined
def touched_before(past, v):
    """Whether there is a state before in which node v of the body touched."""
    if past.given[0] == 0:
        return False
    f = past.forces
    return f[v, 0] != 0.0 or f[v, 1] != 0.0 or f[v, 2] != 0.0


@kernel
def add_node(body, base, nodes, k, vertex, slot):
    """Node k of those that may touch: its rows and columns of B, its place, its displacement without contact."""
    C, B = body.compliance, nodes.compliance
    nodes.vertex[k] = vertex
    nodes.slot[k] = slot
    nodes.closed[k] = 0
    for a in range(3):
        nodes.rest[k, a] = body.places[vertex, a]
        nodes.untouched[3 * k + a] = base[vertex, a]
        nodes.force[k, a] = 0.0
        row = 3 * slot + a
        for i in range(k + 1):
            column = 3 * nodes.slot[i]
            for b in range(3):
                x = C[row, column + b]
                B[3 * k + a, 3 * i + b] = x
                B[3 * i + b, 3 * k + a] = x


@kernel
def find_touching(body, base, shape, past, nodes, search, outcome):
    """Nodes inside the shape without contact forces, but not the shallow ones, and those that touched it before.

    `search.near` has the shallow nodes too. Returns DONE, or why not.
    """
    free, fixed, places, outward = body.free, body.fixed, body.places, body.outward
    near, depths, approach = search.near, search.packed, outcome.approach
    count = 0
    deepest = 0.0
    w1, w2, w3 = 0.0, 0.0, 0.0
    for j in range(len(free)):
        v = free[j]
        x, y, z = places[v, 0] + base[v, 0], places[v, 1] + base[v, 1], places[v, 2] + base[v, 2]
        touched = touched_before(past, v)
        inside = False
        depths[count] = 0.0
        if not out_of_reach(shape, 0, x, y, z):
            d, q1, q2, q3, n1, n2, n3 = closest(shape, 0, x, y, z)
            if d < 0.0:
                inside = True
                depths[count] = d
                w1 += d * outward[v, 0]
                w2 += d * outward[v, 1]
                w3 += d * outward[v, 2]
            if d < deepest:
                deepest = d
                approach[0, 0], approach[0, 1], approach[0, 2] = n1, n2, n3
        if touched or inside:
            near[count] = j
            count += 1
    extent = 0.0
    for v in range(len(places)):
        extent = max(extent, abs(places[v, 0]), abs(places[v, 1]), abs(places[v, 2]))
    if -deepest <= _ROUNDING * extent:
        deepest = 0.0  # flush with the surface
    outcome.near[0] = count
    outcome.depth[0] = -deepest
    size = math.sqrt(w1 * w1 + w2 * w2 + w3 * w3)
    if shape.kind[0] != PLANE and size > 0.0:
        approach[0, 0], approach[0, 1], approach[0, 2] = w1 / size, w2 / size, w3 / size
    k = 0
    for p in range(count):
        v = free[near[p]]
        touched = touched_before(past, v)
        if touched or depths[p] < _SHALLOW * deepest:
            if k == len(nodes.vertex):
                return NO_ROOM
            add_node(body, base, nodes, k, v, near[p])
            if touched:
                for a in range(3):
                    nodes.force[k, a] = past.forces[v, a]
            k += 1
    outcome.count[0] = k
    for j in range(len(fixed)):
        v = fixed[j]
        if not out_of_reach(shape, 0, places[v, 0], places[v, 1], places[v, 2]):
            if closest(shape, 0, places[v, 0], places[v, 1], places[v, 2])[0] < -1e-9 * -deepest - _ROUNDING * extent:
                return IN_FIXED
    return DONE


@kernel
def stick_place(body, shape, past, outcome, v, x, y, z):
    """Where on the shape, as it stands now, the node at (x, y, z) without contact sticks if it can.

    With a state before: where it touched then, moved with the shape; if it did not touch, where the shape met it on
    the straight way between the two poses. Without one: where a shape met it that came straight, without turning.
    """
    depth = outcome.depth[0]
    if past.given[0] == 1:
        places, before = body.places, past.displacements
        x, y, z = places[v, 0] + before[v, 0], places[v, 1] + before[v, 1], places[v, 2] + before[v, 2]
        x0, y0, z0 = carried(past, x, y, z)
        if touched_before(past, v):
            return x0, y0, z0
    else:
        a, b, c = outcome.approach[0, 0], outcome.approach[0, 1], outcome.approach[0, 2]
        way = depth
        for _ in range(60):
            x0, y0, z0 = x + way * a, y + way * b, z + way * c
            if closest(shape, 0, x0, y0, z0)[0] >= 0.0:
                break
            way *= 1.5
    x, y, z = crossing(shape, 0, x0, y0, z0, x, y, z, 1e-13 * depth)
    d, q1, q2, q3, n1, n2, n3 = closest(shape, 0, x, y, z)
    return q1, q2, q3


@kernel
def set_sticking(body, shape, past, nodes, outcome, first, k):
    """Nodes first … k−1: where they stick, and their first planes, which support the shape there."""
    rest, u0, r, a = nodes.rest, nodes.untouched, nodes.stick, nodes.plane
    for i in range(first, k):
        x, y, z = rest[i, 0] + u0[3 * i], rest[i, 1] + u0[3 * i + 1], rest[i, 2] + u0[3 * i + 2]
        x, y, z = stick_place(body, shape, past, outcome, nodes.vertex[i], x, y, z)
        r[i, 0], r[i, 1], r[i, 2] = x - rest[i, 0], y - rest[i, 1], z - rest[i, 2]
        d, q1, q2, q3, n1, n2, n3 = closest(shape, 0, x, y, z)
        a[i, 0], a[i, 1], a[i, 2] = q1 - rest[i, 0], q2 - rest[i, 1], q3 - rest[i, 2]
        set_frame(nodes, i, n1, n2, n3)


@kernel
def linearise(shape, nodes, outcome, k):
    """New planes at the displaced places. Returns how much that changed: gaps over the depth, normals of closed nodes.

    Shapes with edges: the closest point is asked for a place off the surface by the depth, along the last normal.
    Normals then turn gradually while a node passes an edge, and a node on an edge finds the normal of its force. Where
    they do not come to rest (a node in a notch) they are averaged and then held.
    """
    frame, rest, f, u, a = nodes.frame, nodes.rest, nodes.force, nodes.displaced, nodes.plane
    depth = outcome.depth[0]
    round_ = is_round(shape.kind[0])
    off = depth if has_edges(shape.kind[0]) else 0.0
    averaged = outcome.passes[0] >= (_AVERAGED_ROUND if round_ else _AVERAGED)
    frozen = outcome.passes[0] >= (_FROZEN_ROUND if round_ else _FROZEN)
    outcome.passes[0] += 1
    change = 0.0
    for i in range(k):
        m1, m2, m3 = frame[i, 0, 0], frame[i, 0, 1], frame[i, 0, 2]
        x, y, z = rest[i, 0] + u[3 * i], rest[i, 1] + u[3 * i + 1], rest[i, 2] + u[3 * i + 2]
        if frozen:
            d, q1, q2, q3, n1, n2, n3 = closest(shape, 0, x, y, z)
            q1, q2, q3 = x - d * m1, y - d * m2, z - d * m3
            n1, n2, n3 = m1, m2, m3
        else:
            d, q1, q2, q3, n1, n2, n3 = closest(shape, 0, x + off * m1, y + off * m2, z + off * m3)
        if averaged and not frozen:
            s1, s2, s3 = n1 + m1, n2 + m2, n3 + m3
            size = math.sqrt(s1 * s1 + s2 * s2 + s3 * s3)
            n1, n2, n3 = (s1 / size, s2 / size, s3 / size) if size > 1e-3 else (m1, m2, m3)
        gap = (n1 * (x - q1) + n2 * (y - q2) + n3 * (z - q3)) / depth
        if f[i, 0] != 0.0 or f[i, 1] != 0.0 or f[i, 2] != 0.0:
            turned = math.sqrt((n1 - m1) * (n1 - m1) + (n2 - m2) * (n2 - m2) + (n3 - m3) * (n3 - m3))
            change = max(change, abs(gap), turned)
        else:
            change = max(change, -gap)
        a[i, 0], a[i, 1], a[i, 2] = q1 - rest[i, 0], q2 - rest[i, 1], q3 - rest[i, 2]
        if not frozen:
            set_frame(nodes, i, n1, n2, n3)
            # The node's own block may be that of a normal nearby: it cancels where the node's solve changes nothing.
            if abs(n1 - m1) + abs(n2 - m2) + abs(n3 - m3) > _STALE:
                set_own_block(nodes, i)
    return change


@kernel
def settle(shape, work, k, mu, warm):
    """Sweep and linearise until nothing changes. Returns DONE or UNSOLVED."""
    nodes, active, mixing, outcome = work.nodes, work.active, work.mixing, work.outcome
    depth = outcome.depth[0]
    small = 0.5 * TOLERANCE * depth
    for i in range(k):
        set_own_block(nodes, i)
    if not warm:
        normal_forces(nodes, k, active)
    edged = has_edges(shape.kind[0])
    move = math.inf
    count = 0
    for turn in range(_SWEEPS):
        if is_round(shape.kind[0]) or (edged and turn % _BETWEEN == 0 and turn > 0):
            linearise(shape, nodes, outcome, k)
            if edged:
                count = 0
        outcome.sweeps[0] += 1
        remember(nodes, k, mixing)
        last = move
        move = sweep(nodes, k, mu)
        if not move > small:
            if linearise(shape, nodes, outcome, k) <= TOLERANCE and unsolved(nodes, k, mu) <= TOLERANCE * depth:
                return DONE
            count = 0
            continue
        if move > 10.0 * last:
            count = 0
        mix(nodes, k, count, mixing)
        count += 1
    if mu > 0.0:
        return UNSOLVED
    for _ in range(_PASSES):
        if normal_forces(nodes, k, active)[0] != 0:
            return UNSOLVED
        if linearise(shape, nodes, outcome, k) <= TOLERANCE:
            return DONE
    return UNSOLVED


@kernel
def spread(body, base, nodes, search, k, out):
    """out (n, 3) ← base + C f, the displacements of the whole body.

    A stretch of the surface at a time, which stays in fast memory while the rows of C pass by, two nodes at once.
    """
    C, free, f, slot, packed = body.compliance, body.free, nodes.force, nodes.slot, search.packed
    n = C.shape[1]
    for start in range(0, n, _CHUNK):
        stop = min(start + _CHUNK, n)
        for c in range(start, stop):
            packed[c] = 0.0
        one = -1
        for i in range(k):
            if f[i, 0] == 0.0 and f[i, 1] == 0.0 and f[i, 2] == 0.0:
                continue
            if one < 0:
                one = i
                continue
            p, x, y, z = 3 * slot[one], f[one, 0], f[one, 1], f[one, 2]
            q, d, e, g = 3 * slot[i], f[i, 0], f[i, 1], f[i, 2]
            for c in range(start, stop):
                packed[c] += ((x * C[p, c] + y * C[p + 1, c]) + z * C[p + 2, c]) + (
                    (d * C[q, c] + e * C[q + 1, c]) + g * C[q + 2, c]
                )
            one = -1
        if one >= 0:
            p, x, y, z = 3 * slot[one], f[one, 0], f[one, 1], f[one, 2]
            for c in range(start, stop):
                packed[c] += (x * C[p, c] + y * C[p + 1, c]) + z * C[p + 2, c]
    for v in range(len(base)):
        out[v, 0], out[v, 1], out[v, 2] = base[v, 0], base[v, 1], base[v, 2]
    for j in range(len(free)):
        v = free[j]
        out[v, 0] += packed[3 * j]
        out[v, 1] += packed[3 * j + 1]
        out[v, 2] += packed[3 * j + 2]


@kernel
def mark(nodes, k, marks, value):
    """Mark the nodes that may touch among the free ones."""
    for i in range(k):
        marks[nodes.slot[i]] = value


@kernel
def add_shallow(body, base, shape, nodes, search, outcome, k):
    """Let shallow nodes that the others did not push out join those that may touch. Returns their number, −1 without
    room. Their displacements are asked for one by one, which is less than the whole surface.
    """
    C, free, places = body.compliance, body.free, body.places
    f, marks = nodes.force, search.marks
    mark(nodes, k, marks, 1)
    count = k
    for p in range(outcome.near[0]):
        slot = search.near[p]
        if marks[slot] == 1:
            continue
        v = free[slot]
        x, y, z = places[v, 0] + base[v, 0], places[v, 1] + base[v, 1], places[v, 2] + base[v, 2]
        for i in range(k):
            f1, f2, f3 = f[i, 0], f[i, 1], f[i, 2]
            if f1 != 0.0 or f2 != 0.0 or f3 != 0.0:
                c = 3 * nodes.slot[i]
                row = 3 * slot
                x += C[row, c] * f1 + C[row, c + 1] * f2 + C[row, c + 2] * f3
                y += C[row + 1, c] * f1 + C[row + 1, c + 1] * f2 + C[row + 1, c + 2] * f3
                z += C[row + 2, c] * f1 + C[row + 2, c + 1] * f2 + C[row + 2, c + 2] * f3
        if closest(shape, 0, x, y, z)[0] < -TOLERANCE * outcome.depth[0]:
            if count == len(nodes.vertex):
                count = -1
                break
            add_node(body, base, nodes, count, v, slot)
            count += 1
    mark(nodes, k, marks, 0)
    return count


@kernel
def add_entering(body, base, shape, nodes, search, outcome, k, out):
    """Let nodes that the displaced surface `out` brought into the shape join those that may touch. Returns their
    number, −1 without room.
    """
    free, places, marks = body.free, body.places, search.marks
    mark(nodes, k, marks, 1)
    count = k
    for j in range(len(free)):
        if marks[j] == 1:
            continue
        v = free[j]
        x, y, z = places[v, 0] + out[v, 0], places[v, 1] + out[v, 1], places[v, 2] + out[v, 2]
        if out_of_reach(shape, 0, x, y, z):
            continue
        if closest(shape, 0, x, y, z)[0] < -TOLERANCE * outcome.depth[0]:
            if count == len(nodes.vertex):
                count = -1
                break
            add_node(body, base, nodes, count, v, j)
            count += 1
    mark(nodes, k, marks, 0)
    return count


@kernel
def totals(shape, nodes, outcome, k, mu, forces):
    """Forces to the vertices, their sum and moment about the origin, and how well the conditions hold.

    The residual is the largest of: distance of a closed node from the shape, depth of an open one in it, displacement
    by which a node's own solve would still move it; over the depth. A normal that is none of the shape's there (a place
    off the surface along it does not lead back) counts by a ten-thousandth of its error; not on meshes and height
    fields, in whose hollow edges a node has a mean of normals.
    """
    depth, force, torque = outcome.depth[0], outcome.force, outcome.torque
    f, u, rest = nodes.force, nodes.displaced, nodes.rest
    for a in range(3):
        force[0, a] = 0.0
        torque[0, a] = 0.0
    for v in range(len(forces)):
        forces[v, 0], forces[v, 1], forces[v, 2] = 0.0, 0.0, 0.0
    worst = 0.0
    for i in range(k):
        set_own_block(nodes, i)
        v = nodes.vertex[i]
        x, y, z = f[i, 0], f[i, 1], f[i, 2]
        forces[v, 0], forces[v, 1], forces[v, 2] = x, y, z
        force[0, 0] += x
        force[0, 1] += y
        force[0, 2] += z
        p, q, s = rest[i, 0], rest[i, 1], rest[i, 2]
        torque[0, 0] += q * z - s * y
        torque[0, 1] += s * x - p * z
        torque[0, 2] += p * y - q * x
        d = closest(shape, 0, p + u[3 * i], q + u[3 * i + 1], s + u[3 * i + 2])[0]
        closed = x != 0.0 or y != 0.0 or z != 0.0
        worst = max(worst, abs(d) if closed else -d)
        if closed and not may_be_hollow(shape.kind[0]):
            x, y, z = p + u[3 * i], q + u[3 * i + 1], s + u[3 * i + 2]
            n1, n2, n3 = nodes.frame[i, 0, 0], nodes.frame[i, 0, 1], nodes.frame[i, 0, 2]
            d, q1, q2, q3, n1, n2, n3 = closest(shape, 0, x + depth * n1, y + depth * n2, z + depth * n3)
            off = math.sqrt((q1 - x) ** 2 + (q2 - y) ** 2 + (q3 - z) ** 2)
            worst = max(worst, 1e-4 * off)
    worst = max(worst, unsolved(nodes, k, mu))
    outcome.residual[0] = worst / depth


@kernel
def nothing_found(outcome):
    """Outcome of a press before it begins: zeros."""
    outcome.count[0], outcome.near[0], outcome.passes[0], outcome.sweeps[0] = 0, 0, 0, 0
    outcome.depth[0], outcome.residual[0] = 0.0, 0.0
    for a in range(3):
        outcome.force[0, a], outcome.torque[0, a], outcome.approach[0, a] = 0.0, 0.0, 0.0


@kernel
def press(body, base, shape, mu, past, work, out, forces):
    """One press, from the nodes that may touch to the displaced surface. Returns DONE, NO_ROOM, UNSOLVED or IN_FIXED.

    Out: out (n, 3), displacements; forces (n, 3) of the shape on the vertices, over E; `work.outcome`.
    """
    nodes, search, outcome = work.nodes, work.search, work.outcome
    nothing_found(outcome)
    result = find_touching(body, base, shape, past, nodes, search, outcome)
    if result == NO_ROOM:
        return NO_ROOM
    if outcome.depth[0] <= 0.0:
        for v in range(len(base)):
            for c in range(3):
                out[v, c] = base[v, c]
                forces[v, c] = 0.0
        outcome.count[0] = 0
        return result
    k = outcome.count[0]
    first = 0
    status = UNSOLVED
    for _ in range(_ROUNDS):
        set_sticking(body, shape, past, nodes, outcome, first, k)
        warm = past.given[0] == 1 or first > 0
        if warm:
            displace(nodes, k)
        status = settle(shape, work, k, mu, warm)
        grown = k
        if status == DONE:
            grown = add_shallow(body, base, shape, nodes, search, outcome, k)
        if grown == k:
            spread(body, base, nodes, search, k, out)
            if status == DONE:
                grown = add_entering(body, base, shape, nodes, search, outcome, k, out)
        if grown < 0:
            return NO_ROOM
        if grown == k:
            break
        first, k = k, grown
        status = UNSOLVED
    outcome.count[0] = k
    totals(shape, nodes, outcome, k, mu, forces)
    return result if status == DONE or result == IN_FIXED else status
