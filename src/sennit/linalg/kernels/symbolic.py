"""The plan of a factorisation: where each number of the matrix and of the factor goes.

Unknowns are eliminated in *panels* of four columns, so that every row of a panel is four numbers side by side. A panel
takes consecutive blocks of a chain of the elimination tree while they fit; a block of more than four unknowns is cut.
Lanes that are left over hold a column of the identity matrix. Position ``4 p + c`` of the permuted numbering is lane
c of panel p; the permuted numbering has ``4 panels`` positions.

Storage of panel p in the factor: ``4 (4 + r)`` numbers row by row, first the four rows of the panel itself, then the r
rows below, in ascending order of position. The panel's own rows take the matrix in their upper triangle and end with L
in their lower one. Four zeros end the factor.

The plan is one array of uint32: `HEADER` numbers, then sections whose places the header tells (names below).

* POSITION, n: natural unknown -> position
* SIGN, 4 panels: expected sign of the pivot: 0 padding, 1 positive, 2 negative
* PANEL, 8 (panels + 1): place in the factor, first row, first update, first quad along a row, first quad down a
  column, first single entry, 1 if the panel has constraint rows or massless unknowns, first update's targets; the last
  record ends the lists
* ROWS: positions of the rows below each panel
* PARENT, panels: panel of the first row below; the number of panels if there is none
* UPDATES, 8 each, by target: position of the source panel's first column; number of the source's rows from the first
  one that the target holds as a column; place of that row in the factor; places of the rows that are the target's
  four lanes (that of the zeros at the factor's end where the source has none); 1 if the source has constraint rows
* TARGETS: for each of those source rows, its place in the target panel
* ALONG, DOWN: quads of entries, 2 each: place in the factor and slot; four slots in sequence go to four lanes of a
  row, or to the same lane of four rows
* SINGLE: other entries, 2 each
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import allocating, inlined
from sennit.linalg.kernels.ordering import block_graph, minimum_degree, postorder

HEADER = 24
(
    N, BLOCKS, PANELS, FACTOR, NONZEROS,
    POSITION, SIGN, PANEL, ROWS, PARENT, UPDATES, TARGETS, ALONG, DOWN, SINGLE, END,
) = range(16)  # fmt: skip
# Fields of a panel's record.
PLACE, ROW, UPDATE, QUAD_ALONG, QUAD_DOWN, ENTRY, SPECIAL, TARGET = range(8)


@allocating
def make_panels(block_start, kind, sequence, parent, length, start, members):
    """Panels of a sequence of blocks.

    Returns position of each unknown, sign of each position, number of panels, last block of each panel, and how many
    unknowns of that block follow in later panels.
    """
    nb = len(sequence)
    n = np.int64(block_start[nb])
    position = np.empty(n, np.uint32)
    last = np.empty(n, np.uint32)
    rest = np.empty(n, np.uint32)
    sign = np.zeros(4 * n, np.uint8)
    panels = np.int64(-1)
    width = np.int64(4)
    before = np.int64(nb)
    for turn in range(nb):
        b = np.int64(sequence[turn])
        size = np.int64(block_start[b + 1]) - np.int64(block_start[b])
        joins = before != nb and np.int64(parent[before]) == b and width + size <= 4
        if not joins:
            width = 4
        for k in range(size):
            if width == 4:
                width = 0
                panels += 1
            at = 4 * panels + width
            position[np.int64(block_start[b]) + k] = at
            sign[at] = 2 if kind[b] == 1 else 1
            width += 1
            last[panels] = b
            rest[panels] = size - 1 - k
        before = b
    panels += 1
    return position, sign, panels, last, rest


@allocating
def panel_rows(block_start, sequence, length, start, members, position, panels, last, rest):
    """Positions of the rows below each panel, ascending: ``rows[first[p]:first[p + 1]]``; nonzeros of the factor."""
    nb = len(sequence)
    # Members of each element by ascending position, through the transposed pattern.
    count = np.zeros(nb + 1, np.int64)
    total = np.int64(0)
    for b in range(nb):
        for k in range(np.int64(start[b]), np.int64(start[b]) + np.int64(length[b])):
            count[members[k]] += 1
        total += np.int64(length[b])
    place = np.int64(0)
    for b in range(nb):
        m = count[b]
        count[b] = place
        place += m
    count[nb] = place
    holder = np.empty(max(total, 1), np.uint32)
    for b in range(nb):
        for k in range(np.int64(start[b]), np.int64(start[b]) + np.int64(length[b])):
            c = members[k]
            holder[count[c]] = b
            count[c] += 1
    fill = np.empty(nb, np.int64)
    for b in range(nb):
        fill[b] = np.int64(start[b])
    for turn in range(nb):
        c = np.int64(sequence[turn])
        for k in range(count[c - 1] if c > 0 else 0, count[c]):
            b = holder[k]
            members[fill[b]] = c
            fill[b] += 1

    first = np.empty(panels + 1, np.uint32)
    total = np.int64(0)
    for p in range(panels):
        first[p] = total
        b = np.int64(last[p])
        total += np.int64(rest[p])
        for k in range(np.int64(start[b]), np.int64(start[b]) + np.int64(length[b])):
            c = np.int64(members[k])
            total += np.int64(block_start[c + 1]) - np.int64(block_start[c])
    first[panels] = total
    rows = np.empty(max(total, 1), np.uint32)
    for p in range(panels):
        b = np.int64(last[p])
        out = np.int64(first[p])
        stop = np.int64(block_start[b + 1])
        for i in range(stop - np.int64(rest[p]), stop):
            rows[out] = position[i]
            out += 1
        for k in range(np.int64(start[b]), np.int64(start[b]) + np.int64(length[b])):
            c = np.int64(members[k])
            for i in range(np.int64(block_start[c]), np.int64(block_start[c + 1])):
                rows[out] = position[i]
                out += 1
    nonzeros = np.int64(0)
    for b in range(nb):
        size = np.int64(block_start[b + 1]) - np.int64(block_start[b])
        below = np.int64(0)
        for k in range(np.int64(start[b]), np.int64(start[b]) + np.int64(length[b])):
            c = np.int64(members[k])
            below += np.int64(block_start[c + 1]) - np.int64(block_start[c])
        nonzeros += size * (size - 1) // 2 + size * below
    return first, rows, nonzeros


@inlined
def short_quad(k, end, place, goal, slot, sorted_entry):
    """Length of the run at entry k if it fills a row of the panel's own upper triangle from the diagonal on, else 0.

    Read as four numbers, such a run spills into the lower triangle, which nobody reads.
    """
    g = np.int64(goal[k]) - place
    if g >= 16 or g % 5 != 0:
        return 0
    m = 4 - g // 5
    s = np.int64(slot[sorted_entry[k]])
    if k + m > end or s < 4 - m:
        return 0
    for i in range(1, m):
        if np.int64(goal[k + i]) != place + g + i or np.int64(slot[sorted_entry[k + i]]) != s + i:
            return 0
    return m


@allocating
def analyse(block_start, kind, row, col, slot):
    """Return the plan for a pattern: see the head of this file. All arrays are uint32, `kind` uint8."""
    nb = len(kind)
    n = np.int64(block_start[nb])
    block_of, graph_first, adjacent = block_graph(n, block_start, row, col)
    order, parent, start, length, members = minimum_degree(block_start, kind, graph_first, adjacent)
    sequence = postorder(order, parent)
    position, sign, panels, last, rest = make_panels(block_start, kind, sequence, parent, length, start, members)
    first, rows, nonzeros = panel_rows(block_start, sequence, length, start, members, position, panels, last, rest)

    # Updates: each panel acts on every panel that holds some of its rows as columns.
    updates_of = np.zeros(panels + 1, np.int64)
    targets_of = np.zeros(panels + 1, np.int64)
    for p in range(panels):
        stop = np.int64(first[p + 1])
        k = np.int64(first[p])
        while k < stop:
            t = np.int64(rows[k]) >> 2
            updates_of[t] += 1
            targets_of[t] += stop - k
            while k < stop and np.int64(rows[k]) >> 2 == t:
                k += 1
    updates = np.int64(0)
    targets = np.int64(0)
    for p in range(panels + 1):
        m = updates_of[p]
        updates_of[p] = updates
        updates += m
        m = targets_of[p]
        targets_of[p] = targets
        targets += m

    # Entries by panel, each panel's in the order given.
    entries = len(row)
    entry_of = np.zeros(panels + 1, np.int64)
    for e in range(entries):
        entry_of[min(position[row[e]], position[col[e]]) >> 2] += 1
    total = np.int64(0)
    for p in range(panels + 1):
        m = entry_of[p]
        entry_of[p] = total
        total += m
    sorted_entry = np.empty(max(entries, 1), np.uint32)
    for e in range(entries):
        p = min(position[row[e]], position[col[e]]) >> 2
        sorted_entry[entry_of[p]] = e
        entry_of[p] += 1

    # Places of the entries; quads among them. `within`: place in the panel of a row at a given position.
    within = np.empty(4 * panels, np.uint32)
    goal = np.empty(max(entries, 1), np.uint32)
    style = np.empty(max(entries, 1), np.uint8)
    along = np.int64(0)
    down = np.int64(0)
    single = np.int64(0)
    place = np.int64(0)
    begin = np.int64(0)
    for p in range(panels):
        for c in range(4):
            within[4 * p + c] = 4 * c
        for k in range(np.int64(first[p]), np.int64(first[p + 1])):
            within[rows[k]] = 16 + 4 * (k - np.int64(first[p]))
        end = entry_of[p]
        for k in range(begin, end):
            e = sorted_entry[k]
            a = np.int64(position[row[e]])
            b = np.int64(position[col[e]])
            if a >> 2 == b >> 2:
                goal[k] = place + 4 * (min(a, b) & 3) + (max(a, b) & 3)
            else:
                goal[k] = place + np.int64(within[max(a, b)]) + (min(a, b) & 3)
        k = begin
        while k < end:
            style[k] = 0
            if k + 3 < end:
                s = np.int64(slot[sorted_entry[k]])
                g = np.int64(goal[k])
                step = np.int64(goal[k + 1]) - g
                if step == 1 or step == 4:
                    if (
                        np.int64(slot[sorted_entry[k + 1]]) == s + 1
                        and np.int64(slot[sorted_entry[k + 2]]) == s + 2
                        and np.int64(slot[sorted_entry[k + 3]]) == s + 3
                        and np.int64(goal[k + 2]) == g + 2 * step
                        and np.int64(goal[k + 3]) == g + 3 * step
                    ):
                        style[k] = step
            if style[k] == 0:
                m = short_quad(k, end, place, goal, slot, sorted_entry)
                if m > 0:
                    goal[k] -= 4 - m
                    style[k] = 8 + m
                    along += 1
                    k += m
                else:
                    single += 1
                    k += 1
            else:
                if style[k] == 1:
                    along += 1
                else:
                    down += 1
                k += 4
        begin = end
        place += 16 + 4 * (np.int64(first[p + 1]) - np.int64(first[p]))

    at_position = np.int64(HEADER)
    at_sign = at_position + n
    at_panel = (at_sign + 4 * panels + 7) // 8 * 8
    at_rows = at_panel + 8 * (panels + 1)
    at_parent = at_rows + np.int64(first[panels])
    at_updates = (at_parent + panels + 7) // 8 * 8
    at_targets = at_updates + 8 * updates
    at_along = at_targets + targets
    at_down = at_along + 2 * along
    at_single = at_down + 2 * down
    at_end = at_single + 2 * single
    plan = np.empty(at_end, np.uint32)
    for k in range(HEADER):
        plan[k] = 0
    for k in range(at_sign + 4 * panels, at_panel):
        plan[k] = 0
    for k in range(at_parent + panels, at_updates):
        plan[k] = 0
    plan[N] = n
    plan[BLOCKS] = nb
    plan[PANELS] = panels
    zeros = place
    plan[FACTOR] = zeros + 4
    plan[NONZEROS] = nonzeros
    plan[POSITION] = at_position
    plan[SIGN] = at_sign
    plan[PANEL] = at_panel
    plan[ROWS] = at_rows
    plan[PARENT] = at_parent
    plan[UPDATES] = at_updates
    plan[TARGETS] = at_targets
    plan[ALONG] = at_along
    plan[DOWN] = at_down
    plan[SINGLE] = at_single
    plan[END] = at_end
    for i in range(n):
        plan[at_position + i] = position[i]
    for i in range(4 * panels):
        plan[at_sign + i] = sign[i]
    for k in range(np.int64(first[panels])):
        plan[at_rows + k] = rows[k]
    special = np.zeros(4 * panels, np.uint8)
    for b in range(nb):
        if kind[b] != 0:
            for i in range(np.int64(block_start[b]), np.int64(block_start[b + 1])):
                special[position[i] >> 2] = 1

    # Records of the panels, and the entries.
    place = np.int64(0)
    begin = np.int64(0)
    along = np.int64(0)
    down = np.int64(0)
    single = np.int64(0)
    for p in range(panels + 1):
        record = at_panel + 8 * p
        plan[record + PLACE] = place
        plan[record + ROW] = at_rows + np.int64(first[p])
        plan[record + UPDATE] = at_updates + 8 * updates_of[p]
        plan[record + QUAD_ALONG] = at_along + 2 * along
        plan[record + QUAD_DOWN] = at_down + 2 * down
        plan[record + ENTRY] = at_single + 2 * single
        plan[record + SPECIAL] = 0
        plan[record + TARGET] = at_targets + targets_of[p]
        if p == panels:
            break
        plan[record + SPECIAL] = special[p]
        below = np.int64(first[p + 1]) - np.int64(first[p])
        plan[at_parent + p] = (np.int64(rows[first[p]]) >> 2) if below > 0 else panels
        end = entry_of[p]
        k = begin
        while k < end:
            if style[k] == 0:
                out = at_single + 2 * single
                single += 1
            elif style[k] != 4:
                out = at_along + 2 * along
                along += 1
            else:
                out = at_down + 2 * down
                down += 1
            plan[out] = goal[k]
            plan[out + 1] = slot[sorted_entry[k]]
            if style[k] > 8:
                m = np.int64(style[k]) - 8
                plan[out + 1] -= 4 - m
                k += m
            else:
                k += 1 if style[k] == 0 else 4
        begin = end
        place += 16 + 4 * below

    # Updates by target; sources ascend. Only the record now, the targets below need the target's rows.
    for p in range(panels):
        base = np.int64(first[p])
        stop = np.int64(first[p + 1])
        has_rows = 0
        for c in range(4):
            if sign[4 * p + c] == 2:
                has_rows = 1
        k = base
        while k < stop:
            t = np.int64(rows[k]) >> 2
            out = at_updates + 8 * updates_of[t]
            updates_of[t] += 1
            plan[out] = 4 * p
            plan[out + 1] = stop - k
            plan[out + 2] = np.int64(plan[at_panel + 8 * p + PLACE]) + 16 + 4 * (k - base)
            for c in range(4):
                plan[out + 3 + c] = zeros
            while k < stop and np.int64(rows[k]) >> 2 == t:
                plan[out + 3 + (np.int64(rows[k]) & 3)] = np.int64(plan[at_panel + 8 * p + PLACE]) + 16 + 4 * (k - base)
                k += 1
            plan[out + 7] = has_rows
    out = at_targets
    for t in range(panels):
        record = at_panel + 8 * t
        for c in range(4):
            within[4 * t + c] = 4 * c
        for k in range(np.int64(first[t]), np.int64(first[t + 1])):
            within[rows[k]] = 16 + 4 * (k - np.int64(first[t]))
        for u in range(np.int64(plan[record + UPDATE]), np.int64(plan[record + 8 + UPDATE]), 8):
            stop = np.int64(first[(np.int64(plan[u]) >> 2) + 1])
            for k in range(stop - np.int64(plan[u + 1]), stop):
                plan[out] = within[rows[k]]
                out += 1
    return plan
