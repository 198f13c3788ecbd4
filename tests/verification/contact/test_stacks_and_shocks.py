"""Stacks stand, balls bounce, shocks keep momentum."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn

G = 9.81


@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_stack_of_ten(ratio, validated):
    """Ten boxes, equal or each twice as heavy as the one below: the ground carries the weight, and nothing sinks."""
    scene = sn.Scene()
    floor = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    masses = ratio ** np.arange(10)
    boxes = [
        scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=m, position=(0, 0, 0.05 + 0.1 * k)))
        for k, m in enumerate(masses)
    ]
    scene.collide(friction=0.5)
    scene.run(2.0, 1 / 240)
    top = boxes[-1].position
    ground = scene.contacts.between(boxes[0], floor).force
    validated(
        "Stack of ten boxes, equal or of masses 1 … 512", area="contact", quantity="sink of the top after 2 s, m",
        reference="equilibrium", error=abs(top[2] - 0.95), bound=2e-5,
    )  # fmt: skip
    assert np.linalg.norm(top[:2]) < 1e-6
    assert ground == pytest.approx((0, 0, masses.sum() * G), rel=1e-5, abs=1e-4 * masses.sum())


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_bounces(restitution, validated):
    """Heights of bounces fall by e²; without restitution the ball stays down."""
    scene = sn.Scene()
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    ball = scene.add(sn.RigidBody.sphere(0.05, mass=1.0, position=(0, 0, 0.05 + 0.5)))
    scene.collide(friction=0.0, restitution=restitution)
    h = 1e-4
    heights, last, rising = [], -1.0, False
    for _ in range(15000):
        scene.step(h)
        v = ball.velocity[2]
        if rising and v <= 0.0:
            heights.append(ball.position[2] - 0.05)
        rising = v > 0.0
        last = v
    if restitution == 0.0:
        assert not heights or max(heights) < 1e-4
        assert abs(last) < 1e-3 and abs(ball.position[2] - 0.05) < 1e-6
    else:
        for k in range(2):
            validated(
                "Ball bounces", area="contact", quantity="heights, each of e² times the one before",
                reference="law of restitution", error=abs(heights[k] / (0.5 * restitution ** (2 * k + 2)) - 1.0),
                bound=0.01 * (k + 1),
            )  # fmt: skip


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_shock_does_not_throw_apart_what_overlaps(restitution):
    """A ball that has sunk into the ground and sinks on at 2 m/s leaves no faster than a rebound or a gentle push."""
    scene = sn.Scene(gravity=(0, 0, 0))
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    ball = scene.add(sn.RigidBody.sphere(0.05, mass=1.0, position=(0, 0, 0.046)))
    ball.velocity = (0, 0, -2.0)
    scene.collide(restitution=restitution)
    scene.step(1e-4)
    assert 2.0 * restitution <= ball.velocity[2] < 2.3


def clash(h):
    """Two boxes that clash in free flight, with friction, at steps of `h`: scene, one, momenta and energy before."""
    scene = sn.Scene(gravity=(0, 0, 0))
    a = scene.add(sn.RigidBody.box((0.2, 0.1, 0.1), mass=1.0, position=(-0.3, 0.03, 0.02)))
    b = scene.add(sn.RigidBody.box((0.1, 0.2, 0.1), mass=2.0, position=(0.3, 0.0, 0.0)))
    a.velocity, b.velocity = (2.0, 0.3, 0.0), (-1.0, 0.0, 0.1)
    a.angular_velocity = (0.0, 3.0, 1.0)
    scene.collide(friction=0.4, restitution=0.2)
    momentum, spin = scene.linear_momentum, scene.angular_momentum
    energy = scene.energy.kinetic
    scene.run(0.5, h)
    assert np.linalg.norm(a.velocity - (2.0, 0.3, 0.0)) > 0.5
    assert scene.linear_momentum == pytest.approx(momentum, abs=1e-12)
    assert scene.energy.kinetic < energy
    return np.linalg.norm(scene.angular_momentum - spin) / np.linalg.norm(spin)


def test_shock_of_free_bodies_keeps_momenta():
    """Momentum to rounding, angular momentum to the scheme's order: a shock is where the step begins, not in it."""
    steps = 1 / 1000, 1 / 4000, 1 / 16000
    errors = [clash(h) for h in steps]
    assert errors[0] < 0.02
    assert errors[2] < errors[0] / 6.0


@pytest.mark.parametrize("speed", [0.5, 50.0])
def test_what_rebounds_within_a_divided_step_has_met_and_parted(speed):
    """A ball that is through a board in a step rebounds in one of its parts: both events tell of it, once."""
    scene = sn.Scene(gravity=(0, 0, 0))
    board = scene.add(sn.Obstacle(sn.Box((1, 1, 0.05))))
    ball = scene.add(sn.RigidBody.sphere(0.02, mass=1.0, position=(0, 0, 0.2)))
    ball.velocity = (0, 0, -speed)
    scene.collide(friction=0.0, restitution=1.0)
    most = 0
    for _ in range(round(0.3 / speed * 60) + 4):
        scene.step(1 / 60)
        most = max(most, scene.report.parts)
    assert (most > 1) == (speed > 10.0)
    assert ball.velocity[2] == pytest.approx(speed, rel=1e-4)
    told = [(event.kind, event.subjects) for event in scene.events if event.kind in ("touch", "part")]
    assert told == [("touch", (ball, board)), ("part", (ball, board))]


