"""The page's process: who is let in, what browsers may say, how it ends, what it does with a port that is taken."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from references.windows import Truth, wait_until

import sennit as sn
from sennit.errors import InputError
from sennit.live.commands import ARGUMENTS
from sennit.live.host import Host
from sennit.live.scene_play import ScenePlay
from sennit.view import View
from sennit.view.page import visitor as visitors
from sennit.view.page.app import App
from sennit.view.page.document import document
from sennit.view.page.gate import Gate
from sennit.view.page.server import LONGEST, free_port

pytest.importorskip("websockets", reason="the page needs websockets")

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


def connected(url: str, origin: str | None = None, **options: Any) -> Any:
    """A connection such as a browser's that comes from `origin`."""
    from websockets.sync.client import connect
    from websockets.typing import Origin

    return connect(
        url.replace("http", "ws") + "ws", origin=None if origin is None else Origin(origin), max_size=None,
        compression=None, **options,
    )  # fmt: skip


def handshake(url: str, origin: str | None = None, **headers: str) -> int:
    """The server's answer to a browser that comes from `origin`."""
    from websockets.exceptions import InvalidStatus

    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with connected(url, origin, additional_headers=named) as line:
            assert len(line.recv(timeout=LIMIT)) > 0
            return 101
    except InvalidStatus as refusal:
        return int(refusal.response.status_code)


def status(url: str, **headers: str) -> int:
    """Of the answer to a request."""
    request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refusal:
        return refusal.code


# ------------------------------------------------------------------------------------------------------ who is let in


@pytest.mark.slow
def test_who_does_not_know_the_secret_finds_nothing(page: View) -> None:
    host, token = re.fullmatch(r"(http://127\.0\.0\.1:\d+)/([\w-]{22})/", page.url).groups()  # type: ignore[union-attr]
    assert status(page.url) == 200 and status(f"{host}/{token}") == 200  # led on to the stroke at its end
    wrong = token[:-1] + ("A" if token[-1] != "A" else "B")
    for path in ("/", "/index.html", f"/{wrong}/", f"/{token}x/", f"/{token[:10]}/", "/ws", "/%2e%2e/", f"//{token}/"):
        assert status(host + path) == 404, path
    assert handshake(f"{host}/{wrong}/") == 404 and handshake(f"{host}/") == 404
    assert handshake(page.url) == 101
    assert status(page.url + "page.js") == 404
    assert page.url in repr(page)


@pytest.mark.slow
def test_pages_of_other_sites_are_refused(page: View) -> None:
    """Even if they know the secret."""
    own = page.url.rpartition("/")[0].rpartition("/")[0]
    port = own.rpartition(":")[2]
    assert handshake(page.url, own) == 101
    assert handshake(page.url, None) == 101  # no browser
    for origin in ("http://example.org", f"http://example.org:{port}", f"http://localhost:{port}", "null", "file://"):
        assert handshake(page.url, origin) == 403, origin
    # A site that has given its own name this machine's address: both names agree, and are still not ours.
    assert status(page.url, Host=f"evil.example:{port}") == 403
    assert status(page.url, Host=f"localhost:{port}") == 200


def judged(gate: Gate, path: str, **headers: str) -> int:
    """The status of a gate's answer."""
    from websockets.datastructures import Headers

    return int(gate.judge(path, Headers({k.replace("_", "-"): v for k, v in headers.items()})).status)


