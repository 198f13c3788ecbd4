"""Routes: places at times, that compiled runs, files and haptic loops follow."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import sennit as sn


def chain(path: object, **options: object) -> tuple[sn.Scene, sn.Rod, sn.Follow]:
    scene = sn.Scene(**options)  # type: ignore[arg-type]
    section, rubber = sn.Section.circle(5e-3), sn.Material(1e7, 0.4, 1000, relaxation_time=0.02)
    rope = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=section, material=rubber))
    scene.add(sn.Fix(rope.at(0)))
    lead = scene.add(sn.Follow(rope.at(rope.length), path))  # type: ignore[arg-type]
    return scene, rope, lead


def test_straight_and_spline_pass_through_their_places() -> None:
    times, places = [0.0, 0.5, 2.0], [(0, 0, 0), (1, 0, 0), (1, 2, 0)]
    for kind in ("straight", "spline"):
        route = sn.Route(times, places, kind)
        for time, place in zip(times, places, strict=True):
            assert np.allclose(route(time), place, atol=1e-12)
        assert np.allclose(route(-1.0), places[0])
        assert np.allclose(route(5.0), places[-1])
    assert np.allclose(sn.Route(times, places)(1.25), (1, 1, 0))
    spline = sn.Route(times, places, "spline")
    for end in (0.0, 2.0):  # begins and ends at rest
        speed = (np.asarray(spline(end + 1e-6)) - np.asarray(spline(end - 1e-6))) / 2e-6
        assert np.abs(speed).max() < 1e-4


def test_a_repeated_route_is_smooth_where_it_begins_again() -> None:
    angles = np.linspace(0, 2 * math.pi, 33)
    circle = [(math.cos(a), math.sin(a), 0.0) for a in angles]
    route = sn.Route(angles, circle, "spline", repeat=True)
    for time in (0.3, 1.7, 7.0, 100.0):
        assert np.allclose(route(time), (math.cos(time), math.sin(time), 0.0), atol=2e-5)


def test_poses_turn_the_short_way() -> None:
    turn = sn.Pose((0, 0, 0), (math.cos(0.4), 0, 0, math.sin(0.4)))
    other = sn.Pose((1, 0, 0), tuple(-x for x in sn.Pose().quaternion))
    half = sn.Route([0, 1], [turn, other])(0.5)
    assert isinstance(half, sn.Pose)
    assert np.allclose(np.abs(half.quaternion), (math.cos(0.2), 0, 0, math.sin(0.2)), atol=1e-12)


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
def test_a_scene_follows_a_route_as_it_does_a_function(integrator: str) -> None:
    route = sn.Route([0, 0.1, 0.3], [(1, 0, 0), (0.9, 0, 0.1), (0.8, 0.1, 0.2)], "spline")
    (by_route, rope, lead), (by_call, other, _) = (
        chain(route, integrator=integrator),
        chain(lambda t: route(t), integrator=integrator),
    )
    by_route.run(0.4, dt=5e-3)
    by_call.run(0.4, dt=5e-3)
    assert np.allclose(rope.control_points, other.control_points, atol=1e-9)
    assert np.allclose(lead.target, (0.8, 0.1, 0.2), atol=1e-12)
    assert [e.kind for e in by_route.events] == [e.kind for e in by_call.events]


def test_one_step_and_many_are_the_same() -> None:
    route = sn.Route([0, 0.2], [sn.Pose((1, 0, 0)), sn.Pose((0.8, 0, 0.2), (math.cos(0.3), 0, math.sin(0.3), 0))])
    states = []
    for by_run in (True, False):
        scene = sn.Scene()
        box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(1, 0, 0)))
        scene.add(sn.Follow(box.at(), route))
        if by_run:
            scene.run(0.1, dt=1e-3)
        else:
            for _ in range(100):
                scene.step(1e-3)
        states.append(np.concatenate((box.position, box.pose.quaternion)))
    assert np.array_equal(*states)
    assert np.allclose(states[0][:3], (0.9, 0, 0.1), atol=1e-6)


def test_a_scene_with_a_route_is_saved_and_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    route = sn.Route([0, 0.1, 0.2], [(1, 0, 0), (0.9, 0, 0.1), (1, 0, 0)], "spline", repeat=True)
    scene, rope, _ = chain(route)
    scene.run(0.13, dt=5e-3)
    scene.save(tmp_path / "scene.npz")
    again = sn.Scene.load(tmp_path / "scene.npz")
    for one in (scene, again):
        one.run(0.2, dt=5e-3)
    assert np.array_equal(again.bodies[0].control_points, rope.control_points)
    follow = again.constraints[1]
    assert isinstance(follow, sn.Follow)


def test_settle_puts_the_point_where_its_route_is_now() -> None:
    scene, rope, _ = chain(sn.Route([0, 1], [(0.8, 0, 0), (0.5, 0, 0)]))
    scene.settle()
    assert np.allclose(rope.at(rope.length).position, (0.8, 0, 0), atol=1e-6)


def test_a_haptic_loop_follows_a_route() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0))
    ball = scene.add(sn.RigidBody.sphere(0.05, mass=0.1, position=(1, 0, 0)))
    scene.add(sn.Follow(box.at(), sn.Route([0, 0.2], [(0, 0, 0), (0, 0, 0.1)])))
    device = sn.ScriptedDevice(lambda t: (0, 0, 0), seconds=0.3)
    coupling = sn.VirtualCoupling(stiffness=200, damping=2)
    with sn.HapticLoop(scene, device, grip=ball.at(), coupling=coupling, frame="grip") as loop:
        loop.wait(5.0)
    assert np.allclose(box.position, (0, 0, 0.1), atol=1e-6)


@pytest.mark.parametrize(
    ("times", "places", "options", "text"),
    [
        ([0], [(0, 0, 0)], {}, "two or more"),
        ([0, 0], [(0, 0, 0)] * 2, {}, "later than the one before"),
        ([0, 1], [(0, 0, 0)], {}, "as many"),
        ([0, 1], [(0, 0, 0), sn.Pose()], {}, "all positions or all poses"),
        ([0, 1], [(0, 0, 0), (0, 0, 1)], {"repeat": True}, "end where it begins"),
        ([0, 1], [(0, 0, 0), (0, 0, math.nan)], {}, "places"),
        ([0, 1], [(0, 0, 0), (0, 0, 1)], {"kind": "curve"}, "kind"),
    ],
)
def test_bad_routes_are_refused(times, places, options, text: str) -> None:
    with pytest.raises(sn.InputError, match=text):
        sn.Route(times, places, **options)
