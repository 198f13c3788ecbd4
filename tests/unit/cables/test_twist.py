"""Twist of cables: its angle where it is known, its wrenches against differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from unit.cables.test_path import SKIP, C, Cable, cylinder, edge, end, sheave, sphere

from sennit.constraints.cable.kernels import kinds as T
from sennit.constraints.cable.kernels.twist import spans_of_twist, twist_of

PI = math.pi


class Twisted(Cable):
    """A cable whose ends hold directions: those of its end spans, bent aside by `bent`."""

    def __init__(self, *elements, bent=0.3, seed=1):
        super().__init__(*elements)
        rng = np.random.default_rng(seed)
        nodes = [i for i in range(len(self.rows)) if self.on(i)]
        for which, i, t in (("first", 0, self.get("along")[0]), ("last", nodes[-1], self.get("along")[nodes[-2]])):
            d3 = t + bent * rng.normal(size=3)
            d3 /= np.linalg.norm(d3)
            d1 = np.cross(d3, rng.normal(size=3))
            getattr(self.cables, f"{which}_direction")[C] = self.frame(i).T @ d3
            getattr(self.cables, f"{which}_director")[C] = self.frame(i).T @ (d1 / np.linalg.norm(d1))

    def twist(self):
        return twist_of(C, *self.tables)

    def errors(self, h=1e-5):
        """Largest difference between wrenches and slopes, and largest wrench."""
        start = self.twist()
        wanted = self.pulls(T.TWISTS).copy()

        def value():
            return (self.twist() - start + PI) % (2 * PI)

        return np.abs(self.slopes(value, h) - wanted).max(), np.abs(wanted).max()

    def check_balance(self):
        w, places = self.pulls(T.TWISTS), self.places.position[1:]
        size = max(1.0, np.abs(w).max())
        assert np.abs(w[:, :3].sum(axis=0)).max() < 1e-12 * size
        assert np.abs((w[:, 3:] + np.cross(places, w[:, :3])).sum(axis=0)).max() < 2e-12 * size

    def check(self, tolerance=1e-7):
        error, size = self.errors()
        assert error < tolerance * max(1.0, size)
        self.twist()
        self.check_balance()


def bent(rng, bends=0.3):
    places = ((0, 0, 0), (1, 0.4, 0.2), (1.8, -0.2, 0.9), (3, 0.3, 0.4), (3.6, 1.0, 0.1))
    return Twisted(*(end(x, rng, arm=rng.normal(0, 0.2, 3)) for x in places), bent=bends)


def test_differences_of_a_bent_cable():
    bent(np.random.default_rng(1)).check()


def test_a_straight_cable_without_nodes():
    rng = np.random.default_rng(2)
    cable = Twisted(end((0, 0, 0), rng), end((1, 2, 0.3), rng))
    cable.check()


def test_a_turned_end_is_counted_exactly_however_the_cable_bends():
    cable = bent(np.random.default_rng(3))
    start = cable.twist()
    d3 = cable.frame(4) @ cable.cables.last_direction[C]
    for turn in np.linspace(0.0, 4 * PI, 60):
        kept = cable.places.copy()
        cable.shift(4, 0.0, turn * d3)
        cable.places.position[5] = kept.position[5]
        # the end of the cable is on an arm: hold it where it is
        centre = cable.elements.centre[SKIP + 4]
        cable.places.position[5] += (kept.frame[5] - cable.places.frame[5]).reshape(3, 3) @ centre
        cable.place()
        assert math.remainder(cable.twist() - start - turn, 2 * PI) == pytest.approx(0.0, abs=1e-12)
        cable.places.fill(kept)


def everything(rng):
    return Twisted(
        end((-2, 0, 0), rng),
        sheave((-1, 0.6, 0), (0, 0.3, 1), 0.2, -1.0, rng=rng),
        end((-0.5, 0.0, 0.2), rng),
        cylinder((0, -0.1, 0), (0.1, 0.05, 1), 0.3, 1.0, rng=rng),
        end((0.6, 0.2, 0.3), rng),
        sphere((1, 0.5, 0.1), 0.3, rng=rng),
        end((1.5, 0.2, 0.0), rng),
        edge((2, 0.3, -1), (2.1, 0.4, 1), rng=rng),
        edge((2.5, 0.2, -1), (2.4, 0.0, 1), rng=rng),
        end((3, -1, 0.2), rng),
    )


def test_moving_all_carriers_together_changes_nothing():
    rng = np.random.default_rng(4)
    for cable in (bent(rng), everything(rng)):
        start = cable.twist()
        for _ in range(10):
            turn, move = Rotation.from_rotvec(rng.normal(0.0, 0.5, 3)), rng.normal(0.0, 2.0, 3)
            for i in range(len(cable.rows)):
                cable.put(i, turn.apply(cable.at(i)) + move, turn * Rotation.from_matrix(cable.frame(i)))
            cable.place()
            assert math.remainder(cable.twist() - start, 2 * PI) == pytest.approx(0.0, abs=1e-12)
            cable.check_balance()


def test_differences_at_sheaves():
    rng = np.random.default_rng(5)
    Twisted(
        end((-0.35, -1.4, 0.3), rng),
        sheave((0, 0, 0), (0, 0.1, 1), 0.3, -1.0, rng=rng),
        sheave((1.1, 0.1, 0.15), (0, 0.4, 1), 0.2, -1.0, rng=rng),
        end((1.3, -0.9, -0.2), rng),
        end((1.4, -1.2, 0.4), rng),
    ).check()


def test_differences_at_a_sphere():
    rng = np.random.default_rng(6)
    Twisted(
        end((-1.5, 0.5, 0.4), rng), end((-1, 0.1, 0), rng), sphere((0, 0, 0), 0.4, rng), end((0.9, 0.2, 0.2), rng),
        end((1.2, -0.6, 0.7), rng),
    ).check()  # fmt: skip


def test_a_sphere_passed_straight_is_not_there():
    rng = np.random.default_rng(6)
    ends = end((-1, 0.5, 0), rng), end((1, 0.6, 0.2), rng)
    with_it = Twisted(ends[0], sphere((0, 0, 0), 0.3), ends[1])
    without = Twisted(*ends)
    assert with_it.twist() == pytest.approx(without.twist(), abs=1e-14)
    with_it.check()


@pytest.mark.parametrize("count", [1, 2, 5])
def test_differences_at_edges(count):
    rng = np.random.default_rng(7)
    xs = np.linspace(0.0, 1.0, count + 2)[1:-1]
    edges = [edge((x, -1, 0.5 * x * (1 - x)), (x + 0.1 * rng.normal(), 1, x * (1 - x)), rng=rng) for x in xs]
    ends = [end(x, rng) for x in ((-1, -0.2, -0.5), (0, 0, 0), (1, 0.3, -0.1), (2, 0, -1))]
    cable = Twisted(*ends[:2], *edges, *ends[2:])
    centres = cable.get("centre_now").copy()
    cable.check()
    cable.twist()
    assert np.abs(cable.get("centre_now") - centres).max() < 1e-14


@pytest.mark.parametrize("z", [0.0, 0.4, 1.0])
def test_differences_at_a_cylinder(z):
    rng = np.random.default_rng(8)
    Twisted(
        end((-1.5, 0.5, 0.4), rng),
        end((-1, 0.1, 0), rng),
        cylinder((0, 0, 0), (0, 0, 1), 0.3, -1.0, rng=rng),
        end((0.9, -0.2, z), rng),
        end((1.2, -0.6, z + 0.3), rng),
    ).check()


def test_all_kinds_on_one_cable():
    everything(np.random.default_rng(9)).check()


def test_neighbours_of_other_kinds_leave_out_a_part():
    """A sheave, a cylinder, a sphere and an edge that adjoin: each takes the others as held and misses an eighth."""
    rng = np.random.default_rng(13)
    cable = Twisted(
        end((-2, 0, 0), rng),
        sheave((-1, 0.6, 0), (0, 0.1, 1), 0.1, -1.0, rng=rng),
        cylinder((0, -0.1, 0), (0.1, 0.05, 1), 0.1, 1.0, rng=rng),
        sphere((1, 0.5, 0.1), 0.1, rng=rng),
        edge((2, 0.3, -1), (2.1, 0.4, 1), rng=rng),
        end((3, -1, 0.2), rng),
    )
    error, size = cable.errors()
    assert error < 0.15 * size
    cable.twist()
    cable.check_balance()


def test_a_fold_stays_finite():
    for aside in (0.0, 1e-12, 1e-8, 1e-5):
        cable = Twisted(end((0, 0, 0)), end((1, 0, 0)), end((0, aside, 0)), bent=0.0)
        assert np.isfinite(cable.twist())
        assert np.isfinite(cable.pulls(T.TWISTS)).all()


def test_two_falls_of_a_sheave_are_no_fold():
    rng = np.random.default_rng(10)
    cable = Twisted(
        end((-0.2, -3, 0), rng), sheave((0, 0, 0), (0, 0, 1), 0.2, -1.0, rng=rng), end((0.2, -3, 0.02), rng), bent=0.0
    )
    assert cable.wrap(1) == pytest.approx(PI, abs=1e-2)
    cable.check()
    w = cable.pulls(T.TWISTS)
    assert np.abs(w[:, :3]).max() < 0.02
    # each end's twist about its own fall
    assert w[0, 3:] @ cable.get("along")[0] == pytest.approx(-1.0, abs=1e-3)
    assert w[2, 3:] @ cable.get("along")[1] == pytest.approx(1.0, abs=1e-3)


def test_a_short_span_is_left_out():
    rng = np.random.default_rng(11)
    counts = []
    for gap in (1e-2, 1e-6, 0.0):
        a, b = np.array((1, 0.4, 0.2)), np.array((1, 0.4 + gap, 0.2))
        cable = Twisted(end((0, 0, 0), rng), end(a, rng), end(b, rng), end((2, 0, 1), rng))
        cable.twist()
        counts.append(spans_of_twist(C, cable.cables, cable.elements))
        assert np.abs(cable.pulls(T.TWISTS)).max() < (200.0 if gap > 1e-3 else 3.0)
        cable.check_balance()
    assert counts == [3, 2, 2]
    cable.check()


def test_a_span_left_out_in_line_with_the_next_makes_no_step():
    angles = []
    for gap in (0.9e-3, 1.1e-3):  # the cable is 2 long
        cable = Twisted(end((0, 0, 0)), end((1 - 2 * gap, 0, 0)), end((1, 0, 0)), end((2, 0.5, 0.3)), bent=0.0)
        angles.append(cable.twist())
    assert angles[0] == pytest.approx(angles[1], abs=1e-12)


def test_short_spans_between_sheaves_still_count():
    rng = np.random.default_rng(12)
    cable = Twisted(
        end((-1, -0.5, 0), rng),
        sheave((0, 0, 0), (0, 0, 1), 0.2, -1.0, rng=rng),
        sheave((0.4005, 0, 0), (0, 0, 1), 0.2, 1.0, rng=rng),
        end((1.5, 0.5, 0.1), rng),
    )
    assert np.isfinite(cable.twist())
    cable.check_balance()
