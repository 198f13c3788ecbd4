"""The kinds of bodies, in the order in which a scene numbers them.

A new kind adds its class here, its tables to `solve.table.Model`, and a line in each function of `kernels.kinds`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sennit.bodies.body import AbstractBody
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.slider import Slider
from sennit.bodies.zone.places import ZonePlaces
from sennit.tables import Table

__all__ = ["KINDS", "joined_tables", "sorted_by_kind"]

KINDS: tuple[type[AbstractBody], ...] = (Rod, RigidBody, Slider, ZonePlaces)


def sorted_by_kind(bodies: Iterable[AbstractBody]) -> list[AbstractBody]:
    """The bodies kind by kind, those of one kind in the order in which they were added."""
    return sorted(bodies, key=lambda body: body._rank)


def joined_tables(bodies: Iterable[AbstractBody]) -> dict[str, Table]:
    """The tables of all kinds, by their names in a scene's `Model`; the bodies become parts of them."""
    tables: dict[str, Table] = {}
    for rank, kind in enumerate(KINDS):
        members: list[Any] = [body for body in bodies if body._rank == rank]
        tables |= kind._join(members)
    return tables
