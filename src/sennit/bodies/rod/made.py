"""What a rod is made of: one section and material, or numbers that change along it.

What varies is kept as numbers at the places where the tables need them (`places`), so that functions are asked once,
when they are given, and copies, files and pieces of a rod need none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sennit import validation
from sennit.bodies.making import FunctionOfS, as_pieces, check_positive, materials_at, property_at, sections_at
from sennit.bodies.rod.branches.along import FIBRES, check_fibres, check_laws, fibres_of, laws_of
from sennit.bodies.rod.places import Places
from sennit.errors import InputError
from sennit.material import Material, Properties, Section
from sennit.validation import FloatArray, quoted

__all__ = [
    "NUMBERS", "AddedMass", "Materials", "Numbers", "RodMatter", "Sections", "as_materials", "as_properties",
    "as_sections", "check_numbers", "described_matter", "matter_of_piece", "pieces_along", "read_matter", "stuff_of",
]  # fmt: skip

NUMBERS = ("EA", "EI1", "EI2", "GJ", "relaxation time", "mass per length", "inertia of roll per length", "radius")
"""Columns of `Numbers.values`: N, N·m² (3), s, kg/m, kg·m, m."""
_STUFF = "youngs_modulus", "shear_modulus", "density", "relaxation_time"


@dataclass(frozen=True, eq=False)
class Sections:
    """Sections along a rod, as it keeps them: numbers at its places; see `Rod.section`."""

    s: FloatArray
    """Rest lengths (k,), m, at which they are known."""
    values: FloatArray
    """(k, 7): area (m²), I1, I2, J (m⁴), half widths along d1 and d2, radius (m)."""
    kind: str
    """``"rectangle"`` if all are rectangles, else ``"along"``."""
    fibres: FloatArray = field(default_factory=lambda: np.zeros((1, FIBRES)))
    """What their fibres follow from (`branches.along`): (k, 3), or in one row for all."""

    @property
    def radius(self) -> float:
        """The largest, m."""
        return float(self.values[:, 6].max())


@dataclass(frozen=True, eq=False)
class Materials:
    """Materials along a rod, as it keeps them: numbers at its places; see `Rod.material`."""

    s: FloatArray
    """Rest lengths (k,), m, at which they are known."""
    values: FloatArray
    """(k, 4): E, G (Pa), density (kg/m³), relaxation time (s)."""
    first: Material
    """That of the rod's start, for pictures."""
    laws: FloatArray | None = None
    """How they yield, creep or transform (`branches.along`): (k, m); None: all are elastic."""

    @property
    def look(self) -> Any:
        """How they are drawn: as the first of them."""
        return self.first.look

    @property
    def colour(self) -> Any:
        """The colour of the first of them."""
        return self.first.colour


@dataclass(frozen=True, eq=False)
class Numbers:
    """What tables need: `NUMBERS` at the rod's places (k, 8), or in one row for the whole of it."""

    values: FloatArray
    slipping: FloatArray | None = None
    """Of strands that stick, with EI1 and EI2: EI when they slip, N·m², and the moment from which they do, N·m, in as
    many rows as `values`.
    """

    @property
    def uniform(self) -> bool:
        """Whether the rod is the same all along."""
        return len(self.values) == 1


@dataclass(frozen=True)
class AddedMass:
    """A mass on a rod: see `Rod.add_mass`."""

    at: float
    """Rest length of its middle, m."""
    mass: float
    """Its mass, kg."""
    length: float
    """How much of the rod it is spread over, m."""
    radius: float
    """Of a solid cylinder with its inertia of roll, m."""


