"""Recordings as animated glTF 2.0 models: .glb, or .gltf with all data inside. Metres; y is up, as glTF demands.

Solids move by the translation and rotation of their node. Tubes are skins with a joint at each station, which are exact
at the stations. Surfaces have morph targets: the fewest shapes whose sums are the recorded ones to `SHAPE_TOLERANCE` of
the surface's size (`MOST_SHAPES` at most). Parts that are hidden for a time are scaled to nothing then.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.export.recording import Recording
from sennit.geometry.rotations import matrix_to_quaternion, quaternion_product, quaternion_to_matrix
from sennit.portrait.meshing import (
    corner_normals,
    stripe_faces,
    stripe_stations,
    stripe_vertices,
    tangents,
    tube_faces,
    tube_normals,
    tube_stations,
    tube_vertices,
    vertex_normals,
)
from sennit.portrait.parts import Colour, Part, Solid, Surface, Tube, TubeView
from sennit.validation import FloatArray

__all__ = ["MOST_SHAPES", "SHAPE_TOLERANCE", "write_gltf"]

SHAPE_TOLERANCE = 1e-4
MOST_SHAPES = 64

_UPRIGHT = np.array((np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0))  # turns z up into y up
_TURN = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)))
_FLOAT, _SHORT, _INT = 5126, 5123, 5125  # names of glTF for types of numbers
_KINDS = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
_SIDES = 12


def write_gltf(recording: Recording, path: Path, each: Callable[[int, int], object] | None = None) -> None:
    """Write a recording to `path`, .gltf or .glb."""
    model = _Model(recording)
    for k, (name, part, track) in enumerate(recording.tracks()):
        model.add(name, part, track)
        if each is not None:
            each(k + 1, len(recording.cast.parts))
    path.write_bytes(model.text() if path.suffix.lower() == ".gltf" else model.binary())


class _Model:
    """A glTF document while it is made: lists that refer to each other by numbers, and the bytes."""

    def __init__(self, recording: Recording) -> None:
        self._lists: dict[str, list[Any]] = {
            name: [] for name in ("nodes", "meshes", "materials", "skins", "accessors", "bufferViews")
        }
        self._title = recording.title
        self._roots: list[int] = []
        self._bytes = bytearray()
        self._motion = bytearray()
        self._motion_accessors: list[Any] = []
        self._channels: list[Any] = []
        self._samplers: list[Any] = []
        self._materials: dict[Any, int] = {}
        self._times = recording.times - recording.times[0]
        self._clock: int | None = None

    # ------------------------------------------------------------------------------------------------------- parts

    def add(self, name: str, part: Any, track: Any) -> None:
        """Add a part and how it moves."""
        if isinstance(part, Solid):
            self._solid(name, part, track)
        elif isinstance(part, Surface):
            self._surface(name, part, track)
        else:
            self._tube(name, part, track)

    def _solid(self, name: str, part: Solid, track: Any) -> None:
        points = part.vertices[part.faces].reshape(-1, 3)
        if part.smooth:
            normals = corner_normals(part.vertices, part.faces).reshape(-1, 3)
        else:
            a, b, c = (part.vertices[part.faces[:, k]] for k in range(3))
            normals = np.repeat(_unit(np.cross(b - a, c - a)), 3, axis=0)
        attributes = self._attributes(points, normals)
        colour: Colour | None = part.colour
        if part.face_colours is not None:
            light = np.repeat(_linear(part.face_colours), 3, axis=0)
            attributes["COLOR_0"] = self._data(np.column_stack((light, np.ones(len(light)))), _FLOAT, 34962)
            colour = None
        mesh = self._mesh(name, [(attributes, np.arange(len(points)), self._material(colour, part), None)])
        node = self._new("nodes", {"name": name, "mesh": mesh, "extras": {"role": part.role}})
        self._roots.append(node)
        self._move(node, track.position @ _TURN.T, quaternion_product(_UPRIGHT, track.quaternion))
        self._show(node, track.shown)

    def _surface(self, name: str, part: Surface, track: Any) -> None:
        base = track.vertices[0] @ _TURN.T
        shapes, weights = shape_basis(track.vertices)
        normals = vertex_normals(base, part.faces)
        targets = []
        if len(shapes):
            changes = np.stack([vertex_normals(v, part.faces) @ _TURN.T - normals for v in track.vertices])
            turns = np.linalg.lstsq(weights, changes.reshape(len(changes), -1), rcond=None)[0].reshape(shapes.shape)
            for shape, turn in zip(shapes, turns, strict=True):
                targets.append(self._attributes(shape @ _TURN.T, turn, unit=False))
        primitive = (self._attributes(base, normals), part.faces, self._material(part.colour, part), targets)
        mesh = self._mesh(name, [primitive])
        node = self._new("nodes", {"name": name, "mesh": mesh, "extras": {"role": part.role}})
        self._roots.append(node)
        if len(shapes):
            self._lists["meshes"][mesh]["weights"] = [0.0] * len(shapes)
            self._channel(node, "weights", weights)
        self._show(node, track.shown)

    def _tube(self, name: str, part: Tube, track: TubeView) -> None:
        """A mesh as it is in the first frame, whose rings are moved by joints."""
        first = TubeView(track.shown[:1], track.centres[0], track.directors[0], {})
        pieces = [(tube_vertices(part, first, _SIDES), tube_normals(part, first, _SIDES), tube_faces(part, _SIDES))]
        belongs = [tube_stations(part, _SIDES)]
        colours = [part.colour]
        if part.stripe is not None:
            raised, faces = stripe_vertices(part, first), stripe_faces(part)
            pieces.append((raised, vertex_normals(raised, faces), faces))
            belongs.append(stripe_stations(part))
            colours.append(part.stripe)
        primitives = []
        for (points, normals, faces), stations, colour in zip(pieces, belongs, colours, strict=True):
            attributes = self._attributes(points @ _TURN.T, normals @ _TURN.T)
            joints, weights = np.zeros((len(points), 4)), np.zeros((len(points), 4))
            joints[:, 0], weights[:, 0] = stations, 1.0
            attributes["JOINTS_0"] = self._data(joints, _SHORT, 34962)
            attributes["WEIGHTS_0"] = self._data(weights, _FLOAT, 34962)
            primitives.append((attributes, faces, self._material(colour, part), None))
        mesh = self._mesh(name, primitives)
        places, turns = (
            track.centres @ _TURN.T,
            quaternion_product(_UPRIGHT, matrix_to_quaternion(_frames(part, track))),
        )
        joints_list = []
        for k in range(part.count):
            joint = self._new("nodes", {"name": f"{name}: station {k}"})
            joints_list.append(joint)
            self._move(joint, places[:, k], turns[:, k])
        holder = self._new("nodes", {"name": f"{name}: stations", "children": joints_list})
        bind = self._data(_inverse_poses(places[0], turns[0]), _FLOAT, None)
        skin = self._new("skins", {"joints": joints_list, "skeleton": holder, "inverseBindMatrices": bind})
        node = self._new("nodes", {"name": name, "mesh": mesh, "skin": skin, "extras": {"role": part.role}})
        self._roots += [holder, node]
        self._show(holder, track.shown)

    # ------------------------------------------------------------------------------------------------------ motion

    def _move(self, node: int, places: FloatArray, turns: FloatArray) -> None:
        """Where a node is at each frame: (k, 3), and quaternions (k, 4), scalar first."""
        flips = np.where(np.einsum("ki,ki->k", turns[1:], turns[:-1]) < 0.0, -1.0, 1.0)
        turns = np.roll(_unit(turns) * np.cumprod(np.concatenate(([1.0], flips)))[:, None], -1, axis=1)
        self._lists["nodes"][node] |= {"translation": _plain(places[0]), "rotation": _plain(turns[0])}
        for path, values in (("translation", places), ("rotation", turns)):
            if (values != values[0]).any():
                self._channel(node, path, values)

    def _show(self, node: int, shown: FloatArray) -> None:
        seen = shown > 0.5
        if not seen.all():
            self._lists["nodes"][node]["scale"] = [float(seen[0])] * 3
            self._channel(node, "scale", np.repeat(seen.astype(np.float64)[:, None], 3, axis=1), "STEP")

    def _channel(self, node: int, path: str, values: FloatArray, interpolation: str = "LINEAR") -> None:
        if len(self._times) < 2:
            return
        if self._clock is None:
            self._clock = self._data(self._times, _FLOAT, None)
        flat = np.ascontiguousarray(values if path != "weights" else values.reshape(-1), dtype="<f4")
        kind = _KINDS[1 if flat.ndim == 1 else flat.shape[1]]
        accessor = {"byteOffset": len(self._motion), "componentType": _FLOAT, "count": len(flat), "type": kind}
        self._motion += flat.tobytes()
        self._samplers.append({"input": self._clock, "output": self._new("accessors", accessor),
                               "interpolation": interpolation})  # fmt: skip
        self._motion_accessors.append(accessor)
        self._channels.append({"sampler": len(self._samplers) - 1, "target": {"node": node, "path": path}})

    # ---------------------------------------------------------------------------------------------- building blocks

    def _new(self, name: str, entry: Any) -> int:
        self._lists[name].append(entry)
        return len(self._lists[name]) - 1

    def _attributes(self, points: FloatArray, normals: FloatArray, unit: bool = True) -> dict[str, int]:
        if unit:  # faces without an area have none, and glTF wants one
            lost = np.linalg.norm(normals, axis=1) < 0.5
            normals = np.where(lost[:, None], (0.0, 1.0, 0.0), normals)
        return {"POSITION": self._data(points, _FLOAT, 34962), "NORMAL": self._data(normals, _FLOAT, 34962)}

    def _mesh(self, name: str, primitives: list[Any]) -> int:
        listed = []
        for attributes, faces, material, targets in primitives:
            entry = {"attributes": attributes, "material": material}
            entry["indices"] = self._data(np.asarray(faces).ravel(), _INT, 34963)
            if targets:
                entry["targets"] = targets
            listed.append(entry)
        return self._new("meshes", {"name": name, "primitives": listed})

    def _material(self, colour: Colour | None, part: Part) -> int:
        """One for each colour and finish; None: white, as vertices have colours."""
        key = (colour, part.opacity, part.rough, part.metal)
        if key not in self._materials:
            light = [1.0, 1.0, 1.0] if colour is None else _plain(_linear(np.array(colour)))
            surface = {"baseColorFactor": [*light, part.opacity], "metallicFactor": part.metal}
            surface["roughnessFactor"] = part.rough
            entry: dict[str, Any] = {"pbrMetallicRoughness": surface, "doubleSided": True}
            if part.opacity < 1.0:
                entry["alphaMode"] = "BLEND"
            self._materials[key] = self._new("materials", entry)
        return self._materials[key]

    def _data(self, values: NDArray[Any], component: int, target: int | None) -> int:
        """An accessor for an array of its own view of the bytes."""
        kind = {_FLOAT: "<f4", _SHORT: "<u2", _INT: "<u4"}[component]
        flat = np.ascontiguousarray(values, dtype=kind)
        width = 1 if flat.ndim == 1 else int(np.prod(flat.shape[1:]))
        rows = flat.reshape(len(flat), width)
        self._bytes += b"\0" * (-len(self._bytes) % 4)
        view = {"buffer": 0, "byteOffset": len(self._bytes), "byteLength": flat.nbytes}
        if target is not None:
            view["target"] = target
        self._bytes += flat.tobytes()
        accessor: dict[str, Any] = {"bufferView": self._new("bufferViews", view), "componentType": component,
                                    "count": len(flat), "type": _KINDS[width]}  # fmt: skip
        if component == _FLOAT and width != 16:
            accessor |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        return self._new("accessors", accessor)

    # ------------------------------------------------------------------------------------------------------- files

    def _document(self) -> tuple[dict[str, Any], bytes]:
        if self._motion:
            self._bytes += b"\0" * (-len(self._bytes) % 4)
            view = {"buffer": 0, "byteOffset": len(self._bytes), "byteLength": len(self._motion)}
            number = self._new("bufferViews", view)
            for accessor in self._motion_accessors:
                accessor["bufferView"] = number
            self._bytes += self._motion
            self._motion = bytearray()
        self._bytes += b"\0" * (-len(self._bytes) % 4)
        document: dict[str, Any] = {"asset": {"version": "2.0", "generator": "sennit"}, "scene": 0}
        document["scenes"] = [{"name": self._title, **({"nodes": self._roots} if self._roots else {})}]
        document |= {name: entries for name, entries in self._lists.items() if entries}
        if self._channels:
            document["animations"] = [{"name": "recording", "channels": self._channels, "samplers": self._samplers}]
        if self._bytes:
            document["buffers"] = [{"byteLength": len(self._bytes)}]
        return document, bytes(self._bytes)

    def text(self) -> bytes:
        """The .gltf file, with the bytes inside."""
        document, data = self._document()
        if data:
            uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
            document["buffers"][0]["uri"] = uri
        return json.dumps(document, allow_nan=False).encode()

    def binary(self) -> bytes:
        """The .glb file: a header, the JSON and the bytes."""
        document, data = self._document()
        text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<I4s", len(text), b"JSON") + text
        if data:
            chunks += struct.pack("<I4s", len(data), b"BIN\0") + data
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def shape_basis(vertices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Shapes (r, v, 3) and weights (k, r), 1 at most, whose sums are how `vertices` (k, v, 3) differ from the first.

    From the singular value decomposition; r is the smallest with errors below `SHAPE_TOLERANCE` of the size, and below
    a hundredth of the largest difference.
    """
    changes = (vertices - vertices[0]).reshape(len(vertices), -1)
    largest = float(np.abs(changes).max())
    if largest == 0.0:
        return np.zeros((0, *vertices.shape[1:])), np.zeros((len(vertices), 0))
    tolerance = min(SHAPE_TOLERANCE * float(np.ptp(vertices[0], axis=0).max()), 0.01 * largest)
    # Squared, the matrix is as small as the number of frames; what that loses is far below the tolerance.
    values, left = np.linalg.eigh(changes @ changes.T / largest**2)
    left = left[:, ::-1][:, : min(MOST_SHAPES, int((values > 1e-14 * values[-1]).sum()))]
    shapes = left.T @ changes
    rest, count = changes.copy(), 0
    while count < len(shapes) and np.abs(rest).max() > tolerance:
        rest -= np.outer(left[:, count], shapes[count])
        count += 1
    weights, shapes = left[:, :count], shapes[:count]
    sizes = np.abs(weights).max(axis=0)
    return (shapes * sizes[:, None]).reshape(count, *vertices.shape[1:]), weights / sizes


