"""A wound between two pads of soft tissue is sewn: a curved needle pierces both lips, bite by bite, with its thread.

The pads are those of `stitch`, zones of boundary elements; here the holes are made by the needle. It goes into the skin
of the right pad, out of its lip, into the other lip and out of the left skin, is drawn away until the thread is taut,
and goes on to the next bite. The thread's far end is knotted to the skin before the first bite; after the last one the
thread is tied to the skin where it comes out. Where the lips meet they are kept apart by one-sided rows between
opposite vertices.

A score is kept as a trainer would: how far from the lip each bite is, how even they are, how hard the thread pulls on a
hole beside what tears skin, and how long it took. The hand holds the needle throughout: it does not let go and take it
up on the other side, and what would be in its way it goes through. The knots are joints: a knot by contact takes
spans of three radii at most, 385 control points here, and drawn tight its steps take ten times as long as they last.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.interpolate import CubicSpline

import sennit as sn
from sennit.demos.sewing_device import offered_with_devices
from sennit.demos.sewing_hand import PageHand
from sennit.demos.sewing_path import AWAY, Leg, Way
from sennit.demos.stage import Chart, Part, Show, offered
from sennit.demos.stitch import APART, BLUE, FRICTION, GRAVITY, HALF_TURN, NYLON, STRETCH, THREAD, TISSUE
from sennit.demos.tissue import Slab
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Score", "Theatre", "add_arguments", "assemble", "main", "play"]

DESCRIPTION = (
    "A curved needle sews a wound between two pads of soft tissue: it pierces each lip twice in a bite, with cutting "
    "and friction, and draws its thread after it; after three bites the thread is drawn taut and tied. A score tells "
    "how wide and how even the bites are, and how near the thread comes to tearing the skin. Checks that twelve holes "
    "are made, none missed and none left, that the wound is closed, that what carries both pads, the weight and the "
    "hand balance, that no bite draws less than 0.4 of what the strongest does, and that nothing tears."
)

RADIUS, LENGTH, THICK = 7.0e-3, 16.5e-3, 6.0e-4
"""Of the needle's circle, along it, and its diameter, m."""
ABOVE = 4.0e-3  # m: the centre of a bite's circle above the skin
PIERCING, CUTTING, RUBBING = 0.25, 0.08, 8.0  # N, N, N/m: of the soft tissue that the pads are of
PATCH = 3.0e-3  # m: radius of what gives way round a hole
BITES, SPACING = 3, 5.0e-3
DRAWN = (0.12, 0.11, 0.10)  # m: how far the hand goes away at most after each bite
TAUT, LAST = 0.20, 0.30  # N: pull at which it stops, after all but the last bite and after that
SPEED, PULL = 0.03, 0.08  # m/s: of the tip in a bite, and of the hand that draws
CLOSING = 0.5  # m/s: a gizmo that jumps is followed no faster, and turned no faster than 5 rad/s
SLACK = 4.0e-3  # m: by which the hand comes back when the thread is tied
TEARING = 3.3  # N: a thread tears out of skin (Potter and others, Dermatol. Surg. 51, 148, 2025: 3.3 to 4.1 N)
IDEAL, EVEN = 5.0e-3, 5.0e-3  # m: from the lip to a hole in the skin, and from bite to bite
SECONDS = 11.5
STEEL = (176, 182, 190)


def _off(values: FloatArray, ideal: float) -> float:
    """Mean distance of `values` from the ideal one; 0 of none."""
    return float(np.abs(values - ideal).mean()) if len(values) else 0.0


@dataclass(frozen=True, slots=True)
class Score:
    """What a trainer would look at."""

    bites: FloatArray
    """From the lip to each hole in the skin, m."""
    spacing: FloatArray
    """From bite to bite along the wound, m."""
    tension: float
    """Largest force of the thread on a hole so far, N."""
    seconds: float

    @property
    def points(self) -> float:
        """0 to 100: 40 for the bites, 30 for their spacing, 30 for tension; a thread that tears takes all of these."""
        wide = np.abs(self.bites / IDEAL - 1.0).mean() if len(self.bites) else 1.0
        even = np.abs(self.spacing / EVEN - 1.0).mean() if len(self.spacing) else 1.0
        torn = self.tension / TEARING
        return float(40.0 * max(1.0 - wide, 0.0) + 30.0 * max(1.0 - even, 0.0) + 30.0 * (1.0 - torn if torn < 1 else 0))


