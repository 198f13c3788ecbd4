"""A chain in a scene is the chain alone, on bones that move: displacements, seam forces, and what the bones feel."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from references.rotation import exp
from unit.scene.kit import bits, refused

import sennit as sn
from tests.verification.zones.test_chain import BENT, SIZE, pad, row_of_pads, side, top

TURN = exp(np.array((0.5, -0.3, 0.8)))
LOADED = np.array((0.03, 0.006, 0.012))
FORCE = np.array((0.01, 0.02, -0.05))


def chain_of_pads(count: int = 3, **options) -> sn.ZoneChain:
    zones, seams = row_of_pads(count)
    return sn.ZoneChain(zones, seams, **options)


def finger(turn: np.ndarray | None = None, shift=(0.0, 0.0, 0.0), tip=(0.0, 0.02, -0.03), **options):
    """Three pads on three bones with hinges between them, the first clamped, the last pulled."""
    turn = np.eye(3) if turn is None else turn
    base = sn.Pose.from_rotation(shift, turn)
    scene = sn.Scene(gravity=(0, 0, 0), **options)
    bones = []
    for k in range(3):
        pose = base @ sn.Pose((SIZE[0] * (k + 0.5), 0.006, -0.004))
        bones.append(scene.add(sn.RigidBody.box((0.02, 0.01, 0.008), mass=0.01, pose=pose, name=f"bone {k}")))
    clamp = scene.add(sn.Clamp(bones[0].at()))
    hinges = [
        scene.add(sn.Hinge(a.at((0.01, 0, 0)), b.at((-0.01, 0, 0)), axis=turn @ (0, 1.0, 0)))
        for a, b in zip(bones[:-1], bones[1:], strict=True)
    ]
    chain = chain_of_pads()
    scene.add(chain, on=[bone.at((-SIZE[0] * (k + 0.5), -0.006, 0.004)) for k, bone in enumerate(bones)])
    pull = scene.add(sn.Load(bones[2].at((0.01, 0, 0)), force=turn @ np.asarray(tip)))
    return scene, chain, bones, clamp, hinges, pull


def poses(chain: sn.ZoneChain) -> list[sn.Pose]:
    return [zone.pose for zone in chain.zones]


def assert_same(chain: sn.ZoneChain, state, tolerance: float) -> None:
    scale = max(np.abs(u).max() for u in state.displacements)
    for zone, want in zip(chain.zones, state.displacements, strict=True):
        assert zone.displacements == pytest.approx(want, abs=tolerance * scale)
    largest = max(np.abs(forces.sum(axis=0)).max() for forces in state.seam_forces)
    for tie, forces in zip(chain.ties, state.seam_forces, strict=True):
        assert tie.force == pytest.approx(forces.sum(axis=0), abs=tolerance * largest)


@pytest.mark.parametrize("how", ["euler", "bdf2", "midpoint", "settle"])
def test_on_bones_that_are_led(how: str, validated) -> None:
    """Each frame on the world, bent by radians, with a load amid a zone and one on a seam."""
    chain = chain_of_pads()
    scene = sn.Scene(gravity=(0, 0, 0), integrator="euler" if how == "settle" else how)
    frames = [sn.World.at(sn.Pose()) for _ in range(3)]
    assert scene.add(chain, on=frames) is chain and chain.scene is scene and len(chain.ties) == 2
    at, on_seam = top(chain.zones[1], LOADED), int(chain.seams[0].vertices[0][-1])
    scene.add(sn.Load(chain.at(1, at), force=BENT[1].rotation @ FORCE))
    scene.add(sn.Load(chain.at(0, on_seam), force=BENT[0].rotation @ (0.0, 0.01, 0.0)))
    scene.step(0.01)
    for frame, pose in zip(frames, BENT, strict=True):
        frame.pose = pose
    if how == "settle":
        assert scene.settle().stable
    else:
        for _ in range(3):
            scene.step(0.01)
    state = chain.solve(BENT, loads={1: {at: FORCE}, 0: {on_seam: (0.0, 0.01, 0.0)}}, method="direct")
    scale = max(np.abs(u).max() for u in state.displacements)
    validated(
        "Chain of zones in a scene",
        area="zones",
        quantity="displacements, of the largest",
        reference="the same chain solved alone",
        error=max(
            np.abs(zone.displacements - want).max() / scale
            for zone, want in zip(chain.zones, state.displacements, strict=True)
        ),
        bound=1e-9,
    )
    assert_same(chain, state, 1e-9)
    assert scene.energy.zones == pytest.approx(state.energy, rel=1e-9)
    assert max(tie.gap for tie in chain.ties) < 1e-12
    for tie, forces in zip(chain.ties, state.seam_forces, strict=True):
        a, _ = tie.zones
        where = a.positions[tie.vertices[0]]
        assert tie.torque == pytest.approx(np.cross(where - where[0], forces).sum(axis=0), abs=1e-12)


def test_flesh_pulls_on_bones_that_hinges_hold() -> None:
    """A finger that is pulled at its tip bends until its flesh, as it is when solved alone, balances the pull."""
    scene, chain, bones, clamp, hinges, pull = finger(tip=(0.0, 0.02, -0.1))
    assert scene.settle(tolerance=1e-10).stable
    bend = float(np.arccos(bones[2].pose.rotation[0, 0]))
    assert 0.1 < bend < 0.8
    state = chain.solve(poses(chain), method="direct")
    assert_same(chain, state, 1e-8)
    # action and reaction, on the whole and on each bone
    size = np.linalg.norm(pull.force)
    assert clamp.force == pytest.approx(-pull.force, abs=1e-9 * size)
    moment = np.cross(pull.point.position - bones[0].position, pull.force)
    assert clamp.torque == pytest.approx(-moment, abs=1e-9 * size)
    # of the last bone alone: the pull, the hinge, and the flesh at the seam where it is now
    tie, hinge = chain.ties[1], hinges[1]
    start = tie.points[0].position
    assert pull.force - hinge.force - tie.force == pytest.approx(np.zeros(3), abs=1e-9 * size)
    about = hinge.points[0].position
    torque = np.cross(pull.point.position - about, pull.force)
    torque -= hinge.torque + tie.torque + np.cross(start - about, tie.force)
    assert torque == pytest.approx(np.zeros(3), abs=1e-9 * size)
    assert abs(tie.torque @ bones[2].pose.rotation[:, 1]) > 1e-4


def test_all_turned_and_moved() -> None:
    angles, forces = [], []
    for turn, shift in ((None, (0, 0, 0)), (TURN, (0.3, -0.2, 0.5))):
        scene, chain, bones, _clamp, _hinges, _pull = finger(turn, shift)
        assert scene.settle(tolerance=1e-11).converged
        R = np.eye(3) if turn is None else turn
        angles.append(np.concatenate([R.T @ bone.pose.rotation for bone in bones]))
        forces.append(np.array([R.T @ tie.force for tie in chain.ties]))
    assert angles[1] == pytest.approx(angles[0], abs=1e-8)
    assert forces[1] == pytest.approx(forces[0], abs=1e-7 * np.abs(forces[0]).max())


def test_reciprocity_through_seams(validated) -> None:
    """A force on the first pad moves a place of the last one as the same force there moves the first."""
    chain = chain_of_pads()
    scene = sn.Scene(gravity=(0, 0, 0))
    scene.add(chain)
    a, b = (
        chain.at(0, top(chain.zones[0], (0.015, 0.006, 0.012))),
        chain.at(2, top(chain.zones[2], (0.045, 0.0, 0.012))),
    )
    push, pull = np.array((0.01, 0.02, -0.01)), np.array((-0.02, 0.01, 0.02))
    work = []
    for here, there, force, other in ((a, b, push, pull), (b, a, pull, push)):
        load = scene.add(sn.Load(here, force=force))
        still = scene.add(sn.Load(there, force=(0, 0, 0)))
        scene.step(0.01)
        scene.step(0.01)
        work.append(float((there.position - there.body.vertices[there._vertices[0]]) @ other))
        scene.remove(load)
        scene.remove(still)
    assert abs(work[0]) > 1e-9
    validated(
        "Two loads, on zones of a chain in a scene",
        area="zones",
        quantity="mutual work",
        reference="Betti's theorem",
        error=abs(work[0] / work[1] - 1),
        bound=1e-9,
    )


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint"])
def test_free_bones_keep_their_momenta(integrator: str) -> None:
    scene, _chain, bones, clamp, _hinges, pull = finger(integrator=integrator)
    scene.remove(clamp)
    scene.remove(pull)
    bones[0].velocity, bones[2].angular_velocity = (0.1, -0.05, 0.2), (3.0, 8.0, -2.0)
    scene.step(1e-3)
    before = np.concatenate((scene.linear_momentum, scene.angular_momentum))
    scene.run(0.1, dt=1e-3)
    after = np.concatenate((scene.linear_momentum, scene.angular_momentum))
    assert after[:3] == pytest.approx(before[:3], abs=1e-12 * np.abs(before[:3]).max() * 100)
    assert after[3:] == pytest.approx(before[3:], abs=1e-6 * np.abs(before[3:]).max())


def test_fewer_places_open_the_seam_a_little() -> None:
    """Of 21 vertices: the forces of modes close it but for a gap that is told, and that falls with their number."""
    seams_of = []
    for options in ({"method": "modes", "modes": 8}, {"method": "modes", "modes": 16}, {}):
        zones = [pad(k * SIZE[0], cells=(6, 4, 4)) for k in range(2)]
        chain = sn.ZoneChain(zones, [(side(zones[0], SIZE[0])[1:], side(zones[1], SIZE[0])[1:])], **options)
        scene = sn.Scene(gravity=(0, 0, 0))
        frames = [sn.World.at(sn.Pose()) for _ in range(2)]
        scene.add(chain, on=frames)
        frames[1].pose = BENT[0]
        scene.step(0.01)
        scene.step(0.01)
        seams_of.append((chain.ties[0].places, chain.ties[0].gap, chain.ties[0].force))
    (few, wide, one), (more, narrow, two), (all_of_them, shut, exact) = seams_of
    assert (few, more, all_of_them) == (8, 16, 24) and shut < 1e-12
    assert narrow < 0.5 * wide < 2e-3
    assert np.linalg.norm(two - exact) < 0.01 * np.linalg.norm(exact)
    assert np.linalg.norm(one - exact) < 0.1 * np.linalg.norm(exact)


def test_a_ball_that_rests_on_a_seam_presses_as_it_does_alone() -> None:
    chain = chain_of_pads()
    scene = sn.Scene()
    scene.add(chain)
    ball = scene.add(sn.RigidBody.sphere(radius=0.02, mass=0.02, position=(0.021, 0.006, 0.0315)))
    scene.add(sn.OnAxis(ball.at(), (0, 0, 1)))
    scene.collide(ball, list(chain.zones))
    scene.settle()
    shape = sn.Sphere(ball.position, radius=0.02)
    pressed = chain.press(shape, poses=[sn.Pose()] * 3)
    assert pressed.force[2] == pytest.approx(-0.02 * 9.81, rel=0.01)
    assert len(pressed.patch) == 2
    scale = np.abs(pressed.displacements[0]).max()
    for zone, want in zip(chain.zones, pressed.displacements, strict=True):
        assert zone.displacements == pytest.approx(want, abs=0.02 * scale)


def test_snapshots_files_copies_and_reset_give_the_same_bits(tmp_path) -> None:
    scene, chain, _bones, _clamp, _hinges, _pull = finger(integrator="bdf2")
    chain.ties[0].damping = 1e-3
    start = bits(scene)
    scene.run(0.02, dt=0.002)
    middle = scene.snapshot()
    scene.save(tmp_path / "finger.npz")
    copied = copy.deepcopy(scene)
    scene.run(0.02, dt=0.002)
    end, places = bits(scene), [zone.positions for zone in chain.zones]
    for other in (sn.Scene.load(tmp_path / "finger.npz"), copied):
        other.run(0.02, dt=0.002)
        zones = [body for body in other.bodies if isinstance(body, sn.Zone)]
        assert all(np.array_equal(zone.positions, want) for zone, want in zip(zones, places, strict=True))
        assert [type(tie) for tie in other.constraints] == [type(tie) for tie in scene.constraints]
    scene.restore(middle)
    scene.run(0.02, dt=0.002)
    assert bits(scene) == end
    scene.reset()
    assert bits(scene) == start


def test_a_seam_that_is_opened_and_a_chain_that_leaves() -> None:
    chain = chain_of_pads(2)
    scene = sn.Scene(gravity=(0, 0, 0))
    frames = [sn.World.at(sn.Pose()) for _ in range(2)]
    scene.add(chain, on=frames)
    frames[1].pose = sn.Pose((0.001, 0, 0))
    scene.step(0.01)
    tie = chain.ties[0]
    assert np.linalg.norm(tie.force) > 1e-3
    tie.enabled = False
    scene.step(0.01)
    assert tie.gap == pytest.approx(0.001, rel=1e-9) and np.abs(tie.force).max() == 0.0
    assert np.abs(chain.zones[0].displacements).max() < 1e-15
    tie.enabled = True
    scene.step(0.01)
    assert tie.gap < 1e-12
    before = scene.snapshot()
    load = scene.add(sn.Load(chain.at(0, top(chain.zones[0], (0.01, 0.006, 0.012)))))
    refused(lambda: scene.remove(chain), load.name)
    refused(lambda: scene.remove(chain.zones[0]), tie.name)
    scene.remove(load)
    scene.remove(chain)
    assert chain.scene is None and not chain.ties and not scene.bodies and not scene.constraints
    scene.restore(before)
    assert chain.scene is scene and chain.ties == (tie,)
    scene.remove(chain)
    other = sn.Scene()
    other.add(chain)
    assert chain.scene is other and chain.ties[0] is not tie


def test_refusals() -> None:
    chain, scene = chain_of_pads(2), sn.Scene()
    refused(lambda: scene.add(chain, on=sn.World.at((0, 0, 0))), "list of 2 points")
    refused(lambda: scene.add(chain, on=[sn.World.at((0, 0, 0))]), "list of 2 points", "got 1")
    bone = sn.RigidBody.sphere(0.1, mass=1.0)
    refused(lambda: scene.add(chain, on=[sn.World.at((0, 0, 0)), bone.at()]), "not in this scene")
    refused(lambda: scene.remove(chain), "not in this scene")
    zone = pad()
    twice = sn.ZoneChain([zone, zone], [(side(zone, SIZE[0]), side(zone, 0.0))],
                         rest_poses=[sn.Pose(), sn.Pose((SIZE[0], 0, 0))])  # fmt: skip
    refused(lambda: scene.add(twice), "each their own")
    fine = pad(SIZE[0], cells=(4, 3, 3))
    ends = (side(zone, SIZE[0]), side(fine, SIZE[0]))
    refused(lambda: scene.add(sn.ZoneChain([zone, fine], [ends])), "projection")
    assert not scene.bodies and not scene.constraints
    scene.add(chain)
    refused(lambda: scene.add(chain), "in this scene already")
    refused(lambda: chain.at(2, 0), "zone")
