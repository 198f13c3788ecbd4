"""The kernels of seams against dense algebra, on zones that are random symmetric matrices."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from sennit.elastostatics.chain.condensed import CondensedZone, HeldNodes, Side, padded
from sennit.elastostatics.chain.kernels import blocks
from sennit.elastostatics.chain.kernels import solve as kernels
from sennit.elastostatics.chain.structure import build, eliminated, flops, owners
from sennit.elastostatics.chain.system import SeamSystem
from sennit.geometry.rotations import quaternion_to_matrix
from tests.references.meshes import rows


def random_zone(rng, count, seams, stiff=1.0):
    """A zone of `count` free nodes with seams of given vertex lists (and rest places, and weights)."""
    base = rng.standard_normal((3 * count, 3 * count))
    compliance = base @ base.T / (3 * count) + stiff * np.eye(3 * count)
    greens = SimpleNamespace(compliance=compliance, slot=np.arange(count), rows=np.arange(3 * count))
    return CondensedZone(greens, [Side(np.asarray(ids), *rest) for ids, *rest in seams])


def random_poses(rng, count):
    quaternions = rng.standard_normal((count, 4))
    matrices = quaternion_to_matrix(quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True))
    return matrices.reshape(count, 9).copy(), 0.1 * rng.standard_normal((count, 3))


def solve(system, rotations, places, held, method):
    place(system, rotations, places)
    return system.solve(held, method)


def place(system, rotations, places):
    system.poses.rotation[:] = rotations.reshape(-1, 3, 3)
    system.poses.position[:] = places


def dense_solution(zones, moduli, pairs, sides, rotations, places, held):
    """Displacements (3m,) of every seam in the world, node by node: each zone's stiffness turned to the world."""
    sizes = [3 * len(zones[a].sides[i].rest) for (a, _), (i, _) in zip(pairs, sides, strict=True)]
    begin = np.concatenate(([0], np.cumsum(sizes)))
    A, b = np.zeros((begin[-1], begin[-1])), np.zeros(begin[-1])
    for z, zone in enumerate(zones):
        mine = [(s, side[pair.index(z)]) for s, (pair, side) in enumerate(zip(pairs, sides, strict=True)) if z in pair]
        R, p = rotations[z].reshape(3, 3), places[z]
        # The zone's unknowns: world places of the seam's nodes x; its own displacements are Rᵀ (x − p) − X.
        picked, where, rest = [], [], []
        for s, i in mine:
            m, at = len(zone.sides[i].rest), zone.places[i]
            picked.append((at + np.arange(m)[:, None] + padded(m) * np.arange(3)).ravel())
            where.append(begin[s] + np.arange(3 * m))
            rest.append(zone.sides[i].rest.ravel())
        picked, where, rest = map(np.concatenate, (picked, where, rest))
        T = np.kron(np.eye(len(where) // 3), R.T)
        K = moduli[z] * zone.stiffness[np.ix_(picked, picked)]
        A[np.ix_(where, where)] += T.T @ K @ T
        b[where] += T.T @ (held[z][picked] + K @ (np.tile(R.T @ p, len(where) // 3) + rest))
    x = np.linalg.solve(A, b)
    return [x[begin[s] : begin[s + 1]].reshape(-1, 3) for s in range(len(pairs))]


def world_places(system, solved, pairs, sides, rotations, places):
    """World places of the seams' nodes as each of their two zones sees them."""
    result = []
    for pair, side in zip(pairs, sides, strict=True):
        seen = []
        for z, i in zip(pair, side, strict=True):
            zone = system.zones[z]
            m = len(zone.sides[i].rest)
            begin = system.zone_slice(z).start + zone.places[i]
            u = solved.u[begin : begin + 3 * padded(m)].reshape(3, -1)[:, :m].T
            seen.append((zone.sides[i].rest + u) @ rotations[z].reshape(3, 3).T + places[z])
        result.append(seen)
    return result


def network(rng, pairs, sizes, nodes=30, coupled=1.0):
    """Zones joined by `pairs`, each with as many nodes as needed; sides in the order of the pairs."""
    count = 1 + max(max(pair) for pair in pairs)
    lists = [[] for _ in range(count)]
    used = [0] * count
    sides = []
    for (a, b), m in zip(pairs, sizes, strict=True):
        rest = rng.standard_normal((m, 3))
        side = []
        for z in (a, b):
            ids = used[z] + rng.permutation(m)
            used[z] += m
            side.append(len(lists[z]))
            lists[z].append((ids, rest + 0.01 * rng.standard_normal((m, 3))))
        sides.append(tuple(side))
    zones = [random_zone(rng, used[z] + nodes, lists[z], coupled) for z in range(count)]
    return zones, sides


TOPOLOGIES = {
    "pair": ([(0, 1)], [5]),
    "chain": ([(0, 1), (1, 2), (2, 3)], [5, 8, 3]),
    "turned about": ([(3, 2), (2, 1), (1, 0)], [5, 8, 3]),
    "hand": ([(0, 1), (0, 2), (0, 3), (3, 4), (0, 5), (4, 6)], [4, 7, 9, 2, 5, 6]),
    "ring": ([(0, 1), (1, 2), (2, 0)], [6, 4, 5]),
    "ring of four": ([(0, 1), (1, 2), (2, 3), (3, 0)], [6, 4, 5, 3]),
    "two seams between two": ([(0, 1), (0, 1), (1, 2)], [4, 5, 6]),
    "apart": ([(0, 1), (2, 3)], [4, 5]),
}


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_direct_solution_is_the_dense_one(name):
    pairs, sizes = TOPOLOGIES[name]
    rng = np.random.default_rng(3)
    zones, sides = network(rng, pairs, sizes)
    moduli = (0.5 + rng.random(len(zones))).tolist()
    system = SeamSystem(zones, moduli, pairs, sides)
    rotations, places = random_poses(rng, len(zones))
    held = [rng.standard_normal(zone.size) * (np.diag(zone.stiffness) != 0.0) for zone in zones]
    want = dense_solution(zones, moduli, pairs, sides, rotations, places, held)
    solved = solve(system, rotations, places, np.concatenate(held), "direct")
    assert solved.residual < 1e-13
    for seam, (one, other) in zip(want, world_places(system, solved, pairs, sides, rotations, places), strict=True):
        np.testing.assert_allclose(one, seam, atol=1e-12)
        np.testing.assert_allclose(other, seam, atol=1e-12)
    # The forces of the two sides cancel in the world.
    forces = np.empty(system.vector)
    kernels.reactions(system.plan.zones, system.work.matrices, solved.u, np.concatenate(held), forces)
    for pair, side in zip(pairs, sides, strict=True):
        total = 0.0
        for z, i in zip(pair, side, strict=True):
            m = padded(len(zones[z].sides[i].rest))
            begin = system.zone_slice(z).start + zones[z].places[i]
            total = total + forces[begin : begin + 3 * m].reshape(3, m).T @ rotations[z].reshape(3, 3).T
        assert np.abs(total).max() < 1e-12 * np.abs(forces).max()


@pytest.mark.parametrize("name", ["chain", "hand", "ring"])
def test_sweeps_agree_with_the_direct_solution_on_weakly_coupled_zones(name):
    pairs, sizes = TOPOLOGIES[name]
    rng = np.random.default_rng(4)
    # A compliance near the identity hardly joins its seams.
    zones, sides = network(rng, pairs, sizes, nodes=0, coupled=3000.0)
    system = SeamSystem(zones, [1.0] * len(zones), pairs, sides)
    rotations, places = random_poses(rng, len(zones))
    place(system, rotations, places)
    assert system.measure() < 1e-2
    held = rng.standard_normal(system.vector)
    direct = solve(system, rotations, places, held, "direct")
    swept = solve(system, rotations, places, held, "auto")
    assert swept.method == "sweeps" and swept.sweeps == 2
    wrong = np.linalg.norm(swept.v - direct.v) / np.linalg.norm(direct.v)
    assert wrong < 1e-8
    assert swept.residual < 1e-8
    assert wrong / 30.0 < swept.error < max(30.0 * wrong, 1e-15)


def test_sweeps_that_miss_the_tolerance_give_way_to_the_direct_solution():
    pairs, sizes = TOPOLOGIES["chain"]
    rng = np.random.default_rng(5)
    zones, sides = network(rng, pairs, sizes, nodes=0, coupled=0.01)
    system = SeamSystem(zones, [1.0] * 4, pairs, sides)
    rotations, places = random_poses(rng, 4)
    held = rng.standard_normal(system.vector)
    place(system, rotations, places)
    assert system.measure() > 1e-2
    direct = solve(system, rotations, places, held, "direct")
    swept = solve(system, rotations, places, held, "sweeps")
    assert swept.fallback and swept.method == "direct"
    np.testing.assert_array_equal(swept.v, direct.v)
    assert solve(system, rotations, places, held, "auto").method == "direct"


@pytest.mark.parametrize("size", [4, 12, 20, 84])
def test_factor_and_triangular_solves(size):
    rng = np.random.default_rng(size)
    height = size + 28
    base = rng.standard_normal((height, height))
    whole = base @ base.T + np.eye(height)
    panel = np.ascontiguousarray(whole[:, :size].T)
    assert blocks.factor_panel(panel.ravel(), 0, height, size, height) == 0
    want = np.linalg.cholesky(whole[:size, :size])
    np.testing.assert_allclose(np.tril(panel.T[:size]), want, atol=1e-12)
    np.testing.assert_allclose(panel.T[size:], whole[size:, :size] @ np.linalg.inv(want).T, atol=1e-11)
    y = rng.standard_normal(size)
    x = y.copy()
    blocks.forward(panel.ravel(), 0, height, size, x, 0)
    np.testing.assert_allclose(want @ x, y, atol=1e-12)
    blocks.backward(panel.ravel(), 0, height, size, x, 0)
    np.testing.assert_allclose(want @ (want.T @ x), y, atol=1e-11)
    panel[3, 3] = -1.0
    panel[:, :3] = 0.0
    panel[0, 0] = panel[1, 1] = panel[2, 2] = 1.0
    assert blocks.factor_panel(panel.ravel(), 0, height, size, height) == 4


def test_many_right_sides():
    pairs, sizes = TOPOLOGIES["hand"]
    rng = np.random.default_rng(6)
    zones, sides = network(rng, pairs, sizes)
    system = SeamSystem(zones, [1.0] * len(zones), pairs, sides)
    rotations, places = random_poses(rng, len(zones))
    solve(system, rotations, places, np.zeros(system.vector), "direct")
    B = rng.standard_normal((system.size, 10))
    Y = system.forward(B)
    X = system.respond(B)
    np.testing.assert_allclose(B.T @ X, Y.T @ Y, atol=1e-11 * np.abs(Y.T @ Y).max())


def test_held_nodes_stiffen_the_seams():
    """K + P_Dᵀ G⁻¹ P_D is the inverse of the compliance of seams with the nodes D fixed."""
    rng = np.random.default_rng(7)
    zone = random_zone(rng, 20, [(np.array([3, 1, 7, 12]), rng.standard_normal((4, 3)))])
    held = np.array([14, 16, 17, 59])
    C = zone.greens.compliance
    left = C - C[:, held] @ np.linalg.inv(C[np.ix_(held, held)]) @ C[held]
    I = rows([3, 1, 7, 12])
    want = np.linalg.inv(left[np.ix_(I, I)])
    order = (np.arange(4)[:, None] + 4 * np.arange(3)).ravel()
    np.testing.assert_allclose(HeldNodes(zone, held).stiffness[np.ix_(order, order)], want, atol=1e-10)


def test_prolongation_of_interpolated_nodes():
    rng = np.random.default_rng(8)
    W = rng.random((5, 3))
    ids = np.array([4, 0, 2, 9, 7])
    zone = random_zone(rng, 12, [(ids, rng.standard_normal((3, 3)), W)])
    C = zone.greens.compliance
    wide = np.kron(W, np.eye(3))
    I = rows(ids)
    K = np.linalg.inv(C[np.ix_(I, I)])
    order = (np.arange(3)[:, None] + 4 * np.arange(3)).ravel()
    np.testing.assert_allclose(zone.stiffness[np.ix_(order, order)], wide.T @ K @ wide, atol=1e-12)
    some = np.array([0, 3, 17, 33, 35])
    want = (C[:, I] @ K @ wide)[some]
    np.testing.assert_allclose(zone.prolongation_rows(some)[:, order], want, atol=1e-12)


def test_elimination_of_trees_fills_nothing_and_grows_linearly():
    rng = np.random.default_rng(9)
    counted = {}
    for count in (2, 4, 8, 16, 32, 64):
        pairs = [(k, k + 1) for k in range(count - 1)]
        zones, sides = network(rng, pairs, [4] * (count - 1), nodes=1)
        structure = build(zones, pairs, sides)
        assert structure.fill == 0 and structure.order == list(range(count - 1))
        assert len(structure.plan.factored) == count - 2 and len(structure.plan.updates) == count - 2
        counted[count] = (flops(structure), structure.panel_numbers)
    for k in range(2):
        per_zone = (counted[4][k] - counted[2][k]) / 2
        for count in (8, 16, 32, 64):
            assert counted[count][k] == counted[2][k] + per_zone * (count - 2)
    # A tree in which every zone has two children: its seams form triangles, which stay what they are.
    pairs = [((k - 1) // 2, k) for k in range(1, 31)]
    zones, sides = network(rng, pairs, [2] * 30, nodes=1)
    assert build(zones, pairs, sides).fill == 0


def test_a_ring_is_filled_by_one_block_a_zone():
    order, below = eliminated([{5, 1}, {0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 0}])
    assert sorted(order) == list(range(6))
    assert sum(map(len, below)) == 6 + 3


def test_owners_leave_the_fewest_to_turn():
    # The middle zone owns both its seams; of four zones every second one owns.
    assert owners([(0, 1), (1, 2)], [72, 72], 3) == [1, 0]
    own = owners([(0, 1), (1, 2), (2, 3)], [5, 5, 5], 4)
    assert own in ([0, 1, 0], [1, 0, 1])
    assert len(owners([(0, 1), (1, 2), (2, 0)], [5, 5, 5], 3)) == 3


def test_a_kernel_moves_surfaces_in_both_precisions():
    rng = np.random.default_rng(10)
    P = np.zeros((8, 16))
    P[:7] = rng.standard_normal((7, 16))
    v = rng.standard_normal(16)
    where = np.array([3, 8, 1, 2, 0, 9, 5])
    for kind, tolerance in ((np.float64, 1e-14), (np.float32, 1e-5)):
        u = np.zeros((4, 3))
        kernels.surface(P.astype(kind), where, v.astype(kind), v, np.array([2, 7]), np.array([4, 11]), u)
        np.testing.assert_allclose(u.ravel()[where], P[:7] @ v, rtol=tolerance, atol=tolerance)
        assert u[1, 1] == v[2] and u[3, 2] == v[7]
        assert not u.ravel()[[6, 7, 10]].any()
