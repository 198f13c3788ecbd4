"""Pressing a shape into a zone: workspaces, the fast kernel, and Newton's method where its sweeps do not end."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from sennit.compilation import compile_once
from sennit.elastostatics.contact.kernels import pressing as kernels
from sennit.elastostatics.contact.kernels.bodies import FRAME, LOCAL, MEMORY, displaced, local_block
from sennit.elastostatics.contact.kernels.pressing import APPROACH, COUNT, DEPTH, DONE, FORCE, NUMBERS, TORQUE
from sennit.elastostatics.contact.solver import newton_forces
from sennit.elastostatics.greens import GreensFunctions
from sennit.elastostatics.surface import IntArray, Surface
from sennit.errors import SolveReport
from sennit.geometry.shapes import AbstractShape, Sphere
from sennit.validation import FloatArray

__all__ = ["Before", "Pressed", "press_nodes", "press_shape", "shape_motion"]

_ROOM = 96
_PASSES = 60
_ROUNDS = 12
_ACCEPTED = 1e-8
"""Largest residual, over the depth, of what counts as converged."""


@dataclass(frozen=True, eq=False)
class Before:
    """The state that a press goes on from, for friction."""

    displacements: FloatArray
    """(n, 3), m."""
    forces: FloatArray
    """(n, 3), of the shape on the vertices, over E."""
    motion: FloatArray
    """(12,): `shape_motion` from there to where the shape is now."""


def shape_motion(then: AbstractShape, now: AbstractShape) -> FloatArray:
    """(12,): translation and rotation, row by row, that take a shape from one pose to another."""
    turn = now.pose.rotation @ then.pose.rotation.T
    motion = np.empty(12)
    motion[:3] = now.pose.position - turn @ then.pose.position
    motion[3:] = turn.ravel()
    return motion


@dataclass(frozen=True, eq=False)
class Pressed:
    """What `press_shape` found."""

    status: int
    displacements: FloatArray
    """(n, 3), m."""
    forces: FloatArray
    """(n, 3), of the shape on the vertices, over E."""
    numbers: FloatArray
    """Places in it stand in the kernels."""
    vertices: IntArray
    """(k,): vertices on which the shape presses, sorted."""
    normals: FloatArray
    """(k, 3): normals of the shape there."""
    method: str

    @property
    def count(self) -> int:
        """Nodes that might have touched."""
        return int(self.numbers[COUNT])

    @property
    def depth(self) -> float:
        """How deep the deepest node would be in the shape without contact, m."""
        return float(self.numbers[DEPTH])

    @property
    def residual(self) -> float:
        """Largest violation of a condition, over the depth."""
        return float(self.numbers[kernels.RESIDUAL])

    @property
    def report(self) -> SolveReport:
        """How the contact was solved."""
        numbers, residual = self.numbers, self.residual
        iterations = int(numbers[kernels.SWEEPS if self.method == "gauss-seidel" else kernels.PASSES])
        if self.status == DONE and residual <= _ACCEPTED:
            return SolveReport("converged", iterations, residual, self.method, self.count)
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
        return SolveReport("failed", iterations, residual, self.method, self.count, message)

    @property
    def force(self) -> FloatArray:
        """(3,), over E."""
        return self.numbers[FORCE : FORCE + 3]

    @property
    def torque(self) -> FloatArray:
        """(3,), about the origin at the undeformed places, over E."""
        return self.numbers[TORQUE : TORQUE + 3]

    @property
    def approach_normal(self) -> FloatArray:
        """(3,): against the way along which the shape is taken to have come."""
        return self.numbers[APPROACH : APPROACH + 3]


class _Space:
    """Scratch for a number of nodes that may touch; one for each thread, kept between calls."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.nodes = np.zeros((3, room), dtype=np.int64)
        self.B = np.zeros((3 * room, 3 * room))
        self.vectors = np.zeros((10, room))
        self.matrices = np.zeros((2, room, room))
        self.order = np.zeros((2, room), dtype=np.int64)
        self.frames = np.zeros((room, FRAME))
        self.local = np.zeros((room, LOCAL))
        self.a, self.r, self.rest, self.f = (np.zeros((room, 3)) for _ in range(4))
        self.u0, self.u = np.zeros(3 * room), np.zeros(3 * room)
        self.past = np.zeros((4 + 3 * MEMORY, 3 * room))
        self.gram = np.zeros((2 * MEMORY + 1, MEMORY))
        self.packed = np.zeros(0)
        self.near = np.zeros(0, dtype=np.int64)
        self.marks = np.zeros(0, dtype=np.int64)

    def fit(self, free: int, vertices: int) -> None:
        if len(self.packed) != 3 * free:
            self.packed = np.zeros(3 * free)
            self.near = np.zeros(free, dtype=np.int64)
        if len(self.marks) != vertices:
            self.marks = np.zeros(vertices, dtype=np.int64)


_threads = threading.local()
_outward: WeakKeyDictionary[Surface, FloatArray] = WeakKeyDictionary()
"""Normals of the vertices times their areas."""
_NO_MOTION = np.array((0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))


def _space(room: int) -> _Space:
    space: _Space | None = getattr(_threads, "space", None)
    if space is None or space.room < room:
        space = _threads.space = _Space(room)
    return space


