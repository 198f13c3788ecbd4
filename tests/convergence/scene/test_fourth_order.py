"""Steps of fourth order: the order, with hard rows, rods and cables; and what "bdf2" makes instead, with a word."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import sennit as sn

Built = tuple[sn.Scene, Callable[[], np.ndarray]]


def pendulum() -> Built:
    """A ball on an arm, let go level."""
    scene = sn.Scene(integrator="fourth")
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(1, 0, 0)))
    scene.add(sn.Ball(ball.at((-1, 0, 0)), sn.World.at((0, 0, 0))))
    return scene, lambda: ball.position


def rope() -> Built:
    """A soft rope held at one end, let go level."""
    scene = sn.Scene(integrator="fourth")
    section, rubber = sn.Section.circle(5e-3), sn.Material(1e6, 0.4, 1000)
    line = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=section, material=rubber, control_points=6))
    scene.add(sn.Fix(line.at(0)))
    end = line.at(line.length)
    return scene, lambda: end.position


def crane() -> Built:
    """A load on a cable over a sheave, swung in two directions."""
    scene = sn.Scene(integrator="fourth")
    load = scene.add(sn.RigidBody.box((0.5, 0.5, 0.5), mass=100, position=(3, 0, 1)))
    wheel = sn.Sheave(sn.World.at((2.8, 0, 6)), axis=(0, 1, 0), radius=0.2)
    scene.add(sn.Cable([sn.World.at((0, 0, 1)), wheel, load.at((0, 0, 0.25))], stretch_stiffness=1e5))
    scene.settle()
    load.velocity = (1.0, 0.3, 0)
    return scene, lambda: load.position


def vibration() -> Built:
    """A soft, thick cantilever bent by its weight, which then is taken away: the order shows in steps that are short
    beside the waves along it."""
    scene = sn.Scene(gravity=(0, 0, -1.0), integrator="fourth")
    section, rubber = sn.Section.circle(5e-2), sn.Material(1e5, 0.4, 1000)
    bar = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=section, material=rubber, control_points=5))
    scene.add(sn.Clamp(bar.at(0)))
    scene.settle()
    scene.gravity = (0, 0, 0)
    end = bar.at(bar.length)
    return scene, lambda: end.position


@pytest.mark.parametrize(
    ("build", "seconds", "steps"),
    [
        (pendulum, 2.0, (20, 40, 80)), (rope, 0.4, (40, 80, 160)), (crane, 1.0, (40, 80, 160)),
        (vibration, 1.0, (160, 320, 640)),
    ],
    ids=["pendulum", "rope", "crane", "vibration"],
)  # fmt: skip
def test_order_four(validated, build: Callable[[], Built], seconds: float, steps: tuple[int, ...]) -> None:
    places = []
    for n in (*steps, 4 * steps[-1]):
        scene, place = build()
        scene.run(seconds, dt=seconds / n)
        places.append(place().copy())
        assert not scene.events
    errors = [float(np.linalg.norm(place - places[-1])) for place in places[:-1]]
    order = float(-np.polyfit(np.log(steps), np.log(errors), 1)[0])
    assert order == pytest.approx(4.0, abs=0.2)
    validated(
        "Pendulum, rope, crane and bar in steps of fourth order", area="time schemes", quantity="place, m",
        reference="steps a quarter as long", error=errors[-1], bound=2e-5, order=order,
    )  # fmt: skip


def test_one_step_and_many_have_the_same_bits() -> None:
    (by_run, place), (by_step, other) = rope(), rope()
    by_run.run(0.2, dt=5e-3)
    for _ in range(40):
        by_step.step(5e-3)
    assert np.array_equal(place(), other())
    assert by_run.time == by_step.time


def test_a_load_that_hangs_already_is_no_shock() -> None:
    """Built with its cable stretched by its weight, it swings from the first step on, of fourth order."""
    places = []
    for n in (10, 20, 40, 160):
        scene = sn.Scene(integrator="fourth")
        stiffness, length, mass, angle = 1e5, 4.0, 100.0, 0.1
        long = length + mass * 9.81 / stiffness
        start = (long * math.sin(angle), 0, -long * math.cos(angle))
        load = scene.add(sn.RigidBody.sphere(0.1, mass=mass, position=start))
        scene.add(sn.Cable([sn.World.at((0, 0, 0)), load.at()], stretch_stiffness=stiffness, length=length))
        scene.run(1.0, dt=1.0 / n)
        assert not scene.events
        places.append(load.position.copy())
    errors = [float(np.linalg.norm(place - places[-1])) for place in places[:-1]]
    assert errors[1] < errors[0] / 10.0 and errors[2] < errors[0] / 100.0 and errors[2] < 5e-7


def test_a_cable_that_runs_over_a_heavy_sheave() -> None:
    """Two weights on it, one pushed aside, the cable stretched as they pull: rotors, too, go back in time."""
    places = []
    for n in (40, 80, 160, 1280):
        scene = sn.Scene(integrator="fourth")
        left = scene.add(sn.RigidBody.sphere(0.1, mass=10.0, position=(-0.2, 0, 0)))
        right = scene.add(sn.RigidBody.sphere(0.1, mass=14.0, position=(0.2, 0, 0)))
        right.velocity = (0.5, 0, 0)
        wheel = sn.Sheave(sn.World.at((0, 0, 4)), axis=(0, 1, 0), radius=0.2, inertia=0.5)
        length, stiffness = 8.0 + 0.2 * math.pi, 5e3
        points = [left.at(), wheel, right.at()]
        scene.add(sn.Cable(points, stretch_stiffness=stiffness, length=length - 115.0 / stiffness, torsion=False))
        scene.run(0.8, dt=0.8 / n)
        assert not scene.events
        places.append(np.concatenate((left.position, right.position)))
    errors = [float(np.linalg.norm(place - places[-1])) for place in places[:-1]]
    assert errors[1] < errors[0] / 10.0 and errors[2] < errors[1] / 10.0 and errors[2] < 1e-7


def test_a_load_that_flies_into_its_cable_is_a_shock() -> None:
    scene = sn.Scene(gravity=(0, 0, 0), integrator="fourth")
    load = scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(0, 0, -0.999)))
    load.velocity = (0, 0, -1.0)
    scene.add(sn.Cable([sn.World.at((0, 0, 0)), load.at()], stretch_stiffness=1e5, length=1.0))
    scene.run(0.02, dt=2e-3)
    assert scene.events[0].kind == "fallback"


def test_a_load_that_bounces_in_its_cable_gains_nothing() -> None:
    """Between its steps stand those of "bdf2", in which the cable catches it and lets it go: these begin with a rate
    of the same time as the place. What the load has and what drag has taken never come to more than at first.
    """
    scene = sn.Scene(integrator="fourth", drag=1.0)
    mass, length, stiffness = 1000.0, 4.1, 1.57e7
    load = scene.add(sn.RigidBody.sphere(0.1, mass=mass, position=(0, 0, -4.0)))
    scene.add(sn.Cable([sn.World.at((0, 0, 0)), load.at()], stretch_stiffness=stiffness, length=length))
    taken, start, h = 0.0, mass * 9.81 * 0.1, 1 / 120
    for _ in range(300):
        before = load.velocity[2]
        scene.step(h)
        after, over = load.velocity[2], load.position[2] + length
        taken += mass * h * (before**2 + before * after + after**2) / 3.0
        has = 0.5 * mass * after**2 + mass * 9.81 * over + 0.5 * stiffness / length * min(over, 0.0) ** 2
        assert has + taken < 1.001 * start
    assert any(event.kind == "fallback" for event in scene.events)


def test_a_bead_that_enters_other_spans() -> None:
    """It slides down a rope through several of its spans, each of which asks for another plan of the matrix in the
    middle of a step: not a stage may be lost or made twice.
    """
    found = []
    for scheme, dt in (("midpoint", 1e-3), ("fourth", 8e-3), ("fourth", 4e-3)):
        scene = sn.Scene(integrator=scheme)
        section, stuff = sn.Section.circle(0.01), sn.Material(1e8, 0.3, 1000)
        line = scene.add(sn.Rod.straight((0, 0, 1), (2, 0, 0), section=section, material=stuff, control_points=12))
        scene.add(sn.Fix(line.at(0)))
        scene.add(sn.Fix(line.at(line.length)))
        bead = scene.add(sn.Pearl(line, at=0.2, mass=0.05, radius=0.015))
        scene.run(0.48, dt=dt)
        assert not scene.events and scene.time == pytest.approx(0.48)
        found.append(bead.s)
    assert found[0] > 0.7  # from 0.2, in spans of 0.25
    assert found[1:] == pytest.approx([found[0]] * 2, abs=5e-4)


def test_a_winch_is_led_through_the_stages() -> None:
    """The load of a winch that hauls in at a steady speed rises with it."""
    scene = sn.Scene(integrator="fourth")
    load = scene.add(sn.RigidBody.sphere(0.2, mass=50, position=(0, 0, 0)))
    anchor = sn.World.at((0, 0, 5))
    cable = scene.add(sn.Cable([anchor, load.at()], stretch_stiffness=1e6))
    scene.settle()
    rest = load.position[2]
    cable.drive(speed=-0.1)
    scene.run(2.0, dt=0.02)
    assert load.position[2] - rest == pytest.approx(0.2, abs=5e-3)
    assert np.hypot(*load.position[:2]) < 1e-9


@pytest.mark.parametrize("what", ["drag", "damped rod", "damper", "friction"])
def test_what_takes_energy_is_made_by_bdf2_with_one_event(what: str) -> None:
    scenes = []
    for scheme in ("fourth", "bdf2"):
        scene = sn.Scene(integrator=scheme, drag=100.0 if what == "drag" else 0.0)
        rubber = sn.Material(1e7, 0.4, 1000, relaxation_time=0.02 if what == "damped rod" else 0.0)
        section = sn.Section.circle(5e-3)
        bar = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=section, material=rubber, control_points=6))
        soft = {"compliance": 1e-3, "damping": 1.0} if what == "damper" else {}
        scene.add(sn.Fix(bar.at(0), **soft))
        scene.add(sn.Fix(bar.at(bar.length)))
        scene.add(sn.Pearl(bar, at=0.4, mass=0.01, radius=0.01, friction=0.3 if what == "friction" else 0.0))
        scene.run(0.1, dt=5e-3)
        scenes.append(scene)
    (event,) = (e for e in scenes[0].events if e.kind == "fallback")
    assert event.steps == 20
    assert "bdf2" in event.message
    first, second = (scene.bodies[0].control_points for scene in scenes)
    assert np.array_equal(first, second)


def test_energy_hardly_drifts() -> None:
    """Composed of steps that keep energy; what drifts is what Newton's last turn leaves."""
    scene, _ = pendulum()
    first = scene.energy.total
    scene.run(20.0, dt=0.02)
    assert abs(scene.energy.total - first) < 1e-5 * 9.81
    assert math.isfinite(scene.energy.total)
