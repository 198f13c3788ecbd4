"""The references check one another: elliptic integrals, collocation, shooting and closed forms, without the library."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from references import buckling, elastica, equilibrium, helix, rotation
from references.rods import Point, Rod, _march, constant, pose_error, shoot, solve_bvp, sweep_back
from scipy.integrate import solve_bvp as scipy_bvp
from scipy.integrate import solve_ivp

TURN = rotation.exp(np.array([0.3, -0.2, 0.4]))
FULL = TURN @ np.diag([1.0, 2.0, 0.7]) @ TURN.T
COUPLED = np.zeros((6, 6))
COUPLED[:3, :3] = FULL
COUPLED[3:, 3:] = TURN.T @ np.diag([40.0, 60.0, 90.0]) @ TURN
COUPLED[:3, 3:] = np.arange(9.0).reshape(3, 3) / 18.0
COUPLED[3:, :3] = COUPLED[:3, 3:].T


def curved(**options) -> Rod:
    return Rod(np.pi / 4, COUPLED, rest_curvature=constant((0.0, 1.0, 0.3)), **options)


def as_state(rod: Rod, solution) -> SimpleNamespace:
    """A solution dressed as a state of the library."""
    back = np.swapaxes(solution.rotations, 1, 2)
    u, v = rod.strains(
        solution.s,
        np.einsum("kij,kj->ik", back, solution.moments),
        np.einsum("kij,kj->ik", back, solution.forces),
    )
    return SimpleNamespace(
        s=solution.s,
        positions=solution.positions,
        rotations=solution.rotations,
        forces=solution.forces,
        moments=solution.moments,
        curvatures=u.T,
        stretches=v.T,
        tip_force=solution.forces[-1],
        tip_torque=solution.moments[-1],
        base_force=-solution.forces[0],
        base_torque=-solution.moments[0],
    )


@pytest.mark.parametrize("load", [0.1, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("clamp", [0.0, 0.5, -1.0, 2.0])
def test_elliptic_integrals_satisfy_the_ordinary_equation(load, clamp):
    tip = elastica.end_loaded(load, clamp)
    path = solve_ivp(
        lambda s, y: [y[1], load * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])],
        (0, 1),
        [clamp, tip.base_curvature, 0, 0],
        method="DOP853",
        rtol=1e-13,
        atol=1e-14,
    ).y[:, -1]
    # the clamp's curvature carries the whole path to a free end: amplified by exp(sqrt(load)) at most
    assert np.abs(path - [tip.theta, 0.0, tip.x, tip.y]).max() < 1e-12


@pytest.mark.parametrize(("load", "angle"), [(1.0, np.pi / 2), (5.0, np.pi / 2), (9.0, 2.5), (20.0, 0.7)])
def test_follower_elliptic_form_satisfies_the_ordinary_equation(load, angle):
    tip = elastica.follower_end_loaded(load, angle)
    direction = tip.theta + angle
    path = solve_ivp(
        lambda s, y: [y[1], -load * np.sin(direction - y[0]), np.cos(y[0]), np.sin(y[0])],
        (0, 1),
        [0.0, tip.base_curvature, 0, 0],
        method="DOP853",
        rtol=1e-13,
        atol=1e-14,
    ).y[:, -1]
    assert np.abs(path - [tip.theta, 0.0, tip.x, tip.y]).max() < 1e-12


def test_published_cantilever():
    # K. Mattiasson, Int. J. Numer. Meth. Engng 17 (1981) 145-153, table for the cantilever, P L^2/EI = 1 and 10
    assert elastica.end_loaded(1.0).y == pytest.approx(-0.30172, abs=1e-5)
    assert elastica.end_loaded(10.0).y == pytest.approx(-0.81061, abs=1e-5)
    assert elastica.end_loaded(10.0).x == pytest.approx(1.0 - 0.55500, abs=1e-5)


@pytest.mark.parametrize("weight", [10.0, 1e3, 1e5])
@pytest.mark.parametrize("clamp", [0.2, 1.5, -2.5])
def test_heavy_elastica_does_not_depend_on_its_degree(weight, clamp):
    coarse, fine = elastica.heavy(weight, clamp), elastica.heavy(weight, clamp, degree=32)
    assert abs(coarse.tip.x - fine.tip.x) + abs(coarse.tip.y - fine.tip.y) < 3e-11


@pytest.mark.parametrize(("weight", "clamp"), [(10.0, 0.2), (1e3, 0.2), (1e5, 0.0)])
def test_heavy_elastica_against_scipy(weight, clamp):
    own = elastica.heavy(weight, clamp)
    keep = np.concatenate([[True], np.diff(own.s) > 1e-14])
    guess = np.vstack([own.theta, np.gradient(own.theta[keep], own.s[keep])[np.cumsum(keep) - 1], own.x, own.y])
    found = scipy_bvp(
        lambda s, y: np.vstack([y[1], weight * (1 - s) * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]),
        lambda a, b: np.array([a[0] - clamp, b[1], a[2], a[3]]),
        own.s[keep],
        0.99 * guess[:, keep],  # so that it has something to do
        tol=1e-9,
        max_nodes=30000,
    )
    assert found.success
    assert np.hypot(found.y[2, -1] - own.tip.x, found.y[3, -1] - own.tip.y) < 1e-8


def test_heavy_elastica_small_load():
    # theta = w (s^3/6 - s^2/2 + s/2) ... : tip deflection w/8 to first order
    assert elastica.heavy(1e-3).tip.y == pytest.approx(-1e-3 / 8, rel=1e-5)


@pytest.mark.parametrize(("quarter_waves", "critical"), [(1, np.pi**2 / 4), (2, np.pi**2), (4, 4 * np.pi**2)])
def test_buckled_column(quarter_waves, critical):
    assert elastica.buckled(1e-6, quarter_waves).load == pytest.approx(critical, rel=1e-11)
    k = 0.6
    known = elastica.buckled(k, quarter_waves)
    start = [-known.tip_angle, 0.0] if quarter_waves == 2 else [0.0, 2 * k * np.sqrt(known.load)]
    path = solve_ivp(
        lambda s, y: [y[1], -known.load * np.sin(y[0]), np.cos(y[0]), np.sin(y[0]), y[1] ** 2 / 2],
        (0, 1),
        [*start, 0, 0, 0],
        method="DOP853",
        t_eval=[0.5, 1.0],
        rtol=1e-13,
        atol=1e-14,
    ).y
    assert path[2, 1] == pytest.approx(1 - known.shortening, abs=1e-12)
    assert path[4, 1] == pytest.approx(known.energy, abs=1e-11)
    assert abs(path[3, 1 if quarter_waves == 1 else 0]) == pytest.approx(known.deflection, abs=1e-12)
    again = elastica.buckled_at_load(known.load, quarter_waves)
    assert again.shortening == pytest.approx(known.shortening, abs=1e-13)
    assert elastica.buckled_at_shortening(known.shortening, quarter_waves).load == pytest.approx(known.load, rel=1e-12)


def test_scipy_collocation_and_shooting_agree():
    rod = curved(tip_force=(0.5, 2.0, -1.0), tip_torque=(0.3, 0.2, -0.4), force=constant((0.0, 0.0, -1.0)))
    a, b = solve_bvp(rod), shoot(rod, loads=(0.5, 1.0))
    for name in ("positions", "rotations", "forces", "moments"):
        assert np.abs(getattr(a, name) - getattr(b, name)).max() < 1e-11, name


def test_scipy_collocation_shooting_and_sweeping_agree_with_point_loads():
    rod = curved(
        tip_force=(0.5, 2.0, -1.0),
        tip_torque=(0.3, 0.2, -0.4),
        follower=True,
        force=lambda s: np.vstack([np.cos(s), 0 * s, -1 + s]),
        line_follower=True,
        points=(Point(0.3, (1.0, 0.0, 0.0), (0.0, 0.2, 0.1), True),),
    )
    a, b, c = solve_bvp(rod), shoot(rod, loads=(0.5, 1.0)), sweep_back(rod)
    for name in ("positions", "rotations", "forces", "moments"):
        assert np.abs(getattr(a, name) - getattr(b, name)).max() < 2e-11, name
        assert np.abs(getattr(a, name) - getattr(c, name)).max() < 2e-11, name


def test_spatial_collocation_contains_the_planar_elastica():
    tip = elastica.end_loaded(3.0, 0.4)
    frame = np.array([[0.0, np.sin(0.4), np.cos(0.4)], [0.0, -np.cos(0.4), np.sin(0.4)], [1.0, 0.0, 0.0]])
    rod = Rod(1.0, np.diag([1.0, 3.0, 0.7]), base_rotation=frame, tip_force=(0.0, -3.0, 0.0))
    found = solve_bvp(rod, loads=(0.3, 1.0))
    assert np.abs(found.positions[-1] - [tip.x, tip.y, 0.0]).max() < 1e-11
    assert found.moments[0, 2] == pytest.approx(tip.base_curvature, abs=1e-10)


@pytest.mark.parametrize("mu", [-0.6, 0.2])
def test_helix_under_end_moment(mu):
    rest = np.array([1.0, 2.0, 3.0])
    u, moment = helix.under_end_moment(FULL, rest, mu)
    assert np.abs(FULL @ (u - rest) - moment).max() < 1e-14
    dead = solve_bvp(Rod(1.5, FULL, rest_curvature=constant(rest), tip_torque=tuple(moment)), loads=(0.5, 1.0))
    positions, rotations = helix.uniform(u, np.array([0.0, 0.0, 1.0]), dead.s)
    assert np.abs(positions - dead.positions).max() < 1e-11
    assert np.abs(rotations - dead.rotations).max() < 1e-11


def test_springs():
    radius, pitch, bend, twist = 0.1, 0.15, 1.0, 0.77
    length = 2 * np.pi * radius * 1.5 / np.cos(pitch)
    rest = helix.helix_curvature(radius, pitch)
    compliance = helix.spring_compliance(bend, twist, radius, pitch, length)

    # small: first order in the force
    gaps = [helix.pulled_spring(bend, twist, rest, length, f).extension / (compliance * f) - 1 for f in (1e-2, 1e-3)]
    assert gaps[0] / gaps[1] == pytest.approx(10.0, rel=1e-2)
    assert abs(gaps[1]) < 1e-5
    # the textbook's close-coiled spring: delta = 8 F D^3 N/(G d^4), with GJ = pi G d^4/32
    close = helix.spring_compliance(bend, twist, radius, 1e-4, 2 * np.pi * radius * 5)
    wire = 1e-2
    shear_modulus = twist * 32 / (np.pi * wire**4)
    assert close == pytest.approx(8 * (2 * radius) ** 3 * 5 / (shear_modulus * wire**4), rel=1e-6)

    # large: against scipy
    pulled = helix.pulled_spring(bend, twist, rest, length, 20.0)
    assert abs(pulled.axial_torque) < 1e-12
    rod = Rod(
        length,
        np.diag([bend, bend, twist]),
        rest_curvature=constant(rest),
        tip_force=tuple(pulled.force),
        tip_torque=tuple(pulled.torque),
    )
    found = solve_bvp(rod, tol=1e-8, loads=(0.3, 0.6, 1.0))
    positions, rotations = helix.uniform(pulled.curvature, np.array([0.0, 0.0, 1.0]), found.s)
    assert pose_error(positions[-1], rotations[-1], found.positions[-1], found.rotations[-1]) < 1e-9


def test_critical_loads():
    assert buckling.CLAMPED_PINNED == pytest.approx(20.190728556, rel=1e-9)
    assert buckling.heavy_column() == pytest.approx(7.837347, rel=1e-6)
    assert buckling.greenhill() == pytest.approx(8.986818916, rel=1e-9)


@pytest.mark.parametrize("shear", [100.0, 1e3])
def test_greenhill_is_where_jacobi_fields_vanish(shear):
    rod = Rod(1.0, np.diag([1.0, 1.0, 0.77, shear, shear, 1e3]))
    critical = buckling.greenhill(1.0, 1.0, shear)
    smallest = [
        np.linalg.svd(
            buckling.jacobi_fields(rod, np.array([0, 0, 0, 0, 0, f * critical]), np.array([1.0]))[0], compute_uv=False
        )[-1]
        for f in (0.999, 1.0, 1.001)
    ]
    assert smallest[1] < 1e-9
    assert min(smallest[0], smallest[2]) > 1e-4


def test_clamped_column_is_where_jacobi_fields_vanish():
    rod = Rod(1.0, np.diag([1.0, 1.7, 0.77, 200.0, 300.0, 1e3]))
    # bending about d1 goes with shear along d2
    critical = buckling.clamped_column(1.0, 300.0, 1e3)
    counts = [buckling.conjugate_points(rod, np.array([0, 0, -f * critical, 0, 0, 0])) for f in (0.999, 1.001)]
    assert counts == [0, 1]


def test_jacobi_fields_are_the_derivative_of_the_tip():
    rod = curved(tip_force=(0.5, 2.0, -1.0))
    found = shoot(rod)
    wrench = np.concatenate([found.forces[0], found.moments[0]])
    fields = buckling.jacobi_fields(rod, wrench, np.array([rod.length]))[0]
    base = np.array([0.0, 0, 0, 1, 0, 0, 0])
    size = 1e-5
    for k in range(6):
        step = size * np.eye(6)[k]
        starts = np.column_stack([np.append(base, wrench + step), np.append(base, wrench - step)])
        ends = _march(rod, starts, np.empty(0))[1]
        turns = [rotation.rotation_from_quaternion(q) for q in ends[3:7].T]
        difference = np.append((ends[:3, 0] - ends[:3, 1]), rotation.log(turns[0] @ turns[1].T)) / (2 * size)
        assert np.abs(difference - fields[:, k]).max() < 1e-8


def test_checker_accepts_an_equilibrium_and_rejects_others():
    rod = curved(
        tip_force=(0.5, 2.0, -1.0),
        tip_torque=(0.3, 0.2, -0.4),
        force=lambda s: np.vstack([np.cos(s), 0 * s, -1 + s]),
        torque=constant((0.1, 0.2, 0.0)),
        points=(Point(rod_place := np.pi / 4 * 0.35, (1.0, 0.0, 0.5), (0.0, 0.2, 0.1)),),
    )
    state = as_state(rod, solve_bvp(rod, places=np.linspace(0, rod.length, 101)))
    assert equilibrium.defects(rod, state).worst < 1e-9
    total = equilibrium.balance(rod, state)
    assert max(total.force, total.moment) < 1e-9

    # a support takes the place of the point load when its wrench is not known to the checker
    unknown = curved(tip_force=rod.tip_force, tip_torque=rod.tip_torque, force=rod.force, torque=rod.torque)
    assert equilibrium.defects(unknown, state, supports=[(rod_place, True)]).worst < 1e-9
    assert equilibrium.defects(unknown, state, supports=[(rod_place, False)]).moment > 0.1
    assert equilibrium.defects(unknown, state).force > 0.1
    load = rod.points[0]
    again = equilibrium.balance(unknown, state, supports=[(rod_place, np.array(load.force), np.array(load.torque))])
    assert max(again.force, again.moment) < 1e-9

    # planted errors, each seen by its own entry
    for name, entry in [
        ("positions", "position"),
        ("forces", "force"),
        ("moments", "moment"),
        ("curvatures", "curvature"),
        ("stretches", "stretch"),
    ]:
        wrong = SimpleNamespace(**vars(state))
        values = getattr(state, name).copy()
        values[50] += 1e-5
        setattr(wrong, name, values)
        assert getattr(equilibrium.defects(rod, wrong), entry) > 3e-6, name
    wrong = SimpleNamespace(**vars(state))
    wrong.rotations = state.rotations.copy()
    wrong.rotations[50] = wrong.rotations[50] @ rotation.exp(np.array([1e-5, 0, 0]))
    assert equilibrium.defects(rod, wrong).rotation > 1e-5
    # the wrong sign of the weight (the paper's eq. 3)
    turned = curved(tip_force=rod.tip_force, torque=rod.torque, force=lambda s: -rod.force(s), points=rod.points)
    assert equilibrium.defects(turned, state).force > 0.1
    wrong = SimpleNamespace(**vars(state))
    wrong.base_torque = state.base_torque + 1e-6
    assert equilibrium.balance(rod, wrong).moment > 1e-7


def test_checker_takes_point_loads_between_nodes():
    rod = curved(tip_force=(0.5, 2.0, -1.0), points=(Point(0.3011, (1.0, 0.0, 0.5), (0.0, 0.2, 0.1), True),))
    state = as_state(rod, solve_bvp(rod, places=np.linspace(0, rod.length, 101)))
    assert equilibrium.defects(rod, state).worst < 1e-9


def test_rotations():
    generator = np.random.default_rng(7)
    for _ in range(50):
        vector = generator.normal(size=3)
        vector *= generator.choice([1e-9, 1e-4, 1.0, np.pi - 1e-7]) / np.linalg.norm(vector)
        matrix = rotation.exp(vector)
        assert np.abs(matrix.T @ matrix - np.eye(3)).max() < 1e-15
        assert np.abs(rotation.log(matrix) - vector).max() < 1e-14
        again = rotation.rotation_from_quaternion(rotation.quaternion_from_rotation(matrix))
        assert np.abs(again - matrix).max() < 1e-14
