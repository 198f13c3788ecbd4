"""A file of format 1, as version 0.1.0 wrote it: what is read, and how it goes on.

``tests/golden/scene_format1.npz`` holds one of nearly everything (both models of rods, an open and a closed spline,
rigid bodies, a zone, pearls, a keyhole, limits, a motor, a cable over a sheave and round a body, a load that follows).
The numbers beside it are what that version read off it, and after three more steps, with its kernels as plain Python.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sennit as sn

GOLDEN = Path(__file__).parents[2] / "golden"


def readings(scene: sn.Scene) -> dict[str, np.ndarray]:
    found = {}
    for i, body in enumerate(scene.bodies):
        if isinstance(body, sn.Rod):
            numbers = [*body.control_points.ravel(), *body.rolls]
        elif isinstance(body, sn.RigidBody):
            numbers = [*body.position, *body.pose.quaternion]
        elif isinstance(body, sn.Slider):
            numbers = [body.s]
        else:
            numbers = body.displacements.ravel()
        found[f"body {i}"] = np.array(numbers)
    return found | {f"constraint {i}": np.atleast_1d(c.multipliers) for i, c in enumerate(scene.constraints)}


@pytest.fixture(scope="module")
def golden() -> dict[str, dict[str, list[float]]]:
    return json.loads((GOLDEN / "scene_format1.json").read_text())


def compare(scene: sn.Scene, wanted: dict[str, list[float]], tolerance: float) -> None:
    found = readings(scene)
    assert list(found) == list(wanted)
    for name, numbers in wanted.items():
        np.testing.assert_allclose(found[name], numbers, rtol=tolerance, atol=tolerance, err_msg=name)


def test_read_as_it_was_written(golden) -> None:
    scene = sn.Scene.load(GOLDEN / "scene_format1.npz")
    compare(scene, golden["now"], 1e-12)  # a zone's surface follows from its Green's functions
    assert (scene.name, scene.integrator, scene.drag) == ("format 1", "bdf2", 0.1)


def test_goes_on_as_it_did(golden) -> None:
    """Three steps: the same but for the rounding of fused products, which stiff parts amplify."""
    scene = sn.Scene.load(GOLDEN / "scene_format1.npz")
    scene.run(6e-3, dt=2e-3)
    compare(scene, golden["later"], 2e-5)  # since then beads and directions are solved for more exactly


@pytest.mark.parametrize("number", [2, 3, 4, 5])
def test_a_file_of_a_later_format_is_the_same_scene(number: int) -> None:
    """It was written from the one of format 1; that of format 5 while stiffness was a number of the whole rod."""
    scene = sn.Scene.load(GOLDEN / f"scene_format{number}.npz")
    other = sn.Scene.load(GOLDEN / "scene_format1.npz")
    for one in (scene, other):
        one.run(4e-3, dt=2e-3)
    compare(scene, {name: numbers.tolist() for name, numbers in readings(other).items()}, 0.0)


def test_written_again_it_has_format_5_and_goes_on_alike(tmp_path) -> None:
    scene = sn.Scene.load(GOLDEN / "scene_format1.npz")
    scene.save(tmp_path / "scene.npz")
    with np.load(tmp_path / "scene.npz", allow_pickle=False) as data:
        assert json.loads(bytes(data["description"]).decode())["format"] == 5
    again = sn.Scene.load(tmp_path / "scene.npz")
    for one in (scene, again):
        one.run(4e-3, dt=2e-3)
    compare(again, {name: numbers.tolist() for name, numbers in readings(scene).items()}, 0.0)


def test_a_process_that_made_nothing_reads_what_this_one_wrote(tmp_path: Path) -> None:
    """The class of a kind that is imported late (the zone) is found by a file that names it."""
    scene = sn.Scene.load(GOLDEN / "scene_format1.npz")
    path = tmp_path / "scene.npz"
    scene.save(path)
    program = "import sys, sennit as sn; print(*(type(b).__name__ for b in sn.Scene.load(sys.argv[1]).bodies))"
    told = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        env=os.environ | {"SENNIT_KERNELS": "python"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == [type(body).__name__ for body in scene.bodies]
    assert "Zone" in told.stdout
