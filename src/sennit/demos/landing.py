"""The crane's load is set down: it comes to stand on the ground, its slings go slack, and it is taken up again.

The crane is that of `sennit.demos.crane`. Ground and load touch, with friction; the forces of rope, slings and ground
are found together in each step, so that the load's weight passes from the one to the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import sennit as sn
from sennit.demos.crane import CRATE, EYE, GRAVITY, HOOK, LOAD, SLING, STEP, Manoeuvre
from sennit.demos.hoisting import Fact, ramped
from sennit.demos.stage import Chart, Part, offered

if TYPE_CHECKING:
    from sennit.export.painting import Stage

__all__ = ["DESCRIPTION", "Landing", "add_arguments", "main", "play"]

DESCRIPTION = (
    "A tower crane sets 1.5 t down: the load stands, its four slings go slack, and it is taken up again. Writes an "
    "animated picture (.gif, .mp4) or some of its frames (.png); colours show tension. Checks the force of the ground, "
    "of rope and slings while the load hangs and while it stands, that it does not creep, and that on the whole these "
    "carried its weight."
)

FRICTION = 0.5
SPEED, RAMP = 0.6, 0.5  # m/s of rope, s
DOWN, STANDING, UP = (0.5, 4.0), (5.0, 6.5), (6.5, 10.0)  # s: begin and end
SECONDS = 12.0


class Landing(Manoeuvre):
    """Lower, stand, take up."""

    headline = "A crane sets its load down"
    title = "A tower crane sets 1.5 t down and takes it up again: the load stands, and its slings go slack."
    charts = (
        Chart("ground carries", "kN", ".2f", (84, 110, 60)),
        Chart("hoist rope", "kN", ".2f", (196, 78, 20)),
        Chart("slings", "kN", ".2f", (0, 114, 140)),
    )

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[tuple[float, ...]] = []
        """Of each step: height of the load, force of the ground, tension of rope and slings, what slings lift."""
        self.places: list[np.ndarray] = []

    def plan(self, seconds: float) -> list[Part]:
        """The whole time in equal steps."""
        return [Part(seconds, STEP, slower=0.4)]

    def begin(self) -> None:
        """The load hangs, and there is ground."""
        self.settled = self.scene.settle()
        self.lay_ground()
        self.height = float(self.crane.load.position[2])

    def lay_ground(self) -> None:
        """Ground that the load, and the hook where it is let down too far, touch with friction."""
        if self.scene.obstacles:
            return
        crane = self.crane
        self.ground_ = self.scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="ground"))
        self.stand = self.scene.collide(crane.load, self.ground_, friction=FRICTION)
        self.scene.collide(crane.hook, crane.load, friction=FRICTION)
        self.scene.collide(crane.hook, self.ground_, friction=FRICTION)

    def before_step(self, dt: float) -> None:
        """The winch pays out, and hauls in again."""
        t = self.scene.time + dt
        self.crane.hoist.drive(SPEED * (ramped(t, *DOWN, RAMP) - ramped(t, *UP, RAMP)))

    def lifted(self) -> float:
        """What the slings lift of the load, N."""
        eye = self.crane.hook.at((0.0, 0.0, EYE)).position
        total = 0.0
        for sling in self.crane.slings:
            way = eye - sling.points[-1].position
            total += sling.tension * float(way[2] / np.linalg.norm(way))
        return total

    def carried(self) -> float:
        """What the ground carries, N."""
        return float(self.stand.force[2])

    def after_step(self, dt: float) -> None:
        """Note what carries the load."""
        crane = self.crane
        self.times.append(self.scene.time)
        pulls = sum(sling.tension for sling in crane.slings)
        self.rows.append((crane.load.position[2], self.carried(), crane.hoist.tension, pulls, self.lifted()))
        self.places.append(np.array(crane.load.position))

    def sample(self) -> tuple[float, ...]:
        """What ground, rope and slings carry, kN."""
        pulls = sum(sling.tension for sling in self.crane.slings)
        return 1e-3 * self.carried(), 1e-3 * self.crane.hoist.tension, 1e-3 * pulls

    def caption(self) -> str:
        """What winch and load do."""
        moving = "lowers" if DOWN[0] <= self.scene.time < DOWN[1] else "waits"
        moving = "takes up" if UP[0] <= self.scene.time < UP[1] else moving
        return f"{moving}; the load {'stands' if self.stand.touching else 'hangs'}"

    def facts(self) -> list[Fact]:
        """What was found while it hung and while it stood."""
        t, (height, ground, rope, pulls, lifted) = np.array(self.times), np.array(self.rows).T
        hung, weight = 0.5 * (HOOK + LOAD) * GRAVITY, LOAD * GRAVITY
        hanging = t < DOWN[0]
        facts = [
            Fact("rope while the load hangs", float(rope[hanging].mean()), hung, 1e-3 * hung, "N"),
            Fact("ground while it hangs", float(ground[hanging].max()), 0.0, 1e-9, "N"),
        ]
        if t[-1] >= STANDING[1] - STEP:
            standing = (t > STANDING[0]) & (t < STANDING[1])
            moved = float(np.ptp(np.array(self.places)[standing], axis=0).max())
            facts += [
                Fact("ground while it stands", float(ground[standing].mean()), weight, 1e-4 * weight, "N"),
                Fact("rope while it stands", float(rope[standing].mean()), 0.5 * HOOK * GRAVITY, 20.0, "N"),
                Fact("slings while it stands", float(pulls[standing].max()), 1e-6, 0.0, "N", below=True),
                Fact("height while it stands", float(height[standing].mean()), CRATE[2], 1e-5, "m"),
                Fact("creep while it stands", moved, 1e-7, 0.0, "m", below=True),
            ]
        if t[-1] >= SECONDS - STEP:
            # momentum is as at first: on the average, ground and slings carried the weight
            mean = float((ground + lifted).mean())
            facts += [
                Fact("ground and slings, mean of all steps", mean, weight, 2e-3 * weight, "N"),
                Fact("ground after it was taken up", float(ground[t > UP[1]].max()), 0.0, 1e-9, "N"),
                Fact("height after that", float(height[-60:].mean()), self.height, 2e-3, "m"),
            ]
        return facts

    # ---------------------------------------------------------------------------------------------------- on a page

    lowest, laid = -0.8, -0.35

    def bottom(self) -> float:
        """Height that the load would have if its slings were taut, m."""
        return float(self.crane.hook.position[2]) + EYE - SLING - 2.0 * CRATE[2]

    def furnish(self) -> None:
        """Two more plots than those of the crane."""
        super().furnish()
        self.scene.watch("ground carries", lambda: 1e-3 * self.carried(), unit="kN")
        self.scene.watch("slings", lambda: self.sample()[2], unit="kN")

    # ------------------------------------------------------------------------------------------------------ pictures

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        """From near by."""
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        target = np.array((6.0, 0.0, 3.1))
        camera = Camera(
            target + np.array((-7.0, -16.0, 3.0)), target, size=size, width=9.5 * size[0] / height,
            centre=(0.5, 0.5 * height / size[1]),
        )  # fmt: skip
        ground = floor(camera, (-9e3, -9e3), (9e3, 9e3))
        stage = Stage(camera, (228, 236, 240), ground)
        stage.polygon(ground, (214, 216, 204))
        return stage


add_arguments, main, play = offered(Landing, seconds=SECONDS)
