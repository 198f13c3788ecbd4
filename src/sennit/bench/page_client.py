"""A browser without a picture: it counts what the page sends, so that the page is timed and not the drawing."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

__all__ = ["LightClient"]


class LightClient:
    """Connects to the page at `url` as a browser does, and counts frames and bytes until it is closed."""

    def __init__(self, url: str) -> None:
        import viser
        from websockets.sync.client import connect

        self._socket: Any = connect(
            url.replace("http://", "ws://").rstrip("/"),
            subprotocols=[f"viser-v{viser.__version__}"],  # type: ignore[list-item]
            max_size=None,
            compression=None,
            origin=url.rstrip("/"),  # type: ignore[arg-type]
        )
        self._socket.send(_camera())
        self.arrivals: list[float] = []
        """When each frame came, s."""
        self.bytes = 0
        self._closed = False
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        import msgspec
        import zstandard

        unpacker = zstandard.ZstdDecompressor()
        last = -math.inf
        while not self._closed:
            try:
                data = self._socket.recv(timeout=0.2)
            except TimeoutError:
                continue
            except Exception:  # the page has closed the connection
                return
            self.bytes += len(data)
            size, packed = int.from_bytes(data[:8], "little"), int.from_bytes(data[8:16], "little")
            inner = msgspec.msgpack.decode(unpacker.decompress(data[16 : 16 + packed], max_output_size=size))
            now = time.perf_counter()
            # A frame is cut into several messages at times; they come together.
            if any(m["type"] in _MOVING for m in inner["messages"]) and now - last > 2e-3:
                self.arrivals.append(now)
            last = now

    def close(self) -> None:
        """Disconnect."""
        self._closed = True
        self._socket.close()
        self._thread.join()


_MOVING = ("SceneNodeUpdateMessage", "SetPositionMessage", "SetOrientationMessage")
"""Messages of viser that move something."""


def _camera() -> bytes:
    """What a browser says first: where it looks from."""
    import msgspec

    return msgspec.msgpack.encode(
        {
            "type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (3.0, 3.0, 3.0), "fov": 1.0,
            "near": 0.01, "far": 1000.0, "image_height": 600, "image_width": 900, "look_at": (0.0, 0.0, 0.0),
            "up_direction": (0.0, 0.0, 1.0),
        }
    )  # fmt: skip
