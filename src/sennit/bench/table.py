"""Timing of callables, and the table that comes of it.

A sample is the wall time of one call (or of `Case.repeat` calls, divided by that number). The cases of a table are run
in turns, a block of samples each, so that a slow spell of the machine falls on all of them and ratios stay honest.
Nothing is discarded: the 99th percentile and the worst sample include what the operating system did meanwhile, as a
haptic loop would feel it. Garbage collection stays on for the same reason.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sennit.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Aim", "Case", "Progress", "Row", "Seconds", "Table", "growth_exponent", "machine", "measure", "write_json"]

Progress = Callable[[str, float], None]
"""Called with what is being timed and the fraction of it that is done (0 to 1)."""

_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


class Seconds(float):
    """A time among a row's `values`: shown in the table's unit."""


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to time.

    `call` takes no arguments and may be called any number of times, more often than there are samples: a case that
    follows a path keeps its own place on it and starts again at the end.
    """

    name: str
    call: Callable[[], object]
    per: float = 1.0
    """Times are divided by this (a node count, say)."""
    repeat: int = 1
    """Calls in one sample. More than 1 hides single slow calls: only for calls of less than about 10 µs."""
    prepare: Callable[[], object] | None = None
    """Run before every sample, outside the clock."""
    values: Mapping[str, float | str] = field(default_factory=dict)
    """More columns of this case's row; read when all is timed, so that a call may fill them."""


