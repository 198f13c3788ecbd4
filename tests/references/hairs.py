"""Hair for tests, and single rods in scenes that do the same."""

from __future__ import annotations

from typing import Any

import numpy as np

import sennit as sn

WISP = sn.Section.circle(5e-4)
KERATIN = sn.Material(2e7, 0.4, 1300.0, relaxation_time=0.02)
LENGTH = 0.25
"""m"""


def directions(count: int, seed: int = 0, least: float = 0.3) -> np.ndarray:
    """Unit vectors (count, 3) of the upper half, none of them flat."""
    ways = np.random.default_rng(seed).normal(size=(count, 3))
    ways[:, 2] = np.abs(ways[:, 2]) + least
    return ways / np.linalg.norm(ways, axis=1)[:, None]


def hair_of(count: int, **options: Any) -> sn.Hair:
    """Hair that stands up on a ball of 0.1 m, whose middle is the origin of the head."""
    ways = directions(count)
    given: dict[str, Any] = {"length": LENGTH, "section": WISP, "material": KERATIN} | options
    return sn.Hair(0.1 * ways, ways + np.array((0.3, 0.3, 0.0)), **given)


def rod_of_scene(
    root: np.ndarray, way: np.ndarray, *, stiffness: float = 1.0, rest: tuple[float, ...] = (0.0, 0.0, 0.0),
    points: int = 20, drag: float = 1.0, length: float = LENGTH,
) -> tuple[sn.Scene, sn.Rod, sn.Clamp]:  # fmt: skip
    """A scene with one rod that is clamped where it begins, as hair is."""
    material = sn.Material(
        stiffness * KERATIN.youngs_modulus, 0.4, KERATIN.density, relaxation_time=KERATIN.relaxation_time
    )
    unit = way / np.linalg.norm(way)
    scene = sn.Scene(integrator="euler", drag=drag)
    curled = rest if any(rest) else None
    made = sn.Rod.straight(
        root, root + length * unit, section=WISP, material=material, control_points=points, rest_curvature=curled
    )
    rod = scene.add(made)
    return scene, rod, scene.add(sn.Clamp(rod.at(0.0)))
