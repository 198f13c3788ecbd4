"""The page of a haptic loop. It is fed by the process that started the loop, which the loop does not wait for.

The loop writes its state into shared memory some 60 times a second; a thread here takes it over into the scene, which
stands still otherwise, and shows that. What the page asks for is done to the scene here, as far as it changes what is
in it, and sent to the loop, which does the same; a mouse moves through the memory that it shares with the loop.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sennit.bodies.point.point import Point
from sennit.controls import Control
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.haptics import handover
from sennit.haptics.board import FAILED, Board
from sennit.haptics.mirror import StateReader
from sennit.haptics.mouse import MouseDevice
from sennit.live.arrows import MOST_CONTACTS
from sennit.live.host import Host
from sennit.live.page_process import PageProcess
from sennit.live.play import Handle, Place
from sennit.live.scene_play import ScenePlay
from sennit.live.scissors import cut_rods
from sennit.live.spells import KINDS, Spell
from sennit.scene.scene import Scene
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.haptics.tissue_shown import TissuePlay

__all__ = ["LoopHost", "LoopPlay", "Shown"]

FRAMES = 60.0
"""Pictures a second."""
RECOVERY = 2.0
"""Time after the last step without a solution until the page no longer says so, s."""
PATIENCE = 10.0
"""Time within which the loop must have cut what it was told to, s."""
NO_SOLUTION = "steps have no solution; the force goes to zero while that lasts"
Tell = Callable[[dict[str, Any]], None]


class LoopPlay(ScenePlay):
    """A scene here that shows what the loop's scene does; `tell` sends the loop what it is to do likewise."""

    def __init__(
        self, scene: Scene, board: Board, tell: Tell, *, mouse: MouseDevice | None, free: bool, dt: float,
        title: str | None = None, loan: handover.Loan | None = None,
    ) -> None:  # fmt: skip
        super().__init__(scene, dt=dt, title=title)
        self._loan = handover.Loan(scene) if loan is None else loan
        self._board, self._tell, self._mouse, self._free = board, tell, mouse, free
        self._reader: StateReader | None = None
        self._grabbed = False
        self._offset = np.zeros(3)
        self._pointing = False
        """Whether the loop tells the forces of contacts."""

    @property
    def controls(self) -> Sequence[Control]:
        """None: they are functions of this process, and would not reach the loop's scene."""
        return ()

    def begin(self) -> None:
        """From now on this thread does to the scene here what the loop does to its own."""
        if self.scene._lent:
            self.scene._run_by("the page of a haptic loop")

    def watch(self, memory: str) -> None:
        """Show what is written into the memory called `memory` from now on."""
        self._reader = StateReader(self.scene, memory)

    def look(self) -> float:
        """Take the loop's newest state over; returns the time of its last step, s.

        Nothing is taken over while other things are in the scene here than in the loop's.
        """
        if self._reader is None:
            return 0.0
        with contextlib.suppress(InputError):
            self._loan.check()
            self._reader.read()
        return self._reader.took

    def close(self) -> None:
        """Let go of the memory."""
        if self._reader is not None:
            self._reader.close()

    @property
    def failed_steps(self) -> int:
        """How many steps of the loop had no solution."""
        return int(self._board.counts[FAILED])

    def _now(self, name: str) -> FloatArray:
        sheet = self._board.now
        return sheet.read()[sheet.parts[name]]

    @property
    def spell(self) -> Spell | None:
        """What had to be done to the loop's last steps so that they stay sound."""
        kind, steps = self._now("spell").astype(int).tolist()
        return Spell(KINDS[kind - 1], steps) if kind else None

    # ----------------------------------------------------------------------------------------------------------- hand

    @property
    def holding(self) -> bool:
        """Whether the page's hand, or the loop's, holds something."""
        return self._grabbed or bool(self._now("engaged")[0])

    @property
    def grip(self) -> tuple[FloatArray, FloatArray]:
        """Where the hand is, and where the place that it holds is: (3,) each, m."""
        if self._grabbed and self._mouse is None:
            assert self._held is not None
            return self._wanted.copy(), self._held.position
        return self._now("hand")[:3], self._now("grip")[:3]

    _held: Point | None = None

    def grab(self, part: int, place: Place) -> None:
        """Take hold: with the loop's hand if that is the mouse, with a second one otherwise."""
        point = self._point(part, place)
        if point.body is None:
            raise InputError("this does not move")
        if self._grabbed:
            self.release()
        entry = self._described(point)
        self._held, self._wanted = point, point.position
        if self._mouse is None:
            self._tell({"say": "grab", "point": entry})
        else:
            pose = _pose_of(point)
            if self._free:
                self._tell({"say": "hold", "point": entry})
            else:
                now = self._now("grip")
                pose = Pose(now[:3], now[3:])
            self._offset = pose.position - point.position
            self._mouse.move(pose.position, pose.quaternion)
            self._mouse.grab()
        self._grabbed = True

    def drag(self, hand: FloatArray) -> None:
        """Move the hand to (3,), m."""
        super().drag(hand)
        if not self._grabbed:
            return
        if self._mouse is None:
            self._tell({"say": "drag", "hand": self._wanted.tolist()})
        else:
            self._mouse.move(self._wanted + self._offset)

    def release(self) -> None:
        """Let go."""
        if not self._grabbed:
            return
        self._grabbed = False
        if self._mouse is None:
            self._tell({"say": "release"})
        else:
            self._mouse.release()
            if self._free:
                self._tell({"say": "let go"})

    # ----------------------------------------------------------------------------------------------- what is changed

    def _described(self, point: Point) -> dict[str, Any]:
        """A point, by numbers that mean the same in the loop's scene."""
        self._loan.check()
        return handover.described_point(self.scene, point)

    def _change(self, message: dict[str, Any]) -> None:
        """Other things are in the scene; the loop's states fit again when it has changed likewise."""
        if self._reader is not None:
            self._reader.changed()
        self._tell(message)

    def step(self) -> None:
        """Ask the loop for one step."""
        self._tell({"say": "step"})

    def reset(self) -> None:
        """Go back to how the scene was when the page was opened, here and in the loop."""
        self.release()
        with self._loan.changing():
            super().reset()
            self._change({"say": "reset"})
        self._loan.reset()

    def remember(self) -> Callable[[], None]:
        """Something is about to be done to both scenes, which are kept as they are."""
        if self._grabbed:
            return _nothing
        past = tuple(self._past)
        self._keep()
        self._tell({"say": "remember"})

        def forget() -> None:
            self._past.clear()
            self._past.extend(past)
            self._tell({"say": "forget"})

        return forget

    def undo(self) -> None:
        """Go back to how it was before the last drag, pin, switch, removal or move of a gizmo, here and in the loop."""
        self.release()
        self._loan.check()
        with self._loan.changing():
            super().undo()
            self._change({"say": "undo"})

    def arrow_room(self, wanted: tuple[bool, bool]) -> int:
        """How many arrows of forces there are at most; the loop tells those of contacts as long as they are wanted."""
        if wanted[1] != self._pointing:
            self._pointing = wanted[1]
            self._tell({"say": "arrows", "contacts": wanted[1]})
        return super().arrow_room(wanted)

    def arrows(self, wanted: tuple[bool, bool], room: int) -> FloatArray:
        """Place (m) and force (N) of each, (room, 6)."""
        own = room - MOST_CONTACTS if wanted[1] else room
        told = [self._reader.contacts] if wanted[1] and self._reader is not None else []
        whole = np.zeros((room, 6))
        rows = np.vstack((super().arrows((wanted[0], False), own), *told))
        whole[: len(rows)] = rows
        return whole

    def set_gravity(self, value: FloatArray) -> None:
        """Change the scene's gravity, (3,), m/s²."""
        super().set_gravity(value)
        self._tell({"say": "gravity", "value": self.scene.gravity.tolist()})

    def cut(self, places: Sequence[tuple[int, Place]]) -> list[str]:
        """Cut rods at material places, here and in the loop, both in the state that the loop has when it is told."""
        rods = [self._rod_at(part, place) for part, place in places]
        reader = self._reader
        if reader is None or reader.crowded:
            raise InputError("no more can be cut on the page of this loop: end it, and begin another")
        self.release()
        self._loan.check()
        bodies, asked = self.scene.bodies, reader.cuts + 1
        self._tell({"say": "cut", "places": [[bodies.index(rod), s] for rod, s in rods]})
        deadline = time.monotonic() + PATIENCE
        while reader.cuts < asked:
            if time.monotonic() > deadline:
                raise InputError("the loop does not answer: it may have ended")
            time.sleep(1e-3)
            reader.read()
        try:
            with self._loan.changing():
                refused = cut_rods(rods)
                reader.changed()
        finally:
            self._tell({"say": "seen"})
        return refused

    def pin(self, part: int, place: Place) -> None:
        """Hold a material place where it is now."""
        entry = self._described(self._point(part, place))
        with self._loan.changing():
            super().pin(part, place)
            self._change({"say": "pin", "point": entry})

    def switch(self, tie: int, on: bool) -> None:
        """Switch a constraint on or off."""
        self._loan.check()
        super().switch(tie, on)
        self._tell({"say": "switch", "tie": tie, "on": bool(on)})

    def remove(self, tie: int) -> None:
        """Take a constraint out of the scene."""
        self._loan.check()
        with self._loan.changing():
            super().remove(tie)
            self._change({"say": "remove", "tie": tie})

    def _find_handles(self) -> None:
        super()._find_handles()
        self._handles = tuple(Handle(h.name, h.turns, h.read, self._mover(k, h)) for k, h in enumerate(self._handles))

    def _mover(self, number: int, handle: Handle) -> Callable[[Pose], None]:
        def move(pose: Pose) -> None:
            handle.move(pose)
            self._tell({"say": "handle", "handle": number, "pose": handover.described_pose(pose)})

        return move


