"""pypbd (PositionBasedDynamics): chains of rigid bodies, all joints of a tree solved at once, bending by compliance.

A clamped chain has its first body fixed, which clamps at that body's middle: it begins half a body before the clamp.
The joints of a tree do not stretch nor shear: references are those of the inextensible rod. Damping from Python is part
of the times. How gravity, "second order" and held bodies are done stands in pypbd_world.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import metadata
from typing import Any

import common
import measures
import numpy as np
from pypbd_world import DRAG_INTERVAL, LOOSE, TURNED, Floats, Problem, World
from scipy.spatial.transform import Rotation

TOOL = f"pypbd {metadata.version('pypbd')}"
SAFETY = 0.9  # of the largest stable step
REPEATS = 3  # of runs of milliseconds; the median counts


def order_name(second_order: bool) -> str:
    """How a row names the velocity update."""
    return "second order" if second_order else "first order"


# Tasks a, b and e: the cantilever.


class Cantilever:
    """The clamped rod."""

    def __init__(self, problem: Problem, n: int, dt: float, *, second_order: bool, iterations: int = 1) -> None:
        gravity = float(np.linalg.norm(problem["gravity"]))
        self.world = World(dt, gravity=gravity, second_order=second_order, iterations=iterations)
        self.size = problem["length"] / (n - 0.5)
        axis = np.array((1.0, 0.0, 0.0))
        frame = np.column_stack(((0.0, 0.0, 1.0), axis, (0.0, 1.0, 0.0)))
        ids = self.world.chain(problem, n, -0.5 * self.size * axis, frame, n * self.size)
        self.world.fix(ids[0])
        joints = [(i + 0.5) * self.size * axis for i in range(n - 1)]
        pairs = list(zip(ids[:-1], ids[1:], strict=True))
        self.world.join(
            pairs, joints, problem["radius"], self.size, problem["youngs_modulus"], problem["shear_modulus"]
        )
        self.last = ids[-1]

    def tip(self) -> Floats:
        """The tip, z upwards."""
        return TURNED.T @ self.world.end(self.last, 0.5 * self.size)


def fall(problem: Problem, quick: bool) -> None:
    """Task a."""
    name = "inextensible"
    goal, drag = problem["references"][name]["tip"], problem["damping"]

    def run(n: int, dt: float, second_order: bool) -> tuple[float, Floats]:
        rod = Cantilever(problem, n, dt, second_order=second_order)
        steps = round(problem["duration"] / dt)
        wall = common.timed(rod.world.run, steps, drag) / (steps * dt)
        return wall, rod.tip()

    for n in (20, 50) if quick else (10, 20, 50, 100):
        for second in (False, True):
            settled = run(n, 0.01, second)[1]

            def stable(dt: float, n: int = n, second: bool = second, settled: Floats = settled) -> bool:
                # An implicit step does not blow up, it goes astray.
                return bool(np.linalg.norm(run(n, dt, second)[1] - settled) < 1e-4 * problem["length"])

            largest = SAFETY * common.largest_stable_step(stable, 0.02, largest=0.2, refinements=2)
            for dt in (largest, 0.01):
                runs = [run(n, dt, second) for _ in range(REPEATS)]
                common.emit_result(
                    "a",
                    TOOL,
                    f"n={n}, {order_name(second)}",
                    n=n,
                    dt=dt,
                    wall_s=float(np.median([wall for wall, _ in runs])),
                    error=measures.distance_error(runs[0][1], goal, problem["length"]),
                    reference=name,
                    note=("" if dt == 0.01 else "largest stable step; ")
                    + f"velocities damped from Python every {max(dt, DRAG_INTERVAL):.2g} s",
                )


def vibrate(problem: Problem, quick: bool) -> None:
    """Task b."""
    name = "rayleigh"
    frequency = problem["references"][name]["frequency"]
    for n in (20,) if quick else (20, 50, 100):
        for second in (False, True):
            for dt in (0.005,) if quick else (0.01, 0.005, 0.002, 0.001):
                rod = Cantilever(problem, n, dt, second_order=second)
                every = max(1, round(0.01 / dt))
                times, heights, wall = [0.0], [0.0], 0.0
                while times[-1] < problem["duration"]:
                    wall += common.timed(rod.world.run, every)
                    times.append(times[-1] + every * dt)
                    heights.append(float(rod.tip()[2]))
                error, decay = measures.frequency_error(times, heights, frequency)
                common.emit_result(
                    "b",
                    TOOL,
                    f"n={n}, {order_name(second)}",
                    n=n,
                    dt=dt,
                    wall_s=wall / times[-1],
                    error=error,
                    reference=name,
                    decay_per_s=decay,
                    note="moduli and time scaled for the tool's gravity",
                )


def relax(step: Callable[[], None], error: Callable[[], float], bound: float, most: int) -> tuple[float | None, float]:
    """Take `most` steps; return the wall time after which the error stays below `bound`, and the last error."""
    walls, errors, wall = [0.0], [error()], 0.0
    for _ in range(most):
        wall += common.timed(step)
        walls.append(wall)
        errors.append(error())
    return common.time_to_stay(walls, errors, bound), errors[-1]


def median_answer(results: Sequence[tuple[float | None, float]]) -> tuple[float | None, float]:
    """Of repeated answers, the one whose time is in the middle; one that never came counts as the slowest."""
    return sorted(results, key=lambda result: math.inf if result[0] is None else result[0])[len(results) // 2]


def emit_answer(
    task: str, variant: str, n: int, dt: float, wall: float | None, error: float, reference: str, **more: Any
) -> None:
    """Print the row of a static answer, which fails if its error never stayed below the bound."""
    if wall is None:
        failed = f"error {error:.2g}: not below the bound"
        common.emit(task=task, tool=TOOL, variant=variant, n=n, dt=dt, failed=failed, **more)
        return
    common.emit_result(task, TOOL, variant, n=n, dt=dt, wall_s=wall, error=error, reference=reference, **more)


def rest(problem: Problem, quick: bool) -> None:
    """Task e: large damped steps; which size, step and damping are best was tried beforehand."""
    name = "inextensible"
    goal = problem["references"][name]["tip"]
    cases = ((38, 0.07, 3.0, True), (38, 0.05, 7.0, False), (50, 0.07, 3.0, True), (100, 0.07, 3.0, True))
    for n, dt, drag, second in cases[:1] if quick else cases:
        results = []
        for _ in range(REPEATS):
            rod = Cantilever(problem, n, dt, second_order=second)

            def error(rod: Cantilever = rod) -> float:
                return float(measures.distance_error(rod.tip(), goal, problem["length"]))

            def step(rod: Cantilever = rod, drag: float = drag) -> None:
                rod.world.run(1, drag)

            results.append(relax(step, error, problem["error_bound"], 120))
        note = "dynamic relaxation in large steps"
        variant = f"n={n}, {order_name(second)}, damping {drag:g}/s"
        emit_answer("e", variant, n, dt, *median_answer(results), name, note=note)


# Task c: the cable.


def swing(problem: Problem, quick: bool) -> None:
    """Task c: one spring without mass, and a chain that does not stretch."""
    for second in (False, True):
        for dt in (0.01,) if quick else (0.02, 0.01, 0.001):
            swing_once(problem, None, dt, second)
    for n, iterations in ((4, 1),) if quick else ((4, 1), (10, 1), (10, 10)):
        for dt in (0.001,) if quick else (0.01, 0.001):
            swing_once(problem, n, dt, True, iterations)


def swing_once(problem: Problem, n: int | None, dt: float, second: bool, iterations: int = 1) -> None:
    """One run of task c; `n` bodies in the cable, None for a spring."""
    name = "massless cable" if n is None else "massive cable"
    reference = problem["references"][name]
    world = World(dt, second_order=second, iterations=iterations)
    start, load = TURNED @ np.array(reference["start"]), problem["load"]
    down = start / np.linalg.norm(start)
    side = np.array((0.0, 0.0, 1.0))
    frame = np.column_stack((side, down, np.cross(side, down)))
    anchor = world.add_body(1.0, (1.0, 1.0, 1.0), np.zeros(3), frame)
    world.fix(anchor)
    end = problem["length"] * down
    if n is None:
        body = world.add_body(load, [0.004 * load] * 3, end, frame)
        spring = problem["stretch_stiffness"] / problem["length"]
        world.model.addRigidBodySpring(anchor, body, np.zeros(3), end, spring)
        world.place(body, start, frame)
    else:
        size = problem["length"] / n
        chain = [anchor, *world.chain(problem, n, np.zeros(3), frame, problem["length"])]
        body = world.add_body(load, [0.004 * load] * 3, end, frame)
        chain.append(body)
        moduli, shears = np.full(n + 1, problem["youngs_modulus"]), np.full(n + 1, problem["shear_modulus"])
        moduli[[0, -1]] = shears[[0, -1]] = LOOSE
        places = [i * size * down for i in range(n + 1)]
        world.join(list(zip(chain[:-1], chain[1:], strict=True)), places, problem["radius"], size, moduli, shears)
    every = max(1, round(0.02 / dt))
    times, positions, wall = [0.0], [world.end(body, 0.0)], 0.0
    while times[-1] < problem["duration"]:
        wall += common.timed(world.run, every)
        times.append(times[-1] + every * dt)
        positions.append(world.end(body, 0.0))
    longer = float(np.linalg.norm(positions, axis=1).mean()) - problem["length"]
    x = np.array(positions)[:, 0]
    variant = f"{'one spring' if n is None else f'n={n}'}, {order_name(second)}"
    variant += f", {iterations} iterations" if iterations > 1 else ""
    row = {"task": "c", "tool": TOOL, "variant": variant, "n": n, "dt": dt}
    if not np.isfinite(positions).all() or np.abs(positions).max() > 1.5 * problem["length"]:
        common.emit(**row, failed="not stable at this step")
        return
    common.emit_result(
        **row,
        wall_s=wall / times[-1],
        error=measures.period_error(times, x, reference["period"]),
        reference=name,
        elongation_error=longer / reference["elongation"] - 1.0,
        decay_per_s=common.swing_decay(times, x),
        note="RigidBodySpring between anchor and load" if n is None else "one tree of joints; it can't stretch",
    )


# Task d: the bridge.


class Bridge:
    """Two ropes and their rungs.

    One tree carries the load to all four pins: the first rope from its left pin to its right one, the loaded rung in
    its middle, from there the second rope to both sides. The other rungs hang in the tree by one end each; their
    second ends are ball joints outside it, met by iterations.
    """

    def __init__(self, problem: Problem, n: int, dt: float, *, iterations: int, second_order: bool) -> None:
        self.world = world = World(dt, iterations=iterations, second_order=second_order)
        self.problem, self.n, self.size = problem, n, problem["length"] / n
        axis, side = np.array((1.0, 0.0, 0.0)), np.array((0.0, 0.0, 1.0))
        frame = np.column_stack((side, axis, np.cross(side, axis)))
        half = 0.5 * problem["length"]
        pairs: list[tuple[int, int]] = []
        places: list[Floats] = []
        loose: list[bool] = []

        def link(a: int, b: int, place: Floats, free: bool) -> None:
            pairs.append((a, b))
            places.append(place)
            loose.append(free)

        # Everything is joined straight, which is how it is at rest, and put in its place afterwards.
        self.ropes, self.pins = [], []
        for y in problem["ropes_y"]:
            start = np.array((-half, 0.0, -y))
            pins = [world.add_body(1.0, (1.0, 1.0, 1.0), start + s * 2.0 * half * axis, frame) for s in (0.0, 1.0)]
            rope = world.chain(problem, n, start, frame, problem["length"])
            link(pins[0], rope[0], start, True)
            for i in range(1, n):
                link(rope[i - 1], rope[i], start + i * self.size * axis, False)
            link(rope[-1], pins[1], start + 2.0 * half * axis, True)
            self.ropes.append(rope)
            self.pins.append(pins)
        middle = problem["rungs"] // 2
        self.rungs = []
        outside = []
        for k, place in enumerate(problem["rung_places"]):
            node = round(place / self.size)
            mass = problem["rung_mass"] + (problem["load"] if k == middle else 0.0)
            turning = problem["rung_mass"] * problem["rung_length"] ** 2 / 12.0
            rung = world.add_body(mass, (turning, turning, turning), (node * self.size - half, 0.0, 0.0), frame)
            self.rungs.append((node, rung))
            ends = [np.array((node * self.size - half, 0.0, -y)) for y in problem["ropes_y"]]
            for rope, end in zip(self.ropes, ends, strict=True):
                if k == middle or rope is self.ropes[k % 2]:
                    link(rope[node], rung, end, True)
                else:
                    outside.append((rope[node], rung, end))
        world.fix(self.pins[0][0])
        for pin in (self.pins[0][1], *self.pins[1]):
            world.make_heavy(pin)
        moduli = np.where(loose, LOOSE, problem["youngs_modulus"])
        shears = np.where(loose, LOOSE, problem["shear_modulus"])
        world.join(pairs, places, problem["radius"], self.size, moduli, shears)
        for a, b, place in outside:
            world.model.addBallJoint(a, b, place)
        self.hang(frame, side)

    def hang(self, frame: Floats, side: Floats) -> None:
        """Put the straight ropes on their arcs, and all else where it belongs."""
        problem, world, n = self.problem, self.world, self.n
        angles = (np.arange(n) + 0.5) * self.size / problem["arc_radius"] - 0.5 * problem["arc_angle"]
        directions = np.column_stack((np.cos(angles), np.sin(angles), np.zeros(n)))
        nodes = np.vstack((np.zeros(3), np.cumsum(self.size * directions, axis=0)))
        nodes[:, 0] -= 0.5 * nodes[-1, 0]
        for y, rope, pins in zip(problem["ropes_y"], self.ropes, self.pins, strict=True):
            across = np.array((0.0, 0.0, -y))
            for i, body in enumerate(rope):
                turned = np.column_stack((side, directions[i], np.cross(side, directions[i])))
                world.place(body, 0.5 * (nodes[i] + nodes[i + 1]) + across, turned)
            for pin, x in zip(pins, (-0.5 * problem["span"], 0.5 * problem["span"]), strict=True):
                place = np.array((x, 0.0, 0.0)) + across
                world.place(pin, place, frame)
                if pin != self.pins[0][0]:
                    world.hold(pin, place, frame)
        for node, rung in self.rungs:
            world.place(rung, nodes[node], frame)

    def sag(self) -> float:
        """Depth (m) of the ropes' middles below the pins."""
        return -float(np.mean([self.world.end(rope[self.n // 2], -0.5 * self.size)[1] for rope in self.ropes]))


def cross(problem: Problem, quick: bool) -> None:
    """Task d."""
    name = "inextensible"
    goal = problem["references"][name]["sag"]
    first = ((10, 0.02, 10), (20, 0.02, 10), (20, 0.01, 5), (20, 0.002, 1), (40, 0.005, 5), (80, 0.002, 5))
    cases = [(*case, False) for case in first] + [(n, dt, 5, True) for n, dt in ((20, 0.01), (40, 0.005), (80, 0.005))]
    if quick:
        cases = [(20, 0.01, 5, False), (20, 0.01, 5, True)]
    for n, dt, iterations, second in cases:
        bridge = Bridge(problem, n, dt, iterations=iterations, second_order=second)
        steps = round(problem["duration"] / dt)
        wall = common.timed(bridge.world.run, steps, problem["damping"])
        sag = bridge.sag()
        variant = f"n={n}, {order_name(second)}, {iterations} iterations"
        row = {"task": "d", "tool": TOOL, "variant": variant, "n": n, "dt": dt}
        if not abs(sag / goal - 1.0) < 0.05:
            common.emit(**row, failed="not stable at this step")
            continue
        common.emit_result(
            **row,
            wall_s=wall / (steps * dt),
            error=sag / goal - 1.0,
            reference=name,
            note="one tree to all pins; second ends of eight rungs by ball joints outside it",
        )


# Task f: both ends held.


def turned_frame(pose: Problem) -> Floats:
    """A pose's frame, y upwards: columns normal, tangent, their cross product."""
    normal, tangent = np.array(pose["normal"]), np.array(pose["tangent"])
    return TURNED @ np.column_stack((normal, tangent, np.cross(normal, tangent)))


class HeldRod:
    """The rod between two held bodies, half a body longer at both ends than the problem's."""

    def __init__(self, problem: Problem, n: int, dt: float) -> None:
        self.world = World(dt, gravity=0.0)
        self.n, self.size = n, problem["length"] / (n - 1)
        self.frame = turned_frame(problem["base"])
        start, axis = TURNED @ np.array(problem["base"]["position"]), self.frame[:, 1]
        ids = self.world.chain(problem, n, start - 0.5 * self.size * axis, self.frame, n * self.size)
        self.world.fix(ids[0])
        self.world.make_heavy(ids[-1])
        joints = [start + (i + 0.5) * self.size * axis for i in range(n - 1)]
        pairs = list(zip(ids[:-1], ids[1:], strict=True))
        moduli = problem["youngs_modulus"], problem["shear_modulus"]
        self.world.join(pairs, joints, problem["radius"], self.size, *moduli)
        self.ids, self.position = ids, start + problem["length"] * axis

    def lead(self, goal: Problem, steps: int) -> Iterable[None]:
        """Lead the tip to a pose, a part of the way before each step; then stay."""
        finish, last = TURNED @ np.array(goal["position"]), turned_frame(goal)
        start, first = self.position, self.frame
        turn = Rotation.from_matrix(last @ first.T).as_rotvec()
        for k in range(1, steps + 1):
            self.position = start + k / steps * (finish - start)
            self.frame = Rotation.from_rotvec(k / steps * turn).as_matrix() @ first
            self.world.hold(self.ids[-1], self.position, self.frame)
            yield
        while True:
            yield

    def middle(self) -> Floats:
        """The middle of the rod, z upwards; the joint there, or the body's centre."""
        offset = 0.0 if self.n % 2 else -0.5 * self.size
        return TURNED.T @ self.world.end(self.ids[self.n // 2], offset)


def pose_to_pose(problem: Problem, quick: bool) -> None:
    """Task f: quasi-static steps; which size, step and number of them are best was tried beforehand."""
    name = "inextensible"
    reference = problem["references"][name]
    cases = ((20, 0.3, 5), (20, 0.3, 20), (20, 1.0, 20), (40, 0.3, 20), (80, 0.3, 40))
    for n, dt, led in cases[1:2] if quick else cases:
        results: list[list[tuple[float | None, float]]] = [[], []]
        for _ in range(REPEATS):
            rod = HeldRod(problem, n, dt)
            for result, pose, goal, steps in (
                (results[0], "tip", "middle", led),
                (results[1], "moved_tip", "moved_middle", 1),
            ):
                path = iter(rod.lead(problem[pose], steps))

                def error(rod: HeldRod = rod, goal: str = goal) -> float:
                    return float(measures.distance_error(rod.middle(), reference[goal], problem["length"]))

                def step(rod: HeldRod = rod, path: Iterator[None] = path) -> None:
                    next(path)
                    rod.world.run(1)

                result.append(relax(step, error, problem["error_bound"], 100))
        warm_wall, warm_error = median_answer(results[1])
        emit_answer(
            "f",
            f"n={n}, tip led in {led} steps",
            n,
            dt,
            *median_answer(results[0]),
            name,
            warm_wall_s=warm_wall,
            warm_error=warm_error,
            note="backward Euler in large steps, which is nearly static",
        )


TASKS = {"a": fall, "b": vibrate, "c": swing, "d": cross, "e": rest, "f": pose_to_pose}

if __name__ == "__main__":
    raise SystemExit(common.main(TOOL, TASKS))
