"""Scenes on closed meshes and height fields: what is flat is as a plane, what is not has closed forms of its own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import trimesh
from references.meshes import hilly
from references.touching import box_mesh

import sennit as sn

G = 9.81
H = 1 / 240
RADIUS = 5e-3
HEMP = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000)
PLANE = sn.Plane((0, 0, 0), (0, 0, 1))
FLAT = {
    "mesh": box_mesh((4.0, 4.0, 1.0), sn.Pose((0, 0, -0.5))),
    "heights": sn.HeightField(np.zeros((62, 49)), (4.0, 4.0)),
}
flat = pytest.mark.parametrize("ground", FLAT.values(), ids=FLAT)


def on(ground: Any, what: str, velocity: Any, friction: float, tilt: float = 0.0) -> tuple[sn.Scene, Any, Any, Any]:
    """Something that moves on a ground which slopes down along x by `tilt`: scene, thing, where it is, the pair."""
    scene = sn.Scene(gravity=(G * math.sin(tilt), 0.0, -G * math.cos(tilt)))
    floor = scene.add(sn.Obstacle(ground))
    if what == "rope":
        rope = scene.add(sn.Rod.straight(
            (0, 0, RADIUS), (0.3, 0, RADIUS), section=sn.Section.circle(RADIUS), material=HEMP, control_points=9
        ))  # fmt: skip
        rope.control_velocities = np.tile(velocity, (9, 1))
        return scene, rope, lambda: rope.control_points.mean(axis=0), scene.collide(rope, floor, friction=friction)
    if what == "ball":
        body = scene.add(sn.RigidBody.sphere(0.05, mass=2.0, position=(0, 0, 0.05)))
    else:
        form = {"shape": box_mesh((0.2, 0.2, 0.1))} if what == "box of triangles" else {}
        body = scene.add(sn.RigidBody.box((0.2, 0.2, 0.1), mass=2.0, position=(0, 0, 0.05), **form))
    body.velocity = velocity
    return scene, body, lambda: body.position, scene.collide(body, floor, friction=friction)


@flat
@pytest.mark.parametrize("what", ["rope", "box", "box of triangles", "ball"])
def test_flat_ground_is_a_plane(ground, what):
    """A slide to rest, and a ball that slides until it rolls: the same ways as on a plane, across a hundred edges."""
    ends = []
    for under in (PLANE, ground):
        scene, _, place, pair = on(under, what, (1.0, 0.3, 0.0), 0.3)
        scene.run(0.6, H)
        ends.append((place(), pair.force, pair.count))
    np.testing.assert_allclose(ends[0][0], ends[1][0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(ends[0][1], ends[1][1], rtol=0, atol=1e-6)
    assert ends[0][2] == ends[1][2]


@flat
@pytest.mark.parametrize("what", ["rope", "box", "box of triangles"])
def test_slide_to_rest(ground, what, validated):
    """v²/2μg; backward Euler itself makes the way shorter by v h/2 to first order."""
    friction, speed = 0.3, 1.0
    scene, body, place, pair = on(ground, what, (speed, 0.0, 0.0), friction)
    begin = place()
    scene.run(0.6, H)
    exact = speed**2 / (2 * friction * G)
    validated(
        "Box and rope slide to rest on a closed mesh and on a height field", area="contact", quantity="way, of v²/2μg",
        reference="Coulomb's law", error=abs((place() - begin)[0] / exact - 1.0), bound=1.2 * speed * H / (2 * exact),
    )  # fmt: skip
    assert pair.force == pytest.approx((0, 0, body.mass * G), abs=1e-6)


@pytest.mark.parametrize("kind", ["mesh", "heights"])
@pytest.mark.parametrize("what", ["rope", "box", "box of triangles"])
@pytest.mark.parametrize(("share", "sticks"), [(0.999, True), (1.001, False)])
def test_slope(kind, what, share, sticks):
    """Where tan α is below μ nothing moves; above it the acceleration is g (sin α − μ cos α)."""
    friction = 0.4
    tilt = math.atan(friction * share)
    scene, _, place, pair = on(FLAT[kind], what, (0.0, 0.0, 0.0), friction, tilt)
    scene.run(0.5, H)
    begin, speed = place(), 0.5 * G * (math.sin(tilt) - friction * math.cos(tilt))
    scene.run(0.5, H)
    way = (place() - begin)[0]
    assert pair.touching
    if sticks:
        assert abs(way) < 1e-9
    else:
        assert way == pytest.approx(0.75 * speed, rel=0.02, abs=2e-4)


def test_ball_rolls_on_a_sloping_field(validated):
    """The field slopes, not gravity: 5/7 g sin α down over its edges, from diagonal to diagonal."""
    tilt, radius, time = math.radians(10.0), 0.05, 0.8
    x = np.linspace(-3.0, 3.0, 61)
    scene = sn.Scene()
    scene.add(sn.Obstacle(sn.HeightField(-math.tan(tilt) * x[:, None] * np.ones(21), (6.0, 2.0))))
    way = np.array((math.cos(tilt), 0.0, -math.sin(tilt)))
    ball = scene.add(sn.RigidBody.sphere(radius, mass=1.0, position=(0, 0.013, radius / math.cos(tilt))))
    scene.collide(friction=0.5)
    scene.run(time, H)
    exact = 5 / 7 * G * math.sin(tilt) * time
    validated(
        "Ball rolls down a sloping height field", area="contact", quantity="speed, of 5/7 g sin α t",
        reference="closed form", error=float(np.linalg.norm(ball.velocity - exact * way)) / exact, bound=1e-6,
    )  # fmt: skip


@pytest.mark.parametrize("side", [30.0, 45.0])
def test_ball_rolls_in_a_groove(side, validated):
    """On two sides at once it turns about the line of both places: a = g sin α / (1 + 2/5 / cos² of the sides)."""
    tilt, radius, time = math.radians(10.0), 0.05, 0.8
    steep, x = math.radians(side), np.linspace(-1.0, 1.0, 41)
    scene = sn.Scene(gravity=(0.0, G * math.sin(tilt), -G * math.cos(tilt)))
    groove = scene.add(sn.Obstacle(sn.HeightField(math.tan(steep) * np.abs(x)[:, None] * np.ones(61), (2.0, 6.0))))
    ball = scene.add(sn.RigidBody.sphere(radius, mass=1.0, position=(0, -2.0, radius / math.cos(steep))))
    pair = scene.collide(ball, groove, friction=0.6)
    scene.run(time, H)
    assert pair.count == 2
    exact = G * math.sin(tilt) / (1.0 + 0.4 / math.cos(steep) ** 2) * time
    validated(
        "Ball rolls in a groove of a height field", area="contact", quantity="speed", reference="closed form",
        error=float(np.linalg.norm(ball.velocity - (0, exact, 0))) / exact, bound=1e-6,
    )  # fmt: skip


def test_ball_swings_in_a_trough(validated):
    """T = 2π √(7 (R − r)/5 g) (1 + ϑ²/16), across 240 facets of a field."""
    R, r, angle, h = 1.0, 0.05, 0.1, 1 / 960
    x = np.linspace(-0.6, 0.6, 241)
    scene = sn.Scene()
    scene.add(sn.Obstacle(sn.HeightField((R - np.sqrt(R * R - x * x))[:, None] * np.ones(5), (1.2, 1.0))))
    place = ((R - r) * math.sin(angle), 0.03, R - (R - r) * math.cos(angle) + 1e-5)
    ball = scene.add(sn.RigidBody.sphere(r, mass=1.0, position=place))
    scene.collide(friction=0.6)
    found = []
    for _ in range(round(3.2 / h)):
        scene.step(h)
        found.append(ball.position[0])
    x = np.array(found)
    low = np.flatnonzero(x[1:] * x[:-1] < 0)
    period = 2 * h * np.diff(low + x[low] / (x[low] - x[low + 1])).mean()
    exact = 2 * math.pi * math.sqrt(1.4 * (R - r) / G) * (1 + angle**2 / 16)
    validated(
        "Ball swings in a trough of facets", area="contact", quantity="period", reference="closed form",
        error=abs(period / exact - 1.0), bound=2e-3,
    )  # fmt: skip
    assert x[len(x) // 2 :].max() > 0.97 * place[0]  # edges of facets take next to nothing


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_box_of_triangles_tumbles_as_a_box(restitution):
    """Thrown with spin on a plane, a box, a closed mesh and a height field: the same ways, for both kinds of box."""
    ways = []
    for ground in (PLANE, sn.Box((4.0, 4.0, 1.0), sn.Pose((0, 0, -0.5))), *FLAT.values()):
        for form in ({}, {"shape": box_mesh((0.2, 0.15, 0.1))}):
            scene = sn.Scene()
            scene.add(sn.Obstacle(ground))
            box = scene.add(sn.RigidBody.box((0.2, 0.15, 0.1), mass=2.0, position=(0, 0, 0.25), **form))
            box.velocity, box.angular_velocity = (1.0, 0.2, 0.0), (2.0, 5.0, 1.0)
            scene.collide(friction=0.3, restitution=restitution)
            way = []
            for _ in range(28):
                scene.run(0.025, 1 / 1000)
                way.append(np.concatenate((box.position, box.velocity)))
            ways.append(way)
    assert np.ptp(np.array(ways)[0, :, 2]) > 0.14  # it fell
    np.testing.assert_allclose(ways[1:], np.broadcast_to(ways[0], np.shape(ways[1:])), rtol=0, atol=1e-8)


def test_ring_of_triangles_hangs_on_a_peg():
    """A closed mesh with a hole: the peg is in it, and carries its weight."""
    torus = trimesh.creation.torus(0.1, 0.02, major_sections=48, minor_sections=16)
    across = (math.sqrt(0.5), 0, math.sqrt(0.5), 0)
    scene = sn.Scene()
    peg = scene.add(sn.Obstacle(sn.Capsule(0.03, 0.4, sn.Pose((0, 0, 0), across))))
    ring = scene.add(sn.RigidBody.from_mesh(
        np.array(torus.vertices), np.array(torus.faces), density=1000.0, pose=sn.Pose((0, 0, -0.05), across)
    ))  # fmt: skip
    pair = scene.collide(ring, peg, friction=0.5)
    scene.run(1.0, H)
    assert pair.force == pytest.approx((0, 0, ring.mass * G), abs=1e-6)
    assert ring.position == pytest.approx((0, 0, -0.05), abs=1e-3)
    assert np.linalg.norm(ring.velocity) < 1e-9


@pytest.mark.parametrize("kind", ["heights", "mesh"])
def test_things_lie_on_hills(kind):
    """Solids lie still, carried by forces and torques that balance their weight; a rope, which rolls to and fro,
    has the momentum that weight and ground give it, and is not in the ground.
    """
    x = np.linspace(-1.0, 1.0, 41)
    heights = 0.04 * np.sin(6 * x)[:, None] * np.cos(5 * x)
    shape = sn.HeightField(heights, (2.0, 2.0)) if kind == "heights" else sn.Mesh(*hilly(x, heights))
    scene = sn.Scene()
    ground = scene.add(sn.Obstacle(shape))
    stuff = sn.Material(1e7, 0.4, 1000, relaxation_time=0.02)
    rope = scene.add(sn.Rod.straight(
        (-0.5, -0.3, 0.06), (0.6, 0.2, 0.06), section=sn.Section.circle(6e-3), material=stuff, control_points=40
    ))  # fmt: skip
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(-0.3, 0.5, 0.12)))
    stone = trimesh.creation.icosahedron()
    rock = scene.add(sn.RigidBody.from_mesh(
        0.06 * stone.vertices, np.array(stone.faces), density=2000.0, pose=sn.Pose((0.3, -0.5, 0.15))
    ))  # fmt: skip
    scene.collide([rope, box, rock], ground, friction=0.8)
    scene.run(2.0, H)
    for body in (box, rock):
        pair = scene.contacts.between(body, ground)
        assert np.linalg.norm(body.velocity) < 1e-9
        assert pair.force == pytest.approx((0, 0, body.mass * G), abs=1e-8)
        mine = [contact for contact in scene.contacts if body in (contact.first, contact.second)]
        turns = sum(np.cross(contact.position - body.position, contact.force) for contact in mine)
        assert np.linalg.norm(turns) < 1e-8
    carried, before = np.zeros(3), scene.linear_momentum
    for _ in range(60):
        scene.step(H)
        carried += H * (scene.contacts.between(rope, ground).force - (0, 0, rope.mass * G))
    assert scene.linear_momentum - before == pytest.approx(carried, abs=1e-4 * 60 * H * rope.mass * G)
    line = np.array([rope.at(s).position for s in np.linspace(0, rope.length, 400)])
    # between its knots and the facets' edges it is held every half a span
    assert shape.signed_distance(line).min() > 0.7 * 6e-3
    assert scene.contacts.deepest < 1e-4
