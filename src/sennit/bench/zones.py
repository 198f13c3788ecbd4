"""How long elastic zones take: to precompute, to touch, to press, to draw, and in chains.

The body is a ball with evenly spread vertices, its lower cap fixed: any number of vertices can be had. The finger is
the demonstration's, three pads of about 800 vertices on three bones.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.linalg import lapack
from scipy.spatial import ConvexHull

import sennit as sn
from sennit.bench.compressed import compression
from sennit.bench.table import Case, Progress, Row, Table, growth_exponent, measure
from sennit.demos.finger_mesh import finger
from sennit.elastostatics.boundary.elements import boundary_stiffness
from sennit.elastostatics.greens import GreensFunctions
from sennit.elastostatics.surface import IntArray, Surface
from sennit.validation import FloatArray

__all__ = ["DESCRIPTION", "run"]

DESCRIPTION = (
    "Times the precomputation of zones of 500 to 3,000 vertices beside the LAPACK calls that it must make; a probe's "
    "force, a sphere pressed in with friction and the whole surface on 2,500 vertices; nodes that enter and leave the "
    "capacitance matrix; a finger of three zones at changing joint angles, with its late ticks at 1 kHz; chains of "
    "2 to 64 zones; and tries a hierarchical matrix for the compliance. Takes some four minutes; Green's functions of "
    "the finger and of the ball are kept on disk."
)

TISSUE = sn.Material(youngs_modulus=5e4, poisson_ratio=0.45, density=1000)
RADIUS = 0.04


def run(progress: Progress) -> list[Table]:
    """Time everything."""
    return [
        precomputation(progress), touches(progress), presses(progress), surfaces(progress), capacitance(progress),
        ticks(progress), chains(progress), compression(progress, soft_ball),
    ]  # fmt: skip


def ball(count: int) -> tuple[FloatArray, IntArray, IntArray]:
    """Vertices, faces and fixed vertices of a ball: points on a spiral, their convex hull, the lower cap."""
    k = np.arange(count) + 0.5
    height, angle = 1.0 - 2.0 * k / count, np.pi * (1.0 + 5.0**0.5) * k
    across = np.sqrt(1.0 - height**2)
    unit = np.stack((across * np.cos(angle), across * np.sin(angle), height), axis=1)
    faces = ConvexHull(unit).simplices.astype(np.int64)
    a, b, c = (unit[faces[:, i]] for i in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c) < 0.0
    faces[inward] = faces[inward, ::-1]
    return RADIUS * unit, faces, np.flatnonzero(height < -0.6)


@cache
def soft_ball(count: int) -> sn.Zone:
    """The ball as a zone; its Green's functions are stored."""
    vertices, faces, fixed = ball(count)
    return sn.Zone.from_mesh(vertices, faces, material=TISSUE, fixed=fixed)


# ----------------------------------------------------------------------------------------------------- precomputation


def precomputation(progress: Progress, counts: Sequence[int] = (500, 1000, 2000, 3000), *, least: float = 6.0) -> Table:
    """Everything from the mesh to Green's functions, beside the LAPACK calls in it, alternating in the same run."""
    title = "Precomputation"
    rows: list[Row] = []
    ratios: dict[int, float] = {}
    boundary_stiffness(*_surface(60)[:1], 0.3)  # compiled before the clock runs
    for i, count in enumerate(counts):
        surface, fixed = _surface(count)
        own: list[float] = []
        floor: list[float] = []
        begin = time.perf_counter()
        while not own or (time.perf_counter() - begin < least and len(own) < 5):
            progress(f"{title}: {count:,} vertices", i / len(counts))
            start = time.perf_counter()
            boundary = boundary_stiffness(surface, TISSUE.poisson_ratio)
            greens = GreensFunctions(surface, boundary, fixed)
            own.append(time.perf_counter() - start)
            nodes, free = len(boundary.tractions), len(greens.compliance)
            floor.append(lapack_calls(nodes, 3 * count, free))
            del boundary, greens
        ratios[count] = float(np.median(own) / np.median(floor))
        memory = 72.0 * count**2 / 1e6
        rows.append(
            Row.from_samples(f"{count:,} vertices", own, values={"MB a matrix": memory, "× LAPACK": ratios[count]})
        )
        rows.append(Row.from_samples(f"{count:,}: LAPACK alone", floor))
    table = Table(title, rows)
    table.notes.append(
        "LAPACK: dgetrf, dgetrs with three right sides a vertex, dpotrf, dpotri, on matrices of this size"
    )
    for count in counts:
        if count >= 1000:
            table.aim(f"over LAPACK, {count:,} vertices", ratios[count], at_most=1.5)
    return table


def _surface(count: int) -> tuple[Surface, IntArray]:
    vertices, faces, fixed = ball(count)
    return Surface(vertices, faces), fixed


