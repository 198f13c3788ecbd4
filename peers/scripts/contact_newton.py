"""Newton on the tasks in which things touch: rods of capsules, stepped by vertex block descent on the CPU.

Settings are those of Newton's own examples of cables: contacts kept from step to step (`rigid_contact_history`,
matched), compliant augmented Lagrangians, a gap within which contacts are seen, 5 to 20 sweeps and 8 to 10 steps to a
sixtieth of a second. Tensions are read from the stretch of the rods' joints. A rod is built straight,
and bent by its start.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import common
import contact_measures as measures
import numpy as np
from scipy.spatial.transform import Rotation

os.environ.setdefault("WARP_CACHE_PATH", os.path.join(sys.prefix, "warp-kernels"))

import newton
import run_newton as rods
import warp as wp

Problem = dict[str, Any]
TOOL = f"newton {newton.__version__}"
STIFFNESS = 1e6  # N/m, of contacts


@wp.kernel  # type: ignore[untyped-decorator]
def pull_at(forces: wp.array(dtype=wp.spatial_vector), body: int, force: wp.vec3):  # type: ignore[valid-type, no-untyped-def]
    """A force on a body's centre of mass."""
    forces[body] = wp.spatial_vector(force, wp.vec3(0.0, 0.0, 0.0))


def touching(problem: Problem, gap: float) -> Any:
    """How shapes touch."""
    return newton.ModelBuilder.ShapeConfig(density=0.0, mu=problem["friction"], ke=STIFFNESS, kd=0.0, gap=gap)


def new_builder(problem: Problem) -> Any:
    """A builder with the task's gravity."""
    return newton.ModelBuilder(gravity=(0.0, 0.0, -float(problem.get("gravity", 0.0))))


def add_rope(builder: Any, problem: Problem, points: Any, apart: int) -> tuple[list[int], Any]:
    """A rope along a polygon, straight when unloaded: its bodies and their poses at the start, (n, 7).

    Links up to `apart` from each other do not touch.
    """
    points = np.asarray(points, dtype=float)
    count = len(points) - 1
    size = measures.length_of(points) / count
    r, area, second = problem["radius"], problem["area"], problem["second_moment"]
    E, G = problem["youngs_modulus"], problem["shear_modulus"]
    straight = np.zeros((count + 1, 3))
    straight[:, 0] = size * np.arange(count + 1)
    rod = newton.Rod(
        straight, radius=r, stretch_rigidity=E * area, shear_rigidity=0.9 * G * area, bend_rigidity=E * second,
        twist_rigidity=2.0 * G * second,
    )  # fmt: skip
    bodies, _ = builder.add_rod(rod=rod, body_frame_origin="com", cfg=touching(problem, 0.5 * r))
    bodies = list(map(int, bodies))
    mass = problem["density"] * area * size
    across, along = mass * (3.0 * r * r + size * size) / 12.0, 0.5 * mass * r * r
    for body in bodies:
        rods.set_mass(builder, body, mass, (across, across, along))
    for i, first in enumerate(bodies):
        for second_body in bodies[i + 1 : i + 1 + apart]:
            for a in builder.body_shapes.get(first, []):
                for b in builder.body_shapes.get(second_body, []):
                    builder.add_shape_collision_filter_pair(int(a), int(b))
    level = Rotation.from_quat(list(builder.body_q[bodies[0]])[3:])
    poses = np.zeros((count, 7))
    ways = np.diff(points, axis=0)
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    turn = Rotation.align_vectors([ways[0]], [(1.0, 0.0, 0.0)])[0]
    for i in range(count):
        if i:
            axis = np.cross(ways[i - 1], ways[i])
            long = float(np.linalg.norm(axis))
            if long > 1e-12:
                turn = Rotation.from_rotvec(axis / long * np.arctan2(long, ways[i - 1] @ ways[i])) * turn
        poses[i, :3] = 0.5 * (points[i] + points[i + 1])
        poses[i, 3:] = (turn * level).as_quat()
    return bodies, poses


