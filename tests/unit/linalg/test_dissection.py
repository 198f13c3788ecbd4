"""Separators and dissections: lightest ones, growth of operations, accuracy beside the plain order of least degree."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from unit.linalg.systems import System, bridge, dense, hinges, ladder, mixed, plane_net, tree

from sennit.compilation import PLAIN
from sennit.linalg import Factorisation, plan
from sennit.linalg.kernels import dissection, ordering, separator
from sennit.linalg.order import (
    BlockGraph,
    Order,
    dissected,
    graph_of,
    least_degree,
    least_dissected,
    network_of,
)

NEVER = 10**9
"""Front from which the plain order is left: no front is that wide."""


# ---------------------------------------------------------------------------------------------------------- separators


@dataclass
class Blocks:
    """Blocks as `order` takes them, and their plain order."""

    start: np.ndarray
    kind: np.ndarray
    graph: BlockGraph
    plain: Order


def blocks_of(s: System) -> Blocks:
    """One entry for each pair of coupled blocks is enough for the graph."""
    start, kind = np.array(s.start, np.uint32), np.array(s.kind, np.uint8)
    pairs = np.array(s.pairs, np.uint32)
    graph = graph_of(start, start[pairs[:, 0]], start[pairs[:, 1]])
    return Blocks(start, kind, graph, least_degree(start, kind, graph))


def random_system(rng: np.random.Generator) -> System:
    """Three to six blocks of unknowns, up to four of rows on two or three of them, a slider on one of those."""
    s = System()
    bodies = [s.block(int(rng.integers(1, 7)), 0) for _ in range(rng.integers(3, 7))]
    s.pairs += [pair for pair in itertools.combinations(bodies, 2) if rng.random() < 0.3]
    rows = [
        s.rows(int(rng.integers(1, 4)), rng.choice(bodies, rng.integers(2, 4), replace=False).tolist())
        for _ in range(rng.integers(1, 4))
    ]
    slider = s.block(1, 2)
    s.pairs.append((slider, rows[0]))
    return s


def lightest(s: System, near: set[int], far: set[int]) -> int:
    """Weight of the lightest separator by trial of all: near ones are not far, and what waits for it is in it."""
    blocks = range(len(s.kind))
    joined = [(a, b) for pair in s.pairs for a, b in (pair, pair[::-1]) if a != b]
    waits = [(b, a) for a, b in joined if (s.kind[a], s.kind[b]) in ((0, 1), (1, 2))]  # b waits for a
    best = NEVER
    for sides in itertools.product((0, 1, 2), repeat=len(s.kind)):
        if any(sides[b] == 2 for b in near) or any(sides[b] == 1 for b in far):
            continue
        if any({sides[a], sides[b]} == {1, 2} for a, b in joined):
            continue
        if any(sides[a] == 0 and sides[b] != 0 for b, a in waits):
            continue
        best = min(best, sum(s.start[b + 1] - s.start[b] for b in blocks if sides[b] == 0))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_separators_are_the_lightest(seed: int) -> None:
    """Against the trial of all ways to part a few blocks; seen from either side of the flow."""
    rng = np.random.default_rng(seed)
    s = random_system(rng)
    g = blocks_of(s)
    net = network_of(g.start, g.kind, g.graph)
    first = g.graph.first.astype(int)
    owners = np.repeat(np.arange(len(g.kind)), np.diff(first))
    assert g.graph.adjacent[net.twin[: first[-1]]].tolist() == owners.tolist()
    members = np.arange(len(g.kind), dtype=np.uint32)
    ends = rng.permutation(len(g.kind))[:2]
    net.side[ends] = 1, 2
    everything = (net, 0, members, 0, len(members))
    sent = 0
    while separator.find_levels(*everything):
        sent += separator.push_along_levels(*everything)
    weight = lightest(s, {int(ends[0])}, {int(ends[1])})
    assert sent == weight
    for from_source in (True, False):
        if not from_source:
            separator.find_sink_side(*everything)
        near, cut, far = separator.weigh_cut(net, members, 0, len(members), from_source)
        assert cut == weight
        assert near + cut + far == s.n
        sides = [separator.side_of(net, b, from_source) for b in range(len(g.kind))]
        for a, b in s.pairs:
            assert {sides[a], sides[b]} != {1, 2}
            for one, other in ((a, b), (b, a)):
                if (s.kind[one], s.kind[other]) in ((0, 1), (1, 2)) and sides[one] == 0:
                    assert sides[other] == 0


def test_last_stage_parts_a_net() -> None:
    """Without the blocks of the last stage a net falls into two parts of similar size.

    Each of its 16 ropes is cut by three control points, and at most three crossings wait for those.
    """
    s = plane_net(16)
    g = blocks_of(s)
    stage = dissected(g.start, g.kind, g.graph)[-1]
    weight = np.diff(s.start)
    last = stage == stage.max()
    assert 16 * 12 < weight[last].sum() <= 16 * 21
    part = np.where(last, -1, np.arange(len(stage)))
    while True:
        before = part.copy()
        for a, b in s.pairs:
            if not (last[a] or last[b]):
                part[a] = part[b] = min(part[a], part[b])
        if np.array_equal(part, before):
            break
    sizes = [weight[part == k].sum() for k in np.unique(part[~last])]
    assert len(sizes) == 2
    assert min(sizes) > 0.25 * s.n


def test_parts_without_links() -> None:
    """Two nets that share nothing are parted without a separator."""
    s = plane_net(8)
    other = len(s.kind)
    twin = plane_net(8)
    for size, kind in zip(np.diff(twin.start), twin.kind, strict=True):
        s.block(int(size), kind)
    s.pairs += [(a + other, b + other) for a, b in twin.pairs]
    g = blocks_of(s)
    stage = dissected(g.start, g.kind, g.graph)[-1]
    assert not set(stage[:other].tolist()) & set(stage[other:].tolist())


@pytest.mark.skipif(PLAIN, reason="kernels are not compiled")
def test_nothing_is_left_to_plain_numba() -> None:
    """Kernels that find dissections are whole programs, as all others."""
    g = blocks_of(plane_net(5))
    dissected(g.start, g.kind, g.graph)
    for kernel in (ordering.block_graph, ordering.minimum_degree, dissection.find_network, dissection.dissect):
        assert "numba" not in kernel.origins.values()


# -------------------------------------------------------------------------------------------------------------- growth


def best_order(g: Blocks) -> Order:
    """The order that a plan takes."""
    if g.plain.front <= plan.WIDE:
        return g.plain
    return least_dissected(g.start, g.kind, g.graph, g.plain)


@pytest.mark.parametrize(("ropes", "gap"), [(14, 2), (20, 2), (28, 2), (40, 2), (14, 6), (28, 6)])
def test_operations_of_plane_nets_stay_below_georges_count(ropes: int, gap: int) -> None:
    """829/84 c³ multiplications of nested dissection, for separators of c unknowns: the n^1.5 of plane graphs.

    A. George, Nested dissection of a regular finite element mesh, SIAM J. Numer. Anal. 10, 1973, has it for a square
    of c × c nodes. Here the lightest cut through the net takes c: of each rope three control points, and the rows
    that wait for those: three crossings' with two control points from one to the next, one's with six.
    """
    g = blocks_of(plane_net(ropes, gap))
    cut = ropes * (12 + 3 * (3 if gap == 2 else 1))
    assert best_order(g).operations < 829.0 / 84.0 * cut**3


@pytest.mark.parametrize(("ropes", "gap", "part"), [(20, 2, 0.8), (28, 2, 0.42), (40, 2, 0.21), (28, 6, 0.32)])
def test_operations_beside_least_degree(ropes: int, gap: int, part: float) -> None:
    """Part of the plain order's operations that is left, measured: 0.77, 0.40, 0.20 and 0.30."""
    g = blocks_of(plane_net(ropes, gap))
    assert best_order(g).operations < part * g.plain.operations


