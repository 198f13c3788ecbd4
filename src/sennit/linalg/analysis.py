"""The tables of symbolic analysis: what is found of a factorisation's plan before its size is known.

A block is a group of unknowns, and an element what is left of one that was eliminated: see `kernels.ordering`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sennit.linalg.kernels import ordering, symbolic
from sennit.tables import WORK, Table, whole

__all__ = ["BlockGraph", "Elimination", "Outline", "eliminated", "outline_of"]

U8, U32 = np.uint8, np.uint32
IndexArray = NDArray[np.uint32]


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


class Panels(Table):
    """Panels in the order of elimination: as many as there are unknowns at most."""

    position = whole(WORK, "of each unknown", of="unknowns", kind=U32)
    sign = whole(WORK, "of each position: 0 padding, 1 positive, 2 negative", of="positions", kind=U8)
    last = whole(WORK, "last block of a panel", of="unknowns", kind=U32)
    rest = whole(WORK, "unknowns of that block which follow in later panels", of="unknowns", kind=U32)
    first = whole(WORK, "where the rows below a panel begin", of="ends", kind=U32)


class Outline(Table):
    """What is known of a plan before it is written: see `plan.Plan`."""

    position = whole(WORK, "of each unknown", of="unknowns", kind=U32)
    sign = whole(WORK, "of each position", of="positions", kind=U8)
    special = whole(WORK, "1 if a panel has constraint rows or massless unknowns", of="panels", kind=U8)
    first_row = whole(WORK, "among `rows`", of="ends", kind=U32)
    rows = whole(WORK, "positions of the rows below each panel", of="rows_below", kind=U32)
    first_update = whole(WORK, "of a panel as the target", of="ends", kind=U32)
    first_target = whole(WORK, "of its updates", of="ends", kind=U32)
    last_entry = whole(WORK, "end of each panel's entries in the next three lists", of="ends")
    entry = whole(WORK, "entries, panel by panel", of="entries", kind=U32)
    goal = whole(WORK, "their places in the factor", of="entries", kind=U32)
    style = whole(WORK, "see `kernels.symbolic.SINGLE`", of="entries", kind=U8)
    updates = whole(WORK, "how many", of=1)
    targets = whole(WORK, "how many", of=1)
    along = whole(WORK, "quads along rows", of=1)
    down = whole(WORK, "quads down columns", of=1)
    single = whole(WORK, "single entries", of=1)
    nonzeros = whole(WORK, "numbers of L below its diagonal", of=1)
    within = whole(WORK, "place in a panel of the row at each position", of="positions", kind=U32)
    cursor = whole(WORK, "next update of a panel", of="panels")


def eliminated(
    block_start: IndexArray, kind: NDArray[np.uint8], row: IndexArray, col: IndexArray
) -> tuple[BlockGraph, Elimination, IndexArray]:
    """The graph of blocks, the order of elimination, and the members of its elements."""
    blocks = len(kind)
    graph = BlockGraph(unknowns=int(block_start[-1]), ends=blocks + 1, pairs=max(2 * len(row), 1), blocks=blocks)
    neighbours = max(ordering.block_graph(block_start, row, col, graph), 1)
    adjacent = graph.adjacent[:neighbours]
    members = np.empty(8 * neighbours + 8 * blocks + 16, U32)
    while True:
        elimination = Elimination(blocks=blocks, ends=blocks + 1, neighbours_in_all=neighbours)
        used = ordering.minimum_degree(block_start, kind, graph.first, adjacent, elimination, members)
        if used >= 0:
            break
        members = np.empty(4 * len(members) - used, U32)  # much fill: once more, with more room
    ordering.postorder(elimination)
    return graph, elimination, members[:used]


def outline_of(
    block_start: IndexArray, kind: NDArray[np.uint8], row: IndexArray, col: IndexArray, slot: IndexArray
) -> Outline:
    """All that a pattern's plan is written from. Arrays are uint32, `kind` uint8."""
    _, elimination, members = eliminated(block_start, kind, row, col)
    n = int(block_start[-1])
    found = Panels(unknowns=n, positions=4 * n, ends=n + 1)
    panels = symbolic.make_panels(block_start, kind, elimination, found)
    rows, nonzeros = symbolic.count_rows(
        block_start, elimination, members, np.empty(max(len(members), 1), U32), panels, found
    )
    outline = Outline(
        unknowns=n, positions=4 * panels, panels=panels, ends=panels + 1, rows_below=rows, entries=max(len(row), 1)
    )
    outline.position[:], outline.sign[:] = found.position, found.sign[: 4 * panels]
    outline.first_row[:], outline.nonzeros[0] = found.first[: panels + 1], nonzeros
    symbolic.list_rows(block_start, elimination, members, found, panels, outline.rows)
    symbolic.outlined(block_start, kind, row, col, slot, outline)
    return outline
