"""Rows that are added to a factorised system for one solve: see `sennit.linalg.kernels.panel`."""

from __future__ import annotations

import numpy as np

from sennit.tables import WORK, Table, number, whole

__all__ = ["PanelRows"]


class PanelRows(Table):
    """A set of rows b of a system, each as y = L⁻¹ P b, and the list that the next one is made of.

    `rows`: how many at most; `size` and `panels`: those of the `Plan`; `width`: most entries of a row.
    """

    vectors = number(WORK, "y of each row, permuted; 0 outside its reach and before its first use", "size")
    reach = whole(WORK, "panels where y is not 0, children before parents", "panels", kind=np.uint32)
    reached = whole(WORK, "how many panels those are", kind=np.uint32)
    mark = whole(WORK, "0, but while a reach is found", of="panels", kind=np.uint8)
    index = whole(WORK, "natural unknowns of the row to be added; one may come more than once", of="width")
    coefficient = number(WORK, "its coefficients", of="width")
