"""Hair: bits that do not depend on the others, rods that fail alone, other number types, reading, bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from records import thorough
from references.hairs import KERATIN, LENGTH, WISP, directions, hair_of
from references.pretend_card import PretendDriver, PtxDriver, pretended

import sennit as sn
from sennit import gpu_driver, gpu_program
from sennit.batch.card import loaded
from sennit.compilation import PLAIN, kernel
from sennit.errors import InputError, SettingError
from sennit.hair.head import distances_of
from sennit.hair.kernels.head import FAR, distance_in_grid
from sennit.hair.running import fill_head, table_sizes
from sennit.hair.tables import OneHair
from sennit.tables import PARAMETER, WORK, Table, number
from sennit.threads import thread

BALL = sn.Sphere((0.0, 0.0, 0.0), 0.1)


def shaken(hair: sn.Hair, steps: int = 30) -> sn.Hair:
    """Fallen down and turned."""
    for k in range(steps):
        hair.pose = sn.Pose((0.0, 0.002 * k, 0.0), (np.cos(0.02 * k), 0.0, 0.0, np.sin(0.02 * k)))
        hair.step(1.0 / 120.0, 2)
    return hair


def test_same_bits_for_any_number_order_and_threads() -> None:
    ways = directions(11)
    options = {"length": LENGTH, "section": WISP, "material": KERATIN, "head": BALL}
    all_of_them = shaken(sn.Hair(0.1 * ways, ways, threads=1, **options)).positions
    order = np.array((7, 2, 10, 0, 5, 3))
    some = shaken(sn.Hair(0.1 * ways[order], ways[order], threads=2, **options)).positions
    assert np.array_equal(some, all_of_them[order])
    alone = shaken(sn.Hair(0.1 * ways[4:5], ways[4], threads=3, **options)).positions
    assert np.array_equal(alone[0], all_of_them[4])


def test_many_steps_in_a_call_are_many_calls() -> None:
    """Also more than compiled code makes at once; the head goes there evenly."""
    once, often = hair_of(5, head=BALL), hair_of(5, head=BALL)
    goal = sn.Pose((0.0, 0.1, 0.0))
    once.pose = goal
    once.step(2e-3, 100)
    for k in range(1, 101):
        often.pose = sn.Pose((0.0, 0.001 * k, 0.0))
        often.step(2e-3)
    assert np.allclose(once.positions, often.positions, rtol=0.0, atol=1e-11)
    assert once.time == often.time == pytest.approx(0.2)
    assert np.allclose(once.positions[:, 0], 0.1 * directions(5) + (0.0, 0.1, 0.0), atol=1e-14)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_bad_rod_fails_alone(dtype) -> None:
    hair, sound = hair_of(9, head=BALL, dtype=dtype), hair_of(9, head=BALL, dtype=dtype)
    hair.step(1e-3, 5)
    sound.step(1e-3, 5)
    state = hair._runner.read(0, hair._runner.size)
    state[5, 4 * 20 + 13] = np.nan  # a velocity
    hair._runner.write(slice(None), state)
    kept = hair.positions[5]
    hair.step(1e-3, 20)
    sound.step(1e-3, 20)
    assert hair.status.tolist() == [0, 0, 0, 0, 0, 1, 0, 0, 0]
    assert list(hair.failures) == [5]
    assert "rod 5" in hair.failures[5]
    assert np.array_equal(hair.positions[5], kept), "it keeps its last good state"
    others = np.arange(9) != 5
    assert np.array_equal(hair.positions[others], sound.positions[others])
    hair.reset([5])
    hair.step(1e-3, 20)
    assert not hair.status.any()
    assert np.isfinite(hair.positions).all()


def test_float32_is_near_float64() -> None:
    """20 points, E A L²/E I = 10⁶: 60 steps of 2 ms from upright, hair that falls freely.

    Rounding of places by 6e-8 of 0.4 m is a force by E A over a span that bending and mass take up; 3e-5 was measured.
    """
    double, single = hair_of(20), hair_of(20, dtype="float32")
    for hair in (double, single):
        hair.step(2e-3, 60)
    error = np.abs(double.positions - single.positions).max()
    assert 1e-8 < error < 1e-4
    assert np.abs(double.positions[:, -1] - (0.1 + LENGTH) * directions(20)).max() > 0.02


def test_a_card_makes_the_same_steps() -> None:
    """A driver that pretends runs the very program for a card, on this processor."""
    for dtype, limit in (("float64", 1e-11), ("float32", 0.0)):
        with pretended():
            card = shaken(hair_of(6, head=[BALL], device="cuda", dtype=dtype), 8)
            assert (card.device, card.dtype) == ("cuda", dtype)
            found = card.positions
            card.reset(np.arange(6) == 2)
            assert np.array_equal(np.delete(card.positions, 2, axis=0), np.delete(found, 2, axis=0))
        own = shaken(hair_of(6, head=[BALL], dtype=dtype), 8)
        assert np.abs(found - own.positions).max() <= limit


class Places(Table):
    x = number(PARAMETER, "places", 3, of="places")
    out = number(WORK, "distances and normals there", 4, of="places")


@kernel
def distances(places, hair):
    i = thread()
    if i < places.x.shape[0]:
        far, n = distance_in_grid(hair, (places.x[i, 0], places.x[i, 1], places.x[i, 2]))
        places.out[i, 0], places.out[i, 1], places.out[i, 2], places.out[i, 3] = far, n[0], n[1], n[2]


@pytest.mark.skipif(PLAIN, reason="programs are compiled")
def test_a_grid_has_the_same_distances_in_the_language_of_cards() -> None:
    """PTX fuses more products and sums than a processor's code: a difference that ought to be 0 is not, there."""
    grid = sn.DistanceGrid.of(BALL, 0.01, 0.06)
    x = np.random.default_rng(0).uniform(-0.2, 0.2, (300, 3))
    table = OneHair(state=0, factors=0, **table_sizes(hair_of(1)._rod.tables, (grid,)))
    fill_head(table, (grid,))
    places = Places(places=len(x))
    places.x[:] = x
    with pretended(PtxDriver(fuse=True)):
        device = gpu_driver.Device()
        function = loaded(device, distances, (Places, OneHair), gpu_program.Target("sm_90"), small=True)
        function.launch(len(x), [places._address, table._address])
    wanted = distances_of((grid,), x)
    inside = np.isfinite(wanted)
    assert 50 < inside.sum() < 250
    assert np.allclose(places.out[inside, 0], wanted[inside], rtol=0.0, atol=1e-15)
    assert (places.out[~inside, 0] == FAR).all()
    assert np.allclose(np.linalg.norm(places.out[inside, 1:], axis=1), 1.0, rtol=1e-14)


