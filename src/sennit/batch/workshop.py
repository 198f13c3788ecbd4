"""The one scene of a batch that Python knows: where what compiled steps can't do is done for any of them.

A scene of the batch is brought here by copying its numbers in, stepped or set as any other scene, and taken back. What
of it are no numbers (time, events, what is redundant) is in a `Course`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sennit.batch.memory import Region, Shelf, tables_in
from sennit.constraints.cable.sheave import Sheave
from sennit.errors import InputError
from sennit.linalg.plan import Plan
from sennit.scene.colliding import ContactPair, SceneContacts
from sennit.scene.scene import Scene
from sennit.solve.kernels.codes import QUIET
from sennit.solve.stepper import StepTale
from sennit.solve.table import Trial
from sennit.tables import PARAMETER, PLAN, WORK, Table
from sennit.validation import FloatArray

__all__ = ["Course", "Workshop", "changes_size", "is_of_pattern", "kept_by_reset"]

_OF_PATTERN = ("blocks", "matrix", "panel", "whole_matrix", "touch.contacts", "touch.ends", "touch.rows",
               "touch.memory", "touch.slots")  # fmt: skip
"""Tables that are made anew with the plan of a matrix, or with room for contacts; and what holds them, `touch`."""


@dataclass(eq=False)
class Course:
    """What happened to one scene, and what of its future depends on it."""

    events: list[Any] = field(default_factory=list)
    spells: list[list[Any]] = field(default_factory=list)
    released: set[Any] = field(default_factory=set)
    redundant: tuple[Any, ...] = ()
    met: dict[Any, Any] = field(default_factory=dict)
    coarse: set[Any] = field(default_factory=set)
    step: int = 0
    """The scene's count of steps when this was noted: of spells is known how many steps ago they were."""

    def copy(self) -> Course:
        """One of its own."""
        return Course(
            list(self.events), [list(spell) for spell in self.spells], set(self.released), self.redundant,
            dict(self.met), set(self.coarse), self.step,
        )  # fmt: skip

    def __bool__(self) -> bool:
        """Whether there is anything to know."""
        return bool(self.events or self.spells or self.released or self.redundant or self.met or self.coarse)


