"""Zones are touched in scenes: as `Zone.press` has it, and by balance, conservation and closed forms."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from references import meshes
from references.rotation import exp
from verification.zones.half_space import PATCH, body

import sennit as sn
from sennit.haptics.subjects import SceneSubject
from sennit.scene.skins import freeze_skins

E, NU = 5e4, 0.45
G = 9.81
RADIUS = 0.02
TOP = 0.02


@cache
def block() -> sn.Zone:
    vertices, faces = meshes.block((0.04, 0.04, TOP), (7, 7, 3))
    return sn.Zone.from_mesh(vertices, faces, material=sn.Material(E, NU, 1000.0), fixed=vertices[:, 2] < 1e-9)


def pad(scene: sn.Scene, on: Any = None, relaxation_time: float = 0.0, name: str = "pad") -> sn.Zone:
    """A block of gel, 4 cm square and 2 cm high, from the origin of its frame on, held at its lower side."""
    material = sn.Material(E, NU, 1000.0, relaxation_time=relaxation_time)
    return scene.add(block().with_material(material, name), on=on)


def vertex_forces(pressed: Any) -> Any:
    """Forces of a shape on the vertices of a zone that it presses."""
    forces = np.zeros((len(pressed.zone.vertices), 3))
    forces[pressed.patch] = pressed.contact_forces
    return forces


def led(friction: float, steps: int) -> tuple[Any, ...]:
    """A ball that is led into a pad and along it, and the same by `Zone.press`."""
    ball = sn.Sphere((0.019, 0.022, TOP + RADIUS + 1e-5), RADIUS)
    scene = sn.Scene(gravity=(0, 0, 0))
    zone = pad(scene)
    tool = scene.add(sn.Obstacle(ball))
    pair = scene.collide(zone, tool, friction=friction)
    alone = None
    for share in np.linspace(0.0, 1.0, steps + 1)[1:]:
        way = np.array((max(share - 0.5, 0.0) * 1.5e-3, 0.0, -min(2.0 * share, 1.0) * 2e-3))
        tool.pose = sn.Pose(way)
        scene.step(0.01)
        alone = zone.press(ball.moved(sn.Pose(way)), friction=friction, after=alone)
    return scene, zone, pair, alone


def test_a_ball_presses_as_press_has_it() -> None:
    """Without friction it is one problem with one solution: steps take normals of free flight, rest its own."""
    scene, zone, pair, alone = led(0.0, 20)
    forces = vertex_forces(alone)
    largest = np.abs(forces).max()
    assert len(alone.patch) >= 6
    assert np.abs(zone.place_forces - forces).max() < 1e-3 * largest
    assert pair.force == pytest.approx(alone.force, abs=1e-3 * largest)
    assert pair.count == len(alone.patch)
    assert np.abs(zone.displacements - alone.displacements).max() < 1e-3 * np.abs(alone.displacements).max()
    scene.settle()
    assert np.abs(zone.place_forces - forces).max() < 1e-7 * largest
    assert scene.energy.zones == pytest.approx(alone.energy, rel=1e-7)


def test_friction_follows_the_same_path() -> None:
    """With friction the two follow one path by steps of their own: they differ by the length of these."""
    errors = []
    for steps in (20, 40):
        _, zone, pair, alone = led(0.4, steps)
        forces = vertex_forces(alone)
        errors.append(np.abs(zone.place_forces - forces).max() / np.abs(forces).max())
        assert abs(pair.force[0]) > 0.2 * abs(pair.force[2])
    assert errors[0] < 0.02
    assert errors[1] < 0.7 * errors[0]


def test_what_carries_a_pad_bears_what_lies_on_it() -> None:
    """A ball lies on a pad on a clamped bone: forces are its weight, and that of all is what the clamp bears."""
    scene = sn.Scene()
    bone = scene.add(sn.RigidBody.box((0.05, 0.05, 0.02), mass=0.3, position=(0.02, 0.02, -0.02)))
    clamp = scene.add(sn.Clamp(bone.at()))
    zone = pad(scene, on=bone.at((-0.02, -0.02, 0.02)))
    ball = scene.add(sn.RigidBody.sphere(0.01, mass=0.05, position=(0.022, 0.019, 0.15)))
    pair = scene.collide(ball, zone, friction=0.4)
    report = scene.settle()  # it falls by a length of ten radii
    assert report.stable
    assert report.touching == ((zone, ball),)
    assert pair.force == pytest.approx((0, 0, 0.05 * G), abs=1e-6)
    assert clamp.force == pytest.approx((0, 0, 0.35 * G), abs=1e-6)
    about = np.cross(ball.position - bone.position, (0, 0, 0.05 * G))
    assert clamp.torque == pytest.approx(about, abs=1e-6)
    assert zone.place_forces.sum(axis=0) == pytest.approx((0, 0, -0.05 * G), abs=1e-6)
    contacts = [contact for contact in scene.contacts if {contact.first, contact.second} == {zone, ball}]
    assert len(contacts) == pair.count
    at_rest = ball.position
    scene.run(0.2, dt=1 / 120)
    assert ball.position == pytest.approx(at_rest, abs=1e-7)


def test_a_ball_on_a_half_space(validated: Any) -> None:
    """Hertz's force through a scene, at rest; the support lies 100 imprints away (`verification.zones.test_hertz`)."""
    scene, curve = sn.Scene(gravity=(0, 0, 0)), 50.0 * PATCH
    given, approach = body(0.3, 100.0), PATCH**2 / curve
    zone = scene.add(given.with_material(given.material))
    tool = scene.add(sn.Obstacle(sn.Sphere((0, 0, curve), curve)))
    pair = scene.collide(zone, tool, friction=0.0)
    tool.pose = sn.Pose((0, 0, -approach))
    scene.settle()
    force = 4 / 3 * E / (1 - 0.3**2) * math.sqrt(curve) * approach**1.5
    validated(
        "Ball on a pad in a scene", area="contact", quantity="force", reference="Hertz",
        error=abs(-pair.force[2] / force - 1), bound=0.02,
    )  # fmt: skip


