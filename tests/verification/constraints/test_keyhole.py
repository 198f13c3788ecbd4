"""Rods that slide through holes."""

from __future__ import annotations

import numpy as np
import pytest
from unit.scene import kit
from unit.scene.kit import ROPE, SOFT, STIFF, WIRE, G

import sennit as sn

CORD = sn.Material(1e9, 0.4, 1000.0)
THIN = sn.Section.circle(3e-3)  # EI = 0.064 N m^2: bends over sqrt(EI / T) = 4 cm at 40 N, two spans of the mesh


def bent(scene, corners, rounding, n=60):
    """A cord along a broken line with rounded corners, straight when nothing acts on it."""
    corners = np.asarray(corners, dtype=float)
    s = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))))
    line = []
    for at in np.linspace(0, s[-1], 81):
        reach = min(rounding, at, s[-1] - at)
        around = at + np.linspace(-reach, reach, 41)
        line.append([np.interp(around, s, corners[:, k]).mean() for k in range(3)])
    return scene.add(sn.Rod.through(line, section=THIN, material=CORD, control_points=n, straight=True))


# --- a rope over a hole


def test_a_hole_carries_what_hangs_from_it() -> None:
    """One end held below and aside, a weight on the other: the tension m g on both sides, the hole holds their sum."""
    mass = 4.0
    scene = sn.Scene()
    rope = bent(scene, [(-0.6, 0, -0.8), (0, 0, 0), (0, 0, -1)], 0.1)
    place = rope.at(rope.length / 2).position
    weight = scene.add(sn.RigidBody.sphere(radius=0.05, mass=mass, position=(0, 0, -1)))
    held = scene.add(sn.Fix(rope.at(0.0)))
    scene.add(sn.Ball(rope.at(rope.length), weight.at((0, 0, 0))))
    hole = scene.add(sn.Keyhole(rope, at=rope.length / 2, hole=sn.World.at(place)))
    report = scene.settle()
    assert report.converged
    cord = CORD.density * THIN.area * rope.length * G
    # everything balances
    assert hole.force + held.force == pytest.approx((0, 0, mass * G + cord), abs=1e-5)
    # the tension is the same on both sides, but for the cord's own weight and what the mesh makes of the bend: a rope
    # that slides by part of a span is not quite the same rope
    aside = (held.target - place) / np.linalg.norm(held.target - place)
    assert hole.force == pytest.approx(mass * G * (np.array((0, 0, 1)) - aside), rel=0.08, abs=1.0)
    tension = rope.tensions(11)
    assert tension[2] == pytest.approx(mass * G, rel=0.08)
    assert tension[-3] == pytest.approx(mass * G, rel=0.02)
    # bending keeps the weight from hanging right under the hole, by about sqrt(EI / T)
    assert weight.pose.position[:2] == pytest.approx(place[:2], abs=0.08)


def over_the_top(m1: float, m2: float, **options):
    scene = sn.Scene(drag=30.0)
    rope = bent(scene, [(-0.04, 0, -0.6), (-0.04, 0, 0), (0.04, 0, 0), (0.04, 0, -0.6)], 0.05)
    loads = [
        scene.add(sn.RigidBody.sphere(radius=0.02, mass=m, position=(x, 0, -0.6))) for m, x in ((m1, -0.04), (m2, 0.04))
    ]
    scene.add(sn.Ball(rope.at(0.0), loads[0].at((0, 0, 0))))
    scene.add(sn.Ball(rope.at(rope.length), loads[1].at((0, 0, 0))))
    middle = rope.length / 2
    hole = scene.add(sn.Keyhole(rope, at=middle, hole=sn.World.at(rope.at(middle).position), **options))
    return scene, rope, loads, hole


