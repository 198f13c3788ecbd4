"""Pressing a rigid shape into a zone: which nodes touch, planes that support the shape there, and the whole surface.

The gap of a node is linearised at its displaced place and again there until it stays (the shape's curvature may be as
large as that of its imprint). Compliances are those of Young's modulus 1 Pa; forces are divided by it.

Arrays of the nodes that may touch have room for more of them than there are:

    nodes (3, ·) int: vertex, its place among the free ones, −1 open or 0 closed
    B (3·, 3·): their compliance; f (·, 3): forces; rest (·, 3): undeformed places
    u0, u (3·,): displacements without contact, and with it
    frames, local, a, r: see `sennit.elastostatics.contact.kernels`; vectors, matrices, order: scratch

Nothing is allocated.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.elastostatics.contact.kernels import (
    displaced, frame_of, gauss_seidel, local_block, normal_forces, unsolved,
)  # fmt: skip
from sennit.geometry.shapes.kernels import BOX, PLANE, closest, crossing, out_of_reach

DONE = 0
NO_ROOM = 1
UNSOLVED = 2
"""The sweeps of Gauss–Seidel or the linearisations came to their cap."""
IN_FIXED = 3
"""The shape reaches into nodes that are fixed."""

# Places in `numbers`.
COUNT, DEPTH, RESIDUAL, PASSES, SWEEPS, DEEPEST = 0, 1, 2, 3, 4, 5
FORCE = 6
TORQUE = 9
APPROACH = 12
"""Unit vector, against the way along which the shape is taken to have come without a state before: a plane's normal,
for other shapes the opposite of the body's mean normal, weighted by area and depth, where the shape covers it."""
NUMBERS = 16

TOLERANCE = 1e-9
_PASSES = 60
_SWEEPS = 400
_ROUNDS = 12
_SETTLING = 15
"""From this pass on the normals are averaged with the last ones; from twice as many on they stay."""


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
def find_touching(C, free, fixed, places, outward, base, shape, history, forces0, nodes, B, rest, u0, f, numbers):
    """Nodes inside the shape without contact forces, and those that touched it before. Returns DONE, or why not.

    In: outward (n, 3), normals of the body times the vertices' areas; base (n, 3), displacements without contact;
    forces0 (n, 3), forces of the state before over E, if `history`.
    """
    room = len(rest)
    count = 0
    deepest = 0.0
    w1, w2, w3 = 0.0, 0.0, 0.0
    for j in range(len(free)):
        v = free[j]
        x, y, z = places[v, 0] + base[v, 0], places[v, 1] + base[v, 1], places[v, 2] + base[v, 2]
        touched = history and (forces0[v, 0] != 0.0 or forces0[v, 1] != 0.0 or forces0[v, 2] != 0.0)
        inside = False
        if not out_of_reach(shape, x, y, z):
            d, q1, q2, q3, n1, n2, n3 = closest(shape, x, y, z)
            inside = d < 0.0
            if inside:
                w1 += d * outward[v, 0]
                w2 += d * outward[v, 1]
                w3 += d * outward[v, 2]
            if d < deepest:
                deepest = d
                numbers[DEEPEST] = v
                numbers[APPROACH], numbers[APPROACH + 1], numbers[APPROACH + 2] = n1, n2, n3
        if touched or inside:
            if count == room:
                return NO_ROOM
            add_node(C, count, v, j, places, base, nodes, B, rest, u0, f)
            if touched:
                f[count, 0], f[count, 1], f[count, 2] = forces0[v, 0], forces0[v, 1], forces0[v, 2]
            count += 1
    numbers[COUNT] = count
    numbers[DEPTH] = -deepest
    size = math.sqrt(w1 * w1 + w2 * w2 + w3 * w3)
    if shape[0] != PLANE and size > 0.0:
        numbers[APPROACH], numbers[APPROACH + 1], numbers[APPROACH + 2] = w1 / size, w2 / size, w3 / size
    for j in range(len(fixed)):
        v = fixed[j]
        if not out_of_reach(shape, places[v, 0], places[v, 1], places[v, 2]):
            if closest(shape, places[v, 0], places[v, 1], places[v, 2])[0] < -1e-9 * max(-deepest, 0.0):
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
def linearise(shape, k, turn, frames, a, rest, f, u, numbers):
    """New planes at the displaced places. Returns how much that changed: gaps over the depth, normals of closed nodes.

    Shapes with edges: the closest point is asked for a place off the surface by the depth, along the last normal.
    Normals then turn gradually while a node passes an edge, and a node on an edge finds the normal of its force.
    """
    depth = numbers[DEPTH]
    off = depth if shape[0] >= BOX else 0.0
    change = 0.0
    for i in range(k):
        m1, m2, m3 = frames[i, 0], frames[i, 1], frames[i, 2]
        x, y, z = rest[i, 0] + u[3 * i], rest[i, 1] + u[3 * i + 1], rest[i, 2] + u[3 * i + 2]
        d, q1, q2, q3, n1, n2, n3 = closest(shape, x + off * m1, y + off * m2, z + off * m3)
        closed = f[i, 0] != 0.0 or f[i, 1] != 0.0 or f[i, 2] != 0.0
        if turn >= _SETTLING:
            if turn >= 2 * _SETTLING:
                n1, n2, n3 = m1, m2, m3
            n1, n2, n3 = n1 + m1, n2 + m2, n3 + m3
            size = math.sqrt(n1 * n1 + n2 * n2 + n3 * n3)
            if size > 1e-3:
                n1, n2, n3 = n1 / size, n2 / size, n3 / size
            else:
                n1, n2, n3 = m1, m2, m3
        gap = (n1 * (x - q1) + n2 * (y - q2) + n3 * (z - q3)) / depth
        if closed:
            turned = math.sqrt((n1 - m1) * (n1 - m1) + (n2 - m2) * (n2 - m2) + (n3 - m3) * (n3 - m3))
            change = max(change, abs(gap), turned)
        else:
            change = max(change, -gap)
        a[i, 0], a[i, 1], a[i, 2] = q1 - rest[i, 0], q2 - rest[i, 1], q3 - rest[i, 2]
        frame_of(frames, i, n1, n2, n3)
    return change


