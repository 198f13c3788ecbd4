"""Energies of a scene, and the work that is done on it in a step.

Most are asked for two states: the accepted one and the iterate (`moved`).
"""

from __future__ import annotations

from sennit.bodies.kernels import kinds
from sennit.bodies.kernels.frames import get3, place_of, put3
from sennit.bodies.kernels.points import SLIDER, point_rates
from sennit.compilation import kernel, merged
from sennit.constraints.kernels.loads import load_wrench
from sennit.geometry.kernels.algebra import dot3, sub3
from sennit.solve.kernels.lead import is_firm, is_spring, spring_energy


@kernel
def spring_energies(scene, moved):
    """Stored by soft constraints, J."""
    rows = scene.rows
    total = 0.0
    for r in range(rows.kind.size):
        if is_spring(r, rows):
            total += spring_energy(r, rows.g[r] if moved else rows.value[r], rows)
    return total


@merged
def cable_energy(rigging):
    """Stored by hoisting cables, read from their tensions, and kinetic energy of their rotors, J."""
    cables, elements, rows = rigging.cables, rigging.elements, rigging.rows
    stored = turning = 0.0
    for c in range(cables.first.size):
        length = 0.0
        for row in range(cables.row[c], cables.row[c] + cables.parts[c]):
            length += rows.rest[row]
        for row in range(cables.row[c], cables.row[c] + cables.parts[c]):
            soft = max(rows.rest[row], 1e-3 * length) / cables.stretch_stiffness[c]
            pulled, tension = max(min(rows.value[row], rows.paid[row]), 0.0), rows.tension[row]
            # A cable's tension and its elongation need not fit while it swings faster than the step: the larger counts.
            stored += 0.5 * max(soft * tension * tension, pulled * pulled / soft if soft > 0.0 else 0.0)
        t = cables.twist_row[c]
        if t >= 0:
            soft = length / cables.twist_stiffness[c]
            stored += 0.5 * max(soft * rows.tension[t] * rows.tension[t], rows.value[t] * rows.value[t] / soft)
        for e in range(cables.first[c], cables.first[c] + cables.count[c]):
            turning += 0.5 * elements.inertia[e] * elements.spin[e] * elements.spin[e]
    return stored, turning


@merged
def cable_swing(rigging):
    """What cables take up or give in a step, J: by so much their energy and that of what they carry do not fit."""
    rows = rigging.rows
    swing = 0.0
    for row in range(rows.tension.size):
        swing += max(abs(rows.tension[row]), abs(rows.tension_before[row])) * abs(rows.came[row])
    return swing


@kernel
def work_of_rows(scene):
    """Most that firm rows whose targets move, motors and friction can have worked in the step, λ Δg, J.

    Where rows are evaluated at the step's end. With the larger of the forces where the step begins and ends: a scheme
    of second order takes something between. A firm row without a target that moves does none.
    """
    rows = scene.rows
    share = scene.step.share_after[0] - scene.step.share_before[0]
    work = 0.0
    for r in range(rows.kind.size):
        if rows.enabled[r] == 1:
            way = 0.0
            if rows.rate[r] == 1:
                way = rows.g[r] - rows.value[r]
            elif rows.driven[r] == 1 and is_firm(r, rows):
                way = -share * (rows.gap[r] - rows.gap_after[r])
            elif rows.gap[r] != 0.0 and is_spring(r, rows):
                # what its force does beyond what `lead` has counted, which moved the target alone
                moved = share * (rows.gap[r] - rows.gap_after[r])
                alone = spring_energy(r, rows.value[r] + moved, rows) - spring_energy(r, rows.value[r], rows)
                work += max(-rows.found[r] * moved - alone, 0.0)
            if way != 0.0:
                done = max(rows.found[r] * way, rows.force_before[r] * way)
                work += done if rows.friction[r] == 0.0 else min(done, 0.0)
    return work


@merged
def begin_loads(scene):
    """Keep where loads act when the step begins."""
    loads, points, places, small = scene.loads, scene.points, scene.places, scene.trial.small
    for i in range(loads.point.size):
        p = loads.point[i]
        put3(loads.start, i, place_of(places, p))
        point_rates(p, points, places, scene.motion.v, small)
        for a in range(3):
            loads.turning[i, a] = small[3 + a]


@merged
def work_of_loads(scene, v):
    """Most that loads can have worked in the step, J, where points and the rates `v` are those of its end.

    f·Δx, and of a torque m·ω h with the larger of the rates where the step begins and ends.
    """
    loads, points, places, small = scene.loads, scene.points, scene.places, scene.trial.small
    work = 0.0
    for i in range(loads.point.size):
        p = loads.point[i]
        if loads.enabled[i] == 0 or (points.kind[p] == SLIDER and scene.sliders.attached[points.body[p]] == 0):
            continue
        f, m = load_wrench(i, loads, places)
        work += dot3(f, sub3(place_of(places, p), get3(loads.start, i)))
        if m[0] != 0.0 or m[1] != 0.0 or m[2] != 0.0:
            point_rates(p, points, places, v, small)
            rate = max(dot3(m, (small[3], small[4], small[5])), dot3(m, get3(loads.turning, i)))
            work += scene.step.advance[0] * rate
    return work


@merged
def work_of_cables(scene):
    """Most that winches, and the world's points that carry cables, can have worked in the step just accepted, J."""
    cables, rows = scene.rigging.cables, scene.rigging.rows
    h = scene.step.advance[0]
    work = 0.0
    for c in range(cables.first.size):
        out = 0.0
        for row in range(cables.row[c], cables.row[c] + cables.parts[c]):
            out += h * rows.rest_rate[row]
            moved = rows.world_move[row]
            work += max(rows.tension[row] * moved, rows.tension_before[row] * moved)
        row = cables.row[c]
        work += max(-rows.tension[row] * out, -rows.tension_before[row] * out)
    return work


@kernel
def elastic_energy(scene, measured):
    """All that is stored at the accepted state, and kinetic energy of rotors, J.

    `measured`: whether rows were evaluated there, and are not yet the state's own.
    """
    stored, turning = cable_energy(scene.rigging)
    return kinds.strain_energy(scene, False) + spring_energies(scene, measured) + stored + turning


@kernel
def moving_energy(scene):
    """Kinetic and weight energy of the accepted state, J."""
    motion, rigids, sliders = scene.motion, scene.rigids, scene.sliders
    kinetic = kinds.kinetic_energy(scene, motion.v, rigids.spin, sliders.velocity)
    return kinetic, kinds.weight_energy(scene, motion.q, False)
