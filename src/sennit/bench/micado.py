"""How long a step of a scene takes: the six scenes of MICADO, beside its times and its method.

MICADO (Theetten and Grisoni 2008) gives times for six scenes on a laptop of 2008 (2 GHz). The demonstrations build
scenes with its counts of multipliers; what they infer about degrees of freedom is written there. A faster processor
alone is no merit, so the paper's own method is timed beside ours in the same run and on the same matrices: reverse
Cuthill-McKee ordering and LAPACK's banded LU. Its side is given every advantage: the ordering is made beforehand,
filling the band costs nothing, and only `dgbsv` itself is timed.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from scipy.linalg import lapack
from scipy.sparse import csc_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

import sennit as sn
from sennit.bench.table import Case, Progress, Row, Seconds, Table, growth_exponent, measure
from sennit.demos import bow, bridge, bundle, dna, necklace, net
from sennit.demos.stage import Show
from sennit.linalg import Factorisation
from sennit.linalg.kernels import ldlt as ldlt
from sennit.validation import FloatArray

__all__ = ["DESCRIPTION", "run"]

DESCRIPTION = (
    "Times a step of the six scenes of MICADO beside the paper's times; our factorisation beside the paper's method, "
    "reverse Cuthill-McKee and LAPACK's banded LU, on the same matrices; the cost of keyholes and pearls, and how a "
    "step grows from 1,000 to 100,000 degrees of freedom, and with plane nets."
)

STEEL = sn.Material(youngs_modulus=2e9, poisson_ratio=0.4, density=1100, relaxation_time=1e-3)
CORD = sn.Section.circle(radius=2e-3)
OWN = "Own: processor time of the calling thread, which leaves out what other programs took meanwhile."


@dataclass(frozen=True, slots=True)
class Subject:
    """One of the paper's scenes: how to make it, its step (s), how long it is run before it starts again (s), and
    what the paper says: multipliers and milliseconds.
    """

    make: Callable[[], Show]
    dt: float
    seconds: float
    multipliers: tuple[int, int]
    paper: float


SUBJECTS: dict[str, Subject] = {
    "bridge": Subject(bridge.Walk, 5e-3, 6.0, (32, 21), 1.7),
    "necklace": Subject(necklace.Flight, 1e-3, 0.4, (0, 10), 0.4),
    "bow": Subject(bow.Shot, 2e-3, 0.7, (11, 16), 0.56),
    "bundle": Subject(bundle.Laying, 5e-3, 4.0, (0, 35), 1.0),
    "net": Subject(net.Pluck, 1e-3, 0.4, (28, 49), 4.0),
    "dna": Subject(dna.Winding, 5e-3, 2.0, (0, 32), 1.1),
}


def run(progress: Progress) -> list[Table]:
    """Time everything; about a minute and a half, and the compilation on top of it the first time."""
    plays = {name: Play(subject) for name, subject in SUBJECTS.items()}
    return [six(progress, plays), solves(progress, plays), *sliding(progress), growth(progress), nets(progress)]


class Play:
    """A scene of the paper, run over and over: what is done to it happens outside the clock."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.show = subject.make()
        self.show.plan(subject.seconds if subject.make is not bow.Shot else 0.8)
        self.show.begin()
        self.scene = self.show.scene
        self.start = self.scene.snapshot()
        self.end = float(self.scene.time) + subject.seconds
        self.own: list[float] = []

    def prepare(self) -> None:
        """Do what the show does before a step, and begin again at the end."""
        if self.scene.time > self.end - 1.5 * self.subject.dt:
            self.scene.restore(self.start)
        self.show.before_step(self.subject.dt)

    def __call__(self) -> None:
        clock = time.thread_time
        begin = clock()
        self.scene.step(self.subject.dt)
        self.own.append(clock() - begin)

    def case(self, name: str) -> Case:
        """This scene as something to time."""
        absolute, relative = self.scene.multipliers
        values: dict[str, float | str] = {
            "DOF": self.scene.dofs,
            "absolute": absolute,
            "relative": relative,
            "paper ms": self.subject.paper,
        }
        return Case(name, self, prepare=self.prepare, values=values)


