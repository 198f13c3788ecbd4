"""Hair moves as a clamped rod of a scene does, loses energy, and hangs as the heavy elastica."""

from __future__ import annotations

import numpy as np
import pytest
from references import elastica
from references.hairs import KERATIN, LENGTH, WISP, directions, hair_of, rod_of_scene

import sennit as sn

ROUNDING = 1e-11
"""Of a rod's length: a step rounds sums of some hundred terms by 1e-16 each, and there are some hundred steps; bending
forces, differences of places, make some ten times as much of it."""


@pytest.mark.parametrize("curl", [False, True])
def test_each_rod_is_that_of_a_scene(validated, curl) -> None:
    """Other directions, stiffnesses and curls than their neighbours have: 120 steps of 2 ms, from upright on."""
    count, steps, dt = 6, 120, 2e-3
    ways, factors = directions(count), np.geomspace(0.3, 30.0, count)
    rest = np.column_stack((np.linspace(-8.0, 8.0, count), np.linspace(5.0, 0.0, count), np.linspace(0.0, 9.0, count)))
    rest *= float(curl)
    hair = sn.Hair(0.1 * ways, ways, length=LENGTH, section=WISP, material=KERATIN, stiffness=factors,
                   rest_curvature=rest)  # fmt: skip
    hair.step(dt, steps)
    worst = 0.0
    for i in range(count):
        scene, rod, _ = rod_of_scene(0.1 * ways[i], ways[i], stiffness=factors[i], rest=tuple(rest[i]))
        for _ in range(steps):
            scene.step(dt)
        assert scene.report.parts == 1
        worst = max(worst, float(np.abs(hair.positions[i] - rod.control_points).max()) / LENGTH)
        moved = float(np.abs(rod.control_points[-1] - (0.1 + LENGTH) * ways[i]).max())
        assert moved > 0.02, "a rod that hardly moves proves little"
    validated(
        "Hair against scenes of one clamped rod, 120 steps", area="hair", quantity="places over length",
        reference="Scene, other code and other elimination", error=worst, bound=ROUNDING,
    )  # fmt: skip


def test_roots_that_move(validated) -> None:
    """The head goes to and fro: a step's rows hold the root in a scene, here its unknowns are left out."""
    way = directions(1)[0]
    hair = sn.Hair(0.1 * way[None], way, length=LENGTH, section=WISP, material=KERATIN)
    scene, rod, clamp = rod_of_scene(0.1 * way, way)
    frame = clamp.target
    for k in range(100):
        place = 0.02 * np.sin(0.06 * k) * np.array((1.0, 0.4, -0.3))
        hair.pose = sn.Pose(place)
        clamp.target = sn.Pose(frame.position + place, frame.quaternion)
        hair.step(2e-3)
        scene.step(2e-3)
    error = float(np.abs(hair.positions[0] - rod.control_points).max()) / LENGTH
    validated(
        "Hair on a head that moves, against a scene, 100 steps", area="hair", quantity="places over length",
        reference="Scene", error=error, bound=10 * ROUNDING,
    )  # fmt: skip


def test_hanging_rods_are_heavy_elasticas(validated) -> None:
    """A rod from a wall sags to rest: its tip is that of the inextensible elastica.

    w L³/EI = 16; measured 2.0e-5 with 20 control points, 9e-4 with 10, and 5e-6 with 40, which is what it stretches.
    """
    stiff = sn.Material(2e8, 0.4, 1300.0, relaxation_time=0.02)
    hair = sn.Hair(np.zeros((1, 3)), (1.0, 0.0, 0.0), length=LENGTH, section=WISP, material=stiff, drag=8.0)
    hair.step(5e-3, 1200)
    assert hair.energies()["kinetic"][0] < 1e-16
    EI = stiff.youngs_modulus * WISP.I1
    weight = 9.81 * WISP.mass_per_length(stiff) * LENGTH**3 / EI
    tip = elastica.heavy(weight).tip
    error = float(np.hypot(*(hair.positions[0, -1, [0, 2]] / LENGTH - (tip.x, tip.y))))
    validated(
        "Hair that hangs from a wall", area="hair", quantity="place of the tip over length",
        reference="heavy elastica", error=error, bound=4e-5,
    )  # fmt: skip


