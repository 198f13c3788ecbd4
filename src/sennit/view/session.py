"""`view`: a simulation and its page. The page is another process; this side runs the simulation and talks to it."""

from __future__ import annotations

import contextlib
import html
import ipaddress
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from typing import cast

from sennit import validation
from sennit.attributes import guarded
from sennit.batch.batch import Batch
from sennit.errors import InputError
from sennit.live.batch_play import BatchPlay
from sennit.live.host import Host
from sennit.live.page_process import PageProcess
from sennit.live.play import Play
from sennit.live.scene_play import ScenePlay
from sennit.scene.scene import Scene
from sennit.validation import quoted

__all__ = ["View", "view"]


def view(
    scene: Scene | Batch | Play, before_step: Callable[[float], object] | None = None, *, dt: float | None = None,
    port: int = 8080, host: str = "127.0.0.1", browser: bool | None = None, block: bool | None = None,
    title: str | None = None, number: int | None = None,
) -> View:  # fmt: skip
    """Show a scene in the browser and run it in real time: drag anything, pause, step, reset, plot.

    Arguments: `before_step` is called with dt (s) before each step; `dt`, the step, s (default 5 ms); `port`, where it
    is served (a later one if it is taken, any free one for 0); `host`, the address it listens on: this machine only,
    unless another is given; `browser`: whether to open one (default: if there is a screen); `block`: whether to return
    only when the page is closed by Ctrl-C (default: in a script, not in a notebook).

    Of a `Batch`, scene `number` (the first, if left out) is shown as it is moved by whoever steps the batch, say by a
    training; nothing can be done to it on the page. Give ``block=False`` and go on.

    Returns a `View`. In a notebook it shows the page inline; the simulation runs in a thread until `View.close`, and
    the scene is not to be touched elsewhere meanwhile. A script ends it with Ctrl-C, which raises `KeyboardInterrupt`
    nowhere: `view` returns, and the scene is as the page left it.

    Raises `InputError` for bad input, `OSError` if the page can't be served, `ModuleNotFoundError` without websockets.
    """
    if title is not None:
        validation.label("title", title)
    if number is not None and not isinstance(scene, Batch):
        raise InputError("number says which scene of a batch is shown: leave it out")
    if isinstance(scene, Scene):
        play = cast(Play, ScenePlay(scene, before_step=before_step, dt=dt, title=title))
    elif isinstance(scene, Batch):
        if before_step is not None or dt is not None:
            raise InputError("before_step and dt are for scenes: a batch is stepped by whoever steps it")
        play = BatchPlay(scene, 0 if number is None else number, title=title)
    elif all(hasattr(type(scene), name) for name in ("step", "reset", "grab")):
        if before_step is not None or dt is not None:
            raise InputError("before_step and dt are for scenes; this has its own steps")
        play = scene
    else:
        raise InputError(f"view shows a sennit.Scene, got {quoted(scene)}")
    checked_port = validation.count("port", port, 0)
    if checked_port > 65535:
        raise InputError(f"port must be from 0 to 65535, got {port}")
    address = checked_address(host)
    blocking = not in_notebook() if block is None else bool(block)
    shown = View(play, address, checked_port)
    if browser if browser is not None else (_has_screen() and not in_notebook()):
        with contextlib.suppress(webbrowser.Error, OSError):
            webbrowser.open(shown.url)
    if blocking:
        print(f"{play.title.rstrip('.')}: {shown.url} (Ctrl-C ends it)", flush=True)
        shown.wait()
    return shown


