"""Who holds what: several browsers may look, one holds the hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sennit.portrait.cast import Cast
from sennit.validation import FloatArray
from sennit.view.page.picking import Hit, Ray, nearest_hit, place_of

__all__ = ["Hand", "Scenery"]


@dataclass(frozen=True, eq=False, slots=True)
class Scenery:
    """What is seen at one moment, for callbacks that come at any time."""

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
        self.part: int | None = None
        """What it holds."""
        self.last: tuple[int, Any] | None = None
        """Part and place that were grabbed last."""
        self.start = np.zeros(3)
        """Where the grabbed place was, m."""
        self._offset = np.zeros(3)

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
            self._ask("drag", hand=self._place(scenery, event.end_position))
            if event.phase == "end":
                self.let_go()

    def _grab(self, scenery: Scenery, part: int, event: Any) -> None:
        met = np.array(event.start_position, float) / scenery.scale
        eye = np.array(event.client.camera.position, float) / scenery.scale
        view = scenery.cast.views(scenery.frame)[part]
        hit = place_of(part, scenery.cast.parts[part], view, Ray.through(eye, met), met)
        self.holder, self.part, self.start = event.client_id, part, hit.position
        self.last = (part, hit.place)
        # The pointer moves in the plane through the place that it met; the grabbed place keeps its distance from it.
        self._offset = hit.position - met
        self._ask("grab", part=part, place=hit.place)
        self._ask("drag", hand=self._place(scenery, event.end_position))

    def _place(self, scenery: Scenery, drawn: Any) -> list[float]:
        place: list[float] = (np.array(drawn, float) / scenery.scale + self._offset).tolist()
        return place

    def let_go(self) -> None:
        """Release what is held."""
        if self.holder is not None:
            self.holder = self.part = None
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
            self.pin(body)

    def _switch(self, scenery: Scenery, tie: int) -> None:
        if scenery.ties[tie]["name"].startswith("pin "):
            self._ask("remove", tie=tie)
        else:
            self._ask("switch", tie=tie, on=not scenery.enabled[tie])

    def pin(self, hit: Hit | None = None) -> None:
        """Pin what was met, or what was grabbed last."""
        if hit is not None:
            self.last = (hit.part, hit.place)
        if self.last is not None:
            self._ask("pin", part=self.last[0], place=self.last[1])


def _tie_of(scenery: Scenery, part: int) -> int | None:
    """The tie that a part shows."""
    return next((k for k, tie in enumerate(scenery.ties) if part in tie["parts"]), None)
