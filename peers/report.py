"""From measured rows to the tables: who is ahead at equal error, and by how much.

A peer is given its best case: of all its rows the one at which sennit is least ahead counts. Against each of them
stands the fastest row of sennit with an error as small or smaller; a row whose error is small by luck, since a finer
run of sennit has a larger one, does not count for sennit, though it does for the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from peers.results import Result
from peers.tasks import ERROR_BOUND, NAMES, TITLES, problem
from sennit.bench.sheet import Sheet

__all__ = ["AIMS", "Comparison", "compared", "main_sheet", "same_step_requests", "same_step_sheet", "with_decay"]

AIMS = {"a": 10.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 10.0, "f": 2.0}
"""Least ratio of a peer's time to sennit's at equal error that is aimed at, by task."""
PLANE = ", plane only"
"""What the name of a program gets for models that can't leave a plane."""
BY_LUCK = 1.05
"""A row counts as small by luck when a finer one has an error larger by this factor."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One peer on one task: its row where sennit is least ahead, and sennit's row against it."""

    task: str
    tool: str
    peer: Result | None
    ours: Result | None
    ratio: float
    """The peer's time over sennit's; NaN where there is nothing to compare."""
    why: str
    """What stands in place of a ratio, or the verdict in words."""
    at_bound: float = math.nan
    """The fastest run of each within `ERROR_BOUND` against each other: the peer's time over sennit's."""


def honest(rows: Iterable[Result]) -> list[Result]:
    """Rows of sennit that are not better than a finer run of the same kind, finer in size and in step."""
    good = [row for row in rows if not row.failed]

    def kind(row: Result) -> str:
        return " ".join(word for word in row.variant.split() if not word.startswith("n="))

    def finer(other: Result, row: Result) -> bool:
        if kind(other) != kind(row) or other is row:
            return False
        size, step, its_size, its_step = row.n or 0, row.dt or 0.0, other.n or 0, other.dt or 0.0
        return its_size >= size and its_step <= step and (its_size, its_step) != (size, step)

    return [
        row for row in good if not any(finer(other, row) and other.error > BY_LUCK * row.error for other in good)
    ]  # fmt: skip


def compared(task: str, tool: str, peer_rows: Sequence[Result], our_rows: Sequence[Result]) -> Comparison:
    """The peer's rows of `task` against sennit's."""
    failed = [row.failed for row in peer_rows if row.failed]
    theirs = [row for row in peer_rows if not row.failed]
    if task in "ef":
        bounded = [row for row in theirs if row.error <= ERROR_BOUND]
        if theirs and not bounded:
            best = min(theirs, key=lambda row: row.error)
            why = f"no answer within {ERROR_BOUND:.1%}: {_percent(best.error)} at best"
            return Comparison(task, tool, best, None, math.nan, why)
        theirs = bounded
    if not theirs:
        return Comparison(task, tool, None, None, math.nan, failed[0] if failed else "was not run")
    ours = honest(our_rows)
    if not ours:
        return Comparison(task, tool, theirs[0], None, math.nan, "sennit was not run")
    fast, own_fast = (
        min((r.wall for r in side if r.error <= ERROR_BOUND), default=math.nan) for side in (theirs, ours)
    )
    at_bound = fast / own_fast
    pairs = []
    for row in theirs:
        able = [own for own in ours if own.error <= row.error]
        pairs.append((row, min(able, key=lambda own: own.wall) if able else None))
    unmatched = [row for row, own in pairs if own is None]
    if unmatched:  # a peer's row that sennit never reaches counts as behind, whatever its time
        row = min(unmatched, key=lambda r: r.wall)
        least = min(own.error for own in ours)
        why = f"sennit behind: none of its runs has so small an error ({_percent(least)} at best)"
        return Comparison(task, tool, row, None, math.nan, why, at_bound)
    row, own = min(pairs, key=lambda pair: pair[0].wall / pair[1].wall if pair[1] else math.inf)
    assert own is not None
    ratio = row.wall / own.wall
    return Comparison(task, tool, row, own, ratio, verdict(ratio), at_bound)


def verdict(ratio: float) -> str:
    """The ratio in words."""
    if ratio < 1.0:
        return f"sennit behind: {_round(1.0 / ratio)} times slower"
    return f"sennit {_round(ratio)} times faster"


