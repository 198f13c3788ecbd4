"""Compiled functions of hoisting cables."""
