"""What a rod is made of, which can be changed while its scene runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sennit import validation
from sennit.bodies.body import AbstractBody
from sennit.bodies.rod.along import Along, numbers_along
from sennit.bodies.rod.branches.fibres import branches_of
from sennit.bodies.rod.branches.kernels.flow import MAXWELL
from sennit.bodies.rod.cutting import LEAST_SPANS
from sennit.bodies.rod.table import POSITIVE, Rods, RodTables, fill_constants, make_of, stiffness_of
from sennit.errors import InputError
from sennit.material import Material, Section
from sennit.validation import FloatArray, quoted

__all__ = ["MadeRod", "RodMatter", "checked_material", "checked_section"]


@dataclass(frozen=True, eq=False)
class RodMatter:
    """Section, material, and the strains that cost no force."""

    section: Section
    """Its cross-section."""
    material: Material
    """What it is made of."""
    rest: FloatArray
    """κ̂1, κ̂2, τ̂ at the places that have strains of their own: (k, 3), 1/m."""
    annealed: bool = False
    """Whether nothing has flowed in its branches where it begins to be this."""


class MadeRod(AbstractBody):
    """The part of a `Rod` that knows what it is made of.

    Its stiffness and rest strains are numbers of its tables that every step reads afresh: when they change, shape and
    strains stay, moments and tensions are those of the new numbers at once, and no matrix is analysed anew.
    """

    _tables: RodTables

    def __init__(self, tables: RodTables, section: Section, material: Material, name: str | None) -> None:
        super().__init__(name)
        self._tables = tables
        self._section, self._material = section, material
        self._made_of: RodMatter | None = None
        """What it is made of now, if somebody has asked."""
        self._limits: tuple[float | None, float | None] = (None, None)
        """Tension, N, and bending, 1/m, at which it breaks."""

    @property
    def section(self) -> Section:
        """Its cross-section. Can be set at any time."""
        return self._section

    @section.setter
    def section(self, value: Section) -> None:
        self._become(replace(self._matter(), section=checked_section(value)))

    @property
    def material(self) -> Material:
        """What it is made of. Can be set at any time."""
        return self._material

    @material.setter
    def material(self, value: Material) -> None:
        self._become(replace(self._matter(), material=checked_material(value)))

    @property
    def damping(self) -> float:
        """Its material's relaxation time, s. Can be set at any time: the rest of the material stays."""
        return self._material.relaxation_time

    @damping.setter
    def damping(self, value: float) -> None:
        made = self._material.varied(relaxation_time=validation.number("damping", value, minimum=0.0))
        self._become(replace(self._matter(), material=made))

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
        branches, made = t.branches, np.zeros((len(t.bend_u), 3))
        lasting = branches.kind != MAXWELL
        if lasting.any():
            flowed = t.slips.strain.reshape(len(t.bend_u), len(branches), 3)[:, lasting]
            made = np.einsum("pki,ki->pi", flowed, branches.share[lasting])
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
        """EA (N), E I1, E I2 and G J (N·m²): (4,)."""
        return self._tables.stiffness

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
            self._made_of = RodMatter(self._section, self._material, self._rest_now())
        return self._made_of

    def _check_matter(self, matter: RodMatter) -> None:
        row, known = Rods(rows=1), self._tables.branches.kind
        if not np.array_equal(branches_of(matter.section, matter.material).kind, known):
            raise InputError(
                f"{self.name} can't be made of that: whether it creeps, yields or transforms is settled when a rod is "
                f"made, and by how many branches it does, {len(known)} here"
            )
        with validation.in_range(f"section and material of {self.name}"):
            fill_constants(row, matter.section, matter.material)
            stiffness = stiffness_of(matter.section, matter.material).tolist()
        names = "stretch stiffness", "bend stiffness1", "bend stiffness2", "twist stiffness"
        numbers = dict(zip(names, stiffness, strict=True))
        for field in POSITIVE:
            numbers[field.replace("_", " ")] = float(getattr(row, field)[0])
        for what, number in numbers.items():
            if not 0.0 < number < np.inf:
                raise InputError(f"{self.name} can't be made of that: its {what} would be {number}")

    def _be_of(self, matter: RodMatter) -> None:
        t = self._tables
        if matter.section is not self._section or matter.material is not self._material:
            heavy = matter.section is self._section and matter.material.density == self._material.density
            make_of(t, matter.section, matter.material, as_heavy=heavy)
        t.model.rest_strains(t)[1][:] = matter.rest
        if matter.annealed:
            t.slips.strain[:] = 0.0
            matter = replace(matter, annealed=False)
        self._section, self._material, self._made_of = matter.section, matter.material, matter

    def _told_otherwise(self, section: Section, material: Material) -> None:
        """Its tables were given numbers of another section and material: let it tell them."""
        self._section, self._material, self._made_of = section, material, None

    def _reach_of_matter(self) -> float:
        return self._section.radius


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