def test_atwood(validated) -> None:
    """Two weights over a hole: a = (m2 - m1) g / (m1 + m2)."""
    m1, m2, dt = 4.0, 6.0, 2e-3
    scene, _, loads, hole = over_the_top(m1, m2)
    brake = scene.add(sn.Fix(loads[1].at((0, 0, 0))))
    scene.run(0.4, dt=5e-3)
    brake.enabled = False
    scene.drag = 0.0
    start = [load.pose.position[2] for load in loads]
    place = hole.s
    n = 150
    pulls = []
    for _ in range(n):
        scene.step(dt)
        pulls.append(hole.force[2])
    t = n * dt
    wanted = (m2 - m1) / (m1 + m2) * G * t * t / 2
    moved = [load.pose.position[2] - z for load, z in zip(loads, start, strict=True)]
    # the bend slides over the knots of the mesh, and the cord has 0.03 kg and a bend to turn
    validated(
        "Two weights on a rope over a hole",
        area="constraints",
        quantity="travel",
        reference="Atwood's machine",
        error=abs(moved[1] / -wanted - 1),
        bound=0.08,
    )
    assert moved[0] == pytest.approx(wanted, rel=0.08)
    assert hole.s - place == pytest.approx(-wanted, rel=0.08)
    tension = 2 * m1 * m2 / (m1 + m2) * G
    # the weights bounce on the cord, some 15 %: the mean over the fall
    assert np.mean(pulls) == pytest.approx(2 * tension, rel=0.06)


@pytest.mark.parametrize(("ratio", "holds"), [(1.15, True), (1.9, False)])
def test_friction_over_a_bend(ratio: float, holds: bool) -> None:
    """A quarter turn with mu = 0.2: one hole holds tensions in a ratio of (1 + mu tan 45) / (1 - mu tan 45) = 1.5.

    Less when the cord's bending turns the tangent from the middle of the bend towards the stronger side: 1.33 here.
    """
    pull = 40.0
    scene = sn.Scene(gravity=(0, 0, 0), drag=20.0)
    rope = bent(scene, [(-0.6, 0, 0), (0, 0, 0), (0, 0, -0.6)], 0.08)
    middle = rope.length / 2
    hole = scene.add(sn.Keyhole(rope, at=middle, hole=sn.World.at(rope.at(middle).position), friction=0.2))
    scene.add(sn.Load(rope.at(0.0), force=(-pull, 0, 0)))
    scene.add(sn.Load(rope.at(rope.length), force=(0, 0, -pull)))
    scene.run(0.2, dt=0.01)
    s = hole.s
    scene.add(sn.Load(rope.at(rope.length), force=(0, 0, -pull * (ratio - 1))))
    scene.run(0.3, dt=0.01)
    gone = any(event.kind == "released" for event in scene.events)
    if holds:
        assert not gone
        assert hole.s == pytest.approx(s, abs=3e-3)  # the far side stretches by T L / EA = 2e-4
    else:
        assert gone or s - hole.s > 0.05


# --- a body on a wire


def on_wire(slope: float, *, gravity=(0, 0, -G), mass=0.1, at=0.3, length=1.0, **options):
    """A ball whose centre is a hole on a stiff light wire, which falls by `slope` (rad) towards growing s."""
    scene = sn.Scene(gravity=gravity)
    d = np.array((np.cos(slope), 0, -np.sin(slope)))
    wire = scene.add(sn.Rod.straight((0, 0, 0), length * d, section=WIRE, material=STIFF, control_points=8))
    for s in (0.0, length):
        scene.add(sn.Clamp(wire.at(s)))
    ball = scene.add(sn.RigidBody.sphere(radius=0.01, mass=mass, position=at * d))
    hole = scene.add(sn.Keyhole(wire, at=at, hole=ball.at((0, 0, 0)), **options))
    return scene, ball, hole, d


@pytest.mark.parametrize(("slope", "friction"), [(0.5, 0.0), (0.5, 0.3), (0.2, 0.1)])
def test_a_ball_slides_down_a_wire(slope: float, friction: float, validated) -> None:
    scene, ball, hole, d = on_wire(slope, friction=friction)
    dt, n = 0.01, 25
    for _ in range(n):
        scene.step(dt)
    a = G * (np.sin(slope) - friction * np.cos(slope))
    travel = a * dt * dt * n * (n + 1) / 2
    assert ball.pose.position == pytest.approx((0.3 + travel) * d, abs=5e-3 * travel)
    validated(
        "Ball that slides down a wire, with friction",
        area="constraints",
        quantity="travel",
        reference="g(sin α − μ cos α)t²/2, stepwise",
        error=abs(hole.s - 0.3 - travel) / travel,
        bound=5e-3,
    )


@pytest.mark.parametrize("slope", [0.2, -0.2])
def test_a_ball_stays_where_friction_holds_it(slope: float) -> None:
    # tan 0.2 = 0.203 < 0.25
    scene, ball, hole, _ = on_wire(slope, friction=0.25)
    scene.run(0.5, dt=0.01)
    assert hole.s == pytest.approx(0.3, abs=1e-6)
    assert np.abs(ball.velocity).max() < 1e-5
    # what holds it is the wire's weightless pull on the ball: the hole pushes the wire down by the ball's weight
    assert hole.force == pytest.approx((0, 0, -0.1 * G), abs=1e-4)