def test_energy_only_falls() -> None:
    """Without drag and material damping, and against gravity or in it: backward Euler takes energy away, each step."""
    lossless = sn.Material(2e7, 0.4, 1300.0)
    hair = hair_of(40, material=lossless, drag=0.0)
    last = hair.energies()["total"]
    first, span = last.copy(), np.abs(hair.energies()["gravity"]).max()
    for _ in range(100):
        hair.step(1e-3)
        now = hair.energies()["total"]
        assert (now <= last + 1e-6 * span).all()
        last = now
    assert (last < first).all()
    assert not hair.status.any()


def test_turned_as_a_whole_nothing_changes(validated) -> None:
    """Head, gravity and wind turned alike: all places are turned."""
    turn = sn.Pose((0.3, -0.2, 0.1), (0.5, -0.3, 0.7, 0.2))
    R = turn.rotation
    ball = sn.Sphere((0.0, 0.0, 0.0), 0.1)
    plain = hair_of(8, head=ball, wind=(1.0, 2.0, 0.0), friction=0.0)
    other = hair_of(8, head=ball, wind=R @ (1.0, 2.0, 0.0), gravity=R @ (0.0, 0.0, -9.81), pose=turn, friction=0.0)
    for hair in (plain, other):
        hair.step(2e-3, 100)
    error = float(np.abs(turn @ plain.positions.reshape(-1, 3) - other.positions.reshape(-1, 3)).max()) / LENGTH
    validated(
        "Hair, head, gravity and wind turned as a whole", area="hair", quantity="places over length",
        reference="turned places", error=error, bound=10 * ROUNDING,
    )  # fmt: skip


def test_a_head_that_turns_turns_its_hair() -> None:
    """Weightless rods on a head that has turned, about their own axes too, end as they began, as the head sees them."""
    ways = directions(6)
    hair = sn.Hair(0.1 * ways, ways, length=LENGTH, section=WISP, material=KERATIN, gravity=(0, 0, 0), drag=4.0)
    before = hair.positions
    for k in range(1, 101):
        angle = 0.02 * k
        hair.pose = sn.Pose((0.1 * angle, 0.0, 0.0), (np.cos(0.5 * angle), 0.0, 0.0, np.sin(0.5 * angle)))
        hair.step(5e-3)
    hair.step(5e-3, 1500)
    seen = (hair.positions.reshape(-1, 3) - hair.pose.position) @ hair.pose.rotation
    # frames are carried along the way: what of their twist no cubic roll can take up stays, as it does in a scene
    assert np.abs(seen - before.reshape(-1, 3)).max() < 1e-3 * LENGTH
    strained = hair.energies()
    full = KERATIN.youngs_modulus * WISP.I1 / LENGTH  # about what one radian of bending or twist costs
    assert max(strained[name].max() for name in ("stretch", "bend", "twist")) < 1e-4 * full
    upright = sn.Hair(
        np.zeros((1, 3)), (0.0, 0.0, 1.0), length=LENGTH, section=WISP, material=KERATIN, gravity=(0, 0, 0)
    )  # fmt: skip
    for k in range(1, 101):
        upright.pose = sn.Pose((0, 0, 0), (np.cos(0.01 * k), 0.0, 0.0, np.sin(0.01 * k)))
        upright.step(5e-3)
    upright.step(5e-3, 1500)
    assert np.allclose(upright.rolls, 2.0, rtol=0.0, atol=1e-6), "the section turns with the head, by 2 rad in all"


def test_wind_leans_rods_as_weight_would(validated) -> None:
    """In air that moves, drag is a weight along the wind: both are forces on the mass."""
    wind = np.array((3.0, 0.0, 0.0))
    blown = hair_of(4, gravity=(0.0, 0.0, 0.0), drag=3.0, wind=wind)
    heavy = hair_of(4, gravity=3.0 * wind, drag=3.0)
    for hair in (blown, heavy):
        hair.step(5e-3, 200)
    error = float(np.abs(blown.positions - heavy.positions).max()) / LENGTH
    validated(
        "Hair in wind, against a field of gravity", area="hair", quantity="places over length",
        reference="drag × wind as acceleration", error=error, bound=10 * ROUNDING,
    )  # fmt: skip
