"""Zones through the public interface: exact for constant strain whatever is held, balanced, reciprocal, linear.

Affine displacements are exact for the boundary stiffness, so that all patch tests hold to rounding: 1e-10 leaves room
for the condition of the stiffness, about 1e5. What is solved by updates must equal what is solved anew.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.meshes import block, rows
from references.solids import fem_block, tetrahedra_of_block

import sennit as sn
from sennit.bodies.zone.zone import Zone

E, NU = 5e4, 0.45
GEL = sn.Material(E, NU, 1000)
SIZE = np.array((0.04, 0.03, 0.06))
STRAINS = {
    "stretch": np.diag((0.02, 0.0, 0.0)),
    "uniaxial": np.diag((-NU * 0.01, -NU * 0.01, 0.01)),
    "shear": np.array([[0.0, 0.01, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    "rotation": np.array([[0.0, -0.01, 0.003], [0.01, 0.0, 0.002], [-0.003, -0.002, 0.0]]),
    "all": np.array([[0.01, 0.002, -0.004], [0.003, -0.02, 0.005], [-0.001, 0.006, 0.004]]),
}


def stress(gradient):
    strain = 0.5 * (gradient + gradient.T)
    lame, shear = E * NU / ((1 + NU) * (1 - 2 * NU)), E / (2 * (1 + NU))
    return lame * np.trace(strain) * np.eye(3) + 2 * shear * strain


@pytest.fixture(scope="module")
def bar() -> sn.Zone:
    vertices, faces = block(SIZE, (4, 3, 6))
    return sn.Zone.from_mesh(vertices, faces, material=GEL, fixed=vertices[:, 2] < 1e-9, name="bar")


@pytest.fixture(scope="module")
def loose(bar: sn.Zone) -> sn.Zone:
    return bar.with_fixed([])


def side(zone, axis, end):
    return np.flatnonzero(np.abs(zone.vertices[:, axis] - end * SIZE[axis]) < 1e-9)


def rib(zone):
    """A vertex in the middle of a side, away from ends and edges."""
    return int(np.argmin(np.linalg.norm(zone.vertices - SIZE * (1.0, 0.4, 0.5), axis=1)))


def side_faces(zone, axis, end):
    at = np.abs(zone.vertices[:, axis] - end * SIZE[axis]) < 1e-9
    return np.flatnonzero(at[zone.faces].all(axis=1))


def face_tractions(zone, gradient):
    """σ n on all faces."""
    corners = zone.vertices[zone.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return (normals / np.linalg.norm(normals, axis=1, keepdims=True)) @ stress(gradient)


@pytest.mark.parametrize("name", STRAINS)
@pytest.mark.parametrize("held", ["none fixed", "side", "three", "some components", "released"])
def test_patch_tests_for_any_held_set(bar, loose, name, held, validated) -> None:
    """σ n on every face and the exact displacement where something is held: the exact displacement everywhere."""
    gradient = STRAINS[name]
    exact = bar.vertices @ gradient.T + (0.001, -0.002, 0.0005)
    rng = np.random.default_rng(11)
    zone, options = bar, {}
    if held == "none fixed":
        zone, ids = loose, rng.choice(len(exact), 9, replace=False)
    elif held == "side":
        ids = bar.fixed
    elif held == "three":
        zone, ids = loose, np.array([0, *side(bar, 2, 1)[[2, 7]]])
    elif held == "some components":
        ids = np.concatenate((bar.fixed, rng.choice(side(bar, 2, 1), 6, replace=False)))
    else:
        ids, options = bar.fixed[3:], {"released": bar.fixed[:3]}
    moves = {int(v): exact[v] for v in ids}
    if held == "some components":
        moves |= {int(v): (None, exact[v, 1], None) for v in ids[len(bar.fixed) :]}
    state = zone.solve(displacements=moves, face_tractions=face_tractions(bar, gradient), **options)
    validated(
        "Patch test of a zone, any held set",
        area="zones",
        quantity="displacement",
        reference="uniform strain",
        error=np.abs(state.displacements - exact).max() / np.abs(exact).max(),
        bound=1e-10,
    )
    traction = np.abs(state.corner_tractions - face_tractions(bar, gradient)[:, None, :]).max()
    # Tractions are Y u, and Y is a collocation matrix: good to its quadrature.
    assert traction < 1e-4 * E * 0.02
    strain = 0.5 * (gradient + gradient.T)
    energy = 0.5 * np.sum(stress(gradient) * strain) * np.prod(SIZE)
    assert state.energy == pytest.approx(energy, rel=1e-10, abs=1e-12 * E * np.prod(SIZE))


def test_a_stretched_bar(bar) -> None:
    """Pulled at its end, free to contract: u = σ/E (−ν x, −ν y, z), tractions on the ends and none on the sides."""
    free = bar.with_fixed([])
    pull = 500.0
    ends = {int(f): (0, 0, pull) for f in side_faces(bar, 2, 1)} | {
        int(f): (0, 0, -pull) for f in side_faces(bar, 2, 0)
    }
    state = free.solve(face_tractions=ends, rigid_modes="removed")
    x = bar.vertices - SIZE / 2
    exact = pull / E * x * (-NU, -NU, 1.0)
    assert np.abs(state.displacements - exact).max() < 1e-10 * np.abs(exact).max()
    assert np.abs(state.corner_tractions[side_faces(bar, 2, 1)] - (0, 0, pull)).max() < 1e-3 * pull
    assert np.abs(state.corner_tractions[side_faces(bar, 0, 0)]).max() < 1e-3 * pull
    inside = np.setdiff1d(side(bar, 2, 1), np.concatenate([side(bar, a, e) for a in (0, 1) for e in (0, 1)]))
    assert np.abs(state.tractions[inside] - (0, 0, pull)).max() < 1e-3 * pull
    assert np.array_equal(state.positions, bar.vertices + state.displacements)
    assert state.report.converged and state.report.method == "greens"


def loads_of(zone, seed=3):
    rng = np.random.default_rng(seed)
    loads = np.zeros_like(zone.vertices)
    ids = rng.choice(side(zone, 2, 1), 7, replace=False)
    loads[ids] = rng.normal(size=(7, 3))
    return loads


def test_forces_and_torques_balance(bar) -> None:
    state = bar.solve(
        loads=loads_of(bar),
        tractions={int(v): (10.0, 20.0, -5.0) for v in side(bar, 2, 1)},
        displacements={rib(bar): (1e-3, None, 0.0), int(bar.fixed[2]): (0.0, 1e-3, 0.0)},
    )
    forces = state.forces
    scale = np.abs(forces).sum()
    assert np.abs(forces.sum(axis=0)).max() < 1e-10 * scale
    torque = np.cross(bar.vertices, forces)
    assert np.abs(torque.sum(axis=0)).max() < 1e-10 * scale * SIZE.max()
    away = np.setdiff1d(np.arange(len(forces)), bar.fixed)
    assert np.allclose(state.force, forces[away].sum(axis=0), rtol=1e-12, atol=1e-12 * scale)
    assert np.allclose(state.torque, torque[away].sum(axis=0), rtol=1e-12, atol=1e-12 * scale)


def test_free_vertices_carry_their_loads_exactly(bar) -> None:
    loads = loads_of(bar)
    state = bar.solve(loads=loads, displacements={rib(bar): (1e-3, None, None)})
    untouched = np.setdiff1d(np.arange(len(loads)), [*bar.fixed, rib(bar)])
    assert np.array_equal(state.forces[untouched], loads[untouched])
    assert np.abs(state.forces[rib(bar), 1:]).max() == 0.0
    # And all of them are E S u.
    again = E * (bar._boundary.stiffness @ state.displacements.ravel()).reshape(-1, 3)
    assert np.abs(again - state.forces).max() < 1e-10 * np.abs(state.forces).max()


def test_reciprocity(bar, validated) -> None:
    """Betti: f₁·u₂ = f₂·u₁, also of touches."""
    one, two = bar.solve(loads=loads_of(bar, 1)), bar.solve(loads=loads_of(bar, 2))
    a, b = np.sum(one.forces * two.displacements), np.sum(two.forces * one.displacements)
    validated(
        "Two loads on one zone",
        area="zones",
        quantity="mutual work",
        reference="Betti's theorem",
        error=abs(a / b - 1),
        bound=1e-12,
    )
    p, q = (0.02, 0.015, 0.06), (0.04, 0.012, 0.04)
    first, second = bar.touch(p, force=(0.1, 0, 0)), bar.touch(q, force=(0, 0, 0.3))
    at = second.probe.weights @ first.displacements[second.probe.vertices]
    back = first.probe.weights @ second.displacements[first.probe.vertices]
    assert at @ (0, 0, 0.3) == pytest.approx(back @ (0.1, 0, 0), rel=1e-12)


def test_linearity_and_young_as_a_scale(bar) -> None:
    loads, moves = loads_of(bar), {rib(bar): (1e-3, None, 0.0)}
    one = bar.solve(loads=loads, displacements=moves)
    two = bar.solve(loads=2.0 * loads, displacements={rib(bar): (2e-3, None, 0.0)})
    assert np.allclose(two.displacements, 2.0 * one.displacements, rtol=1e-12, atol=1e-18)
    assert two.energy == pytest.approx(4.0 * one.energy, rel=1e-12)
    stiff = bar.with_material(sn.Material(3.0 * E, NU, 1000))
    assert stiff._greens is bar._greens
    three = stiff.solve(loads=3.0 * loads, displacements=moves)
    assert np.allclose(three.displacements, one.displacements, rtol=1e-12, atol=1e-18)
    assert np.allclose(three.forces, 3.0 * one.forces, rtol=1e-9, atol=1e-12)
    assert np.allclose(three.tractions, 3.0 * one.tractions, rtol=1e-9, atol=1e-9)


def test_another_poisson_ratio_is_another_body(bar) -> None:
    other = bar.with_material(sn.Material(E, 0.3, 1000))
    assert other._boundary is not bar._boundary
    assert np.array_equal(other.fixed, bar.fixed)


def test_energy_is_half_the_work(bar) -> None:
    moves = {int(v): (1e-3, 0.0, 2e-3) for v in bar.fixed[:5]} | {rib(bar): (1e-3, None, 0.0)}
    state = bar.solve(loads=loads_of(bar), displacements=moves)
    u = state.displacements.ravel()
    assert state.energy == pytest.approx(0.5 * np.sum(state.forces * state.displacements), rel=1e-12)
    assert state.energy == pytest.approx(0.5 * E * u @ bar._boundary.stiffness @ u, rel=1e-10)


def test_a_support_moved_rigidly_carries_the_body_along(bar) -> None:
    turn = np.array((0.01, -0.02, 0.015))
    exact = np.cross(turn, bar.vertices) + np.array((1e-3, 2e-3, -1e-3))
    state = bar.solve(displacements={int(v): exact[v] for v in bar.fixed})
    assert np.abs(state.displacements - exact).max() < 1e-11 * np.abs(exact).max()
    assert np.abs(state.forces).max() < 1e-11 * E * SIZE.max() * np.abs(exact).max()
    assert np.abs(state.corner_tractions).max() < 1e-4 * E * 0.02


def test_a_moved_support_equals_a_new_set_of_fixed_vertices(bar, loose) -> None:
    """Part of the support moves by unequal amounts; the body without fixed vertices, held there, does the same."""
    rng = np.random.default_rng(7)
    moves = {int(v): rng.normal(size=3) * 1e-3 for v in bar.fixed}
    loads = loads_of(bar)
    one = bar.solve(displacements=moves, loads=loads)
    two = loose.solve(displacements=moves, loads=loads)
    assert np.abs(one.displacements - two.displacements).max() < 1e-10 * np.abs(one.displacements).max()
    assert np.abs(one.forces - two.forces).max() < 1e-9 * np.abs(one.forces).max()


def resolved(zone, held, targets, loads, support):
    """The whole problem from S, by elimination."""
    S = E * zone._boundary.stiffness
    known = np.concatenate((rows(support), held))
    u = np.zeros(len(S))
    u[held] = targets
    rest = np.setdiff1d(np.arange(len(S)), known)
    u[rest] = np.linalg.solve(S[np.ix_(rest, rest)], loads.ravel()[rest] - S[np.ix_(rest, known)] @ u[known])
    return u.reshape(-1, 3), (S @ u).reshape(-1, 3)


def test_changed_conditions_equal_a_full_resolve(bar, validated) -> None:
    """Nodes enter and leave, some by components, some supports are let go: each time the same as from scratch."""
    rng = np.random.default_rng(9)
    free = np.setdiff1d(np.arange(len(bar.vertices)), bar.fixed)
    held: dict[int, np.ndarray] = {}
    for turn in range(25):
        if turn % 3 == 2 and held:
            held.pop(int(rng.choice(sorted(held))))
        else:
            value = rng.normal(size=3) * 1e-3
            value[rng.random(3) < 0.3] = np.nan
            value[turn % 3] = 1e-3
            held[int(rng.choice(free))] = value
        released = rng.choice(bar.fixed, 4, replace=False) if turn % 5 == 4 else np.zeros(0, dtype=int)
        moves = np.full(bar.vertices.shape, np.nan)
        for vertex, value in held.items():
            moves[vertex] = value
        loads = np.where(np.isnan(moves), loads_of(bar, turn), 0.0)
        state = bar.solve(displacements=held, loads=loads, released=released)
        at = np.flatnonzero(np.isfinite(moves.ravel()))
        u, f = resolved(bar, at, moves.ravel()[at], loads, np.setdiff1d(bar.fixed, released))
        validated(
            "Changed conditions (capacitance)",
            area="zones",
            quantity="displacement",
            reference="full solve",
            error=np.abs(state.displacements - u).max() / np.abs(u).max(),
            bound=1e-9,
        )
        assert np.abs(state.forces - f).max() < 1e-9 * np.abs(f).max()
        assert state.report.residual < 1e-11
    assert bar._capacitance.updated > 30


def test_a_release_that_leaves_too_little_is_made_up_by_displacements(bar) -> None:
    three = [int(bar.fixed[0]), int(bar.fixed[4]), int(bar.fixed[-1])]
    one = bar.solve(loads=loads_of(bar), released=bar.fixed, displacements=dict.fromkeys(three, (0, 0, 0)))
    two = bar.with_fixed(three).solve(loads=loads_of(bar))
    assert np.abs(one.displacements - two.displacements).max() < 1e-9 * np.abs(two.displacements).max()
    assert np.abs(one.forces - two.forces).max() < 1e-9 * np.abs(two.forces).max()
    assert np.allclose(one.force, 0.0, atol=1e-9) and np.abs(two.force).max() > 0.1


def test_removed_rigid_modes_leave_no_mean_motion(loose) -> None:
    loads = loads_of(loose)
    areas = loose._surface.vertex_areas
    loads[side(loose, 2, 0)[:1]] -= loads.sum(axis=0)
    # A couple on three vertices that are not on a line takes up the torque.
    x = loose.vertices
    torque = np.cross(x, loads).sum(axis=0)
    some = side(loose, 0, 1)[[0, 5, -1, -4]]
    arms = x[some] - x[some].mean(axis=0)
    turn = np.linalg.solve(np.sum(arms**2) * np.eye(3) - arms.T @ arms, torque)
    loads[some] -= np.cross(turn, arms)
    state = loose.solve(loads=loads, rigid_modes="removed")
    u = state.displacements
    assert np.abs(areas @ u).max() < 1e-12 * np.abs(u).max() * areas.sum()
    corners_x, corners_u = x[loose.faces], u[loose.faces]
    face_areas = loose._surface.areas
    mass = (np.ones((3, 3)) + np.eye(3)) / 12.0
    spin = np.einsum("f,ij,fijc->c", face_areas, mass, np.cross(corners_x[:, :, None], corners_u[:, None, :]))
    assert np.abs(spin).max() < 1e-11 * np.abs(u).max() * areas.sum() * SIZE.max()
    assert np.abs(state.forces - loads).max() == 0.0
    again = E * (loose._boundary.stiffness @ u.ravel()).reshape(-1, 3)
    assert np.abs(again - loads).max() < 1e-10 * np.abs(loads).max()


def test_tractions_are_hats_over_the_faces_round_a_vertex(bar) -> None:
    """Equal hats at all corners of a side are a constant traction there, and more beyond its rim."""
    top = side(bar, 2, 1)
    hats = bar.solve(tractions={int(v): (0, 0, 40.0) for v in top})
    whole = 40.0 * SIZE[0] * SIZE[1]
    # Beyond the rim the hats fall to 0 over the first row of side faces: half its area.
    rim = 0.5 * 40.0 * 2.0 * (SIZE[0] + SIZE[1]) * SIZE[2] / 6.0
    assert hats.force[2] == pytest.approx(whole + rim, rel=1e-12)
    flat = bar.solve(face_tractions={int(f): (0, 0, 40.0) for f in side_faces(bar, 2, 1)})
    assert flat.force[2] == pytest.approx(whole, rel=1e-12)


def test_a_touch_is_a_solve_of_its_patch(bar) -> None:
    place, push = (0.021, 0.016, 0.06), np.array((2e-4, 0.0, -1e-3))
    state = bar.touch(place, displacement=push)
    probe = state.probe
    assert np.allclose(probe.weights @ state.displacements[probe.vertices], push, rtol=0, atol=1e-15)
    loads = np.zeros_like(bar.vertices)
    loads[probe.vertices] = probe.weights[:, None] * state.force
    whole = bar.solve(loads=loads)
    assert np.abs(whole.displacements - state.displacements).max() < 1e-13 * np.abs(whole.displacements).max()
    assert np.allclose(whole.forces, state.forces, rtol=0, atol=1e-11)
    assert np.allclose(probe.stiffness @ push, state.force, rtol=1e-10)
    assert state.energy == pytest.approx(0.5 * state.force @ push, rel=1e-10)
    back = bar.touch(place, force=state.force)
    assert np.allclose(back.probe.displacement, push, rtol=0, atol=1e-14)
    slide = bar.touch(place, displacement=(None, None, -1e-3))
    assert np.abs(slide.force[:2]).max() == 0.0 and slide.force[2] < 0.0
    moved = slide.probe.weights @ slide.displacements[slide.probe.vertices]
    assert np.allclose(moved, slide.probe.displacement, rtol=0, atol=1e-15) and moved[2] == pytest.approx(-1e-3)
    assert abs(slide.force[2]) < abs(bar.touch(place, displacement=(0, 0, -1e-3)).force[2])


def test_a_touch_at_a_vertex_and_above_it_are_the_same(bar) -> None:
    vertex = int(np.argmin(np.linalg.norm(bar.vertices - (0.02, 0.01, 0.06), axis=1)))
    one = bar.touch(vertex, displacement=(0, 0, -1e-3))
    two = bar.touch(bar.vertices[vertex] + (0, 0, 0.01), displacement=(0, 0, -1e-3))
    assert np.allclose(one.force, two.force, rtol=1e-12, atol=1e-15)
    assert two.probe.distance == pytest.approx(0.01) and one.probe.distance == 0.0
    assert np.allclose(two.probe.foot, bar.vertices[vertex])


def test_the_answer_does_not_depend_on_what_was_solved_before(bar) -> None:
    """Beyond rounding: the factor has another order and another past."""
    moves = {int(v): (1e-4, 0.0, -1e-3) for v in side(bar, 2, 1)[:4]}
    first = bar.solve(displacements=moves)
    bar.solve(displacements={int(v): (None, 1e-3, None) for v in side(bar, 0, 1)[-9:-2]})
    second = bar.solve(displacements=moves)
    assert np.abs(first.displacements - second.displacements).max() < 1e-13 * np.abs(first.displacements).max()


def test_the_same_algebra_on_tetrahedra() -> None:
    """Linear tetrahedra condensed on the surface: another S, the same exactness."""
    surface, boundary = fem_block(SIZE, (3, 3, 4), NU)
    zone = Zone(surface, np.flatnonzero(surface.vertices[:, 2] < 1e-9), GEL, "fem", None, boundary)
    gradient = STRAINS["all"]
    exact = surface.vertices @ gradient.T
    state = zone.solve(
        displacements={int(v): exact[v] for v in zone.fixed}, face_tractions=surface.normals @ stress(gradient)
    )
    assert np.abs(state.displacements - exact).max() < 1e-11 * np.abs(exact).max()
    assert np.abs(state.corner_tractions - (surface.normals @ stress(gradient))[:, None]).max() < 1e-10 * E * 0.02


@pytest.mark.slow
def test_a_zone_from_tetrahedra() -> None:
    pytest.importorskip("skfem")
    points, cells = tetrahedra_of_block(SIZE, (3, 2, 4))
    zone = sn.Zone.from_tetrahedra(points, cells, material=GEL, fixed=points[:, 2] < 1e-9)
    assert zone.method == "fem" and zone.volume == pytest.approx(np.prod(SIZE))
    assert np.abs(zone.vertices[zone.fixed, 2]).max() < 1e-12 and len(zone.fixed) == 12
    exact = zone.vertices @ STRAINS["all"].T
    state = zone.solve(
        displacements={int(v): exact[v] for v in zone.fixed}, face_tractions=face_tractions(zone, STRAINS["all"])
    )
    assert np.abs(state.displacements - exact).max() < 1e-9 * np.abs(exact).max()