def clash(h: float, turned: bool = False) -> tuple[Any, ...]:
    """A spinning ball hits a viscous pad on a free bone, in free space; and all of that turned."""
    scene = sn.Scene(gravity=(0, 0, 0))
    Q, shift = (exp(np.array((0.4, -0.9, 0.6))), np.array((0.3, -0.1, 0.2))) if turned else (np.eye(3), np.zeros(3))
    bone = sn.RigidBody.box((0.05, 0.05, 0.02), mass=0.3, position=(0, 0, 0))
    bone.pose = sn.Pose.from_rotation(shift + Q @ (0.02, 0.02, -0.02), Q)
    scene.add(bone)
    zone = pad(scene, on=bone.at((-0.02, -0.02, 0.02)), relaxation_time=0.01)
    ball = scene.add(sn.RigidBody.sphere(0.01, mass=0.05, position=shift + Q @ (0.022, 0.018, TOP + 0.0105)))
    ball.velocity, ball.angular_velocity = Q @ (0.05, 0.02, -0.3), Q @ (0, 20, 0)
    pair = scene.collide(ball, zone, friction=0.4)
    linear, angular, energies, largest = scene.linear_momentum, scene.angular_momentum, [scene.energy.total], 0.0
    for _ in range(round(0.1 / h)):
        scene.step(h)
        energies.append(scene.energy.total)
        largest = max(largest, float(np.linalg.norm(pair.force)))
    assert largest > 0.5
    lost = np.linalg.norm(scene.angular_momentum - angular) / np.linalg.norm(angular)
    return Q.T @ (ball.position - shift), scene.linear_momentum - linear, lost, np.array(energies)


