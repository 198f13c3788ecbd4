"""Strands that change along their length: tapers, pieces whose stiffness and mass jump, numbers given directly.

Loads that are called small bend the strand by w of its length, and the closed integrals are Euler and Bernoulli's: what
the exact curve adds is w² of it, below 1e-9.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from references.library import strand
from references.rods import Rod, sweep_back
from references.rotation import exp
from references.samples import COUPLED, EXTENSIBLE, FULL, tapered
from scipy.integrate import quad
from scipy.optimize import brentq

import sennit as sn

LENGTH, E, DENSITY = 2.0, 40e9, 1800.0
CARBON = sn.Material(E, 0.3, DENSITY)
SOFT = sn.Material(0.1 * E, 0.3, 3.0 * DENSITY)
WIRE = sn.Section.circle(3e-3)
FORCE, PUSH = 1e-4, 1e-6
AT = 0.61 * LENGTH  # on no node of an even mesh
PIECES = [(AT, WIRE, CARBON), (None, WIRE, SOFT)]
LAID = sn.Pose((0, 0, 0), (math.sqrt(0.5), 0, math.sqrt(0.5), 0))  # d3 along x
MESHES = (11, 21, 41, 81)


def radius(s: float) -> float:
    return 6e-3 - 2e-3 * s


def taper(s: float) -> sn.Section:
    return sn.Section.circle(radius(s))


def drop(thread: sn.Strand, **loads) -> float:
    return -float(thread.solve(base=LAID, **loads).positions[-1, 2])


def fitted(errors, meshes=MESHES) -> float:
    return -float(np.polyfit(np.log(np.array(meshes) - 1.0), np.log(np.abs(errors)), 1)[0])


def test_a_fishing_rod_bends_as_its_integral_says(validated):
    """12 to 4 mm thick: δ = ∫F (L − s)²/(EI) ds."""
    meshes = (21, 41, 81, 161)
    exact = quad(lambda s: FORCE * (LENGTH - s) ** 2 / (E * math.pi * radius(s) ** 4 / 4), 0, LENGTH, epsabs=0)[0]
    rods = [sn.Strand(LENGTH, taper, CARBON, nodes=n) for n in meshes]
    errors = [drop(rod, tip_force=(0, 0, -FORCE)) / exact - 1 for rod in rods]
    order = fitted(errors, meshes)
    assert abs(order - 4) < 0.2, (order, errors)
    ends = sn.Strand(LENGTH, [taper(0.0), taper(LENGTH)], CARBON, nodes=41)  # radii are linear between: the same rod
    np.testing.assert_allclose(ends.stiffness, rods[1].stiffness, rtol=1e-9)
    np.testing.assert_allclose(ends.mass_per_length, rods[1].mass_per_length, rtol=1e-9)
    validated(
        "Strand that tapers 3 to 1",
        area="strand",
        quantity="tip, 41 nodes",
        reference="∫F (L − s)²/EI ds",
        error=abs(errors[1]),
        bound=2e-5,
        order=order,
    )


@pytest.mark.parametrize("order", [1, 2])
def test_lower_orders(order):
    exact = quad(lambda s: FORCE * (LENGTH - s) ** 2 / (E * math.pi * radius(s) ** 4 / 4), 0, LENGTH, epsabs=0)[0]
    meshes = (41, 81, 161)
    errors = [
        drop(sn.Strand(LENGTH, taper, CARBON, nodes=n, order=order), tip_force=(0, 0, -FORCE)) / exact - 1
        for n in meshes
    ]
    assert -np.polyfit(np.log(np.array(meshes) - 1), np.log(np.abs(errors)), 1)[0] > order - 0.3


@pytest.mark.parametrize("at", [0.61, 0.5, 0.203])
@pytest.mark.parametrize("ratio", [0.1, 0.01, 20.0])
def test_a_jump_of_stiffness(at, ratio, validated):
    """A node stands at the jump, and moments are linear on both sides: only rounding is left."""
    other = sn.Material(ratio * E, 0.3, DENSITY)
    exact = quad(
        lambda s: PUSH * (LENGTH - s) ** 2 / (E * WIRE.I1 * (1 if s < at * LENGTH else ratio)), 0, LENGTH,
        points=[at * LENGTH], epsabs=0,
    )[0]  # fmt: skip
    rod = sn.Strand(LENGTH, pieces=[(at * LENGTH, WIRE, CARBON), (None, WIRE, other)], nodes=21)
    state = rod.solve(base=LAID, tip_force=(0, 0, -PUSH))
    assert np.abs(state.s - at * LENGTH).min() < 1e-12
    validated(
        "Strand whose stiffness jumps",
        area="strand",
        quantity="tip under a force, 21 nodes",
        reference="∫F (L − s)²/EI ds",
        error=abs(-float(state.positions[-1, 2]) / exact - 1),
        bound=1e-7,
    )


def test_jumps_of_stiffness_and_mass_under_its_own_weight(validated):
    """Moments are quadratic, for which elements of order 4 are exact; those of order 2 keep it."""
    g, EI = 1e-4, E * WIRE.I1
    soft, w, heavy = LENGTH - AT, DENSITY * WIRE.area * g, 3 * DENSITY * WIRE.area * g

    def moment(s: float) -> float:
        if s >= AT:
            return 0.5 * heavy * (LENGTH - s) ** 2
        return 0.5 * w * (AT - s) ** 2 + heavy * soft * (AT + 0.5 * soft - s)

    exact = quad(lambda s: moment(s) * (LENGTH - s) / EI / (1 if s < AT else 0.1), 0, LENGTH, points=[AT], epsabs=0)[0]
    validated(
        "Strand whose stiffness and mass jump, under its weight",
        area="strand",
        quantity="tip, 11 nodes",
        reference="∫M (L − s)/EI ds",
        error=abs(drop(sn.Strand(LENGTH, pieces=PIECES, nodes=11), gravity=(0, 0, -g)) / exact - 1),
        bound=1e-7,
    )
    lower = [drop(sn.Strand(LENGTH, pieces=PIECES, nodes=n, order=2), gravity=(0, 0, -g)) / exact - 1 for n in MESHES]
    assert fitted(lower) > 1.8, lower


def critical(column: sn.Strand, low: float, high: float) -> float:
    """The load at which the straight column ceases to be stable, by bisection: shooting finds it stable or not."""
    for _ in range(36):
        load = 0.5 * (low + high)
        state = column.solve(base=sn.Pose(), tip_force=(0, 0, -load), method="shooting")
        assert abs(state.tip_pose.position[:2]).max() < 1e-9
        low, high = (load, high) if state.stable else (low, load)
    return 0.5 * (low + high)


def test_a_stepped_column_buckles(validated):
    """Clamped and free, EI1 over a and EI2 over b: tan(k1 a) tan(k2 b) = k2/k1, k² = P/EI (Timoshenko and Gere)."""
    B1, B2 = E * WIRE.I1, 0.1 * E * WIRE.I1
    a, b = AT, LENGTH - AT

    def balance(load: float) -> float:
        k1, k2 = math.sqrt(load / B1), math.sqrt(load / B2)
        return k1 * math.sin(k1 * a) * math.sin(k2 * b) - k2 * math.cos(k1 * a) * math.cos(k2 * b)

    least = B2 * (math.pi / 2 / LENGTH) ** 2
    exact = brentq(balance, 0.5 * least, 9.0 * least, xtol=1e-14, rtol=1e-14)
    errors = [critical(sn.Strand(LENGTH, pieces=PIECES, nodes=n), 0.0, 3 * exact) / exact - 1 for n in MESHES[:3]]
    validated(
        "Column of two pieces",
        area="strand",
        quantity="critical load, 41 nodes",
        reference="tan(k₁a) tan(k₂b) = k₂/k₁",
        error=abs(errors[2]),
        bound=1e-5,
        order=fitted(errors, MESHES[:3]),
    )


@pytest.mark.parametrize("power", [2, 4])
def test_tapered_columns_buckle(power, validated):
    """Clamped at the thick end, load on the thin one, I ~ xⁿ: x from a to d = a + L from the taper's apex.

    n = 4, a cone: y = x sin(φ), φ = α(1/a − 1/x), tan φ(d) = −α/d with α² = P a⁴/EI(a). n = 2: y = √x sin(β ln x/a),
    tan(β ln d/a) = −2β with β² = P a²/EI(a) − 1/4.
    """
    a, d, B = 1.0, 3.0, 0.02  # B: EI at the thin end

    def stiffness(s: float) -> np.ndarray:
        EI = B * ((d - s) / a) ** power
        return np.diag((EI, EI, EI, 1e9, 1e9, 1e9))

    if power == 4:

        def balance(load: float) -> float:
            k = math.sqrt(load * a**4 / B)
            phi = k * (1 / a - 1 / d)
            return math.sin(phi) + k / d * math.cos(phi)
    else:

        def balance(load: float) -> float:
            beta = math.sqrt(load * a**2 / B - 0.25)
            phi = beta * math.log(d / a)
            return 0.5 * math.sin(phi) + beta * math.cos(phi)

    loads = np.linspace(0.2501 * B / a**2, 20 * B / a**2, 4000)
    values = [balance(load) for load in loads]
    k = int(np.argmax(np.diff(np.sign(values)) != 0))
    exact = brentq(balance, loads[k], loads[k + 1], xtol=1e-14)
    column = sn.Strand(d - a, stiffness=stiffness, nodes=81)
    validated(
        "Tapered column",
        area="strand",
        quantity="critical load of a cone, 81 nodes" if power == 4 else "critical load of a wedge, 81 nodes",
        reference="Bernoulli and Euler, closed form",
        error=abs(critical(column, 0.0, 3 * exact) / exact - 1),
        bound=1e-5,
    )


@pytest.mark.parametrize("nodes", [21, 81])
def test_a_heavy_cone_hangs(nodes, validated):
    """T(s) = ρg ∫A beyond s; its tip comes down by ∫T/EA ds."""
    rubber = sn.Material(1e6, 0.49, 1100)
    T = quad(lambda s: 9.81 * 1100 * math.pi * radius(s) ** 2, 0, LENGTH)[0]
    state = sn.Strand(LENGTH, taper, rubber, nodes=nodes, extensible=True).solve(
        base=sn.Pose((0, 0, 0), (0, 1, 0, 0)), gravity=(0, 0, -9.81)
    )

    def tension(s: float) -> float:
        return 9.81 * 1100 * math.pi / 6e-3 * (radius(s) ** 3 - radius(LENGTH) ** 3)

    assert tension(0.0) == pytest.approx(T, rel=1e-12)
    along = state.forces[:, 2]
    np.testing.assert_allclose(along, [-tension(s) for s in state.s], atol=1e-12 * T)  # Simpson's rule: A is quadratic
    stretched = [1 + tension(s) / (1e6 * math.pi * radius(s) ** 2) for s in state.s]
    np.testing.assert_allclose(state.stretches[:, 2], stretched, rtol=1e-11)
    longer = quad(lambda s: tension(s) / (1e6 * math.pi * radius(s) ** 2), 0, LENGTH)[0]
    validated(
        "Heavy cone that hangs",
        area="strand",
        quantity="stretch, 21 nodes" if nodes == 21 else "stretch, 81 nodes",
        reference="∫T/EA ds",
        error=abs((-state.positions[-1, 2] - LENGTH) / longer - 1),
        bound=1e-5 if nodes == 21 else 1e-7,
    )


def test_pieces_bend_far_in_space(validated):
    """Two pieces with full stiffnesses, strongly bent and twisted, beside DOP853 through each of them."""
    first = Rod(0.6, EXTENSIBLE)
    tip_force, tip_torque = (1.2, -1.6, 0.8), (0.3, 0.5, -0.4)
    second = Rod(0.4, 0.2 * EXTENSIBLE, tip_force=tip_force, tip_torque=tip_torque, follower=True)
    outer = sweep_back(second, np.array([0.0, 0.4]))
    inner = sweep_back(
        Rod(0.6, EXTENSIBLE, tip_force=tuple(outer.forces[0]), tip_torque=tuple(outer.moments[0]), follower=True),
        np.array([0.0, 0.6]),
    )
    tip = inner.positions[-1] + inner.rotations[-1] @ outer.positions[-1]
    stiffness = [first.stiffness, second.stiffness]
    errors, swept = [], []
    for nodes in MESHES:
        rod = two_pieces(stiffness, (0.6, 0.4), nodes)
        state = rod.solve(base=sn.Pose(), tip_force=tip_force, tip_torque=tip_torque, follower=True)
        assert state.report.method == "sweep"
        swept.append(np.abs(state.positions[-1] - tip).max())
        world = inner.rotations[-1] @ outer.rotations[-1]
        dead = rod.solve(base=sn.Pose(), tip_force=world @ tip_force, tip_torque=world @ tip_torque, guess=state)
        errors.append(np.abs(dead.positions[-1] - tip).max())
    assert fitted(swept) > 3.7
    assert fitted(errors) > 3.7
    validated(
        "Two pieces bent far in space",
        area="strand",
        quantity="tip, 81 nodes, of the length",
        reference="DOP853 through each piece",
        error=max(errors[-1], swept[-1]),
        bound=2e-6,
        order=fitted(errors),
    )


def two_pieces(stiffness, sizes, nodes: int, **options) -> sn.Strand:
    """Pieces with full stiffnesses: what users can say of sections only, said to the parts below."""
    from sennit.bodies.strand.made import StrandMatter, _Constant
    from sennit.bodies.strand.strand import Strand

    matter = StrandMatter(sum(sizes), np.cumsum(sizes), [_Constant(matrix, None) for matrix in stiffness])
    return Strand(sum(sizes), stiffness=matter, nodes=nodes, extensible=True, **options)  # type: ignore[arg-type]


def test_it_is_the_rod_of_a_scene(validated):
    """The same numbers given to a `Rod` that settles: bent far by its weight, and stretched."""
    numbers = sn.Properties(
        EA=lambda s: 40.0 - 15.0 * s, EI=lambda s: 0.02 / (1 + s), EI2=0.03, GJ=0.01, mass=(0.1, 0.02), radius=5e-3
    )
    scene = sn.Scene(gravity=(0, 0, -1.0))
    rod = scene.add(
        sn.Rod.straight((0, 0, 0), (LENGTH, 0, 0), properties=numbers, control_points=120, up=(0, 0.6, 0.8))
    )
    scene.add(sn.Clamp(rod.at(0)))
    scene.settle()
    frame = rod.frames(2)[0]
    base = sn.Pose.from_rotation((0, 0, 0), np.column_stack((frame[:, 0], frame[:, 1], frame[:, 2])))
    thread = sn.Strand(LENGTH, properties=numbers, nodes=81, extensible=True)
    state = thread.solve(base=base, gravity=(0, 0, -1.0))
    assert state.positions[-1, 2] < -0.4 * LENGTH
    assert state.energy.bend + state.energy.twist == pytest.approx(rod.energy.bend + rod.energy.twist, rel=1e-4)
    assert state.energy.stretch == pytest.approx(rod.energy.stretch, rel=1e-3)
    assert state.energy.shear == 0.0
    validated(
        "Strand and rod with one set of properties",
        area="strand",
        quantity="tip, of the length",
        reference="a spline rod with 120 points, settled",
        error=float(np.abs(state.positions[-1] - rod.at(LENGTH).position).max()) / LENGTH,
        bound=1e-5,
    )


@pytest.mark.parametrize("stiffness", [FULL, EXTENSIBLE, COUPLED])
def test_the_grip_feels_the_slope_of_the_energy(stiffness):
    """∂E/∂p is the tip's force, and its slope is symmetric (Betti): both ends held, bent far."""
    thread = strand(tapered(stiffness), nodes=41)
    place = np.array((0.3, 0.25, 0.6))
    turn = exp(np.array((0.4, 0.3, -0.5)))
    start = thread.solve(base=sn.Pose(), tip=sn.Pose.from_rotation(place, turn))
    h = 1e-4
    slopes, forces = [], []
    for k in range(3):
        ends = []
        for sign in (1.0, -1.0):
            moved = place.copy()
            moved[k] += sign * h
            ends.append(thread.solve(base=sn.Pose(), tip=sn.Pose.from_rotation(moved, turn), guess=start))
        slopes.append((ends[0].energy.total - ends[1].energy.total) / (2 * h))
        forces.append((ends[0].tip_force - ends[1].tip_force) / (2 * h))
    size = np.abs(start.tip_force).max()
    np.testing.assert_allclose(slopes, start.tip_force, atol=1e-5 * size)
    matrix = np.array(forces)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-5 * np.abs(matrix).max())


