"""Order of elimination: the tables that it is found in, and the choice between least degree and nested dissections.

A block is a group of unknowns, and an element what is left of one that was eliminated: see `kernels.ordering`. Sets,
separators and flows are those of `kernels.dissection` and `kernels.separator`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sennit.compile_once import compile_once
from sennit.linalg.kernels import dissection, ordering
from sennit.tables import WORK, Table, table, whole

__all__ = [
    "BlockGraph",
    "Elimination",
    "Network",
    "Order",
    "Parts",
    "dissect_a_chain",
    "dissected",
    "graph_of",
    "least_degree",
    "least_dissected",
    "network_of",
]

U8, U32 = np.uint8, np.uint32
IndexArray = NDArray[np.uint32]

GAIN = 0.9
"""Part of the plain order's operations that a dissection may need, to be taken."""


class BlockGraph(Table):
    """Neighbours of each block, each once: ``adjacent[first[b]:first[b + 1]]``."""

    block_of = whole(WORK, "block of each unknown", of="unknowns", kind=U32)
    first = whole(WORK, "where a block's neighbours begin", of="ends", kind=U32)
    adjacent = whole(WORK, "neighbours", of="pairs", kind=U32)
    runs = whole(WORK, "both blocks of each run of entries", of="pairs", kind=U32)
    count = whole(WORK, "neighbours of each block, some of them twice", of="ends")
    seen = whole(WORK, "the last block that had this one as a neighbour", of="blocks", kind=U32)


class Elimination(Table):
    """Order of elimination, and the pattern of the factor by blocks."""

    order = whole(WORK, "block eliminated at each turn", of="blocks", kind=U32)
    sequence = whole(WORK, "the same with children right before their parents", of="blocks", kind=U32)
    parent = whole(WORK, "in the elimination tree; the number of blocks for a root", of="blocks", kind=U32)
    start = whole(WORK, "where a block's element begins among `members`", of="blocks", kind=U32)
    length = whole(WORK, "blocks of its element", of="blocks", kind=U32)

    stage = whole(WORK, "blocks of an earlier one go first, as far as they may", of="blocks")
    size = whole(WORK, "unknowns of a block", of="blocks")
    lists = whole(WORK, "elements, then neighbours, of each live block", of="neighbours_in_all", kind=U32)
    elements = whole(WORK, "how many elements those are", of="blocks", kind=U32)
    neighbours = whole(WORK, "how many neighbours", of="blocks", kind=U32)
    anchored = whole(WORK, "1: rows with a neighbour of kind 0; kind 2 with one of those", of="blocks", kind=U8)
    waiting = whole(WORK, "neighbours that must be eliminated first", of="blocks")
    key = whole(WORK, "by which the next block is chosen", of="blocks")
    gone = whole(WORK, "1: eliminated and an element; 2: absorbed by a later element", of="blocks", kind=U8)
    weight = whole(WORK, "unknowns of an element; all live, for it is absorbed with its first pivot", of="blocks")
    outside = whole(WORK, "of those, the ones not in the newest element", of="blocks")
    outside_stamp = whole(WORK, "turn at which that was found", of="blocks")
    stamp = whole(WORK, "turn at which a block was last met", of="blocks")
    counted = whole(WORK, "union in which it was last counted", of="blocks")
    heap = whole(WORK, "blocks by key", of="blocks", kind=U32)
    place = whole(WORK, "where a block stands in the heap", of="blocks", kind=U32)

    child = whole(WORK, "first child that was not visited", of="ends", kind=U32)
    sibling = whole(WORK, "next child of the same parent", of="blocks", kind=U32)
    stack = whole(WORK, "from the root to the block that is visited", of="ends", kind=U32)
    count = whole(WORK, "elements that a block is a member of", of="ends")
    sorted_end = whole(WORK, "end of the members that are sorted", of="blocks")


class Network(Table):
    """A graph of blocks, and what is known of flows in it. A slot is an entry of `adjacent`."""

    graph = table(BlockGraph, "whose slots stand for arcs")
    twin = whole(WORK, "slot of the same pair in the neighbour's list", of="slots", kind=U32)
    style = whole(WORK, "`PLAIN_ARC`, `BEFORE` or `AFTER` of `kernels.separator`", of="slots", kind=U8)
    weight = whole(WORK, "unknowns of a block", of="blocks")
    anchored = whole(WORK, "see `Elimination`", of="blocks", kind=U8)
    inside = whole(WORK, "which set a block belongs to: only those of the set at hand (`own`) count", of="blocks")
    side = whole(WORK, "1: held on the near side or in the separator; 2: on the far one; else 0", of="blocks", kind=U8)
    through = whole(WORK, "flow from in to out", of="blocks")
    flow = whole(WORK, "along a slot's arc", of="slots")
    level = whole(WORK, "arcs from the source, -1 if there is no way", of="nodes")
    cursor = whole(WORK, "the arc that is tried next", of="nodes")
    queue = whole(WORK, "room for a search", of="nodes", kind=U32)
    path = whole(WORK, "room for a way", of="ends", kind=U32)
    owner = whole(WORK, "block whose slot it is", of="slots", kind=U32)
    incoming = whole(WORK, "slots by the neighbour that they name", of="slots", kind=U32)


