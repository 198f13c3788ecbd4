"""The same program gives the same bits; a snapshot and a file continue as if nothing had happened."""

from __future__ import annotations

import numpy as np
import pytest
from unit.scene import kit
from unit.scene.kit import ROPE, SOFT, STIFF, WIRE

import sennit as sn

DT = 0.01
STEPS = 12


def busy(integrator: str = "euler"):
    """Something of everything: joints, a keyhole with friction, pearls that meet, one-sided rows, a moved grip."""
    scene = sn.Scene(integrator=integrator)
    rope = scene.add(sn.Rod.straight((0, 0, 1), (1, 0, 1), section=ROPE, material=SOFT, control_points=9))
    chain = scene.add(
        sn.Rod.straight((0, 1, 1), (0.5, 1, 1), section=ROPE, material=SOFT, control_points=6, model="discrete")
    )
    wire = scene.add(sn.Rod.straight((0, 2, 1), (1, 2, 0.7), section=WIRE, material=STIFF, control_points=8))
    ring = kit.ring(scene, (1, -1, 1))
    box = scene.add(sn.RigidBody.box(size=(0.2, 0.2, 0.2), mass=0.3, position=(0.5, 1, 0.8)))
    scene.add(sn.Clamp(rope.at(0.0)))
    grip = scene.add(sn.Fix(rope.at(1.0)))
    scene.add(sn.Keyhole(rope, at=0.5, hole=sn.World.at((0.5, 0, 1)), friction=0.1))
    scene.add(sn.Fix(chain.at(0.0)))
    scene.add(sn.Ball(chain.at(0.5), box.at((0, 0, 0.1))))
    scene.add(sn.OnPlane(box.at((0, 0, -0.1)), (0, 0, 1), through=(0, 0, 0.69), bound="at_least"))
    scene.add(sn.Clamp(wire.at(0.0)))
    scene.add(sn.Clamp(wire.at(wire.length)))
    scene.add(sn.Pearl(wire, at=0.2, mass=0.01, radius=0.02))
    scene.add(sn.Pearl(wire, at=0.25, mass=0.02, radius=0.02, friction=0.3))
    scene.add(sn.Distance(ring, sn.World.at((1, -1, 1.1)), length=0.2, bound="at_most"))
    return scene, grip


def go(scene, grip, first: int = 0, last: int = STEPS) -> None:
    for k in range(first, last):
        grip.target = (1 - 0.002 * k, 0, 1)
        scene.step(DT)


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
def test_the_same_program(integrator: str) -> None:
    ends = []
    for _ in range(2):
        scene, grip = busy(integrator)
        go(scene, grip)
        ends.append(kit.bits(scene))
    assert ends[0] == ends[1]


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
def test_a_snapshot_continues_the_same(integrator: str) -> None:
    scene, grip = busy(integrator)
    go(scene, grip, 0, 5)
    there = scene.snapshot()
    go(scene, grip, 5)
    straight_on = kit.bits(scene)
    scene.restore(there)
    assert kit.bits(scene) == kit.bits(there)
    go(scene, grip, 5)
    assert kit.bits(scene) == straight_on


def test_a_snapshot_is_not_touched_by_what_follows() -> None:
    scene, grip = busy()
    go(scene, grip, 0, 3)
    there = scene.snapshot()
    before = kit.bits(there)
    go(scene, grip, 3, 8)
    assert kit.bits(there) == before


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
def test_a_file_continues_the_same(integrator: str, tmp_path) -> None:
    scene, grip = busy(integrator)
    go(scene, grip, 0, 5)
    path = tmp_path / "scene.npz"
    scene.save(path)
    go(scene, grip, 5)
    other = sn.Scene.load(path)
    assert other.time == pytest.approx(5 * DT)
    (other_grip,) = [c for c in other.constraints if isinstance(c, sn.Fix) and np.allclose(c.target, (0.992, 0, 1))]
    go(other, other_grip, 5)
    assert kit.bits(other) == kit.bits(scene)


def test_what_is_read_does_not_change_what_follows() -> None:
    ends = []
    for look in (False, True):
        scene, grip = busy()
        for k in range(STEPS):
            go(scene, grip, k, k + 1)
            if look:
                for body in scene.bodies:
                    if isinstance(body, sn.Rod):
                        body.centerline(7), body.frames(7), body.curvatures(7), body.tensions(7), body.at(0.1).frame
                assert np.isfinite(scene.energy.total)
                for c in scene.constraints:
                    assert np.isfinite(np.array(c.violation)).all()
        ends.append(kit.bits(scene))
    assert ends[0] == ends[1]


def test_a_file_of_what_nothing_holds_continues_the_same(tmp_path) -> None:
    """The first step after loading puts a free group where its momentum takes it, for which it needs its mass."""
    scene = sn.Scene(gravity=(0, 0, 0))
    string = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=ROPE, material=SOFT, control_points=6))
    string.set_velocity((0.5, 0, 0), (0, 3, 2))
    pearl = scene.add(sn.Pearl(string, at=0.3, mass=0.2, radius=0.01))
    pearl.sliding_velocity = 0.8
    for _ in range(2):
        scene.step(DT)
    path = tmp_path / "scene.npz"
    scene.save(path)
    other = sn.Scene.load(path)
    for each in (scene, other):
        each.step(DT)
    assert kit.bits(other) == kit.bits(scene)