def test_terminal_speed(validated) -> None:
    c, mass = 2.0, 0.1
    scene, ball, hole, _ = on_wire(np.pi / 2, mass=mass, sliding_drag=c)
    scene.run(0.5, dt=0.01)
    validated(
        "Ball that falls along a wire, with drag",
        area="constraints",
        quantity="last speed",
        reference="mg/c",
        error=abs(ball.velocity[2] / (-mass * G / c) - 1),
        bound=1e-3,
    )
    # the wire feels the ball's whole weight through the drag
    assert hole.force == pytest.approx((0, 0, -mass * G), abs=1e-3)


@pytest.mark.parametrize("speed", [0.2, -0.15])
@pytest.mark.parametrize("n", [5, 12])
def test_a_driven_keyhole_keeps_its_speed(speed: float, n: int, validated) -> None:
    scene = sn.Scene(gravity=(0, 0, -G))
    wire = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=WIRE, material=STIFF, control_points=n))
    for s in (0.0, 1.0):
        scene.add(sn.Clamp(wire.at(s)))
    ball = scene.add(sn.RigidBody.sphere(radius=0.01, mass=0.1, position=(0.5, 0, 0)))
    hole = scene.add(sn.Keyhole(wire, at=0.5, hole=ball.at((0, 0, 0)), speed=speed))
    for k in range(1, 31):
        scene.step(0.01)
        # metres of rod, whatever the spline's parameter is
        validated(
            "Driven keyhole, any mesh",
            area="constraints",
            quantity="place (m)",
            reference="speed times time",
            error=abs(hole.s - 0.5 - speed * 0.01 * k),
            bound=1e-9,
        )
    assert ball.velocity[0] == pytest.approx(speed, rel=1e-3)


def test_a_rope_fed_through_a_hole() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    rope = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=ROPE, material=SOFT, control_points=9))
    hole = scene.add(sn.Keyhole(rope, at=0.3, hole=sn.World.at((0.3, 0, 0)), direction=(1, 0, 0), speed=0.5))
    scene.run(0.4, dt=0.01)
    assert hole.s == pytest.approx(0.5, abs=1e-9)
    # 20 cm of it have gone back through the hole
    assert rope.at(0.5).position == pytest.approx((0.3, 0, 0), abs=1e-6)
    assert rope.at(0.0).position[0] == pytest.approx(-0.2, abs=0.02)


def test_an_oriented_keyhole_keeps_its_direction() -> None:
    wanted = np.array((0.8, 0, 0.6))
    scene = sn.Scene(gravity=(0, 0, -G), drag=5.0)
    rope = scene.add(sn.Rod.straight(-0.5 * wanted, 0.5 * wanted, section=ROPE, material=SOFT, control_points=12))
    scene.add(sn.Keyhole(rope, at=0.5, hole=sn.World.at((0, 0, 0)), direction=wanted, speed=0.1))
    for k in range(50):
        scene.step(0.01)
        here = rope.at(0.5 + 0.001 * (k + 1))
        assert np.abs(here.position).max() < 1e-3
        assert here.frame[:, 2] @ wanted > 1 - 1e-4
    assert np.abs(rope.at(0.0).frame[:, 2] - wanted).max() > 0.05, "elsewhere it bends"


# --- leaving the rod


@pytest.mark.parametrize("towards", [1, -1])
def test_a_rod_that_leaves_its_hole_is_let_go(towards: int) -> None:
    """A straight rod falls along itself through a hole: it never notices, before, at or after its end."""
    g, dt = 2.0, 0.01
    scene = sn.Scene(gravity=(towards * g, 0, 0))
    rope = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=ROPE, material=SOFT, control_points=9))
    at = 0.05 if towards > 0 else 0.95
    scene.add(sn.Keyhole(rope, at=at, hole=sn.World.at((at, 0, 0))))
    start = rope.centerline(9).copy()
    before = 0
    for n in range(1, 41):
        scene.step(dt)
        moved = towards * g * dt * dt * n * (n + 1) / 2
        assert np.abs(rope.centerline(9) - start - (moved, 0, 0)).max() < 1e-8
        released = [event for event in scene.events if event.kind == "released"]
        assert len(released) == (1 if abs(moved) > 0.05 else 0)
        before = n
    assert before == 40


