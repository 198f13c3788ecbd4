"""A solved chain of zones: each zone's state, the seams' forces, and how good the answer is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from sennit import validation
from sennit.attributes import unchanging
from sennit.bodies.zone.pressing import Pressing
from sennit.bodies.zone.state import Probe, ZoneState, read_only
from sennit.elastostatics.chain.kernels.solve import carry
from sennit.elastostatics.chain.load import ZoneLoad
from sennit.elastostatics.chain.system import Solved
from sennit.elastostatics.contact.press import Pressed
from sennit.elastostatics.surface import IntArray
from sennit.errors import SolveReport
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import AbstractShape
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.bodies.zone.chain import ZoneChain

__all__ = ["ChainPressState", "ChainReport", "ChainState", "ChainTouchState"]

_EXACT = ("direct", "sweeps")


@unchanging
@dataclass(frozen=True, slots=True)
class ChainReport:
    """How a chain was solved, and how far from the exact solution of its zones it may be."""

    status: Literal["converged", "approximate"]
    """``"approximate"`` for the methods ``"block_diagonal"``, ``"kinematic"`` and ``"modes"``."""
    method: str
    """What gave the answer: ``"direct"``, ``"sweeps"``, ``"block_diagonal"``, ``"kinematic"`` or ``"modes"``."""
    sweeps: int
    """Block Gauss–Seidel sweeps; 0 for other methods."""
    residual: float
    """Unbalanced forces at the seams over the forces that load them, |b − A v| / |b|."""
    error_estimate: float
    """Estimated error of the seams' displacements over their size; for ``"direct"`` the residual."""
    fallback: bool
    """Whether sweeps missed their tolerance and the direct method stepped in."""

    @property
    def converged(self) -> bool:
        """Whether it is the solution, to the tolerance of sweeps (1e-8) or to rounding."""
        return self.status == "converged"


@unchanging
class ChainState:
    """A chain of zones in equilibrium at given poses.

    Everything but the seams' displacements is computed when it is first asked for; arrays are read-only.
    """

    chain: ZoneChain
    """The chain that was solved."""
    poses: tuple[Pose, ...]
    """Poses of the zones."""
    report: ChainReport
    """How it was solved."""
    _solved: Solved
    _loads: dict[int, ZoneLoad]

    def __init__(
        self, chain: ZoneChain, poses: list[Pose], solved: Solved, loads: dict[int, ZoneLoad],
    ) -> None:  # fmt: skip
        own = self.__dict__  # it never changes: nothing else can fill it
        own["chain"], own["poses"], own["_solved"], own["_loads"] = chain, tuple(poses), solved, loads
        status: Literal["converged", "approximate"] = "converged" if solved.method in _EXACT else "approximate"
        own["report"] = ChainReport(
            status, solved.method, solved.sweeps, solved.residual, solved.error, solved.fallback
        )

    def __repr__(self) -> str:
        report = self.report
        return f"ChainState({len(self.poses)} zones, {report.method}, residual {report.residual:.1e})"

    def _seam_part(self, z: int) -> FloatArray:
        return self._solved.u[self.chain._system.zone_slice(z)]

    def _zone_forces(self, z: int) -> tuple[FloatArray | None, ZoneLoad | None, FloatArray]:
        """Forces of the free rows of zone z (E = 1; None: none), its load, and what holds nodes."""
        load = self._loads.get(z)
        if load is None:
            return None, None, np.zeros(0)
        total, lam = load.total(self._seam_part(z))
        return total, load, lam

    def _surface(self, z: int, single: bool) -> FloatArray:
        zone = self.chain._condensed[z]
        total, load, _ = self._zone_forces(z)
        u = zone.surface(total, self._seam_part(z), single)
        if load is not None:
            u[zone.greens.fixed] = load.moves
            if load.held is not None:
                u.reshape(-1)[zone.greens.rows[load.held.rows]] = load.targets
        return read_only(u)

    @cached_property
    def displacements(self) -> tuple[FloatArray, ...]:
        """Displacements of each zone's vertices, (n, 3), m, in its own frame."""
        return tuple(self._surface(z, False) for z in range(len(self.poses)))

    def positions(self, world: bool = True, single: bool = False) -> tuple[FloatArray, ...]:
        """Deformed vertices of each zone, (n, 3), m, in the world, or else in the zone's own frame.

        `single` computes them in single precision where `displacements` were not asked for before: good for drawing.
        """
        validation.flag("world", world)
        known = "displacements" in self.__dict__ or not validation.flag("single", single)
        result = []
        for z, pose in enumerate(self.poses):
            u = self.displacements[z] if known else self._surface(z, True)
            vertices = self.chain._zones[z]._surface.vertices
            if world:
                places = np.empty_like(vertices)
                carry(vertices, u, pose.rotation, pose.position, places)
            else:
                places = vertices + u
            result.append(read_only(places))
        return tuple(result)

    @cached_property
    def _reactions(self) -> tuple[FloatArray, ...]:
        """What the seams apply to each zone, N, in columns of its prolongation."""
        return tuple(
            zone._modulus * self.chain._condensed[z].reactions(self._zone_forces(z)[0], self._seam_part(z))
            for z, zone in enumerate(self.chain._zones)
        )

    @cached_property
    def zones(self) -> tuple[ZoneState, ...]:
        """Each zone's state in its own frame; seams count among what the outside applies to it."""
        result = []
        for z, zone in enumerate(self.chain._zones):
            condensed = self.chain._condensed[z]
            greens, E = condensed.greens, zone._modulus
            forces = np.zeros((len(greens.slot), 3))
            _, load, lam = self._zone_forces(z)
            free = np.zeros(len(greens.rows))
            if load is not None:
                forces += load.loads
                if load.held is not None:
                    free[load.held.rows] = E * lam
            free[condensed.interface] += condensed.to_interface(self._reactions[z])
            forces[greens.free] += free.reshape(-1, 3)
            pull = None if load is None else load.pull
            carrying = np.flatnonzero(forces.any(axis=1) & ((greens.slot >= 0) | (pull is not None)))
            report = SolveReport(
                "converged", self.report.sweeps, self.report.residual, self.report.method, len(forces), "",
                self.report.error_estimate,
            )  # fmt: skip
            u = self.displacements[z]
            result.append(ZoneState(zone, carrying, forces[carrying], displacements=u, report=report, pull=pull))
        return tuple(result)

    @cached_property
    def seam_forces(self) -> tuple[FloatArray, ...]:
        """What each seam applies to the first of its zones at its nodes, (nodes, 3), N, in the world.

        The second zone gets the opposite: for ``"direct"`` and ``"sweeps"`` to their residual; for approximate methods
        half the difference of the two sides is given. Nodes are the vertices of the leading side (`Seam.leader`).
        """
        result = []
        for seam, sides in zip(self.chain.seams, self.chain._sides, strict=True):
            both = []
            for z, side in zip(seam.zones, sides, strict=True):
                zone = self.chain._condensed[z]
                begin, m = int(zone.places[side]), zone.nodes[side]
                part = zone.to_nodes(self._reactions[z])[begin : begin + 3 * m].reshape(3, m)[:, : seam.nodes]
                both.append(part.T @ self.poses[z].rotation.T)
            result.append(read_only(0.5 * (both[0] - both[1])))
        return tuple(result)

    @cached_property
    def energy(self) -> float:
        """Elastic energy of all zones, J."""
        return float(sum(state.energy for state in self.zones))


