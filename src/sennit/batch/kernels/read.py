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
def read_wrenches(first, end, scenes, like, out):
    """`measure` of the rows `first` to `end` in every scene, into the rows of `out`."""
    for i in range(scenes.size):
        scene = tables_at(scenes[i], like)
        for k in range(out.shape[1]):
            out[i, k] = 0.0
        measure(first, end, scene.rows, scene.points, scene.places, scene.motion.q, out[i])


@kernel
def read_energies(scenes, gravity, like, parts, out):
    """Kinetic, stretch, bend, twist, weight energy and that of springs of every scene, into the rows of `out`, J."""
    for i in range(scenes.size):
        scene = tables_at(scenes[i], like)
        for b in range(parts.kinetic.size):
            parts.kinetic[b] = parts.stretch[b] = parts.bend[b] = parts.twist[b] = parts.gravity[b] = 0.0
        kinds.energies(scene, gravity[i], parts)
        for k in range(6):
            out[i, k] = 0.0
        for b in range(parts.kinetic.size):
            out[i, 0] += parts.kinetic[b]
            out[i, 1] += parts.stretch[b]
            out[i, 2] += parts.bend[b]
            out[i, 3] += parts.twist[b]
            out[i, 4] += parts.gravity[b]
        out[i, 5] = spring_energies(scene, False)
