"""A kind of constraint that picture and page know nothing of is drawn, listed, switched, removed and plotted."""

from __future__ import annotations

import sennit as sn
from sennit.bodies.point.point import Point
from sennit.bodies.world import WorldPoint
from sennit.constraints.constraint import AbstractConstraint, Row
from sennit.constraints.kernels.rows import TRANSLATE
from sennit.constraints.softness import Softness
from sennit.live.scene_play import ScenePlay
from sennit.live.touch import touch_for


class Shelf(AbstractConstraint):
    """Keeps a point at its height."""

    def __init__(self, p: Point) -> None:
        super().__init__(p, WorldPoint(p.position), [Row(TRANSLATE, axis=(0.0, 0.0, 1.0))], Softness(), "shelf")


def shelved() -> tuple[ScenePlay, sn.RigidBody]:
    scene = sn.Scene()
    box = scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=1.0, position=(0.0, 0.0, 1.0)))
    scene.add(Shelf(box.at((0.1, 0.0, 0.0))))
    return ScenePlay(scene), box


def test_an_unknown_constraint_has_a_mark_where_its_point_is() -> None:
    play, box = shelved()
    cast = play.portrait.cast
    assert [part.name for part in cast.parts] == [box.name, "shelf"]
    view = cast.views(play.portrait.capture())[1]
    assert view.shown[0] == 1.0 and view.position.tolist() == [0.1, 0.0, 1.0]


def test_it_is_listed_switched_removed_and_brought_back() -> None:
    play, _ = shelved()
    (tie,) = play.ties
    assert (tie.name, tie.kind, tie.enabled, tie.parts) == ("shelf", "Shelf", True, (1,))
    assert not play.handles
    play.switch(0, False)
    assert play.portrait.cast.views(play.portrait.capture())[1].shown[0] == 0.0
    play.remove(0)
    assert not play.ties
    play.reset()
    assert [tie.enabled for tie in play.ties] == [True]


def test_its_force_can_be_plotted_and_it_does_not_bear_what_a_hand_lifts() -> None:
    play, box = shelved()
    assert "force of shelf" in [watch.name for watch in play.watches]
    # 2 m g: nothing but the body itself hangs on the hand
    assert touch_for(play.scene, box.at()).force == 2.0 * 9.81
