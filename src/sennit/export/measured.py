"""What a recording keeps besides pictures: forces over time, and the exact centrelines at its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sennit.attributes import unchanging
from sennit.bodies.rod.rod import Rod
from sennit.constraints.cable.cable import Cable
from sennit.constraints.load import Load
from sennit.errors import InputError
from sennit.live.arrows import arrows_of
from sennit.portrait.of_scene import ScenePortrait
from sennit.scene.scene import Scene
from sennit.validation import FloatArray

__all__ = ["Curve", "ForceLog", "ForceTrack", "curves_of"]


@unchanging
@dataclass(frozen=True, eq=False)
class Curve:
    """The centreline of a rod or a cable as the B-spline that it is: of degree 3, or straight pieces of degree 1.

    An open curve of degree d with n control points has n − d spans; u goes from 0 to their number, and it begins and
    ends at its first and last control point. A closed one has n spans, and u and its control points go round.
    """

    name: str
    points: FloatArray
    """Control points, (n, 3), m."""
    degree: Literal[1, 3]
    closed: bool = False


@unchanging
@dataclass(frozen=True, eq=False)
class ForceTrack:
    """What a constraint or a load does to one point, in each of k frames; NaN where it is not there or switched off."""

    name: str
    kind: Literal["constraint", "load"]
    places: FloatArray
    """Of the point: (k, 3), m."""
    forces: FloatArray
    """On it: (k, 3), N, world frame."""
    torques: FloatArray
    """On it: (k, 3), N·m, world frame; NaN for cables."""


class ForceLog:
    """Forces of a scene, frame by frame."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._frames = 0
        self._kept: dict[tuple[int, int], tuple[Any, list[int], list[FloatArray]]] = {}
        """Of each force, by its subject and its number there: the subject, numbers of frames, what was known then."""

    def capture(self) -> None:
        """Keep what acts now as one more frame."""
        acting: list[Any] = [*self._scene.constraints, *self._scene.loads]
        for subject in acting:
            if not subject.enabled:
                continue
            try:
                rows = _of_load(subject) if isinstance(subject, Load) else _of_constraint(subject)
            except InputError:  # some can't tell before the first step
                continue
            for k, row in enumerate(rows):
                _, frames, known = self._kept.setdefault((id(subject), k), (subject, [], []))
                frames.append(self._frames)
                known.append(row)
        self._frames += 1

    def tracks(self) -> tuple[ForceTrack, ...]:
        """All that was kept, in the order in which it came. A cable has one for each point that it runs through."""
        found = []
        for (_, k), (subject, frames, known) in self._kept.items():
            table = np.full((self._frames, 9), np.nan)
            table[frames] = known
            name = f"{subject.name} [{k}]" if isinstance(subject, Cable) else subject.name
            kind: Literal["load", "constraint"] = "load" if isinstance(subject, Load) else "constraint"
            found.append(ForceTrack(name, kind, table[:, :3], table[:, 3:6], table[:, 6:]))
        return tuple(found)


def _of_constraint(constraint: Any) -> FloatArray:
    """Places (m), forces (N) and torques (N·m) that it applies, (n, 9)."""
    rows = arrows_of(constraint)
    turning = np.full((len(rows), 3), np.nan) if isinstance(constraint, Cable) else constraint.torque[None]
    return np.hstack((rows, turning))


def _of_load(load: Load) -> FloatArray:
    force, torque = load.force, load.torque
    if load.follower:
        force, torque = load.point.frame @ force, load.point.frame @ torque
    return np.concatenate((load.point.position, force, torque))[None]


def curves_of(portrait: Any) -> tuple[Curve, ...]:
    """The centrelines of all rods and cables that the portrait of a scene shows, as they are now."""
    if not isinstance(portrait, ScenePortrait):
        return ()
    found = []
    for k, part in enumerate(portrait.cast.parts):
        subject = portrait.subject(k)
        if isinstance(subject, Rod) and subject in portrait.scene.bodies:
            degree: Literal[1, 3] = 3 if subject.model == "spline" else 1
            found.append(Curve(part.name, subject.control_points, degree, subject.closed))
        elif isinstance(subject, Cable) and subject in portrait.scene.constraints and not subject.broken:
            found.append(Curve(part.name, subject.path(), 1))
    return tuple(found)
