"""What things are made of, to the eye: the surfaces of ropes, and how rough and how metallic parts are."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from sennit.material import Look, Material, Section

__all__ = ["BARE", "FLESH", "MATT", "PAINTED", "POLISHED", "SURFACES", "Finish", "body_finish", "look_of", "rod_finish"]


class Finish(NamedTuple):
    """How a surface throws light back; fields of `Part`."""

    rough: float
    metal: float


BARE = Finish(0.34, 0.85)
"""Of steel without paint: pins, clamps, wheels."""
PAINTED = Finish(0.42, 0.25)
"""Of steel under paint."""
POLISHED = Finish(0.28, 0.1)
"""Of pearls and beads."""
MATT = Finish(0.85, 0.0)
"""Of ground, stone and wood."""
FLESH = Finish(0.48, 0.0)
"""Of soft solids."""
SURFACES: dict[Look, Finish] = {
    "laid": Finish(0.85, 0.0),
    "braid": Finish(0.7, 0.0),
    "wire": Finish(0.36, 0.6),
    "jacket": Finish(0.38, 0.0),
    "smooth": Finish(0.4, 0.0),
}
"""Of rods, by their look."""

_STEEL = 6000.0
"""Density, kg/m³, above which a rod is metal: fibres, wood, plastics and flesh are below a third of that."""
_SOLID = 1.5e11
"""Young's modulus, Pa, above which a metal rod is one piece: ropes of wires yield to about 1e11."""
_SLENDER = 80.0
"""Length over radius of what is flexible enough to be a rope."""


def look_of(section: Section | None, material: Material | None, length: float = math.inf) -> Look:
    """The look of a rod or cable of a rest length, m: what its material says, else what its numbers suggest.

    A slender round rod of metal is a wire rope unless it is as stiff as solid steel; one of about the density and the
    stiffness of fibres is laid. A cable that nothing is said of is a wire rope. Flat and hollow ones are smooth.
    """
    if section is not None and section.kind == "rectangle":
        return "smooth"
    if material is not None and material.look is not None:
        return material.look
    if section is not None and (section.kind == "tube" or length < _SLENDER * section.radius):
        return "smooth"
    if material is None:
        return "wire"
    if material.density > _STEEL:
        return "wire" if material.youngs_modulus < _SOLID else "smooth"
    return "laid" if 500.0 < material.density < 1600.0 and material.youngs_modulus < 2e10 else "smooth"


def rod_finish(look: Look, material: Material | None) -> Finish:
    """How a rod or cable throws light back: metal without a look of its own is bare."""
    return BARE if look == "smooth" and material is not None and material.density > _STEEL else SURFACES[look]


def body_finish(form: dict[str, Any], mass: float) -> Finish:
    """How a rigid body throws light back: painted, if it is as dense as metal is, else matt or a little polished."""
    volume = _volume(form)
    if volume > 0.0 and mass > 2500.0 * volume:
        return PAINTED
    return Finish(0.5, 0.0) if form.get("kind") in ("sphere", "capsule") else Finish(0.7, 0.0)


def _volume(form: dict[str, Any]) -> float:
    """Of a rigid body's form, m³; 0 of one that is none of the simple ones."""
    kind = form.get("kind")
    if kind == "box":
        return float(math.prod(form["size"]))
    if kind == "sphere":
        return 4.0 / 3.0 * math.pi * float(form["radius"]) ** 3
    if kind in ("cylinder", "capsule"):
        radius, length = float(form["radius"]), float(form["length"])
        return math.pi * radius**2 * (length + (4.0 / 3.0 * radius if kind == "capsule" else 0.0))
    return 0.0