def lapack_calls(nodes: int, sides: int, free: int) -> float:
    """Time of the LAPACK calls that Green's functions need, on matrices that are as good as any: s."""
    rng = np.random.default_rng(0)
    G = np.asfortranarray(rng.normal(size=(nodes, nodes)) + nodes * np.eye(nodes))
    H = np.asfortranarray(rng.normal(size=(nodes, sides)))
    start = time.perf_counter()
    factor, pivots, _ = lapack.dgetrf(G, overwrite_a=1)
    lapack.dgetrs(factor, pivots, H, overwrite_b=1)
    taken = time.perf_counter() - start
    del G, H, factor
    S = np.asfortranarray(rng.normal(size=(free, free)))
    S += S.T
    S.flat[:: free + 1] += 10.0 * free
    start = time.perf_counter()
    factor, _ = lapack.dpotrf(S, lower=1, clean=0, overwrite_a=1)
    lapack.dpotri(factor, lower=1, overwrite_c=1)
    return taken + time.perf_counter() - start


# ---------------------------------------------------------------------------------------------------- touch and press


def touches(progress: Progress, count: int = 2500, *, samples: int = 5000, seconds: float = 10.0) -> Table:
    """A probe that wanders over the ball: its force, and its force with the whole surface."""
    zone = soft_ball(count)
    rng = np.random.default_rng(1)
    ways = rng.normal(size=(997, 3))
    ways[:, 2] = np.abs(ways[:, 2])
    places = RADIUS * ways / np.linalg.norm(ways, axis=1, keepdims=True)
    walk = _Round(places)

    def force() -> FloatArray:
        place = walk()
        return zone.touch(place, displacement=-0.02 * place).force

    def bare() -> FloatArray:
        place = walk()
        return zone.touch(place, displacement=-0.02 * place, radius=0.0).force

    def drawn() -> FloatArray:
        place = walk()
        return zone.touch(place, displacement=-0.02 * place).displacements

    cases = [
        Case("force, patch of the usual radius", force),
        Case("force, bare point", bare),
        Case("force and whole surface", drawn),
    ]
    title = f"Touch at a random place, {count:,} vertices"
    table = measure(title, cases, samples=samples, seconds=seconds, progress=progress)
    table.aim("p99 of the force, µs", 1e6 * table.rows[0].p99, at_most=100.0)
    table.notes.append("with the search of the triangle and the checks of the arguments")
    return table


def _held(zone: sn.Zone, walk: _Round) -> sn.ZoneState:
    return zone.solve(displacements=walk())


class _Round:
    """Gives one thing after the other, round and round."""

    def __init__(self, things: Sequence[Any] | FloatArray) -> None:
        self.things, self.at = things, 0

    def __call__(self) -> Any:
        self.at = (self.at + 1) % len(self.things)
        return self.things[self.at]


def presses(progress: Progress, count: int = 2500, *, samples: int = 2000, seconds: float = 15.0) -> Table:
    """A sphere that wanders while it is pressed in, with friction and without, whole surface included."""
    zone = soft_ball(count)
    radius, depth = 0.025, 4.2e-3
    paths = np.linspace(0.0, 2.0 * np.pi, 400, endpoint=False)
    tilt = 0.3
    ways = np.stack((np.sin(tilt) * np.cos(paths), np.sin(tilt) * np.sin(paths), np.full(400, np.cos(tilt))), axis=1)
    shapes = [sn.Sphere((RADIUS + radius - depth) * way, radius) for way in ways]
    contacts: list[int] = []

    def case(friction: float, follow: bool) -> Callable[[], object]:
        walk = _Round(shapes)
        last: list[sn.PressState | None] = [None]

        def call() -> object:
            state = zone.press(walk(), friction=friction, after=last[0] if follow else None)
            last[0] = state
            contacts.append(len(state.patch))
            return state.displacements

        return call

    cases = [
        Case("frictionless", case(0.0, False)),
        Case("friction 0.3, each press anew", case(0.3, False)),
        Case("friction 0.3, after the last", case(0.3, True)),
    ]
    title = f"Sphere pressed in, {count:,} vertices, whole surface included"
    table = measure(title, cases, samples=samples, seconds=seconds, progress=progress)
    table.aim("median with friction, ms", 1e3 * table.rows[1].median, at_most=0.5)
    table.aim("median with friction after the last, ms", 1e3 * table.rows[2].median, at_most=0.5)
    table.notes.append(f"{np.median(contacts):.0f} vertices touch (from {min(contacts)} to {max(contacts)})")
    return table


