"""Zones as a rigid tool in a hand feels them: the vertices near it as one body, with the hand's coupling in their
compliance.

A shape is held by springs k' and κ' to a pose h', and pushes on vertices with forces f. It moves by −Σ f/k' and turns
by −Σ r × f/κ' from there, r from its origin. Seen from it the vertices move by ::

    w = B f,    B_ij = C⁰_ij + Σ_s (seams) + 1/k' + [r_i]ᵀ [r_j] / κ',    [r] x = r × x

so that contact of the shape where the hand holds it with vertices of the compliance B is contact of the tool. What the
tool turns against the hand in a tick is taken as small. All is in the frame of the zone that has most of the vertices.
"""

from __future__ import annotations

import numpy as np

from sennit.bodies.zone.felt import FeltBody
from sennit.elastostatics.contact.press import Before, Pressed, press_body
from sennit.elastostatics.contact.tables import Body
from sennit.elastostatics.greens import rows_of
from sennit.elastostatics.surface import IntArray
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import AbstractShape
from sennit.validation import FloatArray

__all__ = ["FeltPress"]

_NEAR = 0.5
"""Vertices farther from the shape than this part of the spacing of vertices are left out, at least."""
_BULGE = 0.25
"""By this part of the depth the surface may rise beside a contact."""
_AHEAD = 4.0
"""The vertices are chosen for so many ticks of the present motion."""


