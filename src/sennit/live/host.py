"""Runs a play in real time, shows it to a page and does what the page asks, between two steps."""

from __future__ import annotations

import contextlib
import math
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from sennit.errors import InputError, SolveError
from sennit.geometry.pose import Pose
from sennit.live.channel import STATUS, FrameWriter, Layout, numbers_of
from sennit.live.commands import Counts, checked_command
from sennit.live.pace import FRAMES, Pace
from sennit.live.play import Cutting, Play, Pointing, Undoing
from sennit.live.tape import TYPES, Tape, Writing
from sennit.live.wire import Wire
from sennit.portrait.cast import Cast
from sennit.validation import FloatArray, quoted

__all__ = ["Host"]

WORDS = 0.2  # s, between two messages about the state
_QUIET: dict[str, Any] = {"failed": "", "spell": None, "undo": False, "tape": ""}
"""What a page takes for granted until it is told otherwise."""


class Host:
    """Owns a play and shows it. All methods are called from one thread; only `Host.run`'s `stop` may come from another.

    A step that fails pauses the simulation and says so on the page; the play keeps its last good state.
    """

    def __init__(self, play: Play, clock: Callable[[], float] = time.perf_counter) -> None:
        self.play = play
        self.paused = False
        self.viewers = 0
        self.closed = False
        """Whether the page is gone."""
        self._clock = clock
        self._wire: Wire | None = None
        self._writer: FrameWriter | None = None
        self._shown: Any = None
        self._generation = 0
        self._layout = Layout(0, 0, 0, 0, 0, 0)
        self._time = Pace(clock, play.time_scale)
        self._frame = np.zeros(0)
        self._broken: set[str] = set()
        self._trouble = ""
        self._failure = ""
        """Why the simulation stands still, if it failed; what is seen then is the last good state."""
        self._told: dict[str, Any] = dict(_QUIET)
        self._next_word = self._next_reading = -math.inf
        self._read: list[str] = []
        """What readouts said last."""
        self._plotted: dict[str, bool] = {}
        """Of watches by name: whether somebody wants to see them."""
        self._arrows = (False, False)
        """Whether somebody wants to see forces of constraints, and of contacts."""
        self._who: Any = None
        """The window that asks for what is done now."""
        self._tape: Tape | None = None
        self._writings: list[Writing] = []
        self._turned = (-1, -math.inf)
        """The handle that was moved last, and when."""

    # ------------------------------------------------------------------------------------------------------ the page

    def attach(self, wire: Wire) -> None:
        """Show everything to the page at the other end of `wire`."""
        self._wire = wire
        self._shown = None
        self._told = dict(_QUIET)
        self.publish()

    def _tell_state(self) -> None:
        """Say why it has failed and what badge to show when that is new, a few times a second at most."""
        spell, now = self.play.spell, self._clock()
        if now >= self._next_reading:
            self._next_reading = now + WORDS
            self._read = [self._said(readout) for readout in self.play.readouts]
        state: dict[str, Any] = {"failed": self._failure, "spell": None if spell is None else list(spell)}
        state["undo"] = isinstance(self.play, Undoing) and self.play.undoable
        state["tape"] = "" if self._tape is None and not self._writings else "writing" if self._tape is None else "on"
        if self._read:
            state["shows"] = self._read
        if texts := [control.value for control in self.play.controls if control.kind == "text"]:
            state["texts"] = texts
        if state != self._told and (now >= self._next_word or state["failed"] != self._told["failed"]):
            self._told, self._next_word = state, now + WORDS
            self._send({"say": "state", **state})

    def _fail(self, text: str) -> None:
        """Stand still, and say why: once."""
        self.paused = True
        if text != self._failure:
            self._failure = text
            self.note(f"The simulation is paused: {text}", "error")

    def note(self, text: str, level: str = "info") -> None:
        """Tell the page something: `level` is "info", "warning" or "error". What one window has asked for is told there
        only.
        """
        asked = {} if self._who is None else {"who": self._who}
        self._send({"say": "note", "level": level, "text": text, **asked})

    def poll(self) -> None:
        """Do what the page has asked for since the last call."""
        if self._wire is None:
            return
        try:
            while (message := self._wire.receive()) is not None:
                self.answer(message[0])
        except EOFError:
            self._page_gone()

    def answer(self, header: dict[str, Any]) -> None:
        """Act on one message of the page."""
        said = header.get("say")
        if said == "do":
            self._who = header.get("who")
            try:
                self.handle(header)
            except InputError as problem:
                self.note(str(problem), "warning")
            except Exception as problem:  # of somebody's control: it must not end the simulation
                traceback.print_exc()
                self.note(f"{header.get('do')} failed: {type(problem).__name__}: {problem}", "error")
            finally:
                self._who = None
        elif said == "viewers":
            count = header.get("count")
            self.viewers = count if isinstance(count, int) and count >= 0 else 0

    def handle(self, message: dict[str, Any]) -> None:
        """Do what `message` asks. Raises `InputError`, and changes nothing, if it is malformed or can't be done."""
        name, arguments = checked_command(message, self._counts())
        getattr(self, f"_do_{name}")(*arguments)

    def _counts(self) -> Counts:
        layout = self._layout
        parts = len(self._shown[0].cast.parts) if self._shown is not None else 0
        return Counts(self._generation, parts, layout.ties, layout.handles, layout.controls, layout.watches)

    def _page_gone(self) -> None:
        self._wire = None
        self.closed = True
        self.viewers = 0
        if self.play.holding:
            with contextlib.suppress(InputError):
                self.play.release()

    def _send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        if self._wire is not None:
            try:
                self._wire.send(header, payload)
            except EOFError:
                self._page_gone()

    # ------------------------------------------------------------------------------------------------------ commands

    def _do_pause(self) -> None:
        self.paused = True

    def _do_run(self) -> None:
        self.paused = False
        self._failure = ""  # it is tried again
        self._time.forgive()

    def _do_step(self) -> None:
        self.paused = True
        self._failure = ""
        self._step()

    def _do_reset(self) -> None:
        self.play.reset()
        self._broken.clear()
        self._trouble = self._failure = ""
        self._time.begin_again()

    def _do_speed(self, value: float) -> None:
        self._time.speed = value
        self._time.forgive()

    def _do_gravity(self, value: Any) -> None:
        if self.play.gravity is None:
            raise InputError("this simulation has no gravity to change")
        self.play.set_gravity(value)

    def _remembered(self, act: Callable[..., object], *arguments: Any) -> None:
        """Do what can be undone."""
        play = self.play
        if not isinstance(play, Undoing):
            act(*arguments)
            return
        forget = play.remember()
        try:
            act(*arguments)
        except BaseException:
            forget()
            raise

    def _do_undo(self) -> None:
        if not isinstance(self.play, Undoing):
            raise InputError("nothing can be undone here")
        self.play.undo()
        self._failure = ""
        self._time.forgive()

    def _do_arrows(self, constraints: bool, contacts: bool) -> None:
        if self._arrows != (constraints, contacts):
            self._arrows = (constraints, contacts)
            self._shown = None

    def _do_record(self, on: bool, kind: str) -> None:
        if on:
            self._tape = Tape(self.play, self.speed)
        elif self._tape is not None:
            tape, self._tape = self._tape, None
            self._writings.append(tape.write(kind, self._who))

    def _do_grab(self, part: int, place: Any) -> None:
        self._remembered(self.play.grab, part, place)

    def _do_drag(self, hand: Any) -> None:
        if self.play.holding:
            self.play.drag(hand)

    def _do_release(self) -> None:
        if self.play.holding:
            self.play.release()

    def _do_pin(self, part: int, place: Any) -> None:
        self._remembered(self.play.pin, part, place)

    def _do_cut(self, places: Any) -> None:
        play = self.play
        if not isinstance(play, Cutting):
            raise InputError("nothing can be cut here")
        refused: list[str] = []
        self._remembered(lambda: refused.extend(play.cut(places)))
        for text in refused:
            self.note(text, "warning")
        self._tell_trouble()

    def _do_switch(self, tie: int, on: bool) -> None:
        self._remembered(self.play.switch, tie, on)

    def _do_remove(self, tie: int) -> None:
        self._remembered(self.play.remove, tie)

    def _do_handle(self, handle: int, pose: Pose) -> None:
        last, now = self._turned, self._clock()
        self._turned = (handle, now)
        if last[0] == handle and now - last[1] < 1.0:  # one move of the pointer is many commands
            self.play.handles[handle].move(pose)
        else:
            self._remembered(self.play.handles[handle].move, pose)

    def _do_control(self, control: int, value: Any) -> None:
        self.play.controls[control].use(value)

    def _do_watch(self, watch: int, on: bool) -> None:
        self._plotted[self.play.watches[watch].name] = on

    # ---------------------------------------------------------------------------------------------------------- time

    def run(self, stop: threading.Event, keep_running: bool = False) -> None:
        """Simulate in real time and show it, until `stop` is set or the page is gone (unless `keep_running`)."""
        period = 1.0 / FRAMES
        due = before = self._clock()
        while not stop.is_set() and (keep_running or not self.closed):
            now = self._clock()
            self.poll()
            self.advance(now - before)
            before = now
            self._show()
            due = max(due + period, self._clock() - period)
            stop.wait(max(due - self._clock(), 0.0))

    def advance(self, elapsed: float) -> int:
        """Simulate what `elapsed` (s) of real time ask for; returns the number of steps taken.

        It stops early where steps take longer than they simulate: time then passes more slowly, and `pace` says so.
        """
        if not self.paused:
            return self._time.turn(elapsed, self.play.dt, self._step)
        self._time.rest()
        return 0

    def _step(self) -> bool:
        begin = self._clock()
        try:
            self.play.step()
        except (SolveError, InputError) as problem:
            self._fail(str(problem))
            return False
        except Exception as problem:  # of a script's own function: whoever wrote it needs to see where
            self._fail(f"{type(problem).__name__}: {problem}")
            traceback.print_exc()
            return False
        self._failure = ""
        self._time.took(self._clock() - begin)
        self._tell_trouble()
        return not self.paused

    def _tell_trouble(self) -> None:
        """Say what the person at the page should know, when that is new."""
        trouble = self.play.trouble
        if trouble != self._trouble:
            self._trouble = trouble
            if trouble:
                self.note(trouble, "info")

    @property
    def speed(self) -> float:
        """Simulated seconds in a real one, as they are wanted."""
        return self._time.speed

    @property
    def pace(self) -> float:
        """Simulated seconds in a real one, over the last seconds."""
        return self._time.ratio

    @property
    def busy(self) -> float:
        """Part of real time that was spent in steps, over the last seconds."""
        return self._time.busy

    # -------------------------------------------------------------------------------------------------------- frames

    def _show(self) -> None:
        """Publish; where that fails the last picture stays, with the reason, instead of no page."""
        try:
            self.publish()
        except Exception as problem:
            if f"{type(problem).__name__}: {problem}" != self._failure:
                traceback.print_exc()
            self._fail(f"{type(problem).__name__}: {problem}")
            if self._writer is not None and self._frame.size == self._layout.size:
                self._layout.split(self._frame)["status"][STATUS.index("paused")] = 1.0
                self._writer.write(self._frame)
            self._tell_state()

    def publish(self) -> None:
        """Put the present state into the shared memory; say so first if other things are there than before.

        A state that is nowhere (places that are not finite) is not shown: the last good picture stays.
        """
        if self._wire is None:
            return
        play = self.play
        # Objects are kept, not their ids: a new portrait may lie where an old one was.
        shown = (play.portrait, tuple(play.controls), tuple(play.watches), tuple(t.name for t in play.ties),
                 tuple(h.name for h in play.handles), tuple(play.readouts))  # fmt: skip
        if self._shown is None or shown[0] is not self._shown[0] or shown[1:] != self._shown[1:]:
            self._shown = shown
            self._recast()
        assert self._writer is not None
        pieces = self._layout.split(self._frame)
        pieces["status"][:] = numbers_of(self._status())
        for k, watch in enumerate(play.watches):
            wanted = self._plotted.get(watch.name, watch.chosen)
            pieces["watches"][k] = self._watched(watch) if wanted else math.nan
        pieces["controls"][:] = [c.number for c in play.controls]
        pieces["ties"][:] = [float(t.enabled) for t in play.ties]
        for k, handle in enumerate(play.handles):
            pose = handle.read()
            pieces["handles"][k, :3], pieces["handles"][k, 3:] = pose.position, pose.quaternion
        if self._layout.arrows and isinstance(play, Pointing):
            pieces["arrows"][:] = play.arrows(self._arrows, self._layout.arrows)
        seen = play.portrait.capture()
        if _is_somewhere(play.portrait.cast, seen):
            pieces["parts"][:] = seen
        else:
            self._fail("some places are not finite numbers; the picture is of the state before")
            pieces["status"][STATUS.index("paused")] = 1.0
        self._writer.write(self._frame)
        self._roll_tape()
        self._tell_state()

    def _roll_tape(self) -> None:
        """Keep what is seen if it is recorded, and hand out files that are written."""
        if self._tape is not None:
            full = self._tape.full
            self._tape.look()
            if self._tape.full and not full:
                self.note("The recording is as long as it can be: stop it to have it written.", "warning")
        for writing in [writing for writing in self._writings if writing.done]:
            self._writings.remove(writing)
            try:
                data = writing.taken()
            except InputError as problem:
                self._send({"say": "note", "level": "error", "text": str(problem), "who": writing.who})
                continue
            self._send({"say": "file", "who": writing.who, "name": writing.name, "type": TYPES[writing.kind]}, data)

    def _watched(self, watch: Any) -> float:
        """Its value; nan, and a note once, where reading it fails: a plot must not stop a simulation."""
        try:
            value = watch.read()
            if isinstance(value, str) or np.ndim(value) != 0:
                raise InputError(f"it must be one number, got {quoted(value)}")
            return float(value)
        except Exception as problem:
            self._complain(watch.name, problem)
            return math.nan

    def _said(self, readout: Any) -> str:
        """Its text; a dash, and a note once, where reading it fails."""
        try:
            return str(readout.text())
        except Exception as problem:
            self._complain(readout.name, problem)
            return "–"

    def _complain(self, name: str, problem: Exception) -> None:
        """Say once that something of that name can't be read."""
        if name not in self._broken:
            self._broken.add(name)
            kind = "" if isinstance(problem, InputError) else f"{type(problem).__name__}: "
            self.note(f"{name} can't be read: {kind}{problem}", "warning")

    def _status(self) -> dict[str, float]:
        play = self.play
        median, slowest = self._time.step_times
        status = {
            "time": play.time, "paused": float(self.paused), "speed": self.speed, "pace": self.pace,
            "step_us": median, "step_us_99": slowest, "busy": self.busy, "holding": float(play.holding),
        }  # fmt: skip
        hand, grip = play.grip if play.holding else (np.zeros(3), np.zeros(3))
        for name, place in (("hand", hand), ("grip", grip)):
            status |= {f"{name}_{axis}": float(x) for axis, x in zip("xyz", place, strict=True)}
        return status

    def _recast(self) -> None:
        """New shared memory, and a message that says what is in it."""
        play, old = self.play, self._writer
        cast = play.portrait.cast
        self._generation += 1
        room = play.arrow_room(self._arrows) if isinstance(play, Pointing) else 0
        self._layout = Layout(len(play.watches), len(play.controls), len(play.ties), len(play.handles), room, cast.size)
        self._frame = np.zeros(self._layout.size)
        self._writer = FrameWriter(self._layout.size)
        gravity, camera = play.gravity, play.camera
        header = {
            "say": "cast", "generation": self._generation,
            "memory": self._writer.name, "layout": self._layout.as_dict(),
            "controls": [
                {"name": c.name, "kind": c.kind, "value": c.value, "range": c.range, "unit": c.unit,
                 "choices": c.choices, "key": c.key}
                for c in play.controls
            ],
            "readouts": [readout.name for readout in play.readouts],
            "watches": [
                {"name": w.name, "unit": w.unit, "shown": self._plotted.get(w.name, w.chosen)} for w in play.watches
            ],
            "ties": [
                {"name": t.name, "kind": t.kind, "enabled": t.enabled, "parts": t.parts, "removable": True}
                for t in play.ties
            ],
            "handles": [{"name": h.name, "turns": h.turns} for h in play.handles],
            "gravity": None if gravity is None else gravity.tolist(),
            "camera": None if camera is None else [np.asarray(x).tolist() for x in camera],
            "ground": play.ground, "dt": play.dt, "undoing": isinstance(play, Undoing),
            "forces": list(play.forces) if isinstance(play, Pointing) else [],
            "cuttable": list(play.cuttable) if isinstance(play, Cutting) else [],
        }  # fmt: skip
        self._send(header, cast.to_bytes())
        if old is not None:
            old.close()

    def close(self) -> None:
        """Tell the page to end, and let go of the shared memory."""
        self._send({"say": "bye"})
        if self.play.holding:
            with contextlib.suppress(InputError):
                self.play.release()
        self._wire = None
        for writing in self._writings:
            writing.cancel()
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def _is_somewhere(cast: Cast, frame: FloatArray) -> bool:
    """Whether all that is shown has a place; fields may be undefined here and there."""
    if np.isfinite(frame).all():
        return True
    parts = zip(cast.parts, cast.views(frame), strict=True)
    return all(np.isfinite(part.places(view)).all() for part, view in parts if view.shown[0] > 0.0)