def test_a_clash_keeps_momentum_and_gives_no_energy(validated: Any) -> None:
    """Forces are equal and opposite and act at one place: linear momentum is exact, angular of the scheme's order."""
    lost = []
    for h in (1 / 240, 1 / 480, 1 / 960):
        _, linear, angular, energies = clash(h)
        assert np.abs(linear).max() < 1e-14
        assert np.diff(energies).max() < 1e-12 * energies[0]
        assert energies[-1] < 0.6 * energies[0]
        lost.append(angular)
    order = math.log2(lost[0] / lost[2]) / 2
    assert order > 0.8
    validated(
        "Ball that hits a pad on a free body", area="contact", quantity="angular momentum", reference="conservation",
        error=lost[2], bound=0.01, order=order,
    )  # fmt: skip


def test_a_clash_that_is_turned_is_the_same() -> None:
    place, turned = clash(1 / 240)[0], clash(1 / 240, turned=True)[0]
    assert turned == pytest.approx(place, abs=2e-4 * np.linalg.norm(place))


def grip(friction: float) -> tuple[Any, ...]:
    """Two pads squeeze a ball between them and lift it by a centimetre."""

    def pose(side: int, reach: float, height: float) -> sn.Pose:
        z, y = np.array((-side, 0.0, 0.0)), np.array((0.0, 1.0, 0.0))
        turn = np.stack((np.cross(y, z), y, z), axis=1)
        return sn.Pose.from_rotation(np.array((side * reach, 0.0, height)) - turn @ (0.02, 0.02, 0.0), turn)

    scene, reach = sn.Scene(), TOP + 0.012
    hands = [sn.World.at(pose(side, reach, 0.0)) for side in (-1, 1)]
    tips = [pad(scene, on=hand, relaxation_time=0.02, name=f"tip {i}") for i, hand in enumerate(hands)]
    ball = scene.add(sn.RigidBody.sphere(0.012, mass=0.03, position=(0, 0, 0)))
    floor = scene.add(sn.Obstacle(sn.Box((0.2, 0.2, 0.01), sn.Pose((0, 0, -0.017)))))
    pairs = [scene.collide(tip, ball, friction=friction) for tip in tips]
    scene.collide(ball, floor, friction=0.3)
    for i in range(150):
        squeezed, lifted = min(i / 50, 1.0), max(i - 50, 0) / 100
        for side, hand in zip((-1, 1), hands, strict=True):
            hand.pose = pose(side, reach - 1.5e-3 * squeezed, 0.01 * lifted)
        scene.step(1 / 240)
    scene.run(0.2, dt=1 / 240)
    return scene, ball, pairs


def test_two_fingertips_lift_a_ball() -> None:
    """What they bear is its weight; it hangs by the shear of the pads, and does not creep."""
    scene, ball, pairs = grip(0.8)
    assert -sum(pair.force for pair in pairs) == pytest.approx((0, 0, 0.03 * G), abs=1e-6)
    assert 0.008 < ball.position[2] < 0.01
    place = ball.position
    scene.run(0.2, dt=1 / 240)
    assert ball.position == pytest.approx(place, abs=1e-7)


def test_too_little_friction_lets_it_go() -> None:
    """Each hand can bear at most μ N; N is about 0.6 N, and half of the weight 0.15 N."""
    _, ball, _ = grip(0.1)
    assert ball.position[2] < 1e-3


def test_zones_hold_what_is_near_alone() -> None:
    """Vertices come and go with the ball, and `reset` and snapshots bring back those that there were."""
    scene = sn.Scene()
    zone = pad(scene, relaxation_time=0.01)
    ball = scene.add(sn.RigidBody.sphere(0.01, mass=0.05, position=(0.012, 0.019, 0.05)))
    scene.collide(ball, zone, friction=0.4)
    scene.step(1 / 240)
    assert scene.dofs == 6
    scene.run(0.15, dt=1 / 240)
    held = scene.dofs
    assert 6 < held < 3 * len(zone.vertices) // 2
    kept, place = scene.snapshot(), ball.position
    ball.velocity = (0.4, 0, 0.5)
    scene.run(0.3, dt=1 / 240)
    assert np.abs(zone.displacements).max() < 1e-6
    scene.restore(kept)
    assert scene.dofs == held
    assert (ball.position == place).all()
    scene.reset()
    assert not zone.displacements.any()
    scene.run(37 / 240, dt=1 / 240)
    assert ball.position == pytest.approx(place, abs=1e-12)


