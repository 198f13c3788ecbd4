"""Cables and sheaves in portraits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from unit.portrait.kit import (
    MATERIAL,
    ROUND,
    cabled,
    seen,
    views_of,
)

import sennit as sn
from sennit import World
from sennit.geometry.rotations import quaternion_rotate
from sennit.portrait.of_scene import portrait_of


def test_cables_run_where_they_run() -> None:
    scene, (hoist, slack, wound), _ = cabled()
    portrait = portrait_of(scene)
    for _ in range(20):
        scene.step(1e-3)
    for cable in (hoist, wound):
        part, view = seen(portrait, cable)
        drawn = float(np.linalg.norm(np.diff(view.centres, axis=0), axis=1).sum())
        assert part.half == (0.008, 0.008)
        assert drawn == pytest.approx(cable.path_length, rel=1e-3)
        assert np.allclose(view.centres[-1], cable.entries[-1].position)
        along = np.diff(view.centres, axis=0)
        along /= np.linalg.norm(along, axis=1)[:, None]
        # a director is across the line half way between the pieces before and after it: 7.5° on an arc
        assert np.abs(np.einsum("ij,ij->i", along, view.directors[1:])).max() < 0.08
    part, view = seen(portrait, slack)
    assert slack.slack
    drawn = float(np.linalg.norm(np.diff(view.centres, axis=0), axis=1).sum())
    assert drawn == pytest.approx(slack.length, rel=2e-3)
    assert part.stripe is None
    assert not view.fields["tension"].any()


def test_tensions_differ_on_both_sides_of_a_bollard() -> None:
    scene, (_, _, wound), _ = cabled()
    portrait = portrait_of(scene)
    for _ in range(50):
        scene.step(1e-3)
    _, view = seen(portrait, wound)
    before, after = wound.tensions
    assert abs(after - before) > 0.1
    assert view.fields["tension"][0] == before
    assert view.fields["tension"][-1] == after
    assert set(view.fields["tension"].tolist()) == {before, after}


def test_a_sheave_turns_by_its_angle() -> None:
    scene, (hoist, *_), (wheel, post) = cabled()
    portrait = portrait_of(scene)
    part, start = seen(portrait, wheel)
    mark = quaternion_rotate(start.quaternion, (1.0, 0.0, 0.0))
    hoist.drive(0.4)
    for _ in range(500):
        scene.step(2e-3)
    assert abs(wheel.angle) > 2.0
    _, end = seen(portrait, wheel)
    axis = np.array((0.0, 1.0, 0.0))
    turned = math.cos(wheel.angle) * mark + math.sin(wheel.angle) * np.cross(axis, mark)
    assert np.allclose(quaternion_rotate(end.quaternion, (1.0, 0.0, 0.0)), turned, atol=1e-9)
    assert np.allclose(quaternion_rotate(end.quaternion, (0.0, 0.0, 1.0)), axis)
    assert np.allclose(end.position, (0.5, 0.0, 1.5))
    assert part.role == "tie"
    assert post in [subject for _, _, subject in views_of(portrait)]


def chain_of_sheaves() -> tuple[sn.Scene, sn.Cable, list[sn.Sheave]]:
    """A cable over three fixed axles, one of them of a sheave that is slow to turn, and under one that it lifts."""
    scene = sn.Scene()
    load = scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=3.0, position=(2.0, 0.0, 0.0)))
    pull = scene.add(sn.RigidBody.sphere(0.1, mass=2.0, position=(-0.7, 0.0, 0.5)))
    sheaves = [
        sn.Sheave(World.at((0.0, 0.0, 2.0)), (0.0, 1.0, 0.0), 0.1),
        sn.Sheave(World.at((1.0, 0.0, 2.3)), (0.0, 1.0, 0.0), 0.2, inertia=0.05, friction=0.3),
        sn.Sheave(load.at((0.0, 0.0, 0.1)), (0.0, -1.0, 0.0), 0.1),
    ]
    last = World.at((2.5, 0.0, 2.0))
    cable = scene.add(sn.Cable([pull.at((0.0, 0.0, 0.1)), *sheaves, last], ROUND, MATERIAL))
    return scene, cable, sheaves


def test_all_sheaves_of_a_cable_turn_as_they_say() -> None:
    scene, cable, sheaves = chain_of_sheaves()
    portrait = portrait_of(scene)
    for _ in range(150):
        scene.step(2e-3)
        portrait.capture()
    assert min(abs(sheave.angle) for sheave in sheaves) > 0.05
    for sheave in sheaves:
        _, view = seen(portrait, sheave)
        start = sheave._mark
        axis = sheave._axis
        local = math.cos(sheave.angle) * start + math.sin(sheave.angle) * np.cross(axis, start)
        wanted = sheave.point.frame @ local
        assert np.allclose(quaternion_rotate(view.quaternion, (1.0, 0.0, 0.0)), wanted, atol=1e-9)
        assert np.allclose(view.position, sheave.point.position)
    _, view = seen(portrait, cable)
    first, *_, last = cable.tensions
    assert view.fields["tension"][0] == first
    assert view.fields["tension"][-1] == last
    assert first != last
    _on_the_path(view.centres, cable, 0.2)


def _on_the_path(centres: Any, cable: sn.Cable, radius: float) -> None:
    """Stations lie on the cable's own line, as near as its arcs of 7.5° and theirs of up to 15° are to a circle."""
    path = cable.path()
    a, along = path[:-1], np.diff(path, axis=0)
    share = np.clip(np.einsum("kij,ij->ki", centres[:, None] - a, along) / np.sum(along**2, axis=1), 0.0, 1.0)
    gaps = np.linalg.norm(a + share[:, :, None] * along - centres[:, None], axis=2).min(axis=1)
    assert gaps.max() < 0.01 * radius
    drawn = float(np.linalg.norm(np.diff(centres, axis=0), axis=1).sum())
    assert drawn == pytest.approx(cable.path_length, rel=2e-3)


