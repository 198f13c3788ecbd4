"""A zone as its seams feel it: condensed stiffness, prolongation to the surface, and nodes that are held besides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from sennit.elastostatics.chain.kernels import solve as kernels
from sennit.elastostatics.greens import GreensFunctions, rows_of
from sennit.elastostatics.kernels.compliance import place_free
from sennit.elastostatics.surface import IntArray
from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["CondensedZone", "HeldNodes", "Side", "by_component", "padded"]

_LANES = 8
"""Columns of prolongations come in multiples of it: the width of vector instructions for floats."""


def padded(nodes: int) -> int:
    """Nodes of a seam with those that do nothing, a multiple of 4."""
    return -(-nodes // 4) * 4


def by_component(vectors: FloatArray, nodes: int) -> FloatArray:
    """Vectors (m, 3) as all x, all y, all z, each padded with zeros to `nodes`: (3 nodes,)."""
    out = np.zeros((3, nodes))
    out[:, : len(vectors)] = vectors.T
    return out.ravel()


@dataclass(frozen=True, eq=False)
class Side:
    """A seam as one of its two zones sees it."""

    vertices: IntArray
    """The zone's vertices on the seam, (k,)."""
    rest: FloatArray
    """The seam's nodes in the zone's frame, undeformed, (m, 3), m."""
    weights: FloatArray | None = None
    """How the vertices follow the seam's nodes, u_i = Σ_j W_ij v_j, (k, m); None where they are the seam's nodes."""


class HeldNodes:
    """Nodes of a zone that are held at given displacements besides its fixed ones, while its seams move.

    With D their rows and C⁰ the compliance of the zone with seams held still, their forces at seam displacements v and
    forces f elsewhere are λ = G⁻¹ (ū − (C⁰ f)_D − P_D v), G = C⁰_DD. The seams then feel K + P_Dᵀ G⁻¹ P_D.
    """

    def __init__(self, zone: CondensedZone, rows: IntArray) -> None:
        self.rows = rows
        """Rows of the zone's compliance that are held, (d,)."""
        self.P = zone.prolongation_rows(rows)
        G = zone.held_compliance(rows)
        self._factor, info = lapack.dpotrf(0.5 * (G + G.T), lower=1)
        if info != 0:
            raise InputError(
                "displacements hold nodes whose movements depend on each other's: they lie too close to a seam"
            )
        self.GP = self.solve(self.P)
        """G⁻¹ P_D (d, size)."""
        self.stiffness = zone.stiffness + self.P.T @ self.GP

    def solve(self, values: FloatArray) -> FloatArray:
        """G⁻¹ x for x (d,) or (d, q)."""
        out, _ = lapack.dpotrs(self._factor, values, lower=1)
        return np.asarray(out)