@kernel
def settle(
    shape, k, mu, first_change, nodes, B, vectors, matrices, order, frames, local, a, r, rest, f, u0, u, numbers
):
    """Solve and linearise in turn until nothing changes. Returns DONE or UNSOLVED."""
    depth = numbers[DEPTH]
    change = first_change
    warm = change < 1.0
    for turn in range(_PASSES):
        numbers[PASSES] += 1
        solved = True
        if mu == 0.0 or (turn == 0 and not warm):
            status, solves = normal_forces(B, k, frames, a, u0, f, u, nodes[2], matrices, vectors, order)
            solved = status == 0
        if mu > 0.0:
            for i in range(k):
                local_block(B, i, frames, local)
            tolerance = max(0.1 * TOLERANCE, 0.03 * change) * depth
            sweeps, move = gauss_seidel(B, k, mu, frames, local, a, r, f, u, tolerance, _SWEEPS)
            numbers[SWEEPS] += sweeps
            solved = move <= tolerance
        if not solved:
            return UNSOLVED
        last = change
        change = linearise(shape, k, turn, frames, a, rest, f, u, numbers)
        if not change > TOLERANCE and (mu == 0.0 or last <= 30.0 * TOLERANCE):
            return DONE
    return UNSOLVED


@kernel
def spread(C, free, k, nodes, f, base, packed, out):
    """out (n, 3) ← base + C f, the displacements of the whole surface; packed (3·free,): scratch."""
    n = C.shape[1]
    for c in range(n):
        packed[c] = 0.0
    for i in range(k):
        x, y, z = f[i, 0], f[i, 1], f[i, 2]
        if x != 0.0 or y != 0.0 or z != 0.0:
            row = 3 * nodes[1, i]
            for c in range(n):
                packed[c] += (x * C[row, c] + y * C[row + 1, c]) + z * C[row + 2, c]
    for v in range(len(base)):
        out[v, 0], out[v, 1], out[v, 2] = base[v, 0], base[v, 1], base[v, 2]
    for j in range(len(free)):
        v = free[j]
        out[v, 0] += packed[3 * j]
        out[v, 1] += packed[3 * j + 1]
        out[v, 2] += packed[3 * j + 2]


