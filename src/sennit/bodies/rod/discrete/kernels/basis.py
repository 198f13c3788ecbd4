"""Interpolation along a discrete rod, and the vectors of its edges."""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel


@kernel
def discrete_basis(u, n, out):
    """Write N, N′, N″ and NR at u into out (16,), and return the first of the four nodes that they belong to.

    Position Σ Nᵢ Pᵢ is linear along edges. Σ N′ᵢ Pᵢ and the roll Σ NRᵢ φᵢ are linear between the middles of the edges,
    where tangent and roll of a discrete rod live, and go on to the rod's ends: continuous and of second order at every
    u, (−3/2, 2, −1/2, 0) and (3/2, −1/2, 0, 0) at u = 0. N″ is the derivative of N′. Open rods of n ≥ 4 nodes;
    0 ≤ first ≤ n − 4. Beyond the ends the end edges go on.
    """
    e = min(max(math.floor(u), 0), n - 2)
    c = min(max(math.floor(u + 0.5), 1), n - 2)  # the node between the middles of edges c − 1 and c
    first = min(max(min(e, c - 1), 0), n - 4)
    for i in range(16):
        out[i] = 0.0
    x = u - e
    out[e - first] = 1.0 - x
    out[e - first + 1] = x
    y = u - c + 0.5  # 0 at the middle of edge c − 1, 1 at that of edge c
    at = 4 + c - 1 - first
    out[at] = y - 1.0
    out[at + 1] = 1.0 - 2.0 * y
    out[at + 2] = y
    out[at + 4] = 1.0
    out[at + 5] = -2.0
    out[at + 6] = 1.0
    out[at + 8] = 1.0 - y
    out[at + 9] = y
    return first


@kernel
def discrete_basis_rows(u, n, first, out):
    """`discrete_basis` for every entry of u (k,), into out (k, 16), the first nodes into first (k,) int64."""
    for row in range(u.shape[0]):
        first[row] = discrete_basis(u[row], n, out[row])


@inlined
def edge_of(q, at):
    """The vector of the edge from the node whose first degree of freedom is `at` to the next."""
    return q[at + 4] - q[at], q[at + 5] - q[at + 1], q[at + 6] - q[at + 2]
