"""What a cable runs through: points and sheaves in order, and the bodies that it may come to lie on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.point.point import Point
from sennit.bodies.point.table import Places
from sennit.bodies.rigid.body import RigidBody
from sennit.constraints.cable.kernels.kinds import CYLINDER, EDGE, END, SHEAVE, SPHERE
from sennit.constraints.cable.kernels.path import place_path, start_sheave
from sennit.constraints.cable.kernels.twist import spans_of_twist, twist_of
from sennit.constraints.cable.kernels.wrap import inside, update_wraps
from sennit.constraints.cable.sheave import Sheave
from sennit.constraints.cable.table import CableRows, Cables, CableTables, Elements, Obstacles
from sennit.constraints.constraint import across, in_frame
from sennit.constraints.join import Distance
from sennit.errors import InputError
from sennit.validation import FloatArray, quoted

__all__ = ["Course"]

_SHAPES = {"box": EDGE, "cylinder": CYLINDER, "sphere": SPHERE}
_ROOM = {"box": 16, "cylinder": 2, "sphere": 2}
"""Places that a cable may bend at on one body."""
_STOP = 1e-2
"""Distance at which a stop acts, over the mean span, or beyond the sheaves' radii over these."""
_MOST_STOPS = 64
"""Entries of a cable up to which it has stops."""


