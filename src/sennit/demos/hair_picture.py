"""Pictures of very many strands: points along them, each a pixel, the nearest in front. NumPy and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["SKIN", "Splatter", "tones"]

SKIN = 200
"""Codes from here on are skin; those below are hair, the brighter the larger."""
_FAR = np.uint32(0xFFFFFFFF)
_DEPTHS = float(1 << 24)
_AT_ONCE = 1 << 19
"""Points that a thread draws at once."""


class Splatter:
    """A camera at `eye` that looks at `target`, (3,), m, for square pictures of `size` pixels; `slope`: how far up and
    down it reaches at a distance of 1.
    """

    def __init__(self, eye: ArrayLike, target: ArrayLike, size: int, slope: float = 0.3) -> None:
        self._eye = np.asarray(eye, dtype=np.float32)
        ahead = np.asarray(target, dtype=np.float64) - np.asarray(eye, dtype=np.float64)
        distance = float(np.linalg.norm(ahead))
        ahead /= distance
        right = np.cross(ahead, (0.0, 0.0, 1.0))
        right /= np.linalg.norm(right)
        self._axes = np.stack((right, np.cross(ahead, right), ahead)).astype(np.float32)
        self._size, self._scale, self._distance = size, np.float32(0.5 * size / slope), distance
        self._light = np.asarray((0.45, -0.5, 0.74), dtype=np.float32)

    def picture(
        self, strands: NDArray[np.float32], tint: NDArray[np.float32], skin: Sequence[NDArray[np.float32]],
        middle: ArrayLike,
    ) -> NDArray[np.uint8]:  # fmt: skip
        """Codes (size, size) of the strands, (rods, m, 3), m, each as bright as its `tint` (rods,), 0 to 1, and of the
        `skin`: places and normals, (k, 3) each. `middle`, (3,), of the head: hair that is nearer to it is darker.
        """
        places, normals = skin
        shine = np.clip(normals @ self._light, 0.0, 1.0)
        front = self._front()
        self._put(front, places, SKIN + np.clip(10.0 + 45.0 * shine, 0.0, 55.0))
        step = max(1, _AT_ONCE // strands.shape[1])
        parts = [slice(first, first + step) for first in range(0, len(strands), step)]

        def drawn(part: slice) -> NDArray[np.uint32]:
            own = self._front()
            self._put(own, strands[part].reshape(-1, 3), self._shade(strands[part], tint[part], middle).ravel())
            return own

        with ThreadPoolExecutor() as pool:
            for own in pool.map(drawn, parts):
                np.minimum(front, own, out=front)
        codes = (front & np.uint32(255)).astype(np.uint8)
        codes[front == _FAR] = 255
        return codes.reshape(self._size, self._size)

    def _front(self) -> NDArray[np.uint32]:
        return np.full(self._size * self._size, _FAR, np.uint32)

    def _shade(self, strands: NDArray[np.float32], tint: NDArray[np.float32], middle: ArrayLike) -> NDArray[np.float32]:
        """How bright hair is, after Kajiya and Kay: a thin cylinder is lit by its tangent."""
        way = np.gradient(strands, axis=1)
        way /= np.maximum(np.linalg.norm(way, axis=2, keepdims=True), 1e-9)
        view = self._eye - strands
        view /= np.linalg.norm(view, axis=2, keepdims=True)
        cos_light, cos_view = way @ self._light, np.einsum("rmk,rmk->rm", way, view)
        sin_light, sin_view = np.sqrt(1.0 - np.minimum(cos_light**2, 1.0)), np.sqrt(1.0 - np.minimum(cos_view**2, 1.0))
        gleam = np.clip(sin_light * sin_view - cos_light * cos_view, 0.0, 1.0) ** 24
        away = np.linalg.norm(strands - np.asarray(middle, dtype=np.float32), axis=2)
        open_air = np.clip((away - 0.085) / 0.06, 0.15, 1.0)
        light = open_air * (0.25 + 0.45 * sin_light) * (0.55 + 0.45 * tint[:, None]) + 0.45 * gleam * open_air
        return np.asarray(np.clip(199.0 * light, 0.0, 199.0), dtype=np.float32)

    def _put(self, front: NDArray[np.uint32], places: NDArray[np.float32], codes: NDArray[np.float32]) -> None:
        x, y, z = self._axes @ (places - self._eye).T
        column = (self._scale * x / z + 0.5 * self._size).astype(np.int32)
        row = (self._scale * y / z + 0.5 * self._size).astype(np.int32)
        seen = (column >= 0) & (column < self._size) & (row >= 0) & (row < self._size) & (z > 0.0)
        depth = np.clip(z[seen] / (2.0 * self._distance), 0.0, 0.999) * _DEPTHS
        packed = (depth.astype(np.uint32) << np.uint32(8)) | codes[seen].astype(np.uint32)
        np.minimum.at(front, row[seen] * self._size + column[seen], packed)


def tones(codes: NDArray[np.uint8], hair: ArrayLike = (214, 158, 96)) -> NDArray[np.uint8]:
    """Colours (…, 3) of codes: `hair` is that of the brightest."""
    table = np.zeros((256, 3))
    shade = np.linspace(0.0, 1.0, SKIN)[:, None]
    table[:SKIN] = np.asarray(hair) * shade**1.1 + 30.0 * shade**3
    table[SKIN:] = np.asarray((226, 178, 150)) * np.linspace(0.35, 1.0, 256 - SKIN)[:, None]
    table[255] = 238, 240, 243
    return np.asarray(np.clip(table, 0, 255)[codes], dtype=np.uint8)
