"""What a file keeps of contact: rules, what has met, and what the next step goes on from.

Things are told by their numbers among the bodies and, after these, the obstacles of the file.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from sennit import validation
from sennit.bodies.kernels.points import DISCRETE, RIGID, SLIDER, SPLINE, WORLD
from sennit.contact.kernels.turning import TURNING
from sennit.contact.rules import Law, Rule, checked_thing
from sennit.scene.colliding import ContactState
from sennit.storage.file import checked, within
from sennit.touching.kept import Kept, KeptContacts, KeptForces, KeptSlots
from sennit.touching.tables import TouchingTables

__all__ = ["described_contact", "described_law", "read_kept", "read_met", "read_rules"]

MOST = 1 << 17
"""Forces and slots that a file may hold."""
_LAW = tuple(field.name for field in fields(Law))
_MAY_BE_MISSING = {"static_friction", "rolling_friction", "twisting_friction"}
"""Of the law that holds where rules say nothing."""
_TABLES: dict[str, type] = {"forces": KeptForces, "slots": KeptSlots, "contacts": KeptContacts}

# ------------------------------------------------------------------------------------------------------------ writing


def described_law(law: Law) -> list[float | None]:
    """Its numbers, null where it says nothing."""
    return [getattr(law, name) for name in _LAW]


def described_contact(scene: Any, state: ContactState, arrays: dict[str, Any]) -> dict[str, Any]:
    """The entries of a file's description; `state` is that of the scene, and what is kept of it goes to `arrays`."""
    things = [*scene.bodies, *scene.obstacles]
    number = {id(thing): i for i, thing in enumerate(things)}
    if state.kept is not None:
        kept = state.kept.over(things)
        for name in _TABLES:
            table = getattr(kept, name)
            arrays |= {f"contact/{name}.{field}": array for field, array in table.fields().items()}
        arrays["contact/last"] = kept.last
    return {
        "default_law": described_law(state.default),
        # What is no longer in the scene is left out.
        "rules": [
            {
                "first": first, "second": second, "itself": rule.itself,
                "law": None if law is None else described_law(law),
            } | ({"pair": True} if rule.names_both and not len(first or ()) == len(second or ()) == 1 else {})
            for rule, law in state.laws
            if (first := _numbers(rule.first, number)) != [] and (second := _numbers(rule.second, number)) != []
        ],
        "met": [
            [number[id(a)], number[id(b)]] for a, b in state.met.values() if id(a) in number and id(b) in number
        ],
    }  # fmt: skip


def _numbers(things: tuple[Any, ...] | None, number: dict[int, int]) -> list[int] | None:
    return None if things is None else [number[id(thing)] for thing in things if id(thing) in number]


# ------------------------------------------------------------------------------------------------------------ reading


def _things(numbers: Any, things: list[Any], scene: Any) -> tuple[Any, ...] | None:
    """One side of a rule."""
    if numbers is None:
        return None
    if not isinstance(numbers, list) or not numbers:
        raise ValueError("a rule of contact has a side without things")
    return tuple(checked_thing(_thing(number, things), scene, "a rule") for number in numbers)


def _thing(number: Any, things: list[Any]) -> Any:
    if type(number) is not int or not 0 <= number < len(things):
        raise ValueError("a rule or a contact names a thing that there is not")
    return things[number]


def _law(given: Any, whole: bool) -> Law:
    """A law, of which nothing may be missing if it is to be `whole`."""
    if not isinstance(given, list) or len(given) != len(_LAW):
        raise ValueError("a law of contact has other numbers than there are")
    numbers: dict[str, float | None] = {}
    for name, value in zip(_LAW, given, strict=True):
        if value is None and not (whole and name not in _MAY_BE_MISSING):
            numbers[name] = None
        else:
            most = 1.0 if name == "restitution" else None
            numbers[name] = validation.number(name, value, minimum=0.0, maximum=most)
    return Law(**numbers)


def read_rules(scene: Any, description: dict[str, Any]) -> None:
    """Give `scene`, whose things are all there, the rules that the file has."""
    things = [*scene.bodies, *scene.obstacles]
    rules = scene._rules
    rules.default = _law(description["default_law"], whole=True)
    for entry in description["rules"]:
        first, second = (_things(entry[side], things, scene) for side in ("first", "second"))
        if first is None and second is not None:
            raise ValueError("a rule has a second side alone")
        law = None if entry["law"] is None else _law(entry["law"], whole=False)
        pair = True if entry.get("pair") is True else None  # of which one was cut
        rules.rules.append(Rule(first, second, law, validation.flag("itself", entry["itself"]), pair))


