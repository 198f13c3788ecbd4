"""What NumPy hands out counts as what it stands for: booleans, integers, infinities; generators are read whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import trimesh

import sennit as sn
from sennit.bodies.zone.chain import _numbers_of_zones
from sennit.bodies.zone.conditions import vertex_ids

ROUND = sn.Section.circle(radius=5e-3)
RUBBER = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000)


def test_flags_are_kept_in_files(tmp_path: Path) -> None:
    scene = sn.Scene()
    turn = np.linspace(0.0, 2.0 * np.pi, 13)[:-1]
    ring = np.column_stack((np.cos(turn), np.sin(turn), 0.0 * turn))
    scene.add(sn.Rod.through(ring, section=ROUND, material=RUBBER, closed=np.True_, straight=np.False_))
    scene.save(tmp_path / "ring.npz")
    assert len(sn.Scene.load(tmp_path / "ring.npz").bodies) == 1


def test_order_of_a_strand() -> None:
    for order in np.array([1, 2, 4]):
        strand = sn.Strand(1.0, ROUND, RUBBER, nodes=11, order=order)
        assert strand.order == order and type(strand.order) is int


def test_infinity_of_a_motor() -> None:
    assert sn.Motor(speed=1.0, max_torque=np.float32(np.inf)).max_torque == np.inf


def test_limits_of_iterations_may_be_large() -> None:
    scene = sn.Scene()
    rope = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=ROUND, material=RUBBER, control_points=6))
    scene.add(sn.Clamp(rope.at(0)))
    assert scene.settle(max_iterations=10**9).converged


def test_a_generator_may_name_a_vertex_often() -> None:
    ball = trimesh.creation.icosphere(subdivisions=1)
    low = ball.faces[ball.triangles_center[:, 2] < 0.3]
    ids = [int(v) for face in low for v in face]
    assert len(ids) > 2 * len(ball.vertices)
    found = vertex_ids("fixed", iter(ids), len(ball.vertices))
    assert found.tolist() == sorted(set(ids))
    assert _numbers_of_zones([0, 0, 0, 0, 1], 3) == [0, 1] == _numbers_of_zones(iter([0, 0, 0, 0, 1]), 3)


def test_the_rest_of_a_run_may_be_shorter_than_any_step() -> None:
    scene = sn.Scene()
    scene.add(sn.RigidBody.box((1, 1, 1), mass=1))
    scene.run(3e-7 + 5e-16, 1e-7)
    assert scene.time == 3e-7 or abs(scene.time - 3e-7) < 1e-15
