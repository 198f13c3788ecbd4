"""Boundary elements: a surface becomes a boundary stiffness."""
