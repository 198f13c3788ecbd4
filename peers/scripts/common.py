"""What the scripts of all peers share: their command line, their rows, and how they measure.

The scripts run in the environment of the tool that they measure, where sennit can't be imported: this file needs only
the standard library and NumPy. A script calls `main` with one function for each task; a function gets the
problem's data and whether to be quick, and prints its rows with `emit`.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Task = Callable[[dict[str, Any], bool], None]
"""One task of a tool: called with the problem's data and with whether to be quick; prints its rows."""

SMALLEST_STEP = 1e-9  # s


def main(tool: str, tasks: Mapping[str, Task]) -> int:
    """Run the tasks named on the command line, each after the other; a task that raises becomes a failed row."""
    parser = argparse.ArgumentParser(description=f"Rows of {tool} for `sennit bench peers`, one JSON object per line.")
    parser.add_argument("--problems", required=True, help="JSON file with the data of all tasks")
    parser.add_argument("--tasks", default=",".join(tasks), help="tasks to run, separated by commas")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and steps")
    options = parser.parse_args()
    with open(options.problems, encoding="utf-8") as file:
        problems = json.load(file)
    for name in options.tasks.split(","):
        if name not in tasks:
            emit(task=name, tool=tool, failed="this script has no such task")
            continue
        try:
            tasks[name](problems[name], options.quick)
        except Exception as error:  # the other tasks still run, and the row says what happened
            traceback.print_exc(file=sys.stderr)
            emit(task=name, tool=tool, failed=f"{type(error).__name__}: {error}")
    return 0


def emit_result(
    task: str,
    tool: str,
    variant: str,
    *,
    n: int | None,
    dt: float | None,
    wall_s: float,
    error: float,
    reference: str,
    **more: Any,
) -> None:
    """Print the row of a result; `error` comes with its sign where the task's error has one."""
    emit(
        task=task,
        tool=tool,
        variant=variant,
        n=n,
        dt=dt,
        wall_s=wall_s,
        error=abs(error),
        signed_error=error,
        reference=reference,
        **more,
    )


def emit(**row: Any) -> None:
    """Print a row as one line of JSON; numbers that are not finite become null."""
    print(json.dumps({key: _plain(value) for key, value in row.items()}, ensure_ascii=False), flush=True)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def timed(work: Callable[..., Any], *arguments: Any) -> float:
    """Return the wall time (s) of one call."""
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


def largest_stable_step(
    stable: Callable[[float], bool], start: float, *, largest: float = 0.05, refinements: int = 4
) -> float:
    """Return the largest step (s) for which `stable` says yes, to within a factor of 2^(1/2^refinements).

    Doubles from `start` (halves, if that is not stable) and then bisects the last factor of two. Returns 0.0 if no step
    above `SMALLEST_STEP` is stable, and `largest` if that is.
    """
    good = min(start, largest)
    while not stable(good):
        good /= 2.0
        if good < SMALLEST_STEP:
            return 0.0
    bad = 2.0 * good
    while good < largest and stable(min(bad, largest)):
        good, bad = min(bad, largest), 2.0 * min(bad, largest)
    if good >= largest:
        return largest
    for _ in range(refinements):
        middle = math.sqrt(good * bad)
        if stable(middle):
            good = middle
        else:
            bad = middle
    return good


def swing_decay(times: Sequence[float], x: Sequence[float] | Floats) -> float:
    """Return the rate (1/s) at which a swing let go at rest loses amplitude, from its last peak in the samples.

    The peak is the top of the parabola through the largest sample of the last two fifths and its neighbours.
    """
    t, size = np.asarray(times, dtype=float), np.abs(np.asarray(x, dtype=float))
    late = len(size) * 3 // 5
    i = min(late + int(np.argmax(size[late:])), len(size) - 2)
    before, at, after = size[i - 1 : i + 2]
    curvature = before - 2.0 * at + after
    shift = 0.5 * (before - after) / curvature if curvature else 0.0  # in samples
    peak, when = at - 0.25 * (before - after) * shift, t[i] + shift * (t[i + 1] - t[i])
    return float(math.log(size[0] / peak) / when)


def time_to_stay(times: Sequence[float], errors: Sequence[float], bound: float) -> float | None:
    """Return the first of `times` from which on all `errors` are below `bound`, or None if the last one is not."""
    above = np.flatnonzero(~(np.asarray(errors) < bound))
    first = int(above[-1]) + 1 if above.size else 0
    return float(times[first]) if first < len(times) else None
