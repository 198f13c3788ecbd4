"""Wheel and source archive: what is in them, and that the wheel works far from the source tree."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "sennit"
IGNORED = ("__pycache__", ".pyc")


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> dict[str, Path]:
    """The wheel and the source archive, built without a network by the backend that pyproject.toml names."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    program = "import sys, hatchling.build as b; print(b.build_wheel(sys.argv[1])); print(b.build_sdist(sys.argv[1]))"
    run([sys.executable, "-c", program, str(folder)], cwd=ROOT)
    return {"wheel": next(folder.glob("*.whl")), "sdist": next(folder.glob("*.tar.gz"))}


def run(command: list[str], **options) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def tracked(folder: Path) -> set[str]:
    return {
        path.relative_to(folder.parent).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not any(word in path.as_posix() for word in IGNORED)
    }


def test_the_wheel_holds_the_package_and_nothing_else(built) -> None:
    with zipfile.ZipFile(built["wheel"]) as wheel:
        names = set(wheel.namelist())
        assert all(
            info.file_size > 0 or info.filename.endswith("__init__.py")
            for info in wheel.infolist()
            if "py.typed" not in info.filename
        )
    package = {name for name in names if name.startswith("sennit/")}
    assert package == tracked(SOURCES)
    assert "sennit/py.typed" in package
    rest = {name.partition("/")[2] for name in names - package}
    assert rest == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}


def test_the_wheel_holds_what_pages_and_replays_are_made_of(built) -> None:
    with zipfile.ZipFile(built["wheel"]) as wheel:
        names = set(wheel.namelist())
    kinds = {Path(name).suffix for name in tracked(SOURCES)}
    for name in tracked(SOURCES):
        if Path(name).suffix not in (".py",):
            assert name in names
    assert {".html", ".js"} <= kinds or {".html"} <= kinds
    assert any(Path(name).name == "front.html" for name in names)
    assert any(Path(name).name.startswith("replay.") for name in names)


def test_the_source_archive_can_be_tested_and_built_from(built) -> None:
    with tarfile.open(built["sdist"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for wanted in (
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "src/sennit/py.typed",
        "tests/conftest.py",
        "peers/scripts/run_mujoco.py",
    ):
        assert wanted in names, wanted
    assert not [name for name in names if any(word in name for word in (*IGNORED, ".git/", "uv.lock", ".venv"))]


def test_metadata(built) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with zipfile.ZipFile(built["wheel"]) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith("/METADATA"))
        text = wheel.read(name).decode()
    assert f"\nVersion: {project['version']}\n" in text
    assert f"\nRequires-Python: {project['requires-python']}\n" in text


@pytest.fixture(scope="module")
def environment(built, tmp_path_factory) -> Path:
    """A new environment with the wheel in it; what the wheel depends on comes from the environment of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    run([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    site = Path(
        run([str(folder / "bin" / "python"), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()
    )
    with zipfile.ZipFile(built["wheel"]) as wheel:  # a pure wheel is installed by unpacking it
        wheel.extractall(site)
    (site / "outer.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder


def plain() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}


def python(environment: Path, *words: str) -> str:
    return run([str(environment / "bin" / "python"), *words], cwd=environment, env=plain())


@pytest.mark.skipif(os.name != "posix", reason="paths of an environment")
def test_the_wheel_works_without_the_source_tree(environment) -> None:
    program = (
        "import sennit as sn, pathlib; print(pathlib.Path(sn.__file__).parent)\n"
        "scene = sn.Scene(); ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0)); scene.run(0.1)\n"
        "print(ball.position[2] < 0)"
    )
    folder, fell = python(environment, "-c", program).splitlines()[-2:]
    assert Path(folder).is_relative_to(environment) and fell == "True"
    assert python(environment, "-m", "sennit", "--version").startswith("sennit ")
    assert "suture" in python(environment, "-m", "sennit", "demo")


@pytest.mark.skipif(os.name != "posix", reason="paths of an environment")
def test_the_wheel_holds_no_peers_and_says_so(built, environment) -> None:
    with zipfile.ZipFile(built["wheel"]) as wheel:
        assert not [name for name in wheel.namelist() if "peers" in name]
    command = [str(environment / "bin" / "python"), "-m", "sennit", "bench", "peers"]
    for words in ([], ["--install", "--only", "pypbd"]):
        done = subprocess.run(
            [*command, *words], capture_output=True, text=True, timeout=120, env=plain(), cwd=environment
        )
        assert done.returncode == 2 and done.stdout == ""
        assert "needs a checkout. Clone the repository" in done.stderr and "Traceback" not in done.stderr
    assert "peers" in python(environment, "-m", "sennit", "bench")


def test_import_is_silent_and_light() -> None:
    program = (
        "import sys, sennit\n"
        "heavy = {'numba', 'scipy', 'trimesh', 'viser', 'matplotlib', 'numpy'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("[]\n", "", 0)
