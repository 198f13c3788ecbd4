"""PyElastica: Cosserat rods that stretch and shear, stepped explicitly (position Verlet).

Its clamp holds the first node and the frame of the first element, which acts at that element's middle: a clamped rod
begins half an element before its clamp.

Two kinds of inertia are run. As the tool makes a rod, an element turns with the rotary inertia of its cross-section,
and the shear of thin elements limits the step, whatever their length. With "element inertia", an element turns with
that of a cylinder of its own length, as bodies in chains of rigid bodies do: the step grows to what the stretching
waves allow, and motions change by the order of the elements' length squared. What is at rest is the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import metadata
from typing import Any

import common
import elastica as ea
import measures
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Floats = NDArray[np.float64]
Problem = dict[str, Any]
TOOL = f"pyelastica {metadata.version('pyelastica')}"
SHEAR_FACTOR = "27/28"  # the tool's own
SAFETY = 0.9  # of the largest stable step
STABILITY_STEPS = 3000
LEAD, WARM_LEAD = 0.3, 0.05  # s; simulated time in which an end is led to its pose
PLAIN, LUMPED = "section inertia", "element inertia"


class Simulator(ea.BaseSystemCollection, ea.Constraints, ea.Forcing, ea.Damping, ea.Connections):  # type: ignore[misc]
    """A collection of rods with everything that the tasks need."""


class MovableEnds(ea.FixedConstraint):  # type: ignore[misc]
    """Ends held in poses that can be changed between steps; `handle` receives the instance."""

    def __init__(self, *fixed: Any, handle: list[MovableEnds], **options: Any) -> None:
        super().__init__(*fixed, **options)
        handle.append(self)


def straight_rod(problem: Problem, n: int, start: Any, direction: Any, normal: Any, length: float) -> Any:
    """A rod of the problem's material with `n` elements."""
    return ea.CosseratRod.straight_rod(
        n,
        np.array(start, dtype=float),
        np.array(direction, dtype=float),
        np.array(normal, dtype=float),
        length,
        problem["radius"],
        problem["density"],
        youngs_modulus=problem["youngs_modulus"],
        shear_modulus=problem["shear_modulus"],
    )


def give_elements_inertia(rod: Any, *, factor: float = 1.0) -> None:
    """Let each element turn with the inertia of a cylinder of its own length (times `factor`)."""
    r, size = float(rod.radius[0]), rod.rest_lengths
    mass = rod.density * rod.volume
    across, along = factor * mass * (3.0 * r * r + size**2) / 12.0, factor * 0.5 * mass * r * r
    # The axis' own inertia sets the step of torsion, and stays below the bending's.
    for row, inertia in enumerate((across, across, along)):
        rod.mass_second_moment_of_inertia[row, row] = inertia
        rod.inv_mass_second_moment_of_inertia[row, row] = 1.0 / inertia


def advance(simulator: Any, dt: float, steps: int) -> None:
    """Take steps."""
    stepper, now = ea.PositionVerlet(), np.float64(0.0)
    step = np.float64(dt)
    for _ in range(steps):
        now = stepper.step(simulator, now, step)


def survives(simulator: Any, rods: list[Any], dt: float, steps: int, reach: float) -> bool:
    """Whether after some steps all nodes are within `reach` (m) of the origin."""
    with np.errstate(all="ignore"):
        try:
            advance(simulator, dt, steps)
        except (FloatingPointError, RuntimeError, ValueError, ZeroDivisionError):
            return False
    return all(np.isfinite(r.position_collection).all() and np.abs(r.position_collection).max() < reach for r in rods)


def weigh_and_damp(simulator: Any, rod: Any, problem: Problem, dt: float, damping: float) -> None:
    """Add the problem's gravity, and a damping (1/s) that the tool integrates exactly."""
    if any(problem["gravity"]):
        simulator.add_forcing_to(rod).using(ea.GravityForces, acc_gravity=np.array(problem["gravity"]))
    if damping:
        simulator.dampen(rod).using(ea.AnalyticalLinearDamper, uniform_damping_constant=damping, time_step=dt)


# Tasks a, b and e: the cantilever.


