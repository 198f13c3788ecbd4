"""Contact of a rigid shape with a chain of zones: in the world, with the whole chain's compliance.

Vertices that may touch are taken from all zones asked for. With R_z the rotations of their zones, C⁰ their compliance
with seams held still, P the seams' influence on them and L the factor of the seams' system A, their compliance in the
world is

    B = R C⁰ Rᵀ / E + Yᵀ Y,    Y = L⁻¹ Tᵀ Pᵀ Rᵀ,

which is what the contact of a single zone takes. The vertices that it finds inside once the whole surface has moved
join those that may touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sennit.bodies.zone.chain_state import ChainPressState, ChainState
from sennit.bodies.zone.pressing import Pressing
from sennit.elastostatics.chain.few import Parts
from sennit.elastostatics.chain.load import ZoneLoad
from sennit.elastostatics.contact.kernels.pressing import UNSOLVED
from sennit.elastostatics.contact.press import Before, Pressed, press_body
from sennit.elastostatics.contact.tables import Body
from sennit.elastostatics.greens import rows_of
from sennit.elastostatics.surface import IntArray
from sennit.geometry.shapes import AbstractShape
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.bodies.zone.chain import ZoneChain

__all__ = ["ChainContact"]

_ROUNDS = 8


class ChainContact:
    """The vertices of some zones of a chain that may touch a shape, each point of a seam once: as its leader's.

    Arguments: `chain`, whose seams' system is at the poses of `untouched`, the state without contact; `zones`, those
    whose vertices may touch; `method` by which `untouched` was solved; `parts`, zones and seams as it has them.
    """

    def __init__(
        self, chain: ZoneChain, untouched: ChainState, zones: Sequence[int], method: str, parts: Parts
    ) -> None:  # fmt: skip
        self._chain, self._condensed, self._system = chain, parts.zones, parts.system
        self._poses = poses = untouched.poses
        outward = self._all_outward()
        picked = [(z, self._leading(z, zones)) for z in zones]
        self.zones: IntArray = np.concatenate([np.full(len(ids), z) for z, ids in picked])
        """Zone of each vertex, (k,)."""
        self.vertices: IntArray = np.concatenate([ids for _, ids in picked])
        """Its number in that zone, (k,)."""
        self.rest: FloatArray = np.concatenate(
            [chain._zones[z]._surface.vertices[ids] @ poses[z].rotation.T + poses[z].position for z, ids in picked]
        )
        """Places in the world, undeformed, at their zones' poses, (k, 3), m."""
        self.base: FloatArray = np.concatenate(
            [untouched.displacements[z][ids] @ poses[z].rotation.T for z, ids in picked]
        )
        """Displacements without contact, in the world, (k, 3), m."""
        self.outward: FloatArray = np.concatenate([outward[z][ids] for z, ids in picked])
        """Normals times areas, in the world, (k, 3), m²."""
        self.free = np.concatenate([self._movable(z, method)[ids] for z, ids in picked])
        """Those of them that can move, (k,)."""

    def _all_outward(self) -> list[FloatArray]:
        """Normals times areas of all zones' vertices in the world, (n, 3), m², of what can be touched.

        A point of a seam has what both sides see of it.
        """
        result = []
        for skin, pose in zip(self._chain._skins, self._poses, strict=True):
            total = np.zeros_like(skin.vertices)
            for corner in range(3):
                np.add.at(total, skin.faces[:, corner], skin.normals * (skin.areas / 3.0)[:, None])
            result.append(total @ pose.rotation.T)
        for seam in self._chain.seams:
            if seam.leader is None:
                (a, b), (ids, others) = seam.zones, seam.vertices
                both = result[a][ids] + result[b][others]
                result[a][ids], result[b][others] = both, both
        return result

    def _leading(self, z: int, zones: Sequence[int]) -> IntArray:
        """Vertices of zone z that stand for themselves, not for those of another of `zones` on a seam."""
        keep = np.ones(len(self._chain._zones[z]._surface.vertices), dtype=bool)
        for seam in self._chain.seams:
            for end in (0, 1):
                if seam.zones[end] == z and end != (seam.leader or 0) and seam.zones[1 - end] in zones:
                    keep[seam.vertices[end]] = False
        return np.flatnonzero(keep)

    def _movable(self, z: int, method: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        free = self._chain._zones[z]._greens.slot >= 0
        if method == "kinematic":
            free &= ~self._chain._on_seams[z]  # placed by the skeleton, whatever pushes
        return free

    def before(self, past: ChainPressState, shape: AbstractShape) -> Before:
        """A state before as displacements from where the zones carry the vertices now, and the shape's motion since."""
        places = past.positions()
        displacements, forces = np.empty_like(self.rest), np.zeros_like(self.rest)
        for z in np.unique(self.zones):
            mine = self.zones == z
            displacements[mine] = places[z][self.vertices[mine]] - self.rest[mine]
            whole = np.zeros_like(places[z])
            touched = past._touched_zones == z
            whole[past._touched_vertices[touched]] = past._world_forces[touched]
            forces[mine] = whole[self.vertices[mine]]
        return Before.since(displacements, forces, past.shape, shape)

    def solve(self, pressing: Pressing, before: Before | None) -> tuple[Pressed, IntArray, FloatArray]:
        """The contact, which of the vertices might have touched (places among them), what it does to the seams."""
        shape = pressing.shape
        distance = shape.signed_distance(self.rest + self.base)
        depth = max(-float(distance.min()), 0.0)
        candidates = distance < 0.5 * depth if depth > 0.0 else distance < 0.0
        if before is not None:
            candidates |= before.forces.any(axis=1)
        for _ in range(_ROUNDS):
            chosen = np.flatnonzero(candidates & self.free)
            fixed = np.flatnonzero(candidates & ~self.free)
            B, Y = self._compliance(chosen)
            picked = np.concatenate((chosen, fixed))
            body = Body.of(
                compliance=B, free=np.arange(len(chosen)), fixed=np.arange(len(chosen), len(picked)),
                places=self.rest[picked], outward=self.outward[picked],
            )  # fmt: skip
            past = None if before is None else before.at(picked)
            pressed = press_body(body, self.base[picked], shape, pressing.friction, past)
            change = self._system.backward(Y @ pressed.forces[: len(chosen)].ravel())
            moved = self._displaced(chosen, pressed, change)
            inside = shape.signed_distance(self.rest + moved) < -1e-9 * max(depth, 1e-300)
            entering = inside & self.free & ~candidates
            if not entering.any():
                break
            candidates |= entering
        else:
            pressed = replace(pressed, status=UNSOLVED)
        return pressed, chosen, change

    def _compliance(self, chosen: IntArray) -> tuple[FloatArray, FloatArray]:
        """B (3k, 3k) of the chosen vertices in the world, m/N, and Y (unknowns, 3k)."""
        chain = self._chain
        B = np.zeros((3 * len(chosen), 3 * len(chosen)))
        influence = np.zeros((self._system.size, 3 * len(chosen)))
        for z in np.unique(self.zones[chosen]).tolist():
            mine = np.flatnonzero(self.zones[chosen] == z)
            zone, R = self._condensed[z], self._poses[z].rotation
            rows = rows_of(zone.greens.slot[self.vertices[chosen[mine]]])
            columns = rows_of(mine)
            own = zone.held_compliance(rows).reshape(len(mine), 3, len(mine), 3) / chain._zones[z]._modulus
            own = np.einsum("ac,icjd,bd->iajb", R, own, R, optimize=True).reshape(len(columns), len(columns))
            B[np.ix_(columns, columns)] = 0.5 * (own + own.T)
            P = zone.prolongation_rows(rows).reshape(len(mine), 3, -1)
            P = np.einsum("ac,ics->ias", R, P).reshape(len(columns), -1)
            influence[:, columns] = self._system.gathered(z, P.T)
        Y = self._system.forward(influence)
        B += Y.T @ Y
        return B, Y

    def _displaced(self, chosen: IntArray, pressed: Pressed, change: FloatArray) -> FloatArray:
        """Displacements (k, 3) of all vertices in the world with contact."""
        chain = self._chain
        out = self.base.copy()
        seams = self._system.seen(change)
        for z in np.unique(self.zones).tolist():
            zone, R = self._condensed[z], self._poses[z].rotation
            forces = np.zeros(len(zone.greens.compliance))
            mine = np.flatnonzero(self.zones[chosen] == z)
            if len(mine):
                values = pressed.forces[mine] @ R / chain._zones[z]._modulus
                forces[rows_of(zone.greens.slot[self.vertices[chosen[mine]]])] = values.ravel()
            u = zone.surface(forces, seams[self._system.zone_slice(z)])
            here = self.zones == z
            out[here] += u[self.vertices[here]] @ R.T
        return out

    def loads(self, chosen: IntArray, pressed: Pressed) -> dict[int, ZoneLoad]:
        """What the contact applies to each zone."""
        chain = self._chain
        loads = {}
        forces = pressed.forces[: len(chosen)]
        for z in np.unique(self.zones[chosen]).tolist():
            mine = np.flatnonzero((self.zones[chosen] == z) & forces.any(axis=1))
            nodal = np.zeros((len(chain._zones[z]._surface.vertices), 3))
            nodal[self.vertices[chosen[mine]]] = forces[mine] @ self._poses[z].rotation
            loads[z] = ZoneLoad(chain._condensed[z], chain._zones[z]._modulus, nodal)
        return loads
