"""One scene of a batch on a page: it is looked at while the batch is stepped by others, say by a training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from sennit import validation
from sennit.batch.batch import Batch
from sennit.errors import InputError
from sennit.live.play import Handle, Place
from sennit.live.scene_play import ScenePlay
from sennit.validation import FloatArray

__all__ = ["BatchPlay"]

INTERVAL = 1 / 30
"""Seconds between two looks."""


class BatchPlay(ScenePlay):
    """A copy of scene `number` of a `batch`, which is led along: each step of the page takes its state over.

    Nothing can be done to it. What was varied since the page was opened is not seen; nor are events and contacts.
    """

    def __init__(self, batch: Batch, number: int, *, title: str | None = None) -> None:
        self._batch = batch
        self._number = validation.count("number", number, 0, batch.count - 1)
        name = title or f"scene {number} of {batch.count}"
        with batch._looked_at():
            copied = batch._copy(self._number)
        super().__init__(copied, dt=INTERVAL, title=name)
        self._shape = self.scene.snapshot()

    def step(self) -> None:
        """Look how it is now."""
        with self._batch._looked_at():
            self._batch._bring(self._number)
            there = self._batch._shop.scene.snapshot()
        self.scene.restore(replace(
            self._shape, _numbers=there._numbers, _clock=there._clock, _settings=there._settings,
            _account=there._account,
        ))  # fmt: skip

    def reset(self) -> NoReturn:
        """Refused, as all that would change it."""
        raise InputError(f"this is {self.title}, which is only looked at: whoever steps the batch moves it")

    def set_gravity(self, value: FloatArray) -> NoReturn:
        """Refused."""
        self.reset()

    def grab(self, part: int, place: Place) -> NoReturn:
        """Refused."""
        self.reset()

    def drag(self, hand: FloatArray) -> NoReturn:
        """Refused."""
        self.reset()

    @property
    def cuttable(self) -> Sequence[int]:
        """Nothing."""
        return ()

    def cut(self, places: Sequence[tuple[int, Place]]) -> NoReturn:
        """Refused."""
        self.reset()

    def pin(self, part: int, place: Place) -> NoReturn:
        """Refused."""
        self.reset()

    def switch(self, tie: int, on: bool) -> NoReturn:
        """Refused."""
        self.reset()

    def remove(self, tie: int) -> NoReturn:
        """Refused."""
        self.reset()

    def remember(self) -> Callable[[], None]:
        """There is nothing that could be done to it, or undone."""
        return _nothing

    @property
    def forces(self) -> Sequence[str]:
        """Those of constraints: what touches is not seen."""
        return ("constraints",)

    @property
    def gravity(self) -> Any:
        """There is none to change."""
        return None

    @property
    def handles(self) -> Sequence[Handle]:
        """There are none."""
        return ()


def _nothing() -> None:
    """There is nothing to take back."""
