"""A paper clip of steel is held by pliers and bent by a hand; let go, it springs back a little, and stays bent.

Where the wire yields (`sn.Material` with ``yield_stress``), its fibres slip one after the other from the outermost
inwards, and keep what they have slipped. What comes back when the hand lets go is elastic: by the unit-load theorem,
the end of the outer leg turns back by the sum of the bending and twisting moments under the hand's last force, each
over its stiffness. No moment can be larger than what all fibres together can take, and the hand has done all the work
that was turned into heat.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

import sennit as sn
from sennit.demos.stage import Chart, Part, Show, offered
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "add_arguments", "main", "play"]

DESCRIPTION = (
    "A paper clip is held by pliers; a hand bends its outer leg up, and lets go. Writes a film (.gif, .mp4) or some of "
    "its frames (.png); colours show how much it has yielded. Checks that it stays bent, that it springs back by what "
    "the hand's last force bends a wire of its stiffness elastically, that no moment is more than all fibres can take, "
    "and that heat and what is stored are the work of the hand."
)

RADIUS = 5e-4  # m: of the wire
STEEL = sn.Material(
    youngs_modulus=200e9, poisson_ratio=0.29, density=7850, relaxation_time=1e-4, yield_stress=450e6, hardening=2e9,
    look="smooth", colour=(176, 182, 190),
)  # fmt: skip
HAND = 400.0  # N/m: how firmly the hand holds it
LET_GO = 0.75  # of the show's time, at which the hand opens
LEAST_ANGLE = 40.0  # degrees by which it stays bent
Z = 0.012  # m: of the lowest bend above the ground


def outline() -> FloatArray:
    """The wire's middle as it lies in a box of clips, (k, 3), m: three turns, from the outer leg inwards."""

    def turn(x: float, y: float, radius: float, up: float) -> FloatArray:
        angle = np.linspace(0.0, math.pi, 17)
        return np.column_stack((x - radius * np.cos(angle), y + up * radius * np.sin(angle)))

    legs = [
        np.column_stack((np.zeros(12), np.linspace(6.0, 26.0, 12))),
        turn(4.0, 27.5, 4.0, 1.0),
        np.column_stack((np.full(14, 8.0), np.linspace(26.0, 5.0, 14))),
        turn(4.7, 3.5, -3.3, -1.0),
        np.column_stack((np.full(12, 1.4), np.linspace(5.0, 22.0, 12))),
        turn(4.0, 23.5, 2.6, 1.0),
        np.column_stack((np.full(8, 6.6), np.linspace(22.0, 9.0, 8))),
    ]
    x, z = 1e-3 * np.concatenate(legs).T
    return np.column_stack((x - 4e-3, 0.0 * x, z + Z))


