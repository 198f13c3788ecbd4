"""A rope bridge: two ropes to walk on, two to hold, tied to each other; a person walks across.

The paper's first scene (MICADO, Theetten and Grisoni 2008, figures 1 and 5, table 1: 32 absolute and 21 relative
multipliers, 1.7 ms a step). What it says: four ropes, held at their ends, linked for footpath and handrail by 21
distance constraints. What is inferred: 21 = 7 stations with three links each, one across the path and one from each
foot rope up to its handrail; 32 = 8 ends with four rows each. The paper's control points have four coordinates, three
of place and one of roll, which gives four rows an end; here each end has three rows of `Fix` and one `OnPlane`, the
cheeks of a guide that keep the rope upright beside its anchor. 20 control points for each rope make 320 degrees of
freedom, which together with the 53 multipliers is a matrix of the size that figure 5 shows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos.stage import PAPER, Chart, Part, Show, offered
from sennit.geometry.rotations import matrix_to_quaternion
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Bridge", "add_arguments", "assemble", "build", "main", "play"]

DESCRIPTION = (
    "A person walks across a bridge of four ropes that are tied to each other at seven stations. Writes an animated "
    "picture (.gif, .mp4) or some of its frames (.png); colours show the ropes' tension. Checks that the anchors carry "
    "the weight of the ropes at rest, and weights and change of momentum in every step, and that the links "
    "keep their lengths."
)

SPAN, SAG, HEIGHT = 12.0, 0.75, 2.6  # m: between the banks, of the path, of its anchors above the water
WIDTH, RAIL = 0.9, 1.0  # m: between the foot ropes, of the handrails above them
GUIDE = 0.3  # m: how far from its anchor a rope passes the guide
STATIONS = 7
BOARDS = 23  # on a page
GRAVITY = 9.81
PERSON = 75.0  # kg
HEMP = sn.Material(
    youngs_modulus=6e8, poisson_ratio=0.4, density=1100, relaxation_time=4e-3, look="laid", colour=(188, 146, 88)
)
FOOT, HAND = sn.Section.circle(radius=0.013), sn.Section.circle(radius=0.010)


@dataclass(frozen=True, slots=True)
class Bridge:
    """The scene and what is done to it: ropes (two to walk on, two to hold), what holds their ends, links, loads."""

    scene: sn.Scene
    ropes: list[sn.Rod]
    anchors: list[Any]
    links: list[sn.Distance]
    loads: list[list[sn.Load]]
    """For each station one on each foot rope."""

    @property
    def weight(self) -> float:
        """Weight of all ropes, N."""
        return GRAVITY * sum(rope.mass for rope in self.ropes)


def stations() -> FloatArray:
    """How far from the first bank the links are, as parts of the span: (7,)."""
    return np.linspace(0.0, 1.0, STATIONS + 2)[1:-1]


def assemble(control_points: int = 20) -> Bridge:
    """The bridge with `control_points` for each rope."""
    scene = sn.Scene(gravity=(0.0, 0.0, -GRAVITY), drag=0.2)
    part = np.linspace(0.0, 1.0, 81)
    sides = (
        (-WIDTH / 2, 0.0, FOOT),
        (WIDTH / 2, 0.0, FOOT),
        (-WIDTH / 2 - 0.12, RAIL, HAND),
        (WIDTH / 2 + 0.12, RAIL, HAND),
    )
    ropes: list[sn.Rod] = []
    anchors: list[Any] = []
    for y, up, section in sides:
        z = HEIGHT + up - 4.0 * SAG * part * (1.0 - part)
        curve = np.column_stack((SPAN * part, np.full(len(part), y), z))
        rope = sn.Rod.through(curve, section=section, material=HEMP, control_points=control_points, straight=True)
        ropes.append(scene.add(rope))
        for end, inside in ((0.0, GUIDE), (rope.length, rope.length - GUIDE)):
            anchors.append(scene.add(sn.Fix(rope.at(end))))
            anchors.append(scene.add(sn.OnPlane(rope.at(inside), (0.0, 1.0, 0.0))))
    links, loads = [], []
    for k in stations():
        left, right, rail_left, rail_right = (rope.at(k * rope.length) for rope in ropes)
        for p, q in ((left, right), (left, rail_left), (right, rail_right)):
            links.append(scene.add(sn.Distance(p, q)))
        loads.append([scene.add(sn.Load(p, force=(0.0, 0.0, 0.0))) for p in (left, right)])
    return Bridge(scene, ropes, anchors, links, loads)


def build(control_points: int = 20) -> sn.Scene:
    """The scene of the bridge."""
    return assemble(control_points).scene


class Walk(Show):
    """A person crosses the bridge within the whole time of the show."""

    title = "A rope bridge, 12 m long; a person of 75 kg walks across it."
    charts = (
        Chart("sag under the person", "cm", ".1f", (0, 114, 140)),
        Chart("largest tension", "kN", ".2f", (196, 78, 20)),
    )

    def __init__(self) -> None:
        self.bridge = assemble()
        self.scene = self.bridge.scene
        self.seconds = math.inf
        self.unbalanced = 0.0  # N: between the anchors and what they must carry, at worst
        self.momentum = 0.0  # kg m/s, upward
        self.gap = 0.0  # m: by which a link's length was missed at worst
        self.load = 0.0  # N
        self.shape: FloatArray | None = None

    def plan(self, seconds: float) -> list[Part]:
        self.seconds = seconds
        return [Part(seconds, 5e-3)]

    def begin(self) -> None:
        self.settled = self.scene.settle()
        self.rest = self.anchor_force()
        self.shape = self.path_height()

    def anchor_force(self) -> FloatArray:
        """Of all anchors on the ropes, (3,), N."""
        return np.asarray(np.sum([anchor.force for anchor in self.bridge.anchors], axis=0))

    def path_height(self) -> FloatArray:
        """Z of the middle of the path at places of x evenly spaced by SPAN / 100: (101,), m."""
        left, right = (rope.centerline(200) for rope in self.bridge.ropes[:2])
        middle = (left + right) / 2.0
        return np.interp(np.linspace(0.0, SPAN, 101), middle[:, 0], middle[:, 2])

    def before_step(self, dt: float) -> None:
        time = self.scene.time + dt
        self.tread(min(time / self.seconds, 1.0), PERSON, time)

    def tread(self, x: float, mass: float, time: float) -> None:
        """Let someone of `mass` (kg) tread at `x`, a part of the span, at this `time` (s)."""
        beat = 1.0 + 0.25 * math.sin(2.0 * math.pi * 1.8 * time)
        each = 1.0 / (STATIONS + 1.0)
        self.load = 0.0
        for k, pair in zip(stations(), self.bridge.loads, strict=True):
            share = max(0.0, 1.0 - abs(x - k) / each) * mass * GRAVITY * beat
            self.load += share
            for load in pair:
                load.force = (0.0, 0.0, -share / 2.0)

    def after_step(self, dt: float) -> None:
        momentum = float(self.scene.linear_momentum[2])
        pull = (momentum - self.momentum) / dt + self.scene.drag * momentum
        left = float(self.anchor_force()[2]) - self.bridge.weight - self.load - pull
        self.unbalanced = max(self.unbalanced, abs(left))
        self.momentum = momentum

    def sample(self) -> tuple[float, ...]:
        assert self.shape is not None
        self.gap = max(self.gap, max(float(np.abs(link.violation).max()) for link in self.bridge.links))
        x = np.linspace(0.0, 1.0, 101)
        sag = float(np.interp(self.place, x, self.shape - self.path_height()))
        return 100.0 * max(sag, 0.0), 1e-3 * max(float(rope.tensions(100).max()) for rope in self.bridge.ropes)

    def caption(self) -> str:
        return f"{SPAN * self.place:.1f} m from the bank"

    def look(self) -> tuple[list[FloatArray], list[FloatArray], float]:
        ropes = self.bridge.ropes
        return [rope.centerline(121) for rope in ropes], [rope.tensions(121) for rope in ropes], self.place

    def legend(self) -> str:
        return "tension, 0 to 1.5 kN"

    def check(self) -> list[str]:
        weight = self.bridge.weight
        wrong = []
        if not self.settled.stable:
            wrong.append("the bridge at rest is not stable")
        missing = float(np.linalg.norm(self.rest - (0.0, 0.0, weight)))
        if not missing <= 1e-6 * weight:
            wrong.append(f"at rest the anchors miss the weight of {weight:.2f} N by {missing:.1e} N")
        # measured 6e-5: a step bounds the stiffness of taut links body by body, so momentum is not kept to rounding
        if not self.unbalanced <= 1e-3 * weight:
            wrong.append(f"on the way the anchors miss weights and change of momentum by {self.unbalanced:.1e} N")
        if not self.gap <= 1e-3:
            wrong.append(f"a link missed its length by {1e3 * self.gap:.2f} mm")
        return wrong

    def findings(self) -> str:
        return (
            f"at rest the anchors carry {self.rest[2]:.3f} N, the ropes weigh {self.bridge.weight:.3f} N; on the "
            f"way they carry weights and change of momentum to {self.unbalanced:.0e} N; links keep their lengths to "
            f"{1e6 * self.gap:.1g} µm."
        )

    # ---------------------------------------------------------------------------------------------------- on a page

    camera = ((3.2, -13.4, 6.1), (SPAN / 2.0, 0.0, HEIGHT - 0.2))
    ground = 0.0

    def furnish(self) -> None:
        from sennit.demos.hoisting import person
        from sennit.export.solids import board

        self.piloted("walk")
        self.weight, self.walking = PERSON, 1.4  # kg, m/s
        self.scene.control("weight of the person", self.weigh, PERSON, range=(0.0, 250.0), unit="kg")
        self.scene.control("walking speed", self.hurry, self.walking, range=(0.2, 5.0), unit="m/s")
        self.scene.watch("sag under the person", lambda: self.sample()[0], unit="cm")
        self.scene.watch("largest tension", lambda: self.sample()[1], unit="kN")
        self.decorate(banks(), name="banks")
        self.walker = sn.World.at(sn.Pose((0.0, 0.0, HEIGHT)))
        self.decorate(person(np.zeros(3), (52, 92, 150)), on=self.walker, name="person")
        self.boards = [sn.World.at(sn.Pose((0.0, 0.0, HEIGHT))) for _ in range(BOARDS)]
        half = np.array((0.0, WIDTH / 2.0 + 0.06, 0.0))
        for k, point in enumerate(self.boards):
            tone = (168, 132, 92) if k % 2 else (180, 144, 102)
            self.decorate(board(-half, half, (1.0, 0.0, 0.0), (0.13, 0.014), tone), on=point, name=f"board {k + 1}")

    def weigh(self, mass: float) -> None:
        """Let the person weigh `mass` (kg)."""
        self.weight = mass

    def hurry(self, pace: float) -> None:
        """Let the person walk at `pace` (m/s)."""
        self.walking = pace

    def restart(self) -> None:
        self.way, self.heading, self.steps = 0.0, 1.0, 0
        self.follow(0.0)

    @property
    def place(self) -> float:
        """How far the person has come, as a part of the span."""
        return self.way / SPAN if self.seconds == math.inf else min(self.scene.time / self.seconds, 1.0)

    def act(self, dt: float) -> None:
        if self.automatic:
            self.way += self.heading * self.walking * dt
            if not 0.0 <= self.way <= SPAN:  # turns round on the bank
                self.way, self.heading = min(max(self.way, 0.0), SPAN), -self.heading
        self.tread(self.way / SPAN, self.weight, self.scene.time if self.automatic else 0.0)

    def follow(self, dt: float) -> None:
        self.steps += 1
        if self.steps % 4 != 1:  # as often as a page is drawn
            return
        left, right = (rope.centerline(10 * BOARDS + 1) for rope in self.bridge.ropes[:2])
        middle, lift = (left + right) / 2.0, np.array((0.0, 0.0, 0.04))
        feet = np.array([np.interp(self.way, middle[:, 0], middle[:, k]) for k in range(3)])
        self.walker.position = feet + lift
        at = 10 * np.arange(BOARDS) + 5
        along, across = middle[at + 1] - middle[at - 1], right[at] - left[at]
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        up = np.cross(along, across)
        up /= np.linalg.norm(up, axis=1, keepdims=True)
        turned = matrix_to_quaternion(np.stack((along, np.cross(up, along), up), axis=2))
        for point, place, quaternion in zip(self.boards, middle[at] + lift, turned, strict=True):
            point.position = sn.Pose(place, quaternion)

    # ------------------------------------------------------------------------------------------------------ pictures

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage

        camera = Camera(
            (2.2, -15.0, 6.2), (SPAN / 2.0, 0.0, HEIGHT - 0.25), size=size, width=13.2,
            centre=(0.5, 0.47 * height / size[1]),
        )  # fmt: skip
        water = np.array(((0.0, -9.0, 0.0), (SPAN, -9.0, 0.0), (SPAN, 11.0, 0.0), (0.0, 11.0, 0.0)))
        stage = Stage(camera, PAPER, water)
        stage.polygon(water, (176, 205, 214))
        stage.facets(banks())
        return stage

    def paint(self, look: tuple[list[FloatArray], list[FloatArray], float]) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import ball, bar, board, ramp, tube

        lines, tensions, place = look
        parts = []
        for line, tension, section in zip(lines, tensions, (FOOT, FOOT, HAND, HAND), strict=True):
            radius = 2.4 * math.sqrt(section.area / math.pi)
            parts.append(tube(line, radius, ramp(tension, 0.0, 1500.0), sides=8))
        count = len(lines[0]) - 1
        for k in stations():
            at = round(k * count)
            for low, high in ((0, 2), (1, 3)):
                parts.append(bar(lines[low][at], lines[high][at], 0.014, (150, 126, 96), pieces=5))
        along = lines[0][1] - lines[0][0]
        for at in range(2, count - 1, 3):  # boards lie on the foot ropes; only those at stations are links
            along = lines[0][at + 1] - lines[0][at - 1]
            lift = np.array((0.0, 0.0, 0.045))
            tone = (168, 132, 92) if at % 2 else (180, 144, 102)
            parts.append(board(lines[0][at] + lift, lines[1][at] + lift, along, (0.105, 0.014), tone))
        middle = (lines[0] + lines[1]) / 2.0
        feet = np.array([np.interp(place * SPAN, middle[:, 0], middle[:, k]) for k in range(3)])
        feet[2] += 0.06
        stand = np.array((0.0, 0.12, 0.45, 0.9, 1.2, 1.36, 1.42))
        girth = np.array((0.13, 0.14, 0.15, 0.19, 0.22, 0.15, 0.06))
        parts.append(tube(feet + np.outer(stand, (0.0, 0.0, 1.0)), girth, (52, 92, 150), sides=12))
        parts.append(ball(feet + np.array((0.0, 0.0, 1.57)), 0.13, (222, 178, 146), gloss=0.2))
        return Facets.joined(parts)


def banks() -> Facets:
    """Two blocks of earth with grass, and the posts that hold the ropes."""
    from sennit.export.facets import Facets
    from sennit.export.solids import bar, block

    parts = []
    for near, far in ((-6.0, 0.0), (SPAN, SPAN + 6.0)):
        for low, high, colour in (
            (0.0, HEIGHT - 0.25, (196, 178, 150)),
            (HEIGHT - 0.25, HEIGHT - 0.1, (150, 182, 112)),
        ):
            middle, size = ((near + far) / 2.0, 4.0, (low + high) / 2.0), (far - near, 14.0, high - low)
            parts.append(block(middle, np.eye(3), size, colour, pieces=1, gloss=0.0))
    for x in (0.0, SPAN):
        for side in (1.0, -1.0):
            foot = np.array((x, side * (WIDTH / 2.0 + 0.06), HEIGHT - 0.4))
            parts.append(bar(foot, foot + np.array((0, 0, RAIL + 0.7)), 0.09, (122, 92, 66), sides=10, pieces=4))
    return Facets.joined(parts)


add_arguments, main, play = offered(Walk, seconds=6.0)
