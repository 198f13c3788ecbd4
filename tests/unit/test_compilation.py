"""Machine code of kernels: what it is stamped with, where it is kept, when it is thrown away and what may go wrong."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from references.small_package import SOURCES, write_package

from sennit import compile_once, kernel_cache, numba_cache
from sennit.compile_once import part_of_group
from sennit.kernel_cache import PARTS, cache_folder, kept_folders, kernel_folder, part_of, remove_unused, stamp

PACKAGE = Path(kernel_cache.__file__).parent


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return write_package(tmp_path / "clone" / "sennit")


def stamps(root: Path) -> dict[str, str]:
    for function in (kernel_cache._imports, kernel_cache.sources, stamp):
        function.cache_clear()
    return {part: stamp(part, root) for part in PARTS}


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Nothing that a test made known here is left for the others."""
    yield
    for function in (kernel_cache._imports, kernel_cache.sources, stamp, kernel_folder):
        function.cache_clear()


# Stamps


@pytest.mark.parametrize(
    ("edited", "parts"),
    [
        ("elastostatics/contact/kernels/press.py", {"zone"}),
        ("cosserat/kernels/sweep.py", {"strand"}),
        ("solve/kernels/stage.py", {"scene"}),
        ("linalg/kernels/bounded.py", {"linalg", "zone"}),
        ("geometry/kernels/algebra.py", {"geometry", "strand", "scene"}),
        ("geometry/kernels/distances.py", {"geometry", "scene"}),  # the points import the folder
        *((name, set(PARTS)) for name in kernel_cache._COMPILER),
        ("tables.py", set()),
        ("compile_once.py", set()),
        ("solve/stepper.py", set()),
    ],
)
def test_an_edit_stamps_the_parts_that_reach_it_and_no_others(package: Path, edited: str, parts: set[str]) -> None:
    before = stamps(package)
    with (package / edited).open("a", encoding="utf-8") as file:
        file.write("\nTHREE = 3\n")
    after = stamps(package)
    assert {part for part in PARTS if before[part] != after[part]} == parts


def test_a_stamp_is_the_same_wherever_the_package_stands(package: Path, tmp_path: Path) -> None:
    assert stamps(package) == stamps(write_package(tmp_path / "other" / "sennit"))


def test_a_file_that_is_moved_has_another_stamp(package: Path) -> None:
    before = stamps(package)
    (package / "cosserat/kernels/sweep.py").rename(package / "cosserat/kernels/march.py")
    assert stamps(package)["strand"] != before["strand"]


