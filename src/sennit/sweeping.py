"""The same program for many parameters: one after the other, or on any executor of ``concurrent.futures``."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import io
import json
import os
import pickle
import queue
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sennit import validation
from sennit.attributes import unchanging
from sennit.errors import InputError
from sennit.validation import quoted

__all__ = ["SweepFailure", "sweep"]

_FORMAT = 1


@unchanging
@dataclass(frozen=True, eq=False)
class SweepFailure:
    """What stands in place of a result where the function has raised."""

    parameters: Any
    """What the function was called with."""
    kind: str
    """Name of the exception's class."""
    message: str
    """Its text."""
    trace: str
    """Where it was raised, as Python tells it."""

    def __bool__(self) -> bool:
        """False: ``[r for r in results if r]`` leaves failures out, where results are not empty."""
        return False


def sweep(
    function: Callable[[Any], Any], parameters: Iterable[Any], executor: Any = None, *, progress: bool = True,
    keep: str | os.PathLike[str] | None = None,
) -> list[Any]:  # fmt: skip
    """``[function(p) for p in parameters]``, in order, on the workers of an `executor`; here, if none is given.

    `executor`: any of ``concurrent.futures``, or what has its ``submit`` (Dask's ``client.get_executor()``,
    ``mpi4py.futures``). Function, parameters and results go to other processes by pickle; scenes can be sent. Where the
    function raises, a `SweepFailure` stands in the place of its result, and the others go on. A bar shows `progress`
    where standard error is a terminal.

    `keep`: a folder in which each result is kept as it comes, so that a sweep that was killed goes on where it was;
    failures are tried again. Results are then numbers, texts, None, arrays, and lists and dicts of them; no pickle is
    written. Raises `InputError` for other results, and for a folder that belongs to other parameters or to another
    function: its name and its source are compared.
    """
    if not callable(function):
        raise InputError(f"function must be a function of one parameter, got {quoted(function)}")
    wanted = validation.entries("parameters", parameters, "the parameters of the calls")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InputError(f"executor must have submit, as those of concurrent.futures, got {quoted(executor)}")
    shown = validation.flag("progress", progress)
    folder = None if keep is None else _Folder(keep, function, wanted)
    results: list[Any] = [None] * len(wanted)
    missing = list(range(len(wanted)))
    if folder is not None:
        known = folder.known()
        missing = [i for i in missing if i not in known]
        for i, result in known.items():
            results[i] = result
    with _bar(len(wanted), len(wanted) - len(missing), shown) as advance:
        for i, result in _made(function, wanted, missing, executor):
            if folder is not None and not isinstance(result, SweepFailure):
                folder.put(i, result)
            results[i] = result
            advance()
    return results


def _tried(function: Callable[[Any], Any], parameter: Any) -> Any:
    """The result of one call, or its failure: what the workers run."""
    try:
        return function(parameter)
    except Exception as problem:
        return _failure(parameter, problem)


def _failure(parameter: Any, problem: BaseException) -> SweepFailure:
    trace = "".join(traceback.format_exception(problem))
    return SweepFailure(parameter, type(problem).__name__, str(problem), trace)


def _made(
    function: Callable[[Any], Any], parameters: list[Any], missing: list[int], executor: Any
) -> Iterator[tuple[int, Any]]:
    """Results with their numbers, as they come."""
    if executor is None:
        for i in missing:
            yield i, _tried(function, parameters[i])
        return
    # Futures of Dask are no instances of Python's: they tell when they are done, and nothing else is asked of them.
    done: queue.SimpleQueue[int] = queue.SimpleQueue()
    futures = {}
    for i in missing:
        futures[i] = executor.submit(_tried, function, parameters[i])
        futures[i].add_done_callback(lambda _, i=i: done.put(i))
    try:
        for _ in missing:
            i = done.get()
            try:
                yield i, futures.pop(i).result()
            except Exception as problem:  # a worker died, or what it made can't be sent
                yield i, _failure(parameters[i], problem)
    finally:
        for future in futures.values():
            future.cancel()


@contextlib.contextmanager
def _bar(total: int, done: int, shown: bool) -> Iterator[Callable[[], None]]:
    if not shown or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("sweep", total=total, completed=done)
        yield lambda: bar.advance(task)


# ----------------------------------------------------------------------------------------------- results on the disk


