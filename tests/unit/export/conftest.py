from __future__ import annotations

import numpy as np
import pytest

import sennit as sn
from sennit.export.recording import Recording
from sennit.portrait.cast import Cast
from sennit.portrait.parts import Solid, Surface, Tube

FRAMES, FPS = 13, 24.0


def turned(angle: float, axis: tuple[float, float, float]) -> np.ndarray:
    return np.array((np.cos(angle / 2), *(np.sin(angle / 2) * np.array(axis))))


@pytest.fixture(scope="session")
def recording() -> Recording:
    """Every kind of part, moving by formulas: a round and a flat tube, two solids, a surface, one that appears late."""
    n, m = 21, 6
    cube = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    cube_faces = np.array(
        [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
         (1, 5, 7), (1, 7, 3)]
    )  # fmt: skip
    grid = np.linspace(-0.5, 0.5, m)
    x, y = (a.ravel() for a in np.meshgrid(grid, grid))
    corner = (np.arange(m - 1)[:, None] * m + np.arange(m - 1)).ravel()
    sheet = np.concatenate(
        (np.column_stack((corner, corner + 1, corner + m + 1)), np.column_stack((corner, corner + m + 1, corner + m)))
    )
    paint = np.tile(np.array(((200, 60, 60), (60, 60, 200)), dtype=np.uint8), (6, 1))
    cast = Cast(
        [
            Tube(name="rope", colour=(214, 142, 58), count=n, half=(0.02, 0.02), stripe=(90, 50, 20),
                 fields=("tension", "curvature")),
            Tube(name="a flat belt/1", colour=(63, 136, 178), count=n, half=(0.01, 0.05), rectangular=True),
            Solid(name="ball", colour=(118, 142, 168), vertices=0.1 * cube, faces=cube_faces, smooth=True),
            Solid(name="box", colour=(172, 138, 106), vertices=0.1 * cube, faces=cube_faces, face_colours=paint),
            Surface(name="skin", colour=(214, 158, 134), count=m * m, faces=sheet, fields=("pressure",)),
            Tube(name="rope", colour=(20, 160, 60), count=3, half=(0.01, 0.01), role="tie"),
        ]
    )  # fmt: skip
    frames, times = np.zeros((FRAMES, cast.size)), 2.0 + np.arange(FRAMES) / FPS
    s = np.linspace(0.0, 1.0, n)
    for k, t in enumerate(times - 2.0):
        rope, belt, ball, box, skin, late = views = cast.views(frames[k])
        for view in views:
            view.shown[0] = 1.0
        angle = 0.7 * np.cos(2 * t) * s  # of the tangent, from straight down
        rope.centres[:] = np.column_stack((np.cumsum(np.sin(angle)), 0 * s, -np.cumsum(np.cos(angle)))) / n + (
            0,
            0,
            1.5,
        )
        tilt = np.column_stack((np.cos(angle), 0 * s, np.sin(angle)))
        roll = (5.0 * t * s)[:, None]
        rope.directors[:] = np.cos(roll) * tilt + np.sin(roll) * (0.0, 1.0, 0.0)
        rope.fields["tension"][:], rope.fields["curvature"][:] = 3.0 + t - s, 0.7 * abs(np.cos(2 * t))
        belt.centres[:], belt.directors[:] = rope.centres + np.array((0.0, 0.6, 0.0)), tilt
        ball.position[:], ball.quaternion[:] = (0.3 * t, -0.4, 0.3), turned(3.0 * t, (0.0, 1.0, 0.0))
        box.position[:], box.quaternion[:] = (-0.5, 0.3, 0.2), turned(0.3, (0.0, 0.0, 1.0))
        skin.vertices[:] = np.column_stack((x - 0.8, y, 0.1 + 0.05 * np.sin(5 * x + 6 * t) * np.cos(3 * y)))
        skin.fields["pressure"][:] = 100.0 * skin.vertices[:, 2]
        late.centres[:], late.directors[:] = ((0.5, 0, 0.2), (0.5, 0, 0.5), (0.5, 0, 0.8)), (1.0, 0.0, 0.0)
        late.shown[0] = float(k >= 5)
    return Recording(cast, times, frames, FPS, "Trial <1>")


def swing(drag: float = 0.0) -> tuple[sn.Scene, sn.Rod, sn.RigidBody]:
    """A rope that is let go sideways, with a box at its end."""
    scene = sn.Scene(drag=drag, name="swing")
    rubber = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000, relaxation_time=0.01)
    rope = scene.add(
        sn.Rod.straight((0, 0, 1), (0.8, 0, 1), section=sn.Section.circle(5e-3), material=rubber, control_points=10,
                        name="rope")
    )  # fmt: skip
    scene.add(sn.Fix(rope.at(0)))
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=0.2, position=(0.85, 0, 1), name="box"))
    scene.add(sn.Ball(box.at((-0.05, 0, 0)), rope.at(rope.length)))
    return scene, rope, box


@pytest.fixture(name="swing")
def swing_fixture() -> tuple[sn.Scene, sn.Rod, sn.RigidBody]:
    return swing()