def six(
    progress: Progress, plays: dict[str, Play] | None = None, *, samples: int = 2000, seconds: float = 20.0
) -> Table:
    """A step of each scene, and how it compares with the paper's time."""
    plays = plays or {name: Play(subject) for name, subject in SUBJECTS.items()}
    cases = [play.case(name) for name, play in plays.items()]
    title = "MICADO's six scenes, one step"
    timed = measure(title, cases, per="step", samples=samples, seconds=seconds, progress=progress)
    table = Table(title, [_with_own(row, plays[row.name].own) for row in timed.rows], per="step")
    for name, play in plays.items():
        part = 1e3 * table[name].median / play.subject.paper
        table.aim(f"{name}: step over the paper's", part, at_most=0.06)
    table.notes.append(
        "The paper's times are from an Intel Centrino Duo of 2 GHz; its degrees of freedom are inferred, as each "
        "demonstration says."
    )
    table.notes.append(OWN)
    return table


def _with_own(row: Row, own: Sequence[float]) -> Row:
    """The row with two more columns: median and 99th percentile of the calling thread's own processor time."""
    median, high = np.quantile(own, (0.5, 0.99))
    return replace(row, values={**row.values, "own": Seconds(median), "own p99": Seconds(high)})


# ------------------------------------------------------------------------------------------------ the paper's method


@contextlib.contextmanager
def one_blas_thread() -> Iterator[bool]:
    """Keep SciPy's OpenBLAS to one thread, where it can be reached: more only get in each other's way at these sizes.

    Gives whether that worked.
    """
    libraries = sorted((Path(scipy.__file__).parent.parent / "scipy.libs").glob("*openblas*"))
    try:
        library = ctypes.CDLL(str(libraries[0]))
        before = int(library.scipy_openblas_get_num_threads())
        library.scipy_openblas_set_num_threads(1)
    except (IndexError, OSError, AttributeError):
        yield False
        return
    try:
        yield True
    finally:
        library.scipy_openblas_set_num_threads(before)


class BandedLU:
    """The paper's solve: reverse Cuthill-McKee, then LAPACK's LU of a band with partial pivoting."""

    def __init__(self, matrix: csc_matrix, right: FloatArray) -> None:
        order = reverse_cuthill_mckee(matrix.tocsr(), symmetric_mode=True)
        self.order = np.asarray(order, dtype=np.intp)
        place = np.empty_like(self.order)
        place[self.order] = np.arange(len(order))
        entries = matrix.tocoo()
        row, col = place[entries.row], place[entries.col]
        self.band = int(np.abs(row - col).max())
        self.full = np.zeros((3 * self.band + 1, len(order)), order="F")
        self.full[2 * self.band + row - col, col] = entries.data
        self.right = right[self.order]
        self.work, self.x = self.full.copy(order="F"), self.right.copy()

    def prepare(self) -> None:
        """Fill the band, which is destroyed by the solve: outside the clock."""
        self.work[...] = self.full
        self.x[...] = self.right

    def __call__(self) -> None:
        _, _, self.x, info = lapack.dgbsv(self.band, self.band, self.work, self.x, overwrite_ab=1, overwrite_b=1)
        if info:
            raise ArithmeticError(f"dgbsv gave {info}")

    def solution(self) -> FloatArray:
        """In the order of the matrix, after a call."""
        x = np.empty_like(self.x)
        x[self.order] = self.x
        return x


class OwnSolve:
    """What a step of the scene does with the same numbers: factorisation and one solve, arrays made beforehand."""

    def __init__(self, scene: sn.Scene, right: FloatArray) -> None:
        system = scene._system
        assert system is not None
        plan = system.plan(False)
        self.values = plan.matrix.values.copy()
        self.made = Factorisation(plan.block_start, plan.block_kind, plan.row, plan.col, plan.slot)
        self.right, self.x = right, right.copy()

    def prepare(self) -> None:
        """Put the right side back, which the solve writes its answer over: outside the clock, as for the other."""
        self.x[...] = self.right

    def __call__(self) -> None:
        made = self.made
        ldlt.factorise(made.plan, self.values, made.factor, made.diagonal, made.ratio)
        ldlt.solve(made.plan, made.factor, made.diagonal, self.x, made.work)


