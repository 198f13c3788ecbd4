"""A hand that another process moves: the page's mouse, or a program's own window."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import guarded
from sennit.geometry.pose import Pose
from sennit.haptics.board import MOUSE, Sheet
from sennit.haptics.devices import DeviceState
from sennit.validation import FloatArray

__all__ = ["MouseDevice"]


@guarded()
class MouseDevice:
    """A hand without force feedback, moved from outside the loop: by the page of `HapticLoop.view`, or by `move`.

    A mouse is read some 60 times a second; the loop sees its place through a low-pass filter with the time constant
    `smoothing` (s), so that the coupling is not struck by each of its steps. While it holds nothing, the coupling is
    off. `rate`: ticks per second.
    """

    smoothing: float
    """Time constant of the filter, s."""
    rate: float
    """Ticks per second."""

    def __init__(self, *, smoothing: float = 0.02, rate: float = 1000.0) -> None:
        self.smoothing = validation.number("smoothing", smoothing, minimum=0.0)
        self.rate = validation.number("rate", rate, minimum=1e-3)
        self._part = 1.0 - math.exp(-1.0 / (self.rate * self.smoothing)) if self.smoothing > 0.0 else 1.0
        self._sheet = Sheet(np.zeros(1 + sum(MOUSE.values())), MOUSE)
        self._sheet.write(np.array((0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0)))
        self._place: FloatArray | None = None

    paced_by_ticks = True
    """Its smoothing goes on by one period with each reading."""

    def recipe(self) -> dict[str, Any]:
        """What makes it again in the loop's process."""
        return {"smoothing": self.smoothing, "rate": self.rate}

    def connect(self, sheet: Sheet) -> None:
        """Use a `sheet` of memory that both processes see, from now on."""
        if not sheet.written:
            sheet.write(self._sheet.read())
        self._sheet = sheet

    # ------------------------------------------------------------------------------------------ outside the loop

    def move(self, position: ArrayLike, quaternion: ArrayLike | None = None) -> None:
        """Move the hand to `position` (3,), m, and turn it to `quaternion` (4,)."""
        place = validation.vector("position", position)
        numbers = self._sheet.read()
        if quaternion is not None:
            numbers[3:7] = validation.quaternion("quaternion", quaternion)
        numbers[:3] = place
        self._sheet.write(numbers)

    def grab(self) -> None:
        """Hold on to the grip."""
        self._switch(1.0)

    def release(self) -> None:
        """Let go."""
        self._switch(0.0)

    def _switch(self, holding: float) -> None:
        numbers = self._sheet.read()
        numbers[7] = holding
        self._sheet.write(numbers)

    # --------------------------------------------------------------------------------------------- in the loop

    def state(self) -> DeviceState:
        """The smoothed place, and whether the hand holds on."""
        numbers = self._sheet.read()
        if not numbers[7]:
            self._place = None  # it begins where it is when it next takes hold
            return DeviceState(Pose._trusted(numbers[:3], numbers[3:7]), engaged=False)
        before = numbers[:7] if self._place is None else self._place
        goal = numbers[:7]
        if goal[3:] @ before[3:] < 0.0:
            goal[3:] *= -1.0
        place = before + self._part * (goal - before)
        place[3:] /= math.sqrt(place[3:] @ place[3:])
        velocity = np.zeros(6)
        velocity[:3] = (place[:3] - before[:3]) * self.rate
        self._place = place
        return DeviceState(Pose._trusted(place[:3].copy(), place[3:].copy()), velocity)

    def set_wrench(self, force: FloatArray, torque: FloatArray) -> None:
        """A mouse has no motors."""

    def close(self) -> None:
        """Nothing to let go of."""
