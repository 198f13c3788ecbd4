"""The page's process: who is let in, how it ends, what it does with a port that is taken."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from references.windows import wait_until

import sennit as sn
from sennit.errors import InputError
from sennit.live.host import Host
from sennit.live.scene_play import ScenePlay
from sennit.view import View
from sennit.view.page.app import App
from sennit.view.page.server import Gate, free_port, front_page, start_server

viser = pytest.importorskip("viser", reason="the page needs viser")
PROTOCOL = f"viser-v{viser.__version__}"

LIMIT = 120.0  # s: nothing waits longer than it must

Show = Callable[..., View]

SCRIPT = """
import sennit as sn
scene = sn.Scene()
rope = scene.add(sn.Rod.straight((0, 0, 1), (1, 0, 1), section=sn.Section.circle(0.01),
                                 material=sn.Material(1e7, 0.4, 1000), control_points=8))
scene.add(sn.Clamp(rope.at(0)))
sn.view(scene, port=0, browser=False)
print("after", flush=True)
"""


@pytest.fixture
def page(show: Show) -> View:
    """A page that shows a box in flight."""
    scene = sn.Scene()
    scene.add(sn.RigidBody.box(size=(1, 1, 1), mass=1.0))
    return show(scene)


def handshake(shown: View, origin: str | None) -> int:
    """The server's answer to a browser that comes from `origin`."""
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect
    from websockets.typing import Origin

    try:
        with connect(
            shown.url.replace("http", "ws"), origin=origin and Origin(origin), subprotocols=[PROTOCOL]
        ) as line:
            assert len(line.recv(timeout=LIMIT)) > 0
            return 101
    except InvalidStatus as refusal:
        return int(refusal.response.status_code)


@pytest.mark.slow
def test_pages_of_other_sites_are_refused(page: View) -> None:
    port = page.url.rpartition(":")[2]
    assert handshake(page, page.url) == 101
    assert handshake(page, None) == 101  # no browser
    for origin in ("http://example.org", f"http://example.org:{port}", f"http://localhost:{port}", "null"):
        assert handshake(page, origin) == 403


def test_the_gate() -> None:
    gate = Gate("127.0.0.1", b"page")
    assert gate.admits("http://localhost:8080", "localhost:8080")
    assert gate.admits("http://192.168.1.7:8080", "192.168.1.7:8080")
    assert gate.admits("http://[::1]:8080", "[::1]:8080")
    # A site that has given its own name this machine's address: both names agree, and are still not ours.
    assert not gate.admits("http://evil.example:8080", "evil.example:8080")
    assert not gate.admits("http://localhost:9000", "localhost:8080")
    assert not gate.admits("https://localhost:8080", "localhost:8080")
    assert not gate.admits("http://localhost:port", "localhost:8080")
    assert not gate.admits("file://", "localhost:8080")
    assert not gate.admits("http://localhost:8080", None)


def test_what_the_gate_hands_out() -> None:
    from websockets.datastructures import Headers

    gate = Gate("127.0.0.1", b"page")

    def answer(path: str, **headers: str) -> Any:
        return gate.answer(SimpleNamespace(path=path, headers=Headers(headers)))

    assert answer("/").body == b"page"
    assert answer("/index.html?x=1").status_code == 200
    assert answer("/other") is None  # viser's own server says that there is no such file
    assert answer("/", Upgrade="websocket", Host="localhost:1", Origin="http://example.org").status_code == 403
    assert answer("/", Upgrade="websocket", Host="localhost:1", Origin="http://localhost:1") is None


