"""What can differ from scene to scene of a batch besides what can be set, and what hangs on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from sennit import validation
from sennit.bodies.rigid import inertia
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.filling import make_of
from sennit.bodies.rod.made import RodMatter
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.slider import Slider
from sennit.errors import InputError
from sennit.material import Material, Section
from sennit.scene.colliding import ContactPair, SceneContacts
from sennit.scene.scene import Scene

__all__ = [
    "OF_SCENES", "REST", "change", "change_laws", "describe", "describe_law", "laws_kept", "refusal", "varies",
]  # fmt: skip

_OF_RODS = frozenset({"youngs_modulus", "shear_modulus", "density", "relaxation_time", "radius"})
REST = frozenset({"rest_curvature", "rest_twist"})
"""Of rods, along them: can be set, too."""
_OF_RIGIDS = frozenset({"mass", "inertia"})
_OF_SLIDERS = frozenset({"friction"})
OF_SCENES = frozenset(
    {"section", "material", "properties", "damping", "rest_curvature", "rest_twist", "mass", "inertia", "friction"}
)
"""What scenes let be set on bodies, and batches let vary at most."""


def varies(thing: Any) -> frozenset[str]:
    """What `Batch.vary` gives to a thing besides what can be set on it."""
    if isinstance(thing, Rod):
        alike = isinstance(thing.section, Section) and isinstance(thing.material, Material)
        return _OF_RODS | REST if alike else REST
    if isinstance(thing, RigidBody):
        return _OF_RIGIDS
    return _OF_SLIDERS if isinstance(thing, Slider) else frozenset()


_REASONS = {
    "length": "points, masses and the places of what is tied to it follow from it",
    "section": "vary its radius, or set another section on the scene before the batch is made",
    "material": "vary its numbers: youngs_modulus, shear_modulus, density, relaxation_time",
    "damping": "vary its relaxation_time",
    "properties": "set others on the scene before the batch is made",
}
"""Why what looks like a property of a rod is not taken."""


def refusal(thing: Any, name: str) -> str:
    """Why `name` of `thing` can't differ from scene to scene, in words; "" if there is nothing to say."""
    if isinstance(thing, Rod) and name in _OF_RODS - varies(thing):
        return f"{name} of {thing.name} can't differ from scene to scene: it is made of numbers that change along it"
    if not isinstance(thing, Rod) or name not in _REASONS:
        return ""
    return f"{name} of {thing.name} can't differ from scene to scene: {_REASONS[name]}"


def change(scene: Scene, thing: Any, given: Mapping[str, Any], name: str) -> None:
    """Let `thing` have what was `given` to it, of which `name` is new, and bring up to date what hangs on it."""
    if name not in varies(thing):
        value = given[name]
        setattr(thing, name, value if np.ndim(value) else value.item())
        return
    system: Any = scene._system
    if isinstance(thing, Rod) and name in REST:
        thing._bend_tables(name, given[name])
    elif isinstance(thing, Rod):
        section, material = matter(thing, given)
        if name == "radius" and system.touching is not None:
            raise InputError(
                f"radius of {thing.name} can't differ from scene to scene where things may touch: the tables in which "
                f"contacts are looked for are laid out for it"
            )
        made = RodMatter(section, material, np.zeros((0, 3)), added=thing.added_masses)
        make_of(thing._tables, made, as_heavy=name not in ("density", "radius"))
        for rider in scene._bodies:
            if isinstance(rider, Slider) and rider.rod is thing:
                rider._row.mass[0] = rider._effective_mass()
    elif isinstance(thing, RigidBody):
        row = thing._row
        mass = validation.number("mass", given.get("mass", row.mass[0]), positive=True)
        if "inertia" in given:
            moments = np.array(given["inertia"])
            tensor = inertia.check_inertia("inertia", np.diag(moments) if moments.ndim == 1 else moments)
        else:
            tensor = thing.inertia * (mass / float(row.mass[0]))
        with validation.in_range("mass and inertia of a rigid body"):
            inverse = np.linalg.inv(tensor)
        spin = thing.angular_velocity
        row.mass[0], row.inertia[0], row.inverse[0] = mass, tensor.ravel(), inverse.ravel()
        thing.angular_velocity = spin
    else:
        friction = validation.number("friction", given["friction"], minimum=0.0)
        if thing.friction == 0.0:
            raise InputError(f"{thing.name} was made without friction: make it with some, which can be varied then")
        scene._slider_rows[thing]._rows.friction[0] = friction
    system.layout._share_masses()
    scene._forces_jumped()
    system.account_anew()


def matter(rod: Rod, given: Mapping[str, Any]) -> tuple[Section, Material]:
    """Section and material of a rod that was given other numbers. An isotropic material keeps its Poisson's ratio."""
    section, old = rod.section, rod.material
    if "radius" in given:
        if section.kind != "circle":
            raise InputError(f"{rod.name} has a section of kind {section.kind!r}: the radius of a circle can be varied")
        section = Section.circle(float(given["radius"]))
    names = ("youngs_modulus", "shear_modulus", "density", "relaxation_time")
    return section, old.varied(**{name: float(given[name]) for name in names if name in given})


def describe(thing: Any, given: Mapping[str, Any]) -> None:
    """Let the objects of a scene tell what was given to its tables."""
    if isinstance(thing, Rod) and _OF_RODS & given.keys():
        section, material = matter(thing, given)
        thing._told_otherwise(section, material)
    elif isinstance(thing, Rod):
        thing._told_otherwise(thing.section, thing.material)
    elif isinstance(thing, Slider) and "friction" in given:
        thing._friction = float(given["friction"])


def change_laws(given: Mapping[Any, Mapping[str, Any]]) -> None:
    """Let pairs, and what holds for all others, have the numbers that were given to them, in the tables of a scene."""
    for thing, numbers in given.items():
        thing._told(**{name: float(value) for name, value in numbers.items()})


@contextmanager
def laws_kept(scene: Scene) -> Iterator[None]:
    """What rules say is as it was, afterwards: what differs from scene to scene is in the tables of each."""
    rules = scene._rules
    default, laws = rules.default, [rule.law for rule in rules.rules]
    try:
        yield
    finally:
        rules.default = default
        for rule, law in zip(rules.rules, laws, strict=True):
            rule.law = law


def describe_law(made: Scene, own: ContactPair | SceneContacts, given: Mapping[str, Any]) -> None:
    """Let the rules of `made`, a copy of the scene of `own`, say what was given to its tables."""
    numbers = {name: float(value) for name, value in given.items()}
    if isinstance(own, SceneContacts):
        made._rules.default = replace(made._rules.default, **numbers)
        return
    place = next(i for i, rule in enumerate(own._owner._rules.rules) if rule is own._rule)
    rule = made._rules.rules[place]
    assert rule.law is not None
    rule.law = replace(rule.law, **numbers)