class FeltPress:
    """Vertices of `body` near a shape; `firm` (m/N) is the compliance of those that are fixed.

    What they answer is gathered for those that the shape may reach within some ticks; a solve takes those of them that
    are in its reach now.
    """

    def __init__(self, body: FeltBody, firm: float) -> None:
        self.body, self._firm = body, firm
        if body._method in ("auto", "sweeps"):  # many vertices ask: the whole factor pays
            body._method = "direct"
        areas = body.surface.vertex_areas
        self._spacing = float(np.sqrt(areas.mean()))
        self._outward = body.skin.normal * areas[:, None]
        self._size = float(np.ptp(body.surface.vertices, axis=0).max())
        self._of_zone = [np.flatnonzero(body.skin.zone == z) for z in range(len(body.zones))]
        count = len(body.skin.zone)
        self._past = np.zeros((count, 3))
        """Where the vertices were in the last solve, in the shape's frame, m."""
        self._forces = np.zeros((count, 3))
        """What the shape applied to them then, in the frame of their zones, N."""
        self.forget()

    def forget(self) -> None:
        """The shape comes anew: there is no state before."""
        self._near: IntArray = np.zeros(0, np.int64)
        """Of the welded skin: the vertices whose answers are gathered."""
        self.ids: IntArray = self._near
        """Those that may touch now."""
        self._on: IntArray = self._near
        """Their places among `_near`."""
        self._forces[:] = 0.0
        self._met = False
        self._deep = self._margin = 0.0
        self._chosen_at: list[Pose] | None = None
        self._last_at: list[Pose] | None = None
        self._solved_at: list[Pose] | None = None

    # ------------------------------------------------------------------------------------------- vertices that are near

    def _look(self, shape: AbstractShape, pose: Pose) -> None:
        """Choose vertices anew where the shape has moved, and see where they are where bones have."""
        body = self.body
        held = pose @ shape.pose
        relative = [at.inverse() @ held for at in body.poses]
        reach = min(float(shape._table.ball[0]), self._size)
        step = 0.0 if self._last_at is None else _motion(self._last_at, relative, reach)
        self._last_at = relative
        if self._chosen_at is None or _motion(self._chosen_at, relative, reach) > 0.5 * self._margin:
            margin = _NEAR * self._spacing + _BULGE * self._deep + 2.0 * _AHEAD * step
            self._choose(shape, relative, margin)
        if self._solved_at is not body.poses:
            self._carry()

    def _choose(self, shape: AbstractShape, relative: list[Pose], margin: float) -> None:
        """Take the vertices that are less than `margin` (m) from the shape, and gather what they answer."""
        body, skin = self.body, self.body.skin
        near, where = [], []
        for z, mine in enumerate(self._of_zone):
            places = skin.place[mine]
            if body.system is not None:
                moved = (body.parts[z].influence @ body._u[body.system.zone_slice(z)]).reshape(-1, 3)
                free = skin.slot[mine] >= 0
                places = places + np.where(free[:, None], moved[np.maximum(skin.slot[mine], 0)], 0.0)
            reached = shape._at(relative[z]).signed_distance(places) < margin
            near.append(mine[reached])
            where.append((places[reached] - relative[z].position) @ relative[z].rotation)
        known, self._near = self._near, np.concatenate(near)
        self._forces[np.setdiff1d(known, self._near)] = 0.0
        new = ~np.isin(self._near, known)  # they have not been touched, and went with their zone
        self._past[self._near[new]] = np.concatenate(where)[new]
        self._zones = skin.zone[self._near]
        self.home = int(np.bincount(self._zones, minlength=len(body.zones)).argmax())
        self._begins = np.searchsorted(self._zones, np.arange(len(body.zones) + 1))
        self._own: list[FloatArray] = []
        self._influence: list[FloatArray] = []
        for z, mine in enumerate(near):
            free = skin.slot[mine] >= 0
            rows = rows_of(np.maximum(skin.slot[mine], 0))
            own = body.parts[z].compliance[np.ix_(rows, rows)] / body.zones[z]._modulus
            influence = body.parts[z].influence[rows]
            if not free.all():  # the support itself: as firm as a hand can tell
                held = rows_of(np.flatnonzero(~free))
                own[held], own[:, held], influence[held] = 0.0, 0.0, 0.0
                own[held, held] = self._firm
            self._own.append(own)
            self._influence.append(np.ascontiguousarray(influence.T))
        self._margin, self._chosen_at, self._solved_at = margin, relative, None

    def _carry(self) -> None:
        """Where bones and seams carry the vertices that are near, in the frame of zone `home`."""
        body, skin = self.body, self.body.skin
        back = body.poses[self.home].inverse()
        self.turns = [Pose() if z == self.home else back @ body.poses[z] for z in range(len(body.zones))]
        self._places, self._normals = np.empty((len(self._near), 3)), np.empty((len(self._near), 3))
        self._base = np.zeros((len(self._near), 3))
        for z, pose in enumerate(self.turns):
            part = slice(self._begins[z], self._begins[z + 1])
            ids = self._near[part]
            if not len(ids):
                continue
            self._places[part], self._normals[part] = skin.place[ids], self._outward[ids]
            if body.system is not None:
                self._base[part] = (body._u[body.system.zone_slice(z)] @ self._influence[z]).reshape(-1, 3)
            if z != self.home:
                R = pose.rotation
                self._places[part] = self._places[part] @ R.T + pose.position
                self._normals[part], self._base[part] = self._normals[part] @ R.T, self._base[part] @ R.T
        self._on = np.zeros(0, np.int64)
        self._solved_at = body.poses

    # ------------------------------------------------------------------------------------------------------- in reach

    def _take(self, here: AbstractShape) -> None:
        """Those in reach of the shape, which is `here` in the frame of zone `home`, and their compliance."""
        inside = here.signed_distance(self._places + self._base)
        reach = _BULGE * max(-float(inside.min(initial=0.0)), 0.0) + 1e-3 * self._spacing
        on = np.flatnonzero((inside < reach) | self._forces[self._near].any(axis=1))
        if len(on) and len(on) == len(self._on) and (on == self._on).all():
            return
        self._on, self.ids = on, self._near[on]
        self.places, self.base, self.outward = self._places[on], self._base[on], self._normals[on]
        body, k = self.body, len(on)
        B = np.zeros((3 * k, 3 * k))
        G = None if body.system is None else np.zeros((body.system.size, 3 * k))
        starts = np.searchsorted(self._zones[on], np.arange(len(body.zones) + 1))
        self._parts = [slice(int(a), int(b)) for a, b in zip(starts, starts[1:], strict=False)]
        for z, part in enumerate(self._parts):
            count = part.stop - part.start
            if not count:
                continue
            rows = rows_of(on[part] - self._begins[z])
            own, influence = self._own[z][np.ix_(rows, rows)], self._influence[z][:, rows]
            if z != self.home:
                R = self.turns[z].rotation
                half = own.reshape(-1, 3) @ R.T
                own = np.matmul(R, half.reshape(count, 3, 3 * count)).reshape(own.shape)
                influence = (influence.reshape(-1, 3) @ R.T).reshape(influence.shape)
            at = slice(3 * part.start, 3 * part.stop)
            B[at, at] = own
            if G is not None:
                assert body.system is not None
                G[:, at] = body.system.gathered(z, influence)
        if G is not None and k:
            assert body.system is not None
            Y = body.system.forward(G)
            B += Y.T @ Y
        self.compliance = B

    def depth(self, shape: AbstractShape, pose: Pose) -> tuple[float, int]:
        """How deep the skin reaches into the shape at `pose`, m, not above 0 outside, and the zone of that place."""
        self._look(shape, pose)
        if not len(self._near):
            return 0.0, 0
        inside = -self._shape(shape, pose).signed_distance(self._places + self._base)
        worst = int(inside.argmax())
        return float(inside[worst]), int(self._zones[worst])

    def _shape(self, shape: AbstractShape, pose: Pose) -> AbstractShape:
        """The shape in the frame of zone `home`."""
        return shape._at(self.body.poses[self.home].inverse() @ pose @ shape.pose)

    def solve(
        self, shape: AbstractShape, pose: Pose, friction: float, soft: float, turning: float, tilt: FloatArray
    ) -> tuple[Pressed, FloatArray]:  # fmt: skip
        """Contact of `shape` that springs hold to a pose; `soft` = 1/k' (m/N), `turning` = 1/κ' (rad/(N·m)).

        `pose` is the springs' but for the rotation `tilt` (3,), rad, by which the shape is about to turn in them:
        normals are those of the shape there, and what is left of its turn is taken as small.

        Returns what was found for the vertices `ids`, in the frame of zone `home`, and where they are then, from the
        pose's origin.
        """
        self._look(shape, pose)
        here = self._shape(shape, pose)
        self._take(here)
        k = len(self.ids)
        origin = self.body.poses[self.home].inverse() @ pose.position
        B = self.compliance.copy()
        blocks = B.reshape(k, 3, k, 3)
        for a in range(3):
            blocks[:, a, :, a] += soft
        base = self.base
        if turning > 0.0:
            arms = self.places + self.base - origin
            base = base + np.cross(self.body.poses[self.home].rotation.T @ tilt, arms)
            cross = np.zeros((3, k, 3))  # [r] of each
            cross[0, :, 1], cross[0, :, 2] = -arms[:, 2], arms[:, 1]
            cross[1, :, 0], cross[1, :, 2] = arms[:, 2], -arms[:, 0]
            cross[2, :, 0], cross[2, :, 1] = -arms[:, 1], arms[:, 0]
            flat = cross.reshape(3, 3 * k)
            B += turning * (flat.T @ flat)
        body = Body.of(
            compliance=B, free=np.arange(k), fixed=np.zeros(0, np.int64), places=self.places, outward=self.outward
        )
        past = None
        if self._met:
            then = self._past[self.ids] @ here.pose.rotation.T + here.pose.position
            past = Before(then - self.places, self._turned(self._forces[self.ids], False), np.zeros(3), np.eye(3))
        pressed = press_body(body, base, here, friction, past)
        return pressed, self.places + pressed.displacements - origin

    def _turned(self, vectors: FloatArray, back: bool) -> FloatArray:
        """Vectors (k, 3) of the vertices `ids` from the frames of their zones to that of `home`, or back."""
        out = vectors.copy()
        for z, part in enumerate(self._parts):
            if z != self.home:
                R = self.turns[z].rotation
                out[part] = vectors[part] @ (R if back else R.T)
        return out

    def keep(self, shape: AbstractShape, pose: Pose, pressed: Pressed) -> None:
        """The next solve goes on from `pressed`."""
        here = self._shape(shape, pose).pose
        whole = self._places + self._base
        whole[self._on] = self.places + pressed.displacements
        self._past[self._near] = (whole - here.position) @ here.rotation
        self._forces[self._near] = 0.0
        self._forces[self.ids] = self._turned(pressed.forces, True)
        self._met = True
        self._deep = max(pressed.depth, 0.0)

    def energy(self, forces: FloatArray) -> float:
        """Of skin that bears `forces` (k, 3), J."""
        f = forces.ravel()
        return float(0.5 * f @ (self.compliance @ f))

    def carried(self) -> FloatArray:
        """Where bones and seams carry the vertices `ids`, in the world, (k, 3), m."""
        return np.asarray(self.body.poses[self.home] @ (self.places + self.base))


def _motion(before: list[Pose], now: list[Pose], reach: float) -> float:
    """How far the places of a shape within `reach` (m) of its origin have come towards any of the zones, at most, m:
    `before` and `now` are its poses in their frames.
    """
    most = 0.0
    for one, other in zip(before, now, strict=True):
        angle = 2.0 * np.arccos(min(abs(float(one.quaternion @ other.quaternion)), 1.0))
        most = max(most, float(np.linalg.norm(other.position - one.position)) + angle * reach)
    return most
