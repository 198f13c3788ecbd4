"""Strands pulled nearly straight: how thin the bends at their holds are, meshes that see them, and first guesses.

A stretch of length S between two holds a distance S − ε apart is straight but for a bend at each hold whose cross-
section is tilted by an angle α from the chord. Under the tension T that bend is, with ℓ = √(B/T) and x from the hold,

    tan(θ/4) = tan(α/4) exp(−x/ℓ),

and takes up 2ℓ (1 − cos α/2) of the slack ε; a weight w across the chord takes up w²S³/24T². The sum gives T and ℓ.

In a mesh the hold's own direction has the weight h/6 in the span of its element, h long (Simpson's rule): however hard
it is pulled, h/6 (1 − cos α) is lost there. A uniform mesh that would lose more than the slack has no equilibrium, and
its nodes are gathered at the holds instead. Units are those of the kernels: L, and B/L² for forces.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sennit.cosserat.model import Conditions, Held
from sennit.geometry.rotations import (
    quaternion_conjugate,
    quaternion_product,
    quaternion_rotate,
    rotation_between,
    rotation_exp,
    rotation_log,
)
from sennit.validation import FloatArray

__all__ = ["Stretch", "gathered_density", "lost_on_mesh", "rounded_layer", "taut_guess", "taut_stretch"]

_LAYER = 0.1  # of a stretch: thinner bends are guessed by the formula above
_STRAIGHT = 0.98  # of its length: a stretch whose ends are nearer, and that is loaded, hangs like a string
_THINNEST = 1e-9  # of the length: no bend is taken for thinner, whatever the slack
_AXIAL = np.array((0.0, 0.0, 1.0))
_LEVEL = 4.0  # layers are rounded to powers of it, so that a dragged strand keeps its mesh for a while


class Stretch(NamedTuple):
    """A stretch between two holds that is pulled nearly straight."""

    first: int
    """Which of the holds it begins at."""
    tilts: tuple[float, float]
    """Angles of the cross-sections at its ends from the chord, rad."""
    layer: float
    """Length ℓ of the bends at its ends."""


def _tilts(held: Sequence[Held], k: int) -> tuple[float, float]:
    """Tilts at both ends of the stretch from hold k to the next. A point between two stretches halves their angle."""
    chord = (held[k + 1].position - held[k].position).tolist()

    def tilt(hold: Held, other: FloatArray | None) -> float:
        if hold.quaternion is not None:
            return _angle(_tangent(hold.quaternion.tolist()), chord)
        return 0.0 if other is None else 0.5 * _angle(other.tolist(), chord)

    before = held[k].position - held[k - 1].position if k > 0 else None
    after = held[k + 2].position - held[k + 1].position if k + 2 < len(held) else None
    return tilt(held[k], before), tilt(held[k + 1], after)


def _tangent(quaternion: Sequence[float]) -> tuple[float, float, float]:
    """The third axis of a section. With Python's numbers: NumPy took a third of a cold solve for these angles."""
    w, x, y, z = quaternion
    return 2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)


def _angle(a: Sequence[float], b: Sequence[float]) -> float:
    """Angle between two vectors, rad; 0 if one vanishes."""
    (a1, a2, a3), (b1, b2, b3) = a, b
    across = math.hypot(a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1)
    return math.atan2(across, a1 * b1 + a2 * b2 + a3 * b3)


def taut_stretch(held: Sequence[Held], k: int, reach: float, weight: FloatArray) -> Stretch:
    """The stretch from hold k to the next, `reach` long, as if it were taut, under a `weight` per length (3,)."""
    chord = held[k + 1].position - held[k].position
    distance = float(np.linalg.norm(chord))
    tilts = _tilts(held, k)
    slack = max(reach - distance, 1e-16)
    bends = sum(2.0 * (1.0 - math.cos(0.5 * tilt)) for tilt in tilts)
    across = weight - (weight @ chord) * chord / max(distance * distance, 1e-300)
    sag = float(across @ across) * reach**3 / 24.0
    # what both take up falls with T: at the larger of the two tensions it is one to two slacks, at four times that less
    low = max((bends / slack) ** 2, math.sqrt(sag / slack), 1e-12)
    high = 4.0 * low
    for _ in range(40):
        middle = math.sqrt(low * high)
        if bends / math.sqrt(middle) + sag / middle**2 > slack:
            low = middle
        else:
            high = middle
    return Stretch(k, tilts, max(1.0 / math.sqrt(high), _THINNEST))


def lost_on_mesh(held: Sequence[Held], k: int, h: float) -> float:
    """What elements of the length h at both ends of a stretch lose of its span, however hard it is pulled."""
    return sum(h / 6.0 * (1.0 - math.cos(tilt)) for tilt in _tilts(held, k))


def rounded_layer(layer: float) -> float:
    """The layer, or less: a power of four."""
    return float(_LEVEL ** math.floor(math.log(layer, _LEVEL)))


def gathered_density(held: Sequence[Held], layers: dict[int, float]) -> FloatArray:
    """Density (m, 2) of elements that grow with the distance from taut stretches' ends: columns s and density.

    `layers`: the length of the bends of each taut stretch, by the hold that it begins at. Elsewhere elements are even.
    """
    rows = []
    places = [0.0, *(hold.s for hold in held), 1.0]
    for piece, (a, b) in enumerate(zip(places, places[1:], strict=False)):
        size = b - a
        if size <= 0.0:
            continue
        layer = layers.get(piece - 1)
        if layer is None:
            # as many elements for its length as a taut stretch has
            rows += [(a, 20.0), (b, 20.0)]
            continue
        from_end = np.concatenate(([0.0], np.geomspace(0.1 * min(layer, 0.1 * size), 0.5 * size, 120)))
        density = 1.0 / (from_end + layer)
        rows += list(zip(a + from_end, density, strict=True))
        rows += list(zip((b - from_end)[::-1], density[::-1], strict=True))
    # the density may jump at a hold: trapezoids on either side of it need two places
    table = np.array(rows)
    same = np.flatnonzero(np.diff(table[:, 0]) <= 0.0)
    return np.delete(table, same, axis=0)


