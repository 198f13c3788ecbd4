"""Sections and laws that change along a rod, as numbers, and the branches that its bending points have of them.

A section is told by its kind and two sizes, a law by the numbers of all laws that there are, so that functions are
asked once and copies, files and pieces of a rod need none. All points have as many branches; those that a point has
no use for, where a rod is elastic beside a part that yields, have the share 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sennit.bodies.rod.branches.fibres import branches_of
from sennit.bodies.rod.branches.kernels.flow import FLAG, SLIDER
from sennit.bodies.rod.branches.table import Branches
from sennit.errors import InputError
from sennit.material import Material, Section
from sennit.validation import FloatArray

__all__ = ["FIBRES", "branches_along", "check_fibres", "check_laws", "fibres_of", "laws_of"]

FIBRES = 3
"""Columns of what a section's fibres follow from: its kind, `_RING`, `_FLAT` or 0 of a custom one, and two lengths, m:
outer and inner radius, or widths along d1 and d2.
"""
_RING, _FLAT = 1.0, 2.0
_LAWS = 5
"""Columns of laws before the shares and times of `prony`: yield stress, hardening, both plateaus (Pa), their strain. A
stress is infinite where there is no such law, and so is a time.
"""


_FEW = 8
"""Sections along a rod up to which the law of each is made as that of a uniform rod."""


def fibres_of(section: Section) -> FloatArray:
    """The numbers (3,) that its fibres follow from."""
    if section.kind == "custom":
        return np.zeros(FIBRES)
    if section.kind == "rectangle":
        return np.array((_FLAT, *section.dimensions))
    return np.array((_RING, *(*section.dimensions, 0.0)[:2]))


def laws_of(material: Material, terms: int) -> FloatArray:
    """The numbers of its law, with room for so many `terms` of `prony`."""
    stress = math.inf if material.yield_stress is None else material.yield_stress
    upper, lower, strain = material.superelastic or (math.inf, 0.0, 0.0)
    made = np.array((stress, material.hardening, upper, lower, strain, *(0.0, math.inf) * terms))
    for k, pair in enumerate(material.prony):
        made[_LAWS + 2 * k : _LAWS + 2 * k + 2] = pair
    return made


def check_fibres(given: FloatArray) -> None:
    """Raise `ValueError` if these numbers (k, 3) are of no sections."""
    kind, a, b = given.T
    ring, flat = (kind == _RING) & (a > b) & (b >= 0.0), (kind == _FLAT) & (a > 0.0) & (b > 0.0)
    if not (ring | flat | (kind == 0.0)).all():
        raise ValueError("a rod has sections along it that there are not")


def check_laws(given: FloatArray) -> None:
    """Raise `ValueError` if these numbers (k, m) are of no laws."""
    if given.shape[1] < _LAWS or (given.shape[1] - _LAWS) % 2:
        raise ValueError("a rod has laws along it with other numbers than laws have")
    stress, hardening, upper, lower, strain = given[:, :_LAWS].T
    shares, times = given[:, _LAWS::2], given[:, _LAWS + 1 :: 2]
    fits = (
        (stress > 0.0) & (hardening >= 0.0) & (upper > lower) & (lower >= 0.0) & ((strain > 0.0) | np.isinf(upper))
        & (shares >= 0.0).all(axis=1) & (shares.sum(axis=1) < 1.0) & (times > 0.0).all(axis=1)
    )  # fmt: skip
    if not fits.all() or np.isinf(given[:, [1, 3, 4]]).any() or np.isinf(times[shares > 0.0]).any():
        raise ValueError("a rod has laws along it that give energy, or none that there are")


def branches_along(
    fibres: FloatArray, stuff: FloatArray, laws: FloatArray, s: FloatArray, softer: FloatArray, least: int
) -> Branches:
    """Branches of points at the rest lengths `s` (k,), one point after the other, `least` at each point or more.

    `fibres` (k, 3); `stuff` (k, 4): E, G (Pa), density, relaxation time; `laws` (k, m). `softer` (k, 3): the stiffness
    of a section over that which its point has, 1 but next to jumps (`jumps`). There moments are those of the section,
    and so are limits, in moments; of flags, whose limits store energy, the energies are.
    """
    known: dict[bytes, Branches] = {}
    rounded = len(np.unique(fibres, axis=0)) > _FEW
    of_points = []
    for place, section, numbers, law in zip(s.tolist(), fibres, stuff, laws, strict=True):
        key = section.tobytes() + numbers.tobytes() + law.tobytes()
        if key not in known:
            known[key] = _branches_at(place, section, numbers, law, rounded)
        of_points.append(known[key])
    count = max(least, *(len(one) for one in of_points))
    if not count:
        return Branches(rows=0)
    made = Branches.joined([_padded(one, count) for one in of_points])
    ratio = np.repeat(softer, count, axis=0)
    made.limit[:] *= np.where((made.kind == FLAG)[:, None], np.sqrt(ratio), ratio)
    return made


def _branches_at(s: float, fibres: FloatArray, stuff: FloatArray, law: FloatArray, rounded: bool) -> Branches:
    """Those of one point; none if it is elastic."""
    stress, hardening, upper, lower, strain, *prony = law.tolist()
    pairs = [pair for pair in zip(prony[::2], prony[1::2], strict=True) if pair[0] > 0.0]
    given: dict[str, Any] = {"prony": pairs} if pairs else {}
    if stress < math.inf:
        given |= {"yield_stress": stress, "hardening": hardening}
    if upper < math.inf:
        given["superelastic"] = upper, lower, strain
    if not given:
        return Branches(rows=0)
    E, G, density, _ = stuff.tolist()
    kind, a, b = fibres.tolist()
    if kind == _RING:
        section = Section.tube(a, b) if b > 0.0 else Section.circle(a)
    elif kind == _FLAT:
        section = Section.rectangle(a, b)
    else:
        section = Section.custom(area=1.0, I1=1.0, I2=1.0, J=1.0, shear1=1.0, shear2=1.0)
    try:
        return branches_of(section, Material(E, 0.0, density, shear_modulus=G, **given), rounded=rounded)
    except InputError as problem:
        raise InputError(f"at s = {s:g} m: {problem}") from None


def _padded(branches: Branches, count: int) -> Branches:
    """These branches, and as many more that take no part as there must be."""
    if len(branches) == count:
        return branches
    idle = Branches(rows=count - len(branches))
    idle.kind[:], idle.limit[:] = SLIDER, math.inf
    return Branches.joined([branches, idle]) if len(branches) else idle
