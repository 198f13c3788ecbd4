"""A tip dragged along a closed path: never lost, and no energy comes out of nothing.

The wrench on the tip is the gradient of the least energy, so along a smooth branch the work done by the hand is the
energy stored (trapezoidal rule: second order in the step), and where a branch ends the strand snaps to one of lower
energy: work - stored >= 0 at every step, within the step's error.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.library import pose, strand
from references.rotation import exp, log
from references.samples import extensible_rod, full_rod, round_rod

import sennit as sn

STEPS = 10_000


def wild(t: float) -> sn.Pose:
    """A closed path: 0.4 to 0.9 L away, tilting, with two full turns of twist."""
    a = 2 * np.pi * t
    position = (0.25 * np.sin(a), 0.2 * np.sin(2 * a) + 0.03, 0.62 + 0.25 * np.cos(a))
    tilt = exp(np.array([0.8 * np.sin(a) + 0.05, 0.5 * np.sin(2 * a), 0.0]))
    return pose(position, tilt @ exp(np.array([0.0, 0.0, 2 * a])))


def gentle(t: float) -> sn.Pose:
    """A small closed path around a pose."""
    a = 2 * np.pi * t
    position = (0.2 + 0.06 * np.cos(a), 0.15 + 0.05 * np.sin(a), 0.65 + 0.03 * np.sin(2 * a + 0.4))
    return pose(position, exp(np.array([0.4 + 0.1 * np.sin(a), -0.5, 0.3 + 0.2 * np.cos(a + 0.7)])))


def work(before, after) -> float:
    """What the hand does on the strand between two states, trapezoidal."""
    move = after.tip_pose.position - before.tip_pose.position
    turn = log(after.tip_pose.rotation @ before.tip_pose.rotation.T)
    return float((before.tip_force + after.tip_force) @ move + (before.tip_torque + after.tip_torque) @ turn) / 2


def drag(thread, path, steps: int):
    """States along the path, warm-started, from a cold start."""
    state = thread.solve(base=sn.Pose(), tip=path(0.0))
    yield state
    for k in range(1, steps + 1):
        state = thread.solve(base=sn.Pose(), tip=path(k / steps), guess=state)
        yield state


@pytest.mark.parametrize("make", [round_rod, full_rod, extensible_rod])
def test_two_turns_with_loops_and_snaps(make):
    thread = strand(make(), nodes=101)
    total, energies, losses = 0.0, [], []
    unstable = 0
    previous = None
    for state in drag(thread, wild, STEPS):
        assert state.report.converged
        unstable += state.stable is not True
        energies.append(state.energy.total)
        if previous is not None:
            done = work(previous, state)
            total += done
            losses.append(done - (state.energy.total - previous.energy.total))
        previous = state
    losses = np.array(losses)
    assert len(losses) == STEPS
    assert unstable == 0
    # near the end of a branch the force has a square-root singularity: error of order F (step)^1.5, 3e-5 * 10;
    # a jump to a higher branch, energy from nothing, would show as a loss of -0.01 or worse
    assert losses.min() > -1e-3, (int(losses.argmin()), losses.min())
    snaps = losses[losses > 1e-2]
    assert snaps.size >= 1  # two turns can't be stored
    # over the closed loop, once both ends of it are on the same branch
    assert total - (energies[-1] - energies[0]) > -1e-4
    smooth = losses[np.abs(losses) < 1e-4]
    assert abs(smooth.sum()) < 1e-4


@pytest.mark.parametrize("make", [full_rod, extensible_rod])
def test_a_loop_without_snaps_does_no_work(make):
    thread = strand(make(), nodes=101)
    sums = []
    for steps in (40, 80, 160):
        states = list(drag(thread, gentle, steps))
        sums.append(sum(work(a, b) for a, b in zip(states[:-1], states[1:], strict=True)))
        # back where it started
        assert np.abs(states[-1].positions - states[0].positions).max() < 1e-9
        assert abs(states[-1].energy.total - states[0].energy.total) < 1e-10
    ratios = [sums[0] / sums[1], sums[1] / sums[2]]
    # second order in the step: each halving divides by four
    assert all(3.0 < r < 5.5 for r in ratios), (sums, ratios)
    assert abs(sums[-1]) < 1e-4


def test_the_force_is_smooth_between_snaps():
    # a loop at 1 kHz needs no jumps where none are physical
    thread = strand(full_rod(), nodes=101)
    states = list(drag(thread, gentle, 400))
    forces = np.array([s.tip_force for s in states])
    second = np.abs(np.diff(forces, 2, axis=0)).max()
    first = np.abs(np.diff(forces, axis=0)).max()
    assert second < 0.1 * first


def test_capped_iterations_keep_up():
    # a haptic loop: few iterations a tick, whatever state they leave is taken on; at rest it must arrive
    thread = strand(full_rod(), nodes=101)
    state = thread.solve(base=sn.Pose(), tip=wild(0.0))
    steps = 2000
    converged = 0
    for k in range(1, steps + 1):
        state = thread.solve(base=sn.Pose(), tip=wild(k / steps), guess=state, max_iterations=6, throw=False)
        converged += state.report.converged
        assert np.all(np.isfinite(state.tip_force))
        assert state.report.iterations <= 6
        assert state.report.status in ("converged", "moving")
    assert converged > 0.97 * steps
    for _ in range(100):
        state = thread.solve(base=sn.Pose(), tip=wild(1.0), guess=state, max_iterations=6, throw=False)
    assert state.report.converged
