"""The discrete rod's forces and stiffness against differences, rigid motions, and the rows that its tables promise."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn
from sennit.bodies.rod.discrete import shape
from sennit.bodies.rod.discrete.kernels.forces import (
    accept_strains_discrete,
    assemble_discrete,
    carry_frames_discrete,
    discrete_basis,
    energy_discrete,
    largest_turn_discrete,
    update_tensions_discrete,
)
from sennit.bodies.rod.discrete.tables import discrete_tables
from sennit.bodies.rod.spline.kernels.forces import rotate_frames
from sennit.errors import InputError

MATERIAL = sn.Material(1e6, 0.3, 1000.0, relaxation_time=0.02)
SECTION = sn.Section.rectangle(0.05, 0.08)  # 2.6 to 1 in bending
N = 9


def crooked(n=N, seed=1):
    """Nodes of a rod whose edges turn by up to 1 rad in all directions."""
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(0.0, 0.05, (n, 3)) + np.array((0.1, 0.03, 0.0)), axis=0)


class Posed:
    """A rod's tables, a shape q and the state whose frames lie on it, placed behind strangers' rows and numbers."""

    dof0, b0, s0, band0, rod = 5, 2, 3, 7, 1

    def __init__(self, tables, q):
        self.tables, self.n = tables, tables.n

        def behind(rows, array):
            return np.concatenate((np.full((rows, *array.shape[1:]), 9, array.dtype), array))

        self.bend, self.bend_span = behind(self.b0, tables.bend_table), behind(self.b0, tables.bend_span)
        self.stretch, self.stretch_span = behind(self.s0, tables.stretch_table), behind(self.s0, tables.stretch_span)
        self.constants = behind(1, tables.constants[None])
        self.state, self.pulls = behind(self.b0, tables.bend_state), behind(self.s0, tables.stretch_state)
        self.b1, self.s1 = len(self.bend), len(self.stretch)
        self.q = behind(self.dof0, np.asarray(q, float).ravel())
        self.state = self.carried(self.q)

    def carried(self, q, state=None):
        state = self.state if state is None else state
        out = np.full_like(state, np.nan)
        carry_frames_discrete(q, self.dof0, self.n, 0, self.bend, self.bend_span, state, out, self.b0, self.b1)
        return out

    def energy(self, q):
        return energy_discrete(
            q, self.dof0, self.n, 0, self.constants, self.rod, self.bend, self.bend_span, self.carried(q), self.b0,
            self.b1, self.stretch, self.stretch_span, self.pulls, self.s0, self.s1,
        )  # fmt: skip

    def assembled(self, q, *, rate=0.0, exact=1, push=1, weight_f=1.0, weight_k=1.0):
        """Force (4 n,) and dense stiffness (4 n, 4 n) at q."""
        force, values = np.zeros(self.dof0 + 4 * self.n), np.zeros(self.band0 + 64 * self.n)
        assemble_discrete(
            q, self.dof0, self.n, 0, self.constants, self.rod, self.bend, self.bend_span, self.carried(q), self.b0,
            self.b1, self.stretch, self.stretch_span, self.pulls, self.s0, self.s1,
            rate, exact, weight_f, weight_k, push, force, values, self.band0,
        )  # fmt: skip
        assert not np.any(force[: self.dof0]) and not np.any(values[: self.band0])
        band = values[self.band0 :].reshape(self.n, 4, 4, 4)
        matrix = np.zeros((4 * self.n, 4 * self.n))
        for i in range(self.n):
            for k in range(4):
                block = band[i, :, k]
                if i + k >= self.n:
                    assert not np.any(block)
                elif k == 0:
                    np.testing.assert_allclose(block, block.T, rtol=0, atol=1e-13 * np.max(np.abs(block)))
                    matrix[4 * i : 4 * i + 4, 4 * i : 4 * i + 4] = np.triu(block) + np.triu(block, 1).T
                else:
                    matrix[4 * i : 4 * i + 4, 4 * (i + k) : 4 * (i + k) + 4] = block
                    matrix[4 * (i + k) : 4 * (i + k) + 4, 4 * i : 4 * i + 4] = block.T
        return force[self.dof0 :], matrix

    def remember(self, q):
        """Make q the last accepted shape."""
        self.state = self.carried(q)
        accept_strains_discrete(
            q, self.dof0, self.n, 0, self.bend, self.bend_span, self.state, self.b0, self.b1,
            self.stretch, self.stretch_span, self.pulls, self.s0, self.s1,
        )  # fmt: skip

    def store_tensions(self, q, dq=None, rate=0.0):
        dq = np.zeros_like(q) if dq is None else dq
        update_tensions_discrete(
            q, dq, self.dof0, self.n, 0, self.constants, self.rod, self.stretch, self.stretch_span, self.pulls,
            self.s0, self.s1, rate,
        )  # fmt: skip
        return self.pulls[self.s0 :, 0]


@pytest.fixture
def posed():
    tables = discrete_tables(crooked(), SECTION, MATERIAL, rest_curvature=(1.5, -0.7, 0.9), up=(0.1, 0.2, 1.0))
    rng = np.random.default_rng(5)
    q = tables.rest + rng.normal(0.0, (0.02, 0.02, 0.02, 0.8), (N, 4))
    return Posed(tables, q)


def differences(function, q, dof0, step=1e-6):
    """Central differences of an array-valued function by q's entries from dof0 on: (values, entries)."""
    columns = []
    for i in range(dof0, len(q)):
        d = np.zeros_like(q)
        d[i] = step
        columns.append((np.asarray(function(q + d)) - np.asarray(function(q - d))) / (2 * step))
    return np.array(columns).T


