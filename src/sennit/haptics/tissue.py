"""A zone or a chain of zones under a hand that holds a probe, on bones that move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sennit.bodies.zone.chain import ZoneChain
from sennit.bodies.zone.felt import Anchor, Felt, FeltBody
from sennit.bodies.zone.zone import Zone
from sennit.constraints.route import Route
from sennit.coupling import VirtualCoupling
from sennit.elastostatics.felt.kernels.contact import answer
from sennit.elastostatics.felt.tables import FeltContact
from sennit.elastostatics.surface import IntArray, Surface
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.geometry.rotations import quaternion_rotate
from sennit.haptics.subjects import NOTHING, REHEARSED
from sennit.live.spells import Spell
from sennit.material import Material
from sennit.storage.describe import Writer
from sennit.validation import FloatArray, quoted

if TYPE_CHECKING:
    from sennit.haptics.bones import LiveBones

__all__ = [
    "BonesSubject",
    "TissueSubject",
    "described_tissue",
    "made_tissue",
    "skeleton_poses",
    "skeleton_table",
    "torn_seam",
]

NEAR = 3.0
"""Within so many radii of the skin the probe is compared with where the skin is now, not with the undeformed one."""

LIVE = "live"
"""A skeleton that is led while the loop runs."""

FIRM = 1e-4
"""Compliance of what can't give way, over that of the coupling."""


def skeleton_poses(table: FloatArray, tick: int) -> list[Pose]:
    """The zones' frames in a tick, from a table (ticks, zones, 7) of positions and quaternions; the last one stays."""
    return [Pose._trusted(row[:3].copy(), row[3:].copy()) for row in table[min(tick, len(table) - 1)]]


def skeleton_table(body: Zone | ZoneChain, given: object, rate: float, ticks: int | None) -> Any:
    """`given` as a table (ticks, zones, 7) of the zones' frames, one row a tick: it is data, and travels.

    `given`: None; ``"live"``, which is left as it is; a function of time (s) that returns a `Pose` for each zone, for a
    loop whose length is known; or a `Route` of poses for each zone. Raises `InputError` for other things, and for bones
    that tear seams apart.
    """
    if given is None:
        return None
    if isinstance(given, str) and given == LIVE:
        return LIVE
    count = len(body.zones) if isinstance(body, ZoneChain) else 1
    at: Callable[[float], Any]
    if isinstance(given, Sequence) and not isinstance(given, str):
        routes = [route for route in given if isinstance(route, Route) and isinstance(route.places[0], Pose)]
        if len(routes) != count or len(given) != count:
            raise InputError(f"skeleton must be {count} sennit.Route of poses, one for each zone, got {quoted(given)}")
        if ticks is None and any(route.repeat for route in routes):
            raise InputError("a skeleton that repeats needs a loop of known length: give seconds=")
        ticks = ticks or round(max(float(route.times[-1]) for route in routes) * rate) + 1

        def at(time: float) -> Any:
            return [route(time) for route in routes]
    elif callable(given):
        if ticks is None:
            raise InputError("a skeleton that is a function needs a loop of known length: give seconds=, or Routes")
        at = given
    else:
        raise InputError(f'skeleton must be a function of time, a list of sennit.Route or "live", got {quoted(given)}')
    table = np.empty((ticks, count, 7))
    for k in range(ticks):
        poses = at(k / rate)
        poses = [poses] if isinstance(poses, Pose) else poses
        if not isinstance(poses, Sequence) or len(poses) != count or not all(isinstance(p, Pose) for p in poses):
            raise InputError(f"skeleton({k / rate:g}) must be {count} sennit.Pose, got {quoted(poses)}")
        for z, pose in enumerate(poses):
            table[k, z, :3], table[k, z, 3:] = pose.position, pose.quaternion
    if isinstance(body, ZoneChain):
        torn = torn_seam(body, table)
        if torn is not None:
            row, seam, text = torn
            raise InputError(
                f"the skeleton tears seam {seam} apart: at {row / rate:g} s {text}. Bones that are joined turn about "
                "their joint: rest_poses= tells where they meet"
            )
    return table


