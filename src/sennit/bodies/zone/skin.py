"""The skin of a zone in a scene: the vertices that something may touch in the next steps.

They are places like those that constraints hold, so that a contact there has degrees of freedom, a stiffness, energy
and memory as everything has. Which they are changes as things come and go. A vertex without a force on it lies where
the others take the surface: taking it in or leaving it out then changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.elastostatics.surface import Surface
from sennit.validation import FloatArray

__all__ = ["Skin", "edge_lengths", "faces_of_skin", "fill_faces", "longest_edges"]

_LEFT_OUT = {3: 1, 6: 3}
"""Vertices that a place takes the freedom of, by its numbers."""


class Skin:
    """Which vertices of a zone a scene holds for contact."""

    def __init__(self) -> None:
        self.wanted: tuple[int, ...] = ()
        """Those that may be touched, in order."""
        self.held: tuple[int, ...] = ()
        """Those of them that are places: all but where constraints hold the surface."""
        self.begun: tuple[int, ...] = ()
        """`wanted` where `reset` goes back to."""

    def forget(self) -> None:
        """The zone comes to another scene."""
        self.wanted = self.held = self.begun = ()

    def beside(self, places: Sequence[Any]) -> tuple[int, ...]:
        """Those of `wanted` that can be places besides others: the displacement of a place within a triangle, or of a
        patch, is a mean of its vertices', and one vertex, or three, must stay free for it.
        """
        taken: set[int] = set()
        for place in places:
            if len(place._vertices) > 1:
                shares = np.abs(place._weights).sum(axis=(1, 2))
                most = np.argsort(-shares, kind="stable")[: _LEFT_OUT[place._weights.shape[1]]]
                taken.update(place._vertices[most].tolist())
        return tuple(vertex for vertex in self.wanted if vertex not in taken)

    def want(self, vertices: Iterable[int]) -> None:
        """Say which vertices may be touched from now on."""
        self.wanted = tuple(sorted({int(vertex) for vertex in vertices}))


def edge_lengths(surface: Surface) -> FloatArray:
    """Mean length of the edges that meet at each vertex, (n,), m."""
    faces: NDArray[np.int64] = surface.faces
    first, second = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    length = np.linalg.norm(surface.vertices[first] - surface.vertices[second], axis=1)
    count = len(surface.vertices)
    return np.asarray(np.bincount(first, length, count) / np.maximum(np.bincount(first, minlength=count), 1))


def longest_edges(surface: Surface) -> FloatArray:
    """Length of the longest edge that meets at each vertex, (n,), m."""
    faces: NDArray[np.int64] = surface.faces
    first, second = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    length = np.linalg.norm(surface.vertices[first] - surface.vertices[second], axis=1)
    longest = np.zeros(len(surface.vertices))
    np.maximum.at(longest, np.concatenate((first, second)), np.concatenate((length, length)))
    return longest


def faces_of_skin(zone: Any) -> NDArray[np.int64]:
    """Numbers of a zone's faces whose corners are in its skin or fixed, not all of them fixed."""
    held = np.zeros(len(zone._surface.vertices), bool)
    held[list(zone._skin.held)] = True
    corners = zone._surface.faces
    return np.flatnonzero((held | ~zone._movable)[corners].all(axis=1) & held[corners].any(axis=1))


def fill_faces(rows: Any, zone: Any, faces: NDArray[np.int64], vertex: int, face: int, fan: int) -> int:
    """Write some of a zone's faces into rows of `SkinFaces`. Its own rows of `Skins` begin at `vertex`, those of
    `SkinFaces` at `face`, those of `SkinFans` at `fan`: returns how many it has of the latter.
    """
    surface, held = zone._surface, list(zone._skin.held)
    row = np.full(len(surface.vertices), -1)
    row[held] = vertex + np.arange(len(held))
    corners = surface.faces[faces]
    turn = (np.argmax(row[corners] >= 0, axis=1)[:, None] + np.arange(3)) % 3  # the first corner is one that can move
    corners = np.take_along_axis(corners, turn, axis=1)
    fans, numbers = np.unique(np.take_along_axis(zone._fans[faces], turn, axis=1), return_inverse=True)
    numbers = numbers.reshape(-1, 3)
    rows.face[:], rows.corner[:], rows.fan[:] = faces, row[corners], fan + numbers
    rows.rest[:] = surface.vertices[corners] + (0.0 if zone._on.body is None else zone._on.local)
    rows.beside[:] = -1
    # Two faces with two fans in common share an edge that is not sharp.
    sides = np.sort(np.stack((numbers[:, [1, 2]], numbers[:, [2, 0]], numbers[:, [0, 1]]), axis=1), axis=2)
    key = (sides[:, :, 0] * len(fans) + sides[:, :, 1]).ravel()
    order = np.argsort(key, kind="stable")
    same = np.flatnonzero(key[order][1:] == key[order][:-1])
    one, two = order[same], order[same + 1]
    flat = rows.beside.reshape(-1)
    flat[one], flat[two] = face + two // 3, face + one // 3
    rows.beside[:] = flat.reshape(-1, 3)
    return len(fans)
