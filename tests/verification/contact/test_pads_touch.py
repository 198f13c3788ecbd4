"""Zones touch zones: pads on pads, by symmetry, Hertz, balance, conservation, and the friction of fingertips."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from references import meshes
from references.graded import hemisphere
from references.rotation import exp
from verification.zones.half_space import PATCH, body

import sennit as sn

E, NU, G = 5e4, 0.45, 9.81
TOP, SIDE = 0.02, 0.03
OVER = np.diag((1.0, -1.0, -1.0))
"""What turns a pad upside down."""


@cache
def block(cells: int, facing: int, side: float) -> sn.Zone:
    vertices, faces = meshes.block((side, side, TOP), (cells, cells, 3), origin=(-0.5 * side, -0.5 * side, 0.0))
    fixed = vertices[:, 2] < 1e-9
    if facing:
        vertices = vertices @ exp(np.array((0, facing * math.pi / 2, 0))).T
    return sn.Zone.from_mesh(vertices, faces, material=sn.Material(E, NU, 1000.0), fixed=fixed)


def pad(
    scene: sn.Scene, name: str, on: Any = None, relaxation_time: float = 0.0, cells: int = 5, facing: int = 0,
    side: float = SIDE,
) -> sn.Zone:  # fmt: skip
    """A block of gel, 3 cm square and 2 cm high, from the origin of its frame along z, or ±x (`facing`), held there."""
    material = sn.Material(E, NU, 1000.0, relaxation_time=relaxation_time)
    return scene.add(block(cells, facing, side).with_material(material, name), on=on)


def test_a_dome_on_its_mirror_image_is_one_on_a_plane(validated: Any) -> None:
    """Without friction two equal pads that are pressed together meet in a plane, each as deep as `press` has it."""
    vertices, faces = meshes.block((SIDE, SIDE, TOP), (6, 6, 3), origin=(-0.5 * SIDE, -0.5 * SIDE, 0.0))
    x, y, z = 2.0 * vertices.T / SIDE
    vertices[:, 2] += 2e-3 * (1 - x * x) * (1 - y * y) * (vertices[:, 2] > TOP - 1e-9)
    dome = sn.Zone.from_mesh(vertices, faces, material=sn.Material(E, NU, 1000.0), fixed=z < 1e-9)
    scene, deep, top = sn.Scene(gravity=(0, 0, 0)), 1e-3, TOP + 2e-3
    hand = sn.World.at(sn.Pose.from_rotation((0, 0, 2 * top), OVER))
    low, high = scene.add(dome), scene.add(dome.with_material(dome.material, "high"), on=hand)
    pair = scene.collide(low, high, friction=0.0)
    hand.pose = sn.Pose.from_rotation((0, 0, 2 * (top - deep)), OVER)
    report = scene.settle()
    assert report.stable
    assert report.touching == ((high, low),) or report.touching == ((low, high),)
    alone = low.press(sn.Plane((0, 0, top - deep), (0, 0, -1)))
    assert pair.count == len(alone.patch) >= 5
    validated(
        "Dome pressed on an equal one", area="contact", quantity="force", reference="`Zone.press` with a plane",
        error=abs(pair.force[2] / alone.force[2] - 1), bound=1e-3,
    )  # fmt: skip
    for one in (low, high):
        assert np.abs(one.displacements[:, 2] - alone.displacements[:, 2]).max() < 0.01 * deep


@cache
def curved(per_patch: int) -> sn.Zone:
    """A large body whose top is a paraboloid of curvature 1/R near the origin, R = 50 imprints."""
    vertices, faces = hemisphere(PATCH, per_patch, 100.0 * PATCH, around=16)
    square = (vertices[:, :2] ** 2).sum(axis=1)
    bent = vertices - np.outer(square / (100.0 * PATCH) / (1.0 + square / (10.0 * PATCH) ** 2), (0, 0, 1.0))
    fixed = np.linalg.norm(vertices, axis=1) > (1.0 - 1e-9) * 100.0 * PATCH
    return sn.Zone.from_mesh(bent, faces, material=sn.Material(E, 0.3, 1000.0), fixed=fixed)


def test_a_curved_pad_on_a_flat_one(validated: Any) -> None:
    """Hertz: F = 4/3 E* √R δ^{3/2} with 1/E* = 2(1 − ν²)/E, and a² = Rδ by the mean pressure F/πa² at its middle."""
    given, ball, curve = body(0.3, 100.0), curved(4), 50.0 * PATCH
    scene, approach = sn.Scene(gravity=(0, 0, 0)), PATCH**2 / curve
    hand = sn.World.at(sn.Pose.from_rotation((0, 0, 1e-6), OVER))
    flat = scene.add(given.with_material(given.material, "flat"))
    round_one = scene.add(ball.with_material(ball.material, "round"), on=hand)
    pair = scene.collide(flat, round_one, friction=0.0)
    hand.pose = sn.Pose.from_rotation((0, 0, -approach), OVER)
    scene.settle()
    force = 4 / 3 * E / (2 * (1 - 0.3**2)) * math.sqrt(curve) * approach**1.5
    validated(
        "Curved pad on a flat one", area="contact", quantity="force", reference="Hertz, both elastic",
        error=abs(-pair.force[2] / force - 1), bound=0.03,
    )  # fmt: skip
    places = np.array([contact.position for contact in scene.contacts])
    pressing = np.array([contact.force[2] for contact in scene.contacts])
    # of Hertz's pressure the mean square of the distance from the middle is 2/5 a²
    spread = np.abs(pressing) @ (places[:, :2] ** 2).sum(axis=1) / np.abs(pressing).sum()
    validated(
        "Curved pad on a flat one", area="contact", quantity="radius of contact", reference="Hertz, both elastic",
        error=abs(math.sqrt(2.5 * spread) / PATCH - 1), bound=0.05,
    )  # fmt: skip


def test_a_pad_lies_on_another() -> None:
    """Of unlike meshes: what carries the lower one bears the upper one's weight, in force and in torque."""
    scene = sn.Scene()
    bone = scene.add(sn.RigidBody.box((SIDE, SIDE, 0.02), mass=0.3, position=(0, 0, -0.01)))
    clamp = scene.add(sn.Clamp(bone.at()))
    low = pad(scene, "low", on=bone.at((0, 0, 0.01)), relaxation_time=0.02, cells=4)
    box = sn.RigidBody.box((SIDE, SIDE, 0.02), mass=0.05)
    box.pose = sn.Pose.from_rotation((0.003, 0.002, 2 * TOP + 0.01), OVER @ exp(np.array((0, 0, 0.3))))
    scene.add(box)
    high = pad(scene, "high", on=box.at((0, 0, 0.01)), relaxation_time=0.02, cells=5)
    pair = scene.collide(high, low, friction=0.5)
    report = scene.settle()
    weight = 0.05 * G
    assert report.touching == ((high, low),)
    assert pair.force == pytest.approx((0, 0, weight), abs=1e-5 * weight)
    assert clamp.force == pytest.approx((0, 0, weight + 0.3 * G), abs=1e-5 * weight)
    about = np.cross(box.position - bone.position, (0, 0, weight))
    assert clamp.torque == pytest.approx(about, abs=1e-5 * weight * SIDE)
    place = box.position
    scene.run(0.1, dt=1 / 240)
    assert box.position == pytest.approx(place, abs=1e-7)