def with_decay(rows: Iterable[Result]) -> list[Result]:
    """Rows of task b whose error counts decay as well: |λ − iω| / ω of λ = −decay + i ω′."""
    omega = 2.0 * math.pi * problem("b")["references"]["euler-bernoulli"]["frequency"]
    changed = []
    for row in rows:
        if row.failed:
            changed.append(row)
        elif "decay_per_s" in row.more:
            changed.append(replace(row, error=math.hypot(row.error, row.more["decay_per_s"] / omega)))
    return changed


def main_sheet(results: Sequence[Result], tools: Sequence[str], ours: str, tasks: Sequence[str]) -> Sheet:
    """The table of ratios at equal error; `tools` are the peers' names, `ours` sennit's."""
    sheet = Sheet(
        "The same tasks in other programs, at equal or smaller error",
        {
            "task": "left", "program": "left", "its run": "left", "error": "right", "time": "right",
            "sennit's run": "left", "its error": "right", "its time": "right", "ratio": "right",
            f"ratio at {ERROR_BOUND:.1%}": "right", "in words": "left",
        },
    )  # fmt: skip
    ratios: list[dict[str, Any]] = []
    measured = results
    results, tools = plane_apart(results, tools)
    for task in (name for name in NAMES if name in tasks):
        own = [row for row in results if row.tool == ours and row.task == task]
        for line, change in _lines(task):
            _own_row(sheet, line, task, ours, change(own))
            for tool in tools:
                theirs = change([row for row in results if row.tool == tool and row.task == task])
                if tool.endswith(PLANE) and not theirs:
                    continue
                found = compared(task, tool, theirs, change(own))
                _add(sheet, line, found)
                ratios.append(_plain(line, found))
                if line == task and found.peer is not None and (found.ours is not None or "behind" in found.why):
                    sheet.aim(f"{task}, {tool}: its time over sennit's", found.ratio, at_least=AIMS[task])
    if "f" in tasks:
        _warm(sheet, results, tools, ours)
    sheet.data = {"ratios": ratios, "results": [row.as_dict() for row in measured]}
    return sheet


def plane_apart(results: Sequence[Result], tools: Sequence[str]) -> tuple[list[Result], list[str]]:
    """The results, and the programs, with models that move in one plane only as programs of their own.

    They have a third of the unknowns and no twist: worth knowing, but not the same thing.
    """
    apart = [
        replace(row, tool=row.tool + PLANE) if row.variant.startswith("planar") else row for row in results
    ]  # fmt: skip
    there = {row.tool for row in apart}
    return apart, [name for tool in tools for name in (tool, tool + PLANE) if name == tool or name in there]


def _lines(task: str) -> list[tuple[str, Any]]:
    """A task's lines in the table, with what they make of its rows."""
    same = (task, lambda rows: list(rows))
    return [same, ("b, decay counted", with_decay)] if task == "b" else [same]


def _own_row(sheet: Sheet, line: str, task: str, ours: str, rows: Sequence[Result]) -> None:
    """Sennit's fastest run under the bound, for orientation."""
    good = [row for row in honest(rows) if row.error <= ERROR_BOUND]
    name = f"{line}: {TITLES[task]}" if line == task else line
    if not good:
        reason = next((row.failed for row in rows if row.failed), f"no run within {ERROR_BOUND:.1%}")
        sheet.add(name, ours, "", "", "", "", "", "", "", "", reason)
        return
    best = min(good, key=lambda row: row.wall)
    cells = (_setting(best), _percent(best.error), _time(best.wall, task))
    sheet.add(name, ours, *cells, "", "", "", "", "", f"its fastest within {ERROR_BOUND:.1%}")


def _add(sheet: Sheet, line: str, found: Comparison) -> None:
    task = found.task
    peer = ("", "", "") if found.peer is None else _cells(found.peer, task)
    ours = ("", "", "") if found.ours is None else _cells(found.ours, task)
    ratio, at_bound = ("" if math.isnan(value) else _round(value) for value in (found.ratio, found.at_bound))
    sheet.add(line, found.tool, *peer, *ours, ratio, at_bound, found.why)


def _cells(row: Result, task: str) -> tuple[str, str, str]:
    return _setting(row), _percent(row.error), _time(row.wall, task)


