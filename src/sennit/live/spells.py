"""What a scene had to do lately to stay sound, for a quiet badge: steps that were divided, calmed, held or yielded."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

__all__ = ["KINDS", "Spell", "Spells"]

KINDS = ("divided", "calmed", "held", "yielded")
"""Kinds of events that tell how a step was kept sound: a badge shows them, nobody is interrupted."""
USUAL = ("touch", "part")
"""Kinds of events that are no news on a page, where they are seen: where much touches they come many times a second."""
LASTS = 2.0
"""Simulated time after which a spell is no longer shown, s."""
WATCHED, FORGOTTEN = 8, 10.0
"""Events that may still grow, at most, and the time after which one that did not is let go, s."""


class Spell(NamedTuple):
    """Steps in succession that the same thing was done to."""

    kind: str
    """One of `KINDS`."""
    steps: int
    message: str = ""


class Spells:
    """Looks through a scene's events for those of `KINDS`, each of which counts its steps for as long as it lasts."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._looked, self._before = 0, 0.0
        self._other = ""
        self._watched: deque[list[Any]] = deque(maxlen=WATCHED)
        """Of each event: its number, its steps, and when they last grew, s."""

    def _look(self) -> None:
        """Take note of the events that came since the last time."""
        events, now = self._scene._events, self._scene.time
        if len(events) < self._looked or now < self._before:  # the scene went back
            self._looked, self._other = 0, ""
            self._watched.clear()
        for number in range(self._looked, len(events)):
            event = events[number]
            if event.kind in KINDS:
                self._watched.append([number, event.steps, event.time])
            elif event.kind not in USUAL:
                self._other = event.message
        self._looked, self._before = len(events), now

    @property
    def other(self) -> str:
        """What the last event of another kind says, contacts left out; "" if there was none."""
        self._look()
        return self._other

    @property
    def newest(self) -> Spell | None:
        """The spell that began or went on last, if that is no longer ago than `LASTS`."""
        self._look()
        if not self._watched:
            return None
        events, now = self._scene._events, self._scene.time
        for entry in self._watched:
            steps = events[entry[0]].steps
            if steps != entry[1]:
                entry[1], entry[2] = steps, now
        while now - self._watched[0][2] > FORGOTTEN:
            self._watched.popleft()
            if not self._watched:
                return None
        number, steps, at = max(self._watched, key=lambda entry: (entry[2], entry[0]))
        return Spell(events[number].kind, steps, events[number].message) if now - at <= LASTS else None
