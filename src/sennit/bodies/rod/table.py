"""The tables of rods that both models share, and the numbers of one rod."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sennit.bodies.rod.branches.table import Acting, Branches, Slips, checked_branches, repeated
from sennit.bodies.rod.places import Places, gauss_between, split
from sennit.material import Material, Section
from sennit.tables import PARAMETER, PLAN, STATE, WORK, Table, number, table, whole
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.bodies.rod.model import RodModel

__all__ = [
    "POSITIVE",
    "BendStrains",
    "Girths",
    "IntArray",
    "Masses",
    "RodKind",
    "RodTables",
    "Rods",
    "StretchStates",
    "StretchStrains",
    "fill_constants",
    "fill_points",
    "joined_rods",
    "new_rod",
]

IntArray: TypeAlias = NDArray[np.int64]
"""An array of int64; functions say its shape."""


class Rods(Table):
    """One row for each rod of one model."""

    index = whole(PLAN, "number among all rods of the scene, of either model")
    dof = whole(PLAN, "first of its 4 n degrees of freedom: x, y, z (m) and roll (rad) of each control point")
    count = whole(PLAN, "number n of control points")
    closed = whole(PLAN, "1 if its ends are joined")
    spans = whole(PLAN, "number of spans: n − 3 of an open spline, n of a closed one, n − 1 edges of a discrete rod")
    bend_first = whole(PLAN, "first of its bending points")
    bend_end = whole(PLAN, "the one after its last bending point")
    stretch_first = whole(PLAN, "first of its stretching points")
    stretch_end = whole(PLAN, "the one after its last stretching point")
    branches = whole(PLAN, "number of branches at each of its bending points")
    slip_first = whole(PLAN, "first of their rows in `branches` and `slips`")
    slip_end = whole(PLAN, "the one after the last of these")
    band = whole(PLAN, "first number of its block in the matrix")
    mass_first = whole(PLAN, "its first control point in `masses`")
    girth_first = whole(PLAN, "its first span in `girths`")
    girth_end = whole(PLAN, "the one after its last span there")
    tumbles = whole(PLAN, "1 if no row holds its directions: its frames are turned by the rigid part of its motion")
    radius = number(PARAMETER, "radius of its section where it is thickest, m")
    length = number(PARAMETER, "length at rest, m")
    mass_per_length = number(PARAMETER, "mass over length at rest, kg/m")
    turn = number(WORK, "rotation vector of the rigid part of its motion in the step, rad", 3)


class Masses(Table):
    """One row for each control point."""

    mass = number(PARAMETER, "mass between it and the k-th one after it, k = 0 … 3, kg", 4)
    roll = number(PARAMETER, "the same for their rolls, kg·m²", 4)
    total = number(PARAMETER, "sum of its row of the mass matrix, kg")
    chord = number(WORK, "unit vector along the rod at its roll", 3)
    flown = number(WORK, "roll to which free flight takes it, as the frames before the turn see it, rad")


class BendStrains(Table):
    """Strains of the bending points in the state before, as far as a two-step scheme needs it."""

    strain = number(STATE, "κ1, κ2, τ, 1/m", 3)


class StretchStates(Table):
    """One row for each stretching point: what a step carries to the next."""

    tension = number(STATE, "stored tension: an unknown of its own, N")
    strain = number(STATE, "ε of the last accepted shape")


class Girths(Table):
    """One row for each span."""

    thinner = number(PARAMETER, "part of its rod's largest radius by which it is thinner, at its begin and its end", 2)


class StretchStrains(Table):
    """Strains of the stretching points in the state before, as far as a two-step scheme needs it."""

    strain = number(STATE, "ε")


class RodKind(Table):
    """All rods of one model: a model's own class adds its tables `bends`, `stretches` and the states of bending.

    Kernels of both models read these names; `bend`, `stretch`, `bend_last` and `stretch_last` are the state, the
    others of their classes belong to the solve.
    """

    rods = table(Rods, "the rods")
    masses = table(Masses, "their control points")
    girths = table(Girths, "how thick their spans are")
    bend_last = table(BendStrains, "strains of bending before the last step")
    stretch = table(StretchStates, "tensions and strains of the state")
    stretch_trial = table(StretchStates, "those of the iterate")
    stretch_way = table(StretchStates, "those on the way to the iterate")
    stretch_last = table(StretchStrains, "strains of stretching before the last step")
    branches = table(Branches, "what flows in them, in parallel at each bending point")
    slips = table(Slips, "how far it has")
    acting = table(Acting, "what a solve takes at the bending points of those that have branches")

    if TYPE_CHECKING:
        # what every model declares for itself
        bends: Any
        bend: Any
        bend_trial: Any
        bend_way: Any
        stretches: Any

    @classmethod
    def holding(cls, **tables: Table) -> Self:
        """The kind of these tables: rods, masses, bends, stretches and states, branches and slips if there are any.

        What belongs to the solve is made.
        """
        bend, stretch = tables["bend"], tables["stretch"]
        tables.setdefault("girths", Girths(rows=tables["rods"].spans.sum()))
        tables.setdefault("branches", Branches(rows=0))
        tables.setdefault("slips", Slips(rows=0))
        tables["acting"] = Acting(rows=len(bend) if len(tables["branches"]) else 0)
        work = {"bend_trial": bend, "bend_way": bend, "stretch_trial": stretch, "stretch_way": stretch}
        return cls(**tables, **{name: kind.copy() for name, kind in work.items()})


_RANGES = {
    "rods": "",
    "masses": "mass",
    "girths": "girth",
    "bends": "bend",
    "bend": "bend",
    "bend_last": "bend",
    "stretches": "stretch",
    "stretch": "stretch",
    "stretch_last": "stretch",
    "halfway": "mass",
    "branches": "slip",
    "slips": "slip",
}
"""The tables that a rod has a part of, if its model has them, and the points that their rows stand for."""


def _parts_of(kind: type[RodKind]) -> list[str]:
    """The tables of a kind that its rods have parts of."""
    return [name for name in _RANGES if name in kind._fields]


_RODS = ("count", "spans", "closed", *(name for name, field in Rods._fields.items() if field.role == PARAMETER))
"""Fields of `Rods` that files have."""
POSITIVE = "radius", "mass_per_length"
"""Fields of `Rods` that are more than 0."""


def _constant(kind: type[Table]) -> list[str]:
    """The fields of a table that a solve does not write."""
    return [name for name, field in kind._fields.items() if field.role in (PLAN, PARAMETER)]


class RodTables:
    """The numbers of one rod: its row and its parts in the tables of a kind, and what Python alone reads.

    The kind is the rod's own until a scene joins those of its rods. Derivatives are by the parameter u, which runs from
    0 to `spans`.
    """

    def __init__(
        self,
        model: RodModel,
        kind: RodKind,
        *,
        rest: FloatArray,
        knot_lengths: FloatArray,
        bend_u: FloatArray,
        stretch_u: FloatArray,
        jumps: FloatArray | None = None,
    ) -> None:
        self.model = model
        """What makes it a spline or a chain of edges."""
        self.rest = rest
        """(n, 4): control points (m) and roll (rad) of the rod as it was made; its length measures s."""
        self.knot_lengths = knot_lengths
        """(spans + 1,), m: rest length s at u = 0, 1, …, spans."""
        self.bend_u = bend_u
        """(nb,): parameter u of the bending points, ascending."""
        self.stretch_u = stretch_u
        """(ns,): parameter u of the stretching points, ascending."""
        self.jumps = np.zeros(0) if jumps is None else jumps
        """Rest lengths (k,), m, at which what it is made of jumps."""
        self.matter: Any = None
        """What the rod was made of when it was cut from, or into, these tables."""
        self.n = len(rest)
        """Number of control points."""
        self.spans = len(knot_lengths) - 1
        """Number of spans."""
        self.closed = bool(kind.rods.closed[0])
        """Whether its ends are joined."""
        self.length = float(kind.rods.length[0])
        """Length at rest, m."""
        self.made = {"bend": kind.bend.copy(), "stretch": kind.stretch.copy()}
        """The state of its points as it was made."""
        self.enter(kind, 0)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_parts": {}}  # which are found again in its kind

    def enter(self, kind: RodKind, row: int) -> None:
        """Be a part of `kind`, whose rod number `row` has the numbers of this one."""
        self.kind = kind
        """The tables that it is a part of."""
        self.row = row
        """Its row of `kind.rods`."""
        self._parts: dict[str, Any] = {}

    def leave(self) -> None:
        """Be a kind of its own."""
        kind = type(self.kind).holding(**{name: self.part(name).copy() for name in _parts_of(type(self.kind))})
        _place_parts(kind, [self])
        kind.rods.dof[0] = kind.rods.band[0] = kind.rods.index[0] = 0
        self.enter(kind, 0)

    def take_branches(self, branches: Branches) -> None:
        """Have these branches, in which nothing has flowed yet, as many at each point: before a scene has it."""
        if not len(branches):
            return
        names = [name for name in _parts_of(type(self.kind)) if name not in ("branches", "slips")]
        tables: dict[str, Table] = {name: self.part(name).copy() for name in names}
        kind = type(self.kind).holding(**tables, branches=branches, slips=Slips(rows=len(branches)))
        kind.rods.branches[0], kind.rods.slip_end[0] = len(branches) // len(self.bend_u), len(branches)
        self.enter(kind, 0)

    @property
    def bend_s(self) -> FloatArray:
        """(nb,): rest length s of the bending points, m; never written to."""
        found: FloatArray | None = self.__dict__.get("_bend_s")
        if found is None:
            found = self.__dict__["_bend_s"] = self.model.length_at(self, self.bend_u)
        return found

    @property
    def places(self) -> Places:
        """Where it needs numbers of what it is made of."""
        found: Places | None = self.__dict__.get("_places")
        if found is None:
            found = self.__dict__["_places"] = self._find_places()
        return found

    def _find_places(self) -> Places:
        model, knots = self.model, np.arange(self.spans + 1.0)
        jumps = np.atleast_1d(model.parameter_at(self, self.jumps)) if len(self.jumps) else np.zeros(0)
        mass_u, mass_w = gauss_between(split(knots, jumps), model.mass_points)
        mass_w = mass_w * model.speeds_at(self, mass_u)
        fine_u = fine_w = np.zeros(0)
        if len(jumps):
            cells = [cells for cells in model.cells(self) if cells is not None]
            halves = np.arange(0.5, self.spans)
            fine_u, fine_w = gauss_between(split(np.unique(np.concatenate((knots, halves, *cells))), jumps), 4)
        bend = self.bend_s if model.smooth else self.knot_lengths[:-1]  # an edge bends at the node where it starts
        s = [bend, model.length_at(self, self.stretch_u), model.length_at(self, mass_u)]
        s.append(model.length_at(self, fine_u) if len(fine_u) else fine_u)
        s.append(np.array((0.0, self.length)))  # where radii may be largest
        ends = np.cumsum([0, *map(len, s)]).tolist()
        bends, stretches, masses, fine, _ = (slice(a, b) for a, b in zip(ends, ends[1:], strict=False))
        return Places(
            np.concatenate(s), bends, stretches, masses, mass_u, mass_w, fine, fine_u, fine_w, self.length
        )  # fmt: skip

    def part(self, name: str) -> Any:
        """Its rows of a table of its kind, which share their numbers with it."""
        found = self._parts.get(name)
        if found is None:
            points, row, rods = _RANGES[name], self.row, self.kind.rods
            if not points:
                start, stop = row, row + 1
            elif points == "mass":
                start = int(rods.mass_first[row])
                stop = start + self.n
            else:
                start, stop = int(getattr(rods, f"{points}_first")[row]), int(getattr(rods, f"{points}_end")[row])
            found = self._parts[name] = getattr(self.kind, name).part(start, stop)
        return found

    @property
    def rods(self) -> Rods:
        """Its row of `Rods`."""
        found: Rods = self.part("rods")
        return found

    @property
    def masses(self) -> Masses:
        """Its control points."""
        found: Masses = self.part("masses")
        return found

    @property
    def bends(self) -> Any:
        """Its bending points."""
        return self.part("bends")

    @property
    def bend(self) -> Any:
        """The state of its bending points."""
        return self.part("bend")

    @property
    def stretches(self) -> Any:
        """Its stretching points."""
        return self.part("stretches")

    @property
    def stretch(self) -> StretchStates:
        """The state of its stretching points."""
        found: StretchStates = self.part("stretch")
        return found

    @property
    def branches(self) -> Branches:
        """What flows at its bending points, one after the other."""
        found: Branches = self.part("branches")
        return found

    @property
    def girths(self) -> Girths:
        """How thick its spans are."""
        found: Girths = self.part("girths")
        return found

    @property
    def slips(self) -> Slips:
        """How far it has."""
        found: Slips = self.part("slips")
        return found

    @property
    def stiffness(self) -> FloatArray:
        """EA (N), E I1, E I2 and G J (N·m²) where it is softest: (4,)."""
        return np.array((self.stretches.stiffness.min(), *self.bends.stiffness.min(axis=0)))

    @property
    def mass_per_length(self) -> float:
        """Mass over length at rest, kg/m."""
        found: float = self.rods.mass_per_length[0]
        return found

    # -------------------------------------------------------------------------------------- for files, see `storage`

    def describe(self, out: Any) -> None:
        """Put what a file has of the rod into `out`: all but its state, which is the rod's as it was made."""
        for name in ("rest", "knot_lengths", "bend_u", "stretch_u"):
            out.array(name, getattr(self, name))
        if len(self.jumps):
            out.array("jumps", self.jumps)
        out.table("rods", self.rods, _RODS)
        for name in ("masses", "bends", "stretches"):
            out.table(name, self.part(name), _constant(type(self.part(name))))
        if len(self.branches):
            count = int(self.rods.branches[0])
            first = self.branches.part(0, count)
            alike = all(
                np.array_equal(array, np.concatenate([getattr(first, name)] * len(self.bend_u)))
                for name, array in self.branches.fields().items()
            )
            out.table("branches", first if alike else self.branches)
            if not alike:
                out.array("branch_count", [count])
        for name, state in self.made.items():
            out.table(name, state)

    @classmethod
    def rebuilt(cls, model: RodModel, read: Any) -> RodTables:
        """The tables that a file has of a rod; what kernels use to find control points is in range."""
        rods = read.table("rods", Rods, 1, _RODS)
        n, spans, closed = int(rods.count[0]), int(rods.spans[0]), int(rods.closed[0])
        if not 2 <= n < 1 << 24 or closed not in (0, 1) or spans != model.spans(n, bool(closed)) or spans < 1:
            raise ValueError(f"a rod of {n} control points has {spans} spans")
        kinds = {name: field.kind for name, field in model.kind._fields.items() if not field.shape}
        bend_u, stretch_u = read.array("bend_u", (None,)), read.array("stretch_u", (None,))
        sizes = {"masses": n, "bends": len(bend_u), "stretches": len(stretch_u)}
        tables: dict[str, Any] = {
            name: read.table(name, kinds[name], rows, _constant(kinds[name])) for name, rows in sizes.items()
        }
        tables |= {"bend": read.table("bend", kinds["bend"], len(bend_u))}
        tables |= {"stretch": read.table("stretch", kinds["stretch"], len(stretch_u))}
        tables |= {"bend_last": BendStrains(rows=len(bend_u)), "stretch_last": StretchStrains(rows=len(stretch_u))}
        last = n - 1 if closed else max(n - 4, 0)  # the first of four control points
        for name, u in (("bends", bend_u), ("stretches", stretch_u)):
            if len(u) and not (u.min() >= 0.0 and u.max() <= spans):
                raise ValueError("a rod has integration points beyond its ends")
            span = tables[name].fields().get("span", np.zeros(1, np.int64))
            if len(span) and not (span.min() >= 0 and span.max() <= last):
                raise ValueError("a rod has integration points on control points that there are not")
        rest, knots = read.array("rest", (n, 4)), read.array("knot_lengths", (spans + 1,))
        if knots[0] != 0.0 or (np.diff(knots) <= 0.0).any() or rods.length[0] <= 0.0:
            raise ValueError("the lengths of a rod do not grow")
        stiff = [getattr(rods, name)[0] for name in POSITIVE]
        stiff += [tables["bends"].stiffness.min(), tables["stretches"].stiffness.min()]
        if min(stiff) <= 0.0 or (tables["masses"].total <= 0.0).any():
            raise ValueError("a rod has stiffnesses or masses that are not positive")
        rods.bend_end[0], rods.stretch_end[0], rods.girth_end[0] = len(bend_u), len(stretch_u), spans
        rods.tumbles[0] = 1
        kind = model.kind.holding(rods=rods, **tables, **model.tables_at_rest(rest[:, :3], bool(closed)))
        jumps = read.array("jumps", (None,)) if read.has("jumps") else None
        if jumps is not None and not ((jumps >= 0.0).all() and (jumps < knots[-1]).all()):
            raise ValueError("a rod jumps beyond its ends")
        made = cls(
            model, kind, rest=rest, knot_lengths=knots, bend_u=bend_u, stretch_u=stretch_u, jumps=jumps
        )  # fmt: skip
        if read.has("branches.kind"):
            branches = read.table("branches", Branches, None, infinite=("limit",))
            if not read.has("branch_count"):  # all points have the same
                branches = repeated(checked_branches(branches, len(branches)), len(bend_u))
            count = len(branches) // len(bend_u)
            if read.has("branch_count") and (read.array("branch_count", (1,), "i") != count).any():
                raise ValueError("a rod has branches at other points than it bends at")
            made.take_branches(checked_branches(branches, count))
        return made

    def states(self) -> dict[str, Table]:
        """Its parts of the tables that hold its state, by name."""
        names = ("bend", "stretch", "bend_last", "stretch_last", *(("slips",) if len(self.branches) else ()))
        return {name: self.part(name) for name in names}