@pytest.mark.skipif(thorough() < 2, reason="a whole program is translated: --thorough 2")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_language_of_cards_makes_the_same_steps_on_a_grid(dtype) -> None:
    """Strands that fell on a grid were led through it, by up to a length, on the card on which this was seen first."""
    with pretended(PtxDriver(fuse=True)):
        card = shaken(hair_of(12, head=sn.DistanceGrid.of(BALL, 0.01, 0.06), device="cuda", dtype=dtype))
        found, deep = card.positions, card.depths()
    own = shaken(hair_of(12, head=sn.DistanceGrid.of(BALL, 0.01, 0.06)))
    assert own.depths().max() > 0.0, "some of them lie on the grid"
    assert deep.max() < 1.1 * own.depths().max() + 1e-5
    assert np.abs(found - own.positions).max() < {"float64": 1e-9, "float32": 1e-3}[dtype]


class Idle(PretendDriver):
    """A card whose every third thread does nothing."""

    def runs(self, thread: int) -> bool:
        return thread % 3 != 1


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_card_that_computes_something_else_is_refused(dtype) -> None:
    """At the first step, which changes nothing, and at all others."""
    with pretended(Idle()):
        hair = hair_of(9, head=[BALL], device="cuda", dtype=dtype)
        before = hair.positions
        for _ in range(2):
            with pytest.raises(InputError, match=r"after one step strand \d is .* off, where .* is allowed"):
                hair.step(1e-2, 3)
        assert np.array_equal(hair.positions, before)
        assert hair.time == 0.0


def test_a_place_that_is_none_lies_in_no_grid() -> None:
    """A rod that has failed does not lead to what is no memory of the grid."""
    hair = hair_of(5, head=sn.DistanceGrid.of(BALL, 0.01))
    state = hair._runner.read(0, hair._runner.size)
    state[2, :8] = np.nan
    hair._runner.write(slice(None), state)
    hair.step(1e-3, 3)
    assert hair.status.tolist() == [0, 0, 1, 0, 0]


def test_without_a_card_it_says_what_is_missing() -> None:
    with pytest.raises(InputError, match='device="cuda" needs a graphics card'):
        hair_of(2, device="cuda")