def test_it_does_not_know_where_the_world_is():
    thread = strand(tapered(EXTENSIBLE), nodes=21)
    turn, way, force, torque = (
        exp(np.array((0.7, -1.1, 0.4))),
        np.array((0.3, -0.2, 1.0)),
        (1.0, -0.5, 0.3),
        (0.2, 0.1, 0),
    )
    one = thread.solve(base=sn.Pose(), tip_force=force, tip_torque=torque, gravity=(0, 0, -0.5))
    base = sn.Pose.from_rotation(way, turn)
    other = thread.solve(base=base, tip_force=turn @ force, tip_torque=turn @ torque, gravity=turn @ (0, 0, -0.5))
    np.testing.assert_allclose(other.positions, one.positions @ turn.T + way, atol=1e-9)
    assert other.energy.elastic == pytest.approx(one.energy.elastic, rel=1e-9)


def test_it_may_be_described_from_its_other_end():
    """Half a turn about d2, and s read backward: two clamps hold one strand of two pieces."""
    tip = sn.Pose((0.3, 0.9, 1.2), (0.8, 0.3, 0.4, 0.2))
    flip = sn.Pose((0, 0, 0), (0, 0, 1, 0))
    one = sn.Strand(LENGTH, pieces=PIECES, nodes=41).solve(base=sn.Pose(), tip=tip)
    other = sn.Strand(LENGTH, pieces=[(LENGTH - AT, *PIECES[1][1:]), (None, *PIECES[0][1:])], nodes=41)
    state = other.solve(base=tip @ flip, tip=sn.Pose() @ flip)
    # elements' ends; their middles are integrated from the side of the base
    np.testing.assert_allclose(state.positions[::-2], one.positions[::2], atol=1e-8)
    assert state.energy.total == pytest.approx(one.energy.total, rel=1e-9)


