"""The arrays of one strand that kernels take, by name.

Units: lengths in L, forces in B/L², moments and energies in B/L, where L is the strand's length and B a bending
stiffness of its law. Angles are in radians. Matrices are nine numbers, row by row. An element has three slots: its
start 0, its middle m and its end 1.
"""

from __future__ import annotations

from sennit.cosserat.kernels.follower import BAND
from sennit.cosserat.lanes import Lanes, lane
from sennit.tables import PARAMETER, PLAN, STATE, WORK, Table, number, table, whole

__all__ = [
    "Asked",
    "ElementData",
    "Elements",
    "EnergySpace",
    "Equilibrium",
    "Factors",
    "GeneralState",
    "GeneralSystem",
    "Intervals",
    "LawTable",
    "Loads",
    "NewtonWork",
    "NodeLoads",
    "Path",
    "Plan",
    "Residual",
    "Sensitivity",
    "SoftMode",
    "Step",
    "StretchedIntervals",
    "SweepWork",
    "TipTerms",
    "Unknowns",
    "VariedIntervals",
]

# ------------------------------------------------------------------------------------------------- what is to be solved


class Plan(Table):
    """Mesh and holds of a problem."""

    order = whole(PLAN, "order of accuracy: 1, 2 or 4", of="one")
    stride = whole(PLAN, "nodes from one element end to the next: 2 at order 4, else 1", of="one")
    segment = whole(PLAN, "segment, between two holds, that an element is in", of="elements")
    held = whole(PLAN, "whether both ends of a segment are held, so that its force is sought", of="segments")
    fixed = whole(PLAN, "whether the rotation of an element end is given", of="ends")
    floor = number(PARAMETER, "shift that is always on the tangent's diagonal, B/L²", of="one")
    longest = number(PARAMETER, "length of the longest element, L", of="one")
    strongest = number(PARAMETER, "largest known part of the internal force, B/L²", of="one")


class TipTerms(Table):
    """What acts on the tip's rotation: moments, and springs that pull towards a rotation."""

    dead_moment = number(PARAMETER, "moment, world frame, B/L", 3, of="one")
    follower_moment = number(PARAMETER, "moment, body frame, B/L", 3, of="one")
    spring = number(PARAMETER, "stiffness of a rotational spring, B/L; 0: there is none", of="springs")
    towards = number(PARAMETER, "quaternion that a spring pulls towards", 4, of="springs")


class Asked(Table):
    """What may change from solve to solve: where the holds are, and what acts on the tip's rotation."""

    target = number(PARAMETER, "what a held segment should span, L", 3, of="segments")
    compliance = number(PARAMETER, "compliance of what holds a segment's end, L³/B", of="segments")
    tip = table(TipTerms, "what acts on the tip's rotation")


class LawTable(Table):
    """The elastic law: linear and uncoupled by `K` and `C`, or any by `address`; and memory to call that with."""

    K = number(PARAMETER, "stiffness in bending and twist, B", 9, of="one")
    C = number(PARAMETER, "compliance in shear and stretch, L²/B; 0 if inextensible", 9, of="one")
    address = whole(PARAMETER, "of the law's compiled function; linear ones have none", of="one")
    length = number(PARAMETER, "unit of length L, m", of="one")
    bending = number(PARAMETER, "unit of bending stiffness B, N·m²", of="one")
    extensible = whole(PARAMETER, "whether shear and stretch are free", of="one")
    stiffness = number(
        PARAMETER, "stiffness of a coupled linear law, SI units: six rows; where it varies, for each slot", 6, of="rows"
    )
    stretch = number(
        STATE, "stretch strain found last at an element's slot: where the next search begins", 3, of="slots"
    )
    # What a user's law takes and fills: bending about d1 and d2, twist, shear along d1 and d2, stretch, in this order.
    strain = number(WORK, "strains u − û, 1/m, and v − v̂", of="strains")
    stress = number(WORK, "moment and force, SI units, then the kernels'", of="strains")
    tangent = number(WORK, "derivative of stress in strain, SI units, then the kernels'", 6, of="strains")


