"""Messages between two processes."""

from __future__ import annotations

import io
import os
import struct
import time
from collections.abc import Iterator

import pytest

from sennit.live.wire import Wire


@pytest.fixture
def ends() -> Iterator[tuple[Wire, Wire]]:
    """Two wires, connected."""
    (a_in, b_out), (b_in, a_out) = os.pipe(), os.pipe()
    files = [os.fdopen(a_in, "rb"), os.fdopen(a_out, "wb"), os.fdopen(b_in, "rb"), os.fdopen(b_out, "wb")]
    a, b = Wire(files[0], files[1]), Wire(files[2], files[3])
    yield a, b
    a.close()
    b.close()


def test_messages_arrive_in_order_with_their_bytes(ends: tuple[Wire, Wire]) -> None:
    a, b = ends
    payload = os.urandom(300_000)  # more than a pipe holds: the other end must read meanwhile
    a.send({"say": "cast", "numbers": [1, 2.5, None, "ü"]}, payload)
    a.send({"say": "bye"})
    assert b.receive(5.0) == ({"say": "cast", "numbers": [1, 2.5, None, "ü"]}, payload)
    assert b.receive(5.0) == ({"say": "bye"}, b"")
    assert b.receive() is None
    b.send({"x": 1})
    assert a.receive(5.0) == ({"x": 1}, b"")


def test_the_end_is_told_after_the_last_message(ends: tuple[Wire, Wire]) -> None:
    a, b = ends
    a.send({"say": "bye"})
    a.close()
    assert b.receive(5.0) == ({"say": "bye"}, b"")
    for _ in range(2):
        with pytest.raises(EOFError, match="closed"):
            b.receive(5.0)
    with pytest.raises(EOFError, match="closed"):
        a.send({"say": "more"})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x01\x00",
        struct.pack("<II", 1 << 31, 0),
        struct.pack("<II", 4, 0) + b"{bad",
        struct.pack("<II", 2, 0) + b"[]",
        struct.pack("<II", 2, 9) + b"{}123",
        struct.pack("<II", 2, 0) + b"\xff\xfe",
    ],
)
def test_what_is_no_message_ends_the_connection(data: bytes) -> None:
    with pytest.raises(EOFError):
        Wire(io.BytesIO(data), io.BytesIO()).receive(5.0)


def test_numbers_that_json_does_not_know_are_not_sent(ends: tuple[Wire, Wire]) -> None:
    with pytest.raises(ValueError, match="JSON"):
        ends[0].send({"x": float("nan")})


def test_a_queued_end_never_waits_for_one_that_does_not_read() -> None:
    kept, sent = os.pipe()
    nothing, other = os.pipe()
    wire = Wire(os.fdopen(nothing, "rb"), os.fdopen(sent, "wb"), queued=True)
    for _ in range(10):
        wire.send({"say": "cast"}, bytes(1_000_000))  # far more than a pipe holds
    wire.send({"say": "bye"})
    wire.close()
    os.close(other)
    reader = Wire(os.fdopen(kept, "rb"), io.BytesIO())  # reads at last: nothing is lost, and then it ends
    said = []
    with pytest.raises(EOFError):
        while (message := reader.receive(20.0)) is not None:
            said.append(message[0]["say"])
    assert said == ["cast"] * 10 + ["bye"]


def test_a_queued_end_learns_that_nobody_is_there() -> None:
    kept, sent = os.pipe()
    nothing, other = os.pipe()
    wire = Wire(os.fdopen(nothing, "rb"), os.fdopen(sent, "wb"), queued=True)
    os.close(kept)
    os.close(other)
    with pytest.raises(EOFError):
        for _ in range(1000):
            wire.send({"say": "note"})
            time.sleep(0.01)