def solves(
    progress: Progress, plays: dict[str, Play] | None = None, *, samples: int = 1000, seconds: float = 20.0
) -> Table:
    """Our factorisation and solve beside the paper's method, on the matrix of each scene's last step."""
    plays = plays or {name: Play(subject) for name, subject in SUBJECTS.items()}
    cases = []
    for name, play in plays.items():
        play.prepare()
        play()
        matrix, right = play.scene.saddle_point()
        own, banded = OwnSolve(play.scene, right), BandedLU(matrix, right)
        own.prepare()
        own()
        banded.prepare()
        banded()
        size = float(np.abs(right).max())
        errors = [float(np.abs(matrix @ x - right).max()) / size for x in (own.x, banded.solution())]
        shared = {"unknowns": matrix.shape[0], "nonzeros": matrix.nnz}
        values = {**shared, "factor": own.made.nonzeros, "residual": f"{errors[0]:.0e}"}
        cases.append(Case(f"{name}, sennit", own, prepare=own.prepare, values=values))
        values = {**shared, "band": banded.band, "residual": f"{errors[1]:.0e}"}
        cases.append(Case(f"{name}, banded LU", banded, prepare=banded.prepare, values=values))
    title = "Factor and solve, beside the paper's method on the same matrices"
    with one_blas_thread() as alone:
        table = measure(title, cases, per="solve", samples=samples, seconds=seconds, progress=progress)
    for name in plays:
        times = table[f"{name}, banded LU"].median / table[f"{name}, sennit"].median
        table.aim(f"{name}: times faster than reverse Cuthill-McKee and banded LU", times, at_least=2.0)
    table.notes.append(
        "Banded LU: only LAPACK's dgbsv is timed; ordering and filling of the band are left out. "
        + ("Both run on one thread." if alone else "It may run on several threads, which sennit does not.")
    )
    return table


# -------------------------------------------------------------------------------------------------- figure 7, sliding


def with_keyholes(count: int, control_points: int = 100) -> sn.Scene:
    """A rope through `count` holes in the air, its end let go so that it slides."""
    scene = sn.Scene()
    rope = scene.add(sn.Rod.straight((0, 0, 1), (4, 0, 1), section=CORD, material=STEEL, control_points=control_points))
    scene.add(sn.Fix(rope.at(0.0)))
    for s in 4.0 * (np.arange(count) + 0.5) / max(count, 1):
        scene.add(sn.Keyhole(rope, at=s, hole=sn.World.at((s, 0.0, 1.0)), sliding_drag=0.1))
    return scene


def with_pearls(count: int, control_points: int = 100) -> sn.Scene:
    """A rope held at its ends, sloping a little, with `count` pearls that slide down slowly, none touching another."""
    scene = sn.Scene()
    rope = scene.add(
        sn.Rod.straight((0, 0, 1), (4, 0, 0.9), section=CORD, material=STEEL, control_points=control_points)
    )
    for end in (0.0, rope.length):
        scene.add(sn.Fix(rope.at(end)))
    for s in rope.length * (np.arange(count) + 0.5) / max(count, 1):
        scene.add(sn.Pearl(rope, at=s, mass=1e-3, radius=2e-3, sliding_drag=0.5))
    return scene


class Stepped:
    """Steps of `scene` as something to time; it goes back to its start after `steps` of them."""

    def __init__(self, scene: sn.Scene, dt: float, steps: int = 100) -> None:
        self.scene, self.dt, self.steps, self.done = scene, dt, steps, 0
        self.start = scene.snapshot()
        self.own: list[float] = []

    def prepare(self) -> None:
        """Go back to the start, if it is time: outside the clock."""
        if self.done >= self.steps:
            self.scene.restore(self.start)
            self.done = 0
        self.done += 1

    def __call__(self) -> None:
        clock = time.thread_time
        begin = clock()
        self.scene.step(self.dt)
        self.own.append(clock() - begin)


