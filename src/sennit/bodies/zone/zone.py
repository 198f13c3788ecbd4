"""The zone: a soft linearly elastic body whose Green's functions are known, so that it answers within microseconds."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.zone.conditions import Conditions, PerFace, PerVertex, vertex_ids
from sennit.bodies.zone.places import ZonePlaces
from sennit.bodies.zone.press_state import PressState
from sennit.bodies.zone.pressing import Pressing
from sennit.bodies.zone.state import ZoneState
from sennit.bodies.zone.touching import Touching, nowhere_to_go
from sennit.compile_once import compile_once
from sennit.elastostatics.capacitance import Capacitance
from sennit.elastostatics.contact.press import Before, body_of, press_body
from sennit.elastostatics.greens import GreensFunctions, rows_of, unheld_modes
from sennit.elastostatics.kept import stored_greens
from sennit.elastostatics.mixed import Release, solve_held, support_forces
from sennit.elastostatics.patch import places_of, small_radius
from sennit.elastostatics.rehearsal import COMPILATION
from sennit.elastostatics.stiffness import BoundaryStiffness
from sennit.elastostatics.store import stored_stiffness
from sennit.elastostatics.surface import IntArray, Surface, checked_surface
from sennit.elastostatics.tetrahedra import Tetrahedra, outer_faces
from sennit.errors import InputError, SolveReport
from sennit.geometry.shapes import AbstractShape
from sennit.material import Material, elastic_material
from sennit.validation import FloatArray, quoted

__all__ = ["Zone"]

_BALANCED = 1e-9
"""Largest resultant of balanced loads, over the sum of their magnitudes (times the body's size for torques)."""
_WHAT_HOLDS = (
    "fix three vertices or more that are not on a line (fixed=), or prescribe displacements that hold the body"
)


class Zone(ZonePlaces):
    """A soft body: linearly elastic, isotropic and homogeneous, held at its fixed vertices, at small strains.

    Made by `from_mesh` or `from_tetrahedra`. Its boundary stiffness S is computed once for a mesh and a Poisson's
    ratio, and kept on disk; its Green's functions, the inverse of S over the free vertices, once for a set of fixed
    vertices. After that any load, displacement, contact or touch is a small dense problem.

    Everything is in the frame of the vertices. Loads are what the outside applies. A zone has weight where gravity is
    given, and no inertia: in a scene give its mass to what carries it.
    """

    def __init__(
        self, surface: Surface, fixed: IntArray, material: Material, method: str, name: str | None,
        boundary: BoundaryStiffness | None = None, greens: GreensFunctions | None = None,
        tetrahedra: Tetrahedra | None = None,
    ) -> None:  # fmt: skip
        super().__init__(name)
        compile_once("zone", COMPILATION)
        if len(fixed) == len(surface.vertices):
            raise InputError(f"fixed must leave a vertex free, got all {len(fixed)}")
        self._surface = surface
        self._fixed = fixed
        self._material = material
        self._modulus = material.youngs_modulus
        self._method = method
        self._tetrahedra = tetrahedra
        if boundary is None:
            boundary = stored_stiffness(surface, material.poisson_ratio, method, tetrahedra)
        self._boundary = boundary
        self._greens = stored_greens(surface, self._boundary, fixed) if greens is None else greens
        self._capacitance = Capacitance(self._greens.compliance)
        self._release: Release | None = None
        self._regrouped: GreensFunctions | None = None
        self._lock = threading.Lock()
        self._places = places_of(surface)

    _remade = (
        "_surface", "_fixed", "_material", "_modulus", "_method", "_tetrahedra", "_boundary", "_greens", "_capacitance",
        "_release", "_regrouped", "_lock", "_places", "_weight",
    )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and other processes get the same body by itself, in no scene; Green's functions come from the disk."""
        given = (self._surface, self._fixed, self._material, self._method, self._name)
        return _made_again, (*given, self._tetrahedra)

    # ---------------------------------------------------------------------------------------------------- makers

    @classmethod
    def from_mesh(
        cls, vertices: Any, faces: ArrayLike | None = None, *, material: Material,
        fixed: ArrayLike | Iterable[int] = (), method: str = "bem", name: str | None = None,
    ) -> Zone:  # fmt: skip
        """The solid inside a closed triangle mesh.

        Arguments: `vertices` (n, 3), m, and `faces` (m, 3), counter-clockwise seen from outside, or a trimesh object
        alone; `material`, isotropic with ν below 0.5; `fixed`, vertex ids or a mask (n,): the vertices that do not
        move (none is allowed, see `solve`); `method`, ``"bem"``, boundary elements, or ``"fem"``, quadratic tetrahedra
        for walls thinner than their triangles.

        The first call with a mesh and a Poisson's ratio computes and stores its boundary stiffness; it takes seconds at
        1,000 vertices and grows with the cube of their number.

        Raises `InputError` for a mesh that is open, inverted, crossing itself or degenerate, for walls too thin for
        it, and for a material that is not isotropic or incompressible.
        """
        checked = _checked_material(material)
        if not isinstance(method, str) or method not in ("bem", "fem"):
            raise InputError(f'method must be "bem" (boundary elements) or "fem" (tetrahedra), got {quoted(method)}')
        surface = checked_surface(vertices, faces)
        return cls(surface, vertex_ids("fixed", fixed, len(surface.vertices)), checked, method, name)

    @classmethod
    def from_tetrahedra(
        cls, points: ArrayLike, cells: ArrayLike, *, material: Material, fixed: ArrayLike | Iterable[int] = (),
        name: str | None = None,
    ) -> Zone:  # fmt: skip
        """The solid that tetrahedra fill, as quadratic finite elements (``pip install 'sennit[fem]'``).

        Arguments: `points` (p, 3), m, and `cells` (c, 4), either way round; `fixed`, ids of points on the surface, or a
        mask (p,). The zone's vertices are the points on the surface, in their order.

        Raises `InputError` for cells that do not fill one solid, and for fixed points inside it.
        """
        checked = _checked_material(material)
        given = validation.array("points", points, (None, 3))
        outer, triangles, tetrahedra = outer_faces(given, cells)
        surface = checked_surface(given[outer], triangles)
        ids = vertex_ids("fixed", fixed, len(given))
        for wrong in np.setdiff1d(ids, outer)[:1].tolist():
            raise InputError(f"fixed must hold points on the surface, got {wrong}, which is inside")
        return cls(surface, np.searchsorted(outer, ids), checked, "fem", name, tetrahedra=(given, tetrahedra))

    def with_fixed(self, fixed: ArrayLike | Iterable[int], name: str | None = None) -> Zone:
        """The same body held at other vertices, `fixed`: their numbers, or a mask of all.

        The boundary stiffness is shared, the Green's functions are new.
        """
        ids = vertex_ids("fixed", fixed, len(self._surface.vertices))
        return Zone(self._surface, ids, self._material, self._method, name, self._boundary, None, self._tetrahedra)

    def with_material(self, material: Material, name: str | None = None) -> Zone:
        """The same body of another `material`; one with the same Poisson's ratio shares the Green's functions."""
        checked = _checked_material(material)
        if checked.poisson_ratio == self._material.poisson_ratio:
            shared = (self._boundary, self._greens, self._tetrahedra)
            return Zone(self._surface, self._fixed, checked, self._method, name, *shared)
        return Zone(self._surface, self._fixed, checked, self._method, name, tetrahedra=self._tetrahedra)

    # --------------------------------------------------------------------------------------------------- reading

    @property
    def vertices(self) -> FloatArray:
        """Undeformed vertices (n, 3), m."""
        return self._surface.vertices.copy()

    @property
    def faces(self) -> IntArray:
        """Vertex ids of each face, (m, 3), counter-clockwise seen from outside."""
        return self._surface.faces.copy()

    @property
    def fixed(self) -> IntArray:
        """Sorted ids of the fixed vertices."""
        return self._fixed.copy()

    @property
    def material(self) -> Material:
        """What it is made of."""
        return self._material

    @property
    def method(self) -> str:
        """How its stiffness is made: ``"bem"``, boundary elements, or ``"fem"``, tetrahedra."""
        return self._method

    @cached_property
    def volume(self) -> float:
        """Volume of the undeformed body, m³."""
        a, b, c = np.moveaxis(self._surface.vertices[self._surface.faces] - self._surface.vertices[0], 1, 0)
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)

    @property
    def mass(self) -> float:
        """Of the undeformed body, its material's density times its volume, kg."""
        return self._material.density * self.volume

    @property
    def centre(self) -> FloatArray:
        """Centre of the undeformed body, (3,), m."""
        corners = self._surface.vertices[self._surface.faces] - self._surface.vertices[0]
        a, b, c = np.moveaxis(corners, 1, 0)
        volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
        return np.asarray(self._surface.vertices[0] + volumes @ corners.sum(axis=1) / (4.0 * volumes.sum()))

    # --------------------------------------------------------------------------------------------------- solving

    def solve(
        self, *, displacements: PerVertex = None, tractions: PerVertex = None, face_tractions: PerFace = None,
        loads: PerVertex = None, gravity: ArrayLike | None = None, released: ArrayLike | Iterable[int] = (),
        rigid_modes: str | None = None,
    ) -> ZoneState:  # fmt: skip
        """The equilibrium under prescribed displacements and loads.

        Arguments, each ``{vertex: (x, y, z)}`` or an array with a row for every vertex:

        - `displacements` (m): of free vertices, which are then held there (None or NaN leaves a component free), or of
          fixed ones, whose support is then moved (None means that the component stays where it is);
        - `tractions` (Pa): t_v is spread over the faces round v as a hat, t = Σ N_v t_v, f = ∮ N t dA;
        - `face_tractions` (Pa): ``{face: (x, y, z)}`` or (m, 3), constant over each face;
        - `loads` (N): forces at vertices. A force at a single vertex is as sharp as the mesh: see `touch`;
        - `gravity` (3,), m/s², in the zone's frame, acts on all of the body, whose density is its material's;
        - `released`: fixed vertices that are let go for this solve.

        A body held in fewer than six ways needs displacements that hold it, or ``rigid_modes="removed"``: then loads
        must balance, and of all solutions the one without mean displacement and rotation over the surface, ∮u dA = 0
        and ∮x × u dA = 0, is given.

        Changed boundary conditions go through the capacitance matrix of the stored Green's functions; its factor is
        kept, and updated by what enters and leaves at the next call.

        Raises `InputError`, having changed nothing, for vertices that do not exist, components both displaced and
        loaded, a body that nothing holds, and loads that do not balance.
        """
        given = (displacements, tractions, face_tractions, loads)
        conditions = Conditions.checked(self._surface, self._fixed, *given, released)
        pull = None
        if gravity is not None:
            pull = self._material.density * validation.vector("gravity", gravity)
            conditions.loads[:] += self._weight_of(pull)
        if rigid_modes is not None and not (isinstance(rigid_modes, str) and rigid_modes == "removed"):
            raise InputError(f'rigid_modes must be None or "removed", got {quoted(rigid_modes)}')
        self._check_held(conditions, rigid_modes)
        with self._lock:
            return self._solved(conditions, pull)

    def _check_held(self, conditions: Conditions, rigid_modes: str | None) -> None:
        support = np.setdiff1d(self._fixed, conditions.released, assume_unique=True)
        rows = np.flatnonzero(np.isfinite(conditions.displacements).ravel())
        if rigid_modes is None:
            if self._greens.held and not len(conditions.released):
                return
            left = unheld_modes(self._surface, support, rows).shape[1]
            if left:
                what = "nothing holds the body" if left == 6 else f"the body is held in {6 - left} of six ways only"
                raise InputError(f'{what}: {_WHAT_HOLDS}, or solve balanced loads with rigid_modes="removed"')
            return
        if self._greens.held:
            raise InputError(
                'rigid_modes="removed" is for a body that nothing holds, and this one is held: leave it out'
            )
        if len(rows) or len(conditions.released):
            raise InputError('rigid_modes="removed" goes with loads and tractions, not with displacements or released')
        self._check_balance(conditions.loads)

    def _check_balance(self, loads: FloatArray) -> None:
        modes = self._greens.modes
        out_of = np.abs(modes.T @ loads[self._greens.free].ravel()).max(initial=0.0)
        if out_of <= _BALANCED * float(np.abs(modes).max() * np.abs(loads).sum()):
            return
        centre = self._surface.vertex_areas @ self._surface.vertices / self._surface.vertex_areas.sum()
        force = loads.sum(axis=0)
        torque = np.cross(self._surface.vertices - centre, loads).sum(axis=0)
        raise InputError(
            f"loads must balance where nothing holds the body: their force is {_written(force)} N and their torque "
            f"{_written(torque)} N·m about the centre of the surface, {_written(centre)} m. Balance them, or "
            + _WHAT_HOLDS
        )

    def _solved(self, conditions: Conditions, pull: FloatArray | None = None) -> ZoneState:
        """The equilibrium; `pull` (3,), N/m³: the weight that is among the loads."""
        E = self._modulus
        support = np.setdiff1d(self._fixed, conditions.released, assume_unique=True)
        greens, capacitance = self._greens, self._capacitance
        release: Release | None = None
        if len(conditions.released):
            greens, capacitance, release = self._let_go(conditions.released, support)
        moving = greens.free if release is None else np.concatenate((greens.free, release.vertices))
        rows = rows_of(moving)
        forces = conditions.loads.ravel()[rows] / E
        wanted = conditions.displacements.ravel()
        supported = rows_of(support)
        moves = np.nan_to_num(wanted[supported])
        if moves.any():
            forces -= support_forces(greens, supported, moves, rows)
        held = np.flatnonzero(np.isfinite(wanted[rows]))
        targets = wanted[rows][held]
        if release is None:
            u, lam, missed = solve_held(greens, capacitance, forces, held, targets)
        else:
            u, lam, missed = release.solve(forces, held, targets)
        displacements = np.zeros(conditions.loads.shape)
        displacements.ravel()[rows] = u
        displacements.ravel()[supported] = moves
        applied = conditions.loads.copy()
        applied.ravel()[rows[held]] += E * lam
        carrying = np.sort(moving[applied[moving].any(axis=1)])
        if pull is not None:  # which acts on the support's vertices, too
            applied[support] = conditions.loads[support]
            carrying = np.flatnonzero(applied.any(axis=1))
        largest = float(np.abs(displacements).max(initial=0.0))
        method = "released" if len(conditions.released) else "capacitance" if len(held) else "greens"
        report = SolveReport("converged", 0, missed / largest if largest else 0.0, method, len(displacements))
        return ZoneState(
            self, carrying, applied[carrying], displacements=displacements, support=support, report=report, pull=pull
        )

    def _let_go(self, released: IntArray, support: IntArray) -> tuple[GreensFunctions, Capacitance, Release | None]:
        """The capacitance of released nodes; Green's functions anew where what stays fixed can't hold the body."""
        if self._greens.held and not unheld_modes(self._surface, support).size:
            if self._release is None or not np.array_equal(self._release.vertices, released):
                self._release = Release(self._greens, released, self._release)
            return self._greens, self._capacitance, self._release
        greens = self._regrouped
        if greens is None or not np.array_equal(greens.fixed, support):
            greens = self._regrouped = GreensFunctions(self._surface, self._boundary, support)
        return greens, Capacitance(greens.compliance), None

    # -------------------------------------------------------------------------------------------------- touching

    def touch(
        self, place: int | ArrayLike, *, displacement: object = None, force: ArrayLike | None = None,
        radius: float | None = None,
    ) -> ZoneState:  # fmt: skip
        """What a probe of `radius` feels that touches the surface at `place` and moves with it, or pushes it.

        The probe acts on a patch of vertices with weights w_i ∝ ∮ N_i (1 − r²/ρ²)² dA, Σw = 1: its displacement is
        Σ w_i u_i, and it applies w_i f to each. So f = E C_p⁻¹ d with C_p = Σ w_i w_j C_ij.

        Arguments: `place`, a vertex id or a position (3,), m, in the undeformed zone's frame, from which the nearest
        point of the surface is taken; `displacement` (3,), m, of the probe (None for a component along which it slides
        without force), or `force` (3,), N; `radius` ρ, m, by default 2.5 times the square root of the mean area of
        vertices near there, at which the stiffness varies by less than 1 % between vertices and middles of faces. 0
        is the bare point, whose stiffness depends on the mesh and on where in its triangle it lies.

        Returns a state whose `force` is what the probe applies; `probe` has the patch, its displacement and stiffness.
        The surface is computed when it is asked for.

        Raises `InputError` for a place that the support holds, a body that nothing holds, and a radius smaller than
        the triangle.
        """
        asked = Touching.checked(self._surface, place, displacement, force)
        rho = -1.0 if radius is None else validation.number("radius", radius, minimum=0.0)
        if not self._greens.held:
            raise InputError(f"nothing holds the body that is touched: {_WHAT_HOLDS}")
        count, work, touched = self._places.touch(
            self._greens, self._modulus, asked.place, rho, asked.given, asked.moves
        )
        if count == 0:
            raise InputError(small_radius(rho, float(touched.farthest[0]), int(touched.face[0])))
        if count < 0:
            raise nowhere_to_go(place)
        return ZoneState._touched(self, work.ids[:count].copy(), work.weights[:count].copy(), touched)

    def press(
        self, shape: AbstractShape, *, friction: float = 0.0, after: ZoneState | None = None, loads: PerVertex = None,
        tractions: PerVertex = None, face_tractions: PerFace = None, throw: bool = True,
    ) -> PressState:  # fmt: skip
        """The equilibrium with a rigid `shape` that reaches into the zone: unilateral contact with Coulomb friction.

        No free vertex may be inside the shape; forces push, and friction holds up to its limit::

            0 ≤ f_n ⊥ d(x + u) ≥ 0,   |f_t| ≤ μ f_n,   f_t = −μ f_n σ/|σ| where the vertex slips by σ ≠ 0

        Arguments: `shape`, any (`Sphere`, `Box`, `Mesh`, …), in the frame of the zone's vertices; `friction` μ ≥ 0;
        `after`, the state before, from which friction goes on; `loads`, `tractions` and `face_tractions` besides, as in
        `solve`; `throw`: whether a solve that fails raises.

        History. With `after=` a state pressed by the same shape, each vertex that it touched then sticks to that place
        of the shape, which has since moved and turned from its pose then to its pose now (``shape.moved(pose)`` keeps
        the turn); a vertex that did not touch was met on the straight way between the two poses. So a path is followed
        in steps that are small beside what sliding changes; on which side of an edge a vertex lies comes from the path
        too. Without `after`, or after another shape, a `solve` or a press that failed, the shape is taken to have come
        straight to where it is, without turning: a plane along its normal, other shapes along the mean normal of the
        surface that they cover.

        Returns a `PressState`: `force` and `torque` of the shape, `pressures`, `patch`, fits of peak and radius.
        Contact is at vertices: an imprint has to be several triangles wide, and what is pressed in between vertices is
        not felt (`report.message` says so); for a fine tip use `touch`. Strains are small: what is pressed in by more
        than a part of the body's thickness means little. Normals of the shape are taken at displaced places. With μ
        above 1 Coulomb's law may have several solutions, or none: then a long step may fail, or jam.

        Raises `InputError` for a body that nothing holds and for bad arguments, `SolveError` if contact forces are not
        found, or if the shape reaches into fixed vertices; with ``throw=False`` the state's `report` says so.
        """
        asked = Pressing.checked(shape, friction, throw)
        if after is not None and (not isinstance(after, ZoneState) or after.zone is not self):
            raise InputError(f"after must be a state of this zone ({self.name}), got {quoted(after)}")
        greens = self._greens
        if not greens.held:
            raise InputError(
                "nothing holds the body that is pressed: fix three vertices or more that are not on a line (fixed=)"
            )
        carried: FloatArray | None = None
        base = np.zeros(self._surface.vertices.shape)
        if loads is not None or tractions is not None or face_tractions is not None:
            carried = Conditions.checked(self._surface, self._fixed, None, tractions, face_tractions, loads).loads
            base[greens.free] = greens.displacements(carried[greens.free].ravel() / self._modulus).reshape(-1, 3)
        before: Before | None = None
        if isinstance(after, PressState) and asked.follows(after.shape, after.report):
            before = Before.since(after._pressed.displacements, after._pressed.forces, after.shape, asked.shape)
        pressed = press_body(body_of(greens), base, asked.shape, asked.friction, before)
        state = PressState(self, asked, pressed, base if carried is not None else None, carried)
        asked.finish(state, state.report)
        return state


def _made_again(
    surface: Surface, fixed: IntArray, material: Material, method: str, name: str | None, tetrahedra: Tetrahedra | None
) -> Zone:
    return Zone(surface, fixed, material, method, name, tetrahedra=tetrahedra)


def _checked_material(material: object) -> Material:
    if not isinstance(material, Material):
        raise InputError(f"material must be a sennit.Material, got {quoted(material)}")
    elastic_material(material, "a zone")
    if not material.isotropic:
        raise InputError(
            f"material must be isotropic for a solid, got shear_modulus={material.shear_modulus:g} with "
            f"youngs_modulus={material.youngs_modulus:g} and poisson_ratio={material.poisson_ratio:g}: leave out "
            "shear_modulus or poisson_ratio"
        )
    if not material.poisson_ratio < 0.5:
        raise InputError(
            f"material must have a Poisson's ratio below 0.5, got {material.poisson_ratio:g}: an incompressible solid "
            "has no boundary stiffness. Take 0.49; rubber and tissue answer to a push much the same"
        )
    return material


def _written(vector: FloatArray) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in vector) + ")"
