"""What is seen of the finger: the skin of its pads as one surface, the nail on it, bones, ball and probe."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sennit.demos.finger_mesh import BONE_RADIUS, LENGTHS, Finger
from sennit.elastostatics.surface import IntArray
from sennit.export.facets import Facets, circle, loft
from sennit.export.solids import ball, tube
from sennit.validation import FloatArray

__all__ = ["BONE", "FLESH", "FOLD", "NAIL", "Cover", "bone", "knuckle", "probe", "stand"]

FLESH, FOLD, NAIL = (240, 190, 162), (214, 142, 120), (255, 220, 208)
BONE, STEEL = (264, 264, 258), (150, 158, 170)
_TIP = sum(LENGTHS) + 0.004  # m along the straight finger


class Cover:
    """The skin of all pads as one surface: both sides of a seam are one vertex."""

    def __init__(self, finger: Finger) -> None:
        joined, count = [], 0
        for pad in finger.pads:
            joined.append(count + np.arange(len(pad.vertices)))
            count += len(pad.vertices)
        for k, (a, b) in enumerate(finger.seams):
            joined[k + 1][b] = joined[k][a]
        faces = np.concatenate([ids[pad.faces[pad.skin]] for ids, pad in zip(joined, finger.pads, strict=True)])
        used, faces = np.unique(faces, return_inverse=True)
        self.faces: IntArray = faces.reshape(-1, 3)
        """Triangles of the skin, as numbers of its vertices: (m, 3)."""
        source = np.full(count, -1)
        for k, ids in list(enumerate(joined))[::-1]:
            source[ids] = np.arange(len(ids)) + sum(len(pad.vertices) for pad in finger.pads[:k])
        self.source: IntArray = source[used]
        """Of each vertex: its number among the vertices of all pads, one after the other."""
        straight = np.concatenate([pad.straight for pad in finger.pads])[self.source]
        self.tint = _tinted(straight)
        """Colours of the vertices without pressure, (n, 3)."""
        self.nail = self._nail_weights(straight)
        """Vertices and weights, (k, 3) each, of a grid of places on the back of the tip, and its shape."""
        self._starts = np.cumsum([0, *(len(pad.vertices) for pad in finger.pads)])

    def joined(self, parts: Sequence[FloatArray]) -> FloatArray:
        """Values at the vertices of all pads as values at those of the skin."""
        return np.concatenate(parts)[self.source]

    def pad_of(self, vertex: int) -> tuple[int, int]:
        """Number of the pad that has a vertex of the skin, and which of its vertices that is."""
        number = int(self.source[vertex])
        pad = int(np.searchsorted(self._starts, number, side="right")) - 1
        return pad, number - int(self._starts[pad])

    def _nail_weights(self, straight: FloatArray) -> tuple[IntArray, FloatArray, tuple[int, int]]:
        u, v = np.meshgrid(np.linspace(-1.0, 1.0, 13), np.linspace(-1.0, 1.0, 13), indexing="ij")
        wide = (1.0 - np.abs(u) ** 3.2) ** 0.5
        x = _TIP - 8.4e-3 + 6.3e-3 * u
        angle = 0.86 * v * (0.35 + 0.65 * wide) * np.where(u > 0.0, wide**0.8 + 1e-3, 1.0)
        places = np.column_stack((x.ravel(), 6.6e-3 * angle.ravel()))
        flat = np.column_stack((straight[:, 0], 6.6e-3 * ((straight[:, 1] + math.pi) % (2.0 * math.pi) - math.pi)))
        corners = flat[self.faces]
        whole = np.ptp(corners[:, :, 1], axis=1) < 0.02  # not across the palm, where the angle jumps
        faces, corners = self.faces[whole], corners[whole]
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        area = _cross(b - a, c - a)
        ids, weights = np.empty((len(places), 3), dtype=np.int64), np.empty((len(places), 3))
        for k, p in enumerate(places):
            shares = np.column_stack((_cross(b - p, c - p), _cross(c - p, a - p), _cross(a - p, b - p))) / area[:, None]
            best = int(np.argmax(shares.min(axis=1)))
            ids[k], weights[k] = faces[best], shares[best]
        return ids, weights, (u.shape[0], u.shape[1])


def _tinted(straight: FloatArray) -> FloatArray:
    """Darker in the folds at the joints, pinker at tip and palm."""
    x, angle = straight.T
    palm = 0.5 - 0.5 * np.cos(angle)
    folds = sum(np.exp(-(((x - at) / 1.6e-3) ** 2)) for at in np.cumsum(LENGTHS)[:2]) * (0.30 + 0.35 * palm)
    pink = 0.22 * palm + 0.30 * np.clip((x - _TIP + 0.018) / 0.018, 0.0, 1.0)
    part = np.clip(folds + pink, 0.0, 1.0)[:, None]
    return np.asarray((1.0 - part) * np.array(FLESH) + part * np.array(FOLD))


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


# --------------------------------------------------------------------------------------------------------- the things


def bone(k: int) -> Facets:
    """Bone `k` in its own frame: round heads at the joints, a thinner shaft; the first begins in the clamp."""
    length, heads = LENGTHS[k], 0.95 * BONE_RADIUS
    round_off = heads * np.cos(np.linspace(0.1, 1.5, 6))
    begin = np.zeros(1) if k == 0 else -round_off
    end = length - heads + round_off[::-1] if k == 2 else length - 0.3e-3 * np.arange(4)[::-1]
    x = np.unique(np.concatenate((begin, np.linspace(0.0, length - heads, 14), end)))
    away = np.minimum(np.abs(x), np.abs(x - length)) / 6e-3
    size = heads * (0.76 + 0.24 * np.exp(-(away**2)))
    size *= np.sqrt(np.clip(1.0 - (np.minimum(x, 0.0) / heads) ** 2, 0.0, 1.0))
    if k == 2:
        size *= np.sqrt(np.clip(1.0 - (np.maximum(x - length + heads, 0.0) / heads) ** 2, 0.0, 1.0))
    return tube(np.column_stack((x, 0.0 * x, 0.0 * x)), size, BONE, sides=28, gloss=0.25)


def knuckle() -> Facets:
    """The clamp that holds the first bone, where the hand would be; in that bone's frame."""
    x = np.array((-0.010, -0.009, -0.0008, -0.0004))
    size = np.array((0.0082, 0.0096, 0.0096, 0.0092))
    return tube(np.column_stack((x, 0.0 * x, 0.0 * x)), size, (96, 102, 114), sides=40, gloss=0.3)


