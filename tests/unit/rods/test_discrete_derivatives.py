"""The discrete rod's forces and stiffness against differences, rigid motions, and the rows that its tables promise."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn
from sennit.bodies.rod.discrete import shape
from sennit.bodies.rod.discrete.kernels.basis import discrete_basis
from sennit.bodies.rod.discrete.model import DISCRETE
from sennit.errors import InputError

MATERIAL = sn.Material(1e6, 0.3, 1000.0, relaxation_time=0.02)
SECTION = sn.Section.rectangle(0.05, 0.08)  # 2.6 to 1 in bending
N = 9


def crooked(n=N, seed=1):
    """Nodes of a rod whose edges turn by up to 1 rad in all directions."""
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(0.0, 0.05, (n, 3)) + np.array((0.1, 0.03, 0.0)), axis=0)


@pytest.fixture
def bent(posed):
    tables = DISCRETE.tables(crooked(), SECTION, MATERIAL, rest_curvature=(1.5, -0.7, 0.9), up=(0.1, 0.2, 1.0))
    rng = np.random.default_rng(5)
    q = tables.rest + rng.normal(0.0, (0.02, 0.02, 0.02, 0.8), (N, 4))
    return posed(tables, q)


def differences(function, q, dof0, step=1e-6):
    """Central differences of an array-valued function by q's entries from dof0 on: (values, entries)."""
    columns = []
    for i in range(dof0, len(q)):
        d = np.zeros_like(q)
        d[i] = step
        columns.append((np.asarray(function(q + d)) - np.asarray(function(q - d))) / (2 * step))
    return np.array(columns).T


# ------------------------------------------------------------------------------------------------------- derivatives


def test_force_is_the_slope_of_the_energy(bent):
    force, _ = bent.assembled(bent.q)
    slope = differences(lambda q: sum(bent.energy(q)), bent.q, bent.dof0)
    # Rounding of the energy over the step bounds what differences can tell.
    atol = 20 * 2.2e-16 * sum(bent.energy(bent.q)) / 1e-6 + 1e-9 * np.max(np.abs(force))
    np.testing.assert_allclose(force, -slope, rtol=0, atol=atol)
    assert np.max(np.abs(force)) > 1e3 * atol


@pytest.mark.parametrize("part", ["all", "bending", "twist"])
def test_stiffness_is_the_slope_of_the_force(bent, part):
    # Alone, the bending and twist terms can't hide behind the stretching stiffness.
    if part != "all":
        bent.tables.stretches.stiffness[:] = 0.0
        bent.tables.bends.stiffness[:, 2 if part == "bending" else slice(0, 2)] = 0.0
    bent.store_tensions()
    _, matrix = bent.assembled(bent.q)
    slope = -differences(lambda q: bent.assembled(q, weight_k=0.0)[0], bent.q, bent.dof0)
    # Frames carried round a closed path come back turned: the antisymmetric part of the slope, no energy's Hessian.
    wanted = 0.5 * (slope + slope.T)
    np.testing.assert_allclose(matrix[:-1, :-1], wanted[:-1, :-1], rtol=0, atol=1e-8 * np.max(np.abs(wanted)))
    assert np.max(np.abs(slope - slope.T)) > 1e-4 * np.max(np.abs(wanted))


def test_stiffness_is_the_second_slope_of_the_energy(bent):
    bent.store_tensions()
    _, matrix = bent.assembled(bent.q)
    _, gauss = bent.assembled(bent.q, exact=0)
    rng = np.random.default_rng(3)
    h = 2e-3
    for _ in range(5):
        d = rng.normal(size=(N, 4)) * (0.05, 0.05, 0.05, 1.0)
        line = np.concatenate((np.zeros(bent.dof0), d.ravel()))
        e = [sum(bent.energy(bent.q + x * h * line)) for x in range(-3, 4)]
        second = np.dot((1 / 90, -3 / 20, 3 / 2, -49 / 18, 3 / 2, -3 / 20, 1 / 90), e) / h**2
        dummy = matrix[-1, -1] * d[-1, 3] ** 2
        assert d.ravel() @ matrix @ d.ravel() - dummy == pytest.approx(second, rel=1e-7)
        assert abs(d.ravel() @ gauss @ d.ravel() - dummy - second) > 1e-4 * abs(second)


