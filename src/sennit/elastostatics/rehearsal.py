"""Calls every kernel of a zone once, so that they are compiled together behind a progress line."""

from __future__ import annotations

import numpy as np

from sennit.elastostatics.capacitance import Capacitance
from sennit.elastostatics.greens import GreensFunctions
from sennit.elastostatics.kernels.compliance import place_free, row_products
from sennit.elastostatics.patch import patch_weights, places_of
from sennit.elastostatics.stiffness import BoundaryStiffness
from sennit.elastostatics.surface import Surface

__all__ = ["COMPILATION"]


def _greens() -> GreensFunctions:
    """Of a tetrahedron with a stiffness that is made up: of one vertex held, and of three."""
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    surface = Surface(corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    boundary = BoundaryStiffness(np.eye(12), np.zeros((12, 12)), surface.faces, "bem")
    GreensFunctions(surface, boundary, np.array([0]))
    return GreensFunctions(surface, boundary, np.array([0, 1, 2]))


def _products() -> None:
    greens = _greens()
    one, all_ = np.array([1.0, 0.0, 0.0]), np.ones(3)
    greens.displacements(one)
    for forces in (one, all_):
        greens.displacements_at(np.array([0]), forces)
    place_free(greens.free, all_, np.empty((4, 3)))
    row_products(greens.stiffness, np.array([0]), np.ones(12), np.empty(1))


def _capacitance() -> None:
    capacitance = Capacitance(np.eye(30))
    for rows in (30, 29, 30):  # made anew, one leaves, one enters
        capacitance.hold(np.arange(rows))
    capacitance.solve(np.ones(30))


def _touch() -> None:
    greens = _greens()
    place = np.array([0.0, 0.0, 1.0])
    patch_weights(greens.surface, place, 2.0)
    places_of(greens.surface).touch(greens, 1.0, place, 2.0, np.array([0.0, 0.0, 1e-3]), True)


COMPILATION = (_products, _capacitance, _touch)
"""Steps for `compile_once`."""
