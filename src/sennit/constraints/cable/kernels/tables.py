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
# first obstacle and number of obstacles
FIRST, COUNT, ROOM, ROW0, PARTS, TWIST_ROW, OBSTACLE0, OBSTACLES = 0, 1, 2, 3, 4, 5, 6, 7
CABLE_INTS = 8

# Elements, integers: kind; point that carries it; obstacle (-1: none; counted in the cable, but in common tables while
# `wrap` works on it) and its edge (0 … 11, -1: none); 1 if it divides
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
# about its axis, relative to nothing) and the angle by which it has turned on its carrier; metres that slipped past its
# mark in the last step; how it holds the cable (0 sticks, ±1 slips forward or backward); where a rotor's mark pointed
# when the step began
ON, BETA_IN, BETA_OUT, U, SPIN, ANGLE, FEED, GRIP, START_MARK = 0, 1, 2, 3, 4, 5, 6, 7, 8
ELEMENT_STATE = 11
# Elements, what the path evaluates to, in the world: where the cable arrives and leaves; unit direction and length of
# the span that leaves towards the next element that is ON; length of the arc on it; wrenches (force, then moment about
# the carrier's point) by which the lengths of the arriving and leaving parts, and the twist, change as the carrier
# moves: rate = f · velocity + m · angular velocity; centre and axis; number of the next element that is ON (-1: none);
# the carrier's point
X_IN, X_OUT, ALONG, SPAN, ARC, W_IN, W_OUT, W_TWIST, CENTRE_NOW, AXIS_NOW, NEXT, POINT_NOW = (
    0, 3, 6, 9, 10, 11, 17, 23, 29, 32, 35, 36,
)  # fmt: skip
ELEMENT_PLACE = 39

# Obstacles, integers: point of the body (its centre), shape (EDGE: box, CYLINDER, SPHERE)
OB_POINT, OB_SHAPE = 0, 1
OBSTACLE_INTS = 2
# Obstacles, numbers: half sizes of a box along its axes; radius (and half length along z) of a sphere or cylinder
OB_SIZE = 0
OBSTACLE_FLOATS = 3

# Cables, numbers: stiffnesses EA (N) and GJ (N·m²); times of the dampers in stretch and twist, s; what the winch at the
# first point does: speed (m/s), slip (m/s per N), largest pull (N); breaking load (N); longest and shortest length (m);
# 1 for the undamped backward form of the rows; 1 while it acts
EA, GJ, TAU, TWIST_TAU, WINCH_SPEED, SLIP, MAX_PULL, BREAKING, LONGEST, SHORTEST, BACKWARD, ACTS = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
)  # fmt: skip
CABLE_FLOATS = 12
# Cables, ends: exit direction and director of the first end in its carrier's frame, then of the last end
CABLE_ENDS = 12
# Cables, state: twist with its turns and the angle it was last measured by, rad; change of length asked for in the next
# step, m; 1 if broken; what has happened (sum of the numbers below); greatest tension that was judged, N; number that
# tells which spans the twist was measured along; 1 if
# the winch must not haul in further; 1 if a slider that carries it has left its rod; end that its winch has reached (1:
# nothing left, -1: wound in) until it runs the other way
TWIST, RAW, ASKED, BROKEN, HAPPENED, PEAK, MEASURED_ALONG, LIMIT, ADRIFT, AT_END = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
CABLE_STATE = 10
BROKE, PAID_OUT, WOUND_IN = 1, 2, 4

# Rows of cables, integers: cable; part (-1: the twist); first and last element
ROW_CABLE, ROW_PART, ROW_FIRST, ROW_LAST = 0, 1, 2, 3
CABLE_ROW_INTS = 4
# Rows of cables, state: tension or torque; side of its bounds (-1, 0, 1); unstretched length of the part, m; value (the
# elongation, negative when slack, or the twist) at the last state and at the one before; rates in the last step of the
# unstretched length, and of the value by the motion of the world's points; then of the solve under way: value at the
# iterate, change of the value in free flight, value a step ago by the present rates, compliance and right side of the
# row, what is left of it, part of the change that the world's points make, tension that was found, tension when the
# step began, length of the way, and how many of the next rows are parts of the same (a sheave that is passed clear)
TENSION, SIDE, REST, VALUE, VALUE_LAST, REST_RATE, WORLD_RATE = 0, 1, 2, 3, 4, 5, 6
TRIAL, FREE, PAST, SIGMA, WANTED, LEFT_OVER, WORLD_MOVE, FOUND, KEPT, WAY, JOINED = (
    7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
)  # fmt: skip
CABLE_ROW_STATE = 18

# Dividers, integers: element; rows of the parts before and after it
DIVIDER_ELEMENT, ROW_BEFORE, ROW_AFTER = 0, 1, 2
DIVIDER_INTS = 3
# How a solve treats the rows: implicit (two-step formula, statics), Lacoursière's, mean over the step
IMPLICIT, SPOOK, MEAN = 0, 1, 2
