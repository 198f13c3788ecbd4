"""Chains of zones against the dense assembly of the same zones, one mesh of them all, and the laws of mechanics.

The dense reference knows nothing of condensation: it puts each zone's whole boundary stiffness, turned to the world,
into one matrix whose unknowns are the world places of all free vertices, those of a seam counted once.
"""

from __future__ import annotations

import numpy as np
import pytest

from sennit.bodies.zone.chain import ZoneChain
from sennit.bodies.zone.zone import Zone
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import Sphere
from sennit.material import Material
from tests.references.meshes import block, rows, volume

SOFT = Material(5e4, 0.4, 1000.0)
SIZE = (0.02, 0.012, 0.012)


def pad(start=0.0, cells=(4, 2, 2), material=SOFT, size=SIZE, held=(0.2, 0.8), walls=False):
    """A block along x from `start`, fixed over the middle of its lower side (and of one beside it): its bone."""
    vertices, faces = block(size, cells, (start, 0.0, 0.0))
    x = (vertices[:, 0] - start) / size[0]
    under = (vertices[:, 2] < 1e-9) | (walls & (vertices[:, 1] < 1e-9))
    under &= (x > held[0] - 1e-9) & (x < held[1] + 1e-9)
    return Zone.from_mesh(vertices, faces, material=material, fixed=np.flatnonzero(under))


def side(zone, x, axis=0):
    """The zone's vertices on the plane x, in an order that depends on their places alone."""
    v = zone.vertices
    ids = np.flatnonzero(np.abs(v[:, axis] - x) < 1e-9)
    return ids[np.lexsort(np.round(v[ids], 9).T)]


def row_of_pads(count=3, **options):
    zones = [pad(k * SIZE[0], **options) for k in range(count)]
    seams = [(side(zones[k], (k + 1) * SIZE[0]), side(zones[k + 1], (k + 1) * SIZE[0])) for k in range(count - 1)]
    return zones, seams


def far_pads():
    """Long thin pads fixed over all but their ends: their seams hardly feel each other."""
    size = (0.05, 0.008, 0.008)
    zones = [pad(k * size[0], held=(0.08, 0.92), cells=(12, 2, 2), size=size, walls=True) for k in range(3)]
    seams = [(side(zones[k], (k + 1) * size[0]), side(zones[k + 1], (k + 1) * size[0])) for k in range(2)]
    return zones, seams


def turned(axis, angle, shift=(0.0, 0.0, 0.0)):
    axis = np.asarray(axis) / np.linalg.norm(axis)
    return Pose(shift, (np.cos(0.5 * angle), *(np.sin(0.5 * angle) * axis)))


BENT = [
    turned((0.3, 1.0, 0.2), 0.7, (0.001, -0.002, 0.003)),
    turned((1.0, 0.1, 0.0), -0.4),
    turned((0.2, -1.0, 0.5), 0.9, (0.0, 0.004, 0.0)),
]


def dense(zones, joined, poses, loads=(), held=()):
    """World places of all vertices of each zone; `joined`: (zone, ids, zone, ids); entries (zone, vertex, vector)."""
    begin = np.concatenate(([0], np.cumsum([len(zone.vertices) for zone in zones])))
    name = np.arange(begin[-1])
    for a, one, b, other in joined:
        name[begin[b] + np.asarray(other)] = name[begin[a] + np.asarray(one)]
    number = np.unique(name, return_inverse=True)[1]
    count = number.max() + 1
    A, b = np.zeros((3 * count, 3 * count)), np.zeros(3 * count)
    known = {}
    for z, (zone, pose) in enumerate(zip(zones, poses, strict=True)):
        own = rows(number[begin[z] : begin[z + 1]])
        T = np.kron(np.eye(len(zone.vertices)), pose.rotation)
        K = T @ (zone._modulus * zone._boundary.stiffness) @ T.T
        A[np.ix_(own, own)] += K
        b[own] += K @ (pose @ zone.vertices).ravel()
        for vertex in zone.fixed:
            known[number[begin[z] + vertex]] = pose @ zone.vertices[vertex]
    for z, vertex, force in loads:
        b[rows([number[begin[z] + vertex]])] += poses[z].rotation @ np.asarray(force)
    for z, vertex, u in held:
        known[number[begin[z] + vertex]] = poses[z] @ (zones[z].vertices[vertex] + u)
    fixed = rows(sorted(known))
    x = np.zeros(3 * count)
    x[fixed] = np.concatenate([known[k] for k in sorted(known)])
    free = np.setdiff1d(np.arange(3 * count), fixed)
    x[free] = np.linalg.solve(A[np.ix_(free, free)], b[free] - A[np.ix_(free, fixed)] @ x[fixed])
    places = x.reshape(-1, 3)
    return [places[number[begin[z] : begin[z + 1]]] for z in range(len(zones))]


def chained(seams):
    return [(k, a, k + 1, b) for k, (a, b) in enumerate(seams)]


def top(zone, place):
    """The free vertex nearest to a place."""
    distance = np.linalg.norm(zone.vertices - place, axis=1)
    distance[zone.fixed] = np.inf
    return int(distance.argmin())


def assert_same_places(state, want, tolerance):
    scale = max(np.abs(u).max() for u in state.displacements)
    for got, expected in zip(state.positions(), want, strict=True):
        np.testing.assert_allclose(got, expected, atol=tolerance * scale)


@pytest.fixture(scope="module")
def three():
    zones, seams = row_of_pads()
    return zones, seams, ZoneChain(zones, seams)


# ------------------------------------------------------------------------------------------------- the dense solution


