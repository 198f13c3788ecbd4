"""The tables of contact: a body that may be pressed, the state before, the nodes that may touch, and what is found."""

from __future__ import annotations

from sennit.elastostatics.contact.kernels.coulomb import MEMORY
from sennit.linalg.bounded import BoundedProblem
from sennit.tables import PLAN, STATE, WORK, Table, number, table, whole

__all__ = ["Body", "Mixing", "Nodes", "Outcome", "Past", "Search", "Workspace", "workspace"]


class Body(Table):
    """What a shape can be pressed into: nodes with a compliance, whatever made it, and nodes that are fixed."""

    compliance = number(PLAN, "displacements of the free nodes over forces on them, m/N times E", "axes", of="axes")
    free = whole(PLAN, "which of the nodes can move", of="free")
    fixed = whole(PLAN, "which of them can't", of="fixed")
    places = number(PLAN, "undeformed places of all nodes, m", 3, of="nodes")
    outward = number(PLAN, "outward normals times areas of all nodes, m²", 3, of="nodes")


class Past(Table):
    """The state that a press goes on from, for friction; there may be room for more nodes than the body has."""

    given = whole(PLAN, "1 if there is a state before, else 0")
    displacements = number(STATE, "displacements of the body's nodes then, m", 3, of="nodes")
    forces = number(STATE, "forces of the shape on the nodes then, N over E", 3, of="nodes")
    shift = number(STATE, "translation that takes the shape from its pose then to its pose now, m", 3)
    turn = number(STATE, "rotation that goes before it", 3, 3)


class Nodes(Table):
    """Nodes that may touch, each with a plane before it that supports the shape; there is room for more of them."""

    vertex = whole(WORK, "which node of the body it is")
    slot = whole(WORK, "its place among the free ones")
    closed = whole(WORK, "0 closed, −1 open: from where the active set starts, and where it ends")
    rest = number(WORK, "undeformed place, m", 3)
    frame = number(WORK, "in rows the normal of the shape, into the body, and two tangents", 3, 3)
    plane = number(WORK, "a: displacement that takes the node to a point of its plane, m", 3)
    stick = number(WORK, "r: displacement that takes the node to where it sticks on the shape, m", 3)
    force = number(WORK, "f: what the shape applies, N over E", 3)
    own = number(WORK, "its own block of the compliance in its frame, upper triangle, m/N times E", 3, 3)
    inverse = number(WORK, "the inverse of that, upper triangle", 3, 3)
    yielding = number(WORK, "largest eigenvalue of the block's tangential part, m/N times E")
    compliance = number(WORK, "B: of the nodes among each other, m/N times E", "axes", of="axes")
    untouched = number(WORK, "u⁰: displacements without contact, m; node after node", of="axes")
    displaced = number(WORK, "u = u⁰ + B f, m; node after node", of="axes")


class Mixing(Table):
    """What Anderson's mixing remembers of the last sweeps; forces in N over E, displacements in m, node after node."""

    before = number(WORK, "forces before the sweep", of="axes")
    force = number(WORK, "forces after the last sweep", of="axes")
    displaced = number(WORK, "displacements after the last sweep", of="axes")
    change = number(WORK, "what the last sweep changed of the forces", of="axes")
    force_steps = number(WORK, "differences of forces from sweep to sweep", "axes", of="sweeps")
    displaced_steps = number(WORK, "differences of displacements", "axes", of="sweeps")
    change_steps = number(WORK, "differences of changes", "axes", of="sweeps")
    products = number(WORK, "products of the changes' differences", "sweeps", of="sweeps")
    factor = number(WORK, "their Cholesky factor", "sweeps", of="sweeps")
    shares = number(WORK, "how much of each difference is taken off", of="sweeps")


class Search(Table):
    """Scratch of looking at the whole body; there may be room for more nodes than it has."""

    packed = number(WORK, "depths of the nodes that are near, or displacements of the free nodes, m", of="axes")
    near = whole(WORK, "places among the free nodes of those inside the shape without contact", of="free")
    marks = whole(WORK, "1 for free nodes that may touch, while it is in use: 0 before and after", of="free")


class Outcome(Table):
    """What a press found, in one row."""

    count = whole(WORK, "nodes that might have touched")
    near = whole(WORK, "nodes inside the shape without contact, or that touched before")
    depth = number(WORK, "how deep the deepest node would be in the shape without contact, m")
    residual = number(WORK, "largest violation of a condition over the depth")
    passes = whole(WORK, "linearisations")
    sweeps = whole(WORK, "sweeps of Gauss–Seidel")
    force = number(WORK, "sum of the forces, N over E", 3)
    torque = number(WORK, "their moment about the origin at undeformed places, N·m over E", 3)
    approach = number(
        WORK,
        "unit vector against the way along which the shape is taken to have come without a state before: a plane's "
        "normal, for other shapes the opposite of the body's mean normal, weighted by area and depth, where the shape "
        "covers it",
        3,
    )


class Workspace(Table):
    """All that a press needs besides what it is given."""

    nodes = table(Nodes, "those that may touch")
    active = table(BoundedProblem, "the frictionless problem: compliance along the normals, gaps, forces")
    mixing = table(Mixing, "sweeps that are remembered")
    search = table(Search, "scratch of looking at the whole body")
    outcome = table(Outcome, "what was found")


def workspace(room: int, free: int) -> Workspace:
    """A workspace for up to `room` nodes that may touch, on a body of up to `free` nodes that can move."""
    return Workspace(
        nodes=Nodes(rows=room, axes=3 * room),
        active=BoundedProblem(rows=room),
        mixing=Mixing(axes=3 * room, sweeps=MEMORY),
        search=Search(axes=3 * free, free=free),
        outcome=Outcome(rows=1),
    )
