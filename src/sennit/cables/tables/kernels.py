"""Columns of the tables that describe cables.

A cable runs through elements, in order. An element is a place on a carrier: a scene's point, whose position and frame
stand in ``PX`` (`point.kernels`). Cable c owns the rows CI[c, FIRST] … CI[c, FIRST] + CI[c, COUNT) of the tables of
elements, with room for CI[c, ROOM]; elements of bodies that it comes to lie on are put in between and taken out as it
moves.

    kind        what the cable does there
    END         runs to the carrier's point or slides freely over it
    SHEAVE      lies in the groove of a circle (centre, axis n, radius r), turning about n in the sense of SENSE
    EDGE        bends over an edge of a box, at A + u D
    CYLINDER    lies on a cylinder along a helix, the shortest way
    SPHERE      lies on a sphere along a great circle

Dividers (sheaves with friction, or that the cable turns) cut the cable into parts, each with its own tension; part d
runs from one divider's MARK, a direction fixed to its carrier, to the next one's.
"""

from __future__ import annotations

END, SHEAVE, EDGE, CYLINDER, SPHERE = 0, 1, 2, 3, 4

# Cables, integers: first element, elements now, room; first row and number of parts; row of the twist (-1: none);
# first obstacle and number of obstacles; 1 if its points have changed since the matrix was analysed
FIRST, COUNT, ROOM, ROW0, PARTS, TWIST_ROW, OBSTACLE0, OBSTACLES = 0, 1, 2, 3, 4, 5, 6, 7
CABLE_INTS = 8

# Elements, integers: kind; point that carries it; obstacle (-1: none) and its edge (0 … 11, -1: none); 1 if it divides
# the cable; 1 if it is a rotor, free to turn on its carrier
KIND, CARRIER, OBSTACLE, EDGE_NUMBER, DIVIDES, ROTOR = 0, 1, 2, 3, 4, 5
ELEMENT_INTS = 6
# Elements, numbers in the carrier's frame: centre of a circle, sphere or cylinder, or start A of an edge; unit axis, or
# edge vector D; unit direction across the axis from which angles on a sheave are measured, or outward normal of an
# edge's first face; normal of its second face. Radius; sense (+1: right-handed about the axis); a rotor's inertia,
# kg·m²; friction (infinite: it does not slip); half length of a cylinder
CENTRE, AXIS, MARK, NORMAL, RADIUS, SENSE, INERTIA, MU, HALF = 0, 3, 6, 9, 12, 13, 14, 15, 16
ELEMENT_FLOATS = 17
# Elements, state: 1 if the cable touches it; unwrapped angles along the cable from where it arrives to the mark and
# from the mark to where it leaves (their sum is the angle of wrap); place on an edge, 0 to 1; a rotor's rate (rad/s,
# about its axis, relative to nothing) and angle; metres that ran past its mark in the last step; how it holds the cable
# (0 sticks, ±1 slips forward or backward)
ON, BETA_IN, BETA_OUT, U, SPIN, ANGLE, FEED, GRIP = 0, 1, 2, 3, 4, 5, 6, 7
ELEMENT_STATE = 8
# Elements, what the path evaluates to, in the world: where the cable arrives and leaves; unit direction and length of
# the span that leaves towards the next element that is ON; length of the arc on it; wrenches (force, then moment about
# the carrier's point) by which the lengths of the arriving and leaving parts, and the twist, change as the carrier
# moves: rate = f · velocity + m · angular velocity; centre and axis; number of the next element that is ON (-1: none)
X_IN, X_OUT, ALONG, SPAN, ARC, W_IN, W_OUT, W_TWIST, CENTRE_NOW, AXIS_NOW, NEXT = 0, 3, 6, 9, 10, 11, 17, 23, 29, 32, 35
ELEMENT_PLACE = 36

# Obstacles, integers: point of the body (its centre), shape (EDGE: box, CYLINDER, SPHERE)
OB_POINT, OB_SHAPE = 0, 1
OBSTACLE_INTS = 2
# Obstacles, numbers: half sizes of a box along its axes; radius (and half length along z) of a sphere or cylinder
OB_SIZE = 0
OBSTACLE_FLOATS = 3
