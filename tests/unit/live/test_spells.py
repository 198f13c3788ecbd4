"""The quiet badge: what had to be done to steps is shown for as long as it lasts and a little longer, and no louder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

import sennit as sn
from sennit.live.scene_play import ScenePlay
from sennit.live.spells import KINDS, LASTS, Spell, Spells


@dataclass(frozen=True)
class Happening:
    """An event that counts its steps."""

    time: float
    kind: str
    steps: int = 1
    message: str = ""
    subjects: tuple[Any, ...] = ()


@pytest.fixture
def scene() -> sn.Scene:
    scene = sn.Scene(gravity=(0, 0, 0))
    scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    return scene


def happens(scene: sn.Scene, kind: str, steps: int = 1, message: str = "") -> None:
    scene._events.append(Happening(scene.time, kind, steps, message))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_a_spell_is_shown_while_it_lasts_and_a_little_longer(scene: sn.Scene, kind: str) -> None:
    spells = Spells(scene)
    assert spells.newest is None
    happens(scene, kind, message="the thread is too stiff for this step")
    for steps in range(1, 40):  # it goes on for longer than it would be shown after its beginning
        scene._events[-1] = replace(scene._events[-1], steps=steps)
        assert spells.newest == Spell(kind, steps, "the thread is too stiff for this step")
        scene.step(0.1)
    scene.run(LASTS - 0.3, dt=0.1)
    assert spells.newest is not None
    scene.run(0.4, dt=0.1)
    assert spells.newest is None


def test_the_newest_one_is_shown(scene: sn.Scene) -> None:
    spells = Spells(scene)
    happens(scene, "divided", 3)
    scene.step(0.1)
    happens(scene, "released")
    happens(scene, "held", 2)
    assert spells.newest == Spell("held", 2)
    scene.step(0.1)
    scene._events[0] = replace(scene._events[0], steps=4)  # the first goes on
    assert spells.newest == Spell("divided", 4)


def test_a_scene_that_goes_back_has_no_spell(scene: sn.Scene) -> None:
    spells = Spells(scene)
    start = scene.snapshot()
    scene.step(0.1)
    happens(scene, "calmed")
    assert spells.newest is not None
    scene.restore(start)
    assert spells.newest is None
    scene.step(0.1)
    happens(scene, "held")
    assert spells.newest == Spell("held", 1)
    scene.reset()
    assert spells.newest is None


def test_events_without_a_count_are_of_one_step(scene: sn.Scene) -> None:
    scene._events.append(sn.Event(0.0, "divided", (), "halved"))  # type: ignore[arg-type]
    assert Spells(scene).newest == Spell("divided", 1, "halved")


def test_a_spell_does_not_interrupt(scene: sn.Scene) -> None:
    """It is no trouble that a page tells in a window of its own; what else happens is."""
    play = ScenePlay(scene)
    happens(scene, "divided", message="halved")
    assert play.trouble == "" and play.spell == Spell("divided", 1, "halved")
    happens(scene, "broke", message="the rope broke")
    happens(scene, "held", message="stood still")
    assert play.trouble == "the rope broke" and play.spell == Spell("held", 1, "stood still")
    play.reset()
    assert play.trouble == "" and play.spell is None


def test_contacts_are_no_news(scene: sn.Scene) -> None:
    spells = Spells(scene)
    happens(scene, "broken", message="rope has broken")
    for kind in ("touch", "part"):
        happens(scene, kind, message="box touches floor")
        assert spells.other == "rope has broken"
