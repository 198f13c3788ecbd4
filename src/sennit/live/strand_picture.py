"""What is seen of a strand on a page: a tube, what was put there besides, and balls where pins hold it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sennit import validation
from sennit.bodies.strand.state import StrandState
from sennit.bodies.strand.strand import Strand
from sennit.errors import InputError
from sennit.material import Look
from sennit.portrait.cast import Portrait
from sennit.portrait.looks import rod_finish
from sennit.portrait.parts import Colour, Solid, SolidView, Tube, TubeView
from sennit.validation import FloatArray

__all__ = ["Hold", "StrandPicture", "drawn_radius"]

_STATIONS = 121  # of what is seen, at most
_PIN_COLOUR: Colour = (214, 72, 54)


@dataclass(slots=True)
class Hold:
    """A point of the strand that is held in place."""

    name: str
    s: float
    place: FloatArray
    enabled: bool = True


def drawn_radius(strand: Strand, radius: float | None) -> float:
    """The radius with which a strand is drawn, m: `radius`, or its own."""
    if radius is not None:
        return validation.number("radius", radius, positive=True)
    if strand.radius is None:
        raise InputError("give radius=, m: a strand without a section says nothing of its thickness")
    return strand.radius


class Seen(Protocol):
    """What is drawn: the present equilibrium of a strand."""

    strand: Strand
    state: StrandState


class StrandPicture:
    """How a strand is drawn: its radius, m, its colour and that of its stripe; `solids` are drawn beside it."""

    def __init__(self, radius: float, colour: Colour, stripe: Colour) -> None:
        self._radius, self._colour, self._stripe = radius, colour, stripe
        self.solids: list[tuple[Solid, Callable[[SolidView], None], bool]] = []
        """Each with what reads its place, and whether dragging it drags the strand's instrument."""

    def portrait(self, seen: Seen, pins: Sequence[Hold]) -> Portrait:
        """The strand, then `solids`, then the pins."""
        portrait = Portrait()
        material = seen.strand.material
        look: Look = "smooth" if material is None or material.look is None else material.look
        finish = rod_finish(look, material)
        tube = Tube(
            name="strand", colour=self._colour, stripe=self._stripe, count=min(seen.strand.nodes, _STATIONS),
            half=(self._radius, self._radius), fields=("curvature", "twist", "tension"), look=look,
            rough=finish.rough, metal=finish.metal,
        )  # fmt: skip
        portrait.add(tube, lambda view: _read_strand(seen, view), seen)
        for solid, read, takes_hand in self.solids:
            portrait.add(solid, read, seen if takes_hand else None)
        for pin in pins:
            portrait.add(_ball(pin.name, 2.5 * self._radius), _reader_of(pin), pin)
        return portrait


def _read_strand(seen: Seen, view: TubeView) -> None:
    state = seen.state
    n = len(view.centres)
    rotations, curvatures = state.rotations, state.curvatures
    columns: list[Any] = [
        (view.centres, state.positions),
        (view.directors, rotations[:, :, 0]),
        (view.fields["curvature"], np.hypot(curvatures[:, 0], curvatures[:, 1])),
        (view.fields["twist"], curvatures[:, 2]),
        (view.fields["tension"], np.einsum("ij,ij->i", state.forces, rotations[:, :, 2])),
    ]
    if len(state.s) == n:
        for there, values in columns:
            there[:] = values
        return
    at = np.linspace(0.0, seen.strand.length, n)
    for there, values in columns:
        if values.ndim == 1:
            there[:] = np.interp(at, state.s, values)
        else:
            there[:] = np.column_stack([np.interp(at, state.s, column) for column in values.T])
    view.directors[:] /= np.linalg.norm(view.directors, axis=1, keepdims=True)


def _reader_of(pin: Hold) -> Callable[[SolidView], None]:
    def read(view: SolidView) -> None:
        view.shown[0] = float(pin.enabled)
        view.position[:] = pin.place
        view.quaternion[:] = (1.0, 0.0, 0.0, 0.0)

    return read


def _ball(name: str, radius: float, rings: int = 8, sides: int = 12) -> Solid:
    """A mark on the strand."""
    low, around = np.meshgrid(np.linspace(0.0, math.pi, rings + 1)[1:-1], np.arange(sides) * (2.0 * math.pi / sides))
    belt = np.stack((np.sin(low) * np.cos(around), np.sin(low) * np.sin(around), np.cos(low)), axis=-1)
    vertices = radius * np.concatenate((belt.transpose(1, 0, 2).reshape(-1, 3), ((0, 0, 1.0), (0, 0, -1.0))))
    faces = []
    top, bottom = len(vertices) - 2, len(vertices) - 1
    for k in range(sides):
        nxt = (k + 1) % sides
        faces += [(top, k, nxt), (bottom, (rings - 2) * sides + nxt, (rings - 2) * sides + k)]
        for r in range(rings - 2):
            a, b, c, d = r * sides + k, r * sides + nxt, (r + 1) * sides + k, (r + 1) * sides + nxt
            faces += [(a, c, b), (b, c, d)]
    return Solid(name=name, colour=_PIN_COLOUR, role="tie", vertices=vertices, faces=np.array(faces), smooth=True)
