"""Batches on a graphics card: the kernels of its threads in plain Python, and whole ones on a card that is pretended,
with the program that a card gets made for this processor.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from records import thorough
from references.batches import drawn, tell
from references.pretend_card import by_processor, pretended, stepped_here  # noqa: F401  a fixture

import sennit as sn
from sennit import gpu_program
from sennit.batch.card import CardArray
from sennit.batch.device import CardBatch, Numbers, empty_sizes
from sennit.batch.kernels.march_each import march_each
from sennit.batch.launch import Launch
from sennit.batch.near import NearBatch
from sennit.batch.workshop import Workshop
from sennit.card_trial import Trials
from sennit.compilation import PLAIN
from sennit.gpu_program import Target

HEMP = sn.Material(1e7, 0.4, 1000, relaxation_time=0.02)
DT = 5e-3

IN_PYTHON = """
import sys
import numpy as np
import sennit as sn
from sennit.batch.kernels.march_each import march_each
from sennit.batch.launch import Launch
from sennit.solve.kernels.codes import QUIET
from sennit.solve.solver import WHOLE
from sennit.threads import running_as

hemp = sn.Material(1e7, 0.4, 1000, relaxation_time=0.02)

def rope(scene):
    line = sn.Rod.straight((0, 0, 6e-3), (1, 0, 6e-3), section=sn.Section.circle(5e-3), material=hemp, control_points=6)
    return scene.add(line)

def free():
    scene = sn.Scene()
    rod = rope(scene)
    scene.add(sn.Clamp(rod.at(0)))
    return scene, scene.add(sn.Fix(rod.at(rod.length))), 1

def lying():
    scene = sn.Scene()
    rod = rope(scene)
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    scene.collide(friction=0.3)
    return scene, scene.add(sn.Fix(rod.at(rod.length))), 10

def hoisting():
    scene = sn.Scene()
    box, other = (scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(x, 0, -1))) for x in (-0.1, 0.1))
    wheel = sn.Sheave(sn.World.at((0, 0, 0)), axis=(0, 1, 0), radius=0.1)
    scene.add(sn.Cable([box.at((0, 0.03, 0.05)), wheel, other.at((0, 0, 0.05))], stretch_stiffness=1e5))
    return scene, scene.add(sn.Fix(box.at((0, 0, -0.05)), compliance=1e-3)), 10

made = dict(free=free, lying=lying, hoisting=hoisting)[sys.argv[1]]
(scene, hand, steps), (other, other_hand, _) = made(), made()
for each in (scene, other):
    each.run(5e-3 * steps, dt=5e-3)
path = hand.target + np.array([(5e-4, 1e-3, 0.0), (1e-3, 1e-3, 1e-4), (1.5e-3, 1e-3, 3e-4)])
launch = Launch(waiting=1, scenes=2, anchors=1, steps=3)
launch.waiting[:], launch.parts[:], launch.counts[:] = 1, WHOLE, 3
launch.anchors[:], launch.path[1, :, 0] = hand._anchor._index, path
root = scene._compiled().system.plan(False).scene
for number in (0, 1):  # there is no work for the second one
    with running_as(number):
        march_each(launch, root)
begun = other._compiled().system.model.motion.q.copy()
for place in path:
    other_hand.target = place
    other.step(5e-3)