# ------------------------------------------------------------------------------------------------------- derivatives


def test_force_is_the_slope_of_the_energy(posed):
    force, _ = posed.assembled(posed.q)
    slope = differences(lambda q: sum(posed.energy(q)), posed.q, posed.dof0)
    # Rounding of the energy over the step bounds what differences can tell.
    atol = 20 * 2.2e-16 * sum(posed.energy(posed.q)) / 1e-6 + 1e-9 * np.max(np.abs(force))
    np.testing.assert_allclose(force, -slope, rtol=0, atol=atol)
    assert np.max(np.abs(force)) > 1e3 * atol


@pytest.mark.parametrize("part", ["all", "bending", "twist"])
def test_stiffness_is_the_slope_of_the_force(posed, part):
    # Alone, the bending and twist terms can't hide behind the stretching stiffness.
    if part != "all":
        posed.constants[1, 0] = 0.0
        posed.constants[1, (3,) if part == "bending" else (1, 2)] = 0.0
    posed.store_tensions(posed.q)
    _, matrix = posed.assembled(posed.q)
    slope = -differences(lambda q: posed.assembled(q, weight_k=0.0)[0], posed.q, posed.dof0)
    # Frames carried round a closed path come back turned: the antisymmetric part of the slope, no energy's Hessian.
    wanted = 0.5 * (slope + slope.T)
    np.testing.assert_allclose(matrix[:-1, :-1], wanted[:-1, :-1], rtol=0, atol=1e-8 * np.max(np.abs(wanted)))
    assert np.max(np.abs(slope - slope.T)) > 1e-4 * np.max(np.abs(wanted))


def test_stiffness_is_the_second_slope_of_the_energy(posed):
    posed.store_tensions(posed.q)
    _, matrix = posed.assembled(posed.q)
    _, gauss = posed.assembled(posed.q, exact=0)
    rng = np.random.default_rng(3)
    h = 2e-3
    for _ in range(5):
        d = rng.normal(size=(N, 4)) * (0.05, 0.05, 0.05, 1.0)
        line = np.concatenate((np.zeros(posed.dof0), d.ravel()))
        e = [sum(posed.energy(posed.q + x * h * line)) for x in range(-3, 4)]
        second = np.dot((1 / 90, -3 / 20, 3 / 2, -49 / 18, 3 / 2, -3 / 20, 1 / 90), e) / h**2
        dummy = matrix[-1, -1] * d[-1, 3] ** 2
        assert d.ravel() @ matrix @ d.ravel() - dummy == pytest.approx(second, rel=1e-7)
        assert abs(d.ravel() @ gauss @ d.ravel() - dummy - second) > 1e-4 * abs(second)


