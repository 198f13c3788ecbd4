"""Ropes and boxes are poured on a table: they fall on each other, slide, roll, and come to lie.

Everything touches everything with dry friction: ropes, boxes, the table, and each rope itself. The ropes are eight
pieces of soft cord; the boxes are rigid. What falls off the table lands on the floor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos.hoisting import Fact, Hoist, block, place_of
from sennit.demos.stage import Chart, Part, offered
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Pile", "add_arguments", "assemble", "build", "main", "play"]

DESCRIPTION = (
    "Ropes and boxes are poured on a table and come to lie in a pile. Writes an animated picture (.gif, .mp4) or some "
    "of its frames (.png). Checks that nothing passes through anything, that no energy comes out of nothing, and that "
    "the table carries the weight in the end."
)

GRAVITY = 9.81
ROPES, BOXES = 8, 6
LENGTH, RADIUS, POINTS = 0.36, 6e-3, 16  # of a rope: m, m, control points
SIDE, MASS = 0.05, 0.08  # of a box: m, kg
TABLE = (0.7, 0.5, 0.04)  # m: sides of its top, whose upper face is at z = 0
FRICTION = 0.4
CORD = sn.Material(youngs_modulus=2e6, poisson_ratio=0.4, density=900.0, relaxation_time=4e-3, look="laid")
STEP = 1.0 / 240.0  # s
DRAG = 0.6  # 1/s
RESTING = 0.4  # s at the end, over which the table's force is averaged
SECONDS = 3.0
COLOURS = ((176, 92, 60), (66, 116, 140), (198, 160, 74), (98, 128, 82))


@dataclass(frozen=True, slots=True)
class Pile:
    """The scene with its bodies."""

    scene: sn.Scene
    table: sn.Obstacle
    floor: sn.Obstacle
    ropes: list[sn.Rod]
    boxes: list[sn.RigidBody]

    @property
    def weight(self) -> float:
        """Of everything, N."""
        return GRAVITY * (sum(rope.mass for rope in self.ropes) + sum(box.mass for box in self.boxes))


def assemble(ropes: int = ROPES, boxes: int = BOXES, seed: int = 4) -> Pile:
    """Ropes and boxes in the air over a table, in turns."""
    rng = np.random.default_rng(seed)
    scene = sn.Scene(gravity=(0.0, 0.0, -GRAVITY), drag=DRAG)
    top = sn.Box(TABLE, sn.Pose((0.0, 0.0, -0.5 * TABLE[2])))
    table = scene.add(sn.Obstacle(top, name="table"))
    floor = scene.add(sn.Obstacle(sn.Plane((0.0, 0.0, -0.75), (0.0, 0.0, 1.0)), name="floor"))
    section = sn.Section.circle(RADIUS)
    made_ropes, made_boxes = [], []
    height = 0.05
    for k in range(max(ropes, boxes)):
        if k < ropes:
            angle = math.pi * (k * 0.382 + rng.uniform(-0.08, 0.08))
            half = 0.5 * LENGTH * np.array((math.cos(angle), math.sin(angle), 0.0))
            middle = np.array((*rng.uniform(-0.03, 0.03, 2), height))
            rope = sn.Rod.straight(
                middle - half, middle + half, section=section, material=CORD, control_points=POINTS,
                name=f"rope {k + 1}",
            )  # fmt: skip
            made_ropes.append(scene.add(rope))
            height += 0.035
        if k < boxes:
            turn = rng.normal(size=4)
            place = sn.Pose((*rng.uniform(-0.05, 0.05, 2), height + 0.02), turn / np.linalg.norm(turn))
            box = sn.RigidBody.box((SIDE, SIDE, SIDE), mass=MASS, pose=place, name=f"box {k + 1}")
            made_boxes.append(scene.add(box))
            height += 0.075
    scene.collide(friction=FRICTION)
    return Pile(scene, table, floor, made_ropes, made_boxes)


def build() -> sn.Scene:
    """The scene of the pile."""
    return assemble().scene


class Pouring(Hoist):
    """They fall, and lie."""

    headline = "Ropes and boxes on a table"
    title = "Eight ropes and six boxes are poured on a table."
    charts = (
        Chart("table carries", "N", ".1f", (84, 110, 60)),
        Chart("contacts", "", ".0f", (0, 114, 140)),
        Chart("kinetic energy", "J", ".2f", (196, 78, 20)),
    )

    def __init__(self) -> None:
        self.pile = assemble()
        self.scene = self.pile.scene
        self.carried: list[float] = []
        self.times: list[float] = []
        self.gained = 0.0  # J, by which energy grew in a step, at worst
        self.overlap = self.deepest = 0.0  # of ropes over their diameters, last and at worst, in what was seen
        self.sunk = 0.0  # m, of anything below the surface of the table, at worst
        self.missed = 0  # steps that could not be solved

    def plan(self, seconds: float) -> list[Part]:
        return [Part(seconds, STEP)]

    def begin(self) -> None:
        self.energy = self.first = self.scene.energy.total

    def before_step(self, dt: float) -> None:
        pass

    def after_step(self, dt: float) -> None:
        energy = self.scene.energy.total
        self.gained = max(self.gained, energy - self.energy)
        self.energy = min(energy, self.energy)
        self.carried.append(self.support())
        self.times.append(self.scene.time)

    def support(self) -> float:
        """What table and floor carry, N."""
        ground = self.pile.table, self.pile.floor
        return sum(float(contact.force[2]) for contact in self.scene.contacts if contact.second in ground)

    def look_at_overlaps(self) -> None:
        """Note how near ropes come to each other, and how low anything on the table is."""
        lines = [rope.centerline(60) for rope in self.pile.ropes]
        gaps = [np.linalg.norm(a[:, None] - b[None], axis=2).min() for i, a in enumerate(lines) for b in lines[:i]]
        self.overlap = max(1.0 - float(min(gaps)) / (2.0 * RADIUS), 0.0)
        self.deepest = max(self.deepest, self.overlap)
        for line in lines:
            self.note_low(line, RADIUS)
        corners = 0.5 * SIDE * np.array([(i, j, k) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
        for box in self.pile.boxes:
            place, turn = place_of(box)
            self.note_low(place + corners @ turn.T, 0.0)

    def note_low(self, points: FloatArray, radius: float) -> None:
        """Note how far `points` with a `radius` (m) about them are in the table's top, from above."""
        over = (np.abs(points[:, 0]) < 0.5 * TABLE[0] - 0.02) & (np.abs(points[:, 1]) < 0.5 * TABLE[1] - 0.02)
        over &= points[:, 2] > -TABLE[2]
        if over.any():
            self.sunk = max(self.sunk, radius - float(points[over, 2].min()))

    def sample(self) -> tuple[float, ...]:
        return self.support(), float(len(self.scene.contacts)), self.scene.energy.kinetic

    def caption(self) -> str:
        return f"{len(self.scene.contacts)} contacts"

    def facts(self) -> list[Fact]:
        facts = [
            Fact("overlap of ropes as they fall, over their diameter", self.deepest, 0.1, 0.0, "", below=True),
            Fact("anything in the table", self.sunk, 0.2 * RADIUS, 0.0, "m", below=True),
            Fact("energy from nothing, over that at first", self.gained / abs(self.first), 1e-3, 0.0, "", below=True),
        ]
        if self.times[-1] >= SECONDS - STEP:
            late = np.array(self.times) > self.times[-1] - RESTING
            weight = self.pile.weight
            facts.append(Fact("overlap as they lie", self.overlap, 0.02, 0.0, "", below=True))
            facts.append(Fact("table carries", float(np.array(self.carried)[late].mean()), weight, 0.02 * weight, "N"))
        return facts

    # ---------------------------------------------------------------------------------------------------- on a page

    step = STEP
    camera = ((0.58, -0.78, 0.48), (0.0, 0.0, 0.05))
    ground = -0.75

    def furnish(self) -> None:
        self.scene.control("pour again", self.pour)
        self.scene.control("friction", self.rub, FRICTION, range=(0.0, 1.0))
        self.scene.control("tilt of gravity", self.tilt, 0.0, range=(-30.0, 30.0), unit="°")
        self.scene.watch("contacts", lambda: float(len(self.scene.contacts)))
        self.scene.watch("table and floor carry", self.support, unit="N")
        self.scene.watch("kinetic energy", lambda: float(self.scene.energy.kinetic), unit="J")
        self.start = self.scene.snapshot()
        self.decorate(legs(), name="legs")

    def pour(self) -> None:
        """Put everything back into the air, at rest."""
        self.scene.restore(self.start)

    def rub(self, friction: float) -> None:
        """Friction of everything."""
        self.scene.contacts.friction = friction

    def tilt(self, degrees: float) -> None:
        """Tilt the table's world: gravity, that is."""
        angle = math.radians(degrees)
        self.scene.gravity = (GRAVITY * math.sin(angle), 0.0, -GRAVITY * math.cos(angle))

    def restart(self) -> None:
        self.scene.gravity = (0.0, 0.0, -GRAVITY)

    # ------------------------------------------------------------------------------------------------------ pictures

    def look(self) -> Any:
        self.look_at_overlaps()
        return [rope.centerline(60) for rope in self.pile.ropes], [place_of(box) for box in self.pile.boxes]

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        target = np.array((0.0, 0.0, 0.12))
        camera = Camera(
            target + np.array((0.75, -1.5, 0.8)), target, size=size, width=0.78 * size[0] / height,
            centre=(0.5, 0.5 * height / size[1]),
        )  # fmt: skip
        ground = floor(camera, (-30.0, -30.0), (30.0, 30.0))
        stage = Stage(camera, (228, 236, 240), ground)
        top = (np.array((0.0, 0.0, -0.5 * TABLE[2])), np.eye(3))
        half = (0.5 * TABLE[0], 0.5 * TABLE[1], 0.5 * TABLE[2])
        stage.polygon(ground, (222, 216, 204))
        stage.facets(block(top, half, (196, 164, 124)))
        return stage

    def paint(self, look: Any) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import tube

        lines, boxes = look
        parts = [tube(line, RADIUS, COLOURS[k % 4], sides=10) for k, line in enumerate(lines)]
        half = 0.5 * SIDE * np.ones(3)
        parts += [block(place, tuple(half), (122, 140, 168)) for place in boxes]
        return Facets.joined(parts)


def legs() -> Facets:
    """Of the table."""
    from sennit.export.facets import Facets

    half = (0.02, 0.02, 0.5 * (0.75 - TABLE[2]))
    middle = -TABLE[2] - half[2]
    own = (np.zeros(3), np.eye(3))
    places = [
        (i * (0.5 * TABLE[0] - 0.05), j * (0.5 * TABLE[1] - 0.05), middle) for i in (-1.0, 1.0) for j in (-1.0, 1.0)
    ]
    return Facets.joined([block(own, half, (168, 138, 102), place) for place in places])


add_arguments, main, play = offered(Pouring, seconds=SECONDS)
