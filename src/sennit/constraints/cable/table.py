"""The tables of cables: what kernels and Python know of them, by name.

A cable runs through elements, in order. An element is a place on a carrier: a scene's point, whose position and frame
stand in the tables of points. Cable c owns the rows ``first[c]`` … ``first[c] + count[c]`` of the elements, with room
for ``room[c]``; elements of bodies that it comes to lie on are put in between and taken out as it moves. What an
element is (`END` … `SPHERE`) is told in `kernels.kinds`.

Dividers (sheaves and eyelets with friction, or that the cable turns; places on bodies with friction) cut the cable into
parts, each with its own tension; part d runs from one divider's mark, which its carrier carries, to the next one's.
Every part is a row of the solve, and so is the twist of the whole cable. Rows that there is room for and no part has
hold nothing.

`Rigging` holds all cables of a scene; `CableTables` the rows of one cable: parts of its scene's tables, or its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.bodies.kernels.points import WIDTH
from sennit.tables import PARAMETER, PLAN, STATE, WORK, Table, number, table, whole

__all__ = [
    "BODIES_FRICTION",
    "CableRows",
    "CableTables",
    "Cables",
    "ChainWork",
    "Dividers",
    "Elements",
    "Obstacles",
    "Pulls",
    "Rigging",
]


BODIES_FRICTION = "obstacles.friction"
"""Name in a cable's state of what files of before have in their description alone: friction on bodies."""


class Cables(Table):
    """What each cable is, and its winch."""

    first = whole(PLAN, "its first element")
    room = whole(PLAN, "elements that there is room for")
    row = whole(PLAN, "row of its first part; those of the other parts follow")
    parts = whole(PLAN, "number of its parts, as it lies")
    row_room = whole(PLAN, "parts that there is room for")
    twist_row = whole(PLAN, "row of its twist, -1: it does not resist it")
    first_obstacle = whole(PLAN, "first of the bodies that it may come to lie on")
    obstacles = whole(PLAN, "number of these")

    stretch_stiffness = number(PARAMETER, "EA, N")
    twist_stiffness = number(PARAMETER, "GJ, N·m²")
    stretch_time = number(PARAMETER, "time of the damper in stretch, s")
    twist_time = number(PARAMETER, "time of the damper in twist, s")
    winch_speed = number(PARAMETER, "what the winch at the first point lets out, m/s")
    slip = number(PARAMETER, "what it lets out besides, m/s per N of tension")
    max_pull = number(PARAMETER, "largest pull of the winch, N")
    pull = number(PARAMETER, "tension that the winch keeps, N; -1: it keeps its speed")
    breaking_load = number(PARAMETER, "tension at which it breaks, N")
    longest = number(PARAMETER, "length of all that there is, m")
    shortest = number(PARAMETER, "length at which it is wound in, m")
    backward = whole(PARAMETER, "1: its rows have the undamped backward form")
    acts = whole(PARAMETER, "1 while it acts")
    first_direction = number(PARAMETER, "exit direction of the first end, in its carrier's frame", 3)
    first_director = number(PARAMETER, "director across it", 3)
    last_direction = number(PARAMETER, "exit direction of the last end, in its carrier's frame", 3)
    last_director = number(PARAMETER, "director across it", 3)

    count = whole(STATE, "elements that it runs through now")
    twist = number(STATE, "its twist, with whole turns, rad")
    twist_angle = number(STATE, "angle that the twist was last measured by, in (−π, π], rad")
    measured_along = whole(STATE, "number that tells which spans the twist was measured along")
    asked = number(STATE, "change of length that is asked for in the next step, m")
    broken = whole(STATE, "1 if it was pulled by more than its breaking load")
    happened = whole(STATE, "what has happened, as the sum of `kinds.BROKE`, `PAID_OUT` and `WOUND_IN`")
    peak = number(STATE, "greatest tension that was judged, N")
    limit = whole(STATE, "1 if the winch must not haul in further")
    adrift = whole(STATE, "1 if a slider that carries it has left its rod")
    at_end = whole(STATE, "end that its winch has reached, until it runs the other way (1: nothing left, -1: wound in)")


