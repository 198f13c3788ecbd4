"""Drives of pearls that meet stops, other pearls and other drives: the drive gives way, and makes no energy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import sennit as sn

HEMP = sn.Material(1e7, 0.4, 1000, relaxation_time=0.02)
ROPE = sn.Section.circle(5e-3)
RADIUS = 0.02
SCHEMES = pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
STEPS = pytest.mark.parametrize("dt", [1e-3, 5e-3])


def thread(integrator: str, closed: bool) -> tuple[sn.Scene, sn.Rod]:
    """A rod of 1 m that is clamped at its ends, or a ring of 2 m held at two places, without gravity."""
    scene = sn.Scene(gravity=(0, 0, 0), integrator=integrator)
    if closed:
        angles = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
        places = np.stack((np.cos(angles), np.sin(angles), 0.0 * angles), axis=1) / np.pi
        rod = scene.add(sn.Rod.through(places, section=ROPE, material=HEMP, control_points=24, closed=True))
        for s in (0.0, 0.5):
            scene.add(sn.Clamp(rod.at(s * rod.length)))
    else:
        rod = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=ROPE, material=HEMP, control_points=10))
        for s in (0.0, 1.0):
            scene.add(sn.Clamp(rod.at(s)))
    return scene, rod


def played(scene: sn.Scene, pearls: list[sn.Pearl], time: float, dt: float) -> float:
    """Run a scene; returns the largest energy on the way. Pearls stay in their order, and apart."""
    largest = 0.0
    for _ in range(round(time / dt)):
        scene.step(dt)
        largest = max(largest, scene.energy.total)
        assert all(pearl.attached for pearl in pearls)
        if not pearls[0].rod.closed:
            for before, after in itertools.pairwise(pearls):
                assert after.s > before.s, [pearl.s for pearl in pearls]
    return largest


def stalled(scene: sn.Scene) -> list[sn.Event]:
    return [event for event in scene.events if event.kind == "yielded"]


@SCHEMES
@STEPS
@pytest.mark.parametrize("speed", [1.0, -1.0])
def test_a_driven_pearl_stalls_at_the_end(integrator: str, dt: float, speed: float) -> None:
    """It stays on its rod, right at its stop, and one event says so."""
    scene, rod = thread(integrator, False)
    pearl = scene.add(sn.Pearl(rod, at=0.5, mass=0.01, radius=RADIUS, speed=speed, name="runner"))
    largest = played(scene, [pearl], 1.0, dt)
    end = 1.0 - RADIUS if speed > 0 else RADIUS
    assert pearl.s == pytest.approx(end, abs=1e-6)
    assert largest < 0.05
    (event,) = stalled(scene)
    assert event.subjects == (pearl,) and "runner" in event.message


@SCHEMES
@STEPS
def test_a_driven_pearl_pushes_a_free_one_to_the_end(integrator: str, dt: float) -> None:
    """It brought 3e11 J into the rod, and the pearls inside each other."""
    scene, rod = thread(integrator, False)
    driven = scene.add(sn.Pearl(rod, at=0.5, mass=0.01, radius=RADIUS, speed=1.0, name="runner"))
    pushed = scene.add(sn.Pearl(rod, at=0.7, mass=1.0, radius=RADIUS))
    largest = played(scene, [driven, pushed], 1.5, dt)
    assert largest < 20.0  # an elastic pearl of 1 kg between two walls that close
    assert pushed.s == pytest.approx(0.98, abs=1e-3)
    assert driven.s == pytest.approx(0.94, abs=2e-3)
    assert len(stalled(scene)) == 1 and "runner" in stalled(scene)[0].message


@SCHEMES
@STEPS
@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("other", [0.0, -0.5, 0.3])
@pytest.mark.parametrize("between", [False, True])
def test_drives_that_meet_give_way(integrator: str, dt: float, closed: bool, other: float, between: bool) -> None:
    """A pearl driven at one that is braked, comes to meet it or flees more slowly; with a free one between them."""
    scene, rod = thread(integrator, closed)
    pearls = [scene.add(sn.Pearl(rod, at=0.3, mass=0.01, radius=RADIUS, speed=1.0))]
    if between:
        pearls.append(scene.add(sn.Pearl(rod, at=0.45, mass=0.05, radius=RADIUS)))
    pearls.append(scene.add(sn.Pearl(rod, at=0.6, mass=0.1, radius=RADIUS, speed=other)))
    largest = played(scene, pearls, 0.7, dt)
    assert largest < 10.0
    for before, after in itertools.pairwise(pearls):
        assert (after.s - before.s) % rod.length > 2 * RADIUS - 2e-3
    assert stalled(scene)
    # on a ring that swings the first touch may be too much for a whole step
    assert sum(event.steps for event in scene.events if event.kind not in ("yielded", "fallback")) <= 2
