"""The virtual coupling: spring and damper between a hand and the strand's tip.

At the coupled equilibrium the tip's wrench is the coupling's,

    F = k (x_h - x_t) + b (v_h - (x_t - x_t^-)/dt),     T = k_r log(R_h R_t^T) + (b_r/dt) log(exp(w_h dt) R_t^- R_t^T),

the hand feels minus it, and the work put into the coupling is never less than what it stores.
"""

from __future__ import annotations

import numpy as np
import pytest
from references import equilibrium
from references.library import pose, strand
from references.rotation import exp, log
from references.samples import coupled_rod, extensible_rod, flat_rod, full_rod

import sennit as sn

MAKERS = [flat_rod, full_rod, extensible_rod, coupled_rod]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("reach", [0.3, 0.8, 2.5])
def test_springs(make, reach, validated):
    rod = make()
    coupling = sn.VirtualCoupling(stiffness=20.0, rotational_stiffness=3.0)
    hand = pose(reach * np.array([0.48, -0.36, 0.8]), exp(np.array([0.7, -0.3, 0.4])))
    state = strand(rod, nodes=101).solve(base=sn.Pose(), coupling=coupling, hand=hand)
    assert state.report.converged
    assert state.stable is True
    tip = state.tip_pose
    force = 20.0 * (hand.position - tip.position)
    torque = 3.0 * log(hand.rotation @ tip.rotation.T)
    validated(
        "Virtual coupling, springs",
        area="strand",
        quantity="force at the tip, of EI/L²",
        reference="Hooke's law at the found poses",
        error=np.abs(state.tip_force - force).max(),
        bound=1e-7,
    )
    assert np.abs(state.tip_torque - torque).max() < 1e-7
    assert np.abs(state.hand_force + state.tip_force).max() < 1e-12 * max(1.0, np.abs(force).max())
    assert np.abs(state.hand_torque + state.tip_torque).max() < 1e-12 * max(1.0, np.abs(torque).max())
    assert np.abs(state.forces[-1] - state.tip_force).max() < 1e-7
    assert equilibrium.defects(rod, state).worst < 2e-3


def test_a_stiff_spring_is_a_grip():
    thread = strand(full_rod(), nodes=101)
    hand = pose((0.3, 0.2, 0.6), exp(np.array([0.5, -0.8, 0.6])))
    held = thread.solve(base=sn.Pose(), tip=hand)
    stiff = sn.VirtualCoupling(stiffness=1e7, rotational_stiffness=1e7)
    state = thread.solve(base=sn.Pose(), coupling=stiff, hand=hand, guess=held)
    # the spring gives by F/k = 2e-6 times the strand's own stiffness of some hundred
    assert np.abs(state.tip_force - held.tip_force).max() < 1e-3
    assert np.abs(state.hand_torque + held.tip_torque).max() < 1e-3


def test_a_translational_spring_alone():
    rod = full_rod()
    state = strand(rod, nodes=101).solve(
        base=sn.Pose(), coupling=sn.VirtualCoupling(stiffness=50.0), hand=sn.Pose((0.3, 0.2, 0.5))
    )
    assert np.abs(state.tip_torque).max() < 1e-9
    assert np.abs(state.moments[-1]).max() < 1e-9
    assert np.abs(state.tip_force - 50.0 * (np.array([0.3, 0.2, 0.5]) - state.positions[-1])).max() < 1e-7


@pytest.mark.parametrize("make", [full_rod, extensible_rod])
def test_dampers(make, validated):
    thread = strand(make(), nodes=101)
    coupling = sn.VirtualCoupling(stiffness=20.0, damping=0.05, rotational_stiffness=3.0, rotational_damping=0.01)
    dt = 1e-3
    position, turn = np.array([0.3, 0.2, 0.6]), exp(np.array([0.5, -0.8, 0.6]))
    still = np.zeros(6)
    before = thread.solve(base=sn.Pose(), coupling=coupling, hand=pose(position, turn), hand_velocity=still, dt=dt)
    velocity = np.array([0.8, -0.5, 0.6, 2.0, -1.0, 3.0])
    hand = pose(position + dt * velocity[:3], exp(dt * velocity[3:]) @ turn)
    after = thread.solve(base=sn.Pose(), coupling=coupling, hand=hand, hand_velocity=velocity, dt=dt, guess=before)
    tip, old = after.tip_pose, before.tip_pose
    force = 20.0 * (hand.position - tip.position) + 0.05 * (velocity[:3] - (tip.position - old.position) / dt)
    torque = 3.0 * log(hand.rotation @ tip.rotation.T) + 0.01 / dt * log(
        exp(dt * velocity[3:]) @ old.rotation @ tip.rotation.T
    )
    validated(
        "Virtual coupling, dampers",
        area="strand",
        quantity="force at the tip, of EI/L²",
        reference="law of the damper at the found poses",
        error=np.abs(after.tip_force - force).max(),
        bound=1e-7,
    )
    assert np.abs(after.tip_torque - torque).max() < 1e-7
    assert np.abs(after.hand_force + force).max() < 1e-7
    # at rest the dampers are gone
    state = after
    for _ in range(200):
        state = thread.solve(base=sn.Pose(), coupling=coupling, hand=hand, hand_velocity=still, dt=0.1, guess=state)
    springs = thread.solve(
        base=sn.Pose(), coupling=sn.VirtualCoupling(stiffness=20.0, rotational_stiffness=3.0), hand=hand, guess=state
    )
    assert np.abs(state.tip_force - springs.tip_force).max() < 1e-6


