"""A batch is its scenes: same bits as each by itself, whatever their number and that of threads; what it refuses."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from references.batches import differing, drawn

import sennit as sn
from sennit.batch import batch as batch_module
from sennit.errors import SettingError
from sennit.solve.table import Trial
from sennit.tables import STATE, WORK

HEMP = sn.Material(1e7, 0.4, 1000, relaxation_time=0.02)
DT = 5e-3


def rope(material=HEMP, radius=5e-3, **options):
    """A rope between a clamp and a hand: scene, rope, hand; its tables are made."""
    scene = sn.Scene(**options)
    rod = scene.add(
        sn.Rod.straight(
            (0, 0, 0.5), (1, 0, 0.5), section=sn.Section.circle(radius), material=material, control_points=10
        )
    )
    scene.add(sn.Clamp(rod.at(0)))
    hand = scene.add(sn.Fix(rod.at(rod.length)))
    assert scene.dofs == 40
    return scene, rod, hand


def places(count, times, seed=0):
    """Places of a hand: (times, count, 3), m."""
    chance = np.random.default_rng(seed)
    return np.array((0.9, 0.0, 0.5)) + 0.02 * np.cumsum(chance.normal(size=(times, count, 3)), axis=0)


# ------------------------------------------------------------------------------------------------------- same bits


@pytest.mark.parametrize(
    "family",
    ["net", "crane", "hand", "mass_ratios", "keyholes", "light_body_on_a_cable", "let_go", "driven_pearls", "thrown",
     "over_a_peg", "struck", "strung", "linked_rings", "rubbing_cable"],
)  # fmt: skip
def test_scenes_of_a_batch_have_the_bits_of_scenes_by_themselves(tried, family) -> None:
    """Division, sliders in other spans, redundant rows, cables, contact: of every family that is played with."""
    for seed in (0, 1):
        tried.count("scenes in batches")
        text, _ = differing(family, seed, steps=14)
        assert text == ""


def test_each_scene_goes_its_own_way() -> None:
    """Targets differ from scene to scene, and so do steps that are divided."""
    scene, rod, hand = rope(integrator="bdf2")
    batch = sn.Batch(scene, 4)
    alone = [rope(integrator="bdf2") for _ in range(4)]
    for goal in places(4, 12):
        batch.set(hand, "target", goal)
        batch.step(DT)
        for i, (own, own_rod, own_hand) in enumerate(alone):
            own_hand.target = goal[i]
            own.step(DT)
            assert np.array_equal(batch.positions(rod)[i], own_rod.control_points)
            assert np.array_equal(batch.forces(hand)[i], own_hand.force)
            # of a point that no constraint uses, NumPy's sum of four products
            assert np.allclose(batch.positions(rod.at(0.3))[i], own_rod.at(0.3).position, rtol=0, atol=1e-15)
            assert np.allclose(batch.velocities(rod.at(0.3))[i], own_rod.at(0.3).velocity, rtol=1e-13, atol=1e-13)
    assert any(own.events for own, _, _ in alone), "the hands should be jerked enough for a step to be divided"
    told = [[event.time for number, event in batch.events if number == i] for i in range(4)]
    assert told == [[event.time for event in own.events] for own, _, _ in alone]
    total = batch.energies()["total"]
    assert np.allclose(total, [own.energy.total for own, _, _ in alone], rtol=1e-13)
    assert not scene.events
    assert scene.time == 0.0, "the scene itself stays as it is"


def test_bits_depend_neither_on_number_nor_on_order_nor_on_threads() -> None:
    scene, _, hand = rope()
    goals = places(6, 8)
    found = {}
    for order, threads in (((0, 1, 2, 3, 4, 5), 1), ((5, 3, 1, 0, 2, 4), 3), ((2,), 2)):
        batch = sn.Batch(scene, len(order), threads=threads)
        for goal in goals:
            batch.set(hand, "target", goal[list(order)])
            batch.step(DT)
        for place, number in enumerate(order):
            bits = batch.q[place].tobytes() + batch.v[place].tobytes()
            assert found.setdefault(number, bits) == bits


def test_many_steps_in_one_call_are_those_steps() -> None:
    """n steps with held targets are n calls, and led targets go linearly."""
    scene, rod, hand = rope(integrator="bdf2")
    goal, start = np.array((0.93, 0.05, 0.45)), np.array((1.0, 0.0, 0.5))
    for lead in ("hold", "ramp"):
        batch = sn.Batch(scene, 2)
        own, own_rod, own_hand = rope(integrator="bdf2")
        batch.set(hand, "target", goal)
        batch.step(DT, 6, lead)
        for k in range(1, 7):
            own_hand.target = goal if lead == "hold" or k == 6 else start + (k / 6) * (goal - start)
            own.step(DT)
        assert np.array_equal(batch.positions(rod)[1], own_rod.control_points)
        assert batch.time[1] == own.time


def test_targets_are_led_alike_wherever_the_steps_are_made(monkeypatch) -> None:
    """In compiled code and, for a step that is divided, in Python; in one call of compiled code and in several."""
    goals = np.array(((0.9, 0.4, 2.0), (0.97, 0.0, 0.5), (0.8, -0.5, -1.2)))
    start, steps = np.array((1.0, 0.0, 0.5)), 14
    found = []
    for path in (batch_module._PATH, 1, 40):
        monkeypatch.setattr(batch_module, "_PATH", path)
        scene, rod, hand = rope(integrator="bdf2")
        batch = sn.Batch(scene, 3, threads=2)
        batch.set(hand, "target", goals)
        batch.step(DT, steps)
        found.append((batch.positions(rod).tobytes(), batch.time.tobytes(), [e.time for _, e in batch.events]))
        assert np.array_equal(batch.read(hand, "target"), goals)
    assert found[0] == found[1] == found[2]
    assert {number for number, _ in batch.events} == {0}, "one is led so fast that its steps are divided"
    for i, goal in enumerate(goals):
        own, own_rod, own_hand = rope(integrator="bdf2")
        for k in range(1, steps + 1):
            own_hand.target = goal if k == steps else start + (k / steps) * (goal - start)
            own.step(DT)
        assert np.array_equal(batch.positions(rod)[i], own_rod.control_points)


# -------------------------------------------------------------------------------------------------------- varying


@pytest.mark.parametrize(
    ("name", "values", "made"),
    [
        ("youngs_modulus", (3e6, 4e7), lambda x: (sn.Material(x, 0.4, 1000, relaxation_time=0.02), 5e-3)),
        ("density", (400.0, 3000.0), lambda x: (sn.Material(1e7, 0.4, x, relaxation_time=0.02), 5e-3)),
        ("relaxation_time", (0.0, 0.1), lambda x: (sn.Material(1e7, 0.4, 1000, relaxation_time=x), 5e-3)),
        ("shear_modulus", (1e6, 3e6),
         lambda x: (sn.Material(1e7, 0.4, 1000, relaxation_time=0.02, shear_modulus=x), 5e-3)),
        ("radius", (3e-3, 8e-3), lambda x: (HEMP, x)),
    ],
)  # fmt: skip
def test_a_varied_rod_is_one_that_was_made_so(name, values, made) -> None:
    """To the last bit: constants and masses are computed by what makes rods."""
    scene, rod, hand = rope()
    batch = sn.Batch(scene, 2)
    batch.vary(rod, name, values)
    alone = [rope(*made(value)) for value in values]
    for goal in places(2, 8, seed=1):
        batch.set(hand, "target", goal)
        batch.step(DT)
        for i, (own, own_rod, own_hand) in enumerate(alone):
            own_hand.target = goal[i]
            own.step(DT)
            assert np.array_equal(batch.positions(rod)[i], own_rod.control_points)
    taken = batch.scene(1).bodies[0]
    assert isinstance(taken, sn.Rod)
    value = taken.section.radius if name == "radius" else getattr(taken.material, name)
    assert value == values[1]
    assert taken.mass == pytest.approx(alone[1][1].mass, rel=1e-14)


def test_varied_masses_and_softness() -> None:
    """A pendulum's force on its hand at rest is m g; a soft tie gives way by compliance times m g."""
    scene = sn.Scene(drag=5.0)
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    hand = scene.add(sn.Fix(ball.at(), compliance=1e-3))
    batch = sn.Batch(scene, 3)
    masses, soft = np.array((0.5, 1.0, 4.0)), np.array((1e-3, 2e-3, 5e-4))
    batch.vary(ball, "mass", masses)
    batch.vary(hand, "compliance", soft)
    batch.step(1e-2, 800)
    assert np.allclose(batch.forces(hand)[:, 2], 9.81 * masses, rtol=1e-6)
    assert np.allclose(batch.positions(ball)[:, 2], -soft * 9.81 * masses, rtol=1e-6)
    assert np.allclose(batch.read(ball, "inertia")[:, 0, 0], 0.4 * masses * 0.01)


