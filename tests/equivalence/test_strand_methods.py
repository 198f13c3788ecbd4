"""Methods that share little must agree: sweeps, energy method, general method, shooting; threads; other paths."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import sennit as sn
from sennit.bodies.strand.state import StrandState
from sennit.cosserat.solve import MAX_ITERATIONS, _solve_without_potential
from sennit.geometry.rotations import rotation_exp

STIFFNESS = np.diag([1.0, 1.3, 0.77, 300.0, 300.0, 800.0])
BASE = sn.Pose((0.1, -0.2, 0.3), rotation_exp((0.3, 0.5, -0.7)))


def strand(nodes: int = 101, **options) -> sn.Strand:
    given = {"stiffness": STIFFNESS, "rest_curvature": (0.4, 0.3, 1.0), "extensible": True, **options}
    return sn.Strand(1.0, nodes=nodes, **given)


def general(state: StrandState) -> StrandState:
    """The same conditions by the general method."""
    solution, report = _solve_without_potential(state._solution.conditions, None, MAX_ITERATIONS)
    assert report.converged and report.method == "follower"
    return StrandState(state.strand, solution, report)


def assert_same(a: StrandState, b: StrandState, tolerance: float) -> None:
    for name in ("positions", "rotations", "forces", "moments", "curvatures", "stretches"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=tolerance, err_msg=name)
    for name in ("base_force", "base_torque", "tip_force", "tip_torque"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=tolerance, err_msg=name)


def test_energy_and_general_method_share_their_equations() -> None:
    """Same elements, other unknowns and other linear algebra: equal to the solvers' tolerance, not just to h⁴."""
    loads = {"base": BASE, "tip": sn.Pose(BASE @ (0.1, 0.2, 0.8)), "force": (0.2, 0.1, -3.0)}
    state = strand().solve(**loads, point_loads=[sn.PointLoad(0.3, (0.5, 0, 0))])
    assert state.report.method == "energy"
    assert_same(state, general(state), 1e-8)


def test_via_points_in_both() -> None:
    via = [(0.35, BASE @ (0.05, 0.1, 0.3)), (0.7, sn.Pose(BASE @ (0.0, 0.2, 0.5), rotation_exp((0.2, 0.1, 0.3))))]
    state = strand().solve(base=BASE, via=via, gravity=None, force=(0, 0, -1.0))
    assert_same(state, general(state), 1e-8)
    np.testing.assert_allclose(general(state).via_forces, state.via_forces, atol=1e-7)
    np.testing.assert_allclose(general(state).via_torques, state.via_torques, atol=1e-7)


def test_sweeps_and_general_method(validated) -> None:
    """Two discretisations of order 4 under loads that follow: they differ by h⁴."""
    loads = {
        "base": BASE, "tip_force": (0.5, 1.0, -0.3), "tip_torque": (0.2, 0.1, -0.4), "follower": True,
        "force": (0.3, 0.5, -0.7), "torque": (0.1, 0.2, 0.3), "line_follower": True,
        "point_loads": [sn.PointLoad(0.3, (0.3, 0, 0), (0, 0.2, 0), follower=True)],
    }  # fmt: skip
    apart = []
    for nodes in (51, 101):
        state = strand(nodes).solve(**loads)
        assert state.report.method == "sweep" and state.report.iterations == 0
        apart.append(np.max(np.abs(state.positions - general(state).positions)))
    validated(
        "Sweeps beside the general method",
        area="strand",
        quantity="centreline, of the length",
        reference="another method of ours",
        error=apart[1],
        bound=1e-8,
        order=np.log2(apart[0] / apart[1]),
    )
    assert 12.0 < apart[0] / apart[1] < 20.0


@pytest.mark.parametrize("tip", ["free", "pose", "position"])
def test_shooting_agrees_where_it_works(tip: str) -> None:
    rest = strand(201).solve(base=BASE).tip_pose
    pose = sn.Pose(rest.position + np.array((0.03, -0.05, 0.02)), rest.quaternion)
    held = {
        "free": {"tip_force": (0.5, 1.0, -0.3), "tip_torque": (0.2, 0.1, -0.4)},
        "pose": {"tip": pose},
        "position": {"tip_position": pose.position, "tip_torque": (0.1, 0.0, 0.05)},
    }[tip]
    loads = {"base": BASE, **held, "force": (0, 0, -0.7), "point_loads": [sn.PointLoad(0.3, (0.3, 0, 0), (0, 0.2, 0))]}
    state, shot = strand(201).solve(**loads), strand(201).solve(**loads, method="shooting")
    assert shot.report.method == "shooting" and shot.report.converged
    assert_same(state, shot, 2e-7)
    assert shot.energy.total == pytest.approx(state.energy.total, abs=1e-7)


