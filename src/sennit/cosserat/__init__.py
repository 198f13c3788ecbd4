"""Numerics of the strand: laws, elements, and the methods that solve for equilibrium. Everything is in units of the strand."""
