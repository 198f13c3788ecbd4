"""What happens to a needle's holes between two steps.

A hole is a place of the skin in one of four stages, see `hole`. Of those in use, in their order along needle and thread
from the tip on, each was made on the way into tissue or out of it; where the first of them leads into a zone, the tip
is in it. With the force f on the tissue along the needle, towards the tip, and the way s from the tip to the hole::

    pressed     0 ≤ f ≤ piercing (emerging, from inside); s stays until f is at its bound
    in a hole   −φ ℓ ≤ f ≤ φ ℓ + [cutting, where the tip is in the tissue];   ℓ: length of needle in the tissue

φ is friction per length. A stretch of needle between two holes shares its friction between them. In a step in which the
hole slides by Δs, ½ (f + f₋) Δs is lost (the tissue has no mass, and what its spring sets free goes where its force
falls), of it f Δs by cutting and friction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sennit.bodies.kernels.points import evaluate_point
from sennit.bodies.zone.shifting import height_over, move_place
from sennit.constraints.needle.hole import ALONG, IDLE, PIERCED, PRESSED, THREADED, TIED, NeedleHole
from sennit.errors import InputError
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.constraints.needle.needle import Needle

__all__ = ["Forces", "Sewing"]

FULL = 1.0 - 1e-6
"""Part of its bound at which a force counts as there."""
BACK = 0.02
"""Part of a patch's radius by which a tip that presses must back off to let go."""
DEEP = 1.0
"""Patch radii that a needle must be in tissue before its tip may come out again: closer to where it went in, the
surface that is dented there is not where a patch's mean says."""
GRIP = 0.05
"""Part of the threshold that the tip can always carry across."""
UNSEEN = -1
"""Of the side of a skin that the tip is on, after the tip has let go of it."""
MARGIN = 0.25
"""Of a span of the thread, by which a hole is beyond the needle's end when it takes the thread."""


@dataclass
class Forces:
    """What a needle meets in tissue; see `Needle`."""

    piercing: float
    cutting: float
    friction: float
    emerging: float
    grip: float
    thread_friction: float