@dataclass(frozen=True, eq=False)
class RodMatter:
    """Section, material or properties, the strains that cost no force, and masses that were added."""

    section: Section | Sections | None
    """Its cross-section; None where numbers were given."""
    material: Material | Materials | None
    """What it is made of; None where numbers were given."""
    rest: FloatArray
    """κ̂1, κ̂2, τ̂ at the places that have strains of their own: (k, 3), 1/m."""
    properties: Numbers | None = None
    """The numbers that were given in place of section and material."""
    added: tuple[AddedMass, ...] = field(default=())
    """Masses that were added."""
    annealed: bool = False
    """Whether nothing has flowed in its branches where it begins to be this."""

    @property
    def numbers(self) -> Numbers:
        """What tables need of it."""
        if self.properties is not None:
            return self.properties
        A, I1, I2, J, _, _, radius = _sizes_of(self.section).T
        E, G, density, relaxation = stuff_of(self.material).T
        mass, inertia = density * A, density * (I1 + I2)
        columns = np.broadcast_arrays(E * A, E * I1, E * I2, G * J, relaxation, mass, inertia, radius)
        return Numbers(np.column_stack(columns))

    @property
    def radius(self) -> float:
        """The largest radius, m."""
        return float(self.numbers.values[:, 7].max())

    @property
    def heavy(self) -> tuple[Any, ...]:
        """What its masses follow from, as things that can be compared."""
        density = self.material.density if isinstance(self.material, Material) else self.material
        return self.section, density, self.properties, self.added


def _sizes_of(section: Any) -> FloatArray:
    if isinstance(section, Sections):
        return section.values
    width, height = section.dimensions if section.kind == "rectangle" else (2.0 * section.radius, 2.0 * section.radius)
    numbers = section.area, section.I1, section.I2, section.J, 0.5 * width, 0.5 * height, section.radius
    return np.array((numbers,))


def stuff_of(material: Any) -> FloatArray:
    """E, G (Pa), density, relaxation time of a material or of materials: (k, 4), or (1, 4)."""
    if isinstance(material, Materials):
        return material.values
    return np.array((tuple(getattr(material, name) for name in _STUFF),))


def check_numbers(name: str, matter: RodMatter, places: Places) -> None:
    """Raise `InputError` if the rod called `name` can't be made of that: it tells the number, and its place."""
    with validation.in_range(f"section and material of {name}"):
        numbers = matter.numbers
    s = None if numbers.uniform else places.s
    check_positive(name, NUMBERS, numbers.values, s, may_be_zero="relaxation time")


# ---------------------------------------------------------------------------------------------- what users give


def as_sections(given: Any, places: Places) -> Section | Sections:
    """A section, or sections at the places of a rod."""
    if isinstance(given, Section):
        return given
    sections = sections_at(given, places.s, places.length, "rod")
    flat = all(section.kind == "rectangle" for section in sections)
    values = np.concatenate([_sizes_of(section) for section in sections])
    fibres = np.array([fibres_of(section) for section in sections])
    return Sections(places.s, values, "rectangle" if flat else "along", fibres)


def as_materials(given: Any, places: Places) -> Material | Materials:
    """A material, or materials at the places of a rod."""
    if isinstance(given, Material):
        return given
    materials = materials_at(given, places.s, places.length, "rod", elastic=False)
    laws = None
    if not all(material.elastic for material in materials):
        terms = max(len(material.prony) for material in materials)
        laws = np.array([laws_of(material, terms) for material in materials])
    stuff = np.concatenate([stuff_of(material) for material in materials])
    return Materials(places.s, stuff, materials[int(places.s.argmin())], laws)


def pieces_along(given: Any, length: float) -> tuple[FloatArray, FunctionOfS, FunctionOfS]:
    """Where pieces meet (k,), m, and the section and the material at any rest length of a rod of `length`."""
    ends, pieces = as_pieces(given, length, "rod")

    def chosen(column: int) -> Callable[[float], Any]:
        def at(s: float) -> Any:
            part = pieces[min(int(np.searchsorted(ends, s, side="right")), len(pieces) - 1)][column]
            return part(s) if callable(part) else part

        return at

    return ends[:-1], chosen(0), chosen(1)