@dataclass(frozen=True, slots=True)
class Row:
    """Statistics of one case; times in seconds, divided by `Case.per`."""

    name: str
    median: float
    p99: float
    worst: float
    samples: int
    mean: float | None = None
    """Of all samples: its inverse is the throughput, slow samples included."""
    ratio: float | None = None
    """Median over the median of the table's baseline."""
    values: Mapping[str, float | str] = field(default_factory=dict)

    @classmethod
    def from_samples(
        cls,
        name: str,
        seconds: Sequence[float] | np.ndarray[Any, Any],
        *,
        per: float = 1.0,
        values: Mapping[str, float | str] | None = None,
    ) -> Row:
        """Row of times that were measured elsewhere: `seconds` (n,), s, each divided by `per`."""
        times = np.asarray(seconds, dtype=np.float64) / per
        if times.ndim != 1 or times.size == 0 or not np.all(np.isfinite(times)):
            raise InputError(f"seconds of {name!r} must be a list of one or more finite numbers, got {seconds!r}")
        return cls(
            name=name,
            median=float(np.median(times)),
            p99=float(np.quantile(times, 0.99, method="higher")),
            worst=float(times.max()),
            samples=int(times.size),
            mean=float(times.mean()),
            values=dict(values or {}),
        )


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure held against a bound."""

    name: str
    value: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def met(self) -> bool:
        """Whether the figure keeps its bounds; a figure that is not a number does not."""
        above = self.at_least is None or self.value >= self.at_least
        below = self.at_most is None or self.value <= self.at_most
        return above and below and self.value == self.value

    def __str__(self) -> str:
        bounds = [f"at most {self.at_most:g}"] if self.at_most is not None else []
        bounds += [f"at least {self.at_least:g}"] if self.at_least is not None else []
        value = f"{self.value:.4g}" if self.value == self.value else "none"
        return f"{self.name}: {value} (aim: {', '.join(bounds)}; {'met' if self.met else 'missed'})"


@dataclass(slots=True)
class Table:
    """Rows of times under a title."""

    title: str
    rows: list[Row]
    baseline: str | None = None
    """Name of the row that the ratios refer to."""
    per: str = "call"
    """What one time is for: "call", "node", "step"."""
    notes: list[str] = field(default_factory=list)
    aims: list[Aim] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.baseline is not None:
            self.rows = _with_ratios(self.rows, self.baseline)

    def __getitem__(self, name: str) -> Row:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def aim(self, name: str, value: float, *, at_most: float | None = None, at_least: float | None = None) -> Aim:
        """Hold a figure against a bound; it is shown under the table and written to the file."""
        aim = Aim(name, float(value), at_most, at_least)
        self.aims.append(aim)
        return aim

    def show(self, console: Console) -> None:
        """Print the table, its aims and its notes."""
        from rich.table import Table as Grid
        from rich.text import Text

        unit, size = _unit(row.median for row in self.rows)
        extra = list(dict.fromkeys(key for row in self.rows for key in row.values))
        grid = Grid(title=Text(f"{self.title} ({unit} per {self.per})"), title_justify="left")
        grid.add_column("case")
        for heading in (*extra, "median", "p99", "worst", "samples"):
            grid.add_column(Text(heading), justify="right")
        if self.baseline is not None:
            grid.add_column(Text(f"× {self.baseline}"), justify="right")
        for row in self.rows:
            more = (row.values.get(key, "") for key in extra)
            cells = [row.name, *(_figure(x / size if isinstance(x, Seconds) else x) for x in more)]
            cells += [_figure(time / size) for time in (row.median, row.p99, row.worst)]
            cells.append(f"{row.samples:,}")
            if self.baseline is not None:
                cells.append("" if row.ratio is None else f"{row.ratio:.3g}")
            grid.add_row(*(Text(cell) for cell in cells))
        console.print(grid)
        for line in (*map(str, self.aims), *self.notes):
            console.print(Text(line))

    def as_dict(self) -> dict[str, Any]:
        """Everything in the table as plain values; times in seconds."""
        return {
            "title": self.title,
            "per": self.per,
            "baseline": self.baseline,
            "rows": [
                {
                    "name": row.name,
                    "median": row.median,
                    "p99": row.p99,
                    "worst": row.worst,
                    "samples": row.samples,
                    "mean": row.mean,
                    "ratio": row.ratio,
                    "values": dict(row.values),
                }
                for row in self.rows
            ],
            "aims": [
                {"name": a.name, "value": a.value, "at_most": a.at_most, "at_least": a.at_least, "met": a.met}
                for a in self.aims
            ],
            "notes": list(self.notes),
        }


def measure(
    title: str,
    cases: Sequence[Case],
    *,
    baseline: str | None = None,
    samples: int = 200,
    seconds: float = 10.0,
    per: str = "call",
    progress: Progress | None = None,
) -> Table:
    """Time `cases` in turns and return their table.

    Each case gets `samples` samples in ten blocks; every block begins with one call outside the clock, which compiles,
    allocates and fills the caches. Blocks stop early, after at least one sample each, once the table has taken
    `seconds`: the column "samples" says how many there were.
    """
    names = [case.name for case in cases]
    if len(set(names)) != len(names) or not names:
        raise InputError(f"cases must be one or more with distinct names, got {names}")
    if baseline is not None and baseline not in names:
        raise InputError(f"baseline must be one of {names}, got {baseline!r}")
    if samples < 1:
        raise InputError(f"samples must be at least 1, got {samples}")
    for case in cases:
        if case.repeat < 1 or not case.per > 0:
            raise InputError(f"repeat and per of {case.name!r} must be positive, got {case.repeat} and {case.per}")
    report = progress or _silent
    blocks = min(10, samples)
    times: list[list[float]] = [[] for _ in cases]
    clock = time.perf_counter
    report(title, 0.0)
    for case in cases:
        _warm_up(case)
    start = told = clock()
    for block in range(blocks):
        wanted = (block + 1) * samples // blocks
        for index, case in enumerate(cases):
            call, prepare, repeat, own = case.call, case.prepare, case.repeat, times[index]
            _warm_up(case)
            while len(own) < wanted:
                if prepare is not None:
                    prepare()
                begin = clock()
                for _ in range(repeat):
                    call()
                end = clock()
                own.append((end - begin) / repeat)
                if end - told > 0.25:
                    told = end
                    report(title, (block + (index + len(own) / wanted) / len(cases)) / blocks)
                if end - start > seconds * (block + (index + 1) / len(cases)) / blocks:
                    break
    report(title, 1.0)
    rows = [Row.from_samples(c.name, t, per=c.per, values=c.values) for c, t in zip(cases, times, strict=True)]
    return Table(title, rows, baseline=baseline, per=per)


def growth_exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """Slope p of the least-squares line through log(time) over log(size): time ∝ size^p."""
    if len(sizes) != len(times) or len(sizes) < 2:
        raise InputError(f"sizes and times must be two or more pairs, got {len(sizes)} and {len(times)}")
    x, y = np.log(np.asarray(sizes, dtype=np.float64)), np.log(np.asarray(times, dtype=np.float64))
    x -= x.mean()
    return float(x @ (y - y.mean()) / (x @ x))


def machine() -> dict[str, Any]:
    """What the figures were measured on: processor, versions, date and load."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": load,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("sennit", "numpy", "numba")},
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def write_json(path: str | os.PathLike[str], content: object) -> None:
    """Write `content` to `path` whole or not at all: the file is replaced once everything is on disk."""
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    target = Path(path).resolve()
    if target.exists() and not target.is_file():  # a pipe or a device is written to, never replaced
        target.write_text(text, encoding="utf-8")
        return
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with partial.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def _warm_up(case: Case) -> None:
    if case.prepare is not None:
        case.prepare()
    case.call()


def _silent(text: str, done: float) -> None:
    pass


def _with_ratios(rows: list[Row], baseline: str) -> list[Row]:
    reference = next((row.median for row in rows if row.name == baseline), None)
    if reference is None:
        raise InputError(f"baseline must be one of {[row.name for row in rows]}, got {baseline!r}")
    return [replace(row, ratio=row.median / reference if reference > 0 else None) for row in rows]


def _unit(seconds: Any) -> tuple[str, float]:
    """Unit in which the smallest time is at least 1 (or nanoseconds)."""
    smallest = min(seconds, default=0.0)
    return next(((unit, size) for unit, size in _UNITS if smallest >= size), _UNITS[-1])


def _figure(value: float | str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
