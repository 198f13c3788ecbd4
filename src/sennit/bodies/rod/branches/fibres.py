"""Branches of a section: the fibres of which it is thought to be made.

A fibre at the distance y from the middle yields at the curvature ε/y, and until then takes its part of the moment. So
the law M(κ) of a section of elastic and ideally plastic fibres, each of which slips at its own curvature, is all there
is to know: M″ tells which part of the stiffness is in fibres of which limit. Here M(κ) is a chain of chords, of which
each corner is a branch; they are laid so that the chain is as much above the curve as below it, everywhere.

With x = κ over the curvature at which the outermost fibre yields, and m = M over the moment there::

    rectangle           m = 3/2 − 1/(2x²)
    circle              m = (2/3π) [(5 − 2/x²) √(1 − 1/x²) + 3 x asin(1/x)]
    circle, twist       m = 4/3 − 1/(3x³)
    tube                that of its outer circle without that of its inner one

(Prager and Hodge, Theory of Perfectly Plastic Solids, 1951, §§ 9, 13). A twisted rectangle has no closed form between
first yield, Saint-Venant's, and the heap of sand, T = τ b² (3a − b)/6: m = r − (r − 1) x⁻ⁿ with n = 1/(r − 1) has both
ends and no kink, and is exact for a plate. Fibres yield in shear at σ/√3 (von Mises).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from sennit.bodies.rod.branches.kernels.flow import FLAG, MAXWELL, SLIDER
from sennit.bodies.rod.branches.table import Branches
from sennit.errors import InputError
from sennit.material import Material, Section
from sennit.validation import FloatArray

__all__ = ["COUNT", "branches_of"]

COUNT = 10
"""Branches of a section that yields: M(κ) is met to 0.14 % of the moment that it can take, reversals to three times it.
"""
_X = np.geomspace(1.0, 1e4, 2001)
_FAR = 1e9
_STEPS = 50.0
"""Of the ratios of radii for which corners are looked for, where they are rounded."""
Law = Callable[[FloatArray], FloatArray]


def branches_of(section: Section, material: Material, *, rounded: bool = False) -> Branches:
    """The branches of a rod; none if it is elastic. Raises `InputError` if its section has no fibres to yield.

    `rounded`: where the wall of a tube changes along a rod, each point has a ratio of radii of its own. Then corners
    are looked for, which takes tens of milliseconds, for some ratios alone.
    """
    if material.prony:
        return _viscous(material.prony)
    if material.superelastic is not None:
        upper, lower, strain = material.superelastic
        made = _yielding(section, material, upper, 1.0, rounded)
        made.kind[:], made.lower[:] = FLAG, lower / upper
        made.most[:] = strain * material.youngs_modulus / upper
        # One law for bending and twist, so that what one gives the other can't take: limits by their energies.
        B = section.bending_stiffness(material).diagonal()
        made.share[:] = made.share[:, :1]
        made.limit[:, 2] = made.limit[:, 0] * math.sqrt(B[0] / B[2])
        return made
    if material.yield_stress is not None:
        part = 1.0 - material.hardening / material.youngs_modulus
        return _yielding(section, material, material.yield_stress, part, rounded)
    return Branches(rows=0)


def _viscous(prony: Sequence[tuple[float, float]]) -> Branches:
    made = Branches(rows=len(prony))
    made.kind[:], made.limit[:] = MAXWELL, math.inf
    for k, (share, time) in enumerate(prony):
        made.share[k], made.time[k] = share, time
    return made


def _yielding(section: Section, material: Material, stress: float, part: float, rounded: bool) -> Branches:
    """Branches that slip where fibres do at `stress`, Pa, with `part` of the stiffness."""
    if section.kind == "custom":
        raise InputError(
            "a material that yields needs a section with fibres, since stress is told by where they are: take a "
            "circle, a tube or a rectangle, got a custom section"
        )
    first, ratio = _first_yield(section, material, stress)
    x, bend, twist = _corners(
        section.kind, section.dimensions[1] / section.dimensions[0] if ratio is None else ratio, rounded
    )
    made = Branches(rows=COUNT)
    made.kind[:] = SLIDER
    made.share[:, :2], made.share[:, 2] = part * bend[:, None], part * twist
    made.limit[:] = x[:, None] * first
    return made


def _first_yield(section: Section, material: Material, stress: float) -> tuple[FloatArray, float | None]:
    """κ1, κ2 and τ, 1/m, at which the first fibre yields; and of a rectangle and a circle what its law depends on."""
    E, G, shear = material.youngs_modulus, material.shear_modulus, stress / math.sqrt(3.0)
    if section.kind != "rectangle":
        a = section.dimensions[0]
        bent = stress / (E * a)
        return np.array((bent, bent, shear / (G * a))), 0.0 if section.kind == "circle" else None
    width, height = section.dimensions
    a, b = max(width, height), min(width, height)
    # Timoshenko and Goodier, Theory of Elasticity, 3rd ed., eq. 159: the largest shear is at the middle of a long side
    series = sum(1.0 / (n * n * math.cosh(min(0.5 * n * math.pi * a / b, 700.0))) for n in range(1, 40, 2))
    twisted = shear / (G * b * (1.0 - 8.0 / math.pi**2 * series))
    heap = shear * b * b * (3.0 * a - b) / 6.0
    ratio = heap / (G * section.J * twisted)
    return np.array((2.0 * stress / (E * height), 2.0 * stress / (E * width), twisted)), ratio


@lru_cache(maxsize=256)
def _corners(kind: str, ratio: float, rounded: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """X of the corners (COUNT,), and the parts of the stiffness in bending and in twist that slip there.

    `ratio`: inner over outer radius of a ring, or of a rectangle's heap of sand over its first yield. `rounded`: see
    `branches_of`.
    """
    if kind == "rectangle":
        twist: Law = lambda x: ratio - (ratio - 1.0) * x ** (-1.0 / (ratio - 1.0))  # noqa: E731
    else:
        twist = _ring(_disc_twisted, 4.0 / 3.0, ratio)
    x, m = _bent(kind, 0.0 if kind == "rectangle" else ratio, rounded)
    heights = twist(x)
    heights[0], heights[-1] = x[0], float(twist(np.array([_FAR]))[0])
    return x, _parts(x, m), _parts(x, heights)


@lru_cache(maxsize=256)
def _bent(kind: str, ratio: float, rounded: bool) -> tuple[FloatArray, FloatArray]:
    """X and heights of the corners in bending, which take tens of milliseconds to find."""
    if kind == "rectangle":
        return _chain(lambda x: 1.5 - 0.5 / x**2)
    law = _ring(_disc_bent, 16.0 / 3.0 / math.pi, ratio)
    near = round(_STEPS * ratio) / _STEPS if rounded else ratio
    if near == ratio:
        return _chain(law)
    # corners lie where they do for a ratio nearby, and miss the law by as much
    x, m = _bent(kind, near, False)
    other = _ring(_disc_bent, 16.0 / 3.0 / math.pi, near)
    return x, np.concatenate((x[:1], m[1:] - other(x[1:]) + law(x[1:])))


def _disc_bent(x: FloatArray) -> FloatArray:
    y = 1.0 / x
    return np.asarray(2.0 / (3.0 * math.pi) * ((5.0 - 2.0 * y * y) * np.sqrt(1.0 - y * y) + 3.0 * x * np.arcsin(y)))


def _disc_twisted(x: FloatArray) -> FloatArray:
    return np.asarray((4.0 - x**-3.0) / 3.0)


def _ring(disc: Law, limit: float, m: float) -> Law:
    """The law of a ring with inner over outer radius m, from that of a disc."""
    if m == 0.0:
        return disc

    def law(x: FloatArray) -> FloatArray:
        inner = np.where(m * x < 1.0, m * x, disc(np.maximum(m * x, 1.0)))
        return np.asarray((disc(x) - m**3 * inner) / (1.0 - m**4))

    return law


def _chain(law: Law) -> tuple[FloatArray, FloatArray]:
    """X and heights of the corners of a chain that misses a law by the same everywhere, above as below."""
    curve, limit = law(_X), float(law(np.array([_FAR]))[0])

    def laid(miss: float) -> tuple[list[int], list[float]]:
        """Corners so far apart that the chords between them are below the law by `miss` at most."""
        at = [int(np.argmax(_X - curve >= miss))]
        heights = [float(_X[at[0]])]
        while limit - heights[-1] > miss and len(at) <= COUNT:
            low, high = at[-1] + 1, len(_X) - 1
            while low < high:
                k = (low + high + 1) // 2
                chord = np.interp(_X[at[-1] : k + 1], _X[[at[-1], k]], (heights[-1], min(curve[k] + miss, limit)))
                low, high = (k, high) if (chord >= curve[at[-1] : k + 1] - miss).all() else (low, k - 1)
            at.append(low)
            heights.append(min(float(curve[low]) + miss, limit))
        return at, heights

    low, high = 1e-5, 0.2
    for _ in range(24):
        miss = math.sqrt(low * high)
        low, high = (low, miss) if len(laid(miss)[0]) <= COUNT else (miss, high)
    at, heights = laid(high)
    while len(at) < COUNT:  # on the plateau, where one more slips nothing
        at.append(at[-1] + 1)
        heights.append(heights[-1])
    return _X[at], np.array(heights)


def _parts(x: FloatArray, heights: FloatArray) -> FloatArray:
    """Parts of the stiffness that slip at the corners `x` of a chain of chords."""
    slopes = np.concatenate(((heights[0] / x[0],), np.diff(heights) / np.diff(x), (0.0,)))
    return np.asarray(np.maximum(slopes[:-1] - slopes[1:], 0.0))
