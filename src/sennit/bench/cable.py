"""How long a step with hoisting cables takes, and how a hoist compares with a rod and with MuJoCo's tendon.

The hoist is 1,000 kg on 4 m of steel cable, 10 mm thick. Its load swings as a pendulum and bounces on the cable's
stretch; both periods have closed forms. A rod of 50 elements has the same EA, and mass besides, which its closed forms
take into account. MuJoCo's spatial tendon is a spring of the same stiffness that does not push.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
from scipy.special import ellipk

import sennit as sn
from sennit.bench.micado import OWN, Stepped
from sennit.bench.table import Case, Progress, Seconds, Table, growth_exponent, measure
from sennit.validation import FloatArray

__all__ = ["DESCRIPTION", "run"]

DESCRIPTION = (
    "Times a step against the number of bodies on one cable; what one cable adds to a crane of 20 bodies; and a hoist "
    "beside a rod of 50 elements and MuJoCo's spatial tendon: cost, periods of swing and bounce, largest step. MuJoCo "
    "comes with the extra 'bench'; without it, its row is left out."
)

G = 9.81
MASS, LENGTH = 1000.0, 4.0
STEEL = sn.Material(youngs_modulus=200e9, poisson_ratio=0.3, density=7850)
WIRE = sn.Section.circle(radius=5e-3)
EA = STEEL.youngs_modulus * WIRE.area
REACH = LENGTH * (1.0 + MASS * G / EA)
"""Length of the hoist's cable under the load's weight, m."""


def run(progress: Progress) -> list[Table]:
    """Time everything; about a minute and a half, and the compilation on top of it the first time."""
    return [bodies(progress), crane(progress), hoists(progress)]


class Steps(Stepped):
    """Steps of a scene as something to time, without the first one after it went back to its start."""

    def prepare(self) -> None:
        """Go back to the start, if it is time, and take a step: outside the clock."""
        back = self.done >= self.steps
        super().prepare()
        if back:
            self.scene.step(self.dt)


def timed(
    title: str,
    scenes: Mapping[str, Steps],
    values: Mapping[str, Mapping[str, float | str]],
    *,
    baseline: str | None,
    samples: int,
    seconds: float,
    progress: Progress,
) -> Table:
    """Table of a step of each scene, with the calling thread's own time."""
    cases = [Case(name, one, prepare=one.prepare, values=values[name]) for name, one in scenes.items()]
    table = measure(title, cases, per="step", samples=samples, seconds=seconds, progress=progress)
    rows = []
    for row in table.rows:
        own = Seconds(np.median(scenes[row.name].own))
        rows.append(replace(row, values={**row.values, "own": own}))
    return Table(title, rows, per="step", baseline=baseline, notes=[OWN])


def own_median(table: Table, name: str) -> float:
    """Median of the calling thread's own time in a row, s."""
    return float(table[name].values["own"])


# ------------------------------------------------------------------------------------------------ bodies on one cable


def strung(count: int, mass: float) -> sn.Scene:
    """Rings of `mass` (kg) on one cable between two anchors, in a slight zigzag that nothing holds.

    There is no gravity: under it, rings that slide freely would all gather in the middle.
    """
    scene = sn.Scene(gravity=(0.0, 0.0, 0.0))
    rng = np.random.default_rng(1)
    rings = []
    for k in range(count):
        place = (float(k + 1), 1e-3 if k % 2 else -1e-3, 0.0)
        ring = scene.add(sn.RigidBody.sphere(0.05, mass=mass, position=place))
        ring.velocity = 1e-3 * rng.normal(size=3)
        rings.append(ring)
    places = [sn.World.at((0.0, 0.0, 0.0)), *(ring.at() for ring in rings), sn.World.at((count + 1.0, 0.0, 0.0))]
    way = float(np.linalg.norm(np.diff([place.position for place in places], axis=0), axis=1).sum())
    # Stretched by a twentieth and pulling with 100 N, however long it is
    scene.add(sn.Cable(places, stretch_stiffness=100.0 / (0.05 * way), torsion=False, length=0.95 * way))
    return scene


