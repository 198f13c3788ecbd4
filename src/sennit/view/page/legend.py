"""The colours of a field, the range that they span, and the legend that says so."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sennit.portrait.colours import is_signed, palette
from sennit.portrait.parts import UNITS
from sennit.view.page.painting import LEVELS

__all__ = ["Range", "legend", "quantity", "ramp"]


class Range:
    """A range that follows a field's without flickering: it grows at once, and shrinks only when it is far too large
    for a while. Its ends are round numbers.
    """

    PATIENCE = 2.0
    """Seconds after which a range that is too large shrinks."""

    def __init__(self) -> None:
        self._ends = (0.0, 0.0)
        self._fits_since = -math.inf

    def follow(self, low: float, high: float, now: float) -> tuple[float, float]:
        """The range to show at real time `now`, s, for a field that spans `low` to `high`."""
        wanted = (_rounded(low), _rounded(high))
        shown = self._ends
        outside = wanted[0] < shown[0] or wanted[1] > shown[1]
        lost_sign = shown[0] < 0.0 <= wanted[0]
        if not (lost_sign or wanted[1] - wanted[0] < 0.4 * (shown[1] - shown[0])):
            self._fits_since = now
        if outside:
            self._ends = (min(wanted[0], shown[0]), max(wanted[1], shown[1]))
            if self._ends[0] < 0.0:  # zero stays in the middle
                largest = max(-self._ends[0], self._ends[1])
                self._ends = (-largest, largest)
            self._fits_since = now
        elif now - self._fits_since > self.PATIENCE:
            self._ends = wanted
            self._fits_since = now
        return self._ends


def _rounded(value: float) -> float:
    """The next number away from zero that is 1, 1.5, 2, 3, 5 or 7 times a power of ten."""
    if value == 0.0 or not math.isfinite(value):
        return 0.0
    power = 10.0 ** math.floor(math.log10(abs(value)))
    digits = next((d for d in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if abs(value) <= d * power * (1.0 + 1e-9)), 10.0)
    return math.copysign(digits * power, value)


def ramp(low: float, high: float) -> NDArray[np.uint8]:
    """The colours of `LEVELS` equal parts of a range, (LEVELS, 3)."""
    colours = palette("signed" if is_signed(low, high) else "amount")
    chosen: NDArray[np.uint8] = colours[((np.arange(LEVELS) + 0.5) / LEVELS * len(colours)).astype(int)]
    return chosen


def legend(field: str, low: float, high: float) -> str:
    """HTML: a bar of the colours with its ends and its middle as numbers."""
    colours = palette("signed" if is_signed(low, high) else "amount")
    stops = ", ".join(f"rgb({r},{g},{b})" for r, g, b in colours[:: len(colours) // 16].tolist())
    marks = "".join(f"<span>{quantity(x)}</span>" for x in (low, 0.5 * (low + high), high))
    unit = UNITS.get(field, "")
    return (
        f'<div style="padding: 0.1em 0.75em 0.6em; font-size: 0.8em; line-height: 1.3">'
        f'<div style="display: flex; justify-content: space-between; margin-bottom: 0.25em">'
        f'<span style="font-weight: 600">{field}</span><span style="opacity: 0.7">{unit}</span></div>'
        f'<div style="height: 0.9em; border-radius: 0.25em; background: linear-gradient(to right, {stops})"></div>'
        f'<div style="display: flex; justify-content: space-between">{marks}</div></div>'
    )


def quantity(value: float) -> str:
    """A number of at most three digits, short enough for a legend."""
    if value == 0.0:
        return "0"
    text = f"{value:.3g}"
    if "e" in text:
        digits, _, power = text.partition("e")
        text = f"{digits}e{int(power)}"
    return text.replace("-", "−")
