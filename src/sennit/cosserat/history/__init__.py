"""Extrapolation from the last equilibria."""
