"""A rod between two clamps is twisted until it leaves its plane, throws a loop, and winds up on itself: a plectoneme.

What telephone cords, garden hoses and DNA do. Where its strands touch all along, tension T and torque M are those of
the ply of least energy, whatever the length that is wound up: with the angle α of the strands to the axis,
M = 2 B cos α sin³α/(r cos 2α) and T = B sin⁴α/r² (½ + 1/cos 2α) (van der Heijden, Thompson, Physica D 112 (1998) 201;
Clauvelin, Audoly, Neukirch, Macromolecules 41 (2008) 4479). The strands slide on each other without friction.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sennit.demos.stage import Chart, Part, Show, offered
from sennit.demos.tangles import closest_own
from sennit.demos.winding import Ply, ply_of_tension, wind
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "add_arguments", "main", "play"]

DESCRIPTION = (
    "A rod between two clamps is twisted until it winds up on itself. Writes a film (.gif, .mp4) or some of its frames "
    "(.png); colours show curvature. Checks that it never passes through itself, and torque and angle of the ply "
    "against those of the ply of least energy under the same tension."
)

TURNS = 9.0
HEIGHT = 0.12  # m
POINTS = 118  # spans of 2.9 radii


class Winding(Show):
    """One clamp is turned, then held."""

    headline = "A rod winds up on itself"
    title = "A rod, 1 m long, is twisted by nine turns between its clamps, and winds up on itself."
    charts = (
        Chart("tension", "N", ".2f", (0, 114, 140)),
        Chart("torque", "mN·m", ".1f", (196, 78, 20)),
        Chart("closest, of the diameter", "", ".3f", (96, 120, 40)),
    )

    def __init__(self) -> None:
        self.wound = wind(POINTS)
        self.scene = self.wound.scene
        self.turns = 0.0
        self.seconds = 8.0
        self.nearest = math.inf
        self.angle = math.nan
        self.load = (math.nan, math.nan)
        self.stood = 0.0

    def plan(self, seconds: float) -> list[Part]:
        self.seconds = seconds
        return [Part(seconds, 1.0 / 240.0)]

    def begin(self) -> None:
        pass

    def before_step(self, dt: float) -> None:
        part = min((self.scene.time + dt) / (0.7 * self.seconds), 1.0)
        self.turns = TURNS * part
        self.wound.turn(self.turns)

    def after_step(self, dt: float) -> None:
        self.stood += self.scene.report.held

    def sample(self) -> tuple[float, ...]:
        wound = self.wound
        closest = closest_own(wound.rod.centerline(700), 5.0 * wound.radius) / (2.0 * wound.radius)
        self.nearest = min(self.nearest, closest)
        self.load = wound.load
        return self.load[0], 1e3 * self.load[1], min(closest, 3.0)

    def caption(self) -> str:
        return f"{self.turns:.1f} turns, {len(self.scene.contacts)} contacts"

    def look(self) -> tuple[FloatArray, FloatArray]:
        rod = self.wound.rod
        return rod.centerline(400), np.linalg.norm(rod.curvatures(400)[:, :2], axis=1)

    def legend(self) -> str:
        return "curvature, 0 to 60/m"

    @property
    def ply(self) -> Ply:
        """The ply of least energy under the tension that was found."""
        return ply_of_tension(self.load[0], self.wound.bend, self.wound.radius)

    def table(self) -> list[tuple[str, str, str]]:
        self.angle, ply = self.wound.ply_angle(), self.ply
        return [
            ("torque", f"{1e3 * self.load[1]:.2f} mN·m", f"{1e3 * ply.torque:.2f} mN·m"),
            ("angle of the ply", f"{math.degrees(self.angle):.1f}°", f"{math.degrees(ply.angle):.1f}°"),
            ("closest / diameter", f"{self.nearest:.3f}", "1"),
        ]

    def check(self) -> list[str]:
        self.angle, ply = self.wound.ply_angle(), self.ply
        wrong = []
        if not self.nearest >= 0.93:
            wrong.append(f"it passes into itself: {self.nearest:.3f} diameters apart")
        if self.stood > 0.0:
            wrong.append(f"the scene stood still for {self.stood:.3g} s")
        if self.scene.time > 0.95 * self.seconds and self.seconds >= 6.0:
            if not len(self.scene.contacts) >= 4:
                wrong.append("it has not wound up")
            if not abs(self.load[1] / ply.torque - 1.0) <= 0.1:
                wrong.append(f"its torque is {self.load[1]:.3e} N m, that of the ply {ply.torque:.3e}")
            if not abs(self.angle / ply.angle - 1.0) <= 0.1:
                wrong.append(f"its angle is {math.degrees(self.angle):.1f}°, the ply's {math.degrees(ply.angle):.1f}°")
        return wrong

    def findings(self) -> str:
        return (
            f"it is wound up at {len(self.scene.contacts)} places and never nearer to itself than {self.nearest:.3f} "
            f"diameters; torque and angle are {self.load[1] / self.ply.torque:.3f} and "
            f"{self.angle / self.ply.angle:.3f} of those of the ply of least energy."
        )

    # ---------------------------------------------------------------------------------------------------- on a page

    step = 1.0 / 240.0
    camera = ((0.12, -0.98, 0.32), (0.0, 0.0, 0.08))

    def furnish(self) -> None:
        self.piloted("wind by itself")
        self.wheel = self.scene.control("turns", self.by_hand(self.turn_to), 0.0, range=(-12.0, 12.0))
        self.decorate(clamps(*self.wound.rod.centerline(2)), name="clamps")
        self.scene.watch("tension", lambda: self.wound.load[0], unit="N")
        self.scene.watch("torque", lambda: 1e3 * self.wound.load[1], unit="mN·m")
        self.scene.watch("contacts", lambda: float(len(self.scene.contacts)))

    def turn_to(self, turns: float) -> None:
        """Turn the clamp there by and by."""
        self.wanted = turns

    def restart(self) -> None:
        self.turns = self.wanted = 0.0

    def act(self, dt: float) -> None:
        if self.automatic:
            self.wanted = TURNS
        change = min(max(self.wanted - self.turns, -1.6 * dt), 1.6 * dt)
        self.turns += change
        self.wound.turn(self.turns)

    # ------------------------------------------------------------------------------------------------------ pictures

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        camera = Camera(
            (0.25, -1.7, 0.6), (0.0, 0.0, 0.22), size=size, width=1.15, centre=(0.5, 0.5 * height / size[1])
        )
        ground = floor(camera, (-30.0, -3.0), (30.0, 30.0))
        stage = Stage(camera, (238, 241, 245), ground)
        stage.polygon(ground, (220, 225, 230))
        return stage

    def paint(self, look: tuple[FloatArray, FloatArray]) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import ramp, tube

        line, bend = look[0] + np.array((0.0, 0.0, HEIGHT)), look[1]
        rod = tube(line, self.wound.radius, ramp(bend, 0.0, 60.0), sides=12, gloss=0.4)
        return Facets.joined([rod, clamps(line[0], line[-1])])


def clamps(first: FloatArray, second: FloatArray) -> Facets:
    """What holds the ends of the rod, at the places `first` and `second`, m."""
    from sennit.export.facets import Facets
    from sennit.export.solids import bar

    ends = ((first, -0.05), (second, 0.05))
    return Facets.joined(
        [bar(end, end + np.array((way, 0.0, 0.0)), 0.012, (120, 126, 134), sides=16) for end, way in ends]
    )


add_arguments, main, play = offered(Winding, seconds=8.0)
