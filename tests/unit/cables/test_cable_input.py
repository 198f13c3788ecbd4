"""Every mistake with a cable gets an InputError that quotes the value, and changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from unit.scene import kit
from unit.scene.kit import refused

import sennit as sn

NAN, INF = float("nan"), float("inf")
ROPE, STEEL = sn.Section.circle(5e-3), sn.Material(200e9, 0.3, 7850)


def driven():
    """A load on a winch, a block beside it, a little motion."""
    scene = sn.Scene()
    load = scene.add(sn.RigidBody.sphere(0.1, mass=10.0, position=(0, 0, -4)))
    block = scene.add(sn.RigidBody.box(size=(1, 1, 1), mass=10.0, position=(3, 0, -2)))
    scene.add(sn.Clamp(block.at()))
    cable = scene.add(sn.Cable([sn.World.at((0, 0, 0)), load.at()], ROPE, STEEL))
    cable.drive(speed=0.1, slip=1e-5)
    scene.run(0.05, dt=0.01)
    return scene, load, block, cable


@pytest.fixture
def world():
    return driven()


def unchanged(scene, call, *words: str) -> None:
    """`call` is refused, and nothing in the scene is another: contents, bits, how it goes on."""
    before, things = kit.bits(scene), (scene.bodies, scene.constraints, scene.loads)
    refused(call, *words)
    assert kit.bits(scene) == before
    assert (scene.bodies, scene.constraints, scene.loads) == things
    start = scene.snapshot()
    scene.step(0.01)
    assert np.isfinite(scene.energy.total)
    scene.restore(start)


def wheel(at=(1, 0, 0), axis=(0, 1, 0), radius=0.2, **options):
    return sn.Sheave(sn.World.at(at), axis=axis, radius=radius, **options)


TOP = (0, 0, 0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        # the way
        (lambda p, b: sn.Cable([], ROPE, STEEL), ["points"]),
        (lambda p, b: sn.Cable([p], ROPE, STEEL), ["points", "1"]),
        (lambda p, b: sn.Cable([p, (0, 0, 0)], ROPE, STEEL), ["(0, 0, 0)"]),
        (lambda p, b: sn.Cable([p, None], ROPE, STEEL), ["None"]),
        (lambda p, b: sn.Cable(p, ROPE, STEEL), ["points"]),
        (lambda p, b: sn.Cable([p, p], ROPE, STEEL), []),
        (lambda p, b: sn.Cable([sn.World.at((0, 0, -1)), sn.World.at((0, 0, -1)), p], ROPE, STEEL), []),
        (lambda p, b: sn.Cable([wheel(), p], ROPE, STEEL), ["first", "Sheave"]),
        (lambda p, b: sn.Cable([p, wheel()], ROPE, STEEL), ["last", "Sheave"]),
        # section, material, stiffness
        (lambda p, b: sn.Cable([sn.World.at(TOP), p]), ["section"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE), ["material"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], material=STEEL), ["section"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], 5e-3, STEEL), ["section", "0.005"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, "steel"), ["material", "'steel'"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, stretch_stiffness=1e3), ["stretch_stiffness"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, twist_stiffness=10.0), ["twist_stiffness"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], stretch_stiffness=0.0), ["stretch_stiffness", "0.0"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], stretch_stiffness=-1e3), ["stretch_stiffness", "-1000"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], stretch_stiffness=NAN), ["stretch_stiffness", "nan"]),
        (
            lambda p, b: sn.Cable([sn.World.at(TOP), p], stretch_stiffness=1e3, twist_stiffness=-2.5),
            ["twist_stiffness", "-2.5"],
        ),
        # length
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, length=0.0), ["length", "0.0"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, length=-1.5), ["length", "-1.5"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, length=NAN), ["length", "nan"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, length=INF), ["length", "inf"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, length="long"), ["length", "'long'"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, length=1.25), ["length", "1.25", "too short"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, longest=2.75), ["longest", "2.75"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, longest=NAN), ["longest", "nan"]),
        # numbers
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, damping=-3.5), ["damping", "-3.5"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, damping=NAN), ["damping", "nan"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, twist_damping=-3.5), ["twist_damping", "-3.5"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, breaking_load=-9.5), ["breaking_load", "-9.5"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, breaking_load=0.0), ["breaking_load", "0.0"]),
        (
            lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, stepping="leapfrog"),
            ["stepping", "'leapfrog'", "spook", "backward"],
        ),
        # sheaves
        (lambda p, b: sn.Cable([sn.World.at(TOP), wheel(radius=-0.25), p], ROPE, STEEL), ["radius", "-0.25"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), wheel(radius=0.0), p], ROPE, STEEL), ["radius", "0.0"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), wheel(radius=NAN), p], ROPE, STEEL), ["radius", "nan"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), wheel(friction=-0.1), p], ROPE, STEEL), ["friction", "-0.1"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), wheel(friction=NAN), p], ROPE, STEEL), ["friction", "nan"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), wheel(inertia=-0.5), p], ROPE, STEEL), ["inertia", "-0.5"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), wheel(turns=-1), p], ROPE, STEEL), ["turns", "-1"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), wheel(turns=1.5), p], ROPE, STEEL), ["turns", "1.5"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), wheel(axis=(0, 0, 0)), p], ROPE, STEEL), ["axis"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), wheel(axis=(0, NAN, 0)), p], ROPE, STEEL), ["axis", "nan"]),
        (lambda p, b: sn.Sheave((1, 0, 0), axis=(0, 1, 0), radius=0.2), ["(1, 0, 0)"]),
        # a point inside the sheave's circle
        (lambda p, b: sn.Cable([sn.World.at((0.9, 0, 0)), wheel(), p], ROPE, STEEL), []),
        # bodies to lie on
        (lambda p, b: sn.Cable([sn.World.at((3, 0.2, -2)), p], ROPE, STEEL, around=[b]), []),
        (lambda p, b: sn.Cable([sn.World.at(TOP), b.at((0.1, 0.1, 0.1))], ROPE, STEEL, around=[b]), []),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, around=["post"]), ["around", "'post'"]),
        (lambda p, b: sn.Cable([sn.World.at(TOP), p], ROPE, STEEL, around=[sn.World.at(TOP)]), ["around"]),
    ],
)
def test_making_a_cable(world, make, words):
    scene, load, block, _ = world
    # refused when it is made, or at the latest when it is added
    unchanged(scene, lambda: scene.add(make(load.at(), block)), *words)


def test_just_long_enough(world):
    # half the way is the limit
    scene, load, _, _ = world
    anchor = sn.World.at((0, 0, 0))
    reach = float(np.linalg.norm(load.position))
    unchanged(scene, lambda: scene.add(sn.Cable([anchor, load.at()], ROPE, STEEL, length=0.49 * reach)), "too short")
    scene.add(sn.Cable([anchor, load.at()], stretch_stiffness=10.0, torsion=False, length=0.91 * reach))
    scene.step(0.01)


def test_bodies_that_are_not_in_the_scene(world):
    scene, load, _, _ = world
    stray = sn.RigidBody.box(size=(1, 1, 1), mass=1.0, position=(5, 0, 0), name="stray")
    anchor = sn.World.at((0, 0, 0))
    unchanged(scene, lambda: scene.add(sn.Cable([anchor, stray.at()], ROPE, STEEL)), "stray")
    unchanged(scene, lambda: scene.add(sn.Cable([anchor, stray.at(), load.at()], ROPE, STEEL)), "stray")
    held = sn.Sheave(stray.at(), axis=(0, 1, 0), radius=0.2)
    unchanged(scene, lambda: scene.add(sn.Cable([anchor, held, load.at()], ROPE, STEEL)), "stray")
    unchanged(scene, lambda: scene.add(sn.Cable([anchor, load.at()], ROPE, STEEL, around=[stray])), "stray")


def test_shapes_that_it_cannot_lie_on(world):
    scene, load, _, _ = world
    lump = scene.add(sn.RigidBody.from_inertia(1.0, (1.0, 1.0, 1.0), position=(5, 0, 0), name="lump"))
    anchor = sn.World.at((0, 0, 0))
    unchanged(scene, lambda: scene.add(sn.Cable([anchor, load.at()], ROPE, STEEL, around=[lump])), "lump")


def test_nothing_to_move(world):
    scene, _, _, _ = world
    ends = [sn.World.at((0, 0, 0)), sn.World.at((1, 0, 0))]
    unchanged(scene, lambda: scene.add(sn.Cable(ends, ROPE, STEEL)))


def test_twice(world):
    scene, _, _, cable = world
    unchanged(scene, lambda: scene.add(cable), cable.name)
    other = sn.Scene()
    refused(lambda: other.add(cable), cable.name)
    assert other.constraints == ()


def test_removing_what_a_cable_holds(world):
    scene, load, _, cable = world
    unchanged(scene, lambda: scene.remove(load), cable.name)
    scene.remove(cable)
    scene.remove(load)
    scene.step(0.01)


def test_removing_what_a_cable_lies_on(world):
    scene, load, block, _ = world
    around = scene.add(sn.Cable([sn.World.at((0, 0, 1)), load.at()], ROPE, STEEL, around=[block]))
    clamp = next(c for c in scene.constraints if isinstance(c, sn.Clamp))
    scene.remove(clamp)
    unchanged(scene, lambda: scene.remove(block), around.name)


@pytest.mark.parametrize("length", [0.0, -2.5, NAN, INF, "short", None, (1.0, 2.0)])
def test_setting_the_length(world, length):
    scene, _, _, cable = world
    old = cable.length

    def put():
        cable.length = length

    unchanged(scene, put, "length", str(length))
    assert cable.length == old


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"speed": NAN}, ["speed", "nan"]),
        ({"speed": INF}, ["speed", "inf"]),
        ({"speed": "fast"}, ["speed", "'fast'"]),
        ({"speed": None}, ["speed", "None"]),
        ({"speed": 0.1, "slip": -1e-5}, ["slip", "-1e-05"]),
        ({"speed": 0.1, "slip": NAN}, ["slip", "nan"]),
        ({"speed": 0.1, "max_pull": -100.0}, ["max_pull", "-100"]),
        ({"speed": 0.1, "max_pull": NAN}, ["max_pull", "nan"]),
    ],
)
def test_driving(world, arguments, words):
    # and it goes on as it was driven before: 0.1 m/s and its slip
    scene, _, _, cable = world
    unchanged(scene, lambda: cable.drive(**arguments), *words)
    twin, _, _, other = driven()
    for _ in range(5):
        scene.step(0.01)
        twin.step(0.01)
    assert cable.length == other.length


def test_what_can_only_be_read(world):
    _, _, _, cable = world
    for name in ("tension", "tensions", "torque", "twist", "elongation", "slack", "path_length", "broken"):
        with pytest.raises(AttributeError):
            setattr(cable, name, 0.0)


def test_longer_than_there_is():
    scene = sn.Scene()
    load = scene.add(sn.RigidBody.sphere(0.1, mass=10.0, position=(0, 0, -4)))
    cable = scene.add(sn.Cable([sn.World.at((0, 0, 0)), load.at()], ROPE, STEEL, longest=5.0))

    def put():
        cable.length = 5.25

    unchanged(scene, put, "5.25", "longest")
    assert cable.length == pytest.approx(4.0)
