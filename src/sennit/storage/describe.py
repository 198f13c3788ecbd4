"""How things describe themselves in a file: what they write with, and what they are made again from.

Every class of bodies and constraints says in ``_describe(out)`` what a file keeps of it, and is made again by its
``_rebuilt(entry, read)``; most constraints need no more than a line, ``_kept``. A thing's state is kept apart, by the
names of its fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from sennit import validation
from sennit.bodies.body import AbstractBody
from sennit.bodies.point.point import Point
from sennit.bodies.world import WorldPoint
from sennit.constraints import join, joint, place, slide  # noqa: F401
from sennit.constraints import nest as _nest  # noqa: F401
from sennit.constraints.cable import cable as _cable  # noqa: F401
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.needle import needle as _needle  # noqa: F401
from sennit.contact.obstacle import Obstacle
from sennit.errors import InputError
from sennit.material import Material, Section
from sennit.storage.file import checked, within
from sennit.tables import Table
from sennit.validation import FloatArray, quoted

__all__ = ["Reader", "Writer", "described", "fill_state", "rebuilt"]

_SECTION = ("area", "I1", "I2", "J", "shear1", "shear2")
_MATERIAL = ("youngs_modulus", "poisson_ratio", "density", "relaxation_time", "shear_modulus")
_SEEN = ("look", "colour")
_LAWS = {"prony": (), "yield_stress": None, "hardening": 0.0, "superelastic": None}
"""What a material may have besides, and has not as a rule."""
AnyTable = TypeVar("AnyTable", bound=Table)


class Writer:
    """What things put their description into: texts and numbers that JSON can hold are returned, arrays kept."""

    def __init__(self, bodies: Sequence[AbstractBody], arrays: dict[str, Any]) -> None:
        self._numbers = {id(body): i for i, body in enumerate(bodies)}
        self._points: dict[int, int] = {}
        self._arrays = arrays
        self.prefix = ""
        """Where the arrays of the thing stand that is described now."""

    def array(self, name: str, array: Any) -> None:
        """Keep an array."""
        self._arrays[f"{self.prefix}/{name}"] = np.asarray(array)

    def table(self, name: str, table: Table, fields: Iterable[str] | None = None) -> None:
        """Keep the fields of a table: some, or all."""
        for field in table.fields() if fields is None else fields:
            self.array(f"{name}.{field}", getattr(table, field))

    def body(self, body: AbstractBody) -> int:
        """The number of a body."""
        return self._numbers[id(body)]

    def point(self, point: Point) -> dict[str, Any]:
        """A point, which several constraints and loads may share."""
        entry: dict[str, Any] = {"id": self._points.setdefault(id(point), len(self._points))}
        if point.body is not None:
            entry["body"] = self.body(point.body)
        return entry | point._describe()

    @staticmethod
    def section(section: Section) -> dict[str, Any]:
        """A section's numbers."""
        numbers = {name: getattr(section, name) for name in _SECTION}
        return {"kind": section.kind, "dimensions": section.dimensions, **numbers}

    @staticmethod
    def material(material: Material) -> dict[str, Any]:
        """A material's numbers; its look and colour, and laws that are not elastic, if it was given any."""
        given = {name: value for name in _SEEN if (value := getattr(material, name)) is not None}
        given |= {name: value for name, none in _LAWS.items() if (value := getattr(material, name)) != none}
        return {name: getattr(material, name) for name in _MATERIAL} | given


