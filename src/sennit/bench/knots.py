"""Knots and plies: do tight ones survive long steps, and do loose ones carry what theory says?

Three studies, each a function that returns a `Sheet`; ``sennit bench contact`` may call them, or
``python -m sennit.bench.knots`` runs them all.

- `tight`: an overhand knot is pulled to a slack of some radii, and held, at several rates.
- `loose`: the tension of a loose overhand knot without friction, T R²/EI → ½ as √(r/R) → 0 (Audoly, Clauvelin,
  Neukirch, PRL 99 (2007) 164301), by `settle`: steps in time do not come to rest, for knots in thin rods wander.
- `plies`: a clamped rod is twisted until it winds up on itself; force and torque against the ply of least energy
  (van der Heijden, Thompson; Clauvelin, Audoly, Neukirch, Macromolecules 41 (2008) 4479).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

import sennit as sn
from sennit.bench.sheet import Sheet
from sennit.bench.table import Progress
from sennit.demos.tangles import casson, closest_own
from sennit.demos.winding import ply_of_tension, wind
from sennit.validation import FloatArray

__all__ = ["Held", "Knot", "loose", "plies", "pull", "tie", "tight"]

RATES = (1000.0, 240.0, 120.0, 60.0)


@dataclass
class Knot:
    """An overhand knot in a rope whose ends are held."""

    scene: sn.Scene
    rope: sn.Rod
    ends: tuple[sn.Fix | sn.Clamp, sn.Fix | sn.Clamp]
    middle: FloatArray
    """Between the ends, m."""
    way: FloatArray
    """Unit vector from the first end to the second."""
    span: float
    """Distance of the ends, m."""

    @property
    def radius(self) -> float:
        """Of the rope, m."""
        return float(self.rope.section.radius)

    @property
    def slack(self) -> float:
        """Length of the rope less the distance of its ends, in radii."""
        return (self.rope.length - self.span) / self.radius

    @property
    def tension(self) -> float:
        """Force on the second end, N."""
        return float(np.linalg.norm(self.ends[1].force))

    def set_span(self, span: float) -> None:
        """Lead the ends apart to `span`, m, by the next step."""
        self.span = span
        self.ends[0].target = self.middle - 0.5 * span * self.way
        self.ends[1].target = self.middle + 0.5 * span * self.way

    def hold_roll(self) -> None:
        """Hold the ends against turning, too."""
        if isinstance(self.ends[0], sn.Clamp):
            return
        for end in self.ends:
            end.enabled = False
        rope = self.rope
        self.ends = self.scene.add(sn.Clamp(rope.at(0.0))), self.scene.add(sn.Clamp(rope.at(rope.length)))


def tie(
    points: int = 110, radius: float = 4e-3, friction: float = 0.3, modulus: float = 1e7, size: float = 0.0225,
    tail: float = 0.15, drag: float = 3.0, relaxation: float = 2e-3, density: float = 1000.0,
) -> Knot:  # fmt: skip
    """A loose overhand knot, without weight: (t³ − 3t, t⁴ − 4t², t⁵/5 − 2t) times `size`, with straight tails."""
    scene = sn.Scene(gravity=(0.0, 0.0, 0.0), drag=drag)
    t = np.linspace(-2.25, 2.25, 1200)
    curve = size * np.stack((t**3 - 3.0 * t, t**4 - 4.0 * t**2, t**5 / 5.0 - 2.0 * t), axis=1)
    part = np.linspace(0.0, 1.0, 80)[1:, None] * tail
    first, last = curve[0] - curve[1], curve[-1] - curve[-2]
    curve = np.concatenate((
        (curve[0] + part * first / np.linalg.norm(first))[::-1], curve,
        curve[-1] + part * last / np.linalg.norm(last),
    ))  # fmt: skip
    material = sn.Material(youngs_modulus=modulus, poisson_ratio=0.4, density=density, relaxation_time=relaxation)
    rope = scene.add(
        sn.Rod.through(
            curve, section=sn.Section.circle(radius), material=material, control_points=points, straight=True
        )
    )
    ends = scene.add(sn.Fix(rope.at(0.0))), scene.add(sn.Fix(rope.at(rope.length)))
    scene.collide(rope, itself=True, friction=friction)
    a, b = rope.at(0.0).position, rope.at(rope.length).position
    span = float(np.linalg.norm(b - a))
    return Knot(scene, rope, ends, 0.5 * (a + b), (b - a) / span, span)


@dataclass
class Held:
    """What was found of a knot that was pulled to a slack and held."""

    rate: float
    slack: float
    invariant: int
    """1: still an overhand knot."""
    closest: float
    """Smallest distance of centre lines, over the diameter: at the end, and in any step that was looked at."""
    nearest: float
    tension: float
    """At the end, N; and by how much it changed in the last half of the time, N."""
    change: float
    creep: float
    """Largest change of a distance within the knot in the last half of the time, radii per second."""
    creep_before: float
    """The same of the quarter before."""
    parts: float
    """Steps that a step was made in, on the average and at most."""
    most_parts: int
    newton: float
    """Newton steps of a step, median; of a divided one, of its last part."""
    milliseconds: float
    """A step took, median and mean."""
    mean_milliseconds: float
    held_time: float
    """s for which the scene stood still."""
    events: dict[str, int] = field(default_factory=dict)


def pull(knot: Knot, slack: float, rate: float, speed: float = 0.4, hold: float = 1.0, roll_held: bool = False) -> Held:
    """Pull `knot` to a `slack` (radii) at `speed` (m/s), and hold it for a time (s), in steps of 1/`rate` (s).

    `roll_held`: while it is held its ends are held against turning, too. A knot between ends that may turn rolls about
    the line of the pull: strands that roll on each other are not held by sliding friction.
    """
    scene, rope, h = knot.scene, knot.rope, 1.0 / rate
    start, goal = knot.span, rope.length - slack * knot.radius
    pulling = max((goal - start) / speed, 0.0)
    steps = math.ceil((pulling + hold) / h)
    spent, parts, newton, stood, nearest = [], [], [], 0.0, math.inf
    marks: dict[int, tuple[float, FloatArray, float]] = {}
    looks = {steps - 1, steps - 1 - int(0.5 * hold / h), steps - 1 - int(0.75 * hold / h)}
    for i in range(steps):
        if roll_held and i * h >= pulling:
            knot.hold_roll()
        knot.set_span(min(start + speed * (i + 1) * h, goal))
        begin = time.perf_counter()
        scene.step(h)
        spent.append(time.perf_counter() - begin)
        parts.append(scene.report.parts)
        newton.append(scene.contacts.newton_steps)
        stood += scene.report.held
        if i % max(steps // 40, 1) == 0 or i in looks:
            nearest = min(nearest, closest_own(rope.centerline(600), 5.0 * knot.radius))
        if i in looks:
            line = rope.centerline(60)
            marks[i] = scene.time, np.linalg.norm(line[:, None] - line, axis=2), knot.tension
    (t0, d0, _), (t1, d1, before), (t2, d2, after) = (marks[i] for i in sorted(marks))
    kinds: dict[str, int] = {}
    for event in scene.events:
        kinds[event.kind] = kinds.get(event.kind, 0) + 1
    diameter = 2.0 * knot.radius
    return Held(
        rate, slack, casson(rope.centerline(400)), closest_own(rope.centerline(1500), 5.0 * knot.radius) / diameter,
        nearest / diameter, after, after - before, float(np.abs(d2 - d1).max()) / (t2 - t1) / knot.radius,
        float(np.abs(d1 - d0).max()) / (t1 - t0) / knot.radius, float(np.mean(parts)), max(parts),
        float(np.median(newton)), 1e3 * float(np.median(spent)), 1e3 * float(np.mean(spent)), stood, kinds,
    )  # fmt: skip


# -------------------------------------------------------------------------------------------------------------- studies


def tight(progress: Progress, rates: tuple[float, ...] = RATES, slacks: tuple[float, ...] = (37.0, 30.0)) -> Sheet:
    """An overhand knot, pulled at 0.4 m/s to each slack in turn and held, at several rates."""
    sheet = Sheet(
        "An overhand knot of 110 control points (friction 0.3) pulled at 0.4 m/s to a slack, and held for 4 s",
        {
            "rate": "right", "slack": "right", "knot": "left", "closest / 2r": "right", "ever": "right", "T": "right",
            "change of T": "right", "creep": "right", "the second before": "right", "parts a step": "right",
            "Newton steps": "right", "ms a step": "right",
        },
    )  # fmt: skip
    sheet.data = found = []
    for rate in rates:
        knot = tie()
        for k, slack in enumerate(slacks):
            progress(f"{rate:g} Hz, {slack:g} r", k / len(slacks))
            held = pull(knot, slack, rate, hold=4.0, roll_held=True)
            sheet.add(
                f"{rate:g} Hz", f"{slack:g} r", "holds" if held.invariant == 1 else "lost", f"{held.closest:.4f}",
                f"{held.nearest:.4f}", f"{held.tension:.3f} N", f"{held.change:+.1e} N", f"{held.creep:.1e} r/s",
                f"{held.creep_before:.1e} r/s", f"{held.parts:.2f}, {held.most_parts} at most", f"{held.newton:.0f}",
                f"{held.milliseconds:.2f}, mean {held.mean_milliseconds:.2f}",
            )  # fmt: skip
            found.append(held.__dict__)
    sheet.notes.append("Creep: the largest change of a distance within the knot over 2 s (before: over 1 s).")
    return sheet


@dataclass(frozen=True)
class Loop:
    """A loose overhand knot at rest, without friction."""

    radius: float
    """Of the rod, m."""
    loop: float
    """Radius of curvature in the middle of the loop, m."""
    tension: float
    """Force on the end, N."""
    bend: float
    """EI, N m²."""
    slack: float
    """Length less the distance of the ends, m."""
    side: float
    """Force that keeps the knot from wandering, over the tension: 0 where spans are short."""

    @property
    def small(self) -> float:
        """√(r/R), which tends to 0 for loose knots."""
        return math.sqrt(self.radius / self.loop)

    @property
    def number(self) -> float:
        """T R²/EI, with R of the loop's own curvature."""
        return self.tension * self.loop**2 / self.bend

    @property
    def by_slack(self) -> float:
        """T (Δ/2π)²/EI, with the slack Δ as the loop's circumference."""
        return self.tension * (self.slack / (2.0 * math.pi)) ** 2 / self.bend


