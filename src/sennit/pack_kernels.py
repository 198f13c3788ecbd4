"""Makes the files of machine code that a wheel carries: ``python -m sennit.pack_kernels FOLDER``.

The first steps of every group are run, as on a machine that has never seen sennit, and then a rehearsal of what people
do besides; what they load or compile goes into the files. Machine code that is in the cache is taken from there. The
processor is that of ``SENNIT_KERNELS_CPU``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sennit.compilation import left_to_numba, loaded_files
from sennit.compile_once import compile_once, part_of_group
from sennit.kernel_cache import PARTS, kept_code, kernel_folder
from sennit.shipped_kernels import facts, shipped_code, shipped_file, write_shipped

__all__ = ["GROUPS", "main", "pack"]

GROUPS = {
    "step": "sennit.scene.scene:prepare_march",
    "scene": "sennit.scene.scene:FIRST_STEPS",
    "touching": "sennit.scene.scene:prepare_touching",
    "cable": "sennit.constraints.cable.cable:make_one",
    "energy": "sennit.scene.scene:READ_ENERGY",
    "dissection": "sennit.linalg.order:dissect_a_chain",
    "strand": "sennit.bodies.strand.strand:FIRST_SOLVE",
    "stability": "sennit.bodies.strand.strand:STABILITY",
    "follower": "sennit.bodies.strand.strand:FOLLOWERS",
    "zone": "sennit.elastostatics.rehearsal:COMPILATION",
    "mesh": "sennit.elastostatics.crossings:_compile",
    "boundary element": "sennit.elastostatics.boundary.elements:_compile",
    "column": "sennit.elastostatics.columns:_compile",
    "contact": "sennit.elastostatics.contact.press:_compile",
    "chain": "sennit.elastostatics.chain.system:_warm_up",
    "felt": "sennit.bodies.zone.felt:_compile",
    "batch": "sennit.batch.batch:prepare_batch",
    "hair": "sennit.hair.running:prepare_hair",
}
"""What is given to `compile_once`: the names of steps, or of a single one."""
REHEARSAL = "sennit.rehearsal:USUAL"
"""What is run besides."""


def _steps(name: str) -> Sequence[Callable[[], object]]:
    module, _, attribute = name.partition(":")
    found = getattr(importlib.import_module(module), attribute)
    return [found] if callable(found) else found


def pack(folder: Path, groups: Mapping[str, str] = GROUPS, rehearsal: str = REHEARSAL) -> list[Path]:
    """Write a file for each part into `folder`, with all that `groups` and `rehearsal` need; those that were written.

    A group of which a kernel is left to plain Numba is not complete: where it is used first, the rest is compiled.
    """
    complete = []
    for group, name in groups.items():
        steps = _steps(name)
        compile_once(group, steps)
        left_to_numba.clear()
        for step in steps:
            step()
        if not left_to_numba:
            complete.append(group)
    for step in _steps(rehearsal) if rehearsal else ():
        step()
    made = []
    for part in PARTS:
        codes = {name: _code(part, name) for owner, name in loaded_files if owner == part}
        if codes:
            path = folder / shipped_file(part).name
            write_shipped(path, facts(part), [group for group in complete if part_of_group(group) == part], codes)
            made.append(path)
    return made


def _code(part: str, name: str) -> bytes:
    code = shipped_code(part, name) or kept_code(part, name)
    if code is None:
        raise OSError(f"the machine code of {name} can't be kept in {kernel_folder(part)}: is the disk full?")
    return code


def main(words: Sequence[str]) -> int:
    """Write the files, and say what was written."""
    for path in pack(Path(words[0])):
        print(f"{path.name}: {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
