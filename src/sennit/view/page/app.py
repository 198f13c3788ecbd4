"""Puts the simulation's messages and frames together with the browsers that look."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from sennit.errors import InputError
from sennit.live.channel import STATUS, FrameReader, Layout
from sennit.live.commands import ARGUMENTS, FASTEST, SLOWEST, Counts, checked_command
from sennit.live.wire import Wire
from sennit.portrait.cast import Cast
from sennit.portrait.colours import SIGNED, palette
from sennit.portrait.packed import packed_cast
from sennit.portrait.parts import UNITS
from sennit.validation import FloatArray
from sennit.view.page.gate import new_token
from sennit.view.page.hand import TAKEN, Hand
from sennit.view.page.messages import cast_message, file_message, frame_message
from sennit.view.page.plots import History
from sennit.view.page.server import Server
from sennit.view.page.stream import Names, binary_frame, cast_text, json_frame
from sennit.view.page.visitor import Visitor

__all__ = ["App"]

OFTEN, IDLE = 0.004, 0.25
"""Seconds between two looks for a new frame: while some browser is there, and while none is."""
MOST = 64
"""Windows that look at one page, at most."""
UNREAD = 3
"""Notes that are kept for the first who comes, at most."""
AGAIN = 3.0
"""Seconds until the same note is shown again."""


class App:
    """The page called `title` at `address`, for the simulation at the other end of `wire`."""

    def __init__(self, wire: Wire, address: str, port: int, title: str, token: str | None = None) -> None:
        self._wire, self._title = wire, title
        self._server = Server(address, port, title, token or new_token(), self._visited)
        self._visitors: list[Visitor] = []
        self._hand = Hand()
        self._reader: FrameReader | None = None
        self._cast: Cast | None = None
        self._layout = Layout(0, 0, 0, 0, 0, 0)
        self._header: dict[str, Any] = {}
        self._generation = 0
        self._sequence = 0
        self._newest: FloatArray | None = None
        """The last frame that was read."""
        self._clock = 0.0
        """Wall clock when it was read, s."""
        self._introduction: bytes | None = None
        """Of the present cast, for who does not know it; made when it is first needed."""
        self._state: dict[str, Any] | None = None
        self._history = History(0)
        self._watched: list[str] = []
        self._unread: list[dict[str, Any]] = []
        self._said: dict[str, float] = {}
        self._arrows = (False, False)
        self._failures: set[str] = set()
        self._over = asyncio.Event()
        self._lost = False

    # ------------------------------------------------------------------------------------------------------ serving

    def run(self) -> None:
        """Serve until the simulation says goodbye. Raises `EOFError` if it has gone without."""
        asyncio.run(self.serve())
        if self._lost:
            raise EOFError("the simulation has closed the connection")

    async def serve(self) -> None:
        """Tell the simulation where the page is, and serve it."""
        try:
            await self._server.start()
        except InputError as problem:
            self._wire.send({"say": "failed", "text": str(problem)})
            return
        self._wire.send({"say": "ready", "url": self._server.url, "port": self._server.port})
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._listen, args=(loop,), name="sennit page wire", daemon=True).start()
        watching = asyncio.ensure_future(self._watch())
        await self._over.wait()
        watching.cancel()
        for visitor in list(self._visitors):
            visitor.tell({"say": "bye"})
        await asyncio.sleep(0.05)  # so that browsers learn it
        self._server.stop()

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take what the simulation says, in a thread of its own: pipes can't be awaited on every system."""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            try:
                while True:
                    message = self._wire.receive(1.0)
                    if message is not None:
                        loop.call_soon_threadsafe(self._attempt, self._hear, *message)
                        if message[0].get("say") == "bye":
                            return
            except EOFError:
                self._lost = True
                loop.call_soon_threadsafe(self._over.set)

    async def _watch(self) -> None:
        """Look for new frames, often while somebody looks."""
        while True:
            self._attempt(self._look)
            await asyncio.sleep(OFTEN if self._visitors else IDLE)

    def _attempt(self, act: Callable[..., object], *arguments: Any) -> None:
        """Do it; what fails is written about once and must not end the page."""
        try:
            act(*arguments)
        except Exception as problem:
            where = traceback.extract_tb(problem.__traceback__)[-1]
            kind = f"{type(problem).__name__} {where.filename}:{where.lineno}"
            if kind not in self._failures:
                self._failures.add(kind)
                print("sennit's page met a problem, and goes on:", file=sys.stderr)
                traceback.print_exception(problem, file=sys.stderr)
                sys.stderr.flush()

    # ----------------------------------------------------------------------------------------------- the simulation

    def _hear(self, header: dict[str, Any], payload: bytes) -> None:
        said = header.get("say")
        if said == "bye":
            self._over.set()
        elif said == "note":
            self._note(header)
        elif said == "state":
            self._state = header
            for visitor in self._visitors:
                visitor.tell(header)
        elif said == "file":
            whole = file_message(str(header["name"]), str(header["type"]), payload)
            for visitor in self._meant(header):
                visitor.tell(whole)
        elif said == "cast":
            self._recast(header, payload)

    def _meant(self, header: dict[str, Any]) -> list[Visitor]:
        """For whom a message is: the one who asked for something, or all."""
        who = header.get("who")
        return [visitor for visitor in self._visitors if who is None or id(visitor) == who]

    def _note(self, header: dict[str, Any]) -> None:
        """Show a text in the window that caused it, or in all; but not the same one again and again."""
        text, now = str(header.get("text")), time.monotonic()
        if now - self._said.get(text, -AGAIN) < AGAIN:
            return
        self._said = {known: at for known, at in self._said.items() if now - at < AGAIN} | {text: now}
        note = {"say": "note", "level": header.get("level"), "text": text}
        if not self._visitors:  # for the first who comes
            self._unread = [*self._unread[1 - UNREAD :], note]
        for visitor in self._meant(header):
            visitor.tell(note)

    def _recast(self, header: dict[str, Any], payload: bytes) -> None:
        try:
            reader = FrameReader(str(header["memory"]))
        except InputError:
            return  # it has been replaced already: the message about that follows
        self._reader, self._newest, self._introduction = reader, None, None
        self._cast, self._layout = Cast.from_bytes(payload), Layout(**header["layout"])
        self._header, self._generation = header, int(header["generation"])
        names = {name: k for k, name in enumerate(self._watched)}
        self._watched = [watch["name"] for watch in header["watches"]]
        self._history = self._history.continued([names.get(name) for name in self._watched])
        self._look()

    def _look(self) -> None:
        """Take the newest frame, if there is a new one."""
        read = None if self._reader is None else self._reader.read()
        if read is None or read[1].size != self._layout.size:
            return
        if self._newest is not None and self._newest.tobytes() == read[1].tobytes():
            return  # nothing has changed: nobody needs it
        self._sequence, self._newest = read
        self._clock = time.time()
        pieces = self._layout.split(read[1])
        self._history.add(float(pieces["status"][STATUS.index("time")]), pieces["watches"])
        for visitor in self._visitors:
            visitor.wake()

    def _ask(self, command: dict[str, Any]) -> None:
        """Send a command to the simulation."""
        with contextlib.suppress(EOFError, ValueError):  # it has gone, which `run` learns; or no finite number
            self._wire.send({**command, "say": "do"})

    # -------------------------------------------------------------------------------------------------- the browsers

    async def _visited(self, socket: Any) -> None:
        if len(self._visitors) >= MOST:
            await socket.close(1013, "too many windows look already")
            return
        path, _, query = socket.request.path.partition("?")
        if path.endswith("/stream"):
            form = "binary" if "form=binary" in query else "json"
            visitor = Visitor(socket, self._act_by_name, lambda other: self._streamed(other, form))
        else:
            visitor = Visitor(socket, self._act, self._picture)
        if self._state is not None:
            visitor.tell(self._state)
        unread, self._unread = self._unread, []
        for note in unread:
            visitor.tell(note)
        self._visitors.append(visitor)
        self._say_viewers()
        try:
            await visitor.serve()
        finally:
            self._visitors.remove(visitor)
            if self._hand.left(visitor):
                self._ask({"do": "release"})
            self._point_arrows()
            self._say_viewers()

    def _say_viewers(self) -> None:
        count = len(self._visitors)
        with contextlib.suppress(EOFError):  # `run` learns it, too
            self._wire.send({"say": "viewers", "count": count})
        for visitor in self._visitors:
            visitor.tell({"say": "windows", "count": count})

    def _act(self, visitor: Visitor, said: dict[str, Any]) -> None:
        """Pass a command on. Raises `InputError` for one that makes no sense; nothing is changed then."""
        layout = self._layout
        parts = 0 if self._cast is None else len(self._cast.parts)
        counts = Counts(self._generation, parts, layout.ties, layout.handles, layout.controls, layout.watches)
        name, _ = checked_command(said, counts)
        if name == "arrows":
            visitor.arrows = (said["constraints"], said["contacts"])
            self._point_arrows()
            return
        if name in ("grab", "drag", "release"):
            allowed = self._hand.allows(visitor, name)
            if allowed is False:
                visitor.tell({"say": "refused"})
                visitor.tell({"say": "note", "level": "warning", "text": TAKEN})
            if not allowed:
                return
        arguments = {key: said[key] for key in ARGUMENTS[name] if key in said}
        self._ask({"do": name, "generation": self._generation, "who": id(visitor), **arguments})

    def _act_by_name(self, visitor: Visitor, said: dict[str, Any]) -> None:
        """Pass a command of the stream on, in which names stand for numbers."""
        if self._cast is None:
            raise InputError("nothing is there yet")
        names = Names(self._header, self._cast)
        self._act(visitor, {"generation": self._generation, **names.numbered(said)})

    def _streamed(self, visitor: Visitor, form: str) -> list[str | bytes]:
        """As `_picture`, for the stream."""
        known = visitor.generation == self._generation
        if self._newest is None or self._cast is None or (known and visitor.sequence == self._sequence):
            return []
        messages: list[str | bytes] = []
        if not known:
            visitor.generation = self._generation
            messages.append(cast_text(self._header, self._cast, self._title))
        visitor.sequence = self._sequence
        if form == "binary":
            return [*messages, binary_frame(self._layout, self._newest)]
        return [*messages, json_frame(self._header, self._cast, self._layout, self._newest)]

    def _point_arrows(self) -> None:
        """Ask for the arrows that somebody wants to see."""
        wanted = tuple(any(visitor.arrows[k] for visitor in self._visitors) for k in range(2))
        if wanted != self._arrows:
            self._arrows = (wanted[0], wanted[1])
            self._ask({"do": "arrows", "constraints": wanted[0], "contacts": wanted[1]})

    def _picture(self, visitor: Visitor) -> list[str | bytes]:
        """What shows a visitor the newest frame; nothing if it has that already."""
        known = visitor.generation == self._generation
        if self._newest is None or (known and visitor.sequence == self._sequence):
            return []
        messages: list[str | bytes] = []
        if not known:
            visitor.generation, visitor.sampled = self._generation, 0
            messages.append(self._introduced())
        samples, visitor.sampled = self._history.since(visitor.sampled)
        visitor.sequence = self._sequence
        messages.append(frame_message(self._generation, self._clock, self._newest, samples))
        return messages

    def _introduced(self) -> bytes:
        """The message about the present cast."""
        if self._introduction is None:
            assert self._cast is not None
            parts, arrays = packed_cast(self._cast)
            kept = {key: value for key, value in self._header.items() if key not in ("say", "memory")}
            known = {field for part in self._cast.parts for field in getattr(part, "fields", ())}
            header = {
                **kept, "title": self._title, "status": STATUS, "parts": parts, "slowest": SLOWEST, "fastest": FASTEST,
                "fields": {field: unit for field, unit in UNITS.items() if field in known},
                "ramps": {name: palette(name).ravel().tolist() for name in ("amount", "signed")},
                "signed": sorted(SIGNED),
            }  # fmt: skip
            self._introduction = cast_message(header, arrays)
        return self._introduction
