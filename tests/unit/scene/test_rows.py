"""Every constraint between every two kinds of point: rows, slopes, balance, invariance."""

from __future__ import annotations

import numpy as np
import pytest
from unit.scene import kit
from unit.scene.kit import CONSTRAINTS, MOVED, STILL

import sennit as sn

EVERY = kit.pairs()
RELATIVE = [(c, p, q) for c, p, q in EVERY if CONSTRAINTS[c].two]


def tied(name: str, first: str, second: str, motion=STILL):
    scene, p, q = kit.pair(first, second, motion)
    constraint = scene.add(CONSTRAINTS[name].make(p, q, motion))
    return scene, p, q, constraint


@pytest.mark.parametrize(("name", "first", "second"), EVERY)
def test_slopes(name: str, first: str, second: str) -> None:
    scene, _, _, constraint = tied(name, first, second)
    rows = CONSTRAINTS[name]
    rng = np.random.default_rng(5)
    for state in ("as made", "violated"):
        if state == "violated":
            kit.shake(scene, 0.02 if rows.angular else 0.3, seed=7)
        violation = np.array(constraint.violation)
        assert violation.shape == (rows.count,)
        jacobian = kit.dense(constraint.jacobian(), scene.dofs)
        assert jacobian.shape == (rows.count, scene.dofs)
        # the slope of a rotation's rows may be that of the rotation met, good to the first order in what is left
        slack = 0.0 if state == "as made" or not rows.angular else 0.02
        for _ in range(3):
            direction = rng.normal(size=scene.dofs)
            expected = kit.slope(scene, lambda: constraint.violation, direction)
            got = jacobian @ direction
            scale = 1 + np.abs(jacobian).max() * np.sqrt(scene.dofs)
            assert np.abs(got - expected).max() < (1e-7 + slack) * scale, state


@pytest.mark.parametrize(
    ("name", "first", "second"),
    # a sphere, a circle and a distance have a length of their own; a ring is not quite where it should be
    [row for row in EVERY if row[0] not in ("sphere", "circle", "distance", "distance, at most") and "ring" not in row],
)
def test_a_constraint_made_where_things_are_is_met(name: str, first: str, second: str) -> None:
    scene, p, q = kit.pair(first, second, gap=False, stir=0.0)
    constraint = scene.add(CONSTRAINTS[name].make(p, q, STILL))
    assert np.abs(constraint.violation).max() < 1e-12
    scene.step(1e-6)  # nothing moves it either
    assert np.abs(constraint.violation).max() < 1e-9


@pytest.mark.parametrize(("name", "first", "second"), RELATIVE)
def test_a_rigid_motion_of_everything_changes_nothing(name: str, first: str, second: str) -> None:
    sizes, slopes = [], []
    for motion in (STILL, MOVED):
        scene, _, _, constraint = tied(name, first, second, motion)
        made = np.linalg.norm(constraint.violation)
        kit.shake(scene, 0.3, motion, seed=7)
        sizes.append((made, np.linalg.norm(constraint.violation)))
        # along the same motion of the bodies, J dq is the same
        dq = kit.increment(scene, 11, 1.0, motion)
        slopes.append(np.linalg.norm(kit.dense(constraint.jacobian(), scene.dofs) @ dq))
    assert np.allclose(*sizes, rtol=1e-10, atol=1e-12)
    assert np.allclose(*slopes, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "first", "second"), [(c, p, q) for c, p, q in RELATIVE if "world" not in (p, q) and p != q]
)
def test_the_wrenches_of_a_row_balance(name: str, first: str, second: str) -> None:
    """J^T lambda acts through the two points only, and the two wrenches add up to nothing about the origin."""
    scene, p, q, constraint = tied(name, first, second)
    n = scene.dofs
    jp, jq = kit.dense(p.jacobian(), n), kit.dense(q.jacobian(), n)
    both = np.vstack((jp, jq))
    for row in kit.dense(constraint.jacobian(), n):
        wrench, *_ = np.linalg.lstsq(both.T, row, rcond=None)
        assert np.abs(both.T @ wrench - row).max() < 1e-9 * (1 + np.abs(row).max())
        fp, mp, fq, mq = wrench.reshape(4, 3)
        assert np.abs(fp + fq).max() < 1e-9
        moment = mp + mq + np.cross(p.position, fp) + np.cross(q.position, fq)
        # rows that close a gap may push along the world's axes: what is left vanishes with the gap, and the force of
        # all three together points along it
        left = np.cross(p.position - q.position, fp)
        closing = name in ("ball", "fuse, free to turn", "fuse", "lock", "hinge")
        assert np.abs(moment).max() < 1e-9 or (closing and np.abs(moment - left).max() < 1e-9)
        # p only slides on what q carries: it feels a force and no moment
        if not CONSTRAINTS[name].angular:
            assert np.abs(mp).max() < 1e-9


@pytest.mark.parametrize(("name", "kind"), [(c, k) for c, k, _ in EVERY if not CONSTRAINTS[c].two])
def test_a_row_on_one_point_acts_through_it(name: str, kind: str) -> None:
    scene, p, _, constraint = tied(name, kind, "world")
    through = kit.dense(p.jacobian(), scene.dofs)
    rows = kit.dense(constraint.jacobian(), scene.dofs)
    wrench, *_ = np.linalg.lstsq(through.T, rows.T, rcond=None)
    assert np.abs(through.T @ wrench - rows.T).max() < 1e-9 * (1 + np.abs(rows).max())
    assert np.linalg.matrix_rank(rows, tol=1e-9) == CONSTRAINTS[name].count


@pytest.mark.parametrize("first", ["spline", "rigid", "discrete"])
@pytest.mark.parametrize("second", ["spline", "rigid", "world", "ring"])
def test_direction_of_a_distance(first: str, second: str) -> None:
    scene, p, q, constraint = tied("distance", first, second)
    d = p.position - q.position
    row = kit.dense(constraint.jacobian(), scene.dofs)[0]
    expected = d / np.linalg.norm(d) @ (kit.dense(p.jacobian(), scene.dofs) - kit.dense(q.jacobian(), scene.dofs))[:3]
    assert min(np.abs(row - expected).max(), np.abs(row + expected).max()) < 1e-12


@pytest.mark.parametrize("direction", [None, kit.DIRECTION])
@pytest.mark.parametrize("kind", ["spline", "discrete", "ring", "rigid", "patch", "vertex", "world", "the same rod"])
def test_keyholes(kind: str, direction) -> None:
    """The hole's own coordinate counts too: where the rod passes, its tangent turns with it."""
    scene = sn.Scene(gravity=(0, 0, 0))
    rope = kit.rod(scene, kit.A)
    kit.shake(scene, 0.5)
    hole = rope.at(0.1) if kind == "the same rod" else kit.KINDS[kind](scene, kit.A + 0.01)
    keyhole = scene.add(sn.Keyhole(rope, at=0.24, hole=hole, direction=direction))
    rows = 3 if direction is None else 5
    rng = np.random.default_rng(3)
    for state in ("as made", "moved"):
        if state == "moved":
            kit.shake(scene, 0.02, seed=9)
        jacobian = kit.dense(keyhole.jacobian(), scene.dofs)
        assert jacobian.shape == (rows, scene.dofs)
        for _ in range(3):
            dq = rng.normal(size=scene.dofs)
            expected = kit.slope(scene, lambda: keyhole.violation, dq)
            scale = 1 + np.abs(jacobian).max() * np.sqrt(scene.dofs)
            assert np.abs(jacobian @ dq - expected).max() < 1e-6 * scale, state
    assert np.linalg.matrix_rank(jacobian, tol=1e-9) == rows
