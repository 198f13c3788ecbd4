"""A spider's net: seven threads from the hub to the twigs, seven rings of links between them; it is pulled and let go.

The paper's fifth scene (MICADO, Theetten and Grisoni 2008, figure 4, table 1: 28 absolute and 49 relative multipliers,
4 ms a step). What it says: axial rods and lateral distance constraints. What is inferred: 49 = 7 rings of 7 distances
between neighbouring threads, and 28 = 7 outer ends with four rows each: three of `Fix` and one `OnPlane`, the glue that
keeps the thread in the plane of the net beside its end (the paper's fourth is roll; see `bridge`). The threads are tied
to each other by the rings only, so that the innermost ring is the hub, as in nets that spiders build. It is the paper's
slowest scene by far: 20 control points for each thread make 560 degrees of freedom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos.stage import Chart, Part, Show, offered
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Net", "add_arguments", "assemble", "build", "main", "play"]

DESCRIPTION = (
    "A spider's net of seven threads and seven rings is pulled at its hub and let go. Writes an animated picture in "
    "slow motion (.gif, .mp4) or some of its frames (.png); colours show tension. Checks, while it is held, that the "
    "twigs carry weight and pull, that tensions balance at the hub, and that no ring pushes; then that it "
    "has no more energy than before."
)

THREADS, RINGS = 7, 7
CENTRE = np.array((0.0, 0.0, 0.46))  # m
HUB = 0.022  # m: radius of the innermost ring
STRETCH = 0.05  # by which the net is pulled taut between its twigs
PULL = 2.2  # N, out of the plane
GRAVITY = 9.81
SILK = sn.Material(
    youngs_modulus=6e7, poisson_ratio=0.45, density=1250, relaxation_time=4e-4, look="smooth", colour=(84, 104, 130)
)
THREAD = sn.Section.circle(radius=4.5e-4)
ANGLES = np.radians((14.0, 66.0, 112.0, 163.0, 218.0, 268.0, 322.0))
REACHES = np.array((0.42, 0.34, 0.37, 0.41, 0.40, 0.33, 0.42))  # m: of the twigs from the centre


@dataclass(frozen=True, slots=True)
class Net:
    """The scene, its threads from the hub outwards, what holds them, the links ring by ring, the pull at the hub."""

    scene: sn.Scene
    threads: list[sn.Rod]
    anchors: list[Any]
    rings: list[list[sn.Distance]]
    """The first is the hub; link k goes from thread k to thread k + 1."""
    pulls: list[sn.Load]

    @property
    def weight(self) -> float:
        """Weight of all threads, N."""
        return GRAVITY * sum(thread.mass for thread in self.threads)


def assemble(control_points: int = 20, threads: int = THREADS, rings: int = RINGS) -> Net:
    """The net, unstrained; `tighten` pulls it taut."""
    scene = sn.Scene(gravity=(0.0, 0.0, -GRAVITY), drag=2.0)
    if threads == THREADS:
        angles, reaches = ANGLES, REACHES
    else:
        angles = 2.0 * math.pi * np.arange(threads) / threads
        reaches = np.full(threads, REACHES.mean())
    made: list[sn.Rod] = []
    anchors: list[Any] = []
    for angle, reach in zip(angles, reaches, strict=True):
        way = np.array((math.cos(angle), 0.0, math.sin(angle)))
        thread = scene.add(
            sn.Rod.straight(
                CENTRE + HUB * way, CENTRE + reach * way, section=THREAD, material=SILK, control_points=control_points
            )
        )
        made.append(thread)
        anchors.append(scene.add(sn.Fix(thread.at(thread.length))))
        anchors.append(scene.add(sn.OnPlane(thread.at(0.97 * thread.length), (0.0, 1.0, 0.0))))
    ringed = []
    for part in places(rings):
        points = [thread.at(part * thread.length) for thread in made]
        ringed.append([scene.add(sn.Distance(p, q)) for p, q in zip(points, points[1:] + points[:1], strict=True)])
    pulls = [scene.add(sn.Load(thread.at(0.0), force=(0.0, 0.0, 0.0))) for thread in made]
    return Net(scene, made, anchors, ringed, pulls)


def tighten(net: Net, stretch: float = STRETCH) -> None:
    """Pull the net taut: threads are strained by `stretch`, a third less at the hub and a third more at the twigs.

    The rings take up the difference: strain, and with it tension, grows outwards from ring to ring.
    """
    lines = []
    for thread, fix in zip(net.threads, net.anchors[::2], strict=True):
        start, end = thread.centerline(2)
        part = np.linspace(0.0, 1.0, 101)
        line = start + np.outer(grown(part, stretch), end - start)
        thread.set_shape(line)
        fix.target = line[-1]
        lines.append(line)
    for part, ring in zip(places(len(net.rings)), net.rings, strict=True):
        knots = [line[0] + grown(part, stretch) / grown(1.0, stretch) * (line[-1] - line[0]) for line in lines]
        for link, p, q in zip(ring, knots, knots[1:] + knots[:1], strict=True):
            link.length = float(np.linalg.norm(q - p))


def grown(part: Any, stretch: float) -> Any:
    """Where a `part` of a thread's length is when it is taut, in units of that length."""
    return part * (1.0 + stretch * (2.0 + part) / 3.0)