def test_a_file_goes_on_bitwise(tmp_path: Any) -> None:
    def begun() -> sn.Scene:
        scene = sn.Scene()
        zone = pad(scene, relaxation_time=0.01)
        ball = scene.add(sn.RigidBody.sphere(0.01, mass=0.05, position=(0.012, 0.019, TOP + 0.011)))
        ball.velocity = (0.1, 0, 0)
        scene.collide(ball, zone, friction=0.4)
        scene.run(0.1, dt=1 / 240)
        return scene

    scene = begun()
    scene.save(tmp_path / "scene.npz")
    loaded = sn.Scene.load(tmp_path / "scene.npz")
    for one in (scene, loaded):
        one.run(0.1, dt=1 / 240)
    (zone, ball), (other_zone, other) = scene.bodies, loaded.bodies
    assert (ball.position == other.position).all()  # type: ignore[attr-defined]
    assert (zone.displacements == other_zone.displacements).all()  # type: ignore[attr-defined]
    loaded.reset()  # to where the file has it
    assert loaded.dofs > 6


def test_a_box_lands_on_the_pad_below_it(validated: Any) -> None:
    """Flat on a plane: it sinks by what the pad gives way under the weight of the box, each vertex as far."""
    scene = sn.Scene()
    box = scene.add(sn.RigidBody.box((0.04, 0.04, 0.02), mass=0.2, position=(0.02, 0.02, 0.03)))
    box.pose = sn.Pose.from_rotation((0.02, 0.02, TOP + 0.01 + 1e-3), np.diag((1.0, -1.0, -1.0)))
    zone = pad(scene, on=box.at((-0.02, -0.02, 0.01)))
    floor = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    pair = scene.collide(zone, floor, friction=0.0)
    report = scene.settle(friction=False)
    assert report.converged
    assert pair.force == pytest.approx((0, 0, 0.2 * G), abs=1e-6)
    touching = zone.positions[:, 2] < 1e-6
    down = TOP + 0.01 - box.position[2]
    alone = zone.press(sn.Plane((0, 0, TOP - down), (0, 0, -1)))
    assert touching.sum() == len(alone.patch)
    error = abs(-alone.force[2] / (0.2 * G) - 1)
    validated(
        "Box on the pad below it", area="contact", quantity="force", reference="`Zone.press`", error=error, bound=1e-6,
    )  # fmt: skip


def test_what_can_not_be_touched_is_said() -> None:
    scene = sn.Scene()
    vertices, faces = meshes.block((0.04, 0.04, TOP), (3, 3, 2))
    loose = scene.add(sn.Zone.from_mesh(vertices, faces, material=sn.Material(E, NU, 1000.0), name="loose"))
    ball = scene.add(sn.RigidBody.sphere(0.01, mass=0.05, position=(0, 0, 0.1)))
    with pytest.raises(sn.InputError, match="nothing holds loose.*fixed="):
        scene.collide(loose, ball)


def test_what_can_not_run_it_says_so() -> None:
    """Loops and batches run compiled steps alone, and would not see what comes near."""
    scene = sn.Scene()
    zone = pad(scene)
    ball = scene.add(sn.RigidBody.sphere(0.01, mass=0.05, position=(0.02, 0.02, 0.1)))
    scene.collide(ball, zone)
    with pytest.raises(sn.InputError, match="pad needs Python at every step, which a batch"):
        sn.Batch(scene, 2)
    device, feel = sn.ScriptedDevice(lambda t: sn.Pose((0, 0, 0.1)), seconds=1.0), sn.VirtualCoupling(100.0, 1.0)
    with pytest.raises(sn.InputError, match="pad can be touched by .*give reach="):
        sn.HapticLoop(scene, device, grip=ball.at(), coupling=feel)
    with pytest.raises(sn.InputError, match="reach must be a finite number above 0, got -1.0"):
        sn.HapticLoop(scene, device, grip=ball.at(), coupling=feel, reach=-1.0)
    with pytest.raises(sn.InputError, match="reach=0.01 is for scenes in which zones can be touched"):
        sn.HapticLoop(sn.Scene(), sn.MouseDevice(), coupling=feel, reach=0.01)


