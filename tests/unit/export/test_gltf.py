"""glTF files: valid by the rules of the format, read by trimesh, and played back by a small player of our own."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

import sennit as sn
from sennit.export.gltf import MOST_SHAPES, shape_basis
from sennit.export.record import record, write
from sennit.export.recording import Recording
from sennit.geometry.rotations import quaternion_rotate, quaternion_to_matrix
from sennit.portrait.meshing import tube_vertices

TYPES = {5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Model:
    """A file, taken apart."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        if path.suffix == ".glb":
            magic, version, length = struct.unpack_from("<4sII", data)
            assert (magic, version, length) == (b"glTF", 2, len(data))
            size, kind = struct.unpack_from("<I4s", data, 12)
            assert kind == b"JSON" and size % 4 == 0
            self.json = json.loads(data[20 : 20 + size])
            rest, kind = struct.unpack_from("<I4s", data, 20 + size)
            assert kind == b"BIN\0" and rest % 4 == 0 and 28 + size + rest == length
            self.bytes = data[28 + size :]
        else:
            self.json = json.loads(data)
            head, _, text = self.json["buffers"][0]["uri"].partition(",")
            assert head == "data:application/octet-stream;base64"
            self.bytes = base64.b64decode(text)

    def array(self, number: int) -> Any:
        accessor = self.json["accessors"][number]
        view = self.json["bufferViews"][accessor["bufferView"]]
        start = view["byteOffset"] + accessor.get("byteOffset", 0)
        width = WIDTHS[accessor["type"]]
        found = np.frombuffer(self.bytes, TYPES[accessor["componentType"]], accessor["count"] * width, start)
        return found.reshape(-1, width).astype(np.float64)

    def node(self, name: str) -> int:
        return next(k for k, node in enumerate(self.json["nodes"]) if node.get("name") == name)

    def pose(self, number: int, frame: int) -> tuple[Any, Any, Any, Any]:
        """Translation, rotation (scalar last), scale and weights of a node at a frame."""
        node = self.json["nodes"][number]
        state = {"translation": np.zeros(3), "rotation": np.array((0, 0, 0, 1.0)), "scale": np.ones(3), "weights": None}
        state |= {key: np.array(node[key]) for key in state if key in node}
        animation = self.json["animations"][0]
        for channel in animation["channels"]:
            if channel["target"]["node"] == number:
                values = self.array(animation["samplers"][channel["sampler"]]["output"])
                if channel["target"]["path"] == "weights":
                    values = values.reshape(len(self.json_times()), -1)
                state[channel["target"]["path"]] = values[frame]
        return state["translation"], state["rotation"], state["scale"], state["weights"]

    def json_times(self) -> Any:
        return self.array(self.json["animations"][0]["samplers"][0]["input"])[:, 0]

    def matrix(self, number: int, frame: int) -> Any:
        move, turn, scale, _ = self.pose(number, frame)
        result = np.eye(4)
        result[:3, :3] = quaternion_to_matrix(np.roll(turn, 1)) * scale
        result[:3, 3] = move
        for parent, node in enumerate(self.json["nodes"]):
            if number in node.get("children", ()):
                return self.matrix(parent, frame) @ result
        return result

    def vertices(self, name: str, frame: int, primitive: int = 0) -> Any:
        """Where the vertices of a node's mesh are at a frame, as the specification says."""
        number = self.node(name)
        node = self.json["nodes"][number]
        entry = self.json["meshes"][node["mesh"]]["primitives"][primitive]
        points = self.array(entry["attributes"]["POSITION"])
        weights = self.pose(number, frame)[3]
        for k, target in enumerate(entry.get("targets", ())):
            points = points + weights[k] * self.array(target["POSITION"])
        points = np.column_stack((points, np.ones(len(points))))
        if "skin" not in node:
            return (points @ self.matrix(number, frame).T)[:, :3]
        skin = self.json["skins"][node["skin"]]
        binds = self.array(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
        moves = np.array([self.matrix(j, frame) for j in skin["joints"]]) @ binds
        joints = self.array(entry["attributes"]["JOINTS_0"]).astype(int)
        blend = np.einsum("vj,vjab->vab", self.array(entry["attributes"]["WEIGHTS_0"]), moves[joints])
        return np.einsum("vab,vb->va", blend, points)[:, :3]


def check(model: Model) -> None:
    """The rules that a validator of glTF files checks, as far as these files can break them."""
    document, size = model.json, len(model.bytes)
    assert document["asset"]["version"] == "2.0"
    assert document["buffers"][0]["byteLength"] <= size < document["buffers"][0]["byteLength"] + 4
    for view in document["bufferViews"]:
        assert (
            view["byteOffset"] % 4 == 0 and 0 < view["byteLength"] and view["byteOffset"] + view["byteLength"] <= size
        )
    used = set()
    for k, accessor in enumerate(document["accessors"]):
        view = document["bufferViews"][accessor["bufferView"]]
        width = WIDTHS[accessor["type"]] * np.dtype(TYPES[accessor["componentType"]]).itemsize
        assert accessor["count"] > 0 and accessor.get("byteOffset", 0) % 4 == 0
        assert accessor.get("byteOffset", 0) + accessor["count"] * width <= view["byteLength"]
        values = model.array(k)
        assert np.isfinite(values).all()
        if "min" in accessor:
            assert np.array_equal(np.float32(accessor["min"]), values.min(axis=0).astype(np.float32))
            assert np.array_equal(np.float32(accessor["max"]), values.max(axis=0).astype(np.float32))
    for mesh in document["meshes"]:
        for entry in mesh["primitives"]:
            attributes = entry["attributes"]
            count = document["accessors"][attributes["POSITION"]]["count"]
            for name, number in attributes.items():
                used.add(number)
                assert document["accessors"][number]["count"] == count
                assert document["bufferViews"][document["accessors"][number]["bufferView"]]["target"] == 34962
                if name == "NORMAL":
                    assert np.allclose(np.linalg.norm(model.array(number), axis=1), 1.0, atol=1e-5)
            assert "min" in document["accessors"][attributes["POSITION"]]
            indices = model.array(entry["indices"])
            assert document["bufferViews"][document["accessors"][entry["indices"]]["bufferView"]]["target"] == 34963
            assert indices.max() < count and len(indices) % 3 == 0
            for target in entry.get("targets", ()):
                assert set(target) <= set(attributes) and "min" in document["accessors"][target["POSITION"]]
                assert all(document["accessors"][number]["count"] == count for number in target.values())
            assert len(mesh.get("weights", ())) == len(entry.get("targets", ()))
            if "JOINTS_0" in attributes:
                weights = model.array(attributes["WEIGHTS_0"])
                assert np.allclose(weights.sum(axis=1), 1.0)
                assert (model.array(attributes["JOINTS_0"])[weights == 0.0] == 0).all()
            assert entry["material"] < len(document["materials"])
    children = [child for node in document["nodes"] for child in node.get("children", ())]
    assert len(children) == len(set(children))  # a strict tree
    assert not set(children) & set(document["scenes"][0]["nodes"])
    for node in document["nodes"]:
        if "rotation" in node:
            assert np.linalg.norm(node["rotation"]) == pytest.approx(1.0, abs=1e-6)
        if "skin" in node:
            skin = document["skins"][node["skin"]]
            assert document["accessors"][skin["inverseBindMatrices"]]["count"] == len(skin["joints"])
            assert np.allclose(model.array(skin["inverseBindMatrices"])[:, 3::4], (0, 0, 0, 1))
    targets = set()
    for animation in document["animations"]:
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            times, output = model.array(sampler["input"])[:, 0], document["accessors"][sampler["output"]]
            assert {"min", "max"} <= set(document["accessors"][sampler["input"]])
            assert times[0] >= 0.0 and (np.diff(times) > 0.0).all()
            path = channel["target"]["path"]
            factor = 1
            if path == "weights":
                factor = len(document["meshes"][document["nodes"][channel["target"]["node"]]["mesh"]]["weights"])
            assert output["count"] == factor * len(times)
            assert output["type"] == {"rotation": "VEC4", "weights": "SCALAR"}.get(path, "VEC3")
            if path == "rotation":
                assert np.allclose(np.linalg.norm(model.array(sampler["output"]), axis=1), 1.0, atol=1e-6)
            key = (channel["target"]["node"], path)
            assert key not in targets
            targets.add(key)


@pytest.fixture(scope="module", params=[".glb", ".gltf"])
def path(request: pytest.FixtureRequest, recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(recording, tmp_path_factory.mktemp("gltf") / f"trial{request.param}")


@pytest.fixture(scope="module")
def model(path: Path) -> Model:
    return Model(path)


def upright(places: Any) -> Any:
    """From z up to y up."""
    return np.stack((places[..., 0], places[..., 2], -places[..., 1]), axis=-1)


def test_the_rules_of_the_format(model: Model) -> None:
    check(model)


def test_trimesh_reads_the_first_frame(path: Path, recording: Recording) -> None:
    scene = trimesh.load(path)
    assert {"rope", "ball", "box", "skin"} <= set(scene.geometry)
    box = scene.to_geometry() if hasattr(scene, "to_geometry") else scene.dump(concatenate=True)
    low, high = box.bounds
    skin = upright(recording.track(4).vertices[0])
    assert low[0] == pytest.approx(skin[:, 0].min(), abs=1e-6)
    assert high[1] == pytest.approx(1.5, abs=0.1)  # the top of the rope: y is up
    loaded = scene.geometry["skin"].vertices
    assert np.allclose(loaded[np.lexsort(loaded.T)], skin[np.lexsort(skin.T)], atol=1e-6)


@pytest.mark.parametrize("frame", [0, 5, 12])
def test_played_back_it_is_the_recording(model: Model, recording: Recording, frame: int) -> None:
    assert np.allclose(model.json_times(), recording.times - recording.times[0], atol=1e-6)
    views = recording.cast.views(recording.frames[frame])
    for k, name in ((0, "rope"), (1, "a flat belt/1")):
        wanted = tube_vertices(recording.cast.parts[k], views[k], 12)
        assert np.allclose(model.vertices(name, frame), upright(wanted), atol=2e-6)
    for k, name in ((2, "ball"), (3, "box")):
        solid = recording.cast.parts[k]
        turned = quaternion_rotate(views[k].quaternion, solid.vertices[solid.faces].reshape(-1, 3))
        assert np.allclose(model.vertices(name, frame), upright(views[k].position + turned), atol=1e-6)
    # the surface is a sum of few shapes, to a ten-thousandth of its size
    assert np.allclose(model.vertices("skin", frame), upright(views[4].vertices), atol=1.01e-4)
    late = model.vertices("rope 2", frame)
    assert (np.ptp(late, axis=0).max() > 0.5) == (frame >= 5)


def test_colours(model: Model) -> None:
    linear = np.array(model.json["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"])
    shown = 255.0 * np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    assert np.allclose(shown, (214, 142, 58, 255), atol=0.01)


def test_shapes_are_as_few_as_the_motion_needs() -> None:
    rng = np.random.default_rng(3)
    modes, start = rng.normal(size=(3, 50, 3)), rng.normal(size=(50, 3))
    amounts = 0.1 * rng.normal(size=(40, 3)) * (1.0, 0.5, 0.2)
    amounts[0] = 0.0
    moved = start + np.einsum("kr,rvx->kvx", amounts, modes)
    shapes, weights = shape_basis(moved)
    assert len(shapes) == 3 and np.abs(weights).max() <= 1.0
    assert np.allclose(start + np.einsum("kr,rvx->kvx", weights, shapes), moved, atol=1e-6)
    shapes, weights = shape_basis(np.repeat(moved[:1], 4, axis=0))
    assert shapes.shape == (0, 50, 3) and weights.shape == (4, 0)
    noise = rng.normal(size=(100, 60, 3))
    assert len(shape_basis(noise)[0]) == MOST_SHAPES


def test_the_tip_of_a_swinging_rope(swing: tuple[sn.Scene, sn.Rod, sn.RigidBody], tmp_path: Path) -> None:
    scene, rope, box = swing
    model = Model(record(scene, 0.2, tmp_path / "swing.glb", dt=5e-3, fps=50))
    check(model)
    joints = model.json["skins"][model.json["nodes"][model.node("rope")]["skin"]]["joints"]
    assert np.allclose(model.matrix(joints[-1], 10)[:3, 3], upright(rope.at(rope.length).position), atol=1e-6)
    assert np.allclose(model.matrix(model.node("box"), 10)[:3, 3], upright(box.position), atol=1e-6)
