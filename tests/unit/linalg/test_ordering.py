"""The order of elimination: valid, constrained as promised, sparse, the same every time."""

from __future__ import annotations

import numpy as np
import pytest
from unit.linalg.systems import System, bridge, ladder, mixed, net

from sennit.linalg import Factorisation
from sennit.linalg.kernels.ordering import postorder
from sennit.linalg.order import dissected, graph_of, least_degree


def eliminate(s: System, stages: str) -> tuple[list[int], list[set[int]], list[set[int]]]:
    """Sequence of blocks, neighbours of each block, and the pattern that the ordering gives."""
    row, col, _ = s.matrix()
    start, kind = np.array(s.start, np.uint32), np.array(s.kind, np.uint8)
    graph = graph_of(start, row, col)
    stage: np.ndarray | int = 0
    if stages == "random":
        stage = np.random.default_rng(3).integers(0, 5, len(kind))
    elif stages == "dissected":
        stage = dissected(start, kind, graph)[-1]
    found = least_degree(start, kind, graph, stage=stage)
    first, begin, length = graph.first, found.elimination.start.astype(int), found.elimination.length.astype(int)
    neighbours = [set(graph.adjacent[first[b] : first[b + 1]].tolist()) for b in range(len(kind))]
    pattern = [set(found.members[begin[b] : begin[b] + length[b]].tolist()) for b in range(len(kind))]
    postorder(found.elimination)
    return found.elimination.sequence.tolist(), neighbours, pattern


SYSTEMS = {"mixed": mixed(), "bridge": bridge(), "ladder": ladder(40), "net": net(5, 14), "wide net": net(10, 24)}


@pytest.mark.parametrize("stages", ["none", "random", "dissected"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_pattern_is_that_of_elimination(name: str, stages: str) -> None:
    """Joining all neighbours of each pivot, set by set, gives the pattern that the quotient graph gave."""
    s = SYSTEMS[name]
    sequence, graph, pattern = eliminate(s, stages)
    assert sorted(sequence) == list(range(len(s.kind)))
    assert graph == [{b for pair in s.pairs if a in pair for b in pair if b != a} for a in range(len(s.kind))]
    live = [set(g) for g in graph]
    for p in sequence:
        assert pattern[p] == live[p]
        for i in live[p]:
            live[i] |= live[p]
            live[i] -= {i, p}


@pytest.mark.parametrize("stages", ["none", "random", "dissected"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_rows_and_sliders_wait(name: str, stages: str) -> None:
    s = SYSTEMS[name]
    sequence, graph, _ = eliminate(s, stages)
    turn = np.argsort(sequence)
    for b, kind in enumerate(s.kind):
        of = {k: [c for c in graph[b] if s.kind[c] == k] for k in range(3)}
        anchored = [c for c in of[1] if any(s.kind[d] == 0 for d in graph[c])]
        if kind == 1:
            before = of[0] or of[2]
        elif kind == 2:
            before = anchored or of[0]
        else:
            before = []
        assert all(turn[c] < turn[b] for c in before)


def test_each_pivot_has_the_smallest_degree() -> None:
    """Among blocks that may go, none has fewer unknowns joined to it; ties go to the largest number."""
    s = mixed()
    row, col, _ = s.matrix()
    start, kind = np.array(s.start, np.uint32), np.array(s.kind, np.uint8)
    graph = graph_of(start, row, col)
    first, order = graph.first, least_degree(start, kind, graph).elimination.order.tolist()
    size = np.diff(s.start)
    live = [set(graph.adjacent[first[b] : first[b + 1]].tolist()) for b in range(len(kind))]
    left = set(range(len(kind)))
    for p in order:
        primal = [(sum(size[c] for c in live[b]), -b) for b in left if kind[b] == 0]
        if kind[p] == 0:
            assert (sum(size[c] for c in live[p]), -p) == min(primal)
        elif primal:
            assert (sum(size[c] for c in live[p]), -p) < min(primal)
        left.remove(p)
        for i in live[p]:
            live[i] |= live[p]
            live[i] -= {i, p}


def test_bridge_is_as_sparse_as_the_best_order_by_hand() -> None:
    """Ropes from both ends to the middle, fixed ends inline, distances last: 5682 nonzeros of L."""
    s = bridge()
    row, col, _ = s.matrix()
    assert s.n == 365
    assert Factorisation(s.start, s.kind, row, col, np.arange(len(row))).nonzeros <= 5682


@pytest.mark.parametrize(
    ("make", "most"),
    [
        # A rod's point has 12 unknowns below it and 6 inside; rows that wait add to that.
        (lambda m: _rod(m), 4 * 12 + 6 + 1),
        (lambda m: _ring(m), 4 * 24 + 6 + 2),
        (lambda m: ladder(m), 2 * (4 * 40 + 6)),
    ],
)
def test_fill_grows_with_length_only(make, most: int) -> None:
    for points in (100, 400):
        s = make(points)
        row, col, _ = s.matrix()
        f = Factorisation(s.start, s.kind, row, col, np.arange(len(row)))
        assert f.nonzeros <= most * (points + 4)


def _rod(points: int) -> System:
    s = System()
    s.rod(points)
    return s


def _ring(points: int) -> System:
    s = System()
    s.rod(points, closed=True)
    return s


def test_same_input_same_plan() -> None:
    s = mixed()
    row, col, _ = s.matrix()
    plans = [Factorisation(s.start, s.kind, row, col, np.arange(len(row))).plan for _ in range(2)]
    for one, other in zip(plans[0].fields().values(), plans[1].fields().values(), strict=True):
        np.testing.assert_array_equal(one, other)
