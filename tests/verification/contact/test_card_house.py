"""A card that leans on a smooth wall, a house of two cards; and a row of balls that hand on a shock."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sennit as sn

THICK, LONG, TILT, MASS = 5e-3, 0.2, math.radians(25.0), 0.02
NEEDED = 0.5 * (math.tan(TILT) - THICK / LONG)
"""Friction over weight. By its mirror image in the wall it is also what two cards need that lean on each other."""


def leaning_card(friction: float) -> tuple[sn.Scene, sn.RigidBody, sn.Obstacle]:
    """A card on a floor whose upper edge leans on a wall without friction.

    Its weight W, the floor's friction H at its foot and the wall's push H balance if
    H L cos α = W (L/2 sin α − t/2 cos α).
    """
    scene = sn.Scene()
    floor = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    wall = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (1, 0, 0)), name="wall"))
    along = np.array((-math.sin(TILT), 0.0, math.cos(TILT)))
    across = np.array((math.cos(TILT), 0.0, math.sin(TILT)))
    foot = np.array((LONG * math.sin(TILT), 0.0, 0.0))
    turn = (math.cos(-0.5 * TILT), 0.0, math.sin(-0.5 * TILT), 0.0)
    pose = sn.Pose(foot + 0.5 * LONG * along + 0.5 * THICK * across, turn)
    card = scene.add(sn.RigidBody.box((THICK, 0.1, LONG), mass=MASS, pose=pose, name="card"))
    scene.collide(card, floor, friction=friction)
    scene.collide(card, wall, friction=0.0)
    return scene, card, wall


@pytest.mark.parametrize(("share", "stands"), [(1.05, True), (0.95, False)])
def test_card_stands_by_friction(share, stands):
    """It stands if μ > (tan α − t/L)/2, and slides away if it is less."""
    scene, card, wall = leaning_card(share * NEEDED)
    scene.run(0.1, 1 / 240)
    before = card.position
    scene.run(0.4, 1 / 240)
    moved = float(np.linalg.norm(card.position - before))
    if stands:
        assert moved < 1e-6
        assert scene.contacts.between(card, wall).force[0] == pytest.approx(MASS * 9.81 * NEEDED, rel=1e-3)
    else:
        assert moved > 1e-2


def house_of_cards(friction: float) -> tuple[sn.Scene, list[sn.RigidBody]]:
    """Two cards on a floor that lean on each other, upper inner edge on upper inner edge."""
    scene = sn.Scene()
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    cards = []
    for side in (1.0, -1.0):
        along = np.array((-side * math.sin(TILT), 0.0, math.cos(TILT)))
        across = np.array((side * math.cos(TILT), 0.0, math.sin(TILT)))
        foot = np.array((side * LONG * math.sin(TILT), 0.0, 0.0))
        turn = (math.cos(0.5 * TILT), 0.0, -side * math.sin(0.5 * TILT), 0.0)
        pose = sn.Pose(foot + 0.5 * LONG * along + 0.5 * THICK * across, turn)
        cards.append(scene.add(sn.RigidBody.box((THICK, 0.1, LONG), mass=MASS, pose=pose)))
    scene.collide(friction=friction)
    return scene, cards


@pytest.mark.parametrize(("share", "stands"), [(1.05, True), (0.95, False)])
def test_house_of_two_cards(share, stands):
    """Edge on edge they push each other along x, whatever the faces beside the edges: μ as of one card at a wall."""
    scene, cards = house_of_cards(share * NEEDED)
    scene.run(0.1, 1 / 240)
    before = np.array([card.position for card in cards])
    scene.run(0.4, 1 / 240)
    moved = float(np.abs([card.position for card in cards] - before).max())
    if stands:
        assert moved < 1e-6
        force = scene.contacts.between(*cards).force
        assert force == pytest.approx((MASS * 9.81 * NEEDED, 0.0, 0.0), rel=2e-3, abs=1e-4)
    else:
        assert moved > 1e-2


@pytest.mark.parametrize("restitution", [1.0, 0.6])
def test_cradle_of_three(restitution, validated):
    """Balls of one mass, a little apart: each gives (1 + e)/2 of its speed on and keeps (1 − e)/2; for e = 1 the last
    one leaves with the speed of the first.
    """
    scene = sn.Scene(gravity=(0, 0, 0))
    balls = [scene.add(sn.RigidBody.sphere(0.05, mass=0.3, position=(0.102 * k, 0, 0))) for k in range(3)]
    balls[0].position, balls[0].velocity = (-0.05, 0, 0), (1.0, 0, 0)
    scene.collide(friction=0.0, restitution=restitution)
    give, keep = (1 + restitution) / 2, (1 - restitution) / 2
    speeds = [1.0, 0.0, 0.0]
    while speeds[2] < max(speeds) and scene.time < 0.15:
        scene.step(1 / 2000)
        speeds = [ball.velocity[0] for ball in balls]
    expected = keep, keep * give, give * give
    validated(
        "Cradle of three balls", area="contact", quantity="speeds after both shocks, of the first one's",
        reference="law of restitution", error=float(np.abs(np.subtract(speeds, expected)).max()), bound=1e-4,
    )  # fmt: skip
    scene.run(0.1, 1 / 2000)  # what follows faster catches up
    assert sum(ball.velocity[0] for ball in balls) == pytest.approx(1.0, abs=1e-9)
