"""A chain whose seams move in few modes: the same zones and seams with other nodes, and the way back to vertices."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sennit.elastostatics.chain.condensed import CondensedZone, Side
from sennit.elastostatics.chain.modes import seam_modes
from sennit.elastostatics.chain.system import SeamSystem, Solved
from sennit.validation import FloatArray

__all__ = ["FewModes", "Parts", "block_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Zones and the system of their seams."""

    zones: list[CondensedZone]
    system: SeamSystem


class FewModes:
    """`zones` whose seams, of the system `whole`, move in `count` modes each."""

    def __init__(
        self, zones: list[CondensedZone], whole: SeamSystem, pairs: list[tuple[int, int]],
        sides: list[tuple[int, int]], count: int,
    ) -> None:  # fmt: skip
        self._modes: list[FloatArray] = []
        """Φ of each seam."""
        fewer: list[list[Side]] = [list(zone.sides) for zone in zones]
        for pair, places in zip(pairs, sides, strict=True):
            blocks = [whole.moduli[z] * block_of(zones[z], place) for z, place in zip(pair, places, strict=True)]
            rest = [zones[z].sides[place].rest for z, place in zip(pair, places, strict=True)]
            modes = seam_modes(blocks[0], blocks[1], rest[0], min(count, len(rest[0])))
            self._modes.append(modes)
            for z, place, nodes in zip(pair, places, rest, strict=True):
                side = zones[z].sides[place]
                weights = modes if side.weights is None else side.weights @ modes
                at = np.linalg.lstsq(modes, nodes, rcond=None)[0].astype(np.float64)
                fewer[z][place] = Side(side.vertices, at, weights)
        self.zones = [CondensedZone(zone.greens, own) for zone, own in zip(zones, fewer, strict=True)]
        self.system = SeamSystem(self.zones, whole.moduli, pairs, sides)

    def whole(self, solved: Solved, system: SeamSystem) -> Solved:
        """A solution of `self.system` as one of the system of all seam nodes."""
        v, u = np.zeros(system.size), np.zeros(system.vector)
        few, many = self.system.plan.seams, system.plan.seams
        order, places = self.system.structure.order, {s: i for i, s in enumerate(system.structure.order)}
        turns = solved.turns.copy()
        for i, seam in enumerate(order):
            k, modes = places[seam], self._modes[seam]
            turns[k] = solved.turns[i]
            pairs = (
                (solved.v, v, few.at[i], many.at[k]),
                (solved.u, u, few.own[i], many.own[k]),
                (solved.u, u, few.other[i], many.other[k]),
            )
            for source, target, start, to in pairs:
                for axis in range(3):
                    a, b = int(start + axis * few.nodes[i]), int(to + axis * many.nodes[k])
                    target[b : b + len(modes)] = modes @ source[a : a + modes.shape[1]]
        return replace(solved, v=v, u=u, turns=turns, method="modes", sweeps=0, fallback=False)


def block_of(zone: CondensedZone, place: int) -> FloatArray:
    """Stiffness of a zone on one of its seams, (3n, 3n), by component and without padding."""
    at, nodes, real = int(zone.places[place]), zone.nodes[place], len(zone.sides[place].rest)
    rows = at + (nodes * np.arange(3)[:, None] + np.arange(real)).ravel()
    return np.asarray(zone.stiffness[np.ix_(rows, rows)])
