"""Where rods of hair begin: their roots, and their numbers when they are straight and at rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.rod.table import RodTables
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.hair.kernels.strand import FRAME, OWN, PULL
from sennit.hair.tables import size_of
from sennit.validation import FloatArray

__all__ = ["frames_at", "per_rod", "start_state"]


def per_rod(name: str, given: ArrayLike, rods: int, shape: tuple[int, ...]) -> FloatArray:
    """An array with a row of `shape` for each rod, from one, or from one row for all."""
    found = np.shape(given)
    if found not in (shape, (rods, *shape)):
        wanted = " or ".join(str(s) for s in ((rods, *shape), shape))
        raise InputError(f"{name} must be an array of shape {wanted}, got one of shape {found}")
    if found == ():
        return np.full(rods, validation.number(name, given))
    array = validation.array(name, given, found)
    return np.array(np.broadcast_to(array, (rods, *shape)))


def frames_at(ways: FloatArray) -> FloatArray:
    """Rotations (rods, 3, 3) with d3 along `ways`, (rods, 3), and d2 as near to z as these allow."""
    d3 = ways / np.linalg.norm(ways, axis=1, keepdims=True)
    d1 = np.cross((0.0, 0.0, 1.0), d3)
    upright = np.linalg.norm(d1, axis=1) < 1e-9
    d1[upright] = np.cross((1.0, 0.0, 0.0), d3[upright])
    d1 /= np.linalg.norm(d1, axis=1, keepdims=True)
    return np.stack((d1, np.cross(d3, d1), d3), axis=2)


def start_state(
    tables: RodTables, roots: FloatArray, frames: FloatArray, factors: FloatArray, rest: FloatArray, pose: Pose
) -> FloatArray:
    """Numbers of rods that are straight and at rest, (rods, size): see `kernels.strand`.

    `tables`: of a rod along z from the origin. Its frames are turned as a whole, so that there is no roll but that of
    the section at the root.
    """
    n, bend = tables.n, tables.bend
    bends, stretches = len(tables.bend_u), len(tables.stretch_u)
    rods = len(roots)
    state = np.zeros((rods, size_of(n)[0]))
    turned = pose.rotation @ frames
    places = np.einsum("rij,nj->rni", turned, tables.rest[:, :3]) + (roots @ pose.rotation.T + pose.position)[:, None]
    points = np.zeros((rods, n, 4))
    points[:, :, :3] = places
    state[:, : 4 * n] = points.reshape(rods, -1)
    rows = np.zeros((rods, bends, FRAME))
    rows[:, :, :3], rows[:, :, 3:6] = turned[:, None, :, 2], turned[:, None, :, 0]
    at = 8 * n
    state[:, at : at + FRAME * bends] = rows.reshape(rods, -1)
    own = at + FRAME * bends + PULL * stretches + bends + 1
    assert own + OWN == state.shape[1] and not bend.twist.any()
    state[:, own] = factors
    state[:, own + 1 : own + 4] = rest
    state[:, own + 4 : own + 7] = roots
    state[:, own + 7 : own + 10], state[:, own + 10 : own + 13] = frames[:, :, 2], frames[:, :, 0]
    return state
