"""Steps of many scenes on a graphics card: a thread makes those of one scene."""

from __future__ import annotations

from sennit.batch.kernels.read import tables_at
from sennit.compilation import kernel
from sennit.solve.kernels.codes import QUIET
from sennit.solve.kernels.entries import march
from sennit.threads import thread


@kernel
def march_scene(i, launch, scene):
    """Make the steps of scene i.

    Not inlined by name: Numba would have all that it calls inlined, the whole step into one function.
    """
    anchors, path, wanted = launch.anchors, launch.path, launch.counts[i]
    most = wanted if anchors.size == 0 else 1
    made = 0
    ended = QUIET
    while made < wanted and ended == QUIET:
        for g in range(anchors.size):
            for a in range(3):
                scene.points.anchor[anchors[g], a] = path[i, launch.begun[i] + made, g, a]
        ended = march(launch.parts[0], most, scene)
        made += scene.report.made[0]
    launch.ended[i] = ended
    launch.made[i] = made


@kernel
def march_each(launch, like):
    """Make ``counts[i]`` steps of a scene i that waits, while they are quiet; as `march_many` does.

    `launch`: a table `Launch`; `like`: of the class of the scenes' tables.
    """
    k = thread()
    if k < launch.waiting.size:
        i = launch.waiting[k]
        march_scene(i, launch, tables_at(launch.scenes[i], like))
