"""A large net, stepped with its dissected order of elimination and with the plain one of least degree."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn
from sennit.linalg import plan

ROPES = 18
GAP = 0.05  # m
LENGTH = GAP * (ROPES + 1)


def net(heavy: float) -> sn.Scene:
    """Ropes both ways, held at their ends, joined by balls where they cross; every other one `heavy` times as dense."""
    scene = sn.Scene(gravity=(4.0, -3.0, -9.81))
    cord = sn.Section.circle(radius=2e-3)
    ropes = []
    for way in range(2):
        for k in range(ROPES):
            start, end = np.zeros(3), np.full(3, LENGTH)
            start[1 - way] = end[1 - way] = GAP * (k + 1)
            start[2] = end[2] = 1.0
            matter = sn.Material(youngs_modulus=2e9, poisson_ratio=0.4, density=1100 * (heavy if k % 2 else 1.0))
            rope = sn.Rod.straight(start, end, section=cord, material=matter, control_points=2 * ROPES + 10)
            ropes.append(scene.add(rope))
    for rope in ropes:
        for s in (0.0, rope.length):
            scene.add(sn.Fix(rope.at(s)))
    for i, across in enumerate(ropes[:ROPES]):
        for j, along in enumerate(ropes[ROPES:]):
            scene.add(sn.Ball(across.at(GAP * (j + 1)), along.at(GAP * (i + 1)), name=f"{i} {j}"))
    return scene


@pytest.mark.parametrize("heavy", [1.0, 1e3])
def test_steps_are_the_same(heavy: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Places to 1e-12 of the net a step, and rows as well met: 4 steps of 20 ms, in which it falls by 7 and 39 mm."""
    places, apart, nonzeros = [], [], []
    for front in (plan.WIDE, 10**9):
        monkeypatch.setattr(plan, "WIDE", front)
        scene = net(heavy)
        for _ in range(4):
            scene.step(2e-2)
        ropes = list(scene.bodies)
        places.append(np.array([rope.centerline(2 * ROPES) for rope in ropes]))
        across, along = ropes[:ROPES], ropes[ROPES:]
        gaps = [
            across[i].at(GAP * (j + 1)).position - along[j].at(GAP * (i + 1)).position
            for i in range(ROPES)
            for j in range(ROPES)
        ]
        apart.append(np.abs(gaps).max())
        nonzeros.append(scene._stepper.system.plan(False).plan.nonzeros[0])
    assert nonzeros[0] != nonzeros[1]  # two orders
    fallen = 1.0 - places[1][..., 2].min()
    assert 0.005 < fallen < 0.1
    assert np.abs(places[0] - places[1]).max() < 4e-12 * LENGTH
    assert apart[0] < 4.0 * apart[1] + 1e-15
