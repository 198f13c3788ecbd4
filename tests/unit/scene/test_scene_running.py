"""Scenes that change while they run: constraints added, removed, switched; time, events, reset; redundant rows."""

from __future__ import annotations

import numpy as np
import pytest
from unit.scene import kit
from unit.scene.kit import ROPE, SOFT, G, drop

import sennit as sn

DT = 0.01


def ball(scene, position=(0, 0, 0), mass=2.0):
    return scene.add(sn.RigidBody.sphere(radius=0.1, mass=mass, position=position))


def test_time_and_steps() -> None:
    scene = sn.Scene()
    ball(scene)
    assert scene.time == 0.0
    scene.step(DT)
    assert scene.time == pytest.approx(DT, abs=1e-15)
    scene.run(0.09, dt=DT)
    assert scene.time == pytest.approx(0.1, abs=1e-12)
    scene.reset()
    assert scene.time == 0.0


def test_run_is_its_steps() -> None:
    scenes = []
    for _ in range(2):
        scene = sn.Scene()
        rope = kit.rod(scene, kit.A)
        scene.add(sn.Clamp(rope.at(0.0)))
        scenes.append(scene)
    for _ in range(5):
        scenes[0].step(DT)
    scenes[1].run(5 * DT, dt=DT)
    assert kit.bits(scenes[0]) == kit.bits(scenes[1])


def test_free_fall_is_the_schemes_own() -> None:
    scene = sn.Scene()
    body = ball(scene, (0, 0, 5))
    rope = kit.rod(scene, kit.A)
    chain = kit.rod(scene, kit.A, model="discrete")
    start = [b.at(0.2).position[2] for b in (rope, chain)]
    for _ in range(20):
        scene.step(DT)
    assert body.pose.position[2] == pytest.approx(drop(5, 20, DT), abs=1e-12)
    for b, z in zip((rope, chain), start, strict=True):
        assert b.at(0.2).position[2] == pytest.approx(drop(z, 20, DT), abs=1e-9)


def test_reset_goes_back_to_the_beginning() -> None:
    scene = sn.Scene()
    rope = kit.rod(scene, kit.A)
    scene.add(sn.Fix(rope.at(0.0)))
    line = rope.centerline(20).copy()
    scene.run(0.1, dt=DT)
    first = rope.centerline(20).copy()
    assert np.abs(first - line).max() > 1e-3
    scene.reset()
    assert np.abs(rope.centerline(20) - line).max() < 1e-15
    assert np.abs(rope.velocities(20)).max() == 0.0
    scene.run(0.1, dt=DT)
    assert np.array_equal(rope.centerline(20), first)


def test_switching_off_releases_and_on_catches() -> None:
    scene = sn.Scene()
    body = ball(scene)
    hook = scene.add(sn.Fix(body.at((0, 0, 0))))
    scene.run(5 * DT, dt=DT)
    assert hook.enabled
    assert hook.force == pytest.approx((0, 0, 2 * G), abs=1e-8)
    hook.enabled = False
    for _ in range(10):
        scene.step(DT)
    assert body.pose.position[2] == pytest.approx(drop(0, 10, DT), abs=1e-12)
    assert np.array_equal(hook.force, (0, 0, 0))
    hook.enabled = True
    scene.step(DT)
    assert np.abs(body.pose.position - hook.target).max() < 1e-9
    scene.run(3 * DT, dt=DT)
    assert np.abs(body.pose.position - hook.target).max() < 1e-9
    assert hook.force == pytest.approx((0, 0, 2 * G), abs=1e-6)


def test_switched_off_is_as_if_removed() -> None:
    ends = []
    for way in ("off", "removed", "never"):
        scene = sn.Scene()
        rope = kit.rod(scene, kit.A)
        scene.add(sn.Clamp(rope.at(0.0)))
        if way != "never":
            extra = scene.add(sn.Distance(rope.at(0.2), rope.at(0.5)))
            if way == "off":
                extra.enabled = False
            else:
                scene.remove(extra)
        scene.run(10 * DT, dt=DT)
        ends.append(rope.centerline(20).copy())
    assert np.abs(ends[0] - ends[2]).max() < 1e-9
    assert np.abs(ends[1] - ends[2]).max() < 1e-9


def test_adding_and_removing_while_running() -> None:
    scene = sn.Scene()
    rope = kit.rod(scene, kit.A)
    scene.add(sn.Clamp(rope.at(0.0)))
    scene.run(5 * DT, dt=DT)
    for k in range(4):
        tip = rope.at(rope.length)
        place = tip.position.copy()
        grip = scene.add(sn.Fix(tip))
        assert np.abs(np.array(grip.target) - place).max() < 1e-12, "held where it was caught"
        scene.run(3 * DT, dt=DT)
        assert np.abs(tip.position - place).max() < 1e-9, k
        scene.remove(grip)
        scene.run(3 * DT, dt=DT)
        assert np.abs(tip.position - place).max() > 1e-4, k


