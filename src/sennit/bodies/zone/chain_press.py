"""A rigid shape pressed into a chain of zones: contact in the world, with the whole chain's compliance.

Vertices that may touch are taken from all zones asked for. With R_z the rotations of their zones, C⁰ their compliance
with seams held still, P the seams' influence on them and L the factor of the seams' system A, their compliance in the
world is

    B = R C⁰ Rᵀ / E + Yᵀ Y,    Y = L⁻¹ Tᵀ Pᵀ Rᵀ,

which is what the contact of a single zone takes. The vertices that it finds inside once the whole surface has moved
join those that may touch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sennit import validation
from sennit.bodies.zone.chain_state import ChainState, ZoneLoad
from sennit.bodies.zone.press import held_by_friction
from sennit.elastostatics.chain.system import Solved
from sennit.elastostatics.contact.kernels.pressing import UNSOLVED
from sennit.elastostatics.contact.press import Before, Pressed, press_nodes, shape_motion
from sennit.elastostatics.greens import rows_of
from sennit.elastostatics.surface import IntArray
from sennit.errors import InputError, SolveError, SolveReport
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import AbstractShape
from sennit.validation import FloatArray, quoted

if TYPE_CHECKING:
    from sennit.bodies.zone.chain import ZoneChain

__all__ = ["ChainPressState", "press_chain"]

_ROUNDS = 8


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Vertices that may touch: of which zone, which ones, and where they are in the world without contact."""

    zones: IntArray
    vertices: IntArray
    rest: FloatArray
    """(k, 3), m: undeformed, at their zones' poses."""
    base: FloatArray
    """(k, 3), m: displacements without contact, in the world."""
    outward: FloatArray
    """(k, 3), m²: normals times areas, in the world."""
    free: NDArray[np.bool_]
    """Those of them that can move."""


def press_chain(
    chain: ZoneChain, shape: AbstractShape, poses: list[Pose], zones: object, friction: float,
    after: ChainState | None, method: str, throw: bool,
) -> ChainPressState:  # fmt: skip
    """What `ZoneChain.press` does."""
    if not isinstance(shape, AbstractShape):
        raise InputError(f"shape must be a Sphere, a Plane, a Box or a Mesh, got {quoted(shape)}")
    mu = validation.number("friction", friction, minimum=0.0, maximum=1e9)
    throwing = validation.flag("throw", throw)
    if after is not None and (not isinstance(after, ChainState) or after.chain is not chain):
        raise InputError(f"after must be a state of this chain, got {quoted(after)}")
    touching = _checked_zones(zones, len(poses))
    with chain._lock:
        solved, _ = chain._solved(poses, {}, method)
        untouched = ChainState(chain, poses, solved, {})
        everything = _nodes(chain, untouched, touching, method)
        past = after if isinstance(after, ChainPressState) and shape._same_form(after.shape) else None
        past = past if past is not None and past.contact_report.converged else None
        before = None if past is None else _before(everything, past, shape)
        pressed, chosen, change = _in_contact(chain, poses, everything, shape, mu, before)
    loads = _loads(chain, poses, everything, chosen, pressed)
    state = ChainPressState(
        chain, poses, chain._system.moved(solved, change), loads, shape, mu, pressed,
        everything.zones[chosen], everything.vertices[chosen],
    )  # fmt: skip
    if throwing and not state.contact_report.converged:
        raise SolveError(state.contact_report, state)
    return state


def _checked_zones(given: object, count: int) -> list[int]:
    if given is None:
        return list(range(count))
    what = "a zone's number or a list of them"
    entries = validation.entries("zone", given, what) if isinstance(given, Iterable) else [given]
    if not entries:
        raise InputError("zone must name a zone at least, or be None for all of them, got none")
    return sorted({validation.count("zone", entry, 0, count - 1) for entry in entries})


