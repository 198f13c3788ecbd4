"""Pressing a rigid shape into a zone: which nodes touch, planes that support the shape there, and the whole surface.

The gap of a node is linearised at its displaced place and again there until it stays (the shape's curvature may be as
large as that of its imprint). Compliances are those of Young's modulus 1 Pa; forces are divided by it.

Arrays of the nodes that may touch have room for more of them than there are:

    nodes (3, ·) int: vertex, its place among the free ones, −1 open or 0 closed
    B (3·, 3·): their compliance; f (·, 3): forces; rest (·, 3): undeformed places
    u0, u (3·,): displacements without contact, and with it
    frames, local, a, r: see `sennit.elastostatics.contact.kernels.bodies`; vectors, matrices, order: scratch

Nothing is allocated.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.elastostatics.contact.kernels.bodies import (
    displaced, frame_of, local_block, mix, normal_forces, remember, sweep, unsolved,
)  # fmt: skip
from sennit.geometry.kernels.distances import BOX, PLANE, SPHERE, closest, crossing, out_of_reach

DONE = 0
NO_ROOM = 1
UNSOLVED = 2
"""The sweeps of Gauss–Seidel or the linearisations came to their cap."""
IN_FIXED = 3
"""The shape reaches into nodes that are fixed."""

# Places in `numbers`.
COUNT, DEPTH, RESIDUAL, PASSES, SWEEPS, NEAR = 0, 1, 2, 3, 4, 5
FORCE = 6
TORQUE = 9
APPROACH = 12
"""Unit vector, against the way along which the shape is taken to have come without a state before: a plane's normal,
for other shapes the opposite of the body's mean normal, weighted by area and depth, where the shape covers it."""
NUMBERS = 16

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
def carried(motion, x, y, z):
    """A place that is moved with the shape; motion (12,): translation, rotation row by row."""
    return (
        motion[0] + motion[3] * x + motion[4] * y + motion[5] * z,
        motion[1] + motion[6] * x + motion[7] * y + motion[8] * z,
        motion[2] + motion[9] * x + motion[10] * y + motion[11] * z,
    )


@kernel
def add_node(C, k, vertex, slot, places, base, nodes, B, rest, u0, f):
    """Node k of those that may touch: its rows and columns of B, its place, its displacement without contact."""
    nodes[0, k] = vertex
    nodes[1, k] = slot
    nodes[2, k] = 0
    for a in range(3):
        rest[k, a] = places[vertex, a]
        u0[3 * k + a] = base[vertex, a]
        f[k, a] = 0.0
        row = 3 * slot + a
        for i in range(k + 1):
            column = 3 * nodes[1, i]
            for b in range(3):
                x = C[row, column + b]
                B[3 * k + a, 3 * i + b] = x
                B[3 * i + b, 3 * k + a] = x


