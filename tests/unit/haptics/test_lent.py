"""What is done to a scene here while a haptic loop has it in its process is refused: it would be lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fuzz.calls import CALLS, SETTINGS, Kit, Of
from fuzz.trial import fingerprint
from unit.haptics.test_loop import COUPLING, assembled, path, until

import sennit as sn
from sennit import InputError
from sennit.haptics import HapticLoop, ScriptedDevice

APART = {
    "Scene.name": "it changes nothing of the motion",
    "Sheave.friction": "of a sheave that no cable has",
    "Needle.piercing": "of a needle that is in no scene", "Needle.cutting": "", "Needle.friction": "",
    "Nest.enabled": "of a nest that is in no scene",
    "Hair.drag": "hair is in no scene", "Hair.friction": "", "Hair.gravity": "", "Hair.wind": "", "Hair.pose": "",
}  # fmt: skip
"""What can be set although a loop holds the kit's scene."""


@pytest.mark.parametrize("name", SETTINGS)
def test_nothing_can_be_set(name: str) -> None:
    kit = Kit()
    owner, value = SETTINGS[name]
    thing, attribute = getattr(kit, owner), name.split(".")[1]
    given = value.read(kit) if isinstance(value, Of) else value
    kit.scene._lend(True)
    before = fingerprint(kit)
    if name in APART:
        setattr(thing, attribute, given)
    else:
        with pytest.raises(InputError, match="haptic loop"):
            setattr(thing, attribute, given)
    assert fingerprint(kit) == before or name == "Scene.name"
    kit.scene._lend(False)
    setattr(thing, attribute, given)


def test_a_call_changes_nothing_or_says_so() -> None:
    """Every method of something that is in the scene with valid arguments: what is not refused leaves every bit."""
    tried = []
    for name, call in CALLS.items():
        kit = Kit()
        function, given = call.made(kit)
        owner = getattr(function, "__self__", None)
        if owner is kit.scene or getattr(owner, "_scene", None) is kit.scene:
            tried.append(name)
            _changes_nothing_or_says_so(name, kit, function, given)
    assert {"Scene.add", "Scene.displace", "Scene.collide", "Cable.drive", "Rod.cut", "Rod.set_shape"} <= set(tried)


def _changes_nothing_or_says_so(name: str, kit: Kit, function: Any, given: dict[str, Any]) -> None:
    kit.scene._lend(True)
    before = fingerprint(kit)
    try:
        result: Any = function(**given)
    except InputError:
        result = None
    if isinstance(result, sn.View):
        result.close()
    declares = name.startswith(("Scene.control", "Scene.watch", "Scene.decorate", "Scene.show", "Scene.scenario"))
    assert declares or fingerprint(kit) == before, name


def test_methods_without_arguments_are_refused() -> None:
    kit = Kit()
    lock = kit.scene.add(sn.Lock(kit.box.at(), kit.ball.at()))
    kit.scene._lend(True)
    before = fingerprint(kit)
    for act in (
        kit.fix.hold, kit.clamp.hold, lock.hold, kit.cable.brake, kit.cable.release, kit.rope.anneal, kit.scene.reset,
        kit.scene.settle,
    ):  # fmt: skip
        with pytest.raises(InputError, match="haptic loop"):
            act()
    assert fingerprint(kit) == before


def test_while_a_loop_runs_it_is_said_and_afterwards_it_works() -> None:
    scene, rope, _, _ = assembled()
    box = next(body for body in scene.bodies if isinstance(body, sn.RigidBody))
    place = sn.World.at((1.0, 0.2, 1.0))
    scene.add(sn.Distance(rope.at(rope.length), place))
    clamp, load = scene.constraints[0], scene.loads[0]
    target = clamp.target
    hand = ScriptedDevice(path, seconds=0.05)
    with HapticLoop(scene, hand, grip=rope.at(0.6), coupling=COUPLING) as loop:
        for thing, name, value in (
            (clamp, "target", (0.0, 0.0, 1.1)), (clamp, "enabled", False), (load, "force", (0.0, 0.0, 5.0)),
            (place, "position", (1.0, 0.0, 1.0)), (scene.constraints[-1], "length", 0.3),
            (scene, "gravity", (0.0, 0.0, 0.0)), (box, "velocity", (1.0, 0.0, 0.0)),
        ):  # fmt: skip
            with pytest.raises(InputError, match=r"held|holds the scene: do it before the loop begins or after"):
                setattr(thing, name, value)
        for act in (lambda: scene.step(1e-3), lambda: scene.remove(load), lambda: sn.view(scene, block=False)):
            with pytest.raises(InputError, match="held by a haptic loop"):
                act()
        with pytest.raises(InputError, match="held by a haptic loop"):
            HapticLoop(scene, hand, grip=rope.at(0.6), coupling=COUPLING).start()
        until(lambda: not loop.running)
    assert scene.time > 0.05 and not loop.statistics.lost
    np.testing.assert_array_equal(clamp.target.position, target.position)
    np.testing.assert_array_equal(place.position, (1.0, 0.2, 1.0))
    place.position = (1.0, 0.0, 1.0)
    clamp.target, load.force = (0.0, 0.0, 1.1), (0.0, 0.0, 5.0)
    scene.step(1e-3)
    assert place.position[1] == 0.0 and load.force[2] == 5.0


def test_a_scene_that_a_page_runs_is_no_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    scene, rope, _, _ = assembled()
    monkeypatch.setattr(scene, "_runner", ("the page at http://somewhere", -1))
    with pytest.raises(InputError, match="run by the page"):
        HapticLoop(scene, ScriptedDevice(path, seconds=0.05), grip=rope.at(0.6), coupling=COUPLING).start()
