"""Where the keys of a TOML text stand, for messages: `tomllib` reads their values and forgets their lines."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["Lines"]

Path = tuple[Any, ...]
"""Keys and, of arrays of tables, numbers: ("hold", 2, "target")."""

_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_KEYS = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_HEADER = re.compile(rf"[ \t]*(\[\[?)[ \t]*({_KEYS})[ \t]*\]")
_SETTING = re.compile(rf"[ \t]*({_KEYS})[ \t]*=")
_ONE = re.compile(_KEY)
_STRINGS = re.compile(r'"""|\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*')


class Lines:
    """The lines of a text that `tomllib` has read: it is sound TOML."""

    def __init__(self, text: str) -> None:
        self._rows = text.split("\n")
        self._at: dict[Path, int] = {}
        self._walk()

    def _walk(self) -> None:
        table: Path = ()
        counts: dict[Path, int] = {}
        depth, quote = 0, ""
        for number, row in enumerate(self._rows, 1):
            if not depth and not quote:
                if header := _HEADER.match(row):
                    table = self._under(_split(header[2]), counts)
                    if header[1] == "[[":
                        counts[table] = counts.get(table, -1) + 1
                        table = (*table, counts[table])
                    for k in range(1, len(table) + 1):
                        self._at.setdefault(table[:k], number)
                    continue
                if setting := _SETTING.match(row):
                    path = (*table, *_split(setting[1]))
                    for k in range(len(table) + 1, len(path) + 1):
                        self._at.setdefault(path[:k], number)
            depth, quote = _after(row, depth, quote)

    @staticmethod
    def _under(keys: Path, counts: dict[Path, int]) -> Path:
        """The path of a header, which speaks of the last entries of the arrays in it."""
        path: Path = ()
        for key in keys[:-1]:
            path = (*path, key)
            if path in counts:
                path = (*path, counts[path])
        return (*path, keys[-1])

    def of(self, path: Path) -> int:
        """The line on which `path` stands, or what it stands in; 1 if it is nowhere."""
        for k in range(len(path), 0, -1):
            if path[:k] in self._at:
                line = self._at[path[:k]]
                inner = [key for key in path[k:] if isinstance(key, str)]
                return self._inside(line, inner) if inner else line
        return 1

    def _inside(self, line: int, keys: list[str]) -> int:
        """The line of a key in an inline table that begins at `line`."""
        for key in keys:
            word = re.compile(rf"(?<![\w-])[\"']?{re.escape(key)}[\"']?[ \t]*=")
            for number in range(line, min(line + 1000, len(self._rows)) + 1):
                row = self._rows[number - 1]
                if number > line and _HEADER.match(row) and not row.lstrip().startswith("[["):
                    break
                if word.search(row):
                    line = number
                    break
        return line


def _split(keys: str) -> Path:
    return tuple(_bare(key) for key in _ONE.findall(keys))


def _bare(key: str) -> str:
    if key[0] == '"':
        import json

        try:
            return str(json.loads(key))
        except ValueError:  # an escape that TOML has and JSON has not
            return key[1:-1]
    return key[1:-1] if key[0] == "'" else key


def _after(row: str, depth: int, quote: str) -> tuple[int, str]:
    """How deep in brackets, and in which long string, the text is behind a row."""
    at = 0
    while at < len(row):
        if quote:
            end = row.find(quote, at)
            if end < 0:
                return depth, quote
            at, quote = end + 3, ""
            continue
        found = _STRINGS.search(row, at)
        plain = row[at : found.start() if found else len(row)]
        depth += plain.count("[") + plain.count("{") - plain.count("]") - plain.count("}")
        if found is None:
            break
        at = found.end()
        if found[0] in ('"""', "'''"):
            quote = found[0]
    return depth, quote
