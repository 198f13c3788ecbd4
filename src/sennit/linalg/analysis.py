"""The tables of symbolic analysis: what is found of a factorisation's plan before its size is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sennit.linalg.kernels import ordering, symbolic
from sennit.linalg.order import IndexArray, Order
from sennit.tables import WORK, Table, whole

__all__ = ["Outline", "Panels", "outline_of"]

U8, U32 = np.uint8, np.uint32


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
    leader = whole(WORK, "first panel of each panel's group", of="panels", kind=U32)
    first_update = whole(WORK, "of a group as the target, at its first panel", of="ends", kind=U32)
    last_source = whole(WORK, "the last panel that gave a group a list of targets", of="panels")
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
    cursor = whole(WORK, "next update of a group, at its first panel", of="panels")


def outline_of(
    block_start: IndexArray, kind: NDArray[np.uint8], row: IndexArray, col: IndexArray, slot: IndexArray,
    order: Order, *, packed: bool,
) -> Outline:  # fmt: skip
    """All that a pattern's plan is written from. Arrays are uint32, `kind` uint8.

    `packed`: whether panels have no empty lanes in dense parts, and are taken in groups.
    """
    elimination, members = order.elimination, order.members
    ordering.postorder(elimination)
    n = int(block_start[-1])
    found = Panels(unknowns=n, positions=4 * n, ends=n + 1)
    panels = symbolic.make_panels(block_start, kind, elimination, packed, found)
    rows, nonzeros = symbolic.count_rows(
        block_start, elimination, members, np.empty(max(len(members), 1), U32), panels, found
    )
    outline = Outline(
        unknowns=n, positions=4 * panels, panels=panels, ends=panels + 1, rows_below=rows, entries=max(len(row), 1)
    )
    outline.position[:], outline.sign[:] = found.position, found.sign[: 4 * panels]
    outline.first_row[:], outline.nonzeros[0] = found.first[: panels + 1], nonzeros
    symbolic.list_rows(block_start, elimination, members, found, panels, outline.rows)
    symbolic.outlined(block_start, kind, row, col, slot, symbolic.GROUP if packed else 1, outline)
    return outline
