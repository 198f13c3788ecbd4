"""What is in a scene, and the tables that its kernels work on."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any, TypeVar

from sennit.bodies.body import AbstractBody
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.slider import Slider
from sennit.bodies.zone.places import ZonePlaces
from sennit.compilation import compile_once
from sennit.constraints.cable.cable import Cable
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.kernels.rows import SPARE
from sennit.constraints.load import Load
from sennit.constraints.place import Follow
from sennit.constraints.slide import BeadContact, Keyhole, Pearl, SliderRows, pearl_contacts
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.point.point import Point, RigidPoint, RodPoint, WorldPoint, ZonePoint
from sennit.solve.stepper import Stepper
from sennit.solve.system import System
from sennit.validation import quoted

__all__ = ["Contents", "state_of"]

Thing = TypeVar("Thing", bound="AbstractBody | AbstractConstraint | Load")


class Contents:
    """Bodies, constraints and loads, and the tables made of them: the part of a `Scene` that knows no time."""

    def __init__(self) -> None:
        super().__init__()
        self._bodies: list[AbstractBody] = []
        self._constraints: list[AbstractConstraint] = []
        self._loads: list[Load] = []
        self._contacts: list[BeadContact] = []
        self._slider_rows: dict[Slider, SliderRows] = {}
        self._system: System | None = None
        self._stepper: Stepper | None = None
        self._last_step = 0.0
        self._redundant: tuple[AbstractConstraint, ...] = ()
        self._released: set[Slider] = set()
        self._leads: list[Follow] = []
        self._points: dict[int, Point] = {}
        self._tables: Any = None
        self._beginnings: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._runner: tuple[str, int] | None = None
        """Who runs the scene, if that is a page: in words, and the thread that may touch it."""

    # ---------------------------------------------------------------------------------------- what is in the scene

    def add(self, thing: Thing, *, on: Point | None = None) -> Thing:
        """Put a body, a constraint or a load into the scene, also while it runs, and return it.

        A zone rides `on` a point of a rigid body or of the world, whose frame its vertices are measured in; without one
        they are measured in the world's.

        A constraint's bodies must be in the scene already. Raises `InputError`, and changes nothing, if they are not,
        or if the thing is in a scene already.
        """
        self._check_free()
        if on is not None and not isinstance(thing, ZonePlaces):
            raise InputError(f"on is for zones, which ride on a point; got it for {quoted(thing)}")
        if isinstance(thing, AbstractBody):
            self._check_new(thing)
            if isinstance(thing, Slider):
                self._check_member(thing.rod, thing.name)
                self._slider_rows[thing] = SliderRows(thing)
            if isinstance(thing, ZonePlaces):
                thing._come(self._checked_carrier(thing, on))
            self._bodies.append(thing)
        elif isinstance(thing, AbstractConstraint):
            self._check_new(thing)
            if isinstance(thing, Keyhole):
                self._check_member(thing.slider.rod, thing.name)
                self._check_points(thing.points[1:], thing.name)
                self._check_places(thing.points[1:])
                self._check_new(thing.slider)
                self._bodies.append(thing.slider)
                thing.slider._scene = self
                self._slider_rows[thing.slider] = SliderRows(thing.slider)
            else:
                self._check_points(thing.points, thing.name)
                if all(point.body is None for point in thing.points):
                    raise InputError(f"{thing.name} ties points of the world only: there is nothing that it could move")
                held = {point.body for point in thing.points}
                if len(held) == 1 and isinstance(thing.points[0].body, RigidBody) and not isinstance(thing, Cable):
                    raise InputError(
                        f"{thing.name} ties points of one rigid body, which do not move against each other"
                    )
                self._check_places(thing.points)
            self._constraints.append(thing)
        elif isinstance(thing, Load):
            self._check_new(thing)
            self._check_points((thing.point,), thing.name)
            self._check_places((thing.point,))
            self._loads.append(thing)
        else:
            raise InputError(f"a scene takes bodies, constraints and loads, got {quoted(thing)}")
        thing._scene = self
        self._last_step = 0.0  # what is new has no state before this one: a two-step scheme starts afresh
        self._changed()
        return thing

    def remove(self, thing: AbstractBody | AbstractConstraint | Load) -> None:
        """Take a body, a constraint or a load out. A body that constraints still hold must be freed first."""
        self._check_free()
        if isinstance(thing, AbstractBody):
            self._check_member(thing, "remove")
            users = [c.name for c in self._constraints if any(p.body is thing for p in c.points)]
            users += [load.name for load in self._loads if load.point.body is thing]
            users += [b.name for b in self._bodies if isinstance(b, Slider) and b.rod is thing]
            users += [b.name for b in self._bodies if isinstance(b, ZonePlaces) and b.on.body is thing]
            if users:
                raise InputError(f"{thing.name} is still used by {', '.join(users)}: remove them first")
            self._drop_body(thing)
        elif isinstance(thing, AbstractConstraint):
            if thing._scene is not self or thing not in self._constraints:
                raise InputError(f"{thing.name} is not in this scene")
            self._constraints.remove(thing)
            if isinstance(thing, Keyhole):
                self._drop_body(thing.slider)
            thing._leave_tables()
        elif isinstance(thing, Load):
            if thing not in self._loads:
                raise InputError(f"{thing.name} is not in this scene")
            self._loads.remove(thing)
        else:
            raise InputError(f"a scene holds bodies, constraints and loads, got {quoted(thing)}")
        thing._scene = None
        self._changed()

    def _check_free(self) -> None:
        """Whether this thread may change the scene."""
        if self._runner is not None and self._runner[1] != threading.get_ident():
            raise InputError(
                f"this scene is run by {self._runner[0]}: close that first, or do it in before_step or in a control"
            )

    def _drop_body(self, body: AbstractBody) -> None:
        self._bodies.remove(body)
        for key, point in list(self._points.items()):
            if point.body is body:
                point._leave_tables()
                del self._points[key]
        if isinstance(body, Slider):
            self._released.discard(body)
            del self._slider_rows[body]
            self._contacts = [c for c in self._contacts if body not in c._pair]
        for group, array in body._arrays.items():
            body._arrays[group] = array.copy()
        body._home = body._arrays
        body._dof0 = body._block0 = body._index = 0
        body._scene = None

    def _checked_carrier(self, zone: ZonePlaces, on: Point | None) -> Point:
        """The point that a zone rides on."""
        if on is None:
            return WorldPoint(Pose())
        if not isinstance(on, RigidPoint | WorldPoint):
            raise InputError(
                f"{zone.name} can ride on a point of a rigid body or of the world, got {quoted(on)}; on a rod: Fuse a "
                "light rigid body to it, and ride on that"
            )
        self._check_points((on,), zone.name)
        return on

    def _check_places(self, points: Iterable[Point]) -> None:
        """Whether zones can hold these points besides those that they hold already."""
        fresh = [point for point in points if isinstance(point, ZonePoint)]
        for zone in dict.fromkeys(point.body for point in fresh):
            places = {p._key(): p for p in [*self._places_of(zone), *(p for p in fresh if p.body is zone)]}
            zone._condensed(list(places.values()))

    def _places_of(self, zone: ZonePlaces) -> list[ZonePoint]:
        """The points of a zone that constraints and loads use."""
        points = [point for thing in self._constraints for point in thing.points]
        points += [load.point for load in self._loads]
        return [point for point in points if isinstance(point, ZonePoint) and point.body is zone]

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
    def system(self) -> System:
        """The tables of what is in the scene now; made if need be."""
        return self._compiled().system

    @property
    def made_system(self) -> System | None:
        """The tables as they are; None if what is in the scene has changed since they were made."""
        return self._system

    def made_anew(self) -> list[Any]:
        """Make the tables again, as those of a scene from a file; returns what owns numbers of the state, in order."""
        self._changed()
        self._compiled()
        return self._numbered()

    def check_free(self) -> None:
        """Raise `InputError` if a page runs the scene, unless this is the page's thread."""
        self._check_free()

    def run_by(self, runner: str | None) -> None:
        """From now on only this thread may change the scene, for `runner` (in words); None: any thread may again."""
        self._runner = None if runner is None else (runner, threading.get_ident())

    # --------------------------------------------------------------------------------------------------- tables

    def _changed(self) -> None:
        """What is in the scene has changed: its tables are built again when they are next needed."""
        self._tables = None if self._system is None else self._system.point_ints
        self._system = None
        self._redundant = ()
        # Rows that others made superfluous may be needed now; those that are not will be found again.
        for constraint in [*self._constraints, *self._slider_rows.values(), *self._contacts]:
            constraint._floats[:, SPARE] = 0.0

    def _state_was_set(self, body: AbstractBody, moved: bool) -> None:
        """Positions (`moved`) or velocities of a body were set from outside."""
        self._last_step = 0.0
        if self._system is None:
            return
        riders = [s for s in self._system.sliders if s is body or s.rod is body]
        if moved:
            for point in self._system.points:
                if isinstance(point, RodPoint) and point.body is body:
                    point._carry()
            for slider in riders:
                slider._settle_point()
                slider.at()._state[0, :6] = slider.rod._reference_at(slider.s)
        for slider in riders:
            slider._arrays["bead"][0, :3] = slider.at().position
            slider._arrays["bead"][0, 3:6] = slider.at().velocity
        if moved:
            self._system.refresh()

    def _compiled(self) -> Stepper:
        if self._system is None:
            from sennit.scene.scene import FIRST_STEPS

            compile_once("scene", FIRST_STEPS)
            before = self._points
            rods = [b for b in self._bodies if isinstance(b, Rod)]
            rigid = [b for b in self._bodies if isinstance(b, RigidBody)]
            sliders = [b for b in self._bodies if isinstance(b, Slider)]
            zones = [b for b in self._bodies if isinstance(b, ZonePlaces)]
            for zone in zones:
                if zone._hold(self._places_of(zone)):
                    self._last_step = 0.0  # its places have no state before this one
            self._contacts = pearl_contacts((s for s in sliders if isinstance(s, Pearl)), self._contacts)
            own = [rows for rows in self._slider_rows.values() if len(rows._ints)]
            companions = [companion for c in self._constraints for companion in c._companions()]
            constraints = [*self._constraints, *own, *self._contacts, *companions]
            self._leads = [c for c in self._constraints if isinstance(c, Follow)]
            self._system = System(rods, rigid, sliders, zones, constraints, self._loads)
            self._points = {id(point): point for point in self._system.points}
            for key, point in before.items():
                if key not in self._points and point._ints.base is self._tables:
                    point._leave_tables()
            for rows in own:
                rows._number_friction()
            self._stepper = Stepper(self._system)
            for thing in self._numbered():
                if id(thing) not in self._beginnings and isinstance(thing, AbstractConstraint):
                    thing._begin_turns()
            self._remember_beginnings()
        assert self._stepper is not None
        return self._stepper

    def _remember_beginnings(self) -> None:
        """Keep the state of what is new, for `reset`."""
        for thing in self._numbered():
            if id(thing) not in self._beginnings or isinstance(thing, ZonePlaces):
                copies = {key: array.copy() for key, array in state_of(thing).items()}
                if isinstance(thing, ZonePlaces):
                    copies["q"] = thing._beginning()  # its places may be others than they were
                    copies["v"][:] = 0.0
                self._beginnings[id(thing)] = (thing, copies)

    def _numbered(self) -> list[Any]:
        """Everything that owns numbers of the state: bodies, constraints and their points, loads."""
        assert self._system is not None
        return [*self._bodies, *self._system.constraints, *self._system.points, *self._loads]


def state_of(thing: Any) -> dict[str, Any]:
    """The arrays that hold a thing's part of the state, by name."""
    if isinstance(thing, AbstractBody):
        return {**thing._arrays, **{f"last {key}": array for key, array in thing._history.items()}}
    if isinstance(thing, Point):
        # A world point is where it was put; the places of others follow from their bodies.
        return {"state": thing._state, "floats": thing._floats}
    if isinstance(thing, Load):
        return {"ints": thing._ints[:, 1:], "floats": thing._floats}
    arrays: dict[str, Any] = thing._state_arrays()
    return arrays
