"""Friction of cables and sheaves that is set while they run: Euler and Eytelwein hold with the new number at once."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from unit.scene.kit import bits
from verification.cables.test_capstan import capstan
from verification.cables.test_rubbing import PULL, pulled

import sennit as sn
from sennit import InputError

H = 1 / 120


@pytest.mark.parametrize("turns", [0, 1])
@pytest.mark.parametrize("new", [0.05, 0.3])
def test_a_bollard_slides_at_the_new_ratio(new: float, turns: int, validated: Any) -> None:
    theta = math.pi + 2 * math.pi * turns
    heavy = 10.0 * math.exp(max(new, 0.1) * theta) * 1.3
    scene, _, two, drum, cable = capstan(10.0, heavy, 0.1, turns)
    cable.damping = 3000.0  # a cable that is suddenly held twice as tight would ring on
    scene.run(0.05, dt=H)
    drum.friction = new
    assert drum.friction == new
    scene.run(0.3, dt=H)
    t, v = scene.time, two.velocity[2]
    scene.run(0.3, dt=H)
    t1, t2 = cable.tensions
    rho = math.exp(new * theta)
    validated(
        "Bollard whose friction is set while a cable slides on it", area="cables", quantity="ratio of tensions",
        reference="Euler and Eytelwein: exp(μθ)", error=abs(t2 / t1 / rho - 1), bound=1e-3,
    )  # fmt: skip
    expected = 9.81 * (heavy - 10.0 * rho) / (heavy + 10.0 * rho)
    validated(
        "Bollard whose friction is set while a cable slides on it", area="cables", quantity="acceleration",
        reference="Newton, with that ratio", error=abs((v - two.velocity[2]) / (scene.time - t) / expected - 1),
        bound=2e-3,
    )  # fmt: skip


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "fourth"])
@pytest.mark.parametrize("kind", ["cylinder", "sphere", "box"])
def test_a_body_in_its_way_at_the_new_ratio(kind: str, integrator: str, validated: Any) -> None:
    scene, _, two, _, cable, ratio, ways = pulled(kind, 0.3, 1.2, masses=(20, 20), integrator=integrator)
    scene.run(0.15, dt=H)
    cable.friction = 0.2
    assert cable.friction == (0.2,)
    scene.run(0.1, dt=H)
    t, v = scene.time, two.velocity @ ways[1]
    scene.run(0.1, dt=H)
    (wrap,) = cable.wraps
    rho = math.exp(0.2 * wrap.angle)
    validated(
        "Body in a cable's way whose friction is set while it slides", area="cables", quantity="ratio of tensions",
        reference="Euler and Eytelwein: exp(μθ)", error=abs(wrap.leaving / wrap.arriving / rho - 1), bound=1e-12,
    )  # fmt: skip
    gained = (two.velocity @ ways[1] - v) / (scene.time - t)
    expected = (1.2 * PULL * ratio - PULL * rho) / (20 * (1 + rho))
    validated(
        "Body in a cable's way whose friction is set while it slides", area="cables", quantity="acceleration",
        reference="Newton, with that ratio", error=abs(gained / expected - 1), bound=2e-3,
    )  # fmt: skip


@pytest.mark.parametrize("new", [0.299, 0.301])
def test_what_slides_is_held_by_more_friction_and_let_go_by_less(new: float) -> None:
    """Pulled by e^{0.3 θ}: 0.301 holds it, 0.299 lets it slide, whatever was before."""
    for before in (0.4, 0.31):
        scene, one, two, _, cable, *_ = pulled("cylinder", 0.3, 1.0)
        cable.friction = before
        scene.drag = 20.0  # pulled at once it would jolt
        scene.run(2.0, dt=H)
        scene.drag = 0.0
        cable.friction = [new]
        at = np.concatenate((one.position, two.position))
        scene.run(2.0, dt=H)
        way = float(np.abs(np.concatenate((one.position, two.position)) - at).max())
        assert way < 1e-9 if new > 0.3 else way > 1e-3


def running(on_post: float = 0.02, on_drum: float = 0.05) -> tuple[sn.Scene, sn.Cable, sn.Sheave]:
    """A cable over a bollard and a post, with two weights."""
    scene = sn.Scene(integrator="bdf2")
    one = scene.add(sn.RigidBody.sphere(0.05, mass=8, position=(-0.15, 0, -2)))
    two = scene.add(sn.RigidBody.sphere(0.05, mass=12, position=(3.7, 0, -2)))
    post = scene.add(
        sn.RigidBody.cylinder(0.3, 1.0, mass=5, pose=sn.Pose.along((1.85, 0, -1.1), (0, 1, 0)), name="post")
    )
    scene.add(sn.Lock(post.at(), sn.World.at((1.85, 0, -1.1))))
    drum = sn.Sheave(sn.World.at((0, 0, 0)), axis=(0, 1, 0), radius=0.15, friction=on_drum, fixed=True)
    points = [one.at(), drum, two.at()]
    cable = scene.add(sn.Cable(points, stretch_stiffness=1e5, around=[post], friction=on_post, name="line"))
    return scene, cable, drum


def test_equal_to_one_made_so() -> None:
    """To the last bit, on bodies that it lies on and comes to lie on."""
    (scene, cable, drum), (made, _, _), (other, _, _) = running(), running(0.1, 0.2), running()
    assert cable.wraps
    cable.friction, drum.friction = 0.1, 0.2
    for each in (scene, made, other):
        each.run(0.5, dt=H)
    assert np.array_equal(scene.bodies[0].position, made.bodies[0].position)
    assert not np.array_equal(scene.bodies[0].position, other.bodies[0].position)


@pytest.mark.parametrize("how", ["snapshot", "reset", "file", "pickle", "batch"])
def test_it_goes_with_the_state(how: str, tmp_path: Any) -> None:
    scene, cable, drum = running()
    scene.run(0.2, dt=H)
    cable.friction, drum.friction = 0.1, 0.2
    if how == "reset":
        scene.run(0.1, dt=H)
        scene.reset()
        assert (cable.friction, drum.friction) == ((0.02,), 0.05), "as it was when the scene first moved"
        return
    kept = scene.snapshot()
    if how == "file":
        scene.save(tmp_path / "scene.npz")
        sent = sn.Scene.load(tmp_path / "scene.npz")
    elif how == "pickle":
        sent = pickle.loads(pickle.dumps(scene))
    elif how == "batch":
        sent = sn.Batch(scene, 2).scene(1)
    else:
        sent = scene
    scene.run(0.2, dt=H)
    after = bits(scene)
    if how == "snapshot":
        cable.friction, drum.friction = 0.5, 0.7
        scene.restore(kept)
        assert (cable.friction, drum.friction) == ((0.1,), 0.2)
    line = next(c for c in sent.constraints if isinstance(c, sn.Cable))
    assert line.friction == (0.1,)
    assert [s.friction for s in line.sheaves if s is not None] == [0.2]
    sent.run(0.2, dt=H)
    assert bits(sent) == after


def test_files_from_before_friction_could_be_set_are_read(tmp_path: Any) -> None:
    """They have that of bodies in their description alone; and what is not possible is refused."""
    scene, _, _ = running()
    scene.run(0.2, dt=H)
    scene.save(tmp_path / "new.npz")
    with np.load(tmp_path / "new.npz") as data:
        arrays = dict(data)
    (name,) = [name for name in arrays if name.endswith("obstacles.friction")]
    older = {key: array for key, array in arrays.items() if key != name}
    np.savez(tmp_path / "old.npz", **older)
    sent = sn.Scene.load(tmp_path / "old.npz")
    scene.run(0.2, dt=H)
    sent.run(0.2, dt=H)
    assert bits(sent) == bits(scene)
    for wrong in (-0.1, 0.0, math.inf, math.nan):
        np.savez(tmp_path / "bad.npz", **(arrays | {name: np.full(1, wrong)}))
        with pytest.raises(InputError, match="is not a scene that sennit saved"):
            sn.Scene.load(tmp_path / "bad.npz")


def test_friction_of_cables_differs_from_scene_to_scene() -> None:
    scene, cable, drum = running()
    scene.run(0.1, dt=H)
    batch = sn.Batch(scene, 3)
    bodies, drums = np.array(((0.01,), (0.1,), (0.3,))), np.array((0.02, 0.2, 0.04))
    batch.vary(cable, "friction", bodies)
    batch.vary(drum, "friction", drums)
    batch.step(H, 30)
    for i in range(3):
        own, line, wheel = running()
        own.run(0.1, dt=H)
        line.friction, wheel.friction = bodies[i], drums[i]
        for _ in range(30):
            own.step(H)
        assert np.array_equal(batch.positions(scene.bodies[0])[i], own.bodies[0].position)
    batch.reset()
    assert np.array_equal(batch.read(cable, "friction"), bodies)
    with pytest.raises(InputError, match="scene 1: friction of line on post, made with some"):
        batch.vary(cable, "friction", np.array(((0.01,), (0.0,), (0.3,))))


@pytest.mark.parametrize("in_scene", [True, False])
def test_bad_friction_changes_nothing(in_scene: bool) -> None:
    scene, cable, drum = running()
    ball = sn.RigidBody.sphere(0.3, mass=1.0, position=(0, 0, 5), name="ball")
    smooth = sn.Cable(
        [sn.World.at((-1, 0, 5)), sn.World.at((1, 0, 5))], stretch_stiffness=1e3, around=[ball], name="smooth"
    )
    free = sn.Sheave(sn.World.at((0, 0, 0)), axis=(0, 1, 0), radius=0.15, friction=0.0)
    bare = sn.Cable([sn.World.at((-1, 0, 5)), sn.World.at((1, 0, 5))], stretch_stiffness=1e3, name="bare")
    if in_scene:
        scene.step(H)
    before = scene.snapshot()
    cases = [
        (lambda: setattr(cable, "friction", 0.0), "friction of line on post, made with some, must stay above 0"),
        (lambda: setattr(cable, "friction", -0.1), "friction must not be negative, got -0.1"),
        (lambda: setattr(cable, "friction", (0.1, 0.2)), "friction must be an array"),
        (lambda: setattr(cable, "friction", math.inf), "friction must hold finite numbers"),
        (lambda: setattr(cable, "friction", "much"), "friction must be an array"),
        (
            lambda: setattr(smooth, "friction", 0.2),
            "friction of smooth on ball can't be set to 0.2: it was made without",
        ),
        (lambda: setattr(bare, "friction", 0.2), "bare was made without bodies in around="),
        (lambda: setattr(drum, "friction", 0.0), "can't become 0.0: it must stay above 0"),
        (lambda: setattr(drum, "friction", -1.0), "friction must"),
        (lambda: setattr(free, "friction", 0.1), "made without any, can't become 0.1: make it with a little"),
    ]
    for act, text in cases:
        with pytest.raises(InputError, match=text):
            act()
    assert bits(scene) == bits(before)
    assert (smooth.friction, free.friction) == ((0.0,), 0.0)
    drum.friction = None
    assert drum.friction == math.inf
    smooth.friction = 0.0
