"""The linking number of two closed curves: how often one goes through the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["gauss_linking", "linking_number"]


def gauss_linking(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Of two closed polygons, (n, 3) and (m, 3): a whole number, to rounding.

    Gauss's double integral, of each pair of edges in closed form: the solid angle under which one sees the other
    (Klenin and Langowski, Biopolymers 54, 2000, method 1a).
    """
    a, b, c, d = first[:, None], np.roll(first, -1, 0)[:, None], second[None], np.roll(second, -1, 0)[None]
    ac, ad, bc, bd = c - a, d - a, c - b, d - b
    normals = [_unit(np.cross(*pair)) for pair in ((ac, ad), (ad, bd), (bd, bc), (bc, ac))]
    corners = [np.arcsin(np.clip((normals[k - 1] * normals[k]).sum(-1), -1.0, 1.0)) for k in range(4)]
    sign = np.sign((np.cross(d - c, b - a) * ac).sum(-1))
    return float((sign * sum(corners)).sum() / (4.0 * np.pi))


def linking_number(first: Any, second: Any, count: int = 120) -> float:
    """The same of two closed rods."""
    return gauss_linking(first.centerline(count + 1)[:-1], second.centerline(count + 1)[:-1])


def _unit(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-300)
