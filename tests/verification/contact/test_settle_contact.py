"""Static equilibria of what touches: forces, shapes and stability against closed forms, and where motion ends."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sennit as sn

G = 9.81
LIMP = sn.Material(youngs_modulus=2e7, poisson_ratio=0.4, density=1100.0, relaxation_time=5e-3)
STIFF = sn.Material(youngs_modulus=2e8, poisson_ratio=0.4, density=1000.0, relaxation_time=5e-3)
ALONG_Y = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
MODELS = ("spline", "discrete")


def floor_of(scene, height=0.0):
    return scene.add(sn.Obstacle(sn.Plane((0, 0, height), (0, 0, 1)), name="floor"))


def check_complementary(scene, small=1e-6):
    """Nothing overlaps, nothing pulls, and what presses has no gap."""
    for contact in scene.contacts:
        assert abs(contact.gap) < small
        assert contact.force @ contact.normal > 0.0


# -------------------------------------------------------------------------------------------------------------- rigid


def test_stack_of_boxes():
    """Each box carries those above it, exactly."""
    scene = sn.Scene()
    floor = floor_of(scene)
    boxes = [
        scene.add(sn.RigidBody.box((0.2, 0.2, 0.1), mass=1.0 + i, position=(0.01 * (i % 2), 0, 0.052 + 0.104 * i)))
        for i in range(4)
    ]
    scene.collide()
    report = scene.settle()
    assert report.converged
    assert report.stable
    above = sum(1.0 + i for i in range(4))
    for i, box in enumerate(boxes):
        below = floor if i == 0 else boxes[i - 1]
        force = scene.contacts.between(box, below).force
        assert force == pytest.approx((0, 0, above * G), abs=1e-6)
        assert box.position[2] == pytest.approx(0.05 + 0.1 * i, abs=1e-7)
        above -= 1.0 + i
    assert {frozenset((a.name, b.name)) for a, b in report.touching} == {
        frozenset((box.name, below.name)) for box, below in zip(boxes, [floor, *boxes], strict=False)
    }
    check_complementary(scene)
    before = [box.position for box in boxes]
    scene.run(0.2, 1 / 240)
    assert np.max(np.abs(np.array(before) - [box.position for box in boxes])) < 1e-7


@pytest.mark.parametrize(("place", "stable"), [((0.0, 0.0), False), ((0.2, 0.0), True)])
def test_ball_on_balls(place, stable):
    """On top of a ball it would roll off in two directions; between four balls it is safe."""
    scene = sn.Scene()
    if stable:
        for x, y in ((0, 0), (0.4, 0), (0.2, 0.2), (0.2, -0.2)):
            scene.add(sn.Obstacle(sn.Sphere((x, y, 0), 0.15)))
    else:
        scene.add(sn.Obstacle(sn.Sphere((0, 0, 0), 0.15)))
    height = math.sqrt(0.25**2 - 0.2**2) if stable else 0.25
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=2.0, position=(*place, height)))
    scene.collide(friction=0.0)
    report = scene.settle()
    assert report.converged
    assert report.stable is stable
    assert report.unstable_directions == (0 if stable else 2)
    assert ball.position == pytest.approx((*place, height), abs=1e-8)
    total = sum(contact.force for contact in scene.contacts)
    assert total == pytest.approx((0, 0, 2.0 * G), abs=1e-6)


def test_ball_rolls_down_into_a_groove():
    """Between two cylinders: it comes down to the middle, held by N = mg/(2 cos 45°) of each."""
    scene = sn.Scene()
    R, r = 0.1, 0.1
    half = (R + r) * math.sin(math.pi / 4)
    for x in (-half, half):
        scene.add(sn.Obstacle(sn.Cylinder(R, 1.0, sn.Pose((x, 0, 0), ALONG_Y))))
    ball = scene.add(sn.RigidBody.sphere(r, mass=1.0, position=(0.05, 0, 0.3)))
    scene.collide()
    report = scene.settle(friction=False)
    assert report.stable
    assert ball.position == pytest.approx((0, 0, half), abs=1e-7)
    for contact in scene.contacts:
        assert np.linalg.norm(contact.force) == pytest.approx(G / math.sqrt(2.0), rel=1e-7)
    check_complementary(scene)


@pytest.mark.parametrize(("half", "stable"), [(0.09, True), (0.11, False)])
def test_rocking_stone(half, stable):
    """A box balanced on a fixed cylinder with friction: stable if its half height is less than the radius."""
    scene = sn.Scene()
    scene.add(sn.Obstacle(sn.Cylinder(0.1, 1.0, sn.Pose((0, 0, 0), ALONG_Y))))
    scene.add(sn.RigidBody.box((0.3, 0.3, 2 * half), mass=1.0, position=(0, 0, 0.1 + half)))
    scene.collide(friction=1.0)
    report = scene.settle()
    assert report.converged
    assert report.stable is stable


@pytest.mark.parametrize("flat", [True, False])
def test_pencil_that_stands(flat):
    """On its flat end it is safe, however thin; on a round tip it falls any way."""
    scene = sn.Scene()
    floor_of(scene)
    if flat:
        scene.add(sn.RigidBody.cylinder(0.004, 0.18, mass=0.01, position=(0, 0, 0.09)))
    else:
        scene.add(sn.RigidBody.capsule(0.004, 0.18, mass=0.01, position=(0, 0, 0.094)))
    scene.collide(friction=0.5)
    report = scene.settle()
    assert report.converged
    assert report.stable is flat
    assert report.unstable_directions == (0 if flat else 2)


def test_ladder_against_a_wall(validated):
    """A capsule on a floor and against a smooth wall, its foot held by a string: tension mg/(2 tan α) by moments."""
    scene = sn.Scene()
    floor = floor_of(scene)
    wall = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (1, 0, 0)), name="wall"))
    r, length, angle = 0.02, 2.0, math.radians(60.0)
    middle = (r + 0.5 * length * math.cos(angle), 0, r + 0.5 * length * math.sin(angle))
    tilt = math.pi / 2 - angle  # about y, so that its upper end leans to the wall
    pose = sn.Pose(middle, (math.cos(-tilt / 2), 0, math.sin(-tilt / 2), 0))
    ladder = scene.add(sn.RigidBody.capsule(r, length, mass=8.0, pose=pose))
    foot = ladder.at((0, 0, -0.5 * length))
    string = scene.add(sn.Distance(foot, sn.World.at((r, 0, r)), length * math.cos(angle), bound="at_most"))
    scene.add(sn.OnPlane(ladder.at((0, 0, 0)), (0, 1, 0)))
    scene.collide()
    report = scene.settle(friction=False)
    assert report.converged
    pull = 8.0 * G / (2.0 * math.tan(angle))
    assert scene.contacts.between(ladder, wall).force == pytest.approx((pull, 0, 0), rel=1e-5, abs=1e-4)
    assert scene.contacts.between(ladder, floor).force == pytest.approx((0, 0, 8.0 * G), rel=1e-5, abs=1e-4)
    validated(
        "Ladder against a smooth wall, its foot on a string, settled", area="contact", quantity="pull of the string",
        reference="moments: m g/(2 tan α)", error=abs(abs(string.force[0]) / pull - 1.0), bound=1e-5,
    )  # fmt: skip


def incline(angle, friction):
    scene = sn.Scene()
    n = (math.sin(angle), 0.0, math.cos(angle))
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), n)))
    pose = sn.Pose(0.0501 * np.array(n), (math.cos(angle / 2), 0, math.sin(angle / 2), 0))
    box = scene.add(sn.RigidBody.box((0.2, 0.2, 0.1), mass=2.0, pose=pose))
    pair = scene.collide(box, scene.obstacles[0], friction=friction)
    return scene, box, pair


def test_box_on_an_incline():
    """With friction it stays where motion left it; without, nothing holds it, and that is said."""
    angle = math.radians(20.0)
    scene, box, pair = incline(angle, 0.5)
    scene.run(0.3, 1 / 240)
    before = box.position
    report = scene.settle()
    assert report.stable
    assert box.position == pytest.approx(before, abs=1e-6)
    assert pair.force == pytest.approx((0, 0, 2.0 * G), abs=1e-5)
    report = scene.settle(friction=False, throw=False, max_iterations=60)
    assert not report.converged
    assert "nothing holds" in report.message
    with pytest.raises(sn.SolveError):
        scene.settle(friction=False, max_iterations=30)


def test_nothing_below():
    """What falls for ever is said as in scenes without contact."""
    scene = sn.Scene()
    floor = floor_of(scene)
    box = scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 1)))
    scene.collide(box, floor)
    scene.ignore(box)
    assert not scene.settle(throw=False, max_iterations=40).converged


def test_deep_overlap_is_refused():
    scene = sn.Scene()
    floor_of(scene)
    box = scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=1.0, position=(0, 0, -0.05), name="crate"))
    scene.collide()
    with pytest.raises(sn.InputError, match="crate"):
        scene.settle()
    assert box.position == pytest.approx((0, 0, -0.05))


def test_deep_overlap_is_refused_among_many():
    """Also where the tables had no room for all that was found at first, and it was not measured."""
    scene = sn.Scene()
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    for k in range(60):
        scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(0.2 * k, 0, 0.05)))
    scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(-0.2, 0, 0.01), name="sunk"))
    scene.collide()
    with pytest.raises(sn.InputError, match="sunk and floor overlap"):
        scene.settle()


# --------------------------------------------------------------------------------------------------------------- rods


@pytest.mark.parametrize("model", MODELS)
def test_rod_lifted_off_a_table(model, validated):
    """A heavy rod lifted by its end, which may turn: EI w'''' = −q with w = w' = w'' = 0 where it lifts off, w'' = 0 at
    the end gives h = q a⁴/(24 EI) and the force q a/2.
    """
    r, h = 5e-3, 0.02
    scene = sn.Scene()
    floor_of(scene)
    rod = scene.add(sn.Rod.straight(
        (0, 0, r), (1.2, 0, r), section=sn.Section.circle(r), material=STIFF, control_points=61, model=model
    ))  # fmt: skip
    hand = scene.add(sn.OnPlane(rod.at(1.2), (0, 0, 1), through=(0, 0, r + h)))
    scene.collide()
    report = scene.settle(friction=False)
    assert report.converged
    assert report.stable
    bending, weight = 2e8 * math.pi * r**4 / 4, 1000.0 * math.pi * r**2 * G
    length = (24.0 * bending * h / weight) ** 0.25
    validated(
        "Heavy rod lifted off a table by its end", area="contact", quantity="force on the hand",
        reference="linear beam, q a/2 with a⁴ = 24 EI h/q",
        error=abs(abs(hand.force[2]) / (0.5 * weight * length) - 1.0), bound=0.01,
    )  # fmt: skip
    last = max(contact.position[0] for contact in scene.contacts)
    assert 1.2 - last == pytest.approx(length, abs=1.2 / 50)
    forces = sum(contact.force[2] for contact in scene.contacts)
    assert forces + abs(hand.force[2]) == pytest.approx(1.2 * weight, rel=1e-6)
    check_complementary(scene)


@pytest.mark.parametrize("model", MODELS)
def test_three_point_bending(model, validated):
    """A rod on two supports, pressed down by a sphere: P = 48 EI δ/l³."""
    r, span, down = 4e-3, 0.8, 2e-3
    scene = sn.Scene(gravity=(0, 0, 0))
    rod = scene.add(sn.Rod.straight(
        (-0.5, 0, 0), (0.5, 0, 0), section=sn.Section.circle(r), material=STIFF, control_points=41, model=model
    ))  # fmt: skip
    for x in (-span / 2, span / 2):
        scene.add(sn.Obstacle(sn.Cylinder(0.01, 0.2, sn.Pose((x, 0, -0.01 - r), ALONG_Y))))
    sphere = scene.add(sn.Obstacle(sn.Sphere((0, 0, 0.05 + r - down), 0.05)))
    scene.add(sn.OnPlane(rod.at(0.5), (1, 0, 0)))
    scene.add(sn.OnPlane(rod.at(0.0), (0, 1, 0)))
    scene.add(sn.OnPlane(rod.at(1.0), (0, 1, 0)))
    scene.collide()
    report = scene.settle(friction=False)
    assert report.converged
    bending = 2e8 * math.pi * r**4 / 4
    pressed = scene.contacts.between(sphere, rod).force[2]
    validated(
        "Rod on two supports, pressed by a sphere, settled", area="contact", quantity="force on the sphere",
        reference="linear beam, 48 EI δ/l³", error=abs(pressed / (48.0 * bending * down / span**3) - 1.0), bound=0.01,
    )  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
def test_rope_over_a_beam(model):
    """A limp rope over a smooth beam, its ends held at two heights: T − w z is the same on both sides."""
    r, R, E = 3e-3, 0.08, 1e6
    scene = sn.Scene()
    scene.add(sn.Obstacle(sn.Cylinder(R, 0.5, sn.Pose((0, 0, 0), ALONG_Y)), name="beam"))
    rope = scene.add(sn.Rod.through(
        [(-0.5, 0, -0.2), (-0.3, 0, 0.0), (0, 0, R + 0.05), (0.3, 0, 0.0), (0.45, 0, -0.35)],
        section=sn.Section.circle(r), material=sn.Material(E, 0.4, 1100.0), control_points=60, model=model,
    ))  # fmt: skip
    scene.add(sn.Fix(rope.at(0.0)))
    scene.add(sn.Fix(rope.at(rope.length)))
    scene.collide()
    report = scene.settle(friction=False)
    assert report.stable
    assert len(report.touching) == 1
    w = 1100.0 * math.pi * r**2 * G
    inside = slice(10, -10)
    line, tension = rope.centerline(400)[inside], rope.tensions(400)[inside]
    away = np.linalg.norm(line[:, ::2], axis=1) > R + 5 * r
    even = (tension - w * line[:, 2])[away]  # where it is free it hardly bends
    assert np.ptp(even) < 0.02 * np.max(tension)
    # on each side the horizontal force is the same along the free part, and the curve a catenary
    for side in (line[:, 0] < 0, line[:, 0] > 0):
        x, z = line[away & side][:, 0], line[away & side][:, 2]
        slope = np.gradient(z, x)
        free = slice(len(x) // 6, -(len(x) // 6))  # away from its ends, where it bends
        horizontal = (tension[away & side] / np.sqrt(1.0 + slope**2))[free]
        a = np.mean(horizontal) / w
        assert np.ptp(horizontal) < 0.03 * np.max(tension)
        assert np.ptp(np.arcsinh(slope[free])) == pytest.approx(np.ptp(x[free]) / a, rel=0.03)
    check_complementary(scene)


def test_rope_over_the_edge_of_a_table(validated):
    """A rope on a smooth table, held at one end and hanging over the edge: the hand feels w times what hangs down."""
    r = 3e-3
    scene = sn.Scene()
    scene.add(sn.Obstacle(sn.Box((1.0, 1.0, 0.1), sn.Pose((-0.5, 0, -0.05))), name="table"))
    rope = scene.add(sn.Rod.straight(
        (-0.6, 0, r), (0.4, 0, r), section=sn.Section.circle(r), material=LIMP, control_points=60
    ))  # fmt: skip
    hand = scene.add(sn.Fix(rope.at(0.0)))
    scene.collide()
    report = scene.settle(friction=False)
    assert report.converged
    w = 1100.0 * math.pi * r**2 * G
    tip = rope.centerline(100)[-1]
    assert tip[2] < -0.3
    validated(
        "Rope over the edge of a smooth table, settled", area="contact", quantity="force on the hand",
        reference="weight of what hangs down", error=abs(abs(hand.force[0]) / (w * (r - tip[2])) - 1.0), bound=0.02,
    )  # fmt: skip
    check_complementary(scene)


@pytest.mark.parametrize("model", MODELS)
def test_ball_on_a_taut_rope(model, validated):
    """2 T sin θ = m g, the rope's own weight being next to nothing. It may slip off sideways, and that is said."""
    r = 2e-3
    light = sn.Material(youngs_modulus=1e8, poisson_ratio=0.4, density=10.0)
    scene = sn.Scene()
    rope = scene.add(sn.Rod.straight(
        (-0.5, 0, 0), (0.5, 0, 0), section=sn.Section.circle(r), material=light, control_points=40, model=model
    ))  # fmt: skip
    scene.add(sn.Fix(rope.at(0.0)))
    scene.add(sn.Fix(rope.at(1.0)))
    ball = scene.add(sn.RigidBody.sphere(0.03, mass=0.5, position=(0, 0, 0.2)))
    scene.add(sn.OnAxis(ball.at((0, 0, 0)), (0, 0, 1)))
    pair = scene.collide(ball, rope)
    report = scene.settle(friction=False)
    assert report.unstable_directions == 1
    line, tension = rope.centerline(200), rope.tensions(200)
    part = slice(20, 60)
    slope = np.polyfit(line[part, 0], line[part, 2], 1)[0]
    lifted = 2.0 * np.mean(tension[part]) * abs(math.sin(math.atan(slope)))
    validated(
        "Ball on a taut rope, settled", area="contact", quantity="weight, 2 T sin θ of m g", reference="statics",
        error=abs(lifted / (0.5 * G) - 1.0), bound=0.01,
    )  # fmt: skip
    assert pair.force[2] == pytest.approx(0.5 * G, rel=1e-6)


def test_rope_lands_on_a_table_far_below():
    """Ten lengths below: it lies there, all of its weight carried."""
    r = 4e-3
    scene = sn.Scene()
    floor = floor_of(scene, -10.0)
    rope = scene.add(sn.Rod.through(
        [(0, 0, 0), (0.3, 0.1, 0.1), (0.6, -0.1, 0.0), (1, 0, 0.2)], section=sn.Section.circle(r), material=STIFF,
        control_points=24,
    ))  # fmt: skip
    pair = scene.collide(rope, floor)
    report = scene.settle()
    assert report.converged
    assert pair.force[2] == pytest.approx(rope.mass * G, rel=1e-6)
    assert rope.centerline(100)[:, 2] == pytest.approx(np.full(100, -10.0 + r), abs=0.02 * r)
    check_complementary(scene)


def test_rope_crosses_a_rope():
    """A rope that falls across a taut one stays above it, and both carry its weight."""
    r = 4e-3
    scene = sn.Scene()
    taut = scene.add(sn.Rod.straight(
        (-0.4, 0, 0), (0.4, 0, 0), section=sn.Section.circle(r), material=LIMP, control_points=24
    ))  # fmt: skip
    slack = scene.add(sn.Rod.through(
        [(0, -0.4, 0.1), (0.01, 0, 0.35), (0, 0.4, 0.1)], section=sn.Section.circle(r), material=LIMP,
        control_points=30,
    ))  # fmt: skip
    for rope in (taut, slack):
        scene.add(sn.Fix(rope.at(0.0)))
        scene.add(sn.Fix(rope.at(rope.length)))
    pair = scene.collide(slack, taut)
    report = scene.settle(friction=False)
    assert report.converged
    assert pair.touching
    assert pair.force[2] > 0.05
    middle = [rope.centerline(201)[:, 2] for rope in (slack, taut)]
    assert middle[0][100] > middle[1][100]
    gaps = np.linalg.norm(slack.centerline(401)[:, None] - taut.centerline(401)[None], axis=2)
    assert np.min(gaps) == pytest.approx(2 * r, abs=0.02 * r)


@pytest.mark.parametrize("model", MODELS)
def test_settle_is_where_motion_ends(model):
    """A rod and a box that come to rest on a table and a peg, without friction: the same by steps with drag."""

    def built():
        scene = sn.Scene(drag=4.0)
        floor_of(scene)
        scene.add(sn.Obstacle(sn.Cylinder(0.03, 0.4, sn.Pose((0.1, 0, 0.03), ALONG_Y))))
        rod = scene.add(sn.Rod.straight(
            (-0.4, 0, 0.1), (0.4, 0, 0.08), section=sn.Section.circle(4e-3), material=LIMP, control_points=24,
            model=model,
        ))  # fmt: skip
        scene.add(sn.OnPlane(rod.at(0.4), (1, 0, 0)))
        for s in (0.0, 0.8):
            scene.add(sn.OnPlane(rod.at(s), (0, 1, 0)))
        scene.collide(friction=0.0)
        return scene, rod

    scene, rod = built()
    report = scene.settle()
    assert report.stable
    moving, other = built()
    moving.run(6.0, 1 / 120)
    assert np.max(np.abs(rod.centerline(100) - other.centerline(100))) < 2e-4


def test_answer_turns_with_the_scene():
    """The same scene, turned and shifted with its gravity, has the same answer."""
    pose = sn.Pose((1.0, -2.0, 0.5), tuple(np.array((0.4, 0.5, -0.6, 0.3)) / math.sqrt(0.86)))

    def built(p):
        place = lambda x: p.rotation @ np.asarray(x, float) + p.position  # noqa: E731
        scene = sn.Scene(gravity=p.rotation @ (0, 0, -G))
        scene.add(sn.Obstacle(sn.Plane(place((0, 0, 0)), p.rotation @ (0, 0, 1))))
        rod = scene.add(sn.Rod.straight(
            place((0, 0, 0.05)), place((0.8, 0, 0.05)), section=sn.Section.circle(5e-3), material=LIMP,
            control_points=20, up=p.rotation @ (0, 0, 1),
        ))  # fmt: skip
        scene.add(sn.Fix(rod.at(0.0)))
        scene.collide()
        report = scene.settle(friction=False)
        assert report.converged
        return (rod.centerline(60) - p.position) @ p.rotation, len(scene.contacts)

    plain, count = built(sn.Pose())
    turned, other = built(pose)
    assert count == other
    assert turned == pytest.approx(plain, abs=1e-6)


def test_events_and_friction_goes_on():
    """What meets in `settle` is told, and steps go on from its forces."""
    scene = sn.Scene()
    floor = floor_of(scene)
    rod = scene.add(sn.Rod.straight(
        (0, 0, 0.02), (0.5, 0, 0.02), section=sn.Section.circle(5e-3), material=STIFF, control_points=10
    ))  # fmt: skip
    pair = scene.collide(rod, floor)
    scene.settle()
    assert [event.kind for event in scene.events] == ["touch"]
    assert pair.touching
    before = rod.centerline(20)
    scene.run(0.1, 1 / 240)
    assert np.max(np.abs(rod.centerline(20) - before)) < 1e-7
