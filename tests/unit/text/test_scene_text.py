"""Scene files: what is read, what is written, and that both say the same to the last bit."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import numpy as np
import pytest
from references.scene_families import FAMILIES
from references.touching_families import TOUCHING

import sennit as sn
from sennit.text.reading import read_scene, scene_of_text
from sennit.text.writing import scene_text

SCENE = """
scene = { gravity = [0, 0, -9.81], integrator = "bdf2" }
material.hemp = { youngs_modulus = 1e7, poisson_ratio = 0.4, density = 1000, relaxation_time = 0.02 }
section.rope = { circle = 5e-3 }

[rod.rope]
straight = [[0, 0, 0.5], [1, 0, 0.5]]
section = "rope"
material = "hemp"
control_points = 12

[rigid.box]
box = [0.1, 0.1, 0.1]
mass = 0.3
position = [0.4, 0, 0.45]

[obstacle.floor]
plane = [[0, 0, 0], [0, 0.1, 1]]

[pearl.bead]
rod = "rope"
at = 0.9
mass = 0.05
radius = 0.015

[point]
post = ["world", [0.8, 0, 0.5]]

[[hold]]
kind = "fix"
p = ["rope", 0.0]
name = "left"

[[hold]]
kind = "fix"
p = ["rope", "end"]
target = [0.99, 0, 0.5]

[[hold]]
kind = "ball"
p = ["box", [0, 0, 0.05]]
q = ["rope", 0.4]

[[hold]]
kind = "keyhole"
rod = "rope"
at = 0.8
hole = "post"

[[load]]
point = ["rope", 0.6]
force = [0, 0.5, 0]

[[contact]]
first = "box"
second = ["floor"]
friction = 0.5

