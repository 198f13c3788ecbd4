"""What users give of sections and materials along a rod or a strand: one for all, lists, functions of s, pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from sennit import validation
from sennit.bodies.along import numbers_along
from sennit.errors import InputError
from sennit.material import Material, Section
from sennit.validation import FloatArray, quoted

__all__ = [
    "FunctionOfS", "as_pieces", "check_given", "check_positive", "checked_material", "checked_section", "materials_at",
    "property_at", "sections_at",
]  # fmt: skip

FunctionOfS: TypeAlias = Callable[[float], Any]
"""What tells a section or a material at each rest length s, m."""


def checked_section(value: object) -> Section:
    """`value`, if it is a section."""
    if not isinstance(value, Section):
        raise InputError(f"section must be a sennit.Section, got {quoted(value)}")
    return value


def checked_material(value: object) -> Material:
    """`value`, if it is a material."""
    if not isinstance(value, Material):
        raise InputError(f"material must be a sennit.Material, got {quoted(value)}")
    return value


def check_given(what: str, section: Any, material: Any, **others: Any) -> None:
    """Whether it was said once what a rod or a strand, `what`, is made of: `others` are other ways to say so."""
    ways = {"section and material": section is not None or material is not None}
    ways |= {name: value is not None for name, value in others.items()}
    given = [way for way, is_given in ways.items() if is_given]
    if len(given) > 1:
        *first, last = ["section and material", *(f"of {name}" for name in others)]
        raise InputError(f"a {what} is made of {', '.join(first)}, or {last}, got {' and '.join(given)}")
    if given in ([], ["section and material"]):
        if not callable(section) and not isinstance(section, list | tuple):
            checked_section(section)
        if not callable(material) and not isinstance(material, list | tuple):
            checked_material(material)


def check_positive(
    name: str, columns: Sequence[str], values: FloatArray, s: FloatArray | None, may_be_zero: str = ""
) -> None:
    """Raise `InputError` if what is called `name` can't have the numbers `values` (k, m) of its `columns`, at the
    places `s`, m (None: everywhere): it tells the number, and its place.
    """
    for k, what in enumerate(columns):
        column = values[:, k]
        good = (column >= 0.0) if what == may_be_zero else (column > 0.0)
        if not (good & (column < np.inf)).all():
            row = int(np.argmin(good & (column < np.inf)))
            where = "" if s is None else f" at s = {s[row]:g} m"
            raise InputError(f"{name} can't be made of that: its {what} would be {column[row]:g}{where}")


def as_pieces(given: Any, length: float, what: str) -> tuple[FloatArray, list[tuple[Any, Any]]]:
    """Where pieces end (k,), m, and the section and the material of each: of a `what` of so many m."""
    try:
        pieces = [tuple(piece) for piece in given]
    except Exception:  # whatever a list that is none raises
        pieces = []
    if not pieces or any(len(piece) != 3 for piece in pieces):
        raise InputError(f"pieces must be a list of (length, section, material), got {quoted(given)}")
    sizes = [None if x[0] is None else validation.number(f"length of piece {k}", x[0], positive=True)
             for k, x in enumerate(pieces)]  # fmt: skip
    known, open_ended = sum(x for x in sizes if x is not None), sizes.count(None)
    if open_ended > 1 or (open_ended == 1 and not known < length):
        raise InputError(
            f"one piece may have the length None, what is left of the {what}'s {length:.6g} m; the others sum to "
            f"{known:.6g} m, and {open_ended} have None"
        )
    if not open_ended and not abs(known - length) <= 1e-6 * length:
        raise InputError(
            f"the lengths of the pieces must sum to that of the {what}, {length:.6g} m, got {known:.6g} m: give None "
            f"as the length of one of them, which takes what is left"
        )
    for k, (_, section, material) in enumerate(pieces):
        for name, part, kind in (("section", section, Section), ("material", material, Material)):
            if not isinstance(part, kind) and not callable(part):
                raise InputError(
                    f"{name} of piece {k} must be a sennit.{kind.__name__} or a function of s, got {quoted(part)}"
                )
    return np.cumsum([length - known if x is None else x for x in sizes]), [piece[1:] for piece in pieces]


def sections_at(given: Any, s: FloatArray, length: float, what: str) -> list[Section]:
    """Sections at the rest lengths `s` (k,), m, of a `what` of so many m: what a function of s tells, or lines between
    the entries of a list at equal steps.
    """
    return _each("section", given, Section, s, length, _between_sections)


def materials_at(given: Any, s: FloatArray, length: float, what: str, *, elastic: bool = True) -> list[Material]:
    """Materials, likewise; all of them must be `elastic`, or need not."""
    told = _each("material", given, Material, s, length, _between_materials)
    for one in told if elastic else ():
        if not one.elastic:
            raise InputError(f"a {what} that varies along its length must be elastic: {quoted(one)} creeps or yields")
    return told


def property_at(name: str, value: Any, s: FloatArray, length: float) -> FloatArray:
    """A number of `Properties` at the rest lengths `s`, (k,), or (1,) for one that is the same everywhere."""
    if callable(value):
        return numbers_along(name, value, s, length, 1)[:, 0]
    if isinstance(value, tuple):
        return np.interp(s, np.linspace(0.0, length, len(value)), value)
    return np.array((value,), dtype=np.float64)


def _each(
    name: str, given: Any, kind: type, places: FloatArray, length: float, between: Callable[..., Any]
) -> list[Any]:
    """What a function of s, or a list, tells at each place."""
    if callable(given):
        s = places.tolist()
        told = [_called(name, given, at, kind) for at in s]
        for at, first in zip(reversed(s), reversed(told), strict=True):
            again = _called(name, given, at, kind)
            if again != first:
                raise InputError(
                    f"{name} must be a function of s alone: at s = {at:g} m it told {quoted(first)}, then "
                    f"{quoted(again)}"
                )
        return told
    expected = f"a sennit.{kind.__name__}, a list of two or more of them, or a function of s that tells one"
    if not isinstance(given, list | tuple) or len(given) < 2 or not all(isinstance(x, kind) for x in given):
        raise InputError(f"{name} must be {expected}, got {quoted(given)}")
    at = places / length * (len(given) - 1)
    first = np.clip(np.floor(at).astype(int), 0, len(given) - 2)
    return [between(given[k], given[k + 1], x - k) for k, x in zip(first.tolist(), at.tolist(), strict=True)]


def _called(name: str, given: Callable[[float], Any], s: float, kind: type) -> Any:
    try:
        told = given(s)
    except InputError as problem:
        raise InputError(f"{name} at s = {s:g} m: {problem}") from None
    if not isinstance(told, kind):
        raise InputError(f"{name}({s:g}) must tell a sennit.{kind.__name__}, got {quoted(told)}")
    return told


def _between_sections(a: Section, b: Section, x: float) -> Section:
    if a.kind != b.kind:
        raise InputError(
            f"sections between which sizes are linear must be of one kind, got {a.kind!r} and {b.kind!r}: give pieces= "
            f"where the kind changes"
        )
    if a.kind == "custom":
        names = ("area", "I1", "I2", "J", "shear1", "shear2")
        return Section._make("custom", (), **{n: (1.0 - x) * getattr(a, n) + x * getattr(b, n) for n in names})
    sizes = [(1.0 - x) * one + x * other for one, other in zip(a.dimensions, b.dimensions, strict=True)]
    made: Section = getattr(Section, a.kind)(*sizes)
    return made


def _between_materials(a: Material, b: Material, x: float) -> Material:
    E, nu, density, time, G = (
        (1.0 - x) * getattr(a, name) + x * getattr(b, name)
        for name in ("youngs_modulus", "poisson_ratio", "density", "relaxation_time", "shear_modulus")
    )
    if _law_kind(a) != _law_kind(b):
        raise InputError(
            f"materials between which numbers are linear must be of one kind: one {_law_kind(a)[0]}, the next "
            f"{_law_kind(b)[0]}; give pieces= where the kind changes"
        )
    law: dict[str, Any] = {}
    if a.prony:
        pairs = (1.0 - x) * np.array(a.prony) + x * np.array(b.prony)
        law["prony"] = [tuple(pair) for pair in pairs.tolist()]
    if a.yield_stress is not None and b.yield_stress is not None:
        law = {name: (1.0 - x) * getattr(a, name) + x * getattr(b, name) for name in ("yield_stress", "hardening")}
    if a.superelastic is not None:
        law["superelastic"] = (1.0 - x) * np.array(a.superelastic) + x * np.array(b.superelastic)
    return Material(E, nu, density, time, shear_modulus=G, look=a.look, colour=a.colour, **law)


def _law_kind(material: Material) -> tuple[str, int]:
    """What it does beside being elastic, in a word, and how many terms of `prony` it has."""
    if material.prony:
        return f"creeps by {len(material.prony)} terms of prony", len(material.prony)
    if material.superelastic is not None:
        return "transforms", 0
    return ("is elastic" if material.yield_stress is None else "yields"), 0
