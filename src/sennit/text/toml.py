"""Values as TOML writes them. Floats keep every bit."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np

__all__ = ["key_of", "table_of", "value_of"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH = 110


def key_of(name: str) -> str:
    """A key, in quotes where it needs them."""
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def value_of(value: Any) -> str:
    """A value; nested lists that would be long stand on lines of their own."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        number = float(value)
        return repr(number) if math.isfinite(number) else ("nan" if math.isnan(number) else f"{'-' * (number < 0)}inf")
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key_of(key)} = {value_of(one)}" for key, one in value.items()) + " }"
    parts = [value_of(one) for one in (value.tolist() if isinstance(value, np.ndarray) else value)]
    line = "[" + ", ".join(parts) + "]"
    if len(line) <= _WIDTH:
        return line
    rows, row = [], ""
    for part in parts:
        if row and len(row) + len(part) > _WIDTH:
            rows.append(row)
            row = ""
        row += f"{part}, "
    return "[\n" + "".join(f"  {one.rstrip()}\n" for one in (*rows, row)) + "]"


def table_of(header: str, entries: dict[str, Any]) -> str:
    """A table with its header: ``[rod.rope]``."""
    return "\n".join([header, *(f"{key_of(key)} = {value_of(value)}" for key, value in entries.items())])
