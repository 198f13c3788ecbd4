"""How entries of a scene file become things: by signatures of their makers; what is wrong is told with its line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NoReturn

import numpy as np

from sennit import validation
from sennit.bodies.world import World
from sennit.errors import InputError
from sennit.text import schema
from sennit.text.beside import Beside
from sennit.text.lines import Lines
from sennit.text.schema import GROUPS, Maker
from sennit.validation import quoted

__all__ = ["At", "Making"]

At = tuple[Any, ...]
"""A place in a file: ("hold", 2, "target")."""
MOST_COUNTED = 100_000
"""Largest whole number that a file may ask for: of control points, holes, turns."""
_UNIT = re.compile(r"\s*[-+]?[\d.]+(?:e[-+]?\d+)?\s*([A-Za-zµ°Ω%][\w·/²³^*%]*)\s*$")
_UNIT_SUFFIX = re.compile(r"_(mm|cm|m|um|kg|g|n|kn|pa|kpa|mpa|gpa|s|ms|deg|rad|si)$", re.I)
_BODIES = {"Rod", "RigidBody", "Zone", "ZonePlaces", "Slider", "Pearl"}
_DAMAGE = (
    TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError, RecursionError, OSError,
    NotImplementedError,
)  # fmt: skip
"""What values in wrong places can make constructors raise besides InputError."""


class Making:
    """Makes what a document's entries say; everything in them is checked."""

    scene: Any

    def __init__(self, document: dict[str, Any], lines: Lines, name: str, beside: Beside) -> None:
        self._document, self._lines, self._file, self._beside = document, lines, name, beside
        self._values: dict[str, dict[str, Any]] = {
            "material": {},
            "section": {},
            "route": {},
            "point": {},
            "sheave": {},
        }
        self._things: dict[str, Any] = {}
        """Bodies and obstacles by name."""
        self._made: dict[tuple[str, Any], Any] = {}

    # ------------------------------------------------------------------------------------------------- what is wrong

    def refuse(self, at: At, message: str) -> NoReturn:
        """Raise the error of a place in the file."""
        raise InputError(f"{self._file}, line {self._lines.of(at)}: {self._place(at)}{message}") from None

    @staticmethod
    def _place(at: At) -> str:
        """The entry that a place is in, as a header names it."""
        if len(at) < 2 or at[0] not in GROUPS:
            return f"[{at[0]}]: " if at and at[0] in ("scene", "run", "contacts") else ""
        return f"[[{at[0]}]] number {at[1] + 1}: " if GROUPS[at[0]].listed else f"[{at[0]}.{str(at[1])[:80]}]: "

    def _unknown(self, at: At, what: str, name: object, known: Iterable[str]) -> NoReturn:
        """Raise the error of a name that there is not, with the nearest that there are."""
        names = sorted(set(known))
        text = str(name)
        near = get_close_matches(text.lower(), [n.lower() for n in names], 1, 0.5)
        bare = _UNIT_SUFFIX.sub("", text)
        if bare != text and bare in names:
            self.refuse(at, f"there is no {what} {quoted(name)}: did you mean {bare!r}? All numbers are in SI units")
        hint = [n for n in names if near and n.lower() == near[0]]
        told = ", ".join(names) if names else "none"
        self.refuse(at, f"there is no {what} {quoted(name)}{f': did you mean {hint[0]!r}?' if hint else '.'} "
                        f"There {'is' if len(names) < 2 else 'are'} {told[:600]}")  # fmt: skip

    # --------------------------------------------------------------------------------------------------------- makers

    def _call(
        self, maker: Maker, entry: dict[str, Any], at: At, extra: Iterable[str] = (), stand: dict[str, At] | None = None
    ) -> Any:
        """What a maker makes of the keys of an entry; what else can be set of it is set then.

        `stand`: where keys stand that have no line of their own.
        """
        stand = stand or {}
        settings = schema.settings_of(maker.kind)
        given, later = {}, {}
        for key, value in entry.items():
            if key in maker.parameters:
                given[key] = self._value(value, maker.parameters[key], stand.get(key, (*at, key)))
            elif key in settings:
                later[key] = value
            elif key not in extra:
                known = [*maker.parameters, *settings, *extra]
                self._unknown((*at, key), f"{self._title(maker)} key", key, known)
        for name in maker.required:
            if name not in given:
                self.refuse(at, f"{name} is missing: {self._title(maker)} needs {', '.join(maker.required)}")
        made = self._try(at, entry, lambda: maker.make(**given), stand)
        if later:
            self._set(made, later, at, self._title(maker))
        return made

    @staticmethod
    def _title(maker: Maker) -> str:
        return (
            maker.kind.__name__ if maker.key == maker.kind.__name__.lower() else f"{maker.kind.__name__} ({maker.key})"
        )

    def _set(self, thing: Any, entry: dict[str, Any], at: At, title: str) -> None:
        settings = schema.settings_of(thing)
        for key, value in entry.items():
            if key not in settings:
                self._unknown((*at, key), f"key of {title}:", key, settings)
            new = self._value(value, settings[key], (*at, key))
            self._try((*at, key), entry, lambda key=key, new=new: setattr(thing, key, new))

    def _try(self, at: At, entry: dict[str, Any], act: Any, stand: dict[str, At] | None = None) -> Any:
        """What `act` returns; its errors get the line of the key that they speak of."""
        try:
            return act()
        except InputError as problem:
            text = str(problem)
            if text.startswith(f"{self._file}, line"):
                raise
            word = re.match(r"\w+", text)
            key = word[0] if word and word[0] in entry else None
            place = at if key is None or at[-1] == key else (*at, key)
            self.refuse((stand or {}).get(key or "", place), text)
        except _DAMAGE as problem:
            self.refuse(at, f"it can't be made: {' '.join(str(problem).split())[:200] or type(problem).__name__}")

    def _chosen(self, makers: dict[str, Maker], entry: dict[str, Any], at: At, what: str, extra: Iterable[str] = (),
                also: Iterable[str] = ()) -> Any:  # fmt: skip
        """What the one maker makes whose key an entry has: its value is the maker's first arguments, or a table."""
        found = [key for key in entry if key in makers]
        keys = [key for key in found if not any(key in makers[other].parameters for other in found)] or found
        if len(keys) != 1:
            for key in entry:  # a misspelt maker?
                near = get_close_matches(key.lower(), list(makers), 1, 0.7)
                if not keys and near and key not in also:
                    self._unknown((*at, key), f"{what} maker", key, makers)
            given = f", got {' and '.join(keys)}" if keys else ""
            self.refuse(at, f"it must have one of {', '.join(makers)}{given}")
        key = keys[0]
        maker, value = makers[key], entry[key]
        rest = {name: other for name, other in entry.items() if name != key and name not in extra}
        first = self._first(maker, value, (*at, key), rest)
        return self._call(maker, rest | first, at, stand=dict.fromkeys(first, (*at, key)))

    def _first(self, maker: Maker, value: Any, at: At, rest: dict[str, Any]) -> dict[str, Any]:
        """The arguments that the value of a maker's key stands for."""
        first = maker.first
        if isinstance(value, dict):
            for key in value:
                if key not in maker.parameters:
                    self._unknown((*at, key), f"{self._title(maker)} key", key, maker.parameters)
                if key in rest:
                    self.refuse((*at, key), f"{key} is given twice")
            return value
        if not first:
            self.refuse(
                at, f"{maker.key} must be a table, {{ {' = …, '.join(maker.required)} = … }}, got {quoted(value)}"
            )
        if isinstance(value, str) and first[1:] == ["faces"] and self._beside.knows(value):
            mesh = self._named(value, frozenset({"Any"}), at)
            return {"vertices": np.array(mesh.vertices), "faces": np.array(mesh.faces)}
        if len(first) == 1:
            return {first[0]: value}
        if not isinstance(value, list) or len(value) != len(first):
            self.refuse(at, f"{maker.key} must be [{', '.join(first)}] or a table of them, got {quoted(value)}")
        return dict(zip(first, value, strict=True))

    # --------------------------------------------------------------------------------------------------------- values

    def _value(self, value: Any, kinds: frozenset[str], at: At) -> Any:
        """A value as the argument that its annotation's words ask for."""
        if isinstance(value, str):
            return self._named(value, kinds, at)
        if isinstance(value, dict):
            return self._inline(value, kinds, at)
        if isinstance(value, list):
            return self._list(value, kinds, at)
        if isinstance(value, bool | float | np.ndarray):
            return value
        if isinstance(value, int):
            if "int" in kinds and abs(value) > MOST_COUNTED:
                self.refuse(at, f"{at[-1]} must be at most {MOST_COUNTED} in a file, got {value}")
            return value
        self.refuse(at, f"{at[-1]} can't be a date or a time, got {quoted(str(value))}")

    def _named(self, value: str, kinds: frozenset[str], at: At) -> Any:
        """A text: the name of something, a file, or a word."""
        pools: list[str] = []
        for word, pool in (("Section", "section"), ("Material", "material"), ("Callable", "route"), ("Path", "route")):
            if word in kinds:
                pools.append(pool)
                if value in self._values[pool]:
                    return self._values[pool][value]
        if kinds & {"Point", "Sheave"}:
            if value in self._values["sheave"] and "Sheave" in kinds:
                return self._values["sheave"][value]
            return self._point([value], at)
        if kinds & _BODIES or "Any" in kinds:
            if value in self._things:
                return self._things[value]
            if not self._beside.knows(value):
                self._unknown(at, "thing", value, self._things)
        if kinds & {"ArrayLike", "Any"} and self._beside.knows(value):
            return self._try(at, {}, lambda: self._beside.content(value, str(at[-1])))
        if unit := _UNIT.match(value):
            if not kinds & {"str", "Literal"}:
                self.refuse(at, f"{at[-1]} must be a number without a unit, in SI units (m, kg, s, N, Pa, rad), got "
                                f"{quoted(value)}: leave {unit[1]!r} away")  # fmt: skip
        if pools:
            known = [name for pool in pools for name in self._values[pool]]
            self._unknown(at, " or ".join(pools), value, known)
        return value

    def _list(self, value: list[Any], kinds: frozenset[str], at: At) -> Any:
        if kinds & {"Section", "Material"}:
            return [self._made_of(one, kinds - {"Sequence"}, (*at, k)) for k, one in enumerate(value)]
        if value and isinstance(value[0], str):
            pair = "tuple" in kinds and len(value) > 1 and not isinstance(value[1], str)
            if kinds & {"Iterable", "Sequence", "Any"} and kinds & ({"Point", "Sheave", "Any"} | _BODIES) and not pair:
                return [self._entry_of_list(one, kinds, (*at, k)) for k, one in enumerate(value)]
            if "Point" in kinds:
                return self._point(value, at)
            if "RigidBody" in kinds or "Rod" in kinds:
                return (self._named(value[0], kinds, at), *value[1:])
        if kinds & {"Iterable", "Sequence", "Any"} and value and isinstance(value[0], dict | list):
            if isinstance(value[0], dict) or (
                isinstance(value[0][:1], list) and value[0] and isinstance(value[0][0], str)
            ):
                return [self._entry_of_list(one, kinds, (*at, k)) for k, one in enumerate(value)]
        if "Pose" in kinds and not kinds & {"ArrayLike", "Any"}:
            from sennit.geometry.pose import Pose

            return self._try(at, {}, lambda: Pose(value))
        return value

    def _made_of(self, one: Any, kinds: frozenset[str], at: At) -> Any:
        """A section or a material of a list; a piece: its length, section and material."""
        if not isinstance(one, list) or len(one) != 3:
            return self._value(one, kinds, at)
        of = frozenset({"Section"}), frozenset({"Material"})
        return (one[0], *(self._value(x, kind, (*at, k)) for k, (x, kind) in enumerate(zip(one[1:], of, strict=True))))

    def _entry_of_list(self, one: Any, kinds: frozenset[str], at: At) -> Any:
        return self._value(one, kinds - {"Iterable", "Sequence"} if "Point" in kinds else kinds, at)

    def _inline(self, value: dict[str, Any], kinds: frozenset[str], at: At) -> Any:
        """A table where a value stands: a Pose, a Motor, a Route, a shape, a section, ..."""
        shapes = schema.shapes()
        if kinds & {"AbstractShape", "Any"} and any(key in shapes for key in value):
            return self._shape(value, at)
        for word in ("Route",) if kinds & {"Callable", "Path"} else sorted(kinds):
            kind = schema.value_class(word)
            if kind is not None:
                makers = schema.makers_of(kind)
                if kind.__name__.lower() in makers:
                    return self._call(self._best(makers, value), value, at)
                return self._chosen(makers, value, at, word)
        if kinds & {"AbstractShape", "Any"}:
            return self._shape(value, at)
        self.refuse(at, f"{at[-1]} can't be a table, got {quoted(value)}")

    @staticmethod
    def _best(makers: dict[str, Maker], value: dict[str, Any]) -> Maker:
        """The maker whose parameters the keys of a table are; the constructor where none fits."""
        fitting = [maker for maker in makers.values() if set(value) <= set(maker.parameters)
                   and set(maker.required) <= set(value)]  # fmt: skip
        return fitting[0] if fitting else next(iter(makers.values()))

    def _shape(self, value: dict[str, Any], at: At) -> Any:
        from sennit.geometry.pose import Pose

        made = self._chosen(schema.shapes(), value, at, "shape", extra=("moved",))
        if "moved" in value:
            pose = self._value(value["moved"], frozenset({"Pose"}), (*at, "moved"))
            return made._at(validation.instance("moved", pose, Pose, "a pose"))
        return made

    def _point(self, value: list[Any], at: At) -> Any:
        """A point: [name of a body, its place on it], ["world", place], or [name of a point]."""
        from sennit.bodies.rod.rod import Rod

        name, *rest = value
        if name in self._values["point"] and not rest:
            return self._values["point"][name]
        body = World if name == "world" else self._things.get(name)
        if body is None or not hasattr(body, "at"):
            self._unknown(at, "body", name, [*(n for n, one in self._things.items() if hasattr(one, "at")), "world",
                                             *self._values["point"]])  # fmt: skip
        if isinstance(body, Rod) and rest[:1] in (["start"], ["end"]):
            rest = [0.0 if rest[0] == "start" else body.length, *rest[1:]]
        maker = Maker("at", body.at, type(body))
        if len(rest) > len(maker.parameters):
            self.refuse(at, f"a point is [name, {', '.join(maker.parameters)}], got {quoted(value)}")
        given = [self._value(one, kinds, at) for one, kinds in zip(rest, maker.parameters.values(), strict=False)]
        if len(given) < len(maker.required):
            wanted = ", ".join([quoted(name), *maker.parameters])
            self.refuse(at, f"a point of {quoted(name)} is [{wanted}], got {quoted(value)}")
        return self._try(at, {}, lambda: body.at(*given))
