"""Cables in the solve of a step: their rows, their stiffness, and what a step changes of them."""
