"""Makes the stills in ``docs/images`` anew: ``uv run python docs/make_stills.py``, or with names for some of them.

Each is one frame of a recording, painted by the project's own painter: no display and no GPU are needed. Stills of all
demonstrations are in ``docs/images/demos``; `MOMENTS` says when each is taken.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import trimesh
from PIL import Image

import sennit as sn
from sennit.demos import hair, stage
from sennit.demos.hair_picture import Splatter
from sennit.demos.sew import Surgery
from sennit.demos.stitch import Sewing
from sennit.export.files import replacing
from sennit.export.film import Painter
from sennit.export.recording import Recording, record_frames
from sennit.validation import FloatArray

IMAGES = Path(__file__).parent / "images"
SIZE = (720, 480)


def last_frame(recording: Recording, camera: tuple[FloatArray, FloatArray] | None = None) -> Recording:
    """The end of a recording alone; without a `camera`, eye and target, one stands where that fills the picture."""
    return Recording(
        recording.cast, recording.times[-1:], recording.frames[-1:], recording.fps, camera=camera,
        ground=recording.ground,
    )  # fmt: skip


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


def shapes() -> tuple[Recording, str | None]:
    """Every shape as an obstacle on a plane, and above them bodies that carry the same."""
    scene = sn.Scene()
    lying = sn.Pose((0, 0, 0), (np.sqrt(0.5), 0, np.sqrt(0.5), 0))
    x, y = np.meshgrid(np.linspace(0, 1, 25), np.linspace(0, 1, 21), indexing="ij")
    hills = 0.12 + 0.06 * np.sin(7 * x) * np.cos(6 * y)
    horn = trimesh.creation.torus(0.16, 0.06, major_sections=40, minor_sections=20)
    standing: list[sn.Sphere | sn.Box | sn.Cylinder | sn.Capsule | sn.Mesh | sn.HeightField] = [
        sn.Sphere((0, 0, 0.2), 0.2), sn.Box((0.3, 0.4, 0.25), sn.Pose((0.6, 0, 0.125))),
        sn.Cylinder(0.14, 0.5, sn.Pose((1.2, 0, 0.14)) @ lying), sn.Capsule(0.1, 0.25, sn.Pose((1.75, 0, 0.225))),
        sn.Mesh(horn, pose=sn.Pose((2.25, 0, 0.22), (np.sqrt(0.5), np.sqrt(0.5), 0, 0))),
        sn.HeightField(hills, (0.7, 0.6), sn.Pose((2.95, 0, 0))),
    ]  # fmt: skip
    for shape in standing:
        scene.add(sn.Obstacle(shape))
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    dumbbell = [sn.Sphere((0, 0, 0.15), 0.09), sn.Sphere((0, 0, -0.15), 0.09), sn.Cylinder(0.03, 0.3)]
    tilt = (0.9, 0.3, 0.3, 0.1)
    scene.add(sn.RigidBody.sphere(0.1, mass=1, position=(0, 0, 0.75)))
    scene.add(sn.RigidBody.box((0.2, 0.15, 0.1), mass=1, pose=sn.Pose((0.6, 0, 0.75), tilt)))
    scene.add(sn.RigidBody.cylinder(0.08, 0.2, mass=1, pose=sn.Pose((1.2, 0, 0.75), tilt)))
    scene.add(sn.RigidBody.capsule(0.06, 0.15, mass=1, pose=sn.Pose((1.75, 0, 0.75), tilt)))
    scene.add(sn.RigidBody.from_mesh(0.6 * horn.vertices, horn.faces, mass=1, pose=sn.Pose((2.25, 0, 0.75), tilt)))
    inertia = (0.02, 0.02, 0.004)
    scene.add(sn.RigidBody.from_inertia(1.0, inertia, pose=sn.Pose((2.95, 0, 0.75), tilt), shape=dumbbell))
    return record_frames(scene, 1e-3, dt=1e-3, fps=1000), None


def shown_by(name: str, seconds: float) -> Callable[[], tuple[Recording, str | None]]:
    """What the page of a demonstration shows after `seconds`."""

    def run() -> tuple[Recording, str | None]:
        play = importlib.import_module(f"sennit.demos.{name}").play()
        return record_frames(play, seconds, fps=10), None

    return run


MOMENTS = {
    "suture": 4.6,
    "cord": 3.0,
    "bridge": 5.0,
    "necklace": 3.25,
    "bow": 2.6,
    "bundle": 2.0,
    "net": 1.1,
    "dna": 2.0,
    "boxes": 1.5,
    "turnabout": 6.0,
    "fishing": 4.0,
    "crane": 9.0,
    "landing": 30.0,
    "windlass": 3.5,
    "pile": 1.5,
    "gripper": 4.4,
    "tackle": 2.0,
    "elevator": 3.0,
    "vessel": 5.0,
    "wire": 3.4,
    "finger": 6.0,
    "knot": 5.0,
    "plectoneme": 6.0,
}
"""Seconds after which the still of each demonstration is taken."""

STILLS: dict[str, Callable[[], tuple[Recording, str | None]]] = {
    "still_curl": curl,
    "still_swing": swing,
    "still_shapes": shapes,
    "still_net": shown_by("net", 1.1),
    "still_tackle": shown_by("tackle", 2.0),
    "still_dna": shown_by("dna", 2.0),
    **{f"demos/{name}": shown_by(name, seconds) for name, seconds in MOMENTS.items()},
}


def sewn() -> Image.Image:
    """The suture nearly drawn tight, as the demonstration's own film shows it: with the stretch of the skin."""
    return filmed(Sewing(), 3.2, 0.75)


