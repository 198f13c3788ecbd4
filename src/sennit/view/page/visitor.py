"""One browser: what it asked for, what is still to be sent to it, and how much it may ask for."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from sennit.errors import InputError
from sennit.view.page.messages import heard

__all__ = ["Visitor"]

PATIENCE = 30.0
"""Seconds after which a browser that does not take what is sent to it is dropped."""
WAITING = 256
"""Messages that wait for a browser, at most; one with more of them does not read any."""
COMMANDS, BURST = 240.0, 480.0
"""Commands that a browser may send in a second, and at once; after that it is read more slowly."""
TOLD = 0.5
"""Seconds between two notes about messages that can't be understood."""


class Visitor:
    """A browser at the other end of `socket`. `act` is called with each command that it sends; `picture` gives the next
    frame's messages for it, or an empty list while there is nothing new.
    """

    def __init__(
        self, socket: Any, act: Callable[[Visitor, dict[str, Any]], None],
        picture: Callable[[Visitor], list[str | bytes]],
    ) -> None:  # fmt: skip
        self._socket, self._act, self._picture = socket, act, picture
        self._outbox: deque[str | bytes] = deque()
        self._wake = asyncio.Event()
        self.asked = False
        """Whether it waits for a picture."""
        self.sequence = -1
        """Of the last frame that it got."""
        self.generation = -1
        """Of the cast that it knows."""
        self.sampled = 0
        """How many samples of watched values it has got."""
        self.arrows = (False, False)
        """Whether it shows forces of constraints, and of contacts."""
        self._allowance, self._counted = BURST, time.monotonic()
        self._next_note = 0.0

    def tell(self, said: dict[str, Any] | bytes) -> None:
        """Send something, soon; a browser that takes nothing is dropped."""
        if len(self._outbox) >= WAITING:
            self.drop()
            return
        self._outbox.append(said if isinstance(said, bytes) else json.dumps(said, allow_nan=False))
        self._wake.set()

    def wake(self) -> None:
        """There may be a new picture."""
        if self.asked:
            self._wake.set()

    def drop(self) -> None:
        """End the connection at once."""
        self._outbox.clear()
        with contextlib.suppress(Exception):
            self._socket.transport.abort()

    async def serve(self) -> None:
        """Until the browser has gone."""
        writer = asyncio.ensure_future(self._write())
        try:
            await self._read()
        finally:
            writer.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await writer

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            pending: list[str | bytes] = list(self._outbox)
            self._outbox.clear()
            if self.asked:
                frames = self._picture(self)
                self.asked = not frames
                pending += frames
            for message in pending:
                try:
                    await asyncio.wait_for(self._socket.send(message), PATIENCE)
                except Exception:  # it has gone, or does not read: either way it is over
                    self.drop()
                    return

    async def _read(self) -> None:
        from websockets.exceptions import ConnectionClosed

        count = 0
        with contextlib.suppress(ConnectionClosed):
            while True:
                said = heard(await self._socket.recv())
                count += 1
                if count % 32 == 0:
                    await asyncio.sleep(0)  # others are to be heard, too
                if said is None:
                    continue
                if said["do"] == "next":
                    self.asked = True
                    self._wake.set()
                    continue
                try:
                    self._act(self, said)
                except InputError as problem:
                    self._complain(str(problem))
                    continue
                await self._slow_down()

    def _complain(self, text: str) -> None:
        now = time.monotonic()
        if now >= self._next_note:
            self._next_note = now + TOLD
            self.tell({"say": "note", "level": "warning", "text": text})

    async def _slow_down(self) -> None:
        """Wait if it has sent more commands than it may."""
        now = time.monotonic()
        self._allowance = min(BURST, self._allowance + COMMANDS * (now - self._counted)) - 1.0
        self._counted = now
        if self._allowance < 0.0:
            await asyncio.sleep(-self._allowance / COMMANDS)
