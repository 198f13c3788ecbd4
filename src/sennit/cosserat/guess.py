"""First guesses of a strand's rotations when there is no nearby state to start from.

A strand held at two places by poses starts as the geodesic between the two rotations, at rest otherwise as its rest
shape. A straight guess between two fixed positions would make the tangent singular, since no first-order turn changes
the distance of the ends; so a bow is added where the guess would be straight.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sennit.cosserat.kernels.guess import join_pieces
from sennit.cosserat.kernels.sweep import rotation_sweep
from sennit.cosserat.model import Conditions
from sennit.cosserat.problem import Problem
from sennit.geometry.rotations import quaternion_product, quaternion_rotate, rotation_between, rotation_exp, slerp
from sennit.validation import FloatArray

__all__ = ["cold_guesses", "interpolated", "multi_start_guesses"]

_AMPLITUDES = np.linspace(0.0, 2.404825557695773, 60)  # up to the first zero of J₀
_HALF_TURN = (np.arange(64) + 0.5) * np.pi / 64
# J₀(A) = (1/π) ∫ cos(A sin t) dt over half a turn; a guess needs no more digits than this table's
_J0_OF_AMPLITUDE = np.column_stack((_AMPLITUDES, np.cos(np.outer(_AMPLITUDES, np.sin(_HALF_TURN))).mean(axis=1)))


def rest_rotations(problem: Problem) -> FloatArray:
    """Rotations (nodes, 4) of the rest shape, the first node unturned: Magnus steps of order 4 over the elements.

    They are found once for a problem; leave them as they are.
    """
    if problem.rest_shape is None:
        q = np.zeros((len(problem.s), 4))
        q[:, 0] = 1.0
        if problem.rest_u.any():
            rotation_sweep(problem.own_intervals(), q)
        problem.rest_shape = q
    return problem.rest_shape


def interpolated(s_old: FloatArray, q_old: FloatArray, s_new: FloatArray) -> FloatArray:
    """Rotations at other nodes, by geodesics between the old ones."""
    i = np.clip(np.searchsorted(s_old, s_new, side="right") - 1, 0, len(s_old) - 2)
    t = (s_new - s_old[i]) / (s_old[i + 1] - s_old[i])
    return slerp(q_old[i], q_old[i + 1], t)


def _piecewise(conditions: Conditions, rest: bool, azimuth: float, bow: bool, turns: float) -> FloatArray:
    """One guess: between holds geodesics (or the `rest` shape, bent to fit), bowed where straight or where asked."""
    problem, held = conditions.problem, conditions.held
    # rotations at the holds: those given, otherwise along the chord to the next (or from the previous) hold
    given, positions = np.empty((len(held), 4)), np.empty((len(held), 3))
    for k, item in enumerate(held):
        positions[k] = item.position
        if item.quaternion is not None:
            given[k] = item.quaternion
            continue
        before = given[k - 1] if k > 0 else np.array((1.0, 0.0, 0.0, 0.0))
        other = held[k + 1] if k + 1 < len(held) else held[k - 1]
        chord = other.position - item.position if k + 1 < len(held) else item.position - other.position
        length = float(np.linalg.norm(chord))
        if len(held) == 1 or length < 1e-9:
            given[k] = before
            continue
        d3 = quaternion_rotate(before, np.array((0.0, 0.0, 1.0)))
        given[k] = quaternion_product(rotation_between(d3, chord / length), before)
    q = np.empty((len(problem.s), 4))
    join_pieces(
        problem.s, problem.held_nodes, given, positions, rest_rotations(problem), int(rest), azimuth, int(bow),
        float(turns), _J0_OF_AMPLITUDE, q,
    )  # fmt: skip
    return q


def cold_guesses(conditions: Conditions) -> Iterator[FloatArray]:
    """Guesses (nodes, 4) to try one after the other, the most promising first."""
    curled = conditions.problem.curled
    if len(conditions.held) == 1 or curled:
        yield _piecewise(conditions, True, 0.3, False, 0.0)
    if len(conditions.held) > 1:
        yield _piecewise(conditions, False, 0.3, False, 0.0)
        if not curled:
            yield _piecewise(conditions, True, 0.3, False, 0.0)
        for k in range(4):
            yield _piecewise(conditions, False, 0.3 + 0.5 * np.pi * k, True, 0.0)


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
                yield _piecewise(conditions, False, 0.3 + 0.4 * np.pi * k, True, turns)