def test_a_rope_slides_off_its_peg() -> None:
    scene = sn.Scene(drag=1.0)
    soft = sn.Material(1e7, 0.4, 1000.0)
    angle = np.linspace(0, np.pi, 30)
    arch = np.column_stack((-0.05 * np.cos(angle), np.zeros(30), 0.05 * np.sin(angle)))
    sides = [np.column_stack((np.full(20, x), np.zeros(20), z)) for x, z in ((-0.05, np.linspace(-0.2, -0.01, 20)),)]
    far = np.column_stack((np.full(30, 0.05), np.zeros(30), np.linspace(-0.01, -0.5, 30)))
    line = np.vstack((*sides, arch, far))
    rope = scene.add(
        sn.Rod.through(line, section=sn.Section.circle(2e-3), material=soft, control_points=24, straight=True)
    )
    top = 0.2 + 0.05 * np.pi / 2
    hole = scene.add(sn.Keyhole(rope, at=top, hole=sn.World.at(rope.at(top).position)))
    scale = soft.density * np.pi * 4e-6 * rope.length * G * rope.length
    energy = scene.energy.total
    for _ in range(400):
        scene.step(0.005)
        assert np.isfinite(rope.centerline(20)).all()
        assert scene.energy.total < energy + 0.1 * scale, scene.time
        energy = scene.energy.total
        if any(event.kind == "released" for event in scene.events):
            break
    else:
        raise AssertionError("it never came off")
    scene.step(0.005)
    assert np.array_equal(hole.force, (0, 0, 0))
    assert hole.s == pytest.approx(0.0, abs=1e-6), "it slides towards the longer side"


# --- a hole in the same rope


def test_a_slipknot_tightens() -> None:
    radius = 0.1
    turn = np.linspace(-np.pi / 2, 1.5 * np.pi, 60)
    loop = np.column_stack((radius * np.cos(turn), np.linspace(0, 0.004, 60), radius * np.sin(turn)))
    tail = loop[-1] + np.outer(np.linspace(0.01, 0.4, 25), (1, 0, 0))
    scene = sn.Scene(gravity=(0, 0, 0), drag=2.0)
    rope = scene.add(
        sn.Rod.through(
            np.vstack((loop, tail)), section=sn.Section.circle(2e-3), material=SOFT, control_points=30, straight=True
        )
    )
    around = 2 * np.pi * radius
    knot = scene.add(sn.Keyhole(rope, at=around, hole=rope.at(0.0), friction=0.1))
    scene.add(sn.Fix(rope.at(around / 2)))
    start = rope.length
    pull = scene.add(sn.Load(rope.at(start), force=(0.3, 0, -0.1)))
    size = [knot.s]
    for _ in range(80):
        scene.step(0.01)
        assert np.isfinite(rope.centerline(50)).all()
        size.append(knot.s)
    assert size[-1] < 0.85 * around, "the loop should have become smaller"
    assert size[-1] > 0.0
    # the eye is where the rope passes through it
    assert np.abs(rope.at(0.0).position - rope.at(knot.s).position).max() < 5e-3
    assert np.abs(rope.centerline(50)).max() < 2.0
    scene.remove(pull)
    scene.run(0.2, dt=0.01)
    assert np.isfinite(scene.energy.total)


def test_a_hole_that_a_rod_carries() -> None:
    """Two straight rods that cross at a hole in one: pushed along, the other slides and takes nothing along."""
    scene = sn.Scene(gravity=(0, 0, 0))
    carrier = scene.add(sn.Rod.straight((0, -0.5, 0), (0, 0.5, 0), section=ROPE, material=SOFT, control_points=8))
    rope = scene.add(sn.Rod.straight((-0.5, 0, 0), (0.5, 0, 0), section=ROPE, material=SOFT, control_points=8))
    hole = scene.add(sn.Keyhole(rope, at=0.5, hole=carrier.at(0.5)))
    push = scene.add(sn.Load(rope.at(0.5), force=(0.1, 0, 0)))
    scene.run(0.1, dt=0.01)
    scene.remove(push)
    scene.run(0.1, dt=0.01)
    p, _ = kit.momentum(rope)
    assert p[0] == pytest.approx(0.01, rel=1e-9)
    assert np.abs(carrier.velocities(9)).max() < 1e-9
    assert hole.s < 0.5
