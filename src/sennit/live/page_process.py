"""The process that serves a page, seen from the simulation: started, awaited and ended."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast

from sennit.live.wire import Wire

__all__ = ["PageProcess"]

PATIENCE = 120.0  # s: within which the page must be served; importing its packages may take seconds


class PageProcess:
    """Serves a page called `title` at `address` and `port`; `wire` leads to it, `url` is where it is.

    Raises `OSError` if the page can't be served, `ModuleNotFoundError` without websockets.
    """

    def __init__(self, title: str, address: str, port: int) -> None:
        if importlib.util.find_spec("websockets") is None:
            raise ModuleNotFoundError("the page needs websockets: pip install 'sennit[view]'", name="websockets")
        source = str(Path(__file__).resolve().parents[2])
        paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
        # It does not share the terminal's Ctrl-C: the simulation tells it when to end.
        own: dict[str, Any] = {"creationflags": 0x200} if sys.platform == "win32" else {"start_new_session": True}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "sennit.view.page"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, **own,
        )  # fmt: skip
        self.wire = Wire(cast(Any, self._process.stdout), cast(Any, self._process.stdin), queued=True)
        try:
            self.wire.send({"say": "hello", "title": title, "address": address, "port": port})
            self.url = self._served()
        except BaseException:
            self.end()
            raise

    def _served(self) -> str:
        deadline = time.monotonic() + PATIENCE
        while (left := deadline - time.monotonic()) > 0.0:
            try:
                message = self.wire.receive(left)
            except EOFError:
                raise OSError("the page's process ended before it served anything; see what it wrote above") from None
            if message is None:
                break
            header = message[0]
            if header.get("say") == "ready":
                return str(header["url"])
            if header.get("say") == "failed":
                raise OSError(f"the page can't be served: {header.get('text')}")
        raise OSError(f"the page was not served within {PATIENCE:.0f} s: is this machine very busy?")

    @property
    def exit_code(self) -> int | None:
        """Of a process that has just closed its connection; None if it goes on all the same."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        return self._process.poll()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self._process.kill()

    def end(self) -> None:
        """Close the connection, and see to it that the process ends; nothing happens if it has ended."""
        self.wire.close()
        try:
            self._process.wait(3.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
