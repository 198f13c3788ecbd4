"""The sennit command, its registries, its tables and its cache."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import pytest
from rich.console import Console

import sennit
from sennit import bench, cli, demos
from sennit.bench import table as bench_table
from sennit.bench.table import Aim, Case, Row, Table, growth_exponent, machine, measure, write_json
from sennit.errors import InputError, SolveError, SolveReport
from sennit.kernel_cache import PARTS, kernel_folder

PACKAGE = Path(sennit.__file__).parent
HEAVY = ("llvmlite", "matplotlib", "numba", "numpy", "rich", "scipy", "trimesh", "websockets")


def run_python(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=120, check=False)


# The command as a whole


def test_version_from_the_command_line() -> None:
    done = run_python("-m", "sennit", "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"sennit {metadata.version('sennit')}\n", "")


def test_version_and_demo_list_import_nothing_heavy() -> None:
    """The reason that they answer at once; the time itself is no business of a test."""
    program = (
        "import sys\n"
        "from sennit.cli import main\n"
        "assert main(['demo']) == 0\n"
        "try:\n    main(['--version'])\nexcept SystemExit:\n    pass\n"
        f"print('heavy:', [name for name in {HEAVY} if name in sys.modules])\n"
    )
    done = run_python("-c", program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "heavy: []"


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("demo", "bench", "cache", "--version"))


@pytest.mark.parametrize("words", [["fly"], ["demo", "fly"], ["bench", "fly"], ["cache", "--shred"]])
def test_unknown_words_end_with_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(words)
    assert stop.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


# Registries

HELPERS = {
    *(
        "finger_felt",
        "finger_mesh",
        "finger_page",
        "finger_picture",
        "finger_skin",
        "held_devices",
        "hoisting",
        "props",
        "sewing_device",
        "sewing_hand",
        "sewing_path",
        "stage",
        "tangles",
        "winding",
    ),
    *("suture_page", "tissue", "tissue_picture", "hair_picture"),
}  # of the demonstrations


@pytest.mark.parametrize(
    ("registry", "folder", "helpers"),
    [
        (demos.DEMOS, "demos", HELPERS),
        (
            bench.BENCHES,
            "bench",
            {
                *("batch_card", "batch_cores", "batch_peer", "compressed", "contact_scenes", "interpolated", "knots"),
                *("page_browser", "page_client"),
                *("strand_samples", "sheet", "table"),
            },
        ),
    ],
)
def test_registry_has_one_line_for_each_file(registry: dict[str, str], folder: str, helpers: set[str]) -> None:
    modules = [*(PACKAGE / folder).glob("*.py"), *(path.parent for path in (PACKAGE / folder).glob("*/__init__.py"))]
    files = {path.stem for path in modules if not path.stem.startswith("_")} - helpers
    assert set(registry) - set(bench.IN_CHECKOUT) == files
    for line in registry.values():
        assert line and "\n" not in line and len(line) < 100


@pytest.mark.parametrize("name", demos.DEMOS)
def test_demos_offer_what_the_protocol_says(name: str) -> None:
    module = demos.load(name)
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    arguments = parser.parse_args(["--output", "x.gif", "--seconds", "0.5", "--headless"])
    assert (arguments.output, arguments.seconds, arguments.headless) == ("x.gif", 0.5, True)
    assert module.DESCRIPTION and callable(module.main) and callable(module.play)


@pytest.mark.parametrize("name", bench.BENCHES)
def test_benches_offer_what_the_protocol_says(name: str) -> None:
    module = bench.load(name)
    assert module.DESCRIPTION and callable(module.run)


def test_a_bench_in_the_repository_is_refused_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert set(bench.IN_CHECKOUT) <= set(bench.BENCHES)
    monkeypatch.setattr(bench, "_ROOT", tmp_path)
    for words in ([], ["--help"], ["--install", "--quick"]):
        assert cli.main(["bench", "peers", *words]) == 2
        assert "needs a checkout. Clone the repository" in capsys.readouterr().err


def test_lists_have_each_entry_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    for command, registry in (("demo", demos.DEMOS), ("bench", bench.BENCHES)):
        assert cli.main([command]) == 0
        lines = capsys.readouterr().out.splitlines()
        for name, line in registry.items():
            assert any(name in shown and line in shown for shown in lines)


def test_load_names_the_choices() -> None:
    with pytest.raises(InputError, match=r"no demo 'fly'.*suture"):
        demos.load("fly")
    with pytest.raises(InputError, match=r"no bench 'fly'.*strand"):
        bench.load("fly")


# Demonstrations


@pytest.fixture
def plant_demo(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[argparse.Namespace], int]], None]:
    """Returns a function that registers a demo "planted" with the given main."""

    def plant(main: Callable[[argparse.Namespace], int]) -> None:
        module = types.ModuleType("sennit.demos.planted")
        vars(module)["DESCRIPTION"] = "A planted demo."
        vars(module)["add_arguments"] = lambda parser: demos.add_common_arguments(parser, seconds=2.0)
        vars(module)["main"] = main
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(demos.DEMOS, "planted", "a planted demo")

    return plant


PlantDemo = Callable[[Callable[[argparse.Namespace], int]], None]


def test_demo_gets_its_arguments_and_gives_the_status(plant_demo: PlantDemo) -> None:
    seen: list[argparse.Namespace] = []
    plant_demo(lambda arguments: seen.append(arguments) or 7)
    assert cli.main(["demo", "planted", "--seconds", "0.25", "--headless"]) == 7
    assert (seen[0].output, seen[0].seconds, seen[0].headless) == (None, 0.25, True)
    assert (seen[0].port, seen[0].host, seen[0].no_browser) == (8080, "127.0.0.1", False)


def test_demo_help_has_its_description(plant_demo: PlantDemo, capsys: pytest.CaptureFixture[str]) -> None:
    plant_demo(lambda arguments: 0)
    with pytest.raises(SystemExit) as stop:
        cli.main(["demo", "planted", "--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    assert all(text in shown for text in ("A planted demo.", "--seconds", "2.0", "--output", "--port", "--no-browser"))


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_ports_are_checked(plant_demo: PlantDemo, capsys: pytest.CaptureFixture[str], port: str) -> None:
    plant_demo(lambda arguments: pytest.fail("it ran"))
    with pytest.raises(SystemExit) as stop:
        cli.main(["demo", "planted", f"--port={port}"])
    assert stop.value.code == 2
    assert port in capsys.readouterr().err


def test_a_page_has_no_length(plant_demo: PlantDemo, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[argparse.Namespace] = []
    plant_demo(lambda arguments: seen.append(arguments) or 0)
    assert cli.main(["demo", "planted", "--seconds", "5"]) == 2
    assert "--seconds 5" in (said := capsys.readouterr().err) and "--headless" in said
    assert not seen
    assert cli.main(["demo", "planted", "--seconds", "5", "--output", "x.gif"]) == 0


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_seconds_must_be_positive(plant_demo: PlantDemo, capsys: pytest.CaptureFixture[str], seconds: str) -> None:
    plant_demo(lambda arguments: pytest.fail("it ran"))
    with pytest.raises(SystemExit) as stop:
        cli.main(["demo", "planted", f"--seconds={seconds}"])
    assert stop.value.code == 2
    assert seconds in capsys.readouterr().err


REPORT = SolveReport("failed", 3, 0.5, "energy", 11, "no equilibrium found;\ntry a longer strand")


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (InputError("radius must be positive,\n got -1"), 2, "sennit: radius must be positive, got -1\n"),
        (SolveError(REPORT), 1, "sennit: no equilibrium found; try a longer strand\n"),
        (PermissionError(13, "Permission denied", "p.gif"), 1, "sennit: [Errno 13] Permission denied: 'p.gif'\n"),
        (
            ModuleNotFoundError("No module named 'websockets'", name="websockets.asyncio"),
            1,
            "sennit: this needs the package websockets: pip install 'sennit[view]'\n",
        ),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_errors_end_in_one_line(
    plant_demo: PlantDemo, capsys: pytest.CaptureFixture[str], error: BaseException, status: int, message: str
) -> None:
    def fail(arguments: argparse.Namespace) -> int:
        raise error

    plant_demo(fail)
    assert cli.main(["demo", "planted"]) == status
    assert capsys.readouterr().err == message


def test_a_defect_keeps_its_traceback(plant_demo: PlantDemo) -> None:
    plant_demo(lambda arguments: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        cli.main(["demo", "planted"])
    plant_demo(lambda arguments: __import__("sennit.no_such_module"))
    with pytest.raises(ModuleNotFoundError):
        cli.main(["demo", "planted"])


# Benchmarks


@pytest.fixture
def planted_bench(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Registers a bench "planted" and returns what it told `progress`."""
    told: list[str] = []

    def run(progress: bench.Progress) -> list[Table]:
        progress("Planted [times]", 0.5)
        told.append("ran")
        rows = [Row.from_samples("slow", [2e-3, 2e-3]), Row.from_samples("fast [x]", [1e-3], values={"nodes": 101})]
        result = Table("Planted [times]", rows, baseline="slow", notes=["a note"])
        result.aim("ratio", 0.5, at_most=0.6)
        return [result]

    module = types.ModuleType("sennit.bench.planted")
    vars(module).update(DESCRIPTION="A planted bench.", run=run)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(bench.BENCHES, "planted", "a planted bench")
    return told


