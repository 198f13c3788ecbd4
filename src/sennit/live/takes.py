"""Frames of what a simulation looks like, while things come and go: for recordings of programs and of pages."""

from __future__ import annotations

from typing import Any

import numpy as np

from sennit.live.play import Play
from sennit.portrait.cast import Cast, Portrait
from sennit.portrait.of_scene import ScenePortrait, portrait_of
from sennit.scene.scene import Scene
from sennit.validation import FloatArray

__all__ = ["LARGEST", "Take", "joined"]

LARGEST = 4 * 2**30
"""Bytes: a recording that would need more memory is refused."""


class Take:
    """Frames while the same things are in the scene."""

    def __init__(self, scene: Scene | Play) -> None:
        self._scene = scene
        self.portrait: Portrait = portrait_of(scene) if isinstance(scene, Scene) else scene.portrait
        self.size = self.portrait.cast.size
        self._frames: list[FloatArray] = []

    def is_over(self) -> bool:
        """Whether other things are there now."""
        if isinstance(self.portrait, ScenePortrait) and isinstance(self._scene, Scene):
            return not self.portrait.current
        return not isinstance(self._scene, Scene) and self._scene.portrait is not self.portrait

    def capture(self) -> None:
        """Keep what is seen now."""
        self._frames.append(self.portrait.capture().copy())

    @property
    def frames(self) -> FloatArray:
        """All that was kept, (k, size)."""
        return np.array(self._frames).reshape(len(self._frames), self.size)

    def keys(self) -> list[Any]:
        """What tells parts apart from take to take: the subject, and what it is shown as."""
        found = []
        for k, part in enumerate(self.portrait.cast.parts):
            found.append((id(self.portrait.subject(k)), part.kind, part.name, part.size))
        return _counted(found)


def _counted(keys: list[Any]) -> list[Any]:
    """`keys`, each with how often each was there before."""
    seen: dict[Any, int] = {}
    result = []
    for key in keys:
        seen[key] = seen.get(key, -1) + 1
        result.append((key, seen[key]))
    return result


def joined(takes: list[Take]) -> tuple[Cast, FloatArray]:
    """The parts of all `takes`, and their frames: a part that is not there is hidden where it was last or will be."""
    if len(takes) == 1:
        return takes[0].portrait.cast, takes[0].frames
    parts: dict[Any, Any] = {}
    for take in takes:
        for key, part in zip(take.keys(), take.portrait.cast.parts, strict=True):
            parts.setdefault(key, part)
    cast = Cast(parts.values())
    taken = [take.frames for take in takes]
    frames = np.full((sum(map(len, taken)), cast.size), np.nan)
    start = 0
    for take, known_frames in zip(takes, taken, strict=True):
        count = len(known_frames)
        where = dict(
            zip(take.keys(), zip(take.portrait.cast.offsets, take.portrait.cast.parts, strict=True), strict=True)
        )
        for key, at in zip(parts, cast.offsets, strict=True):
            if key in where:
                other, part = where[key]
                frames[start : start + count, at : at + part.size] = known_frames[:, other : other + part.size]
        start += count
    for at, part in zip(cast.offsets, cast.parts, strict=True):
        block = frames[:, at : at + part.size]
        known = np.flatnonzero(~np.isnan(block[:, 0]))
        missing = np.flatnonzero(np.isnan(block[:, 0]))
        nearest = known[np.clip(np.searchsorted(known, missing, side="right") - 1, 0, None)]
        block[missing] = block[nearest]
        block[missing, 0] = 0.0
    return cast, frames
