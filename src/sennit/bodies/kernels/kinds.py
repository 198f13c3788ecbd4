"""The one place that knows all kinds of bodies: what a step asks of a body, asked of each kind in turn.

A new kind adds a line in each function, and offers functions of these names in its own ``kernels/kind.py``.
"""

from __future__ import annotations

from sennit.bodies.kernels import points as point_kinds
from sennit.bodies.kernels.frames import get3, put3
from sennit.bodies.rigid.kernels import kind as rigids
from sennit.bodies.rod.branches.kernels import act as branches
from sennit.bodies.rod.discrete.kernels import kind as discretes
from sennit.bodies.rod.kernels import pattern as rods
from sennit.bodies.rod.spline.kernels import folds, kind as splines
from sennit.bodies.slider.kernels import basis, kind as sliders
from sennit.bodies.zone.kernels import kind as zones
from sennit.compilation import inlined, kernel, merged
from sennit.geometry.kernels.algebra import mat_vec, quat_exp, quat_matrix

# ------------------------------------------------------------------------------------------------------------ pattern


@merged
def list_entries(scene, row, col, slot):
    """Entries of the bodies' own blocks; returns how many."""
    n = rods.list_rods(scene.splines.rods, scene.discretes.rods, 0, row, col, slot)
    n = rigids.list_entries(scene.rigids, n, row, col, slot)
    n = sliders.list_entries(scene.sliders, scene.points, n, row, col, slot)
    return zones.list_entries(scene.zones, n, row, col, slot)


@merged
def list_blocks(scene, primal, floating, start, kind):
    """Their blocks of unknowns, in the order of the numbering; returns how many, and how many unknowns these are."""
    control_points = scene.splines.masses.total.size + scene.discretes.masses.total.size
    b, at = rods.list_blocks(control_points, 0, 0, primal, start, kind)
    b, at = rigids.list_blocks(scene.rigids, b, at, primal, start, kind)
    b, at = sliders.list_blocks(scene.sliders, b, at, floating, start, kind)
    return zones.list_blocks(scene.zones, b, at, primal, start, kind)


# ------------------------------------------------------------------------------------------------------ before a solve


@merged
def turn_frames(scene):
    """Frames of the points of rods, turned with these, for the iterate."""
    points, frames, trial_frames = scene.points, scene.frames, scene.trial_frames
    for p in range(points.kind.size):
        kind, body = points.kind[p], points.body[p]
        t, u = get3(frames.tangent, p), get3(frames.reference, p)
        if kind == point_kinds.SPLINE or kind == point_kinds.DISCRETE:
            turns = scene.splines.rods.turn if kind == point_kinds.SPLINE else scene.discretes.rods.turn
            m = quat_matrix(quat_exp(get3(turns, body)))
            t, u = mat_vec(m, t), mat_vec(m, u)
        put3(trial_frames.tangent, p, t)
        put3(trial_frames.reference, p, u)


@merged
def predict(scene):
    """Free flight of everything. Returns 1 if a slider has entered another span."""
    scheme, motion, trial = scene.scheme, scene.motion, scene.trial
    A, B, C, D, E = scheme.a[0], scheme.b[0], scheme.c[0], scheme.d[0], scheme.e[0]
    reach = scheme.reach[0]
    q, v, q_last, v_last, q_base, v_base = (
        motion.q, motion.v, motion.q_last, motion.v_last, trial.q_base, trial.v_base,
    )  # fmt: skip
    for i in range(q.size):
        v_base[i] = D * v[i] + E * v_last[i]
        q_base[i] = A * q[i] + B * q_last[i] + C * v[i] + reach * v_base[i]
    turning = 1 if scheme.mean[0] == 0.0 else 0
    memory = -B if scheme.ratio[0] > 0.0 else 0.0  # of the strains, for their rate
    splines.predict(scene.splines, turning, memory, q, q_base)
    discretes.predict(scene.discretes, turning, memory, q, q_base)
    turn_frames(scene)
    rigids.predict(scene.rigids, scheme, scene.step.step[0], v, q_base)
    return sliders.predict(scene.sliders, scene.splines.rods, scene.points, scheme, q, q_base, v_base)


@merged
def hold(scene):
    """A static solve begins at the state. Returns 1 if a slider is not on the span that was analysed."""
    splines.hold(scene.splines)
    discretes.hold(scene.discretes)
    rigids.hold(scene.rigids)
    sliders.hold(scene.sliders)
    frames, trial_frames = scene.frames, scene.trial_frames
    for p in range(scene.points.kind.size):
        put3(trial_frames.tangent, p, get3(frames.tangent, p))
        put3(trial_frames.reference, p, get3(frames.reference, p))
    return find_spans(scene, scene.motion.q)


