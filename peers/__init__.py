"""The same six tasks in sennit and in other programs: time at equal error. ``sennit bench peers`` in a checkout.

Files: `tasks` has the problems as numbers, `references` the values they are held against, `environments` the other
programs, `scripts` a program for each of them that runs in its own environment, `ours` and `our_models` sennit's,
`runner` and `results` what starts them and reads what they print, `report` and `picture` what is shown. Those whose
names begin with `contact` are ``--contact``: four more tasks, in which things touch.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sennit
from sennit.errors import InputError

if TYPE_CHECKING:
    from peers.environments import Peer
    from peers.results import Result
    from sennit.bench.sheet import Sheet
    from sennit.bench.table import Progress

__all__ = ["DESCRIPTION", "add_arguments", "run", "run_with"]

DESCRIPTION = (
    "The same six tasks in sennit, PyElastica, MuJoCo, Newton and pypbd: a soft cantilever to rest (a), free vibration "
    "(b), a steel hoist (c), a rope bridge (d), a static shape (e) and pose to pose (f). Each program runs in an "
    "environment of its own in the cache folder, on one core, with the settings that suit it best. The table has, for "
    "each task and each program, the ratio of its wall time to sennit's at equal or smaller error."
)

_ROOT = Path(__file__).parents[1]
"""The repository."""

_OUR_LIMIT = 1500.0
"""Seconds for sennit's own process: its first run on a machine compiles for some minutes."""

_END = "end"
"""A task that no program has: what became of it is what became of the whole run."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``sennit bench peers``."""
    parser.add_argument("--install", action="store_true", help="make the environments that are missing (some GB)")
    parser.add_argument("--only", metavar="NAME,...", help="peers to run: pyelastica, mujoco, newton, pypbd; or sennit")
    parser.add_argument("--tasks", metavar="a,b,...", default="a,b,c,d,e,f", help="tasks to run (default: all)")
    parser.add_argument(
        "--contact", action="store_true", help="instead: a capstan, a knot, a pile, a stack, beside MuJoCo and Newton"
    )
    parser.add_argument("--quick", action="store_true", help="few sizes and steps")
    parser.add_argument(
        "--write-docs", metavar="FOLDER", nargs="?", type=Path, const=Path(), default=None,
        help="write tables/peers.md and images/peers.png to FOLDER (default: docs of this checkout)",
    )  # fmt: skip
    parser.add_argument(
        "--results", metavar="FILE", type=Path, help="run nothing: tables of a file that --json wrote"
    )  # fmt: skip


def run(progress: Progress) -> list[Sheet]:
    """Everything that is installed, with default options."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run_with(progress, parser.parse_args([]))


def run_with(progress: Progress, arguments: argparse.Namespace) -> list[Sheet]:
    """Run what the arguments ask for and return the tables."""
    if arguments.contact:
        from peers.contact_report import run_contact

        return run_contact(progress, arguments)
    from peers.environments import chosen

    tasks = _tasks(arguments.tasks)
    peers = chosen(arguments.only)
    docs = _docs_folder(arguments)
    if arguments.results is not None:
        results, requests, answers, machine, quick = _read_results(arguments.results)
        tasks = [task for task in tasks if any(row.task == task for row in results)]
    else:
        from sennit.bench.table import machine as this_machine

        machine, quick = this_machine(), bool(arguments.quick)
        before = _children_time(), time.perf_counter()
        results, requests, answers = _measured(progress, peers, tasks, arguments.quick, arguments.install)
        machine["share_of_core"] = (_children_time() - before[0]) / (time.perf_counter() - before[1])
    from peers.ours import TOOL
    from peers.report import main_sheet, same_step_sheet

    tools = [peer.title for peer in peers]
    sheets = [main_sheet(results, tools, TOOL, tasks)]
    sheets[0].data["machine"] = machine
    sheets[0].data["quick"] = quick
    sheets[0].data["same_step"] = {"requests": requests, "answers": answers}
    if requests:
        sheets.append(same_step_sheet(requests, answers))
    if docs is not None:
        _write_docs(docs, sheets, results, [TOOL, *tools], machine, quick)
    return sheets


def _children_time() -> float:
    """Processor time of the programs that were run so far, s."""
    spent = os.times()
    return spent.children_user + spent.children_system


def _tasks(text: str) -> list[str]:
    from peers.tasks import NAMES

    wanted = [name.strip() for name in text.split(",") if name.strip()]
    if not wanted or any(name not in NAMES for name in wanted):
        raise InputError(f"--tasks must be some of {','.join(NAMES)}, got {text!r}")
    return [name for name in NAMES if name in wanted]


def _docs_folder(arguments: argparse.Namespace) -> Path | None:
    """Where tables and picture go; checked before minutes of timing, not after."""
    folder: Path | None = arguments.write_docs
    if folder is None:
        return None
    if folder == Path():
        folder = _ROOT / "docs"
    if not folder.is_dir():
        raise InputError(f"--write-docs: there is no folder {str(folder)!r}; name one, or run it in a checkout")
    if arguments.quick or arguments.only or len(_tasks(arguments.tasks)) < 6:
        raise InputError("--write-docs is for the whole bench: leave out --quick, --only and --tasks")
    return folder


def _measured(
    progress: Progress, peers: Sequence[Peer], tasks: Sequence[str], quick: bool, make: bool
) -> tuple[list[Result], list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of sennit and of all peers, and what was asked and answered about their steps."""
    from peers.environments import folder_of, install, installed, python_of
    from peers.ours import TOOL
    from peers.report import same_step_requests
    from peers.results import Result
    from peers.runner import run_program
    from peers.tasks import write_problems
    from sennit.bench.table import write_json

    results: list[Result] = []
    answers: list[dict[str, Any]] = []
    parts = len(peers) + 2
    with tempfile.TemporaryDirectory(prefix="sennit-peers-") as folder:
        file = Path(folder) / "problems.json"
        progress("reference values", 0.0)
        write_problems(file, tasks)
        options = ["--tasks", ",".join(tasks), "--problems", str(file), *(["--quick"] if quick else [])]

        def show(name: str, part: int) -> Any:
            return lambda count: progress(f"{name}: {count} runs", (part + count / (count + 20.0)) / parts)

        command = [sys.executable, "-m", "peers.ours"]
        own = _our_environment()
        results += run_program([*command, *options], TOOL, tasks, _OUR_LIMIT, on_row=show(TOOL, 0), environment=own)
        for part, peer in enumerate(peers, start=1):
            problem = ""
            if not installed(peer):
                problem = "not installed: run with --install"
                if make:
                    progress(f"installing {peer.title}", part / parts)
                    problem = install(peer)
                    problem = f"could not be installed: {problem}" if problem else ""
            if problem:
                results += [Result(task, peer.title, failed=problem) for task in tasks]
                continue
            script = Path(__file__).parent / "scripts" / peer.script
            results += run_program(
                [str(python_of(folder_of(peer))), str(script), *options], peer.title, tasks, peer.limit,
                on_row=show(peer.title, part), folder=Path(folder),
            )  # fmt: skip
        requests = same_step_requests(results, [peer.title for peer in peers])
        if requests:
            asked = Path(folder) / "same_step.json"
            write_json(asked, requests)
            rows = run_program(
                [*command, "--problems", str(file), "--same-step", str(asked)], TOOL, [*tasks, _END], _OUR_LIMIT,
                on_row=show("sennit at the others' steps", parts - 1), environment=own,
            )  # fmt: skip
            answers = _answers(requests, rows)
    return results, requests, answers


