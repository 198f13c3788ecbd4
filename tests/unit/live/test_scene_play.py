"""A scene in someone's hand: held, dragged, pinned, switched, removed and reset."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sennit as sn
from sennit.live.scene_play import ScenePlay
from sennit.live.touch import touch_for

RUBBER = sn.Material(1e7, 0.49, 1000.0, relaxation_time=0.02)
ROUND = sn.Section.circle(5e-3)


def hanging_rope(length: float = 1.0, **options: Any) -> tuple[sn.Scene, sn.Rod]:
    scene = sn.Scene(drag=0.5)
    rope = scene.add(
        sn.Rod.straight((0, 0, 2), (0, 0, 2 - length), section=ROUND, material=RUBBER, control_points=12, **options)
    )
    scene.add(sn.Clamp(rope.at(0.0)))
    scene.settle()
    return scene, rope


def part_of(play: ScenePlay, subject: Any) -> int:
    portrait = play.portrait
    return next(k for k in range(len(portrait.cast.parts)) if portrait.subject(k) is subject)


def run(play: ScenePlay, seconds: float) -> None:
    for _ in range(round(seconds / play.dt)):
        play.step()


def test_a_rope_follows_the_hand_and_springs_back() -> None:
    scene, rope = hanging_rope()
    play = ScenePlay(scene)
    tip = rope.centerline(2)[-1]
    play.grab(part_of(play, rope), 1.0)
    assert play.holding
    goal = tip + np.array((0.4, 0.0, 0.3))
    play.drag(goal)
    run(play, 3.0)
    assert np.linalg.norm(rope.centerline(2)[-1] - goal) < 0.05 * rope.length
    hand, held = play.grip
    np.testing.assert_allclose(hand, goal)
    np.testing.assert_allclose(held, rope.centerline(2)[-1], atol=1e-9)
    play.release()
    assert not play.holding
    run(play, 12.0)
    assert np.linalg.norm(rope.centerline(2)[-1] - tip) < 0.05 * rope.length


def test_grabbing_moves_nothing_by_itself() -> None:
    """The hand begins where the material is: what is at rest stays there."""
    scene, rope = hanging_rope()
    play = ScenePlay(scene)
    before = rope.centerline(50)
    play.grab(part_of(play, rope), 0.6)
    run(play, 1.0)
    assert np.abs(rope.centerline(50) - before).max() < 1e-4


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
def test_a_wild_hand_does_not_tear(integrator: str) -> None:
    scene, rope = hanging_rope()
    scene.integrator = integrator
    play = ScenePlay(scene, dt=2e-3)
    play.grab(part_of(play, rope), 0.7)
    rng = np.random.default_rng(1)
    for _ in range(40):
        play.drag(rng.normal(0.0, 20.0, 3))
        run(play, 0.05)
        assert np.isfinite(rope.centerline(20)).all()
    assert np.abs(rope.centerline(20) - (0, 0, 2)).max() < 2.0  # stretched, not torn


def test_a_heavy_load_on_a_cable_is_dragged() -> None:
    scene = sn.Scene()
    box = scene.add(sn.RigidBody.box((1, 1, 1), mass=1000.0, position=(0, 0, 5)))
    cable = scene.add(sn.Cable([sn.World.at((0, 0, 10)), box.at((0, 0, 0.5))], stretch_stiffness=1e6))
    play = ScenePlay(scene)
    part = part_of(play, box)
    corner = np.array((0.5, 0.5, -0.5))
    play.grab(part, corner)
    play.drag(box.pose.position + corner + (1.0, 0.0, 0.0))
    run(play, 4.0)
    assert box.position[0] > 0.5
    play.release()
    with pytest.raises(sn.InputError, match="no mass"):
        play.grab(part_of(play, cable), 0.5)


def test_sliders_zones_and_sheaves_are_held() -> None:
    scene, rope = hanging_rope()
    pearl = scene.add(sn.Pearl(rope, 0.5, mass=0.01, radius=0.02, friction=0.5))
    play = ScenePlay(scene)
    play.grab(part_of(play, pearl), np.zeros(3))
    assert play._hand is not None and play._hand.points[0].body is pearl
    play.release()


def test_what_is_no_body_is_refused() -> None:
    scene, rope = hanging_rope()
    play = ScenePlay(scene)
    clamp = scene.constraints[0]
    with pytest.raises(sn.InputError, match="can't be dragged"):
        play.grab(part_of(play, clamp), np.zeros(3))
    assert not play.holding
    with pytest.raises(sn.InputError, match="place"):
        play.grab(part_of(play, rope), np.zeros(3))
    assert len(scene.constraints) == 1


def test_the_hand_is_neither_drawn_nor_listed_nor_a_new_picture() -> None:
    scene, rope = hanging_rope()
    play = ScenePlay(scene)
    portrait, ties = play.portrait, [tie.name for tie in play.ties]
    play.grab(part_of(play, rope), 0.5)
    play.step()
    assert play.portrait is portrait
    assert [tie.name for tie in play.ties] == ties
    assert np.isfinite(portrait.capture()).all()
    play.release()
    assert play.portrait is portrait


def test_pins_hold_and_can_be_removed() -> None:
    scene, rope = hanging_rope()
    play = ScenePlay(scene)
    first = play.portrait
    play.pin(part_of(play, rope), 0.5)
    assert play.portrait is not first
    assert [tie.kind for tie in play.ties] == ["Clamp", "Fix"]
    place = scene.constraints[1].points[0].position
    scene.gravity = (3.0, 0.0, 0.0)
    run(play, 0.5)
    np.testing.assert_allclose(scene.constraints[1].points[0].position, place, atol=1e-6)
    play.remove(1)
    assert len(scene.constraints) == 1
    with pytest.raises(sn.InputError, match="no constraint"):
        play.remove(1)


def test_ties_are_switched_and_shown_by_their_parts() -> None:
    scene, rope = hanging_rope()
    play = ScenePlay(scene)
    (tie,) = play.ties
    assert tie.enabled and tie.parts
    assert all(play.portrait.subject(k) is scene.constraints[0] for k in tie.parts)
    play.switch(0, False)
    assert not play.ties[0].enabled
    run(play, 0.3)
    assert rope.centerline(2)[0, 2] < 1.7


def test_handles_move_what_they_hold() -> None:
    scene, rope = hanging_rope()
    play = ScenePlay(scene)
    (handle,) = play.handles
    assert handle.turns
    handle.move(sn.Pose((0.2, 0.0, 2.0), handle.read().quaternion))
    run(play, 0.2)
    np.testing.assert_allclose(rope.centerline(2)[0], (0.2, 0.0, 2.0), atol=1e-6)
    scene.add(sn.Fix(rope.at(rope.length)))
    assert [handle.turns for handle in play.handles] == [True, False]


def test_reset_brings_everything_back() -> None:
    scene, rope = hanging_rope()
    speeds: list[float] = []
    scene.control("speed", speeds.append, 0.0, range=(0.0, 1.0))
    again: list[int] = []
    play = ScenePlay(scene, before_step=lambda dt: None, on_reset=lambda: again.append(1))
    first = play.portrait.capture().copy()
    run(play, 0.1)
    follow = rope.centerline(30)
    play.pin(part_of(play, rope), 0.5)
    play.remove(0)
    play.set_gravity(np.array((0.0, 0.0, 5.0)))
    scene.controls[0].use(0.5)
    play.grab(part_of(play, rope), 1.0)
    play.drag(np.array((1.0, 1.0, 1.0)))
    run(play, 0.5)
    play.reset()
    assert not play.holding and scene.time == 0.0
    assert [tie.kind for tie in play.ties] == ["Clamp"]
    assert scene.gravity.tolist() == [0.0, 0.0, -9.81]
    assert speeds == [0.5, 0.0] and again == [1]
    np.testing.assert_array_equal(play.portrait.capture(), first)
    run(play, 0.1)
    np.testing.assert_array_equal(rope.centerline(30), follow)


def test_reset_goes_through_where_a_control_refuses() -> None:
    scene, rope = hanging_rope()

    def pick(value: float) -> None:
        if value == 0.0:
            raise RuntimeError("never again")

    scene.control("speed", pick, 0.0, range=(0.0, 1.0))
    play = ScenePlay(scene)
    scene.controls[0].use(0.5)
    play.set_gravity(np.zeros(3))
    play.grab(part_of(play, rope), 1.0)
    run(play, 0.1)
    play.reset()
    assert not play.holding and scene.time == 0.0 and scene.gravity.tolist() == [0.0, 0.0, -9.81]
    assert "never again" in play.trouble


def test_a_script_may_go_back_to_before_the_hand_was_there() -> None:
    scene, rope = hanging_rope()
    play = ScenePlay(scene)
    before = scene.snapshot()
    play.grab(part_of(play, rope), 0.5)
    play.step()
    scene.restore(before)
    assert not play.holding
    play.release()
    play.step()
    play.grab(part_of(play, rope), 0.5)
    assert play.holding and len(scene.constraints) == 2


def test_callbacks_get_the_step() -> None:
    scene, _ = hanging_rope()
    seen: list[tuple[str, float]] = []
    play = ScenePlay(
        scene, before_step=lambda dt: seen.append(("before", dt)), after_step=lambda dt: seen.append(("after", dt))
    )
    play.step()
    assert seen == [("before", 5e-3), ("after", 5e-3)]


@pytest.mark.parametrize("options", [{"dt": 0.0}, {"dt": "x"}, {"before_step": 3}, {"camera": ((0, 0), (1, 1, 1))}])
def test_bad_input(options: dict[str, Any]) -> None:
    scene, _ = hanging_rope()
    with pytest.raises(sn.InputError):
        ScenePlay(scene, **options)


def test_the_hand_is_as_strong_as_what_hangs_on_the_body() -> None:
    """A thread that carries a load is held by a hand that can carry both."""
    scene, rope = hanging_rope()
    alone = touch_for(scene, rope.at(0.5))
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=50.0, position=(0, 0, 0.9)))
    scene.add(sn.Ball(rope.at(rope.length), ball.at((0, 0, 0.1))))
    loaded = touch_for(scene, rope.at(0.5))
    assert loaded.stiffness * 0.02 > 50.0 * 9.81  # 2 cm under the load
    assert loaded.stiffness > 50.0 * alone.stiffness
    assert loaded.force > 50.0 * 9.81
    assert loaded.reach == loaded.force / loaded.stiffness and loaded.fastest == loaded.force / loaded.damping


def test_grabbing_and_reset_keep_rules_and_friction() -> None:
    """A hand that comes and goes makes the tables anew; a control may set friction, and a reset takes it back."""
    scene = sn.Scene()
    floor = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(0, 0, 0.05)))
    box.velocity = (0.3, 0.0, 0.0)
    pair = scene.collide(box, floor, friction=0.3)
    for _ in range(3):
        scene.step(5e-3)
    play = ScenePlay(scene)
    force = pair.force
    assert force[0] < -0.1  # it slides
    play.grab(part_of(play, box), (0.0, 0.0, 0.05))
    np.testing.assert_array_equal(pair.force, force)
    assert len(scene._compiled().system.touching.kept().forces) == pair.count == 4
    play.step()
    play.release()
    assert pair.touching
    pair.friction = 0.9
    play.step()
    play.reset()
    assert pair.friction == 0.3 and len(scene._rules.rules) == 1
    np.testing.assert_array_equal(pair.force, force)
