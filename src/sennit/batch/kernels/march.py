"""Steps of many scenes: each thread takes the next scene that waits, until none does."""

from __future__ import annotations

from sennit.batch.kernels.read import tables_at
from sennit.compilation import PLAIN, intrinsic, kernel
from sennit.solve.kernels.codes import QUIET


@intrinsic
def call(typing_context, code, parts, count, scene):
    """Call ``march(parts, count, scene)``, whose machine code and tables lie at the addresses `code` and `scene`."""
    from llvmlite import ir
    from numba.core import types

    whole = types.int64
    kinds = (whole, whole, types.voidptr)

    def generate(context, builder, signature, arguments):
        place = ir.IntType(8).as_pointer()
        form = context.call_conv.get_function_type(whole, kinds)
        function = builder.inttoptr(arguments[0], form.as_pointer())
        given = [arguments[1], arguments[2], builder.inttoptr(arguments[3], place)]
        _, result = context.call_conv.call_function(builder, function, whole, kinds, given)
        return result

    return whole(whole, whole, whole, whole), generate


@intrinsic
def take(typing_context, counter):
    """Add 1 to ``counter[0]``, whoever else does so at the same time; what it was before."""
    from llvmlite import ir
    from numba.core import types

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", data, ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(counter), generate


if PLAIN:

    def take(counter):
        counter[0] += 1
        return counter[0] - 1


@kernel
def march_many(code, parts, waiting, counts, scenes, counter, ended, made, anchors, path, begun, like):
    """Make ``counts[i]`` steps of each scene i of `waiting`, while they are quiet; how the last one of each ended, and
    how many it `made`.

    `code`: where `march` is; `scenes`: where the tables of each are, of the class of `like`. Where there are `anchors`,
    points of the world that are led, they are at ``path[i, begun[i] + k]`` in step k of scene i: a scene makes all of
    its steps while its numbers are in the processor's cache. Called by several threads with the same `counter`, [0] at
    first, they share the work.
    """
    while True:
        k = take(counter)
        if k >= waiting.size:
            return 0
        i = waiting[k]
        scene = tables_at(scenes[i], like)
        if anchors.size == 0:
            ended[i] = call(code, parts, counts[i], scenes[i])
            made[i] = scene.report.made[0]
            continue
        made[i] = 0
        while made[i] < counts[i]:
            for g in range(anchors.size):
                for a in range(3):
                    scene.points.anchor[anchors[g], a] = path[i, begun[i] + made[i], g, a]
            ended[i] = call(code, parts, 1, scenes[i])
            if ended[i] != QUIET:
                break
            made[i] += 1