def test_the_gate() -> None:
    gate = Gate("127.0.0.1", "secret", behind_proxy=False)
    opens = {"Upgrade": "websocket"}

    def admitted(origin: str, host: str, **more: str) -> bool:
        return judged(gate, "/secret/ws", Origin=origin, Host=host, **opens, **more) == 101

    assert admitted("http://localhost:8080", "localhost:8080")
    assert admitted("http://192.168.1.7:8080", "192.168.1.7:8080")
    assert admitted("http://[::1]:8080", "[::1]:8080")
    assert admitted("http://localhost", "localhost")
    assert not admitted("http://evil.example:8080", "evil.example:8080")
    assert not admitted("http://localhost:9000", "localhost:8080")
    assert not admitted("http://localhost:port", "localhost:8080")
    assert not admitted("file://", "localhost:8080") and not admitted("null", "localhost:8080")
    assert not admitted("http://localhost:8080", "")
    # A proxy says which name the browser used; a browser can't say that itself when it opens a connection.
    assert admitted("https://hub.example", "127.0.0.1:8080", X_Forwarded_Host="hub.example")
    assert not admitted("https://evil.example", "127.0.0.1:8080", X_Forwarded_Host="hub.example")
    # Proxies of notebooks say nothing: there the secret decides alone.
    behind = Gate("127.0.0.1", "secret", behind_proxy=True)
    assert judged(behind, "/secret/ws", Origin="https://hub.example", Host="x", **opens) == 101
    assert judged(behind, "/wrong/ws", Origin="https://hub.example", Host="x", **opens) == 404
    assert judged(gate, "/secret/", Host="localhost:8080") == 200
    assert judged(gate, "/secret/ws", Host="localhost:8080") == 404
    assert judged(gate, "/secret", Host="localhost:8080") == 307


def test_notebooks_of_colab_may_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLAB_RELEASE_TAG", "release")
    headers = Gate("127.0.0.1", "secret").headers
    assert "https://colab.research.google.com" in headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in headers
    assert judged(Gate("127.0.0.1", "secret"), "/secret/", Host="somewhere.googleusercontent.com") == 200


@pytest.mark.slow
def test_no_other_site_may_frame_the_page(page: View) -> None:
    """Every answer says so: the page, what is not there, and refusals."""
    host = page.url.rpartition("/")[0].rpartition("/")[0]
    for address in (page.url, page.url + "?a=b", page.url + "nothing", host + "/", host + "/nothing"):
        try:
            headers = urllib.request.urlopen(address, timeout=LIMIT).headers
        except urllib.error.HTTPError as refusal:
            headers = refusal.headers
        assert headers.get_all("X-Frame-Options") == ["SAMEORIGIN"], address
        (policy,) = headers.get_all("Content-Security-Policy")
        ancestors = policy.partition(";")[0].removeprefix("frame-ancestors ").split()
        assert ancestors[0] == "'self'" and "*" not in ancestors
        assert all(a.startswith(("'self'", "http://localhost:", "http://127.0.0.1:", "vscode-")) for a in ancestors)


def test_the_title_is_no_markup() -> None:
    page = document("<script>alert(1)</script> {{script}} {{style}}")
    text = page.text.decode()
    assert "<title>&lt;script&gt;alert(1)&lt;/script&gt; {{script}} {{style}}</title>" in text
    assert "alert(1)</script>" not in text
    assert "unsafe" not in page.policy and "default-src 'none'" in page.policy
    assert not re.search(r"(src|href)=\"(?!data:)", text)  # one file that loads nothing else


def test_a_port_that_is_taken_is_passed_over() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < free_port("127.0.0.1", port) <= port + 20
    assert free_port("127.0.0.1", 0) > 0
    with pytest.raises(InputError, match="no address"):
        free_port("no such machine", 8080)


# --------------------------------------------------------------------------------------------- what browsers may say


class Pipe:
    """One end of a wire, in this process."""

    def __init__(self) -> None:
        self.sent: list[tuple[dict[str, Any], bytes]] = []
        self.taken = 0

    def send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        """As `Wire.send`."""
        json.dumps(header, allow_nan=False)
        self.sent.append((header, payload))

    def receive(self, timeout: float = 0.0) -> tuple[dict[str, Any], bytes] | None:
        """What the other side has sent."""
        time.sleep(min(timeout, 0.01))
        if self.taken < len(self.other.sent):
            self.taken += 1
            return self.other.sent[self.taken - 1]
        return None

    def close(self) -> None:
        """Nothing to close."""

    other: Pipe

    def commands(self, name: str | None = None) -> list[dict[str, Any]]:
        """Those that were sent."""
        return [h for h, _ in self.sent if h.get("say") == "do" and name in (None, h["do"])]


