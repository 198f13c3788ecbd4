"""MuJoCo on the tasks in which things touch: chains of capsules with springs in ball joints, and 1-D flexes.

Settings are those that MuJoCo's documentation advises against slip and softness: elliptic cones, `impratio` 10,
contacts with a time constant of two steps ("hard"); and its defaults. A chain's ball joints have one stiffness for
bending and twist, that of bending. The hands are bodies on a slide with a stiff velocity servo, whose force is the
tension.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import common
import contact_measures as measures
import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

Problem = dict[str, Any]
TOOL = f"mujoco {mujoco.__version__}"
SERVO = 1e5  # N s/m


def text(values: Any) -> str:
    """Numbers for an attribute, in full precision."""
    return " ".join(repr(float(value)) for value in np.ravel(values))


def contact_of(kind: str, dt: float) -> str:
    """Attributes of contacts: "hard" or MuJoCo's defaults."""
    return f'solref="{2.0 * dt!r} 1" solimp="0.99 0.999 0.0001"' if kind == "hard" else ""


def compiled(problem: Problem, dt: float, kind: str, world: str, rest: str = "") -> tuple[Any, Any]:
    """A model and its data."""
    gravity = f"0 0 {-problem.get('gravity', 0.0)!r}"
    cone = 'cone="elliptic" impratio="10"' if kind == "hard" else ""
    xml = f"""<mujoco><compiler angle="radian"/><option timestep="{dt!r}" gravity="{gravity}" {cone}
integrator="implicitfast"/><size memory="200M"/><default><geom condim="3" friction="{problem["friction"]!r} 0 0"
{contact_of(kind, dt)}/></default><worldbody>{world}</worldbody>{rest}</mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    return model, mujoco.MjData(model)


def frames_along(points: Any) -> list[Rotation]:
    """Frames with x along each edge of a polygon, carried along without twist."""
    ways = np.diff(np.asarray(points), axis=0)
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    frames = [Rotation.align_vectors([ways[0]], [(1.0, 0.0, 0.0)])[0]]
    for before, after in zip(ways[:-1], ways[1:], strict=True):
        axis = np.cross(before, after)
        size = np.linalg.norm(axis)
        turn = Rotation.from_rotvec(axis / size * np.arctan2(size, before @ after) if size > 1e-12 else np.zeros(3))
        frames.append(turn * frames[-1])
    return frames


class Chain:
    """Capsules along a polygon, straight when unloaded, as bodies one inside the other."""

    def __init__(self, problem: Problem, name: str, points: Any, damping: float) -> None:
        self.points, self.name = np.asarray(points, dtype=float), name
        self.count = len(points) - 1
        self.size = measures.length_of(points) / self.count
        self.problem = problem
        E, second = problem["youngs_modulus"], problem["second_moment"]
        stiffness = E * second / self.size
        mass = problem["density"] * problem["area"] * self.size
        half = f'fromto="0 0 0 {self.size!r} 0 0" size="{problem["radius"]!r}" mass="{mass!r}"'
        joint = f'<joint type="ball" stiffness="{stiffness!r}" damping="{damping * stiffness!r}"/>'
        self.xml = ""
        for i in range(self.count):
            place = "0 0 0" if i == 0 else f"{self.size!r} 0 0"
            self.xml += f'<body name="{name}{i}" pos="{place}">{"<freejoint/>" if i == 0 else joint}'
            self.xml += f'<geom type="capsule" {half}/>'
        self.xml += f'<site name="{name}end" pos="{self.size!r} 0 0"/>' + "</body>" * self.count

    def excluded(self, apart: int) -> str:
        """Pairs of links that do not touch, up to `apart` links from each other."""
        return "".join(
            f'<exclude body1="{self.name}{i}" body2="{self.name}{j}"/>'
            for i in range(self.count) for j in range(i + 2, min(i + apart + 1, self.count))
        )  # fmt: skip

    def put(self, model: Any, data: Any) -> None:
        """Bring the chain onto its polygon."""
        frames = frames_along(self.points)
        root = model.jnt_qposadr[model.body(f"{self.name}0").jntadr[0]]
        data.qpos[root : root + 3] = self.points[0]
        data.qpos[root + 3 : root + 7] = frames[0].as_quat()[[3, 0, 1, 2]]
        for i in range(1, self.count):
            at = model.jnt_qposadr[model.body(f"{self.name}{i}").jntadr[0]]
            data.qpos[at : at + 4] = (frames[i - 1].inv() * frames[i]).as_quat()[[3, 0, 1, 2]]

    def line(self, data: Any) -> Any:
        """Its corners, (n + 1, 3)."""
        places = [data.body(f"{self.name}{i}").xpos for i in range(self.count)]
        return np.array([*places, data.site(f"{self.name}end").xpos])


def slow(model: Any, data: Any, keep: float) -> None:
    """Drag: a share of the velocity is kept."""
    data.qvel[:] *= keep


def walk(
    model: Any, data: Any, problem: Problem, seconds: float, before: Callable[[float], None] | None = None,
    after: Callable[[], None] | None = None,
) -> float:  # fmt: skip
    """Steps with the task's drag; returns their wall time."""
    dt, wall = model.opt.timestep, 0.0
    keep = float(np.exp(-problem.get("damping", 0.0) * dt))
    for k in range(round(seconds / dt)):
        if before is not None:
            before((k + 1) * dt)
        begin = time.perf_counter()
        mujoco.mj_step(model, data)
        if keep < 1.0:
            slow(model, data, keep)
        wall += time.perf_counter() - begin
        if after is not None:
            after()
        if not np.isfinite(data.qpos).all() or any(w.number for w in data.warning):
            break
    return wall


