"""Pearls touch as balls: against closed forms, conservation laws, and derivatives by differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sennit as sn

H = 1 / 240
G = 9.81
STEEL = sn.Material(youngs_modulus=2e11, poisson_ratio=0.3, density=7850)
LIGHT = sn.Material(youngs_modulus=1e6, poisson_ratio=0.3, density=10)
RUBBER = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000, relaxation_time=0.01)
MASS, RADIUS, SPEED = 0.05, 0.03, 1.5
"""Of pearls that fly at each other."""


def held_rod(scene: sn.Scene, start: Any, end: Any, material: sn.Material = STEEL, radius: float = 4e-3) -> sn.Rod:
    section = sn.Section.circle(radius)
    rod = scene.add(sn.Rod.straight(start, end, section=section, material=material, control_points=6))
    scene.add(sn.Clamp(rod.at(0)))
    scene.add(sn.Clamp(rod.at(rod.length)))
    return rod


def beside_a_slope(integrator: Any, material: sn.Material, friction: float) -> tuple[Any, ...]:
    """A pearl on a rod that runs down parallel to a slope, at the height of the pearl's radius."""
    angle, r = math.radians(30), 0.03
    down, up = np.array((math.cos(angle), 0, -math.sin(angle))), np.array((math.sin(angle), 0, math.cos(angle)))
    scene = sn.Scene(integrator=integrator)
    slope = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), up), name="slope"))
    pearl = scene.add(sn.Pearl(held_rod(scene, r * up, r * up + 2 * down, material), at=0.5, mass=1.0, radius=r))
    return scene, pearl, scene.collide(pearl, slope, friction=friction), down, up


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
def test_slides_down_a_slope_beside_its_rod(integrator: Any, validated: Any) -> None:
    """m Δv = Σ h (m g sin α − μ N): the rod takes a part of the weight, but pulls nothing along itself."""
    scene, pearl, pair, down, up = beside_a_slope(integrator, STEEL, 0.2)
    scene.run(0.1, dt=H)
    v, impulse = pearl.sliding_velocity, 0.0
    for _ in range(48):
        scene.step(H)
        normal = pair.force @ up
        assert normal > 1.0
        assert pair.force @ down == pytest.approx(-0.2 * normal, rel=1e-2)
        impulse += H * (0.5 * G - 0.2 * normal)
    validated(
        "Pearl that slides down a slope beside its rod", area="contact", quantity="speed gained",
        reference="Newton and Coulomb", error=abs((pearl.sliding_velocity - v) / impulse - 1), bound=1e-2,
    )  # fmt: skip
    assert [contact.state for contact in scene.contacts] == ["slip"]


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
def test_sticks_to_a_slope_beside_its_rod(integrator: Any) -> None:
    """tan α < μ: friction holds it, and it does not creep."""
    scene, pearl, pair, down, _ = beside_a_slope(integrator, LIGHT, 0.7)
    scene.drag = 20.0  # what sticks rocks on its rod, until that is at rest
    scene.run(2.0, dt=H)
    s = pearl.s
    scene.run(0.2, dt=H)
    assert abs(pearl.s - s) < 1e-6
    assert pair.force @ down == pytest.approx(-0.5 * G, rel=0.02)
    assert [contact.state for contact in scene.contacts] == ["stick"]


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("mass", [0.02, 5.0])
def test_central_shock_with_a_ball(restitution: float, mass: float) -> None:
    """m v = m v₁ + M v₂ and v₂ − v₁ = e v: along a straight rod nothing else acts."""
    scene = sn.Scene(gravity=(0, 0, 0))
    rod = held_rod(scene, (0, 0, 0), (1, 0, 0))
    pearl = scene.add(sn.Pearl(rod, at=0.3, mass=0.1, radius=0.03))
    ball = scene.add(sn.RigidBody.sphere(0.05, mass=mass, position=(0.5, 0, 0)))
    scene.collide(pearl, ball, restitution=restitution, friction=0.5)
    pearl.sliding_velocity = 2.0
    before = 0.1 * pearl.sliding_velocity
    scene.run(0.1, dt=H)
    after = 0.1 * pearl.sliding_velocity + mass * ball.velocity[0]
    assert after == pytest.approx(before, rel=1e-6)
    assert ball.velocity[0] - pearl.sliding_velocity == pytest.approx(2.0 * restitution, abs=2e-3)
    kinds = [(event.kind, event.subjects) for event in scene.events]
    assert kinds[0] == ("touch", (pearl, ball))


