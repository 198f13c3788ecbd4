"""The tasks of a to d as scenes of sennit, ready to step; what they are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

import sennit as sn
from peers.scripts.measures import arc

__all__ = ["cable_bridge", "cantilever", "hoist", "material_of", "rope_bridge", "section_of"]

Problem = dict[str, Any]


def material_of(problem: Problem) -> sn.Material:
    """What a task's rod is made of."""
    return sn.Material(
        youngs_modulus=problem["youngs_modulus"], poisson_ratio=0.3, shear_modulus=problem["shear_modulus"],
        density=problem["density"],
    )  # fmt: skip


def section_of(problem: Problem) -> sn.Section:
    """Its section."""
    return sn.Section.circle(radius=problem["radius"])


def cantilever(problem: Problem, n: int, integrator: str) -> tuple[sn.Scene, sn.Rod]:
    """A clamped spline rod of `n` control points, ready to step."""
    drag = problem["damping"] if isinstance(problem["damping"], float) else 0.0
    scene = sn.Scene(gravity=problem["gravity"], drag=drag, integrator=integrator)
    end = (problem["length"], 0.0, 0.0)
    rod = scene.add(
        sn.Rod.straight(
            (0, 0, 0), end, section=section_of(problem), material=material_of(problem), control_points=n, name="rod"
        )
    )
    scene.add(sn.Clamp(rod.at(0.0)))
    _ = scene.dofs  # builds the tables
    return scene, rod


def hoist(problem: Problem, integrator: str, n: int = 0) -> tuple[sn.Scene, sn.RigidBody]:
    """A load on a cable without mass, or, with `n`, on a rod of n control points; at rest, out of its place."""
    scene = sn.Scene(gravity=problem["gravity"], integrator=integrator)
    start = np.array(problem["references"]["massive cable" if n else "massless cable"]["start"])
    load = scene.add(sn.RigidBody.sphere(0.1, mass=problem["load"], position=start))
    top, section, material = problem["top"], section_of(problem), material_of(problem)
    if n == 0:
        points = [sn.World.at(top), load.at()]
        scene.add(sn.Cable(points, section=section, material=material, length=problem["length"], torsion=False))
    else:
        end = start * (problem["length"] / float(np.linalg.norm(start)))
        rod = scene.add(sn.Rod.straight(top, end, section=section, material=material, control_points=n))
        rod.control_points = rod.control_points * (float(np.linalg.norm(start)) / problem["length"])
        scene.add(sn.Fix(rod.at(0.0)))
        scene.add(sn.Ball(load.at(), rod.at(rod.length)))
    _ = scene.dofs
    return scene, load


def rope_bridge(problem: Problem, n: int) -> tuple[sn.Scene, list[sn.Rod]]:
    """Two ropes of `n` control points (10 k + 3: knots where the rungs are), nine rungs, the load on the middle one."""
    scene = sn.Scene(gravity=problem["gravity"], drag=problem["damping"], integrator="euler")
    ropes = []
    for y in problem["ropes_y"]:
        points = arc(problem, np.linspace(0.0, problem["length"], 4 * n))
        points[:, 1] = y
        rope = sn.Rod.through(
            points, section=section_of(problem), material=material_of(problem), control_points=n, straight=True
        )
        ropes.append(scene.add(rope))
        scene.add(sn.Fix(rope.at(0.0)))
        scene.add(sn.Fix(rope.at(rope.length)))
    half = 0.5 * problem["rung_length"]
    across, along = problem["rung_mass"] * half**2 / 3.0, 1e-4 * problem["rung_mass"]
    for index, place in enumerate(problem["rung_places"]):
        mass = problem["rung_mass"] + (problem["load"] if index == problem["rungs"] // 2 else 0.0)
        rung = sn.RigidBody.from_inertia(mass, (across, along, across), position=arc(problem, [place])[0])
        scene.add(rung)
        for rope, side in zip(ropes, (-half, half), strict=True):
            scene.add(sn.Ball(rung.at((0.0, side, 0.0)), rope.at(place / problem["length"] * rope.length)))
    _ = scene.dofs
    return scene, ropes


def cable_bridge(problem: Problem) -> tuple[sn.Scene, sn.RigidBody]:
    """The ropes as cables from rung to rung, their mass on the rungs; returns the middle rung, whose sag it is."""
    scene = sn.Scene(gravity=problem["gravity"], drag=problem["damping"], integrator="euler")
    half, parts = 0.5 * problem["rung_length"], problem["rungs"] + 1
    rope_mass = problem["density"] * problem["area"] * problem["length"] / parts
    across, along = (problem["rung_mass"] / 3.0 + 2.0 * rope_mass) * half**2, 1e-4 * problem["rung_mass"]
    rungs = []
    for index, place in enumerate(problem["rung_places"]):
        mass = problem["rung_mass"] + 2.0 * rope_mass + (problem["load"] if index == problem["rungs"] // 2 else 0.0)
        rung = sn.RigidBody.from_inertia(mass, (across, along, across), position=arc(problem, [place])[0])
        rungs.append(scene.add(rung))
    for y, side in zip(problem["ropes_y"], (-half, half), strict=True):
        pins = [sn.World.at((x, y, 0.0)) for x in (-0.5 * problem["span"], 0.5 * problem["span"])]
        points = [pins[0], *(rung.at((0.0, side, 0.0)) for rung in rungs), pins[1]]
        for pair in zip(points, points[1:], strict=False):
            cable = sn.Cable(
                pair, section=section_of(problem), material=material_of(problem), length=problem["length"] / parts,
                torsion=False,
            )  # fmt: skip
            scene.add(cable)
    _ = scene.dofs
    return scene, rungs[problem["rungs"] // 2]