def read_met(scene: Any, description: dict[str, Any]) -> dict[tuple[int, int], tuple[Any, Any]]:
    """What pressed on each other after the last step."""
    things = [*scene.bodies, *scene.obstacles]
    pairs = [(_thing(a, things), _thing(b, things)) for a, b in description["met"]]
    return {(id(a), id(b)): (a, b) for a, b in pairs}


def read_kept(scene: Any, touching: TouchingTables | None, arrays: dict[str, Any]) -> Kept | None:
    """What the tables of `scene` go on from; every number is checked, since kernels trust them."""
    if touching is None:
        return None
    tables = {name: _table(name, kind, arrays) for name, kind in _TABLES.items()}
    last = checked("contact/last", arrays["contact/last"], (2,))
    within("contact/last", last, 0.0, np.inf)
    things = [*scene.bodies, *scene.obstacles]
    for table in tables.values():
        within("first", table.first, 0, len(things) - 1)
        within("second", table.second, -1, len(things) - 1)
    kept = Kept(things, **tables, last=last)
    ours = kept.over(touching.things)
    for name in _TABLES:
        if len(getattr(ours, name)) != len(getattr(kept, name)):
            raise ValueError("a contact names a thing that has no surface")
    _check_forces(ours.forces, touching)
    _check_slots(ours.slots, touching)
    _check_contacts(ours.contacts, touching)
    return kept


def _table(name: str, kind: Any, arrays: dict[str, Any]) -> Any:
    rows = np.size(arrays[f"contact/{name}.first"])
    if rows > MOST:
        raise ValueError(f"it holds {rows} {name} of contacts")
    table = kind(rows=rows)
    for field, target in table.fields().items():
        full = f"contact/{name}.{field}"
        target[...] = checked(full, arrays[full], target.shape, target.dtype.kind)
    return table


def _rooms(numbers: Any, touching: TouchingTables) -> list[tuple[int, int, int]]:
    return [touching.room_of(number) if number >= 0 else (WORLD, 0, 0) for number in numbers.tolist()]


def _check_sides(first: list[tuple[int, int, int]], second: list[tuple[int, int, int]]) -> None:
    """The first side is never the world, a rod wherever there is one, and else a pearl."""
    for (a, _, _), (b, _, _) in zip(first, second, strict=True):
        turned = (b in (SPLINE, DISCRETE) and a not in (SPLINE, DISCRETE)) or (b == SLIDER and a == RIGID)
        if a == WORLD or turned:
            raise ValueError("a contact has its sides the wrong way round")


def _numbered(table: Any, touching: TouchingTables, least: int) -> tuple[list[Any], list[Any]]:
    """What there is to touch on both sides of a table's rows; `least`: -1 where the world has no number."""
    within("second", table.second, least, len(touching.things) - 1)
    rooms = _rooms(table.first, touching), _rooms(table.second, touching)
    _check_sides(*rooms)
    return rooms


def _check_forces(forces: KeptForces, touching: TouchingTables) -> None:
    for room, part in zip(_numbered(forces, touching, 0), (forces.first_part, forces.second_part), strict=True):
        shapes = np.array([shapes for _, shapes, _ in room], np.int64)
        of_rods = np.array([kind in (SPLINE, DISCRETE) for kind, _, _ in room], bool)
        within("part", part, 0, MOST)
        if (part[~of_rods] >= shapes[~of_rods]).any():
            raise ValueError("a contact names a shape that there is not")
    within("feature", forces.feature, 0, 2 * TURNING)
    within("stuck", forces.stuck, 0, 1)
    within("normal", forces.normal[forces.feature < TURNING], 0.0, np.inf)


def _check_slots(slots: KeptSlots, touching: TouchingTables) -> None:
    for room, at in zip(_numbered(slots, touching, -1), (slots.first_at, slots.second_at), strict=True):
        within("control point", at, 0, MOST)
        if (at > np.array([last for _, _, last in room], np.int64)).any():
            raise ValueError("a contact names a control point that there is not")
    within("idle", slots.idle, 0, 1 << 40)


def _check_contacts(contacts: KeptContacts, touching: TouchingTables) -> None:
    _numbered(contacts, touching, 0)
    within("stuck", contacts.stuck, 0, 1)
