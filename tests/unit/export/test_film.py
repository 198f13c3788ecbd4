"""Films, read back with Pillow and ffmpeg; what is in their pictures."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sennit as sn
from sennit.export.film import Painter, _is_closed, _split
from sennit.export.record import record, write
from sennit.export.recording import Recording
from sennit.portrait.cast import Cast
from sennit.portrait.parts import Solid, Tube

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed: pip install 'sennit[export]'")
ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed: pip install 'sennit[export]'")


def gif_frames(path: Path) -> tuple[list[Any], list[int]]:
    with Image.open(path) as film:
        pictures, durations = [], []
        for k in range(film.n_frames):
            film.seek(k)
            pictures.append(np.asarray(film.convert("RGB"), dtype=np.int64))
            durations.append(film.info["duration"])
    return pictures, durations


def mp4_frames(path: Path) -> tuple[Any, str]:
    """All pictures, and what ffmpeg says about the file."""
    command = [ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    return np.frombuffer(done.stdout, np.uint8).reshape(-1, 640, 960, 3).astype(np.int64), done.stderr.decode()


def test_a_gif_lasts_as_long_as_the_recording(recording: Recording, tmp_path: Path) -> None:
    pictures, durations = gif_frames(write(recording, tmp_path / "a.gif"))
    assert len(pictures) == 13
    assert sum(durations) == round(1000 * 13 / 24, -1) and set(durations) == {40, 50}
    for picture in pictures:
        assert picture.shape == (400, 600, 3) and len(np.unique(picture @ (65536, 256, 1))) > 60
    assert all((abs(a - b).max(axis=2) > 40).mean() > 1e-3 for a, b in zip(pictures, pictures[1:], strict=False))


def test_a_quick_gif_leaves_frames_out(recording: Recording, tmp_path: Path) -> None:
    quick = Recording(recording.cast, recording.times[:7], recording.frames[:7], 60.0)
    pictures, durations = gif_frames(write(quick, tmp_path / "a.gif"))
    assert len(pictures) == 4 and sum(durations) == 130  # 4 of 7 frames; 2/60 s each


def test_an_mp4_has_every_frame(recording: Recording, tmp_path: Path) -> None:
    pictures, about = mp4_frames(write(recording, tmp_path / "a.mp4"))
    assert " 960x640" in about and " 24 fps" in about
    assert len(pictures) == 13
    assert (abs(pictures[0] - pictures[12]).max(axis=2) > 60).mean() > 1e-3
    painted = np.asarray(Painter(recording, (960, 640)).picture(12), dtype=np.int64)
    assert abs(painted - pictures[12]).mean() < 4.0  # compression loses a little


def only(part: Any, fill: Any) -> Recording:
    cast = Cast([part])
    frame = np.zeros((1, cast.size))
    view = cast.views(frame[0])[0]
    view.shown[0] = 1.0
    fill(view)
    return Recording(cast, np.zeros(1), frame, 30.0)


def test_the_whole_of_what_moves_is_in_the_picture(recording: Recording) -> None:
    painter = Painter(recording, (300, 200), captions=False)
    for k in range(len(recording)):
        for part, view in zip(recording.cast.parts, recording.cast.views(recording.frames[k]), strict=True):
            if not isinstance(part, Solid):
                points = view.centres if isinstance(part, Tube) else view.vertices
                pixels, depths = painter._camera.project(points + painter._shift)
                assert (depths > 0).all() and (pixels > 3).all() and (pixels < (297, 197)).all()


def test_a_thin_rope_is_seen() -> None:
    def fill(view: Any) -> None:
        view.centres[:] = np.linspace((0.0, 0.0, 0.0), (10.0, 0.0, 0.0), 30)
        view.directors[:] = (0.0, 0.0, 1.0)

    rope = only(Tube(name="thread", colour=(200, 30, 30), count=30, half=(1e-4, 1e-4)), fill)
    picture = np.asarray(Painter(rope, (400, 260), captions=False).picture(0), dtype=np.int64)
    red = picture[..., 0] - picture[..., 1] > 60
    assert red.any(axis=0).mean() > 0.75  # from side to side without a gap


def test_near_things_cover_far_ones() -> None:
    corners = np.array([(-1, 0, -1), (1, 0, -1), (1, 0, 1), (-1, 0, 1)], dtype=np.float64)
    faces = np.array([(0, 1, 2), (0, 2, 3)])
    cast = Cast(
        [
            Solid(name="near", colour=(220, 20, 20), vertices=corners, faces=faces),
            Solid(name="far", colour=(20, 20, 220), vertices=corners, faces=faces),
        ]
    )
    frame = np.zeros((1, cast.size))
    for view, y in zip(cast.views(frame[0]), (-0.5, 0.5), strict=True):
        view.shown[0], view.position[:], view.quaternion[:] = 1.0, (0.0, y, 0.0), (1.0, 0.0, 0.0, 0.0)
    recording = Recording(cast, np.zeros(1), frame, 30.0)
    painter = Painter(recording, (200, 140), captions=False)
    assert painter._camera.eye[1] < -0.5
    x, y = painter._camera.project(np.array((0.0, -0.5, 0.0)) + painter._shift)[0].round().astype(int)
    red, _, blue = np.asarray(painter.picture(0), dtype=np.int64)[y, x]
    assert red > 2 * blue
    hidden = frame.copy()
    cast.views(hidden[0])[0].shown[0] = 0.0
    other = Painter(Recording(cast, np.zeros(1), hidden, 30.0), (200, 140), captions=False)
    x, y = other._camera.project(np.array((0.0, 0.5, 0.0)) + other._shift)[0].round().astype(int)
    red, _, blue = np.asarray(other.picture(0), dtype=np.int64)[y, x]
    assert blue > 2 * red


def test_colours_can_show_a_field(recording: Recording) -> None:
    plain = np.asarray(Painter(recording, (300, 200)).picture(6), dtype=np.int64)
    shown = np.asarray(Painter(recording, (300, 200), field="tension").picture(6), dtype=np.int64)
    changed = (abs(plain - shown).max(axis=2) > 30).mean()
    assert 1e-3 < changed < 0.1  # the rope alone has a tension


def test_large_faces_are_split_and_stay_where_they_are() -> None:
    vertices = np.array([(0, 0, 0), (4, 0, 0), (0, 3, 0), (0.1, 0, 1)], dtype=np.float64)
    faces = np.array([(0, 1, 2), (0, 1, 3)])
    pieces, parents = _split(vertices, faces, 0.5)
    corners = np.einsum("fkc,fcx->fkx", pieces, vertices[faces[parents]])
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    assert edges.max() <= 0.5
    areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    assert np.bincount(parents, areas)[0] == pytest.approx(6.0)
    assert np.bincount(parents, areas)[1] == pytest.approx(2.0)
    assert not _is_closed(faces) and _is_closed(np.array([(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)]))


def test_a_scene_becomes_a_film(swing: tuple[sn.Scene, sn.Rod, sn.RigidBody], tmp_path: Path) -> None:
    pictures, _ = mp4_frames(record(swing[0], 0.1, tmp_path / "swing.mp4", dt=5e-3, fps=50))
    assert len(pictures) == 6 and (abs(pictures[0] - pictures[5]).max(axis=2) > 60).mean() > 1e-3


def test_a_still_is_the_last_frame_as_large_as_it_fits(recording: Recording, tmp_path: Path) -> None:
    with Image.open(write(recording, tmp_path / "a.png")) as picture:
        assert picture.format == "PNG" and picture.size == (1440, 960)
        shown = np.asarray(picture.convert("RGB"), dtype=np.int64)
    alone = Recording(recording.cast, recording.times[-1:], recording.frames[-1:], 24.0, recording.title)
    assert np.array_equal(shown, np.asarray(Painter(alone, (1440, 960)).picture(0), dtype=np.int64))
