"""What an environment is: a scene, what actions do in it, what is seen, and how it is judged; all on arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sennit.batch.batch import Batch
from sennit.scene.scene import Scene
from sennit.validation import FloatArray

__all__ = ["MOST", "Task"]

MOST = 1e3
"""What is seen is cut off at this size."""


class Task(ABC):
    """A task for `count` scenes at once.

    A subclass makes its scene, and says what actions, each from −1 to 1, and observations are. Arrays have the scenes
    along their first axis.
    """

    DT: ClassVar[float] = 0.01
    """Step, s."""
    EVERY: ClassVar[int] = 5
    """Steps for which an action is held."""
    LENGTH: ClassVar[int] = 100
    """Actions of an episode."""
    ACTIONS: ClassVar[int]
    """Numbers of an action."""
    OBSERVATIONS: ClassVar[int]
    """Numbers that are seen."""

    def __init__(self, count: int, threads: int | None = None) -> None:
        self.batch = Batch(self.build(), count, threads=threads)
        """The scenes."""

    @abstractmethod
    def build(self) -> Scene:
        """The scene as every episode begins; keeps what it is to move and to look at."""

    @abstractmethod
    def begin(self, rows: NDArray[np.int64], chances: Sequence[np.random.Generator]) -> None:
        """Draw what is random for the episodes of the scenes `rows`, which were reset: each from its own generator."""

    @abstractmethod
    def act(self, actions: FloatArray) -> None:
        """Set what an action (B, ACTIONS) does for the next steps."""

    @abstractmethod
    def observe(self) -> FloatArray:
        """What is seen: (B, OBSERVATIONS)."""

    @abstractmethod
    def judge(self) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Reward of the last action, (B,), and whether the aim is reached now, (B,)."""

    @classmethod
    @abstractmethod
    def script(cls, seen: FloatArray, time: int) -> FloatArray:
        """Actions (B, ACTIONS) of a policy that solves it, from what is seen (B, OBSERVATIONS) at action `time`."""

    def seen(self) -> FloatArray:
        """What is seen, cut off at `MOST`."""
        return np.clip(self.observe(), -MOST, MOST)

    def advance(self, actions: Any) -> None:
        """Act, and let the steps pass."""
        self.act(np.clip(np.asarray(actions, np.float64), -1.0, 1.0))
        self.batch.step(self.DT, self.EVERY)