def pressed_by_hand() -> tuple[Any, ...]:
    """A ball above a pad, and the way of a hand that presses it in, along, and off to where nothing is held."""
    scene = sn.Scene(gravity=(0, 0, 0))
    zone = pad(scene)
    ball = scene.add(sn.RigidBody.sphere(RADIUS, mass=0.05, position=(0.012, 0.02, TOP + RADIUS + 1e-3)))
    pair = scene.collide(ball, zone, friction=0.4)
    times = np.array((0.0, 0.1, 0.2, 0.3, 0.5, 0.9))
    x, z = np.array((12, 12, 14, 14, 34, 34)) * 1e-3, np.array((1, -1.5, -1.5, 3, -1, -1)) * 1e-3
    way = np.stack((x, np.full(len(x), 0.02), TOP + RADIUS + z), axis=1)
    return scene, zone, ball, pair, sn.ScriptedDevice(way, times=times)


def test_a_haptic_loop_has_the_bits_of_steps_with_the_same_skin() -> None:
    """What is held is chosen once, when the loop begins; where the hand leaves it, that is told and felt no more."""
    feel = sn.VirtualCoupling(800.0, 2.0)
    scene, zone, ball, _, hand = pressed_by_hand()
    with sn.HapticLoop(scene, hand, grip=ball.at(), coupling=feel, reach=0.006) as loop:
        loop.wait()
    assert loop.statistics.failed == 0
    held = len(zone._skin.wanted)
    assert 8 <= held < 0.5 * len(zone.vertices)
    notes = [note.text for note in loop.notes if note.kind == "outside"]
    assert notes and "give more reach=" in notes[0]
    other, _, same, _, path = pressed_by_hand()
    assert freeze_skins(other, 0.006) == held
    subject = SceneSubject(other, same.at(), feel, 1e-3)
    subject.rehearse()
    subject.rehearse()
    felt = []
    for row in path.samples:
        subject.step(sn.Pose(row[:3], row[3:]))
        felt.append(-subject.wrench)
    assert np.abs(np.array(felt)[:, 2]).max() > 0.2
    np.testing.assert_array_equal(hand.wrenches[: len(felt)], np.array(felt)[: len(hand.wrenches)])
    np.testing.assert_array_equal(ball.position, same.position)
    before = zone._skin.wanted
    scene.step(1e-3)  # and steps here look around again
    assert zone._skin.wanted != before


def test_what_is_thin_may_pass_and_that_is_said() -> None:
    """Edges are 6 mm long: a ball of 2 mm between four of their vertices is not felt."""
    scene = sn.Scene()
    zone = pad(scene)
    balls = [
        scene.add(sn.RigidBody.sphere(radius, mass=0.01, position=(x, 0.01714, TOP + 0.02)))
        for radius, x in ((0.002, 0.01), (0.008, 0.03))
    ]
    scene.collide(balls, zone)
    scene.run(0.1, dt=1 / 240)
    assert [event.subjects for event in scene.events if event.kind == "coarse"] == [(zone, balls[0])]


def test_a_pad_that_a_constraint_holds_too() -> None:
    """A patch under a string, and a place within a triangle, leave their vertices enough freedom to be held, too."""
    scene = sn.Scene()
    zone = pad(scene)
    scene.add(sn.Load(zone.at((0.02, 0.02, TOP), radius=0.009), force=(0, 0, 0.05)))
    scene.add(sn.Load(zone.at((0.0113, 0.0127, TOP)), force=(0, 0, 0.02)))
    ball = scene.add(sn.RigidBody.sphere(0.01, mass=0.05, position=(0.021, 0.02, TOP + 0.0105)))
    pair = scene.collide(ball, zone, friction=0.5)
    scene.run(1.0, dt=1 / 240)
    assert pair.force == pytest.approx((0, 0, 0.05 * G), abs=2e-2)
    assert not [event for event in scene.events if event.kind not in ("touch", "part")]
