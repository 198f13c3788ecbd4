"""A bundle of cables in a car: a trunk clipped along the side of the body, three branches fused to it.

The paper's fourth scene (MICADO, Theetten and Grisoni 2008, figure 3, table 1: no absolute and 35 relative multipliers,
1 ms a step). What it says: an electrical bundle is positioned and clipped along a path on the lateral structure of a
car; its parts are assembled by fusions. What is inferred: with no absolute multiplier the structure is a body too, to
which the clips tie the trunk. 35 = 3 × 6 (branches fused with direction and roll) + 4 × 3 (clips: a place) + 5 (a
grommet: an oriented keyhole through which the trunk slides). 24 control points for the trunk and 10 for each branch
make 216 degrees of freedom, 223 with the car's and the grommet's.

Nothing but a load that equals all weight holds the body of the car (a lift, balanced), so that it floats where it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos.hoisting import moved
from sennit.demos.stage import Chart, Part, Show, offered
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Bundle", "add_arguments", "assemble", "build", "main", "play"]

DESCRIPTION = (
    "A bundle of cables is laid along the side of a car: clips hold its trunk, a grommet lets it slide, three branches "
    "are fused to it; a hand pulls the slack out and lets go. Writes an animated picture (.gif, .mp4) or some of its "
    "frames (.png); colours show bending. Checks that clips and grommet hold, that together they carry the weight, and "
    "that each fusion carries the weight of its branch."
)

GRAVITY = 9.81
CAR = 350.0  # kg: the bare body
PATH = np.array(
    ((0.0, 0.0, 0.86), (0.28, 0.0, 0.62), (0.55, 0.0, 0.42), (0.95, 0.0, 0.34), (1.5, 0.0, 0.34),
     (1.95, 0.0, 0.42), (2.25, 0.0, 0.66), (2.5, 0.0, 0.86), (2.8, 0.0, 0.92))
)  # fmt: skip
"""Along which the trunk is laid: corners, (9, 3), m."""
CLIPS = (0.30, 0.48, 0.66, 0.86)
"""Where the trunk is clipped, as parts of its length."""
GROMMET = 0.14
BRANCHES = ((0.24, (0.30, -0.06, 0.42)), (0.57, (0.02, -0.05, 0.45)), (0.78, (-0.24, -0.05, 0.40)))
"""Where each branch begins, as a part of the trunk's length, and where its end lies from there, m."""
PLUG = 0.06  # kg: of the connector at the end of each branch
CALM = 5.0  # s: of a show in whose end it is at rest
PULL = 14.0  # N: of the hand on the front end
PVC = sn.Material(youngs_modulus=2.5e7, poisson_ratio=0.4, density=1900, relaxation_time=0.03, look="jacket")
TRUNK, BRANCH = sn.Section.circle(radius=0.008), sn.Section.circle(radius=0.005)


@dataclass(frozen=True, slots=True)
class Bundle:
    """The scene, its cables, the body of the car, and what ties them."""

    scene: sn.Scene
    car: sn.RigidBody
    trunk: sn.Rod
    branches: list[sn.Rod]
    clips: list[Any]
    grommet: sn.Keyhole
    fusions: list[sn.Fuse]
    hand: sn.Load
    lift: sn.Load

    @property
    def branch_weights(self) -> list[float]:
        """Of each branch with its plug, N."""
        return [GRAVITY * (branch.mass + PLUG) for branch in self.branches]

    @property
    def weight(self) -> float:
        """Of all cables and plugs, N."""
        return GRAVITY * self.trunk.mass + sum(self.branch_weights)


def smooth(corners: FloatArray, count: int = 121) -> FloatArray:
    """A curve (count, 3) that rounds `corners`: their cubic B-spline, from the first one to the last."""
    padded = np.vstack((2.0 * corners[0] - corners[1], corners, 2.0 * corners[-1] - corners[-2]))
    u = np.linspace(0.0, len(corners) - 1.0, count)
    span = np.minimum(u.astype(int), len(corners) - 2)
    t = (u - span)[:, None]
    basis = ((1.0 - t) ** 3, 3.0 * t**3 - 6.0 * t**2 + 4.0, -3.0 * t**3 + 3.0 * t**2 + 3.0 * t + 1.0, t**3)
    return np.asarray(sum(b * padded[span + k] for k, b in enumerate(basis)) / 6.0)