def taut_guess(conditions: Conditions, q: FloatArray, lam: FloatArray) -> bool:
    """Write rotations and forces of taut and of limp stretches into a guess; returns whether there are any.

    A limp stretch hangs like a string, but for the bends at its holds.
    """
    problem, held = conditions.problem, conditions.held
    if problem.law.extensible or conditions.spring_compliance > 0.0:
        return False
    found = False
    segment = 0 if problem.holds[0].end == 0 else 1
    for k in range(len(held) - 1):
        first, last = problem.holds[k].end, problem.holds[k + 1].end
        nodes = slice(first * problem.stride, last * problem.stride + 1)
        size = np.linalg.norm(problem.rest_v[first:last], axis=2)
        weights = problem.h[first:last, None] * size * np.array((1.0, 4.0, 1.0)) / 6.0
        reach = float(weights.sum())
        chord = held[k + 1].position - held[k].position
        stretch = taut_stretch(held, k, reach, problem.dead_density()[nodes].mean(axis=0))
        known = problem.load_n[first:last]
        force = chord / reach / stretch.layer**2 - np.mean(known[:, 1], axis=0)
        if np.linalg.norm(chord) < _STRAIGHT * reach and known.any():
            force = string_force(weights.ravel(), known.reshape(-1, 3), chord)
        internal = force + known
        pulls = np.linalg.norm((internal[0, 0], internal[-1, 2]), axis=1)
        if (pulls * (_LAYER * reach) ** 2 > 1.0).all():
            along = np.concatenate((internal[:, : problem.stride].reshape(-1, 3), internal[-1:, 2]))
            along /= np.linalg.norm(along, axis=1)[:, None] + 1e-300
            free = held[k].quaternion is None, held[k + 1].quaternion is None
            q[nodes] = _bent_in(problem.s[nodes], q[nodes], along, 1.0 / np.sqrt(pulls), free)
            lam[segment + k] = force
            found = True
    return found


def string_force(weights: FloatArray, known: FloatArray, chord: FloatArray) -> FloatArray:
    """Force λ at the end of a string without stiffness that spans `chord`, under loads whose part `known` (n, 3) is.

    It lies along its internal force n = λ + N, and λ is the least of the convex F = ∫|n| ds − λ·chord, by Newton's
    method with `weights` (n,) in the integral. |n| is rounded off where it is a thousandth of the load.
    """
    scale = float(np.max(np.linalg.norm(known - known.mean(axis=0), axis=1))) + 1e-300
    force = scale * chord / max(float(np.linalg.norm(chord)), 1e-300) - known.mean(axis=0)

    def energy(lam: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        n = lam + known
        size = np.sqrt(np.sum(n * n, axis=1) + (1e-3 * scale) ** 2)
        t = n / size[:, None]
        hessian = np.sum(weights / size) * np.eye(3) - (t * (weights / size)[:, None]).T @ t
        return float(weights @ size - lam @ chord), weights @ t - chord, hessian

    value, slope, hessian = energy(force)
    for _ in range(50):
        step = -np.linalg.solve(hessian + 1e-12 * np.trace(hessian) * np.eye(3), slope)
        length = 1.0
        while length > 1e-6:
            trial = energy(force + length * step)
            if trial[0] <= value + 1e-4 * length * float(slope @ step):
                break
            length *= 0.5
        else:
            break
        force, (value, slope, hessian) = force + length * step, trial
        if np.linalg.norm(slope) < 1e-6:
            break
    return np.asarray(force)


def _bent_in(
    s: FloatArray, q: FloatArray, along: FloatArray, layers: FloatArray, free: tuple[bool, bool]
) -> FloatArray:
    """Rotations whose tangents are `along` (n, 3) but for the bends at both ends, where they begin and end as q does.

    What is left of the twist is spread evenly. Where an end is `free` to point anywhere there is no bend.
    """
    halves = []
    for end, from_end, layer, loose in ((0, s - s[0], layers[0], free[0]), (-1, s[-1] - s, layers[1], free[1])):
        d3 = quaternion_rotate(q[end], _AXIAL)
        axis = np.cross(d3, along[end])
        size = float(np.linalg.norm(axis))
        axis = quaternion_rotate(q[end], np.array((1.0, 0.0, 0.0))) if size < 1e-12 else axis / size
        tilt = _angle(d3.tolist(), along[end].tolist())
        onward = rotation_between(along[end], along)
        string = quaternion_product(onward, quaternion_product(rotation_exp(tilt * axis), q[end]))
        left = 0.0 * from_end if loose else 4.0 * np.arctan(np.tan(0.25 * tilt) * np.exp(-from_end / layer))
        halves.append(quaternion_product(rotation_exp(-left[:, None] * axis), string))
    a, b = halves
    t = (s - s[0]) / (s[-1] - s[0])
    middle = int(np.searchsorted(t, 0.5))
    twist = float(rotation_log(quaternion_product(quaternion_conjugate(a[middle]), b[middle]))[2])
    spread = np.zeros((len(s), 3))
    spread[:, 2] = np.where(t < 0.5, twist * t, -twist * (1.0 - t))
    return quaternion_product(np.where((t < 0.5)[:, None], a, b), rotation_exp(spread))
