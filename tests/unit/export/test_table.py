"""Recordings as .csv tables, read back by the csv module and compared with what the scene says."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

import sennit as sn
from sennit.export.record import record
from sennit.export.recording import Recording, record_frames
from sennit.live.scene_play import ScenePlay


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def numbers(row: dict[str, str], *names: str) -> list[float]:
    return [float(row[name]) for name in names]


PLACE = ("x_m", "y_m", "z_m")
FORCE = ("force_x_N", "force_y_N", "force_z_N")
TORQUE = ("torque_x_Nm", "torque_y_Nm", "torque_z_Nm")


def test_places_tensions_and_forces_have_the_bits_of_the_scene(swing, tmp_path: Path) -> None:
    scene, rope, box = swing
    tie = scene.constraints[0]
    push = scene.add(sn.Load(box.at((0.05, 0, 0)), (0, 0.1, 0), (0, 0, 0.2), follower=True, name="push"))
    rows = rows_of(record(scene, 0.1, tmp_path / "a.csv", dt=5e-3, fps=20))
    assert sorted({float(row["time_s"]) for row in rows}) == [0.0, 0.05, 0.1]
    last = [row for row in rows if float(row["time_s"]) == 0.1]
    along = [row for row in last if row["name"] == "rope"]
    assert [int(row["station"]) for row in along] == list(range(len(along)))
    count = len(along)
    assert np.allclose([numbers(row, *PLACE) for row in along], rope.centerline(count), atol=1e-14)
    assert np.allclose([numbers(row, "tension_N")[0] for row in along], rope.tensions(count), atol=1e-9)
    [solid] = [row for row in last if row["name"] == "box"]
    assert numbers(solid, *PLACE) == box.position.tolist() and solid["tension_N"] == solid["force_x_N"] == ""
    assert numbers(solid, "qw", "qx", "qy", "qz") == box.pose.quaternion.tolist()
    [fixed] = [row for row in last if row["name"] == tie.name]
    assert fixed["kind"] == "constraint" and numbers(fixed, *FORCE) == tie.force.tolist()
    assert numbers(fixed, *TORQUE) == tie.torque.tolist()
    [load] = [row for row in last if row["name"] == "push"]
    assert np.allclose(numbers(load, *FORCE), box.pose.rotation @ (0, 0.1, 0), atol=1e-15)
    assert numbers(load, *PLACE) == push.point.position.tolist()
    first = [row for row in rows if row["time_s"] == "0.0" and row["kind"] == "constraint"]
    assert len(first) == 2 and all(numbers(row, *FORCE) == [0, 0, 0] for row in first)  # before the first step


def test_the_forces_that_hold_a_weight(tmp_path: Path) -> None:
    scene = sn.Scene()
    box = scene.add(sn.RigidBody.box((1, 1, 1), mass=3.0, name="box"))
    steel = sn.Material(youngs_modulus=200e9, poisson_ratio=0.3, density=7850)
    ends = [sn.World.at((0, 0, 9)), box.at((0, 0, 0.5))]
    scene.add(sn.Cable(ends, section=sn.Section.circle(5e-3), material=steel, name="line"))
    scene.settle()
    rows = rows_of(record(scene, 0.0, tmp_path / "a.csv"))
    ends = {row["name"]: numbers(row, *FORCE) for row in rows if row["kind"] == "constraint"}
    weight = 3.0 * 9.81
    assert np.allclose(ends["line [0]"], (0, 0, -weight), atol=1e-6) and np.allclose(ends["line [1]"], (0, 0, weight))
    pulls = [float(row["tension_N"]) for row in rows if row["name"] == "line"]
    assert len(pulls) >= 2 and np.allclose(pulls, weight)
    assert all(row["torque_x_Nm"] == "" for row in rows)


def test_what_comes_and_goes_has_rows_while_it_is_there(swing, tmp_path: Path) -> None:
    scene, _, box = swing
    tie = scene.constraints[1]

    def script(dt: float) -> None:
        if scene.time > 0.049 and tie in scene.constraints:
            tie.enabled = False
        if scene.time > 0.099 and box in scene.bodies:
            scene.remove(tie)
            scene.remove(box)

    kept = record_frames(scene, 0.15, dt=0.01, fps=20, before_step=script)
    rows = rows_of(kept.write(tmp_path / "a.csv"))
    times = {name: [float(row["time_s"]) for row in rows if row["name"] == name] for name in ("box", tie.name)}
    assert np.allclose(times["box"], (0.0, 0.05, 0.1)) and np.allclose(times[tie.name], (0.0, 0.05))


def test_a_page_and_plain_numbers_have_tables_too(swing, recording: Recording, tmp_path: Path) -> None:
    kept = record_frames(ScenePlay(swing[0], dt=0.01), 0.02, fps=50)  # type: ignore[arg-type]
    assert {track.kind for track in kept.forces} == {"constraint"} and [c.name for c in kept.curves] == ["rope"]
    rows = rows_of(recording.write(tmp_path / "b.csv"))
    assert {row["kind"] for row in rows} == {"tube", "solid", "surface"} and "force_x_N" not in rows[0]
    skin = [row for row in rows if row["name"] == "skin"]
    assert len(skin) == 13 * 36 and float(skin[0]["pressure_Pa"]) == recording.track(4).fields["pressure"][0, 0]
    assert {row["name"] for row in rows if float(row["time_s"]) < 2.1} >= {"rope", "ball"} - {"rope 2"}
