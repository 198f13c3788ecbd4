"""Text of URDF and MJCF files before MuJoCo's compiler sees it: which files it names, and how much it asks for.

A line of MJCF can ask for any number of copies, and files can hold each other; the compiler would make them all. Here
elements are counted as often as they would be made.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NoReturn
from xml.parsers import expat

from sennit.errors import InputError
from sennit.validation import quoted, quoted_path

__all__ = ["SUFFIXES", "check_inside", "check_text"]

SUFFIXES = (".urdf", ".xml", ".mjcf")
_MOST_FILES = 100
_MOST_ELEMENTS = 20_000
_MOST_BODIES = 4_000
"""MuJoCo's compiler takes seconds for so many, and four times as long for twice as many."""
_MOST_CELLS = 1 << 24
"""In all height fields: they are made as soon as they are read."""
_MOST_OF_USER = 10_000
"""Letters of an attribute `user`: all elements of its kind would get as much."""
_BODIES = ("body", "link", "flexcomp", "composite")
_COPIED = ("replicate", "flexcomp", "composite")
_WHOLE = re.compile(r"\s*\+?(\d+)")


@dataclass
class _Counted:
    """How much is made of a part of a model."""

    elements: int = 0
    bodies: int = 0
    cells: int = 0
    """Of height fields."""


@dataclass
class _Model:
    """A model that is being read: a file, and those that it includes."""

    folder: Path
    counted: _Counted = field(default_factory=_Counted)
    included: set[Path] = field(default_factory=set)
    """MuJoCo takes no file twice."""
    parts: dict[str, _Counted] = field(default_factory=dict)
    """What was counted in bodies and frames with a name, which can be attached again."""
    models: list[_Counted] = field(default_factory=list)
    """What was counted in models of other files, which can be attached."""


def check_text(file: Path, within: tuple[Path, ...] = ()) -> _Counted:
    """Raise unless a file, and those that it includes or attaches, are XML in its folder or below, and ask for no more
    than can be made; `within`: the models that are being read already.
    """
    model = _Model(file.parent)
    _Reader(file, model, (*within, file.resolve()), 1).read()
    return model.counted