def test_bench_prints_its_tables(planted_bench: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "planted"]) == 0
    shown = capsys.readouterr().out
    for text in ("Planted [times] (ms per call)", "fast [x]", "× slow", "101", "0.5", "ratio: 0.5", "a note", "Numba"):
        assert text in shown


def test_bench_writes_json(planted_bench: list[str], tmp_path: Path) -> None:
    target = tmp_path / "times.json"
    target.write_text("old")
    assert cli.main(["bench", "planted", "--json", str(target)]) == 0
    content = json.loads(target.read_text(encoding="utf-8"))
    assert content["bench"] == "planted"
    assert content["machine"]["sennit"] == metadata.version("sennit")
    (written,) = content["tables"]
    assert [row["median"] for row in written["rows"]] == [2e-3, 1e-3]
    assert [row["ratio"] for row in written["rows"]] == [1.0, 0.5]
    assert written["aims"] == [{"name": "ratio", "value": 0.5, "at_most": 0.6, "at_least": None, "met": True}]
    assert os.listdir(tmp_path) == ["times.json"]


@pytest.mark.parametrize("name", ["absent/times.json", "."])
def test_bench_refuses_a_bad_file_before_it_runs(
    planted_bench: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert cli.main(["bench", "planted", "--json", str(tmp_path / name)]) == 2
    assert planted_bench == []
    assert "--json" in capsys.readouterr().err


def test_write_json_keeps_the_old_file_when_it_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "times.json"
    target.write_text("old")
    with pytest.raises(TypeError):
        write_json(target, {"a": object()})

    def fail(*arguments: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_json(target, {"a": 1})
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["times.json"]


def test_write_json_follows_links_and_never_replaces_a_pipe(tmp_path: Path) -> None:
    target = tmp_path / "times.json"
    link = tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    write_json(link, {"µ": 1})
    assert link.is_symlink() and json.loads(target.read_text(encoding="utf-8")) == {"µ": 1}
    write_json("/dev/null", {})
    assert not Path("/dev/null").is_file()


# Tables


class Clock:
    """Stands in for the time; `spend` makes a call that takes as long as it says."""

    def __init__(self) -> None:
        self.now = 0.0

    def spend(self, *seconds: float) -> Callable[[], None]:
        times: Iterator[float] = iter(())

        def call() -> None:
            nonlocal times
            value = next(times, None)
            if value is None:
                times = iter(seconds)
                value = next(times)
            self.now += value

        return call


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(bench_table.time, "perf_counter", lambda: clock.now)
    return clock


def test_measure_divides_by_per_and_compares_with_the_baseline(clock: Clock) -> None:
    cases = [
        Case("coarse", clock.spend(2e-6), per=10),
        Case("fine", clock.spend(44e-6), per=100, prepare=clock.spend(1.0), values={"nodes": 100}),
        Case("short", clock.spend(1e-7), repeat=20),
    ]
    result = measure("Sweeps", cases, baseline="coarse", samples=30, seconds=1e9, per="node")
    assert result["coarse"].median == pytest.approx(2e-7)
    assert result["fine"].median == pytest.approx(4.4e-7, rel=1e-4)  # the clock has run for a minute: 1e-14 of it
    assert result["fine"].ratio == pytest.approx(2.2, rel=1e-4)
    assert result["short"].median == pytest.approx(1e-7, rel=1e-3)
    assert [row.samples for row in result.rows] == [30, 30, 30]
    assert result["fine"].values == {"nodes": 100}


def test_measure_stops_when_its_time_is_over(clock: Clock) -> None:
    told: list[tuple[str, float]] = []
    cases = [Case("a", clock.spend(1.0)), Case("b", clock.spend(1.0))]
    result = measure("Slow", cases, samples=1000, seconds=60.0, progress=lambda text, done: told.append((text, done)))
    assert clock.now < 100
    assert all(10 <= row.samples < 50 for row in result.rows)
    assert told[0] == ("Slow", 0.0) and told[-1] == ("Slow", 1.0)
    assert all(0.0 <= done <= 1.0 for _, done in told)
    assert [done for _, done in told] == sorted(done for _, done in told)


def test_statistics_of_a_row() -> None:
    row = Row.from_samples("ramp", [float(k) for k in range(1, 1001)], per=2.0)
    assert (row.median, row.worst, row.samples) == (250.25, 500.0, 1000)
    assert row.p99 == 495.5  # the first sample that 99 % of the samples do not exceed
    for bad in ([], [1.0, float("nan")], [[1.0]]):
        with pytest.raises(InputError, match="seconds of 'bad'"):
            Row.from_samples("bad", bad)


def test_growth_exponent_is_the_slope() -> None:
    assert growth_exponent([101, 301, 1001], [3.0 * n**1.5 for n in (101, 301, 1001)]) == pytest.approx(1.5, abs=1e-12)
    with pytest.raises(InputError):
        growth_exponent([1], [1])


@pytest.mark.parametrize(
    ("aim", "met"),
    [
        (Aim("x", 1.0, at_most=1.0), True),
        (Aim("x", 1.1, at_most=1.0), False),
        (Aim("x", 8e3, at_least=8e3), True),
        (Aim("x", 7e3, at_least=8e3), False),
        (Aim("x", float("nan"), at_most=1.0), False),
    ],
)
def test_aims(aim: Aim, met: bool) -> None:
    assert aim.met is met
    assert ("met" if met else "missed") in str(aim)


@pytest.mark.parametrize(
    "arguments",
    [
        {"cases": []},
        {"cases": [Case("a", int), Case("a", int)]},
        {"cases": [Case("a", int)], "baseline": "b"},
        {"cases": [Case("a", int)], "samples": 0},
        {"cases": [Case("a", int, per=0.0)]},
        {"cases": [Case("a", int, repeat=0)]},
    ],
)
def test_measure_refuses_bad_input(arguments: dict[str, object]) -> None:
    with pytest.raises(InputError):
        measure("Bad", **arguments)  # type: ignore[arg-type]


def test_a_table_is_shown_in_one_unit() -> None:
    rows = [Row.from_samples("a", [12.3e-9]), Row.from_samples("b", [45.6e-6])]
    text = io.StringIO()
    Table("Two", rows, per="node").show(Console(file=text, width=100))
    assert "ns per node" in text.getvalue() and "12.3" in text.getvalue() and "45,600" in text.getvalue()


def test_machine_is_plain_data() -> None:
    found = machine()
    assert json.loads(json.dumps(found)) == found


# The cache


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "cache"
    monkeypatch.setenv("SENNIT_CACHE_DIR", str(folder))
    kernel_folder.cache_clear()
    yield folder
    kernel_folder.cache_clear()


def test_cache_shows_what_is_kept(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cache"]) == 0
    nothing = "no kernels came with this installation: they are compiled where they are first used"
    assert capsys.readouterr().out.splitlines() == [str(cache), "0 entries, 0 B", nothing]
    (kernel_folder("scene") / "stage.nbc").write_bytes(bytes(1500))
    old = cache / "kernels" / "zone-0123456789abcdef"
    old.mkdir()
    (old / "press.nbc").write_bytes(bytes(2500))
    assert cli.main(["cache"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:2] == ["scene", kernel_folder("scene").name]
    assert "1.5 kB" in lines[1] and lines[1].endswith("compiled kernels")
    assert lines[2].split()[:2] == ["zone", old.name]
    assert "2.5 kB" in lines[2] and lines[2].endswith("compiled kernels of other sources")
    assert lines[3].startswith("2 entries, 4.0 kB")
    assert lines[4:] == ["kernels used longest ago are deleted above 1.1 GB (SENNIT_CACHE_LIMIT_MB)", nothing]


def test_clear_deletes_what_is_ours_and_nothing_else(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = [cache / "kernels" / name for name in ("0123456789abcdef", "scene-0123456789abcdef")]
    ours = [kernel_folder("strand"), *before]
    others = [cache / "thesis.tex", cache / "kernels" / "mine" / "notes.txt", cache.parent / "outside" / "kept.txt"]
    for path in (*(folder / "sweep.nbc" for folder in ours), *others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(10))
    (cache / "kernels" / "fedcba9876543210").symlink_to(cache.parent / "outside")
    assert cli.main(["cache", "--clear"]) == 0
    assert "deleted: 3 entries, 30 B" in capsys.readouterr().out
    assert not any(folder.exists() for folder in ours)
    assert all(path.exists() for path in others)


def test_parts_are_cleared_by_name(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = {part: [kernel_folder(part), cache / "kernels" / f"{part}-0123456789abcdef"] for part in PARTS}
    for folder in (folder for both in folders.values() for folder in both):
        folder.mkdir(exist_ok=True)
        (folder / "sweep.nbc").write_bytes(bytes(10))
    assert cli.main(["cache", "--clear", "zone", "strand"]) == 0
    assert "deleted: 4 entries, 40 B" in capsys.readouterr().out
    left = {part for part, both in folders.items() for folder in both if folder.exists()}
    assert left == set(PARTS) - {"zone", "strand"}
    assert cli.main(["cache", "--clear", "zone", "thesis"]) == 2
    assert "there is no part 'thesis'; choose from: geometry, linalg" in capsys.readouterr().err


def test_clear_of_an_empty_cache(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cache", "--clear"]) == 0
    assert "deleted: 0 entries, 0 B" in capsys.readouterr().out
