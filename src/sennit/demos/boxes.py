"""Two boxes on one cable, far from any weight: they swing apart and together, or turn against each other.

The test of Servin and Lacoursière, Massless Cable for Real-time Simulation, 2007, section 5.1, figures 4 to 8: two
cubes of 2 m and 1,000 kg, a cable of 4 m, no gravity, steps of 0.01 s, stiffness 10, 1e3, 1e6 N/m against stretch and
the same in N·m/rad against twist. The boxes are m/2 to the one and I/2 to the other, I = m a²/6: periods of 44, 4.4,
0.14 s and 36, 3.6, 0.11 s.

The paper's row holds the boxes apart as well as together. A cable cannot push. Here two equal and opposite forces pull
the boxes by 1 m from where the cable is slack, and they swing by 0.8 m about that balance, so that the cable is always
taut and the whole period is seen; force and elongation are then shown from the balance. In the twist test the same
forces keep the cable taut and have no other effect.

Each pair is stepped twice: as cables are by default, which keeps amplitudes and shifts the frequency to
(2/h) atan(w h/2), and in the backward form of the publication, which wears fast swings down.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

import sennit as sn
from sennit.demos.stage import PAPER, Chart, Part, Record, Show, offered
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Pair", "add_arguments", "build", "main", "play"]

DESCRIPTION = (
    "Two boxes of a ton swing, or turn, on one cable without gravity, for three stiffnesses each. Writes an animated "
    "picture (.gif, .mp4) in which every pair swings once in two seconds, or some of its frames (.png). Checks periods "
    "and amplitudes against the stepping scheme's own and against those of the backward form, and that energy does not "
    "grow."
)

Kind = Literal["stretch", "twist"]
Stepping = Literal["spook", "backward"]

MASS, EDGE, LENGTH, H = 1000.0, 2.0, 4.0, 0.01  # kg, m, m, s
UP = np.array((0.0, 0.0, 1.0))
INERTIA = MASS * EDGE**2 / 6.0  # kg m²
STIFFNESSES = (10.0, 1e3, 1e6)  # N/m, N m/rad
PULL, SWING = 1.0, 0.8  # m: of the balance from the slack length, about the balance
HOLD = 1e3  # N/m: stretch stiffness in the twist test
TURNS = {10.0: 17.3, 1e3: 4.0, 1e6: 0.5}  # rad: how far the cable is twisted
NAMES = {10.0: "10", 1e3: "1e3", 1e6: "1e6"}
PUBLISHED = {"stretch": ("44 s", "4.4 s", "0.14 s"), "twist": ("36 s", "3.6 s", "0.11 s")}
SHOWN = 2.0  # s: in which one period is shown
MIDDLE = 6.6  # m: height of the middle of the cables in the picture
LEASH = 0.15  # rad/s: of the springs that keep the pairs in view on a page
FACES = ((236, 150, 96), (196, 92, 70), (98, 160, 216), (250, 248, 240), (150, 190, 130), (110, 116, 124))
"""Colours of a box's sides, which show how it turns."""
PLACES = (-13.0, -8.4, -3.8, 3.8, 8.4, 13.0)  # m: of the pairs in the picture