def as_properties(given: Any, places: Places) -> Numbers:
    """Numbers that were given directly, at the places of a rod, or in one row."""
    if not isinstance(given, Properties):
        raise InputError(f"properties must be a sennit.Properties, got {quoted(given)}")
    mass, radius = given.mass, given.radius
    # Branches take off from the stiffness at first.
    first = given.EI if given.EI_stuck is None else given.EI_stuck
    sticks = () if given.slip_moment is None else (("EI", given.EI), ("slip_moment", given.slip_moment))
    told = [
        property_at(name, value, places.s, places.length)
        for name, value in (
            ("EA", given.EA), ("EI", first), ("EI2", first if given.EI2 is None else given.EI2), ("GJ", given.GJ),
            ("relaxation_time", given.relaxation_time), ("mass", mass), ("inertia", given.inertia), ("radius", radius),
        )
        if value is not None
    ]  # fmt: skip
    if given.inertia is None:  # of a solid cylinder
        told.insert(6, 0.5 * told[5] * told[6] ** 2)
    columns = np.column_stack(
        np.broadcast_arrays(*told, *(property_at(name, value, places.s, places.length) for name, value in sticks))
    )
    values, slipping = columns[:, : len(NUMBERS)].copy(), columns[:, len(NUMBERS) :].copy()
    if not sticks:
        return Numbers(values)
    for k, (EI_stuck, EI, moment) in enumerate(zip(values[:, 1], *slipping.T, strict=True)):
        where = "" if len(values) == 1 else f" at s = {places.s[k]:g} m"
        if not EI_stuck > EI > 0.0 or not moment > 0.0:
            raise InputError(
                "EI_stuck must be above EI, since strands that stick are stiffer than those that slip, and slip_moment "
                f"above 0: got EI_stuck={EI_stuck:g} with EI={EI:g} N·m² and slip_moment={moment:g} N·m{where}"
            )
    return Numbers(values, slipping)


# -------------------------------------------------------------------------------------------------- files, pieces


def described_matter(matter: RodMatter, out: Any) -> dict[str, Any]:
    """What a file has of it; rest strains are in the tables."""
    entry: dict[str, Any] = {}
    if matter.properties is not None:
        out.array("properties", matter.properties.values)
        slipping = matter.properties.slipping
        if slipping is not None and len(slipping) == 1:
            entry["slipping"] = slipping[0].tolist()
        elif slipping is not None:
            out.array("slipping", slipping)
    elif isinstance(matter.section, Sections):
        out.array("sections", matter.section.values)
        out.array("fibres", matter.section.fibres)
        entry["sections"] = matter.section.kind
    else:
        entry["section"] = out.section(matter.section)
    if isinstance(matter.material, Materials):
        out.array("materials", matter.material.values)
        if matter.material.laws is not None:
            out.array("laws", matter.material.laws)
        entry["first_material"] = out.material(matter.material.first)
    elif matter.material is not None:
        entry["material"] = out.material(matter.material)
    if matter.added:
        out.array("added", [(one.at, one.mass, one.length, one.radius) for one in matter.added])
    return entry


def read_matter(entry: dict[str, Any], read: Any, t: Any) -> tuple[Any, Any, Numbers | None, tuple[AddedMass, ...]]:
    """Section, material, properties and added masses that a file has of the rod with the tables `t`."""
    section = material = properties = None
    if read.has("properties"):
        one = len(np.atleast_1d(read.raw("properties"))) == 1
        values = _positive(read.array("properties", (1 if one else len(t.places.s), len(NUMBERS))), 4)
        sticks = "slipping" in entry or read.has("slipping")
        properties = Numbers(values, _read_slipping(entry, read, values, t) if sticks else None)
    else:
        section = read.section(entry["section"]) if "section" in entry else None
        if section is None:
            kind = "rectangle" if entry["sections"] == "rectangle" else "along"
            sizes = _positive(read.array("sections", (len(t.places.s), 7)))
            section = Sections(t.places.s, sizes, kind, *_read_fibres(read, t))
        material = read.material(entry["material"]) if "material" in entry else None
        if material is None:
            stuff = _positive(read.array("materials", (len(t.places.s), len(_STUFF))), 3)
            material = Materials(t.places.s, stuff, read.material(entry["first_material"]), _read_laws(read, t))
    rows = read.array("added", (None, 4)) if read.has("added") else np.zeros((0, 4))
    if len(rows) and not ((rows >= 0.0).all() and (rows[:, 0] <= t.length).all() and (rows[:, 2] <= t.length).all()):
        raise ValueError("a mass lies beside its rod")
    return section, material, properties, tuple(AddedMass(*row) for row in rows.tolist())


