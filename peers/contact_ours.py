"""The tasks in which things touch, in sennit; prints one JSON object a line. ``python -m peers.contact_ours``."""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import sennit as sn
from peers.our_models import material_of, section_of
from peers.scripts.contact_measures import closest_of_all, closest_of_self, is_knotted

__all__ = ["TASKS", "TOOL", "main"]

TOOL = "sennit"
Row = dict[str, Any]
Problem = dict[str, Any]
RATES = (60, 240, 1000)


def _walked(scene: sn.Scene, dt: float, seconds: float, look: Callable[[], None] | None = None) -> float:
    """Run for some seconds; returns the wall time of the steps."""
    wall = 0.0
    for _ in range(round(seconds / dt)):
        begin = time.perf_counter()
        scene.step(dt)
        wall += time.perf_counter() - begin
        if look is not None:
            look()
    return wall


def _noting(hand: sn.Follow, into: list[float], over: float = 1.0) -> Callable[[], None]:
    """Notes the hand's force, over a number, after each step."""
    return lambda: into.append(float(np.linalg.norm(hand.force)) / over)


def _material(problem: Problem, relaxation: float) -> sn.Material:
    plain = material_of(problem)
    return sn.Material(
        youngs_modulus=plain.youngs_modulus, poisson_ratio=plain.poisson_ratio, density=plain.density,
        relaxation_time=relaxation,
    )  # fmt: skip


def capstan(problem: Problem, quick: bool) -> Iterator[Row]:
    """Task g, the capstan."""
    for rate, n in ((240, 60),) if quick else ((60, 60), (240, 60), (1000, 60)):
        scene = sn.Scene(gravity=(0, 0, 0), drag=problem["damping"])
        across = (math.sqrt(0.5), math.sqrt(0.5), 0, 0)
        scene.add(sn.Obstacle(sn.Cylinder(problem["drum"], 0.2, sn.Pose((0, 0, 0), across))))
        rope = scene.add(sn.Rod.through(
            problem["line"], section=section_of(problem), material=_material(problem, 0.0), control_points=n,
            straight=True,
        ))  # fmt: skip
        pull, way, begin = problem["pull"], np.array(problem["way"]), problem["begin"]
        scene.add(sn.Load(rope.at(0.0), force=(0, 0, -pull)))
        end = np.array(problem["line"][-1])
        speed = problem["speed"]
        hand = scene.add(sn.Follow(rope.at(rope.length), lambda t: end + speed * max(t - begin, 0.0) * way))  # noqa: B023
        scene.collide(friction=problem["friction"])
        ratios: list[float] = []
        wall = _walked(scene, 1 / rate, problem["duration"], _noting(hand, ratios, pull))
        found = float(np.mean(ratios[-round(0.5 * rate) :]))
        error = found / problem["ratio"] - 1.0
        yield _row("g", f"rod n={n}", n, 1 / rate, wall / problem["duration"], error, survived=abs(error) < 0.5)