class LoopHost(Host):
    """Shows a loop, which makes the steps itself, in real time."""

    play: LoopPlay | TissuePlay

    def __init__(self, play: LoopPlay | TissuePlay, tell: Tell) -> None:
        super().__init__(cast(Any, play))
        self._tell_loop = tell
        self._was_paused = False
        self._before = play.time
        self._failed = (self.play.failed_steps, -math.inf)
        """How many steps had no solution, and when there were more than before."""

    def advance(self, elapsed: float) -> int:
        """Take the loop's newest state over, and count the time that has passed in it."""
        if self.paused != self._was_paused:
            self._was_paused = self.paused
            self._tell_loop({"say": "pause", "on": self.paused})
        took = self.play.look()
        failed, now = self.play.failed_steps, self._clock()
        if failed > self._failed[0]:
            self._failed = (failed, now)
            self._failure = NO_SOLUTION
        elif self._failure == NO_SOLUTION and now - self._failed[1] > RECOVERY:
            self._failure = ""
        moved = max(self.play.time - self._before, 0.0)
        self._before = self.play.time
        if moved > 0.0:
            self._time.took(took)
        self._time.count(moved, moved / self.play.dt * took)
        return round(moved / self.play.dt)

    def _do_speed(self, value: float) -> None:
        if value != 1.0:
            raise InputError("a haptic loop runs in real time: its speed can't be changed")


class Shown:
    """The page of a loop, with the thread that feeds it."""

    def __init__(self, play: LoopPlay | TissuePlay, tell: Tell, address: str, port: int) -> None:
        self._play = play
        self._stop = threading.Event()
        self._host = LoopHost(play, tell)
        self._thread: threading.Thread | None = None
        self._page = PageProcess(play.title, address, port)
        self.url = self._page.url
        try:
            self._host.attach(self._page.wire)
        except BaseException:
            self.close()
            raise
        self._thread = threading.Thread(target=self._run, name="sennit page", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        if isinstance(self._play, LoopPlay):
            self._play.begin()
        with contextlib.suppress(EOFError):  # the loop has ended
            self._host.run(self._stop)

    def close(self) -> None:
        """End the page; the loop goes on."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        with contextlib.suppress(EOFError):
            self._host.close()
        self._play.close()
        self._page.end()


def _pose_of(point: Point) -> Pose:
    return point.pose if point.has_frame else Pose(point.position)


def _nothing() -> None:
    """There is nothing to take back."""
