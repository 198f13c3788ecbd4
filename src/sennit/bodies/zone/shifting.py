"""Places of a zone that move over its surface while a scene holds them, and where the surface is now.

Only what belongs to the place that moves is computed anew, which is quick enough for a haptic loop.
"""

from __future__ import annotations

import numpy as np

from sennit.bodies.zone.places import INDEPENDENT, ZonePlaces
from sennit.bodies.zone.point import ZonePoint
from sennit.elastostatics import steady
from sennit.elastostatics.patch import locate
from sennit.validation import FloatArray

__all__ = ["height_over", "move_place"]


def move_place(zone: ZonePlaces, point: ZonePoint, place: FloatArray, *, fresh: bool = True) -> bool:
    """Put a point that the scene holds to another place of the surface (3,), m, of the zone's frame.

    `fresh`: its numbers become those of the surface there; it must be free of forces then. Otherwise they are left as
    they are, because they are given. Returns False, and changes nothing, if the scene holds something there already.
    """
    there = zone.at(place, radius=point.radius)
    number = next((i for i, held in enumerate(zone._held) if held is point), -1)
    if number < 0 or there._key() in zone._offsets:
        stays = number >= 0 and there._key() == point._key()
        if stays:
            point._given = there._given
        return stays
    q, v = zone._numbers_of(there)
    held, size = list(zone._held), there._weights.shape[1]
    held[number] = there
    C = _compliance(zone).copy()
    at = zone._offsets[point._key()]
    C[at : at + size] = np.hstack([zone._across(there, other) for other in held])
    C[:, at : at + size] = np.vstack([zone._across(other, there) for other in held])
    whole = 0.5 * (C + C.T)
    scale = 1.0 / np.sqrt(np.diag(whole))
    factor = steady.cholesky(whole * np.outer(scale, scale))
    inverse = None if factor is None else steady.upper_inverse(factor)
    # the least eigenvalue is not below 1/tr of the inverse
    if inverse is None or float((inverse * inverse).sum()) > 1.0 / INDEPENDENT:
        del zone._columns[there._key()]
        return False
    known = point._key()
    point._take_over(there)
    zone._columns.pop(known, None)
    if known in zone._begun:
        zone._begun[point._key()] = zone._begun.pop(known)
    zone._offsets = {point._key() if key == known else key: offset for key, offset in zone._offsets.items()}
    zone._compliance = C
    zone._place_stiffness = zone._inverted(inverse, scale)
    zone._stacked[:, at : at + size] = zone._column(point)
    if zone._scene is not None and len(zone._motion.q):
        first = int(zone._table.stiffness_first[zone._index])
        zone._table.stiffness[first : first + C.size] = zone._place_stiffness.ravel()
    if fresh:
        zone._part(zone._motion.q, point)[:], zone._part(zone._motion.v, point)[:] = q, v
    return True


def _compliance(zone: ZonePlaces) -> FloatArray:
    """Wᵀ C W of the places that are held; makes it, and their columns side by side, when first asked."""
    if zone._compliance is None:
        zone._compliance = zone._compliance_of(zone._held)
        columns = [zone._column(p) for p in zone._held]
        zone._stacked = np.hstack(columns) if columns else np.zeros((len(zone._greens.compliance), 0))
    return zone._compliance


def height_over(zone: ZonePlaces, place: FloatArray) -> tuple[float, float, FloatArray, FloatArray]:
    """How high a place (3,), m, of the zone's frame is above the surface as it is now: less than 0 inside.

    Then how high above the surface at rest, the place of that which is below it, and the normal there.
    """
    surface = zone._surface
    _compliance(zone)
    pulls = steady.times(zone._place_stiffness, zone._motion.q) / zone._modulus if zone._held else np.zeros(0)
    moved = np.zeros(3)
    at_rest = 0.0
    for turn in range(3 if pulls.any() else 1):
        face, shares, foot, _distance = locate(surface, place - moved)
        corners = surface.faces[face]
        if turn == 0:
            at_rest = float((place - foot) @ (shares @ surface.vertex_normals[corners]))
        if len(pulls):
            slots = zone._greens.slot[corners]
            free = slots >= 0
            rows = zone._stacked.reshape(-1, 3, len(pulls))[slots[free]]
            moved = np.asarray(shares[free] @ (rows @ pulls))
    normal = shares @ surface.vertex_normals[corners]
    normal /= np.linalg.norm(normal)
    away = place - moved - foot
    height = float(np.linalg.norm(away))
    return (height if float(away @ normal) > 0.0 else -height), at_rest, foot, normal
