"""What a static solve adds to the matrix: second derivatives of constraints and loads, and anchors.

How the forces of rows and loads change as their points move, −∂(Jᵀλ)/∂q, comes by differences of the exact Jacobians.

It takes that to converge quadratically and to tell a stable equilibrium from an unstable one (a pendulum
that stands). Differencing J itself serves every kind of row and of point alike, with nothing to derive for a new one;
the symmetric part is kept (at equilibrium the rest cancels over the scene: rotations do not commute). A time step does
without.

Anchors: the stiffness A of a body alone is singular, held only by rows. With γ JᵀJ added to A, γ Jᵀe to its right side
and Σ/(1 − γΣ) for Σ, the solution stays as it is (λ is 1/(1 − γΣ) of what the system then yields), but A is definite
wherever the constrained system is, and can be eliminated in any order. A row with bounds that holds at the iterate is
one of those that constrain it, and gets its anchor too: a bead that rests on a stop is held by it, however its weight's
pull would change if it could slide on. One that touches without a force does not count.
"""

from __future__ import annotations

from sennit.bodies.kernels.points import (
    WIDTH, WORLD, diagonal_slot, dof_of, evaluate_point, is_angle, turning_body,
)  # fmt: skip
from sennit.bodies.rod.kernels.point import SLIDE
from sennit.bodies.slider.kernels.basis import set_basis
from sennit.compilation import kernel, merged
from sennit.constraints.kernels.loads import pull_load
from sennit.constraints.kernels.rows import ANGULAR, ROW_WIDTH, TRAITS, evaluate_rows, pull_rows, row_dof
from sennit.geometry.kernels.algebra import quat_exp, quat_mul

BLOCK_SIZE = ROW_WIDTH * (ROW_WIDTH + 1) // 2
"""Numbers of a block of second derivatives: the lower triangle over the WIDTH entries of both points."""
PRESSED = 1e-11  # of the scene's forces, above which a row with bounds is pressed
STEP_LENGTH = 1e-6  # of a scene's size, in a position; radians in a rotation


@kernel
def shift_point(p, entry, amount, scene):
    """Evaluate point `p` with the degree of freedom behind one of its entries moved by `amount`, and move it back."""
    points, places, frames = scene.points, scene.places, scene.trial_frames
    q, quat = scene.trial.q, scene.rigids.quat_trial
    body = turning_body(p, entry, points)
    if body >= 0:
        w, x, y, z = quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3]
        a = amount
        turn = (a if entry == 3 else 0.0, a if entry == 4 else 0.0, a if entry == 5 else 0.0)
        quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3] = quat_mul(quat_exp(turn), (w, x, y, z))
        evaluate_point(p, points, frames, q, quat, places)
        quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3] = w, x, y, z
        return
    dof = dof_of(p, entry, points)
    kept = q[dof]
    q[dof] = kept + amount
    if entry == SLIDE:
        s = points.body[p]
        rod, scale, rods = scene.sliders.rod[s], scene.sliders.scale[s], scene.splines.rods
        set_basis(p, q[dof], scale, rods.spans[rod], rods.closed[rod], points)
        evaluate_point(p, points, frames, q, quat, places)
        set_basis(p, kept, scale, rods.spans[rod], rods.closed[rod], points)
    else:
        evaluate_point(p, points, frames, q, quat, places)
    q[dof] = kept


@merged
def pull_block(first, end, scene, at):
    """Generalised forces of a block's constraint, Σ λ_r J_r, or of its load, into small[at : at + ROW_WIDTH]."""
    rows, points, places, small = scene.rows, scene.points, scene.places, scene.trial.small
    for i in range(ROW_WIDTH):
        small[at + i] = 0.0
    if end < 0:
        pull_load(first, scene.loads, points, places, small, at)
    else:
        evaluate_rows(first, end, rows, places, scene.trial.q, points)
        for r in range(first, end):
            if rows.multiplier[r] != 0.0:
                pull_rows(r, r + 1, rows.multiplier[r], rows, points, places, small, at)


