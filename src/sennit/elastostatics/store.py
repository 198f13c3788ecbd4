"""Boundary stiffness of solids, computed once and kept on disk."""

from __future__ import annotations

import functools
import hashlib
import math
import os
import re
import time
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import numpy as np

from sennit.compilation import cache_folder
from sennit.elastostatics.boundary.elements import boundary_stiffness, traction_nodes
from sennit.elastostatics.stiffness import BoundaryStiffness
from sennit.elastostatics.storefile import PART, DamagedFileError, read_arrays, read_description, write_arrays
from sennit.elastostatics.surface import IntArray, Surface
from sennit.elastostatics.tetrahedra import Tetrahedra, checked_tetrahedra, fem_stiffness
from sennit.errors import InputError
from sennit.validation import FloatArray, number, quoted

__all__ = [
    "FORMAT", "Bar", "described", "file_of", "key_of", "store_folder", "stored_files", "stored_stiffness", "time_left",
]  # fmt: skip

FORMAT = 1
_ENDING = ".greens"
_SOURCES = {
    "bem": ("stiffness.py", "kernels/kelvin.py", "kernels/boundary.py", "boundary/*.py"),
    "fem": (
        "stiffness.py",
        "tetrahedra.py",
        "columns.py",
        "kernels/columns.py",
        "kernels/boundary.py",
        "boundary/*.py",
    ),
}
"""Whose sources decide the numbers: an edit there makes new files, as it does for compiled kernels."""
_keys: weakref.WeakKeyDictionary[BoundaryStiffness, str] = weakref.WeakKeyDictionary()
_QUICK = 1.0
_SAMPLES = 16


def stored_stiffness(
    surface: Surface, poisson_ratio: float, method: str = "bem", tetrahedra: object = None
) -> BoundaryStiffness:
    """The boundary stiffness of a solid at E = 1 Pa: from the disk, or computed behind a progress bar and kept there.

    Files lie in ``greens`` under `cache_folder`, named by a hash of vertices, faces, ν, method and version. They appear
    whole or not at all; one that is damaged is computed again.

    Args:
        surface: the solid's surface, checked.
        poisson_ratio: ν, above −1 and below 0.5.
        method: ``"bem"``, boundary elements, or ``"fem"``, quadratic tetrahedra (for thin walls; needs
            ``sennit[fem]``).
        tetrahedra: for ``"fem"``: points (p, 3) and cells (c, 4) that fill the surface; left out, they are made.

    Raises:
        InputError: an argument is wrong, the memory does not suffice, or the solid does not suit the method.

    Warns:
        UserWarning: a file was damaged, or the result could not be kept.
    """
    nu = number("poisson_ratio", poisson_ratio, above=-1.0, below=0.5)
    if method not in _SOURCES:
        raise InputError(f"method must be 'bem' or 'fem', got {quoted(method)}")
    if tetrahedra is not None and method != "fem":
        raise InputError("tetrahedra may be given for method='fem' only")
    cells = None if tetrahedra is None else checked_tetrahedra(surface, tetrahedra)
    key = _key(surface, nu, method, cells)
    path = file_of(key)
    kept = _read(path, key, surface, method)
    if kept is not None:
        _keys[kept] = key
        return kept
    n = len(surface.vertices)
    _check_memory(surface, method)
    text = f"Computing the Green's functions of a zone of {n:,} vertices (once, then kept on disk)"
    expected = _seconds(n, method)
    with Bar(text, quick=expected < _QUICK, expected=expected) as bar:
        result = _compute(surface, nu, method, cells, bar)
    if _write(path, key, nu, result):
        _keys[result] = key
    return result


def key_of(boundary: BoundaryStiffness) -> str | None:
    """The key under which a boundary stiffness lies in the store; None if it does not."""
    return _keys.get(boundary)


def file_of(key: str, fixed: str = "") -> Path:
    """The file of a solid with this key; with the hash of a set of fixed vertices, that of its compliance."""
    return store_folder() / (key[:16] + (f"-{fixed[:16]}" if fixed else "") + _ENDING)


def store_folder() -> Path:
    """Where the files lie."""
    return cache_folder() / "greens"


def stored_files() -> list[Path]:
    """The files of the store, and what killed writers left in it; nothing else that may lie there."""
    pattern = re.compile(rf"[0-9a-f]{{16}}(-[0-9a-f]{{16}})?({re.escape(_ENDING)}|-\w+{re.escape(PART)})")
    found = sorted(store_folder().glob("*"))
    return [path for path in found if pattern.fullmatch(path.name) and path.is_file() and not path.is_symlink()]


