"""The spline rod: a cubic B-spline with bending, twist and stretch at integration points."""
