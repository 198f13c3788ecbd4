"""Scissors: rods are cut at several places at once, as a stroke across them does."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sennit.bodies.rod.rod import Rod
from sennit.errors import InputError

__all__ = ["cut_rods"]


def cut_rods(places: Iterable[tuple[Rod, float]]) -> list[str]:
    """Cut rods at rest lengths, m, that are counted along them as they are now; why some could not be cut is returned.

    Raises `InputError`, and changes nothing, if none could be.
    """
    by_rod: dict[Rod, list[float]] = {}
    for rod, s in places:
        by_rod.setdefault(rod, []).append(s)
    refused: list[str] = []
    done = 0
    for rod, lengths in by_rod.items():
        left = sorted(lengths)
        while left:
            s = left.pop()  # from the end on: the rod itself is the piece at its start, where the others are
            begin = float(rod.knots[np.argmin(np.abs(rod.knots - s))]) if rod.closed else 0.0
            around = rod.length if rod.closed else 0.0
            try:
                rod.cut(min(s, rod.length))
            except InputError as problem:
                refused.append(f"{rod.name} was not cut: {problem}")
                continue
            done += 1
            if around:  # it begins at the cut now
                left = sorted((other - begin) % around for other in left)
    if not done:
        raise InputError("; ".join(dict.fromkeys(refused)) or "there is nothing to cut")
    return list(dict.fromkeys(refused))
