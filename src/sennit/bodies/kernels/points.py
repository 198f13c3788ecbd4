"""Where a point of any body is, how it is turned, and what a wrench at it does to the body's degrees of freedom.

A point is a row of `Points`; `evaluate_point` writes where it is into `Places`. The pull-back of a force f and a moment
m at the point, J_xᵀ f + J_ωᵀ m, has at most `WIDTH` entries; it is all that constraints and loads need. What each kind
of body does stands in its own folder: this file only chooses.
"""

from __future__ import annotations

from sennit.bodies.rigid.kernels import point as rigid
from sennit.bodies.rod.kernels import point as rod
from sennit.bodies.zone.kernels import point as zone
from sennit.compilation import inlined, kernel
from sennit.bodies.kernels import world

WORLD, SPLINE, DISCRETE, RIGID, SLIDER, ZONE = 0, 1, 2, 3, 4, 5
"""Kinds of points: of the world, of the two models of rods, of rigid bodies, of sliders, of zones."""
WIDTH = 17
"""Entries of a pull-back: four control points of 4, then a slider's own; or a rigid body's 6, then a zone's own 6."""


@kernel
def evaluate_point(p, points, frames, q, quat, places):
    """Write place, frame and what the pull-back needs of point `p` for the degrees of freedom `q` into `places`."""
    kind = points.kind[p]
    if kind == WORLD:
        world.place(p, points, places)
    elif kind == RIGID:
        rigid.place(p, points, q, quat, places)
    elif kind == ZONE:
        zone.place(p, points, q, quat, places)
    else:
        rod.place(p, points, frames, q, places, kind == SLIDER)


@kernel
def accept_point(p, points, frames, places):
    """Carry what a point of a rod remembers of its frame to its place."""
    kind = points.kind[p]
    if kind == SPLINE or kind == DISCRETE or kind == SLIDER:
        rod.accept(p, frames, places)


@kernel
def pull_back(p, f, m, weight, points, places, out, at):
    """Add weight·(J_xᵀ f + J_ωᵀ m) of point `p` to out[at : at + WIDTH]."""
    kind = points.kind[p]
    if kind == RIGID:
        rigid.pull_back(p, f, m, weight, places, out, at)
    elif kind == ZONE:
        zone.pull_back(p, f, m, weight, places, out, at)
    elif kind != WORLD:
        rod.pull_back(p, f, m, weight, points, places, out, at, kind == SLIDER)


@inlined
def dof_of(p, entry, points):
    """The degree of freedom behind an entry of the pull-back; -1: none."""
    kind = points.kind[p]
    if kind == WORLD:
        return -1
    if kind == RIGID:
        return rigid.dof_of(p, entry, points)
    if kind == ZONE:
        return zone.dof_of(p, entry, points)
    return rod.dof_of(p, entry, points, kind == SLIDER)


@kernel
def diagonal_slot(p, entry, points):
    """Where the diagonal entry of the degree of freedom behind `entry` of point `p` stands in the matrix."""
    kind = points.kind[p]
    if kind == RIGID:
        return rigid.diagonal_slot(p, entry, points)
    if kind == ZONE:
        return zone.diagonal_slot(p, entry, points)
    return rod.diagonal_slot(p, entry, points)


@kernel
def add_wrench(p, f, m, weight, points, places, small, force):
    """Add the generalised forces of the wrench (f, m) at point `p` to `force`; `small` has WIDTH entries."""
    for i in range(WIDTH):
        small[i] = 0.0
    pull_back(p, f, m, weight, points, places, small, 0)
    for i in range(WIDTH):
        dof = dof_of(p, i, points)
        if dof >= 0:
            force[dof] += small[i]


@kernel
def point_rates(p, points, places, v, out):
    """Velocity (m/s) and angular velocity (rad/s) of point `p` for the rates `v`, into out[0:6]."""
    kind = points.kind[p]
    for a in range(6):
        out[a] = 0.0
    if kind == RIGID:
        rigid.rates(p, points.base[p], places, v, out)
    elif kind == ZONE:
        zone.rates(p, points, places, v, out)
    elif kind != WORLD:
        rod.rates(p, points, places, v, out, kind == SLIDER)


@kernel
def add_point_stiffness(p, K, points, places, values):
    """Add JᵀKJ of point `p`, K a symmetric 3×3 stiffness (9-tuple) of its place, to its own body's part of `values`."""
    kind = points.kind[p]
    if kind == RIGID:
        rigid.add_stiffness(points.block[p], K, values)
    elif kind == ZONE:
        zone.add_stiffness(p, K, points, places, values)
    elif kind != WORLD:
        rod.add_stiffness(p, K, points, places, values, kind == SLIDER)


@inlined
def is_angle(p, entry, points):
    """Whether the degree of freedom behind an entry of the pull-back is an angle."""
    kind = points.kind[p]
    if kind == RIGID:
        return rigid.is_angle(entry)
    if kind == ZONE:
        return zone.is_angle(entry)
    return rod.is_angle(entry)


@inlined
def turning_body(p, entry, points):
    """The rigid body whose attitude the degree of freedom behind an entry turns; -1: the entry is a number of q."""
    kind = points.kind[p]
    if kind == RIGID:
        return rigid.turning_body(p, entry, points)
    if kind == ZONE:
        return zone.turning_body(p, entry, points)
    return -1