class _Reader:
    """Reads one file of a model; what it holds is made `copies` times."""

    def __init__(self, file: Path, model: _Model, within: tuple[Path, ...], copies: int) -> None:
        self._file, self._model, self._within = file, model, within
        self._copies = [copies]
        """Of each open element, how often what stands in it is made."""
        self._open: list[tuple[str, int, int]] = []
        """Of each open element its name, and what had been counted before it."""
        self._parser = expat.ParserCreate()

    def read(self) -> None:
        from sennit.text.tables import read_text

        shown = quoted_path(self._file)
        text = read_text(self._file, "a URDF or MJCF file")
        self._model.included.add(self._file.resolve())
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            raise InputError(f"{shown} declares what its own names mean (DOCTYPE): no URDF or MJCF file does")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        try:
            self._parser.Parse(text, True)
        except expat.ExpatError as problem:
            raise InputError(f"{shown}, line {problem.lineno}: this is no XML: {problem}") from None
        except InputError:
            raise
        except ValueError as problem:
            raise InputError(f"{shown}: this is no XML: {problem}") from None

    def _refuse(self, message: str) -> NoReturn:
        raise InputError(f"{quoted(str(self._file))}, line {self._parser.CurrentLineNumber}: {message}")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        counted, copies = self._model.counted, self._copies[-1]
        self._open.append((attributes.get("name", ""), counted.elements, counted.bodies))
        here = copies * _count(tag, attributes)
        self._copies.append(here)
        cells = _product(attributes.get("nrow", ""), attributes.get("ncol", "")) if tag == "hfield" else 0
        self._add(tag, here, here if tag in _BODIES else 0, cells)
        if len(attributes.get("user", "")) > _MOST_OF_USER:
            self._refuse(f"<{tag}> has more than {_MOST_OF_USER} letters of its user's")
        if tag == "include":
            self._include(attributes.get("file", ""), copies)
        elif tag == "model":
            self._attachable(attributes.get("file", ""))
        elif tag == "attach":
            self._attach(attributes)

    def _end(self, tag: str) -> None:
        self._copies.pop()
        name, elements, bodies = self._open.pop()
        if name and tag in ("body", "frame"):
            counted = self._model.counted
            self._model.parts[name] = _Counted(counted.elements - elements, counted.bodies - bodies)

    def _add(self, tag: str, elements: int, bodies: int, cells: int = 0) -> None:
        counted = self._model.counted
        counted.elements += elements
        counted.bodies += bodies
        counted.cells += cells
        for what, number, most in (
            ("bodies", counted.bodies, _MOST_BODIES), ("elements", counted.elements, _MOST_ELEMENTS),
            ("cells of height fields", counted.cells, _MOST_CELLS),
        ):  # fmt: skip
            if number > most:
                so_many = f"{number}" if number < 10**12 else "more than 10^12"
                self._refuse(f"with this <{tag}> the file asks for {so_many} {what}; at most {most} are read")

    def _include(self, name: str, copies: int) -> None:
        other = self._beside(name)
        if len(self._model.included) >= _MOST_FILES:
            self._refuse(f"more than {_MOST_FILES} files are included")
        if other.resolve() not in self._model.included:
            _Reader(other, self._model, self._within, copies).read()

    def _attachable(self, name: str) -> None:
        """A model of another file: MuJoCo reads it here."""
        if not name:
            return
        other = self._beside(name)
        if other.suffix.lower() not in SUFFIXES:
            self._refuse(f"a model to attach must end in {' or '.join(SUFFIXES)}, got {quoted(name)}")
        if other.resolve() in self._within:
            self._refuse(f"the model {quoted(name)} would hold itself")
        if len(self._within) >= _MOST_FILES:
            self._refuse(f"more than {_MOST_FILES} models hold each other")
        counted = check_text(other, self._within)
        self._model.models.append(counted)
        self._add("model", counted.elements, counted.bodies, counted.cells)

    def _attach(self, attributes: dict[str, str]) -> None:
        """Copies of a model, of which one can't tell from here, or of a body or frame above."""
        copies, model = self._copies[-1], self._model
        if "model" in attributes:
            elements = max((one.elements for one in model.models), default=0)
            bodies = max((one.bodies for one in model.models), default=0)
        else:
            name = attributes.get("body") or attributes.get("frame", "")
            part = model.parts.get(name, model.counted)
            elements, bodies = part.elements, part.bodies
        self._add("attach", copies * elements, copies * bodies)

    def _beside(self, name: str) -> Path:
        """The file that a name means, where MuJoCo looks for it."""
        inside, folder = PurePosixPath(name or "."), self._model.folder
        for base in {folder, self._file.parent}:
            check_inside(quoted(str(self._file)), "file", inside, base)
        near = self._file.parent / inside
        return near if near.exists() else folder / inside


def _count(tag: str, attributes: dict[str, str]) -> int:
    """How often an element, or what stands in it, is made: points of a grid are bodies."""
    return _product(*attributes.get("count", "").split()[:3]) if tag in _COPIED else 1


def _product(*texts: str) -> int:
    """Of whole numbers; what is none is refused by the compiler."""
    numbers = [_WHOLE.match(text) for text in texts]
    return math.prod(max(1, int(number[1][:18])) for number in numbers if number)


def check_inside(shown: str, kind: str, inside: PurePosixPath, folder: Path) -> None:
    """Raise unless a name is that of a file in a folder or below, and no link."""
    if inside.is_absolute() or ".." in inside.parts or "\\" in str(inside) or "\0" in str(inside):
        raise InputError(f"{shown} names a {kind} outside of its folder, {quoted(str(inside))}: put it beside it")
    path = folder
    for part in inside.parts:
        path /= part
        if path.is_symlink():
            raise InputError(f"{shown} names a {kind} that is a link, {quoted(str(inside))}: put the file itself there")
