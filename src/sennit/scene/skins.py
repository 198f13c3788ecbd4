"""Which vertices of zones may be touched: looked at before each step and each static solve.

A scene holds the displacements of those vertices that something is near, or presses on; of the others it need not know
(`bodies.zone.skin`). Before a step they are those that what can touch the zone may reach within it. They are taken in
by a little more than that, and left out again where that is worth the while, so that a scene's tables are made anew
every so many steps alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sennit.bodies.body import AbstractBody
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.slider import Slider
from sennit.bodies.zone.places import ZonePlaces
from sennit.contact.obstacle import Obstacle
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import Box, Capsule, Cylinder, Sphere
from sennit.solve.report import Event
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.scene.contents import Contents
    from sennit.scene.moving import Moving

__all__ = ["fit_skins", "freeze_skins", "skins_miss", "soft_pairs"]

NEAR, TAKEN = 0.02, 0.3
"""Edges of the mesh from which vertices must be held, and up to which they are taken in."""
FEWEST = 24
"""Vertices next to each thing that are taken in for a static solve, however far away it is."""
SPARE = 3.0
"""Times as many vertices may be held as are needed."""
BESIDE = 1.3
"""Longest edges up to which vertices are taken in beside rods and other zones, which touch faces: one of them is the
least at which a face has all its corners.
"""
COARSE = 0.6
"""Edges below which the radius of a thing is too small to be held by vertices: of an even triangle it is 0.58."""
RELAXED = 1e-5
"""Elastic force of a vertex over the largest one, below which it may be left out."""
LOOK_AHEAD = 2.0
"""Steps ahead for which speeds count."""


def soft_pairs(scene: Contents) -> list[tuple[ZonePlaces, list[Any]]]:
    """The zones that can be touched in a scene whose tables are made, each with what may do so."""
    system = scene._system
    if system is None or system.touching is None:
        return []
    things, law = system.touching.things, system.touching.laws_between()
    return [
        (zone, others)
        for i, zone in enumerate(things)
        if isinstance(zone, ZonePlaces)
        and (others := [thing for j, thing in enumerate(things) if law[i, j] and thing is not zone])
    ]


def fit_skins(scene: Moving, h: float | None) -> None:
    """Let zones hold the vertices that may be touched in the next step of `h` (s); None: in a static solve.

    Nothing is done while they are frozen.
    """
    if scene._frozen:
        return
    changed = False
    for zone, others in scene._soft:
        places, edges = zone.positions, zone._edges
        near = np.zeros(len(places), bool)
        taken = near.copy()
        for thing in others:
            distance, way = _reach(thing, zone, places, scene, h)
            least, most = _bounds(zone, thing)
            near |= distance < least + way
            _note_coarse(scene, zone, thing, edges[distance < least + way])
            taken |= distance < most + way
            if h is None:
                free = np.where(zone._movable, distance, np.inf)
                closest = np.argsort(free, kind="stable")[:FEWEST]
                near[closest] = taken[closest] = True
                if _is_round(thing):  # all along it, wherever it is
                    below = free < free.min() + least
                    near |= below
                    taken |= below
        near &= zone._movable
        taken &= zone._movable
        held = np.zeros(len(places), bool)
        held[list(zone._skin.wanted)] = True
        if (near & ~held).any() or held.sum() > SPARE * taken.sum() + FEWEST:
            zone._skin.want(np.flatnonzero(taken | (held & _strained(zone))).tolist())
            changed = True
    if changed:
        scene._skins_changed()


def freeze_skins(scene: Moving, reach: float) -> int:
    """Let zones hold the vertices that are less than `reach` (m) from what may touch them, and no others until
    ``scene._frozen`` is unset; returns how many.
    """
    scene._compiled()
    for zone, others in scene._soft:
        places, held = zone.positions, _strained(zone)
        for thing in others:
            distance = _distance(thing, places, scene, reach)
            held |= distance < reach
            _note_coarse(scene, zone, thing, zone._edges[distance < reach])
        zone._skin.want(np.flatnonzero(held & zone._movable).tolist())
    scene._skins_changed()
    scene._frozen = True
    return sum(len(zone._skin.wanted) for zone, _ in scene._soft)


def skins_miss(scene: Moving) -> bool:
    """Whether vertices that are not held are near enough to something to be touched."""
    for zone, others in scene._soft:
        places, loose = zone.positions, zone._movable.copy()
        loose[list(zone._skin.wanted)] = False
        for thing in others:
            least = 0.9 * _bounds(zone, thing)[0] if _is_round(thing) else 0.5 * NEAR * zone._edges
            if (_distance(thing, places[loose], scene, float(least.max())) < least[loose]).any():
                return True
    return False


def _is_round(thing: Any) -> bool:
    """Whether it touches zones on their faces: a rod, or another zone."""
    return isinstance(thing, Rod | ZonePlaces)


def _bounds(zone: ZonePlaces, thing: Any) -> tuple[FloatArray, FloatArray]:
    """Distances from a thing below which a zone's vertices must be held, and up to which they are taken in, m."""
    if _is_round(thing):
        return zone._longest_edges, BESIDE * zone._longest_edges
    return NEAR * zone._edges, TAKEN * zone._edges


