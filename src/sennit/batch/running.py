"""Steps of a batch: compiled ones of all scenes that are alike, and in Python those of scenes that need more."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.attributes import guarded
from sennit.batch.kernels.march import march_many
from sennit.batch.memory import Shelf, Words
from sennit.batch.reading import Reading
from sennit.batch.workshop import Course, Workshop
from sennit.compilation import PLAIN
from sennit.errors import InputError, SolveError
from sennit.solve.kernels.codes import PLACE, QUIET
from sennit.solve.solver import WHOLE, Part
from sennit.solve.stepper import LARGEST_RATIO
from sennit.validation import FloatArray

__all__ = ["Running"]

RUNNING, DIVIDED, HELD, FAILED = range(4)
"""How the last step of a scene went, in `Batch.status`."""
_PREPARED = ("turns", "path", "stages", "stage", "exact", "push", "strict", "static", "thrifty", "lenient", "yields",
             "cables")  # fmt: skip
"""Settings that a whole step is made with."""

Led = tuple[NDArray[np.int64], FloatArray]
"""Numbers of the points of the world that are led, and their places (B, steps, points, 3)."""
_NOT_LED: Led = np.zeros(0, np.int64), np.zeros((0, 0, 0, 3))


@guarded()
class Running(Reading):
    """The part of a `Batch` that makes its steps."""

    _shop: Workshop
    _threads: int
    _words: Words
    _base: NDArray[np.int64]
    _rooms: list[Words]
    _shelves: list[Shelf]
    _start_shelf: Shelf
    _clock: FloatArray
    _last_step: FloatArray
    _moved: NDArray[np.bool_]
    _soft: NDArray[np.bool_]
    _prepared: NDArray[np.int64]
    _parts: list[Any]
    _steps: NDArray[np.int64]
    _status: NDArray[np.int8]
    _failures: dict[int, str]
    _courses: dict[int, Course]
    _goals: dict[Any, FloatArray]
    _fresh: bool
    _code: int
    _pool: ThreadPoolExecutor | None
    _led: Led | None
    _asked: int

    def _write(self, name: str, key: Any, values: Any) -> None:
        """Write to an array of the tables by its dotted name, of all scenes, at a key of (B, …)."""
        self._field(name)[key] = values

    def _advance(self, h: float, count: int, led: Led | None = None) -> None:
        """`count` steps of all scenes that go on: with targets as they are, or where they are `led` in each step."""
        self._fresh = False
        self._led, self._asked = led, count
        left = np.where(self._status == FAILED, 0, count)
        if led is not None:  # those that stay where they are
            for g, anchor in enumerate(led[0].tolist()):
                self._write("points.anchor", (left == 0, anchor), led[1][left == 0, -1, g])
        self._status[self._status != FAILED] = RUNNING
        plain = self._shop.scene._integrator != "fourth" and not PLAIN
        while (waiting := np.flatnonzero(left)).size:
            quick = waiting[~self._soft[waiting]] if plain else waiting[:0]
            for i in np.setdiff1d(waiting, quick).tolist():
                self._whole_in_python(i, h, left)
            if quick.size:
                self._quickly(quick, h, left)
        self._led = None

    def _quickly(self, rows: NDArray[np.int64], h: float, left: NDArray[np.int64]) -> None:
        """Compiled steps of some scenes, as many as are alike; `left` is how many each is to make."""
        first = ~self._moved[rows]
        if first.any():
            if self._shop.system.touching is not None:  # what overlaps at first is looked at in Python
                for i in rows[first].tolist():
                    self._whole_in_python(i, h, left)
                rows = rows[~first]
                if not rows.size:
                    return
        before = self._prepare(rows, h)
        counts = left.copy()
        same = self._last_step == h
        if self._shop.scene._integrator == "bdf2":
            counts[rows[~same[rows] | (before != h)]] = 1
        counts[~self._moved] = 1
        kept = self._kept_rows(rows[~self._moved[rows]])
        if len(self._shop.system.model.routes) or not self._on_card:
            self._write("report.time", (rows, 0), self._clock[rows])
        ended, made = self._march(rows, counts, left)
        quiet, done = ended[rows] == QUIET, made[rows]
        left[rows] -= done
        self._steps[rows] += done
        went = rows[done > 0]
        self._moved[went] = True
        self._last_step[went] = h
        times = done.copy()
        while times.any():  # one after the other: as the sum of steps rounds
            going = times > 0
            self._clock[rows[going]] += h
            times[going] -= 1
        for i in rows[~quiet].tolist():
            if kept is not None and i in kept:
                self._put_back(i, kept)
                self._whole_in_python(i, h, left)
            else:
                self._in_python(i, h, int(ended[i]))
                self._count_off(i, left)

    def _whole_in_python(self, i: int, h: float, left: NDArray[np.int64]) -> None:
        """A step of scene `i`, from its beginning."""
        if self._led is not None:
            anchors, path = self._led
            self._write("points.anchor", (i, anchors), path[i, self._asked - left[i]])
        self._in_python(i, h, None)
        self._count_off(i, left)

    def _count_off(self, i: int, left: NDArray[np.int64]) -> None:
        """Scene `i` has made a step, or has failed: it makes no more, but its targets go where they were led."""
        left[i] -= 1
        if self._status[i] == FAILED:
            left[i] = 0
            if self._led is not None:
                anchors, path = self._led
                self._write("points.anchor", (i, anchors), path[i, -1])

    def _kept_rows(self, rows: NDArray[np.int64]) -> Any:
        """Copies of scenes that were never stepped, by their numbers: what fails then raises, with nothing changed."""
        return {i: (self._words[i].copy(), self._rooms[i].copy()) for i in rows.tolist()}

    def _put_back(self, i: int, kept: Any) -> None:
        self._words[i], self._rooms[i][:] = kept[i]
        self._prepared[i] = -1

    def _prepare(self, rows: NDArray[np.int64], h: float) -> FloatArray:
        """Write the numbers of a whole step of `h` into the tables of `rows`; which step each goes on from, s."""
        shop, scene = self._shop, self._shop.scene
        two_step = scene._integrator == "bdf2"
        last = self._last_step[rows]
        before = np.where((h > 0.0) & (h <= LARGEST_RATIO * last), last, 0.0) if two_step else np.zeros(len(rows))
        for each in np.unique(before).tolist():
            kind = "euler" if two_step and each == 0.0 else scene._integrator
            part = Part(kind, h, each, 0.0, 1.0, True, False, h, scene._drag, (0.0, 0.0, 0.0))
            if part not in self._parts:
                if len(self._parts) > 64:
                    self._parts.clear()
                    self._prepared[:] = -1
                self._parts.append(part)
            number = self._parts.index(part)
            new = rows[(before == each) & (self._prepared[rows] != number)]
            if not new.size:
                continue
            shop.stepper.solver.prepare(part)
            shop.stepper.solver.prepared = None
            model = shop.system.model
            for name in ("step", "scheme"):
                for field, array in getattr(model, name).fields().items():
                    self._write(f"{name}.{field}", new, array)
            for field in _PREPARED:
                self._write(f"settings.{field}", new, getattr(model.settings, field))
            if len(model.rows):
                self._write("rows.gain", new, 1.0)
            self._write("step.gravity", (new, 0), self._gravity[new])
            pulls = self._gravity[new]
            if (pulls == pulls[0]).all():
                self._write("step.threshold", (new, 0), 2.0 * abs(h) * math.hypot(*pulls[0]) + 1e-6)
            else:
                given = [2.0 * abs(h) * math.hypot(*pull) + 1e-6 for pull in pulls.tolist()]
                self._write("step.threshold", (new, 0), given)
            self._prepared[new] = number
        return before

    def _march(
        self, rows: NDArray[np.int64], counts: NDArray[np.int64], left: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Compiled steps, by all threads; how the last of each scene ended, and how many were made."""
        root = self._shop.root()
        if not self._code:
            self._code = int(self._shop.system.march(PLACE, 0, root))
        ended, made = np.full(self.count, QUIET), np.zeros(self.count, np.int64)
        anchors, path = self._led or _NOT_LED
        waiting = (self._code, WHOLE, rows, counts, self._roots, np.zeros(1, np.int64), ended, made)
        arguments: tuple[Any, ...] = (*waiting, anchors, path, self._asked - left, root)
        helpers = min(self._threads, len(rows)) - 1
        if helpers > 0 and self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads - 1, thread_name_prefix="sennit batch")
        others = [self._pool.submit(march_many, *arguments) for _ in range(helpers)] if self._pool else []
        march_many(*arguments)
        for each in others:
            each.result()
        return ended, made

    # -------------------------------------------------------------------------------------- one scene in Python

    def _in_python(self, i: int, h: float, ended: int | None) -> None:
        """One step of scene `i`: from its beginning, or where its compiled part has `ended`."""
        shop, before = self._shop, float(self._last_step[i])
        self._bring(i)
        try:
            tale = shop.step(h) if ended is None else shop.finish(h, before, ended, WHOLE)
        except (InputError, SolveError) as problem:
            self._status[i] = FAILED
            self._failures[i] = str(problem)
            self._take_back(i)
            return
        if not tale.quiet and (tale.cause is not None or tale.held or tale.parts > 1):
            self._status[i] = max(int(self._status[i]), HELD if tale.held else DIVIDED)
        self._take_back(i)

    def _bring(self, i: int) -> None:
        """Bring scene `i` to the workshop."""
        clock = float(self._clock[i]), float(self._last_step[i])
        course = self._courses.get(i) or Course()
        self._shop.bring(
            *self._numbers_of(i), self._shelves[i], course, self._gravity[i].copy(), clock, int(self._steps[i]),
            bool(self._moved[i]), bool(self._soft[i]),
        )  # fmt: skip
        for anchor, goal in self._goals.items():  # set since the last step
            self._shop.system.model.points.anchor[anchor] = goal[i]

    def _numbers_of(self, i: int) -> tuple[Words, Words]:
        """The words of scene `i`, and of its room."""
        return self._words[i], self._rooms[i]

    def _take_numbers(self, i: int, shelf: Shelf) -> None:
        """Copy the numbers of the scene that was brought to its place as number `i`."""
        self._shop.main.read(self._words[i])
        shelf.region.read(self._rooms[i])

    def _take_back(self, i: int) -> None:
        """Take the scene that was brought back to its place as number `i`."""
        shop, scene = self._shop, self._shop.scene
        shelf = shop.take_back()
        if shelf is not self._shelves[i]:
            self._move(i, shelf)
        self._take_numbers(i, shelf)
        self._clock[i], self._last_step[i] = scene._clock.time, scene._clock.last_step
        self._gravity[i] = scene._gravity
        self._moved[i] = shop.stepper.solver.moved
        self._soft[i] = shop.stepper.solver.softened
        self._steps[i] = scene._troubles._step
        self._prepared[i] = -1
        course = shop.course()
        if course:
            self._courses[i] = course
        else:
            self._courses.pop(i, None)

    def _move(self, i: int, shelf: Any) -> None:
        """Give scene `i` a room on another shelf."""
        old = self._shelves[i]
        (room,), (root,) = shelf.take(self._base[i : i + 1])
        old.give_back(self._rooms[i])
        self._rooms[i], self._roots[i], self._shelves[i] = room, root, shelf
        if old.used == 0 and old is not self._start_shelf:
            self._shop.forget_unused()