def described(path: Path) -> str:
    """What the file at `path` holds, in a few words."""
    if path.suffix == PART:
        return "Green's functions, being written or left by a process that was killed"
    try:
        notes = read_description(path)
        if "fixed" in notes:
            return (
                f"Green's functions: {int(notes['free'])} free and {int(notes['fixed'])} fixed vertices of "
                f"{str(notes['solid'])[:16]}"
            )
        return (
            f"Green's functions: {int(notes['vertices'])} vertices, ν = {float(notes['poisson_ratio']):g}, "
            f"{str(notes['method'])[:8]}"
        )
    except (DamagedFileError, OSError, KeyError, TypeError, ValueError):
        return "Green's functions, damaged"


# ------------------------------------------------------------------------------------------------------------ computing


def _compute(
    surface: Surface, nu: float, method: str, tetrahedra: Tetrahedra | None, progress: Callable[[str, float], None]
) -> BoundaryStiffness:
    if method == "fem":
        return fem_stiffness(surface, nu, tetrahedra, progress=progress)
    return boundary_stiffness(surface, nu, progress=progress)


def _seconds(n: int, method: str) -> float:
    """About how long it takes on two cores."""
    if method == "bem":
        return 1.7e-7 * n * n + 8.5e-10 * n * n * n  # assembly; LU and as many right sides
    return 1e-4 * math.pow(n, 1.9)


def _check_memory(surface: Surface, method: str) -> None:
    """Refuse what would not fit: matrices of 3n × 3n numbers, of which several live at once.

    Boundary elements: G (3g, 3g) and Y (3g, 3n) at a time, g traction nodes; then Y and S and, in the zone, S⁻¹.
    """
    n = len(surface.vertices)
    if method == "bem":
        g = int(traction_nodes(surface).max()) + 1
        needed = 72 * max(g * g + g * n, 3 * n * n)
    else:
        needed = 72 * 5 * n * n
    available = _available_memory()
    if available is None or needed <= available:
        return
    raise InputError(
        f"vertices: {n:,} of them need about {_gigabytes(needed)} of memory and {_gigabytes(available)} are free, "
        f"which is enough for about {int(n * math.sqrt(available / needed)):,} vertices: coarsen the mesh"
    )


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.3g} GB"


def _available_memory() -> int | None:
    """Bytes that can be had without swapping; None where the system does not say."""
    found = None
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii", errors="replace")
        if match := re.search(r"^MemAvailable:\s*(\d+) kB", text, re.MULTILINE):
            found = 1024 * int(match[1])
    except OSError:
        pass
    if found is None:
        try:
            found = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, ValueError, OSError):
            return None
    try:  # a container may have less than its machine
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
        used = int(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii"))
        cached = re.search(r"^inactive_file (\d+)", Path("/sys/fs/cgroup/memory.stat").read_text("ascii"), re.MULTILINE)
        found = min(found, max(limit - used + (int(cached[1]) if cached else 0), 0))
    except (OSError, ValueError):
        pass
    return found if found > 0 else None


def time_left(done: float, reached: float, elapsed: float, expected: float) -> float:
    """Seconds until all is done, if the part `done` was when `reached` s had passed; `expected`: of all, beforehand.

    What was measured counts from a fifth of the work on: what comes before it is of another kind.
    """
    return max((reached / done if done >= 0.2 else expected) - elapsed, 0.0)


class Bar:
    """A progress bar on standard error, one plain line where that is no terminal, nothing at all if `quick`.

    It begins with the first report of progress: compilation may have shown a bar of its own before. `expected`: how
    long all will take, s, on two cores, for the time that is left before anything was measured.
    """

    def __init__(self, text: str, *, quick: bool, expected: float) -> None:
        self._text, self._quick, self._expected = text, quick, expected
        self._done = self._reached = self._began = 0.0
        self._progress: Any = None
        self._task: Any = None

    def __enter__(self) -> Bar:
        return self

    def __call__(self, what: str, done: float) -> None:
        """Tell what is being done, and the part of the work that is done."""
        if self._quick:
            return
        if self._progress is None:
            self._start()
        if self._task is not None:
            self._done, self._reached = done, time.monotonic() - self._began
            self._progress.update(self._task, description=f"{self._text}: {what}", completed=done)

    @property
    def left(self) -> str:
        """The time that is left, as text."""
        seconds = round(time_left(self._done, self._reached, time.monotonic() - self._began, self._expected))
        return f"about {seconds // 60}:{seconds % 60:02d} left"

    def _start(self) -> None:
        from rich.console import Console
        from rich.errors import LiveError
        from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
        from rich.text import Text

        bar = self

        class Left(ProgressColumn):
            """How long it will take yet: work is told of in few parts, from which no speed follows."""

            def render(self, task: Task) -> Text:
                return Text(bar.left)

        console = Console(stderr=True)
        if not console.is_terminal:
            console.print(self._text + " ...", soft_wrap=True)
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), Left())
        self._began = time.monotonic()
        self._progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        try:
            self._progress.start()
        except LiveError:  # the program shows something of its own there
            return
        self._task = self._progress.add_task(self._text, total=1.0)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        if self._task is not None:
            self._progress.stop()
        return False


