"""Landing, windlass, pile and gripper as demonstrations: what they check, that they notice defects, how they are played
with.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from sennit.demos import gripper, hoisting, landing, load, pile, stage, windlass
from sennit.live.play import Play

MODULES: dict[str, ModuleType] = {"landing": landing, "windlass": windlass, "pile": pile, "gripper": gripper}
SHOWS = {
    "landing": landing.Landing,
    "windlass": windlass.Hauling,
    "pile": pile.Pouring,
    "gripper": gripper.Laying,
}


@pytest.fixture(scope="module")
def shows() -> dict[str, hoisting.Hoist]:
    """Each show after its whole run, not drawn."""
    made = {}
    for name, kind in SHOWS.items():
        parser = argparse.ArgumentParser()
        MODULES[name].add_arguments(parser)
        show = kind()
        show.begin()
        stage.simulate(show, parser.parse_args([]).seconds)
        made[name] = show
    return made


@pytest.mark.parametrize("name", MODULES)
def test_the_physics_holds(name: str, shows: dict[str, hoisting.Hoist]) -> None:
    show = shows[name]
    assert show.check() == []
    assert len(show.facts()) >= 4
    assert not [event for event in show.scene.events if event.kind in ("held", "calmed", "yielded")]


def test_the_windlass_multiplies_the_hand(shows: dict[str, hoisting.Hoist], validated) -> None:
    exponent = next(fact for fact in shows["windlass"].facts() if "exponent" in fact.name)
    validated(
        "Windlass, 1¾ turns of rope on a turning drum", area="demonstrations", quantity="exponent of friction",
        reference="μθR/(R+r)", error=abs(exponent.measured / exponent.expected - 1.0), bound=0.02,
    )  # fmt: skip


DEFECTS = [
    ("landing", "rows", lambda rows: [(h, 0.9 * ground, *rest) for h, ground, *rest in rows], "ground while it stands"),
    ("landing", "rows", lambda rows: [(h, g, r, 1.0, x) for h, g, r, _, x in rows], "slings while it stands"),
    ("landing", "places", lambda places: [p + 1e-4 * k for k, p in enumerate(places)], "creep"),
    ("windlass", "log", lambda log: [(1.1 * pull, *rest) for pull, *rest in log], "hand while the rope slips"),
    ("windlass", "log", lambda log: [(p, z, 0.9 * v, *rest) for p, z, v, *rest in log], "load's speed over the drum's"),
    ("pile", "deepest", lambda _: 0.6, "overlap of ropes as they fall"),
    ("pile", "overlap", lambda _: 0.1, "overlap as they lie"),
    ("pile", "gained", lambda _: 1.0, "energy from nothing"),
    ("pile", "carried", lambda carried: [0.9 * force for force in carried], "table carries"),
    ("gripper", "log", lambda log: [(0.9 * row[0], *row[1:]) for row in log], "squeeze"),
    ("gripper", "log", lambda log: [(*row[:2], 0.0, *row[3:]) for row in log], "peg carries"),
    ("gripper", "log", lambda log: [(*r[:3], *(x + 1e-5 * k for x in r[3:])) for k, r in enumerate(log)], "slips"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "attribute", "change", "message"), DEFECTS)
def test_a_defect_is_named(
    name: str, attribute: str, change: Callable[[object], object], message: str, shows: dict[str, hoisting.Hoist],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    show = shows[name]
    monkeypatch.setattr(show, attribute, change(getattr(show, attribute)))
    assert any(message in line for line in show.check())


def test_more_friction_needs_less_of_the_hand() -> None:
    show = windlass.Hauling()
    play = show.play()
    pulls = []
    for friction in (0.1, 0.4):
        play.reset()
        play.controls[0].use(False)
        play.controls[3].use(friction)
        play.controls[1].use(0.1)  # the drum turns, the hand holds
        pulls.append(np.mean([run(play, 1) or show.pull() for _ in range(150)][75:]))
    assert pulls[1] < 0.5 * pulls[0]


def test_the_load_is_set_down_on_a_page() -> None:
    show = landing.Landing()
    play = show.play()
    for _ in range(int(32.0 / play.dt)):
        play.step()
        if show.errand == 4:
            break
    assert show.errand == 4
    assert show.carried() == pytest.approx(landing.LOAD * landing.GRAVITY, rel=0.01)
    assert all(sling.slack for sling in show.crane.slings)


def run(play: Play, steps: int) -> None:
    for _ in range(steps):
        play.step()


@pytest.mark.parametrize("name", MODULES)
def test_pages_are_registered(name: str) -> None:
    play = load(name).play()
    assert play.controls and play.watches
