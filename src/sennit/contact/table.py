"""The tables of contact: shapes, laws, and the contacts that a step has found.

A *collider* is whatever can touch: a rod, a rigid body with its shapes, a pearl, an obstacle of the world. Colliders
are numbered, and a square table says which law holds between two of them; law 0 is no contact.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from sennit.bodies.kernels.points import DISCRETE, SPLINE
from sennit.contact.kernels.outline import GROUP
from sennit.contact.kernels.rows import SIDE
from sennit.geometry.tables import ShapeTable
from sennit.tables import PARAMETER, PLAN, STATE, WORK, Table, number, table, whole

__all__ = [
    "Colliders",
    "ContactRows",
    "Contacts",
    "Laws",
    "Manifold",
    "Memory",
    "ObstacleRows",
    "RodColliders",
    "RodOutlines",
    "RodSearch",
    "ShapeColliders",
    "SkinFaces",
    "SkinFans",
    "Skins",
    "Sleeves",
    "Slots",
    "SoftColliders",
    "SpanGroups",
    "Spans",
    "Ties",
    "Touch",
]


class Laws(Table):
    """How two things that touch resist each other. Row 0 is no contact."""

    friction = number(PARAMETER, "coefficient of sliding friction")
    static_friction = number(PARAMETER, "coefficient that must be overcome before sliding begins; at least `friction`")
    restitution = number(PARAMETER, "speed of parting over speed of approach in a shock")
    rolling_friction = number(PARAMETER, "largest torque against rolling over the normal force, m")
    twisting_friction = number(PARAMETER, "largest torque against turning about the normal over the normal force, m")
    margin = number(PARAMETER, "distance below which a pair is looked at, m")


class Colliders(Table):
    """What can touch, numbered: rods of both models, rigid bodies, pearls, obstacles, zones."""

    law = whole(PARAMETER, "law between two colliders; 0: they do not touch", "rows", kind=np.uint16)
    tied = whole(WORK, "number of ties that each takes part in")
    pressed = whole(WORK, "last step in which two colliders pressed on each other", "rows")


class RodColliders(Table):
    """One row for each rod of one model, in the order of its table `rods`."""

    collider = whole(PLAN, "its number; -1: it touches nothing")
    coarse = whole(WORK, "1: it has wound more tightly than its spans can follow")
    margin = number(WORK, "distance at which something must be looked at in this step, m")
    least_margin = number(WORK, "what it must be at least, since the step went that far when it was tried, m")


class Ties(Table):
    """Places of two colliders that a constraint ties: what lies that near to both does not touch."""

    first = whole(PLAN, "collider")
    second = whole(PLAN, "collider; -1: none")
    first_at = number(PLAN, "place u on a rod; of other things 0")
    second_at = number(PLAN, "place u on a rod; of other things 0")
    reach = number(PLAN, "distance along a rod within which nothing touches, m")


class ObstacleRows(Table):
    """One row for each obstacle."""

    point = whole(PLAN, "number of the point of the world that carries it")
    surface_velocity = number(PARAMETER, "velocity of its surface past itself, in its own frame, m/s", 3)


class ShapeColliders(Table):
    """The shapes of rigid bodies, pearls and obstacles, one row for each, in the order of `shapes`."""

    shapes = table(ShapeTable, "where they are in this step, and their forms")
    collider = whole(PLAN, "whose shape it is")
    rigid = whole(PLAN, "number of the rigid body that carries it; -1: none")
    slider = whole(PLAN, "number of the slider that carries it, a pearl; -1: none")
    obstacle = whole(PLAN, "number of the obstacle that it belongs to; -1: none")
    place = number(PARAMETER, "its origin in the frame of what carries it, m", 3)
    turn = number(PARAMETER, "rotation from its own frame to that of what carries it", 3, 3)
    at = number(WORK, "of a pearl, its place u on its rod")
    margin = number(WORK, "distance at which something must be looked at in this step, m")
    least_margin = number(WORK, "as of `RodColliders`, m")
    place_before = number(WORK, "where its origin was when the step began, m", 3)
    turn_before = number(WORK, "its rotation then", 3, 3)
    low = number(WORK, "lowest corner of a box that holds it, m", 3)
    high = number(WORK, "highest corner, m", 3)


class SoftColliders(Table):
    """One row for each zone that can be touched."""

    collider = whole(PLAN, "its number among colliders")
    zone = whole(PLAN, "its number among zones")
    grain = number(PLAN, "mean length of its mesh's edges, m: of two zones that of the finer one touches at vertices")
    first_face = whole(PLAN, "its first row of `SkinFaces`")
    faces = whole(PLAN, "number of its faces there")
    margin = number(WORK, "distance at which something must be looked at in this step, m: the largest of its vertices")
    low = number(WORK, "lowest corner of a box that holds its faces at both ends of the step, m", 3)
    high = number(WORK, "highest corner, m", 3)


class SkinFaces(Table):
    """Faces of zones that rods and other zones may touch, one row for each: those whose corners are in `Skins`, or
    fixed.
    """

    soft = whole(PLAN, "row of its zone in `SoftColliders`")
    face = whole(PLAN, "its number in the zone's mesh")
    corner = whole(PLAN, "rows of its corners in `Skins`, the first of which is none that is fixed; -1: fixed", 3)
    rest = number(PARAMETER, "where they are at rest in the frame of what carries the zone, m", 3, 3)
    place_before = number(WORK, "where its corners were when the step began, m", 3, 3)
    place = number(WORK, "where free flight takes them, and where the step ends, m", 3, 3)
    beside = whole(PLAN, "rows of the faces beyond the edges that face its corners; -1: none, or round a sharp edge", 3)
    fan = whole(PLAN, "rows of its corners in `SkinFans`", 3)
    reach = number(WORK, "distance from its first corner within which it lies, m")


class SkinFans(Table):
    """Fans of faces that meet at a vertex without a sharp edge between them, one row for each."""

    normal_before = number(WORK, "mean unit normal of its faces when the step began", 3)
    normal = number(WORK, "the same where free flight takes them, and where the step ends", 3)


class Skins(Table):
    """Vertices of zones that something may touch, one row for each: those whose displacements the scene has."""

    collider = whole(PLAN, "number of its zone among colliders")
    zone = whole(PLAN, "number of its zone among zones")
    soft = whole(PLAN, "row of its zone in `SoftColliders`")
    vertex = whole(PLAN, "its number in the zone's mesh")
    dof = whole(PLAN, "first of its three degrees of freedom")
    carrier = whole(PLAN, "number of the rigid body that carries the zone; -1: the world does")
    point = whole(PLAN, "number of the point of the world that carries it; -1: a body does")
    rest = number(PARAMETER, "where it is at rest in the frame of what carries it, m", 3)
    edge = number(PARAMETER, "length of the mesh's edges there, m")
    margin = number(WORK, "distance at which something must be looked at in this step, m")
    least_margin = number(WORK, "as of `RodColliders`, m")
    place_before = number(WORK, "where it was when the step began, m", 3)
    place = number(WORK, "where free flight takes it, m", 3)


class Sleeves(Table):
    """Rods that are tubes, one row for each rod inside one."""

    inner = whole(PLAN, "row of the rod inside in `RodOutlines`")
    outer = whole(PLAN, "row of the rod that is the tube")
    law = whole(PARAMETER, "law that holds between them; 0: none")
    bore = number(PARAMETER, "inner radius of the tube, m")


class RodOutlines(Table):
    """One row for each rod of both models, splines first: what is asked of it when contacts are looked for."""

    kind = whole(PLAN, "SPLINE or DISCRETE (`bodies.kernels.points`)")
    row = whole(PLAN, "its row among the rods of its kind")
    spans = whole(PLAN, "number of its spans")
    closed = whole(PLAN, "1 if its ends are joined")
    first_span = whole(PLAN, "its first row of `Spans`")
    first_group = whole(PLAN, "its first row of `SpanGroups`")
    groups = whole(PLAN, "number of its groups")
    collider = whole(WORK, "its number among colliders; -1: it touches nothing")
    radius = number(WORK, "radius of its section where it is thickest, m")
    arc = number(WORK, "length of a span at rest, m")
    margin = number(WORK, "distance at which something must be looked at, m: that of `RodColliders`")
    low = number(WORK, "lowest corner of a box that holds it, with its surface and half the margin, m", 3)
    high = number(WORK, "highest corner, m", 3)
    order = whole(WORK, "rods by the lowest place of their boxes along the axis of the sweep")
    near = whole(WORK, "rods whose boxes meet that of one rod")


class SpanGroups(Table):
    """One row for each `GROUP` neighbouring spans of a rod."""

    low = number(WORK, "lowest corner of a box that holds them, as in `RodOutlines`, m", 3)
    high = number(WORK, "highest corner, m", 3)


class Spans(Table):
    """One row for each span of each rod."""

    curve = number(WORK, "c0 … c3 of its centre line c0 + c1 t + c2 t² + c3 t³, t from 0 to 1, m", 4, 3)
    sag = number(WORK, "distance that it keeps from its chord at most, m")
    curve_before = number(WORK, "c0 … c3 where the step begins, while `curve` is where it ends, m", 4, 3)
    sag_before = number(WORK, "the sag there, m")
    thinner = number(WORK, "by how much its rod is thinner than `RodOutlines.radius`, at its begin and its end, m", 2)
    crossed = whole(WORK, "1: a closest pair pressed on it, or on its neighbour, in the last step")
    rests = whole(WORK, "1: looked at in statics; 2: there it pressed on a shape between its knots before; else 0")
    low = number(WORK, "lowest corner of a box that holds it, as in `RodOutlines`, m", 3)
    high = number(WORK, "highest corner, m", 3)


class RodSearch(Table):
    """Where contacts of rods are looked for: boxes about rods, about groups of their spans, about spans."""

    rods = table(RodOutlines, "the rods")
    groups = table(SpanGroups, "their spans by eights")
    spans = table(Spans, "their spans")

    @classmethod
    def over(cls, splines: Any, discretes: Any) -> Self:
        """That of all rods of both models (`RodKind`); `contact.kernels.outline` fills it."""
        rods = RodOutlines(rows=len(splines.rods) + len(discretes.rods))
        at = 0
        for kind, own in ((SPLINE, splines.rods), (DISCRETE, discretes.rods)):
            part = rods.part(at, at + len(own))
            part.kind[:], part.row[:] = kind, np.arange(len(own))
            part.spans[:], part.closed[:] = own.spans, own.closed
            at += len(own)
        rods.groups[:] = -(-rods.spans // GROUP)
        rods.first_span[1:] = np.cumsum(rods.spans)[:-1]
        rods.first_group[1:] = np.cumsum(rods.groups)[:-1]
        rods.order[:] = np.arange(len(rods))
        return cls(rods=rods, groups=SpanGroups(rows=rods.groups.sum()), spans=Spans(rows=rods.spans.sum()))


class Contacts(Table):
    """The contacts that a step looks at: each a pair of places with a normal, and three rows of the system.

    The first side is a rod wherever there is one, else a zone, else a pearl. A side's `kind` is that of a point:
    SPLINE, DISCRETE, RIGID, SLIDER, ZONE or WORLD (`bodies.kernels.points`). A zone is touched at a vertex if it is
    the first side, and on a face if it is the second.
    """

    first_kind = whole(WORK, "kind of the first side")
    second_kind = whole(WORK, "kind of the second side")
    first = whole(WORK, "its number among bodies of that kind")
    second = whole(WORK, "the same of the second; -1 for the world")
    first_feature = whole(WORK, "what of it touches: of a rod 2 span + way, of a zone 2 vertex, of a shape its number "
                          "and a feature of it")  # fmt: skip
    second_feature = whole(WORK, "the same of the second")
    law = whole(WORK, "law that holds")
    pressed_by = whole(WORK, "contact whose normal force bounds it: itself, or that whose turning it resists")
    at_start = whole(WORK, "1: measured where the step begins, 0: at free flight")
    first_at = number(WORK, "place u on the first side, if it is a rod; of a pearl, on its rod")
    second_at = number(WORK, "the same of the second")
    first_place = number(WORK, "place on its surface, m", 3)
    second_place = number(WORK, "place on the surface of the second, m", 3)
    normal = number(WORK, "unit vector from the second to the first", 3)
    gap = number(WORK, "distance of the surfaces along the normal, m; negative where they overlap")
    bore = number(
        WORK, "of what is held inside a rod, the inner radius of that, m; inside a tube of the world 1; else 0"
    )
    begun = number(WORK, "the same where the step begins; infinite if that is not known")
    first_shape = whole(WORK, "the shape of the first side, if it has one; of a zone the row in `Skins`")
    second_shape = whole(WORK, "the shape of the second side, if it has one; -1: it is a rod; of a zone the row in "
                         "`SkinFaces`")  # fmt: skip
    shares = number(WORK, "of a zone on the second side, shares of the face's corners in the place", 3)


class Memory(Table):
    """The forces of the last accepted step, by what touched."""

    count = whole(STATE, "how many there are", of=1)
    key = whole(STATE, "kinds, numbers and features of both sides", 6)
    force = number(STATE, "tangential force on the first side, world frame, N", 3)
    normal = number(STATE, "force along the normal, N")
    stuck = whole(STATE, "1: it did not slide")
    pair = whole(STATE, "numbers of both colliders", 2)
    taken = whole(WORK, "1: handed on to a contact of the present step")
    order = whole(WORK, "the forces by their keys")


class ContactRows(Table):
    """The three rows of each contact in `Contacts`, along the normal and two tangents, and what a solve finds of them.

    Rows measure the way that the first side makes relative to the second in the step, u = J Δq + offset, along the
    normal from touching on; their multipliers are the force on the first side. Those of a contact that resists turning
    (`kernels.turning`) measure angles times `lever`.
    """

    basis = number(WORK, "N, N′, NR of a rod's four control points", 16)
    key = whole(WORK, "kinds, numbers and first control points of both sides", 6)
    index = whole(WORK, "degrees of freedom of both sides; -1: none", 2 * SIDE)
    jacobian = number(WORK, "J", 3, 2 * SIDE)
    axes = number(WORK, "normal and tangents", 3, 3)
    shift = number(WORK, "way that the surface of an obstacle makes in the step, m", 3)
    offset = number(WORK, "u without Δq, m", 3)
    softness = number(WORK, "R, m/N", 3)
    memory = number(WORK, "tangential force of the last step, which a contact that sticks goes on from, N", 3)
    force = number(WORK, "λ, N", 3)
    way = number(WORK, "u, m", 3)
    gradient = number(WORK, "u + R (λ − m), m", 3)
    put_by = number(WORK, "λ to begin with, while shocks are followed, N", 3)
    trial_force = number(WORK, "λ that a line search tries, N", 3)
    trial_gradient = number(WORK, "its gradient, m", 3)
    least = number(WORK, "smallest force along the normal, N: 0, or that of a torque about it")
    most = number(WORK, "largest, N")
    bound = number(WORK, "largest tangential force, N")
    lever = number(WORK, "0, or (m) what angles are multiplied by in rows of turning")
    size = number(WORK, "what an overlap is small against, m")
    start = number(WORK, "gap where the step begins, m")
    overlap = number(WORK, "what overlaps there, as far as that is known, m")
    flight = number(WORK, "gap that free flight leads to, m")
    ordinary = number(WORK, "u along the normal without Δq, where nothing rebounds, m")
    before = number(WORK, "normal force of the shocks before in the same step, N")
    pace = number(WORK, "way along the normal in the step, with the shocks so far, m")
    base = number(WORK, "the same without Δq, m")
    thrown = number(WORK, "way along the normal that it must make at least after shocks, m; -1: any")
    strikes = whole(WORK, "1: free flight leads it into a shock")
    slides = whole(WORK, "1: a Newton step holds its tangential force on the bound")
    slot = whole(WORK, "its slot of the matrix; -1: left out of the problem")
    pressed = whole(WORK, "1: it carried a force in the last step")
    anchor = number(WORK, "stiffness with which a static solve holds it besides, N/m; 0: it does not")
    anchor_along = number(WORK, "the same along the surface, N/m")
    pair = whole(WORK, "numbers of both colliders", 2)
    stuck = whole(WORK, "1: it does not slide, or did not in the last step")
    inside = whole(WORK, "which of its rows the last Newton step had, see `kernels.law`")


class Slots(Table):
    """Room for three rows each in the matrix with contacts: by the bodies and spans that touch, in order of keys."""

    key = whole(PLAN, "kinds, numbers and first control points of both sides", 6)
    index = whole(PLAN, "degrees of freedom of both sides; -1: none", 2 * SIDE)
    place = whole(PLAN, "where its numbers begin")
    bend = whole(PLAN, "where its second derivatives begin in the scene's own matrix, in a static solve")
    contact = whole(WORK, "the contact that has it in this step; -1: none")
    idle = whole(WORK, "steps for which it had none")


class TouchState(Table):
    """Numbers of contact as a whole, in one row."""

    found = whole(WORK, "contacts that detection has found: `Contacts` may have room for fewer")
    ended = whole(WORK, "contacts of rods found where the step ends: `Touch.ends` may have room for fewer")
    chosen = whole(WORK, "those in the problem")
    active = whole(WORK, "those that carry a force")
    newton = whole(WORK, "factorisations of the matrix with contacts in the step")
    passes = whole(WORK, "how often bounds of friction were set")
    converged = whole(WORK, "0: Newton's method came to its limit")
    unseen = whole(WORK, "1: the step went farther than others were looked for")
    struck = whole(WORK, "1: something struck in a shock")
    rebounds = whole(WORK, "1: something of that has a restitution")
    again = whole(WORK, "1: the solve broke contacts, and is made again; 2: its forces, to go on from, are put by")
    straight = whole(PARAMETER, "1: a static solve takes the directions of contacts' forces as fixed")
    exact = whole(WORK, "1: the last Newton step has solved its problem, if the same rows act after it")
    step = whole(WORK, "accepted steps so far")
    dual = whole(PLAN, "unknowns of the second matrix before those of the slots")
    cables = whole(PLAN, "where the rows of cables begin in its numbers")
    cable_numbers = whole(PLAN, "how many numbers these have")
    reach = number(WORK, "gap after free flight up to which contacts are in the problem, m")
    way = number(WORK, "largest way that a static iteration would move anything that can touch, m")
    deepest = number(WORK, "deepest overlap where the step ends, m")
    work = number(WORK, "what moving obstacles do on the scene in the step, J")


class Manifold(Table):
    """Where two shapes touch: the points that `touch_shapes` has found, and its room to work in.

    The points are the first rows, as many as it returns. All vectors are in the world's frame.
    """

    first_place = number(WORK, "place on the surface of the first shape, m", 3)
    second_place = number(WORK, "place on the surface of the second shape, m", 3)
    normal = number(WORK, "unit vector from the second shape to the first", 3)
    gap = number(WORK, "distance of the two places along the normal, m; negative where the shapes overlap")
    feature = whole(WORK, "what touches what: stays the same while the same corners, edges and faces do")
    corner = number(WORK, "corners of the two sides that face each other: two places across the normal, height, m",
                    4, 3, of=2)  # fmt: skip
    label = whole(WORK, "which corners of the shapes those are", 4, of=2)
    map = number(
        WORK, "of a face or a disc, its own two coordinates and its height over the plane across the normal", 11, of=2
    )
    simplex = number(WORK, "corners of a simplex of differences of places, m", 3, of=4)
    simplex_first = number(WORK, "the first of the two places that a corner is the difference of, m", 3, of=4)
    weight = number(WORK, "shares of the corners in the place that is closest to the origin", of=4)
    triangle = number(WORK, "corners of one triangle, m", 3, 3, of=1)
    hull = number(WORK, "corners of a polytope of differences, m", 3, of=96)
    hull_first = number(WORK, "the first of the two places that a corner is the difference of, m", 3, of=96)
    side = whole(WORK, "corners of its triangles; the first is -1 where there is none", 3, of=192)
    facing = number(WORK, "outward unit normal of its triangles and their distance from the origin", 4, of=192)
    rim = whole(WORK, "edges round what of the polytope is replaced", 2, of=192)


class Touch(Table):
    """Everything of contact but the matrix with its rows."""

    state = table(TouchState, "counts")
    laws = table(Laws, "laws of contact")
    colliders = table(Colliders, "which law holds between whom")
    splines = table(RodColliders, "spline rods")
    discretes = table(RodColliders, "discrete rods")
    shapes = table(ShapeColliders, "shapes of rigid bodies, pearls and obstacles")
    obstacles = table(ObstacleRows, "obstacles")
    search = table(RodSearch, "rods, spans and boxes about them")
    soft = table(SoftColliders, "zones")
    skins = table(Skins, "vertices of zones")
    faces = table(SkinFaces, "faces of zones")
    fans = table(SkinFans, "normals at their corners")
    sleeves = table(Sleeves, "rods inside rods")
    ties = table(Ties, "places where nothing touches")
    manifold = table(Manifold, "points of one pair of shapes")
    contacts = table(Contacts, "what was found")
    ends = table(Contacts, "what of rods was found where the step ends")
    rows = table(ContactRows, "their rows")
    slots = table(Slots, "room in the matrix")
    memory = table(Memory, "forces of the last step")
    diagonal = number(WORK, "of the scene's matrix, by degrees of freedom", of="dofs")
    flight = number(WORK, "way that free flight makes in the step, m or rad", of="dofs")
    moves = number(WORK, "how one contact's places move apart with its degrees of freedom", 3, of=2 * SIDE)
    slopes = number(WORK, "how the slopes of its gap along both rods change with them", 2, of=2 * SIDE)
    hessian = number(WORK, "second derivatives of its distance by that way, 1/m", 3, of=3)