class Pair:
    """Two boxes on a cable, in motion along it ("stretch") or about it ("twist"), and what was seen of them.

    `scene` and `middle` (3,), m: where the pair is; by default in a scene of its own, about the origin.
    """

    def __init__(
        self, kind: Kind, stiffness: float, stepping: Stepping = "spook", scene: sn.Scene | None = None,
        middle: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> None:  # fmt: skip
        self.kind, self.stiffness, self.stepping = kind, stiffness, stepping
        self.scene = sn.Scene(gravity=(0.0, 0.0, 0.0)) if scene is None else scene
        stretch = stiffness if kind == "stretch" else HOLD
        self.places = [np.array(middle) + side * (EDGE + LENGTH) / 2.0 * UP for side in (-1.0, 1.0)]
        self.low, self.high = (
            self.scene.add(sn.RigidBody.box((EDGE,) * 3, mass=MASS, position=place)) for place in self.places
        )
        self.cable = self.scene.add(
            sn.Cable(
                [self.low.at((0.0, 0.0, EDGE / 2.0)), self.high.at((0.0, 0.0, -EDGE / 2.0))],
                length=LENGTH,
                stretch_stiffness=stretch,
                twist_stiffness=stiffness if kind == "twist" else None,
                torsion=kind == "twist",
                stepping=stepping,
            )
        )
        self.pulls = []
        for side, box, place in zip((-1.0, 1.0), (self.low, self.high), self.places, strict=True):
            force = (0.0, 0.0, side * stretch * PULL)
            self.pulls.append(self.scene.add(sn.Load(box.at((0.0, 0.0, side * EDGE / 2.0)), force=force)))
            box.position = place + side * PULL / 2.0 * UP
        self.swing(self.amplitude)
        # the given velocity is that of a step that would have ended here
        before = H * self.amplitude * self.omega / 2.0 if stepping == "spook" else 0.0
        self.values, self.forces, self.kinetic = [0.0], [0.0], [self.moving()]
        self.elastic = [0.5 * stiffness * before**2]

    def swing(self, amplitude: float) -> None:
        """Set the boxes in motion, so that they swing by `amplitude` (m or rad) about their balance."""
        for side, box in ((-1.0, self.low), (1.0, self.high)):
            speed = side * amplitude * self.omega / 2.0
            if self.kind == "stretch":
                box.velocity = (0.0, 0.0, speed)
            else:
                box.angular_velocity = (0.0, 0.0, speed)

    @property
    def inertia(self) -> float:
        """What the two boxes are to the cable: kg or kg·m²."""
        return (MASS if self.kind == "stretch" else INERTIA) / 2.0

    @property
    def omega(self) -> float:
        """Frequency of the swing in exact mechanics, rad/s."""
        return math.sqrt(self.stiffness / self.inertia)

    @property
    def amplitude(self) -> float:
        """How far the boxes swing out, m or rad."""
        return SWING if self.kind == "stretch" else TURNS[self.stiffness]

    @property
    def period(self) -> float:
        """Time of one swing in exact mechanics, s."""
        return 2.0 * math.pi / self.omega

    @property
    def times(self) -> FloatArray:
        """At which there are values, s."""
        return np.asarray(H * np.arange(len(self.values)), dtype=np.float64)

    def moving(self) -> float:
        """Kinetic energy, J."""
        boxes = (self.low, self.high)
        return 0.5 * sum(MASS * float(b.velocity @ b.velocity) for b in boxes) + 0.5 * INERTIA * sum(
            float(b.angular_velocity @ b.angular_velocity) for b in boxes
        )

    def run(self, time: float) -> None:
        """Step until `time`, s."""
        while H * (len(self.values) - 1) < time:
            self.scene.step(H)
            if self.kind == "stretch":
                value = float(self.high.position[2] - self.low.position[2]) - EDGE - LENGTH - PULL
                force = self.cable.tension - self.stiffness * PULL
            else:
                value, force = self.cable.twist, self.cable.torque
            # a step's velocity is that of its middle, as is the mean of its two ends; the backward form's is of its end
            mean = (value + self.values[-1]) / 2.0 if self.stepping == "spook" else value
            self.values.append(value)
            self.forces.append(force)
            self.kinetic.append(self.moving())
            self.elastic.append(0.5 * self.stiffness * mean**2)

    def fitted(self) -> complex:
        """Exponent s of the motion exp(s t), 1/s: of the recursion that fits its values best."""
        every = max(1, round(0.3 / (self.omega * H)))
        y = np.array(self.values[::every])
        a, b = np.linalg.lstsq(np.column_stack((y[1:-1], -y[:-2])), y[2:], rcond=None)[0]
        return exponent((1.0, -float(a), float(b)), every * H)

    def due(self) -> complex:
        """The exponent that the stepping scheme has."""
        w = (self.omega * H) ** 2
        if self.stepping == "backward":
            return exponent((1.0 + w, -2.0, 1.0), H)
        x4 = (w / 4.0) ** 2
        damped = w * 2.0 * x4 / (1.0 + x4)  # the relaxation time that a cable has by default, over the step
        return exponent((1.0 + w / 4.0 + damped, -2.0 + w / 2.0 - damped, 1.0 + w / 4.0), H)


def exponent(polynomial: Sequence[float], h: float) -> complex:
    """The rate s of the recursion's root exp(s h) that turns upwards, 1/s."""
    roots = np.roots(polynomial)
    return cmath.log(complex(roots[np.argmax(roots.imag)])) / h


def period(s: complex) -> float:
    """Time of one swing of a motion exp(s t), s."""
    return 2.0 * math.pi / s.imag


def left(s: complex) -> float:
    """Part of the amplitude that is left after five periods."""
    return math.exp(5.0 * period(s) * s.real)


def build() -> sn.Scene:
    """The scene of the stretch test with 1e3 N/m."""
    return Pair("stretch", 1e3).scene


class Clocks:
    """All pairs under one clock: each has its own scene, and does one period in two seconds of it."""

    dofs, multipliers = 24, (0, 3)  # of a stretch and a twist test

    def __init__(self) -> None:
        self.time = 0.0
        self.pairs = [
            Pair(kind, stiffness, stepping)
            for stepping in ("spook", "backward")
            for kind in ("stretch", "twist")
            for stiffness in STIFFNESSES
        ]

    def step(self, dt: float) -> None:
        """Bring all pairs to where they are after `dt` seconds of the film."""
        self.time += dt
        for pair in self.pairs:
            pair.run(self.time / SHOWN * pair.period)


class Validation(Show):
    """Some periods of six pairs; as many in the backward form, of which the charts show one."""

    title = "Two boxes of 1,000 kg on a cable of 4 m, without gravity: three that stretch it, three that twist it."
    charts = (
        Chart("cable of 1e6 N/m", "m", ".2f", (0, 114, 140)),
        Chart("the same in the backward form", "m", ".2f", (196, 78, 20)),
    )

    def __init__(self) -> None:
        self.clocks = Clocks()
        self.scene = cast(sn.Scene, self.clocks)  # it has a scene's time and step
        self.results: list[tuple[Pair, complex, complex]] = []

    def plan(self, seconds: float) -> list[Part]:
        return [Part(seconds, 1.0)]

    def begin(self) -> None:
        pass

    def before_step(self, dt: float) -> None:
        pass

    def after_step(self, dt: float) -> None:
        pass

    def present(self, pair: Pair) -> float:
        """What a pair's stretch or twist is now."""
        return float(np.interp(self.clocks.time / SHOWN * pair.period, pair.times, pair.values))

    def look(self) -> list[float]:
        return [self.present(pair) for pair in self.clocks.pairs[:6]]

    def sample(self) -> tuple[float, ...]:
        return tuple(PULL + self.present(self.clocks.pairs[k]) for k in (2, 8))

    def caption(self) -> str:
        return ""

    def pace(self, record: Record) -> str:
        steps = sum(len(pair.values) - 1 for pair in self.clocks.pairs)
        each = 1e6 * float(record.spent.sum()) / steps
        return f"{steps:,} steps of {H:g} s in {len(self.clocks.pairs)} scenes; {each:.0f} µs each."

    def measure(self) -> list[tuple[Pair, complex, complex]]:
        """Pairs with the exponents that they have and should have, if enough of a swing was seen to tell."""
        if not self.results and self.clocks.time >= 0.5 * SHOWN * (1.0 - 1e-9):
            self.results = [(pair, pair.fitted(), pair.due()) for pair in self.clocks.pairs]
        return self.results

    def table(self) -> list[tuple[str, str, str]]:
        rows = []
        for k, (pair, got, due) in enumerate(self.measure()):
            unit = "N/m" if pair.kind == "stretch" else "N m/rad"
            name = f"{pair.kind}, {NAMES[pair.stiffness]} {unit}" + (
                ", backward" if pair.stepping == "backward" else ""
            )
            exact = f" (exact {pair.period:.5g} s, published {PUBLISHED[pair.kind][k % 3]})" if k < 6 else ""
            rows.append((f"{name}: period", f"{period(got):.5g} s", f"{period(due):.5g} s{exact}"))
            rows.append(("  left of the swing after five", f"{left(got):.4f}", f"{left(due):.4f}"))
        return rows

    def check(self) -> list[str]:
        wrong = []
        for pair, got, due in self.measure():
            name = f"{pair.kind}, {NAMES[pair.stiffness]}, {pair.stepping}"
            if not abs(period(got) / period(due) - 1.0) <= 1e-3:
                wrong.append(f"{name}: the period is {period(got):.5g} s, not {period(due):.5g} s")
            if not abs(left(got) - left(due)) <= 0.01:  # a box turns by 2 atan(w h/2) in a step
                wrong.append(f"{name}: {left(got):.4f} of the swing is left, not {left(due):.4f}")
            if pair.stepping == "spook" and not left(got) >= 0.8:
                wrong.append(f"{name}: only {left(got):.2f} of the swing is left after five periods")
        for pair in self.clocks.pairs:
            name = f"{pair.kind}, {NAMES[pair.stiffness]}, {pair.stepping}"
            energy = np.add(pair.kinetic, pair.elastic)
            if not energy.max() <= (1.0 + 1e-4) * energy[0]:
                wrong.append(f"{name}: energy grows from {energy[0]:.6g} J to {energy.max():.6g} J")
            momentum = float(np.abs(pair.low.velocity + pair.high.velocity).max())
            if not momentum <= 1e-9:
                wrong.append(f"{name}: the pair drifts away at {momentum:.1e} m/s")
        return wrong

    def findings(self) -> str:
        if not self.measure():
            return "energy does not grow, nothing drifts away; for the periods half a swing must be seen."
        ours, theirs = self.measure()[2][1], self.measure()[8][1]
        return (
            "periods and amplitudes are those of the scheme, energy does not grow, nothing drifts away; after five "
            f"periods at 1e6 N/m {100.0 * left(ours):.0f} % of the swing is left, in the backward form "
            f"{100.0 * left(theirs):.1f} %."
        )

    # ------------------------------------------------------------------------------------------------------ pictures

    def stage(self, size: tuple[int, int], height: int) -> Stage:
        from sennit.export.painting import Camera, Stage
        from sennit.export.solids import floor

        camera = Camera(
            (0.0, -46.0, 12.0), (0.0, 0.0, 5.4), size=size, width=31.5, centre=(0.5, 0.545 * height / size[1]),
        )  # fmt: skip
        ground = floor(camera, (-80.0, -30.0), (80.0, 60.0))
        stage = Stage(camera, PAPER, ground)
        stage.polygon(ground, (228, 232, 236))
        return stage

    def labels(self, look: list[float]) -> list[tuple[FloatArray, str]]:
        texts = []
        for x, pair in zip(PLACES, self.clocks.pairs, strict=False):
            unit = "N/m" if pair.kind == "stretch" else "N m/rad"
            pace = pair.period / SHOWN
            shown = f"{pace:.2g}x faster" if pace > 1.0 else f"{1.0 / pace:.2g}x slower"
            texts.append((np.array((x, -3.0, -0.3)), f"{NAMES[pair.stiffness]} {unit}\n{shown}"))
        return texts

    def paint(self, look: list[float]) -> Facets:
        from sennit.export.facets import Facets
        from sennit.export.solids import block, rope

        plain = (134, 178, 222)
        parts = []
        for x, pair, value in zip(PLACES, self.clocks.pairs, look, strict=False):
            gap = LENGTH + PULL + (value if pair.kind == "stretch" else 0.0)
            angle = value / 2.0 if pair.kind == "twist" else 0.0
            ends = [np.array((x, 0.0, MIDDLE + side * gap / 2.0)) for side in (-1.0, 1.0)]
            for side, end in zip((-1.0, 1.0), ends, strict=True):
                c, s = math.cos(side * angle + 0.35), math.sin(side * angle + 0.35)
                axes = np.array(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)))
                middle = end + np.array((0.0, 0.0, side * EDGE / 2.0))
                parts.append(block(middle, axes, (EDGE,) * 3, plain if pair.kind == "stretch" else FACES, pieces=2))
            line = np.array(ends)
            turn = (-angle, angle) if pair.kind == "twist" else None
            parts.append(rope(line, 0.13, (214, 178, 96), piece=0.2, turn=turn, sides=8))
        return Facets.joined(parts)