def hand(name: str, place: Any, way: Any) -> tuple[str, str]:
    """A body on a slide, and the servo that leads it."""
    body = (
        f'<body name="{name}" pos="{text(place)}"><joint name="{name}" type="slide" axis="{text(way)}"/>'
        f'<inertial pos="0 0 0" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/><site name="{name}"/></body>'
    )
    return body, f'<velocity name="{name}" joint="{name}" kv="{SERVO!r}"/>'


FIRM = 'solref="0.004 1" solimp="0.99 0.999 0.0001"'


def capstan(problem: Problem, quick: bool) -> None:
    """Task g, the capstan."""
    for n, rate, kind in ((62, 1000, "hard"),) if quick else (
        (62, 240, "hard"), (62, 1000, "hard"), (62, 1000, "defaults"), (124, 1000, "hard"), (62, 4000, "hard"),
    ):  # fmt: skip
        dt = 1 / rate
        chain = Chain(problem, "r", measures.resampled(problem["line"], n + 1), 0.05)
        body, servo = hand("hand", problem["line"][-1], problem["way"])
        drum = f'<geom type="cylinder" fromto="0 -0.1 0 0 0.1 0" size="{problem["drum"]!r}"/>'
        rest = (
            f'<equality><connect site1="hand" site2="rend" {FIRM}/></equality><actuator>{servo}</actuator>'
            f"<contact>{chain.excluded(2)}</contact>"
        )
        model, data = compiled(problem, dt, kind, drum + chain.xml + body, rest)
        chain.put(model, data)
        first = model.body("r0").id
        data.xfrc_applied[first, :3] = 0.0, 0.0, -problem["pull"]
        found: list[float] = []

        def lead(t: float, data: Any = data) -> None:
            data.ctrl[0] = problem["speed"] if t > problem["begin"] else 0.0

        def note(data: Any = data, found: list[float] = found) -> None:
            found.append(abs(float(data.actuator_force[0])))

        wall = walk(model, data, problem, problem["duration"], lead, note)
        error = float(np.mean(found[-round(0.5 * rate) :])) / problem["pull"] / problem["ratio"] - 1.0
        whole = len(found) == round(problem["duration"] * rate)
        finish("g", f"chain n={n} {kind}", n, dt, wall, len(found) * dt, error, survived=whole and abs(error) < 0.5)