def test_what_was_varied_stays_when_scenes_begin_again() -> None:
    """Also where it was varied while the scenes moved."""
    scene, rod, hand = rope()
    first, second = (sn.Batch(scene, 3) for _ in range(2))
    stiff = np.array((5e6, 1e7, 2e7))
    first.vary(rod, "youngs_modulus", stiff)
    second.set(hand, "target", (0.9, 0.1, 0.5))
    second.step(DT, 5)
    second.vary(rod, "youngs_modulus", stiff)
    second.reset()
    for batch in (first, second):
        batch.set(hand, "target", (0.95, 0.0, 0.5))
        batch.step(DT, 5)
    assert np.array_equal(first.q, second.q)
    assert np.array_equal(first.time, second.time)


# -------------------------------------------------------------------------------------------- states, kept and left


@pytest.mark.parametrize("family", ["driven_pearls", "rubbing_cable", "mass_ratios", "crane", "over_a_peg"])
def test_scenes_that_begin_again_have_the_bits_of_the_first_time(family) -> None:
    """Sliders back in their first spans, cables and contacts as they were; all at once, and one after the other."""
    for seed in (0, 1):
        played, dt = drawn(family, seed)
        batch = sn.Batch(played.scene, 2, threads=1)
        found = []
        for masks in ((), (None,), ([1], [0])):
            for mask in masks:
                batch.reset(mask)
            batch.step(dt, 8)
            found.append((batch.q.tobytes(), batch.v.tobytes(), str(batch.events)))
        assert found[0] == found[1] == found[2], f"{family} {seed}"


