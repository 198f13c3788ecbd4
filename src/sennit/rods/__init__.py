"""Numerics of rods with position and roll at control points: the spline model and the discrete one."""
