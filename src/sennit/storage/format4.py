"""Files of format 4, made into format 5: obstacles, rules of contact, what has met, and masses in the account."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.contact.rules import Rules
from sennit.storage.contact_file import described_law

__all__ = ["upgraded"]

Arrays = dict[str, NDArray[Any]]


def upgraded(description: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """Description and arrays of a file of format 4 as those of format 5: nothing touches."""
    none = {"obstacles": [], "default_law": described_law(Rules().default), "rules": [], "met": []}
    spin = arrays.get("account/groups.spin_kept")  # older ones have no accounts
    # Until it was measured, a step went on from no mass.
    added = {} if spin is None else {"account/groups.mass": np.zeros(len(spin))}
    return {**description, **none}, arrays | added