def torn_seam(chain: ZoneChain, table: FloatArray) -> tuple[int, int, str] | None:
    """The first row of a table (rows, zones, 7) of poses that tears a seam apart, which, and by how much; or None.

    The two sides of a seam may be apart by half of its width in the mean.
    """
    found: tuple[int, int, str] | None = None
    for number, a, mine, b, other, most in seam_middles(chain):
        one = table[:, a, :3] + quaternion_rotate(table[:, a, 3:], mine)
        two = table[:, b, :3] + quaternion_rotate(table[:, b, 3:], other)
        apart = np.linalg.norm(one - two, axis=1)
        far = np.flatnonzero(apart > most)
        if len(far) and (found is None or far[0] < found[0]):
            text = (
                f"its sides, zones {a} and {b}, are {1e3 * apart[far[0]]:.3g} mm apart, and it is {2e3 * most:.3g} mm "
                "wide"
            )
            found = int(far[0]), number, text
    return found


def seam_middles(chain: ZoneChain) -> list[tuple[int, int, FloatArray, int, FloatArray, float]]:
    """Of each seam its number, its zones with its middle in their frames (3,), m, and how far these may be apart, m."""
    found = []
    for number, seam in enumerate(chain.seams):
        sides = [chain.zones[z].vertices[ids] for z, ids in zip(seam.zones, seam.vertices, strict=True)]
        width = min(float(np.ptp(places, axis=0).max()) for places in sides)
        a, b = seam.zones
        found.append((number, a, sides[0].mean(axis=0), b, sides[1].mean(axis=0), 0.5 * width))
    return found


def _refuse_overlap(chain: ZoneChain) -> None:
    """Raises `InputError` if at the rest poses vertices of one zone lie in another: a probe would feel both."""
    from sennit.geometry.shapes import Mesh

    for a, zone in enumerate(chain.zones):
        shape = Mesh(zone.vertices, zone.faces).moved(chain.rest_poses[a])
        size = float(np.ptp(zone.vertices, axis=0).max())
        for b, other in enumerate(chain.zones):
            if a == b:
                continue
            skin = np.setdiff1d(np.unique(chain._skins[b].faces), np.flatnonzero(chain._on_seams[b]))
            deep = -shape.signed_distance(chain.rest_poses[b] @ other.vertices[skin])
            worst = int(deep.argmax())
            if deep[worst] > 0.02 * size:
                raise InputError(
                    f"zones {a} ({zone.name}) and {b} ({other.name}) overlap at the rest poses: vertex {skin[worst]} "
                    f"of the latter is {1e3 * deep[worst]:.3g} mm inside the former. Mend the meshes, or rest_poses="
                )


def described_tissue(body: Zone | ZoneChain) -> dict[str, Any]:
    """What makes a zone or a chain again; Green's functions come from the disk."""
    zones = list(body.zones) if isinstance(body, ZoneChain) else [body]
    entries = []
    for zone in zones:
        if not zone._greens.held:
            raise InputError(f"{zone.name} is held by nothing, and would not resist a probe: give it fixed=")
        cells = None if zone._tetrahedra is None else [np.asarray(part) for part in zone._tetrahedra]
        entries.append({
            "vertices": zone.vertices, "faces": zone.faces, "fixed": zone.fixed, "name": zone.name,
            "material": Writer.material(zone.material), "method": zone.method, "cells": cells,
        })  # fmt: skip
    if isinstance(body, Zone):
        return {"zones": entries}
    _refuse_overlap(body)
    return {
        "zones": entries, "method": body.method, "modes": body.modes,
        "seams": [[seam.zones[0], seam.vertices[0], seam.zones[1], seam.vertices[1]] for seam in body.seams],
        "projected": [seam.leader is not None for seam in body.seams],
        "rest": [[*pose.position.tolist(), *pose.quaternion.tolist()] for pose in body.rest_poses],
    }  # fmt: skip