class Reader:
    """What things are made again from: everything that is asked for is checked."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self._arrays = arrays
        self.bodies: list[Any] = []
        """Those that were made already."""
        self._points: dict[int, Point] = {}
        self._cuts: dict[int, int] = {}
        self.prefix = ""
        """Where the arrays of the thing stand that is made now."""

    def has(self, name: str) -> bool:
        """Whether there is an array of this name."""
        return f"{self.prefix}/{name}" in self._arrays

    def raw(self, name: str) -> Any:
        """An array as the file holds it, for functions that check it themselves."""
        return self._arrays[f"{self.prefix}/{name}"]

    def array(self, name: str, shape: tuple[int | None, ...], kind: str = "f", infinite: bool = False) -> Any:
        """An array of float64 ("f") or int64 ("i"), finite unless it may be `infinite`."""
        return checked(name, self.raw(name), shape, kind, infinite=infinite)

    def table(
        self, name: str, kind: type[AnyTable], rows: int | None, fields: Iterable[str] | None = None,
        infinite: Iterable[str] = (),
    ) -> AnyTable:  # fmt: skip
        """A table of `rows` rows (None: as many as its first field has) with the fields that a file has of it."""
        names = list(kind._fields if fields is None else fields)
        if rows is None:
            rows = len(np.atleast_1d(self.raw(f"{name}.{names[0]}")))
        table = kind(rows=rows)
        for field in names:
            target = getattr(table, field)
            full = f"{name}.{field}"
            target[...] = checked(full, self.raw(full), target.shape, target.dtype.kind, infinite=field in infinite)
        return table

    def cut(self, number: int, fresh: int) -> int:
        """The number here of a cut that the file gives a number: 0 for 0, `fresh` when it is first met."""
        return self._cuts.setdefault(number, fresh) if number else 0

    def body(self, number: Any, kind: type | None = None) -> Any:
        """The body of a number, of a class."""
        if type(number) is not int or not 0 <= number < len(self.bodies):
            raise ValueError("it names a body that there is not")
        body = self.bodies[number]
        if kind is not None and not isinstance(body, kind):
            raise ValueError(f"a {type(body).__name__} stands where a {kind.__name__} belongs")
        return body

    def point(self, entry: dict[str, Any]) -> Point:
        """A point; the same one for the same entry."""
        if entry["id"] not in self._points:
            made = self.body(entry["body"])._point_from(entry) if "body" in entry else WorldPoint((0.0, 0.0, 0.0))
            self._points[entry["id"]] = made
        return self._points[entry["id"]]

    @staticmethod
    def section(entry: dict[str, Any]) -> Section:
        """A section."""
        count = {"circle": 1, "rectangle": 2, "tube": 2, "custom": 0}[entry["kind"]]
        dimensions = validation.array("dimensions", entry["dimensions"], (count,)).tolist()
        return Section._make(entry["kind"], tuple(dimensions), **{name: entry[name] for name in _SECTION})

    @staticmethod
    def material(entry: dict[str, Any]) -> Material:
        """A material."""
        return Material(**entry)

    # ------------------------------------------------------------------------------- values of `_kept`, by their kind

    def kept(self, entry: dict[str, Any], name: str, what: str, rows: int) -> Any:
        """The attribute `name` of a constraint with so many rows."""
        if what == "row":
            value = entry[name]
            if type(value) is not int or not -1 <= value < rows:
                raise ValueError(f"{name} names no row")
            return value
        if what == "number":
            return validation.number(name, entry[name])
        if what in ("direction", "directions"):
            return self.array(name, (3,) if what == "direction" else (2, 3))
        if what == "slider":
            return self.body(entry[name], AbstractBody._kinds["Slider"])
        raise ValueError(f"{name} is of no known kind")


def _put(out: Writer, name: str, what: str, value: Any) -> dict[str, Any]:
    if what == "slider":
        return {name: out.body(value)}
    if what in ("direction", "directions"):
        out.array(name, value)
        return {}
    return {name: value}


def described(thing: Any, out: Writer, prefix: str) -> dict[str, Any]:
    """A body, a constraint or an obstacle as an entry of a file's description; its arrays go to `out`."""
    out.prefix = prefix
    entry: dict[str, Any] = {"kind": type(thing).__name__, "name": thing._name}
    if type(thing)._kinds.get(entry["kind"]) is not type(thing):
        raise InputError(f"{thing.name} cannot be saved, since its class is not one of sennit's: remove it first")
    for name, what in thing._kept.items():
        entry |= _put(out, name, what, getattr(thing, name))
    own: dict[str, Any] = thing._describe(out)
    return entry | own


def rebuilt(
    base: type[AbstractBody] | type[AbstractConstraint] | type[Obstacle], entry: dict[str, Any], read: Reader,
    prefix: str,
) -> Any:  # fmt: skip
    """The body, constraint or obstacle that an entry describes."""
    read.prefix = prefix
    if entry["kind"] not in base._kinds:
        import sennit.bodies.zone.zone  # noqa: F401  the only kind that is not there yet: it takes long to import
    kind = base._kinds.get(entry["kind"])
    if kind is None:
        raise InputError(f"the file holds a {base.__name__} of an unknown kind, {quoted(entry['kind'])}")
    return kind._rebuilt(entry, read)


def fill_state(thing: Any, given: dict[str, Any]) -> None:
    """Put a thing's state, its fields by name, into its tables, if they fit; raises `ValueError` if not."""
    for name, array in thing._state_arrays().items():
        value: FloatArray = checked(
            name, given[name], array.shape, array.dtype.kind, infinite=thing._may_be_infinite(name)
        )
        if array.dtype.kind == "i" and name.rpartition(".")[2] in _SWITCHES:
            within(name, value, 0, 1)
        array[...] = value
    thing._check_state()


_SWITCHES = frozenset(
    {"enabled", "acted", "follows", "attached", "acts", "backward", "broken", "limit", "adrift", "on"}
)
"""Fields that are 0 or 1."""
