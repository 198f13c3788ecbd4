"""How long one strand takes: two sweeps, pose to pose warm and cold, inside a Newton step, two threads at once.

Each table has something beside it that was timed in the same run: a copy of the same bytes, LAPACK's banded solver on
a system of the same size, Pai's single shooting, two threads that only hash. Times are wall times; columns called
"own" are the processor time of the calling thread, which leaves out what other programs took meanwhile.
"""

from __future__ import annotations

import gc
import hashlib
import math
import threading
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import solve_banded

import sennit as sn
from sennit.bench.strand_samples import (
    FLAT,
    STEPS,
    Drag,
    KernelDrag,
    Order,
    drag_poses,
    nylon_strand,
    random_poses,
    units,
)
from sennit.bench.table import Case, Progress, Row, Table, growth_exponent, measure
from sennit.cosserat.kernels.chain import solve_chain
from sennit.cosserat.kernels.sweep import two_sweeps
from sennit.cosserat.kernels.system import assemble, evaluate, factor, move
from sennit.cosserat.newton import workspace_for
from sennit.cosserat.sweep import Swept, sweep_arguments

__all__ = ["DESCRIPTION", "run"]

DESCRIPTION = (
    "Times one strand: two sweeps under a follower wrench, pose to pose along a drag (warm) and at random (cold), the "
    "parts of a Newton step, and two threads at once; beside them LAPACK's banded solver, single shooting and copies."
)

Call = Callable[[], object]

FLOPS: dict[Order, int] = {1: 320, 2: 330, 4: 640}
"""Of both sweeps per node, with a diagonal K; counted by hand, to 5 %."""
LAPACK = "LAPACK banded, one step"
CAPPED = "solve(), flat, capped at 3"


def run(progress: Progress) -> list[Table]:
    """Time everything; about a minute, and the compilation on top of it the first time."""
    compile_all(progress)
    tables = [sweeps(progress), public_sweeps(progress)]
    for nodes, seconds in ((101, 4.0), (201, 8.0), (1001, 10.0)):
        tables.append(warm(nodes, progress, seconds=seconds))
    return [*tables, cold(progress), newton_step(progress), threads(progress)]


def compile_all(progress: Progress) -> None:
    """Let every kernel that is timed later be compiled, or loaded, now."""
    title = "Compiling (once on this machine)"
    steps: list[Call] = [_follower_call(nylon_strand(11)), lambda: _sweep_call(nylon_strand(11, full=True))]
    steps += [
        lambda: Drag(nylon_strand(11), 8)(),
        lambda: Cold(nylon_strand(11), [sn.Pose((0.1, 0.0, 0.1))], method="shooting")(),
    ]
    for done, step in enumerate(steps):
        progress(title, done / len(steps))
        step()
    progress(title, 1.0)


# ---------------------------------------------------------------------------------------------------------- two sweeps


def _wrench(strand: sn.Strand) -> dict[str, Any]:
    """A follower wrench that winds the strand up a little."""
    force, torque = units(strand)
    return {
        "tip_force": (1.0 * force, 2.0 * force, -1.0 * force),
        "tip_torque": (0.5 * torque, 0.2 * torque, 0.7 * torque),
        "follower": True,
    }


def _follower_call(strand: sn.Strand) -> Call:
    """The public solve under that wrench."""
    base, wrench = sn.Pose(), _wrench(strand)
    return lambda: strand.solve(base=base, **wrench)


def _sweep_call(strand: sn.Strand) -> tuple[Call, int]:
    """The two compiled sweeps under that wrench with arrays made beforehand, and the bytes that they read and write."""
    conditions = strand.solve(base=sn.Pose(), **_wrench(strand))._solution.conditions
    found = Swept.blank(conditions)
    arguments = sweep_arguments(conditions, found)
    # beside these it reads the loads of the nodes; its workspace stays in the cache
    intervals = conditions.problem.sweep_intervals()
    moved = sum(array.nbytes for array in (*found, *intervals.fields().values(), found.n, found.m))

    def call() -> object:
        return two_sweeps(*arguments)

    call()
    return call, moved


