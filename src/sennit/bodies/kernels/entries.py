"""Lists of the matrix's entries and blocks, filled as far as they have room: a first pass counts with empty arrays."""

from __future__ import annotations

from sennit.compilation import kernel


@kernel
def put(count, i, j, s, row, col, slot):
    """Entry number `count` at (i, j), whose value stands in slot `s`. Returns the number of the next."""
    if count < row.size:
        row[count] = i
        col[count] = j
        slot[count] = s
    return count + 1


@kernel
def put_block(b, at, what, start, kind):
    """Block number `b` of unknowns from `at` on. Returns the number of the next."""
    if b < kind.size:
        start[b] = at
        kind[b] = what
    return b + 1
