"""Pieces of a rod: the same curve, frames, strains and velocities, in tables of their own.

A rod is cut at a knot, where its spans meet. The curves of a piece are those of the whole between two knots: cubic
between knots, twice differentiable there. Splines of the piece with ends of their own are as many, so that there is
exactly one set of control points for it: knot insertion, here by interpolation at as many places (Greville's), where
interpolation by splines has one solution (Schoenberg and Whitney). A chain of edges is cut at a node, and keeps its
nodes. Either way the control points of a piece are C times those of the whole, and so are their velocities: momentum
and energy of the pieces are those of the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sennit.bodies.rod.branches.table import Branches, Slips
from sennit.bodies.rod.filling import make_of
from sennit.bodies.rod.made import RodMatter, matter_of_piece
from sennit.bodies.rod.spline import shape
from sennit.bodies.rod.table import RodTables
from sennit.bodies.table import Motion
from sennit.errors import InputError
from sennit.material import Material, Section
from sennit.tables import PARAMETER
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.bodies.rod.table import IntArray

__all__ = ["LEAST_SPANS", "Piece", "pieces_at"]

LEAST_SPANS = {"spline": 2, "discrete": 3}
"""Spans of a piece at least, by the model: fewer are integrated by another rule, or make no rod."""

AnyRows = TypeVar("AnyRows", Branches, Slips)

_TURNS = 5
"""Newton's steps with which the ends of a piece take their strains: where it is bent, four leave misses of rounding."""

_YIELD = 0.02
"""What a miss is weighed against: how far the points of an end move, in lengths of a span, to make it good. Along a rod
there is one point fewer than strains to be met. Where it is bent, moving aside meets the last; where it is straight,
nothing does, and without this the end would be thrown aside by any length to try.
"""


def pieces_at(t: RodTables, s: float, name: str) -> list[tuple[int, int]]:
    """The pieces of a rod called `name` that is cut at the rest length `s`, m: the first span of each, and how many."""
    knots, least = t.knot_lengths, LEAST_SPANS[t.model.name]
    k = int(np.argmin(np.abs(knots - s)))
    if t.closed:
        return [(k % t.spans, t.spans)]
    if t.spans < 2 * least:
        raise InputError(f"{name} has {t.spans} spans: to be cut it needs {2 * least} of them")
    if not least <= k <= t.spans - least:
        raise InputError(
            f"s must be from {knots[least]:.6g} to {knots[t.spans - least]:.6g} m to leave two pieces of {name}, whose "
            f"length is {t.length:.6g} m, got {s:.6g}"
        )
    return [(0, k), (k, t.spans - k)]