def loop(radius: float, slack: float, points: int, rate: float = 240.0, seconds: float = 2.0) -> Loop:
    """Draw a knot of a rod of `radius` (m) to a `slack` (m), and find where it rests."""
    knot = tie(points, radius, friction=0.0, tail=0.03, drag=20.0)
    scene, rope, start, goal = knot.scene, knot.rope, knot.span, knot.rope.length - slack
    steps = round(seconds * rate)
    for i in range(steps):
        part = min((i + 1) / (0.6 * steps), 1.0)
        knot.set_span(start + (goal - start) * part * part * (3.0 - 2.0 * part))
        scene.step(1.0 / rate)
    # Nothing but its discretisation keeps the knot from sliding along the rod, nor it from turning about its ends.
    middle = rope.at(0.5 * rope.length)
    out = middle.position - knot.middle
    across = np.cross(knot.way, out - (out @ knot.way) * knot.way)
    kept = [scene.add(sn.OnPlane(middle, normal, through=middle.position)) for normal in (knot.way, across)]
    scene.settle(friction=False)
    if casson(rope.centerline(400)) != 1:
        raise ArithmeticError(
            f"the knot of r = {radius:g} m with {points} control points was lost on the way to its rest"
        )
    bends = np.linalg.norm(rope.curvatures(2001)[:, :2], axis=1)
    bend = float(rope.material.youngs_modulus * math.pi / 4.0 * radius**4)
    side = max(float(np.linalg.norm(one.force)) for one in kept) / knot.tension
    return Loop(radius, 1.0 / float(np.median(bends[990:1011])), knot.tension, bend, slack, side)


