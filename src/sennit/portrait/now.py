"""Where everything of a scene is at one moment, read in bulk: points, bodies, stations of rods, lines of cables.

Reading a point by itself costs tens of microseconds, and a scene may have hundreds. Here all points are evaluated in
one sweep, and all things that move with points are placed in another. Nothing of the scene is changed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from sennit.bodies.point.point import Point
from sennit.bodies.point.table import Places
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.rod import Rod
from sennit.constraints.cable.cable import Cable
from sennit.geometry.rotations import matrix_to_quaternion, quaternion_product, quaternion_to_matrix
from sennit.portrait.cables import CableLines
from sennit.portrait.rods import RodStations, station_places
from sennit.portrait.rows import cross, sides_of
from sennit.scene.scene import Scene
from sennit.solve.kernels.accept import evaluate_all
from sennit.solve.system import System
from sennit.solve.table import Model
from sennit.validation import FloatArray

__all__ = ["Carried", "SceneNow"]


@dataclass(eq=False, slots=True)
class Carried:
    """Something that moves with points: it is at the point `at`, and turned as the point `turn` is."""

    at: Point | None
    """None: it is at the origin of the world."""
    turn: Point | None
    """None: it keeps its directions in the world."""
    offset: FloatArray = field(default_factory=lambda: np.zeros(3))
    """From `at`, m, in the frame of `turn`."""
    rotation: FloatArray = field(default_factory=lambda: np.eye(3))
    """(3, 3): its own axes in the frame of `turn`, as columns."""


class SceneNow:
    """The places of what a portrait shows of a scene; `read` brings them up to date.

    `rods` and `counts`: spline rods and how many stations each has.
    """

    def __init__(self, scene: Scene, rods: Sequence[Rod], counts: Sequence[int], cables: Sequence[Cable]) -> None:
        self.scene = scene
        self.rods, self.counts = list(rods), list(counts)
        self.cables = CableLines(cables) if cables else None
        self.stations = RodStations([], [])
        self.slices: dict[Rod, slice] = {}
        self.positions = np.zeros((0, 3))
        self.quaternions = np.zeros((0, 4))
        self.ends = np.zeros((0, 2, 3))
        """The two ends of each span, m."""
        self.sides = np.zeros((0, 3))
        """A unit vector across each span."""
        self.centres = np.zeros((0, 3))
        """Where the rigid bodies of the scene are, in its order, m."""
        self.attitudes = np.zeros((0, 4))
        """How they are turned: quaternions."""
        self.down = np.array((0.0, 0.0, -1.0))
        """Unit vector (3,) in which things hang."""
        self._things: list[Carried] = []
        self._system: System | None = None
        self._points: list[Point] = []
        self._spans: list[tuple[Point, Point]] = []
        self._extra: list[Point] = []
        """Points that no table of the scene holds."""
        self._rows: dict[int, int] = {}
        self._numbered: tuple[list[tuple[Rod, int]], list[int]] = [], []
        """Rods whose stations are prepared, with their first degrees of freedom, and points on them."""

    def carry(self, thing: Carried) -> int:
        """Place `thing` at every reading from now on; the number of its rows in `positions` and `quaternions`."""
        self._things.append(thing)
        self._system = None
        return len(self._things) - 1

    def follow(self, *points: Point) -> None:
        """Evaluate these points too at every reading, for `place_of` and `frame_of`."""
        self._points += points
        self._system = None

    def span(self, first: Point, second: Point) -> int:
        """Evaluate the way between two points at every reading; the number of its rows in `ends` and `sides`."""
        self._spans.append((first, second))
        self._system = None
        return len(self._spans) - 1

    def holds(self, thing: Any) -> bool:
        """Whether a body, constraint or load is in the scene still."""
        return bool(thing.scene is self.scene)

    @property
    def system(self) -> System | None:
        """The tables that were read last: others, once other things are in the scene."""
        return self._system

    # --------------------------------------------------------------------------------------------------- reading

    def read(self) -> None:
        """Bring everything up to date."""
        system = self.scene._compiled().system
        if system is not self._system:
            self._bind(system)
        model, places = system.model, self._places
        self._model.points.fill(model.points)
        evaluate_all(self._model)
        q, rigids, n = model.motion.q, model.rigids, len(model.points)
        if len(rigids):
            end = n + len(rigids)
            self.centres = q[rigids.dof[:, None] + np.arange(3)]
            self.attitudes = rigids.quat
            places.position[n:end] = self.centres
            places.frame[n:end] = quaternion_to_matrix(rigids.quat).reshape(-1, 9)
        self.stations.read(q)
        if self._on_rods:
            d1, t = self.stations.directors[self._station_rows], self.stations.tangents[self._station_rows]
            places.position[self._rod_rows] = self.stations.centres[self._station_rows]
            places.frame[self._rod_rows] = np.stack((d1, cross(t, d1), t), axis=2).reshape(-1, 9)
        for row, point in self._extra_rows:
            places.position[row], places.frame[row] = point.position, point.frame.ravel()
        self._place_things()
        if self._spans:
            self.ends[:] = places.position[self._span_rows]
            self.sides[:] = sides_of(self.ends[:, 1] - self.ends[:, 0])
        gravity = self.scene.gravity
        pull = math.hypot(*gravity)
        self.down[:] = gravity / pull if pull > 0.0 else (0.0, 0.0, -1.0)
        if self.cables is not None:
            self.cables.read(system.cables_now(), gravity)

    def _bind(self, system: System) -> None:
        """Find the rows of what is shown in the tables of the scene as it is now."""
        layout, count = system.layout, len(self._things)
        n, rigid = len(layout.points), layout.of_kind(RigidBody)
        self._rows = {id(point): i for i, point in enumerate(layout.points)}
        self._extra = []
        bodies = {id(body): n + i for i, body in enumerate(rigid)}
        places = np.zeros((count, 2), np.int64)
        offsets = np.array([thing.offset for thing in self._things]).reshape(-1, 3)
        for k, thing in enumerate(self._things):
            at = thing.at
            if at is not None and id(at) not in self._rows and thing.turn is at and id(at.body) in bodies:
                # a place that no table has: the body's row has what is needed
                places[k] = bodies[id(at.body)]
                offsets[k] += cast(Any, at).local
            else:
                places[k] = self._row(at, system), self._row(thing.turn, system)
        for point in self._points:
            self._row(point, system)
        self._span_rows = np.array([[self._row(point, system) for point in span] for span in self._spans], np.int64)
        self.ends, self.sides = np.zeros((len(self._spans), 2, 3)), np.zeros((len(self._spans), 3))
        self._places = Places(rows=n + len(rigid) + len(self._extra) + 1)
        self._places.frame[-1] = np.eye(3).ravel()  # the world: row -1
        # Reading must not change what a step works with: points of its own, evaluated into places of its own.
        self._model = Model(**{**layout.tables, "points": system.model.points.copy(), "places": self._places})
        self._at, self._turn, self._offsets = places[:, 0], places[:, 1], offsets
        rotations = np.array([thing.rotation for thing in self._things]).reshape(-1, 3, 3)
        self._turns = matrix_to_quaternion(rotations) if count else np.zeros((0, 4))
        if len(self.positions) != count:
            self.positions, self.quaternions = np.zeros((count, 3)), np.zeros((count, 4))
        self._bind_rods()
        if self.cables is not None:
            self.cables.bind(self.scene, system.model.rigging)
        self._system = system

    def _bind_rods(self) -> None:
        """Prepare the stations of rods, and behind them those of points that no table has."""
        held = [(rod, count) for rod, count in zip(self.rods, self.counts, strict=True) if self.holds(rod)]
        known = {rod for rod, _ in held}
        self._on_rods: list[Any] = [p for p in self._extra if p.body in known]
        numbered = [(rod, rod.first_dof) for rod, _ in held], list(map(id, self._on_rods))
        if numbered != self._numbered:  # a hand that takes hold of something leaves rods where they are
            self._numbered = numbered
            beside: dict[Rod, list[Any]] = {rod: [] for rod in known}
            for point in self._on_rods:
                beside[point.body].append(point)
            places = [
                np.concatenate((station_places(rod, count), *(rod._u_at(p.s) for p in beside[rod])))
                for rod, count in held
            ]
            self.stations = RodStations([rod for rod, _ in held], places)
            self.slices = {}
            stations: dict[int, int] = {}
            for (rod, count), where in zip(held, self.stations.slices, strict=True):
                self.slices[rod] = slice(where.start, where.start + count)
                stations |= {id(p): where.start + count + k for k, p in enumerate(beside[rod])}
            self._station_rows = np.array([stations[id(p)] for p in self._on_rods], np.int64)
        self._extra_rows = [(self._rows[id(p)], p) for p in self._extra if p.body not in known]
        self._rod_rows = np.array([self._rows[id(p)] for p in self._on_rods], np.int64)

    def _row(self, point: Point | None, system: System) -> int:
        """The row of a point in the table of places; one that the scene does not know gets a row of its own."""
        if point is None:
            return -1
        if id(point) not in self._rows:
            self._rows[id(point)] = len(system.model.points) + len(system.model.rigids) + len(self._extra)
            self._extra.append(point)
        return self._rows[id(point)]

    def _place_things(self) -> None:
        if not self._things:
            return
        frames = self._places.frame[self._turn].reshape(-1, 3, 3)
        self.positions[:] = self._places.position[self._at] + np.einsum("kij,kj->ki", frames, self._offsets)
        self.quaternions[:] = quaternion_product(matrix_to_quaternion(frames), self._turns)

    # ---------------------------------------------------------------------------------------------------- places

    def place_of(self, point: Point) -> FloatArray:
        """Where a point that is followed is: (3,), m."""
        return np.asarray(self._places.position[self._rows[id(point)]])

    def frame_of(self, point: Point) -> FloatArray:
        """Frame (3, 3) of a point that is followed; columns."""
        return np.asarray(self._places.frame[self._rows[id(point)]].reshape(3, 3))
