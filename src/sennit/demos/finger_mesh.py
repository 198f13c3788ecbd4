"""A finger as closed triangle meshes: three pads of flesh on three bones, joined at seams through the joints.

Each pad is in the frame of its bone: x runs from the joint that carries the bone to its tip, y across and z to the back
of the hand; joints turn about y, and flexion takes the tip to the palm, -z. Flesh is at rest when the joints are bent a
little, as they are in a hand that does nothing; there the seams are flat, in the planes that halve the joints' angles.

``python -m sennit.demos.finger_mesh out/`` writes the pads and bones to files, placed as they are at rest.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import sennit as sn
from sennit.errors import InputError
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.elastostatics.surface import IntArray

__all__ = ["BONE_RADIUS", "LENGTHS", "NAMES", "Finger", "Pad", "finger", "main"]

NAMES = ("proximal", "middle", "distal")
LENGTHS = (0.040, 0.025, 0.020)
"""Lengths of the three bones, m."""
BONE_RADIUS = 0.004
"""At the bones' ends, m; their shafts are thinner."""

_RESTING = (math.radians(24.0), math.radians(16.0))  # angles of the two joints at which flesh has no stress
_STARTS = (0.0, LENGTHS[0], LENGTHS[0] + LENGTHS[1])  # of the bones along the straight finger
_BONE_END = sum(LENGTHS)
_END = _BONE_END + 0.004  # of the flesh
_ROUND = 0.009  # how far before its end the tip begins to be round
_CAPSULE = 0.0035  # so far from a joint flesh is not attached to the bone
_MITRE = 0.011  # so far from a joint sections lean towards the seam
_FINER = (0.97, 0.78, 0.71)  # spacing of vertices in the pads, over that at their seams


@dataclass(frozen=True, slots=True)
class Pad:
    """Flesh round one bone, in the bone's frame."""

    name: str
    vertices: FloatArray
    """Where its vertices are at rest, (n, 3), m."""
    faces: IntArray
    """(m, 3), counter-clockwise seen from outside."""
    fixed: IntArray
    """Vertices on the bone; of the first pad those on the cut through the knuckle, too."""
    near: IntArray
    """Vertices of the seam with the pad before it, in the order of that pad's `far`; none for the first."""
    far: IntArray
    """Vertices of the seam with the pad after it; none for the last."""
    skin: IntArray
    """Faces that are seen from outside."""
    straight: FloatArray
    """(n, 2): place along the straight finger, m, and angle round it from the back of the hand, rad."""


@dataclass(frozen=True, slots=True)
class Finger:
    """Three pads and how they are joined."""

    pads: tuple[Pad, Pad, Pad]

    @property
    def seams(self) -> list[tuple[IntArray, IntArray]]:
        """Vertices of each two neighbours that are the same points, as `sennit.ZoneChain` takes them."""
        return [(a.far, b.near) for a, b in zip(self.pads[:-1], self.pads[1:], strict=True)]

    @staticmethod
    def poses(angles: Sequence[float] | FloatArray, hand: sn.Pose | None = None) -> list[sn.Pose]:
        """Poses of the three bones when the two finger joints are bent by `angles` (2,), rad, from straight.

        `hand` is the pose of the first bone: its place is the knuckle, and its turn is the knuckle's.
        """
        at = sn.Pose() if hand is None else hand
        placed = [at]
        for length, angle in zip(LENGTHS, angles, strict=False):
            at = at @ sn.Pose((length, 0.0, 0.0), (math.cos(angle / 2.0), 0.0, math.sin(angle / 2.0), 0.0))
            placed.append(at)
        return placed

    @property
    def resting(self) -> tuple[float, float]:
        """Angles of the two finger joints at rest, rad."""
        return _RESTING

    def rest_poses(self) -> list[sn.Pose]:
        """Poses at which the undeformed pads meet."""
        return self.poses(_RESTING)


def finger(around: int = 24) -> Finger:
    """The finger with `around` vertices round the skin at the joints.

    24 gives about 800 vertices in each pad and 72 in each seam, and walls thicker than edges are long, which boundary
    elements need; 16 is coarse. Raises `InputError` below, where walls get thinner than edges are long.
    """
    if around < 16:
        raise InputError(f"around must be 16 or more, or walls are thinner than edges are long, got {around!r}")
    return Finger((_pad(0, around), _pad(1, around), _pad(2, around)))


