"""Rods in given shapes, the tables that look for their contacts, and dense samples of them: what the tests compare."""

from __future__ import annotations

import numpy as np

import sennit as sn
from sennit.bodies.kernels.points import DISCRETE, SPLINE
from sennit.bodies.rod.discrete.tables import Discretes
from sennit.bodies.rod.spline.tables import Splines
from sennit.bodies.rod.table import joined_rods
from sennit.contact.kernels.outline import outline
from sennit.contact.kernels.rod_shape import rod_shape
from sennit.contact.kernels.rods import rod_rod
from sennit.contact.table import Colliders, Contacts, Laws, RodColliders, RodSearch, ShapeColliders, Ties
from sennit.geometry.tables import stacked

MATERIAL = sn.Material(1e9, 0.3, 1000.0)
KINDS = {"spline": (SPLINE, Splines), "discrete": (DISCRETE, Discretes)}


def rod_along(points, radius, spans, *, model="spline", closed=False):
    """A rod of that many spans along the curve through points (k, 3), m."""
    count = spans + (1 if model == "discrete" else 0 if closed else 3)
    section = sn.Section.circle(radius)
    return sn.Rod.through(
        points, section=section, material=MATERIAL, control_points=count, model=model, closed=closed, straight=True
    )


class Ropes:
    """Some rods in one array of degrees of freedom, and their contacts."""

    def __init__(self, rods, *, shapes=(), margin=0.0, law_margin=0.0, ties=()):
        self.rods = list(rods)
        self.kinds, self.sides, self.which = {}, {}, []
        at, parts = 0, []
        for name, (_, kind) in KINDS.items():
            own = [rod.tables for rod in self.rods if rod.tables.model.name == name]
            joined = joined_rods(kind, own)
            sides = RodColliders(rows=len(own))
            for row, tables in enumerate(own):
                joined.rods.dof[row] = at
                sides.collider[row] = [rod.tables for rod in self.rods].index(tables)
                parts.append(tables.rest.ravel())
                at += parts[-1].size
            self.kinds[name], self.sides[name] = joined, sides
            sides.margin[:] = margin
        self.q = np.concatenate([*parts, np.zeros(0)])
        self.shapes = ShapeColliders(rows=len(shapes), shapes=stacked([shape._table for shape in shapes]))
        self.shapes.collider[:] = len(self.rods) + np.arange(len(shapes))
        self.shapes.rigid[:] = self.shapes.slider[:] = -1
        self.shapes.place_before[...], self.shapes.turn_before[...] = self.shapes.shapes.place, self.shapes.shapes.turn
        self.colliders = Colliders(rows=len(self.rods) + len(shapes))
        self.colliders.law[...] = 1
        self.laws = Laws(rows=2)
        self.laws.margin[1] = law_margin
        self.ties = Ties(rows=len(ties))
        for row, tie in enumerate(ties):
            for name, value in zip(("first", "first_at", "second", "second_at", "reach"), tie, strict=True):
                getattr(self.ties, name)[row] = value
        self.search = RodSearch.over(*self.kinds.values())
        self.contacts = Contacts(rows=4000)

    def outline(self):
        outline(*self.kinds.values(), *self.sides.values(), self.colliders, self.laws, self.ties, self.q, self.search)

    def rod_rod(self, contacts=None, count=0):
        """How many contacts there are."""
        self.outline()
        contacts = self.contacts if contacts is None else contacts
        return rod_rod(self.colliders, self.laws, self.ties, self.search, contacts, count)

    def rod_shape(self, flown=None, contacts=None, count=0):
        """How many contacts with shapes there are; `flown`: degrees of freedom after free flight."""
        self.outline()
        flown = self.q if flown is None else flown
        contacts = self.contacts if contacts is None else contacts
        return rod_shape(
            *self.kinds.values(), self.colliders, self.laws, self.ties, self.shapes, flown, self.search, contacts, count
        )

    def found_on_shapes(self, flown=None):
        """The contacts with shapes, as in `found`."""
        return [self.row(i) for i in range(self.rod_shape(flown))]

    def found(self):
        """The contacts as a list of dictionaries; `rods`: numbers in the order in which they were given."""
        count, table = self.rod_rod(), self.contacts
        assert count <= len(table)
        return [self.row(i) for i in range(count)]

    def row(self, i):
        table = self.contacts
        row = {name: array[i].copy() for name, array in table.fields().items()}
        row["rods"] = (
            self.number(table.first_kind[i], table.first[i]),
            self.number(table.second_kind[i], table.second[i]),
        )
        return row

    def number(self, kind, row):
        """Which of the given rods is row `row` of its kind."""
        for name, (number, _) in KINDS.items():
            if number == kind:
                return int(self.sides[name].collider[row])
        return -1

    def __getitem__(self, i):
        """Control points of rod i in q: (n, 4), a view."""
        tables = self.rods[i].tables
        dof = tables.kind.rods.dof[tables.row]
        return self.q[dof : dof + 4 * tables.n].reshape(-1, 4)

    def curve(self, i, u):
        """Places (k, 3) of rod i at u (k,), by SciPy's splines and by interpolation."""
        from scipy.interpolate import BSpline

        tables, points = self.rods[i].tables, self[i][:, :3]
        u = np.asarray(u, float)
        if tables.model.name == "discrete":
            return np.stack([np.interp(u, np.arange(tables.n), points[:, c]) for c in range(3)], axis=-1)
        if tables.closed:
            around = np.concatenate((points, points[:3]))
            return BSpline(np.arange(-3.0, tables.spans + 4), around, 3)(u % tables.spans)
        knots = np.concatenate(([0.0] * 3, np.arange(tables.spans + 1.0), [float(tables.spans)] * 3))
        return BSpline(knots, points, 3)(np.clip(u, 0.0, tables.spans))

    def radius(self, i):
        return float(self.rods[i].tables.rods.radius[0])

    def arc(self, i):
        """Length of a span at rest, m."""
        return self.rods[i].tables.length / self.rods[i].tables.spans


def minima(ropes, a, b, within, per_span=20):
    """Local minima (u, v, distance) of the distance of rods a and b below `within`, on a dense grid, polished."""
    from scipy.optimize import minimize

    spans = ropes.rods[a].tables.spans, ropes.rods[b].tables.spans
    u = np.linspace(0.0, spans[0], spans[0] * per_span + 1)
    v = np.linspace(0.0, spans[1], spans[1] * per_span + 1)
    x, y = ropes.curve(a, u), ropes.curve(b, v)
    d = np.linalg.norm(x[:, None] - y[None], axis=-1)
    padded = np.pad(d, 1, constant_values=np.inf)
    least = d < within
    for i in range(3):
        for j in range(3):
            if (i, j) != (1, 1):
                least &= d <= padded[i : i + d.shape[0], j : j + d.shape[1]]
    found = []
    for i, j in np.argwhere(least):
        best = minimize(
            lambda p: np.sum((ropes.curve(a, p[:1]) - ropes.curve(b, p[1:])) ** 2) * 1e4,
            (u[i], v[j]),
            bounds=[(0, spans[0]), (0, spans[1])],
            tol=1e-14,
        )
        found.append((*best.x, float(np.sqrt(best.fun / 1e4))))
    return found