class Loads(Table):
    """Loads on a mesh. Dead ones are in the world frame, followers in the frame of their node."""

    dead_force = number(PARAMETER, "force per length, B/L³, world frame", 3, of="nodes")
    dead_weight = number(
        PARAMETER, "weight per length at an element's slot, where masses vary; else of no slot, B/L³", 3, of="slots"
    )
    dead_torque = number(PARAMETER, "torque per length, B/L², world frame", 3, of="nodes")
    follower_force = number(PARAMETER, "force per length, B/L³, body frame", 3, of="nodes")
    follower_torque = number(PARAMETER, "torque per length, B/L², body frame", 3, of="nodes")
    dead_point = number(PARAMETER, "force at an element end, B/L², world frame", 3, of="ends")
    dead_moment = number(PARAMETER, "torque at an element end, B/L, world frame", 3, of="ends")
    follower_point = number(PARAMETER, "force at an element end, B/L², body frame", 3, of="ends")
    follower_moment = number(PARAMETER, "torque at an element end, B/L, body frame", 3, of="ends")

    @property
    def dead_forces_only(self) -> bool:
        """Whether they have a potential: no torques, and no forces that turn with the strand."""
        none = (
            self.dead_torque, self.follower_torque, self.follower_force, self.follower_point, self.dead_moment,
            self.follower_moment,
        )  # fmt: skip
        return not any(array.any() for array in none)

    @property
    def all_follow(self) -> bool:
        """Whether every load turns with the strand, so that two sweeps give the answer."""
        dead = (self.dead_force, self.dead_weight, self.dead_torque, self.dead_point, self.dead_moment)
        return not any(array.any() for array in dead)


# ---------------------------------------------------------------------------------------------- the elements' energies


class ElementData(Lanes):
    """What the elements are given."""

    length = lane(PARAMETER, "length h, L")
    limp = lane(PARAMETER, "1/EI² at slot m, 1/B²")
    rest_u0 = lane(PARAMETER, "rest curvature û at slot 0, 1/L", 3)
    rest_um = lane(PARAMETER, "rest curvature û at slot m, 1/L", 3)
    rest_u1 = lane(PARAMETER, "rest curvature û at slot 1, 1/L", 3)
    rest_v0 = lane(PARAMETER, "rest stretch v̂ at slot 0", 3)
    rest_vm = lane(PARAMETER, "rest stretch v̂ at slot m", 3)
    rest_v1 = lane(PARAMETER, "rest stretch v̂ at slot 1", 3)
    load_n0 = lane(PARAMETER, "known part of the internal force at slot 0, world frame", 3)
    load_nm = lane(PARAMETER, "known part of the internal force at slot m, world frame", 3)
    load_n1 = lane(PARAMETER, "known part of the internal force at slot 1, world frame", 3)


class Elements(ElementData):
    """The elements: what they are given, their state, their energies with two derivatives, and these condensed.

    Derivatives are in the rotations φ0, φm, φ1 (body frame) and the segment's force λ.
    """

    lam = lane(WORK, "force λ of the element's segment, world frame", 3)
    quat0 = lane(WORK, "quaternion at slot 0", 4)
    quatm = lane(WORK, "quaternion at slot m", 4)
    quat1 = lane(WORK, "quaternion at slot 1", 4)
    log_a = lane(WORK, "a = log(R0ᵀRm)", 3)
    log_c = lane(WORK, "c = log(RmᵀR1)", 3)
    beta_a = lane(WORK, "coefficient β of the logarithm's derivative at a")
    slope_a = lane(WORK, "derivative of β in |a|²")
    beta_c = lane(WORK, "coefficient β of the logarithm's derivative at c")
    slope_c = lane(WORK, "derivative of β in |c|²")
    omega = lane(WORK, "end weight ω of the position quadrature, over h")
    omega_slope = lane(WORK, "derivative of ω in |½(a + c)|²")
    omega_bend = lane(WORK, "second derivative of ω in |½(a + c)|²")
    sines = lane(WORK, "sin² of half of a's angle plus that of c's")
    potential = lane(WORK, "energy less the work of the known forces")
    g0 = lane(WORK, "unbalanced moment at slot 0, body frame", 3)
    gm = lane(WORK, "unbalanced moment at slot m, body frame", 3)
    g1 = lane(WORK, "unbalanced moment at slot 1, body frame", 3)
    chord = lane(WORK, "∫R v, what the element spans, L, world frame", 3)
    dmm = lane(WORK, "second derivative in φm, φm", 9)
    o0m = lane(WORK, "second derivative in φ0, φm", 9)
    om1 = lane(WORK, "second derivative in φm, φ1", 9)
    bm = lane(WORK, "second derivative in φm, λ", 9)
    d00 = lane(WORK, "second derivative in φ0, φ0", 9)
    d11 = lane(WORK, "second derivative in φ1, φ1", 9)
    o01 = lane(WORK, "second derivative in φ0, φ1", 9)
    b0 = lane(WORK, "second derivative in φ0, λ", 9)
    b1 = lane(WORK, "second derivative in φ1, λ", 9)
    s = lane(WORK, "second derivative in λ, λ", 9)
    # The same with φm eliminated: what the chain of element ends sees.
    cd00 = lane(WORK, "condensed: in φ0, φ0", 9)
    cd11 = lane(WORK, "condensed: in φ1, φ1", 9)
    co01 = lane(WORK, "condensed: in φ0, φ1", 9)
    cb0 = lane(WORK, "condensed: in φ0, λ", 9)
    cb1 = lane(WORK, "condensed: in φ1, λ", 9)
    cs = lane(WORK, "condensed: in λ, λ", 9)
    pivots = lane(WORK, "factors of the middle block: 1/d0, 1/d1, 1/d2, l10, l20, l21", 6)
    x0 = lane(WORK, "middle block's inverse times its coupling with φ0", 9)
    x1 = lane(WORK, "middle block's inverse times its coupling with φ1", 9)
    xb = lane(WORK, "middle block's inverse times its coupling with λ", 9)
    negative = lane(WORK, "number of negative pivots of the middle block")
    # Only of strands that vary along their length; others have one stiffness, in the law's table.
    stiff0 = lane(PARAMETER, "stiffness in bending and twist at slot 0, B", 9)
    stiffm = lane(PARAMETER, "stiffness in bending and twist at slot m, B", 9)
    stiff1 = lane(PARAMETER, "stiffness in bending and twist at slot 1, B", 9)
    give0 = lane(PARAMETER, "compliance in shear and stretch at slot 0, L²/B", 9)
    givem = lane(PARAMETER, "compliance in shear and stretch at slot m, L²/B", 9)
    give1 = lane(PARAMETER, "compliance in shear and stretch at slot 1, L²/B", 9)

    def __init__(self, rows: int) -> None:
        super().__init__(rows)
        for quaternions in (self.quat0, self.quatm, self.quat1):
            quaternions[...] = 1.0  # unused lanes of the last block stay finite


