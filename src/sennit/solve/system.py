"""The tables of a scene: its bodies' numbers in common arrays, its points and rows, and the plan of its matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from sennit.bodies.body import HISTORY, STATE, AbstractBody
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.slider import Slider
from sennit.bodies.zone.places import ZonePlaces
from sennit.constraints.cable.cable import Cable
from sennit.constraints.cable.kernels.tables import IMPLICIT, ROW_CABLE, SPOOK
from sennit.constraints.constraint import ANGULAR, AbstractConstraint
from sennit.constraints.kernels.rows import (
    DISTANCE,
    DUAL,
    FIRST,
    KIND,
    OWNER,
    ROW_FLOATS,
    ROW_INTS,
    ROW_STATE,
    ROW_WIDTH,
    ROW_WRENCH,
    SECOND,
)
from sennit.constraints.load import Load
from sennit.linalg.kernels import symbolic as symbolic
from sennit.linalg.kernels.bounded import WORK_ROWS
from sennit.linalg.kernels.ldlt import unpermute
from sennit.point.kernels.points import FELT, POINT_FLOATS, POINT_INTS, POINT_PLACE, POINT_STATE, WIDTH, accept_point
from sennit.point.kernels.points import FIRST as POINT_FIRST
from sennit.point.point import Point, ZonePoint
from sennit.solve.cable_tables import CableTables
from sennit.solve.kernels.accept import evaluate_all, measure_rows
from sennit.solve.kernels.assembly import (
    DIAGONAL0,
    DOFS,
    EXACT,
    LOAD_FLOATS,
    LOAD_INTS,
    LOAD_POINT,
    PARAMETERS,
    PATH,
    PUSH,
    REPORT,
    RIGID_FLOATS,
    RIGID_INTS,
    ROD_INTS,
    SETTINGS,
    SL_SPAN,
    SLIDER_FLOATS,
    SLIDER_INTS,
    SLOT0,
    TUMBLES,
    TURNS,
    ZONE_FLOATS,
    ZONE_INTS,
)  # fmt: skip
from sennit.solve.kernels.cables import along_row, begin_cables
from sennit.solve.kernels.curvature import BLOCK_SIZE
from sennit.solve.kernels.motion import SCHEME, find_spans
from sennit.solve.kernels.pattern import list_entries

__all__ = ["Pattern", "System"]

IntArray = NDArray[np.int64]


class System:
    """Everything that the kernels of a scene read and write, built once for a set of bodies, constraints and loads.

    Bodies, points, constraints and loads keep views of these arrays: what is set on them is seen by the next solve, and
    what a solve writes is read from them.
    """

    def __init__(
        self,
        rods: Sequence[Rod],
        rigid: Sequence[RigidBody],
        sliders: Sequence[Slider],
        zones: Sequence[ZonePlaces],
        constraints: Sequence[AbstractConstraint],
        loads: Sequence[Load],
    ) -> None:
        self.rods, self.rigid, self.sliders, self.zones = list(rods), list(rigid), list(sliders), list(zones)
        self.constraints, self.loads = list(constraints), list(loads)
        bodies: list[AbstractBody] = [*rods, *rigid, *sliders, *zones]
        self.state = _joined(bodies, STATE, "_arrays")
        self.last = _joined(bodies, HISTORY, "_history")
        self.dofs = len(self.state["q"])
        self._number_bodies()
        self._collect_points()
        self._collect_rows()
        cables = [c for c in self.constraints if isinstance(c, Cable)]
        self.cables = CableTables(cables, self.points, self.dofs, self.bounded)
        self._collect_loads()
        self._lay_out()
        self._allocate()
        self.patterns: dict[bool, Pattern] = {}
        self.refresh()

    # -------------------------------------------------------------------------------------------------- tables

    def _number_bodies(self) -> None:
        dof = 0
        slot = 0
        ints: list[list[int]] = []
        b = s = m = 0
        for i, rod in enumerate(self.rods):
            t = rod._tables
            rod._index, rod._dof0, rod._block0 = i, dof, slot
            nb, ns = len(t.bend_table), len(t.stretch_table)
            ints.append(
                [int(t.model == "discrete"), dof, t.n, int(t.closed), b, b + nb, s, s + ns, slot, m, t.spans, 1]
            )
            dof, slot, b, s, m = dof + 4 * t.n, slot + 64 * t.n, b + nb, s + ns, m + t.n
        self.rod_ints = _table(ints, ROD_INTS, np.int64)
        tables = [rod._tables for rod in self.rods]
        self.rod_tables = (
            self.rod_ints,
            _stacked([t.constants[None] for t in tables], 8),
            _stacked([t.bend_table for t in tables], 17),
            _joined_ints([t.bend_span for t in tables]),
            _stacked([t.stretch_table for t in tables], 6),
            _joined_ints([t.stretch_span for t in tables]),
            _stacked([t.mass_table for t in tables], 9),
        )
        ints = []
        for i, body in enumerate(self.rigid):
            body._index, body._dof0, body._block0 = i, dof, slot
            ints.append([dof, slot])
            dof, slot = dof + 6, slot + 36
        self.rigid_ints = _table(ints, RIGID_INTS, np.int64)
        self.rigid_floats = _stacked(
            [np.concatenate(((b_.mass,), b_._inertia.ravel(), b_._inverse.ravel()))[None] for b_ in self.rigid],
            RIGID_FLOATS,
        )
        for i, slider in enumerate(self.sliders):
            slider._index, slider._dof0, slider._block0 = i, dof, slot
            dof, slot = dof + 1, slot + WIDTH
        ints = []
        stiffness = 0
        for i, zone in enumerate(self.zones):
            size = len(zone._arrays["q"])
            zone._index, zone._dof0, zone._block0 = i, dof, slot
            ints.append([dof, size, slot, stiffness])
            dof, slot, stiffness = dof + size, slot + size * size, stiffness + size * size
        self.zone_tables = (
            _table(ints, ZONE_INTS, np.int64),
            _stacked([np.array([[zone._material.relaxation_time]]) for zone in self.zones], ZONE_FLOATS),
            np.concatenate([zone._place_stiffness.ravel() for zone in self.zones] + [np.zeros(0)]),
        )
        self.zone_places = _joined_ints([zone._place_sizes for zone in self.zones])
        self._slots = slot

    def _collect_points(self) -> None:
        used: dict[int, Point] = {}
        for slider in self.sliders:
            used.setdefault(id(slider.at()), slider.at())
        for zone in self.zones:
            if zone._on.body is None:  # numbered before the places that it carries
                used.setdefault(id(zone._on), zone._on)
        for constraint in self.constraints:
            for point in constraint.points:
                used.setdefault(id(point), point)
        for load in self.loads:
            used.setdefault(id(load.point), load.point)
        self.points = list(used.values())
        count = len(self.points)
        self.point_ints = np.zeros((count, POINT_INTS), np.int64)
        self.point_floats = np.zeros((count, POINT_FLOATS))
        self.point_state = np.zeros((count, POINT_STATE))
        self.point_trial = np.zeros((count, POINT_STATE))
        self.point_place = np.zeros((count, POINT_PLACE))
        for i, point in enumerate(self.points):
            if point._index < 0:
                point._refresh()
            else:
                point._number()
            point._index = i
            if isinstance(point, ZonePoint):
                point._number()  # among the scene's numbers, with its carrier's
            tables = (("_ints", self.point_ints), ("_floats", self.point_floats), ("_state", self.point_state))
            for part, table in tables:
                table[i] = getattr(point, part)[0]
                setattr(point, part, table[i : i + 1])
        rows = []
        for slider in self.sliders:
            point = slider.at()
            rows.append([slider.rod._index, slider._dof0, point._index, slider._block0, -1])
        self.slider_ints = _table(rows, SLIDER_INTS, np.int64)
        self.slider_floats = _stacked(
            [np.array([[s._effective_mass(), s._drag, s._friction, s._scale]]) for s in self.sliders],
            SLIDER_FLOATS,
        )

    def _collect_rows(self) -> None:
        count = sum(len(c._ints) for c in self.constraints)
        self.row_ints = np.zeros((count, ROW_INTS), np.int64)
        self.row_floats = np.zeros((count, ROW_FLOATS))
        self.row_state = np.zeros((count, ROW_STATE))
        self.row_ends: list[tuple[int, int]] = []
        at = dual = 0
        for owner, constraint in enumerate(self.constraints):
            end = at + len(constraint._ints)
            self.row_ends.append((at, end))
            for part, table in (("_ints", self.row_ints), ("_floats", self.row_floats), ("_state", self.row_state)):
                table[at:end] = getattr(constraint, part)
                setattr(constraint, part, table[at:end])
            ints = self.row_ints[at:end]
            if end == at:
                continue
            first, second = constraint.points
            ints[:, FIRST], ints[:, SECOND], ints[:, OWNER] = first._index, second._index, owner
            equal = ints[:, DUAL] >= 0
            ints[equal, DUAL] = dual + np.arange(int(equal.sum()))
            dual += int(equal.sum())
            at = end
        self.rows, self.duals = count, dual
        self._share_masses()
        for constraint in self.constraints:
            if np.isin(constraint._ints[:, KIND], ANGULAR).any():
                for point in constraint.points:
                    rod = point.body.rod if isinstance(point.body, Slider) else point.body
                    if isinstance(rod, Rod):
                        self.rod_ints[rod._index, TUMBLES] = 0
        self.bounded = count - dual

    def _share_masses(self) -> None:
        """Tell each end of a distance row the mass that it may reckon with, shared among those nearby on the body."""
        ends = [
            p for c in self.constraints if (c._ints[:, KIND] == DISTANCE).any() for p in c.points if p.body is not None
        ]
        for cable in self.constraints:
            if isinstance(cable, Cable):
                inner = cable._stretchers[1:-1]
                both = [cable._stretchers[0], *inner, *inner, cable._stretchers[-1], *cable._around]
                ends += [p for p in both if p.body is not None]
        crowd: Counter[tuple[int, int]] = Counter()
        whole: Counter[int] = Counter()
        for point in ends:
            crowd[id(point.body), int(point._ints[0, POINT_FIRST])] += 1
            whole[id(point.body)] += 1
        for point in ends:
            body = point.body
            if isinstance(body, Rod):
                first = int(point._ints[0, POINT_FIRST])
                near = sum(crowd[id(body), first + k] for k in (-1, 0, 1))
                point._floats[0, FELT] = body._mass_felt(first, point._floats[0, :4]) / near
            elif isinstance(body, RigidBody):
                point._floats[0, FELT] = body.mass / whole[id(body)]
            elif isinstance(body, Slider):
                # where a slider is changes: a fifth of a control point's share, which is what the end of a rod feels
                point._floats[0, FELT] = 0.2 * body.rod.mass / body.rod._tables.n

    def _collect_loads(self) -> None:
        self.load_ints = np.zeros((len(self.loads), LOAD_INTS), np.int64)
        self.load_floats = np.zeros((len(self.loads), LOAD_FLOATS))
        for i, load in enumerate(self.loads):
            self.load_ints[i], self.load_floats[i] = load._ints[0], load._floats[0]
            load._ints, load._floats = self.load_ints[i : i + 1], self.load_floats[i : i + 1]
            self.load_ints[i, LOAD_POINT] = load.point._index

    def _lay_out(self) -> None:
        """Where each part of the matrix stands in `values`."""
        self.slot0 = self._slots
        self.diagonal0 = self.slot0 + ROW_WIDTH * self.rows
        self.end = self.cables.lay_spans(self.point_ints, self.diagonal0 + self.rows)
        blocks = []
        at = self.end
        for r0, r1 in self.row_ends:
            if r1 > r0:
                blocks.append((r0, r1, at))
                at += BLOCK_SIZE
        for i in range(len(self.loads)):
            blocks.append((i, -1, at))
            at += BLOCK_SIZE
        self.curvature = _table(blocks, 3, np.int64)
        self.curved_end = at

    def _allocate(self) -> None:
        n, rows, k = self.dofs, self.rows, max(self.bounded + self.cables.rows, 1)
        rigid, beads = len(self.rigid), len(self.sliders)
        bend, stretch = len(self.state["bend"]), len(self.state["stretch"])
        self.trial = (
            np.zeros(n), np.zeros(n), np.zeros(n), np.zeros((rigid, 4)), np.zeros((rigid, 4)), np.zeros((rigid, 3)),
            np.zeros((bend, 13)), np.zeros((stretch, 2)), np.zeros((beads, 7)), np.zeros(n),
        )  # fmt: skip
        self.turns = np.zeros((len(self.rods), 3))
        self.predicted, self.wanted, self.softness = np.zeros(rows), np.zeros(rows), np.zeros(rows)
        self.multipliers, self.gain = np.zeros(rows), np.ones(rows)
        self.force = np.zeros(n)
        self.small = np.zeros(2 * ROW_WIDTH)
        self.q_eval, self.quat_eval, self.bend_eval = np.zeros(n), np.zeros((rigid, 4)), np.zeros((bend, 13))
        self.scales = np.ones(n + 1)
        self.settings = np.zeros(SETTINGS, np.int64)
        self.settings[[SLOT0, DIAGONAL0, DOFS]] = self.slot0, self.diagonal0, n
        self.settings[[TURNS, PATH, EXACT, PUSH]] = 1
        self.parameters = np.zeros(PARAMETERS)
        self.scheme = np.zeros(SCHEME)
        self.report = np.zeros(REPORT, np.int64)
        self.small_problem = (
            np.zeros((k, k)), np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(k, np.int64),
            np.zeros((k, k)), np.zeros((WORK_ROWS, k)), np.zeros((2, k), np.int64), np.zeros(k, np.int64), np.zeros(k),
        )  # fmt: skip
        # tuples that the kernels take
        self.other_tables = (
            self.rigid_ints, self.rigid_floats, self.slider_ints, self.slider_floats, self.load_ints, self.load_floats,
            *self.zone_tables,
        )  # fmt: skip
        self.point_tables = (self.point_ints, self.point_floats, self.point_trial, self.point_place)
        self.row_tables = (
            self.row_ints, self.row_floats, self.row_state, np.zeros(rows), self.predicted, self.wanted, self.softness,
            np.zeros((rows, ROW_WRENCH)),
        )  # fmt: skip
        self.state_arrays = tuple(self.state[group] for group in STATE)
        self.last_arrays = tuple(self.last[group] for group in HISTORY)

    # ------------------------------------------------------------------------------------------------- pattern

    def pattern(self, curved: bool) -> Pattern:
        """The plan of the matrix, without or with what a static solve adds; made when first asked for."""
        found = self.patterns.get(curved)
        if found is None:
            found = self.patterns[curved] = Pattern(self, curved)
        return found

    def forget_patterns(self) -> None:
        """A slider has entered another span: rows touch other degrees of freedom now."""
        self.patterns.clear()
        self._lay_out()
        self.slider_ints[:, SL_SPAN] = self.point_ints[self.slider_ints[:, 2], 3]

    def spans_left(self) -> bool:
        """Whether the iterate's sliders have left the spans that the matrix was analysed for."""
        bead, q_trial = self.state["bead"], self.trial[2]
        return bool(find_spans(self.slider_ints, self.slider_floats, self.rod_ints, self.point_ints, bead, q_trial))

    def owner_of(self, dual: int) -> AbstractConstraint:
        """The constraint that an equality row belongs to."""
        row = int(np.flatnonzero(self.row_ints[:, DUAL] == dual)[0])
        return self.constraints[int(self.row_ints[row, OWNER])]

    def find_spans(self) -> None:
        """Put sliders' points on their spans, after the state was put back."""
        q, bead = self.state["q"], self.state["bead"]
        find_spans(self.slider_ints, self.slider_floats, self.rod_ints, self.point_ints, bead, q)
        self.cables.number_carriers()
        self.forget_patterns()

    def carry_points(self) -> None:
        """Carry the points' frames on to the state, after it was moved by a little."""
        self.find_spans()
        points = (self.point_ints, self.point_floats, self.point_state, self.point_place)
        evaluate_all(self.rod_tables, self.other_tables, points, self.state["q"], self.state["quat"])
        for p in range(len(self.points)):
            accept_point(p, self.point_ints, self.point_floats, self.point_state, self.state["q"], self.point_place)
        for s, slider in enumerate(self.sliders):
            self.state["bead"][s, :3] = self.point_place[slider.at()._index, :3]
        measure_rows(self.row_tables, points, self.state["q"])

    def kept(self) -> list[Any]:
        """Copies of every number that a step changes."""
        return [array.copy() for array in self._changing()]

    def _changing(self) -> list[Any]:
        cables = self.cables.joined.values()
        return [*self.state.values(), *self.last.values(), self.point_state, self.row_state, *cables]

    def put_back(self, kept: list[Any]) -> None:
        """Put back what `kept` copied."""
        for array, copy in zip(self._changing(), kept, strict=True):
            array[...] = copy
        self.find_spans()

    def refresh(self) -> None:
        """Bring points and rows up to date with the state: after it was set from outside."""
        self.find_spans()
        points = (self.point_ints, self.point_floats, self.point_state, self.point_place)
        evaluate_all(self.rod_tables, self.other_tables, points, self.state["q"], self.state["quat"])
        measure_rows(self.row_tables, points, self.state["q"])
        lengths = [rod.length for rod in self.rods] + [zone.extent for zone in self.zones]
        self.size = max(lengths, default=1.0)
        self.scales[:] = self.size
        for rod in self.rods:
            self.scales[rod._dof0 + 3 : rod._dof0 + 4 * rod._tables.n : 4] = 1.0
        for body in self.rigid:
            self.scales[body._dof0 + 3 : body._dof0 + 6] = 1.0
        for zone in self.zones:
            self.scales[zone._dof0 + zone._turning] = 1.0

    def cables_now(self) -> dict[str, Any]:
        """Copies of the cables' tables with their paths where things are now: what a step reads is left as it is."""
        arrays = self.cables.copies()
        points = (self.point_ints, self.point_floats, self.point_state, self.point_place)
        begin_cables(IMPLICIT, arrays, points, self.point_state, self.state_arrays)
        return dict(zip(self.cables.joined, arrays, strict=False))

    def cable_jacobian(self, index: int) -> tuple[IntArray, NDArray[np.float64]]:
        """Degrees of freedom that move cable number `index`, and the Jacobian of its rows."""
        arrays = self.cables.copies()
        points = (self.point_ints, self.point_floats, self.point_state, self.point_place)
        begin_cables(SPOOK, arrays, points, self.point_state, self.state_arrays)
        rows = np.flatnonzero(arrays[10][:, ROW_CABLE] == index)
        matrix = np.zeros((len(rows), self.dofs))
        for k in range(self.dofs):
            unit = np.zeros(self.dofs)
            unit[k] = 1.0
            matrix[:, k] = [along_row(int(row), unit, arrays) for row in rows]
        used = np.flatnonzero(matrix.any(axis=0))
        return used, matrix[:, used]


