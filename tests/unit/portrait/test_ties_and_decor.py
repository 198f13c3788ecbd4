"""Marks of constraints, arrows of loads and decoration in portraits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from unit.portrait.kit import (
    SCENES,
    held_ropes,
    is_there,
    jointed_bodies,
    rope,
    seen,
    views_of,
)

import sennit as sn
from sennit import World
from sennit.constraints.constraint import AbstractConstraint
from sennit.geometry.rotations import quaternion_rotate, quaternion_to_matrix
from sennit.portrait.of_scene import portrait_of


@pytest.mark.parametrize("name", SCENES)
def test_what_is_switched_off_is_hidden(name: str) -> None:
    scene = SCENES[name]()
    portrait = portrait_of(scene)
    for tie in (*scene.constraints, *scene.loads):
        tie.enabled = False
    for part, view, subject in views_of(portrait):
        hidden = isinstance(subject, AbstractConstraint | sn.Load)
        assert view.shown[0] == float(not hidden and is_there(subject)), part.name
    for tie in (*scene.constraints, *scene.loads):
        tie.enabled = True
    assert all(view.shown[0] == float(is_there(subject)) for _, view, subject in views_of(portrait))


def test_marks_are_at_what_they_mark() -> None:
    scene = held_ropes()
    portrait = portrait_of(scene)
    for _ in range(10):
        scene.step(2e-3)
    for _, view, tie in views_of(portrait):
        if isinstance(tie, sn.Fix | sn.Clamp | sn.Keyhole | sn.Follow):
            assert np.allclose(view.position, tie.points[1].position)
    clamp = next(tie for tie in scene.constraints if isinstance(tie, sn.Clamp))
    _, view = seen(portrait, clamp)
    assert np.allclose(quaternion_to_matrix(view.quaternion), clamp.points[0].frame, atol=1e-6)
    hole = next(tie for tie in scene.constraints if isinstance(tie, sn.Keyhole))
    _, view = seen(portrait, hole)
    assert np.allclose(quaternion_rotate(view.quaternion, (0.0, 0.0, 1.0)), hole.points[0].frame[:, 2])


def test_a_moved_clamp_takes_its_mark_along() -> None:
    scene = sn.Scene()
    rod = rope(scene)
    clamp = scene.add(sn.Clamp(rod.at(0.0)))
    portrait = portrait_of(scene)
    scene.step(1e-3)
    clamp.target = sn.Pose((0.1, 0.2, 1.3), clamp.target.quaternion)
    assert np.allclose(seen(portrait, clamp)[1].position, (0.1, 0.2, 1.3))


def test_joints_show_their_axes() -> None:
    scene = jointed_bodies()
    portrait = portrait_of(scene)
    for _ in range(20):
        scene.step(2e-3)
    hinge = next(tie for tie in scene.constraints if isinstance(tie, sn.Hinge))
    _, view = seen(portrait, hinge)
    assert np.allclose(np.abs(quaternion_rotate(view.quaternion, (0.0, 0.0, 1.0))), (0.0, 1.0, 0.0))
    rail = next(tie for tie in scene.constraints if isinstance(tie, sn.Prismatic))
    parts = [(part, view) for part, view, tie in views_of(portrait) if tie is rail]
    assert len(parts) == 2
    ends = parts[0][0].places(parts[0][1])[:, 0]
    assert ends.min() < -0.15
    assert ends.max() > 0.15
    assert np.allclose(parts[1][1].position, rail.points[0].position)
    screw = next(tie for tie in scene.constraints if isinstance(tie, sn.Screw))
    (bolt, there), (_, nut) = ((part, view) for part, view, tie in views_of(portrait) if tie is screw)
    assert np.ptp(bolt.places(there), axis=0).argmax() == 2
    assert np.allclose(nut.position, screw.points[0].position)
    assert screw.angle < -1e-3
    side = quaternion_rotate(there.quaternion, (1.0, 0.0, 0.0))
    turned = quaternion_rotate(nut.quaternion, (1.0, 0.0, 0.0))
    assert np.isclose(np.arctan2(np.cross(side, turned)[2], side @ turned), screw.angle)


def test_links_run_between_their_points_and_strings_hang() -> None:
    scene = jointed_bodies()
    portrait = portrait_of(scene)
    for _ in range(5):
        scene.step(1e-3)
    bar, string, strut = (tie for tie in scene.constraints if isinstance(tie, sn.Distance))
    part, view = seen(portrait, bar)
    assert part.count == 2
    assert np.allclose(view.centres, [point.position for point in bar.points])
    assert np.allclose(view.directors @ (view.centres[1] - view.centres[0]), 0.0)
    assert view.fields["tension"] == pytest.approx(bar.tension)
    _, view = seen(portrait, string)
    assert np.allclose(view.centres[[0, -1]], [point.position for point in string.points])
    drawn = float(np.linalg.norm(np.diff(view.centres, axis=0), axis=1).sum())
    assert drawn == pytest.approx(string.length, rel=0.05)
    assert view.centres[:, 2].min() < min(point.position[2] for point in string.points) - 0.1
    assert seen(portrait, strut)[0].opacity < 1.0


def test_circles_and_spheres_have_their_radii_now() -> None:
    scene = held_ropes()
    portrait = portrait_of(scene)
    sphere = next(tie for tie in scene.constraints if isinstance(tie, sn.OnSphere))
    circle = next(tie for tie in scene.constraints if isinstance(tie, sn.OnCircle))
    sphere.radius = 0.31
    _, view = seen(portrait, sphere)
    assert np.allclose(np.linalg.norm(view.vertices - (0.8, 1.0, 1.25), axis=1), 0.31)
    _, view = seen(portrait, circle)
    assert np.allclose(np.linalg.norm(view.centres - (0.8, 1.5, 1.2), axis=1), 0.2)
    assert np.allclose(view.centres[:, 0], 0.8)
    assert np.allclose(view.centres[0], view.centres[-1])


def test_arrows_show_forces_and_grow_with_them() -> None:
    scene = sn.Scene()
    body = scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=1.0))
    rope(scene)
    load = scene.add(sn.Load(body.at((0.1, 0.0, 0.0))))
    portrait = portrait_of(scene)
    assert seen(portrait, load)[1].shown[0] == 0.0
    lengths = []
    for force in (1.0, 2.0, 100.0):
        load.force = (0.0, force, 0.0)
        _, view = seen(portrait, load)
        assert view.shown[0] == 1.0
        away = view.vertices - (0.1, 0.0, 0.0)
        assert away[:, 1].min() > -1e-12
        lengths.append(float(away[:, 1].max()))
        assert np.abs(away[:, [0, 2]]).max() < 0.03
    assert lengths[0] < 0.6 * lengths[1]
    assert lengths[1] < lengths[2] < portrait.size
    load.force, load.torque = (0.0, 0.0, 0.0), (0.0, 0.0, -3.0)
    _, view = seen(portrait, load)
    assert view.vertices[:, 2].min() < -0.01
    assert view.vertices[:, 2].max() < 1e-12


def test_an_arrow_that_follows_turns_with_its_point() -> None:
    scene = sn.Scene()
    quarter = math.sqrt(0.5)
    turned = sn.Pose((0.0, 0.0, 0.0), (quarter, 0.0, 0.0, quarter))
    body = scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=1.0, pose=turned))
    load = scene.add(sn.Load(body.at(), (5.0, 0.0, 0.0), follower=True))
    _, view = seen(portrait_of(scene), load)
    assert view.vertices[:, 1].max() > 5.0 * np.abs(view.vertices[:, 0]).max()


# ------------------------------------------------------------------------------------------------------------ decor


def test_decor_is_carried_by_its_point() -> None:
    scene = sn.Scene()
    vertices, faces = np.array(((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.02))), ((0, 1, 2),)
    rope(scene)
    still = scene.decorate(vertices, faces, face_colours=((9, 8, 7),), opacity=0.5)
    handle = World.at((1.0, 2.0, 3.0))
    moved = scene.decorate(vertices, faces, on=handle, colour=(1, 2, 3), name="flag")
    portrait = portrait_of(scene)
    part, view = seen(portrait, still)
    assert np.allclose(part.places(view), vertices)
    assert part.opacity == 0.5
    assert part.face_colours.tolist() == [[9, 8, 7]]
    quarter = math.sqrt(0.5)
    handle.pose = sn.Pose((1.0, 2.0, 4.0), (quarter, 0.0, 0.0, quarter))
    part, view = seen(portrait, moved)
    assert (part.name, part.colour, part.role) == ("flag", (1, 2, 3), "decor")
    assert np.allclose(part.places(view)[1], (1.0, 2.1, 4.0))
    still.shown = False
    assert seen(portrait, still)[1].shown[0] == 0.0


@pytest.mark.parametrize("used", [False, True])
def test_decor_is_carried_by_a_rigid_body(used: bool) -> None:
    """Whether or not a constraint uses the point that carries it."""
    scene = sn.Scene()
    scene.add(sn.Fix(rope(scene).at(0.0)))
    scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    body = scene.add(sn.RigidBody.box((0.3, 0.2, 0.1), mass=1.0, position=(0.0, 0.0, 1.0)))
    place = np.array((0.05, 0.01, 0.02))
    point = body.at(place)
    if used:
        scene.add(sn.Fix(point))
    body.angular_velocity = (1.0, 2.0, 3.0)
    vertices = np.array(((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.02)))
    decor = scene.decorate(vertices, ((0, 1, 2),), on=point)
    portrait = portrait_of(scene)
    for _ in range(30):
        scene.step(2e-3)
    part, view = seen(portrait, decor)
    for local, world in zip(vertices, part.places(view), strict=True):
        assert np.allclose(world, body.at(place + local).position)


def test_decor_instead_of_a_body_is_its_look() -> None:
    scene = sn.Scene()
    body = scene.add(sn.RigidBody.from_inertia(1.0, (1.0, 2.0, 2.5), position=(0.0, 0.0, 1.0)))
    scene.decorate(np.eye(3), ((0, 1, 2),), on=body.at(), instead=True)
    portrait = portrait_of(scene)
    shown = [(part, view) for part, view, subject in views_of(portrait) if subject is body]
    assert len(shown) == 1  # and no ellipsoid
    part, view = shown[0]
    assert part.role == "body"
    assert np.allclose(part.places(view), np.eye(3) + np.array((0.0, 0.0, 1.0)))
    scene.remove(body)
    assert views_of(portrait)[0][1].shown[0] == 0.0


def test_decor_on_a_rod_turns_with_its_section() -> None:
    scene = sn.Scene()
    rod = rope(scene)
    scene.add(sn.Clamp(rod.at(0.0)))
    decor = scene.decorate(((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0)), ((0, 1, 2),), on=rod.at(0.5))
    portrait = portrait_of(scene)
    for _ in range(20):
        scene.step(5e-3)
    _, view = seen(portrait, decor)
    point = rod.at(0.5)
    assert np.allclose(view.position, point.position)
    assert np.allclose(quaternion_to_matrix(view.quaternion), point.frame, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"faces": ((0, 1, 3),)}, "from 0 to 2, got 3"),
        ({"faces": ((0, 1, -1),)}, "from 0 to 2, got -1"),
        ({"faces": ((0, 1, 0.5),)}, "whole numbers"),
        ({"faces": np.zeros((0, 3))}, "one row or more"),
        ({"vertices": ((0.0, 1.0),)}, "vertices"),
        ({"on": (0.0, 0.0, 0.0)}, "on must be a point with a frame"),
        ({"on": sn.RigidBody.sphere(0.1, mass=1.0).at()}, "add rigidbody"),
        ({"colour": (0, 0, 300)}, "colour must be red, green, blue from 0 to 255"),
        ({"face_colours": ((0, 0, 0), (1, 1, 1))}, "face_colours"),
        ({"opacity": 0.0}, "opacity"),
        ({"smooth": 1}, "smooth"),
        ({"instead": "yes"}, "instead must be True or False"),
        ({"instead": True}, "needs on=body.at"),
        ({"name": ""}, "name"),
        ({"name": "taken"}, "'taken' already"),
    ],
)
def test_bad_decor_is_refused_and_changes_nothing(options: dict[str, Any], message: str) -> None:
    scene = sn.Scene()
    good: dict[str, Any] = {"vertices": np.eye(3), "faces": ((0, 1, 2),)}
    kept = scene.decorate(**good, name="taken")
    with pytest.raises(sn.InputError, match=message):
        scene.decorate(**good | options)
    assert scene.decor == (kept,)


@pytest.mark.parametrize(("pins", "bare"), [(8, False), (9, True)])
def test_many_pins_do_not_hide_their_rod(pins: int, bare: bool) -> None:
    """Each is a ball then, a little thicker than the rod, without a foot."""
    scene = sn.Scene()
    rubber = sn.Material(1e6, 0.4, 1000.0)
    rod = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=sn.Section.circle(0.01), material=rubber))
    held = [scene.add(sn.Fix(rod.at(s))) for s in np.linspace(0.1, 0.9, pins)]
    scene.add(sn.Clamp(rod.at(0.0)))
    portrait = portrait_of(scene)
    marks = [part for k, part in enumerate(portrait.cast.parts) if portrait.subject(k) in held]
    assert len(marks) == pins
    for mark in marks:
        reach = np.linalg.norm(mark.vertices, axis=1).max()  # type: ignore[union-attr]
        assert reach < 0.015 if bare else reach > 0.025