def test_gauss_newton_is_semidefinite_and_exact_without_moments(bent, posed):
    _, gauss = bent.assembled(bent.q, exact=0, push=0)
    eigenvalues = np.linalg.eigvalsh(gauss)
    assert eigenvalues[0] > -1e-12 * eigenvalues[-1]
    # At rest there is no moment, so both are the Hessian.
    tables = DISCRETE.tables(crooked(), SECTION, MATERIAL)
    rest = posed(tables, tables.rest)
    gauss, exact = rest.assembled(rest.q, exact=0)[1], rest.assembled(rest.q, exact=1)[1]
    np.testing.assert_allclose(gauss, exact, rtol=0, atol=1e-12 * np.max(np.abs(exact)))


def test_damping_enters_force_and_stiffness(bent, posed):
    rate, now = 2.5, bent.nodes.copy()
    bent.move(now + np.random.default_rng(8).normal(0.0, 0.01, 4 * N).reshape(N, 4))
    bent.accept()
    bent.move(now)
    force, elastic = bent.assembled(bent.q, rate=rate)[0], bent.assembled(bent.q, rate=0.0)[0]
    # Kelvin–Voigt: the same strains' energy about the last strains, times the rate.
    other = posed(bent.tables, bent.tables.rest)
    other.frames.fill(bent.frames)
    other.tables.bends.rest[:] = bent.frames.strain
    other.tables.stretches.stiffness[:] = 0.0
    drag = other.assembled(bent.q)[0]
    t = np.diff(bent.q[bent.dof0 :].reshape(N, 4)[:, :3], axis=0)
    lengths = np.linalg.norm(t, axis=1)
    pull = bent.tables.stretches.stiffness * (lengths / bent.tables.stretches.speed - 1.0 - bent.tensions.strain)
    pull = (pull / lengths)[:, None] * t
    drag = drag.reshape(N, 4).copy()
    drag[:-1, :3] += pull
    drag[1:, :3] -= pull
    np.testing.assert_allclose(force - elastic, rate * drag.ravel(), rtol=0, atol=1e-11 * np.max(np.abs(force)))
    bent.store_tensions(rate)
    _, matrix = bent.assembled(bent.q, rate=rate)
    slope = -differences(lambda q: bent.assembled(q, rate=rate, weight_k=0.0)[0], bent.q, bent.dof0)
    wanted = 0.5 * (slope + slope.T)
    np.testing.assert_allclose(matrix[:-1, :-1], wanted[:-1, :-1], rtol=0, atol=1e-8 * np.max(np.abs(wanted)))


def test_tensions_are_linearised_and_clamped(bent):
    rng = np.random.default_rng(2)
    dq = np.concatenate((np.zeros(bent.dof0), rng.normal(0.0, 0.01, 4 * N)))
    now = bent.nodes.copy()
    bent.move(bent.q[bent.dof0 :] - 0.3 * dq[bent.dof0 :])
    bent.accept()
    bent.move(now)

    def tension(q, rate):
        edges = np.linalg.norm(np.diff(q[bent.dof0 :].reshape(N, 4)[:, :3], axis=0), axis=1)
        strain = edges / bent.tables.stretches.speed - 1.0
        return bent.tables.stretches.stiffness * (strain + rate * (strain - bent.tensions.strain))

    stored = bent.store_tensions(1.5, dq).copy()
    slope = (tension(bent.q + 1e-6 * dq, 1.5) - tension(bent.q - 1e-6 * dq, 1.5)) / 2e-6
    np.testing.assert_allclose(stored, tension(bent.q, 1.5) + slope, rtol=1e-7)
    assert np.min(stored) < 0.0 < np.max(stored)
    clamped = bent.assembled(bent.q, push=0)[1]
    bent.tensions.tension[:] = np.maximum(stored, 0.0)
    np.testing.assert_array_equal(clamped, bent.assembled(bent.q, push=1)[1])


