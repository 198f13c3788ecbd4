"""How stiff a cable is, and what its dampers take, as users give it."""

from __future__ import annotations

import math

from sennit import validation
from sennit.constraints.cable.table import Cables
from sennit.errors import InputError
from sennit.material import Material, Section, elastic_material
from sennit.validation import quoted

__all__ = ["or_infinite", "stiffen"]


def stiffen(
    cables: Cables, length: float, section: Section | None, material: Material | None, stretch: float | None,
    twist: float | None, damping: float, twist_damping: float,
) -> None:  # fmt: skip
    """Set the stiffnesses and the times of the dampers of a cable of `length` (m) in its row of `cables`."""
    c = validation.number("damping", damping, minimum=0.0)
    k = validation.number("twist_damping", twist_damping, minimum=0.0)
    if section is not None or material is not None:
        if not isinstance(section, Section) or not isinstance(material, Material):
            raise InputError(
                "a cable needs both a section and a material, or stretch_stiffness in place of them, got "
                f"section={quoted(section)}, material={quoted(material)}"
            )
        for name, given in (("stretch_stiffness", stretch), ("twist_stiffness", twist)):
            if given is not None:
                raise InputError(f"give section and material, or stiffnesses, not both, got {name}={quoted(given)}")
        elastic_material(material, "a cable")
        cables.stretch_stiffness[0] = material.youngs_modulus * section.area
        cables.twist_stiffness[0] = material.shear_modulus * section.J
        relaxation = material.relaxation_time
    else:
        if stretch is None:
            raise InputError("a cable needs section= and material=, or stretch_stiffness= (N/m), got neither")
        cables.stretch_stiffness[0] = length * _stiffness("stretch_stiffness", stretch)
        cables.twist_stiffness[0] = length * _stiffness("twist_stiffness", twist) if twist is not None else math.inf
        relaxation = 0.0
    cables.stretch_time[0] = relaxation + (c * length / cables.stretch_stiffness[0] if c > 0.0 else 0.0)
    cables.twist_time[0] = relaxation + (k * length / cables.twist_stiffness[0] if k > 0.0 else 0.0)


def _stiffness(name: str, value: object) -> float:
    if validation.infinite(value):
        return math.inf
    found = validation.number(name, value, positive=True)
    if math.isinf(1.0 / found):
        raise InputError(f"{name} must have an inverse, the compliance, got {quoted(value)}")
    return found


def or_infinite(name: str, value: object) -> float:
    """A positive number; infinite if none was given."""
    return math.inf if value is None else validation.number(name, value, positive=True)