def linear_fit(counts: Sequence[float], times: Sequence[float]) -> tuple[float, float, float]:
    """Fixed time, time for each, and R² of the line through `times` over `counts`."""
    x, y = np.asarray(counts, dtype=np.float64), np.asarray(times, dtype=np.float64)
    each, fixed = np.polyfit(x, y, 1)
    left = y - fixed - each * x
    total = float(((y - y.mean()) ** 2).sum())
    return float(fixed), float(each), 1.0 - float(left @ left) / total if total > 0.0 else math.nan


def sliding(
    progress: Progress,
    counts: Sequence[int] = (5, 10, 20, 30, 40),
    *,
    control_points: int = 100,
    samples: int = 500,
    seconds: float = 8.0,
) -> list[Table]:
    """Figure 7 of the paper: the cost of a step against the number of keyholes, and of pearls."""
    tables = []
    for what, build in (("keyholes", with_keyholes), ("pearls", with_pearls)):
        made = {f"{count} {what}": Stepped(build(count, control_points), 2e-3) for count in (0, *counts)}
        cases = []
        for name, one in made.items():
            values = {"unknowns": one.scene.dofs + sum(one.scene.multipliers)}
            cases.append(Case(name, one, prepare=one.prepare, values=values))
        title = f"A rope of {control_points} control points and {what}, one step"
        timed = measure(title, cases, per="step", samples=samples, seconds=seconds, progress=progress)
        table = Table(title, [_with_own(row, made[row.name].own) for row in timed.rows], per="step")
        times = [float(np.median(made[f"{count} {what}"].own)) for count in (0, *counts)]
        fixed, each, quality = linear_fit((0, *counts), times)
        table.aim(f"R² of a straight line over the number of {what}", quality, at_least=0.97)
        table.notes.append(
            f"{1e6 * fixed:.3g} µs for the rope and {1e6 * each:.3g} µs for each of the {what} (figure 7 of the paper)."
        )
        tables.append(table)
    return tables


# -------------------------------------------------------------------------------------------------------------- growth


def long_rope(freedoms: int) -> sn.Scene:
    """One rope that hangs from both ends."""
    scene = sn.Scene()
    count = freedoms // 4
    length = 0.02 * count
    rope = scene.add(sn.Rod.straight((0, 0, 1), (length, 0, 1), section=CORD, material=STEEL, control_points=count))
    for end in (0.0, rope.length):
        scene.add(sn.Fix(rope.at(end)))
    return scene