def test_pieces_that_are_alike_are_one():
    one = sn.Strand(LENGTH, WIRE, CARBON, nodes=21, extensible=True)
    same = sn.Strand(LENGTH, pieces=[(0.8, WIRE, CARBON), (None, WIRE, CARBON)], nodes=21, extensible=True)
    for loads in (
        {"gravity": (0, 0, -9.81), "tip_force": (0.3, 0, 0)},
        {"tip_force": (0.3, 0.1, 0), "follower": True},
        {"gravity": (0, 0, -9.81), "torque": (0.1, 0, 0.02)},
    ):
        a, b = one.solve(base=LAID, **loads), same.solve(base=LAID, **loads)
        for name in ("positions", "forces", "moments", "curvatures", "stretches"):
            x, y = getattr(a, name), getattr(b, name)
            np.testing.assert_allclose(x, y, atol=1e-9 * np.abs(x).max(), err_msg=name)


def test_all_methods_find_the_same():
    """Energy, the general system (a torque too small to tell), shooting and the automatic mesh."""
    fine = sn.Strand(LENGTH, pieces=PIECES, nodes=161)
    loads = {"gravity": (0, 0, -0.3), "tip_force": (0, 0.02, 0)}
    energy = fine.solve(base=LAID, **loads)
    general = fine.solve(base=LAID, torque=(1e-13, 0, 0), **loads)
    assert (energy.report.method, general.report.method) == ("energy", "follower")
    assert np.abs(energy.positions - general.positions).max() < 1e-8
    shot = fine.solve(base=LAID, method="shooting", **loads)
    assert np.abs(energy.positions - shot.positions).max() < 1e-6
    np.testing.assert_allclose(shot.curvatures, energy.curvatures, atol=1e-5 * np.abs(energy.curvatures).max())
    auto = sn.Strand(LENGTH, pieces=PIECES, nodes="auto", tolerance=1e-7).solve(base=LAID, **loads)
    assert np.abs(auto.positions[-1] - energy.positions[-1]).max() < 1e-6 * LENGTH
    assert np.abs(auto.s - AT).min() < 1e-12