class Workshop:
    """A scene of its own, equal to `scene`."""

    def __init__(self, scene: Scene) -> None:
        scene._compiled()
        self.scene: Scene = copy.deepcopy(scene)
        self.stepper = self.scene._compiled()
        self.system = self.stepper.system
        _copy_numbers(scene, self.scene)
        root = self.root()
        found = list(tables_in(root))
        self.main = Region([t for name, t in found if not (is_of_pattern(name) or isinstance(t, Plan))])
        """All of its tables that are there for good."""
        self._shelves: dict[Any, Shelf] = {}
        self.shelf = self._shelf_now()
        """The pattern that the scene has now."""
        self._pairs: dict[int, ContactPair] = {}
        """Rules of contact that were asked for, by their numbers."""

    def root(self) -> Any:
        """The tables that `march` takes."""
        return self.system.plan(False).scene

    # ------------------------------------------------------------------------------------------- patterns

    def _signature(self) -> Any:
        touching = self.system.touching
        pattern = self.system._laid  # for which its matrix was analysed: what slides may have gone on
        if touching is None:
            return pattern
        known = pattern, len(touching._tables["rows"]), touching.slots.key.tobytes()
        if not self.system.layout.cables.rows:
            return known
        # rows of cables have as many numbers as they have elements at present
        plan: Any = self.root().whole_plan
        return *known, *(array.tobytes() for array in plan.fields().values())

    def _shelf_now(self) -> Shelf:
        """The shelf of the pattern that the scene has."""
        root = self.root()
        key = self._signature()
        if key not in self._shelves:
            tables = [t for name, t in tables_in(root) if is_of_pattern(name) and not isinstance(t, Plan)]
            self._shelves[key] = Shelf(root, self.main, Region(tables), self._installer(root))
        return self._shelves[key]

    def forget_unused(self) -> None:
        """Throw patterns away that no scene has."""
        for key, shelf in list(self._shelves.items()):
            if shelf.used == 0 and shelf is not self.shelf:
                del self._shelves[key]

    def _installer(self, root: Any) -> Any:
        system, layout, touching = self.system, self.system.layout, self.system.touching
        plan, laid, model = system.plan(False), system._laid, layout.model
        blocks, numbers, curved = layout.tables["blocks"], layout.numbers, layout.curved_numbers
        beginning, of_touch = None, None
        if touching is not None:
            beginning = touching._beginning
            of_touch = touching._tables, touching.slots, touching._touch, touching.made
        scene, touched = plan.scene, plan.touch

        def install() -> None:
            system._plans = {False: plan}
            system._laid, layout.model, system.model = laid, model, model
            layout.tables["blocks"], layout.numbers, layout.curved_numbers = blocks, numbers, curved
            plan.scene, plan.touch = scene, touched
            if touching is not None and of_touch is not None:
                touching._beginning = beginning
                touching._tables, touching.slots, touching._touch, touching.made = of_touch
                touching._shown = None

        return install

    # ------------------------------------------------------------------------------- one scene after the other

    def bring(
        self, words: Any, room: Any, shelf: Shelf, course: Course, gravity: FloatArray, clock: tuple[float, float],
        steps: int, moved: bool, soft: bool,
    ) -> None:  # fmt: skip
        """Be a scene of the batch."""
        scene, solver = self.scene, self.stepper.solver
        if shelf is not self.shelf:
            shelf.install()
            self.shelf = shelf
        self.main.write(words)
        shelf.region.write(room)
        scene._clock.time, scene._clock.last_step = clock
        scene._gravity = gravity
        scene._events[:] = course.events
        scene._released, scene._redundant = set(course.released), course.redundant
        scene._met, scene._coarse = dict(course.met), set(course.coarse)
        scene._troubles._step = steps
        since = steps - course.step
        scene._troubles.go_on([kind, cause, event, ago + since] for kind, cause, event, ago in course.spells)
        self.stepper._gravity = None  # what was asked for last was of another scene
        solver.prepared, solver.redundant = None, None
        solver.softened = soft
        solver.moved = moved
        if self.system.touching is not None:
            self.system.touching._shown = None

    def course(self) -> Course:
        """What is to be known of the scene that was brought, now."""
        scene = self.scene
        return Course(
            list(scene._events), scene._troubles.spells(), set(scene._released), scene._redundant, dict(scene._met),
            set(scene._coarse), scene._troubles._step,
        )  # fmt: skip

    def take_back(self) -> Shelf:
        """The shelf that the scene belongs to now; its numbers are ready to be read."""
        if self._tables_changed():
            found = self._shelf_now()
            if found.region.tables != self.shelf_tables():
                # the same pattern was there already: its tables take the numbers
                _fill(found.region.tables, self.shelf_tables())
                found.install()
            self.shelf = found
        return self.shelf

    def shelf_tables(self) -> list[Table]:
        """Tables of the pattern that it has now."""
        return [t for name, t in tables_in(self.root()) if is_of_pattern(name) and not isinstance(t, Plan)]

    def _tables_changed(self) -> bool:
        """Whether the last step made the tables of the pattern anew."""
        tables = self.shelf.region.tables
        return self.root() is not tables[0]

    def finish(self, h: float, before: float, ended: int, parts: int) -> StepTale:
        """Go on with a step of `h` (s) after one of `before` whose compiled part has `ended`; what came of it."""
        scene, stepper, solver = self.scene, self.stepper, self.stepper.solver
        stepper._ask(scene._integrator, h, before, scene._drag, scene._gravity)
        solver.prepared = stepper._whole
        status = solver._go_on(parts, ended)
        if status == QUIET and not solver.softened:
            tale: StepTale = stepper._quiet
        else:
            tale = stepper.finished(h, before, status)
        scene._enter(tale, scene._clock.time + h, stepper)
        return tale

    def step(self, h: float) -> StepTale:
        """Make a whole step of `h`, s."""
        self.scene.step(h)
        tale: StepTale = self.scene._clock.tale
        return tale

    def own(self, thing: Any, batch_scene: Scene) -> Any:
        """What stands here for a thing of the scene that the batch was made of."""
        if isinstance(thing, ContactPair | SceneContacts):
            return self._own_contacts(thing, batch_scene)
        if isinstance(thing, Sheave):
            if thing._cable is None:
                raise InputError(f"{thing!r} is in no cable of the scene that the batch was made of")
            return self.own(thing._cable, batch_scene).entries[thing._entry]
        if getattr(thing, "_scene", None) is self.scene:
            return thing
        place = batch_scene._place_of(thing)
        if place is None:
            raise InputError(f"{_named(thing)} is not in the scene that the batch was made of")
        return self.scene._at_place(*place[1:])

    def _own_contacts(self, thing: ContactPair | SceneContacts, batch_scene: Scene) -> ContactPair | SceneContacts:
        """What stands here for the rule of a pair, or for what holds where no rule does."""
        if thing._owner not in (self.scene, batch_scene):
            raise InputError("these contacts are not those of the scene that the batch was made of")
        if isinstance(thing, SceneContacts):
            return self.scene.contacts
        numbers = [i for i, rule in enumerate(thing._owner._rules.rules) if rule is thing._rule]
        if not numbers or numbers[0] >= len(self.scene._rules.rules) or thing._rule.law is None:
            raise InputError(
                "these two had no rule of their own when the batch was made: give it with Scene.collide(first, second, "
                "…) before"
            )
        return self._pairs.setdefault(numbers[0], ContactPair(self.scene, self.scene._rules.rules[numbers[0]]))