@guarded()
class View:
    """A page that shows a running simulation; made by `view`."""

    url: str
    """Its address."""

    def __init__(self, play: Play, address: str, port: int) -> None:
        self._scene = play.scene if isinstance(play, ScenePlay) else None
        if self._scene is not None:
            self._scene._check_free()  # one page at a time
        warn_if_public(address)
        self._host = Host(play)
        self._stop = threading.Event()
        # Not the thread's own join: one that Ctrl-C interrupts takes a running thread for an ended one (Python 3.11).
        self._ended = threading.Event()
        self._error: BaseException | None = None
        self._closing = threading.Lock()
        self._page = PageProcess(play.title, address, port)
        self.url = self._page.url
        try:
            self._host.attach(self._page.wire)
        except BaseException:
            self._end_page()
            raise
        self._thread = threading.Thread(target=self._run, name="sennit view", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            if self._scene is not None:
                self._scene._run_by(f"the page at {self.url}")
            self._host.run(self._stop)
            if self._host.closed and not self._stop.is_set():
                self._error = RuntimeError(f"the page's process ended by itself (exit code {self._page.exit_code})")
        except BaseException as error:  # kept for whoever waits
            self._error = error
        finally:
            try:
                self._end_page()
            finally:
                if self._scene is not None:
                    self._scene._run_by(None)
                self._ended.set()

    @property
    def running(self) -> bool:
        """Whether the simulation goes on and the page is served."""
        return not self._ended.is_set()

    @property
    def viewers(self) -> int:
        """How many browsers look."""
        return self._host.viewers

    @property
    def host(self) -> Host:
        """What runs the simulation: for tests and tools; its methods belong to its own thread while `running`."""
        return self._host

    def wait(self) -> None:
        """Return when the page has ended: by Ctrl-C, or by `close` from elsewhere. Raises what ended it otherwise."""
        try:
            while not self._ended.wait(0.2):
                pass
        except KeyboardInterrupt:
            print(flush=True)
        while True:
            try:
                return self.close()
            except KeyboardInterrupt:  # pressed again: it is ending already
                continue

    def close(self) -> None:
        """End the simulation and the page; nothing happens if they have ended. Raises the error that ended them."""
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._ended.wait()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _end_page(self) -> None:
        with self._closing:
            self._host.close()
            self._page.end()

    def __enter__(self) -> View:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        """The page inside a notebook; that of another machine shows it through its own proxy."""
        look = "width: 100%; height: 560px; border: 1px solid #ccd; border-radius: 6px"
        _, _, place, token, _ = self.url.split("/")
        port = place.rpartition(":")[2]
        if "COLAB_RELEASE_TAG" in os.environ:
            return (
                f'<iframe id="sennit-{port}" style="{look}" title="sennit" allow="fullscreen"></iframe><script>'
                f"google.colab.kernel.proxyPort({port}).then((address) => {{ "
                f'document.getElementById("sennit-{port}").src = new URL("/{token}/", address); }});</script>'
            )
        hub = os.environ.get("JUPYTERHUB_SERVICE_PREFIX")
        address = f"{hub.rstrip('/')}/proxy/{port}/{token}/" if hub else self.url
        return f'<iframe src="{html.escape(address)}" style="{look}" title="sennit"></iframe>'

    def __repr__(self) -> str:
        return f"<sennit page at {self.url}, {'running' if self.running else 'ended'}>"


def checked_address(host: object) -> str:
    """`host` as an address to listen on: "localhost", or numbers such as "0.0.0.0"."""
    if isinstance(host, str) and host == "localhost":
        return "127.0.0.1"
    try:
        if not isinstance(host, str):
            raise ValueError
        return str(ipaddress.ip_address(host))
    except ValueError:
        raise InputError(
            f"host must be an address such as 127.0.0.1 (this machine only) or 0.0.0.0 (all networks), got "
            f"{quoted(host)}"
        ) from None


def warn_if_public(address: str) -> None:
    """Say what it means to listen on an address that other machines reach."""
    if not ipaddress.ip_address(address).is_loopback:
        print(
            f"sennit: warning: {address} can be reached by other machines; whoever opens the page can act on the "
            "simulation. Leave --host or --public out to keep it on this machine.",
            file=sys.stderr,
            flush=True,
        )


def addresses(url: str, public: bool) -> list[str]:
    """`url`, and where it is `public` the same by this machine's number in its network, which others can reach."""
    if not public:
        return [url]
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing: it asks which of this machine's numbers would be used
        return [url, url.replace("127.0.0.1", str(probe.getsockname()[0]), 1)]
    return [url]


def in_notebook() -> bool:
    """Whether this runs in a Jupyter kernel."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def _has_screen() -> bool:
    screen = sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(screen)
