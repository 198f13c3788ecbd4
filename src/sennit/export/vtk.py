"""Recordings for ParaView: a series of .vtu files with an index, or one .xdmf file.

Each frame is one unstructured grid in metres. Tubes are their centrelines, as lines: ParaView's filter "Tube" makes
them round (scalars ``radius``, vary radius "by absolute scalar"). Solids and surfaces are triangles. Numbers at points:
``radius`` (m; NaN off tubes), ``d1`` (the sections' first director; zero off tubes) and every field that a part
carries, such as ``tension`` (N; NaN where a part has no such field). Numbers of cells: ``part``, its number in
the cast, and ``role``, 0 for bodies, 1 for the marks of constraints, 2 for decor. Hidden parts have no cells.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from sennit.errors import InputError
from sennit.export.files import replacing, replacing_folder
from sennit.export.recording import Recording
from sennit.portrait.parts import Solid, Tube
from sennit.validation import FloatArray

__all__ = ["Grid", "write_vtu", "write_xdmf"]

_ROLES = ("body", "tie", "decor", "obstacle")


class Grid:
    """What stays the same of all frames: cells, and which points belong to which part."""

    def __init__(self, recording: Recording) -> None:
        self._cast = recording.cast
        self.fields = sorted({name for part in self._cast.parts for name in getattr(part, "fields", ())})
        lines, line_parts, triangles, triangle_parts = [], [], [], []
        self.spans: list[slice] = []
        start = 0
        for k, part in enumerate(self._cast.parts):
            count = len(part.vertices) if isinstance(part, Solid) else part.count
            self.spans.append(slice(start, start + count))
            if isinstance(part, Tube):
                ends = start + np.arange(count - 1)
                lines.append(np.column_stack((ends, ends + 1)))
                line_parts.append(np.full(count - 1, k))
            else:
                triangles.append(start + part.faces)
                triangle_parts.append(np.full(len(part.faces), k))
            start += count
        self.size = start
        none = np.empty((0, 2), dtype=np.int64), np.empty((0, 3), dtype=np.int64), np.empty(0, dtype=np.int64)
        self.lines: NDArray[np.int64] = np.concatenate([none[0], *lines])
        self.triangles: NDArray[np.int64] = np.concatenate([none[1], *triangles])
        self.line_parts: NDArray[np.int64] = np.concatenate([none[2], *line_parts])
        self.triangle_parts: NDArray[np.int64] = np.concatenate([none[2], *triangle_parts])
        self.roles = np.array([_ROLES.index(part.role) for part in self._cast.parts], dtype=np.int64)

    def points(self, frame: FloatArray) -> tuple[FloatArray, dict[str, FloatArray], NDArray[np.bool_]]:
        """Places (size, 3), numbers at them by name, and which parts are shown, of one frame."""
        places, directors = np.zeros((self.size, 3)), np.zeros((self.size, 3))
        numbers = {name: np.full(self.size, np.nan) for name in ("radius", *self.fields)}
        shown = np.zeros(len(self.spans), dtype=bool)
        for k, (part, view) in enumerate(zip(self._cast.parts, self._cast.views(frame), strict=True)):
            span = self.spans[k]
            shown[k] = view.shown[0] > 0.5
            places[span] = part.places(view)
            if isinstance(part, Tube):
                directors[span] = view.directors
                numbers["radius"][span] = np.sqrt(part.half[0] * part.half[1]) * (
                    1.0 if part.widths is None else part.widths
                )
            for name, values in getattr(view, "fields", {}).items():
                numbers[name][span] = values
        return places, {**numbers, "d1": directors}, shown

    def mixed(self, shown: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The cells of the parts that are shown as XDMF lists them, and each cell's part."""
        line, triangle = shown[self.line_parts], shown[self.triangle_parts]
        # XDMF's numbers for kinds of cells: 2 polyline, whose number of points follows, 4 triangle.
        listed = (
            np.insert(self.lines[line], [0, 0], 2, axis=1).ravel(),
            np.insert(self.triangles[triangle], 0, 4, axis=1).ravel(),
        )
        return np.concatenate(listed), np.concatenate((self.line_parts[line], self.triangle_parts[triangle]))


