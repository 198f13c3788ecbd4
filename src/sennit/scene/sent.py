"""The part of a scene that is sent to other processes: see `sennit.sending`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sennit.scene.contents import Contents
from sennit.tables import Table

__all__ = ["Sent"]

_KINDS = ("bodies", "constraints", "loads", "obstacles")
"""What `Contents._things` lists."""


class Sent(Contents):
    """Scenes that arrive elsewhere as they were."""

    def _place_of(self, thing: Any) -> tuple[Any, str, int] | None:
        """Where `thing` is found here, for `_at_place`; None if it is not."""
        for kind, things in zip(_KINDS, self._things(), strict=True):
            for i, own in enumerate(things):
                if own is thing:
                    return self, kind, i
        if self._system is not None:
            for i, own in enumerate(self._numbered()):
                if own is thing:
                    return self, "numbered", i
        return None

    def _at_place(self, kind: str, number: int) -> Any:
        """What has a place that `_place_of` told."""
        if kind == "numbered":
            self._compiled()
            return self._numbered()[number]
        return self._things()[_KINDS.index(kind)][number]

    def _to_send(self) -> dict[str, Any]:
        """Everything of it but its tables, with the numbers of its state beside it."""
        if self._system is None and self._touched is not None:
            self._compiled()
        sent: dict[str, Any] = self.__dict__ | {
            "_beginnings": list(self._beginnings.values()), "_met": list(self._met.values()), "_points": {},
            "_system": None, "_stepper": None, "_statics": None, "_tables": None, "_touched": None, "_runner": None,
            "_lent": False, "_world_points": (), "_controls": [], "_watches": [], "_decor": [], "_readouts": [],
            "_scenarios": {},
        }  # fmt: skip
        if self._system is not None and self._stepper is not None:
            contact = self._system.touching
            sent["_arriving"] = {
                "numbers": [thing._state_arrays() for thing in self._numbered()],
                "account": self._system.account(),
                "solved": {name: table.fields() for name, table in _tables_of(self._system.model)},
                "contact": None if contact is None else contact.kept(),
                "moved": (self._stepper.solver.moved, self._stepper.looked),
                "clock": (self._clock.time, self._clock.last_step),
                "redundant": self._redundant,
            }
        return sent

    def _arrive(self, sent: dict[str, Any]) -> None:
        """Be what `_to_send` told."""
        numbers = sent.pop("_arriving", None)
        sent["_beginnings"] = {id(thing): (thing, arrays) for thing, arrays in sent["_beginnings"]}
        sent["_met"] = {(id(a), id(b)): (a, b) for a, b in sent["_met"]}
        self.__dict__.update(sent)
        if numbers is None:
            return
        beginnings = dict(self._beginnings)
        stepper = self._compiled()
        self._beginnings = beginnings
        for thing, arrays in zip(self._numbered(), numbers["numbers"], strict=True):
            for key, array in thing._state_arrays().items():
                array[...] = arrays[key]
        self._contact_goes_on(self._met, numbers["contact"])
        stepper.system.find_spans()
        stepper.system.set_account(numbers["account"])
        for name, table in _tables_of(stepper.system.model):  # what the last solve left: it may begin the next one
            for key, array in table.fields().items():
                array[...] = numbers["solved"][name][key]
        stepper.solver.note_softened()
        stepper.solver.moved, stepper.looked = numbers["moved"]
        self._clock.time, self._clock.last_step = numbers["clock"]
        self._redundant = numbers["redundant"]
        self._state_was_put()


def _tables_of(model: Table, name: str = "") -> Iterator[tuple[str, Table]]:
    """A table and all tables in it, by their names."""
    yield name, model
    for field_name, declared in model._fields.items():
        if not declared.shape:
            yield from _tables_of(getattr(model, field_name), f"{name}.{field_name}")
