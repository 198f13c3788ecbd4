"""Twist: a rigid motion of everything does not change it, a turned end changes it by its angle, bent or straight.

Stiffness is next to nothing here, so that a step only reads what was set.
"""

from __future__ import annotations

import numpy as np
import pytest
from references import hoists
from references.rotation import exp

import sennit as sn

PLACES = [np.array(p, dtype=float) for p in [(0, 0, 0), (1.0, 0.5, 2.0), (3.0, -0.5, 2.5), (4.0, 0.5, 0.5)]]


def bent(count: int = 4, wheel: bool = False):
    """A cable through `count` boxes, the middle ones sliding points (or the second a sheave)."""
    scene = sn.Scene(gravity=(0, 0, 0))
    boxes = [scene.add(sn.RigidBody.box(size=(0.3, 0.4, 0.5), mass=1.0, position=p)) for p in PLACES[:count]]
    points: list = [box.at() for box in boxes]
    if wheel:
        points[1] = sn.Sheave(boxes[1].at(), axis=(0, 1, 0), radius=0.2)
    taut = 0.8 * float(np.linalg.norm(np.diff(np.array(PLACES[:count]), axis=0), axis=1).sum())
    cable = sn.Cable(points, stretch_stiffness=1e-9, twist_stiffness=1e-9, length=taut)
    return scene, boxes, scene.add(cable)


def place(boxes, poses) -> None:
    for box, pose in zip(boxes, poses, strict=True):
        box.pose = pose
        box.velocity = box.angular_velocity = (0, 0, 0)


def read(scene, cable) -> float:
    scene.step(1e-6)
    return cable.twist


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("wheel", [False, True])
@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 0, 0), (0.3, -0.9, 0.4)])
def test_rigid_motion(count, wheel, axis, validated):
    if wheel and count < 3:
        pytest.skip("a sheave stands between two points")
    scene, boxes, cable = bent(count, wheel)
    assert read(scene, cable) == pytest.approx(0.0, abs=1e-12)
    # give it some twist and some bending first
    ahead = PLACES[1] - PLACES[0]
    boxes[0].pose = sn.Pose.from_rotation(PLACES[0], exp(0.7 * ahead / np.linalg.norm(ahead)) @ exp((0.1, -0.2, 0.3)))
    boxes[-1].pose = sn.Pose.from_rotation(PLACES[count - 1] + (0.2, 0.1, -0.3), exp((0.3, 0.2, -0.1)))
    start = read(scene, cable)
    assert abs(start) > 0.1
    first = [box.pose for box in boxes]
    axis = np.array(axis) / np.linalg.norm(axis)
    for k in range(1, 17):
        motion = sn.Pose.from_rotation(np.array([0.1, -0.3, 0.2]) * k, exp(2 * np.pi * k / 16 * axis))
        place(boxes, [motion @ pose for pose in first])
        validated(
            "Bent cable and its bodies turned as one",
            area="cables",
            quantity="twist (rad)",
            reference="invariance under rigid motions",
            error=abs(read(scene, cable) - start),
            bound=1e-12,
        )


@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_turned_end(count):
    # about its own exit direction; 3 turns in steps of 0.5 rad
    scene, boxes, cable = bent(count)
    ahead = PLACES[count - 1] - PLACES[count - 2]
    ahead /= np.linalg.norm(ahead)
    read(scene, cable)
    for k in range(1, 39):
        boxes[-1].pose = sn.Pose.from_rotation(PLACES[count - 1], exp(0.5 * k * ahead))
        assert read(scene, cable) == pytest.approx(0.5 * k, abs=1e-11)
    # the other end the same way, and nothing is left
    ahead = (PLACES[1] - PLACES[0]) / np.linalg.norm(PLACES[1] - PLACES[0])
    for k in range(1, 39):
        boxes[0].pose = sn.Pose.from_rotation(PLACES[0], exp(0.5 * k * ahead))
        assert read(scene, cable) == pytest.approx(0.5 * (38 - k), abs=1e-11)


def test_bending_is_transport(validated):
    # ends carry the directions in which the cable left them; the rest goes by least rotations
    scene, boxes, cable = bent(4)
    read(scene, cable)
    out = [PLACES[1] - PLACES[0], PLACES[3] - PLACES[2]]
    first = np.cross(out[0], (0, 0, 1.0))
    first /= np.linalg.norm(first)
    at_rest = np.diff(np.array(PLACES), axis=0)
    along = np.vstack([out[0], at_rest, out[1]])
    # a director of the last end from which the first is 0 away
    end = out[1] / np.linalg.norm(out[1])
    last = np.cross(end, (0, 0, 1.0))
    last /= np.linalg.norm(last)
    last = exp(-hoists.transported_twist(first, last, along) * end) @ last
    rng = np.random.default_rng(7)
    turns, moves = 0.6 * rng.normal(size=(4, 3)), -0.4 * rng.normal(size=(4, 3))
    for share in np.linspace(0.1, 1.0, 10):
        places = [p + share * m for p, m in zip(PLACES, moves, strict=True)]
        frames = [exp(share * t) for t in turns]
        place(boxes, [sn.Pose.from_rotation(p, R) for p, R in zip(places, frames, strict=True)])
        along = np.vstack([frames[0] @ out[0], np.diff(np.array(places), axis=0), frames[3] @ out[1]])
        expected = hoists.transported_twist(frames[0] @ first, frames[3] @ last, along)
        validated(
            "Bent cable, ends tumbling",
            area="cables",
            quantity="twist (rad)",
            reference="transport by least rotations, apart",
            error=abs(read(scene, cable) - expected),
            bound=1e-11,
        )


def test_without_torsion_there_is_none():
    scene = sn.Scene(gravity=(0, 0, 0))
    boxes = [scene.add(sn.RigidBody.box(size=(1, 1, 1), mass=1.0, position=p)) for p in ((0, 0, 0), (0, 0, 3))]
    cable = scene.add(sn.Cable([box.at() for box in boxes], stretch_stiffness=1e3, torsion=False))
    boxes[1].angular_velocity = (0, 0, 1.0)
    scene.run(3.0, dt=0.01)
    assert boxes[1].angular_velocity == pytest.approx((0, 0, 1.0), abs=1e-12)
    assert boxes[0].angular_velocity == pytest.approx((0, 0, 0), abs=1e-12)
    assert cable.torque == 0.0
