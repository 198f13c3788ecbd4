"""A ropeway: a trolley on two cables, a box under it, and two small boxes on one cable that makes them turn about.

The larger scene of Servin and Lacoursière, Massless Cable for Real-time Simulation, 2007, section 5.3, figure 9. What it
says: four cables, six rigid bodies of 1 to 100 kg, gravity 10 m/s², stiffness from 1e3 to 1e7 N/m, lengths from 1 to 30 m,
steps of 0.05 s. Two boxes are locked to the world; a wide body slides along the two cables between them; the two small
boxes hang on one cable that runs freely over two points of the larger box above them, and its resistance to twist,
10 N·m/rad, makes them turn in opposite directions. What is chosen here: masses and sizes one by one; wheels of 15 cm in
place of the points, the trolley's with a moment of inertia, so that they roll; the trolley starts from rest at one side.

A cable over a pulley is straight again seen from one who travels along it: its two falls hang side by side, but a turn of
one end to the left undoes a turn of the other to the left. So rates of +1 and -1 rad/s do not twist it, and the rates
of the two boxes, seen from the box above, have no sum in the mean.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import sennit as sn
from sennit.demos import add_common_arguments
from sennit.demos.stage import PAPER, Chart, Part, Show, perform, sight
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.demos.painting import Facets, Stage

__all__ = ["DESCRIPTION", "Ropeway", "add_arguments", "assemble", "build", "main"]

DESCRIPTION = (
    "A trolley rolls along two cables and carries a box, from which two small boxes hang on one cable; its twist makes "
    "them turn in opposite directions. Writes an animated picture (.gif, .mp4) or some of its frames (.png). Checks that "
    "the cables keep their lengths, that the wheels roll, that the small boxes turn against each other, and that energy "
    "does not grow."
)

GRAVITY, H = 10.0, 0.05  # m/s², s
SPAN, CARRIED, BEGIN = 28.0, 29.0, -7.5  # m: between the anchors, of the cables, where the trolley starts
HEIGHT, TRACK, BASE = 15.0, 1.6, 1.8  # m: of the anchors; between the two cables; between a trolley's axles
WHEEL, PULLEY, APART = 0.3, 0.25, 3.0  # m: radii; between the two pulleys
DROP, FALL = 2.2, 3.4  # m: from trolley to box, from pulleys to small boxes
ANCHOR, TROLLEY, LARGE, SMALL = 100.0, 20.0, 40.0, 6.0  # kg
LARGE_SIZE, SMALL_EDGE = (3.6, 1.2, 1.0), 1.0  # m
RUNNING, HANGING, SMALLS, TORSION = 1e5, 1e7, 1e3, 10.0  # N/m; N m/rad
SPIN = 6.0  # rad/s: of one of the small boxes at first


@dataclass(frozen=True, slots=True)
class Ropeway:
    """The scene, its bodies and its cables."""

    scene: sn.Scene
    anchors: list[sn.RigidBody]
    trolley: sn.RigidBody
    large: sn.RigidBody
    smalls: list[sn.RigidBody]
    tracks: list[sn.Cable]
    hanger: sn.Cable
    pulled: sn.Cable
    """On which the two small boxes hang."""

    @property
    def cables(self) -> list[sn.Cable]:
        """All four."""
        return [*self.tracks, self.hanger, self.pulled]

    @property
    def wheels(self) -> list[sn.Sheave]:
        """Of the trolley: two on each track."""
        return [entry for cable in self.tracks for entry in cable.entries if isinstance(entry, sn.Sheave)]

    @property
    def pulleys(self) -> list[sn.Sheave]:
        """Of the larger box."""
        return [entry for entry in self.pulled.entries if isinstance(entry, sn.Sheave)]


def depth(x: float) -> float:
    """How far below the anchors a point at `x` hangs that slides on a cable: on an ellipse, m."""
    long, short = CARRIED / 2.0, math.sqrt(CARRIED**2 - SPAN**2) / 2.0
    return short * math.sqrt(1.0 - (x / long) ** 2)


def assemble() -> Ropeway:
    """The ropeway, with the trolley at rest at one side and one small box turning."""
    scene = sn.Scene(gravity=(0.0, 0.0, -GRAVITY))
    anchors = []
    for side in (-1.0, 1.0):
        box = sn.RigidBody.box((2.0, 3.0, 2.0), mass=ANCHOR, position=(side * (SPAN / 2.0 + 1.0), 0.0, HEIGHT))
        anchors.append(scene.add(box))
        scene.add(sn.Clamp(box.at()))
    z = HEIGHT - depth(BEGIN)
    trolley = scene.add(sn.RigidBody.box((2.4, TRACK + 0.6, 0.3), mass=TROLLEY, position=(BEGIN, 0.0, z)))
    tracks = []
    for y in (-TRACK / 2.0, TRACK / 2.0):
        wheels = [
            sn.Sheave(trolley.at((x, y, 0.0)), axis=(0.0, -1.0, 0.0), radius=WHEEL, inertia=0.02)
            for x in (-BASE / 2.0, BASE / 2.0)
        ]
        left, right = anchors[0].at((1.0, y, 0.0)), anchors[1].at((-1.0, y, 0.0))
        tracks.append(
            scene.add(sn.Cable([left, *wheels, right], stretch_stiffness=RUNNING, torsion=False, length=CARRIED))
        )
    below = z - 0.15 - DROP
    large = scene.add(sn.RigidBody.box(LARGE_SIZE, mass=LARGE, position=(BEGIN, 0.0, below - LARGE_SIZE[2] / 2.0)))
    hanger = scene.add(
        sn.Cable(
            [trolley.at((0.0, 0.0, -0.15)), large.at((0.0, 0.0, LARGE_SIZE[2] / 2.0))],
            stretch_stiffness=HANGING,
            twist_stiffness=2e3,
        )
    )
    half = APART / 2.0
    smalls = []
    for side in (-1.0, 1.0):
        place = (BEGIN + side * (half + PULLEY), 0.0, below - LARGE_SIZE[2] / 2.0 - FALL - SMALL_EDGE / 2.0)
        smalls.append(scene.add(sn.RigidBody.box((SMALL_EDGE,) * 3, mass=SMALL, position=place)))
    pulleys = [sn.Sheave(large.at((x, 0.0, 0.0)), axis=(0.0, 1.0, 0.0), radius=PULLEY) for x in (-half, half)]
    way = 2.0 * FALL + APART + math.pi * PULLEY
    pulled = scene.add(
        sn.Cable(
            [smalls[0].at((0.0, 0.0, SMALL_EDGE / 2.0)), *pulleys, smalls[1].at((0.0, 0.0, SMALL_EDGE / 2.0))],
            stretch_stiffness=SMALLS,
            twist_stiffness=TORSION,
            length=way - SMALL * GRAVITY / SMALLS,
        )
    )
    smalls[0].angular_velocity = (0.0, 0.0, SPIN)
    return Ropeway(scene, anchors, trolley, large, smalls, tracks, hanger, pulled)


def build() -> sn.Scene:
    """The scene of the ropeway."""
    return assemble().scene
