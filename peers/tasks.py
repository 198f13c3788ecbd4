"""The six tasks as plain numbers, their reference values, and the file that every program reads.

`problems()` is everything a program needs: dimensions in SI units, what to measure, and reference values by model. A
program uses the reference of the model that it solves and says which: a rod that can stretch is not held against one
that can't. `scripts/measures.py`, which needs NumPy and SciPy alone, has the errors as code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from peers import references
from peers.references import Stiffness
from sennit.bench.table import write_json

__all__ = ["ERROR_BOUND", "NAMES", "SHEAR_FACTORS", "TITLES", "problem", "problems", "write_problems"]

NAMES = ("a", "b", "c", "d", "e", "f")

TITLES = {
    "a": "soft cantilever falls to rest",
    "b": "free vibration",
    "c": "steel hoist, 1,000 kg",
    "d": "rope bridge to rest",
    "e": "static shape of a",
    "f": "pose to pose, static",
}

SHEAR_FACTORS = {"27/28": 27.0 / 28.0, "9/10": 0.9}
"""Shear factors k for which there is a reference "extensible+shear k=..."."""

ERROR_BOUND = 1e-3
"""Error that an answer to e and f must stay below."""

_GRAVITY = 9.81


def _rod(youngs: float) -> dict[str, float]:
    radius, length, density = 0.005, 1.0, 1000.0
    return {
        "length": length,
        "radius": radius,
        "youngs_modulus": youngs,
        "shear_modulus": youngs / 3.0,
        "density": density,
        "area": math.pi * radius**2,
        "second_moment": 0.25 * math.pi * radius**4,
    }


def _stiffnesses(rod: dict[str, float]) -> dict[str, Stiffness]:
    """The models of a rod, by the name of the reference."""
    r, E, G = rod["radius"], rod["youngs_modulus"], rod["shear_modulus"]
    models = {
        "inextensible": Stiffness.of_circle(r, E, G),
        "extensible": Stiffness.of_circle(r, E, G, extensible=True),
    }
    for name, k in SHEAR_FACTORS.items():
        models[f"extensible+shear k={name}"] = Stiffness.of_circle(r, E, G, extensible=True, k=k)
    return models


@cache
def _cantilever() -> dict[str, Any]:
    rod = _rod(1e7)
    weight = rod["density"] * rod["area"] * _GRAVITY
    tips = {
        name: references.heavy_cantilever(rod["length"], weight, model) for name, model in _stiffnesses(rod).items()
    }
    return {
        **rod,
        "gravity": [0.0, 0.0, -_GRAVITY],
        "clamp": {"position": [0.0, 0.0, 0.0], "tangent": [1.0, 0.0, 0.0]},
        "references": {name: {"tip": [float(x), 0.0, float(z)]} for name, (x, z) in tips.items()},
    }


def _task_a() -> dict[str, Any]:
    return {
        "title": TITLES["a"],
        **_cantilever(),
        "start": "straight along +x, at rest",
        "damping": 5.0,
        "damping_means": "force per mass = -damping * velocity, 1/s; or the tool's nearest",
        "duration": 8.0,
        "wall_s": "wall time of the steps divided by the simulated time",
        "error": "distance of the tip at the end from the reference's tip, divided by the length",
    }


def _task_b() -> dict[str, Any]:
    rod = _rod(1e9)
    thin = Stiffness.of_circle(rod["radius"], rod["youngs_modulus"], rod["shear_modulus"])
    mass, rotary = rod["density"] * rod["area"], rod["density"] * rod["second_moment"]
    found = {
        "euler-bernoulli": references.cantilever_frequency(rod["length"], thin, mass),
        "rayleigh": references.cantilever_frequency(rod["length"], thin, mass, rotary=rotary),
    }
    for name, model in _stiffnesses(rod).items():
        if "shear" in name:
            key = f"timoshenko{name.removeprefix('extensible+shear')}"
            found[key] = references.cantilever_frequency(rod["length"], model, mass, rotary=rotary)
    # It swings by 4 mm: 2.4 millionths faster than by nothing, whatever the model.
    gravity, duration = 0.1, 2.2
    unit = rod["length"] ** 2 * math.sqrt(mass / thin.EI)
    faster = references.swing_frequency(gravity * unit**2 / rod["length"], np.linspace(0.0, duration / unit, 2201))
    return {
        "title": TITLES["b"],
        **rod,
        "gravity": [0.0, 0.0, -gravity],
        "clamp": {"position": [0.0, 0.0, 0.0], "tangent": [1.0, 0.0, 0.0]},
        "start": "straight along +x, at rest: it sinks by 4 mm and comes back",
        "damping": 0.0,
        "duration": duration,
        "wall_s": "wall time of the steps divided by the simulated time",
        "error": "first frequency of the tip's height against the reference, relative: measures.frequency_error(times, "
        "heights, reference); also give decay_per_s, its second value: what the scheme damps, or feeds if negative",
        "references": {name: {"frequency": faster * value} for name, value in found.items()},
    }


def _task_c() -> dict[str, Any]:
    radius, length, density, youngs, load, amplitude = 0.005, 4.0, 7850.0, 200e9, 1000.0, 0.1
    duration = 9.5
    area = math.pi * radius**2
    mass, stiffness = density * area * length, youngs * area
    found = {}
    for name, m in (("massless cable", 0.0), ("massive cable", mass)):
        longer = references.elongation(length, stiffness, load, _GRAVITY, m)
        period, mean = references.cable_swing(length, stiffness, load, _GRAVITY, amplitude, m, duration)
        found[name] = {
            "period": period,
            "elongation": longer,
            "mean_elongation": mean,
            "start": [(length + longer) * math.sin(amplitude), 0.0, -(length + longer) * math.cos(amplitude)],
        }
    return {
        "title": TITLES["c"],
        "length": length,
        "radius": radius,
        "area": area,
        "second_moment": 0.25 * math.pi * radius**4,
        "youngs_modulus": youngs,
        "shear_modulus": youngs / 2.6,
        "density": density,
        "stretch_stiffness": stiffness,
        "load": load,
        "gravity": [0.0, 0.0, -_GRAVITY],
        "top": [0.0, 0.0, 0.0],
        "amplitude": amplitude,
        "start": "straight at 0.1 rad to the vertical in the plane y = 0, evenly stretched by the static elongation, "
        "at rest; the load is a point mass (or a small body held at its centre); the top is pinned and turns freely",
        "damping": 0.0,
        "duration": duration,
        "wall_s": "wall time of the steps divided by the simulated time",
        "error": "period of the load's x against the reference, relative: measures.period_error(times, x, reference); "
        "also give elongation_error: mean distance of the load from the top over the run minus the length, against the "
        "reference's mean_elongation (a swing pulls harder than rest), relative",
        "references": found,
    }


def _task_d() -> dict[str, Any]:
    radius, length, span, density, youngs = 0.006, 4.0, 3.6, 1000.0, 5e8
    area = math.pi * radius**2
    weight = density * area * _GRAVITY
    rungs, rung_mass, load = 9, 0.5, 20.0
    places = length * np.arange(1, rungs + 1) / (rungs + 1)
    forces = np.full(rungs, 0.5 * rung_mass * _GRAVITY)
    forces[rungs // 2] += 0.5 * load * _GRAVITY
    rope = {"radius": radius, "youngs_modulus": youngs, "shear_modulus": youngs / 3.0}
    sags = {
        name: references.bridge(length, span, weight, places, forces, model)
        for name, model in _stiffnesses(rope).items()
    }
    sags["string"] = references.bridge(length, span, weight, places, forces, None, 1.0 / (youngs * area))
    # A circular arc of the rope's length over the span: 2 R sin(φ/2) = span, R φ = length.
    angle = _arc_angle(span / length)
    return {
        "title": TITLES["d"],
        **rope,
        "length": length,
        "span": span,
        "density": density,
        "area": area,
        "second_moment": 0.25 * math.pi * radius**4,
        "ropes_y": [-0.3, 0.3],
        "pins": "both ends of each rope, at x = -span/2 and x = span/2, z = 0: held in place, free to turn",
        "rungs": rungs,
        "rung_places": places.tolist(),
        "rung_mass": rung_mass,
        "rung_length": 0.6,
        "rung_inertia": "a thin bar's: mass * length^2 / 12 across; along its axis whatever the tool needs",
        "joints": "each rung's ends are held in place on the ropes' centre lines at the rest lengths rung_places",
        "load": load,
        "load_means": "a point mass at the centre of the middle rung",
        "gravity": [0.0, 0.0, -_GRAVITY],
        "start": "each rope an unstretched circular arc hanging down (arc_radius, arc_angle; measures.arc(problem, n) "
        "gives its nodes), straight when unloaded; rungs between them; at rest",
        "arc_angle": angle,
        "arc_radius": length / angle,
        "damping": 5.0,
        "damping_means": "force per mass = -damping * velocity, 1/s, on ropes, rungs and load; or the tool's nearest",
        "duration": 6.0,
        "wall_s": "wall time of the steps divided by the simulated time",
        "error": "sag (minus z) of the ropes' middle (mean of the two) at the end against the reference, relative",
        "references": {name: {"sag": value} for name, value in sags.items()},
    }


def _arc_angle(ratio: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(lambda a: math.sin(0.5 * a) - 0.5 * ratio * a, 0.1, 6.0, xtol=1e-14))


def _task_e() -> dict[str, Any]:
    return {
        "title": TITLES["e"],
        **_cantilever(),
        "start": "straight along +x, at rest; the model is built, nothing is computed yet",
        "damping": "the best that can be found: only the answer counts",
        "wall_s": "wall time from the start to an answer whose error is below error_bound and stays there",
        "error_bound": ERROR_BOUND,
        "error": "distance of the tip from the reference's tip, divided by the length",
    }


def _task_f() -> dict[str, Any]:
    rod = _rod(1e7)
    base = np.array(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))  # columns d1 = y, d2 = z, d3 = x
    frame = _turn((0, 0, 1), math.radians(60)) @ _turn((0, 1, 0), math.radians(-30)) @ _turn((1, 0, 0), 0.5 * math.pi)
    frame = frame @ base
    tips = [(np.array((0.72, 0.3, 0.25)), frame), (np.array((0.72, 0.31, 0.25)), frame)]
    found = {}
    for name, model in _stiffnesses(rod).items():
        first, moved = references.pose_to_pose(rod["length"], base, tips, model)
        found[name] = {
            "middle": first[0].tolist(),
            "moved_middle": moved[0].tolist(),
            "tip_force": first[1].tolist(),
            "tip_torque": first[2].tolist(),
        }
    ends = [(np.zeros(3), base), *tips]
    return {
        "title": TITLES["f"],
        **rod,
        "gravity": [0.0, 0.0, 0.0],
        **{
            key: {
                "position": place.tolist(),
                "tangent": matrix[:, 2].tolist(),
                "normal": matrix[:, 0].tolist(),
            }
            for key, (place, matrix) in zip(("base", "tip", "moved_tip"), ends, strict=True)
        },
        "ends": "both ends are clamped in position and in all rotations; normal is the material direction that is "
        "parallel to base's normal all along the straight, untwisted rod",
        "start": "straight from base along +x, untwisted, at rest; the tip may be led to its pose along a straight "
        "path with an even turn, the time of which counts",
        "wall_s": "wall time from the start to an answer whose error is below error_bound and stays there",
        "warm": "then the tip is moved to moved_tip: warm_wall_s and warm_error of that answer from the one before",
        "error_bound": ERROR_BOUND,
        "error": "distance of the rod's middle (rest length 0.5) from the reference's, divided by the length",
        "references": found,
    }


def _turn(axis: tuple[float, float, float], angle: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_rotvec(angle * np.array(axis, dtype=np.float64)).as_matrix())


@cache
def problem(task: str) -> dict[str, Any]:
    """One task: plain values, SI units, z upwards. Made once; do not change what it returns."""
    makers = {"a": _task_a, "b": _task_b, "c": _task_c, "d": _task_d, "e": _task_e, "f": _task_f}
    return makers[task]()


def problems() -> dict[str, dict[str, Any]]:
    """All tasks by name."""
    return {task: problem(task) for task in NAMES}


def write_problems(path: Path, tasks: Sequence[str] = NAMES) -> None:
    """Write `tasks` by name to a JSON file; their references are computed, which takes seconds."""
    write_json(path, {task: problem(task) for task in tasks})