class Elements(Table):
    """What cables run through, in order.

    Angles on a sheave or cylinder are counted along the cable: from where it arrives to the mark, and from the mark to
    where it leaves. Their sum is the angle of wrap.

    Wrenches (force, then moment about the carrier's point) are those by which the lengths of the arriving and of the
    leaving part and the twist change as the carrier moves: their rate is f · velocity + m · angular velocity.
    """

    carrier = whole(PLAN, "the point that carries it")

    # in the carrier's frame
    centre = number(PARAMETER, "of a circle, sphere or cylinder, or start A of an edge, m", 3)
    axis = number(PARAMETER, "unit axis, or vector D of an edge, m", 3)
    mark = number(PARAMETER, "unit direction that angles are measured from, or an edge's normal where it arrives", 3)
    normal = number(PARAMETER, "an edge's normal on the face that the cable leaves over", 3)
    radius = number(PARAMETER, "of a sheave, sphere or cylinder, m")
    sense = number(PARAMETER, "1: the cable runs right-handed about the axis; -1: left-handed")
    inertia = number(PARAMETER, "of a rotor about its axis, kg·m²")
    friction = number(PARAMETER, "Coulomb's coefficient; infinite: it does not slip")
    half_length = number(PARAMETER, "of a cylinder, m")

    kind = whole(STATE, "what the cable does there: `kinds.END` … `SPHERE`")
    obstacle = whole(STATE, "body that it belongs to, counted in its cable (in all, while `wrap` works); -1: none")
    edge = whole(STATE, "number of the box's edge, 0 … 11; -1: none")
    divides = whole(STATE, "1 if it divides the cable")
    rotor = whole(STATE, "1 if it is free to turn on its carrier")
    on = whole(STATE, "1 if the cable touches it")
    wrap_before = number(STATE, "angle from where the cable arrives to the mark, with whole turns, rad")
    wrap_after = number(STATE, "angle from the mark to where the cable leaves, with whole turns, rad")
    u = number(STATE, "place on an edge, A + u D, 0 to 1; of a cylinder's mark, along its axis, m")
    spin = number(STATE, "rate of a rotor about its axis, relative to nothing, rad/s")
    spin_last = number(STATE, "that rate one state before, rad/s")
    turn_last = number(STATE, "angle by which it turned in the last step, relative to nothing, rad")
    angle = number(STATE, "by which a rotor has turned on its carrier, rad")
    feed = number(STATE, "what slipped past the mark in the last step, m")
    grip = whole(STATE, "how it holds the cable: 0 sticks, ±1 slips forward or backward")
    arrive = number(STATE, "where the cable arrives, in the world, m", 3)
    leave = number(STATE, "where it leaves, in the world, m", 3)
    along = number(STATE, "unit direction of the span that leaves towards the next element that is on", 3)
    centre_now = number(STATE, "its centre in the world, m", 3)
    axis_now = number(STATE, "its axis in the world", 3)
    following = whole(STATE, "the next element that is on; -1: none")

    was = whole(WORK, "number of the part that began with it before the cable came to lie elsewhere; 0: none")
    start_mark = number(WORK, "where a rotor's mark pointed when the step began", 3)
    span = number(WORK, "length of the span that leaves, m")
    arc = number(WORK, "length of cable that lies on it, m")
    wrench = number(WORK, "force and moment, by kind (`kinds.ARRIVES`, `LEAVES`, `TWISTS`)", 3, 6)
    point_now = number(WORK, "the carrier's point, where the path was evaluated, m", 3)
    slide_pivot = number(WORK, "sliding of adjoining edges: pivot")
    slide_side = number(WORK, "right side")
    slide_coupling = number(WORK, "coupling to the next edge")
    slide_step = number(WORK, "step of u")
    slide_before = whole(WORK, "edge before; -1: none")
    adjoint_pivot = number(WORK, "adjoint of that sliding in the twist: pivot")
    adjoint_side = number(WORK, "right side")
    adjoint = number(WORK, "multiplier")


class Obstacles(Table):
    """Bodies that cables may come to lie on."""

    point = whole(PLAN, "the body's centre")
    shape = whole(PLAN, "`kinds.EDGE` for a box, `CYLINDER`, `SPHERE`")
    size = number(PLAN, "half sizes of a box along its axes; radius and half length along z of others, m", 3)
    friction = number(PLAN, "Coulomb's coefficient")