def _copy_call(count: int) -> Call:
    """A copy that reads and writes `count` bytes in all."""
    source = np.zeros(max(count // 16, 1))
    target = np.ones_like(source)
    return lambda: np.copyto(target, source)


def _product_call(flops: float, size: int = 48) -> tuple[Call, float]:
    """A BLAS product of small matrices (one thread), and how many times `flops` it does."""
    a, b, c = (np.ones((size, size)) for _ in range(3))
    return lambda: np.matmul(a, b, out=c), 2.0 * size**3 / flops


def sweeps(
    progress: Progress,
    sizes: Sequence[int] = (101, 301, 1001, 10001),
    *,
    samples: int = 200,
    seconds: float = 10.0,
) -> Table:
    """The compiled sweeps under a follower wrench at the tip: nanoseconds per node, and how they grow."""
    middle = sizes[len(sizes) // 2]
    cases = []
    for order in FLOPS:
        for nodes in sizes:
            call, count = _sweep_call(nylon_strand(nodes, order=order))
            values: dict[str, float | str] = {"bytes": round(count / nodes), "flops": FLOPS[order]}
            cases.append(_swept(f"order {order}, {nodes:,} nodes", call, nodes, values))
            if order == 4:
                cases.append(_swept(f"copy, {nodes:,} nodes", _copy_call(count), nodes))
    for name, strand in (
        ("extensible", nylon_strand(middle, extensible=True)),
        ("full K", nylon_strand(middle, full=True)),
    ):
        cases.append(_swept(f"order 4, {name}, {middle:,} nodes", _sweep_call(strand)[0], middle))
    product, share = _product_call(FLOPS[4])
    cases.append(Case("product", product, per=share, repeat=10))
    title, copy = "Two sweeps under a follower wrench, compiled", f"copy, {middle:,} nodes"
    table = measure(title, cases, per="node", baseline=copy, samples=samples, seconds=seconds, progress=progress)
    for order in FLOPS:
        times = [nodes * table[f"order {order}, {nodes:,} nodes"].median for nodes in sizes]
        table.aim(f"growth exponent, order {order}", growth_exponent(sizes, times), at_most=1.05)
    for nodes in sizes:
        table.aim(f"ns a node, order 4, {nodes:,} nodes", 1e9 * table[f"order 4, {nodes:,} nodes"].median, at_most=45.0)
    best = table[f"order 4, {middle:,} nodes"].median
    whole = [nodes * table[f"order 4, {nodes:,} nodes"].median for nodes in sizes]
    # weighted so that each size counts alike
    slope, fixed = np.polyfit(sizes, whole, 1, w=1.0 / np.array(whole))
    table.notes.append(
        f"A call at order 4 takes {1e6 * fixed:.2g} µs, whatever the size (it hands over many arrays), and "
        f"{1e9 * slope:.3g} ns for each node."
    )
    table.notes.append(
        f"The floors: copy moves as many bytes as the sweeps read and write, product does the {FLOPS[4]} flops of "
        f"order 4 in a BLAS product of small matrices. Order 4 is {best / table[copy].median:.3g} and "
        f"{best / table['product'].median:.3g} times above them: each step waits for the one before it."
    )
    return table


def public_sweeps(
    progress: Progress,
    sizes: Sequence[int] = (101, 301, 1001, 10001),
    *,
    samples: int = 100,
    seconds: float = 8.0,
) -> Table:
    """The same by the public `solve`, arrays of the state included."""
    middle = sizes[len(sizes) // 2]
    baseline = f"compiled, order 4, {middle:,} nodes"
    cases = [
        _swept(f"solve(), order {order}, {nodes:,} nodes", _follower_call(nylon_strand(nodes, order=order)), nodes)
        for order in FLOPS
        for nodes in sizes
    ]
    cases.append(_swept(baseline, _sweep_call(nylon_strand(middle))[0], middle))
    title = "Two sweeps under a follower wrench, public"
    table = measure(title, cases, per="node", baseline=baseline, samples=samples, seconds=seconds, progress=progress)
    for order in FLOPS:
        times = [nodes * table[f"solve(), order {order}, {nodes:,} nodes"].median for nodes in sizes]
        table.aim(f"growth exponent, order {order}", growth_exponent(sizes, times), at_most=1.05)
    return table


def _swept(name: str, call: Call, nodes: int, values: Mapping[str, float | str] | None = None) -> Case:
    return Case(name, call, per=nodes, repeat=10 if nodes < 500 else 1, values=values or {})


# ------------------------------------------------------------------------------------------------- pose to pose, warm


def _banded_call(nodes: int) -> Call:
    """LAPACK on what one Newton step solves: three rotations a node, coupled two nodes away.

    The right-hand sides are four: the unbalanced moments, and the border's three columns.
    """
    size, half = 3 * nodes, 8
    generator = np.random.default_rng(0)
    band = generator.uniform(-1.0, 1.0, (2 * half + 1, size))
    band[half] += 20.0
    sides = generator.uniform(-1.0, 1.0, (size, 4))
    return lambda: solve_banded((half, half), band, sides, check_finite=False)


def warm(
    nodes: int, progress: Progress, *, samples: int = 2 * STEPS, seconds: float = 8.0, steps: int = STEPS
) -> Table:
    """Pose to pose along the drag, warm-started: time of a call, iterations, throughput, memory."""
    round_, flat = Drag(nylon_strand(nodes), steps), Drag(nylon_strand(nodes, section=FLAT), steps)
    capped = Drag(nylon_strand(nodes, section=FLAT), steps, max_iterations=3, throw=False)
    kernel = KernelDrag(nylon_strand(nodes), steps)
    drags: dict[str, Drag | KernelDrag] = {
        "solve()": round_,
        "solve(), flat section": flat,
        CAPPED: capped,
        "compiled Newton alone": kernel,
    }
    cases = [*(Case(name, drag) for name, drag in drags.items()), Case(LAPACK, _banded_call(nodes))]
    title = f"Pose to pose, warm, along a drag, {nodes:,} nodes"
    timed = measure(title, cases, samples=samples, seconds=seconds, progress=progress)
    table = Table(title, _filled(timed, {name: drag.figures() for name, drag in drags.items()}), baseline=LAPACK)

    public, alone = table["solve()"], table["compiled Newton alone"]
    mean = public.mean or math.nan
    if nodes == 201:
        table.aim("solves a second, from the median", 1.0 / public.median, at_least=8000)
        table.aim("solves a second, from the mean", 1.0 / mean, at_least=8000)
        table.aim("99th percentile, ms", 1e3 * public.p99, at_most=0.3)
        table.aim("99th percentile of the thread's own time, ms", 1e3 * _number(public, "own p99"), at_most=0.3)
    else:
        table.notes.append(f"{1.0 / public.median:,.0f} solves a second by the median, {1.0 / mean:,.0f} by the mean.")
    tick = _number(table[CAPPED], "own worst")
    table.notes.append(
        f"Python takes {1e6 * (public.median - alone.median):.0f} µs of a solve(). With at most 3 iterations the worst "
        f"tick took {1e3 * tick:.2f} ms of its thread's own time; the column worst is by the clock."
    )
    small, large = _memory(Drag(nylon_strand(nodes), steps)), _memory(Drag(nylon_strand(10 * nodes - 9), steps))
    growth = (large.beyond - small.beyond) / (9 * nodes - 9)
    table.aim("bytes a node allocated by solve() beyond its state's arrays", growth, at_most=0.1)
    table.notes.append(
        f"Memory, by tracemalloc: solve() keeps {small.kept:,} bytes, {small.arrays:,} of them the new state's arrays, "
        f"and has up to {small.passing:,} more while it runs; {large.kept:,}, {large.arrays:,} and {large.passing:,} "
        f"with {10 * nodes - 9:,} nodes."
    )
    return table


def _filled(table: Table, figures: Mapping[str, Mapping[str, float | str]]) -> list[Row]:
    """The table's rows, with figures that were only known after it was timed."""
    return [replace(row, values=dict(figures.get(row.name, {}))) for row in table.rows]


def _number(row: Row, key: str) -> float:
    return float(row.values.get(key, math.nan))


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes: of a new state's arrays; kept by the solve that made it; allocated besides while it ran."""

    arrays: int
    kept: int
    passing: int

    @property
    def beyond(self) -> int:
        """All that was allocated at once, less the arrays."""
        return self.kept + self.passing - self.arrays


def _memory(drag: Drag, calls: int = 20) -> Memory:
    """What a warm solve allocates, by the medians of some calls."""
    drag()
    kept, passing, states = [], [], []
    gc.collect()
    tracemalloc.start()
    try:
        for _ in range(calls):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            drag()
            after, peak = tracemalloc.get_traced_memory()
            kept.append(after - before)
            passing.append(peak - after)
            states.append(drag.state)  # or the solve would free the state before last, and seem to keep nothing
    finally:
        tracemalloc.stop()
    solution = drag.state._solution
    own = (solution.q, solution.lam, solution.conditions.target, solution.conditions.tip_force)
    return Memory(sum(array.nbytes for array in own), int(np.median(kept)), int(np.median(passing)))


# ------------------------------------------------------------------------------------------------- pose to pose, cold


class Cold:
    """Solves of random poses without a guess, one after the other; counts iterations and failures."""

    def __init__(self, strand: sn.Strand, poses: Sequence[sn.Pose], **options: Any) -> None:
        self.strand, self.poses, self.options = strand, poses, options
        self.base, self.place = sn.Pose(), 0
        self.iterations: list[int] = []
        self.failed: set[int] = set()

    def __call__(self) -> None:
        self.place = (self.place + 1) % len(self.poses)
        tip = self.poses[self.place]
        report = self.strand.solve(base=self.base, tip=tip, throw=False, **self.options).report
        self.iterations.append(report.iterations)
        if not report.converged:
            self.failed.add(self.place)

    def figures(self) -> dict[str, float | str]:
        """Columns of this row."""
        poses = min(len(self.poses), len(self.iterations))
        return {
            "iterations": float(np.mean(self.iterations)),
            "most": max(self.iterations),
            "failed": f"{len(self.failed)} of {poses}",
        }


def cold(
    progress: Progress,
    sizes: Sequence[int] = (101, 201),
    *,
    poses: int = 200,
    samples: int = 400,
    seconds: float = 12.0,
) -> Table:
    """Pose to pose from nothing: random reachable poses, beside Pai's single shooting on the same ones."""
    title = "Pose to pose, cold, random reachable poses"
    progress(title, 0.0)
    runs: dict[str, Cold] = {}
    for nodes in sizes:
        strand = nylon_strand(nodes)
        goals = random_poses(strand, poses)
        runs[f"solve(), {nodes:,} nodes"] = Cold(strand, goals)
        if nodes == sizes[0]:
            runs[f"single shooting, {nodes:,} nodes"] = Cold(strand, goals, method="shooting", max_iterations=50)
    lapack = f"{LAPACK}, {sizes[0]:,} nodes"
    cases = [*(Case(name, run) for name, run in runs.items()), Case(lapack, _banded_call(sizes[0]))]
    timed = measure(title, cases, samples=samples, seconds=seconds, progress=progress)
    table = Table(title, _filled(timed, {name: run.figures() for name, run in runs.items()}), baseline=lapack)
    failed = sum(len(run.failed) for name, run in runs.items() if name.startswith("solve()"))
    table.aim("poses that solve() did not solve", failed, at_most=0)
    return table


# ----------------------------------------------------------------------------------------------- inside a Newton step


def _step_calls(nodes: int) -> dict[str, Call]:
    """The kernels of one Newton iteration, in the state that the drag begins with."""
    strand = nylon_strand(nodes)
    solution = strand.solve(base=sn.Pose(), tip=drag_poses(strand.length, 8)[0], throw=False)._solution
    c, p = solution.conditions, solution.conditions.problem
    space, plan = workspace_for(p), p.plan
    space.load(p)
    space.ask(c)
    state, work = space.state, space.work
    state.q[...], state.lam[...] = solution.q, solution.lam
    P, law, asked, floor = space.P, space.law, space.asked, float(plan.floor[0])
    return {
        "evaluate": lambda: evaluate(P, plan, law, asked, state, work.residual),
        "assemble": lambda: assemble(P, plan, law),
        "factor": lambda: factor(P, plan, asked, state, floor, work.factors),
        "solve": lambda: solve_chain(P, plan, work.factors, work.residual, work.step),
        "move": lambda: move(state, work.step, 1.0, work.trial),
    }


def newton_step(progress: Progress, nodes: int = 201, *, samples: int = 400, seconds: float = 6.0) -> Table:
    """The parts of one Newton iteration, without what it takes to call them from Python."""
    title = f"Inside a Newton iteration, {nodes:,} nodes"
    large, small = _step_calls(nodes), _step_calls(3)
    times: dict[str, list[float]] = {name: [] for name in (*large, "one iteration")}
    banded = _banded_call(nodes)
    bands: list[float] = []
    start = told = time.perf_counter()
    for sample in range(samples):
        total = 0.0
        for name, call in large.items():
            # the workspaces are the threads' own and kept, so a short strand between changes nothing
            times[name].append(max(_timed(call, 10) - _timed(small[name], 10), 0.0))
            total += times[name][-1]
        times["one iteration"].append(total)
        bands.append(_timed(banded, 2))
        now = time.perf_counter()
        if now - told > 0.25:
            told = now
            progress(title, sample / samples)
        if now - start > seconds:
            break
    whole = float(np.median(times["one iteration"]))
    rows = [
        Row.from_samples(name, own, per=nodes, values={"share": float(np.median(own)) / whole if whole > 0 else 0.0})
        for name, own in times.items()
    ]
    rows.append(Row.from_samples(LAPACK, bands, per=nodes))
    table = Table(title, rows, baseline=LAPACK, per="node")
    table.notes.append("The same call on a strand of 3 nodes is taken off each: what remains are the nodes.")
    return table


def _timed(call: Call, repeat: int) -> float:
    begin = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - begin) / repeat


# ------------------------------------------------------------------------------------------------- two threads at once


def _together(calls: Sequence[Call], repeat: int) -> float:
    """Wall time until every thread has made its call `repeat` times, from when all were ready."""
    ready = threading.Barrier(len(calls) + 1)

    def work(call: Call) -> None:
        call()  # this thread's own workspace is made here
        ready.wait()
        for _ in range(repeat):
            call()

    workers = [threading.Thread(target=work, args=(call,)) for call in calls]
    for worker in workers:
        worker.start()
    ready.wait()
    begin = time.perf_counter()
    for worker in workers:
        worker.join()
    return time.perf_counter() - begin


def _hash_call(count: int = 1 << 18) -> Call:
    """Work for one core that holds no lock."""
    block = bytes(count)
    return lambda: hashlib.sha256(block).digest()


def threads(
    progress: Progress,
    sizes: Sequence[int] = (201, 2001),
    *,
    samples: int = 12,
    solves: int = 40,
    steps: int = STEPS,
) -> Table:
    """One thread and two, each with its own strand: time per solve of both together, and the ratio of throughputs."""
    title = "Two threads at once"
    pairs: dict[str, tuple[list[Call], int]] = {"hash 256 kB": ([_hash_call(), _hash_call()], 8 * solves)}
    for nodes in sizes:
        drags: list[Call] = [Drag(nylon_strand(nodes), steps), Drag(nylon_strand(nodes), steps)]
        pairs[f"solve(), {nodes:,} nodes"] = drags, solves * max(1, 1000 // nodes)
    times: dict[tuple[str, int], list[float]] = {(name, count): [] for name in pairs for count in (1, 2)}
    for sample in range(samples):
        progress(title, sample / samples)
        for name, (calls, repeat) in pairs.items():
            for count in (1, 2):
                times[name, count].append(_together(calls[:count], repeat) / (count * repeat))
    progress(title, 1.0)
    rows = []
    ratios = {}
    for name in pairs:
        one, two = (np.array(times[name, count]) for count in (1, 2))
        ratios[name] = float(np.median(one / two))
        rows.append(Row.from_samples(f"{name}, one thread", one))
        rows.append(Row.from_samples(f"{name}, two threads", two, values={"throughput of two": ratios[name]}))
    table = Table(title, rows)
    for nodes in sizes[-1:]:
        ratio = ratios[f"solve(), {nodes:,} nodes"]
        table.aim(f"throughput of two threads over that of one, {nodes:,} nodes", ratio, at_least=1.8)
    table.notes.append(
        f"Hashing, which needs no lock, gains {ratios['hash 256 kB']:.2f}: all that two threads could gain on this "
        f"machine while this ran."
    )
    return table
