"""Strands pulled nearly straight by clamps that point elsewhere, and asked for more than they can reach.

With the slack ε and clamps turned by α from the chord, T = EI (Σ 2 (1 − cos α/2)/ε)² to leading order in ε: bends of
the length √(EI/T), 1e-5 and less, that no uniform mesh sees.
"""

from __future__ import annotations

import numpy as np
import pytest
import records
from references.library import pose
from references.rotation import exp

import sennit as sn

CASES = 20 * records.thorough()
ROUND = np.diag([1.0, 1.0, 0.77, 1e3, 1e3, 1e3])


def strand(nodes: int | str = 41) -> sn.Strand:
    return sn.Strand(1.0, stiffness=ROUND, nodes=nodes, mass_per_length=1.0)


def random_clamps(seed: int) -> tuple[sn.Pose, sn.Pose, float, float]:
    """Two clamps, turned by 0.1 to 2 rad each, some twisted; the slack between 1e-5 and 3e-3; and the tension."""
    g = np.random.default_rng([19, seed])
    slack, tilts, azimuths = 10 ** g.uniform(-5, -2.5), g.uniform(0.1, 2.0, 2), g.uniform(0, 2 * np.pi, 2)
    turns = [exp(a * np.array([np.cos(b), np.sin(b), 0])) for a, b in zip(tilts, azimuths, strict=True)]
    tension = (np.sum(2 * (1 - np.cos(tilts / 2))) / slack) ** 2
    twist = exp(np.array([0, 0, g.uniform(-1, 1)]))
    return pose((0, 0, 0), turns[0]), pose((0, 0, 1 - slack), turns[1] @ twist), slack, tension


@pytest.mark.parametrize("nodes", [41, "auto"])
def test_tension(nodes, validated, tried):
    error = 0.0
    for seed in range(CASES):
        base, tip, slack, tension = random_clamps(seed)
        state = strand(nodes).solve(base=base, tip=tip, throw=False)
        assert state.report.converged, (seed, state.report)
        assert state.report.iterations <= 100, seed
        assert state.report.nodes == 41 or nodes == "auto"
        assert state.stable, seed
        # the gap counts in the slack, twice in the tension
        assert np.abs(state.positions[-1] - tip.position).max() < 1e-3 * slack
        # the bends shift the strand by their length, which turns it from the chord: the next order
        off = abs(np.linalg.norm(state.tip_force) / tension - 1) - 8 / np.sqrt(tension)
        if not state.report.message.startswith("the mesh is too coarse"):
            error = max(error, off)
        tried.count("strands pulled to 0.997 to 0.99999 of their length")
    validated(
        "Strand pulled to 0.99999 of its length, 41 nodes" if nodes == 41 else "Strand pulled to 0.99999, auto",
        area="strand",
        quantity="tension",
        reference="bends at the clamps, leading order",
        error=max(error, 0.0),
        bound=0.1 if nodes == 41 else 0.02,
    )


@pytest.mark.parametrize("nodes", [41, 101, "auto"])
def test_a_loop_goes_out_of_reach_and_back(nodes):
    thread, state, failed = strand(nodes), None, 0
    for a in np.linspace(0, 4 * np.pi, 121):
        reach = 0.9 + 0.3 * np.sin(a)
        tip = sn.Pose((0.6 * reach, 0.05 * np.cos(3 * a), 0.8 * reach))
        state = thread.solve(base=sn.Pose(), tip=tip, gravity=(0, -1, 0), guess=state, throw=False)
        distance = np.linalg.norm(tip.position)
        assert state.report.converged == (distance < 1)
        if distance > 1:
            failed += 1
            assert "reaches 1 m" in state.report.message
            # taut, towards the place that was asked for
            np.testing.assert_allclose(state.positions[-1], 0.9999 * tip.position / distance, atol=1e-8)
            assert state.report.residual < 1e-8
    assert failed > 30


def test_out_of_reach_raises_unless_told_not_to():
    with pytest.raises(sn.InputError, match="reaches 1 m"):
        strand().solve(base=sn.Pose(), tip_position=(0, 1.001, 0))
    with pytest.raises(sn.InputError, match="reaches"):
        strand().equilibria(base=sn.Pose(), tip_position=(0, 1.001, 0))
    # two stretches, the first one out of reach: the places after it stay
    state = strand().solve(base=sn.Pose(), via=[(0.5, (0.6, 0, 0))], tip_position=(0.5, 0.2, 0.1), throw=False)
    assert state.report.status == "failed"
    assert "from s = 0 m to s = 0.5 m" in state.report.message
    np.testing.assert_allclose(state.positions[-1], (0.5, 0.2, 0.1), atol=1e-8)
    # just at its reach, straight, with clamps that point elsewhere: no force does it
    state = strand().solve(base=sn.Pose(), tip=sn.Pose((0.6, 0, 0.8)), throw=False)
    assert "without bound" in state.report.message
    assert state.report.iterations < 30
    straight = strand().solve(base=sn.Pose(), tip=sn.Pose((0, 0, 1.0)))
    assert np.abs(straight.positions[:, :2]).max() < 1e-6


def test_a_failed_solve_ends():
    # straight, with clamps that point elsewhere: there is no equilibrium
    impossible = {"base": sn.Pose(), "tip": sn.Pose((0.6, 0, 0.8))}
    with pytest.raises(sn.SolveError) as caught:
        strand().solve(**impossible)
    assert caught.value.report.iterations <= 600
    near = strand().solve(base=sn.Pose(), tip=sn.Pose((0.5, 0, 0.7)))
    for cap in (5, 40):
        with pytest.raises(sn.SolveError) as caught:
            strand().solve(**impossible, guess=near, max_iterations=cap)
        assert caught.value.report.iterations <= cap + 1


def shot_at(seed: int) -> tuple[sn.StrandState, sn.Pose]:
    g = np.random.default_rng(seed)
    place = g.normal(size=3)
    tip = pose(g.uniform(0.2, 0.9) * place / np.linalg.norm(place), exp(g.normal(size=3)))
    return strand(101).solve(base=sn.Pose(), tip=tip, method="shooting"), tip


def test_shooting_says_that_its_state_is_unstable():
    shot, tip = shot_at(34)
    settled = strand(101).solve(base=sn.Pose(), tip=tip, guess=shot)
    assert shot.stable is False
    assert settled.stable is True
    less = shot.energy.total - settled.energy.total
    assert less > 1.0
    assert f"less by {less:.3g} J" in shot.report.message
    # one that is stable has nothing to say
    gentle, _ = shot_at(50)
    assert gentle.stable is True
    assert gentle.report.message == ""