def assemble(trunk_points: int = 24, branch_points: int = 10) -> Bundle:
    """The bundle as it is laid by hand, before it settles; the numbers are of control points."""
    scene = sn.Scene(gravity=(0.0, 0.0, -GRAVITY), drag=0.8)
    car = scene.add(sn.RigidBody.box(size=(3.4, 1.5, 1.2), mass=CAR, position=(1.4, 0.0, 0.6)))
    trunk = scene.add(
        sn.Rod.through(smooth(PATH), section=TRUNK, material=PVC, control_points=trunk_points, straight=True)
    )

    def on_car(place: FloatArray) -> Any:
        return car.at(np.asarray(place) - car.pose.position)

    clips = []
    for part in CLIPS:
        point = trunk.at(part * trunk.length)
        clips.append(scene.add(sn.Fuse(point, on_car(point.position), align=False)))
    sliding = trunk.at(GROMMET * trunk.length)
    grommet = scene.add(
        sn.Keyhole(
            trunk, at=GROMMET * trunk.length, hole=on_car(sliding.position), direction=sliding.frame[:, 2], friction=0.0
        )
    )
    branches, fusions = [], []
    for part, way in BRANCHES:
        root = trunk.at(part * trunk.length)
        start = np.asarray(root.position)
        bend = smooth(
            start + np.outer((0.0, 0.15, 0.5, 0.8, 1.0), way) + np.outer((0.0, 1.0, 0.9, 0.3, 0.0), (0.0, -0.04, 0.0))
        )
        branch = scene.add(
            sn.Rod.through(bend, section=BRANCH, material=PVC, control_points=branch_points, straight=True)
        )
        branches.append(branch)
        fusions.append(scene.add(sn.Fuse(branch.at(0.0), root)))
        scene.add(sn.Load(branch.at(branch.length), force=(0.0, 0.0, -GRAVITY * PLUG)))
    hand = scene.add(sn.Load(trunk.at(0.0), force=(0.0, 0.0, 0.0)))
    lift = sn.Load(car.at((0.0, 0.0, 0.0)), force=(0.0, 0.0, 0.0))
    made = Bundle(scene, car, trunk, branches, clips, grommet, fusions, hand, lift)
    # the lift carries everything, and the cables' weight where it is, so that the body neither falls nor tips
    centre = np.asarray(car.pose.position)
    moment = np.zeros(3)
    for rod in (trunk, *branches):
        middle = rod.centerline(200).mean(axis=0)
        moment += np.cross(middle - centre, (0.0, 0.0, -GRAVITY * rod.mass))
    for branch in branches:
        end = np.asarray(branch.at(branch.length).position)
        moment += np.cross(end - centre, (0.0, 0.0, -GRAVITY * PLUG))
    lift.force, lift.torque = (0.0, 0.0, GRAVITY * CAR + made.weight), -moment
    scene.add(lift)
    return made


def build(trunk_points: int = 24, branch_points: int = 10) -> sn.Scene:
    """The scene of the bundle."""
    return assemble(trunk_points, branch_points).scene


