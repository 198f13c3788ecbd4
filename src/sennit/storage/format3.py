"""Files of format 3, made into format 4: cables know what ran over their sheaves in the last step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["upgraded"]

Arrays = dict[str, NDArray[Any]]
RATES = ("rows.rest_rate", "rows.world_rate", "elements.spin")


def upgraded(description: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """Description and arrays of a file of format 3 as those of format 4."""
    arrays = dict(arrays)
    for name in list(arrays):
        prefix, _, field = name.rpartition("/")
        if field == "rows.tension":
            _name_runs(float(description["clock"][1]), arrays, prefix)
    return description, arrays


def _name_runs(last_step: float, arrays: Arrays, prefix: str) -> None:
    """What ran over sheaves and turned them in the last step (s) was kept as rates alone, and for one state."""
    ran, world, spin = (np.array(arrays[f"{prefix}/{name}"], float) for name in RATES)
    arrays[f"{prefix}/rows.ran_rate"] = ran
    arrays[f"{prefix}/rows.driven"] = last_step * (world - ran)
    arrays[f"{prefix}/rows.driven_rate"] = arrays[f"{prefix}/rows.driven_rate_last"] = world - ran
    arrays[f"{prefix}/elements.spin_last"], arrays[f"{prefix}/elements.turn_last"] = spin, last_step * spin
