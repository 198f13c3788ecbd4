"""Tables (CSV) that people make with spreadsheets: read strictly, and what is wrong told with its line."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from sennit.errors import InputError
from sennit.validation import quoted, quoted_path

__all__ = ["Line", "read_table", "read_text", "rows_of"]

LARGEST = 32 << 20
"""Bytes of a text that is read."""
MOST_LINES = 1 << 18
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+(?:[eE][-+]?\d+)?\s*$")
_SPREADSHEETS = {b"PK\x03\x04": "a spreadsheet or an archive", b"\xd0\xcf\x11\xe0": "a spreadsheet"}


@dataclass(frozen=True)
class Line:
    """A line of a table: its cells by their columns, without blanks around them."""

    file: str
    number: int
    """Its line in the file, from 1."""
    cells: dict[str, str]

    def refused(self, message: str) -> InputError:
        """The error that says what is wrong with it."""
        return InputError(f"{self.file}, line {self.number}: {message}")

    def text(self, column: str) -> str:
        """A cell that must not be empty."""
        value = self.cells.get(column, "")
        if not value:
            raise self.refused(f"{column} is empty")
        return value

    def number_of(self, column: str, default: float | None = None) -> float:
        """A cell as a finite number; `default` if it is empty."""
        value = self.cells.get(column, "")
        if not value:
            if default is None:
                raise self.refused(f"{column} is empty: give a number")
            return default
        if _DECIMAL_COMMA.match(value):
            hint = value.strip().replace(",", ".")
            raise self.refused(f"{column} has a decimal comma, {quoted(value)}: write {hint} with a point")
        try:
            number = float(value) if value.isascii() and "_" not in value else math.nan
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise self.refused(f"{column} must be a number without a unit, got {quoted(value)}")
        return number


def read_text(path: Path, what: str, suffixes: Sequence[str] = ()) -> str:
    """The text of a plain file: no link, no folder, no pipe, no archive, UTF-8, not too long."""
    shown = quoted_path(path)
    try:
        if path.is_symlink():
            raise InputError(f"{shown} is a link: give {what} itself")
        if path.is_dir():
            raise InputError(f"{shown} is a folder: give {what}")
        if not path.exists():
            near = get_close_matches(path.name, _neighbours(path.parent, suffixes or (path.suffix,)), 1)
            raise InputError(f"there is no file {shown}" + (f": did you mean {near[0]!r}?" if near else ""))
        if not path.is_file():
            raise InputError(f"{shown} is no plain file: give {what}")
        if path.stat().st_size > LARGEST:
            raise InputError(f"{shown} has more than {LARGEST >> 20} MiB: {what} is smaller")
        data = path.read_bytes()
    except InputError:
        raise
    except OSError as problem:
        raise InputError(f"{shown} can't be read: {problem.strerror or problem}") from None
    except ValueError:  # a name with a zero byte
        raise InputError(f"there is no file {shown}") from None
    for start, kind in _SPREADSHEETS.items():
        if data.startswith(start):
            raise InputError(f"{shown} is {kind}: give {what} (export it as text)")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise InputError(f"{shown}, line {line}: this is no UTF-8 text: give {what}, saved as UTF-8") from None
    if "\0" in text:
        raise InputError(f"{shown}, line {text[: text.index(chr(0))].count(chr(10)) + 1}: this is no text")
    return text


def _neighbours(folder: Path, suffixes: Iterable[str]) -> list[str]:
    try:
        wanted = {suffix.lower() for suffix in suffixes}
        return [entry.name for _, entry in zip(range(2000), folder.iterdir(), strict=False) if entry.suffix in wanted]
    except OSError:
        return []


def read_table(path: Path, needed: Sequence[str], allowed: Sequence[str] = ()) -> list[Line]:
    """The lines of a CSV file whose first line names its columns: `needed`, and any that are `allowed` besides.

    Empty lines, and lines that begin with #, are passed over.
    """
    text = read_text(path, f"a CSV file with the columns {', '.join(needed)}", (".csv",))
    shown = quoted_path(path)[1:-1]
    rows = rows_of(text, shown)
    if not rows:
        raise InputError(f"{shown}, line 1: it is empty: the first line names the columns, {', '.join(needed)}")
    number, header = rows[0]
    columns = _columns(header, f"{shown}, line {number}", needed, allowed)
    lines = []
    for number, row in rows[1:]:
        if len(row) != len(columns):
            spare = row[len(columns) :]
            if len(row) < len(columns) and all(column in allowed for column in columns[len(row) :]):
                row = row + [""] * (len(columns) - len(row))
            elif any(spare) or len(row) < len(columns):
                hint = "; are there decimal commas?" if len(row) > len(columns) else ""
                raise InputError(
                    f"{shown}, line {number}: {len(row)} cells, but {len(columns)} columns ({', '.join(columns)}){hint}"
                )
        lines.append(Line(shown, number, dict(zip(columns, row, strict=False))))
    if not lines:
        raise InputError(f"{shown}, line {number}: nothing stands below the names of the columns")
    return lines


def rows_of(text: str, shown: str) -> list[tuple[int, list[str]]]:
    """Rows that hold something, with the lines on which they end."""
    rows: list[tuple[int, list[str]]] = []
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells) and not cells[0].startswith("#"):
                rows.append((reader.line_num, cells))
            if len(rows) > MOST_LINES:
                raise InputError(f"{shown}, line {reader.line_num}: more than {MOST_LINES} lines")
    except csv.Error as problem:
        raise InputError(f"{shown}, line {reader.line_num}: {problem}") from None
    return rows


def _columns(header: list[str], where: str, needed: Sequence[str], allowed: Sequence[str]) -> list[str]:
    known = [*needed, *allowed]
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
        mark = "semicolons" if ";" in header[0] else "tabs"
        raise InputError(
            f"{where}: the cells are parted by {mark}: part them by commas, with decimal points in numbers"
        )
    for name in header:
        if name not in known:
            near = get_close_matches(name.lower(), known, 1, 0.5)
            hint = f": did you mean {near[0]!r}?" if near else "."
            raise InputError(f"{where}: there is no column {quoted(name)}{hint} There are {', '.join(known)}")
        if header.count(name) > 1:
            raise InputError(f"{where}: the column {name} is there twice")
    for name in needed:
        if name not in header:
            raise InputError(f"{where}: the column {name} is missing: there must be {', '.join(needed)}")
    return header
