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
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from references.windows import wait_until

import sennit as sn
from sennit.errors import InputError
from sennit.view import View
from sennit.view.page.server import Gate, free_port, front_page, start_server

viser = pytest.importorskip("viser", reason="the page needs viser")
PROTOCOL = f"viser-v{viser.__version__}"

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
            assert len(line.recv(timeout=10.0)) > 0
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
            assert arrived.wait(10.0)
        server._thread_executor.shutdown(wait=True)  # whatever was begun has ended
        assert asked == []
    finally:
        server.stop()


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
        env=environment, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert "http://127.0.0.1:" in line, line
            address = line[line.index("http://") :].split()[0]
            with urllib.request.urlopen(address, timeout=20.0) as answer:
                assert answer.status == 200
            assert len(_marked(mark)) == 2  # the simulation and the page
            os.killpg(process.pid, signal.SIGINT)
            rest = process.stdout.read()
            assert process.wait(20.0) in (0, 130)
            assert "Traceback" not in rest
            assert "after" in rest  # view returned
            wait_until(lambda: not _marked(mark), 20.0)
            with pytest.raises(OSError):
                urllib.request.urlopen(address, timeout=5.0)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


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
        with urllib.request.urlopen(ready["url"], timeout=20.0) as answer:
            assert answer.status == 200
        process.stdin.close()
        assert process.wait(20.0) == 0
        assert process.stdout.read() == b""  # nothing but messages was written
