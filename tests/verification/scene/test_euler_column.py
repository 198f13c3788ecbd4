"""Euler's columns, by their supports: EI w'''' + P w'' = 0.

    clamped-free pi^2/4, pinned-pinned pi^2, clamped-pinned 20.19 (tan x = x), clamped-guided 4 pi^2   (times EI/L^2)

A column that shortens carries P (1 - P/EA) = P_Euler (``references.buckling.clamped_column`` without shear).  A cubic
spline of 16 points gives P_c to 1e-5 or so, a chain of n hinges to (x/n)^2/12 with x = sqrt(P_c L^2/EI): 1 % is asked.
"""

from __future__ import annotations

import numpy as np
import pytest
from references import buckling, elastica
from references.scene_cases import MODELS, free_scene, mesh_error, round_rod

import sennit as sn

SLENDERNESS = 1e5
SOFT = 1e4  # rad/(N m): keeps the column from spinning, and changes the pinned load by 2/pi^2/SOFT

CASES = {
    "free": buckling.CLAMPED_FREE,
    "pinned": buckling.PINNED_PINNED,
    "clamped-pinned": buckling.CLAMPED_PINNED,
    "guided": buckling.CLAMPED_CLAMPED,
}
POINTS = {"spline": 20, "discrete": 64}
BAND = {"spline": 1e-3, "discrete": 1e-2}


def column(case: str, load: float, model: str):
    scene = free_scene()
    rod = scene.add(round_rod(SLENDERNESS).straight((0, 0, 0), (0, 0, 1), POINTS[model], model=model))
    scene.add(sn.Clamp(rod.at(0.0), angular_compliance=SOFT if case == "pinned" else 0.0))
    tip = rod.at(rod.length)
    if case != "free":
        scene.add(sn.OnAxis(tip, (0, 0, 1)))
    if case == "guided":
        scene.add(sn.Align(tip, (0, 0, 1)))
    scene.add(sn.Load(tip, force=(0.0, 0.0, -load)))
    return rod, scene.settle()


def is_straight(rod) -> bool:
    return bool(np.abs(rod.centerline(41)[:, :2]).max() < 1e-6)


@pytest.mark.parametrize("case", list(CASES))
@pytest.mark.parametrize("model", MODELS)
def test_critical_load(model, case, validated):
    euler = CASES[case]
    critical = 2 * euler / (1 + np.sqrt(1 - 4 * euler / SLENDERNESS))
    rod, report = column(case, (1 - BAND[model]) * critical, model)
    assert is_straight(rod)
    assert report.stable is True
    rod, report = column(case, (1 + BAND[model]) * critical, model)
    # an unstable state is reported, or left
    assert not (is_straight(rod) and report.stable)
    validated(
        "Euler columns, four kinds of ends",
        area="rods in scenes",
        quantity="critical load, bracket, splines" if model == "spline" else "critical load, bracket, discrete",
        reference="Euler, with the column's shortening",
        error=BAND[model],
        bound=BAND[model],
    )


@pytest.mark.parametrize("excess", [1.1, 2.0])
@pytest.mark.parametrize("model", MODELS)
def test_beyond_it(model, excess, validated):
    # started off the axis by a nudge that is then taken away
    load = excess * buckling.CLAMPED_FREE
    scene = free_scene()
    rod = scene.add(round_rod(SLENDERNESS).straight((0, 0, 0), (0, 0, 1), POINTS[model], model=model))
    scene.add(sn.Clamp(rod.at(0.0)))
    tip = rod.at(rod.length)
    scene.add(sn.Load(tip, force=(0.0, 0.0, -load)))
    nudge = scene.add(sn.Load(tip, force=(0.2, 0.0, 0.0)))
    assert scene.settle().converged
    scene.remove(nudge)
    report = scene.settle()
    assert report.converged
    assert report.stable is True
    known = elastica.buckled_at_load(load, 1)
    # the amplitude is sqrt(P - P_c): an error of P_c is magnified by 1/(2 (excess - 1))
    tolerance = 5 * mesh_error(np.pi, POINTS[model], model) + 20 * load / SLENDERNESS
    validated(
        "Column beyond its critical load",
        area="rods in scenes",
        quantity="tip, of the length, splines" if model == "spline" else "tip, of the length, discrete",
        reference="elliptic integrals",
        error=np.abs(rod.centerline(2)[-1] - [known.deflection, 0.0, 1 - known.shortening]).max(),
        bound=tolerance,
    )
