"""Rows of `Lanes` in kernels: where one stands, and its components as tuples. `lane_types` tells Numba of the rest."""

from __future__ import annotations

import numpy as np

from sennit.compilation import inlined

LANES = 8
"""Rows of a block: what a vector instruction of 64 bytes takes."""
SHIFT, MASK = np.uint64(3), np.uint64(7)  # a row's block is row >> SHIFT, its lane row & MASK

# Components as unsigned numbers: signed ones could count from the end, and LLVM would have to show that they do not.
C0, C1, C2, C3, C4, C5, C6, C7, C8 = (np.uint64(k) for k in range(9))


@inlined
def block_and_lane(row):
    """Where a row stands."""
    i = np.uint64(row)
    return i >> SHIFT, i & MASK


@inlined
def load3(field, b, lane):
    return field[b, C0, lane], field[b, C1, lane], field[b, C2, lane]


@inlined
def load4(field, b, lane):
    return field[b, C0, lane], field[b, C1, lane], field[b, C2, lane], field[b, C3, lane]


@inlined
def load6(field, b, lane):
    return (
        field[b, C0, lane], field[b, C1, lane], field[b, C2, lane],
        field[b, C3, lane], field[b, C4, lane], field[b, C5, lane],
    )  # fmt: skip


@inlined
def load9(field, b, lane):
    return (
        field[b, C0, lane], field[b, C1, lane], field[b, C2, lane],
        field[b, C3, lane], field[b, C4, lane], field[b, C5, lane],
        field[b, C6, lane], field[b, C7, lane], field[b, C8, lane],
    )  # fmt: skip


@inlined
def store3(field, b, lane, a):
    field[b, C0, lane] = a[0]
    field[b, C1, lane] = a[1]
    field[b, C2, lane] = a[2]


@inlined
def store4(field, b, lane, a):
    field[b, C0, lane] = a[0]
    field[b, C1, lane] = a[1]
    field[b, C2, lane] = a[2]
    field[b, C3, lane] = a[3]


@inlined
def store6(field, b, lane, a):
    store3(field, b, lane, (a[0], a[1], a[2]))
    field[b, C3, lane] = a[3]
    field[b, C4, lane] = a[4]
    field[b, C5, lane] = a[5]


@inlined
def store9(field, b, lane, a):
    store6(field, b, lane, (a[0], a[1], a[2], a[3], a[4], a[5]))
    field[b, C6, lane] = a[6]
    field[b, C7, lane] = a[7]
    field[b, C8, lane] = a[8]
