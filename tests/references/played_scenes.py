"""Random scenes as users build and play with them: none may break, none may break without a word.

Every family (`references.scene_families`) draws its numbers from one `Random`; step, scheme and length of the run are
drawn too. Only the public interface is used. `play` says what went wrong: an exception, a number that is not finite,
energy from nothing (where nothing is driven), speeds far beyond the drive's and what rods had stored, firm ties that
are torn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import sennit as sn
from references import scene_families
from references.linking import linking_number
from references.mechanism_families import MECHANISMS
from references.robot_families import ROBOTS
from references.tapered_families import bent_tapers
from references.touching_families import TOUCHING

FAMILIES = scene_families.FAMILIES | {"bent_tapers": bent_tapers} | ROBOTS | MECHANISMS | TOUCHING

STEPS = (1e-4, 1e-3, 5e-3, 1 / 60, 1 / 30, 0.1)
SCHEMES = ("euler", "euler", "euler", "bdf2", "midpoint")
TROUBLES = ("divided", "held", "calmed", "yielded")
LONGEST_TOUCHING = 1 / 60
"""s; of longer steps in which light ropes and solids clash some leave overlaps of a radius (docs/robustness.md)."""
DEEPEST = 8e-3
"""Overlap that no step may leave, m: less than the radius of the thickest rods, a tenth of the solids' mean size."""


@dataclass
class Outcome:
    """How a scene went."""

    family: str
    seed: int
    dt: float
    scheme: str
    broken: list[str] = field(default_factory=list)
    gain: float = -1.0
    """Largest share of the energy turned over that kinetic and weight energy were above what was there at first."""
    passive: bool = True
    """Whether nothing was driven."""
    held: float = 0.0
    """Share of its time for which it stood still."""
    parts: float = 1.0
    """Steps per call."""
    told: dict[str, int] = field(default_factory=dict)
    """Steps of trouble by kind."""
    momentum: float = 0.0
    """Largest change of momentum of a free scene, over the sum of the magnitudes."""
    spin: float = 0.0

    @property
    def silent(self) -> bool:
        """Whether it broke without a word."""
        return bool(self.broken) and not self.told and not any("Error" in text for text in self.broken)


def torn(scene: Any) -> float:
    """Largest gap (m) of ties that hold two points together firmly."""
    worst = 0.0
    for tie in scene.constraints:
        if not tie.enabled or not tie.reached or tie.compliance:
            continue
        if isinstance(tie, sn.Ball | sn.Hinge | sn.Lock | sn.Fuse):
            p, q = tie.points
            worst = max(worst, float(np.linalg.norm(p.position - q.position)))
        elif isinstance(tie, sn.Fix):
            worst = max(worst, float(np.linalg.norm(tie.points[0].position - tie.target)))
    return worst


