"""Cables that come to lie on boxes, cylinders and spheres, and leave them: `cables.wrap`."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from sennit.bodies.point.table import Places
from sennit.constraints.cable.kernels import kinds as t
from sennit.constraints.cable.kernels.elements import clear_element, copy_element
from sennit.constraints.cable.kernels.path import place_path
from sennit.constraints.cable.kernels.wrap import inside, update_wraps
from sennit.constraints.cable.table import Cables, Elements, Obstacles

BOX, CYLINDER, SPHERE = t.EDGE, t.CYLINDER, t.SPHERE


class Cable:
    """A cable between two points that the test moves, with bodies in its way.

    Bodies are (shape, sizes, place, rotation); their points are rows 2 … of the places.
    """

    def __init__(self, p, q, *bodies, room=40):
        self.cables, self.elements = Cables(rows=1), Elements(rows=room)
        self.obstacles = Obstacles(rows=len(bodies))
        self.cables.count[0], self.cables.room[0], self.cables.obstacles[0] = 2, room, len(bodies)
        self.elements.carrier[:2], self.elements.obstacle[:2], self.elements.edge[:2] = (0, 1), -1, -1
        self.elements.on[:2] = 1
        self.places = Places(rows=2 + len(bodies))
        self.places.frame[:] = np.eye(3).ravel()
        for o, (shape, sizes, place, rotation) in enumerate(bodies):
            self.obstacles.point[o], self.obstacles.shape[o] = 2 + o, shape
            self.obstacles.size[o, : len(sizes)] = sizes
            self.put_body(o, place, rotation)
        self.p, self.q = p, q

    def put_body(self, o, place, rotation=None):
        self.places.position[2 + o] = place
        self.places.frame[2 + o] = (Rotation.identity() if rotation is None else rotation).as_matrix().ravel()

    def move(self, p=None, q=None):
        """Length with the ends at p and q."""
        self.p, self.q = self.p if p is None else p, self.q if q is None else q
        self.places.position[0], self.places.position[1] = self.p, self.q
        self.changed = update_wraps(0, self.cables, self.elements, self.obstacles, self.places)
        return place_path(0, self.cables, self.elements, self.places)

    @property
    def count(self):
        return int(self.cables.count[0])

    @property
    def kinds(self):
        return self.elements.kind[1 : self.count - 1].tolist()

    @property
    def edges(self):
        return self.elements.edge[1 : self.count - 1].tolist()

    @property
    def wrap(self):
        """Angles of wrap of the elements between the ends."""
        return (self.elements.wrap_before + self.elements.wrap_after)[1 : self.count - 1]

    def spans(self):
        """Starts and ends of the straight parts."""
        n = self.count
        return self.elements.leave[: n - 1].copy(), self.elements.arrive[1:n].copy()

    def deepest(self, samples=400):
        """How deep the spans pass through bodies, relative to their sizes; cylinders count as endless."""
        worst = 0.0
        along = np.linspace(0.0, 1.0, samples)[:, None]
        for a, b in zip(*self.spans(), strict=True):
            x = a + along * (b - a)
            for o in range(len(self.obstacles)):
                y = (x - self.places.position[2 + o]) @ self.places.frame[2 + o].reshape(3, 3)
                size = self.obstacles.size[o]
                if self.obstacles.shape[o] == BOX:
                    depth = (size - abs(y)).min(axis=1) / size.min()
                else:
                    y = y[:, :2] if self.obstacles.shape[o] == CYLINDER else y
                    depth = 1.0 - np.linalg.norm(y, axis=1) / size[0]
                worst = max(worst, depth.max())
        return worst


def box(sizes, place=(0, 0, 0), rotation=None):
    return BOX, sizes, place, rotation


def cylinder(radius, half, place=(0, 0, 0), rotation=None):
    return CYLINDER, (radius, half), place, rotation


def sphere(radius, place=(0, 0, 0)):
    return SPHERE, (radius,), place, None


def random_body(rng, x=0.0, shape=None):
    """A body within 0.6 of the plane through x: bodies in slabs of their own do not overlap."""
    place = np.array([x, *rng.uniform(-0.3, 0.3, 2)])
    match rng.choice([BOX, CYLINDER, SPHERE]) if shape is None else shape:
        case t.EDGE:
            return box(rng.uniform(0.1, 0.34, 3), place, Rotation.random(random_state=rng))
        case t.CYLINDER:
            turn = Rotation.from_rotvec([rng.uniform(-np.pi, np.pi), 0, 0])
            return cylinder(rng.uniform(0.1, 0.58), 100.0, place, turn)
        case _:
            return sphere(rng.uniform(0.1, 0.58), place)


def distance_out(cable, x):
    """Whether x is outside all bodies, endless cylinders included, by a margin."""
    for o in range(len(cable.obstacles)):
        y = (x - cable.places.position[2 + o]) @ cable.places.frame[2 + o].reshape(3, 3)
        size = cable.obstacles.size[o]
        if cable.obstacles.shape[o] == BOX:
            out = (abs(y) - size).max()
        else:
            out = np.linalg.norm(y[:2] if cable.obstacles.shape[o] == CYLINDER else y) - size[0]
        if out < 0.02:
            return False
    return True


# ---------------------------------------------------------------------------------------------------------------- boxes


def test_over_one_edge():
    p, q = np.array([2.0, -1.5, -0.3]), np.array([-1.0, 2.5, 0.5])
    cable = Cable(p, q, box((1.0, 1.0, 1.0)))
    length = cable.move()
    assert cable.changed == 1
    assert cable.kinds == [BOX]
    corner = np.array([1.0, 1.0])
    exact = np.hypot(np.linalg.norm(p[:2] - corner) + np.linalg.norm(q[:2] - corner), 0.8)
    assert length == pytest.approx(exact, abs=1e-14)
    own = cable.elements
    assert (own.kind[1], own.carrier[1], own.obstacle[1], own.divides[1], own.rotor[1]) == (t.EDGE, 2, 0, 0, 0)
    # arrives over the face x = 1, leaves over y = 1
    assert own.mark[1].tolist() == [1, 0, 0]
    assert own.normal[1].tolist() == [0, 1, 0]
    assert own.centre[1].tolist() == [1, 1, -1] and own.axis[1].tolist() == [0, 0, 2]
    assert cable.move() == length
    assert cable.changed == 0


def test_through_opposite_faces():
    p, q = np.array([-3.0, 0.1, 0.4]), np.array([2.0, -0.2, 0.6])
    cable = Cable(p, q, box((1.0, 2.0, 0.8)))
    length = cable.move()
    assert cable.kinds == [BOX, BOX]
    # over the face z = 0.8, which is nearest
    exact = np.hypot(np.hypot(2.0, 0.4) + 2.0 + np.hypot(1.0, 0.2), 0.3)
    assert length == pytest.approx(exact, abs=1e-13)


def test_slips_over_a_vertex():
    """The cable lies on a vertical edge and rises; above the box it is free, and the length drops."""
    cable = Cable(np.array([2.0, -1.0, 0.0]), np.array([-1.0, 2.0, 0.0]), box((1.0, 1.0, 1.0)))
    bent, straight = 2 * np.sqrt(5.0), 3 * np.sqrt(2.0)
    for z in np.linspace(0.0, 1.2, 241):
        length = cable.move(np.array([2.0, -1.0, z]), np.array([-1.0, 2.0, z]))
        if abs(z - 1.0) > 1e-9:
            assert length == pytest.approx(bent if z < 1.0 else straight, abs=1e-12)
            assert cable.count == (3 if z < 1.0 else 2)


def test_vertex_leads_to_other_edges():
    """Past a vertex the cable does not come free but goes over the third face."""
    cable = Cable(np.array([2.0, -0.9, 0.0]), np.array([-0.9, 2.0, -3.0]), box((1.0, 1.0, 1.0)))
    cable.move()
    seen = {tuple(cable.edges)}
    for s in np.linspace(0.0, 1.0, 401):
        length = cable.move(np.array([2.0, -0.9, 3.0 * s]), np.array([-0.9, 2.0, -3.0 * (1 - s) + 0.9 * s]))
        seen.add(tuple(cable.edges))
        assert cable.deepest() < 1e-6
        assert length >= np.linalg.norm(cable.p - cable.q) * (1.0 - 1e-15)  # but for rounding
    assert len(seen) >= 2


@pytest.mark.parametrize("bodies", [[box((0.5, 0.7, 0.6))], [sphere(0.5)], [cylinder(0.5, 2.0)]])
def test_length_is_continuous_through_touch_and_release(bodies):
    """A fine sweep of one end into the body and out again: no jump, and nothing of the past stays."""
    p = np.array([2.0, -0.8, 0.1])
    cable = Cable(p, p, *bodies)
    ways = 1.0 - np.cos(np.linspace(0.0, 2.0 * np.pi, 4001))
    lengths, counts = [], []
    for way in ways:
        q = np.array([-1.0, 3.0 - 1.5 * way, 0.2])
        lengths.append(cable.move(q=q))
        counts.append(cable.count)
    lengths = np.array(lengths)
    assert counts[0] == counts[-1] == 2
    assert max(counts) > 2
    np.testing.assert_allclose(lengths, lengths[::-1], atol=1e-9)
    # 1-Lipschitz in the end's way; by second differences no kink either, for length and slope are continuous
    moved = abs(np.diff(1.5 * ways))
    assert (abs(np.diff(lengths)) <= moved + 1e-9).all()
    events = np.flatnonzero(np.diff(counts))
    step = moved.max()
    for i in events:
        assert abs(lengths[i - 1] - 2 * lengths[i] + lengths[i + 1]) < 20 * step**2


def shortest_round_box(p, q, h):
    """Shortest way over up to three edges of a box, by minimising over points on them and testing for the inside."""
    edges = []
    for d in range(3):
        for signs in itertools.product((-1, 1), repeat=2):
            a, v = np.zeros(3), np.zeros(3)
            a[[(d + 1) % 3, (d + 2) % 3]] = h[(d + 1) % 3] * signs[0], h[(d + 2) % 3] * signs[1]
            a[d], v[d] = -h[d], 2 * h[d]
            edges.append((a, v))
    along = np.linspace(0.0, 1.0, 300)[:, None]

    def nodes(u, chain):
        return np.array([p, *(edges[k][0] + s * edges[k][1] for k, s in zip(chain, u, strict=True)), q])

    best = np.inf
    for number in (0, 1, 2, 3):
        for chain in itertools.permutations(range(12), number):
            # neighbours share a face
            mids = [edges[k][0] + 0.5 * edges[k][1] for k in chain]
            if any(not (abs(0.5 * (a + b) / h) > 0.99).any() for a, b in itertools.pairwise(mids)):
                continue

            def length(u, chain=chain):
                return np.linalg.norm(np.diff(nodes(u, chain), axis=0), axis=1).sum()

            u = np.full(number, 0.5)
            if number:
                # a node that moves by up to half its edge shortens the way by no more than twice that
                least = np.linalg.norm(np.diff([p, *mids, q], axis=0), axis=1).sum()
                if least - sum(np.linalg.norm(edges[k][1]) for k in chain) > best:
                    continue
                u = minimize(length, u, bounds=[(0, 1)] * number, method="L-BFGS-B", options={"ftol": 1e-15}).x
            x = nodes(u, chain)
            if length(u) < best:
                y = np.concatenate([a + along * (b - a) for a, b in itertools.pairwise(x)])
                if (h - abs(y)).min(axis=1).max() < 1e-6:
                    best = length(u)
    return best


@pytest.mark.parametrize("seed", range(8))
def test_shortest_way_round_a_box(seed):
    """A cable laid anew through a box finds the shortest of all ways, or one that is locally so and little longer."""
    rng = np.random.default_rng(seed)
    h = rng.uniform(0.3, 1.0, 3)
    p = rng.normal(size=3)
    p *= rng.uniform(1.1, 2.0) / (abs(p) / h).max()
    q = -p + 0.3 * rng.normal(size=3)
    q *= max(1.0, 1.1 / (abs(q) / h).max())
    length = Cable(p, q, box(h)).move()
    assert length == pytest.approx(shortest_round_box(p, q, h), rel=1e-7)


def test_winds_round_a_box():
    cable = Cable(np.array([0.8, -4.0, 0.0]), np.zeros(3), box((0.5, 0.5, 3.0)))
    for angle in np.linspace(-0.5 * np.pi, 6.0 * np.pi, 1000):
        cable.move(q=2.0 * np.array([np.cos(angle), np.sin(angle), 0.0]))
        assert cable.deepest(50) < 1e-6
    assert cable.count - 2 in (12, 13)
    for angle in np.linspace(6.0 * np.pi, -0.5 * np.pi, 1000):
        length = cable.move(q=2.0 * np.array([np.cos(angle), np.sin(angle), 0.0]))
    assert cable.count == 2
    assert length == pytest.approx(np.linalg.norm(cable.p - cable.q), abs=1e-14)


# ------------------------------------------------------------------------------------------------------ round bodies


def test_sphere_is_exact():
    p, q, r = np.array([2.0, 0.3, -0.1]), np.array([-1.5, 0.1, 0.4]), 0.6
    cable = Cable(p, q, sphere(r))
    length = cable.move()
    assert cable.kinds == [SPHERE]
    a, b = np.linalg.norm(p), np.linalg.norm(q)
    around = np.arccos(p @ q / a / b) - np.arccos(r / a) - np.arccos(r / b)
    assert length == pytest.approx(np.sqrt(a * a - r * r) + np.sqrt(b * b - r * r) + r * around, abs=1e-14)


@pytest.mark.parametrize("side", [1, -1])
def test_cylinder_on_the_side_of_the_segment(side):
    p, q, r = np.array([2.0, 0.2 * side, -0.1]), np.array([-1.5, 0.1 * side, 0.4]), 0.6
    cable = Cable(p, q, cylinder(r, 5.0))
    length = cable.move()
    assert cable.kinds == [CYLINDER]
    assert cable.elements.sense[1] == side
    assert side * cable.elements.arrive[1, 1] > 0
    a, b = np.linalg.norm(p[:2]), np.linalg.norm(q[:2])
    around = np.arccos(p[:2] @ q[:2] / a / b) - np.arccos(r / a) - np.arccos(r / b)
    flat = np.sqrt(a * a - r * r) + np.sqrt(b * b - r * r) + r * around
    assert length == pytest.approx(np.hypot(flat, 0.5), abs=1e-14)
    assert cable.wrap[0] == pytest.approx(around, abs=1e-14)


@pytest.mark.parametrize(("turns", "sense"), [(1, 1), (3, 1), (3, -1)])
def test_winds_round_a_cylinder(turns, sense):
    r, far = 0.5, 2.0
    cable = Cable(np.array([0.7 * sense, -3.0, 0.0]), np.zeros(3), cylinder(r, 1.0))
    angles = np.linspace(-0.5 * np.pi, 2 * np.pi * turns, 150 * turns)
    straight = np.sqrt(far**2 - r**2)
    for angle in angles:
        length = cable.move(q=far * np.array([sense * np.cos(angle), np.sin(angle), 0.0]))
        assert cable.count in (2, 3)
    start = np.arctan2(-3.0, 0.7) + np.arccos(r / np.hypot(3.0, 0.7))
    wrap = 2 * np.pi * turns - np.arccos(r / far) - start
    assert cable.wrap[0] == pytest.approx(wrap, abs=1e-12)
    assert length == pytest.approx(np.sqrt(0.7**2 + 9.0 - r**2) + r * wrap + straight, abs=1e-12)
    for angle in angles[::-1]:
        cable.move(q=far * np.array([sense * np.cos(angle), np.sin(angle), 0.0]))
    assert cable.count == 2


def test_turning_drum_winds_a_cable_that_ends_beyond_it():
    """The drum's own turning leaves a frictionless cable where it is."""
    cable = Cable(np.array([0.3, -3.0, 0.0]), np.array([0.3, 3.0, 0.0]), cylinder(0.5, 1.0))
    length = cable.move()
    for angle in np.linspace(0.0, 20.0, 200):
        cable.put_body(0, (0, 0, 0), Rotation.from_rotvec([0, 0, angle]))
        assert cable.move() == pytest.approx(length, abs=1e-13)