def tree(freedoms: int, branch: int = 25) -> sn.Scene:
    """A trunk of `branch` control points to each branch, and branches of as many fused to it."""
    scene = sn.Scene()
    count = max(1, freedoms // (8 * branch))
    length = 0.02 * branch
    trunk = scene.add(
        sn.Rod.straight(
            (0, 0, 1), (length * count, 0, 1), section=CORD, material=STEEL, control_points=max(4, branch * count)
        )
    )
    for end in (0.0, trunk.length):
        scene.add(sn.Fix(trunk.at(end)))
    for k in range(count):
        x = length * (k + 0.5)
        twig = scene.add(
            sn.Rod.straight((x, 0, 1), (x, length, 1), section=CORD, material=STEEL, control_points=branch)
        )
        scene.add(sn.Fuse(twig.at(0.0), trunk.at(x)))
    return scene


def long_bridge(freedoms: int) -> sn.Scene:
    """Two ropes side by side, held at their ends and tied to each other every ten control points: loops."""
    scene = sn.Scene()
    count = freedoms // 8
    length = 0.02 * count
    ropes = []
    for y in (0.0, 0.1):
        rope = scene.add(sn.Rod.straight((0, y, 1), (length, y, 1), section=CORD, material=STEEL, control_points=count))
        for end in (0.0, rope.length):
            scene.add(sn.Fix(rope.at(end)))
        ropes.append(rope)
    for s in length * (np.arange(count // 10) + 0.5) / (count // 10):
        scene.add(sn.Distance(ropes[0].at(s), ropes[1].at(s)))
    return scene


def growth(
    progress: Progress,
    sizes: Sequence[int] = (1000, 3000, 10_000, 30_000, 100_000),
    *,
    samples: int = 40,
    seconds: float = 30.0,
) -> Table:
    """How a step grows with the degrees of freedom: one rope, a tree of ropes, a ladder of two ropes."""
    shapes: dict[str, Callable[[int], sn.Scene]] = {"rope": long_rope, "tree": tree, "ladder": long_bridge}
    made: dict[str, Stepped] = {}
    title = "Growth, one step"
    for k, (shape, build) in enumerate(shapes.items()):
        for n in sizes:
            progress(title, 0.1 * k)
            made[f"{shape}, {n:,}"] = Stepped(build(n), 5e-3, steps=20)
    cases = []
    for name, one in made.items():
        values: dict[str, Any] = {"DOF": one.scene.dofs, "rows": sum(one.scene.multipliers)}
        cases.append(Case(name, one, prepare=one.prepare, values=values))
    timed = measure(title, cases, per="step", samples=samples, seconds=seconds, progress=progress)
    table = Table(title, [_with_own(row, made[row.name].own) for row in timed.rows], per="step")
    for shape in shapes:
        chosen = [made[f"{shape}, {n:,}"] for n in sizes]
        exponent = growth_exponent([one.scene.dofs for one in chosen], [float(np.median(one.own)) for one in chosen])
        table.aim(f"growth exponent of the own time, {shape}", exponent, at_most=1.05)
    table.notes.append(OWN)
    return table


def plane_net(ropes: int) -> sn.Scene:
    """Ropes both ways, held at their ends and joined where they cross; some two control points to a mesh's side."""
    scene = sn.Scene()
    gap = 0.1
    length = gap * (ropes + 1)
    ways: list[list[sn.Rod]] = [[], []]
    for across, made in enumerate(ways):
        for k in range(ropes):
            start, end = np.array((0.0, 0.0, 1.0)), np.array((length, length, 1.0))
            start[1 - across] = end[1 - across] = gap * (k + 1)
            rope = scene.add(sn.Rod.straight(start, end, section=CORD, material=STEEL, control_points=2 * ropes + 10))
            for s in (0.0, rope.length):
                scene.add(sn.Fix(rope.at(s)))
            made.append(rope)
    for i, one in enumerate(ways[0]):
        for j, other in enumerate(ways[1]):
            scene.add(sn.Ball(one.at(gap * (j + 1)), other.at(gap * (i + 1))))
    return scene


def nets(
    progress: Progress, ropes: Sequence[int] = (10, 14, 20, 28), *, samples: int = 40, seconds: float = 30.0
) -> Table:
    """How a step of plane nets grows: their matrices fill in, and the order of elimination says how much."""
    title = "Plane nets, one step"
    made = {f"{k} ropes each way": Stepped(plane_net(k), 1e-3, steps=20) for k in ropes}
    cases = []
    for name, one in made.items():
        one()  # makes the plan
        plan = one.scene._compiled().system.plan(False).plan
        values: dict[str, Any] = {
            "DOF": one.scene.dofs,
            "rows": sum(one.scene.multipliers),
            "nonzeros of L": int(plan.nonzeros[0]),
            "operations, 10⁶": round(16e-6 * float(plan.update_count.sum(dtype=np.int64)), 1),
        }
        one.own.clear()
        cases.append(Case(name, one, prepare=one.prepare, values=values))
    timed = measure(title, cases, per="step", samples=samples, seconds=seconds, progress=progress)
    table = Table(title, [_with_own(row, made[row.name].own) for row in timed.rows], per="step")
    sizes, times = [one.scene.dofs for one in made.values()], [float(np.median(one.own)) for one in made.values()]
    table.aim("growth exponent of the own time, nets", growth_exponent(sizes, times), at_most=1.6)
    table.notes.append(
        "Operations: multiplications with an addition each, in the factorisation, with those of padding."
    )
    table.notes.append(OWN)
    return table
