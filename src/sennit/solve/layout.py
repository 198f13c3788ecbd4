"""What is where in a scene's tables: bodies, points, rows and loads numbered, and the parts of the matrix laid out.

Bodies, points, constraints and loads keep views of these tables: what is set on them is seen by the next solve, and
what a solve writes is read from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from sennit.bodies.body import AbstractBody, Home
from sennit.bodies.kinds import joined_tables, sorted_by_kind
from sennit.bodies.point.point import Point
from sennit.bodies.point.table import Frames, Places, Points
from sennit.bodies.table import Motion
from sennit.constraints.cable.rigging import SceneCables
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.kernels.rows import ANGULAR, DISTANCE, ROW_WIDTH, TRAITS
from sennit.constraints.load import Load, Loads
from sennit.constraints.route import Routes
from sennit.constraints.row import Rows
from sennit.contact.obstacle import Obstacle
from sennit.linalg.bounded import BoundedProblem
from sennit.solve.kernels.curvature import BLOCK_SIZE
from sennit.solve.table import (
    Blocks,
    Candidates,
    Groups,
    Kept,
    Layout,
    Ledger,
    Model,
    Report,
    Scheme,
    Settings,
    Step,
    Trial,
)
from sennit.tables import STATE, Table

__all__ = ["SceneLayout"]

Body = TypeVar("Body", bound=AbstractBody)

MISS = 0.01
"""What a step may miss a row by, over the size of what it ties, or in radians."""
_TRAITS = np.array(TRAITS)


class SceneLayout:
    """The tables of a set of bodies, constraints, loads and obstacles, but for the plan of their matrix."""

    def __init__(
        self, bodies: Sequence[AbstractBody], constraints: Sequence[AbstractConstraint], loads: Sequence[Load],
        obstacles: Sequence[Obstacle] = (),
    ) -> None:  # fmt: skip
        self.bodies = sorted_by_kind(bodies)
        self.constraints, self.loads, self.obstacles = list(constraints), list(loads), list(obstacles)
        self.tables: dict[str, Table] = {}
        """By their names in `SceneTable`."""
        self._number_bodies()
        self._number_points()
        self._number_rows()
        cables = [cable for constraint in self.constraints for cable in constraint._cables()]
        self.cables = SceneCables(cables, self.points, self.dofs, self.bounded)
        self.tables["rigging"] = self.cables.rigging
        self._number_loads()
        self._number_routes()
        self._share_masses()
        self.tables |= {
            "layout": Layout(rows=1), "settings": Settings(rows=1), "step": Step(rows=1), "scheme": Scheme(rows=1),
            "report": Report(rows=1), "trial": Trial(dofs=self.dofs, small=2 * ROW_WIDTH), "ledger": Ledger(rows=1),
        }  # fmt: skip
        tables: Any = self.tables
        sizes = {"splines": len(tables["splines"].rods), "discretes": len(tables["discretes"].rods)}
        sizes |= {"rigids": len(tables["rigids"]), "sliders": len(tables["sliders"])}
        rows_now, cables_now = tables["rows"].words(STATE), self.cables.words
        self.tables["kept"] = Kept.of(
            rows=rows_now, rows_before=rows_now.copy(), cables=cables_now, cables_before=cables_now.copy()
        )
        self.tables["groups"] = Groups(rows=max(len(self.bodies), 1), **sizes)
        self.find_groups()
        small = max(self.bounded + self.cables.rows, 1)
        self.candidates, self.bounded_problem = Candidates(rows=small), BoundedProblem(rows=small)
        """Workspaces of the small problem of rows with bounds."""
        self.lay_out()

    def of_kind(self, kind: type[Body]) -> list[Body]:
        """Its bodies of one kind, as they are numbered."""
        return [body for body in self.bodies if isinstance(body, kind)]

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
        things: list[Any] = [*self.constraints, *self.loads, *self.obstacles]
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
        rows.target_seen[:] = rows.target
        self._set_tolerances(rows)
        self.tables["rows"] = rows
        self.rows, self.duals = len(rows), dual
        self.bounded = len(rows) - dual

    def _set_tolerances(self, rows: Rows) -> None:
        """What a step may miss a row by: MISS of the larger of the two things that it ties, or radians."""
        largest = max((size for body in self.bodies if (size := body._size()) > 0.0), default=1.0)
        for constraint, (first, end) in zip(self.constraints, self.row_ends, strict=True):
            if end > first:
                size = max((point._extent() for point in constraint._points), default=0.0)
                size = max(size, float(np.max(rows.target[first:end] * (rows.kind[first:end] == DISTANCE))))
                angular = (_TRAITS[rows.kind[first:end]] & ANGULAR) != 0
                rows.tolerance[first:end] = MISS * np.where(angular, 1.0, min(size, largest) if size > 0.0 else largest)

    def find_groups(self) -> None:
        """Number the groups of bodies that ties hold together, and note which of them nothing ties to the world.

        Bodies that a tie might hold to the world (a floor that they may touch) count as held.
        """
        groups: Any = self.tables["groups"]
        number = {id(body): i for i, body in enumerate(self.bodies)}
        leader = list(range(len(self.bodies) + 1))  # the last is the world

        def lead(i: int) -> int:
            while leader[i] != i:
                leader[i] = leader[leader[i]]
                i = leader[i]
            return i

        def join(bodies: Iterable[Any]) -> None:
            first, *rest = {lead(len(self.bodies) if body is None else number[id(body)]) for body in bodies}
            for other in rest:
                low, high = sorted((first, other))
                leader[low] = first = high

        turning = set()
        for body in self.bodies:
            join((body, *body._rides_on(), *((None,) if body._is_held() else ())))
        for constraint in self.constraints:
            if constraint._ties():
                join(point.body for point in constraint.points)
                if any(bool((cable._tables.elements.rotor == 1).any()) for cable in constraint._cables()):
                    turning |= {lead(number[id(p.body)]) for p in constraint.points if p.body is not None}
        found: dict[int, int] = {}
        groups.free[:] = groups.keeps_spin[:] = 0
        fields = {"splines": groups.of_spline, "discretes": groups.of_discrete}
        fields |= {"rigids": groups.of_rigid, "sliders": groups.of_slider}
        for body in self.bodies:
            root = lead(number[id(body)])
            group = found.setdefault(root, len(found))
            groups.free[group] = int(root != lead(len(self.bodies)))
            table = body._home_table()
            if table in fields:
                fields[table][body._index] = group
        for root, group in found.items():
            groups.keeps_spin[group] = groups.free[group] and int(all(lead(t) != root for t in turning))

    def _number_loads(self) -> None:
        loads = Loads(rows=len(self.loads))
        for i, load in enumerate(self.loads):
            load._enter(loads, i)
        self.tables["loads"] = loads

    def _number_routes(self) -> None:
        things: list[Any] = [*self.constraints, *self.obstacles]
        led = [(route, thing._anchor._index) for thing in things if (route := thing._route()) is not None]
        routes = Routes(rows=len(led), knots=sum(len(route.times) for route, _ in led))
        first = 0
        for i, (route, point) in enumerate(led):
            route._enter(routes, i, first, point)
            first += len(route.times)
        self.tables["routes"] = routes

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

    def lay_spans(self) -> None:
        """Where the spans of cables stand in the matrix's numbers, behind the rows."""
        points: Any = self.tables["points"]
        layout: Any = self.tables["layout"]
        self.numbers = self.cables.lay_spans(points, int(layout.diagonals[0]) + self.rows)

    def lay_out(self) -> None:
        """Where each part of the matrix stands in its numbers; again when a slider has entered another span."""
        layout: Any = self.tables["layout"]
        layout.dofs[0], layout.row_slots[0] = self.dofs, self._body_numbers
        layout.diagonals[0] = layout.row_slots[0] + ROW_WIDTH * self.rows
        self.lay_spans()
        ties = [(r0, r1) for r0, r1 in self.row_ends if r1 > r0] + [(i, -1) for i in range(len(self.loads))]
        blocks = Blocks(rows=len(ties))
        blocks.first[:], blocks.end[:] = np.array(ties, np.int64).reshape(-1, 2).T
        blocks.slot[:] = self.numbers + BLOCK_SIZE * np.arange(len(ties))
        self.tables["blocks"] = blocks
        self.curved_numbers = self.numbers + BLOCK_SIZE * len(ties)
        self.model = Model(**self.tables)
        """All of them as one table."""