@pytest.mark.parametrize("method", ["direct", "auto"])
def test_any_pose_equals_the_dense_assembly(three, method):
    zones, seams, chain = three
    at = top(zones[1], (0.03, 0.006, 0.012))
    on_seam = int(seams[0][0][-1])
    state = chain.solve(BENT, loads={1: {at: (0.01, 0.02, -0.05)}, 0: {on_seam: (0.0, 0.01, 0.0)}}, method=method)
    want = dense(zones, chained(seams), BENT, [(1, at, (0.01, 0.02, -0.05)), (0, on_seam, (0.0, 0.01, 0.0))])
    assert_same_places(state, want, 1e-12 if method == "direct" else 1e-8)
    assert state.report.converged and state.report.residual < (1e-12 if method == "direct" else 1e-8)


def test_sweeps_on_weakly_coupled_pads():
    zones, seams = far_pads()
    chain = ZoneChain(zones, seams)
    assert chain.coupling < 1e-2
    at = top(zones[2], (0.105, 0.004, 0.008))
    state = chain.solve(BENT, loads={2: {at: (0.0, 0.0, -0.05)}})
    assert state.report.method == "sweeps" and state.report.sweeps <= 3 and not state.report.fallback
    assert state.report.residual < 1e-8 and state.report.error_estimate < 1e-8
    assert_same_places(state, dense(zones, chained(seams), BENT, [(2, at, (0.0, 0.0, -0.05))]), 1e-8)
    direct = chain.solve(BENT, loads={2: {at: (0.0, 0.0, -0.05)}}, method="direct")
    assert_same_places(direct, dense(zones, chained(seams), BENT, [(2, at, (0.0, 0.0, -0.05))]), 1e-12)


def test_held_vertices_and_moved_supports(three):
    zones, seams, chain = three
    a, b = top(zones[0], (0.01, 0.0, 0.012)), top(zones[2], (0.05, 0.012, 0.012))
    bone = int(zones[1].fixed[0])
    given = {0: {a: (1e-4, 0.0, -3e-4)}, 2: {b: (0.0, 2e-4, 1e-4)}, 1: {bone: (1e-4, 0.0, 0.0)}}
    state = chain.solve(BENT, displacements=given, method="direct")
    flat = [(z, vertex, np.array(u)) for z, entry in given.items() for vertex, u in entry.items()]
    assert_same_places(state, dense(zones, chained(seams), BENT, held=flat), 1e-11)
    np.testing.assert_array_equal(state.displacements[0][a], given[0][a])
    # What holds them is what S says, and a free component carries nothing.
    stiff = zones[0]._modulus * zones[0]._boundary.stiffness
    np.testing.assert_allclose(
        state.zones[0].forces, (stiff @ state.displacements[0].ravel()).reshape(-1, 3), atol=1e-9
    )
    loose = chain.solve(BENT, displacements={0: {a: (None, None, -3e-4)}}, method="direct")
    assert np.abs(loose.zones[0].forces[a, :2]).max() == 0.0
    # Afterwards the chain is as it was.
    again = chain.solve(BENT, method="direct")
    assert_same_places(again, dense(zones, chained(seams), BENT), 1e-12)


def test_tractions_reach_other_zones(three):
    zones, seams, chain = three
    surface = zones[0]._surface
    lid = np.flatnonzero(surface.vertices[surface.faces].min(axis=1)[:, 2] > 0.0119)
    state = chain.solve([Pose()] * 3, face_tractions={0: {int(face): (0.0, 0.0, -500.0) for face in lid}})
    nodal = np.zeros_like(surface.vertices)
    for face in lid:
        nodal[surface.faces[face]] += np.array((0.0, 0.0, -500.0)) * surface.areas[face] / 3.0
    loads = [(0, v, nodal[v]) for v in np.flatnonzero(nodal.any(axis=1))]
    assert_same_places(state, dense(zones, chained(seams), [Pose()] * 3, loads), 1e-8)


HAND = {
    "star": [(0, 1, "x", 0.02), (0, 2, "-x", 0.0), (0, 3, "y", 0.012)],
    "branch": [(0, 1, "x", 0.02), (1, 2, "x", 0.04), (1, 3, "y", 0.012)],
}


@pytest.mark.parametrize("shape", HAND)
def test_branching_topologies(shape):
    places = [(0.0, 0.0, 0.0)]
    joined = []
    for a, _, direction, _ in HAND[shape]:
        step = {"x": (0.02, 0, 0), "-x": (-0.02, 0, 0), "y": (0, 0.012, 0)}[direction]
        places.append(tuple(np.add(places[a], step)))
    zones = []
    for place in places:
        vertices, faces = block(SIZE, (3, 3, 2), place)
        x = (vertices - place) / SIZE
        under = (np.abs(x[:, 2]) < 1e-9) & (np.abs(x[:, 0] - 0.5) < 0.4) & (np.abs(x[:, 1] - 0.5) < 0.4)
        zones.append(Zone.from_mesh(vertices, faces, material=SOFT, fixed=np.flatnonzero(under)))
    used = [set() for _ in zones]
    for (a, b, direction, _), place in zip(HAND[shape], places[1:], strict=True):
        axis = 1 if direction == "y" else 0
        plane = place[axis] + (SIZE[0] if direction == "-x" else 0.0)
        one, other = side(zones[a], plane, axis), side(zones[b], plane, axis)
        # Edges that two seams would share belong to the first: the others' end beside them.
        keep = np.array([v not in used[a] and w not in used[b] for v, w in zip(one, other, strict=True)])
        joined.append((a, one[keep], b, other[keep]))
        used[a].update(one[keep].tolist())
        used[b].update(other[keep].tolist())
    chain = ZoneChain(zones, joined, method="direct")
    poses = [turned((0.1 * k, 1.0, 0.3), 0.3 * k, (0.001 * k, 0.0, 0.0)) for k in range(len(zones))]
    at = top(zones[2], np.add(places[2], (0.01, 0.006, 0.012)))
    state = chain.solve(poses, loads={2: {at: (0.0, 0.02, -0.03)}})
    assert_same_places(state, dense(zones, joined, poses, [(2, at, (0.0, 0.02, -0.03))]), 1e-12)
    swept = chain.solve(poses, loads={2: {at: (0.0, 0.02, -0.03)}}, method="sweeps")
    assert_same_places(swept, state.positions(), 1e-7)


