"""What users apply to points: forces and torques, in the world or turning with the point."""

from __future__ import annotations

from sennit.bodies.kernels.points import SLIDER, add_wrench, pull_back
from sennit.compilation import inlined, merged
from sennit.bodies.kernels.frames import get3, turn_out


@inlined
def load_wrench(i, loads, places):
    """Force and torque of load `i` in the world."""
    f, m = get3(loads.force, i), get3(loads.torque, i)
    if loads.follows[i] == 1:
        p = loads.point[i]
        f, m = turn_out(places, p, f), turn_out(places, p, m)
    return f, m


@merged
def add_loads(weight, loads, sliders, points, places, small, force):
    """Add weight·(generalised forces of all loads) to `force`. What has left its rod feels none."""
    for i in range(loads.point.size):
        p = loads.point[i]
        if loads.enabled[i] == 0 or (points.kind[p] == SLIDER and sliders.attached[points.body[p]] == 0):
            continue
        f, m = load_wrench(i, loads, places)
        add_wrench(p, f, m, weight, points, places, small, force)


@merged
def pull_load(i, loads, points, places, out, at):
    """Add the generalised forces of load `i` to out[at …]."""
    if loads.enabled[i] == 1:
        f, m = load_wrench(i, loads, places)
        pull_back(loads.point[i], f, m, 1.0, points, places, out, at)
