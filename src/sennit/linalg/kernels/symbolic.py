"""Symbolic analysis: order, panels, rows and updates of a factorisation, as `sennit.linalg.plan` describes them.

First all is found and counted, in tables of `sennit.linalg.analysis`, then it is written into a `Plan` of that size
(`write_plan`).
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import inlined, kernel


GROUP = 8
"""Most panels of a group. Where few unknowns are joined, groups cost more than they save: there they have one."""
SINGLE, ALONG, DOWN, SHORT = 0, 1, 4, 8
"""Style of an entry: single; first of a quad along a row or down a column; SHORT + m: first of m, read as a quad."""


@kernel
def make_panels(block_start, kind, elimination, packed, found):
    """Panels of a sequence of blocks: position, sign, last and rest of a `Panels`. Returns how many there are.

    A block goes on in the panel of the block before it, its child in the elimination tree, if it fits there as a whole.
    With `packed` it also goes on if it does not fit but has the same rows below: then nothing is added to the factor,
    and the panels of a dense part have no lanes without an unknown.
    """
    sequence, parent, length = elimination.sequence, elimination.parent, elimination.length
    position, sign, last, rest = found.position, found.sign, found.last, found.rest
    nb = len(sequence)
    panels = np.int64(-1)
    width = np.int64(4)
    before = np.int64(nb)
    for turn in range(nb):
        b = np.int64(sequence[turn])
        size = np.int64(block_start[b + 1]) - np.int64(block_start[b])
        joins = before != nb and np.int64(parent[before]) == b
        if joins and width + size > 4:
            joins = packed and length[before] == length[b] + 1
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
    return panels + 1


@kernel
def count_rows(block_start, elimination, members, holder, panels, found):
    """Where the rows below each panel begin: ``found.first``. Returns how many there are, and nonzeros of the factor.

    The members of each element are sorted by position; `holder` is room for as many.
    """
    sequence, start, length = elimination.sequence, elimination.start, elimination.length
    first, last, rest = found.first, found.last, found.rest
    nb = len(sequence)
    # Members of each element by ascending position, through the transposed pattern.
    count, fill = elimination.count, elimination.sorted_end
    for b in range(nb):
        for k in range(np.int64(start[b]), np.int64(start[b]) + np.int64(length[b])):
            count[members[k]] += 1
    place = np.int64(0)
    for b in range(nb):
        m = count[b]
        count[b] = place
        place += m
    count[nb] = place
    for b in range(nb):
        for k in range(np.int64(start[b]), np.int64(start[b]) + np.int64(length[b])):
            c = members[k]
            holder[count[c]] = b
            count[c] += 1
    for b in range(nb):
        fill[b] = np.int64(start[b])
    for turn in range(nb):
        c = np.int64(sequence[turn])
        for k in range(count[c - 1] if c > 0 else 0, count[c]):
            b = holder[k]
            members[fill[b]] = c
            fill[b] += 1

    total = np.int64(0)
    for p in range(panels):
        first[p] = total
        b = np.int64(last[p])
        total += np.int64(rest[p])
        for k in range(np.int64(start[b]), np.int64(start[b]) + np.int64(length[b])):
            c = np.int64(members[k])
            total += np.int64(block_start[c + 1]) - np.int64(block_start[c])
    first[panels] = total
    nonzeros = np.int64(0)
    for b in range(nb):
        size = np.int64(block_start[b + 1]) - np.int64(block_start[b])
        below = np.int64(0)
        for k in range(np.int64(start[b]), np.int64(start[b]) + np.int64(length[b])):
            c = np.int64(members[k])
            below += np.int64(block_start[c + 1]) - np.int64(block_start[c])
        nonzeros += size * (size - 1) // 2 + size * below
    return total, nonzeros


@kernel
def list_rows(block_start, elimination, members, found, panels, rows):
    """Positions of the rows below each panel, ascending: ``rows[first[p]:first[p + 1]]``."""
    start, length = elimination.start, elimination.length
    position, first, last, rest = found.position, found.first, found.last, found.rest
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


@inlined
def short_quad(k, end, place, goal, slot, entry):
    """Length of the run at entry k if it fills a row of the panel's own upper triangle from the diagonal on, else 0.

    Read as four numbers, such a run spills into the lower triangle, which nobody reads.
    """
    g = np.int64(goal[k]) - place
    if g >= 16 or g % 5 != 0:
        return 0
    m = 4 - g // 5
    s = np.int64(slot[entry[k]])
    if k + m > end or s < 4 - m:
        return 0
    for i in range(1, m):
        if np.int64(goal[k + i]) != place + g + i or np.int64(slot[entry[k + i]]) != s + i:
            return 0
    return m


@inlined
def goes_on(p, first, rows):
    """Whether panel p has all the rows that panel p - 1 has below it, and p - 1 all of those and of p's own."""
    count = np.int64(first[p]) - np.int64(first[p - 1])
    return count == 4 + np.int64(first[p + 1]) - np.int64(first[p]) and np.int64(rows[first[p - 1]]) >> 2 == p