# ------------------------------------------------------------------------------------------------------ laws of nature


def test_a_rigid_motion_of_all_turns_the_answer(three):
    zones, _, chain = three
    whole = turned((1.0, 2.0, -0.5), 1.1, (0.3, -0.2, 0.1))
    at = top(zones[1], (0.03, 0.006, 0.012))
    here = chain.solve(BENT, loads={1: {at: (0.0, 0.0, -0.02)}}, method="direct")
    there = chain.solve([whole @ pose for pose in BENT], loads={1: {at: (0.0, 0.0, -0.02)}}, method="direct")
    for a, b in zip(here.positions(), there.positions(), strict=True):
        np.testing.assert_allclose(b, whole @ a, atol=1e-14)
    for a, b in zip(here.seam_forces, there.seam_forces, strict=True):
        np.testing.assert_allclose(b, a @ whole.rotation.T, atol=1e-10 * np.abs(a).max())
    # Moved together from rest, nothing is strained.
    rest = chain.solve([whole] * 3)
    assert max(np.abs(u).max() for u in rest.displacements) < 1e-14
    assert max(np.abs(f).max() for f in rest.seam_forces) < 1e-9
    assert rest.energy < 1e-18


@pytest.mark.parametrize("method", ["direct", "sweeps"])
def test_seams_act_and_react(three, method):
    zones, seams, chain = three
    at = top(zones[1], (0.03, 0.006, 0.012))
    state = chain.solve(BENT, loads={1: {at: (0.0, 0.0, -0.02)}}, method=method)
    scale = max(np.abs(zone.forces).max() for zone in state.zones)
    for k, (one, other) in enumerate(seams):
        first = state.zones[k].forces[one] @ BENT[k].rotation.T
        second = state.zones[k + 1].forces[other] @ BENT[k + 1].rotation.T
        np.testing.assert_allclose(first, -second, atol=1e-7 * scale)
        np.testing.assert_allclose(state.seam_forces[k], first, atol=1e-7 * scale)
    # Each zone is in balance with its own support.
    for zone, solved in zip(zones, state.zones, strict=True):
        assert np.abs(solved.forces.sum(axis=0)).max() < 1e-9 * scale
        assert np.abs(np.cross(zone.vertices, solved.forces).sum(axis=0)).max() < 1e-9 * scale
        np.testing.assert_allclose(
            solved.forces, (zone._modulus * (zone._boundary.stiffness @ solved.displacements.ravel())).reshape(-1, 3),
            atol=1e-9 * scale,
        )  # fmt: skip


def test_reciprocity_through_seams(three, validated):
    zones, _, chain = three
    a, b = top(zones[0], (0.01, 0.0, 0.012)), top(zones[2], (0.05, 0.012, 0.012))
    f, g = np.array((0.01, -0.02, 0.015)), np.array((-0.02, 0.01, 0.02))
    base = chain.solve(BENT, method="direct").displacements
    one = chain.solve(BENT, loads={0: {a: f}}, method="direct").displacements
    two = chain.solve(BENT, loads={2: {b: g}}, method="direct").displacements
    forth, back = g @ (one[2][b] - base[2][b]), f @ (two[0][a] - base[0][a])
    assert abs(forth) > 0.0
    validated(
        "Two loads on two zones of a chain",
        area="zones",
        quantity="mutual work",
        reference="Betti's theorem",
        error=abs(forth / back - 1),
        bound=1e-9,
    )


def test_the_order_of_zones_does_not_matter(three):
    zones, seams, chain = three
    other = ZoneChain(zones[::-1], [(b, a) for a, b in seams[::-1]], method="direct")
    at = top(zones[0], (0.01, 0.006, 0.012))
    one = chain.solve(BENT, loads={0: {at: (0.0, 0.0, -0.02)}}, method="direct")
    two = other.solve(BENT[::-1], loads={2: {at: (0.0, 0.0, -0.02)}})
    assert_same_places(one, two.positions()[::-1], 1e-12)
    np.testing.assert_allclose(one.seam_forces[0], -two.seam_forces[1], atol=1e-10)


def test_energy_is_the_work_of_loads(three, validated):
    zones, _, chain = three
    at = top(zones[1], (0.03, 0.006, 0.012))
    f = np.array((0.01, 0.0, -0.05))
    state = chain.solve([Pose()] * 3, loads={1: {at: f}}, method="direct")
    validated(
        "Load on a chain of zones",
        area="zones",
        quantity="energy",
        reference="Clapeyron: half the work",
        error=abs(state.energy / (0.5 * f @ state.displacements[1][at]) - 1),
        bound=1e-10,
    )


# --------------------------------------------------------------------------------------------------- touch, many zones


