"""Many scenes at once: copies of one, stepped in compiled code by all cores."""

from __future__ import annotations

import math
import os
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit import validation
from sennit.attributes import guarded, settable, unchanging
from sennit.batch.kernels.march import march_many
from sennit.batch.matter import change, describe, varies
from sennit.batch.memory import Words, lined, pointers, rows_of
from sennit.batch.reading import Reading
from sennit.batch.workshop import Course, Workshop
from sennit.bodies.world import WorldPoint
from sennit.compilation import PLAIN
from sennit.constraints.cable.cable import Cable
from sennit.constraints.load import JUMP, Load
from sennit.errors import InputError, SolveError
from sennit.scene.moving import SHORTEST_STEP
from sennit.scene.scene import Scene
from sennit.sending import Placed
from sennit.solve.kernels.codes import PLACE, QUIET
from sennit.solve.report import Event
from sennit.solve.solver import WHOLE, Part
from sennit.solve.stepper import LARGEST_RATIO
from sennit.validation import FloatArray, quoted

__all__ = ["Batch", "BatchSnapshot"]

RUNNING, DIVIDED, HELD, FAILED = range(4)
"""Of a scene in `Batch.status`."""
_PREPARED = ("turns", "path", "stages", "stage", "exact", "push", "strict", "static", "thrifty", "lenient", "yields",
             "cables")  # fmt: skip
"""Settings that a whole step is made with."""
_DRIVES = frozenset({"speed"})
"""What is set on a cable by a call: of its winch, m/s."""
_MOST = 1 << 24


@unchanging
@dataclass(frozen=True, eq=False)
class BatchSnapshot:
    """The states of all scenes of a batch at one time, as `Batch.save` took them."""

    _owner: Batch
    _words: Words
    _rooms: list[tuple[Any, Any]]
    _courses: dict[int, Course]
    _numbers: dict[str, NDArray[Any]]
    _failures: dict[int, str]