class Piece:
    """The part of a rod of `matter` from span `begin` on, `spans` long; round the end of a closed one.

    `t` and `motion` are the whole's numbers; they are only read.
    """

    def __init__(self, t: RodTables, motion: Motion, matter: RodMatter, begin: int, spans: int) -> None:
        self._whole, self._begin, self._spans = t, begin, spans
        C = self._matrix()
        self.tables = self._made(C @ t.rest[:, :3])
        """Of the piece."""
        self.tables.matter = self._of(matter)
        self.motion = Motion(dofs=4 * len(C))
        """Its degrees of freedom."""
        for name, array in motion.fields().items():
            getattr(self.motion, name)[:] = (C @ array.reshape(-1, 4)).ravel()
        self._carry_over()

    @property
    def start(self) -> float:
        """Rest length of the whole at which it begins, m."""
        return float(self._whole.knot_lengths[self._begin])

    def _matrix(self) -> FloatArray:
        """C: control points of the piece from those of the whole."""
        t, spans = self._whole, self._spans
        if not t.model.smooth:
            return np.eye(t.n)[self._begin : self._begin + spans + 1]
        places = shape.greville(spans + 3, closed=False)
        own = shape.basis_matrix(places, spans + 3, closed=False)
        return np.asarray(np.linalg.solve(own, shape.basis_matrix(self._there(places), t.n, t.closed)))

    def _there(self, u: FloatArray) -> FloatArray:
        """Parameters of the whole at the parameters `u` of the piece."""
        t = self._whole
        moved = u + self._begin
        return np.asarray(np.where(moved > t.spans, moved - t.spans, moved) if t.closed else np.minimum(moved, t.spans))

    def _made(self, points: FloatArray) -> RodTables:
        """The tables of a rod with these control points at rest, made of anything."""
        t = self._whole
        options: dict[str, Any] = {"straight": True}
        if t.model.smooth:
            options["bending_points"] = int(np.count_nonzero((t.bend_u > 0.0) & (t.bend_u < t.spans)) / t.spans + 0.5)
        made = t.model.tables(points, Section.circle(1.0), Material(1.0, 0.0, 1.0), **options)
        made.take_branches(self._of_points(t.branches, made.bend_u))
        jumps = np.mod(t.jumps - self.start, t.length) if t.closed else t.jumps - self.start
        made.jumps = np.sort(jumps[(jumps > 0.0) & (jumps < made.length)])
        return made

    def _of(self, matter: RodMatter) -> RodMatter:
        """What the piece is made of, and its stiffnesses and masses: as they are now, which a batch may have varied."""
        t, made = self._whole, self.tables
        own = matter_of_piece(matter, t.places, self.start, t.closed, made.places)
        make_of(made, own)
        for name, field in type(made.rods)._fields.items():
            # a piece of a rod that varies may be thinner than the whole
            if field.role == PARAMETER and name != "length" and (name != "radius" or own.numbers.uniform):
                getattr(made.rods, name)[0] = getattr(t.rods, name)[0]
        for here, there, u, whole in (
            (made.bends, t.bends, made.bend_u, t.bend_u), (made.stretches, t.stretches, made.stretch_u, t.stretch_u),
        ):  # fmt: skip
            rows = self._nearest(u, whole)
            here.stiffness[:], here.relaxation[:] = there.stiffness[rows], there.relaxation[rows]
        made.branches.fill(self._of_points(t.branches, made.bend_u))
        return own

    def _carry_over(self) -> None:
        """Frames, strains, tensions and rest strains of the whole's points that are the piece's."""
        t, made = self._whole, self.tables
        kind = made.kind
        rows = self._nearest(made.bend_u, t.bend_u)
        for name, array in kind.bend.fields().items():
            array[:] = getattr(t.bend, name)[rows]
        kind.bend_last.strain[:] = t.part("bend_last").strain[rows]
        made.bends.rest[:] = t.bends.rest[rows]
        made.slips.fill(self._of_points(t.slips, made.bend_u))
        if not t.model.smooth and self._begin > 0:  # its first edge bends nowhere
            kind.bend.twist[0], kind.bend.strain[0], made.bends.rest[0] = 0.0, 0.0, 0.0
        strains = kind.bend.copy()
        made.model.accept_strains(0, kind, self.motion.q, kind.bend, kind.stretch)
        kind.bend.fill(strains)
        rows = self._nearest(made.stretch_u, t.stretch_u)
        # Where the whole has a place of its own, what it stored; the two next to a cut take what their span did.
        kind.stretch.tension[:] = t.stretch.tension[rows]
        kind.stretch_last.strain[:] = t.part("stretch_last").strain[rows]
        if t.model.smooth:
            self._let_ends_give(np.asarray(t.stretch.strain[rows]))
        kind.stretch.strain[:] = t.stretch.strain[rows]
        made.made = {"bend": kind.bend.copy(), "stretch": kind.stretch.copy()}

    def _let_ends_give(self, strains: FloatArray) -> None:
        """Move the last control points at a cut so that all stretching points have their strains.

        An end has two of them in its last span, where the whole had one in the middle. What the stretch of a bent
        spline is beside the middle is no strain of the rod's (it is some thousandths where spans turn by a tenth of a
        radian), and would be energy from nothing. They move by so much of a span, and by as little as will do.
        """
        t, points = self._whole, self.motion.q.reshape(-1, 4)[:, :3]
        n = len(points)
        for cut, free in ((t.closed or self._begin > 0, slice(0, 3)),
                          (t.closed or self._begin + self._spans < t.spans, slice(n - 3, n))):  # fmt: skip
            if not cut:
                continue
            own = self.tables.stretches
            touched = (own.span <= 2) if free.start == 0 else (own.span + 3 >= n - 3)
            rows = np.flatnonzero(touched)
            for _ in range(_TURNS):
                slopes = np.einsum("ki,kix->kx", own.slope_basis[rows], points[own.span[rows, None] + np.arange(4)])
                speeds = np.linalg.norm(slopes, axis=1)
                missing = own.speed[rows] * (1.0 + strains[rows]) - speeds
                pull = np.zeros((len(rows), n, 3))
                for k, row in enumerate(rows):
                    pull[k, own.span[row] + np.arange(4)] = np.outer(own.slope_basis[row], slopes[k] / speeds[k])
                across = pull[:, free].reshape(len(rows), -1)
                kept = across @ across.T + _YIELD**2 * np.eye(len(rows))
                points[free] += (across.T @ np.linalg.solve(kept, missing)).reshape(-1, 3)

    def _of_points(self, rows: AnyRows, u: FloatArray) -> AnyRows:
        """Rows of the whole's branches, of those of its points that are nearest to the places `u` of the piece."""
        made = type(rows)(rows=len(u) * (len(rows) // len(self._whole.bend_u)))
        nearest = self._nearest(u, self._whole.bend_u)
        for name, array in made.fields().items():
            of_points = getattr(rows, name).reshape(len(self._whole.bend_u), -1)[nearest]
            array[:] = of_points.reshape(array.shape)
        return made

    def _nearest(self, u: FloatArray, whole: FloatArray) -> IntArray:
        """The rows of the whole, whose places are `whole`, that are nearest to the places `u` of the piece."""
        return np.asarray(np.abs(self._there(u)[:, None] - whole).argmin(axis=1))