class Laying(Show):
    """The bundle falls into place; a hand pulls its front end and lets go; it comes to rest."""

    title = "A bundle of cables, a trunk and three branches, is clipped along the side of a car."
    charts = (
        Chart("cable drawn through the grommet", "mm", ".1f", (0, 114, 140)),
        Chart("largest force of a clip", "N", ".1f", (196, 78, 20)),
    )

    def __init__(self) -> None:
        self.bundle = assemble()
        self.scene = self.bundle.scene
        self.seconds = math.inf
        self.gap = 0.0
        self.drawn = 0.0
        self.unbalanced = 0.0  # N: between the hand's pull and what it does to the momentum of everything, at worst
        self.momentum = np.zeros(3)

    def plan(self, seconds: float) -> list[Part]:
        self.seconds = seconds
        return [Part(seconds, 4e-3)]

    def begin(self) -> None:
        self.started = float(self.bundle.grommet.s)

    def before_step(self, dt: float) -> None:
        part = (self.scene.time + dt) / self.seconds
        strength = PULL * math.sin(math.pi * (part - 0.2) / 0.3) ** 2 if 0.2 < part < 0.5 else 0.0
        self.bundle.hand.force = (-0.8 * strength, -0.2 * strength, 0.55 * strength)

    def after_step(self, dt: float) -> None:
        for held in (*self.bundle.clips, self.bundle.grommet):
            self.gap = max(self.gap, float(np.abs(held.violation).max()))
        self.drawn = max(self.drawn, abs(float(self.bundle.grommet.s) - self.started))
        momentum = self.scene.linear_momentum
        left = (momentum - self.momentum) / dt + self.scene.drag * momentum - self.bundle.hand.force
        self.unbalanced = max(self.unbalanced, float(np.linalg.norm(left)))
        self.momentum = momentum

    def clip_forces(self) -> FloatArray:
        """What clips and grommet do to the trunk: (5, 3), N."""
        return np.array([held.force for held in (*self.bundle.clips, self.bundle.grommet)])

    def sample(self) -> tuple[float, ...]:
        moved = float(self.bundle.grommet.s) - self.started
        return 1e3 * abs(moved), float(np.linalg.norm(self.clip_forces(), axis=1).max())

    def caption(self) -> str:
        part = self.scene.time / self.seconds
        return "falls into place" if part <= 0.2 else "pulled by hand" if part < 0.5 else "comes to rest"

    def look(self) -> dict[str, Any]:
        bundle = self.bundle
        rods = (bundle.trunk, *bundle.branches)
        return {
            "lines": [rod.centerline(121 if rod is bundle.trunk else 49) for rod in rods],
            "bends": [
                np.linalg.norm(rod.curvatures(121 if rod is bundle.trunk else 49)[:, :2], axis=1) for rod in rods
            ],
            "clips": [np.asarray(bundle.trunk.at(part * bundle.trunk.length).position) for part in CLIPS],
            "grommet": (
                np.asarray(bundle.trunk.at(float(bundle.grommet.s)).position),
                np.asarray(bundle.trunk.at(float(bundle.grommet.s)).frame[:, 2]),
            ),
            "hand": bool(np.any(bundle.hand.force)),
        }

    def legend(self) -> str:
        return "bending, 0 to 5 rad/m"

    def balance(self) -> list[float]:
        """What is missing, as parts of the weights: first at clips and grommet together, then at each fusion."""
        weight = self.bundle.weight
        missing = [float(np.linalg.norm(self.clip_forces().sum(axis=0) - (0.0, 0.0, weight))) / weight]
        for fusion, own in zip(self.bundle.fusions, self.bundle.branch_weights, strict=True):
            missing.append(float(np.linalg.norm(np.asarray(fusion.force) - (0.0, 0.0, own))) / own)
        return missing

    def check(self) -> list[str]:
        wrong = []
        if not self.gap <= 1e-4:
            wrong.append(f"a clip let the trunk go by {1e3 * self.gap:.2f} mm")
        if not self.drawn >= 1e-3:
            wrong.append("the hand drew nothing through the grommet")
        # measured 1e-3, for the reason given in `bridge`
        if not self.unbalanced <= 1e-2 * self.bundle.weight:
            wrong.append(f"the momentum of everything changes by {self.unbalanced:.1e} N more than the hand pulls")
        if self.seconds < CALM:
            return wrong
        missing = self.balance()
        if not missing[0] <= 0.02:
            wrong.append(f"clips and grommet miss the weight by {100.0 * missing[0]:.1f} %")
        if not max(missing[1:]) <= 0.03:
            wrong.append(f"a fusion misses the weight of its branch by {100.0 * max(missing[1:]):.1f} %")
        return wrong

    def findings(self) -> str:
        missing = self.balance()
        if self.seconds < CALM:
            return (
                f"clips and grommet hold to {1e6 * self.gap:.2g} µm; momentum changes by the hand's pull to "
                f"{self.unbalanced:.1g} N; it would come to rest in {CALM:g} s."
            )
        return (
            f"clips and grommet hold to {1e6 * self.gap:.2g} µm and carry the weight of {self.bundle.weight:.2f} N to "
            f"{100.0 * missing[0]:.2g} %; each fusion carries its branch to {100.0 * max(missing[1:]):.2g} %; the hand "
            f"drew {1e3 * self.drawn:.0f} mm through the grommet."
        )

    # ---------------------------------------------------------------------------------------------------- on a page

    step = 4e-3
    camera = ((0.75, -3.6, 1.55), (1.4, 0.0, 0.74))
    ground = 0.0

    def furnish(self) -> None:
        bundle = self.bundle
        self.scene.remove(bundle.lift)
        foot = bundle.car.at((0.02, 0.075, -0.26))
        self.scene.add(sn.Clamp(foot, name="stand"))  # whatever is dragged, the car stays where it is
        self.piloted("tug now and then")
        self.scene.control("pull of the hand", self.by_hand(self.pull_at), 0.0, range=(0.0, 30.0), unit="N")
        self.scene.watch("drawn through the grommet", lambda: self.sample()[0], unit="mm")
        self.scene.watch("largest force of a clip", lambda: self.sample()[1], unit="N")
        side = body_side()
        place = (-np.asarray(bundle.car.pose.position), np.eye(3))
        self.decorate(moved(side, place), instead_of=bundle.car, name="side of the car")
        for k, branch in enumerate(bundle.branches):
            self.decorate(plug(), on=branch.at(branch.length), name=f"plug {k + 1}")

    def pull_at(self, pull: float) -> None:
        """Let the hand pull the front end with `pull` (N)."""
        self.pull = pull

    def restart(self) -> None:
        self.pull = 0.0  # N
        self.zero = float(self.scene.time)

    def act(self, dt: float) -> None:
        strength = self.pull
        if self.automatic:
            part = math.fmod(self.scene.time + dt - self.zero, 6.0) / 6.0
            strength = PULL * math.sin(math.pi * (part - 0.2) / 0.3) ** 2 if 0.2 < part < 0.5 else 0.0
        self.bundle.hand.force = (-0.8 * strength, -0.2 * strength, 0.55 * strength)

    # ------------------------------------------------------------------------------------------------------ pictures

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        camera = Camera(
            (0.9, -4.6, 1.75), (1.4, 0.0, 0.72), size=size, width=3.35, centre=(0.5, 0.52 * height / size[1]),
        )  # fmt: skip
        ground = floor(camera, (-50.0, -5.0), (50.0, 50.0))
        stage = Stage(camera, (240, 241, 243), ground)
        stage.polygon(ground, (214, 216, 220))
        stage.facets(body_side())
        return stage

    def paint(self, look: dict[str, Any]) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import ball, ramp, tube

        parts = []
        for k, (line, bend) in enumerate(zip(look["lines"], look["bends"], strict=True)):
            parts.append(tube(line, 0.017 if k == 0 else 0.011, ramp(bend, 0.0, 5.0), sides=12))
            if k:  # a connector
                ahead = (line[-1] - line[-3]) / np.linalg.norm(line[-1] - line[-3])
                plug = line[-1] + np.outer((-0.01, 0.0, 0.045, 0.05), ahead)
                parts.append(tube(plug, np.array((0.012, 0.021, 0.021, 0.016)), (58, 62, 70), sides=8))
                root = line[:3]
                parts.append(tube(root, 0.016, (44, 46, 52), sides=10))
        trunk = look["lines"][0]
        for place in look["clips"]:
            k = int(np.argmin(np.linalg.norm(trunk - place, axis=1)))
            k = min(max(k, 1), len(trunk) - 2)
            parts.append(tube(trunk[k - 1 : k + 2], 0.024, (236, 196, 64), sides=12))
        place, way = look["grommet"]
        parts.append(tube(place + np.outer((-0.014, 0.0, 0.014), way), 0.030, (40, 42, 46), sides=16))
        if look["hand"]:
            parts.append(ball(trunk[0], 0.045, (222, 178, 146), gloss=0.2))
        return Facets.joined(parts)