@kernel
def add_curvature(scene):
    """Add the block of every constraint and load."""
    points, rows, blocks = scene.points, scene.rows, scene.blocks
    values, small = scene.matrix.values, scene.trial.small
    for c in range(blocks.slot.size):
        first_row, end, at = blocks.first[c], blocks.end[c], blocks.slot[c]
        tied = end >= 0
        first, second = (rows.first[first_row], rows.second[first_row]) if tied else (scene.loads.point[first_row], -1)
        width = ROW_WIDTH if tied else WIDTH
        for column in range(width):
            point, entry = (first, column) if column < WIDTH else (second, column - WIDTH)
            if points.kind[point] == WORLD or dof_of(point, entry, points) < 0:
                continue
            step = STEP_LENGTH if is_angle(point, entry, points) else STEP_LENGTH * scene.trial.size[0]
            # Only this point sees the move: a tie of a rod to itself lists a degree of freedom for either end.
            for way in range(2):
                shift_point(point, entry, step if way == 0 else -step, scene)
                pull_block(first_row, end, scene, way * ROW_WIDTH)
            evaluate_point(point, points, scene.trial_frames, scene.trial.q, scene.rigids.quat_trial, scene.places)
            k = -0.25 / step
            for i in range(width):
                d = k * (small[i] - small[ROW_WIDTH + i])
                if i == column:
                    values[at + i * (i + 1) // 2 + i] += 2.0 * d
                elif i > column:
                    values[at + i * (i + 1) // 2 + column] += d
                else:
                    values[at + column * (column + 1) // 2 + i] += d


@merged
def holds(r, scene):
    """Whether a row holds its value: an equality row, or one with bounds that is pressed, or sticks, at the iterate.

    What presses with no more than rounding leaves of the scene's forces is not strictly active, and may come free.
    """
    rows = scene.rows
    if rows.dual[r] >= 0:
        return True
    if rows.enabled[r] == 0 or rows.side[r] != 0.0:
        return False
    force = scene.step.anchor[0] * scene.trial.size[0]
    if TRAITS[rows.kind[r]] & ANGULAR:
        force *= scene.trial.size[0]
    return rows.lower[r] < 0.0 or rows.multiplier[r] > PRESSED * force


@kernel
def add_anchors(scene):
    """Add the anchors of every row that holds; `gain` becomes 1/(1 − γΣ)."""
    points, rows, blocks = scene.points, scene.rows, scene.blocks
    values, force = scene.matrix.values, scene.trial.force
    floor, size = scene.step.anchor[0], scene.trial.size[0]
    for c in range(blocks.slot.size):
        first, end, at = blocks.first[c], blocks.end[c], blocks.slot[c]
        if end < 0:
            continue
        p, q = rows.first[first], rows.second[first]
        for r in range(first, end):
            rows.gain[r] = 1.0
            if not holds(r, scene):
                continue
            row = scene.layout.row_slots[0] + ROW_WIDTH * r
            square = 0.0
            stiff = 0.0
            for i in range(ROW_WIDTH):
                point, entry = (p, i) if i < WIDTH else (q, i - WIDTH)
                if values[row + i] != 0.0 and dof_of(point, entry, points) >= 0:
                    x = values[row + i] * values[row + i]
                    square += x
                    stiff += x * max(values[diagonal_slot(point, entry, points)], 0.0)
            if square == 0.0:
                continue
            angular = TRAITS[rows.kind[r]] & ANGULAR
            gamma = max(stiff / (square * square), floor * size * size if angular else floor)
            if rows.softness[r] > 0.0:
                gamma = min(gamma, 0.5 / rows.softness[r])
            rows.gain[r] = 1.0 / (1.0 - gamma * rows.softness[r])
            if rows.dual[r] >= 0:
                values[scene.layout.diagonals[0] + r] = -rows.softness[r] * rows.gain[r]
            for i in range(ROW_WIDTH):
                if values[row + i] == 0.0:
                    continue
                k = gamma * values[row + i]
                dof = row_dof(r, i, rows, points)
                if dof >= 0:
                    force[dof] += k * rows.wanted[r]
                for j in range(i + 1):
                    values[at + i * (i + 1) // 2 + j] += k * values[row + j]
