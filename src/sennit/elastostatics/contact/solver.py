"""Contact forces of a few nodes from their compliance: active set, block Gauss–Seidel, semismooth Newton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sennit.elastostatics import steady
from sennit.elastostatics.contact.kernels.bodies import (
    FRAME,
    LOCAL,
    MEMORY,
    displaced,
    frame_of,
    gauss_seidel,
    local_block,
    normal_forces,
    unsolved,
)
from sennit.validation import FloatArray

__all__ = ["ContactForces", "contact_forces", "newton_forces"]

Method = Literal["auto", "active-set", "gauss-seidel", "newton"]

_SWEEPS = 400
_NEWTON = 60


@dataclass(frozen=True, eq=False)
class ContactForces:
    """Solved contacts of k nodes."""

    forces: FloatArray
    """(k, 3), N: what the shape applies to the nodes."""
    displacements: FloatArray
    """(k, 3), m: C f."""
    converged: bool
    iterations: int
    residual: float
    """m: by how much the exact solve of one node, others held, would still move it, at most."""
    method: str


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
    B = np.ascontiguousarray(compliance, dtype=np.float64)
    frames, local = np.zeros((k, FRAME)), np.zeros((k, LOCAL))
    for i in range(k):
        frame_of(frames, i, *normals[i].tolist())
        local_block(B, i, frames, local)
    a = -gaps[:, None] * normals
    r = np.zeros((k, 3)) if slips is None else -np.asarray(slips, dtype=np.float64)
    f = np.zeros((k, 3)) if guess is None else np.array(guess, dtype=np.float64)
    u0, u = np.zeros(3 * k), np.zeros(3 * k)
    displaced(B, k, u0, f, u)
    limit = tolerance * float(np.abs(gaps).max(initial=0.0))
    solved, iterations = True, 0
    used = ("gauss-seidel" if friction > 0.0 else "active-set") if method == "auto" else method
    if used == "active-set":
        state = np.zeros(k, dtype=np.int64)
        room = np.zeros((2, k, k)), np.zeros((10, k)), np.zeros((2, k), dtype=np.int64)
        status, iterations = normal_forces(B, k, frames, a, u0, f, u, state, *room)
        solved = status == 0
    if used == "gauss-seidel":
        scratch = np.zeros((4 + 3 * MEMORY, 3 * k)), np.zeros((2 * MEMORY + 1, MEMORY))
        iterations, move = gauss_seidel(B, k, friction, frames, local, a, r, f, u, *scratch, limit, _SWEEPS)
        solved = move <= limit
    if used == "newton" or (method == "auto" and not solved):
        used = "newton"
        f[:], iterations, solved = newton_forces(B, frames, a, r, u0, friction, f, limit)
        displaced(B, k, u0, f, u)
    residual = float(unsolved(k, friction, frames, local, a, r, f, u))
    return ContactForces(f, u.reshape(k, 3), bool(solved), int(iterations), residual, used)


def newton_forces(
    B: FloatArray, frames: FloatArray, a: FloatArray, r: FloatArray, u0: FloatArray, friction: float, guess: FloatArray,
    tolerance: float,
) -> tuple[FloatArray, int, bool]:  # fmt: skip
    """Forces (k, 3) of the problem in `contact.kernels.bodies`, iterations, and whether it converged.

    Newton's method on the projections F = x − Π(x − ρ y), where y = A x + b are gaps and slips in the nodes' frames and
    Π projects on 0 ≤ x_n and on the disk |x_t| ≤ μ (x_n − ρ y_n) (P. Alart, A. Curnier, Comput. Methods Appl. Mech.
    Eng. 92, 1991, 353–375). Steps are halved while |F| grows. The projected forces are returned: open nodes have none.
    """
    k = len(a)
    R = frames.reshape(k, 3, 3)
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

    x = np.einsum("ipa,ia->ip", R, guess)
    F, z = mapped(x)
    iteration = 0
    for iteration in range(_NEWTON):
        if float(np.abs(F / rho).max(initial=0.0)) <= tolerance:
            return np.einsum("ipa,ip->ia", R, x - F), iteration, True
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
    return np.einsum("ipa,ip->ia", R, x - F), iteration, solved


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
