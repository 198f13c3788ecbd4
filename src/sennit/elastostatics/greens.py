"""Green's functions of a zone: what each free node of its surface answers to a unit force at each other one."""

from __future__ import annotations

import weakref
from functools import cached_property

import numpy as np

from sennit.elastostatics.boundary.walls import explain_indefinite
from sennit.elastostatics.kernels.compliance import (
    gather_lower,
    mirror_lower,
    picked,
    row_products,
    shift_lower,
    spread,
)
from sennit.elastostatics.stiffness import BoundaryStiffness
from sennit.elastostatics.surface import IntArray, Surface
from sennit.elastostatics.tables import Answers
from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["GreensFunctions", "rigid_motions", "rows_of", "surface_moments", "unheld_modes"]

_HELD = 1e-6
"""A rigid motion counts as held if the fixed nodes see at least this share of it."""
_ROWS = 192
"""So many rows are factored at once: not worth a second thread to LAPACK."""


class GreensFunctions:
    """The compliance of the free nodes of a body held at its fixed nodes, C = S_ff⁻¹, at Young's modulus 1 Pa.

    C is symmetric and positive whenever the Cholesky factorisation of S_ff exists: making it is the test of whether
    the boundary stiffness is good enough for its mesh.

    A body held in fewer than six ways has rigid `modes` B left (3k, q). Its compliance is the inverse of
    S_ff + σ (M B)(M B)ᵀ, with M the mass matrix of the surface. For balanced forces, Bᵀ f = 0, u = C f solves
    S_ff u = f and has no part in the modes over the surface, BᵀM u = 0; for other forces it means nothing.

    A `compliance` that was kept on disk is taken over as it is. Raises `InputError` if S_ff is not positive.
    """

    def __init__(
        self, surface: Surface, boundary: BoundaryStiffness, fixed: IntArray, compliance: FloatArray | None = None
    ) -> None:
        count = len(surface.vertices)
        self.surface = surface
        self.boundary = boundary
        self.fixed = np.unique(np.asarray(fixed, dtype=np.int64))
        """Sorted ids of the fixed vertices, (c,)."""
        self.free = np.setdiff1d(np.arange(count, dtype=np.int64), self.fixed, assume_unique=True)
        """Sorted ids of the free vertices, (k,)."""
        self.slot = np.full(count, -1, dtype=np.int64)
        """Place of each vertex among the free ones, (n,), −1 for fixed ones."""
        self.slot[self.free] = np.arange(len(self.free))
        self.modes = unheld_modes(surface, self.fixed)[rows_of(self.free)]
        """B (3k, q): rigid motions that the fixed nodes leave, orthonormal over the surface; q = 0 for a held body."""
        self.compliance = self._inverse() if compliance is None else compliance
        """C (3k, 3k), m/N times Pa; row 3 slot + axis."""

    @property
    def held(self) -> bool:
        """Whether the fixed nodes leave no rigid motion."""
        return self.modes.size == 0

    @property
    def stiffness(self) -> FloatArray:
        """S (3n, 3n) with contiguous rows: it is symmetric, so that one stored by columns is turned for nothing."""
        S = self.boundary.stiffness
        return S if S.flags.c_contiguous else S.T

    @cached_property
    def rows(self) -> IntArray:
        """Rows of the boundary stiffness that belong to free nodes, (3k,)."""
        return rows_of(self.free)

    @cached_property
    def answers(self) -> Answers:
        """The compliance as kernels take it."""
        return Answers.of(compliance=self.compliance, slot=self.slot)

    def _inverse(self) -> FloatArray:
        S = self.stiffness
        C = np.zeros((3 * len(self.free),) * 2)
        if not C.size:
            return C
        gather_lower(S, self.rows, C)
        if not self.held:
            shift = surface_moments(self.surface, self.modes, self.free)
            scale = np.trace(C) / float(np.einsum("ij,ij->", shift, shift))
            shift_lower(C, shift, scale)
        from scipy.linalg import lapack  # here, because it takes long to import and only zones need it

        # The lower triangle in rows is the upper one in columns, which is how LAPACK reads: nothing is copied.
        factor, info = lapack.dpotrf(C.T, lower=0, clean=0, overwrite_a=1)
        if info == 0:
            factor, info = lapack.dpotri(factor, lower=0, overwrite_c=1)
        if info != 0:
            raise InputError(_indefinite(self.surface, self.boundary))
        if not np.shares_memory(factor, C):
            C = np.ascontiguousarray(factor.T)
        mirror_lower(C)
        return C

    def displacements(self, forces: FloatArray) -> FloatArray:
        """Displacements C f (3k,) of the free rows under `forces` (3k,) at E = 1; what meets zeros is not read."""
        active = np.flatnonzero(forces)
        out = np.empty(len(forces))
        spread(self.compliance, active, forces[active], out)
        return out

    def displacements_at(self, rows: IntArray, forces: FloatArray) -> FloatArray:
        """Displacements C f at some free `rows` only."""
        active = np.flatnonzero(forces)
        out = np.empty(len(rows))
        if 2 * len(active) > len(forces):
            row_products(self.compliance, rows, forces, out)
            return out
        picked(self.compliance, rows, active, forces[active], out)
        return out


