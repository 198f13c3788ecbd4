"""``python -m sennit.export.of_tape FOLDER KIND`` writes a file of what a page has recorded: see `sennit.live.tape`."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from sennit.errors import InputError
from sennit.export.record import write
from sennit.export.recording import Recording
from sennit.portrait.cast import Cast

__all__ = ["evenly", "main"]


def evenly(times: Any, frames: Any, fps: float) -> tuple[Any, Any]:
    """`frames`, (k, n), at even times `fps` a second from the first on, in proportion between those that there are."""
    count = max(1, 1 + math.floor((times[-1] - times[0]) * fps + 1e-6))
    wanted = times[0] + np.arange(count) / fps
    after = np.clip(np.searchsorted(times, wanted), 1, max(len(times) - 1, 1))
    if len(times) == 1:
        return wanted, frames[:1]
    span = np.maximum(times[after] - times[after - 1], 1e-300)
    share = np.clip((wanted - times[after - 1]) / span, 0.0, 1.0)[:, None]
    return wanted, frames[after - 1] + share * (frames[after] - frames[after - 1])


def main(folder: Path, kind: str) -> int:
    """Write ``film.KIND`` into `folder`."""
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    with np.load(folder / "frames.npz", allow_pickle=False) as file:
        times, frames = evenly(file["times"], file["frames"], about["fps"])
    camera = None if about["camera"] is None else (np.array(about["camera"][0]), np.array(about["camera"][1]))
    cast = Cast.from_bytes((folder / "cast").read_bytes())
    recording = Recording(cast, times, frames, about["fps"], about["title"], camera, about["ground"])
    try:
        write(recording, folder / f"film.{kind}", progress=False)
    except (InputError, ModuleNotFoundError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2]))