@pytest.mark.parametrize("family", ["harness", "keyholes", "over_a_peg", "rubbing_cable"])
def test_what_is_not_written_for_a_new_beginning_is_read_by_nobody(family) -> None:
    """It is poisoned: NaN in every number that the reset leaves, but for what belongs to parameters and `Trial`."""
    for seed in (2,):
        played, dt = drawn(family, seed)
        batch = sn.Batch(played.scene, 2, threads=1)
        main = batch._shop.main
        left = np.zeros(main.size, bool)
        for table in main.tables:
            for name, array in table.fields().items():
                if array.size and array.dtype == np.float64 and not isinstance(table, Trial):
                    if table._fields[name].role in (STATE, WORK):
                        first = main.byte_of(array.__array_interface__["data"][0]) // 8
                        left[first : first + array.size] = True
        for span in batch._spans:
            left[span] = False
        assert left.sum() > 100
        batch.step(dt, 6)
        found = batch.q.tobytes(), batch.v.tobytes(), str(batch.events)
        batch._words[:, left] = np.array(np.nan).view(np.int64)
        batch.reset()
        batch.step(dt, 6)
        assert found == (batch.q.tobytes(), batch.v.tobytes(), str(batch.events)), f"{family} {seed}"


def test_some_scenes_begin_again_and_the_others_go_on() -> None:
    scene, _, hand = rope()
    batch, other = sn.Batch(scene, 4), sn.Batch(scene, 4)
    goals = places(4, 10)
    for goal in goals:
        for each in (batch, other):
            each.set(hand, "target", goal)
            each.step(DT)
    kept = batch.save()
    batch.reset(np.array((True, False, False, True)))
    assert batch.time.tolist() == [0.0, other.time[1], other.time[2], 0.0]
    assert np.array_equal(batch.q[0], sn.Batch(scene, 1).q[0])
    assert np.array_equal(batch.q[1:3], other.q[1:3])
    batch.restore(kept, [3])
    batch.restore(kept, np.array((True, False, False, False)))
    for each in (batch, other):
        each.set(hand, "target", goals[0])
        each.step(DT, 3)
    assert np.array_equal(batch.q, other.q)


