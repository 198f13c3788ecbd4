"""Automatic meshes keep what they promise, whatever holds and loads the strand: error below the wanted tolerance.

The truth is the same library on 1,601 uniform nodes, whose own error the other files check: (1/40)^4 of that at 41.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.library import loads, pose, strand
from references.rods import Point, constant
from references.rotation import exp
from references.samples import coupled_rod, extensible_rod, full_rod, round_rod

import sennit as sn

TIP = pose((0.3, 0.2, 0.6), exp(np.array([0.5, -0.8, 0.6])))
MAKERS = [round_rod, full_rod, extensible_rod, coupled_rod]
HELD = {
    "tip": {"tip": TIP},
    "position": {"tip_position": (0.3, 0.2, 0.6)},
    "via": {"tip": TIP, "via": [(0.437, (0.2, 0.02, 0.3))]},
    "coupling": {"coupling": sn.VirtualCoupling(stiffness=20.0, rotational_stiffness=3.0), "hand": TIP},
    "free": {},
}


def error(state, truth, jumps=()) -> float:
    """Largest distance between the two curves at the nodes of the coarse one: cubic between the truth's nodes.

    Just beyond a place where the force jumps the truth's stretch is not known (the near side's is reported): left out.
    """
    out = 0.0
    for s, p in zip(state.s, state.positions, strict=True):
        i = min(int(np.searchsorted(truth.s, s, side="right")) - 1, truth.s.size - 2)
        if s != truth.s[i] and any(abs(truth.s[i] - jump) < 1e-9 for jump in jumps):
            continue
        h = truth.s[i + 1] - truth.s[i]
        t = (s - truth.s[i]) / h
        a, b = (truth.rotations[j] @ truth.stretches[j] * h for j in (i, i + 1))
        q = (1 + 2 * t) * (1 - t) ** 2 * truth.positions[i] + t * (1 - t) ** 2 * a
        q = q + t * t * (3 - 2 * t) * truth.positions[i + 1] - t * t * (1 - t) * b
        out = max(out, float(np.abs(p - q).max()))
    return out


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("tolerance", [1e-4, 1e-7])
def test_dead_loads(name, make, tolerance):
    rod = make(force=constant((0.0, -3.0, 1.0)))
    chosen = {**loads(rod, tip=False), **HELD[name]}
    state = strand(rod, nodes="auto", tolerance=tolerance).solve(**chosen)
    fine = strand(rod, nodes=1601)
    truth = fine.solve(**chosen)
    if error(state, truth) > 1e-2:  # another equilibrium of the same ends: follow it on the fine mesh
        truth = fine.solve(**chosen, guess=state)
    assert state.report.converged
    assert state.report.nodes == state.s.size
    assert state.report.error_estimate <= tolerance
    assert np.all(np.diff(state.s) > 0.0)
    assert error(state, truth, [s for s, _ in chosen.get("via", [])]) < tolerance


@pytest.mark.parametrize("make", MAKERS)
def test_follower_and_point_loads(make):
    rod = make(
        tip_force=(2.0, -3.0, 2.5),
        tip_torque=(0.5, 0.5, -0.5),
        follower=True,
        force=constant((1.0, -2.0, 0.5)),
        line_follower=True,
        points=(Point(0.371, (2.0, 1.0, -1.0), (0.3, 0.2, 0.1)),),
    )
    state = strand(rod, nodes="auto", tolerance=1e-6).solve(**loads(rod))
    truth = strand(rod, nodes=1601).solve(**loads(rod))
    assert error(state, truth, [p.s for p in rod.points]) < 1e-6


def test_a_tighter_tolerance_takes_more_nodes():
    rod = round_rod(force=constant((0.0, -300.0, 0.0)))
    counts = [
        strand(rod, nodes="auto", tolerance=tolerance).solve(**loads(rod)).report.nodes
        for tolerance in (1e-3, 1e-5, 1e-7)
    ]
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]
    # order 4: four digits more for ten times the nodes or less
    assert counts[-1] < 20 * counts[0]


@pytest.mark.parametrize("slack", [1e-3, 1e-4])
def test_nearly_straight_between_misaligned_clamps(slack):
    # T = EI (a^2 + b^2)^2/(16 slack^2) with layers of sqrt(EI/T) at the clamps, which a uniform mesh can't see
    a = b = 0.3
    rod = round_rod()
    base, tip = pose((0, 0, 0), exp(np.array([a, 0, 0]))), pose((0, 0, 1 - slack), exp(np.array([b, 0, 0])))
    state = strand(rod, nodes="auto", tolerance=1e-7).solve(base=base, tip=tip)
    assert state.report.converged
    predicted = (a**2 + b**2) ** 2 / (16 * slack**2)
    # the next term is of order slack/angle^2; an error of the tolerance in the slack counts twice in the force
    assert np.linalg.norm(state.tip_force) == pytest.approx(predicted, rel=20 * slack + 4 * 1e-7 / slack)