@kernel
def find_touching(
    C, free, fixed, places, outward, base, shape, history, forces0, near, packed, nodes, B, rest, u0, f, numbers
):  # fmt: skip
    """Nodes inside the shape without contact forces, but not the shallow ones, and those that touched it before.

    In: outward (n, 3), normals of the body times the vertices' areas; base (n, 3), displacements without contact;
    forces0 (n, 3), forces of the state before over E, if `history`. Out: near (·,), places among the free vertices of
    the shallow nodes too. Scratch: packed. Returns DONE, or why not.
    """
    count = 0
    deepest = 0.0
    w1, w2, w3 = 0.0, 0.0, 0.0
    for j in range(len(free)):
        v = free[j]
        x, y, z = places[v, 0] + base[v, 0], places[v, 1] + base[v, 1], places[v, 2] + base[v, 2]
        touched = history and (forces0[v, 0] != 0.0 or forces0[v, 1] != 0.0 or forces0[v, 2] != 0.0)
        inside = False
        packed[count] = 0.0
        if not out_of_reach(shape, x, y, z):
            d, q1, q2, q3, n1, n2, n3 = closest(shape, x, y, z)
            if d < 0.0:
                inside = True
                packed[count] = d
                w1 += d * outward[v, 0]
                w2 += d * outward[v, 1]
                w3 += d * outward[v, 2]
            if d < deepest:
                deepest = d
                numbers[APPROACH], numbers[APPROACH + 1], numbers[APPROACH + 2] = n1, n2, n3
        if touched or inside:
            near[count] = j
            count += 1
    extent = 0.0
    for v in range(len(places)):
        extent = max(extent, abs(places[v, 0]), abs(places[v, 1]), abs(places[v, 2]))
    if -deepest <= _ROUNDING * extent:
        deepest = 0.0  # flush with the surface
    numbers[NEAR] = count
    numbers[DEPTH] = -deepest
    size = math.sqrt(w1 * w1 + w2 * w2 + w3 * w3)
    if shape[0] != PLANE and size > 0.0:
        numbers[APPROACH], numbers[APPROACH + 1], numbers[APPROACH + 2] = w1 / size, w2 / size, w3 / size
    k = 0
    for p in range(count):
        v = free[near[p]]
        touched = history and (forces0[v, 0] != 0.0 or forces0[v, 1] != 0.0 or forces0[v, 2] != 0.0)
        if touched or packed[p] < _SHALLOW * deepest:
            if k == len(rest):
                return NO_ROOM
            add_node(C, k, v, near[p], places, base, nodes, B, rest, u0, f)
            if touched:
                f[k, 0], f[k, 1], f[k, 2] = forces0[v, 0], forces0[v, 1], forces0[v, 2]
            k += 1
    numbers[COUNT] = k
    for j in range(len(fixed)):
        v = fixed[j]
        if not out_of_reach(shape, places[v, 0], places[v, 1], places[v, 2]):
            if closest(shape, places[v, 0], places[v, 1], places[v, 2])[0] < -1e-9 * -deepest - _ROUNDING * extent:
                return IN_FIXED
    return DONE


@kernel
def stick_place(shape, history, v, x, y, z, places, before, forces0, motion, numbers):
    """Where on the shape, as it stands now, the node at (x, y, z) without contact sticks if it can.

    With a state `before`: where it touched then, moved with the shape; if it did not touch, where the shape met it on
    the straight way between the two poses. Without one: where a shape met it that came straight, without turning.
    """
    depth = numbers[DEPTH]
    if history:
        x, y, z = places[v, 0] + before[v, 0], places[v, 1] + before[v, 1], places[v, 2] + before[v, 2]
        x0, y0, z0 = carried(motion, x, y, z)
        if forces0[v, 0] != 0.0 or forces0[v, 1] != 0.0 or forces0[v, 2] != 0.0:
            return x0, y0, z0
    else:
        a, b, c = numbers[APPROACH], numbers[APPROACH + 1], numbers[APPROACH + 2]
        way = depth
        for _ in range(60):
            x0, y0, z0 = x + way * a, y + way * b, z + way * c
            if closest(shape, x0, y0, z0)[0] >= 0.0:
                break
            way *= 1.5
    x, y, z = crossing(shape, x0, y0, z0, x, y, z, 1e-13 * depth)
    d, q1, q2, q3, n1, n2, n3 = closest(shape, x, y, z)
    return q1, q2, q3


@kernel
def set_sticking(shape, history, first, k, places, before, forces0, motion, nodes, frames, a, r, rest, u0, numbers):
    """Nodes first … k−1: where they stick, and their first planes, which support the shape there."""
    for i in range(first, k):
        x, y, z = rest[i, 0] + u0[3 * i], rest[i, 1] + u0[3 * i + 1], rest[i, 2] + u0[3 * i + 2]
        x, y, z = stick_place(shape, history, nodes[0, i], x, y, z, places, before, forces0, motion, numbers)
        r[i, 0], r[i, 1], r[i, 2] = x - rest[i, 0], y - rest[i, 1], z - rest[i, 2]
        d, q1, q2, q3, n1, n2, n3 = closest(shape, x, y, z)
        a[i, 0], a[i, 1], a[i, 2] = q1 - rest[i, 0], q2 - rest[i, 1], q3 - rest[i, 2]
        frame_of(frames, i, n1, n2, n3)


