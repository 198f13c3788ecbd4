"""The web server: viser's, with public sharing off, closed to other sites and their frames, and under our own title."""

from __future__ import annotations

import contextlib
import gzip
import html
import http
import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sennit.errors import InputError
from sennit.view.page.screening import screen

if TYPE_CHECKING:
    from viser import ViserServer

__all__ = ["Gate", "free_port", "front_page", "start_server"]

TRIES = 20
"""How many ports after the one asked for are tried."""


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


class Gate:
    """Decides who may connect, and hands out our front page in place of viser's.

    A browser names the site that a script came from (Origin) and the site that it asked for (Host). Both must be the
    same, and a number, this machine's name or the address that is served: a foreign site then can't talk to the
    simulation, not even by giving its own name this machine's address. Programs that are no browsers send no Origin
    and are let in.
    """

    def __init__(self, address: str, page: bytes) -> None:
        self._names = {"localhost", address.lower(), socket.gethostname().lower()}
        self._page, self._packed = page, gzip.compress(page)

    def admits(self, origin: str | None, host: str | None) -> bool:
        """Whether a connection from `origin` that asked for `host` is let in."""
        if origin is None:
            return True
        asked = urlsplit(f"//{host or ''}")
        came = urlsplit(origin)
        try:
            same = (came.hostname, came.port or _PORTS.get(came.scheme)) == (asked.hostname, asked.port or 80)
        except ValueError:  # a port that is no number
            return False
        return same and came.scheme == "http" and self._known(asked.hostname or "")

    def _known(self, name: str) -> bool:
        with contextlib.suppress(ValueError):
            ipaddress.ip_address(name)
            return True
        return name in self._names

    def answer(self, request: Any) -> Any | None:
        """A refusal, our front page, or None: viser's own server goes on."""
        from websockets.datastructures import Headers
        from websockets.http11 import Response

        if request.headers.get("Upgrade", "").lower() == "websocket":
            origins = request.headers.get_all("Origin")
            hosts = request.headers.get_all("Host")
            if len(origins) > 1 or not self.admits(origins[0] if origins else None, hosts[0] if hosts else None):
                text = b"This page may be used from its own address only.\n"
                return Response(http.HTTPStatus.FORBIDDEN.value, "Forbidden", Headers(_headers(text)), text)
            return None
        if request.path.partition("?")[0] not in ("/", "/index.html"):
            return None
        packed = "gzip" in request.headers.get("Accept-Encoding", "")
        body = self._packed if packed else self._page
        headers = _headers(body) | {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store"}
        if packed:
            headers["Content-Encoding"] = "gzip"
        return Response(http.HTTPStatus.OK.value, "OK", Headers(headers), body)


_PORTS = {"http": 80, "https": 443}
_FRAMES = {
    "Content-Security-Policy": (
        "frame-ancestors 'self' http://localhost:* http://127.0.0.1:* vscode-webview: vscode-file:"
    ),
    "X-Frame-Options": "SAMEORIGIN",
}
"""With every answer: no other site may show the page in a frame, and so lead a person's clicks. Notebooks may, which
are served by this machine or shown by an editor. The second is for browsers that do not know the first."""


def _headers(body: bytes) -> dict[str, str]:
    return {
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Length": str(len(body)),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }


def front_page(title: str) -> bytes:
    """Viser's page with our title, background and right click."""
    import viser

    page = (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")
    extra = resources.files(__package__).joinpath("front.html").read_text(encoding="utf-8")
    page = page.replace("<title>Viser</title>", f"<title>{html.escape(title)}</title>", 1)
    head, mark, rest = page.partition("</head>")
    return (head + extra + mark + rest).encode()


@contextlib.contextmanager
def _gated(gate: Gate) -> Iterator[None]:
    """Web servers that are started inside answer to `gate` first: viser has no option for it."""
    import websockets.asyncio.server as websockets_server

    plain = websockets_server.serve

    def forbid_frames(connection: Any, request: Any, response: Any) -> None:
        for name, value in _FRAMES.items():
            response.headers[name] = value

    def serve(*args: Any, process_request: Callable[..., Any] | None = None, **options: Any) -> Any:
        def ask(connection: Any, request: Any) -> Any:
            answer = gate.answer(request)
            if answer is None and process_request is not None:
                answer = process_request(connection, request)
            return answer

        return plain(*args, process_request=ask, process_response=forbid_frames, **options)

    websockets_server.serve = serve  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        websockets_server.serve = plain  # type: ignore[misc]


def start_server(address: str, port: int, title: str) -> ViserServer:
    """A server at `address`, at `port` or the next free one. Raises `InputError` where there is none."""
    import viser
    from viser import _messages

    port = free_port(address, port)
    os.environ.pop("_VISER_PORT_OVERRIDE", None)
    with _gated(Gate(address, front_page(title))):
        server = viser.ViserServer(host=address, port=port, label=title, verbose=False)
    # The button is hidden by the theme; a message that pressed it all the same must meet nobody.
    for message in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(message)
    screen(server)
    # A frame is one block of messages, which viser would cut into windows of 128: half of it might be drawn alone.
    server._websock_server._broadcast_buffer.max_window_size = 1 << 20
    return server
