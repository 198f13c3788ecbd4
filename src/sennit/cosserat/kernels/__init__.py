"""Compiled functions of the strand."""
