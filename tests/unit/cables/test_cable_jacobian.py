"""Cables over every kind of body: Jacobians by finite differences, rigid motion, action and reaction, reciprocity."""

from __future__ import annotations

import numpy as np
import pytest
from unit.scene import kit
from unit.scene.kit import KINDS, MOVED, STILL

import sennit as sn

PLACES = (np.array((0.1, 0.2, 0.3)), np.array((1.1, 0.5, 0.9)), np.array((2.3, -0.2, 0.4)))
TRIPLES = [
    ("rigid", "rigid", "rigid"),
    ("world", "rigid", "spline"),
    ("spline", "slider", "rigid"),
    ("discrete", "world", "rigid"),
    ("ring", "spline", "discrete"),
    ("slider", "rigid", "world"),
    ("beside", "beside", "rigid"),
]


def cabled(kinds, wheel: bool = False, motion=STILL, stretch: float = 0.97, **options):
    """A taut cable through three points of the given kinds of body; the middle one may carry a sheave."""
    scene = sn.Scene(gravity=(0, 0, 0))
    points = [KINDS[kind](scene, at, motion) for kind, at in zip(kinds, PLACES, strict=True)]
    middle = points[1]
    if wheel:
        middle = sn.Sheave(points[1], axis=motion.vector((0.1, 1.0, 0.2)), radius=0.1, friction=0.0)
    options = {"stretch_stiffness": 40.0, "twist_stiffness": 0.5} | options
    cable = sn.Cable([points[0], middle, points[2]], **options)
    length = stretch * cable.path_length
    if wheel:
        middle = sn.Sheave(points[1], axis=motion.vector((0.1, 1.0, 0.2)), radius=0.1, friction=0.0)
    return scene, points, scene.add(sn.Cable([points[0], middle, points[2]], length=length, **options))


@pytest.mark.parametrize("wheel", [False, True])
@pytest.mark.parametrize("kinds", TRIPLES)
def test_jacobian(kinds, wheel: bool) -> None:
    scene, _, cable = cabled(kinds, wheel)
    jacobian = kit.dense(cable.jacobian(), scene.dofs)
    assert jacobian.shape == (2, scene.dofs)
    assert np.abs(jacobian).max() > 0.1
    for k in range(scene.dofs):
        unit = np.eye(scene.dofs)[k]
        measured = kit.slope(scene, lambda: cable.violation, unit)
        assert np.abs(measured - jacobian[:, k]).max() < 2e-6 * (1 + np.abs(jacobian).max())


@pytest.mark.parametrize("wheel", [False, True])
@pytest.mark.parametrize("kinds", TRIPLES)
def test_the_same_wherever_it_stands(kinds, wheel: bool) -> None:
    read = []
    for motion in (STILL, MOVED):
        scene, points, cable = cabled(kinds, wheel, motion)
        for _ in range(3):
            scene.step(1e-3)
        forces = cable.forces @ motion.rotation
        places = np.array([(p.position - motion.shift) @ motion.rotation for p in points])
        read.append((cable.tension, cable.twist, cable.torque, cable.elongation, forces, places))
    for a, b in zip(*read, strict=True):
        assert np.asarray(a) == pytest.approx(np.asarray(b), abs=1e-9, rel=1e-8)


@pytest.mark.parametrize("kinds", TRIPLES)
def test_pulls_balance(kinds) -> None:
    scene, points, cable = cabled(kinds, torsion=False)
    scene.step(1e-3)
    assert cable.tension > 0.1
    forces = cable.forces
    assert np.abs(forces.sum(axis=0)).max() < 1e-12 * cable.tension
    moments = sum(np.cross(p.position, f) for p, f in zip(points, forces, strict=True))
    # forces are those of the path at the step's end
    assert np.abs(moments).max() < 1e-12 * cable.tension
    assert np.linalg.norm(forces[0]) == pytest.approx(cable.tension, rel=1e-12)


def test_reciprocity() -> None:
    """What a force on one load moves the other by, the same force there moves the first by."""

    def moved(push_first: bool) -> tuple[float, float]:
        scene = sn.Scene()
        head = scene.add(sn.RigidBody.box((0.1, 0.2, 0.1), mass=5.0, position=(0, 0, 1)))
        scene.add(sn.Fuse(head.at(), sn.World.at(sn.Pose((0, 0, 1))), compliance=3e-3, angular_compliance=1e-2))
        ball = scene.add(sn.RigidBody.sphere(0.05, mass=20.0, position=(0.5, 0, 0)))
        scene.add(sn.OnAxis(ball.at(), (0, 0, 1)))
        stay, wheel = sn.World.at((-1.0, 0.3, 0)), sn.Sheave(head.at((0.0, 0.1, 0.05)), (0.2, 1, 0), 0.03)
        scene.add(sn.Cable([stay, wheel, ball.at((0.01, 0, 0.04))], stretch_stiffness=3e4, twist_stiffness=2.0))
        ends = []
        for k in (0.02, -0.02):
            pushed = (head, (0, k, 0)) if push_first else (ball, (0, 0, k))
            load = scene.add(sn.Load(pushed[0].at(), force=pushed[1]))
            scene.settle()
            ends.append((head.position[1], ball.position[2]))
            scene.remove(load)
        return float(ends[0][0] - ends[1][0]), float(ends[0][1] - ends[1][1])

    assert moved(True)[1] == pytest.approx(moved(False)[0], rel=1e-4)
    assert abs(moved(True)[1]) > 1e-7
