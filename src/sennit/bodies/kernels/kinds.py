"""The one place that knows all kinds of bodies: what a step asks of a body, asked of each kind in turn.

A new kind adds a line in each function, and offers functions of these names in its own ``kernels/kind.py``.
"""

from __future__ import annotations

from sennit.bodies.kernels import points as point_kinds
from sennit.bodies.kernels.frames import get3, put3
from sennit.bodies.rigid.kernels import kind as rigids
from sennit.bodies.rod.discrete.kernels import kind as discretes
from sennit.bodies.rod.kernels import pattern as rods
from sennit.bodies.rod.spline.kernels import folds, kind as splines
from sennit.bodies.slider.kernels import basis, kind as sliders
from sennit.bodies.zone.kernels import kind as zones
from sennit.compilation import kernel, merged
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


@kernel
def add_elastic_forces(fraction, weight, scene):
    """Elastic and damping forces and stiffness of the rods where `interpolate` went.

    Frames are carried there from the trial's; they stay the trial's own if the way has one point, its end.
    """
    settings, q, force, values = scene.settings, scene.trial.q_eval, scene.trial.force, scene.matrix.values
    exact, push, at_end = settings.exact[0], settings.push[0], settings.path[0] == 1
    # Kelvin and Voigt: a strain rate by the difference over the part of the step that lies behind.
    per_time = scene.step.strain_rate[0]
    kind = scene.splines
    frames = kind.bend_trial if at_end else kind.bend_way
    for rod in range(kind.rods.dof.size):
        rate = kind.rods.relaxation[rod] * per_time / fraction
        splines.carry_frames(rod, kind, q, kind.bend_trial, frames)
        splines.assemble(
            rod, kind, q, frames, kind.stretch_way, rate, exact, weight, weight * fraction, push, force, values
        )
    edges = scene.discretes
    frames_of_edges = edges.bend_trial if at_end else edges.bend_way
    for rod in range(edges.rods.dof.size):
        rate = edges.rods.relaxation[rod] * per_time / fraction
        discretes.carry_frames(rod, edges, q, edges.bend_trial, frames_of_edges)
        discretes.assemble(
            rod, edges, q, frames_of_edges, edges.stretch_way, rate, exact, weight, weight * fraction, push, force,
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
        rate = scene.splines.rods.relaxation[rod] * per_time
        splines.update_tensions(rod, scene.splines, q, dq, scene.splines.stretch_trial, rate)
    for rod in range(scene.discretes.rods.dof.size):
        rate = scene.discretes.rods.relaxation[rod] * per_time
        discretes.update_tensions(rod, scene.discretes, q, dq, scene.discretes.stretch_trial, rate)


@kernel
def move(scene):
    """Move the iterate by `dq`."""
    q, dq = scene.trial.q, scene.trial.dq
    for i in range(dq.size):
        q[i] += dq[i]
    rigids.move(scene.rigids, dq, q, scene.rigids.quat_trial, scene.rigids.turned)


# ------------------------------------------------------------------------------------------------------- after a solve


@merged
def accept(scene):
    """Make the iterate the state, but for places of masses that slide; returns how many sliders left their rods."""
    scheme, motion, trial, static = scene.scheme, scene.motion, scene.trial, scene.settings.static[0]
    beta = scheme.beta[0]
    splines.carry(scene.splines, trial.q)
    discretes.carry(scene.discretes, trial.q)
    splines.shift_rolls(scene.splines, static, motion.q, trial.q_base)
    discretes.shift_rolls(scene.discretes, static, motion.q, trial.q_base)
    for i in range(motion.q.size):
        motion.q_last[i] = motion.q[i]
        motion.v_last[i] = motion.v[i]
        motion.q[i] = trial.q[i]
        motion.v[i] = trial.v_base[i] + beta * (trial.q[i] - trial.q_base[i]) if static == 0 else 0.0
    if scheme.mean[0] == 1.0 and static == 0:
        zones.accept_mean(scene.zones, scene.step, motion)
    splines.accept(scene.splines, motion.q)
    discretes.accept(scene.discretes, motion.q)
    rigids.accept(scene.rigids, scheme, static, motion.v)
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
    sliders.accept(scene.sliders, scene.places, scene.scheme.beta[0], scene.settings.static[0])


# ------------------------------------------------------------------------------------------------------------- reading


@kernel
def energies(scene, gravity, out):
    """Energy of each rod, rigid body and slider by kind, J, into the rows of `out`."""
    motion = scene.motion
    for rod in range(scene.splines.rods.dof.size):
        i = scene.splines.rods.index[rod]
        out.stretch[i], out.bend[i], out.twist[i] = splines.energy(rod, scene.splines, motion.q, scene.splines.bend)
        out.kinetic[i], out.gravity[i] = splines.motion_energy(rod, scene.splines, motion.q, motion.v, gravity)
    for rod in range(scene.discretes.rods.dof.size):
        i = scene.discretes.rods.index[rod]
        parts = discretes.energy(rod, scene.discretes, motion.q, scene.discretes.bend)
        out.stretch[i], out.bend[i], out.twist[i] = parts
        out.kinetic[i], out.gravity[i] = discretes.motion_energy(rod, scene.discretes, motion.q, motion.v, gravity)
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
