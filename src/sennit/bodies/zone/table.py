"""The table of zones as bodies of a scene."""

from __future__ import annotations

from sennit.tables import PARAMETER, PLAN, Table, number, whole

__all__ = ["Zones"]


class Zones(Table):
    """One row for each zone whose places something holds."""

    dof = whole(PLAN, "first degree of freedom of its places")
    count = whole(PLAN, "how many")
    block = whole(PLAN, "where its block begins in the matrix")
    stiffness_first = whole(PLAN, "where its stiffness begins in `stiffness`")
    relaxation = number(PARAMETER, "relaxation time, s")
    stiffness = number(PARAMETER, "stiffnesses K of the places, zone after zone, row by row, N/m", of="entries")
    place_size = whole(PLAN, "degrees of freedom of each place of all zones: 3, or 6 with an area", of="places")
