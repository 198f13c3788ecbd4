"""Runs a program in a process of its own, with a time limit, and reads what it prints."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from peers.environments import clean_environment
from peers.results import LONGEST_LINE, Result, read_rows

__all__ = ["run_program"]

_MOST_LINES, _MOST_BYTES = 20_000, 20_000_000
_KEPT_OF_ERRORS = 4_000


def run_program(
    command: Sequence[str],
    tool: str,
    tasks: Sequence[str],
    limit: float,
    *,
    on_row: Callable[[int], None] = lambda count: None,
    folder: Path | None = None,
    environment: dict[str, str] | None = None,
) -> list[Result]:
    """Rows that `command` prints within `limit` seconds, and one that failed for each of `tasks` without any.

    Its group of processes is ended when the time is over, when it prints without end, and when this one is interrupted.
    `on_row` is called with the number of lines so far, about every quarter of a second.
    """
    lines: list[str] = []
    errors: list[str] = []
    size, flooded = [0], threading.Event()
    try:
        process = subprocess.Popen(
            list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
            env=clean_environment() if environment is None else environment, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        return [Result(task, tool, failed=f"could not be started: {error}") for task in tasks]

    # Each reader closes its own stream when it ends: closed under a reader that waits, it would wait as well, and a
    # descendant outside the group may hold the pipe open for long.
    def read_output() -> None:
        assert process.stdout is not None
        with process.stdout as stream:
            # A line longer than allowed comes in parts, none of which is a row.
            while part := stream.readline(LONGEST_LINE + 1):
                size[0] += len(part)
                if size[0] > _MOST_BYTES or len(lines) >= _MOST_LINES:
                    flooded.set()
                    return
                lines.append(part.decode("utf-8", errors="replace"))

    def read_errors() -> None:
        assert process.stderr is not None
        with process.stderr as stream:
            while part := stream.readline(LONGEST_LINE):
                errors.append(part.decode("utf-8", errors="replace"))
                while len(errors) > 50:
                    del errors[0]

    readers = [threading.Thread(target=read, daemon=True) for read in (read_output, read_errors)]
    for reader in readers:
        reader.start()
    end = time.monotonic() + limit
    why = ""
    try:
        while process.poll() is None:
            if flooded.is_set():
                break
            if time.monotonic() > end:
                why = f"not done in {limit:.0f} s"
                break
            on_row(len(lines))
            try:
                process.wait(0.25)
            except subprocess.TimeoutExpired:
                continue
    finally:
        _end(process)
    until = time.monotonic() + 5.0
    for reader in readers:
        reader.join(max(0.0, until - time.monotonic()))
    if flooded.is_set():
        why = f"printed more than {_MOST_LINES:,} lines or {_MOST_BYTES // 10**6} MB"
    rows, strange = read_rows(list(lines), tool)
    if not why and process.returncode != 0:
        last = "".join(errors)[-_KEPT_OF_ERRORS:].strip().splitlines()
        # Folders are this machine's own business: names of files tell enough.
        told = re.sub(r"(?:/[^\s/'\":]+)+/", "", last[-1])[:200] if last else ""
        why = f"exit status {process.returncode}" + (f": {told}" if told else "")
    rows = [row for row in rows if row.task in tasks]
    for task in tasks:
        if not any(row.task == task for row in rows):
            reason = why or ("printed no row" + (f", but {strange} lines that are none" if strange else ""))
            rows.append(Result(task, tool, failed=reason))
    return rows


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and what it started: it has a group of its own."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait(30.0)
