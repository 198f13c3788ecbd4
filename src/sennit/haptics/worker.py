"""The loop's process: ``python -m sennit.haptics.worker``, started by `HapticLoop` and told what to do over its pipes.

It simulates until it is told to stop, its script is over, or the process that started it is gone; in each case the
device's force is zero first.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sennit.errors import InputError, SolveError
from sennit.haptics import devices, handover, packing
from sennit.haptics.board import REALTIME, RUNNING, Board
from sennit.haptics.engine import Engine, Limits, Mounting
from sennit.haptics.realtime import ask_for_realtime, sharpen_timers
from sennit.haptics.stage import Stage
from sennit.haptics.subjects import SceneSubject, StrandSubject, Subject
from sennit.live.wire import Wire
from sennit.scene.scene import Scene
from sennit.scene.skins import skins_miss

if TYPE_CHECKING:
    from sennit.haptics.bones import LiveBones
    from sennit.haptics.tissue_stage import TissueStage

__all__ = ["main"]

PATIENCE = 60.0
"""Time within which the first message must come, s."""
LISTEN = 8
"""Ticks between two looks at the messages."""
LOOK = 256
"""Ticks between two looks at whether something passes what is held of zones."""
TIDY = 2048
"""Ticks between two collections of young garbage."""
FRAMES = 60.0
"""States written for a page, a second."""
MOST_NOTES = 200
"""Notes are no longer sent after so many: a pipe that nobody reads must not fill up and stop the loop."""


class Worker:
    """One loop, from the first message to the last."""

    def __init__(self, wire: Wire, order: dict[str, Any]) -> None:
        self.wire, self.order = wire, order
        self.folder = Path(order["folder"])
        self.board = Board(self.folder / "board")
        self.stopped = self.orphaned = False
        self._notes = 0
        self.stage: Stage | TissueStage | None = None
        """What a page sees, and can do."""
        self.bones: LiveBones | None = None
        """Bones that are led meanwhile."""
        self._refused = ""
        self._frozen = False
        """Whether the scene's zones hold the vertices that they hold, whatever comes near."""
        self._outside = -math.inf
        self._every = max(1, round(order["rate"] / FRAMES))
        self.device = devices.made(order["device"])
        connect = getattr(self.device, "connect", None)
        if callable(connect):
            connect(self.board.mouse)

    def _subject(self) -> Subject:
        order = self.order
        coupling = handover.made_coupling(order["coupling"])
        dt = 1.0 / order["rate"]
        if "strand" in order:
            base, gravity = handover.made_pose(order["base"]), order["gravity"]
            return StrandSubject(handover.made_strand(order["strand"]), base, coupling, dt, gravity)
        if "tissue" in order:
            from sennit.bodies.zone.felt import FeltBody  # here, because they need SciPy, and scenes do not
            from sennit.haptics.bones import LiveBones
            from sennit.haptics.tissue import TissueSubject, made_tissue
            from sennit.haptics.tool import ToolSubject, made_tool

            made = made_tissue(order["tissue"])
            body, skeleton = FeltBody(made, order["probe"]), order["skeleton"]
            if isinstance(skeleton, str):
                skeleton = self.bones = LiveBones(made, dt)
            if order["tool"] is not None:
                tool = made_tool(order["tool"])
                return ToolSubject(body, tool, coupling, dt, order["friction"], skeleton)
            return TissueSubject(body, coupling, dt, order["friction"], skeleton)
        scene = Scene.load(self.folder / "scene.npz")
        scene._frozen = self._frozen = bool(order["frozen"])
        grip = None if order["grip"] is None else handover.made_point(scene, order["grip"])
        return SceneSubject(scene, grip, coupling, dt)

    def run(self) -> None:
        """Open the device, tick, and hand everything back."""
        order = self.order
        opener = getattr(self.device, "open", None)
        if callable(opener):
            opener()
        try:
            self.subject = self._subject()
            self.subject.rehearse()
            self.engine = Engine(
                self.subject,
                self.device,
                self.board,
                period=1.0 / order["rate"],
                limits=Limits(**{name: float(value) for name, value in order["limits"].items()}),
                mounting=Mounting(handover.made_pose(order["frame"]), *order["mounting"]),
                say=self._say,
                spare=self._between,
            )
            sharpen_timers()
            gc.collect()
            gc.freeze()
            gc.disable()
            self.subject.rehearse()  # again: what is in the processor's caches by now is the system's
            granted = order["realtime"] is not False and ask_for_realtime()
            if order["realtime"] is True and not granted:
                raise InputError(
                    "realtime=True, but the system does not allow real-time scheduling (on Linux: ulimit -r 40, or the "
                    'right CAP_SYS_NICE); "auto" takes it where it is allowed'
                )
            self.board.counts[REALTIME] = granted
            self.board.counts[RUNNING] = 1
            self.wire.send({"say": "ready"})
            try:
                self.engine.run(lambda: self.stopped, order["ticks"])
                self._hear_out()
            finally:
                gc.enable()
        finally:
            if self.stage is not None:
                self.stage.close()
            with contextlib.suppress(Exception):  # a device that was lost need not know how to close
                self.device.close()

    def _between(self, ticks: int, due: float) -> None:
        """What is done after a tick: listen, tidy up, show the state."""
        if ticks % LISTEN == 0:
            self._listen()
        if ticks % TIDY == 0:
            gc.collect(0)
        if self.stage is not None and ticks % self._every == 0:
            self.stage.show(self.engine.took)
        if self._frozen and ticks % LOOK == 0:
            self._look_outside()
        if self.bones is not None and self.bones.refused != self._refused:
            self._refused = self.bones.refused
            if self._refused:
                self._say("refused", self._refused)

    def _look_outside(self) -> None:
        """Say, once a second at most, that something passes what is held of a zone."""
        now = time.monotonic()
        if now - self._outside > 1.0 and skins_miss(cast(SceneSubject, self.subject).scene):
            self._outside = now
            self._say(
                "outside", "something reaches vertices of a zone that are not held, and passes them: give more reach="
            )

    def _listen(self) -> None:
        try:
            message = self.wire.receive()
        except EOFError:
            self.stopped = self.orphaned = True
            return
        if message is not None:
            self.handle(message[0])

    def _hear_out(self) -> None:
        """Do what came after the last look at the messages: it was done in the other process already."""
        try:
            while (message := self.wire.receive()) is not None:
                if message[0]["say"] != "view":
                    self.handle(message[0])
        except EOFError:
            self.stopped = self.orphaned = True

    def handle(self, header: dict[str, Any]) -> None:
        """Do what one message of the other process says."""
        said = header["say"]
        if said == "stop":
            self.stopped = True
        elif said == "view" and not isinstance(self.subject, StrandSubject):
            if self.stage is None:
                self.stage = self._staged()
            self.wire.send({"say": "shown", "memory": self.stage.memory})
        elif said == "pose" and self.bones is not None:
            self.bones.ask(np.array(header["poses"], dtype=np.float64))
        elif said == "pause":
            self.engine.paused = bool(header["on"])
        elif isinstance(self.stage, Stage):
            try:
                self.stage.handle(said, header)
            except (InputError, SolveError) as problem:
                self._say("refused", str(problem))

    def _staged(self) -> Stage | TissueStage:
        if isinstance(self.subject, SceneSubject):
            return Stage(self.subject)
        from sennit.haptics.tissue_stage import TissueStage

        return TissueStage(cast(Any, self.subject))

    def _say(self, kind: str, text: str) -> None:
        self._notes += 1
        if self._notes <= MOST_NOTES:
            try:
                self.wire.send({"say": "note", "kind": kind, "text": text})
            except EOFError:
                self.stopped = self.orphaned = True

    def hand_back(self) -> None:
        """Send the last message, with everything that the other process wants back."""
        result: dict[str, Any] = {"record": None, "state": None, "back": False}
        record = getattr(self.device, "record", None)
        if callable(record):
            result["record"] = record()
        if isinstance(self.subject, SceneSubject):
            self.subject.let_go()
            handover.hand_back(self.subject.scene, self.folder / "back.npz")
            result["back"] = True
        elif isinstance(self.subject, StrandSubject) and self.subject.state is not None:
            result["state"] = handover.described_state(self.subject.state)
        plain, payload = packing.packed(result)
        self.wire.send({"say": "done", "result": plain}, payload)