def bodies(
    progress: Progress,
    counts: Sequence[int] = (2, 20, 200, 2000, 10_000),
    *,
    samples: int = 100,
    seconds: float = 20.0,
) -> Table:
    """The cost of a step against the number of bodies on one cable: heavy rings, and some that need its stiffness."""
    title = "Rings on one cable, one step"
    scenes: dict[str, Steps] = {}
    values: dict[str, dict[str, float | str]] = {}
    # (ωh)² of the taut spans is 0.005 and 5 at this step
    for k, (what, mass) in enumerate((("1 kg", 1.0), ("1 g", 1e-3))):
        for count in counts:
            progress(title, 0.1 * k)
            name = f"{count:,} rings of {what}"
            scenes[name] = Steps(strung(count, mass), 5e-3, steps=20)
            values[name] = {"DOF": scenes[name].scene.dofs}
    table = timed(title, scenes, values, baseline=None, samples=samples, seconds=seconds, progress=progress)
    large = [count for count in counts if count >= 200] if len(counts) > 3 else list(counts)
    for what in ("1 kg", "1 g"):
        times = [own_median(table, f"{count:,} rings of {what}") for count in large]
        exponent = growth_exponent(large, times)
        table.aim(f"growth exponent of the own time from {large[0]} rings on, {what}", exponent, at_most=1.1)
    return table


# ------------------------------------------------------------------------------------------------------------- a crane


@dataclass(frozen=True, slots=True)
class Crane:
    """A tower crane of 20 rigid bodies: 16 locks, two hinges with motors, and a load under the jib's tip."""

    scene: sn.Scene
    winch: sn.Point
    head: sn.Point
    tip: sn.Point
    load: sn.RigidBody


def build_crane() -> Crane:
    """A mast of six parts, a turntable, a jib of eight and a counter-jib of three, a counterweight, the load."""
    scene = sn.Scene()

    def part(size: tuple[float, float, float], mass: float, place: tuple[float, float, float]) -> sn.RigidBody:
        return scene.add(sn.RigidBody.box(size, mass=mass, position=place))

    mast = [part((1.0, 1.0, 2.0), 800.0, (0.0, 0.0, 2.0 * k + 1.0)) for k in range(6)]
    table = part((1.0, 1.0, 0.5), 600.0, (0.0, 0.0, 12.25))
    jib = [part((2.0, 0.6, 0.6), 200.0, (1.5 + 2.0 * k, 0.0, 12.25)) for k in range(8)]
    back = [part((2.0, 0.6, 0.6), 200.0, (-1.5 - 2.0 * k, 0.0, 12.25)) for k in range(3)]
    weight = part((1.0, 1.0, 1.0), 6000.0, (-7.0, 0.0, 12.25))
    load = part((1.0, 1.0, 1.0), MASS, (16.5, 0.0, 7.75))
    scene.add(sn.Clamp(mast[0].at((0.0, 0.0, -1.0))))
    for lower, upper in zip(mast[:-1], mast[1:], strict=True):
        scene.add(sn.Lock(upper.at((0.0, 0.0, -1.0)), lower.at((0.0, 0.0, 1.0))))
    scene.add(sn.Hinge(table.at((0.0, 0.0, -0.25)), mast[-1].at((0.0, 0.0, 1.0)), (0.0, 0.0, 1.0), motor=0.1))
    scene.add(sn.Hinge(jib[0].at((-1.0, 0.0, 0.0)), table.at((0.5, 0.0, 0.0)), (0.0, 1.0, 0.0), motor=0.0))
    for inner, outer in zip(jib[:-1], jib[1:], strict=True):
        scene.add(sn.Lock(outer.at((-1.0, 0.0, 0.0)), inner.at((1.0, 0.0, 0.0))))
    scene.add(sn.Lock(back[0].at((1.0, 0.0, 0.0)), table.at((-0.5, 0.0, 0.0))))
    for inner, outer in zip(back[:-1], back[1:], strict=True):
        scene.add(sn.Lock(outer.at((1.0, 0.0, 0.0)), inner.at((-1.0, 0.0, 0.0))))
    scene.add(sn.Lock(weight.at((0.5, 0.0, 0.0)), back[-1].at((-1.0, 0.0, 0.0))))
    return Crane(scene, back[0].at((-0.5, 0.0, 0.4)), table.at((0.0, 0.0, 1.0)), jib[-1].at((0.8, 0.0, 0.0)), load)