def test_gauss_newton_is_semidefinite_and_exact_without_moments(posed):
    _, gauss = posed.assembled(posed.q, exact=0, push=0)
    eigenvalues = np.linalg.eigvalsh(gauss)
    assert eigenvalues[0] > -1e-12 * eigenvalues[-1]
    # At rest there is no moment, so both are the Hessian.
    tables = discrete_tables(crooked(), SECTION, MATERIAL)
    rest = Posed(tables, tables.rest)
    gauss, exact = rest.assembled(rest.q, exact=0)[1], rest.assembled(rest.q, exact=1)[1]
    np.testing.assert_allclose(gauss, exact, rtol=0, atol=1e-12 * np.max(np.abs(exact)))


def test_damping_enters_force_and_stiffness(posed):
    rate, before = 2.5, posed.q.copy()
    before[posed.dof0 :] += np.random.default_rng(8).normal(0.0, 0.01, 4 * N)
    posed.remember(before)
    force, elastic = posed.assembled(posed.q, rate=rate)[0], posed.assembled(posed.q, rate=0.0)[0]
    # Kelvin–Voigt: the same strains' energy about the last strains, times the rate.
    other = Posed(posed.tables, posed.tables.rest)
    other.state, other.bend, other.stretch = posed.state.copy(), posed.bend.copy(), posed.stretch.copy()
    other.bend[:, 14:17] = posed.state[:, 10:13]
    no_stretch = posed.constants.copy()
    no_stretch[1, 0] = 0.0
    other.constants = no_stretch
    drag = other.assembled(posed.q)[0]
    t = np.diff(posed.q[posed.dof0 :].reshape(N, 4)[:, :3], axis=0)
    lengths = np.linalg.norm(t, axis=1)
    pull = posed.constants[1, 0] * (lengths / posed.tables.stretch_table[:, 1] - 1.0 - posed.pulls[posed.s0 :, 1])
    pull = (pull / lengths)[:, None] * t
    drag = drag.reshape(N, 4).copy()
    drag[:-1, :3] += pull
    drag[1:, :3] -= pull
    np.testing.assert_allclose(force - elastic, rate * drag.ravel(), rtol=0, atol=1e-11 * np.max(np.abs(force)))
    posed.store_tensions(posed.q, rate=rate)
    posed.state = posed.carried(posed.q)
    _, matrix = posed.assembled(posed.q, rate=rate)
    slope = -differences(lambda q: posed.assembled(q, rate=rate, weight_k=0.0)[0], posed.q, posed.dof0)
    wanted = 0.5 * (slope + slope.T)
    np.testing.assert_allclose(matrix[:-1, :-1], wanted[:-1, :-1], rtol=0, atol=1e-8 * np.max(np.abs(wanted)))


def test_tensions_are_linearised_and_clamped(posed):
    rng = np.random.default_rng(2)
    dq = np.concatenate((np.zeros(posed.dof0), rng.normal(0.0, 0.01, 4 * N)))
    before = posed.q - 0.3 * dq
    posed.remember(before)

    def tension(q, rate):
        edges = np.linalg.norm(np.diff(q[posed.dof0 :].reshape(N, 4)[:, :3], axis=0), axis=1)
        strain = edges / posed.tables.stretch_table[:, 1] - 1.0
        return posed.constants[1, 0] * (strain + rate * (strain - posed.pulls[posed.s0 :, 1]))

    stored = posed.store_tensions(posed.q, dq, 1.5).copy()
    slope = (tension(posed.q + 1e-6 * dq, 1.5) - tension(posed.q - 1e-6 * dq, 1.5)) / 2e-6
    np.testing.assert_allclose(stored, tension(posed.q, 1.5) + slope, rtol=1e-7)
    assert np.min(stored) < 0.0 < np.max(stored)
    clamped = posed.assembled(posed.q, push=0)[1]
    posed.pulls[posed.s0 :, 0] = np.maximum(stored, 0.0)
    np.testing.assert_array_equal(clamped, posed.assembled(posed.q, push=1)[1])


