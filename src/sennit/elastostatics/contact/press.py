"""Pressing a shape into a body: workspaces, the fast kernel, and Newton's method where its sweeps do not end."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Self
from weakref import WeakKeyDictionary

import numpy as np

from sennit.compile_once import compile_once
from sennit.elastostatics.contact.kernels import pressing as kernels
from sennit.elastostatics.contact.kernels.coulomb import displace, set_own_block
from sennit.elastostatics.contact.kernels.pressing import DONE, UNSOLVED
from sennit.elastostatics.contact.solver import newton_forces
from sennit.elastostatics.contact.tables import Body, Outcome, Past, Workspace, workspace
from sennit.elastostatics.greens import GreensFunctions
from sennit.elastostatics.surface import IntArray
from sennit.errors import SolveReport
from sennit.geometry.shapes import AbstractShape, Sphere
from sennit.validation import FloatArray

__all__ = ["Before", "Pressed", "body_of", "press_body"]

_ROOM = 96
_PASSES = 60
_ROUNDS = 12
_ACCEPTED = 1e-8
"""Largest residual, over the depth, of what counts as converged."""
_NO_STATE = Past(rows=1, nodes=0)
"""What a press without a state before goes on from."""


@dataclass(slots=True, eq=False)
class Before:
    """The state that a press goes on from, for friction."""

    displacements: FloatArray
    """Displacements of the body's nodes then, (n, 3), m."""
    forces: FloatArray
    """Forces of the shape on the nodes then, (n, 3), over E."""
    shift: FloatArray
    """Translation (3,), m, that takes the shape from its pose then to where it is now, after the `turn`."""
    turn: FloatArray
    """Rotation (3, 3) of the shape since then."""

    @classmethod
    def since(
        cls, displacements: FloatArray, forces: FloatArray, then: AbstractShape, now: AbstractShape
    ) -> Self:  # fmt: skip
        """A state in which a shape stood as `then`, which stands as `now` today."""
        turn = now.pose.rotation @ then.pose.rotation.T
        return cls(displacements, forces, now.pose.position - turn @ then.pose.position, turn)

    def at(self, nodes: IntArray) -> Before:
        """The same for some of the body's nodes."""
        return Before(self.displacements[nodes], self.forces[nodes], self.shift, self.turn)


@dataclass(slots=True, eq=False)
class Pressed:
    """What `press_body` found."""

    status: int
    """DONE, UNSOLVED or IN_FIXED, of the kernels."""
    method: str
    """``"active-set"``, ``"gauss-seidel"`` or ``"newton"``."""
    displacements: FloatArray
    """Displacements of the body's nodes, (n, 3), m."""
    forces: FloatArray
    """Forces of the shape on the nodes, (n, 3), over E."""
    vertices: IntArray
    """Nodes on which the shape presses, (k,), sorted."""
    normals: FloatArray
    """Normals of the shape there, (k, 3)."""
    count: int
    """Number of nodes that might have touched."""
    depth: float
    """How deep the deepest node would be in the shape without contact, m."""
    residual: float
    """Largest violation of a condition, over the depth."""
    iterations: int
    """Sweeps of Gauss–Seidel, or linearisations of the other methods."""
    force: FloatArray
    """Sum of the forces, (3,), over E."""
    torque: FloatArray
    """Their moment about the origin at the undeformed places, (3,), over E."""
    approach_normal: FloatArray
    """Unit vector (3,) against the way along which the shape is taken to have come."""

    @property
    def report(self) -> SolveReport:
        """How the contact was solved."""
        residual = self.residual
        if self.status == DONE and residual <= _ACCEPTED:
            return SolveReport("converged", self.iterations, residual, self.method, self.count)
        if self.status == kernels.IN_FIXED:
            message = (
                "the shape reaches into fixed vertices, which cannot give way: press less deep, or elsewhere, or fix "
                "fewer"
            )
        else:
            message = (
                f"contact forces were not found: a condition is violated by {residual:.1e} of the depth. Press in "
                "smaller steps with after=, or with less friction"
            )
        return SolveReport("failed", self.iterations, residual, self.method, self.count, message)


_threads = threading.local()
_bodies: WeakKeyDictionary[GreensFunctions, Body] = WeakKeyDictionary()


def _workspace(room: int, free: int) -> Workspace:
    """A workspace of the calling thread's own, kept between calls, for at least so many nodes."""
    work: Workspace | None = getattr(_threads, "work", None)
    if work is None or len(work.nodes) < room or len(work.search.near) < free:
        if work is not None:
            room, free = max(room, len(work.nodes)), max(free, len(work.search.near))
        work = _threads.work = workspace(room, free)
    return work


