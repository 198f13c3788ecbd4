"""A telephone cord: a rod that is coiled at rest hangs from a telephone on the wall and carries the handset.

The coil is a spring. Where an axial force F acts on a helix of radius r and pitch angle α whose ends are free to turn,
each of its sections carries the moment F r about the tangent of the cylinder, and a uniform helix stays one (A. E. H.
Love, "A Treatise on the Mathematical Theory of Elasticity", 4th edition, articles 271 and 273)::

    G J (sin α cos α / r − sin α₀ cos α₀ / r₀) = F r cos α        twist
    E I (cos² α / r − cos² α₀ / r₀)            = −F r sin α       bending

and a stretch ds of wire is sin α ds high. For small extensions that is the spring rate G d⁴ / (64 r³ n) of textbooks.
Here F is the weight of the handset and of the cord below; it changes little from turn to turn. The coils do not touch
each other: sennit has no contact between rods yet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos.props import mesh, placed
from sennit.demos.stage import PAPER, Chart, Part, Show, offered
from sennit.export.facets import Facets, circle, loft
from sennit.export.solids import tube
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Stage

__all__ = ["DESCRIPTION", "Cord", "add_arguments", "assemble", "build", "extension", "main", "play", "stretched"]

DESCRIPTION = (
    "A telephone cord hangs from a telephone on the wall and carries its handset, which is pulled down and let go. On "
    "the page the handset can be dragged, tugged and twirled, and the plug turned. Checks how far the coil is "
    "stretched at rest, turn by turn, against Love's closed form of a helical spring, the period with which the "
    "handset bounces against what that spring and the masses give, that the cord carries the handset in each step, and "
    "that energy only falls. Coils do not touch each other: sennit has no contact between rods yet."
)

GRAVITY = 9.81
TURNS, RADIUS, PITCH = 30, 9.0e-3, 5.4e-3
"""Of the coil at rest: turns, mean radius and advance in a turn, m."""
WIRE = 2.2e-3  # m: its radius
PVC = sn.Material(
    youngs_modulus=5.0e7, poisson_ratio=0.4, density=1300, relaxation_time=2e-3, look="smooth", colour=(196, 48, 44)
)
HANDSET = 0.14  # kg
PER_TURN = 9  # control points
TUG, SPIN = 0.05, 14.0  # m: how far it is pulled down in the film; rad/s: how fast it is twirled
WAIT = 7.0  # s: between what is done to it on a page by itself
MARGIN = 4  # turns at either end that are left out of the comparison: how the ends are held is felt there
PERIODS = 2.0  # of the bounce: before that its period is not known
_CORD, _SHELL, _DARK, _WALL = (44, 50, 58), (178, 44, 40), (36, 38, 44), (246, 241, 228)


@dataclass(frozen=True, slots=True)
class Cord:
    """The scene, the coil, the handset, and what holds them."""

    scene: sn.Scene
    coil: sn.Rod
    handset: sn.RigidBody
    plug: sn.Clamp
    joint: sn.Fuse
    weight: sn.Load
    """More weight on the handset."""
    centre: FloatArray
    """Of the handset's mass, in the frame of `shell`, (3,), m."""


def assemble(turns: int = TURNS) -> Cord:
    """The coil, unstretched, with the handset at its lower end."""
    scene = sn.Scene(gravity=(0.0, 0.0, -GRAVITY), drag=0.15)
    angle = np.linspace(0.0, 2.0 * math.pi * turns, 24 * turns + 1)
    line = np.column_stack((RADIUS * np.cos(angle), RADIUS * np.sin(angle), -PITCH * angle / (2.0 * math.pi)))
    coil = scene.add(
        sn.Rod.through(
            line, section=sn.Section.circle(radius=WIRE), material=PVC, control_points=PER_TURN * turns, name="cord"
        )
    )
    vertices, faces, _ = mesh(shell())
    handset = scene.add(sn.RigidBody.from_mesh(vertices, faces, mass=HANDSET, name="handset"))
    end = coil.at(coil.length)
    centre = handset.position
    hang = vertices[:, 2].max() - centre[2]
    handset.position = np.array((0.0, 0.0, end.position[2] - hang - 2.0 * WIRE))
    plug = scene.add(sn.Clamp(coil.at(0.0), name="plug"))
    joint = scene.add(sn.Fuse(end, handset.at(end.position - handset.position), name="cord and handset"))
    weight = scene.add(sn.Load(handset.at(), name="more weight"))
    return Cord(scene, coil, handset, plug, joint, weight, centre)