@kernel
def find_spans(scene, q):
    """Put sliders' points on the spans where they are at `q`; returns 1 if one is not the analysed one."""
    return basis.find_spans(scene.sliders, scene.splines.rods, scene.points, q)


@kernel
def place_sliders(scene, q):
    """Bases of the sliders' points for their coordinates in `q`."""
    basis.place_sliders(scene.sliders, scene.splines.rods, scene.points, q)


# ------------------------------------------------------------------------------------------------------------- a solve


@kernel
def interpolate(fraction, scene):
    """Where forces are evaluated, at a fraction of the way from the state to the iterate; its end exactly at 1."""
    q, trial = scene.motion.q, scene.trial
    for i in range(q.size):
        trial.q_eval[i] = trial.q[i] + (fraction - 1.0) * (trial.q[i] - q[i])
    rigids.rotate_between(scene.rigids, fraction)
    splines.place_tensions(scene.splines, fraction)
    discretes.place_tensions(scene.discretes, fraction)


@inlined
def springs_only(settings):
    """1 where a step has one solve, which is linear in the strains: see `flow.respond`."""
    return 1 if settings.turns[0] == 1 and settings.static[0] == 0 else 0


@kernel
def add_elastic_forces(fraction, weight, scene):
    """Elastic and damping forces and stiffness of the rods where `interpolate` went.

    Frames are carried there from the trial's; they stay the trial's own if the way has one point, its end.
    """
    settings, q, force, values = scene.settings, scene.trial.q_eval, scene.trial.force, scene.matrix.values
    exact, push, at_end = settings.exact[0], settings.push[0], settings.path[0] == 1
    # Kelvin and Voigt: a strain rate by the difference over the part of the step that lies behind.
    per_time = scene.step.strain_rate[0] / fraction
    kind = scene.splines
    frames = kind.bend_trial if at_end else kind.bend_way
    time, softest, frozen = fraction * scene.step.relaxing[0], scene.step.softest[0], springs_only(settings)
    for rod in range(kind.rods.dof.size):
        splines.carry_frames(rod, kind, q, kind.bend_trial, frames)
        if branches.has_branches(rod, kind):
            splines.find_strains(rod, kind, q, frames, kind.acting.strain)
            branches.act(rod, kind, time, frozen, softest)
        splines.assemble(
            rod, kind, q, frames, kind.stretch_way, per_time, exact, weight, weight * fraction, push, force, values
        )
    edges = scene.discretes
    frames_of_edges = edges.bend_trial if at_end else edges.bend_way
    for rod in range(edges.rods.dof.size):
        discretes.carry_frames(rod, edges, q, edges.bend_trial, frames_of_edges)
        if branches.has_branches(rod, edges):
            discretes.find_strains(rod, edges, q, frames_of_edges, edges.acting.strain)
            branches.act(rod, edges, time, frozen, softest)
        discretes.assemble(
            rod, edges, q, frames_of_edges, edges.stretch_way, per_time, exact, weight, weight * fraction, push, force,
            values,
        )  # fmt: skip


@merged
def add_inertia(moved, scene):
    """Mass, drag and gravity, and what else acts at the iterate alone.

    `moved`: -1 in statics, 0 where the iterate is still free flight, else 1.
    """
    step, trial, values = scene.step, scene.trial, scene.matrix.values
    weight, drag = step.mass_weight[0] + step.drag_weight[0], step.drag[0]
    gravity = get3(step.gravity, 0)
    splines.add_inertia(
        scene.splines, max(moved, 0), weight, drag, gravity, trial.q, trial.q_base, trial.v_base, trial.force, values
    )
    discretes.add_inertia(
        scene.discretes, max(moved, 0), weight, drag, gravity, trial.q, trial.q_base, trial.v_base, trial.force, values
    )
    rigids.assemble(scene.rigids, step, trial, values)
    zones.assemble(scene.zones, step, trial, values)
    zones.add_weight(scene.zones, scene.rigids, scene.points, gravity, trial)
    sliders.assemble(scene.sliders, scene.points, scene.places, step, moved, scene.motion, trial, values)