class Course:
    """Entries of a cable in order, bodies that it may come to lie on, and the points of these: nothing is changed."""

    def __init__(
        self,
        entries: Sequence[Point | Sheave],
        obstacles: Sequence[RigidBody],
        around: Sequence[Point],
        friction: Sequence[float],
        eyelets: Sequence[float] = (),
    ) -> None:
        self.entries, self.obstacles, self.around = list(entries), list(obstacles), list(around)
        self.friction = list(friction)
        """Coulomb's coefficients of the bodies, as the cable was made or read."""
        self.eyelets = [i for i, e in enumerate(entries) if isinstance(e, Point) and 0 < i < len(entries) - 1]
        """Entries that it slides through without a sheave."""
        self.rubbing = dict(zip(self.eyelets, eyelets or [0.0] * len(self.eyelets), strict=True))
        """Coulomb's coefficients there, as the cable was made or read."""
        self.carriers = [_point_of(entry) for entry in entries]
        """Points of the entries."""
        self.points = (*dict.fromkeys([*self.carriers, *self.around]),)
        """All points, each once."""

    @classmethod
    def checked(cls, points: object, around: object, friction: object, eyelets: ArrayLike) -> Course:
        """What users gave as points of a cable, as bodies that it may lie on, as friction of these, and at points."""
        entries, (obstacles, held) = _checked_entries(points), _checked_obstacles(around, friction)
        made = cls(entries, obstacles, [body.at() for body in obstacles], held)
        return cls(entries, obstacles, made.around, held, made.checked_eyelets(eyelets).tolist())

    @property
    def sheaves(self) -> list[tuple[int, Sheave]]:
        """The entries that are sheaves, with their numbers."""
        return [(i, entry) for i, entry in enumerate(self.entries) if isinstance(entry, Sheave)]

    # ------------------------------------------------------------------------------------------------------ tables

    def tables(self, twists: bool) -> CableTables:
        """The tables of a cable that runs here, numbered from 0, before its path is known."""
        n = len(self.entries)
        elements = Elements(rows=n + sum(_ROOM[body.form["kind"]] for body in self.obstacles))
        elements.obstacle[:] = elements.edge[:] = -1
        elements.on[:n] = 1
        for i, sheave in self.sheaves:
            elements.kind[i] = SHEAVE
            elements.divides[i], elements.rotor[i] = int(sheave.divides), int(sheave.turning)
            elements.axis[i], elements.mark[i] = sheave._axis, sheave._mark
            elements.radius[i], elements.sense[i] = sheave.radius, 1.0
            elements.inertia[i], elements.friction[i] = sheave.inertia, sheave.friction
        for i, friction in self.rubbing.items():
            elements.divides[i], elements.friction[i] = int(friction > 0.0), friction
        parts = 1 + int(elements.divides.sum())
        rubbing = zip(self.obstacles, self.friction, strict=True)
        room = parts + sum(_ROOM[body.form["kind"]] for body, friction in rubbing if friction > 0.0)
        rows = CableRows(rows=room + int(twists))
        rows.part_number[:] = np.arange(len(rows))
        rows.side[:room] = -1
        rows.paid[:] = math.inf
        if twists:
            rows.part_number[-1] = -1
        cables = Cables(rows=1)
        cables.count[0], cables.room[0] = n, len(elements)
        cables.parts[0], cables.row_room[0], cables.obstacles[0] = parts, room, len(self.obstacles)
        cables.twist_row[0] = room if twists else -1
        obstacles = Obstacles(rows=len(self.obstacles))
        for o, body in enumerate(self.obstacles):
            obstacles.shape[o], obstacles.size[o] = _SHAPES[body.form["kind"]], _sizes(body.form)
        obstacles.friction[:] = self.friction
        return CableTables(cables, elements, obstacles, rows)

    def carriers_of(self, tables: CableTables) -> list[Point]:
        """The points that carry the elements of a cable."""
        given = iter(self.carriers)
        return [next(given) if o < 0 else self.around[o] for o in tables.elements.obstacle[: tables.count]]

    def number(self, tables: CableTables, numbers: dict[int, int] | None = None) -> None:
        """Tell elements and obstacles the numbers of their points, by id; those of `points` if left out.

        And count the parts: elements are as they were put back.
        """
        found = numbers if numbers is not None else {id(point): i for i, point in enumerate(self.points)}
        tables.obstacles.point[:] = [found[id(point)] for point in self.around]
        tables.elements.carrier[: tables.count] = [found[id(point)] for point in self.carriers_of(tables)]
        tables.cables.parts[0] = 1 + tables.elements.divides[: tables.count].sum()

    # -------------------------------------------------------------------------------------- for files, see `storage`

    def describe(self, out: Any) -> dict[str, Any]:
        """What a file's description has of it."""
        entries: list[dict[str, Any]] = [{"point": out.point(point)} for point in self.carriers]
        for i, sheave in self.sheaves:
            entries[i]["sheave"] = sheave._describe()
        for i, friction in self.rubbing.items():
            entries[i] |= {"friction": friction} if friction > 0.0 else {}
        return {
            "entries": entries,
            "around": [out.body(body) for body in self.obstacles],
            "around_points": [out.point(point) for point in self.around],
        }

    @classmethod
    def rebuilt(cls, entry: dict[str, Any], read: Any) -> Course:
        """The course that a file's entry describes."""
        entries: list[Point | Sheave] = []
        for given in entry["entries"]:
            point, wheel = read.point(given["point"]), given.get("sheave")
            entries.append(point if wheel is None else Sheave._rebuilt(point, wheel))
        obstacles = [read.body(number, RigidBody) for number in entry["around"]]
        around = [read.point(point) for point in entry["around_points"]]
        if [point.body for point in around] != obstacles:
            raise ValueError("a cable runs around other bodies")
        if not all(body.form["kind"] in _SHAPES for body in obstacles):
            raise ValueError("a cable runs around something that it can't")
        friction = [validation.number("around_friction", mu, minimum=0.0) for mu in entry.get("around_friction", ())]
        friction = friction or [0.0] * len(obstacles)  # older files have none
        if len(friction) != len(obstacles):
            raise ValueError("a cable rubs on other bodies")
        if len(entries) < 2 or isinstance(entries[0], Sheave) or isinstance(entries[-1], Sheave):
            raise ValueError("a cable has no ends")
        made = cls(entries, obstacles, around, friction)
        told = [entry["entries"][i].get("friction", 0.0) for i in made.eyelets]
        return cls(entries, obstacles, around, friction, made.checked_eyelets(told or 0.0).tolist())

    def check(self, tables: CableTables) -> None:
        """Raise `ValueError` if tables from a file can't be those of a cable that runs here."""
        elements, count = tables.elements, tables.count
        ranges = (
            (count, len(self.entries), len(elements)), (elements.kind, END, SPHERE), (elements.edge, -1, 11),
            (elements.obstacle[: max(count, 0)], -1, len(self.obstacles) - 1), (elements.divides, 0, 1),
            (elements.rotor, 0, 1), (elements.on, 0, 1), (elements.grip, -1, 1), (tables.rows.side, -1, 1),
            (elements.friction, 0.0, math.inf), (tables.obstacles.friction, 0.0, np.finfo(float).max),
        )  # fmt: skip
        if any(
            np.size(values) and not (low <= np.min(values) and np.max(values) <= high) for values, low, high in ranges
        ):
            raise ValueError("a cable has other elements")
        on_body = np.flatnonzero(elements.obstacle[:count] >= 0)
        rubbing = np.array(self.friction) > 0.0
        rubs = np.append(rubbing, False)[elements.obstacle[on_body]]
        if (elements.divides[on_body] != rubs).any() or ((tables.obstacles.friction > 0.0) != rubbing).any():
            raise ValueError("a cable rubs on other bodies")
        own = np.flatnonzero(elements.obstacle[:count] < 0)
        if len(own) != len(self.entries):
            raise ValueError("a cable has other entries")
        for i, (e, entry) in enumerate(zip(own, self.entries, strict=True)):
            if (elements.kind[e] == SHEAVE) != isinstance(entry, Sheave):
                raise ValueError("a cable has other sheaves")
            divides = entry.divides if isinstance(entry, Sheave) else self.rubbing.get(i, 0.0) > 0.0
            if bool(elements.divides[e]) != divides:
                raise ValueError("a cable has other sheaves or eyelets")
            if i in self.rubbing and not (elements.friction[e] < math.inf and (elements.friction[e] > 0.0) == divides):
                raise ValueError("a cable rubs at other eyelets")

    def checked_friction(self, value: ArrayLike, now: Sequence[float], name: str) -> FloatArray:
        """Other coefficients for the bodies of the cable called `name`, which has those of `now`: above 0 where they
        are, and nowhere else, since what rubs divides the cable.
        """
        told = validation.array("friction", value, (), (len(now),))
        if (told < 0.0).any():
            raise InputError(f"friction must not be negative, got {quoted(value)}")
        if not len(now) and told.any():
            raise InputError(f"{name} was made without bodies in around=, and has nothing to rub on")
        given = np.broadcast_to(told, (len(now),))
        for body, mu, old in zip(self.obstacles, given.tolist(), now, strict=True):
            if mu > 0.0 and old == 0.0:
                raise InputError(
                    f"friction of {name} on {body.name} can't be set to {mu:g}: it was made without. Make it with a "
                    f"little (1e-6, say), which can be changed then"
                )
            if mu == 0.0 and old > 0.0:
                raise InputError(
                    f"friction of {name} on {body.name}, made with some, must stay above 0: set a little, 1e-6"
                )
        return given

    def checked_eyelets(self, value: ArrayLike, now: Sequence[float] | None = None, name: str = "") -> FloatArray:
        """Coefficients for the points that the cable slides through: one for all, or one for each (number of these,).

        `now`: those that the cable called `name` has already; above 0 where they are, and nowhere else.
        """
        shapes = ((), (len(self.eyelets),)) if self.eyelets else ((),)
        told = validation.array("eyelet_friction", value, *shapes)
        if (told < 0.0).any():
            raise InputError(f"eyelet_friction must not be negative, got {quoted(value)}")
        if told.any() and not self.eyelets:
            raise InputError(
                f"eyelet_friction is for points between the ends of a cable, of which it has none; got {quoted(value)}"
            )
        given = np.broadcast_to(told, (len(self.eyelets),))
        for i, mu, old in zip(self.eyelets, given.tolist(), given.tolist() if now is None else now, strict=True):
            if (mu > 0.0) != (old > 0.0):
                raise InputError(
                    f"eyelet_friction of {name} at its entry {i}, made with{'' if old > 0.0 else 'out any'}, can't "
                    f"become {mu:g}: "
                    + ("it must stay above 0, set a little, 1e-6" if old > 0.0 else "make it with a little, 1e-6")
                )
        return given

    def placed(self) -> Places:
        """Where its points are now, as kernels take them."""
        return Places.joined(point._placed() for point in self.points)

    def start(self, tables: CableTables) -> None:
        """Find the way for the first time: sheaves, what the cable lies on, and where its twist is zero."""
        cables, elements, placed = tables.cables, tables.elements, self.placed()
        for i, sheave in self.sheaves:
            sheave._check_clear(self.carriers[i - 1], self.carriers[i + 1])
            following = self.entries[i + 1]
            if isinstance(following, Sheave):
                sheave._check_apart(following)
        for i, sheave in self.sheaves:
            start_sheave(0, i, sheave._turns, cables, elements, placed)
        place_path(0, cables, elements, placed)
        if self.obstacles:
            self._check_inside(tables, placed)
            update_wraps(0, cables, elements, tables.obstacles, placed)
            place_path(0, cables, elements, placed)
            cables.parts[0] = 1 + elements.divides[: tables.count].sum()
        if tables.twists:
            last = tables.count - 1
            before = max(e for e in range(last) if elements.on[e] == 1)
            cables.first_direction[0] = in_frame(self.carriers[0], elements.along[0])
            cables.last_direction[0] = in_frame(self.carriers[-1], elements.along[before])
            cables.first_director[0] = across(cables.first_direction[0])[0]
            cables.last_director[0] = across(cables.last_direction[0])[0]
            cables.twist_angle[0] = twist_of(0, cables, elements, placed)
            cables.measured_along[0] = spans_of_twist(0, cables, elements)

    def _check_inside(self, tables: CableTables, placed: Places) -> None:
        for o, body in enumerate(self.obstacles):
            for point in (self.carriers[0], self.carriers[-1]):
                if inside(o, tables.obstacles, placed, tuple(point.position)):
                    raise InputError(
                        f"{body.name}, which the cable may come to lie on, contains its end {point!r}: put the end on "
                        "its surface, or leave the body out of around="
                    )

    # ------------------------------------------------------------------------------------------------------- bodies

    def mass_sharers(self) -> list[Point]:
        """Points of bodies that it pulls on, those between its ends twice."""
        inner = self.carriers[1:-1]
        both = [self.carriers[0], *inner, *inner, self.carriers[-1], *self.around]
        return [point for point in both if point.body is not None]

    def stops(self, length: float, name: str) -> list[Distance]:
        """What keeps a body that slides on a cable of `length` (m) off the next entry, and a load off its sheave."""
        least = _STOP * length / (len(self.entries) - 1)
        stops = []
        pairs = list(zip(self.entries[:-1], self.entries[1:], strict=True))
        for a, b in pairs if 2 < len(self.entries) <= _MOST_STOPS else ():
            p, q = _point_of(a), _point_of(b)
            radii = [entry.radius for entry in (a, b) if isinstance(entry, Sheave)]
            apart = float(np.linalg.norm(p.position - q.position))
            if (p.body is not None or q.body is not None) and p.body is not q.body:
                gap = min((1.0 + _STOP) * sum(radii), 0.999 * apart) if radii else min(least, 0.9 * apart)
                stops.append(Distance(p, q, gap, "at_least", name=name))
        return stops


