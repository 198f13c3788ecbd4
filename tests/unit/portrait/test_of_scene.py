"""Portraits of scenes: everything is seen where it is, and looking changes nothing."""

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
    odd_rods,
    rope,
    seen,
    views_of,
)

import sennit as sn
from sennit.constraints.constraint import AbstractConstraint
from sennit.geometry.rotations import quaternion_to_matrix
from sennit.portrait.cast import Cast
from sennit.portrait.meshing import stripe_vertices
from sennit.portrait.of_scene import portrait_of
from sennit.portrait.parts import Solid, Surface, Tube
from sennit.portrait.solids import box


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
        for part, view, shown in views_of(portrait):
            assert view.shown[0] == float(is_there(shown)), part.name
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
    assert np.allclose(part.places(view)[1], wedge.at(vertex).position)


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
    # what presses on it, summed over its surface, is the load, but for vertices on the rim, whose normals are slanted
    a, b, c = (zone.vertices[zone.faces[:, k]] for k in range(3))
    areas = np.bincount(zone.faces.ravel(), np.repeat(np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0, 3))
    assert float(view.fields["pressure"] @ areas) == pytest.approx(0.5, rel=1e-2)


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
        states.append([array.copy() for thing in scene._numbered() for array in thing._state_arrays().values()])
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