@kernel
def least_speed_ratio(scene, q):
    """How evenly the curves of all rods run in the shape q: less than `folds.FOLDED` where one is folded."""
    return folds.least_speed_ratio(scene.splines, q)


@kernel
def largest_turn(scene):
    """Largest rotation of a rod's tangent or a rigid body by `dq`, rad; a slider's move counts in mean span lengths."""
    q, dq = scene.trial.q, scene.trial.dq
    largest = 0.0
    for rod in range(scene.splines.rods.dof.size):
        largest = max(largest, splines.largest_turn(rod, scene.splines, q, dq))
    for rod in range(scene.discretes.rods.dof.size):
        largest = max(largest, discretes.largest_turn(rod, scene.discretes, q, dq))
    largest = max(largest, rigids.largest_turn(scene.rigids, dq))
    return max(largest, sliders.largest_turn(scene.sliders, scene.splines.rods, dq))


@merged
def update_tensions(scene):
    """Tensions that the linearised solve expects, stored for the next geometric stiffness."""
    q, dq, per_time = scene.trial.q, scene.trial.dq, scene.step.strain_rate[0]
    for rod in range(scene.splines.rods.dof.size):
        splines.update_tensions(rod, scene.splines, q, dq, scene.splines.stretch_trial, per_time)
    for rod in range(scene.discretes.rods.dof.size):
        discretes.update_tensions(rod, scene.discretes, q, dq, scene.discretes.stretch_trial, per_time)


@kernel
def move(scene):
    """Move the iterate by `dq`."""
    q, dq = scene.trial.q, scene.trial.dq
    sliders.land(scene.sliders, scene.points, scene.places, dq)
    for i in range(dq.size):
        q[i] += dq[i]
    rigids.move(scene.rigids, dq, q, scene.rigids.quat_trial, scene.rigids.turned)


# ------------------------------------------------------------------------------------------------------- after a solve


@merged
def find_rates(scene):
    """Rates that the step gives: v₊ = V̂ + β (x₊ − x̂)."""
    scheme, trial = scene.scheme, scene.trial
    beta = scheme.beta[0]
    for i in range(trial.q.size):
        trial.v[i] = trial.v_base[i] + beta * (trial.q[i] - trial.q_base[i])
    if scheme.mean[0] == 1.0:
        zones.find_mean_rates(scene.zones, scene.step, scene.motion, trial)
    rigids.find_rates(scene.rigids, scheme, trial.v)
    sliders.find_rates(scene.sliders, beta)


@merged
def carry_rods(scene):
    """Carry the rods' trial frames on to the iterate."""
    splines.carry(scene.splines, scene.trial.q)
    discretes.carry(scene.discretes, scene.trial.q)


@kernel
def flow_branches(scene, time):
    """Let the branches of all rods flow to the state's strains, which the state before had a `time` ago, s."""
    frozen = springs_only(scene.settings)
    for rod in range(scene.splines.rods.dof.size):
        if branches.has_branches(rod, scene.splines):
            branches.flow(rod, scene.splines, time, frozen)
    for rod in range(scene.discretes.rods.dof.size):
        if branches.has_branches(rod, scene.discretes):
            branches.flow(rod, scene.discretes, time, frozen)


@merged
def accept(scene):
    """Make the iterate the state, but for places of masses that slide; returns how many sliders left their rods."""
    motion, trial, static = scene.motion, scene.trial, scene.settings.static[0]
    splines.shift_rolls(scene.splines, static, motion.q, trial.q_base)
    discretes.shift_rolls(scene.discretes, static, motion.q, trial.q_base)
    for i in range(motion.q.size):
        motion.q_last[i] = motion.q[i]
        motion.v_last[i] = motion.v[i]
        motion.q[i] = trial.q[i]
        motion.v[i] = trial.v[i] if static == 0 else 0.0
    splines.accept(scene.splines, motion.q)
    discretes.accept(scene.discretes, motion.q)
    if static == 0:
        flow_branches(scene, scene.step.relaxing[0])
    rigids.accept(scene.rigids, static)
    left = sliders.leave(scene.sliders, scene.splines.rods, motion)
    find_spans(scene, motion.q)
    return left


@kernel
def displace(scene, moved, turned):
    """Move the state by `moved`; `turned` is scratch for the rotations of rigid bodies."""
    q = scene.motion.q
    for i in range(q.size):
        q[i] += moved[i]
    rigids.move(scene.rigids, moved, q, scene.rigids.quat, turned)


