"""The ``sennit`` command: demonstrations, scripts with a scene, benchmarks and the cache.

This file imports little, so that ``sennit --version`` answers at once; what a command needs is imported by it.
Exit status: 0, 1 when a solve or a file failed, 2 when the input was wrong, 130 when interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sennit.errors import InputError, SolveError

if TYPE_CHECKING:
    from sennit.bench import Progress
    from sennit.scene.scene import Scene

__all__ = ["main"]

_EXTRAS = {
    "PIL": "export",
    "gymnasium": "learning",
    "imageio_ffmpeg": "export",
    "matplotlib": "export",
    "meshio": "export",
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
        "function before_step(dt), it is called before each step. Any other file must be a scene that Scene.save "
        "wrote: nothing in it is executed."
    )
    if words[:1] == ["run"]:
        _add_script_options(script)
    script.set_defaults(run=_run_script)

    serve = commands.add_parser("serve", help="run the scene of a script for browsers and programs elsewhere")
    serve.description = (
        "Runs the scene of a Python file (.py), or one that Scene.save wrote, as `sennit run` does, and prints the "
        "addresses of its page and of its stream (docs/embedding.md). They have a secret in them: hand them to those "
        "who may look and act, say a class."
    )
    if words[:1] == ["serve"]:
        _add_serve_options(serve)
    serve.set_defaults(run=_serve_script)

    bench = commands.add_parser("bench", help="list the benchmarks, or run one")
    bench.set_defaults(run=_list_benches)
    if words[:1] == ["bench"]:
        _add_benches(bench, words)

    cache = commands.add_parser("cache", help="show what is kept on disk, or delete it")
    cache.add_argument(
        "--clear", metavar="PART", nargs="*",
        help="delete it, or parts of it (their names are shown); what is needed is made again",
    )  # fmt: skip
    cache.set_defaults(run=_cache)
    carried = cache.add_subparsers(title="to carry it to other machines", metavar="pack | unpack")
    pack = carried.add_parser("pack", help="write the compiled kernels to a file")
    pack.set_defaults(run=_cache_pack)
    unpack = carried.add_parser("unpack", help="take the kernels of such a file, which run as a program does")
    unpack.set_defaults(run=_cache_unpack)
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


# Scripts


def _add_script_options(parser: argparse.ArgumentParser) -> None:
    from sennit.demos import add_page_arguments, positive

    parser.add_argument("script", metavar="FILE", type=Path, help="a .py file with a scene, or a saved scene")
    parser.add_argument("--dt", metavar="S", type=positive, help="a step (default: 0.005, or 0.001 to record)")
    parser.add_argument("--headless", action="store_true", help="no page: run --seconds and print what happened")
    parser.add_argument("--seconds", metavar="S", type=positive, default=5.0, help="simulated time without a page")
    parser.add_argument("--output", metavar="FILE", help="no page: record to a .usd, .html, .mp4, .csv, .png, ... file")
    add_page_arguments(parser)


def _run_script(arguments: argparse.Namespace) -> int:
    path: Path = arguments.script
    scene, before_step = _opened(path)
    if arguments.output is not None:
        from sennit.export.record import record

        dt = 1e-3 if arguments.dt is None else arguments.dt
        written = record(scene, arguments.seconds, arguments.output, dt=dt, before_step=before_step)
        print(f"Wrote {written}.")
        return 0
    if arguments.headless:
        dt = 5e-3 if arguments.dt is None else arguments.dt
        for _ in range(max(1, round(arguments.seconds / dt))):
            if before_step is not None:
                before_step(dt)
            scene.step(dt)
        print(f"{scene.time:.3g} s simulated, energy {scene.energy.total:.6g} J, {len(scene.events)} events.")
        for event in scene.events[-10:]:
            print(f"  {event.time:.3f} s  {event.kind}: {event.message}")
        return 0
    from sennit.view import view

    view(
        scene, before_step, dt=arguments.dt, port=arguments.port, host=arguments.host,
        browser=False if arguments.no_browser else None, block=True, title=scene.name or path.stem,
    )  # fmt: skip
    return 0


def _add_serve_options(parser: argparse.ArgumentParser) -> None:
    from sennit.demos import add_port_argument, positive

    parser.add_argument("script", metavar="FILE", type=Path, help="a .py file with a scene, or a saved scene")
    parser.add_argument("--dt", metavar="S", type=positive, help="a step (default: 0.005)")
    parser.add_argument("--public", action="store_true", help="for other machines, too (default: this machine only)")
    add_port_argument(parser)


def _serve_script(arguments: argparse.Namespace) -> int:
    scene, before_step = _opened(arguments.script)
    from sennit.view.session import addresses, view

    host = "0.0.0.0" if arguments.public else "127.0.0.1"
    title = scene.name or arguments.script.stem
    shown = view(
        scene, before_step, dt=arguments.dt, port=arguments.port, host=host, browser=False, block=False, title=title
    )
    print(f"{title} (Ctrl-C ends it)")
    for url in addresses(shown.url, arguments.public):
        print(f"  page    {url}\n  stream  {url.replace('http', 'ws', 1)}stream")
    sys.stdout.flush()
    shown.wait()
    return 0


def _opened(path: Path) -> tuple[Scene, Callable[[float], object] | None]:
    """The scene of a script, with its `before_step`, or that of a file; only scripts are executed."""
    from sennit.scene.scene import Scene

    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}")
    if path.suffix.lower() != ".py":
        try:
            return Scene.load(path), None
        except InputError as problem:
            raise InputError(f"{problem}; sennit run takes Python files (.py) and saved scenes (.npz)") from None
    names = _executed(path)
    scene, before_step = names.get("scene"), names.get("before_step")
    if not isinstance(scene, Scene):
        raise InputError(f"{str(path)!r} has no module-level scene: call your sennit.Scene `scene`")
    if before_step is not None and not callable(before_step):
        raise InputError(f"before_step of {str(path)!r} must be a function of dt")
    return scene, before_step


def _executed(path: Path) -> dict[str, Any]:
    """What a Python file defines. `runpy` would execute archives and machine code of that name, too."""
    source = path.read_bytes()
    if b"\0" in source:
        raise InputError(f"{str(path)!r} is no Python text")
    module = ModuleType("sennit_scene")
    module.__file__ = str(path)
    code = compile(source, str(path), "exec")
    sys.path.insert(0, str(path.resolve().parent))  # as if it were run by python: it may import what lies beside it
    sys.argv[0] = str(path)
    sys.modules[module.__name__] = module
    exec(code, vars(module))
    return vars(module)


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


# The cache


_GREENS = "greens"


@dataclass(frozen=True, slots=True)
class _Entry:
    """Something kept on disk."""

    path: Path
    part: str
    what: str

    def files(self) -> list[Path]:
        if self.path.is_file():
            return [self.path]
        return [path for path in self.path.rglob("*") if path.is_file() and not path.is_symlink()]


def _entries() -> list[_Entry]:
    """Return what sennit keeps in its cache folder; nothing else that may lie there is ever shown or deleted."""
    from sennit.elastostatics.store import described, stored_files
    from sennit.kernel_cache import PARTS, kept_folders, kernel_folder

    current = {kernel_folder(part): part for part in PARTS}
    entries = []
    for path, part in kept_folders():
        entries.append(_Entry(path, part, "compiled kernels" + ("" if path in current else " of other sources")))
    for path in current.keys() - {entry.path for entry in entries}:
        what = "compiled kernels, temporary: the cache folder can't be written"
        entries.append(_Entry(path, current[path], what))
    entries += [_Entry(path, _GREENS, described(path)) for path in stored_files()]
    return entries


def _cache(arguments: argparse.Namespace) -> int:
    import shutil

    from sennit.kernel_cache import PARTS, cache_folder, size_limit

    chosen: list[str] | None = arguments.clear
    if unknown := set(chosen or ()) - {*PARTS, _GREENS}:
        raise InputError(f"--clear: there is no part {min(unknown)!r}; choose from: {', '.join((*PARTS, _GREENS))}")
    entries = [entry for entry in _entries() if chosen is not None or entry.files()]
    if chosen:
        entries = [entry for entry in entries if entry.part in chosen]
    total = sum(path.stat().st_size for entry in entries for path in entry.files())
    kept = sum(1 for entry in entries if entry.files())
    summary = f"{kept} {'entry' if kept == 1 else 'entries'}, {_size(total)}"
    print(cache_folder())
    if chosen is not None:
        for entry in entries:
            if entry.path.is_dir():
                shutil.rmtree(entry.path)
            else:
                entry.path.unlink(missing_ok=True)
        print(f"deleted: {summary}")
        return 0
    for entry in entries:
        files = entry.files()
        size = sum(path.stat().st_size for path in files)
        print(f"  {entry.part:8}  {entry.path.name:25}  {_size(size):>9}  {len(files):>4} files  {entry.what}")
    print(summary + ("; sennit cache --clear [PART ...] deletes them" if kept else ""))
    if any(entry.part != _GREENS for entry in entries):
        print(f"kernels used longest ago are deleted above {_size(size_limit())} (SENNIT_CACHE_LIMIT_MB)")
    _tell_shipped()
    return 0


def _cache_pack(arguments: argparse.Namespace) -> int:
    from sennit.carried_kernels import pack_cache

    counts = pack_cache(arguments.file)
    print(f"{arguments.file}: {_size(arguments.file.stat().st_size)}, {_counted(counts)}")
    return 0


def _cache_unpack(arguments: argparse.Namespace) -> int:
    from sennit.carried_kernels import unpack_cache
    from sennit.kernel_cache import cache_folder

    counts = unpack_cache(arguments.file)
    print(f"{cache_folder()}: {_counted(counts)}")
    return 0


def _counted(counts: dict[str, int]) -> str:
    return f"{sum(counts.values())} files of compiled kernels: {', '.join(counts)}"


def _tell_shipped() -> None:
    """Print what kernels came with the wheel."""
    from sennit.kernel_cache import PARTS
    from sennit.shipped_kernels import FOLDER, described, shipped_file

    came = {part: text for part in PARTS if (text := described(part)) is not None}
    print(FOLDER if came else "no kernels came with this installation: they are compiled where they are first used")
    for part, text in came.items():
        path = shipped_file(part)
        print(f"  {part:8}  {path.name:25}  {_size(path.stat().st_size):>9}  came with the wheel: {text}")


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
