"""Machine code that comes with a wheel: when it is taken, when it is not, and what is said then."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from references.small_package import SOURCES, write_package

from sennit import (
    cli,
    compile_once,
    kernel_arguments,
    kernel_cache,
    pack_kernels,
    processor,
    shipped_kernels,
    whole_program,
)
from sennit.compilation import PLAIN, kernel
from sennit.errors import InputError
from sennit.scene import contents
from sennit.shipped_kernels import described, facts, shipped_code, shipped_groups, write_shipped

PACKAGE = Path(kernel_cache.__file__).parent


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Nothing that a test made known here is left for the others."""
    yield
    for function in (shipped_kernels._shipped, processor._has, processor.host):
        function.cache_clear()


# Processors


@pytest.mark.skipif(not sys.platform.startswith("linux") or platform.machine() != "x86_64", reason="asks its loader")
def test_the_system_says_the_same_of_this_processor() -> None:
    """glibc's loader lists the levels that it looks for libraries of."""
    loader = Path("/lib64/ld-linux-x86-64.so.2")
    told = subprocess.run([loader, "--help"], capture_output=True, text=True).stdout if loader.exists() else ""
    lines = [line for line in told.splitlines() if line.strip().startswith("x86-64-v3")]
    if not lines:
        pytest.skip("this loader knows no levels")
    assert (processor.lacking("x86-64-v3") == []) == ("supported" in lines[0])


def test_each_feature_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "baseline", lambda: "x86-64-v3")
    needed = processor._FEATURES["x86-64-v3"]
    monkeypatch.setattr(processor, "_has", lambda: frozenset(needed))
    assert processor.lacking("x86-64-v3") == []
    for feature in needed:
        monkeypatch.setattr(processor, "_has", lambda feature=feature: frozenset(needed) - {feature})
        assert processor.lacking("x86-64-v3") == [feature]
    assert processor.lacking("x86-64-v4") == ["what x86-64-v4 has"]


def test_processors_that_hide_something_are_others(monkeypatch: pytest.MonkeyPatch) -> None:
    before = processor.host()
    processor.host.cache_clear()
    monkeypatch.setattr(processor, "_has", lambda: frozenset(["nothing"]))
    assert processor.host() != before and processor.host().partition("-")[0] == before.partition("-")[0]


def test_a_choice_that_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for choice in ("", "native"):
        monkeypatch.setattr(processor, "CHOICE", choice)
        assert processor.target() == processor.host()
    monkeypatch.setattr(processor, "CHOICE", "i386")
    with pytest.raises(InputError, match=r'SENNIT_KERNELS_CPU is "i386": leave it unset, or choose "native" or'):
        processor.target()
    monkeypatch.setattr(processor, "CHOICE", processor.baseline())
    monkeypatch.setattr(processor, "lacking", lambda name: [])
    assert processor.choice_for_wheels() == processor.baseline()
    monkeypatch.setattr(processor, "lacking", lambda name: ["avx2", "fma"])
    assert processor.choice_for_wheels() == "native"
    with pytest.raises(InputError, match="this processor lacks avx2, fma"):
        processor.target()


@kernel
def add_scaled(x, y):
    for i in range(len(x)):
        y[i] += 2.5 * x[i]


@pytest.mark.skipif(platform.machine() != "x86_64" or PLAIN, reason="looks at instructions of x86-64")
def test_code_for_all_processors_has_no_newer_instructions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The GNU disassembler finds vectors of AVX2, and neither the registers nor the masks of AVX-512."""
    if shutil.which("objdump") is None:
        pytest.skip("no disassembler")
    if processor.lacking(processor.baseline()):
        pytest.skip(f"this processor is below {processor.baseline()}")
    monkeypatch.setattr(processor, "CHOICE", processor.baseline())
    kinds = (kernel_arguments.Array("<f8", 1, "C"),) * 2
    code = whole_program.compiled_entry(add_scaled.lowered, "sennit_test", kinds)
    assert code is not None
    (tmp_path / "code.o").write_bytes(code)
    text = subprocess.run(["objdump", "-d", tmp_path / "code.o"], capture_output=True, text=True, check=True).stdout
    assert "%ymm" in text and not re.search(r"%zmm|%k[1-7]|%[xy]mm(1[6-9]|2\d|3[01])", text)


# Files


@pytest.fixture
def ship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Puts a file for the strands where a wheel would have it."""
    monkeypatch.setattr(shipped_kernels, "FOLDER", tmp_path / "shipped")

    def shipped(**others: str) -> Path:
        shipped_kernels._shipped.cache_clear()
        path = shipped_kernels.shipped_file("strand")
        write_shipped(path, facts("strand") | others, ["strand"], {"sweep": b"one\n", "march": b"", "turn": b"\ntwo"})
        return path

    return shipped


