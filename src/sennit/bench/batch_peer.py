"""A led rope in batches of sennit and of MuJoCo, on one core, at equal error.

A rope of 1 m is clamped at one end; the other is led in a smooth curve for 0.4 s. The error of a run is how far the
middle is in the end from where the same program has it when it is refined (the two then differ by 1.0 mm: MuJoCo's rope
does not stretch, and twists as stiffly as it bends). MuJoCo's rope is a chain of links with springs and dampers in ball
joints, half a link fixed in the clamp, its hand a body that is put elsewhere before each step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sennit as sn
from sennit.bench.table import Case, Progress, Table, measure
from sennit.validation import FloatArray

__all__ = ["beside_mujoco"]

YOUNGS, RADIUS, DENSITY, DAMPING = 1e7, 5e-3, 1000.0, 0.02  # Pa, m, kg/m³, s
TIME = 0.4
"""Simulated time of a run, s."""
OURS = ((8, 2e-2), (10, 2e-2), (16, 5e-3))
"""Control points and steps (s) of runs that are timed."""
MUJOCO = ((6, 5e-3), (10, 5e-3), (14, 2.5e-3), (20, 1e-3))
"""Links and steps (s)."""


def hand(time: float) -> FloatArray:
    """Where the hand is: (3,), m."""
    angle = 2.0 * np.pi * time
    return np.array((0.95 + 0.05 * np.cos(angle), 0.05 * (1.0 - np.cos(angle)), 0.5))


Run = tuple[Callable[[], None], Callable[[], FloatArray]]
"""What makes the steps of a batch, and what tells where the middle of its first rope is in the end, (3,), m."""


def ours(points: int, dt: float, count: int) -> Run:
    """Ropes of sennit."""
    scene = sn.Scene(integrator="bdf2")
    material = sn.Material(YOUNGS, 0.4, DENSITY, relaxation_time=DAMPING)
    section = sn.Section.circle(RADIUS)
    rod = sn.Rod.straight((0, 0, 0.5), (1, 0, 0.5), section=section, material=material, control_points=points)
    scene.add(rod)
    scene.add(sn.Clamp(rod.at(0)))
    held = scene.add(sn.Fix(rod.at(rod.length)))
    batch = sn.Batch(scene, count, threads=1)
    every = max(1, round(5e-3 / dt))

    def go() -> None:
        for k in range(1, round(TIME / dt / every) + 1):
            batch.set(held, "target", hand(k * every * dt))
            batch.step(dt, every)

    return go, lambda: np.array(batch.positions(rod.at(0.5))[0])


def chain(links: int, dt: float) -> str:
    """MuJoCo's model, as XML."""
    length, area = 1.0 / links, np.pi * RADIUS**2
    spring = YOUNGS * np.pi * RADIUS**4 / 4 / length
    body = ""
    for i in range(links):
        long = length if i < links - 1 else length / 2  # half a link stays in the clamp
        mass = DENSITY * area * long
        across = mass * (long * long / 12 + RADIUS**2 / 4)
        place = f"{length / 2} 0 0.5" if i == 0 else f"{length} 0 0"
        body += (
            f'<body name="b{i}" pos="{place}"><joint type="ball" stiffness="{spring}" damping="{DAMPING * spring}"/>'
            f'<inertial pos="{long / 2} 0 0" mass="{mass}" diaginertia="{mass * RADIUS**2 / 2} {across} {across}"/>'
            f'<site pos="{length / 2} 0 0"/>'
        )
    return (
        f'<mujoco><option timestep="{dt}" integrator="implicitfast" solver="Newton"><flag contact="disable"/></option>'
        f'<worldbody>{body}{"</body>" * links}<body name="hand" mocap="true" pos="1 0 0.5"/></worldbody><equality>'
        f'<connect body1="b{links - 1}" body2="hand" anchor="{length / 2} 0 0" solref="{2 * dt} 1"/></equality>'
        "</mujoco>"
    )


def mujocos(links: int, dt: float, count: int) -> Run:
    """Ropes of MuJoCo."""
    import mujoco
    from mujoco.batch import Batch

    model: Any = mujoco.MjModel.from_xml_string(chain(links, dt))
    batch = Batch(model, nsim=count, nthread=1)
    hands = batch.bind("mocap_pos")

    def go() -> None:
        for k in range(1, round(TIME / dt) + 1):
            hands[:, 0] = hand(k * dt)
            batch.step(nstep=1)

    def look() -> FloatArray:
        data: Any = mujoco.MjData(model)
        data.qpos[:] = batch.bind("qpos")[0]
        mujoco.mj_kinematics(model, data)
        return np.array(data.site_xpos[links // 2 - 1])

    return go, look


def middle(run: Run) -> FloatArray:
    """Where the middle is in the end."""
    run[0]()
    return run[1]()


def beside_mujoco(progress: Progress, count: int = 64, samples: int = 4, seconds: float = 4.0) -> Table:
    """A simulated second of one rope of many, with the error of each run in its name."""
    cases = []
    for name, run, fine, chosen in (
        ("sennit", ours, (60, 2.5e-4), OURS), ("mujoco.batch", mujocos, (80, 5e-5), MUJOCO),
    ):  # fmt: skip
        there = middle(run(*fine, 1))
        for parts, dt in chosen:
            error = 1e3 * float(np.linalg.norm(middle(run(parts, dt, 1)) - there))
            text = f"{name}, {parts} {'points' if run is ours else 'links'}, {1e3 * dt:g} ms: {error:.1f} mm"

            cases.append(_case(text, run, parts, dt, count))
    title = f"a led rope in batches of {count}, one core, beside its error"
    return measure(title, cases, per="simulated second", samples=samples, seconds=seconds, progress=progress)


def _case(name: str, run: Any, parts: int, dt: float, count: int) -> Case:
    """Building a batch is not timed."""
    built: list[Run] = []

    def build() -> None:
        built[:] = [run(parts, dt, count)]

    def go() -> None:
        built[0][0]()

    return Case(name, go, per=count * TIME, prepare=build)
