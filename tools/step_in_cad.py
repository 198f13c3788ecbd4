"""Read STEP files of sennit with a CAD kernel: ``uv run python tools/step_in_cad.py``.

Writes an open rod, a closed one, a chain and a cable to a .step file, and has OpenCASCADE, through build123d in an
environment of its own (some 800 MB), read it: degrees, poles and lengths, and how far 200 places along each curve are
from where sennit has them. Exit status 1 if a curve is missing, or further off than 10⁻¹² m.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

KERNEL = "build123d==0.13.0"
COUNT, ALLOWED = 200, 1e-12  # m


def written(folder: Path) -> None:
    """Write rods.step and places.json, which has the curves' names and places, m."""
    import numpy as np

    import sennit as sn
    from sennit.bodies.rod.spline.shape import curve

    scene = sn.Scene(name="rods for CAD")
    section, steel = sn.Section.circle(4e-3), sn.Material(youngs_modulus=2e8, poisson_ratio=0.3, density=7000)
    s, angle = np.linspace(0, 1, 30), np.linspace(0, 2 * np.pi, 40, endpoint=False)
    wave = np.column_stack((s, 0.1 * np.sin(9 * s), 0.3 * s))
    ring = np.column_stack((np.cos(angle), 3 + np.sin(angle), 0.2 * np.cos(3 * angle)))
    rods = [
        scene.add(sn.Rod.through(wave, section=section, material=steel, name="wave")),
        scene.add(sn.Rod.through(ring, section=section, material=steel, closed=True, name="ring")),
        scene.add(
            sn.Rod.straight((0, 5, 0), (1, 5, 0), section=section, material=steel, model="discrete", name="chain")
        ),
    ]
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1, position=(0, 9, 0)))
    cable = scene.add(sn.Cable([sn.World.at((0, 9, 2)), box.at()], section=section, material=steel, name="cable"))
    sn.record(scene, 0.05, folder / "rods.step", dt=1e-3)  # bent by their weight
    places = {}
    for rod in rods[:2]:
        u = np.linspace(0, len(rod.control_points) - (0 if rod.closed else 3), COUNT)
        places[rod.name] = curve(rod.control_points, rod.closed, u)[:, 0].tolist()
    for name, corners in (("chain", rods[2].control_points), ("cable", cable.path())):
        u = np.linspace(0, len(corners) - 1, COUNT)
        places[name] = np.column_stack([np.interp(u, np.arange(len(corners)), x) for x in corners.T]).tolist()
    (folder / "places.json").write_text(json.dumps(places))


def read(folder: Path) -> int:
    """Read the file with the kernel, in its environment, and compare."""
    from build123d import import_step
    from OCP.BRepAdaptor import BRepAdaptor_Curve

    places = json.loads((folder / "places.json").read_text())
    edges = import_step(str(folder / "rods.step")).edges()
    worst = 0.0 if len(edges) == len(places) else float("inf")
    for edge, (name, known) in zip(edges, places.items()):  # noqa: B905
        curve = BRepAdaptor_Curve(edge.wrapped)
        low, high = curve.FirstParameter(), curve.LastParameter()
        off = 0.0
        for k, place in enumerate(known):
            there = curve.Value(low + (high - low) * k / (len(known) - 1))  # in mm
            off = max(off, *(abs(1e-3 * a - b) for a, b in zip((there.X(), there.Y(), there.Z()), place)))  # noqa: B905
        worst = max(worst, off)
        print(f"{name:6} degree {curve.Degree()}, {curve.NbPoles()} poles, {'closed' if curve.IsClosed() else 'open'}, "
              f"{1e-3 * edge.length:.6f} m, off by {off:.1e} m")  # fmt: skip
    return int(not worst <= ALLOWED)


def main() -> int:
    """Write here, and read there."""
    if sys.argv[1:2] == ["--read"]:
        return read(Path(sys.argv[2]))
    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder))
        command = ["uv", "run", "--no-project", "--with", KERNEL, "python", __file__, "--read", folder]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
