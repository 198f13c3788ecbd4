"""Units of length that files have."""

from __future__ import annotations

from sennit import validation

__all__ = ["METRES", "checked_unit"]

METRES = {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "dm": 0.1, "km": 1e3, "um": 1e-6, "in": 0.0254, "ft": 0.3048}
"""Metres in a unit."""


def checked_unit(value: object) -> str:
    """`value` as one of the units."""
    return validation.choice("unit", value, tuple(METRES))
