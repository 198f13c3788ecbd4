"""First guesses of a strand's rotations when there is no nearby state to start from.

A strand held at two places by poses starts as the geodesic between the two rotations, at rest otherwise as its rest
shape. A straight guess between two fixed positions would make the tangent singular, since no first-order turn changes
the distance of the ends; so a bow is added where the guess would be straight.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sennit.cosserat.kernels.sweep import rotation_sweep
from sennit.cosserat.mesh import nodes_of
from sennit.cosserat.model import Conditions
from sennit.cosserat.problem import Problem
from sennit.geometry.rotations import (
    quaternion_conjugate,
    quaternion_product,
    quaternion_rotate,
    rotation_between,
    rotation_exp,
    rotation_log,
    slerp,
)  # fmt: skip
from sennit.validation import FloatArray

__all__ = ["cold_guesses", "interpolated", "multi_start_guesses"]

_AMPLITUDES = np.linspace(0.0, 2.404825557695773, 60)  # up to the first zero of J₀
_HALF_TURN = (np.arange(64) + 0.5) * np.pi / 64
# J₀(A) = (1/π) ∫ cos(A sin t) dt over half a turn; a guess needs no more digits than this table's
_J0_OF_AMPLITUDE = np.column_stack((_AMPLITUDES, np.cos(np.outer(_AMPLITUDES, np.sin(_HALF_TURN))).mean(axis=1)))


def rest_rotations(problem: Problem) -> FloatArray:
    """Rotations (nodes, 4) of the rest shape, the first node unturned: Magnus steps of order 4 over the elements."""
    q = np.zeros((len(problem.s), 4))
    q[:, 0] = 1.0
    if problem.rest_u.any():
        rotation_sweep(problem.own_intervals(), q)
    return q


def interpolated(s_old: FloatArray, q_old: FloatArray, s_new: FloatArray) -> FloatArray:
    """Rotations at other nodes, by geodesics between the old ones."""
    i = np.clip(np.searchsorted(s_old, s_new, side="right") - 1, 0, len(s_old) - 2)
    t = (s_new - s_old[i]) / (s_old[i + 1] - s_old[i])
    return slerp(q_old[i], q_old[i + 1], t)


def _spread(s: FloatArray, q: FloatArray, wanted: FloatArray) -> FloatArray:
    """Turn a piece of the strand gradually (body frame), so that its last rotation becomes `wanted`."""
    rest = rotation_log(quaternion_product(quaternion_conjugate(q[-1]), wanted))
    t = (s - s[0]) / (s[-1] - s[0])
    return quaternion_product(q, rotation_exp(t[:, None] * rest))


def _geodesic(s: FloatArray, first: FloatArray, wanted: FloatArray, turns: float = 0.0) -> FloatArray:
    t = (s - s[0]) / (s[-1] - s[0])
    q = slerp(np.broadcast_to(first, (len(s), 4)), np.broadcast_to(wanted, (len(s), 4)), t)
    if turns:
        twist = np.zeros((len(s), 3))
        twist[:, 2] = 2.0 * np.pi * turns * t
        q = quaternion_product(q, rotation_exp(twist))
    return q


def _bow(s: FloatArray, q: FloatArray, distance: float, azimuth: float) -> FloatArray:
    """Add A sin 2πt about a transverse axis: a straight piece then spans J₀(A) of its length."""
    t = (s - s[0]) / (s[-1] - s[0])
    ratio = min(max(distance / (s[-1] - s[0]), 0.0), 0.999)
    amplitude = float(np.interp(-ratio, -_J0_OF_AMPLITUDE[:, 1], _J0_OF_AMPLITUDE[:, 0]))
    axis = np.array((np.cos(azimuth), np.sin(azimuth), 0.0))
    return quaternion_product(q, rotation_exp(amplitude * np.sin(2.0 * np.pi * t)[:, None] * axis))


def _piecewise(conditions: Conditions, rest: FloatArray | None, azimuth: float, bow: bool, turns: float) -> FloatArray:
    """One guess: between holds geodesics (or the rest shape, bent to fit), bowed where straight or where asked."""
    problem = conditions.problem
    s = nodes_of(problem.ends, problem.stride)
    shape = rest_rotations(problem) if rest is None else rest
    use_rest = rest is not None
    held = conditions.held
    at = [int(np.argmin(np.abs(s - item.s))) for item in held]
    # rotations at the holds: those given, otherwise along the chord to the next (or from the previous) hold
    turns_at: list[FloatArray] = []
    for k, item in enumerate(held):
        if item.quaternion is not None:
            turns_at.append(item.quaternion)
            continue
        other = held[k + 1] if k + 1 < len(held) else held[k - 1]
        chord = other.position - item.position if k + 1 < len(held) else item.position - other.position
        before = turns_at[-1] if turns_at else np.array((1.0, 0.0, 0.0, 0.0))
        length = float(np.linalg.norm(chord))
        if len(held) == 1 or length < 1e-9:
            turns_at.append(before)
            continue
        d3 = quaternion_rotate(before, np.array((0.0, 0.0, 1.0)))
        turns_at.append(quaternion_product(rotation_between(d3, chord / length), before))
    q = shape.copy()
    first, last = at[0], at[-1]
    # free ends keep their rest shape
    back = quaternion_product(turns_at[0], quaternion_conjugate(shape[first]))
    q[: first + 1] = quaternion_product(back, shape[: first + 1])
    for k in range(len(held) - 1):
        a, b = at[k], at[k + 1]
        if use_rest:
            moved = quaternion_product(
                quaternion_product(turns_at[k], quaternion_conjugate(shape[a])), shape[a : b + 1]
            )
            piece = _spread(s[a : b + 1], moved, turns_at[k + 1])
        else:
            piece = _geodesic(s[a : b + 1], turns_at[k], turns_at[k + 1], turns)
        distance = float(np.linalg.norm(held[k + 1].position - held[k].position))
        tangents = quaternion_rotate(piece, np.array((0.0, 0.0, 1.0)))
        straight = float(np.min(tangents @ tangents[0])) > 0.98
        if bow or straight:
            piece = _bow(s[a : b + 1], piece, distance, azimuth)
        piece[0], piece[-1] = turns_at[k], turns_at[k + 1]
        q[a : b + 1] = piece
    ahead = quaternion_product(turns_at[-1], quaternion_conjugate(shape[last]))
    q[last:] = quaternion_product(ahead, shape[last:])
    return q


def cold_guesses(conditions: Conditions) -> Iterator[FloatArray]:
    """Guesses (nodes, 4) to try one after the other, the most promising first."""
    problem = conditions.problem
    shape = rest_rotations(problem)
    curled = float(np.sum(np.linalg.norm(problem.rest_u[:, 1], axis=1) * problem.h)) > np.pi
    if len(conditions.held) == 1 or curled:
        yield _piecewise(conditions, shape, 0.3, False, 0.0)
    if len(conditions.held) > 1:
        yield _piecewise(conditions, None, 0.3, False, 0.0)
        if not curled:
            yield _piecewise(conditions, shape, 0.3, False, 0.0)
        for k in range(4):
            yield _piecewise(conditions, None, 0.3 + 0.5 * np.pi * k, True, 0.0)


def multi_start_guesses(conditions: Conditions) -> Iterator[FloatArray]:
    """The plain guesses, then bows in five directions with −1, 0 and 1 turns of twist (arcs, if one point holds it)."""
    yield from list(cold_guesses(conditions))[:2]
    if len(conditions.held) == 1:
        shape, s = next(cold_guesses(conditions)), conditions.problem.s
        along = (s - conditions.held[0].s)[:, None]
        for angle in (1.5, 3.0):
            for k in range(4):
                azimuth = 0.3 + 0.5 * np.pi * k
                axis = np.array((np.cos(azimuth), np.sin(azimuth), 0.0))
                yield quaternion_product(shape, rotation_exp(angle * along * axis))
    else:
        for turns in (0.0, 1.0, -1.0):
            for k in range(5):
                yield _piecewise(conditions, None, 0.3 + 0.4 * np.pi * k, True, turns)
