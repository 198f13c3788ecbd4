"""`sennit harness`: its report, its files, its exit status, and what is wrong in its tables."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sennit as sn
from sennit.cli import main
from sennit.harness.page import Bench
from sennit.harness.plan import read_plan
from sennit.harness.rest import newtons

ROUTE = "x_m,y_m,z_m\n0,0,0.30\n0.10,0,0.30\n0.24,0,0.25\n0.30,0,0.12\n0.42,0,0\n"
CLIPS = """name,kind,x_m,y_m,z_m,dx,dy,dz
A,connector,0,0,0.30,1,0,0
clip 1,clip,0.10,0,0.30,1,0,0
clip 2,clip,0.24,0,0.25,1,0,-1
clip 3,eye,0.30,0,0.12,,,
B,connector,0.42,0,0,1,0,0
"""
OPTIONS = ["--EI", "0.012", "--kg-per-m", "0.15", "--bend-radius-mm", "60"]
Run = Callable[..., int]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(*words: str, route: str = ROUTE, clips: str = CLIPS, options: list[str] = OPTIONS) -> int:
        Path("route.csv").write_text(route)
        Path("clips.csv").write_text(clips)
        return main(["harness", "route.csv", "clips.csv", *options, "--points", "40", *words])

    return call


def test_the_report(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--slack-mm", "10", "--csv", "out.csv", "--scene", "out.toml", "--model", "out.step") == 0
    assert "Fits: smallest bend radius of cable 9" in capsys.readouterr().out
    page = Path("harness.html").read_text()
    assert "The harness fits." in page and page.count("<svg") >= 3
    for name in ("A", "clip 1", "clip 2", "clip 3", "B"):
        assert f"<td>{name}</td>" in page
    assert not re.search(r"https?://|<script|src=|@import|url\(", page), "one file that works without a network"
    with open("out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["cable", "s_m", "x_m", "y_m", "z_m", "bend_radius_m", "tension_N"]
    cut = float(re.search(r"<td>cable</td><td>(\d+)</td><td>(\d+)</td>", page)[1])  # type: ignore[index]
    assert float(rows[-1]["s_m"]) == pytest.approx(1e-3 * cut, abs=6e-4)
    assert float(rows[-1]["x_m"]) == pytest.approx(0.42, abs=1e-6)
    assert Path("out.step").read_bytes().startswith(b"ISO-10303-21")
    scene = sn.Scene.read("out.toml")
    assert [tie.name for tie in scene.constraints] == ["A", "clip 1", "clip 2", "clip 3", "B"]
    assert scene.settle().status == "converged"
    smallest = min(float(row["bend_radius_m"]) for row in rows)
    assert scene.bodies[0].minimum_bend_radius == pytest.approx(smallest, rel=0.02)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--bend-radius-mm", "120"], "cable is bent too sharply: "),
        (["--max-force", "0.1"], "A carries 2."),
        (["--max-force", "0.1"], " N, 0.10 N are allowed"),
        (["--diameter-mm", "500"], "cable is pressed together by "),
    ],
)
def test_what_does_not_fit_says_so(words: list[str], told: str, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*words) == 3
    out = capsys.readouterr().out
    assert "DOES NOT FIT" in out and told in out
    assert "does not fit" in Path("harness.html").read_text()


@pytest.mark.parametrize(
    ("force", "words"),
    [(0.0, "0.00 N"), (999.99, "999.99 N"), (999.998, "1.00 kN"), (-2.5e3, "-2.50 kN"), (3.456e7, "34.56 MN"),
     (230567321847.54, "230.57 GN")],
)  # fmt: skip
def test_large_forces_have_a_prefix(force: float, words: str) -> None:
    assert newtons(force) == words


def test_a_sweep_of_slack(run: Run) -> None:
    assert run("--sweep-mm", "0,10,60") == 0
    page = Path("harness.html").read_text()
    table = page.split("How long to cut them")[1]
    radii = [int(x) for x in re.findall(r"<tr[^>]*><td>\d+</td><td[^>]*>(\d+)</td>", table)]
    assert len(radii) == 3 and radii[1] > radii[0] and radii[1] > radii[2]


def test_names_from_a_table_are_no_markup(run: Run) -> None:
    assert run(clips=CLIPS.replace("clip 1", "<script>alert(1)</script>")) == 0
    page = Path("harness.html").read_text()
    assert "<script" not in page and "&lt;script&gt;" in page


EIGHT = "x_m,y_m,z_m\n" + "".join(
    f"{math.sin(t):.6f},{math.sin(t) * math.cos(t):.6f},0\n" for t in (0.5 + 6.1 * k / 29 for k in range(30))
)
WRONG = [
    ({"route": "x_m;y_m;z_m\n0;0;0,3\n"}, "route.csv, line 1: the cells are parted by semicolons"),
    ({"route": ROUTE.replace("0.10,0,0.30", '"0,10",0,0.30')}, "route.csv, line 3: x_m has a decimal comma, '0,10'"),
    ({"route": ROUTE.replace("0.10,0", "0,10,0")}, "route.csv, line 3: 4 cells, but 3 columns"),
    ({"route": "x_m,y_m,z_m\n0,0,0\n"}, "has one place: it must have two or more"),
    ({"route": ROUTE.replace("0.10,0,0.30", "0,0,0.30")}, "route.csv, line 3: this place of 'cable' is the one before"),
    ({"route": ROUTE.replace("z_m", "z_mm")}, "line 1: there is no column 'z_mm': did you mean 'z_m'?"),
    ({"route": EIGHT}, "route.csv, line 30: the route of 'cable' crosses itself near"),
    (
        {"clips": CLIPS.replace("clip 1,clip", "clip 1,clop")},
        "clips.csv, line 3: there is no kind 'clop': did you mean",
    ),
    ({"clips": CLIPS.replace("clip 2,", "clip 1,")}, "clips.csv, line 4: the name 'clip 1' stands on line 3 already"),
    ({"clips": CLIPS.replace("0.24,0,0.25", "0.24,0,0.65")}, "clips.csv, line 4: 'clip 2' is 368 mm from the route"),
    ({"clips": CLIPS.replace("0.24,0,0.25", "240,0,250")}, "further than the cable reaches"),
    ({"clips": CLIPS.replace("A,connector", "A,eye")}, "clips.csv, line 2: A slides on the end of a cable"),
    ({"clips": CLIPS.replace("0.24,0,0.25,1", "0.10,0,0.30,1")}, "clips.csv, line 4: 'clip 2' holds the cable where"),
    (
        {"clips": CLIPS.replace("0.30,1,0,0\nclip 2", "0.30,0,0,0\nclip 2")},
        "clips.csv, line 3: dx, dy, dz of 0, 0, 0 are no direction: leave them empty",
    ),
    ({"clips": "name,kind,x_m,y_m,z_m\n"}, "nothing stands below"),
    (
        {"options": ["--EI", "1e4", *OPTIONS[2:]]},
        "EI of the cable 'cable' must be at most 241 N·m² at a diameter of 8 mm, as of a rod of diamond, got 10000",
    ),
    ({"options": OPTIONS[2:]}, "EI of the cable 'cable' is missing: give --EI"),
]


@pytest.mark.parametrize(("given", "words"), WRONG, ids=[words for _, words in WRONG])
def test_what_is_wrong_in_the_tables(
    given: dict[str, str], words: str, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(**given) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["clips.csv", "route.csv"]


@pytest.mark.parametrize(
    "words",
    [
        ["--report", "report.txt"], ["--report", "nowhere/report.html"], ["--csv", "route.csv"], ["--model", "out.xyz"],
        ["--scene", "out.npz"], ["--model", "out.glb", "--model", "out.glb"], ["--points", "3"], ["--slack-mm", "-1"],
        ["--EI", "nan"], ["--sweep-mm", "1,x"],
    ],
)  # fmt: skip
def test_options_are_judged_first(words: list[str], run: Run, tmp_path: Path) -> None:
    try:
        status = run(*words)
    except SystemExit as end:  # argparse's own
        status = end.code  # type: ignore[assignment]
    assert status == 2
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["clips.csv", "route.csv"]
    assert Path("route.csv").read_text() == ROUTE


def test_links_and_archives_are_refused(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "real.csv").write_text(ROUTE)
    (tmp_path / "clips.csv").write_text(CLIPS)
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    (tmp_path / "zip.csv").write_bytes(b"PK\x03\x04")
    os.mkfifo(tmp_path / "pipe.csv")
    for name, words in (
        ("link", "is a link"),
        ("zip", "an archive"),
        ("pipe", "no plain file"),
        ("reel", "'real.csv'?"),
    ):
        assert main(["harness", f"{name}.csv", "clips.csv", *OPTIONS]) == 2
        assert words in capsys.readouterr().err
    assert run is not None


CABLES = "cable,EI,slack_mm,branch_of\npower,0.012,10,\nsensor,0.001,5,power\n"
TWO = "cable,x_m,y_m,z_m\n" + "".join(f"power,{row}\n" for row in ROUTE.split()[1:])
TWO += "sensor,0.24,0,0.25\nsensor,0.30,0.05,0.28\nsensor,0.42,0.10,0.30\n"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "sensor,0.001",
            "senser,0.001",
            "cables.csv, line 3: there is no cable 'senser' in the table of routes: did you",
        ),
        (",power\n", ",powr\n", "cables.csv, line 3: there is no cable 'powr' to branch off: did you mean 'power'?"),
        (",power\n", ",sensor\n", "cables.csv, line 3: 'sensor' branches off itself"),
        ("0.012", "-1", "cables.csv, line 2: EI of the cable 'power' must be from 1e-09 to 1e+06, got -1"),
    ],
)
def test_what_is_wrong_in_a_table_of_cables(
    old: str, new: str, words: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("cables.csv").write_text(CABLES.replace(old, new, 1))
    assert run("--cables", "cables.csv", route=TWO) == 2
    assert words in capsys.readouterr().err


def test_a_branch(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    Path("cables.csv").write_text(CABLES)
    clips = CLIPS + "S,connector,0.42,0.10,0.30,1,0,0\n"
    assert run("--cables", "cables.csv", "--bend-radius-mm", "20", route=TWO, clips=clips) == 0
    assert "power 9" in capsys.readouterr().out
    assert "sensor on power" in Path("harness.html").read_text()


def test_on_the_page(tmp_path: Path) -> None:
    """The slider cuts the cable anew, through the clips where they are then; what can't be laid changes nothing."""
    (tmp_path / "route.csv").write_text(ROUTE)
    (tmp_path / "clips.csv").write_text(CLIPS)
    numbers = {"EI": 0.012, "kg_per_m": 0.15, "diameter_mm": 8.0, "bend_radius_mm": 60.0, "slack_mm": 10.0}
    bench = Bench(read_plan(tmp_path / "route.csv", tmp_path / "clips.csv", None, numbers), 40)
    scene = bench.scene
    before, names = bench.bend_radius("cable"), [tie.name for tie in scene.constraints]
    bench.cut(40.0)
    assert bench.bend_radius("cable") < before - 10.0
    assert [tie.name for tie in scene.constraints] == names and len(scene.bodies) == 4
    clip = next(tie for tie in scene.constraints if tie.name == "clip 3")
    clip.hole.position = np.array((0.31, 0.0, 0.13))
    scene.run(0.05, dt=5e-3)
    bench.cut(30.0)
    moved = next(tie for tie in scene.constraints if tie.name == "clip 3")
    assert np.allclose(moved.hole.position, (0.31, 0.0, 0.13))
    moved.hole.position = np.array((3.0, 0.0, 0.13))
    with pytest.raises(sn.InputError, match="further than the cable reaches"):
        bench.cut(20.0)
    assert moved in scene.constraints
    assert [watch.name for watch in scene.watches] == ["cable: bend radius", "largest force of a holder"]


def test_the_page_of_the_handbook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its tables and its command give what it prints, and its messages are those of the command."""
    text = (Path(__file__).parents[3] / "docs" / "howto" / "harness.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name, table in re.findall(r"```text\n# (\w+\.csv)\n(.*?)```", text, re.S):
        Path(name).write_text(table)
    command, told = re.findall(r"```sh\nsennit (harness .*?)```\n\n```text\n(Fits.*?)```", text, re.S)[0]
    assert main(command.replace("\\\n", " ").split()) == 0
    assert capsys.readouterr().out == told
    for message in re.findall(r"^sennit: (.*)$", text, re.M):
        changed = {"clips.csv": CLIPS.replace("0.24,0,0.25", "0.24,0,0.65"), "route.csv": ROUTE}
        if message.startswith("route.csv"):
            changed = {"clips.csv": CLIPS, "route.csv": ROUTE.replace("0.10,0,0.30", '"0,10",0,0.30')}
        for name, table in changed.items():
            Path(name).write_text(table)
        assert main(["harness", "route.csv", "clips.csv", *OPTIONS]) == 2
        assert capsys.readouterr().err == f"sennit: {message}\n"
