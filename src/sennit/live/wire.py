"""Messages between two processes: a JSON header and bytes, over a pair of pipes. Nothing is pickled.

A message is two lengths (unsigned 32 bit, little-endian), the header as JSON, the payload.
"""

from __future__ import annotations

import contextlib
import json
import queue
import struct
import threading
from typing import Any, BinaryIO

__all__ = ["Wire"]

_LENGTHS = struct.Struct("<II")
_LONGEST = 1 << 30  # bytes; a length beyond it is no message of ours

Message = tuple[dict[str, Any], bytes]


class Wire:
    """One end of a connection. Messages that arrive are kept until `receive` takes them.

    `send` waits until the message is on its way; with `queued` it never waits, whatever the other end does, and what
    was not taken when the process ends is lost.
    """

    def __init__(self, reader: BinaryIO, writer: BinaryIO, *, queued: bool = False) -> None:
        self._reader, self._writer = reader, writer
        self._leaving: queue.SimpleQueue[tuple[bytes, bytes] | None] | None = None
        self._broken = False
        self._lock = threading.Lock()
        self._arrived: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._ended = False
        # Pipes can't be polled on every system: a thread waits for what comes.
        threading.Thread(target=self._listen, name="sennit wire", daemon=True).start()
        if queued:
            self._leaving = queue.SimpleQueue()
            threading.Thread(target=self._deliver, name="sennit wire out", daemon=True).start()

    def send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        """Send one message; raises `EOFError` if nobody is at the other end."""
        text = json.dumps(header, allow_nan=False).encode()
        if self._leaving is None:
            self._write(text, payload)
        elif self._broken:
            raise EOFError("the other process has closed the connection")
        else:
            self._leaving.put((text, payload))

    def _write(self, text: bytes, payload: bytes) -> None:
        try:
            with self._lock:
                self._writer.write(_LENGTHS.pack(len(text), len(payload)))
                self._writer.write(text)
                self._writer.write(payload)
                self._writer.flush()
        except (OSError, ValueError) as problem:  # ValueError: the file is closed
            raise EOFError("the other process has closed the connection") from problem

    def _deliver(self) -> None:
        """Send what was queued, one after the other, and close the file after the last."""
        assert self._leaving is not None
        with contextlib.suppress(EOFError):
            while (message := self._leaving.get()) is not None:
                self._write(*message)
        self._broken = True
        with contextlib.suppress(OSError):
            self._writer.close()

    def receive(self, timeout: float = 0.0) -> Message | None:
        """The next message, or None if there is none within `timeout` (s); raises `EOFError` after the last one."""
        if self._ended:
            raise EOFError("the other process has closed the connection")
        try:
            message = self._arrived.get(block=timeout > 0.0, timeout=timeout or None)
        except queue.Empty:
            return None
        if message is None:
            self._ended = True
            raise EOFError("the other process has closed the connection")
        return message

    def close(self) -> None:
        """Close the sending side, after what is queued; the other end meets the end of the file."""
        if self._leaving is not None:
            self._leaving.put(None)
            return
        with self._lock, contextlib.suppress(OSError):  # it may be broken already
            self._writer.close()

    def _listen(self) -> None:
        try:
            while True:
                lengths = self._exactly(_LENGTHS.size)
                if lengths is None:
                    return
                head, body = _LENGTHS.unpack(lengths)
                if head > _LONGEST or body > _LONGEST:
                    return
                text = self._exactly(head)
                payload = self._exactly(body)
                if text is None or payload is None:
                    return
                header = json.loads(text)
                if not isinstance(header, dict):
                    return
                self._arrived.put((header, payload))
        except (OSError, ValueError):
            return  # a broken pipe, or no JSON: the connection is over
        finally:
            self._arrived.put(None)
            with contextlib.suppress(OSError):
                self._reader.close()

    def _exactly(self, count: int) -> bytes | None:
        """`count` bytes; None at the end of the file."""
        pieces: list[bytes] = []
        while count > 0:
            piece = self._reader.read(count)
            if not piece:
                return None
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)
