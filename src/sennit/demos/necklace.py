"""A necklace is thrown into the air: ten pearls slide on their closed string and knock against each other.

The paper's second scene (MICADO, Theetten and Grisoni 2008, figure 2, table 1: no absolute and 10 relative multipliers,
0.4 ms a step). What it says: pearls slide on a string, shocks are impulses, contacts are Lagrangian constraints. What
is inferred: ten pearls, since each adds one sliding coordinate, which the paper counts among the multipliers. Here that
coordinate is a degree of freedom of its own, and the ten relative rows are the ten one-sided contacts between
neighbours around the closed string. Nothing ties the necklace to the world, as the empty place in the table says; so it
flies. 24 control points make 96 degrees of freedom, and 106 with the pearls. The figure shows pearls that are threaded;
so does the page: they wait on a piece of the string that is held straight, and go down it one after the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import sennit as sn
from sennit.demos.stage import Chart, Part, Show, offered
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Necklace", "add_arguments", "assemble", "build", "main", "play"]

DESCRIPTION = (
    "A necklace of ten pearls on a closed string is thrown into the air, turning; the pearls slide and knock against "
    "each other. Writes an animated picture in slow motion (.gif, .mp4) or some of its frames (.png). Checks that the "
    "centre of mass falls freely, that it keeps turning, that no pearls overlap, and that no energy "
    "comes out of nothing."
)

LENGTH = 0.52  # m: of the string
PEARLS = 10
GRAVITY = np.array((0.0, 0.0, -9.81))
START = np.array((0.0, 0.0, 0.16))  # m: where the centre of the string is
HAND = np.array((0.0, 0.0, 0.42))  # m: on a page, where it hangs between throws
EASE = 8.0  # 1/s: how fast the hand that caught it goes back there
FRICTION = 0.1  # of pearls on the string, on a page
STUCK = 20.0  # friction of pearls that wait to be let go
WAITING = np.array((-0.77, 0.0, -0.64))  # how the row of them points
ROOM = 0.72  # m: of string, on a page
EVERY = 0.55  # s: between two pearls
# on a page, where it is caught again and again: silk would kink between the pearls
NYLON = sn.Material(
    youngs_modulus=4e9, poisson_ratio=0.4, density=1200, relaxation_time=1e-3, look="braid", colour=(150, 52, 66)
)
TUMBLE = np.array((0.0, 9.0, 0.0))  # rad/s: within the plane of the hanging string, which would kink otherwise
CLASP = 0.012  # m: of knots on either side of the clasp, on a page
THROW = np.array((0.25, 0.0, 1.55))  # m/s
SPIN = np.array((-9.0, 11.0, 5.0))  # rad/s
SILK = sn.Material(
    youngs_modulus=3e8, poisson_ratio=0.4, density=1200, relaxation_time=2e-4, look="braid", colour=(150, 52, 66)
)
CORD = sn.Section.circle(radius=7e-4)
PEARL_DENSITY = 2700.0  # kg/m³


@dataclass(frozen=True, slots=True)
class Necklace:
    """The scene, the string and its pearls in their order along it."""

    scene: sn.Scene
    string: sn.Rod
    pearls: list[sn.Pearl]
    radii: FloatArray
    masses: FloatArray


def assemble(
    control_points: int = 24, pearls: int = PEARLS, friction: float = 0.0, material: sn.Material = SILK,
    waiting: bool = False,
) -> Necklace:  # fmt: skip
    """The necklace as it leaves the hand: the largest pearl in front, smaller ones behind it on both sides.

    `friction`: of pearls on the string; `material`: of the string; `waiting`: they stand in a row behind the clasp.
    """
    scene = sn.Scene(gravity=GRAVITY)
    ring = (ROOM if waiting else LENGTH) / (2.0 * math.pi)
    angle = np.linspace(0.0, 2.0 * math.pi, 97)[:-1]
    circle = START + ring * np.column_stack((np.cos(angle), np.sin(angle), 0.0 * angle))
    if waiting:
        circle = HAND + ring * np.column_stack((np.cos(angle + 1.3), 0.0 * angle, np.sin(angle + 1.3)))
    string = sn.Rod.through(
        circle, section=CORD, material=material, control_points=control_points, closed=True, straight=True
    )
    scene.add(string)
    behind = np.abs(np.arange(pearls) - (pearls - 1) / 2.0) / (pearls / 2.0)
    radii = 1e-3 * (9.5 - 3.0 * behind)
    masses = PEARL_DENSITY * 4.0 / 3.0 * math.pi * radii**3
    # evenly spaced but for a gap where the clasp would be, 1/4 of the string
    places = string.length * (0.125 + 0.75 * (np.arange(pearls) + 0.5) / pearls)
    if waiting:
        places = CLASP + 5e-3 + np.cumsum(2.0 * radii + 1e-3) - radii
    beads = [
        scene.add(sn.Pearl(string, at=s, mass=m, radius=r, restitution=0.8, friction=friction))
        for s, m, r in zip(places, masses, radii, strict=True)
    ]
    made = Necklace(scene, string, beads, radii, masses)
    _throw(made)
    return made


def turned(start: sn.Pose, part: float) -> sn.Pose:
    """The turn about y by `part` of the way from how the string points at `start` to `WAITING`."""
    x, _, z = start.rotation[:, 2].tolist()
    angle = 0.5 * part * math.atan2(z * WAITING[0] - x * WAITING[2], x * WAITING[0] + z * WAITING[2])
    return sn.Pose((0.0, 0.0, 0.0), (math.cos(angle), 0.0, math.sin(angle), 0.0))


def _throw(necklace: Necklace) -> None:
    """Let the string move as a rigid body would; the pearls, which do not slide yet, move with it."""
    string = necklace.string
    places = np.array([string.at(pearl.s).position for pearl in necklace.pearls])
    centre = np.average(np.vstack((START, places)), axis=0, weights=(string.mass, *necklace.masses))
    string.control_velocities = THROW + np.cross(SPIN, string.control_points - centre)
    for pearl in necklace.pearls:
        pearl.sliding_velocity = 0.0


def centre_of_mass(necklace: Necklace) -> FloatArray:
    """Of string and pearls: (3,), m."""
    line = necklace.string.centerline(401)[:-1]
    mass = necklace.string.mass
    beads = np.array([pearl.position for pearl in necklace.pearls])
    moment = mass * line.mean(axis=0) + necklace.masses @ beads
    return np.asarray(moment / (mass + necklace.masses.sum()))


def build(control_points: int = 24, pearls: int = PEARLS) -> sn.Scene:
    """The scene of the necklace."""
    return assemble(control_points, pearls).scene


class Flight(Show):
    """The necklace flies until it would fall into the hand again."""

    headline = "A necklace is thrown"
    title = "A necklace of ten pearls on 52 cm of string is thrown into the air."
    charts = (
        Chart("energy lost in shocks and damping", "mJ", ".1f", (196, 78, 20)),
        Chart("narrowest gap between pearls", "mm", ".1f", (0, 114, 140)),
    )

    def __init__(self, friction: float = 0.0, material: sn.Material = SILK, waiting: bool = False) -> None:
        self.necklace = assemble(friction=friction, material=material, waiting=waiting)
        self.scene = self.necklace.scene
        if waiting:
            self.title = "A necklace of ten pearls is threaded and thrown into the air."
        self.threaded = 0
        self.overlap = 0.0
        self.gained = 0.0
        self.strayed = 0.0

    def plan(self, seconds: float) -> list[Part]:
        return [Part(seconds, 2.5e-4, slower=12.0)]

    def begin(self) -> None:
        self.started = self.scene.linear_momentum
        self.mass = self.necklace.string.mass + float(self.necklace.masses.sum())
        self.spun = self.spin()
        self.energy = self.scene.energy.total
        self.lost = 0.0

    def before_step(self, dt: float) -> None:
        """Nothing touches it."""

    def gaps(self) -> FloatArray:
        """Between the surfaces of each pearl and the next one: (n,), m."""
        places = np.array([pearl.position for pearl in self.necklace.pearls])
        apart = np.linalg.norm(np.roll(places, -1, axis=0) - places, axis=1)
        return np.asarray(apart - self.necklace.radii - np.roll(self.necklace.radii, -1))

    def after_step(self, dt: float) -> None:
        energy = self.scene.energy.total
        self.lost = self.energy - energy
        self.gained = max(self.gained, energy - self.energy)
        self.overlap = max(self.overlap, -float(self.gaps().min()))
        due = self.started + self.mass * GRAVITY * self.scene.time
        self.strayed = max(self.strayed, float(np.linalg.norm(self.scene.linear_momentum - due)) / self.mass)

    def sample(self) -> tuple[float, ...]:
        return 1e3 * max(self.lost, 0.0), 1e3 * max(float(self.gaps().min()), 0.0)

    def caption(self) -> str:
        return "in slow motion: 12 times slower"

    def look(self) -> tuple[FloatArray, FloatArray]:
        beads = np.array([pearl.position for pearl in self.necklace.pearls])
        return self.necklace.string.centerline(145), beads

    def spin(self) -> FloatArray:
        """Angular momentum about the centre of mass: (3,), N m s."""
        centre = centre_of_mass(self.necklace)
        return np.asarray(self.scene.angular_momentum - np.cross(centre, self.scene.linear_momentum))

    @property
    def slowed(self) -> float:
        """Part of the angular momentum that is gone."""
        return float(np.linalg.norm(self.spin() - self.spun) / np.linalg.norm(self.spun))

    def check(self) -> list[str]:
        wrong = []
        kinetic = float(0.5 * self.necklace.masses.sum() * THROW @ THROW)
        if not self.gained <= 1e-3 * kinetic:
            wrong.append(f"energy from nothing: {self.gained:.1e} J")
        if not self.overlap <= 1e-5:
            wrong.append(f"pearls overlap by {1e3 * self.overlap:.2f} mm")
        # measured 1e-3; it falls in proportion to dt
        if not self.strayed <= 5e-3:
            wrong.append(f"the centre of mass strays by {self.strayed:.1e} m/s from its free fall")
        # measured 0.6 % a second in long flights: of the implicit scheme, in proportion to dt
        if not self.slowed <= 0.05 + 0.01 * self.scene.time:
            wrong.append(f"it lost {100.0 * self.slowed:.1f} % of its angular momentum")
        return wrong

    def findings(self) -> str:
        return (
            f"the centre of mass falls freely to {self.strayed:.0e} m/s, {100.0 * self.slowed:.2g} % of the angular "
            f"momentum are lost, pearls overlap by {1e6 * max(self.overlap, 0.0):.2g} µm at most, and "
            f"{1e3 * self.lost:.1f} mJ are lost in shocks and damping, none gained."
        )

    # ---------------------------------------------------------------------------------------------------- on a page

    step = 5e-4
    camera = ((0.06, -0.84, 0.45), (-0.02, 0.0, 0.36))
    ground = 0.0

    def furnish(self) -> None:
        string = self.necklace.string
        string.control_velocities = np.zeros_like(string.control_velocities)
        for pearl in self.necklace.pearls:
            pearl.sliding_velocity = 0.0
        for k, at in enumerate((CLASP, string.length - CLASP)):  # two knots, between which no pearl comes
            self.scene.add(sn.Pearl(string, at, mass=1e-3, radius=3e-3, speed=0.0, name=f"knot {k + 1}"))
        self.clasp = string.at(0.0)
        self.hand = self.scene.add(sn.Fix(self.clasp, compliance=1e-2, damping=1.5, name="hand"))
        for pearl in self.necklace.pearls:
            pearl.friction = STUCK
        last = self.necklace.pearls[-1]
        row = last.s + 2.0 * last.radius
        self.holders = [self.scene.add(sn.Clamp(string.at(s), name=f"holder {k}")) for k, s in enumerate((0.0, row), 1)]
        starts = [holder.points[0].pose for holder in self.holders]
        self.scene.drag = 8.0  # until it hangs still
        for part in np.linspace(0.0, 1.0, 401):
            for holder, start, below in zip(self.holders, starts, (0.0, row), strict=True):
                place = start.position + part * (HAND + below * WAITING - start.position)
                holder.target = sn.Pose(place, (turned(start, part) @ start).quaternion)
            self.hand.target = self.holders[0].target.position
            self.scene.step(2e-3)
        self.scene.run(1.5, dt=2e-3)
        self.scene.drag = 0.2
        self.throwing = 2.0  # m/s
        self.piloted()
        self.scene.control("thread a pearl", self.by_hand(self.thread))
        self.scene.control("throw", self.throw)
        self.scene.control("speed of the throw", self.throw_at, self.throwing, range=(0.5, 5.0), unit="m/s")
        self.scene.watch("narrowest gap between pearls", lambda: 1e3 * float(self.gaps().min()), unit="mm")
        self.scene.watch("pull of the hand", lambda: float(np.linalg.norm(self.hand.force)), unit="N")

    def thread(self) -> None:
        """Let the next pearl go, or the string, if there is none."""
        if self.threaded < PEARLS:
            self.threaded += 1
            self.necklace.pearls[-self.threaded].friction = FRICTION
        else:
            self.let_go()
        self.since = 0.0

    def let_go(self) -> None:
        """Hold the string by its clasp alone."""
        for holder in self.holders:
            holder.enabled = False

    def throw(self) -> None:
        """Let go, and send everything up, turning."""
        while self.threaded < PEARLS:
            self.thread()
        self.let_go()
        self.hand.enabled = False
        self.since = 0.0
        string = self.necklace.string
        away = string.control_points - centre_of_mass(self.necklace)
        string.control_velocities = np.array((0.0, 0.0, self.throwing)) + np.cross(TUMBLE, away)
        for pearl in self.necklace.pearls:
            pearl.sliding_velocity = 0.0

    def throw_at(self, speed: float) -> None:
        """Let the next throw be at `speed` (m/s)."""
        self.throwing = speed

    def restart(self) -> None:
        self.since, self.moving = 0.0, np.zeros(3)  # s, m/s: since something was let go or caught; speed of the hand
        self.threaded = 0
        for pearl in self.necklace.pearls:
            pearl.friction = STUCK

    def act(self, dt: float) -> None:
        self.since += dt
        if self.hand.enabled:
            self.moving += dt * EASE * (EASE * (HAND - self.hand.target) - 2.0 * self.moving)
            self.hand.target = self.hand.target + dt * self.moving
            if self.automatic and self.holders[0].enabled:
                if self.since > (EVERY if self.threaded < PEARLS else 1.2):
                    self.thread()
            elif self.automatic and self.since > 3.0:
                self.throw()
            return
        self.hand.target = self.clasp.position  # the hand is there when it is to be caught, and gives way
        if self.since > 0.1 and self.scene.linear_momentum[2] < 0.0 and self.clasp.position[2] < HAND[2]:
            self.moving = self.clasp.velocity
            self.hand.enabled = True
            self.since = 0.0

    # ------------------------------------------------------------------------------------------------------ pictures

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        camera = Camera(
            (0.08, -1.05, 0.46), (0.04, 0.0, 0.20), size=size, width=0.44 * size[0] / height,
            centre=(0.5, 0.5 * height / size[1]),
        )  # fmt: skip
        table = floor(camera, (-20.0, -3.0), (20.0, 3.0))
        stage = Stage(camera, (236, 238, 243), table)
        stage.polygon(table, (206, 196, 206))
        return stage

    def paint(self, look: tuple[FloatArray, FloatArray]) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import ball, tube

        line, beads = look
        parts = [tube(line, 1.6 * 7e-4, (150, 52, 66), sides=8, closed=True)]
        for place, radius in zip(beads, self.necklace.radii, strict=True):
            parts.append(ball(place, radius, (244, 236, 226), sides=18))
        return Facets.joined(parts)


add_arguments, main, play = offered(Flight, seconds=0.3, paged=lambda: Flight(FRICTION, NYLON, waiting=True))
