"""What random scenes have found, each as the shortest program that showed it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from references.scene_runner import bits, read
from unit.scene import kit

import sennit as sn

ROPE = sn.Section.circle(5e-3)


def straight(scene: sn.Scene, start, end, material: sn.Material, n: int, **more) -> sn.Rod:
    return scene.add(sn.Rod.straight(start, end, section=ROPE, material=material, control_points=n, **more))


def test_a_rod_that_is_folded_right_back_keeps_finite_frames() -> None:
    """The smallest rotation between opposite tangents is 0/0."""
    scene = sn.Scene(gravity=(0, 0, 0), integrator="midpoint")
    rod = straight(scene, (0, 0, 0.752), (0, 0, 0), sn.Material(2e5, 0.49, 900), 8)
    scene.add(sn.Fuse(rod.at(0.0), rod.at(0.386 * rod.length), damping=0.746, angular_compliance=1.14e-05))
    scene.step(2.22e-4)
    read(scene)


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
def test_a_step_that_is_refused_leaves_cables_as_they_were(integrator: str) -> None:
    scene = sn.Scene(integrator=integrator)
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(0, 0, 1)))
    scene.add(sn.Cable([sn.World.at((0, 0, 3)), ball.at((0.02, 0, 0.1))], stretch_stiffness=1e4, twist_stiffness=1.0))
    scene.run(0.1, dt=0.01)
    fix = scene.add(sn.Fix(ball.at()))
    other = scene.add(sn.Fix(ball.at(), target=(1, 1, 1)))
    before = bits(scene)
    with pytest.raises(sn.InputError, match="contradict"):
        scene.step(0.01)
    assert bits(scene) == before
    scene.remove(fix)
    scene.remove(other)
    scene.step(0.01)
    read(scene)


def test_bdf2_does_not_explode_where_a_curved_rod_springs_back() -> None:
    """A rod that is curved at rest is laid straight: 0.27 J grew to 1e9 J in a hundred steps."""
    for model in ("spline", "discrete"):
        scene = sn.Scene(gravity=(0, 0, 0), integrator="bdf2")
        rod = straight(
            scene,
            (0, 0, 0),
            (0, 0.389, 0),
            sn.Material(1e8, 0.2, 10),
            12,
            rest_curvature=(4.52, 2.46, -1.39),
            model=model,
        )
        begin = scene.energy.total
        for _ in range(100):
            scene.step(1.33e-3)
            # nothing drives it: it cannot move faster than what was stored allows
            assert scene.energy.kinetic < begin
        assert scene.energy.total < begin
        assert np.isfinite(rod.control_points).all()


@pytest.mark.parametrize(
    "tie",
    [
        lambda b: sn.Distance(b.at(), b.at((0.1, 0, 0))),
        lambda b: sn.Prismatic(b.at(), b.at((0.1, 0, 0)), (1, 0, 0)),
        lambda b: sn.Screw(b.at(), b.at((0.1, 0, 0)), (1, 0, 0), lead=0.1),
        lambda b: sn.OnPlane(b.at(), (0, 0, 1), of=b.at((0.1, 0, 0))),
    ],
)
def test_a_tie_within_one_rigid_body_is_refused(tie) -> None:
    """Its row has no derivative: a step of a spinning body gave it 1e10 J."""
    scene = sn.Scene()
    body = scene.add(sn.RigidBody.box((0.2, 0.3, 0.4), mass=1.0))
    with pytest.raises(sn.InputError, match="one rigid body"):
        scene.add(tie(body))
    assert not scene.constraints


def test_a_snapshot_brings_back_gravity_drag_and_integrator() -> None:
    scene = sn.Scene(gravity=(0, 0, -9.81), drag=0.1, integrator="bdf2")
    scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    here, before = scene.snapshot(), bits(scene)
    scene.gravity, scene.drag, scene.integrator = (1, 2, 3), 0.5, "euler"
    scene.restore(here)
    assert bits(scene) == before
    assert scene.gravity.tolist() == [0, 0, -9.81]
    assert (scene.drag, scene.integrator) == (0.1, "bdf2")


def test_a_place_of_a_zone_is_the_same_to_the_bit_in_a_file(tmp_path) -> None:
    """The place that `at` had found was looked for again, and found a rounding away."""
    scene = sn.Scene(gravity=(0, 0, 0))
    zone = kit.pad(scene)
    scene.add(sn.Load(zone.at((0.0542, 0.127, 0.1), radius=0.12), force=(-5.64, 8.68, 9.27)))
    scene.save(tmp_path / "zone.npz")
    other = sn.Scene.load(tmp_path / "zone.npz")
    for it in (scene, other):
        it.step(3.63e-3)
    assert bits(other) == bits(scene)


@pytest.mark.parametrize("kind", ["redundant", "fallback"])
def test_a_spell_that_lasts_goes_on_in_a_file(kind: str, tmp_path) -> None:
    """Files saved while one of these lasted could not be read: its kind was thought to be unknown."""
    scene = sn.Scene(integrator="fourth" if kind == "fallback" else "euler")
    damped = sn.Material(1e7, 0.4, 1000, relaxation_time=0.01 if kind == "fallback" else 0.0)
    rod = straight(scene, (0, 0, 0), (0.5, 0, 0), damped, 6)
    for _ in range(2 if kind == "redundant" else 1):
        scene.add(sn.Fix(rod.at(0.0)))
    scene.run(5e-3, dt=1e-3)
    scene.save(tmp_path / "spell.npz")
    other = sn.Scene.load(tmp_path / "spell.npz")
    for it in (scene, other):
        it.run(5e-3, dt=1e-3)
    told = [(event.kind, event.time, event.steps) for event in scene.events]
    assert [name for name, *_ in told] == [kind]  # one spell, before and after
    assert [(event.kind, event.time, event.steps) for event in other.events] == told
    assert np.array_equal(other.bodies[0].control_points, rod.control_points)


@pytest.mark.parametrize("integrator", ["bdf2", "midpoint", "fourth"])
def test_what_holds_from_both_sides_does_not_bounce(integrator: str) -> None:
    """An equality row with a restitution was thrown back at each step: 4 J grew to 1e5 J, and more at shorter steps."""
    energies = []
    for restitution in (0.0, 1.0):
        scene = sn.Scene(gravity=(0, 0, 0), integrator=integrator)
        one = scene.add(sn.RigidBody.box((0.335, 0.114, 0.368), mass=0.556, position=(-0.607, -0.869, 0.649)))
        two = scene.add(sn.RigidBody.box((0.233, 0.0846, 0.187), mass=2.56, position=(-0.494, 0.225, -0.324)))
        two.angular_velocity = (-17.4, 19.9, 14.9)
        ball = scene.add(sn.RigidBody.sphere(0.1, mass=0.612, position=(-0.323, -0.886, -0.313)))
        scene.add(sn.Distance(ball.at(), one.at((-0.0815, 0.0457, -0.161)), restitution=restitution))
        scene.add(sn.Align(one.at(), of=two.at((-0.188, -0.00362, -0.0751))))
        for _ in range(25):
            scene.step(2.38e-3)
        energies.append(scene.energy.kinetic)
    assert energies[1] == energies[0]


def test_a_cable_over_two_sheaves_of_one_body_keeps_momentum() -> None:
    """In the thirteenth step the cable leaves a sheave on the way: its pull until there was forgotten."""
    scene = sn.Scene(gravity=(0, 0, 0), integrator="midpoint")
    one = scene.add(sn.RigidBody.box((0.19, 0.224, 0.0895), mass=1.12, position=(0.65, 0.812, -0.135)))
    one.angular_velocity = (0.297, 1.48, 1.64)
    two = scene.add(sn.RigidBody.from_inertia(0.517, (0.00517, 0.0062, 0.00775), position=(0.217, 0.0269, -0.972)))
    places = [
        one.at(), one.at((0.0566, -0.105, -0.133)), sn.Sheave(two.at(), (0.829, 0.393, 0.38), 0.0335),
        sn.Sheave(two.at((0.0272, -0.161, -0.136)), (-0.0967, -0.403, 0.56), 0.0282),
        two.at((-0.00472, -0.0907, -0.0985)),
    ]  # fmt: skip
    scene.add(sn.Cable(places, section=sn.Section.circle(2e-3), material=sn.Material(2e11, 0.3, 7850)))
    for _ in range(13):
        scene.step(7.56e-3)
    np.testing.assert_allclose(scene.linear_momentum, 0.0, atol=1e-8)


TURNING = {
    "two points": lambda scene, body: (sn.Fix(body.at((0.1, 0.05, 0.0))), sn.Fix(body.at((-0.1, -0.05, 0.0)))),
    "a clamp and an axis": lambda scene, body: (
        sn.Clamp(body.at((-0.0756, 0.166, 0.00683))),
        sn.OnAxis(body.at(), (0.497, 0.623, -0.438)),
    ),
    "a clamp, a distance and a plane": lambda scene, body: (
        sn.Clamp(body.at()),
        sn.Distance(body.at((0.2, 0.1, 0.0)), sn.World.at((1, 2, 3))),
        sn.OnPlane(body.at((0.1, 0.0, 0.3)), (0.3, -0.5, 0.8)),
    ),
}


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
@pytest.mark.parametrize("ties", TURNING)
def test_sound_rows_of_a_body_that_turns_are_not_refused(ties: str, integrator: str) -> None:
    """Free flight takes it off them by second order in its turn, and there redundant rows disagree by that much."""
    scene = sn.Scene(gravity=(0, 0, 0), integrator=integrator)
    body = scene.add(sn.RigidBody.sphere(0.2, mass=2.0, position=(0.3, -0.2, 0.5)))
    spin = np.array((-16.1, -12.3, -19.0))
    held = [scene.add(tie) for tie in TURNING[ties](scene, body)]
    places = [tie.points[0].position for tie in held]
    body.angular_velocity = spin
    for _ in range(100):
        scene.step(1e-3)
    off = max(np.abs(tie.points[0].position - place).max() for tie, place in zip(held, places, strict=True))
    assert off < 1e-5
    if integrator in ("midpoint", "fourth"):
        return  # these keep the energy of what is stopped at once: velocities change sign from step to step
    # what goes on is the turn about the line through two points, whose momentum no force at them changes
    axis = np.array((2.0, 1.0, 0.0)) / 5**0.5
    left = (spin @ axis) * axis if ties == "two points" else np.zeros(3)
    assert np.abs(body.angular_velocity - left).max() < 0.03 * np.linalg.norm(spin)


def test_two_points_of_a_body_settle_where_both_are_turned_to() -> None:
    """Rows that curve disagree at second order on the way there: that is judged where the way ends."""
    scene = sn.Scene()
    body = scene.add(sn.RigidBody.box((0.3, 0.1, 0.1), mass=1.0))
    places = np.array(((0.1, 0.0, 0.05), (-0.1, 0.0, 0.05)))
    held = [scene.add(sn.Fix(body.at(place))) for place in places]
    move, c, s = np.array((0.2, 0.1, 0.0)), np.cos(0.7), np.sin(0.7)
    rotation = np.array(((c, -s, 0), (s, c, 0), (0, 0, 1)))
    for fix, place in zip(held, places, strict=True):
        fix.target = move + rotation @ place
    assert scene.settle().stable
    assert np.abs(body.position - move).max() < 1e-6
    assert np.abs(body.pose.rotation - rotation).max() < 1e-5


def test_targets_that_contradict_each_other_are_refused_by_settle() -> None:
    scene = sn.Scene()
    body = scene.add(sn.RigidBody.box((0.3, 0.1, 0.1), mass=1.0))
    held = [scene.add(sn.Fix(body.at(place))) for place in ((0.1, 0.0, 0.05), (-0.1, 0.0, 0.05))]
    held[1].target = (-0.11, 0.0, 0.05)
    before = bits(scene)
    with pytest.raises(sn.InputError, match="contradict each other by 0.01") as refused:
        scene.settle()
    assert str(refused.value).count("Fix") == 2
    assert bits(scene) == before


@pytest.mark.parametrize("tie", [sn.Hinge, sn.Lock])
def test_superfluous_rows_are_told_once_and_by_name(tie) -> None:
    """A gram's thousandth between the world and a thousand tonnes: every step told of rows without a name."""
    scene = sn.Scene(integrator="midpoint")
    light = scene.add(sn.RigidBody.box((0.2, 0.05, 0.05), mass=1e-6, position=(0.1, 0, 0)))
    heavy = scene.add(sn.RigidBody.box((0.2, 0.05, 0.05), mass=1e6, position=(0.3, 0, 0)))
    axis = ((0, 1, 0),) if tie is sn.Hinge else ()
    scene.add(tie(light.at((-0.1, 0, 0)), sn.World.at((0, 0, 0)), *axis))
    scene.add(tie(heavy.at((-0.1, 0, 0)), light.at((0.1, 0, 0)), *axis))
    scene.run(0.5, dt=5e-3)
    told = [event for event in scene.events if event.kind == "redundant"]
    assert all(event.subjects for event in told)
    assert len({event.subjects for event in told}) == len(told) <= 3


