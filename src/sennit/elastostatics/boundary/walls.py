"""Whether a boundary stiffness is positive, and where the walls are too thin for it to be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sennit.elastostatics.kernels.boundary import wall_thickness
from sennit.elastostatics.surface import Surface
from sennit.validation import FloatArray

__all__ = ["direction_downhill", "explain_indefinite"]

_THIN = 0.75  # walls below this many edges are named
_NAMED = 6


def direction_downhill(stiffness: FloatArray, rigid: FloatArray) -> FloatArray | None:
    """A displacement (3n,) that would release energy; None if S is positive on all but the rigid motions (3n, 6).

    Cholesky's factor of S + s Q Qᵀ exists then (Q: the rigid motions, orthonormal; s: S's mean eigenvalue). In single
    precision first, at a sixteenth of what solving for the tractions costs: if it exists there, S has no eigenvalue
    below about −1e-6 of its largest.
    """
    Q = np.linalg.qr(rigid)[0]
    shift = float(np.trace(stiffness)) / len(stiffness)
    if _failing_minor(stiffness, Q, shift, np.float32) == 0:
        return None
    minor = _failing_minor(stiffness, Q, shift, np.float64)
    if minor == 0:
        return None
    # The first pivot that is not positive is xᵀ A x for this x, so the body's own energy is not positive there.
    whole = stiffness[:minor, :minor] + shift * (Q[:minor] @ Q[:minor].T)
    direction = np.zeros(len(stiffness))
    direction[minor - 1] = 1.0
    if minor > 1:
        import scipy.linalg  # here, because it takes long to import and only zones need it

        direction[: minor - 1] = -scipy.linalg.solve(whole[:-1, :-1], whole[:-1, -1], assume_a="pos")
    return direction


def _failing_minor(stiffness: FloatArray, Q: FloatArray, shift: float, precision: type) -> int:
    """Order of the first leading minor of S + shift Q Qᵀ that is not positive; 0 if there is none."""
    from scipy.linalg import blas, lapack

    copy: NDArray[np.floating] = np.array(stiffness, dtype=precision, order="F")
    some: NDArray[np.floating] = np.asfortranarray(Q, dtype=precision)
    add, factorise = (blas.ssyrk, lapack.spotrf) if precision is np.float32 else (blas.dsyrk, lapack.dpotrf)
    add(shift, some, beta=1.0, c=copy, lower=True, overwrite_c=True)
    _, info = factorise(copy, lower=True, clean=False, overwrite_a=True)
    return int(info)


def explain_indefinite(
    surface: Surface, direction: FloatArray | None = None, poisson_ratio: float | None = None
) -> str:
    """Why a boundary stiffness of `surface` is not positive, where, and what to do.

    `direction` (3n,), a displacement that would release energy, if one is known: it is largest where the trouble is.
    """
    thickness = np.full(len(surface.faces), np.inf)
    wall_thickness(surface.vertices, surface.faces, surface.normals, thickness)
    sides = surface.vertices[np.roll(surface.faces, -1, axis=1)] - surface.vertices[surface.faces]
    ratio = thickness / np.linalg.norm(sides, axis=2).max(axis=1)
    at_vertex = np.full(len(surface.vertices), np.inf)
    np.minimum.at(at_vertex, surface.faces.ravel(), np.repeat(ratio, 3))
    if direction is not None:
        size = np.linalg.norm(direction.reshape(-1, 3), axis=1)
        worst = np.argsort(-size, kind="stable")
        worst = worst[size[worst] > 0.3 * size.max()]
    else:
        worst = np.argsort(at_vertex, kind="stable")
        worst = worst[at_vertex[worst] < _THIN]
    where = ""
    if len(worst):
        named = ", ".join(str(k) for k in worst[:_NAMED].tolist()) + (" ..." if len(worst) > _NAMED else "")
        where = f" near vertices {named}"
        thinnest = float(at_vertex[worst].min())
        if thinnest < 2.0 * _THIN:
            where += f", where the wall is {thinnest:.2g} times as thick as its triangles are long"
    if poisson_ratio is not None and not at_vertex.min() < 2.0 * _THIN:
        return (
            f"boundary elements give a stiffness that is not positive for poisson_ratio={poisson_ratio:g} on the "
            f"triangles along sharp edges of this mesh{where}; use triangles of other shapes or sizes there, a smaller "
            'ratio (0.45 answers to a push much like 0.49), or method="fem"'
        )
    return (
        f"the walls are too thin for the mesh: its boundary elements give a stiffness that is not positive{where}; use "
        'triangles no longer than the wall is thick there, or method="fem"'
    )