def _read_slipping(entry: dict[str, Any], read: Any, values: FloatArray, t: Any) -> FloatArray:
    if "slipping" in entry:
        numbers = [validation.number("slipping", number, positive=True) for number in entry["slipping"]]
        slipping = np.broadcast_to(np.array(numbers), (len(values), 2)).copy()
    else:
        slipping = _positive(read.array("slipping", (len(values), 2)))
    stuck = values[:, 1]
    if not (slipping[:, 0] < stuck).all() or (stuck != values[:, 2]).any() or t.rods.branches[0] != 1:
        raise ValueError("a rod has strands that stick in a way that none do")
    return slipping


def _read_fibres(read: Any, t: Any) -> tuple[FloatArray, ...]:
    """Those of sections along a rod; files from before rods that vary could yield have none, and need none."""
    if not read.has("fibres"):
        return ()
    one = len(np.atleast_2d(read.raw("fibres"))) == 1
    fibres = read.array("fibres", (1 if one else len(t.places.s), FIBRES))
    check_fibres(fibres)
    return (fibres,)


def _read_laws(read: Any, t: Any) -> FloatArray | None:
    if not read.has("laws"):
        return None
    laws = read.array("laws", (len(t.places.s), None), infinite=True)
    check_laws(laws)
    return np.asarray(laws)


def _positive(values: FloatArray, may_be_zero: int | None = None) -> FloatArray:
    least = values.min(axis=0)
    if may_be_zero is not None:
        least[may_be_zero] = 1.0 if least[may_be_zero] >= 0.0 else -1.0
    if not (least > 0.0).all():
        raise ValueError("a rod has sizes or numbers along it that are not positive")
    return values


def matter_of_piece(matter: RodMatter, whole: Places, begin: float, closed: bool, places: Places) -> RodMatter:
    """What the piece of a rod is made of that begins at the rest length `begin`, m; rest strains are not looked at."""
    s = begin + places.s
    s = np.mod(s, whole.length) if closed else s
    order = np.argsort(whole.s, kind="stable")

    def here(values: FloatArray) -> FloatArray:
        if len(values) == 1:
            return values
        return np.stack([np.interp(s, whole.s[order], column[order]) for column in values.T], axis=1)

    nearest = np.abs(s[:, None] - whole.s).argmin(axis=1)
    section, material, properties = matter.section, matter.material, matter.properties
    if isinstance(section, Sections):
        fibres = section.fibres if len(section.fibres) == 1 else section.fibres[nearest]
        section = Sections(places.s, here(section.values), section.kind, fibres)
    if isinstance(material, Materials):
        laws = None if material.laws is None else material.laws[nearest]
        material = Materials(places.s, here(material.values), material.first, laws)
    if properties is not None:
        slipping = None if properties.slipping is None else here(properties.slipping)
        properties = replace(properties, values=here(properties.values), slipping=slipping)
    added = tuple(part for one in matter.added if (part := _part(one, begin, whole.length, closed, places.length)))
    return RodMatter(section, material, matter.rest, properties, added)


def _part(one: AddedMass, begin: float, whole: float, closed: bool, length: float) -> AddedMass | None:
    """The part of an added mass that lies on a piece; at a cut, on the piece that ends there."""
    low, high = one.at - 0.5 * one.length - begin, one.at + 0.5 * one.length - begin
    if closed:
        return AddedMass((one.at - begin) % whole, one.mass, one.length, one.radius)
    if one.length == 0.0:
        slack = 1e-9 * whole
        here = (begin == 0.0 or low > slack) and low <= length + slack
        return AddedMass(min(low, length), one.mass, 0.0, one.radius) if here else None
    low, high = max(low, 0.0), min(high, length)
    share = (high - low) / one.length
    return AddedMass(0.5 * (low + high), share * one.mass, high - low, one.radius) if share > 0.0 else None
