"""What a strand is made of, where that varies along its length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sennit import validation
from sennit.bodies.along import function_along
from sennit.bodies.making import (
    as_pieces,
    check_given,
    check_positive,
    checked_material,
    checked_section,
    materials_at,
    property_at,
    sections_at,
)  # fmt: skip
from sennit.cosserat.law.laws import Law, LawData, checked_stiffness
from sennit.cosserat.law.varied import Matter
from sennit.cosserat.model import first_ends
from sennit.errors import InputError
from sennit.material import Material, Properties, Section, elastic_material
from sennit.validation import FloatArray, quoted

__all__ = ["Made", "SampledMatter", "StrandMatter", "law_of", "made_of"]

_KEPT_MESHES = 8
_LOOKS = 41  # places at which a radius is looked for, in a piece
_STRAND = "a strand"
Told = tuple[FloatArray, FloatArray | None]
"""Stiffness (k, 6, 6), SI units, and mass per length (k,), kg/m, where anything tells it."""


class Made(NamedTuple):
    """What a strand is made of."""

    matter: Matter | None
    """Where it varies along its length."""
    stiffness: FloatArray | None
    """(6, 6), SI units, where that is the same everywhere; None where a law tells, too."""
    mass: float | None
    """Mass of a metre, kg/m, where that is the same everywhere and anything tells it."""
    radius: float | None
    """Of what is drawn, m, the largest; None if nothing tells it."""


class StrandMatter:
    """Pieces that a strand is made of, one after the other; see `Matter`."""

    def __init__(
        self, length: float, ends: FloatArray, pieces: Sequence[Callable[[FloatArray], Told]],
        mass: Callable[[FloatArray], FloatArray] | None = None,
    ) -> None:  # fmt: skip
        self.length, self.jumps = length, np.asarray(ends[:-1])
        self._pieces, self._mass = pieces, mass
        self._known: dict[bytes, Told] = {}

    def weighing(self, mass: Callable[[FloatArray], FloatArray]) -> StrandMatter:
        """The same with another mass per length."""
        return StrandMatter(self.length, np.append(self.jumps, self.length), self._pieces, mass)

    def stiffness(self, places: FloatArray) -> FloatArray:
        """Stiffness at places, see `Matter`."""
        return self._told(places)[0]

    def mass(self, places: FloatArray) -> FloatArray | None:
        """Mass per length at places, see `Matter`."""
        return self._told(places)[1]

    def _told(self, places: FloatArray) -> Told:
        """Both at places (k, m); what was asked for last is kept."""
        key = places.tobytes()
        if key not in self._known:
            if len(self._known) >= _KEPT_MESHES:
                self._known.clear()
            self._known[key] = self._asked(np.clip(places, 0.0, self.length))
        return self._known[key]

    def _asked(self, places: FloatArray) -> Told:
        matrices, masses = np.empty((*places.shape, 6, 6)), np.empty(places.shape)
        weighs = self._mass is not None
        piece = np.searchsorted(self.jumps, _middle(places), side="right")
        for k in np.unique(piece).tolist():
            own = piece == k
            s, back = np.unique(places[own], return_inverse=True)
            stiffness, mass = self._pieces[k](s)
            if self._mass is not None:
                mass = self._mass(s)
            matrices[own] = stiffness[back].reshape(*places[own].shape, 6, 6)
            if mass is not None:
                weighs = True
                masses[own] = mass[back].reshape(places[own].shape)
        return matrices, masses if weighs else None


class SampledMatter:
    """What another strand is made of, as it was sampled at the slots of its own mesh: a loop's process gets it."""

    def __init__(
        self, length: float, jumps: FloatArray, places: FloatArray, matrices: FloatArray, masses: FloatArray | None
    ) -> None:
        self.length, self.jumps = length, jumps
        self.places, self.matrices, self.masses = places, matrices, masses

    def stiffness(self, places: FloatArray) -> FloatArray:
        """At the slots what was sampled there, straight lines between."""
        flat = self._between(places, self.matrices.reshape(*self.places.shape, 36))
        return flat.reshape(*places.shape, 6, 6)

    def mass(self, places: FloatArray) -> FloatArray | None:
        """Likewise."""
        return None if self.masses is None else self._between(places, self.masses[..., None])[..., 0]

    def _between(self, places: FloatArray, values: FloatArray) -> FloatArray:
        element = np.searchsorted(self.places[1:, 0], _middle(places), side="right")[:, None]
        a, m, b = (self.places[element, k] for k in range(3))
        late = (places > m).astype(int)
        low, high = np.where(late, m, a), np.where(late, b, m)
        x = np.clip((places - low) / (high - low), 0.0, 1.0)[..., None]
        before, behind = values[element, late], values[element, late + 1]
        with np.errstate(invalid="ignore"):  # rigid ones are infinite
            between = (1.0 - x) * before + x * behind
        return np.asarray(np.where(x == 0.0, before, np.where(x == 1.0, behind, between)))


