"""What is where in a scene's tables: bodies, points, rows and loads numbered, and the parts of the matrix laid out.

Bodies, points, constraints and loads keep views of these tables: what is set on them is seen by the next solve, and
what a solve writes is read from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from sennit.bodies.body import AbstractBody, Home
from sennit.bodies.kinds import joined_tables, sorted_by_kind
from sennit.bodies.point.point import Point
from sennit.bodies.point.table import Frames, Places, Points
from sennit.bodies.table import Motion
from sennit.constraints.cable.rigging import SceneCables
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.kernels.rows import ROW_WIDTH
from sennit.constraints.load import Load, Loads
from sennit.constraints.row import Rows
from sennit.linalg.bounded import BoundedProblem
from sennit.solve.kernels.curvature import BLOCK_SIZE
from sennit.solve.table import Blocks, Candidates, Layout, Model, Report, Scheme, Settings, Step, Trial
from sennit.tables import Table

__all__ = ["SceneLayout"]


class SceneLayout:
    """The tables of a set of bodies, constraints and loads, but for the plan of their matrix."""

    def __init__(
        self, bodies: Sequence[AbstractBody], constraints: Sequence[AbstractConstraint], loads: Sequence[Load]
    ) -> None:
        self.bodies = sorted_by_kind(bodies)
        self.constraints, self.loads = list(constraints), list(loads)
        self.tables: dict[str, Table] = {}
        """By their names in `SceneTable`."""
        self._number_bodies()
        self._number_points()
        self._number_rows()
        cables = [cable for constraint in self.constraints for cable in constraint._cables()]
        self.cables = SceneCables(cables, self.points, self.dofs, self.bounded)
        self.tables["rigging"] = self.cables.rigging
        self._number_loads()
        self._share_masses()
        self.tables |= {
            "layout": Layout(rows=1), "settings": Settings(rows=1), "step": Step(rows=1), "scheme": Scheme(rows=1),
            "report": Report(rows=1), "trial": Trial(dofs=self.dofs, small=2 * ROW_WIDTH),
        }  # fmt: skip
        small = max(self.bounded + self.cables.rows, 1)
        self.candidates, self.bounded_problem = Candidates(rows=small), BoundedProblem(rows=small)
        """Workspaces of the small problem of rows with bounds."""
        self.lay_out()

    def of_kind(self, kind: type[AbstractBody]) -> list[AbstractBody]:
        """Its bodies of one kind, as they are numbered."""
        return [body for body in self.bodies if body._rank == kind._rank]

    def _number_bodies(self) -> None:
        self.tables |= joined_tables(self.bodies)
        motion = Motion.joined(body._motion for body in self.bodies)
        self.tables["motion"] = motion
        self.dofs = len(motion)
        home = Home.of(motion, self.tables["rigids"])  # type: ignore[arg-type]
        dof = block = 0
        for body in self.bodies:
            block = body._take_place(motion, home, dof, block)
            dof += len(body._motion)
        self._body_numbers = block

    def _number_points(self) -> None:
        used: dict[int, Point] = {}
        for body in self.bodies:
            for point in body._own_points():
                used.setdefault(id(point), point)
        things: list[Any] = [*self.constraints, *self.loads]
        for thing in things:
            for point in thing.points:
                used.setdefault(id(point), point)
        self.points = list(used.values())
        points, frames = Points(rows=len(self.points)), Frames(rows=len(self.points))
        for i, point in enumerate(self.points):
            if point._index < 0:
                point._refresh()
            point._enter(i, points, frames)
            point._number()
        for body in self.bodies:
            body._note_points()
        self.tables |= {"points": points, "frames": frames}
        self.tables |= {"trial_frames": Frames(rows=len(points)), "places": Places(rows=len(points))}

    def _number_rows(self) -> None:
        rows = Rows(rows=sum(len(c._rows) for c in self.constraints))
        self.row_ends: list[tuple[int, int]] = []
        at = dual = 0
        for owner, constraint in enumerate(self.constraints):
            first = at
            at, dual = constraint._enter(rows, at, owner, dual)
            self.row_ends.append((first, at))
            if constraint._directs():
                for point in constraint.points:
                    if (rod := point._rod()) is not None:
                        rod._hold_frames()
        rows.gain[:] = 1.0
        self.tables["rows"] = rows
        self.rows, self.duals = len(rows), dual
        self.bounded = len(rows) - dual

    def _number_loads(self) -> None:
        loads = Loads(rows=len(self.loads))
        for i, load in enumerate(self.loads):
            load._enter(loads, i)
        self.tables["loads"] = loads

    def _share_masses(self) -> None:
        """Tell each end of a tie the mass that it may reckon with, shared among those nearby on the body."""
        ends = [point for constraint in self.constraints for point in constraint._mass_sharers()]
        crowd: Counter[tuple[int, Any]] = Counter()
        whole: Counter[int] = Counter()
        for point in ends:
            crowd[id(point.body), point._crowding()] += 1
            whole[id(point.body)] += 1
        for point in ends:
            body, place = id(point.body), point._crowding()
            near = sum(crowd[body, place + k] for k in (-1, 0, 1))
            point._row.felt[0] = point._mass_felt(near, whole[body])

    def lay_out(self) -> None:
        """Where each part of the matrix stands in its numbers; again when a slider has entered another span."""
        layout: Any = self.tables["layout"]
        points: Any = self.tables["points"]
        layout.dofs[0], layout.row_slots[0] = self.dofs, self._body_numbers
        layout.diagonals[0] = layout.row_slots[0] + ROW_WIDTH * self.rows
        self.numbers = self.cables.lay_spans(points, int(layout.diagonals[0]) + self.rows)
        ties = [(r0, r1) for r0, r1 in self.row_ends if r1 > r0] + [(i, -1) for i in range(len(self.loads))]
        blocks = Blocks(rows=len(ties))
        blocks.first[:], blocks.end[:] = np.array(ties, np.int64).reshape(-1, 2).T
        blocks.slot[:] = self.numbers + BLOCK_SIZE * np.arange(len(ties))
        self.tables["blocks"] = blocks
        self.curved_numbers = self.numbers + BLOCK_SIZE * len(ties)
        self.model = Model(**self.tables)
        """All of them as one table."""
