"""The way by which a rod came to an equilibrium does not change it: two ways, with the same turns of its clamps.

The same to 1e-6 of the length and 1e-4 1/m of twist, by forces, torques, loads that follow, and clamps that are led.
Where nothing twists a round rod, its twist is 0.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.scene_cases import MODELS

import sennit as sn
from sennit.geometry.rotations import quaternion_product, rotation_exp

POINTS = {"spline": 20, "discrete": 24}
SECTIONS = {
    "thin": sn.Section.circle(5e-3), "thick": sn.Section.circle(3e-2), "flat": sn.Section.rectangle(0.04, 0.02),
}  # fmt: skip
RUBBER = sn.Material(1e7, 0.4, 1000)
# forces in EI/L^2; the last one is where both ways end
BY_FORCES = {"short": [(0, 0, 1), (1, 3, 2)], "long": [(0, 4, 0), (0, 0, 5), (0, -4, 2), (-3, 1, -3), (1, 3, 2)]}
# place of the far end in lengths, and its turns about z and y, rad
BY_CLAMPS = {
    "short": [((0.75, 0.0, 0.2), 0.2, 0.0), ((0.6, 0.2, 0.1), 0.5, 0.4)],
    "long": [
        ((0.7, 0.3, 0.0), 0.0, 0.5), ((0.55, -0.1, 0.3), 0.6, -0.3), ((0.6, -0.3, 0.1), 0.3, 0.2),
        ((0.6, 0.2, 0.1), 0.5, 0.4),
    ],
}  # fmt: skip


def hung(model: str, section: str) -> tuple[sn.Scene, sn.Rod]:
    scene = sn.Scene()
    rod = scene.add(
        sn.Rod.straight((0, 0, 0), (1, 0, 0), section=SECTIONS[section], material=RUBBER, control_points=POINTS[model],
                        model=model)
    )  # fmt: skip
    scene.add(sn.Clamp(rod.at(0.0)))
    return scene, rod


def by_forces(model: str, section: str, way: str, scale: float = 1.0, torque=(0.0, 0.0, 0.0), follower=False) -> sn.Rod:
    scene, rod = hung(model, section)
    load = scene.add(sn.Load(rod.at(1.0), follower=follower))
    stiffness = rod.stiffness[1]
    for force in BY_FORCES[way]:
        load.force, load.torque = scale * stiffness * np.array(force), stiffness * np.array(torque)
        assert scene.settle().converged
    return rod


def by_clamps(model: str, section: str, way: str) -> sn.Rod:
    scene, rod = hung(model, section)
    end = scene.add(sn.Clamp(rod.at(1.0)))
    start = end.target.quaternion
    for place, about_z, about_y in BY_CLAMPS[way]:
        turn = quaternion_product(rotation_exp((0, 0, about_z)), rotation_exp((0, about_y, 0)))
        end.target = sn.Pose(place, quaternion_product(turn, start))
        assert scene.settle().converged
    return rod


LED = {
    "forces": by_forces,
    "torque": lambda *how: by_forces(*how, scale=0.6, torque=(0.3, 0.6, -0.2)),
    "follower": lambda *how: by_forces(*how, scale=0.3, follower=True),
    "clamps": by_clamps,
}


@pytest.mark.parametrize("led", LED)
@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("model", MODELS)
def test_two_ways_to_one_equilibrium(model, section, led):
    short, long = (LED[led](model, section, way) for way in ("short", "long"))
    assert np.abs(short.centerline(60) - long.centerline(60)).max() < 1e-6
    assert np.abs(short.curvatures(60)[:, 2] - long.curvatures(60)[:, 2]).max() < 1e-4


@pytest.mark.parametrize("section", ["thin", "thick"])
@pytest.mark.parametrize("model", MODELS)
def test_no_twist_is_left_by_the_way(model, section, validated):
    rod = by_forces(model, section, "long")
    validated(
        "Round rod led through space by a force at its tip",
        area="rods in scenes",
        quantity="twist (1/m)",
        reference="0: no torque acts about its tangent",
        error=np.abs(rod.curvatures(60)[:, 2]).max(),
        bound=1e-4,
    )


def test_whole_turns_of_a_clamp_stay():
    """Turned once round, led aside and back: renewed frames do not lose the turn."""
    scene, rod = hung("spline", "thick")
    scene.gravity = (0, 0, 0)
    end = scene.add(sn.Clamp(rod.at(1.0)))
    start = end.target.quaternion
    for turned in np.linspace(0.0, 2 * np.pi, 5)[1:]:
        end.target = sn.Pose((1, 0, 0), quaternion_product(rotation_exp((turned, 0, 0)), start))
        assert scene.settle().converged
    for place in ((0.95, 0.2, 0.0), (0.95, 0.0, 0.25), (0.95, -0.2, 0.0), (1, 0, 0)):
        end.target = sn.Pose(place, start)
        assert scene.settle().converged
    assert np.abs(np.abs(rod.curvatures(60)[:, 2]) - 2 * np.pi).max() < 1e-4
