"""Where a slider is on its rod: the span, and the basis of its point there."""

from __future__ import annotations

import math

from sennit.bodies.rod.spline.kernels.basis import span_basis, spline_span
from sennit.compilation import inlined, kernel


@inlined
def set_basis(p, sigma, scale, spans, closed, points):
    """Basis of a slider's point on the span that the point names, also a little beyond it."""
    u = sigma * scale
    e = points.first[p]
    if closed == 1:
        # the turn of the loop that lies nearest to the span
        u -= spans * math.floor((u - e - 0.5) / spans + 0.5)
    basis = span_basis(e, u, spans, closed == 1)
    for k in range(4):
        points.basis[p, k] = basis[k]
        points.slope_basis[p, k] = basis[4 + k]
        points.bend_basis[p, k] = basis[8 + k]


@kernel
def place_sliders(sliders, rods, points, q):
    """Bases of all sliders' points for their coordinates in `q`."""
    for s in range(sliders.dof.size):
        rod = sliders.rod[s]
        set_basis(sliders.point[s], q[sliders.dof[s]], sliders.scale[s], rods.spans[rod], rods.closed[rod], points)


@kernel
def find_spans(sliders, rods, points, q):
    """Put every slider's point on the span where its coordinate lies; returns 1 if one is not the analysed one."""
    crossed = 0
    for s in range(sliders.dof.size):
        if sliders.attached[s] == 1:
            rod, p = sliders.rod[s], sliders.point[s]
            span, _ = spline_span(q[sliders.dof[s]] * sliders.scale[s], rods.spans[rod], rods.closed[rod] == 1)
            points.first[p] = span
            if span != sliders.span[s]:
                crossed = 1
    return crossed
