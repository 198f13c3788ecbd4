"""The direction along which two boxes are farthest apart, or overlap least."""

from __future__ import annotations

import math

from sennit.compilation import kernel, tolerance
from sennit.contact.kernels.forms import along_axes, axis_of
from sennit.geometry.kernels.algebra import cross3, dot3

FACES_FIRST = tolerance(1e-9, 1e-5)
"""Part of the boxes' size by which a face of the second must be better than one of the first, so that equal ones do not
take turns."""
EDGES_LAST = tolerance(1e-6, 1e-4)
"""The same for crossed edges: those of parallel faces are the faces' normals, but for rounding."""
PARALLEL = tolerance(1e-10, 1e-4)
"""Squared sine of the angle of edges that count as parallel: rounding over the sine is to be below `EDGES_LAST`."""


@kernel
def separate_boxes(shapes, a, b, between, scale):
    """The best of the 15 directions of two boxes: (separation, unit normal from b to a).

    S. Gottschalk, M. C. Lin, D. Manocha, OBBTree: a hierarchical structure for rapid interference detection, SIGGRAPH
    1996. With the axes of b in the frame of a, c, and the way between the boxes there, t, half edges p and q:

        along axis i of a |t_i| − p_i − Σ_j q_j |c_ij|
        along axis j of b |Σ_i t_i c_ij| − q_j − Σ_i p_i |c_ij|
        across both       (|t_k c_lj − t_l c_kj| − p_l |c_kj| − p_k |c_lj| − q_m |c_in| − q_n |c_im|) / √(1 − c_ij²),

    k, l and m, n the two others of i and j, in turn.
    """
    p0, p1, p2 = shapes.size[a, 0], shapes.size[a, 1], shapes.size[a, 2]
    q0, q1, q2 = shapes.size[b, 0], shapes.size[b, 1], shapes.size[b, 2]
    t = along_axes(shapes, a, between)
    x, y, z = axis_of(shapes, b, 0), axis_of(shapes, b, 1), axis_of(shapes, b, 2)
    c0, c1, c2 = along_axes(shapes, a, x), along_axes(shapes, a, y), along_axes(shapes, a, z)
    best, number = -math.inf, 0
    for i in range(3):
        p = p0 if i == 0 else (p1 if i == 1 else p2)
        s = abs(t[i]) - p - (q0 * abs(c0[i]) + q1 * abs(c1[i]) + q2 * abs(c2[i]))
        if s > best:
            best, number = s, i
    # What must be beaten by faces of b, then by edges.
    must = best + FACES_FIRST() * scale
    for j in range(3):
        c = c0 if j == 0 else (c1 if j == 1 else c2)
        q = q0 if j == 0 else (q1 if j == 1 else q2)
        s = abs(dot3(t, c)) - q - (p0 * abs(c[0]) + p1 * abs(c[1]) + p2 * abs(c[2]))
        if s > must:
            best = must = s
            number = 3 + j
    must = best + EDGES_LAST() * scale
    for j in range(3):
        c = c0 if j == 0 else (c1 if j == 1 else c2)
        d, e = (c1, c2) if j == 0 else ((c2, c0) if j == 1 else (c0, c1))
        qd, qe = (q1, q2) if j == 0 else ((q2, q0) if j == 1 else (q0, q1))
        for i in range(3):
            square = 1.0 - c[i] * c[i]
            if square < PARALLEL():
                continue
            k, l = (i + 1) % 3, (i + 2) % 3
            pk = p1 if i == 0 else (p2 if i == 1 else p0)
            pl = p2 if i == 0 else (p0 if i == 1 else p1)
            s = abs(t[k] * c[l] - t[l] * c[k]) - pl * abs(c[k]) - pk * abs(c[l]) - qd * abs(e[i]) - qe * abs(d[i])
            # s / √square > must, without a root for the many that are not better.
            if s * abs(s) > must * abs(must) * square:
                best = must = s / math.sqrt(square)
                number = 6 + 3 * i + j
    if number < 3:
        n = axis_of(shapes, a, number)
    elif number < 6:
        n = axis_of(shapes, b, number - 3)
    else:
        n = cross3(axis_of(shapes, a, (number - 6) // 3), axis_of(shapes, b, (number - 6) % 3))
        k = 1.0 / math.sqrt(dot3(n, n))
        n = (k * n[0], k * n[1], k * n[2])
    return best, (n if dot3(n, between) >= 0.0 else (-n[0], -n[1], -n[2]))
