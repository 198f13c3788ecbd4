"""Which seams meet in which zones: who owns a seam, the order of elimination, and the tables that the kernels read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sennit.elastostatics.chain.condensed import CondensedZone, by_component, padded
from sennit.elastostatics.chain.tables import Gaps, Links, Parts, Plan, Seams, Updates, Zones
from sennit.elastostatics.surface import IntArray
from sennit.tables import Table
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
    """Where everything of a system of seams stands."""

    order: list[int]
    """Seams as the caller numbers them, in order of elimination."""
    owned: list[int]
    """For each seam, as the caller numbers them: whether the first (0) or the second (1) of its zones owns it."""
    plan: Plan
    """What the kernels read."""
    unknowns: int
    """Length of vectors of seams."""
    zone_axes: int
    """Length of vectors of zones."""
    matrix_numbers: int
    """Numbers of all zones' matrices."""
    panel_numbers: int
    """Numbers of all panels."""
    fill: int
    """Blocks below the diagonals that only elimination fills."""


def build(zones: list[CondensedZone], pairs: list[tuple[int, int]], sides: list[tuple[int, int]]) -> Structure:
    """The structure of `zones` joined by seams between `pairs` of them, seam s being side ``sides[s]`` of its zones."""
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
    zone_table = Zones(rows=len(zones))
    zone_table.size[:] = [zone.size for zone in zones]
    zone_table.vector[:] = _places(zone_table.size)
    zone_table.matrix[:] = _places(zone_table.size**2)
    seams = Seams(rows=count)
    rows_in: list[dict[int, int]] = []
    own_rest: list[FloatArray] = []
    other_rest: list[FloatArray] = []
    for k, s in enumerate(order):
        m = padded(real[s])
        begin, places = 3 * m, {}
        for q in sorted(below[k], key=rank.__getitem__):
            places[rank[q]] = begin
            begin += 3 * padded(real[q])
        rows_in.append(places)
        ends = [int(zone_table.vector[z] + zones[z].places[i]) for z, i in zip(pairs[s], sides[s], strict=True)]
        o = own[s]
        seams.nodes[k], seams.real[k], seams.height[k] = m, real[s], begin
        seams.own[k], seams.other[k] = ends[o], ends[1 - o]
        seams.owner[k], seams.guest[k] = pairs[s][o], pairs[s][1 - o]
        for rest, end in ((own_rest, o), (other_rest, 1 - o)):
            rest.append(by_component(zones[pairs[s][end]].sides[sides[s][end]].rest, m))
    seams.at[:] = _places(3 * seams.nodes)
    seams.panel[:] = _places(3 * seams.nodes * seams.height)
    parts, filled = _parts(seams, zone_table, of_zone, order, rows_in)
    blocks = [(k, q, begin) for k, places in enumerate(rows_in) for q, begin in places.items()]
    used = [block for block in blocks if block[:2] in filled]
    gaps = [
        {
            "at": int(seams.panel[k]) + begin,
            "height": int(seams.height[k]),
            "block_rows": 3 * int(seams.nodes[q]),
            "block_columns": 3 * int(seams.nodes[k]),
        }
        for k, q, begin in blocks
        if (k, q) not in filled
    ]
    plan = Plan(
        unknowns=3 * int(seams.nodes.sum()),
        seams=seams,
        zones=zone_table,
        parts=_filled(Parts(rows=len(parts)), parts),
        gaps=_filled(Gaps(rows=len(gaps)), gaps),
        filled=_links(used, [column for column, _, _ in used], count),
        across=_by_row(used, count),
        factored=_links(blocks, [column for column, _, _ in blocks], count),
        updates=_updates(seams, rows_in),
    )
    plan.own_rest[:] = np.concatenate(own_rest)
    plan.other_rest[:] = np.concatenate(other_rest)
    vector, matrix = int(zone_table.size.sum()), int((zone_table.size**2).sum())
    panel = int((3 * seams.nodes * seams.height).sum())
    return Structure(order, own, plan, len(plan.own_rest), vector, matrix, panel, len(gaps))


def _places(sizes: IntArray) -> IntArray:
    """Where each of some things begins that stand one after another."""
    return np.asarray(np.cumsum(sizes) - sizes)