def _outward(chain: ZoneChain, poses: Sequence[Pose]) -> list[FloatArray]:
    """Normals times areas of all zones' vertices in the world, (n, 3), m², of what can be touched.

    A point of a seam has what both sides see of it.
    """
    result = []
    for skin, pose in zip(chain._skins, poses, strict=True):
        total = np.zeros_like(skin.vertices)
        for corner in range(3):
            np.add.at(total, skin.faces[:, corner], skin.normals * (skin.areas / 3.0)[:, None])
        result.append(total @ pose.rotation.T)
    for seam in chain.seams:
        if seam.leader is None:
            (a, b), (ids, others) = seam.zones, seam.vertices
            both = result[a][ids] + result[b][others]
            result[a][ids], result[b][others] = both, both
    return result


def _nodes(chain: ZoneChain, untouched: ChainState, zones: Sequence[int], method: str) -> _Nodes:
    """All vertices of some zones, each point of a seam once: with the zone that leads there."""
    parts = []
    outward = _outward(chain, untouched.poses)
    for z in zones:
        surface, pose = chain._zones[z]._surface, untouched.poses[z]
        keep = np.ones(len(surface.vertices), dtype=bool)
        for seam in chain.seams:
            for end in (0, 1):
                if seam.zones[end] == z and end != (seam.leader or 0) and seam.zones[1 - end] in zones:
                    keep[seam.vertices[end]] = False
        vertices = np.flatnonzero(keep)
        R = pose.rotation.T
        free = chain._zones[z]._greens.slot >= 0
        if method == "kinematic":
            free &= ~chain._on_seams[z]  # placed by the skeleton, whatever pushes
        parts.append(
            (
                np.full(len(vertices), z),
                vertices,
                surface.vertices[vertices] @ R + pose.position,
                untouched.displacements[z][vertices] @ R,
                outward[z][vertices],
                free[vertices],
            )
        )
    return _Nodes(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _before(nodes: _Nodes, past: ChainPressState, shape: AbstractShape) -> Before:
    """The state before as displacements from where the zones carry the vertices now, and the shape's motion since."""
    places = past.positions()
    displacements, forces = np.empty_like(nodes.rest), np.zeros_like(nodes.rest)
    for z in np.unique(nodes.zones):
        mine = nodes.zones == z
        displacements[mine] = places[z][nodes.vertices[mine]] - nodes.rest[mine]
        whole = np.zeros_like(places[z])
        touched = past._touched_zones == z
        whole[past._touched_vertices[touched]] = past._world_forces[touched]
        forces[mine] = whole[nodes.vertices[mine]]
    return Before(displacements, forces, shape_motion(past.shape, shape))


def _in_contact(
    chain: ZoneChain, poses: list[Pose], nodes: _Nodes, shape: AbstractShape, mu: float, before: Before | None
) -> tuple[Pressed, IntArray, FloatArray]:
    """The contact, the vertices (places among `nodes`) that might have touched, and what it does to the seams."""
    distance = shape.signed_distance(nodes.rest + nodes.base)
    depth = max(-float(distance.min()), 0.0)
    candidates = distance < 0.5 * depth if depth > 0.0 else distance < 0.0
    if before is not None:
        candidates |= before.forces.any(axis=1)
    for _ in range(_ROUNDS):
        chosen = np.flatnonzero(candidates & nodes.free)
        fixed = np.flatnonzero(candidates & ~nodes.free)
        B, Y = _compliance(chain, poses, nodes, chosen)
        picked = np.concatenate((chosen, fixed))
        past = None if before is None else Before(before.displacements[picked], before.forces[picked], before.motion)
        pressed = press_nodes(
            B, np.arange(len(chosen)), np.arange(len(chosen), len(picked)), nodes.rest[picked], nodes.outward[picked],
            nodes.base[picked], shape, mu, past,
        )  # fmt: skip
        change = chain._system.backward(Y @ pressed.forces[: len(chosen)].ravel())
        moved = _displaced(chain, poses, nodes, chosen, pressed, change)
        inside = shape.signed_distance(nodes.rest + moved) < -1e-9 * max(depth, 1e-300)
        entering = inside & nodes.free & ~candidates
        if not entering.any():
            break
        candidates |= entering
    else:
        pressed = replace(pressed, status=UNSOLVED)
    return pressed, chosen, change


def _compliance(chain: ZoneChain, poses: list[Pose], nodes: _Nodes, chosen: IntArray) -> tuple[FloatArray, FloatArray]:
    """B (3k, 3k) of the chosen vertices in the world, m/N, and Y (unknowns, 3k)."""
    B = np.zeros((3 * len(chosen), 3 * len(chosen)))
    influence = np.zeros((chain._system.size, 3 * len(chosen)))
    for z in np.unique(nodes.zones[chosen]).tolist():
        mine = np.flatnonzero(nodes.zones[chosen] == z)
        zone, R = chain._condensed[z], poses[z].rotation
        rows = rows_of(zone.greens.slot[nodes.vertices[chosen[mine]]])
        columns = rows_of(mine)
        own = zone.held_compliance(rows).reshape(len(mine), 3, len(mine), 3) / chain._zones[z]._modulus
        own = np.einsum("ac,icjd,bd->iajb", R, own, R, optimize=True).reshape(len(columns), len(columns))
        B[np.ix_(columns, columns)] = 0.5 * (own + own.T)
        P = zone.prolongation_rows(rows).reshape(len(mine), 3, -1)
        P = np.einsum("ac,ics->ias", R, P).reshape(len(columns), -1)
        influence[:, columns] = chain._system.gathered(z, P.T)
    Y = chain._system.forward(influence)
    B += Y.T @ Y
    return B, Y


def _displaced(
    chain: ZoneChain, poses: list[Pose], nodes: _Nodes, chosen: IntArray, pressed: Pressed, change: FloatArray
) -> FloatArray:
    """Displacements (all nodes, 3) in the world with contact."""
    out = nodes.base.copy()
    seams = chain._system.seen(change)
    for z in np.unique(nodes.zones).tolist():
        zone, R = chain._condensed[z], poses[z].rotation
        forces = np.zeros(len(zone.greens.compliance))
        mine = np.flatnonzero(nodes.zones[chosen] == z)
        if len(mine):
            values = pressed.forces[mine] @ R / chain._zones[z]._modulus
            forces[rows_of(zone.greens.slot[nodes.vertices[chosen[mine]]])] = values.ravel()
        u = zone.surface(forces, seams[chain._system.zone_slice(z)])
        here = nodes.zones == z
        out[here] += u[nodes.vertices[here]] @ R.T
    return out


def _loads(
    chain: ZoneChain, poses: list[Pose], nodes: _Nodes, chosen: IntArray, pressed: Pressed
) -> dict[int, ZoneLoad]:
    loads = {}
    forces = pressed.forces[: len(chosen)]
    for z in np.unique(nodes.zones[chosen]).tolist():
        mine = np.flatnonzero((nodes.zones[chosen] == z) & forces.any(axis=1))
        nodal = np.zeros((len(chain._zones[z]._surface.vertices), 3))
        nodal[nodes.vertices[chosen[mine]]] = forces[mine] @ poses[z].rotation
        loads[z] = ZoneLoad(chain._condensed[z], chain._zones[z]._modulus, nodal)
    return loads


class ChainPressState(ChainState):
    """A chain of zones with a rigid shape pressed into it; the shape and its forces are in the world."""

    def __init__(
        self, chain: ZoneChain, poses: list[Pose], solved: Solved, loads: dict[int, ZoneLoad], shape: AbstractShape,
        friction: float, pressed: Pressed, zones: IntArray, vertices: IntArray,
    ) -> None:  # fmt: skip
        super().__init__(chain, poses, solved, loads)
        self.shape = shape
        """The shape that presses."""
        self.friction = friction
        """μ"""
        self._pressed = pressed
        forces = pressed.forces[: len(zones)]
        on = np.flatnonzero(forces.any(axis=1))
        self._touched_zones, self._touched_vertices = zones[on], vertices[on]
        self._world_forces = forces[on]
        self._normals = pressed.normals[np.searchsorted(pressed.vertices, on)]

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
        return held_by_friction(self._world_forces, self._normals, self.friction)

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