class Parts(Table):
    """Sets of blocks, parted again and again. A set is a run of `members`."""

    stage = whole(WORK, "of each block, for each size of the smallest sets", "blocks", of=len(dissection.SMALL))
    members = whole(WORK, "blocks, set by set", of="blocks", kind=U32)
    distance = whole(WORK, "links from each landmark", "blocks", of=dissection.LANDMARKS)
    found = whole(WORK, "1 near, 2 far, 0 separator: the best so far", of="blocks", kind=U8)
    count = whole(WORK, "blocks by difference of distances", of="differences")
    room = whole(WORK, "for a set that is sorted", of="blocks", kind=U32)
    stack = whole(WORK, "begin and end of sets that wait", 2, of="ends")


@dataclass(frozen=True)
class Order:
    """An order of elimination, and what it costs."""

    elimination: Elimination
    members: IndexArray
    """Of the elements: see `Elimination`."""
    operations: float
    """Multiplications, with an addition each, of the factorisation."""
    front: int
    """Most unknowns that one elimination joined."""


def graph_of(block_start: IndexArray, row: IndexArray, col: IndexArray) -> BlockGraph:
    """The graph of blocks of a pattern."""
    blocks = len(block_start) - 1
    graph = BlockGraph(unknowns=int(block_start[-1]), ends=blocks + 1, pairs=max(2 * len(row), 1), blocks=blocks)
    ordering.block_graph(block_start, row, col, graph)
    return graph


def least_degree(
    block_start: IndexArray, kind: NDArray[np.uint8], graph: BlockGraph, *, stage: NDArray[np.int64] | int = 0,
    most: float = np.inf, room: int = 0,
) -> Order:  # fmt: skip
    """The order of least degree: the plain one, or inside the `stage` of each block.

    It is given up, not complete, when there are more than `most` operations. `room`: members that are expected.
    """
    blocks, slots = len(kind), _slots(graph)
    members = np.empty(room or 8 * slots + 8 * blocks + 16, U32)
    while True:
        elimination = Elimination(blocks=blocks, ends=blocks + 1, neighbours_in_all=slots)
        elimination.stage[:] = stage
        used, operations, front = ordering.minimum_degree(block_start, kind, graph, elimination, members, most)
        if used >= 0:
            return Order(elimination, members[:used], operations, front)
        members = np.empty(4 * len(members) - used, U32)  # much fill: once more, with more room


def least_dissected(block_start: IndexArray, kind: NDArray[np.uint8], graph: BlockGraph, plain: Order) -> Order:
    """The order with the fewest operations, of the dissections and the `plain` one of least degree."""
    best, fewest = plain, GAIN * plain.operations
    for stage in dissected(block_start, kind, graph):
        found = least_degree(block_start, kind, graph, stage=stage, most=fewest, room=2 * len(plain.members))
        if found.operations < fewest:
            best, fewest = found, found.operations
    return best


def dissected(block_start: IndexArray, kind: NDArray[np.uint8], graph: BlockGraph) -> NDArray[np.int64]:
    """Stages of each block by nested dissections, one finer than the other: (dissections, blocks)."""
    compile_once("dissection", (dissect_a_chain,))
    blocks = len(kind)
    parts = Parts(blocks=blocks, differences=2 * blocks + 4, ends=blocks + 1)
    dissection.dissect(network_of(block_start, kind, graph), parts)
    stage: NDArray[np.int64] = parts.stage
    return stage


def network_of(block_start: IndexArray, kind: NDArray[np.uint8], graph: BlockGraph) -> Network:
    """The network of a graph, without a flow."""
    blocks = len(kind)
    net = Network(graph=graph, blocks=blocks, slots=_slots(graph), nodes=2 * blocks, ends=2 * blocks + 1)
    dissection.find_network(block_start, kind, net)
    return net


def dissect_a_chain() -> None:
    """Dissect a chain of four blocks: what compiles the kernels of dissections, which only wide matrices ask for."""
    start, kind = np.arange(0, 13, 3, dtype=U32), np.zeros(4, np.uint8)
    row = np.arange(0, 9, dtype=U32)
    dissected(start, kind, graph_of(start, row, row + U32(3)))


def _slots(graph: BlockGraph) -> int:
    """Neighbours of all blocks together; 1 if there are none."""
    return max(int(graph.first[-1]), 1)