def made_tissue(entry: dict[str, Any]) -> Zone | ZoneChain:
    """The zone or the chain that `described_tissue` described."""
    zones = [
        Zone(
            Surface(np.ascontiguousarray(each["vertices"]), np.ascontiguousarray(each["faces"])), each["fixed"],
            Material(**each["material"]), each["method"], each["name"],
            tetrahedra=None if each["cells"] is None else tuple(each["cells"]),
        )
        for each in entry["zones"]
    ]  # fmt: skip
    if "seams" not in entry:
        return zones[0]
    rest = [Pose(row[:3], row[3:]) for row in entry["rest"]]
    seams = [(a, one, b, other) for a, one, b, other in entry["seams"]]
    return ZoneChain(
        zones, seams, method=entry["method"], modes=entry["modes"], rest_poses=rest, projection=any(entry["projected"])
    )


class BonesSubject:
    """What is felt of `body` in ticks of `dt` (s); `skeleton`: the zones' frames by ticks, or `LiveBones`."""

    def __init__(self, body: FeltBody, dt: float, skeleton: FloatArray | LiveBones | None) -> None:
        self.body, self.dt = body, dt
        self._skeleton = skeleton if isinstance(skeleton, np.ndarray) else None
        self.bones = None if isinstance(skeleton, np.ndarray) else skeleton
        """Bones that are led meanwhile."""
        self.wrench = NOTHING
        self._ticks = 0
        self._moved = -1
        """Tick of the poses that the body has."""
        self._move()

    @property
    def spell(self) -> Spell | None:
        """None: it has no steps in time."""
        return None

    @property
    def time(self) -> float:
        """What all ticks so far have taken, s."""
        return self._ticks * self.dt

    @property
    def touching(self) -> bool:
        """Whether what the hand holds touches."""
        raise NotImplementedError

    def place(self) -> FloatArray:
        """Where that is: position and quaternion, (7,)."""
        raise NotImplementedError

    def pressed(self) -> tuple[IntArray, FloatArray]:
        """Vertices of the welded skin that are pressed (k,), and the forces on them in the world, (k, 3), N: those
        that displace the skin, whatever part of them the hand feels.
        """
        raise NotImplementedError

    def allow(self, depth: int) -> None:
        """A static solve is not divided."""

    @property
    def _moving(self) -> bool:
        """Whether bones may be elsewhere in the next tick."""
        return self.bones is not None or (self._skeleton is not None and self._moved < len(self._skeleton) - 1)

    def _move(self) -> None:
        """Put the bones where they are in this tick."""
        if self.bones is not None and self._ticks != self._moved:
            self._moved, poses = self._ticks, self.bones.step()
            if poses is None:
                self.body.keep()
            else:
                self.body.place(poses)
            return
        if self._skeleton is None or self._ticks == self._moved:
            self.body.keep()
            return
        ended = self._moved >= len(self._skeleton) - 1
        self._moved = self._ticks
        if ended:
            self.body.keep()
        else:
            self.body.place(skeleton_poses(self._skeleton, self._ticks))


