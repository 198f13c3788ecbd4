"""Places and frames of points, read and written as tuples."""

from __future__ import annotations

from sennit.compilation import inlined
from sennit.geometry.kernels.algebra import dot3


@inlined
def get3(field, i):
    return field[i, 0], field[i, 1], field[i, 2]


@inlined
def put3(field, i, a):
    field[i, 0] = a[0]
    field[i, 1] = a[1]
    field[i, 2] = a[2]


@inlined
def carried_director(u1, old, new):
    """u1 ⟂ old, carried to the tangent `new` by the smallest rotation."""
    # A tangent turned right round has no smallest rotation; u1 then stays as it is.
    k = dot3(u1, new) / max(1.0 + dot3(old, new), 1e-12)
    return u1[0] - k * (old[0] + new[0]), u1[1] - k * (old[1] + new[1]), u1[2] - k * (old[2] + new[2])


@inlined
def place_of(places, p):
    return places.position[p, 0], places.position[p, 1], places.position[p, 2]


@inlined
def tangent_of(places, p):
    """d3: the third column of the frame."""
    return places.frame[p, 2], places.frame[p, 5], places.frame[p, 8]


@inlined
def turn_out(places, p, a):
    """A vector of the point's frame, in the world."""
    frame = places.frame
    return (
        frame[p, 0] * a[0] + frame[p, 1] * a[1] + frame[p, 2] * a[2],
        frame[p, 3] * a[0] + frame[p, 4] * a[1] + frame[p, 5] * a[2],
        frame[p, 6] * a[0] + frame[p, 7] * a[1] + frame[p, 8] * a[2],
    )


@inlined
def put_frame(places, p, d1, d2, d3):
    frame = places.frame
    for a in range(3):
        frame[p, 3 * a] = d1[a]
        frame[p, 3 * a + 1] = d2[a]
        frame[p, 3 * a + 2] = d3[a]
