"""Order of elimination: constrained minimum degree on the quotient graph of blocks.

Blocks are the nodes of the graph. An eliminated block p becomes an *element*, the set L_p of blocks that its
elimination joined; L_p is also the block pattern of column p of the factor. A live block is described by the elements
that it belongs to and by those of its first neighbours that no element covers (A. George and J. W. H. Liu, The
evolution of the minimum degree ordering algorithm, SIAM Review 31, 1989). The list of a live block only shrinks, so it
stays in the place that the graph's adjacency gave it: elements first, then neighbours.

Kinds of blocks: 0 primal with a definite diagonal, 1 constraint rows, 2 primal with a diagonal that may be zero. What
a block waits for makes each pivot nonzero with the right sign:

* kind 1 waits for its neighbours of kind 0; if it has none, for those of kind 2;
* kind 2 waits for its neighbours of kind 1 that have a neighbour of kind 0; if it has none of those, for its neighbours
  of kind 0.

Index arrays are uint32, because a signed index is tested for its sign at every use; `np.int64` before arithmetic.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sennit.compilation import allocating, inlined


class Elimination(NamedTuple):
    """An order of elimination, and the pattern of the factor by blocks. Arrays are uint32."""

    order: Any
    """Block eliminated at each turn."""
    parent: Any
    """Of each block in the elimination tree; the number of blocks for a root."""
    start: Any
    length: Any
    members: Any
    """L_p is ``members[start[p]:start[p] + length[p]]``."""
    operations: Any
    """See `operations_of`."""
    front: Any
    """Most unknowns that one elimination joined."""


@allocating
def block_graph(n, block_start, row, col):
    """Neighbours of each block, each once: ``adjacent[first[b]:first[b + 1]]``. Also the block of each unknown."""
    nb = len(block_start) - 1
    block_of = np.empty(n, np.uint32)
    for b in range(nb):
        for i in range(np.int64(block_start[b]), np.int64(block_start[b + 1])):
            block_of[i] = b
    # Entries come in runs of the same pair of blocks: one pair is kept of each run.
    runs = np.empty(2 * len(row), np.uint32)
    count = np.zeros(nb + 1, np.int64)
    m = 0
    last_i = np.int64(-1)
    last_j = np.int64(-1)
    for e in range(len(row)):
        i = np.int64(block_of[row[e]])
        j = np.int64(block_of[col[e]])
        if i != j and (i != last_i or j != last_j):
            last_i = i
            last_j = j
            runs[2 * m] = i
            runs[2 * m + 1] = j
            m += 1
            count[i] += 1
            count[j] += 1
    first = np.empty(nb + 1, np.uint32)
    total = np.int64(0)
    for b in range(nb):
        first[b] = total
        total += count[b]
        count[b] = np.int64(first[b])
    first[nb] = total
    adjacent = np.empty(max(total, 1), np.uint32)
    for k in range(m):
        i = np.int64(runs[2 * k])
        j = np.int64(runs[2 * k + 1])
        adjacent[count[i]] = j
        count[i] += 1
        adjacent[count[j]] = i
        count[j] += 1
    # Drop repeated neighbours.
    seen = np.empty(nb, np.uint32)
    for b in range(nb):
        seen[b] = nb
    out = np.int64(0)
    for b in range(nb):
        begin = np.int64(first[b])
        end = np.int64(first[b + 1])
        first[b] = out
        for k in range(begin, end):
            j = adjacent[k]
            if np.int64(seen[j]) != b:
                seen[j] = b
                adjacent[out] = j
                out += 1
    first[nb] = out
    return block_of, first, adjacent


# ------------------------------------------------------------------------------------------- heap of blocks by degree


@allocating
def sift_up(heap, place, key, at):
    b = heap[at]
    k = key[b]
    while at > 0:
        up = (at - 1) >> 1
        other = heap[up]
        if key[other] <= k:
            break
        heap[at] = other
        place[other] = at
        at = up
    heap[at] = b
    place[b] = at


@allocating
def sift_down(heap, place, key, size, at):
    b = heap[at]
    k = key[b]
    while True:
        down = 2 * at + 1
        if down >= size:
            break
        if down + 1 < size and key[heap[down + 1]] < key[heap[down]]:
            down += 1
        other = heap[down]
        if key[other] >= k:
            break
        heap[at] = other
        place[other] = at
        at = down
    heap[at] = b
    place[b] = at


@inlined
def waits_for(kind, anchored, b, c):
    """1 if block `b` may be eliminated only after its neighbour `c`; `anchored`: rows with a neighbour of kind 0."""
    kb = kind[b]
    kc = kind[c]
    if kb == 1:
        if anchored[b] == 1:
            return 1 if kc == 0 else 0
        return 1 if kc == 2 else 0
    if kb == 2:
        if anchored[b] == 1:
            return 1 if kc == 1 and anchored[c] == 1 else 0
        return 1 if kc == 0 else 0
    return 0


@inlined
def operations_of(width, below):
    """Multiplications and additions, a pair of them counted as one, that eliminate `width` unknowns joined to `below`.

    A column with c numbers below its diagonal has c (c + 1) / 2 of them.
    """
    top = width + below
    return (top * (top * top - 1.0) - below * (below * below - 1.0)) / 6.0


@allocating
def anchored_blocks(kind, first, adjacent):
    """1 for rows with a neighbour of kind 0, and for blocks of kind 2 with such a row: see `waits_for`."""
    nb = len(kind)
    anchored = np.zeros(nb, np.uint8)
    for b in range(nb):
        if kind[b] == 1:
            for k in range(np.int64(first[b]), np.int64(first[b + 1])):
                if kind[adjacent[k]] == 0:
                    anchored[b] = 1
    for b in range(nb):
        if kind[b] == 2:
            for k in range(np.int64(first[b]), np.int64(first[b + 1])):
                if kind[adjacent[k]] == 1 and anchored[adjacent[k]] == 1:
                    anchored[b] = 1
    return anchored


@allocating
def minimum_degree(block_start, kind, first, adjacent, stage, most):
    """The `Elimination` of least degree.

    `stage` of each block: those of an earlier stage go first, as far as the rules above let them; all 0 for the plain
    order. It gives up, with an order that is not complete, when there are more than `most` operations.

    The degree is exact: unknowns in the union of all neighbours. Ties go to the largest block number: that walks along
    a rod from its last point to its first, so that the entries of its band are read along rows of the factor.
    """
    nb = len(kind)
    size = np.empty(nb, np.int64)
    lists = np.empty(len(adjacent), np.uint32)  # elements, then neighbours, of each live block
    for k in range(len(adjacent)):
        lists[k] = adjacent[k]
    elements = np.zeros(nb, np.uint32)
    neighbours = np.empty(nb, np.uint32)
    anchored = anchored_blocks(kind, first, adjacent)
    waiting = np.zeros(nb, np.int64)
    key = np.zeros(nb, np.int64)
    gone = np.zeros(nb, np.uint8)  # 1: eliminated and an element; 2: absorbed by a later element
    order = np.empty(nb, np.uint32)
    parent = np.empty(nb, np.uint32)
    start = np.zeros(nb, np.uint32)
    length = np.zeros(nb, np.uint32)
    weight = np.zeros(nb, np.int64)  # unknowns of an element; all live, for it is absorbed with its first pivot
    outside = np.zeros(nb, np.int64)  # of those, the ones not in the newest element
    outside_stamp = np.zeros(nb, np.int64)
    stamp = np.zeros(nb, np.int64)
    heap = np.empty(nb, np.uint32)
    place = np.zeros(nb, np.uint32)
    members = np.empty(2 * len(adjacent) + 4 * nb + 16, np.uint32)
    end = np.int64(0)

    for b in range(nb):
        parent[b] = nb
        size[b] = np.int64(block_start[b + 1]) - np.int64(block_start[b])
        neighbours[b] = np.int64(first[b + 1]) - np.int64(first[b])
    span = (np.int64(block_start[nb]) + 1) * nb  # keys of one stage
    operations = 0.0
    front = np.int64(0)
    in_heap = np.int64(0)
    for b in range(nb):
        degree = np.int64(0)
        for k in range(np.int64(first[b]), np.int64(first[b + 1])):
            c = adjacent[k]
            degree += size[c]
            waiting[b] += waits_for(kind, anchored, b, c)
        if waiting[b] == 0:
            key[b] = stage[b] * span + degree * nb + (nb - 1 - b)
            heap[in_heap] = b
            place[b] = in_heap
            in_heap += 1
    for at in range(in_heap // 2 - 1, -1, -1):
        sift_down(heap, place, key, in_heap, at)

    counted = np.zeros(nb, np.int64)
    count = np.int64(0)
    mark = np.int64(0)
    for turn in range(nb):
        p = np.int64(heap[0])
        order[turn] = p
        in_heap -= 1
        if in_heap > 0:
            heap[0] = heap[in_heap]
            sift_down(heap, place, key, in_heap, np.int64(0))

        # The new element: all live blocks that p was joined to. Its elements are absorbed.
        base = np.int64(first[p])
        ne = np.int64(elements[p])
        room = np.int64(neighbours[p])
        for k in range(base, base + ne):
            room += np.int64(length[lists[k]])
        if end + room > len(members):
            larger = np.empty(2 * len(members) + room, np.uint32)
            for k in range(end):
                larger[k] = members[k]
            members = larger
        mark += 1
        stamp[p] = mark
        gone[p] = 1
        begin = end
        start[p] = begin
        w = np.int64(0)
        for k in range(base, base + ne):
            e = np.int64(lists[k])
            gone[e] = 2
            parent[e] = p
            for m in range(np.int64(start[e]), np.int64(start[e]) + np.int64(length[e])):
                c = np.int64(members[m])
                if stamp[c] != mark:
                    stamp[c] = mark
                    members[end] = c
                    end += 1
                    w += size[c]
        for k in range(base + ne, base + ne + np.int64(neighbours[p])):
            c = np.int64(lists[k])
            if stamp[c] != mark:
                stamp[c] = mark
                members[end] = c
                end += 1
                w += size[c]
        length[p] = end - begin
        weight[p] = w
        front = max(front, w)
        operations += operations_of(size[p], w)
        if operations > most:
            break
        for k in range(base, np.int64(first[p + 1])):
            c = adjacent[k]
            if gone[c] == 0 and kind[c] != 0 and waits_for(kind, anchored, c, p) == 1:
                waiting[c] -= 1
                if waiting[c] == 0:
                    place[c] = in_heap
                    heap[in_heap] = c
                    key[c] = np.int64(1) << 62
                    in_heap += 1

        # Every member trades what the element covers for the element itself, then gets its degree anew.
        for m in range(begin, end):
            i = np.int64(members[m])
            base = np.int64(first[i])
            ne = np.int64(elements[i])
            nn = np.int64(neighbours[i])
            out = base
            for k in range(base, base + ne):
                e = np.int64(lists[k])
                if gone[e] == 1:
                    lists[out] = e
                    out += 1
                    if outside_stamp[e] != mark:
                        outside_stamp[e] = mark
                        outside[e] = weight[e]
                    outside[e] -= size[i]
            # There is room for p: i lost it as a neighbour, or lost at least one element that p absorbed. In the
            # first case p takes the place of the first neighbour, which is held until the others have moved.
            held = np.int64(nb)
            write = out + 1
            for k in range(base + ne, base + ne + nn):
                c = np.int64(lists[k])
                if stamp[c] != mark:
                    if write > k:
                        held = c
                    else:
                        lists[write] = c
                        write += 1
            if held != nb:
                lists[write] = held
                write += 1
            lists[out] = p
            elements[i] = out - base + 1
            neighbours[i] = write - out - 1
        for m in range(begin, end):
            i = np.int64(members[m])
            if waiting[i] == 0:
                base = np.int64(first[i])
                ne = np.int64(elements[i])
                degree = w - size[i]
                if ne == 2:
                    degree += outside[lists[base]]
                elif ne > 2:
                    count += 1
                    for k in range(base, base + ne - 1):
                        e = lists[k]
                        for q in range(np.int64(start[e]), np.int64(start[e]) + np.int64(length[e])):
                            c = members[q]
                            if stamp[c] != mark and counted[c] != count:
                                counted[c] = count
                                degree += size[c]
                for k in range(base + ne, base + ne + np.int64(neighbours[i])):
                    degree += size[lists[k]]
                old = key[i]
                key[i] = stage[i] * span + degree * nb + (nb - 1 - i)
                if key[i] < old:
                    sift_up(heap, place, key, np.int64(place[i]))
                elif key[i] > old:
                    sift_down(heap, place, key, in_heap, np.int64(place[i]))
    return Elimination(
        order=order, parent=parent, start=start, length=length, members=members, operations=operations, front=front
    )


@allocating
def least_degree(block_start, kind, row, col):
    """Graph of the blocks of a pattern, as `block_graph` gives it, and its plain `Elimination` of least degree."""
    _, first, adjacent = block_graph(np.int64(block_start[len(kind)]), block_start, row, col)
    return first, adjacent, minimum_degree(block_start, kind, first, adjacent, np.zeros(len(kind), np.int64), np.inf)


@allocating
def postorder(order, parent):
    """The same elimination with children right before their parents: `sequence` (blocks). The fill does not change."""
    nb = len(order)
    child = np.empty(nb + 1, np.uint32)
    sibling = np.empty(nb, np.uint32)
    for b in range(nb + 1):
        child[b] = nb
    # Backwards, so that each list of children is in the order of elimination.
    for turn in range(nb - 1, -1, -1):
        b = order[turn]
        up = parent[b]
        sibling[b] = child[up]
        child[up] = b
    sequence = np.empty(nb, np.uint32)
    stack = np.empty(nb + 1, np.uint32)
    out = np.int64(0)
    depth = np.int64(1)
    stack[0] = nb
    while depth > 0:
        b = np.int64(stack[depth - 1])
        c = np.int64(child[b])
        if c != nb:
            child[b] = sibling[c]
            stack[depth] = c
            depth += 1
        else:
            depth -= 1
            if b != nb:
                sequence[out] = b
                out += 1
    return sequence
