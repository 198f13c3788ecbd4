"""The tables of a whole scene, which kernels are handed as one pointer."""

from __future__ import annotations

from sennit.bodies.point.table import Frames, Places, Points
from sennit.bodies.rigid.table import Rigids
from sennit.bodies.rod.discrete.tables import Discretes
from sennit.bodies.rod.spline.tables import Splines
from sennit.bodies.slider.table import Sliders
from sennit.bodies.table import Motion
from sennit.bodies.zone.table import Zones
from sennit.constraints.cable.table import Rigging
from sennit.constraints.load import Loads
from sennit.constraints.row import Rows
from sennit.linalg.bounded import BoundedProblem
from sennit.linalg.panel_rows import PanelRows
from sennit.linalg.plan import Plan
from sennit.tables import PARAMETER, PLAN, WORK, Table, number, table, whole

__all__ = [
    "Blocks",
    "BodyEnergies",
    "Candidates",
    "Layout",
    "Matrix",
    "Model",
    "Report",
    "SceneTable",
    "Scheme",
    "Settings",
    "Step",
    "Trial",
]


class Layout(Table):
    """Where the parts of the matrix begin in its numbers."""

    dofs = whole(PLAN, "degrees of freedom")
    row_slots = whole(PLAN, "where the rows' Jacobians begin")
    diagonals = whole(PLAN, "where their compliances do")


class Settings(Table):
    """What kind of solve it is."""

    turns = whole(PARAMETER, "largest number of Newton's turns; 1: the linearised step")
    path = whole(PARAMETER, "quadrature points of the way: 1 its end, 3 Gauss's")
    exact = whole(PARAMETER, "1: exact bending stiffness, 0: Gauss and Newton's")
    push = whole(PARAMETER, "1: negative tensions as they are, 0: taken as none")
    static = whole(PARAMETER, "1: a static iteration")
    look = whole(PARAMETER, "1: only factorise, to look at the inertia")
    curved = whole(PARAMETER, "1: sliders feel their rods' curvature fully")
    strict = whole(PARAMETER, "1: pivots must have the right signs")
    cables = whole(PARAMETER, "how the rows of cables are treated, see `constraints.cable`")


class Step(Table):
    """The numbers of one solve."""

    step = number(PARAMETER, "time of the step, s")
    advance = number(PARAMETER, "time that passes when it is accepted, s")
    mass_weight = number(PARAMETER, "wM, weight of the mass in the matrix, 1/s²")
    drag_weight = number(PARAMETER, "wD, weight of the mass that drag adds, 1/s²")
    drag = number(PARAMETER, "mass-proportional drag, 1/s")
    strain_rate = number(PARAMETER, "1/time over which strain rates are taken, 1/s")
    gravity = number(PARAMETER, "m/s²", 3)
    threshold = number(PARAMETER, "speed below which shocks do not bounce, m/s")
    reach_limit = number(PARAMETER, "largest rotation of a static iteration, rad; 0: any")
    anchor = number(PARAMETER, "smallest stiffness of a static solve's anchors, N/m")
    memory = number(PARAMETER, "weight of the value before the last in a two-step formula's rate")


class Scheme(Table):
    """The numbers of a time-stepping scheme, see `schemes.py`."""

    a = number(PARAMETER, "A of X̂ = A x + B x₋ + C v")
    b = number(PARAMETER, "B")
    c = number(PARAMETER, "C, s")
    d = number(PARAMETER, "D of V̂ = D v + E v₋")
    e = number(PARAMETER, "E")
    reach = number(PARAMETER, "time c of x̂ = X̂ + c V̂, s")
    beta = number(PARAMETER, "β = dv₊/dx₊, 1/s")
    ratio = number(PARAMETER, "ratio of steps of the two-step formula; 0: none")
    mean = number(PARAMETER, "1: the mean force over the way, whose start is seen by the same frames as its end")