def row_of_balls(restitution, masses, gap):
    """Balls in a row without weight, the first of which strikes the others; momentum and energy are looked at."""
    scene = sn.Scene(gravity=(0, 0, 0))
    balls = [
        scene.add(sn.RigidBody.sphere(0.05, mass=m, position=((0.1 + gap) * k, 0, 0))) for k, m in enumerate(masses)
    ]
    balls[0].position, balls[0].velocity = (-0.1, 0, 0), (1.0, 0, 0)
    scene.collide(friction=0.0, restitution=restitution)
    energy = scene.energy.kinetic
    for _ in range(300):
        scene.step(1 / 1000)
        assert scene.linear_momentum[0] == pytest.approx(masses[0], abs=1e-12)
        assert scene.energy.kinetic <= energy * (1.0 + 1e-12)
        energy = scene.energy.kinetic
    return [ball.velocity[0] for ball in balls]


def one_after_the_other(restitution, masses):
    """Speeds after the shocks of such a row, of two balls each, until all go apart (Newton's law of restitution)."""
    speeds = [1.0, *(0.0 for _ in masses[1:])]
    for _ in range(1000):
        for k, (a, b) in enumerate(zip(masses[:-1], masses[1:], strict=True)):
            approach = speeds[k] - speeds[k + 1]
            if approach > 1e-9:
                speeds[k] -= (1 + restitution) * b / (a + b) * approach
                speeds[k + 1] += (1 + restitution) * a / (a + b) * approach
    return speeds


@pytest.mark.parametrize("gap", [0.0, 2e-5])
@pytest.mark.parametrize(
    ("restitution", "masses"),
    [(1.0, (1, 1, 1)), (0.6, (1, 1, 1)), (1.0, (1, 1, 1, 1, 1)), (1.0, (1, 2, 5)), (0.6, (5, 2, 1))],
)
def test_shock_goes_through_balls_in_touch(restitution, masses, gap, validated):
    """What a shock starts to close is struck in its turn, in the same instant: the last ball alone flies off."""
    speeds = row_of_balls(restitution, masses, gap)
    expected = one_after_the_other(restitution, masses)
    validated(
        "Cradles of balls that touch", area="contact", quantity="speeds after all shocks, of the first one's",
        reference="law of restitution, shock after shock", error=float(np.abs(np.subtract(speeds, expected)).max()),
        bound=2e-4,
    )  # fmt: skip


def test_two_balls_throw_off_two():
    scene = sn.Scene(gravity=(0, 0, 0))
    balls = [scene.add(sn.RigidBody.sphere(0.05, mass=1.0, position=(0.1 * k, 0, 0))) for k in range(5)]
    for k in range(2):
        balls[k].position, balls[k].velocity = (0.1 * k - 0.05, 0, 0), (1.0, 0, 0)
    scene.collide(friction=0.0, restitution=1.0)
    scene.run(0.2, 1 / 500)
    assert [ball.velocity[0] for ball in balls] == pytest.approx([0, 0, 0, 1, 1], abs=2e-4)


@pytest.mark.parametrize("weight", [False, True])
@pytest.mark.parametrize(("friction", "restitution"), [(0.0, 1.0), (0.3, 1.0), (0.8, 0.9), (0.3, 0.6)])
@pytest.mark.parametrize("seed", range(3))
def test_shocks_in_a_stack_gain_no_energy(friction, restitution, weight, seed):
    """A ball thrown on a stack of boxes of different masses: shocks go up and down it. Momentum is kept where nothing
    holds it, and energy never grows but by what a step of Euler's gains in weight, m g v h of what is thrown up.
    """
    random, h = np.random.default_rng(seed), 1 / 240
    scene = sn.Scene(gravity=(0, 0, -9.81 if weight else 0.0))
    if weight:
        scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    bodies = [
        scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=random.uniform(0.2, 3), position=(0, 0, 0.05 + 0.1 * k)))
        for k in range(4)
    ]
    bodies.append(scene.add(sn.RigidBody.sphere(0.05, mass=2.0, position=(0.02, 0.01, 0.6))))
    bodies[-1].velocity = (0.3, 0, -3.0)
    scene.collide(friction=friction, restitution=restitution)
    first, momentum, total = scene.energy.total, scene.linear_momentum, sum(body.mass for body in bodies)
    for _ in range(140):
        before = scene.energy.total
        scene.step(h)
        after = scene.energy
        gained = 9.81 * h * np.sqrt(2 * total * after.kinetic) if weight else 0.0
        assert after.total <= before + gained + 1e-4 * first
        if not weight:
            assert scene.linear_momentum == pytest.approx(momentum, abs=1e-12)
    assert scene.energy.total < 1.01 * first