class Both:
    """Simulation and page in this process, the page in a thread; the simulation publishes when it is told to."""

    def __init__(self, scene: sn.Scene) -> None:
        self.to_page, self.to_host = Pipe(), Pipe()
        self.to_page.other, self.to_host.other = self.to_host, self.to_page
        self.host = Host(ScenePlay(scene))
        self.host.attach(cast(Any, self.to_page))
        self.app = App(cast(Any, self.to_host), "127.0.0.1", 0, "title")
        self.thread = threading.Thread(target=asyncio.run, args=(self.app.serve(),), daemon=True)
        self.thread.start()
        wait_until(lambda: any(header["say"] == "ready" for header, _ in self.to_host.sent), LIMIT)
        self.url = next(header["url"] for header, _ in self.to_host.sent if header["say"] == "ready")

    def close(self) -> None:
        """End both."""
        self.host.close()
        self.thread.join(LIMIT)
        assert not self.thread.is_alive()


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


HOSTILE: tuple[Any, ...] = (
    None, True, -1, 0, 3, 1 << 40, 10**400, 0.5, float("nan"), float("inf"), -1e300, "", "x", "__class__", "../../etc",
    "<img src=x onerror=alert(1)>", "x" * 500, [], [1], [0, 0, 0], [1e9, 0, 0], [None] * 3, [[0]] * 3, ["1", 0, 0], {},
    {"a": 1}, [0, 0, 0, 0], [1e99] * 4,
)  # fmt: skip


def hostile(chance: random.Random, count: int) -> Iterator[str | bytes]:
    """Messages that no page sends: broken texts, unknown commands, known ones with what makes no sense."""
    names = [*ARGUMENTS, "next", "eval", "do", "__init__", "_fail", "shutdown", "", "a" * 300]
    broken = ["", "{", "[" * 5000, '{"do":', "nul", '"do"', "[1, 2]", '{"do": 5}', "\0", b"\0\1\2", "1e999", "9" * 5000]
    for _ in range(count):
        if chance.random() < 0.1:
            yield chance.choice(broken)
            continue
        name = chance.choice(names)
        arguments = {key: chance.choice(HOSTILE) for key in ARGUMENTS.get(name, ("value",)) if chance.random() < 0.8}
        if name in ("pause", "run", "step", "reset", "undo", "release", "next"):
            name += chance.choice(("\0", "s", " ", "e"))
        if chance.random() < 0.7:
            arguments["generation"] = chance.choice(HOSTILE)
        yield json.dumps({"do": name, **arguments})


def test_hostile_messages_change_nothing(both: Callable[[sn.Scene], Both]) -> None:
    """A hundred thousand of them: the simulation learns of none, except those that happen to make sense."""
    from websockets.exceptions import ConnectionClosed

    scene, bodies = boxes()
    scene.add(sn.Clamp(bodies[0].at((0, 0, 0)), name="one"))
    scene.control("k", lambda value: None, 0.5, range=(0.0, 1.0))
    scene.control("on", lambda value: None, False)
    scene.control("name", lambda value: None, "nobody")
    pair = both(scene)
    before = [(body.position, body.velocity) for body in bodies]
    with connected(pair.url) as line:
        for message in hostile(random.Random(1), 100_000):
            line.send(message)
        line.send(json.dumps({"do": "speed", "value": 2.0}))  # a good one, after all those
        wait_until(lambda: any(c.get("value") == 2.0 for c in pair.to_host.commands("speed")), LIMIT)
    # What was let through makes sense: the simulation does it, or refuses it itself.
    assert len(pair.to_host.commands()) < 2000
    allowed = {"speed", "gravity", "drag", "arrows", "record"}  # these name nothing
    assert {command["do"] for command in pair.to_host.commands()} <= allowed
    for command in pair.to_host.commands():
        assert set(command) <= {"say", "do", "who", "generation", *ARGUMENTS[command["do"]]}
        pair.host.answer(command)
    values = [control.value for control in pair.host.play.controls]
    assert values == [0.5, False, "nobody"] and [c.enabled for c in scene.constraints] == [True]
    assert not pair.host.paused and not pair.host.play.holding and pair.host.speed == 2.0
    np.testing.assert_array_equal([(body.position, body.velocity) for body in bodies], before)
    with pytest.raises(ConnectionClosed), connected(pair.url) as line:  # a message that is too long ends it
        line.send("x" * (LONGEST + 1))
        while True:
            line.recv(timeout=LIMIT)


