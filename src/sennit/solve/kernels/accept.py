"""What remains of a step when its solve is done: velocities, frames, strains, and what has left its rod."""

from __future__ import annotations

from sennit.bodies.kernels import kinds
from sennit.bodies.kernels.points import WORLD, accept_point, evaluate_point
from sennit.compilation import kernel
from sennit.constraints.kernels.rows import COUNTS_TURNS, TRAITS, evaluate_rows
from sennit.bodies.kernels import world
from sennit.solve.kernels.tensions import accept_cables


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


@kernel
def measure_rows(scene):
    """Value of every row where the points are, and the angle that counts its turns."""
    rows = scene.rows
    evaluate_rows(0, rows.kind.size, rows, scene.places, scene.motion.q, scene.points)
    for r in range(rows.kind.size):
        rows.value[r] = rows.g[r]
        if TRAITS[rows.kind[r]] & COUNTS_TURNS:
            rows.angle[r] = rows.turned[r]


@kernel
def accept(scene):
    """Make the iterate the state. Returns the number of sliders that left their rods.

    In statics velocities become zero.
    """
    points, places, frames, trial_frames = scene.points, scene.places, scene.frames, scene.trial_frames
    rows, motion = scene.rows, scene.motion
    left = kinds.accept(scene)
    kinds.place_sliders(scene, motion.q)
    for p in range(points.kind.size):
        evaluate_point(p, points, trial_frames, motion.q, scene.rigids.quat, places)
        accept_point(p, points, trial_frames, places)
        for k in range(3):
            frames.tangent[p, k] = trial_frames.tangent[p, k]
            frames.reference[p, k] = trial_frames.reference[p, k]
        if points.kind[p] == WORLD:
            world.accept(p, points)
    kinds.accept_places(scene)
    for r in range(rows.kind.size):
        rows.value_last[r] = rows.value[r]
    measure_rows(scene)
    accept_cables(scene)
    return left
