"""Our own tasks: a rope's end brought to a mark, a rope laid over a peg, a swinging load, a tentacle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.rod import Rod
from sennit.constraints.join import Ball
from sennit.constraints.load import Load
from sennit.constraints.place import Clamp, Fix
from sennit.contact.obstacle import Obstacle
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import Cylinder
from sennit.learning.task import Task
from sennit.material import Material, Section
from sennit.scene.scene import Scene
from sennit.validation import FloatArray

__all__ = ["CraneSwing", "RopeOverPeg", "RopeReach", "TentacleReach"]

HEMP = Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000.0, relaxation_time=0.01)
RUBBER = Material(youngs_modulus=2e6, poisson_ratio=0.45, density=1100.0, relaxation_time=0.05)

Rows = NDArray[np.int64]
Chances = Sequence[np.random.Generator]


class _Held(Task):
    """A hand is moved: actions are its velocity over `SPEED`."""

    SPEED = 1.0  # m/s

    hand: Fix
    start: FloatArray
    """Where the hand begins, (3,), m."""

    def __init__(self, count: int, threads: int | None = None) -> None:
        super().__init__(count, threads)
        self.place = np.tile(self.start, (count, 1))
        """Where the hands are led, (B, 3), m."""
        self.mark = np.zeros((count, 3))
        """Where something is to be brought, (B, 3), m."""

    def lead(self, velocity: FloatArray) -> None:
        """Lead the hands on at velocities (B, 3), over SPEED."""
        self.place += self.DT * self.EVERY * self.SPEED * velocity
        self.batch.set(self.hand, "target", self.place)


class RopeReach(_Held):
    """A rope of 0.5 m hangs from a hand: bring its free end to a mark, and hold it there.

    Actions: velocity of the hand, m/s (3). Seen: the mark from the rope's end, m (3); the end from the hand, m (3);
    velocity of the end, m/s (3). Reward: minus the distance of the end from the mark, m. Reached: within 2 cm.
    """

    ACTIONS, OBSERVATIONS = 3, 9

    def build(self) -> Scene:
        """See `Task`."""
        scene = Scene(drag=0.5, integrator="bdf2")
        self.rope = scene.add(
            Rod.straight((0, 0, 1), (0, 0, 0.5), section=Section.circle(5e-3), material=HEMP, control_points=10)
        )
        self.hand = scene.add(Fix(self.rope.at(0)))
        self.end = self.rope.at(self.rope.length)
        self.start = np.array((0.0, 0.0, 1.0))
        return scene

    def begin(self, rows: Rows, chances: Chances) -> None:
        """A mark within 0.3 m of where the end hangs at first."""
        self.place[rows] = self.start
        self.mark[rows] = [np.array((0.0, 0.0, 0.5)) + chance.uniform(-0.3, 0.3, 3) for chance in chances]

    def act(self, actions: FloatArray) -> None:
        """See `Task`."""
        self.lead(actions)

    def observe(self) -> FloatArray:
        """See `Task`."""
        end = self.batch.positions(self.end)
        return np.hstack((self.mark - end, end - self.place, self.batch.velocities(self.end)))

    def judge(self) -> tuple[FloatArray, NDArray[np.bool_]]:
        """See `Task`."""
        distance = np.linalg.norm(self.mark - self.batch.positions(self.end), axis=1)
        return -distance, distance < 0.02

    @classmethod
    def script(cls, seen: FloatArray, time: int) -> FloatArray:
        """The hand goes where the end would hang at the mark, at a speed in proportion, and gives way to the sway."""
        away = seen[:, :3] + seen[:, 3:6] - (0.0, 0.0, -0.5)  # of the place for the hand, from the hand
        return np.asarray(1.5 * away + 0.5 * (seen[:, 3:6] - (0.0, 0.0, -0.5)))


class CraneSwing(_Held):
    """A hand on a rail carries a load on a rope: bring the load to a mark without letting it swing.

    Actions: velocity of the hand along the rail, m/s (1). Seen: the mark from the hand, m; the load from the hand, m;
    velocity of the load, m/s, all along the rail. Reward: minus the distance of the load from the mark, m. Reached:
    within 3 cm, slower than 0.1 m/s.
    """

    ACTIONS, OBSERVATIONS = 1, 3

    def build(self) -> Scene:
        """See `Task`."""
        scene = Scene(drag=0.1, integrator="bdf2")
        self.rope = scene.add(
            Rod.straight((0, 0, 1), (0, 0, 0.2), section=Section.circle(5e-3), material=HEMP, control_points=8)
        )
        self.load = scene.add(RigidBody.sphere(0.04, mass=0.5, position=(0, 0, 0.16)))
        scene.add(Ball(self.load.at((0, 0, 0.04)), self.rope.at(self.rope.length)))
        self.hand = scene.add(Fix(self.rope.at(0)))
        self.start = np.array((0.0, 0.0, 1.0))
        return scene

    def begin(self, rows: Rows, chances: Chances) -> None:
        """A mark 0.3 to 0.8 m along the rail."""
        self.place[rows] = self.start
        self.mark[rows, 0] = [chance.uniform(0.3, 0.8) for chance in chances]

    def act(self, actions: FloatArray) -> None:
        """See `Task`."""
        self.lead(np.hstack((actions, np.zeros((len(actions), 2)))))

    def observe(self) -> FloatArray:
        """See `Task`."""
        load, hand = self.batch.positions(self.load)[:, 0], self.place[:, 0]
        return np.column_stack((self.mark[:, 0] - hand, load - hand, self.batch.velocities(self.load)[:, 0]))

    def judge(self) -> tuple[FloatArray, NDArray[np.bool_]]:
        """See `Task`."""
        distance = np.abs(self.batch.positions(self.load)[:, 0] - self.mark[:, 0])
        speed = np.abs(self.batch.velocities(self.load)[:, 0])
        return -distance, (distance < 0.03) & (speed < 0.1)

    @classmethod
    def script(cls, seen: FloatArray, time: int) -> FloatArray:
        """Towards the mark, and after the load where it sways."""
        return np.asarray(1.2 * seen[:, :1] + 2.5 * seen[:, 1:2])


class TentacleReach(Task):
    """A tentacle of rubber stands on its base, with a horizontal force on its tip and one half-way: bring the tip over
    a mark.

    Actions: change of both forces, over 0.5 N/s (4); no component grows beyond 0.5 N. Seen: the mark from the tip,
    sideways, m (2); the forces, N (4); velocity of the tip, m/s (2). Reward: minus the distance sideways, m. Reached:
    within 1 cm.
    """

    ACTIONS, OBSERVATIONS = 4, 8
    RATE, MOST = 0.5, 0.5  # N/s, N

    def __init__(self, count: int, threads: int | None = None) -> None:
        super().__init__(count, threads)
        self.pull = np.zeros((count, 2, 3))
        self.mark = np.zeros((count, 2))

    def build(self) -> Scene:
        """See `Task`."""
        scene = Scene(drag=0.5, integrator="bdf2")
        rod = scene.add(
            Rod.straight((0, 0, 0), (0, 0, 0.3), section=Section.circle(0.01), material=RUBBER, control_points=10)
        )
        scene.add(Clamp(rod.at(0)))
        self.tip = rod.at(rod.length)
        self.loads = [scene.add(Load(self.tip)), scene.add(Load(rod.at(0.5 * rod.length)))]
        return scene

    def begin(self, rows: Rows, chances: Chances) -> None:
        """A mark 3 to 8 cm aside."""
        self.pull[rows] = 0.0
        for i, chance in zip(rows, chances, strict=True):
            angle, far = chance.uniform(0.0, 2.0 * np.pi), chance.uniform(0.03, 0.08)
            self.mark[i] = far * np.cos(angle), far * np.sin(angle)

    def act(self, actions: FloatArray) -> None:
        """See `Task`."""
        change = self.RATE * self.DT * self.EVERY * actions.reshape(-1, 2, 2)
        self.pull[:, :, :2] = np.clip(self.pull[:, :, :2] + change, -self.MOST, self.MOST)
        for k, load in enumerate(self.loads):
            self.batch.set(load, "force", self.pull[:, k])

    def observe(self) -> FloatArray:
        """See `Task`."""
        away = self.mark - self.batch.positions(self.tip)[:, :2]
        forces = self.pull[:, :, :2].reshape(-1, 4)
        return np.hstack((away, forces, self.batch.velocities(self.tip)[:, :2]))

    def judge(self) -> tuple[FloatArray, NDArray[np.bool_]]:
        """See `Task`."""
        distance = np.linalg.norm(self.mark - self.batch.positions(self.tip)[:, :2], axis=1)
        return -distance, distance < 0.01

    @classmethod
    def script(cls, seen: FloatArray, time: int) -> FloatArray:
        """The tip's force grows towards the mark, and gives way to the tip's motion."""
        tip = 6.0 * seen[:, :2] - 1.5 * seen[:, 6:]
        return np.hstack((tip, -seen[:, 4:6]))


class RopeOverPeg(_Held):
    """A rope of 0.8 m hangs from a hand beside a peg, which is elsewhere in every episode: lay it over the peg, so that
    it hangs down on both sides.

    Actions: velocity of the hand in the plane across the peg, m/s (2). Seen, across the peg, from its axis: the hand
    (2), the rope's middle (2) and its free end (2), m. Reward: minus the distance of the middle from the top of the
    peg, m. Reached: the hand on one side and below the peg's axis, the free end on the other, the middle within 12 cm
    of the top.
    """

    ACTIONS, OBSERVATIONS = 2, 6
    LENGTH = 60
    AXIS = np.array((0.0, 0.6))
    """Where the axis of the peg is built, across it, m."""
    RADIUS = 0.05
    APART = 0.06
    """The peg is within this of there, sideways and up, m."""

    def __init__(self, count: int, threads: int | None = None) -> None:
        super().__init__(count, threads)
        self.shift = np.zeros((count, 3))
        """Of the peg, m."""

    def build(self) -> Scene:
        """See `Task`."""
        scene = Scene(drag=0.5)
        self.rope = scene.add(
            Rod.straight((-0.3, 0, 1.2), (-0.3, 0, 0.4), section=Section.circle(6e-3), material=HEMP, control_points=14)
        )
        self.hand = scene.add(Fix(self.rope.at(0)))
        self.peg = scene.add(Obstacle(Cylinder(self.RADIUS, 0.4, Pose.along((0, 0, float(self.AXIS[1])), (0, 1, 0)))))
        scene.collide(self.rope, self.peg, friction=0.5)
        self.middle, self.end = self.rope.at(0.4), self.rope.at(0.8)
        self.start = np.array((-0.3, 0.0, 1.2))
        return scene

    def begin(self, rows: Rows, chances: Chances) -> None:
        """The peg elsewhere, up to 6 cm: it goes there while the first action is made, far from the rope."""
        self.place[rows] = self.start
        self.shift[rows[:, None], [0, 2]] = [chance.uniform(-self.APART, self.APART, 2) for chance in chances]
        self.batch.set(self.peg, "position", self.shift)

    def act(self, actions: FloatArray) -> None:
        """See `Task`."""
        self.lead(np.column_stack((actions[:, 0], np.zeros(len(actions)), actions[:, 1])))

    def _across(self, places: FloatArray) -> FloatArray:
        return np.asarray((places - self.shift)[:, [0, 2]] - self.AXIS)

    def observe(self) -> FloatArray:
        """See `Task`."""
        ends = (self.place, self.batch.positions(self.middle), self.batch.positions(self.end))
        return np.hstack([self._across(place) for place in ends])

    def judge(self) -> tuple[FloatArray, NDArray[np.bool_]]:
        """See `Task`."""
        seen = self.observe()
        distance = np.linalg.norm(seen[:, 2:4] - (0.0, self.RADIUS), axis=1)
        sides = (seen[:, 0] > self.RADIUS) & (seen[:, 1] < 0.0) & (seen[:, 4] < 0.0)
        return -distance, sides & (distance < 0.12)

    @classmethod
    def script(cls, seen: FloatArray, time: int) -> FloatArray:
        """Over to the other side, until the rope lies on the peg, then down."""
        goals = np.array(((0.25, 0.45), (0.2, -0.15)))
        goal = goals[0] if time < 22 else goals[1]
        return np.asarray(4.0 * (goal - seen[:, :2]))