def loose(progress: Progress, cases: tuple[tuple[float, float, int], ...] | None = None) -> Sheet:
    """T R²/EI of loose overhand knots without friction, ever looser: Audoly, Clauvelin and Neukirch have ½."""
    sheet = Sheet(
        "A loose overhand knot without friction",
        {
            "√(r/R)": "right", "spans": "right", "T R²/EI": "right", "T (Δ/2π)²/EI": "right",
            "held aside by, of T": "right",
        },
        data=[],
    )  # fmt: skip
    found = []
    asked = cases or LOOSE
    for k, (radius, slack, points) in enumerate(asked):
        progress(f"r = {1e3 * radius:g} mm", k / len(asked))
        knot = loop(radius, slack, points)
        found.append(knot)
        sheet.add(
            f"{knot.small:.3f}", f"{points - 3}", f"{knot.number:.4f}", f"{knot.by_slack:.4f}", f"{knot.side:.0e}"
        )
    small = np.array([knot.small for knot in found])
    if len(found) >= 3:
        limits = [np.polyfit(small, [getattr(knot, name) for knot in found], 2)[-1] for name in ("number", "by_slack")]
        sheet.aim("limit of T R²/EI by a parabola in √(r/R)", float(limits[0]), at_least=0.47, at_most=0.53)
        sheet.notes.append(f"Limits by parabolas: {limits[0]:.3f} and {limits[1]:.3f}; theory: 0.5.")
    sheet.data = [knot.__dict__ for knot in found]
    return sheet


