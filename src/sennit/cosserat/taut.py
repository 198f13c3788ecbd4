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
    rotation_exp,
    rotation_log,
)
from sennit.validation import FloatArray

__all__ = ["Stretch", "gathered_density", "lost_on_mesh", "rounded_layer", "taut_guess", "taut_stretch"]

_LAYER = 0.05  # of a stretch: thinner bends are guessed by the formula above
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
    chord = held[k + 1].position - held[k].position

    def tilt(hold: Held, other: FloatArray | None) -> float:
        if hold.quaternion is not None:
            return _angle(quaternion_rotate(hold.quaternion, _AXIAL), chord)
        return 0.0 if other is None else 0.5 * _angle(other, chord)

    before = held[k].position - held[k - 1].position if k > 0 else None
    after = held[k + 2].position - held[k + 1].position if k + 2 < len(held) else None
    return tilt(held[k], before), tilt(held[k + 1], after)


def _angle(a: FloatArray, b: FloatArray) -> float:
    """Angle between two vectors, rad; 0 if one vanishes."""
    return math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))


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
    """Write rotations and forces of taut stretches into a guess; returns whether there are any."""
    problem, held = conditions.problem, conditions.held
    if problem.law.extensible or conditions.spring_compliance > 0.0:
        return False
    found = False
    begins = problem.holds[0].end
    segment = 0 if begins == 0 else 1
    for k in range(len(held) - 1):
        first, last = problem.holds[k].end, problem.holds[k + 1].end
        h = problem.h[first:last, None]
        size = np.linalg.norm(problem.rest_v[first:last], axis=2)
        reach = float(np.sum(h[:, 0] * (size[:, 0] + 4.0 * size[:, 1] + size[:, 2]) / 6.0))
        force = problem.loads.dead_force[first * problem.stride : last * problem.stride + 1].mean(axis=0)
        stretch = taut_stretch(held, k, reach, force)
        if stretch.layer < _LAYER * reach:
            chord = (held[k + 1].position - held[k].position) / reach
            nodes = slice(first * problem.stride, last * problem.stride + 1)
            q[nodes] = _straightened(problem.s[nodes], q[nodes], chord, stretch)
            lam[segment + k] = chord / stretch.layer**2 - np.mean(problem.load_n[first:last, 1], axis=0)
            found = True
    return found


def _straightened(s: FloatArray, q: FloatArray, chord: FloatArray, stretch: Stretch) -> FloatArray:
    """Rotations along a taut stretch: those at its ends bent into the chord, the twist between them spread evenly."""
    t = (s - s[0]) / (s[-1] - s[0])
    halves = []
    for end, from_end, tilt in ((q[0], s - s[0], stretch.tilts[0]), (q[-1], s[-1] - s, stretch.tilts[1])):
        d3 = quaternion_rotate(end, _AXIAL)
        axis = np.cross(d3, chord)
        size = float(np.linalg.norm(axis))
        axis = quaternion_rotate(end, np.array((1.0, 0.0, 0.0))) if size < 1e-12 else axis / size
        whole = _angle(d3, chord)
        left = 4.0 * np.arctan(np.tan(0.25 * tilt) * np.exp(-from_end / stretch.layer))
        # where nothing holds the direction it is the chord's at once
        turned = whole - np.minimum(left, whole) if tilt > 0.0 else np.full_like(left, whole)
        halves.append(quaternion_product(rotation_exp(turned[:, None] * axis), end))
    a, b = halves
    twist = float(rotation_log(quaternion_product(quaternion_conjugate(a[-1]), b[0]))[2])
    spread = np.zeros((len(s), 3))
    spread[:, 2] = np.where(t < 0.5, twist * t, -twist * (1.0 - t))
    return quaternion_product(np.where((t < 0.5)[:, None], a, b), rotation_exp(spread))