def cantilever(problem: Problem, n: int, dt: float, damping: float, inertia: str) -> tuple[Any, Any]:
    """The clamped rod and its simulator; damping in 1/s."""
    size = problem["length"] / (n - 0.5)
    rod = straight_rod(problem, n, (-0.5 * size, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), n * size)
    if inertia == LUMPED:
        give_elements_inertia(rod)
    simulator = Simulator()
    simulator.append(rod)
    simulator.constrain(rod).using(ea.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,))
    weigh_and_damp(simulator, rod, problem, dt, damping)
    simulator.finalize()
    return simulator, rod


def cantilever_step(problem: Problem, n: int, inertia: str, damping: float) -> float:
    """Largest stable step (s) of the falling cantilever."""
    wave = math.sqrt(problem["shear_modulus"] / problem["density"])

    def stable(dt: float) -> bool:
        simulator, rod = cantilever(problem, n, dt, damping, inertia)
        return survives(simulator, [rod], dt, STABILITY_STEPS, 1.2 * problem["length"])

    # A first guess: the time in which a shear wave crosses the section.
    return SAFETY * float(common.largest_stable_step(stable, problem["radius"] / wave))


def fall(problem: Problem, quick: bool) -> None:
    """Task a."""
    reference = f"extensible+shear k={SHEAR_FACTOR}"
    goal = problem["references"][reference]["tip"]
    everything = [(n, LUMPED, 1.0) for n in (10, 20, 50, 100)] + [(n, PLAIN, 1.0) for n in (20, 50, 100)]
    for n, inertia, part in [(20, LUMPED, 1.0), (50, LUMPED, 1.0)] if quick else [*everything, (50, LUMPED, 0.5)]:
        dt = part * cantilever_step(problem, n, inertia, problem["damping"])
        steps = round(problem["duration"] / dt)
        simulator, rod = cantilever(problem, n, dt, problem["damping"], inertia)
        wall = common.timed(advance, simulator, dt, steps)
        common.emit_result(
            "a",
            TOOL,
            f"n={n}, {inertia}",
            n=n,
            dt=dt,
            wall_s=wall / (steps * dt),
            error=measures.distance_error(rod.position_collection[:, -1], goal, problem["length"]),
            reference=reference,
            speed_left=float(np.abs(rod.velocity_collection).max()),
            note="largest stable step" if part == 1.0 else f"{part} of the largest stable step",
        )


def vibrate(problem: Problem, quick: bool) -> None:
    """Task b."""
    reference = f"timoshenko k={SHEAR_FACTOR}"
    frequency = problem["references"][reference]["frequency"]
    everything = ((10, LUMPED), (20, LUMPED), (50, LUMPED), (20, PLAIN), (50, PLAIN))
    for n, inertia in ((20, LUMPED),) if quick else everything:
        dt = cantilever_step(problem, n, inertia, 0.0)
        simulator, rod = cantilever(problem, n, dt, 0.0, inertia)
        chunk = max(1, round(0.005 / dt))
        times, heights, wall = [0.0], [0.0], 0.0
        while times[-1] < problem["duration"]:
            wall += common.timed(advance, simulator, dt, chunk)
            times.append(times[-1] + chunk * dt)
            heights.append(float(rod.position_collection[2, -1]))
        error, decay = measures.frequency_error(times, heights, frequency)
        common.emit_result(
            "b",
            TOOL,
            f"n={n}, {inertia}",
            n=n,
            dt=dt,
            wall_s=wall / times[-1],
            error=error,
            reference=reference,
            decay_per_s=decay,
            note="largest stable step",
        )


def rest(problem: Problem, quick: bool) -> None:
    """Task e: relaxed with the tool's damper; which size and damping are best was tried beforehand."""
    reference = f"extensible+shear k={SHEAR_FACTOR}"
    goal = problem["references"][reference]["tip"]
    for n, damping in ((46, 7.5),) if quick else ((43, 7.5), (46, 7.0), (46, 7.5), (60, 7.5)):
        dt = cantilever_step(problem, n, LUMPED, damping)
        simulator, rod = cantilever(problem, n, dt, damping, LUMPED)

        def error(rod: Any = rod) -> float:
            return float(measures.distance_error(rod.position_collection[:, -1], goal, problem["length"]))

        wall, last = relax(simulator, dt, error, problem["error_bound"], duration=4.0)
        emit_answer("e", f"n={n}, {LUMPED}, damping {damping:g}/s", n, dt, wall, last, reference)


