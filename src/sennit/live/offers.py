"""What a page can plot of any scene, whether it declares something or not: energies, tensions, forces, bends."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from sennit.bodies.rod.rod import Rod
from sennit.constraints.cable.cable import Cable
from sennit.constraints.constraint import AbstractConstraint
from sennit.controls import Watch
from sennit.scene.scene import Scene

__all__ = ["offered_watches"]

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
    for constraint in constraints:
        if isinstance(constraint, Cable):
            offer(f"tension of {constraint.name}", _tension(constraint), "N")
    for body in scene.bodies:
        if isinstance(body, Rod):
            offer(f"least bend radius of {body.name}", _bend(body), "m")
    for constraint in constraints:
        if not isinstance(constraint, Cable):
            offer(f"force of {constraint.name}", _force(constraint), "N")
    return found


def _tension(cable: Cable) -> Callable[[], float]:
    return lambda: cable.tension


def _force(constraint: AbstractConstraint) -> Callable[[], float]:
    return lambda: float(np.linalg.norm(constraint.force))


def _bend(rod: Rod) -> Callable[[], float]:
    """The least radius; a gap in the plot where the rod is straight."""

    def read() -> float:
        radius = rod.minimum_bend_radius
        return radius if math.isfinite(radius) else math.nan

    return read
