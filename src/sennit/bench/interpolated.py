"""Factors of a finger's seams that are interpolated between joint angles: a study, and no method of the library.

A zone's share of the seams' matrix is the same at all poses but for turns, so that the factors are smooth functions of
the joints' angles. Here they are known at four angles of each joint and interpolated by cubics between them: those of
the diagonal blocks, each of which only its own joint turns, or the whole block Cholesky factor, whose last panel both
joints turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import sennit as sn
from sennit.elastostatics.chain.kernels import blocks, solve
from sennit.elastostatics.chain.system import SeamSystem, Solved
from sennit.validation import FloatArray

__all__ = ["InterpolatedSeams", "interpolated"]

POINTS = (-1.5, -0.5, 0.5, 1.5)
"""Where factors are known, about the middle, in spacings."""


class InterpolatedSeams(SeamSystem):
    """Two seams whose factors are interpolated between angles that are `spacing` (rad) apart, `middle` amid them.

    `poses`: the zones' poses at two joint angles. `whole`: the factor of all, not only of the diagonal blocks.
    """

    def learn(
        self, poses: Callable[[Sequence[float]], list[sn.Pose]], middle: Sequence[float], spacing: float, whole: bool
    ) -> None:
        """Factor at 16 pairs of angles."""
        self.whole, self.spacing, self.middle = whole, spacing, np.asarray(middle)
        self.angles = self.middle.copy()
        """Where to solve, rad."""
        seams, last = self.plan.seams, len(self.plan.seams.nodes) - 1
        ends = [*seams.panel[1:].tolist(), len(self.panels)]
        self._slices = [slice(int(at), int(end)) for at, end in zip(seams.panel, ends, strict=True)]
        found = np.empty((4, 4, len(self.panels)))
        for i, one in enumerate(POINTS):
            for j, other in enumerate(POINTS):
                self.place(poses((self.middle + spacing * np.array((one, other))).tolist()))
                solve.pose_system(self.plan, self.poses, self.work, np.zeros(self.vector))
                solve.assemble(self.plan, self.work, True, self.panels)
                bad = (
                    blocks.factor_whole(self.plan, self.panels)
                    if whole
                    else blocks.factor_diagonals(seams, self.panels)
                )
                assert bad == 0
                found[i, j] = self.panels
        self._known: list[tuple[int | None, FloatArray]] = []
        for p, part in enumerate(self._slices):
            joint = int(self.structure.order[p])
            if whole and p == last:
                self._known.append((None, np.ascontiguousarray(found[:, :, part].reshape(16, -1))))
            else:
                self._known.append(
                    (joint, np.ascontiguousarray(found[:, 0, part] if joint == 0 else found[0, :, part]))
                )

    def solve(self, held: FloatArray, method: str) -> Solved:
        """As `SeamSystem.solve`, whatever `method` says."""
        solve.pose_system(self.plan, self.poses, self.work, held)
        at = (self.angles - self.middle) / self.spacing
        weights = [
            np.array([np.prod([(x - b) / (a - b) for b in POINTS if b != a]) for a in POINTS]) for x in at.tolist()
        ]
        both = np.multiply.outer(*weights).ravel()
        for part, (joint, known) in zip(self._slices, self._known, strict=True):
            # on one thread, as the library's own kernels are
            np.einsum("k,kn->n", both if joint is None else weights[joint], known, out=self.panels[part])
        v, u = self.work.b.copy(), np.empty(self.vector)
        if self.whole:
            blocks.solve_whole(self.plan, self.panels, v)
        else:
            blocks.solve_diagonals(self.plan.seams, self.panels, v)
        solve.spread_out(self.plan.seams, self.work.turns, self.work.offsets, v, u)
        self._stale, self._ready = True, "direct" if self.whole else "block_diagonal"
        return Solved(v, u, self.work.turns.copy(), self._ready, 0, 0.0, 0.0, False)


def interpolated(
    chain: sn.ZoneChain, poses: Callable[[Sequence[float]], list[sn.Pose]], middle: Sequence[float], spacing: float,
    whole: bool,
) -> sn.ZoneChain:  # fmt: skip
    """`chain`, which is changed, with seams whose factors are interpolated."""
    old = chain._system
    system = InterpolatedSeams(
        old.zones, old.moduli, [seam.zones for seam in chain.seams], chain._sides
    )  # fmt: skip
    system.place(chain.rest_poses)
    system.measure()
    system.learn(poses, middle, spacing, whole)
    chain._system = system
    return chain