def knot(problem: Problem, quick: bool) -> Iterator[Row]:
    """Task h, the knot."""
    for rate, n in ((240, 110),) if quick else ((60, 110), (240, 110), (1000, 110)):
        scene = sn.Scene(gravity=(0, 0, 0), drag=problem["damping"])
        rope = scene.add(sn.Rod.through(
            problem["line"], section=section_of(problem), material=_material(problem, 2e-3), control_points=n,
            straight=True,
        ))  # fmt: skip
        ends = np.array(problem["line"][0]), np.array(problem["line"][-1])
        apart = float(np.linalg.norm(ends[1] - ends[0]))
        way, middle = (ends[1] - ends[0]) / apart, 0.5 * (ends[0] + ends[1])
        goal, speed = rope.length - problem["slack"], problem["speed"]

        def at(t: float, side: float, data: Any = (middle, way, apart, goal, speed)) -> Any:
            middle, way, apart, goal, speed = data
            return middle + 0.5 * side * min(apart + speed * t, goal) * way

        scene.add(sn.Follow(rope.at(0.0), lambda t: at(t, -1.0)))
        hand = scene.add(sn.Follow(rope.at(rope.length), lambda t: at(t, 1.0)))
        scene.collide(rope, itself=True, friction=problem["friction"])
        pulls: list[float] = []
        pulling = (goal - apart) / speed
        wall = _walked(scene, 1 / rate, pulling + problem["hold"], _noting(hand, pulls))
        line = rope.centerline(800)
        closest = closest_of_self(line, problem["radius"])
        held = np.array(pulls[round(pulling * rate) + rate // 4 :])
        yield _row(
            "h", f"rod n={n}", n, 1 / rate, wall / (pulling + problem["hold"]), closest - 1.0,
            survived=is_knotted(line, problem["radius"]) and bool(held[-1] > 0.5), tension=float(held[-1]),
            change=float(np.ptp(held) / held[-1]),
        )  # fmt: skip


def pile(problem: Problem, quick: bool) -> Iterator[Row]:
    """Task i, the pile."""
    for rate, n in ((240, 16),) if quick else ((60, 16), (240, 16), (1000, 16)):
        scene = sn.Scene(gravity=(0, 0, -problem["gravity"]), drag=problem["damping"])
        scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
        ropes = [
            scene.add(sn.Rod.straight(
                *line, section=section_of(problem), material=_material(problem, 1e-3), control_points=n
            ))
            for line in problem["lines"]
        ]  # fmt: skip
        scene.collide(friction=problem["friction"])
        wall = _walked(scene, 1 / rate, problem["duration"])
        closest, low = closest_of_all([rope.centerline(120) for rope in ropes], problem["radius"])
        error = min(closest - 1.0, 0.5 * (low - 1.0), 0.0)
        yield _row("i", f"rods n={n}", n, 1 / rate, wall / problem["duration"], error, survived=low > 0.5)


def stack(problem: Problem, quick: bool) -> Iterator[Row]:
    """Task k, the stack."""
    for rate in (240,) if quick else RATES:
        side, count = problem["side"], problem["boxes"]
        scene = sn.Scene(gravity=(0, 0, -problem["gravity"]))
        scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
        boxes = [
            scene.add(sn.RigidBody.box((side,) * 3, mass=problem["mass"], position=(0, 0, (k + 0.5) * side)))
            for k in range(count)
        ]
        scene.collide(friction=problem["friction"])
        wall = _walked(scene, 1 / rate, problem["duration"])
        top = boxes[-1].position
        sink = (float(top[2]) - (count - 0.5) * side) / side
        drift = float(np.linalg.norm(top[:2])) / side
        seconds = problem["duration"]
        yield _row("k", "boxes", count, 1 / rate, wall / seconds, sink, survived=abs(sink) < 0.5, drift=drift)


def _row(
    task: str, variant: str, n: int, dt: float, wall: float, error: float, *, survived: bool, **more: float
) -> Row:
    return {
        "task": task, "tool": TOOL, "variant": variant, "n": n, "dt": dt, "wall_s": wall, "error": abs(error),
        "signed_error": error, "survived": float(survived), **more,
    }  # fmt: skip


TASKS = {"g": capstan, "h": knot, "i": pile, "k": stack}


def main(argv: list[str] | None = None) -> int:
    """Print the rows that the arguments ask for."""
    parser = argparse.ArgumentParser(description="The tasks in which things touch, in sennit; one JSON object a line.")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--problems", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args(argv)
    problems = json.loads(arguments.problems.read_text(encoding="utf-8"))
    for task in arguments.tasks.split(","):
        try:
            for row in TASKS[task](problems[task], arguments.quick):
                print(json.dumps(row), flush=True)
        except (sn.InputError, sn.SolveError, ValueError) as error:
            print(json.dumps({"task": task, "tool": TOOL, "failed": str(error)}), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
