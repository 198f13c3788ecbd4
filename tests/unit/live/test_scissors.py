"""Scissors: where a stroke cuts, what it refuses, and how it is undone."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn
from sennit.live.batch_play import BatchPlay
from sennit.live.scene_play import ScenePlay
from sennit.live.scissors import cut_rods

RUBBER = sn.Material(1e7, 0.49, 1000.0)
ROUND = sn.Section.circle(5e-3)
SPANS = 12


def straight(name: str = "rope", y: float = 0.0) -> sn.Rod:
    return sn.Rod.straight((0, y, 1), (1.2, y, 1), section=ROUND, material=RUBBER, control_points=SPANS + 3, name=name)


def ring() -> sn.Rod:
    angles = np.linspace(0.0, 2.0 * np.pi, 25)[:-1]
    line = np.column_stack((np.cos(angles), np.sin(angles), 0 * angles))
    return sn.Rod.through(line, section=ROUND, material=RUBBER, closed=True, control_points=24, name="ring")


def test_pieces_are_where_the_places_were() -> None:
    """In whatever order they come: lengths count along the rod as it was."""
    for places in ((0.3, 0.6, 0.9), (0.9, 0.3, 0.6)):
        scene = sn.Scene()
        rope = scene.add(straight())
        assert cut_rods([(rope, s) for s in places]) == []
        pieces = [body for body in scene.bodies if isinstance(body, sn.Rod)]
        begins = sorted(float(piece.at(0.0).position[0]) for piece in pieces)
        np.testing.assert_allclose(begins, (0.0, 0.3, 0.6, 0.9), atol=1e-9)


def test_a_ring_is_opened_and_parted_at_the_places() -> None:
    scene = sn.Scene()
    made = scene.add(ring())
    whole = made.length
    wanted = [made.at(s).position for s in made.knots[[3, 11, 20]]]
    assert cut_rods([(made, float(s)) for s in made.knots[[11, 3, 20]]]) == []
    pieces = [body for body in scene.bodies if isinstance(body, sn.Rod)]
    assert len(pieces) == 3 and not made.closed
    ends = [piece.at(s).position for piece in pieces for s in (0.0, piece.length)]
    for place in wanted:
        assert sum(np.linalg.norm(end - place) < 1e-6 for end in ends) == 2
    assert sum(piece.length for piece in pieces) == pytest.approx(whole, rel=1e-3)


def test_what_can_be_cut_is_and_the_rest_is_said() -> None:
    scene = sn.Scene()
    rope, other = scene.add(straight()), scene.add(straight("other", 0.5))
    (text,) = cut_rods([(rope, 0.6), (other, 0.01)])
    assert text.startswith("other was not cut: s must be from 0.2 to 1 m")
    assert rope.length == pytest.approx(0.6) and other.length == pytest.approx(1.2)
    (text,) = cut_rods([(other, 0.6), (other, 0.59)])  # to and fro over the same place
    assert text.startswith("other was not cut: ") and other.length == pytest.approx(0.6)


def test_where_nothing_can_be_cut_nothing_is_changed() -> None:
    scene = sn.Scene()
    rope = scene.add(straight())
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(0, 0, 2), name="crate"))
    play = ScenePlay(scene)
    numbers = {play.portrait.subject(k): k for k in range(len(play.portrait.cast.parts))}
    assert list(play.cuttable) == [numbers[rope]]
    for place, match in ((0.0, "rope was not cut: s must be from"), (1.0, "rope was not cut: s must be from")):
        with pytest.raises(sn.InputError, match=match):
            play.cut([(numbers[rope], place)])
    with pytest.raises(sn.InputError, match="crate can't be cut: scissors cut rods"):
        play.cut([(numbers[rope], 0.5), (numbers[box], np.zeros(3))])
    assert len(scene.bodies) == 2 and not scene.events and rope.length == pytest.approx(1.2)


def test_undo_makes_whole_what_one_stroke_has_cut() -> None:
    scene = sn.Scene()
    rope, made = scene.add(straight()), scene.add(ring())
    play = ScenePlay(scene)
    numbers = {play.portrait.subject(k): k for k in range(len(play.portrait.cast.parts))}
    play.remember()
    play.cut([(numbers[rope], 0.5), (numbers[made], 0.3), (numbers[made], 0.7), (numbers[rope], 0.25)])
    assert len(scene.bodies) == 5 and len(play.portrait.cast.parts) == 5
    for _ in range(20):
        play.step()
    play.undo()
    assert len(scene.bodies) == 2 and made.closed and rope.length == pytest.approx(1.2)
    play.step()


def test_a_scene_of_a_batch_is_only_looked_at() -> None:
    scene = sn.Scene()
    scene.add(straight())
    play = BatchPlay(sn.Batch(scene, 2), 0)
    assert list(play.cuttable) == []
    with pytest.raises(sn.InputError, match="only looked at"):
        play.cut([(0, 0.5)])
