"""Sheaves: length and angle of wrap of their closed forms, with turns, beside the plane, in a row, carried along."""

from __future__ import annotations

import numpy as np
import pytest
from references import hoists
from references.rotation import exp
from verification.cables.rig import G, H, ball, rope

import sennit as sn


def over(p, q, centre=(0, 0, 0), axis=(0, 1, 0), radius=0.4, **options):
    """From a world point over a sheave to a ball, without gravity."""
    scene = sn.Scene(gravity=(0, 0, 0))
    end = ball(scene, 10.0, q, radius=0.01)
    wheel = sn.Sheave(sn.World.at(centre), axis=axis, radius=radius, **options)
    cable = scene.add(rope([sn.World.at(p), wheel, end.at()], 1e3))
    return scene, wheel, end, cable


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ((-0.4, 0, -3), (0.4, 0, -1)),
        ((-1, 0, -2), (1.5, 0, -1.2)),
        ((-2, 0, 0.1), (0.5, 0, -3)),
        ((-1, 0.3, -2), (1.5, 0, -1.2)),
        ((-1, 0.5, -2), (1.5, -0.4, -1.2)),
    ],
)
@pytest.mark.parametrize("turns", [0, 1, 2])
def test_length_and_wrap(p, q, turns, validated):
    length, wrap = hoists.sheave_path(p, q, (0, 0, 0), (0, 1, 0), 0.4, turns)
    scene, wheel, _, cable = over(p, q, turns=turns)
    assert cable.path_length == pytest.approx(length, rel=1e-12)
    assert cable.length == pytest.approx(length, rel=1e-12)
    validated(
        "Path over a sheave, 0 to 2 turns",
        area="cables",
        quantity="angle of wrap",
        reference="tangents to the circle",
        error=abs(wheel.wrap / wrap - 1),
        bound=1e-12,
    )
    scene.step(H)
    assert cable.path_length == pytest.approx(length, rel=1e-12)
    assert cable.tension == pytest.approx(0.0, abs=1e-6)


def test_the_other_way_round():
    # mirrored, under the sheave from left to right, it runs about -y
    expected = hoists.sheave_path((-1, 0, -2), (1.5, 0, -1.2), (0, 0, 0), (0, 1, 0), 0.4)
    _, wheel, _, cable = over((-1, 0, 2), (1.5, 0, 1.2), axis=(0, -1, 0))
    assert (cable.path_length, wheel.wrap) == pytest.approx(expected, rel=1e-12)


def test_moved_and_turned():
    turn, shift = exp(np.array([0.7, -1.1, 0.4])), np.array([3.0, -2.0, 5.0])
    p, q = np.array((-1, 0.5, -2.0)), np.array((1.5, -0.4, -1.2))
    length, wrap = hoists.sheave_path(p, q, (0, 0, 0), (0, 1, 0), 0.4)
    _, wheel, _, cable = over(turn @ p + shift, turn @ q + shift, shift, turn @ np.array([0, 1.0, 0]))
    assert (cable.path_length, wheel.wrap) == pytest.approx((length, wrap), rel=1e-12)


@pytest.mark.parametrize("crossed", [False, True])
def test_two_sheaves(crossed, validated):
    # up on the left of the first, over it, and over (or under) the second, 5 m beside it
    scene = sn.Scene(gravity=(0, 0, 0))
    r1, r2 = 0.5, 0.3
    distance = 5.0
    lean = np.arcsin((r1 + r2 if crossed else r1 - r2) / distance)  # of the span, downwards
    end_z = 2.0 if crossed else -2.0
    end = ball(scene, 10.0, (distance + r2, 0, end_z), radius=0.01)
    first = sn.Sheave(sn.World.at((0, 0, 0)), axis=(0, 1, 0), radius=r1)
    second = sn.Sheave(sn.World.at((distance, 0, 0)), axis=(0, -1, 0) if crossed else (0, 1, 0), radius=r2)
    cable = scene.add(rope([sn.World.at((-r1, 0, -2)), first, second, end.at()], 1e3))
    wraps = np.pi / 2 + lean, np.pi / 2 + lean if crossed else np.pi / 2 - lean
    span = hoists.belt_span(distance, r1, r2, crossed)
    assert (first.wrap, second.wrap) == pytest.approx(wraps, rel=1e-10)
    validated(
        "Belt over two sheaves, open and crossed",
        area="cables",
        quantity="length",
        reference="closed form",
        error=abs(cable.path_length / (4.0 + span + r1 * wraps[0] + r2 * wraps[1]) - 1),
        bound=1e-10,
    )
    assert len(cable.tensions) == 3