def write_vtu(recording: Recording, path: Path, each: Callable[[int, int], object] | None = None) -> Path:
    """Write ``name_vtu/name_0000.vtu``, … and the index ``name.pvd`` beside `path`, name.vtu; returns the index."""
    import meshio

    check_place(path)
    index, folder = path.with_suffix(".pvd"), path.with_name(f"{path.stem}_vtu")
    grid = Grid(recording)
    digits = max(4, len(str(len(recording) - 1)))
    rows = []
    with replacing(index) as partial, replacing_folder(folder) as frames:
        for k, (time, frame) in enumerate(zip(recording.times, recording.frames, strict=True)):
            places, numbers, shown = grid.points(frame)
            cells: list[Any] = []
            labels: dict[str, list[Any]] = {"part": [], "role": []}
            for kind, all_cells, parts in (
                ("line", grid.lines, grid.line_parts),
                ("triangle", grid.triangles, grid.triangle_parts),
            ):
                kept = shown[parts]
                if kept.any():
                    cells.append((kind, all_cells[kept]))
                    labels["part"].append(parts[kept])
                    labels["role"].append(grid.roles[parts[kept]])
            name = f"{path.stem}_{k:0{digits}d}.vtu"
            mesh = meshio.Mesh(places, cells, point_data=numbers, cell_data=labels if cells else None)
            meshio.write(frames / name, mesh, file_format="vtu", binary=True)
            place = quoteattr(f"{folder.name}/{name}")
            rows.append(f'    <DataSet timestep="{float(time)!r}" group="" part="0" file={place}/>')
            if each is not None:
                each(k + 1, len(recording))
        lines = '<?xml version="1.0"?>', '<VTKFile type="Collection" version="0.1">', "  <Collection>", *rows
        partial.write_text("\n".join([*lines, "  </Collection>", "</VTKFile>", ""]), encoding="utf-8")
    return index


def check_place(path: Path) -> None:
    """Whether a series can be written there: a folder with anything else in it than an earlier one is not replaced."""
    index, folder = path.with_suffix(".pvd"), path.with_name(f"{path.stem}_vtu")
    if index.is_dir():
        raise InputError(f"{str(index)!r} is a folder, and in the way: choose another name")
    if not folder.exists():
        return
    ours = re.compile(re.escape(path.stem) + r"_\d{4,}\.vtu")
    if not folder.is_dir() or any(not ours.fullmatch(item.name) for item in folder.iterdir()):
        raise InputError(f"{str(folder)!r} is in the way and holds other things than a series: choose another name")


def write_xdmf(recording: Recording, path: Path, each: Callable[[int, int], object] | None = None) -> None:
    """Write one file, all numbers in it as text: points and numbers at each time, cells when they change."""
    grid = Grid(recording)
    before: NDArray[np.bool_] | None = None
    written_in = 0
    labels: dict[str, Any] = {}
    with path.open("w", encoding="utf-8") as file:
        file.write('<?xml version="1.0"?>\n<Xdmf Version="3.0" xmlns:xi="')
        file.write("http" + "://www.w3.org/2001/XInclude")  # the name of a namespace, which nothing fetches
        file.write('"><Domain>\n<Grid Name="recording" GridType="Collection" CollectionType="Temporal">\n')
        for k, (time, frame) in enumerate(zip(recording.times, recording.frames, strict=True)):
            places, numbers, shown = grid.points(frame)
            file.write(f'<Grid Name="frame {k}" GridType="Uniform">\n<Time Value="{float(time)!r}"/>\n')
            if before is None or (shown != before).any():
                before, written_in = shown, k
                mixed, parts = grid.mixed(shown)
                labels = {"part": parts, "role": grid.roles[parts]}
                file.write(
                    f'<Topology TopologyType="Mixed" NumberOfElements="{len(parts)}">{_item(mixed)}</Topology>\n'
                )
            else:
                same = f'xpointer(//Grid[@Name="recording"]/Grid[{written_in + 1}]/*[self::Topology])'
                file.write(f"<xi:include xpointer={quoteattr(same)}/>\n")
            file.write(f'<Geometry GeometryType="XYZ">{_item(places)}</Geometry>\n')
            for name, values in numbers.items():
                file.write(_attribute(name, values, "Node"))
            for name, values in labels.items():
                file.write(_attribute(name, values, "Cell"))
            file.write("</Grid>\n")
            if each is not None:
                each(k + 1, len(recording))
        file.write("</Grid></Domain></Xdmf>\n")


def _attribute(name: str, values: NDArray[Any], centre: str) -> str:
    kind = "Vector" if values.ndim == 2 else "Scalar"
    start = f'<Attribute Name={quoteattr(name)} AttributeType="{kind}" Center="{centre}">'
    return f"{start}{_item(values)}</Attribute>\n"


def _item(values: NDArray[Any]) -> str:
    """Numbers as text: eight digits, a hundredth of a micrometre in a metre."""
    whole = values.dtype.kind == "i"
    kind, precision = ("Int", 8) if whole else ("Float", 8)
    shape = " ".join(map(str, values.shape))
    written = np.char.mod("%d" if whole else "%.8g", values.ravel())
    text = " ".join(written.tolist())
    return f'<DataItem DataType="{kind}" Dimensions="{shape}" Format="XML" Precision="{precision}">{text}</DataItem>'