@guarded()
class Batch(Reading):
    """`count` copies of a `scene` in its present state, which are stepped together; the scene itself stays as it is.

    Steps run in compiled code on `threads` cores (all that the process may use, if left out). Each scene has the same
    bits as it would have by itself, whatever `count` and `threads` are. What a compiled step can't do alone (division,
    another matrix since a slider has crossed a span, new contacts) is done for that scene in Python, one after the
    other. A scene that can't go on keeps its last good state: `status` and `failures` say so, the others go on.

    Things are named by those of `scene`: ``batch.set(hand, "target", places)``. Arrays have the scenes along their
    first axis.

    Raises `InputError` for a scene with a `Follow` or an obstacle whose path is a function (give it a `Route`, or set
    its target), and for a scene without anything that moves. ``device="cuda"`` is refused: steps run on processors.
    """

    def __init__(
        self, scene: Scene, count: int, *, device: str = "cpu", dtype: str = "float64", threads: int | None = None
    ) -> None:  # fmt: skip
        if not isinstance(scene, Scene):
            raise InputError(f"a batch is made of a sennit.Scene, got {quoted(scene)}")
        number = validation.count("count", count, 1, _MOST)
        _check_device(device, dtype)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._threads = cores if threads is None else validation.count("threads", threads, 1, 1024)
        scene._check_free()
        if not scene.bodies or scene.dofs == 0:
            raise InputError("a batch needs a scene in which something moves: add a body first")
        if scene._leads:
            names = ", ".join(led.name for led in scene._leads)
            raise InputError(
                f"{names} follows a function, which a batch can't call in compiled code: give it a sennit.Route, or "
                f"use a Fix or a Clamp and set its target with batch.set(…, 'target', …)"
            )
        if scene._attentive or scene._soft:
            watching: list[Any] = [*scene._attentive, *(zone for zone, _ in scene._soft)]
            names = ", ".join(thing.name for thing in watching)
            raise InputError(
                f"{names} needs Python at every step, which a batch can't call in compiled code: leave it out, let "
                f"zones be touched by nothing, or send scenes to processes with sennit.sweep"
            )
        if scene._new_tubes:
            scene._check_tubes()
        self._scene = scene
        self._shop = shop = Workshop(scene)
        self._words: Words = lined(number, shop.main.size)
        self._words[:] = shop.main.template()
        self._start_words: Words = self._words[0].copy()
        """The numbers that `reset` goes back to."""
        self._base = self._words.ctypes.data + self._words.strides[0] * np.arange(number, dtype=np.int64)
        self._point_at_main()
        self._rooms, self._roots = shop.shelf.take(self._base)
        self._shelves = [shop.shelf] * number
        self._start_shelf, self._start_room = shop.shelf, shop.shelf.first_room()
        self._clock = np.full(number, scene._clock.time)
        self._last_step = np.full(number, scene._clock.last_step)
        self._gravity = np.tile(scene._gravity, (number, 1))
        self._moved = np.full(number, shop.stepper.solver.moved)
        self._soft = np.full(number, scene._compiled().solver.softened)
        self._prepared = np.full(number, -1)
        self._parts: list[Any] = []
        """What steps were prepared for, by the numbers in `_prepared`."""
        self._steps = np.full(number, scene._troubles._step)
        self._status = np.zeros(number, np.int8)
        self._failures: dict[int, str] = {}
        self._courses: dict[int, Course] = {}
        self._begun = shop.course()
        if self._begun:
            self._courses = {i: self._begun.copy() for i in range(number)}
        self._start = {name: getattr(self, name)[:1].copy() for name in _PER_SCENE}
        self._varied: dict[int, NDArray[np.int64]] = {}
        """Words that `vary` has made different from scene to scene: columns of numbers that `reset` keeps."""
        self._fresh = True
        """Whether all scenes are as they begin."""
        self._goals: dict[Any, tuple[NDArray[Any], FloatArray]] = {}
        """Targets that were set since the last step: their arrays, and where they go."""
        self._matter: dict[Any, dict[str, FloatArray]] = {}
        """What `vary` has given to rods, by their names."""
        self._views: dict[str, NDArray[Any]] = {}
        self._code = 0
        self._pool: ThreadPoolExecutor | None = None
        self._busy = threading.Lock()

    def _point_at_main(self) -> None:
        at, to = pointers(self._shop.main, self._shop.main)
        self._words[:, at] = self._base[:, None] + to

    # ------------------------------------------------------------------------------------------------- reading

    def __len__(self) -> int:
        return len(self._words)

    def __reduce__(self) -> Any:
        raise TypeError("a batch is not sent: send its scenes, batch.scene(i), or make one in each process")

    def __repr__(self) -> str:
        return f"<Batch of {len(self)} scenes>"

    @property
    def count(self) -> int:
        """Number of its scenes."""
        return len(self._words)

    @property
    def threads(self) -> int:
        """Number of threads that make its steps."""
        return self._threads

    @property
    def time(self) -> FloatArray:
        """Simulated time of each scene: (B,), s."""
        return self._clock.copy()

    @property
    def status(self) -> NDArray[np.int8]:
        """How the last step of each scene went: (B,). 0 as asked; 1 in parts, or with other troubles that `events`
        tell; 2 it stood still for a part of it; 3 it has failed, see `failures`, and stays where it was until it is
        reset or restored.
        """
        return self._status.copy()

    @property
    def failures(self) -> dict[int, str]:
        """Why scenes have failed, by their numbers."""
        return dict(self._failures)

    @property
    def events(self) -> tuple[tuple[int, Event], ...]:
        """What has happened, as (number of the scene, event), scene by scene."""
        return tuple((i, event) for i in sorted(self._courses) for event in self._courses[i].events)

    # ------------------------------------------------------------------------------------------------- stepping

    def step(self, dt: float, n: int = 1, lead: Literal["ramp", "hold"] = "ramp") -> None:
        """Advance all scenes by `n` steps of `dt`, s.

        Positions of targets that were set go linearly to their new places over the `n` steps (``lead="ramp"``), or are
        there in the first one (``"hold"``); whatever else was set holds from the first step on.
        """
        h = validation.number("dt", dt, minimum=SHORTEST_STEP)
        count = validation.count("n", n, 1, 1 << 40)
        validation.choice("lead", lead, ("ramp", "hold"))
        with self._alone():
            goals = list(self._goals.values())
            self._goals.clear()
            if not goals:
                self._advance(h, count)
            elif lead == "hold" or count == 1:
                for array, goal in goals:
                    array[...] = goal
                self._advance(h, count)
            else:
                starts = [array.copy() for array, _ in goals]
                for k in range(1, count + 1):
                    for (array, goal), start in zip(goals, starts, strict=True):
                        array[...] = goal if k == count else start + (k / count) * (goal - start)
                    self._advance(h, 1)

    def run(self, duration: float, dt: float = 1e-2) -> None:
        """Advance all scenes by `duration` (s) in steps of `dt` (s), the last one shorter if they do not divide."""
        total, h = validation.number("duration", duration, minimum=0.0), validation.number("dt", dt, positive=True)
        steps = int(total / h + 1e-9)
        if steps:
            self.step(h, steps)
        rest = total - steps * h
        if rest > max(1e-9 * h, SHORTEST_STEP):
            self.step(rest)

    def rollout(
        self, targets: Mapping[Any, ArrayLike], dt: float, every: int = 1, *,
        observe: Callable[[Batch], Any] | None = None, lead: Literal["ramp", "hold"] = "ramp",
    ) -> Iterator[Any]:  # fmt: skip
        """Make `every` steps of `dt` (s) for each of T targets, and yield what `observe` tells of the batch each time.

        `targets`: by constraint, (T, B, 3) or (T, 3), m. Without `observe` the times of the scenes are yielded.
        """
        if not isinstance(targets, Mapping):
            raise InputError(f"targets must be a dict of arrays by constraint, got {quoted(targets)}")
        courses = {}
        for thing, given in targets.items():
            courses[thing] = validation.array("targets", given, (None, 3), (None, self.count, 3))
            self._checked(self._own(thing), "target", courses[thing][:1].reshape(-1, 3)[0])
        lengths = {len(course) for course in courses.values()}
        if len(lengths) != 1:
            raise InputError(f"targets must have the same number of times each, one or more, got {sorted(lengths)}")
        h = validation.number("dt", dt, minimum=SHORTEST_STEP)
        steps = validation.count("every", every, 1, 1 << 40)
        validation.choice("lead", lead, ("ramp", "hold"))
        if observe is not None and not callable(observe):
            raise InputError(f"observe must be a function of the batch, got {quoted(observe)}")

        def rolling() -> Iterator[Any]:
            for k in range(lengths.pop()):
                for thing, course in courses.items():
                    self.set(thing, "target", course[k])
                self.step(h, steps, lead)
                yield self.time if observe is None else observe(self)

        return rolling()

    def _alone(self) -> Any:
        if self._busy.locked():
            raise InputError("this batch is being stepped by another thread: one at a time")
        return self._busy

    def _advance(self, h: float, count: int) -> None:
        """`count` steps of all scenes that go on, with targets as they are."""
        self._fresh = False
        left = np.where(self._status == FAILED, 0, count)
        self._status[self._status != FAILED] = RUNNING
        plain = self._shop.scene._integrator != "fourth" and not PLAIN
        while (waiting := np.flatnonzero(left)).size:
            quick = waiting[~self._soft[waiting]] if plain else waiting[:0]
            for i in np.setdiff1d(waiting, quick).tolist():
                self._in_python(i, h, None)
                left[i] = 0 if self._status[i] == FAILED else left[i] - 1
            if quick.size:
                self._quickly(quick, h, left)

    def _quickly(self, rows: NDArray[np.int64], h: float, left: NDArray[np.int64]) -> None:
        """Compiled steps of some scenes, as many as are alike; `left` is how many each is to make."""
        first = ~self._moved[rows]
        if first.any():
            if self._shop.system.touching is not None:  # what overlaps at first is looked at in Python
                for i in rows[first].tolist():
                    self._in_python(i, h, None)
                    left[i] = 0 if self._status[i] == FAILED else left[i] - 1
                rows = rows[~first]
                if not rows.size:
                    return
                first = first[:0]
        before = self._prepare(rows, h)
        counts = left.copy()
        same = self._last_step == h
        if self._shop.scene._integrator == "bdf2":
            counts[rows[~same[rows] | (before != h)]] = 1
        counts[~self._moved] = 1
        kept = self._kept_rows(rows[~self._moved[rows]])
        self._field("report.time")[rows, 0] = self._clock[rows]
        ended = self._march(rows, counts)
        made = self._field("report.made")[:, 0]
        quiet = ended[rows] == QUIET
        done = np.where(quiet, counts[rows], made[rows])
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
            if i in kept:
                self._put_back(i, kept[i])
                self._in_python(i, h, None)
            else:
                self._in_python(i, h, int(ended[i]))
            left[i] = 0 if self._status[i] == FAILED else left[i] - 1

    def _kept_rows(self, rows: NDArray[np.int64]) -> dict[int, tuple[Words, Words]]:
        """Copies of scenes that were never stepped: what fails then raises, with nothing changed."""
        return {i: (self._words[i].copy(), self._rooms[i].copy()) for i in rows.tolist()}

    def _put_back(self, i: int, kept: tuple[Words, Words]) -> None:
        self._words[i], self._rooms[i][:] = kept
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
                    self._field(f"{name}.{field}")[new] = array
            for field in _PREPARED:
                self._field(f"settings.{field}")[new] = getattr(model.settings, field)
            if len(model.rows):
                self._field("rows.gain")[new] = 1.0
            self._field("step.gravity")[new, 0] = self._gravity[new]
            weights = {tuple(g) for g in np.unique(self._gravity[new], axis=0).tolist()}
            limits = {g: 2.0 * abs(h) * math.hypot(*g) + 1e-6 for g in weights}
            given = [limits[tuple(g)] for g in self._gravity[new].tolist()]
            self._field("step.threshold")[new, 0] = given
            self._prepared[new] = number
        return before

    def _march(self, rows: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Compiled steps, by all threads; how the last of each scene ended."""
        if not self._code:
            self._code = int(self._shop.system.march(PLACE, 0, self._shop.root()))
        ended = np.full(self.count, QUIET)
        counter = np.zeros(1, np.int64)
        arguments: tuple[Any, ...] = (self._code, WHOLE, rows, counts, self._roots, counter, ended)
        helpers = min(self._threads, len(rows)) - 1
        if helpers > 0 and self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads - 1, thread_name_prefix="sennit batch")
        waiting = [self._pool.submit(march_many, *arguments) for _ in range(helpers)] if self._pool else []
        march_many(*arguments)
        for each in waiting:
            each.result()
        return ended

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
            self._words[i], self._rooms[i], self._shelves[i], course, self._gravity[i].copy(), clock,
            int(self._steps[i]), bool(self._moved[i]), bool(self._soft[i]),
        )  # fmt: skip

    def _take_back(self, i: int) -> None:
        """Take the scene that was brought back to its place as number `i`."""
        shop, scene = self._shop, self._shop.scene
        shelf = shop.take_back()
        if shelf is not self._shelves[i]:
            self._move(i, shelf)
        shop.main.read(self._words[i])
        shelf.region.read(self._rooms[i])
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

    # -------------------------------------------------------------------------------------------------- setting

    def set(self, thing: Any, name: str, values: ArrayLike) -> None:
        """Set what can be set on a constraint, load, point or body of the scene: ``values[i]`` in scene i; of a cable
        also the ``"speed"`` of its winch, m/s.

        `values`: (B, …), or one value for all. `thing` may be the scene itself, for its gravity. Raises `InputError`,
        and changes nothing, for what can't be set, other shapes, and numbers that are not finite, naming the scene.
        """
        with self._alone():
            own = self._own(thing)
            array = self._checked(own, name, values)
            self._fresh = False
            anchor = getattr(own, "_anchor", own if isinstance(own, WorldPoint) else None)
            place = "target" if anchor is not own else "position"
            if name == place and isinstance(anchor, WorldPoint) and anchor._index >= 0 and array.shape[1:] == (3,):
                view = self._field("points.anchor")[:, anchor._index]
                self._goals[anchor._index] = view, array
            elif isinstance(own, Load) and name in ("force", "torque") and own in self._shop.scene._loads:
                if name == "torque":
                    for value in array:
                        own._checked_torque(value)
                self._set_load(own, name, array)
            elif own is self._shop.scene and name == "gravity":
                self._gravity[:] = array
                self._last_step[:] = 0.0
                self._prepared[:] = -1
                self._field("ledger.fresh")[:] = 1
            else:
                self._set_each(own, name, array)

    def _set_load(self, load: Load, name: str, values: FloatArray) -> None:
        number = self._shop.scene._loads.index(load)
        field = self._field(f"loads.{name}")[:, number]
        change = np.abs(values - field).max(axis=1)
        size = np.maximum(np.abs(values).max(axis=1), np.abs(field).max(axis=1))
        field[:] = values
        self._last_step[change > JUMP * size] = 0.0

    def vary(self, thing: Any, name: str, values: ArrayLike) -> FloatArray:
        """Give a property of the scene another value in each scene; what hangs on it is computed anew at once.

        Of a rod ``"youngs_modulus"``, ``"shear_modulus"`` (Pa), ``"density"`` (kg/m³), ``"radius"`` (m; of a circular
        section) and ``"relaxation_time"`` (s); of a rigid body ``"mass"`` (kg, with its inertia) and ``"inertia"``
        ((3,) or (3, 3), kg·m²); of anything else what can be set on it (``"compliance"``, ``"damping"``, ``"length"``)
        and the ``"friction"`` of a slider. `values`: (B, …), or one for all. `reset` keeps them.

        Returns the values, (B, …). Raises as `set` does.
        """
        with self._alone():
            own = self._own(thing)
            array = self._checked(own, name, values, varied=True)
            known = self._matter.get(own, {}) | {name: array}
            self._each(lambda i: change(self._shop.scene, own, {k: a[i] for k, a in known.items()}, name), keep=True)
            self._matter[own] = known
            return array

    def _checked(self, own: Any, name: str, values: ArrayLike, varied: bool = False) -> FloatArray:
        """`values` as an array with a row for each scene."""
        if not isinstance(name, str):
            raise InputError(f"name must be the name of a property, got {quoted(name)}")
        can = _settable(own) | (varies(own) if varied else _DRIVES if isinstance(own, Cable) else frozenset())
        if name not in can or (own is self._shop.scene and name != "gravity"):
            known = ", ".join(sorted(can)) if own is not self._shop.scene else "gravity"
            word = "vary" if varied else "set"
            raise InputError(f"{word} takes one of {known} for {_called(own)}, got {quoted(name)}")
        try:
            given = np.asarray(values)
        except Exception:  # whatever a list that is none, or a value's own methods, raise
            given = np.asarray(None)
        flag = isinstance(getattr(own, name, None), bool)
        if given.dtype.kind not in ("b" if flag else "iuf") or validation._holds_booleans(values) != flag:
            raise InputError(
                f"values of {name} must be {'True or False' if flag else 'numbers'}, (B, …) with B = {self.count}, got "
                f"{quoted(values)}"
            )
        shape = np.shape(getattr(own, name)) if name in _settable(own) else varied_shape(own, name)
        if name == "target" and shape == ():
            shape = (3,)
        wide = [shape, (3, 3)] if name == "inertia" else [shape]
        if given.shape not in [(self.count, *s) for s in wide] and given.shape not in wide:
            raise InputError(
                f"values of {name} must be {shape_text(self.count, shape)}, got an array of shape {given.shape}"
            )
        full = np.array(np.broadcast_to(given, (self.count, *given.shape)) if given.shape in wide else given)
        if full.dtype.kind != "b":
            full = full.astype(np.float64)
            wrong = ~np.isfinite(full).reshape(self.count, -1).all(axis=1)
            if wrong.any():
                i = int(np.flatnonzero(wrong)[0])
                raise InputError(f"values of {name} must be finite: that of scene {i} is {quoted(full[i])}")
        return full

    def _set_each(self, own: Any, name: str, array: NDArray[Any]) -> None:
        if name in _DRIVES and isinstance(own, Cable):
            self._each(lambda i: own.drive(float(array[i])), keep=False)
            return
        convert = bool if array.dtype.kind == "b" else (float if array.ndim == 1 else np.array)
        self._each(lambda i: setattr(own, name, convert(array[i])), keep=False)

    def _each(self, act: Callable[[int], object], keep: bool) -> None:
        """Do something to each scene in Python; if it can't be done to one, to none. `keep`: `reset` keeps it too."""
        done, moved = self._differences(act, self._bring)
        if keep:
            again = done if self._fresh else self._differences(act, self._bring_first)[0]
            for i, changed, numbers, _, _ in again:
                for at, number in zip(changed.tolist(), numbers.tolist(), strict=True):
                    if at not in self._varied:
                        self._varied[at] = np.full(self.count, self._start_words[at])
                    self._varied[at][i] = number
            self._start["_last_step"][:] = 0.0
        for i, shelf, room in moved:
            self._move(i, shelf)
            shelf.fill(self._rooms[i], room)
        rows = self._shop.system.model.rows
        for i, changed, numbers, last, redundant in done:
            self._words[i, changed] = numbers
            self._last_step[i] = last
            self._soft[i] &= len(rows) > 0 and bool(self._field("rows.spare")[i].any())
            if i in self._courses:
                self._courses[i].redundant = redundant
        self._prepared[:] = -1

    def _differences(
        self, act: Callable[[int], object], bring: Callable[[int], None]
    ) -> tuple[list[tuple[int, Words, Words, float, Any]], list[tuple[int, Any, Words]]]:
        """What becomes of each scene's numbers by `act`; and the shelves and rooms of those whose pattern changes."""
        shop = self._shop
        before = self._words[0].copy()
        now = before.copy()
        done: list[tuple[int, Words, Words, float, Any]] = []
        moved: list[tuple[int, Any, Words]] = []
        for i in range(self.count):
            bring(i)
            shop.main.read(before)
            try:
                act(i)
            except InputError as problem:
                raise InputError(f"scene {i}: {problem}") from None
            shelf = shop.take_back()
            if shelf is not self._shelves[i]:
                room = shelf.first_room()
                shelf.region.read(room)
                moved.append((i, shelf, room))
            shop.main.read(now)
            changed = np.flatnonzero(now != before)
            done.append((i, changed, now[changed], shop.scene._clock.last_step, shop.scene._redundant))
        return done, moved

    def _bring_first(self, i: int) -> None:
        """Bring scene `i` to the workshop as it begins."""
        words = self._start_words.copy()
        for at, numbers in self._varied.items():
            words[at] = numbers[i]
        begun = {name: values[0] for name, values in self._start.items()}
        clock = float(begun["_clock"]), float(begun["_last_step"])
        self._shop.bring(
            words, self._start_room, self._start_shelf, self._begun, begun["_gravity"].copy(), clock,
            int(begun["_steps"]), bool(begun["_moved"]), bool(begun["_soft"]),
        )  # fmt: skip

    def _own(self, thing: Any) -> Any:
        if thing is self._scene:
            return self._shop.scene
        if not isinstance(thing, Placed):
            raise InputError(f"give a thing of the scene that the batch was made of, got {quoted(thing)}")
        return self._shop.own(thing, self._scene)

    # ---------------------------------------------------------------------------------------- states kept and left

    def _chosen(self, mask: Any) -> NDArray[np.int64]:
        """Numbers of the scenes that a mask (B,) of booleans or an array of numbers chooses; None: all."""
        if mask is None:
            return np.arange(self.count)
        try:
            given = np.asarray(mask)
        except Exception:  # whatever a list that is none, or a value's own methods, raise
            given = np.asarray(0.5)
        if given.dtype == bool and given.shape == (self.count,):
            return np.flatnonzero(given)
        whole = given.dtype.kind in "iu" or given.size == 0
        if whole and given.ndim == 1 and (given.size == 0 or (0 <= given.min() and given.max() < self.count)):
            return np.unique(given).astype(np.int64)
        raise InputError(
            f"mask must be booleans ({self.count},) or numbers of scenes from 0 to {self.count - 1}, got {quoted(mask)}"
        )

    def reset(self, mask: ArrayLike | None = None) -> None:
        """Let some scenes begin again as the batch began: states, targets, loads, time. What `vary` gave them stays.

        `mask`: booleans (B,) or numbers of scenes; all, if left out.
        """
        rows = self._chosen(mask)
        with self._alone():
            self._write_words(rows, np.broadcast_to(self._start_words, (len(rows), len(self._start_words))))
            for at, numbers in self._varied.items():
                self._words[rows, at] = numbers[rows]
            for name, value in self._start.items():
                getattr(self, name)[rows] = value
            contact = self._shop.system.touching is not None
            for i in rows.tolist():
                if self._shelves[i] is not self._start_shelf:
                    self._move(i, self._start_shelf)
                    self._start_shelf.fill(self._rooms[i], self._start_room)
                elif contact:
                    self._start_shelf.fill(self._rooms[i], self._start_room)
                self._failures.pop(i, None)
                if self._begun:
                    self._courses[i] = self._begun.copy()
                else:
                    self._courses.pop(i, None)
            self._note_soft(rows)
            self._forget_goals(rows)
            self._fresh = len(rows) == self.count

    def _note_soft(self, rows: NDArray[np.int64]) -> None:
        """States were put back: see which of them have rows that are superfluous."""
        if len(self._shop.system.model.rows):
            self._soft[rows] = self._field("rows.spare")[rows].any(axis=1)

    def _write_words(self, rows: NDArray[np.int64], words: Words) -> None:
        """Put numbers back; the blocks, which are addresses, stay."""
        head = self._shop.main.head
        if len(rows) == self.count:
            self._words[:, head:] = words[:, head:]
        else:
            self._words[rows, head:] = words[:, head:]

    def _forget_goals(self, rows: NDArray[np.int64]) -> None:
        for view, goal in self._goals.values():
            goal[rows] = view[rows]

    def save(self) -> BatchSnapshot:
        """The states of all scenes, to go back to with `restore`."""
        with self._alone():
            rooms = list(zip(self._shelves, [room.copy() for room in self._rooms], strict=True))
            return BatchSnapshot(
                self, self._words.copy(), rooms, {i: c.copy() for i, c in self._courses.items()},
                {name: getattr(self, name).copy() for name in _PER_SCENE}, dict(self._failures),
            )  # fmt: skip

    def restore(self, snapshot: BatchSnapshot, mask: ArrayLike | None = None) -> None:
        """Let some scenes (`mask` as for `reset`) go back to a `snapshot` of this batch, in which each has its own
        state: with what was set and varied then.
        """
        if not isinstance(snapshot, BatchSnapshot) or snapshot._owner is not self:
            raise InputError(f"restore takes a snapshot of this batch, got {quoted(snapshot)}")
        rows = self._chosen(mask)
        with self._alone():
            self._fresh = False
            self._write_words(rows, snapshot._words[rows])
            for name, values in snapshot._numbers.items():
                getattr(self, name)[rows] = values[rows]
            self._prepared[rows] = -1
            for i in rows.tolist():
                shelf, room = snapshot._rooms[i]
                if self._shelves[i] is not shelf:
                    self._move(i, shelf)
                shelf.fill(self._rooms[i], room)
                self._failures.pop(i, None)
                if i in snapshot._failures:
                    self._failures[i] = snapshot._failures[i]
                self._courses.pop(i, None)
                if i in snapshot._courses:
                    self._courses[i] = snapshot._courses[i].copy()
            self._note_soft(rows)
            self._forget_goals(rows)

    def scene(self, i: int) -> Scene:
        """A copy of scene number `i`, as an ordinary scene: to look at, to settle, to record, to go on with."""
        number = validation.count("i", i, 0, self.count - 1)
        with self._alone():
            self._bring(number)
            shop = self._shop.scene
            made: Scene = pickle.loads(pickle.dumps(shop))
            for own, known in self._matter.items():
                place = shop._place_of(own)
                if place is not None:
                    describe(made._at_place(*place[1:]), {name: values[number] for name, values in known.items()})
            return made

    def _field(self, name: str) -> NDArray[Any]:
        """An array of the tables by its dotted name, of all scenes: (B, …), no copy."""
        found = self._views.get(name)
        if found is None:
            table: Any = self._shop.system.model
            for part in name.split("."):
                table = getattr(table, part)
            found = self._views[name] = rows_of(self._words, self._shop.main, table)
        return found


_PER_SCENE = ("_clock", "_last_step", "_gravity", "_moved", "_soft", "_prepared", "_steps", "_status")
"""Arrays with a number for each scene, which a state has besides its words."""


def _settable(thing: Any) -> frozenset[str]:
    """What can be set on it."""
    kind: Any = type(thing)
    return settable(kind)


def _check_device(device: object, dtype: object) -> None:
    if isinstance(device, str) and device == "cuda":
        raise InputError(
            'device="cuda" is not there yet: steps of a batch run on the processor\'s cores; leave device out'
        )
    validation.choice("device", device, ("cpu",))
    if isinstance(dtype, str) and dtype == "float32":
        raise InputError('dtype="float32" is for graphics cards, which are not there yet: leave dtype out')
    validation.choice("dtype", dtype, ("float64",))


def _called(thing: Any) -> str:
    return str(getattr(thing, "name", None) or repr(thing))


def varied_shape(own: Any, name: str) -> tuple[int, ...]:
    """Shape of one value of what only `vary` gives."""
    return (3,) if name == "inertia" else ()


def shape_text(count: int, shape: Iterable[int]) -> str:
    """Which shapes are taken, in words."""
    one = tuple(shape)
    return f"an array {(count, *one)}, or one {'number' if not one else f'of shape {one}'} for all scenes"
