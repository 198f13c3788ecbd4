"""Writes what a rod is made of into its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sennit.bodies.making import check_given
from sennit.bodies.rod.branches.along import branches_along, fibres_of, laws_of
from sennit.bodies.rod.branches.fibres import branches_of
from sennit.bodies.rod.branches.strands import sticking_strands
from sennit.bodies.rod.branches.table import Branches, repeated
from sennit.bodies.rod.jumps import stiffness_of_points
from sennit.bodies.rod.made import (
    AddedMass,
    Materials,
    Numbers,
    RodMatter,
    Sections,
    as_materials,
    as_properties,
    as_sections,
    check_numbers,
    pieces_along,
    stuff_of,
)  # fmt: skip
from sennit.bodies.rod.model import RodModel
from sennit.bodies.rod.places import gauss_between, split
from sennit.bodies.rod.table import RodTables
from sennit.material import Material, Section
from sennit.validation import FloatArray

__all__ = ["add_mass", "branches_of_points", "built", "fill_girths", "make_of"]


def built(
    model: RodModel, points: FloatArray, of: tuple[Any, Any, Any, Any], options: Mapping[str, Any], name: str
) -> tuple[RodTables, RodMatter]:
    """The tables of a rod with the control points (n, 3), and what it is made of: section, material, pieces, or
    properties, of which one way is given.
    """
    section, material, pieces, properties = of
    check_given("rod", section, material, pieces=pieces, properties=properties)
    plain = isinstance(section, Section) and isinstance(material, Material)
    # What varies is asked for at places that the tables tell: they are made with any numbers first.
    stand_in = Section.circle(1.0), Material(1.0, 0.0, 1.0)
    t = model.tables(points, *((section, material) if plain else stand_in), **options)
    if plain:
        matter = RodMatter(section, material, model.rest_strains(t)[1])
        t.take_branches(branches_of_points(t, matter))
        return t, matter
    if pieces is not None:
        t.jumps, section, material = pieces_along(pieces, t.length)
        t.jumps = np.concatenate((np.zeros(int(t.closed)), t.jumps))  # a closed rod jumps where it begins, too
    if properties is not None:
        matter = RodMatter(None, None, model.rest_strains(t)[1], as_properties(properties, t.places))
    else:
        sections, materials = as_sections(section, t.places), as_materials(material, t.places)
        matter = RodMatter(sections, materials, model.rest_strains(t)[1])
    check_numbers(name, matter, t.places)
    t.take_branches(branches_of_points(t, matter))
    make_of(t, matter)
    return t, matter


def make_of(t: RodTables, matter: RodMatter, *, as_heavy: bool = False) -> None:
    """Let a rod be of another matter from now on: its shape, and what is stress free, stay.

    Its tables are what they would be had it been made so, and its stored tension goes with EA: it is that of the
    present strain. What others know of its mass is not looked at. `as_heavy`: its masses, which take most of the time,
    are those that it has.
    """
    numbers = matter.numbers
    values, uniform, places = numbers.values, numbers.uniform, t.places
    before = t.stretches.stiffness.copy()
    t.bends.stiffness[:], t.stretches.stiffness[:] = stiffness_of_points(t, numbers)
    t.bends.relaxation[:] = values[0, 4] if uniform else values[places.bend, 4]
    t.stretches.relaxation[:] = values[0, 4] if uniform else values[places.stretch, 4]
    t.stretch.tension[:] *= t.stretches.stiffness / before
    branches = branches_of_points(t, matter)
    t.slips.strain[branches.kind != t.branches.kind] = 0.0  # where one of them has no part in the stiffness
    t.branches.fill(branches)
    t.rods.radius[0] = values[:, 7].max()
    fill_girths(t, numbers)
    along = values[0, 5] if uniform else values[places.mass, 5]
    t.rods.mass_per_length[0] = along if uniform else places.mass_w @ along / places.length
    if as_heavy:
        return
    if uniform:
        masses = t.model.masses(t, float(values[0, 5]), float(values[0, 6]))
    else:
        inertia = values[places.mass, 6]
        masses = t.model.lumped(t, places.mass_u, places.mass_w * along, places.mass_w * inertia)
    t.masses.fill_fields(masses, ("mass", "roll", "total"))
    for one in matter.added:
        add_mass(t, one)


def fill_girths(t: RodTables, numbers: Numbers) -> None:
    """How thick its spans are at both ends, from the places next to these where its masses are integrated."""
    thinner = t.girths.thinner
    if numbers.uniform:
        thinner[:] = 0.0
        return
    places = t.places
    own = (
        np.abs(places.mass_u - np.round(places.mass_u)) > 1e-6
    )  # none between a knot and a jump that is as good as there
    u, radii, knots = places.mass_u[own], numbers.values[places.mass, 7][own], np.arange(t.spans + 1)
    at = np.searchsorted(u, knots)
    for end, knot, near, next_one in ((0, knots[:-1], at[:-1], at[:-1] + 1), (1, knots[1:], at[1:] - 1, at[1:] - 2)):
        slope = (radii[next_one] - radii[near]) / (u[next_one] - u[near])
        thinner[:, end] = radii[near] + (knot - u[near]) * slope
    largest = numbers.values[:, 7].max()
    thinner[:] = 1.0 - np.clip(thinner, numbers.values[:, 7].min(), largest) / largest


def branches_of_points(t: RodTables, matter: RodMatter) -> Branches:
    """The branches of all its bending points, one after the other, of a rod that is made of that.

    Of points next to a jump as their present stiffness is, in place of that of the section there.
    """
    points, properties, section, material = len(t.bend_u), matter.properties, matter.section, matter.material
    if properties is not None:
        if properties.slipping is None:
            return Branches(rows=0)
        rows = slice(None) if properties.uniform else t.places.bend
        made = sticking_strands(properties.values[rows, 1], *properties.slipping[rows].T)
        return repeated(made, points) if properties.uniform else made
    if isinstance(section, Section) and isinstance(material, Material):
        return repeated(branches_of(section, material), points)
    assert section is not None and material is not None
    if isinstance(material, Materials):
        laws = material.laws
    else:
        laws = None if material.elastic else laws_of(material, len(material.prony))[None]
    if laws is None:
        return Branches(rows=0)
    bend = t.places.bend
    fibres = section.fibres if isinstance(section, Sections) else fibres_of(section)[None]

    def here(told: FloatArray) -> FloatArray:
        return told[bend] if len(told) > 1 else np.repeat(told, points, axis=0)

    softer = here(matter.numbers.values[:, 1:4]) / t.bends.stiffness
    # a piece of a rod that yields elsewhere has as many branches as that
    least = int(t.rods.branches[0])
    return branches_along(here(fibres), here(stuff_of(material)), here(laws), t.places.s[bend], softer, least)


def add_mass(t: RodTables, added: AddedMass) -> None:
    """Spread a mass evenly over its part of the rod."""
    half = 0.5 * added.length
    ends = np.array((added.at - half, added.at + half))
    if t.closed and ends[0] < 0.0:
        ends += t.length
    if added.length > 0.0:
        s, weights = gauss_between(split(ends, np.concatenate((t.knot_lengths, t.knot_lengths + t.length))), 4)
    else:
        s, weights = np.array((added.at,)), np.ones(1)
    u = t.model.parameter_at(t, np.mod(s, t.length) if t.closed else s)
    mass = added.mass * weights / weights.sum()
    more = t.model.lumped(t, np.atleast_1d(u), mass, 0.5 * added.radius**2 * mass)
    for name in ("mass", "roll", "total"):
        getattr(t.masses, name)[:] += getattr(more, name)