def new_rod(section: Section, material: Material, length: float, *, n: int, spans: int, closed: bool) -> Rods:
    """The row of a rod of `length` (m) at rest with `n` control points; its points are numbered when it is joined."""
    rods = Rods(rows=1)
    rods.count[0], rods.spans[0], rods.closed[0], rods.tumbles[0] = n, spans, int(closed), 1
    rods.length[0], rods.girth_end[0] = length, spans
    fill_constants(rods, section, material)
    return rods


def fill_constants(rods: Rods, section: Section, material: Material) -> None:
    """What a row of `Rods` has of the rod's section and material."""
    rods.radius[0] = section.radius
    rods.mass_per_length[0] = section.mass_per_length(material)


def fill_points(bends: Any, stretches: Any, section: Section, material: Material) -> None:
    """What bending points and stretching points have of the rod's section and material."""
    E, G = material.youngs_modulus, material.shear_modulus
    bends.stiffness[:], stretches.stiffness[:] = (E * section.I1, E * section.I2, G * section.J), E * section.area
    bends.relaxation[:] = stretches.relaxation[:] = material.relaxation_time


def joined_rods(kind: type[RodKind], rods: Sequence[RodTables]) -> RodKind:
    """One kind with the numbers of several rods, which become parts of it; degrees of freedom and blocks are left."""
    tables = {name: kind._fields[name].kind.joined([tables.part(name) for tables in rods]) for name in _parts_of(kind)}
    whole_kind = kind.holding(**tables)
    _place_parts(whole_kind, rods)
    whole_kind.rods.tumbles[:] = 1
    for row, part in enumerate(rods):
        part.enter(whole_kind, row)
    return whole_kind


def _place_parts(kind: RodKind, rods: Sequence[RodTables]) -> None:
    """Write where the integration points and control points of each rod begin and end, one rod after the other."""
    bend = stretch = mass = girth = slip = 0
    table = kind.rods
    for row, tables in enumerate(rods):
        table.bend_first[row], table.stretch_first[row], table.mass_first[row] = bend, stretch, mass
        table.girth_first[row], table.slip_first[row] = girth, slip
        bend, stretch, mass = bend + len(tables.bend_u), stretch + len(tables.stretch_u), mass + tables.n
        girth, slip = girth + tables.spans, slip + len(tables.slips)
        table.bend_end[row], table.stretch_end[row] = bend, stretch
        table.girth_end[row], table.slip_end[row] = girth, slip
