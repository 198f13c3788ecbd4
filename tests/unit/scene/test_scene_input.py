"""Every mistake with a scene gets an InputError that quotes the value, and changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from unit.scene import kit
from unit.scene.kit import ROPE, SOFT, refused

import sennit as sn

NAN = float("nan")


@pytest.fixture
def world():
    """A rope held by one end, a box beside it, a little motion in both."""
    scene = sn.Scene()
    rope = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=ROPE, material=SOFT, control_points=8))
    box = scene.add(sn.RigidBody.box(size=(0.1, 0.1, 0.1), mass=0.2, position=(0.5, 0.5, 0)))
    scene.add(sn.Clamp(rope.at(0.0)))
    scene.run(0.02, dt=0.01)
    return scene, rope, box


# --- bodies


def straight(**change):
    given = {"section": ROPE, "material": SOFT, "control_points": 8, **change}
    start, end = given.pop("start", (0, 0, 0)), given.pop("end", (1, 0, 0))
    return sn.Rod.straight(start, end, **given)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"control_points": 3}, ["control_points", "3", "4"]),
        ({"control_points": 0}, ["control_points", "0"]),
        ({"control_points": 7.5}, ["control_points", "7.5"]),
        ({"end": (0, 0, 0)}, ["0"]),
        ({"end": (0, NAN, 0)}, ["nan"]),
        ({"start": (0, 0)}, ["(0, 0)"]),
        ({"section": 3.0}, ["section", "3.0"]),
        ({"material": None}, ["material", "None"]),
        ({"model": "beam"}, ["model", "'beam'", "spline", "discrete"]),
    ],
)
def test_straight_rods(change: dict, words: list[str]) -> None:
    refused(lambda: straight(**change), *words)


CIRCLE = [(np.cos(a), np.sin(a), 0.0) for a in np.linspace(0, 2 * np.pi, 12, endpoint=False)]


@pytest.mark.parametrize(
    ("points", "change", "words"),
    [
        ([(0, 0, 0), (1, 0, 0), (1, 0, 0), (2, 0, 0)], {}, []),
        ([(0, 0, 0), (1, 0, NAN), (1, 0, 0), (2, 0, 0)], {}, ["nan"]),
        ([(0, 0, 0)], {}, []),
        (CIRCLE, {"closed": True, "model": "discrete"}, ["closed", "discrete"]),
        (CIRCLE, {"control_points": 3, "closed": True}, ["control_points", "3"]),
    ],
)
def test_rods_through_points(points: list, change: dict, words: list[str]) -> None:
    given = {"section": ROPE, "material": SOFT, "control_points": 8, **change}
    refused(lambda: sn.Rod.through(points, **given), *words)


@pytest.mark.parametrize("s", [-0.1, 1.1, NAN, "end"])
def test_points_outside_the_rod(world, s) -> None:
    _, rope, _ = world
    refused(lambda: rope.at(s), str(s))


@pytest.mark.parametrize(
    "make",
    [
        lambda: sn.RigidBody.box(size=(1, 1, 0), mass=1),
        lambda: sn.RigidBody.box(size=(1, 1, 1), mass=0),
        lambda: sn.RigidBody.box(size=(1, 1, 1), mass=-1),
        lambda: sn.RigidBody.sphere(radius=-1, mass=1),
        lambda: sn.RigidBody.box(size=(1, 1, 1), mass=1, position=(0, NAN, 0)),
        lambda: sn.RigidBody.from_inertia(1.0, np.diag((1.0, 1.0, 3.0))),  # more than the sum of the others
        lambda: sn.RigidBody.from_inertia(1.0, np.diag((1.0, 1.0, -1.0))),
    ],
)
def test_rigid_bodies(make) -> None:
    refused(make)


@pytest.mark.parametrize("name", ["velocity", "angular_velocity", "pose"])
def test_setting_a_body_to_nothing(world, name: str) -> None:
    scene, _, box = world
    before = kit.bits(scene)
    refused(lambda: setattr(box, name, (0, NAN, 0)))
    assert kit.bits(scene) == before


# --- scenes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"gravity": (0, 0, NAN)}, ["gravity", "nan"]),
        ({"gravity": -9.81}, ["gravity", "-9.81"]),
        ({"drag": -1.0}, ["drag", "-1.0"]),
        ({"integrator": "leapfrog"}, ["integrator", "'leapfrog'", "euler", "bdf2", "midpoint"]),
    ],
)
def test_scene_arguments(arguments: dict, words: list[str]) -> None:
    refused(lambda: sn.Scene(**arguments), *words)


@pytest.mark.parametrize("dt", [0.0, -0.01, NAN, float("inf"), "short"])
def test_steps(world, dt) -> None:
    scene, _, _ = world
    before = kit.bits(scene)
    refused(lambda: scene.step(dt), "dt", str(dt))
    refused(lambda: scene.run(0.1, dt=dt), "dt", str(dt))
    assert kit.bits(scene) == before


@pytest.mark.parametrize("duration", [-1.0, NAN])
def test_run_backwards(world, duration: float) -> None:
    refused(lambda: world[0].run(duration, dt=0.01), str(duration))


@pytest.mark.parametrize("thing", [None, 3.0, "rope", ROPE])
def test_adding_what_is_no_part_of_a_scene(world, thing) -> None:
    scene, _, _ = world
    before = kit.bits(scene)
    refused(lambda: scene.add(thing))
    assert kit.bits(scene) == before


def test_the_same_body_twice(world) -> None:
    scene, rope, box = world
    before = kit.bits(scene)
    refused(lambda: scene.add(rope))
    refused(lambda: scene.add(box))
    assert kit.bits(scene) == before


def test_a_body_of_another_scene(world) -> None:
    _, rope, _ = world
    other = sn.Scene()
    refused(lambda: other.add(rope))
    assert len(other.bodies) == 0


def test_the_same_constraint_twice(world) -> None:
    scene, rope, _ = world
    grip = scene.add(sn.Fix(rope.at(1.0)))
    before = kit.bits(scene)
    refused(lambda: scene.add(grip), "Fix")
    assert kit.bits(scene) == before
    scene.step(0.01)


def test_a_body_that_is_not_in_the_scene(world) -> None:
    scene, rope, box = world
    stray = straight()
    before = kit.bits(scene)
    refused(lambda: scene.add(sn.Fix(stray.at(0.0))))
    refused(lambda: scene.add(sn.Fuse(box.at((0, 0, 0)), stray.at(0.0))))
    refused(lambda: scene.add(sn.Load(stray.at(0.0), force=(0, 0, 1))))
    refused(lambda: scene.add(sn.Keyhole(stray, at=0.5, hole=rope.at(0.5))))
    refused(lambda: scene.add(sn.Pearl(stray, at=0.5, mass=0.1, radius=0.01)))
    assert kit.bits(scene) == before
    scene.step(0.01)


def test_removing_what_is_not_there(world) -> None:
    scene, rope, _ = world
    before = kit.bits(scene)
    refused(lambda: scene.remove(sn.Fix(rope.at(1.0))))
    assert kit.bits(scene) == before


def test_removing_a_body_that_is_held(world) -> None:
    """Either refused, or its constraints go with it; never a scene that can't step."""
    scene, rope, _ = world
    try:
        scene.remove(rope)
    except sn.InputError as error:
        assert "Clamp" in str(error)
    scene.step(0.01)