def press_shape(
    greens: GreensFunctions, base: FloatArray, shape: AbstractShape, friction: float, before: Before | None = None
) -> Pressed:
    """Contact of the free nodes with a rigid shape.

    Arguments: `greens`, of a body that is held; `base` (n, 3), m: displacements without contact, 0 at fixed nodes;
    `shape`, in the frame of the vertices; `friction` μ ≥ 0; `before`, the state from which the shape moved here.
    """
    surface = greens.surface
    if _outward.get(surface) is None:
        _outward[surface] = surface.vertex_normals * surface.vertex_areas[:, None]
    return press_nodes(
        greens.compliance, greens.free, greens.fixed, surface.vertices, _outward[surface], base, shape, friction, before
    )  # fmt: skip


def press_nodes(
    C: FloatArray, free: IntArray, fixed: IntArray, places: FloatArray, outward: FloatArray, base: FloatArray,
    shape: AbstractShape, friction: float, before: Before | None,
) -> Pressed:  # fmt: skip
    """Contact of nodes with a rigid shape, whatever made their compliance.

    Arguments: `C` (3k, 3k), m/N times the unit of the forces; `free` (k,) and `fixed`: which of `places` (n, 3) they
    are; `outward` (n, 3): normals times areas, by which the way is chosen that a shape without history came; the rest
    as for `press_shape`.
    """
    compile_once("contact", [("press", _compile)])
    history = before is not None
    past = (before.displacements, before.forces, before.motion) if before else (base, base, _NO_MOTION)
    out, forces, numbers = np.empty_like(base), np.empty_like(base), np.empty(NUMBERS)
    space = _space(_ROOM)
    while True:
        space.fit(len(free), len(places))
        status = kernels.press(
            C, free, fixed, places, outward, base, shape._table, friction, history, *past, space.nodes, space.B,
            space.vectors, space.matrices, space.order, space.frames, space.local, space.a, space.r, space.rest,
            space.f, space.u0, space.u, space.past, space.gram, space.packed, space.near, space.marks, out, forces,
            numbers,
        )  # fmt: skip
        if status != kernels.NO_ROOM:
            break
        space = _space(min(2 * space.room, max(len(free), space.room + 1)))
    method = "active-set" if friction == 0.0 else "gauss-seidel"
    if status == kernels.UNSOLVED and friction > 0.0:
        status = _press_by_newton(C, free, places, base, shape, friction, history, past, space, out, forces, numbers)
        method = "newton"
    count = int(numbers[COUNT])
    closed = np.flatnonzero(space.f[:count].any(axis=1))
    closed = closed[np.argsort(space.nodes[0, closed])]
    return Pressed(
        int(status), out, forces, numbers, space.nodes[0, closed], space.frames[closed, :3].copy(), method
    )  # fmt: skip


def _press_by_newton(
    C: FloatArray, free: IntArray, places: FloatArray, base: FloatArray, shape: AbstractShape, friction: float,
    history: bool, past: tuple[FloatArray, FloatArray, FloatArray], space: _Space, out: FloatArray, forces: FloatArray,
    numbers: FloatArray,
) -> int:  # fmt: skip
    """`kernels.press` with Newton's method in place of sweeps, from the nodes and the forces that it left."""
    table, s = shape._table, space
    k, first, status = int(numbers[COUNT]), 0, kernels.UNSOLVED
    limit = 0.1 * kernels.TOLERANCE * float(numbers[DEPTH])
    numbers[kernels.PASSES] = 0
    for _ in range(_ROUNDS):
        kernels.set_sticking(
            table, history, first, k, places, *past, s.nodes, s.frames, s.a, s.r, s.rest, s.u0, numbers
        )  # fmt: skip
        status, last = kernels.UNSOLVED, 1.0
        B = np.ascontiguousarray(s.B[: 3 * k, : 3 * k])
        for i in range(k):
            local_block(s.B, i, s.frames, s.local)
        for _ in range(_PASSES):
            given = s.frames[:k], s.a[:k], s.r[:k], s.u0[: 3 * k]
            s.f[:k], _, solved = newton_forces(B, *given, friction, s.f[:k], limit)
            displaced(s.B, k, s.u0, s.f, s.u)
            change = kernels.linearise(table, k, friction, s.B, s.frames, s.local, s.a, s.rest, s.f, s.u, numbers)
            if solved and change <= kernels.TOLERANCE and last <= 30.0 * kernels.TOLERANCE:
                status = DONE
                break
            last = change
        kernels.spread(C, free, k, s.nodes, s.f, base, s.packed, out)
        grown = kernels.add_entering(
            C, free, places, base, table, k, s.marks, s.nodes, s.B, s.rest, s.u0, s.f, out, numbers
        )  # fmt: skip
        if grown <= k or status != DONE:
            status = kernels.UNSOLVED if grown < 0 else status
            break
        first, k = k, grown
    numbers[COUNT] = k
    kernels.totals(table, k, friction, s.nodes, s.frames, s.local, s.a, s.r, s.rest, s.f, s.u, s.B, forces, numbers)
    return status


def _compile() -> None:
    """Compile by pressing on three nodes that are springs of their own."""
    places = np.array(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -9.0)))
    free, fixed = np.arange(3), np.array((3,))
    base = np.zeros((4, 3))
    ball = Sphere((0.0, 0.0, 0.9), 1.0)
    first = press_nodes(np.eye(9), free, fixed, places, places, base, ball, 0.3, None)
    press_nodes(
        np.eye(9),
        free,
        fixed,
        places,
        places,
        base,
        ball,
        0.3,
        Before(first.displacements, first.forces, _NO_MOTION.copy()),
    )