def test_the_mode_is_part_of_the_stamp(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = stamps(package)
    monkeypatch.setattr(kernel_cache, "MODE", "strict")
    assert all(before[part] != other for part, other in stamps(package).items())


@pytest.mark.parametrize(
    "line",
    [
        "from sennit.linalg.kernels.bounded import solve",
        "from sennit.linalg.kernels import bounded",
        "from sennit.linalg import kernels",
        "import sennit.linalg.kernels.bounded as bounded",
        "from ...linalg.kernels.bounded import solve",
        "from ...linalg.kernels import bounded",
        "if True:\n    from sennit.linalg.kernels.bounded import solve",
    ],
)
def test_every_way_to_import_is_followed(package: Path, line: str) -> None:
    path = package / "cosserat/kernels/sweep.py"
    path.write_text(f'"""Text\nfrom \nimport ..\nfrom .\n"""\n{line}\n', encoding="utf-8")
    assert package / "linalg/kernels/bounded.py" in kernel_cache._imports(path, package)


def test_a_circle_of_imports_ends(package: Path) -> None:
    with (package / "linalg/kernels/bounded.py").open("a", encoding="utf-8") as file:
        file.write("from sennit.elastostatics.contact.kernels import press\n")
    found = stamps(package)
    assert found["linalg"] == found["zone"] != found["strand"]


def imports_by_parser(path: Path) -> set[Path]:
    """What `kernel_cache._imports` must find at least, for files that import by full names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("sennit."):
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("sennit.")]
        else:
            assert not (isinstance(node, ast.ImportFrom) and node.level), "a relative import"
            continue
        for name in names:
            file = PACKAGE.joinpath(*name.split(".")[1:]).with_suffix(".py")
            if file.parent.name == "kernels" and file.is_file():
                found.add(file)
    return found


def test_the_parser_finds_no_more_imports() -> None:
    files = sorted(PACKAGE.rglob("kernels/*.py"))
    assert {path: imports_by_parser(path) - set(kernel_cache._imports(path, PACKAGE)) for path in files} == {
        path: set() for path in files
    }
    assert any(imports_by_parser(path) for path in files)


def test_each_kernel_file_belongs_to_a_part() -> None:
    found = {part_of(".".join(("sennit", *p.relative_to(PACKAGE).with_suffix("").parts)))
             for p in PACKAGE.rglob("kernels/*.py")}  # fmt: skip
    assert found == set(PARTS)
    assert part_of("sennit.solve.stepper") is None and part_of("sennit") is None and part_of("__main__") is None
    assert part_of("other.solve.kernels.stage") is None


# Folders


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder."""
    monkeypatch.setenv("SENNIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("SENNIT_CACHE_LIMIT_MB", raising=False)
    kernel_folder.cache_clear()
    return tmp_path / "cache"


def fill(folder: Path, *, megabytes: float, days: float) -> Path:
    """A folder of machine code that was used some days ago."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stage.nbc").write_bytes(bytes(int(megabytes * 2**20)))
    (folder / "scene.ready").touch()
    used = time.time() - days * 86400
    os.utime(folder, (used, used))
    return folder


def names(cache: Path) -> set[str]:
    return {path.name for path in (cache / "kernels").iterdir() if any(path.iterdir())}


def test_a_folder_tells_its_part_and_is_marked_as_used(cache: Path) -> None:
    folder = kernel_folder("zone")
    assert folder == cache / "kernels" / f"zone-{stamp('zone')}" and folder.is_dir()
    fill(folder, megabytes=0, days=30)
    kernel_folder.cache_clear()
    assert time.time() - kernel_folder("zone").stat().st_mtime < 3600


def test_a_cache_that_cannot_be_written_is_replaced(cache: Path) -> None:
    cache.write_text("a file where the folder should be", encoding="utf-8")
    folders = {kernel_folder(part) for part in PARTS}
    assert len(folders) == len(PARTS) and all(folder.is_dir() for folder in folders)
    assert {folder.parent for folder in folders} == {kernel_cache._temporary_folder()}
    remove_unused()
    assert all(folder.is_dir() for folder in folders)


def test_only_folders_of_machine_code_are_looked_at(cache: Path) -> None:
    fill(cache / "kernels" / "scene-0123456789abcdef", megabytes=0, days=0)
    fill(cache / "kernels" / "0123456789abcdef", megabytes=0, days=0)
    fill(cache / "kernels" / "my-notes", megabytes=0, days=0)
    fill(cache.parent / "outside", megabytes=0, days=0)
    (cache / "kernels" / "scene-fedcba9876543210").symlink_to(cache.parent / "outside")
    assert [(path.name, part) for path, part in kept_folders()] == [
        ("0123456789abcdef", ""),
        ("scene-0123456789abcdef", "scene"),
    ]


def test_folders_used_longest_ago_go_first_and_only_above_the_limit(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for k, days in enumerate((20, 50, 30, 40)):
        fill(cache / "kernels" / f"scene-{k:016x}", megabytes=1, days=days)
    own = fill(kernel_folder("scene"), megabytes=1, days=90)
    remove_unused()  # far below 1 GiB
    assert len(names(cache)) == 5
    monkeypatch.setenv("SENNIT_CACHE_LIMIT_MB", "3.5")
    remove_unused()
    assert names(cache) == {f"scene-{0:016x}", f"scene-{2:016x}", own.name}
    monkeypatch.setenv("SENNIT_CACHE_LIMIT_MB", "0")
    remove_unused()
    assert names(cache) == {own.name}


def test_folders_in_use_stay_until_there_is_far_too_much(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENNIT_CACHE_LIMIT_MB", "1")
    for k in range(4):
        fill(cache / "kernels" / f"zone-{k:016x}", megabytes=1, days=13 - k)
    remove_unused()
    assert len(names(cache)) == 4
    fill(cache / "kernels" / f"zone-{4:016x}", megabytes=1, days=0)
    remove_unused()
    assert names(cache) == {f"zone-{k:016x}" for k in (1, 2, 3, 4)}


@pytest.mark.parametrize("text", ["", "much", "nan", "inf"])
def test_a_limit_that_is_no_number_is_the_default(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENNIT_CACHE_LIMIT_MB", text)
    assert kernel_cache.size_limit() == 2**30


def test_folders_that_vanish_meanwhile_are_no_error(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fill(cache / "kernels" / f"zone-{1:016x}", megabytes=1, days=50)
    monkeypatch.setenv("SENNIT_CACHE_LIMIT_MB", "0")
    monkeypatch.setattr(kernel_cache, "kept_folders", lambda: [(folder.with_name("gone"), "zone"), (folder, "zone")])
    remove_unused()
    assert not folder.exists()


# Markers


@pytest.fixture
def compile_group(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """``compile_once`` as a new process calls it; returns how many steps it ran."""
    monkeypatch.setattr(compile_once, "PLAIN", False)

    def once(group: str, step: Callable[[], object] = lambda: None) -> int:
        ran: list[int] = []
        monkeypatch.setattr(compile_once, "_compiled_groups", set())
        compile_once.compile_once(group, [lambda: (ran.append(1), step())])
        return len(ran)

    return once


def test_steps_run_once_for_each_version_of_the_part(compile_group: Callable[..., int]) -> None:
    for group, part in (("strand", "strand"), ("scene", "scene"), ("zone", "zone"), ("boundary element", "zone")):
        assert compile_group(group) == 1
        assert (kernel_folder(part) / f"{group}.ready").is_file()
        assert compile_group(group) == 0
    shutil.rmtree(kernel_folder("zone"))
    assert [compile_group(group) for group in ("strand", "scene", "zone", "boundary element")] == [0, 0, 1, 1]


@pytest.mark.parametrize("group", compile_once.UNITS)
def test_what_there_is_to_do_is_about_what_was_done(group: str) -> None:
    """Of a bar that is told too little all is done long before the end. Less was done where some was kept before."""
    marker = kernel_folder(part_of_group(group)) / f"{group}.ready"
    if not marker.exists():
        pytest.skip("compiled by nobody yet, or in a wheel")
    assert int(marker.read_text() or 0) <= 1.25 * compile_once.UNITS[group]


def test_a_folder_that_vanishes_while_steps_run_is_made_again(compile_group: Callable[..., int], cache: Path) -> None:
    assert compile_group("strand", step=lambda: shutil.rmtree(cache)) == 1
    assert compile_group("strand") == 0


@pytest.fixture
def beside(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module with what a second process runs, and where it notes that it did, and in which process."""
    folder = cache.parent / "modules"
    folder.mkdir()
    (folder / "beside_this.py").write_text(
        "import os\nfrom pathlib import Path\nnotes = Path(__file__).with_name('notes')\n"
        "def note():\n    with notes.open('a') as file:\n        file.write(f'{os.getpid()}\\n')\n"
        "def fail():\n    note()\n    if len(notes.read_text().split()) == 1:\n        os.abort()\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "beside_this", raising=False)
    monkeypatch.setattr(compile_once, "PLAIN", False)
    monkeypatch.setattr(compile_once, "ONE_BY_ONE", False)
    monkeypatch.setattr(compile_once, "_compiled_groups", set())
    return folder / "notes"


def noted(notes: Path) -> list[bool]:
    """Of each run, whether it was in another process than this one."""
    return [int(line) != os.getpid() for line in notes.read_text(encoding="utf-8").split()]


@pytest.mark.parametrize(
    ("function", "cores", "expected"),
    [("note", 2, [True, False]), ("fail", 2, [True, False]), ("note", 1, [False])],
)
def test_a_second_process_compiles_beside_and_this_one_what_it_did_not(
    beside: Path, monkeypatch: pytest.MonkeyPatch, function: str, cores: int, expected: list[bool]
) -> None:
    """The second run, of this process, finds what the other has left on disk."""
    monkeypatch.setattr(compile_once, "_cores", lambda: cores)
    ran: list[int] = []
    other = compile_once.Beside("step", f"beside_this:{function}")
    compile_once.compile_once("scene", [lambda: ran.append(1), lambda: ran.append(2)], other)
    assert ran == [1, 2] and noted(beside) == expected
    assert all((kernel_folder("scene") / f"{group}.ready").is_file() for group in ("scene", "step"))
    compile_once.compile_once("scene", [lambda: ran.append(3)], other)
    assert ran == [1, 2] and noted(beside) == expected


def test_of_two_groups_only_what_is_missing_is_compiled(beside: Path) -> None:
    ran: list[int] = []
    compile_once.compile_once("scene", [lambda: ran.append(1)])
    compile_once.compile_once("scene", [lambda: ran.append(2)], compile_once.Beside("step", "beside_this:note"))
    assert ran == [1] and noted(beside) == [False]


def test_steps_ask_for_no_other_group(compile_group: Callable[..., int]) -> None:
    """What a step compiles on its way belongs to its own group: the other one is asked for by who needs it."""
    ran: list[int] = []

    def step() -> None:
        compile_once.compile_once("touching", [lambda: ran.append(1)])

    assert compile_group("scene", step) == 1 and not ran
    assert compile_group("touching") == 1


def test_what_is_told_says_how_long(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Where standard error is no terminal, a line now and then."""
    course = compile_once._Course("scene")
    assert course.share == 0.0 and str(course) == "0 s"
    course.advance(compile_once.UNITS["scene"] // 2)
    monkeypatch.setattr(compile_once, "_PAUSE", 0.01)
    with compile_once._told(course):
        time.sleep(0.2)
    told = capfd.readouterr().err
    assert told.startswith("Compiling the scene kernels (once on this machine) ...\n") and ": 50 %, 0 s, about" in told
    both = compile_once._Course("scene", "step")
    both.advance(compile_once.UNITS["scene"])
    both.advance(compile_once.UNITS["step"] // 2, "step")
    expected = compile_once.UNITS["scene"] + compile_once.UNITS["step"] // 2
    assert both.share == expected / (compile_once.UNITS["scene"] + compile_once.UNITS["step"])
    assert both.text == "Compiling the scene and step kernels (once on this machine)"
    course.advance(10**6)
    assert course.share == 0.99
    assert compile_once._Course("unheard of").share is None


# Processes

PROGRAM = """
import json, sys
from sennit import kernel_cache
from sennit.cosserat.kernels.sweep import sweep
from sennit.elastostatics.contact.kernels.press import press
from sennit.solve.kernels.stage import step
found = {}
for kernel in (sweep, press, step):
    if "vanish" in sys.argv:
        import shutil
        shutil.rmtree(kernel_cache.cache_folder(), ignore_errors=True)
    value = kernel(3)
    found[kernel.__name__] = [value, {"disk": True, "compiled": False}[kernel.origins[int,]]]
kernel_cache.remove_unused()
print(json.dumps(found))
"""


def run(package: Path, cache: Path, *words: str, **environment: str) -> dict[str, Any]:
    """Value of each kernel, and whether its machine code was there."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA_", "SENNIT_", "PYTHON"))}
    places = {"PYTHONPATH": str(package.parent), "SENNIT_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], env=kept | places | environment, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compiled(found: dict[str, Any]) -> set[str]:
    return {name for name, (_, loaded) in found.items() if not loaded}


@pytest.mark.slow
def test_two_clones_keep_their_code_and_an_edit_compiles_its_part_alone(package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert run(package, cache) == {"sweep": [6, False], "press": [4, False], "step": [6, False]}
    size = sum(path.stat().st_size for path in cache.rglob("*"))
    small = {"SENNIT_CACHE_LIMIT_MB": str(0.8 * size / 2**20)}  # less than one of them needs
    other = write_package(tmp_path / "other" / "sennit")
    (other / "linalg/kernels/bounded.py").write_text(
        SOURCES["linalg/kernels/bounded.py"].replace("x + 1", "x - 1"), encoding="utf-8"
    )
    found = run(other, cache, **small)
    assert found["press"] == [2, False] and compiled(found) == {"press"}
    for clone, value in ((package, 4), (other, 2)):
        found = run(clone, cache, **small)
        assert compiled(found) == set() and found["press"][0] == value
    parts = [part for _, part in kept_folders_in(cache)]
    assert {part: parts.count(part) for part in PARTS} == dict.fromkeys(PARTS, 1) | {"linalg": 2, "zone": 2}


def kept_folders_in(cache: Path) -> list[tuple[Path, str]]:
    before = os.environ.get("SENNIT_CACHE_DIR")
    os.environ["SENNIT_CACHE_DIR"] = str(cache)
    try:
        assert cache_folder() == cache
        return kept_folders()
    finally:
        if before is None:
            del os.environ["SENNIT_CACHE_DIR"]
        else:
            os.environ["SENNIT_CACHE_DIR"] = before


@pytest.mark.slow
def test_files_are_named_by_module_and_damaged_ones_are_written_again(package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    # The same name on the same line of a file of the same name.
    twin = package / "bodies/kernels/stage.py"
    twin.parent.mkdir(parents=True)
    text = "from sennit.compilation import kernel\nimport math\n@kernel\ndef step(x):\n    return 7 * x\n"
    twin.write_text(text, encoding="utf-8")
    with (package / "solve/kernels/stage.py").open("a", encoding="utf-8") as file:
        file.write("from sennit.bodies.kernels.stage import step as other_step\nassert other_step(1) == 7\n")
    for environment in ({}, {"NUMBA_CACHE_LOCATOR_CLASSES": "UserWideCacheLocator", "NUMBA_CACHE_DIR": str(tmp_path)}):
        assert run(package, cache, **environment)["step"][0] == 6
    folder = next(path for path, part in kept_folders_in(cache) if part == "scene")
    files = {path.name.partition("-")[0] for path in folder.glob("*.o")}
    assert {"sennit.solve.kernels.stage.step", "sennit.bodies.kernels.stage.step"} <= files
    whole = {path: path.read_bytes() for path in cache.rglob("*.o")}
    for keep in (0, 100):
        for path, content in whole.items():
            path.write_bytes(content[:keep])
        assert compiled(run(package, cache)) == {"sweep", "press", "step"}
        assert compiled(run(package, cache)) == set()


@pytest.mark.slow
def test_a_cache_that_vanishes_while_kernels_run_is_no_error(package: Path, tmp_path: Path) -> None:
    found = run(package, tmp_path / "cache", "vanish")
    assert [value for value, _ in found.values()] == [6, 4, 6]
    # What was compiled last was kept all the same.
    assert "step" not in compiled(run(package, tmp_path / "cache"))


def test_a_save_that_fails_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(numba_cache.FunctionCache, "save_overload", fail)
    monkeypatch.setattr(numba_cache.FunctionCache, "load_overload", fail)
    cache = object.__new__(numba_cache.NumbaCache)
    cache.save_overload(None, None)
    assert cache.load_overload(None, None) is None
