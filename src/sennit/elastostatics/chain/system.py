"""The system of seams of some zones: its stiffnesses, workspaces and methods of solution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from sennit.compilation import compile_once
from sennit.elastostatics.chain.condensed import CondensedZone, Side
from sennit.elastostatics.chain.kernels import blocks as blocks
from sennit.elastostatics.chain.kernels import solve as kernels
from sennit.elastostatics.chain.structure import build
from sennit.elastostatics.greens import GreensFunctions
from sennit.elastostatics.surface import IntArray
from sennit.errors import SolveError, SolveReport
from sennit.validation import FloatArray

__all__ = ["METHODS", "SeamSystem", "Solved", "compile_chain"]

METHODS = ("auto", "direct", "sweeps", "block_diagonal", "kinematic")

TOLERANCE = 1e-8
"""Relative residual and estimated relative error at which sweeps stop."""
_MOST_SWEEPS = 8
_WEAK = 0.2
"""Coupling ρ of seams below which sweeps are worth it: k of them leave about ρ^(2k − 1), and cost far less than the
whole factor."""


@dataclass(frozen=True, eq=False)
class Solved:
    """One solution of the system of seams."""

    v: FloatArray
    """Displacements of the seams' nodes in their owners' frames, in order of elimination, by component."""
    u: FloatArray
    """What the zones see of them, in vectors of zones."""
    turns: FloatArray
    """(seams + 1, 9): from owners' to other zones' frames."""
    method: str
    """What gave the answer."""
    sweeps: int
    residual: float
    """|b − A v| / |b|."""
    error: float
    """Estimated relative error of v."""
    fallback: bool
    """Whether sweeps missed the tolerance and the direct solver stepped in."""


class SeamSystem:
    """Zones of given Young's moduli, condensed on their seams.

    Arguments: `zones`; `moduli` (Pa); `pairs` of zones that seams join; `sides`, the seam as a side of its two zones.
    Not for several threads at once: it has one workspace.
    """

    def __init__(
        self, zones: list[CondensedZone], moduli: list[float], pairs: list[tuple[int, int]],
        sides: list[tuple[int, int]],
    ) -> None:  # fmt: skip
        self.zones = zones
        self.moduli = moduli
        self.structure = build(zones, pairs, sides)
        self.tables = self.structure.tables
        seams, vectors, matrices, panels = self.structure.sizes
        self.size = seams
        """Unknowns, padding included."""
        self.vector = vectors
        self.matrices = np.empty(matrices)
        """The zones' condensed stiffnesses, N/m, one after another."""
        self._given: list[FloatArray | None] = [None] * len(zones)
        for z in range(len(zones)):
            self.set_stiffness(z, None)
        self.panels = np.zeros(panels)
        count = len(pairs)
        self.turns = np.tile(np.eye(3).ravel(), (count + 1, 1))
        self.offsets = np.zeros(vectors)
        self._bracket = np.zeros(vectors)
        self.b, self._change, self._residual = (np.zeros(seams) for _ in range(3))
        self._work = (self.turns, self.offsets, self._bracket, self.b, self._change, self._residual)
        self._rest_panels: FloatArray | None = None
        self._ready = ""
        """Method that the factors in the panels belong to."""
        self._stale = True
        """Whether blocks that no pose changes must be put into the panels again."""
        self.coupling = 0.0
        """Spectral radius of D⁻¹(A − D), D the diagonal blocks, as it was when it was last measured."""

    def zone_slice(self, z: int) -> slice:
        """Part of vectors of zones that belongs to zone z."""
        at, size, _ = self.tables[1][z].tolist()
        return slice(at, at + size)

    def set_stiffness(self, z: int, stiffness: FloatArray | None) -> None:
        """Take `stiffness` (at E = 1) for zone z, or its own again (None)."""
        if stiffness is not None and self._given[z] is stiffness:
            return
        if stiffness is None and self._given[z] is self.zones[z].stiffness:
            return
        given = self._given[z] = self.zones[z].stiffness if stiffness is None else stiffness
        self._stale = True
        _, size, at = self.tables[1][z].tolist()
        block = self.matrices[at : at + size * size].reshape(size, size)
        np.multiply(given, self.moduli[z], out=block)
        # Padding is held by a spring of its owner's, so that the diagonal blocks stay positive.
        spring = float(np.diag(block).mean()) or 1.0
        for seam in self.tables[0]:
            if seam[blocks.OWNER] == z:
                m, own = int(seam[blocks.NODES]), int(seam[blocks.OWN] - self.tables[1][z, 0])
                rows = own + np.arange(3 * m)
                idle = rows[np.diag(block)[rows] == 0.0]
                block[idle, idle] = spring

    def measure(self, rotations: FloatArray, places: FloatArray) -> float:
        """Measure the coupling at some poses, and keep the diagonal blocks' factors there for estimates."""
        kernels.pose_system(self.tables, self.matrices, rotations, places, self.structure.rest, self.turns,
                            self.offsets, np.zeros(self.vector), self.b)  # fmt: skip
        kernels.assemble(*self.tables[:4], self.matrices, self.turns, True, self.panels)
        self._refuse(-blocks.factor_diagonals(self.tables[0], self.panels))
        start = np.random.default_rng(0).standard_normal(self.size)
        self.coupling = float(kernels.coupling(self.tables, self.panels, start, self._change, 12))
        self._rest_panels = self.panels.copy()
        return self.coupling

    def solve(self, rotations: FloatArray, places: FloatArray, held: FloatArray, method: str) -> Solved:
        """Solve for poses (`rotations` (zones, 9), `places` (zones, 3)) and forces `held` at seams held still.

        `method` is one of `METHODS`.
        """
        given = (self.tables, self.matrices, rotations, places, self.structure.rest, held)
        v, u, out = np.empty(self.size), np.empty(self.vector), np.zeros(3)
        used, fallback = method, False
        if method == "auto":
            single = not len(self.tables[4])
            used = "sweeps" if single or self.coupling < _WEAK else "direct"
        if used in ("block_diagonal", "kinematic"):
            kinematic = used == "kinematic"
            panels = self.panels
            if kinematic:
                assert self._rest_panels is not None
                panels = self._rest_panels
            self._refuse(kernels.solve_apart(*given, kinematic, panels, self._work, v, u, out))
        if used == "sweeps":
            state = kernels.solve_by_sweeps(
                *given, self._stale, TOLERANCE, _MOST_SWEEPS, self.panels, self._work, v, u, out
            )
            self._stale = False
            self._refuse(state)
            if state == 0:
                used, fallback = "direct", True
        if used == "direct":
            self._stale = True
            self._refuse(kernels.solve_directly(*given, self.panels, self._work, v, u, out))
            out[2] = out[1]
        self._ready = used
        sweeps = int(out[0])
        return Solved(v, u, self.turns.copy(), used, sweeps, float(out[1]), float(out[2]), fallback)

    def respond(self, columns: FloatArray) -> FloatArray:
        """A⁻¹ B for few columns B (unknowns, q) at the poses of the last `solve`, by the method that it used."""
        out = np.zeros_like(columns)
        given = self.tables[0], *self.tables[4:8], self.panels
        for k in range(columns.shape[1]):
            v = columns[:, k].copy()
            if self._ready == "sweeps":
                b = v.copy()
                done = kernels.sweeps(*given, b, TOLERANCE, _MOST_SWEEPS, v, self._change, self._residual, np.zeros(3))
                if not done:
                    self._factor_again()
                    return self.respond(columns)
            elif self._ready == "direct":
                blocks.solve_whole(self.tables[0], self.tables[8], self.tables[9], self.panels, v)
            elif self._ready == "block_diagonal":
                blocks.solve_diagonals(self.tables[0], self.panels, v)
            else:  # seams that are placed answer to nothing
                continue
            out[:, k] = v
        return out

    def _factor_again(self) -> None:
        """The whole factor at the poses of the last `solve`."""
        self._stale = True
        kernels.assemble(*self.tables[:4], self.matrices, self.turns, True, self.panels)
        self._refuse(-blocks.factor_whole(self.tables[0], *self.tables[10:12], self.panels))
        self._ready = "direct"

    def forward(self, columns: FloatArray) -> FloatArray:
        """L⁻¹ B for many columns B (unknowns, q) at the poses of the last `solve`.

        The seams' share of a compliance is (L⁻¹ B)ᵀ (L⁻¹ B). Seams that were each solved for themselves, or placed,
        answer like that here, too.
        """
        if self._ready == "sweeps":
            self._factor_again()
        width = -(-columns.shape[1] // 4) * 4
        Y = np.zeros((self.size, width))
        if self._ready == "kinematic":
            return Y[:, : columns.shape[1]]
        Y[:, : columns.shape[1]] = columns
        seams, below, starts = self.tables[0], self.tables[8], self.tables[9]
        if self._ready == "block_diagonal":
            starts = np.zeros_like(starts)
        blocks.forward_many(seams, below, starts, self.panels, Y, width)
        return Y[:, : columns.shape[1]]

    def gathered(self, z: int, values: FloatArray) -> FloatArray:
        """T_zᵀ x for x (size of zone z, q): forces on a zone's seams as forces on the unknowns, (unknowns, q)."""
        out = np.zeros((self.size, values.shape[1]))
        forces, b = np.zeros(self.vector), np.empty(self.size)
        for k in range(values.shape[1]):
            forces[self.zone_slice(z)] = values[:, k]
            kernels.gather(self.tables[0], self.turns, forces, b)
            out[:, k] = b
        return out

    def backward(self, values: FloatArray) -> FloatArray:
        """L⁻ᵀ x for x (unknowns,), the other half of A⁻¹ after `forward`."""
        y = np.array(values)
        if self._ready == "kinematic":
            return np.zeros_like(y)
        starts = self.tables[9] if self._ready == "direct" else np.zeros_like(self.tables[9])
        blocks.backward_whole(self.tables[0], self.tables[8], starts, self.panels, y)
        return y

    def seen(self, change: FloatArray) -> FloatArray:
        """What the zones see of a change of the unknowns at the poses of the last `solve`."""
        u = np.empty(self.vector)
        kernels.spread_out(self.tables[0], self.turns, np.zeros(self.vector), change, u)
        return u

    def moved(self, solved: Solved, change: FloatArray) -> Solved:
        """`solved` with its unknowns changed by `change`, at the same poses."""
        u = np.empty(self.vector)
        kernels.spread_out(self.tables[0], solved.turns, np.zeros(self.vector), change, u)
        return replace(solved, v=solved.v + change, u=solved.u + u)

    def _refuse(self, state: int) -> None:
        if state < 0:
            seam = self.structure.order[-state - 1]
            text = f"the stiffness of seam {seam} is not positive: its zones' meshes are too coarse for their walls"
            raise SolveError(SolveReport("failed", 0, float("inf"), "chain", self.size // 3, text))


def compile_chain() -> None:
    """Compile the kernels of chains behind a progress line, once on a machine."""
    compile_once("chain", [("seams", _warm_up)])


def _warm_up() -> None:
    """Three zones of a few nodes, springs each for itself, solved by every method."""
    ends = [Side(np.arange(4), np.zeros((4, 3))), Side(np.arange(4, 8), np.zeros((4, 3)))]
    count = 10
    greens = cast(GreensFunctions, _Springs(np.eye(3 * count), np.arange(count), np.arange(3 * count)))
    zones = [CondensedZone(greens, [ends[0]]), CondensedZone(greens, ends), CondensedZone(greens, [ends[0]])]
    system = SeamSystem(zones, [1.0] * 3, [(0, 1), (1, 2)], [(0, 0), (1, 0)])
    rotations, places = np.tile(np.eye(3).ravel(), (3, 1)), np.zeros((3, 3))
    system.measure(rotations, places)
    held = np.ones(system.vector)
    for method in METHODS:
        solved = system.solve(rotations, places, held, method)
        columns = system.gathered(0, np.ones((12, 1)))
        system.respond(columns)
        system.backward(system.forward(columns)[:, 0])
        system.moved(solved, system.seen(solved.v)[: system.size])
        for single in (False, True):
            u = zones[0].surface(None, solved.u[system.zone_slice(0)], single)
    fixed = (u, np.eye(3), np.zeros(3))
    for array in fixed:
        array.flags.writeable = False  # as states and poses have them
    kernels.carry(np.zeros_like(u), *fixed, np.zeros_like(u))


@dataclass(frozen=True)
class _Springs:
    """What `CondensedZone` asks of Green's functions."""

    compliance: FloatArray
    slot: IntArray
    rows: IntArray