# --- constraints


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p, q, rope: sn.Fix(p, compliance=-1.0), ["compliance", "-1.0"]),
        (lambda p, q, rope: sn.Fix(p, damping=-1.0), ["damping", "-1.0"]),
        (lambda p, q, rope: sn.Fix(p, compliance=NAN), ["compliance", "nan"]),
        (lambda p, q, rope: sn.Clamp(p, angular_compliance=-2.0), ["angular_compliance", "-2.0"]),
        (lambda p, q, rope: sn.Clamp(p, angular_damping=-2.0), ["angular_damping", "-2.0"]),
        (lambda p, q, rope: sn.Fix((0, 0, 0)), ["(0, 0, 0)"]),
        (lambda p, q, rope: sn.Align(p, (0, 0, 0)), ["direction"]),
        (lambda p, q, rope: sn.OnPlane(p, (0, 0, 0)), ["normal"]),
        (lambda p, q, rope: sn.OnPlane(p, (0, 0, 1), bound="sometimes"), ["bound", "'sometimes'", "at_least"]),
        (lambda p, q, rope: sn.OnPlane(p, (0, 0, 1), through=(0, 0, NAN)), ["through", "nan"]),
        (lambda p, q, rope: sn.OnAxis(p, (0, NAN, 0)), ["direction", "nan"]),
        (lambda p, q, rope: sn.OnSphere(p, (0, 0, 0), -1.0), ["radius", "-1.0"]),
        (lambda p, q, rope: sn.OnCircle(p, (0, 0, 0), (0, 0, 1), 0.0), ["radius", "0.0"]),
        (lambda p, q, rope: sn.Follow(p, (0, 0, 0)), ["path"]),
        (lambda p, q, rope: sn.Distance(p, q, length=-1.0), ["length", "-1.0"]),
        (lambda p, q, rope: sn.Distance(p, q, bound="less"), ["bound", "'less'", "at_most"]),
        (lambda p, q, rope: sn.Distance(p, p), []),
        (lambda p, q, rope: sn.Hinge(p, q, axis=(0, 0, 0)), ["axis"]),
        (lambda p, q, rope: sn.Hinge(p, q, axis=(0, 0, 1), limits=(1.0, -1.0)), ["limits", "1.0", "-1.0"]),
        (lambda p, q, rope: sn.Prismatic(p, q, axis=(0, 0, 1), limits=(1.0, NAN)), ["limits", "nan"]),
        (lambda p, q, rope: sn.Screw(p, q, axis=(0, 0, 0), lead=0.1), ["axis"]),
        (lambda p, q, rope: sn.Screw(p, q, axis=(0, 0, 1), lead=0.0), ["lead", "0.0", "Hinge"]),
        (lambda p, q, rope: sn.Screw(p, q, axis=(0, 0, 1), lead=NAN), ["lead", "nan"]),
        (lambda p, q, rope: sn.Hinge(p, q, axis=(0, 0, 1), motor="fast"), ["motor", "'fast'"]),
        (lambda p, q, rope: sn.Motor(speed=NAN), ["speed", "nan"]),
        (lambda p, q, rope: sn.Motor(speed=1.0, max_torque=-1.0), ["max_torque", "-1.0"]),
        (lambda p, q, rope: sn.Keyhole(rope, at=1.5, hole=q), ["1.5"]),
        (lambda p, q, rope: sn.Keyhole(rope, at=0.5, hole=q, friction=-0.1), ["friction", "-0.1"]),
        (lambda p, q, rope: sn.Keyhole(rope, at=0.5, hole=q, sliding_drag=-0.1), ["sliding_drag", "-0.1"]),
        (lambda p, q, rope: sn.Keyhole(rope, at=0.5, hole=q, speed=NAN), ["speed", "nan"]),
        (lambda p, q, rope: sn.Keyhole(rope, at=0.5, hole=(0, NAN, 0)), ["hole", "nan"]),
        (lambda p, q, rope: sn.Keyhole(rope, at=0.5), ["hole"]),
        (lambda p, q, rope: sn.Slider(rope, at=-0.5), ["-0.5"]),
        (lambda p, q, rope: sn.Slider(rope, at=0.5, mass=-1.0), ["mass", "-1.0"]),
        (lambda p, q, rope: sn.Slider(rope, at=0.5, friction=-1.0), ["friction", "-1.0"]),
        (lambda p, q, rope: sn.Pearl(rope, at=0.5, mass=0.0, radius=0.01), ["mass", "0.0"]),
        (lambda p, q, rope: sn.Pearl(rope, at=0.5, mass=0.1, radius=-0.01), ["radius", "-0.01"]),
        (lambda p, q, rope: sn.Pearl(rope, at=0.5, mass=0.1, radius=0.01, restitution=1.5), ["restitution", "1.5"]),
        (lambda p, q, rope: sn.Pearl(rope, at=0.5, mass=0.1, radius=0.01, friction=-0.2), ["friction", "-0.2"]),
        (lambda p, q, rope: sn.Load(p, force=(0, NAN, 0)), ["force", "nan"]),
        (lambda p, q, rope: sn.Load(p, torque=(0, 0)), ["torque", "(0, 0)"]),
    ],
)
def test_constraint_arguments(world, make, words: list[str]) -> None:
    scene, rope, box = world
    before = kit.bits(scene)
    # refused when it is made, or at the latest when it is added
    refused(lambda: scene.add(make(rope.at(0.5), box.at((0, 0, 0)), rope)), *words)
    assert kit.bits(scene) == before


