"""Any point of any body: position, frame, velocity and Jacobian, against differences."""

from __future__ import annotations

import numpy as np
import pytest
from unit.scene import kit

import sennit as sn


def alone(kind: str, stir: float = 1.0, **options):
    scene = sn.Scene(gravity=(0, 0, 0), **options)
    # a second body, so that the numbers of the degrees of freedom do not begin at 0
    kit.rigid(scene, kit.B)
    p = kit.KINDS[kind](scene, kit.A)
    # a point that something acts on keeps its frame over any motion; one that is only read looks it up
    if kind != "world":
        scene.add(sn.Load(p, force=(0, 0, 0)))
    if stir:
        kit.shake(scene, stir)
    return scene, p


@pytest.mark.parametrize("kind", kit.KINDS)
def test_a_point_is_where_it_was_made(kind: str) -> None:
    _, p = alone(kind, stir=0.0)
    # the ring is interpolated through 40 points of a circle by 9 control points
    assert np.abs(p.position - kit.A).max() < (2e-3 if kind == "ring" else 1e-12)


@pytest.mark.parametrize("kind", kit.KINDS)
def test_the_frame_is_a_rotation(kind: str) -> None:
    _, p = alone(kind)
    assert p.frame.shape == (3, 3)
    assert np.abs(p.frame.T @ p.frame - np.eye(3)).max() < 1e-12
    assert np.linalg.det(p.frame) > 0


def test_a_bare_place_in_the_world() -> None:
    p = sn.World.at((1, 2, 3))
    assert np.array_equal(p.position, (1, 2, 3))
    assert p.frame is None or np.array_equal(p.frame, np.eye(3))


@pytest.mark.parametrize("kind", ["spline", "discrete", "slider"])
def test_d3_is_the_tangent(kind: str) -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    body = kit.rod(scene, kit.A, model="discrete" if kind == "discrete" else "spline")
    kit.shake(scene, 1.0)
    # the direction of a discrete rod is its edge's in the middle of the edge, and turns over in between
    s, ds = 2.5 / 6 * body.length, 1e-5
    chord = body.at(s + ds).position - body.at(s - ds).position
    p = scene.add(sn.Slider(body, at=s, mass=1.0)).at() if kind == "slider" else body.at(s)
    assert np.abs(p.frame[:, 2] - chord / np.linalg.norm(chord)).max() < 1e-6


@pytest.mark.parametrize("kind", kit.KINDS)
def test_jacobian(kind: str) -> None:
    scene, p = alone(kind)
    jacobian = kit.dense(p.jacobian(), scene.dofs)
    assert jacobian.shape == (6, scene.dofs)
    if kind == "world":
        assert not jacobian.any()
        return
    for k in range(scene.dofs):
        unit = np.eye(scene.dofs)[k]
        assert np.abs(kit.slope(scene, lambda: p.position, unit) - jacobian[:3, k]).max() < 1e-8
        turned = kit.spin(kit.slope(scene, lambda: p.frame, unit), p.frame)
        # a slope of the rod's own frame; the largest entry is of order 1 / |r'|
        assert np.abs(turned - jacobian[3:, k]).max() < 1e-7 * (1 + np.abs(jacobian[3:]).max())
    # a slider turns freely about its rod, a bare vertex not at all
    assert np.linalg.matrix_rank(jacobian, tol=1e-9) == {"slider": 5, "vertex": 3}.get(kind, 6)


@pytest.mark.parametrize("kind", kit.DYNAMIC)
def test_the_jacobian_takes_rates_to_velocities(kind: str) -> None:
    scene, p = alone(kind, stir=0.3)
    for body in scene.bodies:
        if isinstance(body, sn.RigidBody):
            body.velocity, body.angular_velocity = (0.5, -1.0, 0.3), (2.0, 1.0, -3.0)
    scene.run(0.02, dt=0.005)  # strained bodies spring apart: everything moves
    before, (x, frame) = scene.snapshot(), (p.position.copy(), p.frame.copy())
    dt = 1e-6
    scene.step(dt)
    # v is the velocity at the end of the step, which changes by dt times an acceleration of at most 1e4 here
    speed = max(1.0, np.abs(p.velocity).max())
    assert np.abs((p.position - x) / dt - p.velocity).max() < 2e-2 * speed
    rate = kit.spin((p.frame - frame) / dt, frame)
    assert np.abs(rate - p.angular_velocity).max() < 2e-2 * max(1.0, np.abs(p.angular_velocity).max())
    assert np.abs(p.velocity).max() > 1e-3, "nothing moved: the test says nothing"
    scene.restore(before)


def test_velocity_of_a_point_of_a_rigid_body() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    box = scene.add(sn.RigidBody.box(size=(1, 1, 1), mass=1, position=(1, 2, 3)))
    box.velocity, box.angular_velocity = (1, 0, 2), (0, 3, 0)
    p = box.at((0.5, 0, 0))
    assert np.allclose(p.velocity, (1, 0, 2 - 1.5), atol=1e-14)
    assert np.allclose(p.angular_velocity, (0, 3, 0), atol=1e-14)


@pytest.mark.parametrize("kind", kit.KINDS)
def test_points_move_with_the_whole(kind: str) -> None:
    here, there = sn.Scene(gravity=(0, 0, 0)), sn.Scene(gravity=(0, 0, 0))
    p, q = kit.KINDS[kind](here, kit.A), kit.KINDS[kind](there, kit.A, kit.MOVED)
    if kind != "world":
        here.add(sn.Load(p, force=(0, 0, 0)))
        there.add(sn.Load(q, force=(0, 0, 0)))
    kit.shake(here, 1.0)
    kit.shake(there, 1.0, kit.MOVED)
    assert np.abs(kit.MOVED.point(p.position) - q.position).max() < 1e-12
    assert np.abs(kit.MOVED.rotation @ p.frame - q.frame).max() < 1e-11


def test_both_ends_belong_to_the_rod() -> None:
    for model in ("spline", "discrete"):
        scene = sn.Scene()
        body = kit.rod(scene, kit.A, model=model)
        kit.shake(scene, 1.0)
        line = body.centerline(11)
        assert np.allclose(body.at(0.0).position, line[0], atol=1e-13)
        assert np.allclose(body.at(body.length).position, line[-1], atol=1e-13)


def test_a_ring_has_no_ends() -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    p = kit.ring(scene, kit.A)
    kit.shake(scene, 1.0)
    last = scene.bodies[0].at(scene.bodies[0].length)
    assert np.abs(p.position - last.position).max() < 1e-12
    # twist may be wrapped by whole turns; the frame at the seam is the same frame
    assert np.abs(p.frame[:, 2] - last.frame[:, 2]).max() < 1e-12
