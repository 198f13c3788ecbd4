"""What a scene file can hold: found by the public classes and their signatures, so that a new one needs nothing here.

A *group* is a table of a file, ``[rod.NAME]`` or ``[[hold]]``. An entry of it is made by one of the group's *makers*:
its keys are the arguments of the maker, and attributes that can be set afterwards.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sennit
from sennit.attributes import settable

__all__ = ["GROUPS", "NAMED", "Group", "Maker", "makers_of", "settings_of", "value_class", "words"]


@dataclass(frozen=True, eq=False)
class Maker:
    """A constructor, or a maker of a class, with its parameters."""

    key: str
    """What a file calls it: ``through`` for `Rod.through`, ``mesh`` for `RigidBody.from_mesh`."""
    make: Callable[..., Any]
    kind: type

    @functools.cached_property
    def parameters(self) -> dict[str, frozenset[str]]:
        """Its parameters, and the words of their annotations."""
        found = inspect.signature(self.make).parameters.values()
        return {one.name: words(one.annotation) for one in found}

    @functools.cached_property
    def required(self) -> list[str]:
        """Parameters without a default, in order."""
        found = inspect.signature(self.make).parameters.values()
        return [one.name for one in found if one.default is one.empty]

    @functools.cached_property
    def first(self) -> list[str]:
        """Those of them that need no name: what the value of the maker's key stands for."""
        found = inspect.signature(self.make).parameters.values()
        return [one.name for one in found if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]


@dataclass(frozen=True)
class Group:
    """A table of a scene file."""

    name: str
    listed: bool
    """``[[name]]``, entries without names of their own; else ``[name.KEY]``."""
    about: str


GROUPS = {
    group.name: group
    for group in (
        Group("material", False, "arguments of Material"),
        Group("section", False, "a maker of Section: circle, tube, rectangle, custom"),
        Group("route", False, "arguments of Route: what holds and obstacles are led along"),
        Group("rod", False, "a maker of Rod: straight, through"),
        Group("rigid", False, "a maker of RigidBody: box, sphere, cylinder, capsule, inertia, mesh"),
        Group("obstacle", False, "a shape of the world, `shapes`, or `inside` with the arguments of Inside"),
        Group("point", False, "a place that several things share"),
        Group("sheave", False, "arguments of Sheave"),
        Group("zone", False, "a maker of Zone: mesh, tetrahedra; what it rides `on`, and its `weight`"),
        Group("slider", False, "arguments of Slider"),
        Group("pearl", False, "arguments of Pearl"),
        Group("hold", True, "a constraint: its `kind` and its arguments"),
        Group("load", True, "arguments of Load"),
        Group("contact", True, "arguments of Scene.collide, or `ignore = true`"),
    )
}
"""The tables that have entries, in the order in which they are read; `scene`, `contacts` and `run` have none."""

NAMED = ("rod", "rigid", "obstacle", "zone", "slider", "pearl")
"""Groups whose entries are things of the scene, called by their keys."""


def words(annotation: object) -> frozenset[str]:
    """The names in an annotation: {"Point", "ArrayLike", "None"} of ``"Point | ArrayLike | None"``."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return frozenset(re.findall(r"[A-Za-z_]\w*", text))


@functools.cache
def makers_of(kind: type) -> dict[str, Maker]:
    """Public makers of a class by what files call them; where it has none, its constructor, called as the class."""
    found = {
        name.removeprefix("from_"): Maker(name.removeprefix("from_"), getattr(kind, name), kind)
        for name, member in vars(kind).items()
        if isinstance(member, classmethod) and not name.startswith("_")
    }
    if kind.__name__ in ("Section", "Rod", "RigidBody", "Zone"):
        return found
    return {kind.__name__.lower(): Maker(kind.__name__.lower(), kind, kind), **found}


@functools.cache
def classes_below(base_name: str) -> dict[str, type]:
    """Public classes of sennit that derive from a class, by their names in small letters."""
    base = _BASES[base_name]()
    public = [getattr(sennit, name) for name in sennit.__all__]
    return {one.__name__.lower(): one for one in public if inspect.isclass(one) and issubclass(one, base)}


def _constraint() -> type:
    from sennit.constraints.constraint import AbstractConstraint

    return AbstractConstraint


def _shape() -> type:
    from sennit.geometry.shapes import AbstractShape

    return AbstractShape


_BASES: dict[str, Callable[[], type]] = {"constraint": _constraint, "shape": _shape}


def holds() -> dict[str, Maker]:
    """Makers of all public constraints."""
    return {name: Maker(name, kind, kind) for name, kind in classes_below("constraint").items()}


def shapes() -> dict[str, Maker]:
    """Makers of all public shapes."""
    return {name: Maker(name, kind, kind) for name, kind in classes_below("shape").items()}


@functools.cache
def value_class(word: str) -> type | None:
    """The public class of sennit that is called so, if its objects are values: a Pose, a Motor, a Section, ..."""
    from sennit.sending import Placed

    if word not in sennit.__all__:
        return None
    found = getattr(sennit, word)
    return found if inspect.isclass(found) and not issubclass(found, Placed) else None


def settings_of(thing: object) -> dict[str, frozenset[str]]:
    """What can be set on an object, or on those of a class, and the words of its annotation."""
    return _settings(thing if isinstance(thing, type) else type(thing))


@functools.cache
def _settings(kind: type) -> dict[str, frozenset[str]]:
    found = {}
    for name in sorted(settable(kind)):
        member = getattr(kind, name, None)
        if isinstance(member, property) and member.fset is not None:
            parameters = list(inspect.signature(member.fset).parameters.values())
            found[name] = words(parameters[1].annotation)
    return found