class CableRows(Table):
    """Rows of the solve: of the parts of a cable, then of its twist.

    The value of a part is its elongation, negative when slack; that of the twist its angle.
    """

    cable = whole(PLAN, "whose it is")
    part_number = whole(PLAN, "number of the part; -1: the twist")
    first = whole(PLAN, "its first element")
    last = whole(PLAN, "its last element")

    tension = number(STATE, "tension, N, or torque, N·m")
    side = whole(STATE, "bound that it is at: -1 lower, 1 upper, 0 none")
    rest = number(STATE, "unstretched length of the part, m")
    value = number(STATE, "its value at the last state")
    value_last = number(STATE, "its value at the state before")
    rest_rate = number(STATE, "rate of the unstretched length in the last step")
    world_rate = number(STATE, "rate of the value by the motion of the world's points in the last step")
    ran_rate = number(STATE, "rate at which cable ran into the part over sheaves in the last step, m/s")
    driven = number(STATE, "change of the value in the last step by the world's points, the winch and the sheaves")
    driven_rate = number(STATE, "rate of that when the step ended, by its formula")
    driven_rate_last = number(STATE, "and one state before")
    found = number(STATE, "tension that the last solve found")
    paid = number(STATE, "elongation that work was done for, m; infinite: all that there is")

    tension_before = number(WORK, "tension or torque when the step begins")
    trial = number(WORK, "value at the iterate")
    free = number(WORK, "change of the value in free flight")
    past = number(WORK, "value a step ago by the present rates (when the step begins: their rate)")
    softness = number(WORK, "compliance Σ of the row")
    wanted = number(WORK, "its right side")
    left_over = number(WORK, "what is left of it")
    world_move = number(WORK, "part of the change that the world's points make")
    kept = number(WORK, "tension when the step began (for files only)")
    came = number(WORK, "c (`schemes`) times the rate that free flight ends with, relative to the winch")
    slowed = number(WORK, "`came`, less what other forces take from it before the cable does")
    turned = number(WORK, "what that is more than `free`: of bodies that turn far, and of a two-step formula's memory")
    backed = number(WORK, "elongation of the step that may pull with what it stores, m")
    way = number(WORK, "length of the part's way, m")
    joined_rows = whole(WORK, "how many of the next rows are parts of the same: a sheave between is passed clear")
    fresh = whole(WORK, "1 in a step before which the part was cut anew")
    group = whole(WORK, "number of the first part that was cut out of the same")
    new_way = number(WORK, "while parts are cut: length of the new part's way, m")
    old = number(WORK, "a number of the old part")
    old_first = whole(WORK, "first old part that the new one is cut out of")
    old_end = whole(WORK, "the one after the last of these")
    cut_start = number(WORK, "where the new part begins on these, m")
    cut_end = number(WORK, "where it ends on these, m")


class Dividers(Table):
    """Elements that divide cables, with the rows of the parts on both sides."""

    element = whole(PLAN, "which element it is")
    before = whole(PLAN, "row of the part that arrives")
    after = whole(PLAN, "row of the part that leaves")
    ratio = number(WORK, "largest ratio ρ of the two tensions")
    grip = whole(WORK, "0 sticks, ±1 slips forward or backward")
    feed = number(WORK, "what slips past it, m")


class Pulls(Table):
    """How the elements' wrenches move a scene's degrees of freedom.

    The Jacobian of element e for the wrench of kind `part` begins at entry WIDTH (3 e + part).
    """

    jacobian = number(WORK, "pull-backs of the wrenches", of="entries")
    dof = whole(WORK, "degrees of freedom behind an element's pull-backs; -1: none", WIDTH, of="elements")
    slot = whole(PLAN, "where a span's stiffness begins in the matrix's numbers; -1: nowhere", of="elements")
    glide = number(WORK, "displacements in free flight", of="dofs")
    sweep = number(WORK, "h times the velocities that free flight ends with", of="dofs")
    near = number(WORK, "pull-backs of three unit forces where a span begins", of="ends")
    far = number(WORK, "and where it ends", of="ends")

    @classmethod
    def sized(cls, elements: int, dofs: int) -> Pulls:
        """The one for so many elements and degrees of freedom."""
        made = cls(entries=3 * WIDTH * elements, elements=elements, dofs=dofs, ends=3 * WIDTH)
        made.dof[:] = made.slot[:] = -1
        return made


