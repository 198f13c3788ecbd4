"""A zone in a scene is the zone alone: same displacements, forces and energy, carried by whatever it rides on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from references.rotation import exp
from unit.scene import kit
from unit.scene.kit import PLACE, TILT, bits, pad, refused, tissue

import sennit as sn

INTEGRATORS = ("euler", "bdf2", "midpoint", "fourth")
FORCE = np.array((0.3, -0.2, -0.5))
TOP = int(np.argmin(np.linalg.norm(tissue().vertices - PLACE, axis=1)))


def free_scene(**options) -> sn.Scene:
    return sn.Scene(gravity=(0, 0, 0), **options)


def still(scene, **options) -> sn.Zone:
    """A pad without internal damping, which answers at once."""
    return pad(scene, relaxation_time=0.0, **options)


def solve(scene, how: str) -> None:
    if how == "settle":
        assert scene.settle().stable
    else:
        scene.integrator = how
        for _ in range(3):
            scene.step(0.01)


@pytest.mark.parametrize("how", [*INTEGRATORS, "settle"])
def test_a_load_on_a_vertex(how: str) -> None:
    scene = free_scene()
    zone = still(scene)
    scene.add(sn.Load(zone.at(TOP), force=FORCE))
    solve(scene, how)
    alone = zone.solve(loads={TOP: FORCE})
    assert zone.displacements == pytest.approx(alone.displacements, abs=1e-12 * np.abs(alone.displacements).max())
    assert scene.energy.zones == pytest.approx(alone.energy, rel=1e-10)
    assert zone.state.forces == pytest.approx(alone.forces, abs=1e-9)
    assert zone.positions == pytest.approx(zone.vertices + alone.displacements, abs=1e-12)


@pytest.mark.parametrize("how", [*INTEGRATORS, "settle"])
def test_a_load_on_a_patch(how: str) -> None:
    """The patch of `touch` has its force at the middle of its weights; a moment brings ours there."""
    scene = free_scene()
    zone = still(scene)
    place = zone.at(PLACE, radius=0.12)
    force = 1e-4 * FORCE  # a moment acts on the turned patch: of second order in what is small here
    alone = zone.touch(PLACE, force=force, radius=0.12)
    middle = alone.probe.weights @ zone.vertices[alone.probe.vertices]
    scene.add(sn.Load(place, force=force, torque=np.cross(middle - place.position, force)))
    solve(scene, how)
    assert zone.displacements == pytest.approx(alone.displacements, abs=1e-7 * np.abs(alone.displacements).max())


@pytest.mark.parametrize("how", [*INTEGRATORS, "settle"])
def test_a_displaced_vertex_pulls_back(how: str) -> None:
    scene = free_scene()
    zone = still(scene)
    grip = scene.add(sn.Fix(zone.at(TOP)))
    wanted = np.array((1e-3, 2e-3, -4e-3))
    grip.target = grip.target + wanted
    solve(scene, how)
    alone = zone.solve(displacements={TOP: wanted})
    assert grip.force == pytest.approx(alone.forces[TOP], rel=1e-9)
    assert zone.displacements == pytest.approx(alone.displacements, abs=1e-12)


def test_two_places_answer_together() -> None:
    scene = free_scene()
    zone = still(scene)
    other = int(np.argmax(zone.vertices @ (1.0, 0.5, 2.0)))
    scene.add(sn.Load(zone.at(TOP), force=FORCE))
    grip = scene.add(sn.Fix(zone.at(other)))
    scene.step(0.01)
    alone = zone.solve(loads={TOP: FORCE}, displacements={other: (0, 0, 0)})
    assert zone.displacements == pytest.approx(alone.displacements, abs=1e-12 * np.abs(alone.displacements).max())
    assert grip.force == pytest.approx(alone.forces[other], rel=1e-9)


def test_the_moment_on_a_patch_is_conjugate_to_its_rotation() -> None:
    """Work of a couple: it turns the patch by an angle θ, and stores ½ m·θ; nothing else is applied to the body."""
    scene = free_scene()
    zone = still(scene)
    place = zone.at(PLACE, radius=0.09)  # reaches free vertices only
    before = place.frame
    couple = np.array((1e-3, -2e-3, 1.5e-3))
    scene.add(sn.Load(place, torque=couple))
    scene.step(0.01)
    turn = kit.spin((place.frame - before), before)  # small: 1e-4
    assert scene.energy.zones == pytest.approx(0.5 * couple @ turn, rel=1e-3)
    state = zone.state
    pushed = np.delete(np.arange(len(zone.vertices)), zone.fixed)
    assert state.forces[pushed].sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-15)
    moment = np.cross(zone.vertices, state.forces)[pushed].sum(axis=0)
    assert moment == pytest.approx(couple, abs=1e-15)


@pytest.mark.parametrize("kind", ["vertex", "patch"])
def test_what_carries_a_zone_feels_what_it_is_pulled_by(kind: str) -> None:
    """A clamp on the bone gives back the force on the tissue, and its moment at the displaced place."""
    scene = free_scene()
    bone = scene.add(sn.RigidBody.box(size=(0.2, 0.3, 0.4), mass=0.5, pose=sn.Pose.from_rotation((1, 2, 3), TILT)))
    zone = still(scene, on=bone.at((0.1, 0.0, -0.1)))
    place = zone.at(TOP) if kind == "vertex" else zone.at(PLACE, radius=0.12)
    held = scene.add(sn.Clamp(bone.at((0, 0, 0))))
    scene.add(sn.Load(place, force=FORCE))
    scene.settle()
    assert held.force == pytest.approx(-FORCE, abs=1e-9)
    assert held.torque == pytest.approx(-np.cross(place.position - bone.position, FORCE), abs=1e-9)
    # in its own frame the tissue is pulled by the force seen there
    seen = TILT.T @ FORCE
    there = zone.at(TOP).position if kind == "vertex" else place.position
    moved = TILT.T @ (there - zone.pose.position) - place._place
    alone = zone.solve(loads={TOP: seen}) if kind == "vertex" else zone.touch(PLACE, force=seen, radius=0.12)
    expected = alone.displacements[TOP] if kind == "vertex" else alone.probe.displacement
    assert moved == pytest.approx(expected, rel=1e-9 if kind == "vertex" else 0.05)


def test_a_zone_on_the_world_is_moved_by_hand() -> None:
    scene = free_scene()
    frame = sn.World.at(sn.Pose())
    zone = still(scene, on=frame)
    grip = scene.add(sn.Fix(zone.at(TOP), closing_speed=math.inf))
    scene.step(0.01)
    assert np.abs(grip.force).max() < 1e-12
    frame.pose = sn.Pose((1e-3, 0, 2e-3))
    scene.step(0.01)
    alone = zone.solve(displacements={TOP: (-1e-3, 0, -2e-3)})
    assert grip.force == pytest.approx(alone.forces[TOP], rel=1e-9)
    frame.pose = sn.Pose.from_rotation((0.5, 0, 0), exp(np.array((0, 0, 0.5))))
    grip.target = frame.pose.rotation @ zone.vertices[TOP] + frame.position
    scene.step(0.01)
    assert np.abs(grip.force).max() < 1e-9
    assert zone.positions == pytest.approx(zone.vertices @ frame.pose.rotation.T + frame.position, abs=1e-12)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_load_on_a_spring_of_tissue(integrator: str, validated) -> None:
    """A ball fused to the pad: ω² = k/m of the least stiff of its three ways, and the static sag f/k."""
    scene = free_scene(integrator=integrator)
    zone = still(scene)
    place = zone.at(TOP)
    ball = scene.add(sn.RigidBody.sphere(radius=0.02, mass=0.2, position=place.position))
    scene.add(sn.Ball(ball.at(), place))
    assert scene.dofs == 9
    stiffness = zone._place_stiffness
    rates, ways = np.linalg.eigh(stiffness / ball.mass)
    omega, steps = np.sqrt(rates[0]), 400
    ball.velocity = 1e-3 * omega * ways[:, 0]
    swing = []
    for _ in range(steps):
        scene.step(2 * np.pi / omega / steps)
        swing.append((ball.position - zone.vertices[TOP]) @ ways[:, 0] / 1e-3)
    # backward Euler loses exp(-ω²ht/2): of the whole spring, or (where only the spring is taken so) half as much
    rate = {"euler": np.pi / steps, "bdf2": 0.0, "midpoint": np.pi / steps / 2, "fourth": 0.0}[
        integrator
    ]  # of zones by "bdf2"
    angles = 2 * np.pi / steps * np.arange(1, steps + 1)
    validated(
        "Weight that swings on tissue",
        area="zones",
        quantity="motion, of its amplitude",
        reference="closed form of the scheme",
        error=np.abs(swing - np.sin(angles) * np.exp(-rate * angles)).max(),
        bound=0.012,
    )


def test_internal_damping_relaxes_with_its_time(validated) -> None:
    """Kelvin and Voigt: after the load is gone the tissue comes back as exp(−t/τ)."""
    tau, dt = 0.1, 1e-3
    scene = free_scene()
    zone = pad(scene, relaxation_time=tau)
    pull = scene.add(sn.Load(zone.at(TOP), force=FORCE))
    scene.settle()
    start = zone.displacements
    pull.enabled = False
    scene.run(0.1, dt=dt)
    validated(
        "Tissue that relaxes",
        area="zones",
        quantity="displacement",
        reference="(1 + h/τ)⁻ⁿ",
        error=np.abs(zone.displacements - start * (1 + dt / tau) ** -100).max() / np.abs(start).max(),
        bound=1e-9,
    )


def test_reciprocity_through_tissue_and_rod(validated) -> None:
    """A rod fused to a patch: a force at its tip moves a vertex as the same force there moves the tip."""
    answers = []
    for back in (False, True):
        scene = free_scene()
        zone = still(scene)
        base = zone.at(PLACE, radius=0.12)
        rod = scene.add(
            sn.Rod.straight(
                base.position, base.position + np.array((0, 0.1, 0.3)), section=sn.Section.circle(5e-3),
                material=sn.Material(1e8, 0.4, 1000), control_points=8,
            )
        )  # fmt: skip
        scene.add(sn.Fuse(rod.at(0.0), base))
        far = zone.at((0.05, 0.05, 0.1), radius=0.12)
        tip, push, pull = rod.at(rod.length), np.array((0.6, 0.1, 0.2)), np.array((0.1, -0.5, 0.7))
        places = []
        for sign in (1, -1):
            load = sn.Load(far if back else tip, force=sign * 1e-4 * (push if back else pull))
            scene.add(load)
            assert scene.settle(tolerance=1e-10).converged
            places.append((tip if back else far).position.copy())
            scene.remove(load)
        answers.append((places[0] - places[1]) @ (pull if back else push) / 2e-4)
    assert abs(answers[0]) > 1e-5
    validated(
        "Two loads, on tissue and on a rod",
        area="zones",
        quantity="mutual work",
        reference="Betti's theorem",
        error=abs(answers[0] / answers[1] - 1),
        bound=1e-5,
    )


def test_a_new_place_starts_where_the_surface_is() -> None:
    scene = free_scene()
    zone = still(scene)
    scene.add(sn.Load(zone.at(TOP), force=FORCE))
    scene.step(0.01)
    shape = zone.displacements
    other = int(np.argmax(zone.vertices @ (1.0, 0.5, 2.0)))
    grip = sn.Fix(zone.at(other))
    assert grip.target == pytest.approx(zone.vertices[other] + shape[other], abs=1e-15)
    scene.add(grip)
    scene.step(0.01)
    assert np.abs(grip.force).max() < 1e-10
    assert zone.displacements == pytest.approx(shape, abs=1e-14)
    scene.remove(grip)
    scene.step(0.01)
    assert zone.displacements == pytest.approx(shape, abs=1e-14)


def test_the_same_place_is_one_place() -> None:
    scene = free_scene()
    zone = still(scene)
    scene.add(sn.Load(zone.at(TOP), force=0.5 * FORCE))
    scene.add(sn.Load(zone.at(TOP), force=0.5 * FORCE))
    scene.step(0.01)
    assert scene.dofs == 3
    alone = zone.solve(loads={TOP: FORCE})
    assert zone.displacements == pytest.approx(alone.displacements, abs=1e-14)


def pulled() -> sn.Scene:
    scene = sn.Scene(integrator="bdf2")
    bone = scene.add(sn.RigidBody.box(size=(0.3, 0.2, 0.1), mass=2.0, position=(0.0, 0.0, 0.0), name="bone"))
    zone = pad(scene, on=bone.at((-0.15, -0.1, 0.05)))
    scene.add(sn.Fix(bone.at((0, 0, -0.05)), compliance=1e-3, damping=1.0))
    scene.add(sn.Load(zone.at(TOP), force=(0, 0, -0.5)))
    ball = scene.add(sn.RigidBody.sphere(radius=0.02, mass=0.2, position=(0, 0.2, 0.4)))
    scene.add(sn.Distance(ball.at(), zone.at(PLACE, radius=0.12), bound="at_most"))
    return scene


def test_snapshots_files_and_reset_give_the_same_bits(tmp_path) -> None:
    scene = pulled()
    start = bits(scene)
    scene.run(0.05, dt=0.005)
    middle = scene.snapshot()
    scene.save(tmp_path / "scene.npz")
    scene.run(0.05, dt=0.005)
    end = bits(scene)
    assert end != bits(middle)
    scene.restore(middle)
    scene.run(0.05, dt=0.005)
    assert bits(scene) == end
    other = sn.Scene.load(tmp_path / "scene.npz")
    other.run(0.05, dt=0.005)
    places = [body.positions if isinstance(body, sn.Zone) else body.position for body in scene.bodies]
    for mine, body in zip(places, other.bodies, strict=True):
        assert np.array_equal(mine, body.positions if isinstance(body, sn.Zone) else body.position)
    scene.reset()
    assert bits(scene) == start


def test_reset_after_what_holds_a_zone_has_changed() -> None:
    scene = free_scene()
    zone = still(scene)
    scene.add(sn.Load(zone.at(TOP), force=FORCE))
    scene.step(0.01)
    grip = scene.add(sn.Fix(zone.at(PLACE, radius=0.12)))
    scene.step(0.01)
    scene.remove(grip)
    scene.step(0.01)
    scene.reset()
    assert np.abs(zone.displacements).max() == 0.0


def test_a_scene_of_zones_that_nothing_holds() -> None:
    scene = free_scene()
    zone = still(scene)
    scene.step(0.01)
    assert scene.settle().converged
    load = scene.add(sn.Load(zone.at(TOP), force=FORCE))
    scene.step(0.01)
    assert np.abs(zone.displacements).max() > 0.0
    scene.remove(load)
    scene.step(0.01)
    assert np.abs(zone.displacements).max() == 0.0
    assert scene.time == pytest.approx(0.03)


def test_a_zone_comes_into_another_scene_undeformed() -> None:
    scene = free_scene()
    zone = still(scene)
    load = scene.add(sn.Load(zone.at(TOP), force=FORCE))
    scene.step(0.01)
    scene.remove(load)
    scene.remove(zone)
    other = free_scene()
    other.add(zone, on=sn.World.at((1.0, 0.0, 0.0)))
    assert zone.positions == pytest.approx(zone.vertices + np.array((1.0, 0.0, 0.0)), abs=1e-15)
    grip = other.add(sn.Fix(zone.at(TOP)))
    other.step(0.01)
    assert np.abs(grip.force).max() < 1e-12


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_taking_a_constraint_away_starts_a_two_step_scheme_afresh(integrator: str) -> None:
    """The ball swings on as if the grip, which holds nothing back, had never been there."""
    ends = []
    for gripped in (True, False):
        scene = free_scene(integrator=integrator)
        zone = still(scene)
        place = zone.at(TOP)
        ball = scene.add(sn.RigidBody.sphere(radius=0.02, mass=0.2, position=place.position))
        scene.add(sn.Ball(ball.at(), place))
        touch = scene.add(sn.Load(zone.at(PLACE, radius=0.12), force=(0, 0, 0))) if gripped else None
        ball.velocity = (0.1, 0.0, -0.2)
        for k in range(40):
            if k == 20 and touch is not None:
                scene.remove(touch)
            scene.step(5e-4)
        ends.append(ball.position - zone.vertices[TOP])
    # one step of Euler in between
    assert ends[0] == pytest.approx(ends[1], abs=0.02 * np.abs(ends[1]).max())


def test_refusals() -> None:
    scene = free_scene()
    zone = pad(scene)
    bottom = int(zone.fixed[0])
    refused(lambda: zone.at(bottom), f"{bottom}", "held fixed")
    refused(lambda: zone.at(len(zone.vertices)), "vertex")
    refused(lambda: zone.at((0.1, 0.1, np.nan)), "place")
    refused(lambda: zone.at(TOP, radius=1e-4), "radius")
    refused(lambda: zone.at(TOP, radius=-1.0), "radius")
    refused(lambda: sn.Clamp(zone.at(TOP)), "radius=")
    refused(lambda: sn.Align(zone.at(TOP)), "radius=")
    rod = scene.add(sn.Rod.straight((0, 0, 1), (1, 0, 1), section=kit.ROPE, material=kit.SOFT, control_points=6))
    refused(lambda: scene.add(tissue().with_material(kit.TISSUE), on=rod.at(0.5)), "rigid body", "Fuse")
    refused(lambda: scene.add(sn.RigidBody.sphere(0.1, mass=1.0), on=sn.World.at((0, 0, 0))), "zones")
    bone = sn.RigidBody.sphere(0.1, mass=1.0)
    refused(lambda: scene.add(tissue().with_material(kit.TISSUE), on=bone.at()), "not in this scene")
    loose = scene.add(tissue().with_fixed(()))
    refused(lambda: scene.add(sn.Fix(loose.at(TOP))), "held by nothing", "fixed=")
    scene.add(bone)
    rider = scene.add(tissue().with_material(kit.TISSUE), on=bone.at())
    refused(lambda: scene.remove(bone), rider.name)
    # two places that no mesh can tell apart
    scene.add(sn.Fix(zone.at(PLACE, radius=0.12)))
    count = len(scene.constraints)
    refused(lambda: scene.add(sn.Fix(zone.at(PLACE + np.array((1e-9, 0, 0)), radius=0.12))), "move as one")
    assert len(scene.constraints) == count
    scene.step(0.01)


def test_a_cable_and_a_keyhole_pull_on_tissue() -> None:
    scene = free_scene()
    zone = still(scene)
    place = zone.at(PLACE, radius=0.12)
    cable = scene.add(sn.Cable([sn.World.at((0.1, 0.1, 0.6)), place], stretch_stiffness=100.0, length=0.49))
    scene.drag = 5.0
    for _ in range(200):
        scene.step(0.01)
    assert cable.tension > 0.1
    pull = zone.place_forces.sum(axis=0)
    way = np.array((0.1, 0.1, 0.6)) - place.position
    assert pull == pytest.approx(cable.tension * way / np.linalg.norm(way), rel=1e-6)