class Clip(Show):
    """The hand leads the end of the outer leg up and over, a little out of the plane, waits, and opens."""

    headline = "A paper clip: bend it"
    title = "A paper clip of steel is bent by a hand, and stays bent."
    charts = (
        Chart("angle of the outer leg", "°", ".0f", (0, 114, 140)),
        Chart("force of the hand", "N", ".1f", (196, 78, 20)),
        Chart("turned into heat", "mJ", ".1f", (96, 120, 40)),
    )

    def __init__(self) -> None:
        self.scene = sn.Scene(drag=2.0)
        self.wire = self.scene.add(
            sn.Rod.through(
                outline(), section=sn.Section.circle(RADIUS), material=STEEL, control_points=56, up=(0.0, 1.0, 0.0),
                name="clip",
            )
        )  # fmt: skip
        held = self.wire.length - 2e-3
        self.pliers = self.scene.add(sn.Clamp(self.wire.at(held), name="pliers"))
        self.tip = self.wire.at(0.0)
        self.grip = self.scene.add(sn.Fix(self.tip, compliance=1.0 / HAND, damping=0.5, name="hand"))
        self.start = self.tip.position
        self.seconds = 4.0
        self.work = self.spent = 0.0
        self.seen: tuple[float, float] | None = None
        """Angle (rad) just before the hand opens, and by how much less that should be then; `spent` is what was stored
        or turned into heat by then, J, of the hand's `work`."""
        self.first = self._direction()
        self.largest = 0.0

    def _direction(self) -> FloatArray:
        """From the end of the outer leg along it."""
        return np.asarray(self.wire.frames(60)[1, :, 2])

    @property
    def angle(self) -> float:
        """By which the outer leg has turned, rad."""
        return math.acos(min(max(float(self.first @ self._direction()), -1.0), 1.0))

    def plan(self, seconds: float) -> list[Part]:
        self.seconds = seconds
        return [Part(seconds, min(seconds / 4000, 1e-3))]

    def begin(self) -> None:
        self.grip.enabled = False
        self.scene.settle()
        self.grip.enabled = True
        self.first, self.start = self._direction(), self.tip.position
        self.energy = self.scene.energy.total
        self.grip.target = self.start

    def place(self, part: float) -> FloatArray:
        """Where the hand is at a part of its way: round the upper bend, and towards the onlooker."""
        turn = math.radians(150.0) * part
        centre = np.array((0.0, 0.0, 0.027 + Z))
        arm = self.start - centre
        c, s = math.cos(turn), math.sin(turn)
        across = (c * arm[0] + s * arm[2], -0.010 * math.sin(math.pi * min(part, 0.5)), c * arm[2] - s * arm[0])
        return np.asarray(centre + across)

    def before_step(self, dt: float) -> None:
        moment = (self.scene.time + dt) / self.seconds
        if self.grip.enabled and moment >= LET_GO:
            self.let_go()
        if self.grip.enabled:
            part = min(moment / 0.55, 1.0)
            part = part * part * (3.0 - 2.0 * part)
            self.moved = self.place(part) - np.asarray(self.grip.target)
            self.grip.target = self.place(part)

    def let_go(self) -> None:
        """Note what the hand holds, and open it."""
        self.seen = self.angle, self.springs_back()
        self.spent = float(self.scene.dissipated + self.scene.energy.total - self.energy)
        self.grip.enabled = False

    def springs_back(self) -> float:
        """By how much the leg turns back elastically when the hand's force goes, rad, for small angles.

        Moments r × F along the wire, over its stiffness, with the moment of a unit torque about the axis of the turn.
        """
        line, frames = self.wire.centerline(400), self.wire.frames(400)
        force = np.asarray(self.grip.force)
        arm = line[0] - line
        # on what is between a section and the end: what it takes of the hand
        moment = np.einsum("kij,ki->kj", frames, np.cross(arm, force))
        axis = np.cross(self.first, self._direction())
        unit = np.einsum("kij,i->kj", frames, axis / max(float(np.linalg.norm(axis)), 1e-12))
        per_length = (moment * unit / self.wire.stiffness[1:]).sum(axis=1)
        held = np.linspace(0.0, self.wire.length, 400) <= self.wire.length - 2e-3
        return abs(float(np.trapezoid(per_length * held, dx=self.wire.length / 399)))

    def after_step(self, dt: float) -> None:
        if self.grip.enabled:
            self.work += float(np.asarray(self.grip.force) @ self.moved)

    def moments(self) -> FloatArray:
        """Bending moments at the places where it bends, N m."""
        strain = self.wire.tables.bend.strain - self.wire.rest_strains()[1] - self.wire.plastic_curvature
        return np.asarray(np.linalg.norm(strain[:, :2], axis=1) * self.wire.stiffness[1])

    def look(self) -> tuple[FloatArray, FloatArray]:
        bent = np.linalg.norm(self.wire.plastic_curvature, axis=1)
        self.largest = max(self.largest, float(np.max(self.moments() / self.most())))
        s = np.linspace(0.0, self.wire.length, 400)
        return self.wire.centerline(400), np.interp(s, self.wire.rest_strains()[0], bent)

    def most(self) -> FloatArray:
        """Largest moment that all fibres can take where each has yielded, and hardened since, N m."""
        yields = float(STEEL.yield_stress or 0.0)
        plain = 4.0 / 3.0 * RADIUS**3 * yields
        bent = np.linalg.norm(self.wire.tables.bend.strain - self.wire.rest_strains()[1], axis=1)
        return np.asarray(plain + STEEL.hardening * math.pi / 4.0 * RADIUS**4 * bent)

    def sample(self) -> tuple[float, ...]:
        force = float(np.linalg.norm(self.grip.force)) if self.grip.enabled else 0.0
        return math.degrees(self.angle), force, 1e3 * self.scene.dissipated

    def caption(self) -> str:
        return "held" if self.grip.enabled else f"let go: it stays bent by {math.degrees(self.angle):.0f}°"

    def legend(self) -> str:
        return "yielded, 0 to 100/m"

    def table(self) -> list[tuple[str, str, str]]:
        if self.seen is None:
            return []
        back = math.degrees(self.seen[0] - self.angle)
        return [
            ("springs back", f"{back:.2f}°", f"{math.degrees(self.seen[1]):.2f}°"),
            ("largest moment / all fibres'", f"{self.largest:.3f}", "≤ 1"),
            ("heat and what is stored", f"{1e3 * self.spent:.2f} mJ", f"{1e3 * self.work:.2f} mJ"),
        ]

    def check(self) -> list[str]:
        wrong = []
        left = math.degrees(self.angle)
        if self.seen is None:
            return ["the hand has not let go"]
        if not left >= LEAST_ANGLE:
            wrong.append(f"it does not stay bent: {left:.1f}° are left")
        back, expected = self.seen[0] - self.angle, self.seen[1]
        if not abs(back - expected) <= 0.15 * expected + math.radians(0.2):
            wrong.append(
                f"it springs back by {math.degrees(back):.2f}°, elastically it would by {math.degrees(expected):.2f}°"
            )
        # a step of Euler takes a moment up before fibres slip
        if not self.largest <= 1.02:
            wrong.append(f"a moment is {self.largest:.3f} of what all fibres can take")
        if not 0.9 * self.work <= self.spent <= 1.01 * self.work:
            wrong.append(f"the hand has done {1e3 * self.work:.2f} mJ, and {1e3 * self.spent:.2f} mJ were spent")
        return wrong

    def findings(self) -> str:
        assert self.seen is not None
        return (
            f"it stays bent by {math.degrees(self.angle):.0f}° and has sprung back by "
            f"{math.degrees(self.seen[0] - self.angle):.2f}° ({math.degrees(self.seen[1]):.2f}° of a wire of its "
            f"stiffness under the hand's last force); no moment was more than {self.largest:.3f} of what all fibres "
            f"can take; of {1e3 * self.work:.1f} mJ of work {1e3 * self.scene.dissipated:.1f} mJ are heat."
        )

    # ---------------------------------------------------------------------------------------------------- on a page

    step = 1.0 / 480.0
    camera = ((0.012, -0.095, 0.045), (0.0, 0.0, 0.030))
    ground = 0.0

    def furnish(self) -> None:
        self.piloted()
        self.scene.control("bend it", self.by_hand(self.bend))
        self.scene.control("yields at", self.yields_at, 450.0, range=(200.0, 2000.0), unit="MPa")
        self.scene.control("anneal it", self.wire.anneal)
        self.scene.watch("angle of the outer leg", lambda: math.degrees(self.angle), unit="°")
        self.scene.watch("turned into heat", lambda: 1e3 * self.scene.dissipated, unit="mJ")
        self.decorate(pliers(self.wire), name="pliers")

    def yields_at(self, stress: float) -> None:
        """Let the steel yield at `stress`, MPa."""
        self.wire.material = STEEL.varied(yield_stress=1e6 * stress)

    def bend(self) -> None:
        """Let the hand of the show bend it once more, from where its end is."""
        self.since, self.grip.enabled = 0.0, True
        self.start = self.tip.position
        self.grip.target = self.start

    def restart(self) -> None:
        self.since = -0.5 if self.automatic else math.inf
        self.grip.enabled = False

    def act(self, dt: float) -> None:
        if self.since < 0.0:
            self.since += dt
            if self.since >= 0.0:
                self.bend()
        elif self.since < 2.5:
            self.since += dt
            part = min(self.since / 2.0, 1.0)
            self.grip.target = self.place(part * part * (3.0 - 2.0 * part))
        elif self.grip.enabled and self.since < math.inf:
            self.grip.enabled, self.since = False, math.inf

    # ------------------------------------------------------------------------------------------------------ pictures

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        camera = Camera(
            (0.05, -0.3, 0.12), (0.006, 0.0, 0.028), size=size, width=0.075 * size[0] / height,
            centre=(0.5, 0.5 * height / size[1]),
        )  # fmt: skip
        ground = floor(camera, (-3.0, -1.0), (3.0, 3.0))
        stage = Stage(camera, (238, 241, 245), ground)
        stage.polygon(ground, (222, 227, 233))
        stage.facets(pliers(self.wire))
        return stage

    def paint(self, look: tuple[FloatArray, FloatArray]) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import ball, ramp, tube

        line, yielded = look
        colours = ramp(yielded, 0.0, 100.0)
        return Facets.joined((tube(line, RADIUS, colours, sides=12, gloss=0.5), ball(line[0], RADIUS, colours[0])))


def pliers(wire: sn.Rod) -> Facets:
    """What holds the inner end of the wire: two jaws on a post."""
    from sennit.export.facets import Facets
    from sennit.export.solids import bar

    end = wire.at(wire.length - 1e-3).position
    jaws = [
        bar(end + np.array((0.0, side * 4e-4, -2e-3)), end + np.array((0.0, side * 5e-3, -2e-3)), 3e-3, (96, 102, 112),
            sides=20)
        for side in (-1.0, 1.0)
    ]  # fmt: skip
    foot = np.array((end[0], end[1] + 8e-3, 0.0))
    post = bar(foot, foot + np.array((0.0, 0.0, end[2])), 3e-3, (120, 126, 134), sides=20)
    arm = bar(end + np.array((0.0, 4e-3, -2e-3)), foot + np.array((0.0, 0.0, end[2] - 2e-3)), 2.2e-3, (120, 126, 134),
              sides=16)  # fmt: skip
    return Facets.joined([*jaws, post, arm])


add_arguments, main, play = offered(Clip, seconds=4.0)
