# ruff: noqa: E501 - lines of programs, as they are printed
"""Random scenes as programs: every line is a statement of Python that can be pasted after the lines of `HEADER`.

A program is a list of lines that builds a scene of all kinds of bodies and constraints and then runs and edits it. What
makes no sense (a cable round a sheave that stands in its own way, a body that was removed) is left in: sennit has to
refuse it. Numbers have few digits, so that what is printed is what ran.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from random import Random

from .random_edits import INTEGRATORS, Edits

HEADER = (
    "import math",
    "import numpy as np",
    "import sennit as sn",
    "from unit.scene.kit import tissue",
)
MATERIALS = (
    "sn.Material(1e7, 0.4, 1000, relaxation_time=0.02)",
    "sn.Material(2e11, 0.3, 7850)",
    "sn.Material(2e5, 0.49, 900)",
    "sn.Material(3e9, 0.35, 1150, relaxation_time=1e-4)",
    "sn.Material(1e8, 0.2, 10)",
)
SECTIONS = (
    "sn.Section.circle(5e-3)",
    "sn.Section.circle(3e-4)",
    "sn.Section.rectangle(0.01, 2e-3)",
    "sn.Section.tube(8e-3, 6e-3)",
)
FOURTH = 0.25
TAKES_ENERGY = re.compile(r", (?:relaxation_time|damping|angular_damping|friction|sliding_drag)=[\w.+-]+")
"""What leaves a step of fourth order to "bdf2"."""
BOUNDS = ("equal", "at_most", "at_least")
TETRAHEDRON = "[(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]"


def digits(value: float, count: int = 3) -> float:
    """`value` with few digits."""
    return float(f"{value:.{count}g}")


@dataclass
class Writer(Edits):
    """Writes one program. `calm`: nothing drives, nothing jumps, joints are made where their points are."""

    random: Random
    calm: bool = False
    free: bool = False
    """Whether nothing may be held by the world."""
    later: Random = field(default_factory=lambda: Random(1))
    """For what came to the vocabulary later: programs of a seed that do not use it stay as they were."""
    composed: Random = field(default_factory=lambda: Random(2))
    """Chooses where "fourth" takes the place of another scheme, for the same reason."""
    newest: Random = field(init=False)
    """Likewise, of each program its own: for what bodies become."""
    lines: list[str] = field(default_factory=list)
    names: dict[str, list[str]] = field(default_factory=dict)
    lengths: dict[str, float] = field(default_factory=dict)
    """Of rods."""
    count: int = 0

    def __post_init__(self) -> None:
        self.newest = Random(repr(self.random.getstate()[1][:4]))

    # ------------------------------------------------------------------------------------------------------ numbers

    def pick(self, options):
        return options[self.random.randrange(len(options))]

    def chance(self, part: float) -> bool:
        return self.random.random() < part

    def real(self, low: float, high: float) -> float:
        return digits(self.random.uniform(low, high))

    def scale(self, low: float, high: float) -> float:
        """A positive number, all magnitudes alike."""
        return digits(math.exp(self.random.uniform(math.log(low), math.log(high))))

    def vector(self, size: float = 1.0) -> str:
        return "(" + ", ".join(repr(self.real(-size, size)) for _ in range(3)) + ")"

    def pose(self) -> str:
        return f"sn.Pose({self.vector()}, ({self.real(0.1, 1)}, *{self.vector()}))"

    def scheme(self, options: tuple[str, ...]) -> str:
        """One of `options`, or "fourth" in one of four cases."""
        chosen = self.pick(options)
        return "fourth" if self.composed.random() < FOURTH else str(chosen)

    def name(self, kind: str) -> str:
        self.count += 1
        name = f"{kind}{self.count}"
        self.names.setdefault(kind, []).append(name)
        return name

    def some(self, kind: str) -> str | None:
        have = self.names.get(kind)
        return self.pick(have) if have else None

    def write(self, line: str) -> None:
        self.lines.append(line)

    # ------------------------------------------------------------------------------------------------------- bodies

    def rod(self) -> None:
        name, length = self.name("rod"), self.real(0.1, 1.5)
        start = [self.real(-1, 1) for _ in range(3)]
        way = self.pick(((1, 0, 0), (0, 1, 0), (0, 0, -1), (0.6, 0, 0.8)))
        end = tuple(digits(a + length * b, 6) for a, b in zip(start, way, strict=True))
        common = f"section={self.pick(SECTIONS)}, material={self.pick(MATERIALS)}, control_points={self.count_points()}"
        self.lengths[name] = length
        kind = self.pick(("straight", "straight", "discrete", "through", "closed"))
        if kind == "closed":
            radius = self.real(0.05, 0.4)
            ring = f"[({radius} * math.cos(k), {radius} * math.sin(k), 0.1 * k % 0.2) for k in np.arange(0, 6.2, 0.4)]"
            self.lengths[name] = 6 * radius
            self.write(f"{name} = scene.add(sn.Rod.through({ring}, {common}, closed=True))")
        elif kind == "through":
            curve = f"[({start[0]} + {length} * u, 0.2 * math.sin(6 * u), {start[2]} + u * u) for u in np.linspace(0, 1, 20)]"
            straight = ", straight=True" if self.chance(0.3) else ""
            self.write(f"{name} = scene.add(sn.Rod.through({curve}, {common}{straight}))")
        else:
            more = ', model="discrete"' if kind == "discrete" else ""
            if self.chance(0.2):
                more += f", rest_curvature={self.vector(5)}"
            self.write(f"{name} = scene.add(sn.Rod.straight({tuple(start)}, {end}, {common}{more}))")

    def count_points(self) -> int:
        return self.pick((5, 6, 8, 12, 20))

    def rigid(self) -> None:
        name, where = self.name("body"), self.vector()
        mass = self.scale(1e-2, 1e3) if self.chance(0.3) else self.scale(0.1, 10)
        forms = (
            f"box(({self.real(0.05, 0.4)}, {self.real(0.05, 0.4)}, {self.real(0.05, 0.4)}), mass={mass}, position={where})",
            f"sphere({self.real(0.02, 0.3)}, mass={mass}, position={where})",
            f"cylinder({self.real(0.02, 0.2)}, {self.real(0.05, 0.5)}, mass={mass}, pose={self.pose()})",
            f"from_inertia({mass}, ({digits(0.01 * mass)}, {digits(0.012 * mass)}, {digits(0.015 * mass)}), position={where})",
            f"from_mesh({TETRAHEDRON}, mass={mass}, position={where})",
        )
        self.write(f"{name} = scene.add(sn.RigidBody.{self.pick(forms)})")
        if self.chance(0.4):
            self.write(f"{name}.velocity = {self.vector(2)}")
        if self.chance(0.4):
            self.write(f"{name}.angular_velocity = {self.vector(self.pick((2, 20)))}")

    def slider(self) -> None:
        rod = self.some("rod")
        if rod is None:
            return
        at = digits(self.lengths[rod] * self.random.random())
        more = f", friction={self.real(0, 1)}" if self.chance(0.4) else ""
        more += f", sliding_drag={self.scale(1e-3, 1)}" if self.chance(0.3) else ""
        if self.chance(0.15) and not self.calm:
            more += f", speed={self.real(-1, 1)}"
        if self.chance(0.5):
            radius = digits(self.lengths[rod] * self.real(0.005, 0.08))
            bounce = self.pick((0, 0.5, 1))
            made = f"sn.Pearl({rod}, {at}, mass={self.scale(1e-3, 0.1)}, radius={radius}, restitution={bounce}{more})"
        else:
            mass = f", mass={self.scale(1e-3, 0.1)}" if self.chance(0.6) else ""
            made = f"sn.Slider({rod}, {at}{mass}{more})"
        self.write(f"{self.name('slider')} = scene.add({made})")

    def zone(self) -> None:
        name = self.name("zone")
        body = self.some("body")
        carrier = f"{body}.at({self.vector(0.1)})" if body and self.chance(0.5) else None
        if carrier is None:
            if self.free:
                return
            carrier = f"sn.World.at({self.pose()})"
        material = f"sn.Material({self.scale(1e3, 1e6)}, 0.45, 1000, relaxation_time={self.pick((0.0, 0.05))})"
        self.write(f"{name} = scene.add(tissue().with_material({material}), on={carrier})")

    def world(self) -> None:
        place = self.vector() if self.chance(0.5) else self.pose()
        self.write(f"{self.name('world')} = sn.World.at({place})")

    def body(self) -> None:
        makers = (self.rod, self.rod, self.rigid, self.rigid, self.slider, self.zone)
        self.pick(makers)()

    # ------------------------------------------------------------------------------------------------------- points

    def moving(self) -> str | None:
        """A point of something that moves."""
        kind = self.pick(("rod", "rod", "body", "body", "slider", "zone"))
        name = self.some(kind)
        if name is None:
            name = self.some("rod") or self.some("body")
            if name is None:
                return None
            kind = "rod" if name.startswith("rod") else "body"
        if kind == "rod":
            part = self.pick((0.0, 1.0, self.real(0, 1)))
            return f"{name}.at({part} * {name}.length)"
        if kind == "body":
            return f"{name}.at({self.pick(('', self.vector(0.2)))})"
        if kind == "slider":
            return f"{name}.at()"
        place = f"({self.real(0.02, 0.28)}, {self.real(0.02, 0.18)}, 0.1)"
        return f"{name}.at({place}{self.pick(('', ', radius=0.12'))})"

    def any_point(self) -> str | None:
        if not self.free and self.chance(0.3):
            world = self.some("world")
            return world if world and self.chance(0.6) else f"sn.World.at({self.vector()})"
        return self.moving()

    # -------------------------------------------------------------------------------------------------- constraints

    def softness(self, angular: bool = False) -> str:
        text = ""
        for prefix in ("", "angular_") if angular else ("",):
            if self.chance(0.35):
                text += f", {prefix}compliance={self.soft()}"
            if self.chance(0.3):
                text += f", {prefix}damping={self.scale(1e-3, 1e3)}"
        return text

    def soft(self) -> str:
        return "math.inf" if self.chance(0.1) else str(self.scale(1e-8, 1))

    def bound(self) -> str:
        return f', bound="{self.pick(BOUNDS)}"'

    def limits(self) -> str:
        return f", limits=({self.real(-1, -0.01)}, {self.real(0.01, 1)})" if self.chance(0.4) else ""

    def motor(self, unit: str) -> str:
        if self.calm or self.chance(0.5):
            return ""
        limit = f", max_{unit}={self.scale(1e-2, 1e3)}" if self.chance(0.7) else ""
        return f", motor=sn.Motor({self.real(-3, 3)}{limit})"

    def held(self) -> None:
        """A point held in the world, or relative to another."""
        p = self.moving()
        if p is None:
            return
        of = f", of={self.any_point()}" if self.chance(0.3) or self.free else ""
        direction, angular = self.vector(), self.softness(True)
        target = "" if self.calm or self.chance(0.7) else f", {self.vector()}"
        choices = [
            ("plane", f"sn.OnPlane({p}, {direction}{target}{of}{self.bound()}{self.softness()})"),
            ("axis", f"sn.OnAxis({p}, {direction}{of}{self.softness()})"),
            (
                "align",
                f"sn.Align({p}{'' if self.calm else ', ' + direction}{of}{''.join(angular.partition(', angular')[1:])})",
            ),
        ]
        if not self.free:
            choices += [
                ("fix", f"sn.Fix({p}{target}{self.softness()})"),
                ("fix", f"sn.Fix({p}{self.softness()})"),
                ("clamp", f"sn.Clamp({p}{angular})"),
            ]
            if not self.calm:
                choices += [
                    (
                        "sphere",
                        f"sn.OnSphere({p}, {self.vector()}, {self.real(0.05, 1)}{self.bound()}{self.softness()})",
                    ),
                    (
                        "circle",
                        f"sn.OnCircle({p}, {self.vector()}, {direction}, {self.real(0.05, 1)}{self.softness()})",
                    ),
                    (
                        "follow",
                        f"sn.Follow({p}, lambda t: ({self.real(-1, 1)} + 0.1 * math.sin(5 * t), 0.1 * t, 0.5){angular})",
                    ),
                ]
        kind, made = self.pick(choices)
        self.write(f"{self.name(kind)} = scene.add({made})")

    def joined(self) -> None:
        p, q = self.moving(), self.any_point()
        if p is None or q is None:
            return
        axis, angular = self.vector(), self.softness(True)
        length = "" if self.calm or self.chance(0.6) else f", {self.real(0.01, 1)}"
        choices = [
            (
                "distance",
                f"sn.Distance({p}, {q}{length}{self.bound()}{self.softness()}, restitution={self.pick((0, 0, 1))})",
            ),
            ("distance", f"sn.Distance({p}, {q}{length}{self.bound()}{self.softness()})"),
            ("prismatic", f"sn.Prismatic({p}, {q}, {axis}{self.limits()}{self.motor('force')}{angular})"),
        ]
        if not self.calm:  # these close a gap at once
            choices += [
                ("fuse", f"sn.Fuse({p}, {q}{angular})"),
                ("fuse", f"sn.Fuse({p}, {q}, False{self.softness()})"),
                ("lock", f"sn.Lock({p}, {q}{angular})"),
                ("ball", f"sn.Ball({p}, {q}{self.softness()})"),
                ("hinge", f"sn.Hinge({p}, {q}, {axis}{self.limits()}{self.motor('torque')}{angular})"),
            ]
        kind, made = self.pick(choices)
        if kind == "prismatic" and self.later.random() < 0.5:
            lead = self.later.choice((-1, 1)) * digits(10.0 ** self.later.uniform(-3, 0))
            kind, made = "screw", f"sn.Screw({p}, {q}, {axis}, lead={lead}{angular})"
        self.write(f"{self.name(kind)} = scene.add({made})")

    def keyhole(self) -> None:
        rod = self.some("rod")
        if rod is None:
            return
        at = digits(self.lengths[rod] * self.real(0.05, 0.95))
        own = f"{rod}.at({at}).position"  # a hole elsewhere is closed up to at once
        hole = f"sn.World.at({own})" if self.calm or self.chance(0.5) else self.any_point()
        more = f", friction={self.real(0, 1)}" if self.chance(0.4) else ""
        more += f", sliding_drag={self.scale(1e-3, 1)}" if self.chance(0.3) else ""
        more += f", direction={self.vector()}" if self.chance(0.2) and not self.calm else ""
        more += f", speed={self.real(-0.5, 0.5)}" if self.chance(0.15) and not self.calm else ""
        self.write(f"{self.name('keyhole')} = scene.add(sn.Keyhole({rod}, {at}, {hole}{more}{self.softness()}))")

    def cable(self) -> None:
        entries = []
        for i in range(self.pick((2, 2, 3, 4))):
            point = self.any_point()
            if point is None:
                return
            if i and self.chance(0.4):
                more = f", inertia={self.scale(1e-4, 0.1)}" if self.chance(0.4) else ""
                more += f", friction={self.real(0, 1)}" if self.chance(0.5) else ""
                more += ", fixed=True" if self.chance(0.3) else ""
                more += f", turns={self.pick((1, 2))}" if self.chance(0.2) else ""
                entries.append(f"sn.Sheave({point}, {self.vector()}, {self.real(0.01, 0.15)}{more})")
            else:
                entries.append(point)
        if entries[-1].startswith("sn.Sheave"):
            entries.append(self.any_point() or entries[0])
        stiffness = self.pick((
            "section=sn.Section.circle(2e-3), material=sn.Material(2e11, 0.3, 7850)",
            f"stretch_stiffness={self.scale(1, 1e8)}",
            "stretch_stiffness=math.inf",
            f"stretch_stiffness={self.scale(10, 1e6)}, twist_stiffness={self.scale(1e-3, 10)}",
        ))  # fmt: skip
        more = f", breaking_load={self.scale(1, 1e4)}" if self.chance(0.25) else ""
        more += f", length={self.real(0.5, 4)}" if self.chance(0.25) and not self.calm else ""
        more += f", damping={self.scale(1e-2, 100)}" if self.chance(0.25) else ""
        more += f", longest={self.real(2, 6)}" if self.chance(0.2) else ""
        body = self.some("body")
        more += f", around=[{body}]" if body and self.chance(0.25) else ""
        self.write(f"{self.name('cable')} = scene.add(sn.Cable([{', '.join(entries)}], {stiffness}{more}))")

    def load(self) -> None:
        p = self.moving()
        if p is None:
            return
        torque = f", torque={self.vector(self.pick((0.01, 1)))}" if self.chance(0.3) else ""
        follower = ", follower=True" if self.chance(0.3) else ""
        self.write(
            f"{self.name('load')} = scene.add(sn.Load({p}, force={self.vector(self.pick((0.1, 10)))}{torque}{follower}))"
        )

    def tie(self) -> None:
        makers = [self.held, self.held, self.joined, self.joined, self.cable]
        if not self.free:
            makers.append(self.keyhole)
        if not self.calm:
            makers.append(self.load)
        self.pick(makers)()

    def step(self) -> None:
        self.write(f"scene.step({self.scale(1e-4, 0.05)})")


def wild(seed: int, steps: int = 25) -> list[str]:
    """A program with everything: lines after those of `HEADER`."""
    w = Writer(Random(seed), composed=Random(f"composed {seed}"))
    gravity = w.pick(("", "gravity=(0, 0, 0)", f"gravity={w.vector(20)}"))
    options = [gravity] if gravity else []
    options += [f"drag={w.scale(0.01, 10)}"] if w.chance(0.3) else []
    options.append(f'integrator="{w.scheme(INTEGRATORS)}"')
    w.write(f"scene = sn.Scene({', '.join(options)})")
    for _ in range(w.pick((1, 2, 3, 5))):
        w.body()
    if w.chance(0.6):
        w.world()
    for _ in range(w.pick((0, 1, 2, 4, 6))):
        w.tie()
    done = 0
    while done < steps:
        for _ in range(w.pick((1, 2, 5))):
            w.step()
            done += 1
        for _ in range(w.pick((0, 1, 2))):
            w.edit()
        w.become()
    return _spared(w)


SINGLE = ("euler", "midpoint")
"""Those that look one step back only: "bdf2" can gain energy where a rod springs back while it is caught. (Steps of
"fourth" that are left to it begin afresh.)"""


def calm(seed: int, steps: int = 40) -> list[str]:
    """A program in which nothing drives, nothing jumps and everything is damped: its energy can only fall."""
    w = Writer(Random(seed), calm=True, composed=Random(f"composed {seed}"))
    w.write(f'scene = sn.Scene(drag={w.scale(0.1, 5)}, integrator="{w.scheme(SINGLE)}")')
    return _undisturbed(w, steps, w.pick((1, 2, 3, 5)))


def free(seed: int, steps: int = 40) -> list[str]:
    """A program in which nothing is held, pulled or slowed by the world: its momentum stays."""
    w = Writer(Random(seed), calm=True, free=True, composed=Random(f"composed {seed}"))
    w.write(f'scene = sn.Scene(gravity=(0, 0, 0), integrator="{w.scheme(SINGLE)}")')
    return _undisturbed(w, steps, w.pick((1, 2, 3)))


def _undisturbed(w: Writer, steps: int, ties: int) -> list[str]:
    for _ in range(w.pick((2, 3, 4))):
        w.body()
    for _ in range(ties):
        w.tie()
    h = w.scale(5e-4, 1e-2)
    for _ in range(steps):
        w.write(f"scene.step({h})")
    return _spared(w)


def _spared(w: Writer) -> list[str]:
    """The lines; of half of those that begin in steps of fourth order without what would leave these to "bdf2"."""
    if '"fourth"' not in w.lines[0] or w.composed.random() < 0.5:
        return w.lines
    return [TAKES_ENERGY.sub("", line) for line in w.lines]