# ---------------------------------------------------------------------------------------------------- Newton's method


class Unknowns(Table):
    """A state of the energy method."""

    q = number(STATE, "quaternion of a node", 4, of="nodes")
    lam = number(
        STATE, "force λ of a segment, B/L², world frame; given where the segment is not held", 3, of="segments"
    )


class Equilibrium(Table):
    """A state that was found, and what it was asked to span."""

    q = number(STATE, "quaternion of a node", 4, of="nodes")
    lam = number(STATE, "force λ of a segment, B/L², world frame", 3, of="segments")
    target = number(STATE, "what a segment spans, L", 3, of="segments")


class Residual(Table):
    """What is out of balance."""

    moment = number(WORK, "unbalanced moment of a node, B/L, body frame", 3, of="nodes")
    gap = number(WORK, "what a held segment should span less what it spans, L", 3, of="segments")


class Step(Table):
    """A change of the unknowns."""

    turn = number(WORK, "rotation vector of a node, body frame", 3, of="nodes")
    pull = number(WORK, "change of a segment's force, B/L²", 3, of="segments")


class Factors(Table):
    """The tangent's factors along the chain of element ends: D diagonal, O coupling to the next end, B border of λ."""

    pivots = number(WORK, "of D: 1/d0, 1/d1, 1/d2, l10, l20, l21", 6, of="ends")
    onward = number(WORK, "D⁻¹O", 9, of="ends")
    border = number(WORK, "D⁻¹B", 9, of="ends")
    closing_pivots = number(WORK, "of a segment's block Z in λ, as it is closed", 6, of="segments")
    closing_border = number(WORK, "Z⁻¹Bᵀ, with B of the end where the segment is closed", 9, of="segments")
    tip_inverse = number(WORK, "D⁻¹ of the tip, whose block need not be symmetric", 9, of="one")
    tip_border = number(WORK, "BᵀD⁻¹ of the tip", 9, of="one")
    last_inverse = number(WORK, "Z⁻¹ of the last segment", 9, of="one")


class SoftMode(Table):
    """The softest mode of the tangent, along which a valley of the energy runs."""

    mode = table(Step, "rotations, of length one if weighed by the nodes' shares of the length; its forces are unused")
    response = table(Step, "what a load of the mode's own shape does: the mode over its stiffness, and its forces")
    load = table(Residual, "such a load")


class NewtonWork(Table):
    """What a solve by energies makes anew."""

    residual = table(Residual, "of the state evaluated last")
    step = table(Step, "Newton step")
    correction = table(Step, "of second order, to be added to the step")
    trial = table(Unknowns, "end of a step that is being judged")
    kept = table(Unknowns, "where to go back to if steps in a row lead nowhere")
    factors = table(Factors, "of the tangent")
    soft = table(SoftMode, "its softest mode")


