"""Nested dissection of the graph of blocks, without coordinates.

A set of blocks is parted by a light separator, which is eliminated last; each side is parted in the same way until it
is small (A. George, Nested dissection of a regular finite element mesh, SIAM Journal on Numerical Analysis 10, 1973).
Inside the small sets and the separators the order is that of `minimum_degree`, which takes the *stages* from here.

Directions to cut across come from distances in the graph: landmarks are blocks far from each other, and d_a - d_b, the
difference of the distances from two of them, grows from one to the other. In a net with landmarks at its corners
it is a coordinate along a side. `separator.py` finds the lightest separator across each direction.
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import kernel
from sennit.linalg.kernels.ordering import find_anchored, waits_for
from sennit.linalg.kernels.separator import AFTER, BEFORE, PLAIN_ARC, find_twins, lightest_separator

LANDMARKS = 4
SMALL = (8000, 2500, 800)
"""Unknowns of a set that is not parted, descending: as many dissections, one finer than the other."""


@kernel
def find_distances(net, own, members, begin, end, source, distance):
    """Number of links from block `source` to each block of a set; returns how many blocks are reached."""
    for m in range(begin, end):
        distance[members[m]] = -1
    distance[source] = 0
    net.queue[0] = source
    head, tail = 0, 1
    while head < tail:
        b = np.int64(net.queue[head])
        head += 1
        for k in range(np.int64(net.graph.first[b]), np.int64(net.graph.first[b + 1])):
            c = np.int64(net.graph.adjacent[k])
            if net.inside[c] == own and distance[c] < 0:
                distance[c] = distance[b] + 1
                net.queue[tail] = c
                tail += 1
    return tail


@kernel
def farthest(members, begin, end, distance, count):
    """Block of the set whose least distance from the first `count` landmarks is greatest."""
    best = np.int64(members[begin])
    most = np.int64(-1)
    for m in range(begin, end):
        b = np.int64(members[m])
        near = distance[0, b]
        for a in range(1, count):
            near = min(near, distance[a, b])
        if near > most:
            most = near
            best = b
    return best


@kernel
def sort_by_difference(members, begin, end, one, other, count, room):
    """Put a set in ascending order of ``one - other``; blocks of the same difference keep theirs."""
    reach = np.int64(0)
    for m in range(begin, end):
        reach = max(reach, abs(one[members[m]] - other[members[m]]))
    for k in range(2 * reach + 2):
        count[k] = 0
    for m in range(begin, end):
        count[one[members[m]] - other[members[m]] + reach + 1] += 1
    for k in range(2 * reach + 1):
        count[k + 1] += count[k]
    for m in range(begin, end):
        b = members[m]
        k = one[b] - other[b] + reach
        room[count[k]] = b
        count[k] += 1
    for m in range(begin, end):
        members[m] = room[m - begin]


@kernel
def find_network(block_start, kind, net):
    """Fill an `order.Network` that is all 0 but for its graph."""
    first, adjacent, anchored = net.graph.first, net.graph.adjacent, net.anchored
    find_anchored(kind, net.graph, anchored)
    for b in range(len(kind)):
        net.weight[b] = np.int64(block_start[b + 1]) - np.int64(block_start[b])
        for k in range(np.int64(first[b]), np.int64(first[b + 1])):
            c = adjacent[k]
            if waits_for(kind, anchored, c, b) == 1:
                net.style[k] = BEFORE
            elif waits_for(kind, anchored, b, c) == 1:
                net.style[k] = AFTER
            else:
                net.style[k] = PLAIN_ARC
    find_twins(net)


@kernel
def dissect(net, parts):
    """Fill an `order.Parts` that is all 0: stages of each block, for each of the sizes in `SMALL`.

    Sets that are not parted and separators have a stage each, in the order in which they are eliminated.
    """
    stage, members, stack = parts.stage, parts.members, parts.stack
    nb = len(members)
    sizes = len(SMALL)
    for b in range(nb):
        members[b] = b
        for s in range(sizes):
            stage[s, b] = -1
    stack[0, 0], stack[0, 1] = 0, nb
    depth = 1 if nb > 0 else 0
    turn = np.int64(nb)  # sets are met from the last one eliminated to the first; there are no more than blocks
    own = np.int64(0)
    while depth > 0:
        depth -= 1
        begin, end = stack[depth, 0], stack[depth, 1]
        own += 1
        turn -= 1
        whole = np.int64(0)
        for m in range(begin, end):
            net.inside[members[m]] = own
            whole += net.weight[members[m]]
        middle, last = begin, begin
        if whole > SMALL[sizes - 1]:
            middle, last = part_set(net, own, begin, end, parts)
        # Near side, far side, separator. A set that stays whole is all separator.
        if middle > begin:
            stack[depth, 0], stack[depth, 1] = begin, middle
            stack[depth + 1, 0], stack[depth + 1, 1] = middle, last
            depth += 2
        for s in range(sizes):
            for m in range(begin if whole <= SMALL[s] else last, end):
                if stage[s, members[m]] < 0:
                    stage[s, members[m]] = turn
        for m in range(last, end):
            net.inside[members[m]] = 0


@kernel
def part_set(net, own, begin, end, parts):
    """Sort a set into near side, far side and separator; returns where the second and the third begin.

    With no separator to be found it is all of the third.
    """
    members, distance, found, count, room = parts.members, parts.distance, parts.found, parts.count, parts.room
    reached = find_distances(net, own, members, begin, end, np.int64(members[begin]), distance[0])
    if reached < end - begin:
        for m in range(begin, end):
            found[members[m]] = 1 if distance[0, members[m]] >= 0 else 2
        return sort_by_side(members, begin, end, found, room)
    find_distances(net, own, members, begin, end, farthest(members, begin, end, distance, 1), distance[0])
    for a in range(1, LANDMARKS):
        find_distances(net, own, members, begin, end, farthest(members, begin, end, distance, a), distance[a])
    least = 1e300
    for a in range(1, LANDMARKS):
        for b in range(a):
            sort_by_difference(members, begin, end, distance[a], distance[b], count, room)
            least = lightest_separator(net, own, members, begin, end, least, found)
    if least == 1e300:
        return begin, begin
    return sort_by_side(members, begin, end, found, room)


@kernel
def sort_by_side(members, begin, end, found, room):
    """Put near side, far side and separator of a set one after the other; returns where the last two begin."""
    out = begin
    middle = begin
    for wanted in (1, 2, 0):
        if wanted == 2:
            middle = out
        elif wanted == 0:
            last = out
        for m in range(begin, end):
            if found[members[m]] == wanted:
                room[out - begin] = members[m]
                out += 1
    for m in range(begin, end):
        members[m] = room[m - begin]
    return middle, last
