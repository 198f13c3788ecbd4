"""Makes the stills in ``docs/images`` anew: ``uv run python docs/make_stills.py``, or with names for some of them.

Each is one frame of a recording, painted by the project's own painter: no display and no GPU are needed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import sennit as sn
from sennit.export.film import Painter
from sennit.export.recording import Recording, record_frames

IMAGES = Path(__file__).parent / "images"
SIZE = (720, 480)


def last_frame(recording: Recording) -> Recording:
    """The end of a recording alone: the camera stands where that fills the picture."""
    return Recording(
        recording.cast, recording.times[-1:], recording.frames[-1:], recording.fps, ground=recording.ground
    )


def curl() -> tuple[Recording, str | None]:
    """A thread whose ends come nearer to each other while one of them is turned: stripes show its twist."""
    scene = sn.Scene(gravity=(0, 0, 0), drag=8.0)
    nylon = sn.Material(youngs_modulus=2e9, poisson_ratio=0.4, density=1150, relaxation_time=2e-3)
    s = np.linspace(0.0, 1.0, 90)
    line = np.column_stack((0.3 * s, 2e-3 * np.sin(np.pi * s), 0 * s))
    thread = scene.add(
        sn.Rod.through(line, section=sn.Section.circle(1.5e-3), material=nylon, control_points=64, straight=True)
    )
    scene.add(sn.Clamp(thread.at(0)))
    end = scene.add(sn.Clamp(thread.at(thread.length)))
    start = thread.at(thread.length).pose

    def wind(dt: float) -> None:
        part = min(scene.time / 1.6, 1.0)
        angle = 2.0 * np.pi * 4.5 * part
        turn = sn.Pose((0, 0, 0), (np.cos(angle / 2), 0, 0, np.sin(angle / 2)))
        end.target = sn.Pose(start.position - np.array((0.12 * part, 0, 0)), (start @ turn).quaternion)

    return record_frames(scene, 2.0, dt=2e-3, fps=10, before_step=wind), None


def swing() -> tuple[Recording, str | None]:
    """Ropes of different lengths that were let go together, coloured by their tension."""
    scene = sn.Scene()
    hemp = sn.Material(youngs_modulus=2e7, poisson_ratio=0.4, density=1000, relaxation_time=0.01)
    for k, length in enumerate(np.linspace(0.5, 1.2, 8)):
        y = 0.16 * k
        rope = sn.Rod.straight((0, y, 1.4), (length, y, 1.4), section=sn.Section.circle(9e-3), material=hemp)
        scene.add(rope)
        scene.add(sn.Fix(rope.at(0)))
        ball = scene.add(sn.RigidBody.sphere(0.05, mass=0.4, position=(length + 0.05, y, 1.4)))
        scene.add(sn.Ball(ball.at((-0.05, 0, 0)), rope.at(rope.length)))
    return record_frames(scene, 0.75, dt=2e-3, fps=20), "tension"


def shown_by(name: str, seconds: float) -> Callable[[], tuple[Recording, str | None]]:
    """What the page of a demonstration shows after `seconds`."""

    def run() -> tuple[Recording, str | None]:
        play = importlib.import_module(f"sennit.demos.{name}").play()
        return record_frames(play, seconds, fps=10), None

    return run


STILLS = {
    "curl": curl,
    "swing": swing,
    "net": shown_by("net", 1.1),
    "tackle": shown_by("tackle", 2.0),
    "dna": shown_by("dna", 2.0),
}


def main(names: list[str]) -> None:
    """Paint the stills with these `names`, or all."""
    unknown = [name for name in names if name not in STILLS]
    if unknown:
        raise SystemExit(f"no still is called {unknown[0]!r}: {', '.join(STILLS)}")
    for name in names or STILLS:
        recording, field = STILLS[name]()
        picture = Painter(last_frame(recording), SIZE, field=field, captions=False).picture(0)
        path = IMAGES / f"still_{name}.png"
        picture.quantize(220, kmeans=1).save(path, optimize=True)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
