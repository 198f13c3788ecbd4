"""A first guess of a strand's rotations from those at its holds."""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.cosserat.kernels.rows import put4, row4
from sennit.geometry.kernels.algebra import dot3, quat_exp, quat_log, quat_mul, quat_rotate, row3, scale3, sub3

STRAIGHT = 0.98  # cosine of the largest turn of a tangent in a piece that counts as straight


@inlined
def conjugate(q):
    return q[0], -q[1], -q[2], -q[3]


@inlined
def amplitude_of(ratio, table):
    """A of J₀(A) = ratio, by straight lines through a table of A and J₀(A), which falls."""
    i = 0
    while i + 2 < table.shape[0] and table[i + 1, 1] > ratio:
        i += 1
    share = (table[i, 1] - ratio) / (table[i, 1] - table[i + 1, 1])
    return table[i, 0] + min(max(share, 0.0), 1.0) * (table[i + 1, 0] - table[i, 0])


@inlined
def carry(first, end, at, wanted, shape, q):
    """The rest shape of the nodes from `first` to before `end`, turned so that node `at` has the rotation `wanted`."""
    turn = quat_mul(wanted, conjugate(row4(shape, at)))
    for i in range(first, end):
        put4(q, i, quat_mul(turn, row4(shape, i)))


@kernel
def join_pieces(s, at, given, positions, shape, rests, azimuth, bows, turns, table, q):
    """Write a guess into `q`, (nodes, 4): between the nodes `at`, which are held with the rotations `given` at
    `positions`, geodesics with so many `turns` of twist (`rests` 1: the rest `shape`, bent to fit), bowed about a
    transverse axis at `azimuth` (rad) where they are straight or where it is asked for (`bows` 1); free ends have their
    rest shape. `table`: see `amplitude_of`.
    """
    last = at.size - 1
    carry(0, at[0] + 1, at[0], row4(given, 0), shape, q)
    for k in range(last):
        a, b = at[k], at[k + 1]
        length = s[b] - s[a]
        begin, end = row4(given, k), row4(given, k + 1)
        if rests == 1:
            carry(a, b + 1, a, begin, shape, q)
        else:
            for i in range(a, b + 1):
                put4(q, i, begin)
        way = quat_log(quat_mul(conjugate(row4(q, b)), end))
        twist = 0.0 if rests == 1 else 2.0 * math.pi * turns
        tangent = quat_rotate(begin, (0.0, 0.0, 1.0))
        least = 1.0
        for i in range(a, b + 1):
            t = (s[i] - s[a]) / length
            turned = quat_mul(row4(q, i), quat_exp(scale3(t, way)))
            turned = quat_mul(turned, quat_exp((0.0, 0.0, twist * t)))
            least = min(least, dot3(tangent, quat_rotate(turned, (0.0, 0.0, 1.0))))
            put4(q, i, turned)
        if bows == 1 or least > STRAIGHT:
            # A sin 2πt: a straight piece then spans J₀(A) of its length
            chord = sub3(row3(positions, k + 1), row3(positions, k))
            amplitude = amplitude_of(min(math.sqrt(dot3(chord, chord)) / length, 0.999), table)
            for i in range(a, b + 1):
                size = amplitude * math.sin(2.0 * math.pi * (s[i] - s[a]) / length)
                bend = (size * math.cos(azimuth), size * math.sin(azimuth), 0.0)
                put4(q, i, quat_mul(row4(q, i), quat_exp(bend)))
        put4(q, a, begin)
        put4(q, b, end)
    carry(at[last], q.shape[0], at[last], row4(given, last), shape, q)
