"""What is in a scene, and the tables that its kernels work on."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from sennit import validation
from sennit.bodies.body import AbstractBody, Assembly
from sennit.bodies.kinds import sorted_by_kind
from sennit.bodies.point.point import Point
from sennit.bodies.world import World
from sennit.bodies.zone.places import ZonePlaces
from sennit.compile_once import Beside, compile_once
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.load import Load
from sennit.constraints.slide import BeadContact, SliderRows, pearl_contacts
from sennit.contact.inside import Inside
from sennit.contact.obstacle import Obstacle
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import AbstractShape
from sennit.scene.chains import add_chain, check_mass, remove_chain
from sennit.scene.colliding import Colliding
from sennit.scene.skins import soft_pairs
from sennit.solve.statics import Statics
from sennit.solve.stepper import Stepper, StepTale
from sennit.solve.system import System
from sennit.validation import quoted

__all__ = ["MATTER", "Clock", "Contents"]

Thing = TypeVar("Thing", bound="AbstractBody | AbstractConstraint | Load | Obstacle | Assembly")
STEPS = Beside("step", "sennit.scene.scene:prepare_march")
STEPS_OF_TOUCHING = Beside("touching", "sennit.scene.scene:prepare_touching")
"""What steps a scene, compiled beside what makes its tables: one for all, one where things may touch."""
NOBODY = -1
"""No thread has this identity."""
MATTER = " matter"
"""Under what a body's beginning has what it is made of: no array is called so."""


@dataclass(eq=False, slots=True)
class Clock:
    """What every step writes: in an object of its own, whose attributes nobody checks (see `attributes.guarded`)."""

    time: float = 0.0
    """Simulated time, s."""
    last_step: float = 0.0
    """The last step, s, that a two-step scheme goes on from; 0: it starts afresh."""
    tale: StepTale = field(default_factory=StepTale)
    """What happened in the last step."""