def test_contact_goes_back_with_a_snapshot() -> None:
    """Forces and slots of contacts are a part of the state."""
    scene = sn.Scene()
    ball = scene.add(sn.RigidBody.sphere(0.05, mass=1.0, position=(0, 0, 0.051)))
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    scene.collide()
    batch = sn.Batch(scene, 2)
    batch.step(DT, 10)
    kept = batch.save()
    batch.step(DT, 10)
    once = batch.q.copy()
    batch.restore(kept)
    batch.step(DT, 10)
    assert np.array_equal(batch.q, once)
    assert np.allclose(batch.positions(ball)[:, 2], 0.05, atol=1e-4)
    batch.reset()
    batch.step(DT, 20)
    assert np.array_equal(batch.q, once)


def test_a_target_that_was_set_is_seen_and_kept_before_the_next_step() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    hand = scene.add(sn.Fix(ball.at()))
    batch = sn.Batch(scene, 3, threads=1)
    goals = np.array([(0.01, 0, 0), (0.02, 0, 0), (0.03, 0, 0)])
    batch.set(hand, "target", goals)
    assert np.array_equal(batch.read(hand, "target"), goals)
    assert np.array_equal(batch.scene(1).constraints[0].target, goals[1])
    there = batch.save()
    batch.set(hand, "target", (0.0, 0, 0))
    batch.restore(there, [0, 2])
    batch.step(0.01)
    assert batch.positions(ball)[:, 0] == pytest.approx([0.01, 0.0, 0.03], abs=1e-12)
    batch.step(0.01)
    batch.restore(there)
    batch.step(0.01)
    assert batch.positions(ball)[:, 0] == pytest.approx([0.01, 0.02, 0.03], abs=1e-12)


def test_a_scene_of_the_batch_goes_on_by_itself() -> None:
    scene, _, hand = rope(integrator="bdf2")
    batch = sn.Batch(scene, 3)
    batch.set(hand, "target", places(3, 1)[0])
    batch.step(DT, 7)
    alone = batch.scene(1)
    alone.run(5 * DT, DT)
    batch.step(DT, 5)
    assert np.array_equal(alone.bodies[0].control_points, batch.positions(scene.bodies[0])[1])
    assert alone.time == batch.time[1]


def test_two_batches_of_one_scene_are_independent() -> None:
    scene, _, hand = rope()
    first, second = sn.Batch(scene, 2), sn.Batch(scene, 2)
    before = second.q.copy()
    first.set(hand, "target", (0.8, 0.2, 0.5))
    first.step(DT, 4)
    assert np.array_equal(second.q, before)
    assert np.array_equal(hand.target, (1.0, 0.0, 0.5))


