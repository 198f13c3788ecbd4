"""Wheel and source archive: what is in them, and that the wheel works far from the source tree."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.tags import sys_tags
from references.entries import LEFT_OUT, kernels_that_python_calls

from sennit import shipped_kernels
from sennit.compilation import PLAIN

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "sennit"
IGNORED = ("__pycache__", ".pyc")


NATIVE = {"SENNIT_KERNELS_CPU": "native"}
"""Wheels of these tests are for this machine's processor: their kernels are in the cache, as the other tests'."""


def build(what: str, folder: Path, root: Path = ROOT, **environment: str) -> Path:
    """Build without a network, by the backend that pyproject.toml names."""
    program = f"import sys; sys.path.insert(0, '.'); import hatch_build as b; print(b.build_{what}(sys.argv[1]))"
    printed = run([sys.executable, "-c", program, str(folder)], cwd=root, env=plain() | NATIVE | environment)
    return folder / printed.splitlines()[-1]


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> dict[str, Path]:
    """The wheel and the source archive."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    return {"wheel": build("wheel", folder), "sdist": build("sdist", folder)}


def run(command: list[str], **options) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr + done.stdout


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
    kernels = {name for name in package if name.startswith("sennit/shipped/")}
    assert package - kernels == tracked(SOURCES)
    assert {f"sennit/shipped/{part}.kernels" for part in ("scene", "strand", "zone", "linalg")} <= kernels
    assert all(name.endswith(".kernels") for name in kernels)
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
    assert {".html", ".js", ".css"} <= kinds
    assert any(Path(name).name == "page.html" for name in names)
    assert any(Path(name).name.startswith("replay.") for name in names)


