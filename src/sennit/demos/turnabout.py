"""A ropeway: a trolley on two cables, a box under it, and two small boxes on one cable that makes them turn about.

The larger scene of Servin and Lacoursière, Massless Cable for Real-time Simulation, 2007, section 5.3, figure 9. What
it says: four cables, six rigid bodies of 1 to 100 kg, gravity 10 m/s², stiffness from 1e3 to 1e7 N/m, lengths from 1 to
30 m, steps of 0.05 s. Two boxes are locked to the world; a wide body slides along the two cables between them; the two
small boxes hang on one cable that runs freely over two points of the larger box above them, and its resistance to
twist, 10 N·m/rad, makes them turn in opposite directions. What is chosen here: masses and sizes one by one; wheels in
place of the points, the trolley's with a moment of inertia, so that they roll; the trolley starts from rest at one
side.

A cable over a pulley is straight again seen from one who travels along it: its two falls hang side by side, but a turn
of one end to the left undoes a turn of the other to the left. So rates of +1 and -1 rad/s do not twist it, and the
rates of the two boxes, seen from the box above, have no sum in the mean.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import sennit as sn
from sennit.demos.stage import PAPER, Chart, Part, Show, offered, sight
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Ropeway", "add_arguments", "assemble", "build", "main", "play"]

DESCRIPTION = (
    "A trolley rolls along two cables and carries a box, from which two small boxes hang on one cable; its twist makes "
    "them turn in opposite directions. Writes an animated picture (.gif, .mp4) or some of its frames (.png). Checks "
    "that the cables keep their lengths, that the wheels roll, that the small boxes turn against each other, and that "
    "energy does not grow."
)

GRAVITY, H = 10.0, 0.05  # m/s², s
SPAN, CARRIED, BEGIN = 28.0, 29.0, -7.5  # m: between the anchors, of the cables (about), where the trolley starts
HEIGHT, TRACK, BASE = 13.0, 1.6, 1.8  # m: of the anchors; between the two cables; between a trolley's axles
WHEEL, PULLEY, APART = 0.3, 0.25, 3.0  # m: radii; between the two pulleys
DROP, FALL = 2.2, 3.4  # m: from trolley to box, from pulleys to small boxes
ANCHOR, TROLLEY, LARGE, SMALL = 100.0, 20.0, 40.0, 6.0  # kg
LARGE_SIZE, SMALL_EDGE = (3.6, 1.2, 1.0), 1.0  # m
RUNNING, HANGING, SMALLS, TORSION = 1e5, 1e7, 1e3, 10.0  # N/m; N m/rad
FIRST = 0.7  # s: half a swing of the twist
SWINGS = 4.0  # s: after which the mean rates are those of whole swings
FACES = ((236, 150, 96), (196, 92, 70), (98, 160, 216), (250, 248, 240), (150, 190, 130), (110, 116, 124))
"""Colours of the small boxes' sides, which show how they turn."""
SPIN = 6.0  # rad/s: of one of the small boxes at first


@dataclass(frozen=True, slots=True)
class Ropeway:
    """The scene, its bodies and its cables."""

    scene: sn.Scene
    anchors: list[sn.RigidBody]
    trolley: sn.RigidBody
    large: sn.RigidBody
    smalls: list[sn.RigidBody]
    tracks: list[sn.Cable]
    hanger: sn.Cable
    pulled: sn.Cable
    """On which the two small boxes hang."""
    hold: sn.OnPlane
    """Keeps the trolley at its side until it is let go."""

    @property
    def cables(self) -> list[sn.Cable]:
        """All four."""
        return [*self.tracks, self.hanger, self.pulled]

    @property
    def wheels(self) -> list[sn.Sheave]:
        """Of the trolley: two on each track."""
        return [sheave for cable in self.tracks for sheave in cable.sheaves if sheave is not None]

    @property
    def pulleys(self) -> list[sn.Sheave]:
        """Of the larger box."""
        return [sheave for sheave in self.pulled.sheaves if sheave is not None]


