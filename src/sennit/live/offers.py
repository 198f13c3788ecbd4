"""What a page can plot of any scene, whether it declares something or not: energies, tensions, forces, bends."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sennit.bodies.rod.rod import Rod
from sennit.constraints.cable.cable import Cable
from sennit.constraints.constraint import AbstractConstraint
from sennit.controls import Watch
from sennit.scene.scene import Scene

__all__ = ["Value", "offered_watches", "values_of"]

MOST = 40


def offered_watches(scene: Scene, constraints: Sequence[AbstractConstraint]) -> list[Watch]:
    """Values of `scene` and of these `constraints` that a person may choose to plot.

    The energies are plotted from the beginning where the scene declares nothing to watch.
    """
    taken = {watch.name for watch in scene.watches}
    found: list[Watch] = []

    def offer(name: str, read: Callable[[], float], unit: str, chosen: bool = False) -> None:
        if name not in taken and len(found) < MOST:
            taken.add(name)
            found.append(Watch(name, read, unit, chosen))

    alone = not scene.watches
    offer("kinetic energy", lambda: scene.energy.kinetic, "J", alone)
    offer("total energy", lambda: scene.energy.total, "J", alone)
    values = [value for thing in (*constraints, *scene.bodies) for value in values_of(thing)]
    for value in sorted(values, key=lambda value: value.rank):
        offer(value.name, value.read, value.unit)
    return found


@dataclass(frozen=True, eq=False, slots=True)
class Value:
    """Something of a body or a constraint that can be plotted."""

    name: str
    read: Callable[[], float]
    unit: str
    rank: int
    """Those of a lower rank are listed first."""


@functools.singledispatch
def values_of(thing: Any) -> tuple[Value, ...]:
    """What can be plotted of a body or a constraint: a registry of kinds; nothing of what is unknown."""
    return ()


@values_of.register(AbstractConstraint)
def _of_constraint(constraint: AbstractConstraint) -> tuple[Value, ...]:
    return (Value(f"force of {constraint.name}", lambda: float(np.linalg.norm(constraint.force)), "N", 2),)


@values_of.register(Cable)
def _of_cable(cable: Cable) -> tuple[Value, ...]:
    return (Value(f"tension of {cable.name}", lambda: cable.tension, "N", 0),)


@values_of.register(Rod)
def _of_rod(rod: Rod) -> tuple[Value, ...]:
    """The least radius; a gap in the plot where the rod is straight."""

    def read() -> float:
        radius = rod.minimum_bend_radius
        return radius if math.isfinite(radius) else math.nan

    return (Value(f"least bend radius of {rod.name}", read, "m", 1),)