def play(family: str, seed: int, *, steps: int = 250, seconds: float = 1.5) -> Outcome:
    """Build scene number `seed` of a family, run it, and judge how it went."""
    random = Random(f"{family} {seed}")
    played = FAMILIES[family](random)
    scene = played.scene
    dt, scheme = random.choice(STEPS), random.choice(SCHEMES)
    if family in TOUCHING:
        dt = min(dt, LONGEST_TOUCHING)
    if Random(f"fourth {family} {seed}").random() < 0.1:
        scheme = "fourth"
    scene.integrator = scheme
    outcome = Outcome(family, seed, dt, scheme, passive=played.drive is None)
    count = min(int(seconds / dt), steps)
    first = scene.energy
    mass = sum(getattr(body, "mass", 0.0) for body in scene.bodies if not isinstance(body, sn.Zone))
    lowest, fast, gap, stored, parts, held = first.gravity, 0.0, 0.0, 0.0, 0, 0.0
    start = np.concatenate((scene.linear_momentum, scene.angular_momentum)) if played.free else np.zeros(6)
    weight = mass * scene.gravity
    sunk = (0.0, 0.0)
    for _ in range(count):
        if played.drive:
            played.drive(scene.time)
        try:
            scene.step(dt)
        except (sn.SolveError, sn.InputError) as problem:
            outcome.broken.append(f"{type(problem).__name__}: {problem}"[:120])
            break
        energy, report = scene.energy, scene.report
        parts, held = parts + report.parts, held + report.held
        if not math.isfinite(energy.total):
            outcome.broken.append("not finite")
            break
        lowest = min(lowest, energy.gravity)
        turned = first.total - first.gravity + abs(first.gravity - lowest) + 0.5 * mass * (9.81 * 0.01) ** 2 + 1e-12
        outcome.gain = max(outcome.gain, (energy.kinetic + energy.gravity - first.total) / turned)
        # a steel bar that was bent double and let go of is fast: what was stored in rods is not from nothing
        stored = max(stored, energy.total - energy.kinetic - energy.gravity)
        fast = max(fast, math.sqrt(2 * max(energy.kinetic - stored, 0.0) / mass))
        gap = max(gap, torn(scene))
        if played.free:
            size = math.sqrt(2 * mass * max(energy.kinetic, first.kinetic)) + 1e-12
            momentum = scene.linear_momentum - start[:3] - scene.time * weight
            outcome.momentum = max(outcome.momentum, float(np.linalg.norm(momentum)) / size)
            if not weight.any():
                far = (
                    1.0
                    + max(
                        float(np.linalg.norm(body.position)) for body in scene.bodies if isinstance(body, sn.RigidBody)
                    )
                    if any(isinstance(body, sn.RigidBody) for body in scene.bodies)
                    else 1.0 + np.linalg.norm(scene.linear_momentum) / mass * scene.time
                )
                spin = float(np.linalg.norm(scene.angular_momentum - start[3:])) / (size * far)
                outcome.spin = max(outcome.spin, spin)
        if scene.contacts.deepest > sunk[0]:
            sunk = scene.contacts.deepest, scene.time
    outcome.parts, outcome.held = parts / max(count, 1), held / max(count * dt, 1e-12)
    if family in TOUCHING and sunk[0] > DEEPEST:
        outcome.broken.append(f"overlap of {sunk[0]:.3g} m at {sunk[1]:.3g} s")
    if played.linked is not None and abs(linked := linking_number(*played.linked)) < 0.5:
        outcome.broken.append(f"linking number {linked:.3g}")
    for event in scene.events:
        if event.kind in TROUBLES:
            outcome.told[event.kind] = outcome.told.get(event.kind, 0) + event.steps
    if played.drive is None and outcome.gain > 0.15:
        outcome.broken.append(f"energy {outcome.gain:.3g}")
    if played.drive is not None and fast > 5 * played.speed + math.sqrt(2 * 9.81 * 3):
        outcome.broken.append(f"speed {fast:.3g} m/s")
    if gap > 0.1:
        outcome.broken.append(f"torn by {gap:.3g} m")
    return outcome


def tell(outcomes: list[Outcome]) -> str:
    """Outcomes in one line."""
    broken = [o for o in outcomes if o.broken]
    return ", ".join(
        (
            f"{len(broken)} of {len(outcomes)} broken ({sum(o.silent for o in broken)} without a word)",
            f"{sum(o.held > 0.1 for o in outcomes)} still for more than a tenth of their time",
            f"divided {sum('divided' in o.told for o in outcomes)}",
            f"held {sum('held' in o.told for o in outcomes)}",
            f"calmed {sum('calmed' in o.told for o in outcomes)}",
            f"steps per call {np.mean([o.parts for o in outcomes]):.3g}",
            f"gain {max((o.gain for o in outcomes if o.passive), default=0.0):.2g}",
            f"momentum {max(o.momentum for o in outcomes):.1e}",
            f"spin {max((o.spin for o in outcomes if o.scheme in ('euler', 'bdf2')), default=0.0):.1e}",
        )
    )


def main(first: int, last: int, families: list[str]) -> None:
    """Play the seeds from `first` to `last` of some families, and print what broke and a summary."""
    outcomes = []
    for seed in range(first, last):
        for family in families or FAMILIES:
            outcomes.append(outcome := play(family, seed))
            if outcome.broken:
                print(
                    f"{family} {seed} dt {outcome.dt:.4g} {outcome.scheme}: {outcome.broken} {outcome.told}", flush=True
                )
    print(tell(outcomes))
    for family in families or FAMILIES:
        print(f"  {family:22s}", tell([o for o in outcomes if o.family == family]))


if __name__ == "__main__":
    import sys

    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
