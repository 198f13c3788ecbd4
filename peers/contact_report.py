"""``sennit bench peers --contact``: the four tasks in which things touch, in sennit, MuJoCo and Newton."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from peers import contact_tasks
from peers.contact_ours import TOOL
from peers.environments import PEERS, Peer, clean_environment, folder_of, install, installed, python_of
from peers.results import Result, read_rows
from peers.runner import run_program
from sennit.bench.sheet import Sheet
from sennit.bench.table import Progress, machine, write_json
from sennit.errors import InputError

__all__ = ["contact_sheet", "run_contact"]

SCRIPTS = {"mujoco": "contact_mujoco.py", "newton": "contact_newton.py"}
"""Of the programs that have these tasks."""
_LIMIT = 1800.0
_DOCS = Path(__file__).parents[1] / "docs"


def run_contact(progress: Progress, arguments: argparse.Namespace) -> list[Sheet]:
    """Run what the arguments ask for and return the table."""
    if arguments.write_docs is not None and (arguments.quick or arguments.only):
        raise InputError("--write-docs is for the whole bench: leave out --quick and --only")
    if arguments.results is not None:
        return _shown(*_read(arguments.results), arguments.write_docs)
    wanted = None if arguments.only is None else {name.strip().lower() for name in arguments.only.split(",")}
    peers = [PEERS[name] for name in SCRIPTS if wanted is None or name in wanted]
    given = [task for task in str(arguments.tasks).split(",") if task in contact_tasks.NAMES]
    tasks = given or list(contact_tasks.NAMES)
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="sennit-peers-") as folder:
        file = Path(folder) / "problems.json"
        write_json(file, {task: contact_tasks.problem(task) for task in tasks})
        options = ["--tasks", ",".join(tasks), "--problems", str(file), *(["--quick"] if arguments.quick else [])]
        results += _own(progress, options, tasks)
        for k, peer in enumerate(peers, start=1):
            results += _theirs(progress, peer, options, tasks, k / (len(peers) + 1), arguments.install)
    return _shown(results, tasks, machine(), arguments.write_docs)


def _shown(results: Sequence[Result], tasks: Sequence[str], there: dict[str, Any], docs: Path | None) -> list[Sheet]:
    """The table of these results, measured on the machine `there`; written into the folder `docs`, if one is given."""
    sheet = contact_sheet(results, tasks)
    sheet.data = {"results": [row.as_dict() for row in results], "machine": there}
    if docs is not None:
        _write((_DOCS if docs == Path() else docs) / "tables" / "peers_contact.md", sheet, there)
    return [sheet]


def _read(file: Path) -> tuple[list[Result], list[str], dict[str, Any]]:
    """Results, tasks and machine of a run that ``--json`` wrote."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))["tables"][0]["data"]
        rows: list[Result] = []
        for tool in (TOOL, *(PEERS[name].title for name in SCRIPTS)):
            rows += read_rows((json.dumps(row) for row in data["results"] if row["tool"] == tool), tool)[0]
        there = dict(data["machine"])
        tasks = [task for task in contact_tasks.NAMES if any(row.task == task for row in rows)]
        if not tasks:
            raise ValueError("it has none of these tasks")
        for key in ("processor", "cores", "sennit", "date"):
            there[key] = str(there[key])
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise InputError(
            f"--results must name a file that --contact --json wrote, got {str(file)!r} ({error})"
        ) from None
    return rows, tasks, there


def _own(progress: Progress, options: Sequence[str], tasks: Sequence[str]) -> list[Result]:
    from peers import _our_environment

    command = [sys.executable, "-m", "peers.contact_ours", *options]

    def told(count: int) -> None:
        progress(f"{TOOL}: {count} runs", 0.0)

    return run_program(command, TOOL, tasks, _LIMIT, on_row=told, environment=_our_environment())


def _theirs(
    progress: Progress, peer: Peer, options: Sequence[str], tasks: Sequence[str], done: float, make: bool
) -> list[Result]:
    problem = ""
    if not installed(peer):
        problem = "not installed: run with --install"
        if make:
            progress(f"installing {peer.title}", done)
            problem = install(peer)
    if problem:
        return [Result(task, peer.title, failed=problem) for task in tasks]
    script = Path(__file__).parent / "scripts" / SCRIPTS[peer.package]

    def told(count: int) -> None:
        progress(f"{peer.title}: {count} runs", done)

    command = [str(python_of(folder_of(peer))), str(script), *options]
    return run_program(command, peer.title, tasks, _LIMIT, on_row=told, environment=clean_environment())


def contact_sheet(results: Sequence[Result], tasks: Sequence[str]) -> Sheet:
    """A row for each run."""
    sheet = Sheet(
        "Things that touch, in other programs",
        {
            "task": "left", "program": "left", "its run": "left", "step": "right", "error": "right",
            "survived": "left", "besides": "left", "time": "right",
        },
    )  # fmt: skip
    for task in tasks:
        name = f"{task}: {contact_tasks.TITLES[task]}"
        for row in (row for row in results if row.task == task):
            step = "" if row.dt is None else f"1/{1 / row.dt:.0f} s"
            if row.failed:
                sheet.add(name, row.tool, row.variant, step, "", "no", row.failed, "")
            else:
                alive = "yes" if row.more.get("survived", 0.0) > 0.5 else "no"
                cells = (_percent(row.signed_error, "+"), alive, _besides(row), f"{1e3 * row.wall:,.0f} ms/s")
                sheet.add(name, row.tool, row.variant, step, *cells)
            name = task
        sheet.notes.append(f"{task}, error: {contact_tasks.ERRORS[task]}.")
    sheet.notes.append("Time: wall time of the steps of a simulated second, on one core.")
    return sheet


def _besides(row: Result) -> str:
    """The figures that one task alone has."""
    parts = []
    if "tension" in row.more:
        parts.append(f"T = {row.more['tension']:.2f} N")
    if "change" in row.more:
        parts.append(f"changes by {_percent(row.more['change'])} while held")
    if "drift" in row.more:
        parts.append(f"drifts by {_percent(row.more['drift'])}")
    return ", ".join(parts)


def _percent(part: float, sign: str = "") -> str:
    """A part of one in per cent, to two digits."""
    shown = 100.0 * part
    digits = 0 if abs(shown) >= 10.0 else 1
    return f"{shown:{sign}.{digits}f} %" if abs(shown) >= 1.0 else f"{shown:{sign}.2g} %"


def _write(file: Path, sheet: Sheet, there: dict[str, Any]) -> None:
    from sennit.export.files import replacing

    where = f"{there['processor']}, {there['cores']} cores, one used; sennit {there['sennit']}; {there['date'][:10]}."
    text = f"<!-- written by: sennit bench peers --contact --write-docs -->\n\n{where}\n\n{sheet.as_markdown()}"
    with replacing(file) as partial:
        partial.write_text(text, encoding="utf-8")