@pytest.mark.slow
def test_no_other_site_may_frame_the_page(page: View) -> None:
    """Every answer says so: the page, what belongs to it, what is not there, and refusals."""
    import re
    import urllib.error

    with urllib.request.urlopen(page.url, timeout=LIMIT) as answer:
        script = re.search(r'src="\./?([^"]+\.js)"', answer.read().decode())
    paths = ["/", "/index.html?a=b", "/no such thing".replace(" ", "%20")] + ([f"/{script[1]}"] if script else [])
    for path in paths:
        try:
            headers = urllib.request.urlopen(page.url + path, timeout=LIMIT).headers
        except urllib.error.HTTPError as refusal:
            headers = refusal.headers
        assert headers.get_all("X-Frame-Options") == ["SAMEORIGIN"], path
        (policy,) = headers.get_all("Content-Security-Policy")
        ancestors = policy.removeprefix("frame-ancestors ").split()
        assert ancestors[0] == "'self'" and "*" not in ancestors
        assert all(a.startswith(("'self'", "http://localhost:", "http://127.0.0.1:", "vscode-")) for a in ancestors)


def test_the_title_is_no_markup() -> None:
    page = front_page("<script>alert(1)</script>").decode()
    assert "<title>&lt;script&gt;" in page
    assert "alert(1)</script>" not in page


def test_a_port_that_is_taken_is_passed_over() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < free_port("127.0.0.1", port) <= port + 20
    assert free_port("127.0.0.1", 0) > 0
    with pytest.raises(InputError, match="no address"):
        free_port("no such machine", 8080)


def test_a_frame_is_never_cut() -> None:
    """However many messages a frame has, they go to the browser in one piece."""
    import asyncio

    server = start_server("127.0.0.1", 0, "title")
    try:
        buffer = server._websock_server._broadcast_buffer
        with server.atomic():
            frames = [server.scene.add_frame(f"/{k}", show_axes=False) for k in range(500)]
            for frame in frames:
                frame.position = (1.0, 2.0, 3.0)

        async def first_window() -> Any:
            windows = buffer.window_generator(client_id=-1)
            window = await anext(windows)
            await windows.aclose()
            return window

        window = asyncio.run_coroutine_threadsafe(first_window(), buffer.event_loop).result(LIMIT)
        assert sum(type(message).__name__ == "SetPositionMessage" for message in window) == 500
    finally:
        server.stop()


