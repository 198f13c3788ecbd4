"""Rods where a step ends: looked for anew, where they have moved so far that others than those found may have met.

Contacts are found where a step begins, within a margin that counts with the speeds of then, and their rows are planes.
A rope that is jerked, or a knot drawn tight, moves farther: places meet that had no row, or slide on so far that planes
say little. So what has moved by more than its margin allows, or by a fiftieth of its radius, is looked at once more at
the iterate. Of each closest pair there, with the normal n and the vectors d from the one place to the other,

- the surfaces may not overlap by more than a step may leave, and they had when it began;
- the same two places of the rods must have been on the same sides before: d_before · n > SIDE (r_a + r_b). Rods that
  have passed through each other end with the opposite sign.

Of rods that move farther the way itself is looked at (`crossings`), for there the pair may be another one than before.
A step that breaks this is divided (`solve.stepper`). The search reaches as far as the rods have moved: what has passed
through within the step is no farther apart at its end.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.frames import get3
from sennit.bodies.kernels.points import SPLINE
from sennit.compilation import inlined, kernel, merged, tolerance
from sennit.contact.kernels.curves import discrete_at, radius_at, spline_at
from sennit.contact.kernels.outline import outline
from sennit.contact.kernels.rods import rod_rod
from sennit.geometry.kernels.algebra import dot3, sub3
from sennit.touching.kernels.crossings import find_crossing, keep_outline

RODS_MISSED = 8
"""What a step missed, besides `solve.kernels.codes`: rods would overlap that were not looked at, or pass through."""
FAR = 0.02
"""Radii by which a rod may move in a step without being looked at once more."""
MORE = tolerance(1e-6, 1e-4)
"""Radii by which what is deeper already may seem to get deeper."""
SIDE = 0.3
"""Part of both radii by which the places of a pair must have been on the sides of each other where they end."""


@inlined
def place_on(kind, body, u, q, scene):
    """A place of a rod's centre line."""
    if kind == SPLINE:
        return spline_at(scene.splines.rods, body, q, u)[0]
    return discrete_at(scene.discretes.rods, body, q, u)[0]


@inlined
def radius_of(kind, body, u, scene):
    """Radius of a rod at u, m."""
    return radius_at(scene.splines, body, u) if kind == SPLINE else radius_at(scene.discretes, body, u)


@inlined
def largest_way(rods, rod, before, after):
    """How far a control point of a rod has moved at most, m."""
    largest = 0.0
    for i in range(rods.count[rod]):
        o = rods.dof[rod] + 4 * i
        x, y, z = after[o] - before[o], after[o + 1] - before[o + 1], after[o + 2] - before[o + 2]
        largest = max(largest, x * x + y * y + z * z)
    return math.sqrt(largest)


@merged
def rods_went_far(scene):
    """Whether rods must be looked at where the step ends; their margins are then what they have moved."""
    touch = scene.touch
    far = False
    for kind in range(2):
        rods = scene.splines.rods if kind == 0 else scene.discretes.rods
        sides = touch.splines if kind == 0 else touch.discretes
        for rod in range(rods.dof.size):
            if sides.collider[rod] >= 0:
                way = largest_way(rods, rod, scene.motion.q, scene.trial.q)
                far = far or way > 0.5 * sides.margin[rod] or way > FAR * rods.radius[rod]
                sides.margin[rod] = 2.0 * way
    return far


@kernel
def ways_cross(scene):
    """Whether a static iteration, as it was solved, takes rods through each other or themselves.

    In no other way can a knot be lost: of strands that move by many radii a contact that is found where they begin
    says nothing. `outline` has found the rods where the iteration begins.
    """
    touch, trial = scene.touch, scene.trial
    far = False
    for kind in range(2):
        rods = scene.splines.rods if kind == 0 else scene.discretes.rods
        sides = touch.splines if kind == 0 else touch.discretes
        for rod in range(rods.dof.size):
            if sides.collider[rod] >= 0:
                way = 0.0
                for i in range(rods.count[rod]):
                    o = rods.dof[rod] + 4 * i
                    x, y, z = trial.dq[o], trial.dq[o + 1], trial.dq[o + 2]
                    way = max(way, x * x + y * y + z * z)
                way = math.sqrt(way)
                far = far or way > FAR * rods.radius[rod]
                sides.margin[rod] = 2.0 * way
    if not far:
        return False
    keep_outline(touch.search)
    led = touch.flight  # nothing flies in statics
    for i in range(led.size):
        led[i] = trial.q[i] + trial.dq[i]
    outline(
        scene.splines, scene.discretes, touch.splines, touch.discretes, touch.colliders, touch.laws, touch.ties,
        led, touch.search,
    )  # fmt: skip
    for i in range(led.size):
        led[i] = 0.0
    return find_crossing(touch) > 0.0


@merged
def overlap_before(e, scene):
    """The deepest overlap that the two rods of an end's contact had where the step began, m."""
    contacts, ends = scene.touch.contacts, scene.touch.ends
    deepest = 0.0
    for k in range(min(scene.touch.state.found[0], contacts.gap.size)):
        if (
            contacts.first_kind[k] == ends.first_kind[e]
            and contacts.first[k] == ends.first[e]
            and contacts.second_kind[k] == ends.second_kind[e]
            and contacts.second[k] == ends.second[e]
        ):
            deepest = max(deepest, -contacts.gap[k])
    return deepest


@kernel
def judge_ends(allowed, scene):
    """Look at rods where the step ends. Returns by how much two of them overlap or have passed beyond what is
    `allowed` (radii), m, and the number of their contact among `ends`; -1: none.
    """
    touch = scene.touch
    ends, motion = touch.ends, scene.motion
    touch.state.ended[0] = 0
    if scene.settings.static[0] == 1 or not rods_went_far(scene):
        return 0.0, -1
    keep_outline(touch.search)
    outline(
        scene.splines, scene.discretes, touch.splines, touch.discretes, touch.colliders, touch.laws, touch.ties,
        scene.trial.q, touch.search,
    )  # fmt: skip
    touch.state.ended[0] = rod_rod(touch.colliders, touch.laws, touch.ties, touch.search, ends, 0)
    worst, culprit = 0.0, -1
    for e in range(min(touch.state.ended[0], ends.gap.size)):
        kind, body, other_kind, other = ends.first_kind[e], ends.first[e], ends.second_kind[e], ends.second[e]
        radius = radius_of(kind, body, ends.first_at[e], scene)
        other_radius = radius_of(other_kind, other, ends.second_at[e], scene)
        touch.state.deepest[0] = max(touch.state.deepest[0], -ends.gap[e])
        size = allowed * min(radius, other_radius)
        over = -ends.gap[e] - size
        d = sub3(
            place_on(kind, body, ends.first_at[e], motion.q, scene),
            place_on(other_kind, other, ends.second_at[e], motion.q, scene),
        )
        if over > worst:
            # what is deeper already may not get deeper by and by
            over = -ends.gap[e] - max(size, overlap_before(e, scene) + MORE() * radius)
            if kind == other_kind and body == other:
                # places of a fold that were too near along the rod to be a contact where the step began
                over = min(over, math.sqrt(dot3(d, d)) - 2.0 * radius - ends.gap[e] - size)
        passed = SIDE * (radius + other_radius) - dot3(d, get3(ends.normal, e))
        over = max(over, passed)
        if not over <= worst:
            worst, culprit = over, e
    if culprit < 0:
        passed = find_crossing(touch)
        if passed > 0.0:
            return passed, 0
    return worst, culprit
