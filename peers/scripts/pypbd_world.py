"""A simulation of rigid bodies in pypbd: what the tasks in run_pypbd.py build on.

What shaped it:

- Gravity can't be set from Python: it is 9.81 m/s² along −y. The scenes are turned, and a problem with gravity g is run
  with moduli 9.81/g times larger in a time that is the root of that shorter, which is the same problem. Without
  gravity, the moduli are made so large that weight does not count.
- The first order velocity update is backward Euler, which damps. The second order one makes all accelerations twice
  as large; the same change of time scale takes that back.
- Of a tree of joints, only one body may be fixed. Other held bodies are 10⁹ times heavier and are put back before every
  step.
- There is no damping but by setting velocities body by body, which takes Python longer than the step: it is done every
  0.05 s of simulated time.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pypbd
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Floats = NDArray[np.float64]
Problem = dict[str, Any]
GRAVITY = 9.81  # the tool's own, along -y
WEIGHTLESS = 1e5  # moduli times this where there is no gravity
HEAVY = 1e9  # masses times this where a body is held
DRAG_INTERVAL = 0.05  # s
TURNED = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)))  # from z upwards to y upwards
LOOSE = 1.0  # Pa; modulus of a joint that turns freely

BOX = "".join(f"v {x} {y} {z}\n" for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)) + (
    "f 1 2 4\nf 1 4 3\nf 5 8 6\nf 5 7 8\nf 1 6 2\nf 1 5 6\nf 3 4 8\nf 3 8 7\nf 1 3 7\nf 1 7 5\nf 2 6 8\nf 2 8 4\n"
)


class World:
    """A simulation of rigid bodies; `dt` and all times are those of the problem, in seconds."""

    def __init__(self, dt: float, *, gravity: float = GRAVITY, iterations: int = 1, second_order: bool = False) -> None:
        self.stiffening = GRAVITY / gravity if gravity else WEIGHTLESS
        self.dt, self.inner_dt = dt, dt / math.sqrt(self.stiffening * (2.0 if second_order else 1.0))
        simulation = pypbd.Simulation.getCurrent()
        if simulation.getModel() is not None:
            simulation.reset()
            simulation.getModel().cleanup()
        simulation.initDefault()
        self.model, self.stepper = simulation.getModel(), simulation.getTimeStep()
        pypbd.TimeManager.getCurrent().setTimeStepSize(self.inner_dt)
        options = pypbd.TimeStepController
        self.stepper.setValueUInt(options.NUM_SUB_STEPS, 1)
        self.stepper.setValueUInt(options.MAX_ITERATIONS, iterations)
        self.stepper.setValueUInt(options.MAX_ITERATIONS_V, 0)
        order = options.ENUM_VUPDATE_SECOND_ORDER if second_order else options.ENUM_VUPDATE_FIRST_ORDER
        self.stepper.setValueInt(options.VELOCITY_UPDATE_METHOD, order)
        with tempfile.TemporaryDirectory() as folder:  # a body must have a shape; it is read from a file
            path = Path(folder) / "box.obj"
            path.write_text(BOX, encoding="utf-8")
            self.shape = pypbd.OBJLoader.loadObjToMesh(str(path), [0.01, 0.01, 0.01])
        self.bodies = self.model.getRigidBodies()
        self.held: dict[int, tuple[Floats, Floats, Floats]] = {}
        self.slowed: list[Any] | None = None

    def add_body(self, mass: float, inertia: Sequence[float], position: Any, frame: Floats) -> int:
        """Add a body; its inertia is that about the columns of `frame`. Returns its number."""
        place = np.array(position, dtype=float)
        body = self.model.addRigidBody(1.0, *self.shape, place, frame, [1, 1, 1], False, None)
        # The call above takes mass and axes from the shape.
        quaternion = Rotation.from_matrix(frame).as_quat()
        body.initBody(mass, place, list(inertia), quaternion, *self.shape, [1, 1, 1])
        return len(self.bodies) - 1

    def fix(self, body: int) -> None:
        """Hold a body for good."""
        self.bodies[body].setMass(0.0)

    def make_heavy(self, body: int) -> None:
        """Let a body not be moved by its joints; `hold` says where it is."""
        it = self.bodies[body]
        it.setInertiaTensor(np.ravel(it.getInertiaTensor()) * HEAVY)
        it.setMass(it.getMass() * HEAVY)

    def hold(self, body: int, position: Floats, frame: Floats) -> None:
        """Put a heavy body where it belongs, now and before every step."""
        self.held[body] = position, frame, Rotation.from_matrix(frame).as_quat()

    def place(self, body: int, position: Floats, frame: Floats) -> None:
        """Move a body, at rest."""
        it, quaternion = self.bodies[body], Rotation.from_matrix(frame).as_quat()
        for put in (it.setPosition, it.setOldPosition, it.setLastPosition):
            put(position)
        for turn in (it.setRotation, it.setOldRotation, it.setLastRotation):
            turn(quaternion)
        it.rotationUpdated()

    def join(
        self, pairs: Sequence[tuple[int, int]], places: Any, radius: float, size: float, moduli: Any, shear: Any
    ) -> None:
        """Join bodies that form a tree, at points; one modulus for all joints, or one for each."""
        k = len(pairs)
        youngs, shears = (np.broadcast_to(m, k) * self.stiffening for m in (moduli, shear))
        if not self.model.addDirectPositionBasedSolverForStiffRodsConstraint(
            list(pairs), list(np.asarray(places)), [radius] * k, [size] * k, list(youngs), list(shears)
        ):
            raise RuntimeError("the tool refuses the tree of joints")

    def chain(self, problem: Problem, n: int, start: Any, frame: Floats, length: float) -> list[int]:
        """Add the bodies of a straight rod along the frame's second axis, not joined yet."""
        size, radius = length / n, problem["radius"]
        mass = problem["density"] * problem["area"] * size
        across, along = mass * (3.0 * radius**2 + size**2) / 12.0, 0.5 * mass * radius**2
        middles = np.array(start) + (np.arange(n)[:, None] + 0.5) * size * frame[:, 1]
        return [self.add_body(mass, (across, along, across), middle, frame) for middle in middles]

    def end(self, body: int, offset: float) -> Floats:
        """The point of a body at `offset` (m) from its centre along its second axis."""
        it = self.bodies[body]
        return np.ravel(it.getPosition()) + offset * np.asarray(it.getRotationMatrix())[:, 1]

    def run(self, steps: int, drag: float = 0.0) -> None:
        """Take steps; `drag` in 1/s."""
        step, model, still = self.stepper.step, self.model, np.zeros(3)
        lift = np.array((0.0, GRAVITY * self.inner_dt, 0.0))  # takes the weight of held bodies
        held = [(self.bodies[i], *pose) for i, pose in self.held.items()]
        every = max(1, round(DRAG_INTERVAL / self.dt))
        factor = math.exp(-drag * every * self.dt)
        if drag and self.slowed is None:
            self.slowed = [b for i, b in enumerate(self.bodies) if b.getMass() > 0.0 and i not in self.held]
        for i in range(steps):
            for body, position, frame, quaternion in held:
                body.setPosition(position)
                body.setRotation(quaternion)
                body.setRotationMatrix(frame)
                body.setVelocity(lift)
                body.setAngularVelocity(still)
                body.updateInertiaW()
            step(model)
            if drag and (i + 1) % every == 0:
                for body in self.slowed or ():
                    body.setVelocity(body.getVelocity() * factor)
