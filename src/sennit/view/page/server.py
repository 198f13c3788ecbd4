"""The web server: hands out the page and opens its connections, for those whom the gate lets in."""

from __future__ import annotations

import os
import socket
from collections.abc import Awaitable, Callable
from typing import Any

from sennit.errors import InputError
from sennit.view.page.document import document
from sennit.view.page.gate import Gate

__all__ = ["LONGEST", "Server", "free_port"]

TRIES = 20
"""How many ports after the one asked for are tried."""
LONGEST = 1 << 14
"""Bytes of a message from a browser, at most; a longer one ends the connection."""
ALIVE = 60.0
"""Seconds after which a browser that does not answer is taken for gone."""


def free_port(address: str, port: int) -> int:
    """`port` if it is free at `address`, else the first free one of the 20 after it; any free one for 0.

    Raises `InputError` where none is, or where the machine does not have that address.
    """
    try:
        family = socket.getaddrinfo(address, port or None, type=socket.SOCK_STREAM)[0][0]
    except OSError as problem:
        raise InputError(f"there is no address {address!r} on this machine: {problem}") from None
    problem_met: OSError | None = None
    for candidate in [0] if port == 0 else range(port, min(port + TRIES, 65535) + 1):
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            if os.name == "posix":  # a port that its last owner has just left is free
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, candidate))
            except OSError as problem:
                problem_met = problem
                continue
            return int(probe.getsockname()[1])
    raise InputError(f"no port from {port} to {port + TRIES} is free at {address}: {problem_met}; choose another port")


class Server:
    """Serves the page called `title`; `visited` is called with each connection and returns when that has ended."""

    def __init__(
        self, address: str, port: int, title: str, token: str, visited: Callable[[Any], Awaitable[None]]
    ) -> None:
        self._address, self._port, self._title, self._token = address, port, title, token
        self._gate = Gate(address, token)
        self._visited = visited
        self._serving: Any = None

    async def start(self) -> None:
        """Begin to listen. Raises `InputError` where that can't be."""
        from websockets.asyncio.server import serve

        problem: OSError | None = None
        for _ in range(3):  # somebody else may take the port meanwhile
            self._port = free_port(self._address, self._port)
            try:
                self._serving = await serve(
                    self._visited, self._address, self._port, process_request=self._answer, server_header=None,
                    compression=None, max_size=LONGEST, max_queue=16, ping_interval=20.0, ping_timeout=ALIVE,
                )  # fmt: skip
                return
            except OSError as met:
                problem = met
        raise InputError(f"port {self._port} can't be had at {self._address}: {problem}; choose another port")

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._port

    @property
    def url(self) -> str:
        """The page's address, with its secret."""
        shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._address, self._address)
        name = f"[{shown}]" if ":" in shown else shown
        return f"http://{name}:{self._port}/{self._token}/"

    def _answer(self, connection: Any, request: Any) -> Any:
        from websockets.datastructures import Headers
        from websockets.http11 import Response

        answer = self._gate.judge(request.path, request.headers)
        if answer.opens:
            return None
        headers, body = dict(answer.headers), answer.body
        if answer.status == 200:
            page = document(self._title)
            headers["Content-Security-Policy"] += f"; {page.policy}"
            headers["Content-Type"] = "text/html; charset=utf-8"
            packed = "gzip" in request.headers.get("Accept-Encoding", "")
            body = page.packed if packed else page.text
            if packed:
                headers["Content-Encoding"] = "gzip"
        headers |= {"Content-Length": str(len(body)), "Connection": "close"}
        return Response(answer.status.value, answer.status.phrase, Headers(headers), body)

    def stop(self) -> None:
        """Listen no more, and end all connections."""
        if self._serving is not None:
            self._serving.close()