def surfaces(
    progress: Progress, count: int = 2500, *, loaded: Sequence[int] = (3, 30, 100), samples: int = 300,
    seconds: float = 10.0,
) -> Table:  # fmt: skip
    """The whole surface from forces at some vertices, beside NumPy's product of the same rows gathered beforehand."""
    zone = soft_ball(count)
    C, free = zone._greens.compliance, zone._greens.free
    rng = np.random.default_rng(2)
    cases = []
    for number in loaded:
        ids = rng.choice(len(free), number, replace=False)
        rows = (3 * np.sort(ids)[:, None] + np.arange(3)).ravel()
        forces = np.zeros(len(C))
        forces[rows] = rng.normal(size=len(rows))
        gathered, few = np.ascontiguousarray(C[rows]), forces[rows]
        cases.append(Case(f"{number} vertices", partial(zone._greens.displacements, forces)))
        cases.append(Case(f"{number}: numpy", partial(np.matmul, few, gathered)))
    table = measure(f"Surface of {count:,} vertices from forces", cases, samples=samples, seconds=seconds,
                    progress=progress)  # fmt: skip
    rows_out = []
    for own, other in zip(table.rows[::2], table.rows[1::2], strict=True):
        rows_out += [replace(own, values={"× numpy": own.median / other.median}), other]
    table.rows = rows_out
    table.notes.append("numpy: rows gathered beforehand, contiguous; ours are read where they stand in the compliance")
    return table


def capacitance(
    progress: Progress, count: int = 1000, *, held: Sequence[int] = (10, 30, 100), samples: int = 300,
    seconds: float = 10.0,
) -> Table:  # fmt: skip
    """A node that enters and leaves a set that is held, with the factor updated, beside a new factor for each."""
    zone = soft_ball(count)
    free = zone._greens.free
    rng = np.random.default_rng(3)
    cases = []
    for number in held:
        ids = rng.choice(free, number + 1, replace=False).tolist()
        many = dict.fromkeys(ids[:-1], (0.0, 0.0, 0.0001))
        more = {**many, ids[-1]: (0.0, 0.0, 1e-4)}
        turn = _Round([more, many])
        fresh = _Round(
            [dict.fromkeys(rng.choice(free, number, replace=False).tolist(), (0.0, 0.0, 0.0001)) for _ in range(7)]
        )
        for name, walk in (("one enters or leaves", turn), ("all of them new", fresh)):
            cases.append(Case(f"{number} held, {name}", partial(_held, zone, walk)))
    title = f"Changed boundary conditions, {count:,} vertices, whole solve"
    return measure(title, cases, samples=samples, seconds=seconds, progress=progress)


# ------------------------------------------------------------------------------------------------------------- chains


@cache
def hand(around: int = 24) -> tuple[sn.ZoneChain, list[list[sn.Pose]]]:
    """The demonstration's finger with `around` vertices round a joint, and its poses over one bend."""
    made = finger(around)
    zones = [sn.Zone.from_mesh(p.vertices, p.faces, material=TISSUE, fixed=p.fixed) for p in made.pads]
    chain = sn.ZoneChain(zones, made.seams, rest_poses=made.rest_poses())
    angles = 0.25 - 0.25 * np.cos(2.0 * np.pi * np.arange(500) / 500)
    return chain, [made.poses((a, 0.7 * a)) for a in angles]


def ticks(
    progress: Progress, around: int = 24, *, samples: int = 2000, seconds: float = 15.0, loop: float = 10.0
) -> Table:
    """The finger at other joint angles in each tick, and a loop at 1 kHz that counts what comes late."""
    chain, poses = hand(around)
    sizes = ", ".join(f"{len(zone.vertices):,}" for zone in chain.zones)
    cases = [Case("auto, single precision", partial(_drawn_tick, chain, _Round(poses)))]
    for name in ("auto", "direct", "sweeps", "kinematic"):
        cases.append(Case(name, partial(_tick, chain, _Round(poses), name)))
    cases.append(Case("auto, no surface", partial(_bare_tick, chain, _Round(poses))))
    table = measure(f"Finger of three zones ({sizes} vertices), new angles, three surfaces", cases, samples=samples,
                    seconds=seconds, per="tick", progress=progress)  # fmt: skip
    table.aim("median tick, surfaces in single precision, ms", 1e3 * table.rows[0].median, at_most=0.8)
    table.aim("median tick, ms", 1e3 * table["auto"].median, at_most=0.8)
    for case, what in ((cases[1], ""), (cases[0], ", single precision")):
        late, total, waited = late_ticks(case.call, loop)
        table.aim(f"late ticks of {total:,} at 1 kHz{what}, %", 100.0 * late / total, at_most=0.5)
    table.notes.append(
        "late: not done within its millisecond, or left out because of one that was not; the loop waited "
        f"{100.0 * waited:.0f} % of the time"
    )
    return table


def _tick(chain: sn.ZoneChain, walk: _Round, method: str) -> tuple[FloatArray, ...]:
    return chain.solve(walk(), method=method).displacements


