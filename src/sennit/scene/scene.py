"""The scene: bodies, what ties them, and time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import guarded, unchanging
from sennit.bodies.body import AbstractBody
from sennit.bodies.kernels import kinds
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.pearl import Pearl
from sennit.bodies.world import World
from sennit.constraints.cable.cable import Cable
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.load import Load
from sennit.constraints.place import Clamp
from sennit.constraints.slide import BeadContact, Keyhole, SliderRows
from sennit.controls import Dashboard
from sennit.errors import InputError, SolveError, SolveReport
from sennit.material import Material, Section
from sennit.scene.contents import Contents
from sennit.scene.troubles import Troubles
from sennit.solve.report import Event, SceneEnergy, SettleReport, StepReport
from sennit.solve.stepper import Stepper
from sennit.solve.table import BodyEnergies
from sennit.validation import FloatArray, quoted

__all__ = ["Scene", "Snapshot"]

Thing = TypeVar("Thing", bound="AbstractBody | AbstractConstraint | Load")
INTEGRATORS = ("euler", "bdf2", "midpoint")
SHORTEST_STEP = 1e-15
"""Shortest step, s: at shorter ones inertia over dt² leaves the range in which forces are more than rounding."""
MOST_STEPS = 1e9
"""Of one run: half a day of steps of a small scene."""


@unchanging
@dataclass(frozen=True, eq=False)
class Snapshot:
    """The whole state of a scene at one time, as `Scene.snapshot` took it."""

    _owner: Scene
    _things: tuple[list[Any], ...]
    _slider_rows: list[SliderRows]
    _contacts: list[BeadContact]
    _numbered: list[Any]
    _numbers: list[dict[str, Any]]
    _clock: tuple[float, float]
    _settings: tuple[FloatArray, float, str]
    """Gravity, drag and integrator."""
    _events: tuple[Event, ...]
    _released: set[AbstractBody]
    _redundant: tuple[Any, ...]
    _account: dict[str, Any]
    """Of energy and of momenta."""
    _spells: list[list[Any]]
    """Of trouble that may go on."""

    @property
    def time(self) -> float:
        """Of the scene when it was taken, s."""
        return self._clock[0]


@guarded()
class Scene(Contents, Dashboard):
    """Bodies, constraints and loads that move together.

    Arguments: `gravity` (3,), m/s²; `drag`, 1/s, slows everything in proportion to its mass; `integrator`:

    * ``"euler"``: linearised backward Euler, one solve a step, damps what is faster than dt. Large steps are
      stable; where a rod turns by radians within one, the linearised step may land far off: halve it.
    * ``"bdf2"``: as cheap and as stable, second order: far less damping of slow motion.
    * ``"midpoint"``: Newton iterations, keeps energy (to rounding in a plane); for dt ≤ 2 ms on stiff thin threads; a
      step that does not converge is redone by a damped method, and `events` says so.

    The same program gives bitwise the same states on every run.
    """

    def __init__(
        self,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        drag: float = 0.0,
        integrator: str = "euler",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._gravity = validation.vector("gravity", gravity)
        self._drag = validation.number("drag", drag, minimum=0.0)
        self._integrator = validation.choice("integrator", integrator, INTEGRATORS)
        self._name = validation.label("name", name)
        self._events: list[Event] = []
        self._troubles = Troubles(self._events)

    @property
    def name(self) -> str | None:
        """What pages and messages call it; None: nothing. Can be set."""
        return self._name

    @name.setter
    def name(self, value: str | None) -> None:
        self._name = validation.label("name", value)

    @property
    def gravity(self) -> FloatArray:
        """Acceleration of free fall: (3,), m/s². Can be set."""
        return self._gravity.copy()

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._gravity = validation.vector("gravity", value)
        if self._system is not None:
            self._system.account_anew()

    @property
    def drag(self) -> float:
        """Mass-proportional damping, 1/s. Can be set."""
        return self._drag

    @drag.setter
    def drag(self, value: float) -> None:
        self._drag = validation.number("drag", value, minimum=0.0)

    @property
    def integrator(self) -> str:
        """``"euler"``, ``"bdf2"`` or ``"midpoint"``. Can be set."""
        return self._integrator

    @integrator.setter
    def integrator(self, value: str) -> None:
        self._integrator = validation.choice("integrator", value, INTEGRATORS)
        self._clock.last_step = 0.0

    # ----------------------------------------------------------------------------------------------------- time

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._clock.time

    def _go_on_from(self, clock: Sequence[float], released: Iterable[AbstractBody], events: Iterable[Event]) -> None:
        """Go on from the state that was put into the scene's arrays.

        `clock`: its time and its last step, s; `released`: what has left its rod; `events`: what happened besides.
        """
        stepper = self._compiled()
        stepper.system.find_spans()
        stepper.solver.note_softened()
        self._clock.time, self._clock.last_step = clock
        self._released = set(released)
        self._events += events

    def _set_time(self, value: float) -> None:
        """Set the clock to `value`, s; nothing else changes."""
        self._clock.time = validation.number("value", value)

    @property
    def events(self) -> tuple[Event, ...]:
        """What has happened so far, oldest first."""
        return tuple(self._events)

    @property
    def report(self) -> StepReport:
        """How the last step was solved."""
        if self._system is None:
            return StepReport(0, 0, self._integrator, self._redundant)
        report, tale = self._system.model.report, self._clock.tale
        iterations, solves = int(report.iterations[0]), int(report.active_solves[0])
        return StepReport(iterations, solves, self._integrator, self._redundant, tale.parts, tale.depth, tale.held_time)

    def step(self, dt: float) -> None:
        """Advance by `dt` (s). `report` says how the step was solved.

        Raises `SolveError`, with the last good state kept, when the step has no solution, and `InputError` when
        constraints contradict each other (it names them).
        """
        h = validation.number("dt", dt, minimum=SHORTEST_STEP)
        self._check_free()
        clock = self._clock
        if not self._bodies:
            clock.time += h
            return
        stepper = self._compiled()
        if stepper.system.dofs == 0:  # zones that nothing holds
            clock.time += h
            return
        places = [(led, led._anchor.pose) for led in self._leads] if self._leads else ()
        if self._leads:
            self._lead(clock.time + h)
        try:
            tale = stepper.step(self._integrator, h, clock.last_step, self._drag, self._gravity)
        except (InputError, SolveError):
            for led, place in places:
                led._anchor._set(place)
            raise
        clock.time += h
        # After a shock or the end of a contact a two-step scheme starts afresh: its last velocity is another motion's.
        clock.last_step = tale.last
        clock.tale = tale
        if tale.quiet:
            self._troubles.quiet()
            return
        if tale.cause is not None or tale.calmed > 0.0 or tale.yielded > 0.0:
            self._troubles.tell(tale, stepper.system, clock.time)
        else:
            self._troubles.quiet()
        self._after_solve(stepper)

    def run(self, duration: float, dt: float = 1e-2, *, each: Callable[[Scene], object] | None = None) -> None:
        """Advance by `duration` (s) in steps of `dt` (s), the last one shorter if they do not divide; `each` is called
        with the scene after every step.
        """
        total, h = validation.number("duration", duration, minimum=0.0), validation.number("dt", dt, positive=True)
        if total / h > MOST_STEPS:
            raise InputError(f"{total:g} s in steps of {h:g} s are more than {MOST_STEPS:g} steps: choose a longer dt")
        steps = int(total / h + 1e-9)
        for _ in range(steps):
            self.step(h)
            if each is not None:
                each(self)
        rest = total - steps * h
        if rest > max(1e-9 * h, SHORTEST_STEP):
            self.step(rest)
            if each is not None:
                each(self)

    def settle(self, *, max_iterations: int = 300, tolerance: float = 1e-8, throw: bool = True) -> SettleReport:
        """Find a static equilibrium near the present shape, and take it: velocities become zero, time stands.

        The report says in how many iterations, and whether the equilibrium is stable. `tolerance`: largest unbalanced
        force over the scene's typical force (EI/L², weight and loads). Targets may be far away: points are led there.
        Raises `SolveError` if none is found, with the best state reached in the scene, or the scene as it was where a
        rod would fold between its control points; ``throw=False`` returns the report instead.
        """
        count = validation.count("max_iterations", max_iterations, 1, validation.UNLIMITED)
        limit = validation.number("tolerance", tolerance, positive=True)
        throwing = validation.flag("throw", throw)
        self._check_free()
        if not self._bodies:
            return SettleReport("converged", True, 0, 0.0)
        stepper = self._compiled()
        if stepper.system.dofs == 0:
            return SettleReport("converged", True, 0, 0.0)
        self._lead(self._clock.time)
        stepper.system.model.rows.ahead[:] = 0.0
        assert self._statics is not None
        report = self._statics.settle(self._gravity, count, limit)
        stepper.system.account_anew()
        self._clock.last_step = 0.0
        self._after_solve(stepper)
        if throwing and not report.converged:
            details = SolveReport("failed", report.iterations, report.residual, "settle", self.dofs, report.message)
            raise SolveError(details, report)
        return report

    def _lead(self, time: float) -> None:
        """Move what follows a path to where it is at `time`; nothing moves if a path fails."""
        places = [(led, led._place_at(time)) for led in self._leads]
        for led, place in places:
            led._anchor._set(place)

    def _after_solve(self, stepper: Stepper) -> None:
        solver = stepper.solver
        if solver.redundant is not None:
            duals, solver.redundant = solver.redundant, None
            self._redundant = tuple(dict.fromkeys(stepper.system.owner_of(dual) for dual in duals))
            names = ", ".join(c.name for c in self._redundant)
            text = f"rows that others make superfluous: {names}; their forces are shared arbitrarily"
            self._events.append(Event(self._clock.time, "redundant", self._redundant, text))
        report = stepper.system.model.report
        if report.left[0]:
            for body in self._bodies:
                if body._has_left() and body not in self._released:
                    self._released.add(body)
                    holder: Any = next((c for c in self._constraints if c._holds(body)), body)
                    (rod,) = body._rides_on()
                    text = f"{rod.name} ran out of {holder.name}"
                    self._events.append(Event(self._clock.time, "released", (holder, rod), text))
        if report.happenings[0]:
            for constraint in self._constraints:
                self._events += [
                    Event(self._clock.time, kind, (constraint,), text) for kind, text in constraint._news()
                ]

    def _rows_switched(self) -> None:
        """A constraint was switched: rows that were superfluous may be needed now."""
        self._redundant = ()
        if self._system is not None:
            self._system.model.rows.spare[:] = 0.0
            self._system.layout.find_groups()
            self._system.account_anew()

    # -------------------------------------------------------------------------------------------------- reading

    @property
    def dofs(self) -> int:
        """Number of degrees of freedom."""
        return self._compiled().system.dofs

    @property
    def multipliers(self) -> tuple[int, int]:
        """Numbers of rows that tie bodies to the world, and to each other."""
        self._compiled()
        absolute = relative = 0
        for constraint in [*self._constraints, *self._contacts]:
            rows = len(constraint.multipliers)
            if any(point.body is None for point in constraint.points):
                absolute += rows
            else:
                relative += rows
        return absolute, relative

    @property
    def energy(self) -> SceneEnergy:
        """Energy by kind, J."""
        model = self._compiled().system.model
        tables = (model.splines.rods, model.discretes.rods, model.rigids, model.sliders)
        parts = BodyEnergies(rows=sum(len(table) for table in tables))
        kinds.energies(model, self._gravity, parts)
        rows = model.rows
        springs = np.isfinite(rows.compliance) & (rows.compliance > 0.0) & (rows.enabled == 1)
        springs &= (rows.dual >= 0) | (rows.value < 0.0)  # one-sided rows push only when they are broken
        springs &= rows.rate == 0
        stored = 0.5 * float(np.sum(rows.value[springs] ** 2 / rows.compliance[springs]))
        kinetic, stretch, bend, twist, gravity = np.stack([*parts.fields().values()], axis=1).sum(axis=0).tolist()
        for constraint in self._constraints:
            elastic, turning = constraint._energy()
            stored, kinetic = stored + elastic, kinetic + turning
        solids = sum(stored_in for body in self._bodies if (stored_in := body._strain_energy()) is not None)
        return SceneEnergy(kinetic, stretch, bend, twist, gravity, stored, solids)

    def _momenta(self) -> FloatArray:
        out = np.zeros(6)
        kinds.momenta(self._compiled().system.model, out)
        for constraint in self._constraints:
            spin = constraint._spin()
            if spin is not None:
                out[3:] += spin
        return out

    @property
    def linear_momentum(self) -> FloatArray:
        """Of everything that moves: (3,), kg·m/s."""
        return self._momenta()[:3]

    @property
    def angular_momentum(self) -> FloatArray:
        """Of everything that moves, about the origin: (3,), N·m·s."""
        return self._momenta()[3:]

    def saddle_point(self) -> tuple[Any, FloatArray]:
        """Matrix (sparse) and right side of the last solve, unknowns (Δq, −λ): for studies of solvers."""
        system = self._compiled().system
        rows = system.model.rows
        right = np.concatenate((system.model.trial.force, rows.wanted[rows.dual >= 0]))
        return system.plan(False).whole(), right

    def displace(self, increments: ArrayLike) -> None:
        """Move all degrees of freedom by `increments` (dofs,): m; rolls in rad; rigid bodies by world rotation vectors.

        Frames are carried along, velocities kept.
        """
        system = self._compiled().system
        moved = validation.array("increments", increments, (system.dofs,))
        for body in system.layout.bodies:
            body._hold_rolls(moved[body._dof0 : body._dof0 + len(body._motion)])
        kinds.displace(system.model, moved, np.zeros((len(system.model.rigids), 3)))
        for body in system.layout.bodies:
            body._carry()
        system.carry_points()
        system.account_anew()
        self._clock.last_step = 0.0

    def plot(self, axes: Any = None, *, rods: Sequence[Rod] | None = None) -> Any:
        """Draw the scene as it is with matplotlib: shapes in space, and curvature (1/m), tension (N) and internal
        moment (N·m) over the rest length of its rods, by component for one rod, by size for several.

        Arguments: `axes`, four matplotlib axes to draw on, the first of them made with ``projection="3d"``, or that one
        alone for the shapes; by default a new figure. `rods`: those to show in the diagrams, by default all.

        Returns the figure. Raises `InputError` for other axes and for rods that are not in the scene.
        """
        from sennit.export.plot import plot_scene

        return plot_scene(self, axes, rods)

    # ------------------------------------------------------------------------------------- snapshots and files

    def snapshot(self) -> Snapshot:
        """The whole state, to go back to with `restore`: continuing from there gives bitwise the same states."""
        self._compiled()
        things: tuple[list[Any], ...] = (list(self._bodies), list(self._constraints), list(self._loads))
        numbers = [{key: array.copy() for key, array in thing._state_arrays().items()} for thing in self._numbered()]
        clock, settings = (self._clock.time, self._clock.last_step), (self.gravity, self._drag, self._integrator)
        events, released = tuple(self._events), set(self._released)
        unseen = (list(self._slider_rows.values()), list(self._contacts))
        assert self._system is not None
        return Snapshot(
            self, things, *unseen, self._numbered(), numbers, clock, settings, events, released, self._redundant,
            {name: array.copy() for name, array in self._system.account().items()}, self._troubles.spells(),
        )  # fmt: skip

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a `snapshot` of this scene, with what was in it then, its gravity, drag and integrator."""
        if not isinstance(snapshot, Snapshot) or snapshot._owner is not self:
            raise InputError(f"restore takes a snapshot of this scene, got {quoted(snapshot)}")
        self._check_free()
        bodies, constraints, loads = snapshot._things
        same = (bodies, constraints, loads) == (self._bodies, self._constraints, self._loads)
        same = same and snapshot._contacts == self._contacts
        if not same or self._system is None:
            present: list[Any] = [*self._bodies, *self._constraints, *self._loads]
            for thing in present:
                thing._scene = None
            for constraint in self._constraints:
                if constraint not in constraints:
                    constraint._leave_tables()
            self._bodies, self._constraints, self._loads = list(bodies), list(constraints), list(loads)
            for thing in [*bodies, *constraints, *loads]:
                thing._scene = self
            self._slider_rows = {rows.slider: rows for rows in snapshot._slider_rows}
            self._contacts = list(snapshot._contacts)
            self._changed()
            self._compiled()
        for thing, arrays in zip(snapshot._numbered, snapshot._numbers, strict=True):
            for key, array in thing._state_arrays().items():
                array[...] = arrays[key]
        self._clock.time, self._clock.last_step = snapshot._clock
        gravity, self._drag, self._integrator = snapshot._settings
        self._gravity = gravity.copy()
        self._events[:], self._released = snapshot._events, set(snapshot._released)
        self._troubles.go_on(snapshot._spells)
        self._redundant = snapshot._redundant
        assert self._system is not None and self._stepper is not None
        self._system.find_spans()
        self._system.set_account(snapshot._account)
        self._stepper.solver.note_softened()

    def reset(self) -> None:
        """Go back to how the scene was when it first moved: bodies, targets, switches, time 0.

        What was added later goes back to how it was when the next step began.
        """
        self._check_free()
        self._compiled()
        for thing in self._numbered():
            for key, array in thing._state_arrays().items():
                array[...] = self._beginnings[id(thing)][1][key]
        self._clock.time = self._clock.last_step = 0.0
        self._events.clear()
        self._troubles.go_on(())
        self._released.clear()
        self._redundant = ()
        assert self._system is not None
        self._system.find_spans()
        self._system.layout.find_groups()
        for array in self._system.account().values():
            array[...] = 0
        self._system.account_anew()

    def save(self, path: str | Path) -> None:
        """Write the scene to one file (.npz): what is in it and its whole state; continuing is bitwise the same.

        A `Follow` cannot be saved, as its path is a function: remove it first.
        """
        from sennit.storage.scene_file import save_scene

        save_scene(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Scene:
        """The scene that `save` wrote to `path`; its bodies and constraints are in the same order."""
        from sennit.storage.scene_file import load_scene

        return load_scene(cls, path)


def _small_scene() -> Scene:
    """A rope, a ball, a pearl and a hole: what it takes to compile every kernel."""
    scene = Scene()
    material = Material(1e7, 0.4, 1000.0)
    rope = scene.add(
        Rod.straight(
            (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), section=Section.circle(0.01), material=material, control_points=6
        )
    )
    ball = scene.add(RigidBody.sphere(0.1, mass=1.0, position=(0.0, 0.0, 1.0)))
    scene.add(Cable([World.at((0.0, 0.0, 3.0)), ball.at((0.0, 0.0, 0.1))], stretch_stiffness=100.0))
    scene.add(Clamp(rope.at(0.0)))
    scene.add(Pearl(rope, 0.3, mass=0.01, radius=0.01, friction=0.1))
    scene.add(Keyhole(rope, 0.6, World.at((0.6, 0.0, 0.0))))
    return scene


FIRST_STEPS = (
    ("tables", lambda: _small_scene().energy),
    ("steps and static solves", lambda: _small_scene().step(1e-3)),
)
