"""Paths of cables: lengths against shortest ways found otherwise, wrenches against differences of the length."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from sennit.bodies.point.table import Places
from sennit.constraints.cable.kernels import kinds as T
from sennit.constraints.cable.kernels.lengths import part_length
from sennit.constraints.cable.kernels.path import place_path, start_sheave
from sennit.constraints.cable.table import Cables, Elements

PI = math.pi
TURN = 2 * PI
C = 1  # the cable under test stands behind a stranger's rows
SKIP = 2


class Cable:
    """Elements, each on a carrier of its own, and the calls that the tests below make on them."""

    def __init__(self, *elements):
        n = len(elements)
        self.rows = np.arange(SKIP, SKIP + n)
        self.cables, self.elements = Cables(rows=C + 1), Elements(rows=SKIP + n)
        for table in (self.cables, self.elements):
            for field in table.fields().values():
                field[...] = 9 if field.dtype == float else -9
        for field in self.elements.part(SKIP, SKIP + n).fields().values():
            field[...] = 0
        self.cables.first[C], self.cables.count[C], self.cables.room[C] = SKIP, n, n
        self.places = Places(rows=n + 1)
        self.places.position[:], self.places.frame[:] = np.nan, np.nan
        for i, (kind, place, turned, numbers) in enumerate(elements):
            e, own = SKIP + i, self.elements
            own.kind[e], own.carrier[e], own.obstacle[e], own.edge[e] = kind, i + 1, -1, -1
            own.divides[e], own.rotor[e] = numbers.get("divides", 0), numbers.get("rotor", 0)
            own.on[e] = 1
            for name in ("centre", "axis", "mark"):
                getattr(own, name)[e] = numbers.get(name, np.zeros(3))
            own.radius[e], own.sense[e] = numbers.get("radius", 0.0), numbers.get("sense", 1.0)
            own.u[e] = numbers.get("u", 0.5)
            self.put(i, place, turned)
        for i, (kind, *_, numbers) in enumerate(elements):
            if kind in (T.SHEAVE, T.CYLINDER):
                start_sheave(C, SKIP + i, numbers.get("turns", 0), *self.tables)
        self.length = self.place()

    @property
    def tables(self):
        return self.cables, self.elements, self.places

    def put(self, i, place=None, turned=None):
        if place is not None:
            self.places.position[i + 1] = place
        if turned is not None:
            self.places.frame[i + 1] = turned.as_matrix().ravel()

    def place(self):
        self.length = place_path(C, *self.tables)
        return self.length

    def shift(self, i, move, turn=(0.0, 0.0, 0.0)):
        self.places.position[i + 1] += move
        self.places.frame[i + 1] = (Rotation.from_rotvec(turn).as_matrix() @ self.frame(i)).ravel()

    def frame(self, i):
        return self.places.frame[i + 1].reshape(3, 3)

    def at(self, i):
        return self.places.position[i + 1]

    def get(self, name):
        return getattr(self.elements, name)[SKIP:]

    def pulls(self, part):
        return self.elements.wrench[SKIP:, part]

    def wrap(self, i):
        return self.elements.wrap_before[SKIP + i] + self.elements.wrap_after[SKIP + i]

    def on(self, i):
        return self.elements.on[SKIP + i] == 1

    def part(self, d):
        return part_length(C, d, self.cables, self.elements)

    def slopes(self, value, h=1e-5):
        """Derivatives of value() by the places and turns of all carriers, by differences."""
        kept, places = self.elements.copy(), self.places.copy()
        out = np.zeros((len(self.rows), 6))
        for i in range(len(self.rows)):
            for a in range(6):
                ends = []
                for sign in (1.0, -1.0):
                    step = sign * h * np.eye(6)[a]
                    self.shift(i, step[:3], step[3:])
                    self.place()
                    ends.append(value())
                    self.elements.fill(kept)
                    self.places.fill(places)
                out[i, a] = (ends[0] - ends[1]) / (2.0 * h)
        return out

    def check(self, tolerance=2e-9, h=1e-5):
        """All wrenches together are the slope of the length; every span pulls equally at both ends."""
        found = self.slopes(lambda: self.length, h)
        wanted = self.pulls(T.ARRIVES) + self.pulls(T.LEAVES)
        assert np.abs(found - wanted).max() < tolerance * max(1.0, np.abs(wanted).max())
        self.check_balance()

    def check_balance(self):
        w = self.pulls(T.ARRIVES) + self.pulls(T.LEAVES)
        places = self.places.position[1:]
        assert np.abs(w[:, :3].sum(axis=0)).max() < 1e-12
        assert np.abs((w[:, 3:] + np.cross(places, w[:, :3])).sum(axis=0)).max() < 1e-12
        assert np.abs(self.get("span").sum() + self.get("arc").sum() - self.length) < 1e-12 * self.length


def spin(rng):
    return Rotation.random(rng=rng)


def end(place, rng=None, arm=None):
    turned = spin(rng) if rng else Rotation.identity()
    arm = np.zeros(3) if arm is None else turned.inv().apply(arm)
    return T.END, np.asarray(place, float) - turned.apply(arm), turned, {"centre": arm}


def round_thing(kind, centre, axis, radius, sense=1.0, rng=None, **more):
    """A sheave, cylinder or sphere with axis and centre in the world, on a carrier that stands and lies elsewhere."""
    turned = spin(rng) if rng else Rotation.identity()
    arm = rng.normal(0.0, 0.3, 3) if rng else np.zeros(3)
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    mark = np.cross(axis, (0.3, 0.5, -0.7))
    mark /= np.linalg.norm(mark)
    numbers = {"centre": turned.inv().apply(arm), "axis": turned.inv().apply(axis), "mark": turned.inv().apply(mark)}
    return kind, np.asarray(centre, float) - arm, turned, {**numbers, "radius": radius, "sense": sense, **more}


def sheave(*given, **more):
    return round_thing(T.SHEAVE, *given, **more)


def cylinder(*given, **more):
    return round_thing(T.CYLINDER, *given, **more)


def sphere(centre, radius, rng=None):
    return round_thing(T.SPHERE, centre, (0.0, 0.0, 1.0), radius, rng=rng)


def edge(a, b, rng=None, u=0.5):
    turned = spin(rng) if rng else Rotation.identity()
    arm = rng.normal(0.0, 0.3, 3) if rng else np.zeros(3)
    a, b = np.asarray(a, float), np.asarray(b, float)
    numbers = {"centre": turned.inv().apply(arm), "axis": turned.inv().apply(b - a), "u": u}
    return T.EDGE, a - arm, turned, numbers


# ------------------------------------------------------------------------------------------------- slopes of lengths


def test_a_straight_cable_pulls_along_itself():
    rng = np.random.default_rng(1)
    cable = Cable(end((0, 0, 0), rng), end((1, 0.3, 2), rng, arm=(0.2, 0.1, 0.4)), end((3, 1, 0.5), rng))
    assert cable.length == pytest.approx(math.sqrt(1 + 0.09 + 4) + math.sqrt(4 + 0.49 + 2.25), abs=1e-15)
    cable.check()


@pytest.mark.parametrize("fleet", [0.0, 0.05, 0.3, 0.67])
@pytest.mark.parametrize("sense", [1.0, -1.0])
def test_one_sheave_with_a_fleet_angle(fleet, sense):
    rng = np.random.default_rng(2)
    z = 1.5 * math.tan(fleet)
    p, q = (-0.3, -1.5 * sense, z), (0.3, -1.5 * sense, -0.7 * z)
    cable = Cable(end(p, rng), sheave((0, 0, 0), (0, 0, 1), 0.25, -sense, rng=rng), end(q, rng))
    assert 0.5 * PI < cable.wrap(1) < 1.5 * PI
    cable.check()


def test_the_point_and_circle_closed_form():
    r, z = 0.25, 0.8
    cable = Cable(end((-0.3, -1.5, z)), sheave((0, 0, 0), (0, 0, 1), r, -1.0), end((0.3, -1.5, 0)))
    p, x = np.array((-0.3, -1.5, z)), cable.get("arrive")[1]
    m, n = x / r, np.array((0.0, 0.0, 1.0))
    flat, length = p - x - z * n, np.linalg.norm(p - x)
    ahead = np.linalg.norm(flat)
    slope = flat / ahead - (1 - ahead / length) * (flat / ahead + r / ahead * m) + z / length * n
    assert np.abs(cable.pulls(T.LEAVES)[0, :3] - slope).max() < 1e-14


@pytest.mark.parametrize("between", [0.0, 5.0, 20.0, 60.0])
@pytest.mark.parametrize("crossed", [1.0, -1.0])
def test_two_sheaves_whose_axes_differ(between, crossed):
    rng = np.random.default_rng(3)
    b = math.radians(between)
    cable = Cable(
        end((-0.35, -1.4, 0.1), rng),
        sheave((0, 0, 0), (0, 0, 1), 0.3, -1.0, rng=rng),
        sheave((1.1, 0.1, 0.15), (0, math.sin(b), math.cos(b)), 0.2, -crossed, rng=rng),
        end((1.4, -1.2 * crossed, -0.2), rng),
    )
    assert cable.on(1) and cable.on(2)
    cable.check()


def test_parts_between_dividers_have_their_own_slopes():
    rng = np.random.default_rng(4)
    cable = Cable(
        end((-0.35, -1.4, 0.3), rng),
        sheave((0, 0, 0), (0, 0.1, 1), 0.3, -1.0, rng=rng, divides=1),
        end((0.6, 0.5, 0.2), rng),
        sheave((1.1, 0.1, 0.15), (0, 0.2, 1), 0.2, -1.0, rng=rng, divides=1, turns=1),
        end((1.4, -1.2, -0.2), rng),
    )
    w_in, w_out = cable.pulls(T.ARRIVES), cable.pulls(T.LEAVES)
    zero = np.zeros(6)
    wanted = (
        np.array((w_out[0], w_in[1], zero, zero, zero)),
        np.array((zero, w_out[1], w_in[2] + w_out[2], w_in[3], zero)),
        np.array((zero, zero, zero, w_out[3], w_in[4])),
    )
    for d in range(3):
        assert np.abs(cable.slopes(lambda d=d: cable.part(d)) - wanted[d]).max() < 2e-9
    assert sum(cable.part(d) for d in range(3)) == pytest.approx(cable.length, abs=1e-12)


def mixed(rng, tilt=0.0):
    return Cable(
        end((-2, 0, 0), rng),
        sheave((-1, 0.6, 0), (0, tilt, 1), 0.2, -1.0, rng=rng),
        end((-0.5, 0.0, 0.2), rng),
        cylinder((0, -0.1, 0), (0.1, 0.05, 1), 0.3, 1.0, rng=rng),
        sphere((1, 0.5, 0.1), 0.3, rng=rng),
        edge((2, 0.3, -1), (2.1, 0.4, 1), rng=rng),
        edge((2.5, 0.2, -1), (2.4, 0.0, 1), rng=rng),
        end((3, -1, 0.2), rng),
    )


@pytest.mark.parametrize("seed", range(4))
def test_all_kinds_on_one_cable(seed):
    mixed(np.random.default_rng(seed), tilt=0.3).check(1e-8)


def test_a_sheave_beside_a_cylinder_leaves_out_a_small_term():
    """Level, the wrenches are exact; with a fleet angle what is left out is below (1 − cos) r/ℓ."""

    def beside(z, tilt, rng):
        return Cable(
            end((-0.3, -1.5, 0), rng),
            sheave((0, 0, 0), (0, 0, 1), 0.25, -1.0, rng=rng),
            cylinder((1.5, 0, 0), (0, tilt, 1), 0.3, -1.0, rng=rng),
            end((1.8, -1.2, z), rng),
        )

    beside(0.0, 0.0, np.random.default_rng(5)).check()
    cable = beside(0.6, 0.5, np.random.default_rng(5))
    cable.check_balance()
    left_out = np.abs(cable.slopes(lambda: cable.length) - cable.pulls(T.ARRIVES) - cable.pulls(T.LEAVES)).max()
    k = cable.get("along")[1]
    assert left_out < (1.0 - math.hypot(k[0], k[1])) * 0.25 / 1.5


def test_moving_all_carriers_together_changes_nothing():
    rng = np.random.default_rng(6)
    cable = mixed(rng, tilt=0.2)
    length, contacts = cable.length, cable.get("arrive").copy()
    for _ in range(20):
        turn, move = Rotation.from_rotvec(rng.normal(0.0, 0.4, 3)), rng.normal(0.0, 2.0, 3)
        for i in range(len(cable.rows)):
            cable.put(i, turn.apply(cable.at(i)) + move, turn * Rotation.from_matrix(cable.frame(i)))
        contacts = turn.apply(contacts) + move
        assert cable.place() == pytest.approx(length, rel=1e-12)
    assert np.abs(cable.get("arrive") - contacts).max() < 1e-10
    cable.check_balance()


# ------------------------------------------------------------------------------------- lengths against other answers


def test_a_helix_is_the_shortest_way_round_a_cylinder():
    r, p, q = 0.4, np.array((-1.0, 0.1, -0.5)), np.array((0.9, -0.3, 0.8))
    cable = Cable(end(p), cylinder((0, 0, 0), (0, 0, 1), r, -1.0), end(q))

    def out(angle):
        return np.array((math.cos(angle), math.sin(angle), 0.0))

    def way(a):
        x = [r * out(a[i]) + (0, 0, a[2 + i]) for i in (0, 1)]
        return np.linalg.norm(x[0] - p) + np.linalg.norm(q - x[1]) + math.hypot(r * (a[0] - a[1]), a[3] - a[2])

    # both straight pieces stay outside
    outside = [{"type": "ineq", "fun": lambda a, x=x, i=i: x @ out(a[i]) - r} for i, x in enumerate((p, q))]
    best = minimize(way, (2.0, 1.0, 0.0, 0.3), method="SLSQP", constraints=outside, tol=1e-15)
    assert cable.length == pytest.approx(best.fun, abs=1e-9)
    assert np.abs(cable.get("arrive")[1] - (*(r * out(best.x[0])[:2]), best.x[2])).max() < 3e-4  # the minimum is flat
    cable.check()


def test_a_great_circle_is_the_shortest_way_round_a_sphere():
    r, p, q = 0.5, np.array((-1.0, 0.2, 0.1)), np.array((0.9, 0.3, -0.3))
    cable = Cable(end(p), sphere((0, 0, 0), r), end(q))
    far = [np.linalg.norm(x) for x in (p, q)]
    angle = math.acos(p @ q / far[0] / far[1]) - sum(math.acos(r / d) for d in far)
    assert cable.length == pytest.approx(sum(math.sqrt(d * d - r * r) for d in far) + r * angle, abs=1e-14)
    cable.check()
    normal = np.cross(p, q) / np.linalg.norm(np.cross(p, q))
    assert np.abs(cable.get("axis_now")[1] - normal).max() < 1e-14


def test_a_sphere_lets_a_straight_cable_pass():
    cable = Cable(end((-1, 0.5, 0)), sphere((0, 0, 0), 0.5), end((1, 0.6, 0)))
    assert cable.length == pytest.approx(math.hypot(2, 0.1), abs=1e-14)
    cable.check()


def test_a_cable_through_the_middle_of_a_sphere_takes_some_plane():
    cable = Cable(end((-1, 0, 0)), sphere((0, 0, 0), 0.5), end((1, 0, 0)))
    assert cable.length == pytest.approx(2 * math.sqrt(0.75) + 0.5 * PI / 3, abs=1e-14)
    assert all(np.isfinite(field[SKIP:]).all() for field in cable.elements.fields().values())


def test_over_a_box_edge_is_straight_when_unfolded():
    p, q = np.array((-1.0, 0.7, 0.0)), np.array((0.0, 2.4, -1.5))
    cable = Cable(end(p), edge((0, 0, 0), (0, 4, 0), u=0.1), end(q))
    assert cable.length == pytest.approx(math.hypot(2.5, 1.7), abs=1e-15)
    cable.check()


def test_an_edge_ends_at_its_corners():
    cable = Cable(end((-1, 0.7, 0)), edge((0, 2, 0), (0, 4, 0)), end((0, 0.4, -1.5)))
    assert cable.elements.u[SKIP + 1] == 0.0
    cable.check()


@pytest.mark.parametrize("seed", range(3))
def test_many_edges_in_a_row(seed):
    """The way over ten edges, some of them close together, against an unfolding that is one plane."""
    rng = np.random.default_rng(seed)
    gaps = np.concatenate(((1.0,), 10.0 ** rng.uniform(-2.5, 0.0, 9), (1.0,)))
    angles = np.cumsum(rng.uniform(0.05, 0.25, 11))
    steps = gaps[:, None] * np.column_stack((np.cos(angles), -np.sin(angles)))
    across = np.concatenate((np.zeros((1, 2)), np.cumsum(steps, axis=0)))
    edges = [edge((x, -5, y), (x, 5, y), rng=rng, u=rng.uniform()) for x, y in across[1:-1]]
    p, q = (0.0, -1.0, 0.0), (across[-1][0], 2.0, across[-1][1])
    cable = Cable(end(p, rng), *edges, end(q, rng))
    assert cable.length == pytest.approx(math.hypot(gaps.sum(), 3.0), rel=1e-13)
    y = cable.get("arrive")[1:-1, 1]
    assert np.abs(y - (-1.0 + 3.0 * np.cumsum(gaps)[:-1] / gaps.sum())).max() < 1e-11
    cable.check(1e-7, h=1e-7)


# ------------------------------------------------------------------------------------- turns, letting go, taking hold


def over(z=0.0, **more):
    """A sheave under a cable that runs over its top from left to right."""
    return Cable(end((-1, 0.1, z)), sheave((0, 0, 0), (0, 0, 1), 0.2, -1.0, **more), end((1, 0.1, -z)))


@pytest.mark.parametrize("z", [0.0, 0.15])
def test_letting_go_and_taking_hold_are_smooth(z):
    cable = over(z, divides=1)
    assert cable.on(1)
    lengths, forces, parts, states = [], [], [], []
    heights = np.concatenate((np.linspace(0.19, 0.21, 401), np.linspace(0.21, 0.19, 401)))
    for y in heights:
        for i in (0, 2):
            cable.put(i, (cable.at(i)[0], y, cable.at(i)[2]))
        cable.place()
        cable.check_balance()
        lengths.append(cable.length)
        parts.append((cable.part(0), cable.part(1)))
        forces.append(np.concatenate((cable.pulls(T.ARRIVES), cable.pulls(T.LEAVES))))
        states.append(cable.on(1))
    assert states[0] and not states[400] and states[-1]
    assert np.sum(np.diff(np.array(states, int)) != 0) == 2
    assert np.abs(np.diff(lengths)).max() < 2e-6
    assert np.abs(np.diff(parts, axis=0)).max() < 2e-5
    # in the groove a span with a fleet angle pulls aside by (1 − cos) r/ℓ, in the open it does not
    assert np.abs(np.diff(forces, axis=0)).max() < 5e-4 + (1.0 - math.cos(math.atan(z))) * 0.2
    assert np.abs(np.array(lengths) - lengths[::-1]).max() < 1e-14
    assert np.abs(np.array(parts) - parts[::-1]).max() < 1e-14


def test_a_sheave_passed_by_is_not_there():
    cable = over()
    for i in (0, 2):
        cable.put(i, (cable.at(i)[0], 0.4, 0.0))
    cable.place()
    assert not cable.on(1)
    assert cable.length == 2.0
    assert (
        not cable.elements.wrench[SKIP + 1, : T.TWISTS].any()
        and cable.get("span")[1] == 0.0
        and cable.get("arc")[1] == 0.0
    )
    assert cable.get("following")[0] == SKIP + 2
    cable.check()


def test_the_wrong_side_does_not_take_hold():
    """The cable is carried round its end over and below the sheave, then up through it: it stays off all the way."""
    cable = over()
    for y in np.linspace(0.1, 1.5, 60):
        cable.put(0, (-1, y, 0))
        cable.put(2, (1, y, 0))
        cable.place()
    # both ends to the right of it, down, and back to the left below it
    way = [((-1 + 4 * u, 1.5, 0), (1 + 2 * u, 1.5, 0)) for u in np.linspace(0, 1, 60)]
    way += [((3, 1.5 - 3 * u, 0), (3, 1.5 - 3 * u, 0.001)) for u in np.linspace(0, 1, 60)]
    way += [((3 - 4 * u, -1.5, 0), (3 - 2 * u, -1.5, 0)) for u in np.linspace(0, 1, 60)]
    way += [((-1, y, 0), (1, y, 0)) for y in np.linspace(-1.5, 0.3, 300)]
    for p, q in way:
        cable.put(0, p)
        cable.put(2, q)
        cable.place()
        assert not cable.on(1), (p, q)
        assert cable.length == pytest.approx(math.dist(p, q), abs=1e-14)
    # once above, it is where it was at the start: lowered, it lies on the sheave again
    for y in np.linspace(0.3, 0.1, 40):
        cable.put(0, (-1, y, 0))
        cable.put(2, (1, y, 0))
        cable.place()
    assert cable.on(1) and 0.0 < cable.wrap(1) < 0.5


def test_turns_are_kept_and_counted():
    cable = over(turns=2)
    assert cable.wrap(1) == pytest.approx(2 * TURN + over().wrap(1), abs=1e-12)
    start, length = cable.wrap(1), cable.length
    for a in np.linspace(0.0, 6 * PI, 200):  # the leaving end is wound on by three more turns
        cable.put(2, Rotation.from_rotvec((0, 0, -a)).apply((1, 0.1, 0)))
        cable.place()
    assert cable.wrap(1) == pytest.approx(start + 6 * PI, abs=1e-12)
    assert cable.length == pytest.approx(length + 0.2 * 6 * PI, abs=1e-12)
    cable.check()


def test_a_turning_carrier_moves_the_mark_only():
    cable = over(divides=1)
    first, second, length = cable.part(0), cable.part(1), cable.length
    for _ in range(100):
        cable.shift(1, (0, 0, 0), (0, 0, -0.2))
        cable.place()
    assert cable.length == pytest.approx(length, abs=1e-13)
    assert cable.part(0) == pytest.approx(first + 0.2 * 20, abs=1e-11)
    assert cable.part(1) == pytest.approx(second - 0.2 * 20, abs=1e-11)


def test_a_sheave_clear_from_the_start_is_passed_by():
    cable = Cable(end((-1, 0.3, 0)), sheave((0, 0, 0), (0, 0, 1), 0.2, -1.0), end((1, 0.3, 0)))
    assert not cable.on(1) and cable.length == 2.0
    wrong = Cable(end((-1, 0.3, 0)), sheave((0, 0, 0), (0, 0, 1), 0.2, 1.0), end((1, 0.3, 0)))
    assert wrong.on(1) and 0.0 < wrong.wrap(1) < TURN


def test_adjoining_sheaves_let_go_and_take_hold_one_by_one():
    rng = np.random.default_rng(8)
    ends = end((-1, 0.1, 0), rng), end((2, 0.1, 0), rng)
    middle = [sheave((x, y, 0), (0, 0, 1), 0.2, -1.0, rng=rng) for x, y in ((0.0, 0.0), (0.45, 0.02), (1.0, 0.0))]
    cable = Cable(ends[0], *middle, ends[1])
    counts = []
    for y in np.concatenate((np.linspace(0.1, 0.4, 50), np.linspace(0.4, 0.1, 50))):
        cable.put(4, (2, y, 0))
        cable.place()
        cable.check_balance()
        counts.append(sum(cable.on(i) for i in (1, 2, 3)))
    assert counts[0] == 3 and counts[49] == 1 and counts[-1] == 3
    assert counts == counts[::-1]


def test_a_rotor_takes_the_moment_about_its_axis():
    rng = np.random.default_rng(9)
    p, q = (-0.3, -1.5, 0.5), (0.3, -1.5, -0.3)
    for rotor in (0, 1):
        cable = Cable(end(p), sheave((0, 0, 0), (0, 0.1, 1), 0.25, -1.0, rng=rng, rotor=rotor), end(q))
        n, place = cable.get("axis_now")[1], cable.at(1)
        for part, sign in ((T.ARRIVES, -1.0), (T.LEAVES, 1.0)):
            f, m = cable.pulls(part)[1, :3], cable.pulls(part)[1, 3:]
            about = n @ (m + np.cross(place - cable.get("centre_now")[1], f))
            assert about == pytest.approx(0.0 if rotor else sign * 0.25, abs=1e-14)
    assert np.abs(cable.slopes(lambda: cable.length) - cable.pulls(T.ARRIVES) - cable.pulls(T.LEAVES)).max() < 2e-9