def places(rings: int) -> FloatArray:
    """Where the rings are tied to each thread, as parts of its length: (rings,)."""
    return 0.8 * np.arange(rings) / max(rings - 1, 1)


def build(control_points: int = 20, threads: int = THREADS, rings: int = RINGS) -> sn.Scene:
    """The scene of the net, taut at its next step."""
    net = assemble(control_points, threads, rings)
    tighten(net)
    return net.scene


class Pluck(Show):
    """Held by a finger at the hub for the first tenth of the time, then let go."""

    title = "A spider's net, 80 cm wide, is pulled out of its plane at the hub and let go."
    charts = (
        Chart("hub from its plane", "mm", ".1f", (0, 114, 140)),
        Chart("kinetic and elastic energy", "mJ", ".2f", (196, 78, 20)),
    )

    def __init__(self) -> None:
        self.net = assemble()
        self.scene = self.net.scene
        self.seconds = math.inf
        self.gained = 0.0
        self.free = False

    def plan(self, seconds: float) -> list[Part]:
        self.seconds = seconds
        step = min(1e-4 * max(1.0, 2.0 * seconds), 1e-3)  # a long run is of slow swings
        return [Part(seconds, step, slower=max(1.0, 5.0 / seconds))]

    def begin(self) -> None:
        tighten(self.net)
        self.taut = self.scene.settle()
        self.rest_energy = self.scene.energy.total
        for load in self.net.pulls:
            load.force = (0.0, -PULL / THREADS, 0.0)
        self.held = self.scene.settle()
        self.anchored = np.sum([anchor.force for anchor in self.net.anchors], axis=0)
        self.hub = self.hub_forces()
        self.pushed = max(-self.link_tension(link) for ring in self.net.rings for link in ring)
        self.before = self.scene.energy.total

    def link_tension(self, link: sn.Distance) -> float:
        """Force in a link, N; negative if it pushes its two points apart."""
        return link.tension

    def hub_forces(self) -> float:
        """What thread, two links and the pull leave at the inner ends, as a part of the thread's tension, at worst."""
        worst = 0.0
        first = self.net.rings[0]
        for k, thread in enumerate(self.net.threads):
            # the tension between hub and next ring, from how long that piece is: the weight of it is nothing
            s = float(places(RINGS)[1]) * thread.length
            way = thread.at(s).position - thread.at(0.0).position
            long = float(np.linalg.norm(way))
            tension = SILK.youngs_modulus * THREAD.area * (long / s - 1.0)
            left = tension * way / long + first[k].force - first[k - 1].force + self.net.pulls[k].force
            worst = max(worst, float(np.linalg.norm(left)) / tension)
        return worst

    def before_step(self, dt: float) -> None:
        if not self.free and self.scene.time + dt > 0.1 * self.seconds:
            self.free = True
            for load in self.net.pulls:
                load.force = (0.0, 0.0, 0.0)

    def after_step(self, dt: float) -> None:
        if self.free:
            self.gained = max(self.gained, self.scene.energy.total - self.before)

    def hub_place(self) -> FloatArray:
        """The middle of the hub, (3,), m."""
        return np.asarray(np.mean([thread.centerline(2)[0] for thread in self.net.threads], axis=0))

    def sample(self) -> tuple[float, ...]:
        return 1e3 * abs(float(self.hub_place()[1])), 1e3 * max(self.scene.energy.total - self.rest_energy, 0.0)

    def caption(self) -> str:
        return "let go, in slow motion" if self.free else "held by the hub"

    def look(self) -> tuple[list[FloatArray], list[FloatArray], list[float], bool]:
        threads = self.net.threads
        tensions = [self.link_tension(link) for ring in self.net.rings for link in ring]
        return [t.centerline(121) for t in threads], [t.tensions(121) for t in threads], tensions, not self.free

    def legend(self) -> str:
        return "tension, 0 to 2.5 N"

    def check(self) -> list[str]:
        wrong = []
        due = np.array((0.0, PULL, self.net.weight))
        missing = float(np.linalg.norm(self.anchored - due))
        if not (self.taut.converged and self.held.converged):
            wrong.append("the net does not come to rest")
        if not missing <= 1e-6 * PULL:
            wrong.append(f"the twigs miss weight and pull by {missing:.1e} N")
        if not self.hub <= 0.02:
            wrong.append(f"forces at the hub miss their balance by {100.0 * self.hub:.1f} % of a thread's tension")
        if not self.pushed <= 0.0:
            wrong.append(f"a link of the net pushes with {self.pushed:.1e} N")
        if not self.gained <= 1e-3 * (self.before - self.rest_energy):
            wrong.append(f"energy from nothing: {self.gained:.1e} J")
        return wrong

    def findings(self) -> str:
        return (
            f"the twigs carry the weight of {1e3 * self.net.weight:.1f} mN and the pull of {PULL:g} N to "
            f"{np.linalg.norm(self.anchored - (0.0, PULL, self.net.weight)):.0e} N; forces balance at the hub to "
            f"{100.0 * self.hub:.1g} % of a thread's tension; no link pushes; once free its energy "
            "stays below what it was."
        )

    # ---------------------------------------------------------------------------------------------------- on a page

    step = 1e-3
    camera = ((1.14, -0.90, 0.66), (0.0, -0.05, 0.44))
    ground = 0.0

    def furnish(self) -> None:
        self.piloted("pluck now and then")
        self.pull = self.scene.control("pull at the hub", self.by_hand(self.pull_at), 0.0, range=(0.0, 4.0), unit="N")
        self.scene.control("let go", self.by_hand(self.let_go))
        self.scene.watch("hub from its plane", lambda: -1e3 * float(self.hub_place()[1]), unit="mm")
        self.scene.watch("kinetic and elastic energy", lambda: 1e3 * self.stored(), unit="mJ")
        self.decorate(twigs(), name="twigs")

    def stored(self) -> float:
        """Energy beyond that of the net at rest, J."""
        return float(self.scene.energy.total) - self.rest_energy

    def pull_at(self, force: float) -> None:
        """Pull at the hub with `force` (N)."""
        self.force = force

    def let_go(self) -> None:
        """Pull no more."""
        self.force = self.pull.value = 0.0

    def restart(self) -> None:
        self.force, self.strength = 0.0, PULL  # N: that is asked for, that acts
        self.zero = float(self.scene.time)

    def act(self, dt: float) -> None:
        if self.automatic:
            part = math.fmod(self.scene.time + dt - self.zero, 5.0)
            self.force = 0.0 if 0.6 <= part < 4.0 else PULL
        # a hand pulls harder by and by, and lets go at once
        self.strength = self.force if self.force < self.strength else min(self.force, self.strength + 4.0 * dt)
        for load in self.net.pulls:
            load.force = (0.0, -self.strength / THREADS, 0.0)

    # ------------------------------------------------------------------------------------------------------ pictures

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        camera = Camera(
            (1.42, -1.14, 0.74), (0.0, -0.04, 0.455), size=size, width=0.98 * size[0] / height,
            centre=(0.5, 0.53 * height / size[1]),
        )  # fmt: skip
        ground = floor(camera, (-30.0, -3.0), (30.0, 30.0))
        stage = Stage(camera, (228, 236, 240), ground)
        stage.polygon(ground, (204, 214, 196))
        stage.facets(twigs())
        return stage

    def paint(self, look: tuple[list[FloatArray], list[FloatArray], list[float], bool]) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import ball, bar, ramp, tube

        lines, tensions, links, held = look
        parts = [
            tube(line, 0.0021, ramp(tension, 0.0, 2.5), sides=6, gloss=0.6)
            for line, tension in zip(lines, tensions, strict=True)
        ]
        count = len(lines[0]) - 1
        colours = ramp(links, 0.0, 2.5)
        k = 0
        for part in places(RINGS):
            at = round(part * count)
            for this in range(THREADS):
                p, q = lines[this][at], lines[(this + 1) % THREADS][at]
                parts.append(bar(p, q, 0.0015, colours[k], sides=6, pieces=4))
                if part > 0.2:  # dew
                    parts += [ball(p + x * (q - p), 0.0042, (196, 218, 236), sides=8) for x in (0.3, 0.65)]
                k += 1
        if held:
            hub = np.mean([line[0] for line in lines], axis=0)
            away = np.outer((0.0, -0.01, -0.03, -0.10, -0.13, -0.3), (-0.15, 1.0, 0.35))
            girth = np.array((0.004, 0.011, 0.014, 0.015, 0.016, 0.018))
            parts.append(tube(hub + away, girth, (222, 178, 146), sides=14, gloss=0.2))
        return Facets.joined(parts)


def twigs() -> Facets:
    """A crooked branch on either side, through the ends of the threads."""
    from scipy.interpolate import CubicSpline

    from sennit.export.facets import Facets
    from sennit.export.solids import tube

    ways = np.column_stack((np.cos(ANGLES), np.zeros(THREADS), np.sin(ANGLES)))
    ends = CENTRE + (1.0 + STRETCH) * REACHES[:, None] * ways
    parts = []
    for side, lean in ((ends[[5, 6, 0, 1]], 0.05), (ends[[5, 4, 3, 2]], -0.05)):
        low, high = side[0] + (-3.0 * lean, 0.02, -0.12), side[-1] + (-0.4 * lean, 0.02, 0.16)
        knots = np.vstack((low, side + np.array((0.0, 0.012, 0.0)), high))
        smooth = CubicSpline(np.arange(len(knots)), knots)(np.linspace(0.0, len(knots) - 1.0, 60))
        parts.append(tube(smooth, np.linspace(0.014, 0.007, 60), (132, 104, 80), sides=10))
    return Facets.joined(parts)


add_arguments, main, play = offered(Pluck, seconds=0.25)
