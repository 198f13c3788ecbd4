"""Contacts of rods with rods, against dense samples of curves that SciPy evaluates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage
from unit.contact.ropes import Ropes, minima, rod_along
from unit.contact.shapes_of_rods import overhand, ring, smooth, twisted_pair

from sennit.contact.kernels.closest import closest_pair
from sennit.contact.table import Contacts

R = 0.01
"""Radius of most rods, m."""


def crossings(rows):
    return [row for row in rows if row["first_feature"] % 2 == 0]


def feet(rows):
    return [row for row in rows if row["first_feature"] % 2 == 1]


def deep_places(ropes, a, b, depth, per_span=24):
    """u of rod a, and v of rod b, wherever the rods overlap by more than `depth` · radius, on a dense grid.

    With itself a rod overlaps all along, where u and v are near: a place counts if no way through overlaps leads there.
    """
    u = np.linspace(0, ropes.rods[a].tables.spans, ropes.rods[a].tables.spans * per_span + 1)
    v = np.linspace(0, ropes.rods[b].tables.spans, ropes.rods[b].tables.spans * per_span + 1)
    d = np.linalg.norm(ropes.curve(a, u)[:, None] - ropes.curve(b, v)[None], axis=-1)
    r = 0.5 * (ropes.radius(a) + ropes.radius(b))
    overlap = d < 2 * r - depth * r
    if a == b:
        parts, _ = ndimage.label(overlap, np.ones((3, 3)))
        overlap &= ~np.isin(parts, (parts[0, 0], parts[0, -1]))
        overlap &= u[:, None] < v[None]
    return [(u[i], v[j]) for i, j in np.argwhere(overlap)]


def farthest_from_rows(places, rows, rods):
    """The largest way, in spans of the coarser rod, from one of the places to the nearest contact, along that rod."""
    if not places:
        return 0.0
    at = np.array([(row["first_at"], row["second_at"]) for row in rows]).reshape(-1, 2)
    places = np.array(places)
    way = np.abs(places[:, None] - at[None])
    for side, rod in enumerate(rods):
        if rod.closed:
            way[..., side] = np.minimum(way[..., side], rod.tables.spans - way[..., side])
    arcs = [rod.length / rod.tables.spans for rod in rods]
    way = way * arcs / max(arcs)
    near = way[..., 1 - int(arcs[0] >= arcs[1])].copy()
    near[way.max(axis=-1) > 3.0] = np.inf  # a contact of another place
    return float(np.max(np.min(near, axis=1, initial=np.inf)))


def test_what_a_row_says():
    """Two straight rods that cross: everything is known."""
    a = rod_along([(-1, 0, 0), (1, 0, 0)], 0.02, 10)
    b = rod_along([(0.3, -1, 0.045), (0.3, 1, 0.045)], 0.03, 8)
    (row,) = Ropes([a, b], margin=0.0).found()
    np.testing.assert_allclose(row["first_place"], (0.3, 0, 0.02), atol=1e-12)
    np.testing.assert_allclose(row["second_place"], (0.3, 0, 0.015), atol=1e-12)
    np.testing.assert_allclose(row["normal"], (0, 0, -1), atol=1e-12)
    assert row["gap"] == pytest.approx(-0.005, abs=1e-12)
    assert row["first_at"] == pytest.approx(6.5, abs=0.05)
    assert (row["first_feature"] // 2, row["first_feature"] % 2, row["at_start"], row["law"]) == (6, 0, 1, 1)


@pytest.mark.parametrize("models", [("spline", "spline"), ("spline", "discrete"), ("discrete", "discrete")])
@pytest.mark.parametrize("spans", [(20, 20), (16, 33)])
def test_crossings_are_the_minima_of_the_distance(models, spans):
    """Every strict minimum within the margin where rods cross is a row, and every such row is a minimum."""
    rng = np.random.default_rng(3)
    compared = 0
    for _ in range(24):
        rods = [rod_along(smooth(rng), R, n, model=model) for n, model in zip(spans, models, strict=True)]
        ropes = Ropes(rods, margin=0.2)
        # self-contacts are another test
        ropes.colliders.law[0, 0] = ropes.colliders.law[1, 1] = 0
        rows = crossings(ropes.found())
        for u, v, d in minima(ropes, 0, 1, 0.19 + 2 * R):
            e = 1e-4
            x, y = ropes.curve(0, [u - e, u + e]), ropes.curve(1, [v - e, v + e])
            t, w = (np.diff(p, axis=0)[0] / np.linalg.norm(np.diff(p, axis=0)) for p in (x, y))
            if 1.0 - (t @ w) ** 2 < 0.02:
                continue  # side by side: feet
            near = [row for row in rows if abs(row["first_at"] - u) < 0.05 and abs(row["second_at"] - v) < 0.05]
            if not near:  # a deeper one within half a span stands for it
                arc = max(ropes.arc(0), ropes.arc(1))
                near = [
                    row for row in rows
                    if abs(row["first_at"] - u) * ropes.arc(0) < 0.6 * arc
                    and abs(row["second_at"] - v) * ropes.arc(1) < 0.6 * arc and row["gap"] <= d - 2 * R
                ]  # fmt: skip
                assert near, (u, v, d)
                continue
            # The reference stops short where edges meet.
            assert d - 2 * R - (1e-7 if models == ("spline", "spline") else 1e-4) < near[0]["gap"] < d - 2 * R + 1e-7
            compared += 1
    assert compared > 12


@pytest.mark.parametrize("model", ["spline", "discrete"])
def test_nothing_deep_is_missed(model):
    """Every overlap deeper than 0.05 r has a row, and where it is no deeper than r/2, one near each of its places."""
    rng = np.random.default_rng(5)
    overlaps = 0
    worst = 0.0
    for case in range(80):
        radius = rng.uniform(0.02, 0.05)
        spans = rng.integers(8, 40, 2)
        rods = [rod_along(smooth(rng, 0.8, 4), radius, int(n), model=model) for n in spans]
        ropes = Ropes(rods, margin=0.2 * radius)
        rows = ropes.found()
        for a, b in ((0, 1), (0, 0), (1, 1)):
            own = [row for row in rows if row["rods"] == (a, b)]
            places = deep_places(ropes, a, b, 0.05, 12)
            overlaps += bool(places)
            if places:
                assert own, (case, a, b, places[:3])
                u, v = np.transpose(places)
                if np.linalg.norm(ropes.curve(a, u) - ropes.curve(b, v), axis=-1).min() > 1.5 * radius:
                    worst = max(worst, farthest_from_rows(places, own, (rods[a], rods[b])))
    # Between a closest pair and the first foot that is not left out, 0.6 to 1.6 spans from it.
    assert overlaps > 25 and worst < 0.85


def test_swapped_rods_have_the_same_crossings():
    rng = np.random.default_rng(7)
    for _ in range(10):
        one, two = rod_along(smooth(rng), R, 14), rod_along(smooth(rng), 1.5 * R, 23)
        there = Ropes([one, two], margin=0.1).found()
        back = Ropes([two, one], margin=0.1).found()
        there, back = ([row for row in rows if row["rods"] == (0, 1)] for rows in (there, back))
        assert len(there) == len(back)
        key = [(row["first_feature"], row["second_feature"]) for row in there]
        turned = {(row["second_feature"], row["first_feature"]): row for row in back}
        assert sorted(key) == sorted(turned)
        for row in there:
            other = turned[row["first_feature"], row["second_feature"]]
            np.testing.assert_allclose(row["normal"], -other["normal"], atol=1e-6)
            np.testing.assert_allclose(row["first_place"], other["second_place"], atol=1e-8)


def test_moved_ropes_have_the_same_contacts():
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(9)
    ropes = Ropes([rod_along(smooth(rng), R, 20) for _ in range(5)], margin=0.1)
    before = ropes.found()
    turn, way = Rotation.random(random_state=1).as_matrix(), np.array((3.0, -2.0, 5.0))
    for i in range(5):
        ropes[i][:, :3] = ropes[i][:, :3] @ turn.T + way
    after = ropes.found()
    assert len(before) == len(after) > 5
    for one, two in zip(before, after, strict=True):
        assert (one["first_feature"], one["second_feature"]) == (two["first_feature"], two["second_feature"])
        assert one["gap"] == pytest.approx(two["gap"], abs=1e-9)
        np.testing.assert_allclose(turn @ one["normal"], two["normal"], atol=1e-6)
        np.testing.assert_allclose(turn @ one["first_place"] + way, two["first_place"], atol=1e-8)


@pytest.mark.parametrize("model", ["spline", "discrete"])
@pytest.mark.parametrize("finer", [1, 2])
def test_a_braid_has_one_contact_a_span(model, finer):
    """Two helices that touch all along: one row for each span of the coarser, none twice, no stretch of a span free."""
    points = twisted_pair(R, 30 * R, 90 * R, 1.98 * R)
    one, two = rod_along(points[0], R, 30, model=model), rod_along(points[1], R, 30 * finer, model=model)
    ropes = Ropes([one, two], margin=0.3 * R)
    rows = [row for row in ropes.found() if row["rods"] == (0, 1)]
    at = np.sort([row["first_at"] for row in rows])
    assert at[0] < 1.0 and at[-1] > 29.0
    assert np.diff(at).max() < 1.5 and np.diff(at).min() > 0.45
    assert len(feet(rows)) >= 28 and len(rows) <= 31


def test_an_overhand_knot_has_contacts_all_along():
    """A knot whose strands touch: wherever they overlap, a row is within a span."""
    for loop in (6.0, 7.0, 9.0):
        knot = rod_along(overhand(R, loop), R, 70)
        ropes = Ropes([knot], margin=0.2 * R)
        rows = ropes.found()
        places = deep_places(ropes, 0, 0, 0.02, 12)
        assert places
        assert farthest_from_rows(places, rows, (knot, knot)) < 0.85
        at = np.array([(row["first_at"], row["second_at"]) for row in rows])
        apart = np.max(np.abs(at[:, None] - at[None]), axis=-1) + 9.0 * np.eye(len(at))
        assert len(rows) > 2 and apart.min() > 0.45


def test_straight_and_curled_rods_do_not_touch_themselves():
    """Neighbouring spans are no contact, however short spans are and however wide the margin is."""
    for spans in (5, 20, 80):
        for margin in (0.2 * R, 10 * R, 100 * R):
            straight = rod_along([(0, 0, 0), (0.7, 0.2, 0.1)], R, spans)
            assert not Ropes([straight], margin=margin).found()
    loop = rod_along(ring(10 * R), R, 24, closed=True)
    assert not Ropes([loop], margin=5 * R).found()
    helix = rod_along(twisted_pair(R, 12 * R, 60 * R, 12 * R)[0], R, 60)
    assert not Ropes([helix], margin=R).found()


def test_closed_rods_touch_across_their_seam():
    """Two rings one above the other: one contact a span all round, and one where a rope lies across the seam."""
    low, high = rod_along(ring(0.2), R, 24, closed=True), rod_along(ring(0.2, (0, 0, 1.9 * R)), R, 24, closed=True)
    rows = Ropes([low, high], margin=0.1 * R).found()
    assert len(rows) == 24 and sorted(row["first_feature"] // 2 for row in rows) == list(range(24))
    for shift in (-0.4, 0.0, 0.3):
        across = rod_along([(0, 0, 2 * R), (0.4, 0, 2 * R)], R, 10)
        ropes = Ropes([low, across], margin=0.1 * R)
        points = ropes[0].copy()
        # where the seam is: the place u = 0 turned to the rope
        angle = np.arctan2(*ropes.curve(0, [0.0 + shift])[0][1::-1])
        c, s = np.cos(-angle), np.sin(-angle)
        ropes[0][:, :2] = points[:, :2] @ np.array(((c, s), (-s, c)))
        (row,) = ropes.found()
        assert (row["first_at"] - shift + 12) % 24 - 12 == pytest.approx(0.0, abs=1e-6)


def test_a_rod_that_folds_back_touches_itself():
    """A hairpin whose legs lie side by side: feet of one leg on the other, none in the bend."""
    t = np.linspace(-0.3, 0.3, 400)
    legs = np.where(np.abs(t) < 0.1, 0.0, np.abs(t) - 0.1)
    angle = np.clip(t / 0.1, -1, 1) * np.pi / 2
    points = np.stack((-legs + 0.02 * np.cos(angle), np.where(t < 0, -1, 1) * 0, np.zeros_like(t)), axis=-1)
    points[:, 1] = 0.95 * R + 0.03 * (1 - np.abs(angle) / (np.pi / 2))
    points[:, 1] *= np.sign(t)
    rope = rod_along(points[np.abs(points[:, 1]) > 0], R, 40)
    ropes = Ropes([rope], margin=0.1 * R)
    rows = ropes.found()
    assert 8 <= len(rows) <= 20
    for row in rows:
        assert row["rods"] == (0, 0) and row["first_at"] < row["second_at"]


def test_ends_are_round():
    """An end above another rod, and two ends that face each other, of two rods and of one that is nearly closed."""
    a = rod_along([(-1, 0, 0), (1, 0, 0)], R, 10)
    stands = rod_along([(0.11, 0, 1.9 * R), (0.11, 0, 1)], R, 10)
    (row,) = Ropes([a, stands], margin=0.1 * R).found()
    assert row["second_at"] == 0.0 and row["gap"] == pytest.approx(-0.1 * R)
    np.testing.assert_allclose(row["normal"], (0, 0, -1), atol=1e-12)
    on = rod_along([(1 + 1.5 * R, 0, 0), (3, 0, 0)], R, 10)
    (row,) = Ropes([a, on], margin=0.1 * R).found()
    np.testing.assert_allclose(row["normal"], (-1, 0, 0), atol=1e-12)
    assert row["gap"] == pytest.approx(-0.5 * R) and (row["first_at"], row["second_at"]) == (10.0, 0.0)
    t = np.linspace(0.09, 2 * np.pi - 0.09, 200)
    nearly = rod_along(0.1 * np.stack((np.cos(t), np.sin(t), 0 * t), axis=-1), R, 30)
    (row,) = Ropes([nearly], margin=0.1 * R).found()
    assert (row["first_at"], row["second_at"]) == (0.0, 30.0)


@pytest.mark.parametrize("model", ["spline", "discrete"])
@pytest.mark.parametrize("spans", [(10, 10), (10, 25), (25, 10)])
def test_ends_that_overlap_side_by_side(model, spans):
    """However short the piece is on which two rods lie along each other, there is a contact on it."""
    for overlap in (0.01, 0.3, 0.45, 0.55, 0.8, 1.2, 2.4):
        begin = 1 - 0.1 * overlap
        a = rod_along([(0, 0, 0), (1, 0, 0)], R, spans[0], model=model)
        b = rod_along([(begin, 0, 1.9 * R), (begin + 1, 0.0, 1.9 * R)], R, spans[1], model=model)
        rows = Ropes([a, b], margin=0.1 * R).found()
        x = np.sort([float(row["first_place"][0]) for row in rows])
        assert len(rows) in ((1,) if overlap < 1 else (1, 2, 3)), overlap
        assert begin - 1e-9 <= x[0] and x[-1] <= 1 + 1e-9
        assert np.diff(np.concatenate(([begin], x, [1.0]))).max() < 0.161  # feet within 0.6 of an end are left out
        for row in rows:
            assert row["gap"] == pytest.approx(-0.1 * R) and abs(row["normal"][2]) == pytest.approx(1.0)


def test_spans_beside_a_crossing_do_not_touch():
    """However wide the margin is, rods that cross have one closest pair; spans that are cut off near it have none."""
    a = rod_along([(-1, 0, 0), (1, 0, 0)], R, 20)
    b = rod_along([(0.03, -1, 0.1), (0.07, 1, 0.1)], R, 20)
    rows = Ropes([a, b], margin=0.4).found()
    assert len(crossings(rows)) == 1


def test_lines_that_meet_have_a_normal():
    """Centre lines that cross exactly: across both, one way or the other."""
    a = rod_along([(-1, 0, 0), (1, 0, 0)], R, 10)
    b = rod_along([(0, -1, 0), (0, 1, 0)], R, 10)
    (row,) = Ropes([a, b]).found()
    np.testing.assert_allclose(np.abs(row["normal"]), (0, 0, 1), atol=1e-9)
    assert row["gap"] == pytest.approx(-2 * R, abs=1e-9)


def test_laws_and_margins():
    a = rod_along([(-1, 0, 0), (1, 0, 0)], R, 10)
    b = rod_along([(0.05, -1, 3 * R), (0.05, 1, 3 * R)], R, 10)
    assert not Ropes([a, b], margin=0.99 * R).found()
    assert len(Ropes([a, b], margin=1.01 * R).found()) == 1
    assert len(Ropes([a, b], margin=0.51 * R, law_margin=0.5 * R).found()) == 1
    ropes = Ropes([a, b], margin=1.01 * R)
    ropes.sides["spline"].margin[:] = 0.0, 2.02 * R
    assert len(ropes.found()) == 1
    ropes.colliders.law[0, 1] = ropes.colliders.law[1, 0] = 0
    assert not ropes.found()
    ropes.colliders.law[...] = 1
    ropes.sides["spline"].collider[1] = -1
    assert not ropes.found()


def test_what_is_tied_does_not_touch():
    """Within the reach of a tie on both rods nothing touches; elsewhere all does; whichever side is named first."""
    a, b = rod_along([(0, 0, 0), (1, 0, 0)], R, 20), rod_along([(0, 0, 2 * R), (1, 0, 2 * R)], R, 20)
    free = Ropes([a, b], margin=0.1 * R).found()
    assert len(free) == 20
    for tie in ((0, 10.0, 1, 10.0, 0.101), (1, 10.0, 0, 10.0, 0.101)):
        rows = Ropes([a, b], margin=0.1 * R, ties=[tie]).found()
        assert len(rows) == 16 and all(abs(row["first_at"] - 10) > 2 for row in rows)
    assert len(Ropes([a, b], margin=0.1 * R, ties=[(0, 10.0, 1, 16.0, 0.1)]).found()) == 20
    assert len(Ropes([a, b], margin=0.1 * R, ties=[(0, 10.0, -1, 10.0, 0.1)]).found()) == 20


def test_a_full_table_is_counted_on():
    a, b = rod_along([(0, 0, 0), (1, 0, 0)], R, 20), rod_along([(0, 0, 2 * R), (1, 0, 2 * R)], R, 20)
    ropes = Ropes([a, b], margin=0.1 * R)
    for rows in (0, 1, 7, 19):
        assert ropes.rod_rod(Contacts(rows=rows)) >= 20
    assert ropes.rod_rod(Contacts(rows=20)) == 20
    assert ropes.rod_rod(Contacts(rows=30), 5) == 25


def test_order_does_not_depend_on_the_past():
    """Contacts come in the order of their rods and spans, wherever the rods were before."""
    rng = np.random.default_rng(11)
    ropes = Ropes([rod_along(smooth(rng), R, 20) for _ in range(12)], margin=0.1)
    names = ("first", "second", "first_feature", "second_feature", "gap")
    first = [[row[name] for name in names] for row in ropes.found()]
    kept = ropes.q.copy()
    ropes.q[:] = rng.permutation(ropes.q)
    ropes.found()
    ropes.q[:] = kept
    assert [[row[name] for name in names] for row in ropes.found()] == first
    pairs = [(row[0], row[1]) for row in first]
    assert pairs == sorted(pairs) and len(pairs) > 20


def test_newton_finds_minima_from_anywhere():
    """Of two cubics, from any start: a place where no small move comes closer."""
    rng = np.random.default_rng(13)
    for _ in range(300):
        curve = rng.normal(0, 1, (2, 4, 3)) * np.array((1, 1, 0.3, 0.1))[:, None]
        t, w = closest_pair(curve, 0, 1, *rng.uniform(0, 1, 2), True)

        def distance(t, w, curve=curve):
            powers = np.array([(t**k, w**k) for k in range(4)])
            return np.linalg.norm(powers[:, 0] @ curve[0] - powers[:, 1] @ curve[1])

        here = distance(t, w)
        for dt, dw in rng.normal(0, 1e-4, (20, 2)):
            assert distance(np.clip(t + dt, 0, 1), np.clip(w + dw, 0, 1)) >= here * (1 - 1e-8) - 1e-9