def stand(centre: FloatArray, radius: float) -> Facets:
    """A ball of `radius` about `centre`, (3,), m, on a stand that reaches down to z = 0."""
    heights = np.array((0.0, 0.0015, 0.002, 0.5 * (centre[2] - radius), centre[2] - 0.93 * radius))
    sizes = np.array((0.0095, 0.0095, 0.0035, 0.0030, 0.0058))
    centres = np.column_stack((np.full(5, centre[0]), np.full(5, centre[1]), heights))
    x, y = np.outer(sizes, (1.0, 0.0, 0.0)), np.outer(sizes, (0.0, 1.0, 0.0))
    foot = loft(centres, x, y, circle(28), (118, 124, 134), gloss=0.3, capped=True)
    return Facets.joined((foot, ball(centre, radius, (52, 104, 128), sides=52, gloss=0.9)))


def probe() -> Facets:
    """A stylus along z, whose round tip is at the origin."""
    along = np.array((0.0, 0.0008, 0.002, 0.006, 0.011, 0.012, 0.03, 0.05))
    sizes = np.array((0.0004, 0.0011, 0.0014, 0.0016, 0.0018, 0.0032, 0.0034, 0.0034))
    colours = np.array([STEEL] * 5 + [(66, 72, 84)] * 3, dtype=np.float64)
    return tube(np.outer(along, (0.0, 0.0, 1.0)), sizes, colours, sides=16, gloss=0.6)
