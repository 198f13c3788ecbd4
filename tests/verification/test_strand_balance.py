"""Statics that hold whatever the shape: rigid motions, balance of wrenches, cuts, one load described two ways."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from references import equilibrium
from references.library import loads, pose, strand
from references.rods import Point, Rod, constant
from references.rotation import exp
from references.samples import coupled_rod, extensible_rod, flat_rod, full_rod, round_rod

import sennit as sn

MAKERS = [round_rod, flat_rod, full_rod, extensible_rod, coupled_rod]
TIP = pose((0.3, 0.2, 0.6), exp(np.array([0.5, -0.8, 0.6])))
PLACE = pose((0.4, -0.8, 0.3), exp(np.array([1.1, 2.0, -0.7])))

CASES = {
    "free": {"force": (0.5, -2.0, 1.0)},
    "dead": {"tip_force": (1.0, -2.0, 1.5), "force": (0.5, -2.0, 1.0)},
    "torque": {"tip_force": (1.0, -2.0, 1.5), "tip_torque": (0.5, 0.3, -0.4), "torque": (0.1, 0.2, -0.3)},
    "follower": {"tip_force": (1.0, -2.0, 1.5), "tip_torque": (0.5, 0.3, -0.4), "follower": True},
    "line": {"force": (1.0, -2.0, 1.5), "torque": (0.5, 0.3, -0.4), "line_follower": True},
    "points": {"point_loads": [(0.37, (1.0, -2.0, 1.5), (0.2, 0.3, 0.1), False), (0.7, (1, 1, 0), (0, 0, 0), True)]},
    "tip": {"tip": TIP, "force": (0.5, -1.0, 1.0)},
    "position": {"tip_position": (0.3, 0.2, 0.6), "force": (0.5, -1.0, 1.0)},
    "via": {"tip": TIP, "via": [(0.5, (0.2, 0.02, 0.35))]},
    "gate": {"tip": TIP, "via": [(0.5, pose((0.2, 0.02, 0.35), exp(np.array([0.3, 0.4, 0.0]))))]},
    "coupling": {"coupling": sn.VirtualCoupling(stiffness=20.0, rotational_stiffness=3.0), "hand": TIP},
}


def moved(case: dict, by: sn.Pose) -> dict:
    """Every pose and point moved, every dead load turned."""
    turn = by.rotation
    out = dict(case)

    def place(x):
        return by @ x if isinstance(x, sn.Pose) else by.position + turn @ np.asarray(x)

    for name in ("tip", "hand", "tip_position"):
        if name in case:
            out[name] = place(case[name])
    if "via" in case:
        out["via"] = [(s, place(x)) for s, x in case["via"]]
    for names, follower in ((("tip_force", "tip_torque"), "follower"), (("force", "torque"), "line_follower")):
        for name in names:
            if name in case and not case.get(follower):
                out[name] = turn @ np.asarray(case[name])
    if "point_loads" in case:
        out["point_loads"] = [
            (s, *((f, t) if follower else (turn @ np.asarray(f), turn @ np.asarray(t))), follower)
            for s, f, t, follower in case["point_loads"]
        ]
    return out


def put(case: dict) -> dict:
    out = dict(case)
    if "point_loads" in out:
        out["point_loads"] = [sn.PointLoad(s, f, t, follower=follower) for s, f, t, follower in out["point_loads"]]
    return out


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("make", [full_rod, coupled_rod])
def test_rigid_motion_moves_the_answer(name, make, validated):
    thread = strand(make(), nodes=101)
    here = thread.solve(base=sn.Pose(), **put(CASES[name]))
    there = thread.solve(base=PLACE, **put(moved(CASES[name], PLACE)))
    turn = PLACE.rotation
    validated(
        "Everything moved and turned as one",
        area="strand",
        quantity="positions, of the length",
        reference="invariance under rigid motions",
        error=np.abs(PLACE.position + here.positions @ turn.T - there.positions).max(),
        bound=1e-12,
    )
    assert np.abs(turn @ here.rotations - there.rotations).max() < 1e-12
    scale = max(1.0, np.abs(here.forces).max())
    assert np.abs(here.forces @ turn.T - there.forces).max() < 1e-11 * scale
    assert np.abs(here.moments @ turn.T - there.moments).max() < 1e-11 * max(1.0, np.abs(here.moments).max())
    assert np.abs(here.curvatures - there.curvatures).max() < 1e-11 * max(1.0, np.abs(here.curvatures).max())
    assert here.energy.elastic == pytest.approx(there.energy.elastic, rel=1e-11, abs=1e-13)
    assert here.stable == there.stable


@pytest.mark.parametrize("name", ["free", "dead", "torque", "follower", "line", "tip", "position"])
@pytest.mark.parametrize("make", MAKERS)
def test_everything_applied_adds_up_to_nothing(name, make, validated):
    # 401 nodes: what an order-4 scheme leaves of the line loads' moment is h^4/180 = 2e-13 times a few derivatives
    case = CASES[name]
    given = {k: v for k, v in case.items() if k in ("tip_force", "tip_torque", "follower", "line_follower")}
    rod = make(**given, force=constant(case.get("force", (0, 0, 0))), torque=constant(case.get("torque", (0, 0, 0))))
    state = strand(rod, nodes=401).solve(base=sn.Pose(), **case)
    total = equilibrium.balance(rod, state)
    validated(
        "All loads and grips together",
        area="strand",
        quantity="total force, of EI/L²",
        reference="balance of forces",
        error=total.force,
        bound=1e-9,
    )
    validated(
        "All loads and grips together",
        area="strand",
        quantity="total moment, of EI/L",
        reference="balance of moments",
        error=total.moment,
        bound=1e-9,
    )
    # grips and inside agree: n, m at the ends are what the outside applies there
    assert np.abs(state.forces[-1] - state.tip_force).max() < 1e-9 * max(1.0, np.abs(state.tip_force).max())
    assert np.abs(state.moments[-1] - state.tip_torque).max() < 1e-9 * max(1.0, np.abs(state.tip_torque).max())
    assert np.abs(state.forces[0] + state.base_force).max() < 1e-9 * max(1.0, np.abs(state.base_force).max())
    assert np.abs(state.moments[0] + state.base_torque).max() < 1e-9 * max(1.0, np.abs(state.base_torque).max())


@pytest.mark.parametrize("make", MAKERS)
def test_point_loads_and_weight_add_up_too(make):
    points = (Point(0.35, (1.0, -2.0, 1.5), (0.2, 0.3, 0.1)), Point(0.7, (1.0, 1.0, 0.0), (0.1, 0.0, 0.2), True))
    rod = make(points=points, force=constant((0.0, 0.0, -1.0)), tip_force=(0.3, 0.2, 0.1))
    state = strand(rod, nodes=401).solve(**loads(rod))
    total = equilibrium.balance(rod, state)
    assert max(total.force, total.moment) < 1e-9


def test_balance_in_newtons():
    # the suture of the design: 0.25 m of nylon, 0.2 mm radius
    suture = sn.Strand(
        length=0.25, section=sn.Section.circle(radius=2e-4), material=sn.Material(2.7e9, 0.39, 1150), nodes=401
    )
    state = suture.solve(base=sn.Pose(), tip_force=(0, 1e-4, 0), tip_torque=(0, 0, 1e-6), gravity=(0, 0, -9.81))
    weight = 1150 * np.pi * 4e-8 * 9.81
    rod = Rod(0.25, np.eye(3) * 2.7e9 * np.pi * (2e-4) ** 4 / 4, force=constant((0, 0, -weight)))
    total = equilibrium.balance(rod, state)
    assert max(total.force, total.moment) < 1e-9


@pytest.mark.parametrize("make", MAKERS)
def test_action_is_reaction_at_a_cut(make, validated):
    # what lies beyond s exerts n(s), m(s): cut there, apply it, and the rest stays as it is
    rod = make(tip_force=(1.0, -2.0, 1.5), tip_torque=(0.3, 0.2, -0.1), force=constant((0.0, -1.5, 0.5)))
    whole = strand(rod, nodes=401).solve(**loads(rod))
    inner = replace(rod, length=0.5, tip_force=tuple(whole.forces[200]), tip_torque=tuple(whole.moments[200]))
    near = strand(inner, nodes=201).solve(**loads(inner))
    assert np.abs(near.positions - whole.positions[:201]).max() < 1e-7
    assert np.abs(near.base_torque - whole.base_torque).max() < 1e-7
    # and the far part, clamped where the cut is, needs just that wrench at its base, reversed
    outer = replace(
        rod,
        length=0.5,
        base_position=tuple(whole.positions[200]),
        base_rotation=whole.rotations[200],
        rest_curvature=lambda s: rod.rest_curvature(s + 0.5),
    )
    far = strand(outer, nodes=201).solve(**loads(outer))
    assert np.abs(far.positions - whole.positions[200:]).max() < 1e-7
    validated(
        "Cut in the middle, each half by itself",
        area="strand",
        quantity="force at the cut, of EI/L²",
        reference="action and reaction",
        error=np.abs(far.base_force + whole.forces[200]).max(),
        bound=1e-7,
    )
    assert np.abs(far.base_torque + whole.moments[200]).max() < 1e-6


@pytest.mark.parametrize("make", MAKERS)
def test_one_load_said_two_ways(make):
    thread = strand(make(), nodes=101)
    # a dead wrench that happens to be the follower one
    a = thread.solve(base=sn.Pose(), tip_force=(0.6, -0.9, 0.5), tip_torque=(0.3, 0.2, -0.4), follower=True)
    b = thread.solve(base=sn.Pose(), tip_force=a.tip_force, tip_torque=a.tip_torque)
    # the sweep and the energy method differ by their own h^4 errors
    assert np.abs(a.positions - b.positions).max() < 1e-6
    # a point load at the tip
    c = thread.solve(base=sn.Pose(), point_loads=[sn.PointLoad(1.0, a.tip_force, a.tip_torque)])
    assert np.abs(b.positions - c.positions).max() < 1e-9
    # fine point loads in the place of a line load: trapezoidal weights, an error of order h^2
    line = thread.solve(base=sn.Pose(), force=(0.0, -1.0, 0.5))
    share = np.array([0.0, -1.0, 0.5]) / 50
    points = [sn.PointLoad(k / 50, share * (0.5 if k == 50 else 1.0), (0, 0, 0)) for k in range(1, 51)]
    many = thread.solve(base=sn.Pose(), point_loads=points)
    assert np.abs(line.positions - many.positions).max() < 1e-3
    assert np.abs(line.base_force - many.base_force).max() == pytest.approx(0.01, abs=1e-6)


def test_a_stiffness_that_rounding_left_unsymmetric_is_taken():
    for size in (1e-15, 1e-12, 1e-9, 1e-3):
        turn = exp(size * np.array([0.3, -0.2, 0.4]))
        stiffness = np.zeros((6, 6))
        stiffness[:3, :3] = turn @ np.diag([1.0, 2.0, 0.7]) @ turn.T
        stiffness[3:, 3:] = turn @ np.diag([100.0, 200.0, 70.0]) @ turn.T
        state = sn.Strand(length=1.0, stiffness=stiffness, nodes=11).solve(base=sn.Pose(), tip_force=(0.1, 0.2, 0.0))
        assert state.report.converged


@pytest.mark.parametrize("make", MAKERS)
def test_units_do_not_matter(make):
    # lengths times 0.1, stiffness times 1e-6: the same shape, forces scaled by 1e-6/0.01
    rod = make(tip_force=(1.0, -2.0, 1.5), force=constant((0.0, -1.0, 0.5)))
    length, bending = 0.1, 1e-6
    scale = np.ones(rod.stiffness.shape[0])
    scale[3:] = 1 / length
    small = Rod(
        length,
        bending * np.outer(scale, scale) * rod.stiffness,
        rest_curvature=lambda s: rod.rest_curvature(s / length) / length,
        tip_force=tuple(bending / length**2 * np.array(rod.tip_force)),
        force=constant(bending / length**3 * np.array([0.0, -1.0, 0.5])),
    )
    a, b = (strand(r, nodes=101).solve(**loads(r)) for r in (rod, small))
    assert np.abs(a.positions - b.positions / length).max() < 1e-10
    assert a.energy.total == pytest.approx(b.energy.total * length / bending, rel=1e-9)
    assert b.report.residual <= 1e-9