def flying(beads: int, friction: float, rotation: Any = None) -> tuple[sn.Scene, list[sn.Pearl]]:
    """Two free rods with a pearl each that fly at each other, crossed; nothing but the pearls touches."""
    turn = np.eye(3) if rotation is None else np.asarray(rotation)
    scene = sn.Scene(gravity=(0, 0, 0))
    pearls = []
    for sign, end in ((-1, (0.0, 0.4, 0.05)), (1, (0.3, 0.2, 0.3))):
        start, end_ = (
            np.array((0, 0, 0.034 * sign)) - np.array(end) / 2,
            np.array((0, 0, 0.034 * sign)) + np.array(end) / 2,
        )
        rod = scene.add(sn.Rod.straight(
            turn @ start, turn @ end_, section=sn.Section.circle(4e-3), material=RUBBER, control_points=6
        ))  # fmt: skip
        rod.set_velocity(turn @ np.array((0.1 * sign, 0.05, -SPEED * sign)))
        pearls.append(scene.add(sn.Pearl(rod, at=0.48 * rod.length, mass=MASS, radius=RADIUS, friction=0.1)))
    scene.collide(*pearls[:beads], friction=friction, restitution=0.3)
    return scene, pearls


@pytest.mark.parametrize("friction", [0.0, 0.6])
def test_two_pearls_exchange_momentum(friction: float) -> None:
    """What one gets the other loses: force, and torque about any place."""
    lost = []
    for parts in (2, 8):
        scene, pearls = flying(2, friction)
        linear, angular = scene.linear_momentum.copy(), scene.angular_momentum.copy()
        met = 0
        for _ in range(10 * parts):
            scene.step(H / parts)
            met += len(scene.contacts)
        assert met > 0
        assert pearls[0].position[2] < pearls[1].position[2]
        assert np.abs(scene.linear_momentum - linear).max() < 1e-10
        lost.append(np.abs(scene.angular_momentum - angular).max() / (MASS * SPEED * RADIUS))
    # as that of all that clash, angular momentum is kept with the order of the step: a part of v h / r
    assert lost[0] < 0.25 * SPEED * H / 2 / RADIUS
    assert lost[1] == pytest.approx(lost[0] / 4, rel=0.1)


def test_the_same_in_any_frame() -> None:
    """Turned as a whole, everything comes out turned."""
    rotation = sn.Pose((0, 0, 0), np.array((0.8, 0.2, -0.5, 0.3)) / np.linalg.norm((0.8, 0.2, -0.5, 0.3))).rotation
    (one, first), (two, second) = flying(2, 0.4), flying(2, 0.4, rotation)
    for _ in range(16):
        one.step(H / 2)
        two.step(H / 2)
        for a, b in zip(first, second, strict=True):
            # what one is faster, by the forces of contact, which are found to so many digits
            assert b.position == pytest.approx(rotation @ a.position, abs=1e-5 * SPEED * one.time)
    assert len(one.contacts) == len(two.contacts)


def touched(kind: str) -> sn.Scene:
    """A pearl on a bent rod that presses on something of a kind."""
    scene = sn.Scene()
    course = [(-0.2, 0, 0.05), (-0.1, 0.02, 0.02), (0, 0, 0.0), (0.1, 0, 0.03), (0.2, 0.03, 0.05)]
    rod = scene.add(
        sn.Rod.through(course, section=sn.Section.circle(3e-3), material=RUBBER, control_points=7, name="rope")
    )
    scene.add(sn.Clamp(rod.at(0)))
    scene.add(sn.Clamp(rod.at(rod.length)))
    pearl = scene.add(sn.Pearl(rod, at=0.47 * rod.length, mass=0.1, radius=0.02, friction=0.2, name="pearl"))
    x = pearl.position
    if kind == "plane":
        other: Any = scene.add(sn.Obstacle(sn.Plane(x - (0, 0, 0.0202), (0.2, 0.1, 1)), name="other"))
    elif kind == "box":
        other = scene.add(sn.Obstacle(sn.Box((0.1, 0.1, 0.05), sn.Pose(x - (0.02, 0, 0.0453))), name="other"))
    else:
        place = x + np.array((0.003, 0.004, -0.0238 if kind == "rod" else -0.0358))
        half = np.array((0.05, 0.15, 0.005))
        bar = scene.add(sn.Rod.straight(
            place - half, place + half, section=sn.Section.circle(3e-3), material=RUBBER,
            control_points=6, name="bar",
        ))  # fmt: skip
        scene.add(sn.Clamp(bar.at(0)))
        scene.add(sn.Clamp(bar.at(bar.length)))
        other = bar
        if kind == "pearl":
            other = scene.add(sn.Pearl(bar, at=0.5 * bar.length, mass=0.02, radius=0.015, friction=0.5, name="other"))
            scene.add(sn.Fix(other.at(), compliance=1e-3))
    scene.collide(pearl, other, friction=0.4)
    return scene


