"""Writes what a rod is made of into its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sennit.bodies.making import check_given
from sennit.bodies.rod.jumps import stiffness_of_points
from sennit.bodies.rod.made import (
    AddedMass,
    RodMatter,
    as_materials,
    as_properties,
    as_sections,
    check_numbers,
    pieces_along,
)  # fmt: skip
from sennit.bodies.rod.model import RodModel
from sennit.bodies.rod.places import gauss_between, split
from sennit.bodies.rod.table import RodTables
from sennit.material import Material, Section
from sennit.validation import FloatArray

__all__ = ["add_mass", "built", "make_of"]


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
        t.take_branches(matter.branches)
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
    t.take_branches(matter.branches)
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
    t.branches.fill(matter.branches)
    t.rods.radius[0] = values[:, 7].max()
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