def test_where_stiffness_jumps_curvature_does_and_moments_do_not():
    state = sn.Strand(LENGTH, pieces=PIECES, nodes=41).solve(base=LAID, tip_force=(0, 0, -0.5))
    k = int(np.abs(state.s - AT).argmin())
    bend = np.linalg.norm(state.curvatures[:, :2], axis=1)
    moment = np.linalg.norm(state.moments, axis=1)
    assert bend[k] * E * WIRE.I1 == pytest.approx(moment[k], rel=1e-9)  # the value just before it
    assert bend[k + 1] * 0.1 * E * WIRE.I1 == pytest.approx(moment[k + 1], rel=1e-9)


def test_equilibria_of_pieces():
    """Those of a strand that is alike all along, cut into pieces that are alike; and of one whose pieces are not."""
    ends = {"base": sn.Pose(), "tip": sn.Pose((0, 0, 0.6 * LENGTH))}
    one = sn.Strand(LENGTH, WIRE, CARBON, nodes=21).equilibria(**ends)
    same = sn.Strand(LENGTH, pieces=[(AT, WIRE, CARBON), (None, WIRE, CARBON)], nodes=21).equilibria(**ends)
    assert same[0].stable
    assert same[0].energy.total == pytest.approx(one[0].energy.total, rel=1e-3)  # their meshes differ
    found = sn.Strand(LENGTH, pieces=PIECES, nodes=41).equilibria(**ends)
    assert found[0].stable
    assert {state.stable for state in found} == {True, False}
    assert found[0].energy.total < one[0].energy.total  # a part of it is softer


def test_conditions_at_a_jump():
    """Holds and loads where pieces meet, or within a rounding of it, share its node."""
    thread = sn.Strand(LENGTH, pieces=PIECES, nodes=41)
    exact = thread.solve(base=LAID, point_loads=[sn.PointLoad(AT, (0, 0, -0.5))])
    near = thread.solve(base=LAID, point_loads=[sn.PointLoad(AT + 1e-10, (0, 0, -0.5))])
    np.testing.assert_allclose(near.positions, exact.positions, atol=1e-9)
    k = int(np.abs(exact.s - AT).argmin())
    place = exact.positions[k]
    held = thread.solve(base=LAID, via=[(AT, place)])
    np.testing.assert_allclose(held.via_forces[0], (0, 0, -0.5), atol=1e-6)