KINDS = ["plane", "box", "rod", "pearl"]


@pytest.mark.parametrize("kind", KINDS)
def test_rests_where_settle_says(kind: str) -> None:
    """Forces balance, gaps are closed, and steps leave it there."""
    scene = touched(kind)
    report = scene.settle()
    assert report.touching and report.stable
    (contact,) = list(scene.contacts)
    assert contact.force @ contact.normal > 0.0 and abs(contact.gap) < 1e-7
    pearl = next(body for body in scene.bodies if body.name == "pearl")
    place = pearl.position
    scene.run(0.1, dt=H)
    assert np.abs(pearl.position - place).max() < 2e-5


@pytest.mark.parametrize("kind", KINDS)
def test_settles_without_friction_by_newton(kind: str) -> None:
    """With the second derivatives of the gap in its matrix the end is reached in few iterations."""
    scene = touched(kind)
    report = scene.settle(friction=False)
    assert report.touching and report.iterations < 25


def test_statics_balances_a_pearl_on_a_bar() -> None:
    """A pearl on an upright rod lies on a bar that passes it: their force is W/n_z, and the rods carry the rest."""
    scene = sn.Scene()
    rod = held_rod(scene, (0, 0, 0.5), (0, 0, 0))
    bar = held_rod(scene, (0.02, -0.3, 0.2), (0.02, 0.3, 0.2), radius=8e-3)
    pearl = scene.add(sn.Pearl(rod, at=0.25, mass=2.0, radius=0.03))
    pair = scene.collide(pearl, bar, friction=0.0)
    report = scene.settle()
    assert report.stable and report.touching
    assert abs(pair.force[2]) == pytest.approx(2.0 * G, rel=1e-3)
    apart = float(np.linalg.norm(pearl.position - (0.02, 0, 0.2)))
    assert apart == pytest.approx(0.038, abs=2e-4)


def test_pearls_of_one_rod_and_their_rod_keep_their_own_rows() -> None:
    """They knock against each other as ever: contact does not do it twice."""

    def knocked(collide: bool) -> list[float]:
        scene = sn.Scene(gravity=(0, 0, 0))
        rod = held_rod(scene, (0, 0, 0), (1, 0, 0))
        one = scene.add(sn.Pearl(rod, at=0.3, mass=0.1, radius=0.03))
        two = scene.add(sn.Pearl(rod, at=0.5, mass=0.3, radius=0.03))
        one.sliding_velocity = 2.0
        if collide:
            scene.collide()
            scene.collide(one, two)
            scene.collide(one, rod)
        for _ in range(60):
            scene.step(H)
            assert not collide or len(scene.contacts) == 0
        return [one.sliding_velocity, two.sliding_velocity]

    assert knocked(True) == pytest.approx(knocked(False), rel=1e-12)


def test_what_is_tied_does_not_touch() -> None:
    scene = sn.Scene()
    rod = held_rod(scene, (0, 0, 0), (1, 0, 0))
    pearl = scene.add(sn.Pearl(rod, at=0.3, mass=0.1, radius=0.03))
    hung = scene.add(sn.RigidBody.box((0.04, 0.04, 0.04), mass=0.1, position=pearl.position - (0, 0, 0.03)))
    scene.add(sn.Ball(pearl.at(), hung.at((0, 0, 0.03))))
    scene.collide()
    scene.run(0.05, dt=H)
    assert len(scene.contacts) == 0
    assert pearl.s == pytest.approx(0.3, abs=1e-3)


# --------------------------------------------------------------------------------------------------------------- tubes


def in_a_tube(integrator: Any, material: sn.Material, friction: float) -> tuple[Any, ...]:
    """A pearl on a rod that runs down a tube at the height at which the pearl lies on its wall."""
    angle, r, bore = math.radians(30), 0.03, 0.05
    down, up = np.array((math.cos(angle), 0, -math.sin(angle))), np.array((math.sin(angle), 0, math.cos(angle)))
    scene = sn.Scene(integrator=integrator)
    rod = held_rod(scene, (0, 0, 0), 2 * down, material)
    axis = (bore - r) * up
    tube = scene.add(sn.Inside(rod, [axis - 0.5 * down, axis + 2.5 * down], bore, friction=friction))
    pearl = scene.add(sn.Pearl(rod, at=0.5, mass=1.0, radius=r))
    return scene, pearl, tube, down, up


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
def test_slides_down_a_tube_with_its_rod(integrator: Any, validated: Any) -> None:
    """m Δv = Σ h (m g sin α − μ N) on the wall of a bore, which is measured where the step begins."""
    scene, pearl, tube, down, up = in_a_tube(integrator, STEEL, 0.2)
    scene.run(0.1, dt=H)
    v, impulse = pearl.sliding_velocity, 0.0
    for _ in range(48):
        scene.step(H)
        pair = scene.contacts.between(pearl, tube)
        normal = pair.force @ up
        assert normal > 1.0
        assert pair.force @ down == pytest.approx(-0.2 * normal, rel=1e-2)
        impulse += H * (0.5 * G - 0.2 * normal)
    validated(
        "Pearl that slides down a tube with its rod", area="contact", quantity="speed gained",
        reference="Newton and Coulomb", error=abs((pearl.sliding_velocity - v) / impulse - 1), bound=1e-2,
    )  # fmt: skip