def test_a_cable_that_comes_to_lie_on_a_body() -> None:
    scene = sn.Scene()
    pose = sn.Pose((0.0, 0.0, 1.0), (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0))
    beam = scene.add(sn.RigidBody.cylinder(0.2, 2.0, mass=50.0, pose=pose))
    scene.add(sn.Lock(beam.at(), World.at(pose)))
    load = scene.add(sn.RigidBody.sphere(0.05, mass=1.0, position=(0.8, 0.0, 1.3)))
    ends = [World.at((-0.8, 0.0, 1.3)), load.at()]
    cable = scene.add(sn.Cable(ends, ROUND, MATERIAL, length=1.65, around=[beam]))
    portrait = portrait_of(scene)
    for _ in range(250):
        scene.step(2e-3)
        assert np.isfinite(portrait.capture()).all()
    apart = float(np.linalg.norm(ends[1].position - ends[0].position))
    assert cable.path_length > apart + 0.01  # it goes round something
    _, view = seen(portrait, cable)
    assert np.linalg.norm(view.centres - (0.0, 0.0, 1.0), axis=1).min() == pytest.approx(0.2, rel=0.01)
    drawn = float(np.linalg.norm(np.diff(view.centres, axis=0), axis=1).sum())
    assert drawn == pytest.approx(max(cable.length, cable.path_length), rel=5e-3)


def test_the_drum_that_a_body_is_gets_no_second_one() -> None:
    scene = sn.Scene()
    drum = scene.add(
        sn.RigidBody.cylinder(0.2, 0.3, mass=5.0, pose=sn.Pose((0.0, 0.0, 2.0), (0.7071, 0.7071, 0.0, 0.0)))
    )
    scene.add(sn.Hinge(drum.at(), World.at((0.0, 0.0, 2.0)), (0.0, 1.0, 0.0)))
    load = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(0.3, 0.0, 1.0)))
    sheave = sn.Sheave(drum.at(), (0.0, 1.0, 0.0), 0.2, fixed=True)
    scene.add(sn.Cable([World.at((-1.0, 0.0, 1.5)), sheave, load.at()], stretch_stiffness=1e3))
    assert sheave not in [subject for _, _, subject in views_of(portrait_of(scene))]


def test_the_twist_of_a_cable_is_seen() -> None:
    """Its stripe is fixed to both ends: the last director turns with the last body."""
    scene = sn.Scene(gravity=(0.0, 0.0, 0.0))
    load = scene.add(sn.RigidBody.cylinder(0.1, 0.1, mass=1.0, position=(0.0, 0.0, -1.0)))
    cable = scene.add(sn.Cable([World.at((0.0, 0.0, 0.0)), load.at((0.0, 0.0, 0.05))], ROUND, MATERIAL))
    portrait = portrait_of(scene)
    part, start = seen(portrait, cable)
    assert part.stripe is not None
    angle = 2.0
    load.pose = sn.Pose((0.0, 0.0, -1.0), (math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)))
    _, end = seen(portrait, cable)
    assert np.allclose(end.directors[0], start.directors[0])
    x, y, z = start.directors[-1]
    c, s = math.cos(angle), math.sin(angle)
    assert np.allclose(end.directors[-1], (c * x - s * y, s * x + c * y, z), atol=1e-9)