def test_cylinder_ends():
    """Both contacts past the same end: the cable is free."""
    cable = Cable(np.array([2.0, 0.2, 0.0]), np.array([-2.0, 0.2, 0.0]), cylinder(0.5, 1.0))
    for z in np.linspace(0.0, 1.5, 31):
        cable.move(np.array([2.0, 0.2, z]), np.array([-2.0, 0.2, z]))
        if abs(z - 1.0) > 1e-9:
            assert cable.count == (3 if z < 1.0 else 2)
    # through the cap, from above the cylinder to its side: no way round it is known
    assert np.isfinite(cable.move(np.array([0.1, 0.0, 2.0]), np.array([2.0, 0.1, -0.5])))


def test_end_that_comes_over_the_cap_frees_the_cable():
    cable = Cable(np.array([2.0, 0.2, 0.9]), np.array([-2.0, 0.2, 0.9]), cylinder(0.5, 1.0))
    cable.move()
    assert cable.kinds == [CYLINDER]
    for s in np.linspace(0.0, 1.0, 50):
        assert np.isfinite(cable.move(q=np.array([-2.0 + 1.9 * s, 0.2, 0.9 + 0.3 * s])))
    assert cable.count == 2


# --------------------------------------------------------------------------------------------------------- everything


def test_two_bodies_at_once():
    p, q = np.array([-3.0, 0.0, 0.0]), np.array([3.0, 0.1, 0.0])
    cable = Cable(p, q, cylinder(0.5, 2.0, (-1.0, -0.2, 0.0)), box((0.4, 0.5, 2.0), (1.0, 0.3, 0.0)))
    length = cable.move()
    assert cable.kinds == [CYLINDER, BOX, BOX]
    assert cable.deepest() < 1e-6
    # in the plane z = 0: over the cylinder, under the box
    c, r = np.array([-1.0, -0.2]), 0.5
    corner = np.array([0.6, -0.2])
    a, b = np.linalg.norm(p[:2] - c), np.linalg.norm(corner - c)
    around = np.arccos((p[:2] - c) @ (corner - c) / a / b) - np.arccos(r / a) - np.arccos(r / b)
    exact = np.sqrt(a * a - r * r) + r * around + np.sqrt(b * b - r * r) + 0.8 + np.hypot(1.6, 0.3)
    assert length == pytest.approx(exact, abs=1e-13)


