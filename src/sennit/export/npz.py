"""Recordings as plain arrays in one .npz file, which ``numpy.load(path, allow_pickle=False)`` reads.

Keys; ``k`` frames, lengths in metres, world frame:

``times`` (k,) s; ``fps``; ``parts`` (p,) the names of all parts, in order; ``kinds`` (p,) "tube", "solid", "surface";
``roles`` (p,) "body", "tie" (the mark of a constraint), "obstacle", "decor"; and for each part, after its name and a
slash:

* all: ``shown`` (k,) bool, ``colour`` (3,) 0 to 255.
* tubes (rods, cables): ``centres`` (k, n, 3), ``directors`` (k, n, 3) d1 of the sections, ``half`` (2,) half widths of
  the section; ``curvature`` 1/m, ``twist`` rad/m, ``tension`` N, (k, n) each, where there are such.
* solids: ``position`` (k, 3), ``quaternion`` (k, 4) scalar first; ``vertices`` (v, 3) in its frame, ``faces`` (f, 3).
* surfaces: ``vertices`` (k, v, 3), ``faces`` (f, 3); ``pressure`` Pa, ``displacement`` m, (k, v), where there are such.

A slash in a part's name becomes an underscore.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sennit.export.recording import Recording, unique_names
from sennit.portrait.parts import Solid, Tube

__all__ = ["arrays_of", "write_npz"]


def arrays_of(recording: Recording) -> dict[str, Any]:
    """The arrays of a recording by the keys that the file has."""
    parts = recording.cast.parts
    names = unique_names([part.name.replace("/", "_").replace("\\", "_") for part in parts])
    found: dict[str, Any] = {
        "times": recording.times,
        "fps": np.float64(recording.fps),
        "parts": np.array(names, dtype=np.str_),
        "kinds": np.array([part.kind for part in parts], dtype=np.str_),
        "roles": np.array([part.role for part in parts], dtype=np.str_),
    }
    for k, (name, part) in enumerate(zip(names, parts, strict=True)):
        track = recording.track(k)
        own: dict[str, Any] = {"shown": track.shown > 0.5, "colour": np.array(part.colour, dtype=np.uint8)}
        if isinstance(part, Tube):
            own |= {"centres": track.centres, "directors": track.directors, "half": np.array(part.half)}
            own |= {} if part.widths is None else {"widths": part.widths}
        elif isinstance(part, Solid):
            own |= {"position": track.position, "quaternion": track.quaternion}
            own |= {"vertices": part.vertices, "faces": part.faces}
        else:
            own |= {"vertices": track.vertices, "faces": part.faces}
        own |= getattr(track, "fields", {})
        found |= {f"{name}/{key}": value for key, value in own.items()}
    return found


def write_npz(recording: Recording, path: Path, each: Callable[[int, int], object] | None = None) -> None:
    """Write a recording to `path`; the keys are listed at the top of this file."""
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays_of(recording))
    if each is not None:
        each(1, 1)
