"""Patterns and matrices for the tests of the factorisation."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass
class System:
    """Blocks and pairs of coupled blocks; `matrix` gives entries and values of a random matrix of that pattern."""

    start: list[int] = field(default_factory=lambda: [0])
    kind: list[int] = field(default_factory=list)
    pairs: list[tuple[int, int]] = field(default_factory=list)

    @property
    def n(self) -> int:
        return self.start[-1]

    def block(self, size: int, kind: int) -> int:
        self.start.append(self.n + size)
        self.kind.append(kind)
        self.pairs.append((len(self.kind) - 1, len(self.kind) - 1))
        return len(self.kind) - 1

    def rod(self, points: int, *, closed: bool = False) -> list[int]:
        """Control points of four unknowns, each coupled to the next three."""
        blocks = [self.block(4, 0) for _ in range(points)]
        for i in range(points):
            for k in range(1, 4):
                if closed or i + k < points:
                    self.pairs.append((blocks[i], blocks[(i + k) % points]))
        return blocks

    def rows(self, size: int, blocks: list[int]) -> int:
        """Constraint rows on `blocks`."""
        b = self.block(size, 1)
        self.pairs.extend((b, other) for other in blocks)
        return b

    def kinds(self) -> NDArray[np.int64]:
        return np.repeat(self.kind, np.diff(self.start))

    def matrix(self, seed: int = 0) -> tuple[NDArray[np.uint32], NDArray[np.uint32], Floats]:
        """Rows, columns and values: kind 0 diagonally dominant; rows, and sliders that have rows, zero diagonal."""
        rng = np.random.default_rng(seed)
        row, col = [], []
        for a, b in self.pairs:
            for i in range(self.start[a], self.start[a + 1]):
                for j in range(i if a == b else self.start[b], self.start[b + 1]):
                    if a != b or i == j or self.kind[a] == 0:
                        row.append(i)
                        col.append(j)
        r, c = np.array(row, np.uint32), np.array(col, np.uint32)
        kind = self.kinds()
        values = rng.uniform(-1.0, 1.0, len(r))
        primal = (kind[r] == 0) & (kind[c] == 0) & (r != c)
        dominant = np.ones(self.n)
        np.add.at(dominant, r[primal], abs(values[primal]))
        np.add.at(dominant, c[primal], abs(values[primal]))
        held = {b for pair in self.pairs for b in pair if self.kind[pair[0]] + self.kind[pair[1]] == 3}
        for b in range(len(self.kind)):
            if self.kind[b] == 1 or b in held:
                dominant[self.start[b] : self.start[b + 1]] = 0.0
            elif self.kind[b] == 2:
                dominant[self.start[b] : self.start[b + 1]] = 5.0
        values[r == c] = dominant[r[r == c]]
        return r, c, values


def dense(n: int, row: NDArray[np.uint32], col: NDArray[np.uint32], values: Floats) -> Floats:
    """The matrix of a list of entries; repeated ones are added."""
    a = np.zeros((n, n))
    np.add.at(a, (row, col), values)
    off = row != col
    np.add.at(a, (col[off], row[off]), values[off])
    return a


def bridge() -> System:
    """Four ropes of 20 control points, both ends fixed, and 21 distances between neighbouring ropes."""
    s = System()
    ropes = [s.rod(20) for _ in range(4)]
    for r in ropes:
        s.rows(3, r[:1])
        s.rows(3, r[-1:])
    for a, b in zip(ropes[:-1], ropes[1:], strict=True):
        for k in range(7):
            s.rows(1, a[2 + 2 * k : 6 + 2 * k] + b[2 + 2 * k : 6 + 2 * k])
    return s


def mixed() -> System:
    """Every kind of block: rods, rigid bodies, beads on sliders, a slider held by a row of its own, fixed ends."""
    s = System()
    a, b, ring = s.rod(9), s.rod(12), s.rod(8, closed=True)
    s.rows(3, a[:1])
    s.rows(6, [*a[-2:], *b[:2]])
    body = s.block(6, 0)
    s.rows(3, [*b[4:8], body])
    s.rows(5, [*ring[:4], body])
    slider, second, third = s.block(1, 2), s.block(1, 2), s.block(1, 2)
    s.rows(3, [*b[6:10], *ring[3:7], slider])
    s.rows(2, [*a[2:6], slider, second])
    s.rows(3, [*a[3:7], body, third])
    s.rows(1, [third])  # no neighbour of kind 0: only after the slider
    sprung = s.block(1, 2)
    s.pairs.append((b[3], sprung))
    return s


def ladder(rungs: int) -> System:
    """Two ropes joined by one-row constraints at every span."""
    s = System()
    a, b = s.rod(rungs + 4), s.rod(rungs + 4)
    s.rows(3, a[:1])
    s.rows(3, b[:1])
    for i in range(rungs):
        s.rows(1, a[i : i + 4] + b[i : i + 4])
    return s


def net(ropes: int, points: int) -> System:
    """Ropes both ways, joined where they cross."""
    s = System()
    across = [s.rod(points) for _ in range(ropes)]
    along = [s.rod(points) for _ in range(ropes)]
    for i, h in enumerate(across):
        for j, v in enumerate(along):
            s.rows(3, h[1 + 2 * j : 5 + 2 * j] + v[1 + 2 * i : 5 + 2 * i])
    return s


def plane_net(ropes: int, gap: int = 2) -> System:
    """`ropes` each way with fixed ends, joined where they cross, `gap` control points from crossing to crossing."""
    s = System()
    points = gap * ropes + 4
    across = [s.rod(points) for _ in range(ropes)]
    along = [s.rod(points) for _ in range(ropes)]
    for rope in across + along:
        s.rows(3, rope[:1])
        s.rows(3, rope[-1:])
    for i, h in enumerate(across):
        for j, v in enumerate(along):
            s.rows(3, h[1 + gap * j : 5 + gap * j] + v[1 + gap * i : 5 + gap * i])
    return s


def tree(branches: int) -> System:
    """A trunk with branches of 25 control points, each fused to it by six rows."""
    s = System()
    trunk = s.rod(25 * branches)
    s.rows(3, trunk[:1])
    for k in range(branches):
        s.rows(6, [*s.rod(25)[:2], *trunk[25 * k + 10 : 25 * k + 14]])
    return s


def hinges(bodies: int, *, closed: bool = False) -> System:
    """A chain of rigid bodies with hinges of five rows between neighbours, held at its first or closed to a loop."""
    s = System()
    chain = [s.block(6, 0) for _ in range(bodies)]
    for one, next_one in zip(chain, chain[1:], strict=False):
        s.rows(5, [one, next_one])
    s.rows(5 if closed else 6, [chain[-1], chain[0]] if closed else chain[:1])
    return s
