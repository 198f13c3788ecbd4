"""Corners where a strand's parts meet: springs and loads at one place, repeated and capped calls, strange profiles."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn
from sennit.geometry.rotations import rotation_exp

NYLON = sn.Material(2.7e9, 0.39, 1150)
THREAD = sn.Section.circle(2e-4)
LENGTH = 0.25
BASE = sn.Pose()
DOWN = (0.0, 0.0, -9.81)


def suture(nodes: int | str = 51, **options) -> sn.Strand:
    return sn.Strand(LENGTH, THREAD, NYLON, nodes=nodes, **options)


class TestSprings:
    def test_a_load_at_the_tip_pulls_on_the_spring(self) -> None:
        coupling, hand = sn.VirtualCoupling(5.0), sn.Pose((0.1, 0, 0.1))
        pulled = suture().solve(
            base=BASE, coupling=coupling, hand=hand, point_loads=[sn.PointLoad(LENGTH, (0, 0.01, 0))]
        )
        force, _ = coupling.wrench(hand, pulled.tip_pose)
        np.testing.assert_allclose(pulled.tip_force, force, atol=1e-9)
        np.testing.assert_allclose(pulled.hand_force, -force, atol=1e-9)
        # the same load a hair before the tip
        near = suture().solve(
            base=BASE, coupling=coupling, hand=hand, point_loads=[sn.PointLoad(LENGTH * (1 - 1e-7), (0, 0.01, 0))]
        )
        np.testing.assert_allclose(pulled.tip_pose.position, near.tip_pose.position, atol=1e-8)

    def test_a_strand_hangs_from_the_hand_alone(self) -> None:
        coupling, hand = sn.VirtualCoupling(0.5, rotational_stiffness=1e-3), sn.Pose((0, 0, 1), (0, 1, 0, 0))
        strand = suture()
        state = strand.solve(coupling=coupling, hand=hand, gravity=DOWN)
        weight = LENGTH * strand.mass_per_length * 9.81
        np.testing.assert_allclose(state.hand_force, (0, 0, -weight), atol=1e-12)
        assert state.tip_pose.position[2] == pytest.approx(1.0 - weight / 0.5, rel=1e-9)
        assert state.stable

    def test_the_hand_does_not_feel_an_applied_torque(self) -> None:
        coupling = sn.VirtualCoupling(5.0)
        state = suture().solve(base=BASE, coupling=coupling, hand=sn.Pose((0.1, 0, 0.1)), tip_torque=(0, 0, 1e-5))
        np.testing.assert_array_equal(state.hand_torque, np.zeros(3))
        np.testing.assert_allclose(state.tip_torque, (0, 0, 1e-5))

    def test_a_jittering_step_keeps_the_problem(self) -> None:
        strand, coupling = suture(), sn.VirtualCoupling(5.0, damping=0.01)
        hand = sn.Pose((0.1, 0, 0.1))
        state = strand.solve(base=BASE, coupling=coupling, hand=hand, dt=1e-3)
        for dt in (1.1e-3, 0.9e-3, 1.05e-3):
            state = strand.solve(base=BASE, coupling=coupling, hand=hand, dt=dt, guess=state)
        assert len(strand._posing.problems) == 1


class TestTipHeldByVia:
    def test_a_force_there_is_refused(self) -> None:
        with pytest.raises(sn.InputError, match="tip_force"):
            suture().solve(base=BASE, via=[(LENGTH, (0, 0.1, 0.1))], tip_force=(0, 0.5, 0))
        with pytest.raises(sn.InputError, match="tip_torque"):
            suture().solve(base=BASE, via=[(LENGTH, sn.Pose((0, 0.1, 0.1)))], tip_torque=(0, 0, 1e-5))

    def test_it_equals_tip_position(self) -> None:
        via = suture().solve(base=BASE, via=[(LENGTH, (0, 0.1, 0.1))])
        tip = suture().solve(base=BASE, tip_position=(0, 0.1, 0.1))
        np.testing.assert_allclose(via.positions, tip.positions, atol=1e-12)


class TestRepeatedCalls:
    def test_cold_solves_do_not_depend_on_what_was_solved_before(self) -> None:
        cord = sn.Strand(1.0, law=sn.rubber_cord(0.01), extensible=True, nodes=21)
        heights = (1.5, 0.9, 1.5, 0.9)
        states = [cord.solve(base=BASE, tip=sn.Pose((0.1, 0, z))) for z in heights]
        np.testing.assert_array_equal(states[0].positions, states[2].positions)
        np.testing.assert_array_equal(states[1].positions, states[3].positions)

    def test_rubber_is_stiff_however_near_to_rest(self) -> None:
        law = sn.rubber_cord(0.01)
        for strain in (-1e-17, 0.0, 1e-17, 3e-16, 1e-9):
            assert law.evaluate((0, 0, 0, 0, 0, strain))[2][5, 5] == pytest.approx(law.stiffness[5, 5], rel=1e-6)

    @pytest.mark.parametrize("cap", [1, 2, 3, 4, 7])
    def test_capped_calls_in_a_row_arrive(self, cap: int) -> None:
        random = np.random.default_rng(cap)
        strand = suture()
        state = strand.solve(base=BASE, tip=sn.Pose((0.05, 0, 0.15)))
        for _ in range(12):
            direction = random.normal(size=3)
            place = 0.25 * random.uniform(0.2, 0.9) * direction / np.linalg.norm(direction)
            tip = sn.Pose(place, rotation_exp(random.normal(size=3)))
            for _ in range(400):
                state = strand.solve(base=BASE, tip=tip, guess=state, max_iterations=cap, throw=False)
                assert state.report.iterations <= cap + 1
                if state.report.converged:
                    break
            assert state.report.converged and state.stable

    def test_an_automatic_mesh_does_not_grow_along_a_drag(self) -> None:
        strand = suture("auto", tolerance=1e-6)
        state = strand.solve(base=BASE, tip=sn.Pose((0.05, 0, 0.15)))
        counts = []
        for k in range(6):
            state = strand.solve(base=BASE, tip=sn.Pose((0.05, 0.002 * k, 0.15)), guess=state)
            counts.append(state.report.nodes)
            assert state.report.error_estimate <= 1e-6
        assert max(counts) <= 2 * min(counts)

    @pytest.mark.parametrize("cap", [5, 8, 10, 14, 20])
    def test_a_capped_automatic_mesh_says_that_it_is_not_done(self, cap: int) -> None:
        strand = suture("auto", tolerance=1e-8)
        state = strand.solve(base=BASE, tip=sn.Pose((0.05, 0, 0.15)), max_iterations=cap, throw=False)
        if state.report.error_estimate is None:
            assert state.report.status == "moving" and "max_iterations" in state.report.message
        else:
            assert state.report.converged and state.report.error_estimate <= 1e-8


class TestGeneralMethod:
    def test_the_residual_is_that_of_the_full_loads(self) -> None:
        strand = sn.Strand(1.0, stiffness=np.eye(6), nodes=51)
        state = strand.solve(base=BASE, torque=(400.0, 300.0, 0.0), max_iterations=45, throw=False)
        assert not state.report.converged
        assert state.report.residual > 1e-3

    def test_guesses_from_other_meshes_and_orders(self) -> None:
        loads = {"base": BASE, "torque": (0.3, 0.2, 0.1), "force": (0.2, 0.0, -0.5)}
        fine = sn.Strand(1.0, stiffness=np.eye(6), nodes=51)
        wanted = fine.solve(**loads)
        for other in (
            sn.Strand(1.0, stiffness=np.eye(6), nodes=51, order=2),
            sn.Strand(1.0, stiffness=np.eye(6), nodes=31),
        ):
            state = fine.solve(**loads, guess=other.solve(**loads))
            np.testing.assert_allclose(state.positions, wanted.positions, atol=1e-9)
            assert state.report.iterations <= 5


class TestProfiles:
    def test_reach_follows_the_rest_stretch(self) -> None:
        """∫|v̂| from 0 to 0.5 is 0.625 where v̂ = 1.5 − s, and 0.375 from 0.5 to 1."""
        strand = sn.Strand(1.0, stiffness=np.eye(6), nodes=41, rest_stretch=lambda s: (0, 0, 1.5 - s))
        assert strand.solve(base=BASE, via=[(0.5, (0.1, 0, 0.55))]).report.converged
        with pytest.raises(sn.InputError, match="0.625"):
            strand.solve(base=BASE, via=[(0.5, (0, 0, 0.63))])

    def test_a_stretch_that_vanishes_is_refused(self) -> None:
        with pytest.raises(sn.InputError, match="rest_stretch"):
            suture(rest_stretch=(0, 0, 0))

    @pytest.mark.parametrize("value", [2, "1e-5", (True, 0, 0), (1, 2), None])
    def test_functions_must_return_three_numbers(self, value: object) -> None:
        with pytest.raises(sn.InputError, match="force"):
            suture().solve(base=BASE, force=lambda s: value)

    def test_rest_arrays_are_copied(self) -> None:
        curvature = np.zeros((51, 3))
        strand = suture(rest_curvature=curvature)
        curvature[:] = (20.0, 0.0, 0.0)
        state = strand.solve(base=BASE, point_loads=[sn.PointLoad(0.0731)])
        np.testing.assert_allclose(state.tip_pose.position, (0, 0, LENGTH), atol=1e-12)

    def test_states_do_not_change(self) -> None:
        state = suture().solve(base=BASE, tip=sn.Pose((0.1, 0, 0.1)))
        for name in ("s", "positions", "quaternions", "rotations", "curvatures", "stretches", "forces", "moments"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(state, name)[0] = 7.0

    def test_equal_loads_share_a_problem(self) -> None:
        strand = suture()
        for _ in range(3):
            loads = [sn.PointLoad(0.1, (0, 1e-4, 0))]
            strand.solve(base=BASE, force=(0, 0, -1e-4), point_loads=loads)
        assert len(strand._posing.problems) == 1
        strand.solve(base=BASE, force=(0, 0, -2e-4), point_loads=loads)
        assert len(strand._posing.problems) == 2


def test_equilibria_lists_stable_and_unstable_ones() -> None:
    """Between two minima of an energy there is a pass: with several stable equilibria there are unstable ones."""
    strand = sn.Strand(1.0, stiffness=np.diag([1, 1.6, 0.77, 1e3, 1e3, 1e3]), nodes=51)
    tip = sn.Pose((0.3, 0.2, 0.5), (0.9, 0.3, 0.2, 0.1))
    states = strand.equilibria(base=BASE, tip=tip)
    energies = [state.energy.total for state in states]
    assert energies == sorted(energies)
    assert states[0].stable
    assert {state.stable for state in states} == {True, False}
    lowest_pass = min(state.energy.total for state in states if not state.stable)
    assert lowest_pass > energies[0]
    for state in states:
        assert state.report.converged and state.report.residual <= 1e-9
        np.testing.assert_allclose(state.tip_pose.position, tip.position, atol=1e-9)
        # pushed a little and solved again, a stable one comes back; an unstable one is left for lower energy
        again = strand.solve(base=BASE, tip=tip, guess=state)
        if state.stable:
            np.testing.assert_allclose(again.positions, state.positions, atol=1e-8)
        else:
            assert again.stable and again.energy.total < state.energy.total


def test_shooting_finds_near_targets_on_a_thin_strand() -> None:
    """Targets that wrenches of half EI/L² reach: the method's home ground."""
    random = np.random.default_rng(2)
    strand = suture(101)
    force_unit = float(strand.stiffness[0, 0]) / LENGTH**2
    found = 0
    for _ in range(20):
        wrench = random.normal(size=6) * 0.5
        load = {"tip_force": wrench[:3] * force_unit, "tip_torque": wrench[3:] * force_unit * LENGTH}
        tip = strand.solve(base=BASE, **load, follower=True).tip_pose
        shot = strand.solve(base=BASE, tip=tip, method="shooting", throw=False)
        found += shot.report.converged
    assert found >= 15


def test_shooting_refuses_springs() -> None:
    with pytest.raises(sn.InputError, match="coupling"):
        suture().solve(base=BASE, coupling=sn.VirtualCoupling(1.0), hand=BASE, method="shooting")
