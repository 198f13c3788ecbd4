"""How a solve ended, what a step has missed, and what `march` is asked to do."""

from __future__ import annotations

SOLVED, NOT_FINITE, WRONG_INERTIA, UNCONVERGED, TOO_FAR, UNBOUNDED, CROSSED, LOOK_AT_ROWS, MISSED, QUIET, SHOCKED = (
    range(11)
)
"""Solved; numbers that are not finite; pivots of the wrong sign; Newton did not converge; a static iterate would turn
too far; rows with bounds were not solved; a slider has entered another span; rows depend on others; what the
linearisation missed is too much to accept; solved and accepted, with nothing to tell; something struck or came free,
which only a step of Euler's can follow."""
ROW_MISSED, BEAD_MISSED, ENERGY_MISSED, MOTION_MISSED, FOLDED_UP = 1, 2, 3, 4, 5
"""What it missed: a row, the place of something that slides, the energy of a rod, that of the whole motion; or a rod
would be folded between its control points."""
PREDICT, SOLVE, JUDGE, ACCEPT, KEEP = 1, 2, 4, 8, 16
"""Parts of a step; with KEEP what it changes before it is accepted is kept first."""
