"""``sennit bench peers --contact``: the four tasks in which things touch, in sennit, MuJoCo and Newton."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from peers import contact_tasks
from peers.contact_ours import TOOL
from peers.environments import PEERS, Peer, clean_environment, folder_of, install, installed, python_of
from peers.results import Result
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
        raise InputError("--results is for the six tasks without contact: leave out --contact")
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
    sheet = contact_sheet(results, tasks)
    sheet.data = {"results": [row.as_dict() for row in results], "machine": machine()}
    if arguments.write_docs is not None:
        where = _DOCS if arguments.write_docs == Path() else arguments.write_docs
        _write(where / "tables" / "peers_contact.md", sheet)
    return [sheet]


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
                cells = (f"{100.0 * row.signed_error:+.2g} %", alive, _besides(row), f"{1e3 * row.wall:,.0f} ms/s")
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
        parts.append(f"changes by {100.0 * row.more['change']:.1g} % while held")
    if "drift" in row.more:
        parts.append(f"drifts by {100.0 * row.more['drift']:.1g} %")
    return ", ".join(parts)


def _write(file: Path, sheet: Sheet) -> None:
    from sennit.export.files import replacing

    there = machine()
    where = f"{there['processor']}, {there['cores']} cores, one used; sennit {there['sennit']}; {there['date'][:10]}."
    text = f"<!-- written by: sennit bench peers --contact --write-docs -->\n\n{where}\n\n{sheet.as_markdown()}"
    with replacing(file) as partial:
        partial.write_text(text, encoding="utf-8")