def test_rows_of_other_elements_stay():
    """Elements that the cable has of its own are kept, in order, with all that stands in their rows."""
    cable = Cable(np.array([-2.0, 0.0, 0.0]), np.array([2.0, 0.0, 0.0]), sphere(0.5, (1.0, 0.1, 0.0)))
    own = cable.elements
    copy_element(1, 2, own)
    cable.places = Places.joined((cable.places, cable.places.part(0, 1)))
    cable.places.position[3] = 0.0, 0.5, 0.0
    own.carrier[1], own.feed[1], own.feed[2] = 3, 7.0, 8.0
    cable.cables.count[0] = 3
    cable.move()
    assert cable.kinds == [t.END, SPHERE]
    assert own.feed[:4].tolist() == [0.0, 7.0, 0.0, 8.0]
    cable.put_body(0, (1.0, 5.0, 0.0))
    cable.move()
    assert cable.kinds == [t.END]
    assert own.feed[:3].tolist() == [0.0, 7.0, 8.0]


def test_an_element_moves_with_all_its_numbers():
    """But for what solves keep there while they work."""
    elements = Elements(rows=3)
    for k, field in enumerate(elements.fields().values()):
        field[...] = np.arange(1, field.size + 1).reshape(field.shape) + 1000 * k
    copy_element(0, 2, elements)
    clear_element(1, elements)
    for name, field in elements.fields().items():
        if not name.startswith(("slide_", "adjoint")):
            assert (field[2] == field[0]).all() and (field[1] == 0).all(), name