class Contents(Colliding):
    """Bodies, constraints, loads and obstacles, and the tables made of them: what of a `Scene` knows no time."""

    def __init__(self) -> None:
        super().__init__()
        self._bodies: list[AbstractBody] = []
        self._constraints: list[AbstractConstraint] = []
        self._loads: list[Load] = []
        self._obstacles: list[Obstacle] = []
        self._contacts: list[BeadContact] = []
        self._slider_rows: dict[AbstractBody, SliderRows] = {}
        self._soft: list[tuple[ZonePlaces, list[Any]]] = []
        self._frozen = False
        """Whether zones go on holding the vertices that they hold, whatever comes near."""
        """The zones that can be touched, each with what may do so."""
        self._system: System | None = None
        self._stepper: Stepper | None = None
        self._statics: Statics | None = None
        self._clock = Clock()
        self._was_moving = False, False
        """Whether ties that contradict each other, and things that overlap, came to do so in motion, before the tables
        were made anew: neither is an error in what was given then.
        """
        self._redundant: tuple[AbstractConstraint, ...] = ()
        self._released: set[AbstractBody] = set()
        self._leads: list[Any] = []
        self._attentive: list[AbstractConstraint] = []
        """The constraints that look at every step."""
        self._fragile: list[Any] = []
        """The rods that break above a limit."""
        self._routed: list[Any] = []
        """The constraints and obstacles that follow a route."""
        self._points: dict[int, Point] = {}
        self._tables: Any = None
        self._beginnings: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._runner: tuple[str, int] | None = None
        """Who runs the scene, if that is a page or a haptic loop: in words, and the thread that may touch it."""
        self._lent = False
        """Whether a haptic loop holds the scene, in another process."""
        self._world_points: tuple[Any, ...] = ()
        """Points of the world that know meanwhile that they are of this scene."""

    # ---------------------------------------------------------------------------------------- what is in the scene

    def add(self, thing: Thing, *, on: Point | Sequence[Point] | None = None, weight: bool = False) -> Thing:
        """Put a body, a constraint, a load or an obstacle into the scene, also while it runs, and return it.

        A zone rides `on` a point of a rigid body or of the world, whose frame its vertices are measured in; without one
        they are measured in the world's. A chain of zones takes a point for each of them; without any they lie in the
        world at their rest poses.

        With `weight` gravity bends a zone, or those of a chain. What carries it moves and falls as its own mass says,
        in which that of the zone must be: `Zone.mass`.

        A constraint's bodies must be in the scene already. Raises `InputError`, and changes nothing, if they are not,
        or if the thing is in a scene already.
        """
        self._check_free()
        if isinstance(thing, Assembly):
            add_chain(self, thing, on, validation.flag("weight", weight))
            return thing
        if validation.flag("weight", weight) and not isinstance(thing, ZonePlaces):
            raise InputError(f"weight is for zones, others have theirs by their mass; got it for {quoted(thing)}")
        if on is not None and not isinstance(thing, ZonePlaces):
            raise InputError(f"on is for zones, which ride on a point; got it for {quoted(thing)}")
        if isinstance(thing, AbstractBody):
            self._check_new(thing)
            for carrier in thing._rides_on():
                self._check_member(carrier, thing.name)
            if isinstance(thing, ZonePlaces):
                under = self._checked_carrier(thing, on)
                if weight:
                    check_mass(self, [(thing, under)])
                thing._come(under, weight)
            self._take_in(thing)
            thing._follow_carrier(moved=True)  # which may have been moved since it was made
        elif isinstance(thing, AbstractConstraint):
            self._check_new(thing)
            self._check_points(thing._free_points(), thing.name)
            if all(point.body is None for point in thing.points):
                raise InputError(f"{thing.name} ties points of the world only: there is nothing that it could move")
            if thing._moves_nothing():
                raise InputError(f"{thing.name} ties points of one rigid body, which do not move against each other")
            self._check_places(thing._free_points())
            thing._bring(self)
            thing._rows.spare[:] = 0.0
            self._constraints.append(thing)
        elif isinstance(thing, Load):
            self._check_new(thing)
            self._check_points(thing.points, thing.name)
            self._check_places(thing.points)
            self._loads.append(thing)
        elif isinstance(thing, Obstacle):
            self._check_new(thing)
            for rod in thing._rods():
                self._check_member(rod, thing.name)
            self._obstacles.append(thing)
        else:
            raise InputError(f"a scene takes bodies, constraints, loads and obstacles, got {_refused(thing)}")
        thing._scene = self
        strains = isinstance(thing, AbstractConstraint | Load)
        self._changed(ties=strains, places=not strains)
        if isinstance(thing, Inside):
            self._hold_inside(thing)
        return thing

    def remove(self, thing: AbstractBody | AbstractConstraint | Load | Obstacle | Assembly) -> None:
        """Take something out that was added. A body that constraints still hold must be freed first."""
        self._check_free()
        if isinstance(thing, Assembly):
            remove_chain(self, thing)
            return
        if isinstance(thing, AbstractBody):
            self._check_member(thing, "remove")
            users = [c.name for c in self._constraints if any(p.body is thing for p in (*c.points, *c._held_points()))]
            users += [load.name for load in self._loads if load.point.body is thing]
            users += [body.name for body in sorted_by_kind(self._bodies) if thing in body._rides_on()]
            users += [obstacle.name for obstacle in self._obstacles if thing in obstacle._rods()]
            if users:
                raise InputError(f"{thing.name} is still used by {', '.join(users)}: remove them first")
            self._drop_body(thing)
        elif isinstance(thing, AbstractConstraint):
            if thing._scene is not self or thing not in self._constraints:
                raise InputError(f"{thing.name} is not in this scene")
            self._constraints.remove(thing)
            thing._take_away(self)
            thing._leave_tables()
        elif isinstance(thing, Load):
            if thing not in self._loads:
                raise InputError(f"{thing.name} is not in this scene")
            self._loads.remove(thing)
        elif isinstance(thing, Obstacle):
            if thing._scene is not self:
                raise InputError(f"{thing.name} is not in this scene")
            self._obstacles.remove(thing)
            if isinstance(thing, Inside):
                self._let_out(thing)
        else:
            raise InputError(f"a scene holds bodies, constraints, loads and obstacles, got {quoted(thing)}")
        thing._scene = None
        self._changed(ties=False, places=False)

    def _check_free(self) -> None:
        """Whether this thread may change the scene."""
        if self._runner is not None and self._runner[1] != threading.get_ident():
            if self._lent:
                raise InputError(
                    "this scene is held by a haptic loop, in another process: do that before the loop begins or after "
                    "it has ended"
                )
            raise InputError(
                f"this scene is run by {self._runner[0]}: close that first, or do it in before_step or in a control"
            )

    def _check_here(self, what: str) -> None:
        """Raise `InputError` while a haptic loop has the scene in its process: what is done here would be lost."""
        if self._lent and self._runner is not None and self._runner[1] != threading.get_ident():
            raise InputError(
                f"{what} can't be changed while a haptic loop holds the scene: do it before the loop begins or after "
                "it has ended. Meanwhile a Route leads what follows one, and the loop's page moves, switches and pins"
            )

    def _take_in(self, body: AbstractBody) -> None:
        """Put a body among the others, with what acts on it alone."""
        rows = SliderRows.of(body)
        if rows is not None:
            self._slider_rows[body] = rows
        self._bodies.append(body)
        body._scene = self

    def _drop_body(self, body: AbstractBody) -> None:
        self._bodies.remove(body)
        for key, point in list(self._points.items()):
            if point.body is body:
                point._leave_tables()
                del self._points[key]
        self._released.discard(body)
        self._slider_rows.pop(body, None)
        self._contacts = [c for c in self._contacts if body not in c._pair]
        body._leave_tables()
        body._scene = None

    def _checked_carrier(self, zone: ZonePlaces, on: object) -> Point:
        """The point that a zone rides on."""
        if on is None:
            return World.at(Pose())
        if not (isinstance(on, Point) and on._can_carry()):
            raise InputError(
                f"{zone.name} can ride on a point of a rigid body or of the world, got {quoted(on)}; on a rod: Fuse a "
                "light rigid body to it, and ride on that"
            )
        self._check_points((on,), zone.name)
        return on

    def _check_places(self, points: Iterable[Point]) -> None:
        """Whether zones can hold these points besides those that they hold already."""
        fresh = [point for point in points if point.body is not None]
        for body in dict.fromkeys(point.body for point in fresh):
            body._check_places([*self._places_of(body), *(p for p in fresh if p.body is body)])

    def _places_of(self, body: AbstractBody) -> list[Point]:
        """The points of a body that constraints and loads use."""
        things: list[Any] = [*self._constraints, *self._loads]
        points = [point for thing in things for point in thing.points]
        points += [point for tie in self._constraints for point in tie._held_points()]
        return [point for point in points if point.body is body]

    def _check_new(self, thing: Any) -> None:
        if thing._scene is self:
            raise InputError(f"{thing.name} is in this scene already")
        if thing._scene is not None:
            raise InputError(f"{thing.name} is in another scene: remove it there first")

    def _check_member(self, body: AbstractBody, user: str) -> None:
        if body._scene is not self:
            raise InputError(f"{user} needs {body.name}, which is not in this scene: add it first")

    def _check_points(self, points: Iterable[Point], user: str) -> None:
        for point in points:
            if point.body is not None:
                self._check_member(point.body, user)

    @property
    def bodies(self) -> tuple[AbstractBody, ...]:
        """The bodies, in the order in which they were added."""
        return tuple(self._bodies)

    @property
    def constraints(self) -> tuple[AbstractConstraint, ...]:
        """The constraints that were added."""
        return tuple(self._constraints)

    @property
    def loads(self) -> tuple[Load, ...]:
        """The loads that were added."""
        return tuple(self._loads)

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """The obstacles that were added."""
        return tuple(self._obstacles)

    def _things(self) -> tuple[list[Any], ...]:
        """All that was added: bodies, constraints, loads, obstacles."""
        return self._bodies, self._constraints, self._loads, self._obstacles

    def _made_anew(self) -> list[Any]:
        """Make the tables again, as those of a scene from a file; returns what owns numbers of the state, in order."""
        self._changed()
        self._compiled()
        return self._numbered()

    def _run_by(self, runner: str | None) -> None:
        """From now on only this thread may change the scene, for `runner` (in words); None: any thread may again."""
        self._runner = None if runner is None else (runner, threading.get_ident())

    def _lend(self, lent: bool) -> None:
        """A haptic loop takes the scene into its process, where no thread of this one can change it; or gives it back.

        Its page, which does here what the loop does there, may from `_run_by` on.
        """
        for point in self._world_points:
            point._scene = None
        points = self._compiled().system.layout.points if lent and self._bodies else ()
        self._world_points = tuple(point for point in points if point.body is None)
        for point in self._world_points:
            point._scene = self  # whoever holds one can set where it is
        self._lent, self._runner = lent, ("a haptic loop", NOBODY) if lent else None

    # --------------------------------------------------------------------------------------------------- tables

    def _changed(self, ties: bool = True, places: bool = True) -> None:
        """What is in the scene has changed: its tables are built again when they are next needed.

        `ties`: some may contradict others now, or forces be too large, which is an error in the input. `places`:
        something may overlap.
        """
        if self._system is not None and self._stepper is not None:
            self._was_moving = self._stepper.solver.moved, self._stepper.looked
        self._was_moving = self._was_moving[0] and not ties, self._was_moving[1] and not places
        stood = self._system is not None  # else nothing has found any superfluous since
        self._tables = None if self._system is None else self._system.model.points
        if self._system is not None:
            self._touched = self._system.touching
        self._system = None
        self._redundant = ()
        self._clock.last_step = 0.0  # what is new has no state before this one: a two-step scheme starts afresh
        if stood:  # rows that others made superfluous may be needed now; those that are not will be found again
            for constraint in [*self._constraints, *self._slider_rows.values(), *self._contacts]:
                constraint._rows.spare[:] = 0.0

    def _skins_now(self) -> list[tuple[ZonePlaces, tuple[int, ...]]]:
        """The zones, and the vertices that they hold for contact."""
        return [(body, body._skin.wanted) for body in self._bodies if isinstance(body, ZonePlaces)]

    def _set_skins(self, skins: list[tuple[Any, tuple[int, ...]]]) -> bool:
        """Let zones hold these vertices, from when the tables are made next. Returns whether they were others."""
        changed = [zone for zone, vertices in skins if zone._skin.wanted != vertices]
        for zone, vertices in skins:
            zone._skin.want(vertices)
        return bool(changed)

    def _skins_changed(self) -> None:
        """Zones hold other vertices: the tables are made anew, and nothing else is."""
        system, stepper = self._system, self._stepper
        assert system is not None and stepper is not None
        account = {name: array.copy() for name, array in system.account().items()}
        self._tables, self._touched, self._system = system.model.points, system.touching, None
        made = self._compiled()
        made.system.set_account(account)
        made.solver.moved, made.looked = stepper.solver.moved, stepper.looked
        made.solver.note_softened()

    def _state_was_set(self, body: AbstractBody, moved: bool) -> None:
        """Positions (`moved`) or velocities of a body were set from outside."""
        self._clock.last_step = 0.0
        for constraint in self._constraints:
            for cable in constraint._cables():
                cable._stretched_from_outside()
        if self._system is None:
            for rider in self._bodies:
                if rider is body or body in rider._rides_on():
                    rider._follow_carrier(moved)
            return
        self._system.account_anew()
        riders = [x for x in self._system.layout.bodies if x is body or body in x._rides_on()]
        if moved:
            for point in self._system.layout.points:
                if point.body is body:
                    point._carry()
        for rider in riders:
            rider._follow_carrier(moved)
        if moved:
            self._system.refresh()

    def _compiled(self) -> Stepper:
        if self._system is None:
            from sennit.scene.scene import FIRST_STEPS

            compile_once("scene", FIRST_STEPS, STEPS_OF_TOUCHING if self._rules.rules else STEPS)
            before, old = self._points, self._tables
            for body in self._bodies:
                if body._hold(self._places_of(body)):
                    self._clock.last_step = 0.0  # its places have no state before this one
            sliders: list[Any] = [body for body in self._bodies if body in self._slider_rows]
            self._contacts = pearl_contacts(sliders, self._contacts)
            own = [rows for rows in self._slider_rows.values() if len(rows._rows)]
            companions = [companion for c in self._constraints for companion in c._companions()]
            constraints = [*self._constraints, *own, *self._contacts, *companions]
            led: list[Any] = [*self._constraints, *self._obstacles]
            self._leads = [thing for thing in led if thing._is_led]
            self._attentive = [tie for tie in self._constraints if tie._attends]
            self._limits_changed()
            self._routed = [thing for thing in led if thing._route() is not None]
            touching = None
            if self._rules.rules:
                touching = self._touching_tables
            self._system = System(self._bodies, constraints, self._loads, self._obstacles, touching)
            self._touched = None
            self._points = {id(point): point for point in self._system.layout.points}
            for key, point in before.items():
                if key not in self._points and old is not None and np.shares_memory(point._row.kind, old.kind):
                    point._leave_tables()
            for rows in own:
                rows._number_friction()
            self._stepper = Stepper(self._system)
            self._stepper.solver.moved, looked = self._was_moving
            self._stepper.looked = self._stepper.looked or looked
            self._statics = Statics(self._stepper.solver)
            self._soft = soft_pairs(self)
            for constraint in self._system.layout.constraints:
                if id(constraint) not in self._beginnings:
                    constraint._begin_turns()
            self._remember_beginnings()
        assert self._stepper is not None
        return self._stepper

    def _remember_beginnings(self) -> None:
        """Keep the state of what is new, for `reset`."""
        for thing in self._numbered():
            begun = thing._beginning()
            if id(thing) not in self._beginnings or begun:
                copies = {key: array.copy() for key, array in thing._state_arrays().items()}
                made = {MATTER: thing._matter()} if isinstance(thing, AbstractBody) else {}
                self._beginnings[id(thing)] = (thing, copies | begun | made)

    def _limits_changed(self) -> None:
        """Rods may break at other limits."""
        self._fragile = [body for body in self._bodies if any(getattr(body, "_limits", ()))]

    def _state_was_put(self) -> None:
        """All numbers were put back: whoever keeps more than numbers follows."""
        for tie in self._attentive:
            tie._state_put()

    def _begin_here(self) -> None:
        """The present state is the one that `reset` goes back to."""
        assert self._system is not None and self._stepper is not None
        self._beginnings.clear()
        for body in self._bodies:
            body._forget_beginning()
        self._remember_beginnings()
        self._system.find_spans()
        self._stepper.solver.note_softened()

    def _numbered(self) -> list[Any]:
        """Everything that owns numbers of the state: bodies, constraints, all points, loads, obstacles."""
        assert self._system is not None
        layout = self._system.layout
        return [*self._bodies, *layout.constraints, *layout.points, *self._loads, *self._obstacles]


def _refused(thing: object) -> str:
    """What no scene takes, quoted, and what may have been meant."""
    return quoted(thing) + (": put it into an Obstacle" if isinstance(thing, AbstractShape) else "")
