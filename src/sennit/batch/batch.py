"""Many scenes at once: copies of one, stepped in compiled code by all cores."""

from __future__ import annotations

import contextlib
import copy
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit import validation
from sennit.attributes import guarded, unchanging
from sennit.batch.matter import describe, describe_law
from sennit.batch.memory import Words, lined, pointers, rows_of
from sennit.batch.setting import Setting
from sennit.batch.workshop import Course, Workshop, kept_by_reset
from sennit.bodies.rigid.body import RigidBody
from sennit.compile_once import compile_once
from sennit.constraints.cable.sheave import Sheave
from sennit.constraints.place import Fix
from sennit.errors import InputError
from sennit.scene.colliding import ContactPair, SceneContacts
from sennit.scene.moving import SHORTEST_STEP
from sennit.scene.scene import Scene
from sennit.sending import Placed
from sennit.solve.report import Event
from sennit.validation import FloatArray, quoted

__all__ = ["Batch", "BatchSnapshot"]

_MOST = 1 << 24
_PATH = 1 << 20
"""Numbers of the places that targets are led through, in one call of compiled code."""


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
    _goals: dict[Any, FloatArray]


@guarded()
class Batch(Setting):
    """`count` copies of a `scene` in its present state, which are stepped together; the scene itself stays as it is.

    Steps run in compiled code on `threads` cores (all that the process may use, if left out). Each scene has the same
    bits as it would have by itself, whatever `count` and `threads` are. What a compiled step can't do alone (division,
    another matrix since a slider has crossed a span, new contacts) is done for that scene in Python, one after the
    other. A scene that can't go on keeps its last good state: `status` and `failures` say so, the others go on.

    Things are named by those of `scene`: ``batch.set(hand, "target", places)``. Arrays have the scenes along their
    first axis.

    Raises `InputError` for a scene with a `Follow` or an obstacle whose path is a function (give it a `Route`, or set
    its target), for one with needles or zones that can be touched, which need Python at every step (send it to
    processes by `sweep`), and for one without anything that moves.

    With ``device="cuda"`` numbers live on a graphics card of NVIDIA's and a thread makes the steps of each scene, in
    ``dtype`` "float64" or "float32" (docs/batch.md): elastic rods, rigid bodies, joints, sliders, cables, loads and
    contact; what it has not got is refused by name, and so is a machine without such a card.
    """

    def __new__(cls, scene: Scene, count: int, *, device: str = "cpu", **_: Any) -> Batch:
        """One on a graphics card is of a class of its own, with the same interface."""
        if cls is Batch and isinstance(device, str) and device == "cuda":
            from sennit.batch.device import CardBatch

            return object.__new__(CardBatch)
        return object.__new__(cls)

    def __init__(
        self, scene: Scene, count: int, *, device: str = "cpu", dtype: str = "float64", threads: int | None = None
    ) -> None:  # fmt: skip
        if not isinstance(scene, Scene):
            raise InputError(f"a batch is made of a sennit.Scene, got {quoted(scene)}")
        number = validation.count("count", count, 1, _MOST)
        self._dtype = _check_device(device, dtype)
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
        if scene._attentive or scene._soft or scene._fragile:
            watching: list[Any] = [*scene._attentive, *scene._fragile, *(zone for zone, _ in scene._soft)]
            names = ", ".join(thing.name for thing in watching)
            raise InputError(
                f"{names} needs Python at every step, which a batch can't call in compiled code: leave it out, let "
                f"zones be touched by nothing and rods not break, or send scenes to processes with sennit.sweep"
            )
        self._refuse(scene)
        if scene._new_tubes:
            scene._check_tubes()
        self._scene = scene
        self._shop = shop = Workshop(scene)
        compile_once("batch", (prepare_batch,))  # when what scenes need is there
        self._start_words: Words = shop.main.template()
        """The numbers that `reset` goes back to."""
        self._spans = shop.main.spans(kept_by_reset(shop.root()))
        """Where they lie: all but what need not be written."""
        self._count = number
        self._lay_out()
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
        self._goals: dict[Any, FloatArray] = {}
        """Places that targets were set to since the last step, by their numbers among points."""
        self._matter: dict[Any, dict[str, FloatArray]] = {}
        """What `vary` has given to each thing: arrays by the names of properties."""
        self._views: dict[str, NDArray[Any]] = {}
        self._code = 0
        self._pool: ThreadPoolExecutor | None = None
        self._led = None
        self._asked = 0
        self._busy = threading.Lock()
        self._lookers: set[object] = set()

    def _refuse(self, scene: Scene) -> None:
        """Refuse what the device can't do, before anything is made."""

    def _lay_out(self) -> None:
        """Make the memory of all scenes, each as the batch begins."""
        main = self._shop.main
        self._words: Words = lined(self.count, main.size)
        self._words[:] = self._start_words
        self._base = self._words.ctypes.data + self._words.strides[0] * np.arange(self.count, dtype=np.int64)
        at, to = pointers(main, main)
        self._words[:, at] = self._base[:, None] + to
        self._rooms, self._roots = self._shop.shelf.take(self._base)

    # ------------------------------------------------------------------------------------------------- reading

    def __len__(self) -> int:
        return self._count

    def __reduce__(self) -> Any:
        raise TypeError("a batch is not sent: send its scenes, batch.scene(i), or make one in each process")

    def __repr__(self) -> str:
        return f"<Batch of {len(self)} scenes>"

    @property
    def count(self) -> int:
        """Number of its scenes."""
        return self._count

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
            anchors, goals = list(self._goals), list(self._goals.values())
            self._goals.clear()
            if not goals:
                self._advance(h, count)
            elif lead == "hold" or count == 1:
                for anchor, goal in zip(anchors, goals, strict=True):
                    self._write("points.anchor", (slice(None), anchor), goal)
                self._advance(h, count)
            else:
                now = self._field("points.anchor")
                starts = [now[:, anchor].copy() for anchor in anchors]
                most = max(1, _PATH // (3 * len(goals) * self.count))
                for first in range(0, count, most):
                    steps = np.arange(first + 1, min(count, first + most) + 1)
                    path = np.empty((self.count, len(steps), len(goals), 3))
                    for g, (goal, start) in enumerate(zip(goals, starts, strict=True)):
                        path[:, :, g] = start[:, None] + (steps / count)[:, None] * (goal - start)[:, None]
                        if steps[-1] == count:
                            path[:, -1, g] = goal
                    self._advance(h, len(steps), (np.array(anchors), path))

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

        `targets`: by constraint, (T, B, 3) or (T, 3), m; `lead` as in `step`. Without `observe` the times of the
        scenes are yielded.
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
        if self._busy.locked() and not self._lookers:
            raise InputError("this batch is being stepped by another thread: one at a time")
        return self._busy

    @contextlib.contextmanager
    def _looked_at(self) -> Iterator[None]:
        """For a page that looks at a scene now and then: it waits for steps, and steps wait for it."""
        looker = object()
        self._lookers.add(looker)
        try:
            with self._busy:
                yield
        finally:
            self._lookers.discard(looker)

    def _own(self, thing: Any) -> Any:
        if thing is self._scene:
            return self._shop.scene
        if not isinstance(thing, Placed | Sheave | ContactPair | SceneContacts):
            raise InputError(f"give a thing of the scene that the batch was made of, got {quoted(thing)}")
        return self._shop.own(thing, self._scene)

    # ---------------------------------------------------------------------------------------- states kept and left

    def reset(self, mask: ArrayLike | None = None) -> None:
        """Let some scenes begin again as the batch began: states, targets, loads, time. What `vary` gave them stays.

        `mask`: booleans (B,) or numbers of scenes; all, if left out.
        """
        rows = validation.chosen(mask, self.count, "scenes")
        with self._alone():
            whole = len(rows) == self.count
            into: Any = slice(None) if whole else rows
            self._begin_again(rows)
            for name, value in self._start.items():
                getattr(self, name)[into] = value
            first = self._start_shelf
            contact = self._shop.system.touching is not None
            for i in [i for i in rows.tolist() if contact or self._shelves[i] is not first]:
                if self._shelves[i] is not first:
                    self._move(i, first)
                self._fill_room(i, self._start_room)
            for known in (self._failures, self._courses):
                for i in set(known) if whole else known.keys() & set(rows.tolist()):
                    del known[i]
            if self._begun:
                self._courses |= {i: self._begun.copy() for i in rows.tolist()}
            self._note_soft(rows)
            self._forget_goals(rows)
            self._fresh = len(rows) == self.count

    def _begin_again(self, rows: NDArray[np.int64]) -> None:
        """Write the numbers that the batch began with, and those that `vary` gave since."""
        into: Any = slice(None) if len(rows) == self.count else rows
        for span in self._spans:
            self._words[into, span] = self._start_words[span]
        for at, numbers in self._varied.items():
            self._words[into, at] = numbers[into]

    def _note_soft(self, rows: NDArray[np.int64]) -> None:
        """States were put back: see which of them have rows that are superfluous."""
        if len(self._shop.system.model.rows):
            self._soft[rows] = self._field("rows.spare")[rows].any(axis=1)

    def _write_words(self, rows: NDArray[np.int64], words: Any) -> None:
        """Put the numbers of `rows` back from `words` of all scenes; the blocks, which are addresses, stay."""
        head = self._shop.main.head
        if len(rows) == self.count:
            self._words[:, head:] = words[:, head:]
        else:
            self._words[rows, head:] = words[rows, head:]

    def _forget_goals(self, rows: NDArray[np.int64]) -> None:
        for anchor, goal in self._goals.items():
            goal[rows] = self._field("points.anchor")[rows, anchor]

    def save(self) -> BatchSnapshot:
        """The states of all scenes, to go back to with `restore`."""
        with self._alone():
            return BatchSnapshot(
                self, *self._all_numbers(), {i: c.copy() for i, c in self._courses.items()},
                {name: getattr(self, name).copy() for name in _PER_SCENE}, dict(self._failures),
                {anchor: goal.copy() for anchor, goal in self._goals.items()},
            )  # fmt: skip

    def _all_numbers(self) -> tuple[Any, list[tuple[Any, Any]]]:
        """Copies of the words of all scenes; shelf and copy of each one's room."""
        return self._words.copy(), list(zip(self._shelves, [room.copy() for room in self._rooms], strict=True))

    def restore(self, snapshot: BatchSnapshot, mask: ArrayLike | None = None) -> None:
        """Let some scenes (`mask` as for `reset`) go back to a `snapshot` of this batch, in which each has its own
        state: with what was set and varied then.
        """
        if not isinstance(snapshot, BatchSnapshot) or snapshot._owner is not self:
            raise InputError(f"restore takes a snapshot of this batch, got {quoted(snapshot)}")
        rows = validation.chosen(mask, self.count, "scenes")
        with self._alone():
            self._fresh = False
            self._write_words(rows, snapshot._words)
            for name, values in snapshot._numbers.items():
                getattr(self, name)[rows] = values[rows]
            self._prepared[rows] = -1
            for i in rows.tolist():
                shelf, room = snapshot._rooms[i]
                if self._shelves[i] is not shelf:
                    self._move(i, shelf)
                self._fill_room(i, room)
                self._failures.pop(i, None)
                if i in snapshot._failures:
                    self._failures[i] = snapshot._failures[i]
                self._courses.pop(i, None)
                if i in snapshot._courses:
                    self._courses[i] = snapshot._courses[i].copy()
            self._note_soft(rows)
            self._forget_goals(rows)
            for anchor, goal in snapshot._goals.items():
                if anchor not in self._goals:
                    self._goals[anchor] = self._field("points.anchor")[:, anchor].copy()
                self._goals[anchor][rows] = goal[rows]

    def scene(self, i: int) -> Scene:
        """A copy of scene number `i`, as an ordinary scene: to look at, to settle, to record, to go on with."""
        number = validation.count("i", i, 0, self.count - 1)
        with self._alone():
            return self._copy(number)

    def _copy(self, number: int) -> Scene:
        self._bring(number)
        shop = self._shop.scene
        made: Scene = copy.deepcopy(shop)
        for own, known in self._matter.items():
            given = {name: values[number] for name, values in known.items()}
            if isinstance(own, ContactPair | SceneContacts):
                describe_law(made, own, given)
            elif (place := shop._place_of(own)) is not None:
                describe(made._at_place(*place[1:]), given)
        made._matter_has_begun()
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


def _check_device(device: object, dtype: object) -> str:
    where = validation.choice("device", device, ("cpu", "cuda"))
    if where == "cpu" and isinstance(dtype, str) and dtype == "float32":
        raise InputError('dtype="float32" is for graphics cards, device="cuda": leave dtype out')
    return str(validation.choice("dtype", dtype, ("float64", "float32") if where == "cuda" else ("float64",)))


def prepare_batch() -> None:
    """Compile, or load, what the first step of a batch needs besides its scene, and what forces and energies do."""
    scene = Scene()
    body = scene.add(RigidBody.sphere(0.1, mass=1.0))
    held = scene.add(Fix(body.at((0.0, 0.0, 0.1))))
    batch = Batch(scene, 1, threads=1)
    batch.step(1e-3, 2)
    batch.forces(held)
    batch.energies()
