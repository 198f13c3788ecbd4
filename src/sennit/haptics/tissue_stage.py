"""What a page sees of a loop of tissue: the loop's side, which writes where bones and probe are and what is pressed.

No surface is computed here: whoever shows the tissue solves for it, in another process, from the forces on the skin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sennit.geometry.pose import Pose
from sennit.haptics.tissue import BonesSubject
from sennit.live.channel import FrameReader, FrameWriter
from sennit.validation import FloatArray

__all__ = ["TissueFrame", "TissueReader", "TissueStage"]

_HEAD = 15
"""Numbers before the poses: time, time of the last step, touching, stopped bones, count; probe (7); its force (3)."""
_ROW = 5
"""Of a vertex that is pressed: its zone, its number there, the force on it in the world."""
MOST = 600
"""Vertices that there is room for; of more those that are pressed hardest are told."""


@dataclass(frozen=True, slots=True)
class TissueFrame:
    """One state of a loop of tissue."""

    time: float
    took: float
    """Time of the last step, s."""
    touching: bool
    stopped: bool
    """Whether the bones stopped on their way, so as not to tear a seam."""
    tip: Pose
    """Of probe or tool."""
    force: FloatArray
    """On the skin, as far as the hand feels it, (3,), N."""
    poses: list[Pose]
    """Of the zones' frames."""
    pressed: FloatArray
    """(k, 5): zone, vertex, and force on it in the world, N."""


class TissueStage:
    """Writes what `subject` is into shared memory."""

    def __init__(self, subject: BonesSubject) -> None:
        self._subject = subject
        self._poses = 7 * len(subject.body.zones)
        self._writer = FrameWriter(_HEAD + self._poses + _ROW * MOST)
        self._frame = np.zeros(self._writer.size)

    @property
    def memory(self) -> str:
        """Name of the memory that states are written to."""
        return self._writer.name

    def show(self, took: float) -> None:
        """Write the present state; `took`: time of the last step, s."""
        subject, frame, begin = self._subject, self._frame, _HEAD + self._poses
        ids, forces = subject.pressed()
        if len(ids) > MOST:
            hardest = np.argsort(-(forces**2).sum(axis=1))[:MOST]
            ids, forces = ids[hardest], forces[hardest]
        bones = subject.bones
        frame[:5] = subject.time, took, subject.touching, bones is not None and bool(bones.refused), len(ids)
        frame[5:12], frame[12:15] = subject.place(), subject.wrench[:3]
        for z, pose in enumerate(subject.body.poses):
            frame[_HEAD + 7 * z : _HEAD + 7 * z + 3] = pose.position
            frame[_HEAD + 7 * z + 3 : _HEAD + 7 * z + 7] = pose.quaternion
        rows = frame[begin : begin + _ROW * len(ids)].reshape(-1, _ROW)
        rows[:, 0], rows[:, 1], rows[:, 2:] = subject.body.vertex_zone[ids], subject.body.vertex_of[ids], forces
        self._writer.write(frame)

    def close(self) -> None:
        """Let go of the memory."""
        self._writer.close()


class TissueReader:
    """Reads what a `TissueStage` writes into the memory called `name`, of `zones` zones."""

    def __init__(self, name: str, zones: int) -> None:
        self._reader, self._zones = FrameReader(name), zones

    def read(self) -> TissueFrame | None:
        """The newest state; None if there is none newer than the last."""
        newest = self._reader.read()
        if newest is None:
            return None
        frame = newest[1]
        at = _HEAD + 7 * self._zones
        count = int(frame[4])
        poses = [_pose(row) for row in frame[_HEAD:at].reshape(-1, 7)]
        return TissueFrame(
            float(frame[0]), float(frame[1]), bool(frame[2]), bool(frame[3]), _pose(frame[5:12]), frame[12:15].copy(),
            poses, frame[at : at + _ROW * count].reshape(-1, _ROW).copy(),
        )  # fmt: skip

    def close(self) -> None:
        """Let go of the memory."""
        self._reader.close()


def _pose(row: FloatArray) -> Pose:
    return Pose(row[:3], row[3:] if row[3:].any() else (1.0, 0.0, 0.0, 0.0))
