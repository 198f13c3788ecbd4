"""The six scenes of MICADO as demonstrations: their counts, what they check, what they write."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from sennit import cli
from sennit.demos import bow, bridge, bundle, dna, load, necklace, net, stage

# absolute and relative multipliers: MICADO, table 1; degrees of freedom: as each module infers them
COUNTS = {
    "bridge": (bridge, (32, 21), 320),
    "necklace": (necklace, (0, 10), 106),
    "bow": (bow, (11, 16), 177),
    "bundle": (bundle, (0, 35), 223),
    "net": (net, (28, 49), 560),
    "dna": (dna, (0, 32), 288),
}
SHOWS = {
    "bridge": bridge.Walk,
    "necklace": necklace.Flight,
    "bow": bow.Shot,
    "bundle": bundle.Laying,
    "net": net.Pluck,
    "dna": dna.Winding,
}


def default_seconds(name: str) -> float:
    import argparse

    parser = argparse.ArgumentParser()
    load(name).add_arguments(parser)
    return float(parser.parse_args([]).seconds)


@pytest.fixture(scope="module")
def shows() -> dict[str, stage.Show]:
    """Each show after its whole run, not drawn."""
    made = {}
    for name, kind in SHOWS.items():
        show = kind()
        show.plan(default_seconds(name))
        show.begin()
        stage.simulate(show, default_seconds(name))
        made[name] = show
    return made


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_the_papers(name: str) -> None:
    module, multipliers, freedoms = COUNTS[name]
    scene = module.build()
    assert scene.multipliers == multipliers
    assert scene.dofs == freedoms


@pytest.mark.parametrize("name", COUNTS)
def test_building_is_pure(name: str) -> None:
    """The same program gives bitwise the same states."""
    module: ModuleType = COUNTS[name][0]
    scenes = [module.build() for _ in range(2)]
    for scene in scenes:
        scene.run(0.02, dt=2e-3)
    assert scenes[0].energy.total == scenes[1].energy.total
    assert np.isfinite(scenes[0].energy.total)


@pytest.mark.parametrize("name", COUNTS)
def test_the_physics_holds(name: str, shows: dict[str, stage.Show]) -> None:
    assert shows[name].check() == []
    assert shows[name].findings().endswith(".")


DEFECTS = [
    ("bridge", "rest", np.array((0.0, 0.0, 100.0)), "at rest the anchors miss"),
    ("bridge", "unbalanced", 1.0, "change of momentum"),
    ("bridge", "gap", 0.01, "missed its length"),
    ("necklace", "gained", 1.0, "energy from nothing"),
    ("necklace", "overlap", 1e-3, "overlap"),
    ("necklace", "strayed", 1e-2, "free fall"),
    ("bow", "stored", 1.0, "are stored"),
    ("bow", "pulled", 1.0, "pulled the arrow"),
    ("bow", "best", 1e3, "the arrow got"),
    ("bow", "left", None, "did not leave"),
    ("bow", "changed", 0.1, "velocity changed"),
    ("bundle", "gap", 0.01, "let the trunk go"),
    ("bundle", "drawn", 0.0, "drew nothing"),
    ("net", "anchored", np.zeros(3), "miss weight and pull"),
    ("net", "hub", 0.5, "at the hub"),
    ("net", "pushed", 0.1, "pushes"),
    ("net", "gained", 1.0, "energy from nothing"),
    ("dna", "turns", [0.0], "wound it up"),
    ("dna", "gap", 0.01, "missed its length"),
    ("dna", "drifted", 0.01, "drifted"),
    ("dna", "spun", 1.0, "began to turn"),
    ("dna", "gained", 1.0, "energy from nothing"),
]


@pytest.mark.parametrize(("name", "attribute", "value", "message"), DEFECTS)
def test_a_defect_is_named(
    name: str,
    attribute: str,
    value: object,
    message: str,
    shows: dict[str, stage.Show],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert hasattr(shows[name], attribute)
    monkeypatch.setattr(shows[name], attribute, value)
    assert any(message in line for line in shows[name].check())


def test_nothing_comes_from_not_a_number(shows: dict[str, stage.Show], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, attribute in (("bridge", "gap"), ("necklace", "gained"), ("bow", "best"), ("net", "hub"), ("dna", "gap")):
        monkeypatch.setattr(shows[name], attribute, math.nan)
        assert shows[name].check()


# The stage


class Falling(stage.Show):
    """The smallest show: nothing is simulated."""

    title = "Nothing moves."
    charts = (stage.Chart("time", "s", ".1f", (200, 0, 0)),)

    class Clock:
        time = 0.0
        multipliers = (1, 2)
        dofs = 3

        def step(self, dt: float) -> None:
            self.time += dt

    def __init__(self, wrong: list[str] | None = None) -> None:
        self.scene = self.Clock()  # type: ignore[assignment]
        self.wrong = wrong or []
        self.steps: list[float] = []

    def plan(self, seconds: float) -> list[stage.Part]:
        return [stage.Part(seconds / 2.0, 0.1), stage.Part(seconds / 2.0, 1e-3, slower=2.0)]

    def begin(self) -> None:
        pass

    def after_step(self, dt: float) -> None:
        pass

    def before_step(self, dt: float) -> None:
        self.steps.append(dt)

    def look(self) -> float:
        return self.scene.time

    def sample(self) -> tuple[float, ...]:
        return (self.scene.time,)

    def caption(self) -> str:
        return "still"

    def stage(self, size: tuple[int, int], height: int):  # type: ignore[no-untyped-def]
        from sennit.export import painting, solids

        camera = painting.Camera((0, -3, 1), (0, 0, 0.3), size=size, width=2.0, centre=(0.5, 0.5 * height / size[1]))
        return painting.Stage(camera, (250, 250, 250), solids.floor(camera, (-5, -5), (5, 5)))

    def paint(self, look: float):  # type: ignore[no-untyped-def]
        from sennit.export import solids

        return solids.ball((look - 0.5, 0.0, 0.4), 0.2, (220, 60, 50))

    def check(self) -> list[str]:
        return self.wrong

    def findings(self) -> str:
        return "nothing moved."


def arguments(target: Path, seconds: float = 1.0):  # type: ignore[no-untyped-def]
    import argparse

    return argparse.Namespace(output=str(target), seconds=seconds, headless=True)


def test_steps_fill_the_plan() -> None:
    show = Falling()
    record = stage.simulate(show, 1.0)
    assert sum(show.steps) == pytest.approx(1.0, abs=1e-9)
    assert max(show.steps[:10]) <= 0.1 and show.steps[-1] <= 1e-3 * (1 + 1e-9)
    # 25 a second in the first half, twice as many in the second, and the beginning
    assert len(record.times) == 1 + 12 + 25
    assert record.times[-1] == pytest.approx(1.0) and len(record.spent) == len(show.steps)


def test_long_films_have_fewer_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "MOST_FRAMES", 8)
    assert len(stage.simulate(Falling(), 4.0).times) <= 9


@pytest.mark.parametrize("last", [60, 100, 299])
def test_stills_avoid_every_period(last: int) -> None:
    chosen = stage.spread(last)
    assert chosen[0] == 0 and chosen[-1] == last and len(chosen) == 6
    for period in np.linspace(last / 8.0, last / 2.0, 200):
        phases = np.exp(2j * np.pi * np.array(chosen[:-1]) / period)
        assert abs(phases.mean()) < 0.9  # 1 if all showed the motion in the same phase
    even = np.exp(2j * np.pi * np.linspace(0, last, 6)[:-1] / (last / 5.0))
    assert abs(even.mean()) > 0.999


def test_it_writes_films_and_sheets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Image = pytest.importorskip("PIL.Image")
    assert stage.perform(Falling(), arguments(tmp_path / "film.gif")) == 0
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 38 and film.size == stage.SIZE
        film.seek(0)
        first = np.asarray(film.convert("RGB"), float)
        film.seek(37)
        last = np.asarray(film.convert("RGB"), float)
        seen = stage.SIZE[1] - stage.PANEL
        assert np.abs(first - last)[60:seen].max() > 100  # the ball moves
        assert first[-3:, :, :].min() > 250  # no shadow falls on the charts
    shown = capsys.readouterr().out
    for text in ("Nothing moves.", "1 absolute and 2 relative", "Checked: nothing moved.", "film.gif"):
        assert text in shown
    assert stage.perform(Falling(), arguments(tmp_path / "sheet.png")) == 0
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.size == (3 * 396 + 12, 2 * 308 + 6)
    assert sorted(os.listdir(tmp_path)) == ["film.gif", "sheet.png"]


def test_bad_physics_ends_with_status_1_and_no_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert stage.perform(Falling(["it fell up"]), arguments(tmp_path / "film.gif")) == 1
    assert capsys.readouterr().err == "sennit: the physical check failed: it fell up\n"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["film.avi", "film", "absent/film.gif", "folder.gif"])
def test_a_bad_output_is_refused_before_the_work(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "simulate", lambda *arguments, **options: pytest.fail("it ran"))
    (tmp_path / "folder.gif").mkdir()
    assert cli.main(["demo", "bridge", "--headless", "--output", str(tmp_path / name)]) == 2
    assert "--output" in capsys.readouterr().err


def test_demos_start_without_what_they_need_later() -> None:
    names = ("PIL", "matplotlib", "numba", "scipy")
    imports = "; ".join(f"import sennit.demos.{name}" for name in COUNTS)
    program = f"import sys; {imports}; print([name for name in {names} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_the_command_writes_a_sheet(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Image = pytest.importorskip("PIL.Image")
    target = tmp_path / "sheet.png"
    assert cli.main(["demo", name, "--headless", "--output", str(target)]) == 0
    with Image.open(target) as sheet:
        assert len(sheet.convert("RGB").getcolors(1 << 22)) > 200
    absolute, relative = COUNTS[name][1]
    assert f"{absolute} absolute and {relative} relative multipliers" in capsys.readouterr().out
