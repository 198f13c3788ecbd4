"""The processor that kernels are compiled for: this machine's own, or one whose code runs on all machines of a kind.

``SENNIT_KERNELS_CPU`` chooses::

    (unset)     what came with the wheel, where it fits; what is compiled here is for this machine's own processor
    native      this machine's own processor, also where a wheel brought kernels for all of its kind
    x86-64-v3   all x86-64 processors since about 2013 (on others the name that `baseline` tells): as wheels have it,
                and for a cache folder that different machines share
"""

from __future__ import annotations

import functools
import hashlib
import os
import re

import llvmlite.binding as llvm

from sennit.errors import InputError

__all__ = ["CHOICE", "NATIVE", "baseline", "choice_for_wheels", "host", "lacking", "platform_name", "target"]

NATIVE = "native"
CHOICE = os.environ.get("SENNIT_KERNELS_CPU", "")
"""What was chosen."""

_FEATURES = {
    # The psABI of x86-64, table "Micro-architecture levels", by LLVM's names.
    "x86-64-v3": (
        "cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3",
        "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave",
    ),
}  # fmt: skip
"""What a processor must have beyond what all of its architecture have."""


def platform_name() -> str:
    """Architecture, system and C library, "x86_64-linux-gnu": what object files can't be carried across."""
    architecture, _, *system = llvm.get_process_triple().split("-")
    return "-".join((architecture, *(re.sub(r"[\d.]+$", "", word) for word in system)))  # without Darwin's version


@functools.cache
def host() -> str:
    """This machine's own processor: LLVM's name, and a hash of what it has, which virtual machines may hide."""
    return f"{llvm.get_host_cpu_name()}-{hashlib.sha256(' '.join(sorted(_has())).encode()).hexdigest()[:8]}"


def baseline() -> str:
    """The processor that wheels of this platform are made for."""
    name = platform_name()
    if name.startswith("x86_64-"):
        return "x86-64-v3"
    return "apple-m1" if name.startswith("arm64-apple") or "-darwin" in name else "generic"


@functools.cache
def _has() -> frozenset[str]:
    try:
        return frozenset(name for name, there in llvm.get_host_cpu_features().items() if there)
    except RuntimeError:  # LLVM can't tell on this system
        return frozenset()


def lacking(name: str) -> list[str]:
    """What this machine's processor lacks to run code for the processor `name`, in LLVM's words."""
    if name == host():
        return []
    if name == baseline():
        return [feature for feature in _FEATURES.get(name, ()) if feature not in _has()]
    return [f"what {name} has"]


def choice_for_wheels() -> str:
    """What wheels are made for that are built here: `baseline`, or `NATIVE` where this processor can't run that."""
    return NATIVE if lacking(baseline()) else baseline()


def target() -> str:
    """The processor that kernels are compiled for here."""
    if CHOICE in ("", NATIVE):
        return host()
    if CHOICE != baseline():
        raise InputError(f'SENNIT_KERNELS_CPU is "{CHOICE}": leave it unset, or choose "{NATIVE}" or "{baseline()}"')
    if missing := lacking(CHOICE):
        raise InputError(f'SENNIT_KERNELS_CPU is "{CHOICE}", but this processor lacks {", ".join(missing)}')
    return CHOICE