class EnergySpace(Table):
    """What a solve by energies needs beside plan and elements: one argument, since each takes time to hand over."""

    law = table(LawTable, "the elastic law")
    asked = table(Asked, "where the holds are, and what acts on the tip's rotation")
    state = table(Equilibrium, "guess, then result")
    newest = table(Equilibrium, "the last equilibrium")
    older = table(Equilibrium, "the one before it, or the same again")
    oldest = table(Equilibrium, "the one before that, or the same again")
    work = table(NewtonWork, "what is made anew")


# ----------------------------------------------------------------------------------------------------- general method


class GeneralState(Table):
    """A state of the general method."""

    q = number(STATE, "quaternion of a node", 4, of="nodes")
    r = number(STATE, "position of an element end, L", 3, of="ends")
    n = number(STATE, "internal force at an element's end, B/L², world frame", 3, of="elements")


class GeneralSystem(Table):
    """The linearised system of the general method, and what holds and loads its ends."""

    held = whole(PLAN, "whether the position of an element end is given", of="ends")
    place = number(PARAMETER, "given position of an element end, L", 3, of="ends")
    weight = number(PARAMETER, "quadrature weight of a node for loads per length, L", of="nodes")
    tip_force = number(PARAMETER, "force on the tip, B/L², body frame if it follows, else world frame", 3, of="one")
    tip_follows = whole(PARAMETER, "whether the force on the tip turns with it", of="one")
    tip_compliance = number(PARAMETER, "of the spring that holds the tip, L³/B; 0: there is none", of="one")
    right = number(WORK, "minus the residual, in the order of the unknowns", of="unknowns")
    band = number(WORK, "matrix in LAPACK's band storage", "unknowns", of="diagonals")

    def __init__(self, **sizes: int) -> None:
        super().__init__(diagonals=2 * BAND + 1, **sizes)


# ----------------------------------------------------------------------------------------------- sweeps and shooting


class _IntervalFields(Table):
    """Intervals between nodes; samples stand at the nodes and between them."""

    h = number(PARAMETER, "length of an interval, L", of="intervals")
    rest_u = number(PARAMETER, "rest curvature û, 1/L", 3, of="samples")
    force = number(PARAMETER, "force per length, B/L³", 3, of="samples")
    torque = number(PARAMETER, "torque per length, B/L²", 3, of="samples")


class Intervals(_IntervalFields):
    """Intervals whose rest stretch is (0, 0, 1): kernels that know it are faster, and compiled apart."""


class StretchedIntervals(_IntervalFields):
    """Intervals with any rest stretch."""

    rest_v = number(PARAMETER, "rest stretch v̂", 3, of="samples")


class VariedIntervals(StretchedIntervals):
    """Intervals of a strand that varies: each has its own numbers at its base side, middle and tip side."""

    bend = number(PARAMETER, "compliance in bending and twist at an interval's slot, 1/B", 9, of="slots")
    give = number(PARAMETER, "compliance in shear and stretch at an interval's slot, L²/B", 9, of="slots")
    weight = number(PARAMETER, "dead weight per length at an interval's slot, B/L³, world frame", 3, of="slots")


class NodeLoads(Table):
    """What acts at single nodes, the tip's load in the last row."""

    force = number(PARAMETER, "force, B/L²", 3, of="nodes")
    moment = number(PARAMETER, "torque, B/L", 3, of="nodes")


class SweepWork(Lanes):
    """What the first sweep leaves for the second: strains of an interval, and the rigid motion over it."""

    length = lane(WORK, "length of the interval, L")
    u0 = lane(WORK, "curvature at its base side, 1/L", 3)
    um = lane(WORK, "curvature at its middle, 1/L", 3)
    u1 = lane(WORK, "curvature at its tip side, 1/L", 3)
    v0 = lane(WORK, "stretch at its base side", 3)
    vm = lane(WORK, "stretch at its middle", 3)
    v1 = lane(WORK, "stretch at its tip side", 3)
    angle2 = lane(WORK, "square of the motion's rotation vector")
    turn = lane(WORK, "quaternion of the motion", 4)
    shift = lane(WORK, "translation of the motion, L", 3)


class Path(Table):
    """A strand that is integrated from its base, world frame."""

    q = number(STATE, "quaternion of a node", 4, of="nodes")
    r = number(STATE, "position of a node, L", 3, of="nodes")
    n = number(STATE, "internal force just before a node, B/L²", 3, of="nodes")
    m = number(STATE, "internal moment just before a node, B/L", 3, of="nodes")


class Sensitivity(Table):
    """Derivatives of the tip in the components of the base's wrench: three of the force, three of the moment."""

    turn = number(WORK, "δφ, world frame", 3, of="components")
    move = number(WORK, "δr, L", 3, of="components")
    force = number(WORK, "δn, B/L²", 3, of="components")
    moment = number(WORK, "δm, B/L", 3, of="components")
