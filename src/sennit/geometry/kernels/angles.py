"""Sine and cosine of an angle, a number or a pack of four: by their series where it is small, by libm beyond."""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel, overload
from sennit.lanes import every, lanes_of, pack

SMALL_ANGLE = 0.8
"""Up to here, rad, series serve."""


@inlined
def small_sincos(x):
    """sin x and cos x by their series up to x¹⁵ and x¹⁶, for |x| ≤ SMALL_ANGLE.

    What is left out is below x¹⁷/17! and x¹⁸/18!: 8e-17 of sin x and 5e-18 of cos x. Rounding adds up to 1.2 units in
    the last place.
    """
    z = x * x
    s = -1 / 5040 + z * (1 / 362880 + z * (-1 / 39916800 + z * (1 / 6227020800 + z * (-1 / 1307674368000))))
    s = x + x * z * (-1 / 6 + z * (1 / 120 + z * s))
    c = -1 / 720 + z * (1 / 40320 + z * (-1 / 3628800 + z * (1 / 479001600
        + z * (-1 / 87178291200 + z * (1 / 20922789888000)))))  # fmt: skip
    c = 1.0 + z * (-0.5 + z * (1 / 24 + z * c))
    return s, c


@kernel
def sincos_of_number(x):
    """sin x and cos x of one number, rad."""
    if abs(x) <= SMALL_ANGLE:
        return small_sincos(x)
    return math.sin(x), math.cos(x)


def sincos_by_lanes(x):
    """`sincos_of_number` of a number, or of each lane of a pack."""
    if isinstance(x, float):
        return sincos_of_number(x)
    a, b, c, d = (sincos_of_number(float(lane)) for lane in x)
    return pack(a[0], b[0], c[0], d[0]), pack(a[1], b[1], c[1], d[1])


@overload(sincos_by_lanes)
def _sincos_by_lanes(x):
    from numba.core import types

    if x == types.float64:
        return lambda x: sincos_of_number(x)

    def by_lanes(x):
        p, q, r, s = lanes_of(x)
        a, b, c, d = sincos_of_number(p), sincos_of_number(q), sincos_of_number(r), sincos_of_number(s)
        return pack(a[0], b[0], c[0], d[0]), pack(a[1], b[1], c[1], d[1])

    return by_lanes


@inlined
def sincos(x):
    """sin x and cos x of any angle, rad, or of a pack of them."""
    if every((x <= SMALL_ANGLE) & (x >= -SMALL_ANGLE)):
        return small_sincos(x)
    return sincos_by_lanes(x)
