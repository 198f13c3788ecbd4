"""What a constraint of a scene does now, read from the scene's tables."""

from __future__ import annotations

from sennit.bodies.kernels import world
from sennit.bodies.kernels.points import WORLD
from sennit.compilation import kernel
from sennit.constraints.kernels.rows import evaluate_rows


@kernel
def measure(first, end, rows, points, places, q, out):
    """Wrench of the rows `first` to `end` on their first point, and how far each is off its target, into `out` (6 + k).

    Places are those of the state; points of the world may have been put elsewhere since.
    """
    for p in (rows.first[first], rows.second[first]):
        if points.kind[p] == WORLD:
            world.place(p, points, places)
    evaluate_rows(first, end, rows, places, q, points)
    for r in range(first, end):
        for a in range(3):
            out[a] += rows.multiplier[r] * rows.force[r, a]
            out[3 + a] += rows.multiplier[r] * rows.moment[r, a]
        out[6 + r - first] = rows.g[r] + rows.ahead[r]
