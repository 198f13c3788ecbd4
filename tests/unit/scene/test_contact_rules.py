"""Which law holds between any two things: all pairs at once are what the rules say of each by itself."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import sennit as sn
from sennit.contact.rules import Rules
from sennit.tables import Table

RUBBER = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000)


def _rod(y: float, name: str) -> sn.Rod:
    return sn.Rod.straight(
        (0, y, 0), (1, y, 0), section=sn.Section.circle(5e-3), material=RUBBER, control_points=8, name=name
    )


def _things(scene: sn.Scene) -> list[Any]:
    """Rods, pearls, bodies that a hinge ties, obstacles, a tube of the world and a tube that is a rod."""
    rods = [scene.add(_rod(0.2 * k, f"rod {k}")) for k in range(4)]
    pearls = [scene.add(sn.Pearl(rods[0], at=0.3 * k, mass=0.1, radius=0.02)) for k in (1, 2)]
    boxes = [scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(k, 0, 1))) for k in range(4)]
    scene.add(sn.Hinge(boxes[0].at((0.5, 0, 0)), boxes[1].at((-0.5, 0, 0)), axis=(0, 1, 0)))
    scene.add(sn.Ball(boxes[2].at(), rods[1].at(0.0)))
    floor = scene.add(sn.Obstacle(sn.Plane((0, 0, -1), (0, 0, 1))))
    tube = scene.add(sn.Inside(rods[2], sn.Cylinder(0.05, 4.0, sn.Pose((0, 0.4, 0), (0.5**0.5, 0, 0.5**0.5, 0)))))
    inner = scene.add(_rod(0.6, "inner"))
    sleeve = scene.add(sn.Inside(inner, rods[3], radius=8e-3))
    return [*rods, *pearls, *boxes, floor, tube, inner, sleeve]


def _say(random: Random, scene: sn.Scene, things: list[Any]) -> None:
    """One more rule, of one thing, of two or of groups."""

    def side() -> Any:
        kind = random.randrange(4)
        chosen = random.sample([x for x in things if not isinstance(x, sn.Inside)], random.randint(1, 5))
        return None if kind == 0 else chosen[0] if kind == 1 else chosen

    first, second = side(), side()
    law = {"friction": random.choice((None, 0.1, 0.7)), "restitution": random.choice((None, 0.5))}
    if first is None or random.random() < 0.2:
        scene.collide(first if second is None or first is not None else None, **law)
    elif random.random() < 0.3:
        scene.ignore(first, second)
    elif random.random() < 0.3:
        scene.collide(first, itself=True, **law)
    else:
        scene.collide(first, random.choice((first, second)), **law)


@pytest.mark.parametrize("seed", range(12))
def test_all_pairs_at_once(seed: int) -> None:
    random, scene = Random(f"rules {seed}"), sn.Scene()
    things = _things(scene)
    if random.random() < 0.7:
        scene.collide()
    for _ in range(random.randint(1, 6)):
        _say(random, scene, things)
    touching, rules = scene._compiled().system.touching, scene._rules
    assert touching is not None
    square = touching.laws_between()
    numbers: Table = touching._given["laws"]
    known = {id(a): i for i, a in enumerate(touching.things)}
    rods_in_rods = {frozenset((id(tube._inner), id(tube._outer))) for tube, _ in touching._sleeves}
    on_rod = [{id(x)} | ({id(x.rod)} if isinstance(x, sn.Pearl) else set()) for x in touching.things]
    touch = 0
    for a in touching.things:
        for b in touching.things:
            i, j = known[id(a)], known[id(b)]
            apart = (a is b and not isinstance(a, sn.Rod)) or frozenset((id(a), id(b))) in rods_in_rods
            apart = apart or (a is not b and bool(on_rod[i] & on_rod[j]))
            law = None if apart else rules.between(a, b, frozenset((i, j)) in touching._tied)
            touch += law is not None
            assert (square[i, j] == 0) == (law is None), (a.name, b.name)
            if law is not None:
                assert (numbers.friction[square[i, j]], numbers.restitution[square[i, j]]) == law.numbers()[:3:2]
    assert touch or not rules.rules


def test_static_friction_as_a_default() -> None:
    """It holds where friction is the scene's own; a pair with friction of its own has static friction of its own."""
    scene = sn.Scene()
    boxes = [scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(k, 0, 1))) for k in range(4)]
    scene.collide(restitution=0.1)
    scene.collide(boxes[0], boxes[1], friction=0.1)
    assert scene.contacts.static_friction is None
    scene.contacts.static_friction = 0.5
    assert scene.contacts.static_friction == 0.5

    def law(a: Any, b: Any) -> tuple[float, ...]:
        found = scene._rules.between(a, b, tied=False)
        assert found is not None
        return found.numbers()[:2]

    assert law(boxes[2], boxes[3]) == (0.3, 0.5)
    assert law(boxes[0], boxes[1]) == (0.1, 0.1)
    scene.collide(boxes[2], boxes[3], static_friction=0.9)
    assert law(boxes[2], boxes[3]) == (0.3, 0.9)
    with pytest.raises(sn.InputError, match=r"static_friction must be at least friction, 0.6, got 0.5"):
        scene.contacts.friction = 0.6
    with pytest.raises(sn.InputError, match=r"static_friction must be at least friction, 0.3, got 0.2"):
        scene.contacts.static_friction = 0.2
    assert (scene.contacts.friction, scene.contacts.static_friction) == (0.3, 0.5)
    scene.contacts.static_friction = None
    assert law(boxes[0], boxes[2]) == (0.3, 0.3)
    assert isinstance(scene._rules, Rules)
