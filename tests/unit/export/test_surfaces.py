"""Bodies as closed meshes: .stl and .obj files read back by trimesh, volumes against closed forms."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import trimesh

import sennit as sn
from sennit.export.record import record
from sennit.export.recording import Recording
from sennit.export.surfaces import SIDES

STEEL = sn.Material(youngs_modulus=2e8, poisson_ratio=0.3, density=7000)
RADIUS, RING = 0.01, 0.3
PRISM = 0.5 * SIDES * RADIUS**2 * math.sin(2 * math.pi / SIDES)
"""Area of the polygon that stands for a round section, m²."""


def ring(section: sn.Section) -> sn.Rod:
    angles = np.linspace(0.0, 2.0 * np.pi, 120, endpoint=False)
    around = RING * np.column_stack((np.cos(angles), np.sin(angles), 0.0 * angles))
    return sn.Rod.through(around, closed=True, section=section, material=STEEL, control_points=40, name="ring")


def mesh_of(path: Path) -> trimesh.Trimesh:
    mesh = trimesh.load(path, force="mesh")
    assert mesh.is_watertight and mesh.is_winding_consistent
    return mesh


def alone(body, path: Path) -> trimesh.Trimesh:
    scene = sn.Scene()
    scene.add(body)
    return mesh_of(record(scene, 0.0, path))


def test_a_straight_rod_is_a_prism(tmp_path: Path, validated) -> None:
    rod = sn.Rod.straight((0, 0, 0), (0.6, 0.0, 0.8), section=sn.Section.circle(RADIUS), material=STEEL)
    error = abs(alone(rod, tmp_path / "a.obj").volume / PRISM - 1.0)
    flat = sn.Rod.straight((0, 0, 0), (0.6, 0, 0.8), section=sn.Section.rectangle(0.02, 0.05), material=STEEL)
    error = max(error, abs(alone(flat, tmp_path / "b.obj").volume / (0.02 * 0.05) - 1.0))
    # sums of some 10⁴ products of places of 1 m, for volumes of 10⁻³ m³
    validated("Tubes in .obj files", area="rods in scenes", quantity="volume of straight rods, round and flat",
              reference="prisms: area times length", error=error, bound=1e-9)  # fmt: skip


def test_a_ring_has_the_volume_of_pappus(tmp_path: Path, validated) -> None:
    """Sectors of angle θ = 2π/m between rings are prisms of parallel chords: their volume is sin θ · area · R."""
    mesh = alone(ring(sn.Section.circle(RADIUS)), tmp_path / "ring.obj")
    stations = len(mesh.vertices) // SIDES
    assert stations == 240
    own = stations * math.sin(2 * math.pi / stations) * PRISM * RING
    # The spline is no circle: a cubic one through it with spans of h = 2π/40 is off by some h⁴/384 of its radius.
    assert abs(mesh.volume / own - 1.0) < 4 * (2 * math.pi / 40) ** 4 / 384
    pappus = 2 * math.pi**2 * RING * RADIUS**2
    bound = (2 * math.pi) ** 2 / 6 * (1 / SIDES**2 + 1 / stations**2) * 1.01
    validated("Tubes in .obj files", area="rods in scenes", quantity="volume of a closed ring",
              reference="Pappus: 2π²Rr²", error=abs(mesh.volume / pappus - 1.0), bound=bound)  # fmt: skip


def test_an_stl_file_is_the_same_in_millimetres(tmp_path: Path) -> None:
    first, second = (
        alone(ring(sn.Section.circle(RADIUS)), tmp_path / "a.obj"),
        alone(ring(sn.Section.circle(RADIUS)), tmp_path / "a.stl"),
    )
    assert second.volume == pytest.approx(1e9 * first.volume, rel=1e-5)  # single precision
    assert np.allclose(second.bounds, 1e3 * first.bounds, atol=1e-4)
    data = (tmp_path / "a.stl").read_bytes()
    assert b"millimetres" in data[:80] and len(data) == 84 + 50 * len(second.faces)


def test_bent_twisted_and_folded_tubes_stay_closed(tmp_path: Path) -> None:
    t = np.linspace(0, 12, 60)
    helix = np.column_stack((0.02 * np.cos(t), 0.02 * np.sin(t), 2e-3 * t))  # tighter than it is thick: it cuts itself
    for k, section in enumerate((sn.Section.circle(0.03), sn.Section.rectangle(0.03, 0.01))):
        rod = sn.Rod.through(helix, section=section, material=STEEL, rest_twist=200.0)
        assert alone(rod, tmp_path / f"{k}.obj").euler_number == 2
        assert alone(ring(section), tmp_path / f"{k}.stl").euler_number == 0


def test_bodies_and_cables_are_there_and_marks_are_not(tmp_path: Path) -> None:
    scene = sn.Scene(name="a  hoist")
    box = scene.add(sn.RigidBody.box((0.1, 0.2, 0.3), mass=1, position=(0, 0, 1), name="a box"))
    scene.add(
        sn.Cable(
            [sn.World.at((0, 0, 2)), box.at((0, 0, 0.15))],
            section=sn.Section.circle(RADIUS),
            material=STEEL,
            name="line",
        )
    )
    scene.add(sn.Distance(box.at((0.05, 0, 0)), sn.World.at((1, 0, 1))))
    scene.add(sn.Fix(box.at()))
    scene.add(sn.Obstacle(sn.Box((9, 9, 0.1))))
    scene.add(sn.Load(box.at(), (0, 0, 1)))
    text = record(scene, 0.0, tmp_path / "a.obj").read_text()
    assert [line for line in text.splitlines() if line[0] in "#o"] == [
        "# a hoist: sennit, in metres, z up",
        "o a_box",
        "o line",
    ]
    box_alone, line = mesh_of(tmp_path / "a.obj").split()
    assert box_alone.volume == pytest.approx(6e-3, rel=3e-3)  # it is drawn with bevels
    assert line.volume == pytest.approx(0.85 * PRISM)


def test_the_end_is_written_and_hidden_parts_are_not(recording: Recording, tmp_path: Path) -> None:
    hidden = recording.frames.copy()
    hidden[-1, recording.cast.offsets[2]] = 0.0
    text = Recording(recording.cast, recording.times, hidden, 24.0).write(tmp_path / "a.obj").read_text()
    assert "o box" in text and "o ball" not in text
    first = next(line for line in text.split("o box\n")[1].splitlines())
    assert np.allclose(
        np.array(first.split()[1:], float),
        recording.cast.parts[3].places(recording.cast.views(recording.frames[-1])[3])[0],
    )


def test_numbers_beyond_single_precision_are_refused(tmp_path: Path) -> None:
    scene = sn.Scene()
    scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(1e36, 0, 0)))
    with pytest.raises(sn.InputError, match="too large for an .stl"):
        record(scene, 0.0, tmp_path / "a.stl")
    assert not list(tmp_path.iterdir())
