"""Hoisting cables without mass: where they run, how far they are twisted, what they lie on, how they slip and sag."""
