"""The page of a haptic loop: the loop's process shows its scene, and the page's mouse may be the loop's hand."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from sennit.constraints.constraint import AbstractConstraint
from sennit.errors import InputError
from sennit.haptics.engine import Engine
from sennit.haptics.mouse import MouseDevice
from sennit.haptics.subjects import SceneSubject
from sennit.live.channel import numbers_of
from sennit.live.host import Host
from sennit.live.play import Place
from sennit.live.scene_play import ScenePlay
from sennit.live.wire import Wire
from sennit.point import WorldPoint
from sennit.portrait.cast import Portrait
from sennit.validation import FloatArray

__all__ = ["LoopHost", "LoopPlay", "Shown"]

FRAMES = 60.0
"""A second, about."""
PATIENCE = 30.0
"""S: within which the page must be served."""


class LoopPlay(ScenePlay):
    """The scene of a loop, as a page shows it: the loop makes the steps."""

    def __init__(self, subject: SceneSubject, mouse: MouseDevice | None, title: str | None = None) -> None:
        self.subject, self._mouse = subject, mouse
        self._free = mouse is not None and subject.grip is None
        """Whether the mouse holds what it grabs, and not a grip that was given."""
        self._mouse_holds = False
        self._offset = np.zeros(3)
        super().__init__(subject.scene, dt=subject.dt, title=title)
        subject.before = self._second_hand

    def _second_hand(self) -> None:
        if self._hand is not None:
            self._move_hand()

    def _unseen(self) -> tuple[AbstractConstraint, ...]:
        own = () if self.subject.tie is None else (self.subject.tie,)
        return (*super()._unseen(), *own)

    def step(self) -> None:
        """One step without the loop's hand: only a page that has paused the loop asks for it."""
        self.subject.step(None)

    def reset(self) -> None:
        """Go back to how the scene was when the page was opened; the hand takes hold anew."""
        self.release()
        super().reset()
        self.subject.afresh()

    @property
    def holding(self) -> bool:
        """Whether the page's hand, or the loop's, holds something."""
        return self._hand is not None or (self.subject.tie is not None and self.subject.tie.enabled)

    @property
    def grip(self) -> tuple[FloatArray, FloatArray]:
        """Where the hand is, and where the place that it holds is: (3,) each, m."""
        if self._hand is not None:
            return super().grip
        assert self.subject.tie is not None
        return self.subject.tie._anchor.position, self.subject.place()[:3]

    def grab(self, part: int, place: Place) -> None:
        """Take hold: with the loop's hand if that is the mouse, with a second one otherwise."""
        mouse, subject = self._mouse, self.subject
        if mouse is None:
            super().grab(part, place)
            return
        point = self._point(part, place)
        if isinstance(point, WorldPoint):
            raise InputError("this does not move")
        if self._free:
            subject.hold(point)
        now = subject.place()
        self._offset = now[:3] - point.position
        mouse.move(now[:3], now[3:])
        mouse.grab()
        self._mouse_holds = True

    def drag(self, hand: FloatArray) -> None:
        """Move the hand to (3,), m."""
        if self._mouse is None:
            super().drag(hand)
        elif self._mouse_holds:
            self._mouse.move(hand + self._offset)

    def release(self) -> None:
        """Let go."""
        super().release()
        if self._mouse is not None and self._mouse_holds:
            self._mouse_holds = False
            self._mouse.release()
            if self._free:
                self.subject.let_go()