def build(turns: int = TURNS) -> sn.Scene:
    """The scene of the cord."""
    return assemble(turns).scene


def shell() -> Facets:
    """The handset, hanging by its mouthpiece: a grip with a cup at each end, which look along x."""
    half, elbow, reach = 0.078, 0.021, 0.030  # m: of the grip's straight part, radius of its bends, of the cups
    bend = np.linspace(0.0, 0.5 * math.pi, 7)
    grip = np.linspace(half, -half, 9)[1:-1]
    x = np.concatenate(((reach, reach - 0.004, 0.008), -elbow * np.sin(bend), np.full(7, -elbow)))
    z = np.concatenate((np.full(3, half + elbow), half + elbow * np.cos(bend), grip))
    lean = np.concatenate((np.zeros(3), bend, np.full(7, 0.5 * math.pi)))
    wide = np.concatenate(((0.021, 0.025, 0.023), np.linspace(0.020, 0.0135, 7), 0.0125 + 0.0006 * np.cos(grip / 0.03)))
    thick = np.concatenate(((0.018, 0.0205, 0.0195), np.linspace(0.0185, 0.0105, 7), np.full(7, 0.0095)))
    x, wide, thick = (np.concatenate((part, part[9::-1])) for part in (x, wide, thick))  # the other end is the same
    z, lean = np.concatenate((z, -z[9::-1])), np.concatenate((lean, math.pi - lean[9::-1]))
    centres = np.column_stack((x, 0.0 * x, z))
    across = np.column_stack((0.0 * x, np.ones_like(x), 0.0 * x))
    ahead = np.column_stack((-np.cos(lean), 0.0 * x, -np.sin(lean)))
    up = np.cross(ahead, across)
    return loft(centres, wide[:, None] * across, thick[:, None] * up, circle(28), _SHELL, gloss=0.8, capped=True)


def stretched(force: float) -> tuple[float, float]:
    """Radius, m, and pitch angle, rad, of the coil under an axial `force`, N: Love's equations, by Newton."""
    lean = math.atan2(PITCH, 2.0 * math.pi * RADIUS)
    section = sn.Section.circle(radius=WIRE)
    bend, twist = section.bending_stiffness(PVC)[0, 0], section.bending_stiffness(PVC)[2, 2]
    curvature, torsion = math.cos(lean) ** 2 / RADIUS, math.sin(lean) * math.cos(lean) / RADIUS
    unknown = np.array((RADIUS, lean))
    for _ in range(50):
        r, a = unknown
        c, s = math.cos(a), math.sin(a)
        left = np.array((
            twist * (s * c / r - torsion) - force * r * c,
            bend * (c * c / r - curvature) + force * r * s,
        ))  # fmt: skip
        slope = np.array((
            (-twist * s * c / r**2 - force * c, twist * (c * c - s * s) / r + force * r * s),
            (-bend * c * c / r**2 + force * s, -2.0 * bend * s * c / r + force * r * c),
        ))  # fmt: skip
        step = np.linalg.solve(slope, left)
        unknown = unknown - step
        if abs(step[0]) < 1e-14 * RADIUS and abs(step[1]) < 1e-14:
            break
    return float(unknown[0]), float(unknown[1])


def extension(cord: Cord, load: float, places: FloatArray) -> FloatArray:
    """How far below the plug the coil is at arclengths `places`, (n,), m, when `load` (N) hangs on it: (n,), m."""
    length = cord.coil.length
    own = GRAVITY * cord.coil.mass
    s = np.linspace(0.0, length, 41)
    rises = np.array([math.sin(stretched(load + own * (1.0 - at / length))[1]) for at in s])
    below = np.concatenate(((0.0,), np.cumsum(0.5 * (rises[1:] + rises[:-1]) * np.diff(s))))
    return np.interp(places, s, below)