def test_shooting_goes_astray_where_the_energy_method_does_not() -> None:
    """A limp hanging thread, wL³/EI = 1000: the paper's method ends in a curl that no thread would keep."""
    limp = sn.Strand(1.0, stiffness=np.diag([1, 1, 0.77, 1e3, 1e3, 1e3]), nodes=201)
    base = sn.Pose.along((0, 0, 0), (1.0, 0.0, 0.2))
    hanging = limp.solve(base=base, force=(0, 0, -1000.0))
    assert hanging.stable and hanging.tip_pose.position[2] < -0.9
    shot = limp.solve(base=base, force=(0, 0, -1000.0), method="shooting", throw=False)
    assert not shot.report.converged or np.linalg.norm(shot.tip_pose.position - hanging.tip_pose.position) > 0.5


def test_shooting_that_misses_says_so() -> None:
    far = sn.Pose((0.6, 0.1, -0.3), rotation_exp((2.0, 0.5, 1.0)))
    shot = strand(201, extensible=False).solve(base=sn.Pose(), tip=far, method="shooting", throw=False)
    assert not shot.report.converged and "leave method= out" in shot.report.message
    assert strand(201, extensible=False).solve(base=sn.Pose(), tip=far).report.converged


def test_a_full_stiffness_equals_its_rotated_diagonal() -> None:
    """Turning the directors turns K: the same strand described in other material axes has the same shape."""
    turn = sn.Pose((0, 0, 0), rotation_exp((0, 0, 0.6)))
    R = turn.rotation
    plain = np.diag([1.0, 2.0, 0.7, 200.0, 300.0, 500.0])
    turned = np.zeros((6, 6))
    turned[:3, :3], turned[3:, 3:] = R.T @ plain[:3, :3] @ R, R.T @ plain[3:, 3:] @ R
    tip = sn.Pose((0.3, 0.2, 0.6), rotation_exp((0.5, -0.4, 1.0)))
    a = sn.Strand(1.0, stiffness=plain, extensible=True, nodes=51).solve(base=sn.Pose(), tip=tip)
    b = sn.Strand(1.0, stiffness=turned, extensible=True, nodes=51).solve(base=turn, tip=tip @ turn)
    np.testing.assert_allclose(a.positions, b.positions, atol=1e-10)
    np.testing.assert_allclose(a.tip_torque, b.tip_torque, atol=1e-8)


def test_profiles_as_array_and_function_are_the_same() -> None:
    def weight(s: float) -> tuple[float, float, float]:
        return 0.3 * s, 0.0, -2.0 + s * s

    by_function = strand().solve(base=BASE, force=weight)
    s = by_function.strand.s
    by_array = strand().solve(base=BASE, force=np.array([weight(x) for x in s]))
    np.testing.assert_allclose(by_array.positions, by_function.positions, atol=1e-12)
    # on another mesh the array is interpolated
    moved = strand().solve(base=BASE, force=np.array([weight(x) for x in s]), point_loads=[sn.PointLoad(0.123)])
    np.testing.assert_allclose(moved.tip_pose.position, by_function.tip_pose.position, atol=1e-8)


def test_auto_mesh_agrees_with_a_fine_one() -> None:
    loads = {"base": BASE, "force": (0, 0, -200.0)}
    auto = strand(nodes="auto", tolerance=1e-7).solve(**loads)
    assert auto.report.error_estimate is not None and auto.report.error_estimate <= 1e-7
    fine = strand(1601).solve(**loads)
    error = np.linalg.norm(auto.tip_pose.position - fine.tip_pose.position)
    assert error < 3e-7
    assert auto.report.nodes < 400


def test_guess_from_another_mesh() -> None:
    tip = sn.Pose(BASE @ (0.1, 0.2, 0.7), BASE.quaternion)
    coarse = strand(21).solve(base=BASE, tip=tip)
    fine = strand(201)
    warm, cold = fine.solve(base=BASE, tip=tip, guess=coarse), fine.solve(base=BASE, tip=tip)
    assert warm.report.iterations <= 4
    np.testing.assert_allclose(warm.positions, cold.positions, atol=1e-9)


def test_two_threads_solve_at_once() -> None:
    """Each thread has a workspace of its own: answers do not depend on who else is solving."""
    shared = strand(101)
    tips = [sn.Pose(BASE @ (0.1 + 0.02 * k, 0.2, 0.7), BASE.quaternion) for k in range(8)]
    alone = [shared.solve(base=BASE, tip=tip).positions for tip in tips]
    found: dict[tuple[int, int], np.ndarray] = {}

    def work(thread: int) -> None:
        for _ in range(10):
            for k, tip in enumerate(tips):
                found[thread, k] = shared.solve(base=BASE, tip=tip).positions

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2 * len(tips)
    for (_, k), positions in found.items():
        np.testing.assert_array_equal(positions, alone[k])
