"""Recording a scene: what is kept, when; what is written, and what is not."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import sennit as sn
from sennit.errors import InputError
from sennit.export import recording as recordings
from sennit.export.record import SUFFIXES, record, write
from sennit.export.recording import Recording, record_frames
from sennit.live.scene_play import ScenePlay

Swing = tuple[sn.Scene, sn.Rod, sn.RigidBody]


def test_frames_are_the_states_of_the_scene(swing: Swing, tmp_path: Path) -> None:
    scene, rope, box = swing
    start = scene.snapshot()
    path = record(scene, 0.1, tmp_path / "swing.npz", dt=4e-3, fps=30)
    assert path == tmp_path / "swing.npz"
    ends = rope.at(rope.length).position, box.position
    with np.load(path, allow_pickle=False) as file:
        data = dict(file)
    assert scene.time == pytest.approx(0.1, abs=1e-12)
    assert np.allclose(data["times"], np.arange(4) / 30, atol=1e-12)
    assert list(data["parts"][:2]) == ["rope", "box"]
    assert list(data["kinds"][:2]) == ["tube", "solid"]
    # the same steps once more, by hand: nine of 3.7 ms from frame to frame
    scene.restore(start)
    for k in range(4):
        assert np.allclose(data["rope/centres"][k, -1], rope.at(rope.length).position, atol=1e-12)
        assert np.allclose(data["rope/centres"][k], rope.centerline(data["rope/centres"].shape[1]), atol=1e-12)
        assert np.allclose(data["rope/tension"][k], rope.tensions(data["rope/tension"].shape[1]), atol=1e-9)
        assert np.allclose(data["box/position"][k], box.position, atol=1e-12)
        assert np.allclose(np.abs(data["box/quaternion"][k] @ box.pose.quaternion), 1.0, atol=1e-12)
        for _ in range(9):
            if k < 3:
                scene.step(1 / 30 / 9)
    assert np.allclose(ends, (rope.at(rope.length).position, box.position), atol=1e-12)
    assert np.linalg.norm(data["rope/centres"][3, -1] - data["rope/centres"][0, -1]) > 0.02


def test_the_last_part_of_a_frame_is_simulated_too(swing: Swing) -> None:
    scene = swing[0]
    steps: list[float] = []
    kept = record_frames(scene, 0.07, dt=0.02, fps=20, before_step=steps.append)
    assert np.allclose(kept.times, (0.0, 0.05))
    assert np.allclose(steps, [0.05 / 3] * 3 + [0.02])
    assert scene.time == pytest.approx(0.07)


def test_steps_between_frames_are_compiled_runs_with_the_same_bits(
    swing: Swing, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = swing[0]
    start = scene.snapshot()
    one_by_one = record_frames(scene, 0.1, dt=1e-3, fps=30, before_step=lambda dt: None)
    end, made, step = scene.time, [], sn.Scene.step
    scene.restore(start)
    monkeypatch.setattr(sn.Scene, "step", lambda self, dt: made.append(dt) or step(self, dt))  # type: ignore[func-returns-value]
    kept = record_frames(scene, 0.1, dt=1e-3, fps=30)
    assert np.array_equal(kept.frames, one_by_one.frames) and scene.time == end
    assert (
        3 <= len(made) <= 9
    )  # of 102: three of each frame, whose steps are others in their last bits, until a run fits


@pytest.mark.parametrize("suffix", [".png", ".stl"])
def test_stills_show_the_end_whatever_fps(swing: Swing, tmp_path: Path, suffix: str) -> None:
    """At 7 frames a second 0.11 s would have one frame alone, the first."""
    scene, rope, _ = swing
    start = scene.snapshot()
    first = record(scene, 0.11, tmp_path / f"a{suffix}", dt=0.01, fps=7).read_bytes()
    assert scene.time == pytest.approx(0.11, abs=1e-15)
    end = rope.control_points
    assert record(scene, 0.0, tmp_path / f"b{suffix}").read_bytes() == first  # nothing has moved since
    scene.restore(start)
    scene.run(0.11, 0.01)
    assert np.allclose(rope.control_points, end, atol=1e-12)
    with pytest.raises(InputError, match="fps must be"):
        record(scene, 1.0, tmp_path / f"a{suffix}", fps=0)
    with pytest.raises(InputError, match="seconds must be"):
        record(scene, -1.0, tmp_path / f"a{suffix}")


def test_one_frame_of_a_scene_that_stands(swing: Swing) -> None:
    scene = swing[0]
    kept = record_frames(scene, 0.0)
    assert len(kept) == 1 and scene.time == 0.0
    assert kept.title == "swing"


def test_what_a_page_runs_is_recorded_in_its_own_steps(swing: Swing) -> None:
    scene, rope, _ = swing
    start = scene.snapshot()
    calls: list[float] = []
    camera = ((2.0, -1.0, 1.0), (0.5, 0.0, 1.0))
    play = ScenePlay(scene, before_step=calls.append, dt=0.02, title="A swing", camera=camera, ground=-0.5)
    kept = record_frames(play, 0.2, fps=25)  # type: ignore[arg-type]
    assert (kept.title, kept.ground) == ("A swing", -0.5) and np.allclose(kept.camera, camera)
    assert calls == [0.02] * 10 and np.allclose(kept.times, 0.04 * np.arange(6))
    last = kept.track(0).centres[5, -1]
    assert np.allclose(last, rope.at(rope.length).position, atol=1e-12)
    scene.restore(start)
    scene.run(0.2, 0.02)
    assert np.array_equal(last, kept.track(0).centres[5, -1]) and np.allclose(last, rope.at(rope.length).position)
    with pytest.raises(InputError, match="before_step is for scenes"):
        record_frames(play, 0.2, before_step=calls.append)  # type: ignore[arg-type]


def test_an_empty_scene_can_be_written_in_every_format(tmp_path: Path) -> None:
    for suffix in set(SUFFIXES) - {".step", ".stp"}:  # which hold curves, or are refused: see test_step.py
        assert record(sn.Scene(), 0.02, tmp_path / f"empty{suffix}", fps=100).stat().st_size > 0


def test_parts_come_and_go_with_their_subjects(swing: Swing) -> None:
    scene, _, box = swing
    ball = sn.RigidBody.sphere(0.05, mass=1.0, position=(0.0, 0.5, 2.0), name="late ball")

    def script(dt: float) -> None:
        if scene.time > 0.049 and ball not in scene.bodies:
            scene.add(ball)
        if scene.time > 0.099 and box in scene.bodies:
            scene.remove(next(tie for tie in scene.constraints if isinstance(tie, sn.Ball)))
            scene.remove(box)

    kept = record_frames(scene, 0.15, dt=0.01, fps=20, before_step=script)
    shown = {name: (track.shown > 0.5).tolist() for name, _, track in kept.tracks()}
    assert shown["rope"] == [True, True, True, True]
    assert shown["late ball"] == [False, False, True, True]
    assert shown["box"] == [True, True, True, False]
    tracks = {name: track for name, _, track in kept.tracks()}
    # where it is not, it stands where it was first and last
    assert np.array_equal(tracks["late ball"].position[0], tracks["late ball"].position[2])
    assert np.array_equal(tracks["box"].position[3], tracks["box"].position[2])
    assert np.isfinite(kept.frames).all()


@pytest.mark.parametrize("path", ["film.avi", "film", "film.blend", ""])
def test_other_suffixes_are_refused_with_a_list(swing: Swing, tmp_path: Path, path: str) -> None:
    with pytest.raises(InputError, match=r"\.usd .*\.glb .*\.npz .*\.mp4 \.gif \.html, got"):
        record(swing[0], 0.1, tmp_path / path if path else path)
    assert swing[0].time == 0.0 and not list(tmp_path.iterdir())


def test_a_missing_folder_is_found_before_anything_moves(swing: Swing, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder .*nowhere"):
        record(swing[0], 0.1, tmp_path / "nowhere" / "a.npz")
    (tmp_path / "taken.npz").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        record(swing[0], 0.1, tmp_path / "taken.npz")
    with pytest.raises(InputError, match="name of a file, got 3"):
        record(swing[0], 0.1, 3)  # type: ignore[arg-type]
    assert swing[0].time == 0.0


@pytest.mark.parametrize(
    ("suffix", "package"),
    [(".usd", "pxr"), (".vtu", "meshio"), (".mp4", "imageio_ffmpeg"), (".gif", "PIL")],
)
def test_a_missing_package_is_named_before_anything_moves(
    swing: Swing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"{package}.*pip install 'sennit\[export\]'"):
        record(swing[0], 0.1, tmp_path / f"a{suffix}")
    assert swing[0].time == 0.0 and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seconds": -1.0}, "seconds"),
        ({"seconds": np.nan}, "seconds"),
        ({"fps": 0.0}, "fps"),
        ({"dt": 0.0}, "dt"),
        ({"before_step": 3}, "before_step must be a function"),
        ({"seconds": 1e9}, "choose fps of at most"),
    ],
)
def test_wrong_arguments_change_nothing(swing: Swing, tmp_path: Path, arguments: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        record(swing[0], **{"seconds": 0.1, "path": tmp_path / "a.npz", **arguments})
    assert swing[0].time == 0.0 and not list(tmp_path.iterdir())


def test_only_scenes_are_recorded(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only a sennit.Scene"):
        record("scene", 1.0, tmp_path / "a.npz")  # type: ignore[arg-type]


def test_the_bound_of_memory_counts_frames(swing: Swing, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 8 * record_frames(swing[0], 0.0).cast.size
    monkeypatch.setattr(recordings, "LARGEST", 11 * size)
    assert len(record_frames(swing[0], 0.1, dt=0.01, fps=100)) == 11
    with pytest.raises(InputError, match="12 frames"):
        record_frames(swing[0], 0.11, dt=0.01, fps=100)


@pytest.mark.parametrize(("suffix", "fps"), [(".gif", 60_010.0), (".mp4", 360_010.0), (".xdmf", 3e5), (".html", 3e5)])
def test_files_that_would_be_absurdly_large_are_refused(swing: Swing, tmp_path: Path, suffix: str, fps: float) -> None:
    with pytest.raises(InputError, match=r"are too many .* choose fewer seconds"):
        record(swing[0], 0.1 if suffix in (".gif", ".mp4") else 2.0, tmp_path / f"a{suffix}", fps=fps)
    assert swing[0].time == 0.0 and not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("suffix", [".npz", ".usda", ".vtu", ".gif", ".html"])
def test_a_recording_that_is_broken_off_leaves_no_file(
    swing: Swing, tmp_path: Path, suffix: str, error: type[BaseException]
) -> None:
    before = tmp_path / f"a{suffix}"
    before.write_text("an older recording")

    def fail(dt: float) -> None:
        if swing[0].time > 0.02:
            raise error

    with pytest.raises(error):
        record(swing[0], 0.1, before, fps=100, before_step=fail)
    assert [item.name for item in tmp_path.iterdir()] == [before.name]
    assert before.read_text() == "an older recording"


@pytest.mark.parametrize("suffix", sorted(set(SUFFIXES) - {".step", ".stp"}))  # they look at no frame
def test_writing_that_fails_leaves_what_was_there(
    recording: Recording, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / f"a{suffix}"
    target.write_text("an older recording")
    track, calls = Recording.track, []

    def failing(self: Recording, part: int) -> object:
        calls.append(part)
        raise OSError("no space left")

    monkeypatch.setattr(Recording, "track", failing)
    views = type(recording.cast).views
    monkeypatch.setattr(type(recording.cast), "views", failing)
    with pytest.raises(OSError, match="no space left"):
        write(recording, target)
    monkeypatch.setattr(type(recording.cast), "views", views)
    monkeypatch.setattr(Recording, "track", track)
    assert calls and [item.name for item in tmp_path.iterdir()] == [target.name]
    assert target.read_text() == "an older recording"


def test_an_older_file_is_replaced(recording: Recording, tmp_path: Path) -> None:
    for suffix in (".npz", ".vtu", ".usda"):
        first = write(recording, tmp_path / f"a{suffix}")
        again = write(recording, tmp_path / f"a{suffix}")
        assert first == again and again.stat().st_size > 100
    assert {item.name for item in tmp_path.iterdir()} == {"a.npz", "a.pvd", "a_vtu", "a.usda"}


def test_names_of_parts_are_told_apart(recording: Recording, tmp_path: Path) -> None:
    with np.load(write(recording, tmp_path / "a.npz"), allow_pickle=False) as file:
        assert list(file["parts"]) == ["rope", "a flat belt_1", "ball", "box", "skin", "rope 2"]
        assert file["rope 2/shown"].tolist() == [k >= 5 for k in range(13)]
        assert file["skin/vertices"].shape == (13, 36, 3)
        assert file["times"][0] == 2.0
        assert not any(array.dtype.hasobject for array in map(file.get, file.files))


def test_a_bar_is_drawn_only_on_a_terminal(
    swing: Swing, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    record(swing[0], 0.02, tmp_path / "a.npz", fps=100)
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    record(swing[0], 0.02, tmp_path / "a.npz", fps=100, progress=False)
    assert capfd.readouterr() == ("", "")
    record(swing[0], 0.02, tmp_path / "a.npz", fps=100)
    printed = capfd.readouterr()
    assert printed.out == "" and "3/3" in printed.err
