"""The stream: what a simulation tells programs that are no browsers, and how they steer it. docs/embedding.md has it.

A program connects to ``ws://host:port/TOKEN/stream`` and gets a cast, which names everything; it asks for frames one by
one, and gets each as one message, whole. What it sends names things as the cast does. ``?form=binary`` after the
address asks for frames as bytes: 64 bit time, s, then in single precision the numbers of all parts, as the cast says.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from sennit.errors import InputError
from sennit.live.channel import STATUS, Layout
from sennit.portrait.cast import Cast
from sennit.portrait.parts import SolidView, SurfaceView, TubeView
from sennit.validation import FloatArray, quoted

__all__ = ["Names", "binary_frame", "cast_text", "json_frame"]

_LISTED = {"control": "controls", "watch": "watches", "tie": "ties", "handle": "handles"}
"""What commands name, and where the header of a cast lists it."""


class Names:
    """What the present cast calls things, as numbers: commands of programs say names, those of pages numbers."""

    def __init__(self, header: dict[str, Any], cast: Cast) -> None:
        self._numbers = {"part": {part.name: k for k, part in enumerate(cast.parts)}}
        for kind, listed in _LISTED.items():
            self._numbers[kind] = {entry["name"]: k for k, entry in enumerate(header[listed])}

    def numbered(self, said: dict[str, Any]) -> dict[str, Any]:
        """`said` with numbers in place of names. Raises `InputError` for a name that nothing has."""
        result = self._numbered(said)
        if isinstance(cuts := said.get("cuts"), list):
            result["cuts"] = [self._numbered(cut) if isinstance(cut, dict) else cut for cut in cuts]
        return result

    def _numbered(self, said: dict[str, Any]) -> dict[str, Any]:
        result = dict(said)
        for kind, numbers in self._numbers.items():
            name = said.get(kind)
            if isinstance(name, str):
                if name not in numbers:
                    known = ", ".join(numbers) or "none"
                    raise InputError(f"there is no {kind} {quoted(name)}: there are {known}"[:400])
                result[kind] = numbers[name]
        return result


def cast_text(header: dict[str, Any], cast: Cast, title: str) -> str:
    """The message that names everything that is seen, plotted and set."""
    parts = []
    for part, at in zip(cast.parts, cast.offsets, strict=True):
        one: dict[str, Any] = {"name": part.name, "kind": part.kind, "role": part.role, "at": at, "size": part.size}
        if part.kind != "solid":
            one |= {"count": part.count, "fields": list(part.fields)}
        if part.kind == "tube":
            one |= {"half": list(part.half), "closed": part.closed}
        elif part.kind == "surface":
            one["faces"] = part.faces.tolist()
        else:
            one |= {"vertices": np.asarray(part.vertices).round(9).tolist(), "faces": part.faces.tolist()}
        parts.append({**one, "colour": list(part.colour), "opacity": part.opacity})
    told = {key: header[key] for key in ("dt", "watches", "controls", "handles", "ties")}
    message = {"say": "cast", "title": title, "status": STATUS, "numbers": cast.size, **told, "parts": parts}
    return json.dumps(message, allow_nan=False)


def json_frame(header: dict[str, Any], cast: Cast, layout: Layout, frame: FloatArray) -> str:
    """One frame by names: status, watched values, controls, and where each part that is shown is; m, SI units."""
    pieces = layout.split(frame)
    status = dict(zip(STATUS, _plain(pieces["status"]), strict=True))
    values = zip(header["watches"], _plain(pieces["watches"]), strict=True)
    watches = {entry["name"]: value for entry, value in values if value is not None}  # the others are not computed
    parts: dict[str, Any] = {}
    for part, view in zip(cast.parts, cast.views(pieces["parts"]), strict=True):
        if view.shown[0] < 0.5:
            continue
        if isinstance(view, SolidView):
            parts[part.name] = {"position": _plain(view.position), "quaternion": _plain(view.quaternion)}
        elif isinstance(view, TubeView):
            parts[part.name] = {"centres": _plain(view.centres), "directors": _plain(view.directors)}
        elif isinstance(view, SurfaceView):
            parts[part.name] = {"vertices": _plain(view.vertices)}
    return json.dumps({"say": "frame", **status, "watches": watches, "parts": parts}, allow_nan=False)


def binary_frame(layout: Layout, frame: FloatArray) -> bytes:
    """One frame as bytes, little-endian: time (s, 64 bit), then all parts' numbers (32 bit)."""
    pieces = layout.split(frame)
    with np.errstate(over="ignore"):
        return pieces["status"][:1].astype("<f8").tobytes() + pieces["parts"].astype("<f4").tobytes()


def _plain(numbers: FloatArray) -> Any:
    """For JSON, which has no numbers that are not finite: None stands for them."""
    if np.isfinite(numbers).all():
        return numbers.tolist()
    return np.where(np.isfinite(numbers), numbers, None).tolist()  # type: ignore[call-overload]