def _drawn_tick(chain: sn.ZoneChain, walk: _Round) -> tuple[FloatArray, ...]:
    return chain.solve(walk()).positions(world=False, single=True)


def _bare_tick(chain: sn.ZoneChain, walk: _Round) -> tuple[FloatArray, ...]:
    return chain.solve(walk()).seam_forces


def late_ticks(
    call: Callable[[], object], seconds: float, period: float = 1e-3, clock: Callable[[], float] = time.perf_counter
) -> tuple[int, int, float]:
    """Ticks that were not done within their period, how many there were, and the part of the time that was left over.

    A tick begins when its period does. One that takes longer is late, and so are those whose periods it takes up
    wholly: they are left out, as a loop that must go on does.
    """
    call()
    total = int(seconds / period)
    late, waited = 0, 0.0
    start = clock() + period
    k = 0
    while k < total:
        due = start + k * period
        now = clock()
        waited += max(due - now, 0.0)
        while now < due:
            now = clock()
        call()
        end = clock()
        taken = max(math.ceil((end - due) / period), 1)
        late += min(taken if end > due + period else 0, total - k)
        k += taken
    return late, total, waited / (total * period)


def chains(progress: Progress, counts: Sequence[int] = (2, 4, 8, 16, 32, 64), *, samples: int = 60,
           seconds: float = 20.0) -> Table:  # fmt: skip
    """Chains of equal zones, direct and by sweeps: the time of a zone does not depend on their number."""
    length = 0.02
    vertices, faces = tube(length)
    inner = np.hypot(vertices[:, 1], vertices[:, 2]) < 0.0041
    first = sn.Zone.from_mesh(vertices, faces, material=TISSUE, fixed=np.flatnonzero(inner))

    def end(x: float) -> IntArray:
        ids = np.flatnonzero((np.abs(vertices[:, 0] - x) < 1e-9) & ~inner)
        return ids[np.lexsort(np.round(vertices[ids, 1:], 9).T)]

    seam = (end(length), end(0.0))
    cases = []
    for count in counts:
        zones = [first.with_material(TISSUE) for _ in range(count)]
        rest = [sn.Pose((k * length, 0.0, 0.0)) for k in range(count)]
        chain = sn.ZoneChain(zones, [seam] * (count - 1), rest_poses=rest)
        bent = _bent(count, length)
        for method in ("direct", "sweeps"):
            cases.append(Case(f"{count} zones, {method}", partial(chain.solve, bent, method=method), per=count - 1))
    title = f"Chains of zones of {len(vertices):,} vertices, {3 * len(seam[0])} unknowns a seam"
    table = measure(title, cases, samples=samples, seconds=seconds, per="seam", progress=progress)
    longer = [count for count in counts if count > 2]
    for method in ("direct", "sweeps"):
        times = [(count - 1) * table[f"{count} zones, {method}"].median for count in longer]
        growth = growth_exponent([count - 1 for count in longer], times)
        table.aim(f"growth with seams from {longer[0]} zones on, {method}", growth, at_most=1.1)
    table.notes.append("the one seam of two zones has no neighbour, and is cheaper")
    return table


def _bent(count: int, length: float, angle: float = 0.05) -> list[sn.Pose]:
    pose, poses = sn.Pose(), [sn.Pose()]
    turn = sn.Pose((length, 0.0, 0.0), (np.cos(0.5 * angle), 0.0, np.sin(0.5 * angle), 0.0))
    for _ in range(count - 1):
        pose = pose @ turn
        poses.append(pose)
    return poses


def tube(length: float, inner: float = 0.004, outer: float = 0.008, around: int = 16) -> tuple[FloatArray, IntArray]:
    """Flesh round a piece of bone along x, from x = 0 to `length`."""
    along, across = 8, 3
    x, r = np.linspace(0.0, length, along + 1), np.linspace(inner, outer, across + 1)
    # round the section: along the skin, in at the far end, back along the bone, out at the near end
    rings = [(a, outer) for a in x[:-1]] + [(length, b) for b in r[:0:-1]]
    rings += [(a, inner) for a in x[:0:-1]] + [(0.0, b) for b in r[:-1]]
    angle = 2.0 * np.pi * np.arange(around) / around
    circle = np.stack((np.zeros(around), np.cos(angle), np.sin(angle)), axis=1)
    vertices = np.concatenate([np.array((a, 0.0, 0.0)) + b * circle for a, b in rings])
    i, j = (k.ravel() for k in np.meshgrid(np.arange(len(rings)), np.arange(around), indexing="ij"))
    a, b = i * around + j, i * around + (j + 1) % around
    c, d = (i + 1) % len(rings) * around + (j + 1) % around, (i + 1) % len(rings) * around + j
    return vertices, np.concatenate((np.stack((a, b, c), axis=1), np.stack((a, c, d), axis=1)))