class CondensedZone:
    """What a zone of Young's modulus 1 Pa answers at its seams, from its compliance C alone.

    With I the rows of its vertices on seams, K = (C_II)⁻¹ and P = C_:I K, forces f and seam displacements u_I give

        u = C f + P (u_I − (C f)_I),    seam forces = K u_I − Pᵀ f.

    Vectors of the zone's seams are in the order of its sides, each by component and padded.

    Arguments: `greens`, the zone's Green's functions; `sides`, its seams.
    """

    def __init__(self, greens: GreensFunctions, sides: list[Side]) -> None:
        self.greens = greens
        self.sides = sides
        self.nodes = [padded(len(side.rest)) for side in sides]
        self.places = np.concatenate(([0], np.cumsum([3 * m for m in self.nodes]))).astype(np.int64)
        """Where each side begins in vectors of the zone's seams; the last entry is their `size`."""
        self.size = int(self.places[-1])
        vertices = np.concatenate([side.vertices for side in sides]) if sides else np.zeros(0, np.int64)
        self.interface = rows_of(greens.slot[vertices])
        """Rows of the vertices on seams in the compliance, node by node, (3k,)."""
        C = greens.compliance
        inverse = _inverse(C[np.ix_(self.interface, self.interface)])
        raw = C[:, self.interface] @ inverse
        self._place = np.full(len(C), -1, dtype=np.int64)
        inner = np.setdiff1d(np.arange(len(C)), self.interface)
        self._place[inner] = np.arange(len(inner))
        self.rows = inner
        """Rows of the compliance that are on no seam."""
        self._columns = self._raw_columns()
        self._inner, self._on_seam = greens.rows[inner], greens.rows[self.interface]
        width = -(-int(sum(3 * padded(len(side.vertices)) for side in sides)) // _LANES) * _LANES
        self.P = np.zeros((-(-len(inner) // 4) * 4, width))
        """Prolongation from the vertices on seams, by component, (rows padded to 4, columns padded to 8)."""
        self.P[: len(inner), self._columns] = raw[inner]
        self._P32: np.ndarray[tuple[int, int], np.dtype[np.float32]] | None = None
        self._spread = self._seam_to_vertices() if any(side.weights is not None for side in sides) else None
        K = np.zeros((width, width))
        K[np.ix_(self._columns, self._columns)] = 0.5 * (inverse + inverse.T)
        if self._spread is None:
            self._stiffness = self.stiffness = np.ascontiguousarray(K[: self.size, : self.size])
            """K (size, size), N/m per Pa, on the seams' nodes."""
        else:
            self._stiffness = K
            turned = self._spread.T @ K @ self._spread
            self.stiffness = 0.5 * (turned + turned.T)

    @property
    def P32(self) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        """The prolongation in single precision, made when it is first asked for."""
        if self._P32 is None:
            self._P32 = self.P.astype(np.float32)
        return self._P32

    def _raw_columns(self) -> IntArray:
        """Column of the prolongation of each interface row."""
        columns, begin = [np.zeros(0, np.int64)], 0
        for side in self.sides:
            count = len(side.vertices)
            m = padded(count)
            columns.append((begin + np.arange(count)[:, None] + m * np.arange(3)).ravel())
            begin += 3 * m
        return np.concatenate(columns)

    def _seam_to_vertices(self) -> FloatArray:
        """W with the seams' vertices' displacements (columns of the prolongation) = W (seam displacements)."""
        W = np.zeros((self.P.shape[1], self.size))
        begin = 0
        for side, at, m in zip(self.sides, self.places, self.nodes, strict=False):
            count = len(side.vertices)
            weights = np.eye(count) if side.weights is None else side.weights
            for axis in range(3):
                row = begin + axis * padded(count)
                column = at + axis * m
                W[row : row + count, column : column + len(side.rest)] = weights
            begin += 3 * padded(count)
        return W

    def vertex_displacements(self, v: FloatArray) -> FloatArray:
        """Displacements of the vertices on seams, in columns of the prolongation, from the seams' nodes'."""
        if self._spread is not None:
            return np.asarray(self._spread @ v)
        if len(v) == self.P.shape[1]:
            return v
        out = np.zeros(self.P.shape[1])
        out[: self.size] = v
        return out

    def to_columns(self, values: FloatArray) -> FloatArray:
        """`values` (…, 3k) of the rows `interface` as columns of the prolongation, padding zero."""
        out = np.zeros((*values.shape[:-1], self.P.shape[1]))
        out[..., self._columns] = values
        return out

    def raw_rows(self, rows: IntArray) -> FloatArray:
        """Prolongation rows from the vertices on seams, (d, columns); rows on a seam itself are unit vectors."""
        place = self._place[rows]
        out = self.P[np.maximum(place, 0)].copy()
        on = np.flatnonzero(place < 0)
        if len(on):
            out[on] = 0.0
            order = np.argsort(self.interface)
            found = order[np.searchsorted(self.interface[order], rows[on])]
            out[on, self._columns[found]] = 1.0
        return out

    def compliance_rows(self, rows: IntArray) -> FloatArray:
        """C of some rows against the vertices on seams, in columns of the prolongation: (d, columns)."""
        return self.to_columns(self.greens.compliance[np.ix_(rows, self.interface)])

    def prolongation_rows(self, rows: IntArray) -> FloatArray:
        """P of some rows from the seams' nodes, (d, size)."""
        raw = self.raw_rows(rows)
        return np.ascontiguousarray(raw[:, : self.size]) if self._spread is None else np.asarray(raw @ self._spread)

    def _vertex_forces(self, forces: FloatArray) -> FloatArray:
        """Pᵀ f on the vertices on seams, in columns of the prolongation."""
        raw = self.to_columns(forces[self.interface])
        inner = forces[self.rows]
        active = np.flatnonzero(inner)
        if 4 * len(active) > len(inner):
            raw += inner @ self.P[: len(inner)]
        elif len(active):
            raw += inner[active] @ self.P[active]
        return raw

    def to_nodes(self, columns: FloatArray) -> FloatArray:
        """Forces on the vertices on seams, in columns of the prolongation, as forces on the seams' nodes, (size,)."""
        return columns[..., : self.size] if self._spread is None else np.asarray(columns @ self._spread)

    def to_interface(self, columns: FloatArray) -> FloatArray:
        """Columns of the prolongation that belong to the rows `interface`: (3k,)."""
        return np.asarray(columns[self._columns])

    def seam_forces(self, forces: FloatArray) -> FloatArray:
        """Pᵀ f on the seams' nodes, (size,), for `forces` f (3k,) on the rows of the compliance."""
        return self.to_nodes(self._vertex_forces(forces))

    def reactions(self, forces: FloatArray | None, v: FloatArray) -> FloatArray:
        """What the seams apply to their vertices, K u_I − Pᵀ f, in columns of the prolongation, N per Pa."""
        moved = self.vertex_displacements(v)
        out = np.zeros(self.P.shape[1])
        K = self._stiffness
        out[: len(K)] = K @ moved[: len(K)]
        return out if forces is None else out - self._vertex_forces(forces)

    def surface(self, forces: FloatArray | None, v: FloatArray, single: bool = False) -> FloatArray:
        """Displacements u = C f + P (u_I − (C f)_I) of all vertices, (n, 3), for forces f and seams displaced by `v`.

        `forces` (3k,) may be None. `single` takes the prolongation in single precision: half the time, and about seven
        digits.
        """
        moved = left = self.vertex_displacements(v)
        u = np.zeros((len(self.greens.slot), 3))
        if forces is not None:
            answer = self.greens.displacements(forces)
            place_free(self.greens.free, answer, u)
            left = moved - self.to_columns(answer[self.interface])
        P = self.P32 if single else self.P
        kernels.surface(P, self._inner, left.astype(P.dtype, copy=False), moved, self._columns, self._on_seam, u)
        return u

    def held_compliance(self, rows: IntArray) -> FloatArray:
        """C⁰ of some rows among each other, (d, d): the seams held still."""
        C = self.greens.compliance
        return np.asarray(C[np.ix_(rows, rows)] - self.raw_rows(rows) @ self.compliance_rows(rows).T)

    def patch(self, rows: IntArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean compliance (3, 3) of a patch with its seams held still, and the seams' influence on it, (size, 3).

        `rows` (3k,) are those of its vertices, `weights` (k,) theirs: C⁰_p = Σ w_i w_j C⁰_ij.
        """
        k = len(weights)
        raw = np.tensordot(weights, self.raw_rows(rows).reshape(k, 3, -1), axes=1)
        C = self.greens.compliance
        across = np.tensordot(weights, C[np.ix_(rows, self.interface)].reshape(k, 3, -1), axes=1)
        own = np.einsum("i,iajb,j->ab", weights, C[np.ix_(rows, rows)].reshape(k, 3, k, 3), weights)
        return own - raw @ self.to_columns(across).T, np.ascontiguousarray(self.to_nodes(raw).T)


def _inverse(block: FloatArray) -> FloatArray:
    """Inverse of a symmetric positive block of a compliance."""
    if not len(block):
        return np.zeros((0, 0))
    factor, info = lapack.dpotrf(block, lower=1)
    if info == 0:
        factor, info = lapack.dpotri(factor, lower=1)
    if info != 0:
        raise InputError(
            "the seams' vertices have no positive compliance: their zone's mesh is too coarse for its walls"
        )
    lower = np.tril(factor)
    return np.asarray(lower + np.tril(lower, -1).T)
