"""A gripper picks a rope from a table and lays it over a peg.

Two fingers slide in the palm, driven by motors that push no harder than they may: the one closes to its stop, the other
until the rope stops it, which it then squeezes. Friction alone holds the rope between them while the palm carries it to
the peg. The palm follows a path; the forces of motors, contacts and friction are found together in each step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos.hoisting import Fact, Hoist, block, eased, place_of
from sennit.demos.stage import Chart, Part, offered
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Gripper", "add_arguments", "assemble", "build", "main", "play"]

DESCRIPTION = (
    "Two fingers pick a rope from a table and lay it over a peg; motors squeeze it, and friction holds it. Writes an "
    "animated picture (.gif, .mp4) or some of its frames (.png). Checks the squeeze against the motor's force, what "
    "the fingers and at last the peg carry against the rope's weight, and that the rope does not slip in the grip."
)

GRAVITY = 9.81
LENGTH, RADIUS, POINTS = 0.6, 6e-3, 30  # of the rope: m, m, control points
CORD = sn.Material(
    youngs_modulus=3e5, poisson_ratio=0.4, density=900.0, relaxation_time=0.02, look="braid", colour=(222, 134, 52)
)
FRICTION = 0.6
SQUEEZE, CLOSING = 5.0, 0.08  # N, m/s: of the fingers' motors
FINGER, PALM = (0.012, 0.03, 0.06), (0.11, 0.05, 0.03)  # m: sides
OPEN = 0.03  # m: from the middle of the grip to a finger's face, open
TABLE = (0.5, 0.8, 0.04)  # m: its upper face is at z = 0
PEG, PEG_RADIUS, PEG_LENGTH = np.array((0.45, 0.0, 0.36)), 0.02, 0.24  # m: its middle, along x
LOW = 0.5 * FINGER[2] + 3e-3  # m: of the fingers' middle, where they grip
HANG = 0.5 * FINGER[2] + 0.5 * PALM[2]  # m: of the palm above them
STEP = 1.0 / 240.0  # s
# the palm's places, m, as (time, x, height of the fingers' middle)
WAY = (
    (0.0, 0.0, 0.16), (0.2, 0.0, 0.16), (1.0, 0.0, LOW), (1.7, 0.0, LOW), (2.9, 0.0, 0.78), (3.2, 0.0, 0.78),
    (4.6, float(PEG[0]), 0.78), (5.0, float(PEG[0]), 0.78),
    (6.0, float(PEG[0]), float(PEG[2]) + PEG_RADIUS + 1.5 * RADIUS + LOW - RADIUS),
    (6.6, float(PEG[0]), float(PEG[2]) + PEG_RADIUS + 1.5 * RADIUS + LOW - RADIUS), (7.4, float(PEG[0]), 0.62),
)  # fmt: skip
CLOSE, RELEASE = 1.1, 6.1  # s: when the fingers close and open
HANGING, HELD, LAID = 3.0, (4.8, 5.0), 8.4  # s: when it is measured
SECONDS = 9.0


@dataclass(frozen=True, slots=True)
class Gripper:
    """The scene with its bodies, and what drives it."""

    scene: sn.Scene
    rope: sn.Rod
    palm: sn.RigidBody
    fingers: list[sn.RigidBody]
    slides: list[sn.Prismatic]
    carrier: sn.Clamp
    table: sn.Obstacle
    peg: sn.Obstacle


def assemble() -> Gripper:
    """The rope on the table, the gripper open above it."""
    scene = sn.Scene(gravity=(0.0, 0.0, -GRAVITY), drag=0.5)
    table = scene.add(sn.Obstacle(sn.Box(TABLE, sn.Pose((-0.05, 0.0, -0.5 * TABLE[2]))), name="table"))
    along_x = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)
    peg = scene.add(sn.Obstacle(sn.Cylinder(PEG_RADIUS, PEG_LENGTH, sn.Pose(PEG, along_x)), name="peg"))
    ends = np.array(((0.0, -0.5 * LENGTH, RADIUS), (0.0, 0.5 * LENGTH, RADIUS)))
    rope = scene.add(
        sn.Rod.straight(*ends, section=sn.Section.circle(RADIUS), material=CORD, control_points=POINTS, name="rope")
    )
    middle = np.array((0.0, 0.0, WAY[0][2]))
    palm = scene.add(sn.RigidBody.box(PALM, mass=0.5, position=middle + np.array((0.0, 0.0, HANG)), name="palm"))
    fingers, slides = [], []
    for side in (-1.0, 1.0):
        place = middle + np.array((side * (OPEN + 0.5 * FINGER[0]), 0.0, 0.0))
        finger = scene.add(sn.RigidBody.box(FINGER, mass=0.08, position=place, name=f"finger {'LR'[side > 0]}"))
        # The left one closes to its stop, beside the middle; the right one squeezes. Of two that squeeze with the same
        # force nothing would hold the middle.
        stop, most = (OPEN - RADIUS, 8.0 * SQUEEZE) if side < 0.0 else (OPEN, SQUEEZE)
        joint = sn.Prismatic(
            finger.at(), palm.at(), (-side, 0.0, 0.0), limits=(-0.005, stop), motor=sn.Motor(0.0, max_force=most)
        )
        fingers.append(finger)
        slides.append(scene.add(joint))
    carrier = scene.add(sn.Clamp(palm.at(), name="arm"))
    scene.collide(friction=FRICTION)
    scene.ignore(fingers[0], fingers[1])
    return Gripper(scene, rope, palm, fingers, slides, carrier, table, peg)


def build() -> sn.Scene:
    """The scene of the gripper."""
    return assemble().scene


def smooth(x: float) -> float:
    """From 0 to 1, with rates and accelerations that vanish at both ends."""
    x = min(max(x, 0.0), 1.0)
    return x * x * x * (10.0 - 15.0 * x + 6.0 * x * x)


def way_at(time: float) -> tuple[float, float]:
    """Where the grip is to be: x, and the height of the fingers' middle, m."""
    for (begin, *first), (end, *second) in zip(WAY[:-1], WAY[1:], strict=True):
        if time < end:
            part = smooth((time - begin) / (end - begin))
            return first[0] + part * (second[0] - first[0]), first[1] + part * (second[1] - first[1])
    return WAY[-1][1], WAY[-1][2]


