"""Where to look at a recording from: so that all that moves in it fills the picture."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sennit.export.recording import Recording
from sennit.portrait.bounds import bounds, camera_for
from sennit.portrait.parts import Solid, SolidView, Tube
from sennit.validation import FloatArray

__all__ = ["boxes_of", "drift_of", "fitting_eye", "floor_of", "room_of"]

_LOOKED_AT = 60  # frames of a long recording suffice
_FAR = 3.0
"""A camera moves along where the room of the whole recording is this many times as large as that of one frame."""


def _chosen(recording: Recording) -> list[int]:
    count = min(len(recording), _LOOKED_AT)
    chosen: list[int] = np.unique(np.linspace(0, len(recording) - 1, count).round().astype(int)).tolist()
    return chosen


def room_of(recording: Recording) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest corner, (3,), m, of what is shown in the whole recording."""
    boxes = [bounds(recording.cast, recording.frames[k]) for k in _chosen(recording)]
    return np.min([low for low, _ in boxes], axis=0), np.max([high for _, high in boxes], axis=0)


def drift_of(recording: Recording) -> FloatArray:
    """How far a camera moves along with what is seen, (k, 3), m: zero unless that goes much farther than it is large.

    Otherwise the middle of the bodies, without its quick changes, from where it is at first.
    """
    count = len(recording)
    low, high = room_of(recording)
    chosen = _chosen(recording)
    boxes = np.array([bounds(recording.cast, recording.frames[k]) for k in chosen])
    largest = float(np.median(np.linalg.norm(boxes[:, 1] - boxes[:, 0], axis=1)))
    bodies = [
        np.stack([_box(part, track, [k]) for k in chosen])
        for _, part, track in recording.tracks()
        if part.role == "body" and (track.shown > 0.5).all()
    ]
    if recording.camera is not None or not bodies or float(np.linalg.norm(high - low)) < _FAR * largest:
        return np.zeros((count, 3))
    middles = 0.5 * (np.min(bodies, axis=0)[:, 0] + np.max(bodies, axis=0)[:, 1])
    if len(chosen) > 4:  # a mean over five of the frames looked at, fewer near the ends
        reach = np.minimum(np.minimum(np.arange(len(chosen)), np.arange(len(chosen))[::-1]), 2)
        middles = np.array([middles[k - r : k + r + 1].mean(axis=0) for k, r in enumerate(reach)])
    moved = middles - middles[0]
    return np.column_stack([np.interp(np.arange(count), chosen, moved[:, k]) for k in range(3)])


def boxes_of(recording: Recording) -> FloatArray:
    """Corners (b, 8, 3), m, of boxes in which the parts stay, as a camera sees them that moves by `drift_of`.

    Decor, which may be a floor without end, is left out.
    """
    found = []
    drift = drift_of(recording)
    low, high = room_of(recording)
    still = not drift.any()
    for _, part, track in recording.tracks():
        kept = [k for k in _chosen(recording) if track.shown[k] > 0.5]
        if part.role == "decor" or not kept:
            continue
        if still:
            found.append(np.clip(_box(part, track, kept), low, high))
        elif part.role == "body":
            each = np.array([_box(part, track, [k]) for k in kept]) - drift[kept, None]
            found.append(np.stack((each[:, 0].min(axis=0), each[:, 1].max(axis=0))))
    if not found:
        found.append(np.stack((low, high)))
    return np.array([[[box[i >> k & 1][k] for k in range(3)] for i in range(8)] for box in found])


def floor_of(recording: Recording) -> tuple[int, float] | None:
    """Number of the part that is a level floor under everything, and its height, m: flat decor that never moves.

    What stands on it is painted over it, and casts its shadow there.
    """
    lowest = float(boxes_of(recording)[..., 2].min())
    for number, (_, part, track) in enumerate(recording.tracks()):
        if part.role != "decor" or not isinstance(part, Solid) or part.opacity < 1.0 or not (track.shown > 0.5).all():
            continue
        if np.ptp(track.position, axis=0).any() or np.ptp(track.quaternion, axis=0).any():
            continue
        low, high = _box(part, track, [0])
        thick, wide = high[2] - low[2], float(np.max(high[:2] - low[:2]))
        if thick < 0.01 * wide and high[2] <= lowest + 0.001 * wide:
            return number, float(high[2])
    return None


def _box(part: Any, track: Any, kept: list[int]) -> FloatArray:
    """Lowest and highest corner, (2, 3), m, of a part in some frames."""
    if isinstance(part, Solid):
        views = [SolidView(track.shown, track.position[k], track.quaternion[k]) for k in kept]
        points, margin = np.concatenate([part.places(view) for view in views]), 0.0
    elif isinstance(part, Tube):
        points, margin = track.centres[kept].reshape(-1, 3), max(part.half)
    else:
        points, margin = track.vertices[kept].reshape(-1, 3), 0.0
    return np.stack((points.min(axis=0) - margin, points.max(axis=0) + margin))


def fitting_eye(recording: Recording, slopes: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """Eye and target, (3,), m: from the direction of the usual camera, as near as leaves everything in the picture.

    `slopes`: how far to the sides, and up and down, the picture reaches at a distance of 1. Both move by `drift_of`.
    """
    if recording.camera is not None:
        return recording.camera
    eye, target = camera_for(*room_of(recording))
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross((0.0, 0.0, 1.0), back)
    right /= np.linalg.norm(right)
    up = np.cross(back, right)
    corners = boxes_of(recording).reshape(-1, 3)
    target = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    for _ in range(3):  # the middle of what is seen is not quite the middle of the boxes, as near things are larger
        rest = corners - target
        depth, wide, tall = rest @ back, rest @ right, rest @ up
        distance = float(np.max(depth + np.maximum(np.abs(wide) / slopes[0], np.abs(tall) / slopes[1])))
        x, y = wide / (distance - depth), tall / (distance - depth)
        target = target + 0.5 * distance * ((x.min() + x.max()) * right + (y.min() + y.max()) * up)
    rest = corners - target
    depth, wide, tall = rest @ back, rest @ right, rest @ up
    distance = float(np.max(depth + np.maximum(np.abs(wide) / slopes[0], np.abs(tall) / slopes[1])))
    return target + max(distance, math.ulp(1.0)) * back, target
