"""Contact forces of a few nodes from their compliance: active set, block Gauss–Seidel, semismooth Newton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sennit.elastostatics import steady
from sennit.elastostatics.contact.kernels.coulomb import (
    displace,
    gauss_seidel,
    normal_forces,
    set_frame,
    set_own_block,
    unsolved,
)
from sennit.elastostatics.contact.tables import Nodes, workspace
from sennit.validation import FloatArray

__all__ = ["ContactForces", "contact_forces", "newton_forces"]

Method = Literal["auto", "active-set", "gauss-seidel", "newton"]

_SWEEPS = 400
_NEWTON = 60


@dataclass(frozen=True, eq=False)
class ContactForces:
    """Solved contacts of k nodes."""

    forces: FloatArray
    """What the shape applies to the nodes, (k, 3), N."""
    displacements: FloatArray
    """Displacements C f, (k, 3), m."""
    converged: bool
    """Whether the conditions hold to the tolerance."""
    iterations: int
    """Solves of the active set, sweeps, or steps of Newton's method."""
    residual: float
    """By how much the exact solve of one node, others held, would still move it, at most, m."""
    method: str
    """What gave the forces: ``"active-set"``, ``"gauss-seidel"`` or ``"newton"``."""


def contact_forces(
    compliance: FloatArray,
    normals: FloatArray,
    gaps: FloatArray,
    slips: FloatArray | None = None,
    *,
    friction: float = 0.0,
    guess: FloatArray | None = None,
    method: Method = "auto",
    tolerance: float = 1e-10,
) -> ContactForces:
    """Forces between k nodes and the planes before them, with unilateral contact and Coulomb's friction.

        γ = gaps + n·(C f),  0 ≤ f_n ⊥ γ ≥ 0,  |f_t| ≤ μ f_n,  f_t = −μ f_n σ/|σ| where σ = slips_t + (C f)_t ≠ 0

    Arguments: `compliance` C (3k, 3k), symmetric and positive, m/N; `normals` (k, 3), unit, from the plane to the node;
    `gaps` (k,), m, without forces, negative where a node is inside; `slips` (k, 3), m: by how much each node has left
    the place where it sticks, without forces; `guess` (k, 3): forces to start from; `tolerance`, of the largest gap.

    ``"auto"`` is the active set without friction; with it Gauss–Seidel, and Newton where the sweeps do not end. Nothing
    is checked. There may be several solutions with large friction: the one that is found depends on the guess.
    """
    k = len(gaps)
    work = workspace(k, 0)
    nodes = work.nodes
    nodes.compliance[:] = compliance
    for i in range(k):
        set_frame(nodes, i, *normals[i].tolist())
        set_own_block(nodes, i)
    nodes.plane[:] = -gaps[:, None] * normals
    if slips is not None:
        nodes.stick[:] = -np.asarray(slips, dtype=np.float64)
    if guess is not None:
        nodes.force[:] = guess
    displace(nodes, k)
    limit = tolerance * float(np.abs(gaps).max(initial=0.0))
    solved, iterations = True, 0
    used = ("gauss-seidel" if friction > 0.0 else "active-set") if method == "auto" else method
    if used == "active-set":
        status, iterations = normal_forces(nodes, k, work.active)
        solved = status == 0
    if used == "gauss-seidel":
        iterations, move = gauss_seidel(nodes, k, friction, work.mixing, limit, _SWEEPS)
        solved = move <= limit
    if used == "newton" or (method == "auto" and not solved):
        used = "newton"
        iterations, solved = newton_forces(nodes, k, friction, limit)
        displace(nodes, k)
    residual = float(unsolved(nodes, k, friction))
    displacements = nodes.displaced.reshape(k, 3).copy()
    return ContactForces(nodes.force.copy(), displacements, bool(solved), int(iterations), residual, used)


