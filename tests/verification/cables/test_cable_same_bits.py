"""Scenes with cables: the same program gives the same bits; a snapshot and a file go on as if nothing had happened."""

from __future__ import annotations

import numpy as np
import pytest
from references.rotation import exp
from unit.scene import kit
from verification.cables.rig import ROPE, STEEL, ball, rope

import sennit as sn

DT = 0.01


def busy(integrator: str = "euler"):
    """A winch with slip, a massive wheel, a bollard with turns, a peg, a box's edge, a ring, a broken cable, a rod."""
    scene = sn.Scene(integrator=integrator)
    box = scene.add(sn.RigidBody.box(size=(1, 1, 1), mass=100.0, position=(0, 0, -4)))
    box.angular_velocity = (0.3, 0.2, 1.0)
    winch = scene.add(sn.Cable([sn.World.at((0, 0, 0)), box.at((0.1, 0, 0.5))], ROPE, STEEL, longest=3.6, name="winch"))
    winch.drive(speed=0.4, slip=1e-5)

    one, two = ball(scene, 10.0, (3.8, 0, -2)), ball(scene, 14.0, (4.2, 0, -3))
    wheel = sn.Sheave(sn.World.at((4, 0, 0)), axis=(0, 1, 0), radius=0.2, inertia=0.1, friction=0.3)
    scene.add(rope([one.at(), wheel, two.at()], 1e5, name="machine"))

    three, four = ball(scene, 10.0, (5.8, 0, -2)), ball(scene, 40.0, (6.2, 0, -3))
    drum = sn.Sheave(sn.World.at((6, 0, 0)), axis=(0, 1, 0), radius=0.2, friction=0.1, fixed=True, turns=1)
    scene.add(rope([three.at(), drum, four.at()], 1e5, name="capstan"))

    peg = sn.RigidBody.cylinder(0.1, 1.0, mass=1.0)
    peg.pose = sn.Pose.from_rotation((8.15, 0, -1.0), exp(np.array([np.pi / 2, 0, 0])))
    block = sn.RigidBody.box(size=(0.2, 0.6, 0.2), mass=1.0, position=(8.5, 0, -1.5))
    for body in (peg, block):
        scene.add(body)
        scene.add(sn.Clamp(body.at()))
    bob = ball(scene, 1.0, (8.0 - 2 * np.sin(0.5), 0.1, -2 * np.cos(0.5)), radius=0.02)
    scene.add(rope([sn.World.at((8, 0, 0)), bob.at()], 1e5, around=[peg, block], name="pendulum"))

    ring = ball(scene, 5.0, (10, 0, -1))
    scene.add(rope([sn.World.at((9, 0, 0)), ring.at(), sn.World.at((11, 0, 0))], 1e5, name="ropeway"))
    load = ball(scene, 5.0, (10, 0, -2))
    scene.add(rope([ring.at(), load.at()], 1e5, length=1.05, breaking_load=20.0, name="thread"))

    rod = scene.add(
        sn.Rod.straight((12, 0, 0), (13, 0, 0), section=sn.Section.circle(5e-3), material=kit.SOFT, control_points=8)
    )
    scene.add(sn.Clamp(rod.at(0.0)))
    weight = ball(scene, 0.05, (13, 0, -0.5))
    scene.add(rope([rod.at(1.0), weight.at()], 1e4, name="line"))
    return scene


def winch_of(scene) -> sn.Cable:
    (found,) = [c for c in scene.constraints if isinstance(c, sn.Cable) and c.name == "winch"]
    return found


def go(scene, first: int, last: int) -> None:
    for k in range(first, last):
        if k == 30:
            winch_of(scene).drive(speed=-0.3, max_pull=2000.0)
        if k == 60:
            winch_of(scene).brake()
        if k == 80:
            winch_of(scene).length -= 0.01
        scene.step(DT)


def read(scene) -> list:
    """What users read, exactly."""
    out = []
    for c in scene.constraints:
        if isinstance(c, sn.Cable):
            out += [c.length, c.tension, *c.tensions, c.torque, c.twist, c.elongation, c.path_length, c.broken, c.slack]
            out.append(np.asarray(c.path()).tobytes())
    for body in scene.bodies:
        if isinstance(body, sn.RigidBody):
            out += [body.position.tobytes(), body.velocity.tobytes(), body.pose.quaternion.tobytes()]
    return [*out, scene.time, *[(e.kind, e.time) for e in scene.events]]


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
def test_the_same_program(integrator):
    ends = []
    for _ in range(2):
        scene = busy(integrator)
        go(scene, 0, 60)
        ends.append((read(scene), kit.bits(scene)))
    assert ends[0] == ends[1]


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
@pytest.mark.parametrize("middle", [5, 45, 85])
def test_a_snapshot_continues_the_same(integrator, middle):
    scene = busy(integrator)
    go(scene, 0, middle)
    there, then = scene.snapshot(), read(scene)
    go(scene, middle, 120)
    straight_on = read(scene)
    scene.restore(there)
    assert read(scene) == then
    go(scene, middle, 120)
    assert read(scene) == straight_on


@pytest.mark.parametrize("middle", [5, 45, 85])
def test_a_file_continues_the_same(middle, tmp_path):
    scene = busy()
    go(scene, 0, middle)
    scene.save(tmp_path / "scene.npz")
    then = read(scene)
    go(scene, middle, 120)
    other = sn.Scene.load(tmp_path / "scene.npz")
    assert read(other) == then
    go(other, middle, 120)
    assert read(other) == read(scene)


def test_something_happened():
    scene = busy()
    pendulum = next(c for c in scene.constraints if isinstance(c, sn.Cable) and c.name == "pendulum")
    bent = 0
    for k in range(120):
        go(scene, k, k + 1)
        path = np.asarray(pendulum.path())
        bent += bool(pendulum.path_length > np.linalg.norm(path[-1] - path[0]) + 1e-6)
    assert bent > 5
    kinds = [e.kind for e in scene.events]
    assert "broke" in kinds
    assert "paid_out" in kinds


def test_what_is_read_does_not_change_what_follows():
    ends = []
    for look in (False, True):
        scene = busy()
        for k in range(60):
            go(scene, k, k + 1)
            if look:
                read(scene)
                assert np.isfinite(scene.energy.total)
        ends.append(kit.bits(scene))
    assert ends[0] == ends[1]


def test_reset():
    scene = busy()
    go(scene, 0, 1)
    scene.reset()
    winch_of(scene).drive(speed=0.4, slip=1e-5)
    go(scene, 0, 50)
    fresh = busy()
    go(fresh, 0, 50)
    assert read(scene) == read(fresh)