@kernel
def linearise(shape, k, mu, B, frames, local, a, rest, f, u, numbers):
    """New planes at the displaced places. Returns how much that changed: gaps over the depth, normals of closed nodes.

    Shapes with edges: the closest point is asked for a place off the surface by the depth, along the last normal.
    Normals then turn gradually while a node passes an edge, and a node on an edge finds the normal of its force. Where
    they do not come to rest (a node in a notch) they are averaged and then held.
    """
    depth = numbers[DEPTH]
    round_ = shape[0] == SPHERE
    off = depth if shape[0] >= BOX else 0.0
    averaged = numbers[PASSES] >= (_AVERAGED_ROUND if round_ else _AVERAGED)
    frozen = numbers[PASSES] >= (_FROZEN_ROUND if round_ else _FROZEN)
    numbers[PASSES] += 1
    change = 0.0
    for i in range(k):
        m1, m2, m3 = frames[i, 0], frames[i, 1], frames[i, 2]
        x, y, z = rest[i, 0] + u[3 * i], rest[i, 1] + u[3 * i + 1], rest[i, 2] + u[3 * i + 2]
        if frozen:
            d, q1, q2, q3, n1, n2, n3 = closest(shape, x, y, z)
            q1, q2, q3 = x - d * m1, y - d * m2, z - d * m3
            n1, n2, n3 = m1, m2, m3
        else:
            d, q1, q2, q3, n1, n2, n3 = closest(shape, x + off * m1, y + off * m2, z + off * m3)
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
            frame_of(frames, i, n1, n2, n3)
            # The node's own block may be that of a normal nearby: it cancels where the node's solve changes nothing.
            if abs(n1 - m1) + abs(n2 - m2) + abs(n3 - m3) > _STALE:
                local_block(B, i, frames, local)
    return change


@kernel
def settle(
    shape, k, mu, warm, nodes, B, vectors, matrices, order, frames, local, a, r, rest, f, u0, u, past, gram, numbers
):  # fmt: skip
    """Sweep and linearise until nothing changes. Returns DONE or UNSOLVED."""
    depth = numbers[DEPTH]
    small = 0.5 * TOLERANCE * depth
    for i in range(k):
        local_block(B, i, frames, local)
    if not warm:
        normal_forces(B, k, frames, a, u0, f, u, nodes[2], matrices, vectors, order)
    move = math.inf
    count = 0
    for turn in range(_SWEEPS):
        if shape[0] == SPHERE or (shape[0] >= BOX and turn % _BETWEEN == 0 and turn > 0):
            linearise(shape, k, mu, B, frames, local, a, rest, f, u, numbers)
            if shape[0] >= BOX:
                count = 0
        numbers[SWEEPS] += 1
        remember(k, f, past)
        last = move
        move = sweep(B, k, mu, frames, local, a, r, f, u)
        if not move > small:
            if (
                linearise(shape, k, mu, B, frames, local, a, rest, f, u, numbers) <= TOLERANCE
                and unsolved(k, mu, frames, local, a, r, f, u) <= TOLERANCE * depth
            ):
                return DONE
            count = 0
            continue
        if move > 10.0 * last:
            count = 0
        mix(k, count, f, u, past, gram)
        count += 1
    if mu > 0.0:
        return UNSOLVED
    for _ in range(_PASSES):
        if normal_forces(B, k, frames, a, u0, f, u, nodes[2], matrices, vectors, order)[0] != 0:
            return UNSOLVED
        if linearise(shape, k, mu, B, frames, local, a, rest, f, u, numbers) <= TOLERANCE:
            return DONE
    return UNSOLVED


