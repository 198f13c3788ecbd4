"""``sennit cache``: what is kept on disk, shown, deleted, and carried to other machines."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from sennit.errors import InputError

__all__ = ["pack", "show", "unpack"]

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


def show(arguments: argparse.Namespace) -> int:
    """Show what is kept, or delete it, or parts of it."""
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


def pack(arguments: argparse.Namespace) -> int:
    """Write the compiled kernels to a file."""
    from sennit.carried_kernels import pack_cache

    counts = pack_cache(arguments.file)
    print(f"{arguments.file}: {_size(arguments.file.stat().st_size)}, {_counted(counts)}")
    return 0


def unpack(arguments: argparse.Namespace) -> int:
    """Take the kernels of such a file."""
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
