"""Fishing: a box is tossed from a rod, wound in over ice and lifted, by one winch that slips.

The last scene of Servin and Lacoursière, Massless Cable for Real-time Simulation, 2007, section 5.3, figure 10: a box
of 1 kg, a rod with one point nailed at a height of 12 m, a winch that pays out at w + ξ T: ξ = 10 m/s per N and w = 0
in the toss, ξ = 0.1 and w = -0.2 m/s while it is wound in, ξ = 0.05 and w = -0.5 m/s for the lift.

Such a winch pulls with −w/ξ at most: 2 N while winding in, so that the box comes to lie below the tip and stays there,
and 10 N in the lift, where the box weighs 9.81 N: with the published setting it just creeps upwards, at 9.5 mm/s. After
that is seen the slip is made ten times less, and the line comes in at w + ξ T = -0.45 m/s.

What is different here: the rod bends (the publication's is rigid, weighs 0.02 kg and turns about its nail), its butt is
held, the line runs through three rings from a reel; the cable stretches; there is ice to fall on, without friction but
for a slight drag.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

import sennit as sn
from sennit.demos.stage import PAPER, Chart, Part, Show, offered
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Tackle", "add_arguments", "assemble", "build", "main", "play"]

DESCRIPTION = (
    "A box is tossed from a fishing rod that bends, wound in over ice by a winch that slips, and lifted. Writes an "
    "animated picture (.gif, .mp4) or some of its frames (.png). Checks that the line runs at w + slip * tension in "
    "every step, that the winch stalls at the pull -w / slip, and that the box flies as it should and is lifted."
)

GRAVITY, H = 9.81, 0.01  # m/s², s
BUTT, LEAN, LENGTH = (0.0, 0.0, 12.0), math.radians(40.0), 3.6  # m, rad, m
MASS, EDGE = 1.0, 0.7  # kg, m
TOSS = (4.8, 0.0, 3.4)  # m/s
RINGS = (0.35, 0.7, 1.0)
CARBON = sn.Material(
    youngs_modulus=9e10, poisson_ratio=0.3, density=1600, relaxation_time=2e-3, look="smooth", colour=(52, 56, 64)
)
TUBE = sn.Section.tube(outer=10e-3, inner=9.2e-3)
REEL = 0.16  # m: radius in the picture


@dataclass(frozen=True, slots=True)
class Setting:
    """A stage of the show: what is set, and for how long."""

    name: str
    speed: float
    """Speed of the winch, m/s."""
    slip: float
    """Of the winch, m/s per N."""
    seconds: float
    shown: float
    """How long it lasts in the film, s."""
    drag: float
    """Of the ice and the air, 1/s."""


SETTINGS = (
    Setting("tossed", 0.0, 10.0, 2.4, 2.4, 0.0),
    Setting("wound in", -0.2, 0.1, 48.0, 2.2, 0.6),
    Setting("lifted, as published", -0.5, 0.05, 10.0, 0.6, 0.0),
    Setting("lifted, less slip", -0.5, 0.005, 20.0, 1.8, 0.0),
)


@dataclass(frozen=True, slots=True)
class Tackle:
    """The scene, its rod, its line and what hangs on it."""

    scene: sn.Scene
    rod: sn.Rod
    line: sn.Cable
    box: sn.RigidBody


def assemble(control_points: int = 16) -> Tackle:
    """The rod, the line and the box beyond its tip, at rest."""
    scene = sn.Scene(gravity=(0.0, 0.0, -GRAVITY))
    way = np.array((math.cos(LEAN), 0.0, math.sin(LEAN)))
    tip = np.array(BUTT) + LENGTH * way
    rod = scene.add(
        sn.Rod.straight(BUTT, tip, section=TUBE, material=CARBON, control_points=control_points, up=(0.0, 1.0, 0.0))
    )
    scene.add(sn.Clamp(rod.at(0.0)))
    box = scene.add(sn.RigidBody.box((EDGE,) * 3, mass=MASS, position=tip + np.array((0.5, 0.0, -0.5 - EDGE / 2.0))))
    reel = np.array(BUTT) + 0.25 * way + 0.12 * np.array((-way[2], 0.0, way[0]))
    line = scene.add(
        sn.Cable(
            [sn.World.at(reel), *(rod.at(part * LENGTH) for part in RINGS), box.at((0.0, 0.0, EDGE / 2.0))],
            stretch_stiffness=1e4,
            torsion=False,
        )
    )
    for corner in product((-0.5, 0.5), repeat=3):
        scene.add(sn.OnPlane(box.at(EDGE * np.array(corner)), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), bound="at_least"))
    return Tackle(scene, rod, line, box)


def build() -> sn.Scene:
    """The scene of the tackle."""
    return assemble().scene


def flight(start: FloatArray, tip: FloatArray, slip: float) -> tuple[float, float]:
    """Where and when a box that is tossed from `start` comes to the ice, m, s: a mass point, pulled by line over slip.

    The line from the fixed `tip` runs out at the speed with which the box goes away from it.
    """
    x, v, dt, time = start.astype(float), np.array(TOSS), 1e-4, 0.0
    while x[2] > EDGE / 2.0:
        way = (x - tip) / np.linalg.norm(x - tip)
        v = v + dt * (np.array((0.0, 0.0, -GRAVITY)) - max(float(v @ way), 0.0) / (slip * MASS) * way)
        x, time = x + dt * v, time + dt
    return float(x[0]), time


class Outing(Show):
    """The box is tossed, wound in and lifted, setting by setting."""

    headline = "A box on a fishing line"
    title = "A box of 1 kg is tossed from a fishing rod, wound in over ice by a winch that slips, and lifted."
    charts = (
        Chart("line from reel to box", "m", ".1f", (0, 114, 140)),
        Chart("its tension", "N", ".2f", (196, 78, 20)),
    )

    def __init__(self) -> None:
        self.tackle = assemble()
        self.scene = self.tackle.scene
        self.ends = np.cumsum([setting.seconds for setting in SETTINGS])
        self.stage_now = 0
        self.missed = 0.0  # m/s: between the line's speed and w + slip T, at most
        self.landed: tuple[float, float] | None = None  # m, s
        self.steady = np.zeros(
            (len(SETTINGS), 4)
        )  # means: speed of the line, tension, speed of the box upwards, how many
        self.deepest = 0.0  # m: of a corner in the ice
        self.bent = 0.0  # m: of the tip, down

    def plan(self, seconds: float) -> list[Part]:
        parts, left = [], seconds
        for setting in SETTINGS:
            if left > 1e-9:
                parts.append(Part(min(setting.seconds, left), H, slower=setting.shown / setting.seconds))
            left -= setting.seconds
        return parts

    def begin(self) -> None:
        self.start = self.tackle.box.position
        self.tip = self.tackle.rod.at(LENGTH).position
        self.tackle.box.velocity = TOSS
        self.set(0)

    def set(self, number: int) -> None:
        """Turn the winch to a stage's setting."""
        self.stage_now = number
        self.tackle.line.drive(SETTINGS[number].speed, SETTINGS[number].slip)
        self.scene.drag = SETTINGS[number].drag

    def before_step(self, dt: float) -> None:
        due = min(int(np.searchsorted(self.ends, self.scene.time + 0.5 * dt)), len(SETTINGS) - 1)
        if due != self.stage_now:
            self.set(due)
        self.length = self.tackle.line.length

    def after_step(self, dt: float) -> None:
        line, box, setting = self.tackle.line, self.tackle.box, SETTINGS[self.stage_now]
        rate, tension = (line.length - self.length) / dt, line.tension
        self.missed = max(self.missed, abs(rate - setting.speed - setting.slip * tension))
        low = float(box.position[2]) - EDGE / 2.0 * float(np.abs(box.pose.rotation[2]).sum())
        self.deepest = max(self.deepest, -low)
        if self.landed is None and low <= 1e-3:
            self.landed = float(box.position[0]), float(self.scene.time)
        if self.scene.time > self.ends[self.stage_now] - 3.0:
            self.steady[self.stage_now] += (rate, tension, float(box.velocity[2]), 1.0)
        self.bent = max(self.bent, float(self.tip[2] - self.tackle.rod.at(LENGTH).position[2]))

    def sample(self) -> tuple[float, ...]:
        return self.tackle.line.length, self.tackle.line.tension

    def caption(self) -> str:
        setting = SETTINGS[self.stage_now]
        return f"{setting.name.split(',')[0]}: w = {setting.speed:g} m/s, slip {setting.slip:g} m/s/N"

    def look(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]:
        tackle = self.tackle
        rings = np.array([tackle.rod.at(part * LENGTH).position for part in RINGS])
        pose = np.column_stack((tackle.box.pose.rotation, tackle.box.position))
        return tackle.rod.centerline(41), tackle.line.path(), pose, rings, tackle.line.length / REEL

    def means(self, number: int) -> FloatArray | None:
        """Speed of the line, tension, speed of the box upwards in the last seconds of a stage, if it was seen."""
        sums = self.steady[number]
        return sums[:3] / sums[3] if self.scene.time > self.ends[number] - 0.5 * H else None

    def table(self) -> list[tuple[str, str, str]]:
        rows = []
        if self.landed is not None:
            place, time = flight(self.start, self.tip, SETTINGS[0].slip)
            rows.append(("lands at", f"{self.landed[0]:.2f} m, {self.landed[1]:.2f} s", f"{place:.2f} m, {time:.2f} s"))
        if (wound := self.means(1)) is not None:
            rows.append(("winch stalls at", f"{wound[1]:.3f} N", f"{stall(1):.3f} N, -w / slip"))
        for k in (2, 3):
            if (lifted := self.means(k)) is not None:
                setting = SETTINGS[k]
                due = setting.speed + setting.slip * MASS * GRAVITY
                rows.append((f"{setting.name}: line", f"{lifted[0]:+.5f} m/s", f"{due:+.5f} m/s, w + slip m g"))
        rows.append(("line against w + slip T", f"{self.missed:.1e} m/s", "0 in every step"))
        return rows

    def check(self) -> list[str]:
        wrong = []
        if not self.missed <= 1e-8:
            wrong.append(f"the line misses w + slip T by {self.missed:.1e} m/s")
        if not self.deepest <= 0.01:
            wrong.append(f"the box sank {self.deepest:.3f} m into the ice")
        if self.means(0) is not None:
            place, time = flight(self.start, self.tip, SETTINGS[0].slip)
            landed = (math.nan, math.nan) if self.landed is None else self.landed
            if not (abs(landed[0] - place) <= 0.3 and abs(landed[1] - time) <= 0.1):
                wrong.append(
                    f"the box lands at {landed[0]:.2f} m after {landed[1]:.2f} s, not {place:.2f} m, {time:.2f} s"
                )
        if (wound := self.means(1)) is not None and not abs(wound[1] - stall(1)) <= 0.02 * stall(1):
            wrong.append(f"the winch stalls at {wound[1]:.3f} N, not {stall(1):.3f} N")
        for k, most in ((2, 1e-3), (3, 5e-3)):
            lifted = self.means(k)
            due = SETTINGS[k].speed + SETTINGS[k].slip * MASS * GRAVITY
            if lifted is not None and not abs(lifted[0] - due) <= most:
                wrong.append(f"{SETTINGS[k].name}, the line runs at {lifted[0]:.4f} m/s, not {due:.4f} m/s")
        if (lifted := self.means(3)) is not None and not lifted[2] >= 0.4:
            wrong.append(f"the box rises at {lifted[2]:.3f} m/s only")
        return wrong

    def findings(self) -> str:
        return (
            "the box flies as a mass on a line that slips, the winch stalls at the pull it can have, and the line runs "
            f"at w + slip T in every step; the tip of the rod bends by up to {100.0 * self.bent:.0f} cm."
        )

    # ---------------------------------------------------------------------------------------------------- on a page

    step = 5e-3
    camera = ((4.0, -28.0, 13.0), (5.0, 0.0, 7.4))
    ground = 0.0

    def furnish(self) -> None:
        self.ends = np.full(len(SETTINGS), math.inf)  # of the film
        self.piloted()
        self.scene.control("winch, out", self.by_hand(self.wind), 0.0, range=(-2.0, 2.0), unit="m/s")
        self.scene.control("slip of the winch", self.by_hand(self.slip), 0.02, range=(0.0, 0.5), unit="m/s/N")
        self.scene.control("toss", self.by_hand(self.toss))
        self.scene.watch("line from reel to box", lambda: self.tackle.line.length, unit="m")
        self.scene.watch("its tension", lambda: self.tackle.line.tension, unit="N")
        self.scene.watch("tip bends by", lambda: 100.0 * self.bending(), unit="cm")
        self.decorate(cliff(), name="cliff")

    def wind(self, speed: float) -> None:
        """Let the winch pay out at `speed` (m/s)."""
        self.speed, self.loose = speed, False

    def slip(self, slip: float) -> None:
        """Let the winch slip by `slip` (m/s per N)."""
        self.given, self.loose = slip, False

    def toss(self) -> None:
        """Let the line run, and throw the box from where it is."""
        self.tackle.box.velocity = TOSS
        self.loose, self.since = True, 0.0

    def bending(self) -> float:
        """How far the tip of the rod is bent down, m."""
        return float(self.tip[2] - self.tackle.rod.at(LENGTH).position[2])

    def restart(self) -> None:
        self.speed, self.given, self.since, self.loose = 0.0, 0.02, 0.0, True
        self.phase = "tossed"

    def act(self, dt: float) -> None:
        line, box = self.tackle.line, self.tackle.box
        self.since += dt
        hanging = line.length - LENGTH
        if self.automatic:
            if self.phase == "tossed" and self.since > 4.0:
                self.phase, self.loose = "wound in", False
                self.speed, self.given = -1.5, 0.05
            elif self.phase == "wound in" and hanging < 0.8:
                self.phase, self.since, self.speed = "up", 0.0, 0.0
            elif self.phase == "up" and self.since > 3.0:
                self.phase = "tossed"
                self.toss()
        speed, slip = (0.0, SETTINGS[0].slip) if self.loose else (self.speed, self.given)
        if hanging < 0.5 and speed < 0.0:
            speed = 0.0  # the box is at the tip
        if line.length > 40.0:
            speed, slip = min(speed, 0.0), 0.0  # the reel is empty
        line.drive(speed, slip)
        on_ice = float(box.position[2]) < 0.6 * EDGE
        self.scene.drag = 0.6 if on_ice else 0.02

    # ------------------------------------------------------------------------------------------------------ pictures

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        camera = Camera(
            (3.0, -34.0, 12.5), (5.2, 0.0, 7.0), size=size, width=26.5, centre=(0.42, 0.52 * height / size[1]),
        )  # fmt: skip
        ground = floor(camera, (-90.0, -14.0), (90.0, 90.0))
        stage = Stage(camera, PAPER, ground)
        stage.polygon(ground, (214, 228, 238))
        stage.facets(cliff())
        return stage

    def labels(
        self, look: tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]
    ) -> list[tuple[FloatArray, str]]:
        place = look[2][:, 3]
        return [(place + np.array((1.4, 0.0, 0.3)), "1 kg")]

    def paint(self, look: tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import block, rope, tube, wheel

        centres, line, pose, rings, angle = look
        c, s = REEL * math.cos(angle), REEL * math.sin(angle)
        reel = np.array((line[0], (c, 0.0, -s), (s, 0.0, c)))
        small = 0.13 * np.array(((0.0, 1.0, 0.0), (-math.sin(LEAN), 0.0, math.cos(LEAN))))
        parts = [
            tube(centres, np.linspace(0.09, 0.035, len(centres)), (60, 62, 70), sides=8),
            rope(line, 0.03, (206, 110, 40), piece=0.8, sides=6),
            block(pose[:, 3], pose[:, :3], (EDGE,) * 3, (112, 160, 208), pieces=3),
            wheel(reel, (120, 96, 60), thickness=0.3, spokes=2),
            *(wheel(np.vstack((ring, small)), (150, 152, 158), thickness=0.2, spokes=0) for ring in rings),
        ]
        return Facets.joined(parts)


def stall(number: int) -> float:
    """The pull at which the winch of a stage stands still, N."""
    return -SETTINGS[number].speed / SETTINGS[number].slip


def cliff() -> Facets:
    """Layers of rock, and someone on them who holds the rod."""
    from sennit.export.facets import Facets
    from sennit.export.solids import ball, block, tube

    parts, low = [], 0.0
    for high, tone in zip((2.6, 4.4, 7.3, 8.2, 10.3, 10.7), (208, 226, 214, 232, 220, 255), strict=True):
        middle, sides = (-6.6, 1.0, (low + high) / 2.0), (12.0, 5.0, high - low)
        parts.append(block(middle, np.eye(3), sides, (tone, 0.96 * tone, 0.9 * tone), pieces=10))
        low = high
    feet = np.array((-1.0, 0.0, 10.7))
    stand = np.array((0.0, 0.12, 0.45, 0.9, 1.2, 1.36, 1.42))
    girth = np.array((0.15, 0.17, 0.18, 0.22, 0.26, 0.17, 0.08))
    arm = np.array((feet + np.array((0.1, -0.2, 1.2)), (-0.5, -0.1, 11.7), BUTT))
    parts.append(tube(feet + np.outer(stand, (0.0, 0.0, 1.0)), girth, (176, 74, 62), sides=12))
    parts.append(ball(feet + np.array((0.0, 0.0, 1.6)), 0.16, (222, 178, 146), gloss=0.2))
    parts.append(tube(arm, 0.08, (150, 60, 50), sides=8))
    return Facets.joined(parts)


add_arguments, main, play = offered(Outing, seconds=sum(setting.seconds for setting in SETTINGS))
