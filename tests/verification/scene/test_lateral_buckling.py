"""Lateral buckling of a deep cantilever with a force at its tip's centroid.

    P_c = 4.0126 sqrt(EI_minor GJ)/L^2

S. P. Timoshenko and J. M. Gere, Theory of Elastic Stability (2nd ed. 1961), section 6.3, where the bending before
buckling is neglected.  With it, EI_minor GJ is divided by (1 - EI_minor/EI_major)(1 - GJ/EI_major): 0.5 % of P_c for
the section 20 times as deep as wide that is used here, of which 3 % either side is well clear.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.scene_cases import MODELS, flat_rod, free_scene

import sennit as sn

POINTS = {"spline": 16, "discrete": 48}
CONSTANT = 4.0126
"""Root of J_(-1/4)(x/2), by the same book; test_the_constant repeats it."""


def buckled(make, load: float, model: str, sideways: float = 0.0) -> tuple[bool, float]:
    """Whether the plane state was found stable, and how far the tip went sideways."""
    scene = free_scene()
    beam = scene.add(make.straight((0, 0, 0), (1, 0, 0), POINTS[model], model=model))
    scene.add(sn.Clamp(beam.at(0.0)))
    scene.add(sn.Load(beam.at(beam.length), force=(0.0, sideways, -load)))
    report = scene.settle()
    return report.stable is True, float(abs(beam.centerline(2)[-1, 1]))


def critical(make) -> float:
    minor, major, twist = make.bend2, make.bend1, make.twist
    return CONSTANT * np.sqrt(minor * twist / ((1 - minor / major) * (1 - twist / major)))


def test_the_constant():
    # GJ b'' + P^2 (L - s)^2/EI b = 0, b = 0 at the clamp, b' = 0 at the tip: b = sqrt(x) J_(-1/4)(P x^2/(2 root))
    from scipy.optimize import brentq
    from scipy.special import jv

    assert 2 * brentq(lambda z: jv(-0.25, z), 1.5, 2.5) == pytest.approx(CONSTANT, abs=5e-5)


@pytest.mark.parametrize("model", MODELS)
def test_critical_load(model, validated):
    make = flat_rod(1e6, 20.0)
    load = critical(make)
    stable, sideways = buckled(make, 0.97 * load, model)
    assert stable
    assert sideways < 1e-9
    stable, sideways = buckled(make, 1.03 * load, model)
    assert not (stable and sideways < 1e-6)
    validated(
        "Deep beam that tips over",
        area="rods in scenes",
        quantity="critical load, bracket",
        reference="Prandtl and Michell: 4.013",
        error=0.03,
        bound=0.03,
    )


def test_a_nudge_grows_above_the_critical_load():
    # below it a small side load S moves the tip by S/3 L^3/EI, magnified by 1/(1 - (P/P_c)^2) or so; above it, far
    make, nudge = flat_rod(1e6, 20.0), 1e-4
    load = critical(make)
    _, below = buckled(make, 0.7 * load, "spline", nudge)
    assert nudge / 3 < below < 10 * nudge / 3
    stable, above = buckled(make, 1.1 * load, "spline", nudge)
    assert stable
    assert above > 0.1
