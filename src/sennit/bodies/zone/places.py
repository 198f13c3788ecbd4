"""What a scene sees of a zone: the places of its surface that constraints and loads hold.

A zone in a scene owns the displacements u of those places (and the rotations of those that have an area), seen in its
own frame. Everything else of it follows: with W the weights of the places and C the compliance of its surface, the
places answer with the stiffness and the surface with the shape ::

    K = (Wᵀ C W)⁻¹,        surface displacement = C W K u
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit import validation
from sennit.bodies.body import AbstractBody, Home
from sennit.bodies.point.point import Point
from sennit.bodies.table import Motion
from sennit.bodies.world import WorldPoint
from sennit.bodies.zone.conditions import vertex_ids
from sennit.bodies.zone.heft import Heft
from sennit.bodies.zone.numbers import frame_of, patch_numbers
from sennit.bodies.zone.point import ZonePoint
from sennit.bodies.zone.skin import Skin, edge_lengths, longest_edges
from sennit.bodies.zone.state import ZoneState
from sennit.bodies.zone.table import Zones
from sennit.elastostatics import steady
from sennit.elastostatics.greens import GreensFunctions
from sennit.elastostatics.kernels.compliance import spread
from sennit.elastostatics.patch import locate, patch_weights
from sennit.elastostatics.surface import Surface, checked_surface
from sennit.elastostatics.weight import Weight
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import Mesh
from sennit.material import Material
from sennit.tables import Table
from sennit.validation import FloatArray, quoted

__all__ = ["ZonePlaces"]

INDEPENDENT = 1e-7
"""Places are the same where the smallest eigenvalue of their correlation is below this."""


class ZonePlaces(AbstractBody):
    """The scene's side of a `Zone`."""

    _rank = 3
    _table: Zones

    _surface: Surface
    _greens: GreensFunctions
    _modulus: float
    _material: Material

    def __init__(self, name: str | None) -> None:
        super().__init__(name)
        self._on: Point = WorldPoint(Pose())
        self._columns: dict[Any, FloatArray] = {}
        """C W of each place that was ever held, (3 free, 3 or 6), at E = 1."""
        self._begun: dict[Any, FloatArray] = {}
        """Numbers of each place when it was first held in a scene."""
        self._skin = Skin()
        self._skin_points: dict[int, ZonePoint] = {}
        """Its vertices as places."""
        self._heft: Heft | None = None
        """Its weight in a scene, if it has any there."""
        self._hold_nothing()

    def _hold_nothing(self) -> None:
        self._held: list[ZonePoint] = []
        self._offsets: dict[Any, int] = {}
        self._place_stiffness = np.zeros((0, 0))
        self._place_sizes = np.zeros(0, np.int64)
        self._turning = np.zeros(0, np.int64)
        """Which of the numbers are rotations."""
        self._compliance: FloatArray | None = None
        """Wᵀ C W of the places, at E = 1, once it was asked for."""
        self._stacked = np.zeros((0, 0))
        """Columns C W of the places side by side, made with it."""

    # ------------------------------------------------------------------------------------------------- for users

    def at(self, place: int | ArrayLike, radius: float | None = None) -> ZonePoint:
        """The point at a vertex (its number), or at the place of the surface nearest to a position (3,), m.

        Positions are in the zone's own frame, that of its vertices. With a `radius` (m) what acts there is spread over
        a patch, w_i ∝ ∮N_i (1 − r²/radius²)² dA; the point then turns with the surface, and takes constraints that hold
        a rotation. Without one the stiffness depends on the mesh: a bare vertex gives way the more the finer it is.

        Raises `InputError` for an unknown vertex, a place that is held fixed, and a radius that is too small for the
        mesh.
        """
        surface = self._surface
        if isinstance(place, int | np.integer) and not isinstance(place, bool | np.bool_):
            vertex = validation.count("place", place, 0, len(surface.vertices) - 1, why="(the number of a vertex)")
            position, normal = surface.vertices[vertex].copy(), surface.vertex_normals[vertex]
            ids, shares = np.array([vertex]), np.ones(1)
            given: Any = vertex
        else:
            wanted = validation.vector("place", place)
            face, shares, position, distance = locate(surface, wanted)
            if distance > self.extent:
                raise InputError(
                    f"place must be on the surface or near it, got {quoted(place)}, which is {distance:.3g} m from it: "
                    "places are in the zone's own frame, that of its vertices"
                )
            ids, normal = surface.faces[face].copy(), surface.normals[face]
            ids, shares = ids[shares > 0.0], shares[shares > 0.0]
            given = wanted.tolist()  # not the place that was found: looking for it again would move it by rounding
        if radius is not None:
            rho = validation.number("radius", radius, positive=True)
            try:
                ids, shares = patch_weights(surface, position, rho)
            except InputError as error:
                raise InputError(
                    str(error).replace("give 0 for the bare point", "leave it out for the bare place")
                ) from None
        if np.all(self._greens.slot[ids] < 0):
            raise InputError(
                f"place {quoted(place)} of {self.name} is held fixed, and cannot give way: take a free place, or a "
                "point of what carries the zone"
            )
        weights = shares[:, None, None] * np.eye(3)
        if radius is not None:
            weights = patch_numbers(self.name, surface.vertices[ids], shares, position, rho)
        point = ZonePoint(self, position, frame_of(normal), ids, weights, {"place": given, "radius": radius})
        return point

    @property
    def on(self) -> Point:
        """The point that carries the zone's frame: of a rigid body, or of the world, which can be moved."""
        return self._on

    @property
    def pose(self) -> Pose:
        """The zone's frame in the world: where its vertices' coordinates are measured."""
        return self._on.pose

    @cached_property
    def _weight(self) -> Weight:
        return Weight.of(self._surface, self._greens.stiffness, self._material.poisson_ratio)

    def _weight_of(self, pull: FloatArray) -> FloatArray:
        """Forces (n, 3), N, at the vertices of `pull` (3,), N/m³, on every part of the body."""
        return np.asarray((self._weight.forces @ pull).reshape(-1, 3))

    @property
    def extent(self) -> float:
        """Diagonal of the box round its vertices, m."""
        return float(np.linalg.norm(np.ptp(self._surface.vertices, axis=0)))

    @property
    def surface(self) -> Surface:
        """Its mesh as it was made, in its own frame."""
        return self._surface

    @property
    def boundary_stiffness(self) -> FloatArray:
        """S of its surface at E = 1, (3n, 3n), m: nodal forces E S u for displacements u of all vertices, flat."""
        return self._greens.stiffness

    @property
    def displacements(self) -> FloatArray:
        """(n, 3), m: displacements of the vertices in the zone's frame, as the scene holds it now."""
        total = np.zeros((len(self._surface.vertices), 3))
        if self._held:
            pulls = self._pulls(self._motion.q) / self._modulus
            flat = sum(steady.times(self._columns[p._key()], self._part(pulls, p)) for p in self._held)
            total[self._greens.free] = np.asarray(flat).reshape(-1, 3)
        if self._heft is not None:
            total[self._greens.free] += (self._heft.hanging @ self._heft.gravity).reshape(-1, 3)
        return total

    @property
    def positions(self) -> FloatArray:
        """(n, 3), m: the vertices as the scene holds them now, in the world."""
        pose = self.pose
        return (self._surface.vertices + self.displacements) @ pose.rotation.T + pose.position

    @property
    def state(self) -> ZoneState:
        """The zone as the scene holds it now: displacements, forces, tractions, in the zone's own frame."""
        forces = self.place_forces
        if self._heft is not None:
            forces += self._heft.forces
        vertices = np.flatnonzero(forces.any(axis=1))
        zone: Any = self
        return ZoneState(zone, vertices, forces[vertices], pull=None if self._heft is None else self._heft.pull)

    @property
    def strain_energy(self) -> float:
        """What the scene's constraints and loads have stored in it, and its weight, J."""
        u = self._motion.q
        stored = 0.0 if self._heft is None else self._heft.energies(u)[0]
        return 0.5 * float(u @ steady.times(self._place_stiffness, u)) + stored

    @property
    def place_forces(self) -> FloatArray:
        """(n, 3), N: nodal forces that constraints and loads apply now, in the zone's frame."""
        total = np.zeros((len(self._surface.vertices), 3))
        pulls = self._pulls(self._motion.q)
        for place in self._held:
            np.add.at(total, place._vertices, np.einsum("kab,a->kb", place._weights, self._part(pulls, place)))
        return total

    # ------------------------------------------------------------------------------------------------- for scenes

    def _come(self, on: Point, weight: bool = False) -> None:
        """Enter a scene, undeformed, carried by a point; with `weight` gravity acts on it there."""
        self._on = on
        self._heft = Heft(self) if weight else None
        self._set_motion(np.zeros(0), np.zeros(0))
        self._begun.clear()
        self._skin.forget()
        self._hold_nothing()

    def _pulls(self, q: FloatArray) -> FloatArray:
        """What its places are pulled by for displacements `q`, N."""
        pulls = steady.times(self._place_stiffness, q)
        return pulls if self._heft is None else pulls - self._heft.borne @ self._heft.gravity

    def _part(self, numbers: FloatArray, point: ZonePoint) -> FloatArray:
        """The numbers that belong to a place that is held."""
        start = self._offsets[point._key()]
        return numbers[start : start + point._weights.shape[1]]

    def _slot_of(self, point: ZonePoint) -> tuple[int, int]:
        """Where a point's numbers begin among the zone's (0 if it has none), and how many the zone has."""
        return self._offsets.get(point._key(), 0), len(self._motion.q)

    def _numbers_of(self, point: ZonePoint) -> tuple[FloatArray, FloatArray]:
        """A point's displacement (and rotation), and their rates; of one that nothing holds too."""
        if point._key() in self._offsets:
            return self._part(self._motion.q, point), self._part(self._motion.v, point)
        sag = np.zeros(point._weights.shape[1])
        if self._heft is not None:
            sag = self._gathered(point, self._heft.hanging) @ self._heft.gravity
        if not self._held:
            return sag, np.zeros(len(sag))
        # Σ W_pᵀ C W_j K q: the free part of the point's own weights on the surface's shape
        across = np.hstack([self._across(point, held) for held in self._held])
        if self._heft is not None:
            sag = sag - across @ (self._heft.borne @ self._heft.gravity) / self._modulus
        across = steady.product(across, self._place_stiffness) / self._modulus
        return steady.times(across, self._motion.q) + sag, steady.times(across, self._motion.v)

    def _taken_over(self, places: Sequence[ZonePoint]) -> list[tuple[FloatArray, FloatArray]]:
        """Displacements and rates that places begin with."""
        if self._heft is not None or not (self._skin.held and self._held):
            return [self._numbers_of(p) for p in places]
        columns = np.hstack([self._column(p) for p in self._held])
        shapes = np.column_stack([
            steady.times(columns, steady.times(self._place_stiffness, x) / self._modulus)
            for x in (self._motion.q, self._motion.v)
        ])  # fmt: skip
        numbers = []
        for p in places:
            known = p._key() in self._offsets
            q, v = self._numbers_of(p) if known else self._gathered(p, shapes).T
            numbers.append((q, v))
        return numbers

    def _across(self, point: ZonePoint, held: ZonePoint) -> FloatArray:
        """W_pᵀ C W_j, at E = 1."""
        return self._gathered(point, self._column(held))

    def _gathered(self, point: ZonePoint, columns: FloatArray) -> FloatArray:
        """W_pᵀ of displacements of the free vertices, (3 free, any)."""
        slots = self._greens.slot[point._vertices]
        free = slots >= 0
        rows = columns.reshape(-1, 3, columns.shape[1])[slots[free]]
        weights = point._weights[free].transpose(1, 0, 2)
        return np.asarray(weights.reshape(len(weights), -1) @ rows.reshape(-1, rows.shape[2]))

    def _column(self, point: ZonePoint) -> FloatArray:
        """C W of a place."""
        key = point._key()
        column = self._columns.get(key)
        if column is None:
            slots = self._greens.slot[point._vertices]
            free = slots >= 0
            rows = (3 * slots[free][:, None] + np.arange(3)).ravel()
            weights = point._weights[free].transpose(0, 2, 1).reshape(len(rows), -1)
            column = self._columns[key] = np.empty((len(self._greens.compliance), weights.shape[1]))
            part = np.empty(len(column))
            for k in range(weights.shape[1]):
                spread(self._greens.compliance, rows, np.ascontiguousarray(weights[:, k]), part)
                column[:, k] = part
        return column

    def _compliance_of(self, places: Sequence[ZonePoint]) -> FloatArray:
        """Wᵀ C W of some places, at E = 1."""
        if not self._greens.held:
            raise InputError(f"{self.name} is held by nothing: give fixed=... when it is made, so that it can resist")
        if self._skin.held:
            columns = np.hstack([self._column(p) for p in places])
            rows = [self._gathered(p, columns) for p in places]
        else:
            rows = [np.hstack([self._across(p, q) for q in places]) for p in places]
        return np.vstack(rows) if rows else np.zeros((0, 0))

    def _condensed(self, places: Sequence[ZonePoint]) -> FloatArray:
        """K of some places. Raises `InputError` where two of them are the same place to rounding."""
        C = self._compliance_of(places)
        size = len(C)
        C = 0.5 * (C + C.T)
        scale = 1.0 / np.sqrt(np.diag(C))
        scaled = C * np.outer(scale, scale)
        known = bool(self._skin.held) and all(len(p._vertices) == 1 for p in places)  # a part of what is definite
        values, vectors = np.linalg.eigh(scaled) if size and not known else (np.ones(1), scaled)
        factor = steady.cholesky(scaled)
        if not values[0] > INDEPENDENT or factor is None:
            heavy = np.zeros(len(places))
            np.maximum.at(heavy, np.repeat(np.arange(len(places)), [p._weights.shape[1] for p in places]),
                          np.abs(vectors[:, 0]))  # fmt: skip
            names = ", ".join(repr(places[i]) for i in np.argsort(-heavy, kind="stable")[:2])
            raise InputError(f"{names} move as one: places that near need a finer mesh, or share one point")
        return self._inverted(steady.upper_inverse(factor), scale)

    def _inverted(self, inverse: FloatArray, scale: FloatArray) -> FloatArray:
        """K from the inverse of the factor of the scaled compliance."""
        K = steady.product(inverse, inverse.T) * np.outer(scale, scale) * self._modulus
        return np.asarray(0.5 * (K + K.T))

    def _hold(self, points: Sequence[ZonePoint]) -> bool:
        """Take over the points that a scene uses, and those of its skin; a new one starts where the surface is now.
        True if they changed.
        """
        places: dict[Any, ZonePoint] = {}
        for point in points:
            places.setdefault(point._key(), point)
        self._skin.held = self._skin.beside(list(places.values()))
        for vertex in self._skin.held:
            point = self._vertex_point(vertex)
            places.setdefault(point._key(), point)
        if list(places) == list(self._offsets):
            self._held = list(places.values())
            return False
        found = list(places.values())
        stiffness = self._condensed(found)
        numbers = self._taken_over(found)
        q, v = (np.concatenate([np.zeros(0), *(n[k] for n in numbers)]) for k in range(2))
        sizes = np.array([p._weights.shape[1] for p in found], np.int64)
        self._set_motion(q, v)
        self._compliance = None
        self._held, self._place_stiffness, self._place_sizes = found, stiffness, sizes
        if self._heft is not None:
            self._heft.hold(found, stiffness)
        starts = np.concatenate(([0], np.cumsum(sizes)[:-1])) if found else np.zeros(0, np.int64)
        self._offsets = dict(zip(places, starts.tolist(), strict=True))
        begun = {self._vertex_point(vertex)._key() for vertex in self._skin.begun}
        for key in [key for key in self._columns if key not in places]:
            del self._columns[key]
        for key in [key for key in self._begun if key not in places and key not in begun]:
            del self._begun[key]
        self._turning = np.concatenate(
            [np.arange(start + 3, start + size) for start, size in zip(starts, sizes, strict=True)] + [np.zeros(0, int)]
        )
        return True

    def _can_be_touched(self) -> bool:
        """Whether something holds it, so that it resists."""
        return bool(self._greens.held)

    def _vertex_point(self, vertex: int) -> ZonePoint:
        """A vertex as a place."""
        point = self._skin_points.get(vertex)
        if point is None:
            point = self._skin_points[vertex] = self.at(vertex)
        return point

    def _fill_skin(self, rows: Any) -> None:
        """Write its part of `contact.table.Skins`, but for colliders."""
        held = np.array(self._skin.held, np.int64)
        on: Any = self._on
        rows.zone[:], rows.vertex[:] = self._index, held
        rows.dof[:] = [self._dof0 + self._offsets[self._vertex_point(v)._key()] for v in self._skin.held]
        rows.rest[:] = self._surface.vertices[held]
        rows.carrier[:] = rows.point[:] = -1
        if on.body is None:
            rows.point[:] = on._index
        else:
            rows.carrier[:] = on.body._index
            rows.rest[:] += on.local
        rows.edge[:] = self._edges[held]

    @cached_property
    def _movable(self) -> NDArray[np.bool_]:
        """Which vertices are not fixed."""
        movable: NDArray[np.bool_] = self._greens.slot >= 0
        return movable

    @cached_property
    def _edges(self) -> FloatArray:
        return edge_lengths(self._surface)

    @cached_property
    def _longest_edges(self) -> FloatArray:
        return longest_edges(self._surface)

    @cached_property
    def _fans(self) -> NDArray[np.int64]:
        """Number of the fan of faces without a sharp edge between them that each corner of each face is in, (m, 3)."""
        from sennit.elastostatics.boundary.elements import traction_nodes

        return traction_nodes(self._surface)

    @cached_property
    def _solid(self) -> Mesh:
        """Its undeformed surface as a shape, in its own frame."""
        return Mesh(self._surface.vertices, self._surface.faces)

    def _set_motion(self, q: FloatArray, v: FloatArray) -> None:
        self._motion = Motion(dofs=len(q))
        self._motion.q[:], self._motion.v[:] = q, v
        self._home = Home.of(self._motion)

    @classmethod
    def _join(cls, bodies: Sequence[ZonePlaces]) -> dict[str, Table]:
        sizes = np.concatenate([np.zeros(0, np.int64), *(zone._place_sizes for zone in bodies)])
        entries = sum(zone._place_stiffness.size for zone in bodies)
        zones = Zones(rows=len(bodies), entries=entries, places=len(sizes), numbers=int(sizes.sum()))
        first = 0
        zones.place_size[:] = sizes
        at = 0
        for i, zone in enumerate(bodies):
            K = zone._place_stiffness
            zone._index, zone._table = i, zones
            zones.count[i], zones.stiffness_first[i], zones.relaxation[i] = len(K), at, zone._material.relaxation_time
            zones.stiffness[at : at + K.size] = K.ravel()
            zones.number_first[i] = first
            if zone._heft is not None:
                zones.heavy[i], zones.give[i] = 1, zone._heft.give.ravel()
                zones.borne[first : first + len(K)] = zone._heft.borne
            at, first = at + K.size, first + len(K)
        return {"zones": zones}

    def _take_place(self, motion: Motion, home: Home, dof: int, block: int) -> int:
        super()._take_place(motion, home, dof, block)
        self._table.dof[self._index], self._table.block[self._index] = dof, block
        self._table.carrier[self._index] = self._table.point[self._index] = -1
        if self._on.body is not None:
            self._table.carrier[self._index] = self._on.body._index
            self._table.carrier_dof[self._index] = self._on.body._dof0
        return block + len(self._motion) ** 2

    def _own_points(self) -> Sequence[Point]:
        return () if self._on.body is not None else (self._on,)  # numbered before the places that it carries

    def _note_points(self) -> None:
        if self._on.body is None:
            self._table.point[self._index] = self._on._index

    def _describe(self, out: Any) -> dict[str, Any]:
        zone: Any = self
        for part in ("vertices", "faces", "fixed"):
            out.array(part, getattr(zone, part))
        if zone._tetrahedra is not None:
            out.array("points", zone._tetrahedra[0])
            out.array("cells", zone._tetrahedra[1])
        entry = {"material": out.material(zone.material), "on": out.point(self._on), "method": zone.method}
        entry |= {"weight": True} if self._heft is not None else {}
        return entry | ({"skin": list(self._skin.wanted)} if self._skin.wanted else {})

    @classmethod
    def _rebuilt(cls, entry: dict[str, Any], read: Any) -> Any:
        surface = checked_surface(read.raw("vertices"), read.raw("faces"))
        tetrahedra = (read.raw("points"), read.raw("cells")) if read.has("points") else None
        ids = vertex_ids("fixed", read.raw("fixed"), len(surface.vertices))
        zone: Any = cls
        return zone(
            surface, ids, read.material(entry["material"]), entry["method"], entry["name"], tetrahedra=tetrahedra
        )

    def _point_from(self, entry: dict[str, Any]) -> ZonePoint:
        place = entry["zone"]
        return ZonePoint.described(self, place) if isinstance(place, dict) else self.at(place, radius=entry["radius"])

    def _state_is_known(self) -> bool:
        return False

    def _forget_beginning(self) -> None:
        self._begun.clear()
        self._skin.begun = self._skin.wanted

    def _strain_energy(self) -> float | None:
        return self.strain_energy

    def _hanging_energy(self) -> float:
        return 0.0 if self._heft is None else self._heft.energies(self._motion.q)[1]

    def _rides_on(self) -> tuple[AbstractBody, ...]:
        return () if self._on.body is None else (self._on.body,)

    def _is_held(self) -> bool:
        return self._on.body is None

    def _size(self) -> float:
        return self.extent

    def _angles(self) -> NDArray[np.int64]:
        return self._turning

    def _check_places(self, points: Sequence[ZonePoint]) -> None:
        self._condensed(list({point._key(): point for point in points}.values()))

    def _beginning(self) -> dict[str, Any]:
        """Its places may be others than they were: numbers of each when it was first held; of new ones, the present."""
        for place in self._held:
            self._begun.setdefault(place._key(), self._part(self._motion.q, place).copy())
        q = np.concatenate([self._begun[p._key()] for p in self._held] + [np.zeros(0)])
        return {"q": q, "v": np.zeros(len(q))}