@dataclass(slots=True)
class Theatre:
    """The scene, its two pads, needle and thread, and what holds them."""

    scene: sn.Scene
    slab: Slab
    pads: tuple[sn.Zone, sn.Zone]
    """The left one, turned by half a turn about z; then the right one."""
    thread: sn.Rod
    needle: sn.Needle
    knot: sn.Fuse
    hand: sn.Clamp
    way: Way
    begin: sn.Pose
    """Of the hand before the first bite."""

    def gaps(self) -> FloatArray:
        """Width of the wound where it is sewn, at half of the lips' height, m."""
        facing = self.slab.facing()
        rows = facing[:, self.slab.cells[2] // 2 + 1]
        left, right = self.pads
        y = right.vertices[rows, 1]
        wide = right.positions[rows, 0] - left.positions[rows[::-1], 0]
        return np.asarray(wide[np.abs(y) <= 0.5 * SPACING * (BITES - 1) + 1e-9])

    def pairs(self) -> list[tuple[sn.Zone, FloatArray]]:
        """The places at rest of all holes in use, in the frames of their zones, from the tip on."""
        return [(hole.points[1].body, np.array(hole.points[1]._place)) for hole in self._keyholes()]  # type: ignore[attr-defined]

    def _keyholes(self) -> list[sn.Keyhole]:
        return [hole for hole in self.needle.holes if isinstance(hole, sn.Keyhole)]


def assemble(cells: tuple[int, int, int] = (8, 16, 5), control_points: int = 100) -> Theatre:
    """The wound, open, with the needle above the first bite and its thread laid aside."""
    slab = Slab(cells=cells, length=0.034)
    vertices, faces = slab.mesh()
    scene = sn.Scene(gravity=(0.0, 0.0, -GRAVITY), drag=20.0)
    right = scene.add(sn.Zone.from_mesh(vertices, faces, material=TISSUE, fixed=slab.held(vertices), name="right pad"))
    turned = sn.World.at(sn.Pose.from_rotation((0.0, 0.0, 0.0), HALF_TURN))
    left = scene.add(right.with_material(TISSUE, name="left pad"), on=turned)
    places = tuple(SPACING * (k - 0.5 * (BITES - 1)) for k in range(BITES))
    way = Way(places, slab.thickness, RADIUS, ABOVE, LENGTH, DRAWN)

    angle = way.first + LENGTH / RADIUS  # of the needle's end
    end = way.centre(0) + RADIUS * np.array((math.cos(angle), 0.0, math.sin(angle)))
    along = np.array((math.sin(angle), 0.0, -math.cos(angle)))
    skin = np.array((0.9 * RADIUS, places[0] - SPACING, slab.thickness))
    aside = np.array((0.030, 0.0, 0.022)), np.array((0.038, -0.012, 0.011))
    corners = np.array((end, end - 5e-3 * along, end - 1e-2 * along, end + aside[0], skin + aside[1], skin))
    run = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))))
    curve = CubicSpline(run, corners, bc_type=((1, -along), (1, np.array((-0.5, 0.1, -0.85)))))
    thread = scene.add(
        sn.Rod.through(
            curve(np.linspace(0.0, run[-1], 160)), section=THREAD, material=NYLON, control_points=control_points,
            straight=True, name="thread",
        )
    )  # fmt: skip
    knot = scene.add(sn.Fuse(thread.at(thread.length), right.at(skin, radius=PATCH), align=False, name="first knot"))
    needle = scene.add(
        sn.Needle(
            thread.at(0.0), [right, left], length=LENGTH, radius=RADIUS, thickness=THICK, piercing=PIERCING,
            cutting=CUTTING, friction=RUBBING, thread_friction=FRICTION, patch=PATCH, holes=2 * BITES,
            normal=(0.0, 1.0, 0.0), name="needle",
        )
    )  # fmt: skip
    facing = slab.facing()
    for i in range(3, cells[1] - 2):
        for j in range(cells[2] // 2, cells[2]):
            p, q = right.at(int(facing[i, j])), left.at(int(facing[cells[1] - i, j]))
            through = q.position + np.array((APART, 0.0, 0.0))
            scene.add(sn.OnPlane(p, (1.0, 0.0, 0.0), through, of=q, bound="at_least", name=f"lips {i} {j}"))
    hand = scene.add(sn.Clamp(needle.at(0.75 * LENGTH), closing_speed=CLOSING, name="needle holder"))
    return Theatre(scene, slab, (left, right), thread, needle, knot, hand, way, hand.target)


class Surgery(Show):
    """The hand sews, draws the thread taut and ties it."""

    headline = "A curved needle sews a wound"
    title = "A wound between two pads of soft tissue is sewn with a curved needle: three bites, drawn taut and tied."
    charts = (
        Chart("width of the wound", "mm", ".2f", (0, 114, 140)),
        Chart("force of the hand", "N", ".2f", (196, 78, 20)),
        Chart("pull on the worst hole", "N", ".2f", (120, 60, 140)),
    )

    def __init__(self, cells: tuple[int, int, int] = (8, 16, 5), control_points: int = 100) -> None:
        self.theatre = assemble(cells, control_points)
        self.scene = self.theatre.scene
        self.legs: list[Leg] = []
        self.second: sn.Fuse | None = None
        self.paged: PageHand | None = None
        """Who leads on a page."""
        self.restart()

    # ---------------------------------------------------------------------------------------------------- the script

    def restart(self) -> None:
        self.legs = self.theatre.way.legs(SPEED, PULL)
        self.number, self.gone, self.most, self.clock = 0, 0.0, 0.0, 0.0
        self.centre, self.angle = self.theatre.way.centre(0), 0.0
        self.start = self.centre, self.angle
        if self.second is not None and self.second.scene is not self.scene:
            self.second = None
        if self.paged is not None:
            self.paged.restart()

    def plan(self, seconds: float) -> list[Part]:
        return [Part(seconds, 4e-3)]

    def begin(self) -> None:
        scene = self.scene
        for _ in range(20):  # the thread, which is straight when nothing acts, springs out of its bend
            scene.step(1e-4)
        scene.run(0.2, dt=4e-3)
        self.opened = self.theatre.gaps()
        self.began = scene.time

    @property
    def pull(self) -> float:
        """Of the hand, N."""
        return float(np.linalg.norm(self.theatre.hand.force))

    def before_step(self, dt: float) -> None:
        if self.number >= len(self.legs):
            self._tie(dt)
            return
        leg = self.legs[self.number]
        bite = sum(other.what == "round" for other in self.legs[: self.number])
        taut = leg.what == "draw" and self.pull > (LAST if bite == BITES else TAUT)
        if self.gone >= leg.seconds or taut:
            self.number, self.gone, self.start = self.number + 1, 0.0, (self.centre, self.angle)
            return
        self.gone += dt
        share = min(self.gone / leg.seconds, 1.0)
        first, angle = self.start
        self.centre = first + share * (leg.centre[1] - first)
        aim = leg.angle[1] if leg.angle[1] != 0.0 else angle
        begin = leg.angle[0] if leg.what == "round" else angle
        self.angle = begin + share * (aim - begin)
        self._lead()

    def _lead(self) -> None:
        theatre = self.theatre
        theatre.hand.target = theatre.way.pose(self.centre, self.angle, theatre.begin)

    def _tie(self, dt: float) -> None:
        """Tie the thread where it comes out, then give it some slack."""
        theatre = self.theatre
        if self.second is None:
            self.second = theatre.needle.tie(name="second knot")
            self.tied = self.centre
        if self.second is not None and np.linalg.norm(self.centre - self.tied) < SLACK:
            self.centre = self.centre - 0.01 * dt * AWAY / 1.003
            self._lead()

    def after_step(self, dt: float) -> None:
        self.clock += dt if self.second is None else 0.0
        self.most = max(self.most, self.worst)

    # ----------------------------------------------------------------------------------------------------- the score

    @property
    def pulls(self) -> FloatArray:
        """Force of the thread on each hole that it is in, N."""
        ties: list[Any] = self.theatre._keyholes() + ([] if self.second is None else [self.second])
        return np.array([np.linalg.norm(tie.force) for tie in ties])

    @property
    def worst(self) -> float:
        """The largest of them, N."""
        return float(self.pulls.max(initial=0.0))

    @property
    def score(self) -> Score:
        """Of what was sewn so far."""
        slab, bites, along = self.theatre.slab, [], []
        for zone, place in self.theatre.pairs() + self._knotted():
            if place[2] > slab.thickness - 0.5e-3:  # a hole in the skin, not in the lip
                bites.append(place[0] - float(slab.opening(place[1])))
                if zone is self.theatre.pads[1]:
                    along.append(place[1])
        return Score(np.array(bites), np.abs(np.diff(np.sort(along))), self.most, self.clock)

    def _knotted(self) -> list[tuple[sn.Zone, FloatArray]]:
        """The place of the second knot, as `Theatre.pairs` has those of holes."""
        if self.second is None:
            return []
        point: Any = self.second.points[1]
        return [(point.body, np.array(point._place))]

    @property
    def closing(self) -> FloatArray:
        """Of each bite, what its thread draws the left pad to the right by, N, from the first on."""
        left = self.theatre.pads[0]
        ties: list[Any] = self.theatre._keyholes()[::-1] + ([] if self.second is None else [self.second])
        return np.array(
            [
                -sum(float(tie.force[0]) for tie in ties[k : k + 4] if tie.points[1].body is left)
                for k in range(0, len(ties) - 3, 4)
            ]
        )

    # ---------------------------------------------------------------------------------------------------- the checks

    @property
    def told(self) -> list[str]:
        """What the scene tells of the needle."""
        return [event.kind for event in self.scene.events if self.theatre.needle in event.subjects]

    @property
    def loose(self) -> float:
        """What supports, weight and hand leave, N."""
        theatre = self.theatre
        total = np.array((0.0, 0.0, -GRAVITY * (theatre.thread.mass + theatre.needle.body.mass))) + theatre.hand.force
        for pad in theatre.pads:
            total += pad.pose.rotation @ pad.state.forces[pad.fixed].sum(axis=0)
        return float(np.linalg.norm(total))

    def check(self) -> list[str]:
        wrong = []
        made = self.told.count("pierced"), self.told.count("through")
        if self.second is None:
            return ["the run was too short to tie the thread: it takes 11 s"]
        if made != (2 * BITES, 2 * BITES):
            wrong.append(f"the needle went in {made[0]} times and out {made[1]} times, not {2 * BITES}")
        missed = sorted({kind for kind in self.told if kind in ("no_hole", "slipped", "pulled_out")})
        if missed:
            wrong.append(f"a bite went wrong: {', '.join(missed)}")
        first, now = float(self.opened.mean()), float(self.theatre.gaps().mean())
        if not now <= 0.25 * first:
            wrong.append(f"the wound is {1e3 * now:.2f} mm wide, and was {1e3 * first:.2f} mm")
        if not self.loose <= 2e-3:
            wrong.append(f"supports, weight and hand miss their balance by {self.loose:.1e} N")
        if not self.most < TEARING:
            wrong.append(f"the thread pulled on a hole by {self.most:.2f} N, and {TEARING:g} N tear skin")
        drawn = self.closing
        if not drawn.min() >= 0.4 * drawn.max() > 0.0:
            wrong.append(f"the bites draw the lips together by {np.round(drawn, 3)} N")
        if not self.score.points >= 70.0:
            wrong.append(f"the score is {self.score.points:.0f} of 100")
        return wrong

    def table(self) -> list[tuple[str, str, str]]:
        score = self.score

        def spread(values: FloatArray) -> str:
            return f"{1e3 * values.min():.1f} to {1e3 * values.max():.1f} mm" if len(values) else "none"

        return [
            ("bites, from the lip", spread(score.bites), f"{1e3 * IDEAL:.1f} mm"),
            ("from bite to bite", spread(score.spacing), f"{1e3 * EVEN:.1f} mm"),
            ("largest pull on a hole", f"{score.tension:.2f} N", f"below {TEARING:g} N"),
            ("the bites draw the lips by", " ".join(f"{x:.2f}" for x in self.closing) + " N", "within 0.4 of the most"),
            ("time", f"{score.seconds:.1f} s", ""),
            ("score", f"{score.points:.0f}", "100"),
        ]

    def findings(self) -> str:
        first, now = float(self.opened.mean()), float(self.theatre.gaps().mean())
        return (
            f"{4 * BITES} holes in {BITES} bites; the wound is {1e3 * now:.2f} mm wide and was {1e3 * first:.2f} mm; "
            f"nothing pulled by more than {self.most:.2f} N; {self.score.points:.0f} points of 100."
        )

    # ------------------------------------------------------------------------------------------------------ on a page

    camera = ((0.054, -0.062, 0.065), (0.0, 0.0, 0.013))
    step = 4e-3

    def furnish(self) -> None:
        scene = self.scene
        self.piloted("sews by itself")
        turn = scene.control("round", self.by_hand(self.turn_to), 0.0, range=(0.0, 360.0), unit="deg")
        place = scene.control("along the wound", self.by_hand(self.go_to), -5.0, range=(-12.0, 12.0), unit="mm")
        height = scene.control("away", self.by_hand(self.rise_to), 0.0, range=(0.0, 120.0), unit="mm")
        self.paged = PageHand(self.theatre, (turn, place, height), PULL, SPEED / RADIUS)
        scene.control("tie", self.tie)
        scene.show("score", lambda: f"{self.score.points:.0f} of 100")
        scene.show("largest pull", lambda: f"{self.most:.2f} of {TEARING:g} N")
        scene.watch("width of the wound", lambda: self.sample()[0], unit="mm")
        scene.watch("force of the hand", lambda: self.pull, unit="N")
        scene.watch("pull on the worst hole", lambda: self.worst, unit="N")
        scene.watch("score", lambda: self.score.points)
        scene.watch("bites, off the ideal", lambda: 1e3 * _off(self.score.bites, IDEAL), unit="mm")
        scene.watch("from bite to bite, off even", lambda: 1e3 * _off(self.score.spacing, EVEN), unit="mm")
        scene.watch("largest pull, of what tears", lambda: 100.0 * self.most / TEARING, unit="%")
        scene.watch("time", lambda: self.clock, unit="s")

    def turn_to(self, degrees: float) -> None:
        """Turn the needle round its circle."""
        self._led_by_sliders().set(0, degrees)

    def go_to(self, millimetres: float) -> None:
        """Go along the wound."""
        self._led_by_sliders().set(1, millimetres)

    def rise_to(self, millimetres: float) -> None:
        """Draw the needle away."""
        self._led_by_sliders().set(2, millimetres)

    def _led_by_sliders(self) -> PageHand:
        assert self.paged is not None  # it is made with the sliders
        return self.paged

    def tie(self) -> None:
        """Tie the thread where it comes out."""
        if self.second is None:
            self.second = self.theatre.needle.tie(name="second knot")
            self.tied = self.centre
            self._hand_over()

    def _hand_over(self) -> None:
        """A person leads from now on."""
        if self.pilot is not None:
            self.pilot.value = False

    def act(self, dt: float) -> None:
        hand = self._led_by_sliders()
        if hand.moved():
            self._hand_over()
        if not self.automatic:
            if hand.leader == "script":
                hand.take()
            hand.advance(dt)
        elif hand.resumed(dt):
            self.before_step(dt)
            hand.keep()

    def follow(self, dt: float) -> None:
        self.after_step(dt)

    # ------------------------------------------------------------------------------------------------------- pictures

    def sample(self) -> tuple[float, ...]:
        return 1e3 * float(self.theatre.gaps().mean()), self.pull, self.worst

    def caption(self) -> str:
        if self.number >= len(self.legs):
            return f"tied: {self.score.points:.0f} points"
        bite = sum(leg.what == "round" for leg in self.legs[: self.number + 1])
        return {"round": f"bite {bite}", "draw": "the thread is drawn", "on": "on to the next bite"}[
            self.legs[self.number].what
        ]

    def look(self) -> dict[str, Any]:
        theatre = self.theatre
        s = np.linspace(theatre.needle.length, 0.0, 40)
        origin = theatre.needle.body.pose
        local = np.array([theatre.needle.at(x).local for x in s])
        return {
            "pads": [pad.positions for pad in theatre.pads],
            "line": theatre.thread.centerline(501),
            "needle": local @ origin.rotation.T + origin.position,
            "holes": [
                hole.slider.position if isinstance(hole, sn.Keyhole) else hole.points[0].position
                for hole in theatre.needle.holes
            ],
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
            (0.060, -0.070, 0.075), (0.0, 0.0, 0.012), size=size, width=0.062 * size[0] / height,
            centre=(0.46, 0.5 * height / size[1]),
        )  # fmt: skip
        self.skins = skin_of(self.theatre.pads)
        return draped(camera)

    def paint(self, look: dict[str, Any]) -> Facets:
        from sennit.demos.tissue_picture import stretched
        from sennit.export.painting import Facets
        from sennit.export.solids import ball, tube

        parts = stretched(self.skins, look["pads"], STRETCH)
        parts.append(tube(look["line"], 2.0e-4, BLUE, sides=8, gloss=0.7))
        needle = look["needle"]
        thick = 0.5 * THICK * np.minimum(1.0, np.linspace(8.0, 0.1, len(needle)))
        parts.append(tube(needle, thick, STEEL, sides=12, gloss=0.9))
        parts += [ball(place, 3.4e-4, (120, 24, 34), sides=8, gloss=0.1) for place in look["holes"]]
        parts.append(ball(look["line"][-1], 5e-4, BLUE, sides=10, gloss=0.6))
        return Facets.joined(parts)


add_arguments, main, play = offered(Surgery, seconds=SECONDS)
add_arguments, main = offered_with_devices(Surgery, add_arguments, main)