def depth(x: float) -> float:
    """How far below the anchors a point at `x` hangs that slides on a cable: on an ellipse, m."""
    long, short = CARRIED / 2.0, math.sqrt(CARRIED**2 - SPAN**2) / 2.0
    return short * math.sqrt(1.0 - (x / long) ** 2)


def assemble() -> Ropeway:
    """The ropeway, with the trolley at rest at one side and one small box turning."""
    scene = sn.Scene(gravity=(0.0, 0.0, -GRAVITY))
    anchors = []
    for side in (-1.0, 1.0):
        box = sn.RigidBody.box((2.0, 3.0, 2.0), mass=ANCHOR, position=(side * (SPAN / 2.0 + 1.0), 0.0, HEIGHT))
        anchors.append(scene.add(box))
        scene.add(sn.Clamp(box.at()))
    z = HEIGHT - depth(BEGIN)
    trolley = scene.add(sn.RigidBody.box((2.4, TRACK + 0.6, 0.3), mass=TROLLEY, position=(BEGIN, 0.0, z)))
    tracks = []
    for y in (-TRACK / 2.0, TRACK / 2.0):
        wheels = [
            sn.Sheave(trolley.at((x, y, 0.0)), axis=(0.0, -1.0, 0.0), radius=WHEEL, inertia=0.02)
            for x in (-BASE / 2.0, BASE / 2.0)
        ]
        left, right = anchors[0].at((1.0, y, 0.0)), anchors[1].at((-1.0, y, 0.0))
        tracks.append(scene.add(sn.Cable([left, *wheels, right], stretch_stiffness=RUNNING, torsion=False)))
    below = z - 0.15 - DROP
    large = scene.add(sn.RigidBody.box(LARGE_SIZE, mass=LARGE, position=(BEGIN, 0.0, below - LARGE_SIZE[2] / 2.0)))
    hanger = scene.add(
        sn.Cable(
            [trolley.at((0.0, 0.0, -0.15)), large.at((0.0, 0.0, LARGE_SIZE[2] / 2.0))],
            stretch_stiffness=HANGING,
            twist_stiffness=2e3,
        )
    )
    half = APART / 2.0
    smalls = []
    for side in (-1.0, 1.0):
        place = (BEGIN + side * (half + PULLEY), 0.0, below - LARGE_SIZE[2] / 2.0 - FALL - SMALL_EDGE / 2.0)
        smalls.append(scene.add(sn.RigidBody.box((SMALL_EDGE,) * 3, mass=SMALL, position=place)))
    pulleys = [sn.Sheave(large.at((x, 0.0, 0.0)), axis=(0.0, 1.0, 0.0), radius=PULLEY) for x in (-half, half)]
    way = 2.0 * FALL + APART + math.pi * PULLEY
    pulled = scene.add(
        sn.Cable(
            [smalls[0].at((0.0, 0.0, SMALL_EDGE / 2.0)), *pulleys, smalls[1].at((0.0, 0.0, SMALL_EDGE / 2.0))],
            stretch_stiffness=SMALLS,
            twist_stiffness=TORSION,
            length=way - SMALL * GRAVITY / SMALLS,
        )
    )
    hold = scene.add(sn.OnPlane(trolley.at(), (1.0, 0.0, 0.0)))
    return Ropeway(scene, anchors, trolley, large, smalls, tracks, hanger, pulled, hold)


def build() -> sn.Scene:
    """The scene of the ropeway."""
    return assemble().scene


