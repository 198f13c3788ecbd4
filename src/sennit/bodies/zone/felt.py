"""Zones as a probe feels them: the nearest place of their skin, a patch there that does not end at seams, its answer.

What a probe feels needs the seams and the patch only. With w the weights of a patch, P the seams' influence and C⁰ the
compliance with seams held still, each zone z in its frame R_z, the patch is at and answers with ::

    a = Σ_z Σ w_i (R_z (X_i + P_i v) + p_z),
    C = Σ_z R_z (Σ w w C⁰) R_zᵀ / E_z + Bᵀ A⁻¹ B,    B = Σ_z T_zᵀ (Σ w P)ᵀ R_zᵀ

so that no surface is computed. The skin is that of all zones, welded where they are joined by the same vertices and
bridged where their meshes differ: a patch goes on beyond a seam.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sennit import validation
from sennit.bodies.zone.chain import ZoneChain
from sennit.bodies.zone.zone import Zone
from sennit.compile_once import compile_once
from sennit.elastostatics.chain.condensed import CondensedZone
from sennit.elastostatics.chain.system import SeamSystem, Solved
from sennit.elastostatics.felt.kernels.contact import answer
from sennit.elastostatics.felt.kernels.patch import share_of_zone
from sennit.elastostatics.felt.tables import FeltContact, FeltPart, FeltPatch, FeltSkin
from sennit.elastostatics.kernels.places import nearest, weigh
from sennit.elastostatics.patch import Places, small_radius
from sennit.elastostatics.surface import IntArray, Surface
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.validation import FloatArray

__all__ = ["Anchor", "Felt", "FeltBody"]


@dataclass(frozen=True, slots=True, eq=False)
class Anchor:
    """A place of the skin."""

    face: int
    """Of the welded skin."""
    foot: FloatArray
    """Where it is at the rest poses, (3,), m."""
    radius: float
    """Of the patch round it, m."""
    zone: int
    """The zone that the face belongs to."""


@dataclass(frozen=True, slots=True, eq=False)
class Felt:
    """What a probe finds at an anchor, in the world."""

    centre: FloatArray
    """Where the patch is if nothing touches it, (3,), m."""
    former: FloatArray
    """Where it was at the poses before, (3,), m."""
    normal: FloatArray
    """Outward, unit, (3,)."""
    compliance: FloatArray
    """Of the patch, (3, 3), m/N."""


class FeltBody:
    """A zone, or a chain of zones, as it is felt; `radius` (m) of the probe, None for the usual one of the mesh."""

    def __init__(self, body: Zone | ZoneChain, radius: float | None = None) -> None:
        compile_once("felt", [_compile])
        self.radius = radius if radius is None else validation.number("radius", radius, positive=True)
        self.system: SeamSystem | None = None
        self._method = "direct"
        if isinstance(body, ZoneChain):
            zones, rest = list(body.zones), list(body.rest_poses)
            condensed, self.system, self._method = body._felt_parts()
            skins = body._skins
        else:
            zones, rest, condensed, skins = [body], [Pose()], [CondensedZone(body._greens, [])], [body._surface]
        self.zones, self.condensed, self.rest_poses = zones, condensed, rest
        self._to_rest: list[Pose] = []
        self._weld(body, skins)
        self.parts = [_part(zone) for zone in condensed]
        self._patches = [FeltPatch(rows=1, columns=part.influence.shape[1]) for part in self.parts]
        self.poses: list[Pose] = []
        self._u = self._u_before = np.zeros(0)
        self.solved: Solved | None = None
        self.place(rest)
        self._before = self.poses
        """Poses of the step before."""
        self.keep()

    def _weld(self, body: Zone | ZoneChain, skins: Sequence[Surface]) -> None:
        """One surface of all skins at the rest poses; vertices that seams join become one, that of the first zone."""
        begin = np.concatenate(([0], np.cumsum([len(skin.vertices) for skin in skins])))
        name = np.arange(begin[-1])
        for seam in body.seams if isinstance(body, ZoneChain) else ():
            if seam.leader is None:
                (a, b), (ids, others) = seam.zones, seam.vertices
                name[begin[b] + others] = name[begin[a] + ids]
        faces = np.concatenate([name[begin[z] + skin.faces] for z, skin in enumerate(skins)])
        used, numbered = np.unique(faces, return_inverse=True)
        zone = (np.searchsorted(begin, used, side="right") - 1).astype(np.int64)
        local = used - begin[zone]
        places = [skin.vertices[local[zone == z]] for z, skin in enumerate(skins)]
        at_rest = np.concatenate([pose @ part for pose, part in zip(self.rest_poses, places, strict=True)])
        self.surface = Surface(np.ascontiguousarray(at_rest), np.ascontiguousarray(numbered.reshape(-1, 3)))
        self.zone_of_face = np.repeat(np.arange(len(skins)), [len(skin.faces) for skin in skins])
        self.vertex_zone: IntArray = zone
        """Zone of each vertex of the welded skin."""
        self.vertex_of: IntArray = local
        """Number in its zone of each vertex of the welded skin."""
        normals = self.surface.vertex_normals
        turned = np.concatenate([normals[zone == z] @ pose.rotation for z, pose in enumerate(self.rest_poses)])
        slots = np.concatenate([each._greens.slot[local[zone == z]] for z, each in enumerate(self.zones)])
        self.skin = FeltSkin.of(
            zone=zone,
            slot=slots,
            place=np.ascontiguousarray(np.concatenate(places)),
            normal=np.ascontiguousarray(turned),
        )
        self._places = Places(self.surface)
        if isinstance(body, ZoneChain):
            self._bridge(body, begin, used)

    def _bridge(self, chain: ZoneChain, begin: IntArray, used: IntArray) -> None:
        """Faces at the rim of a seam between meshes that differ get neighbours across it, so that patches go on there.

        Nothing is welded: both rims keep their vertices, and each edge has that edge of the other rim beside it whose
        middle is nearest.
        """
        faces, beside = self.surface.faces, self._places.skin.beside
        own = np.arange(len(faces))[:, None]
        for seam in chain.seams:
            if seam.leader is None:
                continue
            rims, middles = [], []
            for z, ids in zip(seam.zones, seam.vertices, strict=True):
                on_seam = np.isin(used, begin[z] + ids)
                ends = on_seam[faces] & on_seam[np.roll(faces, -1, axis=1)]
                rim = np.argwhere(ends & (beside == own))
                edge = np.stack([faces[rim[:, 0], (rim[:, 1] + k) % 3] for k in range(2)], axis=1)
                rims.append(rim)
                middles.append(self.surface.vertices[edge].mean(axis=1))
            for here, there in ((0, 1), (1, 0)):
                apart = np.linalg.norm(middles[here][:, None] - middles[there][None], axis=2)
                beside[rims[here][:, 0], rims[here][:, 1]] = rims[there][apart.argmin(axis=1), 0]
            self._even_out(faces[rims[0][:, 0], rims[0][:, 1]], faces[rims[1][:, 0], rims[1][:, 1]])

    def _even_out(self, one: IntArray, other: IntArray) -> None:
        """Let the usual radius of patches go over from one side of a rim to the other without a jump."""
        places, spacing = self.surface.vertices, self._places.skin.spacing
        sides = self.vertex_zone == self.vertex_zone[one[0]], self.vertex_zone == self.vertex_zone[other[0]]
        changed = spacing.copy()
        for side, near, far in ((sides[0], one, other), (sides[1], other, one)):
            ids = np.flatnonzero(side)
            off = np.linalg.norm(places[ids][:, None] - places[near][None], axis=2).min(axis=1)
            across = far[np.linalg.norm(places[ids][:, None] - places[far][None], axis=2).argmin(axis=1)]
            reach = spacing[near].max() + spacing[far].max()
            part = 0.5 * np.maximum(1.0 - off / reach, 0.0)
            changed[ids] = (1.0 - part) * spacing[ids] + part * spacing[across]
        spacing[:] = changed

    # -------------------------------------------------------------------------------------------------- where it is

    def place(self, poses: Sequence[Pose]) -> None:
        """Put the zones' frames at `poses`, and solve their seams there."""
        self._before, self._u_before = self.poses, self._u
        if self.system is not None:
            self.system.place(poses)
            self.solved = self.system.solve(np.zeros(self.system.vector), self._method)
            self._u = self.solved.u
        self.poses = list(poses)
        self._to_rest = [rest @ pose.inverse() for rest, pose in zip(self.rest_poses, poses, strict=True)]

    def keep(self) -> None:
        """The poses stay as they were in the step before."""
        self._before, self._u_before = self.poses, self._u

    # -------------------------------------------------------------------------------------------------- being touched

    def nearest(self, x: FloatArray) -> tuple[Anchor, float]:
        """The place of the undeformed skin nearest to `x` (3,), m, and how far outside of it that is: m."""
        found: tuple[float, int, FloatArray, FloatArray] | None = None
        for z, to_rest in enumerate(self._to_rest):
            local = to_rest.rotation @ x + to_rest.position
            square, face, *shares = nearest(self._places.skin, self._places.work, *local.tolist())
            # Another zone's skin is somewhere else now.
            far = square if self.zone_of_face[face] == z else square + 1e6
            if found is None or far < found[0]:
                found = far, int(face), np.array(shares), local
        assert found is not None
        _, face, shares, local = found
        anchor = self._anchor(face, shares)
        corners = self.surface.faces[face]
        return anchor, float(shares @ self.surface.vertex_normals[corners] @ (local - anchor.foot))

    def _anchor(self, face: int, shares: FloatArray) -> Anchor:
        corners = self.surface.faces[face]
        foot = shares @ self.surface.vertices[corners]
        radius = self.radius
        farthest = float(np.sqrt(((self.surface.vertices[corners] - foot) ** 2).sum(axis=1).max()))
        if radius is None:
            radius = float(shares @ self._places.skin.spacing[corners])
        if not radius > farthest:
            raise InputError(small_radius(radius, farthest, face))
        return Anchor(face, foot, radius, int(self.zone_of_face[face]))

    def walked(self, anchor: Anchor, way: FloatArray) -> Anchor:
        """The place of the skin that is `way` (3,), m, of the world along it from `anchor`."""
        x, y, z = (anchor.foot + self._to_rest[anchor.zone].rotation @ way).tolist()
        _, face, *shares = nearest(self._places.skin, self._places.work, x, y, z)
        return self._anchor(int(face), np.array(shares))

    def patch(self, anchor: Anchor) -> tuple[IntArray, FloatArray]:
        """Vertices of the welded skin and their weights: views, until the next call."""
        work = self._places.work
        count = weigh(self._places.skin, work, anchor.face, *anchor.foot.tolist(), anchor.radius)
        return work.ids[:count], work.weights[:count]

    def feel(self, anchor: Anchor) -> Felt:
        """What a probe finds there; where the support holds all of the patch its compliance is 0."""
        ids, weights = self.patch(anchor)
        centre, former, normal, compliance = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros((3, 3))
        columns: FloatArray | None = None
        for z in (anchor.zone,) if len(self.zones) == 1 else np.unique(self.skin.zone[ids]).tolist():
            patch, pose, was, E = self._patches[z], self.poses[z], self._before[z], self.zones[z]._modulus
            share_of_zone(self.skin, self.parts[z], z, ids, weights, len(ids), patch)
            R, at, w = pose.rotation, patch.place[0], float(patch.weight[0])
            moved = moved_before = at
            if self.system is not None:
                raw, part = patch.influence[0], self.system.zone_slice(z)
                moved = at + raw @ self._u[part]
                moved_before = at + raw @ self._u_before[part]
                more = self.system.gathered(z, raw.T @ R.T)
                columns = more if columns is None else columns + more
            centre += R @ moved + w * pose.position
            former += was.rotation @ moved_before + w * was.position
            normal += R @ patch.normal[0]
            compliance += R @ patch.compliance[0] @ R.T / E
        if columns is not None:
            assert self.system is not None
            compliance += columns.T @ self.system.respond(columns)
        return Felt(centre, former, normal / np.linalg.norm(normal), 0.5 * (compliance + compliance.T))


