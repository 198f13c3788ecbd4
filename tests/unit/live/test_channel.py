"""Frames in shared memory: whole, newest, and never in the writer's way."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sennit.errors import InputError
from sennit.live.channel import STATUS, FrameReader, FrameWriter, Layout

HAMMER = """
import sys
import numpy as np
from sennit.live.channel import FrameWriter

writer = FrameWriter({size})
print(writer.name, flush=True)
frame = np.zeros({size})
for k in range({frames}):
    frame[:] = k
    writer.write(frame)
    if k == 0:
        sys.stdin.readline()
writer.close()
"""


@pytest.fixture
def writer() -> Iterator[FrameWriter]:
    writer = FrameWriter(5)
    yield writer
    writer.close()


def test_the_newest_frame_is_read_once(writer: FrameWriter) -> None:
    reader = FrameReader(writer.name)
    assert reader.size == 5
    assert reader.read() is None
    for k in range(3):
        assert writer.write(np.arange(5.0) + k) == k + 1
    sequence, frame = reader.read() or (0, np.zeros(0))
    assert sequence == 3
    np.testing.assert_array_equal(frame, np.arange(5.0) + 2)
    assert reader.read() is None
    writer.write(np.zeros(5))
    np.testing.assert_array_equal(frame, np.arange(5.0) + 2)  # the caller's own
    assert reader.read() is not None
    reader.close()


def test_a_frame_that_is_being_written_is_not_taken(writer: FrameWriter) -> None:
    reader = FrameReader(writer.name)
    writer.write(np.ones(5))
    marks, numbers = writer._slots[1]
    marks[0] = -1  # as in the middle of a write
    assert reader.read() is None
    marks[0] = 1
    numbers[2] = 7.0  # as if the numbers had arrived after the mark
    assert reader.read() is None
    numbers[2] = 1.0
    assert reader.read() is not None
    reader.close()


@pytest.mark.skipif(sys.platform == "win32", reason="reads the other process's file by name")
def test_no_frame_is_torn_while_another_process_writes() -> None:
    size = 20_000
    code = HAMMER.format(size=size, frames=4000)
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        reader = FrameReader(process.stdout.readline().decode().strip())
        process.stdin.write(b"\n")
        process.stdin.flush()
        seen: list[float] = []
        while process.poll() is None or len(seen) == 0:
            got = reader.read()
            if got is not None:
                sequence, frame = got
                assert np.all(frame == sequence - 1)
                seen.append(float(frame[0]))
        assert process.wait() == 0
        reader.close()
    assert len(seen) > 10
    assert seen == sorted(seen)


def test_the_file_is_private_and_goes_away() -> None:
    writer = FrameWriter(3)
    if sys.platform != "win32":
        assert os.stat(writer.name).st_mode & 0o077 == 0
    reader = FrameReader(writer.name)
    writer.write(np.array((1.0, 2.0, 3.0)))
    writer.close()
    assert not os.path.exists(writer.name)
    assert reader.read() is not None  # what is mapped stays
    with pytest.raises(InputError, match="no frames"):
        FrameReader(writer.name)


def test_other_files_are_refused(tmp_path: Path) -> None:
    for data in (b"", b"x" * 10, b"\0" * 200):
        path = tmp_path / "frames"
        path.write_bytes(data)
        with pytest.raises(InputError, match="frames"):
            FrameReader(str(path))


def test_a_frame_is_split_by_kind() -> None:
    layout = Layout(watches=2, controls=1, ties=3, handles=2, arrows=3, parts=4)
    frame = np.arange(float(layout.size))
    pieces = layout.split(frame)
    assert layout.size == len(STATUS) + 2 + 1 + 3 + 14 + 18 + 4
    assert [len(pieces[name]) for name in ("status", "watches", "controls", "ties", "handles", "arrows", "parts")] == [
        len(STATUS), 2, 1, 3, 2, 3, 4,
    ]  # fmt: skip
    assert pieces["handles"].shape == (2, 7) and pieces["arrows"].shape == (3, 6)
    pieces["parts"][:] = -1.0
    assert frame[-4:].tolist() == [-1.0] * 4
    assert Layout(**layout.as_dict()) == layout


def test_the_file_goes_with_its_owner_too() -> None:
    code = "import sennit.live.channel as c; w = c.FrameWriter(3); print(w.name)"
    name = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert name and not os.path.exists(name)
    writer = FrameWriter(3)
    name = writer.name
    del writer
    assert not os.path.exists(name)
