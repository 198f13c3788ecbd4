"""Makes the pictures in ``docs/images`` anew: ``uv run python docs/make_images.py``, or with names for some of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from PIL import Image

import sennit as sn
from sennit.export.painting import Camera, Facets, Stage, write_picture
from sennit.export.solids import ball, bar, board, floor, tube

IMAGES = Path(__file__).parent / "images"


def make_rope() -> None:
    """Run the scene of the README, and paint it three times."""
    scene = sn.Scene(integrator="bdf2")
    hemp = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000, relaxation_time=0.02)
    section = sn.Section.circle(radius=5e-3)
    rope = scene.add(sn.Rod.straight((0, 0, 0.5), (1, 0, 0.5), section=section, material=hemp))
    scene.add(sn.Fix(rope.at(0)))
    hand = scene.add(sn.Follow(rope.at(rope.length), lambda t: (1 - 0.15 * min(t, 2), 0, 0.5 + 0.1 * min(t, 2))))
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=0.3, position=(0.4, 0, 0.45)))
    scene.add(sn.Ball(box.at((0, 0, 0.05)), rope.at(0.4)))
    scene.settle()
    pearl = scene.add(sn.Pearl(rope, at=0.9, mass=0.05, radius=0.015))

    size = (396, 250)
    camera = Camera((0.1, -2.6, 1.0), (0.5, 0.0, 0.36), size=size, width=1.25)
    ground = floor(camera, (-60.0, -1.5), (60.0, 60.0))
    stage = Stage(camera, (247, 248, 250), ground)
    stage.polygon(ground, (226, 230, 233))
    stage.facets(bar((0, 0, 0), (0, 0, 0.53), 0.014, (122, 92, 66), sides=12, pieces=8))
    stage.finish()

    def picture() -> Image.Image:
        line = rope.centerline(120)
        axes = box.pose.rotation
        ends = box.position + 0.05 * np.outer((-1, 1), axes[:, 0])
        parts = [
            tube(line, 0.008, (196, 150, 84), sides=10),
            board(ends[0], ends[1], axes[:, 1], (0.05, 0.05), (64, 112, 170)),
            ball(pearl.position, pearl.radius, (206, 70, 66)),
            ball(hand.target, 0.018, (70, 76, 84), gloss=0.3),
        ]
        return stage.frame(Facets.joined(parts))

    pictures = [picture()]
    for seconds in (0.6, 1.4):
        scene.run(seconds, dt=2e-3)
        pictures.append(picture())
    write_picture(IMAGES / "rope.png", pictures, 1)


PICTURES = {"rope": make_rope}


def make(pictures: Mapping[str, Callable[[], None]]) -> None:
    """Make those of the `pictures` that the command line names, or all of them."""
    IMAGES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or pictures:
        pictures[name]()


if __name__ == "__main__":
    make(PICTURES)