def relax(
    simulator: Any, dt: float, error: Callable[[], float], bound: float, *, duration: float
) -> tuple[float | None, float]:
    """Run for `duration` (s); return the wall time after which the error stays below `bound`, and the last error."""
    chunk = max(1, round(0.01 / dt))
    walls, errors, wall = [0.0], [error()], 0.0
    for _ in range(round(duration / (chunk * dt))):
        wall += common.timed(advance, simulator, dt, chunk)
        walls.append(wall)
        errors.append(error())
    return common.time_to_stay(walls, errors, bound), errors[-1]


def emit_answer(
    task: str, variant: str, n: int, dt: float, wall: float | None, error: float, reference: str, **more: Any
) -> None:
    """Print the row of a static answer, which fails if its error never stayed below the bound."""
    if wall is None:
        common.emit(
            task=task, tool=TOOL, variant=variant, n=n, dt=dt, failed=f"error {error:.2g}: not below the bound", **more
        )
        return
    note = "dynamic relaxation at the largest stable step: the tool has no static solve"
    common.emit_result(
        task, TOOL, variant, n=n, dt=dt, wall_s=wall, error=error, reference=reference, note=note, **more
    )


# Task c: the cable.


def cable(problem: Problem, n: int, reference: dict[str, Any], inertia_factor: float | None) -> tuple[Any, Any]:
    """The pinned, stretched cable with its load on the last node."""
    down = np.array(reference["start"]) / np.linalg.norm(reference["start"])
    rod = straight_rod(problem, n, problem["top"], down, (0.0, 1.0, 0.0), problem["length"])
    if inertia_factor is not None:
        give_elements_inertia(rod, factor=inertia_factor)
    rod.position_collection *= 1.0 + reference["elongation"] / problem["length"]
    rod.mass[-1] += problem["load"]
    simulator = Simulator()
    simulator.append(rod)
    simulator.constrain(rod).using(ea.FixedConstraint, constrained_position_idx=(0,))
    weigh_and_damp(simulator, rod, problem, 1.0, 0.0)
    simulator.finalize()
    return simulator, rod


def cable_step(problem: Problem, n: int, reference: dict[str, Any], factor: float | None) -> float:
    """Largest stable step (s) of the cable."""
    wave = math.sqrt(problem["youngs_modulus"] / problem["density"])

    def stable(dt: float) -> bool:
        simulator, rod = cable(problem, n, reference, factor)
        # Within the time of a wave's way the load has hardly moved: what grows is the scheme.
        return survives(simulator, [rod], dt, STABILITY_STEPS, 1.01 * problem["length"])

    return SAFETY * float(common.largest_stable_step(stable, 0.1 * problem["radius"] / wave))


def swing(problem: Problem, quick: bool) -> None:
    """Task c."""
    name = "massive cable"
    reference = problem["references"][name]
    for n in (4,) if quick else (2, 4, 8):
        dt = cable_step(problem, n, reference, 1.0)
        simulator, rod = cable(problem, n, reference, 1.0)
        chunk = max(1, round(0.02 / dt))
        times, places, wall = [0.0], [rod.position_collection[:, -1].copy()], 0.0
        while times[-1] < problem["duration"]:
            wall += common.timed(advance, simulator, dt, chunk)
            times.append(times[-1] + chunk * dt)
            places.append(rod.position_collection[:, -1].copy())
        longer = float(np.linalg.norm(places, axis=1).mean()) - problem["length"]
        x = np.array(places)[:, 0]
        common.emit_result(
            "c",
            TOOL,
            f"n={n}, {LUMPED}",
            n=n,
            dt=dt,
            wall_s=wall / times[-1],
            error=measures.period_error(times, x, reference["period"]),
            reference=name,
            decay_per_s=common.swing_decay(times, x),
            elongation_error=longer / reference["elongation"] - 1.0,
            note="rod with a heavy last node, largest stable step",
        )
    if not quick:
        n = 20
        dt = cable_step(problem, n, reference, None)
        simulator, _ = cable(problem, n, reference, None)
        wall = common.timed(advance, simulator, dt, 20_000) / (20_000 * dt)
        common.emit(
            task="c",
            tool=TOOL,
            variant=f"n={n}, {PLAIN}",
            n=n,
            dt=dt,
            wall_s=wall,
            failed=f"only timed: {wall:.3g} s for each simulated second at the largest stable step, {dt:.2g} s",
        )