def test_weights_scale_and_add(posed):
    force, matrix = posed.assembled(posed.q)
    half, third = posed.assembled(posed.q, weight_f=0.5, weight_k=1 / 3)
    np.testing.assert_allclose(half, 0.5 * force, rtol=1e-12, atol=1e-12 * np.max(np.abs(force)))
    np.testing.assert_allclose(third, matrix / 3, rtol=0, atol=1e-12 * np.max(np.abs(matrix)))
    assert not np.any(posed.assembled(posed.q, weight_k=0.0)[1])


# ------------------------------------------------------------------------------------------- rigid motions and frames


def test_energy_does_not_see_rigid_motions(posed):
    energy = posed.energy(posed.q)
    rotation = sn.Pose.along((0, 0, 0), (1, 2, -0.5), (0.3, 0, 1)).rotation
    moved = posed.q.copy()
    nodes = moved[posed.dof0 :].reshape(N, 4)
    nodes[:, :3] = nodes[:, :3] @ rotation.T + (1, 2, 3)
    rotate_frames(posed.state, posed.b0, posed.b1, tuple(rotation.ravel()))
    np.testing.assert_allclose(posed.energy(moved), energy, rtol=1e-12)
    # m is what the vectors say, so carrying in place changes nothing.
    again = posed.carried(moved)
    carry_frames_discrete(
        moved, posed.dof0, N, 0, posed.bend, posed.bend_span, posed.state, posed.state, posed.b0, posed.b1
    )
    np.testing.assert_array_equal(posed.state[posed.b0 :], again[posed.b0 :])


def test_free_rod_has_six_motions_without_strain():
    tables = discrete_tables(crooked(), SECTION, MATERIAL)
    rod = Posed(tables, tables.rest)
    _, matrix = rod.assembled(rod.q)
    # Rolls in metres, so that all entries are alike.
    scale = np.tile((1.0, 1.0, 1.0, 1 / 0.05), N)
    eigenvalues = np.linalg.eigvalsh(scale[:, None] * matrix * scale)
    assert np.max(np.abs(eigenvalues[:6])) < 1e-11 * eigenvalues[-1]
    assert eigenvalues[6] > 1e-7 * eigenvalues[-1]
    # The last roll stands alone, with stiffness of its own and no force.
    assert matrix[-1, -1] > 0.0 and not np.any(matrix[-1, :-1])


def test_last_roll_does_not_matter(posed):
    force, matrix = posed.assembled(posed.q)
    energy = posed.energy(posed.q)
    posed.q[-1] += 1.0
    np.testing.assert_array_equal(posed.assembled(posed.q)[0], force)
    np.testing.assert_array_equal(posed.assembled(posed.q)[1], matrix)
    assert posed.energy(posed.q) == energy and force[-1] == 0.0


def test_reference_twist_is_the_area_that_tangents_sweep():
    # A helix shrinks to a straight line; every tangent goes straight to the axis. u1 was carried along the helix
    # without twist, so on the line its twist at a node is the solid angle of the triangle between the axis and the two
    # tangents that met there, with sides θ, θ and the angle dx between them.
    n, climb = 121, 0.3
    x = np.linspace(0.0, 6 * np.pi, n)
    dx = x[1]

    def nodes(radius):
        return np.column_stack((radius * np.cos(x), radius * np.sin(x), climb * x))

    tables = discrete_tables(nodes(0.5), SECTION, MATERIAL)
    rod = Posed(tables, tables.rest)
    state = rod.state
    for radius in (0.3, 0.1, 0.0):
        q = np.concatenate((np.zeros(rod.dof0), np.column_stack((nodes(radius), np.zeros(n))).ravel()))
        state = rod.carried(q, state)
    square = np.tan(0.5 * np.arctan2(2 * 0.5 * np.sin(0.5 * dx), climb * dx)) ** 2
    area = 2 * np.arctan(square * np.sin(dx) / (1 + square * np.cos(dx)))
    np.testing.assert_allclose(state[rod.b0 + 1 :, 9], area, rtol=1e-10)


