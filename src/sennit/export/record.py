"""`record`: run a scene and write what is seen of it to a file for other programs."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from sennit import validation
from sennit.bodies.rod.rod import Rod
from sennit.errors import InputError
from sennit.export.files import replacing
from sennit.export.recording import Recording, record_frames
from sennit.live.play import Play
from sennit.scene.scene import Scene
from sennit.validation import quoted

__all__ = ["SUFFIXES", "check_target", "record", "write"]

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class _Format:
    """A kind of file: the module that writes it, its function, and the packages that this needs beyond the core."""

    module: str
    writer: str
    needs: tuple[str, ...] = ()
    finds_its_place: bool = False
    """Whether the writer makes more than the one file, and moves them to their places itself."""
    still: bool = False
    """Whether it shows the end alone."""
    lines_only: bool = False
    """Whether it holds centrelines of rods and cables, and nothing else."""
    most_frames: int = 1_000_000
    most_numbers: int = 2**29
    """Of all frames together; text and pages take less than binary files."""

    def check(self, frames: int, numbers: int) -> None:
        """Raise `InputError` if there would be too many frames, each of so many numbers."""
        most = min(self.most_frames, self.most_numbers // max(numbers, 1))
        if frames > most:
            raise InputError(
                f"{frames} frames of {numbers} numbers are too many for this kind of file, which takes {most} of them: "
                "choose fewer seconds, a lower fps, or .npz or .usd"
            )


_USD = _Format("usd", "write_usd", ("pxr",))
_GLTF = _Format("gltf", "write_gltf")
_VTU = _Format("vtk", "write_vtu", ("meshio",), finds_its_place=True)
_STEP = _Format("step", "write_step", still=True, lines_only=True)
_FORMATS = {
    ".usd": _USD,
    ".usda": _USD,
    ".usdc": _USD,
    ".gltf": _GLTF,
    ".glb": _GLTF,
    ".vtu": _VTU,
    ".pvd": _VTU,
    ".xdmf": _Format("vtk", "write_xdmf", most_numbers=2**27),
    ".npz": _Format("npz", "write_npz"),
    ".csv": _Format("table", "write_csv", most_numbers=2**26),
    ".png": _Format("film", "write_still", ("PIL",), still=True),
    ".stl": _Format("surfaces", "write_stl", still=True),
    ".obj": _Format("surfaces", "write_obj", still=True),
    ".step": _STEP,
    ".stp": _STEP,
    ".mp4": _Format("film", "write_film", ("PIL", "imageio_ffmpeg"), most_frames=36_000),
    ".gif": _Format("film", "write_film", ("PIL",), most_frames=6_000),
    ".html": _Format("replay", "write_replay", most_numbers=2**27),
}
SUFFIXES = tuple(_FORMATS)
"""The kinds of files that `record` writes."""


@overload
def record(
    scene: Scene | Play, seconds: float, path: None = None, *, dt: float = 1e-3, fps: float = 60.0,
    before_step: Callable[[float], object] | None = None, progress: bool = True,
) -> Recording: ...  # fmt: skip


@overload
def record(
    scene: Scene | Play, seconds: float, path: str | os.PathLike[str], *, dt: float = 1e-3, fps: float = 60.0,
    before_step: Callable[[float], object] | None = None, progress: bool = True,
) -> Path: ...  # fmt: skip


def record(
    scene: Scene | Play,
    seconds: float,
    path: str | os.PathLike[str] | None = None,
    *,
    dt: float = 1e-3,
    fps: float = 60.0,
    before_step: Callable[[float], object] | None = None,
    progress: bool = True,
) -> Path | Recording:
    """Run `scene` for `seconds` (s) and write what is seen of it to `path`, in the format that its suffix names::

        sn.record(scene, 5.0, "bridge.usd")

    Without a path it returns the `Recording`, which a notebook shows as a player, and whose ``write(path)`` makes files
    of it.

    ==================== ===============================================================================================
    ``.usd .usda .usdc`` curves with widths, meshes and their motion as time samples, for Blender, Houdini, Omniverse
    ``.glb .gltf``       an animated model for viewers, game engines and slides
    ``.vtu`` or ``.pvd`` for ParaView: the index ``name.pvd`` and a folder ``name_vtu`` with a file for each frame
    ``.xdmf``            for ParaView, in one file
    ``.npz``             the numbers, for NumPy; `sennit.export.npz` lists its keys
    ``.csv``             places, tensions and forces over time; `sennit.export.table` lists its columns
    ``.png``             a picture of the end
    ``.stl .obj``        bodies and cables at the end as triangles, rods as closed tubes: .stl in mm, .obj in metres
    ``.step .stp``       the centrelines of rods and cables at the end, as the exact B-splines that rods are
    ``.mp4 .gif``        a film
    ``.html``            a page that plays the recording in a browser, without a network
    ==================== ===============================================================================================

    Arguments: `dt`, the longest time step, s: steps are made shorter so that they end on frames; `fps`, frames in a
    second of simulated time (files of the end alone take no notice of it); `before_step`, called with the time step
    before each one, to move what is to be moved; `progress`, whether a bar is drawn where standard error is a terminal.
    In place of a scene, `scene` may be what a page runs, such as ``sennit.demos.bridge.play()``, which has steps and a
    script of its own.

    Returns the path of the file to open: the index for a ``.vtu`` series, else `path`. The scene is left at the end of
    the recording (`Scene.snapshot` before, `Scene.restore` after keep it where it was). The file takes its place when
    it is complete; if the simulation fails or is interrupted, none is written. Raises `InputError`, before anything
    moves, for an unknown suffix, a missing folder or package, or a recording that is too large for memory or file.
    """
    validation.flag("progress", progress)
    # A player in a notebook is the kind of file that pages are.
    target, kind = (None, _FORMATS[".html"]) if path is None else _checked_target(path)
    if kind.lines_only and isinstance(scene, Scene) and not _has_lines(scene):
        raise InputError("there are no rods and no cables in the scene, whose centrelines .step files are of")
    if kind.still:
        validation.number("fps", fps, positive=True)
        length = validation.number("seconds", seconds, minimum=0.0)
        fps = min(1.0 / max(length, 1e-300), 1e300) if length else 1.0  # beginning and end
    with _bar(progress) as bar:
        recording = record_frames(
            scene, seconds, dt=dt, fps=fps, before_step=before_step, each=bar("simulating"), check=kind.check
        )
        return recording if target is None else _write(recording, target, kind, bar("writing"))


def _has_lines(scene: Scene) -> bool:
    return any(isinstance(body, Rod) for body in scene.bodies) or any(tie.entries for tie in scene.constraints)


def write(recording: Recording, path: str | os.PathLike[str], *, progress: bool = False) -> Path:
    """Write a `Recording` to `path`, in the format that its suffix names; see `record`. Returns what `record` does."""
    validation.flag("progress", progress)
    target, kind = _checked_target(path)
    with _bar(progress) as bar:
        return _write(recording, target, kind, bar("writing"))


def _write(recording: Recording, target: Path, kind: _Format, each: Progress) -> Path:
    writer: Any = getattr(importlib.import_module(f"sennit.export.{kind.module}"), kind.writer)
    if kind.finds_its_place:
        return Path(writer(recording, target, each))
    with replacing(target) as partial:
        writer(recording, partial, each)
    return target


def check_target(path: str | os.PathLike[str]) -> None:
    """Raise `InputError` if `record` could not write to `path`, whatever the scene: before anything is run for it."""
    _checked_target(path)


def _checked_target(path: str | os.PathLike[str]) -> tuple[Path, _Format]:
    """Where to write and how; nothing that can be known to fail is left to fail after the simulation."""
    try:
        target = Path(path)
    except Exception:  # whatever the value's own methods raise
        raise InputError(f"path must be the name of a file, got {quoted(path)}") from None
    kind = _FORMATS.get(target.suffix.lower())
    if kind is None:
        raise InputError(f"path must end in one of {' '.join(SUFFIXES)}, got {quoted(str(path))}")
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {str(target.parent)!r} to write {target.name!r} to: make it first")
    if target.is_dir():
        raise InputError(f"{str(path)!r} is a folder: choose another name")
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"the folder {str(target.parent)!r} cannot be written to: choose another")
    for name in kind.needs:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise InputError(
                f"{target.suffix} files need the package {name}, which cannot be imported ({error}): "
                "pip install 'sennit[export]'"
            ) from error
    try:  # permissions lie at times: a folder of the system, a full disk
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as problem:
        raise InputError(f"{str(path)!r} can't be written: {problem.strerror or problem}") from None
    if kind.finds_its_place:
        importlib.import_module(f"sennit.export.{kind.module}").check_place(target)
    return target, kind


@contextlib.contextmanager
def _bar(wanted: bool) -> Iterator[Callable[[str], Progress]]:
    """Makes functions that show how far a job is: done and total."""
    if not wanted or not sys.stderr.isatty():
        yield lambda _: lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:

        def job(description: str) -> Progress:
            task = bars.add_task(description, total=None)
            return lambda done, total: bars.update(task, completed=done, total=total)

        yield job