def pierced() -> Image.Image:
    """The needle in its last bite, as the demonstration's own film shows it."""
    return filmed(Surgery(), 12.0, 0.69)


def combed() -> Image.Image:
    """Hair that has fallen down, on a head that turns, as the demonstration's own film shows it."""
    made = hair.build(hair.FEW)
    while made.time < 2.6:
        made.pose = hair.pose_at(made.time + hair.DT)
        made.step(hair.DT)
    camera = Splatter((0.42, -0.95, 0.16), (0.0, 0.0, -0.06), 2 * SIZE[1])
    tint = np.random.default_rng(2).random(made.count).astype(np.float32)
    whole = hair.picture(made, camera, hair.skin_points(), tint)
    return whole.resize((SIZE[1], SIZE[1]))


def filmed(show: stage.Show, seconds: float, share: float) -> Image.Image:
    """A picture of a show's film."""
    show.begin()
    record = stage.simulate(show, seconds)
    return stage.draw(show, record, [round(share * len(record.times))], still=False)[0]


def painted(name: str) -> Image.Image:
    """The still called `name`."""
    if name == "demos/stitch":
        return sewn()
    if name == "demos/sew":
        return pierced()
    if name == "demos/hair":
        return combed()
    recording, field = STILLS[name]()
    # the telephone's wall is no body, and much of the guidewire is not in the vessels yet: there the page's camera
    alone = last_frame(recording, recording.camera if name in ("demos/cord", "demos/vessel") else None)
    return Painter(alone, SIZE, field=field, captions=False).picture(0)


def main(names: list[str]) -> None:
    """Paint the stills with these `names` (``still_net``, ``demos/net``), or all."""
    known = [*STILLS, "demos/stitch", "demos/sew", "demos/hair"]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"no still is called {unknown[0]!r}: {', '.join(known)}")
    (IMAGES / "demos").mkdir(exist_ok=True)
    for name in names or known:
        picture = painted(name)
        path = IMAGES / f"{name}.png"
        with replacing(path) as partial:
            picture.quantize(220, kmeans=1).save(partial, format="PNG", optimize=True)
        print(f"{name}.png: {path.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
