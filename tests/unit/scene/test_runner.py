"""A scene that a page runs belongs to the page's thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

import sennit as sn


@pytest.mark.parametrize(
    "act",
    [
        lambda s: s.step(1e-3),
        lambda s: s.run(1e-3, dt=1e-3),
        lambda s: s.settle(throw=False),
        lambda s: s.reset(),
        lambda s: s.restore(s.snapshot()),
        lambda s: s.add(sn.RigidBody.sphere(0.1, mass=1.0)),
        lambda s: s.remove(s.bodies[0]),
        lambda s: sn.view(s, block=False, browser=False, port=0),
    ],
)
def test_others_are_refused(act: Callable[[sn.Scene], object]) -> None:
    scene = sn.Scene()
    scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    scene.step(1e-3)
    scene._runner = ("the page at http://127.0.0.1:8080", -1)
    with pytest.raises(sn.InputError, match="run by the page at"):
        act(scene)
    assert len(scene.bodies) == 1 and scene.time == 1e-3


def test_its_own_thread_is_not() -> None:
    scene = sn.Scene()
    scene._runner = ("the page", threading.get_ident())
    scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    scene.step(1e-3)
    assert scene.time == 1e-3