def _part(zone: CondensedZone) -> FeltPart:
    """What a zone answers with its seams held still, and what they do to it."""
    rows = np.arange(len(zone.greens.compliance))
    if not zone.sides:
        return FeltPart.of(compliance=zone.greens.compliance, influence=np.zeros((len(rows), 0)))
    still = zone.greens.compliance - zone.raw_rows(rows) @ zone.compliance_rows(rows).T
    return FeltPart.of(compliance=0.5 * (still + still.T), influence=zone.prolongation_rows(rows))


def _compile() -> None:
    """Three vertices that are springs of their own, touched once."""
    skin = FeltSkin(rows=3)
    part = FeltPart.of(compliance=np.eye(9), influence=np.zeros((9, 4)))
    patch = FeltPatch(rows=1, columns=4)
    skin.slot[:] = np.arange(3)
    share_of_zone(skin, part, 0, np.arange(3), np.full(3, 1.0 / 3.0), 3, patch)
    felt = FeltContact(rows=1)
    felt.stiffness[0], felt.step[0], felt.normal[0, 2], felt.enters[0] = 1.0, 1.0, 1.0, 1
    felt.compliance[0] = felt.former_compliance[0] = np.eye(3)
    felt.hand[0] = 0.0, 0.0, -1.0
    answer(felt)
