"""Zones pressed by cylinders, capsules and ground: as by a plane, a sphere or a fine mesh of the same solid."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import trimesh

import sennit as sn

GEL = sn.Material(youngs_modulus=5e4, poisson_ratio=0.45, density=1000)
OVER = (0.0, 1.0, 0.0, 0.0)  # upside down
LYING = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)


@functools.cache
def pad() -> sn.Zone:
    block = trimesh.creation.box((0.04, 0.04, 0.02)).subdivide_to_size(0.005)
    return sn.Zone.from_mesh(block, material=GEL, fixed=block.vertices[:, 2] < -0.0099)


@pytest.mark.parametrize("friction", [0.0, 0.4])
@pytest.mark.parametrize(
    ("shape", "same"),
    [
        # ground that is flat and upside down is a plane
        (sn.HeightField(np.zeros((4, 5)), (1.0, 1.2), sn.Pose((0.01, 0, 0.009), OVER)),
         sn.Plane((0, 0, 0.009), (0, 0, -1))),
        # a capsule that stands on its round end is a ball
        (sn.Capsule(0.02, 0.1, sn.Pose((0.001, 0.002, 0.078))), sn.Sphere((0.001, 0.002, 0.028), 0.02)),
        # a long one that lies touches with its straight part, as a cylinder does
        (sn.Capsule(0.02, 0.2, sn.Pose((0, 0, 0.0285), LYING)), sn.Cylinder(0.02, 0.2, sn.Pose((0, 0, 0.0285), LYING))),
    ],
)  # fmt: skip
def test_the_same_solid_presses_the_same(shape, same, friction) -> None:
    ours, theirs = pad().press(shape, friction=friction), pad().press(same, friction=friction)
    assert ours.report.converged and theirs.report.converged
    assert theirs.force[2] < -1e-2
    scale = np.linalg.norm(theirs.force)
    np.testing.assert_allclose(ours.force, theirs.force, atol=1e-6 * scale)
    np.testing.assert_allclose(ours.displacements, theirs.displacements, atol=1e-8)


@pytest.mark.parametrize(
    ("shape", "mesh"),
    [
        (sn.Cylinder(0.008, 0.02, sn.Pose((0.001, 0, 0.0185))), trimesh.creation.cylinder(0.008, 0.02, sections=128)),
        (sn.Cylinder(0.02, 0.03, sn.Pose((0, 0, 0.0285), LYING)), trimesh.creation.cylinder(0.02, 0.03, sections=512)),
    ],
)
def test_a_cylinder_presses_as_its_mesh(shape, mesh) -> None:
    """A punch with a sharp rim, and one that lies and whose ends press in; a mesh of n corners is r π²/2n² inside."""
    ours, theirs = pad().press(shape), pad().press(sn.Mesh(mesh, pose=shape.pose))
    assert ours.report.converged and theirs.report.converged
    np.testing.assert_allclose(ours.force, theirs.force, atol=0.01 * np.linalg.norm(theirs.force))
    assert set(ours.patch) and abs(ours.force[2]) > 1e-2


def test_hills_press_in() -> None:
    """No vertex is left inside, and those that carry a force are on the surface."""
    x = np.linspace(-1, 1, 21)
    hills = 0.002 * np.cos(6 * x)[:, None] * np.cos(5 * x)
    ground = sn.HeightField(hills, (0.06, 0.06), sn.Pose((0, 0, 0.0112), OVER))
    state = pad().press(ground, friction=0.3)
    assert state.report.converged
    places = pad().vertices + state.displacements
    free = pad().vertices[:, 2] > -0.0099
    assert ground.signed_distance(places[free]).min() > -1e-9
    assert 3 < len(state.patch) < free.sum()
    np.testing.assert_allclose(ground.signed_distance(places[state.patch]), 0.0, atol=1e-9)