def test_sharing_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message that presses the hidden button arrives, and nobody acts on it."""
    import msgspec.msgpack
    from viser import ViserServer, _messages
    from websockets.sync.client import connect

    asked: list[str] = []
    monkeypatch.setattr(ViserServer, "request_share_url", lambda self: asked.append("share"))
    arrived = threading.Event()
    server = start_server("127.0.0.1", 0, "title")
    try:
        server._websock_server.register_handler(_messages.ShareUrlRequest, lambda client, message: arrived.set())
        with connect(f"ws://127.0.0.1:{server.get_port()}", subprotocols=[PROTOCOL]) as line:
            line.send(msgspec.msgpack.encode({"type": "ShareUrlRequest"}))
            assert arrived.wait(LIMIT)
        server._thread_executor.shutdown(wait=True)  # whatever was begun has ended
        assert asked == []
    finally:
        server.stop()


class Pipe:
    """One end of a wire, in this process."""

    def __init__(self) -> None:
        self.sent: list[tuple[dict[str, Any], bytes]] = []

    def send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        """As `Wire.send`."""
        self.sent.append((header, payload))

    def receive(self, timeout: float = 0.0) -> None:
        """Nothing comes."""

    def close(self) -> None:
        """Nothing to close."""

    def commands(self, name: str) -> list[dict[str, Any]]:
        """Those that were sent."""
        return [header for header, _ in self.sent if header.get("do") == name]


class Both:
    """Simulation and page in this process: the page draws when it is told to."""

    def __init__(self, scene: sn.Scene) -> None:
        self.to_page, self.to_host = Pipe(), Pipe()
        self.host = Host(ScenePlay(scene))
        self.host.attach(cast(Any, self.to_page))
        self.server = start_server("127.0.0.1", 0, "title")
        self.app = App(cast(Any, self.to_host), self.server)
        self.draw()

    def draw(self) -> None:
        """Have the newest frame drawn, and whatever callbacks have left to do done."""
        self.host.publish()
        for message in self.to_page.sent:
            self.app._hear(*message)
        self.to_page.sent.clear()
        while not self.app._actions.empty():
            self.app._actions.get()()
        self.app._show()

    def widget(self, label: str) -> Any:
        """The one of that label in the panel."""
        handles = self.server.gui._gui_input_handle_from_uuid.values()
        return next(handle for handle in handles if handle._impl.props.label == label)

    def close(self) -> None:
        """End both."""
        self.host.close()
        self.server.stop()


@pytest.fixture
def both() -> Iterator[Callable[[sn.Scene], Both]]:
    """Shows scenes in this process; closed after the test."""
    opened: list[Both] = []

    def open_both(scene: sn.Scene) -> Both:
        opened.append(Both(scene))
        return opened[-1]

    yield open_both
    for pair in opened:
        pair.close()


def boxes() -> tuple[sn.Scene, list[sn.RigidBody]]:
    """Three boxes."""
    scene = sn.Scene()
    poses = {name: sn.Pose((float(k), 0, 0)) for k, name in enumerate("ABC")}
    bodies = [sn.RigidBody.box(size=(0.1, 0.1, 0.1), mass=1.0, pose=pose, name=name) for name, pose in poses.items()]
    return scene, [scene.add(body) for body in bodies]


CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": [1, 0, 0, 0], "position": [0, -3, 1], "fov": 0.8, "near": 0.1, "far": 100.0,
    "image_height": 600, "image_width": 900, "look_at": [0, 0, 0], "up_direction": [0, 0, 1],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.* does not match annotation")  # viser's own word about them
def test_damaged_messages_change_nothing(both: Callable[[sn.Scene], Both]) -> None:
    import msgspec.msgpack
    from websockets.sync.client import connect

    scene, _ = boxes()
    scene.control("k", lambda value: None, 0.0, range=(0.0, 1.0))
    scene.control("on", lambda value: None, False)
    pair = both(scene)
    labels = ("k", "on", "colour by", "time scale", "", "m/s²", "dark")
    widgets = {label: pair.widget(label) for label in labels}
    before = {label: (widget._impl.value, list(widget._impl.update_cb)) for label, widget in widgets.items()}
    with connect(f"ws://127.0.0.1:{pair.server.get_port()}", subprotocols=[PROTOCOL], max_size=None) as line:

        def say(**message: Any) -> None:
            line.send(msgspec.msgpack.encode(message))

        def update(label: str, **updates: Any) -> None:
            say(type="GuiUpdateMessage", uuid=widgets[label]._impl.uuid, updates=updates)

        for changes in ({"image_height": 0}, {"position": [0, 1]}, {"position": [0, 1, float("nan")]}):
            say(**{**CAMERA, **changes})
        say(**CAMERA)  # only now it is a window
        wait_until(lambda: len(pair.app._viewers) == 1, LIMIT)
        for changes in ({"image_height": 0}, {"position": [0, 1], "image_width": 300}):
            say(**{**CAMERA, **changes})
        for label, value in (
            ("k", float("nan")), ("on", "no"), ("colour by", "bogus"), ("time scale", "99×"), ("", "rm"),
            ("dark", None), ("m/s²", [1.0]), ("m/s²", ["1", 0, 0]),
        ):  # fmt: skip
            update(label, value=value)
        update("k", props=None)
        update("time scale", update_cb=[], sync_cb="x")
        say(type="GuiUpdateMessage", uuid=["k"], updates={"value": 1.0})
        say(type="GuiUpdateMessage", uuid="unknown", updates={"value": 1.0})
        update("k", value=0.5)  # a good one, after all those
        wait_until(lambda: pair.to_host.commands("control"), LIMIT)
        pair.draw()
        assert [header["value"] for header in pair.to_host.commands("control")] == [0.5]
        assert len(pair.to_host.sent) == 1 + len(pair.to_host.commands("control"))  # and that a window came
        (client,) = pair.server.get_clients().values()
        assert client.camera.aspect == pytest.approx(1.5)
    for label, widget in widgets.items():
        value = 0.5 if label == "k" else before[label][0]
        assert (widget._impl.value, widget._impl.update_cb) == (value, before[label][1])


def test_what_fails_does_not_end_the_page(both: Callable[[sn.Scene], Both], capfd: pytest.CaptureFixture[str]) -> None:
    scene, _ = boxes()
    pair = both(scene)
    app = pair.app
    app._viewers.add(0)
    app.panel.field = "bogus"
    drawn: list[str] = []

    def receive(timeout: float = 0.0) -> tuple[dict[str, Any], bytes] | None:
        pair.host.publish()
        if len(drawn) < 3:
            app._actions.put(lambda: drawn.append("done"))
            app._actions.put(lambda: 1 // 0)
            return None
        return {"say": "bye"}, b""

    cast(Any, pair.to_host).receive = receive
    app.run()
    assert len(drawn) == 3 and app.panel.field is None
    assert capfd.readouterr().err.count("Traceback") == 1  # and not three times
    assert not app._attempt(lambda: 1 // 0)
    pair.draw()


def test_strong_gravity_can_be_shown(both: Callable[[sn.Scene], Both]) -> None:
    scene = sn.Scene(gravity=(0, 0, -274.0))
    scene.add(sn.RigidBody.box(size=(0.1, 0.1, 0.1), mass=1.0))
    assert both(scene).widget("m/s²").value == (0.0, 0.0, -274.0)


def test_numbers_keep_the_generation_that_they_are_from(
    both: Callable[[sn.Scene], Both], capfd: pytest.CaptureFixture[str]
) -> None:
    scene, (first, second, _) = boxes()
    one = scene.add(sn.Clamp(first.at((0, 0, 0)), name="one"))
    scene.add(sn.Clamp(second.at((0, 0, 0)), name="two"))
    pair = both(scene)
    app = pair.app
    assert app.hand.scenery is not None
    old = app.hand.scenery
    number = next(k for k, part in enumerate(old.cast.parts) if part.name == "B")
    app.hand._last = (old.cast, number, [0.0, 0.0, 0.0])
    box = pair.widget("two")
    scene.remove(one)
    scene.remove(first)
    recast = app.stage.recast

    def meanwhile(*arguments: Any) -> None:
        app.hand.pin()
        recast(*arguments)

    app.stage.recast = meanwhile  # type: ignore[method-assign]
    pair.draw()
    app.hand.pin()
    event = SimpleNamespace(client=object(), target=box)
    with pytest.raises(StopIteration):
        box._impl.update_cb[0](event).send(None)  # late: this widget is gone
    early, late = pair.to_host.commands("pin")
    assert early["generation"] == old.generation < late["generation"] == app._generation
    assert pair.to_host.commands("switch")[0]["generation"] == old.generation
    parts = app.hand.scenery.cast.parts
    assert parts[late["part"]].name == "B" and late["part"] != number
    assert "removed node" not in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes by what Linux says about them")
def test_ctrl_c_ends_everything(tmp_path: Path) -> None:
    script = tmp_path / "rope.py"
    script.write_text(SCRIPT)
    mark = f"SENNIT_TEST_MARK={os.getpid()}"
    name, _, value = mark.partition("=")
    source = str(Path(sn.__file__).parents[1])
    environment = {**os.environ, name: value, "PYTHONPATH": source}
    with subprocess.Popen(
        [sys.executable, "-u", str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=environment, start_new_session=True, preexec_fn=_hears_ctrl_c,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert "http://127.0.0.1:" in line, line
            address = line[line.index("http://") :].split()[0]
            with urllib.request.urlopen(address, timeout=LIMIT) as answer:
                assert answer.status == 200
            assert len(_marked(mark)) == 2  # the simulation and the page
            os.killpg(process.pid, signal.SIGINT)
            rest, _ = process.communicate(timeout=LIMIT)
            assert process.returncode in (0, 130)
            assert "Traceback" not in rest
            assert "after" in rest  # view returned
            wait_until(lambda: not _marked(mark), LIMIT)
            with pytest.raises(OSError):
                urllib.request.urlopen(address, timeout=5.0)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def _hears_ctrl_c() -> None:
    """A shell starts what it runs in the background with SIGINT ignored, and these tests hand that on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _marked(mark: str) -> list[int]:
    """Processes that were started with `mark` in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue  # it has ended, or belongs to somebody else
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes by what Linux says about them")
def test_nothing_is_left_of_a_simulation_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "rope.py"
    end = "shown = sn.view(scene, port=0, browser=False, block=False)\nprint(shown.host._writer.name, flush=True)\n"
    script.write_text(SCRIPT.partition("sn.view")[0] + end + "input()\n")
    name, value = "SENNIT_TEST_MARK", f"killed {os.getpid()}"
    environment = {**os.environ, name: value, "PYTHONPATH": str(Path(sn.__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, "-u", str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            lines = iter(process.stdout.readline, "")
            frames = Path(next(line for line in lines if line.strip().endswith(".frames")).strip())
            assert frames.exists() and len(_marked(f"{name}={value}")) == 2
        finally:
            process.kill()
            process.wait()
        wait_until(lambda: not _marked(f"{name}={value}"), LIMIT)
        assert not frames.exists()


@pytest.mark.slow
def test_the_page_ends_with_its_simulation() -> None:
    """Nobody says goodbye to it: its input ends."""
    command = [sys.executable, "-m", "sennit.view.page"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        text = json.dumps({"say": "hello", "title": "t", "address": "127.0.0.1", "port": 0}).encode()
        process.stdin.write(np.array([len(text), 0], "<u4").tobytes() + text)
        process.stdin.flush()
        head = process.stdout.read(8)
        ready = json.loads(process.stdout.read(int(np.frombuffer(head, "<u4")[0])))
        assert ready["say"] == "ready"
        process.send_signal(signal.SIGINT)  # from the terminal: not meant for it
        with urllib.request.urlopen(ready["url"], timeout=LIMIT) as answer:
            assert answer.status == 200
        process.stdin.close()
        assert process.wait(LIMIT) == 0
        assert process.stdout.read() == b""  # nothing but messages was written


def test_menus_texts_and_readouts_are_on_the_panel(both: Callable[[sn.Scene], Both]) -> None:
    scene, (first, *_) = boxes()
    got: list[str] = []
    menu = scene.control("rope", got.append, choices=["hemp", "<b>steel"])
    name = scene.control("your name", got.append, "nobody")
    scene.show("<score>", lambda: "3 of 10 & more")
    scene.show("broken", lambda: [1])
    scene.watch("array", lambda: first.position)
    pair = both(scene)
    notes = [header["text"] for header, _ in pair.to_page.sent if header.get("say") == "note"]
    pair.host._next_reading = -1.0
    pair.host._broken.clear()
    pair.host.publish()
    notes = [header["text"] for header, _ in pair.to_page.sent if header.get("say") == "note"]
    assert any(note.startswith("array can't be read: it must be one number, got [") for note in notes)
    assert any(note.startswith("broken can't be read: broken must be a text or a number, got [1]") for note in notes)
    pair.draw()
    pair.app.panel._next_text = 0.0
    pair.app._newest = None
    pair.draw()
    board = pair.app.panel._board
    assert board.visible and "&lt;score&gt;" in board.content and "3 of 10 &amp; more" in board.content
    assert "broken" in board.content and "<score>" not in board.content
    for label, typed in (("rope", "<b>steel"), ("your name", "Ada")):
        widget = pair.widget(label)
        widget._impl.value = typed
        with pytest.raises(StopIteration):
            widget._impl.update_cb[0](SimpleNamespace(client=object(), target=widget)).send(None)
    for command in pair.to_host.commands("control"):
        pair.host.handle({key: value for key, value in command.items() if key != "say"})
    assert got == ["<b>steel", "Ada"] and menu.value == "<b>steel" and name.value == "Ada"
    for value in ("silk", "x" * 201, 3.0, None):
        with pytest.raises(sn.InputError):
            pair.host.handle({"do": "control", "control": 0, "generation": pair.host._generation, "value": value})
