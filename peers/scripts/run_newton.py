"""Newton on the CPU: its rods (rigid capsules with rod joints, stepped by vertex block descent), and springs.

A rod joint bends between two capsules; a clamp that holds a capsule acts at its middle, so that a clamped rod begins
half a capsule before its clamp. A rod stretches, and shears with the factor 9/10. Vertex block descent sweeps over the
bodies a given number of times in each step, in single precision: what a step leaves undone depends on sweeps, step and
number of bodies, which are varied here. Kernels are compiled once, into the environment's own folder, and before any
time is taken; a pair of steps is recorded and replayed as one graph.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import common
import measures
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

os.environ.setdefault("WARP_CACHE_PATH", os.path.join(sys.prefix, "warp-kernels"))

import newton
import warp as wp

Floats = NDArray[np.float64]
Problem = dict[str, Any]
TOOL = f"newton {newton.__version__}"
DEVICE = "cpu"
SHEAR_FACTOR = 0.9  # the tool's own
BEAM = "extensible+shear k=9/10"
# Of a ball joint, in terms of a capsule's stretching stiffness: capsules are rigid, all stretch is in their joints, and
# a rod's n - 1 joints lack that of the two half capsules at its ends.
JOINT_HARDNESS = 2.0
PATIENCE = 30.0  # s of steps in which a relaxation must come to its answer


@wp.kernel  # type: ignore[untyped-decorator]
def slow(velocities: wp.array(dtype=wp.spatial_vector), keep: float):  # type: ignore[valid-type, no-untyped-def]
    """Keep a share of each body's velocity: drag that is the same for all masses."""
    body = wp.tid()
    velocities[body] = velocities[body] * keep


def new_builder(problem: Problem) -> Any:
    """A builder with the task's gravity."""
    return newton.ModelBuilder(gravity=tuple(problem["gravity"]))