@merged
def accept_places(scene):
    """Places of masses that slide, where their points are."""
    sliders.accept(scene.sliders, scene.places, scene.settings.static[0])


# ----------------------------------------------------------------------------------------- energies, rigid motion


@kernel
def kinetic_energy(scene, v, spin, slider_velocity):
    """Kinetic energy of all bodies, J, with the rates `v`, angular momenta and velocities of what slides as given."""
    total = 0.0
    for rod in range(scene.splines.rods.dof.size):
        total += splines.kinetic_energy(rod, scene.splines, v)
    for rod in range(scene.discretes.rods.dof.size):
        total += discretes.kinetic_energy(rod, scene.discretes, v)
    total += rigids.kinetic_energy(scene.rigids, v, spin)
    return total + sliders.kinetic_energy(scene.sliders, slider_velocity)


@kernel
def kinetic_bound(scene, v, spin, slider_velocity):
    """What `kinetic_energy` is not above, J: rods with the mass of each control point for itself."""
    total = 0.0
    for rod in range(scene.splines.rods.dof.size):
        total += splines.kinetic_bound(rod, scene.splines, v)
    for rod in range(scene.discretes.rods.dof.size):
        total += discretes.kinetic_bound(rod, scene.discretes, v)
    total += rigids.kinetic_energy(scene.rigids, v, spin)
    return total + sliders.kinetic_energy(scene.sliders, slider_velocity)


@kernel
def weight_energy(scene, q, moved):
    """Energy of everything's weight, J, at the state or (`moved`) at the iterate, whose places are evaluated."""
    gravity = get3(scene.step.gravity, 0)
    total = 0.0
    for rod in range(scene.splines.rods.dof.size):
        total += splines.weight_energy(rod, scene.splines, q, gravity)
    for rod in range(scene.discretes.rods.dof.size):
        total += discretes.weight_energy(rod, scene.discretes, q, gravity)
    total += rigids.weight_energy(scene.rigids, q, gravity)
    total += zones.weight_energy(scene.zones, scene.rigids, scene.points, q, gravity, moved)
    return total + sliders.weight_energy(scene.sliders, scene.places, gravity, moved)


@kernel
def strain_energy(scene, moved):
    """Stored in rods and zones, J, at the state or (`moved`) at the iterate, to which frames are carried."""
    q = scene.trial.q if moved else scene.motion.q
    gravity, time = get3(scene.step.gravity, 0), scene.step.relaxing[0] if moved else 0.0
    total = zones.stored_energy(scene.zones, scene.rigids, scene.points, q, gravity, moved)
    for rod in range(scene.splines.rods.dof.size):
        frames = scene.splines.bend_trial if moved else scene.splines.bend
        stretch, bend, twist = splines.energy(rod, scene.splines, q, frames, time)
        total += stretch + bend + twist
    for rod in range(scene.discretes.rods.dof.size):
        frames_of_edges = scene.discretes.bend_trial if moved else scene.discretes.bend
        stretch, bend, twist = discretes.energy(rod, scene.discretes, q, frames_of_edges, time)
        total += stretch + bend + twist
    return total


@kernel
def missed_energy(scene):
    """Energy of stretching at the iterate beyond what the linearised solve expects there, J, and the rod with most."""
    q, per_time = scene.trial.q, scene.step.strain_rate[0]
    total = largest = 0.0
    most = 0
    for rod in range(scene.splines.rods.dof.size):
        missed = splines.missed_energy(rod, scene.splines, q, per_time)
        total += missed
        if missed > largest:
            largest, most = missed, scene.splines.rods.index[rod]
    for rod in range(scene.discretes.rods.dof.size):
        missed = discretes.missed_energy(rod, scene.discretes, q, per_time)
        total += missed
        if missed > largest:
            largest, most = missed, scene.discretes.rods.index[rod]
    return total, most


@kernel
def weigh_groups(scene):
    """Mass and centre of each group of bodies."""
    groups, q = scene.groups, scene.motion.q
    for g in range(groups.free.size):
        groups.mass[g] = 0.0
        for k in range(3):
            groups.centre[g, k] = 0.0
    for rod in range(scene.splines.rods.dof.size):
        splines.weigh(rod, scene.splines, q, groups, groups.of_spline[rod])
    for rod in range(scene.discretes.rods.dof.size):
        discretes.weigh(rod, scene.discretes, q, groups, groups.of_discrete[rod])
    rigids.weigh(scene.rigids, q, groups)
    sliders.weigh(scene.sliders, groups)
    for g in range(groups.free.size):
        for k in range(3):
            groups.centre[g, k] /= max(groups.mass[g], 1e-300)