Block = tuple[int, int, int]
"""A block below a diagonal: seam of its column, seam of its row, row of the panel in which it begins."""


def _links(blocks: Sequence[Block], keys: Sequence[int], count: int) -> Links:
    """`blocks` sorted by the seams `keys`, of which there are `count`."""
    links = Links(blocks=len(blocks), ends=count + 1)
    for e, (column, row, begin) in enumerate(blocks):
        links.column[e], links.row[e], links.begin[e] = column, row, begin
    links.starts[:] = _starts(keys, count)
    return links


def _by_row(blocks: Sequence[Block], count: int) -> Links:
    by_row = sorted(blocks, key=lambda block: (block[1], block[0]))
    return _links(by_row, [row for _, row, _ in by_row], count)


def _parts(
    seams: Seams, zones: Zones, of_zone: list[list[int]], order: list[int], rows_in: list[dict[int, int]]
) -> tuple[list[dict[str, int]], set[tuple[int, int]]]:
    """What each zone adds to blocks below diagonals, and those blocks (column seam, row seam)."""
    rank = {s: k for k, s in enumerate(order)}
    found: dict[tuple[int, int], list[dict[str, int]]] = {}
    for z, members in enumerate(of_zone):
        vector, size, matrix = int(zones.vector[z]), int(zones.size[z]), int(zones.matrix[z])
        ranks = sorted(rank[s] for s in members)
        for i, p in enumerate(ranks):
            for q in ranks[i + 1 :]:
                ends, turns = [], []
                for k in (q, p):
                    owner = seams.owner[k] == z
                    ends.append(int((seams.own if owner else seams.other)[k]) - vector)
                    turns.append(-1 if owner else k)
                part = {
                    "to": int(seams.panel[p]) + rows_in[p][q],
                    "to_height": int(seams.height[p]),
                    "source": matrix + ends[1] * size + ends[0],
                    "source_size": size,
                    "row_nodes": int(seams.nodes[q]),
                    "column_nodes": int(seams.nodes[p]),
                    "left": turns[0],
                    "right": turns[1],
                }
                found.setdefault((p, q), []).append(part)
    parts = []
    for block in sorted(found):
        constant = all(max(part["left"], part["right"]) < 0 for part in found[block])
        parts += [part | {"first": int(k == 0), "constant": int(constant)} for k, part in enumerate(found[block])]
    return parts, set(found)


def _updates(seams: Seams, rows_in: list[dict[int, int]]) -> Updates:
    """The products of blocks that eliminating each panel takes from later ones."""
    rows: list[dict[str, int]] = []
    panels: list[int] = []
    for p, places in enumerate(rows_in):
        for r, r_begin in places.items():
            for q, q_begin in places.items():
                if q < r:
                    continue
                panels.append(p)
                rows.append(
                    {
                        "q_begin": q_begin,
                        "r_begin": r_begin,
                        "target": int(seams.panel[r]) + (0 if q == r else rows_in[r][q]),
                        "target_height": int(seams.height[r]),
                        "q_size": 3 * int(seams.nodes[q]),
                        "r_size": 3 * int(seams.nodes[r]),
                        "lower": int(q == r),
                    }
                )
    updates = _filled(Updates(products=len(rows), ends=len(seams) + 1), rows)
    updates.starts[:] = _starts(panels, len(seams))
    return updates


Some = TypeVar("Some", bound=Table)


def _filled(table: Some, rows: Iterable[dict[str, int]]) -> Some:
    """The table with its rows filled by the names of their fields."""
    for k, row in enumerate(rows):
        for name, value in row.items():
            getattr(table, name)[k] = value
    return table


def _starts(keys: Sequence[int], count: int) -> IntArray:
    return np.searchsorted(np.array(keys, dtype=np.int64), np.arange(count + 1)).astype(np.int64)


def flops(structure: Structure) -> int:
    """Multiplications of one direct factorisation: panels' triangles and rows below them, and products."""
    seams, updates = structure.plan.seams, structure.plan.updates
    n, height = 3 * seams.nodes, seams.height
    total = int((n**3 // 6 + n * n * (height - n) // 2).sum())
    of_panel = np.repeat(n, np.diff(updates.starts))
    return total + int((of_panel * updates.q_size * updates.r_size // np.where(updates.lower, 2, 1)).sum())
