"""The lightest separator between two sides of a graph of blocks, by the flow of greatest value.

A separator parts a set of blocks in three, the *near* side, the separator and the *far* side, so that no block of the
near side has a neighbour on the far one. Its weight is the number of its unknowns. By the theorem of Menger and of Ford
and Fulkerson (L. R. Ford and D. R. Fulkerson, Maximal flow through a network, Canadian Journal of Mathematics 8, 1956)
the lightest one between given blocks is found by a flow: each block is two nodes, *in* and *out*, with an arc between
them whose capacity is the block's weight, and neighbours are joined out → in by arcs without a limit. With 1 for what
the source reaches, a block is near if (in, out) = (1, 1), in the separator if (1, 0), and far if (0, 0).

What is eliminated after a block of the separator is in the separator, too: if c waits for b (`ordering.waits_for`),
then b in the separator needs c there. That is said by arcs in(b) → in(c) and out(c) → out(b), which take the place of
those between the two. So the weight counts the rows that a cut through a rod keeps waiting.

Flows are found by phases of shortest ways (E. A. Dinic, Algorithm for solution of a problem of maximum flow in a
network with power estimation, Soviet Mathematics Doklady 11, 1970). Each slot of the adjacency stands for an arc: slot
k of b, with c its neighbour, is in(b) → in(c) if c waits for b, out(b) → out(c) if b waits for c, and else out(b) →
in(c). Node 2 b is in(b), node 2 b + 1 is out(b). What is known of a flow is in an `order.Network`.
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import inlined, kernel

PLAIN_ARC, BEFORE, AFTER = 0, 1, 2
"""Type of an adjacency slot: neither waits; the neighbour waits for this block; this block waits for the neighbour."""
LIMITLESS = 1 << 40
"""More than any flow."""
SHARES = (0.25, 0.32, 0.38, 0.43, 0.47)
"""Parts of the weight that must be on either side, one after the other: the flow goes on from one to the next."""


@kernel
def find_twins(net):
    """``net.twin`` <- the slot of (c, b) for each slot (b, c)."""
    first, adjacent, owner, incoming = net.graph.first, net.graph.adjacent, net.owner, net.incoming
    cursor, slot_of = net.cursor, net.queue
    nb = len(first) - 1
    for b in range(nb):
        cursor[b] = np.int64(first[b])
        for k in range(np.int64(first[b]), np.int64(first[b + 1])):
            owner[k] = b
    for k in range(np.int64(first[nb])):
        c = adjacent[k]
        incoming[cursor[c]] = k
        cursor[c] += 1
    for c in range(nb):
        for k in range(np.int64(first[c]), np.int64(first[c + 1])):
            slot_of[adjacent[k]] = k
        for k in range(np.int64(first[c]), np.int64(first[c + 1])):
            net.twin[incoming[k]] = slot_of[owner[incoming[k]]]


@inlined
def step_to(v, i, net, own):
    """Node that can be reached from node v by its i-th arc with something left of its capacity, or -1; and that rest.

    Arc 0 is the one between the two nodes of the block, arc i that of its slot i - 1 or the way back along its twin's.
    """
    first, adjacent, style = net.graph.first, net.graph.adjacent, net.style
    b = v >> 1
    out = v & 1
    if i == 0:
        if out == 1:
            return v - 1, LIMITLESS
        left = net.weight[b] - net.through[b]
        return (v + 1, left) if left > 0 else (np.int64(-1), np.int64(0))
    k = np.int64(first[b]) + i - 1
    c = np.int64(adjacent[k])
    if net.inside[c] != own:
        return np.int64(-1), np.int64(0)
    kind = style[k]
    back = net.flow[net.twin[k]]
    if kind == PLAIN_ARC:
        if out == 1:
            return 2 * c, LIMITLESS
        return (2 * c + 1, back) if back > 0 else (np.int64(-1), np.int64(0))
    if kind == BEFORE:
        if out == 0:
            return 2 * c, LIMITLESS
        return (2 * c + 1, back) if back > 0 else (np.int64(-1), np.int64(0))
    if out == 1:
        return 2 * c + 1, LIMITLESS
    return (2 * c, back) if back > 0 else (np.int64(-1), np.int64(0))


@inlined
def step_from(v, i, net, own):
    """Node from which node v can be reached by the arc of `step_to` taken backwards, or -1."""
    first, adjacent, style = net.graph.first, net.graph.adjacent, net.style
    b = v >> 1
    out = v & 1
    if i == 0:
        if out == 0:
            return v + 1
        return v - 1 if net.weight[b] > net.through[b] else np.int64(-1)
    k = np.int64(first[b]) + i - 1
    c = np.int64(adjacent[k])
    if net.inside[c] != own:
        return np.int64(-1)
    kind = style[k]
    if kind == PLAIN_ARC:
        if out == 0:
            return 2 * c + 1
        return 2 * c if net.flow[k] > 0 else np.int64(-1)
    if kind == BEFORE:
        if out == 1:
            return 2 * c + 1
        return 2 * c if net.flow[k] > 0 else np.int64(-1)
    if out == 0:
        return 2 * c
    return 2 * c + 1 if net.flow[k] > 0 else np.int64(-1)


@kernel
def find_levels(net, own, members, begin, end):
    """Least number of arcs from the source to each node, -1 where there is no way; returns whether the sink has one."""
    first, side, level, queue = net.graph.first, net.side, net.level, net.queue
    tail = 0
    for m in range(begin, end):
        b = np.int64(members[m])
        level[2 * b] = -1
        level[2 * b + 1] = -1
        if side[b] == 1:
            level[2 * b] = 0
            queue[tail] = 2 * b
            tail += 1
    head = 0
    deepest = LIMITLESS
    while head < tail:
        v = np.int64(queue[head])
        head += 1
        if level[v] >= deepest:
            break
        b = v >> 1
        if v & 1 == 1 and side[b] == 2:
            deepest = level[v]
            continue
        for i in range(np.int64(first[b + 1]) - np.int64(first[b]) + 1):
            u, left = step_to(v, i, net, own)
            if u >= 0 and level[u] < 0:
                level[u] = level[v] + 1
                queue[tail] = u
                tail += 1
    return deepest < LIMITLESS


@kernel
def find_sink_side(net, own, members, begin, end):
    """``level[v]`` <- 1 for nodes from which the sink can be reached, else -1."""
    first, side, level, queue = net.graph.first, net.side, net.level, net.queue
    tail = 0
    for m in range(begin, end):
        b = np.int64(members[m])
        level[2 * b] = -1
        level[2 * b + 1] = -1
        if side[b] == 2:
            level[2 * b + 1] = 1
            queue[tail] = 2 * b + 1
            tail += 1
    head = 0
    while head < tail:
        v = np.int64(queue[head])
        head += 1
        b = v >> 1
        for i in range(np.int64(first[b + 1]) - np.int64(first[b]) + 1):
            u = step_from(v, i, net, own)
            if u >= 0 and level[u] < 0:
                level[u] = 1
                queue[tail] = u
                tail += 1


@kernel
def push_along_levels(net, own, members, begin, end):
    """Send what can go by shortest ways; returns how much went."""
    first, side, level, cursor, path = net.graph.first, net.side, net.level, net.cursor, net.path
    sent = 0
    for m in range(begin, end):
        b = np.int64(members[m])
        cursor[2 * b] = 0
        cursor[2 * b + 1] = 0
    for m in range(begin, end):
        b = np.int64(members[m])
        if side[b] != 1:
            continue
        path[0] = 2 * b
        depth = 0
        while True:
            v = np.int64(path[depth])
            b = v >> 1
            if v & 1 == 1 and side[b] == 2:
                most = LIMITLESS
                for k in range(depth):
                    u = np.int64(path[k])
                    _, left = step_to(u, cursor[u], net, own)
                    most = min(most, left)
                narrow = depth
                for k in range(depth - 1, -1, -1):
                    u = np.int64(path[k])
                    _, left = step_to(u, cursor[u], net, own)
                    if left == most:
                        narrow = k
                    c = u >> 1
                    i = cursor[u]
                    if i == 0:
                        net.through[c] += most if u & 1 == 0 else -most
                    else:
                        slot = np.int64(first[c]) + i - 1
                        kind = net.style[slot]
                        leaves_out = u & 1 == 1
                        if (kind == BEFORE) != leaves_out:
                            net.flow[slot] += most
                        else:
                            net.flow[net.twin[slot]] -= most
                sent += most
                depth = narrow
                continue
            arcs = np.int64(first[b + 1]) - np.int64(first[b]) + 1
            going = False
            while cursor[v] < arcs:
                u, left = step_to(v, cursor[v], net, own)
                if u >= 0 and level[u] == level[v] + 1:
                    going = True
                    break
                cursor[v] += 1
            if going:
                depth += 1
                path[depth] = u
            elif depth == 0:
                break
            else:
                depth -= 1
                cursor[path[depth]] += 1
    return sent


@kernel
def weigh_cut(net, members, begin, end, from_source):
    """Weights of near side, separator and far side by `level`: what the source reaches, or what reaches the sink."""
    near, cut, far = 0, 0, 0
    for m in range(begin, end):
        b = np.int64(members[m])
        state = side_of(net, b, from_source)
        if state == 1:
            near += net.weight[b]
        elif state == 2:
            far += net.weight[b]
        else:
            cut += net.weight[b]
    return near, cut, far


@inlined
def side_of(net, b, from_source):
    """1 near, 2 far, 0 in the separator; see `weigh_cut`."""
    into = (net.level[2 * b] >= 0) == from_source
    out = (net.level[2 * b + 1] >= 0) == from_source
    if into and out:
        return 1
    return 0 if into else 2


@kernel
def score(near, cut, far):
    """Estimate of the work with a separator: its weight, times what plane graphs of the sides' weights leave to do."""
    whole = float(near + cut + far)
    return cut * ((near / whole) ** 1.5 + (far / whole) ** 1.5)


