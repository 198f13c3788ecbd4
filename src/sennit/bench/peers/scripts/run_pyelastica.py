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
import time
from importlib import metadata
from typing import Any

import common
import elastica as ea
import measures
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Floats = NDArray[np.float64]
TOOL = f"pyelastica {metadata.version('pyelastica')}"
SHEAR_FACTOR = "27/28"  # the tool's own
SAFETY = 0.9  # of the largest stable step
PLAIN, LUMPED = "section inertia", "element inertia"


class Simulator(ea.BaseSystemCollection, ea.Constraints, ea.Forcing, ea.Damping, ea.Connections):  # type: ignore[misc]
    """A collection of rods with everything that the tasks need."""


class MovableEnds(ea.FixedConstraint):  # type: ignore[misc]
    """Ends held in poses that can be changed between steps; `handle` receives the instance."""

    def __init__(self, *fixed: Any, handle: list[MovableEnds], **options: Any) -> None:
        super().__init__(*fixed, **options)
        handle.append(self)


def straight_rod(problem: dict[str, Any], n: int, start: Any, direction: Any, normal: Any, length: float) -> Any:
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


def finite(rod: Any, reach: float) -> bool:
    """Whether all nodes are within `reach` (m) of the origin."""
    places = rod.position_collection
    return bool(np.isfinite(places).all() and np.abs(places).max() < reach)


# Tasks a, b and e: the cantilever.


def cantilever(problem: dict[str, Any], n: int, dt: float, damping: float, inertia: str) -> tuple[Any, Any]:
    """The clamped rod and its simulator; damping in 1/s."""
    size = problem["length"] / (n - 0.5)
    rod = straight_rod(problem, n, (-0.5 * size, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), n * size)
    if inertia == LUMPED:
        give_elements_inertia(rod)
    simulator = Simulator()
    simulator.append(rod)
    simulator.constrain(rod).using(ea.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,))
    simulator.add_forcing_to(rod).using(ea.GravityForces, acc_gravity=np.array(problem["gravity"]))
    if damping:
        simulator.dampen(rod).using(ea.AnalyticalLinearDamper, uniform_damping_constant=damping, time_step=dt)
    simulator.finalize()
    return simulator, rod


def stable_cantilever_step(problem: dict[str, Any], n: int, inertia: str) -> float:
    """Largest stable step (s) of the falling cantilever."""
    # Of the order of the time in which a shear wave crosses the section.
    wave = math.sqrt(problem["shear_modulus"] / problem["density"])

    def stable(dt: float) -> bool:
        simulator, rod = cantilever(problem, n, dt, 1.0, inertia)
        with np.errstate(all="ignore"):
            try:
                advance(simulator, dt, 1500)
            except (FloatingPointError, RuntimeError, ValueError, ZeroDivisionError):
                return False
        return finite(rod, 1.2 * problem["length"])

    return SAFETY * common.largest_stable_step(stable, problem["radius"] / wave)


def fall(problem: dict[str, Any], quick: bool) -> None:
    """Task a."""
    reference = f"extensible+shear k={SHEAR_FACTOR}"
    goal = problem["references"][reference]["tip"]
    cases = ((20, LUMPED), (50, PLAIN)) if quick else ((n, i) for i in (PLAIN, LUMPED) for n in (10, 20, 50, 100))
    for n, inertia in cases:
        largest = stable_cantilever_step(problem, n, inertia)
        for part in (1.0,) if quick or n != 50 else (1.0, 0.5):
            dt = part * largest
            steps = round(problem["duration"] / dt)
            simulator, rod = cantilever(problem, n, dt, problem["damping"], inertia)
            wall = common.timed(lambda: advance(simulator, dt, steps))
            error = measures.distance_error(rod.position_collection[:, -1], goal, problem["length"])
            row(
                "a",
                inertia,
                n,
                dt,
                wall / (steps * dt),
                error,
                reference,
                speed_left=float(np.abs(rod.velocity_collection).max()),
                note="analytical linear damper; largest stable step" + ("" if part == 1.0 else f" × {part}"),
            )


def vibrate(problem: dict[str, Any], quick: bool) -> None:
    """Task b."""
    reference = f"timoshenko k={SHEAR_FACTOR}"
    frequency = problem["references"][reference]["frequency"]
    cases = ((20, LUMPED),) if quick else ((20, PLAIN), (50, PLAIN), (10, LUMPED), (20, LUMPED), (50, LUMPED))
    for n, inertia in cases:
        dt = stable_cantilever_step(problem, n, inertia)
        simulator, rod = cantilever(problem, n, dt, 0.0, inertia)
        chunk = max(1, round(0.005 / dt))
        times, heights, wall = [0.0], [0.0], 0.0
        while times[-1] < problem["duration"]:
            wall += common.timed(lambda: advance(simulator, dt, chunk))
            times.append(times[-1] + chunk * dt)
            heights.append(float(rod.position_collection[2, -1]))
        error, decay = measures.frequency_error(times, heights, frequency)
        row("b", inertia, n, dt, wall / times[-1], error, reference, decay_per_s=decay, note="largest stable step")


def row(
    task: str, variant: str, n: int, dt: float, wall: float, error: float, reference: str, **more: Any
) -> None:
    """Print one row; `error` has its sign where the task's error has one."""
    common.emit(
        task=task,
        tool=TOOL,
        variant=f"n={n}, {variant}",
        n=n,
        dt=dt,
        wall_s=wall,
        error=abs(error),
        signed_error=error,
        reference=reference,
        **more,
    )
