"""Cantilevers at rest: EI theta'' = P cos(theta), tip by elliptic integrals (exact to 1e-14), and its small limit.

small: w = P (L s^2/2 - s^3/6)/EI, a cubic, which a cubic spline holds exactly: only (P L^2/EI)^2 is left;
weight: EI theta'' = w (L - s) cos(theta), by Chebyshev collocation (1e-11);
stretch: the same rod as a Cosserat strand with the same EA and shear forbidden.

The inextensible references are met within 2 (P L^2/EI)/slenderness besides the error of the mesh (``mesh_error``).
"""

from __future__ import annotations

import numpy as np
import pytest
from references import elastica
from references.scene_cases import MODELS, flat_rod, free_scene, mesh_error, pose_at, round_rod

import sennit as sn

SLENDERNESS = 1e6
POINTS = {"spline": 20, "discrete": 60}


def settled(make, load, model: str, gravity=(0.0, 0.0, 0.0)):
    """A rod of length 1 along x, clamped at 0, with ``load`` at its tip."""
    scene = sn.Scene(gravity=gravity)
    rod = scene.add(make.straight((0, 0, 0), (1, 0, 0), POINTS[model], model=model))
    clamp = scene.add(sn.Clamp(rod.at(0.0)))
    if np.any(load):
        scene.add(sn.Load(rod.at(rod.length), force=load))
    report = scene.settle()
    assert report.converged
    assert report.stable is True
    return rod, clamp


@pytest.mark.parametrize("direction", [(0, 0, -1), (0, 1, 0), (0, 0.6, 0.8)])
@pytest.mark.parametrize("model", MODELS)
def test_small_deflection(model, direction, validated):
    load = 1e-3
    rod, clamp = settled(round_rod(SLENDERNESS), load * np.array(direction), model)
    s = np.linspace(0.0, 1.0, 41)
    expected = load * (s**2 / 2 - s**3 / 6)[:, None] * np.array(direction)
    # a chain of hinges has h^2 of the deflection P/3, and its polygon sags h^2/8 of the curvature P
    h = 1.0 / (POINTS[model] - 1)
    tolerance = load**2 if model == "spline" else h**2
    validated(
        "Cantilever, small load",
        area="rods in scenes",
        quantity="deflection, of PL³/EI, splines" if model == "spline" else "deflection, of PL³/EI, discrete",
        reference="P(s²/2 − s³/6)/EI",
        error=np.abs((rod.centerline(41) - expected)[:, 1:]).max() / load,
        bound=tolerance,
    )
    assert np.abs(clamp.force + load * np.array(direction)).max() < 1e-6 * load
    # the clamp holds the moment of the load: force x arm
    assert np.abs(clamp.torque + load * np.cross((1, 0, 0), direction)).max() < 1e-5 * load


@pytest.mark.parametrize("load", [1.0, 3.0, 10.0, 30.0])
@pytest.mark.parametrize("model", MODELS)
def test_elastica(model, load, validated):
    rod, clamp = settled(round_rod(SLENDERNESS), (0.0, 0.0, -load), model)
    tip = elastica.end_loaded(load)
    tolerance = mesh_error(max(np.pi / 2, np.sqrt(load)), POINTS[model], model) + 2 * load / SLENDERNESS
    validated(
        "Cantilever, dead end force, PL²/EI to 30",
        area="rods in scenes",
        quantity="tip, of the length, splines" if model == "spline" else "tip, of the length, discrete",
        reference="elliptic integrals",
        error=np.abs(rod.centerline(2)[-1] - [tip.x, 0.0, tip.y]).max(),
        bound=tolerance,
    )
    # positive rotation about y takes x to -z
    assert np.abs(clamp.torque - [0.0, tip.base_curvature, 0.0]).max() < 2 * load * tolerance