def rig(kind: str) -> sn.Scene:
    """The crane, and its hoisting cable in the named form: none, over points, over sheaves, with torsion."""
    made = build_crane()
    if kind == "crane":
        return made.scene
    over: list[sn.Point | sn.Sheave] = [made.head, made.tip]
    if kind != "cable over points":
        over = [sn.Sheave(point, axis=(0.0, 1.0, 0.0), radius=0.2) for point in (made.head, made.tip)]
    ends = made.winch, made.load.at((0.0, 0.0, 0.5))
    made.scene.add(sn.Cable([ends[0], *over, ends[1]], WIRE, STEEL, torsion=kind == "cable over sheaves, torsion"))
    return made.scene


def shares(scenes: Mapping[str, Steps], baseline: str, rounds: int, each: int = 10) -> dict[str, float]:
    """What each scene's step takes beyond that of the scene `baseline`, over it: own time, by turns of `each` steps."""
    times: dict[str, list[float]] = {name: [] for name in scenes}
    for _ in range(rounds):
        for name, one in scenes.items():
            for _ in range(each):
                one.prepare()
                one()
            times[name].append(float(np.median(one.own[-each:])))
    reference = np.array(times[baseline])
    return {name: float(np.median(np.array(own) / reference)) - 1.0 for name, own in times.items() if name != baseline}


