"""The six tasks in sennit, in a process of its own like every other program.

``python -m peers.ours --tasks a,b --problems FILE [--quick]`` prints one JSON object a line, as the
scripts of the others do. ``--same-step FILE`` answers instead requests of a task, a step and an error: what the
smallest of its sizes with that error costs at that step.

A time is the median of several runs, each of a scene that was just built: laying out and analysing its matrix counts,
building it and loading compiled code does not. Rows that are "laid out" have it behind them: a scene that has made a
step and was reset, as the models of others are compiled before their first step, and a strand that was solved before.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import sennit as sn
from peers.our_models import cable_bridge, cantilever, hoist, material_of, rope_bridge, section_of
from peers.scripts.measures import distance_error, frequency_error, period_error
from sennit.errors import InputError, SolveError

__all__ = ["main", "results", "same_step"]

Row = dict[str, Any]
Problem = dict[str, Any]

TOOL = f"sennit {metadata.version('sennit')}"

# Sizes are numbers of control points of a rod, or of nodes of a strand.
SIZES_A = (6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 27, 30, 40, 60, 100)
RUNS_B = (
    (5, 2e-2), (6, 2e-2), (6, 1e-2), (6, 8e-3), (8, 1e-2), (8, 5e-3), (8, 2e-3), (10, 2e-3), (12, 2e-3), (12, 1e-3),
    (16, 1e-3), (16, 5e-4), (24, 2e-4),
)  # fmt: skip
FOURTH_B = (
    (5, 0.1), (5, 0.08), (5, 0.05), (6, 0.05), (6, 0.04), (8, 0.04), (8, 0.02), (10, 0.02), (12, 0.02), (12, 0.01),
    (16, 0.01), (24, 0.01), (24, 5e-3), (32, 5e-3),
)  # fmt: skip
STEPS_C = (0.2, 0.1, 0.05, 0.033, 0.025, 0.02, 0.015, 0.01, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4)
FOURTH_C = (
    0.4, 0.3, 0.28, 0.25, 0.2, 0.175, 0.15, 0.14, 0.125, 0.1, 0.075, 0.055, 0.05, 0.04, 0.02, 0.0125, 0.01, 5e-3,
)  # fmt: skip
SIZES_D = (13, 23, 33, 43, 63, 103)
SIZES_E = (17, 20, 24, 30, 40, 60)
NODES_E = (13, 17, 21, 31, 41, 81)
NODES_F = (9, 13, 21, 41, 81)


def _median(build: Callable[[], Any], act: Callable[[Any], object], repeats: int) -> tuple[float, Any]:
    """Median wall time (s) of `act` on what `build` returns, and the last of those."""
    seconds = []
    for _ in range(repeats):
        model = build()
        begin = time.perf_counter()
        act(model)
        seconds.append(time.perf_counter() - begin)
    return float(np.median(seconds)), model


def _laid_out(build: Callable[[], tuple[sn.Scene, Any]], dt: float) -> Callable[[], tuple[sn.Scene, Any]]:
    """Builds the same scene, with a step made and undone."""

    def built() -> tuple[sn.Scene, Any]:
        model = build()
        model[0].step(dt)
        model[0].reset()
        return model

    return built


def _both(
    build: Callable[[], tuple[sn.Scene, Any]], duration: float, dt: float, repeats: int
) -> tuple[float, float, tuple[sn.Scene, Any]]:
    """Wall times per simulated second, fresh and laid out, of a run of `duration` in steps of `dt` (s); what ran."""
    fresh, _ = _median(build, lambda model: model[0].run(duration, dt), repeats)
    again, model = _median(_laid_out(build, dt), lambda model: model[0].run(duration, dt), repeats)
    return fresh / duration, again / duration, model


def _rows(task: str, variant: str, n: int, dt: float, walls: Sequence[float], signed: float, **more: Any) -> list[Row]:
    """The rows of a fresh scene and of one that was laid out."""
    names = (variant, f"{variant} laid out")
    return [_row(task, name, n, dt, wall, signed, **more) for name, wall in zip(names, walls, strict=True)]


def _row(task: str, variant: str, n: int, dt: float | None, wall: float, signed: float, **more: Any) -> Row:
    return {
        "task": task, "tool": TOOL, "variant": variant, "n": n, "dt": dt, "wall_s": wall, "error": abs(signed),
        "signed_error": signed, **more,
    }  # fmt: skip


# --------------------------------------------------------------------------------------------------- a, b: a cantilever


def _tip_error(problem: Problem, rod: sn.Rod) -> float:
    return distance_error(
        rod.at(rod.length).position, problem["references"]["extensible"]["tip"], problem["length"]
    )  # fmt: skip


def _task_a(problem: Problem, quick: bool) -> Iterator[Row]:
    runs = [(n, dt) for n in SIZES_A for dt in (0.5, 0.25, 0.2, 0.1, 0.02)]
    if quick:
        runs = [(n, 0.5) for n in (8, 12, 20, 30)]
    for n, dt in runs:
        *walls, (_, rod) = _both(
            lambda n=n: cantilever(problem, n, "euler"),  # type: ignore[misc]
            problem["duration"],
            dt,
            3 if quick else 5,
        )
        yield from _rows("a", f"rod n={n}", n, dt, walls, _tip_error(problem, rod), reference="extensible")


def _task_b(problem: Problem, quick: bool) -> Iterator[Row]:
    for integrator, runs in (("bdf2", RUNS_B), ("midpoint", RUNS_B), ("fourth", FOURTH_B)):
        for n, dt in runs[2:6] if quick else runs:
            yield from _vibration(problem, integrator, n, dt, 3)


def _vibration(problem: Problem, integrator: str, n: int, dt: float, repeats: int) -> list[Row]:
    duration = problem["duration"]
    *walls, _ = _both(lambda: cantilever(problem, n, integrator), duration, dt, repeats)
    scene, rod = cantilever(problem, n, integrator)
    tip = rod.at(rod.length)
    times, heights = [0.0], [0.0]
    every = max(1, round(1e-3 / dt))

    def look(scene: sn.Scene) -> None:
        if round(scene.time / dt) % every == 0:
            times.append(scene.time)
            heights.append(float(tip.position[2]))

    scene.run(duration, dt, each=look)
    reference = problem["references"]["euler-bernoulli"]["frequency"]
    error, decay = frequency_error(times, heights, reference)
    return _rows("b", f"rod n={n} {integrator}", n, dt, walls, error, decay_per_s=decay, reference="euler-bernoulli")


# ---------------------------------------------------------------------------------------------------------- c: a hoist


def _swing(problem: Problem, integrator: str, n: int, dt: float, repeats: int) -> list[Row]:
    duration = problem["duration"]
    *walls, _ = _both(lambda: hoist(problem, integrator, n), duration, dt, repeats)
    scene, load = hoist(problem, integrator, n)
    times, places = [0.0], [load.position]

    def look(scene: sn.Scene) -> None:
        times.append(scene.time)
        places.append(load.position)

    scene.run(duration, dt, each=look)
    name = "massive cable" if n else "massless cable"
    reference = problem["references"][name]
    error = period_error(times, [place[0] for place in places], reference["period"])
    longer = float(np.mean(np.linalg.norm(places, axis=1))) - problem["length"]
    variant = f"rod n={n} {integrator}" if n else f"cable {integrator}"
    return _rows(
        "c", variant, n, dt, walls, error, reference=name,
        elongation_error=longer / reference["mean_elongation"] - 1.0,
    )  # fmt: skip


def _task_c(problem: Problem, quick: bool) -> Iterator[Row]:
    for integrator, steps in (("euler", STEPS_C), ("bdf2", STEPS_C), ("midpoint", STEPS_C), ("fourth", FOURTH_C)):
        if quick and integrator not in ("euler", "fourth"):
            continue
        for dt in (*steps[2:6], 5e-3) if quick else steps:
            yield from _swing(problem, integrator, 0, dt, 7 if dt > 5e-3 else 3)
    for n, dt in ((4, 0.02),) if quick else ((4, 0.05), (4, 0.02), (4, 0.01), (4, 5e-3), (8, 5e-3), (8, 2e-3)):
        yield from _swing(problem, "bdf2", n, dt, 3)


# --------------------------------------------------------------------------------------------------- d: a rope bridge


def _cable_bridge_rows(problem: Problem, dt: float) -> list[Row]:
    *walls, (_, rung) = _both(lambda: cable_bridge(problem), problem["duration"], dt, 3)
    error = -float(rung.position[2]) / problem["references"]["string"]["sag"] - 1.0
    return _rows("d", "cables", problem["rungs"] + 1, dt, walls, error, reference="string")


def _sag_error(problem: Problem, ropes: Sequence[sn.Rod]) -> float:
    sag = -float(np.mean([rope.at(0.5 * rope.length).position[2] for rope in ropes]))
    return float(sag / problem["references"]["extensible"]["sag"] - 1.0)


def _task_d(problem: Problem, quick: bool) -> Iterator[Row]:
    for n in SIZES_D[1:4] if quick else SIZES_D:
        for dt in (0.1,) if quick else (0.1, 0.05, 0.02):
            *walls, (_, ropes) = _both(
                lambda n=n: rope_bridge(problem, n),  # type: ignore[misc]
                problem["duration"],
                dt,
                3,
            )
            note = ""
            if (n, dt) == (43, 0.1):
                seconds, _ = _median(lambda: rope_bridge(problem, 43), lambda model: model[0].settle(), 3)
                note = f"Scene.settle finds the same rest in {1e3 * seconds:.3g} ms"
            error = _sag_error(problem, ropes)
            yield from _rows("d", f"rods n={n}", n, dt, walls, error, reference="extensible", note=note)
    for dt in (0.05,) if quick else (0.1, 0.05, 0.02, 0.01):
        yield from _cable_bridge_rows(problem, dt)


# -------------------------------------------------------------------------------------------------------- e, f: statics


def _pose(end: Problem) -> sn.Pose:
    tangent, normal = np.array(end["tangent"]), np.array(end["normal"])
    return sn.Pose.from_rotation(end["position"], np.column_stack((normal, np.cross(tangent, normal), tangent)))


def _strands(problem: Problem, nodes: Sequence[int]) -> Iterator[tuple[str, str, int, Callable[[], sn.Strand]]]:
    for extensible, reference in ((False, "inextensible"), (True, "extensible+shear k=9/10")):
        for n in nodes:

            def build(n: int = n, extensible: bool = extensible) -> sn.Strand:
                return sn.Strand(
                    problem["length"], section_of(problem), material_of(problem), nodes=n, extensible=extensible
                )  # fmt: skip

            yield f"strand n={n}" + (" extensible" if extensible else ""), reference, n, build


def _task_e(problem: Problem, quick: bool) -> Iterator[Row]:
    repeats = 5 if quick else 15
    base = _pose({"position": (0, 0, 0), "tangent": (1, 0, 0), "normal": (0, 1, 0)})
    for variant, reference, n, build in _strands(problem, NODES_E[1:3] if quick else NODES_E):
        found: list[sn.StrandState] = []
        wall, _ = _median(
            build,
            lambda strand, found=found: found.append(  # type: ignore[misc]
                strand.solve(base=base, gravity=problem["gravity"])
            ),
            repeats,
        )
        error = distance_error(
            found[-1].tip_pose.position, problem["references"][reference]["tip"], problem["length"]
        )  # fmt: skip
        yield _row("e", variant, n, None, wall, error, reference=reference)

        def laid_out(build: Callable[[], sn.Strand] = build) -> sn.Strand:
            strand = build()
            strand.solve(base=base, gravity=problem["gravity"])
            return strand

        # The same again from scratch, with loads and workspaces there already, as a compiled model has them.
        wall, _ = _median(laid_out, lambda strand: strand.solve(base=base, gravity=problem["gravity"]), repeats)
        yield _row("e", f"{variant} laid out", n, None, wall, error, reference=reference)
    for n in SIZES_E[1:3] if quick else SIZES_E:
        wall, (_, rod) = _median(
            lambda n=n: cantilever(problem, n, "euler"),  # type: ignore[misc]
            lambda model: model[0].settle(),
            repeats,
        )
        yield _row("e", f"rod n={n} settle", n, None, wall, _tip_error(problem, rod), reference="extensible")


def _task_f(problem: Problem, quick: bool) -> Iterator[Row]:
    repeats = 5 if quick else 15
    base, tip, moved = (_pose(problem[key]) for key in ("base", "tip", "moved_tip"))
    length = problem["length"]
    for variant, name, n, build in _strands(problem, NODES_F[1:3] if quick else NODES_F):
        reference = problem["references"][name]
        cold: list[float] = []
        again: list[float] = []
        warm: list[float] = []
        for _ in range(repeats):  # a strand of its own each time: nothing is left of the one before
            strand = build()
            clock = [time.perf_counter()]
            state = strand.solve(base=base, tip=tip)
            clock.append(time.perf_counter())
            strand.solve(base=base, tip=tip)  # from scratch, but laid out
            clock.append(time.perf_counter())
            after = strand.solve(base=base, tip=moved, guess=state)
            clock.append(time.perf_counter())
            for times, begin, end in zip((cold, again, warm), clock, clock[1:], strict=False):
                times.append(end - begin)
        error = distance_error(state.positions[n // 2], reference["middle"], length)
        yield _row("f", f"{variant} laid out", n, None, float(np.median(again)), error, reference=name)
        wall = float(np.median(cold))
        yield _row(
            "f", variant, n, None, wall, error,
            reference=name, warm_wall_s=float(np.median(warm)),
            warm_error=distance_error(after.positions[n // 2], reference["moved_middle"], length),
        )  # fmt: skip
    for n in (20,) if quick else (12, 20, 30):
        yield _led_rod(problem, n, 3 if quick else 5)


def _led_rod(problem: Problem, n: int, repeats: int) -> Row:
    """F by `Scene.settle`: the tip's clamp goes to its pose in 8 steps, an equilibrium at each."""
    from scipy.spatial.transform import Rotation

    frames = [_pose(problem[key]).rotation for key in ("base", "tip", "moved_tip")]
    end, goal = np.array((problem["length"], 0.0, 0.0)), np.array(problem["tip"]["position"])
    turn = Rotation.from_matrix(frames[0].T @ frames[1]).as_rotvec()
    steps = 8

    def build() -> tuple[sn.Scene, sn.Rod, sn.Clamp]:
        scene = sn.Scene(gravity=problem["gravity"])
        rod = sn.Rod.straight(
            (0, 0, 0), end, section=section_of(problem), material=material_of(problem), control_points=n
        )
        scene.add(rod)
        scene.add(sn.Clamp(rod.at(0.0)))
        hand = scene.add(sn.Clamp(rod.at(rod.length)))
        _ = scene.dofs
        return scene, rod, hand

    def lead(model: tuple[sn.Scene, sn.Rod, sn.Clamp]) -> None:
        scene, _, hand = model
        for step in range(1, steps + 1):
            part = step / steps
            frame = frames[0] @ Rotation.from_rotvec(part * turn).as_matrix()
            hand.target = sn.Pose.from_rotation(end + part * (goal - end), frame)
            scene.settle()

    wall, (scene, rod, hand) = _median(build, lead, repeats)
    reference, middle = problem["references"]["extensible"], rod.at(0.5 * rod.length)
    error = distance_error(middle.position, reference["middle"], problem["length"])
    begin = time.perf_counter()
    hand.target = sn.Pose.from_rotation(problem["moved_tip"]["position"], frames[2])
    scene.settle()
    warm = time.perf_counter() - begin
    return _row(
        "f", f"rod n={n} settle", n, None, wall, error, reference="extensible", warm_wall_s=warm,
        warm_error=distance_error(middle.position, reference["moved_middle"], problem["length"]),
    )  # fmt: skip


