"""Three knots: an overhand, a figure-eight and a reef knot, tied by hands, drawn tight, and held by friction.

A row of hands leads each rope along the way of its knot, tip first, as a shoelace is threaded; then all but those at
the ends let go, and these draw the knot tight. The reef knot is of two ropes: one lies ready as a bight, the other one
is threaded through it. Nothing but contact and dry friction keeps them: rods touch themselves and each other, and the
checks look at topology. There is no weight, so that the loops stay open while hands let go.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos.stage import Chart, Part, Show, offered
from sennit.demos.tangles import casson, closest_own, closest_two, figure_eight, joined, overhand, reef, with_tails
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Strand", "add_arguments", "build", "main", "play"]

DESCRIPTION = (
    "An overhand, a figure-eight and a reef knot are threaded by hands, drawn tight and held. Writes a film (.gif, "
    ".mp4) or some of its frames (.png); colours show curvature. Checks that each rope has the knot that was tied, by "
    "an invariant that tells knots apart, that ropes do not overlap, that the knots hold the pull, and do not creep."
)

RADIUS = 3.5e-3  # m
SPAN = 2.8 * RADIUS  # m: of a spline; windings need spans below three radii
FRICTION = 0.35
ROPE = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000, relaxation_time=4e-3, look="braid")
APART = 0.045  # m between two hands along a rope
THREADED, FREE, TIGHT = 2.4, 3.4, 7.0  # s: when ropes are threaded, when all but the ends let go, when they are tight
TAIL = 0.13  # m of rope beyond the loose knots, on either side
HEIGHT = 0.25  # m
PLACES = {"overhand": -0.47, "figure eight": 0.0, "reef": 0.48}  # m: along x
SLACK = {"overhand": 36.0, "figure eight": 62.0}  # radii of rope that tight knots take up
EXPECTED = {"overhand": 1, "figure eight": -1, "reef": 2}
COLOURS = ((0, 114, 140), (196, 78, 20), (96, 120, 40), (150, 70, 130))


@dataclass(slots=True)
class Strand:
    """A rope, the way that it is led along, and who holds it."""

    rod: sn.Rod
    way: FloatArray
    """The whole way, (n, 3), m."""
    tails: list[sn.Follow]
    """Those that let go when it is threaded, so that the ends can be led aside."""
    hands: list[sn.Follow]
    """Those that hold the loose knot until its ends are far enough out: a loop would slip over them."""
    ends: list[sn.Fix]
    """Those that draw it tight."""
    clamps: list[sn.Clamp]
    """What holds the ends then: a knot between ends that may turn goes on rolling about the line of the pull."""
    routes: list[sn.Route]
    """Where these are at what time."""
    outwards: FloatArray
    """Unit vectors along which they pull, (2, 3)."""

    @property
    def holds(self) -> list[Any]:
        """All that hold it."""
        return [*self.tails, *self.hands, *self.ends, *self.clamps]


def _upright(curve: FloatArray, knot: str) -> FloatArray:
    """A curve of `tangles` as it stands in the scene: seen from −y, its tails upwards, or for a reef to both sides."""
    x, y, z = curve.T
    turned = np.stack((x, z, y) if knot == "reef" else (-y, z, x), axis=1)
    return np.asarray(turned + np.array((PLACES[knot], 0.0, HEIGHT)))


def _at(way: FloatArray, places: Any) -> FloatArray:
    """The places of a way so far from its beginning (m), (n, 3)."""
    length = np.concatenate(((0.0,), np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))))
    return np.stack([np.interp(places, length, way[:, k]) for k in range(3)], axis=-1)


def _length(way: FloatArray) -> float:
    return float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())


def lead(
    scene: sn.Scene, way: FloatArray, length: float, targets: FloatArray, name: str, still: bool = False,
    pulled: FloatArray | None = None, tail: float = 0.0,
) -> Strand:  # fmt: skip
    """A rope of `length` (m) at the beginning of its `way`, with the hands that lead it to the end of the way, and then
    its ends to `targets`, (2, 3), m.

    `still`: it lies at the end of the way from the beginning. `pulled`: where both ends are pulled to; if left out,
    away from each other, after they were led aside with `tail` (m) of rope on either side.
    """
    total = _length(way)
    start = total - length if still else 0.0
    line = _at(way, np.linspace(start, start + length, 400))
    count = math.ceil(length / SPAN) + 3
    rod = scene.add(
        sn.Rod.through(
            line, section=sn.Section.circle(RADIUS), material=ROPE, control_points=count, straight=True, name=name
        )
    )
    pace = np.linspace(0.0, 1.0, 80)
    smooth = pace * pace * (3.0 - 2.0 * pace)
    ahead = start + (total - length - start) * smooth
    tails: list[sn.Follow] = []
    hands: list[sn.Follow] = []
    ends: list[sn.Fix] = []
    routes: list[sn.Route] = []
    held = np.linspace(0.0, rod.length, max(3, round(length / APART) + 1))
    for k, s in enumerate(held.tolist()):
        places, times = _at(way, ahead + s), THREADED * pace
        if k not in (0, len(held) - 1):
            route = sn.Route(times, list(places))
            outside = min(s, rod.length - s) < tail - 0.5 * APART
            (tails if outside else hands).append(scene.add(sn.Follow(rod.at(s), route, name=f"{name} hand {k + 1}")))
            continue
        part = np.linspace(0.0, 1.0, 30)[1:, None]
        ease = part * part * (3.0 - 2.0 * part)
        goal = targets[0 if k == 0 else 1]
        aside = places[-1]
        if tail > 0.0:
            out = 1.0 if goal[0] > targets[:, 0].mean() else -1.0
            leaves = _at(way, ahead[-1] + (tail if k == 0 else length - tail))
            aside = leaves + 0.93 * tail * np.array((out, 0.0, 0.0))
        led = places[-1] + ease * (aside - places[-1])
        places = np.concatenate((places, led, aside + ease * (goal - aside)))
        times = np.concatenate((
            times, THREADED + (FREE - 0.1 - THREADED) * part[:, 0], FREE - 0.1 + (TIGHT - FREE) * part[:, 0],
        ))  # fmt: skip
        routes.append(sn.Route(times, list(places)))
        ends.append(scene.add(sn.Fix(rod.at(s), name=f"{name} end {len(ends) + 1}")))
    outwards = targets - targets.mean(axis=0) if pulled is None else np.stack((pulled, pulled))
    clamps = [scene.add(sn.Clamp(end.points[0], name=f"{end.name}, held")) for end in ends]
    for clamp in clamps:
        clamp.enabled = False
    return Strand(rod, way, tails, hands, ends, clamps, routes, outwards / np.linalg.norm(outwards, axis=1)[:, None])


def build() -> tuple[sn.Scene, dict[str, list[Strand]]]:
    """The scene, and the ropes of each knot, where their hands begin to move."""
    scene = sn.Scene(gravity=(0.0, 0.0, 0.0), drag=4.0)
    knots: dict[str, list[Strand]] = {}
    for name, curve, tail in (("overhand", overhand(0.0105), TAIL), ("figure eight", figure_eight(0.0115), TAIL)):
        knotted = _length(curve)
        length = knotted + 2.0 * tail
        way = _upright(with_tails(curve, length - 0.02, tail), name)
        half = 0.5 * (length - SLACK[name] * RADIUS)
        middle = np.array((PLACES[name], 0.0, HEIGHT + 0.02))
        targets = middle + half * np.array(((-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)))
        if way[0, 0] > way[-1, 0]:
            targets = targets[::-1]
        knots[name] = [lead(scene, way, length, targets, name, tail=tail)]
    left, right = (_upright(curve, "reef") for curve in reef(0.026, 0.10))
    knots["reef"] = []
    for k, (curve, sign) in enumerate(((left, -1.0), (right, 1.0))):
        length = _length(curve)
        out = (curve[0] - curve[1]) / np.linalg.norm(curve[0] - curve[1])
        before = curve[0] + np.linspace(length - 0.03, 0.0, 200)[:-1, None] * out
        way = np.concatenate((before, curve))
        pulled = PULL * sign * np.array((1.0, 0.0, 0.0))
        targets = np.stack((curve[0], curve[-1])) + pulled
        knots["reef"].append(lead(scene, way, length, targets, f"reef {k + 1}", k == 0, pulled))
    ropes = [strand.rod for strands in knots.values() for strand in strands]
    for rope in ropes:
        scene.collide(rope, itself=True, friction=FRICTION)
    scene.collide(*ropes[-2:], friction=FRICTION)
    return scene, knots


PULL = 0.055  # m that the ends of the reef knot are drawn apart


def invariant(strands: list[Strand]) -> int:
    """What knot the ropes have: see `casson`."""
    lines = [strand.rod.centerline(300) for strand in strands]
    return casson(lines[0] if len(lines) == 1 else joined(lines[0][::-1], lines[1]))


def closest(strands: list[Strand], samples: int = 500) -> float:
    """Smallest distance of centre lines, over the diameter."""
    lines = [strand.rod.centerline(samples) for strand in strands]
    least = min(closest_own(line, 5.0 * RADIUS) for line in lines)
    if len(lines) == 2:
        least = min(least, closest_two(lines[0], lines[1:]))
    return least / (2.0 * RADIUS)


class Tying(Show):
    """Ropes are threaded, drawn tight, and held."""

    headline = "Three knots are tied"
    title = "An overhand, a figure-eight and a reef knot are tied, drawn tight and held."
    charts = (
        Chart("pull on the overhand knot", "N", ".1f", COLOURS[0]),
        Chart("pull on the figure-eight knot", "N", ".1f", COLOURS[1]),
        Chart("pull on the reef knot", "N", ".1f", COLOURS[2]),
    )

    def __init__(self) -> None:
        self.scene, self.knots = build()
        self.zero = self.more = 0.0
        self.nearest = dict.fromkeys(self.knots, math.inf)
        self.found = dict.fromkeys(self.knots, 0)
        self.pulls = dict.fromkeys(self.knots, 0.0)
        self.crept = dict.fromkeys(self.knots, math.inf)
        self.before: dict[str, tuple[float, list[FloatArray]]] = {}
        self.stood = 0.0

    def plan(self, seconds: float) -> list[Part]:
        self.seconds = seconds
        return [Part(seconds, 1.0 / 240.0)]

    def begin(self) -> None:
        pass

    def before_step(self, dt: float) -> None:
        time = self.scene.time + dt - self.zero
        for strands in self.knots.values():
            for strand in strands:
                for end, clamp, route, out in zip(
                    strand.ends, strand.clamps, strand.routes, strand.outwards, strict=True
                ):
                    end.target = place = route(time) + self.more * out
                    if end.enabled and time > TIGHT:
                        end.enabled = False
                        clamp.hold()
                        clamp.enabled = True
                    clamp.target = sn.Pose(place, clamp.target.quaternion)
        for strands in self.knots.values():
            for strand in strands:
                for group, until in ((strand.tails, THREADED), (strand.hands, FREE)):
                    if group and group[0].enabled and time > until:
                        for hand in group:
                            hand.enabled = False

    def after_step(self, dt: float) -> None:
        self.stood += self.scene.report.held
        if self.scene.time > TIGHT + 1.0 and not self.before:
            self.before = {name: self.distances(strands) for name, strands in self.knots.items()}

    def distances(self, strands: list[Strand]) -> tuple[float, list[FloatArray]]:
        """When, and the distances within each rope, m."""
        lines = [strand.rod.centerline(60) for strand in strands]
        return self.scene.time, [np.linalg.norm(line[:, None] - line, axis=2) for line in lines]

    def pull_of(self, name: str) -> float:
        """Pull on the ropes of a knot, N: on one of its sides."""
        strand = self.knots[name][-1]
        ends: list[Any] = strand.ends if strand.ends[0].enabled else strand.clamps
        force = np.sum([end.force for end in ends], axis=0) if name == "reef" else ends[-1].force
        return float(np.linalg.norm(force))

    def sample(self) -> tuple[float, ...]:
        for name, strands in self.knots.items():
            self.nearest[name] = min(self.nearest[name], closest(strands))
        return tuple(self.pull_of(name) for name in self.knots)

    def caption(self) -> str:
        now = self.scene.time
        return "threaded by hands" if now < THREADED else "drawn tight" if now < TIGHT else "held"

    def look(self) -> tuple[list[FloatArray], list[FloatArray], list[FloatArray]]:
        strands = [strand for group in self.knots.values() for strand in group]
        hands: list[Any] = [hand for strand in strands for hand in strand.holds]
        return (
            [strand.rod.centerline(241) for strand in strands],
            [np.linalg.norm(strand.rod.curvatures(241)[:, :2], axis=1) for strand in strands],
            [hand.points[0].position for hand in hands if hand.enabled],
        )

    def legend(self) -> str:
        return "curvature, 0 to 1/(3 r)"

    def finish(self) -> None:
        """Look at the knots once more."""
        for name, strands in self.knots.items():
            self.found[name] = invariant(strands)
            self.pulls[name] = self.pull_of(name)
            if self.before:
                then, old = self.before[name]
                now, new = self.distances(strands)
                moved = max(float(np.abs(a - b).max()) for a, b in zip(new, old, strict=True))
                self.crept[name] = moved / RADIUS / max(now - then, 1e-9)

    def check(self) -> list[str]:
        self.finish()
        wrong = []
        for name in self.knots:
            if self.scene.time > THREADED and self.found[name] != EXPECTED[name]:
                wrong.append(f"the {name} knot has come undone: invariant {self.found[name]}, not {EXPECTED[name]}")
            if not self.nearest[name] >= 0.9:
                wrong.append(f"ropes of the {name} knot overlap: {self.nearest[name]:.3f} diameters apart")
            if self.scene.time > TIGHT and not self.pulls[name] >= 1.0:
                wrong.append(f"the {name} knot holds only {self.pulls[name]:.2f} N")
            if self.scene.time > TIGHT + 1.5 and not self.crept[name] <= 1e-3:
                wrong.append(f"the {name} knot creeps by {self.crept[name]:.1e} radii a second")
        if self.stood > 0.0:
            wrong.append(f"the scene stood still for {self.stood:.3g} s")
        return wrong

    def findings(self) -> str:
        parts = [
            f"the {name} knot is tied, holds {self.pulls[name]:.1f} N, nearest {self.nearest[name]:.3f} diameters"
            for name in self.knots
        ]
        return "; ".join(parts) + "; none creeps by more than " + f"{max(self.crept.values()):.0e} radii a second."

    # ---------------------------------------------------------------------------------------------------- on a page

    step = 1.0 / 240.0
    camera = ((0.06, -1.24, 0.58), (0.04, 0.0, 0.39))
    ground = 0.0

    def furnish(self) -> None:
        self.scene.control("pull", self.pull_by, 0.0, range=(-40.0, 6.0), unit="mm")
        self.scene.control("let go", self.free_ends)
        for name in self.knots:
            self.scene.watch(f"pull on the {name} knot", partial(self.pull_of, name), unit="N")
        self.scene.watch("contacts", lambda: float(len(self.scene.contacts)))

    def restart(self) -> None:
        self.zero, self.more = float(self.scene.time), 0.0
        for strands in self.knots.values():
            for strand in strands:
                for hand in strand.holds:
                    hand.enabled = hand not in strand.clamps

    def act(self, dt: float) -> None:
        self.before_step(dt)

    def pull_by(self, more: float) -> None:
        """Draw each end out by `more` (mm) than the script does."""
        self.more = 1e-3 * more

    def free_ends(self) -> None:
        """Let all ends go: friction alone holds the knots."""
        for strands in self.knots.values():
            for strand in strands:
                for hand in strand.holds:
                    hand.enabled = False

    # ------------------------------------------------------------------------------------------------------ pictures

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        camera = Camera((0.0, -2.6, 0.7), (0.0, 0.0, 0.42), size=size, width=2.0, centre=(0.5, 0.5 * height / size[1]))
        ground = floor(camera, (-30.0, -3.0), (30.0, 30.0))
        stage = Stage(camera, (236, 240, 243), ground)
        stage.polygon(ground, (216, 221, 224))
        return stage

    def paint(self, look: tuple[list[FloatArray], list[FloatArray], list[FloatArray]]) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import ball, ramp, tube

        lines, bends, hands = look
        parts = [
            tube(line, RADIUS, ramp(bend, 0.0, 1.0 / (3.0 * RADIUS)), sides=10, gloss=0.4)
            for line, bend in zip(lines, bends, strict=True)
        ]
        parts += [ball(hand, 1.8 * RADIUS, (222, 178, 146), sides=10) for hand in hands]
        return Facets.joined(parts)


add_arguments, main, play = offered(Tying, seconds=9.0)