# Task d: the bridge.


def bridge(problem: Problem, n: int, dt: float) -> tuple[Any, list[Any]]:
    """Two ropes of `n` elements, rungs of two elements each, ball joints between their nodes."""
    simulator, ropes = Simulator(), []
    length = problem["length"]
    nodes = measures.arc(problem, np.linspace(0.0, length, n + 1)).T
    middles = (np.arange(n) + 0.5) * length / n / problem["arc_radius"] - 0.5 * problem["arc_angle"]
    zero = np.zeros(n)
    tangents = np.array((np.cos(middles), zero, np.sin(middles)))
    normals = np.array((zero, zero + 1.0, zero))
    for y in problem["ropes_y"]:
        rope = straight_rod(problem, n, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), length)
        rope.position_collection[:] = nodes + np.array(((0.0,), (y,), (0.0,)))
        rope.director_collection[0] = normals
        rope.director_collection[1] = np.cross(tangents, normals, axis=0)
        rope.director_collection[2] = tangents
        give_elements_inertia(rope)
        simulator.append(rope)
        simulator.constrain(rope).using(ea.FixedConstraint, constrained_position_idx=(0, -1))
        ropes.append(rope)
    rungs = []
    for place in problem["rung_places"]:
        node = round(place / length * n)
        rung = make_rung(problem, ropes[0].position_collection[:, node], dt)
        simulator.append(rung)
        rungs.append((node, rung))
    rungs[len(rungs) // 2][1].mass[1] += problem["load"]
    # Ball joints are springs here. The ropes' sag does not depend on how far these give, so they are as stiff as the
    # step allows with the mass of a rope's node.
    mass = problem["density"] * problem["area"] * length / n
    stiffness = 0.1 * mass * (2.0 / dt) ** 2
    for node, rung in rungs:
        for rope, end in zip(ropes, (0, 2), strict=True):
            simulator.connect(rope, rung, first_connect_idx=node, second_connect_idx=end).using(
                ea.FreeJoint, k=stiffness, nu=0.0
            )
    for rod in [*ropes, *(rung for _, rung in rungs)]:
        weigh_and_damp(simulator, rod, problem, dt, problem["damping"])
    simulator.finalize()
    return simulator, ropes


def make_rung(problem: Problem, start: Floats, dt: float) -> Any:
    """A bar of two elements along +y with a rung's mass, as stiff as the step allows."""
    radius, length = 0.03, problem["rung_length"]
    density = problem["rung_mass"] / (math.pi * radius**2 * length)
    youngs = density * (0.25 * length / dt) ** 2  # a stretching wave takes two steps for an element
    bar = {"radius": radius, "density": density, "youngs_modulus": youngs, "shear_modulus": youngs / 3.0}
    rung = straight_rod(bar, 2, start, (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), length)
    give_elements_inertia(rung)
    return rung


def cross(problem: Problem, quick: bool) -> None:
    """Task d."""
    name = f"extensible+shear k={SHEAR_FACTOR}"
    goal = problem["references"][name]["sag"]
    for n in (20,) if quick else (10, 20, 40, 80):
        wave = math.sqrt(problem["youngs_modulus"] / problem["density"])

        def stable(dt: float, n: int = n) -> bool:
            simulator, ropes = bridge(problem, n, dt)
            return survives(simulator, ropes, dt, 1000, problem["length"])

        dt = SAFETY * common.largest_stable_step(stable, 0.25 * problem["length"] / n / wave, refinements=2)
        simulator, ropes = bridge(problem, n, dt)
        steps = round(problem["duration"] / dt)
        wall = common.timed(advance, simulator, dt, steps)
        sag = -float(np.mean([rope.position_collection[2, n // 2] for rope in ropes]))
        common.emit_result(
            "d",
            TOOL,
            f"n={n}, {LUMPED}",
            n=n,
            dt=dt,
            wall_s=wall / (steps * dt),
            error=sag / goal - 1.0,
            reference=name,
            speed_left=float(max(np.abs(rope.velocity_collection).max() for rope in ropes)),
            note="rungs are short stiff rods on springs (FreeJoint); largest stable step",
        )


# Task f: both ends held.


def frame(pose: dict[str, Any]) -> Floats:
    """Directors of a pose as rows, as the tool has them: normal, binormal, tangent."""
    normal, tangent = np.array(pose["normal"]), np.array(pose["tangent"])
    return np.array((normal, np.cross(tangent, normal), tangent))


def held_rod(problem: Problem, n: int, dt: float, damping: float) -> tuple[Any, Any, MovableEnds]:
    """The rod, half an element longer at both ends than the problem's, straight; ends held."""
    size = problem["length"] / (n - 1)
    base = problem["base"]
    tangent = np.array(base["tangent"])
    rod = straight_rod(problem, n, np.array(base["position"]) - 0.5 * size * tangent, tangent, base["normal"], n * size)
    give_elements_inertia(rod)
    simulator, handle = Simulator(), []  # type: tuple[Any, list[MovableEnds]]
    simulator.append(rod)
    simulator.constrain(rod).using(
        MovableEnds, constrained_position_idx=(0, n), constrained_director_idx=(0, n - 1), handle=handle
    )
    weigh_and_damp(simulator, rod, problem, dt, damping)
    simulator.finalize()
    return simulator, rod, handle[0]


def lead(simulator: Any, ends: MovableEnds, half: float, goal: Problem, dt: float, seconds: float) -> None:
    """Lead the tip to a pose along a straight path with an even turn."""
    first, last = ends.fixed_directors[..., 1].copy(), frame(goal)
    start = ends.fixed_positions[:, 1] - half * first[2]  # the clamp is half an element before the last node
    way = np.array(goal["position"]) - start
    steps = max(1, round(seconds / dt))
    parts = np.arange(1, steps + 1) / steps
    # Rows of directors D turn as D Rᵀ, so that R = lastᵀ first in the end.
    turns = Rotation.from_rotvec(np.outer(parts, Rotation.from_matrix(last.T @ first).as_rotvec())).as_matrix()
    directors = first @ np.swapaxes(turns, 1, 2)
    positions = start + parts[:, None] * way + half * directors[:, 2]
    stepper, now, step = ea.PositionVerlet(), np.float64(0.0), np.float64(dt)
    for k in range(steps):
        ends.fixed_directors[..., 1] = directors[k]
        ends.fixed_positions[:, 1] = positions[k]
        now = stepper.step(simulator, now, step)


def pose_to_pose(problem: Problem, quick: bool) -> None:
    """Task f."""
    name = f"extensible+shear k={SHEAR_FACTOR}"
    reference = problem["references"][name]
    wave = math.sqrt(problem["youngs_modulus"] / problem["density"])
    for n, damping in ((16, 8.0),) if quick else ((14, 8.0), (16, 6.0), (16, 8.0), (20, 8.0), (40, 8.0)):
        half = 0.5 * problem["length"] / (n - 1)

        def stable(dt: float, n: int = n, half: float = half, damping: float = damping) -> bool:
            simulator, rod, ends = held_rod(problem, n, dt, damping)
            lead(simulator, ends, half, problem["tip"], dt, LEAD)
            return survives(simulator, [rod], dt, STABILITY_STEPS, 1.5 * problem["length"])

        dt = SAFETY * common.largest_stable_step(stable, 2.0 * half / wave)
        simulator, rod, ends = held_rod(problem, n, dt, damping)
        results = []
        for pose, goal, seconds in (("tip", "middle", LEAD), ("moved_tip", "moved_middle", WARM_LEAD)):
            led = common.timed(lead, simulator, ends, half, problem[pose], dt, seconds)

            def error(middle: Any = rod.position_collection[:, n // 2], goal: str = goal) -> float:
                return float(measures.distance_error(middle, reference[goal], problem["length"]))

            wall, last = relax(simulator, dt, error, problem["error_bound"], duration=5.0)
            results.append((None if wall is None else led + wall, last))
        emit_answer(
            "f",
            f"n={n}, {LUMPED}, damping {damping:g}/s",
            n,
            dt,
            *results[0],
            name,
            warm_wall_s=results[1][0],
            warm_error=results[1][1],
        )


TASKS = {"a": fall, "b": vibrate, "c": swing, "d": cross, "e": rest, "f": pose_to_pose}

if __name__ == "__main__":
    raise SystemExit(common.main(TOOL, TASKS))
