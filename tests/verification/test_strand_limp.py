"""Limp threads, hung from one clamp or slung between two, w L³/EI to 1e9, on automatic meshes.

They are straight or catenaries but for bends at the clamps, as thin as 1e-4.5 of the length. The reference is scipy's
boundary value solver in the plane, from a guess of its own (references/limp.py). ``--thorough 50`` tries a thousand.
"""

from __future__ import annotations

import numpy as np
import pytest
import records
from references import limp
from references.rotation import exp, quaternion_from_rotation

import sennit as sn

CASES = 20 * records.thorough()
ROUND = np.diag([1.0, 1.0, 0.77, 1e3, 1e3, 1e3])


def clamp(x: float, z: float, angle: float) -> sn.Pose:
    """A cross-section whose tangent is (sin a, 0, -cos a)."""
    return sn.Pose((x, 0.0, z), quaternion_from_rotation(exp(np.array([0.0, np.pi - angle, 0.0]))))


def solved(thread: limp.Thread, **options) -> sn.StrandState:
    strand = sn.Strand(1.0, stiffness=ROUND, mass_per_length=1.0, **options)
    tip = {} if thread.tip is None else {"tip": clamp(*thread.tip)}
    return strand.solve(base=clamp(0.0, 0.0, thread.base), gravity=(0, 0, -thread.gamma), throw=False, **tip)


@pytest.mark.parametrize("part", range(4))
def test_random_threads(part, validated, tried):
    far, deeper = 0.0, 0
    for seed in range(part, CASES, 4):
        thread = limp.random_thread(seed)
        known, state = limp.solve(thread), solved(thread, nodes="auto")
        assert known.solved, seed
        assert state.report.converged, (seed, state.report)
        assert state.report.iterations <= 600, seed
        assert state.stable, seed
        tried.count("limp threads, hung and slung")
        apart = np.abs(state.positions[:, [0, 2]] - known.positions(state.s)).max()
        # the reference stays in its plane; a thread that leaves it must lie lower
        if np.abs(state.positions[:, 1]).max() > 1e-4:
            assert state.energy.total < known.energy - 1e-3, (seed, apart)
            deeper += 1
            continue
        far = max(far, float(apart))
    assert deeper <= 1 + 0.01 * CASES
    validated(
        "Limp thread, wL³/EI to 10⁹, hung or slung",
        area="strand",
        quantity="positions, of the length",
        reference="heavy elastica by scipy's boundary value solver",
        error=far,
        bound=1e-6,
    )


def test_the_bend_of_a_hung_thread(validated):
    # the tip is where the bend at the clamp leaves it: √2 ℓ aside, ℓ = √(EI/wL), for a clamp that points sideways
    thread = limp.Thread(1e9, np.pi / 2)
    state = solved(thread, nodes="auto")
    layer = 1e9**-0.5
    validated(
        "Limp thread from a clamp that points sideways",
        area="strand",
        quantity="distance of the tip from the plumb line",
        reference="√2 √(EI/wL), leading order",
        error=abs(state.positions[-1, 0] / (np.sqrt(2) * layer) - 1),
        bound=1e-2,
    )


@pytest.mark.parametrize(("gamma", "nodes", "coarse"), [(1e8, 2001, True), (1e5, 2001, False), (1e3, 41, True)])
def test_a_mesh_too_coarse_for_the_bend_at_a_clamp_says_so(gamma, nodes, coarse):
    state = solved(limp.Thread(gamma, np.pi / 2), nodes=nodes)
    exact = limp.solve(limp.Thread(gamma, np.pi / 2)).positions(np.array([1.0]))[0, 0]
    assert state.report.converged
    # elements longer than the bend are off by more than a tenth of a percent of it, shorter ones by less
    assert (abs(state.positions[-1, 0] / exact - 1) > 1e-3) == coarse
    assert ("too coarse for the bend at s = " in state.report.message) == coarse


def test_weights_hung_on_a_limp_thread_bend_it_too():
    strand = sn.Strand(1.0, stiffness=ROUND, nodes=101)
    state = strand.solve(
        base=sn.Pose(), tip=sn.Pose((0.9, 0, 0)), point_loads=[sn.PointLoad(0.5, (0, -1e5, 0))], throw=False
    )
    assert "too coarse" in state.report.message
