"""What a strand is made of, where that varies along its length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    """What was given, of which one way is allowed, checked as far as it can be without asking functions of s."""
    if isinstance(stiffness, SampledMatter | StrandMatter):  # of a strand in another process
        return Made(stiffness, None, mass, None)
    if stiffness is not None and law is not None:
        raise InputError("give stiffness= or law=, not both")
    others = {"pieces": pieces, "properties": properties}
    if stiffness is None and law is None and (section is None or material is None) and not _given(others):
        raise InputError(
            f"give section= (a sennit.Section) and material= (a sennit.Material), or pieces=, properties=, stiffness= "
            f"or law=; got section={quoted(section)}, material={quoted(material)}"
        )
    if stiffness is None and law is None:
        check_given("strand", section, material, **others)
    elif pieces is not None or properties is not None:
        name = "stiffness" if law is None else "law"
        raise InputError(f"give {name}= or {' and '.join(_given(others))}=, not both")
    own_mass = _mass_of(mass, length)
    ends, tellers, made = np.array((length,)), [], Made(None, None, None, None)
    beside = None  # the mass that a section and a material tell beside a stiffness or a law
    if isinstance(section, Section) and isinstance(material, Material):
        beside = section.mass_per_length(material)
    if law is not None:
        if not isinstance(law, Law):
            raise InputError(f"law must be a sennit.Law, got {quoted(law)}")
        made = Made(None, None, beside, _radius_of(section))
    elif stiffness is not None:
        made, teller = _by_stiffness(length, stiffness)
        made, tellers = made._replace(mass=beside, radius=_radius_of(section)), [teller]
    elif properties is not None:
        made, teller = _by_properties(length, properties)
        tellers = [teller]
    elif pieces is not None:
        ends, parts = as_pieces(pieces, length, "strand")
        tellers = [_teller(length, *part) for part in parts]
        sizes = [_radius_of(part[0]) for part in parts]
        made = Made(None, None, None, None if None in sizes else max(sizes))  # type: ignore[type-var]
    elif isinstance(section, Section) and isinstance(material, Material):
        matrix = _stiffness_of(section, elastic_material(material, _STRAND))
        made = Made(None, matrix, section.mass_per_length(material), _radius_of(section))
        tellers = [_constant(matrix, section.mass_per_length(material))]
    else:
        tellers = [_teller(length, section, material)]
    if isinstance(own_mass, float):
        made = made._replace(mass=own_mass)
    alike = made.stiffness is not None or law is not None
    if alike and not callable(own_mass):
        return made
    if not tellers:  # of a law, whose stiffness is its own affair
        tellers = [_constant(np.eye(6), None)]
    if own_mass is None and beside is not None:
        own_mass = beside
    told = own_mass if callable(own_mass) or own_mass is None else _always(own_mass)
    return made._replace(matter=StrandMatter(length, ends, tellers, told))


def _given(ways: dict[str, Any]) -> list[str]:
    return [name for name, value in ways.items() if value is not None]


def _radius_of(section: Any) -> float | None:
    """Of a circle of a section's area, m."""
    return float(np.sqrt(section.area / np.pi)) if isinstance(section, Section) else None


def _stiffness_of(section: Section, material: Material) -> FloatArray:
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = section.bending_stiffness(material)
    matrix[3:, 3:] = section.stretching_stiffness(material)
    return matrix


def _constant(matrix: FloatArray, mass: float | None) -> Callable[[FloatArray], Told]:
    return lambda s: (np.tile(matrix, (len(s), 1, 1)), None if mass is None else np.full(len(s), mass))


def _always(mass: float) -> Callable[[FloatArray], FloatArray]:
    return lambda s: np.full(len(s), mass)


def _teller(length: float, section: Any, material: Any) -> Callable[[FloatArray], Told]:
    """What a section and a material tell, each one for all, a list at equal steps, or a function of s."""
    if isinstance(section, list):
        section = tuple(section)  # what the caller does to it later is no affair of ours
    if isinstance(material, list):
        material = tuple(material)
    if isinstance(material, Material):
        elastic_material(material, _STRAND)
    if isinstance(section, Section) and isinstance(material, Material):
        return _constant(_stiffness_of(section, material), section.mass_per_length(material))

    def tell(s: FloatArray) -> Told:
        one, other = [section] * len(s), [material] * len(s)
        if not isinstance(section, Section):
            one = sections_at(section, s, length, "strand")
        if not isinstance(material, Material):
            other = materials_at(material, s, length, "strand")
        matrices = np.zeros((len(s), 6, 6))
        masses = np.empty(len(s))
        with validation.in_range("section and material of a strand"):
            for k, (a, b) in enumerate(zip(one, other, strict=True)):
                E, G = b.youngs_modulus, b.shear_modulus
                numbers = E * a.I1, E * a.I2, G * a.J, a.shear1 * G * a.area, a.shear2 * G * a.area, E * a.area
                matrices[k].flat[::7] = numbers
                masses[k] = b.density * a.area
        check_positive(_STRAND, _NAMES, np.diagonal(matrices, axis1=1, axis2=2), s)
        return matrices, masses

    for part, check in ((section, checked_section), (material, checked_material)):
        if not callable(part) and not isinstance(part, tuple):
            check(part)
    tell(np.array((0.0, length)))  # lists that are none are refused at once
    return tell


