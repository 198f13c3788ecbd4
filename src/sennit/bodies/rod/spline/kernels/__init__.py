"""Compiled functions of spline rods."""
