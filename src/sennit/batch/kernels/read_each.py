"""What is read of many scenes on a graphics card: a thread reads one."""

from __future__ import annotations

from sennit.batch.kernels.read import energies_of, tables_at, wrench_of
from sennit.compilation import kernel
from sennit.geometry.kernels.algebra import quat_matrix
from sennit.threads import thread


@kernel
def wrench_each(job, like):
    """`wrench_of` the rows of a `Wrenches`; `like`: of the class of the scenes' tables."""
    i = thread()
    if i < job.scenes.size:
        wrench_of(job.ends[0], job.ends[1], tables_at(job.scenes[i], like), job.out[i])


@kernel
def energies_each(job, parts, like):
    """`energies_of` the scenes of an `Energies`, and their sum behind them; `parts`: of the class of their rooms."""
    i = thread()
    if i < job.scenes.size:
        out = job.out[i]
        energies_of(tables_at(job.scenes[i], like), job.gravity[i], tables_at(job.parts[i], parts), out)
        out[6] = out[0] + out[1] + out[2] + out[3] + out[4] + out[5]


@kernel
def axes_each(job, like):
    """Axes of the rigid body of an `Axes` as the columns of a matrix, row by row."""
    i = thread()
    if i < job.scenes.size:
        q = tables_at(job.scenes[i], like).rigids.quat[job.body[0]]
        m = quat_matrix((q[0], q[1], q[2], q[3]))
        for k in range(9):
            job.out[i, k] = m[k]
