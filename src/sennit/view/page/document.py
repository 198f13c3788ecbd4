"""The page's one document: its parts in ``web/`` and the shared drawing, joined to one file that loads nothing else."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import html
import re
from importlib import resources
from typing import NamedTuple

from sennit.portrait.packed import drawing_script

__all__ = ["SCRIPTS", "Document", "document"]

SCRIPTS = (
    "start.js", "look.js", "panel.js", "plots.js", "picking.js", "overlay.js", "tools.js", "hand.js", "measure.js",
    "scissors.js", "keys.js",
    "socket.js",
)  # fmt: skip
"""In this order, after the drawing; they share one scope."""


class Document(NamedTuple):
    """What is sent to a browser, as it is and packed, and the policy that it is sent with."""

    text: bytes
    packed: bytes
    policy: str


@functools.cache
def _parts() -> tuple[str, str, str]:
    """Page, style and script."""
    folder = resources.files(__package__).joinpath("web")
    page, style = (folder.joinpath(f"page.{kind}").read_text(encoding="utf-8") for kind in ("html", "css"))
    scripts = [folder.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS]
    body = "\n".join([drawing_script(), *scripts])
    return page, style, f'"use strict";\n(() => {{\n{body}\n}})();\n'


@functools.lru_cache(maxsize=4)
def document(title: str) -> Document:
    """The page called `title`."""
    page, style, script = _parts()
    parts = {"title": html.escape(title), "style": style, "script": script}
    text = re.sub(r"{{(\w+)}}", lambda found: parts[found[1]], page).encode()
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data: blob:; "
        "connect-src 'self' ws: wss:; base-uri 'none'; form-action 'none'"
    )
    return Document(text, gzip.compress(text, 9), policy)


def _hash(text: str) -> str:
    """By which a browser knows the one script that may run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
