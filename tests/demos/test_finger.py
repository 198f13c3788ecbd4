"""The finger demo: its meshes, what it writes, what it checks, and what it says when something is wrong."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sennit as sn
from sennit import cli
from sennit.demos import finger, finger_mesh
from sennit.demos.finger_felt import bent, loop_of
from sennit.demos.finger_page import JOINTS, LIMITS, PERIOD, FingerPlay
from sennit.elastostatics.surface import checked_surface, thin_walls
from sennit.errors import InputError
from sennit.haptics.bones import asked_rows

Image = pytest.importorskip("PIL.Image")
pictures = pytest.importorskip("sennit.demos.finger_picture")
painting = pytest.importorskip("sennit.export.painting")

COARSE = 16


@pytest.fixture(scope="module")
def model() -> finger.Model:
    return finger.build(COARSE)


@pytest.fixture(scope="module")
def run(model: finger.Model) -> finger.Run:
    return finger.run(model, 10, 1.0)


@pytest.fixture
def planted(model: finger.Model, run: finger.Run, monkeypatch: pytest.MonkeyPatch):
    """Returns a function that makes the demo find the given run."""

    def plant(found: finger.Run | None = None) -> None:
        monkeypatch.setattr(finger, "TICKS", 20)
        monkeypatch.setattr(finger, "build", lambda around: model)
        monkeypatch.setattr(finger, "run", lambda *arguments, **options: run if found is None else found)

    return plant


def demo(*words: str) -> int:
    return cli.main(["demo", "finger", "--headless", "--around", str(COARSE), *words])


# The meshes


@pytest.mark.parametrize(("around", "vertices", "seam", "thick"), [(24, 800, 72, 1.0), (COARSE, 350, 36, 0.8)])
def test_meshes_are_closed_even_and_thick_enough(around: int, vertices: int, seam: int, thick: float) -> None:
    made = finger_mesh.finger(around)
    for k, pad in enumerate(made.pads):
        surface = checked_surface(pad.vertices, pad.faces)  # closed, wound outwards, nowhere crossing itself
        assert len(pad.vertices) == pytest.approx(vertices, rel=0.1)
        assert len(thin_walls(surface, thick)) == 0  # over the edges' length
        corners = pad.vertices[pad.faces]
        after, before = np.roll(corners, -1, axis=1) - corners, np.roll(corners, 1, axis=1) - corners
        cosines = np.einsum("fki,fki->fk", after, before)
        cosines /= np.linalg.norm(after, axis=2) * np.linalg.norm(before, axis=2)
        assert cosines.max() < math.cos(math.radians(30.0)) and cosines.min() > math.cos(math.radians(100.0))
        assert len(pad.near) == (seam if k else 0) and len(pad.far) == (seam if k < 2 else 0)
        assert not np.isin(pad.fixed, np.concatenate((pad.near, pad.far))).any()


def test_a_finger_is_as_large_as_a_finger() -> None:
    made = finger_mesh.finger()
    for pad, length in zip(made.pads, finger_mesh.LENGTHS, strict=True):
        x, y, z = pad.vertices.T
        assert x.max() == pytest.approx(length, abs=5e-3)
        assert 6e-3 < np.abs(y).max() < 1e-2 and 6e-3 < np.abs(z).max() < 1e-2
        on_bone = np.setdiff1d(pad.fixed, np.flatnonzero(x < 1e-9) if pad.name == "proximal" else ())
        assert np.hypot(y, z)[on_bone].max() <= finger_mesh.BONE_RADIUS + 1e-12


def test_seams_are_the_same_places() -> None:
    made = finger_mesh.finger(COARSE)
    placed = [pose @ pad.vertices for pose, pad in zip(made.rest_poses(), made.pads, strict=True)]
    for k, (a, b) in enumerate(made.seams):
        assert np.abs(placed[k][a] - placed[k + 1][b]).max() < 1e-16
        flat = np.linalg.svd(placed[k][a] - placed[k][a].mean(axis=0))[1]
        assert flat[2] < 1e-12 * flat[0]


def test_joints_bend_towards_the_palm() -> None:
    p, d, (first, second, third) = 0.7, 0.4, finger_mesh.LENGTHS
    hand = sn.Pose((0.1, 0.2, 0.3))
    poses = finger_mesh.Finger.poses((p, d), hand)
    tip = poses[2] @ np.array((third, 0.0, 0.0))
    x = first + second * math.cos(p) + third * math.cos(p + d)
    z = -second * math.sin(p) - third * math.sin(p + d)
    assert tip == pytest.approx((0.1 + x, 0.2, 0.3 + z), abs=1e-15)


def test_too_coarse_a_finger_is_refused() -> None:
    with pytest.raises(InputError, match=r"around must be 16 or more.*got 12"):
        finger_mesh.finger(12)


def test_the_script_writes_meshes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import trimesh

    finger_mesh.main([str(tmp_path / "out"), "--around", str(COARSE), "--format", "ply"])
    assert sorted(os.listdir(tmp_path / "out")) == ["distal.ply", "middle.ply", "proximal.ply"]
    assert "proximal" in capsys.readouterr().out
    for name in finger_mesh.NAMES:
        assert trimesh.load(tmp_path / "out" / f"{name}.ply").is_watertight


# What it writes


def test_it_writes_a_film_and_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(finger, "TICKS", 20)
    monkeypatch.setattr(finger, "STEPS", 60)
    target = tmp_path / "film.gif"
    assert demo("--seconds", "0.2", "--output", str(target)) == 0
    assert os.listdir(tmp_path) == ["film.gif"]
    with Image.open(target) as film:
        assert film.format == "GIF" and film.n_frames == 5 and film.info["loop"] == 0
        assert len(film.convert("RGB").getcolors(1 << 20)) > 50
    shown = capsys.readouterr().out
    for word in (
        "soft pads",
        "vertices touch",
        "ripple",
        "Checked",
        "block-diagonal",
        "kinematic",
        "more than a millisecond",
        str(target),
    ):
        assert word in shown, word


def test_its_frames_differ_and_end_where_they_begin(model: finger.Model, run: finger.Run) -> None:
    first, middle, last = (np.asarray(f, float) for f in pictures.draw(model, run, [0, 5, 10], still=True))
    labels = 40  # pixels: what is written above the picture, and below it
    assert np.abs(first - middle)[labels:-labels].max() > 60
    assert np.abs(first - last)[labels:-labels].max() < 3


def test_it_writes_stills(tmp_path: Path, planted) -> None:
    planted()
    assert demo("--seconds", "0.4", "--output", str(tmp_path / "stills.png")) == 0
    with Image.open(tmp_path / "stills.png") as stills:
        assert stills.format == "PNG" and stills.size == (1200, 622)
    assert os.listdir(tmp_path) == ["stills.png"]


# What it checks


def test_it_bends_presses_slips_and_is_touched(run: finger.Run) -> None:
    assert finger.check(run) == []
    bends = np.degrees([each.angles for each in run.moments])
    assert bends[:, 1].max() > 55.0 and bends[:, 2].max() > 38.0
    slips = [each.slipping for each in run.moments if each.ball.any()]
    assert min(slips) < 0.5 and max(slips) == 1.0
    assert any(each.probe.any() for each in run.moments)
    assert np.allclose(run.moments[0].angles, run.moments[-1].angles)


def test_pressures_are_what_the_ball_pushes_with(model: finger.Model, run: finger.Run) -> None:
    pressed = max(run.moments, key=lambda each: float(np.linalg.norm(each.ball)))
    pushed = sum(float(p @ area) for p, area in zip(pressed.pressures, model.areas, strict=True))
    assert 0.9 < pushed / float(np.linalg.norm(pressed.ball)) < 1.25  # friction, and normals that spread


def test_the_finger_pushes_the_probe_back(run: finger.Run) -> None:
    for each in run.moments:
        if each.probe.any():
            assert each.probe @ each.probed[1] < 0.0


def _moment(run: finger.Run, **changes: object) -> finger.Run:
    return replace(run, moments=[replace(run.moments[0], **changes), *run.moments[1:]])


def _truth(run: finger.Run, **changes: object) -> finger.Run:
    return replace(run, truth=replace(run.truth, **changes))


DEFECTS = {
    "1 of 121 solves did not converge": lambda run: _moment(run, converged=False),
    "seams are open by (m) 1.0e-06": lambda run: _moment(run, gap=1e-6),
    "seam forces balance only to 1.0e-04": lambda run: _moment(run, seam_unbalance=1e-4),
    "the bones feel what acts on the finger only to nan": lambda run: _moment(run, bone_unbalance=math.nan),
    "the skin is in the ball by (m) 1.0e-05": lambda run: _moment(run, inside=1e-5),
    "friction beyond Coulomb's limit by 1.0e-02": lambda run: _moment(run, beyond_friction=0.01),
    "a hand that moves as one feels 1.0e-03": lambda run: _truth(run, carried_along=1e-3),
    "a bent hand that turns as one deforms by 1.0e-03": lambda run: _truth(run, turned=1e-3),
    "sweeps are off the direct solution by 1.0e-06": lambda run: _truth(run, sweeps=1e-6),
    "the stiffness felt ripples by 3.0e-02": lambda run: _truth(run, ripple=0.03),
    "the block-diagonal approximation is off by 5.0e-01": lambda run: _truth(run, block_diagonal=(0.5, 0.5)),
    "the kinematic approximation is off by 2.0e+00": lambda run: _truth(run, kinematic=(2.0, 0.5)),
    "the ball was hardly touched": lambda run: replace(run, moments=run.moments[:10]),
}


@pytest.mark.parametrize("message", DEFECTS)
def test_bad_physics_ends_with_status_1_and_no_picture(
    message: str, run: finger.Run, planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(DEFECTS[message](run))
    assert demo("--seconds", "0.4", "--output", str(tmp_path / "film.gif")) == 1
    error = capsys.readouterr().err
    assert error.startswith("sennit: the physical check failed: ") and message in error
    assert os.listdir(tmp_path) == []


def test_what_is_measured_finds_defects(model: finger.Model) -> None:
    """Seams that are not what the chain solved for are found by the boundary stiffness itself."""

    class Crooked:
        def __getattr__(self, name: str) -> object:
            return getattr(model.chain, name)

        def press(self, *arguments: object, **options: object) -> object:
            return model.chain.press(*arguments, **{**options, "method": "kinematic"})

    good, _ = finger.moment(model, 0.22)
    bad, _ = finger.moment(replace(model, chain=Crooked()), 0.22)
    assert good.seam_unbalance < 1e-10 and good.bone_unbalance < 1e-10
    assert bad.seam_unbalance > 1e-2 and not bad.converged
    assert bad.gap < 1e-14  # kinematic seams are closed, too


def test_without_a_page_it_checks_and_writes_nothing(
    run: finger.Run, planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    planted()
    assert demo("--seconds", "0.4") == 0
    assert "Checked in" in capsys.readouterr().out
    planted(_moment(run, gap=1e-6))
    assert demo("--seconds", "0.4") == 1
    assert "seams are open" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


# On the page


@pytest.fixture(scope="module")
def made_play(model: finger.Model) -> FingerPlay:
    return FingerPlay(model)


@pytest.fixture
def play(made_play: FingerPlay) -> FingerPlay:
    made_play.reset()
    return made_play


def _steps(play: FingerPlay, count: int) -> None:
    for _ in range(count):
        play.step()


def _part(play: FingerPlay, name: str) -> int:
    return [part.name for part in play.portrait.cast.parts].index(name)


def test_by_itself_it_does_what_the_film_shows(play: FingerPlay) -> None:
    """It bends, presses the ball and is touched by the probe; each state is the one that the film has there."""
    seen = {"ball": 0, "probe": 0}
    for k in range(1, round(PERIOD / play.dt) + 1):
        play.step()
        assert play.trouble == ""
        seen["ball"] += bool(play.ball_force.any())
        seen["probe"] += bool(play.probe_force.any())
        if k % 100 == 50:
            assert play.angles == pytest.approx(finger.path(k * play.dt / PERIOD)[0], abs=1e-12)
    assert seen["ball"] > 50 and seen["probe"] > 50


def test_the_ball_is_pushed_into_the_finger_until_it_goes_no_further(model: finger.Model, play: FingerPlay) -> None:
    begin = play.portrait.capture().copy()
    _steps(play, 2)
    play.grab(_part(play, "ball"), np.zeros(3))
    assert not play.scripted and play.controls[4].value is False
    below = 0.5 * (play.poses[1].position + play.poses[2].position)
    play.drag(below - np.array((0.0, 0.0, 0.020)))
    _steps(play, 40)
    first = float(np.linalg.norm(play.ball_force))
    assert play.ball == pytest.approx(below - np.array((0.0, 0.0, 0.020)), abs=1e-12) and first > 0.05
    play.drag(below - np.array((0.0, 0.0, 0.0185)))
    _steps(play, 10)
    assert float(np.linalg.norm(play.ball_force)) > first  # it pushes back the more
    # what is seen as pressure is what the ball pushes with
    pushed = sum(float(p @ area) for p, area in zip(play.pressures, model.areas, strict=True))
    assert 0.9 < pushed / float(np.linalg.norm(play.ball_force)) < 1.4
    skin = play.portrait.cast.views(play.portrait.capture())[0]
    assert skin.fields["pressure"].max() > 0.0 and skin.fields["displacement"].max() > 1e-4
    play.drag(below)  # through the bone
    _steps(play, 40)
    assert "as deep" in play.trouble and float(np.linalg.norm(play.ball_force)) <= 6.0
    assert np.isfinite(play.portrait.capture()).all()
    play.drag(below - np.array((0.0, 0.0, 0.05)))
    _steps(play, 60)
    assert play.trouble == "" and not play.ball_force.any()
    play.release()
    play.reset()
    assert np.array_equal(play.portrait.capture(), begin)
    assert play.scripted and not play.holding and play.time == 0.0


def test_skin_gives_way_to_the_hand_and_joints_follow(play: FingerPlay) -> None:
    begin = play.portrait.capture().copy()
    skin = play.cover.joined(play.positions)
    tip = int(np.argmax(skin[:, 0]))
    play.grab(0, tip)
    hand, place = play.grip
    assert hand == pytest.approx(place)
    _steps(play, 2)
    assert play.grip[1] == pytest.approx(place, abs=1e-9)  # the hand is where the skin is: nothing moves
    play.drag(place + np.array((0.0, 0.002, 0.0)))  # joints do not bend that way
    _steps(play, 5)
    patch = play.state.probe
    untouched = play.model.chain.solve(play.poses).positions()[play.state.zone]
    moved = patch.weights @ (play.positions[play.state.zone] - untouched)[patch.vertices]
    assert moved == pytest.approx((0.0, 0.002, 0.0), abs=1e-5)  # what the hand has moves by that much in the mean
    assert play.probe_force[1] > 0.01
    play.drag(place - np.array((0.01, 0.0, 0.02)))
    _steps(play, 40)
    assert play.angles[1] > np.radians(10.0)
    assert play.controls[1].value == pytest.approx(np.degrees(play.angles[1]))
    assert np.linalg.norm(play.grip[1] - play.grip[0]) < 5e-3
    bent = play.angles.copy()
    play.release()
    _steps(play, 3)
    assert play.angles == pytest.approx(bent) and not play.probe_force.any()
    play.controls[0].use(-30.0)
    play.controls[3].use(1.0)
    _steps(play, 30)
    assert np.degrees(play.angles[0]) == pytest.approx(-30.0)
    play.reset()
    assert np.array_equal(play.portrait.capture(), begin)
    assert [control.value for control in play.controls] == pytest.approx([control.start for control in play.controls])


def test_a_bone_is_taken_and_the_ball_by_its_gizmo(play: FingerPlay) -> None:
    play.grab(_part(play, "bone 3"), np.array((0.01, 0.0, 0.0)))
    place = play.grip[1]
    assert place == pytest.approx(play.poses[2] @ np.array((0.01, 0.0, 0.0)))
    play.drag(place + np.array((0.0, 0.0, -0.01)))
    _steps(play, 40)
    assert play.grip[1] == pytest.approx(place + np.array((0.0, 0.0, -0.01)), abs=2e-3)
    play.release()
    (handle,) = play.handles
    handle.move(sn.Pose((0.12, 0.0, 0.02)))
    _steps(play, 60)
    assert play.ball == pytest.approx((0.12, 0.0, 0.02))


def test_what_cannot_be_done_is_refused(play: FingerPlay) -> None:
    before = play.portrait.capture().copy()
    fixed = next(k for k in range(len(play.cover.source)) if _held(play, k))
    for call in (
        lambda: play.grab(_part(play, "clamp"), np.zeros(3)),
        lambda: play.grab(0, fixed),
        lambda: play.grab(0, 10**6),
        lambda: play.grab(99, 0),
        lambda: play.pin(0, 1),
        lambda: play.switch(0, True),
        lambda: play.remove(0),
        lambda: play.drag(np.zeros(3)),
        lambda: play.set_gravity(np.zeros(3)),
    ):
        with pytest.raises(InputError):
            call()
    assert play.scripted and not play.holding and np.array_equal(play.portrait.capture(), before)


def _held(play: FingerPlay, vertex: int) -> bool:
    pad, own = play.cover.pad_of(vertex)
    return own in play.model.finger.pads[pad].fixed


# What it says


@pytest.mark.parametrize("name", ["film.avi", "absent/film.gif"])
def test_a_bad_output_is_refused_before_the_work(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(finger, "build", lambda around: pytest.fail("it ran"))
    assert demo("--output", str(tmp_path / name)) == 2
    assert "--output" in capsys.readouterr().err


def test_a_missing_package_is_named_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(finger, "build", lambda around: pytest.fail("it ran"))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    assert demo("--output", str(tmp_path / "film.mp4")) == 1
    assert capsys.readouterr().err == "sennit: this needs the package imageio_ffmpeg: pip install 'sennit[export]'\n"


def test_it_starts_without_what_it_needs_later() -> None:
    names = ("PIL", "matplotlib", "numba", "scipy", "trimesh")
    program = f"import sys; import sennit.demos.finger; print([name for name in {names} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "[]\n"


# The painter


def test_what_shines_through_is_blended_where_it_is() -> None:
    camera = painting.Camera((0.0, -1.0, 0.8), (0.0, 0.0, 0.3), size=(60, 60), width=1.0)
    stage = painting.Stage(camera, (255, 255, 255), np.array(((-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)), float))
    stage.finish()
    centres = np.array(((-0.2, 0.0, 0.3), (0.2, 0.0, 0.3)))
    ones = np.ones((2, 1)) * 0.1
    bar = painting.loft(centres, ones * (0, 1, 0), ones * (0, 0, 1), painting.circle(8), (200, 0, 0), gloss=0.0)
    whole = stage.frame(
        bar, casting=painting.Facets(*(part[:0] for part in (bar.corners, bar.normals, bar.colours, bar.gloss)))
    )
    half = stage.picture.copy()
    stage.shine_through(half, bar, 0.5)
    expected = 0.5 * (np.asarray(whole, float) + np.asarray(stage.picture, float))
    assert np.abs(np.asarray(half, float) - expected).max() <= 1.0


def test_a_device_feels_the_finger_while_sliders_bend_it(model: finger.Model) -> None:
    """All that the sliders allow is a way that bones can go, and the loop begins at rest."""
    mouse = sn.MouseDevice(smoothing=0.005)
    for angles in itertools.product(*(np.radians(limits) for limits in LIMITS)):
        asked_rows(model.chain, bent(model, angles))
    with loop_of(model, mouse) as loop:
        sliders = {control.name: control for control in loop.panel.controls}
        assert list(sliders) == list(JOINTS)
        assert [c.value for c in loop.panel.controls] == pytest.approx([0.0, *np.degrees(model.finger.resting)])
        first = model.finger.pads[0].vertices
        mouse.move((0.02, 0.0, first[np.abs(first[:, 0] - 0.02) < 5e-3, 2].max() + 3e-3))
        mouse.grab()
        loop.wait(0.1)
        assert not loop.force.any()
        sliders["knuckle"].use(-35.0)  # up, into the probe
        deadline = time.monotonic() + 60.0
        while not np.linalg.norm(loop.force) > 0.02:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    assert loop.statistics.failed == 0
