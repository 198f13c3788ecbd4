"""A recording: what a scene looked like, frame by frame. Every file format is written from one."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sennit import validation
from sennit.attributes import unchanging
from sennit.errors import InputError
from sennit.export.measured import Curve, ForceLog, ForceTrack, curves_of
from sennit.live.play import Play
from sennit.live.takes import LARGEST, Take, joined
from sennit.portrait.cast import Cast
from sennit.portrait.parts import Solid, SolidView, Surface, SurfaceView, Tube, TubeView
from sennit.scene.moving import MOST_STEPS
from sennit.scene.scene import Scene
from sennit.validation import FloatArray, quoted

__all__ = ["Recording", "record_frames", "still_of", "unique_names"]


@unchanging
@dataclass(frozen=True, eq=False)
class Recording:
    """The parts of a picture and their numbers at evenly spaced times. Made by `record`."""

    cast: Cast
    times: FloatArray
    """Time of each frame on the scene's clock, (k,), s."""
    frames: FloatArray
    """What the cast looks like in each of k frames, (k, cast.size): numbers as `sennit.portrait.parts` has them."""
    fps: float
    """Frames in a second of simulated time."""
    title: str = "sennit"
    camera: tuple[FloatArray, FloatArray] | None = field(default=None)
    """Eye and target, (3,) each, m, of a camera that sees 45° up and down; None: chosen from what is seen."""
    ground: float | None = None
    """Height of the ground, m; None: below what is seen."""
    forces: tuple[ForceTrack, ...] = ()
    """What constraints and loads do, at these times."""
    curves: tuple[Curve, ...] = ()
    """The exact centrelines of the rods and cables that are there in the last frame."""

    def __post_init__(self) -> None:
        if self.frames.shape != (len(self.times), self.cast.size) or not len(self.times):
            raise InputError(
                f"a recording needs frames of shape (times, {self.cast.size}), at least one, got {self.frames.shape} "
                f"and {len(self.times)} times"
            )

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        seconds = float(self.times[-1] - self.times[0])
        return f"<{self.title}: {seconds:.3g} s, {len(self)} frames of {len(self.cast.parts)} parts>"

    def _repr_html_(self) -> str:
        """A player in a notebook."""
        from sennit.export.notebook import player_html

        return player_html(self)

    def write(self, path: str | os.PathLike[str], *, progress: bool = False) -> Path:
        """Write it to `path`, in the format that its suffix names, and return what `sennit.record` would.

        `progress`: whether a bar shows how far it is.
        """
        from sennit.export.record import write

        return write(self, path, progress=progress)

    @property
    def names(self) -> list[str]:
        """Names of the parts, in order; where two are the same, the later has a number added."""
        return unique_names([part.name for part in self.cast.parts])

    def track(self, part: int) -> Any:
        """What the view of part number `part` gives, for all frames: its arrays have a first axis more."""
        number = validation.count("part", part, 0, len(self.cast.parts) - 1)
        thing, at = self.cast.parts[number], self.cast.offsets[number]
        block = self.frames[:, at : at + thing.size]
        k, shown = len(block), block[:, 0]
        if isinstance(thing, Solid):
            return SolidView(shown, block[:, 1:4], block[:, 4:8])
        n = thing.count
        places = block[:, 1 : 1 + 3 * n].reshape(k, n, 3)
        first = 1 + (6 if isinstance(thing, Tube) else 3) * n
        fields = {name: block[:, first + j * n : first + (j + 1) * n] for j, name in enumerate(thing.fields)}
        if isinstance(thing, Surface):
            return SurfaceView(shown, places, fields)
        return TubeView(shown, places, block[:, 1 + 3 * n : 1 + 6 * n].reshape(k, n, 3), fields)

    @property
    def things(self) -> list[int]:
        """Numbers of the parts that are things themselves: bodies and cables, and no marks, obstacles and decor."""
        found = []
        for k, part in enumerate(self.cast.parts):
            cable = isinstance(part, Tube) and part.role == "tie" and not part.mark
            found += [k] if part.role == "body" or cable else []
        return found

    def tracks(self) -> Iterator[tuple[str, Any, Any]]:
        """Name, part and track of every part."""
        for k, (name, part) in enumerate(zip(self.names, self.cast.parts, strict=True)):
            yield name, part, self.track(k)


