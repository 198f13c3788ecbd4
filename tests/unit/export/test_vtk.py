"""Files for ParaView, read back with meshio."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import sennit as sn
from sennit.errors import InputError
from sennit.export.record import record, write
from sennit.export.recording import Recording
from sennit.geometry.rotations import quaternion_rotate

meshio = pytest.importorskip("meshio", reason="meshio is not installed: pip install 'sennit[export]'")
from meshio.xdmf import TimeSeriesReader  # noqa: E402

SIZES = (21, 21, 8, 8, 36, 3)
STARTS = np.concatenate(([0], np.cumsum(SIZES)))


def expected(recording: Recording, frame: int) -> np.ndarray:
    places = []
    for k in range(6):
        track = recording.track(k)
        if k in (2, 3):
            turned = quaternion_rotate(track.quaternion[frame], recording.cast.parts[k].vertices)
            places.append(track.position[frame] + turned)
        else:
            places.append((track.vertices if k == 4 else track.centres)[frame])
    return np.concatenate(places)


def datasets(index: Path) -> list[tuple[float, Path]]:
    root = ElementTree.parse(index).getroot()
    assert root.get("type") == "Collection"
    return [(float(row.get("timestep", "")), index.parent / row.get("file", "")) for row in root.iter("DataSet")]


def test_the_series(recording: Recording, tmp_path: Path) -> None:
    index = write(recording, tmp_path / "trial.vtu")
    assert index == tmp_path / "trial.pvd"
    rows = datasets(index)
    assert np.allclose([time for time, _ in rows], recording.times, rtol=0, atol=0)
    assert [path.name for _, path in rows] == [f"trial_{k:04d}.vtu" for k in range(13)]
    for k in (0, 4, 5, 12):
        mesh = meshio.read(rows[k][1])
        assert np.allclose(mesh.points, expected(recording, k), atol=1e-12)
        tension = mesh.point_data["tension"]
        assert np.array_equal(tension[:21], recording.track(0).fields["tension"][k])
        assert np.isnan(tension[21:]).all()
        assert np.allclose(mesh.point_data["radius"][:21], 0.02) and np.isnan(mesh.point_data["radius"][42:94]).all()
        assert np.array_equal(mesh.point_data["d1"][:21], recording.track(0).directors[k])
        lines, triangles = mesh.cells
        assert (lines.type, triangles.type) == ("line", "triangle")
        assert len(lines.data) == 40 + (2 if k >= 5 else 0)  # the last part appears late
        assert len(triangles.data) == 12 + 12 + 50
        parts = mesh.cell_data["part"]
        for cells, part in zip((lines.data, triangles.data), parts, strict=True):
            assert (np.searchsorted(STARTS, cells, side="right") - 1 == part[:, None]).all()
        assert set(mesh.cell_data["role"][0]) == ({0, 1} if k >= 5 else {0})


def test_xdmf_has_all_in_one_file(recording: Recording, tmp_path: Path) -> None:
    path = write(recording, tmp_path / "trial.xdmf")
    assert [item.name for item in tmp_path.iterdir()] == ["trial.xdmf"]
    with TimeSeriesReader(path) as reader:
        assert reader.num_steps == 13
        for k in (0, 5):  # where cells are written: they change when the last part appears
            reader.mesh_grid = reader.collection[k]
            points, cells = reader.read_points_cells()
            assert np.allclose(points, expected(recording, k), atol=1e-7)
            assert [(block.type, len(block.data)) for block in cells] == [
                ("line", 40 if k < 5 else 42),
                ("triangle", 74),
            ]
        for k in range(5, 13):
            time, fields, labels = reader.read_data(k)
            assert time == recording.times[k]
            assert np.allclose(fields["tension"][:21], recording.track(0).fields["tension"][k], rtol=1e-7)
            assert np.isnan(fields["tension"][21:]).all()
            assert set(labels["part"][0]) == {0, 1, 5}
            reader.mesh_grid = reader.collection[k]
            points, _ = reader.read_points_cells()
            assert np.allclose(points, expected(recording, k), atol=1e-7)
            reader.mesh_grid = reader.collection[5]
            reader.read_points_cells()


def test_other_things_in_the_folder_are_left_alone(recording: Recording, tmp_path: Path) -> None:
    folder = tmp_path / "a_vtu"
    folder.mkdir()
    (folder / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="a_vtu.* is in the way"):
        write(recording, tmp_path / "a.vtu")
    assert [item.name for item in folder.iterdir()] == ["thesis.txt"] and not (tmp_path / "a.pvd").exists()


def test_a_shorter_series_leaves_nothing_of_a_longer_one(recording: Recording, tmp_path: Path) -> None:
    write(recording, tmp_path / "a.vtu")
    short = Recording(recording.cast, recording.times[:3], recording.frames[:3], recording.fps)
    index = write(short, tmp_path / "a.pvd")
    assert len(list((tmp_path / "a_vtu").iterdir())) == 3 == len(datasets(index))
    assert {item.name for item in tmp_path.iterdir()} == {"a.pvd", "a_vtu"}


def test_the_tip_of_a_swinging_rope(swing: tuple[sn.Scene, sn.Rod, sn.RigidBody], tmp_path: Path) -> None:
    scene, rope, _ = swing
    rows = datasets(record(scene, 0.1, tmp_path / "swing.vtu", dt=5e-3, fps=50))
    mesh = meshio.read(rows[-1][1])
    assert rows[-1][0] == pytest.approx(0.1)
    mine = mesh.cells[0].data[mesh.cell_data["part"][0] == 0]
    assert np.allclose(mesh.points[mine[-1, 1]], rope.at(rope.length).position, atol=1e-12)
    assert np.allclose(mesh.point_data["tension"][mine[0, 0]], rope.tensions(2)[0])


def test_what_is_in_the_way_is_said_before_anything_moves(tmp_path: Path) -> None:
    scene = sn.Scene()
    scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    (tmp_path / "a.pvd").mkdir()
    (tmp_path / "b_vtu").mkdir()
    mine = tmp_path / "b_vtu" / "b_other.vtu"
    mine.write_text("mine")
    for name in ("a.vtu", "b.vtu"):
        with pytest.raises(sn.InputError, match="in the way"):
            sn.record(scene, 0.05, tmp_path / name, dt=0.01, fps=30)
    assert scene.time == 0.0 and mine.read_text() == "mine"