@kernel
def measure_groups(scene):
    """Momentum, angular momentum about the centre and inertia of each group, whose mass and centre are known."""
    groups, q, v = scene.groups, scene.motion.q, scene.motion.v
    for g in range(groups.free.size):
        for k in range(3):
            groups.momentum[g, k] = groups.spin[g, k] = 0.0
        for k in range(9):
            groups.inertia[g, k] = 0.0
    for rod in range(scene.splines.rods.dof.size):
        splines.add_to_group(rod, scene.splines, q, v, groups, groups.of_spline[rod])
    for rod in range(scene.discretes.rods.dof.size):
        discretes.add_to_group(rod, scene.discretes, q, v, groups, groups.of_discrete[rod])
    rigids.add_to_groups(scene.rigids, q, v, groups)
    sliders.add_to_groups(scene.sliders, groups)


@kernel
def blend_motion(scene, share):
    """Rates of everything become `share` times their own plus the rigid motion of each group, `velocity` and `turning`
    about its centre.
    """
    groups, q, v = scene.groups, scene.motion.q, scene.motion.v
    for rod in range(scene.splines.rods.dof.size):
        splines.blend_motion(rod, scene.splines, q, v, share, groups, groups.of_spline[rod])
    for rod in range(scene.discretes.rods.dof.size):
        discretes.blend_motion(rod, scene.discretes, q, v, share, groups, groups.of_discrete[rod])
    rigids.blend_motion(scene.rigids, q, v, share, groups)
    sliders.blend_motion(scene.sliders, v, share, groups)
    zones.slow(scene.zones, v, share)


@kernel
def shift_groups(scene, q, shift):
    """Move all bodies of each group by its row of `shift`, in `q`."""
    groups = scene.groups
    for rod in range(scene.splines.rods.dof.size):
        splines.shift(rod, scene.splines, q, shift, groups.of_spline[rod])
    for rod in range(scene.discretes.rods.dof.size):
        discretes.shift(rod, scene.discretes, q, shift, groups.of_discrete[rod])
    for body in range(scene.rigids.dof.size):
        for k in range(3):
            q[scene.rigids.dof[body] + k] += shift[groups.of_rigid[body], k]


# ------------------------------------------------------------------------------------------------------------- reading


@kernel
def energies(scene, gravity, out):
    """Energy of each rod, rigid body and slider by kind, J, into the rows of `out`."""
    motion = scene.motion
    for rod in range(scene.splines.rods.dof.size):
        i = scene.splines.rods.index[rod]
        parts = splines.energy(rod, scene.splines, motion.q, scene.splines.bend, 0.0)
        out.stretch[i], out.bend[i], out.twist[i] = parts
        out.kinetic[i] = splines.kinetic_energy(rod, scene.splines, motion.v)
        out.gravity[i] = splines.weight_energy(rod, scene.splines, motion.q, gravity)
    for rod in range(scene.discretes.rods.dof.size):
        i = scene.discretes.rods.index[rod]
        parts = discretes.energy(rod, scene.discretes, motion.q, scene.discretes.bend, 0.0)
        out.stretch[i], out.bend[i], out.twist[i] = parts
        out.kinetic[i] = discretes.kinetic_energy(rod, scene.discretes, motion.v)
        out.gravity[i] = discretes.weight_energy(rod, scene.discretes, motion.q, gravity)
    first = scene.splines.rods.dof.size + scene.discretes.rods.dof.size
    rigids.energies(scene.rigids, motion, gravity, out, first)
    sliders.energies(scene.sliders, gravity, out, first + scene.rigids.dof.size)


@kernel
def momenta(scene, out):
    """Linear momentum, and angular momentum about the origin, of everything that moves: into out (6,)."""
    motion = scene.motion
    for k in range(6):
        out[k] = 0.0
    a = b = 0
    while a < scene.splines.rods.dof.size or b < scene.discretes.rods.dof.size:
        if rods.spline_is_next(a, b, scene.splines.rods, scene.discretes.rods):
            splines.add_momenta(a, scene.splines, motion.q, motion.v, out)
            a += 1
        else:
            discretes.add_momenta(b, scene.discretes, motion.q, motion.v, out)
            b += 1
    rigids.momenta(scene.rigids, motion, out)
    sliders.momenta(scene.sliders, out)
