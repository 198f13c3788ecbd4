"""How far from things others are looked at in a step, and whether they went farther than that.

What is farther from each other than the margins of both is not looked at. That is right as long as a step takes none
of them by more than its own margin from where it was looked for: else it is made again, with margins as wide as that.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.frames import get3
from sennit.compilation import inlined, kernel, merged, tolerance
from sennit.contact.kernels.curves import spline_at
from sennit.contact.kernels.skins import vertex_at
from sennit.geometry.kernels.algebra import dot3, sub3

NEARBY = 0.2
"""Radii of a rod from which something is looked at, however slow it is."""
SKIN = 0.25
"""Edges of a zone's mesh from which something is looked at."""
LOOK_AHEAD = 2.0
"""Steps ahead for which a pair's speed counts."""
WIDER = 1.5
"""Margin of a step that is made again, over what it needs."""
GRAIN = tolerance(1e-9, 1e-7)
"""m that a body may stray anyhow."""


@inlined
def speed_of(rods, rod, v):
    """Largest speed of a rod's control points, m/s."""
    largest = 0.0
    for i in range(rods.count[rod]):
        o = rods.dof[rod] + 4 * i
        largest = max(largest, v[o] * v[o] + v[o + 1] * v[o + 1] + v[o + 2] * v[o + 2])
    return math.sqrt(largest)


@merged
def set_margins(scene):
    """How far from each rod things are looked at in this step; in statics as far as the iteration may take both."""
    touch, v, h = scene.touch, scene.motion.v, abs(scene.step.step[0])
    static, reach = scene.settings.static[0] == 1, scene.step.way[0]
    gravity = get3(scene.step.gravity, 0)
    fall = h * h * math.sqrt(dot3(gravity, gravity))
    for kind in range(2):
        rods = scene.splines.rods if kind == 0 else scene.discretes.rods
        sides = touch.splines if kind == 0 else touch.discretes
        for rod in range(rods.dof.size):
            if sides.collider[rod] >= 0:
                way = reach if static else h * speed_of(rods, rod, v) + fall
                margin = NEARBY * rods.radius[rod] + LOOK_AHEAD * way
                sides.margin[rod] = max(margin, sides.least_margin[rod])
    for s in range(touch.shapes.collider.size):
        body, slider = touch.shapes.rigid[s], touch.shapes.slider[s]
        way = 0.0
        if slider >= 0:
            w = get3(scene.sliders.velocity, slider)
            way = reach if static else h * math.sqrt(dot3(w, w)) + fall
            if scene.sliders.attached[slider] == 0:
                touch.shapes.margin[s] = -math.inf  # off its rod it is nowhere
                continue
        elif body >= 0:
            o = scene.rigids.dof[body]
            ball = min(touch.shapes.shapes.ball[s], 1e9)
            spin = math.sqrt(v[o + 3] * v[o + 3] + v[o + 4] * v[o + 4] + v[o + 5] * v[o + 5])
            way = math.sqrt(v[o] * v[o] + v[o + 1] * v[o + 1] + v[o + 2] * v[o + 2]) + spin * ball
            way = reach if static else h * way + fall
        else:
            d = sub3(get3(touch.shapes.shapes.place, s), get3(touch.shapes.place_before, s))
            way = math.sqrt(dot3(d, d))
        touch.shapes.margin[s] = max(LOOK_AHEAD * way, touch.shapes.least_margin[s])
    skins = touch.skins
    for i in range(skins.collider.size):
        d = sub3(get3(skins.place, i), get3(skins.place_before, i))
        way = reach if static else SKIN * skins.edge[i] + LOOK_AHEAD * math.sqrt(dot3(d, d))
        skins.margin[i] = max(way, skins.least_margin[i])
    soft = touch.soft
    for z in range(soft.zone.size):
        soft.margin[z] = 0.0
    for i in range(skins.collider.size):
        soft.margin[skins.soft[i]] = max(soft.margin[skins.soft[i]], skins.margin[i])


@inlined
def strayed(o, from_, to):
    """Distance of a control point or a centre from where it was, squared, m²."""
    d = (to[o] - from_[o], to[o + 1] - from_[o + 1], to[o + 2] - from_[o + 2])
    return dot3(d, d)


@inlined
def pearl_way(slider, scene):
    """How far a step has taken a pearl from where free flight would, m."""
    sliders, rods, trial = scene.sliders, scene.splines.rods, scene.trial
    rod, dof, scale = sliders.rod[slider], sliders.dof[slider], sliders.scale[slider]
    to = spline_at(rods, rod, trial.q, trial.q[dof] * scale)[0]
    d = sub3(to, spline_at(rods, rod, trial.q_base, trial.q_base[dof] * scale)[0])
    return math.sqrt(dot3(d, d))


@kernel
def went_too_far(scene):
    """Whether something was taken farther by the step than it was looked at; its margin is made wide enough."""
    touch, motion, trial, far = scene.touch, scene.motion, scene.trial, False
    for kind in range(2):
        rods = scene.splines.rods if kind == 0 else scene.discretes.rods
        sides = touch.splines if kind == 0 else touch.discretes
        for rod in range(rods.dof.size):
            if sides.collider[rod] < 0:
                continue
            way = 0.0
            for i in range(rods.count[rod]):
                o = rods.dof[rod] + 4 * i
                # rods are looked for by rods where the step begins, by shapes where free flight ends it
                way = max(way, strayed(o, motion.q, trial.q), strayed(o, trial.q_base, trial.q))
            way = 2.0 * math.sqrt(way)  # its boxes hold half the margin
            if way > sides.margin[rod]:
                sides.least_margin[rod], far = WIDER * way, True
    shapes, rigids = touch.shapes, scene.rigids
    for s in range(shapes.collider.size):
        body, slider = shapes.rigid[s], shapes.slider[s]
        if slider >= 0 and scene.sliders.attached[slider] == 1:
            way = pearl_way(slider, scene)
            if way > shapes.margin[s] + GRAIN():
                shapes.least_margin[s], far = WIDER * way, True
        elif body >= 0:
            o, turn = rigids.dof[body], 0.0
            for c in range(4):
                turn += (rigids.quat_trial[body, c] - rigids.quat_base[body, c]) ** 2
            way = math.sqrt(strayed(o, trial.q_base, trial.q))
            way += 2.0 * math.sqrt(turn) * min(shapes.shapes.ball[s], 1e9)
            if way > shapes.margin[s] + GRAIN():
                shapes.least_margin[s], far = WIDER * way, True
    for i in range(touch.skins.collider.size):
        d = sub3(vertex_at(i, scene, trial.q, rigids.quat_trial, False), get3(touch.skins.place, i))
        way = math.sqrt(dot3(d, d))
        if way > touch.skins.margin[i] + GRAIN():
            touch.skins.least_margin[i], far = WIDER * way, True
    return far


@kernel
def forget_margins(touch):
    """The next step has margins of its own."""
    for kind in range(2):
        sides = touch.splines if kind == 0 else touch.discretes
        for rod in range(sides.collider.size):
            sides.least_margin[rod] = 0.0
    for s in range(touch.shapes.collider.size):
        touch.shapes.least_margin[s] = 0.0
    for i in range(touch.skins.collider.size):
        touch.skins.least_margin[i] = 0.0
