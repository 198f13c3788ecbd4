"""A browser without a picture: it takes frames as a page does, so that the page is timed and not the drawing."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

from sennit.view.page.messages import FRAME

__all__ = ["LightClient"]


class LightClient:
    """Connects to the page at `url` as a browser does, and asks for one frame after the other until it is closed."""

    def __init__(self, url: str) -> None:
        from websockets.sync.client import connect

        self._socket: Any = connect(f"ws{url.removeprefix('http')}ws", max_size=None, compression=None)
        self.arrivals: list[float] = []
        """When each frame came, s."""
        self.bytes = 0
        self._closed = False
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        self._ask()
        while not self._closed:
            try:
                data = self._socket.recv(timeout=0.2)
            except TimeoutError:
                continue
            except Exception:  # the page has closed the connection
                return
            self.bytes += len(data)
            if isinstance(data, bytes) and int.from_bytes(data[:4], "little") == FRAME:
                self.arrivals.append(time.perf_counter())
                self._ask()

    def _ask(self) -> None:
        self._socket.send(json.dumps({"do": "next"}))

    def close(self) -> None:
        """Disconnect."""
        self._closed = True
        self._socket.close()
        self._thread.join()