def pinch(share: float, friction: float = 0.5) -> tuple[Any, ...]:
    """Two fingertips pinch the pads on both sides of a box, which is then drawn out by `share` of 2 μ N."""
    scene, reach, deep, sides = sn.Scene(gravity=(0, 0, 0)), 2 * TOP + 0.005, 1e-3, (-1, 1)
    hands = [sn.World.at((side * reach, 0, 0)) for side in sides]
    box = scene.add(sn.RigidBody.box((0.01, SIDE, SIDE), mass=0.03))
    pairs = []
    for side, hand in zip(sides, hands, strict=True):
        tip = pad(scene, f"tip {side}", on=hand, relaxation_time=0.01, cells=4, facing=-side, side=0.02)
        skin = pad(scene, f"skin {side}", on=box.at((side * 0.005, 0, 0)), relaxation_time=0.01, cells=3, facing=side)
        pairs.append(scene.collide(tip, skin, friction=friction))
    pull = scene.add(sn.Load(box.at()))
    for i in range(40):
        for side, hand in zip(sides, hands, strict=True):
            hand.position = (side * (reach - deep * min(i / 20, 1.0)), 0, 0)
        scene.step(1 / 240)
    squeeze = abs(pairs[0].force[0])
    for i in range(60):
        pull.force = (0, 0, min(i / 30, 1.0) * share * 2 * friction * squeeze)
        scene.step(1 / 240)
    place = box.position[2]
    scene.run(0.1, dt=1 / 240)
    return box.position[2] - place, squeeze, pairs


