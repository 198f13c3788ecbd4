"""``sennit run`` and ``sennit serve``: the scene of a script, of a scene file or of a saved scene."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sennit.errors import InputError

if TYPE_CHECKING:
    from sennit.scene.scene import Scene
    from sennit.text.reading import Run

__all__ = ["add_run_options", "add_serve_options", "run", "serve"]

_FILE = "a .py file with a scene, a scene file (.toml), or a saved scene"


@dataclass(frozen=True)
class _Opened:
    """A scene that a file holds, and how it is to be run."""

    scene: Scene
    before_step: Callable[[float], object] | None = None
    run: Run | None = None
    """What a scene file says of it."""


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``sennit run``."""
    from sennit.demos import add_page_arguments, positive

    parser.add_argument("script", metavar="FILE", type=Path, help=_FILE)
    parser.add_argument("--dt", metavar="S", type=positive, help="a step (default: 0.005, or 0.001 to record)")
    parser.add_argument("--headless", action="store_true", help="no page: run --seconds and print what happened")
    parser.add_argument("--seconds", metavar="S", type=positive, help="simulated time without a page (default: 5)")
    parser.add_argument("--output", metavar="FILE", help="no page: record to a .usd, .html, .mp4, .csv, .png, ... file")
    add_page_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Open the scene of a file on a page, record it, or run it without a page."""
    path: Path = arguments.script
    if arguments.output is not None:
        _check_output(arguments.output)  # before a script is executed, which may run for minutes
    opened = _opened(path)
    scene, said = opened.scene, opened.run
    output, dt = arguments.output, arguments.dt
    seconds = arguments.seconds or (said.seconds if said else None) or 5.0
    if said is not None:
        dt = dt or said.dt
        if output is None and said.record is not None and not arguments.headless:
            output = str(path.parent / said.record)
            _check_output(output)
        if said.settle:
            report = scene.settle()
            print(f"At rest: {report.status}, {'stable' if report.stable else 'not stable'}.")
    if output is not None:
        from sennit.export.record import record

        written = record(scene, seconds, output, dt=dt or 1e-3, before_step=opened.before_step)
        print(f"Wrote {written}.")
        return 0
    if arguments.headless:
        _run_headless(opened, seconds, dt or 5e-3)
        return 0
    from sennit.view import view

    view(
        scene, opened.before_step, dt=dt, port=arguments.port, host=arguments.host,
        browser=False if arguments.no_browser else None, block=True, title=scene.name or path.stem,
    )  # fmt: skip
    return 0


def _check_output(output: str) -> None:
    from sennit.export.record import check_target

    check_target(output)


def _run_headless(opened: _Opened, seconds: float, dt: float) -> None:
    scene = opened.scene
    for _ in range(max(1, round(seconds / dt))):
        if opened.before_step is not None:
            opened.before_step(dt)
        scene.step(dt)
    print(f"{scene.time:.3g} s simulated, energy {scene.energy.total:.6g} J, {len(scene.events)} events.")
    for event in scene.events[-10:]:
        print(f"  {event.time:.3f} s  {event.kind}: {event.message}")


def add_serve_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``sennit serve``."""
    from sennit.demos import add_port_argument, positive

    parser.add_argument("script", metavar="FILE", type=Path, help=_FILE)
    parser.add_argument("--dt", metavar="S", type=positive, help="a step (default: 0.005)")
    parser.add_argument("--public", action="store_true", help="for other machines, too (default: this machine only)")
    add_port_argument(parser)


def serve(arguments: argparse.Namespace) -> int:
    """Run the scene of a file for browsers and programs elsewhere."""
    opened = _opened(arguments.script)
    from sennit.view.session import addresses, view

    scene, said = opened.scene, opened.run
    if said is not None and said.settle:
        scene.settle()
    host = "0.0.0.0" if arguments.public else "127.0.0.1"
    title = scene.name or arguments.script.stem
    shown = view(
        scene, opened.before_step, dt=arguments.dt or (said.dt if said else None), port=arguments.port, host=host,
        browser=False, block=False, title=title,
    )  # fmt: skip
    print(f"{title} (Ctrl-C ends it)")
    for url in addresses(shown.url, arguments.public):
        print(f"  page    {url}\n  stream  {url.replace('http', 'ws', 1)}stream")
    sys.stdout.flush()
    shown.wait()
    return 0


def _opened(path: Path) -> _Opened:
    """The scene of a script, with its `before_step`, or that of a file; only scripts are executed."""
    from sennit.scene.scene import Scene

    if path.suffix.lower() == ".toml":
        from sennit.text.reading import read_scene

        file = read_scene(path)
        return _Opened(file.scene, run=file.run)
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}")
    if path.suffix.lower() != ".py":
        try:
            return _Opened(Scene.load(path))
        except InputError as problem:
            raise InputError(
                f"{problem}; sennit run takes Python files (.py), scene files (.toml) and saved scenes (.npz)"
            ) from None
    names = _executed(path)
    scene, before_step = names.get("scene"), names.get("before_step")
    if not isinstance(scene, Scene):
        raise InputError(f"{str(path)!r} has no module-level scene: call your sennit.Scene `scene`")
    if before_step is not None and not callable(before_step):
        raise InputError(f"before_step of {str(path)!r} must be a function of dt")
    return _Opened(scene, before_step)


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
