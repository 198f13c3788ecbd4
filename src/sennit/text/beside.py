"""Files that a scene file names: tables of places (.csv) and meshes, which lie in its folder."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from sennit.errors import InputError
from sennit.text.tables import read_table
from sennit.validation import FloatArray, quoted, quoted_path

__all__ = ["Beside", "read_mesh", "read_places"]

MESHES = (".stl", ".obj", ".ply", ".off")
PLACES = ("x_m", "y_m", "z_m")
LARGEST = 64 << 20


class Beside:
    """The folder of a scene file. A file that anybody may have written names nothing outside of it."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    @staticmethod
    def knows(name: str) -> bool:
        """Whether a text is the name of a file that can be read."""
        return Path(name.replace("\0", "")).suffix.lower() in (".csv", *MESHES)

    def content(self, name: str, what: str) -> Any:
        """The places (k, 3), m, in a table, or a mesh."""
        if self._folder is None:
            raise InputError(f"{what} names the file {quoted(name)}, and a text has no folder: read it from a file")
        if "\0" in name or "\\" in name or Path(name).is_absolute() or ".." in Path(name).parts:
            raise InputError(f"{what} must name a file beside this one, or in a folder beside it, got {quoted(name)}")
        path = self._folder / name
        for part in (path, *path.parents):
            if part == self._folder:
                break
            if part.is_symlink():
                raise InputError(f"{what} is a link, {quoted(name)}: put the file itself there")
        return read_places(path) if path.suffix.lower() == ".csv" else read_mesh(path)


def read_places(path: Path) -> FloatArray:
    """The places (k, 3), m, of a table with the columns x_m, y_m, z_m."""
    lines = read_table(path, PLACES)
    return np.array([[line.number_of(column) for column in PLACES] for line in lines])


def read_mesh(path: Path) -> Any:
    """A mesh in metres, its vertices in their order; vertices of an .stl that lie on each other are one."""
    import trimesh

    shown = quoted_path(path)
    if path.is_symlink() or not path.is_file():
        raise InputError(f"there is no file {shown}")
    data = path.read_bytes()
    if len(data) > LARGEST:
        raise InputError(f"{shown} has more than {LARGEST >> 20} MiB")
    try:
        kind = path.suffix.lower()[1:]
        mesh: Any = trimesh.load(io.BytesIO(data), file_type=kind, force="mesh", process=kind == "stl")
        if not len(mesh.faces) or not np.isfinite(mesh.vertices).all():
            raise ValueError("it has no triangles")
    except Exception as problem:  # whatever readers of damaged files raise
        raise InputError(f"{shown} is no mesh that can be read: {' '.join(str(problem).split())[:120]}") from None
    return mesh
