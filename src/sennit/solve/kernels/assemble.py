"""The saddle-point system of one solve, written where the factorisation reads it.

    [ A   Jᵀ ] [ Δq ]   [ r ]        A = wM M + wD M + K,   wM = 1/c² of the scheme (or a shift in statics)
    [ J  −Σ  ] [ −λ ] = [ e ]        r = forces − M (wM (q − q̂) + drag · velocity)

q̂ is where free flight would take the bodies in this step, M the mass (a rigid body's at q̂).
"""

from __future__ import annotations

import math

from sennit.bodies.kernels import kinds
from sennit.bodies.kernels.points import (
    SLIDER, accept_point, evaluate_point,
)  # fmt: skip
from sennit.compilation import inlined, kernel, merged
from sennit.constraints.cable.kernels.kinds import SPOOK
from sennit.constraints.kernels.loads import add_loads
from sennit.constraints.kernels.rows import ROW_WIDTH, evaluate_rows, pull_rows
from sennit.solve.kernels.cables import forget_pulls, place_cables, pull_cables
from sennit.solve.kernels.curvature import add_anchors, add_curvature
from sennit.solve.kernels.drives import grip_of, limit_rebounds, thrown_back, way_to_rate
from sennit.solve.kernels.stages import leads_ahead
from sennit.solve.kernels.stiffness import add_row_stiffness
from sennit.solve.kernels.tautness import add_cable_stiffness

GAUSS = 0.38729833462074168852  # √(3/20): the three Gauss points of the way are ½ and ½ ± this


@inlined
def row_softness(step, rows, r, mean):
    """Σ of a row and the factor of its last value in e: a spring 1/ε beside a damper c over the scheme's time.

    Backward schemes take λ = −(g₊/ε + c ġ); the mean of the spring's force over the way (`mean`) is that of its ends,
    λ = −((g₊ + g)/2ε + c ġ).
    """
    compliance, rate = rows.compliance[r], rows.damping[r] * step.strain_rate[0]
    if compliance == 0.0 or (rate == 0.0 and (not mean or compliance == math.inf)):
        return compliance, 0.0
    stiffness = 0.0 if compliance == math.inf else 1.0 / compliance
    before = 0.5 * stiffness if mean else 0.0
    softness = 1.0 / (stiffness - before + rate)
    return softness, softness * (rate - before)


@inlined
def row_is_on(r, rows, points, sliders):
    """Whether a row acts: switched on, and what slides still on its rod."""
    on = rows.enabled[r] == 1
    for side in range(2):
        p = rows.first[r] if side == 0 else rows.second[r]
        if points.kind[p] == SLIDER and sliders.attached[points.body[p]] == 0:
            on = False
    return on


@merged
def set_row(r, g, step, rows, values, diagonal0, on, grip):
    """Right side e and compliance Σ of row `r` whose value at the iterate is g.

    A row on the value: g + JΔq + Σλ = m·g_start with the Σ and m of `row_softness`. A row on the step's displacement:
    g + JΔq = g_start + speed·h.
    A one-sided row that is struck faster than the threshold leaves with −restitution times its speed (Moreau). Nothing
    bounces in statics, whose iterates are no motion. `grip`: see `drives.grip_of`.
    """
    mean = step.mean[0] == 1.0
    s, memory = row_softness(step, rows, r, mean)
    if not on or s == math.inf:
        values[diagonal0 + r] = -1.0
        rows.wanted[r] = 0.0
        rows.softness[r] = 1.0
        return
    if rows.rate[r] == 1:
        rows.wanted[r] = rows.start[r] + rows.pace[r] * step.step[0] - g
        if rows.dual[r] >= 0 and mean:
            # so that the rate at the end is the drive's, not the mean one
            rows.wanted[r] = rows.start[r] + way_to_rate(r, grip, step, rows) - g
    else:
        rows.wanted[r] = memory * (min(rows.start[r], 0.0) if mean and rows.dual[r] < 0 else rows.start[r]) - g
        approach = rows.start[r] - rows.predicted[r]
        struck = rows.predicted[r] < 0.0 and approach > step.threshold[0] * step.step[0]
        if struck and rows.restitution[r] > 0.0 and step.step[0] != 0.0:
            rows.wanted[r] = min(thrown_back(r, rows.predicted[r], grip, rows), rows.rebound[r]) - g
    if rows.spare[r] > 0.0 and s == 0.0 and step.step[0] > 0.0:
        # Others hold its value: it is kept from changing. Their drift over so small a compliance would be a force.
        rows.wanted[r] = rows.start[r] - g
    s += rows.spare[r] + rows.give[r]
    rows.softness[r] = s
    values[diagonal0 + r] = -s


