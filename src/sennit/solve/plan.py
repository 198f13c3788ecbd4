"""The plan of a scene's matrix: its entries, their order of elimination, and the workspaces of its factorisation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.bodies.kernels.points import WIDTH
from sennit.constraints.kernels.rows import ROW_WIDTH
from sennit.linalg.kernels.ldlt import unpermute
from sennit.linalg.panel_rows import PanelRows
from sennit.linalg.plan import plan_of
from sennit.solve.kernels.pattern import list_entries
from sennit.solve.layout import SceneLayout
from sennit.solve.table import Matrix, SceneTable

__all__ = ["MatrixPlan"]


class MatrixPlan:
    """Plan and workspaces of one factorisation, and the `SceneTable` with them in it."""

    def __init__(self, layout: SceneLayout, curved: bool, touching: Any = None) -> None:
        """`curved`: with what a static solve adds, and `touching`, if things may touch, to it."""
        model = layout.model
        count = blocks = 0
        for _ in range(2):  # first they are counted
            row, col, slot = (np.zeros(count, np.uint32) for _ in range(3))
            start, kind = np.zeros(blocks + 1 if blocks else 0, np.uint32), np.zeros(blocks, np.uint8)
            count, blocks = list_entries(int(curved), model, row, col, slot, start, kind)
        numbers = layout.curved_numbers if curved else layout.numbers
        if touching is not None:
            more, numbers = touching.list_bends(numbers)
            row, col, slot = (np.concatenate(parts) for parts in zip((row, col, slot), more, strict=True))
        self.row, self.col, self.slot = row, col, slot
        self.block_start, self.block_kind = start, kind
        self.plan = plan_of(start, kind, row, col, slot)
        self.dofs, unknowns = layout.dofs, layout.dofs + layout.duals
        self.matrix = Matrix(
            numbers=numbers, factors=self.plan.factor_length, lanes=self.plan.size, unknowns=unknowns,
        )  # fmt: skip
        self.matrix.ratio[:] = 1.0
        candidates = layout.candidates
        width = max(ROW_WIDTH, 2 * WIDTH * layout.cables.largest)
        panels = max(self.plan.panels, 1)
        panel = PanelRows(rows=len(candidates), size=self.plan.size, panels=panels, width=width)
        self.scene: SceneTable = SceneTable(
            **layout.tables, plan=self.plan, matrix=self.matrix, panel=panel, candidates=candidates,
            bounded=layout.bounded_problem,
        )  # fmt: skip
        """What `march` takes."""
        self.bare = self.scene
        """The same without contact."""
        self.touch: Any = None
        """Which tables of contact are in its scene, if there are any."""

    def whole(self) -> Any:
        """The whole symmetric matrix of the last solve, as a SciPy sparse matrix."""
        import scipy.sparse  # here, because it takes long to import and is seldom needed

        row, col = self.row.astype(np.int64), self.col.astype(np.int64)
        low, high, size = np.minimum(row, col), np.maximum(row, col), len(self.matrix.natural)
        half = scipy.sparse.coo_matrix((self.matrix.values[self.slot], (high, low)), shape=(size, size)).tocsc()
        return scipy.sparse.csc_matrix(half + half.T - scipy.sparse.diags(half.diagonal()))

    def natural(self, permuted: NDArray[np.float64]) -> NDArray[np.float64]:
        """A permuted vector in natural numbering."""
        out = np.zeros(len(self.matrix.natural))
        unpermute(self.plan, permuted, out)
        return out

    def row_ratios(self) -> NDArray[np.float64]:
        """Redundancy measure of each equality row, by its unknown: near 0 if it depends on others."""
        return self.natural(self.matrix.ratio)[self.dofs :]
