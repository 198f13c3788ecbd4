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
from sennit.constraints.route import Routes
from sennit.constraints.row import Rows
from sennit.linalg.bounded import BoundedProblem
from sennit.linalg.panel_rows import PanelRows
from sennit.linalg.plan import Plan
from sennit.tables import PARAMETER, PLAN, STATE, WORK, Table, number, table, whole

__all__ = [
    "Blocks",
    "BodyEnergies",
    "Candidates",
    "Groups",
    "Kept",
    "Layout",
    "Ledger",
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
    path = whole(PARAMETER, "quadrature points of the way: 1 its end, 2 its middle, 3 Gauss's three")
    stages = whole(PARAMETER, 'steps of "midpoint" that a step is composed of: 1, or 5 for fourth order')
    stage = whole(PARAMETER, "number of the stage of a step of fourth order; 0: the first, or a step of another kind")
    exact = whole(PARAMETER, "1: exact bending stiffness, 0: Gauss and Newton's")
    push = whole(PARAMETER, "1: negative tensions as they are, 0: taken as none")
    static = whole(PARAMETER, "1: a static iteration")
    look = whole(PARAMETER, "1: only factorise, to look at the inertia")
    curved = whole(PARAMETER, "1: sliders feel their rods' curvature fully")
    strict = whole(PARAMETER, "1: pivots must have the right signs")
    cables = whole(PARAMETER, "how the rows of cables are treated, see `constraints.cable`")
    lenient = whole(PARAMETER, "1: the step can't be divided any further, and may miss more")
    thrifty = whole(PARAMETER, "1: a step that gains energy is divided, 0: it is calmed")
    yields = whole(PARAMETER, "1: firm rows are held where they are, however far their targets are ahead")


class Step(Table):
    """The numbers of one solve."""

    step = number(PARAMETER, "time of the step, s")
    advance = number(PARAMETER, "time that passes when it is accepted, s")
    mass_weight = number(PARAMETER, "wM, weight of the mass in the matrix, 1/s²")
    drag_weight = number(PARAMETER, "wD, weight of the mass that drag adds, 1/s²")
    drag = number(PARAMETER, "mass-proportional drag, 1/s")
    relaxing = number(PARAMETER, "time over which branches of rods relax, s")
    softest = number(PARAMETER, "part of their stiffness that a solve takes of rods with branches, at least")
    strain_rate = number(PARAMETER, "1/time over which strain rates are taken, 1/s")
    gravity = number(PARAMETER, "m/s²", 3)
    threshold = number(PARAMETER, "speed below which shocks do not bounce, m/s")
    reach_limit = number(PARAMETER, "largest rotation of a static iteration, rad; 0: any")
    way = number(PARAMETER, "how far a static iteration may move anything that can touch, m")
    anchor = number(PARAMETER, "smallest stiffness of a static solve's anchors, N/m")
    mean = number(PARAMETER, "1: velocities are those of the step's end, forces the mean over it")
    memory = number(PARAMETER, "weight of the value before the last in a two-step formula's rate")
    share_before = number(PARAMETER, "share of the whole step that is done when this part of it begins")
    share_after = number(PARAMETER, "and when it ends")
    total = number(PARAMETER, "time of the whole step, s")
    converged = number(PARAMETER, "displacement of Newton's last turn over the scene's size that is small enough")
    left = number(
        PARAMETER, "displacement that may be left to its next turn, at most, see `stages.is_near`; 0: not asked"
    )


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
    cause = whole(WORK, "what a step that is not accepted has missed, see `codes`; 0: nothing")
    culprit = whole(WORK, "the row, slider or rod that missed it")
    missed = number(WORK, "by how much: m, rad or J")
    yielded = number(WORK, "gap that rows with bounds were left with that contradict each other, m")
    stalled = number(WORK, "largest way that a drive was held back by, m or rad")
    threaded = whole(WORK, "1: sliders are driven, and their neighbours are noted")
    made = whole(WORK, "steps of a run in which nothing happened")
    time = number(WORK, "the scene's time in a run, s")
    calmed = number(WORK, "kinetic energy that was taken away, J")
    turn = number(WORK, "largest turn of a tangent or a body from free flight, rad")


class Trial(Table):
    """The iterate of a solve, and where it began."""

    q_base = number(WORK, "free flight q̂", of="dofs")
    v_base = number(WORK, "rates V̂ of the scheme", of="dofs")
    q = number(WORK, "the iterate", of="dofs")
    dq = number(WORK, "displacement that the solve found", of="dofs")
    v = number(WORK, "rates that the step gives", of="dofs")
    q_eval = number(WORK, "where forces are evaluated on the way", of="dofs")
    force = number(WORK, "generalised forces", of="dofs")
    pulled = number(WORK, "what forces do in the stages of a step: displacement from free flight / h²", 5, of="dofs")
    shrinks = number(WORK, "ratio of the displacements of Newton's last two turns; infinite: there were none", of=1)
    drawn = number(WORK, "displacement of the first turn of the first stage, over the scene's size", of=1)
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


class Ledger(Table):
    """What energy there is to be had, see `kernels.ledger`."""

    fresh = whole(STATE, "1: the state was set from outside, and is to be read first")
    limit = number(STATE, "what kinetic and weight energy may not exceed, J")
    turned = number(STATE, "energy that was turned over so far, J")
    lowest = number(STATE, "lowest weight energy so far, J")
    mass = number(STATE, "of everything, kg")
    steps = whole(STATE, "steps since the limit was last set by what is there")
    best = number(STATE, "largest reading of all energies since then, J")
    work = number(WORK, "work that moving targets do on the scene in the step, J")
    kinetic = number(WORK, "what kinetic energy is not above after the step, J")
    weight = number(WORK, "weight energy after the step, J")


class Groups(Table):
    """Bodies that ties hold together: each group as a whole."""

    free = whole(PLAN, "1: nothing ties it to the world")
    keeps_spin = whole(PLAN, "1: its angular momentum is kept")
    of_spline = whole(PLAN, "group of each spline rod", of="splines")
    of_discrete = whole(PLAN, "group of each discrete rod", of="discretes")
    of_rigid = whole(PLAN, "group of each rigid body", of="rigids")
    of_slider = whole(PLAN, "group of each slider", of="sliders")
    touched = whole(WORK, "1: something outside of it presses on it in this step")
    spin_kept = number(STATE, "angular momentum about its centre, N·m·s", 3)
    spin_last = number(STATE, "the same one state before", 3)
    mass = number(STATE, "kg: the next step asks for it before it is measured anew")
    centre = number(WORK, "centre of mass, m", 3)
    momentum = number(WORK, "kg·m/s", 3)
    spin = number(WORK, "angular momentum about the centre, N·m·s", 3)
    inertia = number(WORK, "about the centre, kg·m², row by row", 9)
    velocity = number(WORK, "of the centre, m/s", 3)
    turning = number(WORK, "rigid part of its rotation, rad/s", 3)
    torque = number(WORK, "of loads about the centre, N·m", 3)


class Kept(Table):
    """What a solve changes before it is accepted, as words of 8 bytes, and what it was before."""

    rows = whole(STATE, "of constraints' rows", of="row_words")
    rows_before = whole(WORK, "before the solve", of="row_words")
    cables = whole(STATE, "of cables", of="cable_words")
    cables_before = whole(WORK, "before the solve", of="cable_words")


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
    routes = table(Routes, "ways that points of the world are led along")
    rigging = table(Rigging, "hoisting cables")
    blocks = table(Blocks, "what a static solve adds")
    kept = table(Kept, "what a solve changes before it is accepted")
    ledger = table(Ledger, "energy that is there to be had")
    groups = table(Groups, "bodies that ties hold together")


class SceneTable(Model):
    """Everything that a step reads and writes, where nothing touches."""

    plan = table(Plan, "plan of the factorisation")
    matrix = table(Matrix, "numbers of the matrix and of its factor")
    panel = table(PanelRows, "rows with bounds, solved forward")
    candidates = table(Candidates, "which rows these are")
    bounded = table(BoundedProblem, "the small problem of rows with bounds")
