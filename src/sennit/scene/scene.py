"""The scene: bodies, what ties them, and time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
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
from sennit.compile_once import compile_once
from sennit.constraints.cable.cable import Cable
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.load import Load
from sennit.constraints.place import Clamp
from sennit.constraints.slide import BeadContact, Keyhole, SliderRows
from sennit.contact.obstacle import Obstacle
from sennit.controls import Dashboard
from sennit.errors import InputError
from sennit.geometry.shapes import Plane
from sennit.material import Material, Section
from sennit.scene.colliding import ContactState
from sennit.scene.contents import MATTER
from sennit.scene.cutting import Seat, seats_of, sit_again
from sennit.scene.moving import Moving
from sennit.sending import packet, unpacked
from sennit.solve.kernels.energy import spring_energies
from sennit.solve.kernels.entries import march
from sennit.solve.report import Event, SceneEnergy
from sennit.solve.table import SceneTable
from sennit.touching.kernels.march import march_touching
from sennit.touching.tables import TouchingScene
from sennit.validation import FloatArray, quoted

__all__ = ["Scene", "Snapshot"]

Thing = TypeVar("Thing", bound="AbstractBody | AbstractConstraint | Load | Obstacle")


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
    _contact: ContactState
    """Rules, and what the next step goes on from."""
    _skins: list[tuple[Any, tuple[int, ...]]]
    """Zones, and the vertices that they hold for contact."""
    _matter: list[tuple[AbstractBody, Any]]
    """What bodies are made of, as far as it can change."""
    _put_in: float
    """Work done by changes of it, J."""
    _seats: list[Seat]
    """What lies on what: cuts put it elsewhere."""
    _moving: tuple[bool, bool]
    """Whether it had moved, and whether it was seen that nothing overlaps where it begins."""

    @property
    def time(self) -> float:
        """Of the scene when it was taken, s."""
        return self._clock[0]

    def __reduce__(self) -> Any:
        elsewhere = [seat for seat in self._seats if not seat.is_now]  # the others are as in the scene that goes along
        sent = self.__dict__ | {"_seats": elsewhere}
        return _snapshot_arrived, (self._owner, packet(self._owner, sent, whole=False))


@guarded()
class Scene(Moving, Dashboard):
    """Bodies, constraints, loads and obstacles: what moves together, and what it meets.

    Arguments: `gravity` (3,), m/s²; `drag`, 1/s, slows everything in proportion to its mass; `integrator`:

    * ``"euler"``: linearised backward Euler, one solve a step, damps what is faster than dt. Large steps are
      stable; where a rod turns by radians within one, the linearised step may land far off: halve it.
    * ``"bdf2"``: as cheap and as stable, second order: far less damping of slow motion.
    * ``"midpoint"``: Newton iterations, keeps energy (to rounding in a plane); for dt ≤ 2 ms on stiff thin threads.
    * ``"fourth"``: five of midpoint's, fourth order: for smooth motion that is to be exact. Steps with shocks, and
      scenes with friction or damping, are made by ``"bdf2"``, and `events` says so.

    A step that is too long for what happens in it is made in parts, and `events` says so.

    The same program gives bitwise the same states on every run.
    """

    def __init__(
        self,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        drag: float = 0.0,
        integrator: str = "euler",
        name: str | None = None,
    ) -> None:
        super().__init__(gravity, drag, integrator)
        self._name = validation.label("name", name)

    @property
    def name(self) -> str | None:
        """What pages and messages call it; None: nothing. Can be set."""
        return self._name

    @name.setter
    def name(self, value: str | None) -> None:
        self._name = validation.label("name", value)

    def __reduce__(self) -> Any:
        return _arrived, (type(self), packet(self, self._to_send(), whole=True))

    def _going_back_to(self, begin: object) -> Callable[[], object]:
        if not isinstance(begin, Snapshot) or begin._owner is not self:
            raise InputError(
                f"begin must be a snapshot of this scene or a function without arguments, got {quoted(begin)}"
            )
        return lambda: self.restore(begin)

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
        system = self._compiled().system
        compile_once("energy", READ_ENERGY)
        model, parts = system.model, system.room_for_energies()
        kinds.energies(model, self._gravity, parts)
        stored = float(spring_energies(model, False))
        each = (parts.kinetic, parts.stretch, parts.bend, parts.twist, parts.gravity)
        kinetic, stretch, bend, twist, gravity = (float(np.add.reduce(part)) for part in each)
        system.spare_energies.append(parts)
        for constraint in self._constraints:
            elastic, turning = constraint._energy()
            stored, kinetic = stored + elastic, kinetic + turning
        solids = sum(stored_in for body in self._bodies if (stored_in := body._strain_energy()) is not None)
        gravity += sum(body._hanging_energy() for body in self._bodies)
        return SceneEnergy(kinetic, stretch, bend, twist, gravity, stored, solids)

    @property
    def dissipated(self) -> float:
        """Energy (J) that rods which creep, yield, slip or transform have turned into heat since they were new: what
        their branches have lost. What `relaxation_time` and the time scheme take is not in it.
        """
        return float(sum(rod.tables.slips.lost.sum() for rod in self._bodies if isinstance(rod, Rod)))

    def _energy_now(self) -> float:
        return self.energy.total

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
        self._check_here("where things are")
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

    def _repr_html_(self) -> str:
        """A still with a line of facts, for notebooks."""
        from sennit.export.notebook import scene_html

        return scene_html(self)

    # ------------------------------------------------------------------------------------- snapshots and files

    def snapshot(self) -> Snapshot:
        """The whole state, to go back to with `restore`: continuing from there gives bitwise the same states."""
        self._compiled()
        things = tuple(map(list, self._things()))
        numbers = [{key: array.copy() for key, array in thing._state_arrays().items()} for thing in self._numbered()]
        clock, settings = (self._clock.time, self._clock.last_step), (self.gravity, self._drag, self._integrator)
        events, released = tuple(self._events), set(self._released)
        unseen = (list(self._slider_rows.values()), list(self._contacts))
        assert self._system is not None and self._stepper is not None
        return Snapshot(
            self, things, *unseen, self._numbered(), numbers, clock, settings, events, released, self._redundant,
            {name: array.copy() for name, array in self._system.account().items()}, self._troubles.spells(),
            self._contact_now(), self._skins_now(), self._matter_now(), self._put_in, seats_of(self),
            (self._stepper.solver.moved, self._stepper.looked),
        )  # fmt: skip

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a `snapshot` of this scene, with what was in it then, its gravity, drag, integrator and rules
        of contact.
        """
        if not isinstance(snapshot, Snapshot) or snapshot._owner is not self:
            raise InputError(f"restore takes a snapshot of this scene, got {quoted(snapshot)}")
        self._check_free()
        bodies, constraints, loads, obstacles = snapshot._things
        same = snapshot._things == self._things() and snapshot._contacts == self._contacts
        same = not self._set_rules(snapshot._contact) and same
        same = not self._set_skins(snapshot._skins) and same
        same = not sit_again(self, snapshot._seats) and same
        self._matter_was(snapshot._matter)
        self._put_in = snapshot._put_in
        if not same or self._system is None:
            for thing in itertools.chain(*self._things()):
                thing._scene = None
            for constraint in self._constraints:
                if constraint not in constraints:
                    constraint._leave_tables()
            self._bodies, self._constraints = list(bodies), list(constraints)
            self._loads, self._obstacles = list(loads), list(obstacles)
            for thing in itertools.chain(*self._things()):
                thing._scene = self
            self._slider_rows = {rows.slider: rows for rows in snapshot._slider_rows}
            self._contacts = list(snapshot._contacts)
            self._changed()
            self._compiled()
        for thing, arrays in zip(snapshot._numbered, snapshot._numbers, strict=True):
            for key, array in thing._state_arrays().items():
                array[...] = arrays[key]
        self._state_was_put()
        self._clock.time, self._clock.last_step = snapshot._clock
        gravity, self._drag, self._integrator = snapshot._settings
        self._gravity = gravity.copy()
        self._events[:], self._released = snapshot._events, set(snapshot._released)
        self._troubles.go_on(snapshot._spells)
        self._redundant = snapshot._redundant
        assert self._system is not None and self._stepper is not None
        self._contact_goes_on(snapshot._contact.met, snapshot._contact.kept)
        self._system.find_spans()
        self._system.set_account(snapshot._account)
        self._stepper.solver.note_softened()
        self._stepper.solver.moved, self._stepper.looked = snapshot._moving

    def reset(self) -> None:
        """Go back to how the scene was when it first moved: bodies, targets, switches, time 0. Nothing has touched yet,
        and rules of contact stay as they are.

        What was added later goes back to how it was when the next step began.
        """
        self._check_free()
        if self._set_skins([(zone, zone._skin.begun) for zone, _ in self._skins_now()]):
            self._changed()
        self._compiled()
        self._matter_was([(body, self._beginnings[id(body)][1][MATTER]) for body, _ in self._matter_now()])
        self._put_in = 0.0
        self._compiled()
        for thing in self._numbered():
            for key, array in thing._state_arrays().items():
                array[...] = self._beginnings[id(thing)][1][key]
        self._state_was_put()
        self._clock.time = self._clock.last_step = 0.0
        self._events.clear()
        self._troubles.go_on(())
        self._released.clear()
        self._redundant = ()
        assert self._system is not None
        self._contact_goes_on({}, None)
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

    def write(self, path: str | Path) -> Path:
        """Write the scene as text (.toml) that people read and edit, and return its path: what its constructors were
        given, and what was set since; `read` and ``sennit run`` make a scene of it.

        Bodies stand where they did when the scene first moved: `save` keeps the state. Functions, as paths of `Follow`,
        can't be written: give a `Route`. Raises `InputError`, and writes nothing, for what text can't say.
        """
        from sennit.text.writing import write_scene

        return write_scene(self, path)

    @classmethod
    def read(cls, path: str | Path) -> Scene:
        """The scene that the TOML file at `path` tells (docs/scene_files.md). Nothing in it is executed.

        Raises `InputError` that names the file, the line and what stands there.
        """
        from sennit.text.reading import read_scene

        return read_scene(path).scene


