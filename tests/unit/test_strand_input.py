"""Every mistake gets an InputError that names the argument, quotes the value and says what is allowed."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn

NYLON = sn.Material(2.7e9, 0.39, 1150)
THREAD = sn.Section.circle(2e-4)
BASE = sn.Pose()


@pytest.fixture(scope="module")
def suture() -> sn.Strand:
    return sn.Strand(0.25, THREAD, NYLON, nodes=21)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"length": 0.0}, ["length", "0.0", "above 0"]),
        ({"length": -1.0}, ["length", "-1.0"]),
        ({"length": float("nan")}, ["length", "nan", "finite"]),
        ({"length": "long"}, ["length", "'long'"]),
        ({"nodes": 2}, ["nodes", "2", "at least 3"]),
        ({"nodes": 20}, ["nodes", "20", "21"]),
        ({"nodes": 20.5}, ["nodes", "20.5"]),
        ({"nodes": "many"}, ["nodes", "'many'", "auto"]),
        ({"nodes": 21, "tolerance": 1e-6}, ["tolerance", "auto"]),
        ({"nodes": "auto", "tolerance": 0.0}, ["tolerance", "0.0"]),
        ({"nodes": "auto", "order": 2}, ["auto", "order=2"]),
        ({"order": 3}, ["order", "3", "1, 2 or 4"]),
        ({"section": None}, ["section", "None", "stiffness"]),
        ({"material": 3.0}, ["material", "3.0"]),
        ({"stiffness": np.eye(6), "law": 1}, ["stiffness", "law", "not both"]),
        ({"law": 1}, ["law", "1"]),
        ({"stiffness": np.eye(3)}, ["stiffness", "(6, 6)"]),
        ({"stiffness": -np.eye(6)}, ["stiffness", "positive definite", "-1.0"]),
        ({"stiffness": np.eye(6) + 2 * np.eye(6)[::-1]}, ["stiffness", "positive definite"]),
        ({"stiffness": np.triu(np.ones((6, 6))) + 6 * np.eye(6)}, ["stiffness", "symmetric"]),
        ({"rest_curvature": (0.0, np.inf, 0.0)}, ["rest_curvature", "inf"]),
        ({"rest_curvature": np.zeros((20, 3))}, ["rest_curvature", "(20, 3)"]),
        ({"rest_curvature": lambda s: (s, s)}, ["rest_curvature", "three finite numbers", "(0.0, 0.0)"]),
        ({"rest_curvature": lambda s: (np.nan, 0, 0)}, ["rest_curvature", "finite"]),
        ({"mass_per_length": 0.0}, ["mass_per_length", "0.0"]),
    ],
)
def test_strand_arguments(arguments: dict, words: list[str]) -> None:
    given = {"length": 0.25, "section": THREAD, "material": NYLON, "nodes": 21, **arguments}
    with pytest.raises(sn.InputError) as caught:
        sn.Strand(**given)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_an_even_count_is_fine_for_order_2() -> None:
    assert sn.Strand(0.25, THREAD, NYLON, nodes=20, order=2).solve(base=BASE).report.converged


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ["base=", "tip=", "via="]),
        ({"base": (0, 0, 0)}, ["base", "sennit.Pose", "(0, 0, 0)"]),
        ({"base": BASE, "tip": sn.Pose((0, 0, 0.1)), "tip_force": (0, 0, 1)}, ["tip=", "tip_force="]),
        ({"base": BASE, "tip": sn.Pose((0, 0, 0.1)), "tip_torque": (0, 0, 1)}, ["tip=", "tip_torque="]),
        ({"base": BASE, "tip": sn.Pose((0, 0, 0.1)), "tip_position": (0, 0, 1)}, ["tip=", "tip_position="]),
        ({"base": BASE, "tip_position": (0, 0, 0.1), "tip_force": (0, 0, 1)}, ["tip_position=", "tip_force="]),
        ({"base": BASE, "tip": sn.Pose((0, 0, 0.2501))}, ["0.25 m", "0.2501 m", "extensible=True"]),
        ({"base": BASE, "tip_position": (0, np.nan, 0.1)}, ["tip_position", "nan"]),
        ({"base": BASE, "tip_force": (0, 0)}, ["tip_force", "(0, 0)"]),
        ({"base": BASE, "gravity": (0, 0, float("inf"))}, ["gravity", "inf"]),
        ({"base": BASE, "force": np.zeros((7, 3))}, ["force", "(7, 3)"]),
        ({"base": BASE, "force": "heavy"}, ["force", "'heavy'"]),
        ({"base": BASE, "via": [(0.3, (0, 0, 0))]}, ["via: s", "0.3", "0.25"]),
        ({"base": BASE, "via": [0.1]}, ["via", "0.1", "pairs"]),
        ({"base": BASE, "via": [(0.1, (0, 0, 0.2))]}, ["0.1 m", "0.2 m"]),
        ({"base": BASE, "via": [(0.0, (0, 0, 0))]}, ["via", "s = 0 m"]),
        ({"base": BASE, "via": [(0.1, (0, 0, 0.05)), (0.1 + 1e-12, (0, 0, 0.05))]}, ["0.1 m"]),
        ({"base": BASE, "point_loads": [sn.PointLoad(0.3, (0, 0, 1))]}, ["point_loads", "0.25", "0.3"]),
        ({"base": BASE, "point_loads": [(0.1, (0, 0, 1))]}, ["point_loads", "PointLoad"]),
        ({"base": BASE, "hand": BASE}, ["hand=", "coupling="]),
        ({"base": BASE, "coupling": 3.0, "hand": BASE}, ["coupling", "3.0"]),
        ({"base": BASE, "coupling": sn.VirtualCoupling(1.0)}, ["hand="]),
        ({"base": BASE, "coupling": sn.VirtualCoupling(1.0, damping=1.0), "hand": BASE}, ["dt="]),
        ({"base": BASE, "coupling": sn.VirtualCoupling(1.0), "hand": BASE, "tip": BASE}, ["coupling=", "tip="]),
        ({"base": BASE, "max_iterations": 0}, ["max_iterations", "0"]),
        ({"base": BASE, "guess": 3}, ["guess", "3"]),
        ({"base": BASE, "method": "magic"}, ["method", "'magic'"]),
        ({"base": BASE, "method": "shooting", "tip_force": (0, 0, 1), "follower": True}, ["shooting", "follower"]),
        ({"base": BASE, "method": "shooting", "via": [(0.1, (0, 0, 0.05))]}, ["shooting", "via="]),
    ],
)
def test_solve_arguments(suture: sn.Strand, arguments: dict, words: list[str]) -> None:
    with pytest.raises(sn.InputError) as caught:
        suture.solve(**arguments)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_gravity_needs_a_mass() -> None:
    strand = sn.Strand(1.0, stiffness=np.eye(6), nodes=5)
    with pytest.raises(sn.InputError, match="mass_per_length"):
        strand.solve(base=BASE, gravity=(0, 0, -9.81))
    assert strand.solve(base=BASE, gravity=(0, 0, 0)).report.converged


def test_too_many_points_for_the_mesh() -> None:
    strand = sn.Strand(1.0, stiffness=np.eye(6), nodes=5)
    via = [(0.2, (0, 0, 0.1)), (0.4, (0, 0.1, 0.1))]
    with pytest.raises(sn.InputError, match="raise nodes"):
        strand.solve(base=BASE, via=via)


def test_inputs_are_copied_and_left_alone(suture: sn.Strand) -> None:
    force = np.array((0.0, 1e-4, 0.0))
    load = np.zeros((21, 3))
    state = suture.solve(base=BASE, tip_force=force, force=load)
    force[:], load[:] = 7.0, 7.0
    np.testing.assert_array_equal(state.tip_force, (0.0, 1e-4, 0.0))
    again = suture.solve(base=BASE, tip_force=(0.0, 1e-4, 0.0))
    np.testing.assert_allclose(again.positions, state.positions, atol=1e-15)


def test_a_failed_solve_tells_and_keeps_its_best_state(suture: sn.Strand) -> None:
    conditions = {"base": BASE, "tip": sn.Pose((0.1, 0.05, 0.1), (0.5, 0.5, 0.5, 0.5))}
    with pytest.raises(sn.SolveError) as caught:
        suture.solve(**conditions, max_iterations=1)
    report, state = caught.value.report, caught.value.state
    assert report.status == "moving" and not report.converged and report.iterations == 1
    assert "guess=state" in str(caught.value)
    assert np.isfinite(state.positions).all()
    # each call goes on where the last one stopped
    for _ in range(60):
        state = suture.solve(**conditions, guess=state, max_iterations=1, throw=False)
        assert np.isfinite(state.quaternions).all()
        if state.report.converged:
            break
    assert state.report.converged and state.stable


def test_overflowing_loads_do_not_enter_a_state_silently(suture: sn.Strand) -> None:
    with pytest.raises(sn.SolveError, match="units"):
        suture.solve(base=BASE, tip_force=(1e300, 0, 0), tip_torque=(1e300, 0, 0), follower=True)


class TestEquilibria:
    def test_takes_no_guess(self, suture: sn.Strand) -> None:
        with pytest.raises(sn.InputError, match="guess"):
            suture.equilibria(base=BASE, guess=None)

    def test_needs_energies(self, suture: sn.Strand) -> None:
        with pytest.raises(sn.InputError, match="follower"):
            suture.equilibria(base=BASE, tip_torque=(1e-6, 0, 0))

    def test_needs_a_fixed_mesh(self) -> None:
        with pytest.raises(sn.InputError, match="nodes"):
            sn.Strand(0.25, THREAD, NYLON, nodes="auto").equilibria(base=BASE)