@merged
def set_rows(turn, scene):
    """Right sides and compliances of all rows at the iterate; those that do not act hold nothing."""
    rows, points, step, values = scene.rows, scene.points, scene.step, scene.matrix.values
    slots, diagonals = scene.layout.row_slots[0], scene.layout.diagonals[0]
    grip = grip_of(scene)
    if turn == 0:
        limit_rebounds(grip, scene)
    for r in range(rows.kind.size):
        on = row_is_on(r, rows, points, scene.sliders)
        # an infinite compliance without a damper that acts holds nothing
        on = on and not (rows.compliance[r] == math.inf and rows.damping[r] * step.strain_rate[0] == 0.0)
        if turn == 0:
            rows.predicted[r] = rows.g[r]
        if not on:
            rows.multiplier[r] = 0.0
            for i in range(slots + ROW_WIDTH * r, slots + ROW_WIDTH * (r + 1)):
                values[i] = 0.0
        set_row(r, rows.g[r], step, rows, values, diagonals, on, grip)


@kernel
def assemble(turn, scene):
    """Forces and the matrix at the iterate."""
    settings, trial, layout, rigids = scene.settings, scene.trial, scene.layout, scene.rigids
    points, places, trial_frames, rows = scene.points, scene.places, scene.trial_frames, scene.rows
    values, force = scene.matrix.values, trial.force
    static = settings.static[0] == 1
    path = settings.path[0]
    for i in range(values.size):
        values[i] = 0.0
    for i in range(force.size):
        force[i] = 0.0
    # Jacobians of cables: of the step's start, or made on the way
    on_the_way = scene.rigging.cables.first.size > 0 and settings.cables[0] != SPOOK
    if on_the_way:
        forget_pulls(scene.rigging.pulls)
    for gauss in range(1 if path == 2 else path):
        fraction, weight = 1.0, 1.0
        if path == 2:
            fraction = 0.5
        elif path == 3:
            fraction = 0.5 + GAUSS * (gauss - 1)
            weight = 4.0 / 9.0 if gauss == 1 else 5.0 / 18.0
        kinds.interpolate(fraction, scene)
        kinds.add_elastic_forces(fraction, weight, scene)
        kinds.place_sliders(scene, trial.q_eval)
        for p in range(points.kind.size):
            evaluate_point(p, points, trial_frames, trial.q_eval, rigids.quat_eval, places)
        add_loads(weight, scene.loads, scene.sliders, points, places, trial.small, force)
        evaluate_rows(0, rows.kind.size, rows, places, trial.q_eval, points)
        pull_rows(0, rows.kind.size, weight, rows, points, places, values, layout.row_slots[0])
        if on_the_way:
            place_cables(scene.rigging, places)
            pull_cables(weight, scene.rigging, points, places)
    if path > 1:
        kinds.place_sliders(scene, trial.q)
        for p in range(points.kind.size):
            evaluate_point(p, points, trial_frames, trial.q, rigids.quat_trial, places)
        evaluate_rows(0, rows.kind.size, rows, places, trial.q, points)
        if on_the_way:
            place_cables(scene.rigging, places)
    else:
        for p in range(points.kind.size):
            accept_point(p, points, trial_frames, places)
    moved = 1 if turn > 0 or leads_ahead(scene) else 0
    kinds.add_inertia(-1 if static else moved, scene)
    set_rows(turn, scene)
    if static:
        add_curvature(scene)
        add_anchors(scene)
    else:
        trial.swift[0] = add_row_stiffness(scene.step, settings.curved[0], rows, points, places, values)
    trial.swift[0] = max(trial.swift[0], add_cable_stiffness(scene))
