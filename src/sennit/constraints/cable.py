"""The hoisting cable: without mass, through any number of points, with a winch at its first one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from sennit import validation
from sennit.bodies.rigid import RigidBody
from sennit.cables import drawing
from sennit.cables.path.kernels import part_length, place_path, start_sheave
from sennit.cables.tables import kernels as columns
from sennit.cables.tables.kernels import (
    ACTS,
    ASKED,
    BROKEN,
    CARRIER,
    COUNT,
    DIVIDES,
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
    ROW_PART,
    SLIP,
    SPIN,
    TENSION,
    TRIAL,
    TWIST,
    TWIST_ROW,
    W_IN,
    W_OUT,
    WINCH_SPEED,
)
from sennit.cables.twist.kernels import spans_of_twist, twist_of
from sennit.cables.wrap.kernels import inside, update_wraps
from sennit.constraints.constraint import AbstractConstraint, Softness, across, in_frame
from sennit.constraints.sheave import Sheave
from sennit.errors import InputError
from sennit.material import Material, Section
from sennit.point import Point
from sennit.validation import FloatArray, quoted

__all__ = ["Cable"]

SHORTEST = 1e-3
"""Least length of a cable over its length when it was made."""
TOO_SHORT = 0.9
"""Least length of a cable over the way through its points, when it is made."""
_SHAPES = {"box": columns.EDGE, "cylinder": columns.CYLINDER, "sphere": columns.SPHERE}
_ROOM = {"box": 16, "cylinder": 2, "sphere": 2}
"""Places that a cable may bend at on one body."""


class Cable(AbstractConstraint):
    """A cable under tension: no mass, any stiffness, through two points or more.

    `points`: points of any bodies and of the world, and `Sheave`s, in order; it is fixed to the first and the last and
    slides over those between. `section` and `material` give its stiffness (EA/L, GJ/L with the present length), or
    `stretch_stiffness` (N/m) and `twist_stiffness` (N·m/rad) of the whole as it is now. `length`: unstretched, m; the
    way through its points if left out. With `torsion` it resists being twisted between its ends.

    It pulls and never pushes: where the way is shorter than its length it is slack. The winch is at the first point:
    set `length`, or `drive`, `brake` and `release` it. It comes to lie on the rigid bodies in `around` (boxes, cylinders
    and spheres) and leaves them again. `breaking_load` (N), and `longest` (m, all that there is, on the drum too) end in
    `scene.events`.

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
        self._entries = _checked_entries(points)
        self._section, self._material = section, material
        self._obstacles = _checked_obstacles(around)
        if not isinstance(torsion, bool | np.bool_):
            raise InputError(f"torsion must be True or False, got {quoted(torsion)}")
        if stepping not in ("spook", "backward"):
            raise InputError(f'stepping must be "spook" or "backward", got {quoted(stepping)}')
        self._stretchers = [_point_of(entry) for entry in self._entries]
        self._around = [body.at() for body in self._obstacles]
        super().__init__(self._stretchers[0], self._stretchers[-1], [], Softness(), name)
        self._all_points = (*dict.fromkeys([*self._stretchers, *self._around]),)
        self._twists = bool(torsion) and (twist_stiffness is not None or section is not None)
        self._lay_tables()
        self._first_path()
        way = self._way()
        given = way if length is None else validation.number("length", length, positive=True)
        if given < TOO_SHORT * way:
            raise InputError(f"length must be at least about the way through the points, {way:g} m, got {quoted(given)}")
        self._stiffen(way, given, stretch_stiffness, twist_stiffness, damping, twist_damping)
        f = self._tables["cable_floats"][0]
        f[MAX_PULL] = math.inf
        f[columns.BREAKING] = _or_infinite("breaking_load", breaking_load)
        f[columns.LONGEST] = _or_infinite("longest", longest)
        if f[columns.LONGEST] < given:
            raise InputError(f"longest must be at least the length, {given:g} m, got {quoted(longest)}")
        f[columns.SHORTEST], f[columns.BACKWARD], f[ACTS] = SHORTEST * given, float(stepping == "backward"), 1.0
        rows, ints = self._tables["row_state"], self._tables["cable_ints"][0]
        for d in range(int(ints[PARTS])):
            rows[d, REST] = self._part_length(d) * given / way
        rows[: ints[PARTS], columns.SIDE] = -1.0
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
        cable._entries, cable._obstacles, cable._around = entries, obstacles, around
        cable._section, cable._material = section, material
        cable._stretchers = [_point_of(entry) for entry in entries]
        AbstractConstraint.__init__(cable, cable._stretchers[0], cable._stretchers[-1], [], Softness(), name)
        cable._all_points = (*dict.fromkeys([*cable._stretchers, *around]),)
        cable._tables, cable._index = tables, 0
        cable._twists = bool(tables["cable_ints"][0, TWIST_ROW] >= 0)
        cable._number_tables(0, 0, 0, 0)
        for i, entry in enumerate(entries):
            if isinstance(entry, Sheave):
                entry._cable, entry._entry = cable, i
        return cable

    # ------------------------------------------------------------------------------------------------------ tables

    def _lay_tables(self) -> None:
        n = len(self._entries)
        room = n + sum(_ROOM[body.form["kind"]] for body in self._obstacles)
        ints = np.zeros((room, columns.ELEMENT_INTS), np.int64)
        floats = np.zeros((room, columns.ELEMENT_FLOATS))
        state = np.zeros((room, columns.ELEMENT_STATE))
        ints[:, OBSTACLE] = ints[:, columns.EDGE_NUMBER] = -1
        for i, entry in enumerate(self._entries):
            state[i, ON] = 1.0
            if isinstance(entry, Sheave):
                ints[i, KIND] = columns.SHEAVE
                ints[i, DIVIDES], ints[i, columns.ROTOR] = int(entry.divides), int(entry.turning)
                floats[i, columns.AXIS : columns.AXIS + 3] = entry._axis
                floats[i, columns.MARK : columns.MARK + 3] = entry._mark
                floats[i, columns.RADIUS], floats[i, columns.SENSE] = entry.radius, 1.0
                floats[i, columns.INERTIA], floats[i, columns.MU] = entry.inertia, entry.friction
        parts = 1 + int(ints[:n, DIVIDES].sum())
        rows = parts + int(self._twists)
        row_ints = np.zeros((rows, columns.CABLE_ROW_INTS), np.int64)
        row_ints[:, ROW_PART] = np.arange(rows)
        if self._twists:
            row_ints[-1, ROW_PART] = -1
        cable = np.zeros((1, columns.CABLE_INTS), np.int64)
        cable[0, [COUNT, columns.ROOM, PARTS, columns.OBSTACLES]] = n, room, parts, len(self._obstacles)
        cable[0, TWIST_ROW] = parts if self._twists else -1
        shapes = [(0, _SHAPES[body.form["kind"]]) for body in self._obstacles]
        sizes = [_sizes(body.form) for body in self._obstacles]
        self._tables: dict[str, Any] = {
            "cable_ints": cable,
            "cable_floats": np.zeros((1, columns.CABLE_FLOATS)),
            "ends": np.zeros((1, columns.CABLE_ENDS)),
            "cable_state": np.zeros((1, columns.CABLE_STATE)),
            "element_ints": ints,
            "element_floats": floats,
            "element_state": state,
            "element_place": np.zeros((room, columns.ELEMENT_PLACE)),
            "obstacle_ints": np.array(shapes, np.int64).reshape(-1, columns.OBSTACLE_INTS),
            "obstacle_floats": np.array(sizes, float).reshape(-1, columns.OBSTACLE_FLOATS),
            "row_ints": row_ints,
            "row_state": np.zeros((rows, columns.CABLE_ROW_STATE)),
        }
        self._index = 0
        self._number_points({id(point): i for i, point in enumerate(self._all_points)})

    def _number_points(self, numbers: dict[int, int]) -> None:
        """Tell elements and obstacles which points of the tables carry them."""
        t = self._tables
        t["obstacle_ints"][:, columns.OB_POINT] = [numbers[id(point)] for point in self._around]
        fixed = iter(self._stretchers)
        for e in range(int(t["cable_ints"][0, COUNT])):
            o = t["element_ints"][e, OBSTACLE]
            point = next(fixed) if o < 0 else self._around[o]
            t["element_ints"][e, CARRIER] = numbers[id(point)]

    def _number_tables(self, index: int, first: int, row0: int, obstacle0: int) -> None:
        """Where the cable's rows begin in common tables."""
        ints = self._tables["cable_ints"][0]
        ints[FIRST], ints[ROW0], ints[columns.OBSTACLE0] = first, row0, obstacle0
        ints[TWIST_ROW] = row0 + ints[PARTS] if self._twists else -1
        self._tables["row_ints"][:, ROW_CABLE] = index
        self._index = index

    def _leave_tables(self) -> None:
        """No scene holds it any more: it keeps its own numbers."""
        self._tables = {key: array.copy() for key, array in self._tables.items()}
        self._number_tables(0, 0, 0, 0)
        self._number_points({id(point): i for i, point in enumerate(self._all_points)})

    def _own_tables(self) -> tuple[Any, ...]:
        t = self._tables
        names = ("cable_ints", "element_ints", "element_floats", "element_state", "element_place")
        return tuple(t[name] for name in names)

    def _placed(self) -> FloatArray:
        return np.concatenate([point._placed() for point in self._all_points])

    def _first_path(self) -> None:
        """Find the way for the first time: sheaves, what it lies on, and where its twist is zero."""
        placed, tables = self._placed(), self._own_tables()
        for i, entry in enumerate(self._entries):
            if isinstance(entry, Sheave):
                _check_clear(entry, self._stretchers[i - 1], self._stretchers[i + 1])
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

    def _stiffen(
        self, way: float, length: float, stretch: float | None, twist: float | None, damping: float, turning: float
    ) -> None:
        """EA and GJ, and the times of the dampers, from what users gave."""
        f = self._tables["cable_floats"][0]
        c, k = validation.number("damping", damping, minimum=0.0), validation.number("twist_damping", turning, minimum=0.0)
        if self._section is not None or self._material is not None:
            if not isinstance(self._section, Section) or not isinstance(self._material, Material):
                raise InputError(
                    "a cable needs both a section and a material, or stretch_stiffness in place of them, got "
                    f"section={quoted(self._section)}, material={quoted(self._material)}"
                )
            if stretch is not None or twist is not None:
                given = stretch if stretch is not None else twist
                raise InputError(f"give section and material, or stiffnesses, not both, got a stiffness of {quoted(given)}")
            f[EA] = self._material.youngs_modulus * self._section.area
            f[GJ] = self._material.shear_modulus * self._section.J
            relaxation = self._material.relaxation_time
        else:
            if stretch is None:
                raise InputError("a cable needs section= and material=, or stretch_stiffness= (N/m), got neither")
            f[EA] = length * _stiffness("stretch_stiffness", stretch)
            f[GJ] = length * _stiffness("twist_stiffness", twist) if twist is not None else math.inf
            relaxation = 0.0
        f[columns.TAU] = relaxation + (c * length / f[EA] if c > 0.0 else 0.0)
        f[columns.TWIST_TAU] = relaxation + (k * length / f[GJ] if k > 0.0 else 0.0)

    def _check_inside(self) -> None:
        placed = self._placed()
        for o, body in enumerate(self._obstacles):
            for point in (self._stretchers[0], self._stretchers[-1]):
                if inside(o, self._tables["obstacle_ints"], self._tables["obstacle_floats"], placed, tuple(point.position)):
                    raise InputError(
                        f"{body.name}, which the cable may come to lie on, contains its end {point!r}: put the end on its "
                        "surface, or leave the body out of around="
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

    def _place(self) -> None:
        """Bring the path up to date with where things are now."""
        if self._scene is not None:
            self._scene._compiled().system.place_cables()
        else:
            place_path(0, *self._own_tables(), self._placed())

    def _element(self, entry: int) -> FloatArray:
        """The state of one of the entries that it was given."""
        count = int(self._tables["cable_ints"][0, COUNT])
        fixed = np.flatnonzero(self._tables["element_ints"][:count, OBSTACLE] < 0)
        return np.asarray(self._tables["element_state"][fixed[entry]])

    def _local(self) -> tuple[Any, ...]:
        """Its own tables, numbered from 0."""
        ints = self._tables["cable_ints"].copy()
        first = int(ints[0, FIRST])
        ints[0, [FIRST, ROW0, columns.OBSTACLE0]] = 0
        _, kinds, floats, state, place = self._own_tables()
        place = place.copy()
        place[:, columns.NEXT] -= np.where(place[:, columns.NEXT] >= 0.0, first, 0)
        return ints, kinds, floats, state, place

    def _part_length(self, d: int) -> float:
        ints, kinds, floats, state, place = self._local()
        return float(part_length(0, d, ints, kinds, floats, state, place))

    def _way(self) -> float:
        return sum(self._part_length(d) for d in range(int(self._tables["cable_ints"][0, PARTS])))

    @property
    def path_length(self) -> float:
        """Length of the way through its points, m."""
        self._place()
        return self._way()

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
                f"length must be between {f[columns.SHORTEST]:g} m, the shortest, and {f[columns.LONGEST]:g} m, all that "
                f"there is, got {quoted(value)}"
            )
        self._tables["cable_state"][0, ASKED] += wanted - self.length

    @property
    def elongation(self) -> float:
        """How far it is stretched, m; 0 when slack."""
        return max(self.path_length - self.length, 0.0)

    def _span_tensions(self) -> FloatArray:
        """Tension of the span that leaves each element, and at last that of the last part."""
        count = int(self._tables["cable_ints"][0, COUNT])
        part = np.cumsum(self._tables["element_ints"][:count, DIVIDES])
        return np.asarray(self._tables["row_state"][part, TENSION])

    @property
    def tension(self) -> float:
        """Pull at its first point, N; 0 when slack."""
        return float(self._tables["row_state"][0, TENSION])

    @property
    def tensions(self) -> FloatArray:
        """Pull of the span after each entry of its list but the last: (entries − 1,), N."""
        count = int(self._tables["cable_ints"][0, COUNT])
        fixed = self._tables["element_ints"][:count, OBSTACLE] < 0
        return self._span_tensions()[fixed][:-1]

    @property
    def torque(self) -> float:  # type: ignore[override]
        """What its twist turns its last point with, about the cable's direction there, is minus this, N·m."""
        return float(self._tables["row_state"][-1, TENSION]) if self._twists else 0.0

    @property
    def twist(self) -> float:
        """Angle by which it is twisted, last end against first, rad, with whole turns; 0 when it was made."""
        if not self._twists:
            return 0.0
        self._place()
        return float(self._tables["row_state"][-1, TRIAL] if self._scene is not None else 0.0)

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
        return self._wrenches()[:, :3]

    @property
    def force(self) -> FloatArray:
        """What it applies to its first point: (3,), N, world frame."""
        return self.forces[0]

    def _wrenches(self) -> FloatArray:
        """Force and moment of its pull on each entry's point: (entries, 6)."""
        self._place()
        t = self._tables
        count = int(t["cable_ints"][0, COUNT])
        place, state = t["element_place"][:count], t["element_state"][:count]
        leaving = self._span_tensions()
        arriving = np.concatenate(([0.0], leaving[:-1]))
        part = np.cumsum(t["element_ints"][:count, DIVIDES])
        arriving[1:] = t["row_state"][part[1:] - t["element_ints"][1:count, DIVIDES], TENSION]
        total = -arriving[:, None] * place[:, W_IN : W_IN + 6] - leaving[:, None] * place[:, W_OUT : W_OUT + 6]
        fixed = t["element_ints"][:count, OBSTACLE] < 0
        return np.asarray((total * state[:, ON : ON + 1])[fixed])

    @property
    def violation(self) -> FloatArray:
        """Elongation of each part, m, negative when slack, and the twist, rad."""
        self._place()
        return np.array(self._tables["row_state"][:, TRIAL])

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

    def path(self, points_per_span: int = 33) -> FloatArray:
        """Where it runs now, for pictures: (n, 3), m. A slack cable sags, with its true length."""
        count = validation.count("points_per_span", points_per_span, 2)
        self._place()
        gravity = self._scene.gravity if self._scene is not None else np.array((0.0, 0.0, -9.81))
        slack = 0.0 if not self.slack else max(self.length - self._way(), 0.0)
        return drawing.polyline(self._local(), slack, gravity, count)

    # ------------------------------------------------------------------------------------------------------- winch

    def drive(self, speed: float, slip: float = 0.0, max_pull: float | None = None) -> None:
        """Let the winch run: `speed` is dL/dt, m/s, negative to haul in.

        `slip`, m/s per N: the length changes by speed + slip · tension. `max_pull`, N: it gives way at more.
        """
        rate = validation.number("speed", speed)
        give = validation.number("slip", slip, minimum=0.0)
        pull = _or_infinite("max_pull", max_pull)
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

    def _state_arrays(self) -> dict[str, Any]:
        """The arrays that hold its part of a scene's state."""
        t = self._tables
        names = ("cable_floats", "cable_state", "element_floats", "element_state", "element_place", "row_state", "ends")
        arrays: dict[str, Any] = {name: t[name] for name in names}
        arrays["count"] = t["cable_ints"][:, COUNT : COUNT + 1]
        arrays["kinds"], arrays["marks"] = t["element_ints"][:, KIND : KIND + 1], t["element_ints"][:, OBSTACLE:]
        return arrays