@pytest.mark.slow
def test_operations_of_wide_meshes_grow_as_a_plane_graphs() -> None:
    """From 40 to 56 ropes with twelve control points to a mesh, 160,000 to 310,000 unknowns: exponent 1.57."""
    found = [(g.start[-1], best_order(g).operations) for g in (blocks_of(plane_net(k, 12)) for k in (40, 56))]
    (n, few), (more, many) = found
    assert np.log(many / few) / np.log(more / n) < 1.6


@pytest.mark.parametrize("make", [ladder, tree])
def test_operations_of_ladders_and_trees_grow_with_length(make) -> None:
    """Exponent at most 1.05 from 9,000 and from 1,600 unknowns on, with the plain order: no front is wide."""
    sizes = (1000, 4000) if make is ladder else (8, 80)
    found = []
    for size in sizes:
        g = blocks_of(make(size))
        assert g.plain.front <= plan.WIDE
        found.append((g.start[-1], best_order(g).operations))
    (n, few), (more, many) = found
    assert np.log(many / few) / np.log(more / n) < 1.05


# ------------------------------------------------------------------------------------------------------------ accuracy


def unequal(s: System, seed: int, decades: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The matrix of `System.matrix` with the entries of every other body or rod 10^decades as large."""
    row, col, values = s.matrix(seed)
    part = np.arange(len(s.kind))
    primal = [(a, b) for a, b in s.pairs if s.kind[a] == s.kind[b] == 0]
    changed = True
    while changed:
        changed = False
        for a, b in primal:
            if part[a] != part[b]:
                part[a] = part[b] = min(part[a], part[b])
                changed = True
    which = np.unique(part, return_inverse=True)[1]
    block = np.repeat(np.arange(len(s.kind)), np.diff(s.start))
    kinds = s.kinds()
    own = (kinds[row] == 0) & (kinds[col] == 0)
    values[own] *= np.where(which[block[row[own]]] % 2 == 1, 10.0**decades, 1.0)
    return row, col, values


def errors(s: System, entries: tuple[np.ndarray, np.ndarray, np.ndarray]) -> tuple[float, float, float]:
    """What a solution misses its rows by, of the unknowns; its backward error; the least ratio of a row."""
    row, col, values = entries
    f = Factorisation(s.start, s.kind, row, col, np.arange(len(row)))
    found = f.factorise(values)
    rows = s.kinds() == 1
    assert (found.negative, found.dependent, found.bad) == (rows.sum(), 0, -1)
    right = f.multiply(values, np.random.default_rng(4).normal(size=s.n))
    x = f.solve(right)
    missed = abs(f.multiply(values, x) - right)
    backward = (missed / (f.multiply(abs(values), abs(x)) + abs(right))).max()
    return missed[rows].max() / abs(x).max(), float(backward), f.row_ratio()[rows].min()


CASES = {
    "net": lambda: plane_net(10),
    "dissected net": lambda: plane_net(18),
    "wide meshes": lambda: plane_net(12, 5),
    "bridge": bridge,
    "ladder": lambda: ladder(60),
    "tree": lambda: tree(6),
    "hinges": lambda: hinges(60),
    "loop of hinges": lambda: hinges(60, closed=True),
}


@pytest.mark.parametrize("decades", [0.0, 6.0])
@pytest.mark.parametrize("name", CASES)
def test_as_accurate_without_compliance_as_least_degree(name: str, decades: float, monkeypatch) -> None:
    """Rows met and residuals, with bodies alike and with every other one a million times as heavy and stiff.

    All systems are taken as wide: dissected where that needs less, panels packed and in groups.
    """
    s = CASES[name]()
    entries = unequal(s, 1, decades)
    monkeypatch.setattr(plan, "WIDE", NEVER)
    rows, backward, ratio = errors(s, entries)
    monkeypatch.setattr(plan, "WIDE", 0)
    wide_rows, wide_backward, wide_ratio = errors(s, entries)
    # Rounding of sums of other lengths in another order: a few times as much or as little.
    assert wide_rows <= 4.0 * rows + 1e-15
    assert wide_backward <= 4.0 * backward + 1e-15
    assert wide_ratio >= 0.25 * ratio


@pytest.mark.parametrize("make", [mixed, bridge, lambda: plane_net(5), lambda: plane_net(9, 3), lambda: tree(3)])
def test_packed_panels_in_groups_solve_the_same(make, monkeypatch) -> None:
    """Against dense algebra, for systems whose plans are not wide by themselves."""
    monkeypatch.setattr(plan, "WIDE", 0)
    s = make()
    row, col, values = s.matrix(2)
    f = Factorisation(s.start, s.kind, row, col, np.arange(len(row)))
    assert f.factorise(values).negative == np.count_nonzero(s.kinds() == 1)
    right = np.random.default_rng(7).normal(size=s.n)
    a = dense(s.n, row, col, values)
    np.testing.assert_allclose(a @ f.solve(right), right, rtol=0.0, atol=1e-10)
    assert np.any(np.diff(f.plan.first_update.astype(int)) == 0)  # panels that a leader speaks for


def test_packed_panels_have_no_empty_lanes() -> None:
    """The panels of a net's dense parts: few lanes without an unknown, and lists of targets that are shared."""
    s = plane_net(20)
    row, col, _ = s.matrix()
    f = Factorisation(s.start, s.kind, row, col, np.arange(len(row)))
    work = f.plan.update_count.astype(np.int64).sum() * 16
    assert work < 1.06 * best_order(blocks_of(s)).operations
    assert len(f.plan.target) < 0.1 * f.plan.update_count.astype(np.int64).sum()


def test_a_small_scene_compiles_what_orders_a_wide_net(tmp_path: Path) -> None:
    """After what a first scene runs (`dissect_a_chain`), a dissection of another size compiles nothing more."""
    program = """
import numpy as np
from sennit import numba_release
from sennit.linalg.order import dissect_a_chain, dissected, graph_of
made = []
numba_release.watch = made.append
dissect_a_chain()
first = len(made)
start, row = np.arange(0, 121, 3, dtype=np.uint32), np.arange(0, 117, dtype=np.uint32)
dissected(start, np.zeros(40, np.uint8), graph_of(start, row, row + np.uint32(3)))
print(first, len(made))
"""
    places = {"SENNIT_CACHE_DIR": str(tmp_path), "SENNIT_KERNELS": ""}
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | places, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    first, then = (int(word) for word in done.stdout.split())
    assert first > 0 and then == first
