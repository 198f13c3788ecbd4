"""The spline model: cubic B-splines for position and roll."""
