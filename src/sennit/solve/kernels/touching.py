"""Where a step asks for contact.

A scene in which things may touch is another kind of table (`touching.tables.TouchingScene`), and kernels are compiled
for each kind by itself. Here is what the functions do for scenes where nothing touches; what they do for the others is
declared by `touching.kernels.march`, which stands above this, and is compiled only for a scene that asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sennit.compilation import kernel, overload
from sennit.linalg.kernels.ldlt import permute
from sennit.solve.kernels.active import solve_rows
from sennit.solve.kernels.codes import SOLVED

ANSWERS: dict[str, Callable[..., Any]] = {}
"""What scenes where things touch answer, by the name of the question: for kernels that stay plain Python."""


@kernel
def solve_rows_of(scene):
    """`solve_rows` from the right side of forces and rows."""
    rows, trial, matrix = scene.rows, scene.trial, scene.matrix
    n = scene.layout.dofs[0]
    for i in range(n):
        matrix.natural[i] = trial.force[i]
        trial.dq[i] = 0.0
    for r in range(rows.kind.size):
        if rows.dual[r] >= 0:
            matrix.natural[n + rows.dual[r]] = rows.wanted[r]
    permute(scene.plan, matrix.natural, matrix.forward)
    return solve_rows(scene)


def find_contacts(scene):
    """Look for contacts where the solve begins."""
    return ANSWERS["find_contacts"](scene) if hasattr(scene, "touch") else SOLVED


@overload(find_contacts)
def _find_contacts(scene):
    return None if "touch" in dict(scene.fields) else lambda scene: SOLVED


def bend_contacts(scene):
    """Add what contacts that press have in a static solve's matrix."""
    if hasattr(scene, "touch"):
        ANSWERS["bend_contacts"](scene)


@overload(bend_contacts)
def _bend_contacts(scene):
    return None if "touch" in dict(scene.fields) else lambda scene: None


def find_forces(scene):
    """Solve the factorised system with all rows that have bounds, and with contacts."""
    return ANSWERS["find_forces"](scene) if hasattr(scene, "touch") else solve_rows_of(scene)


@overload(find_forces)
def _find_forces(scene):
    return None if "touch" in dict(scene.fields) else lambda scene: solve_rows_of(scene)


def judge_contacts(scene):
    """Look at contacts where the step ends. Returns TOUCHED if it must be made again, to look farther; else SOLVED."""
    return ANSWERS["judge_contacts"](scene) if hasattr(scene, "touch") else SOLVED


@overload(judge_contacts)
def _judge_contacts(scene):
    return None if "touch" in dict(scene.fields) else lambda scene: SOLVED


def accept_contacts(scene):
    """Make the contacts of the iterate those of the state."""
    if hasattr(scene, "touch"):
        ANSWERS["accept_contacts"](scene)


@overload(accept_contacts)
def _accept_contacts(scene):
    return None if "touch" in dict(scene.fields) else lambda scene: None


def strikes(scene):
    """Whether something struck in a shock of contact."""
    return ANSWERS["strikes"](scene) if hasattr(scene, "touch") else False


@overload(strikes)
def _strikes(scene):
    return None if "touch" in dict(scene.fields) else lambda scene: False
