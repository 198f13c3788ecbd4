"""The hoisting cable: without mass, through any number of points, with a winch at its first one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sennit import validation
from sennit.bodies.rigid.body import RigidBody
from sennit.constraints.cable.kernels import tables as columns
from sennit.constraints.cable.kernels.path import place_path, start_sheave
from sennit.constraints.cable.kernels.tables import (
    ACTS,
    ASKED,
    BROKEN,
    CARRIER,
    COUNT,
    EA,
    FIRST,
    GJ,
    KIND,
    MAX_PULL,
    OBSTACLE,
    ON,
    PARTS,
    RAW,
    REST,
    ROW0,
    ROW_CABLE,
    SLIP,
    SPIN,
    TENSION,
    TWIST_ROW,
    VALUE,
    WINCH_SPEED,
)
from sennit.constraints.cable.kernels.twist import spans_of_twist, twist_of
from sennit.constraints.cable.kernels.wrap import inside, update_wraps
from sennit.constraints.cable.path import CablePath
from sennit.constraints.cable.setup import (
    check_apart,
    check_clear,
    checked_entries,
    checked_obstacles,
    fresh_tables,
    or_infinite,
    point_of,
    stiffen,
)
from sennit.constraints.cable.sheave import Sheave
from sennit.constraints.constraint import AbstractConstraint, Softness, across, in_frame
from sennit.constraints.join import Distance
from sennit.errors import InputError
from sennit.material import Material, Section
from sennit.point.point import Point
from sennit.validation import FloatArray, quoted

__all__ = ["Cable"]

SHORTEST = 1e-3
"""Least length of a cable over its length when it was made."""
TOO_SHORT = 0.5
"""Least length of a cable over the way through its points, when it is made: stretched to twice its length."""
_PATH_TABLES = ("cable_ints", "element_ints", "element_floats", "element_state", "element_place")
_STOP = 1e-2
"""Distance at which a stop acts, over the mean span, or beyond the sheaves' radii over these."""
_MOST_STOPS = 64
"""Entries of a cable up to which it has stops."""