def knot(problem: Problem, quick: bool) -> None:
    """Task h, the knot."""
    for n, rate, kind in ((110, 1000, "hard"),) if quick else (
        (110, 240, "hard"), (110, 1000, "hard"), (110, 1000, "defaults"), (110, 4000, "hard"),
    ):  # fmt: skip
        dt = 1 / rate
        chain = Chain(problem, "r", measures.resampled(problem["line"], n + 1), 2e-3)
        ends = chain.points[0], chain.points[-1]
        apart = float(np.linalg.norm(ends[1] - ends[0]))
        way = (ends[1] - ends[0]) / apart
        (left, pull), (right, push) = hand("left", ends[0], -way), hand("right", ends[1], way)
        first = '<site name="begin" pos="0 0 0"/>'
        xml = chain.xml.replace("<freejoint/>", f"<freejoint/>{first}", 1)
        rest = (
            f'<equality><connect site1="left" site2="begin" {FIRM}/><connect site1="right" site2="rend" {FIRM}/>'
            f"</equality><actuator>{pull}{push}</actuator><contact>{chain.excluded(3)}</contact>"
        )
        model, data = compiled(problem, dt, kind, xml + left + right, rest)
        chain.put(model, data)
        pulling = (chain.size * n - problem["slack"] - apart) / problem["speed"]
        found: list[float] = []

        def lead(t: float, data: Any = data, pulling: float = pulling) -> None:
            data.ctrl[:] = 0.5 * problem["speed"] if t <= pulling else 0.0

        def note(data: Any = data, found: list[float] = found) -> None:
            found.append(abs(float(data.actuator_force[1])))

        seconds = pulling + problem["hold"]
        wall = walk(model, data, problem, seconds, lead, note)
        whole = len(found) == round(seconds * rate)
        mujoco.mj_kinematics(model, data)
        line, closest = chain.line(data), float("nan")
        if whole:
            closest = measures.closest_of_self(line, problem["radius"])
        held = np.array(found[round(pulling * rate) + rate // 4 :])
        alive = whole and measures.is_knotted(line, problem["radius"]) and bool(held[-1] > 0.5)
        more = {"tension": float(held[-1]), "change": float(np.ptp(held) / max(held[-1], 1e-9))} if whole else {}
        finish("h", f"chain n={n} {kind}", n, dt, wall, len(found) * dt, closest - 1.0, survived=alive, **more)


def pile(problem: Problem, quick: bool) -> None:
    """Task i, the pile."""
    for n, rate, kind in ((13, 1000, "hard"),) if quick else (
        (13, 240, "hard"), (13, 1000, "hard"), (13, 1000, "defaults"),
    ):  # fmt: skip
        dt = 1 / rate
        chains = [
            Chain(problem, f"r{k}_", measures.resampled(line, n + 1), 1e-3) for k, line in enumerate(problem["lines"])
        ]
        world = '<geom type="plane" size="5 5 .1"/>' + "".join(chain.xml for chain in chains)
        model, data = compiled(problem, dt, kind, world)
        for chain in chains:
            chain.put(model, data)
        steps = [0]

        def count(steps: list[int] = steps) -> None:
            steps.append(0)

        wall = walk(model, data, problem, problem["duration"], after=count)
        whole = len(steps) - 1 == round(problem["duration"] * rate)
        mujoco.mj_kinematics(model, data)
        closest, low = measures.closest_of_all([chain.line(data) for chain in chains], problem["radius"])
        error = min(closest - 1.0, 0.5 * (low - 1.0), 0.0)
        finish("i", f"chains n={n} {kind}", n, dt, wall, (len(steps) - 1) * dt, error, survived=whole and low > 0.5)


def stack(problem: Problem, quick: bool) -> None:
    """Task k, the stack."""
    for rate, kind in ((240, "defaults"),) if quick else (
        (60, "hard"), (240, "hard"), (1000, "hard"), (240, "defaults"), (1000, "defaults"),
    ):  # fmt: skip
        dt, side, count = 1 / rate, problem["side"], problem["boxes"]
        half = 0.5 * side
        world = '<geom type="plane" size="5 5 .1"/>' + "".join(
            f'<body name="b{k}" pos="0 0 {(k + 0.5) * side!r}"><freejoint/><geom type="box" '
            f'size="{half} {half} {half}" mass="{problem["mass"]!r}"/></body>'
            for k in range(count)
        )
        model, data = compiled(problem, dt, kind, world)
        wall = walk(model, data, problem, problem["duration"])
        mujoco.mj_kinematics(model, data)
        top = data.body(f"b{count - 1}").xpos
        sink = (float(top[2]) - (count - 0.5) * side) / side
        drift = float(np.linalg.norm(top[:2])) / side
        finish("k", f"boxes {kind}", count, dt, wall, problem["duration"], sink, survived=abs(sink) < 0.5, drift=drift)


def finish(
    task: str, variant: str, n: int, dt: float, wall: float, seconds: float, error: float, *, survived: bool,
    **more: float,
) -> None:  # fmt: skip
    """Print a row."""
    row = {"task": task, "tool": TOOL, "variant": variant, "n": n, "dt": dt}
    if not np.isfinite(error):
        common.emit(**row, failed="not stable at this step")
        return
    common.emit(
        **row, wall_s=wall / seconds, error=abs(error), signed_error=error, survived=float(survived), **more
    )  # fmt: skip


if __name__ == "__main__":
    mujoco.set_mju_user_warning(lambda message: None)
    raise SystemExit(common.main(TOOL, {"g": capstan, "h": knot, "i": pile, "k": stack}))