def test_a_slider_has_no_roll_to_hold(world) -> None:
    scene, rope, box = world
    bead = scene.add(sn.Slider(rope, at=0.5, mass=0.1))
    before = kit.bits(scene)
    for make in (
        lambda: sn.Clamp(bead.at()),
        lambda: sn.Fuse(bead.at(), box.at((0, 0, 0))),
        lambda: sn.Hinge(bead.at(), box.at((0, 0, 0)), axis=(0, 0, 1)),
        lambda: sn.Prismatic(box.at((0, 0, 0)), bead.at(), axis=(0, 0, 1)),
        lambda: sn.Screw(bead.at(), box.at((0, 0, 0)), axis=(0, 0, 1), lead=0.1),
    ):
        refused(lambda make=make: scene.add(make()))
    assert kit.bits(scene) == before


def test_a_discrete_rod_has_no_sliders() -> None:
    scene = sn.Scene()
    chain = scene.add(straight(model="discrete"))
    anchor = sn.World.at((0.5, 0, 0))
    for make in (
        lambda: sn.Slider(chain, at=0.5, mass=1.0),
        lambda: sn.Keyhole(chain, at=0.5, hole=anchor),
        lambda: sn.Pearl(chain, at=0.5, mass=0.1, radius=0.01),
    ):
        refused(lambda make=make: scene.add(make()), "discrete")
    scene.step(0.01)


