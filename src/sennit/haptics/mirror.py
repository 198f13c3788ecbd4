"""The state of a scene in another process: the loop writes it now and then, and a scene elsewhere takes it over.

Both scenes hold the same things in the same order, but for the loop's own ties. Only numbers are copied. What is in
the scenes may change: both count the changes, and a state is taken over only where their counts agree.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from sennit.live.arrows import MOST_CONTACTS
from sennit.live.channel import FrameReader, FrameWriter
from sennit.scene.scene import Scene
from sennit.validation import FloatArray

__all__ = ["StateReader", "StateWriter"]

HEAD = 5
"""Numbers at the beginning: time (s), time of the last step (s), count of changes, numbers of the state, cuts asked."""
STATE = HEAD + 6 * MOST_CONTACTS
"""Where the state begins, behind places and forces of contacts."""
ROOM = 8192
"""Numbers that there is room for besides those at the beginning: for some dozens of pins and cuts."""
CUT = 512
"""Numbers that must be left for another cut."""


class _Arrays:
    """The arrays of a scene's state that are seen."""

    def __init__(self, scene: Scene, without: Callable[[], Collection[Any]]) -> None:
        self.scene, self._without = scene, without
        self._system: Any = None
        self.changes = 0
        """How often other things were put in or taken out by both sides."""
        _ = scene._compiled().system
        self.find()

    def find(self) -> list[Any]:
        """They are others when the scene's tables were made anew; none while there are no tables."""
        scene = self.scene
        system = scene._system
        if system is None:
            return []
        if system is not self._system:
            self._system = system
            without = self._without()
            constraints = [c for c in scene.constraints if c not in without]
            constraints += [unseen for c in constraints if c._attends or c._leads for unseen in c._companions()]
            points = {id(point): point for c in constraints for point in c.points}
            held: list[Any] = [*scene.loads, *scene.obstacles]
            points |= {id(point): point for thing in held for point in thing.points}
            self._found: list[Any] = []
            things: list[Any] = [*scene.bodies, *constraints, *points.values(), *held]
            for thing in things:
                # What a two-step scheme remembers is not seen.
                self._found += [array for key, array in thing._state_arrays().items() if "_last" not in key]
            self.size = sum(array.size for array in self._found)
        return self._found


class StateWriter:
    """Writes the state of `scene` into shared memory called `name`; `without`: constraints that are left out."""

    def __init__(self, scene: Scene, without: Callable[[], Collection[Any]]) -> None:
        self._arrays = _Arrays(scene, without)
        self._writer = FrameWriter(STATE + self._arrays.size + ROOM)
        self._frame = np.zeros(self._writer.size)
        self.name = self._writer.name
        self.cuts = 0
        """How often cutting was asked for."""

    def changed(self) -> None:
        """Other things are in the scene than before, and will be in the other."""
        self._arrays.changes += 1

    def write(self, took: float, contacts: FloatArray | None = None) -> None:
        """Make the present state the newest; `took`: time of the last step, s; `contacts`: see `contact_arrows`."""
        arrays, frame = self._arrays, self._frame
        found = arrays.find()
        if not found or STATE + arrays.size > len(frame):
            return
        frame[:HEAD] = arrays.scene.time, took, arrays.changes, arrays.size, self.cuts
        frame[HEAD:STATE] = 0.0 if contacts is None else contacts.ravel()
        at = STATE
        for array in found:
            end = at + array.size
            frame[at:end] = array.ravel()
            at = end
        self._writer.write(frame)

    def close(self) -> None:
        """Let go of the memory."""
        self._writer.close()


class StateReader:
    """Puts what a `StateWriter` writes into `scene`."""

    def __init__(self, scene: Scene, name: str) -> None:
        self._arrays = _Arrays(scene, tuple)
        self._reader = FrameReader(name)
        self.took = 0.0
        """Time of the loop's last step, s."""
        self.agrees = True
        """Whether the last state had as many numbers as the scene here."""
        self.contacts = np.zeros((MOST_CONTACTS, 6))
        """Places (m) and forces (N) of the loop's contacts, as far as they were asked for."""
        self.cuts = 0
        """How often the loop had been asked to cut, as the last state says."""

    @property
    def crowded(self) -> bool:
        """Whether there is no room for the numbers of another piece of a rod."""
        return bool(STATE + self._arrays.size + CUT > self._reader.size)

    def changed(self) -> None:
        """Other things are in the scene than before, and will be in the other."""
        self._arrays.changes += 1

    def read(self) -> bool:
        """Take the newest state over; False if there is none newer, or other things are in it."""
        arrays = self._arrays
        _ = arrays.scene._compiled().system
        found, newest = arrays.find(), self._reader.read()
        if newest is None:
            return False
        frame: FloatArray = newest[1]
        if frame[2] != arrays.changes:
            return False
        self.agrees = bool(frame[3] == arrays.size)
        if not self.agrees:
            return False
        arrays.scene._set_time(float(frame[0]))
        self.took, self.cuts = float(frame[1]), int(frame[4])
        self.contacts = frame[HEAD:STATE].reshape(-1, 6)
        at = STATE
        for array in found:
            end = at + array.size
            array[...] = frame[at:end].reshape(array.shape)
            at = end
        arrays.scene._state_was_put()
        return True

    def close(self) -> None:
        """Let go of the memory."""
        self._reader.close()