class Dangling(Show):
    """The handset hangs at rest, is pulled down and let go."""

    headline = "A telephone cord and its handset"
    title = "A telephone cord of 30 turns hangs from the wall with its handset, which is pulled down and let go."
    charts = (
        Chart("length of the coil", "cm", ".1f", (0, 114, 140)),
        Chart("pull of the cord", "N", ".2f", (196, 78, 20)),
    )

    def __init__(self) -> None:
        self.cord = assemble()
        self.scene = self.cord.scene
        self.unbalanced = 0.0  # N: between what the joint does to the handset and what that asks for, at worst
        self.grown = 0.0  # J: by which energy grew in a step, at worst
        self.heights: list[tuple[float, float]] = []  # s and m
        self.wind = self.wound = 0.0  # turns of the plug: asked for, and now

    def plan(self, seconds: float) -> list[Part]:
        return [Part(seconds, 2e-3)]

    def begin(self) -> None:
        self.scene.settle(max_iterations=1000)
        self.hung = self.turn_heights()
        self.rest = float(self.cord.handset.position[2])
        self.start = self.cord.plug.target
        pull = -TUG * self.rate()
        self.cord.weight.force = (0.0, 0.0, pull)
        self.scene.settle(max_iterations=1000)
        self.cord.weight.force = (0.0, 0.0, 0.0)
        self.energy = self.scene.energy.total
        self.scale = self.energy_above_rest()

    def turn_heights(self) -> FloatArray:
        """How far below the plug the middle of each turn but the first and the last MARGIN is, m."""
        line = self.cord.coil.centerline(24 * TURNS + 1)[:, 2]
        means = np.convolve(line, np.r_[0.5, np.ones(23), 0.5] / 24.0, mode="valid")  # over a turn
        return -np.asarray(means[24 * MARGIN - 12 : len(means) - 24 * MARGIN + 12 : 24])

    def due(self) -> FloatArray:
        """What Love's formula gives for `turn_heights`, m."""
        places = (np.arange(MARGIN, TURNS - MARGIN + 1)) / TURNS * self.cord.coil.length
        fine = np.linspace(-0.5, 0.5, 25) * self.cord.coil.length / TURNS
        weights = np.r_[0.5, np.ones(23), 0.5] / 24.0
        heights = extension(self.cord, GRAVITY * HANDSET, (places[:, None] + fine).ravel())
        return np.asarray(heights.reshape(-1, 25) @ weights)

    def strayed(self) -> float:
        """How far the coil's turns are apart from what the formula gives, as a part of the whole stretch measured."""
        got, due = self.hung - self.hung[0], self.due() - self.due()[0]
        return float(np.abs(got - due).max() / due[-1])

    def rate(self) -> float:
        """Of the whole coil as a spring where it hangs, N/m: from the formula."""
        load, change = GRAVITY * HANDSET, 0.01 * GRAVITY * HANDSET
        end = np.array((self.cord.coil.length,))
        longer = extension(self.cord, load + change, end) - extension(self.cord, load - change, end)
        return 2.0 * change / float(longer[0])

    @property
    def period_due(self) -> float:
        """Of a mass on that spring, a third of whose own mass swings with it (Rayleigh), s."""
        return 2.0 * math.pi * math.sqrt((HANDSET + self.cord.coil.mass / 3.0) / self.rate())

    @property
    def period(self) -> float | None:
        """From how often the handset passes where it hangs at rest, s; None if that was seen too seldom."""
        times, heights = np.array(self.heights).reshape(-1, 2).T
        up = np.flatnonzero((heights[:-1] < self.rest) & (heights[1:] >= self.rest))
        if len(up) < 2:
            return None
        part = (self.rest - heights[up]) / (heights[up + 1] - heights[up])
        at = times[up] + part * (times[up + 1] - times[up])
        return float((at[-1] - at[0]) / (len(at) - 1))

    def energy_above_rest(self) -> float:
        """What the pull has stored, J, by the formula."""
        return 0.5 * self.rate() * TUG**2

    def before_step(self, dt: float) -> None:
        self.speed = self.cord.handset.velocity

    def after_step(self, dt: float) -> None:
        hand = self.cord.handset
        change = (hand.velocity - self.speed) / dt + self.scene.drag * hand.velocity
        pull = -self.cord.joint.force - HANDSET * (change + np.array((0.0, 0.0, GRAVITY)))
        self.unbalanced = max(self.unbalanced, float(np.linalg.norm(pull)))
        energy = self.scene.energy.total
        self.grown = max(self.grown, energy - self.energy)
        self.energy = energy
        self.heights.append((self.scene.time, float(hand.position[2])))

    # ---------------------------------------------------------------------------------------------------- the checks

    def check(self) -> list[str]:
        wrong = []
        if not self.strayed() <= 0.01:
            wrong.append(f"turns hang by {100.0 * self.strayed():.2f} % of the stretch away from Love's formula")
        if not self.unbalanced <= 1e-6 * GRAVITY * HANDSET:
            wrong.append(f"what the cord does to the handset misses its motion by {self.unbalanced:.1e} N")
        if not self.grown <= 1e-6 * self.scale:
            wrong.append(f"energy grows by {self.grown:.1e} J in a step")
        period = self.period
        if period is not None and not abs(period / self.period_due - 1.0) <= 0.03:
            wrong.append(f"the handset bounces within {period:.3f} s, not {self.period_due:.3f} s")
        if period is None and self.scene.time >= (PERIODS + 0.5) * self.period_due:
            wrong.append("the handset does not bounce")
        return wrong

    def table(self) -> list[tuple[str, str, str]]:
        got, due = self.hung - self.hung[0], self.due() - self.due()[0]
        inner = TURNS - 2 * MARGIN
        rows = [
            (f"stretch of the {inner} inner turns, mm", f"{1e3 * got[-1]:.2f}", f"{1e3 * due[-1]:.2f} (Love)"),
            ("largest distance of a turn from there, of it", f"{self.strayed():.1e}", "0"),
            ("joint, weight and motion of the handset, N", f"{self.unbalanced:.1e}", "0"),
            ("growth of energy in a step, of what was stored", f"{self.grown / self.scale:.1e}", "0 at most"),
        ]
        if self.period is not None:
            rows.append(("period of the bounce, s", f"{self.period:.3f}", f"{self.period_due:.3f}"))
        return rows

    def findings(self) -> str:
        period = self.period
        bounce = "" if period is None else f", it bounces with {period:.3f} s (a spring's: {self.period_due:.3f} s)"
        return (
            f"under {GRAVITY * HANDSET:.2f} N the coil is stretched as Love's formula says to "
            f"{100.0 * self.strayed():.2f} %{bounce}; energy only falls."
        )

    # ---------------------------------------------------------------------------------------------------- on a page

    camera = ((0.79, -1.43, 0.05), (0.02, 0.0, -0.20))
    step = 4e-3

    def furnish(self) -> None:
        scene, cord = self.scene, self.cord
        self.piloted("now and then by itself")
        scene.control("tug", self.by_hand(self.tug))
        scene.control("twirl", self.by_hand(self.twirl))
        scene.control("turns of the plug", self.by_hand(self.turn), 0.0, range=(-12.0, 12.0), unit="turns")
        scene.control("more weight", self.by_hand(self.weigh), 0.0, range=(0.0, 2.0), unit="N")
        scene.watch("length of the coil", lambda: self.sample()[0], unit="cm")
        scene.watch("pull of the cord", lambda: self.sample()[1], unit="N")
        scene.watch("energy of twist and bending", lambda: 1e3 * cord.coil.energy.total, unit="mJ")
        self.decorate(Facets.joined(telephone()), name="telephone")
        self.decorate(wall(), name="wall")
        self.decorate(placed(shell(), sn.Pose(-cord.centre)), instead_of=cord.handset, name="handset's shell")

    def tug(self) -> None:
        """Pull the handset down, in passing."""
        self.cord.handset.velocity = self.cord.handset.velocity + np.array((0.1, 0.05, -0.9))

    def twirl(self) -> None:
        """Set it turning."""
        self.cord.handset.angular_velocity = self.cord.handset.angular_velocity + np.array((0.0, 0.0, SPIN))

    def turn(self, turns: float) -> None:
        """Ask for turns of the plug."""
        self.wind = turns

    def weigh(self, newtons: float) -> None:
        """Make the handset heavier."""
        self.cord.weight.force = (0.0, 0.0, -newtons)

    def restart(self) -> None:
        self.wind = self.wound = self.waited = 0.0
        self.tugs = 0

    def act(self, dt: float) -> None:
        self.waited += dt
        if self.automatic and self.waited >= WAIT:
            (self.tug, self.twirl)[self.tugs % 2]()
            self.waited, self.tugs = 0.0, self.tugs + 1
        most = 1.5 * dt  # turns
        change = min(max(self.wind - self.wound, -most), most)
        if change:
            self.wound += change
            half = math.pi * change
            turn = sn.Pose((0.0, 0.0, 0.0), (math.cos(half), 0.0, 0.0, math.sin(half)))
            self.cord.plug.target = turn @ self.cord.plug.target

    # ------------------------------------------------------------------------------------------------------ pictures

    def sample(self) -> tuple[float, ...]:
        ends = [self.cord.coil.at(s).position for s in (0.0, self.cord.coil.length)]
        return 100.0 * float(np.linalg.norm(ends[1] - ends[0])), float(np.linalg.norm(self.cord.joint.force))

    def caption(self) -> str:
        return "let go" if self.heights else "pulled down"

    def look(self) -> dict[str, Any]:
        return {"line": self.cord.coil.centerline(16 * TURNS + 1), "pose": self.cord.handset.pose}

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage

        camera = Camera(
            (0.75, -1.5, 0.0), (0.0, 0.0, -0.19), size=size, width=1.12 * size[0] / height,
            centre=(0.5, 0.5 * height / size[1]),
        )  # fmt: skip
        nowhere = np.array(((0.0, 20.0, -9.0), (1e-6, 20.0, -9.0), (0.0, 20.0, -9.0)))
        stage = Stage(camera, PAPER, nowhere)
        for part in telephone():
            stage.facets(part)
        return stage

    def paint(self, look: dict[str, Any]) -> Facets:
        coil = tube(look["line"], WIRE, _CORD, sides=8, gloss=0.5)
        return Facets.joined((coil, placed(shell(), look["pose"] @ sn.Pose(-self.cord.centre))))