@kernel
def count_updates(outline, most):
    """Groups of panels, where their updates begin, numbers of updates and of targets.

    Each panel acts on every panel that holds some of its rows as columns. `most`: panels of a group.
    """
    first, rows = outline.first_row, outline.rows
    leader, first_update, last_source = outline.leader, outline.first_update, outline.last_source
    panels = len(leader)
    for p in range(panels):
        last_source[p] = -2
    for p in range(1, panels):
        before = np.int64(leader[p - 1])
        leader[p] = before if p - before < most and goes_on(p, first, rows) else p
    targets = np.int64(0)
    for p in range(panels):
        shares = p > 0 and goes_on(p, first, rows)
        stop = np.int64(first[p + 1])
        k = np.int64(first[p])
        while k < stop:
            t = np.int64(rows[k]) >> 2
            group = leader[t]
            first_update[group] += 1
            if last_source[group] != p:
                if not (shares and last_source[group] == p - 1):
                    targets += stop - k
                last_source[group] = p
            while k < stop and np.int64(rows[k]) >> 2 == t:
                k += 1
    updates = np.int64(0)
    for p in range(panels + 1):
        m = np.int64(first_update[p])
        first_update[p] = updates
        updates += m
    outline.updates[0], outline.targets[0] = updates, targets


@kernel
def outlined(block_start, kind, row, col, slot, most, outline):
    """Fill the rest of an `Outline`, whose position, sign, first_row and rows are known. `most`: panels of a group."""
    nb = len(kind)
    position, first, rows, special = outline.position, outline.first_row, outline.rows, outline.special
    last_entry, entry, goal, style, within = (
        outline.last_entry, outline.entry, outline.goal, outline.style, outline.within,
    )  # fmt: skip
    panels = len(special)
    for b in range(nb):
        if kind[b] != 0:
            for i in range(np.int64(block_start[b]), np.int64(block_start[b + 1])):
                special[position[i] >> 2] = 1

    count_updates(outline, most)

    # Entries by panel, each panel's in the order given.
    entries = len(row)
    for e in range(entries):
        last_entry[min(position[row[e]], position[col[e]]) >> 2] += 1
    total = np.int64(0)
    for p in range(panels + 1):
        m = last_entry[p]
        last_entry[p] = total
        total += m
    for e in range(entries):
        p = min(position[row[e]], position[col[e]]) >> 2
        entry[last_entry[p]] = e
        last_entry[p] += 1

    # Places of the entries; quads among them. `within`: place in the panel of a row at a given position.
    along = np.int64(0)
    down = np.int64(0)
    single = np.int64(0)
    place = np.int64(0)
    begin = np.int64(0)
    for p in range(panels):
        find_rows(p, first, rows, within)
        end = last_entry[p]
        for k in range(begin, end):
            e = entry[k]
            a = np.int64(position[row[e]])
            b = np.int64(position[col[e]])
            if a >> 2 == b >> 2:
                goal[k] = place + 4 * (min(a, b) & 3) + (max(a, b) & 3)
            else:
                goal[k] = place + np.int64(within[max(a, b)]) + (min(a, b) & 3)
        k = begin
        while k < end:
            style[k] = SINGLE
            if k + 3 < end:
                s = np.int64(slot[entry[k]])
                g = np.int64(goal[k])
                step = np.int64(goal[k + 1]) - g
                if step == ALONG or step == DOWN:
                    if (
                        np.int64(slot[entry[k + 1]]) == s + 1
                        and np.int64(slot[entry[k + 2]]) == s + 2
                        and np.int64(slot[entry[k + 3]]) == s + 3
                        and np.int64(goal[k + 2]) == g + 2 * step
                        and np.int64(goal[k + 3]) == g + 3 * step
                    ):
                        style[k] = step
            if style[k] == SINGLE:
                m = short_quad(k, end, place, goal, slot, entry)
                if m > 0:
                    goal[k] -= 4 - m
                    style[k] = SHORT + m
                    along += 1
                    k += m
                else:
                    single += 1
                    k += 1
            else:
                if style[k] == ALONG:
                    along += 1
                else:
                    down += 1
                k += 4
        begin = end
        place += 16 + 4 * (np.int64(first[p + 1]) - np.int64(first[p]))
    outline.along[0], outline.down[0], outline.single[0] = along, down, single