class Ride(Show):
    """The trolley is let go at one side and rolls to and fro; one small box is set turning."""

    title = "A ropeway: four cables, six bodies; the small boxes hang on one cable, whose twist turns them about."
    charts = (
        Chart("left box turned", "rev", ".1f", (196, 78, 20)),
        Chart("right box turned back", "rev", ".1f", (0, 114, 140)),
    )

    def __init__(self) -> None:
        self.ropeway = assemble()
        self.scene = self.ropeway.scene
        self.turned = np.zeros(3)  # rad about the vertical: the small boxes and the larger one
        self.twisted = 0.0  # rad, at most, in the first swing
        self.kinetic = 0.0  # J, at most
        self.gained = 0.0  # J
        self.stretched = np.zeros(4)  # of each cable, at most, over its length
        self.slipped = 0.0  # m: of a wheel on its cable, at most
        self.reach = 0.0  # m: how far the trolley came

    def plan(self, seconds: float) -> list[Part]:
        return [Part(seconds, H, slower=0.8)]  # 20 frames a second: one for each step

    def begin(self) -> None:
        self.scene.drag = 3.0  # until all hang still, the trolley held at its side
        self.scene.run(12.0, dt=H)
        self.scene.drag = 0.0
        self.balance = np.array([cable.tension for cable in self.ropeway.cables])
        self.ropeway.hold.enabled = False
        self.ropeway.smalls[0].angular_velocity = (0.0, 0.0, SPIN)
        self.from_time = self.scene.time
        self.before = self.scene.energy.total
        self.rolled = self.rolling()

    def rolling(self) -> FloatArray:
        """For each track, the length of cable between its first anchor and a mark on its first wheel: (2,), m."""
        lengths = []
        for cable, wheel in zip(self.ropeway.tracks, self.ropeway.wheels[::2], strict=True):
            start, end = cable.path()[:2]
            # as the trolley sees it, on which the wheel turns
            way = self.ropeway.trolley.pose.rotation.T @ (end - start)
            lengths.append(np.linalg.norm(way) + WHEEL * (wheel.angle - math.atan2(way[2], way[0])))
        return np.array(lengths)

    def before_step(self, dt: float) -> None:
        pass

    def after_step(self, dt: float) -> None:
        ropeway = self.ropeway
        self.turned += dt * np.array([body.angular_velocity[2] for body in (*ropeway.smalls, ropeway.large)])
        energy = self.scene.energy
        self.gained = max(self.gained, energy.total - self.before)
        self.kinetic = max(self.kinetic, energy.kinetic)
        if self.scene.time - self.from_time <= FIRST:
            self.twisted = max(self.twisted, abs(ropeway.pulled.twist))
        self.stretched = np.maximum(self.stretched, [cable.elongation / cable.length for cable in ropeway.cables])
        self.slipped = max(self.slipped, float(np.abs(self.rolling() - self.rolled).max()))
        self.reach = max(self.reach, float(ropeway.trolley.position[0]))

    def sample(self) -> tuple[float, ...]:
        return float(self.turned[0]) / (2.0 * math.pi), -float(self.turned[1]) / (2.0 * math.pi)

    def caption(self) -> str:
        left, right = (float(body.angular_velocity[2]) for body in self.ropeway.smalls)
        return f"small boxes turn at {left:+.1f} and {right:+.1f} rad/s"

    def look(self) -> tuple[list[FloatArray], list[FloatArray], list[FloatArray], float]:
        ropeway = self.ropeway
        bodies = (*ropeway.anchors, ropeway.trolley, ropeway.large, *ropeway.smalls)
        poses = [np.column_stack((body.pose.rotation, body.position)) for body in bodies]
        wheels = [sight(sheave) for sheave in (*ropeway.wheels, *ropeway.pulleys)]
        return poses, [cable.path() for cable in ropeway.cables], wheels, ropeway.pulled.twist

    def means(self) -> FloatArray:
        """Mean rates about the vertical of the small boxes and of the larger one: (3,), rad/s."""
        return np.asarray(self.turned / (self.scene.time - self.from_time))

    @property
    def peak(self) -> float:
        """Twist to which the first box's turning carries the cable, rad: the larger box is nearly still."""
        return SPIN / math.sqrt(2.0 * TORSION / (SMALL * SMALL_EDGE**2 / 6.0))

    def table(self) -> list[tuple[str, str, str]]:
        mean = self.means()
        weight = GRAVITY * (LARGE + 2.0 * SMALL)
        rows = [
            ("mean rate, left box", f"{mean[0]:+.3f} rad/s", f"{(mean[0] - mean[1]) / 2.0 + mean[2]:+.3f} rad/s"),
            ("mean rate, right box", f"{mean[1]:+.3f} rad/s", f"{(mean[1] - mean[0]) / 2.0 + mean[2]:+.3f} rad/s"),
            ("twist in the first swing", f"{self.twisted:.3f} rad", f"{self.peak:.3f} rad, with the larger box still"),
            ("hanging cable, at rest", f"{self.balance[2]:.3f} N", f"{weight:.3f} N"),
            ("small boxes' cable, at rest", f"{self.balance[3]:.3f} N", f"{SMALL * GRAVITY:.3f} N"),
            ("wheels miss rolling by", f"{1e3 * self.slipped:.1f} mm", "0, less the cable's stretch"),
            ("energy gained", f"{self.gained:.2f} J", f"0 of {self.kinetic:.0f} J"),
        ]
        return rows

    def check(self) -> list[str]:
        wrong = []
        mean = self.means()
        across = (mean[0] - mean[1]) / 2.0
        if not across >= 0.3 * SPIN:
            wrong.append(f"the small boxes do not turn against each other: {mean[0]:.2f} and {mean[1]:.2f} rad/s")
        seen = self.scene.time - self.from_time
        if seen > SWINGS and not abs(mean[0] + mean[1] - 2.0 * mean[2]) <= 0.1 * across:
            wrong.append(f"the mean rates of the small boxes are not opposite: {mean[0]:.3f} and {mean[1]:.3f} rad/s")
        if seen > FIRST and not abs(self.twisted / self.peak - 1.0) <= 0.1:
            wrong.append(f"the cable is twisted by {self.twisted:.3f} rad, not {self.peak:.3f} rad")
        due = np.array((GRAVITY * (LARGE + 2.0 * SMALL), GRAVITY * SMALL))
        if not np.abs(self.balance[2:] / due - 1.0).max() <= 1e-3:
            wrong.append(f"at rest the cables carry {self.balance[2]:.2f} N and {self.balance[3]:.2f} N")
        for cable, part, most in zip(self.ropeway.cables, self.stretched, (1e-3, 1e-3, 5e-3, 0.02), strict=True):
            if not part <= most:
                wrong.append(f"a cable of {cable.length:.1f} m is stretched by {100.0 * part:.2f} %")
        if not self.slipped <= 0.02:
            wrong.append(f"a wheel slipped on its cable by {1e3 * self.slipped:.1f} mm")
        if not self.gained <= 0.03 * self.kinetic:
            wrong.append(f"energy from nothing: {self.gained:.1f} J")
        if seen > 8.0 and not self.reach >= 0.75 * abs(BEGIN):
            wrong.append(f"the trolley rolled to {self.reach:.1f} m only")
        return wrong

    def findings(self) -> str:
        return (
            f"the small boxes turn against each other; cables keep their lengths to "
            f"{100.0 * self.stretched.max():.1g} %, the wheels roll, energy does not grow by more than the "
            f"{100.0 * self.gained / self.kinetic:.1g} % that so long a step gives and takes."
        )

    # ---------------------------------------------------------------------------------------------------- on a page

    step = 0.01
    camera = ((-9.0, -35.0, 12.0), (-0.8, 0.0, 7.0))
    ground = 0.0

    def furnish(self) -> None:
        self.push = self.scene.add(sn.Load(self.ropeway.trolley.at(), force=(0.0, 0.0, 0.0), name="push"))
        self.scene.control("push on the trolley", self.push_at, 0.0, range=(-150.0, 150.0), unit="N")
        self.scene.control("spin the left box", self.spin)
        self.scene.control("drag of the air", self.slow, 0.0, range=(0.0, 1.0), unit="1/s")
        for name, body in zip(("left", "right"), self.ropeway.smalls, strict=True):
            self.scene.watch(f"{name} box turns at", functools.partial(turning, body), unit="rad/s")
        self.scene.watch("twist of their cable", lambda: self.ropeway.pulled.twist, unit="rad")
        self.decorate(pillars(), name="pillars")
        for k, body in enumerate(self.ropeway.smalls):
            self.decorate(painted(SMALL_EDGE), instead_of=body, name=f"small box {k + 1}")

    def push_at(self, force: float) -> None:
        """Push the trolley with `force` (N)."""
        self.push.force = (force, 0.0, 0.0)

    def spin(self) -> None:
        """Give the left box another turn."""
        box = self.ropeway.smalls[0]
        box.angular_velocity = box.angular_velocity + np.array((0.0, 0.0, SPIN))

    def slow(self, drag: float) -> None:
        """Let the air slow everything down, 1/s."""
        self.scene.drag = drag

    # ------------------------------------------------------------------------------------------------------ pictures

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        camera = Camera(
            (-7.0, -42.0, 12.5), (0.0, 0.0, 7.4), size=size, width=36.5, centre=(0.5, 0.53 * height / size[1]),
        )  # fmt: skip
        ground = floor(camera, (-120.0, -30.0), (120.0, 120.0))
        stage = Stage(camera, PAPER, ground)
        stage.polygon(ground, (222, 228, 220))
        stage.facets(pillars())
        return stage

    def labels(
        self, look: tuple[list[FloatArray], list[FloatArray], list[FloatArray], float]
    ) -> list[tuple[FloatArray, str]]:
        poses = look[0]
        texts = ("trolley, 20 kg", "40 kg", "6 kg", "6 kg")
        shifts = ((0.0, 0.0, 1.1), (3.5, 0.0, 0.0), (0.0, 0.0, -1.3), (0.0, 0.0, -1.3))
        return [(pose[:, 3] + shift, text) for pose, text, shift in zip(poses[2:], texts, shifts, strict=True)]

    def paint(self, look: tuple[list[FloatArray], list[FloatArray], list[FloatArray], float]) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import block, rope, wheel

        poses, lines, wheels, twist = look
        boxes: tuple[tuple[tuple[float, float, float], ArrayLike, int], ...] = (
            ((2.0, 3.0, 2.0), (206, 200, 192), 4),
            ((2.0, 3.0, 2.0), (206, 200, 192), 4),
            ((2.4, TRACK - 0.2, 0.3), (240, 200, 110), 5),
            (LARGE_SIZE, (150, 190, 228), 5),
            ((SMALL_EDGE, SMALL_EDGE, SMALL_EDGE), FACES, 3),
            ((SMALL_EDGE, SMALL_EDGE, SMALL_EDGE), FACES, 3),
        )
        parts = [
            block(pose[:, 3], pose[:, :3], size, colour, pieces=pieces)
            for pose, (size, colour, pieces) in zip(poses, boxes, strict=True)
        ]
        for k, line in enumerate(lines):
            turn = (0.0, twist) if k == 3 else None
            parts.append(
                rope(line, 0.09 if k == 3 else 0.06, (222, 190, 116) if k == 3 else (84, 88, 96), piece=0.6, turn=turn)
            )
        for k, seen in enumerate(wheels):
            front = seen if k < 4 else seen - np.array(((0.0, 0.75, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
            parts.append(wheel(front, (60, 64, 72), thickness=0.2))
        return Facets.joined(parts)


def turning(body: sn.RigidBody) -> float:
    """Rate about the vertical, rad/s."""
    return float(body.angular_velocity[2])


def pillars() -> Facets:
    """What carries the anchors."""
    from sennit.export.facets import Facets
    from sennit.export.solids import block

    tall, tone = HEIGHT - 1.0, (228, 222, 212)
    places = [(side * (SPAN / 2.0 + 1.0), 0.0, tall / 2.0) for side in (-1.0, 1.0)]
    return Facets.joined([block(place, np.eye(3), (0.9, 1.4, tall), tone, pieces=8) for place in places])


def painted(edge: float) -> Facets:
    """A box about the origin with edges of this length, m, each of its sides in another colour."""
    from sennit.export.solids import block

    return block(np.zeros(3), np.eye(3), (edge,) * 3, FACES, pieces=1)


add_arguments, main, play = offered(Ride, seconds=8.5)