_NAMES = ("EI1", "EI2", "GJ", "shear stiffness along d1", "shear stiffness along d2", "EA")


def _by_properties(length: float, given: Any) -> tuple[Made, Callable[[FloatArray], Told]]:
    """What properties tell: they stretch by EA, and do not shear, like rods."""
    if not isinstance(given, Properties):
        raise InputError(f"properties must be a sennit.Properties, got {quoted(given)}")
    if given.slip_moment is not None:
        raise InputError("a strand must be elastic: EI_stuck and slip_moment are for rods in scenes")
    EI2 = given.EI if given.EI2 is None else given.EI2
    listed = (("EI", given.EI), ("EI2", EI2), ("GJ", given.GJ), ("EA", given.EA), ("mass", given.mass),
              ("radius", given.radius))  # fmt: skip

    def columns(s: FloatArray) -> FloatArray:
        told = [np.broadcast_to(property_at(name, value, s, length), s.shape) for name, value in listed]
        numbers = np.column_stack(told)
        check_positive(_STRAND, ("EI", "EI2", "GJ", "EA", "mass per length", "radius"), numbers, s)
        return numbers

    def tell(s: FloatArray) -> Told:
        numbers = columns(s)
        matrices = np.zeros((len(s), 6, 6))
        for k, column in enumerate((0, 1, 2, None, None, 3)):
            matrices[:, k, k] = np.inf if column is None else numbers[:, column]
        return matrices, numbers[:, 4]

    radius = float(columns(np.linspace(0.0, length, 41))[:, 5].max())
    if any(callable(value) or isinstance(value, tuple) for _, value in listed[:-1]):
        return Made(None, None, None, radius), tell
    matrices, masses = tell(np.zeros(1))
    assert masses is not None
    return Made(None, matrices[0], float(masses[0]), radius), tell


def _by_stiffness(length: float, given: Any) -> tuple[Made, Callable[[FloatArray], Told]]:
    """What a matrix tells; matrices at equal steps, straight lines between; or a function of s."""
    if callable(given):

        def asked(s: FloatArray) -> Told:
            matrices = function_along("stiffness", given, s, [(6, 6)]).reshape(-1, 6, 6)
            return checked_stiffness("stiffness", matrices, s), None

        return Made(None, None, None, None), asked
    matrices = validation.array("stiffness", given, (6, 6), (None, 6, 6))
    if matrices.ndim == 2:
        with validation.in_range("length and stiffness of a strand"):
            matrix = checked_stiffness("stiffness", matrices[None])[0]
        return Made(None, matrix, None, None), _constant(matrix, None)
    if len(matrices) < 2:
        raise InputError(
            f"stiffness must have two matrices or more, for equal steps from end to end, got {len(matrices)}"
        )
    steps = np.linspace(0.0, length, len(matrices))
    with validation.in_range("length and stiffness of a strand"):
        checked = checked_stiffness("stiffness", matrices, steps)

    def between(s: FloatArray) -> Told:
        at = s / length * (len(checked) - 1)
        first = np.clip(np.floor(at).astype(int), 0, len(checked) - 2)
        x = (at - first)[:, None, None]
        return (1.0 - x) * checked[first] + x * checked[first + 1], None

    return Made(None, None, None, None), between


def _mass_of(given: Any, length: float) -> float | Callable[[FloatArray], FloatArray] | None:
    """Mass per length, kg/m: a number, or what tells it at places; None if it was not given."""
    name = "mass_per_length"
    if given is None:
        return None
    if callable(given):
        value = given
    elif isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim > 0):
        numbers = validation.array(name, given, (None,))
        if len(numbers) < 2:
            raise InputError(
                f"{name} must have two numbers or more, for equal steps from end to end, got {quoted(given)}"
            )
        value = tuple(numbers.tolist())
        check_positive(_STRAND, ("mass per length",), numbers[:, None], np.linspace(0.0, length, len(numbers)))
    else:
        return validation.number(name, given, positive=True)

    def tell(s: FloatArray) -> FloatArray:
        told = property_at(name, value, s, length)
        check_positive(_STRAND, ("mass per length",), told[:, None], s)
        return told

    return tell


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