def test_touch_is_a_solve_with_the_probes_force(three):
    zones, seams, chain = three
    where = (0.021, 0.006, 0.012)  # near a seam
    wanted = np.array((1e-4, 0.0, -4e-4))
    untouched = chain.solve(BENT, method="direct")
    state = chain.touch(1, where, poses=BENT, displacement=wanted, radius=0.008, method="direct")
    patch = state.probe
    loads = {int(v): w * state.force for v, w in zip(patch.vertices, patch.weights, strict=True)}
    loads = {v: f for v, f in loads.items() if v not in set(zones[1].fixed.tolist())}
    want = dense(zones, chained(seams), BENT, [(1, v, f) for v, f in loads.items()])
    assert_same_places(state, want, 1e-12)
    moved = patch.weights @ (state.displacements[1] - untouched.displacements[1])[patch.vertices]
    np.testing.assert_allclose(moved, wanted, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(patch.displacement, wanted, atol=1e-15)
    # The chain gives way more than a zone whose seams are held still, and less than the zone alone.
    alone = zones[1].touch(where, displacement=wanted, radius=0.008)
    assert np.linalg.eigvalsh(alone.probe.compliance - patch.compliance)[0] > 0.0
    pushed = chain.touch(1, where, poses=BENT, force=state.force, radius=0.008)
    np.testing.assert_allclose(pushed.probe.displacement, wanted, atol=1e-10)
    sliding = chain.touch(1, where, poses=BENT, displacement=(None, None, -4e-4), radius=0.008)
    assert sliding.force[0] == sliding.force[1] == 0.0


def gaps(state, shape):
    """Signed distances of all vertices of the chain from the shape."""
    return np.concatenate([shape.signed_distance(places) for places in state.positions()])


@pytest.mark.parametrize("friction", [0.0, 0.4])
@pytest.mark.parametrize("method", ["direct", "sweeps"])
def test_pressing_across_a_seam(friction, method):
    zones, seams = far_pads()
    chain = ZoneChain(zones, seams, method=method)
    bend = Pose((0.05, 0.0, 0.0)) @ turned((0.0, 1.0, 0.0), -0.05) @ Pose((-0.05, 0.0, 0.0))
    poses = [Pose(), bend, bend]
    free = chain.solve(poses)
    above = free.positions()[0][seams[0][0]]
    above = above[above[:, 2] > above[:, 2].max() - 1e-3]
    highest = above[np.abs(above[:, 1] - above[:, 1].mean()).argmin()]
    ball = Sphere(np.add(highest, (0.0, 0.0, 0.0095)), 0.01)
    state = chain.press(ball, poses=poses, friction=friction)
    assert state.contact_report.converged and state.force[2] < 0.0
    assert len(state.patch) >= 1
    # The answer is that of the contact forces as loads, and no vertex is inside.
    loads = {}
    for z, vertices in state.patch.items():
        turn = poses[z].rotation
        loads[z] = {int(v): f @ turn for v, f in zip(vertices, state.contact_forces[z], strict=True)}
    assert_same_places(state, chain.solve(poses, loads=loads, method="direct").positions(), 1e-7)
    depth = -gaps(free, ball).min()
    assert depth > 4e-4 and gaps(state, ball).min() > -1e-6 * depth
    for z, vertices in state.patch.items():
        places = state.positions()[z][vertices]
        np.testing.assert_allclose(ball.signed_distance(places), 0.0, atol=1e-6 * depth)
        normal = (places - ball.centre) / np.linalg.norm(places - ball.centre, axis=1)[:, None]
        forces = state.contact_forces[z]
        along = np.einsum("ij,ij->i", forces, normal)
        tangential = np.linalg.norm(forces - along[:, None] * normal, axis=1)
        assert along.min() > 0.0 and (tangential <= friction * along + 1e-7 * along.max()).all()
    # Moved and turned together, shape and chain answer alike.
    whole = turned((1.0, 2.0, -0.5), 1.1, (0.3, -0.2, 0.1))
    there = chain.press(Sphere(whole @ ball.centre, 0.01), poses=[whole @ pose for pose in poses], friction=friction)
    np.testing.assert_allclose(there.force, whole.rotation @ state.force, rtol=1e-6, atol=1e-9)
    # Friction goes on from the state before: the ball drawn sideways drags the pads along.
    drawn = chain.press(
        Sphere(np.add(ball.centre, (0.0, 2e-5, 0.0)), 0.01), poses=poses, friction=friction, after=state
    )
    if friction:
        assert drawn.force[1] > state.force[1] + 1e-3 * abs(state.force[2])
    else:
        assert abs(drawn.force[1] - state.force[1]) < 0.05 * abs(state.force[2])
    # Each vertex sticks or slips, as its force says.
    for z, vertices in drawn.patch.items():
        forces, places = drawn.contact_forces[z], drawn.positions()[z][vertices]
        normal = (places - drawn.shape.centre) / np.linalg.norm(places - drawn.shape.centre, axis=1)[:, None]
        along = np.einsum("ij,ij->i", forces, normal)
        held = np.linalg.norm(forces - along[:, None] * normal, axis=1) < (1.0 - 1e-5) * friction * along
        np.testing.assert_array_equal(drawn.sticking[z], vertices[held])
        np.testing.assert_array_equal(drawn.slipping[z], vertices[~held])
    assert any(len(ids) for ids in drawn.sticking.values()) == bool(friction)
    lifted = chain.press(Sphere(np.add(highest, (0.0, 0.0, 0.02)), 0.01), poses=poses, friction=friction, after=state)
    assert not lifted.patch and not lifted.force.any() and not lifted.sticking and not lifted.slipping


def symmetric_pair(cells=(8, 4, 4)):
    """Two pads that meet at x = 0.02, the mirror images of each other, and their seam; the same in the other order."""
    pads = []
    for k in range(2):
        vertices, faces = block((0.02, 0.012, 0.012), cells, (0.02 * k, 0.0, 0.0))
        x = vertices[:, 0] / 0.02 - k
        held = (vertices[:, 2] < 1e-9) & (np.abs(x - 0.5) < 0.3 + 1e-9)
        pads.append(Zone.from_mesh(vertices, faces, material=SOFT, fixed=held))
    ends = [side(zone, 0.02) for zone in pads]
    return ZoneChain(pads, [tuple(ends)]), ZoneChain(pads[::-1], [tuple(ends[::-1])])


@pytest.mark.parametrize("friction", [0.0, 0.3, 0.8])
def test_pressing_over_a_seam_does_not_ask_which_zone_comes_first(friction):
    """A ball that comes straight down over the seam of two mirrored pads feels no pull along them."""
    there, back = symmetric_pair()
    ball = Sphere((0.02, 0.006, 0.0215), 0.01)
    one = there.press(ball, poses=[Pose()] * 2, friction=friction)
    two = back.press(ball, poses=[Pose()] * 2, friction=friction)
    # Zones see a seam from their own side: to what collocation makes of two triangulations
    np.testing.assert_allclose(one.force, two.force, atol=1e-7 * abs(one.force[2]))
    assert abs(one.force[0]) < 0.02 * abs(one.force[2])
    assert gaps(one, ball).min() > -1e-8 * 5e-4
    arms = [one.positions()[z][v] for z, ids in one.patch.items() for v in ids]
    forces = np.concatenate(list(one.contact_forces.values()))
    np.testing.assert_allclose(one.torque, np.cross(arms, forces).sum(axis=0), atol=1e-15)
    np.testing.assert_allclose(one.force, forces.sum(axis=0), atol=1e-15)


def test_seams_placed_by_the_skeleton_do_not_give_way():
    chain, _ = symmetric_pair()
    ball = Sphere((0.0185, 0.006, 0.0215), 0.01)
    state = chain.press(ball, poses=[Pose()] * 2, method="kinematic", throw=False)
    assert not state.contact_report.converged and "fixed" in state.contact_report.message
    with pytest.raises(InputError, match="can move"):
        chain.touch(0, (0.02, 0.006, 0.012), poses=[Pose()] * 2, displacement=(0, 0, -1e-4), radius=0.0,
                    method="kinematic")  # fmt: skip


def test_a_patch_ends_at_the_seam():
    """No part of a probe acts inside the body, and touching near the seam is about as stiff as far from it."""
    chain, _ = symmetric_pair()
    inner = np.zeros(len(chain.zones[0].vertices), dtype=bool)
    inner[chain.seams[0].vertices[0]] = True
    top_side = chain.zones[0].vertices[:, 2] > 0.012 - 1e-9
    for x in (0.0175, 0.019, 0.02):
        probe = chain.touch(0, (x, 0.006, 0.012), poses=[Pose()] * 2, displacement=(0, 0, -1e-4), radius=0.005).probe
        assert not np.any(inner[probe.vertices] & ~top_side[probe.vertices])
        normal = chain.zones[0]._surface.normals[probe.face]
        assert normal[2] == pytest.approx(1.0)


def test_turning_the_shape_turns_what_sticks(three):
    """A ball that is pressed in and then turned about its own axis drags the skin round with it."""
    zones, _, chain = three
    high = zones[1].vertices[:, 2].max()
    ball = Sphere((0.03, 0.006, high + 0.0085), 0.01)
    turn = ball.moved(ball.pose @ Pose((0, 0, 0), (np.cos(0.02), 0.0, 0.0, np.sin(0.02))) @ ball.pose.inverse())
    still = chain.press(ball, poses=[Pose()] * 3, friction=0.5, zone=1)
    turned_round = chain.press(turn, poses=[Pose()] * 3, friction=0.5, zone=1, after=still)
    before, after = (float((s.torque - np.cross(ball.centre, s.force))[2]) for s in (still, turned_round))
    assert abs(before) < 0.05 * after


def test_pressing_where_seams_are_far_is_pressing_the_zone(three):
    zones, _, chain = three
    ball = Sphere((0.05, 0.006, 0.0215), 0.01)
    apart = chain.press(ball, poses=[Pose()] * 3, method="kinematic", zone=2)
    joined = chain.press(ball, poses=[Pose()] * 3, method="direct", zone=[2])
    alone = zones[2].press(ball)
    # Seams held still are stiffer than joined ones, and those stiffer than none.
    assert apart.force[2] < joined.force[2] < alone.force[2] < 0.0
    assert joined.force[2] == pytest.approx(alone.force[2], rel=0.1)
    with pytest.raises(InputError, match="shape must be"):
        chain.press(3, poses=[Pose()] * 3)
    with pytest.raises(InputError, match="zone must be"):
        chain.press(ball, poses=[Pose()] * 3, zone=4)
    with pytest.raises(InputError, match="after must be"):
        chain.press(ball, poses=[Pose()] * 3, after=alone)


def test_sixty_four_zones():
    """A long row of one pad: far from its ends a load is felt as in a short row."""
    zone = pad(0.0, cells=(3, 2, 2), held=(0.2, 0.8))
    left, right = side(zone, 0.0), side(zone, SIZE[0])

    def row(count):
        rest = [Pose((k * SIZE[0], 0.0, 0.0)) for k in range(count)]
        chain = ZoneChain([zone] * count, [(right, left)] * (count - 1), rest_poses=rest)
        at = top(zone, (0.01, 0.006, 0.012))
        return chain, chain.solve(rest, loads={count // 2: {at: (0.0, 0.0, -0.05)}}, method="direct")

    short, few = row(9)
    long, many = row(64)
    np.testing.assert_allclose(
        many.displacements[32], few.displacements[4], atol=1e-6 * np.abs(few.displacements[4]).max()
    )
    assert np.abs(many.displacements[0]).max() < 1e-9 * np.abs(many.displacements[32]).max()
    assert long._system.structure.fill == 0
    per_seam = [len(chain._system.panels) / len(chain.seams) for chain in (short, long)]
    assert per_seam[1] < 1.15 * per_seam[0]


# --------------------------------------------------------------------------------------------------- how good it is


def tube(start, length, along, around=16, across=2, inner=0.004, outer=0.008):
    """A pad round a bone: a tube along x whose inner wall is fixed."""
    angle = 2.0 * np.pi * np.arange(around) / around
    ring = np.stack((np.zeros(around), np.cos(angle), np.sin(angle)), axis=1)
    x, radii = start + np.linspace(0.0, length, along + 1), np.linspace(inner, outer, across + 1)
    # A closed path of (x, radius) round the section: outer wall, far end, inner wall, near end.
    path = [(at, outer) for at in x[:-1]] + [(x[-1], r) for r in radii[:0:-1]]
    path += [(at, inner) for at in x[:0:-1]] + [(x[0], r) for r in radii[:-1]]
    vertices = np.concatenate([ring * (0.0, r, r) + (at, 0.0, 0.0) for at, r in path])
    faces = []
    for i in range(len(path)):
        a, b = i * around, (i + 1) % len(path) * around
        for j in range(around):
            k = (j + 1) % around
            faces += (
                [(a + j, b + j, a + k), (a + k, b + j, b + k)]
                if (i + j) % 2
                else [(a + j, b + k, a + k), (a + j, b + j, b + k)]
            )
    faces = np.array(faces)
    faces = faces if volume(vertices, faces) > 0.0 else faces[:, ::-1]
    fixed = np.flatnonzero(np.hypot(vertices[:, 1], vertices[:, 2]) < inner * 1.001)
    return Zone.from_mesh(vertices, faces, material=Material(5e4, 0.45, 1000.0), fixed=fixed)


def test_a_chain_against_one_mesh_of_it(validated):
    """Two tubes joined at a seam and one of twice the length: 0.5 % of the largest displacement, away from edges.

    The two are not the same: a boundary element solution in one piece knows nothing of the seam's inner vertices.
    """
    length = 0.016
    halves, whole = [tube(0.0, length, 6), tube(length, length, 6)], tube(0.0, 2.0 * length, 12)
    ends = [np.setdiff1d(side(zone, length), zone.fixed) for zone in halves]
    ends = [ids[np.lexsort(np.round(zone.vertices[ids], 9).T)] for ids, zone in zip(ends, halves, strict=True)]
    chain = ZoneChain(halves, [tuple(ends)])

    def push(zone):
        """A smooth pressure on top of the first half."""
        x = zone.vertices
        square = ((x - (0.5 * length, 0.0, 0.008)) ** 2).sum(axis=1) / 0.005**2
        on = np.flatnonzero((square < 1.0) & (np.hypot(x[:, 1], x[:, 2]) > 0.0079))
        return {int(v): (0.0, 0.0, -1000.0 * (1.0 - square[v])) for v in on}

    state = chain.solve([Pose()] * 2, tractions={0: push(halves[0])})
    want = whole.solve(tractions=push(whole))
    largest = np.abs(want.displacements).max()
    compared = 0
    for half, u in zip(halves, state.displacements, strict=True):
        for v, place in enumerate(half.vertices):
            distance = np.linalg.norm(whole.vertices - place, axis=1)
            if distance.min() < 1e-9:
                edge = abs(place[0] / length - round(place[0] / length)) < 0.2
                wrong = np.abs(u[v] - want.displacements[distance.argmin()]).max()
                assert wrong < (0.03 if edge else 0.005) * largest
                compared += 1
    assert compared > 300
    validated(
        "Chain of zones beside one mesh of it",
        area="zones",
        quantity="energy",
        reference="one solve of the whole mesh",
        error=abs(state.energy / want.energy - 1),
        bound=1e-3,
    )
    ball = Sphere((0.75 * length, 0.0, 0.0175), 0.01)
    pressed, alike = chain.press(ball, poses=[Pose()] * 2), whole.press(ball)
    np.testing.assert_allclose(pressed.force, alike.force, atol=0.01 * np.abs(alike.force).max())


@pytest.mark.parametrize("method", ["block_diagonal", "kinematic"])
@pytest.mark.parametrize("make", [row_of_pads, far_pads])
@pytest.mark.parametrize("left_out", [0, 1, 3])
def test_approximations_report_their_error(method, make, left_out):
    """Also where the nodes of a seam do not fill the vectors that they are kept in."""
    zones, seams = make()
    seams = [tuple(ids[: len(ids) - left_out] for ids in seam) for seam in seams]
    chain = ZoneChain(zones, seams, method=method)
    at = top(zones[1], (0.03, 0.006, 0.012))
    for poses in ([turned((0.0, 1.0, 0.0), 0.1 * k) for k in range(3)], BENT):
        exact = chain.solve(poses, loads={1: {at: (0.0, 0.0, -0.05)}}, method="direct")
        state = chain.solve(poses, loads={1: {at: (0.0, 0.0, -0.05)}})
        assert state.report.status == "approximate" and state.report.method == method
        true = np.linalg.norm(state._solved.v - exact._solved.v) / np.linalg.norm(exact._solved.v)
        assert true / 3.0 < state.report.error_estimate < 3.0 * true
        assert state.report.residual > 1e-6
        # Zones still meet: only the balance of forces is missing.
        for k, (one, other) in enumerate(seams):
            places = state.positions()
            np.testing.assert_allclose(places[k][one], places[k + 1][other], atol=1e-15)


# ----------------------------------------------------------------------------------------- meshes that differ, mistakes


def stretched_bar(cells):
    """Two halves of a bar with meshes that differ, held at the outer ends so that it can shrink across freely."""
    zones = []
    for k, mesh in enumerate(cells):
        vertices, faces = block((0.01, 0.01, 0.01), mesh, (0.01 * k, 0.0, 0.0))
        end = np.abs(vertices[:, 0] - 0.02 * k) < 1e-9
        zones.append(Zone.from_mesh(vertices, faces, material=SOFT, fixed=np.flatnonzero(end)))
    return zones


@pytest.mark.parametrize("cells", [((3, 2, 2), (3, 3, 3)), ((2, 4, 3), (3, 2, 3))])
def test_uniform_stress_passes_a_seam_between_meshes_that_differ(cells, validated):
    """Patch test: the ends are displaced as in uniaxial tension; both halves answer with exactly that field."""
    zones = stretched_bar(cells)
    chain = ZoneChain(zones, [(side(zones[0], 0.01), side(zones[1], 0.01))], method="direct", projection=True)
    strain = np.diag((1e-3, -0.4e-3, -0.4e-3))
    moves = {z: {int(v): strain @ zone.vertices[v] for v in zone.fixed} for z, zone in enumerate(zones)}
    state = chain.solve([Pose()] * 2, displacements=moves)
    for zone, u in zip(zones, state.displacements, strict=True):
        validated(
            "Patch test across a seam of meshes that differ",
            area="zones",
            quantity="displacement",
            reference="uniform strain",
            error=np.abs(u - zone.vertices @ strain).max() / 2e-5,
            bound=1e-10,
        )
    assert state.seam_forces[0].sum(axis=0) == pytest.approx((5e4 * 1e-3 * 1e-4, 0.0, 0.0), abs=1e-12)
    for solved in state.zones:
        # Integrals of boundary elements are good to 1e-6, and so are tractions.
        normal = np.einsum("fki,fi->fk", solved.corner_tractions, solved.zone._surface.normals)
        along = np.abs(solved.zone._surface.normals[:, 0])[:, None] > 0.5
        np.testing.assert_allclose(normal, np.where(along, 50.0, 0.0).repeat(3, 1), atol=50.0 * 1e-5)


def test_a_seam_between_meshes_that_differ_balances_and_is_nearly_the_conforming_one():
    zones = stretched_bar(((3, 4, 4), (3, 3, 3)))
    fine = stretched_bar(((3, 4, 4), (3, 4, 4)))
    poses = [Pose(), turned((0.0, 1.0, 0.0), 0.2, (0.0, 0.0, 0.002))]
    chain = ZoneChain(zones, [(side(zones[0], 0.01), side(zones[1], 0.01))])  # lengths differ: projected
    assert chain.seams[0].leader == 1 and chain.seams[0].gap < 1e-12
    same = ZoneChain(fine, [(side(fine[0], 0.01), side(fine[1], 0.01))])
    at = top(zones[0], (0.005, 0.005, 0.01))
    state, want = (c.solve(poses, loads={0: {at: (0.0, 0.0, -0.02)}}, method="direct") for c in (chain, same))
    # Measured: 0.8 % of the largest displacement in the first half, whose mesh is the same.
    largest = np.abs(want.displacements[0]).max()
    assert np.abs(state.displacements[0] - want.displacements[0]).max() < 0.03 * largest
    forces = [
        (solved.forces[ids] @ pose.rotation.T, pose @ zone.vertices[ids])
        for solved, ids, pose, zone in zip(state.zones, chain.seams[0].vertices, poses, zones, strict=True)
    ]
    # Forces balance, and so do moments about the places that the seam's nodes take.
    total = forces[0][0].sum(axis=0) + forces[1][0].sum(axis=0)
    assert np.abs(total).max() < 1e-10 * np.abs(forces[0][0]).max()
    torque = 0.0
    for (force, _), ids, places in zip(forces, chain.seams[0].vertices, state.positions(), strict=True):
        torque = torque + np.cross(places[ids], force).sum(axis=0)
    assert np.abs(torque).max() < 1e-9 * 0.01 * np.abs(forces[0][0]).max()
    # A touch reaches through it, too.
    touched = chain.touch(0, (0.009, 0.005, 0.01), poses=poses, force=(0.0, 0.01, -0.02), method="direct")
    patch = zip(touched.probe.vertices.tolist(), touched.probe.weights, strict=True)
    loads = {v: w * touched.force for v, w in patch if v not in zones[0].fixed}
    assert_same_places(touched, chain.solve(poses, loads={0: loads}, method="direct").positions(), 1e-11)
    pressed = chain.press(Sphere((0.009, 0.005, 0.0295), 0.02), poses=[Pose()] * 2)
    assert pressed.contact_report.converged and pressed.force[2] < 0.0


def test_projection_of_a_conforming_seam_is_the_conforming_seam():
    zones, seams = row_of_pads(2)
    state, same = (
        ZoneChain(zones, seams, projection=projection, method="direct").solve(BENT[:2]) for projection in (True, False)
    )
    assert_same_places(state, same.positions(), 1e-10)


def mistakes():
    return {
        "one zone": (lambda z, s: ZoneChain(z[:1], s), "zones must be a list of two"),
        "no zone": (lambda z, s: ZoneChain([z[0], 3], s[:1]), "zones must be a list of two"),
        "seams missing": (lambda z, s: ZoneChain(z, s[:1]), "seams must be 2 pairs"),
        "no seams": (lambda z, s: ZoneChain(z, []), "seams must be a list"),
        "mixed": (lambda z, s: ZoneChain(z, [s[0], (1, *s[1], 2)]), "seams must be all"),
        "order": (lambda z, s: ZoneChain(z, [s[0], (s[1][0], s[1][1][::-1])]), r"lie 0\.0[0-9]+ m apart.*rest_poses"),
        "repeated": (
            lambda z, s: ZoneChain(z, [(s[0][0][[0, 1, 1]], s[0][1][:3]), s[1]]),
            r"seams\[0\], zone 0, must name each",
        ),
        "fixed": (lambda z, s: ZoneChain(z, [(np.append(s[0][0], z[0].fixed[0]), s[0][1]), s[1]]), "which are fixed"),
        "unknown": (lambda z, s: ZoneChain(z, [(s[0][0] + 1000, s[0][1]), s[1]]), "vertex ids from 0 to"),
        "floats": (lambda z, s: ZoneChain(z, [(s[0][0] + 0.5, s[0][1]), s[1]]), "list of vertex ids"),
        "twice": (lambda z, s: ZoneChain(z, [(0, *s[0][:1], 1, s[0][1]), (1, s[0][1], 2, s[1][1])]), "is on seams"),
        "itself": (lambda z, s: ZoneChain(z, [(0, s[0][0], 0, s[0][1])]), "must join two zones"),
        "left out": (lambda z, s: ZoneChain(z, [(0, s[0][0], 1, s[0][1])]), "zone 2 .* has none"),
        "no such zone": (lambda z, s: ZoneChain(z, [(0, s[0][0], 7, s[0][1])]), "zones from 0 to 2"),
        "apart": (lambda z, s: ZoneChain([z[0], z[2]], [(s[0][0][:-1], s[1][1])]), "cover each other"),
        "no faces": (lambda z, s: ZoneChain(z, [(s[0][0][:2], s[0][1]), s[1]]), "whole faces"),
        "method": (lambda z, s: ZoneChain(z, s, method="magic"), "method must be one of"),
        "rest": (lambda z, s: ZoneChain(z, s, rest_poses=[Pose()]), "rest_poses must have a pose for each of 3"),
        "unheld": (lambda z, s: ZoneChain([z[0].with_fixed([]), *z[1:]], s), r"zones\[0\].*must be held"),
    }


@pytest.mark.parametrize("name", mistakes())
def test_mistakes_in_seams_are_named(three, name):
    zones, seams, _ = three
    call, message = mistakes()[name]
    with pytest.raises(InputError, match=message):
        call(zones, seams)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"poses": BENT[:2]}, "poses must have a pose for each of 3 zones, got 2"),
        ({"poses": [*BENT[:2], 1.0]}, r"poses\[2\] must be a sennit.Pose"),
        ({"poses": BENT, "loads": [1.0]}, "loads must be {zone"),
        ({"poses": BENT, "loads": {3: {0: (0, 0, 1)}}}, "zones from 0 to 2, got 3"),
        ({"poses": BENT, "loads": {1: {9999: (0, 0, 1)}}}, "zone 1 .*vertex"),
        ({"poses": BENT, "method": "fast"}, "method must be one of"),
    ],
)
def test_mistakes_in_solving_are_named_and_change_nothing(three, arguments, message):
    _, _, chain = three
    before = chain.solve(BENT).positions()
    with pytest.raises(InputError, match=message):
        chain.solve(**arguments)
    for a, b in zip(before, chain.solve(BENT).positions(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_vertices_on_seams_cannot_be_displaced(three):
    _, seams, chain = three
    with pytest.raises(InputError, match="zone 0 .*on seams free"):
        chain.solve(BENT, displacements={0: {int(seams[0][0][0]): (0.0, 0.0, 0.0)}})


def test_single_precision_is_good_for_drawing(three):
    _, _, chain = three
    exact = chain.solve(BENT).positions()
    drawn = chain.solve(BENT).positions(single=True)
    for a, b in zip(exact, drawn, strict=True):
        assert np.abs(a - b).max() < 1e-6 * 0.02


def test_few_modes_of_seams_are_near_the_whole_and_all_of_them_are_it():
    """Fewer unknowns by modes of the seams' stiffness; the report's estimate is of the size of the error."""
    zones = [pad(k * SIZE[0], cells=(4, 6, 6)) for k in range(3)]
    seams = [(side(zones[k], (k + 1) * SIZE[0]), side(zones[k + 1], (k + 1) * SIZE[0])) for k in range(2)]
    poses = [Pose(), turned((0, 1, 0), 0.2, (0.0, 0.0, 0.004)), turned((0, 1, 0), 0.4, (0.003, 0.0, 0.012))]
    loads = {1: {int(zones[1].vertices[:, 2].argmax()): (0.0, 0.0, -0.1)}}
    exact = ZoneChain(zones, seams).solve(poses, loads=loads, method="direct")
    largest = max(np.abs(u).max() for u in exact.displacements)
    ball = Sphere((0.03, 0.006, 0.0192), 0.008)
    pressed = ZoneChain(zones, seams).press(ball, poses=[Pose()] * 3, friction=0.3, method="direct")
    errors = []
    for modes in (8, 24, 52):
        chain = ZoneChain(zones, seams, method="modes", modes=modes)
        state = chain.solve(poses, loads=loads)
        assert state.report.method == "modes" and not state.report.converged
        pairs = zip(state.displacements, exact.displacements, strict=True)
        error = max(np.abs(a - b).max() for a, b in pairs) / largest
        gaps = [state.positions()[k][a] - state.positions()[k + 1][b] for k, (a, b) in enumerate(seams)]
        assert max(np.abs(gap).max() for gap in gaps) < 1e-12  # it moves in few shapes, and stays closed
        force = chain.press(ball, poses=[Pose()] * 3, friction=0.3).force
        touched = chain.touch(2, (0.05, 0.006, 0.012), poses=poses, displacement=(0, 0, -1e-3), radius=8e-3)
        wanted = chain.touch(
            2, (0.05, 0.006, 0.012), poses=poses, displacement=(0, 0, -1e-3), radius=8e-3, method="direct"
        )
        off = np.linalg.norm(touched.force - wanted.force) / np.linalg.norm(wanted.force)
        errors.append((error, off, float(np.linalg.norm(force - pressed.force) / np.linalg.norm(pressed.force))))
        if modes < 49:
            assert 0.1 * error < state.report.error_estimate < 10.0 * error
    assert errors[1][0] < 0.5 * errors[0][0] and max(errors[1][1:]) < 0.02
    assert max(errors[2]) < 1e-7  # 49 nodes, all of them
