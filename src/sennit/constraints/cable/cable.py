"""The hoisting cable: without mass, through any number of points, with a winch at its first one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit import validation
from sennit.bodies.point.point import Point
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.world import World
from sennit.compile_once import compile_once
from sennit.constraints.cable.course import Course
from sennit.constraints.cable.kernels.kinds import BROKE, PAID_OUT, WOUND_IN
from sennit.constraints.cable.kernels.path import place_path
from sennit.constraints.cable.path import CablePath, Wrap
from sennit.constraints.cable.sheave import Sheave
from sennit.constraints.cable.stiffness import or_infinite, stiffen
from sennit.constraints.cable.table import CableTables, Rigging
from sennit.constraints.cable.winch import FREE, Winched
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.join import Distance
from sennit.constraints.softness import Softness
from sennit.errors import InputError
from sennit.material import Material, Section
from sennit.tables import PARAMETER, STATE, Table
from sennit.validation import FloatArray, quoted

__all__ = ["Cable"]

SHORTEST = 1e-3
"""Least length of a cable over its length when it was made."""
TOO_SHORT = 0.5
"""Least length of a cable over the way through its points, when it is made: stretched to twice its length."""


_INFINITE = frozenset(
    {"twist_stiffness", "stretch_stiffness", "max_pull", "breaking_load", "longest", "slip", "friction", "paid"}
)
"""Fields in which infinity has a meaning: a winch without a limit, a cable that never breaks."""


def _stored(kind: type[Table]) -> list[str]:
    """The fields that a file has of a cable's tables besides its state."""
    return [name for name, field in kind._fields.items() if field.role in (PARAMETER, STATE)]


