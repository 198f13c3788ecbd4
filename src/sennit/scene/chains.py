"""Chains of zones in a scene: each zone on its bone, and ties that close the seams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sennit.bodies.point.point import Point
from sennit.bodies.world import World
from sennit.bodies.zone.places import ZonePlaces
from sennit.bodies.zone.point import ZonePoint
from sennit.constraints.seam import SeamTie
from sennit.elastostatics.surface import IntArray
from sennit.errors import InputError
from sennit.validation import FloatArray, quoted

if TYPE_CHECKING:
    from sennit.scene.contents import Contents

__all__ = ["add_chain", "remove_chain"]


def add_chain(scene: Contents, chain: Any, on: object, weight: bool) -> None:
    """Put the zones of a chain into a scene, each `on` its point, and tie their seams."""
    zones = chain.zones
    carriers = _checked_carriers(scene, chain, on)
    for number, seam in enumerate(chain.seams):
        if seam.leader is not None:
            raise InputError(
                f"seam {number} joins meshes that differ (projection), which a scene can't do yet: give both sides the "
                "same vertices"
            )
    if len({id(zone) for zone in zones}) < len(zones):
        raise InputError("a chain in a scene needs zones that are each their own: make copies with zone.with_fixed")
    for zone in zones:
        scene._check_new(zone)
    if weight:
        check_mass(scene, list(zip(zones, carriers, strict=True)))
    ties: list[SeamTie] = []
    try:
        for zone, carrier in zip(zones, carriers, strict=True):
            scene.add(zone, on=carrier, weight=weight)
        for seam, weights in zip(chain.seams, chain._ties(), strict=True):
            sides = [_places(zones[z], ids, weights) for z, ids in zip(seam.zones, seam.vertices, strict=True)]
            a, b = (zones[z].name for z in seam.zones)
            ties.append(scene.add(SeamTie(sides[0], sides[1], name=f"seam of {a} and {b}")))
    except InputError:
        for thing in (*ties, *(zone for zone in zones if zone._scene is scene)):
            scene.remove(thing)
        raise
    chain._enter(tuple(ties))


def check_mass(scene: Contents, pairs: Sequence[tuple[Any, Point]]) -> None:
    """Refuse carriers that have less mass than the heavy zones that ride on them."""
    heavy = [(z, z._on) for z in scene._bodies if isinstance(z, ZonePlaces) and z._heft is not None]
    for carrier in {id(on.body): on.body for _, on in pairs if on.body is not None}.values():
        flesh = sum(zone.mass for zone, on in (*heavy, *pairs) if on.body is carrier)
        if carrier.mass < flesh:
            raise InputError(
                f"{carrier.name} has a mass of {carrier.mass:g} kg, in which that of the flesh it carries must be, "
                f"{flesh:g} kg: a zone's weight bends it, and what falls and swings is the mass of its carrier"
            )


def _places(zone: Any, vertices: IntArray, weights: FloatArray | None) -> list[ZonePoint]:
    """Where a zone is tied: at its `vertices` (n,), or at means of them, `weights` (n, few)."""
    if weights is None:
        return [zone.at(vertex) for vertex in vertices.tolist()]
    return [ZonePoint.mean(zone, vertices, share) for share in np.ascontiguousarray(weights.T)]


def remove_chain(scene: Contents, chain: Any) -> None:
    """Take its seams and its zones out again."""
    if chain.scene is not scene:
        raise InputError(f"{chain!r} is not in this scene")
    ties = list(chain.ties)
    users = _users(scene, chain, ties)
    if users:
        raise InputError(f"its zones are still used by {', '.join(users)}: remove them first")
    for thing in (*ties, *(zone for zone in chain.zones if zone._scene is scene)):
        scene.remove(thing)


def _users(scene: Contents, chain: Any, ties: list[SeamTie]) -> list[str]:
    zones = set(chain.zones)
    others = [c for c in scene._constraints if c not in ties]
    users = [c.name for c in others if any(p.body in zones for p in (*c.points, *c._held_points()))]
    return users + [load.name for load in scene._loads if load.point.body in zones]


def _checked_carriers(scene: Contents, chain: Any, on: object) -> Sequence[Point]:
    zones = chain.zones
    if on is None:
        return [World.at(pose) for pose in chain.rest_poses]
    what = f"on must be a list of {len(zones)} points, one for each zone of the chain,"
    if isinstance(on, Point | str) or not isinstance(on, Sequence):
        raise InputError(f"{what} got {quoted(on)}")
    if len(on) != len(zones):
        raise InputError(f"{what} got {len(on)}")
    return [scene._checked_carrier(zone, point) for zone, point in zip(zones, on, strict=True)]