def _note_coarse(scene: Moving, zone: ZonePlaces, thing: Any, edges: FloatArray) -> None:
    """Tell once of a thing that is so thin that it may pass between the vertices that it comes near to."""
    if _is_round(thing):
        return  # faces hold it
    thin = min((_radius(shape) for shape in thing.shapes), default=math.inf)
    if not len(edges) or thin > COARSE * edges.max() or (zone, thing) in scene._coarse:
        return
    scene._coarse.add((zone, thing))
    text = (
        f"{zone.name} has edges of {edges.max():.2g} m where {thing.name} comes near, and is touched at its vertices: "
        f"what is thinner than that ({2.0 * thin:.2g} m) may pass between them. Finer triangles hold it"
    )
    scene._events.append(Event(scene._clock.time, "coarse", (zone, thing), text))


def _radius(shape: Any) -> float:
    """Radius of the largest ball in a shape, m; of meshes and grounds infinite: it is not known."""
    if isinstance(shape, Sphere | Capsule):
        return float(shape.radius)
    if isinstance(shape, Box):
        return 0.5 * float(np.min(shape.size))
    return float(min(shape.radius, 0.5 * shape.length)) if isinstance(shape, Cylinder) else math.inf


def _strained(zone: ZonePlaces) -> NDArray[np.bool_]:
    """Which vertices something presses on, or has pressed on before so shortly that they have not come back yet."""
    force = np.linalg.norm(zone.place_forces, axis=1)
    strained: NDArray[np.bool_] = force > RELAXED * force.max(initial=0.0)
    return strained


def _reach(
    thing: Any, zone: ZonePlaces, places: FloatArray, scene: Moving, h: float | None
) -> tuple[FloatArray, float]:
    """How far a zone's vertices are from a thing, and how far both may go in a step, m."""
    if h is None:
        return _distance(thing, places, scene, math.inf), 0.0
    gravity = float(np.linalg.norm(scene.gravity))
    way = LOOK_AHEAD * h * (_speed(thing, h) + _speed(zone, h)) + h * h * gravity
    distance = _distance(thing, places, scene, way + float(_bounds(zone, thing)[1].max()))
    if isinstance(thing, Obstacle) and thing.path is not None:
        after = thing._place_at(scene._clock.time + h)
        moved = after if isinstance(after, Pose) else Pose.from_rotation(after, thing.pose.rotation)
        distance = np.minimum(distance, _from_shapes(thing.shapes, moved, places))
    return distance, way


def _distance(thing: Any, places: FloatArray, scene: Moving, limit: float) -> FloatArray:
    """Signed distances of places from a thing, m; of rods and zones, infinite for some that are beyond a `limit`."""
    if isinstance(thing, Rod):
        return _from_rod(thing, places, limit)
    if isinstance(thing, ZonePlaces):
        return _from_zone(thing, places, limit)
    pose = Pose(thing.position) if isinstance(thing, Slider) else thing.pose
    return _from_shapes(thing.shapes, pose, places)


