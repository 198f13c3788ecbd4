"""A bow: the string is drawn, let go, and shoots an arrow that slides through the bow and flies off.

The paper's third scene (MICADO, Theetten and Grisoni 2008, figure 8, table 1: 11 absolute and 16 relative multipliers,
0.56 ms a step). What it says: three rods (limbs, string, arrow); two relative constraints tie the string to the limbs,
a relative keyhole leads the arrow along the bow, a one-sided relative constraint is the contact between string and
arrow. What is inferred: 16 = 6 + 6 (string fused to both tips of the limbs, direction and roll included) + 3 (keyhole)
+ 1 (contact); 11 = 5 (the hand that holds the bow: a place and a direction) + 3 + 3 (the hand that draws: the string,
and the nock of the arrow with it). 16 control points for the limbs, 20 for the string, 8 for the arrow: 176 degrees of
freedom and the keyhole's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sennit as sn
from sennit.demos.stage import Chart, Part, Show, offered
from sennit.errors import InputError
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Bow", "add_arguments", "assemble", "build", "main", "play"]

DESCRIPTION = (
    "A bow of ash is drawn and let go; its string drives the arrow, which leaves the string, slides out of the bow and "
    "flies. Writes an animated picture, the shot in slow motion (.gif, .mp4), or some of its frames (.png); colours "
    "show how much the limbs are bent. Checks that the string never pulls the arrow, that the arrow gets no more "
    "energy than was stored, and that its momentum changes by its weight alone once it flies."
)

HEIGHT = 1.4  # m: of the arrow above the ground
LIMBS, BRACE = 0.80, 0.17  # m: half the distance between the tips, and of the string from the bow, when braced
ARROW = 0.78  # m: its length
DRAW = 0.50  # m: how far the string is drawn
LEAVING = 0.04  # s: within which the arrow has left the bow
SLOWLY = 0.1  # s: of a draw that sets nothing swinging
NOCK = 1e-3  # m: how far the nock stands before the string while both are held
GRAVITY = 9.81
TARGET = 2.6  # m: of the straw on a page, from the bow
ASH = sn.Material(
    youngs_modulus=13e9, poisson_ratio=0.35, density=680, relaxation_time=2e-5, look="smooth", colour=(176, 124, 72)
)
LINEN = sn.Material(
    youngs_modulus=25e9, poisson_ratio=0.4, density=1400, relaxation_time=2e-5, look="laid", colour=(226, 212, 178)
)
SPRUCE = sn.Material(
    youngs_modulus=11e9, poisson_ratio=0.35, density=460, relaxation_time=2e-5, look="smooth", colour=(214, 180, 124)
)
# twisted of many threads, it bends a hundred times as easily as a solid one would
_YARN = sn.Section.custom(area=3.8e-6, I1=1.1e-14, I2=1.1e-14, J=2.2e-14, shear1=0.9, shear2=0.9)
STAVE, CORD, SHAFT = sn.Section.rectangle(0.032, 0.0125), _YARN, sn.Section.circle(4.2e-3)


@dataclass(slots=True)
class Bow:
    """The scene, its three rods and what ties them."""

    scene: sn.Scene
    limbs: sn.Rod
    string: sn.Rod
    arrow: sn.Rod
    rest: sn.Keyhole
    """Through which the arrow slides."""
    contact: sn.OnPlane
    """Of the string behind the nock; one-sided."""
    hand: sn.Fix
    """Holds the string."""
    fingers: sn.Fix
    """Hold the nock."""


def assemble(limbs: int = 16, string: int = 20, arrow: int = 8) -> Bow:
    """The bow, braced, with the arrow on the string; the numbers are of control points.

    The limbs are straight by nature and bent into an arc that the string holds.
    """
    scene = sn.Scene(gravity=(0.0, 0.0, -GRAVITY))
    up = np.linspace(-1.0, 1.0, 61)
    arc = np.column_stack((-BRACE * up**2, 0.0 * up, HEIGHT + LIMBS * up))
    # d2, along which the limbs are thin, points towards the target
    stave = scene.add(
        sn.Rod.through(arc, section=STAVE, material=ASH, control_points=limbs, straight=True, up=(1.0, 0.0, 0.0),
                       name="limbs")
    )  # fmt: skip
    cord = scene.add(
        sn.Rod.straight(arc[0], arc[-1], section=CORD, material=LINEN, control_points=string, name="string")
    )
    nock = np.array((-BRACE + NOCK, 0.0, HEIGHT))
    shaft = scene.add(
        sn.Rod.straight(nock, nock + np.array((ARROW, 0.0, 0.0)), section=SHAFT, material=SPRUCE, control_points=arrow,
                        name="arrow")
    )  # fmt: skip
    grip = stave.at(stave.length / 2.0)
    scene.add(sn.Fix(grip))
    scene.add(sn.Align(grip, (0.0, 0.0, 1.0)))
    for s, end in ((0.0, 0.0), (cord.length, stave.length)):
        scene.add(sn.Fuse(cord.at(s), stave.at(end)))
    rest = scene.add(sn.Keyhole(shaft, at=BRACE - NOCK, hole=grip, name="the rest"))
    middle, tail = cord.at(cord.length / 2.0), shaft.at(0.0)
    contact = scene.add(sn.OnPlane(middle, (1.0, 0.0, 0.0), through=tail.position, of=tail, bound="at_most"))
    hand, fingers = scene.add(sn.Fix(middle)), scene.add(sn.Fix(tail))
    return Bow(scene, stave, cord, shaft, rest, contact, hand, fingers)


def build(limbs: int = 16, string: int = 20, arrow: int = 8) -> sn.Scene:
    """The scene of the bow, its string and its arrow held by hand."""
    return assemble(limbs, string, arrow).scene


class Shot(Show):
    """Draw slowly, let go, and follow the arrow for some milliseconds."""

    title = "A bow of ash, 1.6 m high, is drawn by 50 cm and shoots an arrow."
    charts = (
        Chart("force of the hand", "N", ".0f", (196, 78, 20)),
        Chart("speed of the arrow", "m/s", ".1f", (0, 114, 140)),
    )

    def __init__(self) -> None:
        self.bow = assemble()
        self.scene = self.bow.scene
        self.start = np.array(self.bow.hand.target, dtype=np.float64)
        self.mass = self.bow.arrow.mass
        self.began = 0.0
        self.loosed: float | None = None
        self.left: float | None = None
        self.pulled = self.changed = self.best = 0.0
        self.stored = self.braced = math.nan
        self.before: FloatArray | None = None
        self.draws, self.forces = [0.0], [0.0]

    def plan(self, seconds: float) -> list[Part]:
        shot = max(0.05 * seconds, min(LEAVING, 0.5 * seconds))
        self.drawing = seconds - shot
        return [Part(self.drawing, 2e-3, slower=2.2 / self.drawing), Part(shot, 5e-5, slower=4.0 / shot)]

    def begin(self) -> None:
        self.scene.drag = 30.0  # until limbs and string have found their balance
        self.scene.run(0.5, dt=5e-3)
        self.scene.drag = 0.0
        self.began = float(self.scene.time)
        self.braced = self.elastic()

    def elastic(self) -> float:
        """Energy stored in limbs and string, J."""
        return float(self.bow.limbs.energy.total + self.bow.string.energy.total)

    def arrow_velocity(self) -> FloatArray:
        """Of its centre of mass: (3,), m/s."""
        return np.asarray(np.trapezoid(self.bow.arrow.velocities(201), dx=1.0 / 200.0, axis=0))

    @property
    def drawn(self) -> float:
        """How far the middle of the string is behind the place where it was braced, m."""
        line = self.bow.string.centerline(3)
        return float(self.start[0] - line[1, 0])

    def before_step(self, dt: float) -> None:
        t = self.scene.time - self.began + dt
        if t <= self.drawing * (1.0 + 1e-9):
            part = min(t / (0.9 * self.drawing), 1.0)
            back = DRAW * part * part * (3.0 - 2.0 * part)
            self.bow.hand.target = self.start - (back, 0.0, 0.0)
            self.bow.fingers.target = self.start - (back - NOCK, 0.0, 0.0)
        elif self.loosed is None:
            self.loosed = float(self.scene.time)
            self.stored = self.elastic() - self.braced
            self.scene.remove(self.bow.hand)
            self.scene.remove(self.bow.fingers)

    def after_step(self, dt: float) -> None:
        if self.loosed is None:
            self.draws.append(self.drawn)
            self.forces.append(-float(self.bow.hand.force[0]))
            return
        # the force on the string: the arrow, which stands before it, pushes it back
        self.pulled = max(self.pulled, float(self.bow.contact.force[0]))
        velocity = self.arrow_velocity()
        self.best = max(self.best, 0.5 * self.mass * float(velocity @ velocity))
        if self.left is None and self.bow.rest.released:
            self.left = float(self.scene.time)
            self.before = velocity
        elif self.before is not None:
            due = self.before + dt * np.array((0.0, 0.0, -GRAVITY))
            self.changed = max(self.changed, float(np.linalg.norm(velocity - due)))
            self.before = velocity

    @property
    def work(self) -> float:
        """Of the hand, by the trapezoidal rule over the draw: J."""
        return float(np.trapezoid(self.forces, self.draws))

    def sample(self) -> tuple[float, ...]:
        force = -float(self.bow.hand.force[0]) if self.loosed is None else 0.0
        return max(force, 0.0), max(float(self.arrow_velocity()[0]), 0.0)

    def caption(self) -> str:
        if self.loosed is None:
            return f"drawn by {100.0 * max(self.drawn, 0.0):.0f} cm"
        return f"{1e3 * (self.scene.time - self.loosed):.1f} ms after the loose"

    def look(self) -> dict[str, Any]:
        bow = self.bow
        return {
            "limbs": bow.limbs.centerline(81),
            "axes": bow.limbs.frames(81),
            "bend": np.abs(bow.limbs.curvatures(81)[:, 0]),
            "string": bow.string.centerline(61),
            "arrow": bow.arrow.centerline(31),
            "held": self.loosed is None,
        }

    def legend(self) -> str:
        return "bending of the limbs, 0 to 1.5 rad/m"

    def check(self) -> list[str]:
        wrong = []
        loosed = math.inf if self.loosed is None else self.loosed
        seen = self.scene.time - loosed >= LEAVING * (1.0 - 1e-9)
        if self.drawing >= SLOWLY and not abs(self.work - self.stored) <= 0.05 * self.work:
            wrong.append(f"the hand worked {self.work:.2f} J but {self.stored:.2f} J are stored")
        if not self.pulled <= 1e-6:
            wrong.append(f"the string pulled the arrow by {self.pulled:.1e} N")
        if not (0.3 * self.stored if seen else 0.0) <= self.best <= self.stored:
            wrong.append(f"the arrow got {self.best:.2f} J of the {self.stored:.2f} J stored")
        if seen and self.left is None:
            wrong.append("the arrow did not leave the bow")
        if self.drawing >= SLOWLY and not self.changed <= 1e-6:
            wrong.append(f"in flight its velocity changed by {self.changed:.1e} m/s in a step besides its fall")
        return wrong

    def findings(self) -> str:
        speed = math.sqrt(2.0 * self.best / self.mass)
        text = (
            f"the hand worked {self.work:.1f} J and the bow stores {self.stored:.1f} J; the arrow of "
            f"{1e3 * self.mass:.0f} g gets {self.best:.1f} J ({100.0 * self.best / self.stored:.0f} %) and {speed:.0f} "
            "m/s"
        )
        if self.left is not None and self.loosed is not None:
            text += (
                f", leaves the bow {1e3 * (self.left - self.loosed):.1f} ms after the loose, and keeps its momentum to "
                f"{self.changed:.0e} m/s a step but for its fall"
            )
        return text + "; the string never pulled it."

    # ---------------------------------------------------------------------------------------------------- on a page

    step = 5e-4
    camera = ((-0.89, -2.94, 1.72), (0.75, 0.0, 1.08))
    ground = 0.0

    def furnish(self) -> None:
        tip = self.bow.arrow.length
        self.straw = [
            self.scene.add(sn.Fix(self.bow.arrow.at(part * tip), name=f"straw {k + 1}"))
            for k, part in enumerate((0.8, 0.99))
        ]
        for fix in self.straw:
            fix.enabled = False
        self.piloted()
        self.draw = self.scene.control("draw", self.by_hand(self.draw_to), 0.0, range=(0.0, DRAW), unit="m")
        self.scene.control("shoot", self.by_hand(self.shoot))
        self.scene.control("nock a new arrow", self.by_hand(self.nock))
        self.scene.watch("force of the hand", lambda: self.sample()[0], unit="N")
        self.scene.watch("speed of the arrow", lambda: self.sample()[1], unit="m/s")
        self.scene.watch("stored in limbs and string", lambda: self.elastic() - self.braced, unit="J")
        self.decorate(target(), name="target")
        self.ready, self.known = self.scene.snapshot(), self.scene.constraints

    def restart(self) -> None:
        self.loosed = None
        self.back = self.wanted = self.since = 0.0  # m: how far the string is drawn, and shall be; s

    def draw_to(self, back: float) -> None:
        """Draw the string by `back` (m); after a shot a new arrow is nocked first."""
        if self.loosed is not None:
            self.nock()
        self.wanted = back

    def shoot(self) -> None:
        """Let string and arrow go."""
        if self.loosed is None:
            self.loosed, self.since = float(self.scene.time), 0.0
            self.bow.hand.enabled = self.bow.fingers.enabled = False

    def nock(self) -> None:
        """Put everything back to where a shot begins."""
        if self.scene.constraints != self.known:
            raise InputError("a new arrow can be nocked when nothing is held, pinned or removed: let go, or reset")
        time = self.scene.time
        self.scene.restore(self.ready)
        self.scene._set_time(time)  # the clock of the page goes on
        self.draw.value = 0.0
        self.restart()

    def act(self, dt: float) -> None:
        bow = self.bow
        self.since += dt
        if self.automatic and self.loosed is None:
            self.wanted = DRAW if self.since > 0.8 else 0.0
            if self.back >= DRAW - 1e-9 and self.since > 3.0:
                self.shoot()
        elif self.automatic and self.since > 3.0 and self.scene.constraints == self.known:
            self.nock()
        if self.loosed is None:
            self.back += min(max(self.wanted - self.back, -0.4 * dt), 0.4 * dt)
            bow.hand.target = self.start - (self.back, 0.0, 0.0)
            bow.fingers.target = self.start - (self.back - NOCK, 0.0, 0.0)
        elif not self.straw[0].enabled and float(self.straw[1].points[0].position[0]) > TARGET:
            for fix in self.straw:  # it sticks
                fix.target = fix.points[0].position
                fix.enabled = True

    # ------------------------------------------------------------------------------------------------------ pictures

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        camera = Camera(
            (0.9, -5.2, 1.9), (0.62, 0.0, 1.14), size=size, width=2.6 * size[0] / height,
            centre=(0.5, 0.52 * height / size[1]),
        )  # fmt: skip
        grass = floor(camera, (-80.0, -5.0), (80.0, 80.0))
        stage = Stage(camera, (222, 234, 244), grass)
        stage.polygon(grass, (164, 190, 126))
        return stage

    def paint(self, look: dict[str, Any]) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import ball, ramp, ribbon, tube

        axes = look["axes"]
        colours = ramp(look["bend"], 0.0, 1.5)
        limbs = look["limbs"]
        parts = [ribbon(limbs, axes[:, :, 0], axes[:, :, 1], (0.018, 0.010), colours)]
        middle = len(limbs) // 2
        parts.append(tube(limbs[middle - 3 : middle + 4], 0.022, (74, 52, 44), sides=12))
        parts.append(tube(look["string"], 0.0032, (238, 232, 214), sides=6))
        arrow = look["arrow"]
        parts.append(tube(arrow, 0.0068, (196, 152, 98), sides=8))
        ahead = (arrow[-1] - arrow[-3]) / np.linalg.norm(arrow[-1] - arrow[-3])
        head = arrow[-1] + np.outer((0.0, 0.01, 0.075), ahead)
        parts.append(tube(head, np.array((0.008, 0.014, 0.0005)), (96, 102, 112), sides=8))
        for turn in (0.5, 2.6, 4.7):  # feathers
            side = np.cos(turn) * np.array((0.0, 1.0, 0.0)) + np.sin(turn) * np.array((0.0, 0.0, 1.0))
            thin = np.cross(ahead, side)
            along = arrow[1] + np.outer((0.0, 0.03, 0.11), ahead) + 0.018 * side
            one = np.ones((3, 1))
            parts.append(ribbon(along, side * one, thin * one, (0.016, 0.0012), (206, 70, 60)))
        if look["held"]:
            parts.append(ball(look["string"][30] - (0.02, 0.0, 0.0), 0.030, (222, 178, 146), gloss=0.2))
        return Facets.joined(parts)


def target() -> Facets:
    """A disc of straw with its rings, on a stand."""
    from sennit.export.facets import Facets, circle, loft
    from sennit.export.solids import bar

    middle, wood = np.array((TARGET, 0.0, HEIGHT)), (122, 92, 66)
    y, z = np.array(((0.0, 1.0, 0.0),) * 2), np.array(((0.0, 0.0, 1.0),) * 2)
    parts = []
    for k, colour in enumerate(((196, 168, 112), (240, 240, 236), (60, 120, 190), (200, 60, 54), (240, 208, 70))):
        size = 0.42 - 0.08 * k
        ends = middle + np.outer((-0.008 * k, 0.0 if k else 0.16), (1.0, 0.0, 0.0))
        parts.append(loft(ends, size * y, size * z, circle(40), colour, gloss=0.0, capped=True))
    for side in (-1.0, 1.0):
        parts.append(bar((TARGET + 0.1, 0.38 * side, 0.0), (TARGET + 0.12, 0.1 * side, HEIGHT + 0.5), 0.03, wood))
    parts.append(bar((TARGET + 0.6, 0.0, 0.0), (TARGET + 0.14, 0.0, HEIGHT + 0.4), 0.03, wood))
    return Facets.joined(parts)


add_arguments, main, play = offered(Shot, seconds=0.8)