def set_mass(builder: Any, body: int, mass: float, inertia: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
    """Give a body its mass (kg) and principal inertia (kg·m²) about its own axes; no mass holds it in place."""
    matrix = np.diag(np.asarray(inertia, dtype=float)) if mass else np.zeros((3, 3))
    builder.body_mass[body] = mass
    builder.body_inv_mass[body] = 1.0 / mass if mass else 0.0
    builder.body_inertia[body] = wp.mat33(*matrix.ravel())
    builder.body_inv_inertia[body] = wp.mat33(*(np.linalg.inv(matrix) if mass else matrix).ravel())


def add_rod(builder: Any, problem: Problem, points: Floats) -> list[int]:
    """A rod of the problem's material along straight, evenly spaced points: its bodies, local +z along it."""
    r, area, second = problem["radius"], problem["area"], problem["second_moment"]
    E, G = problem["youngs_modulus"], problem["shear_modulus"]
    rod = newton.Rod(
        points,
        radius=r,
        stretch_rigidity=E * area,
        shear_rigidity=SHEAR_FACTOR * G * area,
        bend_rigidity=E * second,
        twist_rigidity=2.0 * G * second,
    )
    plain = newton.ModelBuilder.ShapeConfig(density=0.0, has_shape_collision=False, has_particle_collision=False)
    bodies, _ = builder.add_rod(rod=rod, body_frame_origin="com", cfg=plain)
    size = float(np.linalg.norm(points[1] - points[0]))
    mass = problem["density"] * area * size
    across, along = mass * (3.0 * r * r + size * size) / 12.0, 0.5 * mass * r * r
    for body in bodies:
        set_mass(builder, body, mass, (across, across, along))
    return list(bodies)


def ball(builder: Any, parent: int, place: Any, child: int, local: Any) -> None:
    """Hold a point of a body on a point of another, or of the world (-1)."""
    builder.add_joint_ball(
        parent,
        child,
        parent_xform=wp.transform(wp.vec3(*map(float, place)), wp.quat_identity()),
        child_xform=wp.transform(wp.vec3(*map(float, local)), wp.quat_identity()),
    )


class Scene:
    """A finished model that takes steps in pairs, replayed as a graph, and knows how long they took."""

    def __init__(
        self,
        builder: Any,
        dt: float,
        make_solver: Callable[[Any], Any],
        *,
        keep: float = 1.0,
        start: Floats | None = None,
    ) -> None:
        self.model = builder.finalize(device=DEVICE)
        self.solver = make_solver(self.model)
        self.now, self.next = self.model.state(), self.model.state()
        self.control, self.dt, self.keep = self.model.control(), dt, keep
        self.wall = self.time = 0.0
        for state in (self.now, self.next):
            if start is not None and state.body_q is not None:
                state.body_q.assign(start.astype(np.float32))
        saved = [(array, array.numpy().copy()) for array in self._arrays()]
        self._two()  # compiles and loads what is needed
        with wp.ScopedCapture(device=DEVICE) as capture:
            self._two()
        self.graph = capture.graph
        for array, values in saved:
            array.assign(values)

    def _arrays(self) -> list[Any]:
        arrays = []
        for owner in (self.now, self.next, self.solver):
            arrays += [value for value in vars(owner).values() if isinstance(value, wp.array) and value.size]
        return arrays

    def _two(self) -> None:
        for here, there in ((self.now, self.next), (self.next, self.now)):
            here.clear_forces()
            self.solver.step(here, there, self.control, None, self.dt)
            if self.keep < 1.0:
                wp.launch(slow, dim=self.model.body_count, inputs=[there.body_qd, self.keep], device=DEVICE)

    def run(self, pairs: int) -> None:
        """Take 2 `pairs` steps; their wall time is added to `wall`."""
        launch, graph = wp.capture_launch, self.graph

        def work() -> None:
            for _ in range(pairs):
                launch(graph)

        self.wall += common.timed(work)
        self.time += 2 * pairs * self.dt

    def pose(self, body: int) -> tuple[Floats, Floats]:
        """Position and rotation matrix of a body."""
        q = self.now.body_q.numpy()[body].astype(float)
        return q[:3], Rotation.from_quat(q[3:]).as_matrix()

    def end(self, body: int, half: float) -> Floats:
        """The far end of a capsule that is twice `half` long."""
        place, turn = self.pose(body)
        return np.array(place + half * turn[:, 2])

    def healthy(self, reach: float) -> bool:
        """Whether all bodies are where they can be."""
        places = self.now.body_q.numpy()[:, :3]
        return bool(np.isfinite(places).all()) and float(np.abs(places).max()) < reach


def block_descent(sweeps: int, hardness: float = 1e5) -> Callable[[Any], Any]:
    """Newton's solver for rods; `hardness` (N/m) is that of ball joints."""
    return lambda model: newton.solvers.SolverVBD(
        model, iterations=sweeps, rigid_compliant_alm=True, rigid_joint_linear_ke=hardness
    )


def cantilever(problem: Problem, n: int, dt: float, sweeps: int, keep: float = 1.0) -> tuple[Scene, int, float]:
    """Scene, last body and half a capsule's length of a rod of `n` capsules clamped at the origin along +x."""
    builder = new_builder(problem)
    size = problem["length"] / (n - 0.5)
    points = np.zeros((n + 1, 3))
    points[:, 0] = size * (np.arange(n + 1) - 0.5)
    bodies = add_rod(builder, problem, points)
    set_mass(builder, bodies[0], 0.0)
    builder.color()
    return Scene(builder, dt, block_descent(sweeps), keep=keep), bodies[-1], 0.5 * size


def task_a(problem: Problem, quick: bool) -> None:
    """Soft cantilever to rest: sizes, steps and sweeps. No step was found at which it is not stable."""
    cases = [
        (10, 1 / 60, 20), (10, 1 / 300, 10), (20, 1 / 60, 50), (20, 1 / 300, 20), (20, 1 / 600, 20), (20, 1 / 600, 50),
        (40, 1 / 600, 50), (40, 1 / 1200, 50), (50, 1 / 600, 10),
    ]  # fmt: skip
    for n, dt, sweeps in cases[:1] + cases[3:4] if quick else cases:
        scene, last, half = cantilever(problem, n, dt, sweeps, math.exp(-problem["damping"] * dt))
        scene.run(round(problem["duration"] / (2.0 * dt)))
        variant = f"rod n={n} sweeps={sweeps}"
        row = {"task": "a", "tool": TOOL, "variant": variant, "n": n, "dt": dt, "reference": BEAM}
        if not scene.healthy(1.5 * problem["length"]):
            common.emit(**row, failed="not stable")
            continue
        error = measures.distance_error(scene.end(last, half), problem["references"][BEAM]["tip"], problem["length"])
        common.emit(**row, wall_s=scene.wall / scene.time, error=error, signed_error=error)


def task_b(problem: Problem, quick: bool) -> None:
    """Free vibration: implicit Euler, which damps it."""
    reference = "timoshenko k=9/10"
    frequency = problem["references"][reference]["frequency"]
    cases = [(10, 1e-3, 20), (10, 1e-3, 100), (10, 2e-4, 20), (20, 1e-3, 100), (20, 2e-4, 50)]
    for n, dt, sweeps in cases[:1] if quick else cases:
        scene, last, half = cantilever(problem, n, dt, sweeps)
        every = max(1, round(5e-3 / (2.0 * dt)))
        times, heights = [0.0], [0.0]
        while scene.time < problem["duration"]:
            scene.run(every)
            times.append(scene.time)
            heights.append(float(scene.end(last, half)[2]))
        error, decay = measures.frequency_error(times, heights, frequency)
        variant = f"rod n={n} sweeps={sweeps}"
        common.emit(
            task="b", tool=TOOL, variant=variant, n=n, dt=dt, wall_s=scene.wall / scene.time, error=abs(error),
            signed_error=error, decay_per_s=decay, reference=reference,
        )  # fmt: skip


def hanging_rod(problem: Problem, n: int, dt: float, sweeps: int) -> tuple[Scene, Callable[[], Floats]]:
    """The hoist as a rod of `n` capsules: scene, and where its load is."""
    builder = new_builder(problem)
    expected = problem["references"]["massive cable"]
    start = np.array(expected["start"])
    size, direction = problem["length"] / n, start / np.linalg.norm(start)
    bodies = add_rod(builder, problem, np.outer(np.arange(n + 1) * size, direction))
    ball(builder, -1, (0.0, 0.0, 0.0), bodies[0], (0.0, 0.0, -0.5 * size))
    load = builder.add_body(xform=wp.transform(wp.vec3(*(problem["length"] * direction)), wp.quat_identity()))
    set_mass(builder, load, problem["load"], (10.0, 10.0, 10.0))
    ball(builder, bodies[-1], (0.0, 0.0, 0.5 * size), load, (0.0, 0.0, 0.0))
    builder.color()
    poses = np.array([list(q) for q in builder.body_q])
    stretch = np.linalg.norm(start) / problem["length"]
    poses[:, :3] *= stretch  # built at rest, evenly stretched at the start
    hardness = JOINT_HARDNESS * problem["stretch_stiffness"] / size
    scene = Scene(builder, dt, block_descent(sweeps, hardness), start=poses)
    return scene, lambda: scene.pose(load)[0]


def hanging_spring(problem: Problem, dt: float, solver: str, sweeps: int) -> tuple[Scene, Callable[[], Floats]]:
    """The hoist as a load on a massless spring."""
    builder = new_builder(problem)
    start = problem["references"]["massless cable"]["start"]
    top = builder.add_particle(wp.vec3(0.0, 0.0, 0.0), wp.vec3(0.0, 0.0, 0.0), 0.0, radius=0.0)
    load = builder.add_particle(wp.vec3(*start), wp.vec3(0.0, 0.0, 0.0), problem["load"], radius=0.0)
    builder.add_spring(top, load, problem["stretch_stiffness"] / problem["length"], 0.0, 0.0)
    builder.spring_rest_length[-1] = problem["length"]
    builder.color()

    def make(model: Any) -> Any:
        if solver == "semi-implicit":
            return newton.solvers.SolverSemiImplicit(model)
        return newton.solvers.SolverVBD(model, iterations=sweeps)

    scene = Scene(builder, dt, make)
    return scene, lambda: np.array(scene.now.particle_q.numpy()[load], dtype=float)


def task_c(problem: Problem, quick: bool) -> None:
    """Steel hoist: a load on a spring, and on a rod."""
    cases: list[tuple[str, str, int, float, int]] = [
        ("spring semi-implicit", "massless cable", 1, 0.02, 1),
        ("spring semi-implicit", "massless cable", 1, 5e-3, 1),
        ("spring semi-implicit", "massless cable", 1, 1e-3, 1),
        ("spring VBD", "massless cable", 1, 5e-3, 5),
        ("rod", "massive cable", 4, 5e-3, 50),
        ("rod", "massive cable", 4, 1e-3, 50),
        ("rod", "massive cable", 10, 1e-3, 100),
    ]
    for kind, reference, n, dt, sweeps in [cases[1], cases[5]] if quick else cases:
        expected = problem["references"][reference]
        walls: list[float] = []
        while len(walls) < (1 if kind == "rod" else 5):  # springs are so quick that a run is easily disturbed
            if kind == "rod":
                scene, where = hanging_rod(problem, n, dt, sweeps)
            else:
                scene, where = hanging_spring(problem, dt, kind.removeprefix("spring "), sweeps)
            every = max(1, round(0.05 / (2.0 * dt)))
            times, places = [0.0], [where()]
            while scene.time < problem["duration"]:
                scene.run(every)
                times.append(scene.time)
                places.append(where())
            walls.append(scene.wall / scene.time)
        track = np.array(places)
        variant = f"{kind} n={n}" + ("" if kind == "spring semi-implicit" else f" sweeps={sweeps}")
        row = {"task": "c", "tool": TOOL, "variant": variant, "n": n, "dt": dt, "reference": reference}
        distances = np.linalg.norm(track, axis=1)
        if not np.isfinite(track).all() or distances.max() > 1.5 * problem["length"]:
            common.emit(**row, failed="not stable at this step")
            continue
        longer = float(distances.mean()) - problem["length"]
        try:
            error = measures.period_error(times, track[:, 0], expected["period"])
        except ValueError as trouble:
            common.emit(
                **row, failed=f"does not swing: {trouble}", elongation_error=longer / expected["elongation"] - 1
            )
            continue
        common.emit(
            **row, wall_s=statistics.median(walls), error=abs(error), signed_error=error,
            elongation_error=longer / expected["elongation"] - 1.0,
        )  # fmt: skip


def bridge(problem: Problem, n: int, dt: float, sweeps: int) -> tuple[Scene, int]:
    """The rope bridge with `n` capsules in each rope: scene and middle rung."""
    builder = new_builder(problem)
    size, bays, length = problem["length"] / n, problem["rungs"] + 1, problem["length"]
    arc = measures.arc(problem, size * np.arange(n + 1))
    chords = np.diff(arc, axis=0)
    start: list[list[float]] = []
    ropes = []
    for y in problem["ropes_y"]:
        straight = np.zeros((n + 1, 3))
        straight[:, 0], straight[:, 1] = size * np.arange(n + 1) - 0.5 * length, y
        bodies = add_rod(builder, problem, straight)
        ropes.append(bodies)
        level = Rotation.from_quat(list(builder.body_q[bodies[0]])[3:])
        for i in range(n):
            # A turn about y takes +x to the chord.
            turn = Rotation.from_rotvec((0.0, -math.atan2(chords[i, 2], chords[i, 0]), 0.0)) * level
            start.append([*(0.5 * (arc[i] + arc[i + 1]) + (0.0, y, 0.0)), *turn.as_quat()])
        ball(builder, -1, arc[0] + (0.0, y, 0.0), bodies[0], (0.0, 0.0, -0.5 * size))
        ball(builder, -1, arc[-1] + (0.0, y, 0.0), bodies[-1], (0.0, 0.0, 0.5 * size))
    middle = -1
    for k in range(problem["rungs"]):
        node = (k + 1) * n // bays
        place = (size * node - 0.5 * length, 0.0, 0.0)
        rung = builder.add_body(xform=wp.transform(wp.vec3(*place), wp.quat_identity()))
        across = problem["rung_mass"] * problem["rung_length"] ** 2 / 12.0
        load = 0.0
        if k == problem["rungs"] // 2:
            middle, load = rung, problem["load"]
        set_mass(builder, rung, problem["rung_mass"] + load, (across, 0.1 * across, across))
        start.append([*arc[node], 0.0, 0.0, 0.0, 1.0])
        for y, bodies in zip(problem["ropes_y"], ropes, strict=True):
            ball(builder, bodies[node - 1], (0.0, 0.0, 0.5 * size), rung, (0.0, y, 0.0))
    builder.color()
    hardness = JOINT_HARDNESS * problem["youngs_modulus"] * problem["area"] / size
    keep = math.exp(-problem["damping"] * dt)
    return Scene(builder, dt, block_descent(sweeps, hardness), keep=keep, start=np.array(start)), middle


def task_d(problem: Problem, quick: bool) -> None:
    """Rope bridge to rest: rods, ball-jointed to rigid rungs and to the world."""
    expected = problem["references"][BEAM]["sag"]
    cases = [(20, 1 / 300, 20), (20, 1 / 600, 50), (40, 1 / 600, 50)]
    for n, dt, sweeps in cases[:1] if quick else cases:
        scene, middle = bridge(problem, n, dt, sweeps)
        scene.run(round(problem["duration"] / (2.0 * dt)))
        variant = f"rods n={n} sweeps={sweeps}"
        row = {"task": "d", "tool": TOOL, "variant": variant, "n": n, "dt": dt, "reference": BEAM}
        if not scene.healthy(2.0 * problem["length"]):
            common.emit(**row, failed="not stable")
            continue
        error = -float(scene.pose(middle)[0][2]) / expected - 1.0
        common.emit(**row, wall_s=scene.wall / scene.time, error=abs(error), signed_error=error)


def relax(
    scene: Scene, error: Callable[[], float], bound: float, patience: float, every: int = 5
) -> tuple[float | None, float]:
    """Wall time after which the error stays below `bound`, and the last error; None if `patience` (s) runs out.

    It must stay there for twice as long again.
    """
    walls, errors = [], []
    begin, settled = scene.wall, None
    while scene.wall - begin < patience:
        scene.run(every)
        walls.append(scene.wall - begin)
        errors.append(error())
        if not errors[-1] < bound:
            settled = None
        elif settled is None:
            settled = walls[-1]
        if settled is not None and walls[-1] > 3.0 * settled:
            return settled, errors[-1]
    return common.time_to_stay(walls, errors, bound), errors[-1]


def task_e(problem: Problem, quick: bool) -> None:
    """Static shape by relaxation: a rod of as many capsules as the bound needs, with the drag that was best."""
    bound, length, goal = problem["error_bound"], problem["length"], problem["references"][BEAM]["tip"]
    patience = 8.0 if quick else PATIENCE
    # Gravity pulls each body down before the sweeps lift it again, not quite: the smaller the step, the less is left.
    for n, dt, sweeps in [(72, 1 / 2400, 10)]:
        scene, last, half = cantilever(problem, n, dt, sweeps, math.exp(-4.0 * dt))

        def miss(scene: Scene = scene, last: int = last, half: float = half) -> float:
            return float(measures.distance_error(scene.end(last, half), goal, length))

        wall, left = relax(scene, miss, bound, patience)
        row = {
            "task": "e", "tool": TOOL, "variant": f"rod n={n} sweeps={sweeps}", "n": n, "dt": dt,
            "reference": BEAM,
        }  # fmt: skip
        if wall is None:
            common.emit(**row, failed=f"error {left:.2g} after {patience:g} s of steps; {bound:g} is not reached")
        else:
            common.emit(**row, wall_s=wall, error=left, signed_error=left, note="drag of 4/s")


def clamp_quaternion(pose: Any) -> Floats:
    """Quaternion (scalar last) of a capsule in a clamp: z along its tangent, x along its normal."""
    tangent, normal = np.array(pose["tangent"]), np.array(pose["normal"])
    turn = Rotation.from_matrix(np.stack((normal, np.cross(tangent, normal), tangent), axis=1))
    return np.array(turn.as_quat())


def between(problem: Problem, n: int, dt: float, sweeps: int, keep: float) -> tuple[Scene, list[int]]:
    """A rod of `n` capsules (odd) with its first and its last in clamps, straight and untwisted."""
    builder = new_builder(problem)
    size = problem["length"] / (n - 1)
    points = np.zeros((n + 1, 3))
    points[:, 0] = size * (np.arange(n + 1) - 0.5)
    bodies = add_rod(builder, problem, points)
    for body in (bodies[0], bodies[-1]):
        set_mass(builder, body, 0.0)
    builder.color()
    return Scene(builder, dt, block_descent(sweeps), keep=keep), bodies


def lead(scene: Scene, body: int, first: tuple[Floats, Any], last: tuple[Floats, Any], pairs: int) -> None:
    """Move a held body from one pose to another on a straight way with an even turn, two steps at a time."""
    turn = (first[1].inv() * last[1]).as_rotvec()
    for part in np.arange(1, pairs + 1) / pairs:

        def put(part: float = float(part)) -> None:
            poses = scene.now.body_q.numpy()  # shares its memory with the state
            poses[body, :3] = first[0] + part * (last[0] - first[0])
            poses[body, 3:] = (first[1] * Rotation.from_rotvec(part * turn)).as_quat()

        scene.wall += common.timed(put)
        scene.run(1)


def task_f(problem: Problem, quick: bool) -> None:
    """Pose to pose by relaxation: the tip's capsule is led to its pose, then held."""
    bound, length = problem["error_bound"], problem["length"]
    expected = problem["references"][BEAM]
    patience = 8.0 if quick else PATIENCE
    # Slow damping of 10/s and small steps came out faster than large steps, whose sweeps hardly move the long waves.
    for n, dt, sweeps in [(25, 1 / 600, 5)] if quick else [(25, 1 / 600, 5), (25, 1 / 300, 10), (33, 1 / 600, 10)]:
        keep = math.exp(-10.0 * dt)
        scene, bodies = between(problem, n, dt, sweeps, keep)
        place, matrix = scene.pose(bodies[-1])
        here = (place, Rotation.from_matrix(matrix))
        # Its own frame may be turned about its axis against the task's: by the same angle at both ends.
        own = Rotation.from_quat(clamp_quaternion(problem["base"])).inv() * here[1]
        goals = [
            (np.array(problem[key]["position"]), Rotation.from_quat(clamp_quaternion(problem[key])) * own)
            for key in ("tip", "moved_tip")
        ]
        row = {
            "task": "f", "tool": TOOL, "variant": f"rod n={n} sweeps={sweeps}", "n": n, "dt": dt,
            "reference": BEAM,
        }  # fmt: skip

        def miss(key: str, scene: Scene = scene, body: int = bodies[n // 2]) -> float:
            return float(measures.distance_error(scene.pose(body)[0], expected[key], length))

        lead(scene, bodies[-1], here, goals[0], round(0.15 / (2.0 * dt)))
        led = scene.wall
        wall, left = relax(scene, lambda: miss("middle"), bound, patience, every=1)
        if wall is None:
            common.emit(**row, failed=f"error {left:.2g} after {patience:g} s of steps; {bound:g} is not reached")
            continue
        before = scene.wall
        lead(scene, bodies[-1], goals[0], goals[1], 1)
        led_warm = scene.wall - before
        warm, warm_left = relax(scene, lambda: miss("moved_middle"), bound, patience, every=1)
        common.emit(
            **row, wall_s=led + wall, error=left, signed_error=left, note="drag of 10/s",
            warm_wall_s=None if warm is None else led_warm + warm, warm_error=warm_left,
        )  # fmt: skip


if __name__ == "__main__":
    wp.config.log_level = wp.LOG_WARNING  # standard output belongs to the rows
    warnings.simplefilter("ignore")  # about options of solvers that change in a later version
    functions = {"a": task_a, "b": task_b, "c": task_c, "d": task_d, "e": task_e, "f": task_f}
    raise SystemExit(common.main(TOOL, functions))
