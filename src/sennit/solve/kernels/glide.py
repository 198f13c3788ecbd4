"""What free flight changes of the rows of cables, which steps add to what forces change.

Kernels take all tables of cables as one, `rigging` (`constraints.cable.table.Rigging`).
"""

from __future__ import annotations

from sennit.bodies.kernels.frames import get3
from sennit.bodies.kernels.points import RIGID
from sennit.bodies.rigid.kernels.rotation import omega_from_momentum
from sennit.compilation import inlined, kernel, merged
from sennit.geometry.kernels.algebra import add3, quat_log, quat_matrix, quat_mul, row9, scale3
from sennit.solve.kernels.cables import along_row, share_out, world_motion


@kernel
def sweep_bodies(scene):
    """c times the velocities that free flight ends with; those of rigid bodies from their angular momentum there."""
    scheme, rigids, v_base, sweep = scene.scheme, scene.rigids, scene.trial.v_base, scene.rigging.pulls.sweep
    reach = scheme.reach[0]
    for i in range(v_base.size):
        sweep[i] = reach * v_base[i]
    for body in range(rigids.dof.size):
        o, quat = rigids.dof[body] + 3, rigids.quat_base
        R = quat_matrix((quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3]))
        L = add3(scale3(scheme.d[0], get3(rigids.spin, body)), scale3(scheme.e[0], get3(rigids.spin_last, body)))
        turn = scale3(reach, omega_from_momentum(R, row9(rigids.inverse, body, 0), L))
        sweep[o], sweep[o + 1], sweep[o + 2] = turn


@inlined
def shares_cut(row, other, rows):
    """Whether two rows are parts that were just cut out of the same."""
    return rows.fresh[other] == 1 and rows.cable[other] == rows.cable[row] and rows.group[other] == rows.group[row]


@kernel
def sweep_rows(scene):
    """What the rows' values change by at the velocities that free flight ends with, with J where it ends.

    Every rate is that of the two-step formula (`schemes`), also of what runs past sheaves and off winches. A change d
    of the value that the step makes after d₋ has the rate c r₊ = d + B d₋ and flies on with r̂ = D r + E r₋, as bodies
    do: a part into which cable runs as fast as it lengthens is drawn out by nothing. `turned` holds what the last step
    adds to c times the rate at which this one ends.
    """
    rigging, scheme = scene.rigging, scene.scheme
    rows = rigging.rows
    sweep_bodies(scene)
    for row in range(rows.tension.size):
        swept = along_row(row, rigging.pulls.sweep, rigging)
        driven_on = scheme.d[0] * rows.driven_rate[row] + scheme.e[0] * rows.driven_rate_last[row]
        rows.world_move[row] = world_motion(row, rigging, scene.points)
        rows.came[row] = swept + scheme.reach[0] * driven_on
        rows.turned[row] = swept + scheme.b[0] * rows.driven[row]
    row = 0
    while row < rows.tension.size:
        # parts that were just cut out of the same lengthen alike
        last = row
        while rows.fresh[row] == 1 and last + 1 < rows.tension.size and shares_cut(row, last + 1, rows):
            last += 1
        if last > row:
            share_out(row, last, rows.came, rows.way)
            share_out(row, last, rows.turned, rows.way)
        row = last + 1


@merged
def glide_cables(scene):
    """Change of the rows' values in free flight, and their values a step ago by the present rates."""
    rigging, points, h = scene.rigging, scene.points, scene.step.step[0]
    cables, elements, rows = rigging.cables, rigging.elements, rigging.rows
    glide, sweep = rigging.pulls.glide, rigging.pulls.sweep
    v, quat, quat_base = scene.motion.v, scene.rigids.quat, scene.rigids.quat_base
    if cables.first.size == 0:
        return
    sweep_bodies(scene)
    for i in range(v.size):
        glide[i] = h * v[i]
    for c in range(cables.first.size):
        for e in range(cables.first[c], cables.first[c] + cables.count[c]):
            p = elements.carrier[e]
            if points.kind[p] == RIGID:
                # free rotation is not h ω: the angular velocity of a tumbling body changes on the way
                body, o = points.body[p], points.base[p]
                old = (quat[body, 0], -quat[body, 1], -quat[body, 2], -quat[body, 3])
                new = (quat_base[body, 0], quat_base[body, 1], quat_base[body, 2], quat_base[body, 3])
                glide[o + 3], glide[o + 4], glide[o + 5] = quat_log(quat_mul(new, old))
    for row in range(rows.tension.size):
        rows.world_move[row] = world_motion(row, rigging, points)
        flown, swept = along_row(row, glide, rigging), along_row(row, sweep, rigging)
        rows.free[row] = flown + rows.world_move[row]
        rows.turned[row] = swept - flown
        rows.came[row] = swept + h * (rows.world_rate[row] - rows.rest_rate[row])
        rows.past[row] = rows.value[row] - h * (rows.past[row] + rows.world_rate[row] - rows.rest_rate[row])
    row = 0
    while row < rows.tension.size:
        last = row + rows.joined_rows[row]
        if last > row:
            share_out(row, last, rows.past, rows.way)
            share_out(row, last, rows.free, rows.way)
            share_out(row, last, rows.came, rows.way)
            share_out(row, last, rows.turned, rows.way)
        row = last + 1