class LoopHost(Host):
    """Shows a loop, which makes the steps itself, in real time."""

    def __init__(self, play: LoopPlay, engine: Engine) -> None:
        super().__init__(cast(Any, play))
        self.play: LoopPlay = play
        self._engine = engine
        self._before = play.time
        self._half = False
        self._shown_portrait: Portrait | None = None
        self._ties_shown = -1
        self._seen: list[AbstractConstraint] = []
        self._handle = 0

    def refresh(self) -> None:
        """Every other time, do what the page asks and find out where everything is; else, tell the page the rest of it.

        Both halves of a frame fit into what a tick of 1 ms leaves over; the whole does not always.
        """
        self._half = not self._half
        if self._half:
            self.poll()
            self._engine.paused = self.paused
            if self._wire is None:
                return
            portrait = self.play.portrait
            if portrait is not self._shown_portrait or self._ties_shown != len(self.play.scene.constraints):
                self._shown_portrait, self._ties_shown = portrait, len(self.play.scene.constraints)
                self.publish()  # other things are there: all is told anew
                self._seen = self.play._constraints()
                return
            self._layout.split(self._frame)["parts"][:] = portrait.capture()
        elif self._wire is not None and self._writer is not None:
            self._tell_rest()

    def _tell_rest(self) -> None:
        now, play = self._clock(), self.play
        moved = max(play.time - self._before, 0.0)
        self._before = play.time
        self._spent.append(self._engine.took)
        self._work.append((now, moved, moved / play.dt * self._engine.took))
        pieces = self._layout.split(self._frame)
        pieces["status"][:] = numbers_of(self._status())
        pieces["ties"][:] = [float(tie.enabled) for tie in self._seen]
        handles = play._handles
        if handles:  # they seldom move: one after the other will do
            self._handle = (self._handle + 1) % len(handles)
            pose = handles[self._handle].read()
            row = pieces["handles"][self._handle]
            row[:3], row[3:] = pose.position, pose.quaternion
        assert self._writer is not None
        self._writer.write(self._frame)

    def _do_speed(self, value: float) -> None:
        if value != 1.0:
            raise InputError("a haptic loop runs in real time: its speed can't be changed")


class Shown:
    """A page that is opened beside a loop. The page's process is started in a thread: it takes its time."""

    def __init__(
        self,
        subject: SceneSubject,
        engine: Engine,
        mouse: MouseDevice | None,
        order: dict[str, Any],
        answer: Callable[[dict[str, Any]], None],
    ) -> None:
        self.every = max(1, round(0.5 / (FRAMES * engine.period)))
        """Ticks between two halves of a frame."""
        self._subject, self._engine, self._mouse, self._order, self._answer = subject, engine, mouse, order, answer
        self._process: subprocess.Popen[bytes] | None = None
        self._wire: Wire | None = None
        self._host: LoopHost | None = None
        self._outcome: dict[str, Any] | None = None
        self._thread = threading.Thread(target=self._open, name="sennit page", daemon=True)
        self._thread.start()

    def _open(self) -> None:
        """In its own thread: start the page's process and wait until it serves."""
        from sennit.view.session import _start_page

        try:
            self._process = _start_page()
            assert self._process.stdin is not None and self._process.stdout is not None
            self._wire = Wire(cast(Any, self._process.stdout), cast(Any, self._process.stdin))
            order = {key: self._order[key] for key in ("address", "port")}
            self._wire.send({"say": "hello", "title": self._order["title"] or "sennit", **order})
            deadline = time.monotonic() + PATIENCE
            while (left := deadline - time.monotonic()) > 0.0:
                message = self._wire.receive(left)
                said = None if message is None else message[0].get("say")
                if message is not None and said == "ready":
                    self._outcome = {"say": "shown", "url": message[0]["url"]}
                    return
                if message is not None and said == "failed":
                    self._outcome = _failure(f"the page can't be served: {message[0].get('text')}")
                    return
            self._outcome = _failure("the page's process does not answer")
        except (OSError, EOFError) as problem:
            self._outcome = _failure(f"the page's process ended before it served anything: {problem}")

    def refresh(self) -> None:
        """Between two ticks: show the present."""
        if self._host is not None:
            if not self._host.closed:
                self._host.refresh()
            return
        outcome, self._outcome = self._outcome, None
        if outcome is None:
            return
        if outcome["say"] == "shown":
            assert self._wire is not None
            self._host = LoopHost(LoopPlay(self._subject, self._mouse, self._order["title"]), self._engine)
            self._host.attach(self._wire)
        self._answer(outcome)

    def close(self) -> None:
        """End the page."""
        self._thread.join()
        if self._host is not None:
            self._host.close()
        if self._wire is not None:
            self._wire.close()
        if self._process is not None:
            try:
                self._process.wait(3.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


def _failure(text: str) -> dict[str, Any]:
    return {"say": "failed", "kind": "OSError", "text": text}
