"""What a page sees of a loop's scene, and can do to it: the loop's side."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from sennit.bodies.point.point import Point
from sennit.constraints.constraint import AbstractConstraint
from sennit.errors import InputError
from sennit.haptics import handover
from sennit.haptics.mirror import StateWriter
from sennit.haptics.subjects import SceneSubject
from sennit.live.arrows import contact_arrows
from sennit.live.play import Place
from sennit.live.scene_play import ScenePlay
from sennit.live.scissors import cut_rods

__all__ = ["Stage"]


class _Twin(ScenePlay):
    """Does to the loop's scene what was done to its twin in the other process; places come as points, described."""

    def __init__(self, subject: SceneSubject) -> None:
        self._subject = subject
        super().__init__(subject.scene, dt=subject.dt)

    def _unseen(self) -> tuple[AbstractConstraint, ...]:
        own = () if self._subject.tie is None else (self._subject.tie,)
        return (*super()._unseen(), *own)

    def _point(self, part: int, place: Place) -> Point:
        return handover.made_point(self.scene, place)  # type: ignore[arg-type]

    def remember(self) -> Callable[[], None]:
        """Keep the scene as it is, whoever holds it: its twin knows when."""
        past = tuple(self._past)
        self._keep()

        def forget() -> None:
            self._past.clear()
            self._past.extend(past)

        return forget

    def move_second_hand(self) -> None:
        """Before each step."""
        if self._hand is not None:
            self._move_hand()

    def move_handle(self, number: int, pose: list[float]) -> None:
        """Move a clamp's target, a point of the world."""
        self._find_handles()
        self._handles[number].move(handover.made_pose(pose))


class Stage:
    """The loop's side of a page: it writes states and does what messages say."""

    def __init__(self, subject: SceneSubject) -> None:
        self._subject = subject
        self._free = subject.grip is None
        self._twin = _Twin(subject)
        subject.before = self._twin.move_second_hand
        self._writer = StateWriter(subject.scene, self._twin._unseen)
        self._forget: Callable[[], None] | None = None
        self._contacts = False
        """Whether somebody wants to see forces of contacts."""
        self._waiting = False
        """Whether the twin is about to cut what was cut here, in the state that it was told then."""

    @property
    def memory(self) -> str:
        """Name of the memory that states are written to."""
        return self._writer.name

    def show(self, took: float) -> None:
        """Write the present state; `took`: time of the last step, s."""
        if not self._waiting:
            self._writer.write(took, contact_arrows(self._subject.scene) if self._contacts else None)

    def _cut(self, places: list[list[float]]) -> None:
        """Cut rods, given by number and rest length, m; the twin does so in the same state, which it is shown first."""
        self._writer.cuts += 1
        self._waiting = False
        self.show(0.0)
        self._waiting = True
        bodies: Any = self._subject.scene.bodies
        with contextlib.suppress(InputError):  # its twin is refused likewise, and says so
            cut_rods([(bodies[int(number)], s) for number, s in places])
            self._writer.changed()

    def handle(self, said: str, header: dict[str, Any]) -> None:
        """Do what a message says."""
        twin, subject = self._twin, self._subject
        if said == "hold":
            subject.hold(handover.made_point(subject.scene, header["point"]))
        elif said == "let go":
            subject.let_go()
        elif said == "grab":
            twin.grab(0, header["point"])
        elif said == "drag":
            twin.drag(np.array(header["hand"]))
        elif said == "release":
            twin.release()
        elif said == "step":
            subject.step(None)
        elif said == "reset":
            if self._free:
                subject.let_go()
            twin.reset()
            subject.afresh()
        elif said == "remember":
            self._forget = twin.remember()
        elif said == "forget" and self._forget is not None:
            self._forget()
        elif said == "undo":
            if self._free:
                subject.let_go()
            twin.undo()
            subject.afresh()
        elif said == "gravity":
            twin.set_gravity(np.array(header["value"]))
        elif said == "pin":
            twin.pin(0, header["point"])
        elif said == "switch":
            twin.switch(header["tie"], header["on"])
        elif said == "remove":
            twin.remove(header["tie"])
        elif said == "cut":
            self._cut(header["places"])
        elif said == "seen":
            self._waiting = False
        elif said == "arrows":
            self._contacts = bool(header["contacts"])
        elif said == "handle":
            twin.move_handle(header["handle"], header["pose"])
        if said in ("pin", "remove", "reset", "undo"):
            self._writer.changed()

    def close(self) -> None:
        """Let go of the memory, and of what the page's hand holds."""
        self._twin.release()
        self._writer.close()
