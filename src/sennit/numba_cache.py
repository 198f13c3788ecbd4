"""Plain Numba's machine code on disk, in the folders of `kernel_cache`: for kernels that whole programs can't hold."""

from __future__ import annotations

import contextlib
import hashlib
import sys
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator

from sennit.kernel_cache import kernel_folder, part_of, stamp

__all__ = ["NumbaCache"]


class _Locator(_CacheLocator):
    """Tells Numba to keep a function's machine code in the folder of its part."""

    def __init__(self, py_func: Any, part: str) -> None:
        self._line, self._folder, self._stamp = py_func.__code__.co_firstlineno, kernel_folder(part), stamp(part)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator | None:
        part = part_of(py_func.__module__)
        return None if part is None else cls(py_func, part)


class _Implementation(CompileResultCacheImpl):
    _locator_classes = [_Locator]

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        # NUMBA_CACHE_LOCATOR_CLASSES may have chosen another locator: ours decides.
        self._locator = _Locator.from_function(py_func, py_func.__code__.co_filename)
        # Two kernels of one name may stand on one line of two files of one name: the module's path tells them apart.
        name = f"{py_func.__module__}.{py_func.__qualname__}"
        self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))


class _Files(IndexDataCacheFile):
    """Numba's files, with the machine code in one that is named by its signature.

    Numba numbers them: two processes that compile two signatures at once may both take a number, and the index of one
    then leads to the code of the other.
    """

    def save(self, key: Any, data: Any) -> None:
        try:
            overloads = self._load_index()
        except Exception:  # damaged
            overloads = {}
        name = self._index_name.removesuffix("nbi") + hashlib.sha256(repr(key).encode()).hexdigest()[:16] + ".nbc"
        self._save_data(name, data)
        self._save_index(overloads | {key: name})


class NumbaCache(FunctionCache):
    """A function's machine code on disk: what can't be read is compiled again, what can't be written is not kept."""

    _impl_class = _Implementation

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        files = self._cache_file
        self._cache_file = _Files(files._cache_path, self._impl.filename_base, files._source_stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was kept for a signature, or None."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code of a signature."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)
