"""The winch at the first point of a cable: it keeps a length, a speed or a tension."""

from __future__ import annotations

import math

from sennit import validation
from sennit.constraints.cable.stiffness import or_infinite
from sennit.constraints.cable.table import CableTables
from sennit.constraints.constraint import AbstractConstraint
from sennit.errors import InputError
from sennit.validation import quoted

__all__ = ["FREE", "Winched"]

FREE = -1.0
"""In the tables, the tension that a winch keeps which keeps none."""


class Winched(AbstractConstraint):
    """The part of a `Cable` that its winch is. What it was told last is what it does."""

    _tables: CableTables

    @property
    def length(self) -> float:
        """Unstretched length between its ends, m. Can be set: it is reached at the end of the next step."""
        tables = self._tables
        return float(tables.rows.rest[: tables.parts].sum() + tables.cables.asked[0])

    @length.setter
    def length(self, value: float) -> None:
        wanted = validation.number("length", value, positive=True)
        cables = self._tables.cables
        if not cables.shortest[0] <= wanted <= cables.longest[0]:
            raise InputError(
                f"length must be between {cables.shortest[0]:g} m, its shortest, and {cables.longest[0]:g} m, "
                f"the longest, got {quoted(value)}"
            )
        self._let_go()
        cables.asked[0] += wanted - self.length

    @property
    def pull(self) -> float | None:
        """Tension that the winch keeps at the first point, N: it hauls in and lets out as that takes, at any speed.

        Force control, as of a tendon on a motor with a load cell. None: it keeps a length or a speed. Can be set; None
        holds the length that there is, and so do `length`, `drive`, `brake` and `release` end it. While it is kept
        `settle` finds the shape under that tension. Where the cable is wound in it may be less, and where it has run
        out (`longest`) more: an event tells.
        """
        kept = float(self._tables.cables.pull[0])
        return kept if kept >= 0.0 else None

    @pull.setter
    def pull(self, value: float | None) -> None:
        kept = FREE if value is None else validation.number("pull", value, minimum=0.0)
        self._forces_jump()
        self._set_winch(0.0, 0.0, math.inf)
        cables = self._tables.cables
        cables.pull[0], cables.asked[0] = kept, 0.0

    def drive(self, speed: float, slip: float = 0.0, max_pull: float | None = None) -> None:
        """Let the winch run: `speed` is dL/dt, m/s, negative to haul in.

        `slip`, m/s per N: the length changes by speed + slip · tension. `max_pull`, N: it gives way at more.
        """
        rate = validation.number("speed", speed)
        give = validation.number("slip", slip, minimum=0.0)
        self._set_winch(rate, give, or_infinite("max_pull", max_pull))

    def brake(self) -> None:
        """Stop the winch and hold the cable."""
        self.drive(0.0)

    def release(self) -> None:
        """Let the spool turn freely: the cable runs out without a pull."""
        self._set_winch(0.0, 0.0, 0.0)

    def _set_winch(self, speed: float, slip: float, pull: float) -> None:
        if self._scene is not None:
            self._scene._check_here(f"the winch of {self.name}")
        self._let_go()
        cables = self._tables.cables
        cables.winch_speed[0], cables.slip[0], cables.max_pull[0] = speed, slip, pull

    def _let_go(self) -> None:
        """Keep no tension any more."""
        if self.pull is not None:
            self._forces_jump()
            self._tables.cables.pull[0] = FREE

    def _forces_jump(self) -> None:
        """Forces jump between two steps: a two-step scheme starts anew."""
        if self._scene is not None:
            self._scene._forces_jumped()
