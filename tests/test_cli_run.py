"""``sennit run``: a script's scene, without a page."""

from __future__ import annotations

from pathlib import Path

import pytest

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
