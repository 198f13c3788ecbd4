"""Rows of a table's fields as tuples, and back: quaternions of four numbers, pivots of six, matrices of nine."""

from __future__ import annotations

from sennit.compilation import inlined


@inlined
def row4(A, row):
    return A[row, 0], A[row, 1], A[row, 2], A[row, 3]


@inlined
def row6(A, row):
    return A[row, 0], A[row, 1], A[row, 2], A[row, 3], A[row, 4], A[row, 5]


@inlined
def row9(A, row):
    return (
        A[row, 0], A[row, 1], A[row, 2],
        A[row, 3], A[row, 4], A[row, 5],
        A[row, 6], A[row, 7], A[row, 8],
    )  # fmt: skip


@inlined
def put4(A, row, a):
    A[row, 0], A[row, 1], A[row, 2], A[row, 3] = a


@inlined
def put6(A, row, a):
    for k in range(6):
        A[row, k] = a[k]


@inlined
def put9(A, row, a):
    for k in range(9):
        A[row, k] = a[k]