@pytest.mark.parametrize("room", [2, 3, 4])
def test_room_runs_out(room):
    cable = Cable(np.array([-3.0, 0.1, 0.0]), np.array([3.0, 0.0, 0.1]), sphere(0.5, (-1, 0, 0)),
                  box((0.5, 0.6, 0.7), (1, 0, 0)), room=room)  # fmt: skip
    length = cable.move()
    assert cable.count <= room
    assert length >= 6.0


def test_inside():
    turn = Rotation.from_rotvec([0.3, -0.2, 0.9])
    place = np.array([0.3, -0.1, 0.2])
    cable = Cable(place, place, box((0.5, 0.6, 0.7), place, turn), cylinder(0.4, 0.8, place, turn), sphere(0.9, place))
    for body, edge in ((0, (0, 0.6, 0)), (1, (0.4 * np.sin(1.0), 0.4 * np.cos(1.0), 0.1)), (1, (0, 0, 0.8)),
                       (2, (0, 0, -0.9))):  # fmt: skip
        for scale, expected in ((1 - 1e-6, 1), (1 + 1e-6, 0), (1 - 1e-10, 0)):
            x = place + turn.apply(scale * np.array(edge))
            assert inside(body, cable.obstacles, cable.places, tuple(x)) == expected


def sweep(seed, bodies, steps, size):
    """A cable whose ends wander between random bodies: (largest rise of the length beyond what the ends moved, deepest
    span, shortfall against the straight distance)."""
    rng = np.random.default_rng(seed)
    middle = 0.5 * (bodies - 1)
    cable = Cable(None, None, *(random_body(rng, 1.25 * (k - middle)) for k in range(bodies)))
    ends = []
    while len(ends) < 2:
        x = rng.normal(size=3)
        x *= (1.0 + 0.5 * bodies) / np.linalg.norm(x)
        if distance_out(cable, x):
            ends.append(x)
    old = cable.move(*ends)
    speeds = rng.normal(size=(2, 3))
    rise, deep, short = 0.0, 0.0, 0.0
    for _ in range(steps):
        speeds += 0.3 * rng.normal(size=(2, 3)) - 0.3 * np.array(ends)
        speeds /= np.linalg.norm(speeds, axis=1)[:, None]
        moved = 0.0
        for k in range(2):
            x = ends[k] + size * speeds[k]
            if distance_out(cable, x):
                ends[k], moved = x, moved + size
            else:
                speeds[k] *= -1.0
        length = cable.move(*ends)
        assert np.isfinite(length)
        rise, deep = max(rise, length - old - moved), max(deep, cable.deepest(40))
        short = max(short, np.linalg.norm(ends[0] - ends[1]) - length)
        old = length
    return rise, deep, short


