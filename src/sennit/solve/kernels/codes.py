"""How a solve ended, what a step has missed, and what `march` is asked to do."""

from __future__ import annotations

SOLVED, NOT_FINITE, WRONG_INERTIA, UNCONVERGED, TOO_FAR, UNBOUNDED, CROSSED, LOOK_AT_ROWS, MISSED, QUIET = range(10)
SHOCKED, TOUCHED = 10, 11
"""Solved; numbers that are not finite; pivots of the wrong sign; Newton did not converge; a static iterate would turn
too far; rows with bounds were not solved; a slider has entered another span; rows depend on others; what the
linearisation missed is too much to accept; solved and accepted, with nothing to tell; something struck or came free,
which only a step of Euler's can follow; contacts were found that the matrix has no room for yet."""
ROW_MISSED, BEAD_MISSED, ENERGY_MISSED, MOTION_MISSED, FOLDED_UP, CONTACT_MISSED, CONTACT_UNSOLVED = range(1, 8)
WAY_MISSED = 11  # 8 to 10 are `touching`'s
"""What it missed: a row, the place of something that slides, the energy of a rod, that of the whole motion; or a rod
would be folded between its control points; or things would overlap, or the forces between them were not found; or the
way of a cable at a kept tension."""
PREDICT, SOLVE, JUDGE, ACCEPT, KEEP, PLACE = 1, 2, 4, 8, 16, 32
"""Parts of a step; with KEEP what it changes before it is accepted is kept first. PLACE, alone: no step, but where the
machine code is."""