def test_what_was_written_is_read(ship: Callable[..., Path]) -> None:
    assert described("strand") is None and shipped_code("strand", "sweep") is None
    ship()
    assert [shipped_code("strand", name) for name in ("sweep", "march", "turn")] == [b"one\n", b"", b"\ntwo"]
    assert shipped_code("strand", "other") is None and shipped_groups("strand") == {"strand"}
    assert described("strand") == f"3 kernels for {processor.host()}, used"
    assert described("zone") is None and shipped_groups("zone") == frozenset()


@pytest.mark.parametrize(
    ("of", "why"),
    [
        ({"platform": "vax-vms"}, "for vax-vms, this is"),
        ({"python": "jython"}, "for jython, this is"),
        ({"mode": "strict"}, "SENNIT_KERNELS="),
        ({"processor": "z80"}, "for z80, this processor lacks what z80 has"),
        ({"sources": "0" * 64}, "the sources were edited"),
    ],
)
def test_what_does_not_fit_is_not_used(ship: Callable[..., Path], of: dict[str, str], why: str) -> None:
    ship(**of)
    assert str(described("strand")).startswith(f"not used: {why}")
    assert shipped_code("strand", "sweep") is None and shipped_groups("strand") == frozenset()


def test_a_processor_below_the_level_does_not_use_it(
    ship: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processor, "baseline", lambda: "x86-64-v3")
    ship(processor="x86-64-v3")
    monkeypatch.setattr(processor, "_has", lambda: frozenset(processor._FEATURES["x86-64-v3"]))
    assert described("strand") == "3 kernels for x86-64-v3, used"
    shipped_kernels._shipped.cache_clear()
    monkeypatch.setattr(processor, "_has", lambda: frozenset(["sse3"]))
    assert "this processor lacks cx16, popcnt" in str(described("strand"))
    assert shipped_code("strand", "sweep") is None


