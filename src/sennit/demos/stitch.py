"""A wound between two pads of soft tissue is closed by a running suture.

Both pads are zones: linear elastic solids of boundary elements, held at their outer side and below. One is the other
turned by half a turn about z, so that they share their Green's functions. A nylon thread is knotted to one lip and runs
through both of them like a coil spring: into the skin, out of the wound's side, across, into the opposite side and out
of its skin, then over the wound to the next stitch. Each of these 19 holes is a `Keyhole` with Coulomb friction on a
patch of the surface: the thread slides through it and pulls on it. An instrument draws the thread's end, first the
slack, then the lips.

Where the lips meet they are kept apart by one-sided rows between opposite vertices: that is all the contact there is.
The thread neither touches itself nor lies on the skin, and inside the tissue, from hole to hole, it is free. Elasticity
is linear, also next to the holes, where the skin is stretched by more than that allows for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos.stage import Chart, Part, Show, offered
from sennit.demos.tissue import Slab
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.bodies.point.point import Point
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Wound", "add_arguments", "assemble", "build", "main", "play"]

DESCRIPTION = (
    "A wound between two pads of soft tissue is closed by a running suture of five stitches: a nylon thread, knotted "
    "at one end, slides through 19 holes with friction while its other end is drawn: by hand, on the page. In films "
    "colours show how much the skin is stretched. Checks that the wound closes, that what carries both pads, the "
    "weight and the pull balance, that no hole rubs more than Coulomb's law allows, that tension falls from the hand "
    "to the knot by what the holes took and as on a capstan, and that the work of the hand is stored or rubbed away. "
    "The lips meet in one-sided rows between opposite vertices: sennit has no contact between bodies yet."
)

GRAVITY = 9.81
TISSUE = sn.Material(youngs_modulus=5e4, poisson_ratio=0.45, density=1050, relaxation_time=0.02)
NYLON = sn.Material(
    youngs_modulus=2.7e9, poisson_ratio=0.39, density=1150, relaxation_time=1e-3, look="braid", colour=(70, 62, 150)
)
THREAD = sn.Section.circle(radius=1.25e-4)
FRICTION = 0.04
BITE, DEPTH = 4.0e-3, 3.0e-3
"""Of a stitch: from the lip to where it enters the skin, and below the skin where it leaves the lip, m."""
PATCH = 3.0e-3  # m: radius of what gives way round a hole
REACH = 0.016  # m: from the last stitch to either side of the middle
TAIL = 0.014  # m: of thread beyond the last hole at first
WAY = np.array((0.10, 0.70, 0.70)) / math.sqrt(0.10**2 + 0.70**2 + 0.70**2)
"""Along which the instrument draws."""
REST, SPEED, DRAWN, HOLD = 0.1, 0.020, 0.045, 0.35
"""It waits, s, draws, m/s, this much thread, m, less in a shorter film, and holds, s, at least."""
MOST = 60.0  # mm: that can be drawn on a page
PERIOD = 9.0  # s: of what the page does by itself
EVERY = 5  # steps: how often work and friction are added up
APART = 1e-4  # m: how near opposite vertices of the lips may come
STRETCH = 0.4  # of the skin, where the colours end
BLUE = (44, 84, 176)
HALF_TURN = np.diag((-1.0, -1.0, 1.0))


@dataclass(frozen=True, slots=True)
class Wound:
    """The scene, its two pads, the thread and what ties them."""

    scene: sn.Scene
    slab: Slab
    pads: tuple[sn.Zone, sn.Zone]
    """The left one, at x < 0, is turned by half a turn about z; then the right one."""
    thread: sn.Rod
    knot: sn.Fuse
    holes: list[sn.Keyhole]
    """Along the thread: side of the left pad, side and skin of the right one, skin of the left one, and so on."""
    stops: list[sn.OnPlane]
    grip: sn.Fix

    def gaps(self) -> FloatArray:
        """Width of the wound along it, at half of the lips' height, (ny + 1,), m."""
        row = self.slab.facing()[:, self.slab.cells[2] // 2 + 1]
        left, right = self.pads
        return np.asarray(right.positions[row, 0] - left.positions[row[::-1], 0])

    @property
    def weight(self) -> FloatArray:
        """Of the thread, (3,), N; that of the tissue is in its shape at rest."""
        return np.array((0.0, 0.0, -GRAVITY * self.thread.mass))


def _path(slab: Slab, stitches: int) -> tuple[FloatArray, list[int]]:
    """Points along the loose thread, (n, 3), m, and which of them are in the holes; the first is the knot."""
    knots: list[tuple[FloatArray, FloatArray]] = []
    for y in np.linspace(-REACH, REACH, stitches):
        lip = float(slab.opening(y))
        skin, side = np.array((lip + BITE, y, slab.thickness)), np.array((lip, y, slab.thickness - DEPTH))
        knots += [
            (skin * (-1, 1, 1), np.array((-0.1, 0.12, -1.0))),
            (side * (-1, 1, 1), np.array((1.0, 0.05, -0.35))),
            (side, np.array((1.0, 0.05, 0.35))),
            (skin, np.array((-0.1, 0.12, 1.0))),
        ]
    knots[0] = (knots[0][0], np.array((0.6, 0.1, -1.0)))
    knots[-1] = (knots[-1][0], WAY)
    line, marks = [knots[0][0][None]], [0]
    u = np.linspace(0.0, 1.0, 25)[1:, None]
    for k, ((a, along), (b, onward)) in enumerate(zip(knots[:-1], knots[1:], strict=True)):
        long = (1.35 if k % 4 == 3 else 1.1) * float(np.linalg.norm(b - a))  # loose over the wound
        p, q = along * long / np.linalg.norm(along), onward * long / np.linalg.norm(onward)
        curve = (2.0 * u**3 - 3.0 * u**2 + 1.0) * a + (u**3 - 2.0 * u**2 + u) * p  # Hermite's cubic
        line.append(curve + (3.0 * u**2 - 2.0 * u**3) * b + (u**3 - u**2) * q)
        marks.append(marks[-1] + len(u))
    line.append(line[-1][-1] + TAIL * u * WAY)
    return np.concatenate(line), marks


def assemble(stitches: int = 5, cells: tuple[int, int, int] = (8, 24, 5), control_points: int = 300) -> Wound:
    """The wound, open, with the thread laid loosely through it."""
    slab = Slab(cells=cells)
    vertices, faces = slab.mesh()
    scene = sn.Scene(gravity=(0.0, 0.0, -GRAVITY), drag=20.0)
    right = scene.add(sn.Zone.from_mesh(vertices, faces, material=TISSUE, fixed=slab.held(vertices), name="right pad"))
    turned = sn.World.at(sn.Pose.from_rotation((0.0, 0.0, 0.0), HALF_TURN))
    left = scene.add(right.with_material(TISSUE, name="left pad"), on=turned)

    line, marks = _path(slab, stitches)
    run = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))))
    thread = scene.add(
        sn.Rod.through(
            line, section=THREAD, material=NYLON, control_points=control_points, straight=True, name="thread"
        )
    )

    def hole(place: FloatArray) -> Point:
        return right.at(place, radius=PATCH) if place[0] > 0.0 else left.at(HALF_TURN @ place, radius=PATCH)

    knot = scene.add(sn.Fuse(thread.at(0.0), hole(line[0]), align=False, name="knot"))
    holes = [
        scene.add(
            sn.Keyhole(
                thread, at=run[k] / run[-1] * thread.length, hole=hole(line[k]), friction=FRICTION, name=f"hole {n}"
            )
        )
        for n, k in enumerate(marks[1:], 1)
    ]
    stops: list[sn.OnPlane] = []
    facing = slab.facing()
    for i in range(2, cells[1] - 1, 2):
        for j in (cells[2] // 2, cells[2] - 1):
            p, q = right.at(int(facing[i, j])), left.at(int(facing[cells[1] - i, j]))
            through = q.position + np.array((APART, 0.0, 0.0))
            name = f"lips {len(stops) + 1}"
            stops.append(scene.add(sn.OnPlane(p, (1.0, 0.0, 0.0), through, of=q, bound="at_least", name=name)))
    for one, other in zip(holes[0::4], holes[1::4], strict=True):  # where a stitch crosses the wound
        through = one.hole.position + np.array((APART, 0.0, 0.0))
        name = f"lips {len(stops) + 1}"
        stops.append(
            scene.add(sn.OnPlane(other.hole, (1.0, 0.0, 0.0), through, of=one.hole, bound="at_least", name=name))
        )
    grip = scene.add(sn.Fix(thread.at(thread.length), name="needle holder"))
    return Wound(scene, slab, (left, right), thread, knot, holes, stops, grip)


def build(stitches: int = 5) -> sn.Scene:
    """The scene of the wound."""
    return assemble(stitches).scene


class Sewing(Show):
    """The instrument draws the thread, slack first, and holds it."""

    headline = "A running suture closes a wound"
    title = "A wound of 46 mm between two pads of soft tissue is closed by a running suture of five stitches."
    charts = (
        Chart("width of the wound", "mm", ".2f", (0, 114, 140)),
        Chart("pull of the hand", "N", ".2f", (196, 78, 20)),
        Chart("tension at the knot", "N", ".2f", (120, 60, 140)),
    )

    def __init__(self, cells: tuple[int, int, int] = (8, 24, 5), control_points: int = 300) -> None:
        self.wound = assemble(cells=cells, control_points=control_points)
        self.scene = self.wound.scene
        self.worked = self.rubbed = self.drawn = 0.0
        self.most = DRAWN
        self.steps = 0

    def plan(self, seconds: float) -> list[Part]:
        self.most = min(DRAWN, SPEED * max(seconds - REST - HOLD, 0.0))
        return [Part(seconds, 2e-3)]

    def begin(self) -> None:
        wound, scene = self.wound, self.scene
        for _ in range(20):  # the thread springs into the shape that its holes leave it
            scene.step(1e-4)
        scene.run(0.2, dt=2e-3)
        self.began = scene.time
        self.start = wound.grip.target
        self.opened = wound.gaps()
        self.before = scene.energy.total
        self.last = self.drawn, float(wound.grip.force @ WAY), *self.slides()

    def before_step(self, dt: float) -> None:
        due = SPEED * (self.scene.time + dt - self.began - REST)
        self.drawn = min(max(due, 0.0), self.most)
        self.wound.grip.target = self.start + self.drawn * WAY

    def slides(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of each hole: the thread that is in it, m, and what it does to that along and across, N: (holes,) each."""
        s, along, across = [], [], []
        for hole in self.wound.holes:
            force, way = hole.force, hole.slider.at().frame[:, 2]
            rub = float(force @ way)
            s.append(hole.s)
            along.append(rub)
            across.append(math.sqrt(max(float(force @ force) - rub**2, 0.0)))
        return np.array(s), np.array(along), np.array(across)

    def after_step(self, dt: float) -> None:
        self.steps += 1
        if self.steps % EVERY:
            return
        now = self.drawn, float(self.wound.grip.force @ WAY), *self.slides()
        drawn, pull, s, along, _ = self.last
        self.worked += 0.5 * (now[1] + pull) * (now[0] - drawn)
        self.rubbed += 0.5 * float(np.abs((now[3] + along) * (now[2] - s)).sum())
        self.last = now

    # ---------------------------------------------------------------------------------------------------- the checks

    @property
    def gap(self) -> tuple[float, float]:
        """Mean width of the wound, at first and now, m."""
        return float(self.opened.mean()), float(self.wound.gaps().mean())

    @property
    def due(self) -> float:
        """How wide it may be at the end, m: a quarter of what it was; a short film only begins to close it."""
        return self.gap[0] * (0.25 if self.most >= DRAWN else 1.0) + 1e-6

    @property
    def supports(self) -> FloatArray:
        """What carries the left and the right pad applies to it, (2, 3), N."""
        return np.array([pad.pose.rotation @ pad.state.forces[pad.fixed].sum(axis=0) for pad in self.wound.pads])

    @property
    def loose(self) -> float:
        """What supports, weight and hand leave, as a part of the pull."""
        hand = self.wound.grip.force
        left = self.supports.sum(axis=0) + self.wound.weight + hand
        return float(np.linalg.norm(left) / np.linalg.norm(hand))

    @property
    def torn(self) -> float:
        """What thread, opposite lip and support of a pad leave, as a part of what it carries; of the worse pad."""
        wound = self.wound
        worst = 0.0
        for pad, support, sign in zip(wound.pads, self.supports, (-1.0, 1.0), strict=True):
            sewn = [-tie.force for tie in (wound.knot, *wound.holes) if tie.points[1].body is pad]
            total = support + np.sum(sewn, axis=0) + sign * np.sum([stop.force for stop in wound.stops], axis=0)
            worst = max(worst, float(np.linalg.norm(total) / np.linalg.norm(support)))
        return worst

    @property
    def rubs(self) -> float:
        """The largest ratio of what a hole does to the thread along and across it."""
        _, along, across = self.slides()
        return float(np.max(np.abs(along) / np.maximum(across, 1e-12)))

    @property
    def tensions(self) -> tuple[float, float]:
        """Of the thread at the knot and at the hand, N, where nothing bends it."""
        thread = self.wound.thread
        first, last = (thread.at(s).frame[:, 2] for s in (0.0, thread.length))
        return -float(self.wound.knot.force @ first), float(self.wound.grip.force @ last)

    @property
    def taken(self) -> float:
        """What all holes take of the tension between hand and knot, N."""
        return -float(self.slides()[1].sum())

    @property
    def turned(self) -> float:
        """By how much the thread turns from hole to hole in all, rad, were it straight between them."""
        wound = self.wound
        places = [wound.knot.points[0].position, *(hole.hole.position for hole in wound.holes), wound.grip.target]
        ways = np.diff(np.array(places), axis=0)
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        return float(np.arccos(np.clip(np.einsum("ij,ij->i", ways[1:], ways[:-1]), -1.0, 1.0)).sum())

    @property
    def stored(self) -> float:
        """Energy gained by tissue and thread, J."""
        return float(self.scene.energy.total - self.before)

    def check(self) -> list[str]:
        wrong = []
        first, now = self.gap
        if not now <= self.due:
            wrong.append(f"the wound is {1e3 * now:.2f} mm wide, and was {1e3 * first:.2f} mm")
        if not self.loose <= 1e-3:
            wrong.append(f"supports and hand miss their balance by {self.loose:.1e} of the pull")
        if not self.torn <= 1e-3:
            wrong.append(f"forces on a pad miss their balance by {self.torn:.1e} of what it carries")
        if not self.rubs <= FRICTION * 1.01:
            wrong.append(f"a hole rubs {self.rubs:.3f} times what presses the thread to it, more than {FRICTION:g}")
        knot, hand = self.tensions
        if not abs(hand - knot - self.taken) <= 0.03 * hand + 1e-3:
            wrong.append(f"tension falls by {hand - knot:.3f} N along the thread, and holes take {self.taken:.3f} N")
        # Eytelwein's law for a thread without stiffness; measured 2 % less
        if self.most >= DRAWN and not abs(math.log(hand / knot) / (FRICTION * self.turned) - 1.0) <= 0.1:
            wrong.append(
                f"hand over knot is {hand / knot:.2f}, and exp(friction × {self.turned:.1f} rad) is "
                f"{math.exp(FRICTION * self.turned):.2f}"
            )
        lost = self.worked - self.stored - self.rubbed
        # measured 3 %: what the tissue's own damping takes, and the thread's
        if not -0.01 * self.worked - 1e-6 <= lost <= 0.08 * self.worked + 1e-6:
            wrong.append(
                f"of {1e3 * self.worked:.2f} mJ of work {1e3 * lost:.2f} mJ are neither stored nor rubbed away"
            )
        return wrong

    def table(self) -> list[tuple[str, str, str]]:
        knot, hand = self.tensions
        now = self.gap[1]
        lost = self.worked - self.stored - self.rubbed
        return [
            ("width of the wound, mean, mm", f"{1e3 * now:.2f}", f"{1e3 * self.due:.2f} at most"),
            ("supports + weight + pull, of the pull", f"{self.loose:.1e}", "0"),
            ("forces on each pad, of its support", f"{self.torn:.1e}", "0"),
            ("friction at a hole, of its normal force", f"{self.rubs:.4f}", f"{FRICTION:g} at most"),
            ("tension lost from hand to knot, N", f"{hand - knot:.4f}", f"{self.taken:.4f}, by friction at the holes"),
            ("tension at the hand, of that at the knot", f"{hand / knot:.3f}",
             f"{math.exp(FRICTION * self.turned):.3f} = exp({FRICTION:g} × {self.turned:.1f} rad), were it limp"),
            ("work of the hand, mJ", f"{1e3 * self.worked:.2f}",
             f"{1e3 * self.stored:.2f} stored + {1e3 * self.rubbed:.2f} rubbed + {1e3 * lost:.2f} damped"),
        ]  # fmt: skip

    def findings(self) -> str:
        knot, hand = self.tensions
        first, now = self.gap
        return (
            f"{1e3 * self.drawn:.0f} mm of thread close the wound from {1e3 * first:.2f} to {1e3 * now:.2f} mm in the "
            f"mean; friction leaves {knot:.2f} N at the knot of {hand:.2f} N at the hand; all forces balance."
        )

    # ---------------------------------------------------------------------------------------------------- on a page

    camera = ((0.052, -0.050, 0.070), (0.0, 0.001, 0.008))
    step = 4e-3

    def furnish(self) -> None:
        from sennit.export.solids import tube

        scene, wound = self.scene, self.wound
        self.piloted("draws by itself")
        self.slider = scene.control("thread drawn", self.by_hand(self.draw_to), 0.0, range=(0.0, MOST), unit="mm")
        scene.watch("width of the wound", lambda: self.sample()[0], unit="mm")
        scene.watch("pull of the hand", lambda: self.sample()[1], unit="N")
        scene.watch("tension at the knot", lambda: self.sample()[2], unit="N")
        jaws = tube(
            np.outer((-1e-3, 1e-3, 5e-3, 9e-3, 30e-3), (0.0, 0.0, 1.0)), np.array((5e-4, 7e-4, 1.1e-3, 1.5e-3, 1.6e-3)),
            (168, 174, 182), sides=16,
        )  # fmt: skip
        self.jaws = sn.World.at(sn.Pose.along(wound.grip.target, WAY))
        self.decorate(jaws, on=self.jaws, name="jaws")

    def draw_to(self, millimetres: float) -> None:
        """Ask for so much thread to be drawn."""
        self.asked = 1e-3 * millimetres

    def restart(self) -> None:
        self.drawn = self.asked = self.clock = 0.0
        self.follow(0.0)

    def follow(self, dt: float) -> None:
        self.jaws.position = sn.Pose.along(self.wound.grip.target, WAY)

    def act(self, dt: float) -> None:
        if self.automatic:  # draw, hold, slacken, wait
            self.clock = (self.clock + dt) % PERIOD
            wave = np.interp(self.clock, PERIOD * np.array((0.0, 0.06, 0.42, 0.62, 0.86, 1.0)), (0, 0, 1, 1, 0, 0))
            self.asked = DRAWN * float(wave * wave * (3.0 - 2.0 * wave))
        most = SPEED * dt
        change = min(max(self.asked - self.drawn, -most), most)
        self.drawn += change
        self.wound.grip.target = self.wound.grip.target + change * WAY  # its gizmo may have moved it
        if self.automatic:
            self.slider.value = 1e3 * self.drawn

    # ------------------------------------------------------------------------------------------------------ pictures

    def sample(self) -> tuple[float, ...]:
        knot, hand = self.tensions
        return 1e3 * self.gap[1], hand, max(knot, 0.0)

    def caption(self) -> str:
        if self.drawn == 0.0:
            return "loosely sewn"
        return "held" if self.drawn >= self.most else f"{1e3 * self.drawn:.0f} mm of thread drawn"

    def look(self) -> dict[str, Any]:
        wound = self.wound
        return {
            "pads": [pad.positions for pad in wound.pads],
            "line": wound.thread.centerline(801),
            "holes": np.array([hole.s for hole in wound.holes]) / wound.thread.length,
        }

    def legend(self) -> str:
        return f"stretch of the skin, 0 to {100.0 * STRETCH:.0f} %"

    def tints(self, parts: FloatArray) -> FloatArray:
        from sennit.demos.tissue_picture import flesh

        return flesh(parts, 0.0, 1.0)

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.demos.tissue_picture import draped, skin_of
        from sennit.export.painting import Camera

        camera = Camera(
            (0.072, -0.022, 0.120), (0.0, 0.006, 0.006), size=size, width=0.066 * size[0] / height,
            centre=(0.46, 0.425 * height / size[1]),
        )  # fmt: skip
        self.skins = skin_of(self.wound.pads)
        return draped(camera)

    def paint(self, look: dict[str, Any]) -> Facets:
        from sennit.demos.tissue_picture import stretched
        from sennit.export.painting import Facets
        from sennit.export.solids import ball, tube

        parts = stretched(self.skins, look["pads"], STRETCH)
        line, holes = look["line"], look["holes"]
        run = np.linspace(0.0, 1.0, len(line))

        def piece(start: float, end: float) -> FloatArray:
            at = np.linspace(start, end, max(4, int(400 * (end - start))))
            return np.column_stack([np.interp(at, run, line[:, k]) for k in range(3)])

        # every other piece between holes is inside the tissue
        ends = [*holes.tolist(), 1.0]
        for k in range(0, len(ends) - 1, 2):
            parts.append(tube(piece(ends[k], ends[k + 1]), 2.0e-4, BLUE, sides=8, gloss=0.7))
        for place in np.column_stack([np.interp(holes, run, line[:, k]) for k in range(3)]):
            parts.append(ball(place, 3.4e-4, (120, 24, 34), sides=8, gloss=0.1))
        for shift in ((0.0, 0.0, 3e-4), (4e-4, 2e-4, 5e-4), (-4e-4, -1e-4, 4e-4)):  # a knot
            parts.append(ball(line[0] + shift, 4.5e-4, BLUE, sides=10, gloss=0.6))
        jaws = line[-1] + np.outer((-1e-3, 1e-3, 5e-3, 9e-3, 30e-3), WAY)
        parts.append(tube(jaws, np.array((5e-4, 7e-4, 1.1e-3, 1.5e-3, 1.6e-3)), (168, 174, 182), sides=12, gloss=0.8))
        return Facets.joined(parts)


add_arguments, main, play = offered(Sewing, seconds=3.2)
