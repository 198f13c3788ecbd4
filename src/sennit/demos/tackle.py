"""Three tackles of four falls: without friction, and with friction that holds or is overcome.

A hauling weight m on the rope's free end lifts a load M that hangs in four falls. Without friction all falls pull
alike, so that a quarter of the load holds it, and m falls at (m − M/4) g/(m + M/16). Where the rope slips on
sheaves that do not turn, each sheave takes its share: the tension falls by ρ = exp(μ π) at every one, a pull of 1
lifts S = ρ⁻¹ + ρ⁻² + ρ⁻³ + ρ⁻⁴, and m falls at (m − M/S) g/(m + M/(4 S)).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos.hoisting import Fact, Hoist, Place, block, line_of, place_of, rope, wheel
from sennit.demos.stage import PAPER, Chart, Part, offered
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Tackle", "add_arguments", "assemble", "build", "main", "play"]

DESCRIPTION = (
    "Three block-and-tackles with four falls lift 300 kg: one without friction, by little more than a quarter of the "
    "load's weight; one with friction, which the same weight does not move; one with friction and a larger weight. "
    "Writes an animated picture (.gif, .mp4) or some of its frames (.png); colours show the rope's tension. Checks "
    "accelerations, tensions and efficiency against their closed forms."
)

GRAVITY = 9.81
FALLS = 4
LOAD = 300.0  # kg
FRICTION = 0.05
RATIO = math.exp(FRICTION * math.pi)
SHARE = sum(RATIO**-k for k in range(1, FALLS + 1))  # what a pull of 1 lifts against friction
LIGHT, HEAVY = LOAD / FALLS + 10.0, 1.1 * LOAD / SHARE  # kg: hauling weights
RADIUS, HIGH, LOW = 0.22, 4.6, 1.75  # m: of the sheaves; heights of the blocks
START = 4.0  # m: height of the hauling weights
STIFFNESS, DAMPING = 1e6, 2e4  # N/m, N·s/m: of each rope
HOLD = 0.5  # s: for how long the weights are held
APART = 2.9  # m: from tackle to tackle
GROUND = 0.4  # m: height of a hauling weight's fastening when it lies on the ground
STEADY = (HOLD + 0.5, 3.2)  # s: from when speeds are steady until the first weight is about to reach the ground


def falling(pull: float, share: float) -> float:
    """Acceleration of the hauling weight, downwards, m/s²: pull (g − a) = T, load (g + a/4) = share T."""
    return (pull - LOAD / share) * GRAVITY / (pull + LOAD / (FALLS * share))


@dataclass(frozen=True, slots=True)
class Tackle:
    """One of the three: what hauls, what is lifted, the upper block, the rope, its sheaves, what holds the weight."""

    weight: sn.RigidBody
    load: sn.RigidBody
    upper: sn.RigidBody
    cable: sn.Cable
    sheaves: list[sn.Sheave]
    hand: sn.Fix


def hang(scene: sn.Scene, x: float, pull: float, friction: float) -> Tackle:
    """A tackle whose four falls hang about `x` (m). Its upper block is fixed, its lower one runs on guides."""
    r = RADIUS
    options: dict[str, Any] = {"friction": friction, "fixed": True} if friction else {}
    upper = scene.add(sn.RigidBody.box((1.3, 0.2, 0.3), mass=20.0, position=(x, 0.0, HIGH)))
    load = scene.add(sn.RigidBody.box((1.2, 0.7, 0.7), mass=LOAD, position=(x, 0.0, LOW)))
    weight = scene.add(sn.RigidBody.sphere(0.1, mass=pull, position=(x - 4.0 * r, 0.0, START)))
    scene.add(sn.Lock(upper.at(), sn.World.at(sn.Pose((x, 0.0, HIGH)))))
    scene.add(sn.Prismatic(load.at(), sn.World.at(sn.Pose((x, 0.0, LOW))), (0.0, 0.0, 1.0)))
    scene.add(sn.OnPlane(weight.at(), (0.0, 0.0, 1.0), (x, 0.0, GROUND), bound="at_least"))
    sheaves = []
    for k in range(FALLS):  # up and over, down and under, from left to right
        body, sense = (load, -1.0) if k % 2 else (upper, 1.0)
        place = ((2 * k - 3) * r, 0.0, 0.0)
        sheaves.append(sn.Sheave(body.at(place), (0.0, sense, 0.0), r, **options))
    cable = sn.Cable(
        [weight.at(), *sheaves, upper.at((4.0 * r, 0.0, 0.0))],
        stretch_stiffness=STIFFNESS, damping=DAMPING, torsion=False,
    )  # fmt: skip
    return Tackle(weight, load, upper, scene.add(cable), sheaves, scene.add(sn.Fix(weight.at())))


def assemble() -> tuple[sn.Scene, list[Tackle]]:
    """The scene and its three tackles."""
    scene = sn.Scene(gravity=(0.0, 0.0, -GRAVITY))
    cases = ((LIGHT, 0.0), (LIGHT, FRICTION), (HEAVY, FRICTION))
    return scene, [hang(scene, (k - 1) * APART, pull, friction) for k, (pull, friction) in enumerate(cases)]


def build() -> sn.Scene:
    """The scene of the tackles."""
    return assemble()[0]


class Lift(Hoist):
    """The weights are held for a moment and let go."""

    headline = "Three tackles of four falls"
    title = "Three tackles of four falls lift 300 kg: 85 kg without friction, 85 kg and 120 kg with friction."
    charts = (
        Chart("85 kg, no friction", "cm", ".1f", (0, 114, 140)),
        Chart("85 kg, friction", "cm", ".1f", (110, 118, 128)),
        Chart("120 kg, friction", "cm", ".1f", (196, 78, 20)),
    )

    def __init__(self) -> None:
        self.scene, self.tackles = assemble()
        self.times: list[float] = []
        self.speeds: list[FloatArray] = []
        self.pulls: list[list[FloatArray]] = []
        self.begun = [tackle.load.position[2] for tackle in self.tackles]

    def plan(self, seconds: float) -> list[Part]:
        return [Part(seconds, 1e-2, slower=1.0)]

    def begin(self) -> None:
        # the weights are held while the loads come to rest in their ropes
        self.scene.drag = 20.0
        self.scene.run(1.0, dt=1e-2)
        self.scene.drag = 0.0
        self.start = self.scene.time
        self.begun = [tackle.load.position[2] for tackle in self.tackles]
        self.stand = [tackle.load.position[2] for tackle in self.tackles]

    @property
    def now(self) -> float:
        """Time since the beginning of the show, s."""
        return self.scene.time - self.start

    def before_step(self, dt: float) -> None:
        for tackle in self.tackles:
            tackle.hand.enabled = self.now + 0.5 * dt < HOLD

    def after_step(self, dt: float) -> None:
        self.times.append(self.now)
        self.speeds.append(np.array([(t.weight.velocity[2], t.load.velocity[2]) for t in self.tackles]))
        self.pulls.append([np.array(t.cable.tensions) for t in self.tackles])

    def sample(self) -> tuple[float, ...]:
        rise = [t.load.position[2] - z for t, z in zip(self.tackles, self.begun, strict=True)]
        return rise[0] * 100.0, max(rise[1], 0.0) * 100.0, rise[2] * 100.0

    def caption(self) -> str:
        return "held" if self.now < HOLD else "let go"

    def facts(self) -> list[Fact]:
        held = self.pulls[int(np.searchsorted(self.times, HOLD)) // 2][0]
        quarter = LOAD * GRAVITY / FALLS
        facts = [Fact("no friction, held: pull of a fall", float(held.mean()), quarter, 1e-3 * quarter, "N")]
        times = np.array(self.times)
        late = np.flatnonzero((times >= STEADY[0]) & (times <= STEADY[1]))
        if len(late) < 50:
            return facts
        speeds = np.array(self.speeds)
        span = times[late[-1]] - times[late[0]]
        change = (speeds[late[-1]] - speeds[late[0]]) / span
        pulls = [np.mean([self.pulls[k][i] for k in late], axis=0) for i in range(3)]
        free, rubbed = falling(LIGHT, FALLS), falling(HEAVY, SHARE)
        stayed = float(np.abs(speeds[late, 1]).max())
        lifted = pulls[2][1:].sum() / (FALLS * pulls[2][0])
        ratios = pulls[2][:-1] / pulls[2][1:]
        return [
            *facts,
            Fact("no friction: 85 kg fall at", -float(change[0, 0]), free, 2e-3 * free, "m/s²"),
            Fact("no friction: the load rises at", float(change[0, 1]), free / FALLS, 2e-3 * free, "m/s²"),
            Fact("friction: 85 kg move at", stayed, 0.0, 1e-3, "m/s"),
            Fact("friction: 120 kg fall at", -float(change[2, 0]), rubbed, 5e-3 * rubbed, "m/s²"),
            Fact("friction: a sheave divides the pull by", float(ratios.mean()), RATIO, 2e-3, ""),
            Fact("friction: efficiency", float(lifted), SHARE / FALLS, 2e-3, ""),
        ]

    def legend(self) -> str:
        return "tension, 0 to 1.2 kN"

    # ---------------------------------------------------------------------------------------------------- on a page

    step = 5e-3
    camera = ((2.0, -10.4, 4.0), (0.0, 0.0, 2.6))
    ground = 0.0

    def furnish(self) -> None:
        self.added = [self.scene.add(sn.Load(tackle.weight.at(), force=(0.0, 0.0, 0.0))) for tackle in self.tackles]
        self.piloted()
        self.hauling = 1.5  # m/s
        self.scene.control("let go", self.by_hand(self.let_go))
        self.scene.control("haul up", self.by_hand(self.haul_up))
        self.scene.control("hauling speed", self.haul_at, self.hauling, range=(0.2, 3.0), unit="m/s")
        self.scene.control("added to each weight", self.add, 0.0, range=(0.0, 60.0), unit="kg")
        for name, tackle in zip(("85 kg", "85 kg, friction", "120 kg, friction"), self.tackles, strict=True):
            self.scene.watch(f"hauling rope: {name}", functools.partial(hauled, tackle), unit="N")
        self.decorate(gallows(), name="frame")
        self.dress()

    def dress(self) -> None:
        """Show blocks, loads and weights as they are."""
        from sennit.export.facets import Facets
        from sennit.export.solids import ball, bar

        own, steel = (np.zeros(3), np.eye(3)), (104, 116, 132)
        for k, tackle in enumerate(self.tackles):
            top = bar((0.0, 0.12, 0.1), (0.0, 0.12, 0.3), 0.06, steel)
            cheek = block(own, (0.96, 0.03, 0.1), steel, (0.0, 0.12, 0.04))
            self.decorate(Facets.joined((cheek, top)), instead_of=tackle.upper, name=f"upper block {k + 1}")
            self.decorate(cargo(own), instead_of=tackle.load, name=f"load {k + 1}")
            size = 0.22 * ((LIGHT if k < 2 else HEAVY) / LIGHT) ** (1.0 / 3.0)
            lead = ball((0.0, 0.0, -size), size, (70, 78, 92), sides=24)
            self.decorate(lead, instead_of=tackle.weight, name=f"weight {k + 1}")

    def add(self, mass: float) -> None:
        """Pull each weight down as `mass` (kg) would."""
        for load in self.added:
            load.force = (0.0, 0.0, -mass * GRAVITY)

    def haul_at(self, speed: float) -> None:
        """Let the hands haul the weights up at `speed` (m/s)."""
        self.hauling = speed

    def let_go(self) -> None:
        """Let the weights fall."""
        self.phase, self.since = "free", 0.0

    def haul_up(self) -> None:
        """Take hold of the weights where they are and haul them up."""
        self.phase, self.since = "hauled", 0.0
        for tackle in self.tackles:
            tackle.hand.target = tackle.weight.position
            tackle.hand.enabled = True

    def restart(self) -> None:
        self.phase, self.since = "hauled", 0.0

    def act(self, dt: float) -> None:
        self.since += dt
        home = True
        for tackle in self.tackles:
            tackle.hand.enabled = self.phase == "hauled"
            if self.phase == "hauled":
                place = tackle.hand.target
                rest = START - place[2]
                home = home and abs(rest) < 1e-9
                place[2] += min(max(rest, -self.hauling * dt), self.hauling * dt)
                tackle.hand.target = place
        if self.phase == "hauled" and not home:
            self.since = 0.0
        if self.automatic and self.since > (1.5 if self.phase == "hauled" else 6.0):
            if self.phase == "hauled":
                self.let_go()
            else:
                self.haul_up()

    # ------------------------------------------------------------------------------------------------------ pictures

    def look(self) -> Any:
        return [
            (
                place_of(t.weight),
                place_of(t.load),
                line_of(t.cable),
                [(s.point.position, -1.0 if k % 2 else 1.0, s.angle) for k, s in enumerate(t.sheaves)],
            )
            for t in self.tackles
        ]

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        camera = Camera(
            (1.5, -22.0, 5.0), (0.0, 0.0, 2.6), size=size, width=max(10.2, 6.0 * size[0] / height),
            centre=(0.5, 0.5 * height / size[1]),
        )  # fmt: skip
        ground = floor(camera, (-90.0, -8.0), (90.0, 60.0))
        stage = Stage(camera, PAPER, ground)
        stage.polygon(ground, (222, 224, 220))
        stage.facets(gallows())
        return stage

    def paint(self, look: Any) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import ball, bar

        parts = []
        for k, (weight, load, line, sheaves) in enumerate(look):
            x = (k - 1) * APART
            top = (np.array((x, 0.0, HIGH)), np.eye(3))
            parts.append(block(top, (0.96, 0.03, 0.1), (104, 116, 132), (0.0, 0.12, 0.04)))
            parts.append(bar((x, 0.12, HIGH + 0.1), (x, 0.12, HIGH + 0.3), 0.06, (104, 116, 132)))
            parts.append(cargo(load))
            for centre, sense, angle in sheaves:
                axis = (0.0, sense, 0.0)
                colour = (120, 136, 156) if k == 0 else (196, 112, 84)
                parts.append(wheel(centre, axis, RADIUS - 0.025, angle, 0.1, colour))
            parts.append(rope(line, 0.032, 1200.0))
            size = 0.22 * ((LIGHT if k < 2 else HEAVY) / LIGHT) ** (1.0 / 3.0)
            parts.append(ball(weight[0] - np.array((0.0, 0.0, size)), size, (70, 78, 92), gloss=0.6))
        return Facets.joined(parts)


def hauled(tackle: Tackle) -> float:
    """Tension of the rope where the weight hangs, N."""
    return float(tackle.cable.tensions[0])


def cargo(place: Place) -> Facets:
    """The lower block and the load that hangs from it."""
    from sennit.export.facets import Facets
    from sennit.export.solids import bar

    steel = (104, 116, 132)
    cheek = block(place, (0.62, 0.03, 0.1), steel, (0.0, 0.12, -0.04))
    stem = bar(place[0] + np.array((0.0, 0.12, -0.1)), place[0] + np.array((0.0, 0.12, -0.4)), 0.05, steel)
    return Facets.joined((cheek, stem, block(place, (0.5, 0.35, 0.38), (186, 142, 92), (0.0, 0.1, -0.76))))


def gallows() -> Facets:
    """The frame that the tackles hang in, and the guides of the loads."""
    from sennit.export.facets import Facets
    from sennit.export.solids import bar

    wide = APART + 1.55
    left, right = [(side * (wide + 0.2), 0.0, HIGH + 0.35) for side in (-1.0, 1.0)]
    parts = [bar(left, right, 0.1, (138, 104, 74), sides=10, pieces=9)]
    for x in (-wide, wide):
        parts.append(bar((x, 0.0, 0.0), (x, 0.0, HIGH + 0.3), 0.07, (122, 92, 66), sides=10, pieces=8))
    for k in range(3):
        for side in (-0.55, 0.55):
            x = (k - 1) * APART + side
            parts.append(bar((x, 0.3, 0.0), (x, 0.3, HIGH + 0.2), 0.025, (176, 182, 190), pieces=6))
    return Facets.joined(parts)


add_arguments, main, play = offered(Lift, seconds=3.2)
