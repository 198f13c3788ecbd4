"""What bodies look like at the end of a recording as triangles, for CAD and 3D printing: .stl and .obj.

Rods and cables are closed tubes of `SIDES` corners, rigid bodies and zones the meshes that they are drawn with; marks
of constraints, obstacles and decor are left out. STL files are in millimetres, as programs that read them take for
granted; OBJ files in metres. z is up in both.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sennit.errors import InputError
from sennit.export.recording import Recording
from sennit.portrait.meshing import sealed_tube
from sennit.portrait.parts import Tube
from sennit.validation import FloatArray

__all__ = ["SIDES", "last_meshes", "write_obj", "write_stl"]

SIDES = 32
"""Corners of a round tube: its volume is 0.64 % less than that of the round one."""
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("unused", "<u2")])


def last_meshes(recording: Recording) -> Iterator[tuple[str, FloatArray, NDArray[np.int64]]]:
    """Name, vertices (v, 3), m, and faces (f, 3) of all things that are shown in the last frame."""
    names, views = recording.names, recording.cast.views(recording.frames[-1])
    for k in recording.things:
        part, view = recording.cast.parts[k], views[k]
        if view.shown[0] <= 0.5:
            continue
        yield names[k], *(sealed_tube(part, view, SIDES) if isinstance(part, Tube) else (part.places(view), part.faces))


def write_stl(recording: Recording, path: Path, each: Callable[[int, int], object] | None = None) -> None:
    """Write a binary .stl file of the last frame, in millimetres."""
    corners = [vertices[faces] for _, vertices, faces in last_meshes(recording)]
    places = 1e3 * np.concatenate([np.zeros((0, 3, 3)), *corners])
    if places.size and not np.abs(places).max() < np.finfo(np.float32).max:
        raise InputError("the scene is too large for an .stl file, whose numbers are of single precision")
    normals = np.cross(places[:, 1] - places[:, 0], places[:, 2] - places[:, 0])
    sizes = np.linalg.norm(normals, axis=1, keepdims=True)
    table = np.zeros(len(places), _TRIANGLE)
    table["corners"], table["normal"] = places, normals / np.where(sizes > 0.0, sizes, 1.0)
    # A header that begins with "solid" would be taken for that of a text file.
    header = b"binary STL of sennit, in millimetres".ljust(80)
    path.write_bytes(header + struct.pack("<I", len(table)) + table.tobytes())
    if each is not None:
        each(1, 1)


def write_obj(recording: Recording, path: Path, each: Callable[[int, int], object] | None = None) -> None:
    """Write an .obj file of the last frame, in metres, with one object for each thing."""
    first = 1
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"# {' '.join(recording.title.split())}: sennit, in metres, z up\n")
        for name, vertices, faces in last_meshes(recording):
            file.write(f"o {'_'.join(name.split())}\n")
            file.writelines(f"v {x!r} {y!r} {z!r}\n" for x, y, z in vertices.tolist())
            file.writelines(f"f {a} {b} {c}\n" for a, b, c in (faces + first).tolist())
            first += len(vertices)
    if each is not None:
        each(1, 1)