def telephone() -> list[Facets]:
    """The telephone, with the socket from which the cord hangs: what is behind comes first."""
    parts = []
    size = np.array((0.085, 0.115))
    corner = circle(40)
    outline = np.sign(corner) * np.abs(corner) ** 0.35
    y = np.array((0.052, 0.048, -0.010, -0.022))
    shrink = np.array((1.0, 1.0, 0.97, 0.86))[:, None]
    centres = np.column_stack((0.0 * y, y, np.full(4, 0.145)))
    x_axis, z_axis = np.array((1.0, 0.0, 0.0)), np.array((0.0, 0.0, 1.0))
    parts.append(
        loft(centres, size[0] * shrink * x_axis, size[1] * shrink * z_axis, outline, _SHELL, gloss=0.7, capped=True)
    )
    dial = np.column_stack((np.zeros(3), (-0.018, -0.026, -0.028), np.full(3, 0.125)))
    rims = np.array((0.056, 0.056, 0.052))[:, None]
    parts.append(loft(dial, rims * x_axis, rims * z_axis, circle(40), (236, 232, 222), gloss=0.5, capped=True))
    for k in range(10):
        angle = math.radians(60.0 + 27.0 * k)
        hole = np.array((0.039 * math.cos(angle), -0.0282, 0.125 + 0.039 * math.sin(angle)))
        ends = np.stack((hole, hole - (0.0, 0.0012, 0.0)))
        ones = np.full((2, 1), 0.0075)
        parts.append(loft(ends, ones * x_axis, ones * z_axis, circle(18), _DARK, gloss=0.1, capped=True))
    hub, size_of_hub = np.stack((dial[-1], dial[-1] - (0.0, 0.0015, 0.0))), np.full((2, 1), 0.022)
    parts.append(loft(hub, size_of_hub * x_axis, size_of_hub * z_axis, circle(28), _SHELL, capped=True))
    for side in (-1.0, 1.0):  # the cradle
        post = np.array(((side * 0.05, 0.03, 0.25), (side * 0.05, -0.012, 0.262), (side * 0.05, -0.03, 0.285)))
        parts.append(tube(post, 0.007, _DARK, sides=14))
    socket = np.array(((0.0, 0.0, 0.035), (0.0, 0.0, 0.012), (0.0, 0.0, 0.004), (0.0, 0.0, -0.001)))
    wide = np.array((0.015, 0.015, 0.0135, 0.0120))[:, None]
    y_axis = np.array((0.0, 1.0, 0.0))
    parts.append(loft(socket, wide * x_axis, wide * y_axis, circle(24), _DARK, gloss=0.2, capped=True))
    return parts


def wall() -> Facets:
    """A piece of the wall behind the telephone."""
    corner = circle(40)
    outline = np.sign(corner) * np.abs(corner) ** 0.25
    ends = np.array(((0.0, 0.072, -0.18), (0.0, 0.052, -0.18)))
    x_axis, z_axis = np.tile((0.28, 0.0, 0.0), (2, 1)), np.tile((0.0, 0.0, 0.55), (2, 1))
    return loft(ends, x_axis, z_axis, outline, _WALL, gloss=0.0, capped=True)


add_arguments, main, play = offered(Dangling, seconds=5.0)
