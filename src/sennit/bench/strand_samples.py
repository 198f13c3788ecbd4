"""The strands that ``sennit bench strand`` times, and what is done to them: a drag along a path, random poses."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Literal

import numpy as np

import sennit as sn
from sennit.bench.table import Seconds
from sennit.cosserat.model import Conditions
from sennit.cosserat.newton import Reached, solve_energy
from sennit.geometry.rotations import quaternion_product, rotation_exp

__all__ = [
    "FLAT",
    "LENGTH",
    "NYLON",
    "ROUND",
    "STEPS",
    "Drag",
    "KernelDrag",
    "Order",
    "drag_poses",
    "nylon_strand",
    "random_poses",
    "units",
]

NYLON = sn.Material(youngs_modulus=2.7e9, poisson_ratio=0.39, density=1150)
ROUND = sn.Section.circle(radius=2e-4)
FLAT = sn.Section.rectangle(width=5e-4, height=3e-4)
LENGTH = 0.25
STEPS = 2000  # of one round of the drag

Order = Literal[1, 2, 4]


def nylon_strand(
    nodes: int, *, order: Order = 4, section: sn.Section = ROUND, full: bool = False, extensible: bool = False
) -> sn.Strand:
    """A nylon suture; with `full`, one whose stiffness is a full 3×3 matrix."""
    if not full:
        return sn.Strand(LENGTH, section, NYLON, nodes, order=order, extensible=extensible)
    turn = sn.Pose((0.0, 0.0, 0.0), (0.9, 0.2, -0.3, 0.1)).rotation
    stiffness = np.zeros((6, 6))
    stiffness[:3, :3] = turn @ FLAT.bending_stiffness(NYLON) @ turn.T
    stiffness[3:, 3:] = FLAT.stretching_stiffness(NYLON)
    return sn.Strand(LENGTH, nodes=nodes, order=order, stiffness=stiffness, extensible=extensible)


def units(strand: sn.Strand) -> tuple[float, float]:
    """B/L² (N) and B/L (N·m), B the stiffness of bending about d1."""
    bending = float(strand.stiffness[0, 0])
    return bending / strand.length**2, bending / strand.length


def drag_poses(length: float, steps: int = STEPS) -> list[sn.Pose]:
    """A closed path of the tip: 0.62 to 0.9 lengths away, tilting, two turns of twist forth and back."""
    a = 2.0 * np.pi * np.arange(steps) / steps
    zero = np.zeros(steps)
    direction = np.column_stack((0.4 * np.sin(a), 0.3 * np.sin(2.0 * a) + 0.05, 1.0 + zero))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    positions = length * (0.76 + 0.14 * np.cos(a))[:, None] * direction
    tilt = rotation_exp(np.column_stack((0.8 * np.sin(a) + 0.05, 0.5 * np.sin(2.0 * a), zero)))
    twist = rotation_exp(np.column_stack((zero, zero, 2.0 * np.pi * (1.0 - np.cos(a)))))
    rotations = quaternion_product(tilt, twist)
    return [sn.Pose(p, q) for p, q in zip(positions, rotations, strict=True)]


class Drag:
    """Public solves along the drag, each from the state before it; counts iterations and its thread's own time."""

    def __init__(self, strand: sn.Strand, steps: int = STEPS, **options: Any) -> None:
        self.strand, self.options = strand, options
        self.base, self.poses = sn.Pose(), drag_poses(strand.length, steps)
        self.state = strand.solve(base=self.base, tip=self.poses[0])
        self.place = 0
        self.iterations: list[int] = []
        self.own: list[float] = []
        self.unfinished = 0

    def __call__(self) -> None:
        """Solve at the next pose."""
        self.place = (self.place + 1) % len(self.poses)
        tip, clock = self.poses[self.place], time.thread_time
        begin = clock()
        self.state = self.strand.solve(base=self.base, tip=tip, guess=self.state, **self.options)
        self.own.append(clock() - begin)
        self.iterations.append(self.state.report.iterations)
        self.unfinished += not self.state.report.converged

    def figures(self) -> dict[str, float | str]:
        """Columns of this drag's row."""
        own = np.array(self.own)
        return {
            "iterations": float(np.mean(self.iterations)),
            "most": max(self.iterations),
            "moving": self.unfinished,
            "own p99": Seconds(np.quantile(own, 0.99, method="higher")),
            "own worst": Seconds(own.max()),
        }


class KernelDrag:
    """The same drag by the compiled Newton iteration alone: what a public solve would cost without Python."""

    def __init__(self, strand: sn.Strand, steps: int = STEPS) -> None:
        state = strand.solve(base=sn.Pose(), tip=drag_poses(strand.length, steps)[0])
        solution = state._solution
        self.poses = [(pose.position / strand.length, pose.quaternion) for pose in drag_poses(strand.length, steps)]
        self.place = 0
        # the last equilibria, newest first, and the arrays for the next, in turns; each with conditions of its own
        self.ring: list[tuple[Conditions, Reached]] = []
        for _ in range(4):
            conditions = replace(solution.conditions, target=solution.conditions.target.copy())
            self.ring.append((conditions, Reached(solution.q.copy(), solution.lam.copy(), conditions.target)))
        self.known = 1
        self.iterations: list[int] = []

    def __call__(self) -> None:
        """Solve at the next pose."""
        self.place = (self.place + 1) % len(self.poses)
        *before, new = self.ring
        conditions, (q, lam, target) = new
        target[0], q[-1] = self.poses[self.place]
        lam[:] = 0.0
        history = [equilibrium for _, equilibrium in before[: self.known]]
        result = solve_energy(conditions, q, lam, history=history)
        self.ring, self.known = [new, *before], self.known + 1
        self.iterations.append(result.iterations)

    def figures(self) -> dict[str, float | str]:
        """Columns of this drag's row."""
        return {"iterations": float(np.mean(self.iterations)), "most": max(self.iterations)}


def random_poses(strand: sn.Strand, count: int, seed: int = 1) -> list[sn.Pose]:
    """Tip poses that random wrenches reach: force up to 10 B/L², torque up to 5 B/L, uniform in the balls."""
    generator = np.random.default_rng(seed)
    poses = []
    for _ in range(count):
        force, torque = (
            size * generator.uniform() ** (1 / 3) * direction / np.linalg.norm(direction)
            for size, direction in zip(
                (10.0 * units(strand)[0], 5.0 * units(strand)[1]), generator.normal(size=(2, 3)), strict=True
            )
        )
        state = strand.solve(base=sn.Pose(), tip_force=force, tip_torque=torque, follower=True)
        poses.append(state.tip_pose)
    return poses
