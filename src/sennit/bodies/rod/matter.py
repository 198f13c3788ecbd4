"""What a rod is made of, which can be changed while its scene runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sennit import validation
from sennit.bodies.along import Along, numbers_along
from sennit.bodies.body import AbstractBody
from sennit.bodies.making import FunctionOfS
from sennit.bodies.rod.branches.kernels.flow import MAXWELL
from sennit.bodies.rod.cutting import LEAST_SPANS
from sennit.bodies.rod.filling import branches_of_points, make_of
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
)  # fmt: skip
from sennit.bodies.rod.table import RodTables
from sennit.errors import InputError
from sennit.material import Material, Properties, Section
from sennit.validation import FloatArray, quoted

__all__ = ["MadeRod"]


class MadeRod(AbstractBody):
    """The part of a `Rod` that knows what it is made of.

    Its stiffness and rest strains are numbers of its tables that every step reads afresh: when they change, shape and
    strains stay, moments and tensions are those of the new numbers at once, and no matrix is analysed anew.
    """

    _tables: RodTables

    def __init__(
        self, tables: RodTables, section: Section | Sections | None, material: Material | Materials | None,
        name: str | None, properties: Numbers | None = None, added: Sequence[AddedMass] = (),
    ) -> None:  # fmt: skip
        super().__init__(name)
        self._tables = tables
        self._section, self._material = section, material
        self._properties, self._added = properties, tuple(added)
        self._made_of: RodMatter | None = None
        """What it is made of now, if somebody has asked."""
        self._limits: tuple[float | None, float | None] = (None, None)
        """Tension, N, and bending, 1/m, at which it breaks."""

    @property
    def section(self) -> Any:
        """Its cross-section: a `Section`; where it varies, an object that has the numbers along the rod (`s`, `values`,
        `radius`, the largest); None, if properties were given.

        Can be set at any time to what `Rod.straight` takes: a section, a list of them, or a function of s.
        """
        return self._section

    @section.setter
    def section(self, value: Section | Sequence[Section] | FunctionOfS) -> None:
        self._check_not_given("section")
        self._become(replace(self._matter(), section=as_sections(value, self._tables.places)))

    @property
    def material(self) -> Any:
        """What it is made of: a `Material`; where it varies, an object that has the numbers along the rod (`s`,
        `values`); None, if properties were given.

        Can be set at any time to what `Rod.straight` takes: a material, a list of them, or a function of s.
        """
        return self._material

    @material.setter
    def material(self, value: Material | Sequence[Material] | FunctionOfS) -> None:
        self._check_not_given("material")
        self._become(replace(self._matter(), material=as_materials(value, self._tables.places)))

    def _check_not_given(self, name: str) -> None:
        if self._properties is not None:
            raise InputError(
                f"{name} of {self.name} can't be set: it was made with properties. Set its properties, which take the "
                f"place of section and material"
            )

    @property
    def properties(self) -> FloatArray | None:
        """EA (N), EI about d1 and d2, GJ (N·m²), relaxation time (s), mass (kg/m), inertia of roll (kg·m), radius (m),
        as they were given: (8,), or (k, 8) along the rod where they vary; None, if section and material were given. EI
        of strands that stick is `EI_stuck`.

        Can be set at any time to a `Properties`, which take the place of section and material.
        """
        given = self._properties
        if given is None:
            return None
        return (given.values[0] if given.uniform else given.values).copy()

    @properties.setter
    def properties(self, value: Properties) -> None:
        given = as_properties(value, self._tables.places)
        self._become(replace(self._matter(), section=None, material=None, properties=given))

    @property
    def radius(self) -> float:
        """Radius of its section, m: the largest, where that varies."""
        return float(self._tables.rods.radius[0])

    @property
    def damping(self) -> float:
        """Relaxation time of its material, s: the largest, where that varies.

        Can be set at any time, to one for the whole rod; the rest of the material stays.
        """
        return float(self._matter().numbers.values[:, 4].max())

    @damping.setter
    def damping(self, value: float) -> None:
        time, matter = validation.number("damping", value, minimum=0.0), self._matter()
        if matter.properties is not None:
            numbers = matter.properties.values.copy()
            numbers[:, 4] = time
            self._become(replace(matter, properties=replace(matter.properties, values=numbers)))
            return
        old = self._material
        if isinstance(old, Materials):
            stuff = old.values.copy()
            stuff[:, 3] = time
            self._become(replace(matter, material=replace(old, values=stuff)))
            return
        assert old is not None
        self._become(replace(matter, material=old.varied(relaxation_time=time)))

    def _checked_s(self, name: str, s: float) -> float:
        value, length = validation.number(name, s), self._tables.length
        slack = 1e-9 * length
        if self._tables.closed:
            return value % length
        if not -slack <= value <= length + slack:
            raise InputError(f"{name} must be from 0 to the rod's length {length:g} m, got {quoted(s)}")
        return min(max(value, 0.0), length)

    def add_mass(
        self, *, at: float, mass: float, length: float = 0.0, radius: float | None = None
    ) -> AddedMass:  # fmt: skip
        """Put a mass on the rod, such as a ferrite or a connector, without a body or rows of its own; any time.

        `mass` (kg) is spread evenly over `length` (m) of the rod, with its middle at the rest length `at` (m). It rolls
        with the rod as a solid cylinder of `radius` (m; that of the rod, if left out); across, its inertia is that of
        its length. Nothing becomes stiffer by it. Returns what `remove_mass` takes.
        """
        size, place = self._tables.length, self._checked_s("at", at)
        spread = min(validation.number("length", length, minimum=0.0, maximum=size * (1.0 + 1e-9)), size)
        if not self._tables.closed:
            low, high = 0.5 * spread, size - 0.5 * spread
            if not low - 1e-9 * size <= place <= high + 1e-9 * size:
                raise InputError(
                    f"a mass of length {spread:g} m must lie on the rod: at must be from {low:g} to {high:g} m, got "
                    f"{quoted(at)}"
                )
            place = min(max(place, low), high)
        thick = self.radius if radius is None else validation.number("radius", radius, positive=True)
        added = AddedMass(place, validation.number("mass", mass, positive=True), spread, thick)
        self._become(replace(self._matter(), added=(*self._added, added)))
        return added

    def remove_mass(self, added: AddedMass) -> None:
        """Take off a mass: `added` is what `add_mass` returned."""
        if not any(one is added for one in self._added):
            raise InputError(f"{self.name} has no such mass: give what add_mass returned, got {quoted(added)}")
        self._become(replace(self._matter(), added=tuple(one for one in self._added if one is not added)))

    @property
    def added_masses(self) -> tuple[AddedMass, ...]:
        """What `add_mass` has put on it."""
        return self._added

    @property
    def rest_curvature(self) -> FloatArray:
        """κ̂1, κ̂2 (1/m) about d1, d2 that it takes when nothing acts on it, at the places of `rest_strains`: (k, 2).

        Can be set at any time: to two numbers; to an array (m, 2), at the k places if m is k, else at m equal steps
        from end to end, with straight lines between; or to a function of s (m). With a third number that is the rest
        twist (rad/m), which stays as it is without one.
        """
        return self._rest_now()[:, :2]

    @rest_curvature.setter
    def rest_curvature(self, value: Along) -> None:
        self._set_rest("rest_curvature", value, 0, (2, 3))

    @property
    def rest_twist(self) -> FloatArray:
        """Twist (rad/m) without load at the places of `rest_strains`: (k,). Can be set at any time: to a number, an
        array or a function of s, as `rest_curvature`.
        """
        return self._rest_now()[:, 2]

    @rest_twist.setter
    def rest_twist(self, value: Along) -> None:
        self._set_rest("rest_twist", value, 2, (1,))

    @property
    def plastic_curvature(self) -> FloatArray:
        """κ1, κ2 and twist (1/m) that stay when it is unloaded, beyond its rest strains, at the places of
        `rest_strains`: (k, 3). Of what has yielded, slipped or transformed; what only creeps is left out.
        """
        t = self._tables
        lasting = (t.branches.kind != MAXWELL)[:, None] * t.branches.share * t.slips.strain
        made = lasting.reshape(len(t.bend_u), -1, 3).sum(axis=1)
        return np.asarray(made[len(made) - len(self._rest_now()) :])

    def anneal(self) -> None:
        """Let it forget what was done to it: the shape that it has becomes its rest shape in bending and twist, without
        stress, and with nothing that has yielded, crept, slipped or transformed.
        """
        known, strain = self._matter(), self._tables.bend.strain
        self._become(replace(known, rest=strain[len(strain) - len(known.rest) :].copy(), annealed=True))

    @property
    def breaking_load(self) -> float | None:
        """Tension (N) above which it breaks at the end of a step, as by `Rod.cut`; None: it does not. Can be set."""
        return self._limits[0]

    @breaking_load.setter
    def breaking_load(self, value: float | None) -> None:
        self._set_limits(self._limit("breaking_load", value), self._limits[1])

    @property
    def breaking_curvature(self) -> float | None:
        """Curvature away from its rest shape (1/m) above which it breaks, as by `breaking_load`; None: it does not. Can
        be set.
        """
        return self._limits[1]

    @breaking_curvature.setter
    def breaking_curvature(self, value: float | None) -> None:
        self._set_limits(self._limits[0], self._limit("breaking_curvature", value))

    def _limit(self, name: str, value: float | None) -> float | None:
        if value is None:
            return None
        least = 2 * LEAST_SPANS[self._tables.model.name]
        if self._tables.spans < least:
            raise InputError(
                f"{name} of {self.name} can't be set: it has {self._tables.spans} spans, and to be broken it needs "
                f"{least} of them: make it with more control points"
            )
        return validation.number(name, value, positive=True)

    def _set_limits(self, load: float | None, curvature: float | None) -> None:
        self._limits = load, curvature
        if self._scene is not None:
            self._scene._limits_changed()

    def _breaks_at(self) -> float | None:
        """The rest length (m) at which one of its limits is exceeded most; None: nowhere."""
        t, (load, curvature) = self._tables, self._limits
        found: list[tuple[float, float]] = []
        if load is not None:
            k = int(t.stretch.tension.argmax())
            found.append((float(t.stretch.tension[k]) / load, float(t.stretch_u[k])))
        if curvature is not None:
            bent = np.linalg.norm(t.bend.strain[:, :2] - t.bends.rest[:, :2], axis=1)
            k = int(bent.argmax())
            found.append((float(bent[k]) / curvature, float(t.bend_u[k])))
        ratio, u = max(found, default=(0.0, 0.0))
        return float(t.model.length_at(t, np.array([u]))[0]) if ratio > 1.0 else None

    @property
    def stiffness(self) -> FloatArray:
        """EA (N), E I1, E I2 and G J (N·m²): (4,); at the places of `rest_strains`, (k, 4), where they vary."""
        numbers = self._matter().numbers
        if numbers.uniform:
            return self._tables.stiffness
        bend = numbers.values[self._tables.places.bend, :4]
        return bend[len(bend) - len(self._rest_now()) :].copy()

    def rest_strains(self) -> tuple[FloatArray, FloatArray]:
        """Rest lengths (k,), m, of the places where it is bent, and κ1, κ2 and twist there without load: (k, 3)."""
        return self._tables.model.rest_strains(self._tables)[0].copy(), self._rest_now()

    def _rest_now(self) -> FloatArray:
        return self._tables.model.rest_strains(self._tables)[1].copy()

    def _set_rest(self, name: str, value: Any, first: int, widths: tuple[int, ...]) -> None:
        """Set the columns from `first` on to what was given along the rod."""
        self._become(replace(self._matter(), rest=self._rest_with(name, value, first, widths)))

    def _rest_with(self, name: str, value: Any, first: int, widths: tuple[int, ...]) -> FloatArray:
        places, rest = self.rest_strains()
        told = numbers_along(name, value, places, self._tables.length, *widths)
        rest[:, first : first + told.shape[1]] = told
        return rest

    def _bend_tables(self, name: str, value: Any) -> None:
        """Write ``rest_curvature`` or ``rest_twist`` into its tables alone, whose scene's other numbers may be those of
        another scene of a batch.
        """
        first, widths = (0, (2, 3)) if name == "rest_curvature" else (2, (1,))
        self._tables.model.rest_strains(self._tables)[1][:] = self._rest_with(name, value, first, widths)
        self._made_of = None

    # ------------------------------------------------------------------------------------------------- for scenes

    def _matter(self) -> RodMatter:
        if self._made_of is None:
            self._made_of = RodMatter(self._section, self._material, self._rest_now(), self._properties, self._added)
        return self._made_of

    def _check_matter(self, matter: RodMatter) -> None:
        t = self._tables
        known, wanted = t.branches, branches_of_points(t, matter)
        acts = len(known) == len(wanted) and (known.share > 0.0).any(axis=1) & (wanted.share > 0.0).any(axis=1)
        if len(known) != len(wanted) or (acts & (known.kind != wanted.kind)).any():
            raise InputError(
                f"{self.name} can't be made of that: whether it creeps, yields or transforms is settled when a rod is "
                f"made, and by how many branches it does, {t.rods.branches[0]} here"
            )
        check_numbers(self.name, matter, t.places)

    def _be_of(self, matter: RodMatter) -> None:
        t, old = self._tables, self._matter()
        parts = ("section", "material", "properties", "added")
        if any(getattr(matter, name) is not getattr(old, name) for name in parts):
            alike = all(
                a is b or (isinstance(a, float) and a == b) for a, b in zip(matter.heavy, old.heavy, strict=True)
            )
            make_of(t, matter, as_heavy=alike)
        t.model.rest_strains(t)[1][:] = matter.rest
        if matter.annealed:
            t.slips.strain[:] = 0.0
            matter = replace(matter, annealed=False)
        self._section, self._material, self._made_of = matter.section, matter.material, matter
        self._properties, self._added = matter.properties, matter.added

    def _told_otherwise(self, section: Section, material: Material) -> None:
        """Its tables were given numbers of another section and material: let it tell them."""
        self._section, self._material, self._made_of = section, material, None

    def _radius_at(self, s: float) -> float:
        """Radius of its section at the rest length s, m."""
        numbers, places = self._matter().numbers, self._tables.places.s
        if numbers.uniform:
            return self.radius
        order = np.argsort(places, kind="stable")
        return float(np.interp(s, places[order], numbers.values[order, 7]))

    def _thinnest(self) -> float:
        """Radius of its section where that is smallest, m."""
        return self.radius * (1.0 - float(self._tables.girths.thinner.max()))

    def _looks(self) -> tuple[Any, Any, Any]:
        """What its picture follows from: where its sizes stand, and look and colour of its material."""
        material = self._material
        sizes = self._section if self._properties is None else self._properties
        return sizes, None if material is None else material.look, None if material is None else material.colour

    def _reach_of_matter(self) -> float:
        return self.radius
