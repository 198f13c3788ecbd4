"""Points of a rigid body at (c, R): x = c + R X, and the pull-back of a wrench is f and m + R X × f."""

from __future__ import annotations

from sennit.compilation import inlined
from sennit.geometry.kernels.algebra import add3, cross3, quat_matrix
from sennit.bodies.kernels.frames import get3


@inlined
def place(p, points, q, quat, places):
    body, base = points.body[p], points.base[p]
    m = quat_matrix((quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3]))
    x, y, z = get3(points.local, p)
    for a in range(3):
        arm = m[3 * a] * x + m[3 * a + 1] * y + m[3 * a + 2] * z
        places.arm[p, a] = arm
        places.position[p, a] = q[base + a] + arm
    for a in range(9):
        places.frame[p, a] = m[a]


@inlined
def pull_back(p, f, m, weight, places, out, at):
    turned = add3(cross3(get3(places.arm, p), f), m)
    for a in range(3):
        out[at + a] += weight * f[a]
        out[at + 3 + a] += weight * turned[a]


@inlined
def dof_of(p, entry, points):
    return points.base[p] + entry if entry < 6 else -1


@inlined
def rates(p, base, places, v, out):
    """Of a point that moves with the rigid body whose first degree of freedom is `base`."""
    spin = (v[base + 3], v[base + 4], v[base + 5])
    lever = cross3(spin, get3(places.arm, p))
    for a in range(3):
        out[a] = v[base + a] + lever[a]
        out[3 + a] = spin[a]


@inlined
def add_stiffness(block, K, values):
    """The force part only."""
    for a in range(3):
        for b in range(3):
            values[block + 6 * a + b] += K[3 * a + b]


@inlined
def diagonal_slot(p, entry, points):
    return points.block[p] + 7 * entry


@inlined
def is_angle(entry):
    return 3 <= entry < 6


@inlined
def turning_body(p, entry, points):
    return points.body[p] if 3 <= entry < 6 else -1