# -------------------------------------------------------------------------------------------------------------- keeping


@functools.cache
def _numerics(method: str) -> bytes:
    """Hash of the sources that decide the numbers."""
    digest = hashlib.sha256()
    root = Path(__file__).parent
    for pattern in _SOURCES[method]:
        for path in sorted(root.glob(pattern)):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.digest()


def _key(surface: Surface, nu: float, method: str, tetrahedra: Tetrahedra | None) -> str:
    digest = hashlib.sha256(f"{FORMAT} {method} {nu.hex()} {len(surface.vertices)}".encode() + _numerics(method))
    arrays = (surface.vertices, surface.faces, *(tetrahedra or ()))
    for values in arrays:
        little = values.dtype.newbyteorder("<")
        # 0.0 is added to turn −0.0 into 0.0: the same place must have the same bits.
        digest.update(
            f"{values.shape}".encode() + np.ascontiguousarray(values + values.dtype.type(0), little).tobytes()
        )
    return digest.hexdigest()


def _write(path: Path, key: str, nu: float, result: BoundaryStiffness) -> bool:
    notes = {
        "format": FORMAT,
        "key": key,
        "vertices": len(result.stiffness) // 3,
        "poisson_ratio": nu,
        "method": result.source,
    }
    arrays = {"S": result.stiffness, "Y": result.tractions, "corner_nodes": result.corner_nodes}
    try:
        write_arrays(path, notes, arrays)
    except OSError as problem:
        warnings.warn(
            f"the Green's functions could not be kept in {path} ({problem}): they will be computed again next time",
            UserWarning,
            stacklevel=3,
        )
        return False
    return True


def _read(path: Path, key: str, surface: Surface, method: str) -> BoundaryStiffness | None:
    try:
        # Y is seldom used and as large as S: it stays on the disk.
        notes, arrays = read_arrays(path, mapped=frozenset(("Y",)))
        return _checked(notes, arrays, key, surface, method)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (DamagedFileError, OSError, MemoryError) as problem:
        warnings.warn(
            f"the Green's functions in {path} can't be used ({problem}): they are computed again",
            UserWarning,
            stacklevel=3,
        )
        return None


def _checked(
    notes: dict[str, Any], arrays: dict[str, Any], key: str, surface: Surface, method: str
) -> BoundaryStiffness:
    if notes.get("format") != FORMAT:
        raise DamagedFileError(f"its format is {str(notes.get('format'))[:20]}, not {FORMAT}")
    if notes.get("key") != key:
        raise DamagedFileError("it belongs to another solid")
    if set(arrays) != {"S", "Y", "corner_nodes"}:
        raise DamagedFileError("it holds other arrays")
    S: FloatArray = arrays["S"]
    Y: FloatArray = arrays["Y"]
    corner_nodes: IntArray = arrays["corner_nodes"]
    rows = 3 * len(surface.vertices)
    if corner_nodes.shape != surface.faces.shape or corner_nodes.dtype.kind != "i" or corner_nodes.min() < 0:
        raise DamagedFileError("its traction nodes do not fit the faces")
    shapes = (S.shape, Y.shape)
    if shapes != ((rows, rows), (3 * (int(corner_nodes.max()) + 1), rows)) or S.dtype != Y.dtype or S.dtype != float:
        raise DamagedFileError("its arrays have other shapes")
    # A sum of squares is finite only if every number is.
    if not all(math.isfinite(np.dot(flat, flat)) for flat in (S.ravel(order="K"), Y.ravel(order="K"))):
        raise DamagedFileError("not all of its numbers are finite")
    some = np.random.default_rng(0).integers(rows, size=_SAMPLES)
    if np.abs(S[some] - S[:, some].T).max() > 1e-12 * np.abs(S[some]).max():
        raise DamagedFileError("its stiffness is not symmetric")
    return BoundaryStiffness(S, Y, corner_nodes, method)
