"""A windlass: a rope is wound round a turning drum and hauls a load by friction alone, while a hand holds its tail.

The drum is a rigid body on a hinge with a motor. While the drum turns under a rope that the hand does not let go, the
rope slips, and the hand holds the load by a small part of its weight: T / W = e^{−μθR/(R + r)} for an angle θ of rope
on the drum (R the drum's radius, r the rope's: friction acts on the rope's surface, at an arm of r; W with the weight
of the rope that hangs). When the hand hauls in at the drum's speed, the rope goes with the drum and the load rises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos.hoisting import Fact, Hoist, eased, ramped
from sennit.demos.stage import Chart, Part, offered
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Windlass", "add_arguments", "assemble", "build", "main", "play"]

DESCRIPTION = (
    "A rope wound round a turning drum hauls a load by friction alone, while a hand holds its tail. The rope slips "
    "under a hand that does not move, goes with the drum when it hauls in, and slips again. Writes an animated picture "
    "(.gif, .mp4) or some of its frames (.png). Checks the hand's force against the load over e^(mu theta), the "
    "motor's torque against both pulls, and the load's speed against the drum's."
)

GRAVITY = 9.81
DRUM, ROPE = 0.08, 5e-3  # m: radii
WIDE = 0.30  # m: length of the drum
TURNS, PITCH = 1.75, 0.02  # of rope on the drum; m along it each turn
HANGS, TAIL = 0.6, 0.45  # m of rope below the drum and to the hand
MASS = 12.0  # kg
FRICTION = 0.25
AXLE = 1.0  # m: height of the drum's axis
FIBRE = sn.Material(
    youngs_modulus=1e8, poisson_ratio=0.4, density=700.0, relaxation_time=0.01, look="laid", colour=(206, 160, 92)
)
_ROUND = sn.Section.circle(radius=ROPE)
# of a laid rope, whose strands slide: as stiff along as a solid one, a thirtieth of it in bending
LAID = sn.Section.custom(
    area=_ROUND.area, I1=_ROUND.I1 / 30, I2=_ROUND.I2 / 30, J=_ROUND.J / 30, shear1=0.9, shear2=0.9
)
POINTS = 84
STEP = 1.0 / 240.0  # s
SPEED = 0.15  # m/s of the drum's surface
# begin and end, s, of the drum's turning, and of the hand's hauling in
TURN, HAUL = (0.3, 5.0), (1.9, 3.9)
RAMP = 0.3  # s
HELD, CARRIED = (1.2, 1.8), (2.6, 3.5)  # s: when it is measured
SECONDS = 4.5


@dataclass(frozen=True, slots=True)
class Windlass:
    """The scene with its bodies, and what drives it."""

    scene: sn.Scene
    drum: sn.RigidBody
    rope: sn.Rod
    load: sn.RigidBody
    hinge: sn.Hinge
    hand: sn.Fix
    floor: sn.Obstacle
    grip: Any
    """The pair of rope and drum."""


def course() -> FloatArray:
    """Points along the rope, (n, 3), m: from the load up, round the drum, and level to the hand."""
    reach = DRUM + ROPE
    angles = np.linspace(0.0, 2.0 * math.pi * TURNS, 200)
    # it comes up at +x and goes round over the top; TURNS ends it at the bottom, going towards +x
    along = PITCH * (angles / (2.0 * math.pi) - 0.5 * TURNS)
    arc = np.column_stack((reach * np.cos(angles), along, AXLE + reach * np.sin(angles)))
    way = np.array((-math.sin(angles[-1]), 0.0, math.cos(angles[-1])))
    below = arc[0] - np.outer(np.linspace(HANGS, 0.0, 40)[:-1], (0.0, 0.0, 1.0))
    beyond = arc[-1] + np.outer(np.linspace(0.0, TAIL, 30)[1:], way)
    return np.vstack((below, arc, beyond))


def assemble() -> Windlass:
    """The windlass, its load off the floor."""
    scene = sn.Scene(gravity=(0.0, 0.0, -GRAVITY), drag=0.3)
    line = course()
    sideways = sn.Pose((0.0, 0.0, AXLE), (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0))  # its axis along y
    drum = scene.add(sn.RigidBody.cylinder(DRUM, WIDE, mass=20.0, pose=sideways, name="drum"))
    rope = scene.add(
        sn.Rod.through(line, section=LAID, material=FIBRE, control_points=POINTS, straight=True, name="rope")
    )
    low = line[0] - (0.0, 0.0, 0.08)
    load = scene.add(sn.RigidBody.cylinder(0.07, 0.16, mass=MASS, position=low, name="load"))
    scene.add(sn.Ball(load.at((0.0, 0.0, 0.08)), rope.at(0.0)))
    axle = sn.World.at(sn.Pose((0.0, 0.0, AXLE)))
    hinge = scene.add(sn.Hinge(drum.at(), axle, (0.0, -1.0, 0.0), motor=sn.Motor(0.0)))
    hand = scene.add(sn.Fix(rope.at(rope.length), name="hand"))
    floor = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    scene.contacts.friction = FRICTION
    grip = scene.collide(rope, drum, friction=FRICTION)
    scene.collide(load, floor, friction=0.5)
    scene.collide(rope, floor, friction=0.5)
    return Windlass(scene, drum, rope, load, hinge, hand, floor, grip)


def build() -> sn.Scene:
    """The scene of the windlass."""
    return assemble().scene


class Hauling(Hoist):
    """The drum turns; the hand holds, hauls in, and holds."""

    headline = "A windlass"
    title = "A windlass hauls 12 kg by friction: a hand holds the tail of the rope, hauls in, and holds again."
    charts = (
        Chart("hand", "N", ".1f", (196, 78, 20)),
        Chart("load's height", "m", ".2f", (0, 114, 140)),
        Chart("motor", "Nm", ".1f", (84, 110, 60)),
    )

    def __init__(self) -> None:
        self.parts = assemble()
        self.scene = self.parts.scene
        self.hauled = 0.0  # m, by the hand
        self.times: list[float] = []
        self.log: list[tuple[float, ...]] = []
        """Of each step: hand's force, load's height and speed, motor's torque, angle of rope on the drum."""

    def plan(self, seconds: float) -> list[Part]:
        return [Part(seconds, STEP, slower=0.5)]

    def begin(self) -> None:
        self.start = np.array(self.parts.rope.at(self.parts.rope.length).position)
        rope = self.parts.rope
        self.parts.hand.target = self.start
        self.wire = FIBRE.density * LAID.area * GRAVITY  # N/m
        self.length = rope.length

    def haul(self, speed: float, dt: float) -> None:
        """Move the hand by a step at `speed` (m/s) away from the drum."""
        self.hauled += speed * dt
        self.parts.hand.target = self.start + np.array((self.hauled, 0.0, 0.0))

    def before_step(self, dt: float) -> None:
        t = self.scene.time + dt
        self.parts.hinge.motor_speed = SPEED / (DRUM + ROPE) * ramped(t, *TURN, RAMP)
        self.haul(SPEED * ramped(t, *HAUL, RAMP), dt)

    def pull(self) -> float:
        """Of the hand, N."""
        return float(np.linalg.norm(self.parts.hand.force))

    def angle(self) -> float:
        """Of rope on the drum, rad: from where it meets the drum to where it leaves it."""
        line = self.parts.rope.centerline(600)
        off = np.hypot(line[:, 0], line[:, 2] - AXLE) - DRUM - ROPE
        on = np.flatnonzero(off < 0.05 * ROPE)
        turn = np.unwrap(np.arctan2(line[:, 2] - AXLE, line[:, 0]))
        return float(turn[on[-1]] - turn[on[0]]) if len(on) else 0.0

    def hanging(self) -> float:
        """Weight of load and rope below the drum's axis on its side, N."""
        return MASS * GRAVITY + self.wire * max(AXLE - float(self.parts.load.position[2]) - 0.08, 0.0)

    def after_step(self, dt: float) -> None:
        parts = self.parts
        self.times.append(self.scene.time)
        load = parts.load
        self.log.append((
            self.pull(), load.position[2], load.velocity[2], parts.hinge.motor_effort, self.angle(), self.hanging(),
        ))  # fmt: skip

    def sample(self) -> tuple[float, ...]:
        return self.pull(), float(self.parts.load.position[2]), self.parts.hinge.motor_effort

    def caption(self) -> str:
        t = self.scene.time
        if t < TURN[0]:
            return "at rest"
        if HAUL[0] <= t < HAUL[1]:
            return "the hand hauls in: the rope goes with the drum"
        return "the hand holds: the rope slips"

    def facts(self) -> list[Fact]:
        t, (pull, _, speed, torque, angle, weight) = np.array(self.times), np.array(self.log).T
        facts = [Fact("overlap of rope and drum, over the rope's radius", self.depth(), 0.2, 0.0, "", below=True)]
        if t[-1] >= HELD[1]:
            now = (t > HELD[0]) & (t < HELD[1])
            theta = float(angle[now].mean()) * DRUM / (DRUM + ROPE)
            due = float(weight[now].mean()) * math.exp(-FRICTION * theta)
            found = float(pull[now].mean())
            exponent = math.log(weight[now].mean() / found)
            drawn = float(torque[now].mean() / ((weight[now] - pull[now]).mean() * (DRUM + ROPE)))
            facts += [
                Fact("hand while the rope slips", found, due, 0.05 * due, "N"),
                Fact("exponent of friction, ln(W/T)", exponent, FRICTION * theta, 0.02 * FRICTION * theta),
                Fact("load's speed then", float(speed[now].mean()), 0.0, 2e-3, "m/s"),
                Fact("motor over (W − T)(R + r)", drawn, 1.0, 0.05),
            ]
        if t[-1] >= CARRIED[1]:
            now = (t > CARRIED[0]) & (t < CARRIED[1])
            facts.append(Fact("load's speed over the drum's, hauled", float(speed[now].mean()) / SPEED, 1.0, 0.01))
        return facts

    def depth(self) -> float:
        """How deep the rope's middle line is in the drum beyond what its radius allows, over that radius."""
        line = self.parts.rope.centerline(600)
        inside = np.abs(line[:, 1]) < 0.5 * WIDE
        off = DRUM + ROPE - np.hypot(line[inside, 0], line[inside, 2] - AXLE)
        return float(max(off.max(), 0.0)) / ROPE

    def legend(self) -> str:
        return "tension, 0 to 120 N"

    # ---------------------------------------------------------------------------------------------------- on a page

    step = STEP
    camera = ((1.05, -1.79, 1.2), (0.15, 0.0, 0.62))
    ground = 0.0

    def furnish(self) -> None:
        self.piloted("by itself")
        self.scene.control("drum", self.by_hand(self.turn), 0.0, range=(-0.3, 0.3), unit="m/s")
        self.scene.control("hand hauls in", self.by_hand(self.pull_in), 0.0, range=(-0.3, 0.3), unit="m/s")
        self.scene.control("friction", self.rub, FRICTION, range=(0.0, 0.6))
        self.scene.watch("hand", self.pull, unit="N")
        self.scene.watch("load's height", lambda: float(self.parts.load.position[2]), unit="m")
        self.scene.watch("motor", lambda: self.parts.hinge.motor_effort, unit="Nm")
        self.decorate(frame(), name="stand")

    def turn(self, speed: float) -> None:
        """Let the drum's surface move at `speed` (m/s)."""
        self.asked[0] = speed

    def pull_in(self, speed: float) -> None:
        """Let the hand haul in at `speed` (m/s)."""
        self.asked[1] = speed

    def rub(self, friction: float) -> None:
        """Friction of rope and drum."""
        self.parts.grip.friction = friction

    def restart(self) -> None:
        self.hauled, self.paces, self.asked = 0.0, [0.0, 0.0], [0.0, 0.0]
        self.zero = float(self.scene.time)

    def act(self, dt: float) -> None:
        if self.automatic:
            # haul in, let slip, pay out, let slip
            part = math.fmod(self.scene.time - self.zero, 12.0)
            self.asked = [SPEED, SPEED if 2.0 <= part < 4.0 else -SPEED if 7.0 <= part < 9.0 else 0.0]
        room = (self.hauled + 0.02, 0.4 - self.hauled)
        wanted = (self.asked[0], min(max(self.asked[1], -4.0 * max(room[0], 0.0)), 4.0 * max(room[1], 0.0)))
        self.paces = [eased(pace, ask, 0.5 * dt) for pace, ask in zip(self.paces, wanted, strict=True)]
        self.parts.hinge.motor_speed = self.paces[0] / (DRUM + ROPE)
        self.haul(self.paces[1], dt)

    # ------------------------------------------------------------------------------------------------------ pictures

    def look(self) -> Any:
        parts = self.parts
        return (
            parts.rope.centerline(240), parts.rope.tensions(240), float(parts.hinge.angle),
            np.array(parts.load.position), np.array(parts.load.pose.rotation),
        )  # fmt: skip

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        target = np.array((0.2, 0.0, 0.64))
        camera = Camera(
            target + np.array((1.1, -2.0, 0.7)), target, size=size, width=1.2 * size[0] / height,
            centre=(0.5, 0.5 * height / size[1]),
        )  # fmt: skip
        ground = floor(camera, (-30.0, -30.0), (30.0, 30.0))
        stage = Stage(camera, (228, 236, 240), ground)
        stage.polygon(ground, (214, 208, 196))
        stage.facets(frame())
        return stage

    def paint(self, look: Any) -> Facets:
        from sennit.demos.hoisting import wheel
        from sennit.export.facets import Facets
        from sennit.export.solids import bar, ramp, tube

        line, tension, angle, place, turn = look
        parts = [wheel((0.0, 0.0, AXLE), (0.0, -1.0, 0.0), DRUM, angle, WIDE, (168, 128, 92))]
        parts.append(tube(line, ROPE, ramp(tension, 0.0, 120.0), sides=10))
        end = line[-1]
        hand = end + np.outer((-0.02, 0.0, 0.04, 0.07, 0.3), (1.0, 0.0, 0.0))
        parts.append(tube(hand, np.array((0.012, 0.024, 0.026, 0.018, 0.022)), (222, 178, 146), sides=12, gloss=0.2))
        up = turn @ np.array((0.0, 0.0, 0.08))
        parts.append(bar(place - up, place + up, 0.07, (86, 96, 112), sides=24))
        return Facets.joined(parts)


def frame() -> Facets:
    """What carries the drum's axle."""
    from sennit.export.facets import Facets
    from sennit.export.solids import bar

    parts = [bar((0.0, -0.5 * WIDE - 0.08, AXLE), (0.0, 0.5 * WIDE + 0.08, AXLE), 0.018, (90, 96, 104), sides=12)]
    for side in (-1.0, 1.0):
        y = side * (0.5 * WIDE + 0.05)
        for x in (-0.2, 0.2):
            foot = (x, y, 0.0)
            parts.append(bar(foot, (0.0, y, AXLE), 0.016, (132, 104, 80), sides=8, pieces=6))
    return Facets.joined(parts)


add_arguments, main, play = offered(Hauling, seconds=SECONDS)
