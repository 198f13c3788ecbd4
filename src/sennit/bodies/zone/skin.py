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

__all__ = ["Skin", "edge_lengths"]

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
