"""A guidewire with a bent tip is pushed and turned through vessels that branch twice.

What a radiologist does with one hand: push, and turn. The tip points to one side, and where the vessel branches it
enters the branch to which it points. The wire begins straight in a narrow sheath, where it is held by its walls, and
springs into its natural shape when it leaves that. Lengths are those of small arteries; the wire is as thick as the
common one of 0.035 inches, and softer, as wires are towards their tips.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import sennit as sn
from sennit.demos.stage import Chart, Part, Show, offered, perform
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["BRANCHES", "DESCRIPTION", "Vessel", "add_arguments", "assemble", "build", "main", "play"]

DESCRIPTION = (
    "A guidewire with a bent tip is pushed out of its sheath into a vessel that branches twice, and turned so that it "
    "enters the branch that --branch names. Writes an animated picture (.gif, .mp4) or some of its frames (.png); "
    "colours show how much the wire is bent. Checks that it reaches the chosen branch, that it stays inside the walls, "
    "that the hand and the walls balance each other when it rests, and that the hand's work covers the energy stored."
)

BRANCHES = ("left up", "left down", "right up", "right down")
GAUGE, LENGTH = 0.45e-3, 0.30  # m: radius and length of the wire
TIP, BEND = 0.012, math.radians(50.0)  # m: length of its bent end, and by how much it is bent
SHEATH, BEFORE = 1.1e-3, 0.004  # m: radius of the sheath, and how far the tip is in it when all begins
TRUNK, WIDENING = 4e-3, 0.035  # m: radius of the vessel, and the way on which it widens from that of the sheath
FORK, SECOND = 0.065, 0.125  # m: where the vessel branches, and where its branches do, along x
WIRE = sn.Material(
    youngs_modulus=2.5e9, poisson_ratio=0.35, density=6500, relaxation_time=2e-3, look="wire", colour=(44, 58, 92)
)
FRICTION = 0.08
SPEED, TURNING = 0.05, 2.5  # m/s, rad/s: of the hand
FIRST_PUSH, LAST_PUSH = 0.132, 0.185  # m: up to just before the second fork, and in all
REST = 0.6  # s: at the end, until it has come to rest


def _bent(start: FloatArray, along: FloatArray, end: FloatArray, count: int = 25) -> FloatArray:
    """A smooth way from `start`, where it has the direction `along` (of some length, m), to `end`: (count, 3), m."""
    t = np.linspace(0.0, 1.0, count)[:, None]
    return (1.0 - t) ** 2 * start + 2.0 * t * (1.0 - t) * (start + along) + t**2 * end


def vessels() -> tuple[list[FloatArray], list[FloatArray]]:
    """Axes and radii of the tubes: the trunk with the sheath, two branches, and the four of `BRANCHES`, m."""
    part = np.linspace(0.0, 1.0, 25)
    x = np.concatenate(((-0.40,), WIDENING * part, (FORK,)))
    wide = SHEATH + (TRUNK - SHEATH) * part**2 * (3.0 - 2.0 * part)
    trunk = np.column_stack((x, 0.0 * x, 0.0 * x))
    axes, radii = [trunk], [np.concatenate(((SHEATH,), wide, (TRUNK,)))]
    ends = []
    for side in (1.0, -1.0):
        way = _bent(trunk[-1], np.array((0.025, 0.0, 0.0)), np.array((SECOND, 0.042 * side, 0.0)))
        axes.append(way)
        radii.append(np.linspace(3.4e-3, 2.8e-3, len(way)))
        ends.append(way[-1] + np.outer((0.0, 1.0), way[-1] - way[-2]))
    for fork in ends:
        ahead = (fork[1] - fork[0]) / np.linalg.norm(fork[1] - fork[0])
        for level in (1.0, -1.0):
            end = fork[0] + 0.055 * ahead + (0.0, 0.0, 0.032 * level)
            way = _bent(fork[0], 0.022 * ahead, end)
            axes.append(way)
            radii.append(np.linspace(2.6e-3, 2.0e-3, len(way)))
    return axes, radii


@dataclass(slots=True)
class Vessel:
    """The scene, the wire, the tubes that hold it, and the hand."""

    scene: sn.Scene
    wire: sn.Rod
    tube: sn.Inside
    hand: sn.Clamp


def assemble(control_points: int = 80) -> Vessel:
    """The wire straight in its sheath, its tip just before the vessel, bent towards +y by nature."""
    scene = sn.Scene(drag=5.0)
    shaft = LENGTH - TIP
    s = np.linspace(0.0, LENGTH, 400)
    bend = BEND * np.clip((s - shaft) / TIP, 0.0, None)
    x = np.minimum(s, shaft) + TIP / BEND * np.sin(bend)
    shape = np.column_stack((x - LENGTH - BEFORE, TIP / BEND * (1.0 - np.cos(bend)), 0.0 * s))
    wire = scene.add(
        sn.Rod.through(
            shape, section=sn.Section.circle(GAUGE), material=WIRE, control_points=control_points, name="wire"
        )
    )
    wire.set_shape(np.column_stack((s - LENGTH - BEFORE, 0.0 * s, 0.0 * s)))
    tube = scene.add(sn.Inside(wire, *vessels(), friction=FRICTION, name="vessel"))
    hand = scene.add(sn.Clamp(wire.at(0.0), name="hand"))
    return Vessel(scene, wire, tube, hand)


def build(control_points: int = 80) -> sn.Scene:
    """The scene of the wire in its vessels."""
    return assemble(control_points).scene


def way_into(branch: str) -> tuple[float, float]:
    """Angles, rad, to which the hand turns the tip for the first and for the second fork."""
    side, level = branch.split()
    first = 0.0 if side == "left" else math.pi
    second = 0.5 * math.pi if level == "up" else -0.5 * math.pi
    if side == "right" and level == "down":
        second += 2.0 * math.pi  # the shorter way from there
    return first, second


class Journey(Show):
    """Push to the first fork, turn, push to the second, turn, push on, rest."""

    headline = "A guidewire in branching vessels"
    title = "A guidewire with a bent tip is pushed and turned through vessels that branch twice."
    charts = (
        Chart("push of the hand", "N", ".2f", (196, 78, 20)),
        Chart("torque of the hand", "mN m", ".2f", (0, 114, 140)),
    )

    def __init__(self, branch: str = "left up") -> None:
        self.vessel = assemble()
        self.scene = self.vessel.scene
        self.branch = branch
        self.begun = self.vessel.hand.target
        self.pushed = self.turned = 0.0
        self.deepest = self.work = self.unbalanced = 0.0
        self.out = math.inf
        self.wanted, self.since = (0.0, 0.0), 0.0
        """On a page: where the hand shall be, m and rad, and for how long the script has run, s."""

    def script(self) -> list[tuple[float, float, float]]:
        """Stages of the journey: how long each takes, s, and where the hand is when it ends, m and rad."""
        first, second = way_into(self.branch)
        stages, push, turn = [], 0.0, 0.0
        for next_push, next_turn in (
            (0.03, first), (FIRST_PUSH, first), (FIRST_PUSH, second), (LAST_PUSH, second), (LAST_PUSH, second)
        ):  # fmt: skip
            time = max(abs(next_push - push) / SPEED, abs(next_turn - turn) / TURNING, 0.2)
            stages.append((time, next_push, next_turn))
            push, turn = next_push, next_turn
        stages[-1] = (REST, push, turn)
        return stages

    @property
    def duration(self) -> float:
        """Of the whole script, s."""
        return sum(time for time, _, _ in self.script())

    def plan(self, seconds: float) -> list[Part]:
        self.pace_of_script = self.duration / seconds
        return [Part(seconds, 1 / 120)]

    def begin(self) -> None:
        self.scene.run(0.1, dt=1 / 240)  # the tip leans on its sheath
        self.zero = float(self.scene.time)
        self.before = self.scene.energy

    def hold(self, push: float, turn: float) -> None:
        """Put the hand where it has pushed by so many m and turned by so many rad."""
        self.pushed, self.turned = push, turn
        spin = sn.Pose((0.0, 0.0, 0.0), (math.cos(0.5 * turn), math.sin(0.5 * turn), 0.0, 0.0))
        turned = spin @ sn.Pose((0.0, 0.0, 0.0), self.begun.quaternion)
        self.vessel.hand.target = sn.Pose(self.begun.position + np.array((push, 0.0, 0.0)), turned.quaternion)

    def at_time(self, t: float) -> tuple[float, float]:
        """Where the script has the hand at `t` (s): m and rad."""
        push = turn = 0.0
        for time, next_push, next_turn in self.script():
            if t < time:
                part = t / time
                part = part * part * (3.0 - 2.0 * part)
                return push + part * (next_push - push), turn + part * (next_turn - turn)
            t, push, turn = t - time, next_push, next_turn
        return push, turn

    def before_step(self, dt: float) -> None:
        self.last = self.pushed, self.turned
        self.hold(*self.at_time((self.scene.time + dt - self.zero) * self.pace_of_script))

    def after_step(self, dt: float) -> None:
        hand = self.vessel.hand
        self.work += float(hand.force[0]) * (self.pushed - self.last[0])
        self.work += float(hand.torque[0]) * (self.turned - self.last[1])
        self.deepest = max(self.deepest, self.scene.contacts.deepest)

    def gaps(self) -> FloatArray:
        """How far the wire's surface is from the walls, m; found without the code of contact."""
        shape = self.vessel.tube.shape.moved(self.vessel.tube.pose)
        return np.asarray(shape.clearance(self.vessel.wire.centerline(300)) - GAUGE)

    def reached(self) -> str:
        """The branch that the tip is in; "": none of the four."""
        tip = self.vessel.wire.centerline(2)[-1]
        for name, way, radius in zip(BRANCHES, *(part[3:] for part in vessels()), strict=True):
            away = np.linalg.norm(way - tip, axis=1)
            nearest = int(np.argmin(away))
            if nearest >= 5 and away[nearest] < radius[nearest] + 1e-3:
                return str(name)
        return ""

    def look(self) -> tuple[FloatArray, FloatArray]:
        wire = self.vessel.wire
        self.out = min(self.out, float(self.gaps().min()))
        total = sum((contact.force for contact in self.scene.contacts), self.vessel.hand.force.copy())
        weight = wire.mass * self.scene.gravity
        self.unbalanced = float(np.linalg.norm(total + weight))
        return wire.centerline(301), np.linalg.norm(wire.curvatures(301)[:, :2], axis=1)

    def sample(self) -> tuple[float, ...]:
        hand = self.vessel.hand
        return max(float(hand.force[0]), 0.0), 1e3 * abs(float(hand.torque[0]))

    def caption(self) -> str:
        return f"pushed by {1e3 * self.pushed:.0f} mm, turned by {math.degrees(self.turned):.0f}°"

    def legend(self) -> str:
        return "bending, 0 to 80 rad/m"

    def check(self) -> list[str]:
        wrong = []
        found = self.reached()
        if found != self.branch:
            wrong.append(f"the tip was led to the branch {self.branch}, and is in {found or 'none of the four'}")
        # where it snaps over the edge between two branches, it cuts that between its knots: by 0.08 to 0.21 radii
        if not self.deepest <= 0.5 * GAUGE or not self.out >= -0.5 * GAUGE:
            wrong.append(f"the wire came {1e6 * max(self.deepest, -self.out):.0f} µm deep into a wall")
        stored = self.scene.energy.elastic - self.before.elastic
        if not self.work >= stored - 1e-2 * abs(stored):
            wrong.append(f"energy from nothing: {1e3 * stored:.3f} mJ stored by a work of {1e3 * self.work:.3f} mJ")
        if not self.unbalanced <= 0.02:
            wrong.append(f"at rest {self.unbalanced:.3f} N are not balanced")
        return wrong

    def findings(self) -> str:
        return (
            f"the tip is in the branch {self.reached()}; the wire came {1e6 * max(self.deepest, 0.0):.2g} µm deep into "
            f"a wall at most; the hand has done {1e3 * self.work:.2f} mJ, of which "
            f"{1e3 * (self.scene.energy.elastic - self.before.elastic):.2f} mJ are stored and friction has the rest; "
            f"at rest hand, walls and weight balance to {self.unbalanced:.1e} N."
        )

    # ---------------------------------------------------------------------------------------------------- on a page

    step = 1 / 120
    camera = ((0.062, -0.1, 0.135), (0.078, 0.004, 0.0))
    ground = -0.06

    def furnish(self) -> None:
        self.piloted()
        self.push = self.scene.control("push", self.by_hand(self.push_to), 0.0, range=(0.0, 0.22), unit="m")
        self.turn = self.scene.control("turn", self.by_hand(self.turn_to), 0.0, range=(-360.0, 360.0), unit="°")
        for name in BRANCHES:
            self.scene.control(f"lead it {name}", lambda name=name: self.lead(name))
        self.scene.watch("push of the hand", lambda: float(self.vessel.hand.force[0]), unit="N")
        self.scene.watch("torque of the hand", lambda: 1e3 * float(self.vessel.hand.torque[0]), unit="mN·m")
        self.decorate(table(), name="table")
        self.ready = self.scene.snapshot()

    def push_to(self, push: float) -> None:
        """Push the wire in by `push` (m), or draw it back."""
        self.wanted = push, self.wanted[1]

    def turn_to(self, turn: float) -> None:
        """Turn it by `turn` (degrees)."""
        self.wanted = self.wanted[0], math.radians(turn)

    def lead(self, branch: str) -> None:
        """Draw the wire back, and lead it to a branch."""
        self.branch, self.since = branch, -math.inf
        if self.pilot is not None:
            self.pilot.value = True

    def restart(self) -> None:
        self.wanted, self.since = (0.0, 0.0), 0.0
        self.pushed = self.turned = 0.0

    def act(self, dt: float) -> None:
        if self.automatic:
            if self.since == -math.inf:  # back to the sheath first
                self.wanted = (0.0, self.turned) if self.pushed > 1e-6 else (0.0, 0.0)
                if self.pushed <= 1e-6 and abs(self.turned) <= 1e-6:
                    self.since = 0.0
            else:
                self.since += dt
                self.wanted = self.at_time(self.since)
        push = self.pushed + min(max(self.wanted[0] - self.pushed, -2.0 * SPEED * dt), 2.0 * SPEED * dt)
        turn = self.turned + min(max(self.wanted[1] - self.turned, -2.0 * TURNING * dt), 2.0 * TURNING * dt)
        self.hold(push, turn)

    # ------------------------------------------------------------------------------------------------------ pictures

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        camera = Camera(
            (0.055, -0.36, 0.40), (0.088, 0.0, 0.0), size=size, width=0.185 * size[0] / height,
            centre=(0.5, 0.55 * height / size[1]),
        )  # fmt: skip
        ground = floor(camera, (-10.0, -5.0), (10.0, 10.0))
        stage = Stage(camera, (236, 239, 243), ground)
        stage.polygon(ground, (226, 230, 236))
        stage.facets(walls())
        return stage

    def paint(self, look: tuple[FloatArray, FloatArray]) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import ball, ramp, tube

        line, bend = look
        colours = ramp(bend, 0.0, 80.0)
        return Facets.joined((tube(line, 1.3 * GAUGE, colours, sides=10), ball(line[-1], 1.3 * GAUGE, colours[-1])))