class Pattern:
    """Plan and workspaces of one factorisation."""

    def __init__(self, system: System, curved: bool) -> None:
        s = system
        tables = (s.rod_ints, s.rigid_ints, s.slider_ints, s.slider_floats, s.zone_tables[0])
        ties = (s.point_ints, s.row_ints, s.curvature)
        count = blocks = 0
        for _ in range(2):  # first they are counted
            row, col, slot = (np.zeros(count, np.uint32) for _ in range(3))
            start, kind = np.zeros(blocks + 1 if blocks else 0, np.uint32), np.zeros(blocks, np.uint8)
            spans = (s.cables.slots, s.cables.joined["element_ints"], s.cables.joined["element_place"])
            arguments = (s.dofs, int(curved), s.slot0, s.diagonal0, s.load_ints, *tables, *ties, *spans)
            count, blocks = list_entries(*arguments, row, col, slot, start, kind, s.zone_places)
        self.row, self.col, self.slot = row, col, slot
        self.block_start, self.block_kind = start, kind
        self.plan = symbolic.analyse(start, kind, row, col, slot)
        panels = int(self.plan[symbolic.PANELS])
        size = 4 * panels
        self.values = np.zeros(s.curved_end if curved else s.end)
        self.factor = np.zeros(int(self.plan[symbolic.FACTOR]))
        self.diagonal, self.ratio = np.zeros(size), np.ones(size)
        self.forward, self.solved = np.zeros(size), np.zeros(size)
        self.natural = np.zeros(s.dofs + s.duals)
        self.linear = (self.plan, self.factor, self.diagonal, self.ratio, self.forward, self.solved, self.natural)
        k = max(s.bounded + s.cables.rows, 1)
        width = max(ROW_WIDTH, 2 * WIDTH * s.cables.largest)
        self.bounded = (
            np.zeros((k, size)), np.zeros((k, max(panels, 1)), np.uint32), np.zeros(k, np.uint32),
            np.zeros(width, np.int64), np.zeros(width), np.zeros(max(panels, 1), np.uint8), *s.small_problem,
        )  # fmt: skip
        self.work = (
            self.values, s.force, s.q_eval, s.quat_eval, s.bend_eval, s.small, s.multipliers, s.scales, s.curvature,
            s.gain, np.zeros(1), np.zeros((len(s.state["stretch"]), 2)),
        )  # fmt: skip

    def matrix(self) -> Any:
        """The whole symmetric matrix of the last solve, as a SciPy sparse matrix."""
        row, col = self.row.astype(np.int64), self.col.astype(np.int64)
        low, high, size = np.minimum(row, col), np.maximum(row, col), len(self.natural)
        half = scipy.sparse.coo_matrix((self.values[self.slot], (high, low)), shape=(size, size)).tocsc()
        return scipy.sparse.csc_matrix(half + half.T - scipy.sparse.diags(half.diagonal()))

    def row_ratios(self, system: System) -> NDArray[np.float64]:
        """Redundancy measure of each equality row, by its unknown: near 0 if it depends on others."""
        out = np.zeros(system.dofs + system.duals)
        unpermute(self.plan, self.ratio, out)
        return out[system.dofs :]


def _joined(bodies: Sequence[AbstractBody], groups: dict[str, tuple[int, ...]], part: str) -> dict[str, Any]:
    """One array for each group with the bodies' rows one after the other; the bodies get views of it."""
    arrays: dict[str, Any] = {}
    for group, row in groups.items():
        pieces = [getattr(body, part)[group] for body in bodies]
        whole = np.concatenate([*pieces, np.zeros((0, *row))])
        arrays[group] = whole
        at = 0
        for body, piece in zip(bodies, pieces, strict=True):
            getattr(body, part)[group] = whole[at : at + len(piece)]
            at += len(piece)
    if part == "_arrays":
        for body in bodies:
            body._home = arrays
    return arrays


def _table(rows: Sequence[Sequence[int]], width: int, kind: type) -> Any:
    return np.array(rows, dtype=kind).reshape(len(rows), width)


def _stacked(parts: Sequence[Any], width: int) -> Any:
    return np.concatenate([*parts, np.zeros((0, width))])


def _joined_ints(parts: Sequence[IntArray]) -> IntArray:
    return np.concatenate([*parts, np.zeros(0, np.int64)])
