"""Files of format 2, made into format 3.

Rows that hold a direction name it; rows have a closing speed and a lead; cables know what elongation was paid for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.kernels.rows import ANGULAR, TILT, TRAITS

__all__ = ["upgraded"]

Arrays = dict[str, NDArray[Any]]


def upgraded(description: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """Description and arrays of a file of format 2 as those of format 3."""
    arrays = dict(arrays)
    first = len(description["bodies"])
    for i in range(len(description["constraints"])):
        kinds = arrays.get(f"constraint/{i}/rows.kind")
        if kinds is None:
            continue  # a cable
        turning = np.array([kind in range(len(TRAITS)) and TRAITS[kind] & ANGULAR for kind in kinds.tolist()], bool)
        for prefix in (f"constraint/{i}/rows.", f"state/{first + i}/"):
            arrays[f"{prefix}closing"] = np.where(turning, *AbstractConstraint._closing_speeds[::-1])
            _name_directions(kinds, arrays, prefix)
    for name in list(arrays):
        prefix, _, field = name.rpartition("/")
        if prefix.startswith("state/") and field == "multiplier":
            rows = len(arrays[name])
            arrays.setdefault(f"{prefix}/closing", np.full(rows, AbstractConstraint._closing_speeds[0]))
            arrays[f"{prefix}/ahead"] = np.zeros(rows)
            arrays[f"{prefix}/acted"] = np.array(arrays[f"{prefix}/enabled"])
        if field == "rows.tension":
            # all that a cable was stretched by counts as paid for
            arrays[f"{prefix}/rows.paid"] = np.full(len(arrays[name]), np.inf)
    return description, arrays


def _name_directions(kinds: NDArray[Any], arrays: Arrays, prefix: str) -> None:
    """A direction was told by the two across it alone: they come in pairs, right-handed."""
    axis, zero = arrays[f"{prefix}axis"], np.array(arrays[f"{prefix}zero"])
    tilted = np.flatnonzero(kinds == TILT)
    for a, b in zip(tilted[::2].tolist(), tilted[1::2].tolist(), strict=True):
        zero[a] = zero[b] = np.cross(axis[a], axis[b])
    arrays[f"{prefix}zero"] = zero
