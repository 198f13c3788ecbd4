"""Which seams meet in which zones: who owns a seam, the order of elimination, and the tables that the kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sennit.elastostatics.chain.condensed import CondensedZone, by_component, padded
from sennit.elastostatics.chain.kernels.blocks import HEIGHT, NODES, OTHER, OWN, OWNER, PANEL
from sennit.elastostatics.surface import IntArray
from sennit.validation import FloatArray

__all__ = ["Structure", "build", "eliminated", "flops", "owners"]


def owners(pairs: list[tuple[int, int]], sizes: list[int], count: int) -> list[int]:
    """The zone (0: first, 1: second of its pair) in whose frame each seam's unknowns are.

    What a zone owns on all its seams need not be turned. In a tree zones take turns, owners every second one, so that a
    seam has one of each; of the two ways the one with less to turn is taken. Where a ring has an odd number of zones
    some seams have two zones of a kind: their first one owns them.
    """
    kind = [-1] * count
    links: list[list[int]] = [[] for _ in range(count)]
    for a, b in pairs:
        links[a].append(b)
        links[b].append(a)
    result = [0] * len(pairs)
    for root in range(count):
        if kind[root] >= 0:
            continue
        kind[root] = 0
        members, pending = {root}, [root]
        while pending:
            zone = pending.pop()
            for other in links[zone]:
                if kind[other] < 0:
                    kind[other] = 1 - kind[zone]
                    members.add(other)
                    pending.append(other)
        work = [0, 0]
        for zone in members:
            size = sum(m for m, pair in zip(sizes, pairs, strict=True) if zone in pair)
            work[kind[zone]] += size * size
        owning = 0 if work[1] <= work[0] else 1
        for s, (a, _) in enumerate(pairs):
            if a in members:
                result[s] = 0 if kind[a] == owning else 1
    return result


def eliminated(neighbours: list[set[int]]) -> tuple[list[int], list[list[int]]]:
    """Order by least fill, and which seams stand below each one's diagonal when it is eliminated.

    In a tree of zones the seams of a zone are all joined to each other and nothing else is: there is always one whose
    elimination joins nothing new, and the work is linear in the number of zones.
    """
    graph = [set(entry) for entry in neighbours]
    left = set(range(len(graph)))
    missing = [_unjoined(graph, s) for s in range(len(graph))]
    order: list[int] = []
    below: list[list[int]] = []
    while left:
        s = min(left, key=lambda k: (missing[k], len(graph[k]), k))
        left.remove(s)
        order.append(s)
        around = sorted(graph[s])
        below.append(around)
        for q in around:
            graph[q].discard(s)
            graph[q].update(r for r in around if r != q)
        # Links among neighbours change what their neighbours lack, too.
        for q in set(around).union(*(graph[q] for q in around)):
            missing[q] = _unjoined(graph, q)
    return order, below


def _unjoined(graph: list[set[int]], s: int) -> int:
    """Pairs of neighbours of s that are not joined."""
    around = graph[s]
    return sum(len(around - graph[q]) - 1 for q in around)


@dataclass(frozen=True, eq=False)
class Structure:
    """The tables of a system of seams; see the kernels for their columns."""

    order: list[int]
    """Seams as the caller numbers them, in order of elimination."""
    owned: list[int]
    """For each seam, as the caller numbers them: whether the first (0) or the second (1) of its zones owns it."""
    tables: tuple[IntArray, ...]
    """seams, zones, parts, empty, below and its starts (blocks that zones fill), the same by row, below and its starts
    (with blocks filled in), updates and their starts."""
    rest: tuple[FloatArray, FloatArray]
    """Rest places of the seams' nodes in the frames of owner and other zone, by component."""
    sizes: tuple[int, int, int, int]
    """Lengths of vectors of seams, of vectors of zones, of the matrices and of the panels."""
    fill: int
    """Blocks below the diagonals that only elimination fills."""