def _checked_entries(points: object) -> list[Point | Sheave]:
    entries = validation.listed("points", points, (Point, Sheave), "points and sheaves")
    if len(entries) < 2:
        raise InputError(f"a cable needs two points or more, got {len(entries)}: {quoted(entries)}")
    for i, entry in enumerate(entries):
        if isinstance(entry, Sheave) and i in (0, len(entries) - 1):
            which = "first" if i == 0 else "last"
            raise InputError(f"the {which} entry of a cable must be a point, got {entry!r} as points[{i}]")
        if isinstance(entry, Sheave) and (entry._cable is not None or entry in entries[:i]):
            raise InputError(f"{entry!r} is an entry of a cable already: make another one for points[{i}]")
    for i, (a, b) in enumerate(zip(entries[:-1], entries[1:], strict=True)):
        if isinstance(a, Point) and isinstance(b, Point):
            gap = float(np.linalg.norm(a.position - b.position))
            if gap < 1e-9:
                place = np.round(a.position, 6).tolist()
                raise InputError(f"points[{i}] and points[{i + 1}] are at the same place, {place}: leave one out")
    return entries


def _checked_obstacles(around: object, friction: object) -> tuple[list[RigidBody], list[float]]:
    """The bodies, and the friction of each: its own, or that of all."""
    usual = validation.number("friction", friction, minimum=0.0)
    what = "rigid boxes, cylinders and spheres, or pairs (body, friction)"
    bodies, held = [], []
    for entry in validation.listed("around", around, (RigidBody, tuple), what):
        if isinstance(entry, tuple) and (len(entry) != 2 or not isinstance(entry[0], RigidBody)):
            raise InputError(f"around must be a list of {what}, got {quoted(entry)} in it")
        body, mu = entry if isinstance(entry, tuple) else (entry, usual)
        if body.form["kind"] not in _SHAPES:
            raise InputError(f"around takes {what}, got {quoted(body)}")
        bodies.append(body)
        held.append(validation.number(f"friction of {body.name} in around", mu, minimum=0.0))
    return bodies, held


def _point_of(entry: Point | Sheave) -> Point:
    """The point of an entry: a sheave's is its centre."""
    return entry.point if isinstance(entry, Sheave) else entry


def _sizes(form: dict[str, Any]) -> tuple[float, float, float]:
    if form["kind"] == "box":
        x, y, z = form["size"]
        return 0.5 * x, 0.5 * y, 0.5 * z
    return form["radius"], 0.5 * form.get("length", 0.0), 0.0