# -------------------------------------------------------------------------------------------------------- all of them

TASKS = {"a": _task_a, "b": _task_b, "c": _task_c, "d": _task_d, "e": _task_e, "f": _task_f}


def results(problems: dict[str, Problem], tasks: Sequence[str], quick: bool) -> Iterator[Row]:
    """Rows of all `tasks`; one that fails is a row that says why."""
    for task in tasks:
        try:
            yield from TASKS[task](problems[task], quick)
        except (InputError, SolveError, ValueError) as error:
            yield {"task": task, "tool": TOOL, "variant": "", "failed": str(error)}


def same_step(problems: dict[str, Problem], requests: Sequence[dict[str, Any]]) -> Iterator[Row]:
    """For each request (task, dt, error, against): the smallest size with that error or less, timed at that step.

    The row's note is the request's `against`; a request that can't be met has no row.
    """
    for request in requests:
        task, dt, wanted = request["task"], float(request["dt"]), float(request["error"])
        problem = problems[task]
        row: Row | None = None
        if task in ("a", "d"):
            row = _still(task, problem, dt, wanted)
        elif task == "b":
            for n in (5, 6, 8, 12, 16, 24):
                row = _vibration(problem, "midpoint" if dt > 5e-4 else "bdf2", n, dt, 1)[1]
                if row["error"] <= wanted:
                    break
        elif task == "c":
            row = _swing(problem, "euler", 0, dt, 3 if dt > 1e-3 else 1)[1]
        if row is not None and row["error"] <= wanted:
            yield {**row, "note": request["against"]}


