"""A cast for a browser: a description that JSON can carry, and the arrays that it points into.

``web/figures.js`` reads both. Solids of one shape share their arrays.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.portrait.cast import Cast
from sennit.portrait.meshing import corner_normals
from sennit.portrait.parts import Solid, Tube

__all__ = ["drawing_script", "packed_cast"]

_WEB = Path(__file__).parent / "web"
_SCRIPTS = ("camera.js", "shaders.js", "shapes.js", "graphics.js", "figures.js", "drawing.js")


def drawing_script() -> str:
    """The script that draws casts, as page, replay player and films have it."""
    return "".join((_WEB / name).read_text(encoding="utf-8") for name in _SCRIPTS)


def packed_cast(cast: Cast) -> tuple[list[dict[str, Any]], bytes]:
    """Descriptions of all parts, in order, and the bytes of their arrays.

    An array is described by the byte where it begins (a multiple of 4) and its number of entries: places and normals
    are single precision, faces unsigned 32 bit, colours 8 bit (red, green, blue, 255).
    """
    data = _Data()
    parts = []
    for part, offset in zip(cast.parts, cast.offsets, strict=True):
        entry: dict[str, Any] = {
            "kind": part.kind, "name": part.name, "role": part.role, "colour": list(part.colour),
            "opacity": part.opacity, "rough": part.rough, "metal": part.metal, "at": offset, "size": part.size,
        }  # fmt: skip
        if isinstance(part, Solid):
            entry |= data.solid(part)
        else:
            entry |= {"count": part.count, "fields": list(part.fields)}
            if isinstance(part, Tube):
                entry |= {
                    "half": list(part.half),
                    "rectangular": part.rectangular,
                    "closed": part.closed,
                    "look": part.look,
                }
                if part.widths is not None:
                    entry["widths"] = [round(x, 4) for x in part.widths.tolist()]
                entry |= {"stripe": None if part.stripe is None else list(part.stripe)}
            else:
                entry["faces"] = data.add(part.faces.astype(np.uint32))
        parts.append(entry)
    return parts, bytes(data.bytes)


class _Data:
    """Arrays, one after the other."""

    def __init__(self) -> None:
        self.bytes = bytearray()
        self._shapes: dict[bytes, dict[str, Any]] = {}

    def add(self, values: NDArray[Any]) -> list[int]:
        """Append an array; where it is, and its number of entries."""
        self.bytes += b"\0" * (-len(self.bytes) % 4)
        at = len(self.bytes)
        flat = np.ascontiguousarray(values)
        self.bytes += flat.astype(flat.dtype.newbyteorder("<")).tobytes()
        return [at, int(flat.size)]

    def solid(self, part: Solid) -> dict[str, Any]:
        """The mesh of a solid: three corners of each face with normals, the box round it, colours if it has some."""
        key = _digest(part)
        if key not in self._shapes:
            self._shapes[key] = self._shape(part)
        return self._shapes[key]

    def _shape(self, part: Solid) -> dict[str, Any]:
        corners = part.vertices[part.faces]
        if part.smooth:
            normals = corner_normals(part.vertices, part.faces)
        else:
            flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            flat /= np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-300)
            normals = np.repeat(flat[:, None], 3, axis=1)
        shape: dict[str, Any] = {
            "corners": self.add(corners.astype(np.float32)),
            "normals": self.add(normals.astype(np.float32)),
            "box": [part.vertices.min(axis=0).tolist(), part.vertices.max(axis=0).tolist()],
        }
        if part.face_colours is not None:
            opaque = np.full((len(corners), 1), 255, np.uint8)
            painted = np.repeat(np.hstack((part.face_colours, opaque)), 3, axis=0)
            shape["colours"] = self.add(painted.astype(np.uint8))
        return shape


def _digest(part: Solid) -> bytes:
    """The same for solids of the same mesh."""
    whole = hashlib.blake2b(bytes([part.smooth]), digest_size=16)
    for array in (part.vertices, part.faces, part.face_colours):
        if array is not None:
            whole.update(np.ascontiguousarray(array).tobytes())
        whole.update(b"|")
    return whole.digest()