def test_the_source_archive_can_be_tested_and_built_from(built) -> None:
    with tarfile.open(built["sdist"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for wanted in (
        "pyproject.toml",
        "hatch_build.py",
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
    with zipfile.ZipFile(built["wheel"]) as wheel:  # which is all that installing it means here
        wheel.extractall(site)
    (site / "outer.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder


def plain() -> dict[str, str]:
    hidden = ("PYTHONPATH", "PYTHONHOME", "SENNIT_KERNELS", "SENNIT_KERNELS_CPU")
    return {key: value for key, value in os.environ.items() if key not in hidden}


def python(environment: Path, *words: str) -> str:
    """What is printed on a machine that has never seen sennit: it must not need a compiler, nor write a kernel."""
    cache = environment / "never" / "seen"
    found = run(
        [str(environment / "bin" / "python"), *words], cwd=environment, env=plain() | {"SENNIT_CACHE_DIR": str(cache)}
    )
    assert not list(cache.rglob("*.o"))
    return found


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


# Kernels


def kernels_in(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name.endswith(".kernels")}


def test_the_wheel_is_for_this_platform_and_every_python(built) -> None:
    with zipfile.ZipFile(built["wheel"]) as wheel:
        text = wheel.read(next(name for name in wheel.namelist() if name.endswith("/WHEEL"))).decode()
    assert "Root-Is-Purelib: false" in text
    tag = next(tag for tag in sys_tags() if tag.platform == re.sub("[-.]", "_", sysconfig.get_platform()))
    assert (
        built["wheel"].stem.split("-")[-3:] == ["py3", "none", tag.platform] and f"Tag: py3-none-{tag.platform}" in text
    )


HIDDEN = "import sys; sys.modules.update(numba=None, scipy=None)\n"  # to import one of them is an error
FIRST_STEP = (
    "import sennit as sn\n"
    "scene = sn.Scene()\n"
    "rope = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=sn.Section.circle(0.01),\n"
    "                                 material=sn.Material(1e7, 0.4, 1000.0), control_points=6))\n"
    "scene.add(sn.Clamp(rope.at(0.0)))\n"
    "scene.run(0.01, dt=1e-3)\n"
    "strand = sn.Strand(0.5, section=sn.Section.circle(0.002), material=sn.Material(1e9, 0.4, 1000.0), nodes=9)\n"
    "state = strand.solve(base=sn.Pose(), tip_force=(0.1, 0, 0))\n"
    "print([rope.control_points.tolist(), state.positions.tolist(), scene.energy.total])\n"
)


@pytest.mark.skipif(os.name != "posix", reason="paths of an environment")
def test_a_first_step_needs_neither_numba_nor_scipy_and_is_the_same(environment) -> None:
    found = json.loads(python(environment, "-c", HIDDEN + FIRST_STEP))
    assert not (environment / "never" / "seen").exists()
    here = run([sys.executable, "-c", FIRST_STEP], env=plain() | NATIVE).splitlines()[-1]
    assert found == json.loads(here)  # bit by bit: the same compiler, the same processor


@pytest.mark.skipif(os.name != "posix", reason="paths of an environment")
def test_what_the_readme_shows_is_not_compiled(environment) -> None:
    """But for zones: what their stiffness is made of is shared out among cores by Numba's library."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    programs = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "Zone" not in block]
    assert len(programs) >= 4
    for program in programs:
        python(environment, "-c", "import sys; sys.modules.update(numba=None)\n" + program)


@pytest.mark.skipif(os.name != "posix", reason="paths of an environment")
def test_the_cache_command_says_where_kernels_came_from(environment) -> None:
    lines = python(environment, "-m", "sennit", "cache").splitlines()
    told = {line.split()[0]: line for line in lines if "came with the wheel" in line}
    assert {"scene", "strand", "zone"} <= set(told) and all(line.endswith(", used") for line in told.values())


@pytest.mark.skipif(PLAIN, reason="kernels are not compiled")
def test_every_kernel_that_python_calls_is_in_the_wheel(built) -> None:
    inside = set()
    for content in kernels_in(built["wheel"]).values():
        line = content[shipped_kernels._MARK :].partition(b"\n")[0]
        inside |= {name.rpartition("-")[0].removeprefix("sennit.") for name in json.loads(line)["objects"]}
    called = kernels_that_python_calls()
    assert len(called) > 100
    missing = {name for name in called - inside if not any(name.startswith(reason) for reason in LEFT_OUT)}
    assert not missing, f"rehearse them in rehearsal.py, or say in LEFT_OUT why not: {sorted(missing)}"


@pytest.mark.slow
def test_a_wheel_from_the_source_archive_is_the_same(built, tmp_path) -> None:
    with tarfile.open(built["sdist"]) as archive:
        archive.extractall(tmp_path, filter="data")
    again = build("wheel", tmp_path, next(path for path in tmp_path.iterdir() if path.is_dir()))
    assert again.name == built["wheel"].name and kernels_in(again) == kernels_in(built["wheel"])


def backend(words: str, **environment: str) -> str:
    """What the build backend answers."""
    program = f"import json, sys; sys.path.insert(0, '.'); import hatch_build as b; {words}"
    return run([sys.executable, "-c", program], cwd=ROOT, env=plain() | environment).splitlines()[-1]


def test_a_checkout_is_installed_without_compiling(tmp_path) -> None:
    """An editable installation, and a wheel for any machine, look at no kernel and need no compiler."""
    pytest.importorskip("hatchling")
    cache = {"SENNIT_CACHE_DIR": str(tmp_path / "cache")}
    hook = "data = {}; b.Kernels('.', {}, None, None, '', 'wheel').initialize('editable', data); print(data)"
    assert backend(hook, **cache) == "{}"
    made = build("wheel", tmp_path, SENNIT_KERNELS_CPU="none", **cache)
    assert made.name.endswith("-py3-none-any.whl") and not kernels_in(made)
    assert not (tmp_path / "cache").exists()
    editable, wheel, other = (
        [
            line.partition(">")[0]
            for line in json.loads(backend(f"print(json.dumps(b.get_requires_for_build_{what}()))", **more))
        ]
        for what, more in (("editable", {}), ("wheel", {}), ("wheel", {"SENNIT_KERNELS_CPU": "none"}))
    )
    assert {"numba", "numpy", "scipy"} <= set(wheel) and not {"numba", "numpy", "scipy"} & {*editable, *other}


def test_import_is_silent_and_light() -> None:
    program = (
        "import sys, sennit\n"
        "heavy = {'numba', 'scipy', 'trimesh', 'websockets', 'matplotlib', 'numpy'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("[]\n", "", 0)
