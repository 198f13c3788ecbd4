"""MuJoCo: 1-D flexes, chains of rigid links, spatial tendons. See `mujoco_models` for what each of these is.

MuJoCo has no static solver; tasks e and f are relaxed with its implicit integrator, at steps so large, and with so much
of the velocity taken away after each, that a step is nearly one of Newton's method. Steps and damping are searched.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import common
import measures
import mujoco
import mujoco_models as models
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Floats = NDArray[np.float64]
Problem = dict[str, Any]
TOOL = f"mujoco {mujoco.__version__}"
LARGEST_STEP = 0.05  # s; beyond it nothing of the motion is left
STEADY_STEPS = 400
"""Steps over which an answer must stay below the bound."""


def median_wall(reset: Callable[[], None], work: Callable[[], None]) -> float:
    """Wall time (s) of `work`, each time after a `reset`: the median of as many as fit into about half a second."""
    walls: list[float] = []
    while len(walls) < 5 and (sum(walls) < 0.5 or not walls):
        reset()
        walls.append(common.timed(work))
    return float(statistics.median(walls))


def again(wall: float) -> int:
    """How often to repeat a run that took `wall` seconds: short ones are easily disturbed."""
    return 4 if wall < 0.1 else 0


def healthy(data: Any, points: Floats, reach: float) -> bool:
    """Whether MuJoCo had nothing to complain about and everything is where it can be."""
    complaints = sum(warning.number for warning in data.warning)
    return complaints == 0 and bool(np.isfinite(points).all()) and float(np.abs(points).max(initial=0.0)) < reach


def step_note(dt: float, largest: float) -> str:
    """What a row says about its step."""
    if dt < largest:
        return ""
    return "largest step that was tried" if dt >= LARGEST_STEP else "largest stable step"


def joined(*notes: str) -> str:
    """Notes in one line, without the empty ones."""
    return "; ".join(note for note in notes if note)


class Slowed:
    """Steps with a share of the velocity kept after each: drag that is the same for all masses."""

    def __init__(self, model: Any, data: Any, keep: float = 1.0) -> None:
        self.model, self.data, self.keep = model, data, keep

    def run(self, steps: int) -> None:
        """Take steps."""
        if self.keep == 1.0:
            mujoco.mj_step(self.model, self.data, steps)
            return
        step, model, data, keep = mujoco.mj_step, self.model, self.data, self.keep
        velocity = data.qvel
        for _ in range(steps):
            step(model, data)
            velocity *= keep

    def reset(self) -> None:
        """Back to the start."""
        mujoco.mj_resetData(self.model, self.data)

    def point(self, name: str) -> Floats:
        """Where a site or a body is now."""
        mujoco.mj_kinematics(self.model, self.data)
        found = self.data.site(name).xpos if name in ("tip", "middle") else self.data.body(name).xpos
        return np.array(found)


def cantilever(problem: Problem, kind: str, n: int, dt: float, **options: Any) -> tuple[Any, Any, str]:
    """Model, data and the name of the tip of a cantilever of a kind."""
    if kind == "flex":
        return *models.flex_cantilever(problem, n, dt, **options), f"v{n}"
    return *models.chain_cantilever(problem, n, dt, planar=kind == "planar chain", **options), "tip"


STRETCH = {"flex": "extensible", "chain": "inextensible", "planar chain": "inextensible"}
"""The reference that fits each model: only the flex stretches."""
PLANE = {"planar chain": "moves in its plane only"}


# ------------------------------------------------------------------------------------------------------------ a, b


def task_a(problem: Problem, quick: bool) -> None:
    """Soft cantilever to rest: each model at its largest stable step, the finest of them at smaller ones too."""
    sizes = {
        "flex": (25, 50, 100),
        "chain": (20, 40),
        "planar chain": (20, 40, 80),
    }
    for kind, counts in sizes.items():
        for n in counts[-2:-1] if quick else counts:

            def stable(dt: float, kind: str = kind, n: int = n) -> bool:
                slowed, tip = falling(problem, kind, n, dt)
                slowed.run(int(3.0 / dt))
                slow = float(np.abs(slowed.data.qvel).max()) < 10.0
                return slow and healthy(slowed.data, slowed.point(tip), 1.1 * problem["length"])

            largest = common.largest_stable_step(stable, 0.02, largest=LARGEST_STEP, refinements=3)
            steps = [largest] if quick else [step for step in (largest, 0.01, 0.002) if step <= largest]
            for dt in steps:
                slowed, tip = falling(problem, kind, n, dt)
                count = round(problem["duration"] / dt)
                wall = median_wall(slowed.reset, partial(slowed.run, count))
                reference = STRETCH[kind]
                error = measures.distance_error(
                    slowed.point(tip), problem["references"][reference]["tip"], problem["length"]
                )
                note = joined(step_note(dt, largest), PLANE.get(kind, ""))
                common.emit(
                    task="a", tool=TOOL, variant=f"{kind} n={n}", n=n, dt=dt,
                    wall_s=wall / (count * dt), error=error, signed_error=error, reference=reference, note=note,
                )  # fmt: skip


def falling(problem: Problem, kind: str, n: int, dt: float) -> tuple[Slowed, str]:
    """A cantilever with the task's drag: by MuJoCo's own damping where it can be that of each mass."""
    if kind == "flex":
        model, data, tip = cantilever(problem, kind, n, dt, drag=problem["damping"])
        return Slowed(model, data), tip
    model, data, tip = cantilever(problem, kind, n, dt)
    return Slowed(model, data, float(np.exp(-problem["damping"] * dt))), tip


def task_b(problem: Problem, quick: bool) -> None:
    """Free vibration: the implicit integrator damps it; explicit ones, at steps that bending allows, do not."""
    cases = [
        ("flex", "discrete", 50, (1e-2, 1e-3, 2e-4)),
        ("chain", "RK4", 20, (None,)),
        ("chain", "Euler", 20, (None,)),
        ("planar chain", "discrete", 20, (1e-2, 1e-3)),
        ("planar chain", "Euler", 10, (None,)),
        ("planar chain", "Euler", 20, (None,)),
        ("planar chain", "Euler", 40, (None,)),
        ("planar chain", "RK4", 20, (None,)),
    ]
    for kind, integrator, n, steps in cases[4:6] if quick else cases:
        options = {} if kind == "flex" else {"integrator": integrator}
        # A chain's links turn with their inertia; a flex has masses alone.
        reference = "euler-bernoulli" if kind == "flex" else "rayleigh"
        for given in steps:

            def stable(dt: float, kind: str = kind, n: int = n, options: Any = options) -> bool:
                model, data, tip = cantilever(problem, kind, n, dt, **options)
                mujoco.mj_step(model, data, int(1.0 / dt))
                return healthy(data, Slowed(model, data).point(tip), 1.1 * problem["length"]) and (
                    abs(Slowed(model, data).point(tip)[2]) < 0.05 * problem["length"]
                )

            dt = given or 0.9 * common.largest_stable_step(stable, 1e-3, refinements=3)
            model, data, tip = cantilever(problem, kind, n, dt, **options)
            slowed, every = Slowed(model, data), max(1, round(5e-3 / dt))

            def watch(
                slowed: Slowed = slowed, every: int = every, tip: str = tip
            ) -> tuple[list[float], list[float], float]:
                slowed.reset()
                times, heights, wall = [0.0], [0.0], 0.0
                for _ in range(round(problem["duration"] / (every * slowed.model.opt.timestep))):
                    wall += common.timed(partial(slowed.run, every))
                    times.append(float(slowed.data.time))
                    heights.append(float(slowed.point(tip)[2]))
                return times, heights, wall

            times, heights, wall = watch()
            wall = statistics.median([wall, *(watch()[2] for _ in range(again(wall)))])
            error, decay = measures.frequency_error(times, heights, problem["references"][reference]["frequency"])
            common.emit(
                task="b", tool=TOOL, variant=f"{kind} {integrator} n={n}", n=n, dt=dt,
                wall_s=wall / times[-1], error=abs(error), signed_error=error, decay_per_s=decay, reference=reference,
                note=joined("" if given else "0.9 of the largest stable step", PLANE.get(kind, "")),
            )  # fmt: skip


# --------------------------------------------------------------------------------------------------------------- c


def task_c(problem: Problem, quick: bool) -> None:
    """Steel hoist: one massless spring (a tendon), chains of masses between tendons, flexes."""
    cases = [
        ("tendon", False, 1, "discrete", (0.1, 0.02, 5e-3, 1e-3)),
        ("tendon", False, 1, "RK4", (0.02, 5e-3)),
        ("tendon", False, 1, "implicitfast", (0.02,)),
        ("tendon equality", False, 1, "discrete", (0.02,)),
        ("tendon limit", False, 1, "discrete", (0.02,)),
        ("tendon", True, 2, "discrete", (None,)),
        ("tendon", True, 4, "discrete", (None, 1e-3)),
        ("tendon", True, 10, "discrete", (None, 1e-3)),
        ("flex", True, 4, "discrete", (None,)),
        ("flex", True, 10, "discrete", (None, 1e-3)),
        ("flex", True, 20, "discrete", (None,)),
    ]
    if quick:
        cases = [cases[1], cases[6], cases[9]]
    for kind, massive, n, integrator, steps in cases:

        def swing(dt: float, case: Any = (n, kind, massive, integrator)) -> tuple[Floats, Floats, float, Any]:
            n, kind, massive, integrator = case
            model, data = models.hoist(problem, n, dt, kind=kind, massive=massive, integrator=integrator)
            load, every = model.body(f"p{n}").id, max(1, round(0.05 / dt))
            mujoco.mj_kinematics(model, data)
            times, places, wall = [0.0], [np.array(data.xpos[load])], 0.0
            for _ in range(round(problem["duration"] / (every * dt))):
                wall += common.timed(partial(mujoco.mj_step, model, data, every))
                mujoco.mj_kinematics(model, data)  # where it is at the end of the last step
                times.append(float(data.time))
                places.append(np.array(data.xpos[load]))
            return np.array(times), np.array(places), wall / times[-1], data

        def stable(dt: float, swing: Any = swing) -> bool:
            _, places, _, data = swing(dt)
            reach = problem["length"] + 2.0 * problem["references"]["massive cable"]["elongation"]
            return healthy(data, places, reach) and bool(np.linalg.norm(places, axis=1).max() < reach)

        reference = "massive cable" if massive else "massless cable"
        expected = problem["references"][reference]
        for given in steps:
            dt = given or common.largest_stable_step(stable, 2e-3, refinements=3)
            times, places, wall, data = swing(dt)
            wall = statistics.median([wall, *(swing(dt)[2] for _ in range(again(wall * times[-1])))])
            row = {
                "task": "c", "tool": TOOL, "variant": f"{kind} {integrator} n={n}", "n": n, "dt": dt,
                "reference": reference,
            }  # fmt: skip
            if not healthy(data, places, 2.0 * problem["length"]):
                common.emit(**row, failed="not stable at this step")
                continue
            error = measures.period_error(times, places[:, 0], expected["period"])
            longer = float(np.linalg.norm(places, axis=1).mean()) - problem["length"]
            note = "largest stable step" if given is None else ""
            if kind == "tendon limit":
                note = "a hard limit of the length: no stretch"
            common.emit(
                **row, wall_s=wall, error=abs(error), signed_error=error,
                elongation_error=longer / expected["elongation"] - 1.0, note=note,
            )  # fmt: skip


# --------------------------------------------------------------------------------------------------------------- d


def task_d(problem: Problem, quick: bool) -> None:
    """Rope bridge to rest: ropes as flexes that bend, and as strings (tendons)."""
    middle = f"rung{problem['rungs'] // 2}"
    cases = (("flex", "extensible", (20, 40, 80)), ("tendon", "string", (10, 20)))
    for kind, reference, counts in cases:
        for n in counts[:1] if quick else counts:

            def stable(dt: float, kind: str = kind, n: int = n) -> bool:
                model, data = models.bridge(problem, n, dt, kind=kind)
                mujoco.mj_step(model, data, int(problem["duration"] / dt))
                slow = float(np.abs(data.qvel).max()) < 1e-3
                return slow and healthy(data, data.xpos, problem["length"])

            largest = common.largest_stable_step(stable, 4e-3, largest=LARGEST_STEP, refinements=2)
            for dt in (largest,) if quick else (largest, 2e-3):
                model, data = models.bridge(problem, n, dt, kind=kind)
                start, count = data.qpos.copy(), round(problem["duration"] / dt)
                slowed = Slowed(model, data)

                def again(slowed: Slowed = slowed, start: Floats = start) -> None:
                    slowed.reset()
                    slowed.data.qpos[:] = start

                wall = median_wall(again, partial(slowed.run, count))
                sag = -float(slowed.point(middle)[2])
                error = sag / problem["references"][reference]["sag"] - 1.0
                common.emit(
                    task="d", tool=TOOL, variant=f"{kind} n={n}", n=n, dt=dt, wall_s=wall / (count * dt),
                    error=abs(error), signed_error=error, reference=reference,
                    note=step_note(dt, largest),
                )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ e, f


def steps_to_stay(slowed: Slowed, name: str, goal: Any, length: float, bound: float) -> tuple[int | None, float]:
    """Number of steps after which the error of a point stays below `bound`, and the error then; None if it does not."""
    errors = []
    for _ in range(STEADY_STEPS):
        slowed.run(1)
        errors.append(measures.distance_error(slowed.point(name), goal, length))
    if not healthy(slowed.data, slowed.point(name), 2.0 * length):
        return None, errors[-1]
    found = common.time_to_stay(range(1, STEADY_STEPS + 1), errors, bound)
    return (None, errors[-1]) if found is None else (int(found), errors[int(found) - 1])


def task_e(problem: Problem, quick: bool) -> None:
    """Static shape by relaxation: steps and the share of velocity that is kept are searched on a small grid."""
    bound, length = problem["error_bound"], problem["length"]
    cases = {
        "flex": (75, (0.015, 0.02, 0.025), (0.8, 0.85, 0.9)),
        "chain": (44, (0.1, 0.15, 0.2), (0.1, 0.2, 0.3)),
        "planar chain": (44, (0.1, 0.15, 0.2), (0.1, 0.2, 0.3)),
    }
    for kind, (n, steps, keeps) in cases.items():
        reference = STRETCH[kind]
        goal = problem["references"][reference]["tip"]
        best: tuple[float, int, float, float, float] | None = None
        for dt in steps[1:2] if quick else steps:
            model, data, tip = cantilever(problem, kind, n, dt)
            for keep in keeps[1:2] if quick else keeps:
                slowed = Slowed(model, data, keep)
                slowed.reset()
                count, error = steps_to_stay(slowed, tip, goal, length, bound)
                if count is None:
                    continue
                wall = median_wall(slowed.reset, partial(slowed.run, count))
                if best is None or wall < best[0]:
                    best = wall, count, dt, keep, error
        row = {"task": "e", "tool": TOOL, "variant": f"{kind} n={n}", "n": n, "reference": reference}
        if best is None:
            common.emit(**row, failed=f"does not come below {bound:g}")
            continue
        wall, count, dt, keep, error = best
        common.emit(
            **row, dt=dt, wall_s=wall, error=error, signed_error=error,
            note=joined(f"relaxed in {count} steps, {keep:g} of the velocity kept", PLANE.get(kind, "")),
        )  # fmt: skip


def frame(pose: Any) -> Floats:
    """Rotation of a clamp: x along its tangent, y along its normal."""
    tangent, normal = np.array(pose["tangent"]), np.array(pose["normal"])
    return np.stack((tangent, normal, np.cross(tangent, normal)), axis=1)


def path(first: Any, last: Any, steps: int) -> list[tuple[Floats, Floats]]:
    """Positions and quaternions (scalar first) on a straight way with an even turn, without the first."""
    start, turn = frame(first), Rotation.from_matrix(frame(first).T @ frame(last)).as_rotvec()
    here, there = np.array(first["position"]), np.array(last["position"])
    poses = []
    for part in np.arange(1, steps + 1) / steps:
        turned = Rotation.from_matrix(start @ Rotation.from_rotvec(part * turn).as_matrix())
        poses.append((here + part * (there - here), turned.as_quat()[[3, 0, 1, 2]]))
    return poses


def lead(slowed: Slowed, poses: list[tuple[Floats, Floats]], more: int = 0) -> None:
    """Take one step for each pose of the tip, and some `more` in the last one."""
    for position, quaternion in poses:
        slowed.data.mocap_pos[0] = position
        slowed.data.mocap_quat[0] = quaternion
        slowed.run(1)
    slowed.run(more)


def task_f(problem: Problem, quick: bool) -> None:
    """Pose to pose by relaxation: the tip is led in a few steps, then held."""
    bound, length = problem["error_bound"], problem["length"]
    base, tip, moved = problem["base"], problem["tip"], problem["moved_tip"]
    straight = {**base, "position": [length * t for t in base["tangent"]]}
    cases = {
        "flex": ((12, 16, 20), (0.1, 0.2), (0.5, 0.8), (2, 3, 5)),
        "chain": ((24, 32), (1.0, 3.0), (0.0,), (1, 2, 3)),
    }
    for kind, (counts, steps, keeps, leads) in cases.items():
        reference = STRETCH[kind]
        goal, moved_goal = (problem["references"][reference][key] for key in ("middle", "moved_middle"))
        for n in counts[:1] if quick else counts:
            best: tuple[float, float, float, float, str, float] | None = None
            for dt in steps:
                make = models.flex_between if kind == "flex" else models.chain_between
                model, data = make(problem, n, dt)
                name = f"v{n // 2}" if kind == "flex" else "middle"
                for keep in keeps:
                    for led in leads:
                        slowed = Slowed(model, data, keep)
                        slowed.reset()
                        there, back = path(straight, tip, led), path(tip, moved, 1)
                        lead(slowed, there)
                        count, error = steps_to_stay(slowed, name, goal, length, bound)
                        if count is None:
                            continue
                        lead(slowed, back)
                        warm_count, warm_error = steps_to_stay(slowed, name, moved_goal, length, bound)
                        if warm_count is None:
                            continue

                        def settled(s: Slowed = slowed, poses: Any = there) -> None:
                            s.reset()
                            lead(s, poses, STEADY_STEPS)

                        wall = median_wall(slowed.reset, partial(lead, slowed, there, count))
                        if best is None or wall < best[0]:
                            warm = median_wall(settled, partial(lead, slowed, back, warm_count))
                            note = f"led in {led} steps, {count} more, {keep:g} of the velocity kept"
                            best = wall, dt, error, warm, note, warm_error
            row = {"task": "f", "tool": TOOL, "variant": f"{kind} n={n}", "n": n, "reference": reference}
            if best is None:
                common.emit(**row, failed=f"does not come below {bound:g}")
                continue
            wall, dt, error, warm, note, warm_error = best
            common.emit(
                **row, dt=dt, wall_s=wall, error=error, signed_error=error, warm_wall_s=warm, warm_error=warm_error,
                note=note,
            )  # fmt: skip


if __name__ == "__main__":
    # Steps that are too large are part of the search: nothing to write into a log beside us.
    mujoco.set_mju_user_warning(lambda message: None)
    functions = {"a": task_a, "b": task_b, "c": task_c, "d": task_d, "e": task_e, "f": task_f}
    raise SystemExit(common.main(TOOL, functions))