class Scene:
    """A finished model with contacts, stepped one by one."""

    def __init__(self, builder: Any, start: Any, dt: float, sweeps: int, keep: float, matching: str) -> None:
        builder.color()
        self.model = builder.finalize(device="cpu")
        self.pipeline = newton.CollisionPipeline(self.model, contact_matching=matching)
        self.contacts = self.pipeline.contacts()
        self.solver = newton.solvers.SolverVBD(
            self.model, iterations=sweeps, rigid_compliant_alm=True, rigid_contact_history=True,
            rigid_body_contact_buffer_size=256,
        )  # fmt: skip
        self.now, self.next = self.model.state(), self.model.state()
        self.control, self.dt, self.keep = self.model.control(), dt, keep
        for state in (self.now, self.next):
            state.body_q.assign(np.asarray(start, dtype=np.float32))
        self.force: tuple[int, Any] | None = None
        self.wall = 0.0
        saved = [(array, array.numpy().copy()) for array in self._arrays()]
        self.step()  # compiles and loads what is needed
        for array, values in saved:
            array.assign(values)
        self.wall = 0.0

    def _arrays(self) -> list[Any]:
        return [
            value
            for owner in (self.now, self.next, self.solver)
            for value in vars(owner).values()
            if isinstance(value, wp.array) and value.size
        ]

    def step(self) -> None:
        """One step, on the clock."""
        begin = time.perf_counter()
        self.now.clear_forces()
        if self.force is not None:
            wp.launch(pull_at, dim=1, inputs=[self.now.body_f, *self.force], device="cpu")
        self.pipeline.collide(self.now, self.contacts)
        self.solver.step(self.now, self.next, self.control, self.contacts, self.dt)
        self.now, self.next = self.next, self.now
        if self.keep < 1.0:
            wp.launch(rods.slow, dim=self.model.body_count, inputs=[self.now.body_qd, self.keep], device="cpu")
        self.wall += time.perf_counter() - begin

    def put(self, body: int, place: Any) -> None:
        """Move a body without mass."""
        for state in (self.now, self.next):
            state.body_q.numpy()[body, :3] = place  # shares its memory with the state

    def poses(self, bodies: list[int]) -> tuple[Any, Any]:
        """Places (n, 3) and directions (n, 3) of capsules."""
        q = self.now.body_q.numpy()[bodies].astype(float)
        return q[:, :3], Rotation.from_quat(q[:, 3:]).as_matrix()[:, :, 2]

    def line(self, bodies: list[int], size: float) -> Any:
        """Ends of capsules in order, (2 n, 3)."""
        places, ways = self.poses(bodies)
        return np.stack((places - 0.5 * size * ways, places + 0.5 * size * ways), axis=1).reshape(-1, 3)

    def tension(self, bodies: list[int], size: float, stiffness: float) -> float:
        """Mean over the joints between some capsules, N: from their stretch."""
        places, ways = self.poses(bodies)
        gaps = (places[1:] - 0.5 * size * ways[1:]) - (places[:-1] + 0.5 * size * ways[:-1])
        return float(np.einsum("ij,ij->i", gaps, ways[:-1]).mean()) * stiffness / size


def run(scene: Scene, seconds: float, before: Callable[[float], None] | None, after: Callable[[], None] | None) -> bool:
    """Take steps; whether they stayed finite."""
    for k in range(round(seconds / scene.dt)):
        if before is not None:
            before((k + 1) * scene.dt)
        scene.step()
        if after is not None:
            after()
        if k % 50 == 0 and not np.isfinite(scene.now.body_q.numpy()).all():
            return False
    return bool(np.isfinite(scene.now.body_q.numpy()).all())


def keep_of(problem: Problem, dt: float) -> float:
    """Share of the velocity that the task's drag leaves after a step."""
    return float(np.exp(-problem.get("damping", 0.0) * dt))


