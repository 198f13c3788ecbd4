"""Every call of a kernel from Python made twice: by its whole program, and by plain Numba on the same numbers.

``python -m references.both_ways BOUND STEPS...`` runs steps, named "module:attribute" as `sennit.pack_kernels` has
them, and prints which kernels were called, how often they were compared and what differed. What a call leaves in its
arrays and tables, all of them, is compared with what plain Numba leaves when these are put back to what they were
before; then the program goes on with what the whole program has left, so that nothing adds up.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from sennit.compilation import Kernel
from sennit.compile_once import _here
from sennit.kernel_arguments import kind_of
from sennit.pack_kernels import _steps
from sennit.tables import Table

MOST = 3
"""Calls that are compared of each kernel with arguments of the same kinds: the first ones."""


def arrays_of(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """All arrays in an argument, and their names."""
    if isinstance(value, np.ndarray):
        yield name, value
    elif isinstance(value, Table):
        for field in value._fields:
            yield from arrays_of(getattr(value, field), f"{name}.{field}")
    elif isinstance(value, tuple):
        for k, inner in enumerate(value):
            yield from arrays_of(inner, f"{name}[{k}]")


def difference(one: Any, other: Any) -> float:
    """The largest one, over the largest number there is, or over 1; infinite where only one is a number."""
    a, b = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    if np.array_equal(a, b, equal_nan=True):
        return 0.0
    both = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~both], b[~both], equal_nan=True):
        return float("inf")
    return float(np.abs(a - b)[both].max() / max(1.0, np.abs(b)[both].max()))


class Watch:
    """Compares calls while it is in place of `Kernel.__call__`."""

    def __init__(self, bound: float) -> None:
        self.bound = bound
        self.compared: Counter[str] = Counter()
        """Calls that were, by the kernel's name."""
        self.alone: set[str] = set()
        """Kernels that are compiled by plain Numba in any case."""
        self.differ: dict[str, float] = {}
        """What differed by more than the bound, and by how much."""
        self.largest = 0.0
        self._seen: Counter[Any] = Counter()

    def called(self, call: Any, kernel: Any, *arguments: Any) -> Any:
        """What `call`, Kernel's own, gives."""
        name = f"{kernel.__module__}.{kernel.__qualname__}".removeprefix("sennit.")
        try:
            key = name, tuple(map(kind_of, arguments))
        except TypeError:
            key = name, ()
        self._seen[key] += 1
        if self._seen[key] > MOST:
            return call(kernel, *arguments)
        arrays = dict(arrays_of(arguments, name))
        before = {place: array.copy() for place, array in arrays.items()}
        result = call(kernel, *arguments)
        if kernel._sole or kernel.origins.get(key[1]) in ("numba", None):
            self.alone.add(name)
            return result
        made = {place: array.copy() for place, array in arrays.items()}
        self._put(arrays, before)
        expected = kernel.plain(*arguments)
        for place, array in arrays.items():
            self._compare(place, made[place], array)
        if result is not None or expected is not None:
            self._compare(f"{name}, returned", result, expected)
        self._put(arrays, made)
        self.compared[name] += 1
        return result

    def _put(self, arrays: dict[str, Any], contents: dict[str, Any]) -> None:
        for place, array in arrays.items():
            if not np.array_equal(array, contents[place], equal_nan=array.dtype.kind == "f"):
                array[...] = contents[place]

    def _compare(self, place: str, one: Any, other: Any) -> None:
        by = difference(one, other)
        self.largest = max(self.largest, by)
        if by > self.bound:
            self.differ[place] = max(by, self.differ.get(place, 0.0))


def main(bound: float, names: list[str]) -> None:
    """Run the steps, and print what there was."""
    watch, call = Watch(bound), Kernel.__call__
    Kernel.__call__ = lambda kernel, *arguments: watch.called(call, kernel, *arguments)  # type: ignore[method-assign]
    _here.compiling = True  # nothing is compiled but what is called
    for name in names:
        module, _, attribute = name.partition(":")
        attribute, _, number = attribute.partition("/")
        steps = _steps(f"{module}:{attribute}")
        for step in [steps[int(number)]] if number else steps:
            step()
    found = {"compared": watch.compared, "alone": sorted(watch.alone), "differ": watch.differ, "largest": watch.largest}
    print(json.dumps(found))


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
