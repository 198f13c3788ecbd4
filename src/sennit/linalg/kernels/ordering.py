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

import numpy as np

from sennit.compilation import inlined, kernel


@kernel
def block_graph(block_start, row, col, graph):
    """Fill a `BlockGraph`; returns how many neighbours all blocks have together."""
    nb = len(block_start) - 1
    block_of, runs, count, first, adjacent = graph.block_of, graph.runs, graph.count, graph.first, graph.adjacent
    for b in range(nb):
        for i in range(np.int64(block_start[b]), np.int64(block_start[b + 1])):
            block_of[i] = b
    # Entries come in runs of the same pair of blocks: one pair is kept of each run.
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
    total = np.int64(0)
    for b in range(nb):
        first[b] = total
        total += count[b]
        count[b] = np.int64(first[b])
    first[nb] = total
    for k in range(m):
        i = np.int64(runs[2 * k])
        j = np.int64(runs[2 * k + 1])
        adjacent[count[i]] = j
        count[i] += 1
        adjacent[count[j]] = i
        count[j] += 1
    # Drop repeated neighbours.
    seen = graph.seen
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
    return out


# ------------------------------------------------------------------------------------------- heap of blocks by degree


@kernel
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


@kernel
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


@kernel
def find_anchored(kind, graph, anchored):
    """``anchored`` <- 1 for rows with a neighbour of kind 0, and for blocks of kind 2 with such a row: see `waits_for`.

    It is all 0 before.
    """
    first, adjacent = graph.first, graph.adjacent
    nb = len(kind)
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


@kernel
def minimum_degree(block_start, kind, graph, elimination, members, most):
    """Order of elimination, and the pattern of the factor by blocks: fills an `Elimination` that is 0 but for `stage`.

    Blocks of an earlier stage go first, as far as the rules above let them. L_p is
    ``members[start[p]:start[p] + length[p]]``. Returns the entries of `members` that are used, or, if there are not
    enough, minus those that one more turn would have needed; operations (see `operations_of`); and the most unknowns
    that one elimination joined. It gives up, with an order that is not complete, when there are more than `most`
    operations.

    The degree is exact: unknowns in the union of all neighbours. Ties go to the largest block number: that walks along
    a rod from its last point to its first, so that the entries of its band are read along rows of the factor.
    """
    nb = len(kind)
    first, adjacent, stage = graph.first, graph.adjacent, elimination.stage
    size, lists, elements, neighbours = (
        elimination.size, elimination.lists, elimination.elements, elimination.neighbours,
    )  # fmt: skip
    for k in range(np.int64(first[nb])):
        lists[k] = adjacent[k]
    anchored, waiting, key, gone = elimination.anchored, elimination.waiting, elimination.key, elimination.gone
    order, parent, start, length = elimination.order, elimination.parent, elimination.start, elimination.length
    weight, outside, outside_stamp = elimination.weight, elimination.outside, elimination.outside_stamp
    stamp, counted, heap, place = elimination.stamp, elimination.counted, elimination.heap, elimination.place
    end = np.int64(0)

    find_anchored(kind, graph, anchored)
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
            return -room, operations, front
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
    return end, operations, front


@kernel
def postorder(elimination):
    """The same elimination with children right before their parents: `sequence` (blocks). The fill does not change."""
    order, parent, sequence = elimination.order, elimination.parent, elimination.sequence
    child, sibling, stack = elimination.child, elimination.sibling, elimination.stack
    nb = len(order)
    for b in range(nb + 1):
        child[b] = nb
    # Backwards, so that each list of children is in the order of elimination.
    for turn in range(nb - 1, -1, -1):
        b = order[turn]
        up = parent[b]
        sibling[b] = child[up]
        child[up] = b
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
