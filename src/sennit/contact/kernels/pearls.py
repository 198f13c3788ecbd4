"""Contacts of pearls with the walls of tubes that hold their rods.

A pearl of radius r is a ball about a place of its rod. With the distance ρ from the nearest axis of a bore of radius R
its gap is R − ρ − r, the largest of all bores that it is in. As with rods (`rod_shape`) it is looked at wherever it is
in a bore, since forces may take it to any wall within a step, and measured where the step begins if it rests on the
wall, else where free flight takes it. Outside it touches walls and rims as any ball does.
"""

from __future__ import annotations

from sennit.bodies.kernels.points import SLIDER, WORLD
from sennit.compilation import kernel
from sennit.contact.kernels.put import put
from sennit.contact.kernels.rod_shape import distance_of, exchange_poses, stays_on_wall
from sennit.geometry.kernels.algebra import dot3, put3, row3, scale3, sub3
from sennit.geometry.kernels.distances import TUBES, closest, in_bore

_TURNED = 0.5
"""Cosine of the angle between normals at the start and at free flight from which on the start counts, outside."""


@kernel
def find_pearl(a, b, law, touch, contacts, count):
    """Add the contact of pearl `a` with tube `b`, if it is near its wall or in a bore: how many then."""
    shapes, own = touch.shapes, touch.shapes.shapes
    x, r = row3(own.place, a), own.size[a, 0]
    d, p1, p2, p3, n1, n2, n3 = closest(own, b, x[0], x[1], x[2])
    held = in_bore(own, b, x[0], x[1], x[2])[0] > d - 1e-9 * r
    if not (held or d - r <= shapes.margin[a] + shapes.margin[b] + touch.laws.margin[law]):
        return count
    places = sub3(x, scale3(r, (n1, n2, n3))), (p1, p2, p3)
    put(
        contacts, count, (SLIDER, WORLD), (shapes.slider[a], shapes.rigid[b]), (0, shapes.collider.size * a + b), b,
        law, 1, (shapes.at[a], 0.0), places, (n1, n2, n3), d - r,
    )  # fmt: skip
    if count < contacts.gap.size:
        contacts.first_shape[count] = a
        contacts.bore[count] = 1.0 if held else 0.0
    return count + 1


@kernel
def measure_pearls(shapes, contacts, begin, end):
    """Measure what was found at free flight, but for what rests on its wall; its places go along with the pearl."""
    own = shapes.shapes
    for i in range(begin, end):
        x, r = row3(own.place, contacts.first_shape[i]), own.size[contacts.first_shape[i], 0]
        d, _, _, _, n1, n2, n3 = distance_of(i, x, shapes, contacts)
        cosine = dot3((n1, n2, n3), row3(contacts.normal, i))
        if contacts.bore[i] > 0.0:
            stays = stays_on_wall(cosine, contacts.gap[i], d - r, r)
        else:
            stays = cosine <= _TURNED
        if not stays:
            put3(contacts.normal, i, (n1, n2, n3))
            contacts.gap[i] = d - r
            contacts.at_start[i] = 0
        normal = row3(contacts.normal, i)
        put3(contacts.first_place, i, sub3(x, scale3(r, normal)))
        put3(contacts.second_place, i, sub3(x, scale3(r + contacts.gap[i], normal)))


@kernel
def pearl_tube(touch, contacts, count):
    """Add all contacts of pearls with tubes of the world to the `count` that there are: how many then."""
    shapes, begin = touch.shapes, count
    exchange_poses(shapes)
    for a in range(shapes.collider.size):
        if shapes.slider[a] < 0 or shapes.margin[a] < 0.0:
            continue  # no pearl, or off its rod
        for b in range(shapes.collider.size):
            law = int(touch.colliders.law[shapes.collider[a], shapes.collider[b]])
            if law > 0 and shapes.shapes.kind[b] == TUBES:
                count = find_pearl(a, b, law, touch, contacts, count)
    exchange_poses(shapes)
    measure_pearls(shapes, contacts, begin, min(count, contacts.gap.size))
    return count
