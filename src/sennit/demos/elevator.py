"""An elevator: a car and its counterweight on guides, and a rope that only friction holds to the driven sheave.

The rope sticks while one tension is less than ρ = exp(μ θ) times the other, θ = π the angle of wrap. The drive takes
the car up and down; then, on the way up, the sheave is stopped dead: the rope slips through its groove, the tension on
the counterweight's side is ρ times that on the car's, m_w (g + d) = ρ m_c (g − d), and so the car slows down at
d = g (ρ m_c − m_w)/(ρ m_c + m_w), until the rope sticks again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos.hoisting import (
    Fact,
    Hoist,
    Place,
    between,
    block,
    eased,
    line_of,
    person,
    place_of,
    ramped,
    rope,
    towards,
    wheel,
)  # fmt: skip
from sennit.demos.stage import PAPER, Chart, Part, offered

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Elevator", "add_arguments", "assemble", "build", "main", "play"]

DESCRIPTION = (
    "An elevator with its counterweight goes up and down by the friction of its rope on the driven sheave; then the "
    "sheave is stopped dead on the way up, and the rope slips. Writes an animated picture (.gif, .mp4) or some of its "
    "frames (.png); colours show tension. Checks the car's speed, the tensions' ratio against exp(mu theta), and how "
    "the car comes to rest against closed forms."
)

GRAVITY = 9.81
CAR, COUNTER = 1500.0, 1250.0  # kg
FRICTION = 0.15
RATIO = math.exp(FRICTION * math.pi)
RADIUS, HIGH = 0.95, 11.4  # m: of the sheave, its height
LOW, TOP = 1.9, 8.6  # m: where car and counterweight hang when the car is at the bottom
HALF, SLAB = (0.75, 0.7, 1.15), (0.35, 0.5, 0.9)  # m: half sides of car and counterweight
STEEL = sn.Material(youngs_modulus=1e11, poisson_ratio=0.3, density=7850, relaxation_time=1e-2)
ROPES = sn.Section.circle(radius=1e-2)  # as thick as several together
STEP = 1.0 / 120.0  # s
SPEED, RAMP = 2.0, 2.0  # m/s and s: of the car, and how long it takes to reach that
UP, DOWN, AGAIN, STOP = (0.5, 5.5), (6.5, 11.5), 12.5, 15.3  # s: of the ways; of the emergency stop
SECONDS = 18.0
SLOWING = GRAVITY * (RATIO * CAR - COUNTER) / (RATIO * CAR + COUNTER)  # m/s²: of the car when the rope slips


@dataclass(frozen=True, slots=True)
class Elevator:
    """The scene with its bodies, the drive, the rope and what it runs on."""

    scene: sn.Scene
    car: sn.RigidBody
    counterweight: sn.RigidBody
    drum: sn.RigidBody
    drive: sn.Hinge
    cable: sn.Cable
    sheave: sn.Sheave


def assemble() -> Elevator:
    """The elevator with the car at the bottom."""
    scene = sn.Scene(gravity=(0.0, 0.0, -GRAVITY))
    axis = (0.0, 1.0, 0.0)
    along = sn.Pose.along((0.0, 0.0, HIGH), axis)
    drum = scene.add(sn.RigidBody.cylinder(RADIUS, 0.3, mass=400.0, pose=along))
    drive = scene.add(sn.Hinge(drum.at(), sn.World.at(along), axis, motor=sn.Motor(0.0)))
    riders = []
    for x, z, half, mass in ((-RADIUS, LOW, HALF, CAR), (RADIUS, TOP, SLAB, COUNTER)):
        rider = scene.add(sn.RigidBody.box(2.0 * np.array(half), mass=mass, position=(x, 0.0, z)))
        scene.add(sn.Prismatic(rider.at(), sn.World.at(sn.Pose((x, 0.0, z))), (0.0, 0.0, 1.0)))
        riders.append(rider)
    car, counterweight = riders
    sheave = sn.Sheave(drum.at(), axis, RADIUS, friction=FRICTION, fixed=True)
    ends = car.at((0.0, 0.0, HALF[2])), counterweight.at((0.0, 0.0, SLAB[2]))
    cable = scene.add(sn.Cable([ends[0], sheave, ends[1]], ROPES, STEEL, torsion=False))
    return Elevator(scene, car, counterweight, drum, drive, cable, sheave)


def build() -> sn.Scene:
    """The scene of the elevator."""
    return assemble().scene


class Ride(Hoist):
    """Up, down, up again, and the emergency stop."""

    headline = "An elevator and its counterweight"
    title = "An elevator of 1.5 t with a counterweight of 1.25 t; its sheave is stopped dead at last."
    charts = (
        Chart("speed of the car", "m/s", ".2f", (0, 114, 140)),
        Chart("larger tension over smaller", "", ".2f", (196, 78, 20)),
        Chart("rope slipped", "m", ".2f", (84, 110, 60)),
    )

    def __init__(self) -> None:
        self.elevator = assemble()
        self.scene = self.elevator.scene
        self.start = 0.0
        self.log: list[tuple[float, ...]] = []
        """Of each step: time, speed of the car, tensions above car and counterweight, slip."""

    def plan(self, seconds: float) -> list[Part]:
        return [Part(seconds, STEP, slower=1.0 / 3.0)]

    def begin(self) -> None:
        self.scene.drag = 10.0  # the two come to rest in their ropes
        self.scene.run(2.0, dt=STEP)
        self.scene.drag = 0.0
        self.start, self.home = self.scene.time, self.travelled()

    def travelled(self) -> tuple[float, float]:
        """How far car and counterweight have come, half of each: m; how far the rim has, m."""
        e = self.elevator
        return 0.5 * (e.car.position[2] - e.counterweight.position[2]), RADIUS * e.drive.angle

    @property
    def now(self) -> float:
        """Time since the beginning of the show, s."""
        return self.scene.time - self.start

    @property
    def slipped(self) -> float:
        """How far the rope has run over the sheave, m."""
        went, turned = (now - home for now, home in zip(self.travelled(), self.home, strict=True))
        return went - turned

    def before_step(self, dt: float) -> None:
        t = self.now + dt
        part = ramped(t, *UP, RAMP) - ramped(t, *DOWN, RAMP)
        if t < STOP + 0.5 * dt:
            part += ramped(t, AGAIN, math.inf, RAMP)
        self.elevator.drive.motor_speed = SPEED / RADIUS * part

    def after_step(self, dt: float) -> None:
        e = self.elevator
        one, two = e.cable.tensions
        self.log.append((self.now, e.car.velocity[2], one, two, self.slipped))

    def ratio(self) -> float:
        """The larger tension over the smaller."""
        one, two = self.elevator.cable.tensions
        return float(max(one, two) / max(min(one, two), 1e-300))

    def sample(self) -> tuple[float, ...]:
        return abs(self.elevator.car.velocity[2]), self.ratio(), max(self.slipped, 0.0)

    def caption(self) -> str:
        t = self.now
        if t >= STOP:
            return "stopped dead: " + ("slips" if abs(self.log[-1][1]) > 0.02 else "holds")
        if UP[0] <= t < UP[1] or t >= AGAIN:
            return "up"
        return "down" if DOWN[0] <= t < DOWN[1] else "waits"

    def facts(self) -> list[Fact]:
        t, speed, one, two, slip = np.array(self.log).T
        ratio = np.maximum(one, two) / np.maximum(np.minimum(one, two), 1e-300)

        def within(start: float, stop: float) -> slice:
            return slice(int(np.searchsorted(t, start)), int(np.searchsorted(t, stop)))

        a = SPEED / RAMP
        driven = within(0.0, STOP - 0.05)
        facts = [
            Fact("largest ratio while the rope must hold", float(ratio[driven].max()), RATIO, 0.0, below=True),
            Fact("rope slipped until then", float(np.abs(slip[driven]).max()), 5e-3, 0.0, "m", below=True),
        ]
        if t[-1] > UP[0] + RAMP:
            rising = within(UP[0] + 0.5 * RAMP, UP[0] + RAMP - 0.1)
            due = CAR * (GRAVITY + a) / (COUNTER * (GRAVITY - a))
            facts.append(Fact("tensions' ratio as it speeds up", float(ratio[rising].mean()), due, 0.01))
        for way, (start, stop), sign in (("upwards", UP, 1.0), ("downwards", DOWN, -1.0)):
            if t[-1] > stop - RAMP:
                mean = sign * float(speed[within(start + RAMP + 0.3, stop - RAMP)].mean())
                facts.append(Fact(f"car's speed {way}", mean, SPEED, 2e-3 * SPEED, "m/s"))
        if t[-1] > STOP + 2.0 - STEP:
            braking = within(STOP + 0.1, STOP + 0.8 * SPEED / SLOWING)
            slowing = (speed[braking][0] - speed[braking][-1]) / (t[braking][-1] - t[braking][0])
            went = SPEED**2 / (2.0 * SLOWING)
            rest = within(STOP + SPEED / SLOWING + 0.7, math.inf)
            facts += [
                Fact("stopped: ratio while it slips", float(ratio[braking].mean()), RATIO, 1e-3 * RATIO),
                Fact("stopped: the car slows down at", float(slowing), SLOWING, 0.01 * SLOWING, "m/s²"),
                Fact("stopped: the rope slips by", float(slip[-1]), went, 0.03 * went, "m"),
                Fact("then it holds: speed of the rope", float(np.abs(speed[rest]).max()), 0.0, 5e-3, "m/s"),
            ]
        return facts

    def legend(self) -> str:
        return "tension, 8 to 20 kN"

    # ---------------------------------------------------------------------------------------------------- on a page

    step = STEP
    camera = ((8.0, -22.0, 9.0), (-1.4, 0.0, 5.6))
    ground = 0.0

    def furnish(self) -> None:
        self.piloted("calls from the floors")
        self.scene.control("speed of the car, up", self.by_hand(self.ask), 0.0, range=(-2.5, 2.5), unit="m/s")
        self.scene.control("stop dead", self.stop)
        self.scene.watch("speed of the car", lambda: float(self.elevator.car.velocity[2]), unit="m/s")
        self.scene.watch("larger tension over smaller", lambda: min(self.ratio(), 10.0))
        self.scene.watch("rope slipped", lambda: self.slipped, unit="m")
        self.decorate(house(), name="house")
        own = (np.zeros(3), np.eye(3))
        self.decorate(cabin(own), instead_of=self.elevator.car, name="car")
        self.decorate(slabs(own), instead_of=self.elevator.counterweight, name="counterweight")

    def ask(self, speed: float) -> None:
        """Let the rim of the sheave run at `speed` (m/s)."""
        self.asked = speed

    def stop(self) -> None:
        """Stop the sheave dead, for some seconds."""
        self.speed, self.halted = 0.0, 3.0

    def restart(self) -> None:
        self.asked = self.speed = self.halted = self.rest = 0.0
        self.floor = 2

    def act(self, dt: float) -> None:
        height = float(self.elevator.car.position[2])
        self.halted = max(self.halted - dt, 0.0)
        if self.automatic:
            way = LOW + 3.0 * self.floor - height
            self.asked = towards(way, SPEED, 0.8 * SPEED / RAMP)
            self.rest = self.rest + dt if abs(way) < 0.05 else 0.0
            if self.rest > 1.5:
                self.floor, self.rest = (0, 2, 1)[self.floor], 0.0
        wanted = between(self.asked, height - LOW + 0.05, TOP - 0.4 - height, 0.8 * SPEED / RAMP)
        self.speed = 0.0 if self.halted else eased(self.speed, wanted, SPEED / RAMP * dt)
        self.elevator.drive.motor_speed = self.speed / RADIUS

    # ------------------------------------------------------------------------------------------------------ pictures

    def look(self) -> Any:
        e = self.elevator
        return place_of(e.car), place_of(e.counterweight), e.drive.angle, line_of(e.cable)

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        camera = Camera(
            (7.0, -34.0, 8.0), (-1.6, 0.0, 5.75), size=size, width=14.3 * size[0] / height,
            centre=(0.5, 0.5 * height / size[1]),
        )  # fmt: skip
        ground = floor(camera, (-200.0, -20.0), (200.0, 200.0))
        stage = Stage(camera, PAPER, ground)
        stage.polygon(ground, (222, 224, 220))
        for left, right, y, top, tone in (
            (-7.7, -2.1, 1.9, HIGH - 0.9, (238, 229, 211)),
            (-2.1, 1.9, 1.3, HIGH, (219, 223, 228)),
        ):
            corners = ((left, y, 0.0), (right, y, 0.0), (right, y, top), (left, y, top))
            stage.polygon(np.array(corners), tone)
        stage.facets(house())
        return stage

    def paint(self, look: Any) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import bar

        car, counterweight, angle, line = look
        middle = np.array((0.0, 0.0, HIGH))
        parts = [
            bar(middle - np.array((0.0, 0.25, 0.0)), middle + np.array((0.0, 1.0, 0.0)), 0.12, (70, 76, 86), sides=10),
            wheel(middle, (0.0, 1.0, 0.0), RADIUS - 0.07, angle, 0.3, (120, 142, 168)),
            rope((line[0], line[1] - 8e3), 0.075, 12e3),
            cabin(car),
            slabs(counterweight),
        ]
        return Facets.joined(parts)


def cabin(place: Place) -> Facets:
    """The car, open to the front, with two people."""
    from sennit.export.facets import Facets

    blue = (92, 130, 172)
    parts = [block(place, (HALF[0], 0.04, HALF[2]), (206, 212, 216), (0.0, HALF[1], 0.0))]
    parts += [block(place, (HALF[0], HALF[1], 0.06), blue, (0.0, 0.0, z)) for z in (-HALF[2], HALF[2])]
    parts += [block(place, (0.04, HALF[1], HALF[2]), blue, (x, 0.0, 0.0)) for x in (-HALF[0], HALF[0])]
    for x, tone, tall in ((-0.28, (180, 76, 60), 1.0), (0.25, (84, 120, 76), 0.92)):
        parts.append(person(place[0] + np.array((x, 0.1, 0.06 - HALF[2])), tone, tall))
    return Facets.joined(parts)


def slabs(place: Place) -> Facets:
    """The counterweight."""
    from sennit.export.facets import Facets

    heights = [SLAB[2] * (2 * k - 4) / 5.0 for k in range(5)]
    return Facets.joined([block(place, (SLAB[0], SLAB[1], 0.16), (112, 116, 126), (0.0, 0.0, z)) for z in heights])


def house() -> Facets:
    """Floors beside the shaft with someone waiting, the roof, the rails, and the beam that carries the sheave."""
    from sennit.export.facets import Facets
    from sennit.export.solids import bar

    parts = []
    for k in range(4):
        slab = (np.array((-4.9, 0.6, LOW - HALF[2] + 3.0 * k - 0.05)), np.eye(3))
        parts.append(block(slab, (2.8, 1.3, 0.11), (186, 158, 128)))
        if k in (0, 2):
            parts.append(person(slab[0] + np.array((1.2 - 0.5 * k, -0.2, 0.1)), (64, 100, 160)))
    for x in (-RADIUS - HALF[0], -RADIUS + HALF[0], RADIUS - SLAB[0], RADIUS + SLAB[0]):
        parts.append(bar((x, 0.6, 0.0), (x, 0.6, HIGH), 0.03, (150, 156, 164), pieces=8))
    beam = (np.array((0.0, 0.9, HIGH - 0.1)), np.eye(3))
    parts.append(block(beam, (2.3, 0.5, 0.16), (122, 126, 132)))
    return Facets.joined(parts)


add_arguments, main, play = offered(Ride, seconds=SECONDS)