class Laying(Hoist):
    """Down, close, up, across, down, open."""

    headline = "A gripper lays a rope over a peg"
    title = "A gripper picks a rope from a table and lays it over a peg."
    charts = (
        Chart("squeeze", "N", ".1f", (196, 78, 20)),
        Chart("fingers carry", "N", ".2f", (0, 114, 140)),
        Chart("peg carries", "N", ".2f", (84, 110, 60)),
    )

    def __init__(self) -> None:
        self.parts = assemble()
        self.scene = self.parts.scene
        self.weight = GRAVITY * self.parts.rope.mass
        self.times: list[float] = []
        self.log: list[tuple[float, ...]] = []
        """Of each step: squeeze, what fingers and peg carry, place of the gripped part of the rope in the grip."""

    def plan(self, seconds: float) -> list[Part]:
        return [Part(seconds, STEP, slower=0.7)]

    def begin(self) -> None:
        self.grip(False)

    def lead(self, x: float, height: float) -> None:
        """Bring the grip to x with the fingers' middle at `height` (m)."""
        self.parts.carrier.target = (x, 0.0, height + HANG)

    def grip(self, closed: bool) -> None:
        """Close the fingers, or open them."""
        for slide in self.parts.slides:
            slide.motor_speed = CLOSING if closed else -CLOSING

    def before_step(self, dt: float) -> None:
        t = self.scene.time + dt
        self.lead(*way_at(t))
        self.grip(CLOSE <= t < RELEASE)

    def squeezed(self) -> tuple[float, float]:
        """How hard the fingers press on the rope, and what they carry of it, N."""
        sideways = lifted = 0.0
        for contact in self.scene.contacts:
            if contact.first is self.parts.rope and contact.second in self.parts.fingers:
                sideways += 0.5 * abs(float(contact.force[0]))
                lifted += float(contact.force[2])
        return sideways, lifted

    def hung(self) -> float:
        """What the peg carries, N."""
        return sum(float(c.force[2]) for c in self.scene.contacts if c.second is self.parts.peg)

    def held_at(self) -> FloatArray:
        """Middle of the rope in the palm's frame, (3,), m."""
        place, turn = place_of(self.parts.palm)
        return np.asarray((self.parts.rope.at(0.5 * LENGTH).position - place) @ turn)

    def after_step(self, dt: float) -> None:
        self.times.append(self.scene.time)
        self.log.append((*self.squeezed(), self.hung(), *self.held_at()))

    def sample(self) -> tuple[float, ...]:
        return *self.squeezed(), self.hung()

    def caption(self) -> str:
        t = self.scene.time
        for end, words in ((1.0, "comes down"), (1.7, "closes"), (2.9, "lifts"), (5.0, "carries"), (6.1, "lays down")):
            if t < end:
                return words
        return "lets go" if t < 7.0 else "done"

    def facts(self) -> list[Fact]:
        t, log = np.array(self.times), np.array(self.log)
        facts = [Fact("rope below the table", self.sunk(), 0.1 * RADIUS, 0.0, "m", below=True)]
        if t[-1] >= HELD[1]:
            now = (t > HELD[0]) & (t < HELD[1])
            lifted = (t > HANGING) & (t < HELD[1])
            slipped = float(np.ptp(log[lifted][:, 3:], axis=0).max())
            facts += [
                Fact("squeeze of each finger", float(log[now, 0].mean()), SQUEEZE, 0.02 * SQUEEZE, "N"),
                Fact("fingers carry", float(log[now, 1].mean()), self.weight, 0.03 * self.weight, "N"),
                Fact("rope slips in the grip", slipped, 1e-3, 0.0, "m", below=True),
            ]
        if t[-1] >= SECONDS - STEP:
            late = t > LAID
            ends = [float(self.parts.rope.at(s).position[2]) for s in (0.0, LENGTH)]
            facts += [
                Fact("peg carries", float(log[late, 2].mean()), self.weight, 0.02 * self.weight, "N"),
                Fact("fingers carry at last", float(np.abs(log[late, 1]).max()), 1e-9, 0.0, "N", below=True),
                Fact("ends of the rope, below the peg", max(ends), float(PEG[2]), 0.0, "m", below=True),
            ]
        return facts

    def sunk(self) -> float:
        """How deep the rope is in the table now, m."""
        line = self.parts.rope.centerline(80)
        over = (np.abs(line[:, 0] + 0.05) < 0.5 * TABLE[0]) & (np.abs(line[:, 1]) < 0.5 * TABLE[1])
        return max(float(RADIUS - line[over, 2].min()) if over.any() else 0.0, 0.0)

    # ---------------------------------------------------------------------------------------------------- on a page

    step = STEP
    camera = ((1.04, -1.44, 0.8), (0.15, 0.0, 0.29))
    ground = -0.75

    def furnish(self) -> None:
        self.piloted("by itself")
        self.asked, self.closed = [0.0, WAY[0][2]], False
        self.scene.control("grip, across", self.by_hand(lambda x: self.ask(0, x)), 0.0, range=(-0.1, 0.6), unit="m")
        self.scene.control(
            "grip, height", self.by_hand(lambda z: self.ask(1, z)), WAY[0][2], range=(LOW, 0.8), unit="m"
        )
        self.scene.control("closed", self.by_hand(self.hold), False)
        self.scene.watch("squeeze", lambda: self.squeezed()[0], unit="N")
        self.scene.watch("fingers carry", lambda: self.squeezed()[1], unit="N")
        self.scene.watch("peg carries", self.hung, unit="N")
        self.decorate(wall(), name="wall")
        self.decorate(stands(), name="stands")

    def ask(self, which: int, place: float) -> None:
        """Let the grip go to a place: 0 across, 1 its height, m."""
        self.asked[which] = place

    def hold(self, closed: bool) -> None:
        """Close or open the fingers."""
        self.closed = closed

    def restart(self) -> None:
        self.asked, self.closed = [0.0, WAY[0][2]], False
        self.at = [0.0, WAY[0][2]]
        self.zero = float(self.scene.time)

    def act(self, dt: float) -> None:
        if self.automatic:
            t = self.scene.time + dt - self.zero
            self.at = list(way_at(t))
            self.closed = CLOSE <= t < RELEASE
        else:
            self.at = [eased(place, asked, 0.5 * dt) for place, asked in zip(self.at, self.asked, strict=True)]
        self.lead(*self.at)
        self.grip(self.closed)

    # ------------------------------------------------------------------------------------------------------ pictures

    def look(self) -> Any:
        parts = self.parts
        return parts.rope.centerline(100), [place_of(body) for body in (parts.palm, *parts.fingers)]

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import bar, floor

        target = np.array((0.17, 0.0, 0.38))
        camera = Camera(
            target + np.array((0.9, -2.0, 0.8)), target, size=size, width=1.15 * size[0] / height,
            centre=(0.5, 0.5 * height / size[1]),
        )  # fmt: skip
        ground = floor(camera, (-30.0, -30.0), (30.0, 30.0))
        stage = Stage(camera, (228, 236, 240), ground)
        stage.polygon(ground, (222, 216, 204))
        top = (np.array((-0.05, 0.0, -0.5 * TABLE[2])), np.eye(3))
        stage.facets(block(top, (0.5 * TABLE[0], 0.5 * TABLE[1], 0.5 * TABLE[2]), (196, 164, 124)))
        stage.facets(wall())
        reach = np.array((0.5 * PEG_LENGTH, 0.0, 0.0))
        stage.facets(bar(PEG - reach, PEG + reach, PEG_RADIUS, (150, 112, 76), sides=20))
        return stage

    def paint(self, look: Any) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import bar, tube

        line, (palm, *fingers) = look
        parts = [tube(line, RADIUS, (176, 92, 60), sides=12)]
        parts.append(block(palm, (0.5 * PALM[0], 0.5 * PALM[1], 0.5 * PALM[2]), (70, 78, 92)))
        half = (0.5 * FINGER[0], 0.5 * FINGER[1], 0.5 * FINGER[2])
        parts += [block(finger, half, (226, 176, 40)) for finger in fingers]
        parts.append(bar(palm[0], palm[0] + (0.0, 0.0, 0.35), 0.018, (120, 126, 134), sides=10))
        return Facets.joined(parts)


def wall() -> Facets:
    """What carries the peg."""
    centre = PEG + np.array((0.5 * PEG_LENGTH + 0.02, 0.0, 0.0))
    return block((centre, np.eye(3)), (0.02, 0.07, 0.1), (168, 174, 182))


def stands() -> Facets:
    """What carries the table and the wall on a page, where the floor is seen."""
    from sennit.export.facets import Facets

    top, peg = -TABLE[2], PEG[2] - 0.1
    foot = Laying.ground
    own, wood, steel = (np.zeros(3), np.eye(3)), (168, 138, 102), (168, 174, 182)
    legs = [
        block(own, (0.02, 0.02, 0.5 * (top - foot)), wood, (-0.05 + i * 0.2, j * 0.35, 0.5 * (top + foot)))
        for i in (-1.0, 1.0)
        for j in (-1.0, 1.0)
    ]
    post = (PEG[0] + 0.5 * PEG_LENGTH + 0.02, 0.0, 0.5 * (peg + foot))
    return Facets.joined([*legs, block(own, (0.015, 0.03, 0.5 * (peg - foot)), steel, post)])


add_arguments, main, play = offered(Laying, seconds=SECONDS)
