"""Points of contact of convex shapes: against directions tried by brute force, and what must hold for all of them.

The signed distance of two convex shapes is the largest separation over all directions. A separation along one direction
is a lower bound of it, so that the gap of the deepest point is checked from both sides: no direction that brute force
finds may separate more, and the point's own normal must separate as much as its gap says.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from references.touching import (
    KINDS,
    placed_apart,
    random_pose,
    random_shape,
    separations,
    signed_distance,
    touch,
)

from sennit.geometry.pose import Pose
from sennit.geometry.shapes import Box, Capsule, Cylinder, Plane, Sphere

PAIRS = list(itertools.combinations_with_replacement(KINDS, 2))
SIZE = 2.0
"""Above the sum of the balls round two shapes of `random_shape`, m."""


def random_pair(seed: int, kinds: tuple[str, str], low: float, high: float) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    first, second = (random_shape(rng, kind, random_pose(rng)) for kind in kinds)
    return placed_apart(rng, first, second, rng.uniform(low, high)), second


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_deepest_gap_is_the_signed_distance(kinds: tuple[str, str]) -> None:
    seen = np.zeros(2)
    for seed in range(30):
        first, second = random_pair(seed, kinds, -0.15, 0.1)
        found = touch(first, second, 0.3)
        expected = signed_distance(first, second)
        if not len(found["gap"]):
            assert expected > 0.3 - 1e-6
            continue
        deepest = int(found["gap"].argmin())
        gap = found["gap"][deepest]
        seen[int(gap < 0.0)] += 1
        assert gap > expected - 2e-6 * SIZE
        assert gap == pytest.approx(separations(first, second, found["normal"])[deepest], abs=2e-6 * SIZE)
    assert seen.min() > 3  # both apart and overlapping


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_places_are_on_the_surfaces_along_the_normal(kinds: tuple[str, str]) -> None:
    for seed in range(40):
        first, second = random_pair(100 + seed, kinds, -0.05, 0.05)
        found = touch(first, second, 0.1)
        between = found["first_place"] - found["second_place"]
        np.testing.assert_allclose(between, found["gap"][:, None] * found["normal"], atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(found["normal"], axis=1), 1.0, atol=1e-12)
        # A capsule's line of contact may lie 2e-4 of its radius inside where it is tilted, see `forms.LEVEL`; closest
        # places of rims come from directions with 1e-4 of noise.
        for shape, name in ((first, "first_place"), (second, "second_place")):
            np.testing.assert_allclose(shape.signed_distance(found[name].reshape(-1, 3)), 0.0, atol=1e-4)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_moved_together_and_exchanged(kinds: tuple[str, str]) -> None:
    for seed in range(20):
        first, second = random_pair(200 + seed, kinds, -0.05, 0.02)
        motion = random_pose(np.random.default_rng(seed), 3.0)
        found, mirrored = touch(first, second, 0.1), touch(second, first, 0.1)
        moved = touch(first.moved(motion), second.moved(motion), 0.1)
        order = np.argsort(found["gap"], kind="stable")
        if not len(order):
            continue
        deepest = order[0]
        for other, sign in ((moved, 1.0), (mirrored, -1.0)):
            best = int(other["gap"].argmin())
            assert other["gap"][best] == pytest.approx(found["gap"][deepest], abs=2e-6)
            turn = motion.rotation if sign > 0.0 else np.eye(3)
            expected = sign * turn @ found["normal"][deepest]
            np.testing.assert_allclose(other["normal"][best], expected, atol=1e-3)
        if "cylinder" in kinds:
            continue  # where a rim touches a rim or an edge, rounding decides whether a second point lies within 1e-4
        for other in (moved, mirrored):
            assert len(other["gap"]) == len(found["gap"])
            np.testing.assert_allclose(np.sort(other["gap"]), np.sort(found["gap"]), atol=2e-5)


UPRIGHT = Pose()
LYING = Pose((0, 0, 0), (np.sqrt(0.5), np.sqrt(0.5), 0, 0))
BESIDE = Pose((0, 0, 0), (np.sqrt(0.5), 0, np.sqrt(0.5), 0))
FORMS = (
    lambda pose: Sphere((0, 0, 0), 0.5).moved(pose),
    lambda pose: Capsule(0.5, 1.0, pose),
    lambda pose: Box((1.0, 1.0, 1.0), pose),
    lambda pose: Box((0.2, 3.0, 0.4), pose),
    lambda pose: Cylinder(0.5, 1.0, pose),
    lambda pose: Cylinder(0.1, 2.0, pose),
    lambda pose: Plane((0, 0, 0), (0, 0, 1)).moved(pose),
)


@pytest.mark.parametrize("way", [(0, 0, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (1, 1, 0), (1, 1, 1), (0, 1e-12, 1)])
@pytest.mark.parametrize("pose", [UPRIGHT, LYING, BESIDE], ids=["upright", "lying", "beside"])
def test_finite_where_poses_are_degenerate(way: tuple[float, ...], pose: Pose) -> None:
    """Coincident centres, parallel axes, exact touch, one inside the other."""
    for one, two in itertools.product(FORMS, FORMS):
        first, second = one(UPRIGHT), two(pose)
        if isinstance(first, Plane) and isinstance(second, Plane):
            assert not len(touch(first, second, 0.1)["gap"])
            continue
        for distance in (0.0, 0.3, 0.5, 1.0):
            found = touch(first.moved(Pose(distance * np.array(way, float))), second, 0.01)
            for values in found.values():
                assert np.isfinite(values).all()
            np.testing.assert_allclose(np.linalg.norm(found["normal"], axis=1), 1.0, atol=1e-9)
            assert len(set(found["feature"].tolist())) == len(found["feature"])
            if distance == 0.0 and not isinstance(first, Plane) and not isinstance(second, Plane):
                n = found["normal"]
                assert len(n)
                assert found["gap"].min() == pytest.approx(
                    separations(first, second, n)[found["gap"].argmin()], abs=1e-5
                )


def test_same_numbers_again() -> None:
    first, second = random_pair(5, ("box", "cylinder"), -0.02, -0.01)
    one, two = touch(first, second, 0.1), touch(first, second, 0.1)
    for name, values in one.items():
        np.testing.assert_array_equal(values, two[name])


def test_nothing_beyond_the_margin() -> None:
    for kinds in PAIRS:
        for seed in range(10):
            first, second = random_pair(seed, kinds, 0.0, 0.1)
            everything, near = touch(first, second, 0.5), touch(first, second, 0.02)
            assert (near["gap"] < 0.02).all()
            assert bool(len(near["gap"])) == bool(everything["gap"].min() < 0.02)