class Sewing:
    """The stages of a needle's holes: its part of a scene's state that is not in rows."""

    def __init__(self, needle: Needle, margin: float) -> None:
        self.needle, self.margin = needle, margin
        count = len(needle._made)
        self.stage = np.zeros(count, np.int64)
        """IDLE, PRESSED, PIERCED or THREADED."""
        self.into = np.zeros(count, np.int64)
        """1: it was made on the way in, -1: on the way out."""
        self.way = np.zeros(count)
        """From the tip to the hole, along the needle, m; along needle and thread when the thread is in it."""
        self.pull = np.zeros(count)
        """Force along the needle in the last step, N."""
        self.place = np.zeros((count, 3))
        """Where each is on its zone, undeformed, m."""
        self.outside = np.ones(len(needle._zones), np.int64)
        """Whether the tip is above the skin of each zone, as far as its shape tells: 1, 0, or UNSEEN."""
        self.work = np.zeros(3)
        """Lost as skin gave way, by cutting, and by friction, J."""
        self.told: list[tuple[str, str]] = []
        """What has happened in the last step: kinds of events and their texts."""
        self.zone = np.array([needle._zones.index(hole._place.body) for hole in needle._made])
        self.radius = np.array([hole._place.radius for hole in needle._made])

    @staticmethod
    def margin_on(rod: Any) -> float:
        """How far beyond the end of the needle holes take the thread, m."""
        return MARGIN * float(rod.length) / float(rod.tables.spans)

    def begin(self) -> None:
        """The needle comes into a scene, outside all tissue."""
        for array in (self.stage, self.into, self.way, self.pull, self.work):
            array[:] = 0
        self.outside[:] = 1
        for hole in self.needle._made:
            self._park(hole.thread.slider)
        self._note_places()

    def _note_places(self) -> None:
        for k, hole in enumerate(self.needle._made):
            self.place[k] = hole._place._given["place"]

    # ------------------------------------------------------------------------------------------------------- reading

    def crossings(self) -> list[int]:
        """The holes in use, from the tip on."""
        used = np.flatnonzero(self.stage >= PIERCED)
        return [int(k) for k in used[np.argsort(self.way[used], kind="stable")]]

    def is_threaded(self, hole: NeedleHole) -> bool:
        """Whether the thread is in a hole."""
        return bool(self.stage[self.needle._made.index(hole)] == THREADED)

    def pressed(self) -> int:
        """The hole that the tip presses on, or -1."""
        found = np.flatnonzero(self.stage == PRESSED)
        return int(found[0]) if len(found) else -1

    # ------------------------------------------------------------------------------------------------- state, files

    def arrays(self) -> dict[str, Any]:
        """Its arrays, by the names that snapshots and files give them."""
        return {
            "stage": self.stage, "into": self.into, "way": self.way, "pull": self.pull, "place": self.place,
            "outside": self.outside, "work": self.work,
        }  # fmt: skip

    def check(self) -> None:
        """Raise `ValueError` if its numbers can't be those of a needle."""
        if (
            not np.isin(self.stage, (IDLE, PRESSED, PIERCED, THREADED, TIED)).all()
            or not np.isin(self.into, (-1, 0, 1)).all()
        ):
            raise ValueError("a needle's hole is in no known stage")
        if np.count_nonzero(self.stage == PRESSED) > 1:
            raise ValueError("a needle presses on two places")

    def state_put(self) -> None:
        """Its numbers were put back: so are the places of the skin that holes are at."""
        holes = self.needle._made
        for k in np.flatnonzero(self.stage != THREADED).tolist():
            self._park(holes[k].thread.slider)
        off = [k for k, hole in enumerate(holes) if hole._place._given["place"] != self.place[k].tolist()]
        for _ in range(len(off)):  # some may have to make room first
            off = [k for k in off if not self._put_back(k)]
            if not off:
                return
        if off:
            raise ValueError("a needle's holes are at places that cannot be held")

    def _put_back(self, k: int) -> bool:
        """Put a hole to where its numbers say; False if something is in its way."""
        place = self.needle._made[k]._place
        return move_place(place.body, place, self.place[k], fresh=False)

    # -------------------------------------------------------------------------------------------------------- a step

    def look(self) -> None:
        """See what the last step has done, and set what holds in the next."""
        needle = self.needle
        self.told.clear()
        scene = needle._scene
        model = scene._system.model
        at = needle._frame._index
        origin, turn = model.places.position[at], model.places.frame[at].reshape(3, 3)
        for k in np.flatnonzero((self.stage == PRESSED) | (self.stage == PIERCED)).tolist():
            place = model.places.position[needle._made[k]._place._index]
            x, y, _ = ((place - origin) @ turn).tolist()
            self._slid(k, x, y)
        self._thread_slid()
        self._watch_tip(origin, turn)
        self._set_bounds()

    def _slid(self, k: int, x: float, y: float) -> None:
        """A hole that holds the needle, now at (x, y, ·) of its frame."""
        needle, hole = self.needle, self.needle._made[k]
        s, f = needle._shape.find(x, y), hole._pull
        moved = s - self.way[k]
        self._lose(k, f, moved)
        self.way[k], self.pull[k] = s, f
        hole._follow(s, x, y)
        if self.stage[k] == PRESSED:
            limit = self._threshold(k)
            if f >= FULL * limit:
                self.stage[k] = PIERCED
                self._tell("pierced" if self.into[k] > 0 else "through", k)
            elif s < -BACK * self.radius[k]:
                self._let_go(k)
            elif hole._across > needle._forces.grip * f + GRIP * limit:
                self._let_go(k)
                self._tell("slipped", k)
        elif s < 0.0:
            self._let_go(k)
            self._tell("pulled_out", k)
        elif s > needle.length + self.margin:
            self._take_thread(k)

    def _threshold(self, k: int) -> float:
        forces = self.needle._forces
        return forces.piercing if self.into[k] > 0 else forces.emerging

    def _lose(self, k: int, f: float, moved: float) -> None:
        """Enter the work of a hole that has slid."""
        lost = 0.5 * (f + self.pull[k]) * moved
        if self.stage[k] == PRESSED:
            self.work[0] += lost
            return
        cuts = moved > 0.0 and self._cuts(k)
        cutting = min(self.needle._forces.cutting, f) * moved if cuts and f > 0.0 else 0.0
        self.work[1] += cutting
        self.work[2] += f * moved - cutting
        self.work[0] += lost - f * moved

    def _cuts(self, k: int) -> bool:
        """Whether the tip is in the tissue that a hole leads into."""
        order = self.crossings()
        return bool(order) and order[0] == k and self.into[k] > 0

    def _let_go(self, k: int) -> None:
        """A hole holds nothing any more."""
        self.stage[k], self.into[k], self.pull[k] = IDLE, 0, 0.0
        self._switch(self.needle._made[k], False)
        # The skin is still dented: on which side of it the tip is, is seen when the skin has come back.
        self.outside[self.zone[k]] = UNSEEN

    def _switch(self, hole: Any, on: bool) -> None:
        rows = hole._rows
        rows.enabled[:] = int(on)
        rows.multiplier[:] = 0.0
        self.needle._scene._rows_switched()

    def _take_thread(self, k: int) -> None:
        """The needle's end has passed: the hole holds the thread from here on."""
        needle, hole = self.needle, self.needle._made[k]
        self._switch(hole, False)
        self.stage[k], self.pull[k] = THREADED, 0.0
        self.way[k] = needle.length + self.margin
        hole.thread._slider._go_to(self._thread_s(self.margin))
        self._switch(hole.thread, True)

    def _park(self, slider: Any) -> None:
        """Take a slider off the thread, without a word: even a mass of next to nothing would stay behind in space."""
        slider._row.attached[0] = 0
        slider._settle_point()  # its span is part of the matrix's pattern, off the thread too
        if self.needle._scene is not None:
            self.needle._scene._released.add(slider)

    def _thread_s(self, beyond: float) -> float:
        """Rest length of the thread `beyond` (m) the needle's end, or the other way round."""
        rod = self.needle._points[1].body
        return float(rod.length - beyond) if self.needle._backwards else beyond

    def _thread_slid(self) -> None:
        """Holes that hold the thread: how far along they are, and which of them the thread has left."""
        needle = self.needle
        threaded = np.flatnonzero(self.stage == THREADED)
        for k in threaded.tolist():
            hole = needle._made[k]
            slider = hole.thread.slider
            if not slider.attached:
                self._end_thread(k, slider)
                continue
            self.way[k] = needle.length + self._thread_s(slider.s)
            if self.way[k] < needle.length + 0.5 * self.margin:
                # drawn back as far as the needle's end
                self._switch(hole.thread, False)
                self._park(slider)
                self.stage[k], self.way[k] = PIERCED, needle.length + 0.5 * self.margin
                self._hold_needle(k)

    def _end_thread(self, k: int, slider: Any) -> None:
        """The thread has run out of a hole: it can be used again."""
        self._switch(self.needle._made[k].thread, False)
        self.stage[k], self.into[k] = IDLE, 0
        self._park(slider)

    def tie(self, k: int) -> None:
        """A knot holds the thread at a hole from now on."""
        self._switch(self.needle._made[k].thread, False)
        self.stage[k] = TIED
        self._park(self.needle._made[k].thread.slider)

    def _hold_needle(self, k: int) -> None:
        """Switch a hole's rows on, at the needle as it is."""
        needle, hole = self.needle, self.needle._made[k]
        model, p, q = needle._scene._system.model, hole._place._index, needle._frame._index
        evaluate_point(p, model.points, model.frames, model.motion.q, model.rigids.quat, model.places)
        gap = model.places.position[p] - model.places.position[q]
        x, y, z = (gap @ model.places.frame[q].reshape(3, 3)).tolist()
        self._switch(hole, True)
        rows = hole._rows
        rows.value[0] = rows.value_last[0] = z
        rows.side[ALONG] = 0.0
        hole._follow(needle._shape.find(x, y), x, y)
        self.way[k], self.pull[k] = needle._shape.find(x, y), 0.0

    # ------------------------------------------------------------------------------------------------------- the tip

    def _watch_tip(self, origin: FloatArray, turn: FloatArray) -> None:
        """See whether the tip has met a skin, from outside or from inside."""
        needle = self.needle
        if self.pressed() >= 0:
            return
        order = self.crossings()
        inside = int(self.zone[order[0]]) if order and self.into[order[0]] > 0 else -1
        if inside >= 0 and self.way[order[0]] < DEEP * self.radius[order[0]]:
            self.outside[inside] = 0
            return
        tip = origin + turn @ needle._shape.place(0.0)
        for z in range(len(needle._zones)) if inside < 0 else (inside,):
            self._look_at(z, inside, tip, turn[:, 1])

    def _look_at(self, z: int, inside: int, tip: FloatArray, way: FloatArray) -> None:
        """Whether the tip, which points along `way`, has just gone through the skin of one zone."""
        zone, places = self.needle._zones[z], self.needle._scene._system.model.places
        p = self.needle._made[int(np.searchsorted(self.zone, z))]._place._index  # any of its places tells its frame
        turn = places.carry[p].reshape(3, 3)
        here = (tip - places.position[p] + places.arm[p]) @ turn
        if zone.on.body is not None:
            here -= zone.on.local  # the arm is measured from the body's centre of mass
        height, at_rest, foot, normal = height_over(zone, here)
        was = int(self.outside[z])
        if was != UNSEEN or (height > 0.0) == (at_rest > 0.0):
            self.outside[z] = int(height > 0.0)
        along = float(normal @ (way @ turn))
        goes_in, goes_out = inside < 0 and was == 1 and height <= 0.0, inside == z and was == 0 and height > 0.0
        if goes_in or goes_out:
            if (along > 0.0) == goes_in and abs(height) <= self.radius[self.zone == z].max():
                self.outside[z] = was  # it is dragged through backwards, as yet by little
            else:
                self._press(z, foot, 1 if goes_in else -1, abs(height))

    def _press(self, z: int, foot: FloatArray, into: int, beyond: float) -> None:
        """The tip begins to press on a place of the skin, which it is `beyond` by so much, m."""
        free = np.flatnonzero((self.stage == IDLE) & (self.zone == z))
        zone, why = self.needle._zones[z], "all its holes are in use"
        if len(free) and beyond > self.radius[free[0]]:
            why, free = f"it went {1e3 * beyond:.2g} mm beyond the skin in one step", free[:0]
        for k in free[:1].tolist():
            place = self.needle._made[k]._place
            try:
                moved = move_place(zone, place, foot)
                why = "something holds that place already"
            except InputError as problem:
                moved, why = False, str(problem)
            if moved:
                self.place[k] = place._given["place"]
                self.stage[k], self.into[k] = PRESSED, into
                self._hold_needle(k)
                return
        self.told.append(("no_hole", f"{self.needle.name} finds no hole in {zone.name}, and goes on unfelt: {why}"))

    def _set_bounds(self) -> None:
        """What each hole can carry along the needle in the next step."""
        needle, forces = self.needle, self.needle._forces
        length = needle.length
        friction = np.zeros(len(self.stage))
        order = self.crossings()
        inside = int(bool(order) and self.into[order[0]] > 0)
        if inside:
            k = order[0]
            friction[k] = forces.friction * min(self.way[k], length)
        for one, other in zip(order[inside::2], order[inside + 1 :: 2], strict=False):
            share = forces.friction * max(min(self.way[other], length) - self.way[one], 0.0)
            held = [k for k in (one, other) if self.stage[k] == PIERCED]
            for k in held:
                friction[k] += share / len(held)
        for k in np.flatnonzero(self.stage == PIERCED).tolist():
            ahead = friction[k] + (forces.cutting if inside and k == order[0] else 0.0)
            needle._made[k]._bound(friction[k], ahead)
        pressed = self.pressed()
        if pressed >= 0:
            needle._made[pressed]._bound(0.0, self._threshold(pressed))

    def _tell(self, kind: str, k: int) -> None:
        """Note what has happened at a hole."""
        needle = self.needle
        zone = needle._zones[self.zone[k]]
        what = {
            "pierced": f"{needle.name} has pierced {zone.name}",
            "through": f"{needle.name} has come out of {zone.name}",
            "pulled_out": f"{needle.name} was drawn back out of {zone.name}",
            "slipped": f"{needle.name} has slipped off {zone.name}",
        }
        self.told.append((kind, what[kind]))
