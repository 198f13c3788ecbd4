"""Files of format 4, made into format 5: obstacles, rules of contact, what has met, and masses in the account."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.constraints.cable.winch import FREE
from sennit.contact.rules import Rules
from sennit.storage.contact_file import described_law

__all__ = ["upgraded", "with_stiffness_along", "with_winches"]

Arrays = dict[str, NDArray[Any]]
_BEND = ("bend", 1), ("bend", 2), ("twist", "")


def upgraded(description: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """Description and arrays of a file of format 4 as those of format 5: nothing touches."""
    none = {"obstacles": [], "default_law": described_law(Rules().default), "rules": [], "met": []}
    spin = arrays.get("account/groups.spin_kept")  # older ones have no accounts
    # Until it was measured, a step went on from no mass.
    added = {} if spin is None else {"account/groups.mass": np.zeros(len(spin))}
    return {**description, **none}, arrays | added


def with_stiffness_along(arrays: Arrays) -> Arrays:
    """The arrays with stiffness and relaxation time at each point of a rod: they were the rod's own at first."""
    made = dict(arrays)
    for name in arrays:
        prefix, _, field = name.rpartition("/")
        if field != "rods.stretch_stiffness":
            continue
        bends, stretches = np.shape(arrays[f"{prefix}/bend_u"]), np.shape(arrays[f"{prefix}/stretch_u"])
        bend = [np.asarray(arrays[f"{prefix}/rods.{kind}_stiffness{k}"], float) for kind, k in _BEND]
        time = np.asarray(arrays[f"{prefix}/rods.relaxation"], float)
        made[f"{prefix}/bends.stiffness"] = np.tile(np.column_stack(bend), (*bends, 1))
        made[f"{prefix}/stretches.stiffness"] = np.tile(np.asarray(arrays[name], float), stretches)
        made[f"{prefix}/bends.relaxation"], made[f"{prefix}/stretches.relaxation"] = (
            np.tile(time, shape) for shape in (bends, stretches)
        )
    return made


def with_winches(arrays: Arrays) -> Arrays:
    """The arrays with the tension that each winch keeps: none, at first."""
    winches = [name for name in arrays if name.endswith("/cables.max_pull")]
    return {name.replace("max_pull", "pull"): np.full(np.shape(arrays[name]), FREE) for name in winches} | arrays
