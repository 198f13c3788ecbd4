"""Compiled functions of vectors, rotations and shapes."""
