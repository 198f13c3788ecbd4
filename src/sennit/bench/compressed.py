"""A study: the compliance of a zone as a hierarchical matrix, beside the same numbers packed and in single precision.

Vertices are put into a binary tree of clusters. Two clusters that are farther apart than they are wide act on each
other smoothly, and their block of C is a product of thin matrices, found by random sampling and cut off at a tolerance
(W. Hackbusch, *Hierarchical Matrices*, Springer 2015, chapters 5 and 9; N. Halko, P. G. Martinsson, J. A. Tropp, SIAM
Review 53, 217–288, 2011, for the sampling). C is symmetric: one of two opposite blocks is kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import sennit as sn
from sennit.bench.table import Progress, Row, Table
from sennit.elastostatics.surface import IntArray
from sennit.validation import FloatArray

__all__ = ["Compressed", "compressed", "compression"]

LEAF = 32
"""Vertices in a cluster that is not divided."""
WIDE = 1.5
"""Clusters are apart if the smaller one is at most so many times as wide as their distance."""


@dataclass(slots=True)
class _Cluster:
    start: int
    stop: int
    low: FloatArray
    high: FloatArray
    parts: tuple[_Cluster, ...]

    @property
    def rows(self) -> slice:
        return slice(3 * self.start, 3 * self.stop)

    @property
    def width(self) -> float:
        return float(np.linalg.norm(self.high - self.low))


def _divided(places: FloatArray, order: IntArray, start: int, stop: int) -> _Cluster:
    """Halves along the longest edge of their box, again and again; `order` is sorted likewise."""
    some = places[order[start:stop]]
    low, high = some.min(axis=0), some.max(axis=0)
    if stop - start <= LEAF:
        return _Cluster(start, stop, low, high, ())
    axis = int((high - low).argmax())
    order[start:stop] = order[start:stop][np.argsort(some[:, axis], kind="stable")]
    middle = (start + stop) // 2
    parts = _divided(places, order, start, middle), _divided(places, order, middle, stop)
    return _Cluster(start, stop, low, high, parts)


def _thin(block: FloatArray, tolerance: float, rng: np.random.Generator) -> tuple[FloatArray, FloatArray] | None:
    """U, V with |B − U V| ≤ tolerance |B| (Frobenius); None if that would be no smaller."""
    whole = float(np.linalg.norm(block))
    count = 24
    most = block.size // sum(block.shape)
    while count < most:
        base, _ = np.linalg.qr(block @ rng.standard_normal((block.shape[1], count)))
        inner = base.T @ block
        left = whole * whole - float((inner * inner).sum())
        if left <= 0.25 * (tolerance * whole) ** 2 + 1e-15 * whole * whole:
            U, sizes, V = np.linalg.svd(inner, full_matrices=False)
            tails = np.sqrt(np.cumsum(sizes[::-1] ** 2))[::-1]
            rank = max(int((tails > 0.85 * tolerance * whole).sum()), 1)
            return (base @ U[:, :rank]) * sizes[:rank], np.ascontiguousarray(V[:rank])
        count *= 2
    return None


@dataclass(slots=True)
class Compressed:
    """A symmetric matrix (3n, 3n) of n places, by blocks of the lower half."""

    order: IntArray
    """Places in the order of the clusters."""
    dense: list[tuple[slice, slice, FloatArray]]
    """Rows, columns and numbers of blocks as they are."""
    thin: list[tuple[slice, slice, FloatArray, FloatArray]]
    """Rows, columns, U and V of those that are products."""

    @property
    def numbers(self) -> int:
        """How many are kept."""
        return sum(block.size for *_, block in self.dense) + sum(U.size + V.size for *_, U, V in self.thin)

    @property
    def rank(self) -> float:
        """Mean rank of the products, by rows."""
        weights = [U.shape[0] + V.shape[1] for *_, U, V in self.thin]
        return float(np.average([U.shape[1] for *_, U, _ in self.thin], weights=weights)) if self.thin else 0.0

    def times(self, places: IntArray, forces: FloatArray) -> FloatArray:
        """C f for forces (k, 3) on some of the places, (n, 3)."""
        at = np.empty_like(self.order)
        at[self.order] = np.arange(len(at))
        f, out = np.zeros(3 * len(at)), np.zeros(3 * len(at))
        where = at[places]
        f.reshape(-1, 3)[where] = forces
        loaded = np.zeros(len(at) + 1, dtype=np.int64)
        np.add.at(loaded, where + 1, 1)
        before = np.cumsum(loaded).tolist()

        def acts(part: slice) -> bool:
            return bool(before[part.stop // 3] > before[part.start // 3])

        for rows, columns, block in self.dense:
            if acts(columns):
                out[rows] += block @ f[columns]
            if rows != columns and acts(rows):
                out[columns] += f[rows] @ block
        for rows, columns, U, V in self.thin:
            if acts(columns):
                out[rows] += U @ (V @ f[columns])
            if acts(rows):
                out[columns] += (f[rows] @ U) @ V
        result = np.empty((len(at), 3))
        result[self.order] = out.reshape(-1, 3)
        return result


def compressed(compliance: FloatArray, places: FloatArray, tolerance: float) -> Compressed:
    """`compliance` (3n, 3n) of `places` (n, 3), to `tolerance` of each block in the mean."""
    order = np.arange(len(places))
    root = _divided(places, order, 0, len(places))
    rows = (3 * order[:, None] + np.arange(3)).ravel()
    rng = np.random.default_rng(0)
    result = Compressed(order, [], [])

    def add(a: _Cluster, b: _Cluster) -> None:
        apart = float(np.linalg.norm(np.maximum(np.maximum(a.low - b.high, b.low - a.high), 0.0)))
        far = min(a.width, b.width) <= WIDE * apart
        if far or not (a.parts and b.parts):
            block = compliance[np.ix_(rows[a.rows], rows[b.rows])]
            found = _thin(block, tolerance, rng) if far else None
            if found is None:
                result.dense.append((a.rows, b.rows, block))
            else:
                result.thin.append((a.rows, b.rows, *found))
            return
        if a is b:
            add(a.parts[0], a.parts[0])
            add(a.parts[1], a.parts[0])
            add(a.parts[1], a.parts[1])
            return
        for one in a.parts:
            for other in b.parts:
                add(one, other)

    add(root, root)
    return result


def _whole(matrix: Any, rows: IntArray, forces: Any) -> FloatArray:
    """Forces on some rows of a symmetric matrix, times it: (n, 3)."""
    return np.asarray(forces @ matrix[rows], dtype=np.float64).reshape(-1, 3)


def compression(
    progress: Progress, zone_of: Callable[[int], sn.Zone], counts: Sequence[int] = (600, 1200, 2500),
    tolerances: Sequence[float] = (1e-3, 1e-4, 1e-6), *, samples: int = 30,
) -> Table:  # fmt: skip
    """Size, error and time of the whole surface from forces at a patch of 30 vertices, by the ways to keep C."""
    rows = []
    for i, count in enumerate(counts):
        progress(f"Compression: {count:,} vertices", i / len(counts))
        zone = zone_of(count)
        greens = zone._greens
        C, places = greens.compliance, zone.vertices[greens.free]
        patch = np.argsort(np.linalg.norm(places - places[int(places[:, 2].argmax())], axis=1))[:30]
        forces = np.random.default_rng(0).normal(size=(30, 3)) * 0.2 - (0.0, 0.0, 1.0)
        picked = (3 * patch[:, None] + np.arange(3)).ravel()
        exact = (forces.ravel() @ C[picked]).reshape(-1, 3)
        single = C.astype(np.float32)
        few = forces.astype(np.float32).ravel()
        ways: list[tuple[str, Callable[[], FloatArray], float, dict[str, float]]] = [
            ("as it is", partial(_whole, C, picked, forces.ravel()), 8.0 * C.size, {}),
            ("lower half, single", partial(_whole, single, picked, few), 2.0 * (C.size + len(C)), {}),
        ]
        for tolerance in tolerances:
            begin = time.perf_counter()
            made = compressed(C, places, tolerance)
            spent = time.perf_counter() - begin
            told = {"rank": made.rank, "made in, s": spent}
            ways.append(
                (f"hierarchical, {tolerance:.0e}", partial(made.times, patch, forces), 8.0 * made.numbers, told)
            )
        for name, way, size, told in ways:
            off = float(np.abs(way() - exact).max() / np.abs(exact).max())
            spent_each = []
            for _ in range(samples):
                begin = time.perf_counter()
                way()
                spent_each.append(time.perf_counter() - begin)
            values = {"MB": size / 1e6, "KB a vertex": size / 1e3 / len(places), "error": off, **told}
            rows.append(Row.from_samples(f"{count:,}: {name}", spent_each, values=values))
    notes = ["the surface from forces at a patch of 30 vertices, in NumPy"]
    notes.append("single precision is timed as a whole matrix")
    return Table("Ways to keep a compliance", rows, notes=notes)
