"""A tip dragged along a closed path: never lost, and no energy comes out of nothing.

The wrench on the tip is the gradient of the least energy, so along a smooth branch the work done by the hand is the
energy stored (trapezoidal rule: second order in the step), and where a branch ends the strand snaps to one of lower
energy: work - stored >= 0 at every step, within the step's error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from references.library import strand
from references.rods import Rod
from references.rotation import exp, log, quaternion_from_rotation, rotation_from_quaternion
from references.samples import extensible_rod, full_rod, round_rod

import sennit as sn


def path(positions: np.ndarray, rotations: np.ndarray) -> list[sn.Pose]:
    return [sn.Pose(p, q) for p, q in zip(positions, quaternion_from_rotation(rotations), strict=True)]


def wild(steps: int) -> list[sn.Pose]:
    """A closed path: 0.4 to 0.9 L away, tilting, with two full turns of twist."""
    a = 2 * np.pi * np.arange(steps + 1) / steps
    none = 0 * a
    positions = np.column_stack([0.25 * np.sin(a), 0.2 * np.sin(2 * a) + 0.03, 0.62 + 0.25 * np.cos(a)])
    tilt = exp(np.column_stack([0.8 * np.sin(a) + 0.05, 0.5 * np.sin(2 * a), none]))
    return path(positions, tilt @ exp(np.column_stack([none, none, 2 * a])))


def gentle(steps: int) -> list[sn.Pose]:
    """A small closed path around a pose."""
    a = 2 * np.pi * np.arange(steps + 1) / steps
    positions = np.column_stack([0.2 + 0.06 * np.cos(a), 0.15 + 0.05 * np.sin(a), 0.65 + 0.03 * np.sin(2 * a + 0.4)])
    return path(positions, exp(np.column_stack([0.4 + 0.1 * np.sin(a), 0 * a - 0.5, 0.3 + 0.2 * np.cos(a + 0.7)])))


@dataclass(frozen=True)
class Trip:
    """What a drag leaves: first and last state, and per pose the wrench on the tip, the energy and the flags."""

    first: object
    last: object
    forces: np.ndarray
    works: np.ndarray  # of the hand on the strand, per step, trapezoidal
    energies: np.ndarray
    stable: int


def drag(thread: sn.Strand, poses: list[sn.Pose]) -> Trip:
    """Along the path, warm-started; the first pose cold.  A failure raises."""
    first = state = thread.solve(base=sn.Pose(), tip=poses[0])
    rows, stable = [], 0
    for tip in poses:
        state = thread.solve(base=sn.Pose(), tip=tip, guess=state)
        stable += state.stable is True
        rows.append([*state.tip_force, *state.tip_torque, state.energy.total])
    rows = np.array(rows)
    moves = np.diff([p.position for p in poses], axis=0)
    rotations = rotation_from_quaternion(np.array([p.quaternion for p in poses]))
    turns = log(rotations[1:] @ np.swapaxes(rotations[:-1], 1, 2))
    mean = (rows[1:] + rows[:-1]) / 2
    works = (mean[:, :3] * moves + mean[:, 3:6] * turns).sum(axis=1)
    return Trip(first, state, rows[:, :3], works, rows[:, 6], stable)


# an isotropic strand passes coaxial clamps through a flat valley, slowly; a general one snaps
@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "steps", "snaps"), [(full_rod, 10_000, 1), (round_rod, 4000, 0), (extensible_rod, 4000, 1)]
)
def test_two_turns_with_loops_and_snaps(make, steps, snaps, validated):
    trip = drag(strand(make(), nodes=101), wild(steps))
    losses = trip.works - np.diff(trip.energies)
    assert losses.size == steps
    assert trip.stable == steps + 1  # no unstable branch is followed
    # near the end of a branch the force has a square-root singularity: an error of order F (step)^1.5, 10 * 1e-4;
    # a jump to a higher branch, energy from nothing, would show as -0.01 or worse
    validated(
        "Tip dragged through loops and snaps",
        area="strand",
        quantity="energy created in a step, of EI/L",
        reference="work of the hand",
        error=max(0.0, -losses.min()),
        bound=1e-3,
    )
    assert np.count_nonzero(losses > 1e-2) >= snaps  # two turns can't be stored
    # the net work over the closed loop, less what the strand still holds
    assert trip.works.sum() - (trip.energies[-1] - trip.energies[0]) > -1e-4
    smooth = losses[np.abs(losses) < 1e-4]
    assert abs(smooth.sum()) < 1e-4


def twisted(steps: int, angle: float, distance: float) -> list[sn.Pose]:
    """About the axis by ``angle`` and back, the ends held ``distance`` apart."""
    turn = angle * (1 - np.abs(2 * np.arange(steps + 1) / steps - 1))
    none = 0 * turn
    return path(np.column_stack([none, none, none + distance]), exp(np.column_stack([none, none, turn])))


@pytest.mark.parametrize(("bend", "distance"), [((1.0, 1.0), 1.0), ((1.0, 1.4), 1.0), ((1.0, 1.4), 0.97)])
def test_twisted_until_it_buckles_and_back(bend, distance):
    # by symmetry the straight strand stays an equilibrium past Greenhill's moment (9 EI/L, a twist of 11.7 rad): Newton
    # alone would follow it, and jump down or up later
    rod = Rod(1.0, np.diag([*bend, 0.77, 300.0, 300.0, 1e3]))
    trip = drag(strand(rod, nodes=101), twisted(1200, 18.0, distance))
    losses = trip.works - np.diff(trip.energies)
    assert trip.stable == 1201
    assert losses.min() > -1e-3, (int(losses.argmin()), losses.min())
    assert trip.works.sum() - (trip.energies[-1] - trip.energies[0]) > -1e-3


@pytest.mark.parametrize("make", [full_rod, extensible_rod])
def test_a_loop_without_snaps_does_no_work(make, validated):
    thread = strand(make(), nodes=101)
    sums = []
    for steps in (40, 80, 160):
        trip = drag(thread, gentle(steps))
        sums.append(trip.works.sum())
        # back where it started, to the tolerance of the solve: residual 1e-9 times a force of 20
        assert np.abs(trip.last.positions - trip.first.positions).max() < 1e-8
        assert abs(trip.last.energy.total - trip.first.energy.total) < 1e-8
    ratios = [sums[0] / sums[1], sums[1] / sums[2]]
    # second order in the step: each halving divides by four
    assert all(3.0 < r < 5.5 for r in ratios), (sums, ratios)
    validated(
        "Tip dragged around a small loop",
        area="strand",
        quantity="net work, of EI/L",
        reference="a gradient does no work around a loop",
        error=abs(sums[-1]),
        bound=1e-4,
        order=np.log2(ratios[-1]),
    )


def test_the_force_is_smooth_between_snaps():
    # a loop at 1 kHz needs no jumps where none are physical
    forces = drag(strand(full_rod(), nodes=101), gentle(400)).forces
    second = np.abs(np.diff(forces, 2, axis=0)).max()
    first = np.abs(np.diff(forces, axis=0)).max()
    assert second < 0.1 * first


def test_capped_iterations_keep_up():
    # a haptic loop: few iterations a tick, whatever state they leave is taken on; at rest it must arrive
    thread = strand(full_rod(), nodes=101)
    poses = wild(2000)
    state = thread.solve(base=sn.Pose(), tip=poses[0])
    converged = 0
    for tip in poses[1:]:
        state = thread.solve(base=sn.Pose(), tip=tip, guess=state, max_iterations=6, throw=False)
        converged += state.report.converged
        assert np.all(np.isfinite(state.tip_force))
        assert state.report.iterations <= 6
        assert state.report.status in ("converged", "moving")
    assert converged > 0.97 * 2000
    for _ in range(100):
        state = thread.solve(base=sn.Pose(), tip=poses[-1], guess=state, max_iterations=6, throw=False)
    assert state.report.converged