@kernel
def spread(C, free, k, nodes, f, base, packed, out):
    """out (n, 3) ← base + C f, the displacements of the whole surface; packed (3·free,): scratch.

    A stretch of the surface at a time, which stays in fast memory while the rows of C pass by, two nodes at once.
    """
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
            p, x, y, z = 3 * nodes[1, one], f[one, 0], f[one, 1], f[one, 2]
            q, d, e, g = 3 * nodes[1, i], f[i, 0], f[i, 1], f[i, 2]
            for c in range(start, stop):
                packed[c] += ((x * C[p, c] + y * C[p + 1, c]) + z * C[p + 2, c]) + (
                    (d * C[q, c] + e * C[q + 1, c]) + g * C[q + 2, c]
                )
            one = -1
        if one >= 0:
            p, x, y, z = 3 * nodes[1, one], f[one, 0], f[one, 1], f[one, 2]
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
def add_shallow(C, free, places, base, shape, k, near, marks, nodes, B, rest, u0, f, numbers):
    """Let shallow nodes that the others did not push out join those that may touch. Returns their number, −1 without
    room. Their displacements are asked for one by one, which is less than the whole surface.
    """
    for i in range(k):
        marks[nodes[1, i]] = 1
    count = k
    for p in range(int(numbers[NEAR])):
        slot = near[p]
        if marks[slot] == 1:
            continue
        v = free[slot]
        x, y, z = places[v, 0] + base[v, 0], places[v, 1] + base[v, 1], places[v, 2] + base[v, 2]
        for i in range(k):
            f1, f2, f3 = f[i, 0], f[i, 1], f[i, 2]
            if f1 != 0.0 or f2 != 0.0 or f3 != 0.0:
                c = 3 * nodes[1, i]
                row = 3 * slot
                x += C[row, c] * f1 + C[row, c + 1] * f2 + C[row, c + 2] * f3
                y += C[row + 1, c] * f1 + C[row + 1, c + 1] * f2 + C[row + 1, c + 2] * f3
                z += C[row + 2, c] * f1 + C[row + 2, c + 1] * f2 + C[row + 2, c + 2] * f3
        if closest(shape, x, y, z)[0] < -TOLERANCE * numbers[DEPTH]:
            if count == len(rest):
                count = -1
                break
            add_node(C, count, v, slot, places, base, nodes, B, rest, u0, f)
            count += 1
    for i in range(k):
        marks[nodes[1, i]] = 0
    return count


@kernel
def add_entering(C, free, places, base, shape, k, marks, nodes, B, rest, u0, f, out, numbers):
    """Let nodes that the displaced surface brought into the shape join those that may touch. Returns their number, −1
    without room. marks (n,): scratch, all 0.
    """
    for i in range(k):
        marks[nodes[1, i]] = 1
    count = k
    for j in range(len(free)):
        if marks[j] == 1:
            continue
        v = free[j]
        x, y, z = places[v, 0] + out[v, 0], places[v, 1] + out[v, 1], places[v, 2] + out[v, 2]
        if out_of_reach(shape, x, y, z):
            continue
        if closest(shape, x, y, z)[0] < -TOLERANCE * numbers[DEPTH]:
            if count == len(rest):
                count = -1
                break
            add_node(C, count, v, j, places, base, nodes, B, rest, u0, f)
            count += 1
    for i in range(k):
        marks[nodes[1, i]] = 0
    return count