def test_whole_turns_of_reference_twist_are_kept():
    # One node between two edges: the second edge's tangent goes round a circle, 30 degrees about the first one, again
    # and again; each round adds the solid angle of the cap.
    edge = np.array((0.5, 0.0, 0.75**0.5))
    tables = discrete_tables(np.cumsum([(0, 0, 0), (0, 0, 1), edge, edge], axis=0), SECTION, MATERIAL)
    rod = Posed(tables, tables.rest)
    state, steps, rounds = rod.state, 400, 5
    for angle in np.linspace(0.0, 2 * np.pi * rounds, steps * rounds + 1)[1:]:
        q = rod.q.copy()
        nodes = q[rod.dof0 :].reshape(4, 4)
        side = np.array((np.cos(angle), np.sin(angle), 0.0))
        nodes[2, :3] = nodes[1, :3] + 0.5 * side + (0, 0, 0.75**0.5)
        nodes[3, :3] = nodes[2, :3] + 0.5 * side + (0, 0, 0.75**0.5)
        state = rod.carried(q, state)
    square, step = np.tan(np.pi / 12) ** 2, 2 * np.pi / steps
    cap = steps * 2 * np.arctan(square * np.sin(step) / (1 + square * np.cos(step)))
    assert cap == pytest.approx(2 * np.pi * (1 - 0.75**0.5), rel=1e-4)
    assert abs(state[rod.b0 + 1, 9]) == pytest.approx(rounds * cap, rel=1e-9)
    assert abs(state[rod.b0 + 1, 9]) > np.pi


def test_largest_turn_is_the_angle_between_tangents(posed):
    dq = np.zeros_like(posed.q)
    nodes = posed.q[posed.dof0 :].reshape(N, 4)[:, :3]
    step = dq[posed.dof0 :].reshape(N, 4)
    edge = nodes[4] - nodes[3]
    across = np.cross(edge, (0.3, 0.1, 1.0))
    across *= np.linalg.norm(edge) / np.linalg.norm(across)
    step[4:, :3] = np.cos(2.0) * edge + np.sin(2.0) * across - edge
    args = (posed.dof0, N, 0, posed.bend, posed.bend_span, posed.b0, posed.b1)
    assert largest_turn_discrete(posed.q, dq, *args) == pytest.approx(2.0, rel=1e-12)


# ------------------------------------------------------------------------------------------------------------- tables


@pytest.mark.parametrize("n", [4, 5, 12])
def test_basis_reproduces_straight_lines_inside_its_window(n):
    line, out = np.arange(n) * 2.0 - 1.0, np.empty(16)
    for u in np.linspace(0.0, n - 1.0, 8 * (n - 1) + 1):
        first = discrete_basis(u, n, out)
        assert 0 <= first <= n - 4
        N0, N1, N2, NR = out.reshape(4, 4)
        window = line[first : first + 4]
        assert (N0.sum(), N1.sum(), N2.sum(), NR.sum()) == pytest.approx((1, 0, 0, 1), abs=1e-14)
        assert (N0 @ window, N1 @ window, N2 @ window) == pytest.approx((2 * u - 1, 2, 0), abs=1e-13)
        assert np.min(N0) >= 0.0 and np.count_nonzero(N0) <= 2
        if first + 4 == n:
            assert NR[3] == 0.0  # the last node's roll is no roll


def test_directions_and_rolls_are_of_second_order_everywhere():
    # On a parabola differences over two nodes are exact at the middle, so N′ is exact at every u; rolls of edges are
    # exact for what is linear.
    n, out = 7, np.empty(16)
    x = np.arange(n)
    for u in np.linspace(0.0, n - 1.0, 25):
        first = discrete_basis(u, n, out)
        window = slice(first, first + 4)
        assert out[4:8] @ (x**2)[window] == pytest.approx(2 * u, abs=1e-12)
        assert out[8:12] @ (x**2)[window] == pytest.approx(2.0, abs=1e-12)
        assert out[12:16] @ (x + 0.5)[window] == pytest.approx(u, abs=1e-12)
    discrete_basis(0.0, n, out)
    np.testing.assert_array_equal(out[4:], (-1.5, 2, -0.5, 0, 1, -2, 1, 0, 1.5, -0.5, 0, 0))
    discrete_basis(n - 1.0, n, out)
    np.testing.assert_array_equal(out[4:], (0, 0.5, -2, 1.5, 0, 1, -2, 1, 0, -0.5, 1.5, 0))


