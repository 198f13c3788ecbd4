"""The stream: programs without sennit follow a simulation and steer it by names."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sennit as sn
from sennit.live.scene_play import ScenePlay
from sennit.view import View

CLIENTS = Path(__file__).parents[2] / "examples" / "clients"
Show = Callable[..., View]

pytestmark = pytest.mark.xdist_group("browser")


def address(view: View, form: str = "") -> str:
    return view.url.replace("http", "ws", 1) + "stream" + form


@pytest.fixture
def scene() -> sn.Scene:
    """A box that flies evenly along x, and a rope that lies still."""
    made = sn.Scene(gravity=(0, 0, 0), name="Boxes")
    box = made.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, name="load"))
    box.velocity = (1.0, 0.0, 0.0)
    rubber = sn.Material(1e7, 0.49, 1000.0)
    made.add(
        sn.Rod.straight(
            (0, 1, 0), (1, 1, 0), section=sn.Section.circle(5e-3), material=rubber, control_points=8, name="rope"
        )
    )
    made.watch("height", lambda: 3.5, "m")
    made.control("speed", lambda v: setattr(box, "velocity", (v, 0.0, 0.0)), 1.0, range=(-2.0, 2.0), unit="m/s")
    return made


class Client:
    """What a program does at the other end, in a few lines."""

    def __init__(self, url: str) -> None:
        from websockets.sync.client import connect

        self.socket = connect(url, open_timeout=20)
        self.cast: dict[str, Any] = {}
        self.notes: list[str] = []

    def say(self, **said: Any) -> None:
        self.socket.send(json.dumps(said))

    def frame(self) -> Any:
        self.say(do="next")
        while True:
            got = self.socket.recv(timeout=20)
            if isinstance(got, bytes):
                return got
            said = json.loads(got)
            if said["say"] == "cast":
                self.cast = said
            elif said["say"] == "note":
                self.notes.append(said["text"])
            elif said["say"] == "frame":
                return said

    def until(self, holds: Callable[[Any], bool]) -> Any:
        for _ in range(2000):
            frame = self.frame()
            if holds(frame):
                return frame
        raise AssertionError("it did not happen within 2,000 frames")


def test_frames_tell_where_everything_is_at_their_time(scene: sn.Scene, show: Show) -> None:
    client = Client(address(show(ScenePlay(scene))))
    frames = [client.frame() for _ in range(5)]
    assert client.cast["title"] == "Boxes"
    assert {part["name"]: part["kind"] for part in client.cast["parts"]} == {"load": "solid", "rope": "tube"}
    times = [frame["time"] for frame in frames]
    assert times == sorted(times) and len(set(times)) == 5
    for frame in frames:  # uniform motion: place and time belong together
        assert frame["parts"]["load"]["position"] == pytest.approx([frame["time"], 0.0, 0.0], abs=1e-9)
        assert frame["watches"] == {"height": 3.5}
    rope = np.array(frames[0]["parts"]["rope"]["centres"])
    assert np.allclose(rope[[0, -1]], [[0, 1, 0], [1, 1, 0]], atol=1e-6)


def test_bytes_hold_the_same_numbers_as_the_cast_says(scene: sn.Scene, show: Show) -> None:
    client = Client(address(show(ScenePlay(scene)), "?form=binary"))
    for _ in range(3):
        data = client.frame()
        time = np.frombuffer(data, "<f8", 1)[0]
        numbers = np.frombuffer(data, "<f4", offset=8)
        assert len(numbers) == client.cast["numbers"]
        part = next(part for part in client.cast["parts"] if part["name"] == "load")
        shown, x, y, z = numbers[part["at"] : part["at"] + 4]
        assert shown == 1.0 and (x, y, z) == pytest.approx((time, 0.0, 0.0), abs=1e-6)


def test_it_steers_by_names_and_bad_names_change_nothing(scene: sn.Scene, show: Show) -> None:
    client = Client(address(show(ScenePlay(scene))))
    client.frame()
    client.say(do="control", control="speed", value=-1.5)
    before = client.until(lambda frame: True)
    client.until(lambda frame: frame["parts"]["load"]["position"][0] < before["parts"]["load"]["position"][0] - 0.1)
    client.say(do="control", control="sped", value=1.0)
    client.say(do="control", control="speed", value="fast")
    client.say(do="explode")
    client.say(do="pause")
    client.until(lambda frame: frame["paused"] == 1.0)
    assert any("sped" in note and "speed" in note for note in client.notes)
    client.say(do="grab", part="load", place=[0.0, 0.0, 0.0])
    client.say(do="run")
    client.until(lambda frame: frame["holding"] == 1.0)
    client.say(do="drag", hand=[0.0, 0.0, 1.0])
    client.until(lambda frame: frame["parts"]["load"]["position"][2] > 0.5)


def test_it_cuts_rods_by_name(show: Show) -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    rubber = sn.Material(1e7, 0.49, 1000.0)
    rope = scene.add(
        sn.Rod.straight((0, 0, 0), (1, 0, 0), section=sn.Section.circle(5e-3), material=rubber, name="rope")
    )
    client = Client(address(show(ScenePlay(scene))))
    client.frame()
    client.say(do="cut", cuts=[{"part": "rop", "place": 0.5}])
    client.say(do="cut", cuts=[{"part": "rope", "place": 0.5}, {"part": "rope", "place": 0.0}])
    frame = client.until(lambda frame: "rope (2)" in frame["parts"])
    assert frame["parts"]["rope"]["centres"][-1] == pytest.approx(frame["parts"]["rope (2)"]["centres"][0], abs=1e-5)
    assert rope.length < 0.6
    client.until(lambda frame: len(client.notes) > 1)
    assert any('"rop"' in note or "'rop'" in note for note in client.notes)
    assert any("rope was not cut" in note for note in client.notes)


def test_only_who_knows_the_secret_gets_it_and_from_any_site(scene: sn.Scene, show: Show) -> None:
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    view = show(ScenePlay(scene))
    with pytest.raises(InvalidStatus, match="404"):
        connect(re.sub(r"/[^/]+/stream", "/guess/stream", address(view)))
    with connect(address(view), origin="https://game.example") as socket:  # type: ignore[arg-type]
        socket.send('{"do": "next"}')
        assert json.loads(socket.recv(timeout=20))["say"] in ("cast", "state", "windows")
    with pytest.raises(InvalidStatus, match="403"):  # a name that was made to lead here
        connect(address(view), additional_headers={"Host": "evil.example"})


def test_the_client_in_python_runs_without_sennit(scene: sn.Scene, show: Show) -> None:
    program = [sys.executable, str(CLIENTS / "stream_client.py"), address(show(ScenePlay(scene))), '{"do": "pause"}']
    told = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    # Paused after the first frame, no new ones come: the client says so by its time-out, or has them all already.
    lines = told.stdout.splitlines()
    assert lines[0] == "Boxes: load, rope" and lines[1] == "it can be set: speed"
    place = re.search(r"(\d+\.\d+) s  load \((\d+\.\d+)", lines[2])
    assert place is not None and place[1] == place[2]
    source = (CLIENTS / "stream_client.py").read_text()
    assert not re.search(r"import sennit|from sennit", source) and len(source.splitlines()) <= 60


@pytest.mark.slow
def test_the_client_in_javascript_draws_from_a_page_of_its_own(scene: sn.Scene, show: Show, chromium: Any) -> None:
    view = show(ScenePlay(scene))
    page = chromium.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda problem: problems.append(str(problem)))
    try:
        page.goto(f"file://{CLIENTS / 'stream_client.html'}#{address(view)}")
        page.wait_for_function("cast && parseFloat(told.textContent) > 0.2")
        drawn = page.evaluate(
            "pen.getImageData(0, 0, canvas.width, canvas.height).data.filter((x, k) => k % 4 == 3 && x > 0).length"
        )
        assert drawn > 200
        page.evaluate("set('speed', -2)")
        Client(address(view)).until(lambda frame: frame["parts"]["load"]["position"][0] < 0.0)
        assert not problems
    finally:
        page.close()
    assert len((CLIENTS / "stream_client.html").read_text().splitlines()) <= 60
