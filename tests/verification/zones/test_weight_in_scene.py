"""Heavy zones in scenes: bent as `solve(gravity=)` has them, their weight where their carriers' mass says."""

from __future__ import annotations

import numpy as np
import pytest
from references.rotation import exp
from unit.scene.kit import bits, refused

import sennit as sn
from tests.verification.zones.test_chain import BENT, SOFT, row_of_pads
from tests.verification.zones.test_chain import SIZE as PAD
from tests.verification.zones.test_zone_weight import RHO, E, G, hanging

TURN = exp(np.array((0.4, -0.7, 0.3)))
SIDE = np.array((0.015, 0.0, 0.03))


def hung(turn: np.ndarray, **options):
    """A bar that hangs from a clamped body whose mass is the bar's alone."""
    scene = sn.Scene(**options)
    zone = hanging()
    pose = sn.Pose.from_rotation((0.1, 0.2, 0.3), turn)
    bone = scene.add(sn.RigidBody.box((0.03, 0.03, 0.09), mass=zone.mass, pose=pose @ sn.Pose((0, 0, 0.045))))
    scene.add(zone, on=bone.at((0, 0, -0.045)), weight=True)
    return scene, zone, bone, int(np.argmin(np.linalg.norm(zone.vertices - SIDE, axis=1)))


def moment_of_mass(zone: sn.Zone, gravity: np.ndarray, **loads) -> np.ndarray:
    """∫ρ u dV of the zone when solved alone, in its own frame."""
    state = zone.solve(gravity=gravity, **loads)
    weight = zone._weight
    return RHO * (weight.forces.T @ state.displacements.ravel() + RHO / E * weight.inner @ gravity)


@pytest.mark.parametrize("how", ["euler", "bdf2", "midpoint", "settle"])
def test_bent_by_its_weight_and_a_load(how: str, validated) -> None:
    scene, zone, bone, at = hung(TURN, integrator="euler" if how == "settle" else how)
    clamp = scene.add(sn.Clamp(bone.at()))
    force = np.array((0.01, 0.02, -0.01))
    scene.add(sn.Load(zone.at(at), force=TURN @ force))
    if how == "settle":
        assert scene.settle(tolerance=1e-10).stable
    else:
        for _ in range(60 if how == "bdf2" else 3):  # its prediction goes on as the places have moved
            scene.step(0.01)
    gravity = TURN.T @ (0, 0, -G)
    alone = zone.solve(gravity=gravity, loads={at: force})
    scale = np.abs(alone.displacements).max()
    validated(
        "Heavy bar in a scene, with a load",
        area="zones",
        quantity="displacements, of the largest",
        reference="the same zone solved alone",
        error=np.abs(zone.displacements - alone.displacements).max() / scale,
        bound=1e-9,
    )
    assert zone.state.forces == pytest.approx(alone.forces, abs=1e-9)
    assert zone.state.force == pytest.approx(zone.mass * gravity + force, abs=1e-9)
    assert scene.energy.zones == pytest.approx(alone.energy, rel=1e-9)
    # the clamp bears the weight, where the bar's centre has gone to, and the load where that has gone to
    moved = TURN @ moment_of_mass(zone, gravity, loads={at: force})
    total = zone.mass * np.array((0, 0, -G)) + TURN @ force
    assert clamp.force == pytest.approx(-total, abs=1e-8)
    torque = np.cross(moved, (0, 0, -G)) + np.cross(zone.positions[at] - bone.position, TURN @ force)
    assert clamp.torque == pytest.approx(-torque, abs=1e-9)
    # and what nothing holds is where the surface is
    free = zone.at((0.015, 0.004, 0.05), radius=0.012)
    middle = free._weights
    want = np.einsum("kab,kb->a", middle, alone.displacements[free._vertices])[:3]
    assert TURN.T @ (free.position - zone.pose.position) - free._place == pytest.approx(want, abs=1e-9 * scale)


def test_a_pendulum_hangs_with_its_displaced_centre_below() -> None:
    """The bar sags within its frame as the bone tilts: the moment of mass of both is below the hinge."""
    scene, zone, bone, _ = hung(exp(np.array((0.0, 0.7, 0.0))))
    start = bone.at((0.004, 0, 0.05)).position
    hinge = scene.add(sn.Hinge(bone.at((0.004, 0, 0.05)), sn.World.at(start), axis=(0, 1, 0)))
    assert scene.settle(tolerance=1e-12).stable
    gravity = bone.pose.rotation.T @ (0, 0, -G)
    moved = bone.pose.rotation @ moment_of_mass(zone, gravity)
    arm = bone.mass * (bone.position - start) + moved
    assert abs(moved[0]) > 1e-6 * zone.mass
    assert arm[0] == pytest.approx(0.0, abs=1e-9 * bone.mass)
    assert hinge.force == pytest.approx((0, 0, bone.mass * G), abs=1e-8)


def test_a_swing_keeps_its_energy() -> None:
    """With a place that a spring pulls at, so that gravity works on places, on what is between, and on the bone."""
    scene, zone, bone, at = hung(exp(np.array((0.0, 0.9, 0.2))), integrator="midpoint")
    start = bone.at((0, 0, 0.05)).position
    scene.add(sn.Hinge(bone.at((0, 0, 0.05)), sn.World.at(start), axis=(0, 1, 0)))
    ball = scene.add(sn.RigidBody.sphere(radius=0.01, mass=0.02, position=zone.positions[at]))
    scene.add(sn.Ball(ball.at(), zone.at(at)))
    scene.step(2e-4)
    energies = []
    for _ in range(1000):
        scene.step(2e-4)
        energies.append(scene.energy.total)
    swing = zone.mass * G * 0.05
    assert np.ptp(energies) < 1e-3 * swing


