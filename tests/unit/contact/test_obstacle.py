"""Obstacles: what can be set, what is refused, and that scenes, snapshots, files and pictures hold them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sennit as sn
from sennit.portrait.bounds import bounds
from sennit.portrait.of_scene import portrait_of

UP = (0, 0, 1)
TURN = sn.Pose((0.3, -0.2, 0.5), (0.9, 0.1, -0.3, 0.2))


def floor() -> sn.Obstacle:
    return sn.Obstacle(sn.Plane((0, 0, 0), UP), name="floor")


def drop() -> tuple[sn.Scene, sn.Obstacle, sn.Obstacle]:
    """A box that falls past a floor and a beam, which is led along a route and has a belt."""
    scene = sn.Scene()
    scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(0, 0, 0.5)))
    ground = scene.add(floor())
    hills = np.array(((0.0, 0.1, 0.0), (0.2, 0.0, 0.1)))
    beam = sn.Obstacle((sn.Cylinder(0.05, 1.0, TURN), sn.HeightField(hills, (1.0, 2.0)), sn.Mesh(cube())), name="beam")
    beam.surface_velocity = (0.1, 0.2, 0.3)
    beam.path = sn.Route([0.0, 1.0], [sn.Pose(), TURN], "spline")
    return scene, ground, scene.add(beam)


def cube():  # type: ignore[no-untyped-def]
    import trimesh

    return trimesh.creation.box((0.2, 0.3, 0.4))


def test_what_it_tells() -> None:
    plane = sn.Plane((0, 0, 0), UP)
    one, two = sn.Obstacle(plane), sn.Obstacle([plane, sn.Sphere((0, 0, 0), 1.0)], name="rock")
    assert one.shape is plane and one.shapes == (plane,)
    assert two.shape == two.shapes and two.shapes[0] is plane and len(two.shapes) == 2
    assert one.name.startswith("obstacle ") and repr(two) == "<Obstacle 'rock'>"
    assert one.pose == sn.Pose() and one.path is None and one.scene is None
    assert one.surface_velocity.tolist() == [0, 0, 0]


def test_its_pose_is_the_motion_since_the_shape_was_given() -> None:
    ball = sn.Obstacle(sn.Sphere((1, 2, 3), 0.5))
    ball.pose = TURN
    np.testing.assert_allclose(ball.shape.moved(ball.pose).centre, TURN @ (1, 2, 3), atol=1e-15)
    np.testing.assert_allclose(ball.pose.rotation, TURN.rotation, atol=1e-15)


def test_it_comes_and_goes() -> None:
    scene = sn.Scene()
    ground = scene.add(floor())
    assert scene.obstacles == (ground,) and ground.scene is scene and scene.bodies == ()
    with pytest.raises(sn.InputError, match="floor is in this scene already"):
        scene.add(ground)
    with pytest.raises(sn.InputError, match="floor is in another scene: remove it there first"):
        sn.Scene().add(ground)
    scene.remove(ground)
    assert scene.obstacles == () and ground.scene is None
    with pytest.raises(sn.InputError, match="floor is not in this scene"):
        scene.remove(ground)
    with pytest.raises(sn.InputError, match=r"got Plane\(.*: put it into an Obstacle"):
        scene.add(sn.Plane((0, 0, 0), UP))  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("do", "message"),
    [
        (lambda: sn.Obstacle(None), "shape must be a shape .* got None"),
        (lambda: sn.Obstacle([]), r"shape must be a shape .* got \[\]"),
        (lambda: sn.Obstacle([sn.Sphere((0, 0, 0), 1.0), 2]), "shape must be a shape .* or a sequence of shapes, got"),
        (lambda: sn.Obstacle(sn.Sphere((0, 0, 0), 1.0), name=3), "name must be"),
        (lambda: setattr(floor(), "pose", (0, 0, 1)), r"pose must be a sennit.Pose, got \(0, 0, 1\)"),
        (lambda: setattr(floor(), "surface_velocity", (0, 1)), "surface_velocity must"),
        (lambda: setattr(floor(), "surface_velocity", (0, 1, math.nan)), "surface_velocity must hold finite numbers"),
        (lambda: setattr(floor(), "path", 3), "path must be a Route, a function of time .* or None, got 3"),
        (lambda: setattr(floor(), "path", lambda t: "here"), r"path\(0\) must"),
        (lambda: setattr(floor(), "colour", 3), "an Obstacle has no attribute 'colour'"),
        (lambda: setattr(floor(), "shape", sn.Sphere((0, 0, 0), 1.0)), "'shape' of an Obstacle can't be set"),
    ],
)
def test_bad_input(do, message) -> None:
    with pytest.raises((sn.InputError, AttributeError), match=message):
        do()


def test_a_path_leads_it() -> None:
    scene, ground, beam = drop()
    ground.path = lambda t: (0.0, 0.0, -t)
    scene.run(0.25, dt=0.05)
    np.testing.assert_allclose(ground.pose.position, (0, 0, -0.25), atol=1e-15)
    asked: sn.Pose = beam.path(0.25)  # type: ignore[misc,assignment]
    np.testing.assert_allclose(beam.pose.position, asked.position, atol=1e-14)
    np.testing.assert_allclose(beam.pose.rotation, asked.rotation, atol=1e-14)
    with pytest.raises(sn.InputError, match="floor follows a path"):
        ground.pose = sn.Pose()
    ground.path = None
    ground.pose = TURN
    scene.step(0.05)
    np.testing.assert_allclose(ground.pose.position, TURN.position)


def test_a_path_leads_it_where_nothing_else_is() -> None:
    scene = sn.Scene()
    ground = scene.add(floor())
    ground.path = lambda t: (0.0, 0.0, t)
    scene.run(1.0, dt=0.1)
    assert ground.pose.position[2] == pytest.approx(1.0)


def test_a_step_that_raises_leaves_it_where_it_was() -> None:
    scene, ground, beam = drop()
    ground.path = lambda t: (0.0, 0.0, t) if t < 0.15 else "lost"  # type: ignore[return-value]
    scene.step(0.1)
    before = ground.pose, beam.pose, scene.time
    with pytest.raises(sn.InputError, match=r"path\(0.2\) must"):
        scene.step(0.1)
    assert (ground.pose, beam.pose, scene.time) == before


def test_snapshots_and_reset() -> None:
    scene, ground, beam = drop()
    scene.step(0.01)
    kept = scene.snapshot()
    there = beam.pose
    ground.pose, beam.surface_velocity = TURN, (9, 9, 9)
    scene.run(0.1, dt=0.01)
    scene.remove(ground)
    scene.restore(kept)
    assert scene.obstacles == (ground, beam) and ground.scene is scene
    assert (ground.pose, beam.pose) == (sn.Pose(), there)
    assert beam.surface_velocity.tolist() == [0.1, 0.2, 0.3]
    scene.run(0.1, dt=0.01)
    scene.reset()
    assert (ground.pose, beam.pose) == (sn.Pose(), sn.Pose())


def test_files_hold_it_bit_for_bit(tmp_path) -> None:
    scene, ground, beam = drop()
    ground.pose = TURN
    scene.run(0.1, dt=0.01)
    scene.save(tmp_path / "scene.npz")
    other = sn.Scene.load(tmp_path / "scene.npz")
    assert [obstacle.name for obstacle in other.obstacles] == ["floor", "beam"]
    near = np.random.default_rng(1).uniform(-1, 1, (50, 3))
    for _ in range(2):
        for ours, theirs in zip((ground, beam), other.obstacles, strict=True):
            assert ours.pose == theirs.pose
            assert isinstance(theirs.shape, tuple) == isinstance(ours.shape, tuple)
            np.testing.assert_array_equal(ours.surface_velocity, theirs.surface_velocity)
            for one, two in zip(ours.shapes, theirs.shapes, strict=True):
                assert one.pose == two.pose and one._same_form(two)
                np.testing.assert_array_equal(one.signed_distance(near), two.signed_distance(near))
        scene.run(0.1, dt=0.01)
        other.run(0.1, dt=0.01)
    np.testing.assert_array_equal(scene.bodies[0].position, other.bodies[0].position)  # type: ignore[attr-defined]


def test_a_function_is_not_saved(tmp_path) -> None:
    scene, ground, _ = drop()
    ground.path = lambda t: (0, 0, t)
    with pytest.raises(sn.InputError, match="floor cannot be saved, since its path is a function: give it a Route"):
        scene.save(tmp_path / "scene.npz")
    assert not (tmp_path / "scene.npz").exists()


def test_it_changes_nothing_that_it_does_not_touch() -> None:
    alone, (scene, _, _) = sn.Scene(), drop()
    box = alone.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(0, 0, 0.5)))
    for each in (alone, scene):
        each.run(0.2, dt=0.01)
    np.testing.assert_array_equal(box.position, scene.bodies[0].position)  # type: ignore[attr-defined]
    assert alone.energy == scene.energy


def test_it_is_seen_where_it_is_and_hidden_once_it_is_gone() -> None:
    scene, ground, _ = drop()
    scene.step(0.01)
    ground.pose = TURN
    portrait = portrait_of(scene)
    names = [part.name for part in portrait.cast.parts]
    k = names.index("floor")
    view = portrait.cast.views(portrait.capture())[k]
    np.testing.assert_allclose(view.position, TURN.position)
    np.testing.assert_allclose(view.quaternion, TURN.quaternion, atol=1e-15)
    places = portrait.cast.parts[k].places(view)
    assert abs(ground.shape.moved(TURN).signed_distance(places)).max() < 0.01 * portrait.size
    assert "beam" in names and portrait.current
    scene.remove(ground)
    assert not portrait.current
    assert portrait.cast.views(portrait.capture())[k].shown[0] == 0.0


def test_a_plane_does_not_make_the_rest_small() -> None:
    """The camera's box grows by half of its largest side at most, and not in the plane's height."""
    scene = sn.Scene()
    scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(5, 5, 0.05)))
    portrait = portrait_of(scene)
    low, high = bounds(portrait.cast, portrait.capture())
    scene.add(floor())
    portrait = portrait_of(scene)
    wide_low, wide_high = bounds(portrait.cast, portrait.capture())
    assert (low - wide_low <= 0.5 * 0.1 + 1e-12).all() and (wide_high - high <= 0.5 * 0.1 + 1e-12).all()
    # and what is drawn of it lies under the box, far from the plane's own point
    part = next(part for part in portrait.cast.parts if part.name == "floor")
    assert part.role == "decor"
    np.testing.assert_allclose(part.vertices.mean(axis=0)[:2], (5, 5), atol=0.2)


@pytest.mark.parametrize(
    "shape",
    [
        sn.Sphere((0.1, 0.2, 0.3), 0.2),
        sn.Box((0.1, 0.2, 0.3), TURN),
        sn.Cylinder(0.1, 0.4, TURN),
        sn.Capsule(0.1, 0.4, TURN),
        sn.Mesh(cube(), pose=TURN),
    ],
)
def test_what_is_drawn_is_the_shape(shape) -> None:
    """Vertices lie on the surface, and the volume inside is nearly that of the solid: faces are wound outwards."""
    import trimesh

    scene = sn.Scene()
    scene.add(sn.Obstacle(shape))
    portrait = portrait_of(scene)
    (part,) = portrait.cast.parts
    assert part.role == "obstacle"
    np.testing.assert_allclose(shape.signed_distance(part.vertices), 0.0, atol=0.2 * 0.012 + 1e-12)
    mesh = trimesh.Trimesh(part.vertices, part.faces)
    mesh.merge_vertices()
    points = np.random.default_rng(2).uniform(*mesh.bounds, (20000, 3))
    share = (shape.signed_distance(points) < 0.0).mean() * np.prod(np.ptp(mesh.bounds, axis=0))
    assert mesh.volume == pytest.approx(share, rel=0.05)


def test_what_is_drawn_of_ground() -> None:
    import trimesh

    heights = np.random.default_rng(4).uniform(-0.1, 0.1, (5, 7))
    field = sn.HeightField(heights, (1.0, 2.0), TURN)
    scene = sn.Scene()
    scene.add(sn.Obstacle(field))
    (part,) = portrait_of(scene).cast.parts
    assert trimesh.Trimesh(part.vertices, part.faces).is_volume
    np.testing.assert_allclose(field.signed_distance(part.vertices[:35]), 0.0, atol=1e-14)


def test_it_comes_back_from_a_haptic_loop() -> None:
    """What the loop's process led along comes back with the scene's state."""
    scene, ground, beam = drop()
    ground.pose = TURN
    grip = scene.bodies[0].at((0, 0, 0))  # type: ignore[attr-defined]
    hand = sn.ScriptedDevice(lambda t: (0, 0, 0), seconds=0.2)
    with sn.HapticLoop(scene, hand, grip=grip, coupling=sn.VirtualCoupling(stiffness=200, damping=2)) as loop:
        loop.wait(0.2)
    assert scene.time > 0.05
    np.testing.assert_allclose(ground.pose.position, TURN.position, atol=1e-15)
    asked: sn.Pose = beam.path(scene.time)  # type: ignore[misc,assignment]
    np.testing.assert_allclose(beam.pose.position, asked.position, atol=1e-12)