class _Folder:
    """One file for each result: ``12.npz``, a line of JSON and the arrays that it names."""

    def __init__(self, path: object, function: Callable[[Any], Any], parameters: list[Any]) -> None:
        if not isinstance(path, str | os.PathLike):
            raise InputError(f"keep must be the name of a folder, got {quoted(path)}")
        self._path = Path(path)
        self._count = len(parameters)
        told = {"format": _FORMAT, "function": _print_of(function), "parameters": _print_of_all(parameters)}
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            begun = self._path / "sweep.json"
            if not begun.exists():
                if any(self._path.glob("*.npz")):
                    raise InputError(
                        f"{quoted(str(path))} holds other files: keep the results in a folder of their own"
                    )
                _write(begun, json.dumps(told).encode())
            known = json.loads(begun.read_text())
        except (OSError, ValueError) as problem:
            if isinstance(problem, InputError):
                raise
            raise InputError(f"results can't be kept in {quoted(str(path))}: {problem}") from None
        for what in ("format", "function", "parameters"):
            if not isinstance(known, dict) or known.get(what) != told[what]:
                raise InputError(
                    f"{quoted(str(path))} keeps results of another sweep ({what}): give another folder, or delete it"
                )

    def known(self) -> dict[int, Any]:
        """The results that are there; a file that is not whole is as good as none."""
        found = {}
        for path in self._path.glob("*.npz"):
            if path.stem.isdecimal() and int(path.stem) < self._count:
                content = io.BytesIO(path.read_bytes())
                with contextlib.suppress(Exception), np.load(content, allow_pickle=False) as arrays:
                    told = json.loads(bytes(arrays["result"]).decode())
                    found[int(path.stem)] = _read(told, arrays)
        return found

    def put(self, number: int, result: Any) -> None:
        """Keep a result, whole or not at all."""
        arrays: dict[str, Any] = {}
        told = _written(result, arrays, f"the result of call {number}")
        arrays["result"] = np.frombuffer(json.dumps(told).encode(), np.uint8)
        file = io.BytesIO()
        np.savez(file, **arrays)
        _write(self._path / f"{number}.npz", file.getvalue())


def _write(path: Path, content: bytes) -> None:
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_bytes(content)
    beside.replace(path)


def _written(value: Any, arrays: dict[str, Any], what: str) -> Any:
    """`value` as JSON has it; arrays go to `arrays`."""
    if value is None or type(value) in (bool, str):
        return value
    if type(value) is int:
        return {"int": str(value)}
    if type(value) is float:
        return {"float": value.hex()}
    if type(value) is complex:
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcU":
        name = f"array{len(arrays)}"
        arrays[name] = np.asarray(value)
        return {"array": name, "number": isinstance(value, np.generic)}
    if type(value) in (list, tuple):
        return {type(value).__name__: [_written(one, arrays, what) for one in value]}
    if type(value) is dict and all(type(key) is str for key in value):
        return {"dict": {key: _written(one, arrays, what) for key, one in value.items()}}
    raise InputError(
        f"{what} can't be kept: it has a {type(value).__name__}; return numbers, texts, arrays, and lists and dicts "
        f"(by texts) of them, or leave keep out"
    )


def _read(told: Any, arrays: Any) -> Any:
    if not isinstance(told, dict):
        return told
    ((kind, value),) = [(k, v) for k, v in told.items() if k != "number"]
    if kind == "array":
        found = arrays[value]
        return found[()] if told["number"] else found
    if kind == "complex":
        return complex(*map(float.fromhex, value))
    if kind == "dict":
        return {key: _read(one, arrays) for key, one in value.items()}
    if kind in ("list", "tuple"):
        many = [_read(one, arrays) for one in value]
        return many if kind == "list" else tuple(many)
    return int(value) if kind == "int" else float.fromhex(value)


def _print_of(function: Any) -> str:
    """What tells a function from another: its name, and its source or its code; of a partial its arguments too."""
    inner = getattr(function, "func", None)
    if inner is not None and hasattr(function, "keywords"):
        told = [
            _print_of(inner),
            *map(_print_of_one, function.args),
            *(f"{key}={_print_of_one(value)}" for key, value in sorted(function.keywords.items())),
        ]
        return hashlib.sha256("\0".join(told).encode()).hexdigest()
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        text = "" if code is None else f"{code.co_code!r}{code.co_consts!r}{code.co_names!r}"
    name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__qualname__)}"
    held = [_print_of_one(cell.cell_contents) for cell in getattr(function, "__closure__", None) or ()]
    return hashlib.sha256("\0".join((name, text, *held)).encode()).hexdigest()


def _print_of_all(parameters: list[Any]) -> str:
    return hashlib.sha256("\0".join(map(_print_of_one, parameters)).encode()).hexdigest()


def _print_of_one(value: Any) -> str:
    """A hash of a value: of its numbers and texts where it has nothing else, else of what it is as pickle has it."""
    arrays: dict[str, Any] = {}
    try:
        told = json.dumps(_written(value, arrays, "it")).encode()
        told += b"".join(
            f"{a.dtype.str}{a.shape}".encode() + np.ascontiguousarray(a).tobytes() for a in arrays.values()
        )
    except InputError:
        try:
            told = pickle.dumps(value)
        except Exception:
            told = f"{type(value).__module__}.{type(value).__qualname__}".encode()
    return hashlib.sha256(told).hexdigest()
