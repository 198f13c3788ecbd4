"""Where the zones of a chain are joined: seams as users pass them, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sennit.attributes import unchanging
from sennit.bodies.zone.zone import Zone
from sennit.elastostatics.chain.condensed import Side
from sennit.elastostatics.chain.projection import mortar_weights, seam_faces
from sennit.elastostatics.surface import IntArray
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.validation import quoted

__all__ = ["Seam", "checked_seams"]

_COINCIDE = 1e-5
"""Largest distance of two vertices that are one material point, over the size of their zones."""


@unchanging
@dataclass(frozen=True, eq=False)
class Seam:
    """Where two zones are joined."""

    zones: tuple[int, int]
    """The two zones' numbers."""
    vertices: tuple[IntArray, IntArray]
    """Their vertices on the seam."""
    gap: float
    """Largest distance of the two sides at the rest poses, m."""
    leader: int | None
    """Which side's vertices (0 or 1) are the seam's nodes, which the other's follow; None where vertices are paired."""

    @property
    def nodes(self) -> int:
        """Number of nodes of the seam."""
        return len(self.vertices[self.leader or 0])


def checked_seams(
    zones: list[Zone], seams: object, rest_poses: list[Pose], projection: bool
) -> tuple[list[Seam], list[tuple[Side, Side]]]:
    """The seams, and how the two zones of each see it.

    Raises `InputError` for lists that do not match, repeated or fixed vertices, vertices on two seams, and sides that
    lie apart at the rest poses.
    """
    if not isinstance(seams, Sequence) or isinstance(seams, str) or not len(seams):
        raise InputError(f"seams must be a list with a seam or more, got {quoted(seams)}")
    lengths = {len(seam) if isinstance(seam, Sequence) else 0 for seam in seams}
    if lengths not in ({2}, {4}):
        raise InputError(
            "seams must be all (ids of zone k, ids of zone k + 1) or all (zone, its ids, zone, its ids), got "
            + quoted(seams)
        )
    if lengths == {2} and len(seams) != len(zones) - 1:
        raise InputError(
            f"seams must be {len(zones) - 1} pairs of lists, one for each two neighbours of {len(zones)} zones, got "
            f"{len(seams)}; for other topologies give (zone, its ids, zone, its ids)"
        )
    used: list[dict[int, int]] = [{} for _ in zones]
    found: list[Seam] = []
    sides: list[tuple[Side, Side]] = []
    for k, given in enumerate(seams):
        a, first, b, second = (k, given[0], k + 1, given[1]) if len(given) == 2 else given
        pair = (_zone(k, a, len(zones)), _zone(k, b, len(zones)))
        if pair[0] == pair[1]:
            raise InputError(f"seams[{k}] must join two zones, got zone {pair[0]} twice")
        lists = (
            _ids(f"seams[{k}], zone {pair[0]},", first, zones[pair[0]]),
            _ids(f"seams[{k}], zone {pair[1]},", second, zones[pair[1]]),
        )
        for z, ids in zip(pair, lists, strict=True):
            for vertex in ids.tolist():
                if used[z].setdefault(vertex, k) != k:
                    raise InputError(
                        f"seams[{k}] must have vertices of its own: vertex {vertex} of zone {z} is on seams"
                        f"[{used[z][vertex]}], too"
                    )
        seam, views = _joined(k, zones, pair, lists, rest_poses, projection)
        found.append(seam)
        sides.append(views)
    for z, vertices in enumerate(used):
        if not vertices:
            raise InputError(f"seams must join every zone: zone {z} ({zones[z].name}) has none. Leave it out")
    return found, sides


def _zone(seam: int, value: Any, count: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value < count:
        raise InputError(f"seams[{seam}] must name zones from 0 to {count - 1}, got {quoted(value)}")
    return int(value)


def _ids(name: str, given: Any, zone: Zone) -> IntArray:
    count = len(zone._surface.vertices)
    try:
        ids = np.asarray(given)
    except Exception:  # whatever the value's own methods raise
        ids = np.zeros((0, 0))
    if ids.ndim != 1 or not len(ids) or ids.dtype.kind not in "iu":
        raise InputError(f"{name} must be a list of vertex ids, got {quoted(given)}")
    for wrong in ids[(ids < 0) | (ids >= count)][:1].tolist():
        raise InputError(f"{name} must hold vertex ids from 0 to {count - 1}, got {wrong}")
    ids = ids.astype(np.int64)
    values, counts = np.unique(ids, return_counts=True)
    if (counts > 1).any():
        raise InputError(f"{name} must name each vertex once, got {values[counts > 1][:5].tolist()} again")
    fixed = np.intersect1d(ids, zone._fixed)
    if len(fixed):
        raise InputError(
            f"{name} must hold free vertices, got {fixed[:5].tolist()}, which are fixed ({len(fixed)} in all): leave "
            "them out on both sides"
        )
    return ids


def _joined(
    k: int, zones: list[Zone], pair: tuple[int, int], lists: tuple[IntArray, IntArray], rest_poses: list[Pose],
    projection: bool,
) -> tuple[Seam, tuple[Side, Side]]:  # fmt: skip
    surfaces = [zones[z]._surface for z in pair]
    local = [surface.vertices[ids] for surface, ids in zip(surfaces, lists, strict=True)]
    world = [rest_poses[z] @ places for z, places in zip(pair, local, strict=True)]
    if not projection and len(lists[0]) == len(lists[1]):
        distances = np.linalg.norm(world[0] - world[1], axis=1)
        worst = int(distances.argmax())
        allowed = _COINCIDE * max(float(np.ptp(surface.vertices, axis=0).max()) for surface in surfaces)
        if distances[worst] > allowed:
            raise InputError(
                f"seams[{k}] must list the same points in the same order: entry {worst}, vertex {lists[0][worst]} of "
                f"zone {pair[0]} and {lists[1][worst]} of zone {pair[1]}, lie {distances[worst]:.3g} m apart, the "
                f"largest gap ({int((distances > allowed).sum())} of {len(distances)} lie over {allowed:.1g} m apart). "
                "Zones with frames of their own need rest_poses=; meshes that differ need projection=True"
            )
        seam = Seam(pair, lists, float(distances[worst]), None)
        return seam, (Side(lists[0], local[0]), Side(lists[1], local[1]))
    # The side with fewer vertices leads: the other has more freedom than the seam needs.
    leader = 0 if len(lists[0]) <= len(lists[1]) else 1
    other = 1 - leader
    faces = [seam_faces(surface.faces, ids) for surface, ids in zip(surfaces, lists, strict=True)]
    for side in (0, 1):
        if not len(faces[side]):
            raise InputError(
                f"seams[{k}], zone {pair[side]}, must hold the vertices of whole faces, got "
                f"{quoted(lists[side].tolist())}: there is no face between them to project on"
            )
    # Lists of different length that no face joins at all are a mistake, too: the projection finds that.
    weights, gap = mortar_weights(f"seams[{k}]", world[other], faces[other], world[leader], faces[leader])
    seen = rest_poses[pair[other]].inverse() @ world[leader]
    views = [Side(lists[leader], local[leader]), Side(lists[other], seen, weights)]
    return Seam(pair, lists, gap, leader), (views[leader], views[other])