def test_a_body_added_while_running() -> None:
    scene = sn.Scene()
    first = ball(scene)
    scene.run(5 * DT, dt=DT)
    second = ball(scene, (0, 0, 3))
    for _ in range(5):
        scene.step(DT)
    assert first.pose.position[2] == pytest.approx(drop(0, 10, DT), abs=1e-12)
    assert second.pose.position[2] == pytest.approx(drop(3, 5, DT), abs=1e-12)


def test_a_removed_body_takes_nothing_else_along() -> None:
    scene = sn.Scene()
    first = ball(scene)
    second = ball(scene, (0, 0, 3))
    scene.run(5 * DT, dt=DT)
    scene.remove(first)
    for _ in range(5):
        scene.step(DT)
    assert second.pose.position[2] == pytest.approx(drop(3, 10, DT), abs=1e-12)


def redundant(scene) -> bool:
    told = [event for event in scene.events if event.kind == "redundant"]
    assert bool(told) == bool(scene.report.redundant)
    return bool(told)


@pytest.mark.parametrize("extra", ["the same again", "a plane at a fixed end", "a distance between fixed ends"])
def test_redundant_rows_work_and_are_reported(extra: str) -> None:
    ends = []
    for doubled in (False, True):
        scene = sn.Scene()
        rope = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=ROPE, material=SOFT, control_points=8))
        grips = [scene.add(sn.Fix(rope.at(s))) for s in (0.0, 1.0)]
        if doubled:
            if extra == "the same again":
                scene.add(sn.Fix(rope.at(1.0)))
            elif extra == "a plane at a fixed end":
                scene.add(sn.OnPlane(rope.at(1.0), (0.6, 0, 0.8)))
            else:
                scene.add(sn.Distance(rope.at(0.0), rope.at(1.0)))
        scene.run(20 * DT, dt=DT)
        assert redundant(scene) == doubled
        ends.append(rope.centerline(20).copy())
        assert all(np.abs(grip.violation).max() < 1e-9 for grip in grips)
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


def test_gravity_and_drag() -> None:
    # m v' = m g - drag m v: backward Euler's own recursion
    scene = sn.Scene(gravity=(0, 0, -G), drag=3.0)
    body = ball(scene)
    rope = kit.rod(scene, kit.A)
    v = 0.0
    for _ in range(20):
        scene.step(DT)
        v = (v - DT * G) / (1 + 3.0 * DT)
    assert body.velocity[2] == pytest.approx(v, rel=1e-10)
    assert rope.at(0.3).velocity[2] == pytest.approx(v, rel=1e-8)


def test_a_load_and_its_follower() -> None:
    for follower in (False, True):
        scene = sn.Scene(gravity=(0, 0, 0))
        body = scene.add(sn.RigidBody.box(size=(1, 1, 1), mass=2, position=(0, 0, 0)))
        body.angular_velocity = (0, 0, np.pi)  # half a turn in a second
        scene.add(sn.Load(body.at((0, 0, 0)), force=(1, 0, 0), follower=follower))
        scene.run(1.0, dt=1e-3)
        # v = integral of F / m: turning by half a turn gives (2 / pi) sideways and nothing ahead
        wanted = (0, 1 / np.pi, 0) if follower else (0.5, 0, 0)
        assert body.velocity == pytest.approx(wanted, abs=2e-3)


def test_a_torque_spins_a_body() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    body = scene.add(sn.RigidBody.box(size=(1, 1, 1), mass=6, position=(0, 0, 0)))  # I = m / 6 = 1
    scene.add(sn.Load(body.at((0.3, 0, 0)), torque=(0, 0, 2.0)))
    scene.run(0.5, dt=DT)
    assert body.angular_velocity == pytest.approx((0, 0, 1.0), abs=1e-9)
    assert body.velocity == pytest.approx((0, 0, 0), abs=1e-12)


def test_a_force_off_the_centre_is_force_and_torque() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    body = scene.add(sn.RigidBody.box(size=(1, 1, 1), mass=6, position=(0, 0, 0)))
    scene.add(sn.Load(body.at((0, 0.5, 0)), force=(3.0, 0, 0)))
    scene.step(1e-3)
    assert body.velocity == pytest.approx((5e-4, 0, 0), abs=1e-12)
    assert body.angular_velocity == pytest.approx((0, 0, -1.5e-3), abs=1e-12)
