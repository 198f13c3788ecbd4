"""A reverse proxy that shows another server under a path of its own, as JupyterHub's does."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from typing import Any

__all__ = ["ReverseProxy"]


class ReverseProxy:
    """Serves ``PREFIX…`` from `port` of this machine, and `pages`, by path, itself.

    `tells`: whether it passes on which name the browser used.
    """

    def __init__(self, port: int, prefix: str, *, tells: bool, pages: dict[str, str] | None = None) -> None:
        self._upstream, self._prefix, self._tells, self.pages = port, prefix, tells, pages or {}
        self.paths: list[str] = []
        """What was asked for, as the browser said it."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.origin = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # it was closed
            while True:
                threading.Thread(target=self._serve, args=(self._listener.accept()[0],), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                if not (more := client.recv(65536)):
                    return
                head += more
            text = head.decode("latin-1")
            path = text.split(" ", 2)[1]
            self.paths.append(path)
            if path in self.pages:
                body = self.pages[path].encode()
                kind = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}"
                client.sendall(f"{kind}\r\nConnection: close\r\n\r\n".encode() + body)
                return
            if not path.startswith(self._prefix):
                client.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            text = text.replace(path, "/" + path[len(self._prefix) :], 1)
            host = re.search(r"(?mi)^Host: (.*)\r$", text)
            assert host is not None
            told = f"X-Forwarded-Host: {host[1]}\r\n" if self._tells else ""
            text = text.replace(f"{host[0]}\n", f"Host: 127.0.0.1:{self._upstream}\r\n{told}", 1)
            if "upgrade: websocket" not in text.lower():
                text = re.sub(r"(?mi)^Connection: .*$", "Connection: close\r", text, count=1)
            with socket.create_connection(("127.0.0.1", self._upstream)) as server:
                server.sendall(text.encode("latin-1"))
                back = threading.Thread(target=_pass_on, args=(server, client), daemon=True)
                back.start()
                _pass_on(client, server)
                back.join()

    def close(self) -> None:
        """Serve no more."""
        self._listener.close()


def _pass_on(source: Any, target: Any) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