def unique_names(names: list[str], separator: str = " ") -> list[str]:
    """`names` with numbers added to those that were there before: rope, rope 2, rope 3."""
    taken: set[str] = set()
    result = []
    for name in names:
        other, k = name, 1
        while other in taken:
            k += 1
            other = f"{name}{separator}{k}"
        taken.add(other)
        result.append(other)
    return result


def record_frames(
    scene: Scene | Play,
    seconds: float,
    *,
    dt: float = 1e-3,
    fps: float = 60.0,
    before_step: Callable[[float], object] | None = None,
    each: Callable[[int, int], object] | None = None,
    check: Callable[[int, int], object] | None = None,
) -> Recording:
    """Run `scene` for `seconds` and keep what is seen of it, `fps` frames in a second, the first one at once.

    Arguments as in `sennit.record`; `each` is called after every frame with how many there are and will be, `check`
    before anything moves with how many frames there will be and how many numbers each has, and may raise. Bodies and
    constraints may be added and removed on the way: a part is hidden while its subject is not in the scene.
    """
    if not isinstance(scene, Scene) and not all(hasattr(type(scene), name) for name in ("portrait", "step", "time")):
        raise InputError(f"only a sennit.Scene can be recorded, got {quoted(scene)}")
    if before_step is not None and not isinstance(scene, Scene):
        raise InputError("before_step is for scenes: what a page runs has its own script")
    total = validation.number("seconds", seconds, minimum=0.0)
    longest = validation.number("dt", dt, positive=True)
    rate = validation.number("fps", fps, positive=True)
    if before_step is not None and not callable(before_step):
        raise InputError(f"before_step must be a function of the time step, got {quoted(before_step)}")
    if total * rate > LARGEST:
        raise InputError(
            f"{total:g} s at {rate:g} frames a second are too many frames: choose fps of at most "
            f"{LARGEST / total:.3g}, or fewer seconds"
        )
    count = 1 + math.floor(total * rate * (1.0 + 1e-12) + 1e-9)
    takes = [Take(scene)]
    _check_memory(count, takes[0].size, total, rate)
    if check is not None:
        check(count, takes[0].size)
    if isinstance(scene, Scene) and total / longest > MOST_STEPS:
        raise InputError(f"{total:g} s in steps of {longest:g} s are over {MOST_STEPS:g} steps: choose a longer dt")

    def advance(until: float) -> None:
        if not isinstance(scene, Scene):  # it has its own steps: the frame is the nearest of them
            while scene.time - start < until - 0.5 * scene.dt:
                scene.step()
            return
        span = until - (scene.time - start)
        steps = max(1, math.ceil(span / longest - 1e-9))
        if before_step is None:
            scene._make_steps(steps, span / steps)
            return
        for _ in range(steps):
            before_step(span / steps)
            scene.step(span / steps)

    start = scene.time
    times = [start]
    held = scene if isinstance(scene, Scene) else getattr(scene, "scene", None)
    log = ForceLog(held) if isinstance(held, Scene) else None
    for k in range(count):
        if k:
            advance(k / rate)
            times.append(start + k / rate)
            if takes[-1].is_over():
                takes.append(Take(scene))
        takes[-1].capture()
        if log is not None:
            log.capture()
        if each is not None:
            each(k + 1, count)
    curves = curves_of(takes[-1].portrait)
    rest = total - (count - 1) / rate
    if rest > 1e-9 / rate:
        advance(total)
    cast, frames = joined(takes)
    kept = Recording(cast, np.array(times), frames, rate, forces=log.tracks() if log else (), curves=curves)
    if isinstance(scene, Scene):
        return replace(kept, title=scene.name or "sennit")
    return replace(kept, title=scene.title, camera=scene.camera, ground=scene.ground)


def still_of(scene: Scene) -> Recording:
    """What is seen of `scene` now, as a recording of one frame; nothing moves."""
    return record_frames(scene, 0.0, fps=1.0)


def _check_memory(count: int, size: int, seconds: float, fps: float) -> None:
    needed = 8 * count * size
    if needed > LARGEST:
        fitting = LARGEST / (8 * max(size, 1))
        raise InputError(
            f"{seconds:g} s at {fps:g} frames a second are {count} frames of {8e-6 * size:.3g} MB, in all "
            f"{needed / 1e9:.3g} GB: choose fps of at most {fitting / max(seconds, 1e-300):.3g}, or fewer seconds"
        )
