"""The system of seams of some zones: its stiffnesses, workspaces and methods of solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from sennit.compile_once import compile_once
from sennit.elastostatics.chain.condensed import CondensedZone, Side
from sennit.elastostatics.chain.kernels import blocks
from sennit.elastostatics.chain.kernels import solve as kernels
from sennit.elastostatics.chain.structure import build
from sennit.elastostatics.chain.tables import Found, Links, Poses, SeamWork
from sennit.elastostatics.greens import GreensFunctions
from sennit.elastostatics.surface import IntArray
from sennit.errors import SolveError, SolveReport
from sennit.geometry.pose import Pose
from sennit.validation import FloatArray

__all__ = ["METHODS", "SeamSystem", "Solved", "compile_chain"]

METHODS = ("auto", "direct", "sweeps", "block_diagonal", "kinematic", "modes")

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
    """Turns from owners' to other zones' frames, (seams + 1, 3, 3); the last is the identity."""
    method: str
    """What gave the answer."""
    sweeps: int
    """Block Gauss–Seidel sweeps that were made."""
    residual: float
    """What is left of the forces, |b − A v| / |b|."""
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
        self.plan = self.structure.plan
        self.size = self.structure.unknowns
        """Unknowns, padding included."""
        self.vector = self.structure.zone_axes
        """Numbers that the zones see of them."""
        self.poses = Poses(rows=len(zones))
        """Where the zones' frames are."""
        self.work = SeamWork(
            found=Found(rows=1), matrix_numbers=self.structure.matrix_numbers, turns=len(pairs) + 1,
            zone_axes=self.vector, unknowns=self.size,
        )  # fmt: skip
        self.work.turns[:] = np.eye(3)
        self._given: list[FloatArray | None] = [None] * len(zones)
        for z in range(len(zones)):
            self.set_stiffness(z, None)
        self.panels = np.zeros(self.structure.panel_numbers)
        self._no_links = Links(blocks=0, ends=len(pairs) + 1)
        self._rest_panels: FloatArray | None = None
        self._ready = ""
        """Method that the factors in the panels belong to."""
        self._stale = True
        """Whether blocks that no pose changes must be put into the panels again."""
        self.coupling = 0.0
        """Spectral radius of D⁻¹(A − D), D the diagonal blocks, as it was when it was last measured."""

    def zone_slice(self, z: int) -> slice:
        """Part of vectors of zones that belongs to zone z."""
        at = int(self.plan.zones.vector[z])
        return slice(at, at + int(self.plan.zones.size[z]))

    def place(self, poses: Sequence[Pose]) -> None:
        """Put the zones' frames at `poses`, for the next `measure` or `solve`."""
        for z, pose in enumerate(poses):
            self.poses.rotation[z] = pose.rotation
            self.poses.position[z] = pose.position

    def set_stiffness(self, z: int, stiffness: FloatArray | None) -> None:
        """Take `stiffness` (at E = 1) for zone z, or its own again (None)."""
        if stiffness is not None and self._given[z] is stiffness:
            return
        if stiffness is None and self._given[z] is self.zones[z].stiffness:
            return
        given = self._given[z] = self.zones[z].stiffness if stiffness is None else stiffness
        self._stale = True
        zones, seams = self.plan.zones, self.plan.seams
        size, at = int(zones.size[z]), int(zones.matrix[z])
        block = self.work.matrices[at : at + size * size].reshape(size, size)
        np.multiply(given, self.moduli[z], out=block)
        # Padding is held by a spring of its owner's, so that the diagonal blocks stay positive.
        spring = float(np.diag(block).mean()) or 1.0
        for s in np.flatnonzero(seams.owner == z).tolist():
            rows = int(seams.own[s] - zones.vector[z]) + np.arange(3 * int(seams.nodes[s]))
            idle = rows[np.diag(block)[rows] == 0.0]
            block[idle, idle] = spring

    def measure(self) -> float:
        """Measure the coupling at the present poses, and keep the diagonal blocks' factors there for estimates."""
        kernels.pose_system(self.plan, self.poses, self.work, np.zeros(self.vector))
        kernels.assemble(self.plan, self.work, True, self.panels)
        self._refuse(-blocks.factor_diagonals(self.plan.seams, self.panels))
        start = np.random.default_rng(0).standard_normal(self.size)
        self.coupling = float(kernels.coupling(self.plan, self.panels, start, self.work.change, 12))
        self._rest_panels = self.panels.copy()
        return self.coupling

    def solve(self, held: FloatArray, method: str) -> Solved:
        """Solve for the present poses and forces `held` at seams held still; `method` is one of `METHODS`."""
        plan, poses, work, found = self.plan, self.poses, self.work, self.work.found
        v, u = np.empty(self.size), np.empty(self.vector)
        found.sweeps[0], found.residual[0], found.error[0] = 0, 0.0, 0.0
        used, fallback = method, False
        if method == "auto":
            single = not len(plan.filled)
            used = "sweeps" if single or self.coupling < _WEAK else "direct"
        if used in ("block_diagonal", "kinematic"):
            kinematic = used == "kinematic"
            panels = self.panels
            if kinematic:
                assert self._rest_panels is not None
                panels = self._rest_panels
            self._refuse(kernels.solve_apart(plan, poses, work, panels, held, kinematic, v, u))
        if used == "sweeps":
            state = kernels.solve_by_sweeps(
                plan, poses, work, self.panels, held, self._stale, TOLERANCE, _MOST_SWEEPS, v, u
            )
            self._stale = False
            self._refuse(state)
            if state == 0:
                used, fallback = "direct", True
        if used == "direct":
            self._stale = True
            self._refuse(kernels.solve_directly(plan, poses, work, self.panels, held, v, u))
        self._ready = used
        told = int(found.sweeps[0]), float(found.residual[0]), float(found.error[0])
        return Solved(v, u, work.turns.copy(), used, *told, fallback)

    def judged(self, solved: Solved, held: FloatArray) -> Solved:
        """`solved`, which came from elsewhere, with its residual here and an error that is estimated as below.

        Each seam is solved once for what is left, with the diagonal blocks as they were when they were measured.
        """
        assert self._rest_panels is not None
        kernels.pose_system(self.plan, self.poses, self.work, held)
        residual = float(kernels.imbalance(self.plan, self.work, solved.u, held))
        missing = self.work.residual.copy()
        blocks.solve_diagonals(self.plan.seams, self._rest_panels, missing)
        size = float(np.linalg.norm(solved.v + missing))
        return replace(solved, residual=residual, error=float(np.linalg.norm(missing)) / size if size > 0.0 else 0.0)

    def respond(self, columns: FloatArray) -> FloatArray:
        """A⁻¹ B for few columns B (unknowns, q) at the poses of the last `solve`, by the method that it used."""
        out = np.zeros_like(columns)
        for k in range(columns.shape[1]):
            v = columns[:, k].copy()
            if self._ready == "sweeps":
                b = v.copy()
                if not kernels.sweeps(self.plan, self.panels, self.work, b, TOLERANCE, _MOST_SWEEPS, v):
                    self._factor_again()
                    return self.respond(columns)
            elif self._ready == "direct":
                blocks.solve_whole(self.plan, self.panels, v)
            elif self._ready == "block_diagonal":
                blocks.solve_diagonals(self.plan.seams, self.panels, v)
            else:  # seams that are placed answer to nothing
                continue
            out[:, k] = v
        return out

    def _factor_again(self) -> None:
        """The whole factor at the poses of the last `solve`."""
        self._stale = True
        kernels.assemble(self.plan, self.work, True, self.panels)
        self._refuse(-blocks.factor_whole(self.plan, self.panels))
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
        links = self._no_links if self._ready == "block_diagonal" else self.plan.factored
        blocks.forward_many(self.plan.seams, links, self.panels, Y, width)
        return Y[:, : columns.shape[1]]

    def gathered(self, z: int, values: FloatArray) -> FloatArray:
        """T_zᵀ x for x (size of zone z, q): forces on a zone's seams as forces on the unknowns, (unknowns, q)."""
        count = values.shape[1]
        out = np.zeros((self.size, count))
        seams, turns = self.plan.seams, self.work.turns
        start = int(self.plan.zones.vector[z])
        for s in np.flatnonzero(seams.owner == z).tolist():
            m, at, own = 3 * int(seams.nodes[s]), int(seams.at[s]), int(seams.own[s]) - start
            out[at : at + m] += values[own : own + m]
        for s in np.flatnonzero(seams.guest == z).tolist():
            m, at, other = 3 * int(seams.nodes[s]), int(seams.at[s]), int(seams.other[s]) - start
            turned = turns[s].T @ np.ascontiguousarray(values[other : other + m]).reshape(3, -1)
            out[at : at + m] += turned.reshape(m, count)
        return out

    def backward(self, values: FloatArray) -> FloatArray:
        """L⁻ᵀ x for x (unknowns,), the other half of A⁻¹ after `forward`."""
        y = np.array(values)
        if self._ready == "kinematic":
            return np.zeros_like(y)
        links = self.plan.factored if self._ready == "direct" else self._no_links
        blocks.backward_whole(self.plan.seams, links, self.panels, y)
        return y

    def seen(self, change: FloatArray) -> FloatArray:
        """What the zones see of a change of the unknowns at the poses of the last `solve`."""
        u = np.empty(self.vector)
        kernels.spread_out(self.plan.seams, self.work.turns, np.zeros(self.vector), change, u)
        return u

    def moved(self, solved: Solved, change: FloatArray) -> Solved:
        """`solved` with its unknowns changed by `change`, at the same poses."""
        u = np.empty(self.vector)
        kernels.spread_out(self.plan.seams, solved.turns, np.zeros(self.vector), change, u)
        return replace(solved, v=solved.v + change, u=solved.u + u)

    def _refuse(self, state: int) -> None:
        if state < 0:
            seam = self.structure.order[-state - 1]
            text = f"the stiffness of seam {seam} is not positive: its zones' meshes are too coarse for their walls"
            raise SolveError(SolveReport("failed", 0, float("inf"), "chain", self.size // 3, text))


def compile_chain() -> None:
    """Compile the kernels of chains behind a progress line, once on a machine."""
    compile_once("chain", [_warm_up])


def _warm_up() -> None:
    """Three zones of a few nodes, springs each for itself, solved by every method."""
    ends = [Side(np.arange(4), np.zeros((4, 3))), Side(np.arange(4, 8), np.zeros((4, 3)))]
    count = 10
    greens = cast(GreensFunctions, _Springs(np.eye(3 * count), np.arange(count), np.arange(3 * count)))
    zones = [CondensedZone(greens, [ends[0]]), CondensedZone(greens, ends), CondensedZone(greens, [ends[0]])]
    system = SeamSystem(zones, [1.0] * 3, [(0, 1), (1, 2)], [(0, 0), (1, 0)])
    system.place([Pose()] * 3)
    system.measure()
    held = np.ones(system.vector)
    for method in METHODS:
        if method == "modes":  # is solved by a system of fewer unknowns
            continue
        solved = system.solve(held, method)
        system.judged(solved, held)
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