def test_a_bad_scene_stays_where_it_was_and_the_others_go_on() -> None:
    """Two firm hands on one point that contradict each other in the first step: an error by itself, a status here."""
    scene = sn.Scene()
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    left, right = scene.add(sn.Fix(ball.at())), scene.add(sn.Fix(ball.at()))
    batch = sn.Batch(scene, 3)
    goals = np.zeros((3, 3))
    goals[1] = (0.5, 0.0, 0.0)
    batch.set(right, "target", goals)
    batch.step(DT, 3)
    assert batch.status.tolist() == [0, 3, 0]
    assert left.name in batch.failures[1] or right.name in batch.failures[1]
    assert batch.time.tolist() == [pytest.approx(3 * DT), 0.0, pytest.approx(3 * DT)]
    assert np.array_equal(batch.q[1], np.zeros(6))
    batch.reset([1])
    batch.step(DT)
    assert batch.status[1] == 0
    assert not batch.failures


def test_rollout_yields_what_is_observed() -> None:
    scene, rod, hand = rope()
    batch, again = sn.Batch(scene, 2), sn.Batch(scene, 2)
    course = places(2, 5)
    seen = list(batch.rollout({hand: course}, DT, 2, observe=lambda b: b.positions(rod.at(0.5))))
    assert len(seen) == 5
    for goal, there in zip(course, seen, strict=True):
        again.set(hand, "target", goal)
        again.step(DT, 2)
        assert np.array_equal(again.positions(rod.at(0.5)), there)


def test_numbers_are_not_copied() -> None:
    """What is read is a view of what steps write, for other libraries by DLPack, too."""
    scene, rod, hand = rope()
    batch = sn.Batch(scene, 3)
    view, shared = batch.positions(rod), np.from_dlpack(batch.q)
    batch.set(hand, "target", (0.9, 0.0, 0.4))
    batch.step(DT, 3)
    assert np.array_equal(view, batch.positions(rod))
    assert np.shares_memory(shared, batch.q)
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 1.0


# ------------------------------------------------------------------------------------------------------- bad input


def test_what_is_no_batch() -> None:
    scene, rod, hand = rope()
    with pytest.raises(sn.InputError, match=r"a batch is made of a sennit\.Scene"):
        sn.Batch(rod, 2)
    for count in (0, -1, 1.5, "many", None):
        with pytest.raises(sn.InputError, match="count must"):
            sn.Batch(scene, count)
    with pytest.raises(sn.InputError, match="threads must"):
        sn.Batch(scene, 2, threads=0)
    with pytest.raises(sn.InputError, match="device must"):
        sn.Batch(scene, 2, device="card")  # of "cuda" `test_device` tells
    with pytest.raises(sn.InputError, match="float32"):
        sn.Batch(scene, 2, dtype="float32")
    with pytest.raises(sn.InputError, match="something moves"):
        sn.Batch(sn.Scene(), 2)
    scene.add(sn.Follow(rod.at(0.5), lambda t: (0.5, 0, 0.5 - t), name="led"))
    with pytest.raises(sn.InputError, match=r"led follows a function.*Route"):
        sn.Batch(scene, 2)
    assert hand.scene is scene


class Watching(sn.Fix):
    """Looks at every step, as a needle does."""

    _attends = True


def test_what_needs_python_at_every_step_is_refused_by_name() -> None:
    scene = sn.Scene()
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    scene.add(Watching(ball.at(), name="eye"))
    with pytest.raises(sn.InputError, match=r"eye needs Python at every step.*sweep"):
        sn.Batch(scene, 2)