@pytest.mark.slow
def test_hostile_messages_do_not_disturb_a_running_simulation(page: View) -> None:
    truth = Truth(page)
    with connected(page.url) as line:
        begin = truth.status("time")
        for k, message in enumerate(hostile(random.Random(2), 10_000)):
            line.send(message)
            if k % 100 == 0:  # and as many good ones as it may send, and more
                line.send(json.dumps({"do": "drag", "hand": [0.0, 0.0, 1.0]}))
        wait_until(lambda: truth.status("time") > begin + 0.5)
        line.send(json.dumps({"do": "pause"}))
        wait_until(lambda: truth.status("paused") == 1.0)
        assert page.running


def test_a_browser_is_heard_only_so_often(both: Callable[[sn.Scene], Both]) -> None:
    """One that sends commands without end is read more slowly; another one is heard all the same."""
    from websockets.exceptions import ConnectionClosed

    pair = both(boxes()[0])
    with connected(pair.url) as greedy, connected(pair.url) as other:
        ended = threading.Event()

        def send() -> None:
            with contextlib.suppress(ConnectionClosed):  # which is how it ends
                while not ended.is_set():
                    greedy.send(json.dumps({"do": "speed", "value": 0.5}))

        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        wait_until(lambda: len(pair.to_host.commands("speed")) > visitors.BURST, LIMIT)
        begin, real = len(pair.to_host.commands("speed")), time.monotonic()
        other.send(json.dumps({"do": "pause"}))
        wait_until(lambda: pair.to_host.commands("pause"), LIMIT)
        time.sleep(1.0)
        rate = (len(pair.to_host.commands("speed")) - begin) / (time.monotonic() - real)
        assert rate < 1.5 * visitors.COMMANDS
        ended.set()
        greedy.socket.shutdown(socket.SHUT_RDWR)
        sender.join(LIMIT)