# ---------------------------------------------------------------------------------------------------------- the shape


def _outer(x: FloatArray) -> FloatArray:
    """Radius of the skin before it is flattened, at places along the straight finger."""
    knuckles = 4.5e-4 * np.exp(-(((x - _STARTS[1]) / 5e-3) ** 2)) + 2.5e-4 * np.exp(-(((x - _STARTS[2]) / 4e-3) ** 2))
    body = 8.8e-3 - 1.5e-3 * x / _END + knuckles
    into = np.clip((x - (_END - _ROUND)) / _ROUND, 0.0, 1.0)
    return np.asarray(body * np.sqrt(1.0 - into**2))


def _bone(x: FloatArray) -> FloatArray:
    """Radius of the bones, at places along the straight finger."""
    ends = np.min([np.abs(x - end) for end in _STARTS], axis=0)
    shaft = BONE_RADIUS - 3e-4 * (1.0 - np.exp(-((ends / 7e-3) ** 2)))
    into = np.clip((x - (_BONE_END - 4e-3)) / 4e-3, 0.0, 1.0)
    return np.asarray(shaft * np.sqrt(1.0 - into**2))


def _placed(x: FloatArray, radius: FloatArray, angle: FloatArray, depth: FloatArray, pad: int) -> FloatArray:
    """Places (n, 3) in the frame of bone `pad`; `depth` is 0 on the bone and 1 on the skin."""
    y, z = radius * np.sin(angle), radius * np.cos(angle)
    tip = np.clip((x - _STARTS[2]) / 0.016, 0.0, 1.0)
    tip = tip * tip * (3.0 - 2.0 * tip)
    pulp = sum(
        size * np.exp(-(((x - at) / wide) ** 2))
        for at, size, wide in ((0.019, 0.10, 0.010), (0.0525, 0.10, 0.007), (0.077, 0.10, 0.008))
    )
    z = z * np.where(z < 0.0, 1.0 + depth * pulp, 1.0 - depth * (0.05 + 0.13 * tip))
    z = z - 4e-4 * depth * tip
    lean = np.zeros_like(x)  # sections at a joint lie in the plane that halves its angle
    for joint, angle_there in enumerate(_RESTING, 1):
        if pad in (joint - 1, joint):
            near = np.clip(1.0 - np.abs(x - _STARTS[joint]) / _MITRE, 0.0, 1.0) ** 1.5
            lean += (1.0 if pad < joint else -1.0) * near * math.tan(angle_there / 2.0)
    return np.column_stack((x - _STARTS[pad] + lean * z, y, z))


# ----------------------------------------------------------------------------------------------------------- the mesh


