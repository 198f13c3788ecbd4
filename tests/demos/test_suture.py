"""The suture demo: what it writes, what it checks, and what it says when something is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sennit as sn
from sennit import cli
from sennit.demos import suture, suture_page
from sennit.live.strand_play import StrandPlay

Image = pytest.importorskip("PIL.Image")
painting = pytest.importorskip("sennit.export.painting")


@pytest.fixture(scope="module")
def run() -> suture.Drag:
    return suture.drag(suture.thread(), frames=10, seconds=1.0)


@pytest.fixture
def planted(run: suture.Drag, monkeypatch: pytest.MonkeyPatch):
    """Returns a function that makes the demo find the given run."""

    def plant(**changes: object) -> None:
        monkeypatch.setattr(suture, "drag", lambda *arguments, **options: replace(run, **changes))

    return plant


def demo(*words: str) -> int:
    return cli.main(["demo", "suture", "--headless", *words])


# What it writes


def test_it_writes_a_film_and_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "film.gif"
    assert demo("--seconds", "0.5", "--output", str(target)) == 0
    assert os.listdir(tmp_path) == ["film.gif"]
    with Image.open(target) as film:
        assert film.format == "GIF" and film.n_frames == 12  # 25 a second
        assert film.info["loop"] == 0
        for k in range(film.n_frames):
            film.seek(k)
            assert film.info["duration"] == 40  # ms
            assert len(film.convert("RGB").getcolors(1 << 20)) > 50
    shown = capsys.readouterr().out
    for word in ("force", "torque", "twist", "radius", "iterations", "ms per", "snap", "Checked", str(target)):
        assert word in shown, word
    assert shown.index("nylon thread") < shown.index("torque")  # the first line comes before the work


def test_its_frames_differ_and_end_where_they_begin(run: suture.Drag) -> None:
    first, middle, last = (np.asarray(f, float) for f in suture.draw(run, [0, 5, 10], (240, 180), charts=False))
    labels, below = 60, 30  # pixels: what is written above the picture, and below it
    assert np.abs(first - middle)[labels:-below].max() > 100
    assert np.abs(first - last)[labels:-below].max() < 3


def test_a_long_film_has_no_more_frames_than_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suture, "MOST_FRAMES", 6)
    assert demo("--seconds", "3", "--output", str(tmp_path / "film.gif")) == 0
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 6 and film.info["duration"] == 500  # ms


def test_it_writes_stills(tmp_path: Path, planted) -> None:
    planted()
    assert demo("--seconds", "0.4", "--output", str(tmp_path / "stills.png")) == 0
    with Image.open(tmp_path / "stills.png") as stills:
        assert stills.format == "PNG" and stills.size == (1200, 606)
    assert os.listdir(tmp_path) == ["stills.png"]


def test_it_writes_a_movie(tmp_path: Path, planted) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    planted()
    assert demo("--seconds", "0.4", "--output", str(tmp_path / "film.mp4")) == 0
    assert os.listdir(tmp_path) == ["film.mp4"]
    assert ffmpeg.count_frames_and_secs(str(tmp_path / "film.mp4"))[0] == 10


def test_a_film_that_can_not_be_written_leaves_the_old_one(
    tmp_path: Path, planted, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(path: Path, frames: object, fps: float) -> None:
        path.write_bytes(b"GIF89a")
        raise OSError("disk full")

    planted()
    monkeypatch.setattr(painting, "_write_gif", fail)
    target = tmp_path / "film.gif"
    target.write_text("old")
    assert demo("--seconds", "0.4", "--output", str(target)) == 1
    assert "disk full" in capsys.readouterr().err
    assert target.read_text() == "old" and os.listdir(tmp_path) == ["film.gif"]


# What it checks


def test_the_path_is_closed_and_goes_around_twice() -> None:
    assert np.allclose(suture.grip(0.0).position, suture.grip(1.0).position, atol=1e-15)
    assert np.allclose(suture.grip(0.0).rotation, suture.grip(1.0).rotation, atol=1e-14)
    poses = [suture.grip(k / 400) for k in range(401)]
    spins = [before.rotation.T @ after.rotation for before, after in zip(poses, poses[1:], strict=False)]
    turned = sum(np.arctan2(spin[1, 0] - spin[0, 1], spin[0, 0] + spin[1, 1]) for spin in spins) / (2 * np.pi)
    assert turned == pytest.approx(suture.TURNS, abs=0.2)  # the tilt of the axis adds its solid angle
    for k in (100, 200, 300):  # smooth, and within reach of the thread
        assert np.linalg.norm(poses[k].position - suture.base().position) < 0.24


def test_the_physics_holds(run: suture.Drag, validated) -> None:
    assert suture.check(run) == []
    assert len(run.frames) == 11 and len(run.times) == 10 * run.step + 1 > suture.STEPS
    # the thread comes back to where it was, so that all the work is lost, and only snaps lose any
    assert np.abs(run.frames[-1].positions - run.frames[0].positions).max() < 1e-9
    assert len(run.snaps) >= 1
    validated(
        "Suture turned twice and back",
        area="demonstrations",
        quantity="work of the hand",
        reference="energy lost in snaps",
        error=abs(run.works.sum() / run.losses[run.snaps].sum() - 1),
        bound=1e-3,
    )
    assert run.works.sum() > 1e-5


def _worked_less(run: suture.Drag) -> suture.Drag:
    works = run.works.copy()
    works[100] -= 2e-5
    return replace(run, works=works)


def _leaking(run: suture.Drag) -> suture.Drag:  # a little at each step, and much altogether
    return replace(run, works=run.works - 1.01 * run.works.sum() / len(run.works))


def _weightless(run: suture.Drag) -> suture.Drag:
    odd = suture.thread().solve(base=suture.base(), tip=suture.grip(0.0))
    return replace(run, frames=[odd, *run.frames[1:]])


def _all_but_one(flags: np.ndarray) -> np.ndarray:
    flags = flags.copy()
    flags[7] = 0.0
    return flags


DEFECTS = {
    "energy from nothing: 2.0e-05 J": _worked_less,
    "over the closed path": _leaking,
    "wrenches balance only": _weightless,
    "1 of 1501 solves did not converge": lambda run: replace(run, converged=_all_but_one(run.converged)),
    "1 of 1501 states are not stable": lambda run: replace(run, stable=_all_but_one(run.stable)),
    "energy from nothing: nan": lambda run: replace(run, energies=np.where(run.times == 0.0, np.nan, run.energies)),
}


@pytest.mark.parametrize("message", DEFECTS)
def test_bad_physics_ends_with_status_1_and_no_picture(
    message: str,
    run: suture.Drag,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bad = DEFECTS[message](run)
    monkeypatch.setattr(suture, "drag", lambda *arguments, **options: bad)
    assert demo("--seconds", "0.4", "--output", str(tmp_path / "film.gif")) == 1
    error = capsys.readouterr().err
    assert error.startswith("sennit: the physical check failed: ") and message in error
    assert os.listdir(tmp_path) == []


def test_without_a_page_it_checks_and_writes_nothing(
    run: suture.Drag, planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert demo("--seconds", "0.4") == 0
    assert "Checked" in capsys.readouterr().out
    planted(works=_worked_less(run).works)
    assert demo("--seconds", "0.4") == 1
    assert "energy from nothing" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


# On the page


@pytest.fixture
def play() -> StrandPlay:
    made = suture.play()
    assert isinstance(made, StrandPlay)
    return made


def test_the_needle_turns_by_itself_and_the_thread_curls(play: StrandPlay) -> None:
    first = play.state
    for _ in range(400):  # a quarter of the period
        play.step()
    assert play.trouble == "" and play.scripted
    assert play.turns == pytest.approx(suture_page.TURNS, abs=0.01)
    assert play.controls[0].value == pytest.approx(play.turns)
    # it left the plane in which it began, and its end is where the instrument has it
    assert np.ptp(play.state.positions[:, 1]) > 4.0 * np.ptp(first.positions[:, 1])
    assert np.linalg.norm(play.state.tip_pose.position - play.hand.position) < 1e-3
    assert play.state.energy.twist > 20.0 * first.energy.twist
    for _ in range(1200):
        play.step()
    # it did not snap: after a period it is where it was, but for the sway
    assert play.turns == pytest.approx(0.0, abs=0.01)
    assert play.state.energy.elastic == pytest.approx(first.energy.elastic, rel=0.05)


def test_the_page_does_what_it_is_asked_and_resets(play: StrandPlay) -> None:
    begin = play.portrait.capture().copy()
    play.step()
    play.grab(1, np.zeros(3))  # the needle holder
    away = play.grip[1] + np.array((0.02, 0.03, 0.01))
    play.drag(away)
    for _ in range(40):
        play.step()
    assert not play.scripted and play.controls[2].value is False
    assert play.grip[1] == pytest.approx(away, abs=2e-3)
    play.release()
    held = play.portrait.capture().copy()
    for _ in range(5):
        play.step()
    assert play.portrait.capture() == pytest.approx(held, abs=1e-9)  # the instrument stays where it is
    play.controls[0].use(2.5)
    play.controls[1].use(5.0)
    play.handles[0].move(sn.Pose((0.11, 0.02, 0.07), play.handles[0].read().quaternion))
    for _ in range(400):
        play.step()
    assert play.turns == pytest.approx(2.5) and play.strand.material.youngs_modulus == 5e9
    play.set_gravity(np.zeros(3))
    play.pin(0, 0.5)
    for _ in range(3):
        play.step()
    assert len(play.portrait.cast.parts) == 5 and play.portrait.capture().shape != begin.shape
    play.reset()
    assert np.array_equal(play.portrait.capture(), begin)
    assert play.time == 0.0 and play.scripted and not play.holding and play.ties == []
    assert [control.value for control in play.controls] == [control.start for control in play.controls]
    play.step()
    again = suture.play()
    again.step()
    assert np.array_equal(play.portrait.capture(), again.portrait.capture())


# What it says


@pytest.mark.parametrize("name", ["film.avi", "film", "absent/film.gif", "folder.gif"])
def test_a_bad_output_is_refused_before_the_work(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(suture, "drag", lambda *arguments, **options: pytest.fail("it ran"))
    (tmp_path / "folder.gif").mkdir()
    assert demo("--output", str(tmp_path / name)) == 2
    assert "--output" in capsys.readouterr().err


@pytest.mark.parametrize(("package", "name"), [("PIL", "film.gif"), ("imageio_ffmpeg", "film.mp4")])
def test_a_missing_package_is_named_before_the_work(
    package: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(suture, "drag", lambda *arguments, **options: pytest.fail("it ran"))
    monkeypatch.setitem(sys.modules, package, None)
    if package == "PIL":
        monkeypatch.delitem(sys.modules, "sennit.export.painting")
    assert demo("--output", str(tmp_path / name)) == 1
    assert capsys.readouterr().err == f"sennit: this needs the package {package}: pip install 'sennit[export]'\n"


def test_it_starts_without_what_it_needs_later() -> None:
    """The reason that its first line appears at once; the time itself is no business of a test."""
    names = ("PIL", "matplotlib", "numba", "scipy")
    program = f"import sys; import sennit.demos.suture; print([name for name in {names} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "[]\n"


# The painter


def test_the_camera_sees_its_target_in_the_centre_and_to_scale() -> None:
    camera = painting.Camera((0.0, -2.0, 0.0), (0.0, 0.0, 0.0), size=(400, 300), width=1.0, centre=(0.5, 0.25))
    places, depths = camera.project(np.array([(0.0, 0.0, 0.0), (0.25, 0.0, 0.0), (0.0, 0.0, 0.1), (0.0, 2.0, 0.5)]))
    assert np.allclose(places, [(200, 75), (300, 75), (200, 35), (200, -25)])  # x to the right, z up, far is small
    assert np.allclose(depths, [2.0, 2.0, 2.0, 4.0])


def test_a_loft_faces_outwards() -> None:
    z = np.linspace(0.0, 3.0, 4)[:, None]
    centres = z * np.array((0.0, 0.0, 1.0))
    ones = np.ones((4, 1))
    axes = ones * np.array((2.0, 0.0, 0.0)), ones * np.array((0.0, 2.0, 0.0))
    facets = painting.loft(centres, *axes, painting.circle(12), (10, 20, 30), capped=True)
    middles = facets.corners.mean(axis=1)
    outwards = middles - np.array((0.0, 0.0, 1.5))
    assert len(facets.corners) == 3 * 12 + 2 * 12
    assert (np.einsum("ij,ij->i", facets.normals, outwards) > 0.0).all()
    assert np.allclose(np.linalg.norm(facets.normals, axis=1), 1.0)


def test_near_facets_cover_far_ones() -> None:
    camera = painting.Camera((0.0, -1.0, 0.8), (0.0, 0.0, 0.3), size=(60, 60), width=1.0)
    stage = painting.Stage(camera, (255, 255, 255), np.array(((-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)), float))
    stage.finish()
    bars = []
    for y, colour in ((-0.2, (200, 0, 0)), (0.2, (0, 0, 200))):
        centres = np.array(((-0.4, y, 0.3 - y / 2), (0.4, y, 0.3 - y / 2)))  # both on the line of sight
        ones = np.ones((2, 1)) * 0.1
        bars.append(painting.loft(centres, ones * (0, 1, 0), ones * (0, 0, 1), painting.circle(8), colour, gloss=0.0))
    for order in (bars, bars[::-1]):
        red, _, blue = stage.frame(painting.Facets.joined(order)).getpixel((30, 30))
        assert red > 60 > blue


def test_it_needs_no_more_than_the_public_strand() -> None:
    assert isinstance(suture.thread(), sn.Strand)
    assert suture.thread().nodes == 201 and suture.thread().length == 0.25