def _own_wire() -> Wire:
    """The pipes to the other process; whatever is printed from now on goes to standard error."""
    reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return Wire(reader, writer)


def main() -> int:
    """Run one loop; the exit status is 0 if it ended as it should."""
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    wire = _own_wire()
    folder = None
    try:
        message = wire.receive(PATIENCE)
        if message is None:
            return 1
        header, payload = message
        order = packing.unpacked(header["order"], payload)
        folder = order["folder"]
        _run(wire, order)
        return 0
    except EOFError:
        # Nobody is there any more, to clear away what was shared.
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
    return 1


def _run(wire: Wire, order: dict[str, Any]) -> None:
    """One loop; raises `EOFError` if the process that started this one is gone."""
    try:
        for entry in order["path"]:
            if entry not in sys.path:
                sys.path.append(entry)
        worker = Worker(wire, order)

        def end(*_: object) -> None:
            worker.stopped = True

        signal.signal(signal.SIGTERM, end)
        worker.run()
        if worker.orphaned:
            raise EOFError
        worker.hand_back()
    except EOFError:
        raise
    except Exception as problem:
        kind = next((k for k in (InputError, ImportError) if isinstance(problem, k)), RuntimeError).__name__
        if kind == "RuntimeError":
            traceback.print_exc()
        wire.send({"say": "failed", "kind": kind, "text": str(problem) or type(problem).__name__})


if __name__ == "__main__":
    sys.exit(main())