def test_a_browser_that_does_not_read_is_dropped(
    both: Callable[[sn.Scene], Both], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And others go on. It asks for pictures, and takes none."""
    monkeypatch.setattr(visitors, "PATIENCE", 1.0)
    scene = sn.Scene()
    for k in range(40):
        scene.add(sn.Rod.straight((0, k, 0), (1, k, 0), section=sn.Section.circle(0.01),
                                  material=sn.Material(1e7, 0.4, 1000), control_points=30))  # fmt: skip
    pair = both(scene)
    address = pair.url.partition("//")[2].partition("/")[0].partition(":")
    with socket.create_connection((address[0], int(address[2]))) as plain, connected(pair.url) as reading:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        path = "/" + pair.url.partition("//")[2].partition("/")[2] + "ws"
        plain.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{address[2]}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        wait_until(lambda: pair.app._visitors and len(pair.app._visitors) == 2, LIMIT)
        text = b'{"do":"next"}'
        key = b"\1\2\3\4"
        frame = b"\x81" + bytes([0x80 | len(text)]) + key + bytes(b ^ key[k % 4] for k, b in enumerate(text))
        gone = False
        end = time.monotonic() + LIMIT
        while not gone and time.monotonic() < end:
            try:
                plain.sendall(frame)
            except OSError:
                gone = True
            pair.host.play.scene.step(1e-4)  # type: ignore[attr-defined]
            pair.host.publish()
            gone = gone or len(pair.app._visitors) == 1
            time.sleep(0.005)
        assert gone
        reading.send(json.dumps({"do": "next"}))
        assert any(isinstance(reading.recv(timeout=LIMIT), bytes) for _ in range(10))


def test_a_browser_that_only_listens_keeps_little_waiting() -> None:
    """Texts for a browser that takes none do not pile up without end."""

    class Transport:
        aborted = False

        def abort(self) -> None:
            self.aborted = True

    class Line:
        transport = Transport()

    one = visitors.Visitor(Line(), lambda *_: None, lambda _: [])
    for k in range(visitors.WAITING + 5):
        one.tell({"say": "note", "text": str(k)})
    assert Line.transport.aborted and len(one._outbox) < visitors.WAITING


def test_commands_are_answered_to_who_sent_them(both: Callable[[sn.Scene], Both]) -> None:
    pair = both(boxes()[0])
    with connected(pair.url) as first, connected(pair.url) as second:
        first.send(json.dumps({"do": "speed", "value": 1e9}))
        texts = []
        while not any("value must be from" in text for text in texts):
            texts.append(first.recv(timeout=LIMIT))
        second.send(json.dumps({"do": "next"}))
        got = [second.recv(timeout=LIMIT) for _ in range(3)]
        assert not any(isinstance(text, str) and "value must be" in text for text in got)


def test_numbers_keep_the_generation_that_they_are_from(both: Callable[[sn.Scene], Both]) -> None:
    """A command of a window that does not know yet that other things are there does nothing."""
    scene, (first, second, _) = boxes()
    one = scene.add(sn.Clamp(first.at((0, 0, 0)), name="one"))
    scene.add(sn.Clamp(second.at((0, 0, 0)), name="two"))
    pair = both(scene)
    old = pair.host._generation
    with connected(pair.url) as line:
        scene.remove(one)
        scene.remove(first)
        pair.host.publish()
        wait_until(lambda: pair.app._generation == old + 1, LIMIT)
        for generation in (old, old + 1):
            line.send(json.dumps({"do": "switch", "tie": 0, "on": False, "generation": generation}))
        wait_until(lambda: pair.to_host.commands("switch"), LIMIT)
        (command,) = pair.to_host.commands("switch")
        assert command["generation"] == old + 1
    pair.host.handle(command)
    assert [(c.name, c.enabled) for c in scene.constraints] == [("two", False)]


def test_what_fails_does_not_end_the_page(
    both: Callable[[sn.Scene], Both], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = both(boxes()[0])
    monkeypatch.setattr(pair.app, "_look", lambda: 1 // 0)
    with connected(pair.url) as line:
        time.sleep(0.2)
        line.send(json.dumps({"do": "pause"}))
        wait_until(lambda: pair.to_host.commands("pause"), LIMIT)
    assert capfd.readouterr().err.count("Traceback") == 1  # and not dozens


def test_menus_texts_and_readouts_are_told(both: Callable[[sn.Scene], Both]) -> None:
    scene, (first, *_) = boxes()
    got: list[str] = []
    menu = scene.control("rope", got.append, choices=["hemp", "<b>steel"])
    name = scene.control("your name", got.append, "nobody")
    scene.show("<score>", lambda: "3 of 10 & more")
    scene.show("broken", lambda: [1])
    scene.watch("array", lambda: first.position)  # type: ignore[arg-type, return-value]
    pair = both(scene)
    notes = [header["text"] for header, _ in pair.to_page.sent if header.get("say") == "note"]
    assert any(note.startswith("array can't be read: it must be one number, got [") for note in notes)
    assert any(note.startswith("broken can't be read: broken must be a text or a number, got [1]") for note in notes)
    with connected(pair.url) as line:
        said: dict[str, Any] = {}
        while said.get("say") != "state":
            said = json.loads(line.recv(timeout=LIMIT))
        assert said["shows"] == ["3 of 10 & more", "–"] and said["texts"] == ["nobody"]
        for control, value in ((0, "<b>steel"), (1, "Ada")):
            line.send(json.dumps({"do": "control", "control": control, "value": value,
                                  "generation": pair.host._generation}))  # fmt: skip
        wait_until(lambda: len(pair.to_host.commands("control")) == 2, LIMIT)
    for command in pair.to_host.commands("control"):
        pair.host.handle({key: value for key, value in command.items() if key != "say"})
    assert got == ["<b>steel", "Ada"] and menu.value == "<b>steel" and name.value == "Ada"
    for value in ("silk", "x" * 201, 3.0, None):
        with pytest.raises(sn.InputError):
            pair.host.handle({"do": "control", "control": 0, "generation": pair.host._generation, "value": value})


# ------------------------------------------------------------------------------------------------------ how it ends


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