def build(zones: list[CondensedZone], pairs: list[tuple[int, int]], sides: list[tuple[int, int]]) -> Structure:
    """Tables for `zones` joined by seams between `pairs` of them, seam s being side ``sides[s]`` of its two zones."""
    count = len(pairs)
    real = [len(zones[a].sides[i].rest) for (a, _), (i, _) in zip(pairs, sides, strict=True)]
    near: list[set[int]] = [set() for _ in pairs]
    of_zone: list[list[int]] = [[s for s, pair in enumerate(pairs) if z in pair] for z in range(len(zones))]
    for members in of_zone:
        for s in members:
            near[s].update(q for q in members if q != s)
    order, below = eliminated(near)
    rank = {s: k for k, s in enumerate(order)}
    own = owners(pairs, real, len(zones))
    zone_table = np.zeros((len(zones), 3), dtype=np.int64)
    vector = matrix = 0
    for z, zone in enumerate(zones):
        zone_table[z] = vector, zone.size, matrix
        vector += zone.size
        matrix += zone.size**2
    seams = np.zeros((count, 9), dtype=np.int64)
    rows_in: list[dict[int, int]] = []
    at = panel = 0
    rest: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for k, s in enumerate(order):
        m = padded(real[s])
        begin, places = 3 * m, {}
        for q in sorted(below[k], key=rank.__getitem__):
            places[rank[q]] = begin
            begin += 3 * padded(real[q])
        rows_in.append(places)
        ends = [int(zone_table[z, 0] + zones[z].places[i]) for z, i in zip(pairs[s], sides[s], strict=True)]
        o = own[s]
        seams[k] = m, at, panel, begin, ends[o], ends[1 - o], pairs[s][o], pairs[s][1 - o], real[s]
        for frame, end in ((0, o), (1, 1 - o)):
            rest[frame].append(by_component(zones[pairs[s][end]].sides[sides[s][end]].rest, m))
        at += 3 * m
        panel += 3 * m * begin
    parts, filled = _parts(seams, zone_table, of_zone, order, rows_in)
    whole = [(k, q, begin) for k, places in enumerate(rows_in) for q, begin in places.items()]
    used = [entry for entry in whole if entry[:2] in filled]
    empty = [
        (seams[k, PANEL] + begin, seams[k, HEIGHT], 3 * seams[q, NODES], 3 * seams[k, NODES])
        for k, q, begin in whole
        if (k, q) not in filled
    ]
    by_row = sorted(used, key=lambda entry: (entry[1], entry[0]))
    updates = _updates(seams, rows_in)
    tables = (
        seams, zone_table, _table(parts, 10), _table(empty, 4),
        _table(used, 3), _starts([entry[0] for entry in used], count),
        _table(by_row, 3), _starts([entry[1] for entry in by_row], count),
        _table(whole, 3), _starts([entry[0] for entry in whole], count),
        _table(updates, 8), _starts([entry[0] for entry in updates], count),
    )  # fmt: skip
    frames = (np.concatenate(rest[0]), np.concatenate(rest[1]))
    return Structure(order, own, tables, frames, (at, vector, matrix, panel), len(empty))


def _parts(
    seams: IntArray, zones: IntArray, of_zone: list[list[int]], order: list[int], rows_in: list[dict[int, int]]
) -> tuple[list[tuple[int, ...]], set[tuple[int, int]]]:  # fmt: skip
    """What each zone adds to blocks below diagonals, and those blocks (column seam, row seam)."""
    rank = {s: k for k, s in enumerate(order)}
    found: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    for z, members in enumerate(of_zone):
        vector, size, matrix = (int(entry) for entry in zones[z])
        ranks = sorted(rank[s] for s in members)
        for i, p in enumerate(ranks):
            for q in ranks[i + 1 :]:
                ends, turns = [], []
                for k in (q, p):
                    owner = seams[k, OWNER] == z
                    ends.append(int(seams[k, OWN if owner else OTHER]) - vector)
                    turns.append(-1 if owner else k)
                to = int(seams[p, PANEL]) + rows_in[p][q]
                of = matrix + ends[1] * size + ends[0]
                nodes = int(seams[q, NODES]), int(seams[p, NODES])
                found.setdefault((p, q), []).append((to, int(seams[p, HEIGHT]), of, size, *nodes, *turns))
    parts = []
    for block in sorted(found):
        constant = all(max(part[6:8]) < 0 for part in found[block])
        parts += [(*part, int(k == 0), int(constant)) for k, part in enumerate(found[block])]
    return parts, set(found)


def _updates(seams: IntArray, rows_in: list[dict[int, int]]) -> list[tuple[int, ...]]:
    """The products of blocks that eliminating each panel takes from later ones."""
    result: list[tuple[int, ...]] = []
    for p, places in enumerate(rows_in):
        for r, r_begin in places.items():
            for q, q_begin in places.items():
                if q < r:
                    continue
                target = int(seams[r, PANEL]) + (0 if q == r else rows_in[r][q])
                result.append((p, q_begin, r_begin, target, int(seams[r, HEIGHT]), 3 * int(seams[q, NODES]),
                               3 * int(seams[r, NODES]), int(q == r)))  # fmt: skip
    return result


def _table(rows: Sequence[tuple[int, ...]], columns: int) -> IntArray:
    return np.array(rows, dtype=np.int64).reshape(-1, columns)


def _starts(keys: list[int], count: int) -> IntArray:
    return np.searchsorted(np.array(keys, dtype=np.int64), np.arange(count + 1)).astype(np.int64)


def flops(structure: Structure) -> int:
    """Multiplications of one direct factorisation: panels' triangles and rows below them, and products."""
    seams, updates = structure.tables[0], structure.tables[10]
    total = 0
    for seam in seams:
        n, height = 3 * int(seam[NODES]), int(seam[HEIGHT])
        total += n**3 // 6 + n * n * (height - n) // 2
    for entry in updates:
        n = 3 * int(seams[entry[0], NODES])
        total += n * int(entry[5]) * int(entry[6]) // (2 if entry[7] else 1)
    return total