def test_values_that_do_not_fit_change_nothing() -> None:
    scene, rod, hand = rope()
    other, _, _ = rope()
    batch = sn.Batch(scene, 3)
    before = batch.save()._words.copy()
    bad = np.zeros((3, 3))
    bad[2, 1] = math.nan
    cases = [
        (lambda: batch.set(hand, "target", bad), "that of scene 2 is"),
        (lambda: batch.set(hand, "target", np.zeros((2, 3))), "must be an array"),
        (lambda: batch.set(hand, "target", "there"), "must be numbers"),
        (lambda: batch.set(hand, "taget", np.zeros(3)), "'taget'"),
        (lambda: batch.set(hand, "force", np.zeros(3)), "'force'"),
        (lambda: batch.set(other.constraints[0], "enabled", True), "not in the scene that the batch was made of"),
        (lambda: batch.vary(rod, "youngs_modulus", (1e7, -1.0, 1e7)), "scene 1: youngs_modulus must"),
        (lambda: batch.vary(rod, "density", (1e3, 1e3, math.inf)), "that of scene 2 is"),
        (lambda: batch.vary(rod, "colour", 1.0), "'colour'"),
        (lambda: batch.step(-1.0), "dt must"),
        (lambda: batch.step(DT, 0), "n must"),
        (lambda: batch.step(DT, 1, "jump"), "lead must"),
        (lambda: batch.reset([3]), "mask must"),
        (lambda: batch.reset([0.5]), "mask must"),
        (lambda: batch.restore(scene.snapshot()), "a snapshot of this batch"),
        (lambda: batch.scene(3), "i must"),
        (lambda: batch.positions(hand), "give a rod"),
        (lambda: batch.forces(rod), "forces are those of a constraint"),
        (lambda: batch.read(rod, "_motion"), "name of a property"),
        (lambda: next(batch.rollout({hand: np.zeros((4, 2, 3))}, DT)), "targets must"),
    ]
    for act, text in cases:
        with pytest.raises(sn.InputError, match=text):
            act()
        assert np.array_equal(batch.save()._words, before), text
    with pytest.raises(SettingError):
        batch.count = 4


def test_set_reaches_all_that_can_be_set() -> None:
    """Motors, winches, switches, loads and gravity: as set on scenes by themselves."""

    def made():
        scene = sn.Scene(integrator="bdf2")
        box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=0.5))
        wheel = scene.add(sn.RigidBody.box((0.2, 0.02, 0.02), mass=0.1, position=(1, 0, 0)))
        scene.add(sn.Hinge(wheel.at(), sn.World.at(sn.Pose((1, 0, 0))), (0, 0, 1), motor=sn.Motor(0.0, max_torque=1.0)))
        scene.add(sn.Cable([sn.World.at((0, 0, 2)), box.at((0, 0, 0.05))], stretch_stiffness=1e3))
        scene.add(sn.Load(box.at(), (0, 0, 0)))
        assert scene.dofs
        return scene

    scene, alone = made(), [made() for _ in range(3)]
    batch = sn.Batch(scene, 3)
    hinge, cable = scene.constraints
    speeds, winches, gravity = np.array((1.0, -2.0, 0.5)), np.array((-0.1, 0.0, 0.2)), np.full((3, 3), (0.0, 0.0, -5.0))
    gravity[1, 2] = -1.6
    forces = np.array(((0.1, 0, 0), (0, 0.3, 0), (0, 0, 1.0)))
    batch.set(hinge, "motor_speed", speeds)
    batch.set(cable, "speed", winches)
    batch.set(scene, "gravity", gravity)
    for k in range(12):
        if k == 4:
            batch.set(scene.loads[0], "force", forces)
        if k == 8:
            batch.set(cable, "enabled", np.array((True, False, True)))
        batch.step(DT)
    for i, own in enumerate(alone):
        own.constraints[0].motor_speed = speeds[i]
        own.constraints[1].drive(winches[i])
        own.gravity = gravity[i]
        for k in range(12):
            if k == 4:
                own.loads[0].force = forces[i]
            if k == 8 and i == 1:
                own.constraints[1].enabled = False
            own.step(DT)
        assert np.array_equal(batch.positions(scene.bodies[0])[i], own.bodies[0].position)
        assert batch.read(hinge, "angle")[i] == own.constraints[0].angle
        assert batch.energies()["total"][i] == pytest.approx(own.energy.total, rel=1e-12)


def test_a_batch_is_not_pickled_by_accident() -> None:
    scene, _, _ = rope()
    with pytest.raises(TypeError, match="batch"):
        pickle.dumps(sn.Batch(scene, 2))
