"""What is read of many scenes: by the kernels that one scene is read by."""

from __future__ import annotations

from sennit.bodies.kernels import kinds
from sennit.compilation import PLAIN, intrinsic, kernel
from sennit.constraints.kernels.measure import measure
from sennit.solve.kernels.energy import spring_energies


@intrinsic
def tables_at(typing_context, address, like):
    """The tables that lie at `address`, which are of the same class as `like`."""
    from llvmlite import ir
    from numba.core import types

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

    return like(types.int64, like), generate


if PLAIN:

    def tables_at(address, like):
        return like


@kernel
def wrench_of(first, end, scene, out):
    """`measure` of the rows `first` to `end` of a scene, into `out` (6 + rows)."""
    for k in range(out.size):
        out[k] = 0.0
    measure(first, end, scene.rows, scene.points, scene.places, scene.motion.q, out)


@kernel
def energies_of(scene, gravity, parts, out):
    """Kinetic, stretch, bend, twist, weight energy of a scene and that of springs, into `out` (6), J; `parts`: room."""
    for b in range(parts.kinetic.size):
        parts.kinetic[b] = parts.stretch[b] = parts.bend[b] = parts.twist[b] = parts.gravity[b] = 0.0
    kinds.energies(scene, gravity, parts)
    for k in range(6):
        out[k] = 0.0
    for b in range(parts.kinetic.size):
        out[0] += parts.kinetic[b]
        out[1] += parts.stretch[b]
        out[2] += parts.bend[b]
        out[3] += parts.twist[b]
        out[4] += parts.gravity[b]
    out[5] = spring_energies(scene, False)


@kernel
def read_wrenches(first, end, scenes, like, out):
    """`wrench_of` every scene, into the rows of `out`."""
    for i in range(scenes.size):
        wrench_of(first, end, tables_at(scenes[i], like), out[i])


@kernel
def read_energies(scenes, gravity, like, parts, out):
    """`energies_of` every scene, into the rows of `out`."""
    for i in range(scenes.size):
        energies_of(tables_at(scenes[i], like), gravity[i], parts, out[i])