def crane(progress: Progress, *, samples: int = 2000, seconds: float = 12.0) -> Table:
    """What one cable adds to a step of a crane of 20 bodies."""
    title = "A crane of 20 bodies and its hoisting cable, one step"
    kinds = ("crane", "cable over points", "cable over sheaves", "cable over sheaves, torsion")
    scenes = {kind: Steps(rig(kind), 5e-3) for kind in kinds}
    values = {kind: {"DOF": one.scene.dofs, "rows": sum(one.scene.multipliers)} for kind, one in scenes.items()}
    table = timed(title, scenes, values, baseline="crane", samples=samples, seconds=seconds, progress=progress)
    for kind, added in shares(scenes, "crane", rounds=max(samples // 10, 1)).items():
        table.aim(f"{kind}: share that it adds to the own time", added, at_most=0.1)
    table.notes.append("Shares: medians over rounds in which every scene takes ten steps: all find one machine.")
    return table


# ------------------------------------------------------------------------------------------------------------ one hoist


class Hoist(Protocol):
    """A load of `MASS` under the origin that can be started again and again."""

    swing_inertia: float
    """Factor of the swing's squared period that the cable's own mass makes."""
    bounce_mass: float
    """Mass that bounces, kg."""

    def start(self, angle: float, pull: float) -> None:
        """Let go from rest: by `angle` (rad) aside, and stretched as by `pull` times the load's weight."""

    def step(self, dt: float) -> None:
        """Advance by `dt` (s)."""

    def place(self) -> tuple[float, float]:
        """Where the load is: x aside and z up, m."""


class SceneHoist:
    """A hoist in a scene of this library. It is let go from an equilibrium under a force on the load."""

    def __init__(
        self, kind: Literal["cable", "rod"], integrator: Literal["euler", "bdf2"] = "euler", elements: int = 50
    ) -> None:
        self.scene = sn.Scene(integrator=integrator)
        self.load = self.scene.add(sn.RigidBody.sphere(0.1, mass=MASS, position=(0.0, 0.0, -LENGTH)))
        self.swing_inertia, self.bounce_mass = 1.0, MASS
        if kind == "cable":
            top = sn.World.at((0.0, 0.0, 0.0))
            self.scene.add(sn.Cable([top, self.load.at()], WIRE, STEEL, length=LENGTH, torsion=False))
        else:
            bottom = (0.0, 0.0, -LENGTH)
            rod = self.scene.add(
                sn.Rod.straight((0, 0, 0), bottom, section=WIRE, material=STEEL, control_points=elements + 3)
            )
            self.scene.add(sn.Fix(rod.at(0.0)))
            self.scene.add(sn.Ball(self.load.at(), rod.at(rod.length)))
            share = STEEL.density * WIRE.area * LENGTH / MASS
            self.swing_inertia, self.bounce_mass = (1 + share / 3) / (1 + share / 2), MASS * (1 + share / 3)
        self.pull = self.scene.add(sn.Load(self.load.at(), force=(0.0, 0.0, 0.0)))
        self.starts: dict[tuple[float, float], sn.Snapshot] = {}

    def start(self, angle: float, pull: float) -> None:
        key = angle, pull
        if key not in self.starts:
            tension = MASS * G * pull
            self.pull.force = (tension * math.sin(angle), 0.0, MASS * G - tension * math.cos(angle))
            self.scene.settle()
            self.pull.force = (0.0, 0.0, 0.0)
            self.starts[key] = self.scene.snapshot()
        self.scene.restore(self.starts[key])

    def step(self, dt: float) -> None:
        self.scene.step(dt)

    def place(self) -> tuple[float, float]:
        x, _, z = self.load.position
        return float(x), float(z)


class Tendon:
    """The hoist in MuJoCo: a load that slides along three axes, on a spatial tendon that pulls beyond its length."""

    swing_inertia, bounce_mass = 1.0, MASS

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
        self.model = engine.MjModel.from_xml_string(
            f'<mujoco><option gravity="0 0 {-G}"><flag contact="disable"/></option><worldbody><site name="top"/>'
            f'<body>{slides}<inertial pos="0 0 0" mass="{MASS}" diaginertia="4 4 4"/><site name="load"/></body>'
            f'</worldbody><tendon><spatial stiffness="{EA / LENGTH}" springlength="0 {LENGTH}">'
            '<site site="top"/><site site="load"/></spatial></tendon></mujoco>'
        )
        self.data = engine.MjData(self.model)

    def start(self, angle: float, pull: float) -> None:
        self.engine.mj_resetData(self.model, self.data)
        reach = LENGTH * (1.0 + MASS * G * pull / EA)
        self.data.qpos[:] = reach * math.sin(angle), 0.0, -reach * math.cos(angle)

    def step(self, dt: float) -> None:
        self.model.opt.timestep = dt
        self.engine.mj_step(self.model, self.data)

    def place(self) -> tuple[float, float]:
        x, _, z = self.data.qpos
        return float(x), float(z)


def find_mujoco() -> Any:
    """MuJoCo's module, or None."""
    try:
        return importlib.import_module("mujoco")
    except ImportError:
        return None


def motion(hoist: Hoist, angle: float, pull: float, dt: float, seconds: float) -> FloatArray | None:
    """Places (steps + 1, 2) of the load; None if it leaves what it hangs on."""
    hoist.start(angle, pull)
    places = [hoist.place()]
    for _ in range(round(seconds / dt)):
        try:
            hoist.step(dt)
        except (sn.SolveError, sn.InputError):
            return None
        places.append(hoist.place())
        if not math.hypot(*places[-1]) < 1.1 * LENGTH:
            return None
    return np.array(places)


def swing_error(hoist: Hoist, dt: float, seconds: float = 21.0, angle: float = 0.1) -> float:
    """Relative error of the swing's period; not a number if there is none."""
    places = motion(hoist, angle, math.cos(angle), dt, seconds)
    if places is None:
        return math.nan
    x = places[:, 0]
    k = np.flatnonzero((x[:-1] < 0.0) & (x[1:] >= 0.0))
    times = dt * (k + x[k] / (x[k] - x[k + 1]))
    exact = 4.0 * math.sqrt(REACH / G * hoist.swing_inertia) * float(ellipk(math.sin(angle / 2) ** 2))
    return float(np.diff(times).mean()) / exact - 1.0 if len(times) > 1 else math.nan


def bounce(hoist: Hoist, dt: float, seconds: float = 1.0) -> tuple[float, float]:
    """Relative error of the bounce's period, and the part of its amplitude that is left after five periods."""
    places = motion(hoist, 0.0, 1.5, dt, seconds)
    if places is None:
        return math.nan, math.nan
    z = places[:, 1]
    # One mode: z₊ = a z − b z₋ + c
    a, b, _ = np.linalg.lstsq(np.column_stack((z[1:-1], -z[:-2], np.ones(len(z) - 2))), z[2:], rcond=None)[0]
    root = complex(np.roots((1.0, -a, b))[0])
    if root.imag == 0.0:
        return math.nan, math.nan
    period = 2.0 * math.pi * dt / abs(np.angle(root))
    exact = 2.0 * math.pi * math.sqrt(hoist.bounce_mass * LENGTH / EA)
    return float(period / exact - 1.0), float(abs(root) ** (5.0 * period / dt))


def is_stable(hoist: Hoist, dt: float, seconds: float = 10.0, angle: float = 0.2) -> bool:
    """Whether a load that swings and bounces stays where it can be, and swings on within 20 %."""
    places = motion(hoist, angle, 1.5, dt, seconds)
    if places is None:
        return False
    last = places[-math.ceil(4.2 / dt) :, 0]
    return bool(abs(np.abs(last).max() / abs(places[0, 0]) - 1.0) < 0.2)


def largest_step(stable: Callable[[float], bool], first: float = 1 / 240, limit: float = 0.5, rounds: int = 4) -> float:
    """Largest dt for which `stable` holds, by doubling and then by bisection of the ratio; no more than `limit`."""
    good = first
    while not stable(good):
        good *= 0.5
        if good < first / 64:
            return math.nan
    bad = good * 2.0
    while bad <= limit and stable(bad):
        good, bad = bad, bad * 2.0
    if bad > limit:
        if stable(limit):
            return limit
        bad = limit
    for _ in range(rounds):
        middle = math.sqrt(good * bad)
        good, bad = (middle, bad) if stable(middle) else (good, middle)
    return good


class HoistStep:
    """Steps of a hoist as something to time; it is let go anew every `steps`."""

    def __init__(self, hoist: Hoist, dt: float = 1 / 240, steps: int = 200) -> None:
        self.hoist, self.dt, self.steps, self.done = hoist, dt, steps, steps

    def prepare(self) -> None:
        """Begin again, if it is time: outside the clock."""
        if self.done >= self.steps:
            self.hoist.start(0.2, 1.5)
            self.done = 0
        self.done += 1

    def __call__(self) -> None:
        self.hoist.step(self.dt)


def hoists(
    progress: Progress, *, elements: int = 50, samples: int = 2000, seconds: float = 12.0, quick: bool = False
) -> Table:
    """A hoist by cable, by rod and by MuJoCo's tendon; `quick` looks at short runs and few steps only."""
    title = "1,000 kg on 4 m of steel cable, one step of 1/240 s"
    made: dict[str, Hoist] = {
        "cable": SceneHoist("cable"),
        "cable, bdf2": SceneHoist("cable", "bdf2"),
        f"rod of {elements}": SceneHoist("rod", "euler", elements),
        f"rod of {elements}, bdf2": SceneHoist("rod", "bdf2", elements),
    }
    engine = find_mujoco()
    if engine is not None:
        made["MuJoCo's tendon"] = Tendon(engine)
    length, limit, rounds = (9.0, 0.02, 1) if quick else (21.0, 0.5, 4)
    values: dict[str, dict[str, float | str]] = {}
    for k, (name, hoist) in enumerate(made.items()):
        progress(f"{title}: {name}", k / len(made))
        figures = values[name] = {}
        for rate in (60, 240):
            figures[f"swing 1/{rate}"] = signed(swing_error(hoist, 1 / rate, length))
        for rate in (60, 240):
            error, kept = bounce(hoist, 1 / rate)
            figures[f"bounce 1/{rate}"] = signed(error)
            figures[f"kept 1/{rate}"] = kept if kept == kept else "none"

        def stable(dt: float, hoist: Hoist = hoist) -> bool:
            return is_stable(hoist, dt)

        largest = 1e3 * largest_step(stable, limit=limit, rounds=rounds)
        figures["largest dt, ms"] = largest if largest == largest else "none"
    steps = {name: HoistStep(hoist) for name, hoist in made.items()}
    cases = [Case(name, one, prepare=one.prepare, values=values[name]) for name, one in steps.items()]
    table = measure(title, cases, per="step", baseline="cable", samples=samples, seconds=seconds, progress=progress)
    table.notes.append(
        "Swing, bounce: relative error of the period at steps of 1/60 and 1/240 s. Kept: part of the bounce that is "
        f"left after five periods. Largest dt, up to {1e3 * limit:g} ms: of a load that swings (0.2 rad), "
        "bounces for 10 s, stays within 1.1 lengths and swings on within 20 %."
    )
    if engine is None:
        table.notes.append("MuJoCo is not installed (extra 'bench'): its row is left out.")
    return table


def signed(value: float) -> str:
    """An error for a table."""
    return f"{value:+.1e}" if value == value else "none"
