"""A measured row, and reading rows from what another process prints.

What a process prints is not trusted: lines that are no row are counted and left out, numbers that can't be (negative
times, NaN, errors that are not finite) make a row that failed, texts are shortened and freed of control characters.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from peers import contact_tasks
from peers.tasks import NAMES

__all__ = ["LONGEST_LINE", "MOST_ROWS", "Result", "read_rows"]

MOST_ROWS = 2000
LONGEST_LINE = 20_000
_LONGEST_TEXT = 200
_MORE_NUMBERS = (
    *("decay_per_s", "elongation_error", "warm_wall_s", "warm_error"),
    *("survived", "tension", "change", "drift"),
)


@dataclass(frozen=True, slots=True)
class Result:
    """One run of one program on one task, or that it failed."""

    task: str
    tool: str
    variant: str = ""
    n: int | None = None
    """Size: elements, control points or nodes."""
    dt: float | None = None
    """Step, s; None for a static solve."""
    wall: float = math.nan
    """Wall time, s: per simulated second (a to d) or to the answer (e, f)."""
    error: float = math.nan
    """Relative, not negative."""
    signed_error: float = math.nan
    reference: str = ""
    note: str = ""
    failed: str = ""
    more: Mapping[str, float] = field(default_factory=dict)
    """Further figures: decay_per_s, elongation_error, warm_wall_s, warm_error; where things touch survived (1 or 0),
    tension (N), change (of the tension while it is held, relative), drift (over the size)."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values, without those that are missing."""
        values: dict[str, Any] = {
            "task": self.task, "tool": self.tool, "variant": self.variant, "n": self.n, "dt": self.dt,
            "wall_s": self.wall, "error": self.error, "signed_error": self.signed_error, "reference": self.reference,
            "note": self.note, "failed": self.failed, **self.more,
        }  # fmt: skip
        return {key: value for key, value in values.items() if value not in ("", None) and value == value}


def read_rows(lines: Iterable[str], tool: str) -> tuple[list[Result], int]:
    """Rows in `lines`, and how many lines were none; `tool` is the name that they get."""
    rows: list[Result] = []
    strange = 0
    for line in lines:
        row = _row(line, tool) if len(line) <= LONGEST_LINE and len(rows) < MOST_ROWS else None
        if row is not None:
            rows.append(row)
        elif line.strip():
            strange += 1
    return rows, strange


def _row(line: str, tool: str) -> Result | None:
    if not line.lstrip().startswith("{"):
        return None
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict) or given.get("task") not in (*NAMES, *contact_tasks.NAMES):
        return None
    task, variant, note = given["task"], _text(given.get("variant")), _text(given.get("note"))
    reference, size = _text(given.get("reference")), _number(given.get("n"))
    n = None if size is None or not 0.0 <= size <= 1e9 else int(size)
    dt = _number(given.get("dt"))
    dt = dt if dt is not None and dt > 0.0 else None
    if given.get("failed"):
        return Result(task, tool, variant, n, dt, reference=reference, note=note, failed=_text(given["failed"]))
    wall, error = _number(given.get("wall_s")), _number(given.get("error"))
    if wall is None or wall <= 0.0:
        why = f"its time is no positive number: {_text(given.get('wall_s'))!r}"
        return Result(task, tool, variant, n, dt, reference=reference, note=note, failed=why)
    if error is None:
        why = f"its error is no finite number: {_text(given.get('error'))!r}"
        return Result(task, tool, variant, n, dt, wall, reference=reference, note=note, failed=why)
    signed = _number(given.get("signed_error"))
    more = {key: value for key in _MORE_NUMBERS if (value := _number(given.get(key))) is not None}
    return Result(
        task, tool, variant, n, dt, wall, abs(error), error if signed is None else signed, reference, note, "", more
    )


def _number(value: object) -> float | None:
    """A finite float, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        result = float(value)
    except OverflowError:
        return None
    return result if math.isfinite(result) else None


def _text(value: object) -> str:
    """One line of printable characters."""
    if value is None:
        return ""
    words = "".join(c if c.isprintable() else " " for c in str(value)[: 4 * _LONGEST_TEXT]).split()
    text = " ".join(words)
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "..."
