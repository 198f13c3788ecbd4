"""Forces of a scene as arrows: of what each constraint does to its points, and of what touches."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from sennit.constraints.cable.cable import Cable
from sennit.constraints.cable.sheave import Sheave
from sennit.constraints.constraint import AbstractConstraint
from sennit.errors import InputError
from sennit.scene.scene import Scene
from sennit.validation import FloatArray

__all__ = ["MOST_CONTACTS", "arrows", "arrows_of", "contact_arrows", "room_for"]

MOST_CONTACTS = 64
"""Contacts that are shown, at most: the strongest."""


@functools.singledispatch
def arrows_of(constraint: AbstractConstraint) -> FloatArray:
    """Places (m) and forces (N) of a constraint, (n, 6), as many in every step: what it does to its first point."""
    return np.concatenate((constraint.points[0].position, constraint.force))[None]


@arrows_of.register(Cable)
def _of_cable(cable: Cable) -> FloatArray:
    points = [entry.point if isinstance(entry, Sheave) else entry for entry in cable.entries]
    return np.hstack(([point.position for point in points], cable.forces))


def room_for(constraints: Sequence[AbstractConstraint], wanted: tuple[bool, bool]) -> int:
    """How many arrows there may be: of `wanted` constraints, and of contacts."""
    own = sum(len(c.entries) if isinstance(c, Cable) else 1 for c in constraints) if wanted[0] else 0
    return own + (MOST_CONTACTS if wanted[1] else 0)


def contact_arrows(scene: Scene) -> FloatArray:
    """Places (m) and forces on the first of the two (N) of the strongest contacts, (MOST_CONTACTS, 6); else zeros."""
    rows = np.zeros((MOST_CONTACTS, 6))
    touching = scene._touching()
    if touching is None:
        return rows
    found = touching.shown()
    here = np.array([thing._scene is scene for thing in touching.things], dtype=bool)
    pressing = np.flatnonzero(here[found.first] & here[found.second]) if len(here) else np.zeros(0, int)
    strongest = pressing[np.argsort(-np.linalg.norm(found.force[pressing], axis=1), kind="stable")[:MOST_CONTACTS]]
    rows[: len(strongest), :3], rows[: len(strongest), 3:] = found.position[strongest], found.force[strongest]
    return rows


def arrows(scene: Scene, constraints: Sequence[AbstractConstraint], wanted: tuple[bool, bool], room: int) -> FloatArray:
    """Places (m) and forces (N), (room, 6): of constraints, and in the last `MOST_CONTACTS` rows of contacts; rows of
    zeros where there is nothing, or nothing known yet.
    """
    whole = np.zeros((room, 6))
    at = 0
    if wanted[0]:
        for constraint in constraints:
            if not constraint.enabled:
                continue
            try:
                rows = arrows_of(constraint)[: room - at]
            except InputError:  # nothing is known before the first step
                continue
            whole[at : at + len(rows)] = rows
            at += len(rows)
    if wanted[1]:
        whole[room - MOST_CONTACTS :] = contact_arrows(scene)
    whole[~np.isfinite(whole).all(axis=1)] = 0.0
    return whole