def test_reading() -> None:
    hair = hair_of(3)
    ways = directions(3) + np.array((0.3, 0.3, 0.0))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    ends = hair.centerlines(5)[:, [0, -1]]
    assert np.allclose(ends[:, 0], 0.1 * directions(3), atol=1e-15)
    assert np.allclose(ends[:, 1], 0.1 * directions(3) + LENGTH * ways, atol=1e-14)
    assert (len(hair), hair.count, hair.length, hair.radius) == (3, 3, pytest.approx(LENGTH), WISP.radius)
    assert hair.positions.shape == hair.velocities.shape == (3, 20, 3)
    assert hair.rolls.shape == (3, 20)
    assert repr(hair) == "<Hair of 3 rods of 20 control points>"
    energies = hair.energies()
    mass = WISP.mass_per_length(KERATIN) * LENGTH
    assert np.allclose(energies["gravity"], mass * 9.81 * hair.centerlines(3)[:, 1, 2], rtol=1e-12)
    assert energies["kinetic"].max() == 0.0
    hair.step(1e-3)
    falling = 0.5 * mass * (1e-3 * 9.81) ** 2
    assert (hair.energies()["kinetic"] < falling).all()
    assert (hair.energies()["kinetic"] > 0.1 * falling).all()
    hair.gravity, hair.wind, hair.drag, hair.friction = (0, 0, -1), (1, 0, 0), 2.0, 0.1
    assert (hair.gravity.tolist(), hair.wind.tolist(), hair.drag, hair.friction) == ([0, 0, -1], [1, 0, 0], 2.0, 0.1)
    with pytest.raises(TypeError, match="make it in each process"):
        pickle.dumps(hair)
    with pytest.raises(SettingError, match="length"):
        hair.length = 1.0


def test_distances_of_a_grid() -> None:
    """A grid of a ball is that ball to what a linear function misses: h²/(8 R) of its curvature, three times over."""
    grid = sn.DistanceGrid.of(BALL, 0.01, 0.06)
    head = hair_of(30, head=grid), hair_of(30, head=BALL)
    for hair in head:
        hair.step(1.0 / 240.0, 60)
    assert np.allclose(head[0].depths(), head[1].depths(), rtol=0.0, atol=3 * 0.01**2 / (8 * 0.1))
    with pytest.raises(InputError, match="no end"):
        sn.DistanceGrid.of(sn.Plane((0, 0, 0), (0, 0, 1)), 0.01)
    with pytest.raises(InputError, match="too large"):
        sn.DistanceGrid.of(BALL, 1e-5)
    with pytest.raises(InputError, match="two corners or more"):
        sn.DistanceGrid(np.zeros((1, 4, 4)), (0, 0, 0), 0.1)
    with pytest.raises(InputError, match="spacing"):
        sn.DistanceGrid(np.zeros((4, 4, 4)), (0, 0, 0), -0.1)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"roots": np.zeros((0, 3))}, "1 to"),
        ({"roots": np.full((2, 3), np.nan)}, "roots"),
        ({"directions": np.zeros((2, 3))}, "that of rod 0"),
        ({"directions": np.ones((3, 3))}, r"\(3, 3\)"),
        ({"length": 0.0}, "length"),
        ({"control_points": 4}, "control_points"),
        ({"stiffness": (1.0, -2.0)}, r"rod 1 is -2\.0"),
        ({"stiffness": np.ones(3)}, r"\(3,\)"),
        ({"rest_curvature": (1.0,)}, "rest_curvature"),
        ({"rest_curvature": (np.inf, 0.0)}, "rest_curvature"),
        ({"head": sn.Box((1, 1, 1))}, "DistanceGrid.of"),
        ({"head": [sn.DistanceGrid.of(BALL, 0.02)] * 2}, "one grid"),
        ({"pose": (0, 0, 0)}, "pose"),
        ({"gravity": 9.81}, "gravity"),
        ({"drag": -1.0}, "drag"),
        ({"wind": (1, 2)}, "wind"),
        ({"friction": -0.1}, "friction"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"device": "tpu"}, '"cpu" or "cuda"'),
        ({"dtype": "float16"}, '"float64" or "float32"'),
        ({"threads": 0}, "threads"),
        ({"section": 3}, "section"),
        ({"material": "wool"}, "material"),
    ],
)
def test_bad_input(wrong, told) -> None:
    given = {"roots": np.zeros((2, 3)), "directions": (0, 0, 1), "length": 0.1, "section": WISP, "material": KERATIN}
    with pytest.raises(InputError, match=told):
        sn.Hair(**(given | wrong))


def test_bad_calls_change_nothing() -> None:
    hair = hair_of(3)
    before = hair.positions
    for call, told in (
        (lambda: hair.step(0.0), "dt"),
        (lambda: hair.step(1e-3, 0), "n must"),
        (lambda: hair.step(float("nan")), "dt"),
        (lambda: hair.reset([3]), "from 0 to 2"),
        (lambda: hair.reset(np.ones(2, bool)), "mask"),
        (lambda: setattr(hair, "pose", 3), "pose"),
        (lambda: setattr(hair, "wind", (np.nan, 0, 0)), "wind"),
        (lambda: hair.centerlines(1), "count"),
    ):
        with pytest.raises(InputError, match=told):
            call()
    assert np.array_equal(hair.positions, before)
    assert hair.time == 0.0
    with pytest.raises(InputError, match="another thread"), hair._busy:
        hair.step(1e-3)