def test_a_bone_with_its_flesh_falls_as_everything_does() -> None:
    scene, _zone, bone, _ = hung(np.eye(3))
    scene.run(0.1, dt=1e-3)
    assert bone.velocity == pytest.approx((0, 0, -0.1 * G), abs=1e-9)


@pytest.mark.parametrize("how", ["bdf2", "settle"])
def test_a_chain_under_its_weight(how: str) -> None:
    zones, seams = row_of_pads()
    chain = sn.ZoneChain(zones, seams)
    scene = sn.Scene(gravity=(1.0, 2.0, -G), integrator="bdf2")
    frames = [sn.World.at(sn.Pose()) for _ in range(3)]
    scene.add(chain, on=frames, weight=True)
    scene.step(0.01)
    for frame, pose in zip(frames, BENT, strict=True):
        frame.pose = pose
    if how == "settle":
        assert scene.settle(tolerance=1e-10).stable
    else:
        for _ in range(3):
            scene.step(0.01)
    state = chain.solve(BENT, gravity=(1.0, 2.0, -G), method="direct")
    light = chain.solve(BENT, method="direct")
    scale = max(np.abs(u).max() for u in state.displacements)
    for zone, want in zip(chain.zones, state.displacements, strict=True):
        assert zone.displacements == pytest.approx(want, abs=1e-9 * scale)
    for tie, forces, before in zip(chain.ties, state.seam_forces, light.seam_forces, strict=True):
        assert tie.force == pytest.approx(forces.sum(axis=0), abs=1e-9)
        assert np.linalg.norm((forces - before).sum(axis=0)) > 1e-4
    assert scene.energy.zones == pytest.approx(state.energy, rel=1e-9)


def test_places_that_come_and_go_leave_the_shape() -> None:
    scene, zone, bone, at = hung(TURN)
    scene.add(sn.Clamp(bone.at()))
    scene.step(0.01)
    shape = zone.displacements
    assert np.abs(shape).max() > 1e-4
    grip = scene.add(sn.Fix(zone.at(at)))
    scene.step(0.01)
    assert np.abs(grip.force).max() < 1e-10
    assert zone.displacements == pytest.approx(shape, abs=1e-14)
    patch = scene.add(sn.Clamp(zone.at((0, 0.015, 0.05), radius=0.012)))
    scene.step(0.01)
    assert np.abs(patch.force).max() < 1e-9
    assert zone.displacements == pytest.approx(shape, abs=1e-12)
    scene.gravity = (0, 0, 0)
    scene.step(0.01)
    assert np.linalg.norm(grip.force) > 1e-3


def test_a_ball_on_heavy_gel() -> None:
    """Pressed by its weight as the same gel is by the same ball under its own."""
    scene = sn.Scene()
    zone = hanging().with_fixed(hanging().vertices[:, 2] < 1e-9)
    scene.add(zone, weight=True)
    ball = scene.add(sn.RigidBody.sphere(radius=0.03, mass=0.02, position=(0.001, 0.0, 0.119)))
    scene.add(sn.OnAxis(ball.at(), (0, 0, 1)))
    scene.collide(ball, zone)
    scene.settle()
    weight = zone._weight_of(RHO * np.array((0, 0, -G)))
    weight[zone.fixed] = 0.0
    pressed = zone.press(sn.Sphere(ball.position, radius=0.03), loads=weight)
    assert pressed.contact_forces.sum(axis=0)[2] == pytest.approx(-0.02 * G, rel=0.01)


def test_snapshots_and_files_give_the_same_bits(tmp_path) -> None:
    scene, zone, bone, at = hung(TURN, integrator="bdf2")
    scene.add(sn.Hinge(bone.at((0, 0, 0.05)), sn.World.at(bone.at((0, 0, 0.05)).position), axis=(0, 1, 0)))
    scene.add(sn.Load(zone.at(at), force=(0, 0.02, 0)))
    scene.run(0.02, dt=0.002)
    middle = scene.snapshot()
    scene.save(tmp_path / "bar.npz")
    scene.run(0.02, dt=0.002)
    end = bits(scene)
    other = sn.Scene.load(tmp_path / "bar.npz")
    other.run(0.02, dt=0.002)
    twin = next(body for body in other.bodies if isinstance(body, sn.Zone))
    assert np.array_equal(twin.positions, zone.positions)
    scene.restore(middle)
    scene.run(0.02, dt=0.002)
    assert bits(scene) == end


def test_refusals() -> None:
    scene = sn.Scene()
    zone = hanging()
    bone = scene.add(sn.RigidBody.sphere(0.01, mass=0.5 * zone.mass, name="bone"))
    refused(lambda: scene.add(zone, on=bone.at(), weight=True), "bone", "must be")
    refused(lambda: scene.add(zone, on=bone.at(), weight=1.0), "weight")
    refused(lambda: scene.add(sn.RigidBody.sphere(0.01, mass=1.0), weight=True), "weight is for zones")
    assert zone.scene is None
    scene.add(zone, on=bone.at())
    chain = sn.ZoneChain(*row_of_pads(2))
    small = scene.add(sn.RigidBody.sphere(0.01, mass=1.5 * PAD[0] * PAD[1] * PAD[2] * SOFT.density, name="both"))
    refused(lambda: scene.add(chain, on=[small.at(), small.at()], weight=True), "both", "must be")
    assert chain.scene is None
