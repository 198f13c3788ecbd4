"""Kinds and numbers that the tables of cables hold.

kind        what the cable does at an element
END         runs to the carrier's point or slides freely over it
SHEAVE      lies in the groove of a circle (centre, axis n, radius r), turning about n in its sense
EDGE        bends over an edge of a box, at A + u D
CYLINDER    lies on a cylinder along a helix, the shortest way
SPHERE      lies on a sphere along a great circle
"""

from __future__ import annotations

END, SHEAVE, EDGE, CYLINDER, SPHERE = 0, 1, 2, 3, 4

# Wrenches of an element: of the part that arrives, of the part that leaves, of the twist
ARRIVES, LEAVES, TWISTS = 0, 1, 2

# What can happen to a cable
BROKE, PAID_OUT, WOUND_IN = 1, 2, 4

# How a solve treats the rows: implicit (two-step formula, statics), Lacoursière's, mean over the step
IMPLICIT, SPOOK, MEAN = 0, 1, 2
