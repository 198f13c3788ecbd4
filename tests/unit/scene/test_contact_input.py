"""What can't touch is refused with its value, and nothing changes; what overlaps at first is said or refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sennit as sn
from sennit.contact.rules import Law

UP = (0, 0, 1)
CORNERS = np.array(((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)), dtype=float)
FACES = np.array(((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)))
HEMP = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000)


SHAPES: dict[str, tuple[Callable[[], object], str]] = {
    "sphere without volume": (lambda: sn.Sphere((0, 0, 0), 0.0), "radius must be a finite number above 0, got 0"),
    "sphere turned inside out": (lambda: sn.Sphere((0, 0, 0), -1.0), "radius must be a finite number above 0, got -1"),
    "box without volume": (lambda: sn.Box((1, 1, 0)), "size must"),
    "box of minus one": (lambda: sn.Box((1, -1, 1)), "size must"),
    "cylinder without length": (lambda: sn.Cylinder(0.1, 0.0), "length must be a finite number above 0, got 0"),
    "cylinder without radius": (lambda: sn.Cylinder(0.0, 1.0), "radius must be a finite number above 0, got 0"),
    "capsule without radius": (lambda: sn.Capsule(0.0, 1.0), "radius must be a finite number above 0, got 0"),
    "capsule of no number": (lambda: sn.Capsule(math.nan, 1.0), "radius must be"),
    "plane without normal": (lambda: sn.Plane((0, 0, 0), (0, 0, 0)), "normal must"),
    "open mesh": (lambda: sn.Mesh(CORNERS, FACES[:3]), "faces must close the mesh"),
    "mesh with a face turned": (
        lambda: sn.Mesh(CORNERS, np.vstack((FACES[:3], FACES[3:, ::-1]))), "faces must close the mesh",
    ),
    "mesh inside out": (lambda: sn.Mesh(CORNERS, FACES[:, ::-1]), "wound outwards|inside out|volume"),
    "flat mesh": (lambda: sn.Mesh(CORNERS * (1, 1, 0), FACES), "faces must have an area"),
    "field of one row": (lambda: sn.HeightField(np.zeros((1, 5)), (1, 1)), "heights must"),
    "field without size": (lambda: sn.HeightField(np.zeros((5, 5)), (1, 0)), "size must"),
    "field of no number": (lambda: sn.HeightField(np.full((5, 5), math.nan), (1, 1)), "heights must"),
}  # fmt: skip


@pytest.mark.parametrize("case", SHAPES)
def test_shapes_that_are_none(case: str) -> None:
    make, message = SHAPES[case]
    with pytest.raises(sn.InputError, match=message):
        make()


def met() -> tuple[sn.Scene, sn.Obstacle, sn.RigidBody]:
    scene = sn.Scene()
    floor = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), UP), name="floor"))
    return scene, floor, scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(0, 0, 1), name="ball"))


stranger = sn.RigidBody.sphere(0.1, mass=1.0, name="stranger")
faceless = sn.RigidBody.from_inertia(1.0, (1, 1, 1), name="faceless")

CALLS: dict[str, tuple[Callable[[Any, Any, Any], object], str]] = {
    "negative friction": (lambda s, f, b: s.collide(b, f, friction=-0.1), "friction must be .*-0.1"),
    "friction of no number": (lambda s, f, b: s.collide(b, f, friction=math.nan), "friction must be"),
    "negative static friction": (lambda s, f, b: s.collide(b, f, static_friction=-1.0), "static_friction must be .*-1"),
    "less static friction": (
        lambda s, f, b: s.collide(b, f, friction=0.5, static_friction=0.4),
        "static_friction must be at least friction, 0.5, got 0.4",
    ),
    "too much restitution": (lambda s, f, b: s.collide(restitution=1.1), "restitution must be at most 1, got 1.1"),
    "negative margin": (lambda s, f, b: s.collide(margin=-1e-3), "margin must be"),
    "negative rolling friction": (lambda s, f, b: s.collide(rolling_friction=-1e-3), "rolling_friction must be"),
    "negative twisting friction": (lambda s, f, b: s.collide(twisting_friction=-1e-3), "twisting_friction must be"),
    "what is in no scene": (lambda s, f, b: s.collide(stranger, f), "needs stranger, which is not in this scene"),
    "the second in no scene": (lambda s, f, b: s.collide(b, stranger), "needs stranger, which is not in this scene"),
    "one of a group in no scene": (lambda s, f, b: s.collide([b, stranger], f), "needs stranger"),
    "no things at all": (lambda s, f, b: s.collide([], f), "no things at all"),
    "a shape": (lambda s, f, b: s.collide(b, sn.Plane((0, 0, 0), UP)), "takes bodies and obstacles"),
    "only a second": (lambda s, f, b: s.collide(None, b), "the first is missing"),
    "to ignore what is in no scene": (lambda s, f, b: s.ignore(stranger), "needs stranger"),
    "to ignore nothing": (lambda s, f, b: s.ignore(None), "ignore takes the thing"),
    "to look between strangers": (lambda s, f, b: s.contacts.between(b, stranger), "needs stranger"),
    "negative default": (lambda s, f, b: setattr(s.contacts, "friction", -0.2), "friction must be .*-0.2"),
    "negative number of a pair": (
        lambda s, f, b: setattr(s.collide(b, f), "friction", -0.3), "friction must be .*-0.3",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_calls_that_are_refused(case: str) -> None:
    """The default law, the rules and the future are what they were."""
    call, message = CALLS[case]
    scene, floor, ball = met()
    before = scene._rules.default
    with pytest.raises(sn.InputError, match=message):
        call(scene, floor, ball)
    assert scene._rules.default == before
    assert all(rule.law == Law() for rule in scene._rules.rules)  # of the pair that a call made before it
    scene.run(0.1, 1 / 240)


def test_what_has_no_surface_is_named() -> None:
    scene, floor, _ = met()
    scene.add(faceless)
    with pytest.raises(sn.InputError, match="faceless has no surface"):
        scene.collide(faceless, floor)
    assert scene._rules.rules == []


def sunk(what: str, depth: float) -> tuple[sn.Scene, Any]:
    """Something that is `depth` (m) in the floor, or in its like, when the scene begins: scene, and its height."""
    scene = sn.Scene()
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), UP), name="floor"))
    if what == "rope":
        rod = scene.add(sn.Rod.straight(
            (0, 0, 8e-3 - depth), (0.2, 0, 8e-3 - depth), section=sn.Section.circle(8e-3), material=HEMP,
            control_points=7, name="rope",
        ))  # fmt: skip
        scene.collide()
        return scene, lambda: float(rod.control_points[:, 2].min()) - 8e-3
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(0, 0, 0.05 - depth), name="box"))
    scene.collide()
    return scene, lambda: float(box.position[2]) - 0.05


@pytest.mark.parametrize(("what", "depth"), [("rope", 2e-3), ("rope", 7e-3), ("box", 2e-3), ("box", 5e-3)])
def test_a_shallow_overlap_is_pushed_apart_gently(what: str, depth: float) -> None:
    """An event names both; they leave each other by no more than the rope's radius (a tenth of the box) in 0.05 s."""
    scene, height = sunk(what, depth)
    heights = [height()]
    for _ in range(60):
        scene.step(1 / 240)
        heights.append(height())
    told = [event for event in scene.events if event.kind == "overlap"]
    assert len(told) == 1
    assert told[0].message == (
        f"{what} and floor overlap by {depth:.3g} m where the scene begins, and are pushed apart gently"
    )
    fastest = (8e-3 if what == "rope" else 0.01) / 0.05
    assert np.diff(heights).max() * 240 < 1.05 * fastest
    assert max(heights) < fastest**2 / (2 * 9.81)  # what that speed throws up
    assert abs(heights[-1]) < 1e-5


@pytest.mark.parametrize(("what", "depth"), [("rope", 9e-3), ("box", 0.03)])
def test_a_deep_overlap_is_refused_with_names(what: str, depth: float) -> None:
    """In the first step, which changes nothing; put apart or told to pass through, the scene runs."""
    scene, height = sunk(what, depth)
    for _ in range(2):
        with pytest.raises(sn.InputError, match=f"{what} and floor overlap where the scene begins"):
            scene.step(1 / 240)
        assert scene.time == 0.0
        assert height() == pytest.approx(-depth, abs=1e-12)
    scene.ignore(scene.bodies[0], scene.obstacles[0])
    scene.run(0.05, 1 / 240)
    assert height() < -depth
