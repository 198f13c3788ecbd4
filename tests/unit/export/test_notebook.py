"""What notebooks show of a scene and of a recording."""

from __future__ import annotations

import base64
import html
import io
import re

import numpy as np
import pytest

import sennit as sn


@pytest.fixture
def scene() -> sn.Scene:
    """A box in the air, with a name that is no markup."""
    made = sn.Scene(name="A <b>box</b>")
    made.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, name="box"))
    made.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(0.3, 0.0, 0.0)))
    return made


def test_a_scene_is_a_still_with_a_line_of_facts(scene: sn.Scene) -> None:
    from PIL import Image

    scene.run(0.1)
    shown = scene._repr_html_()
    assert "<b>" not in shown and "A &lt;b&gt;box&lt;/b&gt; at 0.1 s: 2 × RigidBody" in shown
    found = re.search(r"base64,([^\"]+)", shown)
    assert found is not None
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(found[1]))), float)
    assert picture.shape == (420, 640, 3)
    assert np.ptp(picture) > 100.0  # the boxes are seen on their ground


def test_an_empty_scene_is_a_line() -> None:
    assert sn.Scene()._repr_html_() == "<p>Scene at 0 s: nothing in it yet</p>"


def test_without_pillow_it_says_what_is_missing(scene: sn.Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    shown = scene._repr_html_()
    assert "sennit[export]" in shown and "<img" not in shown


def test_looking_changes_nothing(scene: sn.Scene) -> None:
    before = scene.snapshot()
    scene._repr_html_()
    assert scene.time == before.time
    place = scene.bodies[0].position.copy()
    scene.restore(before)
    assert np.array_equal(scene.bodies[0].position, place)


def test_a_recording_without_a_path_is_a_player_that_is_whole(scene: sn.Scene) -> None:
    recording = sn.record(scene, 0.5, fps=20.0, dt=0.01)
    assert isinstance(recording, sn.Recording) and len(recording) == 11
    shown = recording._repr_html_()
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', shown)[1])  # type: ignore[index]
    assert 'sandbox="allow-scripts"' in shown
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", page)
    assert page.count("<canvas") >= 1


def test_a_recording_writes_files(scene: sn.Scene, tmp_path: object) -> None:
    recording = sn.record(scene, 0.1, fps=20.0, dt=0.01)
    path = recording.write(f"{tmp_path}/box.npz")
    with np.load(path, allow_pickle=False) as file:
        assert file["times"].shape == (3,)
    with pytest.raises(sn.InputError, match="box"):
        recording.write(f"{tmp_path}/box.doc")