class ChainTouchState(ChainState):
    """A chain that a probe touches."""

    zone: int
    """Number of the zone that is touched."""
    probe: Probe
    """Where, and how stiff the whole chain is there; in the zone's frame."""
    force: FloatArray
    """What the probe applies, (3,), N, in the zone's frame."""

    def __init__(
        self, chain: ZoneChain, poses: list[Pose], solved: Solved, zone: int, load: ZoneLoad, probe: Probe,
        force: FloatArray,
    ) -> None:  # fmt: skip
        super().__init__(chain, poses, solved, {zone: load})
        self.__dict__.update(zone=zone, probe=probe, force=read_only(force))


class ChainPressState(ChainState):
    """A chain of zones with a rigid shape pressed into it; the shape and its forces are in the world."""

    shape: AbstractShape
    """The shape that presses."""
    friction: float
    """Coulomb's coefficient μ."""
    _pressing: Pressing
    _pressed: Pressed
    _touched_zones: IntArray
    _touched_vertices: IntArray
    _world_forces: FloatArray
    _normals: FloatArray

    def __init__(
        self, chain: ZoneChain, poses: list[Pose], solved: Solved, loads: dict[int, ZoneLoad], pressing: Pressing,
        pressed: Pressed, zones: IntArray, vertices: IntArray,
    ) -> None:  # fmt: skip
        super().__init__(chain, poses, solved, loads)
        forces = pressed.forces[: len(zones)]
        on = np.flatnonzero(forces.any(axis=1))
        self.__dict__.update(
            shape=pressing.shape, friction=pressing.friction, _pressing=pressing, _pressed=pressed,
            _touched_zones=zones[on], _touched_vertices=vertices[on], _world_forces=forces[on],
            _normals=pressed.normals[np.searchsorted(pressed.vertices, on)],
        )  # fmt: skip

    @property
    def force(self) -> FloatArray:
        """What the shape applies to the chain, (3,), N, in the world."""
        return np.asarray(self._world_forces.sum(axis=0))

    @cached_property
    def torque(self) -> FloatArray:
        """Torque of the shape on the chain about the world's origin, (3,), N·m, at deformed places."""
        places = self.positions()
        where = [places[z][v] for z, v in zip(self._touched_zones, self._touched_vertices, strict=True)]
        return np.asarray(np.cross(np.array(where).reshape(-1, 3), self._world_forces).sum(axis=0))

    @property
    def patch(self) -> dict[int, IntArray]:
        """Vertices on which the shape presses, by number of their zone."""
        return {int(z): self._touched_vertices[self._touched_zones == z] for z in np.unique(self._touched_zones)}

    @property
    def contact_forces(self) -> dict[int, FloatArray]:
        """What the shape applies to each vertex of `patch`, (k, 3), N, in the world."""
        return {int(z): self._world_forces[self._touched_zones == z] for z in np.unique(self._touched_zones)}

    @cached_property
    def _sticks(self) -> NDArray[np.bool_]:
        return self._pressing.sticks(self._world_forces, self._normals)

    @property
    def sticking(self) -> dict[int, IntArray]:
        """Vertices of `patch` that friction holds, by number of their zone; none without friction."""
        return self._by_zone(self._sticks)

    @property
    def slipping(self) -> dict[int, IntArray]:
        """Vertices of `patch` whose friction is at its limit, by number of their zone."""
        return self._by_zone(~self._sticks)

    def _by_zone(self, chosen: NDArray[np.bool_]) -> dict[int, IntArray]:
        return {z: ids[chosen[self._touched_zones == z]] for z, ids in self.patch.items()}

    @property
    def contact_report(self) -> SolveReport:
        """How the contact was solved; `report` tells of the seams."""
        return self._pressed.report
