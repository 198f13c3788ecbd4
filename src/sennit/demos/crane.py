"""A tower crane: it hoists 1.5 t on two falls, slews, drives its trolley out, waits for the swing, and lowers.

The hoist rope runs from the winch at the jib's foot over a sheave of the trolley, down, round the sheave of the hook
block, up, over the trolley's other sheave, to the tip of the jib. So the trolley travels without lifting the hook, and
the hook rises at half the winch's speed. The load hangs from the hook by four slings. Jib and trolley are driven by the
motors of their joints.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos.hoisting import (
    Fact,
    Hoist,
    Place,
    between,
    block,
    eased,
    line_of,
    moved,
    person,
    place_of,
    ramped,
    rope,
    towards,
    turned,
    wheel,
)  # fmt: skip
from sennit.demos.stage import PAPER, Chart, Part, offered
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Crane", "add_arguments", "assemble", "build", "main", "play", "swing_period"]

DESCRIPTION = (
    "A tower crane hoists 1.5 t on two falls, slews by 61 degrees, drives its trolley out, waits while the load "
    "swings, and lowers it. Writes an animated picture (.gif, .mp4) or some of its frames (.png); colours show "
    "tension. Checks the hook's speed against the winch's, the tension at rest, the period of the swing, the stretch "
    "of the rope and the work of the drives."
)

GRAVITY = 9.81
HEIGHT, FOOT, TIP, BACK = 18.0, 1.5, 18.5, -6.5  # m: of the mast; winch, tip and counterweight along the jib
LEVEL, RAIL = HEIGHT + 0.8, HEIGHT - 0.1  # m: of the jib's centre of mass, of the trolley
OUT = 6.5  # m: where the trolley begins
SHEAVE, WHEEL = 0.25, 0.3  # m: radii of the trolley's sheaves and of the hook block's
AXLE, EYE = 0.3, -0.55  # m: of the hook block's sheave and its eye above its centre of mass
HOOK, LOAD = 200.0, 1500.0  # kg
CRATE = (1.3, 0.9, 0.8)  # m: half sides of the load
SLING = 1.7  # m: from the hook's eye down to the load's top
STEEL = sn.Material(youngs_modulus=1e11, poisson_ratio=0.3, density=7850, relaxation_time=5e-3)
ROPE, LEG = sn.Section.circle(radius=6e-3), sn.Section.circle(radius=7e-3)
STEP = 1.0 / 60.0  # s

# the manoeuvre: begin and end, s, of each drive; how long it takes to reach its speed, s; the speed
RAISE = (0.5, 6.5, 1.0, -2.2)  # m/s of rope
SLEW = (4.5, 13.5, 2.5, -0.165)  # rad/s
TRAVEL = (8.0, 15.5, 2.0, 1.0)  # m/s
LOWER = (24.5, 29.5, 1.0, 2.4)  # m/s of rope
SECONDS = 30.0
# on a page: speeds and how they change, of winch, slewing and trolley; angle and reach of the other place; how high
PACES, BRAKES = (2.2, 0.165, 1.0), (2.0, 0.06, 0.45)  # m/s, rad/s, m/s; the same by s
GOAL, CARRIED = (-1.0725, 12.0), 7.0  # rad, m; m
CALMING = 0.9  # 1/s: about twice the rate at which the autopilot takes the swing out of the load


@dataclass(frozen=True, slots=True)
class Crane:
    """The scene with its bodies, drives and cables."""

    scene: sn.Scene
    mast: sn.RigidBody
    jib: sn.RigidBody
    trolley: sn.RigidBody
    hook: sn.RigidBody
    load: sn.RigidBody
    slewing: sn.Hinge
    travel: sn.Prismatic
    hoist: sn.Cable
    sheaves: list[sn.Sheave]
    slings: list[sn.Cable]


def assemble() -> Crane:
    """The crane, its load close to the ground."""
    scene = sn.Scene(gravity=(0.0, 0.0, -GRAVITY))
    low = 0.5 + CRATE[2]
    bottom = low + CRATE[2] + SLING  # of the hook's eye
    mast = scene.add(sn.RigidBody.box((1.2, 1.2, HEIGHT), mass=8000.0, position=(0.0, 0.0, 0.5 * HEIGHT)))
    jib = scene.add(sn.RigidBody.from_inertia(6000.0, (5e3, 3e5, 3e5), position=(0.0, 0.0, LEVEL)))
    trolley = scene.add(sn.RigidBody.box((1.7, 1.2, 0.4), mass=300.0, position=(OUT, 0.0, RAIL)))
    hook = scene.add(sn.RigidBody.box((0.5, 0.4, 1.0), mass=HOOK, position=(OUT, 0.0, bottom - EYE)))
    load = scene.add(sn.RigidBody.box(2.0 * np.array(CRATE), mass=LOAD, position=(OUT, 0.0, low)))
    scene.add(sn.Lock(mast.at((0.0, 0.0, -0.5 * HEIGHT)), sn.World.at(sn.Pose((0.0, 0.0, 0.0)))))
    up, out, y = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), np.array((0.0, 1.0, 0.0))
    ring = jib.at((0.0, 0.0, HEIGHT - LEVEL))
    slewing = scene.add(sn.Hinge(ring, mast.at((0.0, 0.0, 0.5 * HEIGHT)), up, motor=sn.Motor(0.0)))
    travel = scene.add(sn.Prismatic(trolley.at(), jib.at((0.0, 0.0, RAIL - LEVEL)), out, motor=sn.Motor(0.0)))
    aside = SHEAVE + WHEEL
    sheaves = [
        sn.Sheave(trolley.at((-aside, 0.0, 0.0)), y, SHEAVE),
        sn.Sheave(hook.at((0.0, 0.0, AXLE)), -y, WHEEL),
        sn.Sheave(trolley.at((aside, 0.0, 0.0)), y, SHEAVE),
    ]
    ends = [jib.at((x, 0.0, RAIL - LEVEL + SHEAVE)) for x in (FOOT, TIP)]
    hoist = scene.add(sn.Cable([ends[0], *sheaves, ends[1]], ROPE, STEEL, torsion=False))
    corners = [(i * (CRATE[0] - 0.1), j * (CRATE[1] - 0.1), CRATE[2]) for i in (1, -1) for j in (1, -1)]
    eye = hook.at((0.0, 0.0, EYE))
    slings = [scene.add(sn.Cable([eye, load.at(corner)], LEG, STEEL, torsion=False)) for corner in corners]
    return Crane(scene, mast, jib, trolley, hook, load, slewing, travel, hoist, sheaves, slings)


def build() -> sn.Scene:
    """The scene of the crane."""
    return assemble().scene


def swing_period(falls: float) -> float:
    """Of the slowest small swing, s, with falls of this length, m: falls, hook block and load are three pendulums."""
    arm, leg = AXLE - EYE, SLING + CRATE[2]
    turning = np.array((HOOK / 12.0 * (0.4**2 + 1.0**2), LOAD / 3.0 * (CRATE[1] ** 2 + CRATE[2] ** 2)))
    # horizontal place of each centre of mass for small angles of fall, hook block and load
    place = np.array(((falls, AXLE, 0.0), (falls, arm, leg)))
    mass = place.T @ np.diag((HOOK, LOAD)) @ place + np.diag((0.0, *turning))
    stiffness = GRAVITY * np.diag(((HOOK + LOAD) * falls, HOOK * AXLE + LOAD * arm, LOAD * leg))
    slowest = float(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real.min())
    return 2.0 * math.pi / math.sqrt(slowest)


class Manoeuvre(Hoist):
    """Hoist, slew, travel, wait, lower."""

    headline = "A tower crane"
    title = "A tower crane moves 1.5 t: it hoists, slews, drives its trolley out, waits and lowers."
    charts = (
        Chart("height of the hook", "m", ".1f", (0, 114, 140)),
        Chart("hoist rope", "kN", ".2f", (196, 78, 20)),
        Chart("load off the plumb line", "m", ".2f", (84, 110, 60)),
    )

    def __init__(self) -> None:
        self.crane = assemble()
        self.scene = self.crane.scene
        self.work = 0.0  # J, of all drives
        self.stray = 0.0  # m: by which path and stretched length differ, at worst
        self.times: list[float] = []
        self.log: list[tuple[float, ...]] = []
        """Of each step: height of the hook, length, tension, swing along the slewing motion, energy less work."""

    def plan(self, seconds: float) -> list[Part]:
        return [Part(seconds, STEP, slower=0.2)]

    def begin(self) -> None:
        self.settled = self.scene.settle()
        self.before = self.drives()
        self.energy = self.scene.energy.total

    def drives(self) -> FloatArray:
        """How far winch, slewing and trolley have gone: m, rad, m."""
        crane = self.crane
        return np.array((crane.hoist.length, crane.slewing.angle, crane.travel.displacement))

    def before_step(self, dt: float) -> None:
        t, crane = self.scene.time + dt, self.crane
        crane.hoist.drive(sum(speed * ramped(t, *times) for *times, speed in (RAISE, LOWER)))
        crane.slewing.motor_speed = SLEW[-1] * ramped(t, *SLEW[:-1])
        crane.travel.motor_speed = TRAVEL[-1] * ramped(t, *TRAVEL[:-1])

    def after_step(self, dt: float) -> None:
        crane = self.crane
        now = self.drives()
        effort = np.array((-crane.hoist.tension, crane.slewing.motor_effort, crane.travel.motor_effort))
        self.work += float(effort @ (now - self.before))
        self.before = now
        stretch = crane.hoist.tension * crane.hoist.length / (STEEL.youngs_modulus * ROPE.area)
        self.stray = max(self.stray, abs(crane.hoist.path_length - crane.hoist.length - stretch))
        self.times.append(self.scene.time)
        off = self.scene.energy.total - self.energy - self.work
        self.log.append((crane.hook.position[2], crane.hoist.length, crane.hoist.tension, self.swing()[1], off))

    def swing(self) -> FloatArray:
        """Of the load against the trolley, along the jib and across: (2,), m."""
        gap = (self.crane.load.position - self.crane.trolley.position) @ self.crane.jib.pose.rotation
        return np.asarray(gap[:2])

    def sample(self) -> tuple[float, ...]:
        return self.reading()

    def reading(self) -> tuple[float, float, float]:
        """Height of the hook, m, tension of the hoist rope, kN, and how far the load is off the plumb line, m."""
        crane = self.crane
        return crane.hook.position[2], 1e-3 * crane.hoist.tension, float(np.linalg.norm(self.swing()))

    def caption(self) -> str:
        t = self.scene.time
        doing = [
            text
            for text, (start, stop, *_) in (("hoists", RAISE), ("slews", SLEW), ("travels", TRAVEL), ("lowers", LOWER))
            if start <= t < stop
        ]
        return " and ".join(doing[-2:]) or ("swings" if TRAVEL[1] <= t < LOWER[0] else "waits")

    def facts(self) -> list[Fact]:
        t, (height, length, tension, swing, off) = np.array(self.times), np.array(self.log).T
        weight = 0.5 * (HOOK + LOAD) * GRAVITY
        quiet = tension[t < RAISE[0] - STEP].mean()
        stretch = weight * length[0] / (STEEL.youngs_modulus * ROPE.area)
        facts = [
            Fact("tension at rest", float(quiet), weight, 1e-3 * weight, "N"),
            Fact("length off the elastic one", self.stray, 0.5 * stretch, 0.0, "m", below=True),
        ]
        if t[-1] >= SLEW[0]:
            first, last = np.flatnonzero((t > RAISE[0] + 2.0 * RAISE[2]) & (t < SLEW[0] - 0.2))[[0, -1]]
            ratio = (height[last] - height[first]) / (length[first] - length[last])
            lifted = (HOOK + LOAD) * GRAVITY * float(np.ptp(height))
            facts += [
                Fact("hook's speed over the winch's", float(ratio), 0.5, 1e-3),
                Fact("energy less work of the drives, over that lifted", float(off[-1] / lifted), 0.0, 0.02),
                Fact("energy gained from nothing, over that lifted", float(off.max() / lifted), 5e-3, 0.0, below=True),
            ]
        if t[-1] >= LOWER[0] - STEP:
            waiting = (t > TRAVEL[1]) & (t < LOWER[0])
            falls = RAIL - AXLE - float(height[waiting].mean())
            swung = period_of(t[waiting], swing[waiting])
            facts.append(Fact("period of the swing", swung, swing_period(falls), 0.05, "s"))
        return facts

    def legend(self) -> str:
        return "tension, 0 to 12 kN"

    # ---------------------------------------------------------------------------------------------------- on a page

    lowest, laid = 0.15, 0.3
    """Height of the load, m: below which no drive lowers it, and at which the autopilot leaves it."""
    step = STEP
    camera = ((-17.0, -37.0, 17.0), (6.5, -4.0, 9.5))
    ground = 0.0

    def furnish(self) -> None:
        self.lay_ground()
        self.piloted("autopilot")
        self.asked = np.zeros(3)
        for k, (name, most, unit) in enumerate(
            (("winch, up", 2.4, "m/s"), ("slewing, to the left", 0.3, "rad/s"), ("trolley, out", 1.5, "m/s"))
        ):
            self.scene.control(name, self.by_hand(functools.partial(self.ask, k)), 0.0, range=(-most, most), unit=unit)
        self.scene.watch("height of the hook", lambda: self.reading()[0], unit="m")
        self.scene.watch("hoist rope", lambda: self.reading()[1], unit="kN")
        self.scene.watch("load off the plumb line", lambda: self.reading()[2], unit="m")
        self.dress()

    def lay_ground(self) -> None:
        """Let the load be set down: its corners stay above the ground."""
        for i, j in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            corner = self.crane.load.at((i * CRATE[0], j * CRATE[1], -CRATE[2]))
            self.scene.add(sn.OnPlane(corner, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), bound="at_least"))

    def ask(self, drive: int, speed: float) -> None:
        """Let a drive run at `speed`: 0 the winch, m/s of rope, upwards; 1 the slewing ring, rad/s; 2 the trolley."""
        self.asked[drive] = speed

    def restart(self) -> None:
        self.asked[:] = 0.0
        self.speeds = np.zeros(3)
        self.errand, self.calm = 0, 0.0

    def bottom(self) -> float:
        """Height of the load above the ground, m."""
        return float(self.crane.load.position[2]) - CRATE[2]

    def act(self, dt: float) -> None:
        crane = self.crane
        if self.automatic:
            self.carry_on(dt)
        reach = OUT + crane.travel.displacement
        room = (self.bottom() - self.lowest, RAIL - 2.0 - float(crane.hook.position[2]))
        wanted = (
            between(self.asked[0], 2.0 * room[0], 2.0 * room[1], BRAKES[0]),
            self.asked[1],
            between(self.asked[2], reach - FOOT - 1.5, TIP - 1.2 - reach, BRAKES[2]),
        )
        for k in range(3):
            self.speeds[k] = eased(self.speeds[k], wanted[k], 1.2 * BRAKES[k] * dt)
        crane.hoist.drive(-self.speeds[0])
        crane.slewing.motor_speed = self.speeds[1]
        crane.travel.motor_speed = self.speeds[2]

    def carry_on(self, dt: float) -> None:
        """The autopilot: raise, carry to the other place, wait for the swing, lower, rest, and so on."""
        crane, (trip, leg) = self.crane, divmod(self.errand, 4)
        away = (trip % 2 == 0) == (leg > 0)
        angle, reach = GOAL if away else (0.0, OUT)
        ways = (
            2.0 * ((self.laid if leg == 3 else CARRIED) - self.bottom()),
            angle - crane.slewing.angle,
            reach - OUT - crane.travel.displacement,
        )
        self.asked[:] = [
            towards(way, most, 0.8 * brake, gain)
            for way, most, brake, gain in zip(ways, PACES, BRAKES, (1.5, 0.4, 0.4), strict=True)
        ]
        # the trolley goes after the load, which takes the swing out of it
        along, across = self.swing()
        self.asked[1:] += CALMING * across / (OUT + crane.travel.displacement), CALMING * along
        arrived = all(abs(way) < near for way, near in zip(ways, (0.3, 0.03, 0.3), strict=True))
        self.calm = self.calm + dt if arrived else 0.0
        if self.calm > (0.5, 0.0, 2.5, 1.5)[leg]:
            self.errand, self.calm = self.errand + 1, 0.0

    def dress(self) -> None:
        """Show mast and jib as lattices, hook block and load as they are, and the places where loads are set down."""
        from sennit.export.facets import Facets
        from sennit.export.solids import bar

        own, crane = (np.zeros(3), np.eye(3)), self.crane
        foot = block((np.array((0.0, 0.0, 0.25)), np.eye(3)), (1.8, 1.8, 0.25), (150, 154, 158))
        down = np.array((0.0, 0.0, 0.5 * HEIGHT))
        self.decorate(moved(Facets.joined((lattice_mast(), foot)), (-down, np.eye(3))), instead_of=crane.mast)
        self.decorate(lattice_jib(), instead_of=crane.jib, name="jib")
        self.decorate(block(own, (0.9, 0.5, 0.1), (70, 78, 92), (0.0, 0.0, 0.12)), instead_of=crane.trolley)
        cheeks = [block(own, (0.26, 0.03, 0.42), (226, 176, 40), (0.0, side * 0.13, 0.15)) for side in (-1.0, 1.0)]
        stem = bar((0.0, 0.0, -0.25), (0.0, 0.0, EYE), 0.09, (60, 66, 76))
        self.decorate(Facets.joined((*cheeks, stem)), instead_of=crane.hook, name="hook block")
        self.decorate(crate(own), instead_of=crane.load, name="load")
        goal = GOAL[1] * np.array((math.cos(GOAL[0]), math.sin(GOAL[0]), 0.0))
        rings = [ring(place, colour) for place, colour in ((goal, (196, 78, 20)), (np.array((OUT, 0, 0)), _DARK))]
        someone = person(goal + np.array((-2.6, 1.4, 0.0)), (206, 92, 40))
        self.decorate(Facets.joined((*rings, someone)), name="places")

    # ------------------------------------------------------------------------------------------------------ pictures

    def look(self) -> Any:
        crane = self.crane
        bodies = [place_of(body) for body in (crane.jib, crane.trolley, crane.hook, crane.load)]
        lines = [line_of(cable, 1.0) for cable in (crane.hoist, *crane.slings)]
        return bodies, lines, [(np.array(s.point.position), s.angle) for s in crane.sheaves]

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage, circle
        from sennit.export.solids import floor

        target = np.array((4.2, -2.4, 9.9))
        camera = Camera(
            target + np.array((-22.0, -36.0, 5.0)), target, size=size, width=max(34.0, 27.5 * size[0] / height),
            centre=(0.5, 0.5 * height / size[1]),
        )  # fmt: skip
        ground = floor(camera, (-9e3, -9e3), (9e3, 9e3))
        stage = Stage(camera, PAPER, ground)
        stage.polygon(ground, (214, 216, 204))
        angle = SLEW[-1] * (SLEW[1] - SLEW[0] - SLEW[2])
        reach = OUT + TRAVEL[-1] * (TRAVEL[1] - TRAVEL[0] - TRAVEL[2])
        goal = reach * np.array((math.cos(angle), math.sin(angle), 0.0))
        for radius, colour in ((2.2, (196, 78, 20)), (1.8, (214, 216, 204))):
            stage.polygon(goal + radius * np.column_stack((circle(40), np.zeros(40))), colour)
        foot = (np.array((0.0, 0.0, 0.25)), np.eye(3))
        stage.facets(block(foot, (1.8, 1.8, 0.25), (150, 154, 158)))
        stage.facets(lattice_mast())
        stage.facets(person(goal + np.array((-2.6, 1.4, 0.0)), (206, 92, 40)))
        return stage

    def paint(self, look: Any) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import bar

        (jib, trolley, hook, load), lines, sheaves = look
        parts = [moved(lattice_jib(), jib)]
        parts.append(block(trolley, (0.9, 0.5, 0.1), (70, 78, 92), (0.0, 0.0, 0.12)))
        across = [jib[1][:, 1], -hook[1][:, 1], jib[1][:, 1]]
        for (centre, angle), radius, axis in zip(sheaves, (SHEAVE, WHEEL, SHEAVE), across, strict=True):
            parts.append(wheel(centre, axis, radius - 0.03, angle, 0.16))
        for side in (-1.0, 1.0):
            parts.append(block(hook, (0.26, 0.03, 0.42), (226, 176, 40), (0.0, side * 0.13, 0.15)))
        parts.append(bar(turned(hook, (0, 0, -0.25)), turned(hook, (0, 0, EYE)), 0.09, (60, 66, 76)))
        parts.append(crate(load))
        parts.append(rope(lines[0], 0.055, 12e3))
        parts += [rope(line, 0.045, 12e3) for line in lines[1:]]
        return Facets.joined(parts)


def period_of(times: FloatArray, swing: FloatArray) -> float:
    """Twice the mean time between passages through the middle, s."""
    y = swing - 0.5 * (swing.max() + swing.min())
    k = np.flatnonzero(y[:-1] * y[1:] < 0.0)
    passages = times[k] + (times[k + 1] - times[k]) * y[k] / (y[k] - y[k + 1])
    return 2.0 * float(np.diff(passages).mean()) if len(passages) > 1 else math.nan


# --------------------------------------------------------------------------------------------------------- drawing


def crate(place: Place) -> Facets:
    """The load: a box with two straps."""
    from sennit.export.facets import Facets

    size = (0.06, CRATE[1] + 0.02, CRATE[2] + 0.02)
    straps = [block(place, size, (58, 92, 118), (side * CRATE[0], 0, 0)) for side in (-0.6, 0.6)]
    return Facets.joined((block(place, CRATE, (86, 128, 158)), *straps))


def ring(centre: FloatArray, colour: Any) -> Facets:
    """A mark on the ground."""
    from sennit.export.facets import circle
    from sennit.export.solids import tube

    return tube(centre + 2.0 * np.column_stack((circle(41), np.full(41, 0.01))), 0.08, colour, sides=4, closed=True)


_YELLOW, _DARK = (232, 186, 48), (206, 160, 34)


def lattice_mast() -> Facets:
    """Four posts with diagonals."""
    from sennit.export.facets import Facets
    from sennit.export.solids import bar

    w, bays = 0.6, 12
    corners = np.array(((w, w), (-w, w), (-w, -w), (w, -w)))
    levels = np.linspace(0.5, HEIGHT, bays + 1)
    parts = [bar((*c, 0.5), (*c, HEIGHT), 0.085, _YELLOW, sides=6, pieces=bays) for c in corners]
    for k, (low, high) in enumerate(zip(levels[:-1], levels[1:], strict=True)):
        for i in range(4):
            a, b = corners[i], corners[(i + 1) % 4]
            a, b = (a, b) if k % 2 else (b, a)
            parts.append(bar((*a, low), (*b, high), 0.045, _DARK, sides=5))
            parts.append(bar((*corners[i], high), (*corners[(i + 1) % 4], high), 0.045, _DARK, sides=5))
    return Facets.joined(parts)


@functools.cache
def lattice_jib() -> Facets:
    """The jib with its counterweight, cab, peak and stays, in its own frame."""
    from sennit.export.facets import Facets
    from sennit.export.solids import bar

    def rod(a: Any, b: Any, radius: float, colour: Any, pieces: int = 1) -> Facets:
        return bar(a, b, radius, colour, sides=5, pieces=pieces)

    own = (np.zeros(3), np.eye(3))
    floor, roof, w = RAIL - LEVEL + 0.45, RAIL - LEVEL + 1.45, 0.55
    parts = [rod((BACK, s * w, floor), (TIP + 0.3, s * w, floor), 0.08, _YELLOW, 20) for s in (-1.0, 1.0)]
    parts.append(rod((0.8, 0.0, roof), (TIP - 0.6, 0.0, roof), 0.09, _YELLOW, 16))
    bays = np.linspace(0.8, TIP, 15)
    for a, b in zip(bays[:-1], bays[1:], strict=True):
        for s in (-1.0, 1.0):
            parts.append(rod((a, s * w, floor), (0.5 * (a + b), 0.0, roof), 0.045, _DARK))
            parts.append(rod((0.5 * (a + b), 0.0, roof), (b, s * w, floor), 0.045, _DARK))
        parts.append(rod((a, -w, floor), (a, w, floor), 0.045, _DARK))
    peak = (0.0, 0.0, 2.7)
    parts += [rod((x, s * w, floor), peak, 0.08, _YELLOW, 3) for x in (-0.7, 0.7) for s in (-1.0, 1.0)]
    parts.append(rod(peak, (0.62 * TIP, 0.0, roof), 0.04, (90, 96, 104), 8))
    parts.append(rod(peak, (BACK + 0.8, 0.0, floor), 0.04, (90, 96, 104), 5))
    parts.append(block(own, (0.9, 0.75, 0.85), (128, 132, 138), (BACK + 0.9, 0.0, floor - 0.75)))
    parts.append(block(own, (0.55, 0.5, 0.75), (120, 168, 190), (1.0, -1.05, floor - 0.35)))
    return Facets.joined(parts)


add_arguments, main, play = offered(Manoeuvre, seconds=SECONDS)