def test_elastica_of_a_steel_ruler():
    # width along d1, height along d2 = up: the load along z bends about d1, I1 = width height^3/12
    width, height, length = 0.02, 5e-4, 0.3
    section, steel = sn.Section.rectangle(width, height), sn.Material(210e9, 0.3, 7850)
    scene = free_scene()
    ruler = scene.add(sn.Rod.straight((0, 0, 0), (length, 0, 0), section=section, material=steel, control_points=20))
    scene.add(sn.Clamp(ruler.at(0.0)))
    stiffness = 210e9 * width * height**3 / 12
    scene.add(sn.Load(ruler.at(length), force=(0, 0, -3.0 * stiffness / length**2)))
    assert scene.settle().stable is True
    tip = elastica.end_loaded(3.0)
    slenderness = 12 * length**2 / height**2
    tolerance = mesh_error(np.pi / 2, 20, "spline") + 6.0 / slenderness
    assert np.abs(ruler.centerline(2)[-1] / length - [tip.x, 0.0, tip.y]).max() < tolerance


@pytest.mark.parametrize("weight", [1.0, 10.0, 100.0])
@pytest.mark.parametrize("model", MODELS)
def test_own_weight(model, weight, validated):
    rod, clamp = settled(round_rod(SLENDERNESS), (0, 0, 0), model, gravity=(0.0, 0.0, -weight))
    tip = elastica.heavy(weight).tip
    # next to the clamp the tension is w L: the angle falls as exp(-sqrt(w) s)
    tolerance = mesh_error(max(np.pi / 2, np.sqrt(weight)), POINTS[model], model) + 2 * weight / SLENDERNESS
    validated(
        "Cantilever under its own weight, wL³/EI to 100",
        area="rods in scenes",
        quantity="tip, of the length, splines" if model == "spline" else "tip, of the length, discrete",
        reference="Chebyshev collocation, 1e-11",
        error=np.abs(rod.centerline(2)[-1] - [tip.x, 0.0, tip.y]).max(),
        bound=tolerance,
    )
    assert np.abs(clamp.force - [0.0, 0.0, weight]).max() < 1e-6 * weight


@pytest.mark.parametrize("slenderness", [1e3, 1e5])
def test_soft_in_stretch_against_a_strand(slenderness, validated):
    # the tip of a rod with EA L^2/EI = 1e3 moves 1 % by stretch alone; load in space, two bending stiffnesses
    make, load = flat_rod(slenderness, 2.0), np.array([1.0, 5.0, -8.0])
    rod, _ = settled(make, load, "spline")
    rest = make.straight((0, 0, 0), (1, 0, 0), 20)
    state = make.strand().solve(base=pose_at(rest, 0), tip_force=load)
    validated(
        "Rod that stretches, two bending stiffnesses",
        area="rods in scenes",
        quantity="centreline, of the length",
        reference="our strand",
        error=np.abs(rod.centerline(401) - state.positions).max(),
        bound=mesh_error(np.sqrt(10.0), 20, "spline"),
    )
    # tensions: the part of the internal force along the tangent; strains converge one order behind positions
    pulls = np.einsum("ij,ij->i", state.forces, state.rotations[:, :, 2])
    assert np.abs(rod.tensions(401) - pulls).max() < 1e-2 * 10.0


@pytest.mark.parametrize("control_points", [4, 5, 6, 8, 20])
@pytest.mark.parametrize("model", MODELS)
def test_patch(model, control_points, validated):
    # a straight rod pulled by F has the tension F everywhere and is F L/EA longer, on any mesh
    make, pull = round_rod(1e3), 4.0
    scene = free_scene()
    rod = scene.add(make.straight((0, 0, 0), (1, 0, 0), control_points, model=model))
    scene.add(sn.Clamp(rod.at(0.0)))
    scene.add(sn.Load(rod.at(rod.length), force=(pull, 0, 0)))
    assert scene.settle().converged
    validated(
        "Patch test: straight rod pulled, 4 to 20 control points",
        area="rods in scenes",
        quantity="tension",
        reference="the load",
        error=np.abs(rod.tensions(41) / pull - 1).max(),
        bound=1e-6,
    )
    s = np.linspace(0.0, 1.0, 41)
    assert np.abs(rod.centerline(41) - np.outer(s, (1 + pull / 1e3, 0, 0))).max() < 1e-8