def _middle(places: FloatArray) -> FloatArray:
    """The middle of each row of places (k, m)."""
    return np.asarray(places[:, places.shape[1] // 2])


def made_of(
    length: float, section: Any, material: Any, pieces: Any, properties: Any, stiffness: Any, law: Any, mass: Any
) -> Made:
    """What was given, of which one way is allowed. Functions of s are asked when the numerics need them."""
    if isinstance(stiffness, SampledMatter | StrandMatter):  # as a loop's process is sent it
        return Made(stiffness, None, mass, None)
    if stiffness is not None and law is not None:
        raise InputError("give stiffness= or law=, not both")
    others = {"pieces": pieces, "properties": properties}
    given = [name for name, value in others.items() if value is not None]
    if stiffness is None and law is None:
        if (section is None or material is None) and not given:
            raise InputError(
                f"give section= (a sennit.Section) and material= (a sennit.Material), or pieces=, properties=, "
                f"stiffness= or law=; got section={quoted(section)}, material={quoted(material)}"
            )
        check_given("strand", section, material, **others)
    elif given:
        raise InputError(f"give {'stiffness' if law is None else 'law'}= or {' and '.join(given)}=, not both")
    made = _made_without(length, section, material, pieces, properties, stiffness, law)
    own = _mass_of(mass, length)
    if isinstance(own, float):
        return made._replace(mass=own)
    if own is None:
        return made
    matter = made.matter
    if matter is None:
        alike = np.eye(6) if made.stiffness is None else made.stiffness  # a law's is its own affair
        matter = StrandMatter(length, np.array((length,)), [_Constant(alike, None)])
    assert isinstance(matter, StrandMatter)
    return made._replace(matter=matter.weighing(own), mass=None)


def _made_without(
    length: float, section: Any, material: Any, pieces: Any, properties: Any, stiffness: Any, law: Any
) -> Made:
    """The same without a mass of its own."""
    if pieces is not None:
        ends, parts = as_pieces(pieces, length, "strand")
        tellers = [_teller(length, *part) for part in parts]
        starts = np.concatenate(([0.0], ends[:-1]))
        reaches = zip(starts, ends, strict=True)
        radii = [_radius_of(part[0], a, b, length) for part, (a, b) in zip(parts, reaches, strict=True)]
        return Made(StrandMatter(length, ends, tellers), None, None, max(radii))
    teller: Callable[[FloatArray], Told]
    radius: float | None
    if properties is not None:
        teller = _OfProperties.checked(length, properties)
        radius = float(teller.columns(np.linspace(0.0, length, _LOOKS))[:, -1].max())
    elif stiffness is not None or law is not None:
        radius = _radius_of(section, 0.0, length, length) if isinstance(section, Section) else None
        beside = None  # the mass that a section and a material tell beside a stiffness or a law
        if isinstance(section, Section) and isinstance(material, Material):
            beside = section.mass_per_length(material)
        if law is not None:
            if not isinstance(law, Law):
                raise InputError(f"law must be a sennit.Law, got {quoted(law)}")
            return Made(None, None, beside, radius)
        teller = _by_stiffness(length, stiffness, beside)
    else:
        teller = _teller(length, section, material)
        radius = _radius_of(section, 0.0, length, length)
    if isinstance(teller, _OfProperties) and teller.alike:
        matrices, masses = teller(np.zeros(1))
        teller = _Constant(matrices[0], float(masses[0]))
    if isinstance(teller, _Constant):
        return Made(None, teller.matrix, teller.mass, radius)
    return Made(StrandMatter(length, np.array((length,)), [teller]), None, None, radius)


def _radius_of(section: Any, start: float, end: float, length: float) -> float:
    """Of a circle of a section's area, m: the largest from one rest length to another."""
    if isinstance(section, Section):
        return float(np.sqrt(section.area / np.pi))
    sections = sections_at(section, np.linspace(start, end, _LOOKS), length, "strand")
    return max(float(np.sqrt(one.area / np.pi)) for one in sections)


def _teller(length: float, section: Any, material: Any) -> _Constant | _OfSection:
    """What a section and a material tell, each one for all, a list at equal steps, or a function of s."""
    for one in material if isinstance(material, list | tuple) else (material,):
        if isinstance(one, Material):
            elastic_material(one, _STRAND)
    if isinstance(section, Section) and isinstance(material, Material):
        matrix = np.zeros((6, 6))
        matrix[:3, :3] = section.bending_stiffness(material)
        matrix[3:, 3:] = section.stretching_stiffness(material)
        return _Constant(matrix, section.mass_per_length(material))
    for part, check in ((section, checked_section), (material, checked_material)):
        if not callable(part) and not isinstance(part, list | tuple):
            check(part)
    # what the caller does to a list later is no affair of ours
    kept = [tuple(part) if isinstance(part, list) else part for part in (section, material)]
    return _OfSection(length, *kept)


# What pieces are made of, each an object that tells stiffness and mass at places.


@dataclass(frozen=True, eq=False)
class _Constant:
    """One stiffness and one mass."""

    matrix: FloatArray
    mass: float | None

    def __call__(self, s: FloatArray) -> Told:
        return np.tile(self.matrix, (len(s), 1, 1)), None if self.mass is None else np.full(len(s), self.mass)


@dataclass(frozen=True, eq=False)
class _OfSection:
    """A section and a material, one of which varies at least."""

    length: float
    section: Any
    material: Any

    def __call__(self, s: FloatArray) -> Told:
        sections, materials = [self.section] * len(s), [self.material] * len(s)
        if not isinstance(self.section, Section):
            sections = sections_at(self.section, s, self.length, "strand")
        if not isinstance(self.material, Material):
            materials = materials_at(self.material, s, self.length, "strand")
        matrices, masses = np.zeros((len(s), 6, 6)), np.empty(len(s))
        with validation.in_range("section and material of a strand"):
            for k, (a, b) in enumerate(zip(sections, materials, strict=True)):
                E, G = b.youngs_modulus, b.shear_modulus
                numbers = E * a.I1, E * a.I2, G * a.J, a.shear1 * G * a.area, a.shear2 * G * a.area, E * a.area
                matrices[k].flat[::7] = numbers
                masses[k] = b.density * a.area
        names = "EI1", "EI2", "GJ", "shear stiffness along d1", "shear stiffness along d2", "EA"
        check_positive(_STRAND, names, np.diagonal(matrices, axis1=1, axis2=2), s)
        return matrices, masses


@dataclass(frozen=True, eq=False)
class _OfProperties:
    """Numbers given directly: it stretches by EA, and does not shear, like rods."""

    length: float
    given: Properties

    @classmethod
    def checked(cls, length: float, given: Any) -> _OfProperties:
        """`given`, if it is a strand's."""
        if not isinstance(given, Properties):
            raise InputError(f"properties must be a sennit.Properties, got {quoted(given)}")
        if given.slip_moment is not None:
            raise InputError("a strand must be elastic: EI_stuck and slip_moment are for rods in scenes")
        return cls(length, given)

    @property
    def numbers(self) -> list[tuple[str, Any]]:
        """What strands take of it, by name."""
        one = self.given
        EI2 = one.EI if one.EI2 is None else one.EI2
        return [
            ("EI", one.EI),
            ("EI2", EI2),
            ("GJ", one.GJ),
            ("EA", one.EA),
            ("mass", one.mass),
            ("radius", one.radius),
        ]

    @property
    def alike(self) -> bool:
        """Whether stiffness and mass are the same everywhere."""
        return not any(callable(value) or isinstance(value, tuple) for _, value in self.numbers[:-1])

    def columns(self, s: FloatArray) -> FloatArray:
        """Its numbers at places, (k, 6)."""
        told = [np.broadcast_to(property_at(name, value, s, self.length), s.shape) for name, value in self.numbers]
        found = np.column_stack(told)
        check_positive(_STRAND, [name for name, _ in self.numbers], found, s)
        return found

    def __call__(self, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        found, matrices = self.columns(s), np.zeros((len(s), 6, 6))
        for k, column in enumerate((0, 1, 2, None, None, 3)):
            matrices[:, k, k] = np.inf if column is None else found[:, column]
        return matrices, found[:, 4]


@dataclass(frozen=True, eq=False)
class _OfFunction:
    """A stiffness that a function of s tells."""

    function: Callable[[float], Any]
    mass: float | None

    def __call__(self, s: FloatArray) -> Told:
        matrices = function_along("stiffness", self.function, s, [(6, 6)]).reshape(-1, 6, 6)
        return checked_stiffness("stiffness", matrices, s), None if self.mass is None else np.full(len(s), self.mass)


@dataclass(frozen=True, eq=False)
class _OfSteps:
    """Matrices at equal steps, straight lines between."""

    length: float
    matrices: FloatArray
    mass: float | None

    def __call__(self, s: FloatArray) -> Told:
        at = s / self.length * (len(self.matrices) - 1)
        first = np.clip(np.floor(at).astype(int), 0, len(self.matrices) - 2)
        x = (at - first)[:, None, None]
        told = (1.0 - x) * self.matrices[first] + x * self.matrices[first + 1]
        return told, None if self.mass is None else np.full(len(s), self.mass)


@dataclass(frozen=True, eq=False)
class _MassAt:
    """A mass per length that varies, whatever the stiffness does."""

    length: float
    given: Any

    def __call__(self, s: FloatArray) -> FloatArray:
        told = property_at("mass_per_length", self.given, s, self.length)
        check_positive(_STRAND, ("mass per length",), told[:, None], s)
        return told


def _by_stiffness(length: float, given: Any, mass: float | None) -> _Constant | _OfFunction | _OfSteps:
    """What a matrix tells; matrices at equal steps; or a function of s."""
    if callable(given):
        return _OfFunction(given, mass)
    matrices = validation.array("stiffness", given, (6, 6), (None, 6, 6))
    if matrices.ndim == 2:
        with validation.in_range("length and stiffness of a strand"):
            return _Constant(checked_stiffness("stiffness", matrices[None])[0], mass)
    if len(matrices) < 2:
        raise InputError(
            f"stiffness must have two matrices or more, for equal steps from end to end, got {len(matrices)}"
        )
    with validation.in_range("length and stiffness of a strand"):
        steps = np.linspace(0.0, length, len(matrices))
        return _OfSteps(length, checked_stiffness("stiffness", matrices, steps), mass)


def _mass_of(given: Any, length: float) -> float | _MassAt | None:
    """Mass per length, kg/m: a number, or what tells it at places; None if it was not given."""
    name = "mass_per_length"
    if given is None:
        return None
    if callable(given):
        return _MassAt(length, given)
    if isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim > 0):
        numbers = validation.array(name, given, (None,))
        if len(numbers) < 2:
            raise InputError(
                f"{name} must have two numbers or more, for equal steps from end to end, got {quoted(given)}"
            )
        check_positive(_STRAND, ("mass per length",), numbers[:, None], np.linspace(0.0, length, len(numbers)))
        return _MassAt(length, tuple(numbers.tolist()))
    return validation.number(name, given, positive=True)


def law_of(made: Made, length: float, law: Any, extensible: bool, nodes: int, order: int) -> LawData:
    """The numerics' law of a strand that is made so, with so many nodes."""
    if law is None and made.stiffness is None:
        assert made.matter is not None
        return LawData.along(made.matter, extensible, first_ends(nodes, order, length, made.matter))
    with validation.in_range("length and stiffness of a strand"):
        if law is not None:
            return LawData(law.stiffness, extensible, length, law.address, law)
        assert made.stiffness is not None
        return LawData(made.stiffness, extensible, length)
