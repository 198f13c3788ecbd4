"""A reader of STEP files (ISO 10303-21), for what `sennit.export.step` writes: entities, and the curves of a file.

Written from the standard, not from the writer: a file is cut into tokens, entities are nested lists, and a curve is
evaluated by de Boor's algorithm from its knots and their multiplicities, by scipy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import BSpline

TOKEN = re.compile(
    r"""(?P<text>'(?:[^']|'')*') | (?P<name>\#\d+) | (?P<word>[A-Z_][A-Z0-9_-]*) | (?P<enum>\.[A-Z_]+\.)
    | (?P<real>[+-]?\d+\.\d*(?:E[+-]?\d+)?) | (?P<whole>[+-]?\d+) | (?P<sign>[()=,;$*]) | (?P<gap>\s+)""",
    re.VERBOSE,
)


LINK = "SHAPE_DEFINITION_REPRESENTATION"


@dataclass(frozen=True)
class Entity:
    """A keyword with parameters, or several of them (a complex instance)."""

    kinds: dict[str, list[Any]]

    def __getitem__(self, kind: str) -> list[Any]:
        return self.kinds[kind]


@dataclass(frozen=True)
class Name:
    """A reference to an entity."""

    number: int


def tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match, f"no token at {text[at : at + 40]!r}"
        if match.lastgroup != "gap":
            found.append((str(match.lastgroup), match.group()))
        at = match.end()
    return found


class Parser:
    def __init__(self, text: str) -> None:
        self._tokens, self._at = tokens(text), 0

    def peek(self) -> tuple[str, str]:
        return self._tokens[self._at]

    def take(self, wanted: str | None = None) -> tuple[str, str]:
        token = self._tokens[self._at]
        assert wanted is None or token[1] == wanted, (token, wanted)
        self._at += 1
        return token

    def value(self) -> Any:
        kind, text = self.take()
        if kind == "text":
            return decoded(text[1:-1])
        if kind == "name":
            return Name(int(text[1:]))
        if kind == "real":
            return float(text)
        if kind == "whole":
            return int(text)
        if kind == "word":  # a typed parameter
            return (text, self.listed())
        if text == "(":
            self._at -= 1
            return self.listed()
        return text

    def listed(self) -> list[Any]:
        self.take("(")
        values: list[Any] = []
        while self.peek()[1] != ")":
            values.append(self.value())
            if self.peek()[1] == ",":
                self.take()
        self.take(")")
        return values

    def entity(self) -> Entity:
        if self.peek()[1] != "(":
            return Entity({self.take()[1]: self.listed()})
        self.take("(")
        kinds = {}
        while self.peek()[1] != ")":
            kind = self.take()[1]
            kinds[kind] = self.listed()
        self.take(")")
        assert list(kinds) == sorted(kinds)  # 10.2.5.3 of the standard
        return Entity(kinds)

    def file(self) -> tuple[dict[str, list[Any]], dict[int, Entity]]:
        self.take("ISO-10303-21")
        self.take(";"), self.take("HEADER"), self.take(";")
        header = {}
        while self.peek()[1] != "ENDSEC":
            kind = self.take()[1]
            header[kind] = self.listed()
            self.take(";")
        self.take(), self.take(";"), self.take("DATA"), self.take(";")
        data: dict[int, Entity] = {}
        while self.peek()[1] != "ENDSEC":
            number = int(self.take()[1][1:])
            assert number not in data
            self.take("=")
            data[number] = self.entity()
            self.take(";")
        self.take(), self.take(";"), self.take("END-ISO-10303-21"), self.take(";")
        assert self._at == len(self._tokens)
        return header, data


def decoded(text: str) -> str:
    """A text without its escapes: '' and \\\\, \\X2\\….\\X0\\ and \\X4\\….\\X0\\."""
    text = text.replace("''", "'")
    parts = re.split(r"(\\\\|\\X[24]\\[0-9A-F]+\\X0\\)", text)
    return "".join(part if not part.startswith("\\") else "\\" if part == "\\\\" else letters(part) for part in parts)


def letters(escape: str) -> str:
    size = 2 * int(escape[2])
    digits = escape[4:-4]
    return "".join(chr(int(digits[k : k + size], 16)) for k in range(0, len(digits), size))


@dataclass(frozen=True)
class Spline:
    name: str
    degree: int
    points: np.ndarray
    knots: np.ndarray
    closed: bool

    def at(self, u: np.ndarray) -> np.ndarray:
        return BSpline(self.knots, self.points, self.degree)(u)


def curves_in(text: str) -> tuple[list[Spline], float]:
    """The curves that the shape of a file consists of, and metres in a unit of its lengths."""
    header, data = Parser(text).file()
    assert header["FILE_SCHEMA"][0][0].startswith("AUTOMOTIVE_DESIGN")
    for entity in data.values():  # every reference leads somewhere
        for name in references(list(entity.kinds.values())):
            assert name.number in data

    def get(name: Name) -> Entity:
        return data[name.number]

    [link] = [
        e["SHAPE_DEFINITION_REPRESENTATION"] for e in data.values() if "SHAPE_DEFINITION_REPRESENTATION" in e.kinds
    ]
    definition = get(get(link[0])["PRODUCT_DEFINITION_SHAPE"][2])["PRODUCT_DEFINITION"]
    assert "PRODUCT" in get(get(definition[2])["PRODUCT_DEFINITION_FORMATION"][2]).kinds
    _, items, context = get(link[1])["GEOMETRICALLY_BOUNDED_WIREFRAME_SHAPE_REPRESENTATION"]
    units = [get(unit) for unit in get(context)["GLOBAL_UNIT_ASSIGNED_CONTEXT"][0]]
    [length] = [unit for unit in units if "LENGTH_UNIT" in unit.kinds]
    metres = {"$": 1.0, ".MILLI.": 1e-3}[length["SI_UNIT"][0]]
    [listed] = [get(item)["GEOMETRIC_CURVE_SET"] for item in items if "GEOMETRIC_CURVE_SET" in get(item).kinds]
    found = []
    for name in listed[1]:
        label, degree, points, _, closed, _, counts, knots, _ = get(name)["B_SPLINE_CURVE_WITH_KNOTS"]
        places = np.array([get(point)["CARTESIAN_POINT"][1] for point in points])
        assert sum(counts) == len(places) + degree + 1 and len(counts) == len(knots)
        found.append(Spline(label, degree, places, np.repeat(knots, counts), closed == ".T."))
    return found, metres


def references(value: Any) -> list[Name]:
    if isinstance(value, Name):
        return [value]
    return [name for item in value for name in references(item)] if isinstance(value, list | tuple) else []
