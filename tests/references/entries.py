"""The kernels that Python calls, found in the sources: what is compiled as whole programs, and what wheels carry."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import sennit
from sennit.compilation import Kernel

SOURCES = Path(sennit.__file__).parent

LEFT_OUT = {
    "batch.kernels.march_each": "for graphics cards, which have machine code of their own",
    "batch.kernels.march_near": "for graphics cards",
    "batch.kernels.read_each": "for graphics cards",
    "batch.kernels.rows_each": "for graphics cards",
    "hair.kernels.entries.step_each": "for graphics cards",
    "hair.kernels.entries.step_some": "hair in float32 on a processor, which is slower and seldom",
    "geometry.kernels.distances.box_round": "asked by Python for a `DistanceGrid` alone",
    "cosserat.kernels.law": "laws are functions that Numba compiles where they are made",
    "elastostatics.chain.kernels.solve.surface": "reads arrays by `reshape`, and is left to plain Numba",
    "elastostatics.contact.kernels.coulomb": "the last resort of a press that does not converge",
    "elastostatics.contact.kernels.pressing": "the last resort of a press that does not converge",
    "linalg.kernels.ldlt": "`Factorisation` is for benches; scenes factorise inside `march`",
}
"""Kernels that Python calls and that are not in wheels, and why."""


def kernels_that_python_calls() -> set[str]:
    """Their names, without the package's."""
    found = set()
    for path in SOURCES.rglob("*.py"):
        place = path.relative_to(SOURCES).parts
        if "kernels" in place or place[0] in ("bench", "demos"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        modules, things = {}, set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and "kernels" in str(node.module).split("."):
                if str(node.module).endswith(".kernels"):
                    modules |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
                else:
                    things |= {(node.module, alias.name) for alias in node.names}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                things.add((modules[node.value.id], node.attr))
        for module, name in things:
            thing = getattr(importlib.import_module(module), name)
            if isinstance(thing, Kernel):
                found.add(f"{thing.__module__}.{thing.__qualname__}".removeprefix("sennit."))
    return found