def _arrived(kind: type[Scene], packed: bytes) -> Scene:
    """A scene that was pickled."""
    scene = kind.__new__(kind)
    scene._arrive(unpacked(packed, scene))
    return scene


def _snapshot_arrived(scene: Scene, packed: bytes) -> Snapshot:
    """A snapshot that was pickled with its scene."""
    made = Snapshot.__new__(Snapshot)
    made.__dict__.update(unpacked(packed, scene))
    known = {id(seat.thing) for seat in made._seats}
    made._seats.extend(seat for seat in seats_of(scene) if id(seat.thing) not in known)
    return made


def _small_scene(cable: bool = True) -> Scene:
    """A rope, a ball, a pearl and a hole, and a `cable` or not: what it takes to compile every kernel."""
    scene = Scene()
    material = Material(1e7, 0.4, 1000.0)
    rope = scene.add(
        Rod.straight(
            (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), section=Section.circle(0.01), material=material, control_points=6
        )
    )
    ball = scene.add(RigidBody.sphere(0.1, mass=1.0, position=(0.0, 0.0, 1.0)))
    if cable:
        scene.add(Cable([World.at((0.0, 0.0, 3.0)), ball.at((0.0, 0.0, 0.1))], stretch_stiffness=100.0))
    scene.add(Clamp(rope.at(0.0)))
    scene.add(Pearl(rope, 0.3, mass=0.01, radius=0.01, friction=0.1))
    scene.add(Keyhole(rope, 0.6, World.at((0.6, 0.0, 0.0))))
    return scene


def prepare_march() -> None:
    """Compile the largest of a scene's entries, by far."""
    if not march.prepare(int, int, SceneTable):
        _small_scene().step(1e-3)


def prepare_touching() -> None:
    """Compile that of a scene where things may touch, which then needs no other."""
    if not march_touching.prepare(int, int, TouchingScene):
        scene = Scene()
        scene.add(Obstacle(Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))))
        scene.add(RigidBody.sphere(0.1, mass=1.0, position=(0.0, 0.0, 1.0)))
        scene.collide()
        scene.step(1e-3)


FIRST_STEPS = (lambda: _small_scene(cable=False)._compiled().system.plan(False),)
"""What compiles the kernels that make the tables of a scene; those that step it: `prepare_march`, or
`prepare_touching`."""
READ_ENERGY = (lambda: _small_scene(cable=False).energy,)
"""What compiles those that sum up energies."""
