"""Contacts and what is solved beside them: a load on its cable, set down and lifted; a stop and a floor at once."""

from __future__ import annotations

import pytest

import sennit as sn

G = 9.81


def test_load_is_lifted_off_the_floor():
    """While a winch hauls, its tension and the floor's force are the weight; at last the floor carries nothing."""
    scene = sn.Scene()
    floor = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    load = scene.add(sn.RigidBody.box((0.4, 0.4, 0.4), mass=100.0, position=(0, 0, 0.2)))
    cable = scene.add(sn.Cable([sn.World.at((0, 0, 3)), load.at((0, 0, 0.2))], stretch_stiffness=1e6))
    pair = scene.collide(load, floor, friction=0.5)
    scene.run(0.2, 1e-3)
    assert pair.force == pytest.approx((0, 0, 100 * G), abs=1.0)
    cable.drive(speed=-0.01)
    carried = []
    for _ in range(600):
        scene.step(1e-3)
        if pair.touching:
            assert pair.force[2] + cable.tension == pytest.approx(100 * G, rel=0.02)
            carried.append(cable.tension)
    assert max(carried) > 0.9 * 100 * G
    assert not pair.touching
    assert load.position[2] > 0.2005
    assert [event.kind for event in scene.events] == ["touch", "part"]


@pytest.mark.parametrize(("length", "floor_carries"), [(1.05, True), (0.999, False)])
def test_string_or_floor_carries_a_load(length, floor_carries):
    """A box on a floor below a string: a slack string carries nothing, a short one everything."""
    scene = sn.Scene()
    floor = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    box = scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=1.0, position=(0, 0, max(0.1, 1.1 - length))))
    string = scene.add(sn.Distance(box.at((0, 0, 0.1)), sn.World.at((0, 0, 1.2)), length, bound="at_most"))
    pair = scene.collide(box, floor)
    scene.run(0.5, 1 / 240)
    assert pair.force[2] == pytest.approx(G if floor_carries else 0.0, abs=1e-4)
    assert abs(string.force[2]) == pytest.approx(0.0 if floor_carries else G, abs=1e-4)
