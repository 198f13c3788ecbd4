"""Words of the rows of a memory, on a graphics card: a thread reads or writes one."""

from __future__ import annotations

from sennit.compilation import kernel
from sennit.threads import thread


@kernel
def fill_each(job):
    """Write the same into a word of all rows of a `Fill`."""
    k = thread()
    row = k // job.at.size
    if row < job.rows.size:
        j = k - row * job.at.size
        job.memory[job.rows[row] * job.pitch[0] + job.at[j]] = job.value[j] + job.base[row]


@kernel
def take_each(job):
    """Copy a word of the rows of `Columns` into its array."""
    k = thread()
    row = k // job.at.size
    if row < job.rows.size:
        j = k - row * job.at.size
        job.values[row, j] = job.memory[job.rows[row] * job.pitch[0] + job.at[j]]


@kernel
def put_each(job):
    """Copy a number of the array of `Columns` to its word of the rows."""
    k = thread()
    row = k // job.at.size
    if row < job.rows.size:
        j = k - row * job.at.size
        job.memory[job.rows[row] * job.pitch[0] + job.at[j]] = job.values[row, j]