def _checked_entries(points: object) -> list[Point | Sheave]:
    if not isinstance(points, Iterable) or isinstance(points, str):
        raise InputError(f"points must be a list of points and sheaves, got {quoted(points)}")
    entries: list[Any] = list(points)
    if len(entries) < 2:
        raise InputError(f"a cable needs two points or more, got {len(entries)}: {quoted(entries)}")
    for i, entry in enumerate(entries):
        if not isinstance(entry, Point | Sheave):
            raise InputError(f"points[{i}] must be a point or a Sheave, got {quoted(entry)}")
        if isinstance(entry, Sheave) and i in (0, len(entries) - 1):
            raise InputError(f"a cable begins and ends at a point, got {entry!r} as points[{i}]: put a point there")
        if isinstance(entry, Sheave) and (entry._cable is not None or entry in entries[:i]):
            raise InputError(f"{entry!r} is an entry of a cable already: make another one for points[{i}]")
    for i, (a, b) in enumerate(zip(entries[:-1], entries[1:], strict=True)):
        if isinstance(a, Point) and isinstance(b, Point):
            gap = float(np.linalg.norm(a.position - b.position))
            if gap < 1e-9:
                place = np.round(a.position, 6).tolist()
                raise InputError(f"points[{i}] and points[{i + 1}] are at the same place, {place}: leave one out")
    return entries