class Bench(Validation):
    """What a page shows: a pair that stretches its cable and one that twists it, with sliders for the stiffness."""

    headline = "Two boxes on a cable"
    title = "Two boxes of 1,000 kg on a cable of 4 m, without gravity: one pair stretches it, the other twists it."
    step = H
    camera = ((4.0, -22.0, 8.5), (0.0, 0.0, MIDDLE))
    ground = 0.0

    def __init__(self) -> None:
        super().__init__()
        self.scene = sn.Scene(gravity=(0.0, 0.0, 0.0))
        self.stretched = Pair("stretch", 1e3, scene=self.scene, middle=(-3.5, 0.0, MIDDLE))
        self.twisted = Pair("twist", 1e3, scene=self.scene, middle=(3.5, 0.0, MIDDLE))

    def furnish(self) -> None:
        scene = self.scene
        for pair in (self.stretched, self.twisted):
            for box, place in zip((pair.low, pair.high), pair.places, strict=True):
                # soft enough not to be seen in the swing, it brings back what was pushed away
                scene.add(sn.Fix(box.at(), place, compliance=1.0 / (MASS * LEASH**2), damping=0.2 * MASS * LEASH))
                self.decorate(block_of(pair.kind), instead_of=box, name=f"{box.name}, {pair.kind}")
        scene.control("stretch stiffness, 10^", self.stiffen_stretch, 3.0, range=(2.0, 6.0), unit="N/m")
        scene.control("twist stiffness, 10^", self.stiffen_twist, 3.0, range=(1.0, 6.0), unit="N·m/rad")
        scene.control("swing", lambda: self.stretched.swing(SWING))
        scene.control("turn", lambda: self.twisted.swing(self.turns()))
        scene.control("drag", self.slow, 0.0, range=(0.0, 0.5), unit="1/s")
        scene.watch("cable stretched by", lambda: self.stretched.cable.elongation, unit="m")
        scene.watch("its tension", lambda: 1e-3 * self.stretched.cable.tension, unit="kN")
        scene.watch("cable twisted by", lambda: self.twisted.cable.twist, unit="rad")

    def turns(self) -> float:
        """How far the boxes are turned against each other: less where the cable is stiffer, rad."""
        return float(np.interp(math.log10(self.twisted.stiffness), (1.0, 3.0, 6.0), (17.3, 4.0, 0.5)))

    def stiffen_stretch(self, power: float) -> None:
        """Let the first cable have a stiffness of 10 to this `power` (N/m), and pull it to the same balance."""
        pair = self.stretched
        pair.stiffness = 10.0**power
        pair.cable.compliance = 1.0 / pair.stiffness
        for side, load in zip((-1.0, 1.0), pair.pulls, strict=True):
            load.force = (0.0, 0.0, side * pair.stiffness * PULL)

    def stiffen_twist(self, power: float) -> None:
        """Let the second cable have a stiffness against twist of 10 to this `power` (N·m/rad)."""
        self.twisted.stiffness = 10.0**power
        self.twisted.cable.angular_compliance = 1.0 / self.twisted.stiffness

    def slow(self, drag: float) -> None:
        """Slow everything down, 1/s."""
        self.scene.drag = drag


def block_of(kind: Kind) -> Facets:
    """A box about the origin; where it turns, with a colour for each of its sides."""
    from sennit.export.solids import block

    return block(np.zeros(3), np.eye(3), (EDGE,) * 3, FACES if kind == "twist" else (134, 178, 222), pieces=1)


add_arguments, main, play = offered(Validation, seconds=5.0, paged=Bench)
