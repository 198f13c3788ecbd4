"""Momentum of a moving mass."""

from __future__ import annotations

from sennit.compilation import kernel


@kernel
def add_momentum(mass, x, v, out):
    """Add m v and x × m v to out (6,)."""
    out[0] += mass * v[0]
    out[1] += mass * v[1]
    out[2] += mass * v[2]
    out[3] += mass * (x[1] * v[2] - x[2] * v[1])
    out[4] += mass * (x[2] * v[0] - x[0] * v[2])
    out[5] += mass * (x[0] * v[1] - x[1] * v[0])