def _pad(pad: int, around: int) -> Pad:
    """One pad: rings along a closed meridian, each zipped to the next; the last pad ends in two poles."""
    begin = _STARTS[pad]
    last = pad == len(LENGTHS) - 1
    spacing = _spacing(pad, around)
    start = _section(begin, around)
    outside = _meridian(_outer, begin, _END if last else _STARTS[pad + 1], spacing)
    inside = _meridian(_bone, begin, _BONE_END if last else _STARTS[pad + 1], spacing)
    rings = [*start, *_counted(outside[1:-1], spacing, 1.0)]
    poles: list[FloatArray] = []
    if last:
        rings = [*_counted(inside[-2:0:-1], spacing, 0.0), *rings]
        poles = [inside[-1], outside[-1]]
    else:
        rings += [*_section(_STARTS[pad + 1], around)[::-1], *_counted(inside[-2:0:-1], spacing, 0.0)]
    # Rings of as many vertices as the one before it are turned by half a step; those of sections stay.
    turns = [ring[4] for ring in rings]
    for k in range(1, len(rings)):
        if turns[k] < 0.0:
            turns[k] = 0.5 - turns[k - 1] if turns[k - 1] >= 0.0 else 0.0
    turns[0] = max(turns[0], 0.0)
    counts = [int(ring[3]) for ring in rings]
    firsts = np.concatenate(([0], np.cumsum(counts)))
    table = np.concatenate(
        [
            np.column_stack((np.full((n, 3), ring[:3]), 2.0 * np.pi * (np.arange(n) + turn) / n))
            for ring, n, turn in zip(rings, counts, turns, strict=True)
        ]
    )
    faces: list[tuple[int, int, int]] = []
    pairs = [(k, k + 1) for k in range(len(rings) - 1)] + ([] if last else [(len(rings) - 1, 0)])
    for a, b in pairs:
        faces += _zipped(int(firsts[a]), counts[a], turns[a], int(firsts[b]), counts[b], turns[b])
    for pole, ring, depth in zip(poles, (0, len(rings) - 1), (0.0, 1.0), strict=False):
        hub, n = len(table), counts[ring]
        table = np.concatenate((table, [(pole[0], 0.0, depth, 0.0)]))
        ids = firsts[ring] + np.arange(n)
        after = np.roll(ids, -1)
        one, two = (ids, after) if ring == 0 else (after, ids)
        faces += np.column_stack((one, two, np.full(n, hub))).tolist()
    x, radius, depth, angle = table.T
    vertices = _placed(x, radius, angle, depth, pad)
    triangles = _evened(vertices, np.array(faces, dtype=np.int64))
    on_bone = depth == 0.0
    held = on_bone & np.logical_and.reduce([np.abs(x - joint) > _CAPSULE for joint in _STARTS[1:]])
    if pad == 0:
        held |= x == 0.0
    none = np.zeros(0, dtype=np.int64)
    seams = [np.flatnonzero(x == at) if 0.0 < at < _BONE_END else none for at in (begin, begin + LENGTHS[pad])]
    seams = [ids[np.lexsort((angle[ids], radius[ids]))] for ids in seams]
    skin = np.flatnonzero((depth[triangles] == 1.0).all(axis=1))
    return Pad(
        NAMES[pad], vertices, triangles, np.flatnonzero(held), seams[0], none if last else seams[1], skin,
        np.column_stack((x, angle)),
    )  # fmt: skip


Ring = tuple[float, float, float, float, float]
"""Place, radius, depth, number of vertices, and turn in steps between vertices (-1: still to be chosen)."""


def _section(x: float, around: int) -> list[Ring]:
    """Rings of the section at a joint from the bone to the skin: the same for the pads on its both sides."""
    inner, outer = float(_bone(np.array(x))), float(_outer(np.array(x)))
    layers = max(2, round(around / 8))
    rings = []
    for k in range(layers + 1):
        depth = k / layers
        count = round(around * (0.5 + 0.5 * depth))
        rings.append((x, inner + depth * (outer - inner), depth, float(count), 0.5 * (k % 2)))
    return rings


def _spacing(pad: int, around: int) -> Callable[[FloatArray], FloatArray]:
    """Distance of vertices as a function of the place: at joints what the sections have, finer between."""
    ends = [_STARTS[pad], _STARTS[pad] + LENGTHS[pad]]
    coarse = [2.0 * math.pi * float(_outer(np.array(end))) / around for end in ends[: 1 if pad == 2 else 2]]

    def at(x: FloatArray) -> FloatArray:
        x = np.asarray(x, dtype=np.float64)
        if len(coarse) == 1:
            wide, away = np.full(x.shape, coarse[0]), x - ends[0]
        else:
            part = np.clip((x - ends[0]) / LENGTHS[pad], 0.0, 1.0)
            wide, away = coarse[0] + part * (coarse[1] - coarse[0]), np.minimum(x - ends[0], ends[1] - x)
        part = np.clip(away / 6e-3, 0.0, 1.0)
        return np.asarray(wide * (1.0 - (1.0 - _FINER[pad]) * part))

    return at