def _frames(part: Tube, track: TubeView) -> FloatArray:
    """Rotation matrices (k, n, 3, 3) with columns d1, d2, d3 at each station and frame."""
    along = np.stack([tangents(centres, part.closed) for centres in track.centres])
    d1 = _unit(track.directors)
    d2 = np.cross(along, d1)
    size = np.linalg.norm(d2, axis=-1, keepdims=True)
    other = np.cross(np.roll(d1, 1, axis=-1) + np.array((0.0, 0.0, 1e-3)), d1)  # for a director along the line
    d2 = _unit(np.where(size > 1e-9, d2, other))
    return np.stack((d1, d2, np.cross(d1, d2)), axis=-1)


def _inverse_poses(places: FloatArray, turns: FloatArray) -> FloatArray:
    """Matrices (n, 16), column after column, that undo the poses: what glTF calls inverse bind matrices."""
    inverse = np.zeros((len(places), 4, 4))
    rotations = quaternion_to_matrix(turns).transpose(0, 2, 1)
    inverse[:, :3, :3] = rotations
    inverse[:, :3, 3] = -np.einsum("nij,nj->ni", rotations, places)
    inverse[:, 3, 3] = 1.0
    return inverse.transpose(0, 2, 1).reshape(-1, 16)


def _unit(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-300))


def _linear(colours: NDArray[Any]) -> FloatArray:
    """Colours 0 to 255, as screens show them, as glTF wants them: proportional to light, 0 to 1."""
    c = np.asarray(colours, dtype=np.float64) / 255.0
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def _plain(values: FloatArray) -> list[float]:
    numbers: list[float] = values.tolist()
    return numbers
