"""Portraits of scenes: everything is seen where it is, and looking changes nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from unit.portrait.kit import MATERIAL, ROUND, cabled, held_ropes, jointed_bodies, odd_rods, rope, seen, views_of

import sennit as sn
from sennit import World
from sennit.constraints.constraint import AbstractConstraint
from sennit.contents import state_of
from sennit.geometry.rotations import quaternion_rotate, quaternion_to_matrix
from sennit.portrait.cast import Cast
from sennit.portrait.meshing import solid_vertices, stripe_vertices
from sennit.portrait.of_scene import portrait_of
from sennit.portrait.parts import Solid, Surface, Tube
from sennit.portrait.solids import box

SCENES: dict[str, Callable[[], sn.Scene]] = {
    "held ropes": held_ropes, "jointed bodies": jointed_bodies, "cables": lambda: cabled()[0], "odd rods": odd_rods,
}  # fmt: skip


def zone_scene() -> tuple[sn.Scene, sn.Zone, sn.RigidBody]:
    """A block of rubber on a table that moves, with a patch of its top that is pulled."""
    block = box((0.04, 0.04, 0.02))
    vertices, faces = _refined(block.vertices, block.faces, 2)
    zone = sn.Zone.from_mesh(vertices, faces, material=sn.Material(1e5, 0.3, 1000.0), fixed=vertices[:, 2] < -0.0099)
    scene = sn.Scene()
    table = scene.add(sn.RigidBody.box((0.1, 0.1, 0.02), mass=1.0, position=(1.0, 0.0, 0.5)))
    scene.add(zone, on=table.at((0.0, 0.0, 0.02)))
    return scene, zone, table


def _refined(vertices: Any, faces: Any, times: int) -> tuple[Any, Any]:
    for _ in range(times):
        middles = {}
        points = vertices.tolist()
        new = []
        for a, b, c in faces.tolist():
            for p, q in ((a, b), (b, c), (c, a)):
                key = (min(p, q), max(p, q))
                if key not in middles:
                    middles[key] = len(points)
                    points.append((0.5 * (np.array(points[p]) + np.array(points[q]))).tolist())
            ab, bc, ca = (middles[min(p, q), max(p, q)] for p, q in ((a, b), (b, c), (c, a)))
            new += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        vertices, faces = np.array(points), np.array(new)
    return vertices, faces


@pytest.mark.parametrize("name", SCENES)
def test_everything_is_seen_and_finite_also_after_steps(name: str) -> None:
    scene = SCENES[name]()
    portrait = portrait_of(scene)
    subjects = [shown for _, _, shown in views_of(portrait)]
    in_holes = {tie.slider for tie in scene.constraints if isinstance(tie, sn.Keyhole)}
    for thing in (*scene.bodies, *scene.constraints, *scene.loads):
        assert thing in subjects or thing in in_holes, thing
    for _ in range(4):
        scene.step(1e-3)
        frame = portrait.capture()
        assert np.isfinite(frame).all()
        for part, view in zip(portrait.cast.parts, portrait.cast.views(frame), strict=True):
            assert view.shown[0] == 1.0, part.name
            if isinstance(part, Solid):
                assert np.linalg.norm(view.quaternion) == pytest.approx(1.0, abs=1e-9)
            elif isinstance(part, Tube):
                assert np.allclose(np.linalg.norm(view.directors, axis=1), 1.0)


def test_all_kinds_of_constraints_are_in_these_scenes() -> None:
    made = {type(tie) for make in SCENES.values() for tie in make().constraints}
    pending: list[Any] = [AbstractConstraint]
    public = set()
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        if getattr(sn, kind.__name__, None) is kind:
            public.add(kind)
    assert public - made == set()


@pytest.mark.parametrize("name", SCENES)
def test_a_cast_goes_through_bytes(name: str) -> None:
    portrait = portrait_of(SCENES[name]())
    portrait.capture()
    cast = portrait.cast
    other = Cast.from_bytes(cast.to_bytes())
    assert other.offsets == cast.offsets
    assert other.size == cast.size
    for a, b in zip(cast.parts, other.parts, strict=True):
        assert type(a) is type(b)
        for field in a.__dataclass_fields__:
            x, y = getattr(a, field), getattr(b, field)
            if isinstance(x, np.ndarray):
                assert x.dtype == y.dtype
                assert np.array_equal(x, y)
            else:
                assert x == y
                assert type(x) is type(y)


def test_names_are_not_shared() -> None:
    scene = sn.Scene()
    for k in range(3):
        rope(scene, float(k), name="rope")
    names = [part.name for part in portrait_of(scene).cast.parts]
    assert len(set(names)) == 3
    assert names[0] == "rope"


# -------------------------------------------------------------------------------------------------------------- rods


@pytest.mark.parametrize("name", ["held ropes", "odd rods"])
def test_stations_are_those_that_rods_give(name: str) -> None:
    scene = SCENES[name]()
    scene.gravity = (0.0, 3.0, -9.81)
    portrait = portrait_of(scene)
    for body in scene.bodies:
        if isinstance(body, sn.Rod):
            body.roll_rates = np.sin(np.arange(len(body.rolls)))
    for _ in range(40):
        scene.step(2e-3)
    rods = [(part, view, rod) for part, view, rod in views_of(portrait) if isinstance(rod, sn.Rod)]
    assert rods
    for part, view, rod in rods:
        n = part.count
        strains, scale = rod.curvatures(n), np.abs(rod.curvatures(n)).max() + 1.0
        assert np.allclose(view.centres, rod.centerline(n), atol=1e-13)
        assert np.allclose(view.directors, rod.frames(n)[:, :, 0], atol=1e-11)
        assert np.allclose(view.fields["curvature"], np.hypot(strains[:, 0], strains[:, 1]), atol=1e-11 * scale)
        assert np.allclose(view.fields["twist"], strains[:, 2], atol=1e-11 * scale)
        assert np.allclose(view.fields["tension"], rod.tensions(n), atol=1e-7)
        assert part.closed == rod.closed


def test_sections_are_drawn_as_they_are() -> None:
    scene = odd_rods()
    portrait = portrait_of(scene)
    ribbon, ring = scene.bodies[:2]
    part, _ = seen(portrait, ribbon)
    assert part.rectangular
    assert part.half == (0.03, 0.005)
    part, _ = seen(portrait, ring)
    assert not part.rectangular
    assert part.half == (0.012, 0.012)


def test_the_stripe_turns_with_the_rod() -> None:
    """A straight rod whose roll grows in proportion to its length is twisted by the same angle everywhere."""
    turns, length = 2.5 * 2.0 * math.pi, 0.8
    scene = sn.Scene(gravity=(0.0, 0.0, 0.0))
    rod = rope(scene, 0.0, length)
    # rolls are values at control points whose positions along a straight rod are known exactly
    rod.rolls = turns * rod.control_points[:, 0] / length
    part, view = seen(portrait_of(scene), rod)
    s = np.linspace(0.0, length, part.count)
    first = view.directors[0]
    side = np.cross((1.0, 0.0, 0.0), first)
    angle = turns * s / length
    wanted = np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * side
    assert np.allclose(view.directors, wanted, atol=1e-9)
    assert np.allclose(view.fields["twist"], turns / length, rtol=1e-9)
    middle = stripe_vertices(part, view).reshape(part.count, 6, 3)[:, 1] - view.centres
    assert np.allclose(middle / np.linalg.norm(middle, axis=1)[:, None], wanted, atol=1e-9)


# ------------------------------------------------------------------------------------------------------------ bodies


def test_rigid_bodies_are_where_they_are() -> None:
    scene = jointed_bodies()
    portrait = portrait_of(scene)
    for _ in range(30):
        scene.step(2e-3)
    for part, view, body in views_of(portrait):
        if isinstance(body, sn.RigidBody):
            assert isinstance(part, Solid)
            assert np.array_equal(view.position, body.position)
            assert np.allclose(quaternion_to_matrix(view.quaternion), body.pose.rotation, atol=1e-14)
    wedge = next(body for body in scene.bodies if isinstance(body, sn.RigidBody) and body.form["kind"] == "mesh")
    part, view = seen(portrait, wedge)
    vertex = wedge.form["vertices"][1]
    assert np.allclose(solid_vertices(part, view)[1], wedge.at(vertex).position)


def test_a_pearl_is_a_ball_on_its_rod_and_hidden_once_it_is_off() -> None:
    scene = sn.Scene(gravity=(0.0, 0.0, 0.0))
    rod = rope(scene)
    scene.add(sn.Clamp(rod.at(0.0)))
    pearl = scene.add(sn.Pearl(rod, 0.5, mass=0.01, radius=0.05))
    slider = scene.add(sn.Slider(rod, 0.78, mass=0.01, speed=5.0))
    portrait = portrait_of(scene)
    part, view = seen(portrait, pearl)
    assert part.role == "body"
    assert np.allclose(view.position, pearl.position)
    assert np.linalg.norm(part.vertices, axis=1) == pytest.approx(0.05)
    for _ in range(10):
        scene.step(1e-3)
    assert not slider.attached
    assert seen(portrait, slider)[1].shown[0] == 0.0
    assert seen(portrait, pearl)[1].shown[0] == 1.0


def test_a_zone_is_carried_and_deformed() -> None:
    scene, zone, table = zone_scene()
    patch = zone.at((0.0, 0.0, 0.01), radius=0.016)
    scene.add(sn.Load(patch, (0.0, 0.0, -0.5), follower=True))
    scene.gravity = (0.0, 0.0, 0.0)
    table.angular_velocity = (0.3, 0.2, 1.0)
    portrait = portrait_of(scene)
    for _ in range(20):
        scene.step(5e-3)
    part, view = seen(portrait, zone)
    assert isinstance(part, Surface)
    assert np.allclose(view.vertices, zone.positions)
    assert np.allclose(view.fields["displacement"], np.linalg.norm(zone.displacements, axis=1))
    assert view.fields["displacement"].max() > 1e-4
    # what presses on it, summed over its surface, is the load
    a, b, c = (zone.vertices[zone.faces[:, k]] for k in range(3))
    areas = np.bincount(zone.faces.ravel(), np.repeat(np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0, 3))
    assert float(view.fields["pressure"] @ areas) == pytest.approx(0.5, rel=1e-3)


# ------------------------------------------------------------------------------------------------------------ cables


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


# ------------------------------------------------------------------------------------------------------------- ties


@pytest.mark.parametrize("name", SCENES)
def test_what_is_switched_off_is_hidden(name: str) -> None:
    scene = SCENES[name]()
    portrait = portrait_of(scene)
    for tie in (*scene.constraints, *scene.loads):
        tie.enabled = False
    for part, view, subject in views_of(portrait):
        hidden = isinstance(subject, AbstractConstraint | sn.Load)
        assert view.shown[0] == float(not hidden), part.name
    for tie in (*scene.constraints, *scene.loads):
        tie.enabled = True
    assert all(view.shown[0] == 1.0 for _, view, _ in views_of(portrait))


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
    ends = solid_vertices(*parts[0])[:, 0]
    assert ends.min() < -0.15
    assert ends.max() > 0.15
    assert np.allclose(parts[1][1].position, rail.points[0].position)


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
    scene = jointed_bodies()
    body = scene.bodies[0]
    assert isinstance(body, sn.RigidBody)
    vertices, faces = np.array(((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.02))), ((0, 1, 2),)
    carried = scene.decorate(vertices, faces, on=body.at((0.05, 0.01, 0.02)), colour=(1, 2, 3), name="flag")
    still = scene.decorate(vertices, faces, face_colours=((9, 8, 7),), opacity=0.5)
    handle = World.at((1.0, 2.0, 3.0))
    moved = scene.decorate(vertices, faces, on=handle)
    portrait = portrait_of(scene)
    for _ in range(30):
        scene.step(2e-3)
    part, view = seen(portrait, carried)
    assert (part.name, part.colour, part.role) == ("flag", (1, 2, 3), "decor")
    for local, place in zip(vertices, solid_vertices(part, view), strict=True):
        assert np.allclose(place, body.at(local + np.array((0.05, 0.01, 0.02))).position)
    part, view = seen(portrait, still)
    assert np.allclose(solid_vertices(part, view), vertices)
    assert part.opacity == 0.5
    handle.position = (1.0, 2.0, 4.0)
    assert np.allclose(seen(portrait, moved)[1].position, (1.0, 2.0, 4.0))
    still.shown = False
    assert seen(portrait, still)[1].shown[0] == 0.0


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


# ------------------------------------------------------------------------------------------- looking changes nothing


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
def test_looking_changes_nothing(name: str, integrator: str) -> None:
    states = []
    for looking in (False, True):
        scene = SCENES[name]()
        scene.integrator = integrator
        portrait = portrait_of(scene) if looking else None
        for _ in range(12):
            scene.step(1e-3)
            if portrait is not None:
                portrait.capture()
        scene._compiled()
        states.append([array.copy() for thing in scene._numbered() for array in state_of(thing).values()])
    plain, watched = states
    assert len(plain) == len(watched)
    for a, b in zip(plain, watched, strict=True):
        assert np.array_equal(a, b, equal_nan=True)


def test_a_portrait_outlives_changes_of_its_scene() -> None:
    scene = held_ropes()
    rod = scene.bodies[0]
    portrait = portrait_of(scene)
    portrait.capture()
    assert portrait.current
    snapshot = scene.snapshot()
    extra = rope(scene, 4.0)
    pin = scene.add(sn.Fix(extra.at(0.0)))
    assert not portrait.current
    for thing in [tie for tie in scene.constraints if tie.points[0].body is rod] + [rod]:
        scene.remove(thing)
    scene.step(1e-3)
    hidden = {subject for _, view, subject in views_of(portrait) if view.shown[0] == 0.0}
    assert rod in hidden
    assert len(hidden) == 3
    assert pin not in [subject for _, _, subject in views_of(portrait)]
    scene.restore(snapshot)
    assert portrait.current
    assert all(view.shown[0] == 1.0 for _, view, _ in views_of(portrait))
    part, view = seen(portrait, rod)
    assert np.allclose(view.centres, rod.centerline(part.count))  # type: ignore[attr-defined]


def test_an_empty_scene_has_an_empty_portrait() -> None:
    portrait = portrait_of(sn.Scene())
    assert portrait.capture().shape == (0,)
    assert Cast.from_bytes(portrait.cast.to_bytes()).parts == ()
