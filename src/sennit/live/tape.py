"""Recording what a page shows: frames are kept while it runs, and written to a file by a process of their own.

That process is `sennit.export.of_tape`: nothing that it does delays a step.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from sennit.errors import InputError
from sennit.live.play import Play
from sennit.live.takes import LARGEST, Take, joined

__all__ = ["TYPES", "Tape", "Writing"]

FPS = 30.0
"""Frames in a second, as long as the page runs in real time."""
LONGEST = 9000
"""Frames, at most: five minutes."""
TYPES = {"html": "text/html", "mp4": "video/mp4", "glb": "model/gltf-binary"}
"""Kinds of files, and what browsers call them."""


class Tape:
    """Keeps what is seen of `play`; `speed`: simulated seconds in a real one."""

    def __init__(self, play: Play, speed: float) -> None:
        self._play = play
        self._fps = FPS / min(max(speed, 1e-2), 1.0)
        self._begin()

    def _begin(self) -> None:
        self._takes = [Take(self._play)]
        self._times: list[float] = []
        self._numbers = 0

    @property
    def full(self) -> bool:
        """Whether no more frames are kept."""
        return len(self._times) >= LONGEST or 16 * self._numbers > LARGEST

    def look(self) -> None:
        """Keep what is seen now, if enough time has passed since the last frame; a reset begins anew."""
        now = self._play.time
        if self._times and now < self._times[-1]:
            self._begin()
        if self.full or (self._times and now - self._times[-1] < (1.0 - 1e-6) / self._fps):
            return
        if self._takes[-1].is_over():
            self._takes.append(Take(self._play))
        self._takes[-1].capture()
        self._times.append(now)
        self._numbers += self._takes[-1].size

    def write(self, kind: str, who: Any) -> Writing:
        """Have it all written to a file of that kind, for `who`."""
        if not self._times:
            raise InputError("nothing was recorded: let it run for a moment")
        cast, frames = joined(self._takes)
        play = self._play
        camera = None if play.camera is None else [np.asarray(x).tolist() for x in play.camera]
        about = {"fps": self._fps, "title": play.title, "camera": camera, "ground": play.ground}
        folder = Path(tempfile.mkdtemp(prefix=f"sennit-{os.getpid()}-"))
        try:
            (folder / "cast").write_bytes(cast.to_bytes())
            np.savez(folder / "frames.npz", times=np.array(self._times), frames=frames)
            (folder / "about.json").write_text(json.dumps(about), encoding="utf-8")
            return Writing(folder, kind, who, play.title)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


class Writing:
    """A file that is being written."""

    def __init__(self, folder: Path, kind: str, who: Any, title: str) -> None:
        self.kind, self.who = kind, who
        plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in title).strip("_") or "sennit"
        self.name = f"{plain[:60]}.{kind}"
        self._folder = folder
        source = str(Path(__file__).resolve().parents[2])
        paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "sennit.export.of_tape", str(folder), kind], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )  # fmt: skip

    @property
    def done(self) -> bool:
        """Whether it is written, or has failed."""
        return self._process.poll() is not None

    def taken(self) -> bytes:
        """The file. Raises `InputError` if it could not be written; either way nothing is left."""
        assert self._process.stderr is not None
        said = self._process.stderr.read().decode(errors="replace").strip()
        self._process.stderr.close()
        try:
            if self._process.wait() != 0:
                raise InputError(f"{self.name} could not be written: {said.splitlines()[-1] if said else 'no reason'}")
            return (self._folder / f"film.{self.kind}").read_bytes()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def cancel(self) -> None:
        """End it; nothing is left."""
        if not self.done:
            self._process.kill()
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
        shutil.rmtree(self._folder, ignore_errors=True)