@pytest.mark.parametrize("damped", [False, True])
@pytest.mark.parametrize("make", [flat_rod, extensible_rod])
def test_the_coupling_is_passive(make, damped, validated):
    """Random motions of the hand: at each step the work done on the coupling is no less than what it stores."""
    coupling = sn.VirtualCoupling(
        stiffness=30.0,
        damping=0.4 if damped else 0.0,
        rotational_stiffness=4.0,
        rotational_damping=0.05 if damped else 0.0,
    )
    thread = strand(make(), nodes=51)
    generator = np.random.default_rng(11)
    dt = 1e-2
    position, turn = np.array([0.3, 0.2, 0.6]), exp(np.array([0.5, -0.8, 0.6]))
    velocity = np.zeros(6)
    extra = {"hand_velocity": velocity, "dt": dt} if damped else {}
    hand = pose(position, turn)
    state = thread.solve(base=sn.Pose(), coupling=coupling, hand=hand, **extra)

    def stored(hand, tip) -> float:
        gap, angle = hand.position - tip.position, log(hand.rotation @ tip.rotation.T)
        return float(15.0 * gap @ gap + 2.0 * angle @ angle)

    worst = np.inf
    for _ in range(300):
        velocity = np.concatenate([generator.normal(size=3) * 1.5, generator.normal(size=3) * 4.0])
        velocity[:3] -= 2.0 * (position - [0.3, 0.2, 0.6])  # stays in reach
        position, turn = position + dt * velocity[:3], exp(dt * velocity[3:]) @ turn
        new_hand = pose(position, turn)
        extra = {"hand_velocity": velocity, "dt": dt} if damped else {}
        new = thread.solve(base=sn.Pose(), coupling=coupling, hand=new_hand, guess=state, **extra)
        tip, old = new.tip_pose, state.tip_pose
        if np.linalg.norm(log(new_hand.rotation @ tip.rotation.T)) > 2.8:  # the rotational spring slips at pi
            hand, state = new_hand, new
            continue
        # relative motion of hand and tip, and the wrench at the end of the step
        slide = (new_hand.position - hand.position) - (tip.position - old.position)
        twist = log(new_hand.rotation @ hand.rotation.T @ (tip.rotation @ old.rotation.T).T)
        into = -float(new.hand_force @ slide + new.hand_torque @ twist)
        worst = min(worst, into - (stored(new_hand, tip) - stored(hand, old)))
        hand, state = new_hand, new
    validated(
        "Virtual coupling, random hand, 300 steps",
        area="strand",
        quantity="energy created in a step, of EI/L",
        reference="passivity",
        error=max(0.0, -worst),
        bound=1e-9,
    )


def test_coupling_wrench_alone_is_passive_over_random_motions():
    generator = np.random.default_rng(3)
    dt = 1e-2
    for _ in range(20):
        coupling = sn.VirtualCoupling(*(generator.uniform(0.1, 10.0, size=4) * [10, 0.1, 1, 0.01]))
        hand_x, tip_x = generator.normal(size=3), generator.normal(size=3)
        hand_r = exp(generator.normal(size=3))
        tip_r = exp(0.5 * generator.normal(size=3)) @ hand_r
        for _ in range(50):
            velocity = generator.normal(size=6)
            new_x, new_r = hand_x + dt * velocity[:3], exp(dt * velocity[3:]) @ hand_r
            next_x, next_r = tip_x + dt * generator.normal(size=3), exp(dt * generator.normal(size=3)) @ tip_r
            force, torque = coupling.wrench(
                pose(new_x, new_r), pose(next_x, next_r), hand_velocity=velocity, previous_tip=pose(tip_x, tip_r), dt=dt
            )
            slide = (new_x - hand_x) - (next_x - tip_x)
            twist = log(new_r @ hand_r.T @ (next_r @ tip_r.T).T)
            gain = coupling.energy(pose(new_x, new_r), pose(next_x, next_r)) - coupling.energy(
                pose(hand_x, hand_r), pose(tip_x, tip_r)
            )
            assert force @ slide + torque @ twist - gain > -1e-10
            hand_x, hand_r, tip_x, tip_r = new_x, new_r, next_x, next_r
