"""Rods: thin elastic solids that move. Two models: spline and discrete."""
