"""``sennit bench peers``: what it makes of rows, of programs that misbehave and of those that are not there."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path

import pytest

import peers
from peers import environments, report, runner
from peers.contact_report import contact_sheet
from peers.environments import PEERS
from peers.ours import TOOL
from peers.picture import front, write_picture
from peers.results import LONGEST_LINE, MOST_ROWS, Result, read_rows
from peers.runner import run_program
from sennit import cli
from sennit.bench.sheet import Sheet
from sennit.errors import InputError

GOOD = {"task": "a", "tool": "x", "variant": "n=5", "n": 5, "dt": 1e-3, "wall_s": 0.5, "error": 1e-3}


def line(**changes: object) -> str:
    return json.dumps(GOOD | changes)


def row(task: str, tool: str, wall: float, error: float, **more: object) -> Result:
    return Result(task, tool, wall=wall, error=error, signed_error=error, **more)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------------ reading


def test_a_row_is_read() -> None:
    [result], strange = read_rows([line(error=-1e-3, decay_per_s=0.2, note=" two\nlines\x1b[31m ")], "Tool 1")
    assert strange == 0
    assert (result.task, result.tool, result.n, result.dt, result.wall) == ("a", "Tool 1", 5, 1e-3, 0.5)
    assert (result.error, result.signed_error, result.more) == (1e-3, -1e-3, {"decay_per_s": 0.2})
    assert result.note == "two lines [31m" and not result.failed
    assert read_rows([json.dumps(result.as_dict())], "Tool 1")[0] == [result]


@pytest.mark.parametrize(
    "text",
    [
        "hello", "[1, 2]", "{", '{"task": "a"', '{"task": "z", "wall_s": 1, "error": 1}', '{"task": ["a"]}', "null",
        "{}",
        "{" * 5000, '{"task":' + "[" * 9000, "\x00\x01", line(note="x" * LONGEST_LINE), '{"task": {"a": 1}}',
    ],
)  # fmt: skip
def test_lines_that_are_no_rows_are_counted(text: str) -> None:
    rows, strange = read_rows([text, line()], "x")
    assert len(rows) == 1 and strange == 1


@pytest.mark.parametrize(
    "text",
    [
        line(wall_s=-1.0), line(wall_s=0), line(wall_s="fast"), line(wall_s=None), line(wall_s=True),
        line(wall_s=[1.0]), line(wall_s=10**400), line().replace("0.5", "Infinity"), line().replace("0.001}", "NaN}"),
        line(error="small"), line(error=None), line(error={}), line().replace("0.5", "1e999"),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be_make_a_failed_row(text: str) -> None:
    [result], _ = read_rows([text], "x")
    assert result.failed and math.isnan(result.error)
    assert report.compared("a", "x", [result], [row("a", TOOL, 1.0, 1e-3)]).why == result.failed


def test_what_is_beside_the_numbers_is_made_harmless() -> None:
    [result], _ = read_rows([line(n=-3, dt=-1.0, variant="v" * 900, reference=["x"], decay_per_s="no")], "x")
    assert (result.n, result.dt, result.reference, result.more) == (None, None, "['x']", {})
    assert len(result.variant) == 200
    [failed], _ = read_rows([line(failed="it broke")], "x")
    assert failed.failed == "it broke"
    assert len(read_rows([line()] * (MOST_ROWS + 5), "x")[0]) == MOST_ROWS


# ------------------------------------------------------------------------------------------------------------ running


def program(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "program.py"
    path.write_text(text, encoding="utf-8")
    return [sys.executable, "-S", str(path)]


def test_a_program_is_run_on_one_thread_without_this_ones_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    text = (
        "import os, json\n"
        "print('warming up')\n"
        "note = os.environ['OMP_NUM_THREADS'] + os.environ.get('PYTHONPATH', ' none')\n"
        f"print(json.dumps({GOOD!r} | {{'note': note}}))\n"
    )
    first, second = run_program(program(tmp_path, text), "x", ["a", "b"], 60.0)
    assert (first.note, first.wall) == ("1 none", 0.5)
    assert second.task == "b" and "1 lines that are none" in second.failed


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import time\ntime.sleep(600)", "not done in 1 s"),
        (
            "import sys\nsys.stderr.write('x' * 100000 + '\\nKeyError: /a/b.c/7\\n')\nsys.exit(3)",
            "exit status 3: KeyError: 7",
        ),
        ("import os\nos.abort()", "exit status -6"),
        ("while True: print('x' * 10)", "printed more than"),
        ("import os\nwhile True: os.write(1, bytes(100000))", "printed more than"),
        ("pass", "printed no row"),
    ],
)
def test_programs_that_misbehave_are_ended_and_reported(tmp_path: Path, text: str, why: str) -> None:
    begin = time.monotonic()
    [result] = run_program(program(tmp_path, text), "x", ["a"], 1.0 if "sleep" in text else 60.0)
    assert why in result.failed
    assert time.monotonic() - begin < 50.0


def test_a_descendant_that_left_the_group_is_not_waited_for(tmp_path: Path) -> None:
    text = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(25)'], start_new_session=True)\n"
        f"print({line()!r}, flush=True)\n"
    )
    begin = time.monotonic()
    [result] = run_program(program(tmp_path, text), "x", ["a"], 20.0)
    assert result.wall == 0.5 and not result.failed
    assert time.monotonic() - begin < 20.0


def test_what_was_measured_before_the_end_is_kept(tmp_path: Path) -> None:
    text = f"import time\nprint({line()!r}, flush=True)\ntime.sleep(600)"
    kept, lost = run_program(program(tmp_path, text), "x", ["a", "b"], 1.5)
    assert kept.wall == 0.5 and lost.failed == "not done in 2 s"
    [result] = run_program([str(tmp_path / "nothing")], "x", ["a"], 1.0)
    assert "could not be started" in result.failed


# ------------------------------------------------------------------------------------------------------------- ratios


def test_the_ratio_is_that_of_the_peers_best_case() -> None:
    own = [row("a", TOOL, 0.1, 1e-2), row("a", TOOL, 0.4, 1e-3), row("a", TOOL, 3.0, 1e-4)]
    theirs = [row("a", "x", 8.0, 1.1e-3), row("a", "x", 5.0, 2e-2), row("a", "x", 9.0, 9e-4)]
    found = report.compared("a", "x", theirs, own)  # 8/0.4 = 20, 5/0.1 = 50, 9/3 = 3
    assert found.ratio == pytest.approx(3.0) and found.peer is theirs[2] and found.ours is own[2]
    assert found.why == "sennit 3 times faster"
    behind = report.compared("a", "x", [row("a", "x", 0.2, 1e-3)], own)
    assert behind.ratio == pytest.approx(0.5) and behind.why == "sennit behind: 2 times slower"
    never = report.compared("a", "x", [*theirs, row("a", "x", 99.0, 1e-6)], own)
    assert math.isnan(never.ratio) and "sennit behind: none of its runs" in never.why
    assert never.at_bound == pytest.approx(9.0 / 0.4)  # the fastest within 0.1 % of each


def test_errors_that_are_small_by_luck_do_not_count_for_sennit() -> None:
    lucky = row("b", TOOL, 0.1, 1e-6, variant="rod n=5 bdf2", n=5, dt=1e-2)
    finer = row("b", TOOL, 0.2, 1e-4, variant="rod n=8 bdf2", n=8, dt=5e-3)
    other = row("b", TOOL, 0.2, 1e-2, variant="rod n=8 midpoint", n=8, dt=5e-3)
    coarse = row("b", TOOL, 0.1, 1e-3, variant="rod n=6 bdf2", n=6, dt=1e-2)
    assert report.honest([lucky, finer, other, coarse]) == [finer, other, coarse]


def test_static_answers_must_keep_the_bound() -> None:
    own = [row("e", TOOL, 1e-3, 5e-4)]
    found = report.compared("e", "x", [row("e", "x", 1e-4, 2e-3)], own)
    assert math.isnan(found.ratio) and found.why == "no answer within 0.1%: 0.2 % at best"
    assert report.compared("e", "x", [row("e", "x", 2e-2, 9e-4)], own).ratio == pytest.approx(20.0)


def test_decay_counts_beside_frequency() -> None:
    omega = 2.0 * math.pi * 1.3989814315  # of a swing by 4 mm
    [counted] = report.with_decay([row("b", "x", 1.0, 3e-3, more={"decay_per_s": 4e-3 * omega})])
    assert counted.error == pytest.approx(5e-3)
    assert report.with_decay([row("b", "x", 1.0, 3e-3)]) == []


def test_a_run_at_the_same_step_that_failed_says_why(tmp_path: Path) -> None:
    results = [row("a", "X 1", 2.0, 1e-3, dt=1e-3), row("a", "Y 2", 1.0, 1e-3, dt=1e-2)]
    requests = report.same_step_requests(results, ["X 1", "Y 2"])
    printed = f"print({line(note='X 1')!r}, flush=True)\n"
    for end, why in (
        ("raise KeyError(7)", "exit status 1: KeyError: 7"),
        ("import time; time.sleep(60)", "not done in 2 s"),
        ("", "sennit behind: no run with so small an error at this step"),
    ):
        rows = run_program(program(tmp_path, printed + end), TOOL, ["a", peers._END], 2.0 if "sleep" in end else 60.0)
        sheet = report.same_step_sheet(requests, peers._answers(requests, rows))
        assert [cells[-1] for cells in sheet.rows] == ["sennit 4 times faster", why]


def test_the_table_says_who_is_ahead() -> None:
    results = [
        row("a", TOOL, 0.1, 5e-4, variant="rod n=20", n=20, dt=0.5),
        row("a", "X 1", 2.0, 1e-3, variant="n=50", n=50, dt=1e-3),
        row("a", "Y 2", 0.05, 1e-3, variant="big|step", n=9, dt=1e-2),
        Result("a", "Z 3", failed="not installed: run with --install"),
    ]
    sheet = report.main_sheet(results, ["X 1", "Y 2", "Z 3"], TOOL, ["a"])
    assert [cells[-1] for cells in sheet.rows] == [
        "its fastest within 0.1%", "sennit 20 times faster", "sennit behind: 2 times slower",
        "not installed: run with --install",
    ]  # fmt: skip
    assert [(aim.value, aim.met) for aim in sheet.aims] == [(pytest.approx(20.0), True), (pytest.approx(0.5), False)]
    text = sheet.as_markdown()
    assert "aim" not in text
    assert "big\\|step" in text and all(s.count(" | ") == 10 for s in text.splitlines()[2:6])
    assert json.loads(json.dumps(sheet.as_dict(), allow_nan=False)) == sheet.as_dict()
    assert [aim["met"] for aim in sheet.as_dict()["aims"]] == [True, False]
    assert str(sheet.aims[0]) == "a, X 1: its time over sennit's: 20 (aim: at least 10; met)"
    requests = report.same_step_requests(results, ["X 1", "Y 2", "Z 3"])
    assert [(r["against"], r["dt"]) for r in requests] == [("X 1", 1e-3), ("Y 2", 1e-2)]
    answers = [{"task": "a", "against": "X 1", "variant": "rod n=16", "error": 1e-3, "wall_s": 0.5}]
    words = [cells[-1] for cells in report.same_step_sheet(requests, answers).rows]
    assert words == ["sennit 4 times faster", "sennit behind: no run with so small an error at this step"]
    assert "where none is within 1 %, its most exact run" in report.same_step_sheet(requests, answers).notes[0]
    with pytest.raises(ValueError, match="11 cells"):
        sheet.add("too few")


def test_models_in_a_plane_are_compared_apart() -> None:
    results = [
        row("a", TOOL, 0.1, 5e-4, variant="rod n=20", n=20, dt=0.5),
        row("a", "X 1", 2.0, 1e-3, variant="chain n=40"),
        row("a", "X 1", 0.2, 1e-3, variant="planar chain n=40"),
    ]
    sheet = report.main_sheet(results, ["X 1"], TOOL, ["a"])
    assert [(cells[1], cells[-1]) for cells in sheet.rows[1:]] == [
        ("X 1", "sennit 20 times faster"), ("X 1, plane only", "sennit 2 times faster"),
    ]  # fmt: skip
    assert [aim.met for aim in sheet.aims] == [True, False]
    assert {kept["tool"] for kept in sheet.data["results"]} == {TOOL, "X 1"}


def test_the_picture_shows_all_programs(tmp_path: Path) -> None:
    rows = [row("a", TOOL, 0.1, 1e-2), row("a", TOOL, 0.2, 2e-2), row("a", TOOL, 0.3, 1e-3), row("b", "X 1", 1.0, 0.0)]
    assert front(rows[:3]) == [rows[0], rows[2]]
    write_picture(tmp_path / "p.png", rows, [TOOL, "X 1"])
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG") and len(list(tmp_path.iterdir())) == 1


# -------------------------------------------------------------------------------------------- programs and the command


def test_versions_are_pinned_and_scripts_there() -> None:
    for peer in PEERS.values():
        assert (Path(peers.__file__).parent / "scripts" / peer.script).is_file()
        assert environments.folder_of(peer).name == f"{peer.package}-{peer.version}"


def test_an_environment_counts_only_when_it_answers(tmp_path: Path) -> None:
    peer = environments.Peer("NumPy", "numpy", "0.0.1", (), "none.py")
    assert not environments.installed(peer, tmp_path / "nothing")
    python = environments.python_of(tmp_path / "half")
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho 0.0.1\n", encoding="utf-8")
    assert not environments.installed(peer, tmp_path / "half")  # not executable
    python.chmod(0o755)
    assert environments.installed(peer, tmp_path / "half")
    python.write_text("#!/bin/sh\necho 0.0.2\n", encoding="utf-8")
    assert not environments.installed(peer, tmp_path / "half")


def test_missing_peers_are_rows_and_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(environments, "installed", lambda peer: False)
    monkeypatch.setattr(environments, "install", lambda peer: "no network")
    target = tmp_path / "out.json"
    options = ["--only", "pypbd,newton", "--tasks", "e", "--quick", "--json", str(target)]
    assert cli.main(["bench", "peers", *options, "--install"]) == 0
    data = json.loads(target.read_text(encoding="utf-8"))["tables"][0]["data"]
    why = "could not be installed: no network"
    assert {r["tool"]: r["words"] for r in data["ratios"]} == {"Newton 1.7.0": why, "pypbd 2.2.2": why}
    own = [r for r in data["results"] if r["tool"] == TOOL]
    assert len(own) == 10 and all(r["error"] < 2e-3 and r["wall_s"] > 0.0 for r in own)
    with monkeypatch.context() as patch:  # without --install, and without another process of sennit's own
        patch.setattr(runner, "run_program", lambda *_, **__: [row("e", TOOL, 1e-3, 1e-4)])
        sheet = peers.run_with(lambda *_: None, cli._parser(["bench", "peers", *options]).parse_args(
            ["bench", "peers", *options]))[0]  # fmt: skip
    assert {r["words"] for r in sheet.data["ratios"]} == {"not installed: run with --install"}
    # Tables and picture from the file, without running anything.
    monkeypatch.setattr(peers, "_measured", None)
    assert cli.main(["bench", "peers", "--results", str(target), "--write-docs", str(tmp_path)]) == 0
    text = (tmp_path / "tables" / "peers.md").read_text(encoding="utf-8")
    assert why in text and "static shape of a" in text and (tmp_path / "images" / "peers.png").is_file()
    head = text.splitlines()[2]
    assert "; quick run. The programs had " in head and head.endswith("% of a core's time while they ran.")
    whole = json.loads(target.read_text(encoding="utf-8"))
    del whole["tables"][0]["data"]["quick"]  # as files had it that are older than this key
    target.write_text(json.dumps(whole), encoding="utf-8")
    assert cli.main(["bench", "peers", "--results", str(target), "--write-docs", str(tmp_path)]) == 0
    assert (tmp_path / "tables" / "peers.md").read_text(encoding="utf-8").splitlines()[2] == head.replace(
        "; quick run", ""
    )


@pytest.mark.parametrize(
    "words",
    [
        ["--tasks", "a,x"], ["--tasks", ","], ["--only", "drake"], ["--only", ""], ["--write-docs", "/nowhere"],
        ["--write-docs", "/tmp", "--quick"], ["--write-docs", "/tmp", "--tasks", "a"], ["--results", "/nowhere.json"],
    ],
)  # fmt: skip
def test_wrong_options_are_refused_before_anything_runs(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers, "_measured", None)
    assert cli.main(["bench", "peers", *words]) == 2
    assert words[0] in capsys.readouterr().err


def test_results_of_another_make_are_refused(tmp_path: Path) -> None:
    for content in ("", "[]", "{}", '{"tables": [{"data": {"results": 7}}]}', '{"tables": [{"data": null}]}'):
        (tmp_path / "r.json").write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match="--results"):
            peers._read_results(tmp_path / "r.json")


def test_an_aim_without_a_figure_is_missed_and_reads_none() -> None:
    aim = Sheet("t", {"a": "left"}).aim("ratio", math.nan, at_least=10.0)
    assert str(aim) == "ratio: none (aim: at least 10; missed)"


def test_sheets_escape_what_markdown_would_read() -> None:
    sheet = Sheet("t", {"a": "left", "b": "right"})
    sheet.add("*x* <b>", "$1$ | 2")
    assert sheet.as_markdown().splitlines()[2] == r"| \*x\* \<b\> | \$1\$ \| 2 |"


# ------------------------------------------------------------------------------------------------ things that touch


def _touching_rows() -> list[Result]:
    return [
        Result("k", "sennit", variant="boxes", dt=1 / 240, wall=9e-3, error=8.5e-7, signed_error=-8.5e-7,
               more={"survived": 1.0, "drift": 3e-16}),
        Result("k", "MuJoCo 4.0.0", variant="boxes", dt=1 / 240, wall=0.01, error=1.02, signed_error=-1.02,
               more={"survived": 0.0}),
        Result("h", "MuJoCo 4.0.0", variant="chain", dt=1e-3, failed="not stable at this step"),
    ]  # fmt: skip


def test_the_table_of_contact_says_what_held() -> None:
    sheet = contact_sheet(_touching_rows(), ["h", "k"])
    assert [list(row[3:]) for row in sheet.rows] == [
        ["1/1000 s", "", "no", "not stable at this step", ""],
        ["1/240 s", "-8.5e-05 %", "yes", "drifts by 3e-14 %", "9 ms/s"],
        ["1/240 s", "-102 %", "no", "", "10 ms/s"],
    ]
    assert [row[0] for row in sheet.rows] == ["h: overhand knot", "k: stack of 10 boxes", "k"]


def test_results_of_contact_are_shown_again(tmp_path: Path) -> None:
    rows = _touching_rows()
    data = {"results": [row.as_dict() for row in rows],
            "machine": {"processor": "X", "cores": 2, "sennit": "0", "date": "2026-11-19T00:00"}}  # fmt: skip
    file = tmp_path / "touching.json"
    file.write_text(json.dumps({"tables": [{"data": data}]}))
    parser = argparse.ArgumentParser()
    peers.add_arguments(parser)
    (tmp_path / "tables").mkdir()
    arguments = ["--contact", "--results", str(file), "--write-docs", str(tmp_path)]
    (sheet,) = peers.run_with(lambda text, done: None, parser.parse_args(arguments))
    assert sheet.rows == contact_sheet(rows, ["h", "k"]).rows
    assert "X, 2 cores, one used; sennit 0; 2026-11-19." in (tmp_path / "tables" / "peers_contact.md").read_text()
    for wrong in ("", "[]", json.dumps({"tables": [{"data": data | {"results": []}}]})):
        file.write_text(wrong)
        with pytest.raises(InputError, match="--contact --json"):
            peers.run_with(lambda text, done: None, parser.parse_args(arguments))
