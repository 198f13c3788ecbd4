"""``sennit run``: a script's scene, without a page."""

from __future__ import annotations

import importlib
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import sennit as sn
from sennit.cli import main

SCRIPT = """
import sennit as sn

scene = sn.Scene()
ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
calls = []

def before_step(dt):
    calls.append(dt)
    if len(calls) == 3:
        ball.velocity = (1, 0, 0)

if __name__ == "__main__":
    raise SystemExit("not meant to be run")
"""


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a script leaves behind goes with its test."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.delitem(sys.modules, "sennit_scene", raising=False)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "falling.py"
    path.write_text(SCRIPT)
    return path


def test_headless(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(script), "--headless", "--seconds", "0.1", "--dt", "0.01"]) == 0
    out = capsys.readouterr().out
    assert "0.1 s simulated" in out and "0 events" in out


def test_recorded(script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "falling.npz"
    assert main(["run", str(script), "--seconds", "0.1", "--dt", "0.01", "--output", str(target)]) == 0
    assert target.is_file() and "falling.npz" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [("x = 1", "no module-level scene"), ("scene = 3", "no module-level scene"),
     ("import sennit\nscene = sennit.Scene()\nbefore_step = 3", "before_step")],
)  # fmt: skip
def test_scripts_without_a_scene(tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty.py"
    path.write_text(text)
    assert main(["run", str(path), "--headless"]) == 2
    assert message in capsys.readouterr().err


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "nowhere.py"]) == 2
    assert "nowhere.py" in capsys.readouterr().err


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    scene = sn.Scene(name="a falling ball")
    scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    scene.save(tmp_path / "ball.npz")
    return tmp_path / "ball.npz"


def test_a_saved_scene_is_opened_on_the_page(saved: Path, script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[Any, ...]] = []
    module = importlib.import_module("sennit.view")  # sennit.view may be the function of that name

    def view(scene: Any, before: Any, **more: Any) -> None:
        opened.append((scene, before, more["title"]))

    monkeypatch.setattr(module, "view", view, raising=False)
    assert main(["run", str(saved), "--no-browser"]) == 0
    ((scene, before, title),) = opened
    assert isinstance(scene, sn.Scene) and len(scene.bodies) == 1
    assert before is None and title == "a falling ball"
    # a script without a name for its scene lends it its own
    assert main(["run", str(script), "--no-browser"]) == 0
    assert opened[1][2] == "falling" and callable(opened[1][1])


def test_a_saved_scene_without_a_page(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(saved), "--headless", "--seconds", "0.1"]) == 0
    assert "0.1 s simulated" in capsys.readouterr().out
    for name in ("film.npz", "still.png", "table.csv"):
        assert main(["run", str(saved), "--seconds", "0.1", "--output", str(tmp_path / name)]) == 0
        assert (tmp_path / name).stat().st_size > 100
    assert (tmp_path / "film.npz").is_file()


@pytest.mark.parametrize("name", ["evil.npz", "evil.zip", "evil", "evil.py", "evil.pyc", "evil.pyz"])
def test_nothing_in_an_archive_is_executed(
    name: str, saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A saved scene into which somebody put a program, under any name."""
    flag = tmp_path / "executed"
    program = f"import pathlib; pathlib.Path({str(flag)!r}).touch()\n"
    evil = tmp_path / name
    evil.write_bytes(saved.read_bytes())
    with zipfile.ZipFile(evil, "a") as archive:
        for member in ("__main__.py", "__init__.py", "sennit_scene.py", "numpy.py"):
            archive.writestr(member, program)
    assert main(["run", str(evil), "--headless", "--seconds", "0.01"]) == 2
    assert not flag.exists()
    message = capsys.readouterr().err
    assert "no Python text" in message if name.endswith(".py") else ".py" in message and "no array" in message


def test_only_files_called_py_are_executed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flag = tmp_path / "executed"
    program = SCRIPT + f"import pathlib; pathlib.Path({str(flag)!r}).touch()\n"
    for name in ("falling.txt", "falling", "falling.py.npz"):
        (tmp_path / name).write_text(program)
        assert main(["run", str(tmp_path / name), "--headless", "--seconds", "0.01"]) == 2
        assert "saved scenes" in capsys.readouterr().err
        assert not flag.exists()
    (tmp_path / "falling.py").write_text(program)
    assert main(["run", str(tmp_path / "falling.py"), "--headless", "--seconds", "0.01"]) == 0
    assert flag.exists()


def test_a_folder_with_a_program_is_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "folder.py" / "__main__.py").write_text("raise SystemExit('executed')")
    assert main(["run", str(tmp_path / "folder.py")]) == 2
    assert "there is no file" in capsys.readouterr().err


SCENE_FILE = """
run = { settle = true, seconds = 0.1, dt = 0.01 }
material.hemp = { youngs_modulus = 1e7, poisson_ratio = 0.4, density = 1000 }
section.rope = { circle = 5e-3 }
rod.rope = { straight = [[0, 0, 0], [1, 0, 0]], section = "rope", material = "hemp", control_points = 8 }
hold = [{ kind = "clamp", p = ["rope", 0.0] }]
"""


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    path = tmp_path / "rope.toml"
    path.write_text(SCENE_FILE)
    return path


def test_a_scene_file_runs_as_it_says(scene_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(scene_file), "--headless"]) == 0
    out = capsys.readouterr().out
    assert "At rest: converged, stable." in out and "0.1 s simulated" in out
    assert main(["run", str(scene_file), "--headless", "--seconds", "0.05"]) == 0
    assert "0.05 s simulated" in capsys.readouterr().out


def test_a_scene_file_records_beside_itself(scene_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene_file.write_text(SCENE_FILE.replace("settle = true,", 'record = "out.npz",'))
    assert main(["run", str(scene_file)]) == 0
    assert (scene_file.parent / "out.npz").is_file() and "out.npz" in capsys.readouterr().out


def test_what_is_wrong_in_a_scene_file_is_told(scene_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene_file.write_text(SCENE_FILE.replace("circle", "cirle"))
    assert main(["run", str(scene_file), "--headless"]) == 2
    assert "rope.toml, line 4: [section.rope]: there is no section maker 'cirle'" in capsys.readouterr().err


@pytest.mark.parametrize("output", ["film.xyz", "nowhere/film.npz", "."])
def test_the_output_is_judged_before_a_script_is_executed(
    output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "slow.py"
    path.write_text("open(__file__ + '.ran', 'w')\n" + SCRIPT)
    assert main(["run", str(path), "--output", str(tmp_path / output)]) == 2
    assert not (tmp_path / "slow.py.ran").exists()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["slow.py"]
    assert "sennit: " in capsys.readouterr().err
