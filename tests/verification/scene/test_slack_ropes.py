"""A straight rope whose ends are put nearer sags, in one call of `settle`: against the heavy elastica, by scipy.

Random ropes: 20 to 120 control points, thick and thin (radius 5e-4 to 2e-2 of the length), soft and stiff (wL^3/EI from
1e-3 to 1e6), gaps from 0.3 to 0.99 of the length.  Moved at once, more than half of them fold: a cusp at a knot, where
no stretch is measured, is a stable equilibrium of the discrete energy.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import records
from references import slack_rope
from references.scene_cases import MODELS, cells, mesh_error

import sennit as sn

CASES = {"spline": 50, "discrete": 10}
DENSITY, GRAVITY = 1000.0, 9.81


def settled(seed: int, model: str) -> tuple[float, float]:
    """Largest distance of a random rope from the elastica, over its length, and what its mesh allows."""
    random = Random(seed)
    length, gap = 10 ** random.uniform(-1, 1), random.uniform(0.3, 0.99)
    section = sn.Section.circle(10 ** random.uniform(np.log10(5e-4), np.log10(2e-2)) * length)
    young = 10 ** random.uniform(6, 9)
    points = random.choice((20, 30, 60, 120))
    weight, bending = DENSITY * GRAVITY * section.area * length, young * section.I1 / length**2
    wanted = slack_rope.solve(gap, weight, bending, young * section.area)

    scene = sn.Scene(gravity=(0, 0, -GRAVITY))
    rope = scene.add(
        sn.Rod.straight((0, 0, 0), (length, 0, 0), section=section, material=sn.Material(young, 0.4, DENSITY),
                        control_points=points, model=model)
    )  # fmt: skip
    scene.add(sn.Fix(rope.at(0.0)))
    scene.add(sn.Fix(rope.at(length))).target = (gap * length, 0, 0)
    report = scene.settle()
    assert report.converged
    assert report.stable is True
    some = slice(None, None, 8)
    found = np.array([rope.at(s * length).position for s in wanted.s[some]]) / length
    off = np.hypot(found[:, 0] - wanted.x[some], found[:, 2] - wanted.z[some]).max()
    # At a pinned end the curvature goes to 0 in a layer sqrt(EI/T) wide, which a mesh may be too coarse for: a third of
    # this was measured. 2e-6: of scipy's solver, and of forces that balance to 1e-8.
    h, layer = 1.0 / cells(points, model), np.sqrt(bending / (0.5 * weight))
    mesh = mesh_error(max(wanted.curvature, np.pi), points, model)
    return float(off), mesh + 0.02 * wanted.curvature * min(h**2, h**4 / layer**2) + 2e-6


@pytest.mark.parametrize("model", MODELS)
def test_a_rope_whose_ends_are_put_nearer_sags(model, validated, tried):
    for seed in range(CASES[model] * records.thorough()):
        tried.count("random ropes whose ends are put nearer, settled in one call")
        error, bound = settled(seed, model)
        validated(
            "Random slack ropes, wL³/EI from 1e-3 to 1e6, settled in one call",
            area="rods in scenes",
            quantity="centreline, splines" if model == "spline" else "centreline, discrete",
            reference="heavy elastica by scipy's boundary value solver",
            error=error,
            bound=bound,
        )