def _from_shapes(shapes: Sequence[Any], pose: Pose, places: FloatArray) -> FloatArray:
    local = (places - pose.position) @ pose.rotation
    return np.asarray(np.min([shape.signed_distance(local) for shape in shapes], axis=0))


def _from_rod(rod: Rod, places: FloatArray, limit: float) -> FloatArray:
    """Distances of places from the surface of a rod, taken as a line of straight parts; infinite beyond a `limit`."""
    line, radius = rod.centerline(2 * len(rod.control_points)), rod.radius
    if rod.closed:
        line = np.concatenate((line, line[:1]))
    found = np.full(len(places), np.inf)
    near = np.flatnonzero(_is_within(places, line, limit + radius))
    if len(near):
        x, a, ab = places[near][:, None], line[:-1], np.diff(line, axis=0)
        share = np.einsum("ijk,jk->ij", x - a, ab) / np.maximum(np.einsum("jk,jk->j", ab, ab), 1e-300)
        off = x - a - np.clip(share, 0.0, 1.0)[:, :, None] * ab
        found[near] = np.sqrt(np.einsum("ijk,ijk->ij", off, off).min(axis=1)) - radius
    return found


def _from_zone(zone: ZonePlaces, places: FloatArray, limit: float) -> FloatArray:
    """Lower bounds of the distances of places from a zone: from its undeformed surface, less its largest displacement;
    infinite beyond a `limit`.
    """
    pose = zone.pose
    local, vertices = (places - pose.position) @ pose.rotation, zone._surface.vertices
    moved = float(np.linalg.norm(zone.displacements, axis=1).max())
    found = np.full(len(places), np.inf)
    near = np.flatnonzero(_is_within(local, vertices, limit + moved))
    if len(near):
        found[near] = zone._solid.signed_distance(local[near]) - moved
    return found


def _is_within(places: FloatArray, inner: FloatArray, wider: float) -> NDArray[np.bool_]:
    """Which places are in the box round others, widened."""
    low, high = inner.min(axis=0) - wider, inner.max(axis=0) + wider
    inside: NDArray[np.bool_] = ((places >= low) & (places <= high)).all(axis=1)
    return inside


def _speed(thing: Any, h: float) -> float:
    """Largest speed of anything of it, m/s."""
    if isinstance(thing, Rod):
        return float(np.linalg.norm(thing.control_velocities, axis=1).max())
    if isinstance(thing, ZonePlaces):
        carrier = thing.on.body
        speed = float(np.abs(thing._motion.v).max(initial=0.0))
        if carrier is None:
            return speed + _led(thing.on, thing.extent) / h
        return speed + _speed(carrier, h) + float(np.linalg.norm(carrier._motion.v[3:6])) * thing.extent
    if isinstance(thing, Slider):
        return float(np.linalg.norm(thing._point.velocity))
    if isinstance(thing, AbstractBody):
        v = thing._motion.v
        return float(np.linalg.norm(v[:3]) + np.linalg.norm(v[3:]) * thing._size())
    return _led(thing._anchor, 0.0) / h


def _led(point: Any, extent: float) -> float:
    """How far a point of the world, and what it carries, was put since the last step, m."""
    row = point._row
    moved = np.linalg.norm(row.anchor[0] - row.anchor_last[0])
    turned = np.linalg.norm(row.anchor_frame[0] - row.anchor_frame_last[0])
    return float(moved + turned * extent)


def checked_skin(zone: ZonePlaces, given: Any) -> tuple[int, ...]:
    """The skin of a zone in a file, checked."""
    if not isinstance(given, list) or not all(type(v) is int for v in given):
        raise ValueError("the skin of a zone is no list of vertices")
    movable = np.flatnonzero(zone._movable)
    vertices: Iterable[int] = given
    if not np.isin(np.array(list(vertices), np.int64), movable).all() or sorted(set(given)) != given:
        raise ValueError("the skin of a zone has vertices that can't be touched")
    return tuple(given)