def test_tables_at_rest():
    tables = discrete_tables(crooked(), SECTION, MATERIAL, up=(0, 0, 1))
    rod = Posed(tables, tables.rest)
    assert sum(rod.energy(rod.q)) < 1e-25
    assert np.max(np.abs(rod.state[rod.b0 :, 9])) < 1e-14
    t, u1 = tables.bend_state[:, :3], tables.bend_state[:, 3:6]
    np.testing.assert_allclose(np.sum(t * u1, axis=1), 0.0, atol=1e-15)
    np.testing.assert_allclose(np.sum(u1 * u1, axis=1), 1.0, rtol=1e-14)
    assert tables.length == pytest.approx(np.sum(np.linalg.norm(np.diff(crooked(), axis=0), axis=1)))
    assert np.sum(tables.bend_table[:, 0] * tables.bend_table[:, 1]) == pytest.approx(tables.length)
    # Mass: the whole rod's, and its moments about the nodes' places.
    mass = tables.mass_table
    whole = tables.length * tables.constants[7]
    assert np.sum(mass[:, 8]) == pytest.approx(whole)
    np.testing.assert_allclose(mass[:, 0] + mass[:, 1] + np.roll(mass[:, 1], 1), mass[:, 8], rtol=1e-13)
    assert np.sum(mass[:-1, 4]) == pytest.approx(whole / SECTION.area * (SECTION.I1 + SECTION.I2))
    assert mass[-1, 4] > 0.0


def test_straight_and_twisted_rest():
    tables = discrete_tables(crooked(), SECTION, MATERIAL, straight=True, rest_twist=0.4)
    np.testing.assert_array_equal(tables.bend_table[1:, 14:17], np.tile((0.0, 0.0, 0.4), (N - 2, 1)))
    tables = discrete_tables(crooked(), SECTION, MATERIAL, rest_curvature=lambda s: (s, 2 * s))
    np.testing.assert_allclose(tables.bend_table[1:, 15], 2 * tables.knot_lengths[1:-1])


@pytest.mark.parametrize(
    ("nodes", "options", "text"),
    [
        (crooked(3), {}, "4 nodes"),
        (crooked(), {"closed": True}, "open"),
        (crooked(), {"bending_points": 3}, "bending_points=3"),
        (crooked(), {"straight": True, "rest_curvature": (0, 0)}, "not both"),
        (np.repeat(crooked(), 2, axis=0), {}, "coincide"),
        ([(0, 0, 0), (1, 0, 0), (0, 0, 0), (1, 1, 0)], {}, "turns back"),
    ],
)
def test_wrong_tables_are_refused(nodes, options, text):
    with pytest.raises(InputError, match=text):
        discrete_tables(nodes, SECTION, MATERIAL, **options)


def test_nodes_on_a_circle_are_equally_spaced():
    angle = np.linspace(0.0, 1.5 * np.pi, 60)
    nodes = shape.fitted_points(np.column_stack((np.cos(angle), np.sin(angle), 0 * angle)), 20)
    chords = np.linalg.norm(np.diff(nodes, axis=0), axis=1)
    np.testing.assert_allclose(chords, 2 * np.sin(1.5 * np.pi / 38), rtol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(nodes, axis=1), 1.0, atol=1e-5)
    knots = shape.knot_lengths(nodes)
    u = np.array((0.0, 0.3, 7.25, 19.0))
    np.testing.assert_allclose(shape.parameter_at(nodes, knots, shape.length_at(nodes, knots, u)), u, atol=1e-13)
    np.testing.assert_allclose(shape.curve(nodes, 7.25)[0, 0], 0.75 * nodes[7] + 0.25 * nodes[8], atol=1e-15)
    with pytest.raises(InputError, match="2 different"):
        shape.fitted_points([(0, 0, 0)], 5)
    with pytest.raises(InputError, match="1 and 2 coincide"):
        shape.fitted_points([(0, 0, 0), (1, 0, 0), (1, 0, 0)], 5)
    np.testing.assert_allclose(shape.straight_points((0, 0, 0), (3, 0, 0), 4)[1], (1, 0, 0))