def _still(task: str, problem: Problem, dt: float, wanted: float) -> Row | None:
    """A or d: the error at rest does not depend on the step: long steps tell it, and a short run the cost."""
    for n in SIZES_A if task == "a" else SIZES_D:
        if task == "a":
            scene, rod = cantilever(problem, n, "euler")
            scene.run(problem["duration"], 0.5)
            error = _tip_error(problem, rod)
        else:
            scene, ropes = rope_bridge(problem, n)
            scene.run(problem["duration"], 0.1)
            error = abs(_sag_error(problem, ropes))
        if error <= wanted:
            break
    else:
        return None
    scene = cantilever(problem, n, "euler")[0] if task == "a" else rope_bridge(problem, n)[0]
    steps = max(20, min(2000, math.ceil(0.2 / dt)))
    begin = time.perf_counter()
    scene.run(steps * dt, dt)
    wall = (time.perf_counter() - begin) / (steps * dt)
    return _row(task, f"rod{'' if task == 'a' else 's'} n={n}", n, dt, wall, error, reference="extensible")


def main(argv: Sequence[str] | None = None) -> int:
    """Print the rows that the arguments ask for."""
    parser = argparse.ArgumentParser(description="The tasks in sennit; one JSON object a line.")
    parser.add_argument("--tasks", default="a,b,c,d,e,f")
    parser.add_argument("--problems", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--same-step", type=Path)
    arguments = parser.parse_args(argv)
    problems = json.loads(arguments.problems.read_text(encoding="utf-8"))
    if arguments.same_step is not None:
        rows = same_step(problems, json.loads(arguments.same_step.read_text(encoding="utf-8")))
    else:
        rows = results(problems, arguments.tasks.split(","), arguments.quick)
    for row in rows:
        print(json.dumps(row), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
