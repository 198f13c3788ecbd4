"""Who may open the page: those who know its address, which has a secret in it, and come from the page itself.

The address is ``http://host:port/TOKEN/``; everything else is not found. So a web site that a person has open can't
talk to the simulation, whatever it does with its own name's address, for it can't know the token. On top of that a
browser says which site a script came from (Origin): that must be the site that was asked for, by the name that the
browser used (Host) or that a proxy passes on (X-Forwarded-Host), and without a proxy that name must be a number or this
machine's. Behind proxies of notebooks, which pass on neither, the token decides alone. So it does for the stream, which
programs in browsers may use from anywhere: who knows the secret was given it.
"""

from __future__ import annotations

import contextlib
import hmac
import http
import ipaddress
import os
import secrets
import socket
import sys
from typing import Any, NamedTuple
from urllib.parse import urlsplit

__all__ = ["Answer", "Gate", "new_token"]

LOCAL_FRAMES = ("'self'", "http://localhost:*", "http://127.0.0.1:*", "vscode-webview:", "vscode-file:")
"""Who may show the page in a frame: itself, notebooks that this machine serves, and editors."""
COLAB_FRAMES = ("https://colab.research.google.com", "https://*.googleusercontent.com")
_PORTS = {"http": 80, "https": 443}


def new_token() -> str:
    """128 random bits, as text that addresses can have."""
    return secrets.token_urlsafe(16)


class Answer(NamedTuple):
    """To a request: status and body; where `opens` is True it is a connection that may be opened instead."""

    status: http.HTTPStatus
    headers: dict[str, str]
    body: bytes
    opens: bool = False


class Gate:
    """Decides about requests to the page at `address` whose secret is `token`.

    `behind_proxy`: whether notebooks of another machine show it, so that names of sites say nothing.
    """

    def __init__(self, address: str, token: str, behind_proxy: bool | None = None) -> None:
        self._names = {"localhost", address.lower(), socket.gethostname().lower()}
        self._token = token
        self._colab = "google.colab" in sys.modules or "COLAB_RELEASE_TAG" in os.environ
        proxied = "JUPYTERHUB_SERVICE_PREFIX" in os.environ or self._colab
        self._behind_proxy = proxied if behind_proxy is None else behind_proxy

    @property
    def headers(self) -> dict[str, str]:
        """With every answer: no other site may show the page in a frame, and so lead a person's clicks."""
        frames = LOCAL_FRAMES + (COLAB_FRAMES if self._colab else ())
        found = {
            "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
            "Content-Security-Policy": f"frame-ancestors {' '.join(frames)}",
        }  # fmt: skip
        if not self._colab:
            found["X-Frame-Options"] = "SAMEORIGIN"  # for browsers that do not know the policy
        return found

    def judge(self, path: str, headers: Any) -> Answer:
        """What to say to a request: whether it is for the page, for its connection, or for nothing that is there."""
        parts = path.partition("?")[0].split("/")
        known = len(parts) > 1 and hmac.compare_digest(parts[1].encode(), self._token.encode())
        if not known:
            text = "There is no page here: its address ends with a secret, which is printed where it was started.\n"
            return self._words(http.HTTPStatus.NOT_FOUND, text)
        streams = parts[2:] == ["stream"]
        if not self._admits(headers, any_site=streams):
            return self._words(http.HTTPStatus.FORBIDDEN, "This page may be used from its own address only.\n")
        upgrade = headers.get("Upgrade", "").lower() == "websocket"
        if upgrade and (streams or parts[2:] == ["ws"]):
            return Answer(http.HTTPStatus.SWITCHING_PROTOCOLS, {}, b"", opens=True)
        if len(parts) == 2:  # without the last stroke the page's own addresses would lead elsewhere
            moved = self._words(http.HTTPStatus.TEMPORARY_REDIRECT, "")
            return moved._replace(headers={**moved.headers, "Location": f"{parts[1]}/"})
        if not upgrade and parts[2:] == [""]:
            return Answer(http.HTTPStatus.OK, self.headers, b"")
        return self._words(http.HTTPStatus.NOT_FOUND, "There is nothing of that name.\n")

    def _words(self, status: http.HTTPStatus, text: str) -> Answer:
        return Answer(status, {**self.headers, "Content-Type": "text/plain; charset=utf-8"}, text.encode())

    def _admits(self, headers: Any, any_site: bool) -> bool:
        origins, hosts = headers.get_all("Origin"), headers.get_all("Host")
        if len(origins) > 1 or len(hosts) > 1:
            return False
        host = _parsed(f"//{hosts[0]}") if hosts else None
        passed_on = [_parsed(f"//{name.strip()}") for name in headers.get("X-Forwarded-Host", "").split(",")[:1]]
        forwarded = passed_on[0] if headers.get("X-Forwarded-Host") else None
        if self._behind_proxy:
            return True
        if forwarded is None and (host is None or not self._known(host[0])):
            return False
        if not origins or any_site:
            return True  # no browser, or the page itself that is opened
        came = _parsed(origins[0])
        return came is not None and came[0] != "" and came in _with_ports(forwarded or host, origins[0])

    def _known(self, name: str) -> bool:
        with contextlib.suppress(ValueError):
            ipaddress.ip_address(name)
            return True
        return name in self._names


def _parsed(address: str) -> tuple[str, int | None] | None:
    """Name and port of an address; None if it is none."""
    try:
        split = urlsplit(address)
        return (split.hostname or "").lower(), split.port or _PORTS.get(split.scheme)
    except ValueError:
        return None


def _with_ports(asked: tuple[str, int | None] | None, origin: str) -> list[tuple[str, int | None]]:
    """`asked`, with the port that goes without saying where it has none."""
    if asked is None:
        return []
    name, port = asked
    return [(name, port if port is not None else _PORTS.get(urlsplit(origin).scheme))]
