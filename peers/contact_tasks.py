"""Four tasks in which things touch, as plain numbers: a capstan (g), a knot (h), a pile (i), a stack (k).

There is no time at equal error here: programs differ by whether a thing holds at all. Each run has an error, whether it
survived, and its time, at a step and with settings that its row names.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from sennit.bench.contact_scenes import line_of_knot

__all__ = ["ERRORS", "NAMES", "TITLES", "problem"]

NAMES = ("g", "h", "i", "k")
TITLES = {"g": "capstan, half a wrap", "h": "overhand knot", "i": "pile of 20 ropes", "k": "stack of 10 boxes"}
ERRORS = {
    "g": "of T2/T1 against e^(μθR/(R+r))",
    "h": "closest centre lines from 2r, over 2r",
    "i": "deepest overlap of ropes, or rope and floor, over 2r",
    "k": "sink of the top box after 2 s, over its side",
}


def _rope(radius: float, youngs: float, density: float) -> dict[str, float]:
    return {
        "radius": radius, "youngs_modulus": youngs, "shear_modulus": youngs / 2.8, "density": density,
        "area": math.pi * radius**2, "second_moment": 0.25 * math.pi * radius**4,
    }  # fmt: skip


def _capstan() -> dict[str, Any]:
    r, R, arm, friction = 2e-3, 0.1, 0.15, 0.3
    angles = np.linspace(math.pi, 0.0, 121)
    arc = (R + r) * np.column_stack((np.cos(angles), np.zeros(121), np.sin(angles)))
    down = np.linspace(-arm, 0.0, 41)[:-1]
    left = np.column_stack((np.full(40, -(R + r)), np.zeros(40), down))
    right = np.column_stack((np.full(40, R + r), np.zeros(40), down[::-1]))
    return {
        **_rope(r, 2e8, 1100.0),
        "drum": R, "friction": friction, "pull": 40.0, "speed": 0.1, "begin": 0.3, "duration": 1.3, "damping": 5.0,
        "line": np.vstack((left, arc, right)).tolist(), "way": [0.0, 0.0, -1.0],
        "ratio": math.exp(friction * math.pi * R / (R + r)),
        "what": "no gravity; the first end is pulled down by `pull` (N), the last held until `begin` (s), then led "
        "down at `speed`; error: mean of the hand's force over the last 0.5 s, over pull, against ratio",
    }  # fmt: skip


def _knot() -> dict[str, Any]:
    r = 4e-3
    return {
        **_rope(r, 1e7, 1000.0),
        "friction": 0.3, "slack": 37.0 * r, "speed": 0.4, "hold": 3.0, "damping": 3.0,
        "line": line_of_knot().tolist(),
        "what": "no gravity; straight when unloaded; the ends are led apart along their line at `speed` until the rope "
        "is `slack` longer than their distance, then held; survived: it is still knotted, and nothing passed",
    }  # fmt: skip


def _pile() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    lines = []
    for level in range(20):
        angle = rng.uniform(0, math.pi)
        middle = np.array((*rng.uniform(-0.03, 0.03, 2), 0.02 + 0.012 * level))
        half = 0.15 * np.array((math.cos(angle), math.sin(angle), 0))
        lines.append([(middle - half).tolist(), (middle + half).tolist()])
    return {
        **_rope(5e-3, 5e6, 1000.0), "friction": 0.3, "damping": 0.5, "duration": 1.0, "lines": lines, "gravity": 9.81,
        "what": "straight ropes fall on each other and on a floor at z = 0",
    }  # fmt: skip


def _stack() -> dict[str, Any]:
    return {"side": 0.2, "mass": 8.0, "boxes": 10, "friction": 0.5, "duration": 2.0, "gravity": 9.81}


@cache
def problem(task: str) -> dict[str, Any]:
    """One task: plain values, SI units, z upwards."""
    made = {"g": _capstan, "h": _knot, "i": _pile, "k": _stack}[task]()
    return {"title": TITLES[task], "error": ERRORS[task], **made}
