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


@kernel
def add_to_group(mass, arm, v, groups, g):
    """Add m v, ρ × m v and the inertia m (ρ·ρ − ρρᵀ) of a mass at ρ (`arm`) from the centre of group g."""
    square = arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2]
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        groups.momentum[g, a] += mass * v[a]
        groups.spin[g, a] += mass * (arm[b] * v[c] - arm[c] * v[b])
        groups.inertia[g, 4 * a] += mass * square
        for k in range(3):
            groups.inertia[g, 3 * a + k] -= mass * arm[a] * arm[k]