class Report(Table):
    """What a solve reports."""

    iterations = whole(WORK, "factorisations")
    negative = whole(WORK, "negative pivots")
    dependent = whole(WORK, "rows that depend on others")
    bad = whole(WORK, "first primal pivot that is not positive, -1: none")
    active_solves = whole(WORK, "solves of the small problem of rows with bounds")
    friction_turns = whole(WORK, "how often the bounds of friction were found anew")
    left = whole(WORK, "sliders that left their rods")
    struck = whole(WORK, "1: something struck or came free")
    happenings = whole(WORK, "1: something happened to a cable")


class Trial(Table):
    """The iterate of a solve, and where it began."""

    q_base = number(WORK, "free flight q̂", of="dofs")
    v_base = number(WORK, "rates V̂ of the scheme", of="dofs")
    q = number(WORK, "the iterate", of="dofs")
    dq = number(WORK, "displacement that the solve found", of="dofs")
    q_eval = number(WORK, "where forces are evaluated on the way", of="dofs")
    force = number(WORK, "generalised forces", of="dofs")
    scales = number(WORK, "what a displacement is small against: m, or 1 rad", of="dofs")
    small = number(WORK, "pull-backs of one row, twice", of="small")
    size = number(WORK, "of the scene, m", of=1)
    swift = number(WORK, "largest ratio of a tie's stiffness to the inertia that it holds", of=1)


class Blocks(Table):
    """The blocks that a static solve adds to the matrix: second derivatives of each constraint and load."""

    first = whole(PLAN, "first row of the constraint, or number of the load")
    end = whole(PLAN, "row behind its last; -1: it is a load")
    slot = whole(PLAN, "where the block begins in the matrix's numbers")


class Matrix(Table):
    """Numbers and factors of one matrix."""

    values = number(WORK, "its numbers, in the order of the layout", of="numbers")
    factor = number(WORK, "numbers of L", of="factors")
    diagonal = number(WORK, "pivots, permuted", of="lanes")
    ratio = number(WORK, "redundancy of rows, permuted", of="lanes")
    forward = number(WORK, "right side after the forward solve, permuted", of="lanes")
    solved = number(WORK, "solution, permuted", of="lanes")
    natural = number(WORK, "right side and solution in natural numbering", of="unknowns")


class Candidates(Table):
    """The rows with bounds that a solve looks at: those of cables first."""

    chosen = whole(WORK, "row of the constraints; of cables' rows, nothing")
    limit = number(WORK, "bound of a friction row; -1: equality rows hold all that the row could move")


class BodyEnergies(Table):
    """Energy of each body, J."""

    kinetic = number(WORK, "of its motion")
    stretch = number(WORK, "stored in stretching")
    bend = number(WORK, "stored in bending")
    twist = number(WORK, "stored in twist")
    gravity = number(WORK, "against z = 0 of the gravity vector")


class Model(Table):
    """Everything of a scene but its matrix."""

    layout = table(Layout, "where the matrix's parts begin")
    settings = table(Settings, "kind of solve")
    step = table(Step, "numbers of the solve")
    scheme = table(Scheme, "numbers of the time scheme")
    report = table(Report, "what the solve reports")
    motion = table(Motion, "degrees of freedom and rates, of the state and of the one before")
    trial = table(Trial, "the iterate")
    splines = table(Splines, "spline rods")
    discretes = table(Discretes, "discrete rods")
    rigids = table(Rigids, "rigid bodies")
    sliders = table(Sliders, "what slides along rods")
    zones = table(Zones, "elastic zones")
    points = table(Points, "points that constraints and loads use")
    places = table(Places, "where they are")
    frames = table(Frames, "frames of rods' points, of the state")
    trial_frames = table(Frames, "the same of the iterate")
    rows = table(Rows, "rows of constraints")
    loads = table(Loads, "forces from outside")
    rigging = table(Rigging, "hoisting cables")
    blocks = table(Blocks, "what a static solve adds")


class SceneTable(Model):
    """Everything that a step reads and writes."""

    plan = table(Plan, "plan of the factorisation")
    matrix = table(Matrix, "numbers of the matrix and of its factor")
    panel = table(PanelRows, "rows with bounds, solved forward")
    candidates = table(Candidates, "which rows these are")
    bounded = table(BoundedProblem, "the small problem of rows with bounds")