LOOSE = (
    (4e-3, 0.42, 200), (3e-3, 0.42, 200), (2e-3, 0.42, 240), (1e-3, 0.42, 400), (7e-4, 0.42, 300),
)  # fmt: skip
"""Radius (m), slack (m) and control points of loose knots."""


def plies(progress: Progress, turns: tuple[float, ...] = (5.0, 7.0, 9.0)) -> Sheet:
    """A rod is twisted between its clamps: tension, torque and angle where it has wound up on itself."""
    sheet = Sheet(
        "A rod of 1 m, r = 3 mm, 20 % slack, twisted between its clamps (no friction), beside the ply of least energy",
        {
            "turns": "right", "contacts": "right", "T": "right", "torque": "right", "ply's torque": "right",
            "angle": "right", "ply's angle": "right", "closest / 2r": "right",
        },
    )  # fmt: skip
    wound = wind()
    now, nearest = 0.0, math.inf
    for goal in turns:
        progress(f"{goal:g} turns", now / turns[-1])
        for _ in range(round(240 * (goal - now) / 1.5)):
            now = min(now + 1.5 / 240.0, goal)
            wound.turn(now)
            wound.scene.step(1.0 / 240.0)
        for i in range(360):
            wound.scene.step(1.0 / 240.0)
            if i % 60 == 0:
                nearest = min(nearest, closest_own(wound.rod.centerline(1200), 5.0 * wound.radius))
        tension, torque = wound.load
        ply, angle = ply_of_tension(tension, wound.bend, wound.radius), wound.ply_angle()
        sheet.add(
            f"{goal:g}", f"{len(wound.scene.contacts)}", f"{tension:.3f} N", f"{1e3 * torque:.3f} mN·m",
            f"{1e3 * ply.torque:.3f} mN·m", f"{math.degrees(angle):.2f}°", f"{math.degrees(ply.angle):.2f}°",
            f"{nearest / (2.0 * wound.radius):.4f}",
        )  # fmt: skip
    return sheet


def main() -> None:
    """All three studies."""
    from rich.console import Console

    console = Console()
    for study in (tight, loose, plies):
        study(lambda text, done: console.print(f"{text}, {100.0 * done:.0f} %")).show(console)


if __name__ == "__main__":
    main()
