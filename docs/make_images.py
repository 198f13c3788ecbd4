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


def make_rods_that_vary() -> None:
    """Three fishing rods with one grip and one weight: as thick all along, tapered, and stiff with a soft tip."""
    carbon, soft = (sn.Material(E, 0.3, 1800, relaxation_time=0.05) for E in (40e9, 4e9))
    tip = sn.Section.circle(1.2e-3)
    made: list[tuple[tuple[int, int, int], dict[str, object]]] = [
        ((158, 164, 172), {"section": sn.Section.circle(3.6e-3), "material": carbon}),
        ((64, 112, 170), {"section": [sn.Section.circle(6e-3), tip], "material": carbon}),
        ((206, 70, 66), {"pieces": [(1.5, sn.Section.circle(5e-3), carbon), (None, sn.Section.circle(2.5e-3), soft)]}),
    ]
    parts = []
    for colour, given in made:
        scene = sn.Scene()
        rod = scene.add(sn.Rod.straight((0, 0, 0.7), (1.7, 0, 1.75), control_points=40, **given))
        scene.add(sn.Clamp(rod.at(0)))
        fish = scene.add(sn.RigidBody.sphere(0.035, mass=0.25, position=rod.at(rod.length).position - (0, 0, 0.2)))
        scene.add(sn.Distance(fish.at(), rod.at(rod.length)))
        scene.settle()
        line, s = rod.centerline(160), rod.tables.places.s
        order, radius = np.argsort(s), rod._matter().numbers.values[:, 7]
        widths = np.interp(np.linspace(0, rod.length, 160), s[order], radius[order]) if len(radius) > 1 else radius
        parts += [tube(line, 2.2 * np.broadcast_to(widths, 160), colour, sides=12)]  # thicker than they are, to be seen
        parts += [bar(line[-1], fish.position, 0.003, (96, 100, 106), sides=6), ball(fish.position, 0.045, colour)]
    parts.append(
        bar((-0.22, 0, 0.7 - 0.22 * 1.05 / 1.7), (0.04, 0, 0.7 + 0.04 * 1.05 / 1.7), 0.03, (122, 92, 66), sides=16)
    )
    size = (760, 430)
    camera = Camera((0.9, -4.0, 0.9), (0.86, 0.0, 0.8), size=size, width=2.35)
    stage = Stage(camera, (247, 248, 250), floor(camera, (-60.0, -1.5), (60.0, 60.0)))
    stage.finish()
    write_picture(IMAGES / "rods_that_vary.png", [stage.frame(Facets.joined(parts))], 1)


PICTURES = {"rope": make_rope, "rods_that_vary": make_rods_that_vary}


def make(pictures: Mapping[str, Callable[[], None]]) -> None:
    """Make those of the `pictures` that the command line names, or all of them."""
    IMAGES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or pictures:
        pictures[name]()


if __name__ == "__main__":
    make(PICTURES)
