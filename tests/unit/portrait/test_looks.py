"""What things are made of, to the eye: looks of ropes from material or numbers, and how they travel."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sennit as sn
from sennit.errors import InputError
from sennit.portrait.cast import Cast
from sennit.portrait.looks import BARE, look_of
from sennit.portrait.of_scene import portrait_of
from sennit.portrait.packed import packed_cast
from sennit.portrait.solids import bevelled

ROUND = sn.Section.circle(0.01)


@pytest.mark.parametrize(
    ("section", "material", "length", "look"),
    [
        (ROUND, sn.Material(6e8, 0.4, 1100), 12.0, "laid"),  # hemp
        (ROUND, sn.Material(1e11, 0.3, 7850), 12.0, "wire"),  # a rope of steel wires
        (ROUND, sn.Material(2e11, 0.3, 7850), 12.0, "smooth"),  # a steel rod
        (ROUND, sn.Material(6e8, 0.4, 1100), 0.5, "smooth"),  # as thick as a stick
        (ROUND, sn.Material(9e10, 0.3, 1600), 4.0, "smooth"),  # carbon
        (sn.Section.tube(0.01, 0.008), sn.Material(6e8, 0.4, 1100), 12.0, "smooth"),
        (sn.Section.rectangle(0.02, 0.002), sn.Material(6e8, 0.4, 1100, look="laid"), 12.0, "smooth"),
        (ROUND, sn.Material(2e11, 0.3, 7850, look="braid"), 0.5, "braid"),
        (None, None, 5.0, "wire"),  # a hoisting cable of which nothing is said
    ],
)
def test_looks_follow_from_numbers_unless_they_are_given(section: Any, material: Any, length: float, look: str) -> None:
    assert look_of(section, material, length) == look


def dressed(**given: Any) -> tuple[sn.Scene, sn.Rod]:
    scene = sn.Scene()
    material = sn.Material(1e7, 0.4, 1000, **given)
    return scene, scene.add(sn.Rod.straight((0, 0, 0), (2, 0, 0), section=ROUND, material=material, control_points=6))


def test_look_and_colour_are_seen_and_travel_to_browsers() -> None:
    scene, rope = dressed(look="braid", colour=(10, 200, 30))
    portrait = portrait_of(scene)
    sent = Cast.from_bytes(portrait.cast.to_bytes()).parts[0]
    assert (sent.look, sent.colour, sent.metal) == ("braid", (10, 200, 30), 0.0)
    entry = json.loads(json.dumps(packed_cast(portrait.cast)[0]))[0]
    assert (entry["look"], entry["colour"], entry["rough"]) == ("braid", [10, 200, 30], sent.rough)
    rope.material = sn.Material(2e11, 0.3, 7850, look="smooth")
    assert not portrait.current
    bare = portrait_of(scene).cast.parts[0]
    assert (bare.rough, bare.metal) == BARE


@pytest.mark.parametrize("how", ["file", "pickle", "copy"])
def test_looks_are_kept(how: str, tmp_path: Path) -> None:
    scene, rope = dressed(look="jacket", colour=(1, 2, 3))
    if how == "file":
        scene.save(tmp_path / "a.npz")
        scene = sn.Scene.load(tmp_path / "a.npz")
    else:
        scene = pickle.loads(pickle.dumps(scene)) if how == "pickle" else copy.deepcopy(scene)
    other: Any = scene.bodies[0]
    assert (other.material.look, other.material.colour) == ("jacket", (1, 2, 3))
    rope.damping = 0.1
    assert (rope.material.look, rope.material.colour) == ("jacket", (1, 2, 3))


def test_files_of_materials_without_a_look_say_nothing_of_it(tmp_path: Path) -> None:
    scene, _ = dressed()
    scene.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as file:
        text = b"".join(file[name].tobytes() for name in file.files if file[name].dtype == np.uint8)
    assert b"shear_modulus" in text and b"look" not in text  # as files from before there were looks
    loaded: Any = sn.Scene.load(tmp_path / "a.npz").bodies[0]
    assert loaded.material.look is None and loaded.material.colour is None


def test_older_pickles_of_materials_have_no_look() -> None:
    material = sn.Material(1e7, 0.4, 1000)
    state = {name: value for name, value in vars(material).items() if name not in ("look", "colour")}
    old = object.__new__(sn.Material)
    old.__dict__.update(state)
    again = pickle.loads(pickle.dumps(old))
    assert again == material and again.look is None and again.colour is None
    assert sn.Material(1e7, 0.4, 1000, look="laid") == material  # to mechanics they are the same


@pytest.mark.parametrize(
    "wrong", [{"look": "hemp"}, {"look": 1}, {"colour": "red"}, {"colour": (1, 2)}, {"colour": (1, 2, 256)}]
)
def test_looks_that_there_are_not(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        sn.Material(1e7, 0.4, 1000, **wrong)


@pytest.mark.parametrize("size", [(1.0, 2.0, 3.0), (5.0, 0.1, 5.0), (0.2, 0.2, 0.2)])
def test_bevelled_boxes_are_closed_and_as_large_as_they_say(size: tuple[float, float, float]) -> None:
    cut = 0.05 * min(size)
    mesh = bevelled(size, cut)
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    volume = float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0
    # of each of the twelve edges a prism is missing; at each corner the three of them meet in a cube of cut³, of which
    # the plane through its three tips leaves a sixth
    lost = 0.5 * cut**2 * 4.0 * (sum(size) - 6.0 * cut) + 8.0 * (1.0 - 1.0 / 6.0) * cut**3
    assert volume == pytest.approx(np.prod(size) - lost, rel=1e-12)
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx(size)
    edges = {tuple(e) for f in mesh.faces.tolist() for e in zip(f, f[1:] + f[:1], strict=True)}
    assert len(edges) == 3 * len(mesh.faces) and all((q, p) in edges for p, q in edges)