def test_sticks_in_a_tube() -> None:
    """tan α < μ: friction of the wall holds it, and it does not creep."""
    scene, pearl, tube, down, _ = in_a_tube("euler", LIGHT, 0.7)
    scene.drag = 20.0
    scene.run(2.0, dt=H)
    s = pearl.s
    scene.run(0.2, dt=H)
    assert abs(pearl.s - s) < 1e-6
    assert scene.contacts.between(pearl, tube).force @ down == pytest.approx(-0.5 * G, rel=0.02)


def test_rests_in_a_tube() -> None:
    """On a limp rod it sinks to R − r below the axis, and the wall bears what the rod does not: `settle` and steps."""
    scene = sn.Scene(drag=5.0)
    rod = held_rod(scene, (0, 0, 0), (1, 0, 0), RUBBER, radius=3e-3)
    tube = scene.add(sn.Inside(rod, [(-0.2, 0, 0), (1.2, 0, 0)], 0.03, friction=0.2))
    pearl = scene.add(sn.Pearl(rod, at=0.5, mass=0.2, radius=0.02))
    assert scene.settle().stable
    assert pearl.position == pytest.approx((0.5, 0, -0.01), abs=1e-9)
    weights = scene.contacts.between(pearl, tube).force
    ends = sum(np.array(clamp.force) for clamp in scene.constraints if isinstance(clamp, sn.Clamp))
    total = (rod.mass + 0.2) * G
    assert weights[2] + ends[2] == pytest.approx(total, rel=1e-6)
    scene.run(0.5, dt=H)
    assert pearl.position == pytest.approx((0.5, 0, -0.01), abs=1e-5)


@pytest.mark.parametrize("dt", [1 / 240, 1 / 30])
def test_stays_in_a_bent_tube(dt: float) -> None:
    """Pearls on a limp rope that a hand jerks to and fro in a bend: none leaves it, and the wider touches instead."""
    scene, turn = sn.Scene(), np.linspace(0, np.pi / 2, 10)
    bend = np.stack((0.2 * np.sin(turn), 0 * turn, 0.2 - 0.2 * np.cos(turn)), axis=1)
    axis = np.concatenate(([(-0.5, 0, 0)], bend, [(0.2, 0, 0.7)]))
    section = sn.Section.circle(2e-3)
    rope = scene.add(sn.Rod.straight((-0.45, 0, 0), (-0.02, 0, 0), section=section, material=RUBBER, control_points=14))
    tube = scene.add(sn.Inside(rope, axis, 0.02, friction=0.2))
    pearls = [scene.add(sn.Pearl(rope, at=s, mass=0.02, radius=r)) for s, r in ((0.13, 8e-3), (0.3, 1.2e-2))]
    hand = scene.add(sn.Fix(rope.at(0.0), compliance=1e-4))
    start, met, least = hand.target.copy(), False, math.inf
    for _ in range(int(0.5 / dt)):
        t = scene.time
        hand.target = np.add(start, (0.1 * math.sin(9 * t), 0.01 * math.sin(23 * t), 0.01 * math.cos(17 * t) - 0.01))
        scene.step(dt)
        for pearl in pearls:
            least = min(least, float(tube.shape.clearance(pearl.position[None])[0]) - pearl.radius)
            met = met or scene.contacts.between(pearl, tube).touching
    assert met
    assert least > -5e-4


def test_pearls_too_wide_for_their_tube_are_refused() -> None:
    scene = sn.Scene()
    rod = held_rod(scene, (0, 0, 0), (1, 0, 0))
    scene.add(sn.Pearl(rod, at=0.5, mass=0.2, radius=0.031))
    scene.add(sn.Inside(rod, [(-0.2, 0, 0), (1.2, 0, 0)], 0.03))
    with pytest.raises(sn.InputError, match="in the wall"):
        scene.step(H)
