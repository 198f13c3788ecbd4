"""Corners of zones that were wrong once: rounding at flush plates, meshes of trimesh, copies, what is read-only."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import trimesh
from unit.scene.kit import refused

import sennit as sn

MATERIAL = sn.Material(5e4, 0.45, 1000)


def box(subdivisions: int, material: sn.Material = MATERIAL) -> sn.Zone:
    mesh = trimesh.creation.box(extents=(0.04, 0.04, 0.02))
    for _ in range(subdivisions):
        mesh = mesh.subdivide()
    return sn.Zone.from_mesh(mesh, material=material, fixed=np.asarray(mesh.vertices)[:, 2] < -0.0099)


@pytest.mark.parametrize("poisson_ratio", [0.3, 0.465, 0.49, 0.499])
def test_a_plain_box_at_any_ratio(poisson_ratio: float) -> None:
    """Along its sharp edges the stiffness was not positive above 0.46; the force grows gently with the ratio."""
    zone = box(3, sn.Material(5e4, poisson_ratio, 1000))
    force = zone.touch((0, 0, 0.01), displacement=(0, 0, -1e-3), radius=0.01).force[2]
    assert -1.35 < force < -1.0


@pytest.mark.parametrize("normal", [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)])
def test_a_plate_flush_with_a_side_does_not_press(normal) -> None:
    state = box(2).press(sn.Plane(-0.02 * np.array(normal), normal))
    assert not state.force.any() and not len(state.patch)
    assert state.report.converged


def test_a_tip_between_vertices_says_so() -> None:
    zone = box(2)
    face = zone.faces[np.argmax(zone.vertices[zone.faces][:, :, 2].min(axis=1))]
    middle = zone.vertices[face].mean(axis=0)
    state = zone.press(sn.Sphere(middle + np.array((0, 0, 5e-4)), 1e-3))
    assert not state.force.any()
    assert "0 vertices touch" in state.report.message and "touch" in state.report.message
    wide = zone.press(sn.Sphere((0, 0, 0.1 + 0.008), 0.1))
    assert len(wide.patch) > 7 and wide.report.message == ""
    assert zone.press(sn.Sphere((0, 0, 0.5), 0.1)).report.message == ""


def test_contact_along_a_wrong_normal_is_not_called_converged() -> None:
    """A sphere as large as the body, deep in it: what was found once had forces along the surface without friction."""
    from references.meshes import block

    vertices, faces = block((0.8, 0.8, 0.4), (8, 8, 4))
    zone = sn.Zone.from_mesh(vertices, faces, material=sn.Material(2e4, 0.45, 1000), fixed=vertices[:, 2] < 1e-9)
    ball = sn.Sphere((0.4677996098525937, 0.38694522480539917, 0.35104034045146143), 0.3179585494927882)
    state = zone.press(ball, throw=False)
    places = state.positions[state.patch] - ball.centre
    normals = places / np.linalg.norm(places, axis=1)[:, None]
    along = np.einsum("ij,ij->i", state.contact_forces, normals)
    across = np.linalg.norm(state.contact_forces - along[:, None] * normals, axis=1)
    if state.report.converged:
        assert (across <= 1e-3 * along).all()


def test_a_failed_press_is_no_history() -> None:
    zone = box(2)
    ball = sn.Sphere((0.0, 0.0, 0.018), 0.01)
    deep = zone.press(sn.Sphere((0.0, 0.0, -0.009), 0.01), friction=0.3, throw=False)
    assert not deep.report.converged
    np.testing.assert_array_equal(
        zone.press(ball, friction=0.3, after=deep).force, zone.press(ball, friction=0.3).force
    )


def test_copies_and_other_processes_get_a_zone_of_their_own() -> None:
    zone = box(1)
    scene = sn.Scene()
    scene.add(zone)
    force = zone.touch((0, 0, 0.01), displacement=(0, 0, -1e-3), radius=0.04).force
    for twin in (copy.copy(zone), copy.deepcopy(zone), pickle.loads(pickle.dumps(zone))):
        assert twin is not zone and twin.scene is None
        np.testing.assert_array_equal(twin.touch((0, 0, 0.01), displacement=(0, 0, -1e-3), radius=0.04).force, force)
        sn.Scene().add(twin)


def test_what_states_give_is_read_only() -> None:
    zone = box(2)
    probe = zone.touch((0, 0, 0.01), displacement=(0, 0, -1e-3)).probe
    pressed = zone.press(sn.Sphere((0, 0, 0.108), 0.1))
    for array in (probe.vertices, probe.weights, probe.compliance, probe.foot, pressed.patch, pressed.contact_forces,
                  pressed.contact_normals, pressed.displacements, pressed.force):  # fmt: skip
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_refusals() -> None:
    zone = box(2)
    vertex = int(np.argmax(zone.vertices[:, 2]))
    refused(lambda: zone.touch((0, 0, 0.01), displacement=(np.nan, 0, -1e-3)), "displacement", "nan")
    refused(lambda: zone.at((0, 0, 1e6)), "place", "1e+06 m")
    refused(lambda: zone.at(vertex, radius=1e-4), "radius", "leave it out")
    refused(lambda: sn.Load(zone.at(vertex), torque=(0, 0, 0.01)), "torque", "radius=")
    load = sn.Load(zone.at(vertex), force=(0, 0, 1))
    refused(lambda: setattr(load, "torque", (0, 0, 1)), "torque", "radius=")
    assert not load.torque.any()
    refused(lambda: sn.Zone.from_mesh("box.stl", material=MATERIAL), "vertices", "box.stl", "load_mesh")


def test_places_that_are_no_longer_held_are_forgotten() -> None:
    zone = box(2)
    scene = sn.Scene()
    scene.add(zone)
    tops = np.flatnonzero(zone.vertices[:, 2] > 0.0099)
    for vertex in tops[:5].tolist():
        load = scene.add(sn.Load(zone.at(vertex), force=(0, 0, -0.01)))
        assert scene.dofs == 3
        scene.remove(load)
    assert scene.dofs == 0
    assert not zone._columns and not zone._begun
