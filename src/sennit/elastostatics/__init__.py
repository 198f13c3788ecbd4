"""Numerics of elastic zones: boundary elements, Green's functions and their store, capacitance, contact, chains."""
