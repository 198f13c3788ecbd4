"""The page that plays a recording: whole in itself, and what is in it. `tests/page` opens it in a browser."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sennit as sn
from sennit.export.record import record, write
from sennit.export.recording import Recording


class Page(HTMLParser):
    """Collects tags, and the text inside elements that have an id."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._inside: str | None = None
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)
        self.header: dict[str, Any] = json.loads(self.texts["header"])
        self.data = zlib.decompress(base64.b64decode(self.texts["data"], validate=True))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = dict(attrs).get("id") or tag

    def handle_data(self, data: str) -> None:
        if self._inside is not None:
            self.texts[self._inside] = self.texts.get(self._inside, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._inside = None

    def array(self, where: dict[str, Any]) -> Any:
        values = np.frombuffer(self.data, "<" + where["type"], where["length"], where["at"])
        if "row" not in where:
            return values
        rows = np.add.accumulate(values.reshape(-1, where["row"]), axis=0, dtype=values.dtype)
        if "step" not in where:
            return rows
        return np.array(where["low"]) + where["step"] * rows.reshape(len(rows), -1, 3)


@pytest.fixture(scope="module")
def page(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Page:
    return Page(write(recording, tmp_path_factory.mktemp("html") / "trial.html"))


def test_nothing_is_fetched(page: Page) -> None:
    assert "//" not in re.sub(r"(?m)(^|\s)//.*$", "", page.text.replace(page.texts["data"], ""))
    assert not re.search(r"\b(https?|wss?|ftp):", page.text)
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|import|EventSource|sendBeacon)\s*\(", page.text)
    for tag, attributes in page.tags:
        assert tag not in ("link", "iframe", "img", "object", "embed", "base")
        assert not {"src", "href", "srcset", "action"} & set(attributes)
    rules = [a["content"] for tag, a in page.tags if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"]
    assert rules and str(rules[0]).startswith("default-src 'none'; script-src 'unsafe-inline'; style-src")


def test_titles_are_text_not_markup(recording: Recording, tmp_path: Path) -> None:
    title = "</script><script>alert(1)</script> {{data}} & {{script}}"
    other = Recording(recording.cast, recording.times, recording.frames, recording.fps, title)
    page = Page(write(other, tmp_path / "a.html"))
    assert page.header["title"] == title
    assert page.texts["title"] == title  # as the parser reads it: entities are characters again
    assert "<script>alert" not in page.text
    assert sum(tag == "script" for tag, _ in page.tags) == 3


def test_places_are_kept_to_a_step_of_their_room(page: Page, recording: Recording) -> None:
    header = page.header
    assert (header["count"], header["fps"], header["start"]) == (13, 24.0, 2.0)
    assert [part["name"] for part in header["parts"]] == recording.names
    for k, key in ((0, "centres"), (1, "centres"), (2, "position"), (3, "position"), (4, "vertices"), (5, "centres")):
        where = header["parts"][k][key]
        wanted = getattr(recording.track(k), key).reshape(13, -1, 3)
        assert np.abs(page.array(where) - wanted).max() <= 0.5 * where["step"] * (1 + 1e-9)
        assert where["step"] <= max(np.ptp(wanted.reshape(-1, 3), axis=0).max(), 1e-12) / 65535 * (1 + 1e-9)
    directors = page.array(header["parts"][0]["directors"]).reshape(13, 21, 3) / 127.0
    assert np.abs(directors - recording.track(0).directors).max() <= 0.5 / 127 + 1e-12
    turns = page.array(header["parts"][2]["quaternion"]) / 32767.0
    assert np.abs(turns - recording.track(2).quaternion).max() <= 0.5 / 32767 + 1e-12
    assert page.array(header["parts"][5]["shown"])[:, 0].tolist() == [int(k >= 5) for k in range(13)]


def test_fields_are_kept_to_a_step_of_their_range(page: Page, recording: Recording) -> None:
    field = page.header["fields"]["tension"]
    assert field["unit"] == "N" and field["ramp"] == "amount" and field["low"] == 0.0
    shown = page.array(page.header["parts"][0]["fields"]["tension"]) / 255.0 * field["high"]
    values = recording.track(0).fields["tension"]
    inside = values <= field["high"]
    assert inside.mean() > 0.98
    assert np.abs(shown - values)[inside].max() <= 0.5 / 255 * field["high"] + 1e-12
    assert set(page.header["fields"]) == {"tension", "curvature", "pressure"}


def test_the_tip_of_a_swinging_rope(swing: tuple[sn.Scene, sn.Rod, sn.RigidBody], tmp_path: Path) -> None:
    scene, rope, _ = swing
    page = Page(record(scene, 0.2, tmp_path / "swing.html", dt=5e-3, fps=50))
    part = page.header["parts"][0]
    assert part["name"] == "rope"
    assert np.allclose(page.array(part["centres"])[10, -1], rope.at(rope.length).position, atol=part["centres"]["step"])