@pytest.mark.parametrize(("bodies", "size"), [(1, 0.02), (1, 0.3), (2, 0.05), (3, 0.1)])
def test_random_sweeps(bodies, size):
    """1,000 cables in all: outside the bodies, never shorter than straight, and no longer than the ends moved.

    Drops are not bounded: the cable may slip over a vertex of a box.
    """
    for seed in range(250):
        rise, deep, short = sweep(seed, bodies, 40, size)
        assert rise < 1e-9, seed
        assert deep < 1e-6, seed
        assert short < 1e-12, seed


def test_moving_bodies():
    """Bodies that turn and travel under a cable at rest."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        cable = Cable(np.array([-3.0, 0.1, 0.2]), np.array([3.0, -0.1, 0.1]), *(random_body(rng, x) for x in (-1, 1)))
        axes, ways = rng.normal(size=(2, 3)), rng.normal(size=2)
        starts = [Rotation.from_matrix(cable.places.frame[2 + o].reshape(3, 3)) for o in range(2)]
        for s in np.linspace(0.0, 1.0, 60):
            for o, x in enumerate((-1, 1)):
                spun = Rotation.from_rotvec(
                    3.0 * s * (axes[o] if cable.obstacles.shape[o] == BOX else np.array([1, 0, 0]))
                )
                cable.put_body(o, (x, 2.0 * (s - 0.5) * ways[o], 0.1), spun * starts[o])
            length = cable.move()
            assert 6.0 < length < 12.0
            assert cable.deepest(60) < 1e-6
