"""Built pages load nothing from outside: they are read where there is no network.

A Sphinx extension. What a page would fetch by itself, from another host, is a warning, and so an error of the build.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

OUTSIDE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
FETCHED = {
    "audio": ("src",), "embed": ("src",), "iframe": ("src",), "image": ("href", "xlink:href"),
    "img": ("src", "srcset"), "input": ("src",), "object": ("data",), "script": ("src",), "source": ("src", "srcset"),
    "track": ("src",), "use": ("href", "xlink:href"), "video": ("src", "poster"),
}  # fmt: skip
LINKS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch", "manifest"}
IN_STYLES = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s;]+)""", re.IGNORECASE)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._style = tag == "style"
        names = FETCHED.get(tag, ())
        if tag == "link" and LINKS & set(given.get("rel", "").lower().split()):
            names = ("href",)
        for name in names:
            places = given.get(name, "").split(",") if name == "srcset" else [given.get(name, "")]
            self.loads += [place.strip() for place in places if OUTSIDE.match(place)]
        self.loads += IN_STYLES.findall(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        if self._style:
            self.loads += IN_STYLES.findall(data)
            self._style = False


def loads_from_outside(text: str, ending: str = ".html") -> list[str]:
    """Addresses at other hosts that a page (or a style sheet) fetches by itself; links that are followed are not."""
    if ending == ".css":
        return list(IN_STYLES.findall(text))
    reader = _Reader()
    reader.feed(text)
    return reader.loads


def _check(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    for path in sorted(Path(app.outdir).rglob("*")):
        if path.suffix in (".html", ".css"):
            for load in loads_from_outside(path.read_text(encoding="utf-8"), path.suffix):
                logging.getLogger(__name__).warning("%s loads %s", path.relative_to(app.outdir), load)


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at all pages when they are written."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