assert launch.made.tolist() == [0, 3] and launch.ended.tolist() == [0, QUIET], launch.ended
q = other._compiled().system.model.motion.q
assert np.array_equal(root.motion.q, q) and np.abs(q - begun).max() > 1e-4
assert (len(other.contacts) > 0) == (made is lying)
print("the same")
"""


@pytest.mark.parametrize("scene", ["free", "lying", "hoisting"])
def test_a_thread_makes_the_steps_of_its_scene_in_plain_python(scene) -> None:
    """Led along its path, in the very numbers of a `Scene`: a rope, one that lies on a table, a cable over a sheave."""
    environment = os.environ | {"SENNIT_KERNELS": "python"}
    done = subprocess.run([sys.executable, "-c", IN_PYTHON, scene], env=environment, capture_output=True, text=True)
    assert done.stdout == "the same\n", done.stderr


def rope(points=8, **options):
    """A rope between a clamp and a hand: scene, rope, hand."""
    scene = sn.Scene(**options)
    rod = sn.Rod.straight(
        (0, 0, 0.5), (1, 0, 0.5), section=sn.Section.circle(5e-3), material=HEMP, control_points=points
    )
    rod = scene.add(rod)
    scene.add(sn.Clamp(rod.at(0)))
    return scene, rod, scene.add(sn.Fix(rod.at(rod.length)))


def rope_on_a_table(points=8):
    """A rope that lies on a table, one end of it in a hand: scene, rope, hand, table."""
    scene = sn.Scene()
    table = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    rod = sn.Rod.straight((0, 0, 6e-3), (1, 0, 6e-3), section=sn.Section.circle(5e-3), material=HEMP,
                          control_points=points)  # fmt: skip
    rod = scene.add(rod)
    hand = scene.add(sn.Fix(rod.at(rod.length)))
    scene.collide(friction=0.3)
    return scene, rod, hand, table


def hoist():
    """A box on a floor, that a winch lifts by a cable over a sheave: scene, box, cable."""
    scene = sn.Scene()
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    box = scene.add(sn.RigidBody.box((0.3, 0.2, 0.2), mass=2.0, position=(0.02, 0, 0.1)))
    wheel = sn.Sheave(sn.World.at((0, 0, 2)), axis=(0, 1, 0), radius=0.1)
    cable = scene.add(sn.Cable([sn.World.at((-1, 0, 0)), wheel, box.at((0.1, 0.05, 0.1))], stretch_stiffness=1e5))
    scene.collide(friction=0.4)
    return scene, box, cable


def refused(make, dtype="float64"):
    """Why a batch of a scene on a card is refused."""
    with pretended(), pytest.raises(sn.InputError) as told:
        sn.Batch(make(), 2, device="cuda", dtype=dtype)
    return str(told.value)


def test_what_a_card_can_not_do_is_refused_by_name() -> None:
    """The integrator of fourth order, rods that yield; dtypes and devices that there are not."""

    def winding():
        scene = sn.Scene()
        drum = scene.add(sn.RigidBody.sphere(0.2, mass=1.0, position=(0.5, 0, 0.5)))
        ends = sn.World.at((0, 0, 1)), sn.World.at((1, 0, 1))
        scene.add(sn.Cable([*ends], stretch_stiffness=1e5, around=[drum], name="hawser"))
        return scene

    def yielding():
        scene = sn.Scene()
        steel = sn.Material(2e11, 0.3, 7850, yield_stress=1e8)
        scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=sn.Section.circle(1e-3), material=steel, name="clip"))
        return scene

    assert '"fourth"' in refused(lambda: rope(integrator="fourth")[0])
    assert "elastic rods alone, and clip" in refused(yielding)
    assert "hawser may lie on some" in refused(winding, "float32")
    with pytest.raises(sn.InputError, match=r'dtype must be "float64" or "float32", got .float16'):
        sn.Batch(rope()[0], 2, device="cuda", dtype="float16")
    with pytest.raises(sn.InputError, match=r'device must be "cpu" or "cuda", got .tpu'):
        sn.Batch(rope()[0], 2, device="tpu")
    with pytest.raises(sn.InputError, match="float32.* is for graphics cards"):
        sn.Batch(rope()[0], 2, dtype="float32")


# ------------------------------------------------------- what is between Python and a card, with the processor's code


@pytest.mark.skipif(PLAIN, reason="rows of numbers are stepped by machine code")
@pytest.mark.parametrize(
    "family",
    ["harness", "bead_chain", "cable_with_bodies", "struck", "rubbing_cable"],
)
def test_scenes_on_a_card_are_those_of_the_processor(stepped_here, family) -> None:  # noqa: F811
    """Beads that go on to other spans, divided steps, cables, contacts that find no room in the matrix: to the bit, and
    every launch is tried.
    """
    stepped_here.setattr(Trials, "is_due", lambda self: True)
    for seed in (0, 1):
        (first, dt), (second, _), (third, _) = (drawn(family, seed) for _ in range(3))
        card, own = sn.Batch(first.scene, 2, device="cuda"), sn.Batch(second.scene, 2, threads=1)
        for k in range(12):
            if third.drive is not None:
                third.drive(k * dt)
                tell(card, first.scene, third.scene)
                tell(own, second.scene, third.scene)
            if k == 8:
                card.reset([1])
                own.reset([1])
            card.step(dt, 2)
            own.step(dt, 2)
            assert np.array_equal(card.q.numpy(), own.q), (family, seed, k)
            assert card.status.tolist() == own.status.tolist()
        assert [(i, e.kind) for i, e in card.events] == [(i, e.kind) for i, e in own.events]


@pytest.mark.parametrize("kept", ["rows", "cables"])
def test_what_a_card_keeps_of_float32_comes_back_as_numbers(kept) -> None:
    """Before a solve a kernel copies words of ties and cables, whatever is in them; Python goes back to what was."""
    scene, *_ = rope() if kept == "rows" else hoist()
    shop = Workshop(scene)
    own, numbers = shop.main, Numbers(shop.main, "float32")
    table = shop.system.model.kept
    now, before = (own.byte_of(getattr(table, name).ctypes.data) // 8 for name in (kept, f"{kept}_before"))
    count = len(getattr(table, kept))
    for array in (shop.system.model.rows if kept == "rows" else shop.system.model.rigging.cables).fields().values():
        if array.dtype == np.float64:
            array[...] = 1.0 + np.arange(array.size).reshape(array.shape)
    there = numbers.narrow(own.template())
    there[before : before + count] = there[now : now + count]
    here = numbers.widen(there)
    assert count > 0
    assert np.array_equal(here[before : before + count], here[now : now + count])


@pytest.mark.skipif(PLAIN, reason="rows of numbers are stepped by machine code")
def test_a_card_that_computes_something_else_is_refused(stepped_here) -> None:  # noqa: F811
    """Told by its first step; nothing is changed, and what was set waits for a step that is made."""

    def wrong(batch, rows, counts, left):
        ended, made = by_processor(batch, rows, counts, left)
        where = batch._field("motion.q")
        where[rows[-1], 5] += 1e-6
        batch._write("motion.q", slice(None), where)
        return ended, made

    scene, _, hand = rope()
    batch = sn.Batch(scene, 5, device="cuda")
    batch.step(DT, 2)
    batch._trials._uses = 0  # it is due again
    stepped_here.setattr(CardBatch, "_launch", wrong)
    before = batch.q.numpy()
    batch.set(hand, "target", (0.98, 0.0, 0.5))
    for _ in range(2):
        with pytest.raises(sn.InputError, match=r"after one step a place of scene 4 is 1e-06 .* off"):
            batch.step(DT, 3)
    assert np.array_equal(batch.q.numpy(), before)
    assert np.allclose(batch.time, 2 * DT)
    stepped_here.setattr(CardBatch, "_launch", by_processor)
    with pytest.raises(sn.InputError, match="scene 4"):
        batch.step(DT)
    assert np.array_equal(batch.scene(1).constraints[-1].target, (0.98, 0.0, 0.5))


# ----------------------------------------------------------------------------------------- whole programs, --thorough


@pytest.mark.skipif(PLAIN or thorough() < 2, reason="the program of a whole step is compiled: --thorough 2")
@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_batch_on_a_card_is_its_scenes(dtype, integrator) -> None:
    """Led, varied, divided in Python, reset in part, saved and restored: as the batch on the processor.

    In float32 more gently: where a step is hardly divided in the one, it may not be in the other.
    """
    scene, rod, hand = rope(integrator=integrator)
    near = {"float64": 1e-9, "float32": 2e-4}[dtype]
    chance = np.random.default_rng(3)
    stiffness = 10 ** chance.uniform(6.5, 7.5, 3)
    with pretended():
        card, own = sn.Batch(scene, 3, device="cuda", dtype=dtype), sn.Batch(scene, 3, threads=1)
        assert type(card).__mro__[1] is sn.Batch
        kept = {}

        def same() -> None:
            assert card.status.tolist() == own.status.tolist()
            assert np.allclose(card.time, own.time, rtol=0, atol=1e-12)
            assert np.abs(card.q.numpy() - own.q).max() < near
            assert np.abs(np.asarray(card.positions(rod)) - own.positions(rod)).max() < near
            assert np.abs(card.positions(rod.at(0.3)) - own.positions(rod.at(0.3))).max() < near

        for batch in (card, own):
            batch.vary(rod, "youngs_modulus", stiffness)
        pace = 0.03 if dtype == "float64" else 0.004
        ways = np.cumsum(np.random.default_rng(0).normal(size=(8, 3, 3)), axis=0)
        places = np.array((1.0 - 2.0 * pace, 0, 0.5)) + pace * ways
        for turn, goal in enumerate(places):
            for batch in (card, own):
                batch.set(hand, "target", goal)
                batch.step(DT, 3, lead="ramp" if turn % 3 else "hold")
                if turn == 3:
                    kept[batch] = batch.save()
                if turn == 5:
                    batch.reset([True, False, True])
                if turn == 6:
                    batch.restore(kept[batch], [1])
            same()
        assert own.events or dtype == "float32", "some steps should be divided"
        assert [(i, e.kind) for i, e in card.events] == [(i, e.kind) for i, e in own.events]
        assert isinstance(card.q, CardArray)
        assert card.q.dtype == dtype
        assert np.allclose(card.forces(hand), own.forces(hand), rtol=1e-6 if dtype == "float64" else 0.05, atol=0.05)
        assert card.scene(1).time == card.time[1]


@pytest.mark.skipif(PLAIN or thorough() < 2, reason="the program of a whole step is compiled: --thorough 2")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_touches_on_a_card_is_its_scenes(monkeypatch, dtype) -> None:
    """Friction that differs, a table that is led up and down, scenes that begin again and go back; every launch is
    tried.
    """
    monkeypatch.setattr(Trials, "is_due", lambda self: True)
    scene, _, hand, table = rope_on_a_table()
    near = {"float64": 1e-8, "float32": 1e-4}[dtype]
    with pretended():
        card, own = sn.Batch(scene, 3, device="cuda", dtype=dtype), sn.Batch(scene, 3, threads=1)
        kept = {}
        for batch in (card, own):
            batch.vary(scene.contacts, "friction", (0.1, 0.3, 0.6))
        for turn in range(24):
            angle = 0.2 * turn + np.array((0.1, 0.2, 0.3))
            goal = np.column_stack((0.98 + 0.02 * np.cos(angle), 0.02 * np.sin(angle), 0.026 - 0.02 * np.cos(angle)))
            for batch in (card, own):
                batch.set(hand, "target", goal)
                batch.set(table, "position", (0, 0, 2e-3 * np.sin(0.5 * turn)))
                batch.step(DT, 3)
                if turn == 9:
                    kept[batch] = batch.save()
                if turn == 14:
                    batch.reset([True, False, False])
                if turn == 18:
                    batch.restore(kept[batch], [1])
            assert card.status.tolist() == own.status.tolist()
            assert np.abs(card.q.numpy() - own.q).max() < near
        told = [[(i, e.kind) for i, e in batch.events] for batch in (card, own)]
        assert told[0] == told[1]
        assert {"touch"} <= {kind for _, kind in told[0]}
        exact = dtype == "float64"
        assert np.allclose(
            card.forces(hand), own.forces(hand), rtol=1e-5 if exact else 0.05, atol=1e-5 if exact else 0.05
        )
        assert np.ptp(own.q[:, 4]) > 1e-3, "friction should matter"


@pytest.mark.skipif(PLAIN or thorough() < 2, reason="the program of a whole step is compiled: --thorough 2")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_winch_on_a_card_lifts_what_it_does_in_its_scenes(monkeypatch, dtype) -> None:
    """A box leaves the floor, turns and swings below a sheave, by a speed that differs from scene to scene."""
    monkeypatch.setattr(Trials, "is_due", lambda self: True)
    scene, box, cable = hoist()
    near = {"float64": 1e-8, "float32": 1e-4}[dtype]
    with pretended():
        card, own = sn.Batch(scene, 3, device="cuda", dtype=dtype), sn.Batch(scene, 3, threads=1)
        for batch in (card, own):
            batch.set(cable, "speed", (-0.2, -0.5, 0.0))
        for _ in range(30):
            for batch in (card, own):
                batch.step(1e-2, 4)
            assert card.status.tolist() == own.status.tolist()
            assert np.abs(card.q.numpy() - own.q).max() < near
        assert [(i, e.kind) for i, e in card.events] == [(i, e.kind) for i, e in own.events]
        assert own.positions(box)[:2, 2].min() > 0.2, "it should hang"
        assert np.abs(card.read(cable, "tension") - own.read(cable, "tension")).max() < (
            1e-4 if dtype == "float64" else 0.1
        )


@pytest.mark.skipif(PLAIN or thorough() < 2, reason="the program of a whole step is compiled: --thorough 2")
@pytest.mark.parametrize("made", [rope_on_a_table, hoist])
def test_scenes_that_touch_become_ptx(tmp_path, made) -> None:
    """Nothing in it that a card has not got; NVIDIA's assembler takes it."""
    root = made()[0]._compiled().system.plan(False).scene
    program = gpu_program.compiled(march_each, (Launch, type(root)), Target("sm_90", "float32", empty_sizes(root)))
    text = program.code.decode()
    assert f".visible .entry {program.symbol}(" in text
    assert not re.search(r"^\.extern", text, re.MULTILINE)
    assert not re.search(r"ld(\.\w+)*\.f64", text)
    if shutil.which("ptxas"):
        path = tmp_path / "program.ptx"
        path.write_bytes(program.code)
        done = subprocess.run(["ptxas", "-arch=sm_90", str(path), "-o", str(path) + ".out"], capture_output=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.skipif(PLAIN or thorough() < 2, reason="the program of a whole step is compiled: --thorough 2")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_numbers_that_are_brought_near_are_the_same(dtype) -> None:
    """The second layout: a scene steps in the memory of its thread, and goes back."""
    scene, _, hand = rope()
    with pretended():
        near, own = NearBatch(scene, 3, device="cuda", dtype=dtype), sn.Batch(scene, 3, threads=1)
        for k in range(20):
            for batch in (near, own):
                batch.set(hand, "target", (0.95 + 0.03 * np.sin(0.3 * k), 0.02 * np.sin(k), 0.5))
                batch.step(DT, 5)
        assert np.abs(near.q.numpy() - own.q).max() < {"float64": 1e-9, "float32": 2e-4}[dtype]


def test_scenes_that_change_their_pattern_are_not_brought_near() -> None:
    scene, rod, _ = rope()
    scene.add(sn.Pearl(rod, 0.3, mass=0.01, radius=0.01))
    with pretended(), pytest.raises(sn.InputError, match="sliders or contact"):
        NearBatch(scene, 2, device="cuda")
