"""The factor that follows what enters and leaves, against a fresh one; supports let go, against a new elimination."""

from __future__ import annotations

import numpy as np
import pytest
from references.meshes import rows
from references.solids import fem_block

from sennit.elastostatics.capacitance import Capacitance
from sennit.elastostatics.greens import GreensFunctions
from sennit.elastostatics.mixed import Release, solve_held


@pytest.fixture(scope="module")
def solid():
    surface, boundary = fem_block(cells=(4, 4, 4))
    return surface, boundary, np.flatnonzero(surface.vertices[:, 2] < 1e-9)


@pytest.fixture(scope="module")
def greens(solid):
    return GreensFunctions(*solid)


def defect(capacitance, C):
    """How far RᵀR is from C_DD, relative to its largest entry."""
    held = capacitance.rows
    if not len(held):
        return 0.0
    R = np.triu(capacitance._factor[: len(held), : len(held)])
    wanted = C[np.ix_(held, held)]
    return np.abs(R.T @ R - wanted).max() / np.abs(wanted).max()


@pytest.mark.parametrize("seed", range(4))
def test_random_comings_and_goings(greens, seed) -> None:
    """Nodes, and single rows, enter and leave 300 times; the factor stays that of what is held."""
    C = greens.compliance
    rng = np.random.default_rng(seed)
    capacitance = Capacitance(C)
    held: set[int] = set()
    for _ in range(300):
        if rng.random() < 0.5 + 0.3 * (len(held) < 30):
            node = 3 * int(rng.integers(len(C) // 3))
            held |= {node, node + 1, node + 2} if rng.random() < 0.7 else {node + int(rng.integers(3))}
        elif held:
            node = int(rng.choice(sorted(held))) // 3
            held -= {3 * node, 3 * node + 1, 3 * node + 2}
        wanted = rng.permutation(np.array(sorted(held), dtype=np.int64))
        capacitance.hold(wanted)
        assert sorted(capacitance.rows.tolist()) == sorted(held)
        assert defect(capacitance, C) < 1e-13
    assert capacitance.updated > 400
    right = rng.normal(size=len(held))
    found = capacitance.solve(right)
    wanted = np.linalg.solve(C[np.ix_(capacitance.rows, capacitance.rows)], right)
    assert np.abs(found - wanted).max() < 1e-10 * np.abs(wanted).max()


def test_one_node_is_an_update_and_many_are_a_new_factor(greens) -> None:
    capacitance = Capacitance(greens.compliance)
    many = rows(np.arange(20))
    capacitance.hold(many)
    made = capacitance.refactored
    capacitance.hold(np.concatenate((many, rows([25]))))
    capacitance.hold(np.setdiff1d(many, rows([3])))
    assert capacitance.refactored == made and capacitance.updated >= 9
    capacitance.hold(rows(np.arange(30, 55)))
    assert capacitance.refactored == made + 1
    assert defect(capacitance, greens.compliance) < 1e-14
    capacitance.hold(np.zeros(0, dtype=np.int64))
    assert not len(capacitance.rows)


def test_held_rows_equal_a_solve_of_the_whole_system(solid, greens) -> None:
    """The same problem by eliminating the held rows from S_ff."""
    _, boundary, _ = solid
    rng = np.random.default_rng(5)
    S = boundary.stiffness[np.ix_(greens.rows, greens.rows)]
    capacitance = Capacitance(greens.compliance)
    for count in (1, 7, 40, 12, 3):
        held = rng.choice(len(S), count, replace=False)
        targets, forces = rng.normal(size=count), rng.normal(size=len(S))
        u, lam, missed = solve_held(greens, capacitance, forces, held, targets)
        rest = np.setdiff1d(np.arange(len(S)), held)
        wanted = np.zeros(len(S))
        wanted[held] = targets
        wanted[rest] = np.linalg.solve(S[np.ix_(rest, rest)], forces[rest] - S[np.ix_(rest, held)] @ targets)
        assert np.abs(u - wanted).max() < 1e-12 * np.abs(wanted).max()
        reactions = S[held] @ wanted - forces[held]
        assert np.abs(lam - reactions).max() < 1e-11 * np.abs(reactions).max()
        assert missed < 1e-12 * np.abs(wanted).max()


def test_released_nodes_equal_new_greens_functions(solid, greens) -> None:
    surface, boundary, fixed = solid
    rng = np.random.default_rng(6)
    before = None
    for released in (fixed[:4], fixed[2:7], fixed[[3, 9]]):
        release = Release(greens, released, before)
        before = release
        anew = GreensFunctions(surface, boundary, np.setdiff1d(fixed, released))
        nodes = np.concatenate((greens.free, released))
        place = rows(anew.slot[nodes])
        forces = rng.normal(size=len(place))
        held = rng.choice(len(place), 9, replace=False)
        targets = rng.normal(size=9)
        u, lam, _ = release.solve(forces, held, targets)
        other = np.empty(len(place))
        other[place] = forces
        v, mu, _ = solve_held(anew, Capacitance(anew.compliance), other, place[held], targets)
        assert np.abs(u - v[place]).max() < 1e-12 * np.abs(v).max()
        assert np.abs(lam - mu).max() < 1e-11 * np.abs(mu).max()


def test_a_release_that_lets_the_body_go_is_noticed(solid, greens) -> None:
    _, _, fixed = solid
    with pytest.raises(ArithmeticError):
        Release(greens, fixed)