@pytest.mark.parametrize("target", [(0, NAN, 0), (0, 0), "up", None])
def test_targets(world, target) -> None:
    scene, rope, _ = world
    grip = scene.add(sn.Fix(rope.at(1.0)))
    before, old = kit.bits(scene), np.array(grip.target)
    with pytest.raises(sn.InputError):
        grip.target = target
    assert kit.bits(scene) == before
    assert np.array_equal(grip.target, old)


def test_a_moved_world_point(world) -> None:
    anchor = sn.World.at((0, 0, 1))
    with pytest.raises(sn.InputError, match="nan"):
        anchor.position = (0, 0, NAN)
    assert np.array_equal(anchor.position, (0, 0, 1))


@pytest.mark.parametrize("answer", [(0, NAN, 0), (0, 0), "here"])
def test_a_path_that_leads_nowhere(world, answer) -> None:
    scene, rope, _ = world
    ends = {"at": tuple(rope.at(1.0).position)}
    scene.add(sn.Follow(rope.at(1.0), lambda t: ends["at"]))
    scene.step(0.01)
    before = kit.bits(scene)
    ends["at"] = answer
    refused(lambda: scene.step(0.01))
    assert kit.bits(scene) == before


def test_contradictory_targets_are_named_and_nothing_moves(world) -> None:
    scene, rope, _ = world
    first = scene.add(sn.Fix(rope.at(1.0)))
    second = scene.add(sn.Fix(rope.at(1.0), np.add(first.target, (0, 0.01, 0))))
    before = kit.bits(scene)
    message = refused(lambda: scene.step(0.01))
    assert message.count("Fix") >= 2, message
    assert kit.bits(scene) == before
    second.target = first.target
    scene.step(0.01)
    assert np.abs(rope.at(1.0).position - first.target).max() < 1e-9


def test_targets_that_contradict_each_other_later_yield(world) -> None:
    scene, rope, _ = world
    first = scene.add(sn.Fix(rope.at(1.0), name="first"))
    second = scene.add(sn.Fix(rope.at(1.0), name="second"))
    scene.step(0.01)
    second.target = np.add(first.target, (0, 0.01, 0))
    scene.run(0.1, dt=0.01)
    (event,) = [event for event in scene.events if event.kind == "yielded"]
    assert "first" in event.message and "second" in event.message
    assert np.abs(rope.at(1.0).position - first.target).max() < 0.011
    second.target = first.target
    scene.run(0.1, dt=0.01)
    assert np.abs(rope.at(1.0).position - first.target).max() < 1e-9


def test_a_distance_that_two_fixed_ends_forbid(world) -> None:
    scene, rope, box = world
    scene.add(sn.Fix(rope.at(1.0)))
    scene.add(sn.Fix(box.at((0, 0, 0))))
    scene.add(sn.Distance(rope.at(1.0), box.at((0, 0, 0)), length=0.3))
    before = kit.bits(scene)
    message = refused(lambda: scene.step(0.01))
    assert "Fix" in message
    assert "Distance" in message
    assert kit.bits(scene) == before


def test_a_step_that_leaves_the_numbers(world) -> None:
    scene, rope, _ = world
    storm = scene.add(sn.Load(rope.at(1.0), force=(0, 0, 1e308)))
    before = kit.bits(scene)
    with pytest.raises(sn.SolveError) as caught:
        scene.step(1.0)
    assert "finite" in str(caught.value)
    assert kit.bits(scene) == before
    scene.remove(storm)
    scene.step(0.01)
    assert np.isfinite(rope.centerline(20)).all()


def test_a_snapshot_of_another_scene(world) -> None:
    scene, _, _ = world
    other = sn.Scene()
    other.add(straight())
    refused(lambda: other.restore(scene.snapshot()))
