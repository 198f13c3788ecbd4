"""Contacts of zones: vertices of their surfaces with shapes.

A zone touches at its vertices, as `Zone.press` does. A vertex at rest at X in the frame (c, R) of what carries the zone
is displaced by u, which is three of the scene's degrees of freedom: x = c + R (X + u). Its gap to a shape is the signed
distance there, measured where free flight takes both; where the normal, seen from the shape, has turned by more than
60° since the step began, a vertex has passed an edge or the whole shape, and all is measured where it was then.
"""

from __future__ import annotations

from sennit.bodies.kernels.frames import get3
from sennit.bodies.kernels.points import ZONE
from sennit.compilation import inlined, kernel, merged
from sennit.contact.kernels.put import carrier_of, put
from sennit.geometry.kernels.algebra import add3, dot3, mat_vec, put3, quat_matrix, row9, sub3
from sennit.geometry.kernels.distances import closest

_TURNED = 0.5
"""Cosine of the angle between normals at the start and at free flight from which on the start counts."""


@inlined
def frame_of(i, scene, q, quat, before):
    """Origin and rotation of what carries the zone of vertex i; `before`: of the world, where the step began."""
    skins, points = scene.touch.skins, scene.points
    body, w = skins.carrier[i], skins.point[i]
    if body >= 0:
        o = scene.rigids.dof[body]
        return (q[o], q[o + 1], q[o + 2]), quat_matrix((quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3]))
    if before:
        return get3(points.anchor_last, w), row9(points.anchor_frame_last, w, 0)
    return get3(points.anchor, w), row9(points.anchor_frame, w, 0)


@kernel
def vertex_at(i, scene, q, quat, before):
    """Where vertex i is for `q` and the attitudes `quat`."""
    skins = scene.touch.skins
    origin, m = frame_of(i, scene, q, quat, before)
    o, rest = skins.dof[i], get3(skins.rest, i)
    return add3(origin, mat_vec(m, (rest[0] + q[o], rest[1] + q[o + 1], rest[2] + q[o + 2])))


@merged
def place_skins(scene):
    """Vertices of zones where the step begins and where free flight ends it; in statics both are at the iterate."""
    skins = scene.touch.skins
    static = scene.settings.static[0] == 1
    for i in range(skins.collider.size):
        x = vertex_at(i, scene, scene.trial.q_base, scene.rigids.quat_base, False)
        put3(skins.place, i, x)
        put3(skins.place_before, i, x if static else vertex_at(i, scene, scene.motion.q, scene.rigids.quat, True))


@inlined
def shift_of_vertex(i, scene):
    """How far the world moves vertex i in the step, m."""
    q, quat = scene.trial.q_base, scene.rigids.quat_base
    if scene.touch.skins.point[i] < 0 or scene.settings.static[0] == 1:
        return 0.0, 0.0, 0.0
    return sub3(vertex_at(i, scene, q, quat, False), vertex_at(i, scene, q, quat, True))


@inlined
def seen_from(s, x, shapes):
    """A place of where the step begins, carried along with shape s to where that ends it."""
    own, before, d = shapes.shapes, shapes.turn_before, sub3(x, get3(shapes.place_before, s))
    local = (
        before[s, 0, 0] * d[0] + before[s, 1, 0] * d[1] + before[s, 2, 0] * d[2],
        before[s, 0, 1] * d[0] + before[s, 1, 1] * d[1] + before[s, 2, 1] * d[2],
        before[s, 0, 2] * d[0] + before[s, 1, 2] * d[1] + before[s, 2, 2] * d[2],
    )
    return (
        own.place[s, 0] + own.turn[s, 0, 0] * local[0] + own.turn[s, 0, 1] * local[1] + own.turn[s, 0, 2] * local[2],
        own.place[s, 1] + own.turn[s, 1, 0] * local[0] + own.turn[s, 1, 1] * local[1] + own.turn[s, 1, 2] * local[2],
        own.place[s, 2] + own.turn[s, 2, 0] * local[0] + own.turn[s, 2, 1] * local[1] + own.turn[s, 2, 2] * local[2],
    )


@inlined
def is_near(x, shapes, s, wider):
    """Whether a place is within the box of a shape, widened."""
    return (
        shapes.low[s, 0] - wider <= x[0] <= shapes.high[s, 0] + wider
        and shapes.low[s, 1] - wider <= x[1] <= shapes.high[s, 1] + wider
        and shapes.low[s, 2] - wider <= x[2] <= shapes.high[s, 2] + wider
    )


@kernel
def skin_shape(touch, contacts, count):
    """Add all contacts of zones with shapes to the `count` that there are: how many then.

    `place_skins` has placed the vertices; shapes are where free flight takes them, and have their boxes.
    """
    skins, shapes = touch.skins, touch.shapes
    for i in range(skins.collider.size):
        for s in range(shapes.collider.size):
            law = int(touch.colliders.law[skins.collider[i], shapes.collider[s]])
            limit = skins.margin[i] + shapes.margin[s] + touch.laws.margin[law]
            x = get3(skins.place, i)
            if law == 0 or not is_near(x, shapes, s, limit):
                continue
            y = seen_from(s, get3(skins.place_before, i), shapes)
            gap, p0, p1, p2, n0, n1, n2 = closest(shapes.shapes, s, x[0], x[1], x[2])
            begun, b0, b1, b2, m0, m1, m2 = closest(shapes.shapes, s, y[0], y[1], y[2])
            place, normal, at_start = (p0, p1, p2), (n0, n1, n2), 0
            if dot3(normal, (m0, m1, m2)) <= _TURNED:
                gap, place, normal, at_start = begun, (b0, b1, b2), (m0, m1, m2), 1
            if not gap <= limit:
                continue
            kind, number, at = carrier_of(s, shapes)
            put(
                contacts, count, (ZONE, kind), (skins.zone[i], number), (2 * skins.vertex[i], s), s, law, at_start,
                (0.0, at), (x, place), normal, gap,
            )  # fmt: skip
            if count < contacts.gap.size:
                contacts.first_shape[count], contacts.begun[count] = i, begun
            count += 1
    return count