def walls() -> Facets:
    """The far walls of the vessels, seen from inside: the near ones are left out."""
    from sennit.export.facets import Facets
    from sennit.export.solids import tube

    parts = []
    for axis, radius in zip(*vessels(), strict=True):
        ends = np.linspace(0.0, len(axis) - 1.0, 4 * len(axis))
        places, width = (np.array([np.interp(ends, range(len(axis)), column) for column in np.atleast_2d(x.T)]) for x in
                         (axis, radius))  # fmt: skip
        made = tube(places.T, width[0], (214, 120, 108), sides=28, gloss=0.1)
        sides = len(made.corners) - 2 * 28  # without the caps
        parts.append(Facets(made.corners[:sides], -made.normals[:sides], made.colours[:sides], made.gloss[:sides]))
    return Facets.joined(parts)


def table() -> Facets:
    """What the patient lies on."""
    from sennit.demos.props import plate

    rim = np.array(((-0.45, -0.12), (0.25, -0.12), (0.25, 0.12), (-0.45, 0.12)))
    return plate(rim, -0.06, -0.055, (224, 230, 236))


_add_arguments, _, play = offered(Journey, seconds=5.0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this demonstration's options."""
    _add_arguments(parser)
    parser.add_argument(
        "--branch", choices=BRANCHES, default=BRANCHES[0], help="where the wire is led (default: %(default)s)"
    )


def main(args: argparse.Namespace) -> int:
    """Open the page with it, or run and check it."""
    return perform(Journey(args.branch), args)