def _past(before: Before | None) -> Past:
    """What kernels take of a state before, in a table of the calling thread's own: to make one takes longer."""
    if before is None:
        return _NO_STATE
    n = len(before.forces)
    past: Past | None = getattr(_threads, "past", None)
    if past is None or len(past.forces) < n:
        past = _threads.past = Past(rows=1, nodes=n)
        past.given[0] = 1
    past.displacements[:n] = before.displacements
    past.forces[:n] = before.forces
    past.shift[0] = before.shift
    past.turn[0] = before.turn
    return past


def body_of(greens: GreensFunctions) -> Body:
    """The free and fixed nodes of a body that is held, with their compliance at E = 1."""
    body = _bodies.get(greens)
    if body is None:
        surface = greens.surface
        body = _bodies[greens] = Body.of(
            compliance=greens.compliance, free=greens.free, fixed=greens.fixed,
            places=np.ascontiguousarray(surface.vertices),
            outward=surface.vertex_normals * surface.vertex_areas[:, None],
        )  # fmt: skip
    return body


def press_body(
    body: Body, base: FloatArray, shape: AbstractShape, friction: float, before: Before | None = None
) -> Pressed:
    """Contact of a body's free nodes with a rigid shape.

    Arguments: `base` (n, 3), m: displacements without contact, 0 at fixed nodes; `shape`, in the frame of the body's
    places; `friction` μ ≥ 0; `before`, the state from which the shape moved here. The unit of the forces is that of the
    body's compliance.
    """
    compile_once("contact", [_compile])
    past = _past(before)
    out, forces = np.empty_like(base), np.empty_like(base)
    free = len(body.free)
    work = _workspace(_ROOM, free)
    while True:
        status = kernels.press(body, base, shape._table, friction, past, work, out, forces)
        if status != kernels.NO_ROOM:
            break
        room = len(work.nodes)
        work = _workspace(min(2 * room, max(free, room + 1)), free)
    method = "active-set" if friction == 0.0 else "gauss-seidel"
    if status == UNSOLVED and friction > 0.0:
        status = _press_by_newton(body, base, shape, friction, past, work, out, forces)
        method = "newton"
    nodes, found = work.nodes, work.outcome
    count = int(found.count[0])
    closed = np.flatnonzero(nodes.force[:count].any(axis=1))
    vertices = nodes.vertex[closed]
    order = np.argsort(vertices)
    return Pressed(
        int(status), method, out, forces, vertices[order], nodes.frame[closed[order], 0], count,
        float(found.depth[0]), float(found.residual[0]), _iterations(found, method), found.force[0].copy(),
        found.torque[0].copy(), found.approach[0].copy(),
    )  # fmt: skip


def _iterations(found: Outcome, method: str) -> int:
    return int(found.sweeps[0] if method == "gauss-seidel" else found.passes[0])


def _press_by_newton(
    body: Body, base: FloatArray, shape: AbstractShape, friction: float, past: Past, work: Workspace, out: FloatArray,
    forces: FloatArray,
) -> int:  # fmt: skip
    """`kernels.press` with Newton's method in place of sweeps, from the nodes and the forces that it left."""
    table, nodes, search, found = shape._table, work.nodes, work.search, work.outcome
    k, first, status = int(found.count[0]), 0, UNSOLVED
    limit = 0.1 * kernels.TOLERANCE * float(found.depth[0])
    found.passes[0] = 0
    for _ in range(_ROUNDS):
        kernels.set_sticking(body, table, past, nodes, found, first, k)
        status, last = UNSOLVED, 1.0
        for i in range(k):
            set_own_block(nodes, i)
        for _ in range(_PASSES):
            _, solved = newton_forces(nodes, k, friction, limit)
            displace(nodes, k)
            change = kernels.linearise(table, nodes, found, k)
            if solved and change <= kernels.TOLERANCE and last <= 30.0 * kernels.TOLERANCE:
                status = DONE
                break
            last = change
        kernels.spread(body, base, nodes, search, k, out)
        grown = kernels.add_entering(body, base, table, nodes, search, found, k, out)
        if grown <= k or status != DONE:
            status = UNSOLVED if grown < 0 else status
            break
        first, k = k, grown
    found.count[0] = k
    kernels.totals(table, nodes, found, k, friction, forces)
    return status


def _compile() -> None:
    """Compile by pressing on three nodes that are springs of their own."""
    places = np.array(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -9.0)))
    body = Body.of(compliance=np.eye(9), free=np.arange(3), fixed=np.array((3,)), places=places, outward=places)
    base = np.zeros((4, 3))
    press_body(body, base, Sphere((0.0, 0.0, 0.9), 1.0), 0.3)