def rows_of(vertices: IntArray) -> IntArray:
    """Rows 3v, 3v+1, 3v+2 of each of `vertices`."""
    return np.asarray((3 * np.asarray(vertices, dtype=np.int64)[:, None] + np.arange(3)).ravel())


_motions: weakref.WeakKeyDictionary[Surface, FloatArray] = weakref.WeakKeyDictionary()


def rigid_motions(surface: Surface) -> FloatArray:
    """Three translations and three rotations about the surface's centre, (3n, 6), orthonormal over the surface.

    ∮ aᵀ b dA = δ_ab: of unit 1/m. Computed once for a surface.
    """
    motions = _motions.get(surface)
    if motions is None:
        motions = _motions[surface] = _rigid_motions(surface)
    return motions


def _rigid_motions(surface: Surface) -> FloatArray:
    weights = surface.vertex_areas
    # Neither the products here nor the factorisations below are shared out among threads of BLAS: same bits everywhere.
    x = surface.vertices - np.einsum("i,ij->j", weights, surface.vertices) / weights.sum()
    scale = np.sqrt(float(np.einsum("i,ij,ij->", weights, x, x)) / weights.sum())
    x = x / scale
    motions = np.zeros((len(x), 3, 6))
    for axis in range(3):
        motions[:, axis, axis] = 1.0
        motions[:, :, 3 + axis] = np.cross(np.eye(3)[axis], x)
    flat = motions.reshape(-1, 6)
    gram = np.einsum("ia,ib->ab", flat, surface_moments(surface, flat, np.arange(len(x), dtype=np.int64)))
    inverse = np.linalg.inv(np.linalg.cholesky(gram))
    result: FloatArray = np.ascontiguousarray(np.einsum("ia,ba->ib", flat, inverse))
    result.flags.writeable = False
    return result


def surface_moments(surface: Surface, fields: FloatArray, vertices: IntArray) -> FloatArray:
    """M b for `fields` b (3k, q) on some `vertices` (k,), zero elsewhere: their moments ∮ N_i b dA, at those vertices.

    The mass matrix of a triangle of area A is A/12 (1 + δ_ij).
    """
    count = len(surface.vertices)
    whole = np.zeros((count, 3 * fields.shape[1]))
    whole[vertices] = fields.reshape(len(vertices), -1)
    corners = whole[surface.faces]
    shares = (corners.sum(axis=1, keepdims=True) + corners) * (surface.areas / 12.0)[:, None, None]
    total = np.zeros_like(whole)
    for corner in range(3):
        np.add.at(total, surface.faces[:, corner], shares[:, corner])
    return np.ascontiguousarray(total[vertices].reshape(len(fields), -1))


def unheld_modes(surface: Surface, fixed: IntArray, rows: IntArray | None = None) -> FloatArray:
    """Rigid motions (3n, q) that vanish on `fixed` vertices and on further `rows`; q = 0 where those hold the body."""
    motions = rigid_motions(surface)
    held = rows_of(fixed) if rows is None else np.concatenate((rows_of(fixed), rows))
    if not len(held):
        return motions
    seen = np.zeros((max(len(held), 6), 6))
    seen[: len(held)] = motions[held] / np.abs(motions).max()
    while len(seen) > _ROWS:  # as many rows as turn into the same triangle, in pieces
        pieces = [np.linalg.qr(seen[k : k + _ROWS], mode="r") for k in range(0, len(seen), _ROWS)]
        seen = np.concatenate(pieces)
    _, shares, turns = np.linalg.svd(seen, full_matrices=False)
    left = np.einsum("ia,ba->ib", motions, turns[shares < _HELD])
    left[held] = 0.0
    return np.asarray(left)


def _indefinite(surface: Surface, boundary: BoundaryStiffness) -> str:
    """Why S_ff has no Cholesky factor, and what to do."""
    if boundary.source == "bem":
        return explain_indefinite(surface)
    return (
        "the stiffness of the tetrahedra is not positive: some are nearly flat, or the fixed vertices nearly on a line"
    )