def test_weights_scale_and_add(bent):
    force, matrix = bent.assembled(bent.q)
    half, third = bent.assembled(bent.q, weight_f=0.5, weight_k=1 / 3)
    np.testing.assert_allclose(half, 0.5 * force, rtol=1e-12, atol=1e-12 * np.max(np.abs(force)))
    np.testing.assert_allclose(third, matrix / 3, rtol=0, atol=1e-12 * np.max(np.abs(matrix)))
    assert not np.any(bent.assembled(bent.q, weight_k=0.0)[1])


# ------------------------------------------------------------------------------------------- rigid motions and frames


def test_energy_does_not_see_rigid_motions(bent):
    energy = bent.energy(bent.q)
    rotation = sn.Pose.along((0, 0, 0), (1, 2, -0.5), (0.3, 0, 1)).rotation
    moved = bent.q.copy()
    nodes = moved[bent.dof0 :].reshape(N, 4)
    nodes[:, :3] = nodes[:, :3] @ rotation.T + (1, 2, 3)
    bent.rotate(rotation)
    np.testing.assert_allclose(bent.energy(moved), energy, rtol=1e-12)
    # m is what the vectors say, so carrying in place changes nothing.
    again = bent.carried(moved)
    frames = bent.kind.bend
    bent.kernels.carry_frames(bent.rod, bent.kind, moved, frames, frames)
    for name, array in frames.fields().items():
        np.testing.assert_array_equal(array, getattr(again, name))


def test_free_rod_has_six_motions_without_strain(posed):
    tables = DISCRETE.tables(crooked(), SECTION, MATERIAL)
    rod = posed(tables, tables.rest)
    _, matrix = rod.assembled(rod.q)
    # Rolls in metres, so that all entries are alike.
    scale = np.tile((1.0, 1.0, 1.0, 1 / 0.05), N)
    eigenvalues = np.linalg.eigvalsh(scale[:, None] * matrix * scale)
    assert np.max(np.abs(eigenvalues[:6])) < 1e-11 * eigenvalues[-1]
    assert eigenvalues[6] > 1e-7 * eigenvalues[-1]
    # The last roll stands alone, with stiffness of its own and no force.
    assert matrix[-1, -1] > 0.0 and not np.any(matrix[-1, :-1])


def test_last_roll_does_not_matter(bent):
    force, matrix = bent.assembled(bent.q)
    energy = bent.energy(bent.q)
    bent.q[-1] += 1.0
    np.testing.assert_array_equal(bent.assembled(bent.q)[0], force)
    np.testing.assert_array_equal(bent.assembled(bent.q)[1], matrix)
    assert bent.energy(bent.q) == energy and force[-1] == 0.0


def test_reference_twist_is_the_area_that_tangents_sweep(posed):
    # A helix shrinks to a straight line; every tangent goes straight to the axis. u1 was carried along the helix
    # without twist, so on the line its twist at a node is the solid angle of the triangle between the axis and the two
    # tangents that met there, with sides θ, θ and the angle dx between them.
    n, climb = 121, 0.3
    x = np.linspace(0.0, 6 * np.pi, n)
    dx = x[1]

    def nodes(radius):
        return np.column_stack((radius * np.cos(x), radius * np.sin(x), climb * x))

    tables = DISCRETE.tables(nodes(0.5), SECTION, MATERIAL)
    rod = posed(tables, tables.rest)
    frames = rod.kind.bend
    for radius in (0.3, 0.1, 0.0):
        q = np.concatenate((np.zeros(rod.dof0), np.column_stack((nodes(radius), np.zeros(n))).ravel()))
        frames = rod.carried(q, frames)
    square = np.tan(0.5 * np.arctan2(2 * 0.5 * np.sin(0.5 * dx), climb * dx)) ** 2
    area = 2 * np.arctan(square * np.sin(dx) / (1 + square * np.cos(dx)))
    np.testing.assert_allclose(rod.own(frames).twist[1:], area, rtol=1e-10)


