"""Colours of bodies, and colours that show numbers. (red, green, blue), 0 to 255."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit.errors import InputError
from sennit.portrait.cast import Cast
from sennit.portrait.parts import UNITS, Colour
from sennit.validation import FloatArray, quoted

__all__ = [
    "CABLES",
    "DRIVE",
    "LOAD",
    "OBSTACLES",
    "PEARLS",
    "RODS",
    "SHEAVE",
    "SIGNED",
    "SOLIDS",
    "TIE",
    "VESSEL",
    "WIRES",
    "ZONES",
    "cycle",
    "darker",
    "field_range",
    "is_signed",
    "lighter",
    "palette",
    "shade",
]

RODS: tuple[Colour, ...] = (
    (214, 142, 58), (63, 136, 178), (196, 86, 74), (104, 158, 94), (142, 110, 176), (192, 158, 88), (72, 154, 148),
    (196, 110, 148),
)  # fmt: skip
"""Of rods, in turn: of medium brightness, so that they stand out from a light and from a dark background."""
SOLIDS: tuple[Colour, ...] = (
    (118, 142, 168), (172, 138, 106), (128, 152, 122), (158, 132, 158), (178, 152, 92), (112, 150, 156),
)  # fmt: skip
"""Of rigid bodies, in turn: quieter than those of rods."""
PEARLS: tuple[Colour, ...] = ((236, 228, 216), (218, 196, 184), (228, 214, 190))
"""Of pearls, in turn."""
ZONES: tuple[Colour, ...] = ((214, 158, 134), (202, 148, 152), (196, 172, 132))
"""Of elastic solids, in turn."""
CABLES: tuple[Colour, ...] = ((120, 124, 132), (150, 116, 84), (92, 118, 140), (134, 104, 120))
"""Of cables, in turn."""
WIRES: tuple[Colour, ...] = ((158, 164, 172), (176, 168, 156), (146, 158, 170), (168, 160, 166))
"""Of ropes of steel, in turn."""
OBSTACLES: tuple[Colour, ...] = ((196, 200, 202), (186, 190, 176), (188, 178, 170), (172, 184, 192))
"""Of shapes of the world, in turn: pale, as what stands behind everything else."""
VESSEL: Colour = (188, 66, 58)
"""Of the walls of tubes, which are seen through."""
TIE: Colour = (138, 146, 156)
"""Of the marks of constraints."""
DRIVE: Colour = (206, 128, 48)
"""Of the marks of constraints that move what they hold: motors, paths."""
LOAD: Colour = (208, 70, 62)
"""Of arrows that show forces."""
SHEAVE: Colour = (112, 126, 140)
"""Of the wheels that cables run over."""

SIGNED = frozenset({"tension", "twist", "pressure"})
"""Fields whose sign means something."""

_RAMPS = {
    # dark to light, evenly so; blue to yellow, which nearly everybody can tell apart
    "amount": (
        "#3b2a68", "#414487", "#355f8d", "#2a788e", "#21918c", "#22a884", "#44bf70", "#7ad151", "#bddf26", "#fde725",
    ),
    # blue below zero, red above it; both sides equally dark at equal distances from zero
    "signed": (
        "#2b4fb5", "#4a74d6", "#769cec", "#a5c2f2", "#dbdcde", "#f2bfa4", "#e8936f", "#d65f4b", "#b5263a",
    ),
}  # fmt: skip


def cycle(colours: tuple[Colour, ...]) -> Iterator[Colour]:
    """`colours` again and again."""
    return itertools.cycle(colours)


def lighter(colour: Colour, part: float) -> Colour:
    """`colour`, by `part` (0 to 1) on its way to white."""
    return _mixed(colour, (255, 255, 255), part)


def darker(colour: Colour, part: float) -> Colour:
    """`colour`, by `part` (0 to 1) on its way to black."""
    return _mixed(colour, (0, 0, 0), part)


def _mixed(a: Colour, b: Colour, part: float) -> Colour:
    red, green, blue = (round(x + part * (y - x)) for x, y in zip(a, b, strict=True))
    return red, green, blue


@functools.lru_cache(maxsize=8)
def _ramp(name: str) -> NDArray[np.uint8]:
    if name not in _RAMPS:
        raise InputError(f"name must be one of {', '.join(map(repr, _RAMPS))}, got {quoted(name)}")
    stops = np.array([[int(text[k : k + 2], 16) for k in (1, 3, 5)] for text in _RAMPS[name]], dtype=np.float64)
    place = np.linspace(0.0, len(stops) - 1.0, 256)
    colours = np.column_stack([np.interp(place, np.arange(len(stops)), stops[:, k]) for k in range(3)])
    result = np.round(colours).astype(np.uint8)
    result.setflags(write=False)
    return result


def palette(name: str) -> NDArray[np.uint8]:
    """256 colours, (256, 3): ``"amount"`` from small to large, ``"signed"`` from negative through zero to positive."""
    return _ramp(name)


def is_signed(low: float, high: float) -> bool:
    """Whether a range is shown with the colours of a signed field: it goes as far below zero as above."""
    return low < 0.0 < high


def shade(values: ArrayLike, low: float, high: float) -> NDArray[np.uint8]:
    """Colours (n, 3) of `values` (n,) in the range from `low` to `high`; beyond it, those of its ends.

    A range that has zero inside takes the signed colours, with zero in their middle if the range is symmetric.
    """
    numbers = np.asarray(values, dtype=np.float64)
    span = high - low
    part = np.nan_to_num((numbers - low) / span, nan=0.0) if span > 0.0 else np.zeros(numbers.shape)
    place = (255.0 * np.clip(part, 0.0, 1.0) + 0.5).astype(np.int64)
    return _ramp("signed" if is_signed(low, high) else "amount")[place]


def field_range(cast: Cast, frame: FloatArray, field: str) -> tuple[float, float]:
    """The range (low, high) of a field over all parts that are shown, for `shade`; low < high always.

    From 0 to the largest value; from −a to a where a field with a sign has values well below zero.
    """
    if field not in UNITS:
        raise InputError(f"field must be one of {', '.join(map(repr, UNITS))}, got {quoted(field)}")
    low = high = 0.0
    for view in cast.views(frame):
        values: Any = getattr(view, "fields", {}).get(field)
        if values is not None and view.shown[0] > 0.0:
            low, high = min(low, float(values.min())), max(high, float(values.max()))
    largest = max(high, -low)
    if not largest > 0.0:
        return 0.0, 1.0
    # rounding and a rod's own little pushes are no reason to show a rope's tension with a sign
    if field in SIGNED and -low > 0.02 * largest:
        return -largest, largest
    return 0.0, largest