@kernel
def add_entering(C, free, places, base, shape, k, marks, nodes, B, rest, u0, f, out, numbers):
    """Let nodes that the displaced surface brought into the shape join those that may touch. Returns their number, −1
    without room. marks (n,): scratch.
    """
    for v in range(len(places)):
        marks[v] = 0
    for i in range(k):
        marks[nodes[0, i]] = 1
    count = k
    for j in range(len(free)):
        v = free[j]
        if marks[v] == 1:
            continue
        x, y, z = places[v, 0] + out[v, 0], places[v, 1] + out[v, 1], places[v, 2] + out[v, 2]
        if out_of_reach(shape, x, y, z):
            continue
        if closest(shape, x, y, z)[0] < -TOLERANCE * numbers[DEPTH]:
            if count == len(rest):
                return -1
            add_node(C, count, v, j, places, base, nodes, B, rest, u0, f)
            count += 1
    return count


@kernel
def totals(shape, k, mu, nodes, frames, local, a, r, rest, f, u, B, forces, numbers):
    """Forces to the vertices, their sum and moment about the origin, and how well the conditions hold.

    The residual is the largest of: distance of a closed node from the shape, depth of an open one in it, displacement
    by which a node's own solve would still move it; over the depth.
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
    worst = max(worst, unsolved(k, mu, frames, local, a, r, f, u))
    numbers[RESIDUAL] = worst / depth


@kernel
def press(
    C, free, fixed, places, outward, base, shape, mu, history, before, forces0, motion, nodes, B, vectors, matrices,
    order, frames, local, a, r, rest, f, u0, u, packed, marks, out, forces, numbers,
):  # fmt: skip
    """One press, from the nodes that may touch to the displaced surface. Returns DONE, NO_ROOM, UNSOLVED or IN_FIXED.

    Out: out (n, 3), displacements; forces (n, 3) of the shape on the vertices, over E; numbers.
    """
    for p in range(NUMBERS):
        numbers[p] = 0.0
    status = find_touching(
        C, free, fixed, places, outward, base, shape, history, forces0, nodes, B, rest, u0, f, numbers
    )  # fmt: skip
    if status == NO_ROOM:
        return NO_ROOM
    k = int(numbers[COUNT])
    result = status
    if numbers[DEPTH] <= 0.0:
        for v in range(len(base)):
            for c in range(3):
                out[v, c] = base[v, c]
                forces[v, c] = 0.0
        numbers[COUNT] = 0.0
        return result
    first = 0
    for _ in range(_ROUNDS):
        set_sticking(shape, history, first, k, places, before, forces0, motion, nodes, frames, a, r, rest, u0, numbers)
        if history or first > 0:
            displaced(B, k, u0, f, u)
        status = settle(
            shape, k, mu, 0.1 if history or first > 0 else 1.0, nodes, B, vectors, matrices, order, frames, local, a,
            r, rest, f, u0, u, numbers,
        )  # fmt: skip
        if status != DONE:
            result = status
        spread(C, free, k, nodes, f, base, packed, out)
        grown = add_entering(C, free, places, base, shape, k, marks, nodes, B, rest, u0, f, out, numbers)
        if grown < 0:
            return NO_ROOM
        if grown == k or status != DONE:
            break
        first, k = k, grown
    else:
        result = UNSOLVED
    numbers[COUNT] = k
    totals(shape, k, mu, nodes, frames, local, a, r, rest, f, u, B, forces, numbers)
    return result