class ChainWork(Table):
    """What `solve_chain` works with: for k rows, at least max(2k, dividers) entries.

    `order` lists the rows, those of a cable one after the other; groups and runs of slack parts are stretches of it.
    `action` and `worst` say what happens next, and why: at p to the row at place p, at k + p to the divider behind it.
    """

    weight = number(WORK, "a row's tension over that of its group")
    size = number(WORK, "C_ii")
    worst = number(WORK, "by how much a condition is broken, as the root of an energy")
    column_size = number(WORK, "square of what an unknown's column is divided by")
    vector = number(WORK, "right side, then solution")
    above = number(WORK, "smallest sequence that does not fall, above the sums of y")
    free_y = number(WORK, "y without feeds")
    best_lam = number(WORK, "λ of the best answer so far")
    best_feed = number(WORK, "its feeds")
    column = whole(WORK, "number of the row's unknown; -1: λ is known")
    order = whole(WORK, "rows, in the order of the cables")
    link = whole(WORK, "divider behind a place of `order` that can slip; -1: none")
    behind = whole(WORK, "divider behind a row; -1: none")
    ahead = whole(WORK, "divider ahead of a row; -1: none")
    action = whole(WORK, "what happens next")
    best_state = whole(WORK, "states of the best answer so far")
    best_grip = whole(WORK, "its grips")
    kind = whole(WORK, "BOX, SETTLED or PART")


class Rigging(Table):
    """All cables of a scene: what kernels take."""

    cables = table(Cables, "what each cable is")
    elements = table(Elements, "what they run through")
    obstacles = table(Obstacles, "bodies that they may come to lie on")
    rows = table(CableRows, "their rows")
    dividers = table(Dividers, "what divides them into parts")
    pulls = table(Pulls, "how they pull on bodies")
    chain = table(ChainWork, "scratch of `solve_chain`")


@dataclass
class CableTables:
    """The rows of one cable: its own while it is in no scene, or parts of its scene's `Rigging`."""

    cables: Cables
    """One row."""
    elements: Elements
    obstacles: Obstacles
    rows: CableRows

    def all(self) -> dict[str, Table]:
        """Its tables by name."""
        return {"cables": self.cables, "elements": self.elements, "obstacles": self.obstacles, "rows": self.rows}

    def copy(self) -> CableTables:
        """Tables of its own with the same numbers."""
        return CableTables(self.cables.copy(), self.elements.copy(), self.obstacles.copy(), self.rows.copy())

    def renumber(self, index: int, first: int, row: int, obstacle: int) -> None:
        """Let it be the cable `index`, whose elements, rows and obstacles begin with these numbers."""
        cables, following = self.cables, self.elements.following
        following += np.where(following >= 0, first - cables.first[0], 0)
        cables.first[0], cables.row[0], cables.first_obstacle[0] = first, row, obstacle
        if self.twists:
            cables.twist_row[0] = row + cables.row_room[0]
        self.rows.cable[:] = index

    @property
    def twists(self) -> bool:
        """Whether the cable resists being twisted."""
        return bool(self.cables.twist_row[0] >= 0)

    @property
    def index(self) -> int:
        """Number of the cable among those of its scene."""
        return int(self.rows.cable[0])

    @property
    def parts(self) -> int:
        """Number of its parts."""
        return int(self.cables.parts[0])

    @property
    def count(self) -> int:
        """Elements that it runs through now."""
        return int(self.cables.count[0])

    @property
    def own(self) -> NDArray[np.int64]:
        """The elements that the entries of its list are: (entries,)."""
        return np.flatnonzero(self.elements.obstacle[: self.count] < 0)

    def within(self, rigging: Rigging) -> CableTables:
        """The same cable's rows in tables of its scene, or in copies of them."""
        first, row, obstacle = (int(x[0]) for x in (self.cables.first, self.cables.row, self.cables.first_obstacle))
        return CableTables(
            rigging.cables.part(self.index, self.index + 1),
            rigging.elements.part(first, first + len(self.elements)),
            rigging.obstacles.part(obstacle, obstacle + len(self.obstacles)),
            rigging.rows.part(row, row + len(self.rows)),
        )

    def state(self) -> dict[str, Any]:
        """The arrays that hold its part of a scene's state, by name."""
        arrays = {
            f"{name}.{field}": array
            for name in ("cables", "elements", "rows")
            for field, array in getattr(self, name).fields(PARAMETER, STATE).items()
        }
        return arrays | ({BODIES_FRICTION: self.obstacles.friction} if len(self.obstacles) else {})