def test_force_on_what_carries_it():
    # two vertical falls: the mast feels 2 T; a mast on a spring sinks by 2 T/k
    scene = sn.Scene(drag=3.0)
    mast = scene.add(sn.RigidBody.from_inertia(10.0, (1e6, 1e6, 1e6), position=(0, 0, 0)))
    scene.add(sn.Clamp(mast.at(), compliance=1e-5))
    one, two = ball(scene, 100.0, (-0.2, 0, -3)), ball(scene, 100.0, (0.2, 0, -3))
    wheel = sn.Sheave(mast.at(), axis=(0, 1, 0), radius=0.2)
    cable = scene.add(rope([one.at(), wheel, two.at()], 1e6))
    scene.run(15.0, dt=H)
    assert cable.tension == pytest.approx(100 * G, rel=1e-5)
    assert mast.position[2] == pytest.approx(-1e-5 * (200 * G + 10 * G), rel=1e-4)


def test_cable_leaves_and_regains_its_sheave():
    # the end is moved up until the straight line passes beside the sheave, and back
    scene = sn.Scene(gravity=(0, 0, 0))
    end = ball(scene, 1.0, (-2, 0, -1), radius=0.01)
    scene.add(sn.Fix(end.at()))
    free = sn.World.at((2, 0, -1))
    wheel = sn.Sheave(sn.World.at((0, 0, 0)), axis=(0, 1, 0), radius=0.4, friction=0.0)
    cable = scene.add(rope([end.at(), wheel, free], 10.0, length=4.44))
    heights = np.concatenate([np.linspace(-1, 3.0, 200), np.linspace(3.0, -1, 200)])
    off = 0
    for z in heights:
        free.position = (2, 0, z)
        scene.step(H)
        # the straight line from (-2, -1) to (2, z) passes (z - 1)/2 · 4/length above the centre
        height = (z - 1) / 2 * 4 / np.hypot(4, z + 1)
        if abs(height - 0.4) < 0.01:
            continue
        if height > 0.4:
            off += 1
            assert wheel.wrap == 0.0
            assert cable.path_length == pytest.approx(np.hypot(4, z + 1), rel=1e-9)
        else:
            length, wrap = hoists.sheave_path((-2, 0, -1), (2, 0, z), (0, 0, 0), (0, 1, 0), 0.4)
            assert cable.path_length == pytest.approx(length, rel=1e-9)
            assert wheel.wrap == pytest.approx(wrap, abs=1e-9)
    assert off > 50


def test_fixed_sheave_does_not_turn_and_free_one_does():
    for fixed in (False, True):
        scene = sn.Scene()
        one, two = ball(scene, 10.0, (-0.2, 0, -3)), ball(scene, 50.0, (0.2, 0, -3))
        wheel = sn.Sheave(
            sn.World.at((0, 0, 0)), axis=(0, 1, 0), radius=0.2, friction=0.1 if fixed else None, fixed=fixed
        )
        scene.add(rope([one.at(), wheel, two.at()], 1e6))
        scene.run(0.3, dt=H)
        assert two.velocity[2] < -1.0
        if fixed:
            assert (wheel.angle, wheel.rate) == (0.0, 0.0)
        else:
            assert wheel.rate == pytest.approx(-two.velocity[2] / 0.2, rel=0.02)
