"""What remains of a step when its solve is done: velocities, frames, strains, and what has left its rod."""

from __future__ import annotations

from sennit.bodies.kernels import kinds
from sennit.bodies.kernels.frames import get3
from sennit.bodies.kernels.points import WORLD, accept_point, evaluate_point
from sennit.compilation import kernel, merged
from sennit.constraints.kernels.rows import COUNTS_TURNS, TRAITS, evaluate_rows, note_headings
from sennit.bodies.kernels import world
from sennit.solve.kernels.ledger import balance, find_rigid_motion, keep_spins
from sennit.solve.kernels.tensions import accept_cables
from sennit.solve.kernels.touching import accept_contacts


@kernel
def evaluate_all(scene):
    """Places and frames of all points at the state; sliders' bases on their own spans."""
    points, motion = scene.points, scene.motion
    kinds.place_sliders(scene, motion.q)
    for p in range(points.kind.size):
        evaluate_point(p, points, scene.frames, motion.q, scene.rigids.quat, scene.places)


@kernel
def carry_all(scene):
    """Carry the frames of all points to where they were just evaluated."""
    for p in range(scene.points.kind.size):
        accept_point(p, scene.points, scene.frames, scene.places)


@merged
def keep_values(scene):
    """The rows' values, and the angles that count turns, become those of the state."""
    rows = scene.rows
    for r in range(rows.kind.size):
        rows.value[r] = rows.g[r]
        if TRAITS[rows.kind[r]] & COUNTS_TURNS:
            rows.angle[r] = rows.turned[r]


@kernel
def measure_rows(scene):
    """Value of every row where the points are, and the angle that counts its turns."""
    rows = scene.rows
    note_headings(rows, scene.places)
    evaluate_rows(0, rows.kind.size, rows, scene.places, scene.motion.q, scene.points)
    keep_values(scene)


@kernel
def accept(scene):
    """Make the iterate the state. Returns the number of sliders that left their rods.

    In statics velocities become zero.
    """
    points, places, frames, trial_frames = scene.points, scene.places, scene.frames, scene.trial_frames
    rows, motion = scene.rows, scene.motion
    static = scene.settings.static[0] == 1
    if static:
        kinds.carry_rods(scene)
    left = kinds.accept(scene)
    # A step was judged where it ends, and points and rows are there; what has left its rod is elsewhere.
    again = static or left > 0
    if again:
        kinds.place_sliders(scene, motion.q)
    for p in range(points.kind.size):
        if again:
            evaluate_point(p, points, trial_frames, motion.q, scene.rigids.quat, places)
            accept_point(p, points, trial_frames, places)
        for k in range(3):
            frames.tangent[p, k] = trial_frames.tangent[p, k]
            frames.reference[p, k] = trial_frames.reference[p, k]
        if points.kind[p] == WORLD:
            world.accept(p, points)
    kinds.accept_places(scene)
    if again:
        evaluate_rows(0, rows.kind.size, rows, places, motion.q, points)
    if not static:
        keep_spins(scene)
    accept_cables(scene)
    accept_contacts(scene)
    if not static:
        balance(scene)
    for r in range(rows.kind.size):
        rows.value_last[r] = rows.value[r]
        rows.target_seen[r], rows.acted[r] = rows.target[r], rows.enabled[r]
    keep_values(scene)
    return left


@kernel
def stand_still(scene):
    """Let a step's time pass with all shapes as they are: no step that was tried could be accepted.

    Everything comes to rest but for the rigid motion of what nothing holds, whose centres go on: their momentum and
    angular momentum are kept.
    """
    groups, gravity, motion, h = scene.groups, get3(scene.step.gravity, 0), scene.motion, scene.step.advance[0]
    points, rows, sliders = scene.points, scene.rows, scene.sliders
    find_rigid_motion(scene)
    for g in range(groups.free.size):
        if groups.free[g] == 1:
            # what something carries stays where it is
            rests = groups.touched[g] == 1
            for k in range(3):
                groups.velocity[g, k] = 0.0 if rests else groups.velocity[g, k] + h * gravity[k]
                groups.turning[g, k] = 0.0 if rests else groups.turning[g, k]
    kinds.blend_motion(scene, 0.0)
    for g in range(groups.free.size):
        for k in range(3):
            groups.velocity[g, k] *= h
    kinds.shift_groups(scene, motion.q, groups.velocity)
    for i in range(motion.q.size):
        motion.q_last[i], motion.v_last[i] = motion.q[i], motion.v[i]
    evaluate_all(scene)
    for s in range(sliders.dof.size):
        if sliders.attached[s] == 1:
            for k in range(3):
                sliders.position[s, k] = scene.places.position[sliders.point[s], k]
    for p in range(points.kind.size):
        if points.kind[p] == WORLD:
            world.accept(p, points)
    for r in range(rows.kind.size):
        rows.ahead[r] = 0.0
    measure_rows(scene)
    scene.ledger.fresh[0] = 1