@pytest.mark.parametrize(("share", "drops"), [(0.9, False), (1.1, True)])
def test_fingertips_hold_up_to_twice_the_friction(share: float, drops: bool) -> None:
    way, squeeze, pairs = pinch(share)
    assert squeeze > 0.1
    if drops:
        assert way > 1e-3
    else:
        assert abs(way) < 1e-5
        assert sum(pair.force for pair in pairs)[2] == pytest.approx(share * squeeze, rel=1e-3)


def clash(h: float, turned: bool = False) -> tuple[Any, ...]:
    """Two free bones with pads of unlike meshes hit each other in free space, and all of that turned."""
    scene = sn.Scene(gravity=(0, 0, 0))
    Q, shift = (exp(np.array((0.4, -0.9, 0.6))), np.array((0.3, -0.1, 0.2))) if turned else (np.eye(3), np.zeros(3))
    bones, pads = [], []
    for k, (place, turn, cells) in enumerate((
        ((0, 0, -0.01), np.eye(3), 4),
        ((0.004, 0.003, 2 * TOP + 0.0115), exp(np.array((0.04, 0.02, 0.3))) @ OVER, 5),
    )):  # fmt: skip
        bone = sn.RigidBody.box((SIDE, SIDE, 0.02), mass=0.1 + 0.1 * k)
        bone.pose = sn.Pose.from_rotation(shift + Q @ np.array(place), Q @ turn)
        bones.append(scene.add(bone))
        pads.append(pad(scene, f"pad {k}", on=bone.at((0, 0, 0.01)), relaxation_time=0.01, cells=cells))
    bones[1].velocity, bones[1].angular_velocity = Q @ (0.05, 0.02, -0.2), Q @ (0, 2.0, 0)
    pair = scene.collide(*pads, friction=0.4)
    linear, angular, energies, largest = scene.linear_momentum, scene.angular_momentum, [scene.energy.total], 0.0
    for _ in range(round(0.06 / h)):
        scene.step(h)
        energies.append(scene.energy.total)
        largest = max(largest, float(np.linalg.norm(pair.force)))
    assert largest > 0.5
    lost = np.linalg.norm(scene.angular_momentum - angular) / np.linalg.norm(angular)
    return Q.T @ (bones[1].position - shift), scene.linear_momentum - linear, lost, np.array(energies)


def test_a_clash_keeps_momentum_and_gives_no_energy(validated: Any) -> None:
    """Forces are equal and opposite and act at one place: linear momentum is exact, angular of the scheme's order."""
    lost = []
    for h in (1 / 240, 1 / 480, 1 / 960):
        _, linear, angular, energies = clash(h)
        assert np.abs(linear).max() < 1e-13
        assert np.diff(energies).max() < 1e-9 * energies[0]
        assert energies[-1] < 0.8 * energies[0]
        lost.append(angular)
    order = math.log2(lost[0] / lost[2]) / 2
    assert order > 0.8
    validated(
        "Pad that hits a pad, both on free bodies", area="contact", quantity="angular momentum",
        reference="conservation", error=lost[2], bound=0.01, order=order,
    )  # fmt: skip


def test_a_clash_that_is_turned_is_the_same() -> None:
    place, turned = clash(1 / 240)[0], clash(1 / 240, turned=True)[0]
    assert turned == pytest.approx(place, abs=2e-4 * np.linalg.norm(place))


def test_a_file_goes_on_bitwise(tmp_path: Any) -> None:
    scene = sn.Scene()
    low = pad(scene, "low", relaxation_time=0.01, cells=4)
    box = sn.RigidBody.box((SIDE, SIDE, 0.02), mass=0.05)
    box.pose = sn.Pose.from_rotation((0.003, 0.002, 2 * TOP + 0.0105), OVER @ exp(np.array((0, 0, 0.3))))
    scene.add(box)
    high = pad(scene, "high", on=box.at((0, 0, 0.01)), relaxation_time=0.01, cells=5)
    scene.collide(high, low, friction=0.5)
    scene.run(0.05, dt=1 / 240)
    assert scene.contacts.between(high, low).touching
    scene.save(tmp_path / "scene.npz")
    loaded = sn.Scene.load(tmp_path / "scene.npz")
    for one in (scene, loaded):
        one.run(0.05, dt=1 / 240)
    for ours, theirs in zip(scene.bodies, loaded.bodies, strict=True):
        if isinstance(ours, sn.RigidBody) and isinstance(theirs, sn.RigidBody):
            assert (ours.position == theirs.position).all()
        if isinstance(ours, sn.Zone) and isinstance(theirs, sn.Zone):
            assert (ours.displacements == theirs.displacements).all()