def _warm(sheet: Sheet, results: Sequence[Result], tools: Sequence[str], ours: str) -> None:
    """A note with the times of the second answer of task f."""
    parts = []
    for tool in (ours, *tools):
        rows = [r for r in results if r.tool == tool and r.task == "f" and not r.failed and "warm_wall_s" in r.more]
        rows = [r for r in rows if r.error <= ERROR_BOUND and r.more.get("warm_error", 1.0) <= ERROR_BOUND]
        if rows:
            best = min(rows, key=lambda r: r.more["warm_wall_s"])
            error = _percent(best.more["warm_error"])
            parts.append(f"{tool} {_seconds(best.more['warm_wall_s'])} ({best.variant}, {error})")
    if parts:
        sheet.notes.append(
            f"f, the tip moved by 1 cm and solved again from there, the fastest within {ERROR_BOUND:.1%}: "
            + "; ".join(parts)
        )


def _plain(line: str, found: Comparison) -> dict[str, Any]:
    return {
        "task": line,
        "tool": found.tool,
        "ratio": None if math.isnan(found.ratio) else found.ratio,
        "ratio_at_bound": None if math.isnan(found.at_bound) else found.at_bound,
        "words": found.why,
        "peer": None if found.peer is None else found.peer.as_dict(),
        "sennit": None if found.ours is None else found.ours.as_dict(),
    }


# ------------------------------------------------------------------------------------------------------ the same step


def same_step_requests(results: Sequence[Result], tools: Sequence[str]) -> list[dict[str, Any]]:
    """For each peer and each of a to d its run with the largest step among those within 1 % (else its most exact)."""
    requests = []
    for task in "abcd":
        for tool in tools:
            rows = [r for r in results if r.tool == tool and r.task == task and not r.failed and r.dt is not None]
            if not rows:
                continue
            good = [row for row in rows if row.error <= 1e-2] or [min(rows, key=lambda row: row.error)]
            best = min(good, key=lambda row: (-(row.dt or 0.0), row.wall))
            if (best.dt or 0.0) >= 2e-6:
                requests.append(
                    {"task": task, "dt": best.dt, "error": best.error, "against": tool, "peer": best.as_dict()}
                )
    return requests


def same_step_sheet(requests: Sequence[dict[str, Any]], answers: Sequence[dict[str, Any]]) -> Sheet:
    """Cost of a simulated second at a peer's own step; `answers` are rows of sennit with the key "against".

    One with the key "failed" says why there is no run.
    """
    sheet = Sheet(
        "At the step of the other program",
        {
            "task": "left", "program": "left", "its run": "left", "error": "right", "time": "right",
            "sennit's run": "left", "its error": "right", "its time": "right", "ratio": "right", "in words": "left",
        },
    )  # fmt: skip
    for request in requests:
        peer, task = request["peer"], request["task"]
        setting = _with_step(peer.get("variant", ""), peer["dt"])
        first = (task, request["against"], setting, _percent(peer["error"]), _time(peer["wall_s"], task))
        match = next((a for a in answers if a["task"] == task and a["against"] == request["against"]), None)
        if match is None:
            sheet.add(*first, "", "", "", "", "sennit behind: no run with so small an error at this step")
            continue
        if match.get("failed"):
            sheet.add(*first, "", "", "", "", str(match["failed"]))
            continue
        ratio = peer["wall_s"] / match["wall_s"]
        cells = (match["variant"], _percent(match["error"]), _time(match["wall_s"], task), _round(ratio))
        sheet.add(*first, *cells, verdict(ratio))
    sheet.notes.append(
        "Of each program its largest step within 1 % error (where none is within 1 %, its most exact run); sennit "
        "takes the same step with the fewest control points that have that error. It need not take so small a step: "
        "the table above has what it costs when it does not."
    )
    return sheet


# --------------------------------------------------------------------------------------------------------- as texts


def _setting(row: Result) -> str:
    return _with_step(row.variant, row.dt)


def _with_step(variant: str, dt: float | None) -> str:
    """A run in words, with its step once."""
    words = [word for word in variant.split() if not word.startswith("dt=")]
    return " ".join([*words, *([] if dt is None else [f"dt={_seconds(dt)}"])])


def _percent(value: float) -> str:
    return f"{100.0 * value:.2g} %" if value < 1.0 else f"{100.0 * value:.0f} %"


def _seconds(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= 0.9995 * size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def _time(value: float, task: str) -> str:
    return f"{_seconds(value)}/s" if task in "abcd" else _seconds(value)


def _round(value: float) -> str:
    return f"{value:,.0f}" if value >= 10.0 else f"{value:.2g}"