def capstan(problem: Problem, quick: bool) -> None:
    """Task g, the capstan."""
    for n, rate, sweeps in ((62, 600, 20),) if quick else ((62, 600, 10), (62, 600, 50), (62, 2400, 20)):
        dt = 1 / rate
        builder = new_builder(problem)
        points = measures.resampled(problem["line"], n + 1)
        size = measures.length_of(points) / n
        bodies, poses = add_rope(builder, problem, points, 2)
        rods.set_mass(builder, bodies[-1], 0.0)
        across = Rotation.from_euler("x", 90, degrees=True).as_quat()
        builder.add_shape_cylinder(
            body=-1, xform=wp.transform(wp.vec3(0.0, 0.0, 0.0), wp.quat(*across)), radius=problem["drum"],
            half_height=0.1, cfg=touching(problem, 0.5 * problem["radius"]),
        )  # fmt: skip
        scene = Scene(builder, poses, dt, sweeps, keep_of(problem, dt), "sticky")
        scene.force = bodies[0], wp.vec3(0.0, 0.0, -problem["pull"])
        found: list[float] = []
        end, way = poses[-1, :3], np.array(problem["way"])
        stiffness = problem["youngs_modulus"] * problem["area"]
        last = bodies[-8:]

        def lead(t: float, scene: Scene = scene, end: Any = end, way: Any = way, body: int = bodies[-1]) -> None:
            scene.put(body, end + problem["speed"] * max(t - problem["begin"], 0.0) * way)

        def note(scene: Scene = scene, last: Any = last, size: float = size, found: list[float] = found) -> None:
            found.append(scene.tension(last, size, stiffness))  # noqa: B023

        whole = run(scene, problem["duration"], lead, note)
        error = float(np.mean(found[-round(0.5 * rate) :])) / problem["pull"] / problem["ratio"] - 1.0
        finish("g", f"rod n={n} sweeps={sweeps}", n, dt, scene.wall / problem["duration"], error,
               survived=whole and abs(error) < 0.5)  # fmt: skip