class Cable(AbstractConstraint):
    """A cable under tension: no mass, any stiffness, through two points or more.

    `points`: points of any bodies and of the world, and `Sheave`s, in order; it is fixed to the first and the last and
    slides over those between. `section` and `material` give its stiffness (EA/L, GJ/L with the present length), or
    `stretch_stiffness` (N/m) and `twist_stiffness` (N·m/rad) of the whole as it is now. `length`: unstretched, m; the
    way through its points if left out. With `torsion` it resists being twisted between its ends.

    It pulls and never pushes: where the way is shorter than its length it is slack. The winch is at the first point:
    set `length`, or `drive`, `brake` and `release` it. It comes to lie on the rigid bodies in `around` (boxes,
    cylinders and spheres) and leaves them again. `breaking_load` (N), and `longest` (m, all that there is, on the drum
    too) end in `scene.events`. What slides along it stops before the next entry, and the winch where a load comes close
    to its sheave (up to 64 entries).

    `damping` (N·s/m) and `twist_damping` (N·m·s) of the whole cable, besides the material's relaxation time.
    ``stepping="backward"`` takes the undamped backward form of its first publication, which damps vibration a great
    deal: for comparison, in scenes with the integrator "euler".
    """

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
        around: Iterable[RigidBody] = (),
        name: str | None = None,
    ) -> None:
        name = validation.label("name", name)
        entries, obstacles = checked_entries(points), checked_obstacles(around)
        torsion = validation.flag("torsion", torsion)
        validation.choice("stepping", stepping, ("spook", "backward"))
        self._take(entries, obstacles, [body.at() for body in obstacles], section, material, name)
        self._twists = torsion and (twist_stiffness is not None or section is not None)
        self._tables = fresh_tables(self._entries, self._obstacles, self._twists)
        self._number_points({id(point): i for i, point in enumerate(self._all_points)})
        self._first_path()
        path = CablePath(self._tables, self._stretchers, self._around)
        way = path.length
        given = way if length is None else validation.number("length", length, positive=True)
        if given < TOO_SHORT * way:
            raise InputError(
                f"length is too short: the way through the points is {way:g} m, and a cable of {quoted(given)} m would "
                "be stretched to more than twice its length"
            )
        f = self._tables["cable_floats"][0]
        stiffen(f, given, section, material, stretch_stiffness, twist_stiffness, damping, twist_damping)
        f[MAX_PULL] = math.inf
        f[columns.BREAKING] = or_infinite("breaking_load", breaking_load)
        f[columns.LONGEST] = or_infinite("longest", longest)
        if f[columns.LONGEST] < given:
            raise InputError(f"longest must be at least the length, {given:g} m, got {quoted(longest)}")
        f[columns.SHORTEST], f[columns.BACKWARD], f[ACTS] = SHORTEST * given, float(stepping == "backward"), 1.0
        for d in range(path.parts):
            self._tables["row_state"][d, REST] = path.part_length(d) * given / way
        self._own_sheaves()
        for i, entry in enumerate(self._entries):
            if isinstance(entry, Sheave) and entry._idle:
                path.element(i)[columns.ANGLE] = -path.beyond(i) / entry.radius

    def _take(
        self, entries: list[Point | Sheave], obstacles: list[RigidBody], around: Sequence[Point],
        section: Section | None, material: Material | None, name: str | None,
    ) -> None:  # fmt: skip
        """Keep what it is made of; nothing of it is changed."""
        self._entries, self._obstacles, self._around = entries, obstacles, list(around)
        self._section, self._material = section, material
        self._stretchers = [point_of(entry) for entry in entries]
        AbstractConstraint.__init__(self, self._stretchers[0], self._stretchers[-1], [], Softness(), name)
        self._all_points = (*dict.fromkeys([*self._stretchers, *self._around]),)
        self._stop_rows: list[Distance] | None = None

    def _own_sheaves(self) -> None:
        for i, entry in enumerate(self._entries):
            if isinstance(entry, Sheave):
                entry._cable, entry._entry = self, i

    @classmethod
    def _rebuilt(
        cls, entries: list[Point | Sheave], obstacles: list[RigidBody], around: list[Point], tables: dict[str, Any],
        section: Section | None, material: Material | None, name: str | None,
    ) -> Cable:  # fmt: skip
        """The cable that a file holds."""
        cable = cls.__new__(cls)
        cable._take(entries, obstacles, around, section, material, name)
        cable._tables, cable._twists = tables, bool(tables["cable_ints"][0, TWIST_ROW] >= 0)
        cable._number_tables(0, 0, 0, 0)
        cable._own_sheaves()
        return cable

    # ------------------------------------------------------------------------------------------------------ tables

    def _number_points(self, numbers: dict[int, int]) -> None:
        """Tell elements and obstacles which points of the tables carry them."""
        t = self._tables
        t["obstacle_ints"][:, columns.OB_POINT] = [numbers[id(point)] for point in self._around]
        fixed = iter(self._stretchers)
        for row in t["element_ints"][: int(t["cable_ints"][0, COUNT])]:
            row[CARRIER] = numbers[id(next(fixed) if row[OBSTACLE] < 0 else self._around[row[OBSTACLE]])]

    def _number_tables(self, index: int, first: int, row0: int, obstacle0: int) -> None:
        """Where the cable's rows begin in common tables."""
        ints = self._tables["cable_ints"][0]
        ints[FIRST], ints[ROW0], ints[columns.OBSTACLE0] = first, row0, obstacle0
        ints[TWIST_ROW] = row0 + ints[PARTS] if self._twists else -1
        self._tables["row_ints"][:, ROW_CABLE] = index

    def _leave_tables(self) -> None:
        """No scene holds it any more: it keeps its own numbers."""
        self._tables = {key: array.copy() for key, array in self._tables.items()}
        place = self._tables["element_place"]
        place[:, columns.NEXT] -= np.where(place[:, columns.NEXT] >= 0.0, self._tables["cable_ints"][0, FIRST], 0)
        self._number_tables(0, 0, 0, 0)
        self._number_points({id(point): i for i, point in enumerate(self._all_points)})

    def _placed(self) -> FloatArray:
        return np.concatenate([point._placed() for point in self._all_points])

    def _first_path(self) -> None:
        """Find the way for the first time: sheaves, what it lies on, and where its twist is zero."""
        placed, tables = self._placed(), tuple(self._tables[name] for name in _PATH_TABLES)
        for i, entry in enumerate(self._entries):
            if isinstance(entry, Sheave):
                check_clear(entry, self._stretchers[i - 1], self._stretchers[i + 1])
                following = self._entries[i + 1]
                if isinstance(following, Sheave):
                    check_apart(entry, following)
        for i, entry in enumerate(self._entries):
            if isinstance(entry, Sheave):
                start_sheave(0, i, entry._turns, *tables, placed)
        place_path(0, *tables, placed)
        if self._obstacles:
            self._check_inside()
            update_wraps(0, *tables, self._tables["obstacle_ints"], self._tables["obstacle_floats"], placed)
            place_path(0, *tables, placed)
        if self._twists:
            place = self._tables["element_place"]
            last = int(self._tables["cable_ints"][0, COUNT]) - 1
            before = max(e for e in range(last) if self._tables["element_state"][e, ON] == 1.0)
            ends = self._tables["ends"][0]
            for side, e in enumerate((0, before)):
                point = self._stretchers[0 if side == 0 else -1]
                direction = in_frame(point, place[e, columns.ALONG : columns.ALONG + 3])
                ends[6 * side : 6 * side + 3] = direction
                ends[6 * side + 3 : 6 * side + 6] = across(direction)[0]
            self._tables["cable_state"][0, RAW] = twist_of(0, *tables, placed, self._tables["ends"])
            self._tables["cable_state"][0, columns.MEASURED_ALONG] = spans_of_twist(
                0, tables[0], tables[1], tables[3], tables[4]
            )

    def _check_inside(self) -> None:
        placed, shapes = self._placed(), (self._tables["obstacle_ints"], self._tables["obstacle_floats"])
        for o, body in enumerate(self._obstacles):
            for point in (self._stretchers[0], self._stretchers[-1]):
                if inside(o, *shapes, placed, tuple(point.position)):
                    raise InputError(
                        f"{body.name}, which the cable may come to lie on, contains its end {point!r}: put the end on "
                        "its surface, or leave the body out of around="
                    )

    # ----------------------------------------------------------------------------------------------------- reading

    @property
    def points(self) -> tuple[Point, ...]:  # type: ignore[override]
        """The points that it runs through, and those of the bodies that it may lie on."""
        return self._all_points

    @property
    def entries(self) -> tuple[Point | Sheave, ...]:
        """The points and sheaves that it was given."""
        return tuple(self._entries)

    @property
    def around(self) -> tuple[RigidBody, ...]:
        """Bodies that it may come to lie on."""
        return tuple(self._obstacles)

    @property
    def sheaves(self) -> tuple[Sheave | None, ...]:
        """The sheave at each of its `entries`; None where that is a point."""
        return tuple(entry if isinstance(entry, Sheave) else None for entry in self._entries)

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
        return int(self._tables["row_ints"][0, ROW_CABLE])

    @property
    def first_mark(self) -> FloatArray:
        """Direction (3,) at its first end, in the world, from which its twist is counted."""
        return np.asarray(self._stretchers[0].frame @ self._tables["ends"][0, 3:6])

    def path_in(self, joined: dict[str, Any]) -> CablePath:
        """Its path by the joined tables of its scene's cables, such as `System.cables_now` gives."""
        index = self.number
        first, row0 = (int(x) for x in joined["cable_ints"][index, [FIRST, ROW0]])
        rooms = {
            "cable": slice(index, index + 1),
            "element": slice(first, first + len(self._tables["element_ints"])),
            "row": slice(row0, row0 + len(self._tables["row_ints"])),
        }
        rows = {name: whole[rooms.get(name.split("_")[0], slice(0, 0))] for name, whole in joined.items()}
        return CablePath(rows, self._stretchers, self._around)

    def _now(self) -> CablePath:
        """Its path where things are now."""
        if self._scene is not None:
            joined = self._scene._compiled().system.cables_now()
            index = int(self._tables["row_ints"][0, ROW_CABLE])
            first, row0 = (int(x) for x in joined["cable_ints"][index, [FIRST, ROW0]])
            rooms = {"cable": (index, 1), "element": (first, len(self._tables["element_ints"]))}
            rooms["row"] = (row0, len(self._tables["row_ints"]))
            tables = {}
            for name, whole in joined.items():
                at, count = rooms.get(name.split("_")[0], (0, 0))
                tables[name] = whole[at : at + count]
        else:
            tables = {name: array.copy() for name, array in self._tables.items()}
            place_path(0, *(tables[name] for name in _PATH_TABLES), self._placed())
        return CablePath(tables, self._stretchers, self._around)

    @property
    def path_length(self) -> float:
        """Length of the way through its points, m."""
        return self._now().length

    @property
    def length(self) -> float:
        """Unstretched length between its ends, m. Can be set: it is reached at the end of the next step."""
        parts = int(self._tables["cable_ints"][0, PARTS])
        return float(self._tables["row_state"][:parts, REST].sum() + self._tables["cable_state"][0, ASKED])

    @length.setter
    def length(self, value: float) -> None:
        wanted = validation.number("length", value, positive=True)
        f = self._tables["cable_floats"][0]
        if not f[columns.SHORTEST] <= wanted <= f[columns.LONGEST]:
            raise InputError(
                f"length must be between {f[columns.SHORTEST]:g} m, its shortest, and {f[columns.LONGEST]:g} m, "
                f"the longest, got {quoted(value)}"
            )
        self._tables["cable_state"][0, ASKED] += wanted - self.length

    @property
    def elongation(self) -> float:
        """How far it is stretched, m; 0 when slack."""
        return max(self.path_length - self.length, 0.0)

    @property
    def tension(self) -> float:
        """Pull at its first point, N; 0 when slack."""
        return float(self._tables["row_state"][0, TENSION])

    @property
    def tensions(self) -> FloatArray:
        """Pull of the span after each entry of its list but the last: (entries − 1,), N."""
        now = self._now()
        return np.asarray(now.tensions()[now.fixed[:-1]])

    @property
    def torque(self) -> float:  # type: ignore[override]
        """Torque that its twist holds, N·m: it turns the last end back by this much, about the cable there."""
        return float(self._tables["row_state"][-1, TENSION]) if self._twists else 0.0

    @property
    def twist(self) -> float:
        """Angle by which it is twisted, last end against first, rad, with whole turns; 0 when it was made."""
        return float(self._now().rows[-1, VALUE]) if self._twists else 0.0

    @property
    def slack(self) -> bool:
        """Whether no part of it pulls."""
        parts = int(self._tables["cable_ints"][0, PARTS])
        return not bool((self._tables["row_state"][:parts, TENSION] > 0.0).any())

    @property
    def broken(self) -> bool:
        """Whether it was pulled by more than its breaking load."""
        return bool(self._tables["cable_state"][0, BROKEN])

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
        values = np.array([now.part_length(d) - now.rows[d, REST] for d in range(now.parts)])
        return np.append(values, now.rows[-1, VALUE]) if self._twists else values

    def jacobian(self) -> tuple[NDArray[np.int64], FloatArray]:
        """Degrees of freedom (k,) of the scene, and J (rows, k): rates of `violation` = J · their rates."""
        if self._scene is None:
            raise InputError(f"{self.name} is in no scene, whose degrees of freedom its Jacobian is for: add it first")
        system: Any = self._scene._compiled().system
        index = int(self._tables["row_ints"][0, ROW_CABLE])
        used, matrix = system.cable_jacobian(index)
        return used, matrix

    @property
    def multipliers(self) -> FloatArray:
        """Tension of each part, N, and the torque, N·m."""
        return np.array(self._tables["row_state"][:, TENSION])

    def _energy(self) -> tuple[float, float]:
        """Elastic energy, read from the tensions, and kinetic energy of its rotors, J."""
        f, rows = self._tables["cable_floats"][0], self._tables["row_state"]
        parts = int(self._tables["cable_ints"][0, PARTS])
        length = float(rows[:parts, REST].sum())
        soft = np.maximum(rows[:, REST], 1e-3 * length) / f[EA]
        if self._twists:
            soft[-1] = length / f[GJ]
        stored = 0.5 * float(np.sum(soft * rows[:, TENSION] ** 2))
        spin = self._tables["element_state"][:, SPIN]
        return stored, 0.5 * float(np.sum(self._tables["element_floats"][:, columns.INERTIA] * spin**2))

    def _spin(self) -> FloatArray:
        """Angular momentum of its rotors, (3,), N·m·s."""
        total = np.zeros(3)
        state = self._tables["element_state"]
        fixed = np.flatnonzero(self._tables["element_ints"][: int(self._tables["cable_ints"][0, COUNT]), OBSTACLE] < 0)
        for e, entry in zip(fixed, self._entries, strict=True):
            if isinstance(entry, Sheave) and entry.turning:
                total += entry.inertia * state[e, SPIN] * (entry.point.frame @ entry._axis)
        return total

    @property
    def damping(self) -> float:
        """Of the whole cable as it is, N·s/m. Can be set."""
        f = self._tables["cable_floats"][0]
        return float(f[columns.TAU] * f[EA] / self.length) if f[columns.TAU] > 0.0 else 0.0

    @damping.setter
    def damping(self, value: float) -> None:
        f = self._tables["cable_floats"][0]
        with validation.in_range("damping and length"):
            f[columns.TAU] = validation.number("damping", value, minimum=0.0) * self.length / f[EA]

    @property
    def angular_damping(self) -> float:
        """Of the whole cable's twist as it is, N·m·s. Can be set."""
        f = self._tables["cable_floats"][0]
        return float(f[columns.TWIST_TAU] * f[GJ] / self.length) if f[columns.TWIST_TAU] > 0.0 else 0.0

    @angular_damping.setter
    def angular_damping(self, value: float) -> None:
        f = self._tables["cable_floats"][0]
        with validation.in_range("angular_damping and length"):
            f[columns.TWIST_TAU] = validation.number("angular_damping", value, minimum=0.0) * self.length / f[GJ]

    @property
    def compliance(self) -> float:
        """Of the whole cable as it is, m/N. Can be set; it goes on growing with the length."""
        return float(self.length / self._tables["cable_floats"][0, EA])

    @compliance.setter
    def compliance(self, value: float) -> None:
        soft = validation.number("compliance", value, minimum=0.0)
        with validation.in_range("compliance and length"):
            self._tables["cable_floats"][0, EA] = self.length / np.float64(soft) if soft > 0.0 else math.inf

    @property
    def angular_compliance(self) -> float:
        """Of the whole cable's twist as it is, rad/(N·m). Can be set."""
        return float(self.length / self._tables["cable_floats"][0, GJ])

    @angular_compliance.setter
    def angular_compliance(self, value: float) -> None:
        soft = validation.number("angular_compliance", value, minimum=0.0)
        with validation.in_range("angular_compliance and length"):
            self._tables["cable_floats"][0, GJ] = self.length / np.float64(soft) if soft > 0.0 else math.inf

    def path(self, points_per_span: int = 33) -> FloatArray:
        """Where it runs now, for pictures: (n, 3), m. A slack cable sags, with its true length."""
        count = validation.count("points_per_span", points_per_span, 2)
        now = self._now()
        gravity = np.zeros(3) if self._scene is None else self._scene.gravity
        if not gravity.any():
            gravity = np.array((0.0, 0.0, -9.81))  # it has to hang some way
        slack = max(self.length - now.length, 0.0) if self.slack else 0.0
        return now.drawn(slack, gravity, count)

    # ------------------------------------------------------------------------------------------------------- winch

    def drive(self, speed: float, slip: float = 0.0, max_pull: float | None = None) -> None:
        """Let the winch run: `speed` is dL/dt, m/s, negative to haul in.

        `slip`, m/s per N: the length changes by speed + slip · tension. `max_pull`, N: it gives way at more.
        """
        rate = validation.number("speed", speed)
        give = validation.number("slip", slip, minimum=0.0)
        pull = or_infinite("max_pull", max_pull)
        f = self._tables["cable_floats"][0]
        f[WINCH_SPEED], f[SLIP], f[MAX_PULL] = rate, give, pull

    def brake(self) -> None:
        """Stop the winch and hold the cable."""
        self.drive(0.0)

    def release(self) -> None:
        """Let the spool turn freely: the cable runs out without a pull."""
        f = self._tables["cable_floats"][0]
        f[WINCH_SPEED], f[SLIP], f[MAX_PULL] = 0.0, 0.0, 0.0

    @property
    def enabled(self) -> bool:
        """Whether it acts. Can be set."""
        return bool(self._tables["cable_floats"][0, ACTS])

    @enabled.setter
    def enabled(self, value: bool) -> None:
        if not isinstance(value, bool | np.bool_):
            raise InputError(f"enabled must be True or False, got {quoted(value)}")
        self._tables["cable_floats"][0, ACTS] = float(value)
        if not value:
            self._tables["row_state"][:, TENSION] = 0.0

    def _companions(self) -> list[Distance]:
        """Stops: what keeps a sliding body off the next entry, and a load off its sheave."""
        if self._stop_rows is None:
            least = _STOP * self.length / (len(self._entries) - 1)
            self._stop_rows = []
            pairs = list(zip(self._entries[:-1], self._entries[1:], strict=True))
            for a, b in pairs if 2 < len(self._entries) <= _MOST_STOPS else ():
                p, q = point_of(a), point_of(b)
                radii = [entry.radius for entry in (a, b) if isinstance(entry, Sheave)]
                apart = float(np.linalg.norm(p.position - q.position))
                if (p.body is not None or q.body is not None) and p.body is not q.body:
                    gap = min((1.0 + _STOP) * sum(radii), 0.999 * apart) if radii else min(least, 0.9 * apart)
                    self._stop_rows.append(Distance(p, q, gap, "at_least", name=f"stop of {self.name}"))
        return self._stop_rows

    def _state_arrays(self) -> dict[str, Any]:
        """The arrays that hold its part of a scene's state."""
        t = self._tables
        names = ("cable_floats", "cable_state", "element_floats", "element_state", "element_place", "row_state", "ends")
        arrays: dict[str, Any] = {name: t[name] for name in names}
        arrays["count"] = t["cable_ints"][:, COUNT : COUNT + 1]
        arrays["kinds"], arrays["marks"] = t["element_ints"][:, KIND : KIND + 1], t["element_ints"][:, OBSTACLE:]
        return arrays
