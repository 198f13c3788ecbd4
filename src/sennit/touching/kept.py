"""What contact carries from one step to the next, in a form that outlives the tables of a scene.

Tables number bodies and shapes by what is in the scene; here everything is told by numbers in a list of things, and by
parts of them. `Kept.over` tells it by another list: of new tables, or of what is in a file.

Besides the forces there are the slots of the matrix: in which order it is eliminated depends on them, and the last bits
of a solution on that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.tables import STATE, Table, number, whole

__all__ = ["Kept", "KeptContacts", "KeptForces", "KeptSlots"]


class KeptForces(Table):
    """The forces that contacts remember: one row for each, in the order of `contact.table.Memory`."""

    first = whole(STATE, "number of the thing on the first side")
    second = whole(STATE, "number of the thing on the second side")
    feature = whole(STATE, "what of the first side touches, as in `Memory`")
    first_part = whole(STATE, "which of its shapes; of a rod 0")
    second_part = whole(STATE, "which of the second's shapes; of a rod what of it touches")
    stuck = whole(STATE, "1: it did not slide")
    normal = number(STATE, "force along the normal, N")
    force = number(STATE, "tangential force on the first side, world frame, N", 3)


class KeptSlots(Table):
    """Room in the matrix: one row for each slot, in their order."""

    first = whole(STATE, "number of the thing on the first side")
    second = whole(STATE, "number of the thing on the second side; -1: the world")
    first_at = whole(STATE, "first control point of the first side; 0 unless it is a rod")
    second_at = whole(STATE, "the same of the second")
    idle = whole(STATE, "steps for which it had no contact")


class KeptContacts(Table):
    """The contacts that the last step left, as `scene.contacts` shows them."""

    first = whole(STATE, "number of the thing on the first side")
    second = whole(STATE, "number of the thing on the second side")
    stuck = whole(STATE, "1: it does not slide")
    gap = number(STATE, "distance of the surfaces, m")
    position = number(STATE, "where, m", 3)
    normal = number(STATE, "unit vector from the second to the first", 3)
    force = number(STATE, "force on the first, N", 3)
    torque = number(STATE, "torque of rolling and twisting friction on the first, N·m", 3)
    slip = number(STATE, "way that the first has slid along the second, m", 3)


@dataclass(frozen=True, eq=False)
class Kept:
    """What contact carries on."""

    things: Sequence[Any]
    """What the numbers of things mean."""
    forces: KeptForces
    slots: KeptSlots
    contacts: KeptContacts
    last: NDArray[np.float64]
    """Of the last step: its deepest overlap, m, and its Newton steps."""
    room: int = 0
    """How many contacts there was room for."""

    @classmethod
    def nothing(cls) -> Kept:
        """Of a scene where nothing has touched yet."""
        return cls((), KeptForces(rows=0), KeptSlots(rows=0), KeptContacts(rows=0), np.zeros(2))

    def over(self, things: Sequence[Any]) -> Kept:
        """The same told by other numbers; what speaks of things that are not among `things` is left out."""
        to = {id(thing): i for i, thing in enumerate(things)}
        new = np.array([to.get(id(thing), -2) for thing in self.things] + [-1], np.int64)  # -1 stays -1
        forces, slots, contacts = (_renumbered(table, new) for table in (self.forces, self.slots, self.contacts))
        return Kept(things, forces, slots, contacts, self.last.copy(), self.room)


def _renumbered(table: Any, new: NDArray[np.int64]) -> Any:
    first, second = new[table.first], new[table.second]
    there = np.flatnonzero((first >= 0) & (second >= -1))
    made = type(table)(rows=len(there))
    for name, array in table.fields().items():
        getattr(made, name)[...] = array[there]
    made.first[:], made.second[:] = first[there], second[there]
    return made
