"""The tables of felt contact: the skin that can be touched, what its zones answer, and one contact of a probe."""

from __future__ import annotations

from sennit.tables import PARAMETER, PLAN, STATE, WORK, Table, number, whole

__all__ = ["FeltContact", "FeltPart", "FeltPatch", "FeltSkin"]


class FeltSkin(Table):
    """The vertices that can be touched, of all zones, those of a seam once."""

    zone = whole(PLAN, "zone that each belongs to")
    slot = whole(PLAN, "its place among the free ones of that zone, −1 for fixed ones")
    place = number(PLAN, "undeformed, in the zone's frame, m", 3)
    normal = number(PLAN, "unit, outward, in the zone's frame", 3)


class FeltPart(Table):
    """What one zone answers, at E = 1."""

    compliance = number(PLAN, "C⁰ with the seams held still, m/N times Pa; row 3 slot + axis", "axes", of="axes")
    influence = number(PLAN, "P: displacements over those of the seams' nodes", "columns", of="axes")


class FeltPatch(Table):
    """The share of a patch that lies in one zone, in that zone's frame."""

    weight = number(WORK, "sum of the weights")
    place = number(WORK, "Σ w x of the undeformed vertices, m", 3)
    normal = number(WORK, "Σ w n", 3)
    compliance = number(WORK, "Σ w w C⁰, m/N times Pa", 3, 3)
    influence = number(WORK, "Σ w P", 3, "columns")


class FeltContact(Table):
    """One contact of a probe that a spring and a damper hold to a hand, in the world."""

    stiffness = number(PARAMETER, "k of the coupling, N/m")
    damping = number(PARAMETER, "b of the coupling, N·s/m")
    friction = number(PARAMETER, "μ between probe and skin")
    step = number(PARAMETER, "time since the hand was where it was, s")
    enters = whole(PARAMETER, "1: the probe is inside, so that a plane that it has crossed is one that it touches")
    hand = number(PARAMETER, "where the hand is, m", 3)
    compliance = number(PARAMETER, "C of the patch, m/N", 3, 3)
    former_compliance = number(PARAMETER, "C there at the poses of the step before, m/N", 3, 3)
    centre = number(PARAMETER, "a: where the patch is if nothing touches it, m", 3)
    former = number(PARAMETER, "where it was at the poses of the step before, m", 3)
    normal = number(PARAMETER, "n: outward, unit", 3)
    hand_before = number(STATE, "where the hand was, m", 3)
    tip = number(STATE, "where the probe is, m", 3)
    touching = whole(STATE, "1 if it touches")
    budget = number(STATE, "work that hand and bones have done so far and not got back, J")
    share = number(STATE, "γ: part of the force that may be felt so that the budget lasts")
    force = number(WORK, "of the probe on the skin, N, as the hand feels its opposite", 3)
    slip = number(WORK, "δ: how far the probe slid along the skin, m", 3)
    stored = number(WORK, "energy in skin and spring as far as it can come back, J")
