"""What is read of a batch: arrays with the scenes along their first axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.attributes import guarded
from sennit.batch.kernels.read import read_energies, read_wrenches
from sennit.bodies.point.point import Point
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rigid.point import RigidPoint
from sennit.bodies.rod.point import RodPoint
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.slider import Slider
from sennit.bodies.world import WorldPoint
from sennit.compilation import PLAIN
from sennit.constraints.constraint import AbstractConstraint
from sennit.errors import InputError
from sennit.solve.table import BodyEnergies
from sennit.validation import FloatArray, quoted

__all__ = ["Reading"]

ENERGIES = ("kinetic", "stretch", "bend", "twist", "gravity", "constraints")


@guarded()
class Reading:
    """The part of a `Batch` that tells where everything is."""

    _shop: Any
    _roots: NDArray[np.int64]
    _gravity: FloatArray
    _on_card = False
    """Whether numbers are on a graphics card."""
    count: Any

    def _field(self, name: str) -> NDArray[Any]:
        raise NotImplementedError

    def _own(self, thing: Any) -> Any:
        raise NotImplementedError

    def _bring(self, i: int) -> None:
        raise NotImplementedError

    def _alone(self) -> Any:
        raise NotImplementedError

    @property
    def q(self) -> FloatArray:
        """Degrees of freedom of all scenes (B, dofs), as `Scene.dofs` counts them: a live view, to be read only."""
        return _locked(self._field("motion.q"))

    @property
    def v(self) -> FloatArray:
        """Their rates (B, dofs): a live view, to be read only."""
        return _locked(self._field("motion.v"))

    def positions(self, thing: Any) -> FloatArray:
        """Where it is in each scene, m: of a point, a rigid body's centre or a slider (B, 3); of a rod its control
        points (B, n, 3). Of what the tables hold they are live views, to be read only.
        """
        own = self._thing(thing)
        if isinstance(own, Rod):
            return _locked(self._nodal(own, "q")[..., :3])
        if isinstance(own, RigidBody):
            return _locked(self._field("motion.q")[:, own._dof0 : own._dof0 + 3])
        if isinstance(own, WorldPoint):
            return self._of_world(own)
        if isinstance(own, RodPoint) and not own._beside:
            return self._along(own, "q")
        if isinstance(own, RigidPoint):
            return self.positions(own.body) + self._arm(own)
        if own._index >= 0:
            return _locked(self._field("places.position")[:, own._index])
        return self._read(lambda: own.position)

    def velocities(self, thing: Any) -> FloatArray:
        """How fast it moves, m/s: as `positions`."""
        own = self._thing(thing)
        if isinstance(own, Rod):
            return _locked(self._nodal(own, "v")[..., :3])
        if isinstance(own, RigidBody):
            return _locked(self._field("motion.v")[:, own._dof0 : own._dof0 + 3])
        if isinstance(own, RodPoint) and not own._beside:
            return self._along(own, "v")
        if isinstance(own, RigidPoint):
            return self.velocities(own.body) + np.cross(self.angular_velocities(own.body), self._arm(own))
        return self._read(lambda: own.velocity)

    def angular_velocities(self, thing: Any) -> FloatArray:
        """How fast a rigid body or a point turns, rad/s, world frame: (B, 3)."""
        own = self._thing(thing)
        if isinstance(own, RigidBody):
            return _locked(self._field("motion.v")[:, own._dof0 + 3 : own._dof0 + 6])
        return self._read(lambda: own.angular_velocity)

    def centerline(self, rod: Any, count: int = 200) -> FloatArray:
        """`count` points at equal steps of a rod's rest length, in each scene: (B, count, 3), m, as `Rod.centerline`.

        `positions` of a rod are its control points, which the curve of a spline rod does not pass through.
        """
        own = self._rod(rod)
        u = own._stations(count)
        unit = np.zeros((own._tables.n, 4))
        weights = np.empty((len(u), own._tables.n))
        for k in range(own._tables.n):  # it is linear in the control points: what each of them does
            unit[k, 0] = 1.0
            weights[:, k] = own._tables.model.values_along(own._tables, unit, u)[:, 0]
            unit[k, 0] = 0.0
        made: FloatArray = np.matmul(weights, self._nodal(own, "q")[..., :3])
        return made

    def frames(self, thing: Any, count: int = 200) -> FloatArray:
        """Axes of a rigid body or a point as columns: (B, 3, 3). Of a rod at the places of `centerline`:
        (B, count, 3, 3), columns d1, d2, d3, as `Rod.frames`; that takes some hundred microseconds a scene.
        """
        own = self._thing(thing)
        if isinstance(own, Rod):
            own._stations(count)  # refuses what is no count
            return self._read(lambda: own.frames(count))
        if isinstance(own, RigidBody):
            return _matrices(self._field("rigids.quat")[:, own._index])
        if isinstance(own, Point) and own._index >= 0 and not isinstance(own, WorldPoint):
            return _locked(self._field("places.frame")[:, own._index].reshape(-1, 3, 3))
        return self._read(lambda: own.frame)

    def forces(self, constraint: Any) -> FloatArray:
        """What a constraint applies to its first point: (B, 3), N, world frame."""
        return self._wrenches(constraint)[:, :3]

    def torques(self, constraint: Any) -> FloatArray:
        """The moment that a constraint applies at its first point: (B, 3), N·m, world frame."""
        return self._wrenches(constraint)[:, 3:6]

    def energies(self) -> dict[str, FloatArray]:
        """Energy by kind, J, as `Scene.energy` has it: (B,) each, and their sum ``"total"``."""
        if PLAIN or not self._energies_of_bodies():
            scene = self._shop.scene
            names = (*ENERGIES, "total")
            read = self._read(lambda: np.array([getattr(scene.energy, name) for name in names]))
            return {name: read[:, k].copy() for k, name in enumerate(names)}
        out = np.zeros((self.count, len(ENERGIES)))
        parts = BodyEnergies(rows=self._body_count())
        read_energies(self._roots, self._gravity, self._shop.root(), parts, out)
        named = {name: out[:, k].copy() for k, name in enumerate(ENERGIES)}
        return named | {"total": out.sum(axis=1)}

    def _energies_of_bodies(self) -> bool:
        """Whether kernels read all of a scene's energy: that of its rods, rigid bodies, sliders and springs."""
        scene = self._shop.scene
        cables = any(c._cables() for c in scene._constraints)
        return not cables and all(body._strain_energy() is None for body in scene._bodies)

    def _body_count(self) -> int:
        model = self._shop.system.model
        return sum(len(table) for table in (model.splines.rods, model.discretes.rods, model.rigids, model.sliders))

    def read(self, thing: Any, name: str) -> NDArray[Any]:
        """A property of a thing of the scene in each scene: ``batch.read(pearl, "s")``, (B, …). Anything that is a
        number or an array can be read so; it takes a few ten microseconds a scene.
        """
        own = self._own(thing)
        if not isinstance(name, str) or name.startswith("_") or not hasattr(type(own), name):
            raise InputError(f"read takes the name of a property of {quoted(own)}, got {quoted(name)}")
        return self._read(lambda: np.asarray(getattr(own, name)))

    def _read(self, look: Callable[[], Any]) -> NDArray[Any]:
        with self._alone():
            found = []
            for i in range(self.count):
                self._bring(i)
                found.append(np.array(look()))
        made = np.stack(found)
        if made.dtype.kind not in "biuf":
            raise InputError(f"what is read must be numbers, got {quoted(found[0])}")
        return made

    def _wrenches(self, constraint: Any) -> FloatArray:
        own = self._tie(constraint)
        if PLAIN or own._first_row < 0:
            return self._read(lambda: own.wrench)
        first, end = own._first_row, own._first_row + len(own._rows)
        out = np.zeros((self.count, 6 + end - first))
        read_wrenches(first, end, self._roots, self._shop.root(), out)
        return out

    def _tie(self, constraint: Any) -> AbstractConstraint:
        """What stands in the workshop for a constraint with rows of its own."""
        own = self._own(constraint)
        if not isinstance(own, AbstractConstraint) or own._cables():
            raise InputError(f"forces are those of a constraint of the scene, no cable, got {quoted(constraint)}")
        return own

    def _thing(self, thing: Any) -> Any:
        """What stands in the workshop for a body or a point."""
        if isinstance(thing, Slider):
            thing = thing.at()
        if isinstance(thing, Rod | RigidBody):
            return self._own(thing)
        if not isinstance(thing, Point):
            raise InputError(f"give a rod, a rigid body, a slider or a point, got {quoted(thing)}")
        if thing._index >= 0 or thing.body is None:
            return self._own(thing)
        body = self._own(thing.body)
        twin = object.__new__(type(thing))
        twin.__dict__.update(thing.__dict__, _body=body)
        return twin

    def _rod(self, thing: Any) -> Rod:
        if not isinstance(thing, Rod):
            raise InputError(f"give a rod, got {quoted(thing)}")
        own: Rod = self._own(thing)
        return own

    def _nodal(self, rod: Rod, group: str) -> FloatArray:
        first, n = rod._dof0, rod._tables.n
        flat = self._field(f"motion.{group}")
        strides = (flat.strides[0], 4 * flat.strides[1], flat.strides[1])
        return np.lib.stride_tricks.as_strided(flat[:, first:], (self.count, n, 4), strides)

    def _along(self, point: RodPoint, group: str) -> FloatArray:
        """Σ N_i x_i of a rod's point, as the kernels sum it."""
        rod, row = point.body, point._row
        nodal = self._nodal(rod, group)
        first, basis = int(row.first[0]), row.basis[0]
        total = np.zeros((self.count, 3))
        for k in range(4):
            total += basis[k] * nodal[:, (first + k) % rod._tables.n, :3]
        return total

    def _arm(self, point: RigidPoint) -> FloatArray:
        quat = self._field("rigids.quat")[:, point.body._index]
        arm: FloatArray = np.einsum("bij,j->bi", _matrices(quat), point._row.local[0])
        return arm

    def _of_world(self, point: WorldPoint) -> FloatArray:
        if point._index < 0:
            return np.tile(point.position, (self.count, 1))
        return _locked(self._field("points.anchor")[:, point._index])


def _matrices(quat: FloatArray) -> FloatArray:
    """Rotations (B, 3, 3) of unit quaternions (B, 4)."""
    w, x, y, z = quat.T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=1) for row in rows], axis=1)


def _locked(view: NDArray[Any]) -> NDArray[Any]:
    """A view that can't be written to: what hangs on the numbers would not follow."""
    made = view.view()
    made.flags.writeable = False
    return made