def _meridian(
    radius: Callable[[FloatArray], FloatArray], begin: float, end: float, spacing: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Places and radii (k, 2) from `begin` to `end` such that rows of equal triangles fit between them."""
    part = 1.0 - np.cos(np.linspace(0.0, np.pi, 2001))  # close together at the ends, where tips are steep
    x = begin + (end - begin) * part / 2.0
    r = radius(x)
    rows = np.hypot(np.diff(x), np.diff(r)) / (0.5 * math.sqrt(3.0) * spacing((x[1:] + x[:-1]) / 2.0))
    along = np.concatenate(([0.0], np.cumsum(rows)))
    count = 2 * max(1, round(along[-1] / 2.0))  # even: then both ends may be turned alike
    places = np.interp(np.linspace(0.0, along[-1], count + 1), along, x)
    return np.column_stack((places, radius(places)))


def _counted(rows: FloatArray, spacing: Callable[[FloatArray], FloatArray], depth: float) -> list[Ring]:
    """Rings at `rows` of places and radii, with as many vertices as fit."""
    return [
        (float(x), float(r), depth, float(max(5, round(2.0 * math.pi * r / float(spacing(np.array(x)))))), -1.0)
        for x, r in rows
    ]


def _zipped(
    first: int, count: int, turn: float, other: int, others: int, other_turn: float
) -> list[tuple[int, int, int]]:  # fmt: skip
    """Triangles between two rings: at each step the ring goes on whose next vertex comes first."""
    faces = []
    i = j = 0
    while i < count or j < others:
        here, there = (i + 1 + turn) / count, (j + 1 + other_turn) / others
        if j == others or (i < count and here <= there):
            faces.append((first + i % count, other + j % others, first + (i + 1) % count))
            i += 1
        else:
            faces.append((first + i % count, other + j % others, other + (j + 1) % others))
            j += 1
    return faces


def _evened(vertices: FloatArray, faces: IntArray) -> IntArray:
    """`faces` after edges were flipped as long as the two angles that face them sum to more than 180° (Delaunay).

    Edges of the body stay: only two faces that lie nearly in one plane change.
    """
    faces = faces.copy()
    for _ in range(20):
        corners = vertices[faces]
        after, before = np.roll(corners, -1, axis=1) - corners, np.roll(corners, 1, axis=1) - corners
        normals = np.cross(after, before)
        angles = np.arctan2(np.linalg.norm(normals, axis=2), np.einsum("fki,fki->fk", after, before))
        normals = normals[:, 0] / np.linalg.norm(normals[:, 0], axis=1, keepdims=True)
        opposite = {}  # edge: the face on its left, and the corner there that faces it
        for f, (a, b, c) in enumerate(faces.tolist()):
            opposite[a, b], opposite[b, c], opposite[c, a] = (f, 2), (f, 0), (f, 1)
        changed: set[int] = set()
        for (a, b), (f, k) in opposite.items():
            g, m = opposite[b, a]
            if a > b or angles[f, k] + angles[g, m] <= math.pi + 1e-6 or normals[f] @ normals[g] < 0.8:
                continue
            c, d = int(faces[f, k]), int(faces[g, m])
            if f not in changed and g not in changed and (c, d) not in opposite and (d, c) not in opposite:
                faces[f], faces[g] = (a, d, c), (d, b, c)
                changed |= {f, g}
        if not changed:
            break
    return faces


# ---------------------------------------------------------------------------------------------------------- the files


def main(words: Sequence[str] | None = None) -> None:
    """Write the pads, placed as they are at rest, to a folder."""
    import trimesh

    parser = argparse.ArgumentParser(prog="python -m sennit.demos.finger_mesh", description=main.__doc__)
    parser.add_argument("folder", type=Path, help="where to write proximal, middle and distal")
    parser.add_argument("--around", type=int, default=24, help="vertices round a joint (default: %(default)s)")
    parser.add_argument("--format", choices=("obj", "ply", "stl"), default="obj", help="default: %(default)s")
    args = parser.parse_args(words)
    args.folder.mkdir(parents=True, exist_ok=True)
    made = finger(args.around)
    for pad, pose in zip(made.pads, made.rest_poses(), strict=True):
        path = args.folder / f"{pad.name}.{args.format}"
        trimesh.Trimesh(pose @ pad.vertices, pad.faces, process=False).export(path)
        print(f"{path}: {len(pad.vertices)} vertices, {len(pad.faces)} faces, {len(pad.fixed)} fixed")


if __name__ == "__main__":
    main()