def test_a_pearl_moves_with_its_rod_whenever_that_is_set_in_motion() -> None:
    """Before the first step, or after something was added, a pearl kept the velocity that it had when it was made: of
    the momentum 1.54 kg·m/s there was 0.04.
    """
    for when in ("before it is in the scene", "before the first step", "after a step", "after something was added"):
        scene = sn.Scene(gravity=(0, 0, 0))
        rod = straight(scene, (0, 0, 0), (1, 0, 0), sn.Material(1e7, 0.4, 1000), 8)
        pearl = sn.Pearl(rod, 0.3, mass=0.5, radius=0.01)
        if when == "before it is in the scene":
            rod.set_velocity((0, 0, 3))
        scene.add(pearl)
        if when.startswith("after"):
            scene.step(1e-3)
        if when == "after something was added":
            scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(5, 0, 0)))
        if when != "before it is in the scene":
            rod.set_velocity((0, 0, 3))
        whole = 3.0 * (rod.mass + pearl.mass)
        assert scene.linear_momentum == pytest.approx((0, 0, whole), rel=1e-12, abs=1e-12), when
        scene.step(1e-3)
        assert scene.linear_momentum == pytest.approx((0, 0, whole), rel=1e-9, abs=1e-9), when


@pytest.mark.parametrize("what", ["nothing", "restored", "saved", "removed", "body added", "pickled"])
def test_ties_that_contradict_each_other_in_motion_go_on_giving_way(what: str, tmp_path) -> None:
    """They give way, with an event; whatever else was added, removed, saved or restored, the next step refused them."""
    scene = sn.Scene()
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(0, 0, 0)))
    scene.add(sn.Fix(ball.at()))
    other = scene.add(sn.Fix(ball.at()))
    free = scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(3, 0, 0)))
    scene.step(0.01)
    other.target = (0.1, 0, 0)
    scene.run(0.02, dt=0.01)
    assert "yielded" in [event.kind for event in scene.events]
    if what == "restored":
        snapshot = scene.snapshot()
        scene.remove(free)
        scene.restore(snapshot)
    elif what == "saved":
        scene.save(tmp_path / "scene.npz")
        scene = sn.Scene.load(tmp_path / "scene.npz")
    elif what == "removed":
        scene.remove(free)
    elif what == "body added":
        scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(5, 0, 0)))
    elif what == "pickled":
        scene = pickle.loads(pickle.dumps(scene))
    scene.step(0.01)
    read(scene)
    if what not in ("saved", "pickled"):
        scene.add(sn.Fix(ball.at(), target=(0.2, 0, 0)))
        with pytest.raises(sn.InputError, match="contradict"):  # that is an error in what was given
            scene.step(0.01)


def test_what_came_to_overlap_in_motion_is_not_refused_when_something_is_taken_out() -> None:
    """A hand was let go of where a long step had left a deep overlap: no step could be made any more."""
    scene = sn.Scene(gravity=(0, 0, 0))
    scene.collide()
    a = scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(0, 0, 0)))
    b = scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(1, 0, 0)))
    hand = scene.add(sn.Fix(b.at(), compliance=1e-3))
    scene.step(0.01)
    snapshot = scene.snapshot()
    a.position = (0.85, 0, 0)  # as if they had come there
    scene.remove(hand)
    scene.step(0.01)
    read(scene)
    scene.restore(snapshot)
    scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(0.05, 0, 0)))
    with pytest.raises(sn.InputError, match="overlap where the scene begins"):
        scene.step(0.01)