def _checked_obstacles(around: object) -> list[RigidBody]:
    if not isinstance(around, Iterable):
        raise InputError(f"around must be a list of rigid bodies, got {quoted(around)}")
    bodies: list[Any] = list(around)
    for body in bodies:
        if not isinstance(body, RigidBody) or body.form["kind"] not in _SHAPES:
            raise InputError(f"around takes rigid boxes, cylinders and spheres, got {quoted(body)}")
    return bodies


def _check_clear(sheave: Sheave, before: Point, after: Point) -> None:
    axis = sheave.point.frame @ sheave._axis
    for point in (before, after):
        gap = point.position - sheave.point.position
        off = float(np.linalg.norm(gap - (gap @ axis) * axis))
        if off <= sheave.radius and point is not sheave.point:
            raise InputError(
                f"{point!r} lies within the radius of {sheave!r}, {off:g} m from its axis: a cable cannot reach it there"
            )


def _point_of(entry: Point | Sheave) -> Point:
    return entry.point if isinstance(entry, Sheave) else entry


def _sizes(form: dict[str, Any]) -> tuple[float, float, float]:
    if form["kind"] == "box":
        x, y, z = form["size"]
        return 0.5 * x, 0.5 * y, 0.5 * z
    return form["radius"], 0.5 * form.get("length", 0.0), 0.0


def _stiffness(name: str, value: object) -> float:
    return math.inf if value == math.inf else validation.number(name, value, positive=True)


def _or_infinite(name: str, value: object) -> float:
    return math.inf if value is None else validation.number(name, value, positive=True)

