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
    carrier = whole(PLAN, "rigid body that carries it; −1: none")
    carrier_dof = whole(PLAN, "where the carrier's degrees of freedom begin")
    point = whole(PLAN, "point of the world that carries it; −1: none")
    heavy = whole(PARAMETER, "1 if gravity acts on it")
    number_first = whole(PLAN, "where its places begin in `borne`")
    borne = number(PARAMETER, "B of `heft`: weight that the places bear, kg", 3, of="numbers")
    give = number(PARAMETER, "A of `heft`: first moment of what its weight displaces between the places, kg s²", 9)
    place_size = whole(PLAN, "degrees of freedom of each place of all zones: 3, or 6 with an area", of="places")
