"""`Clock`: fixed steps under a loop whose frames take as long as they take, and what is seen between two steps."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sennit import validation
from sennit.attributes import guarded
from sennit.errors import InputError
from sennit.portrait.cast import Cast
from sennit.portrait.parts import Solid, Tube
from sennit.scene.scene import Scene
from sennit.validation import FloatArray, quoted

__all__ = ["Clock"]

SLACK = 1e-9
"""Part of a step by which a sum of frames may miss a whole number of steps: those of 1/60 s make four of 1/240 s."""


@guarded()
class Clock:
    """Runs a scene in fixed steps from a loop of your own: a game engine's, a trainer's, a controller's.

    Frames come when they come; a simulation wants steps of one length, with which its bits do not depend on the speed
    of the screen. `advance` takes the time of a frame, makes the whole steps that fit into what has come together, and
    keeps the rest for the next frame. What is read from the clock is where things are in between: the last two states
    in proportion, so that pictures move evenly, one step behind the scene itself::

        clock = sn.Clock(scene, dt=1 / 240)
        while running:
            clock.advance(seconds_of_the_last_frame)
            draw(clock["load"].position, clock["load"].quaternion, clock["rope"].centres)

    Arguments: `scene`; `dt`, the step, s; `longest`, s: what a frame takes beyond that is left out (`dropped`), so that
    a scene that is slower than real time falls behind instead of stopping the loop; `before_step`, called with dt
    before each step.

    Raises `InputError` for bad input. A step that fails raises `SolveError`: the scene keeps its last good state, and
    the time of that frame is not made up for.
    """

    def __init__(
        self, scene: Scene, dt: float = 5e-3, *, longest: float = 0.25,
        before_step: Callable[[float], object] | None = None,
    ) -> None:  # fmt: skip
        validation.instance("scene", scene, Scene, "a sennit.Scene")
        step = validation.number("dt", dt, positive=True)
        most = validation.number("longest", longest, positive=True)
        if most < step:
            raise InputError(f"longest must be at least a step of {step:g} s, got {longest}")
        if before_step is not None and not callable(before_step):
            raise InputError(f"before_step must be a function of the time step, got {quoted(before_step)}")
        self._scene, self._dt, self._longest, self._before_step = scene, step, most, before_step
        self._frame: FloatArray | None = None
        """What is told now; None until somebody asks."""
        self._left = 0.0
        """Time that is no whole step yet, s."""
        self._dropped = 0.0
        self._called: float | None = None
        """When `advance` was last called without a time."""
        self._look_again()

    # ----------------------------------------------------------------------------------------------------------- time

    @property
    def dt(self) -> float:
        """The step, s."""
        return self._dt

    @property
    def scene(self) -> Scene:
        """What it runs."""
        return self._scene

    @property
    def fraction(self) -> float:
        """How far between the last two states it tells: 0 at the one before, 1 (which is not reached) at the last."""
        return min(self._left / self._dt, 1.0)

    @property
    def time(self) -> float:
        """Simulated time of what it tells, s: up to one step behind `scene.time`."""
        return self._scene.time - (0.0 if self._span == 0.0 else self._dt - self._left)

    @property
    def dropped(self) -> float:
        """Time that was left out so far since frames took too long, s."""
        return self._dropped

    def advance(self, seconds: float | None = None) -> int:
        """Let `seconds` go by, by default the real time since the last such call, and return how many steps were made.

        Steps go to compiled code in one call where nothing of Python's is asked for between them.
        """
        if seconds is None:
            now = time.perf_counter()
            seconds, self._called = 0.0 if self._called is None else now - self._called, now
        passed = validation.number("seconds", seconds, minimum=0.0)
        taken = min(passed, self._longest)
        self._dropped += passed - taken
        total = self._left + taken
        count = int(total / self._dt + SLACK)
        self._left = max(total - count * self._dt, 0.0)
        self._step(count)
        return count

    def _step(self, count: int) -> None:
        """Make `count` steps, and remember the states before and after the last one."""
        self._frame = None
        before = last = None
        try:
            if count > 1:
                self._make(count - 1)
            if count > 0:
                before = self._captured()
                self._make(1)
            last = self._captured()
        finally:  # other things are in the scene than before, or a step has failed: it is seen as it is
            if last is None or (count > 0 and before is None):
                self._look_again()
        if before is not None and last is not None:
            self._before_last, self._last, self._span = before, last, self._dt

    def _make(self, count: int) -> None:
        if self._before_step is None:
            self._scene.run(count * self._dt, dt=self._dt)
            return
        for _ in range(count):
            self._before_step(self._dt)
            self._scene.step(self._dt)

    # ----------------------------------------------------------------------------------------------------- what is seen

    def _is_current(self) -> bool:
        return bool(self._portrait.current)

    def _captured(self) -> FloatArray | None:
        """The scene as it is; None if other things are in it than the portrait knows."""
        return self._portrait.capture().copy() if self._is_current() else None

    def _look_again(self) -> None:
        from sennit.portrait.of_scene import portrait_of

        self._portrait = portrait_of(self._scene)
        cast = self._cast = self._portrait.cast
        self._numbers = {part.name: k for k, part in enumerate(cast.parts)}
        solids = [at for part, at in zip(cast.parts, cast.offsets, strict=True) if isinstance(part, Solid)]
        self._quaternions = np.add.outer(np.array(solids, np.intp), np.arange(4, 8))
        """Where in a frame the numbers of quaternions are, (k, 4)."""
        tubes = [(at, part.count) for part, at in zip(cast.parts, cast.offsets, strict=True) if isinstance(part, Tube)]
        each = [at + 1 + 3 * n + np.arange(3 * n).reshape(n, 3) for at, n in tubes]
        self._directors = np.concatenate([np.zeros((0, 3), np.intp), *each])
        """Those of directors, (k, 3)."""
        self._last = self._portrait.capture().copy()
        self._before_last, self._span = self._last, 0.0
        self._frame = None

    @property
    def names(self) -> list[str]:
        """What can be asked for by ``clock[name]``: bodies, and what shows constraints, obstacles and decoration."""
        return list(self._numbers)

    @property
    def cast(self) -> Cast:
        """Shapes and colours of all that is seen, in the order of `frame`; another one when things come or go."""
        return self._cast

    @property
    def frame(self) -> FloatArray:
        """All of it as one array of numbers, as `sennit.portrait.parts` lays them out: m, quaternions scalar first."""
        if self._frame is None:
            self._frame = self._between()
        return self._frame

    def __getitem__(self, name: str) -> Any:
        """Where a part is: `position` (3,), m, and `quaternion` (4,) of a rigid body or another solid; `centres` and
        `directors`, (n, 3), of a rod or cable; `vertices` (n, 3) of a zone. `shown` is 0 where it is not to be drawn.
        """
        number = self._numbers.get(name) if isinstance(name, str) else None
        if number is None:
            raise InputError(f"nothing that is seen has the name {quoted(name)}: there are {', '.join(self._numbers)}")
        at = self._cast.offsets[number]
        part = self._cast.parts[number]
        return part.view(self.frame[at : at + part.size])

    def _between(self) -> FloatArray:
        """The last two states in proportion: rotations by the shorter way, directors of unit length."""
        before, last, fraction = self._before_last, self._last, self.fraction
        if self._span == 0.0:
            return last.copy()
        frame = before + fraction * (last - before)
        q = self._quaternions
        near = np.where(np.sum(before[q] * last[q], axis=1, keepdims=True) < 0.0, -1.0, 1.0)
        for where, turned in ((q, (1.0 - fraction) * before[q] + fraction * near * last[q]),
                              (self._directors, frame[self._directors])):  # fmt: skip
            frame[where] = turned / np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-12)
        shown = np.array(self._cast.offsets, np.intp)
        for k in np.flatnonzero(before[shown] != last[shown]):  # just come, or gone: there is nothing to go between
            block = slice(shown[k], shown[k] + self._cast.parts[k].size)
            frame[block] = last[block]
        return frame
