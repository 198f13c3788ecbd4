"""The ``sennit`` command: demonstrations, scripts with a scene, benchmarks and the cache.

This file imports little, so that ``sennit --version`` answers at once; what a command needs is imported by it.
Exit status: 0, 1 when a solve or a file failed, 2 when the input was wrong, 130 when interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from sennit.commands import cache as kept
from sennit.commands import harness, scenes
from sennit.errors import InputError, SolveError

if TYPE_CHECKING:
    from sennit.bench import Progress

__all__ = ["main"]

_EXTRAS = {
    "PIL": "export",
    "ezdxf": "cad",
    "gymnasium": "learning",
    "imageio_ffmpeg": "export",
    "matplotlib": "export",
    "meshio": "export",
    "mujoco": "mechanisms",
    "pxr": "export",
    "skfem": "fem",
    "tetgen": "fem",
    "websockets": "view",
}
"""Optional package, by the name it is imported by, and the extra that brings it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the ``sennit`` command with `argv` (by default the process's) and return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        arguments = _parser(words).parse_args(words)
        status: int = arguments.run(arguments)
        return status
    except InputError as error:
        return _fail(error, 2)
    except (SolveError, OSError) as error:
        return _fail(error, 1)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRAS:
            raise
        return _fail(f"this needs the package {package}: pip install 'sennit[{_EXTRAS[package]}]'", 1)
    except KeyboardInterrupt:
        return 130


def _fail(message: object, status: int) -> int:
    print(f"sennit: {' '.join(str(message).split())}", file=sys.stderr)
    return status


def _parser(words: list[str]) -> argparse.ArgumentParser:
    """Return the parser; only the demo or bench that `words` ask for is imported, for its options."""
    parser = argparse.ArgumentParser(prog="sennit", description="Interactive simulation of thin elastic solids.")
    parser.add_argument("--version", action="version", version=f"sennit {metadata.version('sennit')}")
    parser.set_defaults(run=lambda arguments: _help(parser))
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    demo = commands.add_parser("demo", help="list the demonstrations, or run one")
    demo.set_defaults(run=_list_demos)
    if words[:1] == ["demo"]:
        _add_demos(demo, words)

    script = commands.add_parser("run", help="open the scene of a script or of a file on the page, or record it")
    script.description = (
        "Runs a Python file (.py) and opens its module-level scene (a sennit.Scene) on a page. If the file has a "
        "function before_step(dt), it is called before each step. Any other file must be a scene file (.toml, see "
        "docs/scene_files.md) or a scene that Scene.save wrote: nothing in it is executed."
    )
    if words[:1] == ["run"]:
        scenes.add_run_options(script)
    script.set_defaults(run=scenes.run)

    serve = commands.add_parser("serve", help="run the scene of a script for browsers and programs elsewhere")
    serve.description = (
        "Runs the scene of a Python file (.py), of a scene file (.toml), or one that Scene.save wrote, as `sennit run` "
        "does, and prints the addresses of its page and of its stream (docs/embedding.md). They have a secret in them: "
        "hand them to those who may look and act, say a class."
    )
    if words[:1] == ["serve"]:
        scenes.add_serve_options(serve)
    serve.set_defaults(run=scenes.serve)

    laid = commands.add_parser("harness", help="lay cables through clips, from tables (.csv), and write a report")
    laid.description = harness.DESCRIPTION
    if words[:1] == ["harness"]:
        harness.add_options(laid)
    laid.set_defaults(run=harness.run)

    bench = commands.add_parser("bench", help="list the benchmarks, or run one")
    bench.set_defaults(run=_list_benches)
    if words[:1] == ["bench"]:
        _add_benches(bench, words)

    cache = commands.add_parser("cache", help="show what is kept on disk, or delete it")
    cache.add_argument(
        "--clear", metavar="PART", nargs="*",
        help="delete it, or parts of it (their names are shown); what is needed is made again",
    )  # fmt: skip
    cache.set_defaults(run=kept.show)
    carried = cache.add_subparsers(title="to carry it to other machines", metavar="pack | unpack")
    pack = carried.add_parser("pack", help="write the compiled kernels to a file")
    pack.set_defaults(run=kept.pack)
    unpack = carried.add_parser("unpack", help="take the kernels of such a file, which run as a program does")
    unpack.set_defaults(run=kept.unpack)
    for command in (pack, unpack):
        command.add_argument("file", type=Path, help="name of the file, sennit.kernels")
    return parser


def _help(parser: argparse.ArgumentParser) -> int:
    parser.print_help()
    return 0


# Demonstrations


def _add_demos(parser: argparse.ArgumentParser, words: list[str]) -> None:
    from sennit import demos

    names = parser.add_subparsers(title="demonstrations", metavar="NAME")
    for name, line in demos.DEMOS.items():
        own = names.add_parser(name, help=line)
        if words[1:2] == [name]:
            module = demos.load(name)
            own.description = module.DESCRIPTION
            module.add_arguments(own)
            own.set_defaults(run=partial(demos.run, module))


def _list_demos(arguments: argparse.Namespace) -> int:
    from sennit.demos import DEMOS

    _print_list("sennit demo NAME runs one:", DEMOS)
    return 0


def _print_list(heading: str, entries: dict[str, str]) -> None:
    width = max(map(len, entries), default=0)
    print(heading)
    for name, line in entries.items():
        print(f"  {name:{width}}  {line}")


# Benchmarks


def _add_benches(parser: argparse.ArgumentParser, words: list[str]) -> None:
    from sennit import bench

    names = parser.add_subparsers(title="benchmarks", metavar="NAME")
    for name, line in bench.BENCHES.items():
        own = names.add_parser(name, help=line)
        own.add_argument("--json", metavar="FILE", type=Path, help="write the tables to FILE as well; times in seconds")
        own.set_defaults(run=_bench, name=name)
        if words[1:2] == [name]:
            module = bench.load(name)
            own.description = module.DESCRIPTION
            if isinstance(module, bench.BenchWithOptions):
                module.add_arguments(own)


def _list_benches(arguments: argparse.Namespace) -> int:
    from sennit.bench import BENCHES

    _print_list("sennit bench NAME runs one:", BENCHES)
    return 0


def _bench(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    from sennit import bench
    from sennit.bench.table import machine, write_json

    target: Path | None = arguments.json
    if target is not None:  # before minutes of timing, not after
        if target.is_dir():
            raise InputError(f"--json must name a file, got the folder {str(target)!r}")
        if not os.access(target.resolve().parent, os.W_OK):
            raise InputError(f"--json: can't write in the folder of {str(target)!r}; choose one that exists")
    console = Console()
    if not console.is_terminal:
        console.width = 140  # in a file or a pipe nothing has to be cut off
    where = machine()
    module = bench.load(arguments.name)
    with _ProgressLine() as progress:
        tables = (
            module.run_with(progress, arguments) if isinstance(module, bench.BenchWithOptions) else module.run(progress)
        )
    for table in tables:
        table.show(console)
        console.print()
    console.print(
        f"{where['processor']}, {where['cores']} cores; Python {where['python']}, Numba {where['numba']}, "
        f"sennit {where['sennit']}",
        highlight=False,
        markup=False,
    )
    if target is not None:
        content = {"bench": arguments.name, "machine": where, "tables": [table.as_dict() for table in tables]}
        write_json(target, content)
    return 0


class _ProgressLine:
    """A progress bar on standard error that is drawn only when called: no thread runs while something is timed."""

    def __enter__(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
        self._bar = Progress(
            *columns, console=console, transient=True, auto_refresh=False, disable=not console.is_terminal
        )
        self._task = self._bar.add_task("", total=1.0)
        self._bar.start()
        return self._show

    def _show(self, text: str, done: float) -> None:
        self._bar.update(self._task, description=text, completed=done, refresh=True)

    def __exit__(self, *error: object) -> None:
        self._bar.stop()