def body_side() -> Facets:
    """The side of the body: sill with wheel arches, pillars, roof, behind the cables."""
    from sennit.export.facets import Facets
    from sennit.export.solids import tube

    steel, y = (168, 178, 192), 0.045
    roof = np.array(
        ((0.45, y, 0.62), (0.85, y + 0.1, 1.15), (1.25, y + 0.2, 1.38), (1.9, y + 0.2, 1.38), (2.35, y + 0.1, 1.12),
         (2.62, y, 0.9))
    )  # fmt: skip
    pillar = np.linspace((1.42, y + 0.03, 0.34), (1.5, y + 0.2, 1.37), 12)
    return Facets.joined(
        (
            tube(smooth(PATH + np.array((0.0, y + 0.03, -0.02))), 0.05, steel, sides=12),
            tube(smooth(roof), 0.035, steel, sides=12),
            tube(pillar, np.linspace(0.055, 0.035, 12), steel, sides=12),
        )
    )


def plug() -> Facets:
    """A connector, along the third axis."""
    from sennit.export.solids import tube

    places = np.outer((-0.01, 0.0, 0.045, 0.05), (0.0, 0.0, 1.0))
    return tube(places, np.array((0.009, 0.016, 0.016, 0.012)), (58, 62, 70), sides=8)


add_arguments, main, play = offered(Laying, seconds=6.0)
