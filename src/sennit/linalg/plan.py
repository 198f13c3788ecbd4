"""The plan of a factorisation: where each number of the matrix and of the factor goes.

Unknowns are eliminated in *panels* of four columns, so that every row of a panel is four numbers side by side. A panel
takes consecutive blocks of a chain of the elimination tree while they fit; a block of more than four unknowns is cut.
Where many unknowns are joined (`WIDE`), blocks with the same rows below are cut wherever a panel is full.
Lanes that are left over hold a column of the identity matrix. Position ``4 p + c`` of the permuted numbering is lane
c of panel p; the permuted numbering has ``4 panels`` positions.

Storage of panel p in the factor: ``4 (4 + r)`` numbers row by row, first the four rows of the panel itself, then the r
rows below, in ascending order of position. The panel's own rows take the matrix in their upper triangle and end with L
in their lower one. Four zeros end the factor.

A *group* is up to `symbolic.GROUP` consecutive panels, each without empty lanes but the first, which have the same rows
below the last of them. The updates of a group stand together, by source, then by panel: what it gets from panels before
it, then what its own panels give to later ones. An update's list of targets, one for all panels of the group, tells
places in the leader, its first panel; in the panel j after it the same row is 16 j numbers nearer to the panel's
beginning. Sources that are neighbours and have the same rows share a list.

Lists of panel p run from ``first_…[p]`` to ``first_…[p + 1]``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sennit.linalg.analysis import outline_of
from sennit.linalg.kernels import symbolic
from sennit.linalg.order import graph_of, least_degree, least_dissected
from sennit.tables import PLAN, Table, whole

__all__ = ["Plan", "plan_of"]

U32 = np.uint32
WIDE = 128
"""Unknowns joined by one elimination, up to which the plain order of least degree is taken as it is: ropes, trees and
ladders of any length, and small nets stay below."""


class Plan(Table):
    """Where each number goes. `ends` is the number of panels and one more: the last entries end the lists."""

    position = whole(PLAN, "position of each natural unknown", of="unknowns", kind=U32)
    sign = whole(PLAN, "expected sign of a pivot: 0 padding, 1 positive, 2 negative", of="positions", kind=U32)

    place = whole(PLAN, "where each panel begins in the factor; the last is that of the zeros", of="ends", kind=U32)
    first_row = whole(PLAN, "among `rows`", of="ends", kind=U32)
    first_update = whole(PLAN, "of a group, at its first panel; at the others where they end", of="ends", kind=U32)
    group_end = whole(PLAN, "for the first panel of a group, the first of the next one", of="panels", kind=U32)
    first_along = whole(PLAN, "quad along a row", of="ends", kind=U32)
    first_down = whole(PLAN, "quad down a column", of="ends", kind=U32)
    first_single = whole(PLAN, "single entry", of="ends", kind=U32)
    special = whole(PLAN, "1 if a panel has constraint rows or massless unknowns", of="panels", kind=U32)
    parent = whole(PLAN, "panel of the first row below; the number of panels if there is none", of="panels", kind=U32)

    rows = whole(PLAN, "positions of the rows below each panel", of="rows_below", kind=U32)

    update_panel = whole(PLAN, "the target", of="updates", kind=U32)
    update_column = whole(PLAN, "position of the source panel's first column", of="updates", kind=U32)
    update_count = whole(
        PLAN, "the source's rows, from the first that the target holds as a column", of="updates", kind=U32
    )
    update_source = whole(PLAN, "place of the first of those rows in the factor", of="updates", kind=U32)
    update_lanes = whole(
        PLAN, "places of the rows that are the target's lanes; of the zeros if there is none", 4, of="updates", kind=U32
    )
    update_has_rows = whole(PLAN, "1 if the source has constraint rows", of="updates", kind=U32)
    update_target = whole(PLAN, "where its list begins in `target`", of="updates", kind=U32)
    target = whole(PLAN, "place of each of an update's rows in the first panel of the group", of="targets", kind=U32)

    along_goal = whole(PLAN, "place in the factor of four lanes of a row", of="quads_along", kind=U32)
    along_slot = whole(PLAN, "first of their four slots in sequence", of="quads_along", kind=U32)
    down_goal = whole(PLAN, "place in the factor of the first of four rows, in one lane", of="quads_down", kind=U32)
    down_slot = whole(PLAN, "first of their four slots in sequence", of="quads_down", kind=U32)
    single_goal = whole(PLAN, "place of another entry in the factor", of="singles", kind=U32)
    single_slot = whole(PLAN, "its slot", of="singles", kind=U32)

    nonzeros = whole(PLAN, "numbers of L below its diagonal, without padding", of=1)

    @property
    def panels(self) -> int:
        """How many."""
        return len(self.parent)

    @property
    def size(self) -> int:
        """Length of a permuted vector: four for each panel."""
        return len(self.sign)

    @property
    def factor_length(self) -> int:
        """Numbers of the factor, with the zeros at its end."""
        return int(self.place[-1]) + 4


def plan_of(
    block_start: NDArray[np.uint32], block_kind: NDArray[np.uint8], row: NDArray[np.uint32], col: NDArray[np.uint32],
    slot: NDArray[np.uint32],
) -> Plan:  # fmt: skip
    """The plan for a pattern: see `sennit.linalg.Factorisation` for the arguments."""
    graph = graph_of(block_start, row, col)
    order = least_degree(block_start, block_kind, graph)
    wide = order.front > WIDE
    if wide:
        order = least_dissected(block_start, block_kind, graph, order)
    outline = outline_of(block_start, block_kind, row, col, slot, order, packed=wide)
    panels = len(outline.special)
    plan = Plan(
        unknowns=len(outline.position), panels=panels, positions=4 * panels, ends=panels + 1,
        rows_below=len(outline.rows), updates=outline.updates[0], targets=outline.targets[0],
        quads_along=outline.along[0], quads_down=outline.down[0], singles=outline.single[0],
    )  # fmt: skip
    symbolic.write_plan(outline, slot, plan)
    return plan