def kept_by_reset(root: Any) -> Callable[[Table, str], bool]:
    """Whether an array of a table, by its name, need not be written for a scene to begin again with the same bits.

    Room for iterates and blocks of a solve, which are written before they are read; what rods are made of, which only
    `Batch.vary` changes, and `reset` keeps; tables of cables where there are none.
    """
    names = {id(table): name for name, table in tables_in(root)}
    cables = len(root.rigging.cables) > 0

    def is_kept(table: Table, array: str) -> bool:
        owner, _, part = names[id(table)].partition(".")
        role = table._fields[array].role
        if owner in ("splines", "discretes"):
            if array == "span_block" or part in _OF_SOLVES:
                return True
            return role in (PLAN, PARAMETER) and array != "rest"
        return isinstance(table, Trial) or (owner == "kept" and role == WORK) or (owner == "rigging" and not cables)

    return is_kept


_OF_SOLVES = ("bend_trial", "bend_way", "stretch_trial", "stretch_way")


def _named(thing: Any) -> str:
    return str(getattr(thing, "name", None) or repr(thing))


def is_of_pattern(name: str) -> bool:
    """Whether a table of this dotted name is made anew with the plan of a matrix."""
    return name in ("", "touch") or name in _OF_PATTERN


def changes_size(name: str) -> bool:
    """Whether arrays of a table of this dotted name have other lengths in another pattern."""
    return name in _OF_PATTERN


def _fill(tables: list[Table], others: list[Table]) -> None:
    for table, other in zip(tables, others, strict=True):
        if table is not other:
            for name, array in table.fields().items():
                array[...] = getattr(other, name)


def _copy_numbers(scene: Scene, other: Scene) -> None:
    """Let the tables of `other`, a copy of `scene`, have all of its numbers, those of the last solve too."""
    first, second = (list(tables_in(s._compiled().system.plan(False).bare)) for s in (scene, other))
    for (_, table), (_, made) in zip(first, second, strict=True):
        arrays = table.fields()
        if not isinstance(table, Plan) and all(np.shape(getattr(made, k)) == a.shape for k, a in arrays.items()):
            for key, array in arrays.items():
                getattr(made, key)[...] = array
