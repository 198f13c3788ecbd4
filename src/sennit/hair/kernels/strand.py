"""The numbers of a rod of hair, or of four in the lanes of packs, and where its root is.

The numbers of a rod lie at ``base + stride * k`` of `hair.state`, k = 0, 1, …::

    4 n         control points: x, y, z (m), roll (rad)
    4 n         their rates
    13 nb       bending points: t, u1, t′, m, κ1, κ2, τ            (`Bends` and `BendStates` of spline rods)
    2 ns        stretching points: stored tension (N), strain
    nb + 1      samples, which are the bending points and the tip: force between it and the head, N
    14          stiffness factor; κ̂1, κ̂2, τ̂; root in the head's frame: place, d3, d1; status

`hair.numbers` is what `sennit.hair.tables` says.
"""

from __future__ import annotations

from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import cross3, dot3
from sennit.geometry.kernels.angles import sincos
from sennit.hair.kernels.head import to_world, turned
from sennit.lanes import four_at, larger, load, store, where

FRAME, PULL, OWN = 13, 2, 14
FACTOR, REST, ROOT, STATUS = 0, 1, 4, 13
"""Among a rod's own numbers."""


@inlined
def four(memory, base, stride, k):
    """Four numbers of a rod, from number k on."""
    o = base + stride * k
    return load(memory, o), load(memory, o + stride), load(memory, o + 2 * stride), load(memory, o + 3 * stride)


@inlined
def three(memory, base, stride, k):
    """Three numbers of a rod, from number k on."""
    o = base + stride * k
    return load(memory, o), load(memory, o + stride), load(memory, o + 2 * stride)


@inlined
def put_three(memory, base, stride, k, x):
    """Write three numbers of a rod."""
    o = base + stride * k
    store(memory, o, x[0])
    store(memory, o + stride, x[1])
    store(memory, o + 2 * stride, x[2])


@inlined
def chosen3(condition, x, y):
    """`where` of vectors."""
    return where(condition, x[0], y[0]), where(condition, x[1], y[1]), where(condition, x[2], y[2])


@inlined
def offsets(hair):
    """Where frames, tensions, forces of samples and the rod's own numbers begin."""
    n, bends, stretches = hair.counts[0], hair.counts[2], hair.counts[3]
    frames = 8 * n
    pulls = frames + FRAME * bends
    presses = pulls + PULL * stretches
    return frames, pulls, presses, presses + bends + 1


@inlined
def flown(hair, base, stride, h, i):
    """Where free flight takes control point i in h (s), and its rates."""
    n = hair.counts[0]
    q, v = four(hair.state, base, stride, 4 * i), four(hair.state, base, stride, 4 * n + 4 * i)
    return (q[0] + h * v[0], q[1] + h * v[1], q[2] + h * v[2], q[3] + h * v[3]), v


@inlined
def bases_at(hair, row):
    """N, N′ and N″ at a bending point."""
    return four_at(hair.bend_basis, row), four_at(hair.bend_slope, row), four_at(hair.bend_curve, row)


# -------------------------------------------------------------------------------------------------------------- root


@inlined
def root_frame(hair, base, stride, pose):
    """Place, d1, d2 and d3 of the root in one of the head's poses."""
    frames, pulls, presses, own = offsets(hair)
    place = to_world(hair.poses, pose, three(hair.state, base, stride, own + ROOT))
    d3 = turned(hair.poses, pose, three(hair.state, base, stride, own + ROOT + 3))
    d1 = turned(hair.poses, pose, three(hair.state, base, stride, own + ROOT + 6))
    return place, d1, cross3(d3, d1), d3


@kernel
def root_roll(hair, base, stride, start, end):
    """By what angle the root turns about its own direction between two poses, rad, beyond what carries its frame."""
    _, u, _, p = root_frame(hair, base, stride, start)
    _, d1, _, t = root_frame(hair, base, stride, end)
    k = dot3(u, t) / larger(1.0 + dot3(p, t), 1e-12)
    u = u[0] - k * (p[0] + t[0]), u[1] - k * (p[1] + t[1]), u[2] - k * (p[2] + t[2])
    sine, cosine = dot3(cross3(u, d1), t), dot3(u, d1)
    angle = 2.0 * sine / larger(1.0 + cosine, 0.1)
    for _ in range(4):
        s, c = sincos(angle)
        angle = angle + sine * c - cosine * s
    return angle


@inlined
def touches(hair):
    """Whether there is a head to be touched."""
    return hair.shapes.shape[0] + hair.values.size > 0
