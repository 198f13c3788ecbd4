"""Who holds what: several browsers may look, one holds the hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sennit.portrait.cast import Cast
from sennit.validation import FloatArray
from sennit.view.page.picking import Ray, nearest_hit, place_of

__all__ = ["Hand", "Scenery", "Stamp"]


@dataclass
class Stamp:
    """Of what shows numbered things: the generation of their numbers. It is renewed with what shows the same things in
    the same order; that of things that are gone stays, so that a late command which names them is dropped.
    """

    generation: int


@dataclass(frozen=True, eq=False, slots=True)
class Scenery:
    """What is seen at one moment, for callbacks that come at any time."""

    generation: int
    """Of the numbers of parts and ties: the simulation drops commands that name them by those of another one."""
    cast: Cast
    frame: FloatArray
    """The parts' numbers."""
    ties: Sequence[dict[str, Any]]
    enabled: FloatArray
    """Of the ties: 1 or 0."""
    scale: float
    """Drawn length of a metre."""
    reach: float
    """How near to a rod's middle the pointer must be, m."""


class Hand:
    """Turns what pointers do into commands: `ask` is called with a command's name and arguments.

    `tell` is called with a browser and a text for the person in front of it. All methods run in the server's loop.
    """

    def __init__(self, ask: Callable[..., None], tell: Callable[[Any, str], None]) -> None:
        self._ask, self._tell = ask, tell
        self.scenery: Scenery | None = None
        """What is seen now."""
        self.holder: int | None = None
        """The browser that holds something."""
        self._held: tuple[Cast, int] | None = None
        self._last: tuple[Cast, int, Any] | None = None
        """Part, with the cast that numbers it, and place that were met last."""
        self.start = np.zeros(3)
        """Where the grabbed place was, m."""
        self._offset = np.zeros(3)

    @property
    def part(self) -> int | None:
        """What is held, as it is numbered now."""
        held, scenery = self._held, self.scenery
        return None if held is None or scenery is None else _number_in(scenery.cast, *held)

    async def dragged(self, part: int, event: Any) -> None:
        """A drag of `part` begins, goes on or ends; `event` is viser's."""
        scenery = self.scenery
        if event.phase == "start":
            if scenery is None or part >= len(scenery.cast.parts):
                return
            if self.holder is not None and self.holder != event.client_id:
                self._tell(event.client, "Another window holds the hand: it can be taken when that one lets go.")
                return
            self._grab(scenery, part, event)
        elif self.holder == event.client_id and scenery is not None:
            try:
                self._ask("drag", hand=self._place(scenery, event.end_position))
            finally:
                if event.phase == "end":
                    self.let_go()

    def _grab(self, scenery: Scenery, part: int, event: Any) -> None:
        met = np.array(event.start_position, float) / scenery.scale
        if met.shape != (3,) or not np.isfinite(met).all():
            return
        eye = np.array(event.client.camera.position, float) / scenery.scale
        view = scenery.cast.views(scenery.frame)[part]
        hit = place_of(part, scenery.cast.parts[part], view, Ray.through(eye, met), met)
        self.holder, self._held, self.start = event.client_id, (scenery.cast, part), hit.position
        self._last = (scenery.cast, part, hit.place)
        # The pointer moves in the plane through the place that it met; the grabbed place keeps its distance from it.
        self._offset = hit.position - met
        self._ask("grab", part=part, place=hit.place, generation=scenery.generation)
        self._ask("drag", hand=self._place(scenery, event.end_position))

    def _place(self, scenery: Scenery, drawn: Any) -> list[float]:
        place: list[float] = (np.array(drawn, float) / scenery.scale + self._offset).tolist()
        return place

    def let_go(self) -> None:
        """Release what is held."""
        if self.holder is not None:
            self.holder = self._held = None
            self._ask("release")

    def left(self, client_id: int) -> None:
        """A browser has gone."""
        if self.holder == client_id:
            self.let_go()

    async def clicked(self, event: Any) -> None:
        """A right click, or one with Shift: pins a body where it was met; takes a pin away; switches another tie."""
        scenery = self.scenery
        if scenery is None:
            return
        ray = Ray(np.array(event.ray_origin, float) / scenery.scale, np.array(event.ray_direction, float))
        body = nearest_hit(scenery.cast, scenery.frame, ray, scenery.reach, ("body",))
        mark = nearest_hit(scenery.cast, scenery.frame, ray, scenery.reach, ("tie",))
        tie = None if mark is None else _tie_of(scenery, mark.part)
        if mark is not None and tie is not None and (body is None or mark.depth <= body.depth + 3.0 * scenery.reach):
            self._switch(scenery, tie)
        elif body is not None:
            self._last = (scenery.cast, body.part, body.place)
            self.pin()

    def _switch(self, scenery: Scenery, tie: int) -> None:
        if scenery.ties[tie]["name"].startswith("pin "):
            self._ask("remove", tie=tie, generation=scenery.generation)
        else:
            self._ask("switch", tie=tie, on=not scenery.enabled[tie], generation=scenery.generation)

    def pin(self) -> None:
        """Pin what was grabbed or clicked last, if it is still there."""
        scenery, last = self.scenery, self._last
        if scenery is None or last is None:
            return
        part = _number_in(scenery.cast, *last[:2])
        if part is not None:
            self._ask("pin", part=part, place=last[2], generation=scenery.generation)


def _number_in(cast: Cast, before: Cast, part: int) -> int | None:
    """The number in `cast` of the part that `before` gives the number `part`: other things may have come or gone since.

    Parts are known by their names. Those of one name are numbered, which says nothing when one of them goes: None.
    """
    if cast is before:
        return part
    met = before.parts[part]
    if re.search(r" \(\d+\)$", met.name) or any(p.name == f"{met.name} (2)" for p in (*before.parts, *cast.parts)):
        return None
    return next((k for k, p in enumerate(cast.parts) if (p.kind, p.name) == (met.kind, met.name)), None)


def _tie_of(scenery: Scenery, part: int) -> int | None:
    """The tie that a part shows."""
    return next((k for k, tie in enumerate(scenery.ties) if part in tie["parts"]), None)
