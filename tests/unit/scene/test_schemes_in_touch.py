"""What each time scheme does where things touch: order while a contact stays, a new start after a shock, its words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sennit as sn

G = 9.81
RADIUS = 0.05
STIFFNESS = 50.0
"""Of the spring on a ball, N/m."""


def floor_scene(integrator: str, **law: float) -> sn.Scene:
    scene = sn.Scene()
    scene.integrator = integrator
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    scene.collide(**law)
    return scene


def rolling(integrator: str, h: float, time: float = 0.6) -> tuple[sn.Scene, float]:
    """A ball that rolls to and fro on a spring: the scene, and where it is more than it should be, m.

    Friction carries 2/7 of the spring's force: it is as heavy as 7/5 of itself.
    """
    scene = floor_scene(integrator, friction=0.8)
    ball = scene.add(sn.RigidBody.sphere(RADIUS, mass=1.0, position=(0, 0, RADIUS)))
    scene.add(sn.Fix(ball.at(), compliance=1.0 / STIFFNESS))
    scene.run(0.1, h)  # it comes to lie
    ball.velocity, ball.angular_velocity = (0.5, 0, 0), (0, 0.5 / RADIUS, 0)
    begin, rate = scene.time, math.sqrt(STIFFNESS / 1.4)
    scene.run(time, h)
    assert [event.kind for event in scene.events if event.kind != "fallback"] == ["touch"]
    return scene, ball.position[0] - 0.5 / rate * math.sin(rate * (scene.time - begin))


def braked(integrator: str, h: float) -> float:
    """A box that slides against its friction into a spring, before it turns: where it is more than it should be, m."""
    scene = floor_scene(integrator, friction=0.2)
    box = scene.add(sn.RigidBody.box((0.2, 0.2, 0.05), mass=1.0, position=(0, 0, 0.025)))
    scene.add(sn.Fix(box.at((0, 0, -0.025)), compliance=1.0 / STIFFNESS))
    scene.run(0.1, h)
    box.velocity = (2.0, 0, 0)
    begin, rate, back = scene.time, math.sqrt(STIFFNESS), 0.2 * G / STIFFNESS
    scene.run(0.15, h)
    t = rate * (scene.time - begin)
    assert all(contact.state == "slip" for contact in scene.contacts)
    return box.position[0] - (back * math.cos(t) + 2.0 / rate * math.sin(t) - back)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("case", ["rolling", "braked"])
def test_order_while_a_contact_stays(case: str, order: int, validated: Any) -> None:
    """A contact that stays starts nothing anew: "bdf2" keeps its order, where something sticks and where it slides."""
    integrator = "bdf2" if order == 2 else "euler"
    steps = 1 / 250, 1 / 500, 1 / 1000
    errors = [abs(rolling(integrator, h)[1] if case == "rolling" else braked(integrator, h)) for h in steps]
    found = float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
    validated(
        "Ball that rolls and box that slides on springs", area="contact", quantity="order of the scheme",
        reference="1 of Euler, 2 of bdf2", error=abs(found - order), bound=0.25, order=found,
    )  # fmt: skip


def test_a_shock_starts_bdf2_anew() -> None:
    """A ball that falls: a shock takes a step to the floor and one to rest; then two-step formulas begin anew, and what
    it fell with throws it nowhere.
    """
    h = 1 / 500
    scene = floor_scene("bdf2", friction=0.3)
    ball = scene.add(sn.RigidBody.sphere(RADIUS, mass=1.0, position=(0, 0, RADIUS + 0.05)))
    pair = scene.contacts.between(ball, scene.obstacles[0])
    went_on_from, heights = [], []
    while not pair.touching:
        scene.step(h)
        went_on_from.append(scene._clock.last_step)
    assert set(went_on_from[:-1]) == {h}
    for _ in range(30):
        scene.step(h)
        went_on_from.append(scene._clock.last_step)
        heights.append(ball.position[2] - RADIUS)
    assert went_on_from[-31:] == [0.0] * 2 + [h] * 29
    np.testing.assert_allclose(heights, 0.0, atol=1e-6)


@pytest.mark.parametrize(("integrator", "made_by"), [("midpoint", "euler"), ("fourth", "bdf2")])
def test_steps_of_others_are_made_by_these(integrator: str, made_by: str) -> None:
    """Bit by bit; of "fourth" an event says so."""
    ends = [rolling(kind, 1 / 250, 0.1)[0] for kind in (integrator, made_by)]
    first, second = (scene.bodies[0] for scene in ends)
    np.testing.assert_array_equal(first.position, second.position)
    np.testing.assert_array_equal(first.velocity, second.velocity)
    said = [event.message for event in ends[0].events if event.kind == "fallback"]
    assert bool(said) == (integrator == "fourth")
    assert not said or 'made by "bdf2" instead of "fourth": something struck' in said[0]


@pytest.mark.parametrize("integrator", ["midpoint", "fourth"])
def test_what_touches_nothing_keeps_its_scheme(integrator: str) -> None:
    """A ball on a spring above the floor: Euler would lose three tenths of its swing."""
    scene = floor_scene(integrator, friction=0.3)
    ball = scene.add(sn.RigidBody.sphere(RADIUS, mass=1.0, position=(0, 0, 1.0)))
    scene.add(sn.Fix(ball.at(), compliance=1.0 / STIFFNESS))
    ball.velocity = (0.5, 0, 0)
    scene.run(2.0, 1 / 250)
    rate = math.sqrt(STIFFNESS)
    assert ball.position[0] == pytest.approx(0.5 / rate * math.sin(rate * 2.0), abs=2e-4)
    assert not scene.events


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
@pytest.mark.parametrize("restitution", [0.5, 0.8])
def test_bounces_lose_the_same_part_each_time(integrator: str, restitution: float) -> None:
    """Speeds just before and after five shocks: e each, so that after k of them e^k is left, in every scheme."""
    scene = floor_scene(integrator, friction=0.0, restitution=restitution)
    ball = scene.add(sn.RigidBody.sphere(RADIUS, mass=1.0, position=(0, 0, RADIUS + 0.3)))
    h, speeds, last = 1 / 4000, [], 0.0
    while len(speeds) < 4:
        scene.step(h)
        speed = ball.velocity[2]
        if speed > 0.0 >= last:
            speeds.append((-last, speed))
        last = speed
    for before, after in speeds:
        assert after == pytest.approx(restitution * before, abs=2 * G * h)
    first = math.sqrt(2 * G * 0.3)
    np.testing.assert_allclose([after for _, after in speeds], first * restitution ** np.arange(1, 5), rtol=0.02)
