"""Centrelines in STEP files, read back by a parser of our own (tests/references/step_file.py)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from references.step_file import curves_in

import sennit as sn
from sennit.bodies.rod.spline.shape import curve as rod_curve
from sennit.export.record import record
from sennit.export.recording import Recording

ROPE, STEEL = sn.Section.circle(4e-3), sn.Material(youngs_modulus=2e8, poisson_ratio=0.3, density=7000)
ROUND = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
NAME = "Prüf'stand \\ №1 𝛼"


def read(path: Path):
    curves, metres = curves_in(path.read_text(encoding="ascii"))
    return {curve.name: curve for curve in curves}, metres


@pytest.fixture
def scene() -> sn.Scene:
    scene = sn.Scene(name=NAME)
    wave = np.column_stack((np.linspace(0, 1, 30), 0.1 * np.sin(np.linspace(0, 9, 30)), np.linspace(0, 0.3, 30)))
    rope = scene.add(sn.Rod.through(wave, section=ROPE, material=STEEL, control_points=12, name=NAME))
    scene.add(sn.Fix(rope.at(0)))
    ring = np.column_stack((np.cos(ROUND), 3.0 + np.sin(ROUND), 0.2 * np.cos(3 * ROUND)))
    scene.add(sn.Rod.through(ring, section=ROPE, material=STEEL, closed=True, control_points=17, name="ring"))
    scene.add(sn.Rod.straight((0, 5, 0), (1, 5, 0), section=ROPE, material=STEEL, control_points=6, model="discrete",
                              name="chain"))  # fmt: skip
    box = scene.add(sn.RigidBody.box((1, 1, 1), mass=1, position=(0, 9, 0)))
    scene.add(sn.Cable([sn.World.at((0, 9, 5)), box.at((0, 0, 0.5))], section=ROPE, material=STEEL, name="cable"))
    return scene


def test_a_rod_is_the_spline_of_the_file_bit_for_bit(scene: sn.Scene, tmp_path: Path) -> None:
    curves, metres = read(record(scene, 0.02, tmp_path / "a.step", dt=2e-3))
    assert metres == 1.0 and set(curves) == {NAME, "ring", "chain", "cable"}
    rope, chain = scene.bodies[0], scene.bodies[2]
    spline = curves[NAME]
    assert (spline.degree, spline.closed) == (3, False)
    assert np.array_equal(spline.points, rope.control_points) and np.ptp(rope.control_points[:, 2]) > 1e-3
    u = np.linspace(0.0, 9.0, 101)
    # one ends in basis functions of the library's own, the other in scipy's
    assert np.abs(spline.at(u) - rod_curve(rope.control_points, False, u)[:, 0]).max() < 1e-14
    assert curves["chain"].degree == 1 and np.array_equal(curves["chain"].points, chain.control_points)
    assert np.allclose(curves["cable"].points[[0, -1]], ((0, 9, 5), scene.bodies[3].at((0, 0, 0.5)).position))


def test_a_closed_rod_is_the_same_curve_with_clamped_knots(scene: sn.Scene, tmp_path: Path) -> None:
    curves, _ = read(record(scene, 0.02, tmp_path / "a.stp", dt=2e-3))
    ring, rod = curves["ring"], scene.bodies[1]
    assert ring.closed and len(ring.points) == 17 + 3 and np.array_equal(ring.points[0], ring.points[-1])
    u = np.linspace(0.0, 17.0, 205)
    assert np.abs(ring.at(u) - rod_curve(rod.control_points, True, u)[:, 0]).max() < 1e-14


def test_what_left_the_scene_is_not_in_the_file(scene: sn.Scene, tmp_path: Path) -> None:
    def script(dt: float) -> None:
        if scene.time > 0.01 and len(scene.bodies) == 4:
            scene.remove(scene.bodies[2])

    curves, _ = read(record(scene, 0.02, tmp_path / "a.step", dt=2e-3, before_step=script))
    assert set(curves) == {NAME, "ring", "cable"}


def test_a_scene_without_lines_is_refused_before_it_moves(recording: Recording, tmp_path: Path) -> None:
    scene = sn.Scene()
    scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    with pytest.raises(sn.InputError, match="no rods and no cables"):
        record(scene, 0.1, tmp_path / "a.step")
    with pytest.raises(sn.InputError, match="no rods and no cables"):
        recording.write(tmp_path / "a.step")  # made of plain numbers: it has no curves
    assert scene.time == 0.0 and not list(tmp_path.iterdir())


def test_the_numbers_of_the_standard_have_a_point() -> None:
    from sennit.export.step import _numbers

    assert _numbers((1e-20, -2.5, 3.0, 1e300, 0.1)) == "1.E-20,-2.5,3.0,1.E+300,0.1"