@kernel
def totals(shape, k, mu, nodes, frames, local, a, r, rest, f, u, B, forces, numbers):
    """Forces to the vertices, their sum and moment about the origin, and how well the conditions hold.

    The residual is the largest of: distance of a closed node from the shape, depth of an open one in it, displacement
    by which a node's own solve would still move it; over the depth. A normal that is none of the shape's there (a place
    off the surface along it does not lead back) counts by a ten-thousandth of its error; not on meshes, in whose hollow
    edges a node has a mean of normals.
    """
    depth = numbers[DEPTH]
    for p in range(FORCE, TORQUE + 3):
        numbers[p] = 0.0
    for v in range(len(forces)):
        forces[v, 0], forces[v, 1], forces[v, 2] = 0.0, 0.0, 0.0
    worst = 0.0
    for i in range(k):
        local_block(B, i, frames, local)
        v = nodes[0, i]
        x, y, z = f[i, 0], f[i, 1], f[i, 2]
        forces[v, 0], forces[v, 1], forces[v, 2] = x, y, z
        numbers[FORCE] += x
        numbers[FORCE + 1] += y
        numbers[FORCE + 2] += z
        p, q, s = rest[i, 0], rest[i, 1], rest[i, 2]
        numbers[TORQUE] += q * z - s * y
        numbers[TORQUE + 1] += s * x - p * z
        numbers[TORQUE + 2] += p * y - q * x
        d = closest(shape, p + u[3 * i], q + u[3 * i + 1], s + u[3 * i + 2])[0]
        closed = x != 0.0 or y != 0.0 or z != 0.0
        worst = max(worst, abs(d) if closed else -d)
        if closed and shape[0] <= BOX:
            x, y, z = p + u[3 * i], q + u[3 * i + 1], s + u[3 * i + 2]
            n1, n2, n3 = frames[i, 0], frames[i, 1], frames[i, 2]
            back = closest(shape, x + depth * n1, y + depth * n2, z + depth * n3)
            off = math.sqrt((back[1] - x) ** 2 + (back[2] - y) ** 2 + (back[3] - z) ** 2)
            worst = max(worst, 1e-4 * off)
    worst = max(worst, unsolved(k, mu, frames, local, a, r, f, u))
    numbers[RESIDUAL] = worst / depth


@kernel
def press(
    C, free, fixed, places, outward, base, shape, mu, history, before, forces0, motion, nodes, B, vectors, matrices,
    order, frames, local, a, r, rest, f, u0, u, past, gram, packed, near, marks, out, forces, numbers,
):  # fmt: skip
    """One press, from the nodes that may touch to the displaced surface. Returns DONE, NO_ROOM, UNSOLVED or IN_FIXED.

    Out: out (n, 3), displacements; forces (n, 3) of the shape on the vertices, over E; numbers.
    """
    for p in range(NUMBERS):
        numbers[p] = 0.0
    result = find_touching(
        C, free, fixed, places, outward, base, shape, history, forces0, near, packed, nodes, B, rest, u0, f, numbers
    )  # fmt: skip
    if result == NO_ROOM:
        return NO_ROOM
    if numbers[DEPTH] <= 0.0:
        for v in range(len(base)):
            for c in range(3):
                out[v, c] = base[v, c]
                forces[v, c] = 0.0
        numbers[COUNT] = 0.0
        return result
    k = int(numbers[COUNT])
    first = 0
    status = UNSOLVED
    for _ in range(_ROUNDS):
        set_sticking(shape, history, first, k, places, before, forces0, motion, nodes, frames, a, r, rest, u0, numbers)
        warm = history or first > 0
        if warm:
            displaced(B, k, u0, f, u)
        status = settle(
            shape, k, mu, warm, nodes, B, vectors, matrices, order, frames, local, a, r, rest, f, u0, u, past, gram,
            numbers,
        )  # fmt: skip
        grown = k
        if status == DONE:
            grown = add_shallow(C, free, places, base, shape, k, near, marks, nodes, B, rest, u0, f, numbers)
        if grown == k:
            spread(C, free, k, nodes, f, base, packed, out)
            if status == DONE:
                grown = add_entering(C, free, places, base, shape, k, marks, nodes, B, rest, u0, f, out, numbers)
        if grown < 0:
            return NO_ROOM
        if grown == k:
            break
        first, k = k, grown
        status = UNSOLVED
    numbers[COUNT] = k
    totals(shape, k, mu, nodes, frames, local, a, r, rest, f, u, B, forces, numbers)
    return result if status == DONE or result == IN_FIXED else status