@kernel
def lightest_separator(net, own, members, begin, end, least, found):
    """Improve on a separator of the set of blocks ``members[begin:end]``, which are in the order of a direction.

    The first ones are held on the near side and the last ones on the far side, more and more of them (`SHARES`); the
    flow goes on from one share to the next. Of the separators that are found the one of least `score` counts, if it is
    below `least`: then ``found[b]`` <- 1 near, 2 far, 0 separator. Returns the least score.
    """
    whole = 0
    for m in range(begin, end):
        b = np.int64(members[m])
        net.side[b] = 0
        net.through[b] = 0
        whole += net.weight[b]
        for k in range(np.int64(net.graph.first[b]), np.int64(net.graph.first[b + 1])):
            net.flow[k] = 0
    low, high = begin, end
    before, behind = 0, 0
    total = 0
    for share in SHARES:
        while low < high and before + net.weight[members[low]] <= share * whole:
            net.side[members[low]] = 1
            before += net.weight[members[low]]
            low += 1
        while low < high and behind + net.weight[members[high - 1]] <= share * whole:
            high -= 1
            net.side[members[high]] = 2
            behind += net.weight[members[high]]
        if low == begin or high == end:
            continue
        while find_levels(net, own, members, begin, end):
            total += push_along_levels(net, own, members, begin, end)
            if total * (1.0 - total / whole) ** 1.5 * 0.7071 >= least:
                return least
        for way in range(2):
            if way == 1:
                find_sink_side(net, own, members, begin, end)
            near, cut, far = weigh_cut(net, members, begin, end, way == 0)
            worth = score(near, cut, far)
            if near > 0 and far > 0 and worth < least:
                least = worth
                for m in range(begin, end):
                    b = np.int64(members[m])
                    found[b] = side_of(net, b, way == 0)
    return least
