"""How a solve ended, and what `march` is asked to do."""

from __future__ import annotations

SOLVED, NOT_FINITE, WRONG_INERTIA, UNCONVERGED, TOO_FAR, UNBOUNDED, CROSSED, LOOK_AT_ROWS = 0, 1, 2, 3, 4, 5, 6, 7
"""Solved; numbers that are not finite; pivots of the wrong sign; Newton did not converge; a static iterate would turn
too far; rows with bounds contradict each other; a slider has entered another span; rows depend on others."""
PREDICT, SOLVE, ACCEPT = 1, 2, 4
"""Parts of a step."""
