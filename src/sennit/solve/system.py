"""The system of a scene: its tables, the plans of its matrices, and what is asked of them between two steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.bodies.body import AbstractBody
from sennit.bodies.kernels import kinds
from sennit.constraints.cable.kernels.kinds import IMPLICIT, SPOOK
from sennit.constraints.cable.table import Rigging
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.load import Load
from sennit.contact.obstacle import Obstacle
from sennit.solve.kernels.accept import carry_all, evaluate_all, measure_rows
from sennit.solve.kernels.cables import along_row, begin_cables
from sennit.solve.kernels.entries import march
from sennit.solve.layout import SceneLayout
from sennit.solve.plan import MatrixPlan
from sennit.solve.table import BodyEnergies, Model, SceneTable
from sennit.tables import STATE
from sennit.validation import FloatArray

__all__ = ["System"]


class System:
    """Everything that the kernels of a scene read and write, built once for what is in the scene."""

    def __init__(
        self, bodies: Sequence[AbstractBody], constraints: Sequence[AbstractConstraint], loads: Sequence[Load],
        obstacles: Sequence[Obstacle] = (), touching: Callable[[SceneLayout], Any] | None = None,
    ) -> None:  # fmt: skip
        """`touching` makes the tables of what may touch (`touching.tables.TouchingTables`); None: nothing does."""
        self.layout = SceneLayout(bodies, constraints, loads, obstacles)
        self.model: Model = self.layout.model
        """All of its tables but those of a matrix."""
        self.dofs, self.duals = self.layout.dofs, self.layout.duals
        self.spare_energies: list[BodyEnergies] = []
        """Tables that energies were written to; each reader takes one, which is his alone, and gives it back."""
        self.touching = None if touching is None else touching(self.layout)
        """What may touch; None: nothing."""
        self.march = march if self.touching is None else self.touching.march
        """What makes steps."""
        self._plans: dict[bool, MatrixPlan] = {}
        self._laid: tuple[bytes, ...] = ()
        """The pattern that numbers were given places for."""
        self._set_scales()
        self.refresh()
        self.account_anew()

    def _set_scales(self) -> None:
        trial = self.model.trial
        self.size = max((size for body in self.layout.bodies if (size := body._size()) > 0.0), default=1.0)
        trial.size[0] = trial.scales[:] = self.size
        for body in self.layout.bodies:
            trial.scales[body._dof0 + body._angles()] = 1.0

    def room_for_energies(self) -> BodyEnergies:
        """A table for the energies of bodies, all 0: kernels add to it."""
        if self.spare_energies:
            made = self.spare_energies.pop()
            made.all_words[:] = 0
            return made
        model = self.model
        tables = (model.splines.rods, model.discretes.rods, model.rigids, model.sliders)
        return BodyEnergies(rows=sum(len(table) for table in tables))

    # ------------------------------------------------------------------------------------------------------- plans

    def plan(self, curved: bool) -> MatrixPlan:
        """The plan of the matrix, without or with what a static solve adds; made when first asked for."""
        found = self._plans.get(curved)
        new = self.touching is not None and (found is None or self.touching.is_new_to(found))
        if found is None or (new and curved):
            found = self._plans[curved] = MatrixPlan(self.layout, curved, self.touching if curved else None)
        if new:
            assert self.touching is not None
            found.scene = self.touching.scene(found)
        return found

    def forget_plans(self) -> None:
        """A slider has entered another span: rows touch other degrees of freedom now."""
        self._laid = self._pattern()
        self._plans.clear()
        self.layout.lay_out()
        self.model = self.layout.model
        sliders = self.model.sliders
        sliders.span[:] = self.model.points.first[sliders.point]

    def _pattern(self) -> tuple[bytes, ...]:
        """What may change in which degrees of freedom rows touch: spans of sliders, and what cables lie on."""
        points, sliders, elements = self.model.points, self.model.sliders, self.model.rigging.elements
        return points.first[sliders.point].tobytes(), elements.on.tobytes(), elements.carrier.tobytes()

    def spans_left(self) -> bool:
        """Whether the iterate's sliders have left the spans that the matrix was analysed for."""
        return bool(kinds.find_spans(self.model, self.model.trial.q))

    def owner_of(self, dual: int) -> AbstractConstraint:
        """The constraint that an equality row belongs to."""
        rows = self.model.rows
        return self.layout.constraints[int(rows.owner[int(np.flatnonzero(rows.dual == dual)[0])])]

    # ------------------------------------------------------------------------------------------ between two states

    def find_spans(self) -> None:
        """Put points where they are, and sliders' on their spans, after the state was put back."""
        kinds.find_spans(self.model, self.model.motion.q)
        self.layout.cables.number_carriers()
        if self._pattern() == self._laid:
            self.layout.lay_spans()
        else:
            self.forget_plans()
        evaluate_all(self.model)

    def account_anew(self) -> None:
        """The state was set from outside: the account of energy begins with what is there now."""
        self.model.ledger.fresh[0] = 1

    def account(self) -> dict[str, NDArray[Any]]:
        """The arrays that hold the accounts of energy and momenta, by name."""
        return {
            f"{name}.{field}": array
            for name, table in (("ledger", self.model.ledger), ("groups", self.model.groups))
            for field, array in table.fields(STATE).items()
        }

    def set_account(self, kept: dict[str, NDArray[Any]]) -> None:
        """Go on with copies of what `account` gave."""
        self.layout.find_groups()
        for name, array in self.account().items():
            array[...] = kept[name]

    def refresh(self) -> None:
        """Bring points and rows up to date with the state: after it was set from outside."""
        self.find_spans()
        measure_rows(self.model)

    def carry_points(self) -> None:
        """Carry the points' frames on to the state, after it was moved by a little."""
        self.find_spans()
        carry_all(self.model)
        sliders = self.model.sliders
        sliders.position[:] = self.model.places.position[sliders.point]
        measure_rows(self.model)

    def kept(self) -> list[Any]:
        """Copies of every number that a step changes."""
        return [array.copy() for array in self._changing()]

    def _changing(self) -> list[Any]:
        things: list[Any] = [*self.layout.bodies, *self.layout.points]
        bodies = [array for thing in things for array in thing._state_arrays().values()]
        rows = self.model.rows.fields(STATE).values()
        return [*bodies, *rows, self.layout.cables.words]

    def put_back(self, kept: list[Any]) -> None:
        """Put back what `kept` copied."""
        for array, copy in zip(self._changing(), kept, strict=True):
            array[...] = copy
        self.find_spans()

    # ------------------------------------------------------------------------------------------------------ cables

    def _with_cables(self, mode: int) -> SceneTable:
        """The tables with copies of the cables', whose paths are where things are now."""
        scene = self.plan(False).bare
        tables = {name: getattr(scene, name) for name in scene._fields} | {"rigging": scene.rigging.copy()}
        copied = SceneTable(**tables)
        begin_cables(mode, copied)
        return copied

    def cables_now(self) -> Rigging:
        """Copies of the cables' tables with their paths where things are now: what a step reads is left as it is."""
        rigging: Rigging = self._with_cables(IMPLICIT).rigging
        return rigging

    def cable_jacobian(self, index: int) -> tuple[NDArray[np.int64], FloatArray]:
        """Degrees of freedom that move cable number `index`, and the Jacobian of its rows."""
        rigging = self._with_cables(SPOOK).rigging
        rows = np.flatnonzero((rigging.rows.cable == index) & (rigging.rows.part_number < rigging.cables.parts[index]))
        matrix = np.zeros((len(rows), self.dofs))
        for k in range(self.dofs):
            unit = np.zeros(self.dofs)
            unit[k] = 1.0
            matrix[:, k] = [along_row(int(row), unit, rigging) for row in rows]
        used = np.flatnonzero(matrix.any(axis=0))
        return used, matrix[:, used]