def test_what_the_user_chose_counts(ship: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    for choice, name, used in (
        ("native", processor.host(), True), ("native", processor.baseline(), False),
        (processor.baseline(), processor.host(), False), (processor.baseline(), processor.baseline(), True),
    ):  # fmt: skip
        ship(processor=name)
        monkeypatch.setattr(shipped_kernels, "CHOICE", choice)
        assert ("asks for others" not in str(described("strand"))) == used


def test_a_python_whose_objects_lie_otherwise_does_not_use_it(
    ship: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    ship()
    monkeypatch.setattr(shipped_kernels, "fits_this_python", lambda: False)
    assert described("strand") == "not used: in this Python objects lie otherwise"


def test_a_file_that_is_not_whole_is_not_used(ship: Callable[..., Path]) -> None:
    content = ship().read_bytes()
    for damaged in (b"", content[:20], content[:-1], content + b"\0", content[:40] + b"?" + content[41:]):
        shipped_kernels._shipped.cache_clear()
        shipped_kernels.shipped_file("strand").write_bytes(damaged)
        assert described("strand") == "not used: the file is damaged" and shipped_code("strand", "sweep") is None


def test_cache_says_where_kernels_came_from(
    ship: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SENNIT_CACHE_DIR", str(tmp_path / "cache"))
    kernel_cache.kernel_folder.cache_clear()
    path = ship()
    assert cli.main(["cache"]) == 0
    folder, line = capsys.readouterr().out.splitlines()[-2:]
    assert folder == str(path.parent) and line.split()[:2] == ["strand", "strand.kernels"]
    assert line.endswith(f"came with the wheel: 3 kernels for {processor.host()}, used")
    ship(sources="")
    assert cli.main(["cache"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("came with the wheel: not used: the sources were edited")
    kernel_cache.kernel_folder.cache_clear()


# What goes into them


def compile_once_calls() -> Iterator[tuple[str, str]]:
    """Group, and file, of each call and of what is compiled beside."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id in ("compile_once", "Beside") and isinstance(node.args[0], ast.Constant):
                    yield str(node.args[0].value), path.name


def test_every_group_goes_into_the_wheel() -> None:
    groups = {group for group, _ in compile_once_calls() if group}
    assert groups == set(pack_kernels.GROUPS), "pack_kernels.GROUPS lists what wheels carry: add the group there"
    # these are next to nothing but loops over all cores, of which plain Numba tells nothing
    assert groups - set(compile_once.UNITS) == {"boundary element", "column"}
    for steps in pack_kernels.GROUPS.values():
        assert all(map(callable, pack_kernels._steps(steps)))
    for beside in (contents.STEPS, contents.STEPS_OF_TOUCHING):
        assert pack_kernels.GROUPS[beside.group] == beside.function


# Processes

PACK = """
import sys
from pathlib import Path
from sennit.pack_kernels import pack
groups = {name: f"sennit.rehearsal:{name.upper()}" for name in ("scene", "strand", "zone")}
print([path.name for path in pack(Path(sys.argv[1]), groups, "")])
"""
PROGRAM = """
import json, sys
if "alone" in sys.argv:
    sys.modules.update(numba=None, scipy=None)  # to import one of them is an error
from sennit import rehearsal
from sennit.compile_once import compile_once
for group, steps in (("scene", rehearsal.SCENE), ("strand", rehearsal.STRAND), ("zone", rehearsal.ZONE)):
    compile_once(group, steps)
    for step in steps:
        step()
kernels = (rehearsal.sweep, rehearsal.press, rehearsal.step)
print(json.dumps({kernel.__name__: [kernel(3), kernel.origins[int,]] for kernel in kernels}))
"""


def run(package: Path, cache: Path, program: str, *words: str, **environment: str) -> str:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA_", "SENNIT_", "PYTHON"))}
    places = {"PYTHONPATH": str(package.parent), "SENNIT_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program, *words], env=kept | places | environment, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def origins(package: Path, cache: Path, *words: str, **environment: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(package, cache, PROGRAM, *words, **environment))
    return found


ALL = {"sweep": [6, "wheel"], "press": [4, "wheel"], "step": [6, "wheel"]}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small package with the kernels of a wheel for all processors of this platform."""
    if processor.lacking(processor.baseline()):
        pytest.skip(f"this processor is below {processor.baseline()}")
    folder = tmp_path_factory.mktemp("installed")
    package = write_package(folder / "sennit")
    files = run(
        package, folder / "cache", PACK, str(package / "shipped"), SENNIT_KERNELS_CPU=processor.baseline()
    ).splitlines()[-1]
    assert files == "['strand.kernels', 'zone.kernels', 'scene.kernels']"
    return package


@pytest.mark.slow
def test_a_new_machine_needs_no_compiler_and_writes_nothing(installed: Path, tmp_path: Path) -> None:
    assert origins(installed, tmp_path / "cache", "alone") == ALL
    assert not (tmp_path / "cache").exists()


@pytest.mark.slow
def test_an_edited_kernel_is_compiled_and_nothing_else(installed: Path, tmp_path: Path) -> None:
    edited = installed / "linalg/kernels/bounded.py"
    edited.write_text(SOURCES["linalg/kernels/bounded.py"].replace("x + 1", "x - 1"), encoding="utf-8")
    try:
        for origin in ("compiled", "disk"):
            assert origins(installed, tmp_path / "cache") == ALL | {"press": [2, origin]}
    finally:
        edited.write_text(SOURCES["linalg/kernels/bounded.py"], encoding="utf-8")


@pytest.mark.slow
def test_a_damaged_file_is_compiled_behind_a_progress_line(installed: Path, tmp_path: Path) -> None:
    path = installed / "shipped" / "scene.kernels"
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    try:
        assert origins(installed, tmp_path / "cache") == ALL | {"step": [6, "compiled"]}
        assert [path.name for path in (tmp_path / "cache").rglob("*.ready")] == ["scene.ready"]
    finally:
        path.write_bytes(whole)


@pytest.mark.slow
@pytest.mark.parametrize("environment", [{"SENNIT_KERNELS": "strict"}, {"SENNIT_KERNELS_CPU": "native"}])
def test_other_code_is_compiled_where_it_is_asked_for(
    installed: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    found = origins(installed, tmp_path / "cache", **environment)
    assert found == {name: [value, "compiled"] for name, (value, _) in ALL.items()}


@pytest.mark.slow
def test_what_is_packed_twice_is_the_same_and_can_be_packed_from_a_wheel(installed: Path, tmp_path: Path) -> None:
    """Bit by bit; with an empty cache, the second time from what came with the wheel."""
    run(installed, tmp_path / "cache", PACK, str(tmp_path / "again"), SENNIT_KERNELS_CPU=processor.baseline())
    first, second = (
        {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
        for folder in (installed / "shipped", tmp_path / "again")
    )
    assert first == second and len(first) == 3
