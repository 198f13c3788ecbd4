"""A solved strand: its shape, the forces in it and what its grips feel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sennit.attributes import unchanging
from sennit.cosserat.fields import Fields
from sennit.cosserat.solution import Solution
from sennit.errors import SolveReport
from sennit.geometry.pose import Pose
from sennit.geometry.rotations import quaternion_to_matrix
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.bodies.strand.strand import Strand

__all__ = ["StrandEnergy", "StrandState"]


@unchanging
@dataclass(frozen=True, slots=True)
class StrandEnergy:
    """Energies of a strand, J.

    For laws that couple strains, or are not linear, the elastic energy is not split: it is all in `bend`.
    """

    bend: float
    twist: float
    shear: float
    stretch: float
    load: float
    """Potential of the dead forces (gravity, force per length, point loads, tip force), zero at the world's origin."""

    @property
    def elastic(self) -> float:
        """Stored in the material."""
        return self.bend + self.twist + self.shear + self.stretch

    @property
    def total(self) -> float:
        """Elastic energy and potential of the dead forces. Moments and follower loads have no potential."""
        return self.elastic + self.load


@unchanging
class StrandState:
    """An equilibrium of a strand (or the best state found; `report` tells).

    Arrays hold one row per node, base first. Forces and moments are in the world frame; curvatures and stretches are
    the body-frame strains u and v. Internal force and moment are what the part beyond s exerts on the part before s;
    where a point load or a grip makes them jump, the value just before it is given.

    Everything is computed when it is first asked for. The arrays are read-only: a state does not change.
    """

    strand: Strand
    """The strand that was solved."""
    report: SolveReport
    """How it was solved."""
    _solution: Solution
    _coupled: bool

    def __init__(self, strand: Strand, solution: Solution, report: SolveReport, coupled: bool = False) -> None:
        own = self.__dict__  # it never changes: nothing else can fill it
        own["strand"], own["report"], own["_solution"], own["_coupled"] = strand, report, solution, coupled

    def __repr__(self) -> str:
        x, y, z = self.tip_pose.position
        report = self.report
        return (
            f"StrandState({report.status} in {report.iterations} iterations, residual {report.residual:.1e}, "
            f"tip at ({x:.6g}, {y:.6g}, {z:.6g}) m)"
        )

    @property
    def solution(self) -> Solution:
        """What the solver found, without units."""
        return self._solution

    @property
    def coupled(self) -> bool:
        """Whether a virtual coupling held the tip."""
        return self._coupled

    @cached_property
    def _fields(self) -> Fields:
        return self._solution.fields()

    @cached_property
    def s(self) -> FloatArray:
        """Arclength of the nodes at rest: (n,), m."""
        return _read_only(self._solution.conditions.problem.s * self.strand.length)

    @cached_property
    def positions(self) -> FloatArray:
        """Positions of the nodes: (n, 3), m."""
        return _read_only(self._fields.positions * self.strand.length)

    @property
    def quaternions(self) -> FloatArray:
        """Rotations of the cross-sections: (n, 4), scalar first."""
        return _read_only(self._solution.q.view())

    @cached_property
    def rotations(self) -> FloatArray:
        """Rotations of the cross-sections: (n, 3, 3), columns d1, d2, d3."""
        return _read_only(quaternion_to_matrix(self._solution.q))

    @cached_property
    def curvatures(self) -> FloatArray:
        """Bending about d1 and d2, and twist: u, (n, 3), 1/m, body frame."""
        return _read_only(self._fields.curvatures / self.strand.length)

    @property
    def stretches(self) -> FloatArray:
        """Shear along d1 and d2, and stretch: v, (n, 3), dimensionless, body frame."""
        return _read_only(self._fields.stretches.view())

    @cached_property
    def forces(self) -> FloatArray:
        """Internal force: (n, 3), N."""
        return _read_only(self._fields.forces * self.strand._model.force_unit)

    @cached_property
    def moments(self) -> FloatArray:
        """Internal moment: (n, 3), N·m."""
        return _read_only(self._fields.moments * self.strand._model.moment_unit)

    @cached_property
    def energy(self) -> StrandEnergy:
        """What is stored in the material, and the potential of the dead forces, J."""
        unit = self.strand._model.moment_unit
        return StrandEnergy(*(part * unit for part in self._solution.energies()))

    @cached_property
    def stable(self) -> bool | None:
        """Whether this equilibrium is a local minimum of the energy; None where follower loads or moments leave it
        undefined, or the solve did not converge.

        Neutral equilibria, such as the free roll of a strand that only points hold, count as stable.
        """
        if not self.report.converged:
            return None
        self.strand._prepare_stability()
        return self._solution.stable()

    @cached_property
    def tip_pose(self) -> Pose:
        """Where the tip is."""
        return Pose._trusted(self.positions[-1].copy(), self._solution.q[-1].copy())

    @property
    def tip_force(self) -> FloatArray:
        """What the grip (or the load) at the tip applies to the strand: (3,), N."""
        return self._solution.tip_force() * self.strand._model.force_unit

    @property
    def tip_torque(self) -> FloatArray:
        """What the grip (or the load) at the tip applies to the strand: (3,), N·m."""
        return self._solution.tip_torque() * self.strand._model.moment_unit

    @property
    def base_force(self) -> FloatArray:
        """What the grip at the base applies to the strand: (3,), N; zero if the base is free."""
        return self._solution.hold_force(0) * self.strand._model.force_unit

    @property
    def base_torque(self) -> FloatArray:
        """What the grip at the base applies to the strand: (3,), N·m; zero if nothing holds its rotation."""
        return self._solution.hold_torque(0) * self.strand._model.moment_unit

    @cached_property
    def via_forces(self) -> FloatArray:
        """What the held points between the ends apply to the strand, in order of s: (k, 3), N."""
        rows = [self._solution.hold_force(end) for end in self._solution.inner_holds()]
        return np.array(rows).reshape(-1, 3) * self.strand._model.force_unit

    @cached_property
    def via_torques(self) -> FloatArray:
        """What the held poses between the ends apply to the strand (zero for points), in order of s: (k, 3), N·m."""
        rows = [self._solution.hold_torque(end) for end in self._solution.inner_holds()]
        return np.array(rows).reshape(-1, 3) * self.strand._model.moment_unit

    @property
    def hand_force(self) -> FloatArray:
        """What the hand feels through the virtual coupling: (3,), N; zero without one."""
        return -self.tip_force if self._coupled else np.zeros(3)

    @property
    def hand_torque(self) -> FloatArray:
        """What the hand feels through the virtual coupling: (3,), N·m; zero without one."""
        return -self._solution.spring_torque() * self.strand._model.moment_unit if self._coupled else np.zeros(3)

    def plot(self, axes: Any = None) -> Any:
        """Draw shape, curvature, force and moment with matplotlib; returns the figure."""
        from sennit.bodies.strand.plot import plot_state

        return plot_state(self, axes)


def _read_only(array: FloatArray) -> FloatArray:
    array.flags.writeable = False
    return array
