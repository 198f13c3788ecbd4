"""Numerics of the strand: laws, elements, and the methods that solve for equilibrium, in units of the strand."""