@inlined
def find_rows(p, first, rows, within):
    """``within[position]`` <- place in panel p of the row at each position that it holds."""
    for c in range(4):
        within[4 * p + c] = 4 * c
    for k in range(np.int64(first[p]), np.int64(first[p + 1])):
        within[rows[k]] = 16 + 4 * (k - np.int64(first[p]))


@kernel
def write_plan(outline, slot, plan):
    """Write an outline into a `Plan` of its size."""
    position, sign, rows, first = outline.position, outline.sign, outline.rows, outline.first_row
    panels = len(outline.special)
    for i in range(len(position)):
        plan.position[i] = position[i]
    for i in range(4 * panels):
        plan.sign[i] = sign[i]
    for k in range(len(rows)):
        plan.rows[k] = rows[k]
    plan.nonzeros[0] = outline.nonzeros[0]
    write_entries(outline, slot, plan)

    # Updates by group; sources ascend. Only the record now, the targets below need the leader's rows.
    leader = outline.leader
    zeros = plan.place[panels]
    place = plan.place
    column, count, source = plan.update_column, plan.update_count, plan.update_source
    lanes, has_rows = plan.update_lanes, plan.update_has_rows
    cursor = outline.cursor
    for p in range(panels):
        cursor[p] = outline.first_update[p]
        plan.group_end[leader[p]] = p + 1
    for p in range(panels):
        base = np.int64(first[p])
        stop = np.int64(first[p + 1])
        below = np.int64(place[p]) + 16
        negative = 0
        for c in range(4):
            if sign[4 * p + c] == 2:
                negative = 1
        k = base
        while k < stop:
            t = np.int64(rows[k]) >> 2
            u = cursor[leader[t]]
            cursor[leader[t]] += 1
            plan.update_panel[u] = t
            column[u] = 4 * p
            count[u] = stop - k
            source[u] = below + 4 * (k - base)
            has_rows[u] = negative
            for c in range(4):
                lanes[u, c] = zeros
            while k < stop and np.int64(rows[k]) >> 2 == t:
                lanes[u, np.int64(rows[k]) & 3] = below + 4 * (k - base)
                k += 1
    target = plan.target
    within = outline.within
    out = np.int64(0)
    for group in range(panels):
        if np.int64(leader[group]) != group:
            continue
        find_rows(group, first, rows, within)
        begin = np.int64(0)  # of the list at hand, its length, and the source that it was made or taken over for
        length = np.int64(0)
        last = np.int64(-2)
        end = np.int64(outline.first_update[np.int64(plan.group_end[group])])
        for u in range(np.int64(outline.first_update[group]), end):
            p = np.int64(column[u]) >> 2
            m = np.int64(count[u])
            if p != last:
                if last == p - 1 and goes_on(p, first, rows):
                    begin += length - m
                else:
                    begin = out
                    stop = np.int64(first[p + 1])
                    for k in range(stop - m, stop):
                        target[out] = within[rows[k]]
                        out += 1
                length = m
                last = p
            plan.update_target[u] = begin + length - m


@kernel
def write_entries(outline, slot, plan):
    """The panels' places and first numbers, and where the matrix's entries go."""
    first, rows, entry, goal, style = outline.first_row, outline.rows, outline.entry, outline.goal, outline.style
    panels = len(outline.special)
    place = 0
    k = 0
    along = 0
    down = 0
    single = 0
    for p in range(panels + 1):
        plan.place[p] = place
        plan.first_row[p] = first[p]
        plan.first_update[p] = outline.first_update[p]
        plan.first_along[p] = along
        plan.first_down[p] = down
        plan.first_single[p] = single
        if p == panels:
            break
        plan.special[p] = outline.special[p]
        below = np.int64(first[p + 1]) - np.int64(first[p])
        plan.parent[p] = (np.int64(rows[first[p]]) >> 2) if below > 0 else panels
        while k < outline.last_entry[p]:
            if style[k] == SINGLE:
                plan.single_goal[single] = goal[k]
                plan.single_slot[single] = slot[entry[k]]
                single += 1
                k += 1
            elif style[k] == DOWN:
                plan.down_goal[down] = goal[k]
                plan.down_slot[down] = slot[entry[k]]
                down += 1
                k += 4
            else:
                m = 4 if style[k] == ALONG else np.int64(style[k]) - SHORT
                plan.along_goal[along] = goal[k]
                plan.along_slot[along] = np.int64(slot[entry[k]]) - (4 - m)
                along += 1
                k += m
        place += 16 + 4 * below