def _answers(requests: Sequence[dict[str, Any]], rows: Sequence[Result]) -> list[dict[str, Any]]:
    """Rows with the key "against"; when the run failed or took too long, its reason for each request without one."""
    answers = [row.as_dict() | {"against": row.note} for row in rows if not row.failed]
    reason = next((row.failed for row in rows if row.task == _END), "")
    if reason and not reason.startswith("printed no row"):  # a request that can't be met has no row
        answered = {(answer["task"], answer["against"]) for answer in answers}
        for request in requests:
            if (request["task"], request["against"]) not in answered:
                answers.append({"task": request["task"], "against": request["against"], "failed": reason})
    return answers


def _our_environment() -> dict[str, str]:
    """One thread, and the same places of code and cache as this process."""
    from peers.environments import clean_environment

    places = {key: os.environ[key] for key in ("PYTHONPATH", "PYTHONHOME") if key in os.environ}
    sources = (str(_ROOT), str(Path(sennit.__file__).parents[1]), places.pop("PYTHONPATH", ""))
    path = os.pathsep.join(part for part in sources if part)
    return clean_environment() | places | {"PYTHONPATH": path}


def _read_results(
    file: Path,
) -> tuple[list[Result], list[dict[str, Any]], list[dict[str, Any]], dict[str, Any], bool]:
    """What a run with ``--json`` wrote; the last says whether that was one with ``--quick``."""
    from peers.environments import PEERS
    from peers.ours import TOOL
    from peers.results import read_rows

    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        data = content["tables"][0]["data"]
        given, same, machine, quick = data["results"], data["same_step"], data["machine"], data.get("quick", False)
        requests, answers = list(same["requests"]), list(same["answers"])
        rows = []
        for tool in (TOOL, *(peer.title for peer in PEERS.values())):
            rows += read_rows((json.dumps(row) for row in given if row["tool"] == tool), tool)[0]
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise InputError(f"--results must name a file that --json wrote, got {str(file)!r} ({error})") from None
    return rows, requests, answers, dict(machine), bool(quick)


def _write_docs(
    docs: Path,
    sheets: Sequence[Sheet],
    results: Sequence[Result],
    tools: Sequence[str],
    machine: dict[str, Any],
    quick: bool,
) -> None:
    """tables/peers.md and images/peers.png in `docs`; a `quick` run is said to be one."""
    from peers.picture import write_picture
    from sennit.export.files import replacing

    (docs / "tables").mkdir(exist_ok=True)
    (docs / "images").mkdir(exist_ok=True)
    where = (
        f"{machine['processor']}, {machine['cores']} cores, one used; Python {machine['python']}, Numba "
        f"{machine['numba']}, sennit {machine['sennit']}; {str(machine['date'])[:10]}{'; quick run' if quick else ''}."
    )
    if "share_of_core" in machine:
        where += f" The programs had {machine['share_of_core']:.0%} of a core's time while they ran."
    text = "<!-- written by: sennit bench peers --write-docs -->\n\n" + where + "\n"
    for sheet in sheets:
        text += f"\n**{sheet.title}**\n\n{sheet.as_markdown()}"
    with replacing(docs / "tables" / "peers.md") as partial:
        partial.write_text(text, encoding="utf-8")
    write_picture(docs / "images" / "peers.png", results, tools)
