"""`Clock`: whole steps of one length, the same bits as without it, and what is told between two of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sennit as sn

H = 1.0 / 240.0


def falling() -> tuple[sn.Scene, sn.RigidBody]:
    scene = sn.Scene()
    body = scene.add(sn.RigidBody.box((0.1, 0.2, 0.3), mass=1.0, name="load"))
    body.velocity, body.angular_velocity = (1.0, 0.0, 0.0), (0.0, 0.0, 2.0)
    return scene, body


def test_frames_of_any_length_make_the_steps_of_a_run() -> None:
    """60 frames of irregular lengths, 1 s together, and one run of 1 s: the same bits."""
    scene, body = falling()
    clock = sn.Clock(scene, dt=H)
    lengths = np.random.default_rng(3).uniform(0.2, 1.8, 60)
    made = [clock.advance(x) for x in lengths / lengths.sum()]
    assert sum(made) == 240 and len(set(made)) > 3
    other, there = falling()
    other.run(1.0, dt=H)
    assert np.array_equal(body.position, there.position) and np.array_equal(body.pose.quaternion, there.pose.quaternion)


def test_frames_that_divide_into_steps_make_as_many_each() -> None:
    clock = sn.Clock(falling()[0], dt=H)
    assert [clock.advance(1.0 / 60.0) for _ in range(300)] == [4] * 300
    assert clock.fraction < 1e-6


def test_what_is_told_moves_evenly_one_step_behind() -> None:
    """Uniform motion (no gravity): place and angle are those of the clock's own time, whatever frames take."""
    scene, body = falling()
    scene.gravity = (0.0, 0.0, 0.0)
    body.angular_velocity = (0.0, 0.0, 2.0)
    clock = sn.Clock(scene, dt=0.02)
    passed = 0.0
    clock.advance(0.05)
    passed = 0.05
    for length in np.random.default_rng(4).uniform(0.001, 0.05, 40):
        clock.advance(length)
        passed += length
        assert clock.time == pytest.approx(passed - 0.02, abs=1e-12)
        told = clock["load"]
        assert np.allclose(told.position, (clock.time, 0.0, 0.0), atol=1e-12)
        # Euler turns by 2 atan(hω/2) a step; between two steps a chord of the arc: (ωh)³/200 at most.
        angle = clock.time / 0.02 * 2.0 * math.atan(0.02)
        told_angle = 2.0 * math.atan2(told.quaternion[3], told.quaternion[0])
        assert math.remainder(told_angle - angle, 2.0 * math.pi) == pytest.approx(0.0, abs=0.04**3 / 200.0)
        assert np.linalg.norm(told.quaternion) == pytest.approx(1.0, abs=1e-14)


def test_rods_are_told_between_two_states_of_the_scene() -> None:
    scene = sn.Scene()
    rubber = sn.Material(1e7, 0.49, 1000.0)
    rope = scene.add(
        sn.Rod.straight(
            (0, 0, 1), (1, 0, 1), section=sn.Section.circle(5e-3), material=rubber, control_points=10, name="rope"
        )
    )
    scene.add(sn.Fix(rope.at(0.0)))
    clock = sn.Clock(scene, dt=0.01)
    clock.advance(0.1)
    before = clock["rope"].centres.copy()
    scene_before = rope.centerline(2)[-1]
    clock.advance(0.0025)
    assert clock.fraction == pytest.approx(0.25)
    clock.advance(0.0075)
    after = clock["rope"].centres.copy()
    assert np.allclose(after[-1], scene_before, atol=1e-12)  # one step behind: what was the scene's last state
    again = sn.Clock(scene, dt=0.01)
    assert np.allclose(again["rope"].centres[-1], rope.centerline(2)[-1], atol=1e-12)
    assert not np.allclose(before, after, atol=1e-4)
    assert np.allclose(np.linalg.norm(clock["rope"].directors, axis=1), 1.0, atol=1e-14)
    assert clock.frame.shape == (clock.cast.size,)


def test_what_comes_and_goes_is_told_where_it_is() -> None:
    scene, body = falling()
    clock = sn.Clock(scene, dt=H)
    clock.advance(0.1)
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(0.0, 0.0, 3.0), name="ball"))
    clock.advance(0.0)
    assert np.array_equal(clock["ball"].position, ball.position) and clock.time == scene.time
    clock.advance(0.1)
    scene.remove(body)
    clock.advance(0.1)
    assert clock.names == ["ball"]
    with pytest.raises(sn.InputError, match="load"):
        clock["load"]


def test_slow_frames_are_left_out_and_counted() -> None:
    clock = sn.Clock(falling()[0], dt=0.01, longest=0.1)
    assert clock.advance(7.0) == 10
    assert clock.dropped == pytest.approx(6.9)


def test_real_time_is_measured_from_call_to_call() -> None:
    scene, _ = falling()
    clock = sn.Clock(scene, dt=1e-3)
    assert clock.advance() == 0
    while clock.advance() == 0:
        pass
    assert scene.time > 0.0


def test_before_step_is_called_for_each_step_and_a_failure_leaves_what_is_there() -> None:
    scene, body = falling()
    calls: list[float] = []

    def script(dt: float) -> None:
        calls.append(dt)
        if len(calls) == 7:
            raise RuntimeError("enough")

    clock = sn.Clock(scene, dt=0.01, before_step=script)
    assert clock.advance(0.04) == 4 and calls == [0.01] * 4
    with pytest.raises(RuntimeError, match="enough"):
        clock.advance(0.04)
    assert scene.time == pytest.approx(0.06)
    assert np.array_equal(clock["load"].position, body.position) and clock.time == scene.time


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dt": 0.0}, "dt"), ({"dt": math.nan}, "dt"), ({"longest": 1e-3}, "longest"),
        ({"before_step": 3}, "before_step"),
    ],
)  # fmt: skip
def test_bad_input(options: dict[str, object], words: str) -> None:
    with pytest.raises(sn.InputError, match=words):
        sn.Clock(falling()[0], **options)  # type: ignore[arg-type]


def test_bad_frames() -> None:
    scene, _ = falling()
    clock = sn.Clock(scene)
    for bad in (-1.0, math.nan, math.inf, "soon"):
        with pytest.raises(sn.InputError, match="seconds"):
            clock.advance(bad)  # type: ignore[arg-type]
    with pytest.raises(sn.InputError, match="scene"):
        sn.Clock("scene")  # type: ignore[arg-type]
    assert scene.time == 0.0