[run]
settle = true
seconds = 2.0
"""


def forces(scene: sn.Scene) -> np.ndarray:
    return np.concatenate([np.ravel(tie.force) for tie in scene.constraints])


def test_text_to_scene_to_text_to_scene_bit_by_bit(tmp_path: Path) -> None:
    first = scene_of_text(SCENE).scene
    path = first.write(tmp_path / "again.toml")
    second = sn.Scene.read(path)
    assert scene_text(second) == path.read_text(encoding="utf-8")
    for scene in (first, second):
        scene.run(0.1, dt=2e-3)
    assert np.abs(forces(first)).max() > 0.1
    assert np.array_equal(forces(first), forces(second))
    assert np.array_equal(first.bodies[0].control_points, second.bodies[0].control_points)
    assert scene_text(first) == path.read_text(encoding="utf-8"), "bodies are written where they began"


@pytest.mark.parametrize("family", ["harness", "crane", "linkage", "keyholes", "over_a_peg", "rubbing_cable", "struck"])
def test_scenes_as_users_build_them(family: str) -> None:
    """A scene that was built by a program, and what is read of its text, move alike to the last bit."""
    first = (FAMILIES | TOUCHING)[family](Random(1)).scene
    second = scene_of_text(scene_text(first)).scene
    for scene in (first, second):
        scene.run(5e-3, dt=1e-3)
    assert len(first.constraints) == len(second.constraints)
    assert np.array_equal(forces(first), forces(second)) if first.constraints else True
    for a, b in zip(first.bodies, second.bodies, strict=True):
        assert np.array_equal(a._motion.q, b._motion.q)


def test_what_was_set_is_written() -> None:
    scene = scene_of_text(SCENE).scene
    left, right = scene.constraints[:2]
    scene.run(0.02, dt=2e-3)
    right.target, left.enabled, scene.loads[0].force = (0.9, 0, 0.6), False, (0, 0, 2)
    scene.bodies[1].mass = 0.5
    scene.gravity = (0, 0, -1.62)
    scene.contacts.friction = 0.1
    rope = scene.bodies[0]
    rope.material = sn.Material(2e7, 0.4, 1000)
    made = scene_of_text(scene_text(scene)).scene
    assert np.array_equal(made.constraints[1].target, (0.9, 0, 0.6)) and not made.constraints[0].enabled
    assert made.loads[0].force[2] == 2 and made.bodies[1].mass == 0.5 and made.gravity[2] == -1.62
    assert made.bodies[0].material == rope.material and made.contacts.friction == 0.1
    assert made.time == 0.0 and made.bodies[0].control_points[0, 0] == 0.0


def test_functions_are_refused_by_name(tmp_path: Path) -> None:
    scene = scene_of_text(SCENE).scene
    scene.add(sn.Follow(scene.bodies[1].at(), lambda t: (0.4, 0, 0.45), name="hand"))
    with pytest.raises(sn.InputError, match=r"hand .* its path is a function: give it a sennit\.Route"):
        scene.write(tmp_path / "scene.toml")
    assert not list(tmp_path.iterdir())
    rod = sn.Rod.straight(
        (0, 1, 0), (1, 1, 0), section=sn.Section.circle(0.01), material=sn.Material(1e7, 0.4, 1e3),
        rest_curvature=lambda s: (s, 0.0), name="bow",
    )  # fmt: skip
    other = sn.Scene()
    other.add(rod)
    with pytest.raises(sn.InputError, match="bow .* its rest_curvature is a function: give an array"):
        other.write(tmp_path / "scene.toml")


def test_what_depends_on_where_the_scene_was_is_refused() -> None:
    scene = sn.Scene()
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    scene.run(0.2, dt=0.01)
    scene.add(sn.OnPlane(ball.at(), (0, 0, 1), name="late"))  # through where it is now, which no text says
    with pytest.raises(sn.InputError, match="late can't be written as text"):
        scene_text(scene)


def test_a_cut_rod_is_refused() -> None:
    scene = scene_of_text(SCENE.partition("[rigid.box]")[0]).scene
    scene.bodies[0].cut(0.5)
    with pytest.raises(sn.InputError, match="rope .*can't be written as text"):
        scene_text(scene)


WRONG = [
    ("target = [0.99", "taget = [0.99", "there is no Fix key 'taget': did you mean 'target'?"),
    ('q = ["rope", 0.4]', 'q = ["rop", 0.4]', "there is no body 'rop': did you mean 'rope'?"),
    ("mass = 0.3", "mass = -1", "mass must be a finite number above 0, got -1"),
    ("mass = 0.3", "mass_kg = 1", "did you mean 'mass'? All numbers are in SI units"),
    ("mass = 0.3", 'mass = "300 g"', "without a unit, in SI units (m, kg, s, N, Pa, rad), got '300 g'"),
    ('material = "hemp"', 'material = "hmp"', "there is no material 'hmp': did you mean 'hemp'?"),
    ("circle = 5e-3", "cirle = 5e-3", "there is no section maker 'cirle': did you mean 'circle'?"),
    ("straight =", "straigt =", "there is no rod maker 'straigt': did you mean 'straight'?"),
    ("[rod.rope]", "[rods.rope]", "there is no table 'rods': did you mean 'rod'?"),
    ('"keyhole"', '"keyhle"', "there is no constraint 'keyhle': did you mean 'keyhole'?"),
    ("gravity", "gravty", "there is no Scene key 'gravty': did you mean 'gravity'?"),
    ("friction = 0.5", "fricton = 0.5", "did you mean 'friction'?"),
    ("plane =", "plne =", "there is no shape maker 'plne': did you mean 'plane'?"),
    ("seconds", "secnds", "did you mean 'seconds'?"),
    ("[run]", "[run", "this is no TOML"),
    ("[pearl.bead]", "[pearl.box]", "a rigid has this name already"),
    ("[rigid.box]", "[rigid.world]", "nothing else can be called world"),
    ('["rope", "end"]', '["rope", "top"]', "s must be a finite number, got 'top'"),
    ("at = 0.8", "at = 8.8", "at must be from 0 to the rod's length 1 m, got 8.8"),
    ("at = 0.9", "at = 1979-05-27", "at can't be a date"),
    ("control_points = 12", "control_points = 10000000", "control_points must be at most 100000"),
    ("mass = 0.3", "mass = nan", "mass must be a finite number above 0, got nan"),
    ("seconds = 2.0", 'record = "../out.glb"', "record must be a file name without a folder"),
    ("settle = true", 'settle = "yes"', "settle must be True or False"),
    ("straight = [[0, 0, 0.5], [1, 0, 0.5]]", 'through = "route.csv"', "a text has no folder"),
]


@pytest.mark.parametrize(("old", "new", "words"), WRONG, ids=[row[1] for row in WRONG])
def test_what_is_wrong_is_told_with_its_line(old: str, new: str, words: str) -> None:
    assert SCENE.count(old) >= 1
    text = SCENE.replace(old, new, 1)
    line = text[: text.index(new)].count("\n") + 1
    with pytest.raises(sn.InputError) as problem:
        scene_of_text(text, "scene.toml")
    assert str(problem.value).startswith(f"scene.toml, line {line}: "), problem.value
    assert words in str(problem.value) and "\n" not in str(problem.value)


def test_files_beside_a_scene_file(tmp_path: Path) -> None:
    text = SCENE.replace("straight = [[0, 0, 0.5], [1, 0, 0.5]]", 'through = "route.csv"')
    scene = tmp_path / "scene.toml"
    scene.write_text(text)
    with pytest.raises(sn.InputError, match=r"scene\.toml, line 7.*there is no file .*route\.csv"):
        read_scene(scene)
    (tmp_path / "route.csv").write_text("x_m,y_m,z_m\n0,0,0.5\n0.5,0,0.5\n1,0,0.5\n")
    assert read_scene(scene).scene.bodies[0].length == pytest.approx(1.0, abs=1e-9)
    (tmp_path / "route.csv").write_text('x_m,y_m,z_m\n0,0,"0,5"\n1,0,0\n')
    with pytest.raises(sn.InputError, match=r"route\.csv, line 2: z_m has a decimal comma, '0,5': write 0\.5"):
        read_scene(scene)
    secret = tmp_path.parent / f"{tmp_path.name}.csv"
    secret.write_text("x_m,y_m,z_m\n0,0,0\n1,0,0\n")
    (tmp_path / "link.csv").symlink_to(secret)
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zip.csv").write_bytes(b"PK\x03\x04 and so on")
    for name, words in (
        (f"../{secret.name}", "beside this one"), (str(secret), "beside this one"), ("link.csv", "is a link"),
        ("pipe.csv", "no plain file"), ("zip.csv", "an archive"),
    ):  # fmt: skip
        scene.write_text(text.replace("route.csv", name))
        with pytest.raises(sn.InputError, match=words):
            read_scene(scene)


def test_a_mesh_beside_a_scene_file(tmp_path: Path) -> None:
    import trimesh

    trimesh.creation.box((0.1, 0.2, 0.3)).export(tmp_path / "brick.stl")
    (tmp_path / "scene.toml").write_text('[rigid.brick]\nmesh = "brick.stl"\ndensity = 1000\n')
    made = sn.Scene.read(tmp_path / "scene.toml").bodies[0]
    assert made.mass == pytest.approx(6.0, rel=1e-6)  # the file has float32


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "archive", "latin", "missing"])
def test_only_plain_texts_are_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "scene.toml"
    if kind == "link":
        (tmp_path / "other.toml").write_text(SCENE)
        path.symlink_to(tmp_path / "other.toml")
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "archive":
        path.write_bytes(b"PK\x03\x04" + bytes(100))
    elif kind == "latin":
        path.write_bytes(SCENE.replace("hemp", "h\xe4mp").encode("latin-1"))
    with pytest.raises(sn.InputError, match=r"scene\.toml"):
        sn.Scene.read(path)


def test_the_run_table(tmp_path: Path) -> None:
    file = scene_of_text(SCENE)
    assert file.run.settle and file.run.seconds == 2.0 and file.run.dt is None
    assert file.things["hold", 0] is file.scene.constraints[0]


@pytest.mark.parametrize("name", ["scene.npz", "nowhere/scene.toml", ".", 5, b"x.toml"])
def test_where_nothing_can_be_written(name: object, tmp_path: Path) -> None:
    path = tmp_path / name if isinstance(name, str) else name
    with pytest.raises(sn.InputError):
        scene_of_text(SCENE).scene.write(path)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