class Cable(Winched):
    """A cable under tension: no mass, any stiffness, through two points or more.

    `points`: points of any bodies and of the world, and `Sheave`s, in order; it is fixed to the first and the last and
    slides over those between. `section` and `material` give its stiffness (EA/L, GJ/L with the present length), or
    `stretch_stiffness` (N/m) and `twist_stiffness` (N·m/rad) of the whole as it is now. `length`: unstretched, m; the
    way through its points if left out. With `torsion` it resists being twisted between its ends.

    It pulls and never pushes: where the way is shorter than its length it is slack. The winch is at the first point:
    set `length` or `pull`, or `drive`, `brake` and `release` it. It comes to lie on the rigid bodies in `around`
    (boxes, cylinders and spheres) and leaves them again; there Coulomb's `friction` (dimensionless) holds it: up to a
    ratio e^{μθ} of the tensions, θ the angle by which it turns. One of its own for a body: a pair (body, friction) in
    `around`. `eyelet_friction` is the same at the points between its ends, as of a tendon in its eyelets: one for all
    or one for each. `breaking_load` (N), and `longest` (m, all that there is, on the drum too) end in `scene.events`.
    What slides along it stops before the next entry, and the winch where a load comes close to its sheave (up to 64
    entries).

    `damping` (N·s/m) and `twist_damping` (N·m·s) of the whole cable, besides the material's relaxation time.
    ``stepping="backward"`` takes the undamped backward form of its first publication, which damps vibration a great
    deal: for comparison, in scenes with the integrator "euler".
    """

    _tables: CableTables
    """Its own, or parts of its scene's."""

    def __init__(
        self,
        points: Iterable[Point | Sheave],
        section: Section | None = None,
        material: Material | None = None,
        length: float | None = None,
        torsion: bool = True,
        *,
        stretch_stiffness: float | None = None,
        twist_stiffness: float | None = None,
        damping: float = 0.0,
        twist_damping: float = 0.0,
        stepping: Literal["spook", "backward"] = "spook",
        breaking_load: float | None = None,
        longest: float | None = None,
        around: Iterable[RigidBody | tuple[RigidBody, float]] = (),
        friction: float = 0.0,
        eyelet_friction: ArrayLike = 0.0,
        name: str | None = None,
    ) -> None:
        name = validation.label("name", name)
        course = Course.checked(points, around, friction, eyelet_friction)
        torsion = validation.flag("torsion", torsion)
        validation.choice("stepping", stepping, ("spook", "backward"))
        self._take(course, section, material, name)
        compile_once("cable", (make_one,))
        self._tables = course.tables(torsion and (twist_stiffness is not None or section is not None))
        course.number(self._tables)
        course.start(self._tables)
        path = CablePath(course, self._tables)
        way = path.length
        given = way if length is None else validation.number("length", length, positive=True)
        if given < TOO_SHORT * way:
            raise InputError(
                f"length is too short: the way through the points is {way:g} m, and a cable of {quoted(given)} m would "
                "be stretched to more than twice its length"
            )
        cables, rows = self._tables.cables, self._tables.rows
        stiffen(cables, given, section, material, stretch_stiffness, twist_stiffness, damping, twist_damping)
        cables.max_pull[0], cables.pull[0] = math.inf, FREE
        cables.breaking_load[0] = or_infinite("breaking_load", breaking_load)
        cables.longest[0] = or_infinite("longest", longest)
        if cables.longest[0] < given:
            raise InputError(f"longest must be at least the length, {given:g} m, got {quoted(longest)}")
        cables.shortest[0], cables.backward[0], cables.acts[0] = SHORTEST * given, int(stepping == "backward"), 1
        rows.rest[: path.parts] = [path.part_length(d) * given / way for d in range(path.parts)]
        self._own_sheaves()
        path = CablePath(course, self._tables)
        for i, sheave in course.sheaves:
            if sheave._idle:
                self._tables.elements.angle[path.element(i)] = -path.beyond(i) / sheave.radius

    def _take(self, course: Course, section: Section | None, material: Material | None, name: str | None) -> None:
        """Keep what it is made of; nothing of it is changed."""
        self._course, self._section, self._material = course, section, material
        AbstractConstraint.__init__(self, course.carriers[0], course.carriers[-1], [], Softness(), name)
        self._stop_rows: list[Distance] | None = None

    def _own_sheaves(self) -> None:
        for i, sheave in self._course.sheaves:
            sheave._cable, sheave._entry = self, i

    def _describe(self, out: Any) -> dict[str, Any]:
        for name, table in self._tables.all().items():
            out.table(name, table, _stored(type(table)))
        return {
            **self._course.describe(out),
            "around_friction": list(self.friction),
            "twists": self._twists,
            "section": None if self._section is None else out.section(self._section),
            "material": None if self._material is None else out.material(self._material),
        }

    @classmethod
    def _rebuilt(cls, entry: dict[str, Any], read: Any) -> Cable:
        course = Course.rebuilt(entry, read)
        tables = course.tables(bool(entry["twists"]))
        for name, table in tables.all().items():
            fields = _stored(type(table))
            table.fill_fields(read.table(name, type(table), len(table), fields, infinite=_INFINITE), fields)
        course.check(tables)
        section = None if entry["section"] is None else read.section(entry["section"])
        material = None if entry["material"] is None else read.material(entry["material"])
        cable = cls.__new__(cls)
        cable._take(course, section, material, entry["name"])
        cable._tables = tables
        tables.elements.following[:] = -1  # found anew, or read with the state
        tables.renumber(0, 0, 0, 0)
        cable._own_sheaves()
        return cable

    def _may_be_infinite(self, name: str) -> bool:
        return name.rpartition(".")[2] in _INFINITE

    def _check_state(self) -> None:
        """Its elements are those of its course, and its path is a chain that ends."""
        self._course.check(self._tables)
        first, count = int(self._tables.cables.first[0]), self._tables.count
        following = self._tables.elements.following[:count]
        forward = following > first + np.arange(count)
        if not ((following < 0) | (forward & (following < first + count))).all():
            raise ValueError("the path of a cable does not end")

    def _leave_tables(self) -> None:
        """No scene holds it any more: it keeps its own numbers."""
        self._tables = self._tables.copy()
        self._tables.renumber(0, 0, 0, 0)
        self._course.number(self._tables)

    def _cables(self) -> tuple[Cable, ...]:
        """Itself."""
        return (self,)

    def _mass_sharers(self) -> list[Point]:
        """Points of bodies whose mass it reckons with."""
        return self._course.mass_sharers()

    def _moves_nothing(self) -> bool:
        return False

    def _news(self) -> list[tuple[Any, str]]:
        cables = self._tables.cables
        happened, cables.happened[0] = int(cables.happened[0]), 0
        kinds = (
            (BROKE, "broke", f"{self.name} broke at {cables.peak[0]:g} N"),
            (PAID_OUT, "paid_out", f"{self.name} has run out: {self.length:g} m is all that there is"),
            (WOUND_IN, "wound_in", f"{self.name} is wound in: {self.length:g} m is as short as it gets"),
        )
        return [(kind, text) for bit, kind, text in kinds if happened & bit]

    @property
    def _twists(self) -> bool:
        """Whether it resists being twisted."""
        return self._tables.twists

    # ----------------------------------------------------------------------------------------------------- reading

    @property
    def points(self) -> tuple[Point, ...]:  # type: ignore[override]
        """The points that it runs through, and those of the bodies that it may lie on."""
        return self._course.points

    @property
    def entries(self) -> tuple[Point | Sheave, ...]:
        """The points and sheaves that it was given."""
        return tuple(self._course.entries)

    @property
    def around(self) -> tuple[RigidBody, ...]:
        """Bodies that it may come to lie on."""
        return tuple(self._course.obstacles)

    @property
    def friction(self) -> tuple[float, ...]:
        """Coulomb's coefficient on each body of `around`, dimensionless.

        Can be set at any time, to one number or to one for each body: above 0 where it was made so, 0 where it was not.
        """
        return tuple(self._tables.obstacles.friction.tolist())

    @friction.setter
    def friction(self, value: ArrayLike) -> None:
        now = self._tables.obstacles.friction
        given = self._course.checked_friction(value, now.tolist(), self.name)
        self._forces_change()
        now[:] = given
        elements, count = self._tables.elements, self._tables.count
        on_body = np.flatnonzero(elements.obstacle[:count] >= 0)
        elements.friction[on_body] = given[elements.obstacle[on_body]]

    @property
    def eyelet_friction(self) -> tuple[float, ...]:
        """Coulomb's coefficient at each point between its ends that is no sheave, dimensionless.

        Can be set at any time, to one number or to one for each: above 0 where it was made so, 0 where it was not.
        """
        return tuple(self._tables.elements.friction[self._tables.own[self._course.eyelets]].tolist())

    @eyelet_friction.setter
    def eyelet_friction(self, value: ArrayLike) -> None:
        given = self._course.checked_eyelets(value, self.eyelet_friction, self.name)
        self._forces_change()
        self._tables.elements.friction[self._tables.own[self._course.eyelets]] = given

    def _forces_change(self) -> None:
        """Its friction is about to change between two steps."""
        if self._scene is not None:
            self._scene._check_changeable(self.name)
        self._forces_jump()

    @property
    def wraps(self) -> tuple[Wrap, ...]:
        """The bodies of `around` that it lies on now, in order, with angle, tensions, and whether it slides."""
        return self._now().wraps()

    @property
    def sheaves(self) -> tuple[Sheave | None, ...]:
        """The sheave at each of its `entries`; None where that is a point."""
        return tuple(entry if isinstance(entry, Sheave) else None for entry in self._course.entries)

    @property
    def section(self) -> Section | None:
        """Its cross-section; None if it was made with stiffnesses."""
        return self._section

    @property
    def twists(self) -> bool:
        """Whether it resists being twisted."""
        return self._twists

    @property
    def number(self) -> int:
        """Number among the cables of its scene: its row in their joined tables."""
        return self._tables.index

    @property
    def first_mark(self) -> FloatArray:
        """Direction (3,) at its first end, in the world, from which its twist is counted."""
        return np.asarray(self._course.carriers[0].frame @ self._tables.cables.first_director[0])

    def _now(self) -> CablePath:
        """Its path where things are now."""
        if self._scene is not None:
            return self._path_in(self._scene._compiled().system.cables_now())
        tables = self._tables.copy()
        place_path(0, tables.cables, tables.elements, self._course.placed())
        return CablePath(self._course, tables)

    def _path_in(self, rigging: Rigging) -> CablePath:
        """Its path as tables of its scene, or copies of them, have it."""
        return CablePath(self._course, self._tables.within(rigging))

    @property
    def path_length(self) -> float:
        """Length of the way through its points, m."""
        return self._now().length

    @property
    def elongation(self) -> float:
        """How far it is stretched, m; 0 when slack."""
        return max(self.path_length - self.length, 0.0)

    @property
    def tension(self) -> float:
        """Pull at its first point, N; 0 when slack."""
        return float(self._tables.rows.tension[0])

    @property
    def tensions(self) -> FloatArray:
        """Pull of the span after each entry of its list but the last: (entries − 1,), N."""
        now = self._now()
        return np.asarray(now.tensions()[now.fixed[:-1]])

    @property
    def torque(self) -> float:  # type: ignore[override]
        """Torque that its twist holds, N·m: it turns the last end back by this much, about the cable there."""
        return float(self._tables.rows.tension[-1]) if self._twists else 0.0

    @property
    def twist(self) -> float:
        """Angle by which it is twisted, last end against first, rad, with whole turns; 0 when it was made."""
        return float(self._now().rows.value[-1]) if self._twists else 0.0

    @property
    def slack(self) -> bool:
        """Whether no part of it pulls."""
        return not bool((self._tables.rows.tension[: self._tables.parts] > 0.0).any())

    @property
    def broken(self) -> bool:
        """Whether it was pulled by more than its breaking load."""
        return bool(self._tables.cables.broken[0])

    @property
    def forces(self) -> FloatArray:
        """What it applies to the points of its entries: (entries, 3), N, world frame."""
        return self._now().wrenches()[:, :3]

    @property
    def force(self) -> FloatArray:
        """What it applies to its first point: (3,), N, world frame."""
        return np.array(self.forces[0])

    @property
    def violation(self) -> FloatArray:
        """Elongation of each part, m, negative when slack, and the twist, rad."""
        now = self._now()
        values = np.array([now.part_length(d) - now.rows.rest[d] for d in range(now.parts)])
        return np.append(values, now.rows.value[-1]) if self._twists else values

    def jacobian(self) -> tuple[NDArray[np.int64], FloatArray]:
        """Degrees of freedom (k,) of the scene, and J (rows, k): rates of `violation` = J · their rates."""
        if self._scene is None:
            raise InputError(f"{self.name} is in no scene, whose degrees of freedom its Jacobian is for: add it first")
        system: Any = self._scene._compiled().system
        used, matrix = system.cable_jacobian(self._tables.index)
        return used, matrix

    @property
    def multipliers(self) -> FloatArray:
        """Tension of each part, N, and the torque, N·m."""
        tension, parts = self._tables.rows.tension, self._tables.parts
        return np.append(tension[:parts], tension[-1]) if self._twists else np.array(tension[:parts])

    def _energy(self) -> tuple[float, float]:
        """Elastic energy, read from the tensions, and kinetic energy of its rotors, J."""
        cables, elements, rows = self._tables.cables, self._tables.elements, self._tables.rows
        length = float(rows.rest[: self._tables.parts].sum())
        soft = np.maximum(rows.rest, 1e-3 * length) / cables.stretch_stiffness[0]
        if self._twists:
            soft[-1] = length / cables.twist_stiffness[0]
        stored = 0.5 * float(np.sum(soft * rows.tension**2))
        return stored, 0.5 * float(np.sum(elements.inertia * elements.spin**2))

    def _spin(self) -> FloatArray:
        """Angular momentum of its rotors, (3,), N·m·s."""
        total = np.zeros(3)
        elements = self._tables.elements
        fixed = self._tables.own
        for i, sheave in self._course.sheaves:
            if sheave.turning:
                total += sheave.inertia * elements.spin[fixed[i]] * (sheave.point.frame @ sheave._axis)
        return total

    @property
    def damping(self) -> float:
        """Of the whole cable as it is, N·s/m. Can be set."""
        time, stiffness = self._tables.cables.stretch_time[0], self._tables.cables.stretch_stiffness[0]
        return float(time * stiffness / self.length) if time > 0.0 else 0.0

    @damping.setter
    def damping(self, value: float) -> None:
        cables = self._tables.cables
        with validation.in_range("damping and length"):
            damping = validation.number("damping", value, minimum=0.0)
            cables.stretch_time[0] = damping * self.length / cables.stretch_stiffness[0]

    @property
    def angular_damping(self) -> float:
        """Of the whole cable's twist as it is, N·m·s. Can be set."""
        time, stiffness = self._tables.cables.twist_time[0], self._tables.cables.twist_stiffness[0]
        return float(time * stiffness / self.length) if time > 0.0 else 0.0

    @angular_damping.setter
    def angular_damping(self, value: float) -> None:
        cables = self._tables.cables
        with validation.in_range("angular_damping and length"):
            damping = validation.number("angular_damping", value, minimum=0.0)
            cables.twist_time[0] = damping * self.length / cables.twist_stiffness[0]

    @property
    def compliance(self) -> float:
        """Of the whole cable as it is, m/N. Can be set; it goes on growing with the length."""
        return float(self.length / self._tables.cables.stretch_stiffness[0])

    @compliance.setter
    def compliance(self, value: float) -> None:
        soft = validation.number("compliance", value, minimum=0.0)
        with validation.in_range("compliance and length"):
            self._tables.cables.stretch_stiffness[0] = self.length / np.float64(soft) if soft > 0.0 else math.inf

    @property
    def angular_compliance(self) -> float:
        """Of the whole cable's twist as it is, rad/(N·m). Can be set."""
        return float(self.length / self._tables.cables.twist_stiffness[0])

    @angular_compliance.setter
    def angular_compliance(self, value: float) -> None:
        soft = validation.number("angular_compliance", value, minimum=0.0)
        with validation.in_range("angular_compliance and length"):
            self._tables.cables.twist_stiffness[0] = self.length / np.float64(soft) if soft > 0.0 else math.inf

    def path(self, points_per_span: int = 33) -> FloatArray:
        """Where it runs now, for pictures: (n, 3), m, `points_per_span` for each part between two of its points.

        A slack cable sags, with its true length.
        """
        count = validation.count("points_per_span", points_per_span, 2)
        now = self._now()
        gravity = np.zeros(3) if self._scene is None else self._scene.gravity
        if not gravity.any():
            gravity = np.array((0.0, 0.0, -9.81))  # it has to hang some way
        slack = max(self.length - now.length, 0.0) if self.slack else 0.0
        return now.drawn(slack, gravity, count)

    @property
    def enabled(self) -> bool:
        """Whether it acts. Can be set."""
        return bool(self._tables.cables.acts[0])

    @enabled.setter
    def enabled(self, value: bool) -> None:
        if not isinstance(value, bool | np.bool_):
            raise InputError(f"enabled must be True or False, got {quoted(value)}")
        if bool(value) == self.enabled:
            return
        self._tables.cables.acts[0] = int(value)
        if not value:
            self._tables.rows.tension[:] = 0.0
        if self._scene is not None:
            self._scene._rows_switched()

    def _stretched_from_outside(self) -> None:
        """Bodies were put elsewhere: what it is stretched by now counts as paid for, and so do its turns."""
        self._tables.rows.paid[:] = math.inf

    def _companions(self) -> list[Distance]:
        """Stops: what keeps a sliding body off the next entry, and a load off its sheave."""
        if self._stop_rows is None:
            self._stop_rows = self._course.stops(self.length, f"stop of {self.name}")
        return self._stop_rows

    def _state_arrays(self) -> dict[str, Any]:
        """The arrays that hold its part of a scene's state."""
        return self._tables.state()


def make_one() -> None:
    """A cable in the world: what compiles the kernels that lay one out."""
    Cable([World.at((0.0, 0.0, 3.0)), World.at((0.0, 0.0, 0.0))], stretch_stiffness=100.0)