def newton_forces(nodes: Nodes, k: int, friction: float, tolerance: float) -> tuple[int, bool]:
    """Solve the problem in `contact.kernels.coulomb` for k nodes from the forces that they have, which are replaced.

    Newton's method on the projections F = x − Π(x − ρ y), where y = A x + b are gaps and slips in the nodes' frames and
    Π projects on 0 ≤ x_n and on the disk |x_t| ≤ μ (x_n − ρ y_n) (P. Alart, A. Curnier, Comput. Methods Appl. Mech.
    Eng. 92, 1991, 353–375). Steps are halved while |F| grows. The projected forces are taken: open nodes have none.

    Returns iterations, and whether it converged.
    """
    R, a, r = nodes.frame[:k], nodes.plane[:k], nodes.stick[:k]
    B = np.ascontiguousarray(nodes.compliance[: 3 * k, : 3 * k])
    u0 = nodes.untouched[: 3 * k]
    A = np.einsum("ipa,iajb->ipjb", R, B.reshape(k, 3, k, 3))
    A = np.einsum("ipjb,jqb->ipjq", A, R).reshape(3 * k, 3 * k)
    rest = u0.reshape(k, 3)
    b = np.einsum("ipa,ia->ip", R, rest - r)
    b[:, 0] = np.einsum("ia,ia->i", R[:, 0], rest - a)
    own = A.reshape(k, 3, k, 3)[np.arange(k), :, np.arange(k), :]
    rho = np.empty((k, 3))
    rho[:, 0] = 1.0 / own[:, 0, 0]
    rho[:, 1:] = 1.0 / np.linalg.eigvalsh(own[:, 1:, 1:])[:, -1:]

    def mapped(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """F, and the projected point before its projection."""
        z = x - rho * (steady.times(A, x.ravel()).reshape(k, 3) + b)
        pressed = np.maximum(z[:, 0], 0.0)
        size = np.linalg.norm(z[:, 1:], axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            shrink = np.where(size > friction * pressed, friction * pressed / size, 1.0)
        image = np.column_stack((pressed, z[:, 1:] * shrink[:, None]))
        return x - image, z

    x = np.einsum("ipa,ia->ip", R, nodes.force[:k])
    F, z = mapped(x)
    iteration = 0
    for iteration in range(_NEWTON):
        if float(np.abs(F / rho).max(initial=0.0)) <= tolerance:
            nodes.force[:k] = np.einsum("ipa,ip->ia", R, x - F)
            return iteration, True
        step = _newton_step(A, rho, friction, x, F, z)
        if step is None:
            break
        before = float(np.linalg.norm(F))
        length = 1.0
        for _ in range(7):
            trial = x + length * step
            F, z = mapped(trial)
            if float(np.linalg.norm(F)) < (1.0 - 1e-4 * length) * before:
                break
            length *= 0.5
        x = trial
    solved = float(np.abs(F / rho).max(initial=0.0)) <= tolerance
    nodes.force[:k] = np.einsum("ipa,ip->ia", R, x - F)
    return iteration, solved


def _newton_step(
    A: FloatArray, rho: FloatArray, friction: float, x: FloatArray, F: FloatArray, z: FloatArray
) -> FloatArray | None:
    """−F'⁻¹ F; open nodes go to zero, so that only closed ones stand in the system. None if it is singular."""
    closed = np.flatnonzero(z[:, 0] > 0.0)
    step = -x.copy()
    if not len(closed):
        return step
    c = len(closed)
    z, scale = z[closed], rho[closed]
    # dz = (1 − ρA) dx and dF = dx − Π' dz on the closed nodes.
    rows = A.reshape(len(x), 3, -1)[closed].reshape(3 * c, -1)
    columns = (3 * closed[:, None] + np.arange(3)).ravel()
    dz = np.eye(3 * c) - scale.reshape(-1, 1) * rows[:, columns]
    projection = np.zeros((c, 3, 3))
    projection[:, 0, 0] = 1.0
    size = np.linalg.norm(z[:, 1:], axis=1)
    slips = size > friction * z[:, 0]
    projection[~slips, 1, 1] = projection[~slips, 2, 2] = 1.0
    e = z[slips, 1:] / size[slips, None]
    projection[slips, 1:, 0] = friction * e
    share = friction * z[slips, 0] / size[slips]
    projection[slips, 1:, 1:] = share[:, None, None] * (np.eye(2) - e[:, :, None] * e[:, None, :])
    jacobian = np.eye(3 * c) - np.einsum("ipq,iqj->ipj", projection, dz.reshape(c, 3, -1)).reshape(3 * c, -1)
    # The steps of open nodes are known; what they change in dz goes to the right side.
    known = step.copy()
    known[closed] = 0.0
    change = -scale * steady.times(rows, known.ravel()).reshape(c, 3)
    right = -F[closed] + np.einsum("ipq,iq->ip", projection, change)
    try:
        step[closed] = steady.solve(jacobian, right.ravel()).reshape(c, 3)
    except np.linalg.LinAlgError:
        return None
    return step if np.isfinite(step).all() else None
