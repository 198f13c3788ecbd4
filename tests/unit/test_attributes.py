"""Attributes that there are not, or that can't be changed, are refused by an error that says what can be set."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from typing import Any

import numpy as np
import pytest
from fuzz.calls import CORNERS, FACES, GEL, ROPE, SOFT, Kit, bent, chain, gel, law, strand

import sennit as sn
from sennit.attributes import settable


@functools.cache
def things() -> dict[str, Any]:
    """An object of every public class that users hold, by the name of its class."""
    kit = Kit()
    box, rope, world = kit.box.at((0.05, 0, 0)), kit.rope.at(0.7), sn.World.at((1, 0, 0))
    ball = sn.Sphere((0.15, 0.1, 0.1 + 0.05 - 1e-3), 0.05)
    found: list[Any] = [
        kit.scene, kit.rope, kit.box, kit.pearl, kit.slider, kit.clamp, kit.fix, kit.follow, kit.distance, kit.hinge,
        kit.cable, kit.load, kit.nest, kit.track, kit.pad, kit.control, kit.snapshot, kit.anchor, kit.grip, box,
        kit.scene.watch("height", lambda: 0.0), kit.scene.show("score", lambda: 0.0),
        kit.scene.decorate(np.eye(3), [(0, 1, 2)]), kit.rope.energy,
        sn.Event(0.0, "broke"), kit.scene.energy, kit.scene.report, sn.SettleReport("converged", True, 1, 0.0),
        sn.Align(rope, (0, 0, 1)), sn.OnPlane(box, (0, 0, 1)), sn.OnAxis(box, (0, 0, 1)),
        sn.OnCircle(box, (0, 0, 0), (0, 0, 1), 1.0), sn.Fuse(box, rope), sn.Ball(box, rope), sn.Lock(box, rope),
        sn.Prismatic(box, world, (1, 0, 0)), sn.Screw(box, world, (1, 0, 0), lead=0.1), sn.Motor(),
        sn.Keyhole(kit.rope, 0.4, world), sn.Sheave(world, (0, 1, 0), 0.1),
        sn.Needle(
            kit.rope.at(1.0), kit.pad, length=0.05, thickness=1e-3, piercing=1.0, cutting=0.1, friction=1.0, patch=0.2,
            holes=1,
        ),
        sn.Route([0, 1], [(0, 0, 0)] * 2), SOFT, ROPE, sn.Pose(), ball,
        sn.Properties(EA=1, EI=1, GJ=1, mass=1, radius=1),
        sn.Plane((0, 0, 0), (0, 0, 1)), sn.Box((1, 1, 1)), sn.Mesh(CORNERS, FACES), sn.Cylinder(0.1, 0.2),
        sn.Capsule(0.1, 0.2), sn.HeightField(np.zeros((3, 3)), (1.0, 1.0)), sn.Obstacle(ball), kit.scene.contacts,
        sn.Inside(kit.rope, sn.Cylinder(0.1, 2.0)),
        kit.scene.contacts.between(kit.box),
        sn.Contact(kit.rope, kit.box, *np.zeros((2, 3)), 0.0, *np.eye(3), "slip"),
        kit.clock, kit.recording, kit.mechanism, kit.hair, sn.DistanceGrid(np.ones((2, 2, 2)), (0, 0, 0), 0.1),
        kit.batch, kit.batch.save(), sn.SweepFailure(1.0, "ValueError", "no", ""),
        strand(), bent(), bent().energy, bent().report, law(), sn.PointLoad(0.1), sn.VirtualCoupling(1.0), gel(),
        gel().solve(loads={len(gel().vertices) - 1: (0, 0, 1.0)}), gel().press(ball),
        chain(), chain().solve(poses=[sn.Pose()] * 2),
        sn.ScriptedDevice([(0, 0, 0)]), sn.MouseDevice(), sn.DeviceState(sn.Pose()), sn.ForceDimensionDevice(),
        sn.OpenHapticsDevice(), sn.HaplyDevice(), sn.SpaceMouseDevice(),
        sn.HapticLoop(sn.Scene.load(kit.scene_file), sn.MouseDevice(), coupling=sn.VirtualCoupling(1.0)),
    ]  # fmt: skip
    return {type(thing).__name__: thing for thing in found}


NO_OBJECTS = {"HapticDevice", "World", "Point", "ChainPressState", "ChainTouchState", "View"}
"""A protocol, what has no objects of its own, and fellows of what is tried."""


def test_all_public_classes_are_tried() -> None:
    public = {name for name in sn.__all__ if inspect.isclass(getattr(sn, name))}
    errors = {name for name in public if issubclass(getattr(sn, name), BaseException)}
    assert public - errors - NO_OBJECTS <= things().keys()
    for name in NO_OBJECTS - {"HapticDevice", "World"}:
        assert hasattr(getattr(sn, name), "_settable")


def test_what_cannot_be_set_is_refused() -> None:
    for name, thing in things().items():
        kind = type(thing)
        can = settable(kind)
        members = {*dir(kind), *getattr(thing, "__dict__", {})}
        if dataclasses.is_dataclass(thing):
            members |= {field.name for field in dataclasses.fields(thing)}
        for key in sorted(key for key in members if not key.startswith("_") and key not in can):
            before = repr(inspect.getattr_static(thing, key, None))
            with pytest.raises(sn.InputError, match=f"'{key}' of an? {name} can't be set") as caught:
                setattr(thing, key, 1.0)
            assert isinstance(caught.value, AttributeError)
            assert all(word in str(caught.value) for word in can)
            with pytest.raises(AttributeError):
                delattr(thing, key)
            assert repr(inspect.getattr_static(thing, key, None)) == before
        for key in sorted(can):  # one letter is missing
            with pytest.raises(sn.InputError, match=f"has no attribute '{key[:-1]}': did you mean '{key}"):
                setattr(thing, key[:-1], 1.0)
            assert not hasattr(thing, key[:-1])


def test_what_is_said() -> None:
    kit = Kit()
    cases = (
        (kit.scene, "gravty", "a Scene has no attribute 'gravty': did you mean 'gravity'? What can be set: drag, "
         "gravity, integrator, name"),
        (kit.rope, "length", "'length' of a Rod can't be set. What can be set: breaking_curvature, "
         "breaking_load, control_points, control_velocities, damping, material, properties, rest_curvature, "
         "rest_twist, roll_rates, rolls, section"),
        (GEL, "densty", "a Material has no attribute 'densty': did you mean 'density'? It never changes: make a new "
         "Material instead"),
        (sn.Sheave(kit.anchor, (0, 1, 0), 1), "radius", "'radius' of a Sheave can't be set. What can be set: friction"),
        (sn.Route([0, 1], ((0, 0, 0), (1, 0, 0))), "times",
         "'times' of a Route can't be set. Nothing of it can be set"),
        (kit.scene, "colour", "a Scene has no attribute 'colour'. What can be set: drag, gravity, integrator, name"),
    )  # fmt: skip
    for thing, name, text in cases:
        with pytest.raises(sn.InputError) as caught:
            setattr(thing, name, 1.0)
        assert str(caught.value) == text


def test_classes_of_users_have_attributes_of_their_own() -> None:
    class Gantry(sn.Scene):
        def __init__(self) -> None:
            super().__init__()
            self.winch = None
            self.hooks = 2

    gantry = Gantry()
    gantry.hooks = 3
    assert gantry.hooks == 3
    gantry.drag = 0.5
    for name in ("time", "events", "step"):
        with pytest.raises(sn.InputError, match=name):
            setattr(gantry, name, 1.0)
    del gantry.hooks


def test_a_scenes_name_is_checked() -> None:
    scene = sn.Scene(name="crane")
    scene.name = "small crane"
    assert scene.name == "small crane"
    with pytest.raises(sn.InputError, match="name must be a text"):
        scene.name = 3  # type: ignore[assignment]
    scene.name = None
    assert scene.name is None


def test_what_a_step_writes_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """No step goes through the check of attributes, not even one that leads targets along paths."""
    kit = Kit()
    kit.scene.step(1e-3)
    written: list[str] = []
    plain = sn.Scene.__setattr__

    def noted(self: Any, name: str, value: object) -> None:
        written.append(name)
        plain(self, name, value)

    for kind in (sn.Scene, type(kit.rope).__mro__[1], type(kit.clamp).__mro__[1], sn.Point, sn.Load):
        monkeypatch.setattr(kind, "__setattr__", noted)
    kit.scene.run(0.01, dt=1e-3)
    assert not written