def test_whole_turns_of_reference_twist_are_kept(posed):
    # One node between two edges: the second edge's tangent goes round a circle, 30 degrees about the first one, again
    # and again; each round adds the solid angle of the cap.
    edge = np.array((0.5, 0.0, 0.75**0.5))
    tables = DISCRETE.tables(np.cumsum([(0, 0, 0), (0, 0, 1), edge, edge], axis=0), SECTION, MATERIAL)
    rod = posed(tables, tables.rest)
    frames, steps, rounds = rod.kind.bend, 400, 5
    for angle in np.linspace(0.0, 2 * np.pi * rounds, steps * rounds + 1)[1:]:
        q = rod.q.copy()
        nodes = q[rod.dof0 :].reshape(4, 4)
        side = np.array((np.cos(angle), np.sin(angle), 0.0))
        nodes[2, :3] = nodes[1, :3] + 0.5 * side + (0, 0, 0.75**0.5)
        nodes[3, :3] = nodes[2, :3] + 0.5 * side + (0, 0, 0.75**0.5)
        frames = rod.carried(q, frames)
    square, step = np.tan(np.pi / 12) ** 2, 2 * np.pi / steps
    cap = steps * 2 * np.arctan(square * np.sin(step) / (1 + square * np.cos(step)))
    assert cap == pytest.approx(2 * np.pi * (1 - 0.75**0.5), rel=1e-4)
    assert abs(rod.own(frames).twist[1]) == pytest.approx(rounds * cap, rel=1e-9)
    assert abs(rod.own(frames).twist[1]) > np.pi


def test_largest_turn_is_the_angle_between_tangents(bent):
    dq = np.zeros_like(bent.q)
    nodes = bent.q[bent.dof0 :].reshape(N, 4)[:, :3]
    step = dq[bent.dof0 :].reshape(N, 4)
    edge = nodes[4] - nodes[3]
    across = np.cross(edge, (0.3, 0.1, 1.0))
    across *= np.linalg.norm(edge) / np.linalg.norm(across)
    step[4:, :3] = np.cos(2.0) * edge + np.sin(2.0) * across - edge
    assert bent.largest_turn(dq) == pytest.approx(2.0, rel=1e-12)


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


def test_tables_at_rest(posed):
    tables = DISCRETE.tables(crooked(), SECTION, MATERIAL, up=(0, 0, 1))
    rod = posed(tables, tables.rest)
    assert sum(rod.energy(rod.q)) < 1e-25
    assert np.max(np.abs(rod.frames.twist)) < 1e-14
    t, u1 = tables.bend.tangent, tables.bend.reference
    np.testing.assert_allclose(np.sum(t * u1, axis=1), 0.0, atol=1e-15)
    np.testing.assert_allclose(np.sum(u1 * u1, axis=1), 1.0, rtol=1e-14)
    assert tables.length == pytest.approx(np.sum(np.linalg.norm(np.diff(crooked(), axis=0), axis=1)))
    assert np.sum(tables.bends.weight * tables.bends.speed) == pytest.approx(tables.length)
    # Mass: the whole rod's, and its moments about the nodes' places.
    mass, roll, total = tables.masses.mass, tables.masses.roll, tables.masses.total
    whole = tables.length * tables.mass_per_length
    assert np.sum(total) == pytest.approx(whole)
    np.testing.assert_allclose(mass[:, 0] + mass[:, 1] + np.roll(mass[:, 1], 1), total, rtol=1e-13)
    assert np.sum(roll[:-1, 0]) == pytest.approx(whole / SECTION.area * (SECTION.I1 + SECTION.I2))
    assert roll[-1, 0] > 0.0


def test_straight_and_twisted_rest():
    tables = DISCRETE.tables(crooked(), SECTION, MATERIAL, straight=True, rest_twist=0.4)
    np.testing.assert_array_equal(tables.bends.rest[1:], np.tile((0.0, 0.0, 0.4), (N - 2, 1)))
    tables = DISCRETE.tables(crooked(), SECTION, MATERIAL, rest_curvature=lambda s: (s, 2 * s))
    np.testing.assert_allclose(tables.bends.rest[1:, 1], 2 * tables.knot_lengths[1:-1])


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
        DISCRETE.tables(nodes, SECTION, MATERIAL, **options)


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