def knot(problem: Problem, quick: bool) -> None:
    """Task h, the knot."""
    for n, rate, sweeps in ((110, 480, 20),) if quick else ((110, 480, 20), (110, 960, 20), (110, 960, 100)):
        dt = 1 / rate
        builder = new_builder(problem)
        points = measures.resampled(problem["line"], n + 1)
        size = measures.length_of(points) / n
        bodies, poses = add_rope(builder, problem, points, 3)
        for body in (bodies[0], bodies[-1]):
            rods.set_mass(builder, body, 0.0)
        scene = Scene(builder, poses, dt, sweeps, keep_of(problem, dt), "latest")
        ends = poses[0, :3], poses[-1, :3]
        apart = float(np.linalg.norm(ends[1] - ends[0]))
        way = (ends[1] - ends[0]) / apart
        pulling = (size * (n - 1) - problem["slack"] - apart) / problem["speed"]
        found: list[float] = []
        stiffness = problem["youngs_modulus"] * problem["area"]

        def lead(t: float, scene: Scene = scene, ends: Any = ends, way: Any = way, pulling: float = pulling) -> None:
            moved = 0.5 * problem["speed"] * min(t, pulling) * way
            scene.put(bodies[0], ends[0] - moved)  # noqa: B023
            scene.put(bodies[-1], ends[1] + moved)  # noqa: B023

        def note(scene: Scene = scene, size: float = size, found: list[float] = found) -> None:
            found.append(scene.tension(bodies[-10:], size, stiffness))  # noqa: B023

        seconds = pulling + problem["hold"]
        whole = run(scene, seconds, lead, note)
        line = scene.line(bodies, size)
        closest = measures.closest_of_self(line, problem["radius"]) if whole else float("nan")
        held = np.array(found[round(pulling * rate) + rate // 4 :])
        alive = whole and measures.is_knotted(line, problem["radius"]) and bool(held[-1] > 0.5)
        more = {"tension": float(held[-1]), "change": float(np.ptp(held) / max(held[-1], 1e-9))} if whole else {}
        finish("h", f"rod n={n} sweeps={sweeps}", n, dt, scene.wall / seconds, closest - 1.0, survived=alive, **more)


def pile(problem: Problem, quick: bool) -> None:
    """Task i, the pile."""
    for n, rate, sweeps in ((13, 600, 5),) if quick else ((13, 600, 5), (13, 600, 20)):
        dt = 1 / rate
        builder = new_builder(problem)
        builder.add_ground_plane(cfg=touching(problem, 0.5 * problem["radius"]))
        ropes, starts = [], []
        for line in problem["lines"]:
            bodies, poses = add_rope(builder, problem, measures.resampled(line, n + 1), 1)
            ropes.append(bodies)
            starts.append(poses)
        scene = Scene(builder, np.concatenate(starts), dt, sweeps, keep_of(problem, dt), "sticky")
        whole = run(scene, problem["duration"], None, None)
        size = measures.length_of(problem["lines"][0]) / n
        closest, low = float("nan"), 0.0
        if whole:
            lines = [scene.line(bodies, size) for bodies in ropes]
            closest, low = measures.closest_of_all(lines, problem["radius"])
        error = min(closest - 1.0, 0.5 * (low - 1.0), 0.0) if whole else float("nan")
        finish("i", f"rods n={n} sweeps={sweeps}", n, dt, scene.wall / problem["duration"], error,
               survived=whole and low > 0.5)  # fmt: skip


def stack(problem: Problem, quick: bool) -> None:
    """Task k, the stack."""
    for rate, sweeps in ((600, 10),) if quick else ((240, 20), (600, 10), (600, 50)):
        dt, side, count = 1 / rate, problem["side"], problem["boxes"]
        builder = new_builder(problem)
        builder.add_ground_plane(cfg=touching(problem, 0.05 * side))
        inertia = problem["mass"] * side**2 / 6.0
        starts = []
        for k in range(count):
            place = (0.0, 0.0, (k + 0.5) * side)
            body = builder.add_body(xform=wp.transform(wp.vec3(*place), wp.quat_identity()))
            builder.add_shape_box(body, hx=0.5 * side, hy=0.5 * side, hz=0.5 * side, cfg=touching(problem, 0.05 * side))
            rods.set_mass(builder, body, problem["mass"], (inertia,) * 3)
            starts.append((*place, 0.0, 0.0, 0.0, 1.0))
        scene = Scene(builder, np.array(starts), dt, sweeps, 1.0, "sticky")
        run(scene, problem["duration"], None, None)
        top = scene.now.body_q.numpy()[count - 1, :3].astype(float)
        sink = (float(top[2]) - (count - 0.5) * side) / side
        drift = float(np.linalg.norm(top[:2])) / side
        finish("k", f"boxes sweeps={sweeps}", count, dt, scene.wall / problem["duration"], sink,
               survived=abs(sink) < 0.5, drift=drift)  # fmt: skip


def finish(
    task: str, variant: str, n: int, dt: float, wall: float, error: float, *, survived: bool, **more: float
) -> None:
    """Print a row."""
    row = {"task": task, "tool": TOOL, "variant": variant, "n": n, "dt": dt}
    if not np.isfinite(error):
        common.emit(**row, failed="not stable at this step")
        return
    common.emit(**row, wall_s=wall, error=abs(error), signed_error=error, survived=float(survived), **more)


if __name__ == "__main__":
    wp.config.log_level = wp.LOG_WARNING  # standard output belongs to the rows
    warnings.simplefilter("ignore")
    raise SystemExit(common.main(TOOL, {"g": capstan, "h": knot, "i": pile, "k": stack}))