class TissueSubject(BonesSubject):
    """`body`, touched by a probe that `coupling` holds to the hand; `skeleton`: where its zones' frames are, by ticks.

    In a tick the frames move, the seams are solved, and the patch under the probe is felt; no surface is computed. The
    probe slides over the skin with `friction`, and what is felt is passive (`elastostatics.felt.kernels.contact`).
    """

    def __init__(
        self, body: FeltBody, coupling: VirtualCoupling, dt: float, friction: float = 0.0,
        skeleton: FloatArray | LiveBones | None = None,
    ) -> None:  # fmt: skip
        super().__init__(body, dt, skeleton)
        self.coupling = coupling
        self.contact = FeltContact(rows=1)
        self.contact.stiffness[0], self.contact.damping[0] = coupling.stiffness, coupling.damping
        self.contact.friction[0], self.contact.share[0] = friction, 1.0
        self._firm = FIRM / coupling.stiffness
        self.anchor: Anchor | None = None
        """The place of the skin that is touched, or nearest; None before the hand has come."""
        self._former: FloatArray | None = None
        """Compliance of the patch there at the present poses, which the bones are about to leave."""

    @property
    def touching(self) -> bool:
        """Whether the probe touches."""
        return bool(self.contact.touching[0])

    @property
    def budget(self) -> float:
        """Work that hand and bones have done so far and not got back, J: never negative."""
        return float(self.contact.budget[0])

    def rehearse(self) -> None:
        """Feel some places, and move the bones."""
        vertices, self.contact.step[0] = self.body.surface.vertices, self.dt
        for k in range(REHEARSED):
            self.body.place(self.body.poses)
            anchor, _ = self.body.nearest(vertices[(k * len(vertices)) // REHEARSED])
            self._press(self.body.feel(anchor))
        self.afresh()
        self.contact.budget[0] = 0.0
        self.contact.tip[0] = self.contact.hand_before[0] = 0.0  # nobody has come yet

    def afresh(self) -> None:
        """The hand takes hold anew in the next step, at rest: outside, since nobody knows how it would have come in."""
        self.anchor, self._former, self.wrench = None, None, NOTHING
        self.contact.touching[0] = 0

    def step(self, hand: Pose | None, periods: int = 1) -> None:
        """One tick with the hand there. Raises `InputError` while a probe that has just come is inside the body."""
        self._move()
        self._ticks += 1
        if hand is None:
            self.afresh()
            return
        contact = self.contact
        contact.step[0] = periods * self.dt
        contact.hand[0] = hand.position
        if self.anchor is None:
            self._begin(hand.position)
            return
        felt, contact.enters[0] = None, 0
        if self.touching:
            felt = self.body.feel(self.anchor)
        else:
            anchor, gap = self.body.nearest(hand.position)
            inside = gap < 0.0
            if abs(gap) < NEAR * anchor.radius:
                found = self.body.feel(anchor)
                inside = float((hand.position - found.centre) @ found.normal) < 0.0
            if inside:
                contact.enters[0] = 1
                felt = self.body.feel(self.anchor)
            else:
                self.anchor = anchor
        if felt is None:
            felt = _FREE
        self._press(felt)
        slid = bool(contact.slip[0].any())
        if slid:
            self.anchor = self.body.walked(self.anchor, contact.slip[0])
        if self.touching and self._moving:
            self._former = (
                self._firmed(self.body.feel(self.anchor).compliance) if slid else contact.compliance[0].copy()
            )
        wrench = np.zeros(6)
        wrench[:3] = contact.force[0]
        self.wrench = wrench

    def _press(self, felt: Felt) -> None:
        contact = self.contact
        contact.compliance[0], contact.centre[0] = self._firmed(felt.compliance), felt.centre
        # What bones do is the difference of what the skin has stored at one place of it, at both poses.
        contact.former_compliance[0] = contact.compliance[0] if self._former is None else self._former
        self._former = None
        contact.former[0], contact.normal[0] = felt.former, felt.normal
        answer(contact)

    def _firmed(self, compliance: FloatArray) -> FloatArray:
        """Of a patch that the support holds: as firm as a hand can tell."""
        return self._firm * np.eye(3) if np.trace(compliance) < 3.0 * self._firm else compliance

    def _begin(self, hand: FloatArray) -> None:
        """The hand has come: the probe is in it, and must be outside."""
        self.wrench = NOTHING
        anchor, gap = self.body.nearest(hand)
        if abs(gap) < NEAR * anchor.radius:
            felt = self.body.feel(anchor)
            gap = float((hand - felt.centre) @ felt.normal)
        if gap < 0.0:
            name = self.body.zones[anchor.zone].name
            raise InputError(
                f"the probe is {-1e3 * gap:.3g} mm inside {name} when the hand takes hold, at "
                f"({', '.join(f'{c:.4g}' for c in hand)}) m: nobody knows where it came in. Begin outside; it is felt "
                "from where it leaves the body"
            )
        self.anchor = anchor
        self.contact.hand_before[0] = self.contact.tip[0] = hand

    def pressed(self) -> tuple[IntArray, FloatArray]:
        """The patch under the probe, and the force by its weights."""
        share = float(self.contact.share[0])
        if not self.touching or self.anchor is None or share <= 0.0:
            return np.zeros(0, np.int64), np.zeros((0, 3))
        ids, weights = self.body.patch(self.anchor)
        return ids.copy(), np.outer(weights, self.contact.force[0] / share)

    def place(self) -> FloatArray:
        """Of the probe."""
        out = np.zeros(7)
        out[:3], out[3] = self.contact.tip[0], 1.0
        return out


_FREE = Felt(np.zeros(3), np.zeros(3), np.array((0.0, 0.0, 1.0)), np.eye(3))
"""Nothing is near."""
